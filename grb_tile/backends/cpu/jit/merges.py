"""Lowering of unions and intersections: ADD, LONE_X and LONE_Y of templates/merge_*.py with their casts folded in.

    both present     OUT(op(cast x to op.type, cast y to op.type2))     OUT: from the operator's result to the result
    one present      the entry cast to the result's type, or
                     OUT(op(cast x to op.type, y_default))               with defaults (ewise_union)

Casts are those of dtypes.cast: operators/to_python.py lowers them, floating-point numbers to integers saturate.
"""

import ast

from grb_tile.operators import ir
from grb_tile.operators.to_python import expression_source

from . import specialise
from .operators import imports_compiled, lower, numpy_name


def lower_cast(have, want, name, preamble, sources):
    """A function from the syntax tree of a value of type `have` to that of the value cast to `want`."""
    numpy_name(have), numpy_name(want)  # raises NotLowerable
    if have is want or have.np_type == want.np_type:
        return lambda value: value
    if not any(source.startswith(f"def {name}(") for source in sources):
        lines, source = expression_source(ir.cast(ir.argument(0, have), want), name, ("x",))
        for line in lines.splitlines():
            preamble[line] = None
        sources.append(source)
        sources.append(f"{name} = register_jitable({name})")
    return lambda value: ast.Call(ast.Name(name, ast.Load()), [value], [])


def merge_text(template, constants, op, x_type, y_type, dtype, defaults):
    """The text of a merge of x and y by `op` into `dtype`; defaults: lone entries are combined.  Raises NotLowerable.

    Defaults come as op.type (of x) and op.type2 (of y).
    """
    preamble, sources = {}, []
    combine = lower(op, "ADD", preamble, sources)
    to_left = lower_cast(x_type, op.type, "TO_LEFT", preamble, sources)
    to_right = lower_cast(y_type, op.type2, "TO_RIGHT", preamble, sources)
    out = lower_cast(op.return_type, dtype, "OUT", preamble, sources)
    lone_x = lower_cast(x_type, dtype, "CAST_X", preamble, sources)
    lone_y = lower_cast(y_type, dtype, "CAST_Y", preamble, sources)
    calls = {"ADD": lambda given: out(combine([to_left(given[0]), to_right(given[1])]))}
    if defaults:
        calls["LONE_X"] = lambda given: out(combine([to_left(given[0]), given[1]]))
        calls["LONE_Y"] = lambda given: out(combine([given[1], to_right(given[0])]))
    else:
        calls["LONE_X"] = lambda given: lone_x(given[0])
        calls["LONE_Y"] = lambda given: lone_y(given[0])
    top = "\n".join([specialise.header(template, constants), imports_compiled(preamble), *sources])
    return specialise.specialise_text(template, constants, calls, top)


def structure_only(template, constants):
    """The text of a merge whose results are iso: values are not read."""
    calls = dict.fromkeys(("ADD", "LONE_X", "LONE_Y"), lambda given: given[0])
    return specialise.specialise_text(template, constants, calls, specialise.header(template, constants))
