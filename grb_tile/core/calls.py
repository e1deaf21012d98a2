"""Calling an operator: `unary.exp(A)`, `binary.plus(A, 1)`, `op.plus(A | B)`, `semiring.min_plus(A @ B)`.

Operators stand below core and import no matrices: `OpBase.__call__` calls `call_operator` through OpBase._call_handler.
"""

from .. import select
from ..operators import AggregatorBase, OpBase, find_opclass
from . import kinds
from .arguments import literal, output_type
from .comparisons import select_by
from .infix import InfixExpr


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
    if output_type(val) in kinds.COLLECTIONS or getattr(val, "_is_scalar", False):
        return val
    try:
        return kinds.Scalar._from_value(*literal(val), False, "")
    except (TypeError, ValueError):
        return None


def _call_binary(op, left, right=None, *, left_default=None, right_default=None):
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
        if isinstance(left, InfixExpr):
            return left.close(op)
        if find_opclass(op)[1] == "Semiring":
            raise TypeError(
                f"Bad type when calling {op!r}.  Got type: {type(left)}.\n"
                f"Expected an infix expression, such as: {op!r}(A @ B)"
            )
        raise TypeError(f"Bad type when calling {op!r}.  Got type: {type(left)}.\n{_usage(op)}")
    if output_type(left) in kinds.COLLECTIONS:
        return left.apply(op, right=right)
    if output_type(right) in kinds.COLLECTIONS:
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


def find_aggregator(name):
    """The aggregator called `name`, None where there is none; aggregate.py is loaded by the first call."""
    from .aggregate import find

    return find(name)


def aggregator_names():
    """The names of all aggregators."""
    from .aggregate import AGGREGATORS

    return list(AGGREGATORS)


AggregatorBase._finder = staticmethod(find_aggregator)
AggregatorBase._names = staticmethod(aggregator_names)


def _name_selects():
    """select.value, select.row, select.column and select.index."""

    def named(callname, prefix):
        def by(expr):
            return select_by(expr, callname, prefix)

        by.__name__ = by.__qualname__ = callname
        by.__doc__ = f"The entries for which a comparison holds: `select.{callname}(x <= 5)`."
        return by

    for callname, prefix in (("value", "value"), ("row", "row"), ("column", "col"), ("index", "index")):
        setattr(select, callname, named(callname, prefix))


_name_selects()
