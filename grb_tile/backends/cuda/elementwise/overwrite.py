"""C<M> = T for vectors in place, if C's arrays have no other reference.  Kernels: elementwise/overwrite.cuh.

A BFS step such as level(f.S) << depth then costs O(frontier), not O(vertices), and reads nothing back: the number of
entries stays on the device.
"""

import numpy as np

from ....storage import holders
from ....storage.convert import BITMAP_TO_SPARSE, share
from ....storage.store import BitmapVector, same_structure
from ..runtime.late_vector import LateVector
from ..runtime.moves import copied
from ..structure.arrays import (
    as_type,
    index_type,
    keeps_bitmap,
    moved_type,
    repeated,
    to_bitmap,
    to_sparse,
    words_of,
)
from ..structure.index_lists import last_places, positions_of
from ..structure.outside import outside
from ..structure.positions import OR, join_words
from .bound import computes, functor_text, keep

_INT64 = np.dtype(np.int64)
_ONE = range(1)


def _is_own(device, count, array):
    """Has the array one reference, and is it no view?  count: the caller's holders.count_of of it."""
    return count <= holders.ONE and device.launcher.is_whole(array)


def overwrite(device, c, t, mask):
    """The store of C after C<mask> = T, T of C's type and inside `mask`; NotImplemented if not in place."""
    pattern, complement = mask.pattern, mask.complement
    if not complement and same_structure(t, pattern):
        return put(device, c, t, t.values, t.iso)
    if not complement and t.nvals_if_read == 0 and c.format == "bitmap" and pattern.format == "sparse":
        return put_region(device, c, None, as_type(device, pattern.indices, _INT64), _ONE, 1, None)
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
    c = _writable(device, c, full=True)
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


def put_region(device, c, t, I, J, width, accum):
    """Semantics: backends/indices.py.  In one launch, and two more for a list that may have a position twice."""
    across, size, dtype = len(J), c.size, c.dtype
    n = len(I) * across
    if dtype._is_udt or device.turns is not None or n >= 1 << 31:
        return NotImplemented
    if t is None and c.format == "sparse":
        return outside(device, c, I, None) if width == 1 else NotImplemented
    if accum is not None and not (computes(accum, dtype) and accum.type is accum.type2 is dtype):
        return NotImplemented
    if n == 0 or size == 0:
        return c
    if t is not None:
        t = to_bitmap(device, t)
    gaps = accum is None and (t is None or t.words is not None)
    if t is None:
        c = _apart(device, c)
    elif (c := _writable(device, c, full=True)) is None:
        return NotImplemented
    elif gaps and c.words is None:
        c = _apart(device, c)
    lists = [None if type(K) is range else positions_of(device, K) for K in (I, J)]
    once = t is None or accum is None and t.words is None and t.iso  # then it does not matter which place is the last
    last = [None if once else last_places(device, K, end) for K, end in ((I, size // width), (J, width))]
    axes = []
    for K, given, places in zip((I, J), lists, last, strict=True):
        axes += (given, *((K.start, K.step) if given is None else (0, 0)), places)
    known, count = _counting(device, c)
    key = "overwrite_region", dtype, accum
    over = device.prepared.get(key)
    if over is None:
        types = (moved_type(c.values), "Fresh") if accum is None else (dtype.cuda_type, "Op")
        text = "" if accum is None else functor_text(accum, dtype)
        over = keep(device, key, device.launcher.kernel("elementwise/overwrite.cuh", key[0], text, types).over)
    t_words, t_values, t_iso = (None, None, False) if t is None else (t.words, t.values, t.iso)
    over(n, (
        c.words, c.values, width, *axes, across, t_words, t_values, t_iso, accum is not None, n, known, count,
    ))  # fmt: skip
    result = _counted(c, count, 0 if t is None else n)
    if gaps and not keeps_bitmap(device, size, dtype.np_type.itemsize) and result.nvals * BITMAP_TO_SPARSE < size:
        return to_sparse(device, result)
    return result


def _apart(device, c):
    """The bitmap C with presence words of its own, from which bits may be cleared; the values are C's."""
    if c.words is None:
        words, count = join_words(device, None, None, c.size, OR)
        return share(c, LateVector(device, c.size, c.dtype, words, c.values, count, c.iso, estimate=c.size))
    return share(c, _counted_as(device, c, copied(device, c.words), c.values, c.iso))


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
    if c.words is None:
        return 0, device.counters()
    if c.nvals_if_read is None and (counter := c.counter) is not None:  # a traversal's is read now
        return 0, counter
    return c.nvals, device.counters()


def _counted(c, count, more):
    c.forms = None
    if c.words is None:  # full, as before
        return c
    estimate = c.estimated_nvals + more
    c.recount(count, estimate if estimate < c.size else c.size)
    return c


def _writable(device, c, full=False):
    """`c` as a LateVector whose arrays have no other reference: itself or a copy; None if a copy costs too much.

    full: a full C as a BitmapVector without words; else None.
    """
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
        if not full:
            return None
        if c.iso:
            values = repeated(device, c.values, size)
        elif c.shared or not _is_own(device, holders.count_of(c.values), c.values):
            values = copied(device, c.values)
        else:
            values = c.values
        return BitmapVector(size, c.dtype, None, values, size)
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
    return _counted_as(device, c, words, values, False)


def _counted_as(device, c, words, values, iso):
    """The LateVector of these arrays with as many entries as the bitmap C has now."""
    result = LateVector(device, c.size, c.dtype, words, values, None, iso, estimate=c.estimated_nvals)
    counter = c.counter if type(c) is LateVector and c.nvals_if_read is None else None
    if counter is None:
        result.nvals = c.nvals
    else:
        result.recount(copied(device, counter), c.estimated_nvals)
    return result
