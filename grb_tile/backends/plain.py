"""Plain forms of primitives, made of other primitives, which a backend uses until it has its own."""

import numpy as np

from ..dtypes import cast
from ..operators import typed_semiring
from ..storage.bits import from_bool, scatter_words
from ..storage.constructors import full_vector, row_matrix
from ..storage.dense import in_order
from ..storage.place import first_value, host, is_of_device
from ..storage.store import Dense, StoredMask


def host_array(data, dtype):
    """`data`, from the host or from a GPU, as a contiguous NumPy array."""
    if is_of_device(data):
        data = data.get()
    elif hasattr(data, "__cuda_array_interface__"):
        import cupy

        data = cupy.asarray(data).get()
    return np.ascontiguousarray(data, dtype)


def outside(backend, A, I, J):
    """A without its entries in the region I x J, which are gathered and moved back to where they are.

    Of a vector A (J None): in the region I.
    """
    if len(A.shape) == 1:
        region = backend.expand_vector(backend.gather_vector(A, I), I, A.size)
        return backend.restrict(A, StoredMask(region, True)) if region.nvals else A
    region = backend.expand_matrix(backend.gather_matrix(A, I, J), I, J, A.nrows, A.ncols)
    return backend.restrict(A, StoredMask(region, True)) if region.nvals else A


def concat_matrices(backend, tiles, dtype):
    """The tuples of all tiles, moved to where their tile is, and built: a sort of all entries."""
    heights, widths = [row[0].nrows for row in tiles], [A.ncols for A in tiles[0]]
    parts = []
    for r, row in enumerate(tiles):
        for c, A in enumerate(row):
            i, j, v = backend.tuples_matrix(backend.cast(A, dtype))
            parts.append((i + sum(heights[:r]), j + sum(widths[:c]), v))
    i, j, v = (np.concatenate(part) for part in zip(*parts, strict=True))
    return backend.build_matrix(sum(heights), sum(widths), i, j, v, None, dtype)


def reduce_matmul(backend, A, B, semiring, monoid, axis, mask, plan, BT, keep):
    """The product, formed and reduced."""
    return reduce_matrix(backend, backend.matmul(A, B, semiring, mask, plan, BT, keep), monoid, axis)


def reduce_matrix(backend, C, monoid, axis):
    """(+)_ij C[i,j] (axis None), the sums of the rows (axis 1) or of the columns (axis 0)."""
    if axis is None:
        return backend.reduce(C, monoid)
    ones = full_vector(C.ncols if axis == 1 else C.nrows, monoid.type, 1)
    product = backend.matvec_rows if axis == 1 else backend.matvec_cols
    return product(C, ones, typed_semiring(monoid, "first"), None)


def inner(backend, u, v, semiring):
    """The row u' times v; two full vectors of one value each: the sum of equal products, by doubling."""
    if u.nvals == u.size > v.nvals:  # a full vector is looked up in, not listed
        u, v, semiring = v, u, semiring.flip()
    elif u.nvals == u.size > 0 and u.iso and v.iso and semiring.binaryop.positional is None:
        one, other = (full_vector(1, x.dtype, first_value(x)) for x in (u, v))
        product = backend.intersect(one, other, semiring.binaryop)
        return backend.reduce(full_vector(u.size, product.dtype, first_value(product)), semiring.monoid)
    w = backend.matvec_rows(row_matrix(u), v, semiring, None)
    return None if w.nvals == 0 else first_value(w)


def is_equal(backend, x, y, op, tolerance):
    """On the host: the arrays of stores of one format, else lists of entries, are compared."""
    x, y = host(x), host(y)
    if x.nvals != y.nvals:
        return False
    if type(x) is Dense and type(y) is Dense and x.flat.words is None and y.flat.words is None:
        if not (x.iso or y.iso):
            y = in_order(y, x.by_columns)
        x, y = x.flat, y.flat
    if x.format == y.format == "bitmap" and x.nvals == x.size and x.words is y.words:
        left, right = [], []
    elif x.format == y.format == "bitmap" and not (x.iso or y.iso or op.type._is_udt or op.type2._is_udt):
        return _bitmaps_equal(x, y, op, tolerance)
    elif x.format == y.format and type(x) is not Dense and x.format != "bitmap":
        left, right = ([x.indices], [y.indices]) if x.format == "sparse" else (_structure(x), _structure(y))
    else:
        is_vector = hasattr(x, "size")
        (*left, v), (*right, w) = ((backend.tuples_vector if is_vector else backend.tuples_matrix)(s) for s in (x, y))
        return _same(left, right) and _hold(v, w, op, tolerance)
    return _same(left, right) and (not x.nvals or _hold(x.values, y.values, op, tolerance))


def _bitmaps_equal(x, y, op, tolerance):
    """Of as many entries and with values of their own; absent positions hold any values, which do not matter."""
    a, b = x.words, y.words
    if a is None or b is None:  # full, as the other is then
        return bool(_holds(x.values, y.values, op, tolerance).all())
    if a is not b and not (a == b).all():
        return False
    with np.errstate(all="ignore"):  # signalling NaN at absent positions
        flags = _holds(x.values, y.values, op, tolerance)
    return bool(flags.all()) or bool(((from_bool(flags) & a) == a).all())


def put_entries(words, dense, u):
    """By one assignment of NumPy's, and one scatter of bits."""
    dense[u.indices] = u.values
    return 0 if words is None else scatter_words(words, u.indices, True)


def clear_bits(words, indices):
    """By one scatter of bits."""
    return scatter_words(words, indices, False)


def _structure(A):
    return [A.indptr, A.indices] if A.rows is None else [A.rows, A.indptr, A.indices]


def _same(left, right):
    return all(a is b or np.array_equal(a, b) for a, b in zip(left, right, strict=True))


def _hold(x, y, op, tolerance):
    """Does op, or closeness, hold for all pairs of values?  One value stands for all equal ones."""
    if op.type._is_udt or op.type2._is_udt:
        return bool(np.all(x == y))
    return bool(_holds(x, y, op, tolerance).all())


def _holds(x, y, op, tolerance):
    """For which pairs of values does it hold?"""
    x, y = cast(x, op.type), cast(y, op.type2)
    if tolerance is None:
        return op.numpy(x, y)
    rel, tol = tolerance
    with np.errstate(all="ignore"):
        if x.dtype.kind in "biu":
            x, y = x.astype(np.float64), y.astype(np.float64)
        allowed = np.maximum(rel * np.maximum(np.abs(x), np.abs(y)), tol)
        return (x == y) | (np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= allowed))
