"""Single elements: reading one from a store, and keeping written ones aside until the store is needed.

`A[i, j] = x` in a loop must not copy A's arrays every time.  So an object keeps a dict of written elements,
`_pending`, and has no `_store` while there are any: its slot is deleted, and the attribute look-up that fails then
(`__getattr__`) merges them.  An object without pending elements pays nothing for this.
"""
import numpy as np

from ..backends.select import current
from ..storage.store import index_dtype

ABSENT = object()          # in a pending dict: the element is removed


def read(store, key):
    """The NumPy scalar at `key` (int, or (row, column)), or None."""
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


def get(obj, key):
    """The element of a Vector or Matrix, pending ones included."""
    pending = obj._pending
    if pending is None:
        return read(obj._store, key)
    value = pending.get(key, pending)
    if value is pending:
        return read(obj._base, key)
    return None if value is ABSENT else value


def put(obj, key, value):
    """Write (or with ABSENT remove) one element; `value` is a NumPy scalar of the object's type."""
    pending = obj._pending
    if pending is None:
        obj._base = obj._store
        del obj._store
        pending = obj._pending = {}
    pending[key] = value


def merge(obj):
    """Bring the pending elements into the store; the store is returned and kept."""
    pending, base = obj._pending, obj._base
    obj._pending = obj._base = None
    keys = list(pending)
    values = list(pending.values())
    gone = np.fromiter((value is ABSENT for value in values), np.bool_, len(values))
    fill = obj.dtype.np_type.type(0) if not obj.dtype._is_udt else np.zeros(1, obj.dtype.np_type)[0]
    filled = [fill if value is ABSENT else value for value in values]
    new = np.array(filled, obj.dtype.np_type)
    if obj.ndim == 1:
        store = _merge_vector(base, np.array(keys, np.int64), new, gone)
    else:
        store = _merge_matrix(base, np.array(keys, np.int64).reshape(-1, 2), new, gone)
    obj._store = store
    return store


def _merge_vector(base, keys, values, gone):
    order = keys.argsort(kind="stable")
    keys, values, gone = keys[order], values[order], gone[order]
    if base.format == "sparse" and base.indices.dtype == index_dtype(base.size) and keys.shape[0] * 8 < base.nvals:
        return _merge_sparse(base, keys, values, gone)
    indices, old = current().tuples_vector(base)
    where = indices.searchsorted(keys)
    found = np.zeros(keys.shape[0], np.bool_)
    inside = where < indices.shape[0]
    found[inside] = indices[where[inside]] == keys[inside]
    keep = np.ones(indices.shape[0], np.bool_)
    keep[where[found]] = False
    indices = np.concatenate([indices[keep], keys[~gone]])
    merged = np.concatenate([old[keep], values[~gone]])
    return current().build_vector(base.size, indices, merged, None, base.dtype)


def _merge_sparse(base, keys, values, gone):
    """A few elements into a long list: one insertion, no sorting of the list."""
    from ..storage.store import SparseVector, full_values

    indices, old = base.indices, full_values(base)
    where = indices.searchsorted(keys.astype(indices.dtype))
    found = np.zeros(keys.shape[0], np.bool_)
    inside = where < indices.shape[0]
    found[inside] = indices[where[inside]] == keys[inside]
    old = np.array(old)
    replaced = found & ~gone
    old[where[replaced]] = values[replaced]
    fresh = ~found & ~gone
    indices = np.insert(indices, where[fresh], keys[fresh])
    merged = np.insert(old, where[fresh], values[fresh])
    if (found & gone).any():
        drop = indices.searchsorted(keys[found & gone])
        indices, merged = np.delete(indices, drop), np.delete(merged, drop)
    return SparseVector(base.size, base.dtype, indices, merged)


def _merge_matrix(base, keys, values, gone):
    rows, columns, old = current().tuples_matrix(base)
    order = np.lexsort((keys[:, 1], keys[:, 0]))
    keys, values, gone = keys[order], values[order], gone[order]
    # rows are ascending: find each key's row segment, then its column inside by one search on the pair
    low = rows.searchsorted(keys[:, 0], "left")
    high = rows.searchsorted(keys[:, 0], "right")
    drop = np.zeros(rows.shape[0], np.bool_)
    for k in range(keys.shape[0]):
        start, stop = low[k], high[k]
        if start < stop:
            place = start + columns[start:stop].searchsorted(keys[k, 1])
            if place < stop and columns[place] == keys[k, 1]:
                drop[place] = True
    keep = ~drop
    return current().build_matrix(
        base.nrows, base.ncols,
        np.concatenate([rows[keep], keys[~gone, 0]]), np.concatenate([columns[keep], keys[~gone, 1]]),
        np.concatenate([old[keep], values[~gone]]), None, base.dtype,
    )  # fmt: skip
