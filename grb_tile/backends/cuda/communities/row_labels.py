"""Labels of the columns of each row on the device: mode, best move, mex.  Kernels: kernels/communities/.

Rows are binned by length on the device, and each bin has a launch that reads its number of rows there: nothing is read
back.  Memory: 16 bytes a row, 4 a column, and 40 for each part of a long row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import FP64, INT64
from ....storage.store import BitmapVector, SparseVector
from ..runtime.late_vector import LateVector
from ..runtime.launch import bits_of
from ..runtime.mailbox import SentWords
from ..structure.formats import convert

if TYPE_CHECKING:
    from ....storage.store import Compressed, StoredMask
    from ..runtime.device import Device

WARP_ROW = 256  # entries of a row for a warp: eight tables of twice as many labels in 48 KiB
BLOCK_ROW = 2048  # of a row for a block of 256 threads: a table of twice as many labels in 48 KiB
MOST_SLOTS = 16384  # labels in the table of a block of 1024 threads
FILLED = 5 / 8  # of such a table at most, on average: probes of a linear search stay few
BINS = 5
HEADER = "communities/row_labels.cuh"
BINNING = "communities/row_labels_bin.cuh"


def best_labels(
    device: Device, A: Compressed, labels: Any, weighted: bool, mask: StoredMask | None, *penalty: Any
) -> tuple[Any, ...] | Any:
    """(best,) or (best, gain, kept); see GraphOperations.best_labels (backends/graph.py)."""
    if _unsuited(A, mask):
        return NotImplemented
    n = A.nrows
    weights = "COUNTED" if not weighted else "EQUAL" if A.iso else "STORED"
    if not penalty:
        best = device.full(n, -1, np.int64)
        if not _aggregate(device, A, labels, "MODE", weights, mask, best):
            return NotImplemented
        words, count = device.zeros((n + 63) >> 6, np.uint64), device.counters()
        kernel = device.launcher.kernel(BINNING, "present_labels")
        kernel.over(-(-n // 32) * 32, (best, n, words, count))
        return (LateVector(device, n, INT64, words, best, count),)
    dense = [_dense(device, x) for x in penalty]
    results = device.empty(n, np.int64), device.empty(n, np.float64), device.empty(n, np.float64)
    if not _aggregate(device, A, labels, "MOVE", weights, mask, *results, dense=dense):
        return NotImplemented
    return tuple(_of_rows(device, mask, n, x, dtype) for x, dtype in zip(results, (INT64, FP64, FP64), strict=True))


def least_absent(device: Device, A: Compressed, labels: Any, mask: StoredMask | None) -> Any:
    """best[i] = the least number that is no label of a column of row i; see GraphOperations.least_absent."""
    if _unsuited(A, mask):
        return NotImplemented
    best = device.empty(A.nrows, np.int64)
    _aggregate(device, A, labels, "MEX", "COUNTED", mask, best)
    return _of_rows(device, mask, A.nrows, best, INT64)


def sum_by_label(device: Device, labels: Any, values: Any, size: int) -> Any:
    """sums[labels[k]] += values[k]; see GraphOperations.sum_by_label."""
    sums = device.zeros(size, np.float64)
    n = labels.shape[0]
    device.launcher.kernel(BINNING, "sum_by_label").over(-(-n // 32) * 32, (labels, values, n, sums))
    return sums


def move_half(
    device: Device, x: Any, K: Any, found: Any, active: Any, own: Any, u: Any, k: Any, key: int
) -> tuple[Any, Any, Any, Any, list[float]]:
    """(next, own', wants, moves, numbers); see GraphOperations.move_half."""
    n, (best, gain, kept), pattern = x.shape[0], *_vote(device, found, active)
    after, sums = device.empty(n, np.int64), device.empty(n, np.float64)
    wants, moves = device.zeros((n + 63) >> 6, np.uint64), device.zeros((n + 63) >> 6, np.uint64)
    numbers = device.zeros(4, np.float64)
    device.launcher.kernel("communities/move_half.cuh", "move_half").over(-(-n // 32) * 32, (
        x, K, best, gain, kept, pattern, own, u, k, n, bits_of(key), after, sums, wants, moves, numbers,
    ))  # fmt: skip
    return after, sums, wants, moves, device.host(numbers).tolist()


def join_half(
    device: Device, y: Any, K: Any, size: Any, found: Any, active: Any, own: Any, level: Any, key: int
) -> tuple[Any, Any, Any, Any, list[float]]:
    """(next, own', wants, moves, numbers); see GraphOperations.join_half."""
    n, (best, gain, kept), pattern = y.shape[0], *_vote(device, found, active)
    u, k, within, whole, joined, scale = level
    after, sums, cut = device.empty(n, np.int64), device.empty(n, np.float64), device.zeros(n, np.float64)
    wants, asks, moves = device.zeros((3, (n + 63) >> 6), np.uint64)
    numbers = device.zeros(2, np.float64)
    operands = (
        y, K, size, best, gain, kept, pattern, own, u, k, within, whole, joined, bits_of(scale), n, bits_of(key), after,
        sums, cut, wants, asks, moves, numbers,
    )  # fmt: skip
    for name in ("join_own", "join_wants", "join_moves"):
        device.launcher.kernel("communities/join_half.cuh", name).over(-(-n // 32) * 32, operands)
    return after, sums, wants, moves, device.host(numbers).tolist()


def _vote(device: Device, found: Any, active: Any) -> tuple[list[Any], Any]:
    """([best, gain, kept] of a best_labels by vertex, the bits of the active vertices, None for all)."""
    words = None if active is None else convert(device, device.to_device(active), "bitmap").words
    return [convert(device, device.to_device(store), "bitmap").values for store in found], words


def _unsuited(A: Compressed, mask: StoredMask | None) -> bool:
    large = max(A.nrows, A.ncols) >= 2**31 - 128
    return A.rows is not None or large or A.indices.dtype != np.int32 or (mask is not None and mask.complement)


def _aggregate(device, A, labels, kind, weights, mask, best, gain=None, kept=None, dense=(None, None, None)):
    """Launches: labels by column, rows binned, one for each bin.

    False where a label is not one of the columns: the composition of products names it.  That is one read-back, but for
    MEX.
    """
    launcher = device.launcher
    listed = present = None
    count = A.nrows
    if mask is not None:
        if mask.pattern.format == "bitmap":
            present = mask.pattern.words
        else:
            listed = mask.pattern.indices.astype(np.int64, copy=False)
            count = listed.shape[0]
    if not count:
        return True
    label = device.empty(A.ncols, np.int32)
    words = labels.words if labels.format == "bitmap" else convert(device, labels, "bitmap").words
    values = labels.values if labels.format == "bitmap" else convert(device, labels, "bitmap").values
    kernel = launcher.kernel(BINNING, "labels_of_columns")
    most = 2**31 - 1 if kind == "MEX" else A.ncols  # no colour that a row lacks is greater than the row is long
    wrong = None if kind == "MEX" else device.counters()
    kernel.over(A.ncols, (values, words, A.ncols, bool(labels.iso), most, label, wrong))
    sent = None if wrong is None else SentWords(device, wrong)  # read at the end: the device computes meanwhile
    warp_row, block_row = launcher.size(WARP_ROW, 40), launcher.size(BLOCK_ROW, 60)
    width = 4 if kind == "MEX" else 8 if weights == "COUNTED" else 12  # bytes of a slot
    slots = launcher.size(launcher.limits.power_of_two_with(MOST_SLOTS, width), 64)
    capacity = int(slots * FILLED) if kind != "MEX" else 1 << 40
    items = A.indices.shape[0] // capacity + min(count, A.indices.shape[0] // block_row) + 1
    lists = device.empty((BINS - 1) * count + items, np.int32)
    counts = device.zeros(8, np.uint64)
    part, arrived = device.empty(items, np.uint64), device.empty(items, np.uint32)
    kernel = launcher.kernel(BINNING, "bin_label_rows")
    kernel.over(-(-count // 32) * 32, (
        A.indptr, listed, present, count, warp_row, block_row, capacity, kind != "MODE", lists, counts, part, arrived,
    ))  # fmt: skip
    found = device.empty(items, np.float64), device.empty(items, np.float64), device.empty(items, np.int32)
    values = A.values if weights != "COUNTED" else None
    operands = A.indptr, A.indices, values, label, *dense, best, gain, kept
    template = kind, weights

    def run(name, more, k, table, blocks, threads, shared=0, parts=(None,) * 5):
        kernel = launcher.kernel(HEADER, name, "", (*template, *more))
        where = lists[k * count :], counts[k : k + 1]
        threads = launcher.threads(threads)
        kernel(launcher.blocks(blocks), threads, (*operands, *where, table, *parts), shared)

    processors = launcher.processors
    for k, lanes in ((0, "8"), (1, "32")):
        run("row_labels_lanes", (lanes,), k, 0, 8 * processors, 256)
    table = _power(2 * warp_row)
    run("row_labels_warp", (), 2, table, 4 * processors, 256, launcher.threads(256) // 32 * table * width)
    table = _power(2 * block_row)
    run("row_labels_block", (), 3, table, 4 * processors, 256, table * width)
    parts = part, found[0], found[1], found[2], arrived
    run("row_labels_block", (), 4, slots, processors, 1024, slots * width, parts)
    return sent is None or not sent.read()[0]


def _power(least: int) -> int:
    """The least power of two that is not below `least`."""
    return 1 << (least - 1).bit_length()


def _dense(device, u):
    """The values of a full vector by position."""
    if u.iso:
        return device.full(u.size, device.iso_value(u), u.dtype.np_type)
    return u.values


def _of_rows(device, mask, n, values, dtype):
    """The vector of values at the rows of `mask`."""
    if mask is None:
        return BitmapVector(n, dtype, None, values, n)
    pattern = mask.pattern
    if pattern.format == "bitmap":
        result = BitmapVector(n, dtype, pattern.words, values, pattern.nvals)
        pattern.shared = result.shared = True
        return result
    result = SparseVector(n, dtype, pattern.indices, values[pattern.indices])
    pattern.shared = result.shared = True
    return result
