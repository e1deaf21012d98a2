"""What a turn of a captured loop did, as core reports it, and the operation of the backend that the whole loop is."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..backends.select import current
from ..core.number import Number


class Written(NamedTuple):
    """What a turn wrote.  what: the Record of `target << record`, a Number of `target << number`, None for all else.

    of_begun: is the vector that a product reads the target as the turn began?
    """

    target: Any
    what: Any
    desc: Any
    of_begun: bool = False


class Noted:
    """Of one turn.  vectors: that the loop carries, with what a turn begins with.

    writes: in their order.  counted: (vector, Number of its entries, how many writes came before) of the last count.
    """

    def __init__(self, vectors: list) -> None:
        self.vectors = vectors
        self.writes: list[Written] = []
        self.counted: tuple | None = None
        self._assigned: tuple | None = None
        self._begun = {id(vector): _arrays_of(vector._store) for vector in vectors}

    def whole(self, numbers: dict, goes: Any, bounded: bool, kinds: tuple) -> Any:
        """The first of these kinds of operations that the turn is a step of, None where it is of none."""
        return next((found for kind in kinds if (found := kind.found(self, numbers, goes, bounded))), None)

    def count(self, vector: Any, found: Number) -> None:
        """The entries of a vector were counted."""
        self.counted = vector, found, len(self.writes)

    def assign(self, number: Any, desc: Any) -> None:
        """The next write assigns this number."""
        self._assigned = number, desc

    def write(self, target: Any, record: Any, desc: Any) -> None:
        """A vector is about to be written."""
        if record is None and self._assigned is not None:
            record, desc = self._assigned
        self._assigned = None
        u = getattr(record, "u", None)
        of_begun = u is not None and self.is_begun(target, u._store)
        self.writes.append(Written(target, record, desc, of_begun))

    def is_begun(self, vector: Any, store: Any) -> bool:
        """Has the store the entries of `vector` as the turn began?

        Told by the arrays, which are the loop's own: nobody else is given their memory.
        """
        arrays = _arrays_of(store)
        return arrays is not None and arrays == self._begun.get(id(vector))

    def origin_of_test(self, x: Any, y: Any) -> tuple | None:
        """The origin of the Number that tells whether x and y are equal: ("same", id) where they are the entries of
        that vector as the turn began and as its only write left it.
        """
        if len(self.writes) == 1:
            target = self.writes[0].target
            for begun, left in ((x, y), (y, x)):
                if left is target._store and self.is_begun(target, begun) and not self.is_begun(target, left):
                    return "same", id(target)
        return None


def _arrays_of(store):
    """The addresses of the arrays of a bitmap with a value for each position; None for other stores."""
    if store.format != "bitmap" or store.iso or not hasattr(current(), "device"):
        return None
    address = current().device.address
    return address(store.values), None if store.words is None else address(store.words)
