"""Errors of files: one exception, whose message has the file, the line and the remedy."""

from __future__ import annotations

from grb_tile.exceptions import InvalidValue


class BadFile(InvalidValue, ValueError):
    """A file is truncated, malformed, or of another format.

    It is an `InvalidValue`, as other errors of values in GraphBLAS, and a ValueError, which callers of scipy.io.mmread
    and of python-graphblas catch.
    """


class RepeatedEdges(UserWarning):
    """An edge list has repeated edges with weights and no `dup_op` was given: the minimum weight of each is stored.

    `repeated` of the `edges` lines repeat the edge of an earlier line.
    """

    def __init__(self, repeated: int, edges: int) -> None:
        super().__init__(
            f"{repeated:,} of {edges:,} edges repeat an earlier one; the minimum weight of each edge is stored; "
            'dup_op= combines them otherwise: gb.binary.plus for instance, "first", or "error"'
        )
        self.repeated, self.edges = repeated, edges


def bad_file(name: str, line: int | None, what: str, remedy: str) -> BadFile:
    """The exception for `name`: `NAME, line N: WHAT. REMEDY.` (the caller raises it).

    >>> from grb_tile.io.errors import bad_file
    >>> str(bad_file("a.mtx", 3, "row index 9 is outside 1..7", "Correct the index"))
    'a.mtx, line 3: row index 9 is outside 1..7. Correct the index.'
    """
    where = f"{name}, line {line}" if line else f"{name}"
    return BadFile(f"{where}: {what}. {remedy}." if remedy else f"{where}: {what}.")


def missing_library(library: str, purpose: str, extra: str = "") -> ImportError:
    """The ImportError for an optional library, with the command that installs it."""
    return ImportError(f"{library} is required to {purpose}: install it with `pip install {extra or library}`")
