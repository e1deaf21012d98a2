"""The write step C<M,r> = C (+) T: mask, accumulator and replace are implemented in this file only.

A Descriptor carries the three from the call to here; others use its mask, `is_plain` and `reach`.

Spec: GraphBLAS C API 2.1, sections 3.5.4 (masks), 3.6 (descriptors) and 4.3 (accumulators).  Written out,

    Z = T                    without accumulator, else the union of C and T by the accumulator
    C = Z inside the mask, and the old entries of C outside it (none with replace)

    in C   in T   mask allows   | without accum   with accum    (outside: kept unless replace)
    yes    yes    yes           | T               C (+) T
    yes    no     yes           | deleted         C
    no     yes    yes           | T               T
    any    any    no            | C               C

An entry in only one of C and T is cast to C's type directly, not through the accumulator's type (as SuiteSparse).
T has no entries outside the mask, so the short forms below equal the composed one; a test of laws compares them.
"""

from contextlib import contextmanager

import numpy as np

from ..backends.select import current
from ..dtypes import cast, cast_scalar
from ..planner import tuning
from ..storage import bits
from ..storage.bits import scatter_words
from ..storage.constructors import bit_patterns
from ..storage.convert import choose_format, to_sparse
from ..storage.place import first_value, is_host
from ..storage.store import Dense, StoredMask, forms_of, full_values
from ..storage.update_entries import owns_arrays, replace_values as update_values, update_entries


class Descriptor:
    """How T is written into C: C<mask, replace> accum= T; never changed once made.

    mask      a mask of objects (`parent`, `structure`, `complement`), or None
    accum     a typed binary operator, or None
    replace   delete C's entries outside the mask; without a mask there are none
    is_plain  neither mask nor accumulator: C becomes T, and what C held does not matter
    is_anew   C becomes T, as with is_plain, or with a mask and replace: T has no entry outside the mask
    """

    __slots__ = ("accum", "is_anew", "is_plain", "mask", "replace")

    def __init__(self, mask=None, accum=None, replace=False):
        self.mask = mask
        self.accum = accum
        self.replace = replace
        self.is_plain = mask is None and accum is None
        self.is_anew = accum is None and (mask is None or replace)


PLAIN = Descriptor()


def stored_mask(mask):
    """StoredMask of a mask object (`parent`, `structure`, `complement`); None without a mask.

    A value mask is the structure of its true entries.
    """
    return None if mask is None else StoredMask(pattern_of(mask), mask.complement)


def pattern_of(mask):
    """The store whose structure is the mask, before the complement."""
    store = mask.parent._store
    return store if mask.structure else true_entries(store)


def true_entries(store):
    """The entries of `store` whose value is true in a mask; cached in store.forms for matrices.

    As in SuiteSparse:GraphBLAS that is any value with a bit that is set: NaN, and -0.0, too.
    """
    if store.iso:
        if store.nvals == 0 or any(np.asarray(first_value(store)).tobytes()):
            return store
    forms = store.forms
    if forms is not None and "true" in forms:
        return forms["true"]
    from ..operators import get_typed_op

    words = bit_patterns(store)
    zero = words.dtype.np_type.type(0)
    result = current().select(words, get_typed_op("valuene", words.dtype, kind="select"), zero)
    if result is words:
        result = store
    if len(store.shape) == 2:  # vectors may change in place, matrices do not
        forms_of(store)["true"] = result
    return result


def reach(c, desc, stored=None, t=None):
    """[(structure, overwrites), ...]: outside each structure (a store of C's shape) the write leaves C as it is;
    overwrites: inside it nothing depends on C's entries.  None where entries anywhere may be deleted.

    stored, t: the StoredMask and a store with an entry wherever T has one, where they are known.
    """
    mask, found = desc.mask, []
    if mask is not None and desc.replace:
        return None
    if desc.accum is not None and t is not None:
        found.append((t, False))
    if mask is not None and not mask.complement and len(mask.parent.shape) == len(c.shape):  # else that of a line
        found.append((pattern_of(mask) if stored is None else stored.pattern, desc.accum is None))
    return found


def write(c, record, dtype, desc=PLAIN):
    """The store of C after C<mask, replace> accum= record; `c` is C's store before, `dtype` C's type."""
    if not desc.is_anew:
        t, mask = compute(record, desc)
        return finish(c, t, dtype, mask, desc)
    mask = desc.mask  # as in `compute`; what C held does not matter
    if mask is not None:
        store = mask.parent._store
        mask = StoredMask(store if mask.structure else true_entries(store), mask.complement)
    t = record.compute(mask)
    return t if t.dtype is dtype else current().cast(t, dtype)


def compute(record, desc):
    """(T, the StoredMask): the record computed inside the mask, everywhere without one."""
    mask = desc.mask
    if mask is not None:
        store = mask.parent._store
        mask = StoredMask(store if mask.structure else true_entries(store), mask.complement)
    return record.compute(mask), mask


def finish(c, t, dtype, mask, desc):
    """The write step: T (inside `mask`, the mask) into C."""
    accum, clears = desc.accum, mask is not None and desc.replace
    if accum is None:
        if mask is None or clears or is_known_empty(c):
            return t if t.dtype is dtype else current().cast(t, dtype)
        if can_update_in_place(c, t):
            return _overwrite(c, t, dtype, mask)
        return current().overwrite(c, t if t.dtype is dtype else current().cast(t, dtype), mask)
    if can_update_in_place(c, t) and not clears:
        return _accumulate(c, t, dtype, accum)
    z = accumulate(c, t, dtype, accum)
    return current().restrict(z, mask) if clears else z


def finish_region(c, t, region, dtype, mask, desc):
    """The write step of an assignment to a region: T (all of it inside the region) into C.

    region: a function that gives the positions of C that are deleted before T is written, without an accumulator (the
    region, or C's entries there); None where they are T's.
    The mask has C's shape, so replace clears entries outside the mask inside the region and outside it.
    """
    backend, clears = current(), mask is not None and desc.replace
    if mask is not None:
        t = backend.restrict(t, mask)
    if clears:
        c.shared = True  # not in place: should the last step fail, C is as it was
    if desc.accum is not None:
        result = finish(c, t, dtype, None, desc)
    else:
        gone = t if region is None else region() if mask is None else backend.restrict(region(), mask)
        if region is not None and type(c) is Dense:  # is written at the mask alone, and T may have entries beside C's
            gone = backend.union(gone, backend.cast(t, gone.dtype), None)
        result = finish(c, t, dtype, StoredMask(gone), PLAIN)
    return backend.restrict(result, mask) if clears else result


def keeps_outside(mask, desc):
    """Does the write keep C's entries outside the structure of the mask, and depend on none of them?"""
    return mask is not None and not mask.complement and not desc.replace


def finish_inside(c, t, inside, dtype, desc):
    """The write step, T and the mask being inside a region of C; see keeps_outside.

    inside: a function that gives the structure of C's shape that the mask is: with an accumulator T's alone matters.
    """
    return finish(c, t, dtype, StoredMask(inside()) if desc.accum is None else None, desc)


def replace_entries(c, t, touched, own):
    """The store of C with T's entries at the positions of `touched` and C's own elsewhere: C<touched> = T.

    t, touched: host stores (sparse vectors or matrices); T has C's type and no entry outside `touched`.
    own: has the store C no other reference?  Its values may then change in place: an update of k existing entries costs
    k searches and k stores.
    """
    if is_known_empty(c):
        return choose_format(t) if is_host(c) else t
    if is_host(c):
        result = update_entries(c, t, touched, own and current().updates_in_place)
        if result is not NotImplemented:
            return result
    if not own:  # else, should this step fail after it has written, the entries are to be replaced again
        c.shared = True
    return current().overwrite(c, t, StoredMask(touched))


def replace_values(c, at, values, own):
    """`replace_entries` of entries that C has: `values`, of C's type, at the positions `at` of its values."""
    return update_values(c, at, values, own and current().updates_in_place)


def accumulate_chains(values, present, chains, accum, dtype):
    """values[k] (accum)= x for each x of chains[k], left to right; where not present[k] the first x is the start.

    Types: `values` (changed in place) and each x have C's type `dtype`; chains are not empty.
    """
    lengths = np.fromiter(map(len, chains), np.int64, len(chains))
    ranks, active = 0, np.arange(lengths.shape[0])
    subject = accum.type, accum.type2
    while active.shape[0] >= tuning.FOLDED_CHAINS:  # one NumPy call for all chains
        x = np.array([chains[k][ranks] for k in active.tolist()], dtype.np_type)
        old = values[active]
        z = cast(accum.numpy(cast(old, subject[0]), cast(x, subject[1])), dtype)
        values[active] = z if ranks else np.where(present[active], z, x)
        ranks += 1
        active = (lengths > ranks).nonzero()[0]
    for k in active.tolist():  # one chain after the other
        z, rest = values[k : k + 1], np.array(chains[k][ranks:], dtype.np_type)
        if ranks == 0 and not present[k]:
            z, rest = rest[:1], rest[1:]
        operands = cast(rest, subject[1])
        for at in range(operands.shape[0]):
            z = cast(accum.numpy(cast(z, subject[0]), operands[at : at + 1]), dtype)
        values[k : k + 1] = z


def accumulate_scalar(c, t, accum):
    """The table above for one position: NumPy scalars, None for an absent entry; the caller casts to C's type."""
    if accum is None or c is None:
        return t
    if t is None:
        return c
    return accum.numpy(cast(np.array([c]), accum.type), cast(np.array([t]), accum.type2))[0]


def put_value(c, value, dtype, desc):
    """The store of the vector C after C<M> = value (a NumPy scalar) by Backend.fill, or NotImplemented."""
    mask = desc.mask
    if desc.accum is not None or mask is None or mask.complement or desc.replace or c.nvals_if_read == 0:
        return NotImplemented
    backend = current()
    if not isinstance(value, np.generic) or backend.updates_in_place and c.size > tuning.MERGED_SIZE:
        return NotImplemented  # an assignment does as well
    return backend.fill(c, cast_scalar(value, dtype), pattern_of(mask))


def put_region(c, t, I, J, width, dtype, desc):
    """The store of C after C(I, J) (accum)= T without a mask by Backend.put_region, or NotImplemented."""
    if t is not None and t.dtype is not dtype:
        if desc.accum is not None:  # which casts T itself
            return NotImplemented
        t = current().cast(t, dtype)
    return current().put_region(c, t, I, J, width, desc.accum)


def is_known_empty(store):
    """Is the store known to be empty without a read-back?"""
    return store.nvals_if_read == 0


def accumulate(c, t, dtype, accum):
    """The union of C and T by the accumulator, in C's type; entries of one operand are cast to C's type directly."""
    backend = current()
    if t.nvals_if_read == 0:
        return c
    if c.nvals_if_read == 0:
        return t if t.dtype is dtype else backend.cast(t, dtype)
    return backend.union(c, t, accum, dtype=dtype)


# In-place updates of a bitmap vector with one reference: the work is that of T and the mask, not of the vector.


def can_update_in_place(c, t):
    """Is C a bitmap vector whose arrays have one reference, and has T less than size / 8 entries?

    A small C is merged as a whole, which takes less than the calls for T's positions.
    """
    if c.format != "bitmap" or c.size <= tuning.MERGED_SIZE or not is_host(c) or not current().updates_in_place:
        return False
    return t.nvals * tuning.OVERWRITTEN_SHARE <= c.size and owns_arrays(c)


def _overwrite(c, t, dtype, mask):
    """C = C without the allowed positions, plus T, in place."""
    if t.dtype is not dtype:
        t = current().cast(t, dtype)
    pattern, gone = mask.pattern, _NOWHERE
    covered = not mask.complement and pattern.nvals == t.nvals  # T fills the mask: nothing to delete
    if not covered:
        gone = to_sparse(current().restrict(c, mask)).indices
    t = to_sparse(t)
    with _restored(c, t.indices, gone):
        if gone.shape[0]:
            if c.words is None:
                c.words = bits.full(c.size)
            c.nvals -= current().clear_bits(c.words, gone)
        c.nvals += current().put_entries(c.words, c.values, t)
    return choose_format(c)


def _accumulate(c, t, dtype, accum):
    """C = C (+) T in place, at T's positions only."""
    t = to_sparse(t)
    where, values = t.indices, full_values(t)
    backend = current()
    if c.words is None and accum.positional is None:  # C has all of T's positions
        result = cast(accum.numpy(cast(c.values[where], accum.type), cast(values, accum.type2)), dtype)
        with _restored(c, where, _NOWHERE):
            c.values[where] = result
        return c
    fresh = backend.cast(t, dtype).values if t.dtype is not dtype else values
    common = backend.intersect(c, t, accum)
    if common.dtype is not dtype:
        common = backend.cast(common, dtype)
    common = to_sparse(common)
    with _restored(c, where, _NOWHERE):
        if common.nvals != where.shape[0]:
            c.values[where] = fresh
        c.values[common.indices] = common.values
        if c.words is not None and common.nvals != where.shape[0]:
            c.nvals += scatter_words(c.words, where, True)
    return c


_NOWHERE = np.empty(0, np.int64)


@contextmanager
def _restored(c, where, gone):
    """A change in place of the bitmap C at the positions `where` and, deleted, `gone`: undone if it is interrupted."""
    values, words, nvals = c.values[where], c.words, c.nvals
    fresh = _NOWHERE if words is None else where[~bits.test(words, where)]
    c.forms = None
    try:
        yield
    except BaseException:
        c.values[where] = values
        if words is not None:
            scatter_words(words, fresh, False)
            scatter_words(words, gone, True)
        c.words, c.nvals = words, nvals
        raise
