"""Ranks that an MPI launcher started, over mpi4py (4 or later).

Headers are one Ialltoall, arrays one Iallgatherv, or messages between pairs of ranks, where these are few or arrays are
long: those are cut into chunks, since counts and displacements of MPI before 4.0 end at 2^31.  Nothing blocks:
requests are tested until the timeout.  A second communicator carries what ranks say to each other outside exchanges:

    here      a rank has waited in exchange n for a while; the others are named when the wait is over
    left      a rank ends after exchange n; those who wait in a later one raise
    aborted   the reason; all who wait raise

A program that ends in an error calls MPI_Abort (exit_hooks.py), since MPI_Finalize waits for all ranks.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mpi4py import MPI

from grb_tile.exceptions import DistributedError

from . import communicator as base, exit_hooks
from .exchange import ProcessCommunicator

CHUNK = 1 << 30  # most bytes of one message, and of one Iallgatherv
# Tests of a request with only a yield of the processor between them, before those with pauses.
YIELDS = 2000  # where each rank of the host has a core
YIELDS_OF_MANY = 20  # where ranks share cores: whoever tests keeps another from its work
PAIRWISE_RANKS = 8  # up to so many, an allgather is messages between pairs: no rank waits for a chain of others
LONGEST_PAUSE = 0.001  # seconds between later tests
SECONDS_BEFORE_HERE = 1.0
SECONDS_TO_LEAVE = 5.0  # for the others, when the program ends after an exchange that was given up
SECONDS_TO_RELAY = 0.1  # for launchers to read what was written: they drop it after MPI_Abort
HERE, LEFT, ABORTED = "here", "left", "aborted"


class MpiCommunicator(ProcessCommunicator):
    """The ranks of an mpi4py communicator, MPI.COMM_WORLD without one.  Making one is collective.

    hooks: install those of exit_hooks.py, which end all ranks when this one ends in an error.
    """

    def __init__(self, comm: Any = None, timeout: float = 300.0, hooks: bool = True) -> None:
        comm = MPI.COMM_WORLD if comm is None else comm
        super().__init__(comm.Get_rank(), comm.Get_size(), timeout)
        self._comm = comm.Dup()
        self._control = comm.Dup()
        self._heard: dict[str, dict[int, int]] = {HERE: {}, LEFT: {}}  # the last exchange that each rank told of
        on_this_host = comm.Split_type(MPI.COMM_TYPE_SHARED)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._yields = YIELDS if on_this_host.Get_size() <= cores else YIELDS_OF_MANY
        on_this_host.Free()
        self._sent: list[Any] = []  # requests of messages on the way
        self._given_up: list[Any] = []  # requests that MPI may still complete, with their buffers
        self._closed = False
        self.remove_hooks: Callable[[], None] = exit_hooks.install(self.rank, abort_all) if hooks else lambda: None
        atexit.register(self.close)

    # ---------------------------------------------------------------- bytes

    def _headers(self, block: np.ndarray, call: str) -> np.ndarray:
        got = np.empty_like(block)
        many = self._header_bytes
        self._wait(lambda: [self._comm.Ialltoall([block, many, MPI.BYTE], [got, many, MPI.BYTE])], call)
        return got

    def _allgather_bytes(self, mine: np.ndarray, receives: Sequence[np.ndarray], call: str) -> None:
        counts = [part.nbytes for part in receives]
        if sum(counts) > CHUNK or self.size <= PAIRWISE_RANKS:
            return self._transfer([mine] * self.size, receives, call)
        displacements = np.cumsum([0, *counts[:-1]]).tolist()
        whole = receives[0].base
        self._wait(lambda: [self._comm.Iallgatherv(MPI.IN_PLACE, [whole, (counts, displacements), MPI.BYTE])], call)

    def _broadcast_bytes(self, buffer: np.ndarray, root: int, call: str) -> None:
        self._wait(lambda: [self._comm.Ibcast([part, MPI.BYTE], root) for part in _chunks(buffer)], call)

    def _transfer(self, sends: Sequence[np.ndarray], receives: Sequence[np.ndarray], call: str) -> None:
        def start() -> list[Any]:
            requests = []
            for step in range(1, self.size):
                source, target = (self.rank - step) % self.size, (self.rank + step) % self.size
                requests += [self._comm.Irecv([part, MPI.BYTE], source) for part in _chunks(receives[source])]
                requests += [self._comm.Isend([part, MPI.BYTE], target) for part in _chunks(sends[target])]
            return requests

        self._wait(start, call)

    # ---------------------------------------------------------------- waits

    def _wait(self, start: Callable[[], list[Any]], call: str) -> None:
        """Start requests and return when they are complete."""
        requests: list[Any] = []
        try:
            requests = start()
            if not self._complete(requests, call):
                raise base.late(call, self.timeout, set(range(self.size)) - {self.rank} - self._here())
        except BaseException as error:  # Ctrl-C too
            self._given_up.append((requests, start))
            self.abort(str(error) if isinstance(error, DistributedError) else f"{call}: {base.error_text(error)}")
            if isinstance(error, MPI.Exception):
                raise DistributedError(f"{call}: {error}", (), call) from error
            raise

    def _complete(self, requests: list[Any], call: str) -> bool:
        """Test until the requests are complete; False after the timeout."""
        for _ in range(self._yields):
            if MPI.Request.Testall(requests):
                return True
            os.sched_yield()
        start = time.monotonic()
        said = False
        while not MPI.Request.Testall(requests):
            waited = time.monotonic() - start
            self._listen(call)
            if not said and waited > min(SECONDS_BEFORE_HERE, self.timeout / 4):
                self._say(HERE, self._exchanges)
                said = True
            if waited > self.timeout:
                return False
            time.sleep(min(waited / 10, LONGEST_PAUSE))  # a tenth of the wait is lost at most
        return True

    def _say(self, kind: str, content: Any) -> None:
        """Send a message to every other rank; returns at once."""
        self._sent = [request for request in self._sent if not request.Test()]
        for rank in range(self.size):
            if rank != self.rank:
                self._sent.append(self._control.isend((kind, content), rank))

    def _listen(self, call: str) -> None:
        """Read what others have said.

        Raises: DistributedError when one has aborted, or has left before this exchange.
        """
        self._hear()
        if self._reason is not None:
            raise base.aborted(call, self._reason)
        left = [rank for rank, last in self._heard[LEFT].items() if last < self._exchanges]
        if left:
            error = base.ended(call, left)
            self._reason = str(error)
            raise error

    def _hear(self) -> None:
        """Read messages.  Several threads may: NCCL's looks for an abort."""
        status = MPI.Status()
        while (message := self._control.improbe(MPI.ANY_SOURCE, MPI.ANY_TAG, status)) is not None:
            kind, content = message.recv()
            if kind == ABORTED:
                self._reason = content
            else:
                self._heard[kind][status.Get_source()] = content

    def _here(self) -> set[int]:
        """The other ranks that are known to wait in this exchange."""
        return {rank for rank, last in self._heard[HERE].items() if last == self._exchanges}

    # ---------------------------------------------------------------- the end

    def abort(self, reason: str) -> None:
        if self._reason is None:
            self._reason = f"by rank {self.rank}: {reason}"
            self._say(ABORTED, self._reason)

    def reason(self) -> str | None:
        self._hear()
        return self._reason

    def gone(self) -> tuple[int, ...]:
        self._hear()
        return tuple(sorted(self._heard[LEFT]))

    def close(self) -> None:
        """Tell the others that this rank makes no more exchanges; at exit MPI_Finalize follows, which waits for them.

        After an exchange that was given up MPI_Finalize might wait for ever: then all ranks are ended.
        """
        if self._closed or MPI.Is_finalized():
            return
        self._closed = True
        atexit.unregister(self.close)
        self.remove_hooks()
        self._say(LEFT, self._exchanges)
        if self._reason is not None:
            leaving = self._control.Ibarrier()
            until = time.monotonic() + SECONDS_TO_LEAVE
            while not leaving.Test() and time.monotonic() < until:
                time.sleep(LONGEST_PAUSE)
            abort_all(1)


def abort_all(status: int, reason: str = "") -> None:
    """MPI_Abort: ends all ranks, this one too, also where MPI_Abort returns and leaves that to the launcher (MPICH)."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    time.sleep(SECONDS_TO_RELAY)
    MPI.COMM_WORLD.Abort(status)
    os._exit(status)


def _chunks(array: np.ndarray) -> list[np.ndarray]:
    """The array of bytes in parts of CHUNK bytes; none for an empty one, as on the other side."""
    return [array[start : start + CHUNK] for start in range(0, array.nbytes, CHUNK)]
