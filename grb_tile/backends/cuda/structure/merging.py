"""Union, intersection and difference of two stores on the device by merge path (kernels/elementwise/merge.cuh).

One launch cuts the merge into chunks, which have the same number of entries and row ends whatever the lengths of rows,
and one reads the operands and writes the result, into arrays that have room for all entries that there can be.  The
count is read back.
"""

import numpy as np

from ....dtypes import BOOL
from ....planner import tuning
from ....storage.convert import DCSR_TO_CSR, SMALL_ROWS
from ....storage.store import Compressed, SparseVector
from ..runtime.array_block import layout
from ..runtime.moves import cut, is_much
from .arrays import index_type, starts_in, stored_rows, vector_of
from .formats import choose_format
from .positions import AND, OR, WITHOUT
from .prefix_sums import look_back

HEADER = "elementwise/merge.cuh"
THREADS, EACH = 256, 7  # of a block; items of a thread, as in elementwise/merge.cuh
MOST_BLOCKS = 1 << 30
_INT64 = np.dtype(np.int64)


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
    """Shared memory of merge_write: the columns of a chunk and the ends of its rows, at most one of them in excess."""
    return (threads * EACH + 2) * max(itemsize, 4)


class Merge:
    """Two matrices of one shape, or two sparse vectors of one size, merged.

    mode: AND, OR, WITHOUT.  count: entries of the result, known once something of it is written.  Read-backs: the
    count; of two DCSR matrices that of their rows too.
    """

    __slots__ = (
        "_bound", "_chunks", "_count", "_device", "_mode", "_path", "_rows", "_structure", "_template", "_threads",
        "_x",
    )  # fmt: skip

    def __init__(self, device, x, y, mode):
        launcher = device.launcher
        self._device, self._x, self._mode, self._structure, self._count = device, x, mode, None, None
        starts_x, starts_y, self._rows = _aligned(device, x, y)
        n, m, lines = x.indices.shape[0], y.indices.shape[0], 1 if starts_x is None else starts_x.shape[0] - 1
        self._bound = min(n, m) if mode == AND else n if mode == WITHOUT else _most(x, n + m, lines)
        self._threads = threads = launcher.size(THREADS, 64)
        self._chunks = chunks = -(-(n + m + lines) // (threads * EACH))
        splits = None if chunks == 1 else device.empty(3 * chunks, np.int64)
        self._path = starts_x, x.indices, n, starts_y, y.indices, m, lines, chunks, splits
        self._template = str(threads), index_type(x.indices)

    @property
    def count(self):
        if self._count is None:
            self.structure()
        return self._count

    def write(self, functors, values, *arguments, dtype=None):
        """Launch merge_write, which writes the structure, and values of NumPy's `dtype` by the C++ type `values`.

        Returns the values.  The arrays have room for as many entries as there can be, and are cut, or copied where
        most of that is not needed; where it would be much memory, the entries are counted first.
        """
        device, columns, lines = self._device, self._x.indices.dtype, self._path[6]
        indices, starts = self._structure or (None, None)
        width = (columns.itemsize if indices is None else 0) + (0 if dtype is None else dtype.itemsize)
        if self._count is None and is_much(device, self._bound * width):
            self._launch("", "NoValues", 0, 0, 0)
        room = self._bound if self._count is None else self._count
        block = device.launcher.array_block(device.xp, layout(
            (room, columns) if indices is None else None,
            (lines + 1, _INT64) if indices is None and self._path[0] is not None else None,
            None if dtype is None else (room, dtype),
        ))  # fmt: skip
        at, starts_at, out = block.addresses
        if indices is not None:
            at, starts_at = device.address(indices), device.address(starts)
        if at:
            self._launch(functors, values, at, starts_at, *((0,) if dtype is None else (*arguments, out)))
        if indices is None:
            self._structure = cut(device, block, 0, self._count, room), block.array(1)
        return None if dtype is None else cut(device, block, 2, self._count, room)

    def _launch(self, functors, values, *results):
        """Launch merge_write, with merge_partition before the first time, and find the count; columns 0: no more."""
        device, launcher = self._device, self._device.launcher
        if self._chunks > 1 and self._count is None:
            launcher.kernel(HEADER, "merge_partition", "", self._template).over(self._chunks - 1, self._path)
        kernel = launcher.kernel(HEADER, "merge_write", functors, (*self._template, values))
        blocks, shared = min(self._chunks, MOST_BLOCKS), shared_bytes(self._threads, self._x.indices.dtype.itemsize)
        given = *self._path, self._mode, *look_back(device, self._chunks)
        (self._count,) = device.sent(
            lambda sent: kernel(blocks, self._threads, (*given, sent, *results), shared=shared)
        )

    def structure(self):
        """(indices, row pointers) of the result, which are written unless they were; None for those of a vector."""
        if self._structure is None:
            self.write("", "NoValues")
        return self._structure

    def pattern(self):
        """The result's entries in order, of type BOOL and all true: a SparseVector, or CSR or DCSR."""
        indices, starts = self.structure()
        x, true = self._x, self._device.constant(np.bool_(True))
        if starts is None:
            return SparseVector(x.size, BOOL, indices, true, True)
        rows, starts = self._rows_of(starts)
        return Compressed(x.nrows, x.ncols, BOOL, starts, indices, true, True, rows)

    def _rows_of(self, starts, nrows=None):
        """(rows, row pointers) of the result: a union has all rows of either, the others may have few of them.

        nrows: as of stored_rows.
        """
        if self._mode == OR:
            return self._rows, starts
        return stored_rows(self._device, self._rows, starts, self.count, nrows)

    def store(self, dtype, values, iso):
        """The result with these values, in the format of choose_format."""
        indices, starts = self.structure()
        device, x = self._device, self._x
        if starts is None:
            return vector_of(device, x.size, dtype, indices, values, iso)
        rows, starts = self._rows_of(starts, x.nrows)
        result = Compressed(x.nrows, x.ncols, dtype, starts, indices, values, iso, rows)
        result.shared = iso
        return choose_format(device, result)


def _most(x, entries, lines):
    """Entries of a union of `entries`, at most."""
    return min(entries, x.size if x.format == "sparse" else lines * x.ncols)


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
