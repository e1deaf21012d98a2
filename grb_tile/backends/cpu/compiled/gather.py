"""Entries copied row by row (templates/gather.py): select by column range, extract and assign of submatrices.

Values are moved as unsigned integers of their size, so that one kernel serves all types of a size.
"""

import numpy as np

from grb_tile.planner import tuning
from grb_tile.storage.convert import choose_format, without_empty_rows
from grb_tile.storage.store import Compressed, full_values, index_dtype

from ..jit import cache as jit
from ..vectorised.structure import as_array, source_rows
from .bound import INDEX, Bound, KernelError, matrix_kind
from .matmul import row_chunks
from .matvec import give_back, take_accumulator

RAW = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64, 16: np.complex128}


def raw(values):
    """The values as numbers of the same size, which are moved and never read; None where no such type exists."""
    if values.ndim != 1 or values.itemsize not in RAW or values.dtype.hasobject:
        return None
    return jit.plain(values).view(RAW[values.itemsize])


def balanced(ends):
    """(cuts between rows, threads): load balancing; ends: the entries of each row and of those before it."""
    total = int(ends[-1]) if ends.shape[0] else 0
    threads = jit.thread_count() if total >= tuning.PARALLEL_ROWS else 1
    return row_chunks(ends, total // (threads * 4) + 1 if threads > 1 else total + 1), threads


def gather_matrix(A, I, J):
    """T[k,l] = A[I[k], J[l]].  See backends/protocol.py."""
    if type(I) in _RANGES and type(J) in _RANGES and A.indices.shape[0] < tuning.PARALLEL_ROWS:
        T = _rectangle(A, I, J)
        if T is not NotImplemented:
            return T
    if A.indices.shape[0] < tuning.COMPILED_ENTRIES or (I is None and J is None):
        return NotImplemented
    nrows, names, begins, counts = source_rows(A, I)
    work = int(counts.sum())
    if work < tuning.COMPILED_ENTRIES:
        return NotImplemented
    seconds = jit.numpy_seconds(work, tuning.NUMPY_GATHER_NS)
    if J is None:
        return runs(A, (nrows, A.ncols), names, begins, counts, None, 0, seconds)
    ncols = len(J)
    if ncols == 0:
        return NotImplemented
    first, last = int(J[0]), int(J[-1])
    if last - first == ncols - 1 and (type(J) is range or bool((J[1:] > J[:-1]).all())):
        return runs(A, (nrows, ncols), names, begins, counts, (first, last + 1, 0), -first, seconds, I is None)
    if max(A.ncols, ncols) > tuning.GATHER_TABLE_COLUMNS * work:
        return NotImplemented
    return _through_places(A, (nrows, ncols), names, begins, counts, as_array(J), seconds)


_RANGES = (range, type(None))


def _rectangle(A, I, J):
    """A[I, J] of ranges of a small matrix (bound.py), in one call of a kernel, or NotImplemented."""
    kind = matrix_kind(A)
    if kind is None or kind[0]._is_udt or I is None and J is None:
        return NotImplemented
    I, J = range(A.nrows) if I is None else I, range(A.ncols) if J is None else J
    if I.step != 1 or J.step != 1 or not len(I) or not len(J):
        return NotImplemented
    functions = _rectangles[kind[1], A.values.itemsize, kind[2]].of_small_calls(tuning.SMALL_RANGE_SECONDS)
    if functions is None:
        return NotImplemented
    values = raw(A.values)
    capacity = int(A.indptr[I.stop]) - int(A.indptr[I.start])
    out_ptr, out_indices = np.empty(len(I) + 1, np.int64), np.empty(capacity, INDEX)
    kept = A.values[:1].copy() if A.iso else np.empty(capacity, A.values.dtype)
    try:
        found = functions.rectangle(
            A.indptr, A.indices, values, I.start, J.start, J.stop, out_ptr, out_indices, kept.view(values.dtype)
        )
    except KernelError:  # the general form finds out what the kernel refuses
        return NotImplemented
    if found < capacity:
        out_indices, kept = out_indices[:found].copy(), kept if A.iso else kept[:found].copy()
    kept, iso = (kept, True) if A.iso and found else (kept[:found], False)
    return choose_format(Compressed(len(I), len(J), A.dtype, out_ptr, out_indices, kept, iso))


def _kernel_of_rectangles(iso, size, index):
    value = np.dtype(RAW[size]).char
    return jit.plain_kernel("gather", X_ISO=iso, VALUE=value, INDEX=index, OUT_INDEX=INDEX.char)


_rectangles = Bound(_kernel_of_rectangles)


def _kernel(A, values, iso, index):
    """The Kernel that moves entries of A with these raw values into columns of type `index`."""
    return jit.plain_kernel(
        "gather", X_ISO=iso, VALUE=values.dtype.char, INDEX=A.indices.dtype.char, OUT_INDEX=index.char
    )


def copy_rows(A, begins, counts, shift, out_begins, out_indices, out_values, iso):
    """Row r of A, its counts[r] entries from begins[r] on, to out_begins[r] and on; see vectorised/structure.py."""
    values, count = raw(A.values[:1] if iso else full_values(A)), A.indices.shape[0]
    if values is None or count == 0:
        return NotImplemented
    is_small = count < tuning.COMPILED_ENTRIES
    if is_small:
        if out_indices.dtype != INDEX:
            return NotImplemented
        kernel = _rectangles[iso, values.itemsize, A.indices.dtype.char]
        functions = kernel.of_small_calls(tuning.SMALL_RANGE_SECONDS)
    else:
        kernel = _kernel(A, values, iso, out_indices.dtype)
        functions = kernel.functions_for(jit.numpy_seconds(count, tuning.NUMPY_GATHER_NS))
    if functions is None:
        return NotImplemented
    arguments = (
        jit.plain(A.indices), values, jit.plain(begins), jit.plain(counts), shift, jit.plain(out_begins), out_indices,
        out_values.view(values.dtype),
    )  # fmt: skip
    if is_small:
        return jit.attempt(kernel, lambda: functions.copy(*arguments, 0, counts.shape[0]))
    cuts, threads = balanced(counts.cumsum())

    def job(chunk, worker):
        functions.copy(*arguments, cuts[chunk], cuts[chunk + 1])

    return jit.attempt(kernel, lambda: jit.share_out(job, len(cuts) - 1, threads))


class _Rows:
    """The rows of a result that are copied from A: their arrays, and the kernel's functions over chunks of rows."""

    def __init__(self, A, shape, names, begins, counts, seconds):
        self.A, self.shape, self.names = A, shape, names
        self.index = index_dtype(shape[1])
        self.values = raw(A.values)
        self.functions = None
        if self.values is None:
            return
        self.kernel = _kernel(A, self.values, bool(A.iso), self.index)
        self.functions = self.kernel.functions_for(seconds)
        self.indices = jit.plain(A.indices)
        self.begins, self.counts = np.array(begins, np.int64), np.array(counts, np.int64)

    def in_chunks(self, job, ends=None):
        """job(worker, first, last) for chunks of rows, on all cores; ends: cumulated counts, where they are known."""
        if self.A.indices.shape[0] < tuning.PARALLEL_ROWS:
            job(0, 0, self.counts.shape[0])
            return
        cuts, threads = balanced(self.counts.cumsum() if ends is None else ends)
        jit.share_out(lambda chunk, worker: job(worker, cuts[chunk], cuts[chunk + 1]), len(cuts) - 1, threads)

    def allocate(self):
        """Row pointers and arrays for the counted entries."""
        self.out_ptr = np.zeros(self.counts.shape[0] + 1, np.int64)
        np.cumsum(self.counts, out=self.out_ptr[1:])
        self.found = int(self.out_ptr[-1])
        self.out_indices = np.empty(self.found, self.index)
        self.kept = self.A.values[:1].copy() if self.A.iso else np.empty(self.found, self.A.values.dtype)
        self.out_values = self.kept.view(self.values.dtype)

    def result(self):
        A, found = self.A, self.found
        names, out_ptr = without_empty_rows(self.names, self.out_ptr)
        iso = A.iso and found > 0
        return choose_format(Compressed(*self.shape, A.dtype, out_ptr, self.out_indices, self.kept[:found], iso, names))


def runs(A, shape, names, begins, counts, limits, shift, seconds, every=False):
    """The matrix of the columns low + slope r <= j < high + slope r of the rows r, each moved to column j + shift.

    limits: (low, high, slope), or None for all columns.  Row r has counts[r] entries of A from begins[r] on.
    every: the rows are all of A's, in order.
    """
    rows = _Rows(A, shape, names, begins, counts, seconds)
    functions = rows.functions
    if functions is None:
        return NotImplemented

    def run():
        if limits is not None:
            ends = A.indptr[1:] if every else None
            rows.in_chunks(lambda worker, *r: functions.runs(rows.indices, *limits, rows.begins, rows.counts, *r), ends)
        rows.allocate()
        if limits is not None and every and shape == A.shape and rows.found == A.indices.shape[0]:
            return A
        arrays = rows.indices, rows.values, rows.begins, rows.counts
        results = rows.out_ptr, rows.out_indices, rows.out_values
        rows.in_chunks(lambda worker, *r: functions.copy(*arrays, shift, *results, *r), rows.out_ptr[1:])
        return rows.result()

    return jit.attempt(rows.kernel, run)


def _through_places(A, shape, names, begins, counts, J, seconds):
    """The matrix of the columns J, in any order and with repeats, of the given rows."""
    rows = _Rows(A, shape, names, begins, counts, seconds)
    functions = rows.functions
    if functions is None:
        return NotImplemented

    def run():
        ptr = np.zeros(A.ncols + 1, np.int64)  # column j of A becomes the columns targets[ptr[j]:ptr[j + 1]]
        np.cumsum(np.bincount(J, minlength=A.ncols), out=ptr[1:])
        in_order = bool((J[1:] >= J[:-1]).all())
        targets = (np.arange(J.shape[0]) if in_order else J.argsort(kind="stable")).astype(rows.index)
        rows.in_chunks(lambda worker, *r: functions.count(rows.indices, rows.begins, rows.counts, ptr, *r))
        rows.allocate()
        arrays = rows.indices, rows.values, rows.begins, ptr, targets, rows.out_ptr
        results = rows.out_indices, rows.out_values
        if in_order:
            rows.in_chunks(lambda worker, *r: functions.ascending(*arrays, *results, *r))
            return rows.result()
        scratch = {}

        def sort_rows(worker, *r):
            if worker not in scratch:
                scratch[worker] = take_accumulator(shape[1], rows.values.dtype)
            functions.shuffled(*arrays, *scratch[worker], *results, *r)

        rows.in_chunks(sort_rows)
        for mine in scratch.values():
            give_back(shape[1], rows.values.dtype, mine)
        return rows.result()

    return jit.attempt(rows.kernel, run)
