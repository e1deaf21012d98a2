"""SpMM with operands rounded to FP16, BF16 and TF32: what is rounded, within the bound; and what stays exact."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.planner import tuning
from support.seeds import generator

FORMS = {"fp16": 11, "bf16": 8, "tf32": 11}  # bits of the significand
SHAPE = 44, 90  # windows of 16 rows, the last one of 12, and more columns than a chunk of tiles has


def values_of(rng, shape):
    """Values that all of the types can represent."""
    return (rng.choice([-1, 1], shape) * rng.uniform(0.01, 2, shape)).astype(np.float32)


def operands(rng, n):
    """(A, X, their arrays): a full row, two rows without entries and a window without."""
    present = rng.random(SHAPE) < 0.4
    present[3], present[[5, 40]], present[16:32] = True, False, False
    a = np.where(present, values_of(rng, SHAPE), np.float32(0))
    x = values_of(rng, (SHAPE[1], n))
    i, j = np.nonzero(present)
    A = gb.Matrix.from_coo(i, j, a[i, j], "FP32", nrows=SHAPE[0], ncols=SHAPE[1])
    return A, gb.Matrix.from_dense(x, dtype="FP32"), a, x


def product(A, X, form, semiring="plus_times"):
    """(A X on the device after enough products for the tiles to be made, what explain() says)"""
    with using_shim(), gb.config.set(matmul_precision=form):
        for _ in range(tuning.BUILD_AFTER + 1):
            C = A.mxm(X, semiring).new()
        return C, str(gb.explain())


def rounded(values, bits):
    """To nearest, ties to even, `bits` bits of significand."""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    return np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits)


def exact(A, X):
    with gb.plan(force="numpy"):
        return A.mxm(X, "plus_times").new()


@pytest.mark.parametrize(("form", "n"), [("fp16", 64), ("fp16", 16), ("bf16", 32), ("tf32", 64), ("tf32", 16)])
def test_operands_are_rounded(form, n):
    A, X, a, x = operands(generator("spmm rounded", form, str(n)), n)
    found, said = product(A, X, form)
    assert f"matmul_precision={form}: A and X rounded" in said
    wanted, bits = exact(A, X), FORMS[form]
    i, j, values = found.to_coo()
    assert np.array_equal(np.stack((i, j)), np.stack(wanted.to_coo(values=False)[:2]))
    of_rounded = (rounded(a, bits) @ rounded(x, bits))[i, j]
    size, m = (np.abs(a) @ np.abs(x))[i, j], np.count_nonzero(a, axis=1)[i]
    assert (np.abs(values - of_rounded) <= (m + 1) * 2.0**-23 * size).all()
    u = 2.0**-bits
    assert (np.abs(values - (a.astype(np.float64) @ x)[i, j]) <= (2 * u + 4 * u * u + (m + 1) * 2.0**-23) * size).all()
    assert np.abs(values - wanted.to_coo()[2]).max() > 0


@pytest.mark.parametrize(
    ("form", "values"), [("fp16", (1e6, 65520, np.inf, 1e-6)), ("bf16", (np.nan,)), ("tf32", (-np.inf,))]
)
@pytest.mark.sampled(1)
def test_a_value_that_cannot_be_represented(form, values):
    """One in X, which absent entries of A must not meet; and one in A."""
    A, X, _, x = operands(generator("spmm rounded, not finite", form), 16)
    wanted = exact(A, X)
    for value in values:
        y = x.copy()
        y[7, 3] = value
        Y = gb.Matrix.from_dense(y, dtype="FP32")
        found, said = product(A, Y, form)
        assert "exact where X has a value" in said
        assert np.allclose(found.to_coo()[2], exact(A, Y).to_coo()[2], rtol=1e-5, atol=3e-5, equal_nan=True), value
        B = A.dup()
        B[3, 7] = value
        found, said = product(B, X, form)
        assert f"A has a value that {form} cannot represent" in said
        assert np.allclose(found.to_coo()[2], exact(B, X).to_coo()[2], rtol=1e-5, atol=3e-5, equal_nan=True), value
    assert np.abs(product(A, X, form)[0].to_coo()[2] - wanted.to_coo()[2]).max() > 0


def test_every_precision_has_tiles_of_its_own():
    """One matrix in turn: each product is as if no other had been asked for."""
    A, X, a, x = operands(generator("spmm rounded in turn"), 16)
    i, j, _ = exact(A, X).to_coo()
    for form in (*FORMS, *FORMS):
        values, bits = product(A, X, form)[0].to_coo()[2], FORMS[form]
        size = (np.abs(a) @ np.abs(x))[i, j]
        assert np.abs(values - (rounded(a, bits) @ rounded(x, bits))[i, j]).max() <= 100 * 2.0**-23 * size.max(), form


def test_what_is_not_rounded():
    A, X, *_ = operands(generator("spmm not rounded"), 16)
    for semiring in ("min_plus", "plus_second"):
        found, said = product(A, X, "fp16", semiring)
        assert "exact" in said
        assert np.allclose(found.to_coo()[2], A.mxm(X, semiring).new().to_coo()[2], rtol=1e-5, atol=3e-5)
    with using_shim():
        C = A.mxm(X, "plus_times").new()
        assert "matmul_precision" not in str(gb.explain())
    assert np.allclose(C.to_coo()[2], exact(A, X).to_coo()[2], rtol=1e-5, atol=3e-5)
    Y = gb.Matrix.from_dense(np.ones((SHAPE[1], 20), np.float32), dtype="FP32")
    assert "multiple of 16" in product(A, Y, "fp16")[1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [15, 16, 17, 31, 32, 33])
@pytest.mark.sampled(3)
def test_rows_of_tiles(form, rows):
    """Windows and tiles of 16 that are exactly full, whose values all types represent: sums are exact."""
    rng = generator("spmm rounded, whole tiles", form, str(rows))
    for columns, n in ((15, 16), (16, 32), (17, 16), (33, 48), (64, 64)):
        a, x = rng.integers(-3, 4, (rows, columns)).astype(np.float32), rng.integers(-3, 4, (columns, n))
        i, j = np.nonzero(a)
        A = gb.Matrix.from_coo(i, j, a[i, j], "FP32", nrows=rows, ncols=columns)
        X = gb.Matrix.from_dense(x.astype(np.float32), dtype="FP32")
        found, said = product(A, X, form)
        assert f"matmul_precision={form}: A and X rounded" in said
        assert found.isequal(exact(A, X))
