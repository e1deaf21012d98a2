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
from ..runtime.mailbox import SentWords
from ..structure.prefix_sums import listed
from .row_labels import Votes, sum_by_label

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ....storage.store import Compressed
    from ..runtime.device import Device

MOVES = "communities/move_rounds.cuh"
JOINS = "communities/join_rounds.cuh"
SETTLE = "communities/settle.cuh"
LONG_ROW = 1024  # entries from which a block, no warp, looks at the neighbours of a vertex that moved


def move_rounds(
    device: Device, B: Compressed, x: Any, u: Any, k: Any, rule: Sequence[Any], seed: int, first: int, each: bool
) -> Iterator[tuple[Any, float, list[tuple[float, int]]]]:
    """See GraphOperations.move_rounds; at most 2^31 - 129 rows."""
    n, (measure, *shares) = B.nrows, rule
    votes, label = _votes(device, B), _numbers(device, n, x)
    K = k.copy() if x is None else sum_by_label(device, x, k, n)
    best, gain, own = device.empty(n, np.int64), device.empty(n, np.float64), device.empty(n, np.float64)
    slack, used = device.empty(n, np.float64), device.empty(n, np.float64)
    before, movers, words = device.empty(n, np.int32), device.empty(n, np.int32), (n + 63) >> 6
    active, progress, kept = None, None, label.copy()
    decide, follow = (device.launcher.kernel(MOVES, name) for name in ("move_decide", "move_follow"))
    within, records = 0.0, []
    while True:
        first += 1
        if progress is None and x is None:
            kernel = device.launcher.kernel(MOVES, "vote_alone")
            kernel.over(32 * n, (B.indptr, B.indices, B.values, bool(B.iso), u, K, n, best, gain))
            progress = Progress(measure.modularity(0.0, float((K * K).sum())), *shares)
        else:
            votes.launch(label, None, active, n, (u, K, k), best, gain, own)
            if progress is None:
                within = float((own + u * (K[label] - k)).sum())
                progress = Progress(measure.modularity(within, float((K * K).sum())), *shares)
        moves, follows = device.zeros((2, words), np.uint64)
        numbers = device.zeros(6, np.float64)
        operands = (
            B.indptr, B.indices, B.values, bool(B.iso), label, before, best, gain, active, k, K, slack, used, n,
            bits_of(key_of(seed, first)), moves, follows, movers, numbers[4:].view(np.uint64), _long_row(device),
            numbers,
        )  # fmt: skip
        decide.over(-(-n // 32) * 32, operands)
        follow.over(-(-n // 32) * 32, operands, most=8 * device.launcher.processors)
        change, squares, wanting, moving = device.host(numbers).tolist()[:4]
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
    votes, community = _votes(device, B), _numbers(device, n, x)
    part, of_community = _numbers(device, n, None), sum_by_label(device, x, k, n)
    best, gain, own = device.empty(n, np.int64), device.empty(n, np.float64), device.empty(n, np.float64)
    within, cut = device.empty(n, np.float64), device.empty(n, np.float64)
    K, size, movers = k.copy(), device.full(n, 1.0, np.float64), device.empty(n, np.int32)
    words, active, few, rounds = (n + 63) >> 6, None, 0.0, 0
    while True:
        rounds += 1
        if active is not None:
            votes.launch(part, None, active, n, (u, K, k), best, gain, own, community)
        wants, asks, moves, follows = device.zeros((4, words), np.uint64)
        numbers = device.zeros(4, np.float64)
        operands = (
            B.indptr, B.indices, B.values, bool(B.iso), community, part, best, gain, active, u, k, of_community, within,
            K, size, cut, bits_of(float(scale)), bits_of(float(few)), n, bits_of(key_of(seed, first + rounds)), wants,
            asks, moves, follows, movers, numbers[2:].view(np.uint64), _long_row(device), numbers,
        )  # fmt: skip
        if active is None:
            device.launcher.kernel(JOINS, "join_first").over(32 * n, operands)
        for name in ("join_wants", "join_moves", "join_follow"):
            kernel = device.launcher.kernel(JOINS, name)
            kernel.over(-(-n // 32) * 32, operands, most=8 * device.launcher.processors)
        wanting = device.host(numbers).tolist()[0]
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
    votes, label = _votes(device, B), _numbers(device, n, x)
    K, size = sum_by_label(device, x, k, n), sum_by_label(device, x, device.full(n, 1.0, np.float64), n)
    best, gain, kept = device.empty(n, np.int64), device.empty(n, np.float64), device.empty(n, np.float64)
    target, movers = device.empty(n, np.int32), device.empty(n, np.int32)
    active, quality, records, changed = None, 0.0, [], False
    wants, moves, follow = (device.launcher.kernel(SETTLE, f"settle_{name}") for name in ("wants", "moves", "follow"))
    while True:
        votes.launch(label, None, active, n, (u, K, k), best, gain, kept)
        following, numbers = device.zeros((n + 63) >> 6, np.uint64), device.zeros(8, np.float64)
        first, alone = device.full(n, n, np.int32), device.zeros(n, np.bool_)
        operands = (
            B.indptr, B.indices, label, best, gain, kept, active, u, k, K, size, bits_of(float(least)), n, target,
            first, following, movers, numbers[7:].view(np.uint64), alone, numbers,
        )  # fmt: skip
        for kernel in (wants, moves):
            kernel.over(-(-n // 32) * 32, operands, most=8 * device.launcher.processors)
        wanting, moving, lonely, gained, within, squares = device.host(numbers).tolist()[:6]
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


def _votes(device: Device, B: Compressed) -> Votes:
    """The votes of moves on B, with sums of integers of 32 bits where its weights are whole and sum to less."""
    forms = forms_of(B)
    facts = forms.get("votes")
    if facts is None:
        facts = forms["votes"] = *_weights(device, B), int((B.indptr[1:] - B.indptr[:-1]).max())
    kind, values, longest = facts
    found = Votes(device, B, "MOVE", kind, values)
    ends = 8, 32, found.warp_row, found.block_row
    found.bins = range(1 + sum(longest > end for end in ends))  # longer rows have none
    return found


def _weights(device: Device, B: Compressed) -> tuple[str, Any]:
    """The kind of weights in row_labels.cuh, and their values where B has others."""
    if B.iso:
        return "EQUAL", None
    if float(B.values.sum()) < 2.0**31:
        whole, wrong = device.empty(B.values.shape[0], np.int32), device.counters()
        device.launcher.kernel(MOVES, "whole_numbers").over(B.values.shape[0], (B.values, whole.shape[0], whole, wrong))
        if not SentWords(device, wrong).read()[0]:
            return "WHOLE", whole
    return "STORED", None


def _numbers(device: Device, n: int, x: Any) -> Any:
    """x, or 0 .. n - 1, as int32."""
    return device.arange(n, np.int32) if x is None else x.astype(np.int32)


def _long_row(device: Device) -> int:
    return device.launcher.size(LONG_ROW, 40)
