"""The calls of the C API that are recorded for each operation: mask, accumulator and descriptor as SuiteSparse's."""

import re

import pytest
from operations.test_every_record import CASES, RECORDS, draw, operands

from support.agree import build
from support.library import LIBRARY, gb, oracle
from support.seeds import generator

if LIBRARY == "graphblas":
    pytest.skip("both sides are the same library", allow_module_level=True)

# Calls whose forms differ: the oracle makes several of one, or names another function for it.
OTHER_CALLS = re.compile(
    r"(select, [at]|apply, (right|.*transposed)|product sel|extract|a row|a column|reposition|power|diagonal|"
    r"aggregator|an element|outer|ewise_(union|add, a|mult, a)|"
    r"(rows|columns) by an|(rows|columns|sum|most) of a|selected).*"
)
NUMBERED, TYPED = re.compile(r"\b([Mv]_)\d+"), re.compile(r"(_select|_apply_IndexOp)_[A-Z]+\d*(?=\()")
DRAWS = 4


def recorded(library, call, given):
    objects = build(library, given)
    for name in given:
        made = getattr(objects, name)
        made.name = name
        made.wait()
    with library.Recorder() as found:
        call(library, objects)
    texts = (TYPED.sub(r"\1", NUMBERED.sub(r"\1new", text)) for text in found)
    return [text.replace("uint64_t[]", "GrB_Index[]") for text in texts]


@pytest.fixture(autouse=True)
def autocompute():
    with gb.config.set(autocompute=True), oracle.config.set(autocompute=True):
        yield


@pytest.mark.parametrize("shape, name", CASES, ids=[f"{len(shape)}d {name}" for shape, name in CASES])
def test_recorded_as_the_oracle_records(shape, name):
    """The whole call where both libraries make one; elsewhere what the write says of mask, accumulator, descriptor."""
    rng = generator("notation", shape, name)
    for _ in range(DRAWS):
        given = operands(rng, shape)
        text, keywords = draw(rng, shape)

        def call(lib, o):
            o.C(**keywords(lib, o)) << RECORDS[shape][name](lib, o)  # noqa: B023

        mine, other = recorded(gb, call, given), recorded(oracle, call, given)
        if not OTHER_CALLS.fullmatch(name):
            assert mine == other, text
        elif mine and not mine[-1].startswith("/*") and "extract" not in mine[-1]:
            assert mine[-1].count("C, M, ") == (text[:9] != "mask none"), (text, mine)


@pytest.mark.parametrize("mask, letters", [("S", "S"), ("V", ""), ("~S", "SC"), ("~V", "C")])
@pytest.mark.parametrize("outer", ["S", "~V", None])
def test_both_masks_of_a_selected_product(outer, mask, letters):
    """Each call has its own: the product that of the select, the select that of the write."""
    rng = generator("two masks", mask, outer)
    given = operands(rng, (5, 7))
    kinds = {"S": lambda x: x.S, "V": lambda x: x.V, "~S": lambda x: ~x.S, "~V": lambda x: ~x.V}

    def call(lib, o):
        how = {} if outer is None else {"mask": kinds[outer](o.M), "replace": True}
        o.C(**how) << o.Q.T.mxm(o.A, "plus_times").select(kinds[mask](o.B)).select(">", 0)

    (text,) = recorded(gb, call, given)
    assert re.fullmatch(
        rf"GrB_mxm\(C_temp, B, NULL, GrB_PLUS_TIMES_SEMIRING_\w+, Q, A, GrB_DESC_{letters}T0\); "
        rf"GrB_Matrix_select\(C, {'M' if outer else 'NULL'}, NULL, \w+, C_temp, 0, "
        rf"{ {'S': 'GrB_DESC_RS', '~V': 'GrB_DESC_RC', None: 'NULL'}[outer] }\);",
        text,
    ), text
