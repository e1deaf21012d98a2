"""assign: C<M,r>(I, J) = C(I, J) (+) A; the mask has the shape of C, and replace reaches all of C."""

import numpy as np
import pytest

from support import coverage
from support.agree import agree
from support.battery import WRITE_OPTIONS, Operation, battery
from support.library import WITHOUT_NUMBA
from support.operands import DIMENSIONS, HUGE, SCENES, make, mask_for, scalar
from support.seeds import generator

FLAGS = {"plain": {}, "A.T": {"at": True}}


def some(rng, n):
    """Distinct indices in any order; not all of them where there are more."""
    pool = [0, 1, 2, 3, 2**31, HUGE - 1] if n >= HUGE else list(range(n))
    return [int(pool[k]) for k in rng.permutation(len(pool))[: max(1, (2 * len(pool)) // 3)]]


def matrices(rng, dims, dtype, kind, at=False):
    m, n, _ = dims
    I, J = some(rng, m), some(rng, n)
    inner = (len(J), len(I)) if at else (len(I), len(J))
    return {
        "C": make(rng, (m, n), dtype),
        "M": mask_for(rng, (m, n), kind),
        "I": I,
        "J": J,
        "A": make(rng, inner, dtype, kind),
    }


def whole_matrices(rng, dims, dtype, kind):
    m, n, _ = dims
    return {"C": make(rng, (m, n), dtype), "M": mask_for(rng, (m, n), kind), "A": make(rng, (m, n), dtype, kind)}


def row_of_matrix(rng, dims, dtype, kind):
    found = matrices(rng, dims, dtype, kind)
    found |= {"A": make(rng, (len(found["J"]),), dtype, kind), "i": found["I"][0]}
    return found


def column_of_matrix(rng, dims, dtype, kind):
    found = matrices(rng, dims, dtype, kind)
    found |= {"A": make(rng, (len(found["I"]),), dtype, kind), "j": found["J"][0]}
    return found


def row_with_vector_mask(rng, dims, dtype, kind):
    return row_of_matrix(rng, dims, dtype, kind) | {"M": mask_for(rng, dims[1:2], kind)}


def column_with_vector_mask(rng, dims, dtype, kind):
    return column_of_matrix(rng, dims, dtype, kind) | {"M": mask_for(rng, dims[:1], kind)}


def vectors(rng, dims, dtype, kind):
    I = some(rng, dims[0])
    return {
        "C": make(rng, dims[:1], dtype),
        "M": mask_for(rng, dims[:1], kind),
        "I": I,
        "A": make(rng, (len(I),), dtype, kind),
    }


def scalar_to_matrix(rng, dims, dtype, kind):
    return matrices(rng, dims, dtype, kind) | {"A": scalar(1, dtype)}


def scalar_to_vector(rng, dims, dtype, kind):
    return vectors(rng, dims, dtype, kind) | {"A": scalar(1, dtype)}


def to_region(lib, o, how):
    o.C(**how)[o.I, o.J] << (o.A.T if o.variant == "A.T" else o.A)


def to_all(lib, o, how):
    o.C(**how)[:, :] << o.A


def to_row(lib, o, how):
    o.C(**how)[o.i, o.J] << o.A


def to_column(lib, o, how):
    o.C(**how)[o.I, o.j] << o.A


def to_vector(lib, o, how):
    o.C(**how)[o.I] << o.A


test_write_options, test_types, test_casts = battery(
    Operation("assign matrix", matrices, to_region, variants=FLAGS),
    Operation("assign whole matrix", whole_matrices, to_all),
    Operation("assign row, matrix mask", row_of_matrix, to_row),
    Operation("assign column, matrix mask", column_of_matrix, to_column),
    Operation("assign row, vector mask", row_with_vector_mask, to_row),
    Operation("assign column, vector mask", column_with_vector_mask, to_column),
    Operation("assign vector", vectors, to_vector),
    Operation("assign scalar to matrix", scalar_to_matrix, to_region),
    Operation("assign scalar to vector", scalar_to_vector, to_vector),
)

FORMS = {
    "all": slice(None),
    "range": slice(1, 4),
    "step": slice(0, None, 2),
    "negative step": slice(None, None, -1),
    "list": [2, 0, 3],
    "empty": np.array([], np.int64),
    "array": np.array([3, 1, 0]),
    "negative list": [-1, 0],
    "int": 2,
    "negative int": -1,
    "range object": range(1, 4),
}
coverage.owe("assign", "index form", FORMS, WITHOUT_NUMBA)
coverage.owe("assign", "empty scalar deletes", [str(option) for option in WRITE_OPTIONS], WITHOUT_NUMBA)
coverage.owe("assign", "scalar to everything", [str(option) for option in WRITE_OPTIONS], WITHOUT_NUMBA)
coverage.owe("assign", "Python scalars", ["int", "float", "bool", "complex", "numpy"], WITHOUT_NUMBA)
coverage.owe(
    "assign",
    "spelling",
    ["C[I, J] = A", "C[i, j] = s", "C(mask)[...] = s", "C(mask) << s", "v[:] = s", "C << A", "expression"],
    WITHOUT_NUMBA,
)


@pytest.mark.parametrize("name", FORMS)
def test_index_forms(name):
    form = FORMS[name]
    sizes = range(6)[form] if isinstance(form, slice) else form
    count = None if isinstance(sizes, (int, np.integer)) else len(sizes)
    for other in (slice(None), [0, 4, 1], 3):
        rng = generator("assign forms", name, other)
        width = {int: None, list: 3, slice: 6}[type(other)]
        shape = tuple(n for n in (count, width) if n is not None)
        if not shape:
            A = scalar(7)
        else:
            A = make(rng, shape, "INT64")
        found = {"C": make(rng, (6, 6), "INT64"), "A": A, "s": scalar(5), "k": form, "m": make(rng, (6,), "INT64")}

        def call(lib, o, other=other):
            o.D, o.E, o.F, o.G = o.C.dup(), o.C.dup(), o.C.dup(), o.C.dup()
            o.C[o.k, other] << o.A
            o.D[o.k, other] << o.s
            o.E(accum="minus")[other, o.k] << (o.A if o.A.ndim < 2 else o.A.T)
            o.F(o.C.S)[o.k, other] << o.s
            o.w = o.m.dup()
            o.w[o.k] << 9

        agree(call, found, f"C[{name}, {other}]", cells=[("assign", "index form", name)], engines=WITHOUT_NUMBA)


@pytest.mark.parametrize("option", WRITE_OPTIONS, ids=str)
def test_empty_scalar(option):
    """Assigning an empty scalar deletes the region (inside the mask); with an accumulator it changes nothing there."""
    for scene in SCENES:
        found = scalar_to_matrix(generator("empty", scene), DIMENSIONS[scene[0]], "INT64", scene[1])
        found |= {"A": scalar(None)}
        pair = scalar_to_vector(generator("empty", scene), DIMENSIONS[scene[0]], "INT64", scene[1]) | {
            "A": scalar(None)
        }

        def call(lib, o):
            o.D = o.C.dup()
            o.C(**option.keywords(lib, o.M))[o.I, o.J] << o.A
            o.D[o.I, o.J](**option.keywords(lib, o.M[o.I, o.J].new())) << o.A

        def vector_call(lib, o):
            o.C(**option.keywords(lib, o.M))[o.I] << o.A

        cells = [("assign", "empty scalar deletes", option)]
        agree(call, found, f"empty scalar [{option}] {scene}", cells=cells, engines=WITHOUT_NUMBA, may_fail=True)
        agree(vector_call, pair, f"empty scalar [{option}] {scene}", cells=cells, engines=WITHOUT_NUMBA, may_fail=True)


@pytest.mark.parametrize("option", WRITE_OPTIONS, ids=str)
def test_scalar_to_everything(option):
    for scene in SCENES:
        rng = generator("everything", scene)
        found = whole_matrices(rng, DIMENSIONS[scene[0]], "INT64", scene[1])
        found["w"], found["m"] = make(rng, DIMENSIONS[scene[0]][:1], "FP64"), mask_for(rng, DIMENSIONS[scene[0]][:1])

        def call(lib, o):
            o.C(**option.keywords(lib, o.M)) << 5
            o.w(**option.keywords(lib, o.m))[:] << 2

        agree(call, found, f"scalar [{option}] {scene}", cells=[("assign", "scalar to everything", option)])


@pytest.mark.parametrize(
    ("name", "value"), [("int", 3), ("float", 2.75), ("bool", True), ("complex", 1 + 2j), ("numpy", np.float32(1.5))]
)
def test_python_scalars(name, value):
    for dtype in ("INT64", "FP64", "BOOL", "FC64", "UINT8"):
        found = vectors(generator("python scalars"), (6, 1, 1), dtype, "general") | {"value": value}

        def call(lib, o):
            o.C(o.M.V)[o.I] << o.value
            o.A[:] = o.value

        agree(
            call,
            found,
            f"{name} to {dtype}",
            cells=[("assign", "Python scalars", name)],
            engines=WITHOUT_NUMBA,
            may_fail=True,
        )


def test_spellings():
    found = matrices(generator("spellings"), (5, 6, 1), "INT64", "general")
    found |= {"v": make(generator("v"), (6,), "INT64"), "B": make(generator("B"), (5, 6), "INT64")}

    def region(lib, o):
        o.C[o.I, o.J] = o.A

    def element(lib, o):
        o.C[1, 2] = 9
        o.v[3] = 4
        o.v(accum="plus")[3] = 4
        o.C(lib.binary.plus)[1, 2] << 10

    def masked(lib, o):
        o.C(o.M.S)[:, 1] = 3
        o.C(o.M.V)[2, :] = 4

    def all_masked(lib, o):
        o.C(~o.M.S) << 3

    def vector(lib, o):
        o.v[:] = 1

    def whole(lib, o):
        o.C << o.B

    def expression(lib, o):
        o.C(o.M.S)[o.I, o.J] << o.A.apply(lib.unary.ainv)
        o.C[o.I, o.J](accum="plus") << o.A.apply(lib.unary.ainv)

    calls = {
        "C[I, J] = A": region,
        "C[i, j] = s": element,
        "C(mask)[...] = s": masked,
        "C(mask) << s": all_masked,
        "v[:] = s": vector,
        "C << A": whole,
        "expression": expression,
    }
    for name, call in calls.items():
        agree(call, found, name, cells=[("assign", "spelling", name)], engines=WITHOUT_NUMBA)
