"""Writes to few positions of a large object: their changes stay pending with its store, as written elements do."""

from .. import operations as ops
from ..backends.select import current
from ..storage.update_entries import keys_of
from . import elements, tracing

MOST = 8  # an eighth of the entries may wait as changes: 200 bytes a change, and 80 ns for its share of the merge


def write_part(obj, find, compute):
    """obj's entries at few positions become those that the write step computes from them; True, or False where the
    positions are not few, and nothing is done.

    find(base)   the Part of a store that the write may change, or None (see operations/written_region.py)
    compute(c)   the write step for an output that holds the entries `c`
    """
    if tracing.active is not None:
        return False
    base = _base(obj)
    if obj._pending is not None and obj._pending.kept * MOST > base.nvals:
        base = elements.merge(obj)
    if not ops.can_keep_changes(base):
        return False
    part = find(base)
    if part is None or _base(obj) is not base:  # a mask that is obj itself has merged its pending elements
        return False
    before = part.store if part.deleted is not None else _with_pending(obj, base, part)
    rows, cols = (places.tolist() for places in part.deleted or keys_of(before))
    changes = {}
    for i, j in zip(rows, cols, strict=True):
        changes.setdefault(i, {})[j] = elements.ABSENT
    if part.deleted is not None and part.pattern is None and obj._pending is not None:
        for i in obj._pending if part.rows is None else part.rows.tolist():
            gone = [j for j in obj._pending.get(i, ()) if part.cols is None or j in part.cols]
            changes.setdefault(i, {}).update(dict.fromkeys(gone, elements.ABSENT))
    *places, values = current().tuples(compute(before))
    rows = places[0].tolist() if obj.ndim == 2 else [0] * len(values)
    for i, j, value in zip(rows, places[-1].tolist(), values, strict=True):
        changes.setdefault(i, {})[j] = value
    if changes:
        elements.put_all(obj, changes)
    return True


def _base(obj):
    return obj._store if obj._pending is None else obj._base


def _with_pending(obj, base, part):
    """The entries of the part, the object's pending elements there included."""
    pending = obj._pending
    if pending is None:
        return part.store
    if part.rows is not None:
        found = [(i, j, change) for i in part.rows.tolist() for j, change in pending.get(i, {}).items()]
    else:
        positions = zip(*(places.tolist() for places in keys_of(part.pattern)), strict=True)
        found = [(i, j, pending[i][j]) for i, j in positions if j in pending.get(i, ())]
    if not found:
        return part.store
    rows, cols, changes = zip(*found, strict=True)
    changes = [
        elements.folded(obj, base, (i, j) if obj.ndim == 2 else j, change) if type(change) is list else change
        for i, j, change in found
    ]
    touched, t = elements.stores_of(obj, rows, cols, changes)
    return ops.replace_entries(part.store, t, touched, own=False)
