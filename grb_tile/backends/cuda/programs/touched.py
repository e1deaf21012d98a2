"""What a launch touches, from its arguments: which memory, is it written, and which positions belong to which block."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import numpy as np

from .... import kernels

# Item k touches element k of each array with an element for each item, bit k of words of as many bits, no other.
# Kernel -> which argument is the number of positions.
POSITIONS = {
    "combine": 4, "apply_values": 2, "cast_values": 1, "overlay": 2, "reduce_values": 2, "agreeing": 4,
    "repeat_number": 1, "overwrite_words": 7, "edges_of_members": 1, "join_words": 3, "inner_product": 3,
    "fill_start": 1, "gather_at": 1, "scatter_at": 2, "pick_at": 2,
}  # fmt: skip
# Of these the arguments of which item k touches any element.
ANYWHERE = {"gather_at": {2, 3}, "scatter_at": {7, 8}, "pick_at": {3}}
# Reductions of the grid, whose last arguments are the blocks' parts, a count and the result: type and operator of
# reduce_parts.  Those of LISTS may have a list, whose positions are any: template arguments that are then not void.
REDUCTIONS = {
    "reduce_values": lambda template: template,
    "agreeing": lambda template: ("int64_t", "grb::Plus"),
    "inner_product": lambda template: ("typename S::Z", "grb::addition_of<S>"),
}
LISTS = {"agreeing", "inner_product"}
COPIES = "copy_arrays"  # of several arrays, in units of 8 bytes
FEW_BYTES = 64  # of the array of a number, or of a few


class Touched(NamedTuple):
    """Memory that a step touches.  unit: bytes that belong to 64 positions, where a block has its chunk; 0: any."""

    start: int
    stop: int
    written: bool
    unit: int = 0


class Parameter(NamedTuple):
    """Of a kernel.  constant: is what it points to only read?  words: are these presence bits?"""

    constant: bool
    pointer: bool
    words: bool


@cache
def parameters_of(header: str, name: str) -> tuple[Parameter, ...] | None:
    """The parameters of a kernel, None where it is not found."""
    for file in header.split():
        found = re.search(rf"__global__ void (?:__launch_bounds__\([^)]*\)\s*)?{name}\(([^)]*)\)", kernels.source(file))
        if found is not None:
            parts = [part.strip() for part in found[1].split(",")]
            return tuple(
                Parameter(part.startswith("const "), "*" in part, re.match(r"(const )?word\*", part) is not None)
                for part in parts
            )
    return None


def touched_by(header, name, template, args):
    """(what a launch touches, words of its chunks): an array where its parameter is not `const` may be written."""
    if name == COPIES:
        return _touched_by_copies(args)
    parameters = parameters_of(header, name)
    if parameters is None or len(parameters) != len(args):
        return None, 0
    found, positions = [], 0
    if name in POSITIONS and (name not in LISTS or template[:2] == ("void", "void")):
        positions = args[POSITIONS[name]]
    chunk = (positions + 63) >> 6
    last = len(args) - 3 if name in REDUCTIONS else len(args)
    for k, (a, parameter) in enumerate(zip(args, parameters, strict=True)):
        if not hasattr(a, "nbytes") or isinstance(a, np.generic):
            continue
        start, unit = int(a.data.ptr), 0
        if chunk and k < last and k not in ANYWHERE.get(name, ()):
            if parameter.words:
                unit = 8 if a.size == chunk else 0
            elif a.size == positions:
                unit = 64 * a.dtype.itemsize
        found.append(Touched(start, start + a.nbytes, not parameter.constant, unit))
    return tuple(found), chunk


COPIES_OF_LAUNCH = 8  # COPIES of kernels/programs/copy.cuh


def copies(args):
    """(destination, source, bytes, number) of each copy of a launch."""
    return [copy for copy in zip(*(args[k::4] for k in (2, 3, 4, 5)), strict=True) if copy[0] is not None]


def copies_of(words: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """The same of a step's arguments."""
    return [copy for copy in copies(words) if copy[2]]


def _layout(copy):
    """(words of 64 positions, bytes that belong to each) of what a copy writes; (0, 0) for a few numbers.

    Unsigned words of 8 bytes are taken for presence bits.  Where they are not, the blocks divide them in another way.
    """
    to = copy[0]
    if isinstance(to, int) or to.nbytes <= FEW_BYTES or copy[2] != to.nbytes:
        return 0, 0
    return (to.size, 8) if to.dtype == np.uint64 else ((to.size + 63) >> 6, 64 * to.dtype.itemsize)


def groups_of(args):
    """The arguments of a launch for each layout; None where they must stay together."""
    groups: dict[tuple, list] = {}
    for copy in copies(args):
        groups.setdefault(_layout(copy), []).append(copy)
    found = []
    for key, some in groups.items():
        others = [copy for other, them in groups.items() if other != key for copy in them]
        if any(_overlap(to, source) for to, *_ in some for _, source, *_ in others):
            return None
        found.append((max(copy[2] for copy in some) + 7 >> 3, args[1], *(x for copy in some for x in copy)))
    return found


def _overlap(to, source):
    if isinstance(to, int) or not hasattr(source, "nbytes"):
        return False
    return to.data.ptr < source.data.ptr + source.nbytes and source.data.ptr < to.data.ptr + to.nbytes


def _touched_by_copies(args):
    every = copies(args)
    layouts = {_layout(copy) for copy in every}
    chunk, unit = layouts.pop() if len(layouts) == 1 else (0, 0)
    found = []
    for to, source, count, _ in every:
        start = to if isinstance(to, int) else int(to.data.ptr)
        found.append(Touched(start, start + count, True, unit))
        if hasattr(source, "nbytes"):
            found.append(Touched(int(source.data.ptr), int(source.data.ptr) + count, False, unit))
    if args[1] is not None:
        found.append(Touched(int(args[1].data.ptr), int(args[1].data.ptr) + 1, False))
    return tuple(found), chunk
