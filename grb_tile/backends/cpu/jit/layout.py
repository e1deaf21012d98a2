"""The layout of Python's objects for compiled entries (jit/compile.py): offsets in bytes, and the table of addresses.

The layout of PyArrayObject and of the first fields of PyArray_Descr is part of NumPy's ABI since 1.7 and is the same in
2.x.  HEADER is the size of a PyObject, which differs in builds of Python without the GIL; it is in the cache's key.
"""

HEADER = object.__basicsize__

TYPE = HEADER - 8  # PyObject: its class
DATA, NDIM, SHAPE, DESCR, FLAGS = (HEADER + offset for offset in (0, 8, 16, 40, 48))  # PyArrayObject
KIND_CHAR, BYTE_ORDER = HEADER + 9, HEADER + 10  # PyArray_Descr: `type`, `byteorder`
CONTIGUOUS = 0x0101  # flags: C-contiguous and aligned

# The addresses that an entry finds in its table, in this order
TABLE = (
    "ndarray", "KernelError", "PyErr_SetString", "PyErr_Occurred", "PyType_IsSubtype",
    "PyLong_AsUnsignedLongLongMask", "PyLong_FromLongLong", "PyFloat_AsDouble", "PyEval_SaveThread",
    "PyEval_RestoreThread",
)  # fmt: skip
