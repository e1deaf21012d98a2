"""The backend of a turn with matrices that change: what it does with them it does with their entries (bounds.py).

What it does not know with them it refuses; everything else it gives to the backend.  What is made of matrices that do
not change is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..backends import select
from ..dtypes import BOOL
from ..exceptions import CaptureError
from ..operators import get_typed_op, typed_semiring
from ..planner.choose_lowering import bounded_product_pays
from ..storage.store import BitmapVector, Compressed, StoredMask
from .bounds import Bound, BoundedMatrix, Outside, every_position, joined, make_ahead, pattern_of

MOST_ANYWHERE = 1 << 22  # positions of a matrix whose entries may be anywhere


def _is_matrix(x):
    return isinstance(x, (Compressed, BoundedMatrix))


def _is_bounded(x):
    return type(x) is BoundedMatrix or type(x) is StoredMask and type(x.pattern) is BoundedMatrix


def _key_of(x):
    """What tells operands of a call apart, as long as they are kept."""
    if isinstance(x, np.generic):
        return x.dtype, x.tobytes()
    return x if isinstance(x, (bool, str, int)) else id(x)


class Bounded:
    """The backend of a turn with matrices that change."""

    def __init__(self, inner: Any, bounds: dict[tuple, Bound]) -> None:
        self._inner, self._bounds = inner, bounds
        self._fixed: dict[tuple, tuple] = {}

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def call(*args, **options):
            if any(map(_is_bounded, (*args, *options.values()))):
                raise CaptureError(
                    f"programs: {name.replace('_', ' ')} of a matrix that changes in the loop; element-wise "
                    "operations, apply, select, reductions, products with vectors, and products at a mask are captured"
                )
            return found(*args, **options)

        return call

    def _once(self, name, *args):
        """The result of a call without operands that change: of matrices alone it is computed once."""
        call = getattr(self._inner, name)
        parts = [y for x in args for y in ((x.pattern, x.complement) if type(x) is StoredMask else (x,))]
        if not any(map(_is_matrix, parts)) or any(getattr(x, "format", "") in ("bitmap", "sparse") for x in parts):
            return call(*args)
        key = (name, *map(_key_of, parts))
        if key not in self._fixed:
            make_ahead(self._inner)
            self._fixed[key] = call(*args), args
        return self._fixed[key][0]

    def _bound_of(self, *operands):
        """The bound of those that change, None where none does."""
        found = {id(x.bound): x.bound for x in operands if type(x) is BoundedMatrix}
        found |= {id(x.pattern.bound): x.pattern.bound for x in operands if _is_bounded(x) and type(x) is StoredMask}
        if len(found) > 1:
            raise CaptureError("programs: matrices of two loops meet")
        return next(iter(found.values()), None)

    @staticmethod
    def _mask(bound, mask):
        if mask is None:
            return None
        return StoredMask(bound.project(mask.pattern, False), mask.complement)

    @staticmethod
    def _inside(mask):
        """Does the mask admit positions of a bound alone?"""
        return mask is not None and not mask.complement and type(mask.pattern) is BoundedMatrix

    def union(self, x, y, op, mask=None, left_default=None, right_default=None, dtype=None):
        """Backend.union"""
        bound = self._bound_of(x, y, mask)
        if bound is None:
            return self._once("union", x, y, op, mask, left_default, right_default, dtype)
        _check(op)
        x, y = (bound.project(each, not self._inside(mask)) for each in (x, y))
        return BoundedMatrix(
            bound, self._inner.union(x, y, op, self._mask(bound, mask), left_default, right_default, dtype)
        )

    def intersect(self, x, y, op, mask=None):
        """Backend.intersect"""
        bound = self._bound_of(x, y, mask)
        if bound is None:
            return self._once("intersect", x, y, op, mask)
        _check(op)
        whole = not self._inside(mask) and self._bound_of(x, y) is None  # else one of them lies in the bound
        x, y = (bound.project(each, whole) for each in (x, y))
        return BoundedMatrix(bound, self._inner.intersect(x, y, op, self._mask(bound, mask)))

    def restrict(self, x, mask):
        """Backend.restrict"""
        bound = self._bound_of(x, mask)
        if bound is None:
            return self._once("restrict", x, mask)
        x = bound.project(x, not self._inside(mask))
        return BoundedMatrix(bound, self._inner.restrict(x, self._mask(bound, mask)))

    def overwrite(self, c, t, mask):
        """Backend.overwrite"""
        bound = self._bound_of(c, t, mask)
        if bound is None:
            return self._once("overwrite", c, t, mask) if _is_matrix(c) else self._inner.overwrite(c, t, mask)
        c, t = bound.project(c), bound.project(t)
        return BoundedMatrix(bound, self._inner.overwrite(c, t, self._mask(bound, mask)))

    def cast(self, x, dtype):
        """Backend.cast"""
        return x.mapped(lambda v: self._inner.cast(v, dtype)) if _is_bounded(x) else self._once("cast", x, dtype)

    def apply(self, x, op, mask=None, left=None, right=None, thunk=None):
        """Backend.apply"""
        bound = self._bound_of(x, mask)
        if bound is None:
            return self._once("apply", x, op, mask, left, right, thunk)
        if _reads_positions(op):
            at = self._at_positions("apply", bound, x, op, None, left, right, thunk)
            found = self._inner.restrict(at, StoredMask(bound.project(x)))
            return BoundedMatrix(bound, found if mask is None else self._inner.restrict(found, self._mask(bound, mask)))
        x = bound.project(x, not self._inside(mask))
        return BoundedMatrix(bound, self._inner.apply(x, op, self._mask(bound, mask), left, right, thunk))

    def select(self, x, op, thunk, mask=None):
        """Backend.select"""
        bound = self._bound_of(x, mask)
        if bound is None:
            return self._once("select", x, op, thunk, mask)
        entries, mask = bound.project(x, not self._inside(mask)), self._mask(bound, mask)
        if _reads_positions(op):
            at = self._at_positions("select", bound, x, op, thunk)
            found = self._inner.restrict(entries, StoredMask(at))
            return BoundedMatrix(bound, found if mask is None else self._inner.restrict(found, mask))
        return BoundedMatrix(bound, self._inner.select(entries, op, thunk, mask))

    def _at_positions(self, name, bound, x, op, *args):
        """What an operator of positions gives for the bound's; once for each operator and thunk."""
        key = name, id(bound), x.dtype, op.name, repr(args)
        if key not in self._fixed:
            make_ahead(self._inner)
            pattern = self._inner.cast(bound.pattern, x.dtype)
            self._fixed[key] = bound.project(getattr(self._inner, name)(pattern, op, *args)), op
        return self._fixed[key][0]

    def to_device(self, x):
        """Backend.to_device"""
        return x if _is_bounded(x) else self._inner.to_device(x)

    def transpose(self, x):
        """Backend.transpose"""
        if not _is_bounded(x):
            return self._once("transpose", x)
        O = x.bound.opposites()
        op = get_typed_op("any_second", BOOL, x.dtype, kind="semiring")
        return BoundedMatrix(x.bound, self._inner.mxv(O, False, x.entries, op, None))

    def broadcast(self, u, A, axis):
        """Backend.broadcast"""
        if not _is_bounded(A):
            return self._inner.broadcast(u, A, axis)
        there = get_typed_op("any_second", BOOL, u.dtype, kind="semiring")
        return BoundedMatrix(A.bound, self._inner.mxv(A.bound.ends(axis == 0), False, u, there, None))

    def broadcast_over(self, u, A, axis):
        """Backend.broadcast_over"""
        return (A, self.broadcast(u, A, axis)) if _is_bounded(A) else self._inner.broadcast_over(u, A, axis)

    def is_equal(self, x, y, op, tolerance=None):
        """Backend.is_equal"""
        bound = self._bound_of(x, y)
        if bound is None:
            return self._inner.is_equal(x, y, op, tolerance)
        return self._inner.is_equal(bound.project(x), bound.project(y), op, tolerance)

    def count_as_vector(self, x):
        """Backend.count_as_vector"""
        return self._inner.count_as_vector(x.entries if _is_bounded(x) else x)

    def reduce(self, x, monoid):
        """Backend.reduce"""
        return self._inner.reduce(x.entries if _is_bounded(x) else x, monoid)

    def reduced(self, C, ct, monoid, axis, mask=None):
        """Backend.reduced"""
        if not _is_bounded(C):
            return self._inner.reduced(C, ct, monoid, axis, mask)
        if axis is None:
            return self.reduce(C, monoid)
        lines = C.bound.lines((axis == 0) != ct)
        entries = self._inner.cast(C.entries, monoid.type)
        return self._inner.mxv(lines, False, entries, typed_semiring(monoid, "second"), mask)

    def mxv(self, A, transposed, u, semiring, mask, reuse=None):
        """Backend.mxv"""
        if not _is_bounded(A):
            return self._inner.mxv(A, transposed, u, semiring, mask, reuse)
        _check(semiring)
        inner, bound = self._inner, A.bound
        there = get_typed_op("any_second", BOOL, u.dtype, kind="semiring")
        found = inner.mxv(bound.ends(transposed), False, u, there, None)
        products = inner.intersect(A.entries, found, semiring.binaryop)
        monoid = semiring.monoid
        products = inner.cast(products, monoid.type)
        return inner.mxv(bound.lines(transposed), False, products, typed_semiring(monoid, "second"), mask)

    def mxm(self, A, at, B, bt, semiring, mask, keep=None):
        """Backend.mxm"""
        if not any(map(_is_bounded, (A, B, mask))):
            return self._once("mxm", A, at, B, bt, semiring, mask, keep)
        _check(semiring)
        shape = A.shape[int(at)], B.shape[1 - int(bt)]
        bound = self._bound_of(mask) or self._bounds.get(shape)
        if bound is None:
            raise CaptureError(f"programs: no matrix of shape {shape} changes in the loop, but a product does")
        if mask is None or mask.complement:
            admitted = self._anywhere(bound, mask)
        else:
            admitted = bound.project(mask.pattern, True)
        left, right = self._lines(A, at), self._lines(B, not bt)
        self._weigh(bound, left[0], right[0])
        places = bound.rows, bound.pattern.indices
        values, hits = self._inner.bounded_product(places, admitted, left, right, semiring)
        C = BoundedMatrix(bound, self._inner.restrict(values, StoredMask(_true(self._inner, hits))))
        return C if keep is None else self.select(C, *keep)

    def _anywhere(self, bound, mask):
        """The vector of the positions that the mask of a product admits, of all that there are; None: all.

        Raises: Outside where the bound has not all; CaptureError where these are too many.
        """
        nrows, ncols = bound.pattern.shape
        if nrows * ncols > MOST_ANYWHERE:
            raise CaptureError(
                "programs: a product of a matrix that changes, without a mask, may have entries anywhere; write it at "
                "a mask that is no complement (`C(M.S) << A.mxm(B)`)"
            )
        if bound.size < nrows * ncols:
            make_ahead(self._inner)
            raise Outside(every_position(self._inner, nrows, ncols))
        if mask is None:
            return None
        all_of = BitmapVector(bound.size, BOOL, None, bound.pattern.values, bound.size, True)
        return self._inner.restrict(all_of, self._mask(bound, mask))

    def _weigh(self, bound, left, right):
        """Raises: CaptureError where the rows at the positions take longer than the product from Python."""
        key = "look-ups", id(bound), id(left), id(right)
        if key not in self._fixed:
            make_ahead(self._inner)
            rows, columns = (ptr[1:] - ptr[:-1] for ptr in (left, right))
            shorter = self._inner.xp.minimum(rows[bound.rows], columns[bound.pattern.indices])
            self._fixed[key] = int(shorter.sum()), (left, right)
        count = self._fixed[key][0]
        if not bounded_product_pays(count):
            raise CaptureError(
                f"programs: a product of matrices that change, of {count:,} look-ups, is faster from Python"
            )

    def reduce_mxm(self, A, at, B, bt, semiring, mask, keep, monoid, axis):
        """Backend.reduce_mxm"""
        if not any(map(_is_bounded, (A, B, mask))):
            return self._inner.reduce_mxm(A, at, B, bt, semiring, mask, keep, monoid, axis)
        return self.reduced(self.mxm(A, at, B, bt, semiring, mask, keep), False, monoid, axis)

    def _lines(self, X, by_columns):
        """The entries of an operand by rows, or by columns, as Backend.bounded_product takes them."""
        bound, key = X.bound if _is_bounded(X) else self._bounds.get(X.shape), ("bound", id(X))
        if bound is None:
            if key not in self._fixed:
                make_ahead(self._inner)
                self._fixed[key] = Bound(self._inner, pattern_of(self._inner, X)), X
            bound = self._fixed[key][0]
        entries = bound.project(X)
        if by_columns:
            T = bound.transpose
            return T.indptr, T.indices, T.values, entries
        return bound.pattern.indptr, bound.pattern.indices, None, entries


class Matrices:
    """The matrices that change in a loop: the bound of each shape, and the backend of a turn (None: there are none)."""

    def __init__(self, backend: Any = None, stores: Any = (), patterns: Any = (), made: bool = False) -> None:
        """stores: those that the matrices have, of which vectors do not count; patterns: more positions; made: does a
        turn make matrices of its own?
        """
        by_shape: dict[tuple, list] = {}
        for store in stores:
            if len(store.shape) == 2:
                by_shape.setdefault(store.shape, []).append(pattern_of(backend, store))
        for pattern in patterns:
            by_shape.setdefault(pattern.shape, []).append(pattern)
        self.bounds = {shape: Bound(backend, joined(backend, each)) for shape, each in by_shape.items()}
        self.backend = Bounded(backend, self.bounds) if self.bounds or made else None

    def entries_of(self, store: Any, left: bool = False) -> Any:
        """What a slot holds for a store: of a matrix the vector of its entries; left: a turn has left it.

        Raises: Outside.
        """
        if store is None or isinstance(store, np.generic) or len(store.shape) != 2:
            return store
        if store.shape not in self.bounds:
            raise CaptureError("programs: a matrix of another shape")
        bound = self.bounds[store.shape]
        return bound.project(store) if left else bound.entries_of(store)

    def of_entries(self, shape: tuple, entries: Any) -> BoundedMatrix:
        """The store of a matrix that has these entries in the turn."""
        return BoundedMatrix(self.bounds[shape], entries)

    def matrix_of(self, shape: tuple, entries: Any) -> Compressed:
        """The matrix with these entries, after the loop."""
        return self.bounds[shape].matrix_of(entries)

    def text(self) -> str:
        """For explain()."""
        return ", ".join(
            f"matrices of {m} x {n} within {bound.size} positions" for (m, n), bound in self.bounds.items()
        )


def _true(backend, hits):
    return backend.select(hits, get_typed_op("valuene", BOOL, kind="select"), np.False_)


def _reads_positions(op):
    if op.parent.opclass in ("IndexUnaryOp", "SelectOp") and not op.parent._builtin:
        raise CaptureError(f"programs: {op.name}, a function of positions, of a matrix that changes in the loop")
    return op.positional is not None or op.is_positional


def _check(op):
    if op is not None and op.positional is not None:
        raise CaptureError(f"programs: {op.name} of a matrix that changes in the loop: it reads positions")


@contextmanager
def within(backend: Bounded | None) -> Iterator[None]:
    """Within it that backend is in use for the calling thread."""
    if backend is None:
        yield
        return
    made: Any = backend
    with select.entered(f"bounded {id(backend)}", made):
        yield
