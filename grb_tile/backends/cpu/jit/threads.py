"""Threads for compiled kernels, which release the GIL, and the arguments that kernels accept."""

import itertools
import os
import queue
import threading

import numpy as np

from ....exceptions import InvalidValue

_threads = None
_jobs = queue.SimpleQueue()
_started = 0  # threads that take jobs from the queue
_lock = threading.Lock()


def thread_count():
    """Cores this process may use ($GRB_TILE_THREADS overrides).  Raises: InvalidValue for a value that is no count."""
    global _threads
    if _threads is None:
        wanted = os.environ.get("GRB_TILE_THREADS")
        if wanted:
            if not (wanted.strip().isdecimal() and int(wanted) > 0):
                raise InvalidValue(f"GRB_TILE_THREADS={wanted!r}: expected a number of threads, 1 or more")
            _threads = int(wanted)
        elif hasattr(os, "sched_getaffinity"):
            _threads = len(os.sched_getaffinity(0))
        else:
            _threads = os.cpu_count() or 1
    return _threads


def _work(jobs):
    while True:
        jobs.get()()


def _pool(wanted):
    """How many threads take jobs from the queue: `wanted`, or fewer where the system gives no more, perhaps none."""
    global _started
    if _started < wanted:
        with _lock:
            while _started < wanted:
                thread = threading.Thread(target=_work, args=(_jobs,), name=f"grb_tile_{_started}", daemon=True)
                try:
                    thread.start()
                except RuntimeError:  # can't start new thread: the others do its work
                    break
                _started += 1
    return min(_started, wanted)


def _forget_pool():
    global _jobs, _lock, _started  # a forked child has no threads, and another thread may have had the lock
    _jobs, _lock, _started = queue.SimpleQueue(), threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def share_out(job, chunks, threads):
    """[job(chunk, worker) for chunk in range(chunks)] on `threads` threads, with dynamic scheduling of the chunks.

    `worker` in range(threads) selects the workspace of a job.  An exception of a job is raised here, when no other job
    runs any more.  Where the system gives no threads, the calling thread runs all jobs.
    """
    results = [None] * chunks
    others = min(threads, chunks) - 1
    others = _pool(others) if others > 0 else 0
    if not others:
        for chunk in range(chunks):
            results[chunk] = job(chunk, 0)
        return results
    counter = itertools.count()  # next() is atomic, as pop() is
    errors = []

    def work(worker):
        try:
            for chunk in counter:
                if chunk >= chunks or errors:
                    return
                results[chunk] = job(chunk, worker)
        except BaseException as error:
            errors.append(error)

    tickets, finished = list(range(1, others + 1)), queue.SimpleQueue()

    def take_part():
        try:
            worker = tickets.pop()
        except IndexError:  # all chunks were done before this thread was free
            return
        work(worker)
        finished.put(worker)

    try:
        for _ in range(others):
            _jobs.put(take_part)
        work(0)
    finally:
        _wait(finished, others - _unused(tickets), errors)
    if errors:
        raise errors[0]
    return results


def _unused(tickets):
    """Take back the tickets of threads that were not free; returns how many."""
    count = 0
    while True:
        try:
            tickets.pop()
        except IndexError:
            return count
        count += 1


def _wait(finished, count, errors):
    """Wait for `count` threads; an interrupt is kept until they have stopped, because they write into shared arrays."""
    while count:
        try:
            finished.get()
        except KeyboardInterrupt as error:
            errors.append(error)
        else:
            count -= 1


def plain(array):
    """The array itself if contiguous, else a contiguous copy: what kernels accept."""
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)
