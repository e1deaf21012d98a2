"""Products of full vectors by equal shares of the entries (kernels/products/segments.cuh), as fibers, against
NumPy's."""

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.arrays import xp
from cuda_emulation.backend import shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile import binary, dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import segments as row_segments
from grb_tile.operators import Monoid, get_typed_op
from grb_tile.operators.semiring import Semiring
from grb_tile.planner import tuning
from grb_tile.storage import convert
from grb_tile.storage.store import BitmapVector, StoredMask
from support import seeds

NUMPY = select.named("numpy")
SEMIRINGS = [
    ("plus_times", "FP64"), ("plus_times", "FP32"), ("plus_times", "INT8"), ("times_plus", "UINT16"), ("min_plus",
    "FP32"),
    ("plus_first", "FP32"), ("plus_second", "INT32"), ("plus_pair", "INT64"), ("plus_times", "FC64"), ("plus_times",
    "FC32"),
    ("max_secondj", "INT64"), ("min_firsti1", "INT32"), ("max_firstj1", "INT64"), ("lxor_eq", "INT8"), ("lor_land",
    "BOOL"),
    ("plus_times", "INT16"), ("min_plus", "UINT8"), ("lor_ne", "INT16"), ("lxor_land", "BOOL"), ("land_lor", "BOOL"),
    ("eq_lxor", "BOOL"), ("land_eq", "BOOL"), ("lxor_second", "BOOL"), ("land_first", "BOOL"),
]  # fmt: skip
KINDS = ("plain", "delta16", "relabelled", "binned")
SHAPES = [
    (50, 70, 300),
    (300, 200, 5000),
    (3, 1500, 2800),
    (2000, 500, 3000),
    (20, 100_000, 3500),
    (600, 300_000, 6000),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of two warps and few of them, so that rows cross warps and blocks; no detour through the host."""
    monkeypatch.setattr(row_segments, "BLOCKS", dict.fromkeys((1, 2, 4, 8, 16), (64, 1)))
    monkeypatch.setattr(tuning, "RELABELLED_ENTRIES", 0)
    monkeypatch.setattr(row_segments, "CACHED_COLUMNS", 16)
    shim().detours.clear()
    yield
    assert not shim().detours


def force(monkeypatch, kind):
    monkeypatch.setattr(tuning, "DELTA16_SHARE", -1.0 if kind == "delta16" else 2.0)
    monkeypatch.setattr(tuning, "RELABELLED_SHARE", -1.0 if kind == "relabelled" else 2.0)
    if kind == "binned":
        monkeypatch.setattr(row_segments, "bins_pay", lambda *facts: (1.0, 2.0))
        monkeypatch.setattr(row_segments.binned_columns, "PLACES", 2048)  # of a bin: several steps


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def random_matrix(rng, nrows, ncols, count, dtype):
    """Lengths of rows and numbers of columns even or steep; some rows hold nothing."""
    rows = rng.integers(0, nrows, count) if rng.integers(2) else (rng.random(count) ** 3 * nrows).astype(np.int64)
    cols = rng.integers(0, ncols, count) if rng.integers(2) else (rng.random(count) ** 4 * ncols).astype(np.int64)
    keys = np.unique(rows * ncols + cols)
    iso = rng.integers(3) == 0
    return convert.compressed(
        nrows, ncols, dtype, keys // ncols, keys % ncols, samples.values(rng, dtype, 1 if iso else keys.size), iso
    )


def full_vector(rng, size, dtype):
    return samples.random_vector(rng, (size, np.arange(size)), dtype, 1.0)


def check(A, x, semiring, kind=None):
    """The first product, and those after the columns were made, and the form that they went by."""
    want = NUMPY.matvec_rows(A, x, semiring, None)
    before = agree.snapshot(A, x)
    for _ in range(tuning.BUILD_AFTER + 2):
        agree.assert_same(shim().matvec_rows(A, x, semiring, None), want)
    assert agree.snapshot(A, x) == before
    form = shim().store_to_device(A).forms.get("segments")  # none where presence alone decides
    if form is not None:
        assert form.arrived[0] == 0
        if kind is not None and form.uses > tuning.BUILD_AFTER:
            binned = any(form.bins.values()) or x.dtype.np_type.itemsize > 8 or A.ncols > 10_000  # an entry a cell
            assert binned if kind == "binned" else form.columns.kind == KINDS.index(kind)


@pytest.mark.parametrize(("name", "type_", "kind"), [
    (*s, kind) for k, s in enumerate(SEMIRINGS) for kind in (KINDS if k < 2 else KINDS[k % 4:k % 4 + 1])])  # fmt: skip
def test_against_numpy(name, type_, kind, monkeypatch):
    force(monkeypatch, kind)
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(KINDS.index(kind), len(name), semiring.type.rank)
    for number in rng.permutation(len(SHAPES))[:4]:
        nrows, ncols, count = SHAPES[number]
        check(
            random_matrix(rng, nrows, ncols, count, semiring.type),
            full_vector(rng, ncols, semiring.type2),
            semiring,
            kind,
        )


def test_early_exit_is_for_long_rows():
    """A terminal saves nothing where a row is one step of the loop that tests for it."""
    semiring = get_typed_op("lor_land", dtypes.BOOL, kind="semiring")
    for nrows, chosen in ((400, True), (2, False)):
        rng = rng_of(nrows)
        A = random_matrix(rng, nrows, 3000, 4000, dtypes.BOOL)
        A = convert.compressed(nrows, 3000, dtypes.BOOL, *NUMPY.tuples_matrix(A)[:2], rng.random(A.nvals) < 0.5)
        check(A, full_vector(rng, 3000, dtypes.BOOL), semiring)
        assert ("segments" in shim().store_to_device(A).forms) is chosen


@pytest.mark.parametrize("entries", [1, 255, 256, 257, 1024, 1025, 5000])
def test_ends_of_slices(entries):
    """One row for all entries, a row for each, and both: the last slice full, missing one, holding one."""
    semiring = get_typed_op("plus_times", dtypes.INT64, kind="semiring")
    rng = rng_of(entries)
    x = full_vector(rng, entries, dtypes.INT64)
    places = np.arange(entries)
    numbers = samples.values(rng, dtypes.INT64, entries)
    for rows in (
        np.zeros(entries, np.int64),
        places,
        np.maximum(places - entries // 2, 0),
        np.minimum(places, entries // 2),
    ):
        check(convert.compressed(entries, entries, dtypes.INT64, rows, places, numbers), x, semiring)


@pytest.mark.parametrize("kind", ["plain", "relabelled"])
def test_huge_dimensions(kind, monkeypatch):
    """Rows of a few held among 2^60; columns stay few, for x is full."""
    force(monkeypatch, kind)
    semiring = get_typed_op("min_plus", dtypes.FP64, kind="semiring")
    rng = rng_of(3)
    rows, cols = samples.dimension(rng, True), (150, np.arange(150))
    A = samples.random_matrix(rng, rows, cols, dtypes.FP64, 0.9)
    x = full_vector(rng, 150, dtypes.FP64)
    agree.assert_same(shim().matvec_rows(A, x, semiring, None), NUMPY.matvec_rows(A, x, semiring, None))


@pytest.mark.parametrize("kind", KINDS)
def test_monoids_without_a_start(kind, monkeypatch):
    """A user's operator: its identity may not be put before the first product."""
    force(monkeypatch, kind)
    capped = Monoid.register_anonymous(binary.register_anonymous(lambda x, y: min(x + y, 7)), 0)
    semiring = Semiring.register_anonymous(capped, binary.times)[dtypes.UINT16]
    rng = rng_of(21)
    for nrows, ncols, count in ((5, 900, 3000), (60, 500, 3000), (1000, 100, 2500)):
        check(
            random_matrix(rng, nrows, ncols, count, dtypes.UINT16),
            full_vector(rng, ncols, dtypes.UINT16),
            semiring,
            kind,
        )


@pytest.mark.parametrize(("name", "kind"), [
    ("lor_land", "plain"), ("lor_land", "delta16"), ("land_lor", "relabelled"), ("lxor_land", "plain"),
    ("eq_lxor", "delta16"),
    ("lxor_gt", "relabelled"),
])  # fmt: skip
def test_bool_as_bits(name, kind, monkeypatch):
    """Many bits at once, few of them true or few false, rows of all lengths: closed in a lane, a slice, a warp, a
    block."""
    force(monkeypatch, kind)
    monkeypatch.setattr(row_segments, "reads_most", lambda device, A: True)
    semiring = get_typed_op(name, dtypes.BOOL, kind="semiring")
    rng = rng_of(9)
    for nrows, ncols, count in ((4, 1500, 4000), (60, 500, 3000), (1000, 100, 2500)):
        keys = np.unique(rng.integers(0, nrows * ncols, count))
        for share in (0.03, 0.5, 0.99):
            A = convert.compressed(
                nrows, ncols, dtypes.BOOL, keys // ncols, keys % ncols, rng.random(keys.size) < share
            )
            x = BitmapVector(ncols, dtypes.BOOL, None, rng.random(ncols) < max(share, 0.5), ncols)
            check(A, x, semiring, kind)
            assert "segments" in shim().store_to_device(A).forms


def test_products_of_bits_for_every_operator():
    """All 16 multiplications of bools, each on the four pairs; the operator of number f gives bit 2 a + x of f."""
    source = """
namespace grb {
template <int F> struct Times {
  static GRB_DEVICE bool times(bool a, bool x, int64_t, int64_t, int64_t) { return F >> (2 * a + x) & 1; }
};
template <int F> GRB_DEVICE void all_products(uint2 a, uint2 x, unsigned* out) {
  if constexpr (F < 16) {
    out[F] = product_bits<Times<F>>(a, x);
    all_products<F + 1>(a, x, out);
  }
}
template <int = 0>
__global__ void products(unsigned a, unsigned a1, unsigned x, unsigned x1, unsigned* out) {
  all_products<0>(make_uint2(a, a1), make_uint2(x, x1), out);
}
}
"""
    out = xp.zeros(16, np.uint32)
    a, x = np.array([0, 0, 1, 1, 1, 0, 1, 0], np.uint8), np.array([0, 1, 0, 1, 0, 0, 1, 1], np.uint8)
    kernel = EmulatedLauncher().kernel("products/segment_rows.cuh", "products", source)
    kernel(1, 1, (*a.view(np.uint32), *x.view(np.uint32), out))
    wanted = [sum((f >> (2 * int(p) + int(q)) & 1) << k for k, (p, q) in enumerate(zip(a, x, strict=True)))
              for f in range(16)]  # fmt: skip
    assert out.tolist() == wanted


@pytest.mark.parametrize(("type_", "offset"), [("BOOL", 1), ("INT8", 3), ("UINT16", 1), ("INT16", 4)])
def test_values_that_begin_anywhere(type_, offset):
    """Small values are loaded eight at once: not where a view of another's array does not begin at such a place."""
    dtype = getattr(dtypes, type_)
    semiring = get_typed_op("lxor_land" if dtype is dtypes.BOOL else "plus_times", dtype, kind="semiring")
    rng = rng_of(offset)
    A = random_matrix(rng, 80, 500, 2600, dtype)
    values = samples.values(rng, dtype, offset + A.nvals)
    A.values, A.iso = values[offset:], False
    shim().store_to_device(A).values = shim().device.array(values)[offset:]
    check(A, full_vector(rng, 500, dtype), semiring)
    assert shim().device.address(shim().store_to_device(A).values) % 16


def test_values_and_x_of_other_sizes():
    """What is exchanged among the lanes, x or products, may be wider than the results."""
    rng = rng_of(8)
    for name, type_, a_type, x_type in (
        ("lor_gt", "FP64", "INT8", "FP64"),
        ("plus_times", "INT64", "BOOL", "INT64"),
        ("lxor_ne", "FP64", "FP64", "BOOL"),
        ("plus_times", "INT16", "INT8", "BOOL"),
    ):
        semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
        A = random_matrix(rng, 90, 400, 3000, getattr(dtypes, a_type))
        check(A, full_vector(rng, 400, getattr(dtypes, x_type)), semiring)


def test_not_a_number_meets_no_identity():
    semiring = get_typed_op("min_plus", dtypes.FP32, kind="semiring")
    A = convert.compressed(
        3, 2, dtypes.FP32, np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([np.nan, np.nan, 2], np.float32)
    )
    check(A, full_vector(rng_of(1), 2, dtypes.FP32), semiring)


def test_no_room_for_other_columns(monkeypatch):
    """Where memory is short the matrix's own columns serve."""
    force(monkeypatch, "delta16")
    monkeypatch.setattr(row_segments, "_is_free", lambda device, count: False)
    semiring = get_typed_op("plus_times", dtypes.FP64, kind="semiring")
    rng = rng_of(5)
    check(random_matrix(rng, 300, 200, 3000, dtypes.FP64), full_vector(rng, 200, dtypes.FP64), semiring, "plain")


def test_columns_are_chosen_by_their_spread(monkeypatch):
    """Near columns are delta-encoded; far ones stay plain, or are relabelled where few hold many entries."""
    semiring = get_typed_op("plus_times", dtypes.INT64, kind="semiring")
    rng = rng_of(6)
    n = 200_000
    rows, near = np.arange(3000).repeat(2), np.arange(6000) % n
    far = np.sort(rng.permutation(n)[:6000].reshape(3000, 2), axis=1).ravel()
    hubs = np.where(np.arange(6000) % 2 == 0, np.arange(6000) // 2 % 7, far.max() // 2 + np.arange(6000))
    for cols, kind in ((near, "delta16"), (far, "plain"), (hubs, "relabelled")):
        A = convert.compressed(3000, n, dtypes.INT64, rows, cols, samples.values(rng, dtypes.INT64, 6000))
        check(A, full_vector(rng, n, dtypes.INT64), semiring, kind)


def test_slices_of_columns_that_are_16_bits_apart():
    """A slice's last column is as far from its first as 16 bits hold, one more, one less; the last slice is a part."""
    kernel = shim().device.launcher.kernel("products/segments_build.cuh", "encode_columns", "", ("int32_t",))
    lows, gaps = np.array([7, 0, 100_000, 3, 11]), np.array([65535, 65536, 65534, 0, 65535])
    columns = np.repeat(lows, row_segments.SLICE)
    columns[row_segments.SLICE - 1 :: row_segments.SLICE] += gaps
    entries = columns.size - 5
    columns[entries - 1] += gaps[-1]
    given = shim().device.array(columns[:entries].astype(np.int32))
    zeros = shim().device.zeros
    offsets, bases, count = zeros(columns.size, np.uint16), zeros(5, np.int32), zeros(1, np.uint64)
    kernel.over(5 * 32, (given, entries, 5, offsets, bases, count))
    fits = gaps < 65536
    assert bases.tolist() == np.where(fits, lows, -1).tolist() and count.tolist() == [fits.sum()]
    # entry 32 u + lane of a slice is element u of the lane's
    found = shim().device.host(offsets).reshape(5, 32, row_segments.LANE_ENTRIES)
    found = found.transpose(0, 2, 1).reshape(-1)[:entries]
    wanted = np.where(np.repeat(fits, row_segments.SLICE), columns - np.repeat(lows, row_segments.SLICE), 0)[:entries]
    assert found.tolist() == wanted.tolist()


# ---------------------------------------------------------------------- x with gaps


GAPPED = [
    ("plus_times", "FP64"), ("plus_times", "FP32"), ("min_plus", "INT64"), ("plus_times", "INT8"), ("lor_land", "BOOL"),
    ("lxor_second", "BOOL"), ("plus_times", "FC64"), ("plus_times", "FC32"), ("max_plus", "UINT16"),
    ("plus_first", "FP32"), ("plus_pair", "INT32"), ("times_second", "INT16"), ("max_secondj", "INT64"),
    ("min_firsti1", "INT32"), ("lxor_eq", "INT8"), ("eq_lxor", "BOOL"),
]  # fmt: skip


def vector_with_gaps(rng, size, dtype, share):
    """A bitmap whose entries are about `share` of the positions."""
    at = np.flatnonzero(rng.random(size) < share)
    x = samples.random_vector(rng, (size, at), dtype, 1.0)
    return convert.to_bitmap(x) if at.size else x


def bitmap(dtype, values, present):
    """The BitmapVector of these values, or of one for all, where `present`."""
    packed = np.packbits(present, bitorder="little")
    words = np.zeros((present.size + 63) // 64 * 8, np.uint8)
    words[: packed.size] = packed
    return BitmapVector(present.size, dtype, words.view(np.uint64), values, int(present.sum()), values.size == 1)


def check_gaps(A, x, semiring, mask=None):
    """The product several times, before and after the columns were encoded; the launches of its form."""
    want = NUMPY.matvec_rows(A, x, semiring, mask)
    for _ in range(tuning.BUILD_AFTER + 2):
        found = shim().matvec_rows(A, x, semiring, mask)
        agree.assert_same(found, want)
        assert found.nvals == want.nvals
    form = (shim().store_to_device(A).forms or {}).get("segments")  # none where x or A is empty
    return {} if form is None else form.launches


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "type_", "kind"), [
    (*s, kind) for k, s in enumerate(GAPPED) for kind in (KINDS if k < 2 else KINDS[k % 4:k % 4 + 1])])  # fmt: skip
def test_gaps_against_numpy(name, type_, kind, monkeypatch):
    """Rows that meet no entry of x have no result; those that meet one have, at every share of gaps."""
    force(monkeypatch, kind)
    monkeypatch.setattr(tuning, "READS_MOST", 0.0)
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(77, KINDS.index(kind), len(name), semiring.type.rank)
    for number, share in zip(rng.permutation(len(SHAPES))[:4], (0.97, 0.6, 0.3, 0.02), strict=True):
        nrows, ncols, count = SHAPES[number]
        A = random_matrix(rng, nrows, ncols, count, semiring.type)
        x = vector_with_gaps(rng, ncols, semiring.type2, share)
        launches = check_gaps(A, x, semiring)
        assert {key[2] for key in launches} <= {row_segments.MARKED, row_segments.BY_BITS}
        assert launches or x.nvals == 0 or name == "lor_land" and A.iso  # then one match decides


@pytest.mark.sampled(2)
@pytest.mark.parametrize("entries", [1, 255, 256, 257, 512, 1024, 1025, 5000])
@pytest.mark.parametrize("share", [0.5, 0.02])
def test_gaps_at_the_ends_of_slices(entries, share):
    """One row, a row for each entry, both: rows across lanes, warps and blocks, of which some meet nothing."""
    semiring = get_typed_op("plus_times", dtypes.INT64, kind="semiring")
    rng = rng_of(entries, 5)
    places = np.arange(entries)
    x = vector_with_gaps(rng, entries, dtypes.INT64, share)
    numbers = samples.values(rng, dtypes.INT64, entries)
    for rows in (np.zeros(entries, np.int64), places, np.maximum(places - entries // 2, 0), places // 40):
        A = convert.compressed(int(rows[-1]) + 1, entries, dtypes.INT64, rows, places, numbers)
        check_gaps(A, x, semiring)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("type_", "bits"), [
    ("INT8", 0xCA), ("INT16", 0xCA53), ("INT32", 0xFFCA5317), ("INT64", 0xFFFACA5317E9ABCD),
    ("FP32", 0xFFCA5317), ("FP64", 0xFFFACA5317E9ABCD)])  # fmt: skip
def test_values_that_mean_absent_are_values_all_the_same(type_, bits, kind, monkeypatch):
    """Where x has the number that stands for a gap among its values, presence bits decide."""
    force(monkeypatch, kind)
    dtype = getattr(dtypes, type_)
    semiring = get_typed_op("max_second" if type_.startswith("INT") else "plus_second", dtype, kind="semiring")
    rng = rng_of(bits & 0xFFFF, KINDS.index(kind))
    A = random_matrix(rng, 300, 200, 5000, dtype)
    present = rng.random(200) < 0.6
    values = samples.values(rng, dtype, 200)
    values[::3] = np.array([bits], np.uint64).view(np.uint8)[: dtype.np_type.itemsize].view(dtype.np_type)[0]
    check_gaps(A, bitmap(dtype, values, present), semiring)


def test_an_iso_vector_with_gaps():
    """Presence alone is gathered."""
    rng = rng_of(91)
    A = random_matrix(rng, 300, 200, 5000, dtypes.FP64)
    x = bitmap(dtypes.FP64, np.array([1.5]), rng.random(200) < 0.6)
    launches = check_gaps(A, x, get_typed_op("plus_times", dtypes.FP64, kind="semiring"))
    assert {key[2] for key in launches} == {row_segments.BY_BITS}


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "type_"), [("plus_times", "FP64"), ("min_plus", "INT64"), ("plus_pair", "INT32"),
                                             ("lor_land", "BOOL"), ("max_firstj1", "INT64")])  # fmt: skip
@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_a_mask_of_many_rows_selects_among_all(name, type_, complement, share, monkeypatch):
    """A list or a bitmap that admits many rows; one that admits few leaves the segments."""
    monkeypatch.setattr(tuning, "READS_MOST", 0.0)
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(78, len(name), semiring.type.rank, complement, int(share))
    for nrows, ncols, count in ((300, 200, 5000), (2000, 500, 3000), (130, 70, 900)):
        A = random_matrix(rng, nrows, ncols, count, semiring.type)
        x = (
            full_vector(rng, ncols, semiring.type2)
            if share == 1
            else vector_with_gaps(rng, ncols, semiring.type2, share)
        )
        for admitted in (0.8, 0.1):
            at = np.flatnonzero(rng.random(nrows) < (1 - admitted if complement else admitted))
            pattern = samples.random_vector(rng, (nrows, at), dtypes.BOOL, 1.0)
            for form in (pattern, convert.to_bitmap(pattern)):
                shim().store_to_device(A).forms = None
                launches = check_gaps(A, x, semiring, StoredMask(form, complement))
                if name not in ("lor_land", "min_plus"):  # of two iso operands one match decides
                    assert bool(launches) is (admitted == 0.8)
