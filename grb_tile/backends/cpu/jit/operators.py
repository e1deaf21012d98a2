"""Lowering of semirings into recipes of kernels: ADD, MUL, IDENTITY and TERMINAL of a template.

Common operators are written as expressions, which compile faster than calls; all others come from
`operators.to_python.scalar_source`.  What cannot be lowered raises NotLowerable, and NumPy does the work.
"""

import functools

import numpy as np

from grb_tile.operators import ANY
from grb_tile.operators.iso_products import own_name

from .recipe import Recipe


class NotLowerable(Exception):
    """This operator, or one of its types, cannot be compiled into a Numba kernel."""


POSITIONS = {
    "firsti": "i", "firsti1": "i + 1", "firstj": "k", "firstj1": "k + 1",
    "secondi": "k", "secondi1": "k + 1", "secondj": "j", "secondj1": "j + 1",
}  # fmt: skip

# For types other than BOOL, where plus is lor and so on (general case)
ARITHMETIC = {"plus": "{x} + {y}", "times": "{x} * {y}", "minus": "{x} - {y}", "rminus": "{y} - {x}"}
INTEGER = {"min": "{x} if {x} < {y} else {y}", "max": "{x} if {x} > {y} else {y}"}
FLOATING = {"min": "least({x}, {y})", "max": "most({x}, {y})"}
LOGICAL = {"lor": "{x} | {y}", "land": "{x} & {y}", "lxor": "{x} ^ {y}", "eq": "{x} == {y}", "lxnor": "{x} == {y}"}


def numpy_name(dtype):
    """`np.float64` and the like: the type as generated text."""
    np_type = dtype.np_type
    if np_type.kind not in "biufc":
        raise NotLowerable(dtype.name)
    return "np.bool_" if np_type.kind == "b" else f"np.{np_type.name}"


def literal(value, dtype):
    """A constant of `dtype` as generated text."""
    kind = dtype.np_type.kind
    name = numpy_name(dtype)
    if kind == "b":
        return f"{name}({bool(value)})"
    if kind in "iu":
        return f"{name}({int(value)})"
    if kind == "f":
        return f"{name}(float('{float(value)!r}'))"
    value = complex(value)
    return f"{name}(complex(float('{value.real!r}'), float('{value.imag!r}')))"


def written_out(op):
    """The operator as an expression of {x} and {y}, or None when it is not among the common ones."""
    kind = getattr(op, "kind", None)
    z = numpy_name(op.return_type)
    if op.positional:
        return f"{z}({POSITIONS[op.positional].replace('i', '{i}').replace('k', '{k}').replace('j', '{j}')})"
    if kind == "pair":
        return f"{z}(1)"
    if kind == "first":
        return f"{z}({{x}})"
    if kind in ("second", "any"):
        return f"{z}({{y}})"
    np_kind = op.type.np_type.kind
    same = op.type is op.return_type and getattr(op, "type2", op.type) is op.type
    text, name = None, own_name(op)
    if np_kind == "b" and same:
        text = LOGICAL.get(name)
    elif same and np_kind != "b":
        text = ARITHMETIC.get(name)
        if text is None and np_kind in "iu":
            text = INTEGER.get(name)
        elif text is None and np_kind == "f":
            text = FLOATING.get(name)
    return None if text is None else f"{z}({text})"


def lower(op, name, preamble, sources):
    """The expression that a call of `name`, the typed binary operator, becomes; extends the recipe's lists."""
    text = written_out(op)
    if text is not None:
        return text
    if not getattr(op, "lowerable", True):
        raise NotLowerable(op.name)
    try:
        from grb_tile.operators.to_python import scalar_source
    except ImportError:
        raise NotLowerable(op.name) from None
    try:
        lines, source = scalar_source(op, name)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise NotLowerable(f"{op.name}: {error}") from None
    preamble.extend(line for line in lines.splitlines() if line not in preamble)
    sources.append(source)
    sources.append(f"{name} = register_jitable({name})")
    return f"{name}({{x}}, {{y}})"


def monoid_facts(monoid):
    """(is it an `any` monoid?, has it a terminal value for early exit?)."""
    terminal = monoid.terminal
    if monoid.binaryop.kind == "any" or terminal is ANY:
        return True, False
    if terminal is None or not isinstance(terminal, (np.generic, int, float, bool, complex)):
        return False, False
    return False, True


@functools.cache
def _one(np_type):
    return np.ones(1, np_type)


def result_value(semiring, x, y):
    """The value of an iso product, in an array of length 1; x and y are the operands' stores."""
    multiply = semiring.binaryop
    np_type = semiring.return_type.np_type
    if multiply.kind == "pair":
        return _one(np_type).copy()  # np.ones takes five times as long
    from grb_tile.dtypes import cast

    first = cast(x.values[:1], multiply.type)
    second = cast(y.values[:1], multiply.type2)
    if multiply.kind == "first":
        return cast(first, multiply.return_type).astype(np_type)
    if multiply.kind in ("second", "any"):
        return cast(second, multiply.return_type).astype(np_type)
    return np.asarray(multiply.numpy(first, second)).astype(np_type)


def structure_recipe(template, constants):
    """The recipe of `template` for iso results: only the structure is computed."""
    flags = {"ANY": True, "BOOLEAN": False, "EXIT": False, "ISO_OUT": True, "X": "?", "Y": "?", "Z": "?"}
    return Recipe(template, {**constants, **flags}, {"ADD": "{x}", "MUL": "True"}, ["IDENTITY = True"])


def semiring_recipe(template, semiring, constants):
    """The recipe of `template` for this semiring.  Raises NotLowerable."""
    return operator_recipe(template, constants, ADD=semiring.monoid, MUL=semiring.binaryop)


def operator_recipe(template, constants, ADD=None, MUL=None):
    """The recipe of `template` with a monoid (or a binary operator) for ADD and a binary operator for MUL."""
    preamble, sources, calls, facts = [], [], {}, []
    constants = {"ISO_OUT": False, **constants}
    multiply = ADD if MUL is None else MUL
    constants["X"], constants["Y"] = multiply.type.np_type.char, getattr(multiply, "type2", multiply.type).np_type.char
    constants["Z"] = multiply.return_type.np_type.char
    if ADD is not None:
        op = getattr(ADD, "binaryop", ADD)
        constants["Z"] = op.return_type.np_type.char
        calls["ADD"] = lower(op, "ADD", preamble, sources)
        if op is not ADD:
            constants["ANY"], constants["EXIT"] = monoid_facts(ADD)
            facts.append(f"IDENTITY = {literal(ADD.identity, ADD.type)}")
            boolean = ADD.type.np_type.kind == "b"
            constants["STRIDE"] = 128  # entries of a row of numbers between two tests
            constants["BOOLEAN"] = boolean and not constants["ANY"]
            if constants["EXIT"]:
                facts.append(f"TERMINAL = {literal(ADD.terminal, ADD.type)}")
            calls["RESULT"] = f"{numpy_name(ADD.type)}({{x}})"
    if MUL is not None:
        calls["MUL"] = lower(MUL, "MUL", preamble, sources)
    return Recipe(template, constants, calls, facts, preamble, sources)
