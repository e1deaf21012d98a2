"""Distances between all pairs, and what is measured by them: eccentricity, diameter, radius.

    apsp              a search from each vertex, or  D min= D(:, k) min.+ D(k, :)  for each k (Floyd, Warshall)
    eccentricity(v)   [max_u d(v, u)]
    diameter          max of the eccentricities, radius: min of them

Contract: G is not changed.  Edges weigh 1, or with weighted=True their values.  An absent distance is a vertex that is
not reached.  Eccentricity, diameter and radius need a graph in which each vertex reaches each other one.
Agrees with networkx eccentricity, diameter, radius, floyd_warshall, and scipy.sparse.csgraph.shortest_path.
References: Takes and Kosters, "Computing the eccentricity distribution of large graphs" (Algorithms 6, 2013),
algorithm 2 (bounds); Magnien, Latapy, Habib, "Fast computation of empirically tight bounds for the diameter of massive
graphs" (2009) (double sweep).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, exceptions, graph, monoid, unary
from grb_tile.memory import require

from . import arguments
from .bfs import bfs, bfs_multi
from .errors import NegativeCycleError
from .given import GraphLike, Vertices
from .graph import Graph, as_graph, room_for
from .report import Report
from .result import VertexResult
from .sssp import Weights, sssp
from .sssp_multi import sssp_multi

if TYPE_CHECKING:
    from .report import Callback

BATCH = 256  # searches that run side by side
RELAXATION = (
    8  # a search takes as long for an edge as Floyd and Warshall's loop, which is in order of memory, for eight
)
EXACT = {"i": 2.0**53, "u": 2.0**53, "f": np.inf}  # lengths below it are those of FP64


def apsp(
    G: GraphLike,
    *,
    sources: Vertices | None = None,
    weighted: bool = False,
    method: str = "auto",
    memory: float = 4e9,
    callback: Callback | None = None,
) -> VertexResult[Matrix]:
    """D(k, v): the length of a shortest path from the k-th source to v; a row for each source.

    sources    the vertices that paths start from; None: all
    weighted   the length of a path is the sum of its weights
    method     "search": from each source; "floyd_warshall": by way of each vertex in turn, for graphs with many edges
               or weights that are negative; "auto": the latter where all are sources and a weight is negative, or
               there are more than n^2 / 8 weighted edges
    memory     the bytes that the result may need; more are refused before anything is computed
    callback   called with the record of each batch of sources; something true stops there

    Shapes: A n x n, values len(sources) x n.  Types: any A, values INT32; weighted: as `sssp`.
    Raises: OutOfMemory with the bytes that would be needed; IndexError, TypeError, ValueError for the arguments; what
    `sssp` raises for weights.
    Cost: a breadth-first search for each source, 64 in a word; weighted: a shortest path search for each,
    256 side by side; "floyd_warshall": n products of a column and a row, n^2 each.
    Source: Floyd, "Algorithm 97: shortest path" (Comm. ACM 5, 1962); Warshall (J. ACM 9, 1962).

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import apsp
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.5, 2, 4], nrows=3, ncols=3)
    >>> apsp(A).to_numpy().tolist()
    [[0, 1, 2], [2, 0, 1], [1, 2, 0]]
    >>> apsp(A, weighted=True).to_dict()[1]
    {0: 6.0, 1: 0.0, 2: 2.0}
    """
    arguments.flags(weighted=weighted)
    G = as_graph(G)
    wanted: Any = range(G.n) if sources is None else arguments.nodes(sources, G)
    arguments.choice(method, ("auto", "search", "floyd_warshall"), "method")
    if arguments.real(memory, "memory") < 0:
        raise ValueError(f"memory: expected 0 or more bytes, got {memory!r}")
    weights = Weights(G) if weighted else None  # refuses weights without an order
    if method == "auto" and sources is None and weights is not None and not weights.may_overflow:
        if weights.emin < 0 or RELAXATION * G.A.nvals > G.n**2:
            method = "floyd_warshall"
    # a column index and a distance for each pair
    needed = (G.n if method == "floyd_warshall" else len(wanted)) * G.n * (16 if weighted else 12)
    if needed > memory:
        raise exceptions.OutOfMemory(
            f"apsp: {len(wanted)} sources x {G.n} vertices need up to {needed:,} bytes, memory allows {memory:,.0f}; "
            "give fewer sources, or raise memory"
        )
    if method == "floyd_warshall":
        require(8 * G.n**2, f"apsp: {G.n} x {G.n} distances", 'name sources, or method="search"')
    wanted = list(wanted)
    rows = []
    with Report("apsp", callback, weighted=weighted) as report:
        report.finish("converged", True)
        if method == "floyd_warshall":
            D: Any = _floyd_warshall(G, weights, report)
            D = D if sources is None else D[wanted, :].new(name="distances")
            return VertexResult(D, report, vertices=G.labels, sources=wanted)
        for start in range(0, len(wanted), BATCH):
            part = wanted[start : start + BATCH]
            rows.append(sssp_multi(G, part) if weighted else bfs_multi(G.numbered, part).levels)
            if report.note(sources=start + len(part), of=len(wanted)):
                break
        done = wanted[: sum(block.nrows for block in rows)]
        D = _stacked(rows, G)
    return VertexResult(D, report, vertices=G.labels, sources=done)


def _floyd_warshall(G: Graph, weights: Weights | None, report: Report) -> Matrix:
    """D(i, j), an edge being its weight, or 1."""
    if weights is not None and weights.may_overflow:
        raise OverflowError(
            f"G: {G.n} weights of up to {max(abs(weights.emin), abs(weights.emax))} may exceed {weights.dtype.name}; "
            "use FP64 weights: A.dup(gb.dtypes.FP64)"
        )
    D = unary.one[dtypes.INT32](G.A).new() if weights is None else weights.A.dup()
    # D min= 0 on the diagonal
    D(binary.min) << Vector.from_scalar(0, G.n, D.dtype).diag()
    result = dtypes.INT32 if weights is None else weights.result_dtype
    if weights is None or G.n * max(abs(float(weights.emin)), abs(float(weights.emax))) < EXACT[D.dtype.np_type.kind]:
        dense = D.to_dense(np.inf, dtype=dtypes.FP64)
        cycle = graph.floyd_warshall(dense)
        if cycle is not None:
            if cycle < G.n:
                raise _negative_cycle(G, cycle)
            return Matrix.from_dense(dense, missing_value=np.inf).dup(result, name="distances")
    for k in range(G.n):
        if D[k, k].value < 0:
            raise _negative_cycle(G, k)
        # D min= D(:, k) min.+ D(k, :)
        column: Any = D[:, k].new()
        D(binary.min) << column.outer(D[k, :].new(), binary.plus)
        if report.note(vertices=k + 1, of=G.n):
            break
    return D.dup(result, name="distances")


def _negative_cycle(G: Graph, k: int) -> NegativeCycleError:
    return NegativeCycleError(
        f"G: vertex {G.label(k)!r} is on a cycle of negative total weight, so that distances have no minimum; "
        "remove the cycle or make its weights positive",
        k,
    )


def eccentricity(
    G: GraphLike, sources: Vertices | None = None, *, weighted: bool = False, callback: Callback | None = None
) -> VertexResult:
    """e(v) = [max_u d(v, u)]: how far the farthest vertex is.

    sources    the vertices to compute; None: all.  Others have no entry in the result
    weighted   the length of a path is the sum of its weights
    callback   called with the record of each batch of searches; something true stops there

    Shapes: A n x n, values size n.  Types: any A, values INT32; weighted: as `sssp`.
    Raises: ValueError, naming a vertex, where one does not reach all others; what `apsp` raises for the arguments.
    Cost: without weights in an undirected graph usually a few searches: those of the vertices whose bounds are apart,
    d(v, u) <= e(v) <= e(u) + d(u, v); else a search for each vertex.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import eccentricity
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> eccentricity(A).to_dict()
    {0: 2, 1: 1, 2: 2}
    """
    arguments.flags(weighted=weighted)
    G = room_for(G, "eccentricity", 40 if sources is None else 0)
    with Report("eccentricity", callback, weighted=weighted) as report:
        if sources is None and not weighted and G.n and G.is_symmetric_structure:
            return VertexResult(_bounded(G, report, "all"), report, vertices=G.labels)
        wanted = list(range(G.n)) if sources is None else sorted(set(arguments.nodes(sources, G)))
        dtype = Weights(G).result_dtype if weighted else dtypes.INT32
        report.finish("converged", True)
        found: list[Any] = []
        for start in range(0, len(wanted), BATCH):
            part = wanted[start : start + BATCH]
            D = sssp_multi(G, part) if weighted else bfs_multi(G.numbered, part).levels
            found += _greatest(G, D, part)
            if report.note(vertices=len(found), of=len(wanted)):
                break
        e = Vector.from_coo(wanted[: len(found)], np.array(found, dtype.np_type), dtype, size=G.n, name="eccentricity")
    return VertexResult(e, report, vertices=G.labels)


def diameter(G: GraphLike, *, method: str = "exact", weighted: bool = False) -> int | float:
    """max of the eccentricities: the length of the longest shortest path.

    method     "exact"; "estimate": the greatest level of four searches, each from the farthest vertex of the one
               before (double sweep): a lower bound, and exact on many graphs
    weighted   the length of a path is the sum of its weights

    Raises: ValueError for method and for a graph without vertices; what `eccentricity` raises.
    Cost: as `eccentricity`, without weights in an undirected graph a search only where it can change the maximum.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import diameter
    >>> diameter(gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3))
    2
    """
    arguments.flags(weighted=weighted)
    G = _with_vertices(G)
    arguments.choice(method, ("exact", "estimate"), "method")
    if method == "estimate":
        return _sweeps(G, weighted)
    return _extreme(G, weighted, "greatest")


def radius(G: GraphLike, *, weighted: bool = False) -> int | float:
    """min of the eccentricities.  Parameters, errors, cost: as `diameter`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import radius
    >>> radius(gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3))
    1
    """
    arguments.flags(weighted=weighted)
    return _extreme(_with_vertices(G), weighted, "least")


def _with_vertices(G: GraphLike) -> Graph:
    G = room_for(G, "diameter", 40)
    if G.n == 0:
        raise ValueError("G: a graph without vertices has no diameter and no radius")
    return G


def _extreme(G: Graph, weighted: bool, which: str) -> Any:
    if not weighted and G.is_symmetric_structure:
        with Report(which) as report:
            e = _bounded(G, report, which)
    else:
        e = eccentricity(G, weighted=weighted).values
    found = e.to_coo(indices=False)[1]
    return (found.max() if which == "greatest" else found.min()).item()


def _bounded(G: Graph, report: Report, which: str) -> Vector:
    """Eccentricities by bounds: searches from the vertex of the greatest upper and of the least lower bound in turns.

    which   "all"; "greatest", "least": only those are given that decide the maximum, the minimum
    """
    n = G.n
    low, high = np.zeros(n, np.int32), np.full(n, n, np.int32)
    degree = G.out_degree.to_dense(0)
    open_ = np.ones(n, bool)
    upper = True
    report.finish("converged", True)
    while open_.any():
        at = np.nonzero(open_)[0]
        bound = high[at] if upper else -low[at]
        # among equal bounds the vertex with the most neighbours
        u = int(at[np.lexsort((-degree[at], -bound))[0]])
        upper = not upper
        levels = bfs(G.numbered, u).levels
        _require_reached(G, levels.nvals, u)
        d = levels.to_coo(indices=False)[1]
        e = int(d.max())
        # max(d, e - d) <= e(v) <= e + d
        np.maximum(low, np.maximum(d, e - d), out=low)
        np.minimum(high, e + d, out=high)
        low[u] = high[u] = e
        open_ &= low < high
        if which == "greatest":
            open_ &= high > low.max()
        elif which == "least":
            open_ &= low < high.min()
        if report.note(open=int(open_.sum())):
            break
    if which == "all":
        known = np.nonzero(low == high)[0]
        return Vector.from_coo(known, low[known], dtypes.INT32, size=n, name="eccentricity")
    return Vector.from_dense(np.array([low.max() if which == "greatest" else high.min()], np.int32))


def _sweeps(G: Graph, weighted: bool) -> Any:
    """The greatest distance of four searches, each from the farthest vertex of the one before."""
    u, best = int(np.argmax(G.out_degree.to_dense(0))), None
    for _ in range(4):
        d = sssp(G.numbered, u).distances if weighted else bfs(G.numbered, u).levels
        _require_reached(G, d.nvals, u)
        values = d.to_coo(indices=False)[1]
        u = int(np.argmax(values))
        best = values[u].item() if best is None else max(best, values[u].item())
    return best


def _stacked(rows: list[Matrix], G: Graph) -> Matrix:
    """The blocks below one another."""
    if len(rows) == 1:
        D = rows[0]
    elif rows:
        D = Matrix(rows[0].dtype, sum(block.nrows for block in rows), G.n)
        D.ss.concat([[block] for block in rows])
    else:
        D = Matrix(dtypes.INT32, 0, G.n)
    D.name = "distances"
    return D


def _greatest(G: Graph, D: Matrix, part: list[int]) -> list[Any]:
    """[max_v D(k, v)] of rows in which every vertex is reached."""
    if D.nvals < D.nrows * D.ncols:
        counts = np.bincount(D.to_coo(columns=False, values=False)[0], minlength=D.nrows)
        k = int(np.argmin(counts))
        _require_reached(G, int(counts[k]), part[k])
    return D.reduce_rowwise(monoid.max).new().to_coo(indices=False)[1].tolist()


def _require_reached(G: Graph, reached: int, v: int) -> None:
    if reached < G.n:
        what = "strongly connected" if G.directed else "connected"
        raise ValueError(
            f"G: vertex {G.label(v)!r} reaches {reached} of {G.n} vertices, so that its eccentricity is infinite; "
            f"give a graph that is {what}"
        )
