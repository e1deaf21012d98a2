"""`graphblas.core.dtypes`: where programs written for python-graphblas take types from; see grb_tile.dtypes."""

from ..dtypes import (
    _INDEX,
    BOOL,
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
    _registry as _registry,
    _string_to_dtype as _string_to_dtype,
    _supports_complex as _supports_complex,
    lookup_dtype,
    register_anonymous,
    register_new,
    unify,
)

__all__ = [
    "_INDEX", "BOOL", "FC32", "FC64", "FP32", "FP64", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32",
    "UINT64", "DataType", "lookup_dtype", "register_anonymous", "register_new", "unify",
]  # fmt: skip
