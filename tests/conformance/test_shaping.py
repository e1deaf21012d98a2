"""diag both ways, concat, split, reposition, power, and objects without rows or columns."""

import itertools

import pytest

from support import coverage
from support.agree import agree
from support.library import WITHOUT_NUMBA
from support.operands import DIMENSIONS, SCENES, make
from support.seeds import generator

OFFSETS = (0, 1, -1, 3, -4)
coverage.owe("diag", "Vector.diag", OFFSETS, WITHOUT_NUMBA)
coverage.owe("diag", "Matrix.diag", OFFSETS, WITHOUT_NUMBA)
coverage.owe("diag", "Matrix.setdiag", ["vector", "scalar", "accum", "offset"], WITHOUT_NUMBA)
coverage.owe(
    "concat",
    "form",
    ["row of matrices", "column of matrices", "grid", "vectors", "mixed types", "vectors as columns"],
    WITHOUT_NUMBA,
)
coverage.owe("split", "form", ["sizes of rows", "sizes of both", "vector", "chunk size"], WITHOUT_NUMBA)
coverage.owe("reposition", "to", ["later", "earlier", "larger", "vector"], WITHOUT_NUMBA)
coverage.owe("power", "exponent", [0, 1, 2, 3, 6], WITHOUT_NUMBA)
coverage.owe("power", "counts", ["plus_pair", "times_pair", "min_pair", "plus_first"], WITHOUT_NUMBA)
coverage.owe(
    "no rows or columns", "operation", ["mxm", "mxv", "ewise", "reduce", "extract", "transpose", "apply"], WITHOUT_NUMBA
)


def operands(scene, name):
    m, n, _ = DIMENSIONS[scene[0]]
    rng = generator("shaping", name, scene)
    return {
        "A": make(rng, (m, n), "INT64", scene[1]),
        "B": make(rng, (m, n + 1), "FP64", scene[1]),
        "D": make(rng, (m + 1, n), "INT64"),
        "E": make(rng, (m + 1, n + 1), "INT32"),
        "v": make(rng, (n,), "INT64", scene[1]),
        "w": make(rng, (m,), "FP32"),
    }


@pytest.mark.quick
@pytest.mark.parametrize("k", OFFSETS)
def test_diag(k):
    for scene in SCENES:
        found = operands(scene, "diag")
        agree(
            lambda lib, o: o.v.diag(k),
            found,
            f"v.diag({k}) {scene}",
            cells=[("diag", "Vector.diag", k)],
            engines=WITHOUT_NUMBA,
        )
        m, n = found["A"].shape
        agree(
            lambda lib, o: [o.A.diag(k), o.A.T.diag(k, "FP64")],
            found,
            f"A.diag({k}) {scene}",
            cells=[("diag", "Matrix.diag", k)],
            engines=WITHOUT_NUMBA,
            may_fail=not -m < k < n,
        )


def test_setdiag():
    def by_vector(lib, o):
        o.A.setdiag(o.A.diag(0))
        o.B.setdiag(o.A.diag(0).apply(lib.unary.ainv).new())

    def by_scalar(lib, o):
        o.A.setdiag(7)

    def by_accum(lib, o):
        o.A.setdiag(2, accum=lib.binary.minus)

    def by_offset(lib, o):
        o.E.setdiag(5, 1)
        o.E.setdiag(6, -1)

    for scene in SCENES:
        for name, call in {"vector": by_vector, "scalar": by_scalar, "accum": by_accum, "offset": by_offset}.items():
            agree(
                call,
                operands(scene, "setdiag"),
                f"setdiag {name} {scene}",
                cells=[("diag", "Matrix.setdiag", name)],
                engines=WITHOUT_NUMBA,
                may_fail=True,
            )


def test_concat():
    for scene in SCENES:
        calls = {
            "row of matrices": lambda lib, o: lib.ss.concat([[o.A, o.B]]),
            "column of matrices": lambda lib, o: lib.ss.concat([[o.A], [o.D]]),
            "grid": lambda lib, o: lib.ss.concat([[o.A, o.B], [o.D, o.E]]),
            "vectors": lambda lib, o: lib.ss.concat([o.v, o.v, o.v]),
            "mixed types": lambda lib, o: [lib.ss.concat([[o.A, o.B]], dtype="FP32"), lib.ss.concat([o.v, o.w])],
            "vectors as columns": lambda lib, o: lib.ss.concat([[o.A, o.w]]),
        }
        for name, call in calls.items():
            agree(
                call,
                operands(scene, "concat"),
                f"concat {name} {scene}",
                cells=[("concat", "form", name)],
                engines=WITHOUT_NUMBA,
            )


def test_split():
    def flat(rows):
        return [part for row in rows for part in row]

    for scene in SCENES[:3] + SCENES[5:]:
        m, n, _ = DIMENSIONS[scene[0]]
        calls = {
            "sizes of rows": lambda lib, o, m=m: flat(o.A.ss.split([[1, m - 1] if m > 1 else [1], None])),
            "sizes of both": lambda lib, o, m=m, n=n: flat(o.A.ss.split([[m], [1, n - 1] if n > 1 else [1]])),
            "vector": lambda lib, o, n=n: list(o.v.ss.split([n - 1, 1] if n > 1 else [1])),
            "chunk size": lambda lib, o: flat(o.A.ss.split([2, 3])) + list(o.v.ss.split(2)),
        }
        for name, call in calls.items():
            agree(
                call,
                operands(scene, "split"),
                f"split {name} {scene}",
                cells=[("split", "form", name)],
                engines=WITHOUT_NUMBA,
            )


def test_reposition():
    calls = {
        "later": lambda lib, o: o.A.reposition(1, 2).new(),
        "earlier": lambda lib, o: o.A.reposition(-1, -1).new(),
        "larger": lambda lib, o: [o.A.reposition(2, 3, nrows=20, ncols=140).new(), o.A.T.reposition(1, 0).new()],
        "vector": lambda lib, o: [o.v.reposition(k, size=s).new() for k in (-2, 0, 3) for s in (None, 4, 200)],
    }
    for scene in SCENES:
        for name, call in calls.items():
            agree(
                call,
                operands(scene, "reposition"),
                f"reposition {name} {scene}",
                cells=[("reposition", "to", name)],
                engines=WITHOUT_NUMBA,
            )


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 6])
def test_power(exponent):
    for kind in ("general", "empty", "full", "heavy"):
        found = {"A": make(generator("power", kind), (5, 5), "INT64", kind)}
        agree(
            lambda lib, o: [o.A.power(exponent).new(), o.A.T.power(exponent, lib.semiring.plus_times).new()],
            found,
            f"power {exponent} {kind}",
            cells=[("power", "exponent", exponent)],
            engines=WITHOUT_NUMBA,
            may_fail=True,
        )


@pytest.mark.parametrize("name", ["plus_pair", "times_pair", "min_pair", "plus_first"])
def test_power_of_bool(name):
    """Monoids without BOOL: pair counts in INT64, and the result is BOOL; plus_first has no type, which raises."""
    for exponent, kind in itertools.product((1, 2, 3, 6), ("general", "empty", "heavy")):
        agree(
            lambda lib, o: [x.power(exponent, getattr(lib.semiring, name)).new() for x in (o.A, o.A.T)],
            {"A": make(generator("power of BOOL", name, kind), (5, 5), "BOOL", kind)},
            f"power {exponent} {name} {kind}",
            cells=[("power", "counts", name)],
            engines=WITHOUT_NUMBA,
            may_fail=True,
        )


def test_without_rows_or_columns():
    for m, n in ((0, 3), (3, 0), (0, 0)):
        rng = generator("nothing", m, n)
        found = {
            "A": make(rng, (m, n), "INT64"),
            "B": make(rng, (n, m), "INT64"),
            "v": make(rng, (n,), "INT64"),
            "w": make(rng, (m,), "INT64"),
        }
        calls = {
            "mxm": lambda lib, o: [o.A.mxm(o.B).new(), o.B.mxm(o.A).new(), o.A.mxm(o.A.T).new()],
            "mxv": lambda lib, o: [o.A.mxv(o.v).new(), o.w.vxm(o.A).new()],
            "ewise": lambda lib, o: [o.A.ewise_add(o.B.T).new(), o.A.ewise_mult(o.A).new(), o.v.ewise_add(o.v).new()],
            "reduce": lambda lib, o: [
                o.A.reduce_rowwise().new(),
                o.A.reduce_columnwise().new(),
                o.A.reduce_scalar().new(),
                o.v.reduce().new(),
            ],
            "extract": lambda lib, o: [o.A[:, :].new(), o.v[:].new()],
            "transpose": lambda lib, o: o.A.T.new(),
            "apply": lambda lib, o: [o.A.apply("-").new(), o.v.apply("abs").new()],
        }
        for name, call in calls.items():
            agree(
                call,
                found,
                f"{name} {m} x {n}",
                cells=[("no rows or columns", "operation", name)],
                engines=WITHOUT_NUMBA,
                may_fail=True,
            )
