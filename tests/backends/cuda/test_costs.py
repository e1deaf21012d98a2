"""Costs of a device that the table does not have: measured once, kept on disk, scaled by facts where that fails."""

import json
import re
from dataclasses import replace
from time import perf_counter_ns

import pytest

from cuda_emulation.backend import using_shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile.backends.cuda.device_report import report_of
from grb_tile.backends.cuda.runtime import costs
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.backends.cuda.structure.arrays import keeps_bitmap
from grb_tile.cli.main import main
from grb_tile.planner.device_limits import LIMITS
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
    measured, released = [], []
    monkeypatch.setattr(costs, "measure", lambda device: measured.append(device) or TWICE)
    launcher.release_memory = lambda drop: released.append(len(measured))
    first = Device(launcher).profile
    assert first == Device(launcher).profile and len(measured) == 1
    assert released == [1], "its memory goes back to the driver, once it is measured"
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


@pytest.mark.parametrize("arch", [75, 80, 86, 89, 90, 100, 120])
def test_what_kernels_use_follows_from_the_limits_of_the_device(arch):
    limits = replace(LIMITS[arch], processors=40)
    device = Device(EmulatedLauncher(limits=limits))
    report = report_of(device)
    assert report["device"]["compute_capability"] == f"{arch // 10}.{arch % 10}"
    assert report["device"]["shared_memory_per_block"] == limits.shared_per_block
    kernels = report["kernels"]
    assert "80 blocks of 512 threads" in kernels["column-wise products"]
    slots = min(192 << 10, limits.shared_per_block - (16 << 10)) // 12
    assert f"{slots:,} high-degree rows" in kernels["column-wise products"]
    assert kernels["BFS, high diameter"] == "16 resident blocks, queues of 64 KiB in global memory"
    assert ("by shuffles" in kernels["BFS, SSSP"]) == (arch == 75)
    most = int(re.search(r"a bitmap up to ([\d,]+) positions of FP64", kernels["results"])[1].replace(",", ""))
    assert keeps_bitmap(device, most * 99 // 100, 8) and not keeps_bitmap(device, most * 101 // 100, 8)


def test_the_command_prints_the_device(capsys):
    with using_shim() as backend:
        number = str(backend.device.number)
        assert main(["info", "--device", number, "--json"]) == 0
        name = backend.device.launcher.device_name()
        report = json.loads(capsys.readouterr().out)
        want = report_of(backend.device)
        for changing in (report, want):  # other processes allocate on the device, too
            assert 0 < changing["device"].pop("memory_free") <= changing["device"]["memory"]
        assert report.pop("command") == "info" and report == want
        assert main(["info", "--device", number]) == 0
        text = capsys.readouterr().out
    assert name in text and "multiprocessors" in text and "measured on this model" in text
    for family in report["kernels"]:
        assert f"kernels    {family}" in text


@pytest.mark.parametrize("arguments", [["--device", "--head"], ["--device", "0", "graph.mtx"], ["--device", "-1"], []])
def test_what_the_command_refuses(arguments, capsys):
    assert main(["info", *arguments]) == 2
    assert "device" in capsys.readouterr().err
