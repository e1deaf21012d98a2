"""mxv: w<m,r> = w (+) A (+.x) u."""

import pytest

from support import coverage
from support.agree import agree
from support.algebra import plus_times
from support.battery import Operation, battery
from support.library import ENGINES, LIBRARY, WITHOUT_NUMBA, engines_at, engines_for
from support.operands import DIMENSIONS, HUGE_SCENE, SCENES, make, mask_for
from support.seeds import generator

FLAGS = {"plain": {}, "A.T": {"at": True}}


def operands(rng, dims, dtype, kind, at=False):
    m, n, _ = dims
    return {
        "C": make(rng, (m,), dtype),
        "M": mask_for(rng, (m,), kind),
        "A": make(rng, (n, m) if at else (m, n), dtype, kind),
        "u": make(rng, (n,), dtype),
    }


def mxv(lib, o, how):
    A = o.A.T if o.variant == "A.T" else o.A
    o.C(**how) << A.mxv(o.u, plus_times(lib, o.A.dtype.name))


test_write_options, test_types, test_casts = battery(Operation("mxv", operands, mxv, variants=FLAGS, second="u"))

SEMIRINGS = (
    "any_pair",
    "plus_pair",
    "min_plus",
    "max_plus",
    "min_second",
    "max_first",
    "plus_second",
    "any_second",
    "plus_minus",
    "plus_rminus",
    "lor_land",
    "land_lor",
    "lxor_lor",
    "min_max",
    "plus_isgt",
)
POSITIONAL = tuple(
    f"{monoid}_{multiply}"
    for monoid in ("min", "plus", "any")
    for multiply in ("firsti", "firsti1", "firstj", "firstj1", "secondi", "secondi1", "secondj", "secondj1")
)
for _name in SEMIRINGS:
    coverage.owe("mxv", "semiring", [_name], engines_for(_name))
coverage.owe("mxv", "positional semiring", POSITIONAL, WITHOUT_NUMBA)


@pytest.mark.parametrize("name", SEMIRINGS)
def test_semirings(name):
    for k, scene in enumerate((*SCENES, HUGE_SCENE)):
        for flags in FLAGS.values():
            rng = generator("semirings", name, scene, flags)
            found = operands(rng, DIMENSIONS[scene[0]], "INT64", scene[1], **flags)
            if name == "any_second":  # any product will do: let there be one value
                found["u"] = make(rng, found["u"].shape, "INT64", "iso")

            def call(lib, o, flags=flags):
                A, semiring = (o.A.T if "at" in flags else o.A), getattr(lib.semiring, name)
                o.C(~o.M.V) << A.mxv(o.u, semiring)
                return [A.mxv(o.u, semiring).new(), A.mxv(o.u, semiring).new(mask=o.M.S)]

            agree(
                call,
                found,
                f"mxv {name} {scene} {flags}",
                cells=[("mxv", "semiring", name)],
                engines=engines_at(k, engines_for(name)),
            )


@pytest.mark.parametrize("name", POSITIONAL)
def test_positional(name):
    sees_k = name.split("_")[1].rstrip("1") in ("firstj", "secondi")
    for dims in ((5, 1, 1),) if name.startswith("any") and sees_k else ((4, 6, 1), (7, 1, 1), (1, 5, 1)):
        for flags in FLAGS.values():
            found = operands(generator("positional", name, dims, flags), dims, "INT64", "general", **flags)

            def call(lib, o, flags=flags):
                A, semiring = (o.A.T if "at" in flags else o.A), getattr(lib.semiring.ss, name)
                o.C(o.M.V, accum=lib.binary.plus) << A.mxv(o.u, semiring)
                return A.mxv(o.u, semiring).new()

            agree(
                call,
                found,
                f"mxv {name} {dims} {flags}",
                cells=[("mxv", "positional semiring", name)],
                engines=WITHOUT_NUMBA,
            )


TILES = tuple(f"{form} nt{nt}" for form in ("tiled", "push_csc", "pull_csc") for nt in (16, 32, 64))


@pytest.mark.parametrize("name", ("min_plus", "any_pair", "lor_land", "plus_pair", "max_first"))
def test_tiles_of_each_size(name):
    """Dimensions that are no multiples of a tile's, remainders, masks; the other tests' matrices fit in one tile."""
    on_host = LIBRARY == "grb_tile" and "default" in ENGINES
    for dims in ((70, 33, 1), (130, 17, 1), (15, 100, 1)):
        for flags in FLAGS.values():
            found = operands(generator("tiles", name, dims, flags), dims, "INT64", "general", **flags)

            def call(lib, o, flags=flags):
                A, semiring = (o.A.T if "at" in flags else o.A), getattr(lib.semiring, name)
                o.C(~o.M.V, accum=lib.binary.plus) << A.mxv(o.u, semiring)
                return [A.mxv(o.u, semiring).new(), A.mxv(o.u, semiring).new(mask=o.M.S)]

            agree(call, found, f"mxv over tiles {name} {dims} {flags}", engines=TILES if on_host else None)
