"""Union, intersection, restriction and Kronecker of the CUDA backend, their kernels run as fibers, against the NumPy
backend.

A case is a seed: formats, sizes, masks, types of the operands are drawn from it.  The operators are few: an instance of
a kernel takes about a second to compile for the CPU (tests/gpu runs all of them on a device).
"""

import itertools

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.backend import shim
from grb_tile import binary, dtypes
from grb_tile.backends import select
from grb_tile.exceptions import UdfParseError
from grb_tile.storage import convert
from grb_tile.storage.store import SparseVector, StoredMask
from support import seeds

NUMPY = select.named("numpy")
CAPPED = binary.register_anonymous(lambda x, y: min(x + y, 5), "capped")
OPERATORS = [
    (binary.plus, "INT64"), (binary.minus, "FP32"), (binary.times, "FC64"), (binary.cdiv, "INT8"), (binary.lt, "FP64"),
    (binary.min, "UINT16"), (binary.lor, "BOOL"), (binary.first, "INT32"), (binary.second, "FP64"), (binary.any,
    "UINT8"),
    (binary.pair, "FP32"), (binary.ss.firsti, "INT64"), (binary.ss.secondj1, "INT32"), (binary.ss.firstj, "INT64"),
    (CAPPED, "INT64"),
]  # fmt: skip
ROUNDS = range(12)


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def typed(case):
    op, name = case
    return op[getattr(dtypes, name)]


def identity(case):
    return f"{case[0].name}-{case[1]}"


@pytest.fixture
def detours():
    """Nothing of a plain type may go through the host."""
    shim().detours.clear()
    yield shim().detours
    assert not shim().detours


def operands(rng, op, huge):
    """(x, y, make another store of their shape): vectors or matrices, mostly of the operator's types."""
    types = [t if rng.integers(3) else samples.choice(rng, samples.TYPES) for t in (op.type, op.type2)]
    if rng.integers(2):
        dim = samples.dimension(rng, huge)

        def make(dtype):
            return samples.random_vector(rng, dim, dtype)
    else:
        rows, cols = samples.dimension(rng, huge and rng.integers(2)), samples.dimension(rng, huge)

        def make(dtype):
            return samples.random_matrix(rng, rows, cols, dtype)

    x = make(types[0])
    which = int(rng.integers(6))
    y = x if which == 0 else make(types[1])
    return x, y, make


def mask(rng, make):
    """None, a mask or its complement, of every density."""
    which = int(rng.integers(4))
    return None if which == 0 else StoredMask(make(dtypes.BOOL), complement=which == 1)


@pytest.mark.parametrize("case", OPERATORS, ids=identity)
def test_union_and_intersect(case, detours):
    op = typed(case)
    for turn in ROUNDS:
        rng = rng_of(turn, sum(map(ord, identity(case))))
        x, y, make = operands(rng, op, turn % 4 == 3)
        allow = mask(rng, make)
        before = agree.snapshot(x, y)
        agree.assert_same(shim().intersect(x, y, op, allow), NUMPY.intersect(x, y, op, allow))
        agree.assert_same(shim().union(x, y, op, allow), NUMPY.union(x, y, op, allow))
        left, right = samples.values(rng, op.type, 1)[0], samples.values(rng, op.type2, 1)[0]
        agree.assert_same(shim().union(x, y, op, allow, left, right), NUMPY.union(x, y, op, allow, left, right))
        assert agree.snapshot(x, y) == before


@pytest.mark.parametrize("want", [dtypes.FP64, dtypes.INT8, dtypes.BOOL, dtypes.FC32], ids=str)
def test_union_with_a_result_of_another_type(want, detours):
    """What an accumulator needs: a lone entry goes straight to the result's type."""
    op = binary.plus[dtypes.INT64]
    for turn in ROUNDS:
        rng = rng_of(turn, want.rank, 2)
        x, y, _ = operands(rng, op, turn % 4 == 3)
        agree.assert_same(shim().union(x, y, op, dtype=want), NUMPY.union(x, y, op, dtype=want))
        agree.assert_same(
            shim().union(x, y, binary.ss.firsti["INT64"], dtype=want),
            NUMPY.union(x, y, binary.ss.firsti["INT64"], dtype=want),
        )


@pytest.mark.parametrize("dtype", [dtypes.BOOL, dtypes.INT16, dtypes.FP32, dtypes.FP64, dtypes.FC64], ids=str)
def test_restrict_and_disjoint_union(dtype, detours):
    for turn in ROUNDS:
        rng = rng_of(turn, dtype.rank, 3)
        x, y, make = operands(rng, binary.second[dtype], turn % 4 == 3)
        allow = StoredMask(make(dtypes.BOOL), bool(rng.integers(2)))
        inside, outside = NUMPY.restrict(x, allow), NUMPY.restrict(y, ~allow)
        agree.assert_same(shim().restrict(x, allow), inside)
        agree.assert_same(shim().restrict(y, ~allow), outside)
        agree.assert_same(shim().union(inside, outside, None), NUMPY.union(inside, outside, None))
        agree.assert_same(shim().union(x, y, None), NUMPY.union(x, y, None))


@pytest.mark.parametrize("share", [(0.5, 0.02), (0.02, 0.5), (0.004, 0.004), (1.0, 0.3)])
def test_larger_operands(share, detours):
    """More entries than threads, rows of very different lengths, both kinds of index."""
    op, rng = binary.plus[dtypes.INT64], rng_of(4)
    for rows, cols in (
        ((40, np.arange(40)), (3000, np.arange(3000))),
        ((9000, np.arange(9000)), (2**40, np.arange(5))),
    ):
        A, B, M = (samples.random_matrix(rng, rows, cols, dtypes.INT64, s) for s in (*share, 0.3))
        for allow in (None, StoredMask(M), StoredMask(M, True)):
            agree.assert_same(shim().union(A, B, op, allow), NUMPY.union(A, B, op, allow))
            agree.assert_same(shim().intersect(A, B, op, allow), NUMPY.intersect(A, B, op, allow))
    dim = 20000, np.arange(20000)
    u, v, m = (samples.random_vector(rng, dim, dtypes.INT64, s) for s in (*share, 0.3))
    for allow in (None, StoredMask(m), StoredMask(m, True)):
        agree.assert_same(shim().union(u, v, op, allow), NUMPY.union(u, v, op, allow))
        agree.assert_same(shim().intersect(u, v, op, allow), NUMPY.intersect(u, v, op, allow))


@pytest.mark.parametrize(
    "case", [OPERATORS[0], OPERATORS[7], OPERATORS[10], OPERATORS[11], OPERATORS[12]], ids=identity
)
def test_kronecker(case, detours):
    op = typed(case)
    for turn in range(6):
        rng = rng_of(turn, 5)
        sizes = [int(s) for s in rng.choice([1, 3, 7, 20], 4)]
        if turn == 5:
            sizes[0] = sizes[3] = 2**25
        (r1, c1, r2, c2) = ((s, np.arange(min(s, 20))) for s in sizes)
        A, B = samples.random_matrix(rng, r1, c1, op.type), samples.random_matrix(rng, r2, c2, op.type2)
        want = NUMPY.kronecker(A, B, op)
        agree.assert_same(shim().kronecker(A, B, op), want)
        if turn < 5:
            M = samples.random_matrix(rng, *((n, np.arange(n)) for n in want.shape), dtypes.BOOL)
            agree.assert_same(shim().kronecker(A, B, op, StoredMask(M)), NUMPY.kronecker(A, B, op, StoredMask(M)))


def test_kronecker_of_other_shapes_at_the_entries_of_a_mask(detours):
    """Neither operand is square; few entries of the mask, and as many as the product has."""
    op, rng = typed(OPERATORS[0]), rng_of(8)
    for shapes in ((3, 5, 2, 7), (7, 2, 5, 3), (4, 4, 1, 6), (1, 6, 3, 2)):
        r1, c1, r2, c2 = ((n, np.arange(n)) for n in shapes)
        A, B = (samples.random_matrix(rng, *s, t, 0.8) for s, t in (((r1, c1), op.type), ((r2, c2), op.type2)))
        for share in (0.1, 0.4):
            M = StoredMask(
                samples.random_matrix(rng, *((a * b, np.arange(a * b)) for a, b in (shapes[::2], shapes[1::2])),
                                      dtypes.BOOL, share)
            )  # fmt: skip
            assert M.pattern.nvals
            agree.assert_same(shim().kronecker(A, B, op, M), NUMPY.kronecker(A, B, op, M))


@pytest.mark.parametrize("wide", [0, 1], ids=["left", "right"])
@pytest.mark.sampled(1)
def test_kronecker_of_indices_of_32_and_64_bits(wide, detours):
    """Column indices of 64 bits in one operand and of 32 bits in the other."""
    rng, op = rng_of(wide, 7), typed(OPERATORS[0])
    columns = [(5, np.arange(5)), (2**33, np.array([3, 70, 2**31 + 5, 2**33 - 1]))]
    A, B = (
        samples.random_matrix(rng, (6, np.arange(6)), columns[k == wide], dtype, 0.4)
        for k, dtype in enumerate((op.type, op.type2))
    )
    assert A.indices.dtype != B.indices.dtype
    agree.assert_same(shim().kronecker(A, B, op), NUMPY.kronecker(A, B, op))


def test_broadcast(detours):
    for turn in range(8):
        rng = rng_of(turn, 6)
        rows, cols = ((s, np.arange(min(s, 30))) for s in (int(rng.choice([1, 7, 200, 2**33])) for _ in range(2)))
        A = samples.random_matrix(rng, rows, cols, dtypes.BOOL)
        for axis, dim in ((0, rows), (1, cols)):
            for share in (0.3, 1.0):
                u = samples.random_vector(rng, dim, dtypes.FP32, share)
                agree.assert_same(shim().broadcast(u, A, axis), NUMPY.broadcast(u, A, axis))


def test_iso_operands_stay_iso(detours):
    one = np.array([2])
    u, v = (NUMPY.build_vector(300, np.arange(k, 250), one, None, dtypes.INT64) for k in (0, 9))
    assert shim().union(u, v, binary.min[dtypes.INT64]).iso
    assert not shim().union(u, v, binary.plus[dtypes.INT64]).iso
    assert shim().intersect(u, v, binary.plus[dtypes.INT64]).iso
    assert (
        shim()
        .intersect(u, NUMPY.build_vector(300, np.arange(9), np.arange(9), None, dtypes.INT64), binary.pair["INT64"])
        .iso
    )


def test_a_function_without_cuda_text_is_refused_with_the_remedy():
    table = {1: 2}
    op = binary.register_anonymous(lambda x, y: table[1] + len(str(x)))[dtypes.INT64]
    u = NUMPY.build_vector(5, np.array([1]), np.array([1]), None, dtypes.INT64)
    empty = NUMPY.build_vector(5, np.array([], np.int64), np.array([], np.int64), None, dtypes.INT64)
    for call in (
        lambda: shim().union(u, u, op),
        lambda: shim().intersect(u, u, op),
        lambda: shim().union(u, empty, op),
    ):
        with pytest.raises(UdfParseError, match='cuda="'):
            call()


def test_a_function_with_cuda_text_runs(detours):
    """The text stands for the function: it is what the device computes."""
    op = binary.register_anonymous(lambda x, y: max(y, x), cuda="x > y ? x : y")[dtypes.INT64]
    rng = rng_of(6)
    u, v = (samples.random_vector(rng, (90, np.arange(90)), dtypes.INT64, 0.5) for _ in range(2))
    agree.assert_same(shim().union(u, v, op), NUMPY.union(u, v, binary.max[dtypes.INT64]))


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("form", ["sparse", "bitmap", "full"])
def test_bitmaps_meet_within_a_mask(form, complement):
    """Vectors that are bitmaps, full or of one value, as first and as second operand."""
    rng, size = np.random.default_rng(5), 200
    op, given = binary.plus["INT64"], []
    for count, iso in ((size, False), (120, False), (90, True), (size, True)):
        at = np.sort(rng.permutation(size)[:count]).astype(np.int32)
        u = SparseVector(size, dtypes.INT64, at, np.array([7]) if iso else at.astype(np.int64) + 3, iso)
        given.append(convert.convert(u, "bitmap"))
    at = np.arange(size) if form == "full" else np.sort(rng.permutation(size)[: 9 if form == "sparse" else 110])
    pattern = SparseVector(size, dtypes.BOOL, at.astype(np.int32), np.ones(1, bool), True)
    mask = StoredMask(pattern if form == "sparse" else convert.convert(pattern, "bitmap"), complement)
    for x, y in itertools.product(given, repeat=2):
        for primitive in ("intersect", "union"):
            found = getattr(shim(), primitive)(x, y, op, mask)
            agree.assert_same(found, getattr(select.named("reference"), primitive)(x, y, op, mask))
