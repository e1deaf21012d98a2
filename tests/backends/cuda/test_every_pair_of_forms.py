"""Vectors of every form beside one another, under masks of every form, against the reference backend; Kronecker
products under masks; values whose order is told by more than their bits; rows of each length around a warp."""

import itertools

import numpy as np
import pytest
from backends.agree import assert_same

import grb_tile as gb
from cuda_emulation.backend import shim, using_shim
from grb_tile import binary, dtypes, monoid, select as selects, unary
from grb_tile.backends import select
from grb_tile.storage import bits
from grb_tile.storage.convert import to_bitmap, to_sparse
from grb_tile.storage.store import BitmapVector, StoredMask
from support import seeds

REFERENCE = select.named("reference")
N, I64 = 150, dtypes.INT64


@pytest.fixture(scope="module")
def given():
    """Vectors of the same size: lists, bitmaps with gaps, full ones, those of one value, few and no entries."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 71])

    def vector(at, values):
        return REFERENCE.build_vector(N, np.asarray(at, np.int64), np.asarray(values, np.int64), None, I64)

    half, some, one = np.flatnonzero(rng.random(N) < 0.5), np.flatnonzero(rng.random(N) < 0.4), np.array([3])
    bitmap = to_bitmap(vector(some, rng.integers(-4, 5, some.size)))
    full = BitmapVector(N, I64, None, one, N, True)
    return {
        "list": vector(half, rng.integers(-4, 5, half.size)), "few": vector([3, 64, 149], [5, -2, 7]),
        "none": vector([], []), "the first": vector([0], [2]), "list of all": to_sparse(full), "bitmap": bitmap,
        "full": BitmapVector(N, I64, None, rng.integers(-4, 5, N), N), "full of one value": full,
        "bitmap of one value": BitmapVector(N, I64, bitmap.words, one, some.size, True),
    }  # fmt: skip


def test_masks_of_every_form(given):
    for x, pattern in itertools.product(given.values(), repeat=2):
        for complement in (False, True):
            mask = StoredMask(pattern, complement)
            assert_same(shim().restrict(x, mask), REFERENCE.restrict(x, mask))


def test_every_pair_under_some_masks(given):
    """Each pair without a mask and with two others in turn."""
    masks = [StoredMask(pattern, complement) for pattern in given.values() for complement in (False, True)]
    op = binary.minus["INT64"]
    for k, (x, y) in enumerate(itertools.product(given.values(), repeat=2)):
        for mask in (None, masks[k % len(masks)], masks[(k * 7 + 3) % len(masks)]):
            assert_same(shim().union(x, y, op, mask), REFERENCE.union(x, y, op, mask))
            assert_same(shim().intersect(x, y, op, mask), REFERENCE.intersect(x, y, op, mask))


def test_selections_and_maps_of_every_form(given):
    masks = [StoredMask(pattern, complement) for pattern in given.values() for complement in (False, True)]
    for k, x in enumerate(given.values()):
        for mask in (None, *masks[k % 3 :: 3]):
            for text in ("valuegt", "valuele", "rowle"):
                op = getattr(selects, text)["INT64"]
                assert_same(shim().select(x, op, np.int64(1), mask), REFERENCE.select(x, op, np.int64(1), mask))
            assert_same(shim().apply(x, unary.ainv["INT64"], mask), REFERENCE.apply(x, unary.ainv["INT64"], mask))
        assert_same(shim().scan(x, monoid.plus["INT64"]), REFERENCE.scan(x, monoid.plus["INT64"]))


def test_kronecker_products_under_masks():
    rng = np.random.default_rng(72)

    def matrix(m, n, share):
        at = np.flatnonzero(rng.random(m * n) < share)
        return gb.Matrix.from_coo(at // n, at % n, rng.integers(1, 9, at.size), nrows=m, ncols=n)

    for (m, n), (p, q) in (((3, 4), (5, 2)), ((1, 6), (6, 1)), ((4, 4), (3, 3))):
        A, B = matrix(m, n, 0.6), matrix(p, q, 0.7)
        for share in (0.05, 0.5, 1.0):
            M = matrix(m * p, n * q, share)
            for mask in (None, M.S, ~M.S, M.V, ~M.V):
                wanted = A.kronecker(B, "minus").new(mask=mask)
                with using_shim():
                    assert A.kronecker(B, "minus").new(mask=mask).isequal(wanted), (m, n, p, q, share, mask)


@pytest.mark.parametrize("dtype", ["FP32", "FP64"])
def test_values_in_order_whatever_their_bits(dtype):
    """NaN of both signs and several bits are last and alike, both zeros are one, infinities are at the ends."""
    kind = np.dtype(np.float32 if dtype == "FP32" else np.float64)
    odd = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, 1e-45, -1e-45, 3e38, -3e38], kind)
    bits = odd.view(np.uint32 if dtype == "FP32" else np.uint64).copy()
    bits[0] += 5
    odd = np.concatenate([bits.view(kind), odd])
    for turn in range(6):
        rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, 73, turn])
        values = rng.permutation(np.concatenate([odd, rng.choice(odd, 40)]))
        x = BitmapVector(values.size, dtypes.lookup_dtype(dtype), None, values, values.size)
        for how, k in itertools.product(("smallest", "largest"), (1, 5, 20, 45, values.size - 1)):
            found = [part.tolist() for part in REFERENCE.tuples_vector(REFERENCE.first_of_rows(x, how, k))][:1]
            assert [part.tolist() for part in shim().tuples_vector(shim().first_of_rows(x, how, k))][:1] == found, (
                how,
                k,
            )


def test_the_first_of_rows_of_pieces():
    """Long rows are cut into pieces: the rows of what the pieces give are as long as k and their number tell."""
    for count in (257, 300, 320, 400, 640, 1025):
        values = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, count]).permutation(count).astype(float)
        A = gb.Matrix.from_coo(
            np.repeat([0, 2], count), np.tile(np.arange(count), 2), np.tile(values, 2), nrows=3, ncols=count
        )
        for k in (1, 2, 3, 4, 5, 11, 16, 17, 33):
            for how in ("smallest", "largest"):
                assert_same(shim().first_of_rows(A._store, how, k), REFERENCE.first_of_rows(A._store, how, k))


def test_cores_of_cliques_of_each_size():
    """Rows of a warp's entries, a few more, and the lengths between its steps of four times as many."""
    for size in (*range(2, 8), 31, 32, 33, 34, 63, 64, 65, 97, 100, 127, 129, 130, 140):
        i, j = np.nonzero(~np.eye(size, dtype=bool))
        tail = np.array([size - 1, size]), np.array([size, size + 1])
        rows, columns = np.concatenate([i, *tail]), np.concatenate([j, *tail[::-1]])
        A = gb.Matrix.from_coo(rows, columns, 1.0, nrows=size + 3, ncols=size + 3)
        with using_shim():
            core = gb.graph.core_numbers(A).to_dense().tolist()
            assert core == [size - 1] * size + [1, 1, 0], size
            both = gb.graph.core_numbers(A.select("triu").new(), A.select("triu").new().T.new()).to_dense().tolist()
            assert both == core, size


@pytest.mark.parametrize("few", [2, 31, 33, 64, 100])
def test_cores_of_complete_bipartite_graphs(few):
    """The side of lower degree goes first, and each of its rows takes an edge from every vertex of the other side."""
    for many in (few + 1, few + 40, 2 * few + 7):
        i, j = (part.reshape(-1) for part in np.indices((few, many)))
        rows, columns = np.concatenate([i, few + j]), np.concatenate([few + j, i])
        A = gb.Matrix.from_coo(rows, columns, 1.0, nrows=few + many, ncols=few + many)
        with using_shim():
            assert gb.graph.core_numbers(A).to_dense().tolist() == [few] * (few + many), many


def test_a_host_backend_takes_operands_of_a_device(given):
    """In each place: operand, second operand, mask, one in a list."""
    with using_shim():
        host, op = select.named("cpu"), binary.minus["INT64"]
        for x, y in itertools.product(list(given.values())[:7:2], repeat=2):
            a, b, mask = shim().copy_here(x), shim().copy_here(y), StoredMask(y)
            for pattern in (StoredMask(b), StoredMask(b, True)):
                wanted = mask if not pattern.complement else ~mask
                assert_same(host.restrict(x, pattern), REFERENCE.restrict(x, wanted))
                assert_same(host.restrict(a, pattern), REFERENCE.restrict(x, wanted))
                assert_same(host.union(a, y, op, pattern), REFERENCE.union(x, y, op, wanted))
                assert_same(host.intersect(x, b, op, mask=pattern), REFERENCE.intersect(x, y, op, wanted))
                assert_same(
                    host.apply(x, unary.ainv["INT64"], pattern), REFERENCE.apply(x, unary.ainv["INT64"], wanted)
                )


def test_blocks_without_entries_have_no_say_in_a_reduction():
    """Entries in one place of a long bitmap, and values of which 0 would be the least or the greatest."""
    n = 20_000
    for at in ([0], [n - 1], range(9_000, 9_010), [5, n - 5]):
        for sign in (-1, 1):
            values = np.full(n, 7 * sign)
            found = BitmapVector(n, I64, bits.from_bool(np.isin(np.arange(n), list(at))), values, len(at))
            for text in ("max", "min", "plus"):
                op = getattr(monoid, text)["INT64"]
                assert shim().reduce(found, op) == (7 * sign * len(at) if text == "plus" else 7 * sign), (
                    at,
                    sign,
                    text,
                )
