"""SpGEMM in NumPy: C = A (+.x) B by rows with ESC (expand, sort, compress), or by dot products.

Semantics: backends/protocol.py.
Rows (Gustavson's order): for a block of rows of A, all products A[i,k] (x) B[k,j] are expanded, masked, sorted by (i,j)
and reduced; a block has at most about EXPAND products.  ESC: Dalton, Olson, Bell, "Optimizing sparse matrix-matrix
multiplication for the GPU" (ACM TOMS 41, 2015).
Dot: matmul_dot.py.
"""

import numpy as np

from ....planner import tuning
from ....storage.convert import choose_format, compressed, occupied, rows_csr, share, transpose_of
from ....storage.host_memory import Growth
from ....storage.sorting import MAX_KEY, find, ranges
from ....storage.store import BitmapVector, index_dtype
from ....storage.work import least_product
from .broadcast import broadcast_over
from .elementwise import intersect
from .entries import empty_matrix, reduce_by_key
from .matmul_dot import matmul_dot
from .multiply import products

EXPAND = 1 << 16  # products expanded at once: their arrays stay in cache, 1.3 to 1.7 times as fast as 1 << 22


def matmul(A, B, semiring, mask=None, plan=None, BT=None):
    """C = A (+.x) B inside `mask`, by the method of the plan (Backend.matmul)."""
    if plan is not None and plan.method == "dot" and mask is not None and not mask.complement:
        return matmul_dot(A, transpose_of(B) if BT is None else BT, semiring, mask)
    return matmul_gustavson(A, transpose_of(BT) if B is None else B, semiring, mask)


def scaled(A, B, semiring, mask, BT, restrict):
    """A B where one of them is diagonal with a full diagonal: C has the other's structure.  Else NotImplemented.

    BT: B's transpose where B is None.  restrict: the backend's.
    """
    op = semiring.binaryop
    if op.positional or op.return_type is not semiring.return_type:
        return NotImplemented
    if is_full_diagonal(BT if B is None else B):
        A, T = broadcast_over(_diagonal(BT if B is None else B), A if mask is None else restrict(A, mask), 1)
        return intersect(A, T, op)
    if is_full_diagonal(A):
        B = transpose_of(BT) if B is None else B
        B, T = broadcast_over(_diagonal(A), B if mask is None else restrict(B, mask), 0)
        return intersect(T, B, op)
    return NotImplemented


def is_better_scaled(A, B):
    """Is one of them diagonal with a full diagonal, and the other not so small that any product is as good?"""
    if A.indices.shape[0] + B.indices.shape[0] <= tuning.CPU_SMALL_MATRIX and not (A.iso and B.iso):
        return False
    return is_full_diagonal(A) or is_full_diagonal(B)


def is_full_diagonal(D):
    """Is D square with an entry at each (i, i), and no other?"""
    n = D.nrows
    if D.ncols != n or D.indices.shape[0] != n or D.rows is not None or n == 0:
        return False
    numbers = np.arange(n + 1)
    return bool((D.indices == numbers[:n]).all() and (D.indptr == numbers).all())


def _diagonal(D):
    share(D)
    return BitmapVector(D.nrows, D.dtype, None, D.values, D.nrows, D.iso)


# ---------------------------------------------------------------------- Gustavson


def matmul_gustavson(A, B, semiring, mask):
    """C = A (+.x) B by blocks of rows of A: expand, mask, sort, compress."""
    nrows, ncols, dtype = A.nrows, B.ncols, semiring.return_type
    if A.indices.shape[0] == 0 or B.indices.shape[0] == 0:
        return empty_matrix(nrows, ncols, dtype)
    rows, starts = occupied(A)
    ends = np.append(starts[1:], A.indices.shape[0])
    if mask is not None and not mask.complement:
        named = find(rows, occupied(mask.pattern)[0])[1].nonzero()[0]
        rows, starts, ends = rows[named], starts[named], ends[named]
        if rows.shape[0] == 0:
            return empty_matrix(nrows, ncols, dtype)
    first, lengths = rows_csr(B, A.indices)
    work = np.concatenate(([0], lengths.cumsum()))
    before = work[starts]
    after = work[ends]
    parts = []
    at, count = 0, rows.shape[0]
    size = 8 + index_dtype(ncols).itemsize + dtype.np_type.itemsize
    growth = Growth(int(work[-1]), lambda: least_product(A, B) if mask is None else 0, size, "mxm")
    row_mask = _RowMask(mask) if mask is not None else None
    while at < count:
        stop = int(after.searchsorted(before[at] + EXPAND, "right"))
        stop = min(max(stop, at + 1), count)
        if row_mask is None and mask is None and stop == count and at == 0:
            block = slice(starts[0], ends[-1])
        else:
            block = ranges(starts[at:stop], ends[at:stop] - starts[at:stop])
        part = _block(A, B, semiring, rows[at:stop], ends[at:stop] - starts[at:stop], block, first, lengths, row_mask)
        if part is not None:
            parts.append(part)
            growth.add(part[0].shape[0] * size)
        at = stop
    if not parts:
        return empty_matrix(nrows, ncols, dtype)
    if len(parts) == 1:
        out_rows, cols, values, iso = parts[0]
    else:
        out_rows = np.concatenate([p[0] for p in parts])
        cols = np.concatenate([p[1] for p in parts])
        iso = all(p[3] for p in parts)
        values = (
            parts[0][2] if iso else np.concatenate([np.broadcast_to(p[2], p[0].shape) if p[3] else p[2] for p in parts])
        )
    return choose_format(compressed(nrows, ncols, dtype, out_rows, cols, values, iso))


def _block(A, B, semiring, rows, row_lengths, block, first, lengths, mask):
    """(rows, cols, values, iso) of the product of some rows of A (their entries: A.indices[block]); None when empty."""
    ncols = B.ncols
    lengths = lengths[block]
    at_b = ranges(first[block], lengths)
    total = at_b.shape[0]
    if total == 0:
        return None
    cols = B.indices[at_b]
    local = np.arange(rows.shape[0]).repeat(row_lengths).repeat(lengths)
    which = None
    if mask is not None:
        which = mask.kept(rows, local, cols, ncols)
        total = which.shape[0]
        if total == 0:
            return None
        at_b, cols, local = at_b[which], cols[which], local[which]

    def spread(per_entry):
        out = per_entry.repeat(lengths)
        return out if which is None else out[which]

    def at_a():
        entries = np.arange(A.indices.shape[0])[block] if isinstance(block, slice) else block
        return spread(entries)

    values = products(
        semiring.binaryop, A, at_a, B, at_b, lambda: rows[local], lambda: spread(A.indices[block]), lambda: cols
    )
    width, names = ncols, None
    if rows.shape[0] * ncols > MAX_KEY:
        names, cols = np.unique(cols, return_inverse=True)
        width = names.shape[0]
    keys, values, iso = reduce_by_key(local * width + cols, values, rows.shape[0] * width, semiring.monoid)
    row_of = keys // width
    cols = keys - row_of * width
    if names is not None:
        cols = names[cols]
    return rows[row_of], cols.astype(index_dtype(ncols), copy=False), values, iso


class _RowMask:
    """The mask of a row-wise product: which products of a block of rows are allowed."""

    def __init__(self, mask):
        self.pattern = mask.pattern
        self.complement = mask.complement

    def kept(self, rows, local, cols, ncols):
        pattern = self.pattern
        starts, lengths = rows_csr(pattern, rows)
        at = ranges(starts, lengths)
        mask_cols = pattern.indices[at]
        mask_rows = np.arange(rows.shape[0]).repeat(lengths)
        width = ncols
        if rows.shape[0] * ncols > MAX_KEY:
            names = np.unique(np.concatenate((mask_cols, cols)))
            mask_cols, cols, width = names.searchsorted(mask_cols), names.searchsorted(cols), names.shape[0]
        keys, allowed = local * width + cols, mask_rows * width + mask_cols
        bound = rows.shape[0] * width
        if bound <= 8 * keys.shape[0] + 4096:
            table = np.zeros(bound, np.bool_)
            table[allowed] = True
            hit = table[keys]
        else:
            hit = find(keys, allowed)[1]
        return (~hit if self.complement else hit).nonzero()[0]
