"""Pending tuples and zombies: changed elements kept with a store until the store is needed.

`A[i, j] = x`, `A(plus)[i, j] << x` and `del A[i, j]` in a loop must not copy A's arrays every time, nor must other
writes that reach few positions (core/pending_writes.py).  So an object keeps a dict of changed elements,
`_pending`, beside its store `_base`, and has no `_store` while there are any: its slot is deleted, and the attribute
look-up that fails then (`__getattr__`) merges them.  An object without pending elements pays nothing for this.

    _pending     {row: {column: change}}; a vector has the one row 0
    change       a NumPy scalar of the object's type: the element's value
                 ABSENT: there is no element
                 [accum, start, x, ...]: the start (BASE: the element of the base) accumulated with each x in turn
"""

import os
import threading
from itertools import chain

import numpy as np

from .. import operations as ops
from ..backends.protocol import Backend
from ..backends.select import current, using
from ..dtypes import BOOL, cast_scalar
from ..exceptions import OutOfMemory
from ..storage import holders
from ..storage.place import element, host, is_host, is_read_alone
from ..storage.store import Dense, StoredMask
from ..storage.update_entries import find_keys, store_of
from . import tracing

ABSENT = object()  # a change: the element is removed
BASE = object()  # the start of an accumulation: the base's element, which may be absent
WAITING = 1 << 20  # writes of single elements that may wait (108 bytes each) beside a store of fewer entries
COUNTED = 64  # changed elements that nvals looks up in the base (1 us each) instead of merging them (10 ns an entry)
FEW = 16  # changed elements that are looked up one by one (2 us each) before the calls of a merge (20 us)
LONGEST = 1024  # items of an accumulation (40 bytes each) from which it is folded: a long loop takes no more memory


def read(store, key):
    """The NumPy scalar at `key` (int, or (row, column)), or None."""
    if type(store) is Dense:
        store, key = store.flat, _flat_key(store, key)
    if type(store.values) is not np.ndarray or store.iso:
        if is_read_alone(store):
            return element(store, key)
        store = host(store)
    at = place(store, key)
    return None if at is None else store.values[0 if store.iso else at]


def place(store, key):
    """Which of the values of a host store, not a dense one, is the element at `key` (as in `read`), or None.

    Each element of an iso store counts as one value.
    """
    form = store.format
    if form == "sparse":
        return _in_segment(store, key, 0, store.indices.shape[0])
    if form == "bitmap":
        words = store.words
        return None if words is not None and not (int(words[key >> 6]) >> (key & 63)) & 1 else key
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
    at = int(segment.searchsorted(segment.dtype.type(index)))  # of the segment's type, else NumPy casts the segment
    return None if at == stop - start or segment[at] != index else start + at


def _after_fork():
    Backend.merging = threading.RLock()  # another thread of the parent may have had it


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def get(obj, key):
    """The element of a Vector or Matrix, pending ones included."""
    pending = obj._pending
    if pending is None:
        return read(obj._store, key)
    i, j = key if type(key) is tuple else (0, key)
    row = pending.get(i)
    change = None if row is None else row.get(j)
    if change is None:
        base = obj._base
        return read(obj._store if base is None else base, key)  # None: another reader has merged meanwhile
    if type(change) is list:
        with current().merging:  # the base does not change meanwhile
            base = obj._base
            if base is None:
                return read(obj._store, key)
            change = row[j] = folded(obj, base, key, change)
    return None if change is ABSENT else change


def folded(obj, base, key, change):
    """The scalar that an accumulation comes to."""
    accum, value, *rest = change
    if value is BASE:
        value = read(base, key)
    elif value is ABSENT:
        value = None
    for x in rest:
        value = cast_scalar(ops.accumulate_scalar(value, x, accum), obj.dtype)
    return value


def count(obj):
    """The number of entries, pending elements included; few of them stay pending."""
    pending = obj._pending
    if tracing.active is not None and (trace := tracing.current()) is not None:
        return trace.count(obj)
    if pending is None or len(pending) > COUNTED or getattr(obj._base, "is_part", False):
        return obj._store.nvals
    with current().merging:  # the base does not change meanwhile
        base = obj._base
        if base is None or not is_host(base) or sum(map(len, pending.values())) > COUNTED:
            return obj._store.nvals
        more, is_vector = 0, len(obj.shape) == 1
        for i, row in pending.items():
            for j, change in row.items():
                more += (change is not ABSENT) - (read(base, j if is_vector else (i, j)) is not None)
        return base.nvals + more


class Changes(dict):
    """The changes {row: {column: change}} of an object.

    left: writes of single elements until they are merged, so that a loop takes as much memory as the store, or WAITING
    kept: changes that put_all made, repeated ones too
    """

    __slots__ = ("kept", "left")

    def __init__(self, store):
        self.left, self.kept = max(store.nvals_if_read or 0, WAITING), 0


def _begin(obj):
    """The dict of changes of an object that has none yet, or whose changes are merged first.  Raises: OutOfMemory."""
    note_write(obj)
    store = obj._store  # merges
    pending = Changes(store)
    obj._base = store  # these three stores are one step: no call, so no signal or thread, comes between
    obj._pending = pending
    del obj._store
    return pending


def put(obj, key, value):
    """Write (or with ABSENT remove) one element; `value` is a NumPy scalar of the object's type."""
    pending = obj._pending
    if pending is None or not pending.left:
        pending = _begin(obj)
    pending.left -= 1
    i, j = key if type(key) is tuple else (0, key)
    row = pending.get(i)
    if row is None:
        row = pending[i] = {}
    row[j] = value


def accumulate(obj, key, value, accum):
    """obj[key] (accum)= value; `value` is a NumPy scalar of the object's type, `accum` a lowered operator.

    The base is not read, wherever its arrays reside: the accumulation waits for a reader or for another operator.
    """
    pending = obj._pending
    if pending is None or not pending.left:
        pending = _begin(obj)
    pending.left -= 1
    i, j = key if type(key) is tuple else (0, key)
    row = pending.get(i)
    if row is None:
        row = pending[i] = {}
    change = row.get(j)
    if type(change) is not list:
        row[j] = [accum, BASE if change is None else change, value]
    elif change[0] is accum and len(change) < LONGEST:
        change.append(value)
    else:
        row[j] = [accum, folded(obj, obj._base, key, change), value]


def put_all(obj, changes):
    """Make all changes {row: {column: change}} or, when interrupted, none."""
    pending = obj._pending
    if pending is None:
        pending = _begin(obj)
    pending.update({i: {**pending[i], **row} if i in pending else row for i, row in changes.items()})
    pending.kept += sum(map(len, changes.values()))


def reset(obj, store):
    """Give the object the store `store`; what it held, pending elements included, is forgotten."""
    obj._store = store  # one step, as in _begin
    obj._pending = None
    obj._base = None


def store_to_write(obj, record=None, desc=None):
    """The object's store for the write step, marked `shared` where something else refers to it: no update in place.

    record, desc: what is written, as for note_write.
    """
    if tracing.active is not None:
        note_write(obj, record, desc)
    if holders.count_of(obj._store) > holders.ONE:
        obj._store.shared = True
    return obj._store


def note_write(obj, record=None, desc=None):
    """Tell the program whose loop is traced, if there is one, that the object is written."""
    if tracing.active is not None and (trace := tracing.current()) is not None:
        trace.write(obj, record, desc)


def merge(obj):
    """Bring the pending elements into the store; returns the store.

    The new store is complete before the object changes, so a failure or interrupt leaves base and pending elements.
    Where the base's values change in place, they become what the pending elements say already.
    Raises: OutOfMemory when the merged arrays do not fit.
    """
    # no name for the base here: its references are counted below
    if getattr(obj._base, "is_part", False) and current() is not obj._base.world:  # it stays distributed
        with using(obj._base.world.name):
            return merge(obj)
    with current().merging:
        pending = obj._pending
        if pending is None:  # another reader has merged while this one waited
            return obj._store
        own = holders.count_of(obj._base) <= holders.ONE
        base = obj._base
        try:
            store = _merged(obj, pending, base, own)
        except (MemoryError, OutOfMemory) as error:
            raise OutOfMemory(
                f"{obj.name or type(obj).__name__}: {sum(map(len, pending.values()))} written elements do not fit "
                f"beside {base.nvals} entries ({error}); both are kept: free objects, or delete the written elements"
            ) from error
        obj._store = store  # one step, as in _begin
        obj._pending = None
        obj._base = None
    return store


def _merged(obj, pending, base, own):
    _fold_accumulations(obj, pending, base)
    if len(pending) <= FEW and is_host(base) and not (base.iso or obj.dtype._is_udt):
        store = _revalued(obj, pending, base, own)
        if store is not None:
            return store
    rows, cols, changes = _listed(pending)
    if not changes:
        return base
    touched, t = stores_of(obj, rows, cols, changes)
    return ops.replace_entries(base, t, touched, own)


def _revalued(obj, pending, base, own):
    """The base with other values, where few elements are pending and it has all of them; else None."""
    if sum(map(len, pending.values())) > FEW:
        return None
    dense, store = type(base) is Dense, base
    if dense:
        own, store = own and holders.count_of(base.flat) <= holders.ONE, base.flat
    at, values = [], []
    for i, row in pending.items():
        for j, change in row.items():
            key = _flat_key(base, (i, j)) if dense else j if obj.ndim == 1 else (i, j)
            found = None if change is ABSENT else place(store, key)
            if found is None:
                return None
            at.append(found)
            values.append(change)
    store = ops.replace_values(store, np.array(at), np.array(values, obj.dtype.np_type), own)
    if not dense:
        return store
    base.forms = None  # of other values
    return base.with_flat(store)


def _flat_key(A, key):
    """The position of an element in the flat vector of a dense matrix; numbers or arrays."""
    row, column = key
    return column * A.nrows + row if A.by_columns else row * A.ncols + column


def _listed(pending):
    """(rows, columns, changes) of the pending elements: two int64 arrays and a list."""
    lengths = list(map(len, pending.values()))
    total = sum(lengths)
    rows = np.fromiter(pending, np.int64, len(pending)).repeat(lengths)
    cols = np.fromiter(chain.from_iterable(pending.values()), np.int64, total)
    return rows, cols, list(chain.from_iterable(map(dict.values, pending.values())))


def stores_of(obj, rows, cols, changes):
    """(the positions touched, the entries there) as host stores; `changes` holds scalars and ABSENT."""
    order = np.lexsort((cols, rows))
    rows, cols = np.asarray(rows, np.int64)[order], np.asarray(cols, np.int64)[order]
    present = np.array([change is not ABSENT for change in changes], np.bool_)[order]
    dtype = obj.dtype
    subdtype = dtype.np_type.subdtype
    fill = dtype.np_type.type(0) if not dtype._is_udt else np.zeros(1, dtype.np_type)[0]
    scalars = [fill if change is ABSENT else change for change in changes]
    values = np.array(scalars, dtype.np_type if subdtype is None else subdtype[0])[order]
    touched = store_of(obj.shape, dtype, rows, cols, values)
    if present.all():
        return touched, touched
    return touched, store_of(obj.shape, dtype, rows[present], cols[present], values[present])


def _fold_accumulations(obj, pending, base):
    """Turn every accumulation into the scalar it comes to: one gather from the base for all, then one fold for each
    operator.  The object stays the same throughout.
    """
    waiting = [(i, j, row[j]) for i, row in pending.items() for j in row if type(row[j]) is list]
    if not waiting:
        return
    dtype = obj.dtype
    starts = np.zeros(len(waiting), dtype.np_type)
    present = np.zeros(len(waiting), np.bool_)
    from_base = [k for k, (_, _, change) in enumerate(waiting) if change[1] is BASE]
    if from_base:
        found, values = _gathered(obj, base, [waiting[k][:2] for k in from_base])
        at = np.array(from_base)[found]
        present[at], starts[at] = True, values
    for k, (_, _, change) in enumerate(waiting):
        if change[1] is not BASE and change[1] is not ABSENT:
            present[k], starts[k] = True, change[1]
    operators = {}
    for k, (_, _, change) in enumerate(waiting):
        operators.setdefault(change[0], []).append(k)
    for accum, chosen in operators.items():
        values = starts[chosen]
        ops.accumulate_chains(values, present[chosen], [waiting[k][2][2:] for k in chosen], accum, dtype)
        for k, value in zip(chosen, values, strict=True):
            i, j, _ = waiting[k]
            pending[i][j] = value


def _gathered(obj, base, keys):
    """(which of the positions `keys` have an entry in the base: bool array, the values of those), in their order."""
    keys = np.array(keys, np.int64)
    if not is_host(base):  # bring the entries at these positions alone
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        pattern = store_of(obj.shape, BOOL, *keys[order].T, np.ones(len(order), np.bool_))
        base = host(current().restrict(base, StoredMask(pattern)))
    if type(base) is Dense:
        keys[:, 1] = _flat_key(base, keys.T)
        base = base.flat
    at, found = find_keys(base, keys[:, 0], keys[:, 1])
    return found, base.values[:1].repeat(int(found.sum()), axis=0) if base.iso else base.values[at[found]]
