"""Cases of bench_algorithms.py: components, cores, communities, sets, forests, orders."""

import networkx as nx
import numpy as np
from bench_algorithms import case

from grb_tile import algorithms as alg


def same_count(ours, theirs):
    """Equal numbers of classes."""
    assert ours.count == (
        len(theirs) if isinstance(theirs, list) else theirs[0] if isinstance(theirs, tuple) else theirs
    )


def same_dict(ours, theirs):
    assert ours.to_dict() == dict(theirs), "the results differ"


def nothing_to_compare(ours, theirs):
    """Different answers are right."""


@case("strongly_connected_components", directed=True)
def strong_components():
    from scipy.sparse import csgraph

    return (
        lambda s: alg.strongly_connected_components(s.G),
        lambda s: list(nx.strongly_connected_components(s.nx)),
        same_count,
        {"SciPy": lambda s: csgraph.connected_components(s.scipy, connection="strong")},
    )


@case("core_number")
def core_number():
    return lambda s: alg.core_number(s.G), lambda s: nx.core_number(s.nx), same_dict


@case("label_propagation")
def label_propagation():
    """Ten rounds of LDBC's against NetworkX's asynchronous one, which ends when it is stable."""
    return (
        lambda s: alg.label_propagation(s.G),
        lambda s: list(nx.community.asyn_lpa_communities(s.nx, seed=1)),
        nothing_to_compare,
    )


@case("louvain", scale=14)
def louvain():
    def same(ours, theirs):
        groups = theirs[0]
        assert ours.modularity >= 0.95 * theirs[1], (ours.modularity, theirs[1], len(groups))

    def networkx(s):
        found = nx.community.louvain_communities(s.nx, weight=None, seed=1)
        return found, MODULARITY.setdefault(s, nx.community.modularity(s.nx, found, weight=None))

    return lambda s: alg.louvain(s.G, weighted=False), networkx, same


MODULARITY = {}


@case("modularity")
def modularity():
    def groups(s):
        return np.arange(s.n) % 50

    def sets(s):
        return SETS.setdefault(s, [set(range(k, s.n, 50)) for k in range(50)])

    def same(ours, theirs):
        assert abs(ours - theirs) < 1e-9

    return (
        lambda s: alg.modularity(s.G, groups(s), weighted=False),
        lambda s: nx.community.modularity(s.nx, sets(s), weight=None),
        same,
    )


SETS = {}


@case("maximal_independent_set", scale=13)
def maximal_independent_set():
    return (
        lambda s: alg.maximal_independent_set(s.G),
        lambda s: nx.maximal_independent_set(s.nx, seed=1),
        nothing_to_compare,
    )


@case("coloring")
def coloring():
    def same(ours, theirs):
        assert abs(ours.count - (max(theirs.values()) + 1)) <= 3

    return lambda s: alg.coloring(s.G), lambda s: nx.greedy_color(s.nx, "largest_first"), same


@case("minimum_spanning_forest", weighted=True)
def minimum_spanning_forest():
    from scipy.sparse import csgraph

    def same(ours, theirs):
        total = theirs.sum() if hasattr(theirs, "sum") else sum(d["weight"] for *_, d in theirs)
        assert abs(ours.weight - total) < 1e-6 * total

    return (
        lambda s: alg.minimum_spanning_forest(s.G),
        lambda s: list(nx.minimum_spanning_edges(s.nx, data=True)),
        same,
        {"SciPy": lambda s: csgraph.minimum_spanning_tree(s.scipy)},
    )


def acyclic(s):
    """(Graph, DiGraph) of the edges from a lesser to a greater vertex."""
    if s not in ACYCLIC:
        from grb_tile import select

        made = nx.DiGraph()
        made.add_nodes_from(s.nx)
        made.add_edges_from((i, j) for i, j in s.nx.edges if i < j)
        ACYCLIC[s] = alg.Graph(select.triu(s.G.A, 1).new(), True), made
    return ACYCLIC[s]


ACYCLIC = {}


@case("topological_generations", directed=True)
def topological_generations():
    def same(ours, theirs):
        assert ours.to_dict() == {node: k for k, generation in enumerate(theirs) for node in generation}

    return (
        lambda s: alg.topological_generations(acyclic(s)[0]),
        lambda s: list(nx.topological_generations(acyclic(s)[1])),
        same,
    )


@case("bipartite_matching", directed=True)
def bipartite_matching():
    from scipy.sparse import csgraph

    def bipartite(s):
        if s not in BIPARTITE:
            made = nx.Graph()
            made.add_nodes_from(range(2 * s.n))
            made.add_edges_from((i, s.n + j) for i, j in s.nx.edges)
            BIPARTITE[s] = made
        return BIPARTITE[s]

    def same(ours, theirs):
        assert ours.count == (len(theirs) // 2 if isinstance(theirs, dict) else np.count_nonzero(theirs >= 0))

    return (
        lambda s: alg.bipartite_matching(s.G.A),
        lambda s: nx.bipartite.hopcroft_karp_matching(bipartite(s), range(s.n)),
        same,
        {"SciPy": lambda s: csgraph.maximum_bipartite_matching(s.scipy, "column")},
    )


BIPARTITE = {}


@case("rcm", scale=14)
def rcm():
    from scipy.sparse import csgraph

    def same(ours, theirs):
        assert len(ours.order) == len(theirs)

    return (
        lambda s: alg.rcm(s.G),
        lambda s: list(nx.utils.reverse_cuthill_mckee_ordering(s.nx)),
        same,
        {"SciPy": lambda s: csgraph.reverse_cuthill_mckee(s.scipy, symmetric_mode=True)},
    )
