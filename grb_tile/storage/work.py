"""How much work a product of matrices is: multiplications, or places tried.  Counted, not guessed, where that is cheap.

The planner weighs walks with it, and the compiled walks decide with it whether their compilation pays.
"""

import numpy as np

from .store import forms_of


def _keep(store, name, value):
    forms_of(store)[name] = value
    return value


def row_counts(A):
    """Entries of each row of a matrix by all its rows (CSR)."""
    return A.indptr[1:] - A.indptr[:-1]


def column_counts(A):
    """Entries of each column, kept with A.  Cost: one pass over A's indices, once."""
    known = A.forms.get("column_counts") if A.forms else None
    return _keep(A, "column_counts", np.bincount(A.indices, minlength=A.ncols)) if known is None else known


def countable(A):
    """Is it worth counting A's entries by column: all rows there, and no more columns than a few for each entry."""
    return A.rows is None and A.ncols <= 4 * A.indices.shape[0] + 1024


def products(A, B, at=False, bt=False):
    """Multiplications that the product of A and B takes (each transposed first if its flag says so).

    sum over k of (entries in column k of A) (entries in row k of B); exact, and kept with A, where both are CSR.
    """
    if not (countable(A) and countable(B)):
        held = B.ncols if bt else B.nrows
        return A.indices.shape[0] * B.indices.shape[0] / max(min(held, B.indices.shape[0]), 1)
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
    """Those of them that lie in rows of the mask that hold something: the share of A's entries in these rows."""
    total = products(A, B, at, bt)
    count = A.indices.shape[0]
    if at or A.rows is not None or pattern.rows is not None or pattern.nvals * 4 > count:
        return total
    held = row_counts(pattern).nonzero()[0]
    return total * float((A.indptr[held + 1] - A.indptr[held]).sum()) / max(count, 1)


def dot_work(B, bt, pattern):
    """Entries of B's columns (of its rows with `bt`) summed over the places (i, j) of the pattern: what dots try."""
    if countable(pattern) and countable(B):
        return float(np.dot(column_counts(pattern), row_counts(B) if bt else column_counts(B)))
    return pattern.nvals * (B.indices.shape[0] / max(min(pattern.ncols, B.indices.shape[0]), 1))
