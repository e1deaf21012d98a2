"""The operations of the C API: f(out, mask, accum, op, inputs..., desc).

Every function computes T = op(inputs) and writes it as C<M,r> = C (+) T; see grb_tile.operations.write.  Without a mask
a complemented mask allows no position: the output does not change, or is cleared with replace.

Raises (all functions): DimensionMismatch, DomainMismatch, InvalidIndex or IndexOutOfBound, NullPointer for a missing
operand, EmptyObject for an empty Scalar where a value is required, TypeError for an object of another class.
Spec: GraphBLAS C API 2.1, section 4.3.
"""

import numpy as np

from .. import operations as ops
from ..core.matrix import Matrix
from ..core.scalar import Scalar
from ..core.vector import Vector
from ..dtypes import lookup_dtype
from ..exceptions import IndexOutOfBound, InvalidIndex, InvalidValue, NullPointer
from ..operations.checks import mask_shape, output_shape, region_shape
from ..operators import get_typed_op
from ..storage.constructors import empty_matrix, empty_vector
from .descriptor import flags_of

__all__ = [
    "ALL",
    "Col_assign",
    "Col_extract",
    "Col_subassign",
    "Row_assign",
    "Row_subassign",
    "apply",
    "apply_BinaryOp1st",
    "apply_BinaryOp2nd",
    "apply_IndexOp",
    "assign",
    "eWiseAdd",
    "eWiseMult",
    "eWiseUnion",
    "extract",
    "kronecker",
    "mxm",
    "mxv",
    "reduce",
    "select",
    "subassign",
    "transpose",
    "vxm",
]


class _All:
    def __repr__(self):
        return "GrB_ALL"


ALL = _All()


class _Mask:
    __slots__ = ("complement", "parent", "structure")

    def __init__(self, parent, structure, complement):
        self.parent, self.structure, self.complement = parent, structure, complement


class _Nothing:
    """A mask of the given shape without entries."""

    def __init__(self, shape):
        from ..dtypes import BOOL

        self.shape, self.dtype = shape, BOOL
        self._store = empty_vector(*shape, BOOL) if len(shape) == 1 else empty_matrix(*shape, BOOL)


def _expect(call, **objects):
    """Raises: TypeError unless each argument is of its classes; NullPointer for None, as in C."""
    for argument, (value, classes) in objects.items():
        if value is None:
            raise NullPointer(f"{call}: {argument} is None; an object is required")
        if not isinstance(value, classes):
            names = " or ".join(c.__name__ for c in (classes if isinstance(classes, tuple) else (classes,)))
            raise TypeError(f"{call}: {argument} is {type(value).__name__}; expected {names}")


def _mask(call, mask, desc, shape):
    if mask is None:
        return _Mask(_Nothing(shape), True, False) if desc.complement else None
    _expect(call, mask=(mask, (Matrix, Vector)))
    mask_shape(call, mask.shape, shape)
    return _Mask(mask, desc.structure, desc.complement)


def _transposed(x, flag):
    """Is x transposed?  The descriptor's flag has no effect on a Vector."""
    return flag and isinstance(x, Matrix)


_KINDS = {  # of an argument, the classes of operators that it takes
    "unary": ("UnaryOp",),
    "binary": ("BinaryOp", "Monoid", "Semiring"),
    "semiring": ("Semiring",),
    "indexunary": ("IndexUnaryOp", "SelectOp"),
    "select": ("SelectOp", "IndexUnaryOp"),
}


def _typed(call, op, left, right=None, *, kind="binary", argument="op", **scalars):
    """The operator for operands of these types.  Raises: TypeError for one of another kind."""
    typed = get_typed_op(op, left, right, kind=kind, **scalars)
    classes = _KINDS[kind] if argument == "op" else ("BinaryOp", "Monoid")
    if typed.opclass not in classes:
        raise TypeError(f"{call}: {argument} is {typed!r}; expected {' or '.join(classes)}")
    return typed


def _accum(call, accum, dtype, dtype2, argument="accum"):
    return None if accum is None else _binary(_typed(call, accum, dtype, dtype2, argument=argument))


def _finish(call, out, mask, accum, desc, record):
    output_shape(call, out.shape, record.shape)
    mask = _mask(call, mask, desc, out.shape)
    how = ops.Descriptor(mask, _accum(call, accum, out.dtype, record.dtype), desc.replace)
    out._store = ops.write(out._store, record, out.dtype, how)


def _binary(typed):
    """The binary operator of a monoid, or of a semiring its multiply."""
    return typed if typed.opclass == "BinaryOp" else typed.binaryop


def mxm(C, Mask, accum, op, A, B, desc=None):
    """C<M,r> = C (+) A (+.x) B (GrB_mxm, section 4.3.1)."""
    _expect("mxm", C=(C, Matrix), op=(op, object), A=(A, Matrix), B=(B, Matrix))
    d = flags_of(desc)
    semiring = _typed("mxm", op, A.dtype, B.dtype, kind="semiring")
    _finish("mxm", C, Mask, accum, d, ops.mxm(A, B, semiring, d.t0, d.t1))


def mxv(w, mask, accum, op, A, u, desc=None):
    """w<m,r> = w (+) A (+.x) u (GrB_mxv, section 4.3.3)."""
    _expect("mxv", w=(w, Vector), op=(op, object), A=(A, Matrix), u=(u, Vector))
    d = flags_of(desc)
    _finish("mxv", w, mask, accum, d, ops.mxv(A, u, _typed("mxv", op, A.dtype, u.dtype, kind="semiring"), d.t0))


def vxm(w, mask, accum, op, u, A, desc=None):
    """w'<m',r> = w' (+) u' (+.x) A (GrB_vxm, section 4.3.2); the descriptor's INP1 transposes A."""
    _expect("vxm", w=(w, Vector), op=(op, object), u=(u, Vector), A=(A, Matrix))
    d = flags_of(desc)
    _finish("vxm", w, mask, accum, d, ops.vxm(u, A, _typed("vxm", op, u.dtype, A.dtype, kind="semiring"), d.t1))


def eWiseMult(C, Mask, accum, op, A, B, desc=None):
    """C<M,r> = C (+) A (x) B on the intersection; op is a binary operator, monoid or semiring (section 4.3.4)."""
    _expect("eWiseMult", C=(C, (Matrix, Vector)), op=(op, object), A=(A, (Matrix, Vector)), B=(B, (Matrix, Vector)))
    d = flags_of(desc)
    _finish(
        "eWiseMult",
        C,
        Mask,
        accum,
        d,
        ops.ewise_mult(
            A, B, _binary(_typed("eWiseMult", op, A.dtype, B.dtype)), _transposed(A, d.t0), _transposed(B, d.t1)
        ),
    )


def eWiseAdd(C, Mask, accum, op, A, B, desc=None):
    """C<M,r> = C (+) A (+) B on the union; op is a binary operator, monoid or semiring (its monoid) (section 4.3.5)."""
    _expect("eWiseAdd", C=(C, (Matrix, Vector)), op=(op, object), A=(A, (Matrix, Vector)), B=(B, (Matrix, Vector)))
    d = flags_of(desc)
    typed = _typed("eWiseAdd", op, A.dtype, B.dtype)
    typed = _binary(typed.monoid if typed.opclass == "Semiring" else typed)
    _finish("eWiseAdd", C, Mask, accum, d, ops.ewise_add(A, B, typed, _transposed(A, d.t0), _transposed(B, d.t1)))


def eWiseUnion(C, Mask, accum, op, A, alpha, B, beta, desc=None):
    """C<M,r> = C (+) A (+) B on the union, with alpha for an absent A(i, j) and beta for an absent B(i, j).

    Spec: SuiteSparse:GraphBLAS 9.4 user guide, section 11.6 (GxB_eWiseUnion).
    """
    _expect("eWiseUnion", C=(C, (Matrix, Vector)), op=(op, object), A=(A, (Matrix, Vector)), B=(B, (Matrix, Vector)))
    d = flags_of(desc)
    typed = _binary(_typed("eWiseUnion", op, A.dtype, B.dtype))
    record = ops.ewise_union(
        A, B, typed, _scalar("alpha", alpha), _scalar("beta", beta), _transposed(A, d.t0), _transposed(B, d.t1)
    )
    _finish("eWiseUnion", C, Mask, accum, d, record)


def _scalar(argument, value):
    """A NumPy scalar from a Scalar or a number.  Raises: EmptyObject for an empty Scalar, NullPointer for None."""
    from ..exceptions import EmptyObject

    if isinstance(value, Scalar):
        if value.is_empty:
            raise EmptyObject(f"{argument} is an empty Scalar; a value is required")
        return value.dtype.np_type.type(value.value)
    if value is None:
        raise NullPointer(f"{argument} is None; a number or a Scalar is required")
    return lookup_dtype(type(value), value).np_type.type(value)


def _indices(argument, I, size):
    """I as an int64 array, or None for all.  Raises: IndexOutOfBound with the first index outside 0 .. size - 1."""
    if I is ALL or (isinstance(I, slice) and I == slice(None)):
        return None
    array = np.asarray(I)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"{argument} is {I!r}; expected a list or array of integers, or grb.ALL")
    array = array.astype(np.int64)
    bad = (array < 0) | (array >= size)
    if bad.any():
        at = int(np.argmax(bad))
        raise IndexOutOfBound(f"{argument}[{at}] is {array[at]}, outside 0 .. {size - 1}")
    return array


def _position(argument, i, size):
    if isinstance(i, (bool, np.bool_)) or not isinstance(i, (int, np.integer)):
        raise TypeError(f"{argument} is {i!r}; expected an integer")
    if not 0 <= i < size:
        raise InvalidIndex(f"{argument} is {i}, outside 0 .. {size - 1}")
    return int(i)


def extract(C, Mask, accum, A, I, J=None, desc=None):
    """C<M,r> = C (+) A(I, J); of a Vector w<m,r> = w (+) u(I), without J (GrB_extract, section 4.3.6)."""
    _expect("extract", C=(C, (Matrix, Vector)), A=(A, type(C)))
    if isinstance(A, Vector):
        desc = J if desc is None else desc
        _finish("extract", C, Mask, accum, flags_of(desc), ops.extract(A, _indices("I", I, A.shape[0])))
        return
    d = flags_of(desc)
    nrows, ncols = A.shape[::-1] if d.t0 else A.shape
    record = ops.extract(A, _indices("I", I, nrows), _indices("J", J, ncols), d.t0)
    _finish("extract", C, Mask, accum, d, record)


def Col_extract(w, mask, accum, A, I, j, desc=None):
    """w<m,r> = w (+) A(I, j); with INP0 transposed w<m,r> = w (+) A(j, I)' (GrB_Col_extract, section 4.3.6.3)."""
    _expect("Col_extract", w=(w, Vector), A=(A, Matrix))
    d = flags_of(desc)
    nrows, ncols = A.shape[::-1] if d.t0 else A.shape
    record = ops.extract(A, _indices("I", I, nrows), _position("j", j, ncols), d.t0)
    _finish("Col_extract", w, mask, accum, d, record)


def _assign(call, C, Mask, accum, value, I, J, desc, subassign, line=None):
    """line: 0 where I is the position of a row, 1 where J is that of a column; None: both are lists."""
    d = flags_of(desc)
    sizes = C.shape
    where = [
        K if axis == line else _indices("IJ"[axis], K, size)
        for axis, (K, size) in enumerate(zip((I, J), sizes, strict=False))  # a vector has no J
    ]
    region = tuple(
        size if K is None else len(K) for axis, (K, size) in enumerate(zip(where, sizes, strict=True)) if axis != line
    )
    if isinstance(value, (Matrix, Vector)):
        transposed = _transposed(value, d.t0)
        shape = value.shape[::-1] if transposed else value.shape
        region_shape(call, shape, region)
        store, value_type = value._store, value.dtype
        if transposed:
            store = ops.transpose(value).compute()
    elif isinstance(value, Scalar) and value.is_empty:
        store, value_type = ops.EMPTY, value.dtype
    else:
        store = _scalar("x", value)
        value_type = lookup_dtype(store.dtype)
    shape = region if subassign else sizes if line is None else (sizes[1 - line],)
    mask = _mask(call, Mask, d, shape)
    how = ops.Descriptor(mask, _accum(call, accum, C.dtype, value_type), d.replace)
    C._store = ops.assign(C._store, store, *where, dtype=C.dtype, desc=how, subassign=subassign)


def assign(C, Mask, accum, A, I, J=None, desc=None):
    """C<M,r>(I, J) = C(I, J) (+) A, the mask has the shape of C; A is a Matrix, Vector, Scalar or number.

    With replace, entries outside the mask are deleted in all of C.  Spec: section 4.3.7.
    """
    _expect("assign", C=(C, (Matrix, Vector)), A=(A, object))
    if isinstance(C, Vector) and desc is None:
        desc = J
    _assign("assign", C, Mask, accum, A, I, J, desc, False)


def subassign(C, Mask, accum, A, I, J=None, desc=None):
    """C(I, J)<M,r> = C(I, J) (+) A, the mask has the shape of C(I, J); nothing outside C(I, J) changes.

    Spec: SuiteSparse:GraphBLAS 9.4 user guide, section 11.8 (GxB_subassign).
    """
    _expect("subassign", C=(C, (Matrix, Vector)), A=(A, object))
    if isinstance(C, Vector) and desc is None:
        desc = J
    _assign("subassign", C, Mask, accum, A, I, J, desc, True)


def Row_assign(C, mask, accum, u, i, J, desc=None):
    """C<m',r>(i, J) = C(i, J) (+) u'; nothing outside row i changes (section 4.3.7.4)."""
    _expect("Row_assign", C=(C, Matrix), u=(u, object))
    _assign("Row_assign", C, mask, accum, u, _position("i", i, C.shape[0]), J, desc, False, 0)


def Col_assign(C, mask, accum, u, I, j, desc=None):
    """C<m,r>(I, j) = C(I, j) (+) u; nothing outside column j changes (section 4.3.7.3)."""
    _expect("Col_assign", C=(C, Matrix), u=(u, object))
    _assign("Col_assign", C, mask, accum, u, I, _position("j", j, C.shape[1]), desc, False, 1)


def Row_subassign(C, mask, accum, u, i, J, desc=None):
    """C(i, J)<m',r> = C(i, J) (+) u'; the mask has u's size (GxB_Row_subassign)."""
    _expect("Row_subassign", C=(C, Matrix), u=(u, object))
    _assign("Row_subassign", C, mask, accum, u, _position("i", i, C.shape[0]), J, desc, True, 0)


def Col_subassign(C, mask, accum, u, I, j, desc=None):
    """C(I, j)<m,r> = C(I, j) (+) u; the mask has u's size (GxB_Col_subassign)."""
    _expect("Col_subassign", C=(C, Matrix), u=(u, object))
    _assign("Col_subassign", C, mask, accum, u, I, _position("j", j, C.shape[1]), desc, True, 1)


def apply(C, Mask, accum, op, A, desc=None):
    """C<M,r> = C (+) op(A) (GrB_apply with a unary operator, sections 4.3.8.1 and 4.3.8.2)."""
    _expect("apply", C=(C, (Matrix, Vector)), op=(op, object), A=(A, type(C)))
    d = flags_of(desc)
    _finish("apply", C, Mask, accum, d, ops.apply(A, _typed("apply", op, A.dtype, kind="unary"), _transposed(A, d.t0)))


def apply_BinaryOp1st(C, Mask, accum, op, x, A, desc=None):
    """C<M,r> = C (+) op(x, A) (GrB_apply_BinaryOp1st, sections 4.3.8.3 and 4.3.8.4)."""
    _expect("apply_BinaryOp1st", C=(C, (Matrix, Vector)), op=(op, object), A=(A, type(C)))
    d = flags_of(desc)
    x = _scalar("x", x)
    typed = _typed("apply_BinaryOp1st", op, lookup_dtype(x.dtype), A.dtype, is_left_scalar=True)
    _finish(
        "apply_BinaryOp1st",
        C,
        Mask,
        accum,
        d,
        ops.apply_bind(A, _binary(typed), left=x, xt=_transposed(A, d.t1)),
    )


def apply_BinaryOp2nd(C, Mask, accum, op, A, y, desc=None):
    """C<M,r> = C (+) op(A, y) (GrB_apply_BinaryOp2nd, sections 4.3.8.3 and 4.3.8.4)."""
    _expect("apply_BinaryOp2nd", C=(C, (Matrix, Vector)), op=(op, object), A=(A, type(C)))
    d = flags_of(desc)
    y = _scalar("y", y)
    typed = _typed("apply_BinaryOp2nd", op, A.dtype, lookup_dtype(y.dtype), is_right_scalar=True)
    _finish(
        "apply_BinaryOp2nd",
        C,
        Mask,
        accum,
        d,
        ops.apply_bind(A, _binary(typed), right=y, xt=_transposed(A, d.t0)),
    )


def apply_IndexOp(C, Mask, accum, op, A, thunk, desc=None):
    """C<M,r> = C (+) op(A, i, j, thunk) (GrB_apply_IndexOp, sections 4.3.8.5 and 4.3.8.6)."""
    _expect("apply_IndexOp", C=(C, (Matrix, Vector)), op=(op, object), A=(A, type(C)))
    d = flags_of(desc)
    thunk = _scalar("thunk", thunk)
    typed = _typed("apply_IndexOp", op, A.dtype, lookup_dtype(thunk.dtype), is_right_scalar=True, kind="indexunary")
    _finish("apply_IndexOp", C, Mask, accum, d, ops.apply_index(A, typed, thunk, _transposed(A, d.t0)))


def select(C, Mask, accum, op, A, thunk, desc=None):
    """C<M,r> = C (+) the entries of A with op(A, i, j, thunk) (GrB_select, section 4.3.9)."""
    _expect("select", C=(C, (Matrix, Vector)), op=(op, object), A=(A, type(C)))
    d = flags_of(desc)
    thunk = _scalar("thunk", thunk)
    typed = _typed("select", op, A.dtype, lookup_dtype(thunk.dtype), is_right_scalar=True, kind="select")
    _finish("select", C, Mask, accum, d, ops.select(A, typed, thunk, _transposed(A, d.t0)))


def reduce(out, *args):
    """reduce(w, mask, accum, op, A[, desc]): w<m,r>(i) = w(i) (+) (the reduction of A(i, :));
    reduce(s, accum, op, A[, desc]): s = s (+) (the reduction of all entries of A, a Matrix or Vector).

    op is a monoid, or a binary operator with one.  Without entries s becomes empty, or with an accumulator is kept.
    Raises: InvalidValue for an operator without a monoid.  Spec: section 4.3.10.
    """
    if isinstance(out, Vector):
        if len(args) not in (4, 5):
            raise TypeError("reduce to a Vector takes (w, mask, accum, op, A[, desc])")
        mask, accum, op, A = args[:4]
        _expect("reduce", op=(op, object), A=(A, Matrix))
        d = flags_of(args[4] if len(args) == 5 else None)
        _finish("reduce", out, mask, accum, d, ops.reduce_rows(A, _monoid(op, A.dtype), d.t0))
        return
    _expect("reduce", s=(out, Scalar))
    if len(args) not in (3, 4):
        raise TypeError("reduce to a Scalar takes (s, accum, op, A[, desc])")
    accum, op, A = args[:3]
    _expect("reduce", op=(op, object), A=(A, (Matrix, Vector)))
    flags_of(args[3] if len(args) == 4 else None)
    record = ops.reduce_scalar(A, _monoid(op, A.dtype))
    out.value = ops.accumulate_scalar(out._value, record.compute(), _accum("reduce", accum, out.dtype, record.dtype))


def _monoid(op, dtype):
    typed = _typed("reduce", op, dtype)
    if typed.opclass == "Monoid":
        return typed
    if typed.monoid is None:
        raise InvalidValue(f"reduce: op is {typed!r}, which is no monoid (associative, commutative, with identity)")
    return typed.monoid


def transpose(C, Mask, accum, A, desc=None):
    """C<M,r> = C (+) A'; with INP0 transposed, a masked copy (GrB_transpose, section 4.3.11)."""
    _expect("transpose", C=(C, Matrix), A=(A, Matrix))
    d = flags_of(desc)
    _finish("transpose", C, Mask, accum, d, ops.transpose(A, d.t0))


def kronecker(C, Mask, accum, op, A, B, desc=None):
    """C<M,r> = C (+) kron(A, B) by op, a binary operator, monoid or semiring (section 4.3.12)."""
    _expect("kronecker", C=(C, Matrix), op=(op, object), A=(A, Matrix), B=(B, Matrix))
    d = flags_of(desc)
    _finish(
        "kronecker",
        C,
        Mask,
        accum,
        d,
        ops.kronecker(A, B, _binary(_typed("kronecker", op, A.dtype, B.dtype)), d.t0, d.t1),
    )
