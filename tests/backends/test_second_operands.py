"""What random operands seldom are: operators that read positions, full and iso operands, results without entries,
ranges that end at words. Every primitive of the CPU backends against the reference backend."""

from operator import attrgetter

import numpy as np
import pytest
from backends.agree import assert_same, snapshot
from backends.samples import random_matrix, random_vector, values

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.backends import select as choose
from grb_tile.backends.cpu.vectorised import matmul as numpy_matmul
from grb_tile.backends.cpu.vectorised.tiles import FORMATS
from grb_tile.planner import unrecorded
from grb_tile.storage import convert
from grb_tile.storage.constructors import full_vector
from grb_tile.storage.convert import transpose_of
from grb_tile.storage.store import BitmapVector, SparseVector, StoredMask
from support.seeds import generator

REFERENCE = choose.named("reference")
POSITIONAL = [f"{side}{axis}{one}" for side in ("first", "second") for axis in "ij" for one in ("", "1")]
SELECTS = ("rowle", "rowgt", "colle", "colgt", "tril", "triu", "diag", "offdiag", "rowindex", "colindex", "diagindex")


@pytest.fixture(params=["numpy", "cpu"])
def backend(request):
    return choose.named(request.param)


def dim(size):
    return size, np.arange(size)


def vectors(rng, size, dtype):
    """Sparse, bitmap, full, iso, of one entry, of none."""
    indices = np.flatnonzero(rng.random(size) < 0.4).astype(np.int32)
    sparse = SparseVector(size, dtype, indices, values(rng, dtype, indices.size))
    full = BitmapVector(size, dtype, None, values(rng, dtype, size), size)
    one = SparseVector(size, dtype, np.array([size - 1], np.int32), values(rng, dtype, 1))
    none = SparseVector(size, dtype, indices[:0], values(rng, dtype, 0))
    iso = SparseVector(size, dtype, indices, values(rng, dtype, 1), True)
    return sparse, convert.to_bitmap(sparse), full, full_vector(size, dtype, values(rng, dtype, 1)[0]), iso, one, none


def matrices(rng, nrows, ncols, dtype):
    """CSR, DCSR, of every entry, without entries, with rows above and below those of others."""
    A = random_matrix(rng, dim(nrows), dim(ncols), dtype, 0.4)
    full = random_matrix(rng, dim(nrows), dim(ncols), dtype, 1.0)
    none = random_matrix(rng, dim(nrows), dim(ncols), dtype, 0.0)
    low = random_matrix(rng, (nrows, np.arange(nrows // 3)), dim(ncols), dtype, 0.5)
    high = random_matrix(rng, (nrows, np.arange(nrows // 2, nrows)), dim(ncols), dtype, 0.5)
    return convert.to_csr(A), convert.to_dcsr(A), full, none, convert.to_dcsr(low), convert.to_dcsr(high)


def masks(x):
    return None, StoredMask(x), StoredMask(x, True)


@pytest.mark.parametrize("name", POSITIONAL)
@pytest.mark.parametrize("kind", ["vectors", "matrices"])
@pytest.mark.sampled(2)
def test_operators_of_positions(backend, kind, name):
    """Both operands of one structure, of two, with and without masks; defaults at lone entries; scalars bound."""
    rng = generator("positions", kind, name)
    dtype = (dtypes.INT32, dtypes.INT64)[POSITIONAL.index(name) % 2]
    op = getattr(gb.binary.ss, name)[dtype]
    made = vectors(rng, 70, dtypes.FP64) if kind == "vectors" else matrices(rng, 9, 11, dtypes.FP64)
    one = np.float64(3)
    for k, x in enumerate(made):
        for y in (x, made[k - 1], made[k - 2]):
            for allow in masks(made[(k + 1) % len(made)]) if y is x else (None,):
                assert_same(backend.intersect(x, y, op, allow), REFERENCE.intersect(x, y, op, allow))
                assert_same(backend.union(x, y, op, allow), REFERENCE.union(x, y, op, allow))
            assert_same(backend.union(x, y, op, None, one, one), REFERENCE.union(x, y, op, None, one, one))
        for bound in ({"left": one}, {"right": one}):
            assert_same(backend.apply(x, op, None, **bound), REFERENCE.apply(x, op, None, **bound))


@pytest.mark.parametrize("name", POSITIONAL)
@pytest.mark.sampled(2)
def test_products_of_positions(backend, name):
    rng = generator("products of positions", name)
    dtype = (dtypes.INT64, dtypes.INT32)[POSITIONAL.index(name) % 2]
    semiring = attrgetter(f"ss.{('min', 'max', 'plus')[len(name) % 3]}_{name}")(gb.semiring)[dtype]
    A, B = (convert.to_csr(random_matrix(rng, dim(m), dim(n), dtypes.FP64, 0.15)) for m, n in ((40, 70), (70, 30)))
    plans = [None, *map(unrecorded, sorted(FORMATS))]
    for x in vectors(rng, 70, dtypes.FP64):
        for allow in masks(random_vector(rng, dim(40), dtypes.BOOL, 0.5)):
            want = REFERENCE.matvec_rows(A, x, semiring, allow)
            for plan in plans:
                assert_same(backend.matvec_rows(A, x, semiring, allow, plan), want)
            assert_same(backend.matvec_cols(transpose_of(A), x, semiring, allow), want)
    for allow in masks(random_matrix(rng, dim(40), dim(30), dtypes.BOOL, 0.3)):
        want = REFERENCE.matmul(A, B, semiring, allow)
        assert_same(backend.matmul(A, B, semiring, allow), want)
        assert_same(backend.matmul(A, None, semiring, allow, BT=transpose_of(B)), want)


@pytest.mark.parametrize("name", SELECTS)
@pytest.mark.sampled(2)
def test_selections_by_position(backend, name):
    """Thunks before the first position, at each end, beyond the last one."""
    rng = generator("selections", name)
    op = getattr(gb.indexunary if name.endswith("index") else gb.select, name)[dtypes.INT64]
    for x, thunks in (
        *((x, (-66, -65, -1, 0, 1, 63, 64, 65, 2**31 - 1)) for x in vectors(rng, 66, dtypes.INT8)),
        *((A, (-8, -7, -1, 0, 1, 4, 5, 7)) for A in matrices(rng, 8, 5, dtypes.FC64)),
    ):
        for thunk in map(np.int64, thunks):
            if not name.endswith("index"):
                assert_same(backend.select(x, op, thunk), REFERENCE.select(x, op, thunk))
            else:
                assert_same(backend.apply(x, op, None, thunk=thunk), REFERENCE.apply(x, op, None, thunk=thunk))


@pytest.mark.parametrize("size", [1, 64, 65])
def test_vectors_are_expanded_to_ranges_that_end_at_words(backend, size):
    rng = generator("expand", size)
    for x in vectors(rng, size, (dtypes.FC32, dtypes.INT8)[size % 2]):
        before = snapshot(x)
        for start, wanted in ((0, size), (0, size + 1), (1, size + 1), (63, 200), (64, 64 + size), (5, 1100)):
            I = range(start, start + size)
            wanted = max(wanted, start + size)
            assert_same(backend.expand_vector(x, I, wanted), REFERENCE.expand_vector(x, I, wanted))
            back = range(start + size - 1, start - 1, -1) if start else range(size)
            assert_same(backend.expand_vector(x, back, wanted), REFERENCE.expand_vector(x, back, wanted))
        assert_same(backend.expand_vector(x, None, size), REFERENCE.expand_vector(x, None, size))
        for I in (range(0), range(size), range(size - 1, -1, -1), range(0, size, 3), np.array([size - 1, 0, size - 1])):
            assert_same(backend.gather_vector(x, I), REFERENCE.gather_vector(x, I))
        assert snapshot(x) == before


def test_unions_of_full_vectors_and_of_stacked_rows(backend):
    """One value over another with and without an operator, of one type or two."""
    rng = generator("unions")
    for left, right in ((dtypes.FP64, dtypes.FP64), (dtypes.INT8, dtypes.FC64)):
        kinds = zip(vectors(rng, 130, left), vectors(rng, 130, right)[::-1], strict=True)
        pairs = [*kinds, *zip(vectors(rng, 130, left), vectors(rng, 130, right), strict=True)]
        rows = [matrices(rng, 12, 7, dtype)[4:] for dtype in (left, right)]
        pairs += [(rows[0][0], rows[1][1]), (rows[0][1], rows[1][0]), (rows[0][0], rows[1][0])]
        csr = [[convert.to_csr(A) for A in both] for both in rows]
        pairs += [(csr[0][0], csr[1][1]), (csr[0][1], csr[1][0])]
        for x, y in pairs:
            before = snapshot(x, y)
            for op in (None, gb.binary.minus[dtypes.FC64]):
                for dtype in (left, dtypes.FC64):
                    assert_same(backend.union(x, y, op, dtype=dtype), REFERENCE.union(x, y, op, dtype=dtype))
            assert snapshot(x, y) == before


def test_results_without_entries(backend):
    """Products, intersections, selections and reductions of which nothing is left."""
    rng = generator("without entries")
    plus_times, keeps = gb.semiring.plus_times[dtypes.FP64], (gb.select.valuegt[dtypes.FP64], np.float64(1e9))
    A = matrices(rng, 12, 12, dtypes.FP64)
    low, high = A[4:]  # rows 0 .. 3 and 6 .. 11
    columns = transpose_of(convert.to_csr(high))
    assert_same(
        backend.intersect(low, high, gb.binary.plus[dtypes.FP64]), REFERENCE.intersect(low, high, plus_times.binaryop)
    )
    assert_same(backend.matmul(columns, low, plus_times), REFERENCE.matmul(columns, low, plus_times))
    found = backend.matmul(A[0], A[1], plus_times, keep=keeps)
    assert_same(found, REFERENCE.matmul(A[0], A[1], plus_times, keep=keeps))
    assert found.nvals == 0
    for axis in (None, 0, 1):
        for left, right, keep in ((A[0], A[1], keeps), (columns, low, None), (A[0], A[2], None)):
            given = left, right, plus_times, gb.monoid.plus[dtypes.FP64], axis
            assert_same(backend.reduce_matmul(*given, keep=keep), REFERENCE.reduce_matmul(*given, keep=keep))
    for u in vectors(rng, 12, dtypes.INT64):
        for axis in (0, 1):
            assert_same(backend.broadcast(u, A[3], axis), REFERENCE.broadcast(u, A[3], axis))


def test_products_of_more_places_than_a_key_has(monkeypatch):
    """Rows x columns beyond MAX_KEY: the columns of a block are numbered, with a mask and without."""
    rng = generator("keys")
    monkeypatch.setattr(numpy_matmul, "MAX_KEY", 200)
    A, B, M = (
        convert.to_csr(random_matrix(rng, dim(m), dim(n), dtypes.INT64, 0.2)) for m, n in ((20, 30), (30, 40), (20, 40))
    )
    for semiring in (gb.semiring.plus_times, gb.semiring.min_first, gb.semiring.ss.plus_secondj):
        for allow in masks(M):
            given = A, B, semiring[dtypes.INT64], allow
            assert_same(numpy_matmul.matmul(*given), REFERENCE.matmul(*given))
