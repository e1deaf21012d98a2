"""Compiled code into this process: a shared object by the dynamic linker, other object code by LLVM's.

The code comes as bytes whose digest was compared; on Linux it goes through a file in memory, so that what is executed
is what was compared, wherever it was stored and whether or not programs may be executed there.
"""

import ctypes
import os
import sys
import tempfile
import types

import numpy as np

from .layout import TABLE

METH_FASTCALL = 0x80


class KernelError(Exception):
    """An entry refused its arguments, or the compiled function raised: NumPy does the work without this kernel."""


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    ]


_kept = []  # method definitions, libraries and engines live as long as the process, as the functions made of them may
_table = None


def _addresses():
    """The table that entries read (layout.py), an array of addresses."""
    global _table
    if _table is None:
        objects = {"ndarray": np.ndarray, "KernelError": KernelError}
        found = [
            id(objects[name])
            if name in objects
            else ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
            for name in TABLE
        ]
        _table = np.array(found, np.uint64)
    return _table


def _callable(name, address):
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.c_void_p)
    definition = _MethodDef(name.encode(), address, METH_FASTCALL, None)
    _kept.append(definition)
    return make(ctypes.byref(definition), _addresses(), None)


def load(code, names):
    """A namespace with the functions `names` of compiled code.  Raises: OSError when the code cannot be loaded."""
    find = _shared(code) if code[:4] == b"\x7fELF" and code[16:18] == b"\x03\x00" else _object(code)
    return types.SimpleNamespace(**{name: _callable(name, find(f"grb_{name}")) for name in names})


def _shared(code):
    """Addresses of the symbols of a shared object."""
    if hasattr(os, "memfd_create"):
        file = os.memfd_create("grb_tile")
        # the dynamic linker takes a path that it has seen for the library that it has: each load has its own spelling
        spelling = "".join("/." if len(_kept) >> bit & 1 else "//" for bit in range(24))
        path = f"/proc/self/fd{spelling}/{file}"
    else:
        file, path = tempfile.mkstemp(prefix="grb_tile-", suffix=".so")
    try:
        view = memoryview(code)
        while view:
            view = view[os.write(file, view) :]
        library = ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
    finally:
        os.close(file)
        if not path.startswith("/proc/"):
            os.unlink(path)
    _kept.append(library)
    return lambda symbol: ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value


def _object(code):
    """Addresses of the symbols of relocatable object code."""
    import llvmlite.binding as llvm

    try:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    except RuntimeError:  # LLVM before 20: `initialize` comes first
        llvm.initialize()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _kept.append(engine)

    def find(symbol):
        address = engine.get_function_address(symbol)
        if not address:
            raise OSError(f"compiled code lacks the symbol {symbol}")
        return address

    return find


def links_here():
    """Is code stored as a shared object on this system?  Else it is stored as object code and LLVM loads it."""
    import platform

    return sys.platform == "linux" and platform.machine() == "x86_64"
