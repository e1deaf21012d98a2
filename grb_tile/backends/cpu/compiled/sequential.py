"""Sequential algorithms and label scores by compiled kernels: templates of their names.

Meanings: grb_tile/sequential.py, backends/protocol.py.
"""

import numpy as np

from grb_tile.dtypes import FP64, INT64
from grb_tile.planner import tuning
from grb_tile.storage.convert import choose_format
from grb_tile.storage.store import MAX_INT32_DIMENSION, BitmapVector, SparseVector, index_dtype

from ..jit import cache as jit
from ..vectorised.structure import tuples_vector
from .gather import balanced

NO_VALUES = np.zeros(0, np.float64)
_ONE_MATRIX = (
    "bipartite_matching", "cuthill_mckee", "greedy_colouring", "independent_set", "strong_components",
    "topological_levels", "union_find",
)  # fmt: skip
_LISTS = "breadth_first", "label_turns", "topological_levels"  # neighbours in an order of their own, with INT64 numbers
_NUMBERS = "floyd_warshall", "join_round", "local_round"  # arrays of FP64 among the arguments
# (template, constants) of every kernel of this module, for indices of 32 bits: what a release brings compiled
KERNELS = [
    *((name, {"INDEX": "i"}) for name in _ONE_MATRIX),
    *((name, {"INDEX": "l"}) for name in _LISTS),
    ("core_numbers", {"INDEX": "i", "IN_INDEX": "i"}),
    ("brandes", {"INDEX": "i", "Z": "d"}),
    ("dijkstra", {"INDEX": "i", "VALUE": "d", "Z": "d", "COUNT": True, "PARENTS": False}),
    *(
        ("dijkstra", {"INDEX": "i", "VALUE": value, "Z": "d", "COUNT": False, "PARENTS": parents})
        for value in "di"
        for parents in (False, True)
    ),
    ("spanning_forest", {}),
    ("floyd_warshall", {"Z": "d"}),
    ("join_round", {"INDEX": "i", "Z": "d"}),
    ("local_round", {"INDEX": "i", "Z": "d"}),
    *(
        ("best_label", {"X_ISO": iso, "VALUE": "d", "INDEX": "i", "Z": "d", "MASK": mask})
        for iso, mask in ((True, "none"), (False, "none"), (False, "pattern"))
    ),
]


def _functions(kernel, seconds):
    """The kernel's functions, or None; the loop that runs instead counts towards its compilation."""
    found = kernel.functions_for(seconds)
    if found is None:
        kernel.count(tuning.COMPILED_SAVES * seconds)
    return found


def sequential(name, matrices, arguments, seconds, each=None, flags=None):
    """The result of the template `name`; matrices: CSR, their row pointers and column indices come first.

    each    (function, jobs, workspace): threads share the jobs, so that a call is function(..., *arguments, first,
            last, *workspace(thread))
    flags   constants of the template that reads values, too
    """
    if any(A.rows is not None for A in matrices):
        return NotImplemented
    constants = {key: A.indices.dtype.char for key, A in zip(("INDEX", "IN_INDEX"), matrices, strict=False)}
    if each or name in _NUMBERS:
        constants["Z"] = "d"
    if flags:
        constants |= {"VALUE": matrices[0].dtype.np_type.char, **flags}
    kernel = jit.plain_kernel(name, **constants)
    functions = _functions(kernel, seconds)
    if functions is None:
        return NotImplemented
    arrays = [jit.plain(part) for A in matrices for part in (A.indptr, A.indices, *([_values(A)] if flags else ()))]
    if each is None:
        return jit.attempt(kernel, lambda: functions.run(*arrays, *arguments))
    function, jobs, workspace = each
    run = getattr(functions, function)
    threads = min(jit.thread_count(), jobs) if jobs * matrices[0].nvals >= tuning.PARALLEL_ROWS else 1

    def some(thread, worker):
        first, last = (jobs * t // threads for t in (thread, thread + 1))
        return run(*arrays, *arguments, first, last, *workspace(thread))

    return jit.attempt(kernel, lambda: sum(jit.share_out(some, threads, threads)))


def _values(A):
    """The values of the entries, one each."""
    return np.full(A.nvals, A.values[0]) if A.iso else A.values


def best_labels(A, labels, weighted, allow, *penalty):
    """(best,) or (best, gain, kept).  See backends/protocol.py."""
    if A.rows is not None or A.ncols > MAX_INT32_DIMENSION or (allow is not None and allow.complement):
        return NotImplemented
    label = _dense(labels, -1)
    if label.max(initial=-1) >= A.ncols or np.count_nonzero(label >= 0) < labels.nvals:
        return NotImplemented  # the composition names the label that is out of range
    moves = bool(penalty)
    kernel = jit.plain_kernel(
        "best_label", X_ISO=not weighted, VALUE="d", INDEX=A.indices.dtype.char, Z="d",
        MASK="pattern" if moves else "none",
    )  # fmt: skip
    functions = _functions(kernel, A.nvals * tuning.COMPOSED_ENTRY_SECONDS)
    if functions is None:
        return NotImplemented
    indptr, indices = jit.plain(A.indptr), jit.plain(A.indices)
    values = NO_VALUES
    if weighted:
        values = jit.plain(_values(A))
    given = [_dense(x, 0.0) for x in penalty] if moves else (NO_VALUES,) * 3
    rows = np.arange(A.nrows) if allow is None else tuples_vector(allow.pattern)[0]
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
