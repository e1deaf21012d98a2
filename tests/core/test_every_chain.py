"""What follows a product that is not formed yet: the infix form and the method have the same plans and results."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.core.chains import CHAINS

FOLLOWS = {
    "select": (lambda x: x.select("tril").new(), lambda x: x.select(">", 9).new()),
    "reduce_scalar": (lambda x: x.reduce_scalar("plus").new(), lambda x: x.reduce_scalar("max").new()),
    "reduce_rowwise": (lambda x: x.reduce_rowwise("plus").new(), lambda x: x.reduce_rowwise("min").new()),
    "reduce_columnwise": (lambda x: x.reduce_columnwise("plus").new(), lambda x: x.reduce_columnwise("max").new()),
}


def test_each_has_a_row():
    assert set(FOLLOWS) >= set(CHAINS) and len(FOLLOWS) == 4


@pytest.mark.parametrize("engine", ["numpy", pytest.param("numba", marks=pytest.mark.slow), "reference"])
@pytest.mark.parametrize("semiring", ["plus_times", "any_pair", "plus_pair", "min_second", "lor_land"])
def test_every_product_then_every_sum(semiring, engine):
    """Values that differ and values that are one: each monoid of what is left, by rows, by columns and of all."""
    rng = np.random.default_rng(4)
    i, j = np.nonzero(rng.random((60, 30)) < 0.1)
    A = gb.Matrix.from_coo(i, j, rng.integers(1, 9, i.size), nrows=60, ncols=30)
    B = gb.Matrix.from_coo(j[::2], i[::2], rng.integers(1, 9, i[::2].size), nrows=30, ncols=60)
    M = A.mxm(B, "any_pair").new().select("tril").new()
    product = A.mxm(B, semiring).new()
    if product.dtype == "BOOL":
        monoids = "lor", "land", "any"
    else:
        monoids = "plus", "min", "max", "any"
    with gb.plan(force=engine):
        for monoid, chosen in itertools.product(
            monoids, (lambda x: x, lambda x: x.select(M.S), lambda x: x.select("triu"))
        ):
            for sums in ("reduce_rowwise", "reduce_columnwise", "reduce_scalar"):
                found = getattr(chosen(A.mxm(B, semiring)), sums)(monoid).new()
                wanted = getattr(chosen(product).new() if chosen(product) is not product else product, sums)(
                    monoid
                ).new()
                if monoid == "any" and semiring not in ("any_pair", "lor_land"):
                    continue
                assert found.isequal(wanted, check_dtype=True), (monoid, sums)


@pytest.mark.parametrize("name", FOLLOWS)
def test_infix_is_the_method(name):
    rng = np.random.default_rng(3)
    i, j = np.nonzero(rng.random((40, 40)) < 0.1)
    A = gb.Matrix.from_coo(i, j, rng.integers(1, 9, i.size), nrows=40, ncols=40)
    M = gb.Matrix.from_coo(i[::3], j[::3], True, nrows=40, ncols=40)
    for follow, masked in itertools.product(FOLLOWS[name], (False, True)):
        found, notes = [], []
        with gb.config.set(autocompute=True):
            for product in (lambda: A.mxm(A), lambda: A @ A, lambda: A.mxm(A).new()):
                x = product()
                if masked:
                    x = x.select(M.S)
                before = len(gb.explain(last=0).plans)
                found.append(follow(x))
                notes.append(len(gb.explain(last=0).plans) - before)
        for other in found[1:]:
            assert other.isequal(found[0], check_dtype=True), (name, masked)
        assert notes[0] == notes[1], (name, masked, notes)
