"""reduce: a matrix to a vector by rows or columns, and matrices and vectors to a scalar; monoids, operators,
aggregators."""

import numpy as np
import pytest

from support import coverage
from support.agree import agree
from support.algebra import plus
from support.battery import Operation, battery
from support.library import REAL, TYPES, WITHOUT_NUMBA
from support.operands import DIMENSIONS, HUGE_SCENE, SCENES, make, mask_for, scalar
from support.plain import NUMPY_TYPES, Plain
from support.seeds import generator

FLAGS = {"plain": {}, "A.T": {"at": True}}


def by_rows(rng, dims, dtype, kind, at=False):
    m, n, _ = dims
    return {
        "C": make(rng, (m,), dtype),
        "M": mask_for(rng, (m,), kind),
        "A": make(rng, (n, m) if at else (m, n), dtype, kind),
    }


def by_columns(rng, dims, dtype, kind, at=False):
    m, n, _ = dims
    return {
        "C": make(rng, (n,), dtype),
        "M": mask_for(rng, (n,), kind),
        "A": make(rng, (n, m) if at else (m, n), dtype, kind),
    }


def matrix_to_scalar(rng, dims, dtype, kind, at=False):
    return {"C": scalar(1, dtype), "A": make(rng, dims[:2], dtype, kind)}


def vector_to_scalar(rng, dims, dtype, kind):
    return {"C": scalar(1, dtype), "A": make(rng, dims[:1], dtype, kind)}


def argument(o):
    return o.A.T if o.variant == "A.T" else o.A


def rowwise(lib, o, how):
    o.C(**how) << argument(o).reduce_rowwise(plus(lib, o.A.dtype.name))


def columnwise(lib, o, how):
    o.C(**how) << argument(o).reduce_columnwise(plus(lib, o.A.dtype.name))


def matrix_scalar(lib, o, how):
    o.C(**how) << argument(o).reduce_scalar(plus(lib, o.A.dtype.name))


def vector_scalar(lib, o, how):
    o.C(**how) << o.A.reduce(plus(lib, o.A.dtype.name))


test_write_options, test_types, test_casts = battery(
    Operation("reduce rowwise", by_rows, rowwise, variants=FLAGS),
    Operation("reduce columnwise", by_columns, columnwise, variants=FLAGS),
    Operation("reduce matrix to scalar", matrix_to_scalar, matrix_scalar, variants=FLAGS, masked=False, casts=()),
    Operation("reduce vector to scalar", vector_to_scalar, vector_scalar, masked=False, casts=()),
)

MONOIDS = ("plus", "times", "min", "max", "any", "lor", "land", "lxor", "lxnor", "band", "bor", "bxor", "bxnor")
coverage.owe("reduce", "monoid", MONOIDS, WITHOUT_NUMBA)
coverage.owe("reduce", "monoid x type", REAL, WITHOUT_NUMBA)
coverage.owe("reduce", "numpy monoid", ("add", "maximum", "logical_or", "bitwise_xor", "gcd", "fmin"), WITHOUT_NUMBA)
coverage.owe("reduce", "without entries", ["Scalar", "allow_empty=False", "accumulated"], WITHOUT_NUMBA)
AGGREGATORS = (
    "sum",
    "prod",
    "all",
    "any",
    "min",
    "max",
    "any_value",
    "bitwise_all",
    "bitwise_any",
    "count",
    "count_nonzero",
    "count_zero",
    "exists",
    "hypot",
    "logaddexp",
    "logaddexp2",
    "sum_of_squares",
    "sum_of_inverses",
    "mean",
    "peak_to_peak",
    "varp",
    "vars",
    "stdp",
    "stds",
    "geometric_mean",
    "harmonic_mean",
    "root_mean_square",
    "L0norm",
    "L1norm",
    "L2norm",
    "Linfnorm",
)
POSITIONAL_AGGREGATORS = ("argmin", "argmax", "first", "last", "first_index", "last_index")
coverage.owe("reduce", "aggregator", AGGREGATORS, WITHOUT_NUMBA)
coverage.owe("reduce", "positional aggregator", POSITIONAL_AGGREGATORS, WITHOUT_NUMBA)
coverage.owe("reduce", "user-defined monoid", ["x + y + x * y"], WITHOUT_NUMBA)


@pytest.mark.parametrize("name", MONOIDS)
def test_monoids(name):
    dtype = "UINT64" if name.startswith("b") else "INT64"  # the bitwise monoids are for unsigned integers
    for scene in (*SCENES, HUGE_SCENE):
        kind = "iso" if name == "any" else scene[1]
        for flags in FLAGS.values():
            rng = generator("monoid", name, scene)
            found = by_rows(rng, DIMENSIONS[scene[0]], dtype, kind, **flags) | {
                "v": make(rng, DIMENSIONS[scene[0]][:1], dtype, kind)
            }

            def call(lib, o, flags=flags):
                A, monoid = (o.A.T if flags else o.A), getattr(lib.monoid, name)
                o.C(o.M.S, accum=lib.binary.second) << A.reduce_rowwise(monoid)
                return [
                    A.reduce_rowwise(monoid).new(),
                    A.reduce_columnwise(monoid).new(),
                    A.reduce_scalar(monoid).new(),
                    o.v.reduce(monoid).new(),
                ]

            agree(call, found, f"reduce {name} {scene} {flags}", cells=[("reduce", "monoid", name)])


@pytest.mark.parametrize("dtype", REAL)
def test_monoids_of_every_type(dtype):
    for name in MONOIDS:
        if (
            name == "any"
            or (name.startswith("b") and not dtype.startswith(("INT", "UINT")))
            or (dtype == "BOOL" and name in ("plus",))
        ):
            continue
        for scene in SCENES[:3] + SCENES[5:6]:
            found = by_rows(generator(name, dtype, scene), DIMENSIONS[scene[0]], dtype, scene[1])

            def call(lib, o, name=name):
                monoid = getattr(lib.monoid, name)
                return [
                    o.A.reduce_rowwise(monoid).new(),
                    o.A.reduce_columnwise(monoid).new(),
                    o.A.reduce_scalar(monoid).new(),
                ]

            agree(
                call,
                found,
                f"{name} {dtype}",
                cells=[("reduce", "monoid x type", dtype)],
                engines=WITHOUT_NUMBA,
                may_fail=True,
            )


@pytest.mark.parametrize("name", ["add", "maximum", "logical_or", "bitwise_xor", "gcd", "fmin"])
def test_numpy_monoids(name):
    dtype = {"fmin": "FP64", "bitwise_xor": "UINT32"}.get(name, "INT64")
    for scene in SCENES:
        found = by_rows(generator("numpy", name, scene), DIMENSIONS[scene[0]], dtype, scene[1])

        def call(lib, o):
            monoid = getattr(lib.monoid.numpy, name)
            return [o.A.reduce_rowwise(monoid).new(), o.A.reduce_scalar(monoid).new()]

        agree(call, found, name, cells=[("reduce", "numpy monoid", name)], engines=WITHOUT_NUMBA)


def test_a_lone_value_stays_as_it_is():
    """It meets no identity: gcd(0, -2) and hypot(0, -2) are 2."""
    for name, dtype in (("gcd", "INT64"), ("hypot", "FP64"), ("add", "INT8"), ("logical_xor", "BOOL")):
        found = {
            "v": Plain((5,), dtype, (np.array([3]),), np.array([-2], NUMPY_TYPES[dtype])),
            "A": Plain((3, 4), dtype, (np.array([1]), np.array([2])), np.array([-2], NUMPY_TYPES[dtype])),
        }

        def call(lib, o, name=name):
            monoid = getattr(lib.monoid.numpy, name)
            return [
                o.v.reduce(monoid).new(),
                o.A.reduce_scalar(monoid).new(),
                o.A.reduce_rowwise(monoid).new(),
                o.A.reduce_columnwise(monoid).new(),
            ]

        agree(call, found, f"one value, {name}")


def test_without_entries():
    for dtype in TYPES:
        found = by_rows(generator("none"), (4, 5, 1), dtype, "empty") | {
            "s": scalar(3 if dtype != "BOOL" else 1, dtype),
            "e": scalar(None, dtype),
        }
        monoid = "any" if dtype.startswith("FC") else "min"
        agree(
            lambda lib, o: [
                o.A.reduce_scalar(plus(lib, o.A.dtype.name)).new(),
                o.A.reduce_rowwise(plus(lib, o.A.dtype.name)).new(),
            ],
            found,
            cells=[("reduce", "without entries", "Scalar")],
        )
        if monoid == "min":
            agree(
                lambda lib, o, monoid=monoid: o.A.reduce_scalar(getattr(lib.monoid, monoid), allow_empty=False).new(),
                found,
                cells=[("reduce", "without entries", "allow_empty=False")],
            )

        def accumulate(lib, o):
            o.s(accum=lib.binary.plus) << o.A.reduce_scalar(plus(lib, o.A.dtype.name))
            o.e(accum=lib.binary.plus) << o.A.reduce_scalar(plus(lib, o.A.dtype.name))
            o.f = o.s.dup()
            o.f << o.A.reduce_scalar(plus(lib, o.A.dtype.name))

        agree(accumulate, found, cells=[("reduce", "without entries", "accumulated")])


def positive(rng, shape, dtype, kind):
    found = make(rng, shape, dtype, kind)
    values = np.abs(found.values) + found.values.dtype.type(1)
    return Plain(found.shape, found.dtype, found.indices, values, found.iso)


@pytest.mark.parametrize("name", AGGREGATORS)
def test_aggregators(name):
    moments = name.startswith(("var", "std"))  # the oracle squares within the type of the values: 8 bits overflow
    for dtype in (
        ("UINT64", "UINT8")
        if name.startswith("bitwise")
        else ("INT64", "FP64")
        if moments
        else ("INT64", "FP64", "UINT8")
    ):
        for scene in SCENES:
            rng = generator("aggregator", name, dtype, scene)
            m, n, _ = DIMENSIONS[scene[0]]
            few = name in ("prod", "geometric_mean", "any_value")
            kind = "iso" if name == "any_value" else scene[1]
            if few and max(m, n) > 20:
                continue
            found = {
                "A": positive(rng, (m, n), dtype, kind),
                "v": positive(rng, (n,), dtype, kind),
                "C": make(rng, (m,), "FP64"),
                "M": mask_for(rng, (m,)),
                "Z": make(rng, (m, n), dtype, kind),
            }

            def call(lib, o, name=name):
                op = getattr(lib.agg, name)
                o.C(~o.M.S) << o.A.reduce_rowwise(op)
                return [
                    o.A.reduce_rowwise(op).new(),
                    o.A.reduce_columnwise(op).new(),
                    o.A.T.reduce_rowwise(op).new(),
                    o.A.reduce_scalar(op).new(),
                    o.v.reduce(op).new(),
                ] + (
                    [o.Z.reduce_rowwise(op).new()]
                    if name in ("sum", "min", "count_zero", "count_nonzero", "all", "L1norm")
                    else []
                )

            agree(
                call,
                found,
                f"{name} {dtype} {scene}",
                cells=[("reduce", "aggregator", name)],
                engines=WITHOUT_NUMBA,
                tolerance=1e-6,
            )


@pytest.mark.parametrize("name", POSITIONAL_AGGREGATORS)
def test_positional_aggregators(name):
    for scene in SCENES:
        rng = generator("positional", name, scene)
        m, n, _ = DIMENSIONS[scene[0]]
        found = {"A": make(rng, (m, n), "INT64", scene[1]), "v": make(rng, (n,), "INT64", scene[1])}
        if name.startswith("arg"):  # the oracle may return either place of a tie: let values differ
            found = {key: distinct(value) for key, value in found.items()}

        def call(lib, o):
            op = getattr(lib.agg.ss, name)
            rows = [o.A.reduce_rowwise(op).new(), o.A.reduce_columnwise(op).new()]
            return [*rows, o.v.reduce(op).new()]

        agree(call, found, f"{name} {scene}", cells=[("reduce", "positional aggregator", name)], engines=WITHOUT_NUMBA)


def distinct(found):
    order = generator("distinct", found.nvals).permutation(found.nvals)
    return Plain(found.shape, found.dtype, found.indices, order.astype(found.values.dtype))


def test_user_defined_monoid():
    made = {}

    def monoid(lib):
        if lib.__name__ not in made:
            op = lib.binary.register_anonymous(lambda x, y: x + y + x * y)
            made[lib.__name__] = lib.monoid.register_anonymous(op, 0)
        return made[lib.__name__]

    for scene in SCENES:
        found = by_rows(generator("udf", scene), DIMENSIONS[scene[0]], "INT64", scene[1])
        agree(
            lambda lib, o: [o.A.reduce_rowwise(monoid(lib)).new(), o.A.reduce_scalar(monoid(lib)).new()],
            found,
            f"{scene}",
            cells=[("reduce", "user-defined monoid", "x + y + x * y")],
            engines=WITHOUT_NUMBA,
        )
