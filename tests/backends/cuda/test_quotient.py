"""The graph of classes of equal labels on a device, against products (grb_tile/graph/communities.py)."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile.backends.cuda.communities import quotient as on_device
from grb_tile.graph import communities
from support.seeds import generator

CLASSES = 7


def operands(form, dtype):
    """(A, labels): all classes occur, some of one vertex."""
    rng = generator("quotient", form, dtype)
    n = 10**6 if form == "dcsr" else 40
    keys = np.unique(rng.integers(0, 40, 200) * 40 + rng.integers(0, 40, 200))
    type_ = getattr(gb.dtypes, dtype).np_type
    values = 1 if form == "iso" else (rng.random(keys.size) * 9).astype(type_)
    if form == "full":
        A = gb.Matrix.from_dense((rng.random((n, n)) * 9).astype(type_))
    else:
        A = gb.Matrix.from_coo(keys // 40, keys % 40, values, dtype=dtype, nrows=n, ncols=n)
    labels = rng.integers(0, CLASSES - 1, n)
    labels[:CLASSES] = range(CLASSES)
    return A, labels


@pytest.mark.parametrize("dtype", ["FP64", "INT32", "BOOL"])
@pytest.mark.parametrize("form", ["csr", "dcsr", "iso", "full"])
def test_against_products(form, dtype, monkeypatch):
    A, labels = operands(form, dtype)
    plus = "any" if dtype == "BOOL" else "plus"
    want = communities.quotient(A, labels, CLASSES, plus)
    with using_shim() as backend:
        there = A.to_device("cuda")
        monkeypatch.setattr(backend, "matmul", None)  # no product is formed
        found = communities.quotient(there, backend.device.array(labels), CLASSES, plus)
    assert found.dtype == A.dtype
    assert found.isclose(want, check_dtype=True) if dtype == "FP64" else found.isequal(want, check_dtype=True)
    assert A.isequal(there)


def test_without_room_for_a_sort_it_is_a_product(monkeypatch):
    A, labels = operands("csr", "FP64")
    want = communities.quotient(A, labels, CLASSES)
    with using_shim():
        there = A.to_device("cuda")
        monkeypatch.setattr(on_device, "build_matrix", None)  # nothing is sorted
        monkeypatch.setattr(shim().device, "memory", lambda: (1000, 1 << 40))
        assert communities.quotient(there, labels, CLASSES).isclose(want)


def test_no_entries_and_one_class():
    with using_shim():
        empty = gb.Matrix(float, 5, 5)
        assert communities.quotient(empty, np.array([0, 1, 1, 0, 2]), 3).shape == (3, 3)
        A = gb.Matrix.from_coo([0, 1, 4], [1, 2, 4], [1.0, 2.0, 4.0], nrows=5, ncols=5)
        assert communities.quotient(A, np.zeros(5, np.int64), 1).to_dicts() == {0: {0: 7.0}}


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("weights", ["equal", "whole"])
def test_blocks_sum_whole_weights_before_the_sort(weights, inner, monkeypatch):
    """Tables that are emptied often, pairs that are too many for them, and none at all; rows without entries."""
    rng = generator("class entries", weights, inner)
    n, count = 500, 6000
    keys = np.unique(rng.integers(0, n // 2, count) * n + rng.integers(0, n, count))
    values = 0.5 if weights == "equal" else rng.integers(1, 9, keys.size) * 1.0
    A = gb.Matrix.from_coo(keys // n, keys % n, values, nrows=n, ncols=n)
    monkeypatch.setattr(on_device, "build_matrix", None)  # of entries that are not whole numbers
    for labels in (np.arange(n), np.arange(n) // 100, rng.integers(0, 40, n), np.zeros(n, np.int64)):
        classes = int(labels.max()) + 1
        want = communities.quotient(A, labels, classes, inner=inner)
        with using_shim() as backend:
            found = communities.quotient(A.to_device("cuda"), backend.device.array(labels), classes, inner=inner)
            assert found.isequal(want, check_dtype=True)


@pytest.mark.parametrize("form", ["iso", "csr", "none"])
def test_entries_inside_classes(form):
    A, labels = operands("iso" if form == "iso" else "csr", "FP64")
    if form == "none":
        labels, A = np.arange(40), gb.select.offdiag(A).new()
    i, j, x = A.to_coo()
    same = labels[i] == labels[j]
    want = gb.Matrix.from_coo(i[same], j[same], x[same], nrows=40, ncols=40)
    assert communities.inside(A, labels).isequal(want, check_dtype=True)
    with using_shim() as backend:
        found = communities.inside(A.to_device("cuda"), backend.device.array(labels))
        assert found.isequal(want, check_dtype=True) and found.nvals == want.nvals


@pytest.mark.parametrize("inner", [False, True])
def test_rows_about_what_a_warp_reads_at_once(inner):
    """A lane's entries, a warp's (CHUNK), each with one fewer and one more; all between classes, and half."""
    lengths = [0, 1, 3, 4, 5, 127, 128, 129, 255, 256, 257]
    n, rows = 300, np.repeat(np.arange(len(lengths)), lengths)
    cols = n - 1 - np.concatenate([np.arange(length) for length in lengths])
    rows, cols = np.concatenate((rows, cols)), np.concatenate((cols, rows))
    A = gb.Matrix.from_coo(rows, cols, 0.5, nrows=n, ncols=n)
    for labels in (np.arange(n), np.arange(n) % 2, np.where(np.arange(n) < 150, np.arange(n), 7)):
        want = communities.quotient(A, labels, n, inner=inner)
        with using_shim() as backend:
            found = communities.quotient(A.to_device("cuda"), backend.device.array(labels), n, inner=inner)
            assert found.isequal(want, check_dtype=True)
