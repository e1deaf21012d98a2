"""A stand-in for cupy.cuda.nccl that moves the bytes of arrays in host memory, between threads or processes.

asynchronous=True: each rank's stream is a thread, so that a call returns before it is complete, as on a device; False:
it returns when it is complete, as the emulated device (tests/cuda_emulation), which has no streams, needs it.

    Module(folder=None)        where ranks are threads
    Module(folder="/tmp/x")    where they are processes: each message is a file in the folder
"""

import ctypes
import os
import queue
import threading
import time
from pathlib import Path

WAIT = 0.002  # seconds between looks for a message


class Aborted(Exception):
    """The communicator was aborted while it waited."""


class Mailboxes:
    """A queue for each pair of ranks, of threads."""

    found: dict = {}

    def __init__(self, size):
        self.mail = {(source, target): queue.Queue() for source in range(size) for target in range(size)}

    @classmethod
    def of(cls, identity, size):
        return cls.found.setdefault(identity, cls(size))

    def put(self, source, target, data):
        self.mail[source, target].put(data)

    def take(self, source, target):
        """The next message, None where none has come."""
        try:
            return self.mail[source, target].get(timeout=WAIT)
        except queue.Empty:
            return None


class Folder:
    """Messages of processes, as files."""

    def __init__(self, path):
        self.path = Path(path)
        self.path.mkdir(exist_ok=True)
        self.numbers = {}

    def _number(self, *way):
        """0, 1, 2 ... of the messages that were sent, or taken, in one direction."""
        self.numbers[way] = self.numbers.get(way, -1) + 1
        return self.numbers[way]

    def put(self, source, target, data):
        path = self.path / f"{source}-{target}-{self._number('put', source, target)}"
        fresh = path.with_suffix(".part")
        fresh.write_bytes(data)
        os.rename(fresh, path)

    def take(self, source, target):
        path = self.path / f"{source}-{target}-{self.numbers.get(('take', source, target), -1) + 1}"
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            time.sleep(WAIT)
            return None
        path.unlink()
        self._number("take", source, target)
        return data


class Module:
    """What communicators use of cupy.cuda.nccl."""

    NCCL_UINT8 = 1
    available = True

    def __init__(self, version=22803, folder=None, asynchronous=False, inside=None, read=ctypes.string_at, write=None):
        """inside: (address, bytes) -> may they be read and written?  read, write: of memory that is not the host's."""
        self.version, self.folder = version, folder
        self.read, self.write = read, write or (lambda pointer, data: ctypes.memmove(pointer, data, len(data)))
        self.inside = inside
        self.calls = []  # what NCCL was asked for
        self.asynchronous = None  # an error that check_async_error raises
        self.here = threading.local()
        self.work = queue.Queue() if asynchronous else None
        if asynchronous:
            threading.Thread(target=self._stream, daemon=True).start()

    def _stream(self):
        while True:
            self._do(self.work.get())

    def _do(self, work):
        try:
            work()
        except Aborted:
            pass

    def queue(self, work):
        if self.work is None:
            self._do(work)
        else:
            self.work.put(work)

    def get_version(self):
        return self.version

    def get_unique_id(self):
        return os.urandom(128)

    def groupStart(self):
        self.here.group = []

    def groupEnd(self):
        group, self.here.group = self.here.group, None
        work = [one for kind, one in group if kind == "send"] + [one for kind, one in group if kind == "recv"]
        self.queue(lambda: [one() for one in work])

    def NcclCommunicator(self, size, identity, rank):
        assert isinstance(identity, bytes) and len(identity) == 128
        post = Mailboxes.of(identity, size) if self.folder is None else Folder(Path(self.folder) / identity.hex()[:32])
        return Communicator(self, post, size, rank)


class Communicator:
    """cupy.cuda.nccl.NcclCommunicator."""

    def __init__(self, module, post, size, rank):
        self.module, self.post, self.size, self.rank = module, post, size, rank
        self.aborted = threading.Event()

    def _put(self, pointer, count, peer):
        self.post.put(self.rank, peer, self.module.read(pointer, count))

    def _take(self, pointer, count, peer):
        while not self.aborted.is_set():
            found = self.post.take(peer, self.rank)
            if found is not None:
                assert len(found) == count, f"rank {peer} sent {len(found)} bytes, {count} are expected"
                self.module.write(pointer, found)
                return
        raise Aborted

    def _note(self, name, pointer, count, datatype, stream):
        self.module.calls.append((name, count))
        assert datatype == Module.NCCL_UINT8 and type(count) is int and type(stream) is int and count > 0
        if self.aborted.is_set():
            raise RuntimeError("NCCL_ERROR_INVALID_ARGUMENT: the communicator was aborted")
        inside = self.module.inside
        assert inside is None or inside(pointer, count), f"{count} bytes at {pointer:x} are not of one array"

    def allGather(self, sent, received, count, datatype, stream):
        self._note("allGather", received, self.size * count, datatype, stream)

        def work():
            for rank in range(self.size):
                self._put(sent, count, rank)
            for rank in range(self.size):
                self._take(received + rank * count, count, rank)

        self.module.queue(work)

    def broadcast(self, sent, received, count, datatype, root, stream):
        self._note("broadcast", received, count, datatype, stream)
        assert sent == received, "in place"
        others = [rank for rank in range(self.size) if rank != self.rank]
        self.module.queue(
            lambda: (
                [self._put(sent, count, rank) for rank in others]
                if self.rank == root
                else self._take(received, count, root)
            )
        )

    def send(self, sent, count, datatype, peer, stream):
        self._note("send", sent, count, datatype, stream)
        self.module.here.group.append(("send", lambda: self._put(sent, count, peer)))

    def recv(self, received, count, datatype, peer, stream):
        self._note("recv", received, count, datatype, stream)
        self.module.here.group.append(("recv", lambda: self._take(received, count, peer)))

    def check_async_error(self):
        if self.module.asynchronous is not None:
            raise self.module.asynchronous

    def abort(self):
        self.module.calls.append(("abort", 0))
        self.aborted.set()
