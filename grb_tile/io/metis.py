"""METIS graph files: line i has the neighbours of vertex i, numbered from 1, with or without weights.

    n m [fmt [ncon]]      fmt: three digits, 1 where lines have a vertex size, ncon vertex weights, edge weights
    [size] [weights] v1 [w1] v2 [w2] ...

Each undirected edge is in the lines of both its endpoints; m counts it once.  `%` begins a comment; a blank line is a
vertex without neighbours.  Reference: METIS 5.1 manual, section 4.1.1.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from grb_tile.io.build import matrix_from_triples
from grb_tile.io.errors import bad_file
from grb_tile.io.lines import data_lines
from grb_tile.io.streams import opened

if TYPE_CHECKING:
    from grb_tile.core.matrix import Matrix

    from .annotations import DupOp, Readable

LINE = re.compile(rb"[ \t]*+(?:[0-9]{1,18}+(?:[ \t\r]++|\Z))*+")

NOTHING = np.zeros(0, np.int64)


def read_metis(source: Readable, *, dup_op: DupOp | None = None, name: str | None = None) -> Matrix:
    """The symmetric Matrix of a METIS graph file: INT64 edge weights, or BOOL (all true) where it has none.

    Vertex sizes and vertex weights are skipped.
    Raises: BadFile, with the line, for a file of another form.

    >>> import io
    >>> from grb_tile.io import read_metis
    >>> read_metis(io.StringIO("3 2\\n2\\n1 3\\n2\\n")).to_coo()[1].tolist()
    [1, 0, 2, 1]
    """
    with opened(source) as stream:
        reader = _Reader(stream.name)
        for text in stream.lines_in_chunks():
            reader.take(text)
    rows, cols, values = reader.finish()
    if values is None:
        values, dup_op = np.ones(1, bool), None
    try:
        return matrix_from_triples(reader.n, reader.n, rows, cols, values, dup_op=dup_op, name=name)
    except ValueError as error:
        if dup_op is None and "uplicate" in str(error):
            raise bad_file(reader.name, None, str(error).rstrip("."), "") from None
        raise


class _Reader:
    def __init__(self, name):
        self.name = name
        self.line = 0
        self.n = None
        self.vertex = 0
        self.parts = []

    def take(self, text):
        if self.n is not None and self.vertex == self.n and not data_lines(text, (b"%",)):
            return  # blank lines at the end
        for line in text.split(b"\n")[:-1]:
            self.line += 1
            if line.lstrip().startswith(b"%"):
                continue
            if LINE.fullmatch(line) is None:
                raise self._fault(f"expected whole numbers, found {line[:60].decode('latin-1').strip()!r}")
            numbers = np.array(line.split(), np.int64) if line else NOTHING
            if self.n is None:
                if numbers.size:
                    self._header(line.split(), numbers)
            else:
                self._neighbours(numbers)

    def _fault(self, what):
        return bad_file(self.name, self.line, what, "The file is malformed, or no METIS graph")

    def _header(self, words, numbers):
        if not 2 <= len(words) <= 4:
            raise self._fault(f"expected the header `n m [fmt [ncon]]`, found {len(words)} numbers")
        self.n, self.m = int(numbers[0]), int(numbers[1])
        layout = words[2].decode().zfill(3) if len(words) > 2 else "000"
        if not re.fullmatch("[01]{3}", layout):
            raise self._fault(f"unknown fmt {layout}")
        constraints = int(numbers[3]) if len(words) > 3 else 1
        self.skipped = (layout[0] == "1") + (constraints if layout[1] == "1" else 0)
        self.weighted = layout[2] == "1"

    def _neighbours(self, numbers):
        if self.vertex >= self.n:
            if numbers.size:
                raise self._fault(f"more lines than the {self.n} vertices of the header")
            return
        numbers = numbers[self.skipped :]
        if self.weighted and numbers.size % 2:
            raise self._fault("a neighbour has no weight")
        ends = numbers[:: 2 if self.weighted else 1]
        if ends.size and not (ends.min() >= 1 and ends.max() <= self.n):
            bad = int(ends[(ends < 1) | (ends > self.n)][0])
            raise self._fault(f"the neighbour {bad} is outside 1..{self.n}")
        if ends.size:
            self.parts.append((self.vertex, ends - 1, numbers[1::2] if self.weighted else None))
        self.vertex += 1

    def finish(self):
        """(rows, cols, values or None) of all lines."""
        if self.n is None:
            raise self._fault("the file ends before its header")
        count = sum(part[1].size for part in self.parts)
        if self.vertex < self.n or count != 2 * self.m:
            raise self._fault(
                f"the file has {self.vertex} vertices and {count} neighbours, its header {self.n} and 2 x {self.m}"
            )
        if not self.parts:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), None
        rows = np.repeat([part[0] for part in self.parts], [part[1].size for part in self.parts])
        cols = np.concatenate([part[1] for part in self.parts])
        return rows, cols, np.concatenate([part[2] for part in self.parts]) if self.weighted else None
