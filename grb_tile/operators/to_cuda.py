"""Lower a typed operator to a CUDA C++ functor over the functions of kernels/base/scalar.cuh."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from ..dtypes import INT64
from ..exceptions import UdfParseError
from .ir import postorder, uses

if TYPE_CHECKING:
    from .base import TypedOpBase

_ARGUMENTS = {1: ("x",), 2: ("x", "y"), 4: ("x", "i", "j", "thunk")}
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")


def functor(typed: TypedOpBase, name: str) -> str:
    """C++ text of `struct name` with `operator()(x)`, `(x, y)` or `(x, i, j, thunk)` const, of exactly the op's types.

    The lines of `includes(typed)` must precede it.
    Raises: UdfParseError for an operator that is not lowered and has no `cuda=` text; ValueError for a positional one.

    >>> from grb_tile import binary
    >>> print(functor(binary.plus["INT32"], "Add"))
    struct Add {
      using result_type = int32_t;
      __device__ __forceinline__ int32_t operator()(int32_t x, int32_t y) const {
        return grb::add(x, y);
      }
    };
    """
    if _NAME.match(name) is None:
        raise ValueError(f"functor: name {name!r} is no C++ identifier")
    if typed.positional is not None:
        raise ValueError(f"{typed!r} is positional: the kernel of the product computes it")
    types = argument_types(typed)
    arguments = _ARGUMENTS[len(types)]
    if typed.cuda_text is not None:
        text = typed.cuda_text.strip()
        body = ["    " + (text if "return" in text else f"return {text};")]
    elif typed.expression is None:
        reason = typed.refusal if typed.refusal is not None else "its source is not available"
        raise UdfParseError(
            f"{typed!r} has no CUDA form: {reason}.  Rewrite the function within what operators may use, or register "
            'it with cuda="..." giving the C++ expression in ' + ", ".join(arguments)
        )
    else:
        body = _body(typed.expression, arguments)
    result = typed.return_type.cuda_type
    parameters = ", ".join(f"{t.cuda_type} {a}" for t, a in zip(types, arguments))
    return "\n".join([
        f"struct {name} {{", f"  using result_type = {result};",
        f"  __device__ __forceinline__ {result} operator()({parameters}) const {{", *body, "  }", "};",
    ])  # fmt: skip


def argument_types(typed):
    """The types of the functor's parameters, in order."""
    if typed.opclass == "UnaryOp":
        return (typed.type,)
    if typed.opclass in ("IndexUnaryOp", "SelectOp"):
        return (typed.type, INT64, INT64, typed.thunk_type)
    return (typed.type, typed.type2)


def includes(*operators):
    """The #include lines that the functors of these typed operators need."""
    for typed in operators:
        types = [*argument_types(typed), typed.return_type]
        if typed.expression is not None:
            types += [node.type for node in postorder(typed.expression)]
        if any(t.np_type.kind == "c" for t in types):
            return '#include "base/scalar_complex.cuh"'
    return '#include "base/scalar.cuh"'


def _body(root, arguments):
    counts = uses(root)
    lines, text = statements(postorder(root), arguments, lambda node: counts.get(id(node), 0) > 1)
    return [*lines, f"    return {text[id(root)]};"]


def statements(nodes, arguments, has_name, real=None):
    """(lines that name the nodes of which has_name(node), {id: text} of all nodes) over the texts of the arguments.

    nodes: operands before the nodes that use them.
    real: the template parameter that is the type of all nodes, a floating-point one; None: each has its own type.
    """
    text, lines = {}, []
    for node in nodes:
        if node.op == "arg":
            text[id(node)] = arguments[node.value]
            continue
        if node.op == "const":
            text[id(node)] = _real(node.value, real) if real else constant_text(node.value, node.type)
            continue
        operands = [text[id(child)] for child in node.args]
        if node.op == "cast":
            wanted = node.type.cuda_type
            complex_from_real = node.type.np_type.kind == "c" and node.args[0].type.np_type.kind != "c"
            expression = f"grb::{'complex_cast' if complex_from_real else 'cast'}<{wanted}>({operands[0]})"
        else:
            expression = f"grb::{node.op}({', '.join(operands)})"
        if has_name(node):
            text[id(node)] = f"t{len(lines)}"
            lines.append(f"    const {real or node.type.cuda_type} t{len(lines)} = {expression};")
        else:
            text[id(node)] = expression
    return lines, text


def constant_text(value, dtype):
    """A C++ literal of exactly that type."""
    value = dtype.np_type.type(value)
    kind = dtype.np_type.kind
    if kind == "b":
        return "true" if value else "false"
    if kind == "c":
        part = dtype.cuda_type.split("<")[1].rstrip(">")
        return f"{dtype.cuda_type}({_real(value.real, part)}, {_real(value.imag, part)})"
    if kind == "f":
        return _real(value, dtype.cuda_type)
    if int(value) == -(2**63):
        return "int64_t(-9223372036854775807LL - 1)"
    return f"{dtype.cuda_type}({int(value)}{'ULL' if kind == 'u' else 'LL'})"


def _real(value, c_type):
    value = float(value)
    if value != value:
        return f"grb::nan_of({c_type}())"
    if value in (np.inf, -np.inf):
        return f"{'-' if value < 0 else ''}grb::inf_of({c_type}())"
    return f"{c_type}({value.hex()})"
