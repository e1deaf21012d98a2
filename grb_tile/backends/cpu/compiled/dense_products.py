"""Products with dense matrices through compiled kernels: SpMM (templates/spmm.py) and SDDMM (templates/sddmm.py)."""

import numpy as np

from grb_tile.operators.iso_products import one_result, uses
from grb_tile.storage import bits
from grb_tile.storage.host_memory import check_memory
from grb_tile.storage.store import BitmapVector, Compressed, Dense

from ..jit import cache as jit
from ..jit.operators import result_value
from .gather import balanced
from .matvec import NO_WORDS, operand, semiring_kernel

ENTRY_SECONDS_NUMPY = 6e-9  # of the same product over CSR (Gustavson, compiled), per multiplication, and per call
CALL_SECONDS_NUMPY = 100e-6
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


def _functions(kernel, work):
    """The kernel's functions, or None; the product over CSR then takes longer, which counts towards a compilation."""
    if kernel is None:
        return None
    seconds = CALL_SECONDS_NUMPY + work * ENTRY_SECONDS_NUMPY
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
