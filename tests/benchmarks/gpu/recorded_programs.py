"""Programs whose first calls are measured (bench_first_calls.py) and whose kernels are recorded (record_kernels.py).

    TWENTY      {name: call(G) of an algorithm}
    programs()  {name: (graph, call)} of everything that is recorded: the algorithms on several kinds of graphs, and
                single operations over the semirings of common programs

Graphs are made by GRAPHS[name](scale); a call takes such a graph.
"""

import sys
from pathlib import Path

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[3]), str(Path(__file__).resolve().parents[1])]

from common_programs import MATRIX_MATRIX, MATRIX_VECTOR, PROGRAMS  # noqa: E402

import grb_tile as gb  # noqa: E402
from grb_tile import algorithms as alg, generators  # noqa: E402


def _symmetric(scale, weights=None, dtype=None):
    A = generators.kronecker(scale, 16, weights=weights)
    return alg.Graph.of_symmetric(A if dtype is None else A.dup(dtype))


GRAPHS = {
    "kron": _symmetric,
    "weighted": lambda scale: _symmetric(scale, weights=(1, 255)),
    "weighted_fp64": lambda scale: _symmetric(scale, weights=(1, 255), dtype=gb.dtypes.FP64),
    "directed": lambda scale: alg.Graph(generators.kronecker(scale, 16, directed=True), directed=True),
    "acyclic": lambda scale: alg.Graph(gb.select.triu(generators.kronecker(scale, 16), 1).new(), directed=True),
    "grid": lambda scale: alg.Graph.of_symmetric(generators.grid(1 << scale // 2, 1 << scale // 2)),
    "edges": lambda scale: _edges(scale),
}


def _edges(scale):
    """(rows, columns, n) of a graph, out of order, as a file has them."""
    rows, columns, _ = generators.kronecker(scale, 16).to_coo()
    order = np.random.default_rng(1).permutation(len(rows))
    return rows[order], columns[order], 1 << scale


def _sources(G, count):
    return list(range(0, G.n, G.n // count))[:count]


TWENTY = {
    "bfs": lambda G: alg.bfs(G, 0),
    "sssp": lambda G: alg.sssp(G, 0),
    "pagerank": alg.pagerank,
    "connected_components": alg.connected_components,
    "strongly_connected_components": alg.strongly_connected_components,
    "triangle_count": alg.triangle_count,
    "clustering": alg.clustering,
    "k_truss": lambda G: alg.k_truss(G, 4),
    "core_number": alg.core_number,
    "betweenness": lambda G: alg.betweenness(G, sources=_sources(G, 2)),
    "closeness": lambda G: alg.closeness(G, sources=_sources(G, 64)),
    "label_propagation": lambda G: alg.label_propagation(G, max_iter=4),
    "louvain": alg.louvain,
    "leiden": alg.leiden,
    "coloring": alg.coloring,
    "maximal_independent_set": alg.maximal_independent_set,
    "minimum_spanning_forest": alg.minimum_spanning_forest,
    "katz": lambda G: alg.katz(G, alpha=1e-5, strict=False),
    "eigenvector": lambda G: alg.eigenvector(G, strict=False),
    "hits": lambda G: alg.hits(G, strict=False),
}
WEIGHTED = ("sssp", "minimum_spanning_forest", "louvain", "pagerank")
DIRECTED = ("bfs", "pagerank", "strongly_connected_components", "clustering", "betweenness", "hits", "katz")
MORE = {
    "bfs, parents": ("kron", lambda G: alg.bfs(G, 0, parents=True)),
    "bfs, high diameter": ("grid", TWENTY["bfs"]),
    "sssp, high diameter": ("grid", TWENTY["sssp"]),
    "bfs_multi": ("kron", lambda G: alg.bfs_multi(G, _sources(G, 64))),
    "harmonic": ("kron", lambda G: alg.harmonic(G, sources=_sources(G, 64))),
    "k_core": ("kron", lambda G: alg.k_core(G, 4)),
    "modularity": ("kron", lambda G: alg.modularity(G, np.arange(G.n) % 10)),
    "square_clustering": ("kron", lambda G: alg.square_clustering(G, nodes=_sources(G, 64))),
    "jaccard": ("kron", lambda G: alg.jaccard(G, np.arange(64).reshape(-1, 2))),
    "adamic_adar": ("kron", lambda G: alg.adamic_adar(G, np.arange(64).reshape(-1, 2))),
    "rcm": ("grid", alg.rcm),
    "diameter": ("grid", lambda G: alg.diameter(G, method="estimate")),
    "topological_generations": ("acyclic", alg.topological_generations),
    "reciprocity": ("directed", alg.reciprocity),
    "condensation": ("directed", alg.condensation),
    "bipartite_matching": ("directed", lambda G: alg.bipartite_matching(G.A)),
    "shortest_path": ("grid", lambda G: alg.shortest_path(G, 0, G.n - 1)),
    "ego_graph": ("kron", lambda G: alg.ego_graph(G, 3)),
    "random_walks": ("kron", lambda G: alg.random_walks(G, [0, 1], 4, p=2.0, seed=1)),
    "random_walks, weighted": ("kron", lambda G: alg.random_walks(G, [0, 1], 4, weighted=True, seed=1)),
    "mcl": ("grid", lambda G: alg.mcl(G, max_iter=4, strict=False)),
}


# Of the semirings of common programs; others have their kernels expected from those of the nearest.
VECTOR = [pair for pair in MATRIX_VECTOR if pair[1] in ("FP64", "BOOL") or pair[0] in ("min_plus", "plus_pair")]
MATRIX = [pair for pair in MATRIX_MATRIX if pair[0] != "plus_second"]


def _from_coo(dtype):
    def build(edges):
        rows, columns, n = edges
        A = gb.Matrix.from_coo(rows, columns, np.ones(len(rows), dtype), nrows=n, ncols=n, dup_op=gb.binary.plus)
        return A.T.new()

    return build


def _matrix_vector(name, dtype):
    """All forms of a product with a vector: full, half full and sparse vectors, masks, and five in a row."""

    def products(G):
        op, A, n = getattr(gb.semiring, name.removeprefix("ss."), None), G.A, G.n
        op = (getattr(gb.semiring.ss, name[3:]) if name.startswith("ss.") else op)[dtype]
        kind = getattr(gb.dtypes, dtype)
        A, few = A.dup(kind), np.arange(0, n, 7)
        full = gb.Vector.from_dense(np.ones(n, kind.np_type))
        half = gb.Vector.from_coo(np.arange(0, n, 2), np.ones(n // 2, kind.np_type), size=n)
        sparse = gb.Vector.from_coo(few[:5], np.arange(1, 6).astype(kind.np_type), size=n)
        for x in (sparse, half, *[full] * 5):
            op(A @ x).new()
            op(x @ A).new()
        op(A @ full).new(mask=sparse.S)
        op(sparse @ A).new(mask=~half.S)
        op(half @ A).new(mask=~sparse.S)

    return products


def _matrix_matrix(name, dtype):
    def products(G):
        op, A = getattr(gb.semiring, name)[dtype], G.A.dup(getattr(gb.dtypes, dtype))
        op(A @ A).new()
        op(A @ A).new(mask=A.S)
        op(A @ A.T).new(mask=A.S)

    return products


def _element_wise(G):
    """Unions, intersections, selections, sums of rows, of one type."""
    A = G.A
    B = A.T.new()
    for op in (gb.binary.plus, gb.binary.min, gb.binary.times):
        A.ewise_add(B, op).new()
        A.ewise_mult(B, op).new()
    gb.select.tril(A).new()
    A.select(">", 3).new()
    A.apply(gb.binary.times, right=2).new()
    rows = A.reduce_rowwise(gb.monoid.plus).new()
    rows.reduce(gb.monoid.plus).new().value  # noqa: B018
    A[: G.n // 2, 1:].new()


def programs():
    """{name: (graph, call)} of everything that is recorded."""
    found = {}
    for name, call in TWENTY.items():
        found[name] = "kron", call
    for name in WEIGHTED:
        for graph in ("weighted", "weighted_fp64"):
            found[f"{name}, {graph}"] = graph, TWENTY[name]
    for name in DIRECTED:
        found[f"{name}, directed"] = "directed", TWENTY[name]
    found |= MORE
    for name, call in PROGRAMS.items():
        found[f"script {name}"] = ("weighted_fp64" if name == "sssp" else "kron"), (lambda G, call=call: call(gb, G.A))
    for dtype in (np.float64, np.int64, bool):
        found[f"from_coo {np.dtype(dtype).name}"] = "edges", _from_coo(dtype)
    for name, dtype in VECTOR:
        found[f"vector {name} {dtype}"] = "weighted", _matrix_vector(name, dtype)
    for name, dtype in MATRIX:
        found[f"matrix {name} {dtype}"] = "weighted", _matrix_matrix(name, dtype)
    for graph in ("weighted", "weighted_fp64"):
        found[f"element-wise {graph}"] = graph, _element_wise
    return found
