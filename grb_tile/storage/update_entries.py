"""Changes of few entries of a host store: search by row, insertion and deletion between copied segments, bitmap bits.

The structure alone is handled here: values are moved, never combined.  The write step is operations/write.py.
"""

import numpy as np

from . import bits, holders
from .convert import choose_format, compressed, rows_csr
from .dense import flat_of, line_numbers, matrix_of, writable_flat
from .host_memory import check_memory
from .store import BitmapVector, Compressed, Dense, SparseVector, full_values, index_dtype

FEW = 64  # change k of n entries by segments up to k = n / 64: a segment costs about 1 us, copying an entry about 10 ns
_LOOP = 16  # rows up to which a search per row (2 us each) is faster than bisection of all keys together
_ARRAY_BYTES = 2**62  # NumPy raises ValueError, not MemoryError, for arrays of more


def is_few(k, n):
    """Are k changed entries few against n stored ones (see FEW)?"""
    return k <= FEW or k * FEW <= n


def store_of(shape, dtype, rows, cols, values):
    """The sparse vector (`rows` is not read) or matrix of distinct entries sorted by rows; host arrays."""
    if len(shape) == 1:
        return SparseVector(shape[0], dtype, cols.astype(index_dtype(shape[0]), copy=False), values)
    return compressed(*shape, dtype, rows, cols, values)


# ---------------------------------------------------------------------- search


def find_entries(A, rows, cols):
    """(at, found): where the entry (rows[k], cols[k]) of the matrix A is, or is to be inserted, in A.indices.

    Cost: one binary search for each key; nothing of A's size is touched.
    """
    starts, lengths = rows_csr(A, rows)
    indices, cols = A.indices, cols.astype(A.indices.dtype, copy=False)
    count = cols.shape[0]
    ends = starts + lengths
    cuts = (rows[1:] != rows[:-1]).nonzero()[0] + 1  # keys of one row follow each other
    if cuts.shape[0] < _LOOP:
        at = np.empty(count, np.int64)
        first = 0
        for last in (*cuts.tolist(), count):
            if last > first:
                start = int(starts[first])
                at[first:last] = indices[start : int(ends[first])].searchsorted(cols[first:last])
                at[first:last] += start
            first = last
    else:
        at = _bisect(indices, cols, starts, ends)
    if indices.shape[0] == 0:
        return at, np.zeros(count, np.bool_)
    return at, (at < ends) & (indices.take(at, mode="clip") == cols)


def _bisect(indices, cols, low, high):
    """The first position in low[k] .. high[k] whose index is not below cols[k], for all k at once."""
    for _ in range(int((high - low).max()).bit_length()):
        middle = (low + high) >> 1
        below = (indices.take(middle, mode="clip") < cols) & (low < high)
        low, high = np.where(below, middle + 1, low), np.where(below, high, np.minimum(middle, high))
    return low


def keys_of(t):
    """(rows, cols) of the entries of a sparse vector (rows: zeros) or a matrix, int64; nothing is cached."""
    if t.format == "sparse":
        return np.zeros(t.nvals, np.int64), t.indices.astype(np.int64)
    names = t.rows if t.rows is not None else np.arange(t.nrows, dtype=np.int64)
    return np.repeat(names, np.diff(t.indptr)), t.indices.astype(np.int64)


def find_keys(store, rows, cols):
    """find_entries for a vector (`rows` is not read) or a matrix; in a bitmap, the position itself."""
    if store.format == "bitmap":
        return cols, np.ones(cols.shape[0], np.bool_) if store.words is None else bits.test(store.words, cols)
    if store.format != "sparse":
        return find_entries(store, rows, cols)
    cols = cols.astype(store.indices.dtype, copy=False)
    at = store.indices.searchsorted(cols)
    if store.indices.shape[0] == 0:
        return at, np.zeros(at.shape[0], np.bool_)
    return at, store.indices.take(at, mode="clip") == cols


# ---------------------------------------------------------------------- the update


def update_entries(c, t, touched, own):
    """C with the entries of T at the positions `touched`, its other entries as they are; NotImplemented if not few.

    c, t, touched  host stores of one shape; T has c's type and no entry outside `touched`.  t and touched are sparse
                   vectors or matrices
    own            may c's values be changed in place?  They are where each position touched has an entry in T and in c,
                   and a bitmap's always: c is then returned
    """
    if c.format == "bitmap":
        return _splice_bitmap(c, t, touched, own)
    if type(c) is Dense:
        return _splice_dense(c, t, touched, own)
    if not is_few(touched.nvals, c.nvals):
        return NotImplemented
    rows, cols = keys_of(touched)
    at, found = find_keys(c, rows, cols)
    stays = np.ones(rows.shape[0], np.bool_)
    if t.nvals != touched.nvals:
        stays = find_keys(t, rows, cols)[1]
    values = full_values(t)
    fresh, removed = ~found & stays, found & ~stays
    edits = (fresh | removed).nonzero()[0]
    if edits.shape[0] == 0:
        return replace_values(c, at[found], values, own)
    if c.format == "dcsr":
        return NotImplemented  # rows come and go
    iso = c.iso and _all_equal(values, c.values)
    changed = [(c.indices, cols[edits])]
    if not iso:
        new = np.empty((rows.shape[0], *values.shape[1:]), values.dtype)
        new[stays] = values
        changed.append((full_values(c), new[edits]))
    indices, *merged = _edited(changed, at[edits], fresh[edits])
    merged = c.values if iso else merged[0]
    replaced = found & stays
    if not iso and replaced.any():
        before = np.concatenate(([0], np.cumsum(fresh.astype(np.int64) - removed)))[:-1]  # edits to the left
        merged[(at + before)[replaced]] = new[replaced]
    if c.format == "sparse":
        result = choose_format(SparseVector(c.size, c.dtype, indices, merged, iso))
    else:
        change = np.zeros(c.nrows + 1, np.int64)
        np.add.at(change, rows + 1, fresh.astype(np.int64) - removed)
        result = choose_format(Compressed(c.nrows, c.ncols, c.dtype, c.indptr + change.cumsum(), indices, merged, iso))
    if iso:
        c.shared = result.shared = True
    return result


def _edited(pairs, at, fresh):
    """`old` of each pair (old, new) edited at the ascending positions at[k]: new[k] is inserted before old[at[k]] if
    fresh[k], else that is removed.
    """
    start, end = int(at[0]), int(at[-1]) + 1
    if end - start > FEW * at.shape[0]:
        places, inserts = at.tolist(), fresh.tolist()
        return [_from_segments(old, new, places, inserts) for old, new in pairs]
    removed = ~fresh  # edits close to each other: what is between them is copied at once
    kept = np.ones(min(end, pairs[0][0].shape[0]) - start, np.bool_)
    kept[at[removed] - start] = False
    places = (at - start + fresh.cumsum() - 1 - removed.cumsum())[fresh]
    is_old = np.ones(int(kept.sum()) + places.shape[0], np.bool_)
    is_old[places] = False
    edited = []
    for old, new in pairs:
        between = np.empty((is_old.shape[0], *old.shape[1:]), old.dtype)
        between[places], between[is_old] = new[fresh], old[start:end][kept]
        edited.append(np.concatenate((old[:start], between, old[end:])))
    return edited


def _from_segments(old, new, places, inserts):
    parts, start = [], 0
    for k, (place, is_fresh) in enumerate(zip(places, inserts, strict=True)):
        parts.append(old[start:place])
        if is_fresh:
            parts.append(new[k : k + 1])
            start = place
        else:
            start = place + 1
    parts.append(old[start:])
    return np.concatenate(parts)


def _all_equal(values, one):
    """Are all values equal to the one of the length-1 array, bit by bit (so that NaN equals itself)?"""
    if values.shape[0] == 0:
        return True
    octets = np.ascontiguousarray(values).reshape(values.shape[0], -1).view(np.uint8)
    return bool((octets == np.ascontiguousarray(one[:1]).reshape(1, -1).view(np.uint8)).all())


def owns_arrays(c):
    """May the values of the store c, and a bitmap's presence bits, change in place: does nothing else refer to them?"""
    if c.iso or c.shared or not _has_one_reference(holders.count_of(c.values), c.values):
        return False
    return c.format != "bitmap" or c.words is None or _has_one_reference(holders.count_of(c.words), c.words)


def _has_one_reference(array_count, array):
    """May `array` be changed in place?  array_count: holders.count_of of it, taken by the caller."""
    return array_count <= holders.ONE and array.flags.writeable and not isinstance(array.base, np.ndarray)


def replace_values(c, at, values, own):
    """C with values[k] at position at[k] of its values: in place where `own` and nothing else refers to them."""
    if at.shape[0] == 0:
        return c
    if own and owns_arrays(c):
        forget_values(c)
        c.values[at] = values
        return c
    if c.iso and _all_equal(values, c.values):
        return c
    merged = np.array(full_values(c))
    merged[at] = values
    if c.format == "bitmap":
        words = None if c.words is None else c.words.copy()
        return BitmapVector(c.size, c.dtype, words, merged, c.nvals)
    return c.with_values(c.dtype, merged, False)  # of one structure, which never changes in place


_OF_STRUCTURE = ("row_ids", "occupied", "occupied_words", "keys", "words", "columns")  # cached forms without values


def forget_values(c):
    """Drop the cached forms of c that hold values, before values change in place; its transpose forgets c."""
    forms = c.forms
    if forms is None:
        return
    transpose = forms.get("transpose")
    if transpose is not None and transpose.forms is not None:
        transpose.forms.pop("transpose_of", None)
    c.forms = {key: forms[key] for key in _OF_STRUCTURE if key in forms} or None


def _splice_bitmap(c, t, touched, own):
    """A bitmap vector: values are set at T's positions, bits at the positions touched."""
    own = own and owns_arrays(c)
    words, count, at = c.words, c.nvals, touched.indices
    if words is None and t.nvals != touched.nvals:
        words = bits.full(c.size)
        owns_words = True
    else:
        owns_words = own
    if not own:
        if c.size > _ARRAY_BYTES // c.dtype.np_type.itemsize:
            raise MemoryError(f"an array of {c.size} values is larger than any memory")
        check_memory(c.size * c.dtype.np_type.itemsize, f"an array of {c.size} values")
        places = np.array(full_values(c))
        places[t.indices] = full_values(t)
    if words is not None:
        numbers, new, more = changed_words(words, at, t.indices)
        count += more
        if not owns_words:
            words = words.copy()
    if not own:
        if words is not None:
            words[numbers] = new
        return choose_format(BitmapVector(c.size, c.dtype, words, places, count))
    positions, values = t.indices, full_values(t)
    # No call from here to the last line, so no signal comes between: the vector is never half changed.
    c.values[positions] = values
    if words is not None:
        words[numbers] = new
        c.words = words
        c.nvals = count
    c.forms = None
    return choose_format(c)


def _splice_dense(c, t, touched, own):
    """A dense matrix: its flat vector; the same matrix in row-major order."""
    there = flat_of(touched, line_numbers)
    t = there if t is touched else flat_of(t, line_numbers)
    return matrix_of(_splice_bitmap(writable_flat(c, False), t, there, own), c.nrows, c.ncols)


def changed_words(words, touched, present):
    """(word numbers, their new contents, change of the number of bits): bits `touched` cleared, then `present` set."""
    numbers, which = np.unique(touched >> 6, return_inverse=True)
    old = words[numbers]
    new = old.copy()
    one = np.uint64(1)
    np.bitwise_and.at(new, which, ~(one << (touched & 63).astype(np.uint64)))
    at = numbers.searchsorted(present >> 6)
    np.bitwise_or.at(new, at, one << (present & 63).astype(np.uint64))
    return numbers, new, bits.popcount(new) - bits.popcount(old)
