"""NumPy's memory between guard zones (guards.h): `install(engine)` once, `guard(True)` and `check()` around each test.

All arrays that NumPy makes in that thread in between are guarded, those of the host too: the emulation's device arrays
are results of NumPy's functions.  NumPy takes its memory from a "handler", a C struct (NEP 49).  Tests that call
python-graphblas must not be guarded: SuiteSparse frees arrays of NumPy that it was given as memory of malloc.
"""

import ctypes
import importlib


class OutsideAnArray(RuntimeError):
    """Something wrote outside an array, or to one that was freed."""


class _Handler(ctypes.Structure):  # PyDataMem_Handler of numpy/ndarraytypes.h
    _fields_ = [
        ("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p),
        ("malloc", ctypes.c_void_p), ("calloc", ctypes.c_void_p), ("realloc", ctypes.c_void_p),
        ("free", ctypes.c_void_p),
    ]  # fmt: skip


_SET_HANDLER = 304  # of numpy's table of functions: PyDataMem_SetHandler
_kept = []  # the engine, the handler and its capsule: arrays refer to them until the process ends
_handlers = []  # the function that sets one; NumPy's own, and ours
_wanted = False


def install(path, seed):
    """Load engine.so at `path`; guard what NumPy allocates.  seed: of the arrays that end at an unmapped page."""
    if _kept:
        return
    engine = ctypes.CDLL(str(path))
    engine.simt_start_of.restype = ctypes.c_uint64
    engine.simt_seed(ctypes.c_uint64(seed))
    names = "simt_allocate", "simt_zeros", "simt_resize", "simt_free"
    handler = _Handler(b"guarded", 1, None, *(ctypes.cast(getattr(engine, name), ctypes.c_void_p) for name in names))
    python = ctypes.pythonapi
    python.PyCapsule_New.restype = ctypes.py_object
    python.PyCapsule_GetPointer.restype = ctypes.POINTER(ctypes.c_void_p)
    python.PyCapsule_GetPointer.argtypes = ctypes.py_object, ctypes.c_char_p
    name = b"mem_handler"
    capsule = python.PyCapsule_New(ctypes.byref(handler), name, None)
    try:
        umath = importlib.import_module("numpy._core._multiarray_umath")
    except ImportError:  # NumPy 1
        umath = importlib.import_module("numpy.core._multiarray_umath")
    table = python.PyCapsule_GetPointer(umath._ARRAY_API, None)
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[_SET_HANDLER])
    _kept.extend((engine, handler, name, capsule))
    _handlers.extend((set_handler, set_handler(capsule), capsule))
    guard(_wanted)


def guard(wanted):
    """Guard what NumPy allocates from now on, or no more; before `install` it is remembered."""
    global _wanted
    _wanted = wanted
    if _handlers:
        set_handler, plain, guarded = _handlers
        set_handler(guarded if wanted else plain)


def check():
    """Raises: OutsideAnArray if something wrote outside any array since the last call, or to one that was freed."""
    message = ctypes.create_string_buffer(256)
    if _kept and _kept[0].simt_check_all(message, ctypes.c_size_t(256)):
        raise OutsideAnArray(message.value.decode())


def is_inside(address, count):
    """May `count` bytes be copied from or to the address?"""
    return not _kept or bool(_kept[0].simt_is_inside(ctypes.c_uint64(address), ctypes.c_size_t(count)))


def start_of(address):
    """Where the array begins that the address lies in, 0 for none."""
    return _kept[0].simt_start_of(ctypes.c_uint64(address)) if _kept else 0
