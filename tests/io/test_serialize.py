"""The .grb format: round trips of every type and format, and detection of damage."""

import json
import struct
import zlib
from importlib import import_module

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import io as grb_io
from grb_tile.exceptions import InvalidObject
from grb_tile.storage.store import BitmapVector, Compressed, SparseVector

fmt = import_module("grb_tile.io.serialize")  # io.serialize is the function
TYPES = [
    "BOOL",
    "INT8",
    "INT16",
    "INT32",
    "INT64",
    "UINT8",
    "UINT16",
    "UINT32",
    "UINT64",
    "FP32",
    "FP64",
    "FC32",
    "FC64",
]


def small_csr():
    return Compressed(5, 7, None, np.array([0, 2, 2, 3, 3, 5]), np.array([1, 3, 0, 2, 6], np.int32), np.arange(5.0))


def stores():
    words = np.array([0b1011, 1], np.uint64)
    yield "csr", small_csr()
    yield "empty csr", Compressed(2, 0, None, np.zeros(3, np.int64), np.zeros(0, np.int32), np.zeros(0))
    yield "iso csr", Compressed(2, 9, None, np.array([0, 1, 3]), np.array([8, 0, 4], np.int32), np.ones(1), True)
    yield (
        "dcsr",
        Compressed(
            2**60, 2**40, None, np.array([0, 1, 3]), np.array([7, 0, 2**39]), np.arange(3.0), rows=np.array([5, 2**59])
        ),
    )
    yield "sparse", SparseVector(10, None, np.array([2, 9], np.int32), np.array([1.5, -1]))
    yield "bitmap", BitmapVector(65, None, words, np.arange(65.0), 4)
    yield "full iso", BitmapVector(65, None, None, np.ones(1), 65, True)


@pytest.mark.parametrize("name, store", list(stores()), ids=[name for name, _ in stores()])
@pytest.mark.parametrize("compression", [0, 1, 9])
def test_every_store_comes_back_as_it_was(name, store, compression):
    head, arrays = fmt.unpack_store(fmt.pack_store(fmt.store_parts(store, "FP64"), compression))
    assert head["format"] == store.format and head["nvals"] == store.nvals and head["iso"] == store.iso
    assert tuple(head["shape"]) == store.shape
    for key, array in arrays.items():
        expected = getattr(store, key)
        assert array.dtype == expected.dtype
        np.testing.assert_array_equal(array, expected)


def large_csr(n=3000):
    rng = np.random.default_rng(3)
    degrees = rng.integers(0, 5, n)
    indptr = np.concatenate([[0], np.cumsum(degrees)])
    indices = np.concatenate([np.sort(rng.choice(n, d, replace=False)) for d in degrees]).astype(np.int32)
    return Compressed(n, n, None, indptr, indices, rng.random(len(indices)))


def test_large_arrays_are_compressed_and_come_back():
    store = large_csr()
    packed = fmt.pack_store(fmt.store_parts(store, "FP64"), 1)
    assert len(packed) < store.nbytes
    _, arrays = fmt.unpack_store(packed)
    for key in ("indptr", "indices", "values"):
        np.testing.assert_array_equal(arrays[key], getattr(store, key))


def test_every_truncation_and_every_flipped_bit_is_found():
    data = fmt.pack_store(fmt.store_parts(small_csr(), "FP64"))
    for end in range(len(data)):
        with pytest.raises(InvalidObject):
            fmt.unpack_store(data[:end])
    for at in range(len(data)):
        for bit in range(8):
            damaged = bytearray(data)
            damaged[at] ^= 1 << bit
            with pytest.raises(InvalidObject):
                fmt.unpack_store(bytes(damaged))
    with pytest.raises(InvalidObject, match="appended"):
        fmt.unpack_store(data + b"\0")


def test_damage_in_a_compressed_file_is_found():
    data = fmt.pack_store(fmt.store_parts(large_csr(), "FP64"))
    rng = np.random.default_rng(5)
    for _ in range(200):
        damaged = bytearray(data)
        damaged[rng.integers(len(data))] ^= int(rng.integers(1, 256))
        with pytest.raises(InvalidObject):
            fmt.unpack_store(bytes(damaged))
        with pytest.raises(InvalidObject):
            fmt.unpack_store(data[: rng.integers(len(data))])


def forged(change, arrays=None):
    """A file whose checksums are right but whose header or arrays lie."""
    head, real = fmt.store_parts(small_csr(), "FP64")
    data = fmt.pack_store((head, {**real, **(arrays or {})}), 0)
    length = struct.unpack_from("<I", data, 12)[0]
    header = json.loads(data[20 : 20 + length])
    change(header)
    text = json.dumps(header).encode()
    return fmt.HEAD.pack(fmt.MAGIC, fmt.VERSION, len(text), zlib.crc32(text)) + text + data[20 + length :]


LIES = [
    (lambda h: h.update(shape=[5, 6]), "outside 0..5"),
    (lambda h: h.update(shape=[4, 7]), "indptr has 6 elements"),
    (lambda h: h.update(shape=[-1, 7]), "dimension"),
    (lambda h: h.update(shape=[2**61, 7]), "dimension"),
    (lambda h: h.update(shape=[5.0, 7]), "dimension"),
    (lambda h: h.update(shape=[5]), "does not fit a matrix"),
    (lambda h: h.update(nvals=4), "values where 4"),
    (lambda h: h.update(nvals=True), "nvals"),
    (lambda h: h.update(iso=True), "5 values where 1"),
    (lambda h: h.update(iso=1), "iso must be"),
    (lambda h: h.update(dtype="FP32"), "values are float64"),
    (lambda h: h.update(dtype="object"), "unknown type"),
    (lambda h: h.update(kind="graph"), "unknown kind"),
    (lambda h: h.update(format="dcsr"), "has the arrays"),
    (lambda h: h.update(format="bitmap"), "unknown format"),
    (lambda h: h.pop("iso"), "malformed"),
    (lambda h: h.update(arrays=7), "malformed"),
    (lambda h: h["arrays"][0].update(dtype="O"), "does not occur|malformed"),
    (lambda h: h["arrays"][0].update(dtype="<i4"), "has 48 bytes"),
    (lambda h: h["arrays"][0].update(coding="pickle"), "unknown coding"),
    (lambda h: h["arrays"][0].update(coding="shuffle-zlib"), "decompressed"),
    (lambda h: h["arrays"][0].update(coding="shuffle-zlib", length=10**9), "cannot hold"),
    (lambda h: h["arrays"][0].update(stored=10**6), "truncated"),
    (lambda h: h["arrays"][0].update(stored=-1), "stored"),
    (lambda h: h["arrays"][1].update(name="indptr"), "listed twice"),
]


@pytest.mark.parametrize("change, message", LIES)
def test_a_header_that_lies_is_refused(change, message):
    with pytest.raises(InvalidObject, match=message):
        fmt.unpack_store(forged(change))


ARRAYS = [
    ({"indptr": np.array([0, 2, 1, 3, 3, 5])}, "descends"),
    ({"indptr": np.array([1, 2, 2, 3, 3, 5])}, "runs from 1"),
    ({"indptr": np.array([0, 2, 2, 3, 3, 4])}, "runs from 0 to 4"),
    ({"indices": np.array([3, 1, 0, 2, 6], np.int32)}, "not sorted"),
    ({"indices": np.array([1, 1, 0, 2, 6], np.int32)}, "not sorted, or not unique"),
    ({"indices": np.array([1, 3, 0, 2, 7], np.int32)}, "outside 0..6"),
    ({"indices": np.array([1, 3, -1, 2, 6], np.int32)}, "outside 0..6"),
    ({"indices": np.array([1, 3, 0, 2, 6])}, "indices are int64"),
]


@pytest.mark.parametrize("arrays, message", ARRAYS)
def test_arrays_that_make_no_matrix_are_refused(arrays, message):
    with pytest.raises(InvalidObject, match=message):
        fmt.unpack_store(forged(lambda head: None, arrays))


def refused(store, dtype_name, message, change=None, **arrays):
    """A file of `store` with other arrays or header fields, and right checksums, is refused with `message`."""
    head, real = fmt.store_parts(store, dtype_name)
    head.update(change or {})
    with pytest.raises(InvalidObject, match=message):
        fmt.unpack_store(fmt.pack_store((head, {**real, **arrays}), 0))


def test_stored_rows_that_make_no_matrix_are_refused():
    A = Compressed(9, 3, None, np.array([0, 1, 2]), np.array([0, 2], np.int32), np.ones(2), False, np.array([2, 5]))
    for rows, message in (
        ([5, 2], "not sorted"),
        ([2, 2], "not unique"),
        ([2, 9], "outside 0..8"),
        ([-1, 5], "outside"),
    ):
        refused(A, "FP64", message, rows=np.array(rows))


def test_vectors_that_make_no_vector_are_refused():
    v = SparseVector(9, None, np.array([2, 5], np.int32), np.ones(2))
    for indices, message in (([5, 2], "not sorted"), ([2, 2], "not unique"), ([2, 9], "outside 0..8")):
        refused(v, "FP64", message, indices=np.array(indices, np.int32))
    full = BitmapVector(3, None, None, np.ones(3), 3)
    refused(full, "FP64", "is full: 2 entries at 3 positions", change={"nvals": 2})


def test_a_boolean_is_0_or_1():
    v = SparseVector(9, None, np.array([2, 5], np.int32), np.array([1, 2], np.uint8).view(np.bool_))
    refused(v, "BOOL", "neither 0 nor 1")


@pytest.mark.parametrize("length", [1, 3])
def test_an_array_that_decompresses_to_another_length_is_refused(length):
    """Its checksum is right, and the numbers that come out are as many as the header says, or more."""
    v = SparseVector(9, None, np.array([2, 5], np.int32), np.ones(2))
    head, arrays = fmt.store_parts(v, "FP64")
    data = fmt.pack_store((head, arrays), 0)
    size = struct.unpack_from("<I", data, 12)[0]
    header = json.loads(data[20 : 20 + size])
    block = zlib.compress(np.ones(length).tobytes())
    header["arrays"][1].update(coding="shuffle-zlib", stored=len(block), crc32=zlib.crc32(block))
    text = json.dumps(header).encode()
    kept = data[20 + size : 20 + size + header["arrays"][0]["stored"]]
    forged_file = fmt.HEAD.pack(fmt.MAGIC, 1, len(text), zlib.crc32(text)) + text + kept + block + fmt.END
    with pytest.raises(InvalidObject, match="does not decompress to the 16 bytes"):
        fmt.unpack_store(forged_file)


def test_headers_of_any_json_are_refused():
    for text in (b"[" * 100_000, b"[]", b"5", b"null", b'"x"', b"{}", b"{" * 9, b'{"arrays": {}}', b"1" * 10_000):
        with pytest.raises(InvalidObject, match="malformed"):
            fmt.unpack_store(fmt.HEAD.pack(fmt.MAGIC, 1, len(text), zlib.crc32(text)) + text + fmt.END)
    for change in (
        lambda h: h["arrays"][0].update(dtype="f8,("),
        lambda h: h["arrays"][0].update(dtype=["<f8"]),
        lambda h: h["arrays"][0].update(name=[1]),
        lambda h: h["arrays"][0].update(name=5),
        lambda h: h.update(kind=[]),
        lambda h: h.update(format={}),
        lambda h: h.update(dtype=[]),
    ):
        with pytest.raises(InvalidObject):
            fmt.unpack_store(forged(change))


def test_a_file_may_be_compressed_or_open(tmp_path):
    v = gb.Vector.from_coo([1, 3], [10, 30], size=5)
    for ending in ("grb", "grb.gz", "grb.xz"):
        grb_io.save(tmp_path / f"v.{ending}", v)
        assert grb_io.load(tmp_path / f"v.{ending}").isequal(v)
        assert grb_io.read(tmp_path / f"v.{ending}").format == "grb"
    (tmp_path / "v.grb.gz").write_bytes((tmp_path / "v.grb.gz").read_bytes()[:-20])
    with pytest.raises(InvalidObject, match="v.grb.gz"):
        grb_io.load(tmp_path / "v.grb.gz")
    with open(tmp_path / "v.grb", "rb") as file:
        assert grb_io.load(file).isequal(v)


def test_presence_bits_are_checked():
    for words, count, message in (
        ([0b1011, 1], 3, "presence bits for 3"),
        ([0b1011, 2], 4, "past the end"),
        ([0b1011], 3, "words of bits"),
    ):
        store = BitmapVector(65, None, np.array(words, np.uint64), np.arange(65.0), count)
        with pytest.raises(InvalidObject, match=message):
            fmt.unpack_store(fmt.pack_store(fmt.store_parts(store, "FP64")))


def test_a_decompression_bomb_is_not_expanded():
    bomb = zlib.compress(bytes(10**6))
    store = SparseVector(2**40, None, np.zeros(1, np.int64), np.zeros(1))
    data = bytearray(fmt.pack_store(fmt.store_parts(store, "FP64"), 0))
    length = struct.unpack_from("<I", data, 12)[0]
    header = json.loads(data[20 : 20 + length])
    header["arrays"][0].update(coding="delta-shuffle-zlib", stored=len(bomb), crc32=zlib.crc32(bomb))
    text = json.dumps(header).encode()
    forged_file = (
        fmt.HEAD.pack(fmt.MAGIC, 1, len(text), zlib.crc32(text)) + text + bomb + bytes(data[20 + length + 8 :])
    )
    with pytest.raises(InvalidObject, match="does not decompress to the 8 bytes"):
        fmt.unpack_store(forged_file)


def test_other_files_and_later_versions_are_named():
    with pytest.raises(InvalidObject, match="not a grb_tile file"):
        grb_io.deserialize(b"PK\x03\x04" + bytes(40))
    data = bytearray(fmt.pack_store(fmt.store_parts(small_csr(), "FP64")))
    data[8] = 2
    with pytest.raises(InvalidObject, match="version 2"):
        grb_io.deserialize(bytes(data))


@pytest.mark.parametrize("name", TYPES)
def test_objects_of_every_type_come_back(name):
    values = np.array([1, 0, 1]).astype(gb.dtypes.lookup_dtype(name).np_type)
    for obj in (
        gb.Matrix.from_coo([0, 1, 3], [1, 0, 2], values, nrows=4, ncols=3),
        gb.Vector.from_coo([0, 4, 9], values, size=10),
        gb.Vector.from_dense(values),
        gb.Scalar.from_value(values[0]),
    ):
        again = grb_io.deserialize(grb_io.serialize(obj))
        assert type(again) is type(obj) and again.dtype is obj.dtype and again.isequal(obj, check_dtype=True)


def test_empty_objects_come_back(tmp_path):
    for obj in (gb.Matrix("INT8", 3, 4), gb.Vector("FP32", 7), gb.Scalar("UINT16"), gb.Matrix("BOOL", 2**60, 2**60)):
        path = tmp_path / "x.grb"
        grb_io.save(path, obj)
        again = grb_io.load(path)
        assert again.shape == obj.shape and again.dtype is obj.dtype
        assert again.is_empty if obj.shape == () else again.nvals == 0


def test_save_is_all_or_nothing_and_load_names_the_file(tmp_path):
    path = tmp_path / "a.grb"
    grb_io.save(path, gb.Vector.from_coo([1], [2], size=3))
    assert [p.name for p in tmp_path.iterdir()] == ["a.grb"]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InvalidObject, match="a.grb"):
        grb_io.load(path)
    with pytest.raises(TypeError, match="only Matrix, Vector and Scalar"):
        grb_io.save(path, [1, 2])
    with pytest.raises(ValueError, match="0 to 9"):
        grb_io.serialize(gb.Scalar.from_value(1), compression=10)
