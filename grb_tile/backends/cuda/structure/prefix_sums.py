"""Inclusive sums, and stream compaction: flagged entries, the set bits of words (kernels/structure/prefix_sums.cuh).

Two launches each, one for what a tile holds; a length that the host must know is written to page-locked memory by the
first, which takes less than a copy back.  CuPy's cumsum and nonzero take the host 60 and 300 us.
"""

import numpy as np

from ....storage.store import index_dtype
from .type_names import index_type, moved_type

HEADER = "structure/prefix_sums.cuh"
THREADS, OF_THREAD = 256, 16  # of a block; items of a thread, as in the kernels
_BLOCKS = 16  # of a multiprocessor, at most


class _Tiles:
    """`n` items in tiles of `size`: blocks and threads of a launch, and an array for the tiles' totals."""

    def __init__(self, device, n, of_thread=OF_THREAD):
        launcher = device.launcher
        self.device, self.n, self.threads = device, n, launcher.threads(THREADS)
        self.size = self.threads * of_thread
        self.count = -(-n // self.size)
        self.blocks = launcher.blocks(min(self.count, _BLOCKS * launcher.processors))
        self.totals = device.empty(self.count, np.int64)

    def run(self, name, template, *arguments):
        """Launch the kernel on the tiles."""
        self.device.launcher.kernel(HEADER, name, "", template)(self.blocks, self.threads, arguments)

    def summed(self, name, template, arguments, counts):
        """Launch a kernel that fills the totals; counts: return the last one, which the host waits for."""
        device = self.device
        finished = device.partial_results(0)[1]
        if not counts:
            return self.run(name, template, *arguments, self.totals, finished, None)
        return device.sent(lambda sent: self.run(name, template, *arguments, self.totals, finished, sent))[0]


def running_sums(device, counts, dtype=np.int64, *, total=False, out=None):
    """Inclusive sums of an array of integers or flags, as `dtype`; total: (sums, their last on the host).

    out: the array that they are written to.
    """
    n = counts.shape[0]
    out = device.empty(n, dtype) if out is None else out
    if n == 0:
        return (out, 0) if total else out
    tiles, types = _Tiles(device, n), (index_type(counts), index_type(out))
    if tiles.count > 1:
        last = tiles.summed("sum_tiles", types[:1], (counts, n), total)
        tiles.run("write_sums", types, counts, n, tiles.totals, out, None)
    elif total:
        (last,) = device.sent(lambda sent: tiles.run("write_sums", types, counts, n, None, out, sent))
    else:
        tiles.run("write_sums", types, counts, n, None, out, None)
    return (out, last) if total else out


class Flagged:
    """The flagged of n entries, compacted.  count: how many; one read-back.

    flags: an array of bool, not to be written to as long as this is used.
    """

    __slots__ = ("_before", "_tiles", "count", "flags", "n")

    def __init__(self, device, flags):
        self.flags, self.n, self.count = flags, flags.shape[0], 0
        self._tiles = tiles = _Tiles(device, self.n)
        self._before = device.empty(-(-self.n // OF_THREAD), np.uint16)
        if self.n:
            self.count = tiles.summed("count_flagged", ("void",), (flags, self.n, self._before), True)

    def _written(self, numbers, indices, values):
        """Fill `numbers`; return the flagged ones' indices and values.  Each may be None."""
        device = self._tiles.device
        indices_out, values_out = (None if x is None else device.empty(self.count, x.dtype) for x in (indices, values))
        if self.count:
            template = (
                "int32_t" if numbers is None else index_type(numbers),
                "int32_t" if indices is None else index_type(indices),
                "uint8_t" if values is None else moved_type(values),
            )
            self._tiles.run(
                "compact", template, self.flags, self.n, self._before, self._tiles.totals, numbers,
                indices, indices_out, values, values_out,
            )  # fmt: skip
        return indices_out, values_out

    def numbers(self, device, dtype=None):
        """Those of the flagged entries, ascending."""
        out = device.empty(self.count, index_dtype(self.n) if dtype is None else dtype)
        if self.count:
            self._written(out, None, None)
        return out

    def of(self, indices, values):
        """(indices, values) of the flagged entries; values may be None."""
        return self._written(None, indices, values)

    def starts(self, indptr):
        """The row pointers of the flagged entries among those with the row pointers `indptr`."""
        tiles, lines = self._tiles, indptr.shape[0]
        if self.n == 0:
            return tiles.device.zeros(lines, np.int64)
        out = tiles.device.empty(lines, np.int64)
        kernel = tiles.device.launcher.kernel(HEADER, "flagged_starts", "", ("void",))
        kernel.over(lines, (indptr, lines, self.flags, self.n, self._before, tiles.totals, tiles.size, out))
        return out


def listed(device, flags, dtype=None):
    """Stream compaction: the numbers of the set flags, ascending; one read-back."""
    return Flagged(device, flags).numbers(device, dtype)


def numbers_of(device, flags):
    """listed, as INT64."""
    return listed(device, flags, np.dtype(np.int64))


def stored_lines(device, indptr):
    """The rows with entries, by the row pointers; INT64, one read-back."""
    n = indptr.shape[0] - 1
    used = device.empty(n, np.bool_)
    kernel = device.launcher.kernel("structure/convert.cuh", "used_lines", "", (index_type(indptr),))
    kernel.over(n, (indptr, n, used))
    return numbers_of(device, used)


def words_to_list(device, words, dense, indices, values=None):
    """Write the set bits' positions to `indices`, and dense[position] to `values` unless that is None."""
    count = words.shape[0]
    if count:
        tiles = _Tiles(device, count, 1)
        tiles.summed("count_words", ("void",), (words, count), False)
        template = index_type(indices), moved_type(dense)
        tiles.run("words_to_positions", template, words, count, tiles.totals, dense, indices, values)
