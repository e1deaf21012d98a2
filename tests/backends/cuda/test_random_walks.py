"""Random walks: the kernels run as fibers draw what NumPy draws, number for number."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile import algorithms as alg
from support import seeds
from support.graph_loops import edges as entries
from support.graphs import GRAPHS, random_graph

BIASES = [
    (1.0, 1.0),
    (0.25, 4.0),
    (4.0, 0.5),
    (30.0, 0.02),
    (1e-3, 1.0),
    (50.0, 30.0),
    (5e-324, 1e300),
    (1e300, 1e-300),
]


def both(A, starts, length, **options):
    """(of the kernels, of NumPy)"""
    with using_shim() as backend:
        backend.detours.clear()
        found = alg.random_walks(A.dup(), starts, length, **options)
        assert not backend.detours
    return found, alg.random_walks(A, starts, length, **options)


def weighted_matrix(A, dtype, rng):
    rows, cols = entries(A)
    weights = 10.0 ** rng.integers(-300, 300, rows.size) if dtype == "wide" else rng.integers(0, 4, rows.size)
    return gb.Matrix.from_coo(rows, cols, weights.astype(np.float64 if dtype == "wide" else dtype), nrows=A.nrows,
                              ncols=A.nrows)  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize(("p", "q"), BIASES)
def test_steps(name, p, q):
    A = GRAPHS[name]()
    rows, cols = entries(A)
    A = gb.Matrix.from_coo(rows, cols, nrows=A.nrows, ncols=A.nrows)
    starts = np.arange(0, A.nrows, max(1, A.nrows // 100))
    for restart in (0.0, 0.3):
        found, wanted = both(A, starts, 9, p=p, q=q, restart=restart, seed=seeds.SEED)
        assert found.walks.dtype == np.int64 and (found.walks == wanted.walks).all()
        assert found.report.stopped_by == "length" and found.report.converged is True
        assert [row["walks"] for row in found.report.rounds] == [row["walks"] for row in wanted.report.rounds]


@pytest.mark.parametrize(("p", "q"), BIASES)
@pytest.mark.parametrize("dtype", ["wide", "float32", "int16", "bool", "uint64"])
def test_weights(dtype, p, q):
    """Also weights of 0, alone in a row and beside others."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 31])
    A = weighted_matrix(random_graph(150, 700, 32, False), dtype, rng)
    found, wanted = both(A, np.arange(150), 7, weighted=True, p=p, q=q, seed=1)
    assert (found.walks == wanted.walks).all() and found.report.weighted


def test_rows_longer_than_a_warp_reads_at_once():
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 33])
    to = np.concatenate([rng.permutation(400)[:size] for size in (31, 32, 33, 64, 65, 399)])
    rows = np.repeat(np.arange(6), (31, 32, 33, 64, 65, 399))
    A = gb.Matrix.from_coo(rows, to, rng.random(rows.size), nrows=400, ncols=400)
    starts = np.repeat(np.arange(6), 50)
    found, wanted = both(A, starts, 2, weighted=True, seed=2)
    assert (found.walks == wanted.walks).all() and (found.walks[:, 1] >= 0).all()


def test_one_weight_for_all():
    """An iso matrix, and a full one."""
    A = gb.Matrix.from_coo([0, 0, 1, 2, 2, 2], [1, 2, 0, 0, 1, 2], 0.25, nrows=3, ncols=3)
    found, wanted = both(A, [0, 1, 2] * 9, 5, weighted=True, seed=3)
    assert (found.walks == wanted.walks).all()
    found, wanted = both(gb.Matrix.from_dense(np.ones((4, 4))), [0, 1, 2, 3] * 9, 5, p=0.5, seed=3)
    assert (found.walks == wanted.walks).all()


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_weights_that_are_refused(bad):
    A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.0, bad, 1.0], nrows=4, ncols=4)
    with using_shim(), pytest.raises(ValueError, match="weighted=True: expected finite weights >= 0, got .* vertex 2"):
        alg.random_walks(A, [0], 2, weighted=True, seed=1)
    with using_shim(), pytest.raises(TypeError, match="weights must be real"):
        alg.random_walks(A.dup("FC64"), [0], 2, weighted=True, seed=1)


def test_none_and_ends():
    A = gb.Matrix.from_coo([0, 1], [1, 2], nrows=4, ncols=4)
    for starts, length in (([], 3), ([0, 3], 0), ([0, 3, 2], 4)):
        found, wanted = both(A, starts, length, seed=4)
        assert found.walks.shape == (len(starts), length + 1) and (found.walks == wanted.walks).all()
    with using_shim():
        for starts in ([-1], [0, 4]):
            with pytest.raises(IndexError, match="starts: expected vertices from 0 to 3"):
                gb.graph.random_walks(A, starts, 2, seed=1)
        with pytest.raises(gb.exceptions.DimensionMismatch):
            gb.graph.random_walks(gb.Matrix(bool, 2, 3), [0], 2, seed=1)
        hypersparse = gb.Matrix.from_coo([5, 2**40], [2**40, 5], nrows=2**41, ncols=2**41)
        assert gb.graph.random_walks(hypersparse, [5], 2, seed=1) is None
    assert gb.graph.random_walks(A, [0], 2, seed=1) is None  # on the CPU


def test_a_callback_steps_in_numpy():
    A, seen = gb.Matrix.from_coo([0, 1], [1, 0], nrows=2, ncols=2), []
    with using_shim():
        found = alg.random_walks(A, [0], 5, seed=1, callback=lambda record: seen.append(record) or len(seen) == 2)
    assert found.walks.tolist() == [[0, 1, 0, -1, -1, -1]] and found.report.stopped_by == "callback"
