"""Rounds of local moves between communities, and of joins of parts, on the device.  Meanings: backends/graph.py.

A round is the votes of the rows looked at, who moves, and the entries of those that did; the host reads four numbers
after it.  Memory: 90 bytes a row, and 4 an entry for weights that are whole numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....community_rounds import FEW_JOIN, Progress
from ....hashing import key_of
from ....storage.store import forms_of
from ..runtime.launch import bits_of
from ..structure.prefix_sums import listed
from .row_labels import Votes, long_row, sum_by_label, whole_weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....storage.store import Compressed
    from ..runtime.device import Device

MOVES = "communities/move_rounds.cuh"
JOINS = "communities/join_rounds.cuh"
SETTLE = "communities/settle.cuh"


def move_rounds(
    device: Device, B: Compressed, x: Any, u: Any, k: Any, rule: Sequence[Any], seed: int, first: int, each: bool
) -> Iterator[tuple[Any, float, list[tuple[float, int]]]]:
    """See GraphOperations.move_rounds; at most 2^31 - 129 rows."""
    n, (measure, *shares) = B.nrows, rule
    votes, label = _votes(device, B, u, k), _numbers(device, n, x)
    K = k.copy() if x is None else sum_by_label(device, x, k, n)
    best, gain, own = device.empty(n, np.int64), device.empty(n, np.float64), device.empty(n, np.float64)
    slack, used = device.empty(n, np.float64), device.empty(n, np.float64)
    before, movers, zeros = device.empty(n, np.int32), device.empty(n, np.int32), Zeros(device, n, 2)
    active, progress, kept = None, None, label.copy()
    begin, decide, follow = (device.launcher.kernel(MOVES, f"move_{name}") for name in ("begin", "decide", "follow"))
    threads, most, block_row = -(-n // 32) * 32, 8 * device.launcher.processors, long_row(device)
    within, records = 0.0, []
    while True:
        first += 1
        (moves, follows), numbers, counts = zeros.next()
        if progress is not None or x is not None:
            votes.launch(label, None, active, n, (u, K, k), best, gain, own)
        else:
            kernel = device.launcher.kernel(MOVES, "vote_alone")
            kernel.over(32 * n, (B.indptr, B.indices, B.values, bool(B.iso), u, K, n, block_row, best, gain))
        if progress is None:
            begin.over(n, (label, None if x is None else own, u, k, K, n, numbers[4:]), most=most)
        operands = (
            B.indptr, B.indices, B.values, bool(B.iso), label, before, best, gain, active, k, K, slack, used, n,
            bits_of(key_of(seed, first)), moves, follows, movers, counts, block_row, numbers,
        )  # fmt: skip
        decide.over(threads, operands, most=most)
        follow.over(threads, operands, most=most)
        change, squares, wanting, moving, *start = device.read(numbers[: 6 if progress is None else 4])
        if progress is None:
            within = start[0]
            progress = Progress(measure.modularity(*start), *shares)
        if wanting:
            within, active = within + change, follows
            if progress.better(measure.modularity(within, squares)):
                kept = label.copy()
            records.append((progress.best, int(moving)))
        ends = not wanting or progress.ends
        if each or ends:
            yield kept.astype(np.int64), progress.best, records
            records = []
        if ends:
            return


def join_rounds(device: Device, B: Compressed, x: Any, k: Any, scale: float, seed: int, first: int) -> tuple[Any, int]:
    """See GraphOperations.join_rounds; at most 2^31 - 129 rows."""
    n, u = B.nrows, scale * k
    votes, community = _votes(device, B, u, k), _numbers(device, n, x)
    part, of_community = _numbers(device, n, None), sum_by_label(device, x, k, n)
    best, gain, own = device.empty(n, np.int64), device.empty(n, np.float64), device.empty(n, np.float64)
    within, cut = device.empty(n, np.float64), device.empty(n, np.float64)
    K, size, movers = k.copy(), device.full(n, 1.0, np.float64), device.empty(n, np.int32)
    active, few, rounds, zeros, block_row = None, 0.0, 0, Zeros(device, n, 4), long_row(device)
    kernels = [device.launcher.kernel(JOINS, f"join_{name}") for name in ("wants", "moves", "follow")]
    while True:
        rounds += 1
        (wants, asks, moves, follows), numbers, counts = zeros.next()
        if active is not None:
            votes.launch(part, None, active, n, (u, K, k), best, gain, own, community)
        operands = (
            B.indptr, B.indices, B.values, bool(B.iso), community, part, best, gain, active, u, k, of_community, within,
            K, size, cut, bits_of(float(scale)), bits_of(float(few)), n, bits_of(key_of(seed, first + rounds)), wants,
            asks, moves, follows, movers, counts, block_row, numbers,
        )  # fmt: skip
        if active is None:
            device.launcher.kernel(JOINS, "join_first").over(32 * n, operands)
        for kernel in kernels:
            kernel.over(-(-n // 32) * 32, operands, most=8 * device.launcher.processors)
        (wanting,) = device.read(numbers[:1])
        if active is None:
            few = FEW_JOIN * wanting
        if wanting <= few:
            return part.astype(np.int64), rounds
        active = follows


def settle(
    device: Device, B: Compressed, x: Any, u: Any, k: Any, rule: Sequence[Any], each: bool
) -> Iterator[tuple[Any, list[tuple[float, int]]]]:
    """See GraphOperations.settle; at most 2^31 - 129 rows."""
    n, (measure, least, greatest, confirm) = B.nrows, rule
    votes, label = _votes(device, B, u, k), _numbers(device, n, x)
    K, size = sum_by_label(device, x, k, n), sum_by_label(device, x, device.full(n, 1.0, np.float64), n)
    best, gain, kept = device.empty(n, np.int64), device.empty(n, np.float64), device.empty(n, np.float64)
    target, movers, first, alone = *device.empty((3, n), np.int32), device.empty(n, np.bool_)
    zeros, active, quality, records, changed = Zeros(device, n, 1), None, 0.0, [], False
    wants, moves, follow = (device.launcher.kernel(SETTLE, f"settle_{name}") for name in ("wants", "moves", "follow"))
    while True:
        (following,), numbers, counts = zeros.next()
        votes.launch(label, None, active, n, (u, K, k), best, gain, kept)
        first.fill(n)
        device.clear(alone)
        operands = (
            B.indptr, B.indices, label, best, gain, kept, active, u, k, K, size, bits_of(float(least)), n, target,
            first, following, movers, counts, alone, numbers,
        )  # fmt: skip
        for kernel in (wants, moves):
            kernel.over(-(-n // 32) * 32, operands, most=8 * device.launcher.processors)
        wanting, moving, lonely, gained, within, squares = device.read(numbers[:6])
        if active is None:
            expected, quality = quality, measure.modularity(within, squares)
            confirm(not changed or abs(quality - expected) < 1e-6)  # else gains are wrong
        confirm(quality <= greatest)  # no communities have more
        if not wanting and active is None:
            yield label.astype(np.int64), records
            return
        active = None  # sums of communities have changed, for vertices that are no neighbours, too
        if not wanting:
            continue
        if lonely:
            vertices, free = listed(device, alone, np.dtype(np.int32)), listed(device, size == 0, np.dtype(np.int32))
            some = min(vertices.shape[0], free.shape[0])
            device.launcher.kernel(SETTLE, "settle_alone").over(some, (vertices, free, some, target))
        follow.over(32 * int(moving), operands)
        quality, active, changed = quality + 2 * gained / measure.total, following, True
        records.append((quality, int(moving)))
        if each:
            yield label.astype(np.int64), records
            records = []


class Zeros:
    """What the kernels of a round set and add to: bits of the vertices, eight numbers and two counts.

    One launch makes them 0; those of the round before stay, because a round looks at the vertices that it named.
    """

    def __init__(self, device: Device, n: int, sets: int) -> None:
        words, self._turn, self._device = (n + 63) >> 6, 0, device
        self._kept: list[Any] = []
        for block in (device.empty(sets * words + 10, np.uint64) for _ in range(2)):
            bits = [block[k * words : (k + 1) * words] for k in range(sets)]
            rest = block[sets * words :]
            self._kept.append((block, bits, rest[:8].view(np.float64), rest[8:]))

    def next(self) -> tuple[list[Any], Any, Any]:
        """(the sets of bits, numbers as doubles, counts as words)."""
        self._turn ^= 1
        block, *parts = self._kept[self._turn]
        self._device.clear(block)
        return tuple(parts)


def _votes(device: Device, B: Compressed, u: Any, k: Any) -> Votes:
    """The votes of moves on B, with sums of integers of 32 bits where its weights are whole and sum to less."""
    kind, values, least = whole_weights(device, B)
    forms = forms_of(B)
    if "longest row" not in forms:
        forms["longest row"] = int((B.indptr[1:] - B.indptr[:-1]).max())
    longest = forms["longest row"]
    negative = None
    if least >= 0:
        negative = device.counters()
        device.launcher.kernel(MOVES, "negative_numbers").over(B.nrows, (u, k, B.nrows, negative))
    found = Votes(device, B, "MOVE", kind, values, negative)
    ends = 8, 32, found.warp_row, found.block_row
    found.bins = 1 + sum(longest > end for end in ends)
    return found


def _numbers(device: Device, n: int, x: Any) -> Any:
    """x, or 0 .. n - 1, as int32."""
    return device.arange(n, np.int32) if x is None else x.astype(np.int32)
