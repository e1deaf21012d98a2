"""The body of a Matrix Market file as arrays, read in chunks of a few megabytes of text.

scipy.io.mmread (SciPy >= 1.12 contains the fast_matrix_market engine) converts the text chunk by chunk, each behind a
short header.  So progress can be shown, and the peak memory is the arrays and one chunk.  Each chunk is checked first,
because the engine ignores text after a number (`3abc` is read as 3, a fourth column is dropped) and crashes on an
exponent in an integer field.
"""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.io.errors import bad_file, missing_library
from grb_tile.io.lines import data_lines, line_number
from grb_tile.io.market_header import read_header
from grb_tile.io.progress import Progress, wanted
from grb_tile.storage.store import index_dtype

if TYPE_CHECKING:
    from .market_header import Header
    from .streams import Source

FLOAT = rb"-?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?|-?(?:[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])"
VALUE = {
    "pattern": b"",
    "integer": rb"-?\d++",
    "unsigned-integer": rb"\d++",
    "real": b"(?:" + FLOAT + b")",
    "complex": b"(?:" + FLOAT + rb")[ \t]++(?:" + FLOAT + b")",
}
PARSED = {
    "pattern": None,
    "integer": np.int64,
    "unsigned-integer": np.uint64,
    "real": np.float64,
    "complex": np.complex128,
}
PLUS = re.compile(rb"(?<=[ \t\n])\+(?=[0-9.])")  # C and Fortran write `+5`, and Fortran `1.0D0`
EXPONENT = re.compile(rb"(?<=[0-9.])[dD](?=[-+]?[0-9])")
GROW = 1.5
DIGITS = b"0123456789"
COMMENTS = (b"%",)
EXACT_IN_FLOAT = 2**53


class Triples:
    """The entries of a file: `rows`, `cols` (int32 or int64) and `values`, both triangles of a symmetric matrix.

    `values` has length 1 for a pattern file.  For the array format `dense`, nrows by ncols, is set instead.
    """

    __slots__ = ("cols", "dense", "header", "ncols", "nrows", "rows", "values")

    def __init__(
        self, header: Header, rows: Any = None, cols: Any = None, values: Any = None, dense: Any = None
    ) -> None:
        self.header = header
        self.nrows = header.nrows
        self.ncols = header.ncols
        self.rows = rows
        self.cols = cols
        self.values = values
        self.dense = dense


def read_market(source: Source, types: bool = True, progress: bool | None = None) -> Triples:
    """The Triples of `source`, a streams.Source at its beginning.

    types   False: the %%GraphBLAS comment is ignored
    Raises: BadFile, with the line, for a malformed or truncated file; ImportError where SciPy is missing.
    """
    header = read_header(source, types)
    columns, line = _read_body(source, header, source.name, header.lines, progress)
    if columns.count != header.entries:
        missing = header.entries - columns.count
        raise bad_file(
            source.name,
            line,
            f"the file ends {missing} entries too early: its header has {header.entries}",
            "The file is truncated, or its header is malformed",
        )
    return columns.array() if header.format == "array" else columns.triples()


def read_share(source: Source, header: Header, name: str, line: int) -> tuple[Triples, int]:
    """(the Triples of some lines of the body of a coordinate file, their number of lines with entries).

    source   those lines.  header, name   of the file.  line   the number of lines before them, for messages
    Raises: BadFile.  The caller compares the sum of the numbers with the header's.
    """
    columns, _ = _read_body(source, header, name, line, False)
    return columns.triples(), columns.count


def _read_body(source, header, name, line, progress):
    columns = _Columns(header, PARSED[_parsed_field(header)], source)
    with Progress(f"Reading {name}", source.size, wanted(progress, source.size)) as bar:
        for text in source.lines_in_chunks():
            chunk = _Chunk(text, header, name, line)
            columns.append(chunk)
            line += chunk.lines
            bar.update(source.done)
    return columns, line


def _parsed_field(header):
    """The field for parsing the text: that of the type comment, because parsing integers as `real` loses digits."""
    field, wish = header.field, header.type_name
    if field in ("integer", "unsigned-integer", "real") and wish is not None:
        if wish.startswith("float"):
            return "real"
        return "unsigned-integer" if wish == "uint64" else "integer"
    return field


def _line_pattern(header, field):
    """Regular expression of one line of the body; its repetition matches a chunk."""
    index = rb"[ \t]*+\d++[ \t]++\d++" if header.format == "coordinate" else rb"[ \t]*+"
    value = VALUE[field]
    gap = rb"[ \t]++" if value and header.format == "coordinate" else b""
    return index + gap + value + rb"[ \t\r]*+\n"


class _Chunk:
    """Lines of the body: checked, without comments and blank lines, and converted to rows, cols, values."""

    def __init__(self, text, header, name, before):
        self.text, self.header, self.name, self.before = text, header, name, before
        self.lines = count_byte(text, b"\n")
        self.field = _parsed_field(header)
        self.body = text
        if not self._fits(self.field):
            self.body = data_lines(text, COMMENTS)
            if not self._fits(self.field) and not self._is_real():
                written = self.body
                self.body = EXPONENT.sub(b"e", PLUS.sub(b"", written))
                if self.body == written or not self._fits(self.field) and not self._is_real():
                    self._complain()
        self.count = count_byte(self.body, b"\n")
        self.rows, self.cols, self.values = _converted(self) if self.count else (None, None, None)

    def _fits(self, field):
        if not self.body or _plainly_good(self.body, self.header, field):
            return True
        self.end = re.compile(b"(?:" + _line_pattern(self.header, field) + b")*+").match(self.body).end()
        return self.end == len(self.body)

    def _is_real(self):
        """Does the chunk have values such as 5.0, in a `real` file whose type comment is an integer type?"""
        if self.header.field != "real" or self.field == "real" or not self._fits("real"):
            return False
        self.field = "real"
        return True

    def number(self, at):
        """The line number in the file of line `at` of the body."""
        return self.before + (at + 1 if self.body is self.text else line_number(self.text, COMMENTS, at))

    def _complain(self):
        bare = self.body[self.end : self.body.index(b"\n", self.end)].strip()
        field = self.header.field if self.header.field == "real" else self.field
        raise bad_file(
            self.name,
            self.number(self.body.count(b"\n", 0, self.end)),
            _complaint(bare, self.header, field),
            "Correct the line, or the banner's field",
        )


def count_byte(text: bytes, byte: bytes) -> int:
    """The number of occurrences of a byte; ten times as fast as bytes.count when it is frequent."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord(byte)))


def _plainly_good(text, header, field):
    """A quick test, at a fifth of the cost of the regular expression: True if every line matches, False if unknown.

    It removes the signs at allowed positions, then the digits.  What remains is equal for all correct lines, except for
    the point and the exponent of the value.  Each remaining character must follow a digit: no column is empty.
    """
    if field == "complex":
        return False
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n")
    if b"-" in text and field in ("integer", "real"):
        text = text.replace(b" -", b" ")
        if field == "real":
            text = text.replace(b"e-", b"e")
    if field == "real" and b"e+" in text:
        text = text.replace(b"e+", b"e")
    other = np.frombuffer(text, np.uint8) - np.uint8(48) > 9  # wraps around: true for all bytes that are no digit
    if other[0] or np.count_nonzero(other[1:] & other[:-1]):
        return False
    skeleton = text.translate(None, DIGITS)
    if field == "real":
        marks = np.frombuffer(skeleton, np.uint8)
        point, exponent, end = marks == ord("."), marks == ord("e"), marks == ord("\n")
        # a point is followed by the end or the exponent, and that by the end
        if (point[:-1] & ~(exponent | end)[1:]).any() or (exponent[:-1] & ~end[1:]).any():
            return False
        skeleton = skeleton.translate(None, b".e")
    columns = (2 if header.format == "coordinate" else 0) + (field != "pattern")
    first = skeleton[:columns]
    if first not in (b" " * (columns - 1) + b"\n", b"\t" * (columns - 1) + b"\n"):
        return False
    return skeleton == first * (len(skeleton) // columns)


def _complaint(bare, header, field):
    """The error text for one line that does not match."""
    words = bare.split()
    shown = bare[:60].decode("latin-1")
    indices = 2 if header.format == "coordinate" else 0
    expected = indices + {"pattern": 0, "complex": 2}.get(field, 1)
    for what, word in zip(("row", "column"), words[:indices]):
        if re.fullmatch(rb"-\d+", word):
            return f"{what} index {word.decode()} is negative (indices start at 1)"
        if not word.isdigit():
            return f"{what} index {word[:40].decode('latin-1')!r} is not a whole number"
    if len(words) != expected:
        return f"expected {expected} columns for a {header.format} {field} matrix, found {len(words)}: {shown!r}"
    return f"{field} value expected in {shown!r}"


def _converted(chunk):
    """rows, cols, values of one checked chunk."""
    try:
        from scipy.io import mmread
    except ImportError:  # pragma: no cover
        raise missing_library("scipy", "read Matrix Market files") from None
    header = chunk.header
    if header.format == "coordinate":
        sizes = f"{max(header.nrows, 1)} {max(header.ncols, 1)} {chunk.count}"
    else:
        sizes = f"{chunk.count} 1"
    head = f"%%MatrixMarket matrix {header.format} {chunk.field} general\n{sizes}\n".encode()
    try:
        out = mmread(io.BytesIO(head + chunk.body), spmatrix=False)
    except (ValueError, OverflowError) as error:
        found = re.match(r"Line (\d+): (.*)", str(error))
        if not found:
            raise bad_file(chunk.name, chunk.before + 1, str(error), "The lines from here on are malformed") from error
        at = int(found[1]) - 3
        shown = chunk.body.split(b"\n", at + 1)[at].decode("latin-1").strip()[:60]
        raise bad_file(
            chunk.name, chunk.number(at), f"{_reason(found[2], header)} in {shown!r}", "Correct the line"
        ) from error
    if header.format == "array":
        return None, None, out[:, 0]
    rows, cols = (out.row, out.col) if hasattr(out, "row") else out.coords
    return rows, cols, out.data


def _reason(text, header):
    if "Row index" in text:
        return f"row index outside 1..{header.nrows}"
    if "Column index" in text:
        return f"column index outside 1..{header.ncols}"
    if "out of range" in text:
        return "the number does not fit into 64 bits"
    return text.rstrip(".").lower()


class _Columns:
    """The arrays rows, cols and values: allocated at once where the file's size is known, else grown by half."""

    def __init__(self, header, parsed, source):
        self.header, self.name = header, source.name
        self.count = 0
        self.dtype = np.dtype(header.type_name or parsed or np.float64)
        capacity = header.entries if source.plain_size is not None else min(header.entries, 1 << 20)
        index = index_dtype(max(header.nrows, header.ncols))
        self.coordinate = header.format == "coordinate"
        self.rows = np.empty(capacity if self.coordinate else 0, index)
        self.cols = np.empty(capacity if self.coordinate else 0, index)
        self.pattern = header.field == "pattern"
        self.values = np.ones(1, self.dtype) if self.pattern else np.empty(capacity, self.dtype)

    def append(self, chunk):
        if not chunk.count:
            return
        end = self.count + chunk.count
        if end > self.header.entries:
            raise bad_file(
                chunk.name,
                chunk.number(self.header.entries - self.count),
                f"more lines than the {self.header.entries} entries of the header",
                "Correct the header, or delete the rest",
            )
        self._reserve(end)
        part = slice(self.count, end)
        if self.coordinate:
            self.rows[part] = chunk.rows
            self.cols[part] = chunk.cols
            if self.header.symmetry in ("skew-symmetric", "hermitian") and not self.pattern:
                _check_diagonal(chunk)
        if not self.pattern:
            self.values[part] = self._cast(chunk)
        self.count = end

    def _reserve(self, end):
        for key in ("rows", "cols", "values"):
            old = getattr(self, key)
            if (key == "values" and self.pattern) or (key != "values" and not self.coordinate) or end <= old.shape[0]:
                continue
            new = np.empty(min(self.header.entries, max(end, int(old.shape[0] * GROW))), old.dtype)
            new[: self.count] = old[: self.count]
            setattr(self, key, new)

    def _cast(self, chunk):
        """The values cast to the type of the comment; a value out of its range is an error of the file."""
        values, out = chunk.values, chunk.values
        wrong = np.zeros(values.shape[0], bool)
        if values.dtype != self.dtype:
            with np.errstate(all="ignore"):
                out = values.astype(self.dtype)
                if self.dtype.kind in "iub":
                    wrong |= out.astype(values.dtype) != values
                    if values.dtype.kind == "f":  # parsing as FP64 has lost digits beyond 2^53
                        wrong |= np.abs(values) >= EXACT_IN_FLOAT
        if self.header.symmetry == "skew-symmetric" and self.dtype.kind == "i":
            wrong |= out == np.iinfo(self.dtype).min  # its negative does not fit
        if wrong.any():
            at = int(np.argmax(wrong))
            raise bad_file(
                chunk.name,
                chunk.number(at),
                f"the {self.header.symmetry} matrix has the value {values[at]}, which the type {self.dtype} cannot "
                f"hold {'with both signs' if self.header.symmetry == 'skew-symmetric' else 'exactly'}",
                "Correct the type, or pass graphblas_types=False",
            )
        return out

    def triples(self):
        rows, cols = self.rows[: self.count], self.cols[: self.count]
        values = self.values if self.pattern else self.values[: self.count]
        if self.header.symmetry != "general":
            self.rows = self.cols = self.values = None
            rows, cols, values = _mirrored(rows, cols, values, self.header.symmetry)
        return Triples(self.header, rows, cols, values)

    def array(self):
        h, values = self.header, self.values[: self.count]
        if h.symmetry == "general":
            return Triples(h, dense=values.reshape(h.nrows, h.ncols, order="F"))
        dense = np.zeros((h.nrows, h.ncols), self.dtype)
        # The file has the lower triangle by columns, which is the upper one by rows.
        i, j = np.triu_indices(h.nrows, 1 if h.symmetry == "skew-symmetric" else 0)
        dense[i, j] = _reflected(values, h.symmetry)
        dense[j, i] = values
        if h.symmetry == "hermitian" and (dense.diagonal().imag != 0).any():
            at = int(np.argmax(dense.diagonal().imag != 0))
            raise bad_file(
                self.name,
                None,
                f"the diagonal of a hermitian matrix is real, row {at + 1} has {dense[at, at]}",
                "Correct the value, or write `general`",
            )
        return Triples(h, dense=dense)


def _check_diagonal(chunk):
    """A(i, i) is 0 in a skew-symmetric matrix and real in a hermitian one (NISTIR 5935, section 2)."""
    skew = chunk.header.symmetry == "skew-symmetric"
    wrong = (chunk.rows == chunk.cols) & ((chunk.values if skew else chunk.values.imag) != 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise bad_file(
            chunk.name,
            chunk.number(at),
            f"the diagonal of a {chunk.header.symmetry} matrix is {'zero' if skew else 'real'}, "
            f"here it has {chunk.values[at]}",
            "Correct the value, or write `general`",
        )


def _reflected(values, symmetry):
    if symmetry == "skew-symmetric":
        return -values
    return values.conj() if symmetry == "hermitian" else values


def _mirrored(rows, cols, values, symmetry):
    """The entries of one triangle, then those of the other one."""
    off = rows != cols
    count, extra = rows.shape[0], int(np.count_nonzero(off))
    both = []
    for one, other in ((rows, cols), (cols, rows)):
        out = np.empty(count + extra, one.dtype)
        out[:count] = one
        np.compress(off, other, out=out[count:])
        both.append(out)
    if values.shape[0] == 1 and count != 1 and symmetry == "symmetric":
        return both[0], both[1], values
    if values.shape[0] == count:
        out = np.empty(count + extra, values.dtype)
        out[:count] = values
        out[count:] = _reflected(np.compress(off, values), symmetry)
        values = out
    return both[0], both[1], values
