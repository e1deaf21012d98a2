"""cast, convert, choose_format and transpose on the device.  Semantics: backends/protocol.py.

Kernels: structure/convert.cuh and structure/transpose.cuh.  One read-back where the size of a result is needed.
"""

from ....storage import convert as conversions
from ....storage.store import BitmapVector, Compressed, index_dtype
from .arrays import (
    cast_array,
    cast_iso,
    closed_starts,
    compressed,
    is_plain,
    row_ids,
    starts_in,
    to_bitmap,
    to_sparse,
)
from .prefix_sums import stored_lines
from .sorting import transposed_entries


def cast(device, x, dtype):
    if not is_plain(dtype) or not is_plain(x.dtype):
        return NotImplemented
    values = cast_iso(device, x, dtype) if x.iso else cast_array(device, x.values, x.dtype, dtype)
    return conversions.share(x, x.with_values(dtype, values, x.iso))


def convert(device, store, format):
    if store.format == format:
        return store
    if format == "bitmap":
        return to_bitmap(device, store)
    if format == "sparse":
        return to_sparse(device, store)
    return _to_csr(device, store) if format == "csr" else _to_dcsr(device, store)


def _to_csr(device, A):
    device.check_room(8 * A.nrows, f"CSR of {A.nrows} rows")
    return _same_entries(A, starts_in(device, A, None, A.nrows), None)


def _to_dcsr(device, A):
    used = stored_lines(device, A.indptr)
    return _same_entries(A, closed_starts(device, A.indptr, A.indices.shape[0], used), used)


def _same_entries(A, indptr, rows):
    result = Compressed(A.nrows, A.ncols, A.dtype, indptr, A.indices, A.values, A.iso, rows)
    if A.forms is not None and "transpose" in A.forms:
        result.forms = {"transpose": A.forms["transpose"]}
    return conversions.share(A, result)


def choose_format(device, store):
    """`store`, or the same entries in the format that its density calls for (thresholds: storage/convert.py)."""
    format = store.format
    if format == "sparse":
        size, count = store.size, store.indices.shape[0]
        wanted = size and count * conversions.SPARSE_TO_BITMAP > size and (count >= conversions.TINY or count == size)
        return to_bitmap(device, store) if wanted else store
    if format == "bitmap":
        if device.turns is not None and store.nvals_if_read is None:
            return store  # a turn of a program does not know its density
        if store.nvals * conversions.BITMAP_TO_SPARSE < store.size:
            return to_sparse(device, store)
        if store.words is not None and store.nvals == store.size:
            full = BitmapVector(store.size, store.dtype, None, store.values, store.nvals, store.iso)
            return conversions.share(store, full)
        return store
    count, nrows = store.indices.shape[0], store.nrows
    if format == "csr":
        return (
            _to_dcsr(device, store) if nrows > max(conversions.SMALL_ROWS, conversions.CSR_TO_DCSR * count) else store
        )
    return store if conversions.wants_dcsr(nrows, count) else _to_csr(device, store)


# ---------------------------------------------------------------------- transpose


def transpose(device, A):
    """A stable radix sort of the entries by column; rows stay ascending within each column."""
    if not is_plain(A.dtype):
        return NotImplemented
    known = conversions.cached_transpose(A)
    if known is not None:
        return known
    rows = row_ids(device, A, index_dtype(A.nrows))
    lines, rows, values = transposed_entries(device, A.indices, rows, A.ncols, None if A.iso else A.values)
    if A.iso:
        values, A.shared = A.values, True
    T = compressed(device, A.ncols, A.nrows, A.dtype, lines, rows, values, A.iso)
    return conversions.keep_transpose(A, T)
