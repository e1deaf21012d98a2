"""The scalar types of GraphBLAS: lookup, unification and typecasts.

`BOOL`, `INT8` ... `UINT64`, `FP32`, `FP64` are those of the specification (GraphBLAS C API 2.1, section 3.3 and table
3.2); `FC32` and `FC64` are SuiteSparse's complex types.  Each type is one object: compare with `is`, or with any key
of `lookup_dtype`.

>>> from grb_tile import dtypes
>>> dtypes.lookup_dtype(int) is dtypes.INT64
True
>>> dtypes.unify(dtypes.INT8, dtypes.UINT16)
INT32
"""

from ..spelling import no_attribute
from . import types
from .casting import cast, cast_scalar
from .types import (
    _INDEX,
    BOOL,
    BUILTIN,
    FC32,
    FC64,
    FP32,
    FP64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    DataType,
    _default_name as _default_name,
    _dtype_to_string as _dtype_to_string,
    _string_to_dtype as _string_to_dtype,
    lookup_dtype,
    register_anonymous,
    register_new,
    unify,
)


def __getattr__(name):
    if name == "ss":
        from importlib import import_module

        return import_module(".ss", __name__)
    raise no_attribute(f"module {__name__!r}", name, __dir__())


def __dir__():
    return sorted({*globals(), "ss"})


_registry = types._REGISTRY
_supports_complex = True
_index_dtypes = {BOOL, INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64}

__all__ = [
    "BOOL",
    "BUILTIN",
    "FC32",
    "FC64",
    "FP32",
    "FP64",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "_INDEX",
    "DataType",
    "cast",
    "cast_scalar",
    "lookup_dtype",
    "register_anonymous",
    "register_new",
    "unify",
]  # fmt: skip
