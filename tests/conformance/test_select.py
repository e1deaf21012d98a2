"""select: C<M,r> = C (+) A where f(A(i,j), i, j, thunk)."""

import numpy as np
import pytest

from support import coverage
from support.agree import agree
from support.battery import Operation, battery
from support.library import LIBRARY, REAL, TYPES, WITHOUT_NUMBA, gb
from support.operands import DIMENSIONS, HUGE_SCENE, SCENES, make, mask_for, scalar
from support.seeds import generator

FLAGS = {"plain": {}, "A.T": {"at": True}}


def matrices(rng, dims, dtype, kind, at=False):
    m, n, _ = dims
    return {
        "C": make(rng, (m, n), dtype),
        "M": mask_for(rng, (m, n), kind),
        "A": make(rng, (n, m) if at else (m, n), dtype, kind),
    }


def vectors(rng, dims, dtype, kind):
    return {"C": make(rng, dims[:1], dtype), "M": mask_for(rng, dims[:1], kind), "A": make(rng, dims[:1], dtype, kind)}


def nonzero(lib, o, how):
    o.C(**how) << (o.A.T if o.variant == "A.T" else o.A).select(lib.select.valuene, o.A.dtype.np_type.type(0).item())


def tril(lib, o, how):
    o.C(**how) << (o.A.T if o.variant == "A.T" else o.A).select(lib.select.tril, -1)


def below(lib, o, how):
    o.C(**how) << o.A.select(lib.select.indexle, 2)


test_write_options, test_types, test_casts = battery(
    Operation("select value matrix", matrices, nonzero, variants=FLAGS),
    Operation("select value vector", vectors, nonzero),
    Operation("select tril matrix", matrices, tril, variants=FLAGS),
    Operation("select index vector", vectors, below),
)

POSITIONS = ("tril", "triu", "diag", "offdiag", "rowle", "rowgt", "colle", "colgt")
VALUES = ("valueeq", "valuene", "valuelt", "valuele", "valuegt", "valuege")
coverage.owe("select", "by position", POSITIONS, WITHOUT_NUMBA)
coverage.owe("select", "by value", VALUES, WITHOUT_NUMBA)
coverage.owe("select", "by value x type", REAL, WITHOUT_NUMBA)
coverage.owe("select", "vector index", ("indexle", "indexgt"), WITHOUT_NUMBA)
SPELLINGS = (
    "select.value(A > 1)",
    "select.value(A == 0)",
    "select.row(A < 3)",
    "select.column(A >= 2)",
    "select.index(v <= 3)",
    "select.tril(A)",
    "select.triu(A, 1)",
    "string",
    "by a matrix",
    "by a mask",
)
coverage.owe("select", "spelling", SPELLINGS, WITHOUT_NUMBA)
coverage.owe("select", "user-defined", ["matrix", "vector"], WITHOUT_NUMBA)


@pytest.mark.parametrize("name", POSITIONS)
def test_positions(name):
    for thunk in (-3, -1, 0, 1, 2, 100):
        for scene in (*SCENES, HUGE_SCENE):
            for transposed in (False, True):
                found = matrices(
                    generator("position", name, scene), DIMENSIONS[scene[0]], "INT64", scene[1], at=transposed
                )

                def call(lib, o, thunk=thunk, transposed=transposed):
                    A, op = (o.A.T if transposed else o.A), getattr(lib.select, name)
                    o.C(~o.M.V, accum="plus") << A.select(op, thunk)
                    return A.select(op, thunk).new()

                agree(call, found, f"select {name} {thunk} {scene}", cells=[("select", "by position", name)])


@pytest.mark.parametrize("name", VALUES)
def test_values(name):
    for thunk in (-1, 0, 2):
        for scene in (*SCENES, HUGE_SCENE):
            for made in (matrices, vectors):
                found = made(generator("value", name, scene), DIMENSIONS[scene[0]], "INT64", scene[1])
                agree(
                    lambda lib, o, thunk=thunk: o.A.select(getattr(lib.select, name), thunk).new(),
                    found,
                    f"select {name} {thunk} {scene}",
                    cells=[("select", "by value", name)],
                )


@pytest.mark.parametrize("dtype", REAL)
def test_values_of_every_type(dtype):
    for name in VALUES:
        for thunk in (0, 1, 3) if dtype != "BOOL" else (0, 1):
            # a thunk of the values' own type: for mixed types SuiteSparse 9.4.5 compares the bits of one with the
            # other's
            found = vectors(generator(name, dtype), (40, 1, 1), dtype, "general") | {"thunk": scalar(thunk, dtype)}
            agree(
                lambda lib, o, name=name: o.A.select(getattr(lib.select, name), o.thunk).new(),
                found,
                f"{name} {dtype}",
                cells=[("select", "by value x type", dtype)],
                engines=WITHOUT_NUMBA,
            )


@pytest.mark.parametrize("name", ["indexle", "indexgt"])
def test_vector_index(name):
    for thunk in (-1, 0, 2, 50):
        for scene in (*SCENES, HUGE_SCENE):
            found = vectors(generator(name, scene), DIMENSIONS[scene[0]], "FP64", scene[1])
            agree(
                lambda lib, o, thunk=thunk: o.A.select(getattr(lib.select, name), thunk).new(),
                found,
                f"{name} {thunk} {scene}",
                cells=[("select", "vector index", name)],
            )


def test_spellings():
    found = matrices(generator("spellings"), (6, 7, 1), "INT64", "general") | {"v": make(generator("v"), (9,), "INT64")}
    calls = {
        "select.value(A > 1)": lambda lib, o: lib.select.value(o.A > 1).new(),
        "select.value(A == 0)": lambda lib, o: lib.select.value(o.A == 0).new(mask=o.M.S),
        "select.row(A < 3)": lambda lib, o: lib.select.row(o.A < 3).new(),
        "select.column(A >= 2)": lambda lib, o: lib.select.column(o.A >= 2).new(),
        "select.index(v <= 3)": lambda lib, o: lib.select.index(o.v <= 3).new(),
        "select.tril(A)": lambda lib, o: lib.select.tril(o.A).new(),
        "select.triu(A, 1)": lambda lib, o: lib.select.triu(o.A, 1).new(),
        "string": lambda lib, o: [o.A.select("tril").new(), o.A.select(">", 1).new(), o.A.select("row<=", 2).new()],
        "by a matrix": lambda lib, o: o.A.select(o.M.dup(lib.dtypes.BOOL)).new(),
        "by a mask": lambda lib, o: [o.A.select(o.M.S).new(), o.A.select(~o.M.V).new()],
    }
    assert tuple(calls) == SPELLINGS
    for name, call in calls.items():
        agree(call, found, name, cells=[("select", "spelling", name)], engines=WITHOUT_NUMBA)


def test_user_defined():
    made = {}

    def operator(lib):
        if lib.__name__ not in made:
            made[lib.__name__] = lib.select.register_anonymous(lambda x, i, j, thunk: (x + i + j) % 2 == thunk)
        return made[lib.__name__]

    for scene in SCENES:
        found = matrices(generator("udf", scene), DIMENSIONS[scene[0]], "INT64", scene[1])
        pair = vectors(generator("udf", scene), DIMENSIONS[scene[0]], "INT64", scene[1])
        for operands, name in ((found, "matrix"), (pair, "vector")):
            agree(
                lambda lib, o: o.A.select(operator(lib), 1).new(),
                operands,
                name,
                cells=[("select", "user-defined", name)],
                engines=WITHOUT_NUMBA,
            )


def test_complex_values():
    for dtype in TYPES[-2:]:
        found = vectors(generator(dtype), (20, 1, 1), dtype, "general")
        agree(
            lambda lib, o: [o.A.select("==", 1).new(), o.A.select("!=", 1 + 1j).new()],
            found,
            dtype,
            engines=WITHOUT_NUMBA,
        )


@pytest.mark.parametrize("name", VALUES)
def test_values_of_mixed_types(name):
    """Values and a thunk of different types are compared in the type that holds both.  Against NumPy: the oracle
    errs here."""
    if LIBRARY == "graphblas":
        pytest.skip("SuiteSparse 9.4.5 compares the bits of an INT64 with those of an FP64")
    compare = {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }[name[5:]]
    for thunk in (1.5, -0.5, 2.0):
        values = np.arange(-5, 6)
        found = gb.Vector.from_coo(np.arange(11), values).select(getattr(gb.select, name), thunk).new()
        indices, kept = found.to_coo()
        assert found.dtype == gb.dtypes.INT64
        assert np.array_equal(indices, np.flatnonzero(compare(values, thunk)))
        assert np.array_equal(kept, values[compare(values, thunk)])
