"""The dialect of an edge list, detected from its beginning: delimiter, header, decimal comma, columns, DIMACS.

The first lines decide for the whole file; a later line of another form is an error.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

from grb_tile.io.errors import bad_file
from grb_tile.io.lines import data_lines, line_number

COMMENTS = (b"#", b"%", b"//")
DIMACS_COMMENTS = (b"c ", b"c\t", b"c\r", b"c\n", b"n ", b"n\t", b"p ", b"p\t")  # n: weights of vertices
DIMACS_HEAD = re.compile(
    rb"(?:[ \t]*(?:c(?:[ \t][^\n]*)?)?\r?\n)*p[ \t]+(\w+)[ \t]+(\d{1,19})[ \t]+(\d{1,19})[ \t\r]*(?:\n|\Z)"
)
ARCS, EDGES = ("sp", "max", "asn"), ("edge", "col")  # kinds of DIMACS problems with lines `a u v w` and `e u v`
# The comment of write_edge_list (names, numbers: its vertices are labels), and the one of SNAP's files.
OWN_COMMENT = re.compile(
    rb"(?m)^(?:#|c) grb_tile: (?:(?:(\d{1,19}) rows, (\d{1,19}) columns, )?from ([01])|(names|numbers)), (\w+)\r?$"
)
NODES_COMMENT = re.compile(rb"(?mi)^# *nodes:? +(\d{1,18})\b")
KONECT_SYMMETRIC = re.compile(rb"%[ \t]*sym[ \t]+\w+[ \t]*\r?\n")  # first line: each edge is listed once
KONECT_BIPARTITE = (
    re.compile(  # rows and columns are numbered separately, from 1; the second line has the edges and both sizes
        rb"%[ \t]*bip[ \t]+\w+[ \t]*\r?\n(?:%[ \t]*\d{1,18}[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]*(?:\r?\n|\Z))?"
    )
)
SAMPLE = 100  # lines from which the dialect is detected

WHOLE = re.compile(rb"-?[0-9]++")
REAL = re.compile(
    rb"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?|[-+]?(?:[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN])"
)
COMPLEX = re.compile(rb"\(?(?:(?:" + REAL.pattern + rb")(?=[-+]))?(?:" + REAL.pattern + rb")[jJ]\)?")
TRUTH = re.compile(rb"(?i:true|false)")
COMMA_REAL = re.compile(rb"[-+]?[0-9]+,[0-9]+(?:[eE][-+]?[0-9]+)?")
THOUSANDS = re.compile(rb"[-+]?[1-9][0-9]{0,2}(?:,[0-9]{3})+")  # `1,234` matches COMMA_REAL, too
NUMBERS_AND_BLANKS = re.compile(rb"[-+.0-9eE]+(?:[ ]+[-+.0-9eE]+)+")

SOURCES = {
    "source",
    "src",
    "from",
    "fromnodeid",
    "from_node",
    "fromnode",
    "source_id",
    "tail",
    "u",
    "i",
    "row",
    "node1",
}
TARGETS = {"target", "dst", "dest", "destination", "to", "tonodeid", "to_node", "tonode", "target_id", "head", "v", "j"}
TARGETS |= {"col", "column", "node2"}
UNNAMED = ("", "unnamed: 0")
WEIGHTS = {"weight", "w", "value", "val", "cost", "capacity", "length", "distance", "dist"}


@dataclass
class Dialect:
    """How the edges of a file are written."""

    delimiter: bytes | None = None  # None: blanks
    decimal_comma: bool = False
    header: bool = False  # does the first line name the columns?
    columns: int = 2
    picked: tuple[int, ...] = (0, 1)  # columns of source, target and, if weights are read, of the weight
    kind: str | None = None  # of a DIMACS problem
    edges: int | None = None  # number of edge lines in the DIMACS header
    shape: tuple[int, int] | None = None
    base: int | None = None
    nodes: int | None = None
    named: bool = False  # does a comment say that vertices are names, also those that look like numbers?
    type_name: str | None = None
    bipartite: bool = False  # are rows and columns numbered separately?
    directed: bool = True  # False where the format says that an edge has no direction

    @property
    def marks(self) -> tuple[bytes, ...]:
        """The beginnings of comment lines."""
        return COMMENTS if self.kind is None else DIMACS_COMMENTS

    def words(self, line: bytes) -> list[bytes]:
        """The columns of a line.  Raises: ValueError for a quotation mark that is not closed."""
        if self.delimiter is None or not self.delimiter.strip(b" "):
            return line.split()
        if b'"' in line and len(self.delimiter) == 1:
            text = line.rstrip(b"\r\n").decode("utf-8", "surrogateescape")
            try:
                row = next(csv.reader([text], delimiter=self.delimiter.decode(), strict=True, skipinitialspace=True))
            except (csv.Error, StopIteration) as error:
                raise ValueError(str(error)) from None
            return [word.strip().encode("utf-8", "surrogateescape") for word in row]
        return [word.strip() for word in line.strip(b"\r\n").split(self.delimiter)]


def dialect_of(
    head: bytes,
    complete: bool,
    name: str,
    *,
    delimiter: str | None = None,
    header: bool | None = None,
    weights: bool | None = None,
) -> Dialect:
    """The Dialect of the text that begins with `head` (all of it if `complete`); options that are None are detected.

    Raises: BadFile, with the line, when the first lines have fewer than two columns, a third one without numbers, or
    not the columns of the header.
    """
    found = _dimacs(head, name)
    if KONECT_SYMMETRIC.match(head):
        found.directed = False
    bipartite = KONECT_BIPARTITE.match(head)
    if bipartite:
        found.bipartite, found.base = True, 1
        found.shape = (int(bipartite[1]), int(bipartite[2])) if bipartite[1] else None
    own = OWN_COMMENT.search(head)
    if own:
        found.shape = (int(own[1]), int(own[2])) if own[1] else found.shape
        found.base, found.type_name = int(own[3]) if own[3] else None, own[5].decode()
        found.named = own[4] == b"names"
    nodes = NODES_COMMENT.search(head)
    found.nodes = int(nodes[1]) if nodes and not own else None
    text = head if complete and head.endswith(b"\n") else head + b"\n" if complete else head[: head.rfind(b"\n") + 1]
    lines = data_lines(text, found.marks).split(b"\n")[:-1][:SAMPLE]
    if found.kind is not None:
        _dimacs_columns(found, lines, weights)
        return found
    if not lines and not complete:
        what = f"no line of an edge ends in the first {len(head)} bytes"
        raise bad_file(name, None, what, "Shorten the comments before the edges")
    if not lines:
        return found
    if any(b"\r" in line.rstrip(b"\r") for line in lines):
        what = "a carriage return that no newline follows"
        at = next(at for at, line in enumerate(lines) if b"\r" in line.rstrip(b"\r"))
        raise bad_file(name, line_number(text, found.marks, at), what, "End lines with a newline")
    found.delimiter = _delimiter(lines) if delimiter is None else _checked_delimiter(delimiter)

    def fault(at, what, remedy):
        return bad_file(name, line_number(text, found.marks, at), what, remedy)

    rows = []
    for at, line in enumerate(lines):
        try:
            rows.append(found.words(line))
        except ValueError as error:
            raise fault(at, f"{error}: {_shown(line)}", "Correct the quotation marks") from None
    found.header = (not own and _is_header(rows)) if header is None else header  # write_edge_list writes one of both
    if found.header and len(rows) == 1:
        return found
    names = [word.decode("utf-8", "replace").lower() for word in rows[0]] if found.header else []
    first = 1 if found.header else 0
    found.columns = len(rows[first])
    if found.columns < 2:
        what = f"expected `source target [weight]`, found {_shown(lines[first])}"
        raise fault(first, what, "Name the separator with delimiter=")
    try:
        _pick(found, names, rows[first:], weights)
    except ValueError as error:
        raise fault(first, str(error), "Pass weights=False to read no weights") from None
    if max(found.picked) >= found.columns:
        what = f"expected {len(names)} columns as in the header, found {found.columns}: {_shown(lines[first])}"
        raise fault(first, what, "Correct the line, or pass header=False")
    return found


def _pick(found, names, rows, weights):
    """Choose the columns of source, target and weight: by the header's names where it has them, else by position.

    An unnamed first column is the line number that pandas writes.
    """
    source, target, weight = columns_by_name(names, max(found.columns, len(names)))
    weight = None if weight is not None and weight >= found.columns else weight  # the header has more than the lines
    found.picked = (source, target)
    if weights is False or weight is None:
        if weights:
            raise ValueError("there is no third column for the weights")
        return
    words = [row[weight] for row in rows if len(row) > weight]
    found.decimal_comma = found.delimiter != b"," and any(COMMA_REAL.fullmatch(word) for word in words)
    commas = [word for word in words if b"," in word]
    if found.decimal_comma and len(commas) < len(words) and all(THOUSANDS.fullmatch(word) for word in commas):
        raise ValueError(
            f"{_shown(commas[0])} in column {weight + 1}, beside numbers without a comma, may have one for "
            "the thousands or for the decimals: write it without, or with a point"
        )
    word = words[0].replace(b",", b".") if found.decimal_comma else words[0]
    if not is_number(word):
        raise ValueError(f"{_shown(words[0])} in column {weight + 1} is not a number")
    found.picked = (source, target, weight)


def columns_by_name(
    names: list[str], count: int, source: int | None = None, target: int | None = None, weight: int | None = None
) -> tuple[int, int, int | None]:
    """Which of the `count` columns are source, target and weight (None: there is none), unless they are given.

    names: those of the columns in lower case, or none.  An unnamed first column is the line number that pandas writes.
    Raises: ValueError where fewer than two columns are left for source and target.

    >>> columns_by_name(["km", "from", "to"], 3), columns_by_name([], 2), columns_by_name([], 4, 2)
    ((1, 2, 0), (0, 1, None), (2, 0, 1))
    """
    columns = range(1 if names and names[0] in UNNAMED else 0, count)

    def named(words: set[str]) -> int | None:
        return next((k for k in free() if k < len(names) and names[k] in words), None)

    def free() -> list[int]:
        return [k for k in columns if k not in (source, target, weight)]

    source = named(SOURCES) if source is None else source
    target = named(TARGETS) if target is None else target
    if (source is None) + (target is None) > len(free()):
        raise ValueError("one column has a name, which leaves none for the targets")
    source = free()[0] if source is None else source
    target = free()[0] if target is None else target
    if weight is None:
        weight = named(WEIGHTS)
        weight = next(iter(free()), None) if weight is None else weight
    return source, target, weight


def _checked_delimiter(delimiter):
    if not isinstance(delimiter, str) or not delimiter or re.search(r'[\r\n"]', delimiter):
        raise ValueError(f"delimiter must be text without quotation marks and line ends, not {delimiter!r}")
    return delimiter.encode() if delimiter.strip(" ") else None


def _delimiter(lines):
    """The first of tab, semicolon and comma that every line has; None for blanks."""
    bare = [re.sub(rb'"[^"]*"', b'""', line) for line in lines]
    for mark in (b"\t", b";", b","):
        if not all(mark in line for line in bare):
            continue
        rows = [[word.strip() for word in line.split(mark)] for line in bare]
        if mark == b"\t" and any(NUMBERS_AND_BLANKS.fullmatch(word) for row in rows for word in row):
            continue  # `1 2<tab>3`: blanks and tabs mixed
        if mark == b"," and all(len(words := line.split()) > 2 and COMMA_REAL.fullmatch(words[2]) for line in bare):
            continue  # `1 2 0,5`: a decimal comma
        return mark
    return None


def _is_header(rows):
    """Does the first line name the columns?

    Yes if it has a name of SOURCES and one of TARGETS, unless these are single characters that may be vertices
    (`u v 3`, or `u v` above `v w`).  Yes if it has no number and the lines below have numbers in both vertex columns,
    or in one after them.
    """
    if rows[0][:1] == [b""] and [row[:1] for row in rows[1:]] == [[b"%d" % k] for k in range(len(rows) - 1)]:
        return True  # the unnamed column of line numbers that pandas writes
    names = {word.decode("utf-8", "replace").lower() for word in rows[0]}
    numbers = any(is_number(word) or COMMA_REAL.fullmatch(word) or THOUSANDS.fullmatch(word) for word in rows[0])
    if len(rows[0]) > 1 and names & SOURCES and names & TARGETS:
        below = {word.decode("utf-8", "replace").lower() for row in rows[1:] for word in row}
        found = names & (SOURCES | TARGETS)
        if any(len(word) > 1 for word in found) or not (numbers or found & below):
            return True
    if numbers:
        return False
    below = [row for row in rows[1:] if len(row) == len(rows[0])]
    numeric = [
        all(REAL.fullmatch(row[k]) or COMMA_REAL.fullmatch(row[k]) for row in below) for k in range(len(rows[0]))
    ]
    return bool(below) and (numeric[:2] == [True, True] or any(numeric[2:]))


def _dimacs(head, name):
    """The Dialect of a DIMACS file by its line `p KIND VERTICES EDGES`; the default Dialect for other files."""
    match = DIMACS_HEAD.match(head)
    if match is None:
        return Dialect()
    kind = match[1].decode()
    if kind not in ARCS + EDGES:
        raise bad_file(
            name,
            head.count(b"\n", 0, match.end() - 1) + 1,
            f"DIMACS problems of kind {kind!r} are not supported",
            f"Expected one of {', '.join(ARCS + EDGES)}",
        )
    size = int(match[2])
    return Dialect(kind=kind, edges=int(match[3]), shape=(size, size), base=1, directed=kind not in EDGES)


def _dimacs_columns(found, lines, weights):
    """Lines `a u v w` have weights, lines `e u v` may."""
    found.columns = 3 if found.kind in ARCS or lines and len(lines[0].split()) == 4 else 2
    found.picked = (0, 1) if weights is False or found.columns == 2 else (0, 1, 2)


def is_number(word: bytes) -> bool:
    """Is the word a weight: a real or complex number, or a truth value?"""
    return any(pattern.fullmatch(word) for pattern in (REAL, COMPLEX, TRUTH))


def _shown(text):
    return repr(text[:60].decode("utf-8", "replace").strip())
