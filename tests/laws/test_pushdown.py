"""A mask may be applied early: an operation under a mask is the operation, restricted afterwards; and writing in two
halves (inside and outside a mask) is writing at once."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from support.agree import build
from support.library import ENGINES, WITHOUT_NUMBA, engine, gb
from support.plain import Plain, difference, plain
from support.strategies import equal_shapes, indices_into, product_operands

MASKS = ("S", "V", "~S", "~V")


def chosen(mask, kind):
    found = mask.S if kind.endswith("S") else mask.V
    return ~found if kind.startswith("~") else found


def restrict(x, mask, kind):
    """x's entries where the mask permits, computed on plain arrays."""
    x, m = plain(x), plain(mask)
    places = (
        set(zip(*(index.tolist() for index in m.indices), strict=True))
        if kind.endswith("S")
        else {
            place
            for place, value in zip(zip(*(i.tolist() for i in m.indices), strict=True), m.values.tolist(), strict=True)
            if value
        }
    )
    keep = np.array(
        [(place in places) != kind.startswith("~") for place in zip(*(i.tolist() for i in x.indices), strict=True)],
        bool,
    )
    return Plain(x.shape, x.dtype, tuple(index[keep] for index in x.indices), x.values[keep])


def check(expression, mask, kind):
    problem = difference(restrict(expression().new(), mask, kind), plain(expression().new(mask=chosen(mask, kind))))
    assert problem is None, f"{kind}: {problem}"


PRODUCTS = {
    "mxm": lambda o, s: ("M", lambda: o.A.mxm(o.B, s)),
    "mxm transposed": lambda o, s: ("M", lambda: o.A.T.T.mxm(o.B.T.new().T, s)),
    "mxv": lambda o, s: ("m", lambda: o.A.mxv(o.x, s)),
    "vxm": lambda o, s: ("n", lambda: o.y.vxm(o.A, s)),
    "mxv of the transpose": lambda o, s: ("n", lambda: o.A.T.mxv(o.y, s)),
    "vxm of the transpose": lambda o, s: ("m", lambda: o.x.vxm(o.A.T, s)),
}


@pytest.mark.quick
@pytest.mark.parametrize("semiring", ["plus_times", "min_plus", "any_pair", "plus_pair", "lor_land"])
@pytest.mark.parametrize("name", PRODUCTS)
@given(operands=product_operands())
def test_products(name, semiring, operands):
    o = build(gb, operands)
    for engine_name in ENGINES if semiring in ("plus_times", "any_pair") else WITHOUT_NUMBA:
        with engine(engine_name):
            mask, expression = PRODUCTS[name](o, getattr(gb.semiring, semiring))
            for kind in MASKS:
                check(expression, getattr(o, mask), kind)


OTHERS = {
    "ewise_add": lambda o: ("M", lambda: o.A.ewise_add(o.B, "minus")),
    "ewise_mult": lambda o: ("M", lambda: o.A.ewise_mult(o.B, "minus")),
    "ewise_union": lambda o: ("M", lambda: o.A.ewise_union(o.B, "minus", 1, 2)),
    "ewise_add vector": lambda o: ("m", lambda: o.u.ewise_add(o.v, "minus")),
    "ewise_mult vector": lambda o: ("m", lambda: o.u.ewise_mult(o.v, "minus")),
    "apply": lambda o: ("M", lambda: o.A.apply("ainv")),
    "apply bound": lambda o: ("m", lambda: o.u.apply("minus", left=1)),
    "apply index": lambda o: ("M", lambda: o.A.apply(gb.indexunary.colindex, 1)),
    "select": lambda o: ("M", lambda: o.A.select("tril", 0)),
    "select value": lambda o: ("m", lambda: o.u.select(">", 0)),
    "extract": lambda o: ("M", lambda: o.A[::-1, ::-1]),
    "extract vector": lambda o: ("m", lambda: o.u[::-1]),
    "reduce columnwise": lambda o: ("m", lambda: o.A.reduce_columnwise("plus")),
    "transpose": lambda o: ("M", lambda: o.A.T.new().T),
    "broadcast": lambda o: ("M", lambda: o.A.ewise_mult(o.u, "minus")),
}


@pytest.mark.parametrize("name", OTHERS)
@given(operands=equal_shapes())
def test_others(name, operands):
    o = build(gb, operands)
    for engine_name in WITHOUT_NUMBA:
        with engine(engine_name):
            mask, expression = OTHERS[name](o)
            for kind in MASKS:
                check(expression, getattr(o, mask), kind)


@given(operands=equal_shapes(), kind=st.sampled_from(MASKS), accum=st.sampled_from([None, "plus", "minus", "second"]))
def test_two_halves_make_a_whole(operands, kind, accum):
    """C(M) << T; C(~M) << T leaves what C << T leaves."""
    one, two = build(gb, operands), build(gb, operands)
    opposite = kind[1:] if kind.startswith("~") else "~" + kind
    one.C(accum=accum) << one.A.ewise_add(one.B, "minus")
    two.C(mask=chosen(two.M, kind), accum=accum) << two.A.ewise_add(two.B, "minus")
    two.C(mask=chosen(two.M, opposite), accum=accum) << two.A.ewise_add(two.B, "minus")
    assert difference(plain(one.C), plain(two.C)) is None
    one.w(accum=accum) << one.u.ewise_mult(one.v, "minus")
    two.w(mask=chosen(two.m, kind), accum=accum) << two.u.ewise_mult(two.v, "minus")
    two.w(mask=chosen(two.m, opposite), accum=accum) << two.u.ewise_mult(two.v, "minus")
    assert difference(plain(one.w), plain(two.w)) is None


@given(operands=equal_shapes(), kind=st.sampled_from(MASKS))
def test_accumulation_is_a_union(operands, kind):
    """C(accum) << T is ewise_add(C, T, accum) when the types agree; with a mask, restricted, united with C outside."""
    o = build(gb, operands)
    union = o.C.ewise_add(o.A, "minus").new()
    o.D = o.C.dup()
    o.D(accum="minus") << o.A
    assert difference(plain(union), plain(o.D)) is None
    masked = o.C.dup()
    masked(mask=chosen(o.M, kind), accum="minus") << o.A
    inside = restrict(union, o.M, kind)
    outside = restrict(o.C, o.M, kind[1:] if kind.startswith("~") else "~" + kind)
    expected = inside.build(gb)
    expected(outside.build(gb).S) << outside.build(gb)
    assert difference(plain(expected), plain(masked)) is None
    replaced = o.C.dup()
    replaced(mask=chosen(o.M, kind), accum="minus", replace=True) << o.A
    assert difference(inside, plain(replaced)) is None


@given(
    operands=equal_shapes(),
    data=st.data(),
    kind=st.sampled_from(MASKS),
    accum=st.sampled_from([None, "minus"]),
    replace=st.booleans(),
)
def test_subassign_is_extract_write_assign(operands, data, kind, accum, replace):
    """C(I, J)<M,r> << A is: take C(I, J) out, write to it under the mask, put it back."""
    o = build(gb, operands)
    rows, columns = data.draw(indices_into(o.C.nrows, unique=True)), data.draw(indices_into(o.C.ncols, unique=True))
    A, M = o.A[rows, columns].new(), o.M[rows, columns].new()
    part = o.C[rows, columns].new()
    part(mask=chosen(M, kind), accum=accum, replace=replace) << A
    expected = o.C.dup()
    expected[rows, columns] << part
    o.C[rows, columns](mask=chosen(M, kind), accum=accum, replace=replace) << A
    assert difference(plain(expected), plain(o.C)) is None


@given(operands=equal_shapes(), data=st.data())
def test_what_was_assigned_can_be_extracted(operands, data):
    o = build(gb, operands)
    rows, columns = data.draw(indices_into(o.C.nrows, unique=True)), data.draw(indices_into(o.C.ncols, unique=True))
    A, before = o.A[rows, columns].new(), plain(o.C)
    o.C[rows, columns] << A
    assert difference(plain(A), plain(o.C[rows, columns].new())) is None
    o.C[rows, columns] << gb.Scalar(gb.dtypes.INT64)
    inside = np.isin(before.indices[0], rows) & np.isin(before.indices[1], columns)
    rest = Plain(before.shape, before.dtype, tuple(index[~inside] for index in before.indices), before.values[~inside])
    assert difference(rest, plain(o.C)) is None
