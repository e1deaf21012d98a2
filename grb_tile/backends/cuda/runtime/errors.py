"""The entrance of each primitive, and its exit by an exception that names the call.

A primitive holds the device's lock, so that the work of several threads is queued one primitive after another, each in
the order of its launches; it runs with its own device as the thread's current one, and after the work that was queued
on another stream.  Kernels report no errors: what may be wrong is checked before a launch, or counted by the kernel.
`device` is a Device (device.py, which imports this module).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ....exceptions import OutOfMemory, Panic


class HostOnly(Exception):
    """A store of a user-defined type, which has no device form: the primitive is computed on the host."""


def reporting(primitive: Callable) -> Callable:
    """Wrap a method of the backend: CuPy's errors leave it as the library's exceptions, naming the primitive.

    Out of memory: what stores keep besides their entries is dropped (runtime/memory.py), and the primitive runs again.
    Its work is queued after the work of another stream before it (Device.wait_stream).  Only a failing call costs more.
    """
    name = primitive.__name__

    @functools.wraps(primitive)
    def call(backend, *args, **kwargs):
        device = backend.device
        with device.lock:
            if device.several and device.current_number() != device.number:  # is_elsewhere
                with device.bound():
                    return call(backend, *args, **kwargs)
            if device.current_stream() is not device.stream:
                device.wait_stream()
            try:
                return primitive(backend, *args, **kwargs)
            except HostOnly:
                return backend.through_host(name, args, kwargs)
            except Exception as error:
                raised = failed(error, name, device)
                if raised is None:
                    raise
            return again(device, name, raised, lambda: primitive(backend, *args, **kwargs))

    return call


def on_device(function: Callable) -> Callable:
    """As `reporting`, for a function of the Device that is no primitive: a traversal, an import of arrays."""
    name = function.__name__

    @functools.wraps(function)
    def call(device, *args, **kwargs):
        return run_reported(device, name, function, device, *args, **kwargs)

    return call


def run_reported(device: Any, name: str, function: Callable, *args: Any, **kwargs: Any) -> Any:
    """function(*args, **kwargs) as a primitive of the device of that name."""
    with device.lock:
        if device.several and device.current_number() != device.number:  # is_elsewhere
            with device.bound():
                return run_reported(device, name, function, *args, **kwargs)
        if device.current_stream() is not device.stream:
            device.wait_stream()
        try:
            return function(*args, **kwargs)
        except HostOnly:
            raise
        except Exception as error:
            raised = failed(error, name, device)
            if raised is None:
                raise
        return again(device, name, raised, lambda: function(*args, **kwargs))


def failed(error: Exception, name: str, device: Any) -> OutOfMemory | None:
    """The OutOfMemory that `error` means, else None; raises the library's exception for CuPy's other errors."""
    raised = translated(error, name, device)
    if raised is None or isinstance(raised, OutOfMemory):
        return raised
    raise raised from error


def again(device: Any, name: str, raised: Exception, function: Callable) -> Any:
    """function() once more with the memory of derived forms released.  Raises: `raised` when there were none.

    Called when the frames of the first try are gone, and with them their arrays.
    """
    if not device.make_room():
        raise raised
    try:
        return function()
    except HostOnly:
        raise
    except Exception as error:
        raised = translated(error, name, device)
        if raised is None:
            raise
        raise raised from error


def translated(error: Exception, name: str, device: Any) -> Exception | None:
    """The library's exception for one of CuPy's, an OutOfMemory as it is; None for what is neither."""
    if isinstance(error, OutOfMemory):
        return error.with_traceback(None)
    kind, text = type(error).__name__, str(error)
    failing = kind in ("CUDARuntimeError", "CUDADriverError")
    if (
        isinstance(error, MemoryError)
        or failing
        and ("cudaErrorMemoryAllocation" in text or "ERROR_OUT_OF_MEMORY" in text)
    ):
        free, total = device.memory()
        return OutOfMemory(
            f"{name}: {text}; {free} of {total} bytes are free on the device; the operands are unchanged.  "
            "Free objects, use a smaller mask, or compute on the host: gb.config.set(backend='cpu')"
        )
    if failing:
        return Panic(f"{name} failed on the device: {text}.  After an illegal address the process must be restarted")
    return None
