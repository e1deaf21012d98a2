"""Damaged and hostile files: only the documented exceptions, in bounded memory and time, and no object that is none.

Valid files of every format are mutated: bytes, tokens, lines, headers with their checksums made right again, the
members of archives; compressed after the mutation or before.  GRB_TILE_SEED chooses the mutations.
"""

import bz2
import gzip
import io
import json
import lzma
import struct
import time
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest
import scipy.sparse

import grb_tile as gb
from grb_tile import io as grb_io
from grb_tile.exceptions import InvalidObject
from grb_tile.io.streams import Source
from support import seeds

ALLOWED = (grb_io.BadFile, InvalidObject)
SECONDS = 10  # for one file of a few kilobytes, on a busy machine
CONSTANT = 100 << 20  # bytes: several chunks of 4 MiB in several forms
FACTOR = 400  # bytes for each byte of text, or of a file that is not compressed
COMPRESSIONS = (gzip.compress, bz2.compress, lambda data: lzma.compress(data, preset=0))

TOKENS = [
    *(str(x).encode() for x in (0, -1, 1, 3, 2**31, 2**53 + 1, 2**60, 2**60 + 1, 2**63, 2**64, 10**25, 400_000_000)),
    *(b"nan", b"-inf", b"1e999", b"-0.0", b"1e", b"0x1", b"1.5", b"True", b"1+2j", b"x", b"9" * 5000, b"1" * 400),
    *(b"%", b"#", b"//", b"%%GraphBLAS type int8_t", b"%%GraphBLAS type qux", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00"),
    *(b'"', b",", b";", b"\t", b"\r", b"\n", b"\n\n\n", b" ", b"p sp 3 2", b"p edge 3 2", b"a 1 2 3", b"e 1 2", b"c x"),
    *(b"# grb_tile: 5 rows, 5 columns, from 0, INT8", b"# Nodes: 7 Edges: 3", b"source,target", b"symmetric"),
    *(b"skew-symmetric", b"hermitian", b"pattern", b"complex", b"integer", b"array", b"unsigned-integer", b"general"),
    *(b"\xe9", "\u00e9\u2028\u0660".encode(), b"\n" * 3000, b"%\n" * 2000, b" " * 3000, b"\x1a", b"\x85", b"\x0b"),
]


def matrices():
    rng = np.random.default_rng(3)
    yield gb.Matrix.from_coo([0, 1, 2, 2], [1, 0, 2, 0], [5, 5, -7, 1], nrows=3, ncols=3)
    yield gb.Matrix.from_coo([0, 1], [1, 0], [1.5, -1.5], nrows=3, ncols=3)
    yield gb.Matrix.from_coo([0, 1], [1, 0], [1 + 2j, 1 - 2j], nrows=2, ncols=2)
    yield gb.Matrix.from_coo([0, 2**40], [3, 2**50], [True, True], nrows=2**60, ncols=2**60)
    yield gb.Matrix.from_coo(
        np.repeat(np.arange(20), 3), rng.permutation(60) % 20, np.arange(60), "UINT8", dup_op="max"
    )
    yield gb.Matrix("FP32", 4, 0)


def seeds_of_text():
    for A in matrices():
        file = io.BytesIO()
        grb_io.mmwrite(file, A, comment="made here")
        yield "mtx", file.getvalue()
        file = io.BytesIO()
        grb_io.write_edge_list(file, A)
        yield "edges", file.getvalue()
    yield "mtx", b"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2.5\n-3e5\n"
    yield "mtx", b"%%MatrixMarket matrix coordinate integer skew-symmetric\n%%GraphBLAS type int8_t\n3 3 1\n2 1 -5\n"
    for text in (
        "0 1 2.5\n1 2 3\n# c\n\n2 0 nan\n",
        "source,target,weight\nann,bob,2\nbob,cyd,3\n",
        '"a, b";"c";1,5\n"c";d;2,5\n',
        "1\t2\n2\t3\n",
        "c x\np sp 3 2\na 1 2 5\na 2 3 7\n",
        "p edge 3 2\ne 1 2\ne 2 3\n",
        "0 1 True\n1 0 False\n",
        f"0 1 {2**64 - 1}\n5 7 3\n",
    ):
        yield "edges", text.encode()
    yield "metis", b"% c\n3 2 1\n2 5\n1 5 3 7\n2 7\n"
    yield "metis", b"3 1 11 2\n9 9 2 5\n7 7 1 5\n8 8\n"


def seeds_of_grb():
    objects = [*matrices(), gb.Scalar.from_value(3), gb.Scalar("FP32"), gb.Vector.from_dense(np.arange(200.0))]
    objects += [
        gb.Vector.from_coo([1, 2**40], [5, 6], size=2**50),
        gb.Vector.from_coo(np.arange(0, 130, 2), 7, size=130),
    ]
    return [grb_io.serialize(x, compression=level) for x in objects for level in (0, 6)]


def seeds_of_npz():
    A = scipy.sparse.csr_array(np.eye(5) + np.diag([1.5, 2, 3], 2))
    for format in ("csr", "csc", "coo", "bsr", "dia"):
        for compressed in (False, True):
            file = io.BytesIO()
            scipy.sparse.save_npz(file, A.asformat(format), compressed=compressed)
            yield file.getvalue()


def mutated_bytes(rng, data, others):
    """One to four changes: bits, bytes, tokens, parts left out, repeated, moved, or taken from another file."""
    data = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(0, len(data) + 1))
        end = min(len(data), at + int(rng.integers(1, 12)))
        kind = rng.integers(0, 8)
        if kind == 0 and at < len(data):
            data[at] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            data[at:end] = b""
        elif kind == 2:
            data[at:at] = rng.bytes(int(rng.integers(1, 6)))
        elif kind == 3:
            data[at:at] = data[at:end] * int(rng.integers(1, 50))
        elif kind == 4:
            del data[at:]
        elif kind == 5:
            other = others[int(rng.integers(len(others)))]
            cut = int(rng.integers(0, len(other) + 1))
            data[at:] = other[cut:]
        else:
            data[at:end] = TOKENS[int(rng.integers(len(TOKENS)))]
    return bytes(data)


def mutated_words(rng, data, others):
    """A word or a line replaced by a token, or by another word or line of the file."""
    separator = b"\n" if rng.integers(2) else b" "
    parts = data.split(separator)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(parts)))
        parts[at] = TOKENS[int(rng.integers(len(TOKENS)))] if rng.integers(2) else parts[int(rng.integers(len(parts)))]
    return separator.join(parts)


VALUES = [None, True, -1, 0, 1, 3, 2**31, 2**60, 2**63, 10**30, 1.5, "", "x", "<i4", "<f8", "O", "V8", "f8,(", [], {}]
VALUES += [[1], [2**60, 2**60], {"a": 1}, "csr", "dcsr", "sparse", "bitmap", "matrix", "vector", "raw", "shuffle-zlib"]
VALUES += [float("nan"), float("inf"), "delta-shuffle-zlib", "values", "indices", "i" * 3000, "(" * 3000]


def mutated_grb(rng, data, others):
    """A header with other values and the right checksum, or other blocks."""
    length = struct.unpack_from("<I", data, 12)[0]
    header = json.loads(data[20 : 20 + length])
    for _ in range(rng.integers(1, 3)):
        place = header
        if rng.integers(2) and isinstance(header.get("arrays"), list) and header["arrays"]:
            place = header["arrays"][int(rng.integers(len(header["arrays"])))]
        if not isinstance(place, dict):
            continue
        keys = sorted(place)
        if rng.integers(8) == 0:
            place.pop(keys[int(rng.integers(len(keys)))], None)
        elif keys:
            place[keys[int(rng.integers(len(keys)))]] = VALUES[int(rng.integers(len(VALUES)))]
    text = json.dumps(header).encode()
    if rng.integers(20) == 0:
        text = (b"[" * 50_000, b'{"a":' * 50_000, b"[]", b"5", b'"x"', b"null")[int(rng.integers(6))]
    body = bytearray(data[20 + length :])
    if rng.integers(3) == 0 and len(body) > 8:
        body[int(rng.integers(len(body)))] ^= 1 << int(rng.integers(8))
    return data[:12] + struct.pack("<II", len(text), zlib.crc32(text)) + text + bytes(body)


def mutated_blocks(rng, data, others):
    """Array blocks of uncompressed files with other values and the right checksums."""
    length = struct.unpack_from("<I", data, 12)[0]
    header = json.loads(data[20 : 20 + length])
    body, at = bytearray(data[20 + length :]), 0
    for item in header["arrays"]:
        stored = item["stored"]
        if stored and rng.integers(2):
            body[at + int(rng.integers(stored))] = int(rng.integers(256))
            item["crc32"] = zlib.crc32(body[at : at + stored])
        at += stored
    text = json.dumps(header).encode()
    return data[:12] + struct.pack("<II", len(text), zlib.crc32(text)) + text + bytes(body)


SHAPES = [(), (0,), (1,), (5,), (10**12,), (2**63,), (3, 3), (-1,), (2**40, 2**40)]
KINDS = ["<f8", ">f8", "<i4", "<i8", "|b1", "|O", "<U3", "|S3", "<f2", "<f16", "<M8[s]", "V8", "<c16", "[('a','<i4')]"]


def mutated_npz(rng, data, others):
    """An archive whose members have other headers, contents or names."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            content, kind = old.read(member), rng.integers(0, 8)
            if kind == 0:
                continue
            if kind == 1:
                content = mutated_bytes(rng, content, others)
            elif kind == 2:
                shape = SHAPES[int(rng.integers(len(SHAPES)))]
                header = {"descr": KINDS[int(rng.integers(len(KINDS)))], "fortran_order": False, "shape": shape}
                text = repr(header).encode().ljust(117) + b"\n"
                content = (
                    b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + rng.bytes(int(rng.integers(0, 90)))
                )
            elif kind == 3:
                made = io.BytesIO()
                array = np.array([0, 1, 2**31 - 1, -1, 2**62, 7])[: int(rng.integers(0, 7))]
                np.save(made, array.astype([np.int32, np.int64, float, np.uint8][int(rng.integers(4))]))
                content = made.getvalue()
            new.writestr(member if kind != 4 else f"other_{member}", content)
    return out.getvalue()


def opened_as(format, data):
    if format == "grb":
        return grb_io.load(io.BytesIO(data))
    if format == "npz":
        return grb_io.load_npz(io.BytesIO(data))
    if format == "metis":
        return grb_io.read_metis(io.BytesIO(data))
    if format == "mtx":
        return grb_io.mmread(io.BytesIO(data))
    if format == "edges":
        return grb_io.read_edge_list(io.BytesIO(data)).matrix
    return grb_io.read(io.BytesIO(data)).obj


def size_of_text(data):
    """Bytes of the decompressed text, as far as it goes."""
    count = 0
    try:
        with Source(io.BytesIO(data)) as source:
            while part := source.read(1 << 20):
                count += len(part)
    except grb_io.BadFile:
        pass
    return max(count, len(data))


def one(format, data, seed):
    """Read one file: an object or a documented exception, in bounded time and memory."""
    what = f"{format}, GRB_TILE_SEED={seeds.SEED}, round {seed}: {data[:3000]!r}"
    tracemalloc.start()
    started = time.perf_counter()
    try:
        found = opened_as(format, data)
    except ALLOWED as error:
        found = None
        assert str(error), what
    except Exception as error:
        found = None
        if "pass dup_op" not in str(error):  # of complex edges that are repeated none is the least
            raise AssertionError(f"{type(error).__name__} {error} for {what}") from error
    finally:
        seconds = time.perf_counter() - started
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert seconds < SECONDS, f"{seconds:.1f} s for {what}"
    expands = 3 * 1032 * len(data) if format in ("grb", "npz") else FACTOR * size_of_text(data)
    assert peak < CONSTANT + expands, f"{peak} bytes for {len(data)} of {what}"
    if found is not None:  # deserialize checks the invariants of every form
        again = grb_io.deserialize(grb_io.serialize(found))
        assert again.shape == found.shape, what
    return found is not None


FORMATS = {
    "text": (lambda: list(seeds_of_text()), (mutated_bytes, mutated_words)),
    "grb": (lambda: [("grb", data) for data in seeds_of_grb()], (mutated_bytes, mutated_grb, mutated_blocks)),
    "npz": (lambda: [("npz", data) for data in seeds_of_npz()], (mutated_bytes, mutated_npz)),
}


def fuzz(name, seconds):
    files, mutations = FORMATS[name][0](), FORMATS[name][1]
    for format, data in files:
        assert one(format, data, "unchanged"), f"{format}: {data!r} is a valid file"
    others = [data for _, data in files]
    end, rounds, objects = time.perf_counter() + seconds, 0, 0
    # a busy machine does few rounds in the time: it goes on until they are a sample
    while time.perf_counter() < end or rounds < 2000 and not (rounds > 20 and objects):
        rng = seeds.generator("fuzz", name, rounds)
        format, data = files[int(rng.integers(len(files)))]
        mutate = mutations[int(rng.integers(len(mutations)))]
        data = mutate(rng, data, others)
        if name == "text" and rng.integers(6) == 0:
            data = COMPRESSIONS[int(rng.integers(3))](data)
            if rng.integers(2):
                data = mutated_bytes(rng, data, others)
        if name == "text" and rng.integers(5) == 0:
            format = ("mtx", "edges", "metis", "any")[int(rng.integers(4))]
        objects += one(format, data, rounds)
        rounds += 1
    assert rounds > 20 and objects, f"{rounds} rounds, {objects} objects: the mutations are no sample"


@pytest.mark.filterwarnings("ignore::grb_tile.io.RepeatedEdges")
@pytest.mark.parametrize("name", FORMATS)
def test_a_sample_of_damaged_files(name):
    fuzz(name, 1.0)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::grb_tile.io.RepeatedEdges")
@pytest.mark.parametrize("name", FORMATS)
def test_damaged_files(name):
    fuzz(name, 10.0)


BANNER = b"%%MatrixMarket matrix coordinate real general\n"
BOMBS = {  # name -> format, text, how often it is compressed
    "comments": ("mtx", lambda: BANNER + b"%\n" * (32 << 20), 1),
    "long comments": ("mtx", lambda: BANNER + (b"%" + b"x" * 1000 + b"\n") * (64 << 10), 1),
    "blank header": ("mtx", lambda: BANNER + b"\n" * (64 << 20), 1),
    "blank lines": ("mtx", lambda: BANNER + b"3 3 1\n" + b"\n" * (64 << 20), 1),
    "blanks and lines": ("mtx", lambda: BANNER + b"3 3 1\n" + b" \r\n" * (16 << 20), 1),
    "one long line": ("mtx", lambda: b" " * (64 << 20), 1),
    "blank edges": ("edges", lambda: b"0 1\n" + b"\n" * (64 << 20), 1),
    "comments of edges": ("edges", lambda: b"0 1\n" + b"#\n" * (32 << 20), 1),
    "no columns": ("mtx", lambda: b"%%MatrixMarket matrix array real general\n400000000 0\n", 0),
    "no rows": ("mtx", lambda: b"%%MatrixMarket matrix array real general\n0 400000000\n", 0),
    "no entries": ("mtx", lambda: BANNER + b"400000000 400000000 0\n", 0),
    "many nodes": ("edges", lambda: b"# Nodes: 400000000 Edges: 1\n0 1\n", 0),
    "metis": ("metis", lambda: b"400000000 0\n", 0),
    "dimacs": ("edges", lambda: b"p sp 400000000 0\n", 0),
    "compressed twice": ("any", lambda: b"0 1\n" * (16 << 20), 2),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", BOMBS)
def test_small_files_stay_small(name):
    """Memory does not follow the decompressed size of what is left out, and takes a second for 10 MB of it."""
    format, text, times = BOMBS[name]
    data = text()
    for _ in range(times):
        data = gzip.compress(data)
    tracemalloc.start()
    started = time.process_time()
    try:
        opened_as(format, data)
    except ALLOWED:
        pass
    finally:
        seconds, peak = time.process_time() - started, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < CONSTANT + FACTOR * len(data) and seconds < 20, f"{peak} bytes, {seconds:.1f} s"


def test_presence_bits_are_counted_where_they_are():
    """A vector of 2^30 places whose bits compress to little: eight bytes each would be 8 GB."""
    from importlib import import_module

    from grb_tile.storage.store import BitmapVector

    fmt = import_module("grb_tile.io.serialize")
    size = 1 << 28
    words = np.zeros(size // 64, np.uint64)
    words[0] = 5
    data = fmt.pack_store(fmt.store_parts(BitmapVector(size, None, words, np.ones(1), 2, True), "FP64"), 9)
    tracemalloc.start()
    try:
        assert grb_io.deserialize(data).nvals == 2
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * words.nbytes
