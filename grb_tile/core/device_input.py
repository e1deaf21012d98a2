"""Arrays given to a constructor that the device's memory is to hold, or holds.

Arrays on the GPU are used on the device when "cuda" computes, and copied to the host otherwise: CuPy's and all that
offer `__cuda_array_interface__`, tensors of PyTorch, Numba's device arrays.  They are copied, on the device, as host
arrays are on the host: the caller may change them afterwards.  Large arrays of the host are copied to the device that
computes at once (`received` of the backend), and checked and cast there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends.select import current
from ..dtypes import lookup_dtype
from ..exceptions import InvalidValue
from ..storage.place import is_of_device

if TYPE_CHECKING:
    from ..dtypes import DataType

MOST = 2**60  # positions in a dimension


def from_gpu(x: Any) -> Any:
    """`x` as an array of the backend in use (NumPy's under a host backend); None when `x` is not on a GPU."""
    if type(x) is np.ndarray or not (is_of_device(x) or hasattr(x, "__cuda_array_interface__")):
        return None
    return current().array(x)


def on_device(x: Any) -> Any:
    """from_gpu(x), and of a large array of the host its copy on the device that computes."""
    return current().received(x) if type(x) is np.ndarray else from_gpu(x)


def indices_on_device(array: Any, name: str, is_own: bool = False) -> Any:
    """As int64, a copy unless `is_own`.

    Raises: ValueError for an array that is not of integers, InvalidValue for positions beyond every dimension.
    """
    expect_indices(array, name)
    if array.dtype == np.uint64:
        expect_below_limit(array, name)
        return array.view(np.int64) if is_own and array.flags.c_contiguous else array.astype(np.int64)
    return array.astype(np.int64, copy=not is_own)


def expect_indices(array: Any, name: str) -> None:
    """Raises: ValueError for an array of other than integers, or of several dimensions."""
    expect_integers(array, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}; write array.ravel()")


def expect_below_limit(array: Any, name: str) -> None:
    """Raises: InvalidValue for unsigned positions beyond every dimension."""
    if array.size and (most := int(array.max())) > MOST:
        raise InvalidValue(f"{name} holds {most}, which is beyond every dimension (2^60)")


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


def line_numbers(indptr: Any, lines: int, names: Any = None, count: int | None = None) -> Any:
    """The line (or names[line]) of each entry of compressed arrays: int64, where `indptr` is stored."""
    if type(indptr) is np.ndarray:
        return np.repeat(np.arange(lines, dtype=np.int64) if names is None else names, np.diff(indptr))
    return current().line_numbers(indptr, names, count)
