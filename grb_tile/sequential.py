"""Sequential algorithms in linear time, each one compiled loop over the rows of a matrix, on a backend that has it.

    sequential.strong_components(A)        Pearce 2016
    sequential.components(A)               Rem 1976
    sequential.core_numbers(A, ...)        Batagelj and Zaversnik 2003
    sequential.greedy_colours(A, order)    Welsh and Powell 1967
    sequential.breadth_first(lists, s)     Moore 1959
    sequential.label_turns(lists, ...)     Raghavan, Albert, Kumara 2007
    sequential.distances(A, sources)       Dijkstra 1959
    sequential.floyd_warshall(D)           Floyd 1962, Warshall 1962
    sequential.dependencies(A, sources)    Brandes 2001
    ...
    sequential.random_order(n, seed)       an order for such loops: the same on every backend

A loop of GraphBLAS calls pays for several calls a round, and some algorithms have thousands of rounds; one processor
core runs these without rounds.  A GPU has parallel forms with the same result of greedy_colours, independent_set and
spanning_forest.  Each returns None where the backend in use has no loop (on a GPU the others, a hypersparse matrix, a
kernel that is not compiled yet): the algorithms of algorithms/ then run their loops of GraphBLAS calls, which have the
same result.

A vertex is a row number; an edge i -> j is an entry A(i, j).  Matrices are not changed.  Results are NumPy arrays, but
for the three that a GPU has too: Vectors and matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .backends.select import current
from .core.matrix import Matrix
from .core.vector import Vector
from .dtypes import FP64, INT64
from .exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue
from .hashing import hashes
from .operations import checks
from .operations.traversal import check_square
from .planner.tuning import COMPOSED_ENTRY_SECONDS, COMPOSED_VERTEX_SECONDS
from .storage.store import Compressed, index_dtype

ORDER = 1 << 23  # the stream of random_order's hash


@dataclass(frozen=True)
class Lists:
    """The neighbours of vertex i, indices[indptr[i]:indptr[i + 1]], in an order that a matrix does not keep; INT64."""

    indptr: np.ndarray
    indices: np.ndarray
    rows: None = None

    def __post_init__(self) -> None:
        starts, n, columns = self.indptr, self.nrows, self.indices
        if starts[0] != 0 or starts[-1] != columns.size or (np.diff(starts) < 0).any():
            raise InvalidValue(f"indptr: expected numbers that ascend from 0 to the {columns.size} indices")
        if columns.size and not 0 <= columns.min() <= columns.max() < n:
            raise IndexOutOfBound(f"indices: expected vertices 0 .. {n - 1}, got {columns.min()} .. {columns.max()}")

    @property
    def nrows(self) -> int:
        return self.indptr.size - 1

    @property
    def nvals(self) -> int:
        return self.indices.size


def _run(
    name: str, matrices: Sequence[Matrix | Lists], *arguments: Any, each: Any = None, flags: Any = None
) -> int | None:
    """What the backend's loop returns, None where it has none.  Raises: DimensionMismatch for a graph not square."""
    stores: Any = [A if isinstance(A, Lists) else A._store for A in matrices]
    if name != "bipartite_matching":
        for A in matrices:
            if isinstance(A, Matrix):
                check_square(name, A._store)
    work = sum(store.nvals for store in stores) * COMPOSED_ENTRY_SECONDS * (each[1] if each else 1)
    vertices = max((a.size for a in arguments if hasattr(a, "dtype")), default=0) * COMPOSED_VERTEX_SECONDS
    found = current().sequential(name, stores, arguments, 1e-3 + work + vertices, each, flags)
    return None if found is NotImplemented else found


def strong_components(A: Matrix) -> tuple[np.ndarray, int] | None:
    """(label, count): the least vertex of each vertex's strongly connected component; the number of components.

    Cost: O(n + nvals).  Source: Pearce, "A space-efficient algorithm for finding strongly connected components" (Inf.
    Proc. Letters 116, 2016).
    """
    if _is_hypersparse(A):
        return None
    n = A.nrows
    label = np.empty(n, np.int64)
    work = np.zeros(n, np.int64), np.empty(n, np.int32), *np.empty((3, n), np.int64)
    count = _run("strong_components", [A], *work, label)
    return None if count is None else (label, count)


def _is_hypersparse(A: Matrix) -> bool:
    """Whether A lists its rows: no array of nrows may be made then, and no backend has a loop."""
    return getattr(A._store, "rows", None) is not None


def components(A: Matrix, *, symmetric: bool = False) -> tuple[np.ndarray, int] | None:
    """(label, count): the least vertex of each vertex's component, entries joining both ways; the number of components.

    symmetric   the structure of A is, so that half of it is enough
    Cost: O((n + nvals) a(n)), a the inverse of Ackermann's function.
    Source: Patwary, Blair, Manne, "Experiments on union-find algorithms" (SEA 2010), Rem's algorithm.
    """
    if _is_hypersparse(A):
        return None
    label = np.arange(A.nrows)
    count = _run("union_find", [A], int(symmetric), label)
    return None if count is None else (label, count)


def core_numbers(A: Matrix, AT: Matrix | None, degree: np.ndarray) -> np.ndarray | None:
    """The greatest k for which a vertex is in a subgraph where each has k edges.

    A without loops; AT: in-edges count too, None where A is symmetric.  degree: the number of edges of each vertex.
    Raises: DimensionMismatch, IndexOutOfBound for degree.
    Cost: O(n + nvals).  Source: Batagelj and Zaversnik, "An O(m) algorithm for cores decomposition of networks" (2003).
    """
    core = _by_vertex(degree, A.nrows, "degree", 0, 2 * A.nrows).copy()
    bins = np.zeros(int(core.max(initial=0)) + 2, np.int64)
    both = 0 if AT is None else 1
    found = _run("core_numbers", [A, A if AT is None else AT], both, core, *np.empty((2, core.size), np.int64), bins)
    return None if found is None else core


def random_order(n: int, seed: int, first: Vector | None = None) -> Vector:
    """The vertices 0 .. n - 1 in a random order of that seed: INT64, full.  The same on every backend.

    first   integers >= 0 by vertex (0 where absent); vertices of greater ones go first

    >>> import grb_tile as gb
    >>> gb.sequential.random_order(4, 7, gb.Vector.from_dense([1, 5, 3, 4])).to_dense().tolist()
    [1, 3, 2, 0]
    """
    xp = current().xp
    order = xp.argsort(hashes(xp, 0, n, seed, ORDER)).astype(np.int64)
    if first is not None:
        at, x = current().tuples(first._store)
        last = xp.zeros(n, np.int64)
        last[at] = -x.astype(np.int64)
        order = order[xp.argsort(last[order], kind="stable")]
    return Vector.from_dense(order, dtype=INT64, name="order")


def greedy_colours(A: Matrix, order: Vector) -> tuple[Vector, int] | None:
    """(colour, count): in the given order, each vertex takes the least colour that no coloured neighbour has.

    A symmetric.  Types: order, colour INT64, full.  Raises: DimensionMismatch; ValueError where a vertex is not in the
    order once.
    Cost: O(n + nvals).  Source: Welsh and Powell, "An upper bound for the chromatic number of a graph" (Computer J. 10,
    1967).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> found = gb.sequential.greedy_colours(A, gb.Vector.from_dense([0, 1, 2]))
    >>> found is None or found[0].to_dense().tolist() == [0, 1, 0]
    True
    """
    if _is_hypersparse(A):
        return None
    xp = current().xp
    colour = xp.full(A.nrows, -1, np.int64)
    count = _run("greedy_colouring", [A], _array(order, A.nrows), colour, xp.zeros(A.nrows + 1, np.int64))
    return None if count is None else (Vector.from_dense(colour, name="colours"), count)


def independent_set(A: Matrix, order: Vector, left_out: Vector) -> Vector | None:
    """The maximal independent set that comes first in the given order: BOOL, an entry for each vertex of it.

    A symmetric.  left_out: an entry for each vertex that may not be in it.  Cost: O(n + nvals).
    Raises: DimensionMismatch; ValueError where a vertex is not in the order once.
    Source: Blelloch, Fineman, Shun, "Greedy sequential maximal independent set and matching are parallel on average"
    (SPAA 2012).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> found = gb.sequential.independent_set(A, gb.Vector.from_dense([0, 1, 2]), gb.Vector(bool, 3))
    >>> found is None or found.to_dict() == {0: True, 2: True}
    True
    """
    if _is_hypersparse(A):
        return None
    xp = current().xp
    if left_out.size != A.nrows:
        raise DimensionMismatch(f"left_out: expected a Vector of size {A.nrows}, got {left_out.size}")
    state = xp.zeros(A.nrows, np.int32)
    if left_out.nvals:
        state[current().tuples(left_out._store)[0]] = 2
    found = _run("independent_set", [A], _array(order, A.nrows), state)
    return None if found is None else Vector.from_coo(xp.flatnonzero(state == 1), True, size=A.nrows, name="members")


def spanning_forest(U: Matrix, maximum: bool = False) -> tuple[Matrix, Vector] | None:
    """(F, label): of the edges U(i, j), i < j, those of least sum that join all that U joins, of equal ones the first;
    the least vertex of each vertex's tree.

    maximum   of greatest sum

    Types: U real or BOOL without NaN, F of U's type, label INT64, full.  Cost: O(m log n) at most, because each round
    halves the number of trees.
    Source: Boruvka (1926), after Nesetril, Milkova, Nesetrilova, "Otakar Boruvka on minimum spanning tree problem"
    (Discrete Mathematics 233, 2001).

    >>> import grb_tile as gb
    >>> U = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], [5, 1, 2], nrows=3, ncols=3)
    >>> found = gb.sequential.spanning_forest(U)
    >>> found is None or found[0].to_dicts() == {0: {2: 1}, 1: {2: 2}}
    True
    """
    check_square("spanning_forest", U._store)
    backend = current()
    xp, n = backend.xp, U.nrows
    i, j, w = backend.tuples(U._store)
    heads, tails, keys = i.astype(np.int64), j.astype(np.int64), order_keys(w)
    tree, kept = xp.arange(n), xp.empty(max(n - 1, 0), np.int64)
    work = xp.arange(len(heads)), tree, xp.empty(n, np.int64), kept
    count = _run("spanning_forest", [], heads, tails, ~keys if maximum else keys, *work)
    if count is None:
        return None
    kept = kept[:count]
    F = Matrix.from_coo(heads[kept], tails[kept], w[kept], U.dtype, nrows=n, ncols=n, name="edges")
    return F, Vector.from_dense(tree, name="labels")


def order_keys(w: Any) -> Any:
    """int64 numbers in the order of an array of real numbers or booleans; -0.0 and 0.0 have one."""
    if w.dtype.kind == "f":
        # the bits of a float >= 0 ascend with it; of a negative one they descend, so all but the sign are flipped
        bits = (w + w.dtype.type(0)).view(np.int64 if w.dtype.itemsize == 8 else np.int32).astype(np.int64)
        return bits ^ ((bits >> 63) & np.int64(2 ** (8 * w.dtype.itemsize - 1) - 1))
    if w.dtype == np.uint64:
        return (w ^ np.uint64(1 << 63)).view(np.int64)
    return w.astype(np.int64)


def _array(order: Vector, n: int) -> Any:
    """The vertices in that order as an array of the backend in use."""
    if order.size != n:
        raise DimensionMismatch(f"order: expected a Vector of size {n}, got {order.size}")
    x = current().tuples((order if order.dtype is INT64 else order.dup(INT64))._store)[1]
    return _each_once(x, n, "order")


def _each_once(x: Any, n: int, name: str) -> Any:
    """The array x of INT64 if it has each of the vertices 0 .. n - 1 once."""
    if n and x.shape == (n,):
        xp = current().xp if type(x) is not np.ndarray else np
        seen = xp.zeros(n, np.bool_)
        seen[xp.clip(x, 0, n - 1)] = True
        if bool(seen.all() & (x.min() >= 0) & (x.max() < n)):
            return x
    elif not n and not x.size:
        return x
    # a loop would write beyond its arrays, a kernel wait for ever for a vertex that never comes
    raise ValueError(f"{name}: expected each of the {n} vertices once, got others; sequential.random_order makes one")


def _length(x: Any, n: int, name: str) -> None:
    if x.shape != (n,):
        raise DimensionMismatch(f"{name}: expected {n} numbers, one for each vertex, got an array of shape {x.shape}")


def _by_vertex(x: np.ndarray, n: int, name: str, low: int, high: int) -> np.ndarray:
    """x as INT64, a number from low to high for each of n vertices: what a loop takes for positions of its arrays."""
    _length(x, n, name)
    if n and not low <= x.min() <= x.max() <= high:
        raise IndexOutOfBound(f"{name}: expected numbers from {low} to {high}, got {x.min()} to {x.max()}")
    return x.astype(np.int64, copy=False)


def _sources(sources: Any, n: int) -> np.ndarray:
    """Vertices as an int64 array."""
    found = np.asarray(sources, np.int64)
    if found.size and not 0 <= found.min() <= found.max() < n:
        raise IndexOutOfBound(f"sources: expected vertices 0 .. {n - 1}, got {found.min()} .. {found.max()}")
    return found


def topological_levels(A: Matrix | Lists, in_degree: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(level, order): the most edges on a path that ends at each vertex, -1 for vertices on a cycle or behind one; the
    others by level, those of a level in the order in which the last of their in-edges is met.

    Cost: O(n + nvals).  Source: Kahn, "Topological sorting of large networks" (Comm. ACM 5, 1962).
    """
    n = A.nrows
    waits = _by_vertex(in_degree, n, "in_degree", 0, A.nvals).copy()
    level, queue = np.full(n, -1, np.int64), np.empty(n, np.int64)
    found = _run("topological_levels", [A], waits, level, queue)
    return None if found is None else (level, queue[:found])


def breadth_first(lists: Lists, sources: np.ndarray, limit: float) -> tuple[np.ndarray, ...] | None:
    """(order, level, parent): the vertices as a queue finds them, the sources first; of each vertex its level, -1 where
    no path leads, and the vertex that found it.

    sources   vertices without repeats
    limit     the number of levels beyond the sources
    Raises: IndexOutOfBound, ValueError for sources.
    Cost: O(n + nvals).  Source: Moore, "The shortest path through a maze" (1959).
    """
    n = lists.nrows
    sources = _sources(sources, n)
    if np.unique(sources).size < sources.size:
        raise ValueError(f"sources: expected each vertex once, got {sources.tolist()}; give np.unique(sources)")
    level, (order, parent) = np.full(n, -1, np.int64), np.full((2, n), -1)
    level[sources] = 0
    order[: sources.size] = sources
    found = _run("breadth_first", [lists], sources.size, int(min(limit, n)), level, order, parent)
    return None if found is None else (order[:found], level, parent)


def label_turns(lists: Lists, order: np.ndarray, label: np.ndarray, state: np.ndarray) -> int | None:
    """How many vertices took another label: in the given order each takes the most frequent one of its neighbours.

    label   INT64, 0 .. n - 1, changed in place; a vertex keeps a label that is among the most frequent ones
    state   INT64, of one element: what chooses among equally frequent labels, changed in place; 0: the greatest label
    Raises: ValueError where `order` does not have each vertex once; DimensionMismatch, IndexOutOfBound for label.
    Cost: O(n + nvals).  Source: Raghavan, Albert, Kumara (Phys. Rev. E 76, 2007).
    """
    n = lists.nrows
    order = _each_once(order, n, "order")
    _by_vertex(label, n, "label", 0, n - 1)
    return _run("label_turns", [lists], order, label, np.zeros(label.size, np.int64), state)


def bipartite_matching(B: Matrix) -> tuple[np.ndarray, np.ndarray] | None:
    """(mate of each row, mate of each column), -1 without: the most pairs of rows and columns joined by entries of B.

    Cost: O(nvals sqrt(nrows + ncols)).  Source: Hopcroft and Karp, "An n^(5/2) algorithm for maximum matchings in
    bipartite graphs" (SIAM J. Comput. 2, 1973).
    """
    if _is_hypersparse(B):
        return None
    rows, cols = np.full(B.nrows, -1, np.int64), np.full(B.ncols, -1, np.int64)
    found = _run("bipartite_matching", [B], rows, cols, *np.empty((4, B.nrows), np.int64))
    return None if found is None else (rows, cols)


def cuthill_mckee(A: Matrix, by_degree: np.ndarray) -> np.ndarray | None:
    """Breadth-first order from a vertex at the end of each component, as ranks; neighbours by ascending rank.

    A symmetric without loops.  by_degree: the vertices in the order of their ranks.  The search for the first vertex
    starts from the one of least rank and goes on from the least of the last level while the levels become more.
    Raises: ValueError where by_degree is no order; InvalidValue where A is found not to be symmetric.
    Cost: O(n + nvals) a search.  Source: Cuthill and McKee, "Reducing the bandwidth of sparse symmetric matrices" (ACM
    1969); George and Liu, "An implementation of a pseudoperipheral node finder" (ACM TOMS 5, 1979).
    """
    if _is_hypersparse(A):
        return None
    n = A.nrows
    by_degree = _each_once(by_degree.astype(np.int64), n, "by_degree")
    rank = np.empty(n, np.int64)
    rank[by_degree] = np.arange(n)
    ptr, columns = np.empty(n + 1, np.int64), np.empty(A.nvals, index_dtype(n))
    seen, order = np.zeros(n, np.int64), np.empty(n, np.int64)
    found = _run("cuthill_mckee", [A], by_degree, rank, ptr, columns, seen, order)
    if found is None:
        return None
    checks.symmetric("cuthill_mckee", found == n)
    return order


def distances(A: Matrix, sources: Any, *, target: int = -1, parents: bool = False) -> Any:
    """(D, P): D[k, v] = the least sum of values on a path from sources[k] to v, -1 where none leads; P as below.

    A         values >= 0 of INT32, INT64, FP32 or FP64, and so is D; sums of integers must fit
    target    a vertex, of one source alone: others that are farther have -1
    parents   P[v] is the vertex before v, v for the source, -1 for vertices without; of one source alone.  Else None

    Threads share the sources.  Cost: O((n + nvals) log n) for each source.
    Source: Dijkstra, "A note on two problems in connexion with graphs" (Numerische Mathematik 1, 1959).
    """
    if _is_hypersparse(A):
        return None
    n, wanted = A.nrows, _sources(sources, A.nrows)
    D = np.full((wanted.size, n), -1, A.dtype.np_type)
    P = np.full(n if parents else 0, -1)

    def workspace(thread: int) -> tuple[np.ndarray, ...]:
        return np.full(n, -1), *np.empty((2, n), np.int64), np.empty(0)

    each = "run", wanted.size, workspace
    flags = {"COUNT": False, "PARENTS": parents}
    if _run("dijkstra", [A], wanted, target, D.reshape(-1), P, each=each, flags=flags) is None:
        return None
    return D, P if parents else None


def floyd_warshall(D: np.ndarray) -> int | None:
    """D(i, j) = the least sum of weights on a path from i to j, in place; a vertex on a cycle of negative weight, or n.

    D   the weights, n x n FP64, C-contiguous: at most 0 on the diagonal, infinite where no edge is
    Raises: DimensionMismatch where D is not square.
    Cost: O(n^3).  Source: Floyd, "Algorithm 97: shortest path" (Comm. ACM 5, 1962).
    """
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise DimensionMismatch(f"D: expected n x n weights, got an array of shape {D.shape}")
    return _run("floyd_warshall", [], D.reshape(-1), D.shape[0])


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
    n, scores, wanted = A.nrows, {}, _sources(sources, A.nrows)
    check_square("dependencies", A._store)
    if not weighted:
        found = current().dependencies(A._store, wanted, endpoints, by_edge)
        if found is not NotImplemented:
            return _as_scores(A, found, by_edge)

    def workspace(thread: int) -> tuple[np.ndarray, ...]:
        scores[thread] = np.zeros(A.nvals if by_edge else n)
        if weighted:
            return scores[thread], np.full(n, -1), *np.empty((2, n), np.int64), *np.empty((3, n))
        return scores[thread], np.full(n, -1), np.empty(n, np.int64), *np.empty((2, n))

    name, function, flags = "brandes", "run", None
    if weighted:
        name, function, flags = "dijkstra", "dependencies", {"COUNT": True, "PARENTS": False}
    each = function, wanted.size, workspace
    if _run(name, [A], wanted, int(endpoints), int(by_edge), each=each, flags=flags) is None:
        return None
    return _as_scores(A, sum(scores[thread] for thread in sorted(scores)), by_edge)


def _as_scores(A: Matrix, values: Any, by_edge: bool) -> Vector | Matrix:
    """A full vector of these values, or a matrix with the structure of A."""
    if not by_edge:
        return Vector.from_dense(values)
    store = current().bring(A._store)
    return Matrix._from_store(
        Compressed(A.nrows, A.ncols, FP64, store.indptr, store.indices, values, rows=store.rows), FP64
    )
