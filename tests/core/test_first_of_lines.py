"""selectk and compactify against a loop over the lines: ties, NaN, lengths about k, chunks of lines."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends import rearranged
from grb_tile.backends.cpu.vectorised import first_of_rows
from support import seeds

TYPES = ["BOOL", "INT8", "UINT64", "FP32", "FP64", "FC64"]


def entries(rng, dtype, nrows, ncols, count):
    keys = np.unique(rng.integers(0, nrows * ncols, count))
    values = rng.integers(0, 6, keys.size)
    if dtype.startswith("FP"):
        values = np.where(values == 0, np.nan, np.where(values == 1, -np.inf, np.where(values == 5, np.inf, values)))
    return keys // ncols, keys % ncols, values


def of_line(values, how, k):
    """Which entries of a line, in the order `how`: equal values as they come, backwards for "largest" and "last"."""
    order = np.argsort(values, kind="stable") if how in ("smallest", "largest") else np.arange(len(values))
    return (order if how in ("first", "smallest") else order[::-1])[:k]


def wanted(A, how, k, columnwise, compact):
    rows, cols, values = A.to_coo()
    major, minor = (cols, rows) if columnwise else (rows, cols)
    found = {}
    for line in np.unique(major).tolist():
        at = np.flatnonzero(major == line)
        at = at[np.argsort(minor[at], kind="stable")]
        for rank, which in enumerate(of_line(values[at], how, k)):
            place = rank if compact else int(minor[at[which]])
            found[(place, line) if columnwise else (line, place)] = values[at[which]]
    return found


def entries_in(C):
    rows, cols, values = C.to_coo()
    return dict(zip(zip(rows.tolist(), cols.tolist(), strict=True), values, strict=True))


def same(got, want):
    return got.keys() == want.keys() and all(np.array_equal(got[key], want[key], equal_nan=True) for key in want)


@pytest.mark.parametrize("how", ["smallest", "largest", "first", "last"])
@pytest.mark.parametrize("dtype", TYPES)
def test_against_a_loop(dtype, how, monkeypatch):
    monkeypatch.setattr(first_of_rows, "BLOCK", 128)  # several chunks of lines
    rng = seeds.generator("first of lines", dtype, how)
    for nrows, ncols, count in ((9, 40, 150), (30, 6, 90), (1, 50, 33), (5, 5, 200)):
        A = gb.Matrix.from_coo(*entries(rng, dtype, nrows, ncols, count), dtype, nrows=nrows, ncols=ncols)
        for k in (0, 1, 3, 5, 6, ncols):
            for order in ("rowwise", "columnwise"):
                want = wanted(A, how, k, order == "columnwise", False)
                assert same(entries_in(A.ss.selectk(how, k, order)), want), (how, k, order)
                want = wanted(A, how, k, order == "columnwise", True)
                assert same(entries_in(A.ss.compactify(how, k, order)), want), (how, k, order)


@pytest.mark.parametrize("how", ["smallest", "largest"])
def test_vectors(how):
    rng = seeds.generator("first of a vector", how)
    for dtype in TYPES:
        at, _, values = entries(rng, dtype, 60, 1, 90)
        v = gb.Vector.from_coo(at, values, dtype, size=60)
        stored = v.to_coo()[1]
        for k in (0, 1, 7, len(at), 60):
            picked = of_line(stored, how, k)
            indices, found = v.ss.selectk(how, k).to_coo()
            assert np.array_equal(indices, at[np.sort(picked)])
            assert np.array_equal(found, stored[np.sort(picked)], equal_nan=True)
            packed = v.ss.compactify(how, k).to_coo()[1] if k else np.zeros(0)
            assert np.array_equal(packed, stored[picked], equal_nan=True)


def test_few_entries_are_sorted(monkeypatch):
    """Of lines longer than k, only the k that are taken are put in order, and none where no order is asked for."""
    sizes, plain = [], rearranged._ordered
    monkeypatch.setattr(
        rearranged, "_ordered", lambda xp, major, *rest: sizes.append(major.shape[0]) or plain(xp, major, *rest)
    )
    A = gb.Matrix.from_dense(np.random.default_rng(1).random((20, 500)))
    for how in ("smallest", "largest"):
        assert A.ss.selectk(how, 4).nvals == 80 and not sizes
        assert A.ss.compactify(how, 4).nvals == 80
        assert sizes.pop() == 80


@pytest.mark.parametrize("x", [gb.Matrix.from_dense([[1, 2], [3, 4]]), gb.Vector.from_dense([1, 2])])
def test_counts_are_checked(x):
    """By name and value, before anything is computed."""
    for call, name in ((x.ss.selectk, "k"), (x.ss.compactify, "k" if x.ndim == 2 else "size")):
        with pytest.raises(ValueError, match=f"{name}=-1: negative {name} is not allowed"):
            call("first", -1)
        with pytest.raises(TypeError, match=f"`{name}` must be an integer; got 1.5"):
            call("first", 1.5)
