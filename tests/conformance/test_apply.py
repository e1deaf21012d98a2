"""apply: C<M,r> = C (+) f(A), with unary operators, a bound scalar on either side, and operators of the indices."""

import pytest

from support import coverage
from support.agree import agree
from support.battery import Operation, battery
from support.library import FLOATS, TYPES, WITHOUT_NUMBA, engines_at
from support.operands import DIMENSIONS, HUGE_SCENE, SCENES, make, mask_for
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


def argument(o):
    return o.A.T if o.variant == "A.T" else o.A


def unary(lib, o, how):
    o.C(**how) << argument(o).apply(lib.unary.ainv)


def bound(o, value):
    return bool(value % 2) if o.A.dtype.name == "BOOL" else value


def right(lib, o, how):
    o.C(**how) << argument(o).apply(lib.binary.minus, right=bound(o, 2))


def left(lib, o, how):
    o.C(**how) << argument(o).apply(lib.binary.minus, left=bound(o, 3))


def row_index(lib, o, how):
    o.C(**how) << argument(o).apply(lib.indexunary.rowindex, 1)


def index(lib, o, how):
    o.C(**how) << argument(o).apply(lib.indexunary.index, 2)


test_write_options, test_types, test_casts = battery(
    Operation("apply unary matrix", matrices, unary, variants=FLAGS),
    Operation("apply unary vector", vectors, unary),
    Operation("apply bound right matrix", matrices, right, variants=FLAGS),
    Operation("apply bound right vector", vectors, right),
    Operation("apply bound left matrix", matrices, left, variants=FLAGS),
    Operation("apply bound left vector", vectors, left),
    Operation("apply index matrix", matrices, row_index, variants=FLAGS),
    Operation("apply index vector", vectors, index),
)

EXACT = (
    "ainv",
    "identity",
    "abs",
    "lnot",
    "one",
    "minv",
    "signum",
    "ceil",
    "floor",
    "round",
    "trunc",
    "isnan",
    "isinf",
    "isfinite",
)
ROUNDED = (
    "exp",
    "exp2",
    "expm1",
    "log1p",
    "sin",
    "cos",
    "tan",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "atan",
    "sqrt",
    "cbrt",
    "log",
    "log2",
    "log10",
    "acos",
    "asin",
    "acosh",
    "atanh",
)
coverage.owe("apply", "exact unary operator", EXACT, WITHOUT_NUMBA)
coverage.owe("apply", "rounded unary operator", ROUNDED, WITHOUT_NUMBA)
coverage.owe(
    "apply", "SuiteSparse unary operator", ("erf", "erfc", "lgamma", "tgamma", "frexpe", "frexpx"), WITHOUT_NUMBA
)
coverage.owe(
    "apply", "positional unary operator", ("positioni", "positioni1", "positionj", "positionj1"), WITHOUT_NUMBA
)
coverage.owe("apply", "bitwise complement", TYPES[1:9], WITHOUT_NUMBA)
coverage.owe("apply", "complex unary operator", ("conj", "creal", "cimag", "carg", "abs"), WITHOUT_NUMBA)
INDEX_UNARY = (
    "rowindex",
    "colindex",
    "diagindex",
    "tril",
    "triu",
    "diag",
    "offdiag",
    "colle",
    "colgt",
    "rowle",
    "rowgt",
    "valueeq",
    "valuene",
    "valuelt",
    "valuele",
    "valuegt",
    "valuege",
)
coverage.owe("apply", "index-unary operator", INDEX_UNARY, WITHOUT_NUMBA)
coverage.owe(
    "apply",
    "bound operator",
    ("plus", "times", "first", "second", "pow", "truediv", "lt", "isge", "max", "pair"),
    WITHOUT_NUMBA,
)
coverage.owe("apply", "user-defined", ("unary", "binary", "index-unary"), WITHOUT_NUMBA)


def both(call, dtype, where, *, cell, engines=WITHOUT_NUMBA, tolerance=0.0, kind=None):
    for k, scene in enumerate((*SCENES, HUGE_SCENE)):
        for made in (matrices, vectors):
            found = made(generator("apply", where, scene), DIMENSIONS[scene[0]], dtype, kind or scene[1])
            agree(
                call,
                found,
                f"apply {where} {dtype} {scene}",
                cells=[("apply", *cell)],
                engines=engines_at(k, engines),
                tolerance=tolerance,
            )


@pytest.mark.parametrize("name", EXACT)
def test_exact(name):
    for dtype in (
        FLOATS if name.startswith("is") or name in ("ceil", "floor", "round", "trunc", "signum") else ("INT64", *FLOATS)
    ):
        both(lambda lib, o: o.A.apply(getattr(lib.unary, name)).new(), dtype, name, cell=("exact unary operator", name))


@pytest.mark.parametrize("name", ROUNDED)
def test_rounded(name):
    for dtype, tolerance in (("FP64", 1e-14), ("FP32", 1e-6)):
        both(
            lambda lib, o: o.A.apply(getattr(lib.unary, name)).new(),
            dtype,
            name,
            cell=("rounded unary operator", name),
            tolerance=tolerance,
        )


@pytest.mark.parametrize("name", ["erf", "erfc", "lgamma", "tgamma", "frexpe", "frexpx"])
def test_suitesparse_unary(name):
    both(
        lambda lib, o: o.A.apply(getattr(lib.unary.ss, name)).new(),
        "FP64",
        name,
        cell=("SuiteSparse unary operator", name),
        tolerance=1e-13,
        engines=WITHOUT_NUMBA,
    )


@pytest.mark.parametrize("name", ["positioni", "positioni1", "positionj", "positionj1"])
def test_positional(name):
    for dtype in ("INT64", "FP32", "BOOL"):
        both(
            lambda lib, o: o.A.apply(getattr(lib.unary.ss, name)).new(),
            dtype,
            name,
            cell=("positional unary operator", name),
            engines=WITHOUT_NUMBA,
        )


@pytest.mark.parametrize("dtype", TYPES[1:9])
def test_bitwise_complement(dtype):
    both(
        lambda lib, o: o.A.apply(lib.unary.bnot).new(),
        dtype,
        "bnot",
        cell=("bitwise complement", dtype),
        engines=WITHOUT_NUMBA,
    )


@pytest.mark.parametrize("name", ["conj", "creal", "cimag", "carg", "abs"])
def test_complex(name):
    for dtype, tolerance in (("FC64", 1e-14), ("FC32", 1e-6)):
        both(
            lambda lib, o: o.A.apply(getattr(lib.unary, name)).new(),
            dtype,
            name,
            cell=("complex unary operator", name),
            engines=WITHOUT_NUMBA,
            tolerance=tolerance,
        )


@pytest.mark.parametrize("name", INDEX_UNARY)
def test_index_unary(name):
    for thunk in (0, 1, -2):

        def call(lib, o, thunk=thunk):
            return o.A.apply(getattr(lib.indexunary, name), thunk).new()

        for scene in SCENES:
            found = matrices(generator("index", name, scene), DIMENSIONS[scene[0]], "INT64", scene[1])
            agree(call, found, f"apply {name} {thunk} {scene}", cells=[("apply", "index-unary operator", name)])


@pytest.mark.parametrize("name", ["plus", "times", "first", "second", "pow", "truediv", "lt", "isge", "max", "pair"])
def test_bound(name):
    for value in (2, 0, 1.5):
        both(
            lambda lib, o, value=value: [
                o.A.apply(getattr(lib.binary, name), left=value).new(),
                o.A.apply(getattr(lib.binary, name), right=value).new(),
            ],
            "INT64",
            f"{name} {value}",
            cell=("bound operator", name),
        )


def test_user_defined():
    def unary_function(x):
        return 2 * x + 1

    def binary_function(x, y):
        return x - 2 * y

    def index_function(x, i, j, thunk):
        return x + 10 * i - j + thunk

    made = {}

    def operator(lib, kind, function):
        key = (lib.__name__, kind)
        if key not in made:
            made[key] = getattr(lib, kind).register_anonymous(function)
        return made[key]

    for dtype in ("INT64", "FP64"):
        both(
            lambda lib, o: o.A.apply(operator(lib, "unary", unary_function)).new(),
            dtype,
            "udf",
            cell=("user-defined", "unary"),
            engines=WITHOUT_NUMBA,
        )
        both(
            lambda lib, o: o.A.apply(operator(lib, "binary", binary_function), right=3).new(),
            dtype,
            "udf",
            cell=("user-defined", "binary"),
            engines=WITHOUT_NUMBA,
        )
        for scene in SCENES:
            found = matrices(generator("udf", scene), DIMENSIONS[scene[0]], dtype, scene[1])
            agree(
                lambda lib, o: o.A.apply(operator(lib, "indexunary", index_function), 2).new(),
                found,
                "udf",
                cells=[("apply", "user-defined", "index-unary")],
                engines=WITHOUT_NUMBA,
            )
