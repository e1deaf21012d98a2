"""Edge lists: one edge a line, `source target [weight]`, in the dialects of SNAP, Konect, CSV files and DIMACS.

Whole numbers are indices unless labels=True; other names are labels.  Files of numbers are converted by NumPy in
chunks; labels are numbered by a dictionary, in order of appearance.
"""

from __future__ import annotations

import re
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.io.build import matrix_from_triples
from grb_tile.io.errors import bad_file
from grb_tile.io.progress import Progress, wanted
from grb_tile.io.streams import opened

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix

    from .annotations import DTypeLike, DupOp, Readable, Writable

LARGEST_INDEX = 2**60 - 1
EXACT_IN_FLOAT = 2**53
COMMENTS = (b"#", b"%", b"//")
DIMACS_HEAD = re.compile(rb"(?:[ \t]*(?:c(?:[ \t][^\n]*)?)?\r?\n)*p[ \t]+\w+[ \t]+(\d+)[ \t]+\d+[ \t\r]*\n")
NUMBER = rb"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?|[-+]?inf|nan"

Edges = namedtuple("Edges", "sources targets weights labels size base")
Edges.__doc__ = """Arrays of an edge list: int64 `sources` and `targets`, `weights` or None, `labels` (a list) or None,
`size`, and `base`, the index of the first vertex in the file (1 in DIMACS files, or as given)."""

EdgeList = namedtuple("EdgeList", "matrix labels")
EdgeList.__doc__ = (
    """A `matrix` and the `labels` of its rows and columns (a list), or None where the file has indices."""
)


def read_edge_list(
    source: Readable,
    *,
    weights: bool | None = None,
    labels: bool | None = None,
    base: int = 0,
    directed: bool = True,
    delimiter: str | None = None,
    size: int | None = None,
    dtype: DTypeLike | None = None,
    dup_op: DupOp | None = None,
    name: str | None = None,
    progress: bool | None = None,
) -> EdgeList:
    """A(i, j) = weight of the edge i -> j; read from lines `i j` or `i j weight`.

    Parameters
    ----------
    source : path or open file, plain or .gz/.bz2/.xz
    weights : True, False or None; None: the third column if there is one
    labels : True (every name is a label), False (whole numbers only) or None: labels if some name is not a whole number
    base : index that the file gives to the first vertex, 0 or 1 (whole numbers only)
    directed : False enters each edge in both directions
    delimiter : None (white space, or a comma or semicolon if the first line has one), or the character
    size : number of vertices; default: the largest index + 1
    dtype : of the matrix; default FP64 or INT64 as the weights are written, BOOL (all true) without weights
    dup_op : how equal edges combine; default: without weights they are one, with weights the first one counts

    Returns
    -------
    EdgeList(matrix, labels)

    Raises
    ------
    BadFile : names the file, the line and what is wrong with it

    >>> import io
    >>> from grb_tile.io import read_edge_list
    >>> A, labels = read_edge_list(io.StringIO("# who knows whom\\nann bob 2\\nbob cyd 5\\n"))
    >>> A.nvals, A.dtype.name, labels
    (2, 'INT64', ['ann', 'bob', 'cyd'])
    """
    edges = read_edges(
        source, weights=weights, labels=labels, base=base, delimiter=delimiter, size=size, progress=progress
    )
    return EdgeList(matrix_from_edges(edges, directed=directed, dtype=dtype, dup_op=dup_op, name=name), edges.labels)


def matrix_from_edges(
    edges: Any,
    *,
    directed: bool = True,
    dtype: DTypeLike | None = None,
    dup_op: DupOp | None = None,
    name: str | None = None,
) -> Matrix:
    """The Matrix of Edges, see read_edge_list."""
    rows, cols, values = edges.sources, edges.targets, edges.weights
    if not directed:
        off = rows != cols
        rows, cols = np.concatenate([rows, cols[off]]), np.concatenate([cols, edges.sources[off]])
        values = None if values is None else np.concatenate([values, values[off]])
    if values is None:
        values, dup_op = np.ones(1, bool), "ignore"
    return matrix_from_triples(
        edges.size, edges.size, rows, cols, values, dtype=dtype, dup_op=dup_op or "first", name=name
    )


def read_edges(
    source: Readable,
    *,
    weights: bool | None = None,
    labels: bool | None = None,
    base: int = 0,
    delimiter: str | None = None,
    size: int | None = None,
    progress: bool | None = None,
) -> Edges:
    """The arrays of an edge list, see read_edge_list."""
    if base not in (0, 1):
        raise ValueError(f"base must be 0 or 1, not {base!r}")
    with (
        opened(source) as stream,
        Progress(f"Reading {stream.name}", stream.size, wanted(progress, stream.size)) as bar,
    ):
        reader = _Reader(stream.name, weights, labels, base, delimiter)
        for text in stream.lines_in_chunks():
            reader.take(text)
            bar.update(stream.done)
        return reader.finish(size)


class _Reader:
    """Collects chunks; the first data line decides delimiter, columns and labels."""

    def __init__(self, name, weights, labels, base, delimiter):
        self.name, self.weights, self.labels, self.base = name, weights, labels, base
        self.delimiter = delimiter.encode() if delimiter else None
        self.columns = None
        self.line = 0
        self.parts = []
        self.index = {} if labels else None
        self.dimacs = None

    def take(self, text):
        first = self.line
        self.line += text.count(b"\n")
        text, numbers = self._without_comments(text, first)
        if not text:
            return
        if self.columns is None:
            text, numbers = self._look(text, numbers, first)
            if not text:
                return
        if self.delimiter and self.delimiter.strip():
            text = text.replace(self.delimiter, b" ") if self.index is None else text
        if self.index is None:
            self._take_numbers(text, numbers, first)
        if self.index is not None:
            self._take_labels(text, numbers, first)

    def _without_comments(self, text, first):
        """(text without comments and blank lines, numbers of the remaining lines or None if all remain)."""
        if not first:
            head = DIMACS_HEAD.match(text)
            if head:  # `p sp n m`, then `a u v w`, counting from 1; comments begin with c
                self.dimacs, self.base = int(head[1]), 1
        marks = rb"(?m)^[ \t]*(?:[#%cp\r\n]|//)" if self.dimacs is not None else rb"(?m)^[ \t]*(?:[#%\r\n]|//)"
        if not re.search(marks, text):
            return text, None
        skip = COMMENTS + ((b"c", b"p") if self.dimacs is not None else ())
        lines = [
            (at, raw)
            for at, raw in enumerate(text.split(b"\n")[:-1], first + 1)
            if raw.strip() and not raw.lstrip().startswith(skip)
        ]
        return b"".join([raw + b"\n" for _, raw in lines]), np.array([at for at, _ in lines], np.int64)

    def _number(self, numbers, at, first):
        return first + at + 1 if numbers is None else int(numbers[at])

    def _look(self, text, numbers, first):
        """Decide the columns by the first line; a CSV header is skipped."""
        end = text.index(b"\n") + 1
        line = text[:end]
        if self.delimiter is None and self.dimacs is None:
            self.delimiter = next((mark for mark in (b",", b";", b"\t") if mark in line), None)
        words = self._split(line)
        if self.dimacs is not None:
            self.columns, self.weights = 3, self.weights is not False
            return text, numbers
        second = self._split(text[end : text.find(b"\n", end) + 1]) if len(text) > end else None
        number = [bool(re.fullmatch(NUMBER, word)) for word in words]
        if (
            second
            and not any(number)
            and (sum(bool(re.fullmatch(NUMBER, word)) for word in second) > 0 or self.labels and self._named(words))
        ):
            text, numbers = text[end:], (np.arange(first + 2, self.line + 1) if numbers is None else numbers[1:])
            words, number = second, [bool(re.fullmatch(NUMBER, word)) for word in second]
        if len(words) < 2:
            raise bad_file(
                self.name,
                self._number(numbers, 0, first),
                f"expected `source target [weight]`, found {line[:60].decode('latin-1').strip()!r}",
                "Name the separator with delimiter=",
            )
        self.columns = len(words)
        if self.weights is None:
            self.weights = len(words) >= 3 and number[2]
        if self.weights and len(words) < 3:
            raise bad_file(
                self.name, self._number(numbers, 0, first), "no third column for the weights", "Pass weights=False"
            )
        if self.index is None and not all(re.fullmatch(rb"-?\d+", word) for word in words[:2]):
            self._start_labels(self._number(numbers, 0, first), words)
        return text, numbers

    @staticmethod
    def _named(words):
        return {word.strip(b'"').lower() for word in words[:2]} <= {
            b"source",
            b"target",
            b"src",
            b"dst",
            b"from",
            b"to",
        }

    def _start_labels(self, line, words):
        if self.labels is False:
            word = next(word for word in words[:2] if not re.fullmatch(rb"-?\d+", word))
            raise bad_file(
                self.name, line, f"{word[:40].decode('latin-1')!r} is not a whole number", "Pass labels=True"
            )
        self.index = {}

    def _split(self, line):
        if self.delimiter and self.delimiter.strip():
            if b'"' in line:
                import csv

                row = next(csv.reader([line.decode("utf-8", "replace")], delimiter=self.delimiter.decode()))
                return [word.strip().encode() for word in row]
            return [word.strip() for word in line.strip(b"\r\n").split(self.delimiter)]
        if self.delimiter:
            return [word.strip() for word in line.strip().split(self.delimiter)]
        return line.split()

    def _take_numbers(self, text, numbers, first):
        """Convert a chunk of numbers by NumPy; a name switches to labels, unless numbers came before it."""
        if self.dimacs is not None:
            text = re.sub(rb"(?m)^[ \t]*a(?=[ \t])", b" ", text)
        number = b"(?:" + NUMBER + b")"
        keep = 3 if self.weights else 2
        one = rb"[ \t]*+-?\d++[ \t]++-?\d++" + (b"[ \t]++" + number if keep == 3 else b"")
        rest = self.columns > keep  # unused columns, such as time stamps
        line = one + (rb"(?:[ \t]++[^ \t\r\n]++)*+" if rest else b"") + rb"[ \t\r]*+\n"
        end = re.compile(b"(?:" + line + b")*+").match(text).end()
        if end != len(text):
            at = text.count(b"\n", 0, end)
            bad = text[end : text.index(b"\n", end)].strip()
            words = bad.split()
            names = not all(re.fullmatch(rb"-?\d+", word) for word in words[:2])
            if names and len(words) == self.columns and self.labels is None and not self.parts and not end:
                self.index = {}
                return
            raise bad_file(
                self.name,
                self._number(numbers, at, first),
                self._complaint(words, bad),
                "Correct the line, or pass labels=True" if names else "Correct the line",
            )
        if rest:
            text = b"".join(b" ".join(raw.split()[:keep]) + b"\n" for raw in text.split(b"\n")[:-1])
        self.parts.append(self._parsed(text, keep, numbers, first))

    def _complaint(self, words, bad):
        shown = bad[:60].decode("latin-1")
        if len(words) < (3 if self.weights else 2) or len(words) != self.columns:
            return f"expected {self.columns} columns as in the first line, found {len(words)}: {shown!r}"
        return (
            f"expected {'two vertex numbers and a weight' if self.weights else 'two vertex numbers'}, found {shown!r}"
        )

    def _parsed(self, text, keep, numbers, first):
        lines = text.count(b"\n")
        whole = keep == 2 or not re.search(rb"[.eEfn]", text)
        if whole and re.search(rb"\d{19}", text):
            raise bad_file(
                self.name,
                None,
                f"between lines {first + 1} and {self.line} a number has more than 18 digits",
                "Pass labels=True, or renumber the vertices",
            )
        table = np.fromstring(text, np.int64 if whole else np.float64, sep=" ").reshape(lines, keep)
        ends = table[:, :2]
        if not whole and np.abs(ends).max(initial=0) >= EXACT_IN_FLOAT:
            raise bad_file(
                self.name,
                None,
                f"between lines {first + 1} and {self.line} a vertex number exceeds 2**53",
                "Pass labels=True, or renumber the vertices",
            )
        low = ends.min(axis=1) < self.base
        if low.any():
            at = int(np.flatnonzero(low)[0])
            raise bad_file(
                self.name,
                self._number(numbers, at, first),
                f"vertex number {int(ends[at].min())} is less than {self.base}",
                "Pass base=0, or labels=True" if self.base else "Pass labels=True",
            )
        ends = ends.astype(np.int64) - self.base
        return ends[:, 0], ends[:, 1], table[:, 2].copy() if keep == 3 else None

    def _take_labels(self, text, numbers, first):
        index, keep = self.index, 3 if self.weights else 2
        sources, targets, weights = [], [], []
        for at, raw in enumerate(text.split(b"\n")[:-1]):
            words = self._split(raw)
            if len(words) < keep:
                raise bad_file(
                    self.name,
                    self._number(numbers, at, first),
                    f"expected {keep} columns, found {len(words)}: {raw[:60].decode('latin-1').strip()!r}",
                    "Correct the line",
                )
            sources.append(index.setdefault(words[0], len(index)))
            targets.append(index.setdefault(words[1], len(index)))
            if keep == 3:
                if not re.fullmatch(NUMBER, words[2]):
                    raise bad_file(
                        self.name,
                        self._number(numbers, at, first),
                        f"the weight {words[2][:40].decode('latin-1')!r} is not a number",
                        "Correct the line, or weights=False",
                    )
                weights.append(words[2])
        values = None
        if keep == 3:
            whole = all(re.fullmatch(rb"-?\d{1,18}", word) for word in weights)
            values = np.array(
                [int(word) if whole else float(word) for word in weights], np.int64 if whole else np.float64
            )
        self.parts.append((np.array(sources, np.int64), np.array(targets, np.int64), values))

    def finish(self, size):
        rows = np.concatenate([part[0] for part in self.parts]) if self.parts else np.zeros(0, np.int64)
        cols = np.concatenate([part[1] for part in self.parts]) if self.parts else np.zeros(0, np.int64)
        weights = np.concatenate([part[2] for part in self.parts]) if self.weights and self.parts else None
        labels = None if self.index is None else [label.decode("utf-8", "replace") for label in self.index]
        count = len(labels) if labels is not None else int(max(rows.max(initial=-1), cols.max(initial=-1))) + 1
        least = self.dimacs if self.dimacs is not None else count
        if size is None:
            size = least
        if count > size:
            raise bad_file(
                self.name,
                None,
                f"vertex {count - 1} is outside the {size} vertices of size=",
                "Correct the size",
            )
        if size > LARGEST_INDEX:
            raise bad_file(self.name, None, f"vertex number {count - 1} is more than 2**60", "Pass labels=True")
        return Edges(rows, cols, weights, labels, size, self.base)


def write_edge_list(
    target: Writable, matrix: Matrix, *, weights: bool = True, delimiter: str = " ", base: int = 0
) -> None:
    """Write the entries of `matrix`, one line `row col [value]` each, by rows; compressed by the ending (.gz ...)."""
    from grb_tile.io.streams import Target

    rows, cols, values = matrix.to_coo()
    rows, cols = (rows + base).tolist(), (cols + base).tolist()
    columns = (rows, cols, values.tolist()) if weights else (rows, cols)
    line = delimiter.join(["%s"] * len(columns)) + "\n"
    with Target(target) as out:
        for start in range(0, len(rows), 1 << 17):
            chunk = zip(*(column[start : start + (1 << 17)] for column in columns))
            out.stream.write("".join([line % item for item in chunk]).encode())
