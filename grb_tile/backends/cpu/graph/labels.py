"""Labels of rows by a compiled kernel.  Meanings: backends/graph.py."""

import numpy as np

from ....dtypes import FP64, INT64
from ....planner import tuning
from ....storage.convert import choose_format
from ....storage.store import MAX_INT32_DIMENSION, BitmapVector, SparseVector, index_dtype
from ..compiled.gather import balanced
from ..jit import cache as jit
from ..vectorised.structure import tuples_vector
from .compiled import functions_of, values_of

NO_VALUES = np.zeros(0, np.float64)


def best_labels(A, labels, weighted, mask, *penalty):
    """(best,) or (best, gain, kept).  See backends/graph.py."""
    if A.ncols > MAX_INT32_DIMENSION or (mask is not None and mask.complement):
        return NotImplemented
    label = _dense(labels, -1)
    if label.max(initial=-1) >= A.ncols or np.count_nonzero(label >= 0) < labels.nvals:
        return NotImplemented  # the composition names the label that is out of range
    moves = bool(penalty)
    kernel = jit.plain_kernel(
        "best_label", X_ISO=not weighted, VALUE="d", INDEX=A.indices.dtype.char, Z="d",
        MASK="pattern" if moves else "none",
    )  # fmt: skip
    functions = functions_of(kernel, A.nvals * tuning.COMPOSED_ENTRY_SECONDS)
    if functions is None:
        return NotImplemented
    indptr, indices = jit.plain(A.indptr), jit.plain(A.indices)
    values = NO_VALUES
    if weighted:
        values = jit.plain(values_of(A))
    given = [_dense(x, 0.0) for x in penalty] if moves else (NO_VALUES,) * 3
    rows = np.arange(A.nrows) if mask is None else tuples_vector(mask.pattern)[0]
    best = np.empty(A.nrows, np.int64)
    gain, kept = np.empty((2, A.nrows if moves else 0))
    operands = indptr, indices, values, label.astype(np.int32), rows, *given, best, gain, kept
    lengths = indptr[rows + 1] - indptr[rows]
    cuts, threads = balanced(lengths)
    longest = int(lengths.max(initial=0))
    scratch = {}

    def some(chunk, worker):
        if worker not in scratch:
            scratch[worker] = np.zeros(A.ncols), np.empty(longest, np.int64)
        functions.run(*operands, *scratch[worker], int(cuts[chunk]), int(cuts[chunk + 1]))

    def run():
        jit.share_out(some, len(cuts) - 1, threads)
        results = ((best, INT64), (gain, FP64), (kept, FP64)) if moves else ((best, INT64),)
        found = rows if moves else rows[best[rows] >= 0]
        if found.size == A.nrows:
            return tuple(BitmapVector(A.nrows, dtype, None, x, A.nrows) for x, dtype in results)
        at = found.astype(index_dtype(A.nrows))
        return tuple(choose_format(SparseVector(A.nrows, dtype, at, x[found])) for x, dtype in results)

    return jit.attempt(kernel, run)


def _dense(u, fill):
    """The values of a vector by position, `fill` where it has no entry."""
    if u.nvals == u.size and not u.iso:
        return jit.plain(u.values)
    dense = np.full(u.size, fill, u.dtype.np_type)
    indices, values = tuples_vector(u)
    dense[indices] = values
    return dense
