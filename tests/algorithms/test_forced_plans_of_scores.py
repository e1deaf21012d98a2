"""Centrality, clustering, similarity and distances are the same whatever the planner is made to do."""

import pytest
from samples import edges, matrix, pair, random_graph

import grb_tile as gb
from grb_tile import algorithms as alg

PLANS = ["numpy", "reference", "rows", "cols"]
GRAPHS = {
    "directed": lambda: (matrix(random_graph(73, weights="float")), True),
    "undirected": lambda: (pair(74, False, weights="float")[0], False),
    "wheel": lambda: (
        edges([(0, i) for i in range(1, 9)] + [(i, i % 8 + 1) for i in range(1, 9)], 9, both=True),
        False,
    ),
}
ANY = {
    "betweenness": lambda G: alg.betweenness(G, batch=9, endpoints=True),
    "edge_betweenness": lambda G: alg.edge_betweenness(G, batch=9),
    "closeness": lambda G: alg.closeness(G, batch=9),
    "harmonic": lambda G: alg.harmonic(G, batch=9, weighted=True),
    "eigenvector": lambda G: alg.eigenvector(G, max_iter=5, strict=False),
    "katz": lambda G: alg.katz(G, alpha=0.01, weighted=True),
    "hits": lambda G: alg.hits(G, max_iter=5, strict=False),
    "degree": lambda G: alg.degree(G, weighted=True),
    "clustering": lambda G: alg.clustering(G, weighted=True),
    "ldbc": lambda G: alg.clustering(G, mode="ldbc"),
    "jaccard": lambda G: alg.jaccard(G, [(0, 1), (2, 5), (3, 7)]),
    "adamic_adar": lambda G: alg.adamic_adar(G, topk=2),
    "apsp": lambda G: alg.apsp(G, sources=[0, 3, 5], weighted=True),
    "mcl": lambda G: alg.mcl(G, max_iter=3, strict=False),
}
SYMMETRIC = {"k_truss": lambda G: alg.k_truss(G, 3), "square_clustering": lambda G: alg.square_clustering(G, batch=9)}


def flat(found):
    """{key: number} of a result; of a Matrix by source, {(source, vertex): number}."""
    pairs = found.to_dict()
    if isinstance(next(iter(pairs.values()), None), dict):
        return {(u, v): x for u, row in pairs.items() for v, x in row.items()}
    return pairs


@pytest.mark.sampled(8)
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("graph", GRAPHS)
@pytest.mark.parametrize("name", [*ANY, *SYMMETRIC])
def test_every_plan_gives_the_same(plan, graph, name):
    A, directed = GRAPHS[graph]()
    if directed and name in SYMMETRIC:
        A, directed = gb.binary.plus(A | A.T).new(), False
    run = (ANY | SYMMETRIC)[name]
    expected = flat(run(alg.Graph(A, directed)))
    with gb.plan(force=plan):
        assert flat(run(alg.Graph(A, directed))) == pytest.approx(expected, rel=1e-9, abs=1e-12)
