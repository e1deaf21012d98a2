"""The launches of a turn as steps of one kernel: what is recorded of each, and where barriers must stand.

    recorder = Recorder(launcher)
    with recorder:                 # launches are noted and do not run
        turn()
    recorder.reason, recorder.steps

A step is a kernel that runs on any grid: a grid-stride loop that `Kernel.over` launched, or one of ANY_GRID.  Between
two steps stands a barrier of the block where no block can need what another one wrote (`barriers`): the steps touch
different memory, only read what both touch, or each thread touches the same positions in both.
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
POSITIONS = {"combine", "apply_values", "cast_values", "overlay", "copy_arrays", "join_words"}
BLOCK, GRID = "block", "grid"  # barriers
ALL = 1 << 31  # blocks


class Touched(NamedTuple):
    """Memory that a step touches.  stride: bytes of the element that belongs to a thread's item, 0 for any element."""

    start: int
    stop: int
    written: bool
    stride: int


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

    def __init__(self, launcher: Any) -> None:
        self._launcher = launcher
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
        known: bool = True,
    ) -> None:  # fmt: skip
        """A launch.  items: of a grid-stride loop, of at most `most` blocks; known: are the arrays among `args`?"""
        _, name, functors, _ = kernel.key
        if shared:
            self._refuse(f"{name} takes shared memory that a launch sizes")
        elif items is None and name not in ANY_GRID:
            self._refuse(f"{name} has a grid of its own")
        elif "namespace" in functors:
            self._refuse(f"{name} has an operator that declares a namespace")
        else:
            touched = _touched(kernel, args, items) if known else None
            wanted = 1 if blocks == 1 else ALL if most is None else most
            self.steps.append(Step(name, kernel.key, tuple(map(word_of(self._launcher), args)), wanted, touched))

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
    """Of each parameter of a kernel whether it is a pointer to what the kernel only reads; None where it is not found."""
    for file in header.split():
        found = re.search(rf"__global__ void (?:__launch_bounds__\([^)]*\)\s*)?{name}\(([^)]*)\)", kernels.source(file))
        if found is not None:
            return tuple(part.strip().startswith("const ") for part in found[1].split(","))
    return None


def _touched(kernel, args, items):
    """What a launch touches: an array where its parameter is not `const` may be written."""
    header, name, _, _ = kernel.key
    constant = constant_parameters(header, name)
    if constant is None or len(constant) != len(args):
        return None
    found = []
    if name == "copy_arrays" and isinstance(args[2], int):  # clear_memory
        return tuple(Touched(a, a + n, True, 8) for a, n in zip(args[2::4], args[4::4], strict=True) if a is not None)
    for k, a in enumerate(args):
        if not hasattr(a, "nbytes") or isinstance(a, np.generic):
            continue
        start, stride = int(a.data.ptr), 0
        if name == "copy_arrays":
            stride = 8
        elif name in POSITIONS and a.size == items:
            stride = a.dtype.itemsize
        found.append(Touched(start, start + a.nbytes, not constant[k], stride))
    return tuple(found)


def _meet(s: Step, t: Step) -> bool:
    """May a block need in `t` what another one did in `s`?"""
    if s.blocks == t.blocks == 1:
        return False
    if s.touched is None or t.touched is None:
        return True
    return any(
        a.start < b.stop and b.start < a.stop and (a.written or b.written)
        and not (a.stride and a.stride == b.stride and a.start == b.start and s.blocks == t.blocks)
        for a in s.touched for b in t.touched
    )  # fmt: skip


def barriers(steps: list[Step]) -> list[str]:
    """Of each step the barrier before it; of the first that of the block."""
    found, group = [], []
    for step in steps:
        meets = any(_meet(earlier, step) for earlier in group)
        found.append(GRID if meets else BLOCK)
        group = [step] if meets else [*group, step]
    return found
