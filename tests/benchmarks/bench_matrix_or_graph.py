"""Algorithms that are given a Matrix, against the same given a Graph of it that knows whether it is symmetric.

    python tests/benchmarks/bench_matrix_or_graph.py [--only=NAME,NAME] [--graphs=kron16,grid256] [--record]

first    ms of the first call, of which nothing is known before: a new Matrix, a new Graph (made in the call)
second   ms of the call after it
next     least ms of further calls, those of Matrix and Graph in turns
ratio    next of the Matrix over next of the Graph (target: 1.1)

Times are the processor's, summed over threads, so that other programs on the machine do not count.  Kernels are
compiled before.  The results of all calls of a row are equal.  --record writes results/matrix_or_graph.md.
"""

import argparse
import dataclasses
import os
import pathlib
import sys
import time

os.environ.setdefault("GRB_TILE_JIT", "always")

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "algorithms")]

import environment  # noqa: E402
import numpy as np  # noqa: E402
from every_algorithm import CHOSEN, alike  # noqa: E402

import grb_tile as gb  # noqa: E402
from grb_tile import algorithms as alg, generators  # noqa: E402
from grb_tile.cli.timing import timed  # noqa: E402

RESULTS = pathlib.Path(__file__).resolve().parent / "results" / "matrix_or_graph.md"
SECONDS, MOST = 1.5, 15  # that are spent on the further calls of a row, and how many of a side
HEAD = "| graph | algorithm | Matrix: first | second | next | Graph: first | next | ratio |"
GRAPHS = {  # name: (a Matrix, is it directed?)
    "kron16": lambda: (generators.kronecker(16, 16, weights=(1, 255)), False),
    "grid256": lambda: (generators.grid(256, 256, weights=(1, 255)), False),
    "directed16": lambda: (generators.kronecker(16, 16, directed=True, weights=(1, 255)), True),
    "kron8": lambda: (generators.kronecker(8, 8, weights=(1, 255)), False),
}

FEW = 4  # sources of algorithms that search from each
BOTH = {  # name: call(G, sources, n)
    "bfs": lambda G, s, n: alg.bfs(G, s[0]),
    "bfs_multi": lambda G, s, n: alg.bfs_multi(G, s),
    "sssp": lambda G, s, n: alg.sssp(G, s[0]),
    "connected_components": lambda G, s, n: alg.connected_components(G),
    "strongly_connected_components": lambda G, s, n: alg.strongly_connected_components(G),
    "pagerank": lambda G, s, n: alg.pagerank(G, tol=0, max_iter=10, strict=False),
    "pagerank weighted": lambda G, s, n: alg.pagerank(G, tol=0, max_iter=10, strict=False, weighted=True),
    "pagerank_multi": lambda G, s, n: alg.pagerank_multi(G, s, tol=0, max_iter=10, strict=False),
    "hits": lambda G, s, n: alg.hits(G, tol=0, max_iter=10, strict=False),
    "katz": lambda G, s, n: alg.katz(G, alpha=1e-5, tol=0, max_iter=10, strict=False),
    "eigenvector": lambda G, s, n: alg.eigenvector(G, tol=0, max_iter=10, strict=False),
    "betweenness": lambda G, s, n: alg.betweenness(G, sources=s),
    "betweenness weighted": lambda G, s, n: alg.betweenness(G, sources=s, weighted=True),
    "edge_betweenness": lambda G, s, n: alg.edge_betweenness(G, sources=s),
    "closeness": lambda G, s, n: alg.closeness(G, sources=s),
    "closeness weighted": lambda G, s, n: alg.closeness(G, sources=s, weighted=True),
    "harmonic": lambda G, s, n: alg.harmonic(G, sources=s),
    "apsp": lambda G, s, n: alg.apsp(G, sources=s),
    "core_number": lambda G, s, n: alg.core_number(G),
    "k_core": lambda G, s, n: alg.k_core(G, 4),
    "k_shell": lambda G, s, n: alg.k_shell(G, 4),
    "degree": lambda G, s, n: alg.degree(G),
    "degree_centrality": lambda G, s, n: alg.degree_centrality(G),
    "in_degree": lambda G, s, n: alg.in_degree(G, weighted=True),
    "out_degree": lambda G, s, n: alg.out_degree(G),
    "density": lambda G, s, n: alg.density(G),
    "isolates": lambda G, s, n: alg.isolates(G),
    "reciprocity": lambda G, s, n: alg.overall_reciprocity(G),
    "jaccard": lambda G, s, n: alg.jaccard(G, np.stack([np.arange(n), np.roll(np.arange(n), 5)], 1)),
    "adamic_adar": lambda G, s, n: alg.adamic_adar(G, np.stack([np.arange(n), np.roll(np.arange(n), 5)], 1)),
    "modularity": lambda G, s, n: alg.modularity(G, np.arange(n) % 100),
    "clustering": lambda G, s, n: alg.clustering(G),
    "shortest_path_length": lambda G, s, n: alg.shortest_path_length(G, s[0], s[1]),
    "has_path": lambda G, s, n: alg.has_path(G, s[0], s[1]),
    "descendants": lambda G, s, n: alg.descendants(G, s[0]),
    "ancestors": lambda G, s, n: alg.ancestors(G, s[0]),
    "ego_graph": lambda G, s, n: alg.ego_graph(G, s[0], 1, undirected=True),
    "random_walks": lambda G, s, n: alg.random_walks(G, np.arange(n), 4, seed=1),
    "label_propagation": lambda G, s, n: alg.label_propagation(G, max_iter=4),
    "louvain": lambda G, s, n: alg.louvain(G, max_level=1),
}
UNDIRECTED = {  # of graphs whose edges go both ways
    "triangle_count": lambda G, s, n: alg.triangle_count(G),
    "triangles": lambda G, s, n: alg.triangles(G),
    "transitivity": lambda G, s, n: alg.transitivity(G),
    "k_truss": lambda G, s, n: alg.k_truss(G, 4),
    "coloring": lambda G, s, n: alg.coloring(G),
    "maximal_independent_set": lambda G, s, n: alg.maximal_independent_set(G),
    "minimum_spanning_forest": lambda G, s, n: alg.minimum_spanning_forest(G),
    "leiden": lambda G, s, n: alg.leiden(G, max_level=1),
    "rcm": lambda G, s, n: alg.rcm(G),
}
CONNECTED = {
    "eccentricity": lambda G, s, n: alg.eccentricity(G, sources=s),
    "diameter": lambda G, s, n: alg.diameter(G, method="estimate"),
}
DIRECTED = {"condensation": lambda G, s, n: alg.condensation(G)}


def calls_of(graph, directed):
    """{name: call} for such graphs."""
    return BOTH | (DIRECTED if directed else UNDIRECTED) | (CONNECTED if graph.startswith("grid") else {})


def fresh(A):
    """A matrix with the entries of A, of which nothing is known."""
    indptr, columns, values = A.to_csr()
    return gb.Matrix.from_csr(indptr, columns, values, A.dtype, nrows=A.nrows, ncols=A.ncols)


def sources_of(A):
    """The same vertices with edges for every row."""
    used = np.unique(A.to_coo(values=False)[0])
    return np.random.default_rng(1).choice(used, FEW, replace=False).tolist()


def same(one, other):
    """Are two results equal, but for the rounding of floats and what is CHOSEN among several that are right?"""
    if isinstance(one, (gb.Vector, gb.Matrix)):
        return one.dtype is other.dtype and one.isclose(other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, alg.Graph):
        return same(one.A, other.A)
    if dataclasses.is_dataclass(one):
        names = {field.name for field in dataclasses.fields(one)} - CHOSEN - {"report"}
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    if isinstance(one, np.ndarray):
        return np.allclose(one, other) if one.dtype.kind == "f" else np.array_equal(one, other)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    return alike(one, other)


def measure(call, A, directed, sources, seconds=SECONDS):
    """(ms of the Matrix's first call, second, next, the Graph's first call, next); results compared."""
    n = A.nrows

    def ms(graph):
        found, taken = timed(lambda: call(graph(), sources, n), clock=time.process_time)
        return found, taken * 1e3

    call(alg.Graph(fresh(A), directed), sources, n)  # compiles
    M, B = fresh(A), fresh(A)
    given, first = ms(lambda: M)
    again, second = ms(lambda: M)
    right, graph_first = ms(lambda: alg.Graph(B, directed))
    assert same(given, right) and same(again, right), "the results differ"
    G = alg.Graph(B, directed)
    mine, graphs, stop = [second], [], time.perf_counter() + seconds
    while not graphs or (len(graphs) < MOST and time.perf_counter() < stop):
        for x, times in ((M, mine), (G, graphs))[:: 1 if len(graphs) % 2 else -1]:
            found, taken = timed(lambda: call(x, sources, n), clock=time.process_time)  # noqa: B023
            times.append(taken * 1e3)
        del found
    return first, second, min(mine), graph_first, min(graphs)


def row(graph, name, figures):
    first, second, further, graph_first, graph_next = figures
    cells = (f"{x:.3g}" for x in (first, second, further, graph_first, graph_next))
    matrix_first, *rest = cells
    return f"| {graph} | {name} | {matrix_first} | " + " | ".join(rest) + f" | {further / graph_next:.2f} |"


def record(rows, ratios):
    facts = environment.describe()
    above = sum(ratio > 1.1 for ratio in ratios)
    RESULTS.write_text(
        "# Algorithms given a Matrix, and given a Graph of it\n\n"
        "`python tests/benchmarks/bench_matrix_or_graph.py --record`: ms of processor time. First: nothing is known\n"
        "of the Matrix, and the Graph is made in the call. Next: the least of up to 15 further calls, both sides in\n"
        "turns. Results are equal.\n\n"
        f"{facts['cpu']}, {facts['cores']} cores, load {facts['load']:.1f}, commit {str(facts['commit'])[:7]}.\n\n"
        f"{len(rows)} rows, {above} with a ratio above 1.1, geometric mean {np.exp(np.log(ratios).mean()):.3f}.\n\n"
        + HEAD + "\n" + "|---" * (HEAD.count("|") - 1) + "|\n" + "\n".join(rows) + "\n",
        encoding="utf-8",
    )  # fmt: skip


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="names of algorithms, separated by commas")
    parser.add_argument("--graphs", default="kron16,grid256,directed16", help=f"of {', '.join(GRAPHS)}")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for the further calls of a row")
    parser.add_argument("--record", action="store_true", help="write results/matrix_or_graph.md")
    args = parser.parse_args(argv)
    rows, ratios = [], []
    print(HEAD)
    for graph in args.graphs.split(","):
        if graph not in GRAPHS:
            parser.error(f"--graphs: no graph is called {graph}; there are {', '.join(GRAPHS)}")
        A, directed = GRAPHS[graph]()
        sources, calls = sources_of(A), calls_of(graph, directed)
        for name in args.only.split(",") if args.only else calls:
            if name not in calls:
                parser.error(f"--only: no algorithm is called {name}; there are {', '.join(calls)}")
            figures = measure(calls[name], A, directed, sources, args.seconds)
            rows.append(row(graph, name, figures))
            ratios.append(figures[2] / figures[4])
            print(rows[-1], flush=True)
    if args.record:
        record(rows, ratios)


if __name__ == "__main__":
    main()
