"""Lower a typed operator to scalar Python text that Numba compiles and plain Python runs, with NumPy's results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..dtypes import INT64
from . import scalar, scalar_complex
from .ir import postorder, uses
from .primitives import PRIMITIVES

if TYPE_CHECKING:
    from .base import TypedOpBase

_HELPERS = None
_CALL = re.compile(r"\b([a-z_][a-z_0-9]*)\(")
_ARGUMENTS = {1: ("x",), 2: ("x", "y"), 4: ("x", "i", "j", "thunk")}


def scalar_source(typed: TypedOpBase, name: str) -> tuple[str, str]:
    """(preamble, source): `source` defines function `name` of scalars (x), (x, y) or (x, i, j, thunk) of the op's
    types.

    The preamble's lines are imports: `import numpy as np` and `from grb_tile.operators.scalar import ...`.  Results
    have the op's return type under Numba.
    Raises: ValueError for positional operators and for functions that were not lowered.

    >>> from grb_tile import binary
    >>> print(scalar_source(binary.plus["INT8"], "add")[1])
    def add(x, y):
        return np.int8(x + y)
    """
    root = typed.expression
    if root is None:
        raise ValueError(f"{typed!r} has no scalar text: it is positional, or a function that could not be lowered")
    count = 1 if typed.opclass == "UnaryOp" else 2 if typed.opclass in ("BinaryOp", "Monoid") else 4
    return expression_source(root, name, _ARGUMENTS[count])


def expression_source(root, name, arguments):
    """scalar_source of an expression; `arguments` are the names of its arguments in order."""
    counts = uses(root)
    text, lines, helpers = {}, [], set()
    for node in postorder(root):
        if node.op == "arg":
            text[id(node)] = arguments[node.value]
            continue
        if node.op == "const":
            expression = constant_text(node)
        else:
            operands = [_operand(text[id(child)]) for child in node.args]
            if node.op == "cast":
                expression = _cast_text(node, operands[0])
            elif node.op == "where":
                expression = f"({operands[1]} if {operands[0]} else {operands[2]})"
            else:
                expression = _primitive_text(node, operands)
        helpers.update(n for n in _CALL.findall(expression) if n in helper_names())
        if counts.get(id(node), 0) > 1 and node.args:
            text[id(node)] = f"t{len(lines)}"
            lines.append(f"    t{len(lines)} = {expression}")
        else:
            text[id(node)] = expression
    result = text[id(root)]
    if root.op == "const":
        pass
    elif result.startswith("(") and result.endswith(")") and _balanced(result[1:-1]):
        result = result[1:-1]
    source = "\n".join([f"def {name}({', '.join(arguments)}):", *lines, f"    return {result}"])
    preamble = ["import numpy as np"]
    for module in ("scalar", "scalar_complex"):
        names = sorted(h for h in helpers if helper_names()[h] == module)
        if names:
            preamble.append(f"from grb_tile.operators.{module} import {', '.join(names)}")
    return "\n".join(preamble), source


def helper_names():
    """{name of a function: its module} for scalar.py and scalar_complex.py."""
    global _HELPERS
    if _HELPERS is None:
        _HELPERS = {
            name: module.__name__.rsplit(".", 1)[1]
            for module in (scalar, scalar_complex)
            for name, f in vars(module).items()
            if getattr(f, "__module__", "") == module.__name__
        }
    return _HELPERS


def helper(name):
    """The plain Python function of that name."""
    return getattr(scalar if helper_names()[name] == "scalar" else scalar_complex, name)


def _operand(text):
    """`text` as an operand: in parentheses, unless it is a name, a number or one call."""
    name, bracket, inner = text.partition("(")
    if name.replace(".", "").replace("_", "").isalnum() or not name:
        if not bracket or (inner.endswith(")") and _balanced(inner[:-1])):
            return text
    return f"({text})"


def _balanced(text):
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def _np(dtype):
    return "np.bool_" if dtype.np_type.kind == "b" else f"np.{dtype.np_type.name}"


def constant_text(node):
    """A literal of exactly the node's type."""
    value = node.type.np_type.type(node.value)
    kind = node.type.np_type.kind
    if kind == "b":
        return str(bool(value))
    if kind == "c":
        return f"{_np(node.type)}(complex({_float(value.real)}, {_float(value.imag)}))"
    if kind == "f":
        return f"{_np(node.type)}({_float(value)})"
    return integer_text(node.type, value)


def integer_text(dtype, value):
    """An integer literal of exactly that type; -2^63 is an expression, because its literal exceeds INT64."""
    if int(value) == -(2**63):
        return "np.int64(-9223372036854775807 - 1)"
    return f"{_np(dtype)}({int(value)})"


def _float(value):
    value = float(value)
    if value != value:
        return "np.nan"
    if value in (np.inf, -np.inf):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _primitive_text(node, operands):
    operand = node.args[0].type
    kind = operand.np_type.kind
    template = PRIMITIVES[node.op].python_for(kind)
    slots = {"T": _np(operand), "R": _np(node.type), "C": _np(node.type)}
    if kind in "iu":
        slots["MIN"] = integer_text(operand, operand.min)
        slots["MAX"] = integer_text(operand, operand.max)
        slots["BITS"] = str(8 * operand.np_type.itemsize)
    return template.format(*operands, **slots)


def _cast_text(node, operand):
    have, want = node.args[0].type, node.type
    source, to = have.np_type.kind, want.np_type.kind
    if to == "b":
        return f"({operand} != 0)"
    if source == "c" and to != "c":
        operand, source = f"{operand}.real", "f"
    if source == "f" and to == "i":
        return f"{_np(want)}(saturate({operand}, {integer_text(INT64, want.min)}, {integer_text(INT64, want.max)}))"
    if source == "f" and to == "u":
        return f"{_np(want)}(saturate_unsigned({operand}, np.uint64({int(want.max)})))"
    if to == "c" and source != "c":
        return f"{_np(want)}(complex(np.float64({operand}), 0.0))"
    return f"{_np(want)}({operand})"


__all__ = ["constant_text", "expression_source", "helper_names", "scalar_source"]
