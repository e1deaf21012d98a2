"""The calls of graphblas-algorithms that bench_dropin.py measures: every function of its NetworkX interface.

A call is made of graphs of n nodes; a random graph with ten times as many edges as nodes, seeds fixed, nodes 0 .. n-1.
"""

import functools

import numpy as np

NODES = 50_000
DENSE_NODES = 2_000  # for functions whose result has n^2 entries: 2 GB or more at 50,000 nodes
EDGES_PER_NODE = 10


@functools.cache
def arcs(n, seed):
    """(tails, heads, weights) of 10 n different arcs without loops; weights are 1.0 to 10.0."""
    rng = np.random.default_rng(seed)
    wanted = EDGES_PER_NODE * n
    keys = np.unique(rng.integers(0, n * n, wanted + wanted // 4))
    keys = keys[keys // n != keys % n]
    keys = np.sort(rng.permutation(keys)[:wanted])
    return keys // n, keys % n, rng.integers(1, 11, wanted).astype(float)


class Graphs:
    """Fresh graphs of n nodes: no property of theirs is cached by an earlier call."""

    def __init__(self, n):
        import graphblas_algorithms as ga
        from graphblas import Matrix

        self.n, self._ga, self._Matrix = n, ga, Matrix

    def _matrix(self, tails, heads, values):
        return self._Matrix.from_coo(tails, heads, values, nrows=self.n, ncols=self.n)

    def directed(self, seed=1):
        return self._ga.DiGraph(self._matrix(*arcs(self.n, seed)))

    def undirected(self, seed=1, weighted=True):
        """5 n edges, so that the matrix has 10 n entries."""
        i, j, w = arcs(self.n, seed)
        kept = np.unique(np.minimum(i, j) * self.n + np.maximum(i, j), return_index=True)[1][: 5 * self.n]
        i, j, w = i[kept], j[kept], w[kept] if weighted else np.ones(kept.size)
        return self._ga.Graph(self._matrix(np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([w, w])))

    def acyclic(self, seed=1):
        i, j, w = arcs(self.n, seed)
        up = i < j
        return self._ga.DiGraph(self._matrix(i[up], j[up], w[up]))

    def tournament(self):
        rng = np.random.default_rng(7)
        i, j = np.triu_indices(self.n, 1)
        flip = rng.random(i.size) < 0.5
        return self._ga.DiGraph(self._matrix(np.where(flip, j, i), np.where(flip, i, j), np.ones(i.size)))

    def half(self):
        return set(range(self.n // 2))

    def rest(self):
        return set(range(self.n // 2, self.n))

    def few(self):
        return set(range(0, self.n, 97))

    def renamed(self, graph):
        """The graph with nodes n .. 2n-1."""
        return type(graph)(graph._A, key_to_id={k + self.n: k for k in range(self.n)})


def u(*rest, **keywords):
    """function(undirected graph, *rest, **keywords)"""
    return lambda g: ((g.undirected(), *rest), keywords)


def d(*rest, **keywords):
    """function(directed graph, *rest, **keywords)"""
    return lambda g: ((g.directed(), *rest), keywords)


def with_sets(kind, *names, **keywords):
    return lambda g: ((getattr(g, kind)(), *(getattr(g, name)() for name in names)), keywords)


def pair(kind, **keywords):
    return lambda g: ((getattr(g, kind)(1), getattr(g, kind)(2)), keywords)


def apart(kind):
    return lambda g: ((getattr(g, kind)(1), g.renamed(getattr(g, kind)(2))), {})


WEIGHT = {"weight": "weight"}
# {label: how (arguments, keywords) are made of Graphs}; a label is the function's name and what else tells it apart
CALLS = {
    "adjacency_matrix": d(),
    "ancestors": lambda g: ((g.acyclic(), g.n // 2), {}),
    "average_clustering": u(),
    "average_clustering directed": d(),
    "bellman_ford_path": d(0, 17),
    "bellman_ford_path_length": d(0, 17),
    "bethe_hessian_matrix": u(),
    "bfs_layers": d(0),
    "boundary_expansion": with_sets("undirected", "half"),
    "clustering": u(),
    "clustering directed": d(),
    "clustering weighted": u(**WEIGHT),
    "clustering directed weighted": d(**WEIGHT),
    "compose": pair("directed"),
    "conductance": with_sets("undirected", "half", **WEIGHT),
    "cut_size": with_sets("undirected", "half", **WEIGHT),
    "cut_size directed": with_sets("directed", "half", "rest"),
    "degree_centrality": u(),
    "descendants": lambda g: ((g.acyclic(), g.n // 2), {}),
    "descendants_at_distance": d(0, 3),
    "difference": pair("directed"),
    "disjoint_union": pair("directed"),
    "edge_boundary": with_sets("undirected", "half"),
    "edge_boundary few": with_sets("directed", "few", data="weight"),
    "edge_expansion": with_sets("undirected", "half", **WEIGHT),
    "efficiency": u(0, 17),
    "ego_graph": u(0, radius=3),
    "ego_graph weighted": u(0, radius=6, distance="weight"),
    "eigenvector_centrality": u(**WEIGHT),
    "fast_could_be_isomorphic": pair("undirected"),
    "faster_could_be_isomorphic": pair("undirected"),
    "generalized_degree": u(),
    "has_path": d(0, 17),
    "hits": d(),
    "in_degree_centrality": d(),
    "inter_community_edges": lambda g: ((g.undirected(), [g.half(), set(range(g.n // 2, g.n))]), {}),
    "intersection": pair("directed"),
    "intra_community_edges": lambda g: ((g.undirected(), [g.half(), set(range(g.n // 2, g.n))]), {}),
    "is_connected": u(),
    "is_dominating_set": with_sets("undirected", "half"),
    "is_dominating_set few": with_sets("undirected", "few"),
    "is_isolate": d(3),
    "is_k_regular": u(10),
    "is_regular": d(),
    "is_simple_path": d([0, 17, 4]),
    "is_triad": d(),
    "is_tournament": d(),
    "is_weakly_connected": d(),
    "isolates": d(),
    "k_truss": u(3),
    "katz_centrality": u(alpha=0.01),
    "katz_centrality iso": lambda g: ((g.undirected(weighted=False),), {"alpha": 0.04}),
    "laplacian_matrix": u(),
    "lowest_common_ancestor": lambda g: ((g.acyclic(), g.n // 2, g.n // 2 + 1), {}),
    "mixing_expansion": with_sets("undirected", "half"),
    "mutual_weight": d(0, 17),
    "negative_edge_cycle": d(),
    "node_boundary": with_sets("undirected", "few"),
    "node_connected_component": u(0),
    "node_expansion": with_sets("undirected", "half"),
    "normalized_cut_size": with_sets("undirected", "half", **WEIGHT),
    "normalized_laplacian_matrix": u(),
    "number_of_isolates": d(),
    "out_degree_centrality": d(),
    "overall_reciprocity": d(),
    "pagerank": d(),
    "pagerank iso": lambda g: ((g.undirected(weighted=False),), {}),
    "reciprocity": lambda g: ((g.directed(), range(0, g.n, 7)), {}),
    "reverse": d(),
    "s_metric": u(),
    "score_sequence": lambda g: ((g.tournament(),), {}),
    "single_source_bellman_ford_path_length": d(0),
    "single_source_shortest_path_length": d(0),
    "single_target_shortest_path_length": d(0),
    "square_clustering": u(),
    "symmetric_difference": pair("directed"),
    "transitivity": u(),
    "transitivity directed": d(),
    "triangles": u(),
    "union": apart("directed"),
    "volume": with_sets("undirected", "half", **WEIGHT),
    # results of n^2 entries
    "all_pairs_bellman_ford_path_length": d(),
    "all_pairs_shortest_path_length": d(),
    "complement": u(),
    "directed_modularity_matrix": d(),
    "floyd_warshall": lambda g: ((Graphs(g.n // 4).directed(),), {}),
    "floyd_warshall_numpy": lambda g: ((Graphs(g.n // 4).directed(),), {}),
    "floyd_warshall_predecessor_and_distance": lambda g: ((Graphs(g.n // 4).directed(),), {}),
    "full_join": apart("undirected"),
    "google_matrix": d(),
    "modularity_matrix": u(),
    "tournament_matrix": lambda g: ((g.tournament(),), {}),
}
DENSE = set(list(CALLS)[list(CALLS).index("all_pairs_bellman_ford_path_length") :]) | {"score_sequence"}
