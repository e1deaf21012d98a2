"""Which backend is in use: "cpu" unless configured otherwise; "auto" is "cuda" where CuPy and a device are present.

AVAILABLE is the only place where backends are registered, in the order in which "auto" tries them: a line with a name,
a module and a subclass of protocol.Backend.

Stores stay where they were made.  A device backend moves host stores at first use; once one was in use, host backends
copy device stores back in the same way (guard.py).

>>> from grb_tile.backends import select
>>> select.current().name
'cpu'
>>> with select.using("reference"):
...     select.current().name
'reference'
"""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from grb_tile.config import config
from grb_tile.exceptions import InvalidValue
from grb_tile.planner.record import when_forced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .protocol import Backend

AVAILABLE = {
    "cuda": ("grb_tile.backends.cuda.backend", "CudaBackend"),
    "cpu": ("grb_tile.backends.cpu.backend", "CpuBackend"),
    "numpy": ("grb_tile.backends.cpu.backend", "NumpyBackend"),
    "reference": ("grb_tile.backends.reference", "ReferenceBackend"),
}
FOR_TESTS = ("numpy", "reference")  # not offered by the command
_made: dict[str, Backend] = {}
_active: Backend | None = None


def named(name: str) -> Backend:
    """The backend of that name (made once, imported at first use).  Raises: InvalidValue on an unknown name."""
    backend = _made.get(name)
    if backend is None:
        if name == "auto":
            return named(next(other for other in AVAILABLE if _class_of(other).is_available()))
        if name not in AVAILABLE:
            raise InvalidValue(f"backend: {name!r} is not known; choose one of auto, {', '.join(AVAILABLE)}")
        backend = register(name, _class_of(name)())
    if not backend.on_device and _made_on_device() is not None and not getattr(backend, "is_guarded", False):
        from .guard import guarded

        backend = _made[name] = guarded(backend)
    return backend


def _class_of(name: str) -> type[Backend]:
    module, cls = AVAILABLE[name]
    return getattr(import_module(module), cls)


def register(name: str, backend: Backend) -> Backend:
    """`backend` has that name from now on; a host backend in use then accepts device stores too.  Returns it."""
    global _active
    if backend.name != name:  # `using` finds the backend again by its name
        backend.name = name
    _made[name] = backend
    if backend.on_device and _active is not None and not _active.on_device:
        _active = named(_active.name)
    return backend


def current() -> Backend:
    """The backend in use."""
    return _active if _active is not None else use(config.get("backend", "cpu"))


def use(name: str) -> Backend:
    """Make the backend `name` the one in use; returns it."""
    global _active
    _active = named(name)
    return _active


def on_device() -> Backend:
    """The backend that computes on a device: the one in use if it does, else one made before, else AVAILABLE's first.

    Raises: GraphblasException when there is no device, naming what is missing.
    """
    backend = current()
    if backend.on_device:
        return backend
    return _made_on_device() or named(next(name for name in AVAILABLE if getattr(_class_of(name), "on_device", True)))


def _made_on_device() -> Backend | None:
    return next((backend for backend in _made.values() if backend.on_device), None)


@contextmanager
def using(name: str) -> Iterator[Backend]:
    """Within the block the backend `name` is in use."""
    global _active
    before = _active
    try:
        yield use(name)
    finally:  # by name: a host backend must know by now that there are device stores
        _active = before if before is None or before.on_device else named(before.name)


when_forced("backend", using)
