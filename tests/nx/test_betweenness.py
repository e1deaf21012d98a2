"""Betweenness with weights: all the kinds of graphs against NetworkX, and what is left to it."""

import networkx as nx
import pytest

from grb_tile.nx.interface import backend

ours = {"backend": "grb_tile"}
KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]


def graph(kind):
    G = kind(nx.gnm_random_graph(20, 45, seed=5, directed=kind in KINDS[1::2]))
    if G.is_multigraph():
        G.add_edges_from(list(G.edges(keys=False))[::3])
    for k, (*_, attributes) in enumerate(G.edges(data=True)):
        attributes["km"] = 1 + k % 4
    G.add_edge(3, 3, km=1)
    return nx.relabel_nodes(G, str)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [{}, {"endpoints": True}, {"normalized": False}, {"k": 7, "seed": 3}])
def test_weighted_betweenness(kind, options):
    G = graph(kind)
    found, expected = (
        nx.betweenness_centrality(G, weight="km", **options, backend=b) for b in ("grb_tile", "networkx")
    )
    assert list(found) == list(expected) and found == pytest.approx(expected, rel=1e-12)
    if not G.is_multigraph() and "endpoints" not in options:
        found = nx.edge_betweenness_centrality(G, weight="km", **options, **ours)
        expected = nx.edge_betweenness_centrality(G, weight="km", **options, backend="networkx")
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("length", [0, -1, float("nan"), float("inf"), 2**60])
def test_lengths_that_are_left_to_networkx(length):
    G = graph(nx.Graph)
    G["1"][next(iter(G["1"]))]["km"] = length
    with pytest.raises(NotImplementedError):
        nx.betweenness_centrality(G, weight="km", **ours)
    assert backend.can_run("betweenness_centrality", (G, None, True, lambda u, v, d: 1), {}) is not True
