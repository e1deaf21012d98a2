"""vxm: w'<m',r> = w' (+) u' (+.x) A; the multiply sees u's entry first."""

import pytest

from support import coverage
from support.agree import agree
from support.algebra import plus_times
from support.battery import Operation, battery
from support.library import WITHOUT_NUMBA, engines_at, engines_for
from support.operands import DIMENSIONS, HUGE_SCENE, SCENES, make, mask_for
from support.seeds import generator

FLAGS = {"plain": {}, "A.T": {"at": True}}


def operands(rng, dims, dtype, kind, at=False):
    m, n, _ = dims
    return {
        "C": make(rng, (n,), dtype),
        "M": mask_for(rng, (n,), kind),
        "A": make(rng, (n, m) if at else (m, n), dtype, kind),
        "u": make(rng, (m,), dtype),
    }


def vxm(lib, o, how):
    A = o.A.T if o.variant == "A.T" else o.A
    o.C(**how) << o.u.vxm(A, plus_times(lib, o.A.dtype.name))


test_write_options, test_types, test_casts = battery(Operation("vxm", operands, vxm, variants=FLAGS, second="u"))

SEMIRINGS = (
    "any_pair",
    "plus_pair",
    "min_plus",
    "max_plus",
    "min_first",
    "max_second",
    "plus_first",
    "any_first",
    "plus_minus",
    "plus_rminus",
    "lor_land",
    "eq_lxor",
    "plus_islt",
)
POSITIONAL = tuple(
    f"{monoid}_{multiply}"
    for monoid in ("max", "plus", "any")
    for multiply in ("firsti", "firsti1", "firstj", "firstj1", "secondi", "secondi1", "secondj", "secondj1")
)
for _name in SEMIRINGS:
    coverage.owe("vxm", "semiring", [_name], engines_for(_name))
coverage.owe("vxm", "positional semiring", POSITIONAL, WITHOUT_NUMBA)


@pytest.mark.parametrize("name", SEMIRINGS)
def test_semirings(name):
    for k, scene in enumerate((*SCENES, HUGE_SCENE)):
        for flags in FLAGS.values():
            rng = generator("semirings", name, scene, flags)
            found = operands(rng, DIMENSIONS[scene[0]], "INT64", scene[1], **flags)
            if name == "any_first":
                found["u"] = make(rng, found["u"].shape, "INT64", "iso")

            def call(lib, o, flags=flags):
                A, semiring = (o.A.T if "at" in flags else o.A), getattr(lib.semiring, name)
                o.C(o.M.S, replace=True) << o.u.vxm(A, semiring)
                return [o.u.vxm(A, semiring).new(), o.u.vxm(A, semiring).new(mask=~o.M.S)]

            agree(
                call,
                found,
                f"vxm {name} {scene} {flags}",
                cells=[("vxm", "semiring", name)],
                engines=engines_at(k, engines_for(name)),
            )


@pytest.mark.parametrize("name", POSITIONAL)
def test_positional(name):
    sees_k = name.split("_")[1].rstrip("1") in ("firstj", "secondi")
    for dims in ((1, 5, 1),) if name.startswith("any") and sees_k else ((4, 6, 1), (7, 1, 1), (1, 5, 1)):
        for flags in FLAGS.values():
            found = operands(generator("positional", name, dims, flags), dims, "INT64", "general", **flags)

            def call(lib, o, flags=flags):
                A, semiring = (o.A.T if "at" in flags else o.A), getattr(lib.semiring.ss, name)
                o.C(~o.M.V, accum=lib.binary.plus) << o.u.vxm(A, semiring)
                return o.u.vxm(A, semiring).new()

            agree(
                call,
                found,
                f"vxm {name} {dims} {flags}",
                cells=[("vxm", "positional semiring", name)],
                engines=WITHOUT_NUMBA,
            )
