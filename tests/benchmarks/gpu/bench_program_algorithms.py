"""Algorithms as GraphBLAS texts: a plain loop of calls, the same as a program, and the library's: ms of whole calls.

    python tests/benchmarks/gpu/bench_program_algorithms.py [--graphs small,rmat16] [--seconds 50] [--record]

The texts are those of the papers and of LAGraph; each function below is one.  Results of the three are compared in each
row.  --graphs: of small (a grid of 100 x 100), grid64, rmat12, rmat14, rmat16 and rmat20; --seconds: no row is begun
after that time; --only: texts whose names hold it; --record writes tests/benchmarks/results/program_algorithms_gpu.md.
"""

import argparse
import statistics
import sys
import time
import warnings
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[3]), str(Path(__file__).resolve().parent)]
import numpy as np
from bench_program_loops import agree, record, told
from device_graphs import rmat

import grb_tile as gb
from grb_tile import algorithms as alg, generators
from grb_tile.algorithms.pattern import random_order
from grb_tile.backends.select import current
from grb_tile.cli.timing import timed

RESULTS = Path(__file__).resolve().parents[1] / "results" / "program_algorithms_gpu.md"
HEAD = (
    "| text | graph | turns | plain ms | program ms | library ms | plain / program | program / library "
    "| captured by call ms | remark |"
)
GRAPHS = {
    "small": lambda: generators.grid(100, 100),
    "grid64": lambda: generators.grid(64, 64, 64),
    "rmat12": lambda: gb.Matrix._from_store(rmat(12, 16)),
    "rmat14": lambda: gb.Matrix._from_store(rmat(14, 16)),
    "rmat16": lambda: gb.Matrix._from_store(rmat(16, 16)),
    "rmat20": lambda: gb.Matrix._from_store(rmat(20, 16)),
}
SOURCES = 4  # of closeness and betweenness
TRUSS = 4


def label_propagation(A, labels, most):
    """The most frequent label of the neighbours (LDBC Graphalytics, CDLP)."""
    x = labels.dup()
    for _ in gb.loop(max_turns=most):
        t = gb.graph.mode(A, x)
        y = x.dup()
        y(t.S) << t
        changed = gb.binary.ne(x & y).new().reduce(gb.monoid.plus[gb.dtypes.INT64]).new().value
        x = y
        if changed == 0:
            break
    return x


def independent_set(A, priorities):
    """Luby's independent set with priorities that stay (LAGraph_MaximalIndependentSet)."""
    c, members = priorities.dup(), gb.Vector(bool, A.nrows)
    while c.nvals:
        m = A.mxv(c, "max_second").new(mask=c.S)
        lower = gb.select.valueeq(gb.binary.lt(c & m).new(), True).new()
        new = c.dup(mask=~lower.S)
        members(new.S) << True
        c(~new.S, replace=True) << c
        beside = A.mxv(new, "any_pair").new(mask=c.S)
        c(~beside.S, replace=True) << c
    return members


def colours(L, waits):
    """Jones and Plassmann: L(i, j) where j comes before i, waits(i) the number of these."""
    plus_pair = gb.semiring.plus_pair[gb.dtypes.INT64]
    d, x = waits.dup(), gb.Vector(int, L.nrows)
    f = gb.select.valueeq(d, 0).new()
    while f.nvals:
        x(f.S) << gb.graph.mex(L, x, mask=f.S)
        t = plus_pair(L @ f).new()
        d("minus") << t
        f << gb.select.valueeq(d.dup(mask=t.S), 0)
    return x


def cores(A, degree):
    """Nodes of degree k at most go, until none is left (LAGraph_KCore)."""
    plus_pair = gb.semiring.plus_pair[gb.dtypes.INT64]
    d, core, k = degree.dup(), gb.Vector.from_scalar(0, A.nrows, int), 0
    while d.nvals:
        least = d.reduce("min").new().value
        if least > k:
            k = least
        low = (d <= k).new()
        gone = d.dup(mask=low.V)
        while gone.nvals:
            core(gone.S) << k
            d(~gone.S, replace=True) << d
            lost = plus_pair(gone @ A).new(mask=d.S)
            d("minus") << lost
            low = (d <= k).new()
            gone(low.V, replace=True) << d
    return core


def truss(A, k):
    """Edges in fewer than k - 2 triangles go, until none does (Davis, algorithm 4)."""
    plus_pair = gb.semiring.plus_pair[gb.dtypes.INT64]
    C = A.dup()
    before, edges = -1, C.nvals
    while edges != before:
        C(C.S, replace=True) << plus_pair(C @ C.T)
        C << gb.select.valuege(C, k - 2)
        before, edges = edges, C.nvals
    return C


def closeness(A, order, count):
    """Distances from the vertices with order(v) = 0, 1, ... count - 1, one search after another."""
    score = gb.Vector(float, A.nrows)
    for k in gb.loop(max_turns=count):
        source = (order == k).new()
        f = source.dup(mask=source.V)
        seen = f.dup()
        depth, total, reached = 0, 0, 0
        while f.nvals:
            reached += f.nvals
            total += depth * f.nvals
            f(~seen.S, replace=True) << f.vxm(A, "any_pair")
            seen(f.S) << True
            depth += 1
        others = reached - 1
        score(source.V) << (others / total) * (others / (A.nrows - 1))
    return score


def betweenness(A, order, count):
    """Brandes' sums for the same sources (LAGr_Betweenness, one source after another)."""
    n = A.nrows
    b = gb.Vector.from_scalar(0.0, n)
    for k in gb.loop(max_turns=count):
        source = (order == k).new()
        f = gb.Vector(float, n)
        f(source.V) << 1.0
        paths, level, depth = gb.Vector(float, n), gb.Vector(int, n), 0
        while f.nvals:
            level(f.S) << depth
            paths(f.S) << f
            f(~level.S, replace=True) << f.vxm(A, "plus_first")
            depth += 1
        delta = gb.Vector.from_scalar(0.0, n)
        depth -= 1
        while depth > 1:
            at, above = (level == depth).new(), (level == depth - 1).new()
            w = ((delta + 1.0) / paths).new(mask=at.V)
            t = A.mxv(w, "plus_second").new(mask=above.V)
            delta("plus") << t * paths
            depth -= 1
        b("plus") << delta
    return b


def shortest_paths(W, start):
    """Bellman-Ford over the vertices that came nearer (LAGraph_SingleSourceShortestPath with one bucket)."""
    d, f = start.dup(), start.dup()
    while f.nvals:
        t = f.vxm(W, "min_plus").new()
        late = gb.binary.ge(t & d).new()
        f(~late.V, replace=True) << t
        d(f.S) << f
    return d


def fast_sv(A, labels):
    """FastSV (Zhang, Azad, Hu, algorithm 2)."""
    n, least = A.nrows, gb.binary.min
    f, g, u = labels.dup(), labels.dup(), labels.dup()
    changed = n
    while changed:
        u(least) << A.mxv(g, "min_second")
        parents = f.to_coo(indices=False)[1]
        f(least) << gb.Vector.from_coo(parents, u.to_coo(indices=False)[1], size=n, dup_op=least)
        f(least) << u
        f(least) << g
        before = g.dup()
        g << f[f.to_coo(indices=False)[1]]
        changed = gb.binary.ne(before & g).new().reduce(gb.monoid.plus[gb.dtypes.INT64]).new().value
    return f


class Case:
    """A graph, and for each text its arguments and what the library does."""

    def __init__(self, name):
        self.A = A = GRAPHS[name]()
        self.G = G = alg.Graph(A, directed=False)
        self.n = n = A.nrows
        self.labels = gb.Vector.from_dense(np.arange(n))
        degree = A.reduce_rowwise("count").new(int).to_dense(0)
        self.sources = np.argsort(-degree, kind="stable")[:SOURCES].tolist()
        self.order = gb.Vector.from_coo(self.sources, np.arange(SOURCES), size=n)
        self.degree = gb.Vector.from_dense(degree)
        self.texts = {
            "label propagation": (label_propagation, lambda: (A, self.labels, 10), lambda: alg.label_propagation(G)),
            "Luby": (independent_set, lambda: (A, self.priorities()), lambda: alg.maximal_independent_set(G)),
            "colouring": (colours, self.precedence, lambda: alg.coloring(G, method="jp_random")),
            "k-core": (cores, lambda: (A, self.degree), lambda: alg.core_number(G)),
            "k-truss": (truss, lambda: (A.apply("one").new(int), TRUSS), lambda: alg.k_truss(G, TRUSS)),
            "closeness": (
                closeness, lambda: (A, self.order, SOURCES), lambda: alg.closeness(G, sources=self.sources),
            ),
            "betweenness": (
                betweenness, lambda: (A, self.order, SOURCES),
                lambda: alg.betweenness(G, sources=self.sources, normalized="sum"),
            ),
            "shortest paths": (shortest_paths, self.weighted, lambda: alg.sssp(self.H, self.sources[0])),
            "FastSV": (fast_sv, lambda: (A, self.labels), lambda: alg.connected_components(G)),
        }  # fmt: skip

    def priorities(self):
        """c(i) = n - k for the vertex i that is k-th in the library's order."""
        order = random_order(self.G, 0).to_coo(indices=False)[1]
        return gb.Vector.from_coo(order, np.arange(self.n, 0, -1), size=self.n)

    def precedence(self):
        """(L, waits) for the order of the library's "jp_random"."""
        position = np.empty(self.n, np.int64)
        position[random_order(self.G, 0, "jp_random").to_coo(indices=False)[1]] = np.arange(self.n)
        p = gb.Vector.from_dense(position)
        P = gb.semiring.any_first[gb.dtypes.INT64](p.diag() @ self.A).new()
        L = gb.select.valueeq(gb.binary.gt(P & p).new(), True).new()
        waits = gb.Vector.from_scalar(0, self.n, int)
        waits("plus") << L.reduce_rowwise("count").new(int)
        return L, waits

    def weighted(self):
        """(W, start): W(i, j) = 1 + (i + j) mod 8."""
        i, j = (self.A.apply(op).new() for op in ("rowindex", "colindex"))
        W = gb.binary.band(gb.binary.plus(i & j).new(), 7).new()
        W = gb.binary.plus(W, 1).new(float)
        self.H = alg.Graph(W, directed=False)
        return W, gb.Vector.from_coo([self.sources[0]], [0.0], size=self.n)


def value_of(result):
    """The vector or matrix of a result of the library, or of a text."""
    return result if isinstance(result, (gb.Vector, gb.Matrix)) else result.values


def same(found, wanted):
    """Are the entries near?  The library may have another type of integers."""
    found, wanted = value_of(found), value_of(wanted)
    return agree((found,), (wanted,)) if isinstance(found, gb.Vector) else found.isclose(wanted, rel_tol=1e-9)


def median_ms(call, calls):
    """Of `calls` calls, or fewer that take a second."""
    times = []
    while len(times) < calls and sum(times) < 1:
        current().synchronize()
        times.append(timed(lambda: (call(), current().synchronize()))[1])
    return statistics.median(times) * 1e3


def row_of(name, graph, case, calls):
    """The line of a text on a graph.  Raises: AssertionError where the three results differ."""
    function, arguments, library = case.texts[name]
    arguments = arguments()
    program = gb.program(function)
    wanted = function(*arguments)
    plain = median_ms(lambda: function(*arguments), max(calls // 2, 1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        seconds = [timed(lambda: program(*arguments))[1] for _ in range(3)]
        found = program(*arguments)
    assert same(found, wanted), f"{name}, {graph}: the program's result differs"
    ours = median_ms(lambda: program(*arguments), calls)
    assert same(program(*arguments), wanted), f"{name}, {graph}: the program's last result differs"
    theirs = [library() for _ in range(4)][-1]  # iterations are captured by the second call
    assert same(wanted, theirs), f"{name}, {graph}: the library's result differs"
    best = median_ms(library, calls)
    ran = next((loop for loop in program.loops if loop.reason is None), program.loops[0] if program.loops else None)
    texts = [str(w.message).split(".  The loop")[0] for w in caught]
    if ran is None:
        texts, turns = [program.explain().split("\n", 1)[-1].strip()], 0
    else:
        turns = ran.turns
        texts = texts or ([ran.reason] if ran.reason else [", ".join(f"{v} {k}" for k, v in ran.nodes.items())])
        texts += ["one kernel"] if not ran.reason and ran.lowering.startswith("one kernel") else []
    return (
        f"| {name} | {graph} | {turns} | {plain:.3f} | {ours:.3f} | {best:.3f} | {plain / ours:.2f} "
        f"| {ours / best:.2f} | {seconds[1] * 1e3:.1f} | {'; '.join(texts)[:160]} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", default="small,grid64,rmat16,rmat20", help=", ".join(GRAPHS))
    parser.add_argument("--only", default="")
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    gb.config.set(backend="cuda")
    rows = (
        (lambda n=name, g=graph, c=case: row_of(n, g, c, options.calls), name, graph)
        for graph in options.graphs.split(",") for case in [Case(graph)] for name in case.texts if options.only in name
    )  # fmt: skip
    lines = told(rows, HEAD, time.perf_counter() + options.seconds)
    if options.record:
        record(RESULTS, "Algorithms as GraphBLAS texts on a GPU", Path(__file__).name, options.calls, lines)


if __name__ == "__main__":
    main()
