"""Arrays on the GPU given to a constructor: used on the device when "cuda" computes, copied to the host otherwise.

Such arrays are CuPy's and all that offer `__cuda_array_interface__`: tensors of PyTorch, Numba's device arrays.  They
are copied, on the device, as host arrays are on the host: the caller may change them afterwards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.select import current
from ..dtypes import lookup_dtype
from ..storage.place import is_of_device

if TYPE_CHECKING:
    from ..dtypes import DataType


def from_gpu(x: Any) -> Any:
    """`x` as an array of the backend in use (NumPy's under a host backend); None when `x` is not on a GPU."""
    if type(x) is np.ndarray or not (is_of_device(x) or hasattr(x, "__cuda_array_interface__")):
        return None
    return current().array(x)


def indices_on_device(array: Any, name: str) -> Any:
    """A copy as int64.  Raises: ValueError for an array that is not of integers."""
    expect_integers(array, name)
    return array.astype(np.int64)


def expect_integers(array: Any, name: str) -> None:
    """Raises: ValueError for an array whose type is not of integers, with the remedy; an empty one may be of any."""
    kind = array.dtype.kind
    if kind in "iu" or kind == "f" and not array.size:  # np.array([])
        return
    remedy = {"b": "; the positions of what is true are np.flatnonzero(array)", "f": "; write array.astype(int)"}
    raise ValueError(f"{name} must be integers, not {array.dtype.name}{remedy.get(kind, '')}")


def values_on_device(values: Any, dtype: Any, most: int | None = None) -> tuple[Any, DataType]:
    """(array of `dtype`, DataType) with the library's typecast; the array's own type when `dtype` is None.

    Raises: ValueError for more than `most` dimensions.
    """
    if most is not None and values.ndim > most:
        raise ValueError(
            f"values on the device must have at most {most} dimensions; got an array of shape {values.shape}"
        )
    own = lookup_dtype(values.dtype)
    dtype = own if dtype is None else lookup_dtype(dtype)
    if dtype is own:
        return values, dtype
    if dtype._is_udt:
        raise TypeError(f"values of type {dtype} have no device form: pass values.get()")
    return current().cast_array(values.reshape(-1), own, dtype).reshape(values.shape), dtype


def line_numbers(indptr: Any, lines: int, names: Any = None) -> Any:
    """The line (or names[line]) of each entry of compressed arrays: int64, where `indptr` is stored."""
    if type(indptr) is np.ndarray:
        return np.repeat(np.arange(lines, dtype=np.int64) if names is None else names, np.diff(indptr))
    return current().line_numbers(indptr, names)
