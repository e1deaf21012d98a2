"""Breadth-first search and shortest paths, whole searches against the same searches in python-graphblas."""

import graphs
import numpy as np
import objects
import peer_graphblas
from measure import Prepared, race


def bfs_levels(graph):
    """Prepared race of level searches from a vertex with most neighbours."""
    from grb_tile import algorithms

    source = graphs.busiest_vertex(graph)
    mine, other, conversion = objects.both(graph)
    G = algorithms.Graph(mine, directed=False)
    return Prepared(
        ours=lambda: algorithms.bfs(G, source).levels,
        peer=lambda: peer_graphblas.bfs_levels(other, other, source),
        verify=lambda ours, theirs: objects.check_levels(graph, source, ours, theirs),
        conversion=conversion,
    )


@race("bfs-levels-kron20", "BFS levels, kron20", 1.0, aim=0.7)
def bfs_levels_kron20():
    return bfs_levels(graphs.kron(20))


@race("bfs-parents-kron20", "BFS parents, kron20 (peer: any_secondi, push)", 1.0)
def bfs_parents_kron20():
    from grb_tile import algorithms

    graph = graphs.kron(20)
    source = graphs.busiest_vertex(graph)
    mine, other, conversion = objects.both(graph)
    G = algorithms.Graph(mine, directed=False)
    return Prepared(
        ours=lambda: algorithms.bfs(G, source, levels=False, parents=True).parents,
        peer=lambda: peer_graphblas.bfs_parents(other, source),
        verify=lambda ours, theirs: objects.check_parents(graph, source, ours, theirs),
        conversion=conversion,
    )


@race("bfs-levels-road-NE", "BFS levels, USA-road-NE", 1.0)
def bfs_levels_road_ne():
    return bfs_levels(graphs.real("USA-road-NE"))


@race("bfs-levels-road-NY", "BFS levels, USA-road-NY (ships with the project)", 1.0)
def bfs_levels_road_ny():
    return bfs_levels(graphs.real("USA-road-NY"))


@race("bfs-levels-kron14", "BFS levels, kron14", 1.0, suite="quick", seconds=2.0)
def bfs_levels_kron14():
    return bfs_levels(graphs.kron(14))


def sssp(graph):
    """Prepared race of Bellman-Ford searches over FP32 weights 1..255."""
    from grb_tile import algorithms

    source = graphs.busiest_vertex(graph)
    mine, other, conversion = objects.both(graph, graphs.weights(graph, np.float32))
    G = algorithms.Graph(mine, directed=False)
    return Prepared(
        ours=lambda: algorithms.sssp(G, source).distances,
        peer=lambda: peer_graphblas.sssp_bellman_ford(other, source),
        verify=objects.same_vector,
        conversion=conversion,
    )


@race("sssp-kron20", "SSSP, kron20, FP32 weights 1..255", 0.7)
def sssp_kron20():
    return sssp(graphs.kron(20))


@race("sssp-kron14", "SSSP, kron14, FP32 weights 1..255", 0.7, suite="quick", seconds=2.0)
def sssp_kron14():
    return sssp(graphs.kron(14))
