"""Ranks on devices: one for each rank over NCCL where there are several, and ranks that share one through the host.

tests/distributed has the same over emulated devices and a stand-in for NCCL.
"""

import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

cp = pytest.importorskip("cupy")

import grb_tile as gb  # noqa: E402
from gpu.batteries import ROOT, TESTS, Battery, counts, devices  # noqa: E402
from grb_tile import generators, graph  # noqa: E402
from grb_tile.backends import select  # noqa: E402
from grb_tile.backends.distributed import loopback  # noqa: E402
from grb_tile.backends.distributed.nccl import BackendDevice, NcclCommunicator  # noqa: E402
from grb_tile.exceptions import DistributedError  # noqa: E402
from grb_tile.planner import choose_ranks  # noqa: E402
from support.nccl_stand_in import Module  # noqa: E402
from support.ranks import OddRanges, on_ranks  # noqa: E402
from support.results_of_ranks import compare, results  # noqa: E402

COUNT = devices()
several = pytest.mark.skipif(
    COUNT < 2, reason=f"NCCL takes a device for each rank, this machine has {COUNT}; tests/distributed emulates several"
)
SIZES = sorted({2, 3, COUNT} & set(range(2, COUNT + 1))) or [2]
FILES = ("conformance/test_mxm.py", "conformance/test_mxv.py", "conformance/test_vxm.py", "conformance/test_assign.py",
         "conformance/test_extract.py", "conformance/test_reduce.py", "conformance/test_shaping.py",
         "distributed/test_algorithms.py")  # fmt: skip


@several
@pytest.mark.parametrize("size", SIZES)
def test_calls_over_nccl(size):
    want = results()
    compare(on_ranks(f"ranks{size}", results, devices=size, timeout=60), want)  # ranges end anywhere
    for channel, found in gb.dist.run(size, lambda world: (world.channel, results()), devices=size):
        assert channel.startswith("over NCCL 2.")
        compare([found], want)


@several
@pytest.mark.parametrize("size", SIZES)
def test_searches_by_kernels_that_exchange(size, monkeypatch):
    """Each rank's launch waits for those of the others; levels are those of one device, whatever travels."""
    monkeypatch.setattr(choose_ranks, "saved_by_whole", lambda *facts: 0.0)  # no graph is kept whole
    cases = [(8, 4, 1, True), (12, 16, 2, True), (14, 8, 3, False), (18, 16, 4, True)]

    def levels(make):
        found = []
        for scale, factor, seed, symmetric in cases:
            A = make(scale, factor, directed=not symmetric, seed=seed)
            sources = [0, 1, 77, (1 << scale) - 1]
            found += [graph.bfs(A, s, symmetric=symmetric).levels for s in sources for _ in range(2)]
        return found

    want = levels(generators.rmat)
    for found in gb.dist.run(size, lambda world: [x.gather() for x in levels(gb.dist.rmat)], devices=size):
        assert all(x.isequal(y) for x, y in zip(found, want, strict=True))


@pytest.mark.parametrize("size", (2, 3))
def test_ranks_that_share_a_device(size):
    want = results()
    for channel, found in gb.dist.run(size, lambda world: (world.channel, results()), devices=1):
        assert channel.startswith("through the host (") and "have one device" in channel
        compare([found], want)


def bytes_at(pointer, count):
    return cp.ndarray(count, cp.uint8, cp.cuda.MemoryPointer(cp.cuda.UnownedMemory(pointer, count, None), 0))


def read(pointer, count):
    found = bytes_at(pointer, count).copy()
    cp.cuda.Stream.null.synchronize()
    return found


def write(pointer, data):
    bytes_at(pointer, len(data))[...] = data
    cp.cuda.Stream.null.synchronize()


class Waits(NcclCommunicator):
    """Of ranks that share a device: the stand-in's messages are awaited when the device's lock is free again."""

    @contextmanager
    def _queueing(self, call):
        with super()._queueing(call) as stream:
            yield stream
        done = threading.Event()
        self._device.nccl.work.put(done.set)
        assert done.wait(30)


@pytest.mark.parametrize("size", (2, 3))
def test_the_way_from_device_to_device_on_one(size):
    """NCCL refuses two ranks of one device; a stand-in copies between their arrays, so that all but NCCL is CuPy's."""
    want = results()

    def of_rank(host):
        local = select.named("cuda")
        device = BackendDevice(local)
        device.nccl = Module(asynchronous=True, read=read, write=write)
        comm = Waits(host, device)
        made = OddRanges(comm, local)
        with select.entered(f"ranks-{made.number}", made):
            try:
                found = results()
                A = gb.dist.rmat(10, 8, directed=False, weights=(1, 9), seed=1)
                assert type(A._store.local.indices) is cp.ndarray
                return found, A.gather(), comm.host_bytes
            finally:
                made.close()
                comm.close()

    with gb.config.set(backend="cuda"):
        whole = generators.rmat(10, 8, directed=False, weights=(1, 9), seed=1)
        for found, A, _ in loopback.run(size, of_rank, timeout=60):
            compare([found], want)
            assert A.isequal(whole)


def test_one_rank_draws_the_generators_graphs():
    def program(world):
        return gb.dist.rmat(12, 8, seed=1).gather(), gb.dist.uniform_random(3000, 9000, seed=1).gather()

    with gb.config.set(backend="cuda"):
        rmat, uniform = gb.dist.run(1, program, devices=1)[0]
        assert rmat.isequal(generators.rmat(12, 8, seed=1))
        assert uniform.isequal(generators.uniform_random(3000, 9000, seed=1))


@several
def test_a_rank_that_fails_over_nccl():
    def program(world):
        A = gb.dist.rmat(10, 8, weights=(1, 9), seed=1)
        x = A.reduce_rowwise().new()
        if world.rank == 1:
            raise ValueError("of rank 1")
        A.mxv(x).new().reduce().new()

    with pytest.raises((ValueError, DistributedError), match="rank 1"):
        gb.dist.run(2, program, devices=2, timeout=20)


def run(size, *arguments):
    paths = os.pathsep.join(map(str, (ROOT, TESTS, TESTS / "distributed")))
    command = [sys.executable, "-m", "grb_tile", "run", "-n", str(size), "--over", "pipes", "--backend", "cuda"]
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=120, env=environment, check=False
    )


@pytest.mark.parametrize("size", [2, *([COUNT] if COUNT > 2 else [])])
def test_processes(size, tmp_path):
    """Each with a device of its own where there are as many; else they share."""
    done = run(size, str(TESTS / "distributed" / "dist_program.py"), str(tmp_path / "parts"))
    assert done.returncode == 0, done.stderr[-4000:]
    assert sorted(done.stdout.splitlines()) == [f"rank {r} of {size}: ok" for r in range(size)]


@several
@pytest.mark.parametrize("file", FILES)
def test_battery_on_ranks(file):
    folder, name = file.split("/")
    status, output, _ = Battery(folder, name, ranks=2).run("-m", "not slow")
    found = counts(output)
    assert status == 0 and found and found["passed"], f"{file}: {found or 'no counts'}\n{output[-8000:]}"
