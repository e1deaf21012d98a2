"""Matrix Market reading against scipy.io.mmread, file by file, and what must fail."""

import bz2
import gzip
import io
import lzma
import re

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import grb_tile as gb
from grb_tile.exceptions import InvalidValue
from grb_tile.io.errors import BadFile
from grb_tile.io.market_read import read_market
from grb_tile.io.streams import LONGEST_LINE, Source

BANNER = "%%MatrixMarket matrix coordinate {} {}\n"


def triples(text, **options):
    with Source(io.BytesIO(text) if isinstance(text, bytes) else io.StringIO(text)) as source:
        return read_market(source, **options)


def complaint(text, **options):
    with pytest.raises(BadFile) as caught:
        triples(text, **options)
    assert isinstance(caught.value, InvalidValue) and isinstance(caught.value, ValueError)
    return str(caught.value)


def check_against_scipy(text):
    found = triples(text)
    expected = scipy.io.mmread(io.BytesIO(text.encode()), spmatrix=False)
    if found.dense is not None:
        np.testing.assert_array_equal(found.dense, expected)
        return
    np.testing.assert_array_equal(found.rows, expected.row)
    np.testing.assert_array_equal(found.cols, expected.col)
    np.testing.assert_array_equal(np.broadcast_to(found.values, expected.data.shape), expected.data)
    assert (found.nrows, found.ncols) == expected.shape


BODIES = {
    "pattern": "2 1\n3 1\n3 3\n",
    "integer": "2 1 -5\n3 1 7\n3 3 0\n",
    "real": "2 1 -1.5\n3 1 2e-3\n3 3 inf\n",
    "complex": "2 1 1.5 -2\n3 1 0 1\n3 3 4 0\n",
    "unsigned-integer": "2 1 18446744073709551615\n3 1 7\n3 3 1\n",
    "double": "2 1 .5\n3 1 5.\n3 3 nan\n",
}
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("field", BODIES)
def test_coordinate_fields_and_symmetries_read_as_scipy_reads_them(field, symmetry):
    if field == "pattern" and symmetry in ("skew-symmetric", "hermitian"):
        assert "cannot go with" in complaint(BANNER.format(field, symmetry) + "3 3 3\n" + BODIES[field])
    elif symmetry != "skew-symmetric":
        check_against_scipy(BANNER.format(field, symmetry) + "3 3 3\n" + BODIES[field])
    elif field == "unsigned-integer":
        assert "needs negative values" in complaint(BANNER.format(field, symmetry) + "3 3 0\n")
    else:
        body = BODIES[field].replace("3 3 ", "3 2 ")
        check_against_scipy(BANNER.format(field, symmetry) + "3 3 3\n" + body)
        zero = "0 0" if field == "complex" else "-0" if field == "real" else "0"
        check_against_scipy(BANNER.format(field, symmetry) + f"3 3 2\n2 1 {zero}\n3 3 {zero}\n")
        wrong = complaint(
            BANNER.format(field, symmetry) + "3 3 2\n% c\n2 1" + f" {zero}\n\n1 1 {zero.replace('0', '5')}\n"
        )
        assert "line 6: the diagonal of a skew-symmetric matrix is zero" in wrong


@pytest.mark.parametrize("symmetry", SYMMETRIES)
@pytest.mark.parametrize("field", ["integer", "real", "complex"])
def test_array_fields_and_symmetries_read_as_scipy_reads_them(field, symmetry):
    count = {"general": 9, "skew-symmetric": 3}.get(symmetry, 6)
    diagonal = (0, 3, 5) if symmetry == "hermitian" else ()
    lines = [f"{k + 1} {0 if k in diagonal else k}" if field == "complex" else f"{k + 1}" for k in range(count)]
    text = f"%%MatrixMarket matrix array {field} {symmetry}\n3 3\n" + "\n".join(lines) + "\n"
    check_against_scipy(text)
    if field == "complex" and symmetry == "hermitian":
        assert "is real, row 2 has (4+1j)" in complaint(text.replace("4 0\n", "4 1\n"))
        text = BANNER.format(field, symmetry) + "3 3 2\n2 1 1 1\n2 2 4 1\n"
        assert "line 4: the diagonal of a hermitian matrix is real" in complaint(text)


@pytest.mark.parametrize("longer", [0, 1, LONGEST_LINE])
@pytest.mark.parametrize("where", ["comment", "sizes"])
def test_a_line_of_the_header_as_long_as_no_line_is(where, longer):
    """It is refused as a whole: a limit on the bytes that are read at a time would make two lines of it."""
    long = b"%" + b"x" * (LONGEST_LINE + longer) if where == "comment" else b"2 2 1" + b" " * (LONGEST_LINE + longer)
    lines = [
        b"%%MatrixMarket matrix coordinate real general",
        long,
        *([b"2 2 1"] if where == "comment" else []),
        b"1 1 3",
    ]
    with pytest.raises(BadFile, match=f"a line is longer than {LONGEST_LINE} bytes"):
        gb.io.mmread(io.BytesIO(b"\n".join([*lines, b""])))


def test_blank_lines_comments_and_windows_line_ends_are_accepted_anywhere():
    text = "%%MatrixMarket MATRIX Coordinate Real General\r\n%c\r\n\r\n2 2 2\r\n\r\n  1 1\t5\r\n% in between\r\n2 2 6"
    found = triples(text)
    assert found.rows.tolist() == [0, 1] and found.values.tolist() == [5.0, 6.0]


def test_type_comments_are_honoured_and_can_be_ignored():
    text = BANNER.format("integer", "general").replace("\n", "\n%%GraphBLAS type {}\n") + "2 2 1\n2 1 {}\n"
    for c_name, value in (("int8_t", -7), ("uint16_t", 7), ("float", 2), ("bool", 1), ("uint64_t", 2**64 - 1)):
        found = triples(text.format(c_name, value))
        assert found.values.dtype == np.dtype({"float": "float32", "bool": "bool"}.get(c_name, c_name[:-2]))
        assert found.values[0] == value
    assert triples(text.format("int8_t", 300), types=False).values.tolist() == [300]
    assert "int8 cannot hold" in complaint(text.format("int8_t", 300))
    assert "unknown type 'gunk'" in complaint(text.format("gunk", 1))
    assert triples(text.format("float", 2.5)).values.tolist() == [2.5], "a float comment overrules an integer banner"


@pytest.mark.parametrize(
    ("field", "body", "wanted"),
    [
        ("integer", "1 1 +5\n2 2 -3\n", [5, -3]),
        ("real", "1 1 +5\n2 2 +.5\n", [5, 0.5]),
        ("real", "% D\n1 1 1.0D0\n2 2 -2.5d+2\n", [1, -250]),
        ("real", "1 1 1e+2\n2 2 +1.D-1\n", [100, 0.1]),
        ("complex", "1 1 +1.0D+1 -2d0\n2 2 0 +1\n", [10 - 2j, 1j]),
    ],
)
def test_signs_and_exponents_as_fortran_writes_them(field, body, wanted):
    assert triples(BANNER.format(field, "general") + f"2 2 2\n{body}").values.tolist() == wanted


@pytest.mark.parametrize("number", ["D3", "1.0D", "++5", "+-5", "1D2D3", "+"])
def test_other_letters_and_signs_are_refused(number):
    assert "line 3: real value expected" in complaint(BANNER.format("real", "general") + f"2 2 1\n1 1 {number}\n")


def test_a_value_without_a_negative_has_no_place_in_a_skew_symmetric_file():
    head = BANNER.format("integer", "skew-symmetric") + "%%GraphBLAS type int8_t\n3 3 1\n2 1 "
    assert triples(head + "-127\n").values.tolist() == [-127, 127]
    assert "line 4: the skew-symmetric matrix has the value -128" in complaint(head + "-128\n")
    head = BANNER.format("integer", "skew-symmetric") + "3 3 1\n2 1 "
    assert "cannot hold with both signs" in complaint(head + f"{-(2**63)}\n")


def test_integers_keep_their_digits_in_a_real_file():
    """A type comment of integers: the digits are read as such, because a double has 53 bits."""
    head = BANNER.format("real", "general") + "%%GraphBLAS type {}\n3 3 1\n2 1 {}\n"
    for c_name, value in (("int64_t", 2**53 + 1), ("uint64_t", 2**64 - 1), ("int64_t", -(2**63)), ("int8_t", -128)):
        assert triples(head.format(c_name, value)).values.tolist() == [value]
    assert triples(head.format("int16_t", "-5.0")).values.tolist() == [-5]
    assert "cannot hold exactly" in complaint(head.format("int64_t", "9007199254740993.0"))
    assert "cannot hold exactly" in complaint(head.format("int64_t", "0.5"))
    assert "line 4: real value expected" in complaint(head.format("int64_t", "x"))


def test_a_symmetric_file_of_one_entry_has_both():
    for field, value in (("integer", " 7"), ("real", " 7"), ("complex", " 7 0"), ("pattern", "")):
        check_against_scipy(BANNER.format(field, "symmetric") + f"3 3 1\n2 1{value}\n")
        check_against_scipy(BANNER.format(field, "symmetric") + f"3 3 1\n2 2{value}\n")


@pytest.mark.parametrize("symmetry", ["symmetric", "skew-symmetric", "hermitian"])
@pytest.mark.parametrize("layout, sizes", [("coordinate", "3 4 0"), ("coordinate", "4 3 0"), ("array", "1 2")])
def test_a_rectangle_has_no_symmetry(symmetry, layout, sizes):
    assert "must be square" in complaint(f"%%MatrixMarket matrix {layout} complex {symmetry}\n{sizes}\n")


@pytest.mark.parametrize("number", ["1e5.5", "1e5e5", "1.5.5", "1e", "e5", ".", "1..5", "1e.5", "--1", "1e5.", "1-5"])
def test_what_looks_like_a_real_is_refused_with_its_line(number):
    body = f"1 1 1.5\n2 2 {number}\n3 3 1e5\n"
    assert "line 4: real value expected" in complaint(BANNER.format("real", "general") + "3 3 3\n" + body)


FAULTS = [
    ("", f"3 3 {'9' * 5000}", r"more than 2\*\*60"),
    ("", f"{'9' * 5000} 3 0", r"more than 2\*\*60"),
    ("1 4 1\n2 2 2\n", "0 4 2", "a 0 by 4 matrix has no entries, the header has 2"),
    ("1 4 1\n", "4 0 1", "a 4 by 0 matrix has no entries, the header has 1"),
    ("1 1 1\n", "3 3 2", "entries too early"),
    ("1 1 1\n2 2 2\n", "3 3 1", "line 4: more lines than"),
    ("4 1 1\n", "3 3 1", r"line 3: row index outside 1\.\.3"),
    ("1 4 1\n", "3 3 1", r"line 3: column index outside 1\.\.3"),
    ("0 1 1\n", "3 3 1", "row index outside"),
    ("1 -1 1\n", "3 3 1", "column index outside"),
    ("nan 1 1\n", "3 3 1", "row index 'nan' is not a whole number"),
    ("1.5 1 1\n", "3 3 1", "row index '1.5' is not a whole number"),
    ("1e0 1 1\n", "3 3 1", "row index '1e0' is not a whole number"),
    ("1 1 1\n1 1\n", "3 3 2", "line 4: expected 3 columns .* found 2"),
    ("1 1 1 9\n", "3 3 1", "expected 3 columns .* found 4"),
    ("1 1 3abc\n", "3 3 1", "line 3: integer value expected"),
    ("1 1 3.5\n", "3 3 1", "integer value expected"),
    ("1 1 1e5\n", "3 3 1", "integer value expected"),  # scipy's engine crashes on this one
    ("1 1 99999999999999999999\n", "3 3 1", "does not fit into 64 bits"),
    ("99999999999999999999 1 1\n", "3 3 1", "does not fit into 64 bits"),
    ("1,1,1\n", "3 3 1", "is not a whole number"),
    ("\x00\x01\x02\n", "3 3 1", "is not a whole number"),
    ("", "3 3", "expected the sizes"),
    ("", "-3 3 0", "nrows is negative"),
    ("", "3 3 x", "expected the sizes"),
    ("", f"{2**61} 3 0", r"more than 2\*\*60"),
]


@pytest.mark.parametrize("body, sizes, message", FAULTS)
def test_faults_are_named_with_their_line(body, sizes, message):
    text = complaint(BANNER.format("integer", "general") + sizes + "\n" + body)
    assert re.search(message, text), text
    assert text.startswith("<StringIO>") and "\n" not in text


def test_lines_are_counted_across_chunks(monkeypatch):
    monkeypatch.setattr("grb_tile.io.streams.CHUNK", 64)
    good = "".join(f"{k % 9 + 1} {k % 7 + 1} {k}\n" for k in range(500))
    found = triples(BANNER.format("integer", "general") + "9 7 500\n" + good)
    assert found.values.tolist() == list(range(500))
    text = complaint(BANNER.format("integer", "general") + "9 7 501\n" + good + "9 8 1\n")
    assert "line 503: column index outside 1..7" in text
    text = complaint(BANNER.format("integer", "general") + "9 7 502\n\n%x\n" + good + "9 8 x\n9 1 1\n")
    assert "line 505: integer value expected" in text


@pytest.mark.parametrize(
    "banner",
    [
        "",
        "hello",
        "%%MatrixMarket",
        "%%MatrixMarket vector array real general",
        "%%MatrixMarket matrix gunk real general",
        "%%MatrixMarket matrix coordinate real",
        "%%MatrixMarket tensor coordinate real general",
        "\x89PNG\x00",
    ],
)
def test_bad_banners_are_refused(banner):
    assert "line 1" in complaint(banner + "\n1 1 0\n")


def test_contradictions_in_the_head_are_refused():
    assert "must be square" in complaint(BANNER.format("real", "symmetric") + "3 4 0\n")
    assert "contradicts" in complaint(
        "%%MatrixMarket matrix array real general\n%%GraphBLAS type double complex\n1 1\n1\n"
    )
    assert "negative values" in complaint(
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n%%GraphBLAS type uint8_t\n2 2 1\n2 1 1\n"
    )
    assert "`pattern` cannot go with `array`" in complaint("%%MatrixMarket matrix array pattern general\n1 1\n1\n")


def test_a_header_that_promises_more_than_the_file_holds_allocates_nothing(tmp_path):
    path = tmp_path / "huge.mtx"
    path.write_text(BANNER.format("real", "general") + "1000000 1000000 900000000000\n1 1 1\n")
    with pytest.raises(BadFile, match="line 2: the header has 900000000000 entries"), Source(path) as source:
        read_market(source)
    with gzip.open(tmp_path / "huge.mtx.gz", "wb") as file:
        file.write(path.read_bytes())
    with pytest.raises(BadFile, match="899999999999 entries too early"), Source(tmp_path / "huge.mtx.gz") as source:
        read_market(source)


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compression_is_recognised_by_content_and_damage_is_named(tmp_path, compress):
    body = "".join(f"{k + 1} {k + 1} {k * k}\n" for k in range(2000))
    data = compress((BANNER.format("integer", "general") + "2000 2000 2000\n" + body).encode())
    path = tmp_path / "no-ending"
    path.write_bytes(data)
    with Source(path) as source:
        assert read_market(source).values[-1] == 1999**2
    for damaged in (data[: len(data) // 2], data[: len(data) // 2] + b"garbage" * 50 + data[len(data) // 2 + 350 :]):
        path.write_bytes(damaged)
        with pytest.raises(BadFile, match="no-ending"), Source(path) as source:
            read_market(source)


def test_random_text_never_does_worse_than_a_clean_complaint():
    rng = np.random.default_rng(7)
    alphabet = np.frombuffer(b"0123456789 .-+eE\n\tnaif%1 1 1\n", np.uint8)
    for _ in range(300):
        body = rng.choice(alphabet, rng.integers(0, 60)).tobytes()
        field = ("pattern", "integer", "real", "complex")[rng.integers(4)]
        text = f"%%MatrixMarket matrix coordinate {field} general\n9 9 {rng.integers(0, 4)}\n".encode() + body
        try:
            found = triples(text)
        except BadFile:
            continue
        assert found.rows.min(initial=0) >= 0 and found.rows.max(initial=0) < 9


def test_progress_goes_to_stderr_and_cleans_up(capsys, monkeypatch):
    monkeypatch.setattr("grb_tile.io.progress.INTERVAL", 0)
    triples(BANNER.format("integer", "general") + "1 1 1\n1 1 1\n", progress=True)
    out, err = capsys.readouterr()
    assert out == "" and "Reading <StringIO>" in err and err.endswith("\r")
    triples(BANNER.format("integer", "general") + "1 1 1\n1 1 1\n")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("name", ["BOOL", "INT8", "INT16", "INT32", "UINT8", "UINT16", "UINT32", "UINT64", "FP32"])
def test_indices_beyond_32_bits_are_written_with_values_of_any_width(name):
    """SciPy 1.17 writes them modulo 2^32 beside values of 8 and 16 bits."""
    A = gb.Matrix.from_coo([0, 3652360355, 2**50], [2**40, 76, 1], [0, 1, 1], name, nrows=2**60, ncols=2**41)
    file = io.BytesIO()
    gb.io.mmwrite(file, A)
    assert gb.io.mmread(io.BytesIO(file.getvalue())).isequal(A, check_dtype=True)


def test_headers_up_to_the_limit():
    from grb_tile.io.market_header import LONGEST_HEADER

    first, sizes = "%%MatrixMarket matrix coordinate integer general\n", "2 3 1\n"
    room = LONGEST_HEADER - len(sizes)
    for length, fits in ((room, True), (room + 1, False)):
        comment = f"%{'x' * (length - 2)}\n"
        file = io.BytesIO(f"{first}{comment}{sizes}2 1 7\n".encode())
        if fits:
            assert gb.io.mmread(file).to_dicts() == {1: {0: 7}}
        else:
            with pytest.raises(gb.io.BadFile, match=f"no line of sizes in the first {LONGEST_HEADER} bytes"):
                gb.io.mmread(file)


@pytest.mark.parametrize("form, field, line", [
    ("coordinate", "pattern", "{i} {j}"), ("coordinate", "complex", "{i} {j} 0 1"), ("coordinate", "real", "{i} {j} 1"),
    ("coordinate", "integer", "{i} {j} 1"), ("array", "complex", "0 1"), ("array", "real", "1"), ("array", "integer", "1"),
])  # fmt: skip
def test_lines_as_short_as_can_be(tmp_path, form, field, line):
    """The number of entries that a file of a size may hold is not too small for the shortest lines."""
    path = tmp_path / "x.mtx"
    lines = [line.format(i=i, j=j) for j in range(1, 10) for i in range(1, 10)]
    size = "9 9 81" if form == "coordinate" else "9 9"
    path.write_text(f"%%MatrixMarket matrix {form} {field} general\n{size}\n" + "\n".join(lines) + "\n")
    found = gb.io.read(path).obj
    assert found.nvals == 81 and found.shape == (9, 9)
    path.write_text(path.read_text().rstrip("\n"))  # nor without the last line's end
    assert gb.io.read(path).obj.isequal(found)
