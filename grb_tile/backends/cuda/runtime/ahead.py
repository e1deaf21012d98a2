"""Compilation ahead of use, in threads: begins for all kernels that a program is expected to use when one is missing.

NVRTC takes 0.25 s of one core for a kernel.  Where a requested kernel is neither on disk nor in the package, those that
programs request with it (kernel_groups.py) are put into a queue for daemon threads, all cores but one; the requesting
thread compiles its own.  A later request finds its kernel done, waits for the thread that compiles it, or compiles it
itself where no thread has begun.  Each request excludes recorded programs; the kernels of the rest come first.

Each daemon thread has a process that compiles (nvrtc_workers.py), because NVRTC's compilations in one process wait for
one another; the requesting thread compiles in this process.

Errors of a compilation ahead of a request are dropped: the request compiles again and raises them.  At the end
of the program the queue is emptied, and the processes are killed.  A forked child begins without threads.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from typing import Any

from ....exceptions import InvalidValue
from ....planner.device_limits import ENVIRONMENT, DeviceLimits, limits_of, restricted
from ...cpu.jit.threads import thread_count
from . import compile as jit, cupy_kernels
from .kernel_groups import Instance, Prediction, recorded
from .nvrtc_workers import Compiler, Workers
from .package import Package, package_for

Cubin = tuple[str, bytes]  # lowered name, code
MOST_THREADS = 32  # of 30 MB each while they compile; programs use at most a hundred kernels


class Job:
    """The compilation of one instance, which runs once, in the thread that comes first; others wait for it."""

    __slots__ = ("_found", "_lock", "_make", "begun")

    def __init__(self, make: Callable[[Compiler | None], Cubin]) -> None:
        self._make, self._found, self.begun = make, None, False
        self._lock = threading.Lock()

    def result(self) -> Cubin:
        """What it makes.  Raises: what it raises here; a failure in the background is tried again."""
        with self._lock:
            self.begun = True
            if self._found is None:
                self._found = self._make(None)
            return self._found

    @property
    def ended(self) -> bool:
        """Has it run, whether it failed or not?"""
        return self.begun and not self._lock.locked()

    def run(self, compiler: Compiler) -> None:
        """In the background: nothing is raised."""
        if self._lock.acquire(blocking=False):  # else the requesting thread compiles it
            try:
                if not self.begun:
                    self.begun = True
                    self._found = self._make(compiler)
            except Exception:  # noqa: BLE001 - raised by the request, if one comes
                pass
            finally:
                self._lock.release()


class Threads:
    """Daemon threads that take jobs from a queue and end when it is empty."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        """As in a new process: a forked child has no threads, and another thread may have had the lock."""
        self._lock = threading.Lock()
        self._waiting: list[Job] = []  # the next first
        self._running: set[threading.Thread] = set()
        self.workers = Workers()
        self._stopped = False

    def submit(self, jobs: Iterable[Job]) -> None:
        """Put jobs before those that wait, in their order, and start threads for them: all cores but one."""
        most = min(thread_count() - 1, MOST_THREADS)
        with self._lock:
            if self._stopped:
                return
            self._waiting = [job for job in dict.fromkeys([*jobs, *self._waiting]) if not job.begun]
            for _ in range(min(most - len(self._running), len(self._waiting))):
                thread = threading.Thread(target=self._work, name="grb_tile_nvrtc", daemon=True)
                self._running.add(thread)
                try:
                    thread.start()
                except RuntimeError:  # can't start new thread: the requests compile
                    self._running.discard(thread)
                    break

    def _work(self) -> None:
        compiler = Compiler(self.workers)
        while True:
            with self._lock:
                if not self._waiting:
                    compiler.close()
                    self._running.discard(threading.current_thread())
                    return
                job = self._waiting.pop(0)
            job.run(compiler)

    def stop(self) -> None:
        """Empty the queue and kill the workers; wait for what is compiled in this process, because NVRTC must not run
        while the process takes its library down.
        """
        with self._lock:
            self._stopped = True
            self._waiting.clear()
            running = list(self._running)
        self.workers.stop()
        for thread in running:
            thread.join()
        self.workers.close()


_threads = Threads()
_all: weakref.WeakSet[Compilations] = weakref.WeakSet()
atexit.register(_threads.stop)


def _before_fork() -> None:
    _threads.workers.lock.acquire()  # a child must know of all pipes: no worker is being started


def _after_fork_in_parent() -> None:
    _threads.workers.lock.release()


def _after_fork() -> None:
    _threads.workers.forget()
    _threads._forget()
    for compilations in _all:
        compilations._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork)


class Compilations:
    """The cubins of one device: from the disk, from the package, or compiled; those that are expected ahead."""

    def __init__(
        self, arch: int, options: tuple[str, ...] = (), package: Package | None = None, device: int | None = None
    ) -> None:
        """device: CuPy's number of the device, for CuPy's kernels; None: there are none."""
        self._arch, self._options, self._package, self._device = arch, options, package, device
        self._asked: dict[Instance, None] = {}
        self._prediction: Prediction | None = None
        self._forget()
        _all.add(self)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[Instance, Job] = {}
        self._cupys: dict[int, Job] = {}  # those of CuPy's kernels, by their numbers in the record

    def begin(self) -> None:
        """Compile those of CuPy's kernels that most programs ask for, where no process has done so: a program asks for
        them before it asks for the first of ours.
        """
        if self._device is not None and thread_count() > 1 and not cupy_kernels.is_begun(self._arch):
            _threads.submit([Job(self._begin)])

    def _begin(self, compiler: Compiler | None) -> Cubin:
        """In a thread, because starting the others takes 40 ms."""
        with self._lock:
            jobs = self._cupys_jobs(cupy_kernels.usual())
        _threads.submit(jobs)
        return "", b""

    def get(self, instance: Instance) -> Cubin:
        """(lowered name, cubin) of an instance; what programs use with it is being compiled from then on.

        Raises: JitError with the compiler's log.
        """
        with self._lock:
            job = self._jobs.get(instance)
            ahead = job is not None
            if job is None:
                job = self._jobs[instance] = Job(lambda compiler: self._make(instance, compiler))
            self._note(instance)
        if ahead:
            self._expect(instance)  # fewer candidates than before
        return job.result()

    def is_ready(self, instance: Instance) -> bool:
        """Would `get` return at once?  Else a thread compiles it from now on; where there is none, it is said to be."""
        if thread_count() == 1:
            return True
        with self._lock:
            job = self._jobs.get(instance)
            if job is None and jit.on_disk(*jit.source_text(*instance), self._arch, self._options) is None:
                job = self._jobs[instance] = Job(lambda compiler: self._make(instance, compiler))
                fresh = [job]
            else:
                fresh = []
        _threads.submit(fresh)
        return job is None or job.ended

    def drop(self, instance: Instance) -> None:
        """The kernel is loaded, or cannot be made: its job is not needed any more."""
        with self._lock:
            self._jobs.pop(instance, None)

    def _make(self, instance: Instance, compiler: Compiler | None) -> Cubin:
        text, expression = jit.source_text(*instance)
        found = jit.on_disk(text, expression, self._arch, self._options)
        if found is not None:
            return found
        if compiler is None:
            self._expect(instance)
        found = jit.in_package(text, expression, self._options, self._package)
        if found is not None:
            return found
        return jit.compile_and_store(text, expression, self._arch, self._options, compiler or jit.in_process)

    def _note(self, instance: Instance) -> None:
        """Count the request; the record is read with the first kernel that is missing."""
        if instance not in self._asked:
            self._asked[instance] = None
            if self._prediction is not None:
                self._prediction.asked(instance)

    def _expect(self, instance: Instance) -> None:
        """Compile in threads what is expected with an instance that is missing."""
        if thread_count() == 1:
            return
        groups = recorded()
        with self._lock:
            if self._prediction is None:
                self._prediction = Prediction(groups)
                for earlier in self._asked:
                    self._prediction.asked(earlier)
            programs = self._prediction.programs(instance)
            jobs = [] if self._device is None else self._cupys_jobs(cupy_kernels.asked_by(programs))
            for other in self._prediction.expected_with(instance):
                if other not in self._asked:
                    make = Job(lambda compiler, other=other: self._make(other, compiler))
                    jobs.append(self._jobs.setdefault(other, make))
        _threads.submit(jobs)

    def _cupys_jobs(self, numbers: Iterable[int]) -> list[Job]:
        """CuPy's kernels, which come before all others: CuPy does not wait for one that is begun."""
        arch, device = self._arch, self._device
        return [
            self._cupys.setdefault(
                number,
                Job(lambda compiler, number=number: cupy_kernels.compile_kernel(number, arch, device, compiler)),
            )
            for number in numbers
        ]


def fill_cache(
    architectures: Sequence[int] | None = None, progress: Callable[[int, int], None] | None = None
) -> tuple[int, list[tuple[str, str]], float]:
    """Compile the recorded kernels for devices into the cache on disk, on all cores.

    architectures: compute capabilities, as 90 for sm_90; those of this machine's devices when left out.
    progress: called with (kernels done, all kernels), from the calling thread.
    Returns (how many were compiled, [(kernel, reason) of those that failed], seconds).
    Raises: JitError where there is no NVRTC; InvalidValue for a compute capability that is not supported.
    """
    start = time.perf_counter()
    driver = 1000 * jit.compiler().getVersion()[0]  # a driver that NVRTC fits
    targets = []
    for limits in dict.fromkeys(_devices() if architectures is None else map(_limits, architectures)):
        targets.append((limits.arch, jit.options_for(limits), package_for(limits.arch, driver)))

    def fill(instance, arch, options, package):
        text, expression = jit.source_text(*instance)
        if jit.stored(text, expression, arch, options, package) is not None:
            return False
        jit.compile_and_store(text, expression, arch, options)
        return True

    done, failed = 0, []
    tasks = [(instance, *target) for target in targets for instance in recorded().by_cost()]
    for (instance, arch, *_), made, error in compile_all(fill, tasks, progress):
        if error is not None:
            failed.append((f"{instance[1]} for sm_{arch}", error))
        done += made is True
    return done, failed, time.perf_counter() - start


def compile_all(
    compile_one: Callable[..., Any], tasks: Sequence[tuple], progress: Callable[[int, int], None] | None = None,
    threads: int | None = None,
) -> Iterator[tuple[tuple, Any, str | None]]:  # fmt: skip
    """(task, compile_one(*task), None), or (task, None, the reason why it failed), of all tasks, in the order in which
    they are done; on all cores, or in `threads` threads.
    """
    with ThreadPoolExecutor(threads or thread_count()) as pool:
        futures = {pool.submit(compile_one, *task): task for task in tasks}
        try:
            for count, future in enumerate(as_completed(futures), 1):
                error = future.exception()
                if error is None:
                    yield futures[future], future.result(), None
                else:
                    yield futures[future], None, f"{type(error).__name__}: {error}"
                if progress is not None:
                    progress(count, len(tasks))
        finally:
            for future in futures:
                future.cancel()


def _devices() -> Iterator[DeviceLimits]:
    """The limits of this machine's devices."""
    import cupy

    for number in range(cupy.cuda.runtime.getDeviceCount()):
        limits = _limits(int(cupy.cuda.Device(number).compute_capability))
        yield restricted(limits, os.environ.get(ENVIRONMENT, ""))


def _limits(arch: int) -> DeviceLimits:
    try:
        return replace(limits_of(arch), arch=arch)
    except ValueError as error:
        raise InvalidValue(f"architectures: {error}, as 90 for sm_90") from None
