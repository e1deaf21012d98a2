"""Identities, terminals and reductions of monoids."""

import numpy as np
import pytest
from operators.catalogue import operator_labels, operator_names, theirs
from operators.nasty import differences, operands

from grb_tile import Matrix, binary, dtypes, monoid, semiring
from grb_tile.exceptions import DomainMismatch
from grb_tile.operators import ANY, Monoid, typed_semiring

MONOIDS = operator_labels(("monoid",))
TYPED = {id(mine[t]): (label, mine[t]) for label, mine in MONOIDS for t in mine.types}.values()


@pytest.mark.parametrize("label, mine", MONOIDS, ids=[p[0] for p in MONOIDS])
def test_identities(label, mine):
    other = theirs(label)
    ours = {t.name: v for t, v in mine.identities.items()}
    assert ours.keys() == {t.name for t in other.identities}
    for dtype, value in other.identities.items():
        assert complex(ours[dtype.name]) == complex(value), (label, dtype.name)


@pytest.mark.parametrize("label, typed", TYPED, ids=[f"{t!r}" for _, t in TYPED])
def test_identity_and_terminal_are_what_they_say(label, typed):
    assert typed.identity.dtype == typed.type.np_type == typed.return_type.np_type
    x = operands(typed.type.np_type)
    if typed.type.np_type.kind in "fc":
        x = x[~np.isnan(x)]
    if label.endswith(("hypot", "logaddexp", "logaddexp2", "gcd")):
        x = np.abs(x)  # the identity holds for sizes only
        x = x[x >= 0]
    function = typed.binaryop.numpy
    if typed.terminal is not ANY:
        assert not differences(function(x, typed.identity), x, 1e-6).any()
        assert not differences(function(typed.identity, x), x, 1e-6).any()
    if typed.terminal is not None and typed.terminal is not ANY:
        assert typed.terminal.dtype == typed.type.np_type
        assert (function(x, typed.terminal) == typed.terminal).all()


@pytest.mark.parametrize("label, typed", TYPED, ids=[f"{t!r}" for _, t in TYPED])
def test_reduceat_is_a_loop(label, typed):
    rng = np.random.default_rng(7)
    dtype = typed.type.np_type
    values = rng.integers(0, 3, 60).astype(dtype) if dtype.kind != "c" else (rng.integers(0, 3, 60) + 1j).astype(dtype)
    starts = np.array([0, 1, 2, 9, 10, 40, 59])
    got = typed.reduceat(values, starts)
    assert got.dtype == dtype
    for k, (a, b) in enumerate(zip(starts, [*starts[1:], 60])):
        expected = values[a : a + 1]
        for other in values[a + 1 : b]:
            expected = typed.binaryop.numpy(expected, np.array([other]))
        if typed.terminal is ANY:
            assert got[k] in values[a:b]
        else:
            assert not differences(got[k : k + 1], expected, 1e-5).any(), (label, a, b)
        assert typed.terminal is ANY or not differences(np.array([typed.reduce(values[a:b])]), expected, 1e-5).any()
    assert typed.reduce(values[:0]) == typed.identity
    assert typed.reduceat(values, starts[:0]).shape == (0,)


@pytest.mark.parametrize("label, typed", TYPED, ids=[f"{t!r}" for _, t in TYPED])
def test_a_single_value_is_its_own_reduction(label, typed):
    """As it is: with the identity, gcd(0, -2) is 2."""
    for value in operands(typed.type.np_type):
        assert not differences(np.array([typed.reduce(np.array([value]))]), np.array([value]), 0).any(), value


def test_nan_is_ignored_by_min_and_max():
    x = np.array([np.nan, 3.0, 1.0])
    assert monoid.min["FP64"].reduce(x) == 1.0
    assert monoid.max["FP64"].reduceat(x, np.array([0, 1])).tolist()[1] == 3.0
    assert np.isnan(monoid.min["FP64"].reduce(x[:1]))


def test_user_monoid_is_reduced_in_order_of_positions():
    def either(x, y):
        return x if x > y else y

    op = binary.register_anonymous(either, "either")
    mine = monoid.register_anonymous(op, {"INT64": -(2**63), "FP64": -np.inf})
    assert {t.name for t in mine.types} == {"INT64", "FP64"}
    assert op.monoid is mine
    values = np.random.default_rng(3).integers(-50, 50, 1000)
    starts = np.array([0, 3, 4, 500])
    assert mine["INT64"].reduceat(values, starts).tolist() == np.maximum.reduceat(values, starts).tolist()
    assert mine["INT64"].terminal is None and mine["INT64"].ufunc is None


def test_registration_errors():
    with pytest.raises(TypeError, match="binaryop must be a BinaryOp"):
        Monoid.register_anonymous(monoid.plus, 0)
    with pytest.raises(DomainMismatch, match="gives BOOL"):
        Monoid.register_anonymous(binary.eq, {"INT64": 1})


def test_any_semiring_of_a_monoid_and_a_name():
    typed = typed_semiring(monoid.plus[dtypes.INT8], "first")
    assert typed.monoid is monoid.plus["INT8"] and typed.binaryop is binary.first["INT8"]
    assert typed_semiring(monoid.lor["BOOL"], "first").binaryop is binary.first["BOOL"]
    own = monoid.register_anonymous(binary.register_anonymous(lambda x, y: x + y), 0)
    made = typed_semiring(own["FP32"], "first")
    assert made.monoid is own["FP32"] and made.return_type is dtypes.FP32


def test_typed_operators_have_the_monoid_of_their_type_or_none():
    without = set()
    for op in (getattr(binary, name) for name in sorted(operator_names(binary))):
        for dtype in getattr(op, "types", ()):
            typed, whole = op[dtype], op.monoid
            if whole is not None and typed.type in whole.types:
                assert typed.monoid is whole[typed.type], (op, dtype)
            else:
                assert typed.monoid is None, (op, dtype)
                without.add(op.name if whole is None else f"{op.name} {dtype}")
    assert {"minus", "pow", "first", "band INT8", "eq UINT8"} <= without


def test_reduction_beside_a_semiring_of_the_same_name():
    """The rows are reduced by the monoid, though a semiring called <monoid>_first multiplies in another way."""
    own = binary.plus.monoid
    plain = Monoid.register_new("total_of_test", binary.plus, 0)
    semiring.register_new("total_of_test_first", plain, binary.plus)
    try:
        A = Matrix.from_coo([0, 0, 1], [0, 1, 1], [3, 4, 5])
        assert A.reduce_rowwise(plain).new().to_dict() == {0: 7, 1: 5}
        assert typed_semiring(plain["INT64"], "first").binaryop is binary.first["INT64"]
    finally:
        del semiring.total_of_test_first, monoid.total_of_test
        binary.plus._monoid = own  # the latest monoid of an operator is its own
