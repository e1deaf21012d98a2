"""Union, intersection and difference of two stores on the device by merge path (kernels/elementwise/merge.cuh).

The operands' indices are read twice: once to count the result's entries (the count is read back), and once, with the
values, to write the result.  All chunks of the merge have the same number of entries and row ends, whatever the lengths
of rows.
"""

import numpy as np

from ....dtypes import BOOL
from ....planner import tuning
from ....storage.convert import DCSR_TO_CSR, SMALL_ROWS
from ....storage.store import Compressed, SparseVector
from .arrays import index_type, starts_in, stored_rows, vector_of
from .formats import choose_format
from .positions import OR

HEADER = "elementwise/merge.cuh"
THREADS, EACH = 256, 7  # of a block; items of a thread, as in elementwise/merge.cuh
MOST_BLOCKS = 1 << 30


def merges(device, x, y):
    """Is x merged with y, rather than each entry of x searched in y?  For AND and WITHOUT.

    Not bitmaps; not if y is much longer.  DCSR matrices only where they are long, because their rows are merged first.
    """
    if x.format == "bitmap" or y.format == "bitmap":
        return False
    if y.indices.shape[0] > x.indices.shape[0] * tuning.GPU_SEARCHED_RATIO:
        return False
    long = device.launcher.size(tuning.GPU_MERGED_DCSR, 100)
    return x.format == "sparse" or x.rows is None and y.rows is None or x.indices.shape[0] > long


def shared_bytes(threads, itemsize):
    """Shared memory of merge_counts: the columns of a chunk and the ends of its rows, at most one of them in excess."""
    return (threads * EACH + 2) * max(itemsize, 4)


class Merge:
    """Two matrices of one shape, or two sparse vectors of one size, merged.

    mode: AND, OR, WITHOUT.  count: entries of the result.  Read-backs: the count; of two DCSR matrices that of their
    rows too.
    """

    __slots__ = (
        "_chunks", "_device", "_ends", "_mode", "_path", "_rows", "_structure", "_template", "_threads", "_x", "count",
    )  # fmt: skip

    def __init__(self, device, x, y, mode):
        launcher = device.launcher
        self._device, self._x, self._mode, self._structure = device, x, mode, None
        starts_x, starts_y, self._rows = _aligned(device, x, y)
        n, m, lines = x.indices.shape[0], y.indices.shape[0], 1 if starts_x is None else starts_x.shape[0] - 1
        self._threads = threads = launcher.size(THREADS, 64)
        items = threads * EACH
        self._chunks = chunks = -(-(n + m + lines) // items)
        splits = None if chunks == 1 else device.empty(3 * chunks, np.int64)
        bits, self._ends = device.empty(chunks * threads, np.uint32), device.empty(chunks, np.int64)
        self._path = starts_x, x.indices, n, starts_y, y.indices, m, lines, chunks, splits, bits
        self._template = template = str(threads), index_type(x.indices)
        if chunks > 1:
            launcher.kernel(HEADER, "merge_partition", "", template).over(chunks - 1, self._path)
        kernel, finished = launcher.kernel(HEADER, "merge_counts", "", template), device.partial_results(0)[1]
        blocks, shared = min(chunks, MOST_BLOCKS), shared_bytes(threads, x.indices.dtype.itemsize)
        (self.count,) = device.sent(
            lambda sent: kernel(blocks, threads, (*self._path, mode, self._ends, finished, sent), shared=shared)
        )

    def write(self, functors, values, *arguments):
        """Launch merge_write, which writes the structure and values of the C++ type `values` with these fields."""
        device, x = self._device, self._x
        if self._structure is None:
            starts = None if self._path[0] is None else device.empty(self._path[0].shape[0], np.int64)
            self._structure = device.empty(self.count, x.indices.dtype), starts
        kernel = device.launcher.kernel(HEADER, "merge_write", functors, (*self._template, values))
        kernel(
            min(self._chunks, MOST_BLOCKS), self._threads,
            (*self._path, self._mode, self._ends, *self._structure, *arguments),
        )  # fmt: skip

    def structure(self):
        """(indices, row pointers) of the result, which are written unless they were; None for those of a vector."""
        if self._structure is None:
            self.write("", "NoValues", 0)
        return self._structure

    def pattern(self):
        """The result's entries in order, of type BOOL and all true: a SparseVector, or CSR or DCSR."""
        indices, starts = self.structure()
        x, true = self._x, self._device.constant(np.bool_(True))
        if starts is None:
            return SparseVector(x.size, BOOL, indices, true, True)
        rows, starts = self._rows_of(starts)
        return Compressed(x.nrows, x.ncols, BOOL, starts, indices, true, True, rows)

    def _rows_of(self, starts):
        """(rows, row pointers) of the result: a union has all rows of either, the others may have few of them."""
        if self._mode == OR:
            return self._rows, starts
        return stored_rows(self._device, self._rows, starts, self.count)

    def store(self, dtype, values, iso):
        """The result with these values, in the format of choose_format."""
        indices, starts = self.structure()
        device, x = self._device, self._x
        if starts is None:
            return vector_of(device, x.size, dtype, indices, values, iso)
        rows, starts = self._rows_of(starts)
        result = Compressed(x.nrows, x.ncols, dtype, starts, indices, values, iso, rows)
        result.shared = iso
        return choose_format(device, result)


def _aligned(device, x, y):
    """(row pointers of x, of y, rows): of the same rows; rows None: all of them.

    Of two DCSR matrices the rows of either, unless pointers of all rows cost less than a merge of the rows.
    """
    if x.format == "sparse":
        return None, None, None
    if x.rows is y.rows:
        return x.indptr, y.indptr, x.rows
    rows, lines, entries = None, x.nrows, x.indices.shape[0] + y.indices.shape[0]
    short = lines <= max(device.launcher.size(SMALL_ROWS, 16), DCSR_TO_CSR * entries)
    if x.rows is not None and y.rows is not None and not short:
        names = (SparseVector(x.nrows, BOOL, A.rows, device.constant(np.bool_(True)), True) for A in (x, y))
        rows = Merge(device, *names, OR).structure()[0]
        lines = rows.shape[0]
    return *(A.indptr if A.rows is None else starts_in(device, A, rows, lines) for A in (x, y)), rows
