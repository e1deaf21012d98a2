"""Transpose by counting sort, union and intersection of vectors, and scatter into bitmaps, through compiled kernels."""

import numpy as np

from grb_tile.dtypes import cast
from grb_tile.storage.convert import choose_format
from grb_tile.storage.store import BitmapVector, Compressed, SparseVector, index_dtype

from ..jit import cache as jit
from ..jit.operators import NotLowerable, operator_text

TRANSPOSE_SECONDS_NUMPY = 60e-9  # NumPy's time per entry: transpose, union or intersection, scatter; and per call
ENTRY_SECONDS_NUMPY = 12e-9
PLACE_SECONDS_NUMPY = 30e-9
CALL_SECONDS_NUMPY = 30e-6
FEW = 64  # entries below which NumPy scatters into a bitmap
PARALLEL_WORK = 1 << 18  # entries (or positions of a bitmap) below which one thread runs
MINIMUM_ENTRIES = 2048  # fewer entries are left to NumPy
MAX_COUNTS = 1 << 28  # column counters of all threads together
NO_WORDS = np.zeros(0, np.uint64)


def transpose_kernel(A):
    """The Kernel that transposes A, or None where NumPy does."""
    count = A.indices.shape[0]
    if A.rows is not None or count == 0 or A.values.dtype.names is not None or A.ncols > 4 * count + 65536:
        return None
    if A.ncols > MAX_COUNTS:
        return None
    index = index_dtype(A.nrows)
    return jit.plain_kernel(
        "transpose", A_ISO=bool(A.iso), VALUE=A.values.dtype.char, INDEX=A.indices.dtype.char, OUT_INDEX=index.char
    )


def transpose(A):
    """T[j,i] = A[i,j].  See backends/protocol.py."""
    kernel = transpose_kernel(A)
    if kernel is None:
        return NotImplemented
    count = A.indices.shape[0]
    functions = kernel.functions_for(CALL_SECONDS_NUMPY + count * TRANSPOSE_SECONDS_NUMPY)
    if functions is None:
        return NotImplemented
    return jit.attempt(kernel, lambda: _transposed(functions, A, count, index_dtype(A.nrows)))


def _transposed(functions, A, count, index):
    indptr, indices, values = jit.plain(A.indptr), jit.plain(A.indices), jit.plain(A.values)
    threads = jit.thread_count() if count >= PARALLEL_WORK else 1
    blocks = max(1, min(threads, count // max(A.ncols // 4, 1), MAX_COUNTS // max(A.ncols, 1)))
    wanted = count * np.arange(1, blocks, dtype=np.int64) // blocks
    cuts = [0, *np.searchsorted(indptr, wanted).tolist(), A.nrows]
    counts = np.zeros((blocks, A.ncols), np.int64)
    out_ptr = np.empty(A.ncols + 1, np.int64)
    out_indices = np.empty(count, index)
    out_values = A.values[:1].copy() if A.iso else np.empty(count, A.values.dtype)

    def tally(block, worker):
        functions.count(indices, counts[block], int(indptr[cuts[block]]), int(indptr[cuts[block + 1]]))

    def scatter(block, worker):
        functions.scatter(indptr, indices, values, counts[block], out_indices, out_values, cuts[block], cuts[block + 1])

    jit.share_out(tally, blocks, threads)
    functions.scan(counts, out_ptr)
    jit.share_out(scatter, blocks, threads)
    return choose_format(Compressed(A.ncols, A.nrows, A.dtype, out_ptr, out_indices, out_values, A.iso))


def union(x, y, op, allow=None):
    """t[p] = x[p] (op) y[p] where both are present, the one entry where only one is.  See backends/protocol.py."""
    return _merged(x, y, op, allow, True)


def intersect(x, y, op, allow=None):
    """t[p] = x[p] (op) y[p] where both are present.  See backends/protocol.py."""
    return _merged(x, y, op, allow, False)


_merges = jit.memo()


def _merge_kernel(op, x, y, either, form):
    key = ("merge_vectors", op, x.iso, y.iso, either, form)
    try:
        return _merges[key]
    except KeyError:
        pass
    flags = {"X_ISO": bool(x.iso), "Y_ISO": bool(y.iso), "UNION": either, "X_FULL": form[0] == "full",
             "Y_FULL": form[1] == "full", "SPARSE": form[0] == "sparse", "INDEX": form[1]}  # fmt: skip
    try:
        text = operator_text("merge_vectors", flags, ADD=op)
        made = jit.kernel(key, "merge_vectors", lambda: text)
    except NotLowerable:
        made = None
    _merges[key] = made
    return made


def _merged(x, y, op, allow, either):
    count = x.nvals + y.nvals
    if count < MINIMUM_ENTRIES or op is None or allow is not None or x.nvals == 0 or y.nvals == 0:
        return NotImplemented
    if x.format not in ("sparse", "bitmap") or x.format != y.format:
        return NotImplemented
    if op.positional or op.kind in ("pair", "first", "second", "any"):
        return NotImplemented
    if either and not (x.dtype is y.dtype is op.type is op.return_type):
        return NotImplemented  # an entry of one operand is cast otherwise than a combined one
    if x.iso and y.iso:
        return NotImplemented
    if x.format == "sparse":
        form = ("sparse", x.indices.dtype.char)
        if y.indices.dtype != x.indices.dtype:
            return NotImplemented
    else:
        form = ("full" if x.words is None else "words", "full" if y.words is None else "words")
    kernel = _merge_kernel(op, x, y, either, form)
    if kernel is None:
        return NotImplemented
    functions = kernel.functions_for(CALL_SECONDS_NUMPY + count * ENTRY_SECONDS_NUMPY)
    if functions is None:
        return NotImplemented
    return jit.attempt(kernel, lambda: (_lists if x.format == "sparse" else _bitmaps)(functions, x, y, op, either))


def _typed(x, dtype):
    return jit.plain(x.values if x.values.dtype == dtype.np_type else cast(x.values, dtype))


def _lists(functions, x, y, op, either):
    dtype = op.return_type
    capacity = x.nvals + y.nvals if either else min(x.nvals, y.nvals)
    out_indices = np.empty(capacity, x.indices.dtype)
    out_values = np.empty(capacity, dtype.np_type)
    first = jit.plain(x.indices), _typed(x, op.type)
    second = jit.plain(y.indices), _typed(y, op.type2)
    count = functions.sparse(*first, *second, out_indices, out_values)
    if count < capacity:
        out_indices, out_values = out_indices[:count].copy(), out_values[:count].copy()
    return choose_format(SparseVector(x.size, dtype, out_indices, out_values))


def _bitmaps(functions, x, y, op, either):
    size, dtype = x.size, op.return_type
    n_words = (size + 63) // 64
    out_words = np.empty(n_words, np.uint64)
    out_values = np.empty(size, dtype.np_type)
    arguments = (
        NO_WORDS if x.words is None else jit.plain(x.words), _typed(x, op.type),
        NO_WORDS if y.words is None else jit.plain(y.words), _typed(y, op.type2), out_words, out_values,
    )  # fmt: skip
    threads = jit.thread_count() if size >= PARALLEL_WORK else 1
    chunks = threads * 2 if threads > 1 else 1

    def job(chunk, worker):
        return functions.bitmaps(*arguments, n_words * chunk // chunks, n_words * (chunk + 1) // chunks)

    count = sum(jit.share_out(job, chunks, threads))
    return choose_format(BitmapVector(size, dtype, None if count == size else out_words, out_values, count))


_vector_kernels = jit.memo()


def _vector_functions(iso, value, index, count):
    key = (iso, value, index)
    kernel = _vector_kernels.get(key)
    if kernel is None:
        kernel = _vector_kernels[key] = jit.plain_kernel("vectors", X_ISO=iso, VALUE=value, INDEX=index)
    return kernel.functions_for(PLACE_SECONDS_NUMPY * count)


def put_entries(words, dense, u):
    """Scatter sparse u into a bitmap's own arrays; returns how many positions are new.  See backends/protocol.py."""
    indices, values = u.indices, u.values
    if words is None or indices.shape[0] < FEW or values.dtype != dense.dtype or values.dtype.names is not None:
        return NotImplemented
    functions = _vector_functions(bool(u.iso), values.dtype.char, indices.dtype.char, indices.shape[0])
    if functions is None:
        return NotImplemented
    return functions.put_entries(jit.plain(indices), jit.plain(values), words, dense)


def clear_bits(words, indices):
    """Clear presence bits; returns how many were set.  See backends/protocol.py."""
    if indices.shape[0] < FEW:
        return NotImplemented
    functions = _vector_functions(True, "?", indices.dtype.char, indices.shape[0])
    return NotImplemented if functions is None else functions.clear_bits(jit.plain(indices), words)
