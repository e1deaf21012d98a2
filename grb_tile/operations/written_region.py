"""The entries of C that a write may change, where they are few of all entries.

A write leaves the entries outside a set R of positions unchanged, and its results in R depend on no entry outside:

    any write                                   R = what `reach` says of its mask, accumulator and replace
    assign or subassign to rows I               R = the rows I (assign: unless entries elsewhere are cleared)
    assign to columns J without mask            R = the columns J

So the write step may compute with the entries of C in R alone; core/pending_writes.py keeps the changes with C's store.
"""

import numpy as np

from ..backends.select import current
from ..dtypes import BOOL
from ..planner import tuning
from ..storage.convert import rows_csr, take_rows, to_sparse
from ..storage.place import is_host
from ..storage.sorting import ranges
from ..storage.store import Dense, StoredMask
from ..storage.update_entries import FEW, keys_of, store_of
from .indexing import EMPTY
from .write import reach


class Part:
    """Few positions R of C, as lines or as the structure of `pattern`, and `store`: C's entries there, of C's shape.

    rows, cols: R is the rows `rows` (None: all) of which the columns `cols`, a set (None: all).
    deleted: (rows, columns) of entries that C may have and that go unless they are written, whatever their values;
             `store` is empty then.  None where the write depends on C's entries.
    """

    __slots__ = ("store", "rows", "pattern", "deleted", "cols")

    def __init__(self, store, rows=None, pattern=None, deleted=None, cols=None):
        self.store = store
        self.rows = rows
        self.pattern = pattern
        self.deleted = deleted
        self.cols = cols


def can_keep_changes(c):
    """May few changes be kept as pending, because copying the store C costs more than they do?

    A bitmap changes in place, a dense matrix is as fast to copy as its entries are to find, and a device copies a store
    faster than the host can look at its entries.
    """
    if c.format == "bitmap" or type(c) is Dense:
        return False
    return is_host(c) and c.nvals >= FEW and current().updates_in_place


def part_of_write(c, t, mask, desc):
    """The Part of C that the write of T inside `mask` may change; None where it is not known to be few."""
    return _first_few(c, reach(c, desc, mask, t))


def part_of_assign(c, value, I, J=None, *, desc, subassign):
    """The Part of C that the assignment may change; None where it is not known to be few.  Arguments: see assign."""
    ndim, most, is_store = len(c.shape), c.nvals // FEW, hasattr(value, "nvals")
    if I is None and J is None:
        return _first_few(c, reach(c, desc, t=value if is_store else None))
    if not subassign:
        structures = reach(c, desc)
        part = _first_few(c, structures, in_region=True)
        if structures is None or part is not None:
            return part
    if I is None and ndim == 2 and desc.is_plain and (value is EMPTY or is_store):
        return _overwritten_columns(c, value, J, most)
    if I is None or _count(I, c.shape[0]) > most or _entries(c, value, I, J, desc.mask) > most:
        return None
    if ndim == 1:
        return _inside(c, _positions(c, None, _distinct(I)))
    rows = _distinct(I)
    if int(rows_csr(c, rows)[1].sum()) <= most:
        if desc.is_plain and _count(J, 0) <= most:
            return _overwritten_rows(c, rows, J)
        return Part(take_rows(c, rows), rows=rows)
    if J is None or _count(J, c.shape[1]) * rows.shape[0] > most:
        return None
    cols = _distinct(J)
    return _inside(c, _positions(c, rows.repeat(cols.shape[0]), np.tile(cols, rows.shape[0])))


def _first_few(c, structures, in_region=False):
    """The Part by the first structure of `reach` that is few; in_region: entries elsewhere in it stay."""
    for structure, overwrites in structures or ():
        part = _inside(c, structure, overwrites and not in_region)
        if part is not None:
            return part
    return None


def _inside(c, pattern, overwrites=False):
    if not is_host(pattern) or pattern.nvals * FEW > c.nvals:
        return None
    if len(c.shape) == 1:
        pattern = to_sparse(pattern)
    if overwrites:
        return Part(_nothing_in(c), None, pattern, keys_of(pattern))
    return Part(current().restrict(c, StoredMask(pattern)), None, pattern)


def _overwritten_rows(c, rows, J):
    """The rows `rows`, of which the columns J become the value."""
    starts, lengths = rows_csr(c, rows)
    rows_there, cols_there = rows.repeat(lengths), c.indices[ranges(starts, lengths)].astype(np.int64)
    cols = None
    if J is not None:
        cols = {J} if isinstance(J, int) else set(_distinct(J).tolist())
        inside = np.array([j in cols for j in cols_there.tolist()], np.bool_)
        rows_there, cols_there = rows_there[inside], cols_there[inside]
    return Part(_nothing_in(c), rows, None, (rows_there, cols_there), cols)


def _overwritten_columns(c, value, J, most):
    """All rows, of which the columns J become the value; the entries there are found by one pass over C's indices."""
    if not 0 < _count(J, 0) <= tuning.SHORT_INDEX or value is not EMPTY and value.nvals > most:
        return None
    cols = _distinct(J).tolist()
    at = [(c.indices == c.indices.dtype.type(j)).nonzero()[0] for j in cols]
    lengths = [places.shape[0] for places in at]
    if sum(lengths) > most:
        return None
    rows = c.indptr.searchsorted(np.concatenate(at), "right") - 1
    if c.rows is not None:
        rows = c.rows[rows]
    return Part(_nothing_in(c), None, None, (rows, np.array(cols, np.int64).repeat(lengths)), set(cols))


def _nothing_in(c):
    """The empty store of C's shape and type; no array of a dimension's length."""
    nothing = np.empty(0, np.int64)
    return store_of(c.shape, c.dtype, nothing, nothing, np.empty(0, c.dtype.np_type))


def _positions(c, rows, cols):
    return store_of(c.shape, BOOL, rows, cols, np.ones(cols.shape[0], np.bool_))


def _count(K, size):
    return size if K is None else 1 if isinstance(K, int) else len(K)


def _distinct(K):
    if isinstance(K, int):
        return np.array([K], np.int64)
    if len(K) <= tuning.SHORT_INDEX:
        return np.array(sorted({int(k) for k in K}), np.int64)
    return np.unique(np.asarray(K, np.int64))


def _entries(c, value, I, J, mask):
    """An upper bound of the entries of the value, spread over the region if it is a scalar."""
    if hasattr(value, "nvals"):
        return value.nvals
    count = _count(I, c.shape[0]) * (_count(J, c.shape[1]) if len(c.shape) == 2 else 1)
    if J is None and isinstance(I, int) and mask is not None and not mask.complement:
        count = min(count, mask.parent._store.nvals)  # a row under a mask: the scalar stands where the mask allows
    return count
