"""Indices that are none and lists of other lengths, in each call that takes them: refused, and nothing changes."""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.exceptions import GraphblasException

REFUSED = (ValueError, TypeError, IndexError, OverflowError, GraphblasException)
NO_INDICES = {
    "true": [0, True], "false": [False, 1], "of NumPy": [np.bool_(True), 0], "fraction": [0, 1.5], "text": ["0", 1],
    "none": [0, None], "too large": [0, 2**60 + 1], "beyond 64 bits": [0, 2**64], "nested": [[0, 1], [1, 0]],
    "ragged": [0, [1]],
}  # fmt: skip
BUILDS = {
    "Matrix.from_coo, rows": lambda A, u, I: gb.Matrix.from_coo(I, [0, 1], [1, 2], nrows=5, ncols=5),
    "Matrix.from_coo, columns": lambda A, u, I: gb.Matrix.from_coo([0, 1], I, [1, 2], nrows=5, ncols=5),
    "Matrix.from_coo, one value": lambda A, u, I: gb.Matrix.from_coo(I, [0, 1], 1),
    "Vector.from_coo": lambda A, u, I: gb.Vector.from_coo(I, [1, 2]),
    "Vector.from_coo, one value": lambda A, u, I: gb.Vector.from_coo(I, 1, size=5),
    "Vector.from_pairs": lambda A, u, I: gb.Vector.from_pairs([(i, 1) for i in I]),
    "Matrix.from_edgelist": lambda A, u, I: gb.Matrix.from_edgelist([(i, 0) for i in I], [1, 2]),
    "Matrix.build": lambda A, u, I: A.build(I, [0, 1], [1, 2], clear=True),
    "Vector.build": lambda A, u, I: u.build(I, [1, 2], clear=True),
}
PARTS = {
    "rows": lambda A, u, I: A[I, :].new(),
    "columns": lambda A, u, I: A[1, I].new(),
    "vector": lambda A, u, I: u[I].new(),
    "assign": lambda A, u, I: A.__setitem__((I, slice(None)), 3),
    "assign to a vector": lambda A, u, I: u.__setitem__(I, 3),
    "delete": lambda A, u, I: u.__delitem__(I),
    "accumulate": lambda A, u, I: A[I, I](accum="plus") << 1,
}


def operands():
    A = gb.Matrix.from_coo([0, 1, 4], [1, 2, 0], [5, 6, 7], nrows=5, ncols=5)
    return A, gb.Vector.from_coo([0, 3], [8, 9], size=5)


def refused(call, *arguments, error=(REFUSED, ".")):
    A, u = operands()
    with pytest.raises(error[0], match=error[1]) as found:
        call(A, u, *arguments)
    assert str(found.value).strip()
    B, v = operands()
    assert A.isequal(B, check_dtype=True) and u.isequal(v, check_dtype=True)


@pytest.mark.parametrize("name", [*BUILDS, *PARTS])
@pytest.mark.parametrize("indices", NO_INDICES)
def test_no_indices(name, indices):
    refused((BUILDS | PARTS)[name], NO_INDICES[indices])


LENGTHS = {
    "Matrix.from_coo": lambda A, u, i, j, x: gb.Matrix.from_coo(i, j, x, nrows=9, ncols=9),
    "Matrix.build": lambda A, u, i, j, x: A.build(i, j, x, clear=True),
    "Matrix.from_csr": lambda A, u, i, j, x: gb.Matrix.from_csr([0, len(i)], j, x, ncols=9),
    "Matrix.from_csc": lambda A, u, i, j, x: gb.Matrix.from_csc([0, len(i)], j, x, nrows=9),
    "Matrix.from_dcsr": lambda A, u, i, j, x: gb.Matrix.from_dcsr([3], [0, len(i)], j, x, nrows=9, ncols=9),
    "Matrix.from_dcsc": lambda A, u, i, j, x: gb.Matrix.from_dcsc([3], [0, len(i)], j, x, nrows=9, ncols=9),
}
VECTOR_LENGTHS = {
    "Vector.from_coo": lambda A, u, i, x: gb.Vector.from_coo(i, x, size=9),
    "Vector.build": lambda A, u, i, x: u.build(i, x, clear=True),
}


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("scalar", [False, True])
def test_lists_of_other_lengths(name, scalar):
    """Each of the lists one shorter or longer than the others; one value for all fits any length, lists must agree."""
    for counts in itertools.product((0, 2, 3), repeat=2 if scalar else 3):
        if len(set(counts)) == 1:
            continue
        i, j, *x = (list(range(count)) for count in counts)
        if name == "Matrix.build" and scalar:
            continue
        refused(LENGTHS[name], i, j, 4 if scalar else x[0])


@pytest.mark.parametrize("name", VECTOR_LENGTHS)
def test_lists_of_other_lengths_for_vectors(name):
    for counts in itertools.permutations((0, 2, 3), 2):
        refused(VECTOR_LENGTHS[name], *(list(range(count)) for count in counts))


ONE = {
    "matrix contains": lambda A, u, at: at in A,
    "transpose contains": lambda A, u, at: at in A.T,
    "matrix get": lambda A, u, at: A.get(*at),
    "transpose get": lambda A, u, at: A.T.get(*at),
    "vector contains": lambda A, u, at: at[0] in u,
    "vector get": lambda A, u, at: u.get(at[0]),
}
NOT_ONE = {
    "row": (slice(None), 1), "column": (slice(None, 2), 0), "lists": ([0, 1], [1, 2]), "list of one": ([0], 1),
    "ellipsis": (..., 1), "fraction": (0.5, 1), "outside": (7, 1), "before the first": (-6, 1), "text": ("0", 1),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("indices", NOT_ONE)
def test_what_is_not_one_position(name, indices):
    first = NOT_ONE[indices][0]
    part = isinstance(first, (slice, list))
    error = (TypeError if "contains" in name else ValueError, "(Invalid|Bad) (index|row)") if part else (REFUSED, ".")
    refused(ONE[name], NOT_ONE[indices], error=error)
    if part and "vector" not in name:
        refused(ONE[name], NOT_ONE[indices][::-1], error=error)
