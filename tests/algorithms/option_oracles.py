"""What searches, degrees, components, cores and selections must give: NetworkX, SciPy and plain loops, no code of ours.

Each oracle takes the drawn graph and the options by name, and returns the expected value (numbers, dictionaries), a
Check of the result, a Refusal, or None where it has no opinion.
"""

import itertools
import math

import networkx as nx
import numpy as np
from checkers import check_components, check_levels, check_parents
from option_expectations import INF, Check, Refusal, distances, finite, require, weights_of
from structure_checkers import check_colouring, check_forest, check_independent_set, check_matching

# ---------------------------------------------------------------------- searches and distances


def bfs(d, source, levels, parents, max_level, target):
    def check(found):
        if target is not None:
            reach = distances(d, False)[source, target]
            if levels and (max_level is None or reach <= max_level) and reach < INF:
                assert found.levels.get(target) == reach
            return
        if levels:
            check_levels(d.A, source, found.levels, max_level)
        if parents:
            check_parents(d.A, source, found.parents, max_level)

    return Check(check)


def bfs_multi(d, sources, levels, parents, max_level):
    def check(found):
        for k, source in enumerate(sources):
            if levels:
                check_levels(d.A, source, found.levels[k, :].new(), max_level)
            if parents:
                check_parents(d.A, source, found.parents[k, :].new(), max_level)

    return Check(check)


def sssp(d, source, method, delta, predecessors, target):
    negative = bool((d.weights[d.present] < 0).any())
    if negative and (method == "delta"):
        return Refusal(ValueError)
    D = distances(d, True)
    if D is None:
        hop = distances(d, False)
        on_cycle = [k for k in range(d.n) if d.n and _closed(d)[k] < 0 and hop[source, k] < INF]
        if on_cycle:
            return Refusal(ValueError)
        reached = [k for k in range(d.n) if hop[source, k] < INF]
        D = np.full((d.n, d.n), INF)
        D[np.ix_(reached, reached)] = distances(_part(d, reached), True)

    def check(found):
        got = found.distances.to_dict()
        if target is None:
            assert got == finite(D[source]), (got, finite(D[source]))
        elif D[source, target] < INF:
            assert got[target] == D[source, target]

    return Check(check)


def _closed(d):
    D = np.where(d.present, d.weights, INF).astype(float)
    for k in range(d.n):
        D = np.minimum(D, D[:, k : k + 1] + D[k : k + 1, :])
    return np.diag(D)


def _part(d, chosen):
    import dataclasses

    at = np.ix_(chosen, chosen)
    return dataclasses.replace(d, present=d.present[at], weights=d.weights[at])


def apsp(d, sources, weighted, method):
    D = distances(d, weighted)
    if D is None:  # of all vertices some reach the cycle, of others perhaps none
        return Refusal() if sources is None else None
    wanted = range(d.n) if sources is None else sources
    return {s: finite(D[s]) for s in wanted}


def eccentricity(d, sources, weighted):
    D = distances(d, weighted)
    if D is None:
        return Refusal(ValueError)
    wanted = list(range(d.n)) if sources is None else sources
    if any((D[s] == INF).any() for s in wanted):
        return Refusal(ValueError)
    return {s: D[s].max() for s in wanted}


def diameter(d, method, weighted):
    D = distances(d, weighted)
    if d.n == 0 or D is None or (D == INF).any():
        return Refusal(ValueError)
    if method == "exact":
        return D.max()
    return Check(lambda found: require(found <= D.max(), found, D.max()))


def radius(d, weighted):
    D = distances(d, weighted)
    if d.n == 0 or D is None or (D == INF).any():
        return Refusal(ValueError)
    return D.max(axis=1).min()


def closeness(d, sources, wf_improved, weighted):
    if weighted and (d.weights[d.present] <= 0).any():
        return None
    found = nx.closeness_centrality(d.network(), distance="weight" if weighted else None, wf_improved=wf_improved)
    return found if sources is None else {s: found[s] for s in sources}


def harmonic(d, sources, weighted):
    if weighted and (d.weights[d.present] <= 0).any():
        return None
    found = nx.harmonic_centrality(d.network(), distance="weight" if weighted else None)
    return found if sources is None else {s: found[s] for s in sources}


def has_path(d, source, target):
    return bool(distances(d, False)[source, target] < INF)


def shortest_path_length(d, source, target, weighted):
    D = distances(d, weighted)
    if D is None:
        return None
    if target is None:
        return finite(D[source])
    return D[source, target] if D[source, target] < INF else Refusal(ValueError)


def shortest_path(d, source, target, weighted):
    D = distances(d, weighted)
    if D is None:
        return None
    if D[source, target] == INF:
        return Refusal(ValueError)

    def check(path):
        assert path[0] == source and path[-1] == target
        steps = list(itertools.pairwise(path))
        assert all(d.present[i, j] for i, j in steps)
        assert sum(d.weights[i, j] if weighted else 1 for i, j in steps) == D[source, target]

    return Check(check)


def descendants(d, source):
    return dict.fromkeys(nx.descendants(d.network(True), source), True)


def ancestors(d, source):
    return dict.fromkeys(nx.ancestors(d.network(True), source), True)


def ego_graph(d, source, radius, undirected):
    wanted = nx.ego_graph(d.network(True), source, radius, undirected=undirected)
    return Check(lambda G: require(G.n == len(wanted) and G.A.nvals == wanted.number_of_edges(), G.n, len(wanted)))


def betweenness(d, normalized, endpoints, weighted):
    if weighted and (d.weights[d.present] <= 0).any():
        return None
    G = d.network()
    if normalized == "ours":
        return None
    weight = "weight" if weighted else None
    return nx.betweenness_centrality(G, normalized=normalized, endpoints=endpoints, weight=weight)


def edge_betweenness(d, normalized, weighted):
    if weighted and (d.weights[d.present] <= 0).any():
        return None
    G = d.network()
    found = nx.edge_betweenness_centrality(G, normalized=normalized, weight="weight" if weighted else None)
    return found if d.directed else {(min(pair), max(pair)): x for pair, x in found.items()}


# ---------------------------------------------------------------------- degrees and triangles


def out_degree(d, weighted):
    return dict(enumerate(weights_of(d, weighted).sum(axis=1).tolist()))


def in_degree(d, weighted):
    return dict(enumerate(weights_of(d, weighted).sum(axis=0).tolist()))


def degree(d, weighted):
    W = weights_of(d, weighted)
    other = W.sum(axis=0) if d.directed else np.diag(W)
    return dict(enumerate((W.sum(axis=1) + other).tolist()))


def _centrality(d, x):
    scale = 1 / (d.n - 1) if d.n > 1 else None
    return {i: 1.0 if scale is None else v * scale for i, v in x.items()}


def degree_centrality(d):
    return _centrality(d, degree(d, False))


def out_degree_centrality(d):
    return _centrality(d, out_degree(d, False))


def in_degree_centrality(d):
    return _centrality(d, in_degree(d, False))


def density(d):
    return nx.density(d.network()) if d.n else 0


def isolates(d):
    return dict.fromkeys(nx.isolates(d.network()), True)


def overall_reciprocity(d):
    if not d.present.any():
        return Refusal(ValueError)
    both = d.present & d.present.T
    np.fill_diagonal(both, False)
    return both.sum() / d.present.sum()


def clustering(d, nodes, weighted, mode):
    if weighted and (mode == "ldbc" or (d.weights[d.present] < 0).any() or d.dtype == "BOOL"):
        return None
    if mode == "undirected" and not d.symmetric_structure:
        return Refusal(ValueError)
    if mode == "ldbc" or (weighted and mode == "undirected" and d.directed):
        return None
    G = d.network({"auto": d.directed, "directed": True, "undirected": False}[mode])
    if mode == "directed" and not d.directed:
        G = d.network(True)
    if weighted and (not len(G.edges) or not max(w for *_, w in G.edges(data="weight"))):
        return None
    found = nx.clustering(G, weight="weight" if weighted else None)
    return found if nodes is None else {i: found[i] for i in nodes}


def average_clustering(d, nodes, weighted, count_zeros, mode):
    found = clustering(d, nodes, weighted, mode)
    if not isinstance(found, dict):
        return found
    kept = [x for x in found.values() if count_zeros or abs(x) > 0]
    return None if not kept else sum(kept) / len(kept)


def square_clustering(d, nodes):
    if not d.symmetric_structure:
        return Refusal(ValueError)
    found = nx.square_clustering(d.without_loops().network(False))
    return found if nodes is None else {i: found[i] for i in nodes}


def transitivity(d):
    return nx.transitivity(d.network(False))


def triangles(d, nodes):
    if not d.symmetric_structure:
        return Refusal(ValueError)
    found = nx.triangles(d.network(False))
    return found if nodes is None else {i: found[i] for i in set(nodes)}


def triangle_count(d, presort):
    if not d.symmetric_structure:
        return Refusal(ValueError)
    return sum(nx.triangles(d.network(False)).values()) // 3


# ---------------------------------------------------------------------- components, cores, orders


def connected_components(d, method):
    return Check(lambda found: check_components(d.A, found.values))


def strongly_connected_components(d):
    label = {}
    for part in nx.strongly_connected_components(d.network(True)):
        label |= dict.fromkeys(part, min(part))
    return label


def core_number(d):
    return nx.core_number(d.without_loops().network())


def _kept(d, chosen):
    return {
        (i, j): d.weights[i, j].item() for i, j in zip(*map(np.ndarray.tolist, np.nonzero(d.present)), strict=True)
        if i in chosen and j in chosen
    }  # fmt: skip


def k_core(d, k):
    core = core_number(d)
    k = max(core.values(), default=0) if k is None else k
    return _kept(d, {i for i, c in core.items() if c >= k})


def k_shell(d, k):
    core = core_number(d)
    k = max(core.values(), default=0) if k is None else k
    return _kept(d, {i for i, c in core.items() if c == k})


def k_truss(d, k):
    if not d.symmetric_structure:
        return Refusal(ValueError)
    wanted = nx.k_truss(d.without_loops().network(False), k)
    both = {(min(pair), max(pair)) for pair in wanted.edges}
    return Check(lambda found: require(set(found.to_dict()) == both, found.to_dict(), both))


def is_dag(d):
    return nx.is_directed_acyclic_graph(d.network(True))


def topological_sort(d):
    if not is_dag(d):
        return Refusal(ValueError)

    def check(found):
        place = found.to_dict() if hasattr(found, "to_dict") else found
        assert sorted(place.values()) == list(range(d.n))
        assert all(place[i] < place[j] for i, j in zip(*np.nonzero(d.present), strict=True))

    return Check(check)


def topological_generations(d):
    if not is_dag(d):
        return Refusal(ValueError)
    return {i: k for k, part in enumerate(nx.topological_generations(d.network(True))) for i in part}


def condensation(d):
    wanted = nx.condensation(d.network(True))
    return Check(lambda found: require(found.count == len(wanted), found.count, len(wanted)))


# ---------------------------------------------------------------------- selections


def coloring(d, method, order, seed):
    if not d.symmetric_structure:
        return Refusal(ValueError)
    if order is not None and sorted(order) != list(range(d.n)):
        return Refusal(ValueError, IndexError)
    return Check(lambda found: check_colouring(d.A, found.to_numpy().tolist()))


def maximal_independent_set(d, seed, ignore):
    if not d.symmetric_structure:
        return Refusal(ValueError)
    return Check(lambda found: check_independent_set(d.A, found.to_dict(), ignore or ()))


def minimum_spanning_forest(d, maximum):
    if not d.n:
        return Check(lambda found: require(found.count == 0, found))

    def check(found):
        triples = list(zip(*(x.tolist() for x in found.edges.to_coo()), strict=True))
        check_forest(d.A, triples, found.weight, found.labels.to_dense().tolist(), maximum)
        G = nx.Graph()  # of the two weights of a pair the one that the forest wants
        for i, j in zip(*map(np.ndarray.tolist, np.nonzero(d.present)), strict=True):
            w = d.weights[i, j].item()
            if i != j and (not G.has_edge(i, j) or (w > G[i][j]["weight"]) == maximum):
                G.add_edge(i, j, weight=w)
        tree = (nx.maximum_spanning_edges if maximum else nx.minimum_spanning_edges)(G, data=True)
        assert math.isclose(found.weight, sum(edge[2]["weight"] for edge in tree), abs_tol=1e-9)

    return Check(check)


def bipartite_matching(d):
    from scipy.sparse import csgraph, csr_array

    size = int((csgraph.maximum_bipartite_matching(csr_array(d.present.astype(float)), "column") >= 0).sum())
    return Check(lambda found: check_matching(d.A, found.to_dict(), found.mate_col.to_dict(), size))


def rcm(d):
    return Check(lambda found: require(sorted(found.order.tolist()) == list(range(d.n)), found.order))
