"""Counts of the work of a product, against brute force; what is kept is asked for with another operand in turn."""

import itertools

import numpy as np
import pytest

from grb_tile import dtypes
from grb_tile.storage import work
from grb_tile.storage.convert import compressed, to_dcsr
from support.seeds import generator

BOTH = (False, True)


def matrix(rng, nrows, ncols, share):
    here = rng.random((nrows, ncols)) < share
    rows, cols = (index.astype(np.int64) for index in np.nonzero(here))
    return compressed(nrows, ncols, dtypes.BOOL, rows, cols, np.ones(rows.shape[0], bool)), here.astype(int)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6])
def test_products_are_counted(share):
    rng = generator("work", share)
    A, a = matrix(rng, 9, 9, 0.4)
    others = [matrix(rng, 9, 9, share) for _ in range(2)]
    for _ in range(2):  # what was kept for another B, or for a transposed one, is not taken
        for (B, b), at, bt in itertools.product(others, BOTH, BOTH):
            left, right = a.T if at else a, b.T if bt else b
            assert work.products(A, B, at, bt) == (left @ right).sum()
        assert work.products(A, others[0][0]) == (a @ others[0][1]).sum()
    assert work.row_counts(A).tolist() == a.sum(axis=1).tolist()
    assert work.column_counts(A).tolist() == a.sum(axis=0).tolist() == work.column_counts(A).tolist()
    rect, r = matrix(rng, 4, 7, 0.5)
    wide, w = matrix(rng, 7, 3, share)
    assert work.products(rect, wide) == (r @ w).sum() and work.products(wide, rect, True, True) == (w.T @ r.T).sum()


@pytest.mark.parametrize("share", [0.02, 0.05, 0.9])
def test_products_in_the_rows_of_a_mask(share):
    rng = generator("masked work", share)
    A, a = matrix(rng, 30, 8, 0.5)
    B, b = matrix(rng, 8, 11, 0.5)
    M, m = matrix(rng, 30, 11, share)
    total, rows = (a @ b).sum(), m.any(axis=1)
    few = m.sum() * 4 <= a.sum()
    part = total * a[rows].sum() / a.sum()
    assert few == (share < 0.5)
    assert work.masked_products(A, B, M, False, False) == pytest.approx(part if few else total)
    C, c = matrix(rng, 8, 30, 0.5)
    assert work.masked_products(C, B, M, True, False) == (c.T @ b).sum()
    assert work.masked_products(to_dcsr(A), B, M, False, False) == a.sum() * b.sum() / 8
    assert work.masked_products(A, B, to_dcsr(M), False, False) == total


@pytest.mark.parametrize("share", [0.0, 0.1, 0.6])
def test_lookups_of_dot_products(share):
    rng = generator("lookups", share)
    A, a = matrix(rng, 6, 8, 0.4)
    B, b = matrix(rng, 8, 5, 0.5)
    M, m = matrix(rng, 6, 5, share)
    assert work.dot_work(B, False, M) == (m * b.sum(axis=0)).sum()
    assert work.row_lookups(A, False, M) == (m * a.sum(axis=1)[:, None]).sum()
    Bt, bt = matrix(rng, 5, 8, 0.5)
    assert work.dot_work(Bt, True, M) == (m * bt.sum(axis=1)).sum()
    assert work.row_lookups(A, True, M) == work.row_lookups(to_dcsr(A), False, M) == float("inf")
    assert work.row_lookups(A, False, to_dcsr(M)) == float("inf")
    assert work.dot_work(to_dcsr(B), False, M) == pytest.approx(m.sum() * b.sum() / 5)


def test_the_least_entries_of_a_product():
    rng = generator("least")
    for share in (0.0, 0.05, 0.4):
        A, a = matrix(rng, 12, 9, share)
        B, b = matrix(rng, 9, 20, 0.2)
        wanted = sum(max(b[k].sum() for k in np.flatnonzero(row)) for row in a if row.any())
        for left, right in itertools.product((A, to_dcsr(A)), (B, to_dcsr(B))):
            assert work.least_product(left, right) == wanted <= np.count_nonzero(a @ b)


def test_what_is_counted_and_what_is_estimated():
    rows, cols = np.arange(3), np.arange(3)
    for ncols, counted in ((4 * 3 + 1024, True), (4 * 3 + 1025, False)):
        A = compressed(5, ncols, dtypes.BOOL, rows, cols, np.ones(1, bool), True)
        assert work.countable(A) == counted and not work.countable(to_dcsr(A))
        tall = compressed(ncols, 5, dtypes.BOOL, cols, rows, np.ones(1, bool), True)
        assert work.products(A, tall) == 3 and work.products(A, tall, bt=False) == 3
    A = compressed(5, 2000, dtypes.BOOL, rows, cols, np.ones(1, bool), True)
    assert work.products(A, A, False, True) == 3 * 3 / 3
