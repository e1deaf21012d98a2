"""The table of public calls: rows are public members, cells are calls with each kind of argument.

    row("Matrix.diag", {"main": lambda lib, o: o.A.diag().new(), "above": lambda lib, o: o.A.diag(2).new()})

Each cell runs over every storage form of its operands and is compared with python-graphblas, results and operands.
`own` marks calls that python-graphblas has not: what they give is computed from the operands as arrays.  NOT_HERE
lists members without a row and the reason.  test_calls.py fails when a public member has neither.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from support.operands import scalar
from support.seeds import generator
from support.stored import MATRIX_FORMS, VECTOR_FORMS, stored

ROWS: dict[str, dict[str, Cell]] = {}  # member -> kind of argument -> cell
NOT_HERE: dict[str, str] = {}  # member -> why it has no row
TYPES = ("INT64", "FP64", "INT64", "INT8", "INT16")  # not FP32: SuiteSparse 9.4.5 selects wrongly by an integer
SHAPES = {  # operands: name -> shape; A, B, C of one shape, Q and R square, K and L small factors
    "A": (5, 7), "B": (5, 7), "C": (5, 7), "Q": (5, 5), "R": (7, 7), "K": (2, 3), "L": (3, 2),
    "u": (7,), "v": (7,), "w": (5,), "x": (5,),
}  # fmt: skip
MASKS = {"M": (5, 7), "N": (5, 7), "m": (7,), "n": (5,)}


@dataclasses.dataclass(frozen=True)
class Cell:
    """One call.  `refused`: it raises, in both libraries the same class.  `wanted`: see `own`."""

    call: Callable
    refused: bool = False
    alone: type | None = None
    wanted: Callable | None = None
    receivers: bool = False  # also with expressions in the place of A and v
    thin: bool = False  # one of many of its kind: the quick run takes two of its forms


def refused(call, alone=None):
    """A call that raises whatever the form: what python-graphblas raises, or the class `alone`, which it does not."""
    return Cell(call, refused=True, alone=alone)


def own(call, wanted):
    """A call of grb_tile alone; `wanted(o)` is what it returns, from the operands as Plain."""
    return Cell(call, wanted=wanted)


def row(member, kinds, *, receivers=False, thin=False):
    """Cells of a member; `receivers`: A and v may be expressions, too; `thin`: see Cell."""
    known = ROWS.setdefault(member, {})
    for kind, cell in kinds.items():
        if kind in known:
            raise ValueError(f"two cells of {member} are called {kind!r}")
        cell = cell if isinstance(cell, Cell) else Cell(cell)
        known[kind] = dataclasses.replace(
            cell, thin=thin, receivers=receivers and not cell.refused and cell.wanted is None
        )


def not_here(reason, *members):
    """Members that have no row, and why."""
    for member in members:
        NOT_HERE[member] = reason


FORMS = range(len(MATRIX_FORMS))


def forms_of(cell, turn, whole):
    """The forms in which the cell runs: all, or of a thin one two, which change from cell to cell."""
    if cell.thin and not whole:
        return [turn % len(FORMS), (turn * 3 + turn // len(FORMS) + 5) % len(FORMS)]
    return list(FORMS)


def operands(name, k):
    """{name: Plain} of a cell's k-th form: A and v have form k, the other operands are forms further on.

    Which forms stand beside each other follows the seed, and so does the type.
    """
    rng = generator("calls", name, k)
    dtype = TYPES[rng.integers(len(TYPES))]
    turn = int(rng.integers(len(MATRIX_FORMS)))
    found = {}
    for at, (name, shape) in enumerate((SHAPES | MASKS).items()):
        forms = MATRIX_FORMS if len(shape) == 2 else VECTOR_FORMS
        form = k if name in ("A", "Q", "K", "v", "w") else k + turn + at
        found[name] = stored(rng, shape, "BOOL" if name in MASKS else dtype, forms[form % len(forms)])
    return found | {"s": scalar(3, dtype), "t": scalar(5, dtype), "e": scalar(None, dtype), "b": scalar(True, "BOOL")}
