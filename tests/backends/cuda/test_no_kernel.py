"""Whole loops that have no kernel: the backend says so, and algorithms run their loop of calls on the device."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import algorithms as alg, dtypes, graph
from grb_tile.backends.cuda.graph import bfs as over_rows
from grb_tile.exceptions import NotImplementedException
from support.graphs import random_graph

LOOPS = {
    "bfs": lambda A: graph.bfs(A, 0, parents=True),
    "bfs_multi": lambda A: graph.bfs_multi(A, [0, 3, 0]),
    "sssp": lambda A: graph.sssp(A, 0, predecessors=True),
    "components": lambda A: graph.components(A),
}
ALGORITHMS = {
    "bfs": lambda A, method: alg.bfs(A, 0).levels,
    "bfs_multi": lambda A, method: alg.bfs_multi(A, [0, 3, 0]).levels,
    "sssp": lambda A, method: alg.sssp(A, 0, method=method or "auto").distances,
    "components": lambda A, method: alg.connected_components(A, method=method or "auto").labels,
}


def matrix(hypersparse):
    """64 edges on a path of 40 vertices and back, and others; hypersparse: 5,000 vertices, most of them without
    edges."""
    store = random_graph(40, 80, 3, symmetric=False)
    rows = np.repeat(np.arange(40), np.diff(store.indptr))
    n = 5000 if hypersparse else 40
    A = gb.Matrix.from_coo(rows, store.indices, np.arange(rows.size) % 5, "INT32", nrows=n, ncols=n)
    assert (A._store.rows is not None) == hypersparse
    return A


@pytest.fixture
def unsuited(request, monkeypatch):
    """A matrix that is hypersparse, or that has more entries than a kernel counts."""
    if request.param == "hypersparse":
        return matrix(True)
    from grb_tile.backends.cuda.graph import bfs_multi, components, sssp

    def declines(*_, **__):
        return NotImplemented

    monkeypatch.setattr(over_rows, "MAX_ENTRIES", 10)
    monkeypatch.setattr(sssp, "MAX_ENTRIES", 10)
    backend = shim()
    kept = dict(backend._functions)
    backend._functions["graph.components", "connected_components"] = declines
    backend._functions["graph.dispatch", "bfs_multi"] = declines
    assert components and bfs_multi
    request.addfinalizer(lambda: (backend._functions.clear(), backend._functions.update(kept)))
    return matrix(False)


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("unsuited", ["hypersparse", "too large"], indirect=True)
def test_the_device_says_that_it_has_none(loop, unsuited):
    want = ALGORITHMS[loop](unsuited, None)
    with using_shim() as backend:
        backend.detours.clear()
        assert LOOPS[loop](unsuited) is None
        got = ALGORITHMS[loop](unsuited, None)
        assert not backend.detours
    assert got.isequal(want, check_dtype=True)


def test_the_device_gets_every_argument():
    """Of a BFS: the target, the last level, and which of the results are wanted."""
    A = matrix(False)
    levels = alg.bfs(A, 0).levels.to_dict()
    target = next(v for v, level in levels.items() if level == 2)
    assert max(levels.values()) > 2
    for options in ({"target": target}, {"max_level": 1}, {"levels": False, "parents": True}):
        with using_shim():
            found = graph.bfs(A, 0, **options)
        wanted = {
            v for v, level in levels.items() if level <= options.get("max_level", 2 if "target" in options else 99)
        }
        assert (found.levels is None) == ("levels" in options) and (found.parents is None) == ("parents" not in options)
        assert set((found.parents if found.levels is None else found.levels).to_dict()) == wanted, options


@pytest.mark.parametrize("loop", ALGORITHMS)
def test_algorithms_loop_on_the_device_instead(loop):
    A = matrix(True)
    want = ALGORITHMS[loop](A, None)
    with using_shim() as backend:
        backend.detours.clear()
        got = ALGORITHMS[loop](A, None)
        assert not backend.detours
    assert got.isequal(want, check_dtype=True)


def test_predecessors_on_the_device():
    """Hypersparse and not, by the loop and by the kernel, whose tree does not serve where edges weigh 0."""
    for hypersparse in (True, False):
        A = matrix(hypersparse)
        want = alg.sssp(A, 0, predecessors=True)
        with using_shim() as backend:
            backend.detours.clear()
            got = alg.sssp(A, 0, predecessors=True)
            assert got.distances.isequal(want.distances, check_dtype=True) and not backend.detours
            d, p = got.distances.to_dict(), got.predecessors.to_dict()
            assert p.keys() == d.keys() and all(v == 0 or d[u] + A[u, v].new().value == d[v] for v, u in p.items())


def test_a_host_backend_takes_what_a_device_made():
    A = matrix(False)
    with using_shim() as backend:
        there = gb.Matrix.from_coo(*A.to_coo(), nrows=40, ncols=40)
        gb.select.tril(there, 40).new()
        assert type(there._store.values) is not np.ndarray or ("device", backend.device.number) in there._store.forms
        B = gb.unary.identity(there).new()
    for loop in ALGORITHMS.values():
        assert loop(B, None).isequal(loop(A, None), check_dtype=True)


def test_methods_are_honoured_and_reported():
    A, H = matrix(False), matrix(True)
    want = alg.connected_components(A, method="fastsv")
    assert want.report.algorithm == "connected_components (fastsv)"
    with pytest.raises(NotImplementedException, match="afforest.*has no kernel"):
        alg.connected_components(A, method="afforest")
    with pytest.raises(ValueError, match="callback"):
        alg.connected_components(A, method="afforest", callback=print)
    with using_shim() as backend:
        backend.detours.clear()
        for method, ran in (("auto", "afforest"), ("afforest", "afforest"), ("fastsv", "fastsv")):
            found = alg.connected_components(A, method=method)
            assert found.report.algorithm == f"connected_components ({ran})" and found.count == want.count
            assert found.labels.isequal(want.labels)
        with pytest.raises(NotImplementedException, match="afforest.*has no kernel"):
            alg.connected_components(H, method="afforest")
        for method, ran in (("auto", "delta"), ("delta", "delta"), ("bellman_ford", "bellman_ford")):
            found = alg.sssp(A, 0, method=method)
            assert found.report.algorithm == f"sssp ({ran})"
            plan = gb.explain().plans[0]
            assert plan.operation == "sssp" and plan.method == ran and plan.engine == backend.name
        assert not backend.detours


def test_a_user_defined_type_has_no_kernel():
    pair = dtypes.register_anonymous(np.dtype([("a", np.int32), ("b", np.float64)]), "Pair")
    A = gb.Matrix.from_coo([0, 1], [1, 2], np.zeros(2, pair.np_type), pair, nrows=3, ncols=3)
    with using_shim() as backend:
        assert graph.bfs(A, 0) is None
        assert alg.bfs(A, 0).levels.to_dict() == {0: 0, 1: 1, 2: 2}
        backend.detours.clear()
