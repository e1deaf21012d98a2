"""JIT kernels: a template of templates/ specialised for operators, types and flags, compiled by Numba, cached on disk.

    template text  +  header (operators, constants)  ->  one real file in the cache folder  ->  import  ->  machine code

Numba caches compiled code only for functions in real files, so each specialisation is written to one (atomically, since
processes share the folder) whose name has a digest of its content.  Flags are folded before the file is written; most
compile time is saved by what is then not in it.

When to compile is decided by ski rental: NumPy does the work until the time spent there equals that of a compilation
(`Kernel.functions_for`), which bounds the cost by twice the optimum.  Loading a kernel compiled by an earlier process
takes a tenth of that, so a warm cache is used sooner.  Without a working Numba no kernel is available; nothing raises.
"""

import ctypes
import hashlib
import importlib.util
import os
import pathlib
import platform
import sys
import threading

import numpy as np

from ....planner.record import forced
from .specialise import header, specialise_text

COMPILE_SECONDS = 0.8  # compile time of a typical kernel, see tests/benchmarks
LOAD_SECONDS = 0.03  # load time of a kernel that is compiled in the cache folder
NUMBA_IMPORT_SECONDS = 0.6
MINIMUM_CALL_SECONDS = 150e-6  # least time counted for a call through NumPy
MAX_CACHE_FILES = 6000  # the oldest half is deleted beyond

MODES = ("auto", "always", "never")
_mode = os.environ.get("GRB_TILE_JIT") or "auto"
if _mode not in MODES:
    raise ValueError(f"GRB_TILE_JIT={_mode!r} is unknown: expected one of {', '.join(MODES)}")
_OF_ENGINE = {None: None, "numpy": "never", "numba": "always"}  # a forced engine -> its mode
_lock = threading.RLock()
_kernels = {}
_numba = None  # the module; False once it was found missing
_numpy_seconds = 0.0  # break-even counter of all kernels together: seconds spent in NumPy without a kernel
_folder = None
_on_disk = None  # stems of the specialisations that are compiled in the folder
_pruned = False


def set_mode(mode):
    """When Numba runs: "auto" (ski-rental), "always" (compile at once) or "never" (NumPy alone)."""
    global _mode
    if mode not in MODES:
        raise ValueError(f"jit mode {mode!r} is unknown: expected one of {', '.join(MODES)}")
    _mode = mode


def mode():
    return _OF_ENGINE[forced().engine] or _mode


def numba():
    """The numba module, imported on first use, or None when it is missing or broken."""
    global _numba
    if _numba is None:
        with _lock:
            if _numba is None:
                os.environ.setdefault("OMP_WAIT_POLICY", "passive")
                try:
                    import numba as module

                    _numba = module
                except Exception:  # noqa: BLE001 - a broken install raises anything from ImportError to SystemError
                    _numba = False
    return _numba or None


def _numba_version():
    """Version without importing the package (that takes half a second)."""
    from importlib import metadata

    try:
        return metadata.version("numba")
    except metadata.PackageNotFoundError:
        return "none"


def cache_folder():
    """Folder of generated sources and compiled code: $GRB_TILE_CACHE, else the user's cache directory."""
    global _folder
    if _folder is None:
        chosen = os.environ.get("GRB_TILE_CACHE")
        if chosen:
            root = pathlib.Path(chosen)
        elif sys.platform == "darwin":
            root = pathlib.Path.home() / "Library" / "Caches" / "grb_tile"
        elif os.name == "nt":
            root = pathlib.Path(os.environ.get("LOCALAPPDATA", pathlib.Path.home())) / "grb_tile"
        else:
            root = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "grb_tile"
        version = f"py{sys.version_info[0]}{sys.version_info[1]}-numba{_numba_version()}-{platform.machine()}"
        folder = root / version
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not os.access(folder, os.W_OK):
                raise PermissionError(folder)
        except OSError:  # read-only home: compile for this process alone
            import tempfile

            folder = pathlib.Path(tempfile.mkdtemp(prefix="grb_tile-"))
        _folder = folder
    return _folder


def _compiled_stems():
    """Stems of the specialisations whose compiled code is on disk (Numba's index files), read once a process."""
    global _on_disk
    if _on_disk is None:
        try:
            names = os.listdir(cache_folder() / "__pycache__")
        except OSError:
            names = []
        _on_disk = {name.split(".", 1)[0] for name in names if name.endswith(".nbi")}
    return _on_disk


def _prune():
    """Delete the oldest half of a folder past MAX_CACHE_FILES.  A process that loses a file compiles it again."""
    global _pruned
    if _pruned:
        return
    _pruned = True
    try:
        files = [p for p in cache_folder().rglob("*") if p.is_file()]
        if len(files) > MAX_CACHE_FILES:
            files.sort(key=lambda p: p.stat().st_mtime)
            for path in files[: len(files) // 2]:
                path.unlink(missing_ok=True)
    except OSError:
        pass


class Kernel:
    """One specialisation: `functions` once it is loaded; before that `numpy_seconds`, its break-even counter."""

    __slots__ = ("_make", "_text", "failed", "functions", "path", "numpy_seconds", "stem", "template", "wanted")

    def __init__(self, template, make):
        self.template = template
        self._make = make
        self._text = None
        self.stem = None
        self.path = None
        self.functions = None
        self.numpy_seconds = 0.0
        self.failed = False

    def text(self):
        if self._text is None:
            self._text = self._make()
            digest = hashlib.sha256(self._text.encode()).hexdigest()[:20]
            self.stem = f"{self.template}_{digest}"
            self.path = cache_folder() / f"{self.stem}.py"
        return self._text

    def on_disk(self):
        self.text()
        return self.stem in _compiled_stems()

    def breaks_even(self):
        """Is the time spent in NumPy that of this kernel's compilation, and for all kernels that of importing Numba?"""
        if self.numpy_seconds < LOAD_SECONDS:
            return False
        price = LOAD_SECONDS if self.on_disk() else COMPILE_SECONDS
        return self.numpy_seconds >= price and (_numba is not None or _numpy_seconds >= price + NUMBA_IMPORT_SECONDS)

    def is_ready(self):
        """Could `functions_for` give the functions now, at the price of loading them at most?  None: it never will."""
        if self.failed or mode() == "never" or _numba is False:
            return None
        if self.functions is not None or mode() == "always":
            return True
        return _numba is not None and self.on_disk()

    def functions_for(self, seconds):
        """The module of functions, or None while this job, of `seconds` in NumPy, is below the break-even point.

        `seconds` may be a function, which is called only while the kernel is not loaded.
        """
        if self.functions is not None:
            return self.functions if forced().engine != "numpy" else None
        return self._consider(seconds)

    def _consider(self, seconds):
        global _numpy_seconds
        chosen = mode()
        if self.failed or chosen == "never" or _numba is False:
            return None
        if chosen == "auto":
            seconds = max(MINIMUM_CALL_SECONDS, seconds() if callable(seconds) else seconds)
            self.numpy_seconds += seconds
            _numpy_seconds += seconds
            if not self.breaks_even():
                return None
        return self.load()

    def load(self):
        """Import the generated file now.  (Numba compiles a function, or takes it from disk, at its first call.)"""
        with _lock:
            if self.functions is None and not self.failed:
                if numba() is None:
                    self.failed = True
                    return None
                try:
                    self._import()
                except Exception as error:  # noqa: BLE001 - NumPy does the work without this kernel
                    self.failed = True
                    _failures.append((self.stem, f"{type(error).__name__}: {error}"))
            return self.functions

    def _import(self):
        text = self.text()
        _prune()
        if not self.path.exists():
            temporary = self.path.with_name(f"{self.stem}.{os.getpid()}.{threading.get_ident()}.tmp")
            temporary.write_text(text)
            os.replace(temporary, self.path)
        name = f"grb_tile_kernels.{self.stem}"
        module = sys.modules.get(name)
        if module is None:
            spec = importlib.util.spec_from_file_location(name, self.path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module  # Numba unpickles by module name
            try:
                spec.loader.exec_module(module)
            except BaseException:
                del sys.modules[name]
                raise
        self.functions = module


_failures = []


def failures():
    """Kernels that could not be made, with the reason: for reports and tests."""
    return list(_failures)


def fail(kernel, error):
    """Record that a kernel failed to compile; it is not tried again."""
    kernel.failed = True
    kernel.functions = None
    _failures.append((kernel.stem, f"{type(error).__name__}: {error}"))


def kernel(key, template, make):
    """The Kernel under `key`; `make()` gives its text when it is first needed."""
    found = _kernels.get(key)
    if found is None:
        with _lock:
            found = _kernels.get(key)
            if found is None:
                found = _kernels[key] = Kernel(template, make)
    return found


def plain_kernel(template, **constants):
    """A kernel without operators: traversals, transposes, sorts."""
    key = (template, *sorted(constants.items()))
    found = _kernels.get(key)
    return found or kernel(key, template, lambda: specialise_text(template, constants, {}, header(template, constants)))


memos = []  # caches of other modules: kernels by keys of their own


def memo():
    """A new cache (dictionary) that `forget` empties."""
    memos.append({})
    return memos[-1]


def forget():
    """Drop every loaded kernel of this process; tests simulate a fresh process with it."""
    global _folder, _on_disk, _numpy_seconds
    with _lock:
        for known in memos:
            known.clear()
        for name in [name for name in sys.modules if name.startswith("grb_tile_kernels.")]:
            del sys.modules[name]  # the same text in another folder must not find the old module
        _kernels.clear()
        _failures.clear()
        _folder = None
        _on_disk = None
        _numpy_seconds = 0.0


# --- threads: kernels release the GIL, so Python threads run them in parallel ---

_pool = None
_threads = None


def thread_count():
    """Cores this process may use ($GRB_TILE_THREADS overrides)."""
    global _threads
    if _threads is None:
        wanted = os.environ.get("GRB_TILE_THREADS")
        if wanted:
            if not (wanted.strip().isdecimal() and int(wanted) > 0):
                raise ValueError(f"GRB_TILE_THREADS={wanted!r}: expected a number of threads, 1 or more")
            _threads = int(wanted)
        elif hasattr(os, "sched_getaffinity"):
            _threads = len(os.sched_getaffinity(0))
        else:
            _threads = os.cpu_count() or 1
    return _threads


def _executor():
    global _pool
    if _pool is None:
        with _lock:
            if _pool is None:
                from concurrent.futures import ThreadPoolExecutor

                _pool = ThreadPoolExecutor(max(1, thread_count() - 1), thread_name_prefix="grb_tile")
    return _pool


def _forget_pool():
    global _pool
    _pool = None  # a forked child has no threads


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def share_out(job, chunks, threads):
    """[job(chunk, worker) for chunk in range(chunks)] on `threads` threads, with dynamic scheduling of the chunks.

    `worker` in range(threads) selects the workspace of a job.  An exception of a job is raised here.
    """
    results = [None] * chunks
    if threads <= 1 or chunks <= 1:
        for chunk in range(chunks):
            results[chunk] = job(chunk, 0)
        return results
    import itertools

    counter = itertools.count()  # next() is atomic

    def work(worker):
        for chunk in counter:
            if chunk >= chunks:
                return
            results[chunk] = job(chunk, worker)

    executor = _executor()
    futures = [executor.submit(work, worker) for worker in range(1, min(threads, chunks))]
    try:
        work(0)
    finally:
        for future in futures:
            if not future.cancel():
                future.result()
    return results


# --- arguments of kernels: contiguous and writable arrays, so that Numba compiles one signature ---


def plain(array):
    """The array itself if contiguous and writable; a writable alias of a read-only one (kernels write no operand)."""
    flags = array.flags
    if not flags.c_contiguous:
        return np.ascontiguousarray(array)
    if flags.writeable:
        return array
    return _alias(array)


def _alias(array):
    if array.nbytes == 0:
        return np.empty(array.shape, array.dtype)
    raw = (ctypes.c_byte * array.nbytes).from_address(array.ctypes.data)
    raw._kept = array  # the alias keeps its owner alive
    return np.frombuffer(raw, array.dtype).reshape(array.shape)


def attempt(kernel, run):
    """run(), or NotImplemented on a compile error; the kernel is then not tried again."""
    try:
        return run()
    except Exception as error:
        if not is_compile_error(error):
            raise
        fail(kernel, error)
        return NotImplemented


def is_compile_error(error):
    """Was the error raised by Numba or LLVM?"""
    return type(error).__module__.partition(".")[0] in ("numba", "llvmlite")
