"""Inclusive sums, and stream compaction: flagged entries, the set bits of words (kernels/structure/prefix_sums.cuh).

One launch each; a length that the host must know is written to page-locked memory by it, which takes less than a copy
back.  CuPy's cumsum and nonzero take the host 60 and 300 us.
"""

import numpy as np

from ....storage.store import index_dtype
from ..runtime.array_block import layout
from ..runtime.moves import cut, is_much
from .type_names import INDEX, index_type, moved_type

HEADER = "structure/prefix_sums.cuh"
THREADS, OF_THREAD = 256, 16  # of a block; items of a thread, as in the kernels
_BLOCKS = 16  # of a multiprocessor, at most
_STATES = 1 << 14  # of look-back, at least
_INT64, _UINT16 = np.dtype(np.int64), np.dtype(np.uint16)


def look_back(device, parts):
    """(zeros for the states of so many parts and a ticket, a word that is 0): kernels leave them so.

    States that a captured launch may have are never freed: what is kept is followed by what was kept before.
    """
    kept, finished = device.states, device.partial_results(0)[1]
    if kept is None or kept[0].shape[0] <= parts:
        if device.launcher.recorder is not None or device.turns is not None and device.turns.capturing:
            return device.zeros(parts + 1, np.uint64), finished  # in each turn
        kept = device.states = device.zeros(max(2 * parts, _STATES), np.uint64), kept
    return kept[0], finished


class _Tiles:
    """`n` items in tiles of `size`: blocks and threads of a launch."""

    def __init__(self, device, n, of_thread=OF_THREAD):
        launcher = device.launcher
        self.device, self.n, self.threads = device, n, launcher.threads(THREADS)
        self.size = self.threads * of_thread
        self.count = -(-n // self.size)
        self.blocks = launcher.blocks(min(self.count, _BLOCKS * launcher.processors))

    def run(self, name, template, *arguments):
        """Launch the kernel on the tiles."""
        self.device.launcher.kernel(HEADER, name, "", template)(self.blocks, self.threads, arguments)


def summed(device, n, header, name, template, *arguments, total=True):
    """Launch a kernel of sums of n > 0 items, whose last arguments are those of write_sums.

    total: returns the sum of all, polled.
    """
    tiles = _Tiles(device, n)
    kernel, states = device.launcher.kernel(header, name, "", template), look_back(device, tiles.count)
    if not total:
        kernel(tiles.blocks, tiles.threads, (*arguments, *states, None))
        return None
    return device.sent(lambda sent: kernel(tiles.blocks, tiles.threads, (*arguments, *states, sent)))[0]


def prepared_sums(device, n):
    """(blocks, threads, (states, finished)) of a launch of sums of n > 0 items whose arguments are one struct."""
    tiles = _Tiles(device, n)
    return tiles.blocks, tiles.threads, look_back(device, tiles.count)


def running_sums(device, counts, dtype=np.int64, *, total=False, out=None):
    """Inclusive sums of an array of integers or flags, as `dtype`; total: (sums, their last on the host).

    out: the array that they are written to.
    """
    n = counts.shape[0]
    out = device.empty(n, dtype) if out is None else out
    if n == 0:
        return (out, 0) if total else out
    template = index_type(counts), index_type(out)
    last = summed(device, n, HEADER, "write_sums", template, counts, n, out, total=total)
    return (out, last) if total else out


class Flagged:
    """The flagged of n entries, compacted.  count: how many; one read-back, by what is asked for first.

    flags: an array of bool, not to be written to as long as this is used.
    """

    __slots__ = ("_before", "_count", "_tiles", "_totals", "flags", "n")

    def __init__(self, device, flags):
        self.flags, self.n, self._before, self._totals = flags, flags.shape[0], None, None
        self._tiles = _Tiles(device, self.n)
        self._count = None if self.n else 0

    @property
    def count(self):
        if self._count is None:
            self._written(None, None, None)
        return self._count

    def _written(self, numbers, indices, values):
        """(numbers of that type, indices, values) of the flagged ones; each may be None, and is then not wanted.

        The first call counts them: its arrays have room for all, and are cut; where that would be much memory, a call
        before it counts them.
        """
        tiles, device = self._tiles, self._tiles.device
        wanted = numbers, *(None if x is None else x.dtype for x in (indices, values))
        width = sum(0 if dtype is None else dtype.itemsize for dtype in wanted)
        if self._count is None and width and is_much(device, self.n * width):
            self._written(None, None, None)
        first = self._count is None
        room = self.n if first else self._count
        before = ((-(-self.n // OF_THREAD), _UINT16), (tiles.count, _INT64)) if self._before is None else (None, None)
        fields = layout(*(None if dtype is None else (room, dtype) for dtype in wanted), *before)
        block = device.launcher.array_block(device.xp, fields)
        if self._before is None:
            self._before, self._totals = block.array(3), block.array(4)
        if room:
            template = (
                "int32_t" if numbers is None else INDEX[numbers.char],
                "int32_t" if indices is None else index_type(indices),
                "uint8_t" if values is None else moved_type(values),
            )
            given = self.flags, self.n, self._before, self._totals, *look_back(device, tiles.count)
            at = block.addresses
            out = at[0], indices, at[1], values, at[2]
            if first:
                (self._count,) = device.sent(lambda sent: tiles.run("compact", template, *given, sent, *out))
            else:
                tiles.run("compact", template, *given, None, *out)
        return [None if x is None else cut(device, block, k, self._count, room) for k, x in enumerate(wanted)]

    def numbers(self, device, dtype=None):
        """Those of the flagged entries, ascending."""
        return self._written(np.dtype(index_dtype(self.n) if dtype is None else dtype), None, None)[0]

    def of(self, indices, values):
        """(indices, values) of the flagged entries; values may be None."""
        return self._written(None, indices, values)[1:]

    def starts(self, indptr):
        """The row pointers of the flagged entries among those with the row pointers `indptr`."""
        tiles, lines = self._tiles, indptr.shape[0]
        if self.n == 0:
            return tiles.device.zeros(lines, np.int64)
        out = tiles.device.empty(lines, np.int64)
        if self._count is None:
            self._written(None, None, None)
        kernel = tiles.device.launcher.kernel(HEADER, "flagged_starts", "", ("void",))
        kernel.over(lines, (indptr, lines, self.flags, self.n, self._before, self._totals, tiles.size, out))
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
        template = index_type(indices), moved_type(dense)
        tiles.run("words_to_positions", template, words, count, *look_back(device, tiles.count), dense, indices, values)
