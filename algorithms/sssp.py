"""Shortest paths from one source.

    repeat  t = f min.+ A,  f = t where t < d,  d<f> = f  until f is empty

On the CPU, where neither a method nor a callback is given, edges of one weight w make d = w * level of a breadth-first
search.  For other weights >= 0 a compiled loop with a heap (Dijkstra; gb.graph) finds the distances in ascending order.
Large graphs with hubs are the exception: their paths have few edges, and rounds of delta-stepping use all threads.

d holds the distances found so far, f those that were improved last (Bellman and Ford).  Delta-stepping is the same
relaxation with the frontier split: entries below a threshold go first, the far ones wait for their turn, so that fewer
distances are found, passed on and then improved again.  It needs weights >= 0.

Contract: G is not changed.  An absent distance is a node that was not reached; the source's is 0.  Integer weights give
exact INT64 distances (UINT64 for UINT64 weights) and never wrap; FP32 and FP64 keep their type, and a sum beyond it is
infinite.  A Boolean weighs 0 or 1, an edge of weight inf is gone through; NaN and -inf are refused.
Results agree with GAP's SSSPVerifier (sbeamer/gapbs, src/sssp.cc) and LDBC Graphalytics 1.0, SSSP (unreached =
infinity).
References: Dijkstra, "A note on two problems in connexion with graphs" (Numerische Mathematik 1, 1959); Meyer and
Sanders, "Delta-stepping: a parallelizable shortest path algorithm" (J. Algorithms 49, 2003); Davidson, Baxter, Garland,
Owens, "Work-efficient parallel GPU methods for single-source shortest paths" (IPDPS 2014), section 4 (near and far
piles); Sridhar et al., "Delta-stepping SSSP: from vertices and edges to GraphBLAS implementations" (2019).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, monoid, select, semiring, unary

from . import arguments
from .bfs import bfs
from .errors import NegativeCycleError
from .given import GraphLike, Vertex
from .graph import Graph, as_graph
from .report import Report
from .result import NOT_ASKED_FOR, Result

SMALL, DENSE = 1 << 20, 8  # edges, and edges per node: see Weights.worth_splitting
# Edges, and edges of the longest row over their mean: see Weights.short_paths.  On two cores delta-stepping took 0.8
# times as long as Dijkstra's loop on Kronecker graphs of scale 20, as long at scale 18, and 9 to 12 times as long on a
# grid and a road network.
LARGE, HUBS = 1 << 22, 16


@dataclass(frozen=True)
class SsspResult(Result):
    """distances (Vector), predecessors (INT64 Vector; None unless asked for), report."""

    _of_vertices: ClassVar[frozenset[str]] = frozenset({"predecessors"})
    distances: Vector
    predecessors: Vector
    report: Report

    @property
    def values(self) -> Vector:
        """distances"""
        return self.distances


def sssp(
    G: GraphLike,
    source: Vertex,
    *,
    method: str = "auto",
    delta: float | None = None,
    predecessors: bool = False,
    target: Vertex | None = None,
    callback: Callable[[dict], Any] | None = None,
) -> SsspResult:
    """d min= f min.+ A until nothing improves: the length of a shortest path from `source` to each node.

    method         "bellman_ford" (any weights), "delta" (weights >= 0), "auto": delta on a GPU wherever weights are
                   >= 0, on the CPU a breadth-first search where all weigh the same and else Dijkstra's; for negative
                   ones what is permitted and likely to save work.  The report names the one that ran
    delta          how far beyond the last threshold the next one lies; chosen from the weights when None
    predecessors   ask for the node before each node on a shortest path (the source's is itself)
    target         a node at whose distance the search may end: nodes that are farther may then have no entry
    callback       called with the record of each relaxation; something true stops there (distances are then upper
                   bounds)

    Shapes: A n x n, results size n.  Types: any real A; distances INT64, UINT64, FP32 or FP64.
    Raises: NegativeCycleError, naming a node; OverflowError when an integer path exceeds the type, or when float
    lengths might so that they cannot be compared; ValueError for a weight of NaN or -inf, for method="delta" or a
    delta with a negative weight, and for delta <= 0; TypeError for complex weights; IndexError, TypeError for source.
    Cost: Dijkstra O((n + m) log n), one weight O(n + m); delta-stepping and Bellman-Ford a product for each relaxation.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import sssp
    >>> A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 3], [1, 9, 3, 1], nrows=5, ncols=5)
    >>> found = sssp(A, 0, predecessors=True)
    >>> found.distances.to_dict()
    {0: 0, 1: 1, 2: 4, 3: 5}
    >>> found.predecessors.to_dict()
    {0: 0, 1: 0, 2: 1, 3: 2}
    """
    arguments.flags(predecessors=predecessors)
    G = as_graph(G)
    source = arguments.node(source, G)
    arguments.choice(method, ("auto", "delta", "bellman_ford"), "method")
    end = None if target is None else arguments.node(target, G, "target")
    weights = Weights(G)
    chosen = method
    if method == "auto":
        method = "delta" if delta is not None or weights.worth_splitting else "bellman_ford"
    if method == "delta":
        delta = weights.check_delta(delta, chosen)

    if callback is None and weights.emin >= 0 and not weights.may_overflow:
        with Report(f"sssp ({method})", weighted=True) as report:
            found = report.whole(
                graph.sssp, G.A, source, symmetric=G.known_symmetric,
                delta=np.inf if chosen == "bellman_ford" else delta, predecessors=predecessors,
                weights=(weights.emin, weights.emax),
            )  # fmt: skip
            if found is not None:
                done = found.report
                report.algorithm = f"sssp ({done.method})"
                report.adopt(lambda: done.levels)
                return SsspResult(found.distances, found.predecessors, report, vertices=G.labels)
        if chosen == "auto" and delta is None and weights.are_one:
            with Report("sssp (bfs)", weighted=True) as report:
                searched = bfs(G.numbered, source, parents=predecessors, target=end)
                report.finish("converged", True)
                report.adopt(lambda: searched.report.rounds)
                # d = w * levels
                d = binary.times[weights.result_dtype](searched.levels, weights.emin).new(name="distances")
                return SsspResult(d, searched.parents, report, vertices=G.labels)
        if chosen == "auto" and delta is None and not (weights.worth_splitting and weights.short_paths):
            with Report("sssp (dijkstra)", weighted=True) as report:
                rows = dijkstra(weights, [source], -1 if end is None else end, predecessors)
                if rows is not None:
                    report.finish("converged", True)
                    d = _present(rows[0][0]).dup(weights.result_dtype, name="distances")
                    before = _present(rows[1]) if predecessors else NOT_ASKED_FOR
                    return SsspResult(d, before, report, vertices=G.labels)
    d = Vector.from_coo([source], [0], weights.dtype, size=G.n, name="distances")
    with Report(f"sssp ({method})", callback, weighted=True) as report:
        if method == "delta":
            _delta_stepping(weights, d, weights.usual_delta() if delta is None else delta, report)
        else:
            _bellman_ford(weights, d, report)
    p = NOT_ASKED_FOR
    if predecessors:  # a tree of the tight edges, d(i) + A(i, j) = d(j), also where they weigh 0
        p = bfs(graph.tight_edges(weights.A, d), source, levels=False, parents=True).parents
    return SsspResult(d.dup(weights.result_dtype, name="distances"), p, report, vertices=G.labels)


def dijkstra(weights: Weights, sources: list[int], target: int = -1, parents: bool = False) -> Any:
    """gb.graph.distances, (D, P as a row or None); None where it cannot run."""
    if weights.emin < 0 or weights.may_overflow or weights.dtype is dtypes.UINT64:
        return None
    return graph.distances(weights.A, sources, target=target, parents=parents)


def _present(row: np.ndarray) -> Vector:
    """A vector without the entries of -1."""
    at = np.flatnonzero(row >= 0)
    return Vector.from_dense(row) if at.size == row.size else Vector.from_coo(at, row[at], size=row.size)


def _relax(weights: Weights, f: Vector, d: Vector) -> None:
    """f = (f min.+ A where that is less than d), and d<f> = f: one step of every path in f."""
    weights.check_overflow(f)
    # t = f min.+ A
    t = weights.min_plus(f @ weights.A).new(name="t")
    # late = t >= d, where both are present
    late = binary.ge(t & d).new(name="late")
    # f<!late,r> = t
    f(~late.V, replace=True) << t
    # d<f,s> = f
    d(f.S) << f


def _bellman_ford(weights: Weights, d: Vector, report: Report) -> None:
    f = d.dup(name="frontier")
    while f.nvals:
        _relax(weights, f, d)
        weights.check_cycle(f, report.iterations)
        if report.note(frontier=f.nvals):
            return
    report.finish("converged", True)


def _delta_stepping(weights: Weights, d: Vector, delta: Any, report: Report) -> None:
    f = d.dup(name="near")
    far = d.dup(clear=True, name="far")
    below = weights.threshold(0, delta)
    while f.nvals:
        while f.nvals:
            _relax(weights, f, d)
            if f.nvals:
                # far = far + (f where f >= threshold): a newer distance replaces an older one
                far(binary.second) << select.valuege(f, below)
                # f = f where f < threshold
                f << select.valuelt(f, below)
            if report.note(frontier=f.nvals, far=far.nvals, threshold=below.item()):
                return
        # far = far where far = d: the others were overtaken by a shorter path
        stale = binary.gt(far & d).new(name="stale")
        far(~stale.V, replace=True) << far
        if not far.nvals:
            break
        # The next threshold lies delta beyond the nearest of the far, and those below it are the next frontier.
        below = weights.threshold(far.reduce(monoid.min).new().value, delta)
        if below >= weights.top:  # infinite ones, too
            f << far
            far.clear()
        else:
            f << select.valuelt(far, below)
            far << select.valuege(far, below)
    report.finish("converged", True)


class Weights:
    """The weights of a graph in the type that distances are computed in, with their range."""

    def __init__(self, G: Graph) -> None:
        kind = np.dtype(G.A.dtype.np_type).kind
        if kind not in "biuf":
            raise TypeError(f"G: shortest paths need real weights, got {G.A.dtype.name}; take unary.abs(A) first")
        self.n = G.n
        self.emin: Any
        self.emax: Any
        self.emin, self.emax = (0, 0) if G.A.nvals == 0 else (G.emin, G.emax)
        if kind == "f":
            self.result_dtype = self.dtype = G.A.dtype
            self.may_overflow = False
        else:
            self.result_dtype = dtypes.UINT64 if G.A.dtype is dtypes.UINT64 else dtypes.INT64
            # No simple path has more than n - 1 edges: where that many of the heaviest fit in 32 bits, they are faster.
            reach = self.n * max(abs(int(self.emin)), abs(int(self.emax)))
            self.dtype = dtypes.INT32 if reach < 2**31 else self.result_dtype
            self.may_overflow = reach >= 2**63
        limits = np.finfo if kind == "f" else np.iinfo
        self.top = limits(self.dtype.np_type).max
        self.graph = G
        if kind == "f":
            self._check_floats()
        self.min_plus = semiring.min_plus[self.dtype]
        self._floor = None

    def _check_floats(self) -> None:
        """Refuse weights with which lengths are not ordered, whatever the method: NaN, -inf, and what may make them."""
        for bad, found in (("NaN", np.isnan(self._total())), ("-inf", self.emin == -np.inf)):
            edges = self._of_weight(bad) if found else None
            if edges is not None and edges.nvals:  # a sum of inf and -inf is NaN, too
                i, j, _ = edges.to_coo(values=False)
                tail, head = map(self.graph.label, (i[0], j[0]))
                raise ValueError(
                    f"G: the weight of the edge {tail} -> {head} is {bad}, with which lengths are not ordered; "
                    "remove the edge or give it another weight"
                )
        reach = -self.n * float(self.emin)  # no walk that is relaxed is shorter than -reach
        if reach > np.finfo(np.float64).max or self.emax == np.inf and reach > float(self.top):
            raise OverflowError(
                f"G: paths of {self.n} nodes with weights from {self.emin} to {self.emax} may leave "
                f"{self.dtype.name}, and lengths of inf and -inf cannot be added; scale the weights"
            )

    def _of_weight(self, bad: str) -> Matrix:
        # E = A where A(i, j) is NaN, or -inf
        if bad == "NaN":
            return select.valueeq(unary.isnan(self.graph.A).new(), True).new()
        return select.valueeq(self.graph.A, -np.inf).new()

    @property
    def A(self) -> Matrix:
        """W = A in the type of the distances."""
        return self.graph.weights_as(self.dtype)

    @property
    def are_one(self) -> bool:
        """Do all edges weigh the same w >= 0, so that w * k is exactly the sum of k of them for any path's k?"""
        if not 0 <= self.emin == self.emax < np.inf or self.may_overflow:
            return False
        if self.dtype not in (dtypes.FP32, dtypes.FP64):
            return True
        digits = float(self.emin).as_integer_ratio()[0].bit_length()
        return digits + self.n.bit_length() <= np.finfo(self.dtype.np_type).nmant + 1

    @property
    def worth_splitting(self) -> bool:
        """Weights >= 0 that differ; not on small dense graphs: rounds cost more there than fewer relaxations save."""
        small = self.graph.A.nvals < SMALL and self.graph.A.nvals > DENSE * self.n
        return 0 <= self.emin < self.emax and not small

    @property
    def short_paths(self) -> bool:
        """Is the graph large and has hubs, so that paths have few edges?"""
        nvals = self.graph.A.nvals
        if nvals <= LARGE:
            return False
        return self.graph.out_degree.reduce(monoid.max).new().value > HUBS * nvals / self.n

    def check_delta(self, delta: Any, asked: str) -> Any:
        """`delta` checked; None stays None.  asked: the method that was asked for, "delta", or "auto" with a delta."""
        if self.emin < 0:
            if asked == "auto":
                raise ValueError(
                    f"delta: {delta!r} was given, but a weight is negative ({self.emin}), which delta-stepping does "
                    "not permit; leave delta out, so that another method is chosen"
                )
            raise ValueError(
                f'method="delta": a weight is negative ({self.emin}); use method="bellman_ford", which permits that'
            )
        if delta is None:
            return None
        number = arguments.real(delta, "delta")
        if number <= 0:
            raise ValueError(f"delta: expected a number above 0, got {delta!r}; leave it out to have it chosen")
        return number if self.dtype in (dtypes.FP32, dtypes.FP64) else max(1, round(number))

    def usual_delta(self) -> Any:
        """About the weight of an edge that a shortest path is likely to use."""
        # 32 mean weights over the mean degree: the best lay between 7 and 55 on Kronecker graphs and on a road network,
        # with little between them; larger ones mean fewer rounds.
        mean = self.graph.keep("mean weight", self._mean)
        number = 32 * mean * self.n / max(self.graph.A.nvals, 1)
        if not 0 < number < np.inf:
            number = 1.0
        return number if self.dtype in (dtypes.FP32, dtypes.FP64) else max(1, round(number))

    def _mean(self) -> float:
        return self._total() / max(self.graph.A.nvals, 1)

    def _total(self) -> float:
        # [+_ij A(i, j)]
        return self.graph.keep(
            "total weight",
            lambda: float(self.graph.A.reduce_scalar(monoid.plus[dtypes.FP64]).new().value or 0.0),
        )

    def threshold(self, nearest: Any, delta: Any) -> Any:
        """nearest + delta, above `nearest` even where the sum is rounded to it, and no more than `top`."""
        kind = self.dtype.np_type.type
        if self.dtype in (dtypes.FP32, dtypes.FP64):
            nearest = kind(nearest)
            beyond = kind(min(float(nearest) + delta, float(self.top))) if nearest < self.top else self.top
            return max(beyond, np.nextafter(nearest, kind(np.inf)))
        return kind(min(int(nearest) + delta, int(self.top)))

    def check_cycle(self, f: Vector, rounds: int) -> None:
        """Raise NegativeCycleError where f proves one: shorter or of more edges than any path without a cycle."""
        if self.emin >= 0 or not f.nvals:
            return
        if self._floor is None:
            self._floor = self._shortest_simple_path()
        least = f.reduce(monoid.min).new().value
        if rounds + 1 < self.n and least >= self._floor:
            return
        # any node where f is least
        node = int(select.valueeq(f, least).new().to_coo(values=False)[0][0])
        raise NegativeCycleError(
            f"G: a cycle of negative total weight can be reached, so node {self.graph.label(node)} has no shortest "
            f"distance (it was {least} after {rounds + 1} relaxations and keeps falling); "
            "remove the cycle or make its weights positive",
            node,
        )

    def _shortest_simple_path(self) -> Any:
        """sum over i of min(0, min_j A(i, j)): no path without a cycle is shorter, as it leaves each node once."""
        # m = [min_j A(i, j)],  m = m where m < 0,  [+_i m(i)]
        m = self.A.reduce_rowwise(monoid.min).new(name="m")
        total = sum(select.valuelt(m, 0).new().to_coo(indices=False)[1].tolist())
        return total * (1 + 1e-3) - 1 if isinstance(total, float) else total

    def check_overflow(self, f: Vector) -> None:
        """Raise OverflowError where a path of f followed by an edge leaves the integer type."""
        if not self.may_overflow:
            return
        heaviest = self.graph.keep("heaviest", lambda: self.A.reduce_rowwise(monoid.max).new())
        lightest = self.graph.keep("lightest", lambda: self.A.reduce_rowwise(monoid.min).new())
        limits = np.iinfo(self.dtype.np_type)
        for edge, worst in ((heaviest, limits.max), (lightest, limits.min)):
            both = f.dup(mask=edge.S)
            i, length = both.to_coo()
            step = edge.dup(mask=both.S).to_coo(indices=False)[1]
            for node, a, b in zip(i.tolist(), length.tolist(), step.tolist(), strict=True):
                if not limits.min <= a + b <= limits.max:
                    raise OverflowError(
                        f"G: a path by way of node {node} has length {a + b}, beyond {self.dtype.name} ({worst}); "
                        "use FP64 weights: A.dup(gb.dtypes.FP64)"
                    )
