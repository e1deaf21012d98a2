"""The predefined operators: one row each, with the name of a type rule and the definition as text.

A definition is one text, or one per type kind ("b" BOOL, "i" and "u" integers, "f" real, "c" complex; "*" the others),
in the primitives of primitives.py and Python's operators; x, y are the operands, i, j the position, thunk the scalar.
A text that gives BOOL where the rule wants another type is cast, so `x < y` serves lt (BOOL) and islt (0 or 1 of the
type).

A type rule maps an input type T to (type, inner, result): `type` is the typed operator used (another than T: T is
coerced), the operands are computed in `inner`, and the result has type `result`.
Spec: GraphBLAS C API 2.1, tables 3.5 and 3.6; SuiteSparse:GraphBLAS 9.4 user guide, sections 6.2 to 6.4.
"""

from ..dtypes import (
    BOOL,
    BUILTIN,
    FC32,
    FC64,
    FP32,
    FP64,
    INT8,
    INT16,
    INT32,
    INT64,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
)  # fmt: skip

INTEGERS = (INT8, UINT8, INT16, UINT16, INT32, UINT32, INT64, UINT64)
REALS = (BOOL, *INTEGERS, FP32, FP64)
COMPLEX = (FC32, FC64)
TO_FP32 = (BOOL, INT8, INT16, UINT8, UINT16)
TO_FP64 = (INT32, INT64, UINT32, UINT64)
_REAL_OF = {FC32: FP32, FC64: FP64}
_COMPLEX_OF = {FP32: FC32, FP64: FC64}


def _same(types):
    return {t: (t, t, t) for t in types}


def _to_bool(types):
    return {t: (t, t, BOOL) for t in types}


def _coerced(result, extra=()):
    """FP32, FP64 and `extra` types as they are; BOOL and integers are coerced to FP32 or FP64."""
    rule = {t: (t, t, result(t)) for t in (*extra, FP32, FP64)}
    rule.update({t: (FP32, FP32, result(FP32)) for t in TO_FP32})
    rule.update({t: (FP64, FP64, result(FP64)) for t in TO_FP64})
    return rule


def _computed(small, large, others):
    """Integers have their own typed operators, which compute in and return `small` (to 16 bits) or `large`."""
    rule = {t: (t, t, t) for t in others}
    rule.update({t: (t, small or t, small or t) for t in TO_FP32})
    rule.update({t: (t, large or t, large or t) for t in TO_FP64})
    return rule


def _itself(t):
    return t


_bool_as_int8 = {**_same((*INTEGERS, FP32, FP64)), BOOL: (BOOL, INT8, INT8)}
_position = {t: (t if t in (INT32, INT64) else INT64,) * 3 for t in BUILTIN}
RULES = {
    "all": _same(BUILTIN),
    "real": _same(REALS),
    "integer": _same(INTEGERS),
    "unsigned": _same((UINT8, UINT16, UINT32, UINT64)),
    "float": _same((FP32, FP64)),
    "complex": _same(COMPLEX),
    "all to bool": _to_bool(BUILTIN),
    "real to bool": _to_bool(REALS),
    "floats to bool": _to_bool((FP32, FP64, FC32, FC64)),
    "complex to real": {t: (t, t, _REAL_OF[t]) for t in COMPLEX},
    "abs": {**_same(REALS), **{t: (t, t, _REAL_OF[t]) for t in COMPLEX}},
    "coerced to float": _coerced(_itself),
    "coerced to float or complex": _coerced(_itself, COMPLEX),
    "coerced to cmplx": _coerced(_COMPLEX_OF.get),
    "ldexp": {t: r for t, r in _coerced(_itself).items() if t not in (FP32, FP64)},
    "coerced to bool": dict.fromkeys(REALS, (BOOL, BOOL, BOOL)),
    "position": _position,
    "division": {t: (t, t, t) if t in (FP32, FC32, FC64) else (t, FP64, FP64) for t in BUILTIN},
    "bool as int8": _bool_as_int8,
    "integer or bool as int8": {t: r for t, r in _bool_as_int8.items() if t not in (FP32, FP64)},
    "all, bool as int8": {**_bool_as_int8, **_same(COMPLEX)},
    "computed in float": _computed(FP32, FP64, (FP32, FP64)),
    "binom": dict.fromkeys(INTEGERS, (INT64, INT64, INT64)),
    "index": {t: (t if t is INT32 else INT64,) * 3 for t in (INT32, INT64, UINT64)},
    "diagindex": _same((INT32, INT64)),
    "index to bool": dict.fromkeys((BOOL, UINT64), (BOOL, BOOL, BOOL)),
}

_FLOATC = "coerced to float or complex"
UNARY = {
    "identity": ("all", "x"),
    "ainv": ("all", {"b": "x", "*": "-x"}),
    "minv": ("all", {"b": "True", "*": "cdiv(1, x)", "c": "minv_complex(x)"}),
    "one": ("all", {"b": "True", "*": "1"}),
    "abs": ("abs", {"b": "x", "*": "abs(x)"}),
    "bnot": ("integer", "bnot(x)"),
    "lnot": ("real", {"b": "not x", "*": "x == 0"}),
    **{
        name: (_FLOATC, f"{name}(x)")
        for name in (
            "acos acosh asin asinh atan atanh ceil cos cosh exp exp2 expm1 floor log log10 log1p log2 round signum sin "
            "sinh sqrt tan tanh trunc"
        ).split()
    },
    "cbrt": ("coerced to float", "cbrt(x)"),
    "isfinite": ("floats to bool", "isfinite(x)"),
    "isinf": ("floats to bool", "isinf(x)"),
    "isnan": ("floats to bool", "isnan(x)"),
    "conj": ("complex", "conj(x)"),
    "creal": ("complex to real", "creal(x)"),
    "cimag": ("complex to real", "cimag(x)"),
    "carg": ("complex to real", "carg(x)"),
    **{f"ss.{name}": ("coerced to float", f"{name}(x)") for name in ("erf", "erfc", "lgamma", "tgamma")},
    "ss.frexpe": ("float", "frexpe(x)"),
    "ss.frexpx": ("float", "frexpx(x)"),
    **{f"ss.position{p}": ("position", None) for p in ("i", "i1", "j", "j1")},
    # unary functions of numpy that differ from the operators above
    "numpy.deg2rad": ("computed in float", "x * 0.017453292519943295"),
    "numpy.radians": ("computed in float", "x * 0.017453292519943295"),
    "numpy.rad2deg": ("computed in float", "x * 57.29577951308232"),
    "numpy.degrees": ("computed in float", "x * 57.29577951308232"),
    "numpy.fabs": ("computed in float", "abs(x)"),
    "numpy.spacing": ("computed in float", "spacing(x)"),
    "numpy.reciprocal": ("all, bool as int8", {"i": "reciprocal_integer(x)", "u": "reciprocal_integer(x)",
                                               "f": "cdiv(1, x)", "c": "minv_complex(x)"}),
    "numpy.sign": ("all, bool as int8", {"i": "where(x > 0, 1, where(x < 0, 0 - 1, x))", "u": "where(x > 0, 1, x)",
                                         "f": "signum(x)", "c": "signum(x)"}),
    "numpy.square": ("all, bool as int8", "x * x"),
    "numpy.signbit": ("real to bool", {"f": "signbit(x)", "i": "x < 0", "*": "False"}),
}  # fmt: skip

_LOGICAL = {"land": "and", "lor": "or"}
BINARY = {
    "first": ("all", "x"),
    "second": ("all", "y"),
    "any": ("all", "y"),
    "pair": ("all", {"b": "True", "*": "1"}),
    "plus": ("all", {"b": "x or y", "*": "x + y"}),
    "minus": ("all", {"b": "lxor(x, y)", "*": "x - y"}),
    "rminus": ("all", {"b": "lxor(x, y)", "*": "y - x"}),
    "times": ("all", {"b": "x and y", "*": "x * y"}),
    "cdiv": ("all", {"b": "x", "*": "cdiv(x, y)"}),
    "rdiv": ("all", {"b": "y", "*": "cdiv(y, x)"}),
    "truediv": ("division", "cdiv(x, y)"),
    "rtruediv": ("division", "cdiv(y, x)"),
    "floordiv": ("bool as int8", "floordiv(x, y)"),
    "rfloordiv": ("bool as int8", "floordiv(y, x)"),
    "pow": ("all", {"b": "x or not y", "*": "pow(x, y)"}),
    "rpow": ("all, bool as int8", "wpow(y, x)"),
    "min": ("real", {"b": "x and y", "*": "fmin(x, y)"}),
    "max": ("real", {"b": "x or y", "*": "fmax(x, y)"}),
    **{f"is{n}": ("real", f"{n}(x, y)") for n in ("lt", "le", "gt", "ge")},
    **{n: ("real to bool", f"{n}(x, y)") for n in ("lt", "le", "gt", "ge")},
    **{f"is{n}": ("all", f"{n}(x, y)") for n in ("eq", "ne")},
    **{n: ("all to bool", f"{n}(x, y)") for n in ("eq", "ne")},
    "land": ("real", {"b": "x and y", "*": "(x != 0) and (y != 0)"}),
    "lor": ("real", {"b": "x or y", "*": "(x != 0) or (y != 0)"}),
    "lxor": ("real", {"b": "lxor(x, y)", "*": "lxor(x != 0, y != 0)"}),
    "lxnor": ("coerced to bool", "eq(x, y)"),
    "band": ("integer", "x & y"),
    "bor": ("integer", "x | y"),
    "bxor": ("integer", "x ^ y"),
    "bxnor": ("integer", "bnot(x ^ y)"),
    **{n: ("integer", f"{n}(x, y)") for n in ("bget", "bset", "bclr", "bshift")},
    **{n: ("coerced to float", f"{n}(x, y)") for n in ("atan2", "copysign", "fmod", "hypot", "remainder")},
    "ldexp": ("ldexp", "ldexp(x, y)"),
    "cmplx": ("coerced to cmplx", "cmplx(x, y)"),
    "absfirst": ("abs", {"b": "x", "*": "abs(x)"}),
    "abssecond": ("abs", {"b": "y", "*": "abs(y)"}),
    "binom": ("binom", "binom(x, y)"),
    **{f"ss.{who}{p}": ("position", None) for who in ("first", "second") for p in ("i", "i1", "j", "j1")},
    "numpy.float_power": ("division", "pow(x, y)"),
    "numpy.floor_divide": ("bool as int8", "floordiv(x, y)"),
    "numpy.fmod": ("bool as int8", "fmod(x, y)"),
    "numpy.mod": ("bool as int8", "mod(x, y)"),
    "numpy.remainder": ("bool as int8", "mod(x, y)"),
    "numpy.gcd": ("integer or bool as int8", "gcd(x, y)"),
    "numpy.lcm": ("integer or bool as int8", "lcm(x, y)"),
    "numpy.left_shift": ("integer or bool as int8", "shl(x, y)"),
    "numpy.right_shift": ("integer or bool as int8", "shr(x, y)"),
    "numpy.hypot": ("computed in float", "hypot(x, y)"),
    "numpy.logaddexp": ("computed in float", "logaddexp(x, y)"),
    "numpy.logaddexp2": ("computed in float", "logaddexp2(x, y)"),
    "numpy.nextafter": ("computed in float", "nextafter(x, y)"),
    "numpy.maximum": ("all", {"b": "x or y", "*": "nmax(x, y)"}),
    "numpy.minimum": ("all", {"b": "x and y", "*": "nmin(x, y)"}),
}

INDEXUNARY = {
    "tril": ("index to bool", "j <= i + thunk"),
    "triu": ("index to bool", "j >= i + thunk"),
    "diag": ("index to bool", "j == i + thunk"),
    "offdiag": ("index to bool", "j != i + thunk"),
    "rowle": ("index to bool", "i <= thunk"),
    "rowgt": ("index to bool", "i > thunk"),
    "colle": ("index to bool", "j <= thunk"),
    "colgt": ("index to bool", "j > thunk"),
    "rowindex": ("index", "i + thunk"),
    "colindex": ("index", "j + thunk"),
    "diagindex": ("diagindex", "j - (i + thunk)"),
    **{f"value{n}": ("all to bool", f"{n}(x, thunk)") for n in ("eq", "ne")},
    **{f"value{n}": ("real to bool", f"{n}(x, thunk)") for n in ("lt", "le", "gt", "ge")},
}
INDEX_ALIASES = {"indexle": "rowle", "indexgt": "rowgt", "index": "rowindex"}

# numpy's names of the operators above
UNARY_NUMPY = {
    "abs": "abs", "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh",
    "arctan": "atan", "arctanh": "atanh", "bitwise_not": "bnot", "conj": "conj", "conjugate": "conj", "invert": "bnot",
    "logical_not": "lnot", "negative": "ainv", "positive": "identity", "rint": "round",
    **{n: n for n in ("cbrt ceil cos cosh exp exp2 expm1 floor isfinite isinf isnan log log10 log1p log2 sin sinh "
                      "sqrt tan tanh trunc").split()},
}  # fmt: skip
BINARY_NUMPY = {
    "add": "plus", "bitwise_and": "band", "bitwise_or": "bor", "bitwise_xor": "bxor", "equal": "eq", "fmax": "max",
    "fmin": "min", "logical_and": "land", "logical_or": "lor", "logical_xor": "lxor", "multiply": "times",
    "arctan2": "atan2", "copysign": "copysign", "divide": "truediv", "greater": "gt", "greater_equal": "ge",
    "ldexp": "ldexp", "less": "lt", "less_equal": "le", "not_equal": "ne", "power": "pow", "subtract": "minus",
    "true_divide": "truediv",
}  # fmt: skip
MONOID_NUMPY = {
    "add": "plus", "bitwise_and": "band", "bitwise_or": "bor", "bitwise_xor": "bxor", "equal": "eq", "fmax": "max",
    "fmin": "min", "logical_and": "land", "logical_or": "lor", "logical_xor": "lxor", "multiply": "times",
}  # fmt: skip

COMMUTES = {
    "cdiv": "rdiv", "first": "second", "ge": "le", "gt": "lt", "isge": "isle", "isgt": "islt", "minus": "rminus",
    "pow": "rpow", "truediv": "rtruediv", "absfirst": "abssecond", "floordiv": "rfloordiv",
    "ss.firsti": "ss.secondi", "ss.firsti1": "ss.secondi1", "ss.firstj": "ss.secondj", "ss.firstj1": "ss.secondj1",
}  # fmt: skip
COMMUTES.update({b: a for a, b in COMMUTES.items()})
COMMUTATIVE = set(
    "any band bor bxnor bxor eq land lor lxnor lxor max min plus times hypot iseq isne ne pair numpy.gcd numpy.hypot "
    "numpy.lcm numpy.logaddexp numpy.logaddexp2 numpy.maximum numpy.minimum".split()
)
# In the transposed product C' = B' A' positions are exchanged, too: the row of the first operand is a column there.
COMMUTES_IN_PRODUCT = {
    f"ss.first{p}{one}": f"ss.second{q}{one}" for p, q in (("i", "j"), ("j", "i")) for one in ("", "1")
}
COMMUTES_IN_PRODUCT.update({b: a for a, b in COMMUTES_IN_PRODUCT.items()})
