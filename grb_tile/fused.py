"""Whole level loops on Matrix objects, each run by the backend as one operation.

    fused.bfs(A, 0).levels                  repeat  f<!v> = f A,  v = v + f            until f is empty
    fused.bfs_multi(A, [0, 5]).levels       the same for each source, a row for each
    fused.sssp(A, 0).distances              repeat  t = f min.+ A,  f = t where t < d  until f is empty
    fused.components(A).labels              least vertex that can be reached, edges followed both ways
    fused.one_pass(function)                element-wise operations over full vectors, and sums, as one pass
    fused.strong_components(A)              least vertex that can be reached and reaches it
    fused.core_numbers(A)                   the greatest k whose k-core a vertex is in
    fused.topological_levels(A)             the most edges on a path that ends at a vertex
    fused.cuthill_mckee(A)                  breadth-first order, neighbours by ascending degree, reversed

A loop of GraphBLAS calls pays for several calls a level; these pay once: on the GPU one launch, on the CPU one compiled
loop (BFS; the others run in NumPy).  Every backend has them, but for the last four, which have a kernel on a GPU alone
and are None elsewhere.  Where a device has no kernel for the operands (hypersparse or too large matrices), the host
computes, with a HostFallbackWarning and a note in `explain()`.  `fallback=False` returns None there, and wherever the
backend in use has no compiled loop: algorithms/bfs.py, sssp.py and connected_components.py then run their loops of
GraphBLAS calls, which these operations replace.

A vertex is a row number; an edge i -> j is an entry A(i, j).  A is not changed.  `symmetric=True` promises that A
and A' have the same structure (for sssp: the same values), which saves making the transpose; otherwise the
transpose is made at the first call and kept with A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import binary, select, semiring
from .backends.select import current
from .core.arguments import flags
from .core.matrix import Matrix
from .core.vector import Vector
from .dtypes import UINT64
from .operations import checks, traversal
from .operations.one_pass import Program, Total, run
from .operations.traversal import LoopReport
from .operators import get_typed_op
from .storage.convert import cached_transpose

__all__ = [
    "Bfs",
    "Components",
    "LoopReport",
    "Sssp",
    "bfs",
    "bfs_multi",
    "components",
    "core_numbers",
    "cuthill_mckee",
    "one_pass",
    "sssp",
    "strong_components",
    "tight_edges",
    "topological_levels",
]


class Bfs(NamedTuple):
    """levels (INT32), parents (INT64), each None unless asked for, and the LoopReport."""

    levels: Any
    parents: Any
    report: LoopReport


class Sssp(NamedTuple):
    """distances (INT64, UINT64, FP32 or FP64), predecessors (INT64) or None, and the LoopReport."""

    distances: Vector
    predecessors: Vector | None
    report: LoopReport


class Components(NamedTuple):
    """labels (UINT64, full), count (number of components), and the LoopReport."""

    labels: Vector
    count: int  # type: ignore[assignment]  # hides the method of tuple
    report: LoopReport


def bfs(
    A: Matrix,
    source: int | Sequence[int],
    *,
    symmetric: bool = False,
    pull: bool = True,
    levels: bool = True,
    parents: bool = False,
    max_level: int | None = None,
    target: int | None = None,
    fallback: bool = True,
) -> Bfs | None:
    """repeat f<!v> = f A, v = v + f until f is empty: a direction-optimising breadth-first search.

    source      a vertex, or several that are merged into one search
    symmetric   A and A' have the same structure
    pull        False: every level is pushed, and no transpose is made
    levels      ask for the least number of edges from a source (INT32)
    parents     ask for an in-neighbour one level up (INT64); a source is its own parent
    max_level   the last level wanted
    target      stop once this vertex is reached (its own level may be incomplete)

    Shapes: A n x n, results of size n; vertices that are not reached have no entry.  Types: any A.
    Raises: TypeError, DimensionMismatch, IndexOutOfBound, InvalidValue; a HostFallbackWarning as the module says.
    Source: Yang, Wang, Owens, "Implementing push-pull efficiently in GraphBLAS" (ICPP 2018), algorithm 1; over bit
    tiles Ji et al., "TileSpMSpV and TileBFS" (ICPP 2022).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], nrows=5, ncols=5)
    >>> gb.fused.bfs(A, 0).levels.to_dict()
    {0: 0, 1: 1, 2: 1, 3: 2}
    """
    flags(symmetric=symmetric, pull=pull, levels=levels, parents=parents, fallback=fallback)
    store = _store(A)
    found = traversal.bfs(
        store, _in_edges(store, symmetric) if pull else None, source,
        levels=levels, parents=parents, max_level=max_level, target=target, fallback=fallback,
    )  # fmt: skip
    if found is None:
        return None
    v, p, report = found
    return Bfs(
        None if v is None else Vector._from_store(v, name="levels"),
        None if p is None else Vector._from_store(p, name="parents"),
        report,
    )


def bfs_multi(
    A: Matrix,
    sources: Sequence[int],
    *,
    symmetric: bool = False,
    levels: bool = True,
    parents: bool = False,
    max_level: int | None = None,
    fallback: bool = True,
) -> Bfs | None:
    """F<!V> = F A with a row for each source: the searches of `bfs` side by side, 64 to a word for each vertex.

    Shapes: A n x n, results len(sources) x n; row k belongs to sources[k], and sources may repeat.
    Parameters, types, errors: as `bfs`.
    Source: Then et al., "The more the merrier: efficient multi-source graph traversal" (VLDB 2014).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], nrows=4, ncols=4)
    >>> gb.fused.bfs_multi(A, [0, 2]).levels.to_dicts()
    {0: {0: 0, 1: 1, 2: 2, 3: 3}, 1: {2: 0, 3: 1}}
    """
    flags(symmetric=symmetric, levels=levels, parents=parents, fallback=fallback)
    store = _store(A)
    found = traversal.bfs_multi(
        store, _in_edges(store, symmetric), sources,
        levels=levels, parents=parents, max_level=max_level, fallback=fallback,
    )  # fmt: skip
    if found is None:
        return None
    V, P, report = found
    return Bfs(
        None if V is None else Matrix._from_store(V, name="levels"),
        None if P is None else Matrix._from_store(P, name="parents"),
        report,
    )


def sssp(
    A: Matrix,
    source: int,
    *,
    symmetric: bool = False,
    delta: float | None = None,
    predecessors: bool = False,
    weights: tuple[Any, Any] | None = None,
    fallback: bool = True,
) -> Sssp | None:
    """d(v) = min over paths from `source` to v of the sum of A(i, j); weights must be 0 or more.

    delta          how far beyond the last bound distances are made final at a time (delta-stepping); inf: no bound
                   (Bellman-Ford); None: chosen.  report.method names what ran: a host backend has Bellman-Ford alone
    predecessors   ask for the vertex before each vertex on a shortest path; the source's is itself
    weights        (least, greatest) weight, where the caller knows them; else both are computed

    Shapes: A n x n, results of size n; vertices that are not reached have no entry.  Types: A real or bool (weighs 0 or
    1); distances INT64 (UINT64 for UINT64), FP32, FP64.
    Raises: TypeError for complex and user-defined weights, ValueError for negative ones and NaN, OverflowError where
    n weights may exceed the type; DimensionMismatch, IndexOutOfBound.
    Source: Meyer and Sanders, "Delta-stepping" (J. Algorithms 49, 2003); Davidson, Baxter, Garland, Owens,
    "Work-efficient parallel GPU methods for single-source shortest paths" (IPDPS 2014).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], [1, 9, 3, 1], nrows=5, ncols=5)
    >>> gb.fused.sssp(A, 0).distances.to_dict()
    {0: 0, 1: 1, 2: 4, 3: 5}
    """
    flags(symmetric=symmetric, predecessors=predecessors, fallback=fallback)
    store = _store(A)
    kind = store.dtype.np_type.kind
    if kind not in "biuf" or store.dtype._is_udt:
        raise TypeError(f"A: shortest paths need real weights, got {store.dtype.name}; take unary.abs(A) first")
    least, heaviest = _range(store) if weights is None else weights
    if weights is None and kind == "f" and least >= 0 and _has_nan(store):
        least = np.nan
    if not least >= 0:
        raise ValueError(f"A: a weight is {least}; fused.sssp needs weights >= 0, algorithms.sssp permits others")
    if kind != "f" and store.nrows * int(heaviest) >= (2**64 if store.dtype is UINT64 else 2**63):
        raise OverflowError(
            f"A: {store.nrows} weights of {heaviest} may exceed the type; use FP64: A.dup(gb.dtypes.FP64)"
        )
    found = traversal.sssp(
        store, lambda: _in_edges(store, symmetric), source, heaviest, delta=delta, tree=predecessors, fallback=fallback
    )
    if found is None:
        return None
    store, tree, report = found
    d = Vector._from_store(store, name="distances")
    p = None
    if predecessors:
        if tree is None:
            found = bfs(tight_edges(A, d), source, levels=False, parents=True)
            p = None if found is None else found.parents
        else:
            p = Vector._from_store(tree, name="parents")
    return Sssp(d, p, report)


def tight_edges(A: Matrix, d: Vector) -> Matrix:
    """E(i, j) = true where d(i) + A(i, j) = d(j): the edges on shortest paths; parents of a BFS over E are
    predecessors.

    Right also where edges weigh 0, because a BFS makes no cycle.  Shapes: A, E n x n, d of size n.  Types: A is cast to
    d's type; E BOOL, CSR where A is.
    """
    # T = D any.+ A : the length of the path to j whose last edge is i -> j
    T = semiring.any_plus[d.dtype](d.diag() @ A).new(name="T")
    # E = T where T(i, j) = d(j)
    E = binary.eq(T & d).new(name="E")
    E << select.valueeq(E, True)
    if _store(A).format == "csr":
        E = Matrix._from_store(current().convert(E._store, "csr"), name="E")
    return E


def components(A: Matrix, *, symmetric: bool = False, fallback: bool = True) -> Components | None:
    """f(i) = least vertex that can be reached from i, edges followed both ways.

    Shapes: A n x n, labels of size n.  Types: any A, whose values do not matter; labels UINT64.
    Raises: TypeError, DimensionMismatch.  report.method names what ran: "afforest" on a GPU, "fastsv" on the CPU.
    Source: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph sampling" (IPDPS
    2018); Zhang, Azad, Hu, "FastSV" (SIAM PP 2020).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([1, 3], [0, 4], nrows=5, ncols=5)
    >>> gb.fused.components(A).labels.to_dense().tolist()
    [0, 0, 2, 3, 3]
    """
    flags(symmetric=symmetric, fallback=fallback)
    store = _store(A)
    found = traversal.components(store, _in_edges(store, symmetric), fallback=fallback)
    if found is None:
        return None
    labels, count, report = found
    return Components(Vector._from_store(labels, name="labels"), count, report)


def strong_components(A: Matrix, *, symmetric: bool = False) -> tuple[Vector, int] | None:
    """(label, count): the least vertex of each vertex's strongly connected component; how many components.

    Shapes: A n x n, label of size n.  Types: any A, whose values do not matter; label INT64.
    Raises: TypeError, DimensionMismatch.
    None where the backend in use has no kernel for A.
    Source: Slota, Rajamanickam, Madduri, "BFS and coloring-based parallel algorithms for strongly connected components
    and related problems" (IPDPS 2014).
    """
    flags(symmetric=symmetric)
    store = _store(A)
    traversal.check_square("strong_components", store)
    found = current().strong_components(store, lambda: _in_edges(store, symmetric))
    return None if found is NotImplemented else (Vector._from_store(found[0], name="labels"), found[1])


def core_numbers(A: Matrix, AT: Matrix | None = None) -> Vector | None:
    """core(v) = the greatest k for which v is in a subgraph where every vertex has k edges.

    A without loops; AT: in-edges count too, None where A is symmetric.
    Shapes: A, AT n x n, result of size n.  Types: any A, whose values do not matter; result INT64.
    Raises: TypeError, DimensionMismatch.
    None where the backend in use has no kernel for A.
    Source: Ahmad, Yuan, Yan, Guo, Chen, Zhang, "Accelerating k-core decomposition by a GPU" (ICDE 2023).
    """
    store, in_edges = _store(A), None if AT is None else _store(AT)
    traversal.check_square("core_numbers", store, in_edges)
    found = current().core_numbers(store, in_edges)
    return None if found is NotImplemented else Vector._from_store(found, name="core")


def topological_levels(A: Matrix) -> Vector | None:
    """level(v) = the most edges on a path that ends at v, -1 for vertices on a cycle or behind one.

    Shapes: A n x n, result of size n.  Types: any A, whose values do not matter; result INT64, full.
    Raises: TypeError, DimensionMismatch.
    None where the backend in use has no kernel for A.
    Source: Kahn, "Topological sorting of large networks" (Comm. ACM 5, 1962), by levels.
    """
    store = _store(A)
    traversal.check_square("topological_levels", store)
    found = current().topological_levels(store)
    return None if found is NotImplemented else Vector._from_store(found, name="level")


def cuthill_mckee(A: Matrix) -> tuple[Vector, Vector] | None:
    """(order, positions): the vertices in reverse Cuthill-McKee order, and the position of each vertex in it.

    Breadth-first from a vertex at the end of each component, the neighbours of one vertex by ascending degree and
    number, reversed.

    Shapes: A n x n, symmetric, without loops; results of size n.  Types: any A, whose values do not matter; INT64.
    Raises: TypeError, DimensionMismatch; InvalidValue where A is found not to be symmetric.
    None where the backend in use has no kernel for A.
    Source: Karantasis, Lenharth, Nguyen, Garzaran, Pingali, "Parallelization of reordering algorithms for bandwidth and
    wavefront reduction" (SC 2014).
    """
    store = _store(A)
    traversal.check_square("cuthill_mckee", store)
    found: Any = current().cuthill_mckee(store)
    if found is NotImplemented:
        return None
    checks.symmetric("cuthill_mckee", found is not None)
    order, positions = found
    return Vector._from_store(order, name="order"), Vector._from_store(positions, name="positions")


class one_pass:  # noqa: N801  (a decorator)
    """Element-wise operations over full vectors, and sums or maxima of their results, as one pass over the data.

    Decorates a function of symbols, which stand for Vectors and scalars; + - * / abs() and the methods sqrt(), min(y),
    max(y) make others; x.sum() is the sum over all positions, x.max() the maximum.  Called with Vectors, numbers and
    Totals the function returns a new full Vector or a Total for each of its results.  It is traced once for each order
    of vectors and scalars, so it must not branch on values.

    On a GPU a pass is one kernel.  A Total stays there: as an operand of the next pass it is not waited for, `.value`
    reads it, `.send()` has it copied meanwhile.  A host runs the pass in chunks that stay in its cache.

    Shapes: all vectors of one size; 0 is read where one has no entry.  Types: all FP32 or all FP64, and so the results;
    scalars are cast to that type, sums are FP64.  At most 6 vectors, 3 scalars, 3 results and 4 sums.
    Raises: TypeError, ValueError, DimensionMismatch.

    >>> import grb_tile as gb
    >>> @gb.fused.one_pass
    ... def step(x, y, a):
    ...     z = a * x + y
    ...     return z, abs(z - x).sum()
    >>> z, change = step(gb.Vector.from_dense([1.0, 2.0]), gb.Vector.from_dense([3.0, 5.0]), 2)
    >>> z.to_dense().tolist(), change.value
    ([5.0, 9.0], 11.0)
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._function = function
        self._programs: dict[str, Program] = {}

    def __call__(self, *operands: Vector | Total | float) -> Any:
        kinds = "".join("x" if isinstance(x, Vector) else "s" for x in operands)
        program = self._programs.get(kinds)
        if program is None:
            program = self._programs[kinds] = Program(self._function, kinds)
        given = [x._store if isinstance(x, Vector) else x for x in operands]
        stores, sums = run(program, self.__name__, given)
        vectors, totals = iter(stores), iter(range(len(program.sums)))
        found = tuple(
            Vector._from_store(next(vectors)) if kind == "y" else Total(sums, next(totals)) for kind in program.order
        )
        return found if len(found) > 1 else found[0]


def _store(A: Any) -> Any:
    if not isinstance(A, Matrix):
        raise TypeError(f"A: expected a Matrix, got {type(A).__name__}; make one with .new() or Matrix.from_coo(...)")
    return A._store


def _in_edges(store: Any, symmetric: bool) -> Any:
    """The store of A'; the transpose is kept with A."""
    if symmetric or store.nrows != store.ncols:
        return store
    return cached_transpose(store) or current().transpose(store)


def _has_nan(store: Any) -> bool:
    """Is a value NaN?  Of weights >= 0, which make no other NaN in their sum; min and max leave NaN out."""
    total = None if store.nvals == 0 else current().reduce(store, get_typed_op("plus", store.dtype, kind="monoid"))
    return total is not None and bool(np.isnan(total))


def _range(store: Any) -> tuple[Any, Any]:
    """(least, greatest) value; (0, 0) without entries."""
    if store.nvals == 0:
        return 0, 0
    found = [current().reduce(store, get_typed_op(name, store.dtype, kind="monoid")) for name in ("min", "max")]
    return found[0], found[1]
