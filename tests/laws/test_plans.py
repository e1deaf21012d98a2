"""Whatever plan is forced, the result is the same: rows or columns, dot or Gustavson, each storage format, each
engine."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from support.agree import build
from support.library import ENGINES, LIBRARY, WITHOUT_NUMBA, engine, gb
from support.plain import difference, plain
from support.strategies import equal_shapes, huge, product_operands

if LIBRARY == "graphblas":
    pytest.skip("the oracle has no plans to force", allow_module_level=True)

from grb_tile.planner import FORCIBLE
from grb_tile.planner.choose_kernel import SPGEMM

DIRECTIONS = ("rows", "cols", "pull", "push")
FORMATS = ("csr", "tiled", "bittiled", "bitblock", "push_csc", "push_csr", "pull_csc")
TILE_SIZES = ("tiled nt32", "tiled nt64", "push_csc nt16", "push_csr nt32", "pull_csc nt16")
SEMIRINGS = ("plus_times", "min_plus", "any_pair", "plus_pair", "lor_land", "min_second", "max_first", "plus_minus")
POSITIONAL = ("min_firsti", "max_secondi", "min_secondj1", "plus_firstj")


def semiring_named(name):
    return getattr(gb.semiring.ss if name in POSITIONAL else gb.semiring, name)


def products(o, semiring):
    """Matrix times vector in each direction and with each mask."""
    for mask in (None, o.m.S, o.m.V, ~o.m.S, ~o.m.V):
        yield o.A.mxv(o.x, semiring).new(mask=mask)
        yield o.x.vxm(o.A.T, semiring).new(mask=mask)
    for mask in (None, o.n.S, ~o.n.V):
        yield o.y.vxm(o.A, semiring).new(mask=mask)
        yield o.A.T.mxv(o.y, semiring).new(mask=mask)


def matrix_products(o, semiring):
    for mask in (None, o.M.S, o.M.V, ~o.M.S, ~o.M.V):
        yield o.A.mxm(o.B, semiring).new(mask=mask)
    yield o.B.T.mxm(o.A.T, semiring).new()
    yield o.A.mxm(o.A.T, semiring).new()


def same(expected, actual, what):
    for k, (x, y) in enumerate(zip(expected, actual, strict=True)):
        problem = difference(plain(x), plain(y))
        assert problem is None, f"{what}, result {k}: {problem}"


@pytest.mark.quick
@pytest.mark.parametrize("name", SEMIRINGS + POSITIONAL)
@given(operands=product_operands())
@settings(max_examples=15)
def test_directions(name, operands):
    o, semiring = build(gb, operands), semiring_named(name)
    expected = list(products(o, semiring))
    for engine_name in ENGINES if name in ("plus_times", "any_pair", "min_plus") else WITHOUT_NUMBA:
        for method in DIRECTIONS:
            with engine(engine_name), gb.plan(force=method):
                same(expected, products(o, semiring), f"{name} {method} {engine_name}")


@pytest.mark.parametrize("name", SEMIRINGS)
@given(operands=product_operands())
@settings(max_examples=15)
def test_matrix_products(name, operands):
    o, semiring = build(gb, operands), semiring_named(name)
    expected = list(matrix_products(o, semiring))
    for engine_name in ENGINES if name in ("plus_times", "plus_pair") else WITHOUT_NUMBA:
        for method in ("dot", "gustavson"):
            with engine(engine_name), gb.plan(force=method):
                same(expected, matrix_products(o, semiring), f"{name} {method} {engine_name}")


@pytest.mark.parametrize("format", FORMATS + TILE_SIZES)
@given(operands=product_operands())
@settings(max_examples=15)
def test_formats(format, operands):
    for name in ("plus_times", "any_pair", "min_plus"):
        o, semiring = build(gb, operands), semiring_named(name)
        expected = [*products(o, semiring), *matrix_products(o, semiring)]
        with gb.plan(force=format):
            same(expected, [*products(o, semiring), *matrix_products(o, semiring)], f"{name} {format}")


@pytest.mark.parametrize("kernel", [name for name, (family, _) in FORCIBLE.items() if family == "kernel"])
@given(operands=product_operands())
@settings(max_examples=10)
def test_kernels(kernel, operands):
    """A kernel that cannot serve, as those of a GPU on the CPU, leaves the product to the planner's choice."""
    for name in ("plus_times", "any_pair"):
        o, semiring = build(gb, operands), semiring_named(name)
        both = [products, matrix_products] if kernel in SPGEMM else [products]
        expected = [found for some in both for found in some(o, semiring)]
        with gb.plan(force=kernel):
            same(expected, [found for some in both for found in some(o, semiring)], f"{name} {kernel}")


def stored_as(value, format):
    """A copy of the object whose store is in another format."""
    from grb_tile.backends.select import current

    found = value.dup()
    found._store = current().convert(found._store, format)
    return found


@given(
    operands=product_operands(), vector=st.sampled_from(["sparse", "bitmap"]), matrix=st.sampled_from(["csr", "dcsr"])
)
def test_stores(operands, vector, matrix):
    """The stored format of an operand, an output or a mask does not show in a result."""
    one = build(gb, operands)
    two = build(gb, operands)
    for name in operands:
        value = getattr(two, name)
        setattr(two, name, stored_as(value, matrix if value.ndim == 2 else vector))
    for engine_name in WITHOUT_NUMBA:
        with engine(engine_name):
            semiring = gb.semiring.plus_times
            same(
                [*products(one, semiring), *matrix_products(one, semiring)],
                [*products(two, semiring), *matrix_products(two, semiring)],
                f"{vector} {matrix}",
            )
            for o in (one, two):
                o.results = [
                    o.w.ewise_add(o.y, "minus").new(mask=~o.m.V),
                    o.w.ewise_mult(o.y, "minus").new(mask=o.m.S),
                    o.C.ewise_add(o.C, "plus").new(mask=o.M.V),
                    o.y.apply("ainv").new(),
                    o.y.select(">", 0).new(),
                    o.A.T.new(),
                    o.A[::-1, :].new(),
                    o.y[::-1].new(),
                    o.A.reduce_rowwise().new(),
                    o.A.reduce_columnwise().new(),
                ]
                o.w2, o.C2 = o.w.dup(), o.C.dup()
                o.w2(~o.m.S, accum="plus", replace=True) << o.A.mxv(o.x)
                o.C2(o.M.V) << o.A.mxm(o.B)
                o.w2(o.m.V)[:] << 3
                o.results += [o.w2, o.C2]
            same(one.results, two.results, f"{vector} {matrix} {engine_name}")


@given(operands=equal_shapes())
def test_engines_agree_elementwise(operands):
    o = build(gb, operands)

    def results():
        return [
            o.A.ewise_add(o.B, "minus").new(mask=o.M.V),
            o.A.ewise_mult(o.B, "minus").new(mask=~o.M.S),
            o.u.ewise_add(o.v, "min").new(),
            o.A.ewise_union(o.B, "minus", 1, 2).new(),
            o.A.T.new(),
            o.A.reduce_rowwise("max").new(),
            o.u.select("<=", 0).new(),
        ]

    expected = results()
    for name in ENGINES:
        with engine(name):
            same(expected, results(), name)


@given(matrix=huge(2), vector=huge(1), mask=huge(1, "BOOL"))
@settings(max_examples=20)
def test_huge_dimensions(matrix, vector, mask):
    """Dimensions of 2**60: no method may touch what is absent."""
    o = build(gb, {"A": matrix, "x": vector, "m": mask})

    def results():
        return [
            o.A.mxv(o.x).new(),
            o.A.mxv(o.x).new(mask=o.m.S),
            o.A.mxv(o.x).new(mask=~o.m.V),
            o.x.vxm(o.A).new(),
            o.A.mxm(o.A).new(),
            o.A.mxm(o.A.T).new(mask=o.A.S),
            o.A.ewise_add(o.A.T, "plus").new(),
            o.x.ewise_mult(o.x, "minus").new(),
        ]

    expected = results()
    for names in ("rows", "cols", "dot", "gustavson", *ENGINES[1:]):
        with gb.plan(force=names):
            same(expected, results(), names)


@pytest.mark.quick
def test_forced_plans_are_followed():
    """explain() tells what ran: without this, the laws above could hold because nothing is ever forced."""
    from grb_tile.backends.select import current

    A = gb.Matrix.from_coo(np.arange(40), (np.arange(40) * 7) % 40, np.arange(40), nrows=40, ncols=40)
    x = gb.Vector.from_coo([1, 5], [2, 3], size=40)
    device = current().on_device  # then the engine is the backend
    for method, shown in (
        ("rows", "rows over"),
        ("cols", "cols over"),
        ("tiled", "over tiled"),
        ("bittiled", "over bittiled"),
        ("bitblock", "over bitblock"),
        ("push_csc", "over push_csc"),
        ("push_csr", "over push_csr"),
        ("pull_csc", "over pull_csc"),
        (("rows", "numba"), "rows over csr cuda" if device else "rows over csr numba"),
        (("cols", "numpy"), "cols over csr cuda" if device else "cols over csr numpy"),
    ):
        with gb.plan(force=method):
            A.mxv(x, gb.semiring.any_pair).new()
            assert shown in str(gb.explain()), f"{method} was forced"
    for method in ("dot", "gustavson"):
        with gb.plan(force=method):
            A.mxm(A, gb.semiring.plus_pair).new(mask=A.S)
            assert f"{method} over" in str(gb.explain())
    for format in FORMATS:
        with gb.plan(force=format):
            A.mxm(A, gb.semiring.plus_pair).new()
            assert "gustavson over csr" in str(gb.explain())
