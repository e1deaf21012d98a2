"""Chains on a block of rows of a product that is not kept: select, then reduce (backends/protocol.py).

A block is (first row, entries of each row, columns, values) while it is in a core's cache; its arrays are reused after
`part` has returned.
"""

import numpy as np

from ....dtypes import cast
from ....operators import ANY
from ....storage.convert import choose_format
from ....storage.store import Compressed, SparseVector, index_dtype
from .entries import empty_matrix, reduce_by_key, reduce_segments
from .in_chunks import releases_the_lock
from .mapping import kept_of


def consumes(keep, monoid):
    """Can blocks be consumed by several threads?  Not by a user's Python function."""
    operators = [] if keep is None else [keep[0]]
    if monoid is not None:
        if monoid.type._is_udt or not (monoid.terminal is ANY or releases_the_lock(monoid.ufunc)):
            return False
        operators.append(monoid.binaryop)
    return all(getattr(op, "lowerable", True) for op in operators)


class ProductChain:
    """keep: (select operator, thunk) or None; monoid None: the entries that are kept, else reduced over `axis`."""

    def __init__(self, shape, dtype, keep, monoid, axis):
        self.shape, self.dtype, self.keep, self.monoid, self.axis = shape, dtype, keep, monoid, axis
        self.over = False  # the scalar has its terminal value: no other block changes it

    def part(self, first, counts, indices, values):
        """What a block leaves; None for nothing.  values: one for each entry, of the product's type."""
        if self.over or indices.shape[0] == 0:
            return None
        if self.keep is not None:
            rows = np.arange(first, first + counts.shape[0]).repeat(counts)
            op, thunk = self.keep
            kept = kept_of(op, values, rows, indices, thunk, indices.shape[0])
            if kept is not None:
                if kept.shape[0] == 0:
                    return None
                counts = np.bincount(rows[kept] - first, minlength=counts.shape[0])
                indices, values = indices[kept], values[kept]
        if self.monoid is None:
            return first, counts.copy(), indices.copy(), values.copy()
        monoid, values = self.monoid, cast(values, self.monoid.type)
        if self.axis is None:
            found = values[0] if monoid.terminal is ANY else monoid.reduce(values)
            self.over = self.over or (_has_terminal(monoid) and found == monoid.terminal)
            return found
        if self.axis == 0:
            columns, values, iso = reduce_by_key(indices, values, self.shape[1], monoid)
            return columns, np.repeat(values, columns.shape[0]) if iso else values.copy()
        rows = counts.nonzero()[0]
        starts = counts.cumsum()[rows] - counts[rows]
        values, _ = reduce_segments(values, starts, values.shape[0], monoid)
        return rows + first, values.copy()

    def result(self, parts):
        """The result of the blocks, whose parts are given in order."""
        parts = [part for part in parts if part is not None]
        if self.monoid is None:
            return self._kept(parts)
        if self.axis is None:
            if len(parts) < 2 or self.monoid.terminal is ANY:
                return parts[0] if parts else None
            return self.monoid.reduce(np.array(parts, self.monoid.type.np_type))
        size, dtype = self.shape[1 - self.axis], self.monoid.type
        if not parts:
            return SparseVector(size, dtype, np.empty(0, index_dtype(size)), np.empty(0, dtype.np_type))
        places, values = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        if self.axis == 0:
            places, values, iso = reduce_by_key(places, values, size, self.monoid)
            values = np.repeat(values, places.shape[0]) if iso else values
        return choose_format(SparseVector(size, dtype, places.astype(index_dtype(size), copy=False), values))

    def _kept(self, parts):
        nrows, ncols = self.shape
        if not parts:
            return empty_matrix(nrows, ncols, self.dtype)
        indptr = np.zeros(nrows + 1, np.int64)
        for first, counts, _, _ in parts:
            indptr[first + 1 : first + 1 + counts.shape[0]] = counts
        indptr.cumsum(out=indptr)
        indices, values = (np.concatenate([part[at] for part in parts]) for at in (2, 3))
        return choose_format(Compressed(nrows, ncols, self.dtype, indptr, indices, values))


def _has_terminal(monoid):
    return isinstance(monoid.terminal, (np.generic, int, float, bool))
