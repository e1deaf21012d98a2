"""Lowering of unions, intersections and select: operators of templates with their casts folded in.

ADD, LONE_X and LONE_Y of templates/merge_*.py:

    both present     OUT(op(cast x to op.type, cast y to op.type2))     OUT: from the operator's result to the result
    one present      the entry cast to the result's type, or
                     OUT(op(cast x to op.type, y_default))               with defaults (ewise_union)

KEEP of templates/select_entries.py is the select operator of (cast x to op.type, i, j, thunk).  Casts are those of
dtypes.cast: operators/to_python.py lowers them, floating-point numbers to integers saturate.
"""

from grb_tile.operators import ir
from grb_tile.operators.to_python import expression_source, scalar_source

from .operators import NotLowerable, lower, numpy_name
from .recipe import Recipe


def lower_cast(have, want, name, preamble, sources):
    """The expression of {x}, a value of type `have`, that casts it to `want`."""
    numpy_name(have), numpy_name(want)  # raises NotLowerable
    if have is want or have.np_type == want.np_type:
        return "{x}"
    if not any(source.startswith(f"def {name}(") for source in sources):
        lines, source = expression_source(ir.cast(ir.argument(0, have), want), name, ("x",))
        preamble.extend(line for line in lines.splitlines() if line not in preamble)
        sources.append(source)
        sources.append(f"{name} = register_jitable({name})")
    return f"{name}({{x}})"


def merge_recipe(template, constants, op, x_type, y_type, dtype, defaults):
    """The recipe of a merge of x and y by `op` into `dtype`; defaults: lone entries are combined.  Raises NotLowerable.

    Defaults come as op.type (of x) and op.type2 (of y).
    """
    preamble, sources = [], []
    combine = lower(op, "ADD", preamble, sources)
    left = lower_cast(x_type, op.type, "TO_LEFT", preamble, sources)
    right = lower_cast(y_type, op.type2, "TO_RIGHT", preamble, sources)
    out = lower_cast(op.return_type, dtype, "OUT", preamble, sources)
    lone_x = lower_cast(x_type, dtype, "CAST_X", preamble, sources)
    lone_y = lower_cast(y_type, dtype, "CAST_Y", preamble, sources)

    def combined(x, y):
        return out.format(x=combine.format(x=x, y=y))

    calls = {"ADD": combined(left, right.format(x="{y}"))}
    if defaults:  # {x} is the entry, {y} the default of the other operand
        calls["LONE_X"] = combined(left, "{y}")
        calls["LONE_Y"] = combined("{y}", right)
    else:
        calls["LONE_X"], calls["LONE_Y"] = lone_x, lone_y
    return Recipe(template, constants, calls, (), preamble, sources)


def structure_only(template, constants):
    """The recipe of a merge whose results are iso: values are not read."""
    return Recipe(template, constants, dict.fromkeys(("ADD", "LONE_X", "LONE_Y"), "{x}"))


# KEEP(x, thunk, i, j) as an expression of {x}, {y}, {i}, {k}.  Differences of indices fit in 64 bits, sums with any
# thunk do not.
OF_POSITIONS = {
    "tril": "{k} - {i} <= {y}", "triu": "{k} - {i} >= {y}", "diag": "{k} - {i} == {y}",
    "offdiag": "{k} - {i} != {y}", "colle": "{k} <= {y}", "colgt": "{k} > {y}",
}  # fmt: skip


def select_recipe(template, constants, op, dtype):
    """The recipe of a selection of entries of type `dtype` by a typed select operator.  Raises NotLowerable."""
    preamble, sources = [], []
    numpy_name(dtype)
    if op.return_type.np_type.kind != "b":
        raise NotLowerable(op.name)
    keep = OF_POSITIONS.get(op.kind)
    if keep is None:
        try:
            lines, source = scalar_source(op, "KEEP")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise NotLowerable(f"{op.name}: {error}") from None
        preamble.extend(lines.splitlines())
        sources.extend((source, "KEEP = register_jitable(KEEP)"))
        keep = f"KEEP({lower_cast(dtype, op.type, 'TO_TYPE', preamble, sources)}, {{i}}, {{k}}, {{y}})"
    thunk = "l" if op.thunk_type is None else op.thunk_type.np_type.char
    constants = {**constants, "X": dtype.np_type.char, "THUNK": thunk}
    return Recipe(template, constants, {"KEEP": keep}, (), preamble, sources)
