"""Ranks that are threads of one process, for tests and notebooks.

An exchange leaves its operand with the group and waits until all ranks have done so.  Arrays are passed without a copy
where nobody can write to them; of others the receivers share one read-only copy.  Objects are pickled: each rank gets
its own, as between processes.
"""

from __future__ import annotations

import contextvars
import pickle
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from grb_tile.exceptions import DistributedError

from . import communicator as base
from .communicator import Account, Communicator

SECONDS_TO_END = 5.0  # that the other threads get, once one has raised an error
SHAREABLE = (int, float, complex, str, bytes, bool, type(None), np.generic)


class _Operand(NamedTuple):
    """What a rank brings to an exchange, or announces."""

    account: Account
    value: Any
    announced: bool = False


class _Group:
    """The ranks of one run: the exchange that is being made, and who has ended."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.changed = threading.Condition()
        self.operands: dict[int, _Operand] = {}
        self.complete: list[_Operand] = []  # of the exchange before; kept until all ranks have come to the next one
        self.exchanges = 0
        self.numbers = [0] * size  # of the next exchange or announcement of each rank
        self.entered: dict[int, dict[int, _Operand]] = {}  # number: what ranks have come to with it, until all have
        self.ended: dict[int, str] = {}  # rank: the error that its thread ended in, or ""
        self.missed: dict[int, str] = {}  # those of them that an exchange waited for first; others may follow
        self.reason: str | None = None  # of an abort

    def exchange(self, rank: int, operand: _Operand, timeout: float) -> list[_Operand]:
        """The operands of all ranks."""
        with self.changed:
            self._check(operand)
            self._enter(rank, operand)
            number = self.exchanges
            self.operands[rank] = operand
            if len(self.operands) == self.size:
                self.complete = [self.operands[r] for r in range(self.size)]
                self.operands = {}
                self.exchanges += 1
                self.changed.notify_all()
                return self.complete
            until = time.monotonic() + timeout
            while self.exchanges == number:
                left = until - time.monotonic()
                if left <= 0:
                    error = base.late(operand.account.call, timeout, set(range(self.size)) - set(self.operands))
                    self._abort(str(error))
                    raise error
                self.changed.wait(left)
                if self.exchanges == number:
                    self._check(operand)
            return self.complete

    def announce(self, rank: int, operand: _Operand) -> None:
        """Go on without waiting for the others."""
        with self.changed:
            self._check(operand)
            self._enter(rank, operand)

    def _enter(self, rank: int, operand: _Operand) -> None:
        """Compare with what others have announced.  Raises: DistributedError, and the group has ended."""
        number = self.numbers[rank]
        self.numbers[rank] += 1
        came = self.entered.setdefault(number, {})
        came[rank] = operand
        accounts = [came[r].account if r in came else None for r in range(self.size)]
        if len(came) == self.size:
            del self.entered[number]
        kinds = {(other.account.signature, other.announced) for other in came.values()}
        if any(announced for _, announced in kinds) and len(kinds) > 1:
            error = base.failure(accounts, operand.account.call)
            self._abort(f"by rank {rank}: {error}")
            raise error

    def abort(self, reason: str) -> None:
        with self.changed:
            self._abort(reason)

    def end(self, rank: int, error: str) -> None:
        """The rank's thread makes no more exchanges."""
        with self.changed:
            self.ended.setdefault(rank, error)
            self.changed.notify_all()

    def _abort(self, reason: str) -> None:
        if self.reason is None:
            self.reason = reason
        self.changed.notify_all()

    def _check(self, operand: _Operand) -> None:
        if self.reason is not None:
            raise base.aborted(operand.account.call, self.reason)
        if self.ended:
            self.missed = self.missed or dict(self.ended)
            raise base.ended(operand.account.call, self.missed, "; ".join(filter(None, self.missed.values())))


class Loopback(Communicator):
    """One of the ranks that `run` starts."""

    def __init__(self, group: _Group, rank: int, timeout: float = 300.0) -> None:
        super().__init__(rank, group.size, timeout)
        self._group = group

    def allgather(self, item: Any, call: str) -> list[Any]:
        packed = self._packed(item, call)
        self._count(sent=packed, copies=self.size - 1)
        return [self._unpacked(value, r) for r, value in enumerate(self._values("allgather", call, packed))]

    def allgather_array(self, array: np.ndarray, call: str) -> list[np.ndarray]:
        array = _unwritable(base.checked_array(array, "allgather_array"))
        self._count(sent=array, copies=self.size - 1)
        found = self._values(f"allgather of {array.dtype}", call, array)
        for rank, other in enumerate(found):
            self._count_received(other, rank)
        return found

    def alltoall(self, pieces: Sequence[np.ndarray], call: str) -> list[np.ndarray]:
        pieces = [_unwritable(piece) for piece in base.checked_pieces(pieces, self.size)]
        for rank, piece in enumerate(pieces):
            self._count(sent=piece, copies=int(rank != self.rank))
        found = [others[self.rank] for others in self._values(f"alltoall of {pieces[0].dtype}", call, pieces)]
        for rank, piece in enumerate(found):
            self._count_received(piece, rank)
        return found

    def broadcast(self, item: Any, root: int, call: str) -> Any:
        base.checked_root(root, self.size)
        packed = self._packed(item, call) if self.rank == root else None
        self._count(sent=packed, copies=self.size - 1 if self.rank == root else 0)
        value = self._values(f"broadcast from rank {root}", call, packed)[root]
        return item if self.rank == root else self._unpacked(value, root)

    def gather(self, item: Any, root: int, call: str) -> list[Any] | None:
        base.checked_root(root, self.size)
        packed = self._packed(item, call)
        self._count(sent=packed, copies=int(self.rank != root))
        found = self._values(f"gather to rank {root}", call, packed)
        return [self._unpacked(value, r) for r, value in enumerate(found)] if self.rank == root else None

    def barrier(self, call: str) -> None:
        self._values("barrier", call, None)

    def announce(self, call: str, kind: str) -> None:
        account = Account(call, self._signature(call, kind), None, base.place_of_caller() if self.checks else "")
        self._group.announce(self.rank, _Operand(account, None, True))

    def fail(self, error: BaseException, call: str) -> None:
        if base.is_known(error):
            return
        self._noted.clear()
        account = Account(call, call, base.error_text(error), base.place_of_caller() if self.checks else "")
        try:
            self._group.exchange(self.rank, _Operand(account, None), self.timeout)
        except DistributedError:  # the others have ended, or do not come: the error of this rank is the one to raise
            pass

    def abort(self, reason: str) -> None:
        self._group.abort(f"by rank {self.rank}: {reason}")

    def reason(self) -> str | None:
        return self._group.reason

    def gone(self) -> tuple[int, ...]:
        return tuple(sorted(set(self._group.ended) - {self.rank}))

    def close(self) -> None:
        self._group.end(self.rank, "")

    def _values(self, kind: str, call: str, value: Any) -> list[Any]:
        """What each rank brought.  Raises: DistributedError where one failed or is at another call."""
        start = time.perf_counter()
        account = Account(call, self._signature(call, kind), None, base.place_of_caller() if self.checks else "")
        try:
            operands = self._group.exchange(self.rank, _Operand(account, value), self.timeout)
        finally:
            self.seconds += time.perf_counter() - start
        for operand in operands:
            if operand.account.error is not None or operand.account.signature != account.signature:
                raise base.failure([operand.account for operand in operands], call)
        return [operand.value for operand in operands]

    def _packed(self, item: Any, call: str) -> Any:
        if isinstance(item, SHAREABLE):
            return item
        try:
            return _Pickled(pickle.dumps(item, 5))
        except Exception as error:
            self.fail(error, call)
            raise

    def _unpacked(self, value: Any, rank: int) -> Any:
        self._count_received(value, rank)
        return pickle.loads(value.data) if isinstance(value, _Pickled) else value

    def _count(self, sent: Any, copies: int) -> None:
        self.bytes_sent += copies * getattr(sent, "nbytes", 8)

    def _count_received(self, value: Any, rank: int) -> None:
        if rank != self.rank:
            self.bytes_received += getattr(value, "nbytes", 8)


class _Pickled:
    __slots__ = ("data", "nbytes")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.nbytes = len(data)


def _unwritable(array: np.ndarray) -> np.ndarray:
    """The array, or a copy where somebody may write to it."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            array = array.copy()
            break
        owner = owner.base
    else:
        if owner is not None and not isinstance(owner, bytes):  # another library's memory
            array = array.copy()
    array.flags.writeable = False
    return array


def run(size: int, function: Callable[..., Any], *args: Any, timeout: float = 300.0) -> list[Any]:
    """[function(communicator, *args) of rank 0, of rank 1, ...], each in a thread with the caller's context variables.

    Raises: the first error of a rank; DistributedErrors that follow from it are dropped.

    >>> from grb_tile.backends.distributed import loopback
    >>> loopback.run(3, lambda communicator: communicator.allgather(communicator.rank ** 2, "squares"))
    [[0, 1, 4], [0, 1, 4], [0, 1, 4]]
    """
    group = _Group(size)
    results: list[Any] = [None] * size
    errors: list[BaseException] = []  # in the order of time

    def of_rank(rank: int) -> None:
        communicator = Loopback(group, rank, timeout)
        try:
            results[rank] = function(communicator, *args)
        except BaseException as error:
            errors.append(error)
            group.end(rank, base.error_text(error))
        finally:
            communicator.close()

    threads = [
        threading.Thread(target=contextvars.copy_context().run, args=(of_rank, rank), name=f"rank {rank}", daemon=True)
        for rank in range(size)
    ]
    try:
        for thread in threads:
            thread.start()
        _join(threads, errors)
    except BaseException:  # Ctrl-C
        group.abort("the caller was interrupted")
        raise
    if errors:
        raise next((error for error in errors if not isinstance(error, DistributedError)), errors[0])
    return results


def _join(threads: Sequence[threading.Thread], errors: Sequence[BaseException]) -> None:
    """Wait for all threads; once one has raised an error, SECONDS_TO_END at most."""
    until = None
    for thread in threads:
        while thread.is_alive():
            if errors and until is None:
                until = time.monotonic() + SECONDS_TO_END
            if until is not None and time.monotonic() > until:
                return
            thread.join(0.05)
