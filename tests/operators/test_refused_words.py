"""What operators, their names and types refuse: the class and the words; strings that name operators."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import binary, dtypes, indexunary, monoid, op, select, semiring, unary
from grb_tile.exceptions import DomainMismatch, UdfParseError
from grb_tile.operators import to_cuda
from grb_tile.operators.semiring import ParameterizedSemiring, Semiring

PAIR = dtypes.register_anonymous(np.dtype([("a", "i4"), ("b", "f4")]), "test_words_of_operators_a")
OTHER = dtypes.register_anonymous(np.dtype([("c", "i4"), ("d", "f8")]), "test_words_of_operators_b")
LONG = binary.register_anonymous(lambda x, y: sum(1 for _ in range(x)))
CASES = {
    "name": (lambda: unary.register_new("no name", lambda x: x), ValueError, "must be a Python identifier, or several"),
    "name, number": (lambda: binary.register_new(3, lambda x, y: x), ValueError, "must be a Python identifier.*got: 3"),
    "taken": (lambda: unary.register_new("abs", lambda x: x), AttributeError, "abs"),
    "missing": (lambda: unary.nothing, AttributeError, "nothing"),
    "near": (lambda: semiring.plus_time, AttributeError, "plus_times"),
    "member": (lambda: binary.numpy.nothing, AttributeError, "binary.numpy.*nothing"),
    "records": (lambda: binary.eq[PAIR, OTHER], KeyError, "compares user-defined types with themselves only"),
    "records, plus": (lambda: binary.plus[PAIR], KeyError, "plus does not work with"),
    "monoid, other": (
        lambda: monoid.register_anonymous(binary.eq, {"INT64": 0}),
        DomainMismatch,
        "gives BOOL for INT64",
    ),
    "monoid of a monoid": (lambda: monoid.register_anonymous(monoid.plus, 0), TypeError, ""),
    "semiring, monoid": (
        lambda: Semiring._build("a", binary.plus, binary.times),
        TypeError,
        "monoid must be a Monoid, not",
    ),
    "semiring, binary": (
        lambda: Semiring._build("a", monoid.plus, monoid.times),
        TypeError,
        "binaryop must be a BinaryOp",
    ),
    "parameterized": (
        lambda: ParameterizedSemiring("a", binary.plus, binary.times),
        TypeError,
        "must be of type Monoid or",
    ),
    "get_semiring": (
        lambda: gb.core.operator.get_semiring(monoid.plus, unary.abs),
        TypeError,
        "Expected a BinaryOp for the",
    ),
    "switched": (lambda: gb.core.operator.get_semiring(binary.plus, monoid.times), TypeError, "switched"),
    "functor": (
        lambda: to_cuda.functor(binary.plus["FP32"], "no name"),
        ValueError,
        "name 'no name' is no C.. identifier",
    ),
    "functor, place": (
        lambda: to_cuda.functor(semiring.ss.min_firsti["INT64"].binaryop, "F"),
        ValueError,
        "is positional",
    ),
    "functor, loop": (
        lambda: to_cuda.functor(LONG["INT64"], "F"),
        UdfParseError,
        "has no CUDA form: .*Rewrite the function",
    ),
    "type": (lambda: dtypes.lookup_dtype("INT65"), ValueError, "Unknown dtype: INT65"),
    "type, object": (lambda: dtypes.lookup_dtype(np.dtype(object)), ValueError, "Unknown dtype|Python objects"),
    "type, order": (lambda: dtypes.lookup_dtype(np.dtype(">f4")), ValueError, "foreign byte order.*astype"),
    "type, long": (
        lambda: dtypes.register_anonymous(np.longdouble),
        ValueError,
        "or is a long double, convert the values",
    ),
    "type, built in": (
        lambda: dtypes.register_anonymous(np.int8, "mine"),
        ValueError,
        "dtype must not be a builtin type",
    ),
    "type, taken": (
        lambda: dtypes.register_new("INT8", np.dtype([("q", "i4")])),
        ValueError,
        "name for dtype is unavail",
    ),
    "type, no name": (
        lambda: dtypes.register_new("a b", np.dtype([("q", "i4")])),
        ValueError,
        "a valid Python identifier",
    ),
    "type, function": (lambda: dtypes.register_new("unify", np.dtype([("q", "i4")])), ValueError, "is unavailable"),
}


@pytest.mark.parametrize("name", CASES)
def test_refused(name):
    call, kind, words = CASES[name]
    with pytest.raises(kind, match=words or None):
        call()


NAMED = {
    ("unary", "-"): unary.ainv, ("unary", "abs[int]"): unary.abs["INT64"], ("binary", "+"): binary.plus,
    ("binary", "plus[FP32]"): binary.plus["FP32"], ("binary", " Minus "): binary.minus, ("monoid", "+"): monoid.plus,
    ("monoid", "min[INT8]"): monoid.min["INT8"], ("monoid", "max"): monoid.max,
    ("semiring", "min_plus"): semiring.min_plus,
    ("semiring", "min.+"): semiring.min_plus, ("semiring", "plus_times[float]"): semiring.plus_times["FP64"],
    ("select", "tril"): select.tril, ("select", "<"): select.valuelt,
    ("select", "valuegt[int]"): select.valuegt["INT64"],
    ("indexunary", "rowindex"): indexunary.rowindex, ("indexunary", "<[FP64]"): indexunary.valuelt["FP64"],
    ("indexunary", "TRIL"): indexunary.tril, ("op", "+"): binary.plus, ("op", "abs"): unary.abs,
    ("op", "min_plus[int]"): semiring.min_plus["INT64"],
}  # fmt: skip
SPACES = {"unary": unary, "binary": binary, "monoid": monoid, "semiring": semiring, "select": select,
          "indexunary": indexunary, "op": op}  # fmt: skip


@pytest.mark.parametrize("kind, text", NAMED)
def test_names_of_operators(kind, text):
    assert SPACES[kind].from_string(text) is NAMED[kind, text]


@pytest.mark.parametrize("kind", SPACES)
def test_names_that_are_none(kind):
    for text, words in (
        ("nothing", "(Unknown|Bad) .*'nothing'"), ("min[int", "does not end with|Unknown|exactly one period"),
        ("min]", r"\"\]\" not matched|Unknown op|exactly one"),
        ("min[int][int]", r"too many \"\[\"|Unknown op|exactly one"), ("", None),
    ):  # fmt: skip
        with pytest.raises((ValueError, TypeError, KeyError), match=words):
            SPACES[kind].from_string(text)
    for other in (3, None, object()):
        with pytest.raises((TypeError, AttributeError)):
            SPACES[kind].from_string(other)
