"""Building blocks of the device's primitives: C++ names of types, gathers, ranges, stores made from sorted entries.

All functions take the Device first; arrays are device arrays.  Kernels: structure/gather.cuh, structure/convert.cuh,
structure/transpose.cuh, structure/build.cuh.
"""

import numpy as np

from ....dtypes import cast as host_cast
from ....planner.choose_kernel import stays_bitmap
from ....storage import convert as conversions
from ....storage.store import BitmapVector, Compressed, SparseVector, index_dtype
from ..runtime.late_vector import LateVector
from .prefix_sums import numbers_of, stored_lines, words_to_list
from .type_names import INDEX, index_type, moved_type

_FACTS_THREADS, _FACTS_BLOCKS = 256, 4  # of a block; of a multiprocessor, at most


def positions_of(u):
    """(C++ type of the indices, indices, words) of a list, which has no words, or of a bitmap, which has no indices."""
    return ("void", None, u.words) if u.format == "bitmap" else (index_type(u.indices), u.indices, None)


def is_plain(dtype):
    """Has the type a device form, which numbers and bool have?"""
    return not dtype._is_udt


# ---------------------------------------------------------------------- arrays


def gather(device, values, at):
    """values[at]"""
    count = at.shape[0]
    out = device.empty(count, values.dtype)
    if count:
        kernel = device.launcher.kernel("structure/gather.cuh", "gather", "", (index_type(at), moved_type(values)))
        kernel.over(count, (at, values, count, out))
    return out


def progression(device, count, dtype, start=0, step=1, places=None):
    """start + step * k for `count` numbers k, or for those of the array `places`; computed in INT64."""
    out = device.empty(count, dtype)
    template = "int64_t" if places is None else index_type(places), index_type(out)
    device.launcher.kernel("structure/convert.cuh", "progression", "", template).over(
        count, (places, count, start, step, out)
    )
    return out


def as_type(device, array, dtype):
    """An array of integers as that type; itself if it is of it."""
    return array if array.dtype == dtype else progression(device, array.shape[0], dtype, places=array)


def closed_starts(device, starts, end, at=None):
    """The row pointers that begin rows at starts[at] (None: at `starts`), and end the last one at `end`."""
    n = (starts if at is None else at).shape[0]
    out = device.empty(n + 1, np.int64)
    kernel = device.launcher.kernel("structure/convert.cuh", "closed_starts", "", ("void",))
    kernel.over(n + 1, (starts, at, n, end, out))
    return out


def stored_rows(device, rows, indptr, total, nrows=None):
    """(rows, row pointers) without the rows that have none of the `total` entries; rows None (CSR): as they are.

    nrows: of a matrix that choose_format gets next; as they are where it makes CSR of them.
    """
    if rows is None or nrows is not None and not conversions.wants_dcsr(nrows, total):
        return rows, indptr
    used = stored_lines(device, indptr)
    if used.shape[0] == rows.shape[0]:
        return rows, indptr
    return gather(device, rows, used), closed_starts(device, indptr, total, used)


def starts_in(device, A, rows, lines):
    """The row pointers of a DCSR matrix for `lines` rows, among which its own are (rows None: all)."""
    starts = device.empty(lines + 1, np.int64)
    kernel = device.launcher.kernel("structure/convert.cuh", "align_starts", "", ("void",))
    kernel.over(lines + 1, (A.indptr, A.rows, A.rows.shape[0], rows, lines, starts))
    return starts


def repeated(device, values, count):
    """`count` copies of the element of the length-1 array `values`."""
    out = device.empty(count, values.dtype)
    if device.launcher.recorder is None:
        out[:] = values
    else:
        kernel = device.launcher.kernel("programs/numbers.cuh", "repeat_number", "", (moved_type(values),))
        kernel.over(count, (values, count, out))
    return out


def ranges(device, starts, ends, total, *, names=None, segment_dtype=np.int64, want_segment=True, want_at=True):
    """(segment, at): the ranges from `starts`, expanded; see ranges_of in structure/gather.cuh.

    ends: inclusive scan of the lengths; total: its last element, on the host.  starts may be None without `at`.
    """
    segment = device.empty(total, segment_dtype) if want_segment else None
    at = device.empty(total, np.int64) if want_at else None
    if total:
        kernel = device.launcher.kernel(
            "structure/gather.cuh",
            "ranges_of",
            "",
            (index_type(ends), "int64_t" if names is None else index_type(names), INDEX[np.dtype(segment_dtype).char]),
        )
        kernel.over(total, (ends, names, starts, ends.shape[0], total, segment, at))
    return segment, at


def cast_array(device, values, have, want):
    """`values` of DataType `have` as `want`, with SuiteSparse's typecast; the same array when the types agree."""
    if have is want or values.dtype == want.np_type:
        return values
    count = values.shape[0]
    out = device.empty(count, want.np_type)
    if count == 0:
        return out
    kinds = have.np_type.kind, want.np_type.kind  # CuPy's casts flush subnormal numbers to zero
    if "c" in kinds:
        kernel = device.launcher.kernel(
            "elementwise/apply.cuh", "apply_values", complex_cast(have, want), (have.cuda_type, want.cuda_type, "Cast")
        )
        kernel.over(count, (values, None, count, out))
    else:
        kernel = device.launcher.kernel("structure/convert.cuh", "cast_values", "", (have.cuda_type, want.cuda_type))
        kernel.over(count, (values, count, out))
    return out


def complex_cast(have, want):
    """C++ text of `struct Cast`, a typecast from or to a complex type."""
    cast = "cast" if have.np_type.kind == "c" else "complex_cast"
    return (
        f'#include "base/scalar_complex.cuh"\nstruct Cast {{\n  __device__ __forceinline__ {want.cuda_type} operator()('
        f"{have.cuda_type} x) const {{ return grb::{cast}<{want.cuda_type}>(x); }}\n}};"
    )


def cast_iso(device, store, want):
    """The length-1 array of an iso store cast to `want`; cast on the host if the value is a known constant."""
    values = store.values
    if values.dtype == want.np_type:
        return values
    known = device.known_constant(values)
    if known is None:
        return cast_array(device, values, store.dtype, want)
    key = device.address(values), want  # constants are never freed
    found = device.cast_constants.get(key)
    if found is None:
        found = device.constant(host_cast(known.reshape(1), want)[0])
        if device.known_constant(found) is not None:
            device.cast_constants[key] = found
    return found


# ---------------------------------------------------------------------- stores


def keeps_bitmap(device, size, item_bytes):
    """Is a result kept as a bitmap?  In a turn of a program always, because a list needs a read-back."""
    return device.turns is not None or stays_bitmap(size, item_bytes, device.profile)


def counted_later(device, size, dtype, words, values, count, iso=False):
    """The bitmap of a result whose number of entries a kernel wrote to count[0] (see Device.counters).

    Nothing is read back where a bitmap costs no more than a list; otherwise the count is, and it becomes sparse.
    """
    result = LateVector(device, size, dtype, words, values, count, iso)
    if keeps_bitmap(device, size, 0 if iso else dtype.np_type.itemsize):
        return result
    if result.nvals * conversions.BITMAP_TO_SPARSE >= size:
        return result
    return to_sparse(device, result)


def vector_of(device, size, dtype, indices, values, iso=False):
    """The vector of entries in ascending order (indices of any integer type), in the format of choose_format."""
    count = indices.shape[0]
    if count == 0:
        return empty_vector(device, size, dtype)
    if count == size:
        return BitmapVector(size, dtype, None, values, size, iso)
    want = index_dtype(size)
    if indices.dtype != want:
        indices = as_type(device, indices, want)
    result = SparseVector(size, dtype, indices, values, iso)
    if count * conversions.SPARSE_TO_BITMAP > size and count >= conversions.TINY:
        return to_bitmap(device, result)
    return result


def empty_vector(device, size, dtype):
    """A vector of no entries."""
    return SparseVector(size, dtype, device.empty(0, index_dtype(size)), device.empty(0, dtype.np_type))


def compressed(device, nrows, ncols, dtype, rows, cols, values, iso=False):
    """The matrix of entries already in order by rows, distinct: CSR, or DCSR where rows are many and entries few."""
    want = index_dtype(ncols)
    if cols.dtype != want:
        cols = as_type(device, cols, want)
    count = rows.shape[0]
    if conversions.wants_dcsr(nrows, count):
        return _doubly_compressed(device, nrows, ncols, dtype, rows, cols, values, iso and count > 0)
    indptr = line_starts(device, rows, nrows)
    return Compressed(nrows, ncols, dtype, indptr, cols, values if count else values[:0], iso and count > 0)


def _doubly_compressed(device, nrows, ncols, dtype, rows, cols, values, iso):
    count = rows.shape[0]
    if count == 0:
        return Compressed(
            nrows, ncols, dtype, device.zeros(1, np.int64), cols, values[:0], False, device.empty(0, np.int64)
        )
    starts = segment_starts(device, None, rows)
    names = as_type(device, gather(device, rows, starts), np.dtype(np.int64))
    return Compressed(nrows, ncols, dtype, closed_starts(device, starts, count), cols, values, iso, names)


def line_starts(device, lines, count):
    """Row pointers (int64, length count + 1) of entries with the ascending row numbers `lines`."""
    indptr = device.empty(count + 1, np.int64)
    kernel = device.launcher.kernel("structure/transpose.cuh", "line_starts", "", (index_type(lines),))
    kernel.over(count + 1, (lines, lines.shape[0], count, indptr))
    return indptr


def segment_starts(device, rows, cols):
    """The starts of the segments of equal positions, which are sorted (rows None: one list); int64, one read-back."""
    count = cols.shape[0]
    fresh = device.empty(count, np.bool_)
    kernel = device.launcher.kernel(
        "structure/build.cuh", "segment_flags", "", ("int64_t" if rows is None else index_type(rows), index_type(cols))
    )
    kernel.over(count, (rows, cols, count, fresh))
    return numbers_of(device, fresh)


def row_ids(device, A, dtype=np.int64):
    """The row number of each entry of A."""
    count = A.indices.shape[0]
    return ranges(device, None, A.indptr[1:], count, names=A.rows, segment_dtype=dtype, want_at=False)[0]


def order_facts(device, rows, cols, size=0, kept=None):
    """(descents, repeats, first repeat, least column, greatest column) of positions or pairs, in one read-back.

    A list of positions is a list of columns.  Of none the first repeat is 2^63 - 1, the least column 2^63 - 1 and the
    greatest -2^63.  kept: an int64 array, or `cols`, for the columns, negative ones counted from `size`.
    """
    if cols.shape[0] == 0:
        return 0, 0, 2**63 - 1, 2**63 - 1, -(2**63)
    count, most = cols.shape[0], _FACTS_BLOCKS * device.launcher.processors
    threads = device.launcher.threads(_FACTS_THREADS)
    template = "int64_t" if rows is None else index_type(rows), index_type(cols)
    kernel, partial = device.launcher.kernel("structure/build.cuh", "order_facts", "", template), (None, None)
    if count > threads:
        partial = device.partial_results(5 * most)
    descents, repeats, first, least, greatest = device.sent(
        lambda sent: kernel.over(count, (rows, cols, count, size, kept, *partial, sent), threads, most), 5
    )
    return descents, repeats, first, least - 2**63, greatest - 2**63


# ---------------------------------------------------------------------- formats of vectors


def words_of(device, u):
    """The presence words of a vector in either format (read-only); None when every position is present."""
    if u.format == "bitmap":
        return u.words
    if u.indices.shape[0] == u.size:
        return None
    forms = conversions.forms_of(u)
    if "words" not in forms:
        forms["words"] = _fill_words(device, u, None)
    return forms["words"]


def words_of_list(device, indices, count, values=None, dense=None):
    """`count` words with the bits of a list of positions, in any order; dense[indices[k]] = values[k] unless None."""
    words, n = device.zeros(count, np.uint64), indices.shape[0]
    types = index_type(indices), "uint8_t" if values is None else moved_type(values)
    kernel = device.launcher.kernel("structure/convert.cuh", "positions_to_words", "", types)
    kernel.over(n, (indices, values, n, words, dense))
    return words


def _fill_words(device, u, dense):
    return words_of_list(device, u.indices, (u.size + 63) >> 6, u.values, dense)


def to_bitmap(device, u):
    """`u` as a BitmapVector (itself when it is one)."""
    if u.format == "bitmap":
        return u
    size, count = u.size, u.indices.shape[0]
    if count == size:
        return conversions.share(u, BitmapVector(size, u.dtype, None, u.values, size, u.iso and size > 0))
    if u.iso and count:
        return conversions.share(u, BitmapVector(size, u.dtype, words_of(device, u), u.values, count, True))
    forms = conversions.forms_of(u)
    found = forms.get("bitmap")
    if found is None:
        device.check_room(size // 8 + size * u.values.dtype.itemsize, f"bitmap of size {size}")
        values = device.empty(size, u.values.dtype)
        found = forms["bitmap"] = BitmapVector(size, u.dtype, _fill_words(device, u, values), values, count)
        found.shared = True
    return found


def to_sparse(device, u):
    """`u` as a SparseVector (itself when it is one)."""
    if u.format == "sparse":
        return u
    size, count = u.size, u.nvals
    want = index_dtype(size)
    if u.words is None:
        return conversions.share(u, SparseVector(size, u.dtype, progression(device, size, want), u.values, u.iso))
    if count == 0:
        return empty_vector(device, size, u.dtype)
    indices = device.empty(count, want)
    values = None if u.iso else device.empty(count, u.values.dtype)
    words_to_list(device, u.words, u.values, indices, values)
    if u.iso:
        return conversions.share(u, SparseVector(size, u.dtype, indices, u.values, True))
    return SparseVector(size, u.dtype, indices, values)
