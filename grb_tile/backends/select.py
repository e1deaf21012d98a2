"""Which backend is in use: "cpu" unless gb.config, or GRB_TILE_BACKEND in the environment, says otherwise.

"auto" is "cuda" where CuPy and a device are present.

AVAILABLE is the only place where backends are registered, in the order in which "auto" tries them: a line with a name,
a module and a subclass of protocol.Backend.

A device backend computes on one device: "cuda:1" is that of device 1, "cuda" that of the device that
`gb.config.set(device=...)` or GRB_TILE_DEVICE in the environment names, 0 without.

`use` holds for the process.  `using` and `device` hold for the calling thread (they set a context variable), so that
blocks of two threads may overlap.

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

import os
import threading
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from typing import TYPE_CHECKING

from grb_tile.config import config
from grb_tile.exceptions import GraphblasException, InvalidValue
from grb_tile.planner.record import when_forced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from .protocol import Backend, Store

AVAILABLE = {
    "cuda": ("grb_tile.backends.cuda.backend", "CudaBackend"),
    "cpu": ("grb_tile.backends.cpu.backend", "CpuBackend"),
    "numpy": ("grb_tile.backends.cpu.backend", "NumpyBackend"),
    "reference": ("grb_tile.backends.reference", "ReferenceBackend"),
}
FOR_TESTS = ("numpy", "reference")  # not offered by the command
HOST = "cpu"  # the backend of numbers where the one in use computes on a device
NUMBERED = "cuda"  # the backend whose name may have a device's number after it
_made: dict[str, Backend] = {}  # the one of device 0 without its number
_active: Backend | None = None
_here: ContextVar[str | None] = ContextVar("grb_tile_backend", default=None)  # the name of the caller's own
_making = threading.RLock()


def _after_fork():
    global _making
    _making = threading.RLock()  # another thread of the parent may have had it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def named(name: str) -> Backend:
    """The backend of that name (made once, imported at first use).  Raises: InvalidValue on an unknown name."""
    if name == "auto":
        return named(next(other for other in AVAILABLE if _class_of(other).is_available()))
    kind, number = _kind_and_number(name)
    name = f"{kind}:{number}" if number else kind
    backend = _made.get(name)
    if backend is None or not backend.on_device:
        with _making:  # once, because stores refer to the device that a backend has
            backend = _made.get(name) or register(name, _class_of(kind)(*((number,) if number else ())))
            if not backend.on_device and _made_on_device() is not None and not getattr(backend, "is_guarded", False):
                from .guard import guarded

                backend = _made[name] = guarded(backend)
    return backend


def _kind_and_number(name: str) -> tuple[str, int]:
    """("cuda", 1) of "cuda:1"; 0 where a backend has no devices."""
    kind, colon, number = name.partition(":")
    if kind not in AVAILABLE and name not in _made or colon and (kind != NUMBERED or not number.isdecimal()):
        raise InvalidValue(
            f"backend: {name!r} is not known; choose one of auto, {', '.join(AVAILABLE)}, or {NUMBERED}:1 for device 1"
        )
    if colon:
        return kind, int(number)
    return kind, config.get("device", 0) if kind == NUMBERED else 0


def _class_of(name: str) -> type[Backend]:
    module, cls = AVAILABLE[name]
    return getattr(import_module(module), cls)


def register(name: str, backend: Backend) -> Backend:
    """`backend` has that name from now on; a host backend in use then accepts device stores too.  Returns it."""
    global _active
    if backend.name != name:  # `using` finds the backend again by its name
        backend.name = name
    _made[name] = backend
    if _has_arrays(backend):
        for other in list(_made):
            if not _made[other].on_device:
                named(other)
        if _active is not None and not _active.on_device:
            _active = named(_active.name)
    return backend


def current() -> Backend:
    """The backend in use where the caller is."""
    name = _here.get()
    if name is not None:
        return _made.get(name) or named(name)
    return _active if _active is not None else _configured()


def in_use() -> Backend | None:
    """The backend in use where the caller is, if it has been made."""
    name = _here.get()
    return _active if name is None else _made.get(name)


def own_device(name: str | None, number: int) -> str:
    """The name of what computes on the rank of that number on its host: of devices each rank takes the next one.

    name: a backend's; None for the one in use.  "cuda:1", gb.config.set(device=1) and GRB_TILE_DEVICE are kept.
    """
    if name is None:
        found = in_use()
        name = found.name if found is not None else config.get("backend", "cpu")
    if name == "auto":
        name = next(other for other in AVAILABLE if _class_of(other).is_available())
    if name != NUMBERED or config.variable("device") or config.get("device", 0):
        return name
    return f"{NUMBERED}:{number % max(1, _class_of(NUMBERED).count_devices())}"


def _configured() -> Backend:
    """The backend that gb.config names, made the one in use; an error names the variable that asked for it."""
    name, variable = config.get("backend", "cpu"), config.variable("backend")
    try:
        return use(name)
    except GraphblasException as error:
        if variable is None:
            raise
        raise type(error)(
            f"{variable}={name}: {error}; without {variable} in the environment the CPU computes"
        ) from error


def use_configured() -> None:
    """The backend that gb.config names computes from the next call on, in the process and in the block around here."""
    global _active
    _active = None
    if _here.get() is not None:
        _configured()


def use(name: str) -> Backend:
    """Make the backend `name` the one in use, in the process and in the block around the caller; returns it."""
    global _active
    _active = backend = named(name)
    if _here.get() is not None:
        _here.set(backend.name)
    backend.bind()
    return backend


def over_ranks(comm: Any, local: Backend) -> Any:
    """The distributed backend over the ranks of a communicator, each of which computes with the backend `local`."""
    return import_module("grb_tile.backends.distributed.backend").DistributedBackend(comm, local)


@contextmanager
def entered(name: str, backend: Backend) -> Iterator[Backend]:
    """Within the block `backend`, which nobody has registered, is in use for the calling thread, under that name."""
    register(name, backend)
    try:
        with using(name):
            yield backend
    finally:
        _made.pop(name, None)


def use_device(number: int) -> None:
    """`gb.config.set(device=number)`: "cuda" is the backend of that device from now on.

    Raises: InvalidValue when that is no number of a device.
    """
    _check_number(number)
    if current().on_device:
        use(f"{NUMBERED}:{number}")


def _check_number(number: int) -> None:
    if isinstance(number, bool) or not hasattr(number, "__index__") or number < 0:
        raise InvalidValue(f"device: {number!r} is no number of a device; the first is 0")


def moved(store: Store, device: str) -> Store:
    """`store` with its arrays on `device`: "cpu", "cuda" (the one in use) or "cuda:1"; itself where they reside there.

    Raises: InvalidValue for another name, or for values of a user-defined type, which have no form on a GPU;
    GraphblasException where the device cannot be used.
    """
    kind = device.partition(":")[0] if isinstance(device, str) else None
    if kind not in ("cpu", NUMBERED):
        raise InvalidValue(f'device: {device!r} is no device; choose "cpu", "{NUMBERED}" or "{NUMBERED}:1"')
    backend = current() if device == NUMBERED and current().on_device else named(device)
    if kind == NUMBERED and store.dtype._is_udt and not store.is_part:
        raise InvalidValue(f"device: values of the user-defined type {store.dtype.name} have no form on {device!r}")
    return backend.copy_here(store)


def on_device() -> Backend:
    """The backend that computes on a device: the one in use if it does, else the one of the configured device.

    Raises: GraphblasException when there is no device, naming what is missing.
    """
    backend = current()
    if backend.on_device:
        return backend
    return named(NUMBERED)


def on_host(compute: Callable[[], Any]) -> Any:
    """compute(), whose operands are single numbers of the host: by the host backend in use, or by that of the CPU.

    A launch and a read-back take ten times as long as the operation, so a device has no part in it.
    """
    if not current().on_device:
        return compute()
    token = _here.set(HOST)
    try:
        return compute()
    finally:
        _here.reset(token)


def _made_on_device() -> Backend | None:
    return next((backend for backend in list(_made.values()) if _has_arrays(backend)), None)


def _has_arrays(backend: Backend) -> bool:
    """Are the stores of the backend a device's, whose arrays a host backend can copy?  Those of ranks are no arrays."""
    return backend.on_device and not hasattr(backend, "comm")


@contextmanager
def using(name: str) -> Iterator[Backend]:
    """Within the block the backend `name` is in use for the calling thread; a device is CuPy's current one too."""
    backend = named(name)
    token = _here.set(backend.name)
    try:
        with backend.bound():
            yield backend
    finally:
        _here.reset(token)


@contextmanager
def device(number: int) -> Iterator[None]:
    """Within the block the GPU of that number computes for the calling thread, and is CuPy's current device.

        with gb.device(1):
            w = A.mxv(v).new()      # on device 1: A and v reside there or on the host

    Other threads are not concerned: each enters a block of its own, or computes as `gb.config` says.
    Raises: InvalidValue when there is no such device; GraphblasException when there is none that can be used.
    """
    _check_number(number)
    with using(f"{NUMBERED}:{int(number)}"):
        yield


when_forced("backend", using)
