"""The entries that w<mask> = E u reads row-wise and column-wise, estimated from means or a sample of E's entries."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import tuning
from .statistics import edges_of, is_counted, mean_degree, members, sample_of, stored_rows

_new = tuple.__new__


class Work(NamedTuple):
    """rows: those that `mask` admits; edges: their entries; reads: how many a product reads that stops a row early;
    frontier: entries in the columns of u; hit: probability that an entry of an admitted row meets u; admitted: that a
    product of the frontier is admitted."""

    rows: float
    edges: float
    reads: float
    frontier: float
    hit: float
    admitted: float


def admitted_rows(A, transposed: bool, mask) -> int:
    """Rows of E that `mask` admits and that may have entries."""
    n_rows = _rows_of(A, transposed)
    return n_rows if mask is None else _admitted(mask, n_rows)


def _rows_of(A, transposed):
    """Rows of E that may have entries."""
    if not transposed:
        return stored_rows(A)
    return A.ncols if A.rows is None else min(A.ncols, A.indices.shape[0])


def _admitted(mask, n_rows):
    """How many of n_rows rows the mask admits, at most."""
    pattern = mask.pattern
    found = pattern.size - pattern.nvals if mask.complement else pattern.nvals
    return found if found < n_rows else n_rows


def estimate_work(A, transposed: bool, by_rows, by_columns, u, mask) -> Work:
    """The Work of w<mask> = E u, every row and column as long as the mean; short lists are counted.

    A is E or its transpose; by_rows and by_columns: E and E's transpose where they are stored, else None.
    """
    count = A.indices.shape[0]
    n_rows = _rows_of(A, True) if by_rows is None else stored_rows(by_rows)
    if mask is None:
        rows, edges = n_rows, float(count)
    else:
        rows = _admitted(mask, n_rows)
        listed = by_rows is not None and not mask.complement
        edges = edges_of(by_rows, mask.pattern) if listed else rows * count / (n_rows or 1)
    frontier = u.nvals * mean_degree(A) if by_columns is None else edges_of(by_columns, u)
    frontier = float(frontier if frontier < count else count)
    hit = frontier / count
    reads = rows / hit if frontier > 1.0 else rows * count
    # as Work(...), in half the time
    return _new(Work, (rows, edges, reads if reads < edges else edges, frontier, hit, edges / count))


def sample_work(A, transposed: bool, by_rows, by_columns, u, mask, early: bool) -> Work:
    """The Work from a sample of the entries: each is tested against u and the mask.

    A row of d entries, each of which meets u with probability p, stops after (1 - (1-p)^d) / p of them on average.
    """
    matrix, flipped = (A, transposed) if by_rows is None else (by_rows, False)
    count, sample = A.indices.shape[0], sample_of(matrix)
    targets, sources = (sample.cols, sample.rows) if flipped else (sample.rows, sample.cols)
    rows = admitted_rows(matrix, flipped, mask)
    met = members(u, sources)
    if by_columns is not None and is_counted(by_columns, u):
        frontier = edges_of(by_columns, u)
    else:
        frontier = count * float(np.add.reduce(met)) / met.shape[0]
    if mask is None:
        admitted, share, hit = None, 1.0, frontier / count
    else:
        admitted = members(mask.pattern, targets) ^ mask.complement
        inside = int(np.add.reduce(admitted))
        share = inside / admitted.shape[0]
        hit = float(np.add.reduce(met & admitted)) / inside if inside else 0.0
    listed = by_rows is not None and mask is not None and not mask.complement and is_counted(by_rows, mask.pattern)
    edges = edges_of(by_rows, mask.pattern) if listed else share * count
    hit = min(max(hit, 0.5 / met.shape[0]), 1.0)
    reads = min(edges, rows / hit)
    if early and not flipped and not listed:  # the lengths of E's rows are known
        degrees = sample.degrees if admitted is None else sample.degrees[admitted]
        looks = -np.expm1(degrees * np.log1p(-min(hit, 1 - 1e-9))) / (hit * degrees)
        reads = min(edges, count * float(np.add.reduce(looks)) / sample.degrees.shape[0])
    return Work(rows, edges, reads, float(frontier), hit, share)


def row_wise_ns(work: Work, u, early: bool, compiled: bool) -> float:
    """ns of the row-wise product (dot, pull) on the CPU, by a compiled kernel or by NumPy."""
    full = u.nvals == u.size
    if not compiled:
        entry = tuning.NUMPY_ENTRY_NS + (0.0 if full else work.hit * tuning.NUMPY_HIT_NS)
        return tuning.NUMPY_CALL_NS + work.edges * entry
    if full:
        return work.rows * tuning.CPU_ROW_NS + (0.0 if early else work.edges * tuning.CPU_ENTRY_NS)
    cost = work.rows * tuning.CPU_LOOKED_ROW_NS
    if early:
        cost += work.reads * tuning.CPU_PROBE_NS
    else:
        cost += work.edges * (tuning.CPU_LOOK_UP_NS + min(work.hit, 1 - work.hit) * tuning.CPU_BRANCH_NS)
    if u.format == "sparse":
        cost += u.nvals * tuning.CPU_SPREAD_ENTRY_NS + u.size * tuning.CPU_SPREAD_NS
        if not u.iso:
            cost += min(u.nvals, u.size * u.values.itemsize / 4096) * tuning.CPU_PAGE_NS
    return cost


def is_dense_sum(A, u, semiring) -> bool:
    """Is w = A' u, column-wise on the CPU, a sum of most of A's rows: over plus, u a bitmap with half its positions?"""
    if u.format != "bitmap" or 2 * u.nvals < u.size or A.rows is not None or A.indices.shape[0] < A.ncols:
        return False
    return semiring.monoid.binaryop.name == "plus" and semiring.return_type.np_type.kind in "iuf"


def column_wise_ns(work: Work, u, mask, compiled: bool, iso: bool = False, dense: bool = False) -> float:
    """ns of the column-wise product (saxpy, push) on the CPU, by a compiled kernel or by NumPy.

    iso: its result is; dense: see is_dense_sum.
    """
    if not compiled:
        masked = 0.0 if mask is None else tuning.NUMPY_MASK_NS
        return tuning.NUMPY_CALL_NS + work.frontier * (tuning.NUMPY_SCATTER_NS + masked)
    if dense:
        return work.frontier * tuning.CPU_SUM_NS + u.size * tuning.CPU_ROW_NS
    cost = work.frontier * (tuning.CPU_SET_BIT_NS if iso else tuning.CPU_SCATTER_NS) + u.nvals * tuning.CPU_COLUMN_NS
    if mask is not None and not iso:
        cost += work.frontier * min(work.admitted, 1 - work.admitted) * tuning.CPU_BRANCH_NS
    if u.format == "bitmap" and u.nvals < u.size:
        cost += u.size * tuning.CPU_LIST_NS
    return cost
