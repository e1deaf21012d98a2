"""Text forms of objects, masks and expressions: a header of facts and a table of what fits a screen."""

from ..config import config
from ..dtypes import BOOL
from ..exceptions import OutOfMemory
from .display_grid import format_grid, grid
from .display_pandas import as_text


def header(type_name, keys, values, *, name="", quote=True, border=False):
    """The object's name and kind at the left, facts in columns beside them."""
    values = [str(x) for x in values]
    if name and quote:
        name = f'"{name}"'
    kinds = [type_name] if isinstance(type_name, str) else list(type_name)
    width = max(map(len, [*kinds, name]))
    key_text = "".join(key.rjust(max(len(key), len(value)) + 2) for key, value in zip(keys, values, strict=True))
    value_text = "".join(value.rjust(max(len(key), len(value)) + 2) for key, value in zip(keys, values, strict=True))
    lines = [name.ljust(width) + key_text, *(kind.ljust(width) for kind in kinds)]
    lines[-1] += value_text
    if border:
        lines.append("-" * len(lines[0]))
    return "\n".join(lines)


def storage_format(x):
    """The storage format, named as in `.ss.format`, e.g. "csr" or "full (iso)"; a transpose by its columns."""
    store = x.gb_obj
    form = store.format
    if form == "bitmap" and store.words is None:
        form = "full"
    form = {"dcsr": "hypercsr"}.get(form, form)
    if getattr(x, "_is_transposed", False):
        form = form[:-1] + {"r": "c", "c": "r"}[form[-1]]
    return f"{form} (iso)" if store.iso else form


def facts(x, mask=None, expr=None):
    """(kind, keys, values) of an object's header."""
    kind = f"gb.{type(x).__name__}"
    if mask is not None:
        kind = [type(mask).__name__, f"of {kind}"]
    keys = ["nvals", "size"] if x.ndim == 1 else ["nvals", "nrows", "ncols"]
    keys, values = [*keys, "dtype"], [x.nvals, *x.shape, x.dtype.name]
    if expr is None:
        keys, values = [*keys, "format"], [*values, storage_format(x)]
    return kind, keys, values


# ---------------------------------------------------------------- objects and expressions


def part_facts(x):
    """(keys, values) of what this rank knows of a distributed object without the others; None: an ordinary one.

    Nothing is exchanged, so that one rank alone may print the object.
    """
    x = getattr(x, "_matrix", x)  # of a transpose
    store = x._store if x._pending is None else x._base
    if not store.is_part:
        return None
    rows = "positions" if x.ndim == 1 else "rows"
    layout = store.layout
    here = f"{layout.first} .. {layout.stop - 1}" if len(layout) else "none"
    return [f"{rows} here", "nvals here", "ranks"], [here, store.local.nvals, store.world.size]


def distributed_facts(x):
    """(kind, keys, values) of a distributed object's header; None: an ordinary one."""
    part = part_facts(x)
    if part is None:
        return None
    sizes = ["size"] if x.ndim == 1 else ["nrows", "ncols"]
    return f"gb.{type(x).__name__}", [*sizes, "dtype", *part[0]], [*x.shape, x.dtype.name, *part[1]]


def format_object(x, *, mask=None, expr=None):
    """repr of a Matrix, Vector, Scalar or TransposedMatrix, of a mask of it, or of the value of an expression."""
    if x.ndim == 0:
        return header("gb.Scalar", ["value", "dtype"], [x.value, x.dtype], name=x.name)
    if (found := distributed_facts(x)) is not None:
        return header(*found, name=x.name) + "\n(distributed: gather() has all entries)"
    kind, keys, values = facts(x, mask, expr)
    text = header(kind, keys, values, name=x.name if mask is None else mask.name, border=True)
    if 0 in x.shape:
        return text
    table = as_text(x, mask)
    return f"{text}\n{format_grid(*grid(x, mask)) if table is None else table}"


def is_auto_computable(expr):
    """Whether showing an expression may compute it: not `x | y` or `x & y` of other than Boolean operands."""
    symbol = getattr(expr, "_symbol", "@")
    return symbol == "@" or (expr.left.dtype is BOOL and expr.right.dtype is BOOL)


def result_text(expr):
    """The value of an expression when autocompute is on."""
    if not (config.get("autocompute") and is_auto_computable(expr)):
        return ""
    try:
        value = expr.new(name="Result")
    except OutOfMemory:
        return "Result is too large to compute!\n\n"
    return value.__repr__(expr=expr) + "\n\n" if value.ndim else repr(value) + "\n\n"


def expression_facts(expr):
    """(keys, values) of an expression's header."""
    keys = {0: [], 1: ["size"], 2: ["nrows", "ncols"]}[expr.ndim]
    if hasattr(type(expr), "_symbol"):
        return [*keys, "left_dtype", "right_dtype"], [*expr.shape, _dtype_of(expr.left), _dtype_of(expr.right)]
    return [*keys, "dtype"], [*expr.shape, expr.dtype]


def _dtype_of(x):
    try:
        return x.dtype
    except (AttributeError, TypeError):
        return "?"


def format_expression(expr):
    """repr of an expression, an infix form or an indexed form: what it is, its value, and how to go on."""
    text = expr._format_expr()
    keys, values = expression_facts(expr)
    top = header(text, keys, values, name=f"gb.{type(expr).__name__}", quote=False)
    return f"{top}\n\n{result_text(expr)}{advice(expr, text)}"


def advice(expr, text):
    """What can be done with an expression."""
    out = expr.output_type.__name__
    symbol = "M" if out == "Matrix" else out[0].lower()
    if hasattr(type(expr), "_symbol"):
        return (
            f"Do op(expr) to create a {expr._kind.__name__} for {expr.method_name}.\n"
            f"For example: {expr._example}({text})"
        )
    if hasattr(expr, "resolved_indexes"):
        return (
            f"This expression may be used to extract or assign a {out}.\n"
            f"Example extract: {text}.new()\nExample assign: {text} << {symbol}"
        )
    return "Do expr.new() or other << expr to calculate the expression."
