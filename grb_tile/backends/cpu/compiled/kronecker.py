"""Kronecker products through compiled kernels (templates/kronecker.py): the result's rows, made in order."""

import numpy as np

from grb_tile.dtypes import cast
from grb_tile.operators.iso_products import uses
from grb_tile.planner import tuning
from grb_tile.storage.convert import choose_format, to_csr, to_dcsr, wants_dcsr
from grb_tile.storage.host_memory import check_memory
from grb_tile.storage.store import Compressed, index_dtype
from grb_tile.storage.work import row_counts

from ..jit import cache as jit
from ..jit.operators import NotLowerable, operator_recipe
from ..vectorised.elementwise import combine
from .gather import balanced

_TRUE = np.ones(1, np.bool_)  # values that are not read
_kernels = jit.memo()


def kronecker(A, B, op):
    """C[i*B.nrows + k, j*B.ncols + l] = A[i,j] (op) B[k,l].  See backends/protocol.py."""
    count = A.indices.shape[0] * B.indices.shape[0]
    if count < tuning.COMPILED_KRONECKER_ENTRIES or op.positional:
        return NotImplemented
    nrows, ncols, dtype = A.nrows * B.nrows, A.ncols * B.ncols, op.return_type
    reads_a, reads_b = uses(op)
    a_iso, b_iso = A.iso or not reads_a, B.iso or not reads_b
    one = combine(op, dtype, A, None, B, None, None)[0] if a_iso and b_iso else None
    index = index_dtype(ncols)
    kernel = _kernel(op, a_iso, b_iso, A.indices.dtype.char, B.indices.dtype.char, index.char)
    if kernel is None:
        return NotImplemented
    functions = kernel.functions_for(jit.numpy_seconds(count, tuning.NUMPY_KRONECKER_NS))
    if functions is None:
        return NotImplemented
    in_form = to_dcsr if wants_dcsr(nrows, count) else to_csr
    size = index.itemsize + (0 if one is not None else dtype.np_type.itemsize)
    check_memory(count * size, f"kronecker: {count} entries")
    return jit.attempt(kernel, lambda: _rows(functions, in_form(A), in_form(B), op, (nrows, ncols, index), one))


def _kernel(op, a_iso, b_iso, *indices):
    one = a_iso and b_iso
    key = (None if one else op, a_iso, b_iso, *indices)
    if key not in _kernels:
        flags = {"X_ISO": bool(a_iso), "Y_ISO": bool(b_iso), "ISO_OUT": bool(one)}
        flags.update(zip(("INDEX", "B_INDEX", "OUT_INDEX"), indices, strict=True))
        try:
            if one:
                made = jit.plain_kernel("kronecker", **flags, X="?", Y="?", Z="?")
            else:
                recipe = operator_recipe("kronecker", flags, ADD=op)
                made = jit.kernel(("kronecker", *key), recipe)
        except NotLowerable:
            made = None
        _kernels[key] = made
    return _kernels[key]


def _rows(functions, A, B, op, shape, one):
    nrows, ncols, index = shape
    dtype = op.return_type
    a, b = (
        (jit.plain(X.indptr), jit.plain(X.indices), _TRUE if one is not None else jit.plain(cast(X.values, kind)))
        for X, kind in ((A, op.type), (B, op.type2))
    )
    counts = np.outer(row_counts(A), row_counts(B)).ravel()
    out_ptr = np.zeros(counts.shape[0] + 1, np.int64)
    np.cumsum(counts, out=out_ptr[1:])
    count = int(out_ptr[-1])
    indices = np.empty(count, index)
    values = np.empty(1, np.bool_) if one is not None else np.empty(count, dtype.np_type)
    cuts, threads = balanced(out_ptr[1:])

    def job(chunk, worker):
        functions.rows(*a, *b, B.ncols, out_ptr, indices, values, cuts[chunk], cuts[chunk + 1])

    jit.share_out(job, len(cuts) - 1, threads)
    names = None if A.rows is None else np.add.outer(A.rows * B.nrows, B.rows).ravel()
    return choose_format(
        Compressed(nrows, ncols, dtype, out_ptr, indices, values if one is None else one, one is not None, names)
    )
