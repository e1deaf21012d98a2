"""Matrices of another shape on the device (kernels/structure/reshape.cuh); values are shared, nothing is sorted."""

import numpy as np

from ....storage.convert import share, wants_dcsr
from ....storage.store import Compressed, index_dtype
from .arrays import compressed, index_type, is_plain, progression


def reshape_matrix(device, A, nrows, ncols):
    """See protocol.Backend.reshape_matrix; nothing is read back unless the result is DCSR of several columns."""
    count, rows = A.indices.shape[0], A.indptr.shape[0] - 1
    if not is_plain(A.dtype):
        return NotImplemented
    if (nrows, ncols) == A.shape:
        return A
    if count == 0:
        nothing = device.empty(0, np.int64)
        return compressed(device, nrows, ncols, A.dtype, nothing, nothing, A.values[:0])
    hypersparse = wants_dcsr(nrows, count)
    columns = device.empty(count, index_dtype(ncols))
    lines = device.empty(count, np.int64) if hypersparse else None
    template = index_type(A.indices), index_type(columns)
    kernel = device.launcher.kernel("structure/reshape.cuh", "reshaped_entries", "", template)
    kernel.over(count, (A.indptr[1:], A.rows, rows, count, A.indices, A.ncols, ncols, lines, columns))
    if hypersparse and ncols == 1:  # each entry has a row of its own
        indptr = progression(device, count + 1, np.dtype(np.int64))
        result = Compressed(nrows, ncols, A.dtype, indptr, columns, A.values, A.iso, lines)
    elif hypersparse:
        result = compressed(device, nrows, ncols, A.dtype, lines, columns, A.values, A.iso)
    else:
        indptr = device.empty(nrows + 1, np.int64)
        kernel = device.launcher.kernel("structure/reshape.cuh", "reshaped_starts", "", template[:1])
        kernel.over(nrows + 1, (A.indptr, A.rows, rows, A.indices, A.ncols, ncols, nrows, indptr))
        result = Compressed(nrows, ncols, A.dtype, indptr, columns, A.values, A.iso)
    return share(A, result)
