"""ewise_add: C<M,r> = C (+) (A op B) on the union of structures; a lone entry is passed on, cast through the
operator's type."""

import dataclasses

import numpy as np
import pytest

from support import coverage
from support.agree import agree
from support.algebra import minus
from support.battery import Operation, battery
from support.ewise import FLAGS, broadcast, factors, matrices, vectors
from support.library import ENGINES, WITHOUT_NUMBA, engines_at, engines_for
from support.operands import DIMENSIONS, HUGE_SCENE, SCENES
from support.plain import Plain
from support.seeds import generator


def add_matrices(lib, o, how):
    A, B = factors(o)
    o.C(**how) << A.ewise_add(B, minus(lib, o.A.dtype.name))


def add_vectors(lib, o, how):
    o.C(**how) << o.A.ewise_add(o.B, minus(lib, o.A.dtype.name))


test_write_options, test_types, test_casts = battery(
    Operation("ewise_add matrix", matrices, add_matrices, variants=FLAGS, second="B"),
    Operation("ewise_add vector", vectors, add_vectors, second="B"),
)

OPERATORS = (
    "plus",
    "times",
    "first",
    "second",
    "max",
    "min",
    "pair",
    "any",
    "rminus",
    "eq",
    "ne",
    "lt",
    "ge",
    "isne",
    "land",
    "lxor",
    "band",
    "bxor",
    "pow",
    "truediv",
    "cdiv",
    "floordiv",
)
for _name in OPERATORS:
    coverage.owe("ewise_add", "operator", [_name], engines_for(_name))
coverage.owe("ewise_add", "infix", ["plus(A | B)", "monoid.max(u | v)"], ENGINES)
coverage.owe("ewise_add", "other kinds of operator", ["monoid", "semiring", "string"], ENGINES)


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name):
    for k, scene in enumerate((*SCENES, HUGE_SCENE)):
        for dims, made in ((DIMENSIONS[scene[0]], vectors), (DIMENSIONS[scene[0]], matrices)):
            found = made(generator(name, scene), dims, "INT64", scene[1])
            if name == "any":  # either operand's entry is right: let them be equal
                found["B"] = found["A"]
            if name == "floordiv":  # the oracle leaves memory as it was where an integer is divided by 0
                found["B"] = dataclasses.replace(
                    found["B"], values=np.where(found["B"].values == 0, 2, found["B"].values)
                )

            def call(lib, o):
                o.C(o.M.V) << o.A.ewise_add(o.B, getattr(lib.binary, name))
                return [
                    o.A.ewise_add(o.B, getattr(lib.binary, name)).new(),
                    o.A.ewise_add(o.B, getattr(lib.binary, name)).new(mask=~o.M.S),
                ]

            agree(
                call,
                found,
                f"ewise_add {name} {scene}",
                cells=[("ewise_add", "operator", name)],
                engines=engines_at(k, engines_for(name)),
            )


test_broadcast = broadcast("ewise_add")


def test_spellings():
    found = matrices(generator("spellings"), (5, 6, 1), "INT64", "general")
    pairs = vectors(generator("spellings"), (9, 1, 1), "FP64", "general")
    agree(
        lambda lib, o: lib.binary.plus(o.A | o.B).new(),
        found,
        cells=[("ewise_add", "infix", "plus(A | B)")],
        engines=ENGINES,
    )
    agree(
        lambda lib, o: lib.monoid.max(o.A | o.B).new(mask=o.M.V),
        pairs,
        cells=[("ewise_add", "infix", "monoid.max(u | v)")],
        engines=ENGINES,
    )
    kind = "other kinds of operator"
    agree(
        lambda lib, o: o.A.ewise_add(o.B, lib.monoid.max).new(),
        found,
        cells=[("ewise_add", kind, "monoid")],
        engines=ENGINES,
    )
    agree(
        lambda lib, o: lib.semiring.min_plus.binaryop(o.A | o.B).new(),
        found,
        cells=[("ewise_add", kind, "semiring")],
        engines=ENGINES,
    )
    agree(
        lambda lib, o: [o.A.ewise_add(o.B, name).new() for name in ("plus", "-", "min[INT64]")],
        found,
        cells=[("ewise_add", kind, "string")],
        engines=ENGINES,
    )


def test_lone_entries_are_cast_through_the_operator():
    """FP64 1.5 alone under plus[INT64] becomes 1; under an operator of unified type it stays."""
    x = Plain((3,), "FP64", (np.array([0, 1]),), np.array([1.5, -2.7]))
    y = Plain((3,), "FP64", (np.array([1, 2]),), np.array([0.5, 1e30]))
    agree(
        lambda lib, o: [
            o.x.ewise_add(o.y, lib.binary.plus[t]).new() for t in ("INT64", "INT8", "UINT8", "BOOL", "FC64", "FP32")
        ],
        {"x": x, "y": y},
        engines=WITHOUT_NUMBA,
    )
