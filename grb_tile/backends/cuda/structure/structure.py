"""build, tuples, cast, convert, transpose, gather and expand on the device.  Semantics: backends/protocol.py.

Scans are CuPy's, sorts those of sorting.py; the kernels are structure/build.cuh, structure/convert.cuh,
structure/gather.cuh and structure/transpose.cuh.  One read-back where the size of a result is needed, none elsewhere.
NotImplemented for types without a device form: backend.py then runs the primitive on the host.
"""

import numpy as np

from ....dtypes import cast as host_cast
from ....exceptions import InvalidValue
from ....operators import to_cuda
from ....planner import tuning
from ....storage import convert as conversions
from ....storage.store import BitmapVector, Compressed, index_dtype
from .entries import (
    cast_array,
    cast_iso,
    compressed,
    empty_vector,
    gather,
    index_type,
    is_plain,
    moved_type,
    order_facts,
    ranges,
    repeated,
    row_ids,
    segment_starts,
    to_bitmap,
    to_sparse,
    vector_of,
)
from .index_lists import columns_in_list, find_in_range, positions_of
from .sorting import pair_order, sorted_pairs, sorted_with, stable_order, transposed_entries

LONG, PIECE = 1024, 256  # longest segment that one thread folds; chunk size of longer segments

# ---------------------------------------------------------------------- build


def build_vector(device, size, indices, values, dup, dtype):
    if not is_plain(dtype) or values.dtype.kind not in "biufc" or not _folds(dup):
        return NotImplemented
    on_host = type(indices) is np.ndarray and type(values) is np.ndarray
    few = on_host and 0 < indices.shape[0] <= tuning.GPU_BUILT_ON_HOST
    if few and (indices.shape[0] == 1 or (indices[1:] > indices[:-1]).all()):
        return _listed_vector(device, size, indices, values, dtype)
    given = callers = values
    indices, values = device.array(indices, np.int64), device.array(values)
    count = indices.shape[0]
    iso = values.shape[0] == 1 and count != 1
    if count > 1:
        descents, repeats, first = order_facts(device, None, indices)
        if descents:
            indices, taken = sorted_with(device, indices, size, None if iso else values)
            values = values if iso else taken
            _, repeats, first = order_facts(device, None, indices)
        if repeats:
            if dup is None:
                repeated_index = device.read(indices[first : first + 1])[0]
                raise InvalidValue(
                    f"indices: {repeated_index} occurs more than once and dup_op is None; pass "
                    "dup_op (binary.plus, binary.first, ...) to combine the values of equal indices"
                )
            starts = segment_starts(device, None, indices)
            values, iso = fold(device, values, iso, starts, count, dup, dtype)
            indices, given = gather(device, indices, starts), None
    values = _as_type(device, _own(values, callers), dtype, given if iso else None)
    return vector_of(device, size, dtype, indices, values[:0] if count == 0 else values, iso and count > 0)


def _listed_vector(device, size, indices, values, dtype):
    """build_vector of at most tuning.GPU_BUILT_ON_HOST sorted entries on the host: cast there and copied once."""
    values = host_cast(values, dtype)
    if values.shape[0] == 1:
        values, iso = device.constant(values[0]), True
    else:
        values, iso = device.upload(np.ascontiguousarray(values)), False
    result = vector_of(device, size, dtype, device.upload(indices.astype(index_dtype(size))), values, iso)
    result.shared = iso
    return result


def build_matrix(device, nrows, ncols, rows, cols, values, dup, dtype):
    if not is_plain(dtype) or values.dtype.kind not in "biufc" or not _folds(dup):
        return NotImplemented
    given = callers = values
    rows, cols, values = device.array(rows, np.int64), device.array(cols, np.int64), device.array(values)
    count = rows.shape[0]
    iso = values.shape[0] == 1 and count != 1
    if count > 1:
        descents, repeats, first = order_facts(device, rows, cols)
        if descents:
            rows, cols, taken = sorted_pairs(device, rows, cols, nrows, ncols, None if iso else values)
            values = values if iso else taken
            _, repeats, first = order_facts(device, rows, cols)
        if repeats:
            if dup is None:
                i, j = device.read(rows[first : first + 1], cols[first : first + 1])
                raise InvalidValue(
                    f"rows, columns: ({i}, {j}) occurs more than once and dup_op is None; pass "
                    "dup_op (binary.plus, binary.first, ...) to combine the values of equal positions"
                )
            starts = segment_starts(device, rows, cols)
            values, iso = fold(device, values, iso, starts, count, dup, dtype)
            rows, cols, given = gather(device, rows, starts), gather(device, cols, starts), None
    values = _as_type(device, _own(values, callers), dtype, given if iso else None)
    return compressed(device, nrows, ncols, dtype, rows, cols, values, iso)


def _folds(dup):
    """Can duplicates be combined on the device?  Not with positional operators or user-defined types."""
    return (
        dup is None or dup.positional is None and not (dup.type._is_udt or dup.type2._is_udt or dup.return_type._is_udt)
    )


def _own(values, callers):
    """The values, copied where they are still the caller's array, which may change later."""
    return values.copy() if values is callers else values


def _as_type(device, values, dtype, given=None):
    """`values` cast to `dtype`; given: the iso value, which becomes a known constant if it is on the host."""
    if type(given) is np.ndarray:
        return device.constant(host_cast(given, dtype)[0])
    if values.dtype == dtype.np_type:
        return values
    from ....dtypes import lookup_dtype

    return cast_array(device, values, lookup_dtype(values.dtype), dtype)


def fold(device, values, iso, starts, total, op, dtype):
    """(values, iso): each segment folded from left to right by op, one thread for each segment.

    Segments longer than LONG are first folded in chunks of PIECE entries, if op is associative.
    """
    segments = starts.shape[0]
    if op.kind == "first":
        return (values if iso else gather(device, values, starts)), iso
    if op.kind in ("second", "any"):
        if iso:
            return values, True
        return gather(device, values, _ends(device, starts, total) - 1), False
    while op.monoid is not None and op.monoid.type is dtype and op.type is dtype:
        lengths = _ends(device, starts, total) - starts
        chunks = (lengths + (PIECE - 1)) // PIECE
        ends = device.xp.cumsum(chunks)
        longest, count = device.read(lengths.max(), ends[-1:])
        if longest <= LONG:
            break
        segment, at = ranges(device, device.zeros(segments, np.int64), ends, count)
        values = _fold_each(device, values, iso, gather(device, starts, segment) + at * PIECE, total, op, dtype)
        iso, starts, total = False, ends - chunks, count
    return _fold_each(device, values, iso, starts, total, op, dtype), False


def _ends(device, starts, total):
    """Where each segment ends."""
    ends = device.empty(starts.shape[0], np.int64)
    ends[:-1] = starts[1:]
    ends[-1] = total
    return ends


def _fold_each(device, values, iso, starts, total, op, dtype):
    from ....dtypes import lookup_dtype

    segments = starts.shape[0]
    functors = to_cuda.includes(op) + "\n" + to_cuda.functor(op, "Fold")
    kernel = device.launcher.kernel(
        "structure/build.cuh",
        "fold_segments",
        functors,
        (lookup_dtype(values.dtype).cuda_type, dtype.cuda_type, op.type.cuda_type, op.type2.cuda_type, "Fold"),
    )
    out = device.empty(segments, dtype.np_type)
    kernel.over(segments, (values, iso, starts, segments, total, out))
    return out


# ---------------------------------------------------------------------- tuples, cast, convert


def tuples_vector(device, u):
    if not is_plain(u.dtype):
        return NotImplemented
    s = to_sparse(device, u)
    return s.indices.astype(np.int64), _each_value(device, s)


def tuples_matrix(device, A):
    if not is_plain(A.dtype):
        return NotImplemented
    return row_ids(device, A), A.indices.astype(np.int64), _each_value(device, A)


def _each_value(device, store):
    """A new array with one value for each entry."""
    count = store.indices.shape[0]
    if store.iso:
        return repeated(device, store.values, count)
    return store.values[:count].copy()


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
    counts = device.zeros(A.nrows + 1, np.int64)
    counts[A.rows + 1] = A.indptr[1:] - A.indptr[:-1]
    return _same_entries(A, device.xp.cumsum(counts), None)


def _to_dcsr(device, A):
    used = device.xp.nonzero(A.indptr[1:] != A.indptr[:-1])[0].astype(np.int64)
    indptr = device.empty(used.shape[0] + 1, np.int64)
    indptr[:-1] = A.indptr[used]
    indptr[-1] = A.indices.shape[0]
    return _same_entries(A, indptr, used)


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
    return _to_csr(device, store) if nrows <= max(conversions.SMALL_ROWS, conversions.DCSR_TO_CSR * count) else store


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


# ---------------------------------------------------------------------- gather


def gather_vector(device, u, I):
    if I is None:
        return u
    if not is_plain(u.dtype):
        return NotImplemented
    size = len(I)
    if size == 0:
        return empty_vector(device, 0, u.dtype)
    if u.format == "bitmap" and u.words is None and u.iso:
        return conversions.share(u, BitmapVector(size, u.dtype, None, u.values, size, True))
    if type(I) is range and u.format == "sparse":
        chosen, positions = find_in_range(device, u.indices, I)
        if I.step < 0:
            chosen, positions = device.array(chosen[::-1]), device.array(positions[::-1])
        values = _picked(device, u, chosen)
        return vector_of(device, size, u.dtype, positions, values, u.iso)
    if type(I) is range and u.format == "bitmap" and u.words is None:
        stop = I.stop if I.stop >= 0 else None  # of a range that descends to position 0
        values = u.values[I.start : stop : I.step].copy()  # kernels read 16 bytes at a time, so no view of it
        return BitmapVector(size, u.dtype, None, values, size)
    wanted = positions_of(device, I)
    if u.format == "bitmap":
        return _gather_bitmap(device, u, wanted)
    at, hit = device.empty(size, np.int64), device.empty(size, np.bool_)
    kernel = device.launcher.kernel("structure/gather.cuh", "look_up", "", (index_type(u.indices),))
    kernel.over(size, (wanted, size, u.indices, u.indices.shape[0], at, hit))
    kept = device.xp.nonzero(hit)[0]
    values = u.values if u.iso else gather(device, u.values, gather(device, at, kept))
    return vector_of(device, size, u.dtype, kept, values, u.iso)


def _picked(device, store, at):
    if store.iso:
        store.shared = True
        return store.values
    return gather(device, store.values, at)


def _gather_bitmap(device, u, wanted):
    size = wanted.shape[0]
    values = None if u.iso else device.empty(size, u.values.dtype)
    if u.words is None:
        return BitmapVector(size, u.dtype, None, gather(device, u.values, wanted), size)
    words, count = device.empty((size + 63) >> 6, np.uint64), device.counters()
    kernel = device.launcher.kernel("structure/gather.cuh", "gather_bitmap", "", (moved_type(u.values),))
    kernel.over((size + 63) & ~63, (wanted, size, u.words, u.values, words, values, count), block=64)
    nvals = device.read(count)[0]
    if nvals == 0:
        return empty_vector(device, size, u.dtype)
    if u.iso:
        u.shared = True
    result = BitmapVector(size, u.dtype, words, u.values if u.iso else values, nvals, u.iso)
    result.shared = u.iso
    return choose_format(device, result)


def gather_matrix(device, A, I, J):
    if I is None and J is None:
        return A
    if not is_plain(A.dtype):
        return NotImplemented
    unsorted = False
    if I is None:
        nrows, at = A.nrows, None
        rows, cols = row_ids(device, A), A.indices
    elif type(I) is range and len(I) > A.indices.shape[0]:
        nrows = len(I)
        at, rows = find_in_range(device, row_ids(device, A), I)
        cols = gather(device, A.indices, at)
        unsorted = I.step < 0
    else:
        wanted = positions_of(device, I)
        nrows = wanted.shape[0]
        rows, at = entries_of_rows(device, A, wanted)
        cols = gather(device, A.indices, at)
    ncols = A.ncols
    if J is not None:
        ncols = len(J)
        chosen, cols, ordered = columns_in_list(device, cols, J, A.ncols)
        if chosen is not None:
            rows = gather(device, rows, chosen)
            at = chosen if at is None else gather(device, at, chosen)
        unsorted = unsorted or not ordered
    if at is None and not A.iso:
        at = device.arange(rows.shape[0], np.int64)
    if unsorted and rows.shape[0] > 1:
        rows, cols, at = sorted_pairs(device, rows, cols, nrows, ncols, None if A.iso else at)
    return choose_format(device, compressed(device, nrows, ncols, A.dtype, rows, cols, _picked(device, A, at), A.iso))


def entries_of_rows(device, A, wanted):
    """(index in `wanted`, index in A) of each entry of the rows `wanted`, in their order."""
    count = wanted.shape[0]
    starts, lengths = device.empty(count, np.int64), device.empty(count, np.int64)
    if count == 0:
        return starts, lengths
    stored = A.indptr.shape[0] - 1
    kernel = device.launcher.kernel("structure/transpose.cuh", "pick_rows", "", (index_type(A.indptr),))
    kernel.over(count, (wanted, count, A.indptr, A.rows, stored, starts, lengths))
    ends = device.xp.cumsum(lengths)
    return ranges(device, starts, ends, device.read(ends[-1:])[0])


# ---------------------------------------------------------------------- expand


def _through(device, positions, I):
    """I[positions] for an index array or a range."""
    if type(I) is range:
        return I.start + positions.astype(np.int64) * I.step
    return gather(device, positions_of(device, I), positions)


def expand_vector(device, u, I, size):
    if not is_plain(u.dtype):
        return NotImplemented
    if I is None and u.size == size:
        return u
    s = to_sparse(device, u)
    u.shared = s.shared = True
    positions, values = s.indices if I is None else _through(device, s.indices, I), s.values
    if I is not None and not _ascending(device, I):
        order = stable_order(device, positions, size)
        positions = gather(device, positions, order)
        values = values if s.iso else gather(device, values, order)
    result = vector_of(device, size, u.dtype, positions, values, s.iso)
    result.shared = True
    return result


def _ascending(device, I):
    if type(I) is range:
        return I.step > 0
    I = device.host(I)
    return bool((I[1:] > I[:-1]).all())


def expand_matrix(device, A, I, J, nrows, ncols):
    if not is_plain(A.dtype):
        return NotImplemented
    if I is None and J is None and A.nrows == nrows:
        if A.ncols == ncols:
            return A
        indices = A.indices.astype(index_dtype(ncols), copy=False)
        return conversions.share(A, Compressed(nrows, ncols, A.dtype, A.indptr, indices, A.values, A.iso, A.rows))
    rows, cols, values = row_ids(device, A), A.indices, A.values
    if I is not None:
        rows = _through(device, rows, I)
    if J is not None:
        cols = _through(device, cols, J)
    if not (I is None or _ascending(device, I)) or not (J is None or _ascending(device, J)):
        order = pair_order(device, rows, cols, nrows, ncols)
        rows, cols = gather(device, rows, order), gather(device, cols, order)
        values = values if A.iso else gather(device, values, order)
    A.shared = True
    result = choose_format(device, compressed(device, nrows, ncols, A.dtype, rows, cols, values, A.iso))
    result.shared = True
    return result
