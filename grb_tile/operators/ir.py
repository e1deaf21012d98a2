"""Typed scalar expressions: what every operator is made of.

An operator's meaning is one small directed acyclic graph of `Node`s.  It is lowered to vectorised NumPy (to_numpy), to
scalar Python text for Numba (to_python) and to a CUDA C++ functor (to_cuda); nothing else says what an operator does.

    op       args        meaning
    "arg"    -           argument number `value`
    "const"  -           the number `value` as `type`
    "cast"   (a,)        a as `type` (grb_tile.dtypes.cast)
    "where"  (c, a, b)   a where the BOOL c holds, else b; both sides are evaluated, so every primitive is total
    name     operands    a primitive of operators/primitives.py; its operands agree in type unless its row says otherwise
"""


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
    return Node("arg", type_, value=position)


def constant(value, type_):
    return Node("const", type_, value=value)


def cast(node, type_):
    """`node` as `type_`; a constant is converted on the spot."""
    if node.type is type_:
        return node
    return Node("cast", type_, (node,))


def where(condition, yes, no):
    return yes if yes is no else Node("where", yes.type, (condition, yes, no))


def walk(root):
    """Every distinct node once, operands before their users."""
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
    """How often each node (by id) is an operand: those above 1 get a name in generated text."""
    counts = {}
    for node in walk(root):
        for child in node.args:
            counts[id(child)] = counts.get(id(child), 0) + 1
    return counts


def arguments_used(root):
    return {node.value for node in walk(root) if node.op == "arg"}


def renumber(root, mapping):
    """The same expression with argument k replaced by argument mapping[k]: f(x, y) becomes f(y, x)."""
    made = {}
    for node in walk(root):
        if node.op == "arg":
            made[id(node)] = argument(mapping[node.value], node.type)
        elif node.args:
            made[id(node)] = Node(node.op, node.type, tuple(made[id(c)] for c in node.args), node.value)
        else:
            made[id(node)] = node
    return made[id(root)]
