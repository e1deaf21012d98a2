"""Products that are selected from or reduced without being formed: the same expressions in both libraries."""

import itertools

import pytest

from support import coverage
from support.agree import agree
from support.library import ENGINES, WITHOUT_NUMBA, engines_at
from support.operands import DIMENSIONS, HUGE_SCENE, SCENES, make, mask_for
from support.seeds import generator

MASKS = ("none", "S", "V", "~S", "~V")
SELECTS = (None, ("valuegt", 1), ("tril", -1), ("rowle", 2))
AXES = ("scalar", "rowwise", "columnwise")
MONOIDS = ("plus", "times", "min", "max", "lor", "land", "lxor", "eq")
SEMIRINGS = (
    "plus_times", "plus_pair", "plus_first", "plus_second", "min_plus", "max_first", "min_second", "max_pair",
    "lor_land", "land_lor", "lxor_land", "times_plus", "eq_lor", "any_pair", "plus_minus",
    "plus_firsti", "min_secondj1", "max_firstj", "plus_secondi",
)  # fmt: skip
POSITIONAL = SEMIRINGS[-4:]
coverage.owe("mxm", "reduced by", MONOIDS, WITHOUT_NUMBA)
coverage.owe("mxm", "chain of semiring", SEMIRINGS, WITHOUT_NUMBA)
FLAGS = ({}, {"at": True}, {"bt": True}, {"at": True, "bt": True})


def operands(rng, dims, dtype, kind, at=False, bt=False):
    m, k, n = dims
    return {
        "M": mask_for(rng, (m, n), kind),
        "m": mask_for(rng, (m,), kind),
        "n": mask_for(rng, (n,), kind),
        "A": make(rng, (k, m) if at else (m, k), dtype, kind),
        "B": make(rng, (n, k) if bt else (k, n), dtype),
    }


def chosen(mask, kind):
    found = mask.S if kind.endswith("S") else mask.V
    return ~found if kind.startswith("~") else found


def reduced(product, axis, monoid, o):
    """The reduction, and the two to a vector under a mask too."""
    if axis == "scalar":
        return product().reduce_scalar(monoid).new()
    rows = axis == "rowwise"
    w = product().reduce_rowwise(monoid) if rows else product().reduce_columnwise(monoid)
    return [w.new(), w.new(mask=~(o.m if rows else o.n).V)]


def chain(lib, o, name, flags, mask, select):
    """A function that makes the expression: a product, then its masks."""
    A, B = (o.A.T if "at" in flags else o.A), (o.B.T if "bt" in flags else o.B)
    semiring = getattr(lib.semiring.ss if name in POSITIONAL else lib.semiring, name)

    def expression():
        product = A.mxm(B, semiring)
        if mask != "none":
            product = product.select(chosen(o.M, mask))
        return product if select is None else product.select(getattr(lib.select, select[0]), select[1])

    return expression


@pytest.mark.parametrize("name", SEMIRINGS)
def test_chains(name):
    """Monoids, masks and selects in turn over all scenes: every pair of a monoid and an axis meets every semiring."""
    turns = itertools.cycle(itertools.product(MASKS, SELECTS))
    reductions = itertools.cycle(itertools.product(MONOIDS, AXES))
    turn = SEMIRINGS.index(name)
    for k, scene in enumerate((*SCENES, HUGE_SCENE)):
        rng = generator("chains", name, scene)
        flags = FLAGS[k % 4]
        found = operands(rng, DIMENSIONS[scene[0]], "INT64", scene[1], **flags)
        for _ in range(4):
            (mask, select), (monoid, axis) = next(turns), next(reductions)

            def call(lib, o, flags=flags, mask=mask, select=select, monoid=monoid, axis=axis):
                with lib.config.set(autocompute=True):
                    product = chain(lib, o, name, flags, mask, select)
                    typed = getattr(lib.monoid, monoid)["BOOL" if monoid in ("lor", "land", "lxor", "eq") else "INT64"]
                    whole = [] if select is None else [product().new(), product().new(mask=~o.M.V)]
                    got = reduced(product, axis, typed, o)
                    return [*whole, *(got if type(got) is list else [got])]

            agree(
                call,
                found,
                f"{name} {scene} {flags} {mask} {select} {monoid} {axis}",
                cells=[("mxm", "reduced by", monoid), ("mxm", "chain of semiring", name)],
                # shifted by the semiring, because monoids and engines come in turns of the same length
                engines=ENGINES if k == 0 and name == "plus_first" else engines_at(k + turn, WITHOUT_NUMBA),
            )


def test_selects_one_after_the_other():
    """Each leaves out more, with and without a mask before them."""
    found = operands(generator("selects in turn"), DIMENSIONS[SCENES[0][0]], "INT64", SCENES[0][1])

    def call(lib, o):
        with lib.config.set(autocompute=True):
            gt, lt, plus = lib.select.valuegt, lib.select.valuelt, lib.monoid.plus
            both = [chain(lib, o, "plus_times", {}, mask, ("valuegt", 1)) for mask in ("S", "none")]
            new = [product().select(lt, 1).new() for product in both] + [both[1]().select(gt, 2).new()]
            return [*new, *(product().select(lt, 1).reduce_rowwise(plus).new() for product in both)]

    agree(call, found, "selects in turn", engines=WITHOUT_NUMBA)


@pytest.mark.parametrize("dtype", ["BOOL", "UINT8", "INT16", "FP32", "FC64"])
def test_types(dtype):
    """Narrow types wrap, and the type of the monoid is the product's."""
    for k, (scene, axis) in enumerate(itertools.product(SCENES[:6], AXES)):
        found = operands(generator("chain types", dtype, scene), DIMENSIONS[scene[0]], dtype, scene[1])

        def call(lib, o, axis=axis):
            with lib.config.set(autocompute=True):
                semiring, monoid = ("lor_land", "lor") if dtype == "BOOL" else ("plus_times", "plus")
                masked = chain(lib, o, semiring, {}, "S", None)
                whole = chain(lib, o, semiring, {}, "none", None)
                op = getattr(lib.monoid, monoid)
                parts = [reduced(product, axis, op, o) for product in (masked, whole)]
                return [one for part in parts for one in (part if type(part) is list else [part])]

        agree(call, found, f"{dtype} {scene} {axis}", engines=engines_at(k, WITHOUT_NUMBA))


DISTRIBUTIVE = (
    "plus_times", "plus_pair", "plus_first", "plus_second", "min_first", "max_second", "min_pair", "min_max", "max_min",
    "lor_land", "land_lor", "lxor_land", "lor_first", "min_plus",
)  # fmt: skip


@pytest.mark.parametrize("name", DISTRIBUTIVE)
def test_sums_of_whole_products(name):
    """Where the multiply distributes over the monoid the product is not computed; min_plus, which may wrap, is."""
    dtypes = ("BOOL",) if name[0] == "l" else ("INT8", "UINT64", "FP32")
    for k, (dtype, scene) in enumerate(itertools.product(dtypes, (*SCENES, HUGE_SCENE))):
        flags = FLAGS[k % 4]
        found = operands(generator("sums", name, dtype, scene), DIMENSIONS[scene[0]], dtype, scene[1], **flags)

        def call(lib, o, flags=flags):
            with lib.config.set(autocompute=True):
                product = chain(lib, o, name, flags, "none", None)
                op = getattr(lib.monoid, name.split("_")[0])
                parts = [reduced(product, axis, op, o) for axis in AXES]
                return [one for part in parts for one in (part if type(part) is list else [part])]

        agree(call, found, f"{name} {dtype} {scene} {flags}", engines=engines_at(k, WITHOUT_NUMBA))


KRONECKER = ("times", "pair", "first", "second", "max", "land", "minus", "firsti")


@pytest.mark.parametrize("monoid", ["plus", "max", "lor"])
def test_sums_of_kronecker_products(monoid):
    """The sums of the factors give those of the product where the operator distributes; elsewhere it is formed."""
    for k, (name, scene) in enumerate(itertools.product(KRONECKER, SCENES[:6])):
        m, n, _ = DIMENSIONS[scene[0]]
        rng = generator("kronecker sums", monoid, name, scene)
        flags = FLAGS[k % 4]
        dtype = "BOOL" if monoid == "lor" else "INT16"
        found = {
            "m": mask_for(rng, (m * 2,), scene[1]),
            "n": mask_for(rng, (n * 3,), scene[1]),
            "A": make(rng, (n, m) if "at" in flags else (m, n), dtype, scene[1]),
            "B": make(rng, (3, 2) if "bt" in flags else (2, 3), dtype),
        }

        def call(lib, o, flags=flags, name=name):
            A, B = (o.A.T if "at" in flags else o.A), (o.B.T if "bt" in flags else o.B)
            with lib.config.set(autocompute=True):
                op = lib.binary.ss.firsti if name == "firsti" else getattr(lib.binary, name)
                parts = [reduced(lambda: A.kronecker(B, op), axis, getattr(lib.monoid, monoid), o) for axis in AXES]
                return [one for part in parts for one in (part if type(part) is list else [part])]

        if name in ("minus", "firsti") and dtype == "BOOL":
            continue
        agree(call, found, f"{monoid} {name} {scene} {flags}", engines=engines_at(k, WITHOUT_NUMBA))


@pytest.mark.parametrize("name", ["plus_times", "lor_land", "min_max", "plus_pair", "min_plus"])
def test_sums_of_powers(name):
    """A^n e = A (A ... (A e)) in rings of integers and lattices; plus_pair and min_plus are formed."""
    for k, (n, scene, at) in enumerate(itertools.product((0, 1, 2, 5), ("general", "empty", "full"), (False, True))):
        dtype = "BOOL" if name == "lor_land" else "INT32"
        if n == 0 and name in ("plus_pair", "min_plus"):
            continue
        rng = generator("power sums", name, n, scene)
        found = {x: mask_for(rng, (6,), "general") for x in "mn"} | {"A": make(rng, (6, 6), dtype, scene)}

        def call(lib, o, n=n, at=at):
            A = o.A.T.new() if at and n == 0 else o.A.T if at else o.A
            with lib.config.set(autocompute=True):
                op, monoid = getattr(lib.semiring, name), getattr(lib.monoid, name.split("_")[0])
                parts = [reduced(lambda: A.power(n, op), axis, monoid, o) for axis in AXES]
                return [one for part in parts for one in (part if type(part) is list else [part])]

        agree(call, found, f"{name} {n} {scene} {at}", engines=engines_at(k, WITHOUT_NUMBA))


def test_two_masks():
    """Both select: a product keeps one mask only, so the second is applied to the first one's result."""
    for k, scene in enumerate(SCENES[:6]):
        rng = generator("two masks", scene)
        found = operands(rng, DIMENSIONS[scene[0]], "INT64", scene[1])
        found["N"] = mask_for(rng, found["M"].shape, scene[1])

        def call(lib, o):
            with lib.config.set(autocompute=True):
                parts = []
                for first, second in (("S", "S"), ("V", "~S"), ("~S", "~V")):
                    twice = o.A.mxm(o.B, lib.semiring.plus_times).select(chosen(o.M, first))
                    parts.append(twice.select(chosen(o.N, second)).new())
                    again = o.A.mxm(o.B, lib.semiring.plus_times).select(chosen(o.M, first)).select("valuegt", 0)
                    parts.append(again.select(chosen(o.N, second)).reduce_scalar(lib.monoid.plus).new())
                return parts

        agree(call, found, f"{scene}", engines=engines_at(k, WITHOUT_NUMBA))
