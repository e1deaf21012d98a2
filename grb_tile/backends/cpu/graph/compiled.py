"""Whole loops over a graph by compiled kernels: templates of their names.  Meanings: backends/graph.py."""

import numpy as np

from ....planner import tuning
from ..jit import cache as jit

_ONE_MATRIX = (
    "bipartite_matching", "cuthill_mckee", "greedy_colouring", "independent_set", "strong_components",
    "topological_levels", "union_find",
)  # fmt: skip
_LISTS = "breadth_first", "label_turns", "topological_levels"  # neighbours in an order of their own, with INT64 numbers
_MOVES = "join_rounds", "move_rounds", "quotient", "settle"
_NUMBERS = "floyd_warshall", *_MOVES  # arrays of FP64 among the arguments
# (template, constants) of every kernel of this module, for indices of 32 bits: what a release brings compiled
KERNELS = [
    *((name, {"INDEX": "i"}) for name in _ONE_MATRIX),
    *((name, {"INDEX": "l"}) for name in _LISTS),
    ("peel_truss", {"INDEX": "i", "IN_INDEX": "i"}),
    ("triangle_corners", {"INDEX": "i", "Z": "d"}),
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
    *((name, {"INDEX": "i", "Z": "d"}) for name in _MOVES),
    *(
        ("best_label", {"X_ISO": iso, "VALUE": "d", "INDEX": "i", "Z": "d", "MASK": mask})
        for iso, mask in ((True, "none"), (False, "none"), (False, "pattern"))
    ),
]


def functions_of(kernel, seconds):
    """The kernel's functions, or None; the loop that runs instead, of `seconds`, counts towards its compilation."""
    found = kernel.functions_for(seconds)
    if found is None:
        kernel.count(tuning.COMPILED_SAVES * seconds)
    return found


def functions_for(name, matrices, vertices, jobs=1, numbers=True, **flags):
    """(kernel, functions) of the template `name`, or None; what runs instead passes `jobs` times over the matrices."""
    constants = {key: A.indices.dtype.char for key, A in zip(("INDEX", "IN_INDEX"), matrices, strict=False)}
    if numbers:
        constants["Z"] = "d"
    kernel = jit.plain_kernel(name, **constants, **flags)
    work = sum(A.nvals for A in matrices) * tuning.COMPOSED_ENTRY_SECONDS * jobs
    functions = functions_of(kernel, 1e-3 + work + vertices * tuning.COMPOSED_VERTEX_SECONDS)
    return None if functions is None else (kernel, functions)


def run(name, matrices, arguments, each=None, flags=None):
    """The result of the template `name`, or NotImplemented; the row pointers and column indices of matrices come first.

    matrices   CSR or graph.Lists, none hypersparse
    each    (function, jobs, workspace): threads share the jobs, each of which passes over the matrix, so that a call is
            function(..., *arguments, first, last, *workspace(thread))
    flags   constants of the template that reads values, too
    """
    vertices = max((a.size for a in arguments if isinstance(a, np.ndarray)), default=0)
    constants = {"VALUE": matrices[0].dtype.np_type.char, **flags} if flags else {}
    numbers, jobs = bool(each) or name in _NUMBERS, each[1] if each else 1
    found = functions_for(name, matrices, vertices, jobs, numbers, **constants)
    if found is None:
        return NotImplemented
    kernel, functions = found
    arrays = [jit.plain(part) for A in matrices for part in (A.indptr, A.indices, *([values_of(A)] if flags else ()))]
    if each is None:
        return jit.attempt(kernel, lambda: functions.run(*arrays, *arguments))
    function, _, workspace = each
    call = getattr(functions, function)
    threads = min(jit.thread_count(), jobs) if jobs * matrices[0].nvals >= tuning.PARALLEL_ROWS else 1

    def some(thread, worker):
        first, last = (jobs * t // threads for t in (thread, thread + 1))
        return call(*arrays, *arguments, first, last, *workspace(thread))

    return jit.attempt(kernel, lambda: sum(jit.share_out(some, threads, threads)))


def values_of(A):
    """The values of the entries, one each."""
    return np.full(A.nvals, A.values[0]) if A.iso else A.values
