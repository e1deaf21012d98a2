"""Single elements: reading one from a store, and keeping written ones aside until the store is needed.

`A[i, j] = x` in a loop must not copy A's arrays every time.  So an object keeps a dict of written elements,
`_pending`, and has no `_store` while there are any: its slot is deleted, and the attribute look-up that fails then
(`__getattr__`) merges them.  An object without pending elements pays nothing for this.
"""

import threading

import numpy as np

from ..backends.select import current
from ..exceptions import OutOfMemory
from ..storage import bits
from ..storage.place import host
from ..storage.store import BitmapVector, Compressed, SparseVector, full_values

ABSENT = object()  # in a pending dict: the element is removed


def read(store, key):
    """The NumPy scalar at `key` (int, or (row, column)), or None."""
    if type(store.values) is not np.ndarray or store.iso:
        store = host(store)
    form = store.format
    if form == "sparse":
        return _in_segment(store, key, 0, store.indices.shape[0])
    if form == "bitmap":
        words = store.words
        if words is not None and not (int(words[key >> 6]) >> (key & 63)) & 1:
            return None
        return store.values[0 if store.iso else key]
    row, column = key
    if store.rows is not None:
        rows = store.rows
        at = int(rows.searchsorted(row))
        if at == rows.shape[0] or rows[at] != row:
            return None
        row = at
    return _in_segment(store, column, int(store.indptr[row]), int(store.indptr[row + 1]))


def _in_segment(store, index, start, stop):
    segment = store.indices[start:stop]
    at = int(segment.searchsorted(index))
    if at == stop - start or segment[at] != index:
        return None
    return store.values[0 if store.iso else start + at]


_merging = threading.RLock()  # one merge at a time: readers of one object may be several threads


def get(obj, key):
    """The element of a Vector or Matrix, pending ones included."""
    pending = obj._pending
    if pending is None:
        return read(obj._store, key)
    value = pending.get(key, pending)
    if value is pending:
        base = obj._base
        return read(obj._store if base is None else base, key)  # None: another reader has merged meanwhile
    return None if value is ABSENT else value


def put(obj, key, value):
    """Write (or with ABSENT remove) one element; `value` is a NumPy scalar of the object's type."""
    pending = obj._pending
    if pending is None:
        store = obj._store
        pending = {}
        obj._base = store  # these three stores are one step: no call, so no signal or thread, comes between
        obj._pending = pending
        del obj._store
    pending[key] = value


def merge(obj):
    """Bring the pending elements into the store; returns the store.

    The new store is complete before the object changes, so a failure or interrupt leaves base and pending elements.
    Raises: OutOfMemory when the merged arrays do not fit.
    """
    with _merging:
        pending, base = obj._pending, obj._base
        if pending is None:  # another reader has merged while this one waited
            return obj._store
        try:
            store = _merged(obj, pending, host(base))
        except (MemoryError, OutOfMemory) as error:
            raise OutOfMemory(
                f"{obj.name or type(obj).__name__}: {len(pending)} written elements do not fit beside {base.nvals} "
                f"entries ({error}); both are kept: free objects, or delete the written elements"
            ) from error
        obj._store = store  # one step, as in put
        obj._pending = None
        obj._base = None
    return store


def _merged(obj, pending, base):
    """The store of `base` with the pending elements; nothing of `obj` changes."""
    keys = list(pending)
    values = list(pending.values())
    gone = np.fromiter((value is ABSENT for value in values), np.bool_, len(values))
    fill = obj.dtype.np_type.type(0) if not obj.dtype._is_udt else np.zeros(1, obj.dtype.np_type)[0]
    filled = [fill if value is ABSENT else value for value in values]
    subdtype = obj.dtype.np_type.subdtype
    new = np.array(filled, obj.dtype.np_type if subdtype is None else subdtype[0])
    if obj.ndim == 1:
        return _merge_vector(base, np.array(keys, np.int64), new, gone)
    return _merge_matrix(base, np.array(keys, np.int64).reshape(-1, 2), new, gone)


_ARRAY_BYTES = 2**62  # NumPy raises ValueError, not MemoryError, for arrays of more
_FEW = 8  # fewer than one element in 8 entries: change a copy of the arrays instead of building anew


def _merge_vector(base, keys, values, gone):
    order = keys.argsort(kind="stable")
    keys, values, gone = keys[order], values[order], gone[order]
    if keys.shape[0] * _FEW < base.nvals:
        if base.format == "bitmap":
            return _merge_bitmap(base, keys, values, gone)
        where = base.indices.searchsorted(keys)
        indices, merged, _ = _inserted(base.indices, full_values(base), keys, where, values, gone)
        return SparseVector(base.size, base.dtype, indices, merged)
    indices, old = current().tuples_vector(base)
    where = indices.searchsorted(keys)
    keep = np.ones(indices.shape[0], np.bool_)
    keep[where[_present(indices, keys, where)]] = False
    indices = np.concatenate([indices[keep], keys[~gone]])
    merged = np.concatenate([old[keep], values[~gone]])
    return current().build_vector(base.size, indices, merged, None, base.dtype)


def _merge_bitmap(base, keys, values, gone):
    """A few elements into a bitmap vector: its arrays are copied, then the positions are set."""
    if base.size > _ARRAY_BYTES // base.dtype.np_type.itemsize:
        raise MemoryError(f"an array of {base.size} values is larger than any memory")
    places, words, count = np.array(full_values(base)), base.words, base.nvals
    places[keys] = values
    if words is None and gone.any():
        words = bits.full(base.size)
    elif words is not None:
        words = words.copy()
    if words is not None:
        before = bits.test(words, keys)
        bits_of = np.uint64(1) << (keys & 63).astype(np.uint64)
        np.bitwise_or.at(words, keys[~gone] >> 6, bits_of[~gone])
        np.bitwise_and.at(words, keys[gone] >> 6, ~bits_of[gone])
        count += int((~gone & ~before).sum()) - int((gone & before).sum())
    return BitmapVector(base.size, base.dtype, words, places, count)


def _present(indices, keys, where):
    """Whether indices[where[k]] is keys[k]."""
    found = np.zeros(keys.shape[0], np.bool_)
    inside = where < indices.shape[0]
    found[inside] = indices[where[inside]] == keys[inside]
    return found


def _inserted(indices, old, keys, where, values, gone, found=None):
    """(indices, values, change of length per key) after elements are inserted at `where`; nothing is sorted."""
    found = _present(indices, keys, where) if found is None else found
    merged = np.array(old)
    replaced, fresh, removed = found & ~gone, ~found & ~gone, found & gone
    merged[where[replaced]] = values[replaced]
    shift = np.where(fresh, 1, 0) - np.where(removed, 1, 0)
    if removed.any():  # deletions are counted before insertions shift the positions
        keep = np.ones(indices.shape[0], np.bool_)
        keep[where[removed]] = False
        where = where - np.concatenate([[0], np.cumsum(~keep)])[where]
        indices, merged = indices[keep], merged[keep]
    indices = np.insert(indices, where[fresh], keys[fresh].astype(indices.dtype))
    return indices, np.insert(merged, where[fresh], values[fresh]), shift


def _merge_matrix(base, keys, values, gone):
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    keys, values, gone = keys[order], values[order], gone[order]
    if keys.shape[0] * _FEW < base.nvals and base.rows is None:
        return _merge_rows(base, keys, values, gone)
    rows, columns, old = current().tuples_matrix(base)
    where, found = _places(rows.searchsorted(keys[:, 0], "left"), rows.searchsorted(keys[:, 0], "right"), columns, keys)
    keep = np.ones(rows.shape[0], np.bool_)
    keep[where[found]] = False
    return current().build_matrix(
        base.nrows, base.ncols,
        np.concatenate([rows[keep], keys[~gone, 0]]), np.concatenate([columns[keep], keys[~gone, 1]]),
        np.concatenate([old[keep], values[~gone]]), None, base.dtype,
    )  # fmt: skip


def _places(starts, stops, columns, keys):
    """(where, found): the position of each key in its row's segment of `columns`, and whether the key is present."""
    where = np.empty(keys.shape[0], np.int64)
    found = np.zeros(keys.shape[0], np.bool_)
    for k in range(keys.shape[0]):
        start, stop = starts[k], stops[k]
        where[k] = place = start + columns[start:stop].searchsorted(keys[k, 1])
        found[k] = place < stop and columns[place] == keys[k, 1]
    return where, found


def _merge_rows(base, keys, values, gone):
    """A few elements into a CSR: insertions and deletions in a copy of its arrays."""
    rows = keys[:, 0]
    where, found = _places(base.indptr[rows], base.indptr[rows + 1], base.indices, keys)
    indices, merged, shift = _inserted(base.indices, full_values(base), keys[:, 1], where, values, gone, found)
    change = np.zeros(base.nrows + 1, np.int64)
    np.add.at(change, rows + 1, shift)
    return Compressed(base.nrows, base.ncols, base.dtype, base.indptr + np.cumsum(change), indices, merged)
