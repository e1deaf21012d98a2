"""ewise_union: as ewise_add, but a lone entry meets the other side's default."""

import pytest

from support import coverage, ewise
from support.agree import agree
from support.battery import Operation, battery
from support.library import TYPES, WITHOUT_NUMBA, engines_at, engines_for
from support.operands import DIMENSIONS, SCENES, scalar
from support.seeds import generator

FLAGS = {name: ewise.FLAGS[name] for name in ("plain", "A.T", "B.T")}
DEFAULTS = dict.fromkeys(TYPES, (2, 3)) | {"BOOL": (True, False)}


def defaults(dtype):
    left, right = DEFAULTS[dtype]
    return {"left": scalar(left, dtype), "right": scalar(right, dtype)}


def matrices(rng, dims, dtype, kind, **flags):
    return ewise.matrices(rng, dims, dtype, kind, **flags) | defaults(dtype)


def vectors(rng, dims, dtype, kind):
    return ewise.vectors(rng, dims, dtype, kind) | defaults(dtype)


def union_matrices(lib, o, how):
    A, B = ewise.factors(o)
    o.C(**how) << A.ewise_union(B, lib.binary.minus, o.left, o.right)


def union_vectors(lib, o, how):
    o.C(**how) << o.A.ewise_union(o.B, lib.binary.minus, o.left, o.right)


test_write_options, test_types, test_casts = battery(
    Operation("ewise_union matrix", matrices, union_matrices, variants=FLAGS, second="B"),
    Operation("ewise_union vector", vectors, union_vectors, second="B"),
)

OPERATORS = ("plus", "times", "first", "second", "max", "pair", "eq", "lt", "truediv", "rminus", "bxor")
for _name in OPERATORS:
    coverage.owe("ewise_union", "operator", [_name], engines_for(_name))
coverage.owe("ewise_union", "defaults", ["Python scalars", "float default of integers", "infix"], WITHOUT_NUMBA)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    for k, scene in enumerate(SCENES):
        for made in (vectors, matrices):
            found = made(generator(name, scene), DIMENSIONS[scene[0]], "INT64", scene[1])

            def call(lib, o):
                o.C(o.M.V) << o.A.ewise_union(o.B, getattr(lib.binary, name), o.left, o.right)
                return o.A.ewise_union(o.B, getattr(lib.binary, name), o.left, o.right).new()

            agree(
                call,
                found,
                f"ewise_union {name} {scene}",
                cells=[("ewise_union", "operator", name)],
                engines=engines_at(k, engines_for(name)),
            )


def test_defaults():
    found = vectors(generator("defaults"), (12, 1, 1), "INT64", "general")
    agree(
        lambda lib, o: o.A.ewise_union(o.B, "minus", 0, 7).new(),
        found,
        cells=[("ewise_union", "defaults", "Python scalars")],
        engines=WITHOUT_NUMBA,
    )
    agree(
        lambda lib, o: o.A.ewise_union(o.B, "minus", 0.5, 7).new(),
        found,
        cells=[("ewise_union", "defaults", "float default of integers")],
        engines=WITHOUT_NUMBA,
    )
    agree(
        lambda lib, o: lib.binary.minus(o.A | o.B, left_default=1, right_default=2).new(),
        found,
        cells=[("ewise_union", "defaults", "infix")],
        engines=WITHOUT_NUMBA,
    )
