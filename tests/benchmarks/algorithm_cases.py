"""Cases of bench_algorithms.py: searches, ranks, triangles."""

import random

import networkx as nx
import numpy as np
from bench_algorithms import case

from grb_tile import algorithms as alg


def close(relative=1e-6, absolute=1e-12):
    """same(ours, theirs) for results by vertex: theirs a dict or an array."""

    def same(ours, theirs):
        found = ours.to_numpy() if isinstance(ours, alg.Result) else np.asarray(ours)
        if hasattr(theirs, "to_dense"):
            theirs = theirs.to_dense(0)
        if isinstance(theirs, dict):
            theirs = [theirs[i] for i in range(len(found))]
        np.testing.assert_allclose(found, np.asarray(theirs, float), rtol=relative, atol=absolute)

    return same


def graphblas(name, **options):
    """The peer graphblas-algorithms: its function of this name, over SuiteSparse through python-graphblas."""

    def run(subject):
        from graphblas_algorithms import algorithms

        return getattr(algorithms, name)(subject.graphblas, **options)

    return {"graphblas-algorithms": run}


def same_dict(ours, theirs):
    """Equal dictionaries, absent vertices included."""
    found = ours.to_dict()
    assert found == dict(theirs), "the results differ"


def hub(subject):
    """The vertex with the most edges."""
    return int(np.argmax(subject.csr.degrees))


def python_graphblas(name, *arguments):
    """The formulation of peer_graphblas.py of this name, over SuiteSparse; arguments: functions of the subject."""

    def run(subject):
        import peer_graphblas

        A = subject.graphblas._A
        return getattr(peer_graphblas, name)(A, *(argument(subject) for argument in arguments))

    return {"python-graphblas": run}


def transposed(subject):
    """A' for SuiteSparse, made once."""
    if not subject.directed:
        return subject.graphblas._A
    if "transposed" not in subject._made:
        subject._made["transposed"] = subject.graphblas._A.T.new()
    return subject._made["transposed"]


@case("bfs")
def bfs():
    from scipy.sparse import csgraph

    def same(ours, theirs):
        if isinstance(theirs, tuple):
            assert set(ours.to_dict()) == set(theirs[0].tolist())
        else:
            assert ours.to_dict() == (theirs if isinstance(theirs, dict) else theirs.to_dict())

    return (
        lambda s: alg.bfs(s.G, hub(s)),
        lambda s: nx.single_source_shortest_path_length(s.nx, hub(s)),
        same,
        python_graphblas("bfs_levels", transposed, hub)
        | {"SciPy": lambda s: csgraph.breadth_first_order(s.scipy, hub(s))},
    )


@case("sssp", weighted=True)
def sssp():
    from scipy.sparse import csgraph

    def same(ours, theirs):
        if isinstance(theirs, np.ndarray):
            np.testing.assert_array_equal(ours.to_numpy(np.inf), theirs)
        else:
            assert ours.to_dict() == (theirs if isinstance(theirs, dict) else theirs.to_dict())

    return (
        lambda s: alg.sssp(s.G, hub(s)),
        lambda s: nx.single_source_dijkstra_path_length(s.nx, hub(s)),
        same,
        python_graphblas("sssp_bellman_ford", hub) | {"SciPy": lambda s: csgraph.dijkstra(s.scipy, indices=hub(s))},
    )


@case("pagerank")
def pagerank():
    return lambda s: alg.pagerank(s.G), lambda s: nx.pagerank(s.nx), close(1e-3, 1e-9), graphblas("pagerank")


@case("connected_components")
def connected_components():
    from scipy.sparse import csgraph

    def same(ours, theirs):
        found = ours.count
        assert found == (len(theirs) if isinstance(theirs, list) else theirs[0])

    return (
        lambda s: alg.connected_components(s.G),
        lambda s: list(nx.connected_components(s.nx)),
        same,
        {"SciPy": lambda s: csgraph.connected_components(s.scipy, directed=False)},
    )


@case("triangle_count")
def triangle_count():
    """NetworkX has no function of the whole graph but those of its nodes."""

    def lower(s):
        if "lower" not in s._made:
            from graphblas import select

            # by descending degree, as triangle_count orders the vertices
            order = np.argsort(-s.csr.degrees, kind="stable")
            s._made["lower"] = select.tril(s.graphblas._A[order, order].new(), -1).new()
        return s._made["lower"]

    def peer(s):
        import peer_graphblas

        return peer_graphblas.triangle_count(lower(s))

    return (
        lambda s: alg.triangle_count(s.G),
        lambda s: sum(nx.triangles(s.nx).values()) // 3,
        lambda ours, theirs: np.testing.assert_equal(ours, theirs),
        {"python-graphblas": peer},
    )


@case("triangles", scale=13)
def triangles():
    return lambda s: alg.triangles(s.G), lambda s: nx.triangles(s.nx), close(), graphblas("triangles")


def drawn(subject, k):
    """The vertices that NetworkX draws with seed 1."""
    return random.Random(1).sample(list(subject.nx), min(k, subject.n))


@case("betweenness_4_sources")
def betweenness():
    return (
        lambda s: alg.betweenness(s.G, sources=drawn(s, 4)),
        lambda s: nx.betweenness_centrality(s.nx, k=4, seed=1),
        lambda ours, theirs: isinstance(theirs, dict) and close(1e-6, 1e-9)(ours, theirs),
        python_graphblas("betweenness", transposed, lambda s: drawn(s, 4)),
    )


@case("betweenness", scale=10)
def betweenness_exact():
    return lambda s: alg.betweenness(s.G), lambda s: nx.betweenness_centrality(s.nx), close(1e-6, 1e-9)


@case("betweenness_weighted", scale=9, weighted=True)
def betweenness_weighted():
    return (
        lambda s: alg.betweenness(s.G, weighted=True),
        lambda s: nx.betweenness_centrality(s.nx, weight="weight"),
        close(1e-6, 1e-9),
    )


@case("edge_betweenness", scale=9)
def edge_betweenness():
    def same(ours, theirs):
        found = ours.to_dict()
        np.testing.assert_allclose([found[min(e), max(e)] for e in theirs], list(theirs.values()), rtol=1e-6)

    return lambda s: alg.edge_betweenness(s.G), lambda s: nx.edge_betweenness_centrality(s.nx), same


@case("closeness_16_vertices")
def closeness():
    def theirs(s):
        return {v: nx.closeness_centrality(s.nx, u=v) for v in range(min(16, s.n))}

    def same(ours, theirs):
        np.testing.assert_allclose([ours.to_dict()[v] for v in theirs], list(theirs.values()), rtol=1e-9)

    return lambda s: alg.closeness(s.G, sources=range(min(16, s.n))), theirs, same


@case("harmonic", scale=11)
def harmonic():
    return lambda s: alg.harmonic(s.G), lambda s: nx.harmonic_centrality(s.nx), close()


@case("degree_centrality")
def degree_centrality():
    return (
        lambda s: alg.degree_centrality(s.G),
        lambda s: nx.degree_centrality(s.nx),
        close(),
        graphblas("degree_centrality"),
    )


@case("reciprocity", directed=True)
def reciprocity():
    def same(ours, theirs):
        theirs = {v: r for v, r in theirs.items() if r is not None}
        found = ours.to_dict()
        np.testing.assert_allclose([found[v] for v in theirs], list(theirs.values()), rtol=1e-9)

    return lambda s: alg.reciprocity(s.G), lambda s: nx.reciprocity(s.nx, s.nx), same


@case("eigenvector")
def eigenvector():
    return (
        lambda s: alg.eigenvector(s.G),
        lambda s: nx.eigenvector_centrality(s.nx),
        close(1e-6),
        graphblas("eigenvector_centrality"),
    )


@case("katz")
def katz():
    # graphblas-algorithms gives vertices without edges the score 0, so that it is no peer here
    options = {"alpha": 1e-4}
    return lambda s: alg.katz(s.G, **options), lambda s: nx.katz_centrality(s.nx, **options), close(1e-6)


@case("hits")
def hits():
    return (
        lambda s: alg.hits(s.G),
        lambda s: nx.hits(s.nx)[0],
        close(1e-3, 1e-7),
        {"graphblas-algorithms": lambda s: graphblas("hits")["graphblas-algorithms"](s)[0]},
    )


@case("clustering", scale=13)
def clustering():
    return lambda s: alg.clustering(s.G), lambda s: nx.clustering(s.nx), close(), graphblas("clustering")


@case("clustering_directed", scale=11, directed=True)
def clustering_directed():
    return lambda s: alg.clustering(s.G), lambda s: nx.clustering(s.nx), close(), graphblas("clustering_directed")


@case("square_clustering", scale=10)
def square_clustering():
    return (
        lambda s: alg.square_clustering(s.G),
        lambda s: nx.square_clustering(s.nx),
        close(),
        graphblas("square_clustering"),
    )


@case("k_truss_5", scale=12)
def k_truss():
    def same(ours, theirs):
        assert set(ours.to_dict()) == {(min(e), max(e)) for e in theirs.edges}

    return lambda s: alg.k_truss(s.G, 5), lambda s: nx.k_truss(s.nx, 5), same


def some_pairs(subject):
    """Ten thousand pairs of vertices (ninety of ten), made once."""
    if "pairs" not in subject._made:
        subject._made["pairs"] = draw_pairs(subject)
    return subject._made["pairs"]


def draw_pairs(subject):
    """Pairs of different vertices."""
    rng = np.random.default_rng(3)
    pairs = rng.integers(0, subject.n, (10000, 2)) if subject.n > 10 else np.indices((10, 10)).reshape(2, -1).T
    return [(u, v) for u, v in pairs.tolist() if u != v]


def same_pairs(ours, theirs):
    found, theirs = ours.to_dict(), list(theirs)
    np.testing.assert_allclose([found[u, v] for u, v, _ in theirs], [s for _, _, s in theirs], rtol=1e-9)


@case("jaccard_10000_pairs")
def jaccard():
    return (
        lambda s: alg.jaccard(s.G, some_pairs(s)),
        lambda s: list(nx.jaccard_coefficient(s.nx, some_pairs(s))),
        same_pairs,
    )


@case("adamic_adar_10000_pairs")
def adamic_adar():
    return (
        lambda s: alg.adamic_adar(s.G, some_pairs(s)),
        lambda s: list(nx.adamic_adar_index(s.nx, some_pairs(s))),
        same_pairs,
    )


def giant(s):
    """The largest component, for NetworkX and for us."""
    if "giant" not in s._made:
        s._made["giant"] = s.nx.subgraph(max(nx.connected_components(s.nx), key=len)).copy()
        s._made["giant_G"] = alg.Graph(s._made["giant"])
    return s._made["giant"], s._made["giant_G"]


@case("eccentricity", scale=10)
def eccentricity():
    def same(ours, theirs):
        assert ours.to_dict() == theirs

    return lambda s: alg.eccentricity(giant(s)[1]), lambda s: nx.eccentricity(giant(s)[0]), same


@case("diameter", scale=10)
def diameter():
    return lambda s: alg.diameter(giant(s)[1]), lambda s: nx.diameter(giant(s)[0]), close()


@case("apsp", scale=10)
def apsp():
    from scipy.sparse import csgraph

    def same(ours, theirs):
        if isinstance(theirs, dict):
            assert ours.to_dict() == theirs
        else:
            np.testing.assert_array_equal(ours.values.dup("FP64").to_dense(np.inf), theirs)

    return (
        lambda s: alg.apsp(s.G),
        lambda s: dict(nx.all_pairs_shortest_path_length(s.nx)),
        same,
        {"SciPy": lambda s: csgraph.shortest_path(s.scipy, unweighted=True)},
    )


@case("apsp_weighted", scale=9, weighted=True)
def apsp_weighted():
    from scipy.sparse import csgraph

    def same(ours, theirs):
        if isinstance(theirs, dict):
            assert ours.to_dict() == theirs
        else:
            np.testing.assert_array_equal(ours.values.to_dense(np.inf), theirs)

    return (
        lambda s: alg.apsp(s.G, weighted=True),
        lambda s: dict(nx.all_pairs_dijkstra_path_length(s.nx)),
        same,
        {"SciPy": lambda s: csgraph.dijkstra(s.scipy)},
    )


@case("descendants", directed=True)
def descendants():
    def same(ours, theirs):
        assert set(ours.to_dict()) == theirs

    return lambda s: alg.descendants(s.G, hub(s)), lambda s: nx.descendants(s.nx, hub(s)), same


@case("shortest_path")
def shortest_path():
    def same(ours, theirs):
        assert len(ours) == len(theirs)

    def target(s):
        return max(nx.node_connected_component(s.nx, hub(s)) - {hub(s)}) if s.n == 10 else int(s.csr.indices[-1])

    return (
        lambda s: alg.shortest_path(s.G, hub(s), target(s)),
        lambda s: nx.shortest_path(s.nx, hub(s), target(s)),
        same,
    )
