"""Indices: what may stand between the brackets of v[...] and A[..., ...].

    int, NumPy int, integer Scalar   one position (negative: from the end)
    slice, range                     any step; never listed
    list, integer array              positions in any order, repeats allowed; of NumPy, or on the GPU
    ...                              everything, on the left of an assignment only

Vectors, matrices and masks are refused with a hint to use a mask; so are tuples and Boolean arrays.
"""

import numpy as np

from ..backends.select import current
from ..exceptions import IndexOutOfBound
from ..storage.turn_array import TurnArray
from . import kinds
from .arguments import any_bool, array_of, output_type
from .device_input import from_gpu
from .mask import Mask
from .number import Number


class AxisIndex:
    """One resolved index.

    size     the number of positions, None for a single one
    index    int, range, int64 array (on the host or on a device), or None for all of the dimension
    dimsize  the dimension
    source   the slice it came from, for texts
    """

    __slots__ = ("size", "index", "dimsize", "source")

    def __init__(self, size, index, dimsize, source=None):
        self.size = size
        self.index = index
        self.dimsize = dimsize
        self.source = source

    @property
    def _expr_name(self):
        if self.size is None:
            return str(self.index)
        if self.index is None:
            return ":"
        if type(self.index) is TurnArray:
            return "[...]"
        if self.source is not None:
            return _slice_text(self.source, self.dimsize)
        if self.size < 6:
            return f"[{', '.join(_texts(self.index))}]"
        return f"[{', '.join(_texts(self.index[:3]))}, ...]"

    name = _expr_name


def _texts(index):
    return map(str, index if type(index) is range else index.tolist())


def _slice_text(index, size):
    start, stop, step = index.indices(size)
    if step > 0:
        first, last = ("" if start == 0 else start), ("" if stop >= size else stop)
    else:
        first, last = ("" if start == size - 1 else start), ("" if stop < 0 else stop)
    return f"{first}:{last}" + ("" if step == 1 else f":{step}")


class Resolved:
    """The indices of one bracket, checked against the shape of `obj`.

    indices  AxisIndex per dimension
    shape    shape of what they pick: () for a single element
    """

    __slots__ = ("obj", "indices", "shape")

    def __init__(self, obj, keys):
        self.obj = obj
        dimensions = obj.shape
        if keys is Ellipsis:
            self.indices = [AxisIndex(n, None, n) for n in dimensions]
        elif len(dimensions) == 1:
            if type(keys) is tuple:
                raise TypeError(f"Index for {type(obj).__name__} cannot be a tuple")
            self.indices = [resolve_axis(keys, dimensions[0], 0)]
        else:
            if type(keys) is not tuple or len(keys) != 2:
                raise TypeError(f"Index for {type(obj).__name__} must be a 2-tuple")
            self.indices = [resolve_axis(keys[0], dimensions[0], 0), resolve_axis(keys[1], dimensions[1], 1)]
        self.shape = tuple([axis.size for axis in self.indices if axis.size is not None])

    @property
    def py_indices(self):
        """The indices as Python has them: ints, arrays, slices."""
        parts = tuple(slice(None) if axis.index is None else axis.source or axis.index for axis in self.indices)
        return parts if len(parts) > 1 else parts[0]

    @property
    def key(self):
        """The int of a vector's element, the (int, int) of a matrix's."""
        indices = self.indices
        return indices[0].index if len(indices) == 1 else (indices[0].index, indices[1].index)


def position(index, size):
    """A single position in 0 .. size - 1; negative ones count from the end."""
    if index >= size or index < -size:
        raise IndexError(f"Index out of range: index={index}, size={size}")
    return index + size if index < 0 else index


def resolve_axis(index, size, place):
    """The AxisIndex of one index into a dimension of `size`."""
    kind = type(index)
    if kind is int:
        return AxisIndex(None, position(index, size), size)
    if kind is slice:
        if index.start is None and index.stop is None and index.step is None:
            return AxisIndex(size, None, size)
        start, stop, step = index.indices(size)
        count = len(range(start, stop, step))
        if count == size and step == 1:
            return AxisIndex(size, None, size)
        return AxisIndex(count, range(start, stop, step), size, index)
    if kind is list:
        array = array_of(index)
        if array.ndim == 1 and array.dtype.kind in "iu" and any_bool(index, array):
            raise TypeError("Invalid dtype for index: bool beside integers")
        return _resolve_array(array, size)
    if kind is np.ndarray:
        return _resolve_array(index, size)
    if kind is TurnArray:
        return _resolve_turn_array(index, size)
    if kind is Number:
        if index.dtype.np_type.kind not in "iu":
            raise TypeError(f"An integer is required for indexing.  Got: {index.dtype}")
        return AxisIndex(None, TurnArray(index.vector._store), size)
    if isinstance(index, (np.integer, int)) and kind is not bool:
        return AxisIndex(None, position(int(index), size), size)
    return _resolve_other(index, size, place)


def _resolve_array(array, size):
    if array.ndim != 1:
        raise TypeError(f"Invalid number of dimensions for index: {array.ndim}")
    if array.dtype.kind not in "iu":
        if array.size == 0 and array.dtype.kind == "f":  # np.array([])
            return AxisIndex(0, np.empty(0, np.int64), size)
        hint = "; for a Boolean array use a mask, e.g. `x.dup(mask=m.V)`" if array.dtype.kind == "b" else ""
        raise TypeError(f"Invalid dtype for index: {array.dtype}{hint}")
    return AxisIndex(array.shape[0], current().positions_in(array, size), size)


def _resolve_turn_array(array, size):
    if array.dtype.kind not in "iu":
        raise TypeError(f"Invalid dtype for index: {array.dtype}")
    return AxisIndex(-1 if array.has_gaps else len(array), array, size)  # -1: the device knows


def _resolve_range(index, size):
    """Positions start, start + step, ..., negative ones from the end, as a list has them."""
    if index and min(index[0], index[-1]) < 0 <= max(index[0], index[-1]):
        return _resolve_array(np.arange(index.start, index.stop, index.step, dtype=np.int64), size)
    if index:
        low, high = sorted((index[0], index[-1]))
        if high >= size or low < -size:
            raise IndexOutOfBound(f"Index out of range: index={high if high >= size else low}, size={size}")
        if low < 0:
            index = range(index.start + size, index.stop + size, index.step)
    return AxisIndex(len(index), index, size)


def _resolve_other(index, size, place):
    kind = output_type(index)
    name = kind.__name__
    if kind is tuple:
        raise TypeError(f"Index in position {place} cannot be a tuple; must use slice or list or int")
    if kind is kinds.Scalar:
        if index.dtype.np_type.kind not in "iu":
            raise TypeError(f"An integer is required for indexing.  Got: {index.dtype}")
        if index.is_empty:
            raise TypeError("An integer is required for indexing.  Got: an empty Scalar")
        return AxisIndex(None, position(int(index), size), size)
    if kind is bool or isinstance(index, np.bool_):
        raise TypeError(f"Invalid type for index: {kind.__name__}; must be an integer, slice, list or array")
    if kind in (kinds.Vector, kinds.Matrix):
        own = index.name if type(index) is kind else "mask"
        raise TypeError(
            f"Invalid type for index: {name}.\n"
            f"If you want to apply a mask, perhaps do something like `x.dup(mask={own}.S)`.\n"
            f"If you want to assign with a mask, perhaps do something like `x(mask={own}.S) << value`."
        )
    if kind is kinds.TransposedMatrix:
        raise TypeError(f"Invalid type for index: {name}.")
    if isinstance(index, Mask):
        raise TypeError(
            f"Invalid type for index: {name}.\n"
            f"If you want to apply a mask, perhaps do something like `x.dup(mask={index.name})`.\n"
            f"If you want to assign with a mask, perhaps do something like `x(mask={index.name}) << value`."
        )
    if isinstance(index, range):
        return _resolve_range(index, size)
    array = from_gpu(index)
    if array is not None:
        return _resolve_array(array, size)
    remedy = "; unable to convert to list"
    if isinstance(index, str):
        remedy += ": indices are numbers, G.vertex(label) of a Graph G gives that of a label"
    elif isinstance(index, float):
        remedy += f": indices are integers, such as {int(index) if index == index and abs(index) < 2**60 else 0}"
    if index is Ellipsis or isinstance(index, str):
        raise TypeError(f"Invalid type for index: {kind}{remedy}")
    try:
        index = list(index)
    except Exception:
        raise TypeError(f"Invalid type for index: {kind}{remedy}") from None
    return _resolve_array(np.array(index), size)
