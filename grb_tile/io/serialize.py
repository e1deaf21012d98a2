"""One file format for Matrix, Vector and Scalar: versioned, checksummed, compressed.  docs/FILE_FORMAT.md describes it.

    magic (8 bytes) | version u32 | header length u32 | header CRC-32 u32 | header (JSON, UTF-8) | arrays | end mark
    (8 bytes)

All integers are little-endian.  The header lists the arrays in order.  A reader checks checksums, types, lengths and
the invariants of each format, so that no backend gets arrays of a damaged file.
"""

from __future__ import annotations

import json
import os
import struct
import warnings
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.exceptions import InvalidObject
from grb_tile.io.errors import BadFile
from grb_tile.io.labels import labels_array, matrix_and_labels, pack, unpack
from grb_tile.io.pandas_frames import LabelledMatrix
from grb_tile.io.streams import LARGEST_RATIO, Target, opened
from grb_tile.io.suitesparse_blob import from_suitesparse_blob, is_suitesparse_blob
from grb_tile.storage.bits import popcount
from grb_tile.storage.dense import by_rows
from grb_tile.storage.place import host
from grb_tile.storage.store import BitmapVector, Compressed, Dense, SparseVector, index_dtype

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix
    from grb_tile.core.scalar import Scalar
    from grb_tile.core.vector import Vector

    from .annotations import Readable, Writable

MAGIC = b"\x89GRBT\r\n\x1a"  # like PNG's, reveals text-mode transfers and 7-bit channels
END = b"GRBT-END"
VERSION = 1
HEAD = struct.Struct("<8sIII")
LONGEST_HEADER = 1 << 20
LARGEST_DIMENSION = 2**60
DELTAS = ("indices", "indptr", "rows", "label_ends")  # arrays that are stored as differences
DTYPES = {
    "BOOL": "|b1",
    "INT8": "|i1",
    "INT16": "<i2",
    "INT32": "<i4",
    "INT64": "<i8",
    "UINT8": "|u1",
    "UINT16": "<u2",
    "UINT32": "<u4",
    "UINT64": "<u8",
    "FP32": "<f4",
    "FP64": "<f8",
    "FC32": "<c8",
    "FC64": "<c16",
}


def serialize(obj: Any, *, compression: int = 1) -> bytes:
    """Bytes from which `deserialize` makes an equal object; docs/FILE_FORMAT.md has the format.

    Parameters
    ----------
    obj : Matrix, Vector or Scalar; or a Graph, EdgeList or LabelledMatrix, whose labels are kept: all str or all int
    compression : 0 (none) to 9 (smallest); 1 is fast and nearly as small, because indices are stored as differences

    Raises: ValueError for another compression, and for other labels; TypeError for a user-defined type, an expression
    or a transpose.

    >>> import grb_tile as gb
    >>> from grb_tile.io import serialize, deserialize
    >>> v = gb.Vector.from_coo([1, 3], [10, 30], size=5)
    >>> deserialize(serialize(v)).isequal(v, check_dtype=True)
    True
    """
    if isinstance(compression, bool) or compression not in range(10):
        raise ValueError(f"compression must be 0 to 9, not {compression!r}")
    obj, labels = matrix_and_labels(obj)
    head, arrays = _parts(obj)
    if labels is not None:
        arrays |= pack(labels_array(labels, max(obj.shape)))
    return pack_store((head, arrays), compression)


def deserialize(data: bytes | bytearray | memoryview) -> Matrix | Vector | Scalar | LabelledMatrix:
    """The Matrix, Vector or Scalar in `data` (bytes), or LabelledMatrix(matrix, labels) where labels were saved.

    Blobs of SuiteSparse:GraphBLAS are read, too; see from_suitesparse_blob.
    Raises: InvalidObject, with the reason, when `data` is truncated, damaged, of a later version or another format.
    """
    if is_suitesparse_blob(data):
        return from_suitesparse_blob(data)
    head, arrays = unpack_store(data)
    labels = unpack(arrays, max(head["shape"], default=0))
    found = _object((head, arrays))
    return found if labels is None else LabelledMatrix(found, labels)


def save(path: Writable, obj: Any, *, compression: int = 1) -> None:
    """Write `serialize(obj)` to `path` (or a file open for writing bytes); the file appears complete or not at all.

    The arguments were the other way round, `save(obj, path)`, which is deprecated.
    """
    if not _is_target(path) and _is_target(obj):
        warnings.warn(
            "gb.io.save(obj, path) is deprecated, use gb.io.save(path, obj)", DeprecationWarning, stacklevel=2
        )
        path, obj = obj, path
    data = serialize(obj, compression=compression)
    with Target(path) as target:
        target.stream.write(data)


def _is_target(x: Any) -> bool:
    return isinstance(x, (str, bytes, os.PathLike)) or hasattr(x, "write")


def load(path: Readable) -> Matrix | Vector | Scalar | LabelledMatrix:
    """The Matrix, Vector or Scalar saved in `path` (or in a file open for reading bytes); with labels a LabelledMatrix.

    Raises: InvalidObject, with the file's name and the reason, as `deserialize`.
    """
    try:
        with opened(path) as source:
            name = source.name
            data = source.rest()
    except BadFile as error:
        raise InvalidObject(str(error)) from None
    try:
        return deserialize(data)
    except InvalidObject as error:
        raise InvalidObject(f"{name}: {error}") from None


# ---- between objects and parts: (header dictionary without "arrays", {name: array})


def _parts(obj):
    from grb_tile.core.matrix import Matrix
    from grb_tile.core.scalar import Scalar
    from grb_tile.core.vector import Vector

    if isinstance(obj, Scalar):
        value = obj.value
        arrays = {} if value is None else {"values": np.array([value], obj.dtype.np_type)}
        return {
            "kind": "scalar",
            "dtype": obj.dtype.name,
            "format": "scalar",
            "shape": [],
            "iso": False,
            "nvals": len(arrays),
        }, arrays
    if not isinstance(obj, (Matrix, Vector)):
        raise TypeError(
            f"only Matrix, Vector and Scalar can be serialized, not {type(obj).__name__}: "
            "use .new() on an expression or a transpose"
        )
    if obj.dtype.name not in DTYPES:
        raise TypeError(f"the file format does not support the user-defined type {obj.dtype.name}")
    return store_parts(obj._store, obj.dtype.name)


def store_parts(store: Any, dtype_name: str) -> Any:
    """(header fields, {name: array}) of a store."""
    store = host(store)
    if type(store) is Dense:  # the file format has row-major matrices only
        store = by_rows(store)
    kind = "matrix" if isinstance(store, Compressed) else "vector"
    head = {
        "kind": kind,
        "dtype": dtype_name,
        "format": store.format,
        "shape": [int(n) for n in store.shape],
        "iso": bool(store.iso),
        "nvals": int(store.nvals),
    }
    names = {
        "sparse": ("indices",),
        "bitmap": ("words",),
        "csr": ("indptr", "indices"),
        "dcsr": ("rows", "indptr", "indices"),
    }[store.format]
    arrays = {name: getattr(store, name) for name in names if getattr(store, name) is not None}
    arrays["values"] = store.values
    return head, arrays


def _object(parts):
    from grb_tile import Matrix, Scalar, Vector
    from grb_tile.dtypes import lookup_dtype

    head, arrays = parts
    dtype = lookup_dtype(head["dtype"])
    shape, iso = head["shape"], head["iso"]
    if head["kind"] == "scalar":
        return Scalar.from_value(arrays["values"][0], dtype) if arrays else Scalar(dtype)
    if head["kind"] == "vector":
        result = Vector(dtype, shape[0])
        if head["format"] == "sparse":
            result._store = SparseVector(shape[0], dtype, arrays["indices"], arrays["values"], iso)
        else:
            result._store = BitmapVector(shape[0], dtype, arrays.get("words"), arrays["values"], head["nvals"], iso)
        return result
    result = Matrix(dtype, *shape)
    result._store = Compressed(
        shape[0], shape[1], dtype, arrays["indptr"], arrays["indices"], arrays["values"], iso, arrays.get("rows")
    )
    return result


# ---- between parts and bytes


def pack_store(parts: Any, compression: int = 1) -> bytes:
    """Bytes of (header fields, arrays)."""
    head, arrays = dict(parts[0]), parts[1]
    blocks, listed = [], []
    for name, array in arrays.items():
        array = np.ascontiguousarray(array)
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        coding = "raw"
        block = little.tobytes()
        if compression and little.nbytes > 64:
            packed = zlib.compress(_shuffled(_differences(little) if name in DELTAS else little), compression)
            if len(packed) < len(block):
                block = packed
                coding = "delta-shuffle-zlib" if name in DELTAS else "shuffle-zlib"
        listed.append(
            {
                "name": name,
                "dtype": little.dtype.str,
                "length": int(little.shape[0]),
                "coding": coding,
                "stored": len(block),
                "crc32": zlib.crc32(block),
            }
        )
        blocks.append(block)
    head["arrays"] = listed
    text = json.dumps(head, sort_keys=True, separators=(",", ":")).encode()
    return b"".join([HEAD.pack(MAGIC, VERSION, len(text), zlib.crc32(text)), text, *blocks, END])


def unpack_store(data: bytes | bytearray | memoryview) -> Any:
    """(header fields, {name: array}) of `data`.  Raises: InvalidObject when a checksum, field or invariant is wrong."""
    data = memoryview(data).cast("B")
    if len(data) < HEAD.size:
        raise InvalidObject(f"not a grb_tile file: {len(data)} bytes are fewer than the {HEAD.size} of its head")
    magic, version, length, crc = HEAD.unpack_from(data)
    if magic != MAGIC:
        raise InvalidObject("not a grb_tile file: it does not begin with the magic bytes (see docs/FILE_FORMAT.md)")
    if version != VERSION:
        raise InvalidObject(
            f"file format version {version} is not known here (this is version {VERSION}): "
            "read it with a newer grb_tile, or the file is damaged"
        )
    if length > LONGEST_HEADER or HEAD.size + length > len(data):
        raise InvalidObject(f"header of {length} bytes in a file of {len(data)}: the file is truncated or damaged")
    text = bytes(data[HEAD.size : HEAD.size + length])
    if zlib.crc32(text) != crc:
        raise InvalidObject("the header's checksum does not match: the file is damaged")
    try:
        head = json.loads(text)
        listed = head.pop("arrays")
        _check_head(head)
        arrays, at = {}, HEAD.size + length
        for item in listed:
            name, stored = str(item["name"]), _count(item["stored"], "stored")
            if name in arrays:
                raise InvalidObject(f"array {name} is listed twice")
            if at + stored > len(data):
                raise InvalidObject(
                    f"array {name} ends at byte {at + stored} of a file of {len(data)}: it is truncated"
                )
            arrays[name] = _unpack_array(item, data[at : at + stored])
            at += stored
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidObject(f"the header is malformed: {type(error).__name__} {error}") from None
    if bytes(data[at:]) != END:
        raise InvalidObject(
            f"expected the end mark at byte {at}, found {len(data) - at} other bytes: "
            "the file is truncated or something was appended"
        )
    _check_arrays(head, arrays)
    return head, arrays


def _count(value, what, limit=LARGEST_DIMENSION):
    if type(value) is not int or not 0 <= value <= limit:
        raise InvalidObject(f"{what} must be a whole number from 0 to {limit}, not {value!r}")
    return value


FORMATS = {"scalar": ("scalar",), "vector": ("sparse", "bitmap"), "matrix": ("csr", "dcsr")}
RANK = {"scalar": 0, "vector": 1, "matrix": 2}


def _check_head(head):
    kind = head["kind"]
    if kind not in FORMATS:
        raise InvalidObject(f"unknown kind {kind!r}: expected scalar, vector or matrix")
    if head["format"] not in FORMATS[kind]:
        raise InvalidObject(
            f"unknown format {head['format']!r} of a {kind}: expected one of {', '.join(FORMATS[kind])}"
        )
    if head["dtype"] not in DTYPES:
        raise InvalidObject(f"unknown type {head['dtype']!r}: expected one of {', '.join(DTYPES)}")
    shape = head["shape"]
    if type(shape) is not list or len(shape) != RANK[kind]:
        raise InvalidObject(f"shape {shape!r} does not fit a {kind}")
    for size in shape:
        _count(size, "a dimension")
    _count(head["nvals"], "nvals")
    if type(head["iso"]) is not bool:
        raise InvalidObject(f"iso must be true or false, not {head['iso']!r}")


def _unpack_array(item, block):
    name, length = item["name"], _count(item["length"], "length")
    if zlib.crc32(block) != item["crc32"]:
        raise InvalidObject(f"the checksum of array {name} does not match: the file is damaged")
    if item["dtype"] not in DTYPES.values():
        raise InvalidObject(f"array {name} has type {item['dtype']!r}, which does not occur in this format")
    dtype = np.dtype(item["dtype"])
    size, coding = length * dtype.itemsize, item["coding"]
    if coding == "raw":
        if size != len(block):
            raise InvalidObject(f"array {name} has {len(block)} bytes, {length} values of {dtype} need {size}")
        return np.frombuffer(block, dtype).copy() if length else np.empty(0, dtype)
    if coding not in ("shuffle-zlib", "delta-shuffle-zlib"):
        raise InvalidObject(f"unknown coding {coding!r} of array {name}")
    if size > (len(block) + 1) * LARGEST_RATIO:
        raise InvalidObject(f"array {name}: {len(block)} bytes cannot hold {size}")
    decoder = zlib.decompressobj()
    try:
        raw = decoder.decompress(block, size + 1)
    except zlib.error as error:
        raise InvalidObject(f"array {name} cannot be decompressed: {error}") from None
    if len(raw) != size or not decoder.eof or decoder.unused_data:
        raise InvalidObject(f"array {name} does not decompress to the {size} bytes of its header")
    if not length:
        return np.empty(0, dtype)
    values = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, length).T.copy().view(dtype).reshape(length)
    return np.cumsum(values, dtype=dtype) if coding.startswith("delta") else values


def _shuffled(array):
    """Byte shuffle: all first bytes, then all second bytes, ...; runs of equal high bytes compress well."""
    return array.view(np.uint8).reshape(array.shape[0], array.dtype.itemsize).T.tobytes()


def _differences(array):
    """Delta encoding: differences of consecutive values, wrapping; np.cumsum is the inverse."""
    out = array.copy()
    np.subtract(array[1:], array[:-1], out=out[1:])
    return out


# ---- invariants of the arrays of each format


def _check_arrays(head, arrays):
    layout, nvals = head["format"], head["nvals"]
    wanted = {
        "scalar": {"values"} if nvals else set(),
        "sparse": {"indices", "values"},
        "bitmap": {"words", "values"},
        "csr": {"indptr", "indices", "values"},
        "dcsr": {"rows", "indptr", "indices", "values"},
    }[layout]
    optional = {"words"} if layout == "bitmap" else set()
    labels = {"labels", "label_ends"} if head["kind"] == "matrix" else set()
    if not wanted - optional <= set(arrays) - labels <= wanted:
        raise InvalidObject(f"a {layout} {head['kind']} has the arrays {sorted(wanted)}, the file {sorted(arrays)}")
    if layout == "scalar":
        _expect(nvals <= 1 and (not nvals or arrays["values"].shape[0] == 1), "a scalar has at most one value")
        _value_type(head, arrays)
        return
    _value_type(head, arrays)
    positions = head["shape"][0] if layout == "bitmap" else nvals
    count = arrays["values"].shape[0]
    expected = 1 if head["iso"] else positions
    _expect(count == expected, f"{count} values where {expected} were expected")
    if layout == "bitmap":
        _check_words(head, arrays.get("words"))
        return
    indices, width = arrays["indices"], head["shape"][-1]
    _expect(indices.dtype == index_dtype(width), f"indices are {indices.dtype}, expected {index_dtype(width)}")
    _expect(indices.shape[0] == nvals, f"{indices.shape[0]} indices for {nvals} entries")
    if nvals:
        _expect(int(indices.min()) >= 0 and int(indices.max()) < width, f"an index is outside 0..{width - 1}")
    if layout == "sparse":
        _expect(bool((indices[1:] > indices[:-1]).all()), "the indices are not sorted, or not unique")
        return
    _check_rows(head, arrays)


def _check_words(head, words):
    size, nvals = head["shape"][0], head["nvals"]
    if words is None:
        _expect(nvals == size, f"a vector without presence bits is full: {nvals} entries at {size} positions")
        return
    _expect(words.dtype == np.uint64 and words.shape[0] == -(-size // 64), f"{words.shape[0]} words of bits for {size}")
    present = popcount(words)
    _expect(present == nvals, f"{present} presence bits for {nvals} entries")
    if size % 64:
        _expect(int(words[-1]) >> (size % 64) == 0, "presence bits past the end")


def _check_rows(head, arrays):
    indptr, indices, nvals = arrays["indptr"], arrays["indices"], head["nvals"]
    count = head["shape"][0]
    if "rows" in arrays:
        rows = arrays["rows"]
        _expect(rows.dtype == np.int64, f"rows are {rows.dtype}, expected int64")
        if rows.shape[0]:
            _expect(int(rows[0]) >= 0 and int(rows[-1]) < count, f"a row is outside 0..{count - 1}")
        _expect(bool((rows[1:] > rows[:-1]).all()), "the rows are not sorted, or not unique")
        count = rows.shape[0]
    _expect(indptr.dtype == np.int64, f"indptr is {indptr.dtype}, expected int64")
    _expect(indptr.shape[0] == count + 1, f"indptr has {indptr.shape[0]} elements for {count} rows")
    _expect(
        int(indptr[0]) == 0 and int(indptr[-1]) == nvals,
        f"indptr runs from {indptr[0]} to {indptr[-1]}, not to {nvals}",
    )
    _expect(bool((indptr[1:] >= indptr[:-1]).all()), "indptr descends")
    if nvals > 1:
        rising = indices[1:] > indices[:-1]
        starts = indptr[1:-1]
        starts = starts[(starts > 0) & (starts < nvals)]
        rising[starts - 1] = True  # a new row may start with a smaller column
        _expect(bool(rising.all()), "the indices of a row are not sorted, or not unique")


def _value_type(head, arrays):
    if "values" in arrays:
        expected = np.dtype(DTYPES[head["dtype"]])
        _expect(arrays["values"].dtype == expected, f"values are {arrays['values'].dtype}, expected {expected}")
        if expected.kind == "b":
            _expect(int(arrays["values"].view(np.uint8).max(initial=0)) <= 1, "a Boolean is neither 0 nor 1")


def _expect(holds, complaint):
    if not holds:
        raise InvalidObject(f"{complaint}: the file is damaged")
