"""An unknown name of an operator, a type, an algorithm, a function: the error ends with the names that are near."""

import operator

import pytest

import grb_tile as gb
from grb_tile import algorithms
from grb_tile.operators import from_string, op_from_string
from grb_tile.spelling import did_you_mean

A = gb.Matrix.from_coo([0, 1], [1, 0], [1.0, 2.0])
gb.binary.register_new("misspelt.nested", lambda x, y: x + y)


@pytest.mark.parametrize(
    "owner, path, near",
    [
        (gb.binary, "pluss", "'plus'"), (gb.semiring, "min_pluss", "'min_plus', 'max_plus' or 'any_plus'"),
        (gb.monoid, "mn", "'min'"), (gb.unary, "sqr", "'sqrt'"), (gb.op, "min_plsu", "'min_plus'"),
        (gb.select, "trill", "'tril'"), (gb.indexunary, "rowindx", "'rowindex'"), (gb.agg, "meann", "'mean'"),
        (gb.agg.ss, "argmaxx", "'argmax'"), (gb.binary.numpy, "hypott", "'hypot'"),
        (gb.binary.misspelt, "nestd", "'nested'"), (gb.dtypes, "FP46", "'FP64'"), (gb, "Matrx", "'Matrix'"),
        (algorithms, "pagerankk", "'pagerank'"), (gb.io, "mmraed", "'mmread'"),
    ],
)  # fmt: skip
def test_attributes(owner, path, near):
    with pytest.raises(AttributeError, match=f"has no attribute '{path}'") as raised:
        operator.attrgetter(path)(owner)
    assert str(raised.value).partition("; did you mean ")[2].startswith(near)
    assert str(raised.value).endswith("'?")


@pytest.mark.parametrize("owner, name", [(gb.op, "x"), (gb.binary, "qqq"), (gb.binary, "_plus"), (gb.io, "__plus__")])
def test_nothing_is_suggested_where_nothing_is_near_nor_for_private_names(owner, name):
    with pytest.raises(AttributeError) as raised:
        getattr(owner, name)
    assert str(raised.value).endswith(f"has no attribute {name!r}")


@pytest.mark.parametrize(
    "call, near",
    [
        (lambda: A.ewise_mult(A, "plsu"), "plus"), (lambda: A.apply("sqr"), "sqrt"),
        (lambda: A.reduce_scalar("plsu"), "plus"), (lambda: A.reduce_scalar("meann"), "mean"),
        (lambda: A.mxm(A, "min_pluss"), "min_plus"), (lambda: A.mxm(A, "min.pluss"), "plus"),
        (lambda: A.select("trill"), "tril"), (lambda: A(accum="pluss"), "plus"),
        (lambda: from_string("pluss[int]", "monoid"), "plus"), (lambda: from_string("PLUSS", "binary"), "plus"),
        (lambda: from_string("meann", "agg"), "mean"), (lambda: op_from_string("rowindx"), "rowindex"),
        (lambda: gb.Matrix("FP46", 2, 2), "FP64"), (lambda: gb.binary.plus["flaot64"], "float64"),
        (lambda: A.dup("itn32"), "int32"),
    ],
)  # fmt: skip
def test_strings(call, near):
    with pytest.raises(ValueError, match=r"; did you mean '") as raised:
        call()
    assert str(raised.value).endswith("?") and repr(near) in str(raised.value).partition("; did you mean")[2]


def test_at_most_three_names_the_nearest_first():
    assert did_you_mean("pluss", ["plusa", "plusb", "pluss_", "plus", "times"]).count("plus") == 3
    assert did_you_mean("pluss", ["times"]) == ""
    assert did_you_mean("pluss", ["plus", "pluses"]) == "; did you mean 'pluses' or 'plus'?"


def test_errors_of_misspelt_names_are_no_different_for_hasattr():
    assert not hasattr(gb.binary, "pluss") and not hasattr(algorithms, "pagerankk") and not hasattr(gb.io, "mmraed")
