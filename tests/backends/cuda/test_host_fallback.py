"""Whole loops that have no kernel: the host computes them and says so, or algorithms run their loop on the device."""

import warnings

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import algorithms as alg, dtypes, fused
from grb_tile.backends.cuda.traversal import bfs as over_rows
from grb_tile.exceptions import HostFallbackWarning, NotImplementedException
from support.graphs import random_graph

LOOPS = {
    "bfs": lambda A: fused.bfs(A, 0, parents=True),
    "bfs_multi": lambda A: fused.bfs_multi(A, [0, 3, 0]),
    "sssp": lambda A: fused.sssp(A, 0, predecessors=True),
    "components": lambda A: fused.components(A),
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
    from grb_tile.backends.cuda.traversal import bfs_multi, components, sssp

    def declines(*_, **__):
        return NotImplemented

    monkeypatch.setattr(over_rows, "MAX_ENTRIES", 10)
    monkeypatch.setattr(sssp, "MAX_ENTRIES", 10)
    backend = shim()
    kept = dict(backend._functions)
    backend._functions["traversal.components", "connected_components"] = declines
    backend._functions["traversal.dispatch", "bfs_multi"] = declines
    assert components and bfs_multi
    request.addfinalizer(lambda: (backend._functions.clear(), backend._functions.update(kept)))
    return matrix(False)


def same(got, want):
    pairs = [(a, b) for a, b in zip(got, want, strict=True) if hasattr(a, "isequal")]
    return all(a.isequal(b, check_dtype=True) for a, b in pairs[:1]) and len(pairs) >= 1


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("unsuited", ["hypersparse", "too large"], indirect=True)
def test_the_host_says_that_it_computes(loop, unsuited):
    want = LOOPS[loop](unsuited)
    with using_shim() as backend:
        backend.detours.clear()
        with pytest.warns(HostFallbackWarning, match=f'^{loop}: backend "cuda" has no kernel for') as caught:
            got = LOOPS[loop](unsuited)
        assert caught[0].filename == __file__  # the caller's line, not one of the library's
        assert backend.detours == {loop: 1}
        plan = next(plan for plan in reversed(gb.explain(0).plans) if plan.operation == loop)
        assert plan.engine in ("numpy", "numba") and "on the host" in plan.note and "on the host" in str(plan)
        assert got.report.engine != backend.name and "on the host" in got.report.note
        assert type(got[0]._store.values) is backend.device.array_class
        backend.detours.clear()
    assert same(got, want)


def test_the_host_gets_every_argument():
    """Of a BFS: the target, the last level, and which of the results are wanted."""
    A = matrix(True)
    far = max(fused.bfs(A, 0)[0].to_dict().values())
    target = next(v for v, level in fused.bfs(A, 0)[0].to_dict().items() if level == 2)
    assert far > 2
    for options in ({"target": target}, {"max_level": 1}, {"levels": False, "parents": True}):
        want = fused.bfs(A, 0, **options)
        with using_shim() as backend, pytest.warns(HostFallbackWarning):
            got = fused.bfs(A, 0, **options)
        backend.detours.clear()
        for mine, wanted in zip(got[:2], want[:2], strict=True):
            assert mine is wanted is None or mine.to_dict().keys() == wanted.to_dict().keys(), options


@pytest.mark.parametrize("loop", LOOPS)
def test_one_warning_a_line(loop):
    A = matrix(True)
    with using_shim() as backend, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(3):
            LOOPS[loop](A)
        backend.detours.clear()
    assert len(caught) == 1


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
    for loop in LOOPS.values():
        assert same(loop(B), loop(A))


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


def test_a_user_defined_type_goes_to_the_host():
    pair = dtypes.register_anonymous(np.dtype([("a", np.int32), ("b", np.float64)]), "Pair")
    A = gb.Matrix.from_coo([0, 1], [1, 2], np.zeros(2, pair.np_type), pair, nrows=3, ncols=3)
    with using_shim() as backend:
        with pytest.warns(HostFallbackWarning, match="Pair"):
            assert fused.bfs(A, 0).levels.to_dict() == {0: 0, 1: 1, 2: 2}
        backend.detours.clear()
