"""A loop that multiplies one vector by a matrix and accumulates, until it stays, runs as one operation of the backend.

    while changed:                                  Bellman-Ford; with min_second: the least label that reaches
        old = d.dup()
        d("min") << d.vxm(A, "min_plus")
        changed = not d.isequal(old)

A turn is a step of such an iteration v (+)= A (+.x) v when it writes one vector and no others, by a product of that
vector as the turn began, accumulated by the monoid of the product, without a mask; and when the loop goes on while the
vector is not equal to what it was, or for a number of turns, or both.  Turns are those of the loop: each reads the
vector that the one before it left.  So product, accumulation and comparison are lowered together, to
`backend.fixpoint`, with one barrier a turn.

Matched are the calls that a turn makes, whatever the text.  Numbers that the loop binds may be the comparison, grow by
1 in each turn, or stand for what such a number was.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..backends.select import current
from ..core import elements
from ..core.matrix import Matrix
from ..core.number import Number
from ..core.vector import Vector
from ..graph.operands import in_edges
from ..operations import MxV, VxM
from .noted import Noted
from .search import is_next

GROWS, LATEST, CHANGED, STAYED = "grows by 1", "as the latest turn began", "did it change?", "did it stay?"


class Fixpoint(NamedTuple):
    """place: of the vector among those of the loop.  numbers: place among the names -> (what it is, place of the number
    that it follows).  A: the matrix, whose rows give the entries of v, or the columns (transposed).

    until: does the loop end once the vector stays?
    """

    place: int
    numbers: dict[int, tuple[str, int]]
    A: Matrix
    transposed: bool
    semiring: Any
    until: bool
    text = "one operation of the backend, each turn a step of the iteration"

    @classmethod
    def found(cls, noted: Noted, numbers: dict, goes: Any, bounded: bool) -> Fixpoint | None:
        """The iteration that a turn is a step of, None where it is none.

        numbers: place -> (as the turn began, as it ends).  goes: the loop's condition.  bounded: has it most turns?
        """
        if len(noted.writes) != 1:
            return None
        v, record, desc, of_begun = noted.writes[0]
        kinds = {k: _kind_of(k, numbers, v) for k in numbers}
        until = _origin(goes) == ("changed", id(v))
        if not (
            type(v) is Vector and type(record) in (MxV, VxM) and type(record.A) is Matrix and of_begun
            and desc.mask is None and desc.accum is not None and (until or bounded and goes is True)
            and record.op.return_type is v.dtype and desc.accum is record.op.monoid.binaryop
            and None not in kinds.values()
        ):  # fmt: skip
            return None
        transposed = record.at is not (type(record) is VxM)
        place = next(k for k, vector in enumerate(noted.vectors) if vector is v)
        op = record.op.flip() if type(record) is VxM else record.op
        return cls(place, kinds, record.A, transposed, op, until)

    def run(self, vectors: list, stores: list, values: list, most: int) -> int | None:
        """The turns, `most` at most, of the iteration that begins with these stores of the vectors and values of the
        names, which get what the loop leaves; None, and nothing done, where the backend has none for them.
        """
        A = self.A._store
        rows, readers = (in_edges(A, False), lambda: A) if self.transposed else (A, lambda: in_edges(A, False))
        found = current().fixpoint(rows, readers, stores[self.place], self.semiring, most, self.until)
        if found is NotImplemented:
            return None
        store, turns, changed = found
        begun = list(values)
        for k, (kind, of) in self.numbers.items():
            values[k] = {
                GROWS: lambda of=of: begun[of] + turns,
                LATEST: lambda of=of: begun[of] + turns - 1,
                CHANGED: lambda: changed,
                STAYED: lambda: not changed,
            }[kind]()
        elements.reset(vectors[self.place], store)
        return turns


def _kind_of(k, numbers, v):
    """(what the number of that place is as a turn ends, the place that it follows); None for what no kind fits."""
    old, new = numbers[k]
    if is_next(old, new):
        return GROWS, k
    kind = {("changed", id(v)): CHANGED, ("same", id(v)): STAYED}.get(_origin(new))
    if kind is not None:
        return kind, k
    for other, (begun, left) in numbers.items():
        if new is begun and is_next(begun, left):
            return LATEST, other
    return None


def _origin(x):
    return x.origin if type(x) is Number else None
