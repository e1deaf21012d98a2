"""Processes that compile with NVRTC, because NVRTC holds a lock for most of a compilation.

45 kernels, 6.8 s one after the other, take 15 threads of one process 2.2 s and 15 processes 1.3 s.

A thread that compiles ahead has a Compiler, which has a worker process (nvrtc_process.py) for itself, and gives it back
when the thread ends.  Where there is none (a system without /proc, no Python to run, a worker that was killed) it
compiles in this process.

A worker is not in the terminal's process group.  It ends when its input ends, so that a killed parent leaves no worker,
and it is killed at the end of the program.  A forked child closes its pipes to the parent's workers.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
from functools import lru_cache
from pathlib import Path

from ....exceptions import JitError
from . import compile as jit

PROCESS = Path(__file__).with_name("nvrtc_process.py")
MOST_FAILURES = 4  # workers that may end early before there are none any more
MOST_SECONDS = 120  # of a compilation: the longest takes 10 s of a core, and some programs may run on it
_COMPILATION = 6  # NVRTC_ERROR_COMPILATION: the source is at fault
_CHUNK = 1 << 20


class WorkerEnded(Exception):
    """A worker ended early, or is of no use."""


@lru_cache(maxsize=1)
def library() -> str:
    """The path of the library of NVRTC that this process has loaded.  Raises: OSError where it is not known."""
    jit.compiler()
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        for line in maps:
            path = line.split(None, 5)[5:]
            if path and "libnvrtc.so" in path[0] and os.path.isfile(path[0].rstrip("\n")):
                return path[0].rstrip("\n")
    raise OSError("the library of NVRTC is in no file")


class Worker:
    """One process that compiles.  Raises: OSError where it cannot be started."""

    def __init__(self, path: str) -> None:
        """path: of NVRTC's library."""
        if not sys.executable or getattr(sys, "frozen", False):  # frozen: the executable is the application
            raise OSError("no Python to run the compiler")
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(PROCESS), path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
            start_new_session=True,
        )  # fmt: skip
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self.pid = self._process.pid

    def compile(self, source: str, file: str, expression: str, options: tuple[str, ...]) -> tuple[str, bytes]:
        """What compile.in_process returns.  Raises: JitError with the log; WorkerEnded."""
        try:
            for part in (source, file, expression, "\n".join(options)):
                data = part.encode()
                self._write(len(data).to_bytes(8, "little") + data)
            result, name, code = [self._read(int.from_bytes(self._read(8), "little")) for _ in range(3)]
        except (OSError, ValueError) as error:  # ValueError: closed
            raise WorkerEnded(str(error)) from None
        if result == b"0":
            return name.decode(), code
        log = code.decode(errors="replace")
        if int(result) == _COMPILATION:
            raise JitError(log)
        raise WorkerEnded(f"NVRTC's error {int(result)}: {log}")

    def _write(self, data):
        rest = memoryview(data)
        while rest:
            rest = rest[self._requests.write(rest) :]

    def _read(self, count):
        found = bytearray()
        while len(found) < count:
            if not select.select([self._replies], [], [], MOST_SECONDS)[0]:  # it hangs, or was stopped
                self.kill()
                raise WorkerEnded(f"no answer in {MOST_SECONDS} s")
            data = self._replies.read(min(count - len(found), _CHUNK))
            if not data:
                raise WorkerEnded("its output ended")
            found += data
        return bytes(found)

    def kill(self) -> None:
        """End it now; a compilation that waits for it raises WorkerEnded."""
        self._process.kill()

    def close(self) -> None:
        """End it, wait for its end and close the pipes; no compilation may wait for it."""
        self.kill()
        self._process.wait()
        self._close_pipes()

    def is_running(self) -> bool:
        """Has it not ended?"""
        return self._process.poll() is None

    def _close_pipes(self):
        for pipe in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                pipe.close()

    def forget(self) -> None:
        """In a forked child: close its ends of the parent's pipes, and wait for nothing."""
        self._close_pipes()
        self._process.returncode = 0  # the child is not the one to wait for it


class Workers:
    """The workers of this process: those that threads have, and those that wait for the next thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self._idle: list[Worker] = []
        self._all: set[Worker] = set()
        self._failures = 0
        self.stopped = False

    def take(self) -> Worker | None:
        """One for the calling thread alone; None where there is none."""
        try:
            path = library()
        except (OSError, JitError):
            return None
        with self.lock:
            if self.stopped:
                return None
            while self._idle:
                worker = self._idle.pop()
                if worker.is_running():
                    return worker
                self._drop(worker)
            if self._failures >= MOST_FAILURES:
                return None
            try:
                worker = Worker(path)
            except (OSError, ValueError, subprocess.SubprocessError):
                self._failures = MOST_FAILURES
                return None
            self._all.add(worker)
            return worker

    def give_back(self, worker: Worker) -> None:
        """The next thread may have it."""
        with self.lock:
            if not self.stopped:
                self._idle.append(worker)

    def failed(self, worker: Worker) -> None:
        """It ended early."""
        with self.lock:
            if not self.stopped:
                self._drop(worker)

    def _drop(self, worker):
        self._failures += 1
        self._all.discard(worker)
        worker.close()

    def stop(self) -> None:
        """Kill all, at the end of the program; none is started any more."""
        with self.lock:
            self.stopped = True
            self._idle.clear()
            for worker in self._all:
                worker.kill()

    def close(self) -> None:
        """After `stop`, when no thread compiles any more: close the pipes."""
        for worker in self._all:
            worker.close()

    def forget(self) -> None:
        """In a forked child, before anything else: the workers are the parent's."""
        for worker in self._all:
            worker.forget()


class Compiler:
    """NVRTC for one thread: in a worker while it has one, in this process otherwise."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._worker = workers.take()

    def __call__(self, source: str, file: str, expression: str, options: tuple[str, ...]) -> tuple[str, bytes]:
        """What compile.in_process returns.  Raises: JitError with the log, or when the program ends."""
        return self.in_worker(source, file, expression, options) or jit.in_process(source, file, expression, options)

    def in_worker(self, source: str, file: str, expression: str, options: tuple[str, ...]) -> tuple[str, bytes] | None:
        """The same by a worker; None: it has none.  Raises: JitError with the log, or when the program ends."""
        worker = self._worker
        if worker is not None:
            try:
                return worker.compile(source, file, expression, options)
            except WorkerEnded:
                self._worker = None
                self._workers.failed(worker)
        if self._workers.stopped:
            raise JitError("the program ends")
        return None

    def close(self) -> None:
        """The thread ends: its worker is for the next."""
        worker, self._worker = self._worker, None
        if worker is not None:
            self._workers.give_back(worker)
