"""Each form of assign and subassign with every descriptor of the mask and accumulator, against SuiteSparse.

The mask of an assign has the shape of C (of its row or column), that of a subassign the shape of what is assigned: the
lists of indices do not ascend, so that one is not the other.
"""

import graphblas as oracle
import numpy as np
import pytest

import grb_tile as gb
from grb_tile import grb
from support.seeds import generator

SHAPE = 6, 7
I, J = [4, 0, 3, 2], [5, 1, 6]
ALL, EVERY = grb.ALL, slice(None)
# name -> (shape of the mask, shape of what is assigned (None: a number), our indices, the oracle's index)
ASSIGN = {
    "assign": (SHAPE, (4, 3), (I, J), (I, J)),
    "assign everywhere": (SHAPE, SHAPE, (ALL, ALL), (EVERY, EVERY)),
    "assign a number": (SHAPE, None, (I, ALL), (I, EVERY)),
    "assign a number at one row": (SHAPE, None, ([2], J), ([2], J)),
    "assign a number at one position": (SHAPE, None, ([2], [4]), ([2], [4])),
    "assign to a vector": (SHAPE[:1], (4,), (I,), (I,)),
    "assign a number to a vector": (SHAPE[:1], None, (I,), (I,)),
    "Row_assign": (SHAPE[1:], (3,), (2, J), (2, J)),
    "Row_assign everywhere": (SHAPE[1:], SHAPE[1:], (5, ALL), (5, EVERY)),
    "Col_assign": (SHAPE[:1], (4,), (I, 6), (I, 6)),
    "Col_assign everywhere": (SHAPE[:1], SHAPE[:1], (ALL, 0), (EVERY, 0)),
}
SUBASSIGN = {
    name.replace("assign", "subassign"): (None, *rest) for name, (_, *rest) in ASSIGN.items() if "number" not in name
} | {
    "subassign a number": ((4, SHAPE[1]), None, (I, ALL), (I, EVERY)),
    "subassign a number at one position": ((1, 1), None, ([2], [4]), ([2], [4])),
    "subassign a number to a vector": ((4,), None, (I,), (I,)),
}


def drawn(rng, shape):
    """The same random matrix or vector in both libraries."""
    at = np.nonzero(rng.random(shape) < 0.6)
    values = rng.integers(-2, 4, at[0].size)
    sizes = {"size": shape[0]} if len(shape) == 1 else {"nrows": shape[0], "ncols": shape[1]}
    kind = "Vector" if len(shape) == 1 else "Matrix"
    return [getattr(library, kind).from_coo(*at, values, dtype=int, **sizes) for library in (gb, oracle)]


@pytest.mark.parametrize("accum", [None, "minus"])
@pytest.mark.parametrize("name", [*ASSIGN, *SUBASSIGN])
def test_every_descriptor(name, accum):
    of_mask, of_value, ours, theirs = {**ASSIGN, **SUBASSIGN}[name]
    rng = generator("every assign", name, accum)
    call, plus = getattr(grb, name.split()[0]), {} if accum is None else {"accum": getattr(oracle.binary, accum)}
    for suffix in (None, "", "R", "S", "C", "RS", "RC", "SC", "RSC"):
        C, C2 = drawn(rng, SHAPE[:1] if "vector" in name or len(theirs) == 1 else SHAPE)
        value, value2 = (7, 7) if of_value is None else drawn(rng, of_value)
        mask, mask2 = drawn(rng, of_mask or of_value) if suffix is not None else (None, None)
        how = dict(plus)
        if mask is not None:
            kind = mask2.S if "S" in suffix else mask2.V
            how |= {"mask": ~kind if "C" in suffix else kind, "replace": "R" in suffix}
        desc = getattr(grb, f"DESC_{suffix}") if suffix else None
        call(C, mask, None if accum is None else getattr(gb.binary, accum), value, *ours, desc)
        index = theirs if len(theirs) > 1 else theirs[0]
        if name in ASSIGN:
            C2(**how)[index] << value2
        else:
            C2[index](**how) << value2
        assert C.isequal(gb.io.from_graphblas(C2), check_dtype=True), (suffix, C, C2)


def test_every_function_that_assigns_is_here():
    """Each function of indices has its rows; the others are in OPERATIONS of test_every_call.py."""
    names = {name.split()[0] for name in (*ASSIGN, *SUBASSIGN)}
    assert names == {name for name in grb.operations.__all__ if name.lower().endswith("assign")}
