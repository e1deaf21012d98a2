"""What ranks communicate with: each method of a Communicator is one exchange, which all ranks make in the same order.

The implementations are loopback.py (threads of one process), mpi.py, pipes.py (processes of one host without MPI) and
alone.py (one rank).  nccl.py exchanges arrays of devices and takes the rest from one of these.

An exchange in which a rank takes part with `fail`, or in which ranks are at different calls, raises DistributedError on
all others; the ranks are then still in step, and may go on.  A rank that has ended, that does not come within `timeout`
seconds, or that calls `abort`, ends the communicator: every wait and every later exchange raises.
"""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from grb_tile.exceptions import DistributedError, InvalidValue

CHECK_VARIABLE = "GRB_TILE_DIST_CHECK"
PACKAGE = __name__.partition(".")[0]
LONGEST_TEXT = 2000  # characters of an error's text that other ranks get


class Communicator(ABC):
    """The exchanges of one rank; `call` is the name of the library call that an exchange belongs to.

    rank, size       this rank's number, and how many there are
    timeout          seconds that an exchange may wait for other ranks
    checks           GRB_TILE_DIST_CHECK=1: errors name the line of the program that each rank is at
    bytes_sent, bytes_received   arrays and objects, to and from other ranks, without headers
    seconds          spent in exchanges, waiting included
    channel          how arrays of devices go from rank to rank, for explain(); "" where ranks have none
    moves_devices    do they go without the host?

    Arrays that an exchange returns may be read-only.  The one that this rank passed may be returned itself.
    """

    rank: int
    size: int
    timeout: float
    checks: bool
    bytes_sent: int
    bytes_received: int
    seconds: float
    channel = ""
    moves_devices = False

    def __init__(self, rank: int, size: int, timeout: float = 300.0) -> None:
        self.rank = rank
        self.size = size
        self.timeout = timeout
        self.checks = os.environ.get(CHECK_VARIABLE, "").strip() not in ("", "0")
        self.bytes_sent = self.bytes_received = 0
        self.seconds = 0.0
        self._noted: dict[str, None] = {}  # in the order of the first time

    @abstractmethod
    def allgather(self, item: Any, call: str) -> list[Any]:
        """[item of rank 0, item of rank 1, ...] on every rank.  item: a small Python object that can be pickled."""

    @abstractmethod
    def allgather_array(self, array: np.ndarray, call: str) -> list[np.ndarray]:
        """[array of rank 0, array of rank 1, ...] on every rank.  array: 1-D, of one dtype, of any length."""

    @abstractmethod
    def alltoall(self, pieces: Sequence[np.ndarray], call: str) -> list[np.ndarray]:
        """[pieces[rank] of rank 0, pieces[rank] of rank 1, ...]: pieces[r], 1-D, of one dtype, goes to rank r."""

    def allgather_known(self, arrays: Sequence[Any], counts: Sequence[int], call: str, into: Any = None) -> list[Any]:
        """Of each array those of all ranks, one after the other; counts: how long they are, which all ranks know.

        into: of one array, what `room` gave.
        """
        return [joined(self.allgather_array(array, call)) for array in arrays]

    def alltoall_cut(self, arrays: Sequence[Any], cuts: Sequence[int], call: str) -> list[Any]:
        """Of each array what all ranks have for this one, in the order of ranks: cuts[r] .. cuts[r + 1] - 1 for r."""
        ends = list(zip(cuts[:-1], cuts[1:], strict=True))
        return [joined(self.alltoall([array[a:b] for a, b in ends], call)) for array in arrays]

    @abstractmethod
    def broadcast(self, item: Any, root: int, call: str) -> Any:
        """The item of rank `root`, a Python object; those of the others are not read."""

    @abstractmethod
    def gather(self, item: Any, root: int, call: str) -> list[Any] | None:
        """[item of rank 0, item of rank 1, ...] on rank `root`, None on the others."""

    @abstractmethod
    def barrier(self, call: str) -> None:
        """Returns when every rank has come."""

    @abstractmethod
    def fail(self, error: BaseException, call: str) -> None:
        """Take part in the next exchange of the others as failed: it raises DistributedError there, and returns here.

        Nothing happens for a DistributedError, which comes from an exchange, and for an error that was passed before.
        """

    @abstractmethod
    def abort(self, reason: str) -> None:
        """End the waits of all ranks, now; they raise DistributedError with the reason, and so do later exchanges."""

    def announce(self, call: str, kind: str) -> None:
        """This rank goes on to what `kind` says, of which all ranks know everything: the exchange that is not made.

        Compared on all ranks as an exchange would be, later: by the exchange that follows, or by `look_at_announced`.
        Where ranks announced different things, one failed or is at another exchange, the communicator is ended, since
        devices may wait for each other.  Nobody waits here; a communicator that cannot do without exchanges now.
        """
        self.note(kind)
        self.barrier(call)

    def look_at_announced(self) -> None:  # noqa: B027  (most have compared already)
        """Compare what others have announced by now; does not wait for those that have not.  A thread may call it."""

    def note(self, fact: str) -> None:
        """A fact that has to be the same on all ranks: the next exchange compares it, at no cost."""
        self._noted[fact] = None

    def _signature(self, call: str, kind: str) -> str:
        """What has to be the same on all ranks in an exchange, with what was noted before it."""
        if not self._noted:
            return f"{call} ({kind})"
        noted, self._noted = self._noted, {}
        return f"{call} ({kind}) with {', '.join(noted)}"

    def reason(self) -> str | None:
        """Why the communicator has been aborted, None if it has not; does not wait."""
        return None

    def gone(self) -> tuple[int, ...]:
        """The other ranks that are known to have ended; does not wait."""
        return ()

    def close(self) -> None:  # noqa: B027  (most have nothing to close)
        """Leave the communicator at the end of the program; exchanges that others wait in raise there."""


# ---------------------------------------------------------------- operands


def checked_array(array: np.ndarray, name: str) -> np.ndarray:
    """The array, contiguous.  Raises: InvalidValue unless it is 1-D and its dtype holds no Python objects."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.hasobject or not array.dtype.itemsize:
        shape = getattr(array, "shape", None)
        raise InvalidValue(
            f"{name}: expected a 1-D NumPy array of numbers or records; got {type(array).__name__} of shape {shape} "
            f"and dtype {getattr(array, 'dtype', None)}"
        )
    return np.ascontiguousarray(array)


def checked_pieces(pieces: Sequence[np.ndarray], size: int) -> list[np.ndarray]:
    """The pieces, contiguous.  Raises: InvalidValue unless there is one for each rank and they have one dtype."""
    if len(pieces) != size:
        raise InvalidValue(f"alltoall: {len(pieces)} pieces for {size} ranks; pass one for each rank")
    made = [checked_array(piece, f"alltoall: pieces[{r}]") for r, piece in enumerate(pieces)]
    types = {piece.dtype for piece in made}
    if len(types) > 1:
        raise InvalidValue(f"alltoall: pieces of several types, {', '.join(sorted(map(str, types)))}; cast them to one")
    return made


def checked_root(root: int, size: int) -> int:
    """The root.  Raises: InvalidValue unless it is a rank."""
    if not 0 <= root < size:
        raise InvalidValue(f"root={root}: expected a rank, 0 to {size - 1}")
    return root


def joined(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The parts one after the other; without a copy where an exchange has received them into one array."""
    first = parts[0].base
    if first is not None and all(part.base is first for part in parts):
        end = parts[0].__array_interface__["data"][0]
        start = end
        for part in parts:
            if part.size and part.__array_interface__["data"][0] != end:
                return np.concatenate(parts)
            end += part.nbytes
        if isinstance(first, np.ndarray) and first.ctypes.data == start and first.nbytes == end - start:
            return first if first.dtype == parts[0].dtype else first.view(parts[0].dtype)
    return np.concatenate(parts)


# ---------------------------------------------------------------- errors


class Account(NamedTuple):
    """What a rank says of itself when an exchange cannot be completed."""

    call: str  # the library call
    signature: str  # with the kind of exchange, dtype and root: what has to be the same on all ranks
    error: str | None  # of a rank that failed
    place: str  # the line of the program


def error_text(error: BaseException) -> str:
    """Type and text of an error, for other ranks."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return text if len(text) <= LONGEST_TEXT else f"{text[:LONGEST_TEXT]} ..."


def is_known(error: BaseException) -> bool:
    """Do other ranks know of the error?  They do of a DistributedError, and of any after the first question."""
    known = isinstance(error, DistributedError) or getattr(error, "_known_to_ranks", False)
    if not known:
        error._known_to_ranks = True  # type: ignore[attr-defined]
    return known


def place_of_caller() -> str:
    """file:line of the innermost frame outside this package; "" where there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name != PACKAGE and not name.startswith(PACKAGE + "."):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def failure(accounts: Sequence[Account | None], call: str) -> DistributedError:
    """The error of an exchange in which ranks failed, or were at different calls; None: nothing is known of a rank."""
    known = {rank: account for rank, account in enumerate(accounts) if account is not None}
    failed = tuple(rank for rank, account in known.items() if account.error is not None)
    if failed:
        texts = []
        for rank in failed:
            account = known[rank]
            where = "" if account.call == call else f" in {account.call}"
            texts.append(f"rank {rank} failed{where}{_at(account)}: {account.error}")
        return DistributedError(f"{call}: {'; '.join(texts)}", failed, call)
    groups: dict[str, list[int]] = {}
    for rank, account in known.items():
        groups.setdefault(account.signature + _at(account), []).append(rank)
    texts = [f"{named(ranks)} in {signature}" for signature, ranks in groups.items()]
    most = max(groups.values(), key=len)
    others = tuple(rank for rank in known if rank not in most)
    remedy = (
        ""
        if any(account.place for account in known.values())
        else f"; {CHECK_VARIABLE}=1 shows the lines of the program"
    )
    return DistributedError(f"the ranks are at different calls: {', '.join(texts)}{remedy}", others, call)


def late(call: str, timeout: float, missing: Iterable[int] | None) -> DistributedError:
    """The error of a wait that was too long; missing: None where it is not known who did not come."""
    ranks = tuple(sorted(missing or ()))
    who = f"{named(ranks)} did not come" if ranks else "not all ranks came"
    return DistributedError(
        f"{call}: {who} within {timeout:g} s (timeout= of gb.dist.init); the rank hangs, computes for longer, or is at "
        "another call",
        ranks,
        call,
    )


def ended(call: str, ranks: Iterable[int], error: str = "") -> DistributedError:
    """The error of an exchange with ranks that have ended."""
    ranks = tuple(sorted(ranks))
    error = f": {error}" if error else ""
    return DistributedError(f"{call}: {named(ranks)} {'have' if len(ranks) > 1 else 'has'} ended{error}", ranks, call)


def aborted(call: str, reason: str) -> DistributedError:
    """The error of an exchange after `abort`."""
    return DistributedError(f"{call}: aborted: {reason}", (), call)


def named(ranks: Sequence[int]) -> str:
    """ "rank 2", "ranks 0, 3"."""
    return f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))}"


def _at(account: Account) -> str:
    return f" ({account.place})" if account.place else ""
