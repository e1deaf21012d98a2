"""The costs of a machine: the figures that turn work into nanoseconds.

The H200's are measured (tests/gpu/RECORD.md, docs/CUDA.md). A GPU that is not in the table gets the H200's, scaled: by
what loops of gathers, atomics and reads take on it (`profile_from`), measured once by the backend; where that fails, by
the number of multiprocessors and the bandwidth of DRAM (`profile_of`). `explain()` says so. The backend passes the
facts: no device is queried here.

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
    barrier_ns: of all blocks of a persistent kernel.  read_back_ns: of one number, host time.  dram_bytes_ns:
    bandwidth in bytes a nanosecond.  atomic_ns, gather_ns: one of many millions.  shared_bytes: that a block may have.
    latency, atomics, bandwidth: how many times the H200's costs, for gathers, for atomics, for reads of DRAM.
    source: "table", "measured" or "facts" (multiprocessors and bandwidth, as the driver gives them).
    """

    name: str
    processors: int
    launch_ns: float
    barrier_ns: float
    read_back_ns: float
    dram_bytes_ns: float
    atomic_ns: float
    gather_ns: float
    shared_bytes: int
    latency: float = 1.0
    atomics: float = 1.0
    bandwidth: float = 1.0
    source: str = "table"

    @property
    def scaled(self) -> bool:
        """Are the costs those of the H200, scaled?"""
        return self.source != "table"

    @property
    def note(self) -> str:
        """What explain() adds to a plan: nothing for a profile of the table."""
        if not self.scaled:
            return ""
        return (
            f"costs of {self.name} scaled from the H200's by {_SOURCES[self.source]}: latency x{self.latency:.2f}, "
            f"atomics x{self.atomics:.2f}, bandwidth x{self.bandwidth:.2f}"
        )


@dataclass(frozen=True)
class Measured:
    """What the loops of kernels/base/costs.cuh, a launch and a read-back take, in nanoseconds; bytes a nanosecond."""

    launch_ns: float
    read_back_ns: float
    barrier_ns: float
    dram_bytes_ns: float
    atomic_ns: float
    gather_ns: float


_SOURCES = {"measured": "what was measured on it", "facts": "its multiprocessors and bandwidth"}
H200 = DeviceProfile("NVIDIA H200", 132, 3800.0, 1000.0, 11_000.0, 4300.0, 12.4e-3, 4.13e-3, 227 << 10)
CPU = DeviceProfile("CPU", 1, 0.0, 2000.0, 0.0, 10.0, 6.0, 2.4, 1 << 20)
H200_LOOPS = Measured(4400.0, 4900.0, 960.0, 4620.0, 9.47e-3, 6.1e-3)  # tests/gpu/RECORD.md
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
    return _scaled(name, processors, shared_bytes, latency, latency, bandwidth, "facts")


def profile_from(name: str, processors: int, shared_bytes: int, measured: Measured) -> DeviceProfile:
    """The H200's profile scaled by what the loops of kernels/base/costs.cuh take on the device `name`."""
    found = _scaled(
        name,
        processors,
        shared_bytes,
        measured.gather_ns / H200_LOOPS.gather_ns,
        measured.atomic_ns / H200_LOOPS.atomic_ns,
        H200_LOOPS.dram_bytes_ns / measured.dram_bytes_ns,
        "measured",
    )
    return replace(
        found,
        launch_ns=measured.launch_ns,
        barrier_ns=measured.barrier_ns,
        read_back_ns=measured.read_back_ns,
    )


def _scaled(name, processors, shared_bytes, latency, atomics, bandwidth, source):
    return replace(
        H200,
        name=name,
        processors=processors or H200.processors,
        dram_bytes_ns=H200.dram_bytes_ns / bandwidth,
        atomic_ns=H200.atomic_ns * atomics,
        gather_ns=H200.gather_ns * latency,
        shared_bytes=shared_bytes or H200.shared_bytes,
        latency=latency,
        atomics=atomics,
        bandwidth=bandwidth,
        source=source,
    )
