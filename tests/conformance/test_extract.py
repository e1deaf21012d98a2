"""extract: C<M,r> = C (+) A(I, J), with every form of index; and reading A as a whole."""

import numpy as np
import pytest

from support import coverage
from support.agree import agree
from support.battery import Operation, battery
from support.library import WITHOUT_NUMBA
from support.operands import DIMENSIONS, HUGE, SCENES, make, mask_for
from support.seeds import generator

FLAGS = {"plain": {}, "A.T": {"at": True}}


def some(rng, n, count=None):
    """Indices in any order, repeats among them."""
    pool = [0, 1, 2, 3, 2**31, HUGE - 1] if n >= HUGE else list(range(n))
    return [pool[k] for k in rng.integers(0, len(pool), max(n + 1, 3) if count is None and n < HUGE else count or 4)]


def matrices(rng, dims, dtype, kind, at=False):
    m, n, _ = dims
    rows, columns = some(rng, m), some(rng, n)
    return {
        "C": make(rng, (len(rows), len(columns)), dtype),
        "M": mask_for(rng, (len(rows), len(columns)), kind),
        "I": rows,
        "J": columns,
        "A": make(rng, (n, m) if at else (m, n), dtype, kind),
    }


def columns_of(rng, dims, dtype, kind, at=False):
    found = matrices(rng, dims, dtype, kind, at)
    found |= {
        "C": make(rng, (len(found["I"]),), dtype),
        "M": mask_for(rng, (len(found["I"]),), kind),
        "j": found["J"][0],
    }
    return found


def rows_of(rng, dims, dtype, kind, at=False):
    found = matrices(rng, dims, dtype, kind, at)
    found |= {
        "C": make(rng, (len(found["J"]),), dtype),
        "M": mask_for(rng, (len(found["J"]),), kind),
        "i": found["I"][0],
    }
    return found


def vectors(rng, dims, dtype, kind):
    indices = some(rng, dims[0])
    return {
        "C": make(rng, (len(indices),), dtype),
        "M": mask_for(rng, (len(indices),), kind),
        "I": indices,
        "A": make(rng, dims[:1], dtype, kind),
    }


def argument(o):
    return o.A.T if o.variant == "A.T" else o.A


def extract_matrix(lib, o, how):
    o.C(**how) << argument(o)[o.I, o.J]


def extract_column(lib, o, how):
    o.C(**how) << argument(o)[o.I, o.j]


def extract_row(lib, o, how):
    o.C(**how) << argument(o)[o.i, o.J]


def extract_vector(lib, o, how):
    o.C(**how) << o.A[o.I]


test_write_options, test_types, test_casts = battery(
    Operation("extract matrix", matrices, extract_matrix, variants=FLAGS),
    Operation("extract vector", vectors, extract_vector),
    Operation("extract column", columns_of, extract_column, variants=FLAGS),
    Operation("extract row", rows_of, extract_row, variants=FLAGS),
)

FORMS = {
    "all": slice(None),
    "range": slice(1, 4),
    "step": slice(0, None, 2),
    "negative step": slice(None, None, -1),
    "negative bounds": slice(-3, -1),
    "empty range": slice(3, 3),
    "step -2": slice(4, None, -2),
    "beyond": slice(2, 100),
    "list": [2, 0, 2],
    "one": [1],
    "none": np.array([], np.int64),
    "array": np.array([3, 1, 1, 0]),
    "array uint64": np.array([3, 0], np.uint64),
    "array int8": np.array([1, 2], np.int8),
    "negative list": [-1, 0, -2],
    "negative array": np.array([-1, -4]),
    "int": 2,
    "negative int": -1,
    "numpy int": np.int32(3),
    "range object": range(1, 4),
    "tuple": (0, 3),
    "sorted": [0, 1, 3],
}
coverage.owe("extract", "vector index", FORMS, WITHOUT_NUMBA)
coverage.owe("extract", "row index", FORMS, WITHOUT_NUMBA)
coverage.owe("extract", "column index", FORMS, WITHOUT_NUMBA)
coverage.owe("extract", "huge dimension", ["vector", "matrix", "slices of vector"], WITHOUT_NUMBA)
coverage.owe("extract", "input mask", ["S", "V", "~S", "~V"], WITHOUT_NUMBA)


@pytest.mark.parametrize("name", FORMS)
def test_index_forms(name):
    form = FORMS[name]
    rng = generator("forms", name)
    A, v = make(rng, (6, 5), "INT64"), make(rng, (6,), "FP64")
    operands = {"A": A, "v": v, "k": form}
    agree(
        lambda lib, o: o.v[o.k].new(),
        operands,
        name,
        cells=[("extract", "vector index", name)],
        engines=WITHOUT_NUMBA,
        may_fail=True,
    )
    for other in (slice(None), [0, 3, 1], 4, slice(3, 0, -1)):
        agree(
            lambda lib, o, other=other: o.A[o.k, other].new(),
            operands,
            f"A[{name}, {other}]",
            cells=[("extract", "row index", name)],
            engines=WITHOUT_NUMBA,
            may_fail=True,
        )
        agree(
            lambda lib, o, other=other: o.A[other, o.k].new(),
            operands,
            f"A[{other}, {name}]",
            cells=[("extract", "column index", name)],
            engines=WITHOUT_NUMBA,
            may_fail=True,
        )
        agree(
            lambda lib, o, other=other: o.A.T[o.k, other if other != 4 else 5].new(),
            operands,
            f"A.T[{name}, {other}]",
            engines=WITHOUT_NUMBA,
            may_fail=True,
        )


def test_huge_dimensions():
    rng = generator("huge extract")
    v, A = make(rng, (HUGE,), "INT64"), make(rng, (HUGE, HUGE), "FP64")
    operands = {
        "v": v,
        "A": A,
        "I": [HUGE - 1, 0, 2**40 + 5, 3],
        "K": slice(2**31, 2**41),
        "L": slice(HUGE - 1, None, -(2**40)),
    }
    agree(lambda lib, o: o.v[o.I].new(), operands, cells=[("extract", "huge dimension", "vector")])
    agree(
        lambda lib, o: [o.A[o.I, o.I].new(), o.A[o.I, 2].new(), o.A[:, o.I].new(), o.A.T[0, o.I].new()],
        operands,
        cells=[("extract", "huge dimension", "matrix")],
    )
    agree(
        lambda lib, o: [o.v[:].new(), o.v[o.K].new()],
        operands,
        cells=[("extract", "huge dimension", "slices of vector")],
    )


@pytest.mark.parametrize("mask", ["S", "V", "~S", "~V"])
def test_input_mask(mask):
    """input_mask has the shape of the input."""
    for scene in SCENES:
        m, n, _ = DIMENSIONS[scene[0]]
        rng = generator("input mask", mask, scene)
        operands = {
            "A": make(rng, (m, n), "INT64", scene[1]),
            "v": make(rng, (n,), "INT64", scene[1]),
            "M": mask_for(rng, (m, n)),
            "m": mask_for(rng, (n,)),
            "I": some(rng, m),
            "J": some(rng, n),
        }

        def chosen(x):
            found = x.S if mask.endswith("S") else x.V
            return ~found if mask.startswith("~") else found

        agree(
            lambda lib, o, chosen=chosen: [
                o.A[o.I, o.J].new(input_mask=chosen(o.M)),
                o.v[o.J].new(input_mask=chosen(o.m)),
                o.A[o.I[0], o.J].new(input_mask=chosen(o.m)),
            ],
            operands,
            f"{mask} {scene}",
            cells=[("extract", "input mask", mask)],
            engines=WITHOUT_NUMBA,
        )
