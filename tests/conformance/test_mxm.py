"""mxm: C<M,r> = C (+) A (+.x) B, all write options, transposes, types, casts and a sample of semirings."""

import pytest

from support import coverage
from support.agree import agree
from support.algebra import plus_times
from support.battery import Operation, battery
from support.library import WITHOUT_NUMBA, engines_at, engines_for
from support.operands import DIMENSIONS, HUGE_SCENE, SCENES, make, mask_for
from support.seeds import generator

FLAGS = {"plain": {}, "A.T": {"at": True}, "B.T": {"bt": True}, "A.T B.T": {"at": True, "bt": True}}


def operands(rng, dims, dtype, kind, at=False, bt=False):
    m, k, n = dims
    return {
        "C": make(rng, (m, n), dtype),
        "M": mask_for(rng, (m, n), kind),
        "A": make(rng, (k, m) if at else (m, k), dtype, kind),
        "B": make(rng, (n, k) if bt else (k, n), dtype),
    }


def factors(o):
    return (o.A.T if "A.T" in o.variant else o.A), (o.B.T if "B.T" in o.variant else o.B)


def mxm(lib, o, how):
    A, B = factors(o)
    o.C(**how) << A.mxm(B, plus_times(lib, o.A.dtype.name))


test_write_options, test_types, test_casts = battery(Operation("mxm", operands, mxm, variants=FLAGS, second="B"))

SEMIRINGS = (
    "any_pair",
    "plus_pair",
    "min_plus",
    "max_plus",
    "max_times",
    "min_first",
    "max_second",
    "plus_first",
    "any_second",
    "any_first",
    "plus_minus",
    "plus_min",
    "plus_rminus",
    "times_plus",
    "min_max",
    "lor_land",
    "land_lor",
    "lxor_land",
    "eq_lor",
    "any_isge",
    "plus_isle",
    "lor_eq",
    "min_times",
    "plus_absfirst",
    "max_land",
)
POSITIONAL = tuple(
    f"{monoid}_{multiply}"
    for monoid in ("min", "max", "plus", "any")
    for multiply in ("firsti", "firsti1", "firstj", "firstj1", "secondi", "secondi1", "secondj", "secondj1")
)
for _name in SEMIRINGS:
    coverage.owe("mxm", "semiring", [_name], engines_for(_name))
coverage.owe("mxm", "positional semiring", POSITIONAL, WITHOUT_NUMBA)


@pytest.mark.parametrize("name", SEMIRINGS)
def test_semirings(name):
    """Any monoids may take any of the products; on iso operands there is but one."""
    for k, scene in enumerate((*SCENES, HUGE_SCENE)):
        for flags in FLAGS.values():
            rng = generator("semirings", name, scene, flags)
            dims, kind = DIMENSIONS[scene[0]], "iso" if name in ("any_second", "any_first", "any_isge") else scene[1]
            found = operands(rng, dims, "INT64", kind, **flags)
            if kind == "iso":
                found["B"] = make(rng, found["B"].shape, "INT64", "iso")

            def call(lib, o, flags=flags):
                A, B = (o.A.T if "at" in flags else o.A), (o.B.T if "bt" in flags else o.B)
                o.D = A.mxm(B, getattr(lib.semiring, name)).new()
                o.C(o.M.S) << A.mxm(B, getattr(lib.semiring, name))
                return A.mxm(B, getattr(lib.semiring, name)).new(mask=~o.M.S)

            agree(
                call,
                found,
                f"mxm {name} {scene} {flags}",
                cells=[("mxm", "semiring", name)],
                engines=engines_at(k, engines_for(name)),
            )


@pytest.mark.parametrize("name", POSITIONAL)
def test_positional(name):
    """The multiply sees where its operands lie; with `any`, k may be any index that both share, so those that see k
    run on one k."""
    sees_k = name.split("_")[1].rstrip("1") in ("firstj", "secondi")
    for dims in ((5, 1, 4),) if name.startswith("any") and sees_k else ((4, 6, 5), (7, 1, 3), (1, 5, 1)):
        for flags in FLAGS.values():
            found = operands(generator("positional", name, dims, flags), dims, "INT64", "general", **flags)

            def call(lib, o, flags=flags):
                A, B = (o.A.T if "at" in flags else o.A), (o.B.T if "bt" in flags else o.B)
                semiring = getattr(lib.semiring.ss, name)
                o.C(o.M.V, accum=lib.binary.second) << A.mxm(B, semiring)
                return A.mxm(B, semiring).new()

            agree(
                call,
                found,
                f"mxm {name} {dims} {flags}",
                cells=[("mxm", "positional semiring", name)],
                engines=WITHOUT_NUMBA,
            )


coverage.owe("mxm", "user-defined semiring", ["plus with x*x+y", "max with 3x-y"], WITHOUT_NUMBA)


@pytest.mark.parametrize(
    ("name", "function"), [("plus with x*x+y", lambda x, y: x * x + y), ("max with 3x-y", lambda x, y: 3 * x - y)]
)
def test_user_defined(name, function):
    made = {}

    def semiring(lib):
        if lib.__name__ not in made:
            multiply = lib.binary.register_anonymous(function)
            made[lib.__name__] = lib.semiring.register_anonymous(getattr(lib.monoid, name.split()[0]), multiply)
        return made[lib.__name__]

    for dtype in ("INT64", "FP64"):
        for scene in SCENES:
            found = operands(generator("user", name, scene), DIMENSIONS[scene[0]], dtype, scene[1])

            def call(lib, o):
                o.C(~o.M.S, accum="minus") << o.A.mxm(o.B, semiring(lib))
                return o.A.mxm(o.B, semiring(lib)).new()

            agree(call, found, f"mxm {name}", cells=[("mxm", "user-defined semiring", name)], engines=WITHOUT_NUMBA)
