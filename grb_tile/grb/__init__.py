"""The GraphBLAS C API in Python: one function for each GrB_ operation and method, arguments in the order of C.

    from grb_tile import grb
    grb.mxv(w, mask, accum, grb.MIN_PLUS_SEMIRING_FP64, A, u, grb.DESC_RSC)

C code is ported line by line: `GrB_mxv(...)` becomes `grb.mxv(...)` (or `grb.GrB_mxv`), predefined objects have no
prefix (`grb.PLUS_INT64`, `grb.LOR_LAND_SEMIRING_BOOL`, `grb.FP64`, `grb.DESC_T0`), `GrB_NULL` is None and `GrB_ALL` is
`grb.ALL`.  Where C returns a GrB_Info other than GrB_SUCCESS, the exception of that value is raised
(`grb_tile.exceptions`, attribute `info`).  Output objects are the first arguments, as in C; numbers that C returns
through a pointer are return values.

Spec: GraphBLAS C API 2.1, chapters 3 and 4; GxB_ functions: SuiteSparse:GraphBLAS 9.4 user guide.
"""

from .descriptor import (
    COMP,
    COMP_STRUCTURE,
    DEFAULT,
    INP0,
    INP1,
    MASK,
    OUTP,
    REPLACE,
    STRUCTURE,
    TRAN,
    Descriptor,
    Descriptor_new,
    Descriptor_set,
    predefined_descriptor,
)
from .fields import *  # noqa: F403
from .fields import __all__ as _fields
from .methods import *  # noqa: F403
from .methods import __all__ as _methods
from .named import predefined_object
from .operations import *  # noqa: F403
from .operations import __all__ as _operations

NULL = None
SUCCESS = 0
NO_VALUE = 1
INDEX_MAX = 2**60 - 1
COMPLETE, MATERIALIZE = 0, 1

__all__ = [
    "COMP",
    "COMPLETE",
    "COMP_STRUCTURE",
    "DEFAULT",
    "Descriptor",
    "Descriptor_new",
    "Descriptor_set",
    "INDEX_MAX",
    "INP0",
    "INP1",
    "MASK",
    "MATERIALIZE",
    "NO_VALUE",
    "NULL",
    "OUTP",
    "REPLACE",
    "STRUCTURE",
    "SUCCESS",
    "TRAN",
    *_fields,
    *_methods,
    *_operations,
]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    plain = name[4:] if name.startswith(("GrB_", "GxB_")) else name
    if plain != name and plain in globals():
        return globals()[plain]
    if plain.startswith("DESC_"):
        value = predefined_descriptor(plain[5:])
    else:
        value = predefined_object(plain)
    if value is None:
        raise AttributeError(
            f"module 'grb_tile.grb' has no attribute {name!r}: neither a function of the C API nor the name of a "
            "predefined type, operator (PLUS_INT64), monoid (PLUS_MONOID_INT64), semiring (PLUS_TIMES_SEMIRING_INT64) "
            "or descriptor (DESC_RSC)"
        )
    globals()[plain] = value
    return value
