"""Every public call x every kind of argument x every storage form, against SuiteSparse; and the table is complete."""

import pytest

from calls import computing, files, not_here, operators, reading, scalars, tools, writing  # noqa: F401  rows
from calls.table import FORMS, NOT_HERE, ROWS, forms_of, operands
from support.agree import Raised, expected_outcome, outcome, report
from support.library import LIBRARY, gb, oracle
from support.plain import difference

if LIBRARY == "graphblas":
    pytest.skip("the forms are this library's", allow_module_level=True)

RECEIVERS = {  # expressions in the place of an operand, which they compute to
    "an expression": lambda lib, x: x.apply(lib.unary.identity),
    "an extract": lambda lib, x: x[...] if x.ndim == 0 else x[:, :] if x.ndim == 2 else x[:],
    "a product": lambda lib, x: (
        x.mxm(lib.Vector.from_scalar(1, x.ncols, x.dtype).diag(), lib.semiring.any_first) if x.ndim == 2 else
        x.vxm(lib.Vector.from_scalar(1, x.size, x.dtype).diag(), lib.semiring.any_first)
    ),
}  # fmt: skip

ALIKE = {"IndexOutOfBound": "IndexError"}  # a subclass of it, here and there raised in the other's place


def with_receiver(call, receiver):
    """The call with expressions in the place of A and v."""

    def made(lib, o):
        return call(lib, _Received(lib, o, receiver))

    return made


class _Received:
    """Operands of which A and v are expressions."""

    def __init__(self, lib, o, receiver):
        self._of = lib, o, receiver

    def __getattr__(self, name):
        lib, o, receiver = self._of
        found = getattr(o, name)
        return RECEIVERS[receiver](lib, found) if name in ("A", "v") else found


def check(member, kind, cell, k, receiver=None):
    """One cell in the k-th form; did the call end without an exception?"""
    where = f"{member} [{kind}] form {k}{f' of {receiver}' if receiver else ''}"
    given = operands(f"{member} {kind}", k)
    call = cell.call if receiver is None else with_receiver(cell.call, receiver)
    if cell.wanted is not None:
        expected, after = cell.wanted(type("Operands", (), given)), {}
    elif cell.alone:
        expected, after = Raised(cell.alone("")), {}
    else:
        expected, after = expected_outcome(call, given, may_fail=True)
    result, mine = outcome(gb, call, given, may_fail=True)
    if isinstance(expected, Raised) or isinstance(result, Raised):
        same = isinstance(expected, Raised) and isinstance(result, Raised)
        same = same and ALIKE.get(expected.name, expected.name) == ALIKE.get(result.name, result.name)
        problem = None if same else f"expected {expected!r}, got {result!r}"
        if cell.refused and problem is None:
            before = {name: difference(given[name], x) for name, x in mine.items()}
            problem = next((f"{name} was changed: {text}" for name, text in before.items() if text), None)
    elif cell.refused:
        problem = f"expected an exception, got {result!r}"
    else:
        problem = difference(expected, result)
    for name, wanted in after.items():
        found = problem is None and name in mine and difference(wanted, mine[name])
        problem = f"operand {name} afterwards: {found}" if found else problem
    assert problem is None, report(where, "default", problem, given)
    return not isinstance(expected, Raised)


def run(member, whole):
    for turn, (kind, cell) in enumerate(ROWS[member].items()):
        ended = [check(member, kind, cell, k) for k in forms_of(cell, turn, whole)]
        assert any(ended) != cell.refused, f"{member} [{kind}] computes nothing in any form"


# the oracle compiles for seconds
COMPILES = ("isclose", "compactify", "__rpow__", "__rfloordiv__", "__divmod__", "__rdivmod__")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "member", [pytest.param(m, marks=[pytest.mark.slow] if m.endswith(COMPILES) else []) for m in sorted(ROWS)]
)
def test_every_form(member):
    run(member, whole=False)


@pytest.mark.slow
@pytest.mark.parametrize("member", [m for m in sorted(ROWS) if any(cell.thin for cell in ROWS[m].values())])
def test_every_form_of_thin_cells(member):
    run(member, whole=True)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("receiver", RECEIVERS)
@pytest.mark.parametrize(
    "member", [member for member in sorted(ROWS) if any(c.receivers for c in ROWS[member].values())]
)
def test_expressions(member, receiver):
    """Expressions are read as what they compute to."""
    with gb.config.set(autocompute=True), oracle.config.set(autocompute=True):
        for turn, (kind, cell) in enumerate(ROWS[member].items()):
            if cell.receivers:
                check(member, kind, cell, turn % len(FORMS), receiver)


# ---------------------------------------------------------------------- the table is complete

A = gb.Matrix.from_coo([0], [0], 1)
OBJECTS = {
    "Matrix": gb.Matrix, "Vector": gb.Vector, "Scalar": gb.Scalar, "TransposedMatrix": gb.TransposedMatrix,
    "Matrix.ss": type(A.ss), "Vector.ss": type(gb.Vector(int, 1).ss), "ss": gb.ss, "io": gb.io,
}  # fmt: skip
OBJECT_DUNDERS = set(dir(object)) - {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
BORN = {"__module__", "__slots__", "__weakref__", "__dict__", "__getattr__", "__annotations__"}


def public(name):
    """The public members of a class, or the public names of a module."""
    x = OBJECTS[name]
    if name == "io":
        return sorted(x.__all__)
    found = {member for member in dir(x) if member[0] != "_" or member.endswith("__")} - OBJECT_DUNDERS - BORN
    is_tools = name.endswith("ss")  # of these comparisons are object's
    return sorted(member for member in found if not is_tools or member[0] != "_")


@pytest.mark.parametrize("name", OBJECTS)
def test_each_public_member_has_a_row_or_a_reason(name):
    members = {f"{name}.{member}" for member in public(name)}
    without = sorted(members - set(ROWS) - set(NOT_HERE))
    assert not without, f"no row of tests/calls and no reason in NOT_HERE: {without}"
    known = {member for member in (*ROWS, *NOT_HERE) if member.rpartition(".")[0] == name}
    assert known <= members, f"rows of members that there are not: {sorted(known - members)}"


def test_a_member_has_a_row_or_a_reason_but_not_both():
    assert not set(ROWS) & set(NOT_HERE)


def test_each_kind_of_operator_has_a_row():
    from grb_tile.core.calls import _BY_CLASS

    kinds = {"UnaryOp": "unary", "BinaryOp": "binary", "Monoid": "monoid", "Semiring": "semiring",
             "IndexUnaryOp": "indexunary", "SelectOp": "select"}  # fmt: skip
    assert set(_BY_CLASS) == set(kinds)
    assert {f"operators.{name}" for name in (*kinds.values(), "agg")} <= set(ROWS)


def test_expressions_have_no_member_that_their_object_has_not():
    """What expressions forward is tested through the receivers of test_expressions."""
    shown = {"Matrix": [A.mxm(A), A | A, A @ A, A[:, :]], "Vector": [A[0, :], A.mxv(A[0, :].new())]}
    own = {
        "new",
        "update",
        "parent",
        "resolved_indexes",
        "left",
        "right",
        "method_name",
        "op",
        "gb_obj",
        "output_type",
        "close",
    }
    for cls, expressions in shown.items():
        for expression in expressions:
            extra = {member for member in dir(type(expression)) if member[0] != "_"} - own
            missing = {member for member in extra if f"{cls}.{member}" not in {**ROWS, **NOT_HERE}}
            assert not missing, f"{type(expression).__name__} has {sorted(missing)}, which no row calls"
