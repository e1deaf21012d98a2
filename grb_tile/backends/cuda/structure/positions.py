"""Positions of entries on the device: lookup of one store's entries in another, stream compaction.

All functions take the Device first; stores reside on the device.  Values are not read here.  Kernels:
elementwise/intersect.cuh, elementwise/restrict.cuh.  A compacted list costs one read-back: its length.
"""

import numpy as np

from ....storage.convert import share
from ....storage.store import Compressed
from .arrays import compressed, empty_vector, gather, index_type, stored_rows, vector_of
from .formats import choose_format
from .prefix_sums import Flagged

AND, OR, WITHOUT = 0, 1, 2


def is_matrix(x):
    """Is the store a matrix?"""
    return x.format[-1] == "r"


def view(x):
    """(indptr, rows, stored rows, indices) of a matrix or a sparse vector, for elementwise/intersect.cuh."""
    if x.format == "sparse":
        return None, None, 0, x.indices
    return x.indptr, x.rows, x.indptr.shape[0] - 1, x.indices


def empty_like(device, x, dtype):
    """The store of x's shape with no entries."""
    if not is_matrix(x):
        return empty_vector(device, x.size, dtype)
    nothing = device.empty(0, np.int64)
    return compressed(device, x.nrows, x.ncols, dtype, nothing, nothing, device.empty(0, dtype.np_type))


def is_empty(x):
    """Is x known to be empty without a read-back?"""
    return x.nvals_if_read == 0


# ---------------------------------------------------------------------- flags


def locate(device, a, b, *, complement=False, flags=None, at_type=None):
    """(at, flags): the lower bound in b of each entry of a (None without at_type), and whether b has the entry.

    complement: inverts the flags.  flags: earlier flags, ANDed with the new ones in place.
    """
    n, m = a.indices.shape[0], b.indices.shape[0]
    at = None if at_type is None else device.empty(n, at_type)
    hit = device.empty(n, np.bool_) if flags is None else flags
    kernel = device.launcher.kernel(
        "elementwise/intersect.cuh",
        "locate_entries",
        "",
        (index_type(a.indices), "int32_t" if at is None else index_type(at)),
    )
    kernel.over(n, (*view(a), n, *view(b), m, complement, flags is not None, at, hit))
    return at, hit


def member_flags(device, indices, words, *, complement=False, flags=None):
    """Which of `indices` are set in `words` (None: all are); complement and `flags` as in locate."""
    n = indices.shape[0]
    hit = device.empty(n, np.bool_) if flags is None else flags
    kernel = device.launcher.kernel("elementwise/intersect.cuh", "member_flags", "", (index_type(indices),))
    kernel.over(n, (indices, n, words, complement, flags is not None, hit))
    return hit


def flags_within(device, x, mask, flags=None):
    """Which entries of x (a matrix or a sparse vector) the mask `mask` admits."""
    pattern, complement = mask.pattern, mask.complement
    if is_matrix(x) or pattern.format == "sparse":
        return locate(device, x, pattern, complement=complement, flags=flags)[1]
    return member_flags(device, x.indices, pattern.words, complement=complement, flags=flags)


# ---------------------------------------------------------------------- entries that stay


def keep_matrix_entries(device, A, kept):
    """The matrix of the entries of A numbered `kept` (ascending), in the format of choose_format."""
    count = kept.shape[0]
    if count == A.indices.shape[0]:
        return A
    if count == 0:
        return empty_like(device, A, A.dtype)
    lines = A.indptr.shape[0]
    indptr = device.empty(lines, np.int64)
    kernel = device.launcher.kernel("elementwise/intersect.cuh", "kept_starts", "", (index_type(kept),))
    kernel.over(lines, (A.indptr, lines, kept, count, indptr))
    values = A.values if A.iso else gather(device, A.values, kept)
    return _kept_matrix(device, A, indptr, gather(device, A.indices, kept), values)


def diagonal_entries(device, A, k):
    """The entries (i, i + k) of a matrix, found by a search in each row that it stores."""
    rows = A.indptr.shape[0] - 1
    at, hit = device.empty(rows, np.int64), device.empty(rows, np.bool_)
    kernel = device.launcher.kernel("elementwise/intersect.cuh", "diagonal_places", "", (index_type(A.indices),))
    kernel.over(rows, (A.indptr, A.rows, rows, A.indices, k, at, hit))
    found = Flagged(device, hit)
    kept = found.of(at, None)[0]
    return keep_matrix_entries(device, A, kept) if found.count else empty_like(device, A, A.dtype)


def _kept_matrix(device, A, indptr, indices, values):
    """The matrix of some entries of A; indptr: of the rows that A has, of which some may have none now."""
    rows, indptr = stored_rows(device, A.rows, indptr, indices.shape[0], A.nrows)
    result = Compressed(A.nrows, A.ncols, A.dtype, indptr, indices, values, A.iso, rows)
    if A.iso or rows is A.rows:
        share(A, result)
    return choose_format(device, result)


def keep_flagged(device, x, flags):
    """The flagged entries of a matrix or a sparse vector; x itself when these are all."""
    found = Flagged(device, flags)
    indices, values = found.of(x.indices, None if x.iso else x.values)
    if found.count == found.n:
        return x
    if found.count == 0:
        return empty_like(device, x, x.dtype)
    if is_matrix(x):
        return _kept_matrix(device, x, found.starts(x.indptr), indices, x.values if x.iso else values)
    result = vector_of(device, x.size, x.dtype, indices, x.values if x.iso else values, x.iso)
    return share(x, result) if x.iso else result


# ---------------------------------------------------------------------- words


def join_words(device, x, y, size, mode):
    """(words, count): x AND y, x OR y, x AND NOT y by `mode`; None stands for all `size` positions.

    count[0], on the device, is the popcount of words, an argument of arrays.counted_later.
    """
    words, count = device.empty((size + 63) >> 6, np.uint64), device.counters()
    n = words.shape[0]
    device.launcher.kernel("elementwise/restrict.cuh", "join_words", "", ("void",)).over(
        n, (x, y, n, size, mode, words, count)
    )
    return words, count
