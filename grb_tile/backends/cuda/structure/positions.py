"""Positions of entries on the device: lookup of one store's entries in another, stream compaction.

All functions take the Device first; stores reside on the device.  Values are not read here.  Kernels:
elementwise/intersect.cuh, elementwise/restrict.cuh.  A compacted list costs one read-back: its length.
"""

import numpy as np

from ....storage.convert import share
from ....storage.store import Compressed, index_dtype
from .arrays import compressed, empty_vector, gather, index_type, vector_of
from .formats import choose_format

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


def listed(device, flags, dtype=None):
    """Stream compaction: the numbers of the set flags, ascending."""
    n = flags.shape[0]
    dtype = index_dtype(n) if dtype is None else dtype
    if n == 0:
        return device.empty(0, dtype)
    ends = device.xp.cumsum(flags, dtype=dtype)
    kept = device.empty(device.read(ends[-1:])[0], dtype)
    if kept.shape[0]:
        kernel = device.launcher.kernel("elementwise/intersect.cuh", "list_flagged", "", (index_type(kept),))
        kernel.over(n, (flags, ends, n, kept))
    return kept


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
    rows = A.rows
    if rows is not None:
        used = device.xp.nonzero(indptr[1:] != indptr[:-1])[0]
        if used.shape[0] != rows.shape[0]:
            rows = gather(device, rows, used)
            starts = device.empty(used.shape[0] + 1, np.int64)
            starts[:-1] = gather(device, indptr, used)
            starts[-1:] = indptr[-1:]
            indptr = starts
    result = Compressed(A.nrows, A.ncols, A.dtype, indptr, gather(device, A.indices, kept), values, A.iso, rows)
    if A.iso or rows is A.rows:
        share(A, result)
    return choose_format(device, result)


def keep_entries(device, x, kept):
    """The entries of a matrix or a sparse vector numbered `kept`; x itself when these are all."""
    if is_matrix(x):
        return keep_matrix_entries(device, x, kept)
    if kept.shape[0] == x.indices.shape[0]:
        return x
    values = x.values if x.iso else gather(device, x.values, kept)
    result = vector_of(device, x.size, x.dtype, gather(device, x.indices, kept), values, x.iso and kept.shape[0] > 0)
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
