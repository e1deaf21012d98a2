"""Select, apply and reduce of the CUDA backend, their kernels run as fibers, against the NumPy backend.

A case is a seed, as in test_elementwise.py; the operators are few, as an instance takes about a second to compile.
"""

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.backend import shim
from grb_tile import binary, dtypes, indexunary, monoid, select as selectors, unary
from grb_tile.backends import select
from grb_tile.exceptions import UdfParseError
from grb_tile.storage.store import StoredMask
from support import seeds

NUMPY = select.named("numpy")
ROUNDS = range(12)
MIXED = indexunary.register_anonymous(lambda x, i, j, thunk: x + i - j > thunk, "mixed")
NEAR = selectors.register_anonymous(lambda x, i, j, thunk: i + j <= thunk, "near")
COUNTING = monoid.register_anonymous(binary.register_anonymous(lambda x, y: max(x, y), "larger"), -(2**63), "larger")


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def named(case):
    return "-".join(str(getattr(part, "name", part)) for part in case)


@pytest.fixture
def detours():
    """Nothing of a plain type may go through the host."""
    shim().detours.clear()
    yield shim().detours
    assert not shim().detours


def operand(rng, wanted, huge):
    """(x, another store of its shape): a vector or a matrix, mostly of the type that the operator takes."""
    dtype = wanted if rng.integers(3) else samples.choice(rng, samples.TYPES)
    if rng.integers(2):
        dim = samples.dimension(rng, huge)
        return samples.random_vector(rng, dim, dtype), samples.random_vector(rng, dim, dtypes.BOOL)
    rows, cols = samples.dimension(rng, huge and rng.integers(2)), samples.dimension(rng, huge)
    return samples.random_matrix(rng, rows, cols, dtype), samples.random_matrix(rng, rows, cols, dtypes.BOOL)


def mask(rng, pattern):
    which = int(rng.integers(4))
    return None if which == 0 else StoredMask(pattern, complement=which == 1)


def compare(rng, wanted, turn, primitive, *args, **keywords):
    """The primitive in the CPU emulation and on the NumPy backend, under a mask."""
    x, pattern = operand(rng, wanted, turn % 4 == 3)
    allow = mask(rng, pattern)
    before = agree.snapshot(x)
    got, want = (getattr(b, primitive)(x, *args, mask=allow, **keywords) for b in (shim(), NUMPY))
    agree.assert_same(got, want)
    assert agree.snapshot(x) == before


@pytest.mark.parametrize("complement", [False, True])
def test_select_under_a_mask_that_is_not_merged(complement, detours):
    """A bitmap, and a list of more than eight times the entries: the kernel reads which entries the mask admits."""
    rng = rng_of(5, complement)
    op = selectors.valuegt["INT64"]
    for share in (0.001, 0.6):
        at = np.flatnonzero(rng.random(9000) < share)
        x = NUMPY.build_vector(9000, at, rng.integers(-5, 6, at.size), None, dtypes.INT64)
        for pattern in (NUMPY.build_vector(9000, np.arange(0, 9000, k), np.ones(-(-9000 // k), bool), None, dtypes.BOOL)
                        for k in (2, 40)):  # fmt: skip
            allow = StoredMask(pattern, complement=complement)
            agree.assert_same(shim().select(x, op, 0, allow), NUMPY.select(x, op, 0, allow))


UNARY = [
    (unary.identity, "FP32"), (unary.ainv, "INT8"), (unary.minv, "INT64"), (unary.sqrt, "FP64"), (unary.abs, "FC64"),
    (unary.one, "UINT8"), (unary.lnot, "BOOL"), (unary.ss.positioni, "INT64"), (unary.ss.positioni1, "INT32"),
    (unary.ss.positionj, "INT64"),
]  # fmt: skip


@pytest.mark.parametrize("case", UNARY, ids=named)
def test_apply_unary(case, detours):
    op = case[0][case[1]]
    for turn in ROUNDS:
        compare(rng_of(turn, 1), op.type, turn, "apply", op)


BOUND = [
    (binary.plus, "INT64"), (binary.minus, "FP32"), (binary.cdiv, "INT16"), (binary.first, "FP64"), (binary.second,
    "INT64"),
    (binary.pair, "UINT8"), (binary.ge, "FP64"), (binary.ss.firstj1, "INT64"), (binary.ss.secondi, "INT32"),
]  # fmt: skip


@pytest.mark.parametrize("case", BOUND, ids=named)
def test_apply_with_a_bound_scalar(case, detours):
    op = case[0][case[1]]
    for turn in ROUNDS:
        rng = rng_of(turn, 2)
        scalar = samples.values(rng, samples.choice(rng, [op.type, dtypes.FP64, dtypes.INT8]), 1)[0]
        compare(rng, op.type2, turn, "apply", op, left=scalar)
        compare(rng, op.type, turn, "apply", op, right=scalar)


INDEXED = [
    (indexunary.rowindex, "INT64"), (indexunary.colindex, "INT32"), (indexunary.diagindex, "INT64"),
    (indexunary.valuegt, "FP32"), (MIXED, "INT64"),
]  # fmt: skip


@pytest.mark.parametrize("case", INDEXED, ids=named)
def test_apply_with_positions(case, detours):
    op = case[0][case[1]]
    for turn in ROUNDS:
        rng = rng_of(turn, 3)
        thunk = np.int64(rng.integers(-3, 4))
        compare(rng, op.type, turn, "apply", op, thunk=thunk)


SELECT = [
    (selectors.tril, "FP64"), (selectors.triu, "INT8"), (selectors.diag, "INT64"), (selectors.offdiag, "FP32"),
    (selectors.rowle, "INT64"), (selectors.colgt, "INT64"), (selectors.valuene, "FC64"), (selectors.valuelt, "INT16"),
    (selectors.valueeq, "BOOL"), (NEAR, "INT64"),
]  # fmt: skip


@pytest.mark.parametrize("case", SELECT, ids=named)
def test_select(case, detours):
    op = case[0][case[1]]
    for turn in ROUNDS:
        rng = rng_of(turn, 4)
        thunk = samples.values(rng, op.thunk_type, 1)[0]
        compare(rng, op.type, turn, "select", op, thunk)


REDUCE = [
    (monoid.plus, "INT64"), (monoid.plus, "FP32"), (monoid.min, "FP64"), (monoid.max, "INT8"), (monoid.times, "FC64"),
    (monoid.lor, "BOOL"), (monoid.lxor, "BOOL"), (monoid.band, "UINT16"), (monoid.any, "INT64"), (COUNTING, "INT64"),
]  # fmt: skip


@pytest.mark.parametrize("case", REDUCE, ids=named)
def test_reduce(case, detours):
    op = case[0][case[1]]
    for turn in range(20):
        x, _ = operand(rng_of(turn, 5), op.type, turn % 4 == 3)
        if case[0] is monoid.any:
            got = shim().reduce(x, op)
            assert (got is None) == (x.nvals == 0)
            assert got is None or got in NUMPY.cast(x, op.type).values
        else:
            agree.assert_same(shim().reduce(x, op), NUMPY.reduce(x, op))


def test_reduce_many(detours):
    """Several blocks, each with several values for a thread; and an iso operand that is not idempotent."""
    rng = rng_of(6)
    u = samples.random_vector(rng, (50000, np.arange(50000)), dtypes.INT64, 0.7)
    for name in ("plus", "max"):
        agree.assert_same(
            shim().reduce(u, getattr(monoid, name)["INT64"]), NUMPY.reduce(u, getattr(monoid, name)["INT64"])
        )
    iso = NUMPY.build_vector(10**6, np.arange(999_983), np.array([3]), None, dtypes.INT64)
    assert shim().reduce(iso, monoid.plus["INT64"]) == 3 * 999_983
    assert shim().reduce(iso, monoid.times["INT64"]) == np.int64(
        pow(3, 999_983, 2**64) - (2**64 if pow(3, 999_983, 2**64) >= 2**63 else 0)
    )
    assert shim().reduce(iso, monoid.lxor["BOOL"]) == True  # a NumPy bool; an odd number of them


def test_the_smallest_of_nothing_but_nan_is_nan(detours):
    u = NUMPY.build_vector(9, np.arange(9), np.full(9, np.nan), None, dtypes.FP64)
    assert np.isnan(shim().reduce(u, monoid.min["FP64"]))


def test_a_function_without_cuda_text_is_refused_with_the_remedy():
    table = {1: 2}
    one = unary.register_anonymous(lambda x: table[1] + len(str(x)))["INT64"]
    two = binary.register_anonymous(lambda x, y: table[1] + len(str(x)))["INT64"]
    keep = selectors.register_anonymous(lambda x, i, j, thunk: len(str(x)) > table[1])["INT64"]
    u = NUMPY.build_vector(5, np.array([1]), np.array([1]), None, dtypes.INT64)
    for call in (
        lambda: shim().apply(u, one),
        lambda: shim().apply(u, two, right=np.int64(1)),
        lambda: shim().select(u, keep, 1),
    ):
        with pytest.raises(UdfParseError, match='cuda="'):
            call()


def test_apply_of_a_full_bitmap_shares_its_words(detours):
    u = NUMPY.build_vector(300, np.arange(0, 300, 2), np.arange(150), None, dtypes.INT64)
    w = shim().apply(u, unary.ainv["INT64"])
    assert w.format == "bitmap" and w.shared and w.words is shim().store_to_device(u).words


def test_a_program_in_the_language(detours):
    import grb_tile as gb
    from cuda_emulation.backend import using_shim

    with using_shim():
        A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 0], [1.0, -2.0, 3.0, 4.0])
        B = gb.Matrix.from_coo([0, 1, 2], [1, 1, 0], [10.0, 20.0, 30.0], nrows=3, ncols=3)
        C = gb.binary.plus(A | B).new()
        assert C.to_coo()[2].tolist() == [11.0, -2.0, 20.0, 3.0, 34.0]
        assert gb.select.tril(C).new().to_coo()[2].tolist() == [20.0, 34.0]
        C(~B.S, replace=True) << gb.unary.abs(A)
        assert C.to_coo()[2].tolist() == [2.0, 3.0]
        C(accum=gb.binary.plus) << A.apply(gb.binary.times, right=2)
        assert C.reduce_scalar(gb.monoid.plus).new().value == 17.0
