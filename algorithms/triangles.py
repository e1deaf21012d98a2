"""Triangles of an undirected graph: in all, and at each node.

    C<L,s> = L plus.pair L',   count = sum of C

L is the strictly lower triangle.  C(i, j) counts the nodes k < j that neighbour both ends of the edge i > j, so each
triangle i > j > k is met once.  With the nodes in descending order of degree no row of L is long: a node has at most
sqrt(2 m) neighbours of at least its own degree.

Contract: G is not changed.  Loops at a node are ignored, values too.  A graph that is not symmetric is refused.
Agrees with GAP's TCVerifier (sbeamer/gapbs, src/tc.cc) and networkx.triangles.
References: Wolf et al., "Fast linear algebra-based triangle counting with KokkosKernels" (HPEC 2017); Davis, "Graph
algorithms via SuiteSparse:GraphBLAS: triangle counting and k-truss" (HPEC 2018).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, monoid, select, semiring

from . import arguments
from .given import GraphLike, Vertices
from .graph import room_for
from .pattern import loopless, undirected
from .report import Report
from .result import VertexResult

if TYPE_CHECKING:
    from .graph import Graph


def triangle_count(G: GraphLike, *, presort: bool | str = "auto") -> int:
    """sum of C<L,s> = L plus.pair L': the number of triangles.

    presort   True: number the nodes by degree first; False: keep their order; "auto": True where degrees differ widely

    Raises: ValueError when the structure is not symmetric, or for presort.
    Cost: for each edge, the shorter of its two rows of L (with presort at most sqrt(2 m) entries each).

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import triangle_count
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2], nrows=3, ncols=3)
    >>> triangle_count(A)
    1
    """
    G = undirected(G, "triangles are counted in")
    if isinstance(presort, str):
        if presort != "auto":
            raise ValueError(f"presort: expected True, False or 'auto', got {presort!r}")
        presort = G.keep("degrees differ", lambda: _degrees_differ(G))
    arguments.flags(presort=presort)
    if presort:
        L = G.keep("degree_ordered", lambda: degree_ordered(G))
    else:
        L = G.keep("lower", lambda: select.tril(G.A, -1).new(name="L"))
    plus_pair = semiring.plus_pair[dtypes.INT64]
    # [+_ij C(i, j)] ,  C<L,s> = L plus.pair L' , which is not formed
    return int(plus_pair(L @ L.T).select(L.S).reduce_scalar(monoid.plus).new().value or 0)


def triangles(G: GraphLike, nodes: Vertices | None = None) -> VertexResult:
    """The number of triangles at each node; INT64, full.

    C<L,s> = L plus.pair L' counts for i > j the third nodes below both, E<L,s> = L plus.pair L those between, so that

        t = [+_i C(i, j)](j) + [+_j E(i, j)](i) + [+_i E(i, j)](j)

    has each triangle i > k > j once at each of its nodes; gb.graph.triangle_corners is this in one pass.  L is ordered
    by degree, as in `triangle_count`.  For chosen nodes t = [+_j C<A,s>](i) / 2, C = S A plus.pair A' with S the rows
    of these nodes.

    nodes   a sequence of nodes to ask for (the result then has an entry for these only); all when None

    Raises: ValueError when the structure is not symmetric; IndexError, TypeError for nodes.
    Cost: one to three times `triangle_count`; of chosen nodes the products of their rows.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import triangles
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2], nrows=4, ncols=4)
    >>> triangles(A).to_dict()
    {0: 1, 1: 1, 2: 1, 3: 0}
    """
    G = undirected(room_for(G, "triangles", 56 if nodes is None else 0), "triangles are counted in")
    plus_pair = semiring.plus_pair[dtypes.INT64]
    with Report("triangles") as report:
        if nodes is None:
            return VertexResult(_all(G), report, vertices=G.labels)
        A = loopless(G)
        wanted = sorted(set(arguments.nodes(nodes, G, "nodes")))
        t = Vector.from_coo(wanted, 0, dtypes.INT64, size=G.n, name="triangles")
        # rows = S A with S the rows asked for, in place
        rows = semiring.any_second(t.diag() @ A).new(name="rows")
        # t += [+_j C(i, j)] ,  C<A,s> = A plus.pair A' ,  t = t / 2 : each triangle is met from both neighbours of i
        t(monoid.plus) << plus_pair(rows @ A.T).select(rows.S).reduce_rowwise(monoid.plus)
        t << t // 2
    return VertexResult(t, report, vertices=G.labels)


def _all(G: Graph) -> Vector:
    """Triangles at each node, by the triangle L in the order of degree."""
    L = G.keep("degree_ordered", lambda: degree_ordered(G))
    t = graph.triangle_corners(L)
    t = _corners(L) if t is None else t
    # P' t : back from the order of degree
    return semiring.any_second[dtypes.INT64](_permutation(G).T @ t).new(name="triangles")


def _corners(L: Matrix) -> Vector:
    """Triangles at each node, the three corners one after the other."""
    plus_pair = semiring.plus_pair[dtypes.INT64]
    # E<L,s> = L plus.pair L
    E = plus_pair(L @ L).new(mask=L.S, name="E")
    t = Vector.from_scalar(0, L.nrows, dtypes.INT64)
    # t += [+_i C(i, j)](j) ,  C<L,s> = L plus.pair L' , which is not formed
    t(binary.plus) << plus_pair(L @ L.T).select(L.S).reduce_columnwise(monoid.plus)
    t(binary.plus) << E.reduce_rowwise(monoid.plus)
    t(binary.plus) << E.reduce_columnwise(monoid.plus)
    return t


def degree_ordered(G: GraphLike) -> Matrix:
    """L = tril(P A P', -1), P the order of descending degree: the strictly lower triangle with short rows."""
    G = room_for(G, "degree_ordered", 40)
    P = _permutation(G)
    # L = tril(P A P', -1) ,  P A P' = P (P A')': copies of rows and a transpose, no sums
    any_pair = semiring.any_pair[dtypes.BOOL]
    rows = any_pair(P @ G.A.T).new()
    return select.tril(any_pair(P @ rows.T).new(), -1).new(name="L")


def _permutation(G: Graph) -> Matrix:
    """P(k, order(k)) = true, with the nodes in descending order of degree."""
    n = G.n
    return G.keep(
        "degree permutation", lambda: Matrix.from_coo(np.arange(n), _order(G), True, dtypes.BOOL, nrows=n, ncols=n)
    )


def _order(G: Graph) -> np.ndarray:
    """The nodes in descending order of degree, equal ones by their numbers."""
    return G.keep("degree order", lambda: _descending(G.out_degree.to_dense(0)))


def _descending(d: np.ndarray) -> np.ndarray:
    """The stable order of `d`, whole numbers below 2^31, greatest first.

    Of (greatest - d(i), i) as one integer: NumPy sorts those with vector instructions, in a quarter of the time of a
    stable argsort.
    """
    bits = int(d.size).bit_length()
    keys = (d.max(initial=0) - d) << bits | np.arange(d.size)
    keys.sort()
    return keys & ((1 << bits) - 1)


def _degrees_differ(G: Any) -> bool:
    """Whether the mean degree of 1000 sampled nodes is above four times their median: LAGraph's rule for presorting."""
    if G.n == 0:
        return False
    degree = np.zeros(min(G.n, 1000), np.int64)
    rng = np.random.default_rng(0)
    at = np.sort(rng.choice(G.n, degree.size, replace=False))
    found = G.out_degree[at].new()
    i, d = found.to_coo()
    degree[i] = d
    return float(degree.mean()) > 4 * float(np.median(degree))
