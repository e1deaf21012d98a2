"""Exchanges of processes: headers of a fixed size first, then what is longer.

    status     0, or 1 of a rank that failed
    signature  CRC of the library call, the kind of exchange, and the dtype
    length     bytes for the rank that gets this header
    longest    most bytes that the sender has for any rank; so all know whether the second phase is needed, and which

and as many bytes as fit.  A subclass moves bytes: `_headers`, `_transfer`, and what it does better than that.
"""

from __future__ import annotations

import pickle
import time
import zlib
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from grb_tile.exceptions import DistributedError

from . import communicator as base
from .communicator import Account, Communicator

LARGEST_HEADER, SMALLEST_HEADER = 2048, 256  # bytes
LARGEST_HEADERS = 16384  # bytes of the headers of all ranks, where they are not the smallest
STATUS, SIGNATURE, LENGTH, LONGEST, WORDS = range(5)  # words of 8 bytes
CHECKED_BYTES = 1 << 24  # from so many bytes on, ranks tell each other that they have the memory to receive
NOTHING = np.empty(0, np.uint8)
ACCOUNTS = zlib.crc32(b"accounts")


def header_bytes(size: int) -> int:
    """Bytes of a header among `size` ranks: what few ranks send often, as a short frontier, needs no second phase."""
    return max(SMALLEST_HEADER, min(LARGEST_HEADER, LARGEST_HEADERS // size // 8 * 8))


class ProcessCommunicator(Communicator):
    """The exchanges of a process with others; a subclass moves the bytes.

    _reason     of an abort; later exchanges raise it
    _exchanges  number of the exchange, the same on all ranks
    """

    def __init__(self, rank: int, size: int, timeout: float = 300.0) -> None:
        super().__init__(rank, size, timeout)
        self._reason: str | None = None
        self._header_bytes = header_bytes(size)
        self._exchanges = 0

    # ---------------------------------------------------------------- what a subclass has

    @abstractmethod
    def _headers(self, block: np.ndarray, call: str) -> np.ndarray:
        """Row r of the block goes to rank r; returns the block of what was sent here."""

    @abstractmethod
    def _transfer(self, sends: Sequence[np.ndarray], receives: Sequence[np.ndarray], call: str) -> None:
        """Bytes sends[r] go to rank r, those of rank r into receives[r]; the two of this rank are not looked at."""

    def _allgather_bytes(self, mine: np.ndarray, receives: Sequence[np.ndarray], call: str) -> None:
        self._transfer([mine] * self.size, receives, call)

    def _broadcast_bytes(self, buffer: np.ndarray, root: int, call: str) -> None:
        """The buffer of rank root into those of the others, of the same size."""
        if self.rank == root:
            self._transfer([buffer] * self.size, [NOTHING] * self.size, call)
        else:
            receives = [NOTHING] * self.size
            receives[root] = buffer
            self._transfer([NOTHING] * self.size, receives, call)

    # ---------------------------------------------------------------- the exchanges

    def allgather(self, item: Any, call: str) -> list[Any]:
        packed = self._packed(item, call)
        found = self._exchange("allgather", call, [packed] * self.size)
        return [item if r == self.rank else _unpacked(part) for r, part in enumerate(found)]

    def allgather_array(self, array: np.ndarray, call: str) -> list[np.ndarray]:
        array = base.checked_array(array, "allgather_array")
        sent = array.view(np.uint8)
        found = self._exchange("allgather", call, [sent] * self.size, f" of {array.dtype}")
        return [part.view(array.dtype) for part in found]

    def alltoall(self, pieces: Sequence[np.ndarray], call: str) -> list[np.ndarray]:
        pieces = base.checked_pieces(pieces, self.size)
        dtype = pieces[0].dtype
        found = self._exchange("alltoall", call, [piece.view(np.uint8) for piece in pieces], f" of {dtype}")
        return [part.view(dtype) for part in found]

    def broadcast(self, item: Any, root: int, call: str) -> Any:
        base.checked_root(root, self.size)
        sent = self._packed(item, call) if self.rank == root else NOTHING
        found = self._exchange("broadcast", call, [sent] * self.size, f" from rank {root}", root)
        return item if self.rank == root else _unpacked(found[root])

    def gather(self, item: Any, root: int, call: str) -> list[Any] | None:
        base.checked_root(root, self.size)
        sends = [NOTHING] * self.size
        sends[root] = self._packed(item, call)
        found = self._exchange("gather", call, sends, f" to rank {root}")
        if self.rank != root:
            return None
        return [item if r == self.rank else _unpacked(part) for r, part in enumerate(found)]

    def barrier(self, call: str) -> None:
        self._exchange("barrier", call, [NOTHING] * self.size)

    def fail(self, error: BaseException, call: str) -> None:
        if not base.is_known(error) and self._reason is None:
            self._fail(error, call)

    def _fail(self, error: BaseException, call: str) -> None:
        start = time.perf_counter()
        self._noted.clear()
        try:
            self._headers(self._block(call, [NOTHING] * self.size, status=1), call)
            self._accounts(Account(call, call, base.error_text(error), self._place()), call)
        except DistributedError:  # the others have ended, or do not come: the error of this rank is the one to raise
            pass
        finally:
            self.seconds += time.perf_counter() - start

    def _exchange(
        self, kind: str, call: str, sends: list[np.ndarray], of: str = "", root: int = -1
    ) -> list[np.ndarray]:
        """The bytes that each rank sent here, as uint8 arrays that follow each other in one."""
        start = time.perf_counter()
        signature = self._signature(call, kind + of)
        if self._reason is not None:
            raise base.aborted(call, self._reason)
        try:
            got = self._headers(self._block(signature, sends), call)
            words = got[:, : 8 * WORDS].view(np.int64)
            if words[:, STATUS].any() or (words[:, SIGNATURE] != zlib.crc32(signature.encode())).any():
                raise base.failure(self._accounts(Account(call, signature, None, self._place()), call), call)
            found = self._second_phase(kind, call, sends, got, words, root)
            lengths = words[:, LENGTH].tolist()
            self.bytes_received += sum(lengths) - lengths[self.rank]
            self.bytes_sent += self._bytes_sent(kind, sends, root)
            return found
        finally:
            self.seconds += time.perf_counter() - start

    def _second_phase(
        self, kind: str, call: str, sends: list[np.ndarray], got: np.ndarray, words: np.ndarray, root: int
    ) -> list[np.ndarray]:
        """What the headers hold; the bytes that did not fit, moved and then returned."""
        lengths = words[:, LENGTH].tolist()
        longest = int(words[:, LONGEST].max())
        if longest <= self._header_bytes - 8 * WORDS:
            offsets = np.cumsum([0, *lengths]).tolist()
            whole = np.empty(offsets[-1], np.uint8)
            for rank, length in enumerate(lengths):
                whole[offsets[rank] : offsets[rank + 1]] = got[rank, 8 * WORDS : 8 * WORDS + length]
            return [whole[start:end] for start, end in zip(offsets, offsets[1:])]
        if kind == "broadcast":
            return self._broadcast(call, sends[root], lengths, longest, root)
        receives = self._buffers(lengths, int(words[:, LONGEST].sum()), call)
        receives[self.rank][...] = sends[self.rank]
        if kind == "allgather":
            self._allgather_bytes(sends[self.rank], receives, call)
        else:
            self._transfer(sends, receives, call)
        return receives

    def _broadcast(self, call: str, mine: np.ndarray, lengths: list[int], total: int, root: int) -> list[np.ndarray]:
        if self.rank == root:
            self._buffers([0] * self.size, total, call)
            self._broadcast_bytes(mine, root, call)
            return [NOTHING] * self.size
        receives = self._buffers(lengths, total, call)
        self._broadcast_bytes(receives[root], root, call)
        return receives

    def _buffers(self, lengths: list[int], total: int, call: str) -> list[np.ndarray]:
        """Arrays to receive so many bytes in, one after the other.

        A rank that has not the memory fails before any byte is moved.  total: on which all agree.
        """
        error = None
        try:
            offsets = np.cumsum([0, *lengths]).tolist()
            whole = self._empty(offsets[-1])
        except MemoryError as no_memory:
            error = no_memory
        if total >= CHECKED_BYTES:
            block = self._block(call, [NOTHING] * self.size, status=int(error is not None))
            if self._headers(block, call)[:, : 8 * WORDS].view(np.int64)[:, STATUS].any():
                text = None if error is None else base.error_text(error)
                accounts = self._accounts(Account(call, call, text, self._place()), call)
                if error is None:
                    raise base.failure(accounts, call)
                base.is_known(error)
                raise error
        elif error is not None:
            raise error
        return [whole[start:end] for start, end in zip(offsets, offsets[1:])]

    def _empty(self, length: int) -> np.ndarray:
        return np.empty(length, np.uint8)

    def _bytes_sent(self, kind: str, sends: list[np.ndarray], root: int) -> int:
        if kind == "broadcast" and self.rank != root:
            return 0
        return sum(part.nbytes for part in sends) - sends[self.rank].nbytes

    def _accounts(self, mine: Account, call: str) -> list[Account]:
        """What each rank says of itself: all call this when one has failed or signatures differ."""
        packed = np.frombuffer(pickle.dumps(tuple(mine), 5), np.uint8)
        got = self._headers(self._block("accounts", [packed] * self.size), call)
        words = got[:, : 8 * WORDS].view(np.int64)
        while (others := words[:, SIGNATURE] != ACCOUNTS).any():  # announced before that rank knew
            self._transfer([NOTHING] * self.size, [row if other else NOTHING for row, other in zip(got, others)], call)
        found = self._second_phase("alltoall", call, [packed] * self.size, got, words, -1)
        return [Account(*_unpacked(part)) for part in found]

    def _block(self, signature: str, sends: Sequence[np.ndarray], status: int = 0) -> np.ndarray:
        """The headers for all ranks."""
        self._exchanges += 1
        block = np.zeros((self.size, self._header_bytes), np.uint8)
        words = block[:, : 8 * WORDS].view(np.int64)
        lengths = [part.nbytes for part in sends]
        words[:, STATUS] = status
        words[:, SIGNATURE] = zlib.crc32(signature.encode())
        words[:, LENGTH] = lengths
        words[:, LONGEST] = longest = max(lengths)
        if longest <= self._header_bytes - 8 * WORDS:
            for rank, part in enumerate(sends):
                block[rank, 8 * WORDS : 8 * WORDS + part.nbytes] = part
        return block

    def _packed(self, item: Any, call: str) -> np.ndarray:
        try:
            return np.frombuffer(pickle.dumps(item, 5), np.uint8)
        except Exception as error:
            self.fail(error, call)
            raise

    def _place(self) -> str:
        return base.place_of_caller() if self.checks else ""


def _unpacked(part: np.ndarray) -> Any:
    return pickle.loads(part.data)
