"""A[I, J] and u[I] for lists of every kind, of matrices of every form, on each backend: as NumPy's dense arrays."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import using_shim
from grb_tile.backends import select

M, N = 9, 70
BACKENDS = {
    "numpy": lambda: gb.plan(force="numpy"), "compiled": lambda: gb.plan(force="numba"), "device": using_shim,
    "reference": lambda: gb.plan(force="reference"),
}  # fmt: skip
FORMS = ("csr", "dcsr", "bitmapr", "bitmapc")


def lists(n):
    rng = np.random.default_rng(n)
    return {
        "all": slice(None), "some": [0, 2, n - 1], "descending": list(range(n - 1, -1, -2)), "repeated": [2, 2, 2],
        "one by one again": [3, 1, 3, 0, 3, n - 1, 1], "from the end": [-1, -n, 2], "none": [], "one": [n - 2],
        "a range": slice(1, n - 1), "steps": slice(n - 1, 0, -3), "many": rng.integers(0, n, 3 * n).tolist(),
        "in order and again": np.sort(rng.integers(0, n, 2 * n)).tolist(),
    }  # fmt: skip


def dense(rng, shape):
    values = rng.integers(1, 9, shape)
    values[rng.random(shape) < 0.6] = 0
    values[shape[0] // 2] = 0
    return values


@pytest.mark.parametrize(
    ("backend", "form"), [(b, f) for b in BACKENDS for f in FORMS if b != "reference" or not f.startswith("bitmap")]
)
def test_matrices(backend, form):
    rng = np.random.default_rng(7)
    values = dense(rng, (M, N))
    i, j = np.nonzero(values)
    with BACKENDS[backend]():
        A = gb.Matrix.from_coo(i, j, values[i, j], nrows=M, ncols=N)
        A._store = select.current().convert(A._store, form)
        for turn, ((row, I), (col, J)) in enumerate(itertools.product(lists(M).items(), lists(N).items())):
            if backend in ("device", "reference") and turn % 3:
                continue
            found, wanted = A[I, J].new(), values[I][:, J]
            assert found.shape == wanted.shape and found.nvals == np.count_nonzero(wanted), (row, col)
            assert not wanted.size or (found.to_dense(0) == wanted).all(), (row, col)
            turned = A.T[J, I].new()
            assert not wanted.size or (turned.to_dense(0) == wanted.T).all(), (row, col, "transposed")


@pytest.mark.parametrize("form", ("sparse", "bitmap"))
@pytest.mark.parametrize("backend", BACKENDS)
def test_vectors_and_lines(backend, form):
    rng = np.random.default_rng(8)
    values = dense(rng, (N, M))
    with BACKENDS[backend]():
        at = np.flatnonzero(values[:, 0])
        u = gb.Vector.from_coo(at, values[at, 0], size=N)
        u._store = select.current().convert(u._store, form)
        i, j = np.nonzero(values)
        A = gb.Matrix.from_coo(i, j, values[i, j], nrows=N, ncols=M)
        for name, I in lists(N).items():
            assert (u[I].new().to_dense(0) == values[I, 0]).all() or not len(values[I, 0]), name
            assert (A[I, 2].new().to_dense(0) == values[I, 2]).all() or not len(values[I, 2]), name
            assert (A.T[2, I].new().to_dense(0) == values[I, 2]).all() or not len(values[I, 2]), name
