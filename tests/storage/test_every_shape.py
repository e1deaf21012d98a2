"""Every small shape and every form: orders, rows, kept forms, and the borders between formats."""

import itertools

import numpy as np
import pytest

from grb_tile import dtypes
from grb_tile.exceptions import OutOfMemory
from grb_tile.storage import bit_tiles, bits, convert, dense, properties, tiled, work
from grb_tile.storage.constructors import vector_of_scalar
from grb_tile.storage.report import report
from grb_tile.storage.store import BitmapVector, Compressed, Dense, SparseVector
from support.seeds import generator

SHAPES = list(itertools.product((1, 2, 3, 5), repeat=2))


def flat_vector(rng, size, kind):
    """A bitmap of `size` positions: full or with gaps, of one value or of many."""
    values = np.array([7.0]) if "iso" in kind else rng.integers(1, 99, size).astype(float)
    if "full" in kind:
        return BitmapVector(size, dtypes.FP64, None, values, size, "iso" in kind)
    at = np.flatnonzero(rng.random(size) < 0.6)
    return BitmapVector(size, dtypes.FP64, bits.from_indices(at, size), values, at.shape[0], "iso" in kind)


def as_array(A):
    """Values of a Dense, NaN where there is none, of its shape."""
    values = np.array(np.broadcast_to(A.flat.values, A.flat.size))
    if A.flat.words is not None:
        values[~bits.to_bool(A.flat.words, A.flat.size)] = np.nan
    return values.reshape(A.ncols, A.nrows).T if A.by_columns else values.reshape(A.nrows, A.ncols)


@pytest.mark.parametrize("kind", ["full", "full iso", "gaps", "gaps iso"])
@pytest.mark.parametrize("by_columns", [False, True])
def test_orders_of_dense_matrices(kind, by_columns):
    rng = generator("orders", kind)
    for nrows, ncols in SHAPES:
        A = Dense(nrows, ncols, flat_vector(rng, nrows * ncols, kind), by_columns)
        wanted = as_array(A)
        assert dense.in_order(A, by_columns) is A
        B = dense.in_order(A, not by_columns)
        assert B.by_columns != by_columns and B.shape == A.shape and dense.in_order(A, not by_columns) is B
        np.testing.assert_array_equal(as_array(B), wanted)
        assert (B.flat.nvals, B.flat.iso, B.flat.words is None) == (A.flat.nvals, A.flat.iso, "full" in kind)
        T = dense.transposed(A)
        assert T.shape == (ncols, nrows) and T.shared and T.flat is A.flat
        np.testing.assert_array_equal(as_array(T), wanted.T)
        assert dense.in_two_dimensions(A, np.arange(nrows * ncols)).shape == (nrows, ncols)
        C = dense.by_rows(A)
        assert dense.by_rows(A) is C and C.shape == A.shape and C.iso == A.flat.iso
        rows, found = convert.row_ids(C), np.full(A.shape, np.nan)
        found[rows, C.indices] = C.values
        np.testing.assert_array_equal(found, wanted)
        assert C.indptr[-1] == C.indices.shape[0] == A.flat.nvals and C.indptr.shape == (nrows + 1,)
        for form in ("bitmapr", "bitmapc"):
            again = dense.to_dense(C, form)
            np.testing.assert_array_equal(as_array(again), wanted)
            assert again.by_columns == form.endswith("c")
        for columns in (False, True):
            t = convert.to_sparse(A.flat)
            made = dense.matrix_of(t, nrows, ncols, columns)
            made = made if type(made) is Dense else dense.to_dense(made, "bitmapr")
            np.testing.assert_array_equal(as_array(made), as_array(Dense(nrows, ncols, A.flat, columns)))


def test_densities_at_which_forms_change():
    for lesser, switch in (
        (1, 0.04), (2, 0.05), (3, 0.06), (4, 0.06), (5, 0.08), (8, 0.08), (9, 0.1), (16, 0.1), (17, 0.2), (32, 0.2),
        (33, 0.3), (64, 0.3), (65, 0.4), (1000, 0.4),
    ):  # fmt: skip
        assert dense.bitmap_switch(lesser, 1000) == dense.bitmap_switch(1000, lesser) == switch
    for columns in (False, True):
        for count, of_list, of_bitmap in ((39, "csr", "csr"), (40, "csr", "bitmap"), (80, "csr", "bitmap"),
                                          (81, "bitmap", "bitmap")):  # fmt: skip
            u = SparseVector(1000, dtypes.FP64, np.arange(count, dtype=np.int32), np.ones(count))
            shape = (5, 200) if columns else (200, 5)  # the switch is 0.08
            assert dense.matrix_of(u, *shape, columns).format[:6] == of_list
            assert dense.matrix_of(convert.to_bitmap(u), *shape, columns).format[:6] == of_bitmap
            assert dense.matrix_of(u, *shape, columns, dense=True).format[:6] == "bitmap"


def test_sizes_at_which_vectors_change():
    def chosen(size, count):
        u = SparseVector(size, dtypes.FP64, np.arange(count, dtype=np.int32), np.ones(count))
        return convert.choose_format(u).format, convert.choose_format(convert.to_bitmap(u)).format

    for size, count, wanted in (
        (1024, 64, ("sparse", "bitmap")), (1023, 64, ("bitmap", "bitmap")), (1000, 63, ("sparse", "bitmap")),
        (63, 63, ("bitmap", "bitmap")), (63, 62, ("sparse", "bitmap")), (64, 1, ("sparse", "bitmap")),
        (65, 1, ("sparse", "sparse")), (1, 1, ("bitmap", "bitmap")), (0, 0, ("sparse", "bitmap")),
        (128, 2, ("sparse", "bitmap")), (129, 2, ("sparse", "sparse")),
    ):  # fmt: skip
        assert chosen(size, count) == wanted, (size, count)


def rows_of_one(nrows, count):
    at = np.arange(count, dtype=np.int64)
    return convert.compressed(nrows, 4, dtypes.FP64, at, np.zeros(count, np.int32), np.ones(count))


def test_sizes_at_which_matrices_change():
    for nrows, count, made, of_csr, of_dcsr in (
        (4096, 1, "csr", "csr", "csr"), (4097, 1, "dcsr", "dcsr", "dcsr"), (8000, 500, "csr", "csr", "csr"),
        (8001, 500, "dcsr", "csr", "dcsr"), (8000, 125, "dcsr", "csr", "dcsr"), (8001, 125, "dcsr", "dcsr", "dcsr"),
        (4096, 0, "csr", "csr", "csr"), (4097, 0, "dcsr", "dcsr", "dcsr"),
    ):  # fmt: skip
        A = rows_of_one(nrows, count)
        found = convert.choose_format(convert.to_csr(A)).format, convert.choose_format(convert.to_dcsr(A)).format
        assert (A.format, *found) == (made, of_csr, of_dcsr), (nrows, count)
        assert convert.wants_dcsr(nrows, count) == (made == "dcsr")


def test_sizes_that_are_never_allocated(monkeypatch):
    most = 2**40
    u = SparseVector(most + 1, dtypes.FP64, np.array([5]), np.array([1.0]))
    A = Compressed(most + 1, 4, dtypes.FP64, np.array([0, 1]), np.zeros(1, np.int32), np.ones(1), False, np.array([7]))
    with pytest.raises(OutOfMemory, match=f"a bitmap of {most + 1} positions does not fit in memory; keep the vector"):
        convert.to_bitmap(u)
    with pytest.raises(OutOfMemory, match=f"CSR of {most + 1} rows does not fit in memory; keep the matrix DCSR"):
        convert.to_csr(A)
    asked = []
    for module in (convert, dense):
        monkeypatch.setattr(module, "check_memory", lambda count, what: asked.append((count, what)))
    small = SparseVector(640, dtypes.FP64, np.array([5], np.int32), np.array([1.0]))
    convert.to_bitmap(small)
    convert.to_bitmap(SparseVector(640, dtypes.FP64, np.array([5], np.int32), np.array([1.0]), True))
    convert.all_positions(640, np.int32)
    full = Dense(64, 10, flat_vector(generator("memory"), 640, "full"), False)
    dense.by_rows(full)
    dense.in_order(Dense(64, 10, flat_vector(generator("memory"), 640, "gaps"), False), True)
    assert asked == [
        (80 + 5120, "a bitmap of 640 positions"), (80, "a bitmap of 640 positions"),
        (2560, "the positions of a full vector of size 640"),
        (8 * 65 + 2560, "the indices of a dense matrix of 64 x 10"), (5120, "the positions of a bitmap of 64 x 10"),
    ]  # fmt: skip


def matrices():
    """CSR, and DCSR with a stored row that is empty, of the same entries in 12 rows; and without entries."""
    at = np.array([1, 1, 4, 4, 4, 9])
    cols, values = np.array([0, 3, 1, 2, 4, 2], np.int32), np.arange(1.0, 7)
    A = convert.compressed(12, 5, dtypes.FP64, at, cols, values)
    rows, indptr = np.array([1, 2, 4, 9]), np.array([0, 2, 2, 5, 6])
    hollow = Compressed(12, 5, dtypes.FP64, indptr, cols, values, False, rows)
    none = Compressed(12, 5, dtypes.FP64, np.zeros(1, np.int64), cols[:0], values[:0], False, rows[:0])
    return {"csr": A, "dcsr": convert.to_dcsr(A), "hollow": hollow, "none": none}


@pytest.mark.parametrize("form", matrices())
def test_rows_of_every_form(form):
    A = matrices()[form]
    lengths = np.zeros(12, int)
    if form != "none":
        lengths[[1, 4, 9]] = 2, 3, 1
    asked = np.array([0, 1, 2, 4, 4, 9, 10, 11, 1])
    starts, found = convert.rows_csr(A, asked)
    assert found.tolist() == lengths[asked].tolist()
    for start, length, row in zip(starts.tolist(), found.tolist(), asked.tolist(), strict=True):
        assert A.indices[start : start + length].tolist() == {1: [0, 3], 4: [1, 2, 4], 9: [2]}.get(row, [])[:length]
    assert convert.row_ids(A).tolist() == np.arange(12).repeat(lengths).tolist()
    rows, starts = convert.occupied(A)
    assert rows.tolist() == np.flatnonzero(lengths).tolist()
    assert starts.tolist() == (np.cumsum(lengths) - lengths)[rows].tolist()
    taken = convert.take_rows(A, np.array([0, 4, 9, 11]))
    assert taken.rows.tolist() == ([] if form == "none" else [4, 9]) and taken.shape == (12, 5)
    assert taken.indices.tolist() == ([] if form == "none" else [1, 2, 4, 2])
    assert convert.to_csr(A).indptr.tolist() == [0, *np.cumsum(lengths).tolist()]
    if A.rows is None:
        words, count = convert.occupied_words(A)
        assert count == 3 and bits.to_indices(words, 12).tolist() == [1, 4, 9]
    assert work.least_product(A, rows_of_one(5, 5)) == (0 if form == "none" else 3)


KEPT = {  # what is kept with a store: the key of its form, and its class
    convert.transpose_of: ("transpose", Compressed), convert.row_ids: ("row_ids", np.ndarray),
    convert.occupied: ("occupied", tuple), convert.occupied_words: ("occupied_words", tuple),
    tiled.tiled_of: ("tiled16", tiled.TiledMatrix), bit_tiles.bit_tiles_of: ("bittiled64", bit_tiles.BitTiledMatrix),
    bit_tiles.bit_blocks_of: ("bitblock", bit_tiles.BitBlockMatrix), work.column_counts: ("column_counts", np.ndarray),
}  # fmt: skip


@pytest.mark.parametrize("function", KEPT)
def test_forms_that_are_kept(function):
    key, kind = KEPT[function]
    A, B = (convert.compressed(40, 40, dtypes.FP64, np.arange(40), (np.arange(40) * k % 40).astype(np.int32),
                               np.arange(40.0)) for k in (1, 3))  # fmt: skip
    made = function(A)
    assert type(made) is kind and A.forms[key] is made and function(A) is made
    other = function(B)
    assert type(other) is kind and other is not made and B.forms[key] is other and function(A) is made
    A.forms[key] = kept = object()
    assert function(A) is kept


def test_sizes_of_tiles_are_kept_apart():
    A = rows_of_one(40, 40)
    for function, name in ((tiled.tiled_of, "tiled"), (bit_tiles.bit_tiles_of, "bittiled")):
        made = {nt: function(A, nt) for nt in (16, 32, 64)}
        assert {nt: form.nt for nt, form in made.items()} == {16: 16, 32: 32, 64: 64}
        assert all(A.forms[f"{name}{nt}"] is form is function(A, nt) for nt, form in made.items())


@pytest.mark.parametrize("nt", [16, 32, 64])
def test_tiles_of_nothing(nt):
    A = rows_of_one(40, 0)
    for form in (bit_tiles.bit_tiles_of(A, nt), tiled.tiled_of(A, nt), bit_tiles.bit_blocks_of(A)):
        assert form.nvals == form.ntiles == 0 and form.to_compressed().nvals == 0
    made = bit_tiles.bit_tiles_of(A, nt)
    assert made.row_words.shape == made.tile_col.shape == (0,) and made.row_start.tolist() == [0]


def test_row_numbers_of_small_matrices_are_kept():
    for count in (1 << 14, (1 << 14) + 1):
        A = rows_of_one(count, count)
        assert convert.row_ids(A).shape == (count,)
        assert ("row_ids" in (A.forms or {})) == (count == 1 << 14)
    assert convert.occupied_words(A) == (None, count)  # no row is empty


def test_the_words_of_a_list_are_kept():
    u = SparseVector(100, dtypes.FP64, np.array([3, 99], np.int32), np.ones(2))
    words = convert.words_of(u)
    assert bits.to_indices(words, 100).tolist() == [3, 99] and convert.words_of(u) is words is u.forms["words"]


def test_properties_are_kept_until_they_are_forgotten():
    A, made = rows_of_one(5, 5), []

    def make(value):
        return lambda: made.append(value) or value

    assert properties.known(A) == {} and properties.cached(A, "a", make(None)) is None
    convert.row_ids(A)
    assert [properties.cached(A, *given) for given in (("a", make(1)), ("b", make(2)), ("b", make(3)))] == [None, 2, 2]
    assert made == [None, 2] and properties.known(A) == {"a": None, "b": 2}
    properties.forget(A, ["a", "absent"])
    assert properties.known(A) == {"b": 2} and properties.cached(A, "a", make(4)) == 4
    properties.forget(A)
    assert properties.known(A) == {} and "row_ids" in A.forms
    properties.forget(rows_of_one(5, 5))
    assert properties.is_property(("property", 1)) and not properties.is_property(("device", 1))
    assert not properties.is_property("property")


def test_vectors_of_one_position():
    none, five = vector_of_scalar(None, dtypes.FP32), vector_of_scalar(5, dtypes.FP32)
    assert (none.size, none.nvals, five.size, five.nvals) == (1, 0, 1, 1)
    assert five.values.tolist() == [5.0] and five.values.dtype == np.float32 and five.shared
    assert five.indices.tolist() == [0] and five.indices is vector_of_scalar(6, dtypes.INT8).indices


def test_ranks_in_a_set_without_words():
    assert bits.rank(np.zeros(0, np.uint64), np.zeros(3, np.int64)).tolist() == [0, 0, 0]


def test_values_of_dense_matrices_by_rows():
    for by_columns in (False, True):
        A = Dense(2, 3, BitmapVector(6, dtypes.FP64, None, np.arange(6.0), 6), by_columns)
        assert A.values.tolist() == ([0, 2, 4, 1, 3, 5] if by_columns else [0, 1, 2, 3, 4, 5])
        assert A.indices.tolist() == [0, 1, 2, 0, 1, 2] and A.indptr.tolist() == [0, 3, 6]
        iso = Dense(2, 3, BitmapVector(6, dtypes.FP64, None, np.ones(1), 6, True), by_columns)
        assert iso.values.tolist() == [1.0] and iso.iso


def test_multiplications_are_counted_or_estimated():
    rng = generator("multiplications")

    def some(nrows, ncols, count):
        keys = np.unique(rng.integers(0, nrows * ncols, count))
        return convert.compressed(nrows, ncols, dtypes.FP64, keys // ncols, keys % ncols, np.ones(keys.shape[0]))

    def plain(A):
        found = np.zeros(A.shape, int)
        found[convert.row_ids(A), A.indices] = 1
        return found

    A, B, M = some(20, 30, 150), some(30, 25, 200), some(20, 25, 30)
    a, b, m = plain(A), plain(B), plain(M)
    assert work.products(A, B) == (a @ b).sum()
    assert work.products(A, some(30, 25, 99)) != work.products(A, B) == (a @ b).sum()  # of this B
    C = some(25, 30, 200)
    assert work.products(A, C, False, True) == (a @ plain(C).T).sum()
    assert work.products(convert.transpose_of(A), C, True, True) == (a @ plain(C).T).sum()
    assert work.row_lookups(A, False, M) == (m * a.sum(axis=1)[:, None]).sum()
    assert work.dot_work(B, False, M) == (m * b.sum(axis=0)).sum()
    assert work.dot_work(C, True, M) == (m * plain(C).sum(axis=1)).sum()
    rows = np.flatnonzero(m.any(axis=1))
    assert work.masked_products(A, B, M, False, False) == pytest.approx((a @ b).sum() * a[rows].sum() / a.sum())
    few = some(20, 25, 36)
    assert M.nvals * 4 <= A.nvals < few.nvals * 4 and work.masked_products(A, B, few, False, False) == (a @ b).sum()
    for hyper in (convert.to_dcsr(A), convert.to_dcsr(M)):
        left, mask = (hyper, M) if hyper.nrows == 20 and hyper.ncols == 30 else (A, hyper)
        assert work.row_lookups(left, False, mask) == work.row_lookups(A, True, M) == np.inf
        assert work.masked_products(A, B, convert.to_dcsr(M), False, False) == (a @ b).sum()
    wide = Compressed(3, 4 * 7 + 1025, dtypes.FP64, np.array([0, 7, 7, 7]), np.arange(7, dtype=np.int32), np.ones(7))
    exact = Compressed(3, 4 * 7 + 1024, dtypes.FP64, np.array([0, 7, 7, 7]), np.arange(7, dtype=np.int32), np.ones(7))
    assert work.countable(exact) and not work.countable(wide) and not work.countable(convert.to_dcsr(exact))
    assert work.products(wide, B) == 7 * B.nvals / 30 and work.products(wide, B, False, True) == 7 * B.nvals / 25
    assert work.dot_work(wide, True, M) == M.nvals * 7 / 7
    assert work.least_product(A, B) == (b.sum(axis=1) * a).max(axis=1).sum()


def test_the_reason_of_the_best_form():
    def of(density, n=256):
        at = np.flatnonzero(generator("best form").random(n * n) < density)
        return report(convert.compressed(n, n, dtypes.FP64, at // n, at % n, np.ones(at.shape[0])))

    assert of(0.0).why == "it is empty" and of(0.0).chosen == "dcsr"
    thin, middle, full = of(0.00005), of(0.003), of(0.9)
    assert thin.chosen == "dcsr" and "words and headers of such tiles take more bytes" in thin.why
    assert middle.chosen == "csr" and "with values csr is smallest, while bittiled" in middle.why
    least = min((form for form in middle.nbytes if form.startswith("bittiled")), key=middle.nbytes.get)
    assert f"while {least} stores" in middle.why and least != "bittiled16"
    assert full.chosen == "bitblock" and "of the bytes of csr; bittiled" in full.why
