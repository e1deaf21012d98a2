"""Products with dense matrices through compiled kernels: SpMM (templates/spmm.py) and SDDMM (templates/sddmm.py)."""

import numpy as np

from grb_tile.operators.iso_products import one_result, uses
from grb_tile.planner import tuning
from grb_tile.storage import bits
from grb_tile.storage.dense import in_order
from grb_tile.storage.host_memory import check_memory
from grb_tile.storage.store import BitmapVector, Compressed, Dense, index_dtype

from ..jit import cache as jit
from ..jit.operators import result_value
from .gather import balanced
from .matvec import NO_WORDS, operand, semiring_kernel

BLOCK_VALUES = 1 << 16  # of rows of A that a thread takes at once, of a strip of X: half a second cache of FP64
LEAST_STRIP = 64  # columns
_NO_FLAGS = np.zeros(0, np.bool_)


def spmm(A, X, semiring):
    """C[i,j] = (+)_k A[i,k] (x) X[k,j], A in CSR, X and C dense and row-major.  See backends/protocol.py."""
    if A.rows is not None or not A.indices.shape[0]:
        return NotImplemented
    n, flat, dtype = X.ncols, X.flat, semiring.return_type
    reads_a, reads_x = uses(semiring.binaryop)
    full, size = flat.words is None, A.nrows * n
    if full and one_result(semiring, A.iso or not reads_a, flat.iso or not reads_x):
        words, count = _presence(A, n)
        return Dense(A.nrows, n, BitmapVector(size, dtype, words, result_value(semiring, A, flat), count, True))
    flags = {"A_ISO": A.iso or not reads_a, "X_ISO": flat.iso or not reads_x, "X_FULL": full, "FLAG": "?"}
    kernel = semiring_kernel("spmm", semiring, A.indices.dtype.char, **flags)
    functions = _functions(kernel, A.nvals * n)
    if functions is None:
        return NotImplemented
    check_memory(size * (dtype.np_type.itemsize + (not full)), f"mxm: a dense result of {A.nrows} x {n}")

    def run():
        a = jit.plain(A.indptr), jit.plain(A.indices), operand(A, semiring.binaryop.type, reads_a)[0]
        x = NO_WORDS if full else jit.plain(flat.words), operand(flat, semiring.binaryop.type2, reads_x)[0]
        present = _NO_FLAGS if full else np.zeros(size, np.bool_)
        values = np.empty(size, dtype.np_type)
        cuts, threads = balanced(A.indptr[1:] * n)

        def job(chunk, worker):
            functions.rows(*a, *x, n, present, values, cuts[chunk], cuts[chunk + 1])

        jit.share_out(job, len(cuts) - 1, threads)
        words, count = _presence(A, n) if full else _packed(present)
        return Dense(A.nrows, n, BitmapVector(size, dtype, words, values, count))

    return jit.attempt(kernel, run)


def matmul_full(A, X, semiring):
    """C = A X for full A and X: SpMM of blocks of rows, which share one array of column numbers.

    X is read in strips of columns that stay in the second cache, because each row of C reads all of X.
    """
    reads_a, reads_x = uses(semiring.binaryop)
    flags = {"A_ISO": A.iso or not reads_a, "X_ISO": X.iso or not reads_x, "X_FULL": True, "FLAG": "?"}
    depth, n, dtype = A.ncols, X.ncols, semiring.return_type
    kernel = semiring_kernel("spmm", semiring, index_dtype(depth).char, **flags)
    functions = _functions(kernel, A.nrows * depth * n)
    if functions is None:
        return NotImplemented
    A, X = in_order(A, False), in_order(X, False)

    def run():
        a, x = operand(A.flat, semiring.binaryop.type, reads_a)[0], operand(X.flat, semiring.binaryop.type2, reads_x)[0]
        high = max(1, min(A.nrows, BLOCK_VALUES // depth))
        indptr = np.arange(high + 1, dtype=np.int64) * depth
        indices = np.tile(np.arange(depth, dtype=index_dtype(depth)), high)
        values = np.empty((A.nrows, n), dtype.np_type)
        width = max(LEAST_STRIP, BLOCK_VALUES // depth)
        for start in range(0, n, width):
            strip = slice(start, start + width)
            whole = n <= width
            some = x if whole or flags["X_ISO"] else np.ascontiguousarray(x.reshape(depth, n)[:, strip]).reshape(-1)
            out = values if whole else np.empty((A.nrows, min(width, n - start)), dtype.np_type)

            def job(chunk, worker, some=some, out=out):
                rows = slice(chunk * high, min((chunk + 1) * high, A.nrows))
                part = a if flags["A_ISO"] else a[rows.start * depth : rows.stop * depth]
                functions.rows(
                    indptr, indices, part, NO_WORDS, some, out.shape[1], _NO_FLAGS, out[rows].reshape(-1), 0,
                    rows.stop - rows.start,
                )  # fmt: skip

            threads = jit.thread_count() if A.nrows * depth * n >= tuning.PARALLEL_MATVEC else 1
            jit.share_out(job, -(-A.nrows // high), threads)
            if not whole:
                values[:, strip] = out
        return Dense(A.nrows, n, BitmapVector(A.nrows * n, dtype, None, values.reshape(-1), A.nrows * n))

    return jit.attempt(kernel, run)


def _functions(kernel, work):
    """The kernel's functions, or None; the product over CSR then takes longer, which counts towards a compilation."""
    if kernel is None:
        return None
    seconds = jit.numpy_seconds(work, tuning.CPU_PRODUCT_NS)
    functions = kernel.functions_for(seconds)
    if functions is None:
        kernel.count(seconds)
    return functions


def _presence(A, n):
    """(presence words or None, how many) of the positions in the rows of A that have entries, n to a row."""
    return _packed(np.repeat(A.indptr[1:] != A.indptr[:-1], n))


def _packed(present):
    count = int(np.count_nonzero(present))
    return (None if count == present.shape[0] else bits.from_bool(present)), count


def sddmm(A, B, semiring, pattern):
    """C[i,j] = (+)_k A[i,k] (x) B[k,j] at the entries of `pattern`; A full, row-major, B full, column-major."""
    depth, dtype, a, b = A.ncols, semiring.return_type, A.flat, B.flat
    reads_a, reads_b = uses(semiring.binaryop)
    flags = {"A_ISO": a.iso or not reads_a, "B_ISO": b.iso or not reads_b}
    kernel = semiring_kernel("sddmm", semiring, pattern.indices.dtype.char, **flags)
    functions = _functions(kernel, pattern.nvals * depth)
    if functions is None or pattern.rows is not None:
        return NotImplemented

    def run():
        m = jit.plain(pattern.indptr), jit.plain(pattern.indices)
        left, right = operand(a, semiring.binaryop.type, reads_a)[0], operand(b, semiring.binaryop.type2, reads_b)[0]
        values = np.empty(pattern.indices.shape[0], dtype.np_type)
        cuts, threads = balanced(pattern.indptr[1:] * depth)

        def job(chunk, worker):
            functions.entries(*m, left, right, depth, values, cuts[chunk], cuts[chunk + 1])

        jit.share_out(job, len(cuts) - 1, threads)
        return Compressed(pattern.nrows, pattern.ncols, dtype, pattern.indptr, pattern.indices, values)

    return jit.attempt(kernel, run)
