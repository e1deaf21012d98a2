"""Passes of several element-wise operations: every backend against NumPy, formats of operands, sums as operands."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.backends import select
from support import seeds


@gb.graph.one_pass
def step(x, y, z, a):
    t = (a * x + y).max(-0.5) / (abs(z) + 2.0)
    return t, (t - x).sum(), -(t.min(y)), (t * t).sum(), (t - 9.0).max()


@gb.graph.one_pass
def scaled(x, total):
    return x / total.sqrt()


def operands(rng, n, dtype):
    """(vectors of several formats, the same as dense arrays)"""
    dense = [rng.standard_normal(n).astype(dtype.np_type) for _ in range(2)]
    at = np.flatnonzero(rng.random(n) < 0.4)
    part = np.zeros(n, dtype.np_type)
    part[at] = dense[1][at]
    few = np.zeros(n, dtype.np_type)
    few[: n // 50 + 1] = 3
    vectors = [
        gb.Vector.from_dense(dense[0]),
        gb.Vector.from_coo(at, part[at], size=n),
        gb.Vector.from_scalar(1.5, n, dtype),
        gb.Vector.from_coo(np.arange(n // 50 + 1), 3, dtype, size=n),
    ]
    return vectors, [dense[0], part, np.full(n, 1.5, dtype.np_type), few]


def check(n, dtype):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, n])
    vectors, dense = operands(rng, n, dtype)
    for i, j, k in ((0, 1, 2), (3, 0, 1), (2, 2, 0)):
        t, change, least, norm, greatest = step(vectors[i], vectors[j], vectors[k], 0.25)
        x, y, z = dense[i].astype(float), dense[j].astype(float), dense[k].astype(float)
        wanted = np.maximum(0.25 * x + y, -0.5) / (np.abs(z) + 2)
        rel = 1e-5 if dtype is gb.dtypes.FP32 else 1e-12
        assert t.nvals == n and np.allclose(t.to_dense(), wanted, rel, rel)
        assert np.allclose(least.to_dense(), -np.minimum(wanted, y), rel, rel)
        assert change.value == pytest.approx((wanted - x).sum(), rel=rel, abs=rel * n)
        assert np.allclose(scaled(t, norm).to_dense(), wanted / np.sqrt((wanted**2).sum()), rel, rel)
        assert greatest.value == pytest.approx(wanted.max() - 9, rel=rel)
        assert norm.send().value == pytest.approx((wanted**2).sum(), rel=rel) and norm.is_ready


@pytest.mark.parametrize(
    ("backend", "dtype"),
    [
        ("cpu", "FP32"), ("cpu", "FP64"), ("numpy", "FP32"), ("reference", "FP64"), ("cuda", "FP64"),
        pytest.param("cuda", "FP32", marks=pytest.mark.slow),
    ],
)  # fmt: skip
@pytest.mark.sampled(1)
def test_a_pass_is_what_its_operations_are(backend, dtype):
    for n in (1, 130, 40000 if backend != "cuda" else 3000):
        if backend == "cuda":
            with using_shim():
                check(n, getattr(gb.dtypes, dtype))
        else:
            with select.using(backend):
                check(n, getattr(gb.dtypes, dtype))


def test_a_sum_is_ready_once_it_is_on_the_host():
    """Not before it was asked for; on the host it is ready at once."""
    x = gb.Vector.from_dense(np.arange(5.0))
    total = gb.graph.one_pass(lambda v: (v * v).sum())
    with using_shim():
        sent, read = total(x), total(x)
        assert not sent.is_ready and not read.is_ready
        assert sent.send().value == read.value == 30
        assert sent.is_ready and read.is_ready
    assert total(x).is_ready


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
@pytest.mark.sampled(1)
def test_the_maximum_of_no_position_and_of_nan(backend):
    greatest = gb.graph.one_pass(lambda v: v.max())
    with using_shim() if backend == "cuda" else select.using(backend):
        assert greatest(gb.Vector(float, 0)).value == -np.inf
        assert greatest(gb.Vector.from_dense([-3.0, np.nan, -7.0])).value == -3


def test_bad_operands():
    x = gb.Vector.from_dense([1.0, 2.0])
    with pytest.raises(gb.exceptions.DimensionMismatch, match="sizes"):
        step(x, x, gb.Vector.from_dense([1.0]), 1)
    with pytest.raises(TypeError, match="FP32 or all of FP64"):
        step(x, x, gb.Vector.from_dense([1, 2]), 1)
    with pytest.raises(TypeError, match="one Vector at least"):
        scaled(1.0, 2.0)
    with pytest.raises(ValueError, match="finite constants"):
        gb.graph.one_pass(lambda v: v * float("inf"))(x)
    with pytest.raises(TypeError, match="computed from its operands"):
        gb.graph.one_pass(lambda v: (v, 3))(x)
    with pytest.raises(ValueError, match="at most"):
        gb.graph.one_pass(lambda *v: v[0] + v[6])(*[x] * 7)
    with pytest.raises(TypeError, match="cannot branch"):
        gb.graph.one_pass(lambda v: v if v else -v)(x)
    for other in ("abc", None, 2j, x + x, gb.Matrix(float, 2, 2)):
        with pytest.raises(TypeError, match=f"real numbers and Totals, got {type(other).__name__}"):
            step(x, x, x, other)
