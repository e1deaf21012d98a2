"""The compiler process: reads recipes, compiles several at a time, stores the code.

    request   a line of JSON: {"key", "target", "recipe", "seconds": the time lost without the kernel so far,
              "cache": the value of GRB_TILE_CACHE or null}
    reply     a line of JSON: {"key", "seconds", "bytes", perhaps "error"}, then the code, unless it is stored

Each kernel is compiled in a forked child, so that as many are compiled at once as there are cores, and a compiler that
fails takes no other kernel along.  Of the requests that wait, the one with the most `seconds` is next.

When its input ends, because the program that started it has ended, it finishes what was asked, for FINISH_SECONDS at
most, so that the next run of the program has it.  One process does so for a cache folder; where another does already,
or nothing can be stored, it ends at once.
"""

import contextlib
import gc
import json
import os
import selectors
import signal
import time

from ... import kernel_cache
from ...kernel_cache import KernelCache
from .recipe import Recipe
from .threads import thread_count

BASELINE = "x86-64-v3"  # of code that comes with the package: AVX2, BMI2, FMA (System V ABI for AMD64, 3.1.1)
FINISH_SECONDS = 60.0
MOST_CHILDREN = 8  # a child needs 150 MB
FINISHING = "finishing.lock"  # in the cache folder: locked by the process that finishes a program's requests
# Numba and LLVM set up what every compilation needs in the first one: 0.3 s that a child inherits
WARM_UP = Recipe("vectors", {"X_ISO": True, "VALUE": "d", "INDEX": "i"})
_CHUNK = 1 << 16


def build(recipe, target):
    """The entry of a specialisation: the names of its functions (JSON) in a line, then its code.

    Raises: whatever the compilers raise; LinkError or OSError when the code needs what a process does not have.
    """
    from . import link, load
    from .compile import object_code
    from .specialise import text_of

    text, functions = text_of(recipe)
    code = object_code(text, functions, BASELINE if target == BASELINE else "host")
    if load.links_here():
        code = link.shared_object(code, {f"grb_{name}" for name in functions})
    load.load(code, functions)  # are all symbols there?
    return json.dumps(sorted(functions)).encode() + b"\n" + code


def _choose_cache(value):
    """Make `value` the cache folder of this process; None: the default."""
    if value is None:
        os.environ.pop("GRB_TILE_CACHE", None)
    else:
        os.environ["GRB_TILE_CACHE"] = value


def answer(request, cache, is_new_folder_welcome=True):
    """The reply to a request, with its payload: bytes."""
    _choose_cache(request["cache"])
    reply, payload, start = {"key": request["key"]}, b"", time.process_time()
    try:
        payload = build(Recipe(**request["recipe"]), request["target"])
    except BaseException as error:
        reply["error"] = f"{type(error).__name__}: {error}"
    else:
        if (is_new_folder_welcome or kernel_cache.root().is_dir()) and cache.put(request["key"], payload):
            payload = b""
    reply.update(seconds=time.process_time() - start, bytes=len(payload))
    return json.dumps(reply).encode() + b"\n" + payload


def _failed(request, reason):
    """The reply to a request that no child has answered."""
    return json.dumps({"key": request["key"], "error": reason, "seconds": 0.0, "bytes": 0}).encode() + b"\n"


class Compilations:
    """Requests that wait, and the children that compile."""

    def __init__(self, requests, replies, most):
        self.requests, self.replies, self.most = requests, replies, most  # descriptors; children at once
        self.waiting = []  # [request]
        self.children = {}  # descriptor of the pipe -> (pid, request, bytes of the reply so far)
        self.cache = KernelCache("cpu")
        self.deadline = None  # once the input has ended
        self._lock = None  # the open file whose lock says that this process finishes
        self._unread = bytearray()
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests, selectors.EVENT_READ)

    def run(self):
        """Serve until the input has ended and the requests are done, or their time is over."""
        while self.deadline is None or self.waiting or self.children:
            while self.waiting and len(self.children) < self.most:
                self._start(self._next())
            left = None if self.deadline is None else max(self.deadline - time.monotonic(), 0.0)
            ready = self._selector.select(left)
            if not ready and left is not None:  # out of time
                break
            for found, _ in ready:
                if found.fd == self.requests:
                    self._read()
                else:
                    self._collect(found.fd)
        for pid, _, _ in self.children.values():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if self._lock is not None:
            self._lock.close()

    def _next(self):
        chosen = max(self.waiting, key=lambda request: request["seconds"])
        self.waiting.remove(chosen)
        return chosen

    def _read(self):
        data = os.read(self.requests, _CHUNK)
        if not data:
            self._selector.unregister(self.requests)
            self.deadline = time.monotonic() + FINISH_SECONDS
            if not self._may_finish():
                self.waiting.clear()
                self.deadline = 0.0
            return
        self._unread += data
        while (end := self._unread.find(b"\n")) >= 0:
            self.waiting.append(json.loads(self._unread[:end]))
            del self._unread[: end + 1]

    def _may_finish(self):
        """Take the lock of the cache folder that the requests name; False where it is taken or there is no folder."""
        asked = [*self.waiting, *(request for _, request, _ in self.children.values())]
        if not asked:
            return False
        _choose_cache(asked[-1]["cache"])
        folder = self.cache.folder()
        try:
            import fcntl

            self._lock = open(folder.parent / FINISHING, "w")  # noqa: SIM115 - locked until this process ends
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (ImportError, OSError, AttributeError):  # no such locks; locked; no folder
            return False
        return True

    def _start(self, request):
        """Compile in a child."""
        source, sink = os.pipe()
        try:
            pid = os.fork()
        except OSError as error:
            os.close(source)
            os.close(sink)
            self._send(_failed(request, f"{type(error).__name__}: {error}"))
            return
        if pid == 0:
            try:
                os.close(self.requests)
                os.close(self.replies)  # whoever reads them must see when this process's parent ends
                os.close(source)
                _write(sink, answer(request, self.cache, self.deadline is None))
            finally:
                os._exit(0)
        os.close(sink)
        self.children[source] = pid, request, bytearray()
        self._selector.register(source, selectors.EVENT_READ)

    def _collect(self, source):
        pid, request, reply = self.children[source]
        data = os.read(source, _CHUNK)
        if data:
            reply += data
            return
        self._selector.unregister(source)
        os.close(source)
        del self.children[source]
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if b"\n" not in reply:
            reply = _failed(request, f"the compiler ended ({status})")
        self._send(reply)

    def _send(self, reply):
        if self.deadline is None:
            _write(self.replies, reply)


def _write(sink, data):
    view = memoryview(bytes(data))
    while view:
        try:
            view = view[os.write(sink, view) :]
        except OSError:  # nobody reads any more: the end of the input says so, too
            return


def main(lowest=True):
    """Serve requests until the input ends; lowest: with the lowest priority."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # 7% of a compilation; a child compiles one kernel
    if lowest and hasattr(os, "nice"):
        os.nice(19)
    replies = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # a compiler that prints must not write between replies
    with contextlib.suppress(Exception):  # each request says what is wrong
        build(WARM_UP, "warm-up")
    Compilations(0, replies, min(thread_count(), MOST_CHILDREN)).run()


if __name__ == "__main__":
    main()
