"""gb.graph's functions called directly, on each backend, directed and not: results, names, what is refused.

The emulated device has loops that the host has not, and a backend without any composes votes of products.
"""

import itertools

import networkx as nx
import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile import graph
from grb_tile.backends import select
from grb_tile.exceptions import DimensionMismatch, IndexOutOfBound
from grb_tile.graph import communities
from support.seeds import generator

BACKENDS = {"cpu": lambda: select.using("cpu"), "numpy": lambda: select.using("numpy"), "device": using_shim}
N = 12


def drawn(directed, salt, weights=np.float64):
    """(A, the NetworkX graph): sparse enough that some vertices are not reached."""
    rng = generator("every graph function", directed, salt)
    G = nx.gnp_random_graph(N, 0.12, seed=int(rng.integers(1 << 30)), directed=directed)
    for _, _, data in G.edges(data=True):
        data["weight"] = weights(rng.integers(1, 6)) / (2 if weights is np.float64 else 1)
    edges = [(u, v, d["weight"]) for u, v, d in G.edges(data=True)]
    edges += [] if directed else [(v, u, w) for u, v, w in edges if u != v]
    rows, columns, values = zip(*edges, strict=True) if edges else ((), (), ())
    dtype = "FP64" if weights is np.float64 else "INT64"
    return gb.Matrix.from_coo(rows, columns, values, dtype, nrows=N, ncols=N), G


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("directed", [False, True])
def test_searches(backend, directed):
    with BACKENDS[backend]():
        for salt in range(4):
            A, G = drawn(directed, salt)
            sources = [salt, 5, salt, 11]
            options = [{}] if directed else [{}, {"symmetric": True}]
            lengths = dict(nx.all_pairs_shortest_path_length(G))
            for how in options:
                many = graph.bfs_multi(A, sources, **how)
                if many is not None:
                    wanted = {k: lengths[s] for k, s in enumerate(sources)}
                    assert many.levels.to_dicts() == wanted and many.parents is None, how
                    with_parents = graph.bfs_multi(A, sources, parents=True, levels=False, **how)
                if many is not None and with_parents is not None:
                    found = with_parents.parents.to_dicts()
                    assert with_parents.levels is None
                    for k, s in enumerate(sources):
                        assert found[k].keys() == wanted[k].keys() and found[k][s] == s
                        assert all(v == s or G.has_edge(p, v) for v, p in found[k].items())
                        assert all(v == s or wanted[k][v] == wanted[k][p] + 1 for v, p in found[k].items())
                one = graph.bfs(A, sources[0], **how)
                assert one is None or one.levels.to_dict() == lengths[sources[0]]
                said = gb.explain().plans[0]
                assert one is None or said.seconds is None or said.seconds >= 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_levels_that_a_plan_tells_are_those_of_the_report(backend):
    """As many, and as many of them pulled, in the plan's reason and in the report's text."""
    seen = set()
    with BACKENDS[backend]():
        A = gb.Matrix.from_coo([0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 5, 3], True, nrows=70, ncols=70)
        A = gb.binary.any(A | A.T).new()
        for force, call in itertools.product(((), "pull", "push", "bittiled"), ("bfs", "bfs_multi")):
            with gb.plan(force=force):
                found = graph.bfs(A, 0) if call == "bfs" else graph.bfs_multi(A, [0, 5])
            if found is None:
                continue
            (plan,), levels = gb.explain().plans, found.report.levels
            pulled = sum(level["direction"].startswith("pull") for level in levels)
            assert f"{len(levels)} levels, {pulled} of them pulled" in plan.reason, (force, call)
            assert f"in {len(levels)} levels ({pulled} pulled)" in repr(found.report), (force, call)
            assert found.report.count == len(found.report) == len(levels)
            assert found.report.expanded == sum(level["frontier"] for level in levels)
            seen.add(pulled == len(levels))
    assert seen == {True, False} or backend == "numpy"


def test_arrays_of_communities_have_their_types():
    """INT64 and FP64, whatever the type of the indices that are stored."""
    for backend in BACKENDS.values():
        with backend():
            v = gb.Vector.from_coo([1, 3], [2.0, 4.0], size=5)
            arrays = communities.positions(v), communities.dense(v), communities.entries(v)
            labels = communities.labels_in_order(np.array([2, 2, 1]))[0]
            sums = communities.sums_by_label(communities.array_of([0, 1, 0]), communities.dense(v)[:3], 2)
            assert [x.dtype for x in (*arrays, labels, sums)] == ["i8", "f8", "f8", "i8", "f8"]
            assert [communities.vector_of(x).dtype for x in (*arrays[:2], labels)] == ["INT64", "FP64", "INT64"]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [np.float64, np.int64])
def test_shortest_paths(backend, directed, weights):
    with BACKENDS[backend]():
        for salt in range(3):
            A, G = drawn(directed, salt, weights)
            for how in [{}] if directed else [{}, {"symmetric": True}]:
                wanted = nx.single_source_dijkstra_path_length(G, salt)
                for delta in (None, 1.0, np.inf):
                    found = graph.sssp(A, salt, predecessors=True, delta=delta, **how)
                    if found is None:
                        assert backend != "device"
                        continue
                    assert found.distances.to_dict() == wanted and found.distances.name == "distances"
                    before = found.predecessors.to_dict()
                    assert found.predecessors.name == "parents" and before.keys() == wanted.keys()
                    for v, p in before.items():
                        assert v == p == salt or wanted[p] + G[p][v]["weight"] == wanted[v]
                    assert found.report.method in ("delta", "bellman_ford")
                    alone = graph.sssp(A, salt, delta=delta, **how)
                    assert alone.predecessors is None and alone.distances.to_dict() == wanted
            for wrong in (-0.5, np.nan) if weights is np.float64 else (-1,):
                B = A.dup()
                B[3, 4] = wrong
                B[4, 5] = 0
                with pytest.raises(ValueError, match=f"A: a weight is {wrong}; graph.sssp needs weights >= 0"):
                    graph.sssp(B, 0)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_votes(backend, weighted):
    """mode and best_move by their formulas, of loops, of ties, of vertices alone and of chosen rows."""
    rng = generator("votes", weighted)
    with BACKENDS[backend]():
        for n in (1, 6, 13):
            D = rng.integers(0, 5, (n, n)) * (rng.random((n, n)) < 0.4)
            A = gb.Matrix.from_coo(*np.nonzero(D), D[np.nonzero(D)].astype(float), nrows=n, ncols=n)
            own = rng.integers(0, max(1, n // 2), n)
            labels = gb.Vector.from_dense(own)
            scores = np.zeros((n, n))
            np.add.at(scores.T, own, (D if weighted else D != 0).T.astype(float))
            found = graph.mode(A, labels, weighted=weighted)
            assert found.name == "mode"
            assert found.to_dict() == {i: int(np.argmax(scores[i])) for i in range(n) if D[i].any()}
            u, v, w = (rng.integers(1, 4, n).astype(float) for _ in range(3))
            full = np.full((n, n), -np.inf)
            for i in range(n):
                for c in {own[i], *own[np.flatnonzero(D[i])]}:
                    full[i, c] = D[i, own == c].sum() + (c == own[i]) * u[i] * w[i] - u[i] * v[c]
            given = [gb.Vector.from_dense(x) for x in (u, v, w)]
            for rows in (None, gb.Vector.from_coo([0], [1], size=n)):
                t, gain, kept = graph.best_move(A, labels, *given, rows=rows)
                for i in range(n) if rows is None else [0]:
                    best = full[i].max()
                    wanted = own[i] if full[i, own[i]] == best else int(np.argmax(full[i]))
                    assert t[i].new().value == wanted and kept[i].new().value == full[i, own[i]]
                    assert gain[i].new().value == best - full[i, own[i]]


SQUARE = {
    "bfs": lambda A: graph.bfs(A, 0),
    "bfs_multi": lambda A: graph.bfs_multi(A, [0]),
    "sssp": lambda A: graph.sssp(A, 0),
    "dependencies": lambda A: graph.dependencies(A, [0]),
    **{
        name: getattr(graph, name)
        for name in ("components", "core_numbers", "cuthill_mckee", "strong_components", "topological_levels")
    },
}


@pytest.mark.parametrize("backend", BACKENDS)
def test_matrices_and_vertices_that_are_refused(backend):
    A, full = gb.Matrix(float, 3, 3), gb.Vector.from_scalar(1.0, 3)
    own = gb.Vector.from_dense([0, 1, 2])
    with BACKENDS[backend]():
        for name, call in SQUARE.items():
            with pytest.raises(DimensionMismatch, match=f"{name}: A is 3 x 4; expected square matrices of one size"):
                call(gb.Matrix(float, 3, 4))
            for wrong in (full, 3, None, "A"):
                with pytest.raises(TypeError, match=f"A: expected a Matrix, got {type(wrong).__name__}"):
                    call(wrong)
        with pytest.raises(DimensionMismatch, match="core_numbers: A is 3 x 3 and AT 4 x 4; expected square"):
            graph.core_numbers(A, gb.Matrix(float, 4, 4))
        for vertex in (-1, 3):
            for call in (graph.bfs, graph.sssp, lambda A, v: graph.bfs_multi(A, [0, v])):
                with pytest.raises(IndexOutOfBound):
                    call(A, vertex)
        with pytest.raises(DimensionMismatch, match="^A: expected a square matrix, got 3 x 4$"):
            graph.best_move(gb.Matrix(float, 3, 4), own, full, full, full)
        with pytest.raises(DimensionMismatch, match="^rows: expected a Vector of size 3, got 4$"):
            graph.best_move(A, own, full, full, full, rows=gb.Vector(bool, 4))
        for place, name in enumerate(("labels", "u", "v", "w")):
            given = [own, full, full, full]
            given[place] = gb.Vector.from_scalar(0, 4, given[place].dtype)
            with pytest.raises(DimensionMismatch, match=name):
                graph.best_move(A, *given)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("directed", [False, True])
def test_shares_of_edges(backend, directed):
    """Brandes' dependencies by edge: the sum over all sources is the betweenness of the edge."""
    with BACKENDS[backend]():
        A, G = drawn(directed, 9)
        found = graph.dependencies(A, np.arange(N), by_edge=True)
        if found is None:
            return
        wanted = nx.edge_betweenness_centrality(G, normalized=False)
        shares = {(i, j): x for i, row in found.to_dicts().items() for j, x in row.items()}
        assert shares.keys() == {(i, j) for i, row in A.to_dicts().items() for j in row}
        for (i, j), x in shares.items():
            assert x == pytest.approx(wanted.get((i, j), wanted.get((j, i))) * (1 if directed else 1))
