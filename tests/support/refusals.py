"""Calls that must be refused: each with its exception, what the message says, and every operand left as it was."""

import builtins
import dataclasses
import re
import warnings
from collections.abc import Callable

import numpy as np
import pytest

from support.agree import build
from support.library import LIBRARY, gb, oracle
from support.operands import make, scalar
from support.plain import Plain, difference, is_object, plain
from support.seeds import generator


@dataclasses.dataclass(frozen=True)
class Case:
    """`call(lib, o)` raises `error` (a class by name) with a message that `message` (a regular expression) finds.

    oracle: python-graphblas raises the same class; "no" where it does not, and then the reason is in `why`.
    """

    name: str
    call: Callable
    error: str
    message: str
    oracle: bool = True
    why: str = ""


def operands():
    """One set for all cases: A 3 x 4, B 5 x 6, C 3 x 3, u size 4, v size 3, w size 7; M, m, n masks; s, e scalars."""
    rng = generator("refusals")
    found = {
        "A": make(rng, (3, 4), "INT64"),
        "B": make(rng, (5, 6), "FP64"),
        "C": make(rng, (3, 3), "INT64"),
        "D": make(rng, (4, 3), "FP32"),
        "u": make(rng, (4,), "INT64"),
        "v": make(rng, (3,), "FP64"),
        "w": make(rng, (7,), "INT64"),
        "Z": make(rng, (3, 4), "FC64"),
        "M": make(rng, (3, 4), "BOOL"),
        "m": make(rng, (4,), "BOOL"),
        "n": make(rng, (3,), "BOOL"),
        "s": scalar(2),
        "e": scalar(None),
    }
    diagonal = np.arange(3)
    found["F"] = Plain((3, 3), "FP64", (diagonal, diagonal), np.array([1.0, 2.0, 3.0]))
    return found


def error_class(library, names):
    """The classes named: "TypeError" or "TypeError|DimensionMismatch"."""
    return tuple(getattr(library.exceptions, name, None) or getattr(builtins, name) for name in names.split("|"))


def refuse(case):
    plain_operands = operands()
    o = build(gb, plain_operands)
    before = {name: plain(value) for name, value in vars(o).items() if is_object(value)}
    if LIBRARY == "graphblas":
        if not case.oracle:
            pytest.skip(case.why)
        with pytest.raises(error_class(gb, case.error)):
            case.call(gb, o)
        return
    with pytest.raises(error_class(gb, case.error)) as raised:
        case.call(gb, o)
    text = str(raised.value)
    assert re.search(case.message, text), f"the message {text!r} is not found by {case.message!r}"
    for name, value in before.items():
        problem = difference(value, plain(getattr(o, name)))
        assert problem is None, f"operand {name} was changed: {problem}"


def oracle_refuses(case):
    """The same class of exception as python-graphblas (or one derived from it)."""
    o = build(oracle, operands())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(error_class(oracle, case.error)):
            case.call(oracle, o)


def names_are_unique(cases):
    names = [case.name for case in cases]
    return len(names) == len(set(names))
