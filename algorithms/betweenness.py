"""Betweenness of vertices and of edges: the share of shortest paths that pass through each.

    forward    F_d<!V,r,s> = F_{d-1} A,  V = V + F_d                 until F_d is empty
    backward   W_d = (1 + D_d) / F_d,  D_{d-1} = (W_d A')<F_{d-1},s> * F_{d-1}
    result     b(v) = sum over d of [+_s D_d(s, v)],  e(v, w) = sum over d of (F_{d-1}' W_d)(v, w) for each edge
    weighted   the same over the edges that are tight: betweenness_weighted.py

A row s of each matrix belongs to one source.  F_d(s, v) counts the shortest paths from s to v at level d, D_d(s, v) is
Brandes' dependency of s on v.  Each level keeps its own F_d, so the matrices of all levels together have at most an
entry for each source and vertex.

A compiled loop searches from one source after the other instead where there is one (gb.graph; on a GPU where
edges have length 1, from many sources at once), with the same result.

Contract: G is not changed.  Without weighted=True every edge has length 1, whatever its value; loops are on no shortest
path.  Directed edges are followed as they point.  Scores are FP64: path counts above 2^53 are rounded.
Agrees with networkx.betweenness_centrality and edge_betweenness_centrality (3.6), also for k sources; GAP's BC
(sbeamer/gapbs, src/bc.cc) is that of its four sources with normalized="sum", over its maximum.
References: Brandes, "A faster algorithm for betweenness centrality" (J. Math. Sociology 25, 2001); Brandes, "On
variants of shortest-path betweenness centrality" (Social Networks 30, 2008); Buluc and Gilbert, "The Combinatorial
BLAS" (2011), section 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, monoid, semiring, unary
from grb_tile.graph.walks import fresh_seed

from . import arguments
from .betweenness_weighted import add_to_edges, add_to_vertices, lengths
from .given import GraphLike, Vertices
from .graph import room_for
from .report import Report
from .result import EdgeResult, VertexResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .graph import Graph
    from .report import Callback

FP64 = dtypes.FP64


def betweenness(
    G: GraphLike,
    *,
    k: int | None = None,
    sources: Vertices | None = None,
    batch: int = 64,
    normalized: bool | str = True,
    endpoints: bool = False,
    weighted: bool = False,
    seed: int | None = None,
    callback: Callback | None = None,
) -> VertexResult:
    """b(v) = sum over s != v != t of (shortest paths from s to t through v) / (shortest paths from s to t).

    k            estimate from k sources drawn at random with `seed`, 1 <= k <= n; None: all, which is exact
    sources      estimate from these instead; sources may not be given with k
    batch        searches that run side by side; a batch needs about 40 bytes for each source and vertex
    normalized   True: divided by the number of pairs (s, t); False: an undirected pair counts once.  Both scale a
                 sample up to all sources; "sum" is the sum over the sources as it is
    endpoints    count s and t as on their paths
    weighted     the length of an edge is its value, which must be above 0, rather than 1
    seed         of the sample; the same seed draws the same sources
    callback     called with the record of each batch; something true stops there (scores are then those of a sample)

    Shapes: A n x n, values size n.  Types: any A; values FP64, full.
    Raises: ValueError, TypeError, IndexError for the arguments; weighted: ValueError, TypeError, OverflowError for
    weights that are not above 0 and finite, or with which sums of FP64 are not exact enough; OverflowError where the
    shortest paths between two vertices number more than FP64 holds.
    Cost: for each source two looks at each edge within its reach; weighted: and a heap of its vertices.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import betweenness
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> betweenness(A).to_dict()
    {0: 0.0, 1: 1.0, 2: 0.0}
    """
    arguments.flags(endpoints=endpoints, weighted=weighted)
    G = room_for(G, "betweenness", 48 if k is None and sources is None else 8)
    chosen, batch = _sources(G, k, sources, seed), arguments.count(batch, "batch", 1)
    _check_normalized(normalized)
    L = lengths(G) if weighted else None
    b = Vector.from_scalar(0.0, G.n, FP64, name="betweenness")
    done: list[int] = []
    with Report("betweenness", callback, weighted=weighted) as report:
        for part in _batches(G, chosen, batch, done, report):
            found = graph.dependencies(G.A if L is None else L, part, weighted=weighted, endpoints=endpoints)
            if found is not None:
                b(binary.plus) << found
                continue
            if L is not None:
                add_to_vertices(b, L, part, endpoints)
                continue
            levels = _forward(G, part)
            for _, D, _ in _backward(G, levels):
                # b += [+_s D(s, v)]
                b(binary.plus) << D.reduce_columnwise(monoid.plus)
            if endpoints:
                _add_endpoints(b, levels, part)
    # Without endpoints a path that starts at v does not count for v, so n - 1 sources are possible ones.
    possible = G.n if endpoints else G.n - 1
    _rescale(G, b, done, possible, normalized, not endpoints)
    return VertexResult(b, report, vertices=G.labels)


def edge_betweenness(
    G: GraphLike,
    *,
    k: int | None = None,
    sources: Vertices | None = None,
    batch: int = 64,
    normalized: bool | str = True,
    weighted: bool = False,
    seed: int | None = None,
    callback: Callback | None = None,
) -> EdgeResult:
    """e(v, w) = sum over s, t of (shortest paths from s to t through v -> w) / (shortest paths from s to t).

    Parameters, errors: as `betweenness`.  Shapes: A and values n x n; types: any A; values FP64, one for each entry
    of A (both directions of an undirected edge have the same).
    Cost: as `betweenness`, and 8 bytes for each entry of A.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import edge_betweenness
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> edge_betweenness(A, normalized=False).to_dict()
    {(0, 1): 2.0, (1, 2): 2.0}
    """
    arguments.flags(weighted=weighted)
    G = room_for(G, "edge_betweenness", 40 if k is None and sources is None else 0)
    chosen, batch = _sources(G, k, sources, seed), arguments.count(batch, "batch", 1)
    _check_normalized(normalized)
    L = lengths(G) if weighted else None
    E = unary.one[FP64](G.A).new(name="edge_betweenness")
    E << binary.times(E, 0.0)
    along = semiring.plus_times[FP64]
    done: list[int] = []
    with Report("edge_betweenness", callback, weighted=weighted) as report:
        for part in _batches(G, chosen, batch, done, report):
            found = graph.dependencies(G.A if L is None else L, part, weighted=weighted, by_edge=True)
            if found is not None:
                E(binary.plus) << found
                continue
            if L is not None:
                add_to_edges(E, L, part)
                continue
            for W, _, F in _backward(G, _forward(G, part), to_source=True):
                # E<A,s> += F' W : an edge joins a vertex of one level and a vertex of the next
                E(binary.plus, mask=G.A.S) << along(F.T @ W)
    if not G.directed:
        E << binary.plus(E | E.T)
    _rescale(G, E, done, G.n, normalized, False)
    return EdgeResult(E, report, vertices=G.labels, directed=G.directed)


def _sources(G: Graph, k: int | None, sources: Vertices | None, seed: int | None) -> list[int] | None:
    """The vertices that paths start from; None: all."""
    if seed is not None:
        arguments.count(seed, "seed")
    if sources is not None:
        if k is not None:
            raise ValueError(f"k, sources: only one may be given, got k={k!r} and sources={sources!r}")
        found = arguments.nodes(sources, G)
        if len(set(found)) < len(found):
            raise ValueError(f"sources: expected each vertex once, got {found!r}")
        return found
    if k is None:
        return None
    k = arguments.count(k, "k", 1)
    if k > G.n:
        raise ValueError(f"k: expected at most the {G.n} vertices of the graph, got {k}; leave k out for all of them")
    seed = fresh_seed() if seed is None else seed
    return np.random.default_rng(seed).choice(G.n, k, replace=False).tolist()


def _check_normalized(normalized: bool | str) -> None:
    if normalized is not True and normalized is not False and not isinstance(normalized, np.bool_):
        if isinstance(normalized, str) and normalized == "sum":
            return
        raise ValueError(f"normalized: expected True, False or 'sum', got {normalized!r}")


def _batches(G: Graph, chosen: list[int] | None, batch: int, done: list[int], report: Report) -> Iterator[list[int]]:
    """The sources in batches; `done` is those of the batches that were completed."""
    report.finish("converged", True)
    every = list(range(G.n)) if chosen is None else chosen
    for start in range(0, len(every), batch):
        part = every[start : start + batch]
        yield part
        done += part
        if report.note(sources=len(done), of=len(every)):
            return


def _forward(G: Graph, sources: list[int]) -> list[Matrix]:
    """F_0, F_1, ...: numbers of shortest paths to the vertices of each level, a row for each source."""
    ns, n = len(sources), G.n
    paths = semiring.plus_first[FP64]
    F = Matrix.from_coo(range(ns), sources, 1.0, FP64, nrows=ns, ncols=n, name="F")
    V = F.dup(dtypes.BOOL, name="visited")
    levels = []
    while F.nvals:
        levels.append(F)
        # F<!V,r,s> = F A
        F = paths(F @ G.A).new(mask=~V.S, name="F")
        # V<F,s> = true
        V(F.S) << True
    return levels


def _backward(G: Graph, levels: list[Matrix], to_source: bool = False) -> Iterator[tuple[Matrix, Matrix, Matrix]]:
    """(W_d, D_{d-1}, F_{d-1}) from the last level to level 2, or to level 1 with `to_source`."""
    paths = semiring.plus_first[FP64]
    D = None
    for d in range(len(levels) - 1, 0 if to_source else 1, -1):
        # W = (1 + D) / F
        W = unary.minv(levels[d]).new(name="W")
        if D is not None:
            W(binary.plus) << binary.truediv(D & levels[d])
        # D<F,s> = (W A') * F, F of the level before
        F = levels[d - 1]
        D = paths(W @ G.AT).new(mask=F.S, name="D")
        D << binary.times(D & F)
        yield W, D, F


def _add_endpoints(b: Vector, levels: list[Matrix], sources: list[int]) -> None:
    """b(t) += 1 for each t that a source reaches, b(s) += the number of them."""
    for F in levels[1:]:
        ones = unary.one[FP64](F).new()
        b(binary.plus) << ones.reduce_columnwise(monoid.plus)
        rows, reached = ones.reduce_rowwise(monoid.plus).new().to_coo()
        b(binary.plus) << Vector.from_coo(np.asarray(sources, np.int64)[rows], reached, size=b.size)


def _sum(b: Vector | Matrix) -> float:
    """[+ b]"""
    total = b.reduce(monoid.plus) if isinstance(b, Vector) else b.reduce_scalar(monoid.plus)
    return float(total.new().value or 0.0)


def _rescale(
    G: Graph, b: Vector | Matrix, sources: list[int], possible: int, normalized: bool | str, excluded: bool
) -> None:
    """Scale the sums over `sources` to all `possible` ones; `excluded`: a source's own paths do not count for it.

    Raises: OverflowError for sums that are no numbers.
    """
    if not np.isfinite(_sum(b)):
        raise OverflowError(
            "G: more than 1.8e308 shortest paths join two vertices, beyond FP64, so that no share of them is a number; "
            "take sources whose paths are fewer"
        )
    if possible < 2 or not sources or normalized == "sum":
        return
    every = len(sources) == G.n
    divisor = possible - 1 if normalized else (1 if G.directed else 2) / possible
    if every or not excluded:
        b << binary.times(b, 1 / ((possible if every else len(sources)) * divisor))
        return
    b_sources = b.dup(mask=Vector.from_coo(sources, True, size=G.n).S)
    b << binary.times(b, 1 / (len(sources) * divisor))
    # A sampled vertex had one possible source fewer: with one sample there is no data for it.
    b(b_sources.S) << binary.times(b_sources, 1 / ((len(sources) - 1) * divisor) if len(sources) > 1 else np.nan)
