"""What every communicator must do, as functions of one rank's communicator: tests run them in threads and processes."""

import time

import numpy as np

from grb_tile.backends.distributed.communicator import joined
from grb_tile.backends.distributed.exchange import LARGEST_HEADER, SMALLEST_HEADER
from grb_tile.exceptions import DistributedError, InvalidValue

RECORD = np.dtype([("key", "i4"), ("weight", "f8"), ("flag", "?")])
TYPES = (np.dtype("f8"), np.dtype("?"), np.dtype("i2"), np.dtype("c16"), RECORD)
# nothing, less than any header holds, about what one holds among several ranks and among few, and what no socket takes
BYTES = (0, 16, *range(SMALLEST_HEADER - 48, SMALLEST_HEADER + 1, 16), LARGEST_HEADER - 32, LARGEST_HEADER, 400_000)


def numbers(length, dtype, seed):
    """An array that says where it comes from."""
    drawn = np.random.default_rng([seed, length]).integers(0, 100, size=length)
    made = np.zeros(length, dtype)
    if dtype.names:
        for name in dtype.names:
            made[name] = drawn
    else:
        made[...] = drawn
    return made


def check_objects(comm):
    ranks = range(comm.size)
    for item in (comm.rank, None, "a" * comm.rank, {"rank": comm.rank, "list": [1.5] * 1000}, np.float32(comm.rank)):
        found = comm.allgather(item, "objects")
        assert len(found) == comm.size and found[comm.rank] == item
    assert comm.allgather([comm.rank], "objects") == [[rank] for rank in ranks]
    for root in ranks:
        item = {"array": np.arange(100_000), "root": root} if comm.rank == root else None
        found = comm.broadcast(item, root, "broadcast")
        assert found["root"] == root and (found["array"] == np.arange(100_000)).all()
        assert comm.broadcast(root if comm.rank == root else "not read", root, "broadcast") == root
        found = comm.gather((comm.rank, b"x" * 1000 * comm.rank), root, "gather")
        assert found == ([(rank, b"x" * 1000 * rank) for rank in ranks] if comm.rank == root else None)
    mine = [comm.rank]
    found = comm.allgather(mine, "an object of its own for each rank")
    mine.append("changed")
    comm.barrier("changed")
    assert all(found[rank] == [rank] for rank in ranks if rank != comm.rank)


def check_arrays(comm):
    for dtype in TYPES:
        for length in BYTES:
            lengths = [length // dtype.itemsize * (rank + 1) for rank in range(comm.size)]
            lengths[-1] = 0 if comm.size > 2 else lengths[-1]
            found = comm.allgather_array(numbers(lengths[comm.rank], dtype, comm.rank), "allgather")
            expected = [numbers(many, dtype, rank) for rank, many in enumerate(lengths)]
            assert all(part.dtype == dtype for part in found)
            assert all((part == other).all() and part.shape == other.shape for part, other in zip(found, expected))
            assert (joined(found) == np.concatenate(expected)).all()
    strided = np.arange(20)[::2]
    assert all((part == strided).all() for part in comm.allgather_array(strided, "of every other element"))


def check_alltoall(comm):
    def piece(source, target, length, dtype):
        return numbers(
            0 if source == target + 1 else length // dtype.itemsize * (target + 1), dtype, 10 * source + target
        )

    for dtype in TYPES:
        for length in BYTES:
            sent = [piece(comm.rank, target, length, dtype) for target in range(comm.size)]
            found = comm.alltoall(sent, "alltoall")
            expected = [piece(source, comm.rank, length, dtype) for source in range(comm.size)]
            assert all(part.dtype == dtype for part in found)
            assert all((part == other).all() and part.shape == other.shape for part, other in zip(found, expected))
    one_to_all = [np.arange(50_000 if comm.rank == 0 else 0) for _ in range(comm.size)]
    assert [part.size for part in comm.alltoall(one_to_all, "from one")] == [50_000] + [0] * (comm.size - 1)


def check_nobody_writes_to_another(comm):
    """What a rank does to its array after an exchange is not seen elsewhere."""
    mine = np.full(1000, comm.rank)
    whole = np.full(1000, comm.rank)
    found = comm.allgather_array(mine, "allgather")
    pieces = comm.alltoall([whole[5:] for _ in range(comm.size)], "alltoall")
    mine[...] = whole[...] = -1
    comm.barrier("written")
    for rank in set(range(comm.size)) - {comm.rank}:
        assert (found[rank] == rank).all() and (pieces[rank] == rank).all()
    for part in (*found, *pieces):
        if part.flags.writeable:
            part[...] = -2
    comm.barrier("written")
    assert (mine == -1).all() or comm.size == 1 or found[comm.rank] is mine
    assert (comm.allgather_array(np.arange(3), "later")[0] == np.arange(3)).all()


def check_counters(comm):
    sent, received, seconds = comm.bytes_sent, comm.bytes_received, comm.seconds
    others = comm.size - 1
    comm.allgather_array(np.zeros(1000 * (comm.rank + 1)), "counted")
    comm.alltoall([np.zeros(10 * (rank + 1), np.int8) for rank in range(comm.size)], "counted")
    assert comm.bytes_sent - sent == 8000 * (comm.rank + 1) * others + sum(
        10 * (rank + 1) for rank in range(comm.size) if rank != comm.rank
    )
    assert (
        comm.bytes_received - received
        == 8000 * sum(rank + 1 for rank in range(comm.size) if rank != comm.rank) + 10 * (comm.rank + 1) * others
    )
    assert comm.seconds > seconds or comm.size == 1


def check_operands(comm):
    """Refused before anything is sent, on all ranks alike."""
    for wrong in (np.zeros((2, 2)), np.array([object()]), [1, 2], np.float64(1)):
        try:
            comm.allgather_array(wrong, "wrong")
        except InvalidValue as error:
            assert "1-D" in str(error)
        else:
            raise AssertionError(f"{wrong!r} was taken")
    for call in (
        lambda: comm.alltoall([np.zeros(1)] * (comm.size + 1), "wrong"),
        lambda: comm.broadcast(1, comm.size, "wrong"),
        lambda: comm.gather(1, -1, "wrong"),
    ):
        try:
            call()
        except InvalidValue:
            pass
        else:
            raise AssertionError("an operand was taken that is none")


def check_failures(comm):
    """A rank that fails, and ranks at different calls: all raise, and go on together."""
    if comm.size == 1:
        return
    last = comm.size - 1
    for text in ("no memory", "x" * 5000, ""):  # within a header, and longer
        error = MemoryError(text)
        if comm.rank == last:
            comm.fail(error, "mxm")
            comm.fail(error, "mxm")  # once is enough
        else:
            raised = error_of(lambda: comm.allgather(1, "nvals"))
            assert raised.ranks == (last,) and raised.call == "nvals"
            assert f"rank {last} failed in mxm: MemoryError" in str(raised) and text[:100] in str(raised)
        assert comm.allgather(comm.rank, "afterwards") == list(range(comm.size))
    comm.fail(ValueError("all of them"), "mxv")
    comm.barrier("afterwards")
    raised = error_of(lambda: comm.barrier("nvals") if comm.rank else comm.allgather_array(np.zeros(3), "mxv"))
    assert "rank 0 in mxv (allgather of float64)" in str(raised) and "in nvals (barrier)" in str(raised)
    raised = error_of(lambda: comm.allgather_array(np.zeros(1000, "f4" if comm.rank == last else "f8"), "mxv"))
    assert f"rank {last} in mxv (allgather of float32)" in str(raised)
    raised = error_of(lambda: comm.broadcast(1, int(comm.rank == 0), "init"))
    assert "rank 0 in init (broadcast from rank 1)" in str(raised)
    unpicklable = error_of(lambda: comm.allgather(lambda: 1 if comm.rank else 1, "objects"), Exception)
    assert "pickle" in str(unpicklable).lower()
    comm.fail(unpicklable, "objects")  # known already
    assert comm.allgather(comm.rank, "afterwards") == list(range(comm.size))


def check_memory(comm):
    """A rank without the memory to receive: the others raise as well, and go on."""
    import grb_tile.backends.distributed.exchange as exchange

    if comm.size == 1 or not hasattr(comm, "_empty"):
        return
    empty, last = comm._empty, comm.size - 1

    def no_memory(length):
        if comm.rank == last:
            raise MemoryError(f"{length} bytes")
        return empty(length)

    comm._empty = no_memory
    checked, exchange.CHECKED_BYTES = exchange.CHECKED_BYTES, 100_000
    large = np.zeros(exchange.CHECKED_BYTES // 8, np.int64)
    for call in (
        lambda: comm.allgather_array(large, "mxv"),
        lambda: comm.alltoall([large] * comm.size, "mxv"),
        lambda: comm.broadcast(large, 0, "mxv"),
    ):
        raised = error_of(call, (MemoryError if comm.rank == last else DistributedError))
        assert comm.rank == last or (raised.ranks == (last,) and "MemoryError" in str(raised))
        comm.fail(raised, "mxv")  # known already
    comm._empty, exchange.CHECKED_BYTES = empty, checked
    assert comm.allgather(comm.rank, "afterwards") == list(range(comm.size))


def check_announcements(comm):
    """Ranks go on, one before and one behind the others, and all is compared by the next exchange."""
    for turn in range(3):
        for k in range(40):
            if comm.rank == turn % comm.size and k == 20:
                time.sleep(0.05)
            comm.announce("mxv", f"all of {k % 3}")
        comm.look_at_announced()
        assert comm.allgather(comm.rank, "nvals") == list(range(comm.size))
    comm.announce("mxv", "x" * 5000)
    comm.barrier("end")


OTHERWISE = {  # what rank 1 does where the others announce "mxv": what the error of all says
    "announces": (lambda comm: comm.announce("mxm", "all of 7"), "rank 1 in mxm (all of 7)"),
    "exchanges": (lambda comm: comm.allgather(1, "reduce"), "rank 1 in reduce (allgather)"),
    "fails": (lambda comm: comm.fail(MemoryError("of rank 1"), "mxv"), "rank 1 failed: MemoryError: of rank 1"),
    "behind": (lambda comm: None, "rank 1 in nvals (allgather)"),
}


def announced_otherwise(comm, kind):
    """The text of the error that a rank gets, within 10 s: by an exchange, or by a thread that looks."""
    start = time.monotonic()
    call, said = OTHERWISE[kind]
    try:
        comm.announce("mxv", "all of 5")
        if comm.rank == 1:
            call(comm)
        else:
            comm.announce("mxv", "all of 7")
        if comm.rank == 0:  # computes, while a thread looks
            while comm.reason() is None and time.monotonic() - start < 10:
                comm.look_at_announced()
                time.sleep(0.01)
        found = error_of(lambda: [comm.allgather(k, "nvals") for k in range(3)])
    except DistributedError as error:
        found = error
    assert said in str(found) or (kind == "fails" and comm.rank == 1), str(found)
    assert time.monotonic() - start < 10
    error_of(lambda: comm.barrier("later"))  # has ended
    return str(found)


def error_of(call, kind=DistributedError):
    try:
        found = call()
    except kind as error:
        return error
    raise AssertionError(f"returned {found!r}")


EVERY = (
    check_objects,
    check_arrays,
    check_alltoall,
    check_nobody_writes_to_another,
    check_counters,
    check_operands,
    check_failures,
    check_memory,
    check_announcements,
)


def check_all(comm):
    for check in EVERY:
        check(comm)
