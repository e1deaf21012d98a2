"""C<M> = T for vectors in place, if C's arrays have no other reference.  Kernels: elementwise/overwrite.cuh.

A BFS step such as level(f.S) << depth then costs O(frontier), not O(vertices), and reads nothing back: the number of
entries stays on the device.
"""

import numpy as np

from ....storage import holders
from ....storage.store import same_structure
from ..runtime.late_vector import LateVector
from ..runtime.moves import copied
from ..structure.arrays import index_type, keeps_bitmap, moved_type, repeated, to_bitmap, words_of
from .bound import keep


def _is_own(device, count, array):
    """Has the array one reference, and is it no view?  count: the caller's holders.count_of of it."""
    return count <= holders.ONE and device.launcher.is_whole(array)


def overwrite(device, c, t, mask):
    """The store of C after C<mask> = T, T of C's type and inside `mask`; NotImplemented if not in place."""
    pattern, complement = mask.pattern, mask.complement
    if not complement and same_structure(t, pattern):
        return put(device, c, t, t.values, t.iso)
    if c.dtype._is_udt or c.format[-1] == "r" or c.size == 0:
        return NotImplemented
    if t.format == "sparse":
        if not t.iso or not keeps_bitmap(device, c.size, c.values.dtype.itemsize):
            return NotImplemented
        t = to_bitmap(device, t)
    c = _writable(device, c)
    if c is None:
        return NotImplemented
    mask_words = words_of(device, pattern)
    if mask_words is None:  # everything is allowed, or nothing
        return t if not complement else c
    return _write_words(device, c, t, t.values, t.iso, mask_words, complement)


def put(device, c, at, values, iso):
    """The store of C after C<at> = values, `values` of C's type: C gets an entry at each position of the vector `at`.

    values: one for each entry of `at`, or one for all when iso.  NotImplemented where it cannot be in place.
    """
    if c.dtype._is_udt or c.format[-1] == "r" or c.size == 0:
        return NotImplemented
    if at.nvals_if_read == 0:
        return c
    c = _writable(device, c)
    if c is None:
        return NotImplemented
    if at.format == "bitmap":
        return _write_words(device, c, at, values, iso, None, False)
    n, (known, count) = at.indices.shape[0], _counting(device, c)
    key = "overwrite_listed", at.indices.dtype, c.values.dtype
    (device.prepared.get(key) or _prepared(device, key, at.indices, c.values))(
        n, (c.words, c.values, at.indices, values, iso, n, known, count)
    )
    return _counted(c, count, n)


def _prepared(device, key, *arrays):
    """The launch of the kernel that key[0] names for arrays of these types, kept with the device."""
    types = *map(index_type, arrays[:-1]), moved_type(arrays[-1])
    return keep(device, key, device.launcher.kernel("elementwise/overwrite.cuh", key[0], "", types).over)


def _write_words(device, c, t, values, iso, mask, complement):
    size, (known, count) = c.size, _counting(device, c)
    key = "overwrite_words", c.values.dtype
    (device.prepared.get(key) or _prepared(device, key, c.values))(
        (size + 31) >> 5, (c.words, c.values, t.words, values, iso, mask, complement, size, known, count)
    )
    return _counted(c, count, t.estimated_nvals)


def _counting(device, c):
    """(entries of C that are not in `count` yet, the device array `count`)"""
    if c.nvals_if_read is None and (counter := c.counter) is not None:  # a traversal's is read now
        return 0, counter
    return c.nvals, device.counters()


def _counted(c, count, more):
    c.forms = None
    estimate = c.estimated_nvals + more
    c.recount(count, estimate if estimate < c.size else c.size)
    return c


def _writable(device, c):
    """`c` as a LateVector whose arrays have no other reference: itself or a copy; None if a copy costs too much."""
    size = c.size
    if c.format == "sparse":
        if not keeps_bitmap(device, size, c.values.dtype.itemsize):
            return None
        values, words = device.empty(size, c.values.dtype), device.zeros((size + 63) >> 6, np.uint64)
        found = device.counters()
        n = c.indices.shape[0]
        kernel = device.launcher.kernel(
            "elementwise/overwrite.cuh", "overwrite_listed", "", (index_type(c.indices), moved_type(values))
        )
        kernel.over(n, (words, values, c.indices, c.values, c.iso, n, 0, found))
        return LateVector(device, size, c.dtype, words, values, found, estimate=n)
    if c.words is None:
        return None
    own = (
        not c.shared
        and not c.iso
        and _is_own(device, holders.count_of(c.values), c.values)
        and _is_own(device, holders.count_of(c.words), c.words)
    )
    if own and type(c) is LateVector:
        return c
    if own:
        values, words = c.values, c.words
    elif c.iso:
        values, words = repeated(device, c.values, size), copied(device, c.words)
    else:
        values, words = copied(device, c.values), copied(device, c.words)
    result = LateVector(device, size, c.dtype, words, values, None, estimate=c.estimated_nvals)
    counter = c.counter if type(c) is LateVector and c.nvals_if_read is None else None
    if counter is None:
        result.nvals = c.nvals
    else:
        result.recount(copied(device, counter), c.estimated_nvals)
    return result
