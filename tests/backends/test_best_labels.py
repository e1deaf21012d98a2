"""best_labels and the compositions of graph.py: every backend gives what the reference backend's plain loops give."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import graph
from grb_tile.backends.cpu.graph import compiled
from grb_tile.backends.cpu.jit import cache as jit
from support import seeds

SEEDS = range(12)


@pytest.fixture(params=["compiled", "composed"])
def way(request):
    if request.param == "composed":
        with gb.plan(force="numpy"):
            yield request.param
    else:
        for name, constants in compiled.KERNELS:
            assert name != "best_label" or jit.plain_kernel(name, **constants).load() is not None
        yield request.param


def operands(seed):
    """(A with entries -2 .. 3, full labels, some labels, u, v, w): small integers, so that sums are exact and tie."""
    rng = np.random.default_rng(seeds.SEED * 1000 + seed)
    n = int(rng.integers(1, 30))
    m = int(rng.integers(0, 5 * n))
    i, j = rng.integers(0, n, (2, m))
    values = rng.integers(-2, 4, m).astype(float)
    A = gb.Matrix.from_coo(i, j, values, nrows=n, ncols=n, dup_op=gb.binary.first)
    labels = gb.Vector.from_dense(rng.integers(0, n, n))
    some = np.flatnonzero(rng.random(n) < 0.6)
    part = gb.Vector.from_coo(some, rng.integers(0, n, some.size), gb.dtypes.INT64, size=n)
    return A, labels, part, *(gb.Vector.from_dense(rng.integers(0, 3, n).astype(float)) for _ in range(3))


def on_reference(call):
    with gb.plan(force="reference"):
        return call()


@pytest.mark.parametrize("seed", SEEDS)
def test_mode(seed, way):
    A, labels, part, *_ = operands(seed)
    for x in (labels, part):
        for weighted in (False, True):
            expected = on_reference(lambda x=x, weighted=weighted: graph.mode(A, x, weighted=weighted))
            assert graph.mode(A, x, weighted=weighted).to_dict() == expected.to_dict()


@pytest.mark.parametrize("seed", SEEDS)
def test_best_move(seed, way):
    A, labels, _, u, v, w = operands(seed)
    expected = on_reference(lambda: graph.best_move(A, labels, u, v, w))
    for ours, theirs in zip(graph.best_move(A, labels, u, v, w), expected, strict=True):
        assert ours.to_dict() == theirs.to_dict()


@pytest.mark.parametrize("seed", SEEDS)
def test_best_move_of_some_rows(seed, way):
    A, labels, part, *uvw = operands(seed)
    whole = [x.to_dict() for x in graph.best_move(A, labels, *uvw)]
    some = graph.best_move(A, labels, *uvw, rows=part)
    for ours, theirs in zip(some, whole, strict=True):
        assert ours.to_dict() == {i: theirs[i] for i in part.to_dict()}
    for ours, theirs in zip(some, on_reference(lambda: graph.best_move(A, labels, *uvw, rows=part)), strict=True):
        assert ours.to_dict() == theirs.to_dict()


@pytest.mark.parametrize("seed", SEEDS)
def test_sum_of_own(seed, way):
    A, labels, *_ = operands(seed)
    label = labels.to_dense()
    expected = np.zeros(A.nrows)
    i, j, x = A.to_coo()
    np.add.at(expected, i.astype(int), np.where(label[i.astype(int)] == label[j.astype(int)], x, 0.0))
    assert graph.sum_of_own(A, labels).to_dense().tolist() == expected.tolist()


@pytest.mark.parametrize("seed", SEEDS)
def test_mex(seed, way):
    A, _, part, *_ = operands(seed)
    colours = gb.Vector.from_coo(*(x[: part.nvals] for x in part.to_coo()), size=A.nrows)
    colours << colours * 40  # several words of 64 colours
    colour = colours.to_dict()
    near = [
        {colour[j] for j in row if j in colour} for row in map(dict, (A.to_dicts().get(i, {}) for i in range(A.nrows)))
    ]
    expected = {i: next(c for c in range(10**6) if c not in used) for i, used in enumerate(near)}
    assert graph.mex(A, colours).to_dict() == expected
    masked = graph.mex(A, colours, mask=part.S).to_dict()
    assert masked == {i: expected[i] for i in part.to_dict()}


def test_mex_beyond_a_word(way):
    n = 200
    A = gb.Matrix.from_coo(np.zeros(n, int), np.arange(n), nrows=2, ncols=n)
    colours = gb.Vector.from_dense(np.arange(n))
    assert graph.mex(A, colours).to_dict() == {0: n, 1: 0}
    assert graph.mex(A, gb.Vector.from_dense(np.delete(np.arange(n + 1), 130))).to_dict() == {0: 130, 1: 0}


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "FP32"])
def test_types_and_one_value(dtype, way):
    A = gb.Matrix.from_coo([0, 0, 0, 1], [0, 1, 2, 2], 1, dtype, nrows=3, ncols=3)  # iso
    labels = gb.Vector.from_dense([2, 1, 1])
    assert graph.mode(A, labels).to_dict() == {0: 1, 1: 1}
    assert graph.mode(A, labels, weighted=True).to_dict() == {0: 1, 1: 1}


@pytest.mark.parametrize("wrong", [-7, -1, 3, 2**32])
def test_labels_out_of_range(wrong, way):
    """The compiled loop has a sum for each label 0 .. n - 1: another label must not reach it."""
    A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], 1.0, nrows=3, ncols=3)
    labels, ones = gb.Vector.from_dense([0, 1, wrong]), gb.Vector.from_dense(np.ones(3))
    for call in (lambda: graph.mode(A, labels), lambda: graph.best_move(A, labels, ones, ones, ones)):
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=str(wrong)):
            call()


def check_operands(backend):
    """Other types are cast, other sizes and positions without an entry are refused."""
    with gb.backends.select.using(backend):
        A = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], 1, nrows=3, ncols=3)
        small, labels = gb.Vector.from_dense(np.array([0, 1, 1], np.int8)), gb.Vector.from_dense([0, 1, 1])
        ones = gb.Vector.from_dense(np.ones(3, np.float32))
        assert graph.mode(A, small).to_dict() == {0: 1, 1: 1}
        assert graph.mex(A, small).to_dict() == {0: 0, 1: 0, 2: 0}
        assert graph.best_move(A, small, ones, ones, ones)[0].to_dict() == {0: 1, 1: 1, 2: 1}
        part, longer = gb.Vector.from_coo([1], [1], size=3), gb.Vector.from_dense([0, 1, 1, 2])
        for wrong, error, text in (
            (ones, TypeError, "labels: expected INT64, got FP32"),
            (longer, gb.exceptions.DimensionMismatch, "labels: expected a Vector of size 3, got 4"),
            (part, ValueError, "labels: expected an entry at each of the 3 positions, got 1"),
        ):
            for call in (graph.mode, graph.sum_of_own):
                if call is graph.sum_of_own or wrong is not part:
                    with pytest.raises(error, match=text):
                        call(A, wrong)
        with pytest.raises(gb.exceptions.DimensionMismatch, match="colours: expected"):
            graph.mex(A, longer)
        with pytest.raises(ValueError, match="w: expected an entry"):
            graph.best_move(A, labels, ones, ones, part)
        with pytest.raises(gb.exceptions.DimensionMismatch, match="rows: expected"):
            graph.best_move(A, labels, ones, ones, ones, rows=longer)
        with pytest.raises(gb.exceptions.DimensionMismatch, match="A: expected a square matrix, got 3 x 2"):
            graph.best_move(A[:, :2].new(), labels, ones, ones, ones)


def test_operands(way):
    check_operands("cpu")


def test_operands_on_a_device():
    from cuda_emulation.backend import shim

    shim()
    check_operands("cuda")
