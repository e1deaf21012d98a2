"""Bytes that a call copies between host and device on the CPU emulation, beyond its arguments and its results.

    beyond = measured("calls", lambda: v[[3, 1]].new())      # Beyond(to_device=0, to_host=0)

What a caller outside the library hands to it as host arrays, lists and numbers may go to the device, and what the
library returns to that caller as arrays and numbers may come from there.  Both are read from the frames of Python where
a call crosses from the caller's modules into grb_tile, each call once for its arguments and once for its result.
"""

import sys
from typing import NamedTuple

import numpy as np

from cuda_emulation.arrays import Traffic


class Beyond(NamedTuple):
    """Bytes in each direction, less those of the arguments and of the results."""

    to_device: int
    to_host: int


def host_bytes(x, depth=0):
    """Bytes of the host arrays and numbers in x, containers included; objects of the library have none."""
    if isinstance(x, (np.ndarray, np.generic)) and type(x).__module__ == "numpy":
        return x.nbytes
    if isinstance(x, (bool, int, float, complex)):
        return 8
    if isinstance(x, (bytes, bytearray, memoryview)):
        return len(x)
    if depth < 4 and isinstance(x, dict):
        return sum(host_bytes(part, depth + 1) for pair in x.items() for part in pair)
    if depth < 4 and isinstance(x, (list, tuple)):
        return sum(host_bytes(part, depth + 1) for part in x)
    return 0


def _arguments(frame):
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return [frame.f_locals.get(name) for name in code.co_varnames[:count]]


def _module(frame):
    return frame.f_globals.get("__name__", "") if frame is not None else ""


def _caller(frame):
    """The module that called; numpy.asarray, which the emulation has wrapped, is no caller."""
    frame = frame.f_back
    while _module(frame).startswith("cuda_emulation"):
        frame = frame.f_back
    return _module(frame)


def measured(caller, call):
    """Beyond of `call()`, whose calls of the library come from modules of the package `caller`."""
    given = results = 0

    def crossing(frame, event, result):
        nonlocal given, results
        if event not in ("call", "return") or not _module(frame).startswith("grb_tile"):
            return
        if _caller(frame).partition(".")[0] != caller:
            return
        if event == "call":
            given += host_bytes(_arguments(frame))
        else:
            results += host_bytes(result)

    to_device, to_host = Traffic.to_device, Traffic.to_host
    before = sys.getprofile()
    sys.setprofile(crossing)
    try:
        call()
    finally:
        sys.setprofile(before)
    return Beyond(Traffic.to_device - to_device - given, Traffic.to_host - to_host - results)
