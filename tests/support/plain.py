"""Plain: an object of either library as arrays, and back.  The only road between the two libraries."""

import dataclasses

import numpy as np

from support.library import dtype_of

NUMPY_TYPES = {
    "BOOL": np.bool_,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "FP32": np.float32,
    "FP64": np.float64,
    "FC32": np.complex64,
    "FC64": np.complex128,
}


@dataclasses.dataclass(frozen=True, eq=False)
class Plain:
    """shape () is a scalar, (n,) a vector, (m, n) a matrix; `indices` has an array per dimension.

    values: one per entry; a scalar has one or none.  `iso`: build it from a single value.
    """

    shape: tuple
    dtype: str
    indices: tuple
    values: np.ndarray
    iso: bool = False

    def build(self, library):
        dtype = dtype_of(library, self.dtype)
        if not self.shape:
            if len(self.values) == 0:
                return library.Scalar(dtype)
            return library.Scalar.from_value(self.values[0].item(), dtype)
        values = self.values[0] if self.iso and len(self.values) else self.values
        if len(self.shape) == 1:
            return library.Vector.from_coo(self.indices[0], values, dtype, size=self.shape[0])
        return library.Matrix.from_coo(*self.indices, values, dtype, nrows=self.shape[0], ncols=self.shape[1])

    @property
    def nvals(self):
        return len(self.values)

    def __repr__(self):
        """Text that makes the object again, with numpy's array and dtypes in scope: failing tests print it."""
        indices = ", ".join(f"np.array({index.tolist()}, np.int64)" for index in self.indices)
        comma = "," if len(self.indices) == 1 else ""
        values = f"np.array({self.values.tolist()}, np.{self.values.dtype})"
        return f"Plain({self.shape}, {self.dtype!r}, ({indices}{comma}), {values}{', iso=True' if self.iso else ''})"


def is_object(value):
    """Is it a Matrix, Vector or Scalar (of whichever library)?"""
    return type(value).__name__ in ("Matrix", "Vector", "Scalar")


def plain(value):
    """Plain of an object; NumPy arrays and Python values come back as they are."""
    if not is_object(value):
        return value
    name = value.dtype.name
    kind = NUMPY_TYPES[name]
    if value.ndim == 0:
        found = [] if value.value is None else [value.value]
        values = np.array(found, kind)
        if not same_values(values, found):
            raise AssertionError(f"value of a {name} Scalar is {found[0]!r}, which {name} does not hold")
        return Plain((), name, (), values)
    *indices, values = value.to_coo()
    values = np.asarray(values)
    if values.dtype != kind:
        raise AssertionError(f"to_coo of a {name} object returned values of dtype {values.dtype}")
    indices = tuple(np.asarray(i).astype(np.int64) for i in indices)
    if len(indices) == 2:  # by rows: the oracle lists what it keeps by columns in that order
        order = np.lexsort(indices[::-1])
        if not np.array_equal(order, np.arange(len(order))):
            indices, values = tuple(i[order] for i in indices), values[order]
    return Plain(tuple(value.shape), name, indices, values)


def same_values(x, y, tolerance=0.0):
    """Equal as values: NaN equals NaN, -0.0 equals 0.0; with a tolerance, relatively so."""
    x, y = np.asarray(x), np.asarray(y)
    if x.shape != y.shape:
        return False
    if x.dtype.kind not in "fc" and y.dtype.kind not in "fc":
        return bool(np.array_equal(x, y))
    with np.errstate(all="ignore"):
        if x.dtype.kind == "c" or y.dtype.kind == "c":
            return same_values(x.real, y.real, tolerance) and same_values(x.imag, y.imag, tolerance)
        equal = (x == y) | (np.isnan(x) & np.isnan(y))
        if tolerance:
            equal |= np.abs(x - y) <= tolerance * np.maximum(np.abs(x), np.abs(y))
    return bool(equal.all())


def difference(expected, actual, tolerance=0.0):
    """None when equal, else a sentence: type, shape, structure, dtype, then values."""
    if isinstance(expected, Plain) != isinstance(actual, Plain):
        return f"expected {expected!r}, got {actual!r}"
    if isinstance(expected, (list, tuple)):
        if type(actual) is not type(expected) or len(actual) != len(expected):
            return f"expected {type(expected).__name__} of {len(expected)}, got {actual!r}"
        found = (difference(e, a, tolerance) for e, a in zip(expected, actual, strict=True))
        return next((f"item {k}: {text}" for k, text in enumerate(found) if text), None)
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or list(expected) != list(actual):
            return f"expected keys {list(expected)}, got {actual!r}"
        return difference(list(expected.values()), list(actual.values()), tolerance)
    if not isinstance(expected, Plain):
        if isinstance(expected, np.ndarray):
            if not isinstance(actual, np.ndarray) or expected.dtype != actual.dtype:
                return f"expected array of {expected.dtype}, got {type(actual).__name__} {getattr(actual, 'dtype', '')}"
            return None if same_values(expected, actual, tolerance) else f"expected {expected}, got {actual}"
        if (
            isinstance(expected, (int, float, complex, bool, np.generic))
            and not isinstance(actual, str)
            and actual is not None
        ):
            ok = isinstance(expected, (bool, np.bool_)) == isinstance(actual, (bool, np.bool_))
            return None if ok and same_values(expected, actual, tolerance) else f"expected {expected!r}, got {actual!r}"
        return None if expected == actual else f"expected {expected!r}, got {actual!r}"
    for what in ("shape", "dtype"):
        if getattr(expected, what) != getattr(actual, what):
            return f"{what}: expected {getattr(expected, what)}, got {getattr(actual, what)}"
    same_structure = len(expected.values) == len(actual.values) and all(
        np.array_equal(e, a) for e, a in zip(expected.indices, actual.indices, strict=True)
    )
    if not same_structure or not same_values(expected.values, actual.values, tolerance):
        what = "values" if same_structure else "structure"
        return f"{what} differ:\n    expected {expected!r}\n    got      {actual!r}"
    return None


def dense(x, fill):
    """NumPy's array of a Plain, `fill` where it has no entry."""
    made = np.full(x.shape, fill, x.values.dtype)
    made[x.indices] = x.values
    return made
