"""Primitives that backends make of others, or inherit: inner, scan, reductions of products, equality, broadcasts.

Compared with a definition that calls nothing of the same name: the reference backend inherits some of them too.
"""

import numpy as np
import pytest
from backends.agree import assert_same
from backends.samples import TYPES, choice, dimension, random_matrix, random_vector, values
from backends.test_agree_with_reference import typed

from grb_tile import dtypes
from grb_tile.backends import select as choose
from grb_tile.backends.reference import entries
from grb_tile.operators import get_typed_op, typed_semiring
from grb_tile.operators.monoid import Monoid
from grb_tile.operators.semiring import Semiring
from grb_tile.storage.constructors import full_vector, row_matrix
from grb_tile.storage.store import StoredMask

REFERENCE = choose.named("reference")


@pytest.fixture(params=["numpy", "cpu", "reference"])
def backend(request):
    return choose.named(request.param)


def semiring_of(rng):
    """A drawn semiring whose sums are the same in every order."""
    while True:
        semiring = typed(rng, Semiring)
        if semiring.monoid.name != "any" or semiring.binaryop.kind == "pair":
            return semiring


def operand(rng, dim, dtype):
    """A vector of any form; one in three has an entry at each position, one in six these are one value."""
    kind = int(rng.integers(6))
    if kind == 0:
        return full_vector(dim[0], dtype, values(rng, dtype, 1)[0])
    return random_vector(rng, dim, dtype, 1.0 if kind == 1 else None)


def same_number(found, wanted):
    if found is None or wanted is None:
        return found is wanted
    if found.dtype.kind not in "fc":
        return found.dtype == wanted.dtype and found == wanted
    return found.dtype == wanted.dtype and bool(np.isclose(found, wanted, rtol=1e-4, atol=1e-4, equal_nan=True))


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.filterwarnings("ignore")  # NumPy's, of infinities and overflows
def test_inner(backend, seed):
    rng = np.random.default_rng([21, seed])
    for _ in range(6):
        dim, semiring = dimension(rng), semiring_of(rng)
        u, v = operand(rng, dim, semiring.binaryop.type), operand(rng, dim, semiring.binaryop.type2)
        product = entries(REFERENCE.matvec_rows(row_matrix(u), v, semiring, None))
        wanted = next(iter(product.values()))[0] if product else None
        found = backend.inner(u, v, semiring)
        assert same_number(found, wanted), (semiring, u.format, v.format, found, wanted)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.filterwarnings("ignore")
def test_scan(backend, seed):
    rng = np.random.default_rng([22, seed])
    monoid = typed(rng, Monoid)
    while monoid.name == "any":
        monoid = typed(rng, Monoid)
    rows, cols = dimension(rng), dimension(rng)
    for x in (operand(rng, cols, choice(rng, TYPES)), random_matrix(rng, rows, cols, monoid.type)):
        assert_same(backend.scan(x, monoid), REFERENCE.scan(x, monoid))


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.filterwarnings("ignore")
def test_first_of_rows(backend, seed):
    rng = np.random.default_rng([27, seed])
    rows, cols, k = dimension(rng), dimension(rng), int(rng.integers(5))
    for x in (operand(rng, cols, choice(rng, TYPES)), random_matrix(rng, rows, cols, choice(rng, TYPES))):
        for how in ("first", "last", "smallest", "largest", "random"):
            found = backend.first_of_rows(x, how, k, seed)
            assert_same(found, REFERENCE.first_of_rows(x, how, k, seed))


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.filterwarnings("ignore")
def test_reductions_of_products(backend, seed):
    rng = np.random.default_rng([23, seed])
    m, k, n = ((size, np.arange(size)) for size in rng.integers(1, 13, 3).tolist())
    semiring = semiring_of(rng)
    A = random_matrix(rng, m, k, semiring.binaryop.type)
    B = random_matrix(rng, k, n, semiring.binaryop.type2)
    monoid = typed(rng, Monoid)
    while monoid.name == "any" or monoid.type is not semiring.return_type:
        semiring, monoid = semiring_of(rng), typed(rng, Monoid)
    A, B = backend.cast(A, semiring.binaryop.type), backend.cast(B, semiring.binaryop.type2)
    mask = None if rng.integers(2) else StoredMask(random_matrix(rng, m, n, dtypes.BOOL), bool(rng.integers(2)))
    C = REFERENCE.matmul(A, B, semiring, mask)
    assert same_number(backend.reduce_matmul(A, B, semiring, monoid, mask=mask), REFERENCE.reduce(C, monoid))
    first = typed_semiring(monoid, "first")
    for axis, product in ((1, REFERENCE.matvec_rows), (0, REFERENCE.matvec_cols)):
        ones = full_vector(C.ncols if axis else C.nrows, monoid.type, 1)
        assert_same(backend.reduce_matmul(A, B, semiring, monoid, axis, mask), product(C, ones, first, None))


@pytest.mark.parametrize("seed", range(30))
def test_is_equal(backend, seed):
    """Equal stores in two forms; a value, a position or an entry more makes them different."""
    rng = np.random.default_rng([24, seed])
    dtype, rows, cols = choice(rng, TYPES), dimension(rng), dimension(rng)
    eq = get_typed_op("eq", dtype, kind="binary")
    for x in (random_vector(rng, cols, dtype), random_matrix(rng, rows, cols, dtype)):
        held = entries(x)
        usual = all(y[0] == y[0] for y in held.values())  # NaN equals nothing
        shape = x.shape if len(x.shape) == 2 else (1, *x.shape)

        def store(found, x=x, shape=shape):
            at = np.array([(p if isinstance(p, tuple) else (0, p))[-2:] for p in found], np.int64).reshape(-1, 2)
            given = np.array([y[0] for y in found.values()], x.dtype.np_type)
            if len(x.shape) == 1:
                return REFERENCE.build_vector(x.size, at[:, 1], given, None, x.dtype)
            return REFERENCE.build_matrix(*shape, at[:, 0], at[:, 1], given, None, x.dtype)

        assert backend.is_equal(x, store(held), eq) == backend.is_equal(store(held), x, eq) == usual
        for at, value in list(held.items())[:: max(1, len(held) // 5)]:
            other = np.array([value[0] == 0], dtype.np_type)
            if usual and value[0] != other[0]:
                assert not backend.is_equal(x, store(held | {at: other}), eq)
            less = {p: y for p, y in held.items() if p != at}
            assert not backend.is_equal(x, store(less), eq) and not backend.is_equal(store(less), x, eq)


@pytest.mark.parametrize("seed", range(20))
def test_broadcasts_beside_their_matrix(backend, seed):
    """broadcast_over(u, A): T, and entries of A at T's positions; broadcast_combine of full operands."""
    rng = np.random.default_rng([25, seed])
    rows, cols, dtype = dimension(rng), dimension(rng), choice(rng, TYPES)
    A, op = random_matrix(rng, rows, cols, dtype), get_typed_op("second", dtype, kind="binary")
    for axis, dim in ((0, rows), (1, cols)):
        u = operand(rng, dim, dtype)
        B, T = backend.broadcast_over(u, A, axis)
        wanted = REFERENCE.broadcast(u, A, axis)
        assert_same(T, wanted)
        assert_same(backend.intersect(B, T, op), REFERENCE.intersect(A, wanted, op))
        assert_same(backend.intersect(T, B, op), REFERENCE.intersect(wanted, A, op))


@pytest.mark.parametrize("seed", range(10))
def test_sums_by_label(backend, seed):
    rng = np.random.default_rng([26, seed])
    count, size = rng.integers(0, 300), int(rng.integers(1, 40))
    labels, given = rng.integers(0, size, count), rng.integers(-5, 6, count).astype(float)
    found = backend.sum_by_label(labels, given, size)
    assert found.tolist() == [float(given[labels == label].sum()) for label in range(size)]
