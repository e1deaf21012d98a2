"""Numbers of a loop in one persistent kernel: every block has them for itself, and computes them for itself.

    own = OwnNumbers(bodies, starts)        # bodies: the steps of a turn, by direction; what their arrays start with
    steps = own.rewritten(bodies[0])        # steps that write such numbers alone: blocks EVERY, addresses is_own
    own.table                               # (address, its offset with the tag, bytes) of each

A step of one block that all others wait for costs a barrier of the grid.  Instead every block runs it, on numbers of
its own in shared memory: they are the same in all blocks, because the same steps wrote them from the same values.  A
number that several blocks write together (a count of atomics, the parts of a reduction) stays where it is; steps that
read it get a copy, in the level after that of the writers, so that the next turn may write it again soon (`_fetched`).

What a loop begins with is copied in before the first turn, and out by the first block after the last.
"""

from __future__ import annotations

from .steps import EVERY, OWN, Start, Step, is_own, uses
from .touched import ANYWHERE, COPIES, FEW_BYTES, POSITIONS, Touched, parameters_of

# As a step of one block they give the same whoever runs them.
_REPEATABLE = {
    *(POSITIONS.keys() - ANYWHERE.keys()), COPIES, "equals_number", "number_or", "end_turn", "reduce_parts",
    "sum_counts",
}  # fmt: skip
_MOST_BYTES = 2048  # NUMBERS of kernels/programs/persistent_names.cuh


class OwnNumbers:
    """The numbers that only steps of one block write, each in an array of at most FEW_BYTES."""

    def __init__(self, bodies: list[list[Step]], starts: list[Start]) -> None:
        steps = [step for body in bodies for step in body]
        regions = [region for region in _regions(steps, starts) if _written(steps, region)]
        while True:
            shared = {
                region for step in steps for region in _written_regions(step, regions) if not _every(step, regions)
            }
            if not shared:
                break
            regions = [region for region in regions if region not in shared]
        self._places: list[tuple[int, int, int]] = []
        self._end = 0
        for start, stop in regions:
            self._place(start, stop)

    @property
    def table(self) -> list[tuple[int, int, int]]:
        """(address, its offset with the tag, bytes) of each number."""
        return [(start, place, stop - start) for start, stop, place in self._places]

    def has(self, address: int) -> bool:
        """Is the number at that address the block's own?"""
        return is_own(self.place(address))

    def place(self, address: int) -> int:
        """Where what is at that address is for the steps."""
        for start, stop, place in self._places:
            if start <= address < stop:
                return place + address - start
        return address

    def rewritten(self, steps: list[Step]) -> list[Step]:
        """The steps with the addresses of their block's numbers."""
        return self._fetched([self._moved(step, self.place) for step in steps])

    def without_unread(self, bodies: list[list[Step]], kept: list[int]) -> list[list[Step]]:
        """The bodies without steps whose numbers nothing reads; kept: addresses of those that the loop leaves."""
        outer = {self.place(address) for address in kept}
        while True:
            read = {(a.start, a.stop) for body in bodies for s in body for a in s.touched or () if not a.written}
            alive = [
                [
                    s for s in body
                    if s.blocks != EVERY or s.touched is None or s.name == "end_turn" or any(
                        a.written and (
                            not is_own(a.start) or any(x < a.stop and a.start < y for x, y in read)
                            or any(a.start <= x < a.stop for x in outer)
                        )
                        for a in s.touched
                    )
                ]
                for body in bodies
            ]  # fmt: skip
            if list(map(len, alive)) == list(map(len, bodies)):
                return bodies
            bodies = alive

    def start(self, item: Start) -> Start:
        """The same of what an array starts with."""
        return item._replace(start=self.place(item.start)) if item.step is None else item

    def _place(self, start, stop):
        if self._end + stop - start <= _MOST_BYTES:
            self._places.append((start, stop, OWN | self._end))
            self._end += -(-(stop - start) // 8) * 8

    @staticmethod
    def _moved(step, place):
        if step.touched is None:
            return step
        parameters = parameters_of(step.instance[0], step.name) or ()
        words = tuple(
            place(word) if k < len(parameters) and parameters[k].pointer else word for k, word in enumerate(step.words)
        )
        touched = tuple(a._replace(start=place(a.start), stop=place(a.start) + a.stop - a.start) for a in step.touched)
        every = step.name in _REPEATABLE and step.blocks == 1 and all(is_own(a.start) for a in touched if a.written)
        return step._replace(words=words, touched=touched, blocks=EVERY if every else step.blocks)

    def _fetched(self, steps):
        """With copies of the numbers that several blocks write, for the steps that every block runs."""
        found: list[Step] = []
        copies: dict[int, int] = {}  # address -> where its latest copy is, until it is written again
        for step in steps:
            if step.blocks == EVERY:
                for a in step.touched or ():
                    if a.start not in copies and not is_own(a.start) and a.stop - a.start <= FEW_BYTES:
                        at = next((k for k in reversed(range(len(found))) if _writes(found[k], a.start, a.stop)), None)
                        if at is not None and self._end + FEW_BYTES <= _MOST_BYTES:
                            copies[a.start] = place = OWN | self._end
                            self._end += -(-(a.stop - a.start) // 8) * 8
                            found.insert(at + 1, _copy(a.start, place, a.stop - a.start))
                step = self._moved(step, lambda address: copies.get(address, address))
            for address in [x for x in copies if _writes(step, x, x + 1)]:
                del copies[address]
            found.append(step)
        return found


def _copy(start, place, count):
    words = (count + 7 >> 3, 0, place, start, count, 0, *(0, 0, 0, 0) * 7)
    touched = Touched(place, place + count, True), Touched(start, start + count, False)
    return Step(COPIES, ("programs/copy.cuh", COPIES, "", ("1",)), words, EVERY, touched)


def _writes(step, start, stop):
    if step.touched is None:
        return uses(step, start, stop)
    return any(a.written and a.start < stop and start < a.stop for a in step.touched)


def _written(steps, region):
    return any(_writes(step, *region) for step in steps)


def _regions(steps, starts):
    """(start, stop) of what the known steps touch, and of what arrays start with, those that overlap joined, of at most
    FEW_BYTES.
    """
    found: list[tuple[int, int]] = []
    touched = {(a.start, a.stop) for step in steps for a in step.touched or ()}
    for start, stop in sorted(touched | {(item.start, item.start + item.count) for item in starts}):
        if found and start < found[-1][1]:
            found[-1] = found[-1][0], max(found[-1][1], stop)
        else:
            found.append((start, stop))
    return [(start, stop) for start, stop in found if stop - start <= FEW_BYTES]


def _written_regions(step, regions):
    """What the step may write of them, or use where it is not known."""
    return [region for region in regions if _writes(step, *region)]


def _every(step, regions):
    """May every block run the step for itself, because it writes nothing else?"""
    return (
        step.touched is not None and step.blocks == 1 and step.name in _REPEATABLE
        and all(
            any(start <= a.start and a.stop <= stop for start, stop in regions) for a in step.touched if a.written
        )
    )  # fmt: skip
