"""The battery itself: it must notice a library that does one thing wrong.  Each sabotage below is done to grb_tile's
side alone."""

import numpy as np
import pytest

from support.agree import agree
from support.battery import WRITE_OPTIONS
from support.library import LIBRARY, gb
from support.operands import DIMENSIONS, SCENES, make, mask_for
from support.plain import Plain, difference, same_values
from support.seeds import generator

if LIBRARY == "graphblas":
    pytest.skip("both sides are the same library", allow_module_level=True)


def write(lib, o, how):
    o.C(**how) << o.A.ewise_add(o.B, lib.binary.minus)


def without(key):
    def call(lib, o, how):
        write(lib, o, how if lib is not gb else {name: value for name, value in how.items() if name != key})

    return call


def flipped_mask(lib, o, how):
    write(lib, o, {**how, "mask": ~how["mask"]} if lib is gb and "mask" in how else how)


def values_for_structure(lib, o, how):
    if lib is gb and "mask" in how:
        how = {**how, "mask": ~o.M.S if how["mask"].complement else o.M.S}
    write(lib, o, how)


def swapped_accum(lib, o, how):
    if lib is gb and how.get("accum") is not None and how["accum"].name == "minus":
        how = {**how, "accum": lib.binary.rminus}
    write(lib, o, how)


def swapped_operands(lib, o, how):
    if lib is gb:
        o.C(**how) << o.B.ewise_add(o.A, lib.binary.minus)
    else:
        write(lib, o, how)


def lost_entry(lib, o, how):
    write(lib, o, how)
    if lib is gb and o.C.nvals:
        rows, columns, _ = o.C.to_coo()
        del o.C[int(rows[-1]), int(columns[-1])]


def extra_zero(lib, o, how):
    write(lib, o, how)
    if lib is gb and o.C.get(0, 0) is None:
        o.C[0, 0] << 0


def changed_input(lib, o, how):
    write(lib, o, how)
    if lib is gb:
        o.B[0, 0] << 77


def changed_mask(lib, o, how):
    write(lib, o, how)
    if lib is gb:
        o.M.clear()


def other_type(lib, o, how):
    write(lib, o, how)
    if lib is gb:
        o.C = o.C.dup(lib.dtypes.INT32)


SABOTAGE = {
    "replace is ignored": without("replace"),
    "the mask is ignored": without("mask"),
    "accum is ignored": without("accum"),
    "the mask is flipped": flipped_mask,
    "a value mask is taken for its structure": values_for_structure,
    "accum's operands are swapped": swapped_accum,
    "the operator's operands are swapped": swapped_operands,
    "an entry is lost": lost_entry,
    "a zero is stored": extra_zero,
    "an input is changed": changed_input,
    "the mask object is changed": changed_mask,
    "the type is another": other_type,
}


@pytest.mark.quick
@pytest.mark.parametrize("name", SABOTAGE)
def test_sabotage_is_noticed(name):
    noticed = 0
    for option in WRITE_OPTIONS:
        for scene in SCENES[:2]:
            rng = generator("sabotage", scene)
            shape = DIMENSIONS[scene[0]][:2]
            operands = {"C": make(rng, shape), "M": mask_for(rng, shape), "A": make(rng, shape), "B": make(rng, shape)}
            try:
                agree(
                    lambda lib, o, option=option: SABOTAGE[name](lib, o, option.keywords(lib, o.M)),
                    operands,
                    engines=("default",),
                )
            except AssertionError:
                noticed += 1
    assert noticed > 0


def test_nothing_is_noticed_where_nothing_is_wrong():
    rng = generator("sabotage")
    operands = {"C": make(rng, (5, 4)), "M": mask_for(rng, (5, 4)), "A": make(rng, (5, 4)), "B": make(rng, (5, 4))}
    for option in WRITE_OPTIONS:
        agree(lambda lib, o, option=option: write(lib, o, option.keywords(lib, o.M)), operands, engines=("default",))


def test_comparison():
    one = Plain((3,), "FP64", (np.array([0, 2]),), np.array([1.0, np.nan]))
    assert difference(one, Plain((3,), "FP64", (np.array([0, 2]),), np.array([1.0, np.nan]))) is None
    assert "values" in difference(one, Plain((3,), "FP64", (np.array([0, 2]),), np.array([1.0, 2.0])))
    assert "structure" in difference(one, Plain((3,), "FP64", (np.array([0, 1]),), one.values))
    assert "structure" in difference(one, Plain((3,), "FP64", (np.array([0]),), one.values[:1]))
    assert "shape" in difference(one, Plain((4,), "FP64", one.indices, one.values))
    assert "dtype" in difference(one, Plain((3,), "FP32", one.indices, one.values))
    assert difference(1, True) is not None
    assert difference([one], []) is not None
    assert not same_values([1 + 2j], [1 + 3j])
    assert same_values([0.0], [-0.0])
    assert same_values([1.0], [1.0 + 1e-9], tolerance=1e-6)
    assert not same_values([1.0], [1.0 + 1e-9])
