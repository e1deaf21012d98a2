"""The header of a Matrix Market file: banner, comments, sizes, and SuiteSparse's type comment.

    %%MatrixMarket matrix coordinate integer symmetric
    %%GraphBLAS type uint8_t
    % any comments
    nrows ncols nvals

Reference: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange formats", NISTIR 5935, 1996; the type
comment: LAGraph, LAGraph_MMRead.c, description of the file format.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grb_tile.io.errors import bad_file

if TYPE_CHECKING:
    from .streams import Source

LARGEST_DIMENSION = 2**60
LONGEST_HEADER = 1 << 20  # bytes; bounded because a kilobyte of compressed data can hold a megabyte of comments
FIELDS = {
    "real": "real",
    "double": "real",
    "integer": "integer",
    "unsigned-integer": "unsigned-integer",
    "complex": "complex",
    "pattern": "pattern",
}
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
FORMATS = ("coordinate", "array")
# SuiteSparse's type comment: C name -> NumPy type.
COMMENT_TYPES = {
    "bool": "bool",
    "int8_t": "int8",
    "int16_t": "int16",
    "int32_t": "int32",
    "int64_t": "int64",
    "uint8_t": "uint8",
    "uint16_t": "uint16",
    "uint32_t": "uint32",
    "uint64_t": "uint64",
    "float": "float32",
    "double": "float64",
    "float complex": "complex64",
    "double complex": "complex128",
}
# Least bytes of an entry's line with its newline: bounds the number of entries of a file of known size.
SHORTEST_LINE = {
    ("coordinate", "pattern"): 4,
    ("coordinate", "complex"): 8,
    ("coordinate", "other"): 6,
    ("array", "complex"): 4,
    ("array", "other"): 2,
}


@dataclass
class Header:
    """The parsed header; `entries` is the number of lines of the body, `lines` that of the header."""

    format: str
    field: str
    symmetry: str
    nrows: int
    ncols: int
    entries: int
    type_name: str | None  # NumPy name of the type in a %%GraphBLAS comment
    lines: int
    comments: list = dataclasses.field(default_factory=list)

    @property
    def shortest_line(self) -> int:
        key = self.field if self.field in ("pattern", "complex") else "other"
        return SHORTEST_LINE[self.format, key]


def read_header(source: Source, types: bool = True) -> Header:
    """The header of `source` (a streams.Source), which is then at the first line of the body.

    types   False: the %%GraphBLAS comment is ignored
    Raises: BadFile for an invalid header.
    """
    name = source.name
    banner = _first_line(source)
    layout, value_field, symmetry = _banner(banner, name)
    type_name, comments, number, length = None, [], 1, 0
    while True:
        raw = source.readline()
        length += len(raw)
        if length > LONGEST_HEADER:
            raise bad_file(
                name, number, f"no line of sizes in the first {LONGEST_HEADER} bytes", "Remove comments from the header"
            )
        if not raw:
            raise bad_file(name, number, "the file ends before the line of sizes", "The file is truncated")
        number += 1
        line = raw.decode("utf-8", "replace").strip()
        if line.startswith("%"):
            if line.lower().startswith("%%graphblas"):
                type_name = _type_comment(line, name, number) or type_name
            else:
                comments.append(line.lstrip("%").strip())
        elif line:
            break
    if not types:
        type_name = None
    nrows, ncols, entries = _sizes(line, layout, name, number)
    header = Header(layout, value_field, symmetry, nrows, ncols, entries, type_name, number, comments)
    _consistent(header, name, number)
    if layout == "array":
        square = nrows * (nrows - 1) // 2
        header.entries = {"general": nrows * ncols, "skew-symmetric": square}.get(symmetry, square + nrows)
    if source.plain_size is not None:
        _fits(header, source, name, number)
    return header


def _first_line(source):
    line = source.readline().decode("utf-8", "replace").strip()
    if not re.match(r"%%?matrixmarket\b", line.lower()):
        found = line[:40] if line.isprintable() else "binary data"
        raise bad_file(
            source.name,
            1,
            f"no Matrix Market banner, found {found!r}",
            "Add `%%MatrixMarket matrix coordinate real general`, or read an edge list with grb_tile.io.read_edge_list",
        )
    return line


def _banner(line, name):
    words = line.lower().split()[1:] + [""] * 4
    if words[0] == "vector":
        raise bad_file(
            name,
            1,
            "Matrix Market vector files are not supported",
            "Write it as a matrix with one column: `%%MatrixMarket matrix ...` and sizes `n 1`",
        )
    expected = (
        ("object", words[0], ("matrix",)),
        ("format", words[1], FORMATS),
        ("field", words[2], tuple(FIELDS)),
        ("symmetry", words[3], SYMMETRIES),
    )
    for what, word, allowed in expected:
        if word not in allowed:
            found = f"unknown {what} {word!r} in the banner" if word else f"the banner ends before its {what}"
            raise bad_file(name, 1, found, f"Expected one of {', '.join(allowed)}")
    return words[1], FIELDS[words[2]], words[3]


def _type_comment(line, name, number):
    words = line.split()
    if len(words) < 2 or words[1].lower() != "type":
        return None
    text = " ".join(words[2:])
    if text not in COMMENT_TYPES:
        raise bad_file(
            name,
            number,
            f"unknown type {text!r} in the %%GraphBLAS comment",
            f"Expected one of {', '.join(COMMENT_TYPES)}; or pass graphblas_types=False to ignore the comment",
        )
    return COMMENT_TYPES[text]


def _sizes(line, layout, name, number):
    words = line.split()
    expected = 3 if layout == "coordinate" else 2
    form = "nrows ncols nvals" if expected == 3 else "nrows ncols"
    if len(words) != expected or not all(re.fullmatch(r"-?[0-9]+", word) for word in words):
        raise bad_file(name, number, f"expected the sizes `{form}`, found {line[:60]!r}", "The header is malformed")
    values = []
    for what, word in zip(("nrows", "ncols", "nvals"), words):
        if word.startswith("-") and word.strip("-0"):
            raise bad_file(name, number, f"{what} is negative: {word[:40]}", "The header is malformed")
        digits = word.lstrip("-0") or "0"
        if len(digits) > 19 or int(digits) > LARGEST_DIMENSION:
            raise bad_file(name, number, f"{what} is {word[:40]}, more than 2**60", "GraphBLAS cannot index that many")
        values.append(int(digits))
    return values[0], values[1], values[2] if expected == 3 else 0


def _consistent(header, name, number):
    """Raises: BadFile where words of the banner, the sizes and the type contradict each other."""
    h = header
    if h.symmetry != "general" and h.nrows != h.ncols:
        raise bad_file(
            name,
            number,
            f"a {h.symmetry} matrix must be square, this one is {h.nrows} by {h.ncols}",
            "Correct the sizes, or write `general`",
        )
    if h.format == "coordinate" and h.entries and not (h.nrows and h.ncols):
        raise bad_file(
            name,
            number,
            f"a {h.nrows} by {h.ncols} matrix has no entries, the header has {h.entries}",
            "Correct the sizes",
        )
    if h.field == "pattern" and (h.format == "array" or h.symmetry in ("skew-symmetric", "hermitian")):
        other = "array" if h.format == "array" else h.symmetry
        raise bad_file(
            name, 1, f"`pattern` cannot go with `{other}`", "Give the values: `integer`, `real` or `complex`"
        )
    unsigned = h.type_name or ("uint64" if h.field == "unsigned-integer" else "")
    if h.symmetry == "skew-symmetric" and (unsigned == "bool" or unsigned.startswith("uint")):
        raise bad_file(
            name,
            1,
            f"a skew-symmetric matrix needs negative values, which {unsigned} does not have",
            "Correct the type, or pass graphblas_types=False to ignore the comment"
            if h.type_name
            else "Write `integer`",
        )
    if h.type_name is None:
        return
    if h.type_name.startswith("complex") != (h.field == "complex") and h.field != "pattern":
        raise bad_file(
            name,
            1,
            f"field `{h.field}` contradicts the %%GraphBLAS type {h.type_name}",
            "Correct one of them, or pass graphblas_types=False to ignore the comment",
        )


def _fits(header, source, name, number):
    """Check the number of entries against the file's size, so that a bad header cannot allocate terabytes."""
    capacity = (source.plain_size + 1) // header.shortest_line
    if header.entries > capacity:
        raise bad_file(
            name,
            number,
            f"the header has {header.entries} entries, but a file of {source.plain_size} bytes has at most {capacity}",
            "The file is truncated, or its header is malformed",
        )
