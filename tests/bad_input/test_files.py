"""Files that are truncated, malformed, or smaller than their header: an error with name and line, no partial result."""

import io
import zlib

import numpy as np
import pytest

from support.library import LIBRARY, gb

if LIBRARY == "graphblas":
    pytest.skip("files are grb_tile's own", allow_module_level=True)

BANNER = "%%MatrixMarket matrix coordinate "
HUGE = 10**13

# name: (text, pattern of the message).  Sizes in a header are not allocated before the entries are read.
MATRIX_MARKET = {
    "empty": ("", "(?i)banner|empty|truncated|Matrix ?Market"),
    "no banner": ("3 3 1\n1 1 5\n", "(?i)banner|%%MatrixMarket"),
    "banner cut short": ("%%MatrixMarket matrix\n3 3 1\n1 1 5\n", "(?i)banner|expected"),
    "unknown object": ("%%MatrixMarket tensor coordinate real general\n1 1 0\n", "(?i)tensor"),
    "vector": ("%%MatrixMarket vector coordinate real general\n3 1\n1 5\n", "(?i)vector"),
    "unknown format": ("%%MatrixMarket matrix diagonal real general\n1 1 0\n", "(?i)diagonal"),
    "unknown field": (BANNER + "quaternion general\n1 1 0\n", "(?i)quaternion"),
    "unknown symmetry": (BANNER + "real circular\n1 1 0\n", "(?i)circular"),
    "no sizes": (BANNER + "real general\n% a comment\n", "(?i)truncated|sizes"),
    "two sizes": (BANNER + "real general\n3 3\n1 1 5\n", "(?i)line 2.*sizes"),
    "sizes are words": (BANNER + "real general\nthree three one\n1 1 5\n", "(?i)line 2.*sizes"),
    "fractional sizes": (BANNER + "real general\n3.5 3 1\n1 1 5\n", "(?i)line 2.*sizes"),
    "negative rows": (BANNER + "real general\n-3 3 1\n1 1 5\n", "(?i)line 2.*negative"),
    "negative entries": (BANNER + "real general\n3 3 -1\n", "(?i)line 2.*negative"),
    "rows beyond 2**60": (BANNER + f"real general\n{2**61} 3 1\n1 1 5\n", "(?i)line 2.*2\\*\\*60"),
    "huge number of entries": (BANNER + f"real general\n3 3 {HUGE}\n1 1 5\n", f"(?i){HUGE}|truncated|header has"),
    "huge dense array": (
        f"%%MatrixMarket matrix array real general\n{10**7} {10**7}\n1.0\n",
        "(?i)truncated|header has|too early",
    ),
    "too few entries": (BANNER + "real general\n3 3 2\n1 1 5\n", "(?i)too early|truncated|header has"),
    "too many entries": (BANNER + "real general\n3 3 1\n1 1 5\n2 2 6\n", "(?i)line 4|more"),
    "cut inside a line": (BANNER + "real general\n3 3 2\n1 1 5\n2 ", "(?i)line 4"),
    "row 0": (BANNER + "real general\n3 3 1\n0 1 5\n", "(?i)line 3.*row"),
    "negative column": (BANNER + "real general\n3 3 1\n1 -1 5\n", "(?i)line 3.*column"),
    "row beyond": (BANNER + "real general\n3 3 1\n4 1 5\n", "(?i)line 3.*row"),
    "column beyond": (BANNER + "real general\n3 3 1\n1 9 5\n", "(?i)line 3.*column"),
    "index is a word": (BANNER + "real general\n3 3 1\none 1 5\n", "(?i)line 3"),
    "index is a fraction": (BANNER + "real general\n3 3 1\n1.5 1 5\n", "(?i)line 3"),
    "index overflows": (BANNER + "real general\n3 3 1\n99999999999999999999999 1 5\n", "(?i)line 3"),
    "value is a word": (BANNER + "real general\n3 3 1\n1 1 five\n", "(?i)line 3"),
    "no value": (BANNER + "real general\n3 3 1\n1 1\n", "(?i)line 3"),
    "half a complex value": (BANNER + "complex general\n3 3 1\n1 1 5\n", "(?i)line 3"),
    "integer field, real value": (BANNER + "integer general\n3 3 1\n1 1 5.5\n", "(?i)line 3"),
    "pattern with values": (BANNER + "pattern general\n3 3 1\n1 1 5\n", "(?i)line 3"),
    "duplicate entries": (BANNER + "real general\n3 3 2\n1 1 5\n1 1 6\n", "(?i)duplicate"),
    "symmetric, not square": (BANNER + "real symmetric\n3 4 1\n2 1 5\n", "(?i)square"),
    "unknown GraphBLAS type": (BANNER + "real general\n%%GraphBLAS type colour\n3 3 1\n1 1 5\n", "(?i)colour"),
    "zero bytes": (BANNER + "real general\n3 3 1\n1 1 \x00\x00\n", "(?i)line 3"),
    "array too short": (
        "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
        "(?i)too early|truncated|header has",
    ),
    "array too long": ("%%MatrixMarket matrix array real general\n1 2\n1\n2\n3\n", "(?i)more|line"),
}
EDGE_LISTS = {
    "one column": ("0 1\n5\n", {}, "(?i)line 2"),
    "word for a number": ("0 1\n0 two\n", {}, "(?i)line 2.*two"),
    "fraction for a vertex": ("0 1\n0 1.5\n", {}, "(?i)line 2"),
    "negative vertex": ("0 1\n0 -1\n", {}, "(?i)line 2.*-1"),
    "zero where numbers begin at 1": ("1 2\n0 1\n", {"base": 1}, "(?i)line 2"),
    "vertex too large": ("0 1\n0 99999999999999999999999\n", {}, "(?i)digits|large|2\\*\\*"),
    "vertex beyond the size": ("0 1\n0 9\n", {"size": 5}, "(?i)9|outside"),
    "weight is a word": ("0 1 2.5\n0 2 heavy\n", {"weights": True}, "(?i)line 2"),
    "weight missing": ("0 1 2.5\n0 2\n", {"weights": True}, "(?i)line 2"),
    "weights promised, none there": ("0 1\n0 2\n", {"weights": True}, "(?i)weight|third column"),
    "columns change": ("0 1\n0 1 2\n", {}, "(?i)line 2|columns"),
    "base of 2": ("0 1\n", {"base": 2}, "(?i)base"),
}


@pytest.mark.quick
@pytest.mark.parametrize("name", MATRIX_MARKET)
def test_matrix_market(name, tmp_path):
    text, message = MATRIX_MARKET[name]
    path = tmp_path / "mangled.mtx"
    path.write_text(text)
    with pytest.raises(ValueError, match=message) as raised:
        gb.io.mmread(path)
    assert "mangled.mtx" in str(raised.value), "the message does not name the file"
    assert isinstance(raised.value, gb.exceptions.InvalidValue)
    with pytest.raises(ValueError, match=message):
        gb.io.mmread(io.StringIO(text))


@pytest.mark.parametrize("name", EDGE_LISTS)
def test_edge_lists(name, tmp_path):
    text, options, message = EDGE_LISTS[name]
    path = tmp_path / "mangled.el"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        gb.io.read_edge_list(path, **options)


def test_values_that_are_no_numbers_are_values():
    """nan and inf are values of the field `real`; they are read unchanged."""
    A = gb.io.mmread(io.StringIO(BANNER + "real general\n3 3 3\n1 1 nan\n2 2 inf\n3 3 -inf\n"))
    values = A.to_coo()[2]
    assert np.isnan(values[0])
    assert values[1:].tolist() == [np.inf, -np.inf]


@pytest.mark.parametrize("reader", ["mmread", "read_edge_list", "load", "load_npz", "read"])
def test_no_such_file(reader, tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        getattr(gb.io, reader)(tmp_path / "absent.mtx")


@pytest.mark.parametrize("reader", ["mmread", "load", "load_npz"])
def test_binary_rubbish(reader, tmp_path):
    path = tmp_path / "rubbish.bin"
    path.write_bytes(np.random.default_rng(0).bytes(3000))
    with pytest.raises((ValueError, gb.exceptions.GraphblasException), match="rubbish|not a"):
        getattr(gb.io, reader)(path)


@pytest.mark.parametrize(
    ("indptr", "indices"), [([0, 1, 2, 3], [0, 1, 7]), ([0, 1, 2, 3], [0, -1, 2]), ([0, 2, 1, 3], [0, 1, 2])]
)
def test_npz_of_damaged_arrays(indptr, indices, tmp_path):
    path = tmp_path / "damaged.npz"
    np.savez(path, data=np.ones(3), indices=indices, indptr=indptr, format=b"csr", shape=(3, 3))
    with pytest.raises(gb.io.BadFile, match="damaged.npz: no sparse matrix"):
        gb.io.load_npz(path)


def objects():
    rng = np.random.default_rng(1)
    rows, columns = np.unique(rng.integers(0, 50, (2, 60)), axis=1)
    A = gb.Matrix.from_coo(rows, columns, rng.integers(0, 9, len(rows)), nrows=50, ncols=50)
    return {
        "matrix": A,
        "iso": A.apply("one").new(),
        "vector": A[0, :].new(),
        "huge": gb.Vector.from_coo([0, 2**59], [1.5, 2.5], size=2**60),
        "scalar": gb.Scalar.from_value(3),
    }


@pytest.mark.parametrize("name", ["matrix", "iso", "vector", "huge", "scalar"])
def test_serialized_cut_anywhere(name):
    """Cut at each length: never an object, never anything but InvalidObject."""
    data = gb.io.serialize(objects()[name])
    for length in range(0, len(data), max(1, len(data) // 300)):
        with pytest.raises(gb.exceptions.InvalidObject):
            gb.io.deserialize(data[:length])


@pytest.mark.parametrize("name", ["matrix", "iso", "vector", "huge", "scalar"])
def test_serialized_with_one_bit_changed(name):
    """Each byte in turn has a bit flipped: a checksum or a rule finds it."""
    data = bytearray(gb.io.serialize(objects()[name]))
    for place in range(0, len(data), max(1, len(data) // 300)):
        mangled = bytes(data[:place]) + bytes([data[place] ^ 4]) + bytes(data[place + 1 :])
        with pytest.raises(gb.exceptions.InvalidObject):
            gb.io.deserialize(mangled)


@pytest.mark.parametrize("extra", [b"x", b"\x00" * 8, zlib.compress(b"more")])
def test_serialized_with_something_behind(extra):
    with pytest.raises(gb.exceptions.InvalidObject):
        gb.io.deserialize(gb.io.serialize(objects()["matrix"]) + extra)


@pytest.mark.parametrize(("value", "error"), [(3, TypeError), (None, TypeError), ("text", TypeError), ([1], TypeError)])
def test_what_cannot_be_serialized(value, error):
    with pytest.raises(error, match="Matrix"):
        gb.io.serialize(value)


def test_writing_where_nothing_can_be_written(tmp_path):
    A = objects()["matrix"]
    before = A.to_coo()
    with pytest.raises(FileNotFoundError):
        gb.io.mmwrite(tmp_path / "no" / "such" / "folder.mtx", A)
    with pytest.raises(FileNotFoundError):
        gb.io.save(tmp_path / "no" / "such" / "folder.grb", A)
    with pytest.raises((ValueError, TypeError)):
        gb.io.write(tmp_path / "a.colour", A)
    assert all(np.array_equal(x, y) for x, y in zip(before, A.to_coo(), strict=True))
    assert list(tmp_path.iterdir()) == []
