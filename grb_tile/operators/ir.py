"""Typed scalar expressions, which define the operators.

An operator is defined by one small directed acyclic graph of `Node`s.  It is lowered to vectorised NumPy (to_numpy), to
scalar Python text for Numba (to_python) and to a CUDA C++ functor (to_cuda).

    op       args        meaning
    "arg"    -           argument number `value`
    "const"  -           the number `value` as `type`
    "cast"   (a,)        a as `type` (grb_tile.dtypes.cast)
    "where"  (c, a, b)   a where the BOOL c is true, else b; both are evaluated, so every primitive is total
    name     operands    a primitive of operators/primitives.py; its operands have one type
"""

import numpy as np

from ..dtypes import FP32, FP64

_COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
_CHOICES = frozenset(("pmin", "pmax", "fmin", "fmax", "nmin", "nmax", "where"))  # the result is one of the operands


class Node:
    """One typed expression; shared sub-expressions are shared objects."""

    __slots__ = ("args", "op", "type", "value")

    def __init__(self, op, type_, args=(), value=None):
        self.op = op
        self.type = type_
        self.args = args
        self.value = value

    def __repr__(self):
        if self.op == "arg":
            return f"arg{self.value}:{self.type}"
        if self.op == "const":
            return f"{self.value}:{self.type}"
        return f"{self.op}({', '.join(map(repr, self.args))}):{self.type}"


def argument(position, type_):
    """The node of argument number `position`."""
    return Node("arg", type_, value=position)


def constant(value, type_):
    """The node of a number."""
    return Node("const", type_, value=value)


def cast(node, type_):
    """`node` as `type_`; `node` itself if it has that type."""
    if node.type is type_:
        return node
    return Node("cast", type_, (node,))


def where(condition, yes, no):
    """The node of `yes if condition else no`; `yes` if both are one node."""
    return yes if yes is no else Node("where", yes.type, (condition, yes, no))


def postorder(root):
    """Every distinct node once, operands before the nodes that use them."""
    seen, order = set(), []

    def visit(node):
        if id(node) in seen:
            return
        seen.add(id(node))
        for child in node.args:
            visit(child)
        order.append(node)

    visit(root)
    return order


def uses(root):
    """{id of a node: how often it is an operand}; nodes above 1 get a name in generated text."""
    counts = {}
    for node in postorder(root):
        for child in node.args:
            counts[id(child)] = counts.get(id(child), 0) + 1
    return counts


def arguments_used(root):
    """The numbers of the arguments in `root`."""
    return {node.value for node in postorder(root) if node.op == "arg"}


def renumber(root, mapping):
    """The same expression with argument k replaced by argument mapping[k]; {0: 1, 1: 0} makes f(y, x) of f(x, y)."""
    made = {}
    for node in postorder(root):
        if node.op == "arg":
            made[id(node)] = argument(mapping[node.value], node.type)
        elif node.args:
            made[id(node)] = Node(node.op, node.type, tuple(made[id(c)] for c in node.args), node.value)
        else:
            made[id(node)] = node
    return made[id(root)]


def narrowed(root):
    """The same expression with comparisons and choices (min, max, where) of FP32 numbers in FP32 instead of FP64.

    A literal makes both operands FP64 (from_python), and GPUs convert slowly.  FP32(min(1e6, FP64(x))) becomes
    min(1e6, x); the result is the same, because FP32 represents 1e6 exactly.
    """
    made = {}
    for node in postorder(root):
        args = tuple(made[id(c)] for c in node.args)
        free = 1 if node.op == "where" else 0  # the condition stays as it is
        if node.op in _COMPARISONS or node.op in _CHOICES:
            narrow = [_as_fp32(c) for c in args[free:]]
            if None not in narrow and any(c.op == "cast" for c in args[free:]):
                args = (*args[:free], *narrow)
                chosen = node.op in _CHOICES
                new = Node(node.op, FP32 if chosen else node.type, args)
                made[id(node)] = cast(new, FP64) if chosen else new
                continue
        if node.op == "cast" and node.type is FP32 and args[0].type is FP64:
            narrow = _as_fp32(args[0])
            if narrow is not None:
                made[id(node)] = narrow
                continue
        made[id(node)] = Node(node.op, node.type, args, node.value) if args != node.args else node
    return made[id(root)]


def _as_fp32(node):
    """The FP32 node equal to the FP64 `node`, which is a cast from FP32 or an exact constant; otherwise None."""
    if node.type is not FP64 or node.op not in ("cast", "const"):
        return None
    inner = node.args[0] if node.op == "cast" else node
    if inner.type is FP32:
        return inner
    if inner.op != "const" or inner.type.np_type.kind not in "biuf":
        return None
    value = float(inner.value)
    with np.errstate(over="ignore"):
        narrow = float(np.float32(value))
    return constant(narrow, FP32) if narrow == value or value != value else None
