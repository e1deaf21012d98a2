"""Blobs of SuiteSparse:GraphBLAS: what GxB_Matrix_serialize and python-graphblas's `A.ss.serialize()` write.

Versions 5 to 10 are read, version 9 is written, which all of them read.  All integers are little-endian.

    header      u64 size of the blob; i32 type code (low 4 bits; from version 10 on the bits 4 to 7, 8 to 11, 12 to 15
                are 1 where the integers of i, h, p are of 32 bits); i32 version (10^6 major + 10^3 minor + patch);
                i64 vlen, vdim, nvec, nvec_nonempty, nvals, size of a value; i64 bytes of the arrays p, h, b, i, x;
                f32 hyper_switch, bitmap_switch; i32 sparsity control; i32 4 * sparsity + 2 * iso + by column;
                i32 number of blocks and i32 method, for p, h, b, i, x
    type name   128 bytes, for a user-defined type only
    ends        for p, h, b, i, x: the i64 end of each of the array's blocks, from the array's first byte on
    blocks      of p, h, b, i, x; block k of n of an array of L bytes holds the bytes int(k L / n) to int((k + 1) L / n)
    names       from version 8.1 on: the object's name and the type's, each ended by a zero byte

A matrix has vdim vectors of length vlen: its rows, or its columns where it is by column; a Vector is one column.
sparsity: 1 hypersparse (p, h, i), 2 sparse (p, i), 4 bitmap (b), 8 full; x has the values, one where it is iso.
method: below 0 none, 1000 LZ4, 2000 + level LZ4HC, 3000 + level Zstandard; arrays below 256 bytes are not compressed.

Source: SuiteSparse:GraphBLAS 9.4, Source/serialize; user guide, section 6.11.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.dtypes import lookup_dtype
from grb_tile.exceptions import GraphblasException, InvalidObject, OutOfMemory
from grb_tile.io.errors import missing_library
from grb_tile.io.lz4_block import decode_block
from grb_tile.storage.host_memory import check_memory

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix
    from grb_tile.core.vector import Vector

    from .annotations import DTypeLike

HEADER = struct.Struct("<Qii11qffii10i")
NAME_LENGTH = 128
NEWEST_READ = 10
VERSION = 9_004_005
TYPES = (
    None, "BOOL", "INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "INT64", "UINT64", "FP32", "FP64", "FC32",
    "FC64",
)  # fmt: skip
USER_DEFINED = 14
HYPERSPARSE, SPARSE, BITMAP, FULL = 1, 2, 4, 8
LARGEST_DIMENSION = 2**60
METHODS = {"none": -1, "lz4": 1000, "lz4hc": 2000, "zstd": 3000}
LEVELS = {"lz4hc": (9, 9), "zstd": (19, 1)}  # the highest, and the default
SMALLEST_COMPRESSED = 256
LARGEST_BLOCK = 0x3F000000  # LZ4_MAX_INPUT_SIZE / 2
ZSTD_RATIO = 1 << 15  # a block of at most 128 KiB takes 4 bytes at least


def is_suitesparse_blob(data: Any) -> bool:
    """Whether `data` (a buffer) begins as a blob does: with its own size and a known type."""
    data = memoryview(data).cast("B")
    if len(data) < HEADER.size:
        return False
    size, code = struct.unpack_from("<Qi", data)
    return size == len(data) and 1 <= code & 15 <= USER_DEFINED


# ---------------------------------------------------------------- reading


def from_suitesparse_blob(
    data: Any, dtype: DTypeLike | None = None, *, kind: str | None = None, name: str | None = None
) -> Matrix | Vector:
    """The Matrix or Vector in a blob that SuiteSparse:GraphBLAS serialized.

    data   bytes, or an array of them
    dtype  the type of the result; required for a user-defined type, because a blob has only its name
    kind   "Matrix", "Vector" or None: a single column that is not hypersparse is then a Vector

    Raises: InvalidObject when `data` is damaged or no blob; ImportError for a blob compressed by Zstandard where the
    package is missing; OutOfMemory before more memory than is free is allocated.

    >>> import grb_tile as gb
    >>> from grb_tile.io import from_suitesparse_blob, to_suitesparse_blob
    >>> v = gb.Vector.from_coo([1, 3], [10, 30], size=5)
    >>> from_suitesparse_blob(to_suitesparse_blob(v)).isequal(v, check_dtype=True)
    True
    """
    import grb_tile as gb

    if kind not in (None, "Matrix", "Vector"):
        raise ValueError(f'kind must be "Matrix", "Vector" or None; got {kind!r}')
    blob = _Blob(memoryview(data).cast("B"), dtype)
    column = blob.by_column and blob.vdim == 1 and blob.sparsity != HYPERSPARSE
    if kind == "Vector" and not column:
        raise InvalidObject("a Vector is expected, but the blob holds a Matrix")
    make = _vector if column and kind != "Matrix" else _matrix
    try:
        found = make(gb, blob, name)
    except OutOfMemory:
        raise
    except (GraphblasException, ValueError, IndexError) as error:
        raise InvalidObject(f"the blob is damaged: {error}") from None
    if dtype is not None and found.dtype != lookup_dtype(dtype):
        found = found.dup(dtype, name=name)
    return found


class _Blob:
    """The header of a blob, checked, and its arrays, decompressed."""

    def __init__(self, data, dtype):
        if len(data) < HEADER.size:
            raise InvalidObject(
                f"no blob of SuiteSparse: {len(data)} bytes are fewer than the {HEADER.size} of its header"
            )
        size, code, version, *fields = HEADER.unpack_from(data)
        _expect(size == len(data), f"its header says {size} bytes, there are {len(data)}")
        _expect(0 < code & 15 <= USER_DEFINED and 0 <= code >> 4 < 1 << 12, f"type code {code}")
        if version // 10**6 > NEWEST_READ:
            raise InvalidObject(
                f"the blob was written by SuiteSparse:GraphBLAS {version // 10**6}, versions up to {NEWEST_READ} are "
                "read here: read it with python-graphblas, or write it with an older version"
            )
        self.vlen, self.vdim, self.nvec, _, _, self.value_size, *lengths = fields[:11]
        control = fields[14]
        blocks, methods = fields[15::2], fields[16::2]
        self.sparsity, self.iso, self.by_column = control >> 2, bool(control & 2), bool(control & 1)
        _expect(control >= 0 and self.sparsity in (HYPERSPARSE, SPARSE, BITMAP, FULL), f"format {control}")
        for size in (self.vlen, self.vdim):
            _expect(0 <= size <= LARGEST_DIMENSION, f"dimension {size}")
        _expect(0 <= self.nvec <= self.vdim, f"{self.nvec} vectors of {self.vdim}")
        _expect(self.sparsity == HYPERSPARSE or self.nvec == self.vdim or not lengths[0], f"{self.nvec} vectors")
        self.np_type, self.dtype = _type_of(code & 15, self.value_size, dtype)
        self._at = HEADER.size + (NAME_LENGTH if code & 15 == USER_DEFINED else 0)
        self._data = data
        ends = [self._ends(count) for count in blocks]
        raw = {
            part: self._array(part, length, end, method)
            for part, length, end, method in zip("phbix", lengths, ends, methods, strict=True)
        }
        small = {part: code >> shift & 15 for part, shift in (("p", 12), ("h", 8), ("i", 4))}
        self.p, self.h, self.i = (raw[k].view(_integers(raw[k], small[k], k)) for k in "phi")
        self.b = raw["b"]
        _expect(raw["x"].nbytes % self.np_type.itemsize == 0, f"{raw['x'].nbytes} bytes of values")
        if self.np_type.kind == "b":
            _expect(int(raw["x"].max(initial=0)) <= 1, "a Boolean is neither 0 nor 1")
        self.x = raw["x"].view(self.np_type)

    def _ends(self, count):
        """The ends of `count` blocks."""
        _expect(0 <= count <= (len(self._data) - self._at) // 8, f"{count} blocks")
        found = np.frombuffer(self._data, "<i8", count, self._at).tolist()
        self._at += 8 * count
        return found

    def _array(self, part, length, ends, method):
        """The bytes of array `part`."""
        if not ends or length == 0:
            return np.empty(0, np.uint8)
        stored = len(self._data) - self._at
        _expect(all(a < b for a, b in zip([0, *ends], ends, strict=False)), f"the blocks of {part} are not in order")
        _expect(ends[-1] <= stored, f"the blocks of {part} end at byte {self._at + ends[-1]} of {len(self._data)}")
        block = self._data[self._at : self._at + ends[-1]]
        self._at += ends[-1]
        if method < 0:
            _expect(len(ends) == 1 and ends[0] == length, f"{part} has {ends[-1]} bytes, its header says {length}")
            return np.frombuffer(block, np.uint8).copy()
        _expect(0 < length <= ZSTD_RATIO * len(block), f"{len(block)} bytes cannot hold the {length} of {part}")
        check_memory(length, f"array {part} of the blob")
        out = np.empty(length, np.uint8)
        decode = decode_block if method // 1000 in (1, 2) else _unzstd
        for k, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            first, last = _part(k, length, len(ends)), _part(k + 1, length, len(ends))
            out[first:last] = np.frombuffer(decode(block[start:end], last - first), np.uint8)
        return out


def _expect(holds, complaint):
    if not holds:
        raise InvalidObject(f"no blob of SuiteSparse, or a damaged one: {complaint}")


def _part(k, length, count):
    """Where block k of `count` begins, rounded as SuiteSparse does."""
    return length if k == count else int(k * float(length) / float(count))


def _type_of(code, size, dtype):
    """(NumPy type of the values, DataType)"""
    if code == USER_DEFINED:
        if dtype is None:
            raise InvalidObject("the blob holds a user-defined type: give `dtype`, whose definition no blob has")
        found = lookup_dtype(dtype)
    else:
        found = lookup_dtype(TYPES[code])
    _expect(found.np_type.itemsize == size, f"values of {size} bytes, {found} has {found.np_type.itemsize}")
    return found.np_type, found


def _integers(raw, small, part):
    itemsize = 4 if small else 8
    _expect(raw.nbytes % itemsize == 0, f"{raw.nbytes} bytes of {part}")
    return np.dtype("<u4" if small else "<i8")


def _values(blob, count):
    """The values of `count` entries: an array, or one scalar for all."""
    if blob.iso and count:
        _expect(blob.x.shape[0] == 1, f"{blob.x.shape[0]} values where one was expected")
        return blob.x[0]
    _expect(blob.iso or blob.x.shape[0] == count, f"{blob.x.shape[0]} values where {count} were expected")
    return blob.x[:count]


def _compressed(blob):
    """(number of the vector, position in it) of the entries of a sparse or hypersparse blob."""
    lines, p = blob.nvec, blob.p.astype(np.int64)
    if p.shape[0] == 0:
        _expect(blob.i.shape[0] == 0, "entries without p")
        return np.empty(0, np.int64), np.empty(0, np.int64)
    _expect(p.shape[0] == lines + 1, f"{p.shape[0]} elements in p for {lines} vectors")
    _expect(p[0] == 0 and bool((p[1:] >= p[:-1]).all()), "p descends")
    _expect(int(p[-1]) == blob.i.shape[0], f"p ends at {p[-1]}, there are {blob.i.shape[0]} entries")
    vectors = np.arange(lines)
    if blob.sparsity == HYPERSPARSE:
        vectors = blob.h.astype(np.int64)
        _expect(vectors.shape[0] == lines, f"{vectors.shape[0]} elements in h for {lines} vectors")
    check_memory(16 * blob.i.shape[0], "the entries of the blob")
    return np.repeat(vectors, np.diff(p)), blob.i.astype(np.int64)


def _grid(blob):
    """(number of the vector, position in it) of the entries of a bitmap or full blob."""
    positions = blob.vlen * blob.vdim
    _expect(blob.iso or blob.x.shape[0] == positions, f"{blob.x.shape[0]} values for {positions} positions")
    if blob.sparsity == BITMAP:
        _expect(blob.b.shape[0] == positions, f"{blob.b.shape[0]} elements in b for {positions} positions")
        _expect(int(blob.b.max(initial=0)) <= 1, "an entry of b is neither 0 nor 1")
        check_memory(24 * int(np.count_nonzero(blob.b)), "the entries of the blob")
        at = np.flatnonzero(blob.b)
    else:
        check_memory(24 * positions, "the entries of the blob")
        at = np.arange(positions)
    return (*np.divmod(at, max(blob.vlen, 1)), at)


def _entries(blob):
    """(number of the vector, position in it, values) of the entries."""
    if blob.sparsity in (HYPERSPARSE, SPARSE):
        major, minor = _compressed(blob)
        return major, minor, _values(blob, major.shape[0])
    major, minor, at = _grid(blob)
    if blob.iso:
        return major, minor, _values(blob, at.shape[0])
    values = _values(blob, blob.vlen * blob.vdim)
    return major, minor, values[at] if blob.sparsity == BITMAP else values


def _matrix(gb, blob, name):
    nrows, ncols = (blob.vlen, blob.vdim) if blob.by_column else (blob.vdim, blob.vlen)
    major, minor, values = _entries(blob)
    rows, cols = (minor, major) if blob.by_column else (major, minor)
    return gb.Matrix.from_coo(rows, cols, values, blob.dtype, nrows=nrows, ncols=ncols, name=name)


def _vector(gb, blob, name):
    size = blob.vlen
    if blob.sparsity == FULL and blob.iso and size:
        return gb.Vector.from_scalar(_values(blob, size), size, blob.dtype, name=name)
    if blob.sparsity == FULL:
        return gb.Vector.from_dense(_values(blob, size), dtype=blob.dtype, name=name)
    _, at, values = _entries(blob)
    return gb.Vector.from_coo(at, values, blob.dtype, size=size, name=name)


def _zstandard():
    """(compress(bytes, level), decompress(bytes), stated size(bytes), exception) of Python 3.14 or of zstandard."""
    try:
        from compression import zstd  # Python 3.14

        return zstd.compress, zstd.decompress, lambda b: zstd.get_frame_info(b).decompressed_size, zstd.ZstdError
    except ImportError:
        pass
    try:
        import zstandard
    except ImportError:
        raise missing_library(
            "zstandard", "read or write blobs that are compressed by Zstandard (SuiteSparse's default)"
        ) from None
    return (
        lambda data, level: zstandard.ZstdCompressor(level=level).compress(data),
        lambda data: zstandard.ZstdDecompressor().decompress(data),
        lambda data: zstandard.get_frame_parameters(data).content_size,
        zstandard.ZstdError,
    )


def _unzstd(block, size):
    """The `size` bytes of a Zstandard frame; the size that the frame states is compared first, before allocating."""
    _, decompress, stated, failed = _zstandard()
    try:
        if stated(bytes(block[:18])) != size:  # a frame's header has at most 18 bytes
            raise InvalidObject(f"a block does not decompress to the {size} bytes of its place: the blob is damaged")
        raw = decompress(block)
    except failed as error:
        raise InvalidObject(f"a block cannot be decompressed: {error}") from None
    if len(raw) != size:
        raise InvalidObject(f"a block has {len(raw)} bytes, {size} were expected: the blob is damaged")
    return raw


# ---------------------------------------------------------------- writing


def to_suitesparse_blob(x: Matrix | Vector, compression: str | None = "none", level: int | None = None) -> bytes:
    """The blob of a Matrix or Vector that SuiteSparse:GraphBLAS 7.2 and later deserialize.

    compression  "none" or None; "zstd" (needs the package zstandard, or Python 3.14); "lz4", "lz4hc" (the package lz4)
    level        1 to 19 for "zstd" (default 1), 1 to 9 for "lz4hc" (default 9)
    Raises: TypeError for other objects, user-defined types and a level without such a compression; ValueError for an
    unknown compression or level; ImportError for a missing package.
    """
    from grb_tile.core.matrix import Matrix
    from grb_tile.core.vector import Vector

    if not isinstance(x, (Matrix, Vector)):
        raise TypeError(f"only Matrix and Vector have blobs, not {type(x).__name__}: use .new() on an expression")
    if x.dtype.name not in TYPES:
        raise TypeError(f"blobs with the user-defined type {x.dtype.name} cannot be written")
    method, pack = _packer(compression, level)
    parts, sparsity, by_column, shape, nvec = _arrays_of(x)
    iso = bool(x._store.iso) and x.nvals > 0
    listed, ends, blocks = [], [], []
    for part in "phbix":
        array = np.ascontiguousarray(parts.get(part, np.empty(0, np.int8)))
        packed = _blocks(array.view(np.uint8).data if array.size else b"", method, pack)
        listed += [len(packed), method if array.nbytes >= SMALLEST_COMPRESSED else -1]
        ends += np.cumsum([len(block) for block in packed], dtype="<i8").tolist()
        blocks += packed
    names = f"{x.name}\0GrB_{x.dtype.name}\0".encode()
    if x.dtype.name in ("FC32", "FC64"):
        names = names.replace(b"GrB_", b"GxB_")
    size = HEADER.size + 8 * len(ends) + sum(len(block) for block in blocks) + len(names)
    lengths = [parts[part].nbytes if part in parts else 0 for part in "phbix"]
    filled = int(np.count_nonzero(np.diff(parts["p"]))) if "p" in parts else nvec
    header = HEADER.pack(
        size, TYPES.index(x.dtype.name), VERSION, *shape, nvec, filled, x.nvals, x.dtype.np_type.itemsize, *lengths,
        0.0625, 0.04, 15, 4 * sparsity + 2 * iso + by_column, *listed,
    )  # fmt: skip
    return b"".join([header, np.array(ends, "<i8").tobytes(), *blocks, names])


def _packer(compression, level):
    """(SuiteSparse's number of the method, compress(bytes))"""
    name = "none" if compression is None else compression
    if not isinstance(name, str) or name.lower() not in METHODS:
        raise ValueError(f"compression argument must be None or one of {', '.join(METHODS)}; got: {compression!r}")
    name = name.lower()
    most, usual = LEVELS.get(name, (0, 0))
    if level is not None and not most:
        raise TypeError(f"level argument is only valid with 'lz4hc' and 'zstd' compression, not {compression!r}")
    level = usual if level is None else level
    if most and not 1 <= level <= most:
        raise ValueError(f"level argument must be 1 to {most} for {name!r}; got: {level!r}")
    if name == "zstd":
        compress = _zstandard()[0]
        return METHODS[name] + level, lambda data: compress(data, level)
    if name == "none":
        return METHODS[name], None
    try:
        import lz4.block
    except ImportError:
        raise missing_library("lz4", f"write blobs that are compressed by {name.upper()}") from None
    options = {"mode": "high_compression", "compression": level} if most else {}
    return METHODS[name] + level, lambda data: lz4.block.compress(data, store_size=False, **options)


def _blocks(data, method, pack):
    """The blocks of an array."""
    if len(data) < SMALLEST_COMPRESSED or method < 0:
        return [bytes(data)] if len(data) else []
    count = -(-len(data) // LARGEST_BLOCK)
    ends = [_part(k, len(data), count) for k in range(count + 1)]
    return [pack(data[a:b]) for a, b in zip(ends, ends[1:], strict=False)]


def _arrays_of(x):
    """({part: array}, sparsity, by column, (vlen, vdim), nvec) of x, arrays on the host."""
    from grb_tile.storage.place import host

    store = host(x._store)
    values = store.values[:1] if store.iso else store.values
    if x.ndim == 2:
        parts = {"p": store.indptr.astype("<i8"), "i": store.indices.astype("<i8"), "x": values}
        if store.format == "dcsr":
            parts["h"] = store.rows.astype("<i8")
            return parts, HYPERSPARSE, False, (x.ncols, x.nrows), store.rows.shape[0]
        return parts, SPARSE, False, (x.ncols, x.nrows), x.nrows
    shape = (x.size, 1)
    if store.format == "sparse":
        parts = {"p": np.array([0, x.nvals], "<i8"), "i": store.indices.astype("<i8"), "x": values}
        return parts, SPARSE, True, shape, 1
    if store.words is None:
        return {"x": values}, FULL, True, shape, 1
    present = np.unpackbits(store.words.view(np.uint8), bitorder="little", count=x.size)
    return {"b": present, "x": values}, BITMAP, True, shape, 1


__all__ = ["from_suitesparse_blob", "is_suitesparse_blob", "to_suitesparse_blob"]
