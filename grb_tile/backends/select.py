"""Which backend is in use: "cpu" unless told otherwise; "auto" is "cuda" where CuPy and a device are there.

Stores stay where they were made.  A device backend moves host stores at first use; once one was in use, host backends
bring device stores back in the same way (guard.py).

>>> from grb_tile.backends import select
>>> select.current().name
'cpu'
>>> with select.using("reference"):
...     select.current().name
'reference'
"""

from contextlib import contextmanager
from importlib import import_module

from grb_tile.config import config
from grb_tile.exceptions import InvalidValue
from grb_tile.planner.record import when_forced

AVAILABLE = {
    "cuda": ("grb_tile.backends.cuda.backend", "CudaBackend"),
    "cpu": ("grb_tile.backends.cpu.backend", "CpuBackend"),
    "numpy": ("grb_tile.backends.cpu.backend", "NumpyBackend"),
    "reference": ("grb_tile.backends.reference", "ReferenceBackend"),
}
_made = {}
_active = None


def named(name):
    """The backend of that name (made once, imported when first asked for)."""
    backend = _made.get(name)
    if backend is None:
        if name == "auto":
            from .cuda.backend import is_available

            return named("cuda" if is_available() else "cpu")
        if name not in AVAILABLE:
            others = ", ".join(sorted(AVAILABLE.keys() - {"cuda"}))
            raise InvalidValue(f"backend: {name!r} is not known; choose one of auto, cuda, {others}")
        module, cls = AVAILABLE[name]
        backend = register(name, getattr(import_module(module), cls)())
    if "cuda" in _made and not backend.on_device and not getattr(backend, "is_guarded", False):
        from .guard import guarded

        backend = _made[name] = guarded(backend)
    return backend


def register(name, backend):
    """`backend` has that name from now on; a host backend in use learns that there are device stores.  Returns it."""
    global _active
    _made[name] = backend
    if backend.on_device and _active is not None and not _active.on_device:
        _active = named(_active.name)
    return backend


def current():
    """The backend in use."""
    return _active if _active is not None else use(config.get("backend", "cpu"))


def use(name):
    """Make the backend `name` the one in use; returns it."""
    global _active
    _active = named(name)
    return _active


@contextmanager
def using(name):
    """Within the block the backend `name` is in use."""
    global _active
    before = _active
    try:
        yield use(name)
    finally:  # by name: a host backend must know by now that there are device stores
        _active = before if before is None or before.on_device else named(before.name)


when_forced("backend", using)
