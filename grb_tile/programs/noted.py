"""What a turn of a captured loop did, as core reports it, and the operation of the backend that the whole loop is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.number import Number


class Written(NamedTuple):
    """What a turn wrote.  what: the Record of `target << record`, a Number of `target << number`, None for all else,
    and for what a branch writes.

    of_begun: is the vector that a product reads the target as the turn began?
    """

    target: Any
    what: Any
    desc: Any
    of_begun: bool = False


class Noted:
    """Of one turn.  vectors: that the loop carries, with what a turn begins with.  arrays_of: DeviceLoop.arrays_of.

    writes: in their order.  counted: (vector, Number of its entries, how many writes came before) of the last count.
    """

    def __init__(self, vectors: list, arrays_of: Callable[[Any], tuple | None]) -> None:
        self.vectors = vectors
        self.writes: list[Written] = []
        self.counted: tuple | None = None
        self._assigned: tuple | None = None
        self._arrays_of = arrays_of
        self._begun = {id(vector): arrays_of(vector._store) for vector in vectors}

    def whole(self, numbers: dict, goes: Any, bounded: bool, kinds: tuple) -> Any:
        """The first of these kinds of operations that the turn is a step of, None where it is of none."""
        return next((found for kind in kinds if (found := kind.found(self, numbers, goes, bounded))), None)

    def count(self, vector: Any, found: Number) -> None:
        """The entries of a vector were counted."""
        self.counted = vector, found, len(self.writes)

    def assign(self, number: Any, desc: Any) -> None:
        """The next write assigns this number."""
        self._assigned = number, desc

    def write(self, target: Any, record: Any, desc: Any, sure: bool) -> None:
        """A vector is about to be written; sure: in each turn, not in a branch that may not be taken."""
        if record is None and self._assigned is not None:
            record, desc = self._assigned
        self._assigned = None
        record = record if sure else None
        u = getattr(record, "u", None)
        of_begun = u is not None and self.is_begun(target, u._store)
        self.writes.append(Written(target, record, desc, of_begun))

    def is_begun(self, vector: Any, store: Any) -> bool:
        """Has the store the entries of `vector` as the turn began?

        Told by the arrays, which are the loop's own: nobody else is given their memory.
        """
        arrays = self._arrays_of(store)
        return arrays is not None and arrays == self._begun.get(id(vector))

    def compared(self, x: Any, y: Any, found: Any) -> Any:
        """What was found of x and y, whether they are equal; as a Number it has the origin ("same", id) where they are
        the entries of that vector as the turn began and as its only write left it.
        """
        if len(self.writes) == 1 and type(found) is Number:
            target = self.writes[0].target
            for begun, left in ((x, y), (y, x)):
                if left is target._store and self.is_begun(target, begun) and not self.is_begun(target, left):
                    found.origin = "same", id(target)
        return found
