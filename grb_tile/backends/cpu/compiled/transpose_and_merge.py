"""Transpose by counting sort, union and intersection of vectors, and scatter into bitmaps, through compiled kernels."""

import numpy as np

from grb_tile.planner import tuning
from grb_tile.storage.convert import choose_format
from grb_tile.storage.store import BitmapVector, Compressed, index_dtype, same_structure

from ..jit import cache as jit
from .gather import balanced
from .merging import Merge, merge_functions, merge_lists, operand_arrays

MAX_COUNTS = 1 << 28  # column counters of all threads together
NO_WORDS = np.zeros(0, np.uint64)


def transpose_kernel(A):
    """The Kernel that transposes A, or None where NumPy does."""
    count = A.indices.shape[0]
    if A.rows is not None or count == 0 or A.ncols > 4 * count + 65536 or A.ncols > MAX_COUNTS:
        return None
    if A.values.dtype.names is not None or A.values.ndim != 1:  # a user-defined type of fields, or of sub-arrays
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
    functions = kernel.functions_for(jit.numpy_seconds(count, tuning.NUMPY_TRANSPOSE_NS))
    if functions is None:
        return NotImplemented
    return jit.attempt(kernel, lambda: _transposed(functions, A, count, index_dtype(A.nrows)))


def _transposed(functions, A, count, index):
    indptr, indices, values = jit.plain(A.indptr), jit.plain(A.indices), jit.plain(A.values)
    if count < min(tuning.PARALLEL_POSITIONS, tuning.BOUND_SIZE):  # one block
        counts, out_ptr = np.zeros((1, A.ncols), np.int64), np.empty(A.ncols + 1, np.int64)
        out_indices, out_values = np.empty(count, index), values[:1].copy() if A.iso else np.empty(count, values.dtype)
        functions.count(indices, counts[0], 0, count)
        functions.scan(counts, out_ptr)
        functions.scatter(indptr, indices, values, counts[0], out_indices, out_values, 0, A.nrows)
        return choose_format(Compressed(A.ncols, A.nrows, A.dtype, out_ptr, out_indices, out_values, A.iso))
    threads = jit.thread_count() if count >= tuning.PARALLEL_POSITIONS else 1
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


def row_ids(A):
    """The row number of each entry of A (int64)."""
    count = A.indices.shape[0]
    if count < tuning.PARALLEL_POSITIONS:
        return NotImplemented
    kernel = jit.plain_kernel("row_numbers", LISTED=A.rows is not None)
    functions = kernel.functions_for(jit.numpy_seconds(count, tuning.NUMPY_ROW_ID_NS))
    if functions is None:
        return NotImplemented
    indptr, out = jit.plain(A.indptr), np.empty(count, np.int64)
    rows = indptr if A.rows is None else jit.plain(A.rows)
    cuts, threads = balanced(indptr[1:])

    def job(chunk, worker):
        functions.fill(indptr, rows, out, cuts[chunk], cuts[chunk + 1])

    return jit.attempt(kernel, lambda: (jit.share_out(job, len(cuts) - 1, threads), out)[1])


def union(x, y, op, mask=None, left_default=None, right_default=None, dtype=None):
    """t[p] = x[p] (op) y[p] where both are present; see backends/protocol.py."""
    if dtype is None:
        dtype = x.dtype if op is None else op.return_type
    if op is None or (left_default is None) != (right_default is None):
        return NotImplemented
    return _merged(x, y, op, mask, lambda one: Merge.of(op, "union", dtype, one, left_default, right_default))


def intersect(x, y, op, mask=None):
    """t[p] = x[p] (op) y[p] where both are present.  See backends/protocol.py."""
    return _merged(x, y, op, mask, lambda one: Merge(op, "meet", op.return_type, one))


def _merged(x, y, op, mask, merge):
    if mask is not None or x.nvals == 0 or y.nvals == 0:
        return NotImplemented
    if same_structure(x, y) and x.nvals < tuning.PARALLEL_POSITIONS:  # one call of a NumPy function on both arrays
        return NotImplemented
    if x.format != y.format or x.iso and y.iso or x.values.dtype.names or y.values.dtype.names:
        return NotImplemented
    if op.positional or op.kind in ("pair", "first", "second", "any"):
        return NotImplemented
    return (merge_lists if x.format == "sparse" else _merge_bitmaps)(x, y, merge(None))


def _merge_bitmaps(x, y, what):
    seconds = jit.numpy_seconds(x.size, tuning.NUMPY_BITMAP_NS)
    kernel, functions = merge_functions(
        "merge_bitmaps", what, x, y, x.size, seconds, X_FULL=x.words is None, Y_FULL=y.words is None
    )
    if functions is None:
        return NotImplemented
    return jit.attempt(kernel, lambda: _bitmaps(functions, x, y, what))


def _bitmaps(functions, x, y, what):
    size = x.size
    n_words = (size + 63) // 64
    out_words = np.empty(n_words, np.uint64)
    out_values = np.empty(size, what.np_type)
    (x_values, x_default), (y_values, y_default) = operand_arrays(what, x, y)
    arguments = (
        NO_WORDS if x.words is None else jit.plain(x.words), x_values, x_default,
        NO_WORDS if y.words is None else jit.plain(y.words), y_values, y_default, out_words, out_values,
    )  # fmt: skip
    threads = jit.thread_count() if size >= tuning.PARALLEL_POSITIONS else 1
    chunks = threads * 2 if threads > 1 else 1

    def job(chunk, worker):
        return functions.bitmaps(*arguments, n_words * chunk // chunks, n_words * (chunk + 1) // chunks)

    count = sum(jit.share_out(job, chunks, threads))
    return choose_format(BitmapVector(size, what.dtype, None if count == size else out_words, out_values, count))


_vector_kernels = jit.memo()


def _vector_functions(iso, value, index, count):
    key = (iso, value, index)
    kernel = _vector_kernels.get(key)
    if kernel is None:
        kernel = _vector_kernels[key] = jit.plain_kernel("vectors", X_ISO=iso, VALUE=value, INDEX=index)
    return kernel.functions_for(jit.numpy_seconds(count, tuning.NUMPY_PUT_NS))


def put_entries(words, dense, u):
    """Scatter sparse u into a bitmap's own arrays; returns how many positions are new.  See backends/protocol.py."""
    indices, values = u.indices, u.values
    if (
        words is None
        or indices.shape[0] < tuning.COMPILED_PUT_ENTRIES
        or values.dtype != dense.dtype
        or values.dtype.names is not None
    ):
        return NotImplemented
    functions = _vector_functions(bool(u.iso), values.dtype.char, indices.dtype.char, indices.shape[0])
    if functions is None:
        return NotImplemented
    return functions.put_entries(jit.plain(indices), jit.plain(values), words, dense)


def clear_bits(words, indices):
    """Clear presence bits; returns how many were set.  See backends/protocol.py."""
    if indices.shape[0] < tuning.COMPILED_PUT_ENTRIES:
        return NotImplemented
    functions = _vector_functions(True, "?", indices.dtype.char, indices.shape[0])
    return NotImplemented if functions is None else functions.clear_bits(jit.plain(indices), words)
