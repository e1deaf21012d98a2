"""The launches of a turn as steps of one kernel: what is recorded of each, and where barriers must stand.

    recorder = Recorder(launcher)
    with recorder:                 # launches are noted and do not run
        turn()
    recorder.reason, recorder.steps

A step is a kernel that runs on any grid: a grid-stride loop that `Kernel.over` launched, or one of ANY_GRID.  A turn is
a list of levels with a barrier of the grid between them (`levels`).  A step is in the first level in which no block can
need what another one does in the same: steps of a level touch different memory, or only read what both touch, or a
block has the same positions in both (chunks), or what both touch is the block's own (numbers.py), or one block runs
both.

Chunks: kernels of POSITIONS touch element k of each array of their n elements, and bit k of its words, for item k
only.  As steps each block has the same words of 64 positions in all that have so many.
"""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from ....exceptions import CaptureError
from .touched import COPIES, COPIES_OF_LAUNCH, FEW_BYTES, POSITIONS, REDUCTIONS, Touched, copies, groups_of, touched_by

# Launched with a grid of their own, and right with any other: what a block does depends on gridDim and blockDim alone.
ANY_GRID = {"end_turn", "tell_host", "matvec_pull", "merge_columns", "merge_evenly"}
# Read little of their arrays: what a list or a bitmap leaves.
PARTLY = {"merge_columns", "merge_evenly", "overwrite_words", "overwrite_listed", "edges_of_members"}
# kernel -> the argument that the blocks' counts are added to
COUNTS = {"join_words": 6, "edges_of_members": 3, "matvec_rows": 13, "merge_columns": 14, "matvec_pull": 15}
STARTS = {"fill_start"}  # write what an array starts with, and nothing else
_WORDS_OF_BLOCK = 4  # of 64 positions: not divided
_FEW_WORDS = 256  # of 8 bytes, copied by one block
ALL = 1 << 31  # blocks
EVERY = 0  # blocks: each runs the step for itself


class Step(NamedTuple):
    """One launch.

    instance: what Launcher.kernel takes.  words: its arguments, 8 bytes each.  blocks: 1, ALL, or EVERY.  touched: None
    where it is not known.  chunk: words of 64 positions that the blocks divide; 0: none.  apart: has each block a count
    of its own?
    """

    name: str
    instance: tuple[str, str, str, tuple[str, ...]]
    words: tuple[int, ...]
    blocks: int
    touched: tuple[Touched, ...] | None
    chunk: int = 0
    apart: bool = False


class Recorder:
    """Notes launches in place of running them, while it is a launcher's `recorder`.

    reason: why one of them cannot be a step, None where all can.  clears: (address, bytes) of arrays that were made of
    zeros.
    """

    def __init__(self, launcher: Any, most_blocks: int) -> None:
        """most_blocks: of the persistent kernel's grid, at most."""
        self._launcher = launcher
        self._most = most_blocks
        self.steps: list[Step] = []
        self.clears: list[tuple[int, int]] = []
        self.reason: str | None = None

    def __enter__(self) -> Recorder:
        self.steps, self.clears = [], []
        self._launcher.recorder = self
        return self

    def __exit__(self, *_: Any) -> None:
        self._launcher.recorder = None

    def note(
        self, kernel: Any, blocks: int, args: tuple, shared: int, items: int | None = None, most: int | None = None,
        known: bool = True, template: tuple[str, ...] | None = None,
    ) -> None:  # fmt: skip
        """A launch.  items: of a grid-stride loop, of at most `most` blocks; known: are the arrays among `args`?

        template: in place of the kernel's own.
        """
        header, name, functors, own = kernel.key
        template = own if template is None else template
        if shared:
            self._refuse(f"{name} takes shared memory that a launch sizes")
        elif items is None and name not in ANY_GRID:
            self._refuse(f"{name} has a grid of its own")
        elif "namespace" in functors:
            self._refuse(f"{name} has an operator that declares a namespace")
        elif name == COPIES:
            for group in groups_of(args) or [args]:
                wanted = 1 if group[0] <= _FEW_WORDS else ALL
                self._add((header, name, functors, (str(len(copies(group))),)), group, wanted)
        else:
            self._add((header, name, functors, template), args, 1 if blocks == 1 else ALL, known)

    def _add(self, instance, args, blocks, known=True):
        header, name, functors, template = instance
        touched, chunk = touched_by(header, name, template, args) if known else (None, 0)
        if chunk > _WORDS_OF_BLOCK:
            blocks = ALL
        elif chunk:
            blocks, chunk = 1, 0
        if name == COPIES and chunk:
            template = (*template, str(touched[0].unit >> 3))
        final = None
        if name in REDUCTIONS and blocks > 1:
            parts, out = self._launcher.xp.empty(3 * self._most, np.uint64), args[-1]
            args = *args[:-3], parts, None, None
            touched, _ = touched_by(header, name, template, args)
            final = f"{header} elementwise/reduce.cuh", "reduce_parts", functors, REDUCTIONS[name](template)
            blocks = ALL
        elif name in COUNTS and _counts_by_block(name, template, args) and blocks > 1:
            parts, out = self._launcher.xp.empty(self._most, np.uint64), args[COUNTS[name]]
            args = *args[: COUNTS[name]], parts, *args[COUNTS[name] + 1 :]
            touched = touched_by(header, name, template, args)[0] if known else None
            final = "programs/numbers.cuh", "sum_counts", "", ()
        if name == "sum_counts" and isinstance(args[-1], int):
            touched += (Touched(args[-1], args[-1] + 8, True),)
        words = tuple(map(word_of(self._launcher), args))
        if name == COPIES:
            words += (0,) * (2 + 4 * COPIES_OF_LAUNCH - len(words))
        apart = final is not None and name in COUNTS
        self.steps.append(Step(name, (header, name, functors, template), words, blocks, touched, chunk, apart))
        if final is not None:
            self._add(final, (parts, out), 1)

    def clear(self, array: Any) -> None:
        """Zeros in an array that nothing used before."""
        if array.nbytes:
            self.clears.append((int(array.data.ptr), array.nbytes))

    def _refuse(self, reason):
        self.reason = self.reason or reason


def word_of(launcher: Any) -> Any:
    """The function that gives an argument of a launch as an integer of 8 bytes."""
    hole, array_class = launcher.hole.data.ptr, launcher.xp.ndarray

    def word(a: Any) -> int:
        if a is None:
            return 0
        if isinstance(a, array_class):
            return int(a.data.ptr) or hole
        if isinstance(a, (bool, int)):
            return int(a) & (1 << 64) - 1
        if isinstance(a, float):
            return struct.unpack("Q", struct.pack("d", a))[0]
        if isinstance(a, np.generic):
            return int.from_bytes(a.tobytes().ljust(8, b"\0"), "little")
        raise CaptureError(f"programs: no argument of a step: {type(a).__name__}")

    return word


def _counts_by_block(name, template, args):
    """Does each block add to the count once, as it ends, if it adds at all?"""
    if name == "merge_columns":
        return template[6] == "false" and args[18] == 0
    return args[COUNTS[name]] is not None


def order(s: Step, t: Step) -> int:
    """How `t` comes after `s`: 0 in any order, 1 after it in the same level, 2 in a later one."""
    if s.touched is None or t.touched is None:
        for known in (s, t):
            if known.touched is not None and all(is_own(a.start) for a in known.touched):
                return 0
        return 1 if s.blocks == t.blocks == 1 else 2
    found = 0
    for a in s.touched:
        for b in t.touched:
            if a.start < b.stop and b.start < a.stop and (a.written or b.written):
                aligned = s.chunk == t.chunk > 0 and 0 < a.unit == b.unit and a.start == b.start
                same = aligned or is_own(a.start) or s.blocks == t.blocks == 1
                found = max(found, 1 if same else 2)
    return found


def levels(steps: list[Step]) -> list[list[Step]]:
    """The steps of a turn in levels, each in the order in which they were launched."""
    at: list[int] = []
    for step in steps:
        level = 0
        for earlier, its in zip(steps, at, strict=False):
            after = order(earlier, step)
            if after:
                level = max(level, its + after - 1)
        at.append(level)
    return [
        _together([step for step, its in zip(steps, at, strict=True) if its == level])
        for level in range(max(at, default=0) + 1)
    ]


def _shape(step):
    return step.blocks, step.chunk, step.apart


def _together(level):
    """The level in an order in which steps of the same blocks are neighbours where they can be."""
    found: list[Step] = []
    while level:
        ready = [s for k, s in enumerate(level) if all(not order(earlier, s) for earlier in level[:k])]
        alike = [s for s in ready if found and _shape(s) == _shape(found[-1])]
        step = (alike or ready)[0]
        found.append(step)
        level = [s for s in level if s is not step]
    return found


OWN = 0x70 << 56  # tag of addresses that are offsets among a block's own numbers: OWN_NUMBER of persistent.cuh


def is_own(address: int) -> bool:
    """Is that a block's own number?"""
    return address >> 56 == OWN >> 56


def copies_numbers(step: Step) -> bool:
    """Is each copy of the step of at most FEW_BYTES, at an address that is a multiple of 8?"""
    return step.name == COPIES and all(
        a.stop - a.start <= FEW_BYTES and a.start % 8 == 0 for a in step.touched or () if a.stop > a.start + 1
    )


# Steps of numbers, which one warp runs: all, or for one position.
_SUMS = {"sum_counts", "reduce_parts"}  # of the blocks' parts
_BY_WARP = {"equals_number", "number_or", "end_turn"} | _SUMS
_OF_ONE = {"combine", "apply_values", "cast_values", "repeat_number"}


def runs_by_warp(step: Step) -> bool:
    """May a warp alone run the step?"""
    if step.name in _OF_ONE:
        return step.words[POSITIONS[step.name]] == 1
    return step.name in _BY_WARP or copies_numbers(step)


def chains_of(level: list[Step]) -> tuple[list[list[Step]], list[Step]]:
    """(lists of steps, each for a warp of its own; the rest of the level, which comes after them).

    Those are sums and copies of numbers that need no other step of the level; what one of them needs of the others is
    in its list.
    """
    chains: list[list[Step]] = []
    rest: list[Step] = []
    for step in level:
        if not (step.blocks == EVERY and (step.name in _SUMS or copies_numbers(step))) or any(
            order(other, step) for other in rest
        ):
            rest.append(step)
            continue
        needed = [chain for chain in chains if any(order(other, step) for other in chain)]
        joined = [other for other in level if any(other is x for chain in needed for x in chain)]
        chains = [chain for chain in chains if not any(chain is x for x in needed)] + [[*joined, step]]
    return (chains, rest) if len(chains) > 1 else ([], level)


def uses(step: Step, start: int, stop: int) -> bool:
    """May the step touch that memory?"""
    if step.touched is None:
        return any(start <= word < stop for word in step.words)
    return any(touched.start < stop and start < touched.stop for touched in step.touched)


class Start(NamedTuple):
    """What an array holds before a turn uses it.  step: the launch that writes it, None where these are zeros."""

    start: int
    count: int
    step: Step | None


def starts_of(steps: list[Step], clears: list[tuple[int, int]]) -> tuple[list[Start], list[Step]]:
    """(the starts of arrays, the steps that are none of these)"""
    rest = [step for step in steps if step.name not in STARTS or step.touched is None]
    found = [
        Start(step.touched[0].start, step.touched[0].stop - step.touched[0].start, step)
        for step in steps
        if step.name in STARTS and step.touched
    ]
    return found + [Start(start, count, None) for start, count in clears], rest


class Places(NamedTuple):
    """Where arrays get what they start with: in levels, before or after their steps; before the first turn.

    barrier: must one end the turn?
    """

    within: dict[int, list[Start]]
    after: dict[int, list[Start]]
    early: list[Start]
    barrier: bool


def places_of(ordered: list[list[Step]], starts: list[Start]) -> Places:
    """In the latest level before the first that uses them, with a barrier after the last use in the turn before; after
    the last use, by the blocks that have the same positions there; or in a later level, for the turn to come.

    A block's own numbers: in the first level, before all else.
    """
    found, last = Places({}, {}, [], False), len(ordered) - 1
    for item in starts:
        stop = item.start + item.count
        users = [k for k, level in enumerate(ordered) if any(uses(step, item.start, stop) for step in level)]
        first, end = (users[0], users[-1]) if users else (last, 0)
        where, barrier = found.within, False
        if is_own(item.start):
            place = 0
        elif first > 1 or first == 1 and end < last:
            place = first - 1
        elif end + 1 < last:
            place = end + 1
        elif (end < last or first > 0) and all(order(step, step_of(item)) < 2 for step in ordered[end]):
            place, where = end, found.after
        elif end < last or first > 0:  # beside a use on the other side of the turn's end
            place, barrier = (end + 1 if end < last else 0), True
        else:  # used in the first and in the last level: as a level of its own before them
            place, barrier = -1, True
        where.setdefault(place, []).append(item)
        if place > first or place >= end:
            found.early.append(item)
        found = found._replace(barrier=found.barrier or barrier)
    return found


def step_of(item: Start) -> Step:
    """The step that writes it, with the positions divided in chunks where these are as many words as a bitmap has."""
    if item.step is not None:
        return item.step
    chunk, count = item.count >> 3, COPIES_OF_LAUNCH - 1
    wide = item.count % 8 == 0 and chunk > _WORDS_OF_BLOCK and item.count > FEW_BYTES
    words = (item.count + 7 >> 3, 0, item.start, 0, item.count, 0, *(0, 0, 0, 0) * count)
    instance = "programs/copy.cuh", COPIES, "", ("1", "1") if wide else ("1",)
    touched = Touched(item.start, item.start + item.count, True, 8 * wide)
    return Step(COPIES, instance, words, ALL if wide else 1, (touched,), chunk * wide)


def wraps(last: list[Step], first: list[Step]) -> bool:
    """Must a barrier be between the last level of a turn and the first of the next?"""
    return any(order(s, t) > 1 for s in last for t in first)


def bytes_of(steps: list[Step]) -> int:
    """What the steps read and write of arrays that they go through as a whole."""
    return sum(a.stop - a.start for step in steps if step.name not in PARTLY for a in step.touched or ())
