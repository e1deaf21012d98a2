"""The launches of a turn as steps of one kernel: what is recorded of each, and where barriers must stand.

    recorder = Recorder(launcher)
    with recorder:                 # launches are noted and do not run
        turn()
    recorder.reason, recorder.steps

A step is a kernel that runs on any grid: a grid-stride loop that `Kernel.over` launched, or one of ANY_GRID.  A turn is
a list of levels with a barrier of the grid between them (`levels`).  A step is in the first level in which no block can
need what another one does in the same: steps of a level touch different memory, only read what both touch, or each
thread touches the same positions in both; or one block runs both.
"""

from __future__ import annotations

import re
import struct
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from .... import kernels
from ....exceptions import CaptureError

# Launched with a grid of their own, and right with any other: what a block does depends on gridDim and blockDim alone.
ANY_GRID = {"end_turn", "tell_host", "matvec_pull", "merge_columns", "merge_evenly"}
# Thread k of the grid touches element k, k + threads, ... of each array with an element for each item, and no other.
# Kernel -> which argument is the number of elements.
POSITIONS = {
    "combine": 4, "apply_values": 2, "cast_values": 1, "overlay": 2, "join_words": 2, "reduce_values": 2, "agreeing": 4,
    "repeat_number": 1,
}  # fmt: skip
# Read little of their arrays: what a list or a bitmap leaves.
PARTLY = {"merge_columns", "merge_evenly", "overwrite_words", "overwrite_listed", "edges_of_members"}
REDUCTIONS = {"reduce_values", "agreeing"}  # whose last argument gets the result
STARTS = {"fill_start"}  # write what an array starts with, and nothing else
COPIES = "copy_arrays"  # likewise, in units of 8 bytes
ALL = 1 << 31  # blocks


class Touched(NamedTuple):
    """Memory that a step touches.

    stride: bytes of the element that belongs to a thread's item, 0 for any element.  by_first: does the first block
    alone write it, after a barrier of the grid?
    """

    start: int
    stop: int
    written: bool
    stride: int
    by_first: bool = False


class Step(NamedTuple):
    """One launch.

    instance: what Launcher.kernel takes.  words: its arguments, 8 bytes each.  blocks: 1, ALL, or at most so many.
    touched: None where it is not known.
    """

    name: str
    instance: tuple[str, str, str, tuple[str, ...]]
    words: tuple[int, ...]
    blocks: int
    touched: tuple[Touched, ...] | None


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
        if shared:
            self._refuse(f"{name} takes shared memory that a launch sizes")
        elif items is None and name not in ANY_GRID:
            self._refuse(f"{name} has a grid of its own")
        elif "namespace" in functors:
            self._refuse(f"{name} has an operator that declares a namespace")
        else:
            touched = _touched(kernel, args) if known else None
            wanted = 1 if blocks == 1 else ALL if most is None or most >= self._most else most
            self.steps.append(
                Step(
                    name,
                    (header, name, functors, own if template is None else template),
                    tuple(map(word_of(self._launcher), args)),
                    wanted,
                    touched,
                )
            )

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


@cache
def constant_parameters(header: str, name: str) -> tuple[bool, ...] | None:
    """Of each parameter of a kernel: is it a pointer to what the kernel only reads?  None where it is not found."""
    for file in header.split():
        found = re.search(rf"__global__ void (?:__launch_bounds__\([^)]*\)\s*)?{name}\(([^)]*)\)", kernels.source(file))
        if found is not None:
            return tuple(part.strip().startswith("const ") for part in found[1].split(","))
    return None


def _touched(kernel, args):
    """What a launch touches: an array where its parameter is not `const` may be written."""
    header, name, _, _ = kernel.key
    constant = constant_parameters(header, name)
    if constant is None or len(constant) != len(args):
        return None
    found = []
    if name == COPIES and isinstance(args[2], int):  # clear_memory
        return tuple(Touched(a, a + n, True, 8) for a, n in zip(args[2::4], args[4::4], strict=True) if a is not None)
    for k, a in enumerate(args):
        if not hasattr(a, "nbytes") or isinstance(a, np.generic):
            continue
        start, stride = int(a.data.ptr), 0
        if name == COPIES:
            stride = 8
        elif name in POSITIONS and a.size == args[POSITIONS[name]]:
            stride = a.dtype.itemsize
        by_first = name in REDUCTIONS and k == len(args) - 1
        found.append(Touched(start, start + a.nbytes, not constant[k], stride, by_first))
    return tuple(found)


def has_barrier(step: Step) -> bool:
    """Does the step end with a barrier of the grid, after which the first block alone writes its result?"""
    return step.name in REDUCTIONS and step.blocks > 1


def _order(s: Step, t: Step) -> int:
    """How `t` comes after `s`: 0 in any order, 1 after it in the same block, 2 in a later level, 3 one level more."""
    if s.touched is None or t.touched is None:
        return 1 if s.blocks == t.blocks == 1 else 2
    found = 0
    for a in s.touched:
        for b in t.touched:
            if a.start < b.stop and b.start < a.stop and (a.written or b.written):
                aligned = a.stride and a.stride == b.stride and a.start == b.start and s.blocks == t.blocks
                if has_barrier(s):
                    found = max(found, 3 if a.by_first and t.blocks > 1 else 2)
                else:
                    found = max(found, 1 if aligned or s.blocks == t.blocks == 1 else 2)
    return found


def levels(steps: list[Step]) -> list[list[Step]]:
    """The steps of a turn in levels, each in the order in which they were launched, those with a barrier last.

    The last step, which changes what all blocks look at as a turn begins, is not in the first level.
    """
    at: list[int] = []
    for k, step in enumerate(steps):
        level = int(k == len(steps) - 1)
        for earlier, its in zip(steps, at, strict=False):
            order = _order(earlier, step)
            if order:
                level = max(level, its + order - 1)
        at.append(level)
    found = [[step for step, its in zip(steps, at, strict=True) if its == level] for level in range(max(at) + 1)]
    return [sorted(level, key=has_barrier) for level in found]


def _uses(step: Step, start: int, stop: int) -> bool:
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


def places_of(
    ordered: list[list[Step]], starts: list[Start]
) -> tuple[list[Start], dict[int, list[Start]], list[Start]]:  # fmt: skip
    """Where arrays get what they start with: (before the first turn, {level: those in it}, before all levels).

    In the first level where that does not use them, else in one after the last that does, for the turn to come.
    """
    early: list[Start] = []
    within: dict[int, list[Start]] = {}
    before: list[Start] = []
    for item in starts:
        stop = item.start + item.count
        users = [k for k, level in enumerate(ordered) if any(_uses(step, item.start, stop) for step in level)]
        if not users or users[0] > 0:
            within.setdefault(0, []).append(item)
        elif users[-1] + 1 < len(ordered):
            within.setdefault(users[-1] + 1, []).append(item)
            early.append(item)
        else:
            before.append(item)
    return early, within, before


def bytes_of(steps: list[Step]) -> int:
    """What the steps read and write of arrays that they go through as a whole."""
    return sum(a.stop - a.start for step in steps if step.name not in PARTLY for a in step.touched or ())
