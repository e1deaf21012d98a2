"""Graphs of more nodes than an array of numbers may have: a result, or OutOfMemory before anything is allocated."""

import sys
import tracemalloc

import numpy as np
import pytest
from every_algorithm import EVERY, Refused, outcome

import grb_tile as gb
from grb_tile import algorithms as alg
from grb_tile.exceptions import OutOfMemory
from grb_tile.storage import host_memory

graph_module = sys.modules["grb_tile.algorithms.graph"]
HUGE = 2**40
LABELS = {"modularity", "partition_quality"}  # whose tests make labels of all nodes
# what needs no array of all nodes
SPARSE = {
    "ancestors", "bfs", "bfs_multi", "density", "descendants", "ego_graph", "has_path", "k_truss",
    "overall_reciprocity", "reciprocity", "shortest_path", "shortest_path_length", "sssp", "sssp bellman_ford",
    "sssp delta", "triangle_count", "triangles of vertices",
}  # fmt: skip


@pytest.fixture
def on_the_host():
    """Its memory is what the test sets."""
    with gb.config.set(backend="cpu"):
        yield


def hypersparse(n, symmetric):
    far = n - 5
    A = gb.Matrix.from_coo([0, far, 5, far - 7, 3], [far, 5, 3, 0, 0], [1, 2, 3, 4, 5], nrows=n, ncols=n)
    return gb.binary.any(A | A.T).new() if symmetric else A


@pytest.mark.parametrize("name", sorted(set(EVERY) - LABELS))
def test_a_hypersparse_graph(name):
    gb.Vector.from_coo([0], [1], size=2).reduce().new()  # modules and the device are there before memory is counted
    tracemalloc.start()
    found = outcome(name, alg.Graph(hypersparse(HUGE, True)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    if name in SPARSE:
        assert not isinstance(found, Refused) or found.error == "NoPathError"
    else:
        assert isinstance(found, Refused) and found.error == "OutOfMemory" and found.text
        if name.split()[0] != "apsp":  # whose limit is `memory`
            assert "nodes: " in found.text and "bytes needed" in found.text and "number those alone" in found.text


@pytest.mark.parametrize("name", ["closeness", "harmonic", "eccentricity", "betweenness"])
def test_one_source_needs_no_list_of_all(name):
    """What is asked of few vertices is not refused for the others; betweenness has a number for each."""
    G = alg.Graph(hypersparse(10**6, True))
    options = {"sources": [0]}
    if name == "eccentricity":
        with pytest.raises(ValueError, match="vertex 0 reaches 5 of 1000000 vertices"):
            alg.eccentricity(G, **options)
    else:
        getattr(alg, name)(G, **options)


def test_what_the_machine_has_decides(on_the_host, monkeypatch):
    """240 MB are enough for a few million nodes, not for twenty."""
    monkeypatch.setattr(host_memory, "free_bytes", lambda: 240 * 10**6)
    text = r"pagerank: arrays with a number for each of the 20,000,001 nodes: .*At most 10 nodes have edges"
    with pytest.raises(OutOfMemory, match=text):
        alg.pagerank(hypersparse(2 * 10**7 + 1, False))
    few = hypersparse(3 * 10**6, False)
    graph_module.check_room(few, few.nrows, "pagerank", 40)
    with pytest.raises(OutOfMemory):
        graph_module.check_room(few, few.nrows, "pagerank", 81)
    # of a graph in which most nodes have edges a quarter is certain
    many = gb.Matrix.from_coo(np.arange(1000), np.arange(1000), nrows=1000, ncols=1000)
    graph_module.check_room(many, 1500, "pagerank", 6 * 10**5)
    monkeypatch.setattr(host_memory, "free_bytes", lambda: 220 * 10**6)
    with pytest.raises(OutOfMemory, match="Give a smaller graph, or free objects"):
        graph_module.check_room(many, 1500, "pagerank", 6 * 10**5)


@pytest.mark.parametrize("options", [{}, {"weighted": True}, {"method": "floyd_warshall"}])
def test_apsp_refuses_before_it_lists_its_sources(options):
    A = hypersparse(1 << 24, True)
    tracemalloc.start()
    with pytest.raises(OutOfMemory, match="apsp: 16777216 sources x 16777216 vertices need up to"):
        alg.apsp(A, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_apsp_asks_for_the_dense_matrix(on_the_host, monkeypatch):
    """memory= permits it, but the machine does not have it."""
    monkeypatch.setattr(host_memory, "free_bytes", lambda: 10**9)
    with pytest.raises(OutOfMemory, match="apsp: 20000 x 20000 distances: 3,200,000,000 bytes needed.*Name sources"):
        alg.apsp(hypersparse(20000, True), method="floyd_warshall", memory=1e12)
