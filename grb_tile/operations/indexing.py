"""extract, assign and subassign.

Spec: GraphBLAS C API 2.1, sections 4.3.6 (extract) and 4.3.7 (assign); subassign: SuiteSparse:GraphBLAS 9.4 user
guide, section 11.8.

With R the region I x J and T the value placed there:

    assign      Z = C outside R, T inside (C (+) T with an accumulator); C<M,r> = Z, where the mask has C's shape and
                replace also clears outside R
    subassign   C(R)<M,r> = T, where the mask has the region's shape; nothing outside R changes

A row or column assign with a vector mask is the vector assign of that row or column.
"""

from functools import partial

import numpy as np

from ..backends.select import current
from ..dtypes import cast_scalar
from ..exceptions import CaptureError
from ..storage.constructors import (
    column_matrix,
    empty_matrix,
    empty_vector,
    full_matrix,
    full_vector,
    iso_like,
    row_matrix,
    vector_of_column,
    vector_of_row,
)
from ..storage.convert import to_sparse
from ..storage.place import first_value, is_host
from ..storage.store import Dense, StoredMask
from ..storage.turn_array import TurnArray
from . import checks
from .record import Record
from .write import (
    PLAIN,
    finish,
    finish_inside,
    finish_region,
    is_known_empty,
    keeps_outside,
    put_region,
    put_value,
    stored_mask,
)


class _Empty:
    """The empty scalar as the value of an assignment, which deletes the region's entries."""

    def __repr__(self):
        return "EMPTY"


EMPTY = _Empty()
_VALUE = (np.generic, np.ndarray)  # an array is a value of a sub-array type


def _is_scalar(value):
    return value is EMPTY or isinstance(value, _VALUE)


class Extract(Record):
    """t(k, l) = A(I(k), J(l)); an integer in place of I or J drops that dimension.  None stands for all."""

    __slots__ = ("x", "I", "J", "xt")
    name = "extract"

    def __init__(self, x, I, J=None, xt=False):
        self.x, self.I, self.J, self.xt = x, I, J, xt
        self.op, self.dtype = None, x.dtype
        if len(x.shape) == 1:
            self.shape = () if isinstance(I, int) else (x.shape[0] if I is None else len(I),)
        else:
            nrows, ncols = checks.oriented(x.shape, xt)
            shape = () if isinstance(I, int) else (nrows if I is None else len(I),)
            self.shape = shape if isinstance(J, int) else shape + (ncols if J is None else len(J),)

    def compute(self, mask=None):
        backend = current()
        store = self.x._store
        if store.format in ("sparse", "bitmap"):
            return self._of_vector(backend, store, mask)
        I, J = (self.J, self.I) if self.xt else (self.I, self.J)  # indices into the stored orientation
        if isinstance(I, int) and isinstance(J, int):
            found = backend.gather_matrix(store, _one(I), _one(J))
            return first_value(found) if found.nvals else None
        if isinstance(I, int):
            t = vector_of_row(backend.gather_matrix(store, _one(I), J))
        elif isinstance(J, int):
            forms = store.forms
            if forms is not None and "transpose" in forms:
                t = vector_of_row(backend.gather_matrix(backend.transpose(store), _one(J), I))
            else:
                t = vector_of_column(backend.gather_matrix(store, I, _one(J)))
        else:
            t = backend.gather_matrix(store, I, J)
            if self.xt:
                t = backend.transpose(t)
        return t if mask is None else backend.restrict(t, mask)

    def _of_vector(self, backend, store, mask):
        if isinstance(self.I, int):
            found = backend.gather_vector(store, _one(self.I))
            return first_value(to_sparse(found)) if found.nvals else None
        t = store if self.I is None else backend.gather_vector(store, self.I)
        return t if mask is None else backend.restrict(t, mask)

    def operands(self):
        return ((self.x, self.xt),)

    def extra(self):
        return tuple(_text(K) for K in ((self.I,) if len(self.x.shape) == 1 else (self.I, self.J)))

    def notation(self, out="C", mask="NULL", accum="NULL", flags=""):
        """As of every record; a line of a matrix is a column of it, or of its transpose: GrB_Col_extract."""
        if len(self.x.shape) == 1 or len(self.shape) != 1:
            return super().notation(out, mask, accum, flags)
        by_row = isinstance(self.I, int)
        K, line = (self.J, self.I) if by_row else (self.I, self.J)
        flags += "T0" if by_row != self.xt else ""
        parts = [out, mask, accum, *self.names(), _text(K), str(line), f"GrB_DESC_{flags}" if flags else "NULL"]
        return f"GrB_Col_extract({', '.join(parts)});"

    @property
    def c_name(self):
        return {2: "GrB_Matrix_extract", 1: "GrB_Vector_extract", 0: "GrB_extractElement"}[len(self.shape)]


def _one(i):
    """The range of one position."""
    return range(i, i + 1)


def _text(K):
    if K is None:
        return "GrB_ALL"
    if isinstance(K, int):
        return str(K)
    return f"[{' '.join(map(str, K))}]" if len(K) <= 8 else f"[{K[0]}, {K[1]}, ..., {K[-1]}]"


def assign(c, value, I, J=None, *, dtype, desc=PLAIN, subassign=False):
    """The store of C after an assignment; `value` is a store, a NumPy scalar or EMPTY (see the head of this file).

    I and J are int64 arrays (on the host or on the device), ranges, None for all, or (for matrices) a Python int, which
    assigns a vector to a row or column.
    """
    if not _is_scalar(value):
        value = current().to_device(value)
    if c.format in ("sparse", "bitmap"):
        return _assign_vector(c, value, I, dtype, desc, subassign)
    if isinstance(I, int) and isinstance(J, int):
        I, J = _one(I), _one(J)
    one_row, one_column = isinstance(I, int), isinstance(J, int)
    if not (I is None and J is None):
        after = _put_region(c, value, _one(I) if one_row else I, _one(J) if one_column else J, 0, dtype, desc)
        if after is not NotImplemented:
            return after
    if one_row or one_column:
        if desc.mask is None or len(desc.mask.parent.shape) == 1:
            return _assign_line(c, value, I, J, dtype, desc, subassign)
        I = _one(I) if one_row else I
        J = _one(J) if one_column else J
        if not _is_scalar(value):
            value = row_matrix(value) if one_row else column_matrix(value)
    return _assign_matrix(c, value, I, J, dtype, desc, subassign)


def fill(c, value, dtype, desc):
    """The store of the vector C after a NumPy scalar was written to all positions."""
    if desc.is_plain:
        value = cast_scalar(value, dtype)
        return c if _holds_everywhere(c, value, dtype) else full_vector(c.size, dtype, value)
    result = put_value(c, value, dtype, desc)
    return _assign_vector(c, value, None, dtype, desc, False) if result is NotImplemented else result


def _assign_line(c, value, I, J, dtype, desc, subassign):
    """Row or column assign: the vector assign of that line of C."""
    backend = current()
    by_row = isinstance(I, int)
    where = _one(I if by_row else J)
    K = J if by_row else I
    as_matrix = row_matrix if by_row else column_matrix
    place = (where, None) if by_row else (None, where)
    if desc.is_plain and K is None and value is EMPTY:
        return backend.outside(c, *place)
    empty = is_known_empty(c)
    if empty or desc.is_plain and K is None:  # what the line held does not matter
        line = empty_vector(c.ncols if by_row else c.nrows, c.dtype)
    elif by_row:
        line = vector_of_row(backend.gather_matrix(c, where, None))
    else:
        line = vector_of_column(backend.gather_matrix(c, None, where))
    line.shared = True  # it may have C's arrays
    after = backend.to_device(_assign_vector(line, value, K, dtype, desc, subassign))
    new = backend.expand_matrix(as_matrix(after), *place, c.nrows, c.ncols)
    if empty:
        return new
    covers = after.format == "bitmap" and after.words is None  # where both are present the line's entry stands
    return backend.union(c if covers else backend.outside(c, *place), new, None)


def _put_region(c, value, I, J, width, dtype, desc):
    """The store of C after the assignment by Backend.put_region, or NotImplemented."""
    backend = current()
    if (
        desc.mask is not None
        or value is EMPTY
        and not desc.is_plain
        or backend.updates_in_place
        and type(c) is not Dense
    ):
        return NotImplemented
    of_rows = len(c.shape) == 2 and type(c) is not Dense  # their entries, not their positions, are written
    if of_rows and (I is None or J is not None or not desc.is_plain or isinstance(value, _VALUE)):
        return NotImplemented
    if value is EMPTY:
        t = None
    elif of_rows and len(value.shape) == 1:
        t = row_matrix(value)
    elif isinstance(value, _VALUE):
        count = (c.shape[0] if I is None else len(I)) * (len(J) if J is not None else c.shape[1])
        t = full_vector(count, dtype, _cast(value, dtype))
    else:
        t = value
    return put_region(c, t, I, J, width, dtype, desc)


def _assign_vector(c, value, I, dtype, desc, subassign):
    backend = current()
    if desc.is_plain and _holds_everywhere(c, value, dtype):
        return c
    if type(I) is TurnArray:
        return _assign_at(c, value, I, dtype, desc, subassign)
    if I is not None:
        after = _put_region(c, value, I, _one(0), 1, dtype, desc)
        if after is not NotImplemented:
            return after
    mask = None
    if desc.mask is not None:
        mask = backend.to_device(
            stored_mask(desc.mask)
        )  # copied once; results made from its structure reside there too
    I, keep = backend.last_of_each(I, c.size)
    if keep is not None:
        if not _is_scalar(value):
            value = backend.gather_vector(value, keep)
        if subassign and mask is not None:
            mask = StoredMask(backend.gather_vector(mask.pattern, keep), mask.complement)
    if subassign and I is not None:
        if keeps_outside(mask, desc):
            return _subassign_inside(c, value, lambda u: backend.expand_vector(u, I, c.size), dtype, mask, desc)
        part = backend.gather_vector(c, I)
        old = backend.expand_vector(part, I, c.size)  # before `part` may be updated in place
        t = _values_in(value, len(I), None, dtype, mask)
        after = finish(part, t, dtype, mask, desc)
        rest = backend.restrict(c, StoredMask(old, True)) if old.nvals else c
        return backend.union(rest, backend.expand_vector(after, I, c.size), None)
    if I is None:
        return finish(c, _values_in(value, c.size, None, dtype, mask), dtype, mask, desc)
    t = _values_in(value, len(I), None, dtype, None)
    t = backend.expand_vector(t, I, c.size)
    if desc.is_plain and c.format == t.format == "sparse" and t.nvals != len(I):
        return backend.union(backend.outside(c, I, None), backend.cast(t, dtype), None)
    region = None if t.nvals == len(I) else partial(_deleted, c, t, I, dtype)
    return finish_region(c, t, region, dtype, mask, desc)


def _assign_at(c, value, I, dtype, desc, subassign):
    """_assign_vector at the positions of a TurnArray, which may have gaps where the value is a scalar."""
    mask = stored_mask(desc.mask)
    if value is EMPTY or subassign and mask is not None or isinstance(value, np.ndarray):
        raise CaptureError("programs: at positions of the loop masks of the whole vector alone, and no deletion")
    if isinstance(value, _VALUE):
        value = full_vector(I.store.size, dtype, _cast(value, dtype))
    elif value is not I.store and (value.nvals_if_read != value.size or I.store.size != value.size):
        raise CaptureError("programs: a vector with gaps is assigned at positions of the loop")
    t = current().expand_vector(value, I, c.size)
    return finish_region(c, t, None, dtype, mask, desc)


def _deleted(c, t, I, dtype):
    """The positions I of the vector C that an assignment of T deletes, T's included."""
    backend = current()
    if c.format == "sparse" and t.format == "sparse":  # C's entries in the region and T's: as many as there are
        old = backend.expand_vector(backend.gather_vector(c, I), I, c.size)
        return backend.union(backend.cast(old, dtype), t, None)
    return backend.expand_vector(full_vector(len(I), dtype, 1), I, c.size)


def _holds_everywhere(c, value, dtype):
    """Is C full and each entry the one value that is assigned?  Its size does not matter, then."""
    if not c.iso or c.nvals != c.size or c.format != "bitmap" or not is_host(c):
        return False
    if not _is_scalar(value):
        if not value.iso or value.nvals != value.size or value.size == 0 or not is_host(value):
            return False
        value = value.values[0]
    return value is not EMPTY and cast_scalar(value, dtype).tobytes() == c.values[0].tobytes()


def _assign_matrix(c, value, I, J, dtype, desc, subassign):
    backend = current()
    mask = stored_mask(desc.mask)
    (I, keep_rows), (J, keep_cols) = backend.last_of_each(I, c.nrows), backend.last_of_each(J, c.ncols)
    if keep_rows is not None or keep_cols is not None:
        if not _is_scalar(value):
            value = backend.gather_matrix(value, keep_rows, keep_cols)
        if subassign and mask is not None:
            mask = StoredMask(backend.gather_matrix(mask.pattern, keep_rows, keep_cols), mask.complement)
    shape = (c.nrows if I is None else len(I), c.ncols if J is None else len(J))
    if I is None and J is None:
        return finish(c, _values_in(value, *shape, dtype, mask), dtype, mask, desc)
    if desc.is_plain and value is EMPTY:
        return backend.outside(c, I, J)
    if subassign:
        if keeps_outside(mask, desc):
            expand = partial(backend.expand_matrix, I=I, J=J, nrows=c.nrows, ncols=c.ncols)
            return _subassign_inside(c, value, expand, dtype, mask, desc)
        part = backend.gather_matrix(c, I, J)
        t = _values_in(value, *shape, dtype, mask)
        after = finish(part, t, dtype, mask, desc)
        return backend.union(backend.outside(c, I, J), backend.expand_matrix(after, I, J, c.nrows, c.ncols), None)
    if isinstance(value, _VALUE) and mask is not None and not mask.complement:
        pattern = _in_region(mask.pattern, I, J)  # only where the mask allows: no |I| x |J| array
        t = iso_like(pattern, dtype, _cast(value, dtype))
    else:
        t = backend.expand_matrix(_values_in(value, *shape, dtype, None), I, J, c.nrows, c.ncols)
    if desc.is_plain and not is_known_empty(c):
        covered = type(c) is Dense and t.nvals_if_read == shape[0] * shape[1]
        rest = c if covered else backend.outside(c, I, J)  # where both are present T's entry stands
        return backend.union(rest, backend.cast(t, dtype), None)
    region = partial(_in_region, c, I, J)  # C's own entries there: all that can be deleted
    return finish_region(c, t, region, dtype, mask, desc)


def _subassign_inside(c, value, expand, dtype, mask, desc):
    """C(R)<M> (+)= T as C<M'> (+)= T', where M' and T' are moved to R: what C holds there is not gathered.

    expand: a function that moves a store of the region's shape to R.
    """
    if isinstance(value, _VALUE):
        inside = expand(mask.pattern)
        return finish_inside(c, iso_like(inside, dtype, _cast(value, dtype)), lambda: inside, dtype, desc)
    if value is EMPTY:
        t = empty_vector(c.size, dtype) if len(c.shape) == 1 else empty_matrix(c.nrows, c.ncols, dtype)
    else:
        t = expand(current().restrict(value, mask))
    return finish_inside(c, t, lambda: expand(mask.pattern), dtype, desc)


def _in_region(A, I, J):
    if is_known_empty(A):
        return A
    backend = current()
    return backend.expand_matrix(backend.gather_matrix(A, I, J), I, J, A.nrows, A.ncols)


def _cast(value, dtype):
    """The value cast to `dtype`; a value of a sub-array type stays an array."""
    return value if isinstance(value, np.ndarray) else cast_scalar(value, dtype)


def _values_in(value, nrows, ncols, dtype, mask):
    """The value as a store of the region's shape (ncols None: a vector), restricted to `mask`."""
    backend = current()
    if value is EMPTY:
        return empty_vector(nrows, dtype) if ncols is None else empty_matrix(nrows, ncols, dtype)
    if isinstance(value, _VALUE):
        value = _cast(value, dtype)
        if mask is not None and not mask.complement:
            return iso_like(mask.pattern, dtype, value)
        if ncols is None:
            t = full_vector(nrows, dtype, value)
        else:
            t = full_matrix(nrows, ncols, dtype, value)
        return t if mask is None else backend.restrict(t, mask)
    return value if mask is None else backend.restrict(value, mask)
