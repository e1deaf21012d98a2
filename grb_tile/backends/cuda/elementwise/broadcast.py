"""Vectors broadcast over the entries of a matrix, and Kronecker products.  Semantics: backends/protocol.py.

Kernels: elementwise/kronecker.cuh.  Read-backs: the number of entries kept, where u or the mask decides it.
"""

import numpy as np

from ....storage.convert import wants_dcsr
from ....storage.store import Compressed, index_dtype
from ..structure.arrays import as_type, compressed, gather, index_type, is_plain, row_ids
from ..structure.formats import choose_format, convert
from ..structure.gather import gather_vector
from ..structure.positions import empty_like, is_empty, keep_matrix_entries
from ..structure.prefix_sums import listed, summed
from .elementwise import require_functor, restrict
from .values import all_plain, base_of, common_values, entry_positions, like, op_is_plain, position_values


def broadcast(device, u, pattern, axis):
    if not is_plain(u.dtype):
        return NotImplemented
    if is_empty(u) or is_empty(pattern):
        return empty_like(device, pattern, u.dtype)
    pattern = like(pattern, pattern.dtype, device.constant(pattern.dtype.np_type.type(0)), True)
    at = as_type(device, pattern.indices, np.dtype(np.int64)) if axis == 1 else row_ids(device, pattern)
    w = gather_vector(device, u, at)  # u at each entry's row or column
    if w.nvals == at.shape[0]:
        return like(pattern, u.dtype, w.values, w.iso)
    w = convert(device, w, "sparse")
    if w.nvals == 0:
        return empty_like(device, pattern, u.dtype)
    return like(keep_matrix_entries(device, pattern, w.indices), u.dtype, w.values, w.iso)


def kronecker_masked(device, A, B, mask):
    """(at_a, at_b, pattern): the entries of A and B behind the mask's, and the mask's entries that have both."""
    n = mask.indices.shape[0]
    at_type = index_dtype(max(A.nvals, B.nvals))
    at_a, at_b, flags = device.empty(n, at_type), device.empty(n, at_type), device.empty(n, np.bool_)
    kernel = device.launcher.kernel(
        "elementwise/kronecker.cuh",
        "kronecker_masked",
        "",
        (index_type(mask.indices), index_type(A.indices), index_type(B.indices), index_type(at_a)),
    )
    sides = [(X.indptr, X.rows, X.indptr.shape[0] - 1, X.indices) for X in (mask, A, B)]
    kernel.over(n, (*sides[0], n, *sides[1], *sides[2], B.nrows, B.ncols, at_a, at_b, flags))
    kept = listed(device, flags)
    iso = like(mask, mask.dtype, device.constant(mask.dtype.np_type.type(0)), True)
    return gather(device, at_a, kept), gather(device, at_b, kept), keep_matrix_entries(device, iso, kept)


def kronecker(device, A, B, op, mask):
    dtype = op.return_type
    if not (all_plain(A.dtype, B.dtype) and op_is_plain(op)):
        return NotImplemented
    require_functor(op, dtype)
    nrows, ncols, n = A.nrows * B.nrows, A.ncols * B.ncols, A.nvals * B.nvals
    nothing = device.empty(0, np.int64)
    if n == 0:
        return compressed(device, nrows, ncols, dtype, nothing, nothing, device.empty(0, dtype.np_type))
    if mask is not None and not mask.complement and mask.pattern.nvals < n:
        at_a, at_b, pattern = kronecker_masked(device, A, B, mask.pattern)
        if pattern.nvals == 0:
            return empty_like(device, pattern, dtype)
        values, iso = _kronecker_values(device, op, dtype, A, at_a, B, at_b)
        return like(pattern, dtype, values, iso)
    at_type = index_dtype(max(A.nvals, B.nvals))
    device.check_room(n * (8 + 2 * at_type.itemsize + dtype.np_type.itemsize), f"kronecker: {n} entries")
    if A.rows is not None or B.rows is not None or wants_dcsr(nrows, n):
        A, B = convert(device, A, "dcsr"), convert(device, B, "dcsr")
    stored_a, stored_b = A.indptr.shape[0] - 1, B.indptr.shape[0] - 1
    count, rows = stored_a * stored_b, None
    if A.rows is not None:
        rows = device.empty(count, np.int64)
    indptr, columns = device.empty(count + 1, np.int64), device.empty(n, index_dtype(ncols))
    at_a, at_b = device.empty(n, at_type), device.empty(n, at_type)
    header = "elementwise/kronecker.cuh"
    given = A.indptr, A.rows, stored_a, B.indptr, B.rows, stored_b, B.nrows, rows, indptr
    summed(device, count, header, "kronecker_starts", ("void",), *given, total=False)
    types = tuple(map(index_type, (A.indices, B.indices, columns, at_a)))
    kernel = device.launcher.kernel(header, "kronecker_entries", "", types)
    given = A.indptr, A.indices, stored_a, B.indptr, B.indices, stored_b, B.ncols, indptr, n, columns, at_a, at_b
    kernel.over(n, given)
    values, iso = _kronecker_values(device, op, dtype, A, at_a, B, at_b)
    result = choose_format(device, Compressed(nrows, ncols, dtype, indptr, columns, values, iso, rows))
    result.shared = True
    return result if mask is None else restrict(device, result, mask)


def _kronecker_values(device, op, dtype, A, at_a, B, at_b):
    """(values, iso) of op(A's entry at_a[k], B's entry at_b[k])."""
    if op.positional is None:
        return common_values(device, op, dtype, at_a.shape[0], A, B, at_a, at_b)
    store, at = (A, at_a) if op.positional.startswith("first") else (B, at_b)
    base, one = base_of(op.positional)
    return position_values(device, gather(device, entry_positions(device, store, base), at), one, dtype)
