"""Labels of the columns of each row on the device: mode, best move, mex.  Kernels: kernels/communities/.

Rows are binned by length on the device, and each bin has a launch that reads its number of rows there: nothing is read
back.  Memory: 16 bytes a row, 4 a column, and 40 for each part of a long row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import FP64, INT64
from ....storage.store import BitmapVector, SparseVector, forms_of
from ..runtime.late_vector import LateVector
from ..runtime.mailbox import SentWords
from ..structure.formats import convert

if TYPE_CHECKING:
    from ....storage.store import Compressed, StoredMask
    from ..runtime.device import Device

WARP_ROW = 256  # entries of a row for a warp: eight tables of twice as many labels in 48 KiB
BLOCK_ROW = 2048  # of a row for a block of 256 threads: a table of twice as many labels in 48 KiB
MOST_SLOTS = 16384  # labels in the table of a block of 1024 threads
FILLED = 5 / 8  # of such a table at most, on average: probes of a linear search stay few
LONG_ROW = 1024  # entries of a row that a warp goes through, without a table
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
    device.launcher.kernel(BINNING, "sum_by_label").over(-(-n // 256) * 32, (labels, values, n, sums))
    return sums


def first_by_label(device: Device, labels: Any, size: int) -> Any:
    """first[labels[k]] = the least k; see GraphOperations.first_by_label."""
    n = labels.shape[0]
    if n > 2**31 - 1:
        return NotImplemented
    first = device.full(size, n, np.int32)
    device.launcher.kernel(BINNING, "first_by_label").over(n, (labels, n, first))
    return first


def long_row(device: Device) -> int:
    """The entries of a row from which a block, no warp, goes through them."""
    return device.launcher.size(LONG_ROW, 40)


def whole_weights(device: Device, A: Compressed) -> tuple[str, Any, float]:
    """(the kind of A's entries, their values as int32 where it is WHOLE, the least entry); kept with A.

    EQUAL; WHOLE: integers that are not negative and sum to less than 2^31; STORED: others.
    """
    forms = forms_of(A)
    found = forms.get("whole weights")
    if found is None:
        found = forms["whole weights"] = _whole_weights(device, A)
    return found


def _whole_weights(device: Device, A: Compressed) -> tuple[str, Any, float]:
    if A.iso:
        return "EQUAL", None, float(device.iso_value(A))
    if not A.nvals:
        return "STORED", None, 0.0
    least, total = device.read(*(reduced.reshape(1) for reduced in (A.values.min(), A.values.sum())))
    if least >= 0 and total < 2.0**31:
        count = A.values.shape[0]
        whole, wrong = device.empty(count, np.int32), device.counters()
        device.launcher.kernel(BINNING, "whole_numbers").over(count, (A.values, count, whole, wrong))
        if not device.read_count(wrong):
            return "WHOLE", whole, least
    return "STORED", None, least


def _unsuited(A: Compressed, mask: StoredMask | None) -> bool:
    large = max(A.nrows, A.ncols) >= 2**31 - 128
    return A.rows is not None or large or A.indices.dtype != np.int32 or (mask is not None and mask.complement)


def _aggregate(device, A, labels, kind, weights, mask, best, gain=None, kept=None, dense=(None, None, None)):
    """Launches: labels by column, rows binned, one for each bin.

    False where a label is not one of the columns: the composition of products names it.  That is one read-back, but for
    MEX; in a captured turn the loop is told (DeviceLoop.doubt).
    """
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
    kernel = device.launcher.kernel(BINNING, "labels_of_columns")
    most = 2**31 - 1 if kind == "MEX" else A.ncols  # no colour that a row lacks is greater than the row is long
    captured = device.turns is not None and device.turns.capturing
    wrong = None if kind == "MEX" else device.turns.doubt if captured else device.counters()
    kernel.over(A.ncols, (values, words, A.ncols, bool(labels.iso), most, label, wrong))
    sent = None if wrong is None or captured else SentWords(device, wrong)  # read at the end
    Votes(device, A, kind, weights).launch(label, listed, present, count, dense, best, gain, kept)
    return sent is None or not sent.read()[0]


class Votes:
    """Launches of the kernels that aggregate labels of the rows of A: rows binned, one launch for each bin.

    values     None: those of A; of WHOLE an array of int32
    negative   of MOVE: one word, not 0 where an entry, u or v is negative; None: unknown
    """

    def __init__(self, device, A, kind, weights, values=None, negative=None):
        launcher = device.launcher
        self.device, self.A, self.kind, self.weights, self.negative = device, A, kind, weights, negative
        self.warp_row, self.block_row = launcher.size(WARP_ROW, 40), launcher.size(BLOCK_ROW, 60)
        self.width = width = 4 if kind == "MEX" else 12 if weights == "STORED" else 8  # bytes of a slot
        self.slots = launcher.size(launcher.limits.power_of_two_with(MOST_SLOTS, width), 64)
        self.capacity = int(self.slots * FILLED) if kind != "MEX" else 1 << 40
        self.values = A.values if values is None and weights != "COUNTED" else values
        self.bins = BINS  # those from here on have no rows
        self._kept = None

    def launch(self, label, listed, present, count, dense, best, gain=None, kept=None, inside=None):
        """The rows listed, or `present`, of `count`."""
        launcher, A = self.device.launcher, self.A
        lists, counts, bins, part, arrived, *found = self._room(count)
        self.device.clear(counts)
        launcher.kernel(BINNING, "bin_label_rows").over(-(-count // 32) * 32, (
            A.indptr, listed, present, count, self.warp_row, self.block_row, self.capacity, self.kind != "MODE", lists,
            counts, part, arrived,
        ))  # fmt: skip
        operands = A.indptr, A.indices, self.values, label, *dense, best, gain, kept
        template = self.kind, self.weights

        def run(name, rows, slots, threads, shared, parts, bins=(0, 0, 0)):
            kernel = launcher.kernel(HEADER, name, "", template)
            threads = launcher.threads(threads)
            blocks = kernel.resident_blocks(threads, shared)
            kernel(blocks, threads, (*operands, *rows, slots, *parts, inside, *bins, self.negative), shared)

        if self.bins == BINS:
            parts = part, *found, arrived
            run("row_labels_parts", bins[-1], self.slots, 1024, self.slots * self.width, parts)
        of_warp, of_block = _power(2 * self.warp_row), _power(2 * self.block_row)
        shared = self.width * max(launcher.threads(256) // 32 * of_warp, of_block)
        whole = min(self.bins, BINS - 1), count, of_block
        run("row_labels_whole", bins[0], of_warp, 256, shared, (None,) * 5, whole)

    def _room(self, count):
        """(lists of the bins, their counts, those of each, and arrays for rows in parts) for `count` rows; kept."""
        if self._kept is None or self._kept[0] != count:
            device, entries = self.device, self.A.indices.shape[0]
            items = entries // self.capacity + min(count, entries // self.block_row) + 1
            lists, counts = device.empty((BINS - 1) * count + items, np.int32), device.empty(8, np.uint64)
            types = np.uint64, np.uint32, np.float64, np.float64, np.int32
            bins = [(lists[k * count :], counts[k : k + 1]) for k in range(BINS)]
            self._kept = count, (lists, counts, bins, *(device.empty(items, dtype) for dtype in types))
        return self._kept[1]


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
        result = pattern.with_values(dtype, values, False)  # its number of entries may be on the device
        pattern.shared = result.shared = True
        return result
    result = SparseVector(n, dtype, pattern.indices, values[pattern.indices])
    pattern.shared = result.shared = True
    return result
