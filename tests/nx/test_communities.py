"""Louvain and Leiden through NetworkX: partitions of each level, and what is refused before an iterator is given."""

import networkx as nx
import pytest

from support import seeds

ours = {"backend": "grb_tile"}
METHODS = pytest.mark.parametrize("method", ["louvain", "leiden"])


def community(name, *args, **kwargs):
    return getattr(nx.community, name)(*args, **kwargs, **ours)


def planted(kind=nx.Graph):
    """Twelve groups of ten nodes, called by text, some edges of which have weights."""
    G = nx.planted_partition_graph(12, 10, 0.6, 0.02, seed=seeds.SEED)
    G = kind(nx.relabel_nodes(G, {node: f"n{node}" for node in G}))
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        if k % 3:
            data["weight"] = 1 + k % 5
    return G


@METHODS
@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_communities_partition_the_nodes(method, kind):
    G = planted(kind)
    found = community(f"{method}_communities", G, seed=seeds.SEED)
    assert nx.community.is_partition(G, found) and all(type(c) is set for c in found)
    assert found == community(f"{method}_communities", G, seed=seeds.SEED)
    least = nx.community.modularity(G, nx.community.louvain_communities(G, seed=seeds.SEED))
    assert nx.community.modularity(G, found) > 0.95 * least
    if method == "leiden":
        assert all(nx.is_connected(G.subgraph(c)) for c in found)


@METHODS
def test_partitions_of_the_levels(method):
    G = planted()
    levels = list(community(f"{method}_partitions", G, seed=seeds.SEED))
    quality = [nx.community.modularity(G, level) for level in levels]
    assert all(nx.community.is_partition(G, level) for level in levels)
    assert all(before < after + 1e-12 for before, after in zip(quality, quality[1:]))
    assert all(before != after for before, after in zip(levels, levels[1:]))
    assert levels[-1] == community(f"{method}_communities", G, seed=seeds.SEED)
    for k, level in enumerate(levels, 1):
        assert level == community(f"{method}_communities", G, max_level=k, seed=seeds.SEED)
    assert levels[-1] == community(f"{method}_communities", G, max_level=len(levels) + 5, seed=seeds.SEED)


def test_a_path_has_two_levels():
    for method in ("louvain", "leiden"):
        levels = list(community(f"{method}_partitions", nx.path_graph(40), seed=seeds.SEED))
        assert len(levels) > 1 and len(levels[0]) > len(levels[-1])


@METHODS
def test_graphs_without_edges(method):
    alone = [{0}, {1}, {2}]
    assert community(f"{method}_communities", nx.empty_graph(3)) == alone
    assert list(community(f"{method}_partitions", nx.empty_graph(3))) == [alone]
    assert community(f"{method}_communities", nx.Graph()) == []
    with pytest.raises(ValueError, match="max_level argument must be a positive integer or None"):
        community(f"{method}_communities", nx.path_graph(3), max_level=0)


def test_refusals_come_before_an_iterator():
    directed = nx.DiGraph([(0, 1)])
    for name in ("leiden_communities", "leiden_partitions"):
        with pytest.raises(nx.NetworkXNotImplemented):
            community(name, directed)
    with pytest.raises(NotImplementedError, match="grb_tile"):
        community("louvain_partitions", directed)
    negative = nx.Graph([(0, 1, {"weight": -1})])
    for name in ("louvain_partitions", "leiden_partitions"):
        with pytest.raises(NotImplementedError, match="raised NotImplementedError"):
            community(name, negative)
