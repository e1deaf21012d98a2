"""Names of typed operators in the C API: GrB_PLUS_INT64, GxB_MIN_MAX_FP32, GrB_PLUS_TIMES_SEMIRING_FP64 ...

Spec: GraphBLAS C API 2.1, tables 3.5 to 3.9, for GrB_ names; SuiteSparse:GraphBLAS 9.4.5, GraphBLAS.h, for GxB_.
"""

from ..dtypes import BOOL, FC32, FC64, FP32, FP64

_UNARY_GRB = {"IDENTITY", "AINV", "MINV", "ABS", "BNOT"}
_BINARY_GRB = set("FIRST SECOND PLUS MINUS TIMES DIV MIN MAX EQ NE GT LT GE LE BOR BAND BXOR BXNOR".split())
_RENAMED = {"CDIV": "DIV", "TRUEDIV": "DIV", "RTRUEDIV": "RDIV", "FLOAT_POWER": "POW"}
_COMPUTED_IN_FP64 = {"TRUEDIV", "RTRUEDIV", "FLOAT_POWER"}
_SEMIRING_GRB = {
    "PLUS_TIMES", "PLUS_MIN", "MIN_PLUS", "MIN_TIMES", "MIN_FIRST", "MIN_SECOND", "MIN_MAX", "MAX_PLUS", "MAX_TIMES",
    "MAX_FIRST", "MAX_SECOND", "MAX_MIN",
}  # fmt: skip
_SEMIRING_GRB_BOOL = {"LOR_LAND", "LAND_LOR", "LXOR_LAND", "LXNOR_LOR"}


def gb_name(typed):
    """The C name of a predefined typed operator; `name_TYPE` for operators that the C API does not have."""
    parent = typed.parent
    plain = f"{typed.name}_{typed.type}"
    if not parent._builtin or typed.name.startswith("numpy.") and typed.name != "numpy.float_power":
        return plain
    name = typed.name.removeprefix("numpy.").upper()
    return _NAMED[typed.opclass](typed, name, typed.type) or plain


def _prefix(name, type_, grb):
    return "GrB" if name in grb and type_ not in (FC32, FC64) else "GxB"


def _unary(typed, name, type_):
    if name == "LNOT" and type_ is BOOL:
        return "GrB_LNOT"
    return f"{_prefix(name, type_, _UNARY_GRB)}_{name}_{type_}"


def _binary(typed, name, type_):
    if name in _COMPUTED_IN_FP64 and type_ not in (FP32, FC32, FC64):
        type_ = FP64
    name = _RENAMED.get(name, name)
    if name in ("FLOORDIV", "RFLOORDIV", "ABSFIRST", "ABSSECOND", "RPOW", "BINOM"):
        return None
    if name in ("LOR", "LAND", "LXOR", "LXNOR") and type_ is BOOL:
        return f"GrB_{name}"
    return f"{_prefix(name, type_, _BINARY_GRB)}_{name}_{type_}"


def _index(typed, name, type_):
    if name.startswith("VALUE"):
        return f"{'GxB' if type_ in (FC32, FC64) else 'GrB'}_{name}_{type_}"
    return f"GrB_{name}" if typed.return_type is BOOL else f"GrB_{name}_{type_}"


def _monoid(typed, name, type_):
    if name in ("ANY", "EQ", "BOR", "BAND", "BXOR", "BXNOR") or type_ in (FC32, FC64):
        return f"GxB_{name}_{type_}_MONOID"
    return f"GrB_{name}_MONOID_{type_}"


def _semiring(typed, name, type_):
    adder, multiply = name.split("_", 1)
    multiply = {"CDIV": "DIV"}.get(multiply, multiply)
    name = f"{adder}_{multiply}"
    if multiply in ("TRUEDIV", "RTRUEDIV", "FLOORDIV", "RFLOORDIV", "ABSFIRST", "ABSSECOND", "RPOW", "POW"):
        return None
    if name in _SEMIRING_GRB and type_ not in (BOOL, FC32, FC64) or name in _SEMIRING_GRB_BOOL and type_ is BOOL:
        return f"GrB_{name}_SEMIRING_{type_}"
    return f"GxB_{name}_{type_}"


_NAMED = {"UnaryOp": _unary, "BinaryOp": _binary, "IndexUnaryOp": _index, "SelectOp": _index, "Monoid": _monoid,
          "Semiring": _semiring}  # fmt: skip
