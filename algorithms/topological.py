"""Order of a directed acyclic graph: generations, a topological order, and whether there is one.

    f = nodes with d = 0   (d: in-degree)
    repeat  g<f> = k,  d -= f plus.pair A,  f = nodes that this brings to 0,  k = k + 1   until f is empty

The generation of a node is the number of edges on the longest path that ends there.

Contract: G is not changed.  Values do not matter.  A loop is a cycle, and so is each edge of an undirected graph.
References: Kahn, "Topological sorting of large networks" (Comm. ACM 5, 1962).
"""

from __future__ import annotations

import numpy as np

from grb_tile import Vector, binary, dtypes, graph, monoid, select, semiring

from .errors import CycleError
from .given import GraphLike
from .graph import Graph, room_for
from .report import Callback, Report
from .result import VertexResult


def topological_generations(G: GraphLike, *, callback: Callback | None = None) -> VertexResult:
    """g(i) = the most edges on a path that ends at i: nodes without in-edges are generation 0.

    callback   called with the record of each round (`size` of the generation); something true stops there (later
               generations then have no entries)

    Shapes: A n x n, values size n.  Types: any A; values INT64.
    Raises: CycleError, naming a node of a cycle; TypeError for callback.
    Cost: each edge is looked at once: by one compiled loop where the backend has it and there is no callback
    (gb.graph.topological_levels), else by a product a generation.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import topological_generations
    >>> A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], nrows=5, ncols=5)
    >>> topological_generations(A).to_numpy().tolist()
    [0, 1, 2, 3, 0]
    """
    G = room_for(G, "topological_generations", 48)
    with Report("topological_generations", callback) as report:
        level = _levels(G, report)
        if report.stopped_by != "callback" and _is_cyclic(level):
            node = _on_a_cycle(G, level.to_dense() < 0)
            raise CycleError(
                f"G: node {G.label(node)!r} is on a cycle, so the graph ({G.n} nodes, {G.A.nvals} edges) has no "
                "topological order; condensation(G) makes one node of each cycle",
                node,
            )
    values = select.valuege(level, 0).new(dtypes.INT64, name="generation")
    return VertexResult(values, report, vertices=G.labels)


def topological_sort(G: GraphLike) -> VertexResult:
    """p(i) = the position of i in a topological order: every edge leads to a later position.

    By generation, and within one by number.  Shapes: A n x n, values size n.  Types: any A; values INT64, full.
    Raises: CycleError, naming a node of a cycle.  Cost: as `topological_generations`, and a sort of the nodes.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import topological_sort
    >>> found = topological_sort(gb.Matrix.from_coo([2, 1], [1, 0], nrows=3, ncols=3))
    >>> found.to_numpy().tolist(), [node for node, _ in found.top(3, smallest=True)]
    ([2, 1, 0], [2, 1, 0])
    """
    found = topological_generations(G)
    level = found.to_numpy()
    position = np.empty(level.size, np.int64)
    position[np.argsort(level, kind="stable")] = np.arange(level.size)
    return VertexResult(Vector.from_dense(position, name="position"), found.report, vertices=found.vertices)


def is_dag(G: GraphLike) -> bool:
    """Has the graph no cycle?  A loop is one, and so is an edge that goes both ways.

    Cost: as `topological_generations`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import is_dag
    >>> is_dag(gb.Matrix.from_coo([0, 1], [1, 2], nrows=3, ncols=3))
    True
    """
    G = room_for(G, "is_dag", 48)
    return not _is_cyclic(_levels(G, Report("is_dag")))


def _is_cyclic(level: Vector) -> bool:
    """Is the generation of a node unknown, -1?"""
    return bool(level.reduce(monoid.min, allow_empty=False).new().value < 0)


def _levels(G: Graph, report: Report) -> Vector:
    """The generation of each node, -1 for nodes on a cycle or behind one."""
    level = report.whole(graph.topological_levels, G.A)
    if level is not None:
        return level
    report.finish("converged", True)
    plus_pair = semiring.plus_pair[dtypes.INT64]
    d = Vector.from_scalar(0, G.n, dtypes.INT64, name="waits")
    d(binary.plus) << G.in_degree
    g = Vector.from_scalar(-1, G.n, dtypes.INT64, name="generation")
    f = select.valueeq(d, 0).new(name="frontier")
    while f.nvals:
        # g<f,s> = k
        g(f.S) << report.iterations
        # t = f plus.pair A,  d -= t,  f = t where d = 0
        t = plus_pair(f @ G.A).new(name="t")
        d(binary.minus) << t
        size = f.nvals
        f << select.valueeq(d.dup(mask=t.S), 0)
        if report.note(size=size):
            report.finish("callback", False)
            break
    return g


def _on_a_cycle(G: Graph, left: np.ndarray) -> int:
    """A node of a cycle: among the nodes left each has an in-edge from another, so going back ends in one."""
    i, j, _ = G.A.to_coo(values=False)
    before = np.full(G.n, -1, np.int64)
    inside = left[i] & left[j]
    before[j[inside]] = i[inside]
    node, seen = int(np.flatnonzero(left)[0]), set()
    while node not in seen:
        seen.add(node)
        node = int(before[node])
    return node
