"""Strings, lookup of typed operators, classes of operators, semirings made on demand."""

import subprocess
import sys

import pytest

from grb_tile import binary, dtypes, indexunary, monoid, op, select, semiring, unary
from grb_tile.operators import (
    OpBase,
    find_opclass,
    from_string,
    get_semiring,
    get_typed_op,
    op_from_string,
    semiring_from_string,
)  # fmt: skip


@pytest.mark.parametrize(
    "text, kind, expected",
    [
        ("plus", "binary", binary.plus), ("+", "binary", binary.plus), ("+[int64]", "binary", binary.plus["INT64"]),
        ("//", "binary", binary.floordiv), ("%", "binary", binary.numpy.mod), ("numpy.mod", "binary", binary.numpy.mod),
        ("ss.firsti", "binary", binary.ss.firsti), ("-", "unary", unary.ainv), ("abs[float]", "unary",
        unary.abs["FP64"]),
        ("+", "monoid", monoid.plus), ("min.plus", "semiring", semiring.min_plus), ("min_plus", "semiring",
        semiring.min_plus),
        ("min.+[int]", "semiring", semiring.min_plus["INT64"]), ("|.&", "semiring", semiring.lor_land),
        (">", "select", select.valuegt), ("row<=", "select", select.rowle), ("tril", "select", select.tril),
        ("index>", "indexunary", indexunary.indexgt), ("MAX", "binary", binary.max),
    ],
)  # fmt: skip
def test_from_string(text, kind, expected):
    assert from_string(text, kind) is expected


@pytest.mark.parametrize(
    "text, kind, message",
    [
        ("plus[int", "binary", "does not end with"), ("plus[int][int]", "binary", "too many"), ("plus]", "binary",
        "not matched by"),
        ("nothing", "binary", "Unknown binary string"), ("min.plus.times", "semiring", "exactly one period"),
        ("nothing", "semiring", "exactly one period"), ("row", "select", "Unknown select string"),
    ],
)  # fmt: skip
def test_bad_strings(text, kind, message):
    with pytest.raises(ValueError, match=message):
        from_string(text, kind)


def test_namespaces_have_from_string():
    assert unary.from_string("~") is unary.lnot
    assert binary.from_string("**") is binary.pow
    assert semiring.from_string("plus.times") is semiring.plus_times
    assert op.from_string("min.plus") is semiring.min_plus and op_from_string("exp") is unary.exp
    with pytest.raises(ValueError, match="Unknown op string"):
        op_from_string("nothing at all")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        binary.nothing  # noqa: B018


def test_get_typed_op():
    assert get_typed_op(binary.plus, dtypes.INT8) is binary.plus["INT8"]
    assert get_typed_op(binary.plus, dtypes.INT8, dtypes.UINT16) is binary.plus["INT32"]
    assert get_typed_op(binary.plus, dtypes.FP32, dtypes.INT64, is_right_scalar=True).type.name == "FP64"
    assert get_typed_op(binary.plus["INT64"], dtypes.FP32) is binary.plus["INT64"]
    assert get_typed_op("+", dtypes.INT64, dtypes.FP64, kind="binary") is binary.plus["FP64"]
    assert get_typed_op("min.plus", dtypes.INT64, dtypes.INT64, kind="semiring") is semiring.min_plus["INT64"]
    assert get_typed_op(max, dtypes.INT64, dtypes.INT64) is binary.max["INT64"]
    assert get_typed_op(abs, dtypes.INT64) is unary.abs["INT64"]
    assert get_typed_op(binary.pair, dtypes.FP32, dtypes.FP32) is binary.pair["INT64"]
    assert get_typed_op(semiring.plus_pair, dtypes.FP32, dtypes.FP32) is semiring.plus_pair["INT64"]
    assert get_typed_op(select.tril, dtypes.FP64, dtypes.INT64) is select.tril["BOOL"]
    assert get_typed_op(binary.isclose, dtypes.FP64, dtypes.FP64).return_type is dtypes.BOOL
    assert get_typed_op(lambda x: x + 1, dtypes.INT64, kind="unary").return_type is dtypes.INT64
    with pytest.raises(ValueError, match="`kind=` argument must be provided"):
        get_typed_op("plus", dtypes.INT64)
    with pytest.raises(TypeError, match="Unable to get typed operator from object with type"):
        get_typed_op(object(), dtypes.INT64, kind="binary")
    with pytest.raises(KeyError, match="band does not work with FP64"):
        get_typed_op(binary.band, dtypes.INT64, dtypes.FP32)


def test_strings_are_forgotten_when_names_are_registered():
    with pytest.raises(ValueError, match="Unknown binary string"):
        get_typed_op("tests_forgotten", dtypes.INT64, dtypes.INT64, kind="binary")
    made = binary.register_new("tests_forgotten", lambda x, y: x)
    assert get_typed_op("tests_forgotten", dtypes.INT64, dtypes.INT64, kind="binary") is made["INT64"]


REGISTERED = {
    unary: (lambda x: x,),
    binary: (lambda x, y: x,),
    indexunary: (lambda x, i, j, thunk: i,),
    select: (lambda x, i, j, thunk: x > 0,),
    monoid: (binary.plus, 0),
    semiring: (monoid.plus, binary.times),
}


@pytest.mark.parametrize(
    "name", ["", "no name", "1st", "a.", ".a", "a..b", "a.1st", "1st.a", "a.b.c d", "a-b", 5, None]
)
def test_names_that_are_no_identifiers_are_refused(name):
    for space, arguments in REGISTERED.items():
        before = dir(space)
        for lazy in (False, True):
            with pytest.raises(ValueError, match="identifier"):
                space.register_new(name, *arguments, lazy=lazy)
        assert dir(space) == before


def test_find_opclass():
    assert find_opclass(binary.plus) == (binary.plus, "BinaryOp")
    assert find_opclass(semiring.min_plus["FP64"])[1] == "Semiring"
    assert find_opclass("plus")[1] == "UnknownOpClass"
    assert find_opclass(min) == (binary.min, "BinaryOp")


def test_semirings_made_on_demand():
    assert get_semiring(monoid.min, binary.plus) is semiring.min_plus
    assert get_semiring(binary.min, binary.plus) is semiring.min_plus
    assert get_semiring(monoid.min, binary.plus["FP32"]) is semiring.min_plus["FP32"]
    made = get_semiring(monoid.max, binary.hypot)
    assert made is semiring.max_hypot and made is get_semiring(monoid.max, binary.hypot)
    assert made["INT64"].type is dtypes.FP64 and made.types[dtypes.INT64] is dtypes.FP64
    assert semiring.numpy.add_multiply is semiring.plus_times
    assert semiring_from_string("max.bor").binaryop is binary.bor
    with pytest.raises(TypeError, match="Are the arguments switched"):
        get_semiring(binary.plus, monoid.times)
    with pytest.raises(TypeError, match="Expected a Monoid"):
        get_semiring(binary.minus, binary.times)


def test_flips():
    assert binary.minus["FP64"].flip() is binary.rminus["FP64"]
    assert binary.plus["FP64"].flip() is binary.plus["FP64"]
    assert binary.ss.firsti["INT64"].flip() is binary.ss.secondj["INT64"]
    assert binary.ss.secondi1["INT64"].flip() is binary.ss.firstj1["INT64"]
    assert binary.first["BOOL"].flip() is binary.second["BOOL"]
    assert binary.atan2["FP64"].flip().flip() is binary.atan2["FP64"]
    assert semiring.plus_first["FP64"].flip().binaryop is binary.second["FP64"]
    assert semiring.min_plus["FP64"].flip() is semiring.min_plus["FP64"]
    assert semiring.ss.any_secondi["INT64"].flip().binaryop.positional == "firstj"


def test_calls_reach_core():
    seen = []
    kept = OpBase.__dict__["_call_handler"]
    OpBase._call_handler = staticmethod(lambda *args, **kwargs: seen.append((args, kwargs)))
    try:
        binary.plus(1, 2)
        monoid.min["FP64"]("A | B", left_default=0)
    finally:
        OpBase._call_handler = kept
    assert seen == [((binary.plus, 1, 2), {}), ((monoid.min["FP64"], "A | B"), {"left_default": 0})]


def test_deprecated_names_warn():
    with pytest.warns(DeprecationWarning, match="please use `gb.binary.ss.secondj1`"):
        vars(binary).pop("secondj1", None)
        assert binary.secondj1 is binary.ss.secondj1


def test_nested_names_grow():
    first = unary.register_new("tests_nested.one", lambda x: x + 1)
    assert unary.tests_nested.one is first
    second = unary.register_new("tests_nested.two", lambda x: x + 2)
    assert unary.tests_nested.two is second and dir(unary.tests_nested) == ["one", "two"]
    assert "tests_nested" in dir(unary)


def test_the_semirings_of_numpy_are_those_of_python_graphblas():
    """As a fresh process has them: other tests may have asked python-graphblas for more."""
    program = "import graphblas; print(*dir(graphblas.semiring.numpy))"
    names = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert set(dir(semiring.numpy)) == {name for name in names if name[0] != "_"}


def test_a_parameterized_index_operator_is_no_select_operator():
    """A family's results may be no BOOL: register_new of indexunary publishes in indexunary, of select in both."""
    made = indexunary.register_new("sum_of_test", lambda k: lambda x, i, j, t: x + k, parameterized=True)
    try:
        assert indexunary.sum_of_test is made and not hasattr(select, "sum_of_test")
    finally:
        del indexunary.sum_of_test
    made = select.register_new("above_of_test", lambda k: lambda x, i, j, t: x > k, parameterized=True)
    try:
        assert select.above_of_test is made and hasattr(indexunary, "above_of_test")
    finally:
        del indexunary.above_of_test, select.above_of_test
