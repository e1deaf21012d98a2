"""Selecting by a comparison: `A.select(A < 5)`, `select.value(A > 3)`, `select.row(A <= 2)`, `select.index(v >= 4)`."""

from .expression import BaseExpression

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
