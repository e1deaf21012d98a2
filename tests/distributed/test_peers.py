"""Exchanges by copies into windows of other devices (distributed/peers.py), on emulated devices of one process."""

import time

import numpy as np
import pytest
from exchanges import error_of, numbers

from cuda_emulation.arrays import Cuda
from cuda_emulation.backend import EMULATED
from grb_tile.backends import select
from grb_tile.backends.distributed import loopback, peers
from grb_tile.backends.distributed.nccl import BackendDevice, NcclCommunicator
from grb_tile.exceptions import DistributedError
from support.emulated_devices import emulated_devices

pytestmark = pytest.mark.skipif(not EMULATED, reason="tests/gpu/test_ranks.py has these on devices")


def on_devices(size, function, timeout=30.0):
    """[function(communicator, its device's array module)] of ranks with an emulated device each."""

    def of_rank(host):
        local = select.named(f"cuda:{host.rank}")
        comm = NcclCommunicator(host, BackendDevice(local))
        with local.bound():
            return function(comm, local.xp)

    with emulated_devices(size) as nccl:
        return loopback.run(size, of_rank, timeout=timeout), nccl


def whole(counts, dtype, seed):
    return np.concatenate([numbers(count, dtype, seed + rank) for rank, count in enumerate(counts)])


@pytest.mark.parametrize("size", (2, 3, 4))
def test_arrays_of_all_ranks_one_after_the_other(size):
    """Exchange follows exchange, so that halves are written again; rank 1 has nothing in some."""
    lengths = [(7 * k % 50, 0 if k % 3 else 9, 1 + k, 64)[:size] for k in range(12)]
    kinds = np.dtype("f4"), np.dtype("?"), np.dtype("i8")

    def function(comm, xp):
        for k, counts in enumerate([*lengths, [300] * size, [0] * size]):
            mine = [xp.asarray(numbers(counts[comm.rank], kind, k + comm.rank)) for kind in kinds]
            made = comm.allgather_known(mine, counts, "equal" if len(set(counts)) == 1 else "unequal")
            for found, kind in zip(made, kinds, strict=True):
                assert found.dtype == kind and (found.get() == whole(counts, kind, k)).all(), (k, kind)
        room = comm.room(sum(lengths[0]), kinds[0], "known")
        one = comm.allgather_known([xp.asarray(numbers(lengths[0][comm.rank], kinds[0], 5))], lengths[0], "known", room)
        assert one[0] is room
        comm.close()
        return comm.channel

    channels, nccl = on_devices(size, function)
    assert channels == ["over NCCL 2.28.3 and peer memory"] * size
    assert {name for name, _ in nccl.calls} == {"abort"}, "nothing by NCCL"


def test_windows_grow_until_the_limit_and_nccl_does_the_rest(monkeypatch):
    monkeypatch.setattr(peers, "SMALLEST", 1 << 10)

    def function(comm, xp):
        comm._peers.limit = 1 << 15
        halves = []
        for count in (10, 1000, 100, 3000, 9000, 50):
            counts = [count, count + 1]
            kind = np.dtype("i8" if count < 3000 else "f4")
            (found,) = comm.allgather_known([xp.asarray(numbers(counts[comm.rank], kind, comm.rank))], counts, "x")
            assert (found.get() == whole(counts, kind, 0)).all()
            halves.append(comm._peers._half)
        comm.close()
        return halves

    found, nccl = on_devices(2, function)
    assert found == [[1 << 10, 1 << 14, 1 << 14, 1 << 15, 1 << 15, 1 << 15]] * 2
    assert sorted(nccl.calls) == [("abort", 0)] * 2 + [
        ("recv", 36000),
        ("recv", 36004),
        ("send", 36000),
        ("send", 36004),
    ]


@pytest.mark.parametrize("fault", ("no access", "no memory", "another host"))
def test_without_windows_on_every_rank_where_one_has_none(fault, monkeypatch):
    if fault == "no access":
        monkeypatch.setattr(Cuda.runtime, "deviceCanAccessPeer", staticmethod(lambda number, other: number == 0))
    if fault == "no memory":
        made = BackendDevice.window
        monkeypatch.setattr(
            BackendDevice, "window", lambda self, *sizes: made(self, *sizes) if self.number else [].pop()
        )
    if fault == "another host":
        names = iter("abc")
        monkeypatch.setattr(peers.socket, "gethostname", lambda: next(names))

    def function(comm, xp):
        counts = [5, 8, 2]
        (found,) = comm.allgather_known(
            [xp.asarray(numbers(counts[comm.rank], np.dtype("f4"), comm.rank))], counts, "x"
        )
        assert (found.get() == whole(counts, np.dtype("f4"), 0)).all()
        comm.close()
        return comm.channel

    channels, nccl = on_devices(3, function)
    assert channels == ["over NCCL 2.28.3"] * 3
    assert {name for name, _ in nccl.calls} == {"abort", "send", "recv"}


@pytest.mark.parametrize("fault", ("late", "raises"))
def test_a_rank_that_does_not_come_ends_the_others_waits(fault):
    def function(comm, xp):
        mine = xp.asarray(np.arange(100.0))
        comm.allgather_known([mine], [100] * 3, "first")
        start = time.monotonic()
        if comm.rank == 1:
            if fault == "raises":
                raise ValueError("rank 1 has had enough")
            time.sleep(3)
        raised = error_of(
            lambda: (comm.allgather_known([mine], [100] * 3, "second"), comm.wait("second")), DistributedError
        )
        return str(raised), time.monotonic() - start

    if fault == "raises":
        with pytest.raises(ValueError, match="had enough"):
            on_devices(3, function)
        return
    found, _ = on_devices(3, function, timeout=1.0)
    for rank, (text, seconds) in enumerate(found):
        assert "second" in text and seconds < 10, (rank, text)
