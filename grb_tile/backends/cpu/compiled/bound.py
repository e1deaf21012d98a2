"""Bound calls: what a primitive does with operands of given kinds is decided once and kept, as a prepared function.

The kind of an operand is what decisions about a call read of it: its type, iso or not, the type of its indices, its
form, has it every position.  An operator and the kinds of the operands decide which kernel runs, which values it reads,
what is cast, and the form of the result; a call looks its prepared function up and runs it:

    rows = Bound(prepare)                      prepare(semiring, kind of A, ...) -> function of A, x, mask
    rows[semiring, matrix_kind(A), ...](A, x, mask)

Kinds are those of small operands only, on which one thread works and whose dimensions allow arrays of their length;
matrix_kind and vector_kind return None for others, and a prepared function returns NotImplemented where it declines:
the general form of the primitive runs then.  A kernel that is not compiled yet is looked at in each call, so that a
function prepared before serves after; `forget` of the kernels drops all prepared functions.
"""

import numpy as np

from grb_tile.planner import tuning
from grb_tile.storage import convert
from grb_tile.storage.store import BitmapVector, SparseVector, forms_of

from ..jit import cache as jit
from ..jit.load import KernelError as KernelError  # what callers of a prepared function catch

MOST_ENTRIES = MOST_POSITIONS = tuning.BOUND_SIZE
NO_WORDS = np.zeros(0, np.uint64)
NO_FLIP, FLIP = np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
TRUE = np.ones(1, np.bool_)
INDEX = np.dtype(np.int32)  # of all positions of small operands

ABSENT, SOME, FULL = 0, 1, 2  # how many positions of a vector have an entry


def declines(*operands):
    """The prepared function of kinds for which there is none."""
    return NotImplemented


class Bound(dict):
    """(operator, kinds) -> the function that prepare(operator, kinds) returned; `declines` where it returned None."""

    def __init__(self, prepare):
        super().__init__()
        self.prepare = prepare
        jit.memos.append(self)

    def __missing__(self, kinds):
        made = self[kinds] = self.prepare(*kinds) or declines
        return made


# ---------------------------------------------------------------------- kinds


def matrix_kind(A):
    """(type, iso, index type) of a small CSR matrix with entries, kept with it; None for others."""
    forms = A.forms
    if forms is not None and "kind" in forms:
        return forms["kind"]
    kind = forms_of(A)["kind"] = _matrix_kind(A)
    return kind


def _matrix_kind(A):
    if A.rows is not None or not 0 < A.indices.shape[0] <= MOST_ENTRIES or max(A.nrows, A.ncols) > MOST_POSITIONS:
        return None
    if type(A.values) is not np.ndarray or A.values.dtype.names is not None or A.values.ndim != 1:
        return None
    return A.dtype, bool(A.iso), A.indices.dtype.char


def vector_kind(u):
    """(class, type, iso, ABSENT, SOME or FULL) of a small vector; None for others."""
    size = u.size
    if size > MOST_POSITIONS:
        return None
    count = u.nvals
    return type(u), u.dtype, u.iso, FULL if count == size else SOME if count else ABSENT


def mask_kind(mask):
    """None without a mask, else (class of the pattern, complement)."""
    return None if mask is None else (type(mask.pattern), mask.complement)


# ---------------------------------------------------------------------- vectors


_vector_kernels = Bound(lambda iso, value: jit.plain_kernel("vectors", X_ISO=iso, VALUE=value, INDEX=INDEX.char))


def vector_kernel(iso, np_type):
    """The Kernel that changes the form of small vectors whose values have that NumPy type."""
    return _vector_kernels[bool(iso), np_type.char]


def spread_words(u):
    """The presence bits of a small sparse vector, new; None while there is no kernel."""
    functions = _vector_kernels[True, "?"].of_small_calls(tuning.SMALL_FORM_SECONDS)
    if functions is None:
        return None
    words = np.zeros((u.size + 63) >> 6, np.uint64)
    functions.spread(u.indices, TRUE, words, TRUE)
    return words


def mask_words(mask):
    """(words, flip) of a small vector's mask, as kernels take them; no words where every position is admitted."""
    pattern = mask.pattern
    if type(pattern) is BitmapVector:
        words = pattern.words
    else:
        forms = pattern.forms
        words = None if forms is None else forms.get("words")
        if words is None and pattern.indices.shape[0] != pattern.size:
            words = spread_words(pattern)
            if words is None:
                words = convert.words_of(pattern)
            else:
                forms_of(pattern)["words"] = words
    if words is None:  # every position
        if not mask.complement:
            return NO_WORDS, NO_FLIP
        return np.zeros((pattern.size + 63) >> 6, np.uint64), NO_FLIP
    return words, FLIP if mask.complement else NO_FLIP


def listed(u):
    """A small vector as a SparseVector, as convert.to_sparse makes it."""
    words = u.words
    if words is None:
        return convert.to_sparse(u)
    if u.values.ndim != 1 or u.values.dtype.names is not None:
        return convert.to_sparse(u)
    functions = vector_kernel(u.iso, u.values.dtype).of_small_calls(tuning.SMALL_FORM_SECONDS)
    if functions is None:
        return convert.to_sparse(u)
    indices = np.empty(u.nvals, INDEX)
    if u.iso:
        functions.collect(words, u.values, indices, u.values)
        return convert.share(u, SparseVector(u.size, u.dtype, indices, u.values, True))
    values = np.empty(u.nvals, u.values.dtype)
    functions.collect(words, u.values, indices, values)
    return SparseVector(u.size, u.dtype, indices, values)


def result_of(size, dtype, words, values, count, iso):
    """The small vector of these bits and values, in the form that choose_format gives it."""
    if count == size:
        return BitmapVector(size, dtype, None, values, count, iso)
    made = BitmapVector(size, dtype, words, values, count, iso)
    return made if count * convert.BITMAP_TO_SPARSE >= size else listed(made)


def sparse_result(size, dtype, indices, values, iso):
    """The small vector of these entries, in the form that choose_format gives it."""
    made, count = SparseVector(size, dtype, indices, values, iso), indices.shape[0]
    if count * convert.SPARSE_TO_BITMAP <= size or count < convert.TINY and count != size:
        return made
    return bitmap_of(made)


def bitmap_of(u):
    """A small sparse vector as a BitmapVector, as convert.to_bitmap makes it."""
    if u.indices.shape[0] == u.size or u.values.ndim != 1 or u.values.dtype.names is not None:
        return convert.to_bitmap(u)
    functions = vector_kernel(u.iso, u.values.dtype).of_small_calls(tuning.SMALL_FORM_SECONDS)
    if functions is None:
        return convert.to_bitmap(u)
    words = np.zeros((u.size + 63) >> 6, np.uint64)
    if u.iso:
        functions.spread(u.indices, u.values, words, u.values)
        return convert.share(u, BitmapVector(u.size, u.dtype, words, u.values, u.indices.shape[0], True))
    values = np.zeros(u.size, u.values.dtype)
    functions.spread(u.indices, u.values, words, values)
    return BitmapVector(u.size, u.dtype, words, values, u.indices.shape[0])
