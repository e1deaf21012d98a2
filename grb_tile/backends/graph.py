"""The part of the protocol that runs whole loops over a graph as one operation; rules: protocol.py.

Each returns NotImplemented where this backend has no loop for the operands; grb_tile/graph/ then says None, and the
algorithm's own loop of GraphBLAS calls runs.  Results are the same on every backend, parents aside: any parent that is
right.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.storage.store import Compressed

from . import chunked_pass, local_moves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from grb_tile.storage.store import BitmapVector, SparseVector, StoredMask

    VectorStore = SparseVector | BitmapVector


class GraphOperations:
    """Methods of protocol.Backend."""

    # ------------------------------------------------------------------ labels of rows

    def best_labels(
        self, A: Compressed, labels: VectorStore, weighted: bool, mask: StoredMask | None, *penalty: VectorStore
    ) -> tuple[VectorStore, ...]:
        """(best,) or (best, gain, kept) for rows i in mask: best[i] = argmax_c s(i, c), the least of equal c.

        s(i, c) = (+)_k A[i,k] over labels[k] = c; weighted False: every entry counts 1.  No entry without a label.
        penalty u, v, w, all full: s(i, c) = (+)_k A[i,k] + [c = labels[i]] u[i] w[i] - u[i] v[c], labels[i] always a
        candidate and the first among equals; kept[i] is the score of labels[i], gain[i] by how much that of the best
        other label exceeds it, -inf where there is no other.
        Types: A, u, v, w FP64; labels INT64.  NotImplemented: graph/labels.py composes it of products.
        """
        return NotImplemented

    def least_absent(self, A: Compressed, labels: VectorStore, mask: StoredMask | None) -> VectorStore:
        """t[i] = the least number >= 0 that is not among labels[k] over the entries A[i,k], for each row i in mask.

        Types: labels and t INT64.  NotImplemented: as best_labels.
        """
        return NotImplemented

    def sum_by_label(self, labels: np.ndarray, values: np.ndarray, size: int) -> np.ndarray:
        """t[c] = (+)_k values[k] over labels[k] = c, in any order; arrays of this backend's, int64 and float64."""
        return np.bincount(labels, values, size)

    def first_by_label(self, labels: np.ndarray, size: int) -> np.ndarray:
        """t[c] = the least k with labels[k] = c, their number where there is none; labels: int64, this backend's."""
        n = labels.shape[0]
        first = np.full(size, n)
        first[labels[::-1]] = np.arange(n)[::-1]  # of equal labels the last that is assigned is the first
        return first

    def quotient(self, A: Compressed, labels: np.ndarray, count: int, dup: Any, inner: bool = True) -> Compressed:
        """C[c, d] = (dup)_ij A[i,j] over labels[i] = c and labels[j] = d, count x count, of A's type.

        labels: an int64 array of this backend's, 0 .. count - 1.  dup: a typed binary operator, associative and
        commutative.  inner: with C[c, c]; False only for a symmetric A.  NotImplemented: graph/communities.py
        multiplies.
        """
        return NotImplemented

    def entries_inside(self, A: Compressed, labels: np.ndarray) -> Compressed:
        """E[i, j] = A[i, j] where labels[i] = labels[j]; labels: an int64 array of this backend's.  A is CSR.

        NotImplemented: graph/communities.py composes it.
        """
        kept = np.flatnonzero(np.repeat(labels, np.diff(A.indptr)) == labels[A.indices])
        starts, indices = np.searchsorted(kept, A.indptr), A.indices[kept]
        iso = A.iso and indices.shape[0] > 0
        values = A.values[: int(iso)] if A.iso else A.values[kept]
        return Compressed(A.nrows, A.ncols, A.dtype, starts, indices, values, iso)

    def move_half(
        self, B: Compressed, x: np.ndarray, K: np.ndarray, at: np.ndarray, vote: Sequence[np.ndarray],
        slack: np.ndarray, used: np.ndarray, k: np.ndarray, key: int,
    ) -> tuple[Any, ...]:  # fmt: skip
        """(x', K', slack', used', looked at next (bool), change of within, how many want, how many move), one round.

        vote: best, gain of best_labels with penalty u, K, k of labels x, for the vertices `at`.  One wants to move
        where its gain is positive, and moves where community_rounds.waits lets it.  slack' of a vertex that stays is
        -gain, of one that moves 0; used' is [+_j B(i, j) (1, or 2 where it leaves x(i))] since its last vote, over
        neighbours j that moved to other communities than its own while it did not.  Looked at next: vertices that wait,
        and those with used' above slack'.  within: [+_ij B(i, j) over x(i) = x(j)].  Arrays of the host.
        """
        return local_moves.move_half(B, x, K, at, tuple(vote), slack, used, k, key)

    def join_half(
        self, E: Compressed, y: np.ndarray, sums: tuple, at: np.ndarray, vote: Sequence[np.ndarray],
        level: Sequence[Any], key: int, few: float,
    ) -> tuple[Any, ...]:  # fmt: skip
        """(y', sums', looked at next (bool), how many want, how many move), a round of joins of parts of communities.

        y: the part of each vertex; sums: by part that of k, of vertices, and of [+_i within(i) - its entries in the
        part], the cut.  vote: as move_half, of labels y on the entries E within communities.  level: u, k; within(i)
        the sum of i's entries in E; whole(i) the sum of k over its community; joined(i) (bool), may i join a part?;
        scale.  A part c is open where cut(c) >= scale K(c) (whole(c) - K(c)).  A vertex of positive gain that
        may join and is alone in its part wants to, where the part best(i) is open; it moves where the first bit of its
        hash is 0 and the vertex best(i), after which the part is named, has no such hash or does not want to.  None
        moves where no more than `few` want to.  Arrays of the host.
        """
        return local_moves.join_half(E, y, sums, at, tuple(vote), tuple(level), key, few)

    def move_rounds(
        self, B: Compressed, x: np.ndarray | None, u: np.ndarray, k: np.ndarray, rule: Sequence[Any], seed: int,
        first: int, each: bool,
    ) -> Iterator[tuple[Any, float, list[tuple[float, int]]]]:  # fmt: skip
        """Votes and move_half until community_rounds.Progress ends: yields (best x, its modularity, records of rounds).

        x: the first labels, None: i of vertex i.  rule: (Measure, clear, share of Progress).  The keys are
        key_of(seed, first + 1) ...  A record: the best modularity so far, how many moved.  each: one round at a time.
        B symmetric, without diagonal, FP64.  NotImplemented: graph/local_moves.py composes it.
        """
        return NotImplemented  # type: ignore[return-value]

    def join_rounds(self, B: Compressed, x: np.ndarray, k: np.ndarray, scale: float, seed: int, first: int) -> tuple:
        """(parts, how many rounds): a vote within communities x and a join_half, until few vertices want to.

        At first each vertex is a part.  u = scale k.  The keys are key_of(seed, first + 1), key_of(seed, first + 2) ...
        NotImplemented: graph/local_moves.py composes the rounds of best_labels and join_half.
        """
        return NotImplemented

    def settle(
        self, B: Compressed, x: np.ndarray, u: np.ndarray, k: np.ndarray, rule: Sequence[Any], each: bool
    ) -> Iterator[tuple[Any, list[tuple[float, int]]]]:
        """The rounds of graph.settle: yields (x, records); rule: (Measure, least gain, greatest
        modularity, a function that raises InvalidValue where it gets False).

        Raises: InvalidValue where gains are wrong, as those of a matrix that is not symmetric are.
        NotImplemented: graph/local_moves.py composes it.
        """
        return NotImplemented  # type: ignore[return-value]

    # ------------------------------------------------------------------ one pass over vectors

    def one_pass(
        self, program: Any, dtype: Any, size: int, scalars: list[Any], *stores: VectorStore
    ) -> tuple[list[VectorStore], Any]:
        """(stores of the outputs, full; sums: an object with value(k) and send()) of operations/one_pass.py.

        stores: vectors of that type and size; 0 is read where one has no entry.  scalars: floats and Totals.
        """
        return chunked_pass.one_pass(program, dtype, size, scalars, stores)

    # ------------------------------------------------------------------ searches and paths

    def bfs(
        self,
        A: Compressed,
        AT: Compressed | None,
        sources: int | np.ndarray,
        levels: bool = True,
        parents: bool = False,
        max_level: int | None = None,
        target: int | None = None,
    ) -> Any:
        """repeat f<!v> = A' f, v = v + f until f is empty: (store of levels | None, of parents | None, LoopOutcome).

        level[v] (INT32) is the least number of edges from a source to v, parent[v] (INT64) an in-neighbour of v one
        level up, a source being its own parent.  Vertices that are not reached have no entry.
        A: out-edges by rows, square.  AT: in-edges by rows; A itself when symmetric; None: push only.
        sources: an int, or several as an ascending int64 array without repeats, merged into one search.
        max_level: the last level wanted.  target: stop once it is reached.
        """
        return NotImplemented

    def bfs_multi(
        self,
        A: Compressed,
        AT: Compressed,
        sources: Sequence[int],
        levels: bool = True,
        parents: bool = False,
        max_level: int | None = None,
    ) -> Any:
        """`bfs` from each source: matrices of len(sources) x n, row k for sources[k]; sources may repeat."""
        return NotImplemented

    def sssp(
        self,
        A: Compressed,
        in_edges: Callable[[], Compressed],
        source: int,
        greatest: Any,
        delta: float | None = None,
        tree: bool = False,
    ) -> Any:
        """d[v] = min over paths from `source` of the sum of their A[i,j]: (store, store of a tree | None, LoopOutcome).

        tree: ask for the vertex before each vertex on a shortest path (INT64, the source's is itself); None where such
        a tree must be found in another way (edges of weight 0).
        Types: A real or bool (which weighs 0 or 1), all weights >= 0 and no sum of n - 1 of them beyond the result's
        type: INT64 for integers and bool (UINT64 for UINT64), FP32, FP64.  Sums of floats go from the source on, as
        d min= d min.+ A does.
        in_edges(): the store of A', A itself where symmetric; called only if it is wanted.  greatest: weight.
        delta: how far beyond the last bound distances are made final at a time (delta-stepping); None: chosen; inf: no
        bound (Bellman-Ford).  LoopOutcome.method names the algorithm that ran: "delta" or "bellman_ford".
        """
        return NotImplemented

    def fixpoint(
        self, A: Compressed, readers: Callable[[], Compressed], v: Any, semiring: Any, most: int, until: bool
    ) -> Any:
        """repeat v (+)= A (+.x) v, `most` times at most: (store of v, turns, did the last turn change an entry?).

        until: end with the first turn that changes nothing.  Each turn reads the v that the one before it left.
        readers(): the store of A', A itself where symmetric; called only if it is wanted.
        A: square, by rows.  v: of the type of the products.  (+): the monoid of `semiring`, as the accumulator.
        """
        return NotImplemented

    def distances(self, A: Compressed, sources: np.ndarray, target: int, parents: bool) -> Any:
        """(D, P | None): graph/paths.py's distances, by Dijkstra's algorithm; NumPy arrays."""
        return NotImplemented

    def floyd_warshall(self, D: np.ndarray) -> int:
        """graph/paths.py's floyd_warshall of a NumPy array, in place."""
        return NotImplemented

    def dependencies(
        self, A: Compressed, sources: np.ndarray, weighted: bool, endpoints: bool, by_edge: bool
    ) -> np.ndarray:
        """delta[v], the sum over the sources of Brandes' dependency on v, as an array of this backend's, FP64.

        weighted: an edge has its value as its length.  endpoints, by_edge: graph/paths.py's dependencies.
        """
        return NotImplemented

    # ------------------------------------------------------------------ components

    def components(self, A: Compressed, in_edges: Callable[[], Compressed], symmetric: bool) -> Any:
        """(full store of labels, number of components, LoopOutcome); edges are followed both ways.

        label[v] (UINT64) is the smallest vertex of v's component.  in_edges(): as for sssp.  symmetric: A' has A's
        structure.  LoopOutcome.method names the algorithm that ran: "afforest" or "union-find".
        """
        return NotImplemented

    def strong_components(self, A: Compressed, in_edges: Callable[[], Compressed]) -> tuple[VectorStore, int]:
        """(t, count): t[v] the least vertex of v's strongly connected component (INT64, full), how many there are."""
        return NotImplemented

    def core_numbers(self, A: Compressed, AT: Compressed | None) -> VectorStore:
        """t[v] = the greatest k for which v is in a subgraph where every vertex has k edges; INT64, full.

        A without loops.  AT: in-edges count too, each apart; None where A is symmetric.
        """
        return NotImplemented

    def triangle_corners(self, L: Compressed) -> VectorStore:
        """t[v] = the triangles i > j > k, three entries of the strictly lower triangle L, at v; INT64, full."""
        return NotImplemented

    def peel_truss(
        self, C: Compressed, S: Compressed, least: int
    ) -> tuple[Compressed, Callable[[], list[int]]]:  # fmt: skip
        """(S', removed): repeat edges of S with S[i,j] < least go, those with whom they form a triangle lose 1.

        C symmetric without loops; S, INT64: at one entry (i, j) or (j, i) of each edge of C, at none of edges in no
        triangle, the number of triangles it is part of.  S': the edges that stay; removed(): how many edges of S went
        in each round.
        """
        return NotImplemented

    def spanning_forest(self, n: int, heads: np.ndarray, tails: np.ndarray, keys: np.ndarray) -> Any:
        """(kept, tree): the edges of the forest of least keys, of equal keys the first; the least vertex of each tree.

        Arrays of this backend's, INT64: an edge heads[e] - tails[e] with its key; kept ascends.
        """
        return NotImplemented

    # ------------------------------------------------------------------ orders, greedy loops, matchings

    def topological_levels(self, A: Compressed) -> VectorStore:
        """t[v] = the most edges on a path that ends at v, -1 for vertices on a cycle or behind one; INT64, full."""
        return NotImplemented

    def cuthill_mckee(self, A: Compressed) -> tuple[VectorStore, VectorStore] | None:
        """(order, positions): the reverse Cuthill-McKee order, position[order[k]] = k; INT64, full.

        Breadth-first from a vertex at the end of each component, by ascending parent, degree, number; then reversed.
        A symmetric without loops; None where it is not symmetric and therefore has no such order.
        """
        return NotImplemented

    def greedy_colours(self, A: Compressed, order: np.ndarray) -> tuple[np.ndarray, int]:
        """(colour of each vertex, how many): each vertex of the order takes the least colour that no coloured neighbour
        has.  Arrays of this backend's, INT64.
        """
        return NotImplemented

    def independent_set(self, A: Compressed, order: np.ndarray, left_out: np.ndarray | None) -> np.ndarray:
        """The members of the set that is first in the order, ascending; left_out: vertices that may not be in it.

        Arrays of this backend's.
        """
        return NotImplemented

    def bipartite_matching(self, B: Compressed) -> tuple[np.ndarray, np.ndarray]:
        """(column of each row, row of each column), -1 without: a maximum matching; NumPy arrays, INT64."""
        return NotImplemented

    def random_walks(
        self, A: Compressed, starts: np.ndarray, length: int, seed: int, weighted: bool, p: float, q: float,
        restart: float,
    ) -> np.ndarray:  # fmt: skip
        """graph/walks.py's random_walks: a NumPy array, INT64, len(starts) x (length + 1).

        The numbers are those of algorithms/random_walks.py.  NotImplemented also for weights that are no finite numbers
        >= 0.
        """
        return NotImplemented

    # ------------------------------------------------------------------ loops of programs

    has_loops = False  # do loops of programs run on a device?
    turns: Any = None  # the loop whose turn runs: it decides on the direction of products

    def device_loop(self) -> AbstractContextManager:
        """Within it, a function that makes a loop of vectors that runs on the device (cuda/programs/turns.py), or None:
        loops of programs run turn by turn.
        """
        return nullcontext(None)

    def inner_loop(self, around: Any) -> Any:
        """A loop within the turn of one that `device_loop` made (cuda/programs/inner.py)."""
        return NotImplemented

    def count_as_vector(self, store: Any) -> Any:
        """The number of entries of a vector, INT64, as a full vector of size 1 on the device, in such a turn."""
        return NotImplemented

    def number_as_vector(self, found: Any, dtype: Any) -> Any:
        """What `reduce` or `is_equal` found in such a turn, likewise; None where it is known."""
        return None

    def bounded_product(self, places: tuple, admitted: Any, left: tuple, right: tuple, semiring: Any) -> Any:
        """A product at the positions of a bound (programs/bounds.py, cuda/programs/bounded.py)."""
        return NotImplemented

    # ------------------------------------------------------------------ lists of neighbours in an order of their own

    def breadth_first(self, lists: Any, sources: np.ndarray, limit: int) -> tuple[np.ndarray, ...]:
        """graph/lists.py's breadth_first; NumPy arrays, as of the two below."""
        return NotImplemented

    def label_turns(self, lists: Any, order: np.ndarray, label: np.ndarray, state: np.ndarray) -> int:
        """graph/lists.py's label_turns."""
        return NotImplemented

    def topological_order(self, lists: Any) -> tuple[np.ndarray, np.ndarray]:
        """graph/lists.py's topological_order."""
        return NotImplemented
