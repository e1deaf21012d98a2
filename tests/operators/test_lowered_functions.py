"""What users' functions may be written with: each form lowered, and its values those of Python, value by value."""

import math

import numpy as np
import pytest

from grb_tile import dtypes
from grb_tile.exceptions import UdfParseError
from grb_tile.operators import BinaryOp, IndexUnaryOp, SelectOp, UnaryOp
from grb_tile.operators.from_python import expression_from_tree
from grb_tile.operators.source import function_tree


def helper(x, y):
    """Is inlined."""
    low, high = min(x, y), max(x, y)
    return high - low


def two_at_once(x, y):
    a, b = x + y, x - y
    c: int = a * b
    c += 1
    return c


def last_if(x, y):
    if x > y:
        z = x
    else:
        z = y + 1
    return -z


FUNCTIONS = {  # of two integers or two floats
    "pow": lambda x, y: pow(x, 2) + pow(y, 3),
    "round": lambda x, y: round(x * 1.5) - round(y / 4),
    "casts": lambda x, y: int(x / 2) + float(y) * 2,
    "to bool": lambda x, y: bool(x) + bool(y),
    "NumPy's types": lambda x, y: np.int64(x) * 3 - np.float64(y),
    "real part": lambda x, y: x.real - y.imag,
    "absolute": lambda x, y: abs(x) + np.abs(y) - np.absolute(x - y) + math.fabs(x),
    "signs": lambda x, y: np.sign(x) + 2 * np.sign(y),
    "squares": lambda x, y: np.square(x) - np.negative(y),
    "floors": lambda x, y: math.floor(x / 3) + math.ceil(y / 3) + 10 * math.trunc(x / 7),
    "NumPy's floors": lambda x, y: np.floor(x / 3) + np.ceil(y / 3) + 10 * np.trunc(x / 7),
    "constants": lambda x, y: math.pi * x + np.e * y - math.tau + (3 + 4 * 2 - 1 // 2),
    "divisions": lambda x, y: np.divide(x, 4) + np.true_divide(y, 8) + x / 3 + np.floor_divide(x, 2) + y // 3,
    "remainders": lambda x, y: np.mod(x, 4) + 10 * np.remainder(y, 3) + 100 * (x % 5),
    "extremes": lambda x, y: min(x, y, 2) + 10 * max(x, 3, y) + 100 * np.maximum(x, y) - np.minimum(x, 2 * y),
    "chains": lambda x, y: -3 < x <= y < 20,
    "comparisons": lambda x, y: (x == y) + 2 * (x != y) + 4 * (x >= y) + 8 * (x < y),
    "logic": lambda x, y: (x > 1 and y > 1) + 2 * (x > 1 or y > 1) + 4 * (not x),
    "values of logic": lambda x, y: (x and y) + 10 * (x or y),
    "bits of truth": lambda x, y: ((x > 1) & (y > 1)) + 2 * ((x > 1) | (y > 1)) + 4 * ((x > 1) ^ (y > 1)),
    "inverted truth": lambda x, y: np.float64(~np.bool_(x > y)) + (not y > 1),
    "plus": lambda x, y: +x - +y,
    "nested choices": lambda x, y: x if x > y else y if y > 3 else 7,
    "helper": lambda x, y: helper(x, y) + helper(2, y),
    "two at once": two_at_once,
    "last if": last_if,
    "functions": lambda x, y: math.hypot(x, y) + math.atan2(y, 3) + np.arctan2(x, 2) + math.copysign(2, x),
    "more functions": lambda x, y: np.exp(x / 30) + math.log1p(abs(y)) + np.cbrt(x) + math.sqrt(abs(y)),
    "a constant": lambda x, y: 5,
    "unused": lambda x, y: y * 2,
}
INTEGERS = {  # of two integers alone
    "shifts": lambda x, y: (x << 2) + (y >> 1),
    "bits": lambda x, y: (x & y) + 3 * (x | 8) - (x ^ y) + ~x,
    "divisors": lambda x, y: math.gcd(x, y) + np.gcd(x, 6) + math.lcm(x, 4),
    "to complex": lambda x, y: abs(complex(x, y)),
}
VALUES = {"i": [0, 1, -1, 2, 3, 5, -7, 11, 20], "u": [0, 1, 2, 5, 11], "f": [0.0, 1.0, -1.0, 0.5, 2.25, -7.0, 11.0]}
CASES = [(name, FUNCTIONS[name], kind) for name in FUNCTIONS for kind in ("INT64", "FP64", "INT16", "FP32")]
CASES += [(name, INTEGERS[name], kind) for name in INTEGERS for kind in ("INT64", "INT16")]


@pytest.mark.parametrize("name, function, kind", CASES, ids=[f"{name}-{kind}" for name, _, kind in CASES])
@pytest.mark.filterwarnings("ignore")
def test_values_are_pythons(name, function, kind):
    mine = BinaryOp.register_anonymous(function)
    assert mine._user.refusal is None, mine._user.refusal
    dtype = dtypes.lookup_dtype(kind)
    assert dtype in mine, mine.types
    values = np.array(VALUES[dtype.np_type.kind], dtype.np_type)
    x, y = (each.ravel() for each in np.meshgrid(values, values))
    expected = [function(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    typed = mine[dtype]
    got = typed.numpy(x, y)
    assert got.dtype == typed.return_type.np_type and got.shape == x.shape
    close = np.isclose(got.astype(float), np.array(expected, float), rtol=1e-5, atol=1e-5, equal_nan=True)
    wrong = np.flatnonzero(~close)
    assert not wrong.size, [(x[k], y[k], "gives", got[k], "not", expected[k]) for k in wrong[:5]]
    whole = all(isinstance(value, (bool, np.bool_)) for value in expected)
    assert not whole or typed.return_type.name == "BOOL"


def test_booleans():
    for function, wanted in (
        (lambda x, y: x & y, "BOOL"), (lambda x, y: x | y, "BOOL"), (lambda x, y: x ^ y, "BOOL"),
        (lambda x, y: x and not y, "BOOL"), (lambda x, y: x == y, "BOOL"), (lambda x, y: +x + y, "INT8"),
        (lambda x, y: x / 2 + y, "FP64"), (lambda x, y: np.float32(x) * y, "FP32"),
    ):  # fmt: skip
        typed = BinaryOp.register_anonymous(function)["BOOL"]
        x, y = np.array([False, False, True, True]), np.array([False, True, False, True])
        got = typed.numpy(x, y)
        assert typed.return_type.name == wanted and got.dtype == typed.return_type.np_type
        assert got.tolist() == [function(a, b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]


def test_complex_numbers():
    z = np.array([1 + 2j, -3.5j, 2, 0.25 - 1j])
    for function in (
        lambda x: x.real, lambda x: x.imag, lambda x: x * (2 - 1j), lambda x: abs(x), lambda x: np.conj(x) + x,
        lambda x: x.real + 1j * x.imag, lambda x: x == 2, lambda x: np.exp(x) - np.square(x), lambda x: -x / 2,
    ):  # fmt: skip
        typed = UnaryOp.register_anonymous(function)["FC64"]
        assert np.allclose(typed.numpy(z), [function(value) for value in z.tolist()])
    for function in (lambda x: int(x), lambda x: math.sqrt(x), lambda x: x > 1, lambda x: float(x)):
        assert "FC64" not in UnaryOp.register_anonymous(function)


def test_what_has_no_meaning_for_floats():
    for function in (lambda x, y: x << y, lambda x, y: math.gcd(x, y), lambda x, y: math.lcm(x, y)):
        mine = BinaryOp.register_anonymous(function)
        assert "INT64" in mine and "FP64" not in mine


REFUSED = {
    "keywords": (lambda x: round(x, ndigits=2), "keyword arguments"),
    "power of matrices": (lambda x: x @ x, "MatMult cannot be lowered"),
    "identity": (lambda x: x is None, "Is cannot be lowered"),
    "an attribute": (lambda x: math.no_such_thing * x, "unknown attribute"),
    "a division by zero": (lambda x: x + 1 / 0, "division by zero"),
    "a wrong count": (lambda x: helper(x), "takes 2 arguments"),
    "a text": (lambda x: x if x else "text", "only numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore")
def test_refusals_say_why(name):
    function, reason = REFUSED[name]
    tree, resolve = function_tree(function)
    with pytest.raises(UdfParseError, match=reason):
        expression_from_tree(tree, resolve, name, [dtypes.INT64])


def test_thunks_have_the_type_of_the_values():
    rows, cols = np.array([0, 2, 5]), np.array([1, 1, 7])
    for dtype, thunk, wanted in (
        ("FP32", 0.5, "FP32"),
        ("FP64", 0.25, "FP64"),
        ("INT8", 3, "INT8"),
        ("UINT64", 2, "UINT64"),
    ):
        typed = IndexUnaryOp.register_anonymous(lambda x, i, j, t: x + t)[dtype]
        np_type = typed.type.np_type
        assert (typed.thunk_type.name, typed.return_type.name) == (dtype, wanted)
        got = typed.numpy(np.array([1, 2, 3], np_type), rows, cols, np_type.type(thunk))
        assert got.dtype == np_type and got.tolist() == [1 + thunk, 2 + thunk, 3 + thunk]
        placed = IndexUnaryOp.register_anonymous(lambda x, i, j, t: i * 10 + j)[dtype]
        assert placed.return_type.name == (dtype if "INT" in dtype else "INT64")
        assert placed.numpy(np.zeros(3, np_type), rows, cols, np_type.type(0)).tolist() == [1, 21, 57]
        chosen = SelectOp.register_anonymous(lambda x, i, j, t: (x > t) & (i < j))[dtype]
        assert chosen.numpy(np.array([0, 9, 9], np_type), rows, cols, np_type.type(thunk)).tolist() == [
            False,
            False,
            True,
        ]
