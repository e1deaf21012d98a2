"""Processes of one host without MPI, joined by one Unix socket for each pair of ranks.

`grb-tile run` makes a folder that only its user may enter, and starts the processes with

    GRB_TILE_DIST_RANK, GRB_TILE_DIST_SIZE    this process
    GRB_TILE_DIST_ADDRESS                     the folder: rank r listens on the socket `r` in it
    GRB_TILE_DIST_KEY                         32 bytes in hexadecimal, without which no connection is kept

A rank that ends closes its sockets, which others see at once.  The reason of an abort is in the file `aborted` of the
folder, written before the sockets are shut down.
"""

from __future__ import annotations

import atexit
import collections
import hmac
import os
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from grb_tile.exceptions import DistributedError, InvalidValue

from . import communicator as base, exit_hooks
from .environment import ADDRESS_VARIABLE, KEY_VARIABLE, RANK_VARIABLE, SIZE_VARIABLE
from .exchange import NOTHING, WORDS, ProcessCommunicator

SECONDS_BETWEEN_TRIES = 0.005  # to connect to a rank that does not listen yet
GREETING = struct.Struct("32sq")  # key, rank
BUFFER_BYTES = 1 << 20  # asked of the system for each socket
ENDINGS = select.POLLHUP | select.POLLERR
SECONDS_OF_LOOKS = 60e-6  # that a rank looks for bytes before it sleeps until they come, which takes as long to end
CORES_TO_LOOK = 4  # of the host for each rank, from which on it does
MOST_AHEAD = 16  # announcements of this rank that have not been compared: then it waits for the others'
MOST_HEADERS = 256  # of announcements, that are kept


class PipeCommunicator(ProcessCommunicator):
    """The rank of `size` whose socket is address/rank.  Making one waits for all ranks.

    hooks: install those of exit_hooks.py, which end all ranks when this one ends in an error.
    """

    def __init__(
        self, rank: int, size: int, address: str, key: bytes, timeout: float = 300.0, hooks: bool = True
    ) -> None:
        super().__init__(rank, size, timeout)
        self._address = Path(address)
        self._sockets: dict[int, socket.socket] = {}
        self._closed = False
        self._turn = threading.RLock()  # of the thread that reads: the program's, or one that looks at announcements
        self._ahead: collections.deque[tuple[str, str, bytes]] = collections.deque()  # (call, signature, header)
        self._kept_headers: dict[str, bytes] = {}
        self._heads = [bytearray(self._header_bytes) for _ in range(size)]  # of others' announcements
        self._nothing = [bytearray()] * size
        self._looks = SECONDS_OF_LOOKS if len(os.sched_getaffinity(0)) >= CORES_TO_LOOK * size else 0.0
        try:
            self._connect(key)
        except BaseException:
            self._shut()
            raise
        self._ranks = {sock.fileno(): rank for rank, sock in self._sockets.items()}
        self._ended: set[int] = set()
        self.remove_hooks: Callable[[], None] = exit_hooks.install(rank, self._end_all) if hooks else lambda: None
        atexit.register(self.close)

    @classmethod
    def of_environment(cls, timeout: float = 300.0) -> PipeCommunicator:
        """The communicator of a process of `grb-tile run`; the same one when it is called again."""
        global _of_this_process
        if _of_this_process is None or _of_this_process._closed:
            environment = os.environ
            _of_this_process = cls(
                int(environment[RANK_VARIABLE]),
                int(environment[SIZE_VARIABLE]),
                environment[ADDRESS_VARIABLE],
                bytes.fromhex(environment[KEY_VARIABLE]),
                timeout,
            )
        return _of_this_process

    # ---------------------------------------------------------------- connecting

    def _connect(self, key: bytes) -> None:
        """Connect to the ranks below, accept those above."""
        until = time.monotonic() + self.timeout
        with socket.socket(socket.AF_UNIX) as listener:
            path = self._address / str(self.rank)
            try:
                listener.bind(str(path))
            except OSError as error:
                raise InvalidValue(
                    f"{path}: {error.strerror}; another process is rank {self.rank} already: a program that a rank "
                    f"starts must not have {ADDRESS_VARIABLE} in its environment"
                ) from error
            listener.listen(self.size)
            for rank in range(self.rank):
                sock = self._reached(rank, until)
                sock.sendall(GREETING.pack(key, self.rank))
                self._sockets[rank] = sock
            while len(self._sockets) < self.size - 1:
                self._wait_until(until)
                listener.settimeout(max(until - time.monotonic(), 0.001))
                try:
                    sock, _ = listener.accept()
                except TimeoutError:
                    continue
                sock.settimeout(self.timeout)
                greeting = sock.recv(GREETING.size, socket.MSG_WAITALL)
                found, rank = GREETING.unpack(greeting.ljust(GREETING.size, b"\0"))
                if hmac.compare_digest(found, key) and self.rank < rank < self.size and rank not in self._sockets:
                    self._sockets[rank] = sock
                else:
                    sock.close()
        for sock in self._sockets.values():
            sock.setblocking(False)
            for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                sock.setsockopt(socket.SOL_SOCKET, option, BUFFER_BYTES)

    def _reached(self, rank: int, until: float) -> socket.socket:
        """A socket connected to that of a rank."""
        while True:
            sock = socket.socket(socket.AF_UNIX)
            try:
                sock.connect(str(self._address / str(rank)))
                return sock
            except (FileNotFoundError, ConnectionRefusedError):
                sock.close()
            self._wait_until(until)
            time.sleep(SECONDS_BETWEEN_TRIES)

    def _wait_until(self, until: float) -> None:
        if time.monotonic() > until:
            missing = set(range(self.size)) - {self.rank} - set(self._sockets)
            raise base.late("init", self.timeout, missing)

    # ---------------------------------------------------------------- announcements

    def announce(self, call: str, kind: str) -> None:
        """A header is sent and the others' are left in their sockets, until `_catch_up` reads them."""
        start = time.perf_counter()
        signature = self._signature(call, kind)
        with self._turn:
            if self._reason is not None:
                raise base.aborted(call, self._reason)
            if len(self._ahead) == MOST_AHEAD:
                self._compare_next()
            header = self._kept_headers.get(signature)
            if header is None:
                if len(self._kept_headers) == MOST_HEADERS:  # a program may have another length in each turn
                    self._kept_headers.clear()
                header = self._kept_headers[signature] = self._block(signature, [NOTHING] * self.size)[0].tobytes()
            self._ahead.append((call, signature, header))
            self._transfer([header] * self.size, self._nothing, call)
        self.seconds += time.perf_counter() - start

    def look_at_announced(self) -> None:
        if self._ahead and self._reason is None and self._turn.acquire(blocking=False):
            try:
                while self._ahead and self._have_come():
                    self._compare_next()
            except DistributedError:
                pass  # has ended the communicator, whose reason says why
            finally:
                self._turn.release()

    def _have_come(self) -> bool:
        """Is there a header to read from every other rank, or the end of one?"""
        for sock in self._sockets.values():
            try:
                found = len(sock.recv(self._header_bytes, socket.MSG_PEEK))
            except BlockingIOError:
                return False
            except OSError:
                return True
            if 0 < found < self._header_bytes:
                return False
        return True

    def _catch_up(self) -> None:
        """Compare all that this rank has announced.  Raises: DistributedError; the communicator has ended then."""
        while self._ahead:
            self._compare_next()

    def _compare_next(self) -> None:
        call, signature, header = self._ahead.popleft()
        self._transfer([b""] * self.size, self._heads, call)
        about = header[: 8 * WORDS]  # an announcement is alike for all ranks
        if any(head[: 8 * WORDS] != about for rank, head in enumerate(self._heads) if rank != self.rank):
            self._ahead.clear()
            error = base.failure(self._accounts(base.Account(call, signature, None, self._place()), call), call)
            self.abort(str(error))
            raise error

    def _exchange(self, *args: Any, **kwargs: Any) -> list[np.ndarray]:
        with self._turn:
            self._catch_up()
            return super()._exchange(*args, **kwargs)

    def fail(self, error: BaseException, call: str) -> None:
        if base.is_known(error) or self._reason is not None:
            return
        with self._turn:
            try:
                self._catch_up()
            except DistributedError:  # the error of this rank is the one to raise
                return
            self._fail(error, call)

    # ---------------------------------------------------------------- bytes

    def _headers(self, block: np.ndarray, call: str) -> np.ndarray:
        got = np.empty_like(block)
        got[self.rank] = block[self.rank]
        self._transfer(list(block), list(got), call)
        return got

    def _transfer(self, sends: Sequence[Any], receives: Sequence[Any], call: str) -> None:
        others = list(self._sockets)
        out = {rank: memoryview(sends[rank]) for rank in others if len(sends[rank])}
        into = {rank: memoryview(receives[rank]) for rank in others if len(receives[rank])}
        try:
            for rank in list(out):
                self._send(rank, out, call)
            until = 0.0
            while into and not out:  # there from ranks that came first; others' mostly come sooner than a wait ends
                for rank in list(into):
                    self._receive(rank, into, call)
                now = time.perf_counter()
                until = until or now + self._looks
                if now >= until:
                    break
            if out or into:
                self._finish(out, into, call)
        except BaseException as error:  # bytes are on the way that no later exchange expects
            self.abort(str(error) if isinstance(error, DistributedError) else f"{call}: {base.error_text(error)}")
            raise

    def _finish(self, out: dict[int, memoryview], into: dict[int, memoryview], call: str) -> None:
        """Send and receive until nothing is left of either."""
        poll = select.poll()
        watched: dict[int, int] = {}
        until = time.monotonic() + self.timeout
        while out or into:
            for rank, sock in self._sockets.items():
                wanted = (select.POLLIN if rank in into else 0) | (select.POLLOUT if rank in out else 0)
                if watched.get(rank) != wanted and (wanted or rank not in self._ended):
                    poll.register(sock, wanted)  # with nothing wanted too: an abort ends the sockets
                    watched[rank] = wanted
            left = until - time.monotonic()
            events = poll.poll(max(left, 0) * 1000)
            if not events:
                raise base.late(call, self.timeout, set(into) or set(out))
            for descriptor, event in events:
                rank = self._ranks[descriptor]
                if rank in out and event & (select.POLLOUT | ENDINGS):
                    self._send(rank, out, call)
                if rank in into and event & (select.POLLIN | ENDINGS):
                    self._receive(rank, into, call)
                elif event & ENDINGS:
                    self._check_aborted(call)
                    self._ended.add(rank)  # it needs nothing of this exchange
                    poll.unregister(descriptor)
                    watched.pop(rank, None)
            if any(event & (select.POLLIN | select.POLLOUT) for _, event in events):
                until = time.monotonic() + self.timeout  # bytes move

    def _send(self, rank: int, out: dict[int, memoryview], call: str) -> None:
        try:
            sent = self._sockets[rank].send(out[rank])
        except BlockingIOError:
            return
        except OSError:
            raise self._lost(rank, call) from None
        if sent == len(out[rank]):
            del out[rank]
        else:
            out[rank] = out[rank][sent:]

    def _receive(self, rank: int, into: dict[int, memoryview], call: str) -> None:
        try:
            got = self._sockets[rank].recv_into(into[rank])
        except BlockingIOError:
            return
        except OSError:
            raise self._lost(rank, call) from None
        if got == 0:
            raise self._lost(rank, call)
        if got == len(into[rank]):
            del into[rank]
        else:
            into[rank] = into[rank][got:]

    # ---------------------------------------------------------------- the end

    def _lost(self, rank: int, call: str) -> DistributedError:
        """The error of a rank whose socket is closed."""
        self._check_aborted(call)
        return base.ended(call, (rank,))

    def _check_aborted(self, call: str) -> None:
        try:
            reason = (self._address / "aborted").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return
        self._reason = reason
        raise base.aborted(call, reason) from None

    def reason(self) -> str | None:
        try:
            self._check_aborted("")
        except DistributedError:
            pass
        return self._reason

    def gone(self) -> tuple[int, ...]:
        poll = select.poll()
        for sock in list(self._sockets.values()):
            if sock.fileno() >= 0:
                poll.register(sock, 0)
        return tuple(sorted(self._ranks[descriptor] for descriptor, event in poll.poll(0) if event & ENDINGS))

    def abort(self, reason: str) -> None:
        if self._reason is not None:
            return
        self._reason = f"by rank {self.rank}: {reason}"
        written = self._address / f"aborted.{self.rank}"
        try:
            written.write_text(self._reason, encoding="utf-8", errors="replace")
            os.link(written, self._address / "aborted")  # the first reason is kept, and never seen in part
        except OSError:  # another rank was first, or the folder is gone: the sockets tell that this one has ended
            pass
        self._shut()

    def close(self) -> None:
        """Close the sockets: an exchange that others wait in raises."""
        if not self._closed:
            self._closed = True
            atexit.unregister(self.close)
            self.remove_hooks()
            self._shut()
            if self._reason is None:
                self._reason = f"rank {self.rank} has closed its communicator"

    def _shut(self) -> None:
        for sock in self._sockets.values():
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()

    def _end_all(self, status: int, reason: str) -> None:
        """End the waits of the others; the launcher ends their processes when this one has ended."""
        self.abort(reason)
        if threading.current_thread() is not threading.main_thread():
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)


_of_this_process: PipeCommunicator | None = None
