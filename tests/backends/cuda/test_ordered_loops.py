"""Greedy loops in an order and spanning forests: the kernels run as fibers, against plain loops."""

import numpy as np
import pytest

from cuda_emulation.backend import using_shim
from grb_tile import Matrix, Vector, algorithms, binary, dtypes, graph
from grb_tile.backends import select
from grb_tile.backends.cuda.graph import ordered
from grb_tile.exceptions import DimensionMismatch, IndexOutOfBound
from support import seeds
from support.graph_loops import first_set, greedy, kruskal
from support.graphs import GRAPHS, power_law, random_graph


def rng_of(salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, salt])


CASES = {**GRAPHS, "dense": lambda: random_graph(70, 1900, 7), "hubs": lambda: power_law(1500, 9000, 3)}


@pytest.mark.parametrize("name", CASES)
def test_colours_and_sets_are_those_of_the_loop(name):
    A = CASES[name]()
    rng = rng_of(11)
    order = rng.permutation(A.nrows)
    left_out = rng.random(A.nrows) < 0.1
    with using_shim():
        matrix, given = Matrix._from_store(A, A.dtype), Vector.from_dense(order)
        colour, count = graph.greedy_colours(matrix, given)
        without = Vector.from_coo(np.flatnonzero(left_out), True, size=A.nrows)
        members = graph.independent_set(matrix, given, without)
        colour, members = colour.to_dense(), members.to_coo(values=False)[0]
    wanted = greedy(A, order)
    assert colour.tolist() == wanted.tolist() and count == wanted.max(initial=-1) + 1
    assert members.tolist() == first_set(A, order, left_out).tolist()


def test_more_colours_than_bits(monkeypatch):
    """A complete graph of more vertices than a warp has bits for: the second and third look at the row."""
    monkeypatch.setattr(ordered, "COLOURS", 32)
    n = 70
    i, j = np.nonzero(~np.eye(n, dtype=bool))
    order = rng_of(12).permutation(n)
    with using_shim():
        A = Matrix.from_coo(i, j, True, nrows=n, ncols=n)
        colour, count = graph.greedy_colours(A, Vector.from_dense(order))
        assert count == n and colour.to_dense()[order].tolist() == list(range(n))


@pytest.mark.parametrize("salt", range(6))
def test_spanning_forests(salt):
    """Against Kruskal's algorithm: equal weights, wide keys (ranked by a sort), several trees."""
    rng = rng_of(20 + salt)
    n = int(rng.integers(2, 400))
    m = int(n * rng.uniform(0.3, 4))
    keys = np.unique(rng.integers(0, n, m) * n + rng.integers(0, n, m))
    i, j = keys // n, keys % n
    i, j = i[i < j], j[i < j]
    w = [rng.integers(-3, 4, len(i)), rng.standard_normal(len(i)), rng.random(len(i)).astype(np.float32)][salt % 3]
    maximum = salt >= 3
    with using_shim():
        F, label = graph.spanning_forest(Matrix.from_coo(i, j, w, nrows=n, ncols=n), maximum)
        F, label = F.to_dicts(), label.to_dense()
    kept, tree = kruskal(n, i, j, -w if maximum else w)
    wanted = {}
    for e in kept:
        wanted.setdefault(int(i[e]), {})[int(j[e])] = w[e]
    assert F == wanted and label.tolist() == tree.tolist()


def test_a_chain_of_ascending_weights():
    """Every vertex hooks onto the one before: one tree whose chain is as long as the graph."""
    n = 700
    with using_shim():
        U = Matrix.from_coo(np.arange(n - 1), np.arange(1, n), np.arange(n - 1), nrows=n, ncols=n)
        F, label = graph.spanning_forest(U)
        assert F.nvals == n - 1 and not label.to_dense().any()


def test_a_matrix_of_a_user_defined_type():
    """It has no form on the device: the caller's own loop runs, and not the host's, which writes NumPy's arrays."""
    i, j = np.nonzero(~np.eye(5, dtype=bool))
    pairs = dtypes.register_anonymous(np.dtype([("a", np.int32), ("b", np.float32)]))
    with using_shim() as backend:
        A = Matrix.from_coo(i, j, np.zeros(i.size, pairs.np_type), pairs, nrows=5, ncols=5)
        backend.detours.clear()
        assert graph.greedy_colours(A, Vector.from_dense(np.arange(5))) is None
        assert graph.independent_set(A, Vector.from_dense(np.arange(5)), Vector(bool, 5)) is None
        assert not backend.detours
        assert algorithms.coloring(A).count == 5 and algorithms.maximal_independent_set(A).count == 1


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
@pytest.mark.sampled(1)
def test_bad_operands(backend):
    """Kernels would wait for ever for a vertex that is not in the order, and loops write beyond their arrays."""
    with using_shim(), select.using(backend):
        A = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
        long, none = Matrix.from_coo([0, 2], [8, 5], nrows=3, ncols=9), Vector(bool, 3)
        for order in ([0, 0, 1], [0, 1, 3], [-1, 1, 2], [0, 1, 2**40]):
            for call in (graph.greedy_colours, lambda A, order: graph.independent_set(A, order, none)):
                with pytest.raises(ValueError, match="order: expected each of the 3 vertices once"):
                    call(A, Vector.from_dense(order))
        for change in (lambda x: x(binary.min) << 1, lambda x: x.__setitem__(0, x[1].new()), lambda x: x.resize(2)):
            order = graph.random_order(3, 7)
            change(order)  # it was known to have each vertex once
            with pytest.raises((ValueError, DimensionMismatch), match="order: expected"):
                graph.greedy_colours(A, order)
        order = Vector.from_dense([0, 1, 2])
        with pytest.raises(ValueError, match="order: expected each"):
            graph.greedy_colours(A, Vector.from_coo([0, 1], [0, 1], size=3))
        with pytest.raises(DimensionMismatch, match="order: expected a Vector of size 3, got 2"):
            graph.greedy_colours(A, Vector.from_dense([0, 1]))
        with pytest.raises(DimensionMismatch, match="left_out"):
            graph.independent_set(A, order, Vector(bool, 4))
        for call in (
            lambda: graph.greedy_colours(long, order), lambda: graph.spanning_forest(long),
            lambda: graph.dependencies(long, [0]), lambda: graph.distances(long, [0]),
            lambda: graph.strong_components(long),
        ):  # fmt: skip
            with pytest.raises(DimensionMismatch, match="A is 3 x 9"):
                call()
        for call in (graph.dependencies, graph.distances):
            for source in (-1, 3):
                with pytest.raises(IndexOutOfBound, match=f"sources has {source}; expected vertices 0 to 2"):
                    call(A, [source])
        assert graph.greedy_colours(A, Vector.from_dense(np.array([2, 1, 0], np.int8))) is not None or backend == "cpu"
