"""Operators whose two operands have different types, in every primitive that calls them, of operands of a third type.

The expected values come from a loop over the entries: the reference backend is one of those that are tested.
"""

import numpy as np
import pytest
from backends.agree import check_store

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends import select as choose
from grb_tile.backends.reference import entries
from grb_tile.operators.semiring import Semiring
from grb_tile.storage import convert
from grb_tile.storage.convert import transpose_of
from grb_tile.storage.store import SparseVector, StoredMask
from support.seeds import generator

M, K, N = 6, 9, 7


@pytest.fixture(params=["numpy", "cpu", "reference"])
def backend(request):
    return choose.named(request.param)


SEMIRINGS = {
    ("INT16", "FP64"): (gb.monoid.max, lambda x, y: x * 4 + y),
    ("FP64", "INT8"): (gb.monoid.min, lambda x, y: x - 3 * y),
    ("INT8", "INT32"): (gb.monoid.plus, lambda x, y: y - x),
}


@pytest.fixture(scope="module", params=SEMIRINGS, ids="-".join)
def semiring(request):
    made = Semiring.register_anonymous(SEMIRINGS[request.param][0], gb.binary.register_anonymous(
        SEMIRINGS[request.param][1], is_udt=True
    ))[request.param]  # fmt: skip
    assert (made.binaryop.type, made.binaryop.type2) == request.param
    return made


def numbers(rng, dtype, count):
    """Beyond 8 bits, beyond 16 bits, and with fractions where the type has them."""
    found = rng.choice([-70000, -300, -2, 0, 1, 3, 130, 257, 40000], count)
    return (found + rng.choice([0, 0.5], count)).astype(dtype.np_type)


def vector(rng, dtype, size, share=0.6):
    at = np.flatnonzero(rng.random(size) < share).astype(np.int32)
    return SparseVector(size, dtype, at, numbers(rng, dtype, at.size))


def matrix(rng, dtype, nrows, ncols):
    i, j = (rng.random((nrows, ncols)) < 0.4).nonzero()
    return convert.compressed(nrows, ncols, dtype, i, j, numbers(rng, dtype, i.size))


def value(op, x, y):
    """op(x, y), each cast to its own type."""
    x, y = np.atleast_1d(x), np.atleast_1d(y)
    return np.asarray(op.numpy(dtypes.cast(x, op.type), dtypes.cast(y, op.type2)))[:1].astype(op.return_type.np_type)


def product(semiring, A, B):
    """{(i, j): C(i, j)} of C = A B; keys of vectors are 1-tuples, as columns of B."""
    add, found = semiring.monoid.binaryop, {}
    for (i, k), a in A.items():
        for key, b in B.items():
            if key[0] == k:
                term, at = value(semiring.binaryop, a, b), (i, *key[1:])
                found[at] = add.numpy(found[at], term) if at in found else term
    return found


def same(store, wanted, dtype):
    check_store(store)
    found = entries(store)
    assert store.dtype is dtype
    assert {(key if isinstance(key, tuple) else (key,)): v.item() for key, v in found.items()} == {
        key: np.asarray(v).astype(dtype.np_type).item() for key, v in wanted.items()
    }


def of(store):
    return {(key if isinstance(key, tuple) else (key,)): v for key, v in entries(store).items()}


TYPES = [(dtypes.INT32, dtypes.INT32), (dtypes.FP64, dtypes.INT16), (dtypes.INT64, dtypes.FP32)]


@pytest.mark.parametrize("types", TYPES, ids=lambda types: "-".join(map(str, types)))
def test_products(backend, semiring, types):
    rng = generator("two types, products", semiring, *types)
    A, B, x = matrix(rng, types[0], M, K), matrix(rng, types[1], K, N), vector(rng, types[1], K)
    dtype, wanted = semiring.return_type, product(semiring, of(A), of(x))
    wanted_matrix = product(semiring, of(A), of(B))
    for form in ("sparse", "bitmap"):
        u = backend.convert(x, form)
        same(backend.matvec_rows(A, u, semiring, None), wanted, dtype)
        same(backend.matvec_cols(transpose_of(A), u, semiring, None), wanted, dtype)
    same(backend.matmul(A, B, semiring, None), wanted_matrix, dtype)
    allow = StoredMask(matrix(rng, dtypes.INT8, M, N))
    inside = {key: v for key, v in wanted_matrix.items() if key in of(allow.pattern)}
    same(backend.matmul(A, B, semiring, allow), inside, dtype)
    same(backend.matmul(A, None, semiring, allow, BT=transpose_of(B)), inside, dtype)
    left = vector(rng, types[0], K)
    found = backend.inner(left, x, semiring)
    (total,) = product(semiring, {(0, k): v for (k,), v in of(left).items()}, of(x)).values() or [None]
    assert found == total


@pytest.mark.parametrize("types", TYPES, ids=lambda types: "-".join(map(str, types)))
def test_entries(backend, semiring, types):
    """Intersections, unions with defaults, applications with a bound number, Kronecker products."""
    rng, op = generator("two types, entries", semiring, *types), semiring.binaryop
    for x, y in (
        (vector(rng, types[0], 40), vector(rng, types[1], 40)),
        (matrix(rng, types[0], M, N), matrix(rng, types[1], M, N)),
    ):
        a, b, dtype = of(x), of(y), op.return_type
        same(backend.intersect(x, y, op, None), {k: value(op, a[k], b[k]) for k in a.keys() & b.keys()}, dtype)
        left, right = numbers(rng, types[0], 1)[0], numbers(rng, types[1], 1)[0]
        wanted = {k: value(op, a.get(k, left), b.get(k, right)) for k in a.keys() | b.keys()}
        same(backend.union(x, y, op, None, left, right), wanted, dtype)
        same(backend.apply(y, op, None, left=left), {k: value(op, left, v) for k, v in b.items()}, dtype)
        same(backend.apply(x, op, None, right=right), {k: value(op, v, right) for k, v in a.items()}, dtype)
    wanted = {(i * M + k, j * N + h): value(op, v, w) for (i, j), v in a.items() for (k, h), w in b.items()}
    same(backend.kronecker(x, y, op), wanted, op.return_type)
