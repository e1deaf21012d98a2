"""The primitives of which operators are composed: one row each, with their NumPy and scalar Python forms.

    numpy   a function of arrays, or a dict from type kind ("b" bool, "i", "u", "f", "c") to one
    python  scalar text for Numba and the reference backend; {0} {1} operands, {T} the type's NumPy constructor, {R} and
            {C} the result's, {MIN} {MAX} {BITS} of an integer type; functions of scalar.py are imported by the text
    result  "same" (the operands' type), "bool", "real" (the real type of a complex one), "complex", or a DataType
    warns   kinds of type for which NumPy may warn; the lowered function disables these warnings

The C++ form is the function of the same name in kernels/base/scalar.cuh (complex numbers: scalar_complex.cuh), called
with operands of exactly the row's types.  tests/operators checks that the three forms agree.
"""

from typing import Any

import numpy as np

from ..dtypes import BOOL, FC32, FC64, FP32, FP64, INT64
from . import vectorised as v


class Primitive:
    """A row: the fields are described in the module's docstring."""

    __slots__ = ("name", "numpy", "python", "result", "warns")

    def __init__(self, name, numpy, python, result="same", warns=""):
        self.name = name
        self.numpy = numpy
        self.python = python
        self.result = result
        self.warns = warns

    def numpy_for(self, kind):
        """The function for operands of that kind of type.  Raises: KeyError where the primitive is not defined."""
        return self.numpy[kind] if type(self.numpy) is dict else self.numpy

    def python_for(self, kind):
        """The scalar text for operands of that kind of type.  Raises: KeyError where the primitive is not defined."""
        return self.python[kind] if type(self.python) is dict else self.python

    def result_type(self, operand):
        """The DataType of the result for operands of that DataType."""
        rule = self.result
        if type(rule) is not str:
            return rule
        if rule == "same":
            return operand
        if rule == "bool":
            return BOOL
        if rule == "real":
            return {FC32: FP32, FC64: FP64}.get(operand, operand)
        if rule == "complex":
            return {FP32: FC32, FP64: FC64}[operand]
        raise KeyError(rule)


PRIMITIVES: dict[str, Any] = {}


def _row(name, numpy, python, result="same", warns=""):
    PRIMITIVES[name] = Primitive(name, numpy, python, result, warns)


def _arithmetic(text):
    """Texts by kind: integers are cast back, because Numba widens them to 64 bits; real and complex keep their type."""
    return {"i": "{T}(" + text + ")", "u": "{T}(" + text + ")", "f": text, "c": text}


_ALL = "iufc"
_row("add", dict.fromkeys(_ALL, np.add), _arithmetic("{0} + {1}"), warns="fc")
_row("sub", dict.fromkeys(_ALL, np.subtract), _arithmetic("{0} - {1}"), warns="fc")
_row("mul", dict.fromkeys(_ALL, np.multiply), _arithmetic("{0} * {1}"), warns="fc")
_row("neg", dict.fromkeys(_ALL, np.negative), {"i": "{T}(-{0})", "u": "{T}({T}(0) - {0})", "f": "-{0}", "c": "-{0}"})
_row(
    "abs",
    {"i": np.abs, "u": np.positive, "f": np.abs, "c": np.abs},
    {"i": "{T}({0} if {0} >= 0 else -{0})", "u": "{0}", "f": "abs({0})", "c": "{R}(abs({0}))"},
    "real",
    "fc",
)
_row(
    "cdiv",
    {"i": v.cdiv, "u": v.cdiv, "f": np.divide, "c": v.complex_div},
    {
        "i": "{T}(cdiv_signed({0}, {1}, {MIN}, {MAX}))",
        "u": "{T}(cdiv_unsigned({0}, {1}, {MAX}))",
        "f": "{T}(fdiv({0}, {1}))",
        "c": "{T}(complex_div({0}, {1}))",
    },
    warns="iufc",
)
_row(
    "floordiv",
    {"i": v.floordiv, "u": v.floordiv, "f": v.floordiv},
    {
        "i": "{T}(floordiv_integer({0}, {1}))",
        "u": "{T}(floordiv_integer({0}, {1}))",
        "f": "{T}(floordiv_float({0}, {1}))",
    },
    warns="iuf",
)
_row(
    "mod",
    {"i": np.remainder, "u": np.remainder, "f": np.remainder},
    {"i": "{T}(mod_integer({0}, {1}))", "u": "{T}(mod_integer({0}, {1}))", "f": "{T}(mod_float({0}, {1}))"},
    warns="iuf",
)
_row(
    "fmod",
    {"i": v.trunc_mod, "u": v.trunc_mod, "f": np.fmod},
    {"i": "{T}(fmod_integer({0}, {1}))", "u": "{T}(mod_integer({0}, {1}))", "f": "{T}(fmod_float({0}, {1}))"},
    warns="iuf",
)
_row("remainder", {"f": v.ieee_remainder}, {"f": "{T}(ieee_remainder({0}, {1}))"}, warns="f")
_row(
    "pow",
    {"i": v.integer_power, "u": v.integer_power, "f": v.float_power, "c": v.complex_power},
    {
        "i": "{T}(integer_power({0}, {1}, {MIN}, {MAX}))",
        "u": "{T}(unsigned_power({0}, {1}, {MAX}))",
        "f": "{T}(float_power({0}, {1}))",
        "c": "{T}(complex_power({0}, {1}))",
    },
    warns="iufc",
)
_row(
    "wpow",
    {"i": v.wrapping_power, "u": v.wrapping_power, "f": v.power, "c": v.complex_power},
    {
        "i": "{T}(wrapping_power({0}, {1}))",
        "u": "{T}(wrapping_power_unsigned({0}, {1}))",
        "f": "{T}(plain_power({0}, {1}))",
        "c": "{T}(complex_power({0}, {1}))",
    },
    warns="iufc",
)
_row(
    "fmin",
    {"i": np.minimum, "u": np.minimum, "f": np.fmin},
    {"i": "({0} if {0} <= {1} else {1})", "u": "({0} if {0} <= {1} else {1})", "f": "fmin({0}, {1})"},
)
_row(
    "fmax",
    {"i": np.maximum, "u": np.maximum, "f": np.fmax},
    {"i": "({0} if {0} >= {1} else {1})", "u": "({0} if {0} >= {1} else {1})", "f": "fmax({0}, {1})"},
)
_row(
    "nmin",
    {"i": np.minimum, "u": np.minimum, "f": np.minimum, "c": np.minimum},
    {
        "i": "({0} if {0} <= {1} else {1})",
        "u": "({0} if {0} <= {1} else {1})",
        "f": "nan_min({0}, {1})",
        "c": "complex_min({0}, {1})",
    },
    warns="fc",
)
_row(
    "nmax",
    {"i": np.maximum, "u": np.maximum, "f": np.maximum, "c": np.maximum},
    {
        "i": "({0} if {0} >= {1} else {1})",
        "u": "({0} if {0} >= {1} else {1})",
        "f": "nan_max({0}, {1})",
        "c": "complex_max({0}, {1})",
    },
    warns="fc",
)
_row("pmin", v.python_min, "({1} if {1} < {0} else {0})")
_row("pmax", v.python_max, "({1} if {1} > {0} else {0})")

for _name, _ufunc, _sign in (
    ("lt", np.less, "<"),
    ("le", np.less_equal, "<="),
    ("gt", np.greater, ">"),
    ("ge", np.greater_equal, ">="),
):
    _row(_name, dict.fromkeys("biuf", _ufunc), "({0} " + _sign + " {1})", "bool")
_row("eq", np.equal, "({0} == {1})", "bool")
_row("ne", np.not_equal, "({0} != {1})", "bool")
_row("land", {"b": np.logical_and}, "({0} and {1})", "bool")
_row("lor", {"b": np.logical_or}, "({0} or {1})", "bool")
_row("lxor", {"b": np.not_equal}, "({0} != {1})", "bool")
_row("lnot", {"b": np.logical_not}, "(not {0})", "bool")
_row("band", {"i": np.bitwise_and, "u": np.bitwise_and}, "{T}({0} & {1})")
_row("bor", {"i": np.bitwise_or, "u": np.bitwise_or}, "{T}({0} | {1})")
_row("bxor", {"i": np.bitwise_xor, "u": np.bitwise_xor}, "{T}({0} ^ {1})")
_row("bnot", {"i": np.invert, "u": np.invert}, "{T}(~{0})")
for _name, _helper in (
    ("shl", "shift_left"),
    ("shr", "shift_right"),
    ("bshift", "bshift"),
    ("bget", "bget"),
    ("bset", "bset"),
    ("bclr", "bclr"),
):
    _row(
        _name,
        {k: getattr(v, _helper) for k in "iu"},
        {"i": "{T}(" + _helper + "({0}, {1}, {BITS}))", "u": "{T}(" + _helper + "_unsigned({0}, {1}, {BITS}))"},
    )
_row("gcd", {"i": np.gcd, "u": np.gcd}, {"i": "{T}(gcd({0}, {1}))", "u": "{T}(gcd_unsigned({0}, {1}))"})
_row("lcm", {"i": np.lcm, "u": np.lcm}, {"i": "{T}(lcm({0}, {1}))", "u": "{T}(lcm_unsigned({0}, {1}))"})
_row("binom", {"i": v.binom}, "{T}(binom({0}, {1}))", INT64)

# Functions of one real or complex argument: a ufunc for both, unless SuiteSparse defines the complex one differently.
_COMPLEX_FUNCTIONS = {
    "exp2": v.complex_exp2,
    "expm1": v.complex_expm1,
    "log1p": v.complex_log1p,
    "log2": v.complex_log2,
    "log10": v.complex_log10,
    "ceil": v.by_part(np.ceil),
    "floor": v.by_part(np.floor),
    "trunc": v.by_part(np.trunc),
}
_NUMPY_NAME = {
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
}
_PLAIN = (
    "sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh ceil floor "
    "trunc"
).split()
for _name in _PLAIN:
    _ufunc = getattr(np, _NUMPY_NAME.get(_name, _name))
    _row(
        _name,
        {"f": _ufunc, "c": _COMPLEX_FUNCTIONS.get(_name, _ufunc)},
        {"f": f"np.{_NUMPY_NAME.get(_name, _name)}({{0}})", "c": f"{{T}}(complex_{_name}({{0}}))"},
        warns="fc",
    )
_row(
    "round",
    {"f": v.c_round, "c": v.by_part(v.c_round)},
    {"f": "{T}(c_round({0}))", "c": "{T}(complex_round({0}))"},
    warns="fc",
)
_row("rint", {"f": np.rint, "c": v.by_part(np.rint)}, {"f": "np.rint({0})", "c": "{T}(complex_rint({0}))"})
_row(
    "signum",
    {"f": v.signum, "c": v.complex_signum},
    {"f": "{T}(signum({0}))", "c": "{T}(complex_signum({0}))"},
    warns="fc",
)
_row("cbrt", {"f": np.cbrt}, "np.cbrt({0})")
for _name in ("erf", "erfc", "lgamma", "tgamma"):
    _row(_name, {"f": getattr(v, _name)}, "{T}(" + _name + "({0}))", warns="f")
_row("frexpx", {"f": v.frexpx}, "{T}(frexpx({0}))")
_row("frexpe", {"f": v.frexpe}, "{T}(frexpe({0}))")
_row("spacing", {"f": np.spacing}, "{T}(np.spacing({0}))", warns="f")
_row("reciprocal_integer", {"i": v.reciprocal_integer, "u": v.reciprocal_integer}, "{T}(reciprocal_integer({0}))")
_row("minv_complex", {"c": v.complex_minv}, "{T}(complex_div({T}(1), {0}))", warns="c")
_row("isnan", {"f": np.isnan, "c": np.isnan}, "({0} != {0})", "bool")
_row("isinf", {"f": np.isinf, "c": np.isinf}, {"f": "isinf({0})", "c": "isinf_complex({0})"}, "bool")
_row("isfinite", {"f": np.isfinite, "c": np.isfinite}, {"f": "isfinite({0})", "c": "isfinite_complex({0})"}, "bool")
_row("signbit", {"f": np.signbit}, "(copysign(1.0, {0}) < 0)", "bool")
_row("atan2", {"f": np.arctan2}, "{T}(atan2({0}, {1}))", warns="f")
_row("hypot", {"f": np.hypot}, "{T}(hypot({0}, {1}))", warns="f")
_row("copysign", {"f": np.copysign}, "{T}(copysign({0}, {1}))")
_row("ldexp", {"f": v.ldexp}, "{T}(ldexp_float({0}, {1}))", warns="f")
_row("nextafter", {"f": np.nextafter}, "np.nextafter({0}, {1})", warns="f")
_row("logaddexp", {"f": np.logaddexp}, "{T}(logaddexp({0}, {1}))", warns="f")
_row("logaddexp2", {"f": np.logaddexp2}, "{T}(logaddexp2({0}, {1}))", warns="f")
_row(
    "conj",
    {"c": np.conjugate, "f": np.positive, "i": np.positive, "u": np.positive},
    {"c": "{T}({0}.conjugate())", "f": "{0}", "i": "{0}", "u": "{0}"},
)
_row("creal", {"c": v.real_part}, "{0}.real", "real")
_row("cimag", {"c": v.imaginary_part}, "{0}.imag", "real")
_row("carg", {"c": v.carg}, "{R}(carg({0}))", "real", "c")
_row("cmplx", {"f": v.cmplx}, "{C}(complex({0}, {1}))", "complex")
