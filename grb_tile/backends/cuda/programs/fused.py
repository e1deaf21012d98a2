"""Steps of neighbouring launches over the same positions as one pass: a thread runs all of them for its position.

    group = Group.of(steps)       # the steps from the first on that are one pass, None where it is not one of several

What one step writes and another reads at the same position stays in a register: they take it by the same word of the
arguments, so the compiler sees that it is the same.  Without it each step goes through its arrays in L2, 1 us for 2 MB.
"""

from __future__ import annotations

from typing import NamedTuple

from .steps import Step
from .touched import COPIES, POSITIONS, REDUCTIONS, copies_of, parameters_of

_ITEMS = {"combine", "apply_values", "cast_values", "agreeing", "reduce_values"}  # have a function NAME_at
_MOVED = {1: "uint8_t", 2: "uint16_t", 4: "uint32_t", 8: "uint64_t", 16: "ulonglong2"}


class Item(NamedTuple):
    """A call of a step's function for one position.

    key: (headers, function, functors, template, type and operator of a reduction or None).  words: where its arguments
    are among those of the group.  parts: of a reduction, where the address of its parts is.
    """

    key: tuple
    words: tuple[int, ...]
    parts: int


class Group(NamedTuple):
    """A pass.  steps: how many launches it is.  words: their arguments.  positions: of each array."""

    steps: int
    items: list[Item]
    words: tuple[int, ...]
    positions: int

    @classmethod
    def of(cls, steps: list[Step]) -> Group | None:
        """See the head of this file."""
        first, count = steps[0], 0
        positions = _positions(first)
        while count < len(steps) and positions and _positions(steps[count]) == positions:
            if steps[count].chunk != first.chunk:
                break
            count += 1
        if count < 2:
            return None
        items: list[Item] = []
        words: list[int] = []
        places: dict[int, int] = {}  # address -> its first place
        for step in steps[:count]:
            if step.name == COPIES:
                for to, source, size, _ in copies_of(step.words):
                    key = "programs/copy.cuh", "copy_at", "", (_MOVED[size // positions],), None
                    items.append(Item(key, _placed((to, source), (True, True), words, places), 0))
                continue
            header, name, functors, template = step.instance
            pointers = [parameter.pointer for parameter in parameters_of(header, name) or ()]
            reduction = REDUCTIONS[name](template) if name in REDUCTIONS else None
            found = _placed(step.words, pointers, words, places)
            items.append(Item((header, f"{name}_at", functors, template, reduction), found, found[-3]))
        return cls(count, items, tuple(words), positions)


def _placed(arguments, pointers, words, places):
    found = []
    for word, pointer in zip(arguments, pointers, strict=True):
        if pointer and word in places:
            found.append(places[word])
            continue
        if pointer:
            places[word] = len(words)
        found.append(len(words))
        words.append(word)
    return tuple(found)


def _positions(step):
    """How many positions the step has, where it may be in a pass; else 0."""
    if not step.chunk or step.apart:
        return 0
    if step.name in _ITEMS:
        return step.words[POSITIONS[step.name]]
    if step.name == COPIES and step.words[1] == 0 and step.touched and step.touched[0].unit > 8:
        counts = {size // (step.touched[0].unit // 64) for _, _, size, _ in copies_of(step.words)}
        if len(counts) == 1 and all(source for _, source, *_ in copies_of(step.words)) and _apart(step):
            return counts.pop()
    return 0


def _apart(step):
    """Is no array the source of one copy and the destination of another?"""
    copies = copies_of(step.words)
    return not {to for to, *_ in copies} & {source for _, source, *_ in copies}
