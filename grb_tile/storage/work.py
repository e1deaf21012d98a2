"""Work of a matrix product: multiplications (flops) of Gustavson's algorithm, lookups of dot products.

Exact where counting costs one pass over the indices, estimated otherwise.  The planner compares methods by it, and it
decides when the compilation of a kernel breaks even.
"""

import numpy as np

from .convert import occupied, rows_csr
from .store import forms_of


def _keep(store, name, value):
    forms_of(store)[name] = value
    return value


def row_counts(A):
    """Entries of each row of a CSR matrix."""
    return A.indptr[1:] - A.indptr[:-1]


def column_counts(A):
    """Entries of each column, cached with A.  Cost: one pass over A's indices, once."""
    known = A.forms.get("column_counts") if A.forms else None
    return _keep(A, "column_counts", np.bincount(A.indices, minlength=A.ncols)) if known is None else known


def countable(A):
    """May A's entries be counted by column: is A CSR, with at most about 4 columns for each entry?"""
    return A.rows is None and A.ncols <= 4 * A.indices.shape[0] + 1024


def products(A, B, at=False, bt=False):
    """Multiplications of the product of A and B (each transposed first if its flag is set).

    The sum over k of (entries in column k of A) (entries in row k of B); exact, and cached with A, where both are CSR.
    """
    if not (countable(A) and countable(B)):
        rows = B.ncols if bt else B.nrows
        return A.indices.shape[0] * B.indices.shape[0] / max(min(rows, B.indices.shape[0]), 1)
    known = A.forms.get("products") if A.forms else None
    key = (id(B.indices), at, bt)
    if known is not None and known[0] == key:
        return known[1]
    left = row_counts(A) if at else column_counts(A)
    right = column_counts(B) if bt else row_counts(B)
    total = float(np.dot(left, right))
    _keep(A, "products", (key, total))
    return total


def masked_products(A, B, pattern, at, bt):
    """Multiplications in the non-empty rows of the mask, estimated by the share of A's entries in these rows."""
    total = products(A, B, at, bt)
    count = A.indices.shape[0]
    if at or A.rows is not None or pattern.rows is not None or pattern.nvals * 4 > count:
        return total
    rows = row_counts(pattern).nonzero()[0]
    return total * float((A.indptr[rows + 1] - A.indptr[rows]).sum()) / max(count, 1)


def dot_work(B, bt, pattern):
    """Lookups of the dot products: entries of column j of B (row j with `bt`), summed over the entries (i, j) of M."""
    if countable(pattern) and countable(B):
        return float(np.dot(column_counts(pattern), row_counts(B) if bt else column_counts(B)))
    return pattern.nvals * (B.indices.shape[0] / max(min(pattern.ncols, B.indices.shape[0]), 1))


def row_lookups(A, at, pattern):
    """Lookups of the dot products the other way: entries of row i of A, summed over the entries (i, j) of M."""
    if at or A.rows is not None or pattern.rows is not None:
        return float("inf")
    return float(np.dot(row_counts(pattern), row_counts(A)))


def least_product(A, B):
    """A lower bound of the entries of A B without mask: row i has those of the longest row of B that A's row i names.

    No entry cancels another in GraphBLAS.  Cost: a pass over A's entries.
    """
    rows, starts = occupied(A)
    if rows.shape[0] == 0:
        return 0
    return int(np.maximum.reduceat(rows_csr(B, A.indices)[1], starts).sum())
