"""SpGEMM, C<M> = A B, through compiled kernels: Gustavson row by row, or dot products at the mask's entries.

Gustavson (templates/matmul_rows.py): dense accumulator (SPA) per thread, rows balanced by their multiplications.
Dot (templates/matmul_dot.py): one dot product for each entry of the mask.  NotImplemented leaves the work to NumPy.
"""

import numpy as np

from grb_tile.operators.iso_products import own_name, uses
from grb_tile.planner import tuning
from grb_tile.storage.convert import choose_format, to_csr, transpose_of
from grb_tile.storage.host_memory import Growth
from grb_tile.storage.store import Compressed, index_dtype
from grb_tile.storage.work import dot_work, least_product, masked_products, products, row_counts

from ..jit import cache as jit
from .matvec import give_back, may_be_dense, operand, semiring_kernel, take_accumulator

CHUNK_PRODUCTS = 1 << 23  # multiplications of one chunk: bounds the size of its output buffer
CHUNK_CONSUMED = 1 << 20  # the same where a chain consumes the chunk: fewer stay in cache, more hide 20 us of Python
NO_INDPTR = np.zeros(0, np.int64)
NO_WORDS = np.zeros(0, np.uint64)


def matmul(A, B, semiring, mask=None, plan=None, BT=None, chain=None):
    """C<mask>[i,j] = (+)_k A[i,k] (x) B[k,j].  See backends/protocol.py.

    chain: the ProductChain (vectorised/product_chains.py) to which C's blocks of rows go; its result is returned.
    """
    other = BT if B is None else B
    if A.indices.shape[0] == 0 or other.indices.shape[0] == 0:
        return NotImplemented
    if A.rows is not None or other.rows is not None:
        return NotImplemented  # hypersparse.py
    dot = plan is not None and plan.method == "dot" and mask is not None and not mask.complement
    if mask is not None and mask.pattern.rows is not None:
        if mask.pattern.nrows > 1 << 26:
            return NotImplemented
        mask = type(mask)(to_csr(mask.pattern), mask.complement)
    if dot:
        if BT is None:
            BT = transpose_of(B)
        return _dot(A, BT, semiring, mask.pattern, chain) if BT.rows is None else NotImplemented
    if B is None:
        B = transpose_of(BT)
        if B.rows is not None:
            return NotImplemented
    return gustavson(A, B, semiring, mask, chain)


def kernel_of(A, B, semiring, mask=None, method="gustavson"):
    """The Kernel of A B, or None where NumPy computes it.  method "dot": B is its transpose."""
    if A.rows is not None or B.rows is not None or A.indices.shape[0] == 0 or B.indices.shape[0] == 0:
        return None
    if method == "dot":
        return None if mask is None else _dot_kernel(A, B, semiring, mask.pattern)
    return _gustavson_kernel(A, B, semiring, mask)


def row_chunks(ends, wanted):
    """Cuts between rows: load balancing, chunks of about `wanted` work with at least one row each.

    ends: the work of each row and of those before it.
    """
    rows = ends.shape[0]
    total = int(ends[-1]) if rows else 0
    if total <= wanted:
        return [0, rows]
    parts = min(-(-total // max(wanted, 1)), rows)
    inner = ends.searchsorted(total * np.arange(1, parts, dtype=np.int64) // parts, side="right")
    return sorted({0, *inner.tolist(), rows})


# --- Gustavson ---


def _mask_kind(mask):
    return "none" if mask is None else "complement" if mask.complement else "pattern"


def _gustavson_kernel(A, B, semiring, mask):
    if not may_be_dense(B.ncols, A, B):
        return None
    m_index = (B if mask is None else mask.pattern).indices.dtype.char
    indices = A.indices.dtype.char, B.indices.dtype.char, m_index, index_dtype(B.ncols).char
    return rows_kernel(semiring, indices, _mask_kind(mask), A.iso, B.iso)


def rows_kernel(semiring, indices, mask, a_iso, b_iso):
    """The Kernel of Gustavson's method, or None.  indices: types of the indices of A, B, the mask and C."""
    (reads_a, reads_b), (index, b_index, m_index, out_index) = uses(semiring.binaryop), indices
    return semiring_kernel(
        "matmul_rows", semiring, index, B_INDEX=b_index, M_INDEX=m_index, OUT_INDEX=out_index, MASK=mask,
        A_ISO=a_iso or not reads_a, B_ISO=b_iso or not reads_b,
    )  # fmt: skip


def gustavson(A, B, semiring, mask, chain=None):
    """C<mask> = A B row by row over CSR, or the chain's result, or NotImplemented."""
    kernel = _gustavson_kernel(A, B, semiring, mask)
    if kernel is None:
        return NotImplemented
    reads_a, reads_b = uses(semiring.binaryop)
    kind = _mask_kind(mask)
    functions = kernel.functions_for(lambda: _rows_seconds(A, B, mask, kind))
    if functions is None:
        return NotImplemented
    return jit.attempt(kernel, lambda: _rows(functions, A, B, semiring, mask, kind, reads_a, reads_b, chain))


def _rows_seconds(A, B, mask, kind):
    """NumPy's time: it expands, sorts and compresses (ESC) every product of the unmasked rows."""
    count = masked_products(A, B, mask.pattern, False, False) if kind == "pattern" else products(A, B)
    return jit.numpy_seconds(count, tuning.NUMPY_PRODUCT_NS)


def _rows(functions, A, B, semiring, mask, kind, reads_a, reads_b, chain):
    nrows, ncols, dtype = A.nrows, B.ncols, semiring.return_type
    np_type, np_index = dtype.np_type, index_dtype(ncols)
    a_values, _ = operand(A, semiring.binaryop.type, reads_a)
    b_values, _ = operand(B, semiring.binaryop.type2, reads_b)
    a = (jit.plain(A.indptr), jit.plain(A.indices))
    b = (jit.plain(B.indptr), jit.plain(B.indices))
    if mask is None:
        m = (NO_INDPTR, b[1][:0])
    else:
        m = (jit.plain(mask.pattern.indptr), jit.plain(mask.pattern.indices))
    work = np.empty(nrows, np.int64)
    offsets = np.zeros(nrows + 1, np.int64)  # where each row of C starts at the latest
    total = functions.work(*a, b[0], ncols, work, offsets[1:])
    offsets = m[0] if kind == "pattern" else offsets.cumsum(out=offsets)
    if total == 0 and chain is not None:
        return chain.result([])
    if total == 0:
        return choose_format(
            Compressed(nrows, ncols, dtype, np.zeros(nrows + 1, np.int64), np.empty(0, np_index), np.empty(0, np_type))
        )
    threads = jit.thread_count() if total >= tuning.PARALLEL_MATMUL else 1
    most = CHUNK_PRODUCTS if chain is None else CHUNK_CONSUMED
    wanted = total if threads == 1 and total < most else min(most, total // (threads * 6) + 1)
    cuts = [0, nrows] if total <= wanted else row_chunks(work.cumsum(), wanted)
    size = np_index.itemsize + np_type.itemsize
    most = int(offsets[-1]) if chain is None else 0
    growth = Growth(most, lambda: least_product(A, B) if kind == "none" else 0, size, "mxm")
    if (
        chain is None
        and kind == "none"
        and (_has_single_entries(A) or (_has_single_entries(B) and _ascends(B.indices)))
    ):
        indices, values = np.empty(total, np_index), np.empty(total, np_type)

        def write(chunk, worker):
            functions.distinct(*a, a_values, *b, b_values, offsets, indices, values, cuts[chunk], cuts[chunk + 1])

        jit.share_out(write, len(cuts) - 1, threads)
        return choose_format(Compressed(nrows, ncols, dtype, offsets, indices, values))
    capacity = max(int(offsets[cuts[c + 1]] - offsets[cuts[c]]) for c in range(len(cuts) - 1))
    indptr = np.zeros(nrows + 1, np.int64)
    counts = indptr[1:]  # until they are summed
    scratch = [None] * threads

    def job(chunk, worker):
        mine = scratch[worker]
        if mine is None:
            allowed = NO_WORDS if kind == "none" else np.zeros((ncols + 63) // 64, np.uint64)
            accumulator = take_accumulator(ncols, np_type)
            mine = scratch[worker] = (accumulator, allowed, np.empty(capacity, np_index), np.empty(capacity, np_type))
        accumulator, allowed, indices, values = mine
        growth.add(capacity * size)
        found = functions.multiply(
            *a, a_values, *b, b_values, *m, *accumulator, allowed, counts, indices, values, cuts[chunk], cuts[chunk + 1]
        )
        if chain is not None:
            return chain.part(cuts[chunk], counts[cuts[chunk] : cuts[chunk + 1]], indices[:found], values[:found])
        if len(cuts) == 2:
            return indices[:found], values[:found]
        return indices[:found].copy(), values[:found].copy()

    chunks = jit.share_out(job, len(cuts) - 1, threads)
    for mine in scratch:
        if mine is not None:
            give_back(ncols, np_type, mine[0])
    if chain is not None:
        return chain.result(chunks)
    indptr.cumsum(out=indptr)
    indices, values = _joined(chunks, int(indptr[-1]), np_index, np_type, capacity)
    return choose_format(Compressed(nrows, ncols, dtype, indptr, indices, values))


def _has_single_entries(A):
    """Has no row of A more than one entry, as in a diagonal matrix, a permutation or a selection of rows?"""
    return A.indices.shape[0] <= A.nrows and int(row_counts(A).max()) <= 1


def _ascends(indices):
    return bool((indices[1:] > indices[:-1]).all())


def _joined(chunks, count, np_index, np_type, capacity):
    """The chunks concatenated; each is released once it is copied."""
    if len(chunks) == 1:
        indices, values = chunks[0]
        return (indices, values) if capacity < count * 5 // 4 else (indices.copy(), values.copy())
    indices = np.empty(count, np_index)
    values = np.empty(count, np_type)
    at = 0
    for c in range(len(chunks)):
        chunk, chunks[c] = chunks[c], None
        indices[at : at + chunk[0].shape[0]] = chunk[0]
        values[at : at + chunk[0].shape[0]] = chunk[1]
        at += chunk[0].shape[0]
    return indices, values


# --- dot products ---


def _dot_kernel(A, BT, semiring, pattern):
    if not may_be_dense(A.ncols, A, BT):
        return None
    indices = *(X.indices.dtype.char for X in (A, BT, pattern)), index_dtype(BT.nrows).char
    return dots_kernel(semiring, indices, A.iso, BT.iso)


def dots_kernel(semiring, indices, a_iso, b_iso):
    """The Kernel of dot products, or None.  indices: types of the indices of A, B's transpose, the mask and C."""
    multiply, (index, b_index, m_index, out_index) = semiring.binaryop, indices
    reads_a, reads_b = uses(multiply)
    np_kind = semiring.return_type.np_type.kind
    count = own_name(semiring.monoid.binaryop) == "plus" and multiply.kind == "pair" and np_kind in "iuf"
    return semiring_kernel(
        "matmul_dot", semiring, index, B_INDEX=b_index, M_INDEX=m_index, OUT_INDEX=out_index,
        A_ISO=a_iso or not reads_a, B_ISO=b_iso or not reads_b, COUNT=count,
    )  # fmt: skip


def _dot(A, BT, semiring, pattern, chain):
    kernel = _dot_kernel(A, BT, semiring, pattern)
    if kernel is None:
        return NotImplemented
    reads_a, reads_b = uses(semiring.binaryop)
    functions = kernel.functions_for(lambda: _dots_seconds(A, BT, pattern))
    if functions is None:
        return NotImplemented
    return jit.attempt(kernel, lambda: _dots(functions, A, BT, semiring, pattern, reads_a, reads_b, chain))


def _dots_seconds(A, BT, pattern):
    """NumPy's time: binary searches of the shorter row of each pair in the other."""
    tried = dot_work(BT, True, pattern)
    if A.rows is None and pattern.rows is None:
        tried = min(tried, float(np.dot(row_counts(pattern), row_counts(A))))
    return jit.numpy_seconds(tried, tuning.NUMPY_LOOK_UP_NS)


def _dots(functions, A, BT, semiring, pattern, reads_a, reads_b, chain):
    nrows, ncols, dtype = A.nrows, BT.nrows, semiring.return_type
    np_type = dtype.np_type
    a_values, a_iso = operand(A, semiring.binaryop.type, reads_a)
    b_values, _ = operand(BT, semiring.binaryop.type2, reads_b)
    a = (jit.plain(A.indptr), jit.plain(A.indices), a_values)
    b = (jit.plain(BT.indptr), jit.plain(BT.indices), b_values)
    m = (jit.plain(pattern.indptr), jit.plain(pattern.indices))
    counts = np.zeros(nrows, np.int64)
    work = np.empty(nrows, np.int64)
    total = functions.work(*m, b[0], work)
    threads = jit.thread_count() if total >= tuning.PARALLEL_MATMUL else 1
    wanted = total // (threads * 12) + 1 if threads > 1 else total + 1
    cuts = row_chunks(work.cumsum(), wanted if chain is None else min(wanted, CHUNK_CONSUMED))
    scratch = [None] * threads
    sizes = [int(m[0][cuts[c + 1]] - m[0][cuts[c]]) for c in range(len(cuts) - 1)]
    bound = pattern.nvals if chain is None else max(sizes)
    out_indices, out_values = np.empty(bound, index_dtype(ncols)), np.empty(bound, np_type)  # a chain has one a worker

    def job(chunk, worker):
        mine = scratch[worker]
        if mine is None:
            words = np.zeros((A.ncols + 63) // 64, np.uint64)
            row = a_values if a_iso else np.empty(A.ncols, a_values.dtype)
            fresh = chain is not None and worker > 0
            outputs = [np.empty_like(x) if fresh else x for x in (out_indices, out_values)]
            mine = scratch[worker] = (words, row, *outputs)
        first, last = cuts[chunk], cuts[chunk + 1]
        if chain is None:
            return functions.dots(*a, *b, *m, *mine, counts, first, last, int(m[0][first]))
        found = functions.dots(*a, *b, *m, *mine, counts, first, last, 0)
        return chain.part(first, counts[first:last], mine[2][:found], mine[3][:found])

    founds = jit.share_out(job, len(cuts) - 1, threads)
    if chain is not None:
        return chain.result(founds)
    at = 0
    for chunk, found in enumerate(founds):  # close the gaps between the chunks
        begin = int(m[0][cuts[chunk]])
        if begin != at and found:
            out_indices[at : at + found] = out_indices[begin : begin + found]
            out_values[at : at + found] = out_values[begin : begin + found]
        at += found
    if at < bound:
        out_indices, out_values = out_indices[:at].copy(), out_values[:at].copy()
    indptr = np.zeros(nrows + 1, np.int64)
    np.cumsum(counts, out=indptr[1:])
    return choose_format(Compressed(nrows, ncols, dtype, indptr, out_indices, out_values))
