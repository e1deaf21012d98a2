"""build, tuples, cast, gather, concat and expand in NumPy.  Semantics: backends/protocol.py."""

import numpy as np

from ....dtypes import cast
from ....exceptions import InvalidValue
from ....planner import tuning
from ....storage import bits
from ....storage.convert import (
    all_positions,
    choose_format,
    compressed,
    occupied,
    row_ids,
    rows_csr,
    share,
    to_csr,
    wants_dcsr,
)
from ....storage.host_memory import check_memory
from ....storage.sorting import MAX_KEY, find, ranges, segment_starts, stable_order
from ....storage.store import BitmapVector, Compressed, SparseVector, index_dtype
from .entries import empty_like, keep_entries, like, members, order_pairs, same_value, vector_of

FEW_FLAGS = tuning.NUMPY_FLAGGED


def build_vector(size, indices, values, dup, dtype):
    count = indices.shape[0]
    iso = values.shape[0] == 1 and count != 1
    if count > 1:
        steps = indices[1:] > indices[:-1]
        if not steps.all():
            if not (indices[1:] >= indices[:-1]).all():
                order = stable_order(indices, size)
                indices = indices[order]
                if not iso:
                    values = values[order]
            starts = segment_starts(indices)
            if starts.shape[0] != count:
                if dup is None:
                    at = first_repeat(indices)
                    raise InvalidValue(
                        f"indices: {int(indices[at])} occurs more than once and dup_op is None; pass dup_op "
                        "(binary.plus, binary.first, ...) to combine the values of equal indices"
                    )
                values, iso = fold_segments(values, iso, starts, count, dup, dtype)
                indices = indices[starts]
    values, iso = stored(values, iso, count, dtype)
    return vector_of(size, dtype, np.array(indices, index_dtype(size)), values, iso)


def build_matrix(nrows, ncols, rows, cols, values, dup, dtype):
    count = rows.shape[0]
    iso = values.shape[0] == 1 and count != 1
    keys = None
    if count > 1 and nrows * ncols <= MAX_KEY:  # a pair as one number; larger ones are sorted
        keys = rows * ncols
        keys += cols
    distinct = count < 2 or keys is not None and bool((keys[1:] > keys[:-1]).all())
    if distinct:
        keys = None
    width = max(int(ncols) - 1, 1).bit_length()
    order = None
    if not distinct and iso and (int(nrows) << width) <= MAX_KEY:  # no values to be moved with the pairs
        keys = (rows << width) | cols
        keys.sort()
        rows, cols = keys >> width, keys & ((1 << width) - 1)
    elif not distinct and keys is not None:
        if not (keys[1:] >= keys[:-1]).all():
            order = stable_order(keys, nrows * ncols)
            keys = keys[order] if count < tuning.COMPILED_TUPLES else None  # of many no array more is made
    elif not distinct:
        order = np.lexsort((cols, rows))
    if order is not None:
        rows, cols = rows[order], cols[order]
        if not iso:
            values = values[order]
    if not distinct:
        fresh = np.empty(count, np.bool_)
        fresh[0] = True
        if keys is not None:
            np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
        else:
            np.logical_or(rows[1:] != rows[:-1], cols[1:] != cols[:-1], out=fresh[1:])
        keys, starts = None, fresh.nonzero()[0]
        if starts.shape[0] != count:
            if dup is None:
                at = int((~fresh).argmax())
                raise InvalidValue(
                    f"rows, columns: ({int(rows[at])}, {int(cols[at])}) occurs more than once and dup_op is None; pass "
                    "dup_op (binary.plus, binary.first, ...) to combine the values of equal positions"
                )
            values, iso = fold_segments(values, iso, starts, count, dup, dtype)
            rows, cols = rows[starts], cols[starts]
    values, iso = stored(values, iso, count, dtype)
    return compressed(nrows, ncols, dtype, rows, np.array(cols, index_dtype(ncols)), values, iso)


def stored(values, iso, count, dtype):
    """(values, iso) of a new store of `count` tuples: cast, one value where all are equal, in an array of its own."""
    values = cast(values, dtype)
    if count == 0:
        return np.array(values[:0]), False
    iso = iso or (count > 1 and are_equal(values))
    return np.array(values[:1] if iso else values), iso


def are_equal(values):
    """Have all values (at least one) the same bits?  False for user-defined types."""
    if values.dtype.kind not in "biufc" or values.ndim != 1:
        return False
    if values[0].tobytes() != values[-1].tobytes():
        return False
    bits_of = np.ascontiguousarray(values).view(f"u{min(values.itemsize, 8)}").reshape(values.shape[0], -1)
    return bool((bits_of[:64] == bits_of[0]).all()) and bool((bits_of == bits_of[0]).all())


def first_repeat(ordered):
    """Position of the first element of `ordered` that equals the one before it."""
    return int((ordered[1:] == ordered[:-1]).argmax()) + 1


def fold_segments(values, iso, starts, total, op, dtype):
    """(values, iso): each segment folded from left to right by op, which need not be associative."""
    lengths = np.empty_like(starts)
    np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
    lengths[-1] = total - starts[-1]
    if op.kind == "first":
        return (values if iso else values[starts]), iso
    if op.kind in ("second", "any"):
        return (values if iso else values[starts + lengths - 1]), iso
    if iso:
        values = np.broadcast_to(values, (total,))
    folded = cast(values[starts], dtype)  # an array of its own
    monoid = getattr(op, "monoid", None)
    longest = int(lengths.max())
    if longest > 64 and monoid is not None and monoid.return_type is op.type is op.return_type is dtype:
        return monoid.reduceat(cast(values, dtype), starts), False
    for rank in range(1, longest):
        which = (lengths > rank).nonzero()[0]
        combined = op.numpy(cast(folded[which], op.type), cast(values[starts[which] + rank], op.type2))
        folded[which] = cast(combined, dtype)
    return folded, False


def tuples_vector(u):
    if u.format == "sparse":
        indices = u.indices.astype(np.int64)
        values = None if u.iso else u.values.copy()
    elif u.words is None:
        indices = all_positions(u.size)
        values = None if u.iso else u.values.copy()
    else:
        indices = bits.to_indices(u.words, u.size)
        values = None if u.iso else u.values[indices]
    if values is None:
        check_memory(indices.shape[0] * u.values.itemsize, f"the values of a vector of {indices.shape[0]} entries")
        values = u.values[:1].repeat(indices.shape[0], axis=0) if indices.shape[0] else u.values[:0].copy()
    return indices, values


def tuples_matrix(A, rows_of=row_ids):
    count = A.indices.shape[0]
    rows, cols = rows_of(A), A.indices.astype(np.int64)
    if A.forms is not None and A.forms.get("row_ids") is rows:
        rows = rows.copy()
    if A.iso:
        return rows, cols, A.values[:1].repeat(count, axis=0) if count else A.values[:0].copy()
    return rows, cols, A.values.copy()


def cast_store(store, dtype):
    if store.dtype is dtype:
        return store
    values = cast(store.values, dtype)
    if store.dtype.np_type.kind == "c":  # complex to real gives a view
        values = np.ascontiguousarray(values)
    return like(store, dtype, values, store.iso)


# ---------------------------------------------------------------------- gather


def as_array(I):
    """A range as an int64 array."""
    return np.arange(I.start, I.stop, I.step, dtype=np.int64) if type(I) is range else I


def find_in_range(positions, I):
    """(which of the ascending `positions` are in the range I, their positions in it, ascending if I's step > 0)."""
    if len(I) == 0:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    low, high = (I[0], I[-1]) if I.step > 0 else (I[-1], I[0])
    first, stop = int(positions.searchsorted(low)), int(positions.searchsorted(high, "right"))
    if I.step == 1:
        return np.arange(first, stop), positions[first:stop].astype(np.int64) - low
    chosen, place = _choose_in_range(positions[first:stop], I)
    return chosen + first, place


def _choose_in_range(positions, I):
    """find_in_range for positions in any order, each of which is looked at."""
    if I.step == 1:
        chosen = ((positions >= I.start) & (positions < I.stop)).nonzero()[0]
        return chosen, positions[chosen].astype(np.int64) - I.start
    offset = positions.astype(np.int64) - I.start
    place = offset // I.step
    chosen = ((place >= 0) & (place < len(I)) & (place * I.step == offset)).nonzero()[0]
    return chosen, place[chosen]


def gather_vector(u, I):
    if I is None:
        return u
    size = len(I)
    if type(I) is range:
        if size == 0:
            return SparseVector(0, u.dtype, np.empty(0, np.int32), u.values[:0])
        if u.format == "bitmap" and u.words is None and u.iso:
            return share(u, BitmapVector(size, u.dtype, None, u.values, size, True))
        if u.format == "sparse":
            chosen, places = find_in_range(u.indices, I)
            if I.step < 0:
                chosen, places = chosen[::-1], places[::-1]
            return vector_of(size, u.dtype, places, u.values if u.iso else u.values[chosen], u.iso)
        if u.words is None:
            values = u.values[I.start : I.stop if I.stop >= 0 else None : I.step].copy()
            return BitmapVector(size, u.dtype, None, values, size)
        I = as_array(I)
    if u.format == "bitmap":
        values = u.values if u.iso else u.values[I]
        if u.iso:
            share(u)
        if u.words is None:
            result = BitmapVector(size, u.dtype, None, values, size, u.iso)
        else:
            flags = bits.test(u.words, I)
            result = BitmapVector(size, u.dtype, bits.from_bool(flags), values, int(np.count_nonzero(flags)), u.iso)
        result.shared = u.iso
        return choose_format(result)
    if size <= tuning.NUMPY_SEARCHES:
        at, hit = find(I, u.indices)
        kept = hit.nonzero()[0]
        at = at[kept]
    else:  # a test of bits costs a tenth of a binary search, which is left to the indices that are found
        kept = members(u, I).nonzero()[0]
        at = u.indices.searchsorted(I[kept])
    return vector_of(size, u.dtype, kept, u.values if u.iso else u.values[at], u.iso)


def source_rows(A, I):
    """(nrows, names, begins, lengths): the rows of A[I, :], as ranges of A's entries.

    names: the numbers of the rows listed, ascending, where not all nrows are (A is DCSR); None: all.
    """
    starts, stops = A.indptr[:-1], A.indptr[1:]
    if I is None:
        return A.nrows, A.rows, starts, stops - starts
    nrows = len(I)
    if type(I) is not range:
        starts, lengths = rows_csr(A, I)
        if A.rows is None:
            return nrows, None, starts, lengths
        names = lengths.nonzero()[0]
        return nrows, names, starts[names], lengths[names]
    if A.rows is None:
        rows = slice(I.start, I.stop if I.stop >= 0 else None, I.step)
        return nrows, None, starts[rows], stops[rows] - starts[rows]
    chosen, names = find_in_range(A.rows, I)
    if I.step < 0:
        chosen, names = chosen[::-1], names[::-1]
    return nrows, names, starts[chosen], (stops - starts)[chosen]


def gather_matrix(A, I, J):
    if I is None and J is None:
        return A
    if I is None:
        nrows, rows, cols, at = A.nrows, row_ids(A), A.indices, None
    else:
        nrows, names, starts, lengths = source_rows(A, I)
        at = ranges(starts, lengths)
        rows = (np.arange(nrows) if names is None else names).repeat(lengths)
        cols = A.indices[at]
    ncols = A.ncols
    if J is not None:
        ncols = len(J)
        chosen, cols, ordered = _columns(cols, J, A.ncols)
        rows = rows[chosen]
        at = chosen if at is None else at[chosen]
        order = None if ordered else order_pairs(rows, cols, nrows, ncols)
        if order is not None:
            rows, cols, at = rows[order], cols[order], at[order]
    values = A.values if A.iso else A.values[at]
    return choose_format(compressed(nrows, ncols, A.dtype, rows, cols, values, A.iso))


def _columns(cols, J, ncols):
    """(which entries, their new columns, ascending within rows?) of the entries with columns `cols` in the list J."""
    if type(J) is range:
        return (*_choose_in_range(cols, J), J.step > 0)
    count = J.shape[0]
    if count == 0:
        nothing = np.empty(0, np.int64)
        return nothing, nothing, True
    if count == 1 or bool((J[1:] > J[:-1]).all()):
        if int(J[-1]) - int(J[0]) == count - 1:  # a contiguous range
            first = int(J[0])
            chosen = ((cols >= first) & (cols < first + count)).nonzero()[0]
            return chosen, cols[chosen].astype(np.int64) - first, True
        at, hit = find(cols, J)
        chosen = hit.nonzero()[0]
        return chosen, at[chosen], True
    order = stable_order(J, ncols)
    ordered = J[order]
    left = ordered.searchsorted(cols, "left")
    times = ordered.searchsorted(cols, "right") - left
    chosen = np.arange(cols.shape[0]).repeat(times)
    return chosen, order[ranges(left, times)], False


# ---------------------------------------------------------------------- outside


def outside(A, I, J):
    """A's entries outside the region I x J: each entry is flagged."""
    inside = None if I is None else _named(row_ids(A), I, A.nrows)
    if J is not None:
        columns = _named(A.indices, J, A.ncols)
        inside = columns if inside is None else inside & columns
    if inside is None:
        return empty_like(A, A.dtype)
    kept = (~inside).nonzero()[0]
    return A if kept.shape[0] == inside.shape[0] else keep_entries(A, kept)


def _named(positions, K, size):
    """bool array: is positions[k] in the list or range K of numbers below `size`?"""
    if type(K) is range:
        offset = positions - K.start if K.step > 0 else K.start - positions
        flags = (offset >= 0) & (offset < len(K) * abs(K.step))
        return flags if abs(K.step) == 1 else flags & (offset % K.step == 0)
    if K.shape[0] == 1:
        return positions == K[0]
    if size <= 8 * (positions.shape[0] + K.shape[0]) + 4096:
        listed = np.zeros(size, np.bool_)
        listed[K] = True
        return listed[positions]
    return find(positions, np.sort(K))[1]


# ---------------------------------------------------------------------- concat


def copy_rows(A, begins, counts, shift, out_begins, out_indices, out_values, iso):
    """Copy row r of A, its counts[r] entries from begins[r] on, to out_begins[r] and on, `shift` added to the columns.

    The rows are all that have entries, in order.  iso: the results are, and their one value is in its place.
    """
    at = ranges(out_begins, counts)
    out_indices[at] = A.indices.astype(out_indices.dtype) + shift
    if not iso:
        out_values[at] = A.values


def concat_matrices(tiles, dtype, copy):
    """One matrix of a grid of tiles; copy: `copy_rows` of the backend.  Nothing is sorted: rows are copied."""
    tiles = [[cast_store(A, dtype) for A in row] for row in tiles]
    nrows, ncols = sum(row[0].nrows for row in tiles), sum(A.ncols for A in tiles[0])
    used = [A for row in tiles for A in row if A.indices.shape[0]]
    total = sum(A.indices.shape[0] for A in used)
    iso = total > 0 and all(A.iso and same_value(A.values[:1], used[0].values[:1]) for A in used)
    index = index_dtype(ncols)
    check_memory(total * (index.itemsize + (0 if iso else dtype.np_type.itemsize)), f"concat: {total} entries")
    indices = np.empty(total, index)
    values = used[0].values[:1].copy() if iso else np.empty(total, dtype.np_type)
    listed = wants_dcsr(nrows, total)
    starts, names, top, done = [np.zeros(1, np.int64)], [], 0, 0
    for row in tiles:
        rows = _rows_of(row) if listed else None
        spans = [_row_ranges(A, rows) for A in row]
        counts = spans[0][1]
        for _, more in spans[1:]:
            counts = counts + more
        ends = counts.cumsum() + done
        at, left = ends - counts, 0
        for A, (begins, lengths) in zip(row, spans, strict=True):
            if A.indices.shape[0]:
                copy(A, begins, lengths, left, at, indices, values, iso)
                at = at + lengths
            left += A.ncols
        starts.append(ends)
        if listed:
            names.append(rows + top)
        top, done = top + row[0].nrows, done + sum(A.indices.shape[0] for A in row)
    names = np.concatenate(names) if listed else None
    return Compressed(nrows, ncols, dtype, np.concatenate(starts), indices, values, iso, names)


def _rows_of(tiles):
    """The rows in which one of the tiles has entries."""
    rows = [occupied(A)[0] for A in tiles]
    return rows[0] if len(rows) == 1 else np.unique(np.concatenate(rows))


def _row_ranges(A, rows):
    """(starts, lengths) of these rows in A's entries; rows None: all rows."""
    if rows is not None:
        return rows_csr(A, rows)
    indptr = to_csr(A).indptr
    return indptr[:-1], indptr[1:] - indptr[:-1]
