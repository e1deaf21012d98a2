"""Paths between vertices: is there one, how long is the shortest, through which vertices, and what can be reached.

    reached from s     structure of the levels of bfs(G, s)
    that reach t       the same on A'
    shortest path      the predecessors of bfs or sssp, followed from the target back

Contract: G is not changed.  A path has no edge at the least: a vertex reaches itself.  Edges weigh 1, or with
weighted=True their values (>= 0, or any without a cycle of negative length).
Agrees with networkx has_path, shortest_path_length, ancestors, descendants, ego_graph; where several shortest paths
exist, `shortest_path` gives one of them.
Reference: Cormen, Leiserson, Rivest, Stein, "Introduction to Algorithms" (2009), sections 22.2 and 24.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from grb_tile import Vector, binary, dtypes

from . import arguments
from .bfs import bfs
from .errors import NoPathError
from .given import GraphLike, Vertex
from .graph import Graph, as_graph
from .report import Report
from .result import VertexResult
from .sssp import sssp

if TYPE_CHECKING:
    from collections.abc import Callable

    from .bfs import BfsResult
    from .sssp import SsspResult


def has_path(G: GraphLike, source: Vertex, target: Vertex) -> bool:
    """Whether edges lead from `source` to `target`.  The search ends with the level of the target.

    Raises: IndexError, TypeError for source and target.
    Cost: as `bfs` up to the level of the target.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import has_path
    >>> A = gb.Matrix.from_coo([0, 1], [1, 2], nrows=3, ncols=3)
    >>> has_path(A, 0, 2), has_path(A, 2, 0)
    (True, False)
    """
    G = as_graph(G)
    source, target = arguments.node(source, G), arguments.node(target, G, "target")
    return target in bfs(G.numbered, source, target=target).levels


def shortest_path(G: GraphLike, source: Vertex, target: Vertex, *, weighted: bool = False) -> list[Any]:
    """The labels of the vertices of a shortest path from `source` to `target`, both included.

    weighted   the length of a path is the sum of its weights rather than the number of edges

    Raises: NoPathError where edges do not lead there; IndexError, TypeError for source and target; what `sssp` raises
    for weights.
    Cost: a search from the source, which without weights ends with the level of the target.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import shortest_path
    >>> A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], [1, 9, 3, 1], nrows=5, ncols=5)
    >>> shortest_path(A, 0, 3), shortest_path(A, 0, 3, weighted=True)
    ([0, 2, 3], [0, 1, 2, 3])
    """
    arguments.flags(weighted=weighted)
    G = as_graph(G)
    source, target = arguments.node(source, G), arguments.node(target, G, "target")
    if weighted:
        before = sssp(G.numbered, source, predecessors=True, target=target).predecessors
    else:
        before = bfs(G.numbered, source, levels=False, parents=True, target=target).parents
    _require_path(G, source, target, before)
    path = path_to(target, before)
    return list(map(G.label, path))


def path_to(target: int, before: Vector) -> list[int]:
    """The vertices from the root of the tree to `target`; before(v): the vertex before v, the root's is itself."""
    vertices, parents = before.to_coo()  # ascending
    vertices = vertices.astype(np.int64)  # else searchsorted casts all of them for each vertex
    path = [target]
    while True:
        parent = int(parents[np.searchsorted(vertices, path[-1])])
        if parent == path[-1]:
            return path[::-1]
        path.append(parent)


@overload
def shortest_path_length(G: GraphLike, source: Vertex, *, weighted: bool = False) -> BfsResult | SsspResult: ...
@overload
def shortest_path_length(G: GraphLike, source: Vertex, target: Vertex, *, weighted: bool = False) -> int | float: ...
def shortest_path_length(G: GraphLike, source: Vertex, target: Vertex | None = None, *, weighted: bool = False) -> Any:
    """The length of a shortest path from `source` to `target`; without a target a result with that to each vertex.

    Parameters, errors, cost: as `shortest_path`.  The result without a target is that of `bfs` or `sssp`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import shortest_path_length
    >>> A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], [1, 9, 3, 1], nrows=5, ncols=5)
    >>> shortest_path_length(A, 0, 3), shortest_path_length(A, 0, 3, weighted=True)
    (2, 5)
    >>> shortest_path_length(A, 1).to_dict()
    {1: 0, 2: 1, 3: 2}
    """
    arguments.flags(weighted=weighted)
    G = as_graph(G)
    search: Callable[..., BfsResult | SsspResult] = sssp if weighted else bfs
    if target is None:
        return search(G, source)
    source, target = arguments.node(source, G), arguments.node(target, G, "target")
    found = search(G.numbered, source, target=target)
    _require_path(G, source, target, found.values)
    return found.values[target].value


def descendants(G: GraphLike, source: Vertex) -> VertexResult:
    """True at each vertex that edges lead to from `source`, absent elsewhere and at the source itself.

    Raises, cost: as `bfs`.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import descendants
    >>> descendants(gb.Matrix.from_coo([0, 1, 2], [1, 2, 1], nrows=4, ncols=4), 0).to_dict()
    {1: True, 2: True}
    """
    G = as_graph(G)
    return _reached(G, G, source, "descendants")


def ancestors(G: GraphLike, source: Vertex) -> VertexResult:
    """True at each vertex from which edges lead to `source`, absent elsewhere and at the source itself.

    Raises, cost: as `bfs`.  A directed graph is transposed, once.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import ancestors
    >>> ancestors(gb.Matrix.from_coo([0, 1, 2], [1, 2, 1], nrows=4, ncols=4), 1).to_dict()
    {0: True, 2: True}
    """
    G = as_graph(G)
    return _reached(G, Graph(G.AT, True) if G.directed else G, source, "ancestors")


def ego_graph(G: GraphLike, source: Vertex, radius: int = 1, *, undirected: bool = False) -> Graph:
    """The subgraph of the vertices within `radius` edges of `source`, in the order of their numbers.

    radius       the most edges from the source; >= 0
    undirected   count edges in both directions

    The labels of the result are those of G; where G has none, the numbers that the vertices have in G.

    Raises, cost: as `bfs` up to `radius`, and an extraction of rows and columns.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import ego_graph
    >>> E = ego_graph(gb.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0], nrows=4, ncols=4), 2)
    >>> E.labels, E.A.to_dicts()
    ([2, 3], {0: {1: 1.0}})
    """
    arguments.flags(undirected=undirected)
    G = as_graph(G)
    radius = arguments.count(radius, "radius")
    over = G
    if undirected and not G.is_symmetric_structure:
        over = Graph(G.keep("both ways", lambda: binary.pair[dtypes.BOOL](G.A | G.AT).new()))
    inside = bfs(over.numbered, arguments.node(source, G), max_level=radius).levels.to_coo(values=False)[0].tolist()
    labels = list(map(G.label, inside))
    return Graph(G.A[inside, inside].new(name="A"), G._declared, labels=labels)


def _reached(G: Graph, over: Graph, source: Vertex, name: str) -> VertexResult:
    source = arguments.node(source, G)
    with Report(name) as report:
        levels = bfs(over.numbered, source).levels
        found = Vector(dtypes.BOOL, G.n, name=name)
        # found<levels,s> = true
        found(levels.S) << True
        del found[source]
    return VertexResult(found, report, vertices=G.labels)


def _require_path(G: Graph, source: int, target: int, found: Any) -> None:
    if target not in found:
        raise NoPathError(
            f"target: no path leads from {G.label(source)!r} to {G.label(target)!r}; has_path says so beforehand"
        )
