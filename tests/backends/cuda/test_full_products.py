"""Products whose rows, queues and chunks are exactly full, or one entry from it (test_full_sizes.py has the table)."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from backends import agree, samples
from backends.full_operands import around, of_lengths, quick, rng_of, shuffled_lengths

from cuda_emulation.backend import EMULATED, shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.backend import CudaBackend
from grb_tile.backends.cuda.elementwise import mapping
from grb_tile.backends.cuda.products import column_launch, masked, pull, row_schedule
from grb_tile.operators import get_typed_op
from grb_tile.planner import force, record_plan, tuning, unrecorded
from grb_tile.planner.device_limits import LIMITS
from grb_tile.storage import convert, place
from grb_tile.storage.constructors import full_vector
from grb_tile.storage.place import host
from grb_tile.storage.store import Compressed, StoredMask

NUMPY = select.named("numpy")


def semiring_of(name, type_="FP64"):
    return get_typed_op(name, getattr(dtypes, type_), kind="semiring")


@lru_cache(maxsize=2)
def large(blocks, threads):
    """A backend whose device has more processors and larger blocks than the emulation's usual one."""
    if not EMULATED:
        return shim()
    limits = replace(LIMITS[90], processors=max(blocks // 4, 2))
    shim()  # stays the one whose arrays are read through storage.place
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(place, "_devices", dict(place._devices))
        return CudaBackend(launcher=EmulatedLauncher(blocks=blocks, threads=threads, limits=limits))


def full(rng, size, dtype, share=1.0):
    """A sparse vector with a share of the entries of a full one, not iso."""
    x = samples.random_vector(rng, (size, np.arange(size)), dtype, share)
    values = samples.values(rng, dtype, x.nvals)
    indices = NUMPY.tuples_vector(x)[0]
    return NUMPY.build_vector(size, indices, values, None, dtype)


# ---------------------------------------------------------------------------------------------------- matrix and vector


@pytest.mark.parametrize("name", ["plus_times", "min_plus", "any_pair"])
def test_rows_of_a_product_with_a_vector(name):
    """Rows around each length at which a kernel takes them otherwise: full and sparse vectors, listed rows, columns."""
    semiring = semiring_of(name)
    rng = rng_of(1, len(name))
    A = of_lengths(rng, shuffled_lengths(rng), 1100, semiring.type)
    AT = convert.transpose_of(A)
    few = NUMPY.build_vector(A.nrows, np.arange(0, A.nrows, 3), np.ones(1, np.bool_), None, dtypes.BOOL)
    for share in (1.0, 0.5, 0.03):
        x = full(rng, A.ncols, semiring.type2, share)
        for allow in (None, StoredMask(few), StoredMask(few, True)):
            want = NUMPY.matvec_rows(A, x, semiring, allow)
            agree.assert_same(shim().matvec_rows(A, x, semiring, allow), want)
            agree.assert_same(shim().matvec_cols(AT, x, semiring, allow), want)


@pytest.mark.parametrize("least", [1, 2, 4, 8, 16, 32])
def test_rows_cut_at_their_longest(least, monkeypatch):
    """Rows of as many entries as their class of lanes may have, one fewer and one more."""
    longest = tuple(least * 2**k for k in range(6))
    for kind in ("all", "early"):
        monkeypatch.setitem(row_schedule.LONGEST, kind, longest)
    lengths = [length for size in longest for length in around(size)]
    rng = rng_of(3, least)
    semiring = semiring_of("plus_times")
    A = of_lengths(rng, rng.permutation(lengths), 1100, semiring.type)
    x = full(rng, A.ncols, semiring.type2, 0.6)
    agree.assert_same(shim().matvec_rows(A, x, semiring, None), NUMPY.matvec_rows(A, x, semiring, None))


@pytest.mark.parametrize(
    ("counted", "threads"),
    [("bitmap", 128), *(pytest.param(*one, marks=pytest.mark.slow) for one in (("bitmap", 64), ("list", 64)))],
)
def test_chunks_of_the_vector(counted, threads, monkeypatch):
    """Entries of x that fill a chunk of a block exactly: 512 of 64 threads, 1024 (CHUNK) of 128."""
    monkeypatch.setattr(tuning, "SCAN_ALL", (0, 0))
    monkeypatch.setattr(tuning, "LONG_COLUMN", 1 << 30)
    backend = large(4, threads)
    semiring = semiring_of("plus_times", "INT64")
    rng = rng_of(5, threads)
    chunk = 8 * threads
    for blocks in (1, 2, 4):
        for words in (chunk // 64, chunk // 64 + 1):
            size = blocks * words * 64
            A = of_lengths(rng, rng.integers(1, 4, size), 300, semiring.type)  # the transpose: a row a column
            for missing in (0, 1, 64, 65):
                x = full(rng, size, semiring.type2)
                keep = np.setdiff1d(np.arange(size), rng.choice(size, missing, replace=False))
                x = NUMPY.build_vector(size, keep, samples.values(rng, semiring.type2, keep.size), None, semiring.type2)
                u = convert.to_bitmap(x) if counted == "bitmap" else convert.to_sparse(x)
                want = NUMPY.matvec_cols(A, u, semiring, None)
                agree.assert_same(backend.matvec_cols(A, u, semiring, None), want)


def test_lists_that_every_block_scans(monkeypatch):
    """x with as many entries as `few` allows, one fewer and one more; columns around the steps of a warp."""
    semiring = semiring_of("plus_times", "INT64")
    rng = rng_of(7)
    A = of_lengths(rng, rng.permutation([*shuffled_lengths(rng, 130), *[2] * 600]), 300, semiring.type)
    for few in (31, 32, 33, 64, 512):
        monkeypatch.setattr(tuning, "SCAN_ALL", (few, few))
        A.forms = None
        for count in around(few):
            at = np.sort(rng.choice(A.nrows, count, replace=False))
            x = NUMPY.build_vector(A.nrows, at, samples.values(rng, semiring.type2, count), None, semiring.type2)
            agree.assert_same(shim().matvec_cols(A, x, semiring, None), NUMPY.matvec_cols(A, x, semiring, None))


def test_more_chunks_than_lanes():
    """Edges shared out over 39 blocks: the scan of the blocks' totals needs more than one turn of a warp."""
    backend = large(40, 64)
    semiring = semiring_of("plus_times", "FP64")
    rng = rng_of(9)
    A = of_lengths(rng, rng.integers(0, 5, 39 * 64), 500, semiring.type)
    x = full(rng, A.nrows, semiring.type2, 0.8)
    for u in (convert.to_bitmap(x), convert.to_sparse(x)):
        agree.assert_same(backend.matvec_cols(A, u, semiring, None), NUMPY.matvec_cols(A, u, semiring, None))


@pytest.mark.parametrize("by_neighbours", quick(False, True))
@pytest.mark.parametrize("limit", quick(64, 512))
def test_rows_deferred_by_a_pull(by_neighbours, limit, monkeypatch):
    """7, 8 and 9 rows of a block that a pull defers (DEFERRED), of `limit` entries and one more."""
    monkeypatch.setattr(pull, "LIMIT", limit)
    monkeypatch.setattr(pull, "HUGE", limit * 2)
    semiring = semiring_of("any_pair", "BOOL")
    rng = rng_of(11, limit)
    backend = large(1, 64)
    for count in (*around(8), 30):
        lengths = np.full(200, 3)
        lengths[:8] = (31, 32, 33, limit - 1, limit, limit + 1, limit + 31, limit + 32)
        lengths[8 + rng.choice(192, count, replace=False)] = rng.choice([limit + 33, limit * 3, limit * 3 + 32], count)
        A = of_lengths(rng, lengths, 3 * limit + 64, dtypes.BOOL)
        if by_neighbours:
            backend.transpose(backend.device.to_device(A))
        for at in ([A.ncols - 1], [0, A.ncols - 1], rng.choice(A.ncols, 3, replace=False)):
            x = NUMPY.build_vector(A.ncols, np.sort(at), np.ones(1, np.bool_), None, dtypes.BOOL)
            plan = record_plan("matvec", "rows", "csr", "no_mask")
            with force("pull_early_exit"):
                got = backend.matvec_rows(A, x, semiring, None, plan)
            agree.assert_same(got, NUMPY.matvec_rows(A, x, semiring, None))
            assert plan.kernel == "pull_early_exit"


@pytest.mark.parametrize("blocks", quick(40, 4))
def test_inner_products_and_reductions(blocks):
    """Vectors of a block's values, one fewer and one more; more blocks than a warp has lanes."""
    backend = large(blocks, 64)
    rng = rng_of(13, blocks)
    semiring, plus = semiring_of("plus_times", "INT64"), get_typed_op("plus", dtypes.INT64, kind="monoid")
    assert mapping._AHEAD == 4
    for size in (*around(4 * 64), *around(4 * 64 * 32), *around(4 * 64 * 33)):
        u, v = full(rng, size, dtypes.INT64), full(rng, size, dtypes.INT64, 0.5)
        agree.assert_same(backend.inner(u, v, semiring), NUMPY.inner(u, v, semiring))
        agree.assert_same(backend.reduce(u, plus), NUMPY.reduce(u, plus))


# ------------------------------------------------------------------------------------------------------------ matrices


def product(backend, A, B, semiring, kernel, mask=None):
    plan = record_plan("matmul", "gustavson", "csr", "no_mask")
    with force(kernel):
        found = host(backend.matmul(A, B, semiring, mask, plan))
    assert plan.kernel == kernel
    return found, plan


@pytest.mark.parametrize("kernel", quick("two_phases", "esc"))
def test_rows_of_a_product_of_matrices(kernel):
    """Rows of A, of B and of C around the sizes of the bins, of hash tables and of what a warp or a block takes."""
    semiring = semiring_of("plus_times")
    rng = rng_of(17)
    A = of_lengths(rng, shuffled_lengths(rng, 130), 140, semiring.type)
    B = of_lengths(rng, rng.permutation(np.resize(shuffled_lengths(rng, 65), 140)), 1500, semiring.type2)
    one_each = of_lengths(rng, np.ones(1100, int), 1100, semiring.type2)
    one_each.indices = np.arange(1100, dtype=one_each.indices.dtype)
    alone = of_lengths(rng, shuffled_lengths(rng), 1100, semiring.type)  # times a diagonal: C's rows are A's
    for left, right in ((A, B), (alone, one_each)):
        found, _ = product(shim(), left, right, semiring, kernel)
        agree.assert_same(found, NUMPY.matmul(left, right, semiring, None))


@pytest.mark.parametrize("count", quick(64, 63, 65))
def test_the_queue_of_rows_that_a_block_takes(count):
    """A row of A meets `count` rows of B of more than 600 entries: the queue of one task has 64."""
    semiring = semiring_of("plus_times")
    rng = rng_of(19, count)
    lengths = np.full(70, 3)
    lengths[rng.choice(70, count, replace=False)] = rng.choice([600, 601, 602], count, p=[0, 0.7, 0.3])
    B = of_lengths(rng, lengths, 1500, semiring.type2)
    A = of_lengths(rng, [70, 2, 69], 70, semiring.type)
    found, plan = product(shim(), A, B, semiring, "two_phases")
    agree.assert_same(found, NUMPY.matmul(A, B, semiring, None))
    assert not EMULATED or " 0 split among blocks" not in plan.note


@pytest.mark.parametrize("lanes", [1, 4, 16])
def test_rows_of_b_for_lanes_a_warp_and_a_block(lanes):
    """Rows of B around 16 steps of a group of lanes (LONG_ROW) and 600 entries (`block_row`), of mean `lanes`."""
    semiring = semiring_of("plus_times")
    rng = rng_of(23, lanes)
    lengths = [*around(16), *around(64), *around(128), *around(256), *around(512), *around(600), *[lanes] * 1500]
    B = of_lengths(rng, rng.permutation(lengths), 1500, semiring.type2)
    A = of_lengths(rng, [B.nrows, 5, B.nrows - 1], B.nrows, semiring.type)
    found, _ = product(shim(), A, B, semiring, "two_phases")
    agree.assert_same(found, NUMPY.matmul(A, B, semiring, None))


@pytest.mark.parametrize("name", quick("plus_times", "any_pair"))
def test_inner_windows_of_every_size(name):
    """Inner dimensions around the windows (32), panels around the tiles (4 x 4), more than 32 shares of a panel."""
    semiring = semiring_of(name)
    rng = rng_of(29, len(name))
    for blocks, inners in ((4, (31, 32, 33, 64, 65, 200)), (40, (31 * 32, 32 * 32, 33 * 32, 33 * 32 + 1, 1500))):
        for inner in inners:
            for rows, cols in ((4, 4), (5, 3)):
                A = of_lengths(rng, np.full(rows, max(inner // 3, 1)), inner, semiring.type)
                BT = of_lengths(rng, np.full(cols, max(inner // 3, 1)), inner, semiring.type2)
                with force("inner_windows"):
                    found, _ = large(blocks, 64).matmul_inner(A, False, BT, True, semiring)
                agree.assert_same(host(found), NUMPY.matmul(A, NUMPY.transpose(BT), semiring, None))


@pytest.mark.parametrize("table", [True, False])
@pytest.mark.parametrize("method", quick("dot", "gustavson"))
def test_rows_at_a_mask(method, table, monkeypatch):
    """Rows of A, B' and the mask around every size, which begin and end where their neighbours do not."""
    monkeypatch.setattr(tuning, "GPU_TABLE_LOOKUPS", 0 if table else 1 << 40)
    monkeypatch.setattr(masked, "STEPS", 1)
    semiring = semiring_of("plus_times")
    rng = rng_of(31, table)
    A = of_lengths(rng, shuffled_lengths(rng, 513), 600, semiring.type)
    BT = of_lengths(rng, rng.permutation(np.resize(shuffled_lengths(rng, 130), 520)), 600, semiring.type2)
    pattern = of_lengths(rng, np.resize(shuffled_lengths(rng, 513), A.nrows), BT.nrows, dtypes.BOOL)
    B = NUMPY.transpose(BT)
    want = NUMPY.matmul(A, None, semiring, StoredMask(pattern), unrecorded("dot"), BT=BT)
    for left, mask in ((A, pattern), (convert.to_dcsr(A), convert.to_dcsr(pattern))):
        if method == "dot":
            got = shim().matmul(left, None, semiring, StoredMask(mask), unrecorded("dot"), BT=BT)
        else:
            with force("merge_at_mask"):
                plan = record_plan("matmul", "gustavson", "csr", "forced", (0, 0, 0))
                got = shim().matmul(left, B, semiring, StoredMask(mask), plan)
        agree.assert_same(got, want)


@pytest.mark.parametrize("steps", [1, 2, 4, 64])
def test_long_rows_among_short_ones_at_a_mask(steps, monkeypatch):
    """Positions of a warp with few look-ups beside those of which the whole warp takes one (MOST_LOOKUPS a lane)."""
    monkeypatch.setattr(tuning, "GPU_TABLE_LOOKUPS", 1 << 40)
    monkeypatch.setattr(masked, "STEPS", steps)
    semiring = semiring_of("plus_times", "INT64")
    rng = rng_of(39, steps)
    lengths = np.where(np.arange(40) % 7 == 3, rng.choice([65, 129, 260, 600], 40), rng.integers(0, 4, 40))
    A, BT = (of_lengths(rng, rng.permutation(lengths), 700, semiring.type) for _ in range(2))
    pattern = of_lengths(rng, np.full(40, 40), 40, dtypes.BOOL)
    got = shim().matmul(A, None, semiring, StoredMask(pattern), unrecorded("dot"), BT=BT)
    agree.assert_same(got, NUMPY.matmul(A, None, semiring, StoredMask(pattern), unrecorded("dot"), BT=BT))


@pytest.mark.parametrize("table", [None, True, False])
@pytest.mark.sampled(1)
def test_the_entry_behind_a_row_is_the_sought_one(table, monkeypatch):
    """Row r + 1 begins with the column that row r lacks: the end of the array must not serve for that of the row.

    table: at a mask, rows of A in a table or not; None: intersections and masks.
    """
    monkeypatch.setattr(tuning, "GPU_TABLE_LOOKUPS", 0 if table else 1 << 40)
    semiring = semiring_of("plus_pair", "INT64")
    n = 60
    rows = np.arange(n).repeat(20)
    cols = rows % 3 * 20 + np.tile(np.arange(20), n)
    A = convert.compressed(n, n, dtypes.INT64, rows, cols, np.ones(rows.size, np.int64))
    behind = convert.compressed(n, n, dtypes.INT64, np.arange(n), (np.arange(n) + 1) % 3 * 20, np.ones(n, np.int64))
    every = of_lengths(rng_of(37), np.full(n, n), n, dtypes.BOOL)
    if table is not None:
        for left, right in ((A, behind), (behind, A)):
            got = host(shim().matmul(left, None, semiring, StoredMask(every), unrecorded("dot"), BT=right))
            agree.assert_same(got, NUMPY.matmul(left, None, semiring, StoredMask(every), unrecorded("dot"), BT=right))
            assert got.nvals
        return
    times = get_typed_op("times", dtypes.INT64, kind="binary")
    for left, right in ((A, behind), (behind, A)):
        for x, y in ((left, right), (convert.to_dcsr(left), right), (left, convert.to_dcsr(right))):
            agree.assert_same(shim().intersect(x, y, times), NUMPY.intersect(left, right, times))
            for complement in (False, True):
                got = shim().restrict(x, StoredMask(y, complement))
                agree.assert_same(got, NUMPY.restrict(left, StoredMask(right, complement)))


@pytest.mark.parametrize(
    ("name", "sizes"),
    [("FP32", (1, 8, 64)), *(pytest.param(name, (1, 2, 7, 8, 9, 63, 64, 65), marks=pytest.mark.slow) for name in
     ("FP32", "FP64"))],
)  # fmt: skip
def test_high_degree_rows_fill_shared_memory(name, sizes, monkeypatch):
    """Sums of as many high-degree rows in shared memory as its bytes allow, one fewer, one more; sums of zeros are
    entries, also those of terms below what the sums show."""
    for option, value in (("HUB_EDGES", 0), ("BUILD_AFTER", 1), ("LONG_COLUMN", 0), ("SCAN_ALL", (0, 0)),
                        ("MANY_EDGES", 0), ("EDGES_OF_POSITION", 1 << 60)):  # fmt: skip
        monkeypatch.setattr(tuning, option, value)
    rng, semiring = rng_of(41), semiring_of("plus_times", name)
    item = semiring.type.np_type.itemsize + 4
    A = of_lengths(rng, rng.integers(0, 30, 400), 90, semiring.type)
    nothing = Compressed(A.nrows, A.ncols, A.dtype, A.indptr, A.indices, A.values.copy())
    nothing.values[rng.random(90)[A.indices] < 0.7] = -0.0  # of these rows every term is the start of sums
    ones = full_vector(400, semiring.type2, semiring.type2.np_type.type(1))
    for matrix, x in ((A, full(rng, 400, semiring.type2, 0.9)), (nothing, ones)):
        want = NUMPY.matvec_cols(matrix, x, semiring, None)
        for slots in sizes:
            monkeypatch.setattr(column_launch, "HIGH_DEGREE_BYTES", slots * item)
            matrix.forms = None
            for _ in range(3):
                agree.assert_same(shim().matvec_cols(matrix, x, semiring, None), want)
