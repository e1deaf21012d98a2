"""Figures about stores that decisions rest on."""

EXACT = 1 << 15  # entries of a vector up to which its edges are counted rather than estimated


def rows_held(A):
    """Rows that may hold something."""
    return A.nrows if A.rows is None else A.rows.shape[0]


def mean_degree(A):
    """Entries per row that may hold something."""
    return A.indices.shape[0] / max(rows_held(A), 1)


def edges_of(A, u):
    """Entries in the rows of A that vector u names: counted for short lists (and sampled for long), else estimated.

    Cost: a gather of at most EXACT places.
    """
    count = u.nvals
    if count == 0:
        return 0.0
    if A.rows is not None or u.format != "sparse" or count >= A.nrows:
        return count * mean_degree(A) if A.rows is None else min(count, rows_held(A)) * mean_degree(A)
    indices = u.indices
    scale = 1
    if count > EXACT:
        scale = count // EXACT + 1
        indices = indices[::scale]
    indptr = A.indptr
    return float((indptr[indices + 1] - indptr[indices]).sum()) * scale
