"""Communicators of one process: ranks in threads, and one rank alone."""

import contextvars
import threading
import time

import numpy as np
import pytest
from exchanges import EVERY, OTHERWISE, announced_otherwise, error_of

from grb_tile.backends.distributed import loopback
from grb_tile.backends.distributed.alone import Alone
from grb_tile.exceptions import DistributedError, InvalidValue

SIZES = (1, 2, 3, 4)


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.__name__)
@pytest.mark.parametrize("size", SIZES)
def test_exchanges(size, check):
    loopback.run(size, check)


@pytest.mark.parametrize("check", EVERY, ids=lambda check: check.__name__)
def test_one_rank_alone(check):
    check(Alone())


@pytest.mark.parametrize("kind", OTHERWISE)
@pytest.mark.parametrize("size", (2, 3))
def test_who_announces_something_else_ends_all(size, kind):
    loopback.run(size, announced_otherwise, kind)


def test_results_are_in_the_order_of_ranks_and_threads_have_the_context():
    variable = contextvars.ContextVar("variable", default=0)
    variable.set(5)

    def function(comm, factor):
        time.sleep(0.01 * (3 - comm.rank))
        variable.set(variable.get() + comm.rank)
        return factor * variable.get(), threading.current_thread().name

    assert loopback.run(3, function, 10) == [(50, "rank 0"), (60, "rank 1"), (70, "rank 2")]
    assert variable.get() == 5


def test_arrays_that_nobody_can_write_to_are_passed_without_a_copy():
    array = np.arange(1000)
    array.flags.writeable = False

    def function(comm):
        return comm.allgather_array(array[comm.rank :], "allgather")

    for found in loopback.run(2, function):
        assert all(np.shares_memory(part, array) and not part.flags.writeable for part in found)


@pytest.mark.parametrize("size", (2, 3, 4))
def test_the_error_of_one_rank_is_raised_and_ends_the_others(size):
    ended = []

    def function(comm):
        try:
            if comm.rank == 1:
                raise KeyError("of rank 1")
            comm.barrier("mxv")
        except DistributedError as error:
            ended.append(error)
            raise

    start = time.monotonic()
    with pytest.raises(KeyError, match="of rank 1"):
        loopback.run(size, function)
    assert time.monotonic() - start < 5
    assert len(ended) == size - 1
    for error in ended:
        assert error.ranks == (1,) and str(error) == "mxv: rank 1 has ended: KeyError: 'of rank 1'"


def test_a_rank_that_ends_early_ends_those_that_wait():
    def function(comm):
        if comm.rank != 1:
            comm.barrier("mxv")

    with pytest.raises(DistributedError, match="mxv: rank 1 has ended"):
        loopback.run(3, function)


def test_a_rank_that_does_not_come_is_named():
    go_on = threading.Event()

    def function(comm):
        if comm.rank == 1:
            go_on.wait(10)
            raised = error_of(lambda: comm.barrier("later"))
            assert "later: aborted" in str(raised)
        else:
            try:
                comm.allgather(1, "nvals")
            finally:
                go_on.set()

    start = time.monotonic()
    with pytest.raises(DistributedError, match=r"nvals: .*rank 1 did not come within 0.5 s"):
        loopback.run(3, function, timeout=0.5)
    assert time.monotonic() - start < 5


def test_a_rank_that_hangs_does_not_keep_the_error(monkeypatch):
    monkeypatch.setattr(loopback, "SECONDS_TO_END", 0.2)
    go_on = threading.Event()

    def function(comm):
        if comm.rank == 1:
            go_on.wait(20)
        raise ValueError("of the others")

    start = time.monotonic()
    with pytest.raises(ValueError, match="of the others"):
        loopback.run(3, function)
    assert time.monotonic() - start < 5
    go_on.set()


def test_abort_ends_all_waits():
    def function(comm):
        if comm.rank == 0:
            time.sleep(0.1)
            comm.abort("no more")
            return error_of(lambda: comm.barrier("afterwards"))
        return error_of(lambda: comm.barrier("mxv"))

    errors = loopback.run(3, function)
    assert [str(error) for error in errors] == [
        f"{call}: aborted: by rank 0: no more" for call in ("afterwards", "mxv", "mxv")
    ]


def test_lines_of_the_program_are_named_where_asked_for(monkeypatch):
    def function(comm):
        if comm.rank:
            return str(error_of(lambda: comm.barrier("nvals")))
        return str(error_of(lambda: comm.barrier("mxv")))

    assert all("GRB_TILE_DIST_CHECK=1" in text for text in loopback.run(2, function))
    monkeypatch.setenv("GRB_TILE_DIST_CHECK", "1")
    for text in loopback.run(2, function):
        assert text.count(f"{__file__}:") == 2 and "GRB_TILE_DIST_CHECK" not in text


@pytest.mark.parametrize("size", (1, 2))
def test_pieces_that_are_refused(size):
    array = np.arange(3)
    for pieces, text in (
        ([array] * (size + 1), f"{size + 1} pieces for {size} ranks"),
        ([array, array.astype("f4")][:size] if size > 1 else [[1, 2]], "pieces of several types, float32, int64|1-D"),
        ([array.reshape(3, 1)] * size, r"pieces\[0\]: expected a 1-D NumPy array"),
        ([np.array(["a"], object)] * size, r"pieces\[0\]: expected a 1-D NumPy array"),
    ):

        def program(comm, pieces=pieces, text=text):
            with pytest.raises(InvalidValue, match=text):
                comm.alltoall(pieces, "exchange")
            return True

        assert loopback.run(size, program) == [True] * size
