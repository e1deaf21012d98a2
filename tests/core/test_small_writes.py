"""Writes that reach few positions: any program of writes and reads equals a dictionary, whoever else holds the arrays.

The bound from which changes are few is set to one entry here, so that small objects keep changes beside their stores.
"""

import pytest

from grb_tile.operations import partial
from support import seeds
from support.library import engine
from support.written import Program

CASES = {
    "matrix": ((7, 9), "FP64", 0.5),
    "wrapping matrix": ((7, 9), "INT8", 0.4),
    "Boolean matrix": ((6, 6), "BOOL", 0.5),
    "sparse vector": ((400,), "INT64", 0.03),
    "bitmap vector": ((130,), "FP64", 0.7),
    "full vector": ((130,), "INT8", 1.0),
}


def run(shape, dtype, share, name, turn, steps=40):
    rng = seeds.generator("written", name, turn)
    program = Program(rng, shape, dtype, share)
    try:
        for _ in range(steps):
            program.step()
        program.verify()
        program.verify_copies()
    except Exception as error:
        lines = "\n".join(map(str, program.log))
        raise AssertionError(f"GRB_TILE_SEED={seeds.SEED}, turn {turn}: {error}\n{lines}") from error


@pytest.mark.parametrize("few", [1, 64])
@pytest.mark.parametrize("name", CASES)
def test_programs_equal_a_dictionary(name, few, monkeypatch):
    monkeypatch.setattr(partial, "FEW", few)
    for turn in range(40):
        run(*CASES[name], name, turn)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("which", ["reference", "numpy"])
def test_programs_equal_a_dictionary_in_other_engines(which, name):
    with engine(which):
        for turn in range(100, 106):
            run(*CASES[name], name, turn)
