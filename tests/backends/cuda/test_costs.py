"""Costs of a device that the table does not have: measured once, kept on disk, scaled by facts where that fails."""

from time import perf_counter_ns

import pytest

from cuda_emulation.launcher import EmulatedLauncher
from grb_tile.backends.cuda.runtime import costs
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.planner.device_profile import H200, H200_LOOPS, Measured, profile_from, profile_of

TWICE = Measured(5000.0, 20_000.0, 1500.0, 860.0, 3 * H200_LOOPS.atomic_ns, 2 * H200_LOOPS.gather_ns)


@pytest.fixture
def launcher(monkeypatch, tmp_path):
    """A device of an unknown name, and a cache of its own."""
    monkeypatch.setenv("GRB_TILE_CACHE", str(tmp_path))
    found = EmulatedLauncher()
    found.profile = lambda: profile_of("GPU of 66", 66, 860.0, 99 << 10)
    return found


def test_the_loops_are_measured():
    device, ran = Device(EmulatedLauncher()), []

    def clock(device, launch):
        start = perf_counter_ns()
        launch()
        ran.append(launch)
        return perf_counter_ns() - start

    found = costs.measure(device, clock, dram_bytes=1 << 18, accesses=1 << 12, barriers=20, runs=2)
    assert len(ran) == 5 * 2
    assert all(value > 0 for value in vars(found).values())


def test_costs_are_measured_once_and_kept(launcher, monkeypatch, tmp_path):
    measured = []
    monkeypatch.setattr(costs, "measure", lambda device: measured.append(device) or TWICE)
    first = Device(launcher).profile
    assert first == Device(launcher).profile and len(measured) == 1
    assert first == profile_from("GPU of 66", 66, 99 << 10, TWICE)
    (entry,) = (tmp_path / "cuda").iterdir()
    entry.write_bytes(entry.read_bytes()[:-1])  # truncated
    assert Device(launcher).profile == first and len(measured) == 2
    launcher.driver_version = lambda: 13010
    assert Device(launcher).profile == first and len(measured) == 3, "another driver: measured again"
    known = EmulatedLauncher()
    assert not Device(known).profile.scaled and len(measured) == 3


@pytest.mark.parametrize("error", [MemoryError("512 MiB"), RuntimeError("CUDA_ERROR"), ValueError("no event")])
def test_costs_that_cannot_be_measured_are_those_of_the_facts(launcher, monkeypatch, error):
    def fail(device):
        raise error

    monkeypatch.setattr(costs, "measure", fail)
    assert Device(launcher).profile == profile_of("GPU of 66", 66, 860.0, 99 << 10)


def test_a_profile_is_scaled_by_what_was_measured():
    found = profile_from("GPU of 66", 66, 99 << 10, TWICE)
    assert (found.latency, found.atomics, found.bandwidth) == pytest.approx((2.0, 3.0, 4300.0 / 860.0), rel=0.3)
    assert found.gather_ns == pytest.approx(H200.gather_ns * found.latency)
    assert found.atomic_ns == pytest.approx(H200.atomic_ns * found.atomics)
    assert (found.launch_ns, found.read_back_ns, found.barrier_ns) == (5000.0, 20_000.0, 1500.0)
    assert found.scaled and "by what was measured on it" in found.note and "GPU of 66" in found.note
    same = profile_from("another H200", 132, 227 << 10, H200_LOOPS)
    assert (same.latency, same.atomics, same.bandwidth) == (1.0, 1.0, 1.0)
