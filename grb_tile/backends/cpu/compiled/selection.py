"""select on matrices through compiled kernels: ranges of columns by binary search, other operators entry by entry."""

import numpy as np

from grb_tile.dtypes import cast
from grb_tile.planner import tuning
from grb_tile.storage.convert import choose_format, without_empty_rows
from grb_tile.storage.store import Compressed
from grb_tile.storage.work import row_counts

from ..jit import cache as jit
from ..jit.merges import select_recipe
from ..jit.operators import NotLowerable
from .gather import balanced, runs
from .merging import spans

FAR = 1 << 62  # beyond any column

# kind: (low, high, slope) of templates/gather.py for a thunk k
RANGES = {
    "tril": lambda k: (-FAR, k + 1, 1), "triu": lambda k: (k, FAR, 1), "diag": lambda k: (k, k + 1, 1),
    "colle": lambda k: (-FAR, k + 1, 0), "colgt": lambda k: (k + 1, FAR, 0),
}  # fmt: skip
_kernels = jit.memo()


def select(A, op, thunk):
    """The entries of A that the operator keeps; see backends/protocol.py."""
    count = A.indices.shape[0]
    if op.kind in RANGES:
        thunk = max(-FAR // 2, min(int(thunk), FAR // 2))  # beyond any difference of indices; sums with it fit
    if count < tuning.COMPILED_ENTRIES or op.kind in ("rowle", "rowgt"):  # a run of rows, without a kernel
        return NotImplemented
    if op.kind in RANGES and A.rows is None:
        seconds = jit.numpy_seconds(count, tuning.NUMPY_SELECT_NS)
        return runs(A, A.shape, None, A.indptr[:-1], row_counts(A), RANGES[op.kind](thunk), 0, seconds, True)
    kernel = _kernel(A, op)
    if kernel is None:
        return NotImplemented
    functions = kernel.functions_for(jit.numpy_seconds(count, tuning.NUMPY_SELECT_NS))
    if functions is None:
        return NotImplemented
    return jit.attempt(kernel, lambda: _kept(functions, A, op, thunk))


def _kernel(A, op):
    """The Kernel of an operator for A's form, or None when it cannot be lowered."""
    key = (op, A.dtype, A.iso, A.rows is not None, A.indices.dtype.char)
    if key not in _kernels:
        flags = {"X_ISO": bool(A.iso), "LISTED": A.rows is not None, "INDEX": A.indices.dtype.char}
        try:
            recipe = select_recipe("select_entries", flags, op, A.dtype)
            _kernels[key] = jit.kernel(("select_entries", *key), recipe)
        except NotLowerable:
            _kernels[key] = None
    return _kernels[key]


def _kept(functions, A, op, thunk):
    thunk = np.zeros(1, np.int64) if thunk is None else cast(np.array([thunk]), op.thunk_type)
    starts, ends = spans(A, A.rows)
    indices, values = jit.plain(A.indices), jit.plain(A.values)
    arguments = starts, ends, starts if A.rows is None else jit.plain(A.rows), indices, values, thunk
    out_ptr = np.zeros(starts.shape[0] + 1, np.int64)
    counts = out_ptr[1:]
    cuts, threads = balanced(A.indptr[1:])
    chunks = len(cuts) - 1
    jit.share_out(
        lambda chunk, worker: functions.count(*arguments, counts, cuts[chunk], cuts[chunk + 1]), chunks, threads
    )
    counts.cumsum(out=counts)
    found = int(out_ptr[-1])
    if found == indices.shape[0]:
        return A
    out_indices = np.empty(found, indices.dtype)
    out_values = A.values[:1].copy() if A.iso else np.empty(found, values.dtype)
    results = out_ptr, out_indices, out_values
    jit.share_out(
        lambda chunk, worker: functions.copy(*arguments, *results, cuts[chunk], cuts[chunk + 1]), chunks, threads
    )
    rows, out_ptr = without_empty_rows(A.rows, out_ptr)
    iso = A.iso and found > 0
    return choose_format(Compressed(A.nrows, A.ncols, A.dtype, out_ptr, out_indices, out_values[:found], iso, rows))
