"""The union of two matrices of which one has all its rows above the other's: blocks that are written one by one.

Nothing is merged: the arrays are put one after the other.
"""

import numpy as np

from ....dtypes import cast
from ....storage.store import Compressed


def are_blocks(A, B):
    """Are A and B of one format, with entries, and the rows of one all above those of the other?"""
    if A.format != B.format or A.indices.shape[0] == 0 or B.indices.shape[0] == 0:
        return False
    (first_a, last_a), (first_b, last_b) = _row_range(A), _row_range(B)
    return last_a < first_b or last_b < first_a


def union_of_blocks(A, B, dtype, one=None):
    """The union of A and B; one: the value (an array of length 1) that all entries have, or None."""
    if _row_range(A) > _row_range(B):
        A, B = B, A
    count = A.indices.shape[0]
    indices = np.concatenate([A.indices, B.indices])
    if A.rows is None:
        rows, indptr = None, A.indptr + B.indptr
    else:
        rows = np.concatenate([A.rows, B.rows])
        indptr = np.concatenate([A.indptr, B.indptr[1:] + count])
    if one is not None:
        return Compressed(A.nrows, A.ncols, dtype, indptr, indices, one, True, rows)
    values = np.empty(indices.shape[0], dtype.np_type)
    values[:count] = cast(A.values, dtype)
    values[count:] = cast(B.values, dtype)
    return Compressed(A.nrows, A.ncols, dtype, indptr, indices, values, False, rows)


def _row_range(A):
    """(first, last) row with an entry."""
    count = A.indices.shape[0]
    first = int(A.indptr.searchsorted(0, side="right")) - 1
    last = int(A.indptr.searchsorted(count)) - 1
    return (first, last) if A.rows is None else (int(A.rows[first]), int(A.rows[last]))
