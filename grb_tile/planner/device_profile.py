"""What a machine costs: the figures that turn work into nanoseconds.

The H200's are measured (tests/gpu/RECORD.md, docs/CUDA.md). A GPU that is not in the table gets the H200's, scaled:
work that atomics and gathers hold goes by the number of multiprocessors, work that memory holds by the bandwidth of
DRAM. `explain()` says so. The backend brings the facts (name, multiprocessors, bandwidth): nothing here asks a device.

>>> from grb_tile.planner.device_profile import profile_of
>>> half = profile_of("some GPU", 66, 2150.0)
>>> half.scaled, half.latency, half.bandwidth
(True, 2.0, 2.0)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache


@dataclass(frozen=True)
class DeviceProfile:
    """Costs of one machine.

    name: as the driver gives it.  processors: multiprocessors, or cores.  launch_ns: host time of a launch.
    barrier_ns: of all blocks of a persistent kernel.  read_back_ns: of one number, host time.  dram_bytes_ns,
    l2_bytes_ns: bandwidth in bytes a nanosecond.  atomic_ns, gather_ns: one of many millions.  shared_bytes: that a
    block may have.  latency, bandwidth: how many times the H200's costs, for work of each kind.
    """

    name: str
    processors: int
    launch_ns: float
    barrier_ns: float
    read_back_ns: float
    dram_bytes_ns: float
    l2_bytes_ns: float
    atomic_ns: float
    gather_ns: float
    shared_bytes: int
    latency: float = 1.0
    bandwidth: float = 1.0
    scaled: bool = False

    @property
    def note(self) -> str:
        """What explain() adds to a plan: nothing for a profile that was measured."""
        if not self.scaled:
            return ""
        return (
            f"costs of {self.name} scaled from the H200's: latency x{self.latency:.2f}, bandwidth x{self.bandwidth:.2f}"
        )


H200 = DeviceProfile("NVIDIA H200", 132, 3800.0, 1000.0, 11_000.0, 4300.0, 5500.0, 12.4e-3, 4.13e-3, 227 << 10)
CPU = DeviceProfile("CPU", 1, 0.0, 2000.0, 0.0, 10.0, 40.0, 6.0, 2.4, 1 << 20)
MEASURED_SHARE = 0.9  # of the bandwidth that clock and width of the bus promise: 4.3 of 4.8 TB/s on an H200
PROFILES = {"NVIDIA H200": H200, "CPU": CPU}
EMULATED = replace(H200, name="CPU emulation of an H200")


@lru_cache(maxsize=32)
def profile_of(name: str, processors: int = 0, dram_bytes_ns: float = 0.0, shared_bytes: int = 0) -> DeviceProfile:
    """The profile of the machine `name`: from the table, else the H200's scaled by the facts that are known (not 0)."""
    found = PROFILES.get(name)
    if found is not None:
        return found
    latency = H200.processors / processors if processors else 1.0
    bandwidth = H200.dram_bytes_ns / dram_bytes_ns if dram_bytes_ns else latency
    return replace(
        H200,
        name=name,
        processors=processors or H200.processors,
        dram_bytes_ns=H200.dram_bytes_ns / bandwidth,
        l2_bytes_ns=H200.l2_bytes_ns / latency,
        atomic_ns=H200.atomic_ns * latency,
        gather_ns=H200.gather_ns * latency,
        shared_bytes=shared_bytes or H200.shared_bytes,
        latency=latency,
        bandwidth=bandwidth,
        scaled=True,
    )
