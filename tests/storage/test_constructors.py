"""Vectors as matrices and back, stores of one value, floats as bits; what shares arrays; where memory ends."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import EMULATED, using_shim
from grb_tile import dtypes
from grb_tile.exceptions import OutOfMemory
from grb_tile.storage import constructors, convert, host_memory, place
from grb_tile.storage.dense import compressed, flat_of, in_order, line_numbers, matrix_of
from grb_tile.storage.report import report
from grb_tile.storage.store import Compressed, Dense, StoredMask, same_structure
from support.forms import FORMS, matrix
from support.seeds import generator
from support.stores import vector
from support.written import entries_of

KINDS = [("sparse", False), ("sparse", True), ("bitmap", False), ("bitmap", True), ("full", False), ("full", True)]


def plainly(store):
    return {p if isinstance(p, tuple) else (p,): x for p, x in entries_of(store).items()}


@pytest.mark.parametrize("form, iso", KINDS)
def test_vectors_as_matrices_and_back(form, iso):
    rng = generator("embed", form, iso)
    for size, count in ((9, 4), (100, 100), (70, 1), (5, 0)):
        u = vector(rng, size, count, dtypes.INT16, form, iso and count > 0)
        found = plainly(u)
        for made, shape, position in (
            (constructors.row_matrix(u), (1, size), lambda i: (0, i)),
            (constructors.column_matrix(u), (size, 1), lambda i: (i, 0)),
            (constructors.diagonal_of(u), (size, size), lambda i: (i, i)),
        ):
            assert made.shape == shape and made.dtype is u.dtype and made.iso == u.iso
            assert plainly(made) == {position(i): x for (i,), x in found.items()}
            assert made.rows is None or made.rows.tolist() == sorted(i for (i,) in found)
        assert plainly(constructors.vector_of_row(constructors.row_matrix(u))) == found
        assert plainly(constructors.vector_of_column(constructors.column_matrix(u))) == found
        assert plainly(constructors.vector_of_column(convert.to_csr(constructors.column_matrix(u)))) == found
        assert plainly(constructors.vector_of_column(constructors.diagonal_of(u))) == found  # an entry a row at most
        iso_of = constructors.iso_like(u, dtypes.FP32, 2.5)
        assert plainly(iso_of) == dict.fromkeys(found, 2.5) and iso_of.dtype is dtypes.FP32 and iso_of.iso
        assert same_structure(u, iso_of) and same_structure(u, u)


@pytest.mark.parametrize("form", FORMS)
def test_matrices_of_one_row_or_column(form):
    rng = generator("lines", form)
    A, plain = matrix(rng, form)
    line, column = gb.Matrix._from_store(A._store)[[2], :].new(), A[:, [3]].new()
    for B, take in ((line, constructors.vector_of_row), (column, constructors.vector_of_column)):
        for wanted in ("csr", "bitmapr", "bitmapc"):
            store = gb.backends.select.current().convert(B._store, wanted)
            u = take(store)
            assert sorted(plainly(u).values()) == sorted(plainly(B._store).values())
            assert {i for (i,) in plainly(u)} == {
                max(p) if take is constructors.vector_of_row else p[0] for p in plainly(store)
            }
            if type(store) is Dense:
                assert store.shared and u.shared
    assert plainly(constructors.iso_like(A._store, dtypes.INT8, 3)) == dict.fromkeys(plainly(plain._store), 3)
    assert same_structure(A._store, constructors.iso_like(A._store, dtypes.INT8, 3))
    assert not same_structure(A._store, plain.T.new()._store)


@pytest.mark.parametrize("form", FORMS)
def test_flat_vectors_and_their_matrices(form):
    A, plain = matrix(generator("flat", form), form)
    found = plainly(plain._store)
    by_rows = {(7 * i + j,): x for (i, j), x in found.items()}
    by_cols = {(5 * j + i,): x for (i, j), x in found.items()}
    t = flat_of(A._store, line_numbers)
    assert plainly(t) == by_rows and t.size == 35
    other = flat_of(plain.T.new()._store, line_numbers)
    assert plainly(other) == by_cols
    for u, transposed in ((t, False), (other, True)):
        for dense in (False, True):
            made = matrix_of(u, 5, 7, transposed, dense)
            assert made.shape == (5, 7) and plainly(made) == found
            assert type(made) is Dense or not dense
            assert type(made) is not Dense or made.by_columns == transposed
    few = plain.select("==", 1.0).new()
    for u, transposed in ((few, False), (few.T.new(), True)):  # as sparse as CSR
        made = matrix_of(convert.to_bitmap(flat_of(u._store, line_numbers)), 5, 7, transposed)
        assert plainly(made) == plainly(few._store)
    assert matrix_of(constructors.empty_vector(0, dtypes.INT8), 0, 4).shape == (0, 4)
    assert compressed(A._store).format in ("csr", "dcsr") and plainly(compressed(A._store)) == found
    mask = compressed(StoredMask(A._store, True))
    assert mask.complement and plainly(mask.pattern) == found and not compressed(StoredMask(A._store)).complement


def test_floats_as_bits():
    for dtype, words in (("FP32", np.uint32), ("FP64", np.uint64), ("FC64", np.uint64)):
        u = gb.Vector.from_coo([0, 2, 4, 5], [1.5, 0.0, -0.0, np.nan], dtype, size=6)._store
        bits = constructors.bit_patterns(u)
        assert bits.values.dtype == words and bits.size == 6
        parts = u.values.view(words).reshape(len(u.values), -1)
        assert bits.values.tolist() == np.bitwise_or.reduce(parts, axis=1).tolist()
        assert bits.values.astype(bool).tolist() == [True, False, True, True]
    imaginary = gb.Vector.from_coo([0, 1], [2j, 0j], "FC64", size=3)._store
    assert constructors.bit_patterns(imaginary).values.astype(bool).tolist() == [True, False]
    whole = gb.Vector.from_coo([0], [3], "INT8", size=3)._store
    assert constructors.bit_patterns(whole) is whole


def test_stores_of_one_value_and_of_none():
    assert plainly(constructors.full_matrix(2, 3, dtypes.INT8, 4)) == {(i, j): 4 for i in range(2) for j in range(3)}
    assert constructors.full_matrix(0, 3, dtypes.INT8, 4).nvals == 0 and constructors.full_matrix(
        2, 0, dtypes.INT8, 4
    ).shape == (
        2,
        0,
    )
    assert plainly(constructors.full_vector(3, dtypes.FP32, 4)) == {(i,): 4 for i in range(3)}
    for nrows, form in ((convert.SMALL_ROWS, "csr"), (convert.SMALL_ROWS + 1, "dcsr")):
        A = constructors.empty_matrix(nrows, 5, dtypes.INT8)
        assert A.format == form and A.nvals == 0 and A.values.dtype == np.int8 and A.indptr[-1] == 0
    for dimension, index in ((2**31 - 1, np.int32), (2**31, np.int64)):
        assert constructors.empty_vector(dimension, dtypes.INT8).indices.dtype == index
        assert constructors.empty_matrix(1, dimension, dtypes.INT8).indices.dtype == index


def test_stores_of_nothing_hypersparse():
    nothing = np.empty(0, np.int64)
    A = convert.compressed(10**6, 5, dtypes.INT8, nothing, nothing, np.empty(0, np.int8))
    assert A.format == "dcsr" and A.rows.shape == (0,) and A.indptr.tolist() == [0] and A.nvals == 0
    starts, lengths = convert.rows_csr(A, np.array([3, 5]))
    assert starts.tolist() == lengths.tolist() == [0, 0]
    assert convert.to_csr(A).indptr.tolist() == [0] * (10**6 + 1)
    with pytest.raises(OutOfMemory, match="CSR of .* rows does not fit"):
        convert.to_csr(convert.compressed(2**41, 5, dtypes.INT8, nothing, nothing, np.empty(0, np.int8)))
    assert convert.without_empty_rows(None, nothing) == (None, nothing)


def test_a_symmetric_matrix_is_its_own_transpose():
    A = convert.compressed(3, 3, dtypes.INT8, np.array([0, 1]), np.array([1, 0]), np.array([2, 2], np.int8))
    assert convert.cached_transpose(A) is None
    convert.keep_symmetric(A)
    assert convert.cached_transpose(A) is A is convert.transpose_of(A)


def test_presence_bits_of_rows_are_kept():
    A = convert.compressed(70, 3, dtypes.INT8, np.array([0, 65, 65]), np.array([1, 0, 2]), np.ones(3, np.int8))
    words, count = convert.occupied_words(A)
    assert words.tolist() == [1, 2] and count == 2 and convert.occupied_words(A)[0] is words
    full = convert.compressed(2, 3, dtypes.INT8, np.array([0, 1]), np.array([1, 0]), np.ones(2, np.int8))
    assert convert.occupied_words(full) == (None, 2)


@pytest.mark.parametrize("form, iso", KINDS)
def test_reports_of_vectors(form, iso):
    u = vector(generator("report", form), 200, 50, dtypes.FP32, form, iso)
    found = report(u)
    count, value = (200 if form == "full" else 50), 0 if iso else 4
    assert (found.shape, found.nvals, found.dtype, found.format, found.iso) == ((200, 1), count, "FP32", u.format, iso)
    assert found.nbytes["sparse"] == count * (4 + value) and found.chosen == u.format
    assert found.nbytes["bitmap"] == (0 if form == "full" else 32) + 200 * value
    assert f"{count / 200:.2%} of its positions" in found.why and str(found)
    long = report(convert.to_sparse(gb.Vector.from_coo([5], [1.0], size=2**31)._store))
    assert long.nbytes["sparse"] == 8 + 8 and "0.00%" in long.why


class TestMemory:
    """What fits is asked of a memory that the test makes."""

    @pytest.fixture
    def free(self, monkeypatch):
        """1 GiB is free."""
        monkeypatch.setattr(host_memory, "free_bytes", lambda: 1 << 30)

    def test_what_is_free_fits_and_one_byte_more_does_not(self, free):
        host_memory.check_memory(1 << 30, "a result")
        with pytest.raises(OutOfMemory, match="a result: 1,073,741,825 bytes needed, 1,073,741,824 free; .*  Use a"):
            host_memory.check_memory((1 << 30) + 1, "a result")
        with pytest.raises(OutOfMemory, match="67,108,864 bytes needed, 5 free; .*  Wait"):
            host_memory.check_memory(1 << 26, "a result", "wait", free=5)
        host_memory.check_memory((1 << 26) - 1, "a small one", free=5)

    def test_a_result_of_unknown_size(self, free):
        asked = []

        def least():
            asked.append(1)
            return 1 << 20

        for most in (1 << 10, 1 << 26):  # what fits is not watched, nor asked for its least size
            host_memory.Growth(most, least, 8, "C").add(1 << 40)
        assert not asked
        growing = host_memory.Growth((1 << 26) + 1, least, 8, "C")
        assert asked
        growing.add((1 << 30) - host_memory.SMALL)
        with pytest.raises(OutOfMemory, match="C, as far as it is known: 1,073,741,825 bytes"):
            growing.add((1 << 30) - host_memory.SMALL + 1)
        host_memory.Growth(1 << 40, lambda: 1 << 27, 8, "C", held=1)
        with pytest.raises(OutOfMemory, match="C: at least 134217729 entries"):
            host_memory.Growth(1 << 40, lambda: (1 << 27) + 1, 8, "C")
        assert host_memory.Growth(1 << 26, least, 8, "C", held=3)._tight

    def test_where_nothing_is_known_all_fits(self, monkeypatch):
        monkeypatch.setattr(host_memory, "free_bytes", lambda: None)
        host_memory.check_memory(1 << 60, "a result")
        assert not host_memory.Growth(1 << 60, lambda: 1 << 60, 8, "C")._tight

    @pytest.mark.parametrize("names", [
        ("memory.max", "memory.current", "memory.stat"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
    ])  # fmt: skip
    def test_control_groups(self, tmp_path, names):
        (tmp_path / "memory").mkdir()
        for name, text in zip(names, ("1000\n", "700\n", "anon 5\nactive_file 20\ninactive_file 3\n"), strict=True):
            (tmp_path / name).write_text(text)
        assert host_memory._control_group(tmp_path) == 323
        (tmp_path / names[2]).write_text("anon 5\n")
        assert host_memory._control_group(tmp_path) == 300
        (tmp_path / names[1]).write_text("5000")
        assert host_memory._control_group(tmp_path) == 0
        (tmp_path / names[0]).write_text("max")
        assert host_memory._control_group(tmp_path) is None

    def test_the_least_of_what_is_known_counts(self, monkeypatch):
        for known, wanted in (((5, None, 7), 5), ((None, 3, 7), 3), ((None, None, None), None)):
            for name, value in zip(("_available", "_address_space", "_control_group"), known, strict=True):
                monkeypatch.setattr(host_memory, name, lambda value=value: value)
            assert host_memory.free_bytes() == wanted

    def test_of_the_system(self):
        with open("/proc/meminfo", encoding="ascii") as lines:
            found = dict(line.split(":") for line in lines)
        assert host_memory._available() == pytest.approx(int(found["MemAvailable"].split()[0]) * 1024, rel=0.3)


@pytest.mark.skipif(not EMULATED, reason="the arrays are those of the emulation")
def test_stores_of_a_device():
    """Conversions of storage/ on a device: dense and flat, lines, one value, single elements."""
    rng = generator("device stores")
    plain_of = {form: matrix(rng, form)[1] for form in FORMS}
    parts = {form: (plain.select("<", 3.0).new()._store, plain[:, 3].new()._store) for form, plain in plain_of.items()}
    with using_shim() as backend:
        for form, plain in plain_of.items():
            here = plain._store
            there = here.moved(backend.array)
            assert not place.is_host(there) and place.device_of(there) == "cuda:0" and place.device_of(here) == "cpu"
            found = plainly(here)
            t = flat_of(there, backend.line_numbers)
            for nrows, ncols in ((5, 7), (35, 1), (1, 35)):
                wanted = {divmod(7 * i + j, ncols): x for (i, j), x in found.items()}
                assert plainly(place.host(matrix_of(t, nrows, ncols))) == wanted
            few, column = parts[form]
            tall = matrix_of(flat_of(few.moved(backend.array), backend.line_numbers), 5, 7)
            assert plainly(place.host(tall)) == plainly(few)
            back = place.host(there)
            assert plainly(back) == found and place.host(there) is back and back.shared
            assert place.host(here) is here and place.first_value(here) == place.first_value(there)
            moved = constructors.column_matrix(column).moved(backend.array)
            assert plainly(place.host(constructors.vector_of_column(moved))) == plainly(column)
            as_csr = convert.to_csr(constructors.column_matrix(column)).moved(backend.array)
            assert plainly(place.host(constructors.vector_of_column(as_csr))) == plainly(column)
            fresh = here.moved(backend.array)
            key = next(iter(found))
            limit = -(-fresh.nbytes * place.COPY_NS // place.ELEMENT_NS)
            assert place.is_read_alone(fresh) == (limit > 1) and not place.is_read_alone(here)
            assert place.element(fresh, key) == found[key]
            one = constructors.iso_like(fresh, dtypes.FP64, np.float64(6))
            assert plainly(place.host(one)) == dict.fromkeys(found, 6.0) and place.first_value(one) == 6
        u = in_order(matrix(rng, "bitmapc")[0]._store, True).flat
        assert plainly(place.host(u.moved(backend.array))) == plainly(u)
        wide = Compressed(10**6, 3, dtypes.INT8, *(backend.array(x) for x in (
            np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.array([4, 5, 6], np.int8))),
            rows=backend.array(np.array([7, 900_000])))  # fmt: skip
        made = place.host(matrix_of(flat_of(wide, backend.line_numbers), 10**6, 3))
        assert made.format == "dcsr" and plainly(made) == {(7, 0): 4, (7, 2): 5, (900_000, 1): 6}
