"""Methods composed of operations: power, reposition, setdiag."""

import numpy as np

from .. import operations as ops
from ..backends.select import current
from ..exceptions import DimensionMismatch
from ..operators import get_typed_op
from . import kinds
from .arguments import check_options, expect_op, expect_type, integral, literal, output_type, values_array
from .expression import MatrixExpression, VectorExpression
from .mask import check_mask


class Recipe(ops.Record):
    """A record whose store is what a function returns."""

    __slots__ = ("name", "function")
    c_name = "recipe"

    def __init__(self, name, shape, dtype, function, op=None):
        self.name, self.shape, self.dtype, self.function, self.op = name, shape, dtype, function, op

    def compute(self, mask=None):
        store = self.function()
        store.shared = True  # the function may have handed out an operand's own store
        return store if mask is None else current().restrict(store, mask)

    def notation(self, out="C", mask="NULL", accum="NULL", flags=""):
        return f"/* {out} = {self.name}(...) */"


class PowerRecipe(Recipe):
    """A^n; factors: (matrix, is it transposed, n).  used: has a chain begun with this record?"""

    __slots__ = ("factors", "used")

    def __init__(self, A, n, op, function):
        super().__init__("power", A.shape, A.dtype, function, op)
        self.factors = (A._matrix, True, n) if A._is_transposed else (A, False, n)
        self.used = False


def power(A, n, op):
    """A (+.x) A (+.x) ... n times, by repeated squaring: about 2 log2(n) products."""
    if A.nrows != A.ncols:
        raise DimensionMismatch(f"power only works for square Matrix; shape is {A.shape}")
    count = integral(n)
    if count is None:
        raise TypeError(f"n must be a nonnegative integer; got bad type: {type(n)}")
    if count < 0:
        raise ValueError(f"n must be a nonnegative integer; got: {count}")
    try:
        op = get_typed_op(op, A.dtype, kind="semiring")
    except KeyError:  # the monoid has no such type, as plus has no BOOL; pair looks at no value and counts in INT64
        op = get_typed_op(op, A.dtype, A.dtype, kind="semiring")
    expect_op(A, op, "Semiring", within="power", argname="op")
    if count == 0 and op.binaryop.monoid is None:
        raise ValueError(
            f"Binary operator of {op} semiring does not have a monoid with an identity. "
            "When n=0, the result is a diagonal matrix with values equal to the "
            "identity of the binaryop, so the binaryop must be associated with a monoid."
        )

    def compute():
        return _power(A, count, op)._store

    return MatrixExpression(PowerRecipe(A, count, op, compute), ("{0.name}.power({1}, op={2})", A, count, op))


def _power(A, n, op):
    if n == 0:
        return kinds.Vector.from_scalar(op.binaryop.monoid.identity, A.nrows, A.dtype).diag()
    square = A.new() if A._is_transposed else A
    result = None
    while True:
        if n & 1:
            result = square if result is None else result.mxm(square, op).new()
        n >>= 1
        if not n:
            return result
        square = square.mxm(square, op).new()


class RepositionRecipe(Recipe):
    """x moved by offsets; written into an object that exists, it assigns the region where x comes to lie.

    C<M> << x.reposition(...) is C<M>[region] << x[cut]: entries of C outside the region stay, as in python-graphblas.
    """

    __slots__ = ("cut", "region", "x")

    def __init__(self, x, shape, offsets, function):
        super().__init__("reposition", shape, x.dtype, function)
        self.x, cut, region = x, [], []
        for own, size, offset in zip(x.shape, shape, offsets, strict=True):
            first, stop = max(0, -offset), min(own, size - offset)
            stop = max(first, stop)
            cut.append(slice(first, stop))
            region.append(slice(first + offset, stop + offset) if stop > first else slice(0, 0))
        self.cut, self.region = (tuple(keys) if len(keys) > 1 else keys[0] for keys in (cut, region))

    def part(self):
        """The part of x that is moved to the region, as an object."""
        return self.x[self.cut].new()


def reposition_vector(v, offset, size):
    """t(i + offset) = v(i) where that is within the new size."""
    size = v._size if size is None else int(size)
    offset = int(offset)
    record = RepositionRecipe(v, (size,), (offset,), lambda: ops.shift_vector(v._store, offset, size))
    return VectorExpression(record, ("{0.name}.reposition({1})", v, offset))


def reposition_matrix(A, row_offset, column_offset, nrows, ncols):
    """T(i + row_offset, j + column_offset) = A(i, j) where that is within the new shape."""
    nrows = A._nrows if nrows is None else int(nrows)
    ncols = A._ncols if ncols is None else int(ncols)
    row_offset, column_offset = int(row_offset), int(column_offset)

    def compute():
        store = current().transpose(A._matrix._store) if A._is_transposed else A._store
        return ops.shift_matrix(store, row_offset, column_offset, nrows, ncols)

    return MatrixExpression(
        RepositionRecipe(A, (nrows, ncols), (row_offset, column_offset), compute),
        ("{0.name}.reposition({1}, {2})", A, row_offset, column_offset),
    )


def _diagonal_size(A, k):
    nrows, ncols = A.shape
    size = min(nrows + k, ncols) if k < 0 else min(ncols - k, nrows)
    if size <= 0 and (k <= -nrows if k < 0 else k > 0 and k >= ncols):
        raise IndexError(
            f"k={k} is too {'small' if k < 0 else 'large'}; the k'th diagonal is out of range. "
            f"Valid k for Matrix with shape {nrows}x{ncols}: "
            f"{-nrows} {'<' if nrows else '<='} k {'<' if ncols else '<='} {ncols}"
        )
    return size


def setdiag(A, values, k, mask, accum, opts):
    """A(i, i + k) = values(i); see Matrix.setdiag."""
    if opts:
        check_options(opts)
    if (whole := integral(k)) is None:
        raise TypeError(f"k must be an integer; got bad type: {type(k)}")
    k = whole
    size = _diagonal_size(A, k)
    v = _diagonal_values(A, values, size)
    if v._size != size:
        raise DimensionMismatch(
            f"Dimensions not compatible for assigning length {v._size} Vector "
            f"to {k}'th diagonal of Matrix with shape {A.nrows}x{A.ncols}."
            f"The Vector should be size {size}."
        )
    diagonal = _placed(v, k, A.shape)
    if mask is None:
        if accum is None and v.nvals != size:
            allowed = _placed(kinds.Vector.from_scalar(True, size), k, A.shape).S
        else:
            allowed = diagonal.S
    else:
        mask = check_mask(mask)
        if mask.parent.ndim == 2:
            if mask.parent.shape != A.shape:
                raise DimensionMismatch(
                    f"Matrix mask in setdiag is the wrong shape; expected shape {A.nrows}x{A.ncols}, "
                    f"got {mask.parent.nrows}x{mask.parent.ncols}"
                )
            line = type(mask)(mask.parent.diag(k))
        elif mask.parent._size != size:
            raise DimensionMismatch(
                f"Vector mask in setdiag is the wrong length; expected size {size}, got size {mask.parent._size}."
            )
        else:
            line = mask
        allowed = _placed(line.new(), k, A.shape).S
    A(mask=allowed, accum=accum) << diagonal


def _diagonal_values(A, values, size):
    """`values` as a Vector: of the diagonal's size when it is a scalar."""
    kind = output_type(values)
    if kind is kinds.Vector:
        return expect_type(A, values, kinds.Vector, within="setdiag", argname="values")
    if kind is kinds.Scalar:
        return kinds.Vector.from_scalar(values, size)
    dtype = A.dtype if A.dtype._is_udt else None
    try:
        literal(values, dtype)
    except (TypeError, ValueError):
        pass
    else:
        return kinds.Vector.from_scalar(values, size, dtype)
    try:
        array, dtype = values_array(values, dtype)
    except Exception:
        array = None
    if array is None or array.dtype.kind not in "biufcV":
        expect_type(
            A, values, (kinds.Scalar, kinds.Vector, np.ndarray), within="setdiag", argname="values",
            extra_message="Literal scalars also accepted.",
        )  # fmt: skip
    return kinds.Vector.from_dense(array, dtype=dtype)


def _placed(v, k, shape):
    """The matrix of `shape` with v on its k-th diagonal."""
    return kinds.Matrix._from_store(ops.diagonal_matrix(v._store, k, None, shape), v.dtype)
