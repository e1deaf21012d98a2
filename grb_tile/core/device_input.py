"""Arrays on the GPU given to a constructor: taken where they lie when "cuda" computes, copied to the host when it does not.

Such arrays are CuPy's and all that offer `__cuda_array_interface__`: tensors of PyTorch, Numba's device arrays.  They
are copied, on the device, as host arrays are on the host: the caller may change them afterwards.
"""

import numpy as np

from ..backends.select import current
from ..dtypes import lookup_dtype
from ..storage.place import is_of_device


def from_gpu(x):
    """`x` as an array of the device in use, as a NumPy array when a host backend is in use; None when `x` is not on a GPU."""
    if type(x) is np.ndarray or not (is_of_device(x) or hasattr(x, "__cuda_array_interface__")):
        return None
    backend = current()
    if backend.on_device:
        return backend.device.array(x if isinstance(x, backend.device.array_class) else backend.device.xp.asarray(x))
    if not hasattr(x, "get"):
        import cupy

        x = cupy.asarray(x)
    return x.get()


def indices_on_device(array, name):
    """A copy as int64.  Raises: ValueError for an array that is not of integers."""
    if array.dtype.kind not in "iub":
        raise ValueError(f"{name} must be integers, not {array.dtype.name}")
    return array.astype(np.int64)


def values_on_device(values, dtype, most=None):
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
        raise TypeError(f"values of type {dtype} do not live on the device: pass values.get()")
    from ..backends.cuda.structure.entries import cast_array

    return cast_array(current().device, values.reshape(-1), own, dtype).reshape(values.shape), dtype


def line_numbers(indptr, lines, names=None):
    """The line (or names[line]) of each entry of compressed arrays: int64, where `indptr` lies."""
    if type(indptr) is np.ndarray:
        return np.repeat(np.arange(lines, dtype=np.int64) if names is None else names, np.diff(indptr))
    from ..backends.cuda.structure.entries import ranges

    device = current().device
    names = None if names is None else device.array(names, np.int64)
    return ranges(device, None, indptr[1:], int(indptr[-1]), names=names, want_at=False)[0]
