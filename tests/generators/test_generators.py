"""Generators: their graphs against formulas and plain loops, one graph for one seed on the CPU and on a device."""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from cuda_emulation.backend import shim, using_shim
from grb_tile import edge_draws, generators
from grb_tile.backends import select
from grb_tile.cli import generate
from grb_tile.exceptions import OutOfMemory
from grb_tile.storage import place
from support import seeds

MAKERS = {
    "kronecker": lambda **options: generators.kronecker(7, 4, **options),
    "directed kronecker": lambda **options: generators.kronecker(6, directed=True, **options),
    "rmat": lambda **options: generators.rmat(6, 5, 0.3, 0.3, 0.2, **options),
    "uniform": lambda **options: generators.uniform_random(90, 400, **options),
    "directed uniform": lambda **options: generators.uniform_random(90, 400, directed=True, **options),
    "grid": lambda **options: generators.grid(5, 3, 4, diagonals=True, **options),
}
DIRECTED = {"directed kronecker", "rmat", "directed uniform"}


def scipy_of(A):
    store = A._store
    values = np.broadcast_to(store.values, store.nvals) if store.iso else store.values
    return scipy.sparse.csr_array((values.astype(float), store.indices, store.indptr), shape=A.shape)


@pytest.mark.parametrize("kind", MAKERS)
def test_graphs_are_well_formed(kind):
    A = scipy_of(MAKERS[kind](seed=seeds.SEED))
    assert A.nnz and A.has_canonical_format and not A.diagonal().any()
    assert ((A != A.T).nnz == 0) == (kind not in DIRECTED)


@pytest.mark.parametrize("kind", MAKERS)
def test_one_seed_one_graph_and_weights_do_not_change_it(kind):
    first, again, other = (scipy_of(MAKERS[kind](seed=seed)) for seed in (1, 1, 2))
    assert np.array_equal(first.indices, again.indices) and np.array_equal(first.indptr, again.indptr)
    if kind != "grid":
        assert not np.array_equal(first.indptr, other.indptr)
    weighted = scipy_of(MAKERS[kind](seed=1, weights=(1, 255)))
    assert np.array_equal(first.indices, weighted.indices) and np.array_equal(first.indptr, weighted.indptr)


def test_a_seed_keeps_its_graph():
    """Figures of one seed are compared with later ones."""
    store = generators.kronecker(9, 8, seed=1)._store
    assert (store.nvals, int(np.diff(store.indptr).max()), store.indices[:3].tolist()) == (5682, 202, [109, 453, 11])


@pytest.mark.sampled(3)
@pytest.mark.parametrize("backend", ["cpu", "shim"])
@pytest.mark.parametrize("together", [1, 7, 100, 333])
@pytest.mark.parametrize("kind", sorted(set(MAKERS) - {"grid"}))
def test_keys_that_are_sorted_in_parts_make_the_same_graph(kind, together, backend, monkeypatch):
    wanted = scipy_of(MAKERS[kind](seed=seeds.SEED, weights=(1, 9)))
    monkeypatch.setattr(generators, "TOGETHER", together)
    with using_shim() if backend == "shim" else select.using("cpu"):
        made = MAKERS[kind](seed=seeds.SEED, weights=(1, 9))
    found = scipy_of(type(made)._from_store(place.host(made._store), made.dtype))
    assert (found.indptr.tolist(), found.indices.tolist()) == (wanted.indptr.tolist(), wanted.indices.tolist())
    assert found.data.tolist() == wanted.data.tolist()


@pytest.mark.parametrize("call", ["rmat", "uniform_random"])
def test_graphs_that_do_not_fit_are_refused_before_they_are_made(call):
    with pytest.raises(OutOfMemory, match=f"{call}: .* entries before.* bytes needed, .* free.*Give fewer vertices"):
        generators.rmat(30, 1024) if call == "rmat" else generators.uniform_random(2**31, 2**40)


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("dtype", ["INT64", "UINT8", "FP32", "FP64"])
def test_weights_fill_their_range_and_both_directions_agree(kind, dtype):
    A = MAKERS[kind](seed=seeds.SEED, weights=(3, 7), dtype=dtype)
    values = A.to_coo(rows=False, columns=False)[2]
    assert A.dtype.name == dtype
    if dtype.startswith("FP"):
        assert 3 <= values.min() < 3.3 and 6.7 < values.max() <= 7
    else:
        assert set(values.tolist()) == {3, 4, 5, 6, 7}
    if kind not in DIRECTED:
        W = scipy_of(A)
        assert (W != W.T).nnz == 0


def test_quadrants_of_rmat_have_their_probabilities():
    bounds = [round(share * 65536) for share in (0.57, 0.76, 0.95)]
    rows, cols = edge_draws.quadrants(np, 0, 1 << 15, 5, 12, bounds)
    for bit in range(12):
        upper, left = rows >> bit & 1 == 0, cols >> bit & 1 == 0
        for share, held in ((0.57, upper & left), (0.19, upper & ~left), (0.19, ~upper & left), (0.05, ~upper & ~left)):
            assert abs(held.mean() - share) < 0.015, bit


def test_shuffled_vertices_are_a_permutation():
    plain, shuffled = (generators.rmat(7, directed=False, shuffle=shuffle, seed=3) for shuffle in (False, True))
    degrees = [np.sort(np.diff(A._store.indptr)) for A in (plain, shuffled)]
    assert np.array_equal(*degrees) and not plain.isequal(shuffled)


def test_uniform_random_edges_are_uniform():
    A = scipy_of(generators.uniform_random(64, 1 << 16, directed=True, seed=seeds.SEED))
    assert A.nnz == 64 * 63, "65,536 draws of 4,096 pairs miss one with a probability of 5e-4"
    degrees = np.diff(generators.uniform_random(1 << 12, 1 << 16, seed=seeds.SEED)._store.indptr)
    assert abs(degrees.mean() - 32) < 1 and abs(degrees.var() - 32) < 5, "Poisson's variance is its mean"


@pytest.mark.parametrize("sides", [(7,), (5, 5), (4, 3), (2, 3, 4), (1,), (1, 6)])
def test_grids_are_those_of_networkx(sides):
    expected = nx.grid_graph(sides[::-1])
    nodes = list(itertools.product(*map(range, sides))) if len(sides) > 1 else list(range(sides[0]))
    A = scipy_of(generators.grid(*sides))
    assert (A != nx.to_scipy_sparse_array(expected, nodelist=nodes)).nnz == 0


@pytest.mark.parametrize("sides", [(5, 4), (3, 3, 3)])
def test_grids_with_diagonals_join_what_differs_by_one(sides):
    places = np.array(list(itertools.product(*map(range, sides))))
    apart = np.abs(places[:, None] - places[None]).max(axis=2)
    assert np.array_equal(scipy_of(generators.grid(*sides, diagonals=True)).toarray() != 0, apart == 1)


def test_meshes_are_what_the_formula_says():
    side = 4
    T = scipy.sparse.diags_array([np.ones(side - 1), np.ones(side), np.ones(side - 1)], offsets=[-1, 0, 1])
    mesh = scipy.sparse.kron(scipy.sparse.kron(scipy.sparse.kron(T, T), T), np.ones((3, 3)))
    assert (scipy_of(generators.brick_mesh(side)) != mesh).nnz == 0


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("radius", [0.05, 0.2, 1.5])
def test_points_within_the_radius_are_joined(dimension, radius):
    seed = seeds.SEED
    points = generators.random_points(130, dimension, seed=seed)
    assert points.shape == (130, dimension) and 0 <= points.min() and points.max() < 1 and 0.4 < points.mean() < 0.6
    apart = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2))
    near = (apart <= radius) & ~np.eye(130, dtype=bool)
    assert np.array_equal(scipy_of(generators.random_geometric(130, radius, dimension, seed=seed)).toarray() != 0, near)
    lengths = scipy_of(generators.random_geometric(130, radius, dimension, distances=True, seed=seed)).toarray()
    assert np.allclose(lengths, np.where(near, apart, 0), rtol=1e-14, atol=0)


def test_more_edges_than_are_drawn_at_a_time(monkeypatch):
    makers = [*MAKERS.values(), lambda **options: generators.random_geometric(200, 0.2, distances=True, **options)]
    whole = [make(seed=5) for make in makers]
    said = []
    monkeypatch.setattr(generators, "CHUNK", 37)
    assert all(make(seed=5).isequal(A) for make, A in zip(makers, whole))
    assert generators.grid(6, 7, weights=(1, 99)).nvals and generators.uniform_values(100, 3, np.float32).shape == (
        100,
    )
    generators.uniform_random(50, 100, progress=said.append)
    assert said == ["making edges: 37 %", "making edges: 74 %", "making edges: 100 %"]


@pytest.mark.parametrize("kind", [*MAKERS, "geometric", "mesh"])
def test_graphs_on_a_device_are_those_of_the_cpu(kind):
    def made():
        if kind == "geometric":
            return generators.random_geometric(60, 0.3, distances=True, seed=3)._store
        return generators.brick_mesh(3)._store if kind == "mesh" else MAKERS[kind](seed=3, weights=(1, 9))._store

    with select.using("cpu"):
        here, numbers = made(), generators.uniform_values(100, 3, np.float32)
    with using_shim():
        there, drawn = made(), generators.uniform_values(100, 3, np.float32)
    assert isinstance(there.indices, shim().device.array_class)
    there = place.host(there)
    assert all(np.array_equal(getattr(here, part), getattr(there, part)) for part in ("indptr", "indices", "values"))
    assert np.array_equal(place.host_array(drawn), numbers)


def test_values_are_spread_over_their_range():
    values = generators.uniform_values(5000, 3, np.float32)
    assert values.dtype == np.float32 and 0.5 <= values.min() < 0.51 and 1.49 < values.max() < 1.5
    assert np.array_equal(values, generators.uniform_values(5000, 3, np.float64)), "the same numbers in both precisions"


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: generators.kronecker(31), ValueError, "scale: expected 1 to 30, got 31"),
        (lambda: generators.kronecker(5.0), TypeError, "scale: expected a whole number, got 5.0"),
        (lambda: generators.kronecker(5, 0), ValueError, "edge_factor"),
        (lambda: generators.kronecker(5, seed=-1), ValueError, "seed"),
        (lambda: generators.rmat(5, a=1.2), ValueError, "a: expected a probability"),
        (lambda: generators.rmat(5, a=0.8, b=0.3), ValueError, r"a \+ b \+ c"),
        (lambda: generators.uniform_random(0, 3), ValueError, "n: expected 1"),
        (lambda: generators.uniform_random(3, -1), ValueError, "nedges"),
        (lambda: generators.uniform_random(9, 9, weights=5), TypeError, r"weights: expected \(low, high\)"),
        (lambda: generators.uniform_random(9, 9, weights=(5, 1)), ValueError, "low <= high"),
        (lambda: generators.uniform_random(9, 9, weights=(0.5, 1)), ValueError, "whole numbers"),
        (lambda: generators.uniform_random(9, 9, weights=(0, 300), dtype="INT8"), ValueError, "wider dtype"),
        (lambda: generators.uniform_random(9, 9, weights=(0, 3), dtype="FC64"), TypeError, "integer or floating-point"),
        (lambda: generators.uniform_random(9, 9, dtype="FP64"), ValueError, "pass weights"),
        (lambda: generators.uniform_random(9, 9, weights=(float("nan"), 1), dtype="FP64"), ValueError, "low <= high"),
        (lambda: generators.grid(3, weights=(0, float("inf")), dtype="FP64"), ValueError, "finite numbers"),
        (lambda: generators.grid(3, weights=(0, float("inf"))), ValueError, "whole numbers"),
        (lambda: generators.grid(3, weights=(-1.7e308, 1.7e308), dtype="FP64"), ValueError, "farther apart"),
        (lambda: generators.grid(3, weights=(0, 1e300), dtype="FP32"), ValueError, "FP32"),
        (lambda: generators.grid(3, weights=(-(2**63), 2**63 - 1)), ValueError, "2\\^63"),
        (lambda: generators.grid(3, weights=(2**63, 2**63 + 9), dtype="UINT64"), ValueError, "2\\^63"),
        (lambda: generators.grid(3, weights=(1, 2, 3)), TypeError, "low, high"),
        (lambda: generators.grid(3, weights=("a", "b")), TypeError, "low, high"),
        (lambda: generators.grid(), ValueError, "at least one number"),
        (lambda: generators.grid(0, 3), ValueError, "sides"),
        (lambda: generators.grid(1 << 20, 1 << 20), ValueError, "2\\^31"),
        (lambda: generators.brick_mesh(0), ValueError, "side"),
        (lambda: generators.random_geometric(5, 0), ValueError, "radius"),
        (lambda: generators.random_geometric(5, float("nan")), ValueError, "radius"),
        (lambda: generators.random_geometric(5, 0.1, 4), ValueError, "dimension"),
    ],
)
def test_bad_arguments_are_named(call, error, says):
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize(
    ("text", "n"),
    [("kron:9", 512), ("kron:7:3", 128), ("uniform:6:2", 64), ("grid:7", 49), ("grid:1", 1), ("fem:2", 24)],
)
def test_graphs_of_the_command_line(text, n):
    A = scipy_of(generate.matrix(text, 1))
    assert A.shape == (n, n) and (A != A.T).nnz == 0
