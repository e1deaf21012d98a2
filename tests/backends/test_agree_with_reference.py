"""Every primitive of the CPU backends against the reference backend, on random stores of every format and type.

A case is a seed: the dimensions, formats, types, operator and mask are drawn from it.
"""

import functools

import numpy as np
import pytest
from backends.agree import assert_same, snapshot
from backends.samples import TYPES, choice, dimension, random_matrix, random_vector, values

from grb_tile import dtypes
from grb_tile.backends import select as choose
from grb_tile.backends.cpu.vectorised.tiles import FORMATS
from grb_tile.backends.reference import _multiply, entries
from grb_tile.exceptions import InvalidValue
from grb_tile.operators import get_typed_op
from grb_tile.operators.binary import BinaryOp
from grb_tile.operators.indexunary import IndexUnaryOp, SelectOp
from grb_tile.operators.monoid import Monoid
from grb_tile.operators.semiring import Semiring
from grb_tile.operators.unary import UnaryOp
from grb_tile.planner import unrecorded
from grb_tile.storage import convert
from grb_tile.storage.constructors import full_vector
from grb_tile.storage.convert import transpose_of
from grb_tile.storage.store import SparseVector, StoredMask

SEEDS = range(60)
REFERENCE = choose.named("reference")


@pytest.fixture(params=["numpy", "cpu"])
def backend(request):
    return choose.named(request.param)


def all_of(cls):
    return cls._namespace().names_under("")


def names_of(cls):
    """Built-in operators of a class, by name; other tests register some of their own, which need be no monoid."""
    return list(_builtin(cls, tuple(all_of(cls))))


@functools.lru_cache(maxsize=64)
def _builtin(cls, names):
    return [name for name in names if name not in ("numpy", "ss") and getattr(cls._find(name), "_builtin", True)]


def typed(rng, cls, **fixed):
    """A random typed operator of a class."""
    while True:
        op = cls._find(choice(rng, names_of(cls)))
        if op is None or not getattr(op, "types", None):
            continue
        return op[choice(rng, sorted(op.types, key=lambda t: t.name))]


def mask_for(rng, make):
    """None, a mask or its complement; dense and sparse ones."""
    which = int(rng.integers(4))
    return None if which == 0 else StoredMask(make(), complement=which == 1)


def operand_type(rng, typed_type):
    """Mostly the operator's own type; else one that must be cast."""
    return typed_type if rng.integers(3) else choice(rng, TYPES)


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_matvec(backend, seed, huge):
    rng = np.random.default_rng([1, seed, huge])
    m, n = dimension(rng, huge), dimension(rng, huge)
    semiring = typed(rng, Semiring)
    A = random_matrix(rng, m, n, operand_type(rng, semiring.binaryop.type))
    x = random_vector(rng, n, operand_type(rng, semiring.binaryop.type2))
    allow = mask_for(rng, lambda: random_vector(rng, m, dtypes.BOOL))
    if rng.integers(6) == 0:  # what reductions multiply by; it may have 2^60 places
        x = full_vector(n[0], x.dtype, values(rng, x.dtype, 1)[0])
    before = snapshot(A) if x.nvals > 2**32 else snapshot(A, x)
    want = REFERENCE.matvec_rows(A, x, semiring, allow)
    if semiring.monoid.name == "any":
        check_any(backend, A, x, semiring, allow, want)
    else:
        assert_same(backend.matvec_rows(A, x, semiring, allow), want)
        assert_same(backend.matvec_cols(transpose_of(A), x, semiring, allow), want)
        for form in FORMATS:
            assert_same(backend.matvec_rows(A, x, semiring, allow, unrecorded(form)), want)
    assert (snapshot(A) if x.nvals > 2**32 else snapshot(A, x)) == before


def check_any(backend, A, x, semiring, allow, want):
    """The ANY monoid may take any product: the value must be among those of some other reduction's terms."""
    collect = {}
    full = x.format == "bitmap" and x.words is None
    found = {} if full else entries(x)
    for (i, k), a in entries(A).items():
        if full or k in found:
            b = (x.values[:1] if x.iso else x.values[k : k + 1]) if full else found[k]
            collect.setdefault(i, []).append(_multiply(semiring.binaryop, a, b, i, k, k, 0))
    forms = [backend.matvec_rows(A, x, semiring, allow), backend.matvec_cols(transpose_of(A), x, semiring, allow)]
    forms += [backend.matvec_rows(A, x, semiring, allow, unrecorded(form)) for form in FORMATS]
    for got in forms:
        held = entries(got)
        assert held.keys() == entries(want).keys() and got.dtype is want.dtype
        for i, value in held.items():
            assert any(
                value.tobytes() == term.astype(value.dtype).tobytes()
                or bool((value == term).all())
                or value[0] != value[0]
                for term in collect[i]
            )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["any_pair", "plus_pair", "lor_land", "min_pair", "lor_first", "plus_times"])
def test_structure_only_products(backend, name, seed):
    rng = np.random.default_rng([9, seed])
    m, n = dimension(rng), dimension(rng)
    dtype = dtypes.BOOL if name.startswith("lor") else dtypes.INT64
    semiring = get_typed_op(name, dtype, kind="semiring")
    A, x = random_matrix(rng, m, n, dtype), random_vector(rng, n, dtype)
    allow = mask_for(rng, lambda: random_vector(rng, m, dtypes.BOOL))
    want = REFERENCE.matvec_rows(A, x, semiring, allow)
    for form in FORMATS:
        assert_same(backend.matvec_rows(A, x, semiring, allow, unrecorded(form)), want)


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_matmul(backend, seed, huge):
    rng = np.random.default_rng([2, seed, huge])
    m, k, n = (_small(rng, huge) for _ in range(3))
    semiring = typed(rng, Semiring)
    while semiring.monoid.name == "any" and semiring.binaryop.kind != "pair":
        semiring = typed(rng, Semiring)
    A = random_matrix(rng, m, k, operand_type(rng, semiring.binaryop.type))
    B = random_matrix(rng, k, n, operand_type(rng, semiring.binaryop.type2))
    allow = mask_for(rng, lambda: random_matrix(rng, m, n, dtypes.BOOL))
    before = snapshot(A, B)
    want = REFERENCE.matmul(A, B, semiring, allow)
    assert_same(backend.matmul(A, B, semiring, allow), want)
    assert_same(backend.matmul(A, B, semiring, allow, plan=unrecorded("gustavson")), want)
    assert_same(backend.matmul(A, None, semiring, allow, BT=transpose_of(B)), want)
    if allow is not None and not allow.complement:
        assert_same(backend.matmul(A, B, semiring, allow, plan=unrecorded("dot"), BT=transpose_of(B)), want)
    assert snapshot(A, B) == before


def _small(rng, huge):
    if huge:
        return dimension(rng, True)
    size = int(rng.choice([1, 3, 12, 20]))
    return size, np.arange(size)


def test_matmul_in_many_blocks(monkeypatch):
    from grb_tile.backends.cpu.vectorised import matmul as numpy_matmul

    rng = np.random.default_rng(5)
    n = (60, np.arange(60))
    semiring = get_typed_op("plus_times", dtypes.INT64, kind="semiring")
    A, B, M = (random_matrix(rng, n, n, dtypes.INT64, 0.3) for _ in range(3))
    for allow in (None, StoredMask(M), StoredMask(M, True)):
        want = numpy_matmul.matmul(A, B, semiring, allow)
        monkeypatch.setattr(numpy_matmul, "EXPAND", 50)
        assert_same(numpy_matmul.matmul(A, B, semiring, allow), want)
        assert_same(want, REFERENCE.matmul(A, B, semiring, allow))
        if allow is not None and not allow.complement:
            assert_same(numpy_matmul.matmul(A, B, semiring, allow, unrecorded("dot")), want)
        monkeypatch.undo()


def pair_of(rng, huge, dtype, dtype2):
    """(two operands of one shape, a maker of masks)."""
    if rng.integers(2):
        dim = dimension(rng, huge)
        return (random_vector(rng, dim, dtype), random_vector(rng, dim, dtype2),
                lambda: random_vector(rng, dim, dtypes.BOOL))  # fmt: skip
    rows, cols = dimension(rng, huge), dimension(rng, huge)
    if not huge:
        rows, cols = (min(rows[0], 20), np.arange(min(rows[0], 20))), (min(cols[0], 20), np.arange(min(cols[0], 20)))
    return (random_matrix(rng, rows, cols, dtype), random_matrix(rng, rows, cols, dtype2),
            lambda: random_matrix(rng, rows, cols, dtypes.BOOL))  # fmt: skip


def binary_op(rng):
    while True:
        op = typed(rng, BinaryOp)
        if op.positional is None and op.name == "any":  # either operand would do: the tests of any are elsewhere
            continue
        return op


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_union_and_intersect(backend, seed, huge):
    rng = np.random.default_rng([3, seed, huge])
    op = binary_op(rng)
    x, y, make = pair_of(rng, huge, operand_type(rng, op.type), operand_type(rng, op.type2))
    if rng.integers(5) == 0:
        y = (
            REFERENCE.cast(x, op.type2)
            if not rng.integers(2)
            else backend.apply(x, get_typed_op("identity", x.dtype, kind="unary"))
        )
    allow = mask_for(rng, make)
    left, right = values(rng, op.type, 1)[0], values(rng, op.type2, 1)[0]
    dtype = choice(rng, [None, *TYPES])
    before = snapshot(x, y)
    for a, b in ((x, y), (x, x)):
        assert_same(backend.intersect(a, b, op, allow), REFERENCE.intersect(a, b, op, allow))
        assert_same(backend.union(a, b, op, allow), REFERENCE.union(a, b, op, allow))
        assert_same(backend.union(a, b, op, allow, dtype=dtype), REFERENCE.union(a, b, op, allow, dtype=dtype))
        assert_same(backend.union(a, b, op, allow, left, right), REFERENCE.union(a, b, op, allow, left, right))
        assert_same(backend.union(a, b, None, allow), REFERENCE.union(a, b, None, allow))
        assert_same(backend.union(a, b, None, allow, dtype=dtype), REFERENCE.union(a, b, None, allow, dtype=dtype))
    assert snapshot(x, y) == before


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_restrict_select_reduce_cast(backend, seed, huge):
    rng = np.random.default_rng([4, seed, huge])
    x, other, make = pair_of(rng, huge, choice(rng, TYPES), dtypes.BOOL)
    before = snapshot(x)
    for complement in (False, True):
        for pattern in (other, make(), x):
            allow = StoredMask(pattern, complement)
            assert_same(backend.restrict(x, allow), REFERENCE.restrict(x, allow))
    dtype = choice(rng, TYPES)
    assert_same(backend.cast(x, dtype), REFERENCE.cast(x, dtype))
    op = typed(rng, SelectOp)
    thunk = values(rng, op.thunk_type, 1)[0]
    allow = mask_for(rng, make)
    assert_same(backend.select(x, op, thunk, allow), REFERENCE.select(x, op, thunk, allow))
    monoid = typed(rng, Monoid)
    if monoid.name != "any":
        assert_same(backend.reduce(x, monoid), REFERENCE.reduce(x, monoid))
    assert snapshot(x) == before


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_apply(backend, seed, huge):
    rng = np.random.default_rng([5, seed, huge])
    unary, binary, indexed = typed(rng, UnaryOp), binary_op(rng), typed(rng, IndexUnaryOp)
    x, _, make = pair_of(rng, huge, operand_type(rng, unary.type), dtypes.BOOL)
    allow = mask_for(rng, make)
    before = snapshot(x)
    assert_same(backend.apply(x, unary, allow), REFERENCE.apply(x, unary, allow))
    left, right = values(rng, binary.type, 1)[0], values(rng, binary.type2, 1)[0]
    assert_same(backend.apply(x, binary, allow, left=left), REFERENCE.apply(x, binary, allow, left=left))
    assert_same(backend.apply(x, binary, allow, right=right), REFERENCE.apply(x, binary, allow, right=right))
    thunk = values(rng, indexed.thunk_type, 1)[0]
    assert_same(backend.apply(x, indexed, allow, thunk=thunk), REFERENCE.apply(x, indexed, allow, thunk=thunk))
    assert snapshot(x) == before


def some_indices(rng, size, repeats):
    kind = int(rng.integers(5))
    if kind == 0 and size <= 200 and rng.integers(2):
        return None
    if kind == 1 and size >= 3:
        return np.arange(size // 3, min(size // 3 + 40, size))
    if kind == 0:
        step = int(rng.choice([1, 1, 2, 7])) * int(rng.choice([1, -1]))
        ends = sorted(int(e) for e in rng.integers(0, size, 2))
        return range(*ends, step) if step > 0 else range(*ends[::-1], step)
    count = int(rng.integers(0, min(size, 25) + 1))
    if repeats and kind == 2:
        return rng.integers(0, size, count)
    chosen = np.unique(rng.integers(0, size, count))
    return rng.permutation(chosen) if kind == 3 else chosen


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_gather_and_expand(backend, seed, huge):
    rng = np.random.default_rng([6, seed, huge])
    dim, rows, cols = (dimension(rng, huge) for _ in range(3))
    u, A = random_vector(rng, dim, choice(rng, TYPES)), random_matrix(rng, rows, cols, choice(rng, TYPES))
    before = snapshot(u, A)

    def near(dim):
        wanted = some_indices(rng, dim[0], True)
        return (
            wanted
            if not huge or wanted is None or type(wanted) is range
            else np.concatenate((wanted, rng.permutation(dim[1])[:5]))
        )

    I, J, K = near(dim), near(rows), near(cols)
    assert_same(backend.gather_vector(u, I), REFERENCE.gather_vector(u, I))
    assert_same(backend.gather_matrix(A, J, K), REFERENCE.gather_matrix(A, J, K))
    for repeat in range(2):
        small = [int(rng.integers(1, 12)) for _ in range(3)]
        v = random_vector(rng, (small[0], np.arange(small[0])), dtypes.INT64)
        B = random_matrix(rng, *((s, np.arange(s)) for s in small[1:]), dtypes.FP64)
        sizes = [int(rng.choice([2**40, 2**60])) if huge else s + int(rng.integers(0, 200)) for s in small]
        at = [np.unique(rng.integers(0, size, 5000))[:s] if huge else rng.permutation(size)[:s]
              for s, size in zip(small, sizes, strict=True)]  # fmt: skip
        at = [np.sort(a) if repeat else rng.permutation(a) for a in at]
        assert_same(backend.expand_vector(v, at[0], sizes[0]), REFERENCE.expand_vector(v, at[0], sizes[0]))
        spread = range(sizes[0] - 1, -1, -(sizes[0] // small[0]))[: small[0]]
        assert_same(backend.expand_vector(v, spread, sizes[0]), REFERENCE.expand_vector(v, spread, sizes[0]))
        assert_same(backend.expand_vector(v, None, sizes[0]), REFERENCE.expand_vector(v, None, sizes[0]))
        ahead = range(sizes[1] - small[1], sizes[1])
        for I, J in ((at[1], at[2]), (None, at[2]), (at[1], None), (None, None), (ahead, at[2])):
            assert_same(backend.expand_matrix(B, I, J, *sizes[1:]), REFERENCE.expand_matrix(B, I, J, *sizes[1:]))
    assert snapshot(u, A) == before


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_outside(backend, seed, huge):
    rng = np.random.default_rng([9, seed, huge])
    rows, cols = dimension(rng, huge), dimension(rng, huge)
    A = random_matrix(rng, rows, cols, choice(rng, TYPES))
    before = snapshot(A)
    for _ in range(4):
        I, J = (K if K is None or type(K) is range else rng.permutation(np.unique(K))
                for K in (some_indices(rng, size, True) for size in (rows[0], cols[0])))  # fmt: skip
        assert_same(backend.outside(A, I, J), REFERENCE.outside(A, I, J))
        if A.nvals:  # a region with some of the entries
            stored = [np.unique(rng.choice(np.array(part), 5)) for part in zip(*entries(A), strict=True)]
            assert_same(backend.outside(A, *stored), REFERENCE.outside(A, *stored))
            assert_same(backend.outside(A, stored[0], None), REFERENCE.outside(A, stored[0], None))
    assert snapshot(A) == before


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_concat(backend, seed, huge):
    rng = np.random.default_rng([8, seed, huge])
    heights, widths = ([dimension(rng, huge) for _ in range(int(rng.integers(1, 4)))] for _ in range(2))
    kinds = [choice(rng, TYPES) for _ in range(2)]
    tiles = [[random_matrix(rng, rows, cols, choice(rng, kinds)) for cols in widths] for rows in heights]
    before = snapshot(*sum(tiles, []))
    assert_same(backend.concat_matrices(tiles, kinds[0]), REFERENCE.concat_matrices(tiles, kinds[0]))
    assert snapshot(*sum(tiles, [])) == before


@pytest.mark.parametrize("huge", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_build_and_tuples(backend, seed, huge):
    rng = np.random.default_rng([7, seed, huge])
    (size, places), (ncols, col_places) = dimension(rng, huge), dimension(rng, huge)
    count = int(rng.integers(0, 60))
    rows, cols = rng.choice(places, count), rng.choice(col_places, count)
    dup = choice(rng, ["plus", "first", "second", "minus", "min", "times", "lor"])
    dtype = choice(rng, [dtypes.FP64, dtypes.INT64, dtypes.INT8, dtypes.FP32])
    dup = get_typed_op(dup, dtype, kind="binary")
    found = values(rng, choice(rng, [dtype, dtypes.INT32]), 1 if rng.integers(3) == 0 and count > 1 else count)
    want = REFERENCE.build_vector(size, rows, found, dup, dtype)
    u = backend.build_vector(size, rows, found, dup, dtype)
    assert_same(u, want)
    A = backend.build_matrix(size, ncols, rows, cols, found, dup, dtype)
    assert_same(A, REFERENCE.build_matrix(size, ncols, rows, cols, found, dup, dtype))
    for got, expected in zip(backend.tuples_vector(u), REFERENCE.tuples_vector(u), strict=True):
        assert got.dtype == expected.dtype and got.flags.writeable
        assert np.array_equal(got, expected, equal_nan=got.dtype.kind in "fc")
    for got, expected in zip(backend.tuples_matrix(A), REFERENCE.tuples_matrix(A), strict=True):
        assert got.dtype == expected.dtype and got.flags.writeable
        assert np.array_equal(got, expected, equal_nan=got.dtype.kind in "fc")
    if np.unique(rows).shape[0] < count:
        for each in (REFERENCE, backend):
            with pytest.raises(InvalidValue, match=r"^indices: \d+ occurs more than once"):
                each.build_vector(size, rows, found, None, dtype)
    else:
        assert_same(backend.build_vector(size, rows, found, None, dtype), want)
    if len(set(zip(rows.tolist(), cols.tolist(), strict=True))) < count:
        for each in (REFERENCE, backend):
            with pytest.raises(InvalidValue, match=r"^rows, columns: \(\d+, \d+\) occurs more than once"):
                each.build_matrix(size, ncols, rows, cols, found, None, dtype)


def test_build_folds_left_to_right(backend):
    minus = get_typed_op("minus", dtypes.INT64, kind="binary")
    u = backend.build_vector(9, np.array([4, 2, 4, 4]), np.array([10, 1, 3, 2]), minus, dtypes.INT64)
    assert backend.tuples_vector(u)[1].tolist() == [1, 5]
    plus = get_typed_op("plus", dtypes.INT64, kind="binary")
    many = backend.build_vector(9, np.zeros(1000, np.int64), np.arange(1000), plus, dtypes.INT64)
    assert backend.tuples_vector(many)[1].tolist() == [499500]


def test_build_does_not_hold_on_to_what_it_was_given(backend):
    indices, given = np.array([1, 3], np.int32), np.array([1.0, 2.0])
    u = backend.build_vector(9, indices, given, None, dtypes.FP64)
    A = backend.build_matrix(9, 9, indices.astype(np.int64), indices, given, None, dtypes.FP64)
    given[:], indices[:] = 7, 8
    assert backend.tuples_vector(u)[1].tolist() == [1.0, 2.0] and backend.tuples_vector(u)[0].tolist() == [1, 3]
    assert backend.tuples_matrix(A)[1].tolist() == [1, 3] and backend.tuples_matrix(A)[2].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("seed", range(30))
def test_kronecker_and_transpose(backend, seed):
    rng = np.random.default_rng([8, seed])
    dims = [(s, np.arange(s)) for s in rng.integers(1, 7, 4)]
    op = binary_op(rng)
    A = random_matrix(rng, dims[0], dims[1], operand_type(rng, op.type))
    B = random_matrix(rng, dims[2], dims[3], operand_type(rng, op.type2))
    nrows, ncols = int(dims[0][0] * dims[2][0]), int(dims[1][0] * dims[3][0])
    A.nrows, A.ncols, B.nrows, B.ncols = int(A.nrows), int(A.ncols), int(B.nrows), int(B.ncols)
    allow = mask_for(rng, lambda: random_matrix(rng, (nrows, np.arange(nrows)), (ncols, np.arange(ncols)), dtypes.BOOL))
    assert_same(backend.kronecker(A, B, op, allow), REFERENCE.kronecker(A, B, op, allow))
    T = backend.transpose(A)
    assert backend.transpose(A) is T and backend.transpose(T) is A
    A.forms = None
    assert_same(T, REFERENCE.transpose(A))


@pytest.mark.parametrize("seed", range(40))
def test_broadcast(backend, seed):
    """A vector over the entries of a matrix, along both axes: sparse, bitmap, full and iso vectors, CSR and DCSR."""
    rng = np.random.default_rng([9, seed])
    rows, cols = dimension(rng), dimension(rng)
    A = random_matrix(rng, rows, cols, choice(rng, TYPES))
    for axis, dim in ((0, rows), (1, cols)):
        for u in (random_vector(rng, dim, choice(rng, TYPES)), full_vector(A.shape[axis], dtypes.FP64, 2.5)):
            before = snapshot(u), snapshot(A)
            assert_same(backend.broadcast(u, A, axis), REFERENCE.broadcast(u, A, axis))
            assert (snapshot(u), snapshot(A)) == before


def test_shared_arrays_are_marked(backend):
    rng = np.random.default_rng(9)
    u = random_vector(rng, (150, np.arange(150)), dtypes.INT64, 0.8)
    pattern = random_vector(rng, (150, np.arange(150)), dtypes.BOOL, 0.9)
    identity = get_typed_op("identity", dtypes.INT64, kind="unary")
    second = get_typed_op("second", dtypes.INT64, kind="binary")
    for result in (backend.restrict(u, StoredMask(pattern)), backend.apply(u, identity), backend.cast(u, dtypes.FP64),
                   backend.union(u, u, second), backend.intersect(u, u, second), backend.convert(u, "sparse"),
                   backend.convert(u, "bitmap"), backend.gather_vector(u, None)):  # fmt: skip
        arrays = [getattr(result, name) for name in ("words", "indices", "values") if hasattr(result, name)]
        own = [getattr(u, name) for name in ("words", "indices", "values") if hasattr(u, name)]
        common = [a for a in arrays for b in own if a is not None and b is not None and np.shares_memory(a, b)]
        assert result is u or not common or (result.shared and u.shared)


@pytest.mark.parametrize("order", ["as drawn", "sorted", "reversed"])
def test_few_tuples_of_huge_matrices(backend, order):
    """Positions of which no 64-bit key is made: each of many pairs and triples, in order and out of it."""
    rng = np.random.default_rng(31)
    for _ in range(60):
        (m, _), (n, _) = dimension(rng, True), dimension(rng, True)
        count = int(rng.integers(2, 4))
        rows, cols = rng.integers(0, m, count), rng.integers(0, n, count)
        if order != "as drawn":
            at = np.lexsort((cols, rows))[:: -1 if order == "reversed" else 1]
            rows, cols = rows[at], cols[at]
        given = np.arange(1.0, count + 1)
        A = backend.build_matrix(m, n, rows, cols, given, None, dtypes.FP64)
        assert_same(A, REFERENCE.build_matrix(m, n, rows, cols, given, None, dtypes.FP64))


@pytest.mark.parametrize("common", [0, 1, 2, 5])
def test_unions_of_one_value_that_share_few_positions(backend, common):
    """Iso operands of one value: the result is iso where nothing is combined, or where that value comes out."""
    for name in ("plus", "minus", "max", "times", "second", "pair"):
        op = get_typed_op(name, dtypes.INT64, kind="binary")
        for value, other in ((3, 3), (1, 1), (3, 4)):
            x, y = np.arange(6), np.arange(6 - common, 12 - common)
            parts = (x, value), (y, other)
            vectors = [SparseVector(70, dtypes.INT64, at.astype(np.int32), np.array([v]), True) for at, v in parts]
            matrices = [
                convert.compressed(7, 10, dtypes.INT64, at // 10, at % 10, np.array([v]), True) for at, v in parts
            ]
            bitmaps = [convert.to_bitmap(u) for u in vectors]
            for u, v in (vectors, bitmaps, (vectors[0], bitmaps[1]), matrices):
                assert_same(backend.union(u, v, op), REFERENCE.union(u, v, op))
                assert_same(backend.intersect(u, v, op), REFERENCE.intersect(u, v, op))
