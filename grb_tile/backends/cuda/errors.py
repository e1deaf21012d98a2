"""What goes wrong on the device becomes an exception that names the call.

A kernel cannot raise.  It writes (code, three details) into the error word, the first writer wins (kernels/errors.cuh),
and the next synchronisation, Device.read, raises.  Illegal addresses kill the CUDA context for good, so kernels check
bounds and capacities themselves and report.
"""
import functools

import numpy as np

from ...exceptions import IndexOutOfBound, InsufficientSpace, InvalidValue, OutOfMemory, Panic

CODES = {1: InvalidValue, 2: IndexOutOfBound, 3: InsufficientSpace, 4: Panic}


class HostOnly(Exception):
    """A store of a user-defined type, which has no device form: the primitive is computed on the host."""


class ErrorWord:
    """The device's error word: pass `arm(call)` to a kernel that may report."""

    SIZE = 4

    def __init__(self, device):
        self._device = device
        self._calls = []
        self.word = None
        self.armed = False

    def arm(self, call):
        """The word, as the kernel's argument (uint64[4]); `call` is what the exception will name."""
        if self.word is None:
            self.word = self._device.zeros(self.SIZE, np.uint64)
        self._calls.append(call)
        self.armed = True
        return self.word

    def check(self, report):
        """Raises: the exception of code report[0], when there is one; disarms."""
        calls, self._calls, self.armed = self._calls, [], False
        code, *details = report
        if code:
            self.word[:] = 0
            names = ", ".join(dict.fromkeys(calls))
            raise CODES.get(code, Panic)(f"{names}: a kernel reported error {code}, details {details}")


def reporting(primitive):
    """Wrap a method of the backend: CuPy's errors leave it as the library's exceptions, naming the primitive.

    Only the failing path pays: the wrapper costs one call.
    """
    name = primitive.__name__

    @functools.wraps(primitive)
    def call(backend, *args, **kwargs):
        try:
            return primitive(backend, *args, **kwargs)
        except HostOnly:
            return backend.through_host(name, args, kwargs)
        except Exception as error:
            raised = translated(error, name, backend.device)
            if raised is None:
                raise
            raise raised from error

    return call


def translated(error, name, device):
    """The library's exception for one of CuPy's; None when it is not CuPy's."""
    kind = type(error).__name__
    if kind == "OutOfMemoryError" or isinstance(error, MemoryError):
        free, total = device.memory()
        return OutOfMemory(
            f"{name}: {error}; {free} of {total} bytes are free on the device; the operands are unchanged.  Free objects, "
            "use a smaller mask, or compute on the host: gb.config.set(backend='cpu')"
        )
    if kind in ("CUDARuntimeError", "CUDADriverError"):
        return Panic(f"{name} failed on the device: {error}.  After an illegal address the process must be restarted")
    return None
