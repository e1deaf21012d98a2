"""Lower a typed expression to a vectorised NumPy function that never warns.

    one primitive of the arguments     its ufunc, with warnings disabled where it can warn
    any other expression               a generated function, one line for each node that is used twice

The result has the expression's dtype and the broadcast shape of all arguments, used or not.
"""

import numpy as np

from ..dtypes import cast
from .ir import arguments_used, postorder, uses
from .primitives import PRIMITIVES

_silently = np.errstate(all="ignore")


def numpy_function(root, count):
    """The function f(a0, ..., a[count - 1]) of arrays that computes `root` for each element."""
    direct = _direct(root, count)
    if direct is not None:
        return direct
    names = {"np": np}
    lines = []
    warns = False
    counts = uses(root)
    text = {}
    for node in postorder(root):
        if node.op == "arg":
            text[id(node)] = f"a{node.value}"
            continue
        if node.op == "const":
            key = f"c{len(names)}"
            names[key] = node.type.np_type.type(node.value)
            text[id(node)] = key
            continue
        operands = [text[id(child)] for child in node.args]
        if node.op == "cast":
            expression = _cast_text(node, operands[0], names)
        elif node.op == "where":
            expression = f"np.where({', '.join(operands)})"
        else:
            primitive = PRIMITIVES[node.op]
            kind = node.args[0].type.np_type.kind
            key = f"f_{node.op}_{kind}"
            names[key] = primitive.numpy_for(kind)
            warns |= kind in primitive.warns
            expression = f"{key}({', '.join(operands)})"
        if counts.get(id(node), 0) > 1:
            text[id(node)] = f"t{len(lines)}"
            lines.append(f"    {text[id(node)]} = {expression}")
        else:
            text[id(node)] = expression
    result = text[id(root)]
    unused = set(range(count)) - arguments_used(root)
    if unused:
        names["spread"] = _spread
        names["dtype"] = root.type.np_type
        result = f"spread(dtype, {result}, {', '.join(f'a{k}' for k in range(count))})"
    arguments = ", ".join(f"a{k}" for k in range(count))
    source = "\n".join([f"def lowered({arguments}):", *lines, f"    return {result}"])
    exec(compile(source, "<operator>", "exec"), names)  # generated above: names and numbers of a checked expression
    lowered = names["lowered"]
    return _silently(lowered) if warns else lowered


def ufunc_of(function):
    """The NumPy ufunc of an operator's NumPy function, which may wrap it to disable warnings; None for another one."""
    function = getattr(function, "__wrapped__", function)
    return function if isinstance(function, np.ufunc) else None


def _direct(root, count):
    if root.op == "arg":
        if count == 1:
            return _itself
        if count == 2:
            return _first if root.value == 0 else _second
        return None
    if root.op == "const":
        return _constant(root.type.np_type, root.type.np_type.type(root.value), count)
    if root.op in ("cast", "where") or len(root.args) != count:
        return None
    if any(child.op != "arg" or child.value != k for k, child in enumerate(root.args)):
        return None
    primitive = PRIMITIVES[root.op]
    kind = root.args[0].type.np_type.kind
    function = primitive.numpy_for(kind)
    return _silently(function) if kind in primitive.warns else function


def _constant(dtype, value, count):
    if count == 1:
        return lambda x: np.full(np.shape(x), value, dtype)

    def constant(*arrays):
        shapes = {np.shape(a) for a in arrays}
        return np.full(shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes), value, dtype)

    return constant


def _cast_text(node, operand, names):
    have, want = node.args[0].type.np_type.kind, node.type.np_type.kind
    if want == "b":
        return f"({operand} != 0)"
    names[f"d_{node.type.name}"] = node.type.np_type
    if have in "bui" or (have == want == "f" and node.type.np_type.itemsize == 8):
        return f"{operand}.astype(d_{node.type.name})"
    names["cast"] = cast
    names[f"t_{node.type.name}"] = node.type
    return f"cast({operand}, t_{node.type.name})"


def _itself(x):
    return x


def _first(x, y):
    return x if np.shape(x) == np.shape(y) else np.array(np.broadcast_arrays(x, y)[0])


def _second(x, y):
    return y if np.shape(x) == np.shape(y) else np.array(np.broadcast_arrays(x, y)[1])


def _spread(dtype, result, *arrays):
    """`result`, which does not depend on all arguments, broadcast to their common shape."""
    have = np.shape(result)
    shapes = {np.shape(a) for a in arrays}
    if len(have) == 1 and shapes <= {(), (1,), have}:  # a broadcast in NumPy takes 10 us
        return np.asarray(result)
    shape = np.broadcast_shapes(*shapes)
    if have == shape:
        return np.asarray(result)
    out = np.empty(shape, dtype)
    out[...] = result
    return out
