"""Blobs of SuiteSparse:GraphBLAS: read in every format, type and compression; written; damaged ones refused.

The oracle is python-graphblas, which serializes and deserializes in SuiteSparse itself.  tests/data/suitesparse_blobs
has blobs of versions that are not installed.
"""

import itertools
import random
import struct
import sys
from pathlib import Path

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import exceptions
from grb_tile.io import from_suitesparse_blob, lz4_block, suitesparse_blob, to_suitesparse_blob
from support import seeds

theirs = pytest.importorskip("graphblas")
theirs.init("suitesparse", blocking=False)
BLOBS = Path(__file__).resolve().parent.parent / "data" / "suitesparse_blobs"
TYPES = [
    "BOOL", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "FP32", "FP64", "FC32", "FC64",
]  # fmt: skip
COMPRESSIONS = [("none", None), ("lz4", None), *(("lz4hc", k) for k in (1, 5, 9)), *(("zstd", k) for k in (1, 7, 19))]
REFUSED = exceptions.InvalidObject


def values_of(rng, dtype, count, iso):
    np_type = theirs.dtypes.lookup_dtype(dtype).np_type
    values = rng.integers(0, 2 if dtype == "BOOL" else 90, count).astype(np_type)
    if dtype.startswith("FC"):
        values = values + 1j * rng.integers(0, 9, count).astype(np_type)
    return values[:1].repeat(count) if iso else values


def their_matrix(rng, dtype, sparsity, by_column, iso, nrows=37, ncols=23, entries=300):
    if sparsity == "full":
        at = np.arange(nrows * ncols)
    else:
        at = np.unique(rng.integers(0, nrows * ncols, entries))
    values = values_of(rng, dtype, at.size, iso)
    if iso and at.size:
        values = values[0]
    A = theirs.Matrix.from_coo(at // ncols, at % ncols, values, dtype, nrows=nrows, ncols=ncols)
    A.ss.config["format"] = "by_col" if by_column else "by_row"
    A.ss.config["sparsity_control"] = sparsity
    A.wait()
    assert A.ss.config["sparsity_status"] == sparsity
    return A


def their_vector(rng, dtype, sparsity, iso, size=500, entries=200):
    at = np.arange(size) if sparsity == "full" else np.unique(rng.integers(0, size, entries))
    values = values_of(rng, dtype, at.size, iso)
    v = theirs.Vector.from_coo(at, values[0] if iso and at.size else values, dtype, size=size)
    v.ss.config["sparsity_control"] = sparsity
    v.wait()
    return v


def by_row(x):
    *positions, values = x.to_coo()
    order = np.lexsort(positions[::-1])
    return [part[order] for part in (*positions, values)]


def same(ours, other):
    """Equal type, shape, positions and values."""
    assert ours.dtype.name == other.dtype.name and ours.shape == other.shape
    for mine, of_theirs in zip(by_row(ours), by_row(other), strict=True):
        np.testing.assert_array_equal(mine, of_theirs)


@pytest.fixture(params=["package lz4", "own decoder"])
def lz4_decoder(request, monkeypatch):
    if request.param == "own decoder":
        monkeypatch.setitem(sys.modules, "lz4.block", None)
    else:
        pytest.importorskip("lz4.block")


@pytest.mark.parametrize("iso", [False, True])
@pytest.mark.parametrize("by_column", [False, True])
@pytest.mark.parametrize("sparsity", ["hypersparse", "sparse", "bitmap", "full"])
def test_matrices_are_read(sparsity, by_column, iso):
    rng = np.random.default_rng(seeds.SEED)
    for dtype, (compression, level) in zip(TYPES, itertools.cycle(COMPRESSIONS), strict=False):
        A = their_matrix(rng, dtype, sparsity, by_column, iso)
        data = A.ss.serialize(compression, level)
        same(from_suitesparse_blob(data, kind="Matrix"), A)
        same(gb.Matrix.ss.deserialize(data), A)
        same(gb.io.deserialize(data.tobytes()), A)


@pytest.mark.parametrize("iso", [False, True])
@pytest.mark.parametrize("sparsity", ["sparse", "bitmap", "full"])
def test_vectors_are_read(sparsity, iso):
    rng = np.random.default_rng(seeds.SEED)
    for dtype, (compression, level) in zip(TYPES, itertools.cycle(COMPRESSIONS), strict=False):
        v = their_vector(rng, dtype, sparsity, iso)
        data = v.ss.serialize(compression, level)
        same(from_suitesparse_blob(data), v)
        same(gb.Vector.ss.deserialize(data), v)
        same(gb.Vector.ss.deserialize(data, "FC64"), v.dup("FC64"))
        column = gb.Matrix.ss.deserialize(data)
        assert column.shape == (500, 1) and column.nvals == v.nvals


@pytest.mark.sampled(3)
@pytest.mark.parametrize("compression, level", COMPRESSIONS)
def test_compressions_are_read(compression, level, lz4_decoder):
    """Long enough for long literals and long, overlapping matches; by one thread and in several blocks by four."""
    rng = np.random.default_rng(seeds.SEED)
    random_part = rng.integers(0, 2**60, 6000)
    repeated = np.repeat(rng.integers(0, 3, 200), rng.integers(1, 400, 200))
    values = np.concatenate([random_part, repeated, np.arange(20000), np.zeros(9000, np.int64)])
    v = theirs.Vector.from_coo(np.sort(rng.permutation(2 * values.size)[: values.size]), values)
    for threads in (1, 4):
        data = v.ss.serialize(compression, level, nthreads=threads, chunk=1)
        same(from_suitesparse_blob(data), v)


@pytest.mark.parametrize("sparsity", ["hypersparse", "sparse", "bitmap", "full"])
@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (1, 1), (7, 1), (1, 7)])
def test_empty_and_narrow_matrices_are_read(sparsity, shape):
    for by_column in ("by_row", "by_col"):
        A = theirs.Matrix("INT16", *shape)
        if sparsity == "full" and 0 not in shape:
            A[:, :] = 3
        A.ss.config["format"] = by_column
        A.ss.config["sparsity_control"] = sparsity
        data = A.ss.serialize()
        same(gb.Matrix.ss.deserialize(data), A)
    v = theirs.Vector("FP32", shape[0])
    same(gb.Vector.ss.deserialize(v.ss.serialize()), v)


def test_huge_dimensions_and_full_iso_objects_are_read():
    A = theirs.Matrix.from_coo([2**59, 5], [2**40, 2**58], [1.5, 2.5], nrows=2**60, ncols=2**60)
    same(gb.Matrix.ss.deserialize(A.ss.serialize()), A)
    v = theirs.Vector.from_scalar(7, 2**59)
    found = gb.Vector.ss.deserialize(v.ss.serialize())
    assert found.nvals == v.nvals and found[2**58].value == 7
    wide = theirs.Matrix.from_scalar(7, 2**30, 2**30)
    with pytest.raises(exceptions.OutOfMemory):
        gb.Matrix.ss.deserialize(wide.ss.serialize())


def test_user_defined_types_need_the_dtype():
    record = np.dtype([("x", np.int64), ("y", np.float64)], align=True)
    their_type = theirs.dtypes.register_anonymous(record, "blob_point")
    our_type = gb.dtypes.register_anonymous(record, "blob_point")
    v = theirs.Vector(their_type, 5)
    v[1], v[3] = (1, 2.5), (7, -1.0)
    data = v.ss.serialize("none")
    found = gb.Vector.ss.deserialize(data, our_type)
    assert found.nvals == 2 and found[3].new().value == v[3].new().value
    with pytest.raises(REFUSED, match="give `dtype`"):
        gb.Vector.ss.deserialize(data)
    with pytest.raises(REFUSED, match="values of 16 bytes"):
        gb.Vector.ss.deserialize(data, "FP64")


@pytest.mark.parametrize("path", sorted(BLOBS.glob("*.grb")), ids=lambda path: path.stem)
def test_blobs_of_other_versions_are_read(path):
    """Each holds the matrix of write_blobs.py, in the version, format and compression of its name."""
    found = gb.io.load(path)
    if "wide" in path.stem:
        expected = gb.Matrix.from_coo([2**39, 1], [2**40, 2], [1.0, 3.0], nrows=2**40, ncols=2**41)
    else:
        i, j = np.divmod(np.arange(0, 60 * 50, 1 if "full" in path.stem else 7), 50)
        expected = gb.Matrix.from_coo(i, j, (i * 3 + j + 1).astype(float), nrows=60, ncols=50)
    assert found.isequal(expected, check_dtype=True)


def test_the_stored_blobs_are_there():
    assert len(list(BLOBS.glob("*.grb"))) >= 9


# ---------------------------------------------------------------- writing


def our_objects():
    rng = np.random.default_rng(seeds.SEED)
    for dtype, (compression, level) in zip(TYPES, itertools.cycle(COMPRESSIONS), strict=False):
        for iso in (False, True):
            for sparsity in ("sparse", "hypersparse"):
                A = gb.io.from_graphblas(their_matrix(rng, dtype, "sparse", False, iso))
                A.ss.config["sparsity_control"] = sparsity
                yield A, compression, level
            for sparsity in ("sparse", "bitmap", "full"):
                v = gb.io.from_graphblas(their_vector(rng, dtype, sparsity, iso))
                if sparsity != "full":
                    v.ss.config["sparsity_control"] = sparsity
                yield v, compression, level


def test_what_is_written_is_read_by_suitesparse_and_here():
    pytest.importorskip("lz4.block")
    pytest.importorskip("zstandard")
    for x, compression, level in our_objects():
        data = to_suitesparse_blob(x, compression, level)
        cls = theirs.Matrix if x.ndim == 2 else theirs.Vector
        same(x, cls.ss.deserialize(np.frombuffer(data, np.uint8), x.dtype.name))
        again = gb.io.deserialize(data)
        assert type(again) is type(x) and again.isequal(x, check_dtype=True)
        assert data == x.ss.serialize(compression, level, format="suitesparse").tobytes()


def test_empty_and_huge_objects_are_written():
    for x in (
        gb.Matrix("INT8", 3, 4), gb.Matrix("INT8", 0, 4), gb.Matrix("FP32", 2**60, 2**60), gb.Vector("BOOL", 0),
        gb.Vector("BOOL", 2**60), gb.Matrix.from_coo([2**59], [3], [1.5], nrows=2**60, ncols=2**50),
        gb.Vector.from_scalar(True, 2**50),
    ):  # fmt: skip
        data = to_suitesparse_blob(x)
        cls = theirs.Matrix if x.ndim == 2 else theirs.Vector
        read = cls.ss.deserialize(np.frombuffer(data, np.uint8), x.dtype.name)
        assert read.shape == x.shape and read.nvals == x.nvals
        again = type(x).ss.deserialize(data)
        assert again.shape == x.shape and again.nvals == x.nvals and again.dtype == x.dtype


def test_arguments_of_writing_are_checked():
    v = gb.Vector.from_coo([1], [2])
    for wrong in ("gzip", 5):
        with pytest.raises(ValueError, match="compression argument"):
            to_suitesparse_blob(v, wrong)
    for compression, level in (("zstd", 20), ("zstd", 0), ("lz4hc", 10)):
        with pytest.raises(ValueError, match="level argument must be"):
            to_suitesparse_blob(v, compression, level)
    with pytest.raises(TypeError, match="level argument is only valid"):
        to_suitesparse_blob(v, "lz4", 3)
    with pytest.raises(TypeError, match="only Matrix and Vector"):
        to_suitesparse_blob(gb.Scalar.from_value(3))
    with pytest.raises(TypeError, match="user-defined"):
        to_suitesparse_blob(gb.Vector(np.dtype([("a", np.int8)]), 3))
    with pytest.raises(ValueError, match='format must be "grb_tile" or "suitesparse"'):
        v.ss.serialize(format="hdf5")
    with pytest.raises(ValueError, match="kind must be"):
        from_suitesparse_blob(to_suitesparse_blob(v), kind="Scalar")


def test_a_missing_package_is_named(monkeypatch):
    v = theirs.Vector.from_coo(range(500), range(500))
    data = v.ss.serialize("zstd")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    monkeypatch.setitem(sys.modules, "compression", None)
    with pytest.raises(ImportError, match="pip install zstandard"):
        gb.Vector.ss.deserialize(data)
    monkeypatch.setitem(sys.modules, "lz4.block", None)
    ours = gb.Vector.from_coo([1], [2])
    with pytest.raises(ImportError, match="pip install lz4"):
        to_suitesparse_blob(ours, "lz4")
    same(gb.Vector.ss.deserialize(v.ss.serialize("lz4")), v)
    assert to_suitesparse_blob(ours)


# ---------------------------------------------------------------- damaged


def some_blobs():
    rng = np.random.default_rng(seeds.SEED)
    for sparsity, (compression, level) in itertools.product(
        ("hypersparse", "sparse", "bitmap", "full"), (("none", None), ("lz4", None), ("zstd", 1))
    ):
        yield their_matrix(rng, "INT32", sparsity, False, False).ss.serialize(compression, level).tobytes()


def is_refused_or_sane(data):
    """A damaged blob is refused, or holds an object that can be used (a changed value cannot be seen)."""
    try:
        found = from_suitesparse_blob(data, kind="Matrix")
    except (REFUSED, exceptions.OutOfMemory):
        return
    assert found.nvals <= 10**7
    found.to_coo()


def test_truncated_blobs_are_refused():
    for data in some_blobs():
        for length in [*range(200), *range(200, len(data), 37), len(data) - 1]:
            with pytest.raises(REFUSED):
                from_suitesparse_blob(data[:length])
            fixed = struct.pack("<Q", length) + data[8:length]
            if length > 8 and length < len(data) - 20:
                with pytest.raises(REFUSED):
                    from_suitesparse_blob(fixed)


def test_damaged_blobs_are_refused_or_sane(lz4_decoder):
    rng = random.Random(seeds.SEED)
    for data in some_blobs():
        for _ in range(150):
            damaged = bytearray(data)
            for _ in range(rng.choice([1, 1, 2, 5])):
                at = rng.randrange(8, 168) if rng.random() < 0.5 else rng.randrange(8, len(data))
                damaged[at] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256), damaged[at] ^ 1 << rng.randrange(8)])
            is_refused_or_sane(bytes(damaged))


def test_claims_larger_than_the_data_allocate_nothing():
    """A forged length is refused by what a compression can hold at most, or by what is free."""
    import tracemalloc

    v = theirs.Vector.from_coo(range(3000), 1.0 * np.arange(3000))
    for compression in ("none", "lz4", "zstd"):
        data = bytearray(v.ss.serialize(compression).tobytes())
        fields = list(suitesparse_blob.HEADER.unpack_from(data))
        for claimed in (2**34, 2**50, 2**62, -8):
            forged = list(fields)
            forged[13] = claimed  # bytes of x
            suitesparse_blob.HEADER.pack_into(data, 0, *forged)
            tracemalloc.start()
            with pytest.raises((REFUSED, exceptions.OutOfMemory)):
                from_suitesparse_blob(bytes(data))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 2**20


@pytest.mark.parametrize("claimed", [-1, 0, 3, 5, 2**40])
@pytest.mark.parametrize("sparsity", ["sparse", "bitmap", "hypersparse"])
def test_a_number_of_vectors_that_does_not_fit_is_refused(sparsity, claimed):
    """nvec beside vdim = 4: all vectors of a sparse matrix, at most vdim of a hypersparse one."""
    A = theirs.Matrix.from_coo([0, 1, 3], [1, 2, 0], [1.0, 2.0, 3.0], nrows=4, ncols=4)
    A.ss.config["sparsity_control"] = sparsity
    data = bytearray(A.ss.serialize("none").tobytes())
    fields = list(suitesparse_blob.HEADER.unpack_from(data))
    assert fields[4] == 4, "vdim"
    if sparsity == "hypersparse" and claimed == 3:  # so many it has
        claimed = 4
    fields[5] = claimed  # nvec
    suitesparse_blob.HEADER.pack_into(data, 0, *fields)
    if sparsity == "bitmap" and 0 <= claimed <= 4:
        assert from_suitesparse_blob(bytes(data)).isequal(from_suitesparse_blob(A.ss.serialize("none").tobytes()))
        return
    with pytest.raises(REFUSED):
        from_suitesparse_blob(bytes(data))


def test_lz4_blocks_of_the_specification(lz4_decoder):
    decode = lz4_block.decode_block
    assert decode(b"\x50hello", 5) == b"hello"
    assert decode(b"\x1fa\x01\x00\x05\x50bcdef", 30) == b"a" * 25 + b"bcdef"
    assert decode(b"\xf0\x00" + b"x" * 15, 15) == b"x" * 15
    for block, size in (
        (b"\x50hell", 5), (b"\x50hello", 4), (b"\x50hello", 6), (b"\x50hello", 5000), (b"", 4), (b"\xf0", 15),
        (b"\x1fa\x02\x00\x05\x50bcdef", 30), (b"\xf0" + b"\xff" * 9, 2000), (b"\x1fa\x01", 30),
    ):  # fmt: skip
        with pytest.raises(REFUSED):
            decode(block, size)
    with pytest.raises(REFUSED, match="outside of what was decoded"):
        lz4_block._decoded(b"\x1fa\x00\x00\x05\x50bcdef", 30)  # liblz4 does not refuse an offset of 0


def test_other_versions_and_files_are_refused():
    data = bytearray(theirs.Vector.from_coo([1], [2]).ss.serialize("none").tobytes())
    struct.pack_into("<i", data, 12, 11_000_000)
    with pytest.raises(REFUSED, match="written by SuiteSparse:GraphBLAS 11"):
        from_suitesparse_blob(data)
    for other in (b"", b"\0" * 300, b"%%MatrixMarket matrix coordinate" * 20):
        with pytest.raises(REFUSED):
            from_suitesparse_blob(other)
    A = theirs.Matrix.from_coo([0], [1], [2], ncols=4)
    with pytest.raises(REFUSED, match="Vector is expected"):
        gb.Vector.ss.deserialize(A.ss.serialize())
