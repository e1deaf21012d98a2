"""Compiled kernels: from an operator and types to functions that are called with arrays.

    recipe  ->  key  ->  an entry on disk, from the package or from an earlier compilation  ->  functions
                     ->  else NumPy does the work; once it has lost enough time, another process compiles the kernel
                         (compiler_process.py, worker.py), and its functions are used from then on

This process does not import Numba.  Where another core may compile, a kernel is requested once NumPy has lost
tuning.FELT_SECONDS without it, in this process or in earlier ones (lost_time.py); on a single core by ski rental, when
NumPy has lost the time of a compilation.  A call that takes NumPy much longer than the compilation waits for it, at
most twice the time of a compilation.  The mode "always" waits for every kernel, which is for tests and benchmarks.
"""

import atexit
import json
import math
import os
import threading
import time
from importlib.util import find_spec

from ....exceptions import InvalidValue
from ....planner import tuning
from ....planner.record import forced
from ...kernel_cache import KernelCache, read_entry
from . import compiler_process, lost_time
from .load import KernelError, load
from .recipe import TEMPLATES, Recipe, features, host
from .threads import plain, share_out, thread_count
from .worker import BASELINE

__all__ = ["attempt", "failures", "forget", "kernel", "memo", "mode", "numpy_seconds", "plain", "plain_kernel",
           "set_mode", "share_out", "thread_count"]  # fmt: skip

PREBUILT = TEMPLATES.with_name("prebuilt")  # entries that come with the package
BASELINE_FEATURES = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}

MODES = ("auto", "always", "never")
_OF_ENGINE = {None: None, "numpy": "never", "numba": "always"}  # a forced engine -> its mode
_mode = None
_lock = threading.RLock()
_local = threading.local()
_kernels = {}
_failures = []
_disk = KernelCache("cpu")
_saved_seconds = 0.0  # of all kernels that are not compiled
_compile_seconds = []
_prebuilt = None  # the keys of PREBUILT that this processor can run


def set_mode(mode):
    """When kernels are compiled: "auto" (once their absence is felt, in the background), "always" or "never".

    Raises: InvalidValue.
    """
    global _mode
    if mode not in MODES:
        raise InvalidValue(f"jit mode {mode!r} is unknown: expected one of {', '.join(MODES)}")
    _mode = mode


def mode():
    """The mode in force; $GRB_TILE_JIT is the default.  Raises: InvalidValue for a variable with another value."""
    engine = _OF_ENGINE[forced().engine]
    if engine is not None:
        return engine
    if _mode is None:
        chosen = os.environ.get("GRB_TILE_JIT") or "auto"
        if chosen not in MODES:
            raise InvalidValue(f"GRB_TILE_JIT={chosen!r} is unknown: expected one of {', '.join(MODES)}")
        set_mode(chosen)
    return _mode


def _prebuilt_keys():
    """The entries that come with the package, where this processor has the features that they were compiled for."""
    global _prebuilt
    if _prebuilt is None:
        try:
            _prebuilt = frozenset(os.listdir(PREBUILT)) if features() >= BASELINE_FEATURES else frozenset()
        except OSError:
            _prebuilt = frozenset()
    return _prebuilt


def numpy_seconds(count, ns):
    """What a call of NumPy takes for `count` items of `ns` each, about."""
    return 1e-9 * (tuning.NUMPY_CALL_NS + count * ns)


def _compile_price():
    """Mean processor time of a compilation."""
    return sum(_compile_seconds) / len(_compile_seconds) if _compile_seconds else tuning.COMPILE_SECONDS


def _price_of_waiting():
    """Upper bound of the seconds until a kernel requested now is compiled."""
    process = compiler_process.current()
    turns = math.ceil(len(process.waiting) / thread_count())
    return (0.0 if _compile_seconds else tuning.START_SECONDS) + turns * _compile_price()


class Kernel:
    """One specialisation: `functions` once it is loaded; before that `saved_seconds`, its break-even counter."""

    __slots__ = ("_looked", "failed", "functions", "key", "recipe", "requested", "saved_seconds")

    def __init__(self, recipe):
        self.recipe = recipe
        self.key = None
        self.functions = None
        self.saved_seconds = 0.0
        self.failed = self.requested = self._looked = False

    @property
    def template(self):
        return self.recipe.template

    def is_ready(self):
        """Does `functions_for` return the functions now, after loading them at most?  None: it never will."""
        if self.failed or mode() == "never":
            return None
        if self.functions is None and mode() == "auto":
            self._look()
        return self.functions is not None or mode() == "always"

    def functions_for(self, seconds):
        """The namespace of functions, or None while there is none: NumPy does the work.

        seconds: an estimate of NumPy's time for this call, or a function that gives it; a compilation that is due after
        the call is requested before it.
        """
        if self.functions is not None:
            return self.functions if forced().engine != "numpy" else None
        return self._consider(seconds)

    def _consider(self, seconds):
        chosen = mode()
        if self.failed or chosen == "never":
            return None
        if not self._looked:
            self._look()
        if self.functions is None:
            if chosen == "always":
                self.load()
            else:
                seconds = seconds() if callable(seconds) else seconds
                if self.requested:
                    _poll()
                else:
                    self._count(tuning.COMPILED_SAVES * seconds, kept=False)
                if self.requested:
                    most = tuning.WAIT_RATIO * _price_of_waiting()
                    if most < seconds < math.inf:
                        with _lock:
                            compiler_process.current().wait(self.key, most)
        if self.functions is None:
            _local.declined = self
        return self.functions

    def of_small_calls(self, seconds):
        """The functions, or None, for a call in which NumPy takes only `seconds`, which are counted.

        The kernel is looked for on disk once the calls have lost SMALL_CALLS_SECONDS: a program of few such calls
        does without.
        """
        if self.functions is None:
            if not self._looked and self.saved_seconds < tuning.SMALL_CALLS_SECONDS and mode() == "auto":
                self.saved_seconds += seconds
            elif self.functions_for(seconds) is None:
                self.count(seconds)
        return self.functions

    def count(self, seconds):
        """Add seconds lost without the compiled kernel; request a compilation once they exceed its cost."""
        if self.functions is None and not self.failed and mode() == "auto":
            self._count(seconds, kept=True)

    def _count(self, seconds, kept):
        global _saved_seconds
        if kept:
            self.saved_seconds += seconds
            _saved_seconds += seconds
            lost_time.notice(_saved_seconds)
            seconds = 0.0
        if not self.requested and self._is_due(seconds) and find_spec("numba") is not None:
            with _lock:
                self._request(seconds)

    def _is_due(self, seconds):
        """Does a compilation pay, where the next call loses `seconds` in addition to those counted?"""
        if thread_count() > 1:
            return self.saved_seconds + seconds >= tuning.FELT_SECONDS
        start = 0.0 if compiler_process.current().is_running() else tuning.START_SECONDS
        price = _compile_price()
        return self.saved_seconds + seconds >= price and _saved_seconds + seconds >= price + start

    def _look(self):
        """Load the entry of an earlier compilation, or the one that comes with the package."""
        with _lock:
            if self._looked:
                return
            self.key = self.recipe.key(host())
            payload = _disk.get(self.key)
            if payload is None or not self._install(payload):
                name = self.recipe.key(BASELINE) if _prebuilt_keys() else None
                if name in _prebuilt:
                    payload = read_entry(PREBUILT / name, name, private=False)
                    if payload is not None:
                        self._install(payload)
            if self.functions is None:
                self.saved_seconds += lost_time.of(self.key, _disk)
            self._looked = True  # last: an interrupt leaves the kernel as it was

    def _install(self, payload):
        """Load the code; False, and nothing has changed, when it cannot be loaded."""
        try:
            names, _, code = payload.partition(b"\n")
            functions = load(code, json.loads(names))
        except (OSError, ValueError, AttributeError, RuntimeError, ImportError) as error:  # the last two: llvmlite's
            _failures.append((self.key, f"{type(error).__name__}: {error}"))
            return False
        self.functions = functions
        return True

    def is_missing(self):
        """Does neither the cache nor the package have it?"""
        if not self._looked:
            self._look()
        return self.functions is None

    def _request(self, seconds=math.inf):
        """Request the kernel of the compiler process; seconds: what the next call loses without the kernel."""
        if not self.requested:
            self.requested = True
            self.request_from(compiler_process.current(), self._receive, seconds)

    def request_from(self, process, receive, seconds=0.0):
        """Request the code of a compiler process, whether it is requested already or not."""
        folder = _disk.folder()
        cache = os.environ.get("GRB_TILE_CACHE") if folder is None else str(folder.parent)
        lost = min(self.saved_seconds + seconds, 1e9)  # JSON has no infinity
        process.request(self.key, host(), self.recipe.data(), lost, receive, cache)

    def _receive(self, reply, payload):
        self.requested = False
        if "error" in reply:
            self.failed = True
            _failures.append((self.key, reply["error"]))
            return
        _compile_seconds.append(reply["seconds"])
        code = payload or _disk.get(self.key)
        if code is not None and not self._install(code):
            self.failed = True
        if payload:  # the compiler process could not store it
            _disk.put(self.key, payload)  # warns once

    def load(self):
        """The functions, compiled now if need be; None when that fails.  An interrupt leaves everything as it was."""
        with _lock:
            if not self._looked:
                self._look()
            if self.functions is None and not self.failed:
                process = compiler_process.awaited()
                self.request_from(process, self._receive)
                process.wait(self.key)
        return self.functions


def _poll():
    """Take what the compiler process has compiled, unless another thread is at it."""
    if _lock.acquire(blocking=False):
        try:
            compiler_process.current().poll()
        finally:
            _lock.release()


# --- the break-even counters: what NumPy took where a kernel declined ---


def tried_first(compiled, plain, *arguments, **options):
    """compiled(...), or plain(...) where that declines, with the same arguments: the two forms of a primitive."""
    _local.declined = None
    result = compiled(*arguments, **options)
    return in_numpy(plain, *arguments, **options) if result is NotImplemented else result


def tried(compiled, *arguments, **options):
    """compiled(...), the form of a primitive that may decline; `in_numpy` then runs the other."""
    _local.declined = None
    return compiled(*arguments, **options)


def in_numpy(plain, *arguments, **options):
    """plain(...), its time added to the counter of the kernel that declined this primitive, if one did."""
    declined = getattr(_local, "declined", None)
    if declined is None:
        return plain(*arguments, **options)
    start = time.perf_counter()
    try:
        return plain(*arguments, **options)
    finally:
        _local.declined = None
        declined.count(tuning.COMPILED_SAVES * (time.perf_counter() - start))


# --- the kernels of this process ---


def failures():
    """Kernels that could not be made or loaded, with the reason: for reports and tests."""
    return list(_failures)


def kernel(key, recipe):
    """The Kernel of a recipe, kept under `key`."""
    found = _kernels.get(key)
    if found is None:
        with _lock:
            found = _kernels.setdefault(key, Kernel(recipe))
    return found


def plain_kernel(template, **constants):
    """A kernel without operators: traversals, transposes, sorts."""
    key = (template, *sorted(constants.items()))
    return _kernels.get(key) or kernel(key, Recipe(template, constants))


memos = []  # caches of other modules: kernels by keys of their own


def memo():
    """A new cache (dictionary) that `forget` empties."""
    memos.append({})
    return memos[-1]


def forget():
    """Drop every kernel of this process; tests simulate a fresh process with it."""
    global _saved_seconds, _prebuilt
    with _lock:
        for process in (compiler_process.current(), compiler_process.awaited()):
            process.waiting.clear()
        for known in memos:
            known.clear()
        _kernels.clear()
        _failures.clear()
        _saved_seconds = 0.0
        _prebuilt = None
        lost_time.forget()


def _store_lost_time():
    """At the end of the process."""
    if _mode == "auto":
        lost_time.store(list(_kernels.values()), _disk)


atexit.register(_store_lost_time)


def _after_fork():
    """In a forked child: another thread may have had the lock, and the compiler process is the parent's."""
    global _lock
    _lock = threading.RLock()
    for known in _kernels.values():
        known.requested = False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def attempt(kernel, run):
    """run(), or NotImplemented where a compiled function refuses its arguments; the kernel is then not used again."""
    try:
        return run()
    except KernelError as error:
        kernel.failed, kernel.functions = True, None
        _failures.append((kernel.key, str(error)))
        return NotImplemented
