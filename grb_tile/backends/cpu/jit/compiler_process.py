"""The client of the compiler process (worker.py), in the calling process: requests and replies without waiting.

No thread is involved: pipes are written and read when a kernel is requested.  There are two compiler processes: one of
lowest priority, and one of this program's priority for kernels that the program waits for (`awaited`), which other work
of the machine must not delay.  They are not in the terminal's process group (an interrupt does not reach them), and
they finish their requests when this process ends.
"""

import atexit
import collections
import contextlib
import json
import math
import os
import pathlib
import select
import signal
import sys
import time

_PACKAGE = pathlib.Path(__file__).resolve().parents[4]
_START = "import sys; sys.path[:] = {path!r}; from grb_tile.backends.cpu.jit.worker import main; main({priority})"
MOST_STARTS = (
    4  # compiler processes of one process that may end early (killed, out of memory) before kernels are given up
)
_CHUNK = 1 << 16


class CompilerProcess:
    """At most one process; `waiting` are the requests without a reply, in the order in which they were made.

    is_awaited: it compiles at the priority of this program, because this program waits for it.
    """

    def __init__(self, is_awaited=False):
        self.is_awaited = is_awaited
        self._process = None
        self._pid = os.getpid()
        self._starts = 0
        self._unsent, self._unread = bytearray(), bytearray()
        self.waiting = collections.OrderedDict()  # key -> (request, function that takes the reply and the payload)

    def is_running(self):
        return self._process is not None

    def request(self, key, target, recipe, seconds, receive, cache):
        """Request a kernel; receive(reply, payload) is called from `poll` or `wait` after the reply.

        seconds: the time lost without the kernel so far; of the waiting requests the greatest comes first.
        cache: what GRB_TILE_CACHE is set to where the code is stored, or None.
        """
        asked = {"key": key, "target": target, "recipe": recipe, "seconds": seconds, "cache": cache}
        message = json.dumps(asked).encode() + b"\n"
        self.waiting[key] = message, receive
        if self._process is None and not self._start():
            return
        self._unsent += message
        self._send()

    def poll(self):
        """Take the replies that are there; does not wait."""
        if self._process is not None:
            self._send()
            self._receive()

    def wait(self, key, seconds=math.inf):
        """Take replies until that of `key` is there, for `seconds` at most.  An interrupt leaves it waiting."""
        end = time.monotonic() + seconds
        while key in self.waiting and self._process is not None and time.monotonic() < end:
            poller = select.poll()
            poller.register(self._process.stdout, select.POLLIN)
            if self._unsent:
                poller.register(self._process.stdin, select.POLLOUT)
            poller.poll(min(1.0, seconds) * 1e3)
            self.poll()

    def stop(self):
        """End the compiler process, and what it compiles."""
        process, self._process = self._process, None
        if process is None or self._pid != os.getpid():
            return
        self.waiting.clear()
        _kill(process)
        _end(process)

    def leave(self):
        """The end of this program: the process finishes its requests (worker.py) without being waited for."""
        process = self._process
        if process is None or not self.waiting or self._pid != os.getpid():
            self.stop()
            return
        with contextlib.suppress(OSError):
            self._send()  # what the pipe takes
            process.stdin.close()
            process.stdout.close()
        self._process = None
        process.returncode = 0  # it is not waited for, which is no mistake

    def abandon(self):
        """In a forked child: let go of the parent's compiler process."""
        if self._process is not None:
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    os.close(pipe.fileno())

    def _start(self):
        """Start a process; False when none can be started, and every request gets an error."""
        import subprocess

        self._starts += 1
        try:
            if self._starts > MOST_STARTS:
                raise OSError(f"the compiler's process ended {MOST_STARTS} times")
            if not sys.executable or getattr(sys, "frozen", False):  # frozen: the executable is the application
                raise OSError("no Python to run the compiler")
            if not hasattr(select, "poll"):
                raise OSError("this system has no pipes that are read without waiting")
            environment = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
            environment.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
            path = [str(_PACKAGE), *(entry for entry in sys.path if entry and isinstance(entry, str))]
            program = _START.format(path=path, priority="lowest=False" if self.is_awaited else "")
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", program],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
                start_new_session=True, env=environment,
            )  # fmt: skip
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            self._process = None
            self._give_up(f"{type(error).__name__}: {error}")
            return False
        for pipe in (self._process.stdin, self._process.stdout):
            os.set_blocking(pipe.fileno(), False)
        self._unsent, self._unread = bytearray(), bytearray()
        return True

    def _send(self):
        while self._unsent:
            try:
                count = os.write(self._process.stdin.fileno(), self._unsent[:_CHUNK])
            except BlockingIOError:
                return
            except OSError:  # it has ended; _receive sees that too
                self._unsent.clear()
                return
            del self._unsent[:count]

    def _receive(self):
        ended = False
        while True:
            try:
                data = os.read(self._process.stdout.fileno(), _CHUNK)
            except BlockingIOError:
                break
            except OSError:
                data = b""
            if not data:
                ended = True
                break
            self._unread += data
        while True:
            end = self._unread.find(b"\n")
            if end < 0:
                break
            try:
                reply = json.loads(self._unread[:end])
                whole = end + 1 + reply["bytes"]
            except (ValueError, TypeError, KeyError):  # another program wrote that, the start-up of Python for instance
                ended = True
                break
            if len(self._unread) < whole:
                break
            payload = bytes(self._unread[end + 1 : whole])
            del self._unread[:whole]
            _, receive = self.waiting.pop(reply["key"], (None, None))
            if receive is not None:
                receive(reply, payload)
        if ended:
            self._ended()

    def _ended(self):
        """The process ended early: the kernel it worked on is given up, the others go to another process."""
        process, self._process = self._process, None
        _end(process)
        if self.waiting:
            key, (_, receive) = self.waiting.popitem(last=False)
            receive({"key": key, "error": f"the compiler's process ended ({process.returncode})", "seconds": 0.0}, b"")
        if self.waiting and self._start():
            for message, _ in self.waiting.values():
                self._unsent += message
            self._send()

    def _give_up(self, reason):
        while self.waiting:
            key, (_, receive) = self.waiting.popitem(last=False)
            receive({"key": key, "error": reason, "seconds": 0.0}, b"")


def _kill(process):
    """Kill the process with its children, which are the group that it leads."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, OSError):
        process.kill()


def _end(process):
    import subprocess

    with contextlib.suppress(OSError):
        process.stdin.close()  # which ends it
        process.stdout.close()
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:  # a busy system, or another program in its place
        _kill(process)


_current, _awaited = CompilerProcess(), CompilerProcess(is_awaited=True)
atexit.register(lambda: (_current.leave(), _awaited.leave()))


def current():
    """The process that compiles while this program goes on."""
    return _current


def awaited():
    """The process that compiles what this program waits for."""
    return _awaited


def _after_fork():
    global _current, _awaited
    _kept.extend((_current, _awaited))  # never collected: they are the parent's
    _current.abandon()
    _awaited.abandon()
    _current, _awaited = CompilerProcess(), CompilerProcess(is_awaited=True)


_kept = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
