"""Shortest paths, each as one operation of the backend in use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import binary, select, semiring
from ..backends.select import current
from ..core.arguments import flags
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..dtypes import FP64, UINT64
from ..exceptions import DimensionMismatch
from ..operators import get_typed_op
from ..storage.store import Compressed
from .operands import in_edges, square_store, store_of, vertices
from .report import LoopReport, record
from .traversal import bfs


class Sssp(NamedTuple):
    """distances (INT64, UINT64, FP32 or FP64), predecessors (INT64) or None, and the LoopReport."""

    distances: Vector
    predecessors: Vector | None
    report: LoopReport


def sssp(
    A: Matrix,
    source: int,
    *,
    symmetric: bool = False,
    delta: float | None = None,
    predecessors: bool = False,
    weights: tuple[Any, Any] | None = None,
) -> Sssp | None:
    """d(v) = min over paths from `source` to v of the sum of A(i, j); weights must be 0 or more.

    delta          how far beyond the last bound distances are made final at a time (delta-stepping); inf: no bound
                   (Bellman-Ford); None: chosen.  report.method names what ran
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
    >>> found = gb.graph.sssp(A, 0)
    >>> found is None or found.distances.to_dict() == {0: 0, 1: 1, 2: 4, 3: 5}
    True
    """

    flags(symmetric=symmetric, predecessors=predecessors)
    store = store_of(A)
    kind = store.dtype.np_type.kind
    if kind not in "biuf" or store.dtype._is_udt:
        raise TypeError(f"A: shortest paths need real weights, got {store.dtype.name}; take unary.abs(A) first")
    least, greatest = _range(store) if weights is None else weights
    if weights is None and kind == "f" and least >= 0 and _has_nan(store):
        least = np.nan
    if not least >= 0:
        raise ValueError(f"A: a weight is {least}; graph.sssp needs weights >= 0, algorithms.sssp permits others")
    if kind != "f" and store.nrows * int(greatest) >= (2**64 if store.dtype is UINT64 else 2**63):
        raise OverflowError(
            f"A: {store.nrows} weights of {greatest} may exceed the type; use FP64: A.dup(gb.dtypes.FP64)"
        )
    square_store("sssp", A)
    vertices("sssp: source", [source], store.nrows)
    found = current().sssp(store, lambda: in_edges(store, symmetric), int(source), greatest, delta, predecessors)
    if found is NotImplemented:
        return None
    distances, tree, outcome = found
    report = LoopReport(outcome)
    record("sssp", outcome.method, outcome, report)
    d = Vector._from_store(distances, name="distances")
    p = None if tree is None else Vector._from_store(tree, name="parents")
    if predecessors and p is None:
        searched = bfs(tight_edges(A, d), source, levels=False, parents=True)
        p = None if searched is None else searched.parents
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
    if store_of(A).format == "csr":
        E = Matrix._from_store(current().convert(E._store, "csr"), name="E")
    return E


def distances(A: Matrix, sources: Any, *, target: int = -1, parents: bool = False) -> Any:
    """(D, P): D[k, v] = the least sum of values on a path from sources[k] to v, -1 where none leads; P as below.

    A         values >= 0 of INT32, INT64, FP32 or FP64, and so is D; sums of integers must fit
    target    a vertex, of one source alone: others that are farther have -1
    parents   P[v] is the vertex before v, v for the source, -1 for vertices without; of one source alone.  Else None

    Threads share the sources.  Cost: O((n + nvals) log n) for each source.
    Source: Dijkstra, "A note on two problems in connexion with graphs" (Numerische Mathematik 1, 1959).
    """
    flags(parents=parents)
    store = square_store("distances", A)
    found = current().distances(store, vertices("sources", sources, A.nrows), target, parents)
    return None if found is NotImplemented else found


def floyd_warshall(D: np.ndarray) -> int | None:
    """D(i, j) = the least sum of weights on a path from i to j, in place; a vertex on a cycle of negative weight, or n.

    D   the weights, n x n FP64, C-contiguous: at most 0 on the diagonal, infinite where no edge is
    Raises: DimensionMismatch where D is not square.
    Cost: O(n^3).  Source: Floyd, "Algorithm 97: shortest path" (Comm. ACM 5, 1962).
    """
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise DimensionMismatch(f"D: expected n x n weights, got an array of shape {D.shape}")
    found = current().floyd_warshall(D)
    return None if found is NotImplemented else found


def dependencies(
    A: Matrix, sources: Any, *, weighted: bool = False, endpoints: bool = False, by_edge: bool = False
) -> Vector | Matrix | None:
    """delta(v) = sum over the sources s != v and all t of the share of the shortest paths from s to t that v is on.

    weighted    an edge has its value, FP64 and above 0, as its length; else length 1
    endpoints   a path counts for s and t, too
    by_edge     the shares of the entries, a matrix with the structure of A, rather than of the vertices

    Types: FP64; the vector is full.  On the host the threads of the process share the sources; their sums are added in
    one order, so that the same number of threads gives the same result.  A GPU has a parallel form for edges of
    length 1, by levels.
    Cost: O(n + nvals) for each source, weighted O((n + nvals) log n).
    Source: Brandes, "A faster algorithm for betweenness centrality" (J. Math. Sociology 25, 2001).
    """
    flags(weighted=weighted, endpoints=endpoints, by_edge=by_edge)
    store = square_store("dependencies", A)
    found = current().dependencies(store, vertices("sources", sources, A.nrows), weighted, endpoints, by_edge)
    if found is NotImplemented:
        return None
    if not by_edge:
        return Vector.from_dense(found)
    store = current().copy_here(store)
    shares = Compressed(A.nrows, A.ncols, FP64, store.indptr, store.indices, found, rows=store.rows)
    return Matrix._from_store(shares, FP64)


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
