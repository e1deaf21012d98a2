"""x in bins: what lies at each entry's place, cells and bins that are exactly full, matrices without such a form."""

import numpy as np
import pytest
from backends import agree

import grb_tile as gb
from cuda_emulation.backend import shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import binned_columns, segments
from grb_tile.operators import get_typed_op
from grb_tile.planner import tuning
from grb_tile.storage import convert
from grb_tile.storage.store import BitmapVector

NUMPY = select.named("numpy")
TYPES = {1: np.uint8, 2: np.int16, 4: np.float32, 8: np.float64}
WIDTH = 16  # columns of a slab here


@pytest.fixture(autouse=True)
def small_slabs(monkeypatch):
    monkeypatch.setattr(binned_columns, "slab_columns", lambda device, item: WIDTH)


def matrix(rows, cols, nrows, ncols):
    return shim().store_to_device(host_matrix(rows, cols, nrows, ncols))


def host_matrix(rows, cols, nrows, ncols):
    return convert.compressed(nrows, ncols, dtypes.BOOL, rows, cols, np.ones(1, bool), True)


def random_matrix(nrows, ncols, count, seed):
    rng = np.random.default_rng([33, seed])
    keys = np.unique(rng.integers(0, nrows * ncols, count))
    return matrix(keys // ncols, keys % ncols, nrows, ncols)


def made(A, item, threads=64, blocks=2, room=None, hubs=None):
    """hubs: None: all columns in slabs; else how many are hubs, and only columns with entries are in slabs."""
    device, more = shim().device, ()
    slices = -(-A.indices.shape[0] // segments.SLICE)
    if hubs is not None:
        counts = device.xp.bincount(A.indices, minlength=A.ncols)
        ranked = device.xp.argsort(-counts).astype(np.int32)
        order, of_hubs = binned_columns.order_of(device, ranked, counts, hubs)
        more = order, hubs, of_hubs
    room = room or 1024 * item
    return binned_columns.make(device, A, slices, threads, blocks, item, room, segments.SLICE, *more)


def first_slices(bins, slices):
    """The first slice of each warp in each step, and where the last one ends: [warps, steps + 1]."""
    warps = bins.blocks * bins.threads // 32
    ends = slices * np.arange(warps + 1) // warps
    length = np.diff(ends)[:, None]
    return ends[:-1, None] + length * np.arange(bins.steps + 1) // bins.steps


def check(A, bins, item):
    """Every entry finds its column's value of x at its place of its bin."""
    device, entries = shim().device, A.indices.shape[0]
    x = np.random.default_rng(5).integers(0, 120, A.ncols).astype(TYPES[item])
    filled = device.host(binned_columns.fill(device, bins, device.array(x)))
    places, bases, cols = device.host(bins.places), device.host(bins.bases), device.host(A.indices)
    slices = -(-entries // segments.SLICE)
    seen = np.zeros(slices, bool)
    for warp, row in enumerate(first_slices(bins, slices)):
        for step in range(bins.steps):
            base = bases[warp * 32 // bins.threads * bins.steps + step] * bins.chunk
            for slice_ in range(row[step], row[step + 1]):
                seen[slice_] = True
                at = slice(slice_ * segments.SLICE, min((slice_ + 1) * segments.SLICE, entries))
                place = places[at].astype(np.int64)
                place[place >= bins.hubs] += base - bins.hubs
                assert np.array_equal(filled[place], x[cols[at]])
    assert seen.all()
    assert bins.most == np.diff(bases).max() and bases[-1] == bins.chunks == len(filled) // bins.chunk
    assert bases[0] * bins.chunk == bins.hubs


@pytest.mark.parametrize("item", TYPES)
@pytest.mark.parametrize(("nrows", "ncols", "count"), [(40, 500, 6000), (3, 2000, 5000), (900, 17, 7000), (5, 5, 9)])
def test_places_of_entries(item, nrows, ncols, count):
    A = random_matrix(nrows, ncols, count, item)
    bins = made(A, item)
    check(A, bins, item)
    assert bins.padding >= 1 and bins.most * bins.chunk <= 1024


def skewed_matrix(nrows, ncols, count, seed, make=matrix):
    """Columns of 1 in 5 without entries, others with numbers that fall as 1 / rank, in a random order."""
    rng = np.random.default_rng([34, seed])
    kept = rng.permutation(ncols)[: max(1, ncols * 4 // 5)]
    share = 1 / np.arange(1, kept.size + 1)
    keys = np.unique(rng.integers(0, nrows, count) * ncols + rng.choice(kept, count, p=share / share.sum()))
    return make(keys // ncols, keys % ncols, nrows, ncols)


@pytest.mark.parametrize("item", TYPES)
@pytest.mark.parametrize("hubs", [0, 8, 64, 128])
def test_hubs_and_columns_without_entries(item, hubs):
    A = skewed_matrix(300, 600, 9000, item)
    bins = made(A, item, room=2048 * item, hubs=hubs)
    check(A, bins, item)
    assert (bins.hubs, bins.columns) == (hubs, np.unique(shim().device.host(A.indices)).size - hubs)
    assert bins.hubs + bins.most * bins.chunk <= 2048


@pytest.mark.parametrize("item", TYPES)
@pytest.mark.parametrize("hubs", [0, 64])
def test_products(item, hubs, monkeypatch):
    """With hubs and without, in several steps: as the host computes them."""
    monkeypatch.setattr(segments, "_bins_plan", lambda *facts: (0.0, 1.0, hubs))
    launch = segments._bins_launch

    def little_room(*facts):
        threads = launch(*facts)[1]
        return 1, threads, (hubs + 3 * threads * segments.LANE_ENTRIES) * item

    monkeypatch.setattr(segments, "_bins_launch", little_room)
    A = skewed_matrix(900, 2000, 90_000, item, host_matrix)
    dtype = {1: dtypes.BOOL, 2: dtypes.INT16, 4: dtypes.FP32, 8: dtypes.FP64}[item]
    semiring = get_typed_op("lor_second" if item == 1 else "plus_second", dtype, kind="semiring")
    x = BitmapVector(2000, dtype, None, np.random.default_rng(6).integers(0, 2, 2000).astype(dtype.np_type), 2000)
    with gb.plan(force="segments_binned"):
        agree.assert_same(shim().matvec_rows(A, x, semiring, None), NUMPY.matvec_rows(A, x, semiring, None))
    (columns,) = shim().store_to_device(A).forms["segments"].bins.values()
    assert columns.bins.hubs == hubs and columns.bins.steps > 1


def test_hubs_that_are_all_columns():
    """Nothing is left for the bins, which are there."""
    A = skewed_matrix(300, 20, 3000, 1)
    columns = np.unique(shim().device.host(A.indices)).size
    assert columns == 16
    check(A, made(A, 4, hubs=columns), 4)


def test_hubs_that_leave_no_room():
    A = skewed_matrix(300, 600, 9000, 2)
    assert made(A, 4, room=64 * 4, hubs=64) is None


@pytest.mark.parametrize("item", TYPES)
@pytest.mark.parametrize("more", [-1, 0, 1])
def test_cells_that_are_exactly_full(item, more):
    """Cells of a chunk, two chunks, one entry less and more; a slab's first and last column."""
    size = 2 * binned_columns.chunk_of(item) + more
    cols = np.concatenate([slab * WIDTH + np.arange(WIDTH - size % WIDTH, WIDTH) for slab in range(5)])
    cols = np.unique(np.concatenate([cols, np.arange(5) * WIDTH, np.arange(1, 6) * WIDTH - 1]))
    A = matrix(np.repeat(np.arange(7), len(cols)), np.tile(cols, 7), 7, 5 * WIDTH)
    check(A, made(A, item, 32, 1), item)


@pytest.mark.parametrize("hubs", [None, 8])
@pytest.mark.parametrize("more", [-1, 0, 1, 700])
def test_slabs_of_many_loads(more, hubs, monkeypatch):
    """As many columns as a block loads at a time, one less, one more, and many more."""
    wide = 8 * shim().device.launcher.threads(binned_columns.THREADS) + more
    monkeypatch.setattr(binned_columns, "slab_columns", lambda device, item: wide)
    check(A := random_matrix(3, 2 * wide + 5, 9000, 7), made(A, 4, room=1 << 17, hubs=hubs), 4)


@pytest.mark.parametrize("hubs", [None, 8])
@pytest.mark.parametrize("stages", [1, 2, 5, 90])
def test_blocks_that_keep_together(stages, hubs, monkeypatch):
    """In turns of few or no chunks; what they wait by is zero before and after, so that products may follow."""
    monkeypatch.setattr(binned_columns, "stages_of", lambda *facts: stages)
    A = random_matrix(40, 500, 6000, 8)
    bins = made(A, 4, hubs=hubs, room=1 << 14)
    for _ in range(2):
        check(A, bins, 4)
        assert not shim().device.host(bins.turns).any()


def test_turns_of_short_runs(monkeypatch):
    """Enough turns for the greatest slab, where its cells are short, else one."""
    bins = made(random_matrix(40, 500, 6000, 9), 8)
    assert bins.run == bins.codes.shape[0] * 8 / (bins.slabs * (bins.bases.shape[0] - 1))
    starts = shim().device.host(bins.slab_starts).astype(np.int64)
    assert bins.longest == np.diff(starts).max() > 1
    bins.longest = 1000  # chunks of 32 bytes, two halves each: 500 of a part, 8 a thread and turn
    wanted = {(2, 64): 2, (2, 63): 2, (2, 62): 3, (1, 64): 4, (16, 1024): 1}
    assert {key: binned_columns.stages_of(bins, *key, 8) for key in wanted} == wanted
    monkeypatch.setattr(tuning, "GPU_SHORT_RUN", bins.run)
    assert binned_columns.stages_of(bins, 2, 64, 8) == 1


@pytest.mark.parametrize("less", [0, 1])
def test_a_bin_that_is_exactly_full(less):
    """The greatest bin fills its room; with a byte less there are more steps."""
    A = random_matrix(60, 400, 20_000, 3)
    bins = made(A, 4, 64, 1, room=16_000)
    room = bins.most * bins.chunk * 4
    again = made(A, 4, 64, 1, room=room - less)
    check(A, again, 4)
    assert again.most * again.chunk * 4 <= room - less and (again.steps > bins.steps) == bool(less)


@pytest.mark.parametrize("item", TYPES)
@pytest.mark.parametrize("entries", [1, 8, 255, 256, 257, 1023, 1024, 1025])
def test_a_bin_copied_in_units(item, entries, monkeypatch):
    """A product over bins whose copies take one load of each thread, all loads, one unit more and less."""
    monkeypatch.setattr(segments, "BLOCKS", dict.fromkeys((1, 2, 4, 8, 16), (32, 1)))
    dtype = dtypes.lookup_dtype(TYPES[item])
    semiring = get_typed_op("max_second", dtype, kind="semiring")
    A = convert.compressed(3, entries, dtypes.BOOL, np.full(entries, 1), np.arange(entries), np.ones(1, bool), True)
    x = BitmapVector(entries, dtype, None, np.arange(entries)[::-1].astype(TYPES[item]), entries)
    with gb.plan(force="segments_binned"):
        agree.assert_same(shim().matvec_rows(A, x, semiring, None), NUMPY.matvec_rows(A, x, semiring, None))
    assert any(shim().store_to_device(A).forms["segments"].bins.values())


@pytest.mark.parametrize("shift", [0, 1])
@pytest.mark.parametrize("item", TYPES)
@pytest.mark.parametrize("entries", [255, 256, 257, 700])
def test_values_of_consecutive_entries(item, entries, shift):
    """Whole slices and parts of one, of values at addresses that 16 divides and others; rows that end within lanes."""
    dtype = dtypes.lookup_dtype(TYPES[item])
    semiring = get_typed_op("plus_times", dtype, kind="semiring")
    rows, cols = np.divmod(np.unique(np.arange(entries) // 7 * 300 + np.arange(entries) * 37 % 300), 300)
    values = (np.arange(entries) % 11).astype(TYPES[item])
    A = convert.compressed(100, 300, dtype, rows, cols, values, False)
    x = BitmapVector(300, dtype, None, (np.arange(300) % 7).astype(TYPES[item]), 300)
    there = shim().store_to_device(A)
    room = shim().device.empty(entries + shift, TYPES[item])
    room[shift:] = there.values
    there.values = room[shift:]
    with gb.plan(force="segments_binned"):
        agree.assert_same(shim().matvec_rows(there, x, semiring, None), NUMPY.matvec_rows(A, x, semiring, None))
    assert any(there.forms["segments"].bins.values())


def test_no_number_of_steps():
    """A slice of one warp has more values than the room takes."""
    A = random_matrix(30, 5000, 4000, 4)
    assert made(A, 8, 32, 1, room=64) is None
    assert made(A, 8, 32, 1, room=1 << 16) is not None


def test_slabs_that_do_not_fit_a_table(monkeypatch):
    """More slabs than a block has numbers for: there is no such form."""
    monkeypatch.setattr(binned_columns, "slab_columns", lambda device, item: 1)
    A = random_matrix(2, 40_000, 3000, 5)
    assert made(A, 4) is None


@pytest.mark.parametrize("blocks", [1, 2, 5, 132])
def test_parts_of_a_slab(blocks):
    """Each block gets about the same; a slab is not taken apart where there are many."""
    A = random_matrix(40, 500, 6000, 6)
    bins = made(A, 4)
    parts = binned_columns.parts_of(bins, blocks)
    rounds = -(-bins.slabs * parts // blocks) * blocks / (bins.slabs * parts)
    assert 1 <= parts <= 16 and rounds < 2 or blocks > 16 * bins.slabs
    bins.slabs, bins.chunks = 100 * blocks, 10**9
    assert binned_columns.parts_of(bins, blocks) == 1


def test_expected_padding():
    assert binned_columns.expected_padding(1000, 10, 8) == pytest.approx(1.035)
    assert binned_columns.expected_padding(10, 10**6, 8) == pytest.approx(4.5)
