"""DenseForms: the primitives that have a method for dense matrices (storage/dense.py), the same for every backend.

A dense matrix is a vector of nrows * ncols positions, so that what works position by position is the method of vectors
with the matrix's flat vector in its place; a sparse operand or mask beside it becomes the sparse vector of its
positions row * ncols + column, in time proportional to its entries.  All other primitives, and operators that read
rows and columns, get the entries as CSR, which the matrix keeps (`Dense` in storage/store.py).

>>> import grb_tile as gb
>>> A = gb.Matrix.from_dense([[1.0, 2.0], [3.0, 4.0]])
>>> A.ss.format, (A * 2).new().ss.format, (A @ A).new().to_dense().tolist()
('fullr', 'fullr', [[7.0, 10.0], [15.0, 22.0]])
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from ..dtypes import BOOL, cast
from ..operators import typed_semiring
from ..planner import tuning
from ..storage.constructors import empty_matrix, empty_vector, full_vector
from ..storage.convert import MAX_BITMAP, share
from ..storage.dense import (
    DENSE_FORMATS,
    MOST_POSITIONS,
    by_rows,
    compressed,
    flat_of,
    in_order,
    line_numbers,
    matrix_of,
    to_dense,
    transposed,
    writable_flat,
)  # fmt: skip
from ..storage.host_memory import check_memory
from ..storage.place import at, first_value, host, is_host
from ..storage.store import BitmapVector, Compressed, Dense, SparseVector, StoredMask, index_dtype, same_structure
from ..storage.update_entries import update_entries
from .dense_products import is_plus, matvec, product
from .dense_regions import joined, put_full, region, reshaped
from .protocol import Backend


def reads_positions(op: Any) -> bool:
    """Does the operator, or may it, read the row or the column of an entry?"""
    return op is not None and (op.positional is not None or not {1, 2}.isdisjoint(getattr(op, "uses", ())))


class Frame:
    """The shape and order in which operands are vectors."""

    __slots__ = ("backend", "by_columns", "given", "ncols", "nrows")

    def __init__(self, backend, nrows, ncols, by_columns):
        self.backend, self.nrows, self.ncols, self.by_columns = backend, nrows, ncols, by_columns
        self.given = []

    def flat(self, x):
        """The vector of a matrix, or the StoredMask of a mask's vector; None for None."""
        if x is None:
            return None
        if type(x) is StoredMask:
            return StoredMask(self.flat(x.pattern), x.complement)
        if type(x) is Dense:
            flat = in_order(x, self.by_columns).flat
            self.given.append(flat)
            return flat
        return flat_of(x, self.backend.line_numbers)

    def matrix(self, t, dense=False):
        """The matrix of a vector; where that is an operand's own, both are `shared`."""
        for flat in self.given:
            if t is flat:
                t.shared = True
        return matrix_of(t, self.nrows, self.ncols, self.by_columns, dense)


class DenseForms(Backend):
    """Mixin before a backend's own primitives: those of dense matrices.  Meanings: backends/protocol.py."""

    def _check_host_memory(self, wanted, nrows, ncols):
        if not self.on_device:
            check_memory(wanted, f"a dense matrix of {nrows} x {ncols}")

    def _frame(self, op, *operands, width=0):
        """The Frame in which the operands (None is skipped) are vectors; None where they are to be CSR.

        width: bytes of a value that the result may have at every position, where an operand is iso.
        Raises: OutOfMemory where the result does not fit.
        """
        first, sparse, udt = None, False, False
        for x in operands:  # this is part of every call: loops in place of comprehensions
            if x is None:
                continue
            if type(x) is StoredMask:
                x = x.pattern
            udt = udt or x.dtype._is_udt
            if type(x) is not Dense:
                sparse = True
            elif first is None:
                first = x
        if first is None or reads_positions(op) or self.on_device and udt:
            return None
        if sparse:  # they are row-major
            if first.flat.size > MOST_POSITIONS:
                return None
            if first.flat.words is None and first.iso:  # the result may need presence bits, and values
                self._check_host_memory(first.flat.size // 8 + first.flat.size * width, first.nrows, first.ncols)
            return Frame(self, first.nrows, first.ncols, False)
        return Frame(self, first.nrows, first.ncols, first.by_columns)

    def _all_here(self, *operands):
        """The operands with arrays where this backend computes."""
        if not self.on_device:
            return operands
        return [x if x is None else self.to_device(x) for x in operands]

    def _positions(self, I, J, lines, width):
        """Positions of the region I x J (None: all) of `lines` lines of `width`, line by line: a range, or an array."""
        I, J = range(lines) if I is None else I, range(width) if J is None else J
        found = self._range_of(I, J, width)
        return self.region_positions(I, J, width) if found is None else found

    def _range_of(self, I, J, width):
        """_positions where they are a range; else None."""
        if type(I) is range and type(J) is range:
            if len(I) == 1:
                return range(I[0] * width + J.start, I[0] * width + J.stop, J.step)
            if len(J) == 1:
                return range(I.start * width + J[0], I.stop * width + J[0], I.step * width)
            if I.step == J.step == 1 and len(J) == width:
                return range(I.start * width, I.stop * width)
        if type(I) is np.ndarray and len(I) == 1:
            return self._range_of(range(int(I[0]), int(I[0]) + 1), J, width)
        return None

    # ------------------------------------------------------------------ placement

    def to_device(self, operand):
        if type(operand) is Dense:
            return operand.with_flat(super().to_device(operand.flat))
        if type(operand) is StoredMask and type(operand.pattern) is Dense:
            pattern = self.to_device(operand.pattern)
            return operand if pattern is operand.pattern else StoredMask(pattern, operand.complement)
        return super().to_device(operand)

    def copy_here(self, store):
        if type(store) is Dense:
            return store.with_flat(super().copy_here(store.flat))
        return super().copy_here(store)

    # ------------------------------------------------------------------ structure

    def convert(self, store, format):
        if format in DENSE_FORMATS:
            return to_dense(self.to_device(store), format)
        return super().convert(compressed(store), format)

    def cast(self, store, dtype):
        if type(store) is Dense:
            return store.with_flat(super().cast(store.flat, dtype))
        return super().cast(store, dtype)

    def transpose(self, A):
        return transposed(A) if type(A) is Dense else super().transpose(A)

    def tuples_matrix(self, A):
        return super().tuples_matrix(compressed(A))

    def tuples(self, x):
        return super().tuples(compressed(x))

    def gather_matrix(self, A, I, J):
        if type(A) is not Dense:
            return super().gather_matrix(A, I, J)
        if I is None and J is None:
            return A
        nrows, ncols = A.nrows if I is None else len(I), A.ncols if J is None else len(J)
        if nrows * ncols == 0 or A.flat.size > MOST_POSITIONS and not (A.iso and A.flat.words is None):
            return super().gather_matrix(by_rows(A), I, J)
        if A.iso and A.flat.words is None:
            return Dense(nrows, ncols, _iso_full(A.flat, nrows * ncols), A.by_columns)
        lines, width = (A.ncols, A.nrows) if A.by_columns else (A.nrows, A.ncols)
        I, J = (J, I) if A.by_columns else (I, J)
        if A.flat.words is None and not A.dtype._is_udt and not self.on_device:
            flat = at(A, lambda xp: region(self, xp, A.flat, lines, width, I, J))
            return Dense(nrows, ncols, flat, A.by_columns)
        I, J = range(lines) if I is None else I, range(width) if J is None else J
        where = self._range_of(I, J, width)
        flat = self.gather_region(A.flat, I, J, width) if where is None else self.gather_vector(A.flat, where)
        return matrix_of(flat, nrows, ncols, A.by_columns)

    def expand_matrix(self, A, I, J, nrows, ncols):
        if type(A) is not Dense or nrows * ncols > MOST_POSITIONS or A.flat.size > MAX_BITMAP:
            return super().expand_matrix(compressed(A), I, J, nrows, ncols)
        lines, width = (ncols, nrows) if A.by_columns else (nrows, ncols)
        own = A.ncols if A.by_columns else A.nrows, A.nrows if A.by_columns else A.ncols
        I, J = (J, I) if A.by_columns else (I, J)
        I, J = range(own[0]) if I is None else I, range(own[1]) if J is None else J
        flat = self.expand_vector(A.flat, self._positions(I, J, lines, width), nrows * ncols)
        return matrix_of(flat, nrows, ncols, A.by_columns)

    def reshape_matrix(self, A, nrows, ncols):
        return reshaped(A, nrows, ncols) if type(A) is Dense else super().reshape_matrix(A, nrows, ncols)

    def put_region(self, c, t, I, J, width, accum):
        if type(c) is not Dense:
            return super().put_region(c, None if t is None else compressed(t), I, J, width, accum)
        if c.flat.size > MAX_BITMAP:
            return NotImplemented
        lines, width = (c.ncols, c.nrows) if c.by_columns else (c.nrows, c.ncols)
        I, J = (J, I) if c.by_columns else (I, J)
        if not self.on_device:
            return put_full(c, t, I, J, lines, width, accum)
        I, J = range(lines) if I is None else I, range(width) if J is None else J
        if type(t) is Dense:
            t = in_order(self.to_device(t), c.by_columns).flat
        elif t is not None and t.format not in ("sparse", "bitmap"):
            return NotImplemented
        flat = super().put_region(writable_flat(c, c.by_columns), t, I, J, width, accum)
        return flat if flat is NotImplemented else matrix_of(flat, c.nrows, c.ncols, c.by_columns)

    def concat_matrices(self, tiles, dtype):
        found = [A for row in tiles for A in row if A.nrows and A.ncols]
        full = all(type(A) is Dense and A.flat.words is None for A in found)
        nrows, ncols = sum(row[0].nrows for row in tiles), sum(A.ncols for A in tiles[0])
        dense = found and all(type(A) is Dense for A in found) and not dtype._is_udt
        if dense and self.on_device and not full and nrows * ncols <= MAX_BITMAP:
            flat = self._put_tiles(tiles, nrows, ncols, dtype)
            if flat is not NotImplemented:
                return matrix_of(flat, nrows, ncols)
        if not dense or self.on_device and not full:
            return super().concat_matrices(_deep(tiles), dtype)
        tiles = [[self.cast(A, dtype) for A in self._all_here(*row)] for row in tiles]
        if full and all(A.iso for row in tiles for A in row) and nrows * ncols > MAX_BITMAP:
            values = [A for row in tiles for A in row if A.nrows and A.ncols]
            if len({first_value(A.flat).tobytes() for A in values}) == 1:
                return Dense(nrows, ncols, _iso_full(values[0].flat, nrows * ncols))
        self._check_host_memory(nrows * ncols * (dtype.np_type.itemsize + (not full)), nrows, ncols)
        flat = self.run_reported(lambda: joined(self.xp, tiles, nrows, ncols, dtype, full), "concat")
        return matrix_of(flat, nrows, ncols)

    def _put_tiles(self, tiles, nrows, ncols, dtype):
        """The row-major vector of a grid of dense tiles, written one after the other; NotImplemented: as put_region."""
        flat, top = empty_vector(nrows * ncols, dtype), 0
        for row in tiles:
            left = 0
            for A in row:
                if A.nrows and A.ncols:
                    t = self.cast(in_order(self.to_device(A), False).flat, dtype)
                    rows, columns = range(top, top + A.nrows), range(left, left + A.ncols)
                    flat = super().put_region(flat, t, rows, columns, ncols, None)
                    if flat is NotImplemented:
                        return flat
                left += A.ncols
            top += row[0].nrows
        return flat

    def outside(self, A, I, J):
        if type(A) is not Dense or A.flat.size > MAX_BITMAP:
            return super().outside(compressed(A), I, J)
        if I is None and J is None:
            return empty_matrix(A.nrows, A.ncols, A.dtype)
        lines, width = (A.ncols, A.nrows) if A.by_columns else (A.nrows, A.ncols)
        where = self._positions(*((J, I) if A.by_columns else (I, J)), lines, width)
        region = self.expand_vector(full_vector(len(where), BOOL, True), where, A.flat.size)
        return matrix_of(super().restrict(A.flat, StoredMask(region, True)), A.nrows, A.ncols, A.by_columns)

    # ------------------------------------------------------------------ products

    def dense_product(self, A, B, semiring, mask=None, notes=None):
        if any(x.dtype._is_udt for x in (A, B)):
            return None
        return product(self, *self._all_here(A, B), semiring, mask if mask is None else self.to_device(mask), notes)

    def dense_matvec(self, A, x, semiring, mask=None):
        A, x, mask = self._all_here(A, x, mask)
        return matvec(self, A, x, semiring, mask) if self.on_device else super().dense_matvec(A, x, semiring, mask)

    def matmul(self, A, B, semiring, mask=None, plan=None, BT=None, keep=None):
        if type(A) is Dense or type(B) is Dense or type(BT) is Dense or mask is not None:
            A, B, mask, BT = compressed(A), compressed(B), compressed(mask), compressed(BT)
        return super().matmul(A, B, semiring, mask, plan, BT, keep)

    # ------------------------------------------------------------------ element-wise

    def union(self, x, y, op, mask=None, left_default=None, right_default=None, dtype=None):
        if type(x) is Dense or type(y) is Dense or mask is not None and type(mask.pattern) is Dense:
            x, y, mask = self._all_here(x, y, mask)
            width = 0 if x.iso and y.iso else x.dtype.np_type.itemsize
            frame = self._frame(op, x, y, mask, width=width)
            if frame is not None:
                f = frame.flat
                return frame.matrix(super().union(f(x), f(y), op, f(mask), left_default, right_default, dtype))
            x, y, mask = compressed(x), compressed(y), compressed(mask)
        return super().union(x, y, op, mask, left_default, right_default, dtype)

    def intersect(self, x, y, op, mask=None):
        if type(x) is Dense or type(y) is Dense or mask is not None and type(mask.pattern) is Dense:
            x, y, mask = self._all_here(x, y, mask)
            x, y = _one_value_beside(x, y), _one_value_beside(y, x)
            frame = self._frame(op, x, y, mask)
            if frame is not None:
                return frame.matrix(super().intersect(frame.flat(x), frame.flat(y), op, frame.flat(mask)))
            x, y, mask = compressed(x), compressed(y), compressed(mask)
        return super().intersect(x, y, op, mask)

    def restrict(self, x, mask):
        if type(x) is Dense or type(mask.pattern) is Dense:
            x, mask = self._all_here(x, mask)
            if not mask.complement:
                x = _one_value_beside(x, mask.pattern)
                if type(x) is not Dense and type(mask.pattern) is not Dense:
                    return x
            frame = self._frame(None, x, mask)
            if frame is not None:
                return frame.matrix(super().restrict(frame.flat(x), frame.flat(mask)))
            x, mask = compressed(x), compressed(mask)
        return super().restrict(x, mask)

    def select(self, x, op, thunk, mask=None):
        if type(x) is Dense or mask is not None and type(mask.pattern) is Dense:
            x, mask = self._all_here(x, mask)
            frame = self._frame(op, x, mask)
            if frame is not None:
                return frame.matrix(super().select(frame.flat(x), op, thunk, frame.flat(mask)))
            x, mask = compressed(x), compressed(mask)
        return super().select(x, op, thunk, mask)

    def apply(self, x, op, mask=None, left=None, right=None, thunk=None):
        if type(x) is Dense or mask is not None and type(mask.pattern) is Dense:
            x, mask = self._all_here(x, mask)
            frame = self._frame(op, x, mask)
            if frame is not None:
                return frame.matrix(super().apply(frame.flat(x), op, frame.flat(mask), left, right, thunk))
            x, mask = compressed(x), compressed(mask)
        return super().apply(x, op, mask, left, right, thunk)

    def reduce(self, x, monoid):
        return super().reduce(x.flat if type(x) is Dense else x, monoid)

    def is_equal(self, x, y, op, tolerance=None):
        if self.on_device and (type(x) is Dense or type(y) is Dense):
            x, y = self._all_here(x, y)
            frame = self._frame(None, x, y)
            x, y = (compressed(x), compressed(y)) if frame is None else (frame.flat(x), frame.flat(y))
        return super().is_equal(x, y, op, tolerance)

    def reduce_lines(self, A, monoid, axis):
        """w[i] = (+)_j A[i,j] (axis 1) or w[j] = (+)_i A[i,j] (axis 0) of a full A; NotImplemented otherwise."""
        flat = A.flat
        if flat.words is not None or A.dtype._is_udt or flat.iso and self.on_device:
            return NotImplemented
        if flat.iso:
            count, size = (A.ncols, A.nrows) if axis == 1 else (A.nrows, A.ncols)
            return full_vector(size, monoid.return_type, super().reduce(_iso_full(flat, count), monoid))
        lines, width = (A.ncols, A.nrows) if A.by_columns else (A.nrows, A.ncols)
        along = 1 if (axis == 1) != A.by_columns else 0  # the axis of lines x width that is reduced
        if not self.on_device and monoid.ufunc in _UFUNCS:
            flat = host(flat)
            values = cast(flat.values, monoid.type).reshape(lines, width)
            with np.errstate(all="ignore"):
                w = cast(monoid.ufunc.reduce(values, along, dtype=values.dtype), monoid.return_type)
        elif along == 0:
            rows, C = Dense(lines, width, flat), NotImplemented
            if self.on_device and A.dtype is monoid.type and is_plus(monoid):  # a library's product, where it has one
                ones = at(A, lambda xp: xp.ones(lines, A.dtype.np_type))
                row = Dense(1, lines, BitmapVector(lines, A.dtype, None, ones, lines))
                C = self.dense_matmul(row, rows, typed_semiring(monoid, "times"))
            if C is NotImplemented:
                C = self.spmm(at(A, lambda xp: _row_of_ones(xp, lines)), rows, typed_semiring(monoid, "second"))
            return C if C is NotImplemented else C.flat
        else:
            return NotImplemented
        return BitmapVector(w.shape[0], monoid.return_type, None, w, w.shape[0])

    def broadcast(self, u, pattern, axis):
        if type(pattern) is not Dense or not _is_full(pattern.flat) or not _is_full(u) or u.dtype._is_udt:
            return super().broadcast(u, compressed(pattern), axis)
        nrows, ncols, size = pattern.nrows, pattern.ncols, pattern.flat.size
        u = self.to_device(u)
        if u.iso:
            return Dense(nrows, ncols, _iso_full(u, size))
        self._check_host_memory(size * u.values.itemsize, nrows, ncols)
        along = (axis == 1) != pattern.by_columns  # u goes along each line
        times = size // u.size

        def spread(xp):
            return xp.tile(u.values, times) if along else xp.repeat(u.values, times)

        return Dense(nrows, ncols, BitmapVector(size, u.dtype, None, at(u, spread), size), pattern.by_columns)

    def broadcast_over(self, u, A, axis):
        if type(A) is Dense and _is_full(A.flat) and _is_full(u) and not u.dtype._is_udt:
            return A, self.broadcast(u, A, axis)
        return super().broadcast_over(u, compressed(A), axis)

    def _are_few(self, c, t, mask):
        """Are T and the mask lists of few entries on the host, of which the host lists the positions?"""
        few = (t, mask.pattern)
        if mask.complement or type(c) is not Dense or c.flat.size > MOST_POSITIONS or c.dtype._is_udt:
            return False
        if not all(type(x) is Compressed and is_host(x) for x in few):
            return False
        if self.on_device:
            return all(x.nvals <= tuning.GPU_BUILT_ON_HOST for x in few)
        return all(x.nvals * tuning.OVERWRITTEN_SHARE <= c.flat.size for x in few)

    def overwrite(self, c, t, mask):
        if type(c) is Dense or type(t) is Dense or type(mask.pattern) is Dense:
            if self._are_few(c, t, mask):
                if not self.on_device:
                    if c.iso:
                        self._check_host_memory(c.flat.size * c.flat.values.itemsize, c.nrows, c.ncols)
                    return update_entries(c, t, mask.pattern, True)
                flat = flat_of(t, line_numbers)
                pattern = flat if same_structure(t, mask.pattern) else flat_of(mask.pattern, line_numbers)
                found = super().overwrite(writable_flat(self.to_device(c), False), flat, StoredMask(pattern))
                return matrix_of(found, c.nrows, c.ncols)
            c, t, mask = self._all_here(c, t, mask)
            frame = self._frame(None, c, t, mask, width=0 if c.iso and t.iso else c.dtype.np_type.itemsize)
            if frame is not None:
                if self.on_device and type(c) is Dense and not mask.complement:
                    flat = frame.flat(t)
                    pattern = flat if same_structure(t, mask.pattern) else frame.flat(mask.pattern)
                    own = writable_flat(c, frame.by_columns)
                    return frame.matrix(super().overwrite(own, flat, StoredMask(pattern)))
                outside = super().restrict(frame.flat(c), ~frame.flat(mask))
                return frame.matrix(super().union(outside, frame.flat(t), None))
            c, t, mask = compressed(c), compressed(t), compressed(mask)
        return super().overwrite(c, t, mask)


_NOT_DENSE = frozenset((Compressed, SparseVector, BitmapVector, np.ndarray, int, bool, float, str, type(None)))


def _by_rows_first(name):
    """The primitive `name` of the backend proper, with dense matrices as CSR."""

    @functools.wraps(getattr(Backend, name))
    def call(self, *args, **kwargs):
        primitive = getattr(super(DenseForms, self), name)
        if not kwargs and _NOT_DENSE.issuperset(map(type, args)):
            return primitive(*args)
        return primitive(*map(_deep, args), **{key: _deep(value) for key, value in kwargs.items()})

    return call


def _deep(argument):
    """`compressed`, also of the stores in a list (of lists) and of the store that a function gives."""
    if isinstance(argument, (list, tuple)):
        return type(argument)(map(_deep, argument))
    if inspect.isfunction(argument):
        return lambda *args: compressed(argument(*args))
    return compressed(argument)


for _name in (
    "reduce_matmul", "kronecker", "scan", "first_of_rows", "has_ascending_columns", "least_absent", "best_labels",
    "bfs", "bfs_multi", "sssp", "fixpoint", "distances", "dependencies", "components", "strong_components",
    "core_numbers", "peel_truss", "triangle_corners", "ranked_rows",
    "topological_levels", "cuthill_mckee", "greedy_colours", "independent_set", "bipartite_matching", "random_walks",
):  # fmt: skip
    setattr(DenseForms, _name, _by_rows_first(_name))


_UFUNCS = frozenset((
    np.add, np.multiply, np.minimum, np.maximum, np.fmin, np.fmax, np.logical_or, np.logical_and, np.logical_xor,
    np.bitwise_or, np.bitwise_and, np.bitwise_xor,
))  # fmt: skip


def _iso_full(u, size):
    """The full vector of the value of u, an iso one."""
    return share(u, BitmapVector(size, u.dtype, None, u.values, size, True))


def _is_full(u):
    return u.format == "bitmap" and u.words is None


def _row_of_ones(xp, n):
    """The full 1 x n row in CSR."""
    indptr, indices = xp.asarray(np.array([0, n], np.int64)), xp.arange(n, dtype=index_dtype(n))
    return Compressed(1, n, BOOL, indptr, indices, xp.ones(1, np.bool_), True)


def _one_value_beside(x, y):
    """x where y has entries, if x is full and iso and y is sparse: y's structure and x's value."""
    if type(x) is Dense and x.iso and x.flat.words is None and type(y) is Compressed and is_host(x) == is_host(y):
        iso, values = y.nvals > 0, x.flat.values[: min(y.nvals, 1)]
        return share(y, x, Compressed(y.nrows, y.ncols, x.dtype, y.indptr, y.indices, values, iso, rows=y.rows))
    return x
