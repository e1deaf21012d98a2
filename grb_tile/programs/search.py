"""A loop whose turns are the levels of a breadth-first search runs as one search of the backend.

    while f.nvals:
        level(f.S) << depth
        f(~level.S, replace=True) << f.vxm(A, "any_pair")
        depth += 1

A turn is a level of a search when it writes two vectors and no others: `level` gets a number at the entries of f, and f
becomes the entries of `f A` that `level` lacks.  What the turns leave is then known: level[v] is the number of the turn
at whose begin v was in f, which is the least number of edges from the first f to v, and f is empty.  So the assignment,
the product after it and the condition are lowered together, to `backend.bfs` with its directions, and the turns need no
launches of their own.

Matched are the calls that a turn makes, whatever the text: vxm, or mxv of the transpose, with any_pair; numbers that
grow by 1 in each turn, added before or after the assignment; `f.nvals`, `f.nvals > 0` or `!= 0`.  `level` must be
empty as the loop begins and f a list; else the loop runs turn by turn on the device.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core import elements
from ..core.matrix import Matrix
from ..core.number import Number
from ..core.vector import Vector
from ..dtypes import INT64
from ..graph.operands import in_edges
from ..graph.traversal import bfs
from ..operations import MxV, VxM
from ..storage.constructors import empty_vector
from ..storage.place import host
from .noted import Noted

NO_SEARCH = "programs: the backend has no such loop for these vectors"


class Search(NamedTuple):
    """level, frontier: places among the vectors of the loop.  depth: place of the number among its names.

    latest: places of names that stand for the number with which the latest turn began, as `for depth in gb.loop(...)`
    leaves one.  ahead: is it added to before the assignment?  A: the matrix, whose rows are out-edges, or in-edges
    (transposed).
    """

    level: int
    frontier: int
    depth: int
    latest: tuple[int, ...]
    ahead: bool
    A: Matrix
    transposed: bool
    text = "one search of the backend, each turn a level"

    @classmethod
    def found(cls, noted: Noted, numbers: dict, goes: Any, bounded: bool) -> Search | None:
        """The search that a turn is a level of, None where it is none.

        numbers: place -> (as the turn began, as it ends).  goes: the loop's condition.  bounded: has it most turns?
        """
        written, counted = noted.writes, noted.counted
        growing = [k for k, (old, new) in numbers.items() if is_next(old, new)]
        if bounded or len(written) != 2 or counted is None or counted[2] != 2 or len(growing) != 1:
            return None
        (level, number, assigned, _), (f, record, masked, _) = written
        (depth,) = growing
        begun, ended = numbers[depth]
        latest = tuple(k for k, (_, new) in numbers.items() if new is begun)
        if not (
            type(level) is type(f) is Vector and level is not f and counted[0] is f and _is_not_zero(goes, counted[1])
            and type(number) is Number and (number is begun or number is ended) and len(latest) == len(numbers) - 1
            and _is_mask(assigned, f, False) and assigned.accum is None and not assigned.replace
            and _is_mask(masked, level, True) and masked.accum is None and masked.replace
            and type(record) in (MxV, VxM) and record.u is f and type(record.A) is Matrix
            and record.op.monoid.name == "any" and record.op.binaryop.name == "pair"
        ):  # fmt: skip
            return None
        places = {id(vector): k for k, vector in enumerate(noted.vectors)}
        transposed = record.at is (type(record) is VxM)
        return cls(places[id(level)], places[id(f)], depth, latest, number is ended, record.A, transposed)

    def run(self, vectors: list, stores: list, values: list, most: int) -> int | None:
        """The turns of the search that begins with these stores of the vectors and values of the names, which get what
        the loop leaves; None, and nothing done, where the backend has no search for them.  most: of no bounded loop.
        """
        depth = values[self.depth]
        level, f = stores[self.level], stores[self.frontier]
        if level.nvals_if_read != 0 or f.nvals_if_read is None or f.format == "bitmap" or type(depth) is not int:
            return None
        A = Matrix._from_store(in_edges(self.A._store, False)) if self.transposed else self.A
        sources = host(f).indices
        found = bfs(A, int(sources[0]) if len(sources) == 1 else sources)
        if found is None:
            return None
        to, frontier, levels, first = vectors[self.level], vectors[self.frontier], found.levels, depth + self.ahead
        made = levels.apply("plus", right=first).new(to.dtype) if first else levels.dup(to.dtype)
        empty = empty_vector(frontier.size, frontier.dtype)
        turns = found.report.count  # waits for the search
        elements.reset(to, made._store)
        elements.reset(frontier, empty)
        values[self.depth] = depth + turns
        for k in self.latest:
            values[k] = depth + turns - 1
        return turns


def _is_mask(desc, parent, complement):
    mask = desc.mask
    return mask is not None and mask.parent is parent and mask.structure and mask.complement is complement


def is_next(old: Any, new: Any) -> bool:
    """Is the number 1 more as the turn ends than as it began?"""
    return type(new) is Number and new.origin == ("plus", id(old), 1) and old.dtype is new.dtype is INT64


def _is_not_zero(goes, count):
    if type(goes) is not Number:
        return False
    return goes is count or goes.origin in (("ne", id(count), 0), ("gt", id(count), 0))
