"""Breadth-first search: levels and parents from one source, or from several at once.

    repeat  f<!v> = f A,  v = v + f  until f is empty

f is the frontier, v the visited nodes.  Over any.pair the product has only the nodes reached; over any.secondi its
values are a parent of each.  The planner chooses the direction of each level (push or pull) and the storage.

Contract: G is not changed.  An absent entry is a node that was not reached; the level of the source is 0 and its parent
itself; where several parents are right, any one is given.
Results agree with GAP's BFSVerifier (sbeamer/gapbs, src/bfs.cc) and, with unreached = 2^63 - 1, with LDBC Graphalytics
1.0 section 2.3 (BFS).
References: Yang, Buluc, Owens, "Implementing push-pull efficiently in GraphBLAS" (ICPP 2018), algorithm 1; Kepner and
Gilbert (eds.), "Graph Algorithms in the Language of Linear Algebra" (2011), chapter 3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

from grb_tile import Matrix, Vector, dtypes, graph, semiring

from . import arguments
from .given import GraphLike, Vertex, Vertices
from .graph import Graph, as_graph
from .report import Report
from .result import NOT_ASKED_FOR, Kind, Result


@dataclass(frozen=True)
class BfsResult(Result, Generic[Kind]):
    """levels (INT32, edges from the source; or None), parents (INT64, node; or None), report.

    Vectors of size n from `bfs`, matrices of a row per source from `bfs_multi`.
    """

    _of_vertices: ClassVar[frozenset[str]] = frozenset({"parents"})
    levels: Kind
    parents: Kind
    report: Report

    @property
    def values(self) -> Kind:
        """levels, or parents where only these were asked for."""
        return self.parents if self.levels is None else self.levels


def bfs(
    G: GraphLike,
    source: Vertex,
    *,
    levels: bool = True,
    parents: bool = False,
    max_level: int | None = None,
    target: Vertex | None = None,
    callback: Callable[[dict], Any] | None = None,
) -> BfsResult:
    """f<!v> = f A until f is empty: how far each node is from `source`, and by way of which node.

    levels      ask for the number of edges from the source
    parents     ask for a node before each node on a shortest way
    max_level   stop after this many edges
    target      stop once this node has been reached (nodes of its own level are then complete)
    callback    called with the record of each level; something true stops the search there

    Shapes: A n x n, levels and parents size n.  Types: any A; levels INT32, parents INT64.
    Raises: IndexError, TypeError, ValueError for source, target and max_level.
    Cost: each edge is looked at once at the most, with early exit far fewer.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import bfs
    >>> A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], nrows=5, ncols=5)
    >>> found = bfs(A, 0, parents=True)
    >>> found.levels.to_dict()
    {0: 0, 1: 1, 2: 1, 3: 2}
    >>> found.parents[3].value in (1, 2)
    True
    """
    arguments.flags(levels=levels, parents=parents)
    G = as_graph(G)
    source = arguments.node(source, G)
    max_level = arguments.limit(max_level, "max_level")
    target = None if target is None else arguments.node(target, G, "target")
    if not levels and not parents:
        raise ValueError("levels, parents: both are False, so nothing is asked for; pass levels=True or parents=True")
    with Report("bfs", callback) as report:
        found = report.whole(
            graph.bfs, G.A, source, symmetric=G.known_symmetric, levels=levels, parents=parents, max_level=max_level,
            target=target,
        )  # fmt: skip
        if found is not None:
            return _adopted(G, found, report, max_level, target)
        v, p = _search(G.A, [source], report, max_level, target)
    return BfsResult(v if levels else NOT_ASKED_FOR, p if parents else NOT_ASKED_FOR, report, vertices=G.labels)


def levels_from(A: Matrix, sources: Sequence[int], symmetric: bool) -> Vector:
    """The least number of edges from any of the sources to each node that one of them reaches, INT32."""
    report = Report("levels_from")
    found = report.whole(graph.bfs, A, sources, symmetric=symmetric)
    return _search(A, sources, report)[0] if found is None else found.levels


def _search(
    A: Matrix, sources: Sequence[int], report: Report, max_level: int | None = None, target: int | None = None
) -> tuple[Vector, Vector]:
    """(levels, parents) from the sources as one frontier."""
    v = Vector.from_coo(sources, 0, dtypes.INT32, size=A.nrows, name="levels")
    p = Vector.from_coo(sources, sources, dtypes.INT64, size=A.nrows, name="parents")
    _expand(A, p.dup(name="frontier"), v, p, report, max_level, target)
    return v, p


def _expand(
    A: Matrix, f: Any, v: Any, p: Any, report: Report, max_level: int | None, target: int | None = None
) -> None:
    """The loop, a product a level: v gets the levels and p, unless it is None, the parents of what f reaches.

    f, v, p    vectors, or matrices with a row for each search
    """
    reach = semiring.any_pair[dtypes.BOOL] if p is None else semiring.ss.any_secondi[dtypes.INT64]
    report.finish("converged", True)
    while target is None or target not in v:
        if max_level is not None and report.iterations >= max_level:
            report.finish("max_level", False)
            break
        expanded = f.nvals
        # f<!v,r,s> = f A : each node that an edge from f reaches for the first time, with the node it comes from
        f(~v.S, replace=True) << reach(f @ A)
        # v<f,s> = level
        v(f.S) << report.iterations + 1
        if p is not None:
            # p<f,s> = f
            p(f.S) << f
        if report.note(frontier=expanded, found=f.nvals) or not f.nvals:
            break
    else:
        report.finish("target", False)


def _adopted(
    G: Graph, found: graph.Bfs, report: Report, max_level: int | None, target: int | None = None,
    sources: list[int] | None = None,
) -> BfsResult[Any]:  # fmt: skip
    """The result of the loop as one operation; whether it was complete."""
    done = found.report
    report.adopt(lambda: done.levels)
    if max_level is not None or target is not None:
        reached = (found.parents if found.levels is None else found.levels).nvals
        # A search is complete if all that it found it also went on from.
        if done.expanded < reached:
            by_target = target is not None and len(done.levels) != max_level
            report.finish("target" if by_target else "max_level", False)
    return BfsResult(found.levels, found.parents, report, vertices=G.labels, sources=sources)


def bfs_multi(
    G: GraphLike,
    sources: Vertices,
    *,
    levels: bool = True,
    parents: bool = False,
    max_level: int | None = None,
    callback: Callable[[dict], Any] | None = None,
) -> BfsResult[Matrix]:
    """F<!V> = F A with a row for each source: the searches of `bfs` side by side.

    Shapes: A n x n, levels and parents len(sources) x n; row k belongs to sources[k].  Sources may repeat.
    Raises: as `bfs`.
    Cost: 64 sources share the passes over the edges, one a level; 8 bytes for each source and vertex.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import bfs_multi
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], nrows=4, ncols=4)
    >>> bfs_multi(A, [0, 2]).levels.to_dicts()
    {0: {0: 0, 1: 1, 2: 2, 3: 3}, 1: {2: 0, 3: 1}}
    """
    arguments.flags(levels=levels, parents=parents)
    G = as_graph(G)
    sources = arguments.nodes(sources, G)
    max_level = arguments.limit(max_level, "max_level")
    if not levels and not parents:
        raise ValueError("levels, parents: both are False, so nothing is asked for; pass levels=True or parents=True")
    with Report("bfs_multi", callback) as report:
        found = report.whole(
            graph.bfs_multi, G.A, sources, symmetric=G.known_symmetric, levels=levels, parents=parents,
            max_level=max_level,
        )  # fmt: skip
        if found is not None:
            return _adopted(G, found, report, max_level, sources=sources)
        rows = list(range(len(sources)))
        V = Matrix.from_coo(rows, sources, 0, dtypes.INT32, nrows=len(sources), ncols=G.n, name="levels")
        P = Matrix.from_coo(rows, sources, sources, dtypes.INT64, nrows=len(sources), ncols=G.n, name="parents")
        F = P.dup(dtypes.INT64 if parents else dtypes.BOOL, name="frontier")
        _expand(G.A, F, V, P if parents else None, report, max_level)
    V, P = (V if levels else NOT_ASKED_FOR, P if parents else NOT_ASKED_FOR)
    return BfsResult(V, P, report, vertices=G.labels, sources=sources)
