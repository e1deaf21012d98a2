"""An algorithm copies nothing between host and device that grows with the graph, but what its result says it copies.

Each algorithm runs on the CPU emulation on two graphs, the larger of four times the vertices and edges; its Graph is on
the device.  Bytes beyond arguments and results (support/traffic.py) may grow by GROWTH: read-backs of more rounds.
"""

import numpy as np
import pytest
from every_algorithm import EVERY

import grb_tile as gb
from cuda_emulation.backend import EMULATED, using_shim
from grb_tile import algorithms as alg
from grb_tile.backends import select
from grb_tile.storage import place
from support.seeds import generator
from support.traffic import measured

if not EMULATED:
    pytest.skip("bytes are counted by the CPU emulation", allow_module_level=True)

GROWTH, DEGREE = 1024, 4
SIZES, FEW = (96, 384), (32, 128)  # vertices; few for what takes a search from each of them
FROM_EACH = ("apsp", "betweenness", "closeness", "diameter", "eccentricity", "edge_betweenness", "harmonic", "radius")
TAKE_SECONDS = ("apsp", "betweenness", "coloring", "edge_betweenness", "eigenvector", "leiden", "louvain", "mcl")
ACYCLIC = ("topological_generations", "topological_sort")
NUMPY = {  # what NumPy computes on the host from copies -> the algorithms
    "scores of pairs, from the entries of a product": (
        "adamic_adar", "common_neighbors", "cosine", "jaccard", "overlap", "resource_allocation", "sorensen",
    ),
    "the order of the degrees": ("average_clustering", "clustering", "transitivity", "triangle_count", "triangles"),
    "counts of squares, and degrees": ("square_clustering",),
    "distances of a batch of sources, reduced": (
        "apsp floyd_warshall", "apsp weighted", "closeness", "closeness weighted", "diameter", "eccentricity",
        "harmonic", "radius",
    ),
    "dependencies of a batch of sources, summed": ("betweenness weighted", "edge_betweenness weighted"),
    "numbers of labels": ("condensation", "leiden"),
    "an order of the vertices": ("rcm", "topological_sort"),
    "augmenting paths": ("bipartite_matching",),
    "least values of a batch": ("pagerank_multi",),
    "facts of the degrees": ("summary",),
    "entries that are compared between two rounds": ("mcl",),
    "the path, back from its end": ("shortest_path",),
    "a sample of the weights, of at most a bounded size": ("sssp", "sssp bellman_ford", "sssp delta"),
}  # fmt: skip
MORE = {name: reason for reason, names in NUMPY.items() for name in names}


def slow(name):
    return [pytest.mark.slow] if name.startswith((*FROM_EACH, *TAKE_SECONDS)) else []


def graph(n, acyclic):
    """A Graph of n vertices on the device: a path and random edges, weights 1 to 8."""
    rng = generator("traffic", n)
    i = np.concatenate((np.arange(n - 1), rng.integers(0, n, n * DEGREE // 2)))
    j = np.concatenate((np.arange(1, n), rng.integers(0, n, n * DEGREE // 2)))
    i, j = np.minimum(i, j)[i != j], np.maximum(i, j)[i != j]
    w = 1.0 + (i + j) % 8
    if not acyclic:
        i, j, w = np.concatenate((i, j)), np.concatenate((j, i)), np.concatenate((w, w))
    A = gb.Matrix.from_coo(i, j, w, nrows=n, ncols=n, dup_op=gb.binary.first)
    A._store = select.named("cuda").to_device(A._store)
    return alg.Graph(A)


def sizes(name):
    return FEW if name.startswith(FROM_EACH) else SIZES


def beyond(name, n):
    EVERY[name](graph(n, name in ACYCLIC))
    G = graph(n, name in ACYCLIC)
    return measured("every_algorithm", lambda: EVERY[name](G))


@pytest.fixture(autouse=True)
def as_at_scale(monkeypatch):
    monkeypatch.setattr(place, "ELEMENT_NS", 1)  # a small object is copied whole when an element is read


@pytest.mark.sampled(15)
@pytest.mark.parametrize("name", [pytest.param(name, marks=slow(name)) for name in sorted(EVERY)])
def test_algorithms(name):
    with using_shim():
        small, large = (beyond(name, n) for n in sizes(name))
    grows = max(b - a for a, b in zip(small, large, strict=True)) > GROWTH
    assert not grows or name in MORE, f"{name} copies what grows with the graph: {small} -> {large}"
    assert grows or name not in MORE, f"no longer needed in MORE: {name}"
