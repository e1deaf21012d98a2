"""A program in two libraries: what it gives, what it leaves of its operands, or the class of what it raises.

Programs are texts, evaluated with the library as `lib`, fresh operands by their letters, and the functions below; a
program of several expressions is a tuple, whose parts are evaluated in turn.
"""

import contextlib
import inspect
import operator
import re
import types

import numpy as np

from support.library import gb, oracle
from support.seeds import generator

ALIKE = {
    "IndexOutOfBound": "IndexError",
    "InvalidValue": "ValueError",
}  # subclasses, here and there raised in their place


# what python-graphblas raises where it has not looked at the arguments before
FROM_WITHIN = re.compile("^(AttributeError|KeyError|InvalidIndex)|Error calling|_dummy|Mask object|shape mismatch")
BAD_TYPE = re.compile(
    r"Bad type for (keyword )?argument (?!.*(Scalar\.from_value|Expr\.__rmat|graphblas\.ss|Scalar\.diag))"
)
REFUSALS = (
    "TypeError", "ValueError", "DimensionMismatch", "IndexError", "OverflowError", "InvalidObject", "EmptyObject",
    "OutputNotEmpty", "DomainMismatch", "NotImplementedException",
)  # fmt: skip
OPERANDS = {
    "A": lambda lib: lib.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 3], [5, -2, 3, 7], nrows=3, ncols=4, name="A"),
    "B": lambda lib: lib.Matrix.from_coo([0, 1, 2], [1, 2, 0], [0.5, 2.5, 0], nrows=3, ncols=4, name="B"),
    "C": lambda lib: lib.Matrix.from_coo([0, 1, 2], [1, 2, 0], [3, 4, 5], nrows=3, ncols=3, name="C"),
    "F": lambda lib: lib.Matrix.from_dense(np.arange(1, 13).reshape(3, 4), name="F"),
    "X": lambda lib: lib.Matrix.from_coo([0, 1, 1], [1, 0, 2], [True, False, True], nrows=3, ncols=4, name="X"),
    "v": lambda lib: lib.Vector.from_coo([0, 2, 3], [4, -5, 6], size=4, name="v"),
    "w": lambda lib: lib.Vector.from_coo([0, 2], [1.5, 0], size=3, name="w"),
    "f": lambda lib: lib.Vector.from_dense([1, 2, 3, 4], name="f"),
    "x": lambda lib: lib.Vector.from_coo([0, 1], [True, False], size=4, name="x"),
    "y": lambda lib: lib.Vector.from_coo([1, 3], [True, True], size=4, name="y"),
    "s": lambda lib: lib.Scalar.from_value(5, name="s"),
    "e": lambda lib: lib.Scalar(float, name="e"),
    "c": lambda lib: lib.Scalar.from_value(7, is_cscalar=True, name="c"),
    "b": lambda lib: lib.Scalar.from_value(True, name="b"),
}
NUMBER = re.compile(r'_\d+\b(?:"? +)?| at 0x[0-9a-f]+')  # of an object without a name, and the room after it
LETTER = re.compile(r"\b[A-Za-z]\b")


def put(x, key, value):
    x[key] = value
    return x


def drop(x, key):
    del x[key]
    return x


def up(x, value, *args, **how):
    """x << value, or x(...) << value."""
    (x(*args, **how) if args or how else x) << value
    return x


def by(name, x, other):
    """An operator that changes x, such as `x |= other`: `name` is ior."""
    return getattr(operator, name)(x, other)


NAMES = {"np": np, "put": put, "drop": drop, "up": up, "by": by}  # what programs may name beside `lib` and operands


def described(x):
    kind = type(x).__name__
    if isinstance(x, str):
        return NUMBER.sub("_n", x)
    if x is None or isinstance(x, bool | int):
        return x
    if isinstance(x, float | complex | np.generic):
        return kind.rstrip("_"), repr(x.item() if isinstance(x, np.generic) else x)
    if isinstance(x, np.ndarray):
        return str(x.dtype), x.shape, repr(x.tolist())
    if isinstance(x, dict):
        return {key: described(value) for key, value in x.items()}
    if isinstance(x, list | tuple | types.GeneratorType):
        return [described(part) for part in x]
    if kind == "Scalar":
        return kind, x.dtype.name, repr(x.value), x.is_cscalar
    if kind in ("Vector", "Matrix", "TransposedMatrix"):
        entries = sorted(zip(*(part.tolist() for part in x.to_coo()), strict=True), key=lambda entry: entry[:-1])
        return kind, x.dtype.name, tuple(map(int, x.shape)), repr(entries)
    if kind in ("StructuralMask", "ValueMask", "ComplementedStructuralMask", "ComplementedValueMask"):
        return "mask", described(x.new())  # where it allows to write: its parent may be another
    if hasattr(x, "new") and not inspect.isclass(x):
        return kind, described(x.new())
    return kind


def ran(lib, program, autocompute=False):
    """(result or class of the exception, text of the exception, operands afterwards)."""
    given = {name: OPERANDS[name](lib) for name in sorted(set(LETTER.findall(program)) & set(OPERANDS))}
    names = NAMES | given | {"lib": lib}
    text = ""
    # ranks are threads with one configuration: where it is set already none of them restores it while others run
    as_it_is = lib.config.get("autocompute") is autocompute
    with contextlib.nullcontext() if as_it_is else lib.config.set(autocompute=autocompute):
        try:
            made = eval(program, names)
            found = described(made)
            if "name=" in program:
                found = found, NUMBER.sub("_n", str(getattr(made, "name", "")))
        except Exception as error:
            name = type(error).__name__
            found, text = ("raised", ALIKE.get(name, name)), str(error)
        after = {name: described(x) for name, x in given.items()}
    return found, text, after


def difference(program, autocompute=False, strict=True):
    """What differs between the libraries, or None. Of a refusal, its class: any that a caller's mistake raises where
    the oracle's comes from within, or not `strict`."""
    mine, text, left = ran(gb, program, autocompute)
    wanted, other, after = ran(oracle, program, autocompute)
    refused = mine[:1] == ("raised",) if type(mine) is tuple else False
    if refused and not text.strip():
        return f"{program}: an error without a text"
    if refused and BAD_TYPE.match(text) and BAD_TYPE.match(other):
        first, second = (NUMBER.sub("_n", found.partition("\n")[0]).partition("(")[0] for found in (text, other))
        if first != second:
            return f"{program}: {first}, wanted {second}"
    if refused and type(wanted) is tuple and wanted[:1] == ("raised",):
        if mine[1] in REFUSALS and not (strict and not FROM_WITHIN.search(f"{wanted[1]} {other}")):
            wanted, left = mine, after
    if mine != wanted:
        return f"{program}: {mine} {text[:80]}, wanted {wanted} {other[:80]}"
    return None if left == after else f"{program}: leaves {left}, wanted {after}"


def check(programs, autocompute=False, not_alike=None, refused_here=None, strict=True):
    """`not_alike`: programs that are left out; `refused_here`: those that this library alone refuses."""
    chosen = [program for program in programs if not (not_alike and not_alike.match(program))]
    refused = {program for program in chosen if refused_here and refused_here.match(program)}
    found = [difference(program, autocompute, strict) for program in chosen if program not in refused]
    for program in refused:
        mine, text, _ = ran(gb, program, autocompute)
        if not (type(mine) is tuple and mine[0] == "raised" and mine[1] in REFUSALS and text.strip()):
            found.append(f"{program}: {mine} {text[:80]}, wanted a refusal")
    problems = [text for text in found if text is not None]
    assert not problems, "\n".join([f"{len(problems)} of {len(found)}", *problems])


def agree_with_numpy(name, programs, run, count, shown=True):
    """`count` of the programs, drawn by the seed and `name`, give through `run` what they give over NumPy: results,
    operands afterwards, and the words of what is refused.

    run: (function) -> what that function returned, once or several times.  shown: objects have the same text there,
    with which errors end.
    """
    chosen = [programs[k] for k in sorted(generator("forms", name).permutation(len(programs))[:count])]
    asked = [(program, turn % 2 == 1) for turn, program in enumerate(chosen)]

    def of_all():
        found = [ran(gb, program, autocompute) for program, autocompute in asked]
        return [
            (result, NUMBER.sub("_n", text if shown else text.partition("got: ")[0]), left)
            for result, text, left in found
        ]

    with gb.plan(force="numpy"):
        wanted = of_all()
    for found in run(of_all):
        for (program, autocompute), one, other in zip(asked, found, wanted, strict=True):
            assert one == other, f"{program}{' with autocompute' * autocompute}: {one}, wanted {other}"
