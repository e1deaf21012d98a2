"""Every algorithm as a call of a graph of at least two vertices, its result as plain Python, an error as its text."""

import dataclasses
from itertools import count
from typing import NamedTuple

import numpy as np

import grb_tile as gb
from grb_tile import algorithms as alg


def _with(function, *arguments, **options):
    return lambda G: function(G, *arguments, **options)


EVERY = {
    name: _with(getattr(alg, name))
    for name in (
        "adamic_adar average_clustering betweenness closeness clustering common_neighbors "
        "condensation connected_components core_number cosine degree degree_centrality density diameter eccentricity "
        "edge_betweenness harmonic in_degree in_degree_centrality is_dag isolates jaccard k_core "
        "maximal_independent_set mcl minimum_spanning_forest out_degree out_degree_centrality overall_reciprocity "
        "overlap radius reciprocity resource_allocation rcm sorensen square_clustering strongly_connected_components "
        "topological_generations topological_sort transitivity triangle_count triangles"
    ).split()
} | {
    "ancestors": _with(alg.ancestors, 1),
    "apsp": _with(alg.apsp),
    "apsp weighted": _with(alg.apsp, weighted=True),
    "apsp floyd_warshall": _with(alg.apsp, method="floyd_warshall", weighted=True),
    "betweenness weighted": _with(alg.betweenness, weighted=True),
    "bfs": _with(alg.bfs, 0, parents=True),
    "bfs_multi": _with(alg.bfs_multi, [0, 1]),
    "closeness weighted": _with(alg.closeness, weighted=True),
    "clustering weighted": _with(alg.clustering, weighted=True),
    "bipartite_matching": lambda G: alg.bipartite_matching(G.A),
    "coloring": _with(alg.coloring, seed=1),
    "descendants": _with(alg.descendants, 0),
    "edge_betweenness weighted": _with(alg.edge_betweenness, weighted=True),
    "ego_graph": lambda G: alg.ego_graph(G, 0, 2, undirected=True).A,
    "eigenvector": _with(alg.eigenvector, strict=False),
    "has_path": _with(alg.has_path, 0, 1),
    "hits": _with(alg.hits, strict=False),
    "k_shell": _with(alg.k_shell, 1),
    "k_truss": _with(alg.k_truss, 3),
    "katz": _with(alg.katz, alpha=0.01, strict=False),
    "label_propagation": _with(alg.label_propagation),
    "leiden": _with(alg.leiden, seed=1),
    "louvain": _with(alg.louvain, seed=1),
    "modularity": lambda G: alg.modularity(G, np.arange(G.n) % 3),
    "pagerank": _with(alg.pagerank, strict=False),
    "pagerank adaptive weighted": _with(alg.pagerank, method="adaptive", weighted=True, strict=False),
    "pagerank_multi": _with(alg.pagerank_multi, [0, 1], strict=False),
    "partition_quality": lambda G: alg.partition_quality(G, np.arange(G.n) % 3),
    "random_walks": _with(alg.random_walks, [0, 1], 4, seed=1, weighted=True, p=0.5),
    "shortest_path": _with(alg.shortest_path, 0, 1, weighted=True),
    "shortest_path_length": _with(alg.shortest_path_length, 0),
    "sssp": _with(alg.sssp, 0, predecessors=True),
    "sssp delta": _with(alg.sssp, 0, method="delta"),
    "sssp bellman_ford": _with(alg.sssp, 0, method="bellman_ford"),
    "summary": lambda G: G.summary().edges,
    "triangles of vertices": _with(alg.triangles, nodes=[0, 1]),
}


def plain(found):
    """Vectors and matrices as dictionaries, arrays as lists; floats as they are; reports left out."""
    if isinstance(found, (gb.Vector, gb.Matrix)):
        return found.dtype.name, found.to_dict() if isinstance(found, gb.Vector) else found.to_dicts()
    if isinstance(found, np.ndarray):
        return found.tolist()
    if isinstance(found, alg.Graph):
        return plain(found.A)
    if dataclasses.is_dataclass(found):
        fields = (field.name for field in dataclasses.fields(found))
        return {name: plain(getattr(found, name)) for name in fields if name != "report"}
    if isinstance(found, (list, tuple)):
        return [plain(each) for each in found]
    return found


CHOSEN = {"parents", "predecessors", "nodes"}  # of several that are right, one is found, on a GPU not always the same


def alike(one, other):
    """Are two outcomes the same, but for rounding (atomic sums have no order on a GPU) and what is CHOSEN?"""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(key in CHOSEN or alike(one[key], other[key]) for key in one)
    if type(one) is type(other) and isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True))
    return repr(one) == repr(other)


class Refused(NamedTuple):
    """An error in the place of a result."""

    error: str
    text: str


def outcome(name, G):
    """plain() of the result, or Refused."""
    try:
        return plain(EVERY[name](G))
    except Exception as error:
        return Refused(type(error).__name__, str(error))


def wrong_claims(rng):
    """(what is claimed, Graph) of random matrices that are not symmetric: by the caller, or by what was true before."""
    n = int(rng.integers(3, 40))
    for kind in count():
        if kind == 3:
            return
        D = np.where(rng.random((n, n)) < rng.choice([0.05, 0.3, 0.9]), rng.integers(1, 9, (n, n)), 0).astype(float)
        if kind == 0:
            star = np.zeros((n, n))
            star[:, rng.integers(0, n)] = 1.0  # all edges lead to one vertex
            yield "of_symmetric, in-star", alg.Graph.of_symmetric(gb.Matrix.from_dense(star, missing_value=0))
        if kind == 1:
            yield "of_symmetric, random", alg.Graph.of_symmetric(gb.Matrix.from_dense(D, missing_value=0))
        if kind == 2:
            A = gb.Matrix.from_dense(np.maximum(D, D.T), missing_value=0)
            G = alg.Graph(A)
            _ = G.directed, G.out_degree, G.nself, G.AT, G.emin, G.emax
            A << gb.Matrix.from_dense(D, missing_value=0)  # without G.forget()
            yield "changed after it was looked at", G
