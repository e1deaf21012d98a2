"""Whole loops over a graph on the CPU: the templates as plain Python, or compiled (slow), against plain loops, NetworkX
and SciPy."""

from contextlib import nullcontext

import networkx as nx
import numpy as np
import pytest
from backends.cpu.fenced import fenced_kernels
from scipy.sparse import csgraph, csr_array

import grb_tile as gb
from grb_tile import Matrix, Vector, graph
from grb_tile.dtypes import lookup_dtype
from grb_tile.graph.local_moves import Measure, join_rounds, move_rounds, settle
from grb_tile.storage.store import Compressed
from support import graph_loops as plain, seeds
from support.graphs import GRAPHS, graph_of, random_graph, transposed

RANDOM = {
    "thin": lambda: random_graph(70, 80, 1, False),
    "thick": lambda: random_graph(40, 300, 2, False),
    "both ways": lambda: random_graph(60, 110, 3),
}
FEW = ("one vertex", "no edges", "self loops", "path", "clique", "grid")
CASES = {**{name: GRAPHS[name] for name in FEW}, **RANDOM}


@pytest.fixture(autouse=True, params=["plain", pytest.param("compiled", marks=pytest.mark.slow)])
def way(request):
    with fenced_kernels() if request.param == "plain" else nullcontext(), gb.plan(force="numba"):
        yield


@pytest.fixture(params=[False, True], ids=["int32", "int64"])
def wide(request):
    """Are indices 64 bits wide?"""
    return request.param


every_case = pytest.mark.parametrize("name", CASES)
every = pytest.mark.sampled(1)


def rng_of(salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, salt])


def matrix_of(A, values=None, wide=False):
    indices = A.indices.astype(np.int64) if wide else A.indices
    dtype = A.dtype if values is None else lookup_dtype(values.dtype)
    values = A.values if values is None else values
    return Matrix._from_store(Compressed(A.nrows, A.ncols, dtype, A.indptr, indices, values, values.size < A.nvals))


def symmetric(A):
    rows, cols = plain.edges(A)
    return graph_of(A.nrows, rows[rows != cols], cols[rows != cols])


@every_case
@every
def test_components(name):
    A = CASES[name]()
    G = plain.digraph(A)
    wanted = plain.least_of(nx.weakly_connected_components(G), A.nrows)
    for store, both_ways in ((A, False), (symmetric(A), True)):
        found = graph.components(matrix_of(store), symmetric=both_ways)
        assert found.labels.to_dense().tolist() == wanted.tolist() and found.count == np.unique(wanted).size
    label, count = graph.strong_components(matrix_of(A))
    wanted = plain.least_of(nx.strongly_connected_components(G), A.nrows)
    assert label.to_dense().tolist() == wanted.tolist() and count == np.unique(wanted).size


@every_case
@every
def test_cores(name):
    A = CASES[name]()
    rows, cols = plain.edges(A)
    directed = graph_of(A.nrows, rows[rows != cols], cols[rows != cols], symmetric=False)
    for store, AT in ((symmetric(A), None), (directed, transposed(directed))):
        G = plain.digraph(store)
        wanted = nx.core_number(G.to_undirected() if AT is None else G)
        found = graph.core_numbers(matrix_of(store), None if AT is None else matrix_of(AT))
        assert found.to_dense().tolist() == [wanted[v] for v in range(A.nrows)]


@every_case
@every
def test_triangles(name):
    """At each vertex; supports as edges go, their rounds."""
    A, rng = symmetric(CASES[name]()), rng_of(5)
    rows, cols = plain.edges(A)
    L = graph_of(A.nrows, rows[rows > cols], cols[rows > cols], symmetric=False)
    assert graph.triangle_corners(matrix_of(L)).to_dense().tolist() == plain.corners(L).tolist()
    found = plain.supports(A, rng.random(A.nvals // 2) < 0.5)
    i, j = np.array(list(found), np.int64).reshape(-1, 2).T
    S = Matrix.from_coo(i, j, np.array(list(found.values()), np.int64), nrows=A.nrows, ncols=A.nrows)
    for least in (1, 2, 4):
        wanted, rounds = plain.peeled(A, found, least)
        left, removed = graph.peel_truss(matrix_of(A), S, least)
        assert {(i, j): s for i, row in left.to_dicts().items() for j, s in row.items()} == wanted
        assert removed() == rounds


@every_case
@every
def test_orders(name):
    """Generations with and without cycles, Kahn's order, reverse Cuthill-McKee."""
    A = CASES[name]()
    rows, cols = plain.edges(A)
    rank = rng_of(1).permutation(A.nrows)
    for kept in (rank[rows] < rank[cols], (rank[rows] < rank[cols]) | (rng_of(2).random(rows.size) < 0.05)):
        part = graph_of(A.nrows, rows[kept], cols[kept], symmetric=False)
        wanted = plain.generations(A.nrows, *plain.edges(part))
        assert graph.topological_levels(matrix_of(part)).to_dense().tolist() == wanted.tolist()
        level, order = graph.topological_order(graph.Lists(part.indptr, part.indices.astype(np.int64)))
        assert level.tolist() == wanted.tolist() and order.tolist() == plain.kahn(plain.neighbours(part))
    S = symmetric(A)
    order, position = (x.to_dense() for x in graph.cuthill_mckee(matrix_of(S)))
    assert order.tolist() == plain.reverse_cuthill_mckee(S)
    assert order[position].tolist() == list(range(A.nrows))


@every_case
@every
def test_greedy_loops(name):
    A, rng = symmetric(CASES[name]()), rng_of(3)
    for _ in range(2):
        order, left_out = rng.permutation(A.nrows), rng.random(A.nrows) < 0.2
        colour, count = graph.greedy_colours(matrix_of(A), Vector.from_dense(order))
        wanted = plain.greedy(A, order)
        assert colour.to_dense().tolist() == wanted.tolist() and count == wanted.max() + 1
        for without in (left_out, np.zeros(A.nrows, bool)):
            given = Vector.from_coo(np.flatnonzero(without), True, size=A.nrows)
            found = graph.independent_set(matrix_of(A), Vector.from_dense(order), given)
            assert found.to_coo(values=False)[0].tolist() == plain.first_set(A, order, without).tolist()


@pytest.mark.parametrize("shape", [(1, 1), (9, 30), (30, 9), (40, 40)])
@every
def test_matchings(shape):
    """As many pairs as SciPy finds, each an entry; B in CSR, empty rows and columns."""
    rng = rng_of(4)
    for share in (0.0, 0.05, 0.1, 0.4):
        dense = rng.random(shape) < share
        mate_row, mate_col = graph.bipartite_matching(Matrix.from_dense(dense, missing_value=False))
        pairs, back = mate_row.to_dict(), mate_col.to_dict()
        wanted = (
            csgraph.maximum_bipartite_matching(csr_array(dense), perm_type="column") if dense.any() else np.array([])
        )
        assert len(pairs) == np.count_nonzero(wanted >= 0) and {j: i for i, j in pairs.items()} == back
        assert all(dense[i, j] for i, j in pairs.items())


@pytest.mark.parametrize("salt", range(4))
@every
def test_forests(salt):
    """Equal keys and distinct ones, loops, several trees."""
    rng = rng_of(20 + salt)
    n = int(rng.integers(1, 60))
    heads, tails = rng.integers(0, n, (2, int(n * rng.uniform(0, 4))))
    keys = rng.integers(-3, 4, heads.size) if salt % 2 else rng.permutation(heads.size)
    kept, tree = gb.backends.select.named("cpu").spanning_forest(n, heads, tails, keys)
    wanted = plain.kruskal(n, heads, tails, keys)
    assert sorted(kept.tolist()) == wanted[0] and tree.tolist() == wanted[1].tolist()


@pytest.mark.parametrize("salt", range(4))
@every
def test_lists(salt):
    """Neighbours in any order: breadth-first order and turns of label propagation."""
    rng = rng_of(30 + salt)
    n = int(rng.integers(2, 50))
    near = [rng.choice(n, int(rng.integers(0, min(n, 7))), replace=False).tolist() for _ in range(n)]
    lists = graph.Lists(np.cumsum([0, *map(len, near)]), np.array(sum(near, []), np.int64))
    sources = rng.choice(n, 2, replace=False)
    for limit in (0, 1, 3, np.inf):
        found = graph.breadth_first(lists, sources, limit)
        assert [x.tolist() for x in found] == [list(x) for x in plain.queued(near, sources.tolist(), limit)]
    order, first = rng.permutation(n), rng.integers(0, max(1, n // 4), n)
    for seed in (0, 88172645463325252):
        label, expected, state, changed = first.copy(), first.copy(), np.array([seed]), 0
        count = graph.label_turns(lists, order, label, state)
        for v in order.tolist():
            votes = np.bincount(expected[near[v]], minlength=n)
            if votes[expected[v]] < votes.max(initial=0):
                ties = np.flatnonzero(votes == votes.max())
                changed += 1
                expected[v] = label[v] if seed and label[v] in ties else ties[-1]
        assert label.tolist() == expected.tolist() and count == changed and (state[0] != seed) <= bool(seed)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@every
def test_distances(dtype):
    """Every source, iso weights too; a target ends the search, and its path is one of predecessors."""
    for name in ("thin", "thick"):
        A, rng = RANDOM[name](), rng_of(5)
        values = rng.integers(0, 6, A.nvals).astype(dtype)
        wanted = np.full((A.nrows, A.nrows), np.inf)
        for s, lengths in nx.all_pairs_dijkstra_path_length(plain.digraph(A, values)):
            wanted[s, list(lengths)] = list(lengths.values())
        wanted[np.isinf(wanted)] = -1
        D, none = graph.distances(matrix_of(A, values), np.arange(A.nrows))
        assert none is None and D.dtype == values.dtype and D.tolist() == wanted.tolist()
        iso, _ = graph.distances(matrix_of(A, np.full(1, 3, dtype)), [0, 0])
        levels = plain.queued(plain.neighbours(A), [0], A.nrows)[1]
        assert iso.tolist() == [np.where(levels < 0, -1, 3 * levels).tolist()] * 2
        for target in (-1, *np.flatnonzero(wanted[1] > 0)[:3].tolist()):
            d, parent = graph.distances(matrix_of(A, values), [1], target=target, parents=True)
            met = np.flatnonzero(d[0] >= 0)
            most = wanted[1].max() if target < 0 else wanted[1, target]
            assert set(np.flatnonzero((wanted[1] >= 0) & (wanted[1] < most))) <= set(met)
            assert (d[0, met] == wanted[1, met]).all() and (parent[d[0] < 0] == -1).all() and parent[1] == 1
            weight = dict(zip(zip(*(x.tolist() for x in plain.edges(A)), strict=True), values, strict=True))
            for v in set(met.tolist()) - {1}:
                assert d[0, parent[v]] + weight[parent[v], v] == d[0, v]


@every_case
@every
def test_dependencies(name):
    A, rng = CASES[name](), rng_of(6)
    sources = np.unique(rng.integers(0, A.nrows, 3))
    lengths = rng.integers(1, 4, A.nvals).astype(float)
    for weighted, endpoints in ((False, False), (False, True), (True, False), (True, True)):
        values = lengths if weighted else None
        wanted = plain.dependencies(A, sources, endpoints, values)
        B, options = matrix_of(A, values), {"weighted": weighted, "endpoints": endpoints}
        np.testing.assert_allclose(graph.dependencies(B, sources, **options).to_dense(), wanted[0], atol=1e-12)
        shares = graph.dependencies(B, sources, by_edge=True, **options)
        np.testing.assert_allclose(shares._store.values, wanted[1], atol=1e-12)


@every
def test_floyd_warshall():
    for name in ("thin", "thick"):
        A, rng = RANDOM[name](), rng_of(7)
        D = np.full((A.nrows, A.nrows), np.inf)
        D[plain.edges(A)] = rng.integers(1, 9, A.nvals)
        np.fill_diagonal(D, 0)
        wanted = csgraph.floyd_warshall(np.where(np.isinf(D), 0, D))
        assert graph.floyd_warshall(D) == A.nrows and D.tolist() == wanted.tolist()
    D = np.array([[0, 1, np.inf], [np.inf, 0, -2.0], [1.5, np.inf, 0]])
    assert graph.floyd_warshall(D.copy()) == 3  # a cycle of weight 0.5
    D[2, 0] = 0.5
    assert graph.floyd_warshall(D) == 2


def last_of(steps):
    """(labels, quality) of the last step, and the records of all."""
    steps = [(kept, best, list(records)) for kept, best, records in steps]
    return *steps[-1][:2], [record for step in steps for record in step[2]]


@pytest.mark.parametrize("some", [False, True])
@pytest.mark.parametrize("salt", range(4))
@every
def test_rounds_of_moves(salt, some):
    """One loop gives what the votes and the rounds of the composition give."""
    rng = rng_of(50 + salt)
    n = 40
    A = symmetric(random_graph(n, 90, 60 + salt))
    i, j = plain.edges(A)
    B = matrix_of(A, (1.0 + (i + j) % 3 + i * j % 2)) if salt % 2 else matrix_of(A, np.ones(1))
    x, community = rng.integers(0, 6, n) if some else None, rng.integers(0, 3, n)
    k = B.reduce_rowwise("plus").new().to_dense(0.0)
    total = 2.0 ** np.ceil(np.log2(k.sum() + 1))
    rule = Measure(0.0, total, 1.0), 1e-7, 1e-3
    for key in (7, 11):
        calls = (
            lambda: last_of(move_rounds(B, x, k / total, k, rule, key, 5)),
            lambda: last_of(move_rounds(B, x, k / total, k, rule, key, 5, each=True)),
            lambda: join_rounds(B, community, k, 1 / total, key, 5),
            lambda: list(settle(B, community, k / total, k, (rule[0], 1e-7 * total, 2.0, bool)))[-1][:1],
        )
        for call in calls:
            found = call()
            with gb.plan(force="reference"):
                wanted = call()
            for ours, theirs in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("salt", range(4))
@every
def test_joins_of_many_rounds(salt):
    """Parts of one or two communities grow in every round; vertices follow that are still alone beside them."""
    n = 300
    A = symmetric(random_graph(n, 900, 80 + salt))
    B = matrix_of(A, np.ones(1))
    k = B.reduce_rowwise("plus").new().to_dense(0.0)
    total, community = 2.0 ** np.ceil(np.log2(k.sum() + 1)), np.arange(n) % (1 + salt % 2)
    for key in (7, 11):
        found = join_rounds(B, community, k, 1 / total, key, 5)
        with gb.plan(force="reference"):
            wanted = join_rounds(B, community, k, 1 / total, key, 5)
        np.testing.assert_array_equal(found[0], wanted[0])
        assert found[1] == wanted[1] > 2


@every
def test_indices_of_64_bits():
    A = RANDOM["thick"]()
    values = rng_of(8).integers(1, 5, A.nvals).astype(float)
    for call in (
        lambda B: graph.strong_components(B)[0].to_dense(), lambda B: graph.core_numbers(B, B).to_dense(),
        lambda B: graph.distances(B, [0, 3])[0], lambda B: graph.dependencies(B, [0, 3], weighted=True).to_dense(),
        lambda B: graph.topological_levels(B).to_dense(),
    ):  # fmt: skip
        assert call(matrix_of(A, values, wide=True)).tolist() == call(matrix_of(A, values)).tolist()


def test_in_edges_of_another_size_are_refused():
    A, AT = gb.Matrix(bool, 3, 3), gb.Matrix(bool, 4, 4)
    with pytest.raises(gb.exceptions.DimensionMismatch, match="A is 3 x 3 and AT 4 x 4"):
        graph.core_numbers(A, AT)
