"""Calling an operator: `unary.exp(A)`, `binary.plus(A, 1)`, `op.plus(A | B)`, `semiring.min_plus(A @ B)`.

Operators live below core and know no matrices; each one's `__call__` comes here through OpBase._call_handler.
"""

from ..operators import OpBase, find_opclass
from .arguments import literal, output_type

_COLLECTIONS = {"Vector", "Matrix", "TransposedMatrix"}


def call_operator(op, *args, **kwargs):
    """What `op(*args, **kwargs)` means, by the class of op."""
    return _BY_CLASS[find_opclass(op)[1]](op, *args, **kwargs)


def _call_unary(op, val):
    scalar = _as_operand(val)
    if scalar is None:
        raise TypeError(
            f"Bad type when calling {op!r}.\n"
            "    - Expected type: Scalar, Vector, Matrix, TransposedMatrix.\n"
            f"    - Got: {type(val)}.\n"
            "Calling a UnaryOp is syntactic sugar for calling apply.  "
            f"For example, `A.apply({op!r})` is the same as `{op!r}(A)`."
        )
    return scalar.apply(op)


def _as_operand(val):
    """What has an `apply`: `val`, or a Scalar of a literal, or None."""
    if output_type(val).__name__ in _COLLECTIONS or getattr(val, "_is_scalar", False):
        return val
    from .scalar import Scalar

    try:
        return Scalar._from_value(*literal(val), False, "")
    except (TypeError, ValueError):
        return None


def _call_binary(op, left, right=None, *, left_default=None, right_default=None):
    from .infix import InfixExpr

    if left_default is not None or right_default is not None:
        infix = isinstance(left, InfixExpr) and left.method_name == "ewise_add"
        if left_default is None or right_default is None or right is not None or not infix:
            raise TypeError(
                "Specifying `left_default` or `right_default` keyword arguments implies "
                "performing `ewise_union` operation with infix notation.\n"
                "There is only one valid way to do this:\n\n"
                f">>> {op}(x | y, left_default=0, right_default=0)\n\nwhere x and y "
                "are Vectors or Matrices, and left_default and right_default are scalars."
            )
        return left.close(op, (left_default, right_default))
    return _call_op(op, left, right)


def _call_semiring(op, left, right=None):
    if right is not None:
        raise TypeError(
            f"Bad types when calling {op!r}.  Got types: {type(left)}, {type(right)}.\n"
            f"Expected an infix expression, such as: {op!r}(A @ B)"
        )
    return _call_op(op, left)


def _call_index_unary(op, val, thunk=None):
    return _call_op(op, val, False if thunk is None else thunk)


def _call_select(op, val, thunk=None):
    thunk = False if thunk is None else thunk
    operand = _as_operand(val)
    if operand is None:
        raise TypeError(_bad_types(op, val, thunk))
    return operand.select(op, thunk=thunk)


def _call_op(op, left, right=None):
    if right is None:
        from .infix import InfixExpr

        if isinstance(left, InfixExpr):
            return left.close(op)
        if find_opclass(op)[1] == "Semiring":
            raise TypeError(
                f"Bad type when calling {op!r}.  Got type: {type(left)}.\n"
                f"Expected an infix expression, such as: {op!r}(A @ B)"
            )
        raise TypeError(f"Bad type when calling {op!r}.  Got type: {type(left)}.\n{_usage(op)}")
    if output_type(left).__name__ in _COLLECTIONS:
        return left.apply(op, right=right)
    if output_type(right).__name__ in _COLLECTIONS:
        return right.apply(op, left=left)
    if getattr(left, "_is_scalar", False):
        return left.apply(op, right=right)
    if getattr(right, "_is_scalar", False):
        return right.apply(op, left=left)
    operand = _as_operand(left)
    if operand is None:
        raise TypeError(_bad_types(op, left, right))
    return operand.apply(op, right=right)


def _bad_types(op, left, right):
    return f"Bad types when calling {op!r}.  Got types: {type(left)}, {type(right)}.\n{_usage(op)}"


def _usage(op):
    return (
        "Expected an infix expression or an apply with a Vector or Matrix and a scalar:\n"
        f"    - {op!r}(A & B)\n    - {op!r}(A, 1)\n    - {op!r}(1, A)"
    )


for _name, _function in (("UnaryOp", _call_unary), ("BinaryOp", _call_binary), ("Semiring", _call_semiring)):
    _function.__qualname__ = f"{_name}.__call__"  # what a TypeError about the arguments shows
_call_index_unary.__qualname__, _call_select.__qualname__ = "IndexUnaryOp.__call__", "SelectOp.__call__"

_BY_CLASS = {
    "UnaryOp": _call_unary, "BinaryOp": _call_binary, "Monoid": _call_binary, "Semiring": _call_semiring,
    "IndexUnaryOp": _call_index_unary, "SelectOp": _call_select,
}  # fmt: skip
OpBase._call_handler = staticmethod(call_operator)


# select.value(A > 3), select.row(A <= 2), select.column(A == 1), select.index(v >= 4)

_COMPARISONS = {
    "eq": "valueeq", "ne": "valuene", "le": "valuele", "lt": "valuelt", "ge": "valuege", "gt": "valuegt",
    "iseq": "valueeq", "isne": "valuene", "isle": "valuele", "islt": "valuelt", "isge": "valuege", "isgt": "valuegt",
}  # fmt: skip


def comparison_of(expr):
    """(object, operator's name, thunk) of an expression such as `A > 3`, else None."""
    record = getattr(expr, "_record", None)
    if record is None or record.op is None:
        return None
    if getattr(record, "other", None) is not None:  # two Scalars
        return record.scalar, record.op.name, record.other
    right = getattr(record, "right", None)
    if right is None or record.name != "apply":
        return None
    return (record.x.T if record.xt else record.x), record.op.name, right


def select_by(expr, callname, prefix):
    """The select expression that `select.<callname>(x <= 5)` stands for."""
    from .expression import BaseExpression

    if not isinstance(expr, BaseExpression):
        raise TypeError(
            f"Expected ScalarExpression, VectorExpression, or MatrixExpression; found {type(expr)}\n"
            f"Typical usage: select.{callname}(x <= 5)"
        )
    found = comparison_of(expr)
    if found is None or found[1] not in _COMPARISONS:
        raise ValueError(
            f"Unknown or unregistered select method: a comparison such as `x <= 5` is expected; got {expr.op}"
        )
    x, name, thunk = found
    comparison = _COMPARISONS[name].removeprefix("value")
    if prefix != "value":
        if comparison in ("lt", "ge"):  # over integers, < 5 is <= 4 and >= 5 is > 4
            comparison, thunk = {"lt": "le", "ge": "gt"}[comparison], int(thunk) - 1
        elif comparison not in ("le", "gt"):
            raise ValueError(f"Unknown or unregistered select method: {prefix}{comparison}")
        thunk = int(thunk)
    return x.select(prefix + comparison, thunk)


def match_select(parent, expr):
    """`A.select(A < 5)` as `A.select("<", 5)`; None when `expr` is no comparison of `parent` itself."""
    found = comparison_of(expr)
    if found is None or found[1] not in _COMPARISONS:
        return None
    x, name, thunk = found
    same = x is parent or (getattr(parent, "_is_transposed", False) and getattr(x, "_matrix", None) is parent._matrix)
    return parent.select(_COMPARISONS[name], thunk) if same else None


def _name_selects():
    """select.value, select.row, select.column and select.index."""
    from .. import select

    def named(callname, prefix):
        def by(expr):
            return select_by(expr, callname, prefix)

        by.__name__ = by.__qualname__ = callname
        by.__doc__ = f"The entries for which a comparison holds: `select.{callname}(x <= 5)`."
        return by

    for callname, prefix in (("value", "value"), ("row", "row"), ("column", "col"), ("index", "index")):
        setattr(select, callname, named(callname, prefix))


_name_selects()
