"""Every format gives back the entries that went in: sparse and bitmap, CSR and DCSR, transposes, tiles, bit tiles."""

import gc

import numpy as np
import pytest

from grb_tile import dtypes
from grb_tile.exceptions import OutOfMemory
from grb_tile.storage import bits, convert
from grb_tile.storage.bit_tiles import bit_blocks_from, bit_blocks_of, bit_tiles_from, bit_tiles_of
from grb_tile.storage.report import count_tiles, report
from grb_tile.storage.store import BitmapVector, Compressed, Dense, SparseVector, index_dtype
from grb_tile.storage.tiled import least_entries, tiled_from, tiled_of, tiled_vector_from

SHAPES = [(1, 1), (16, 16), (17, 33), (100, 70), (64, 128), (300, 5)]


def make_matrix(nrows, ncols, count, seed=0, iso=False, dtype=dtypes.FP64):
    rng = np.random.default_rng(seed)
    places = np.unique(rng.integers(0, nrows * ncols, count)) if count else np.empty(0, np.int64)
    values = np.ones(1, dtype.np_type) if iso else rng.integers(1, 100, places.shape[0]).astype(dtype.np_type)
    if iso and not places.shape[0]:
        values, iso = values[:0], False
    return convert.compressed(nrows, ncols, dtype, places // ncols, places % ncols, values, iso)


def triples(A):
    values = np.broadcast_to(A.values, (A.nvals,)) if A.iso else A.values
    return list(zip(convert.row_ids(A).tolist(), A.indices.tolist(), values.tolist(), strict=True))


def check_schema(A):
    assert A.indptr.dtype == np.int64 and A.indices.dtype == index_dtype(A.ncols)
    assert A.indptr[0] == 0 and A.indptr[-1] == A.indices.shape[0]
    assert A.values.shape[0] == (1 if A.iso else A.indices.shape[0])
    for r in range(A.indptr.shape[0] - 1):
        assert (np.diff(A.indices[A.indptr[r] : A.indptr[r + 1]].astype(np.int64)) > 0).all()
    if A.rows is None:
        assert A.indptr.shape[0] == A.nrows + 1
    else:
        assert (np.diff(A.rows) > 0).all() and A.rows.shape[0] + 1 == A.indptr.shape[0] and A.rows.dtype == np.int64


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [0, 1, 40, 2000])
@pytest.mark.parametrize("iso", [False, True])
def test_matrix_round_trips(shape, count, iso):
    A = make_matrix(*shape, count, seed=count, iso=iso)
    check_schema(A)
    expected = triples(A)
    hyper = convert.to_dcsr(A)
    check_schema(hyper)
    assert hyper.format == "dcsr" and triples(hyper) == expected
    back = convert.to_csr(hyper)
    check_schema(back)
    assert back.format == "csr" and triples(back) == expected
    for source in (A, hyper):
        T = convert.transpose_of(source)
        check_schema(T)
        assert triples(T) == sorted((j, i, v) for i, j, v in expected)
        tiled = [tiled_from(source, nt, least) for nt in (16, 32, 64) for least in (None, 1, 1000)]
        for form in (*tiled, bit_blocks_from(source)):
            assert form.nvals == source.nvals and form.nbytes >= 0
            result = form.to_compressed()
            check_schema(result)
            assert triples(result) == expected
        for nt in (16, 32, 64):
            result = bit_tiles_from(source, nt).to_compressed()
            check_schema(result)
            assert triples(result) == [(i, j, True) for i, j, _ in expected]


def test_transpose_is_kept_and_finds_the_way_back():
    A = make_matrix(30, 40, 200)
    T = convert.transpose_of(A)
    assert convert.transpose_of(A) is T and convert.cached_transpose(A) is T
    assert convert.transpose_of(T) is A
    del A
    gc.collect()
    assert convert.cached_transpose(T) is None  # T does not keep its origin alive
    assert triples(convert.transpose_of(convert.transpose_of(T))) == triples(T)


def test_hypersparse_costs_nothing_of_the_dimension():
    n = 2**60
    rows, cols = np.array([5, 2**50, 2**59]), np.array([2**59, 1, 7])
    A = convert.compressed(n, n, dtypes.INT64, rows, cols, np.array([1, 2, 3]))
    assert A.format == "dcsr" and A.nbytes < 200
    T = convert.transpose_of(A)
    assert triples(T) == [(1, 2**50, 2), (7, 2**59, 3), (2**59, 5, 1)]
    with pytest.raises(OutOfMemory):
        convert.to_csr(A)
    with pytest.raises(OutOfMemory):
        tiled_from(A)
    u = SparseVector(n, dtypes.INT64, np.array([3, 2**58]), np.array([1, 2]))
    assert convert.choose_format(u) is u
    with pytest.raises(OutOfMemory):
        convert.to_bitmap(u)
    assert report(A).chosen == "dcsr"


@pytest.mark.parametrize("size", [1, 16, 65, 1000])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize("iso", [False, True])
def test_vector_round_trips(size, share, iso):
    rng = np.random.default_rng(size)
    indices = np.flatnonzero(rng.random(size) < share).astype(np.int32)
    iso = iso and indices.shape[0] > 0
    values = np.array([7]) if iso else rng.integers(1, 9, indices.shape[0])
    u = SparseVector(size, dtypes.INT64, indices, values, iso)
    bitmap = convert.to_bitmap(u)
    assert bitmap.nvals == u.nvals and (bitmap.words is None) == (u.nvals == size)
    for form in (bitmap, tiled_vector_from(u, 16).to_vector(), tiled_vector_from(bitmap, 64).to_vector(),
                 tiled_vector_from(u, 32).to_vector()):  # fmt: skip
        back = convert.to_sparse(form)
        assert back.indices.tolist() == indices.tolist() and back.indices.dtype == np.int32
        assert np.broadcast_to(back.values, indices.shape).tolist() == np.broadcast_to(values, indices.shape).tolist()
    present, found = tiled_vector_from(u).lookup(np.arange(size))
    assert np.flatnonzero(present).tolist() == indices.tolist()
    assert found[indices].tolist() == np.broadcast_to(values, indices.shape).tolist()
    assert (convert.words_of(u) is None) == (u.nvals == size)


def test_a_conversion_that_copies_no_array_marks_both_sides():
    full = convert.to_bitmap(SparseVector(3, dtypes.FP64, np.arange(3, dtype=np.int32), np.array([1.0, 2.0, 3.0])))
    full.shared = False
    listed = convert.to_sparse(full)
    assert listed.values is full.values
    assert full.shared and listed.shared
    A = make_matrix(300, 5, 40, seed=3)
    hyper = convert.to_dcsr(A)
    assert hyper.values is A.values and A.shared and hyper.shared
    hyper.shared = False
    back = convert.to_csr(hyper)
    assert back.values is hyper.values and back.shared and hyper.shared


@pytest.mark.parametrize("iso", [False, True])
def test_bytes_are_those_of_the_arrays(iso):
    A = make_matrix(300, 70, 4000, seed=3)
    u = SparseVector(900, dtypes.FP64, np.arange(700, dtype=np.int32), np.ones(1 if iso else 700), iso)
    flat = BitmapVector(21000, dtypes.FP32, np.ones(329, np.uint64), np.ones(1 if iso else 21000, np.float32), 329, iso)
    for store in (A, convert.to_dcsr(A), u, convert.to_bitmap(u), flat):
        arrays = [getattr(store, name, None) for name in ("indptr", "indices", "rows", "words", "values")]
        assert store.nbytes == sum(array.nbytes for array in arrays if array is not None), store.format
    assert Dense(300, 70, flat, False).nbytes == flat.nbytes


def test_rows_that_are_taken_are_those_with_entries():
    A = make_matrix(300, 5, 40, seed=3)
    rows = np.arange(10, 200, dtype=np.int64)
    for form in (A, convert.to_dcsr(A)):
        taken = convert.take_rows(form, rows)
        assert triples(taken) == [entry for entry in triples(A) if 10 <= entry[0] < 200]
        assert taken.rows.tolist() == sorted({i for i, _, _ in triples(taken)}) and (np.diff(taken.indptr) > 0).all()


def test_a_vector_of_no_positions_is_not_iso():
    """An iso store has one value in its array; a vector of size 0 has none."""
    nothing = SparseVector(0, dtypes.FP64, np.empty(0, np.int32), np.empty(0), True)
    assert not convert.to_bitmap(nothing).iso


def test_a_change_of_format_keeps_only_forms_of_the_entries():
    """What is cached by stored row, such as degrees, does not fit the other format."""
    A = make_matrix(300, 5, 40, seed=3)
    T, ids = convert.transpose_of(A), convert.row_ids(A)
    convert.forms_of(A)["degrees"] = np.diff(A.indptr)
    hyper = convert.to_dcsr(A)
    assert set(hyper.forms) == {"transpose", "row_ids", "occupied"}
    assert hyper.forms["transpose"] is T and hyper.forms["row_ids"] is ids


def test_occupied_rows_of_a_hypersparse_matrix_with_empty_stored_rows():
    rows, indptr = np.array([1, 4, 6, 9]), np.array([0, 0, 2, 2, 3])
    A = Compressed(10, 5, dtypes.FP64, indptr, np.array([0, 3, 1], np.int32), np.ones(3), False, rows)
    used, starts = convert.occupied(A)
    assert used.tolist() == [4, 9] and starts.tolist() == [0, 2]


def test_choose_format_has_hysteresis():
    size = 6400
    values = np.ones(size)

    def with_entries(count):
        return SparseVector(size, dtypes.FP64, np.arange(count, dtype=np.int32), values[:count])

    assert convert.choose_format(with_entries(400)).format == "sparse"
    assert convert.choose_format(with_entries(401)).format == "bitmap"
    assert convert.choose_format(convert.to_bitmap(with_entries(100))).format == "bitmap"
    assert convert.choose_format(convert.to_bitmap(with_entries(99))).format == "sparse"
    full = convert.to_bitmap(with_entries(200))
    full.words, full.nvals = bits.full(size), size
    assert convert.choose_format(full).words is None
    tall = make_matrix(10000, 4, 100)
    assert tall.format == "dcsr"
    assert convert.choose_format(convert.to_csr(tall)).format == "dcsr"
    middle = make_matrix(10000, 4, 300)
    assert middle.format == "dcsr" and convert.choose_format(convert.to_csr(middle)).format == "csr"
    assert convert.choose_format(convert.to_dcsr(make_matrix(10000, 4, 2000))).format == "csr"


def test_tile_schema_by_hand():
    indptr, indices = np.array([0, 2, 3] + [3] * 15 + [4, 5, 5]), np.array([0, 17, 15, 39, 2], np.int32)
    A = Compressed(20, 40, dtypes.FP64, indptr, indices, np.arange(5.0))
    T = tiled_from(A, 16, 2)
    assert T.tile_ptr.tolist() == [0, 1, 1] and T.tile_col.tolist() == [0] and T.tile_nnz.tolist() == [0, 2]
    assert T.local_col.tolist() == [0, 15] and T.row_start.dtype == np.uint8
    assert T.row_start[0].tolist() == [0, 1] + [2] * 14
    assert (T.rest_ptr.tolist(), T.rest_row.tolist(), T.rest_col.tolist()) == ([0, 1, 3], [0, 1, 2], [17, 39, 2])
    assert T.values.tolist() == [0.0, 2.0] and T.rest_values.tolist() == [1.0, 3.0, 4.0]
    T = tiled_from(A, 32, 3)
    assert T.tile_ptr.tolist() == [0, 1] and T.tile_col.tolist() == [0] and T.row_start.dtype == np.uint16
    assert T.local_col.tolist() == [0, 17, 15, 2] and T.row_start[0].tolist() == [0, 2] + [3] * 17 + [4] * 13
    assert (T.rest_ptr.tolist(), T.rest_row.tolist(), T.rest_col.tolist()) == ([0, 1], [17], [39])
    B = bit_tiles_from(A, 32)
    assert B.tile_row_ptr.tolist() == [0, 2] and B.tile_col.tolist() == [0, 1]
    assert B.row_map.tolist() == [1 | 1 << 1 | 1 << 18, 1 << 17] and B.row_start.tolist() == [0, 3, 4]
    assert B.row_words.tolist() == [1 | 1 << 17, 1 << 15, 1 << 2, 1 << 7] and B.row_words.dtype == np.uint32
    assert B.tile_col_ptr.tolist() == [0, 1, 2] and B.tile_row.tolist() == [0, 0] and B.col_start.tolist() == [0, 4, 5]
    assert B.col_map.tolist() == [1 | 1 << 2 | 1 << 15 | 1 << 17, 1 << 7] and B.col_words.tolist() == [
        1,
        1 << 18,
        2,
        1,
        1 << 17,
    ]
    C = bit_blocks_from(A)
    assert C.block_ptr.tolist() == [0, 3, 3, 5] and C.block_col.tolist() == [0, 1, 2, 0, 4]
    assert C.block_map.tolist() == [1, 1 << 15, 1 << 1, 1 << (16 + 2), 1 << (8 + 7)]
    assert C.values.tolist() == [0.0, 2.0, 1.0, 4.0, 3.0]


def test_a_full_tile_fits_its_bytes():
    A = make_matrix(16, 16, 100000)
    assert A.nvals == 256
    T = tiled_from(A)
    assert T.row_start[0].tolist() == list(range(0, 256, 16)) and T.tile_nnz.tolist() == [0, 256]
    assert triples(T.to_compressed()) == triples(A)
    A = make_matrix(64, 64, 100000)
    T = tiled_from(A, 64)
    assert T.row_start[0].tolist() == list(range(0, 4096, 64)) and triples(T.to_compressed()) == triples(A)


@pytest.mark.parametrize("nt", [16, 32, 64])
def test_a_tile_never_takes_more_bytes_than_its_entries(nt):
    """least_entries: a tile of one entry fewer would; one of as many as that does not."""
    least = least_entries(nt)
    for count, tiles in ((least - 1, 0), (least, 1)):
        A = convert.compressed(nt, nt, dtypes.FP64, np.arange(count), np.arange(count), np.ones(count))
        kept, rest = tiled_from(A, nt), tiled_from(A, nt, count + 1)
        assert kept.ntiles == tiles and kept.nbytes <= rest.nbytes
        assert tiles or tiled_from(A, nt, 1).nbytes > rest.nbytes


def test_symmetric_structure_keeps_one_array():
    A = make_matrix(100, 100, 600)
    rows, cols = convert.row_ids(A), A.indices.astype(np.int64)
    places = np.unique(np.concatenate((rows * 100 + cols, cols * 100 + rows)))
    S = convert.compressed(100, 100, dtypes.BOOL, places // 100, places % 100, np.ones(1, bool), True)
    assert bit_tiles_from(S).symmetric and bit_tiles_from(S, 32, True).symmetric
    assert not bit_tiles_from(S, 64, False).symmetric and not bit_tiles_from(A).symmetric
    assert bit_tiles_from(S).nbytes * 2 == bit_tiles_from(S, 64, False).nbytes
    assert bit_tiles_of(S) is bit_tiles_of(S) and tiled_of(S) is tiled_of(S) and bit_blocks_of(S) is bit_blocks_of(S)


def test_report_follows_occupancy():
    dense = make_matrix(64, 64, 100000)
    found = report(dense)
    assert found.tiles[16].count == 16 and found.tiles[16].entries_per_tile == 256 and found.tiles[16].most == 256
    assert found.chosen in ("tiled16", "tiled32", "tiled64", "bitblock") and "16 x 16" in found.why
    for form, made in (("tiled16", tiled_from(dense)), ("tiled64", tiled_from(dense, 64)),
                       ("bitblock", bit_blocks_from(dense)), ("csr", dense),
                       ("bittiled64", bit_tiles_from(dense, 64, True))):  # fmt: skip
        assert found.nbytes[form] == made.nbytes
    thin = make_matrix(3000, 3000, 4000)
    assert report(thin).chosen == "csr" and "cached" not in str(report(thin))
    tiled_of(thin, 32)
    assert report(thin).nbytes["tiled32"] == tiled_of(thin, 32).nbytes
    assert report(thin).built == ("tiled32",) and "cached" in str(report(thin))
    assert "best form" in str(report(make_matrix(5, 5, 0)))
    assert count_tiles(thin, 16).count == len({(i // 16, j // 16) for i, j, _ in triples(thin)})


@pytest.mark.parametrize("nt", [8, 16, 32, 64])
def test_tiles_of_exactly_the_least_entries_are_crowded(nt):
    least = least_entries(nt)
    sizes = [least - 1, least, least + 1]  # of three tiles beside each other
    cols = np.concatenate([nt * t + np.arange(size) % nt for t, size in enumerate(sizes)])
    rows = np.concatenate([np.arange(size) // nt for size in sizes])
    order = np.lexsort((cols, rows))
    A = convert.compressed(nt, 3 * nt, dtypes.FP64, rows[order], cols[order].astype(np.int32), np.ones(rows.shape[0]))
    found = count_tiles(A, nt)
    assert (found.count, found.crowded, found.in_crowded) == (3, 2, 2 * least + 1)


def test_report_of_a_sample_is_near(monkeypatch):
    from grb_tile.storage import report as module

    A = make_matrix(4000, 4000, 60000)
    exact = count_tiles(A, 16)
    monkeypatch.setattr(module, "SAMPLE", 10000)
    near = count_tiles(A, 16)
    assert near.estimated and not exact.estimated
    assert abs(near.count - exact.count) < 0.1 * exact.count


def test_indices_of_a_large_bitmap_with_few_entries_have_the_type_of_the_size():
    u = SparseVector(12800, dtypes.FP64, np.array([1, 70, 9000], np.int32), np.array([1.0, 2.0, 3.0]))
    found = convert.to_sparse(convert.to_bitmap(u))
    assert found.indices.dtype == index_dtype(u.size) and found.indices.tolist() == [1, 70, 9000]


def test_rows_without_entries_are_dropped():
    """The first, one between, the last of the listed rows: each set of empty rows of four."""
    for empty in range(16):
        lengths = np.array([0 if empty >> k & 1 else k + 1 for k in range(4)])
        rows, indptr = convert.without_empty_rows(np.array([2, 3, 5, 9]), np.append(0, np.cumsum(lengths)))
        kept = lengths > 0
        assert rows.tolist() == np.array([2, 3, 5, 9])[kept].tolist(), lengths
        assert indptr.tolist() == [0, *np.cumsum(lengths[kept]).tolist()], lengths


def test_report_of_dense_matrices():
    """Rows with entries and the longest row, of a full and a bitmap matrix that is not square."""
    for nrows, ncols in ((2, 5), (5, 2)):
        full = convert.to_bitmap(SparseVector(10, dtypes.FP64, np.arange(10, dtype=np.int32), np.arange(10.0)))
        found = report(Dense(nrows, ncols, full))
        assert (found.occupied_rows, found.longest_row) == (nrows, ncols)
        some = np.arange(ncols, 10 - 1, dtype=np.int32)  # the first row is empty, the last one lacks its last entry
        thin = convert.to_bitmap(SparseVector(10, dtypes.FP64, some, np.arange(some.size, dtype=float)))
        found = report(Dense(nrows, ncols, thin))
        assert (found.occupied_rows, found.longest_row) == (nrows - 1, ncols if nrows > 2 else ncols - 1)
