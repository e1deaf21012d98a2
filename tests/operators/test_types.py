"""Names, types, relations and representations of all predefined operators: exactly python-graphblas's."""

import json
import os
import subprocess
import sys

import graphblas as oracle
import numpy as np
import pytest
from operators.catalogue import NAMESPACES, operator_labels, operator_pairs, theirs

import grb_tile as gb

# Made by python-graphblas through a second, anonymous operator, whose name shows; ours keeps its own.
OTHER_NAME = {("unary.numpy.reciprocal", "BOOL")}


# What both namespaces hold besides operators.
NOT_OPERATORS = {
    "column", "from_string", "get_semiring", "index", "numpy", "register_anonymous", "register_new", "row", "ss",
    "value",
}  # fmt: skip
NAMES = """
import json
from operators.catalogue import sections
print(json.dumps([(space, part, *(sorted(set(dir(m)) - set(getattr(m, "_deprecated", ()))) for m in (ours, theirs)))
                  for space, part, ours, theirs in sections()]))
"""


def test_every_name_exists_and_no_other():
    """Asked of a fresh process: other tests of this one may have registered operators in either library."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    answer = subprocess.run([sys.executable, "-c", NAMES], stdout=subprocess.PIPE, check=True, env=environment)
    found = json.loads(answer.stdout)
    assert {space for space, *_ in found} == set(NAMESPACES)
    for space, part, *both in found:
        ours, theirs = ({n for n in names if not n.startswith("_")} - NOT_OPERATORS for names in both)
        assert len(theirs) > 10 or part == "ss", (space, part)
        assert not theirs - ours, (space, part)
        if (space, part) != ("semiring", "numpy"):
            assert not ours - theirs, (space, part)


@pytest.mark.parametrize("space", NAMESPACES)
def test_types_and_typed_operators(space):
    for label, mine, other in operator_pairs((space,), numpy_semirings=True):
        assert {t.name: r.name for t, r in mine.types.items()} == {t.name: r.name for t, r in other.types.items()}, (
            label
        )
        assert all(mine[t].type is r for t, r in mine.coercions.items()), (label, mine.coercions)
        if space == "semiring" and not mine._builtin:
            continue  # there a coerced type keeps its name in python-graphblas; ours says what is computed in
        for dtype in other.types:
            a, b = mine[dtype.name], other[dtype]
            assert (a.type.name, a.return_type.name) == (b.type.name, b.return_type.name), (label, dtype.name)
            if (label, dtype.name) not in OTHER_NAME:
                assert (repr(a), a.name, a.gb_name) == (repr(b), b.name, b.gb_name), (label, dtype.name)


def test_semirings_for_types_that_are_not_listed():
    """`types` leaves out some that python-graphblas makes, and those make a product all the same."""
    from graphblas import dtypes as types

    from grb_tile import Matrix, dtypes

    found = set()
    for label, mine, other in operator_pairs(("semiring",)):
        for name in "BOOL INT8 UINT8 INT64 UINT64 FP32 FP64 FC32 FC64".split():
            dtype = getattr(types, name)
            if dtype in other.types or not mine._builtin:
                continue
            assert (name in mine) == (dtype in other), (label, name)
            if dtype in other:
                assert mine[name].return_type.name == other[dtype].return_type.name, (label, name)
                found.add((mine.name, name))
                A = Matrix.from_coo([0, 0, 1], [0, 1, 1], [1, 0, 1], dtype=getattr(dtypes, name), nrows=2, ncols=2)
                assert A.mxm(A, mine).new().dtype is mine[name].return_type
    assert found >= {("lor_eq", "FC64"), ("times_first", "BOOL"), ("max_pair", "FC64"), ("plus_pair", "BOOL")}


PARTS = 12  # of a namespace; the quick run has a few: python-graphblas compiles what it is asked for


@pytest.mark.sampled(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("space", NAMESPACES)
def test_relations_between_operators(space, part):
    for label, mine in operator_labels((space,))[part::PARTS]:
        if label.startswith("semiring.numpy."):  # a second each
            continue
        other = theirs(label)
        assert repr(mine) == repr(other), label
        for fact in ("is_commutative", "is_idempotent", "is_positional"):
            if hasattr(other, fact):
                assert getattr(mine, fact) == getattr(other, fact), (label, fact)
        for relation in ("commutes_to", "monoid", "binaryop"):
            if hasattr(other, relation):
                assert repr(getattr(mine, relation)) == repr(getattr(other, relation)), (label, relation)


def test_types_without_meaning_are_refused():
    from grb_tile import binary, dtypes, unary

    assert dtypes.FC64 not in binary.min
    assert "FP64" in binary.min
    with pytest.raises(KeyError, match="min does not work with FC64"):
        binary.min["FC64"]
    with pytest.raises(KeyError, match="bnot does not work with FP32"):
        unary.bnot[dtypes.FP32]


KEYS = (
    None, 5, 1.5, object, "nothing", b"x", int, float, bool, complex, "int", "UINT8", "<u4", np.float16, np.complex64,
    np.dtype("i2"), ("INT64", 5), ("INT64", "FP32"), ("FP64", None), ("INT8", "UINT8"), ("FP32", "nothing"),
)  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_whatever_names_a_type(key):
    """`key in op` and op[key]: what python-graphblas gives or raises."""

    def asked(function):
        try:
            return repr(function())
        except Exception as error:
            return type(error).__name__

    for space, label in (
        ("unary", "abs"), ("unary", "bnot"), ("binary", "plus"), ("binary", "band"), ("binary", "pow"),
        ("binary", "eq"), ("monoid", "plus"), ("monoid", "lor"), ("semiring", "min_plus"), ("select", "tril"),
        ("indexunary", "valuegt"),
    ):  # fmt: skip
        mine, other = (getattr(getattr(library, space), label) for library in (gb, oracle))
        assert asked(lambda: key in mine) == asked(lambda: key in other), (space, label)
        assert asked(lambda: mine[key]) == asked(lambda: other[key]), (space, label)


def test_typed_operators_are_interned():
    from grb_tile import binary, dtypes, monoid, semiring

    for op in (binary.plus, binary.hypot, monoid.min, semiring.min_plus):
        for key in (dtypes.INT64, "INT64", int, "<i8"):
            assert op[key] is op[dtypes.INT64]
    assert binary.hypot["INT8"] is binary.hypot["FP32"]
    assert monoid.max["BOOL"] is monoid.lor["BOOL"]
    assert semiring.any_ne["BOOL"] is semiring.any_lxor["BOOL"]
    assert binary.plus["INT64", "INT64"] is binary.plus["INT64"]
    assert binary.plus["INT8", "FP32"] is binary.plus["FP32"]
    assert binary.pair["FP32", "FP32"] is binary.pair["INT64"]
