"""A captured loop, and what a call must be like to be of its kind: few comparisons, one launch.

    every = Reads(test, body).of(test, body, named)
    checks = checks_of(carried, every)                # None where something must be looked up each time
    bound = BoundCall(known, backend, checks, count)
    vectors = bound.matched(every)                    # of another call; None where it is of another kind
    found = bound.run(test, values, vectors, most)

The kind is that of running.signature; what is equal here is equal there.  A call that is not as those before takes
the long way, which finds the same or says why not.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import numpy as np

from ..core import elements
from ..core.matrix import Matrix
from ..core.scalar import Scalar
from ..core.transposed import TransposedMatrix
from ..core.vector import Vector
from ..exceptions import CaptureError
from .captured import ENDLESS, Captured
from .carried import Carried, told
from .names import NUMBERS, UNDEFINED, begins_as, is_object
from .reads import Reads, is_fixed
from .results import PYTHON, left_by
from .search import NO_SEARCH

_STORE = attrgetter("_store")
_ANY, _SAME, _TYPE, _VECTOR, _MATRIX, _TRANSPOSED, _PLAIN, _SCALAR, _CODE = range(9)
_IMMUTABLE = {bool, int, float, complex, str, bytes, type(None), type(Ellipsis)}
_LEAST, _MOST = -(2**63), 2**63 - 1


def checks_of(carried: Carried, every: list) -> list | None:
    """(how, with what) each value of a call is compared; None where one may be told by its uses alone.

    every: what Reads.of gives for the call of `carried`, which has not run yet.
    """
    order = {id(vector): k for k, vector in enumerate(carried.vectors)}
    checks = []
    for k, value in enumerate(every):
        named = k < len(carried.names)
        check = (_ANY, None) if named and carried.own[k] else _check_of(value, order, named)
        if check is None:
            return None
        checks.append(check)
    return checks


def _check_of(value, order, named):
    """(how, with what) a value is compared."""
    kind = type(value)
    if kind is Vector:
        store = value._store
        known = store.nvals_if_read
        form = store.format, store.size, store.dtype, store.iso, known == 0, known == store.size
        return (_VECTOR, (order[id(value)], *form)) if id(value) in order else None
    if named and kind in NUMBERS:
        return _TYPE, kind
    if kind is Matrix:
        return _MATRIX, value._store
    if kind is TransposedMatrix:
        return _TRANSPOSED, value._matrix._store
    if kind is Scalar:
        return _SCALAR, (value.dtype, told(value.value))
    if kind in _IMMUTABLE or kind.__module__ == "numpy" and isinstance(value, (np.number, np.bool_)):
        return _PLAIN, (value, kind, repr(value))
    if value is UNDEFINED or is_fixed(value):
        return _SAME, value
    if kind is types.FunctionType:
        return _CODE, value.__code__
    return None


class BoundCall:
    """One Captured with the values that its calls may have."""

    def __init__(self, known: Captured, backend: Any, reads: Reads | None, checks: list, count: int) -> None:
        """checks: of each value that `reads` gives; count: of vectors."""
        self.known, self.backend, self.reads = known, backend, reads
        self._checks, self._count = checks, count
        self._loop: Any = None
        self._numbers = [(k, known.types[k], PYTHON.get(known.types[k])) for k in known.numbers]

    def matched(self, every: list) -> list | None:
        """The vectors of a call that reads these values, or None where it is of another kind."""
        vectors: list = [None] * self._count
        for value, (how, wanted) in zip(every, self._checks, strict=True):
            if how == _SAME:
                if value is not wanted:
                    return None
            elif how == _TYPE:
                if type(value) is not wanted:
                    return None
            elif how == _VECTOR:
                if type(value) is not Vector:
                    return None
                place, *kind = wanted
                store = value._store
                known = store.indices.shape[0] if store.format == "sparse" else store.nvals_if_read
                if kind != [store.format, store.size, store.dtype, store.iso, known == 0, known == store.size]:
                    return None
                if vectors[place] is None:
                    vectors[place] = value
                elif vectors[place] is not value:
                    return None
            elif how == _MATRIX:
                if type(value) is not Matrix or value._store is not wanted:
                    return None
            elif how == _TRANSPOSED:
                if type(value) is not TransposedMatrix or value._matrix._store is not wanted:
                    return None
            elif how == _PLAIN:
                if value is not wanted[0] and (type(value) is not wanted[1] or repr(value) != wanted[2]):
                    return None
            elif how == _CODE:
                if type(value) is not types.FunctionType or value.__code__ is not wanted:
                    return None
            elif how == _SCALAR:
                if type(value) is not Scalar or value.dtype is not wanted[0] or told(value.value) != wanted[1]:
                    return None
        return vectors if len(set(map(id, vectors))) == self._count else None

    def run(self, test: Callable, values: list, vectors: list, most: int | None) -> tuple | None:
        """As Captured.again; None where it is no call for it.

        values: of the names that the loop binds.
        """
        known = self.known
        with known.device.lock:
            stores = list(map(_STORE, vectors))
            try:
                run = self._turned if known.search is None else self._searched
                return run(test, values, vectors, stores, most)
            except BaseException:
                for vector, store in zip(vectors, stores, strict=True):
                    elements.reset(vector, store)
                raise

    def _turned(self, test, values, vectors, begun, most):
        known, stores = self.known, list(begun)
        if self._loop is None:
            self._loop = known.device.bound(set(range(self._count)) - known.changed)
        for k, home in known.objects:
            stores[home] = values[k]._store
        begun = stores[:]
        for k in known.vectors:
            stores.append(values[k]._store if is_object(values[k]) else None)
        numbers: list = []
        for k, dtype, exact in self._numbers:
            value = values[k]
            if type(value) is not exact or exact is int and not _LEAST <= value <= _MOST:
                value = begins_as(known.names[k], value, dtype)
            numbers.append(value)
        found = self._loop.run(test, values, stores, numbers, ENDLESS if most is None else most)
        if found is None:
            return None
        known.turns = known.pulled = 0
        if found is False:
            return tuple(values)
        left, numbers, known.turns = found
        known.pulled = known.device.pulled
        return left_by(known, values, vectors, begun, left, numbers, known.turns)

    def _searched(self, test, values, vectors, begun, most):
        """Of a loop that is a search."""
        known = self.known
        if not known.holds():
            return None
        left = ENDLESS if most is None else most
        if left <= 0 or not test(*values):
            known.turns = known.pulled = 0
            return tuple(values)
        found = known.as_search(vectors, begun, values, left)
        if found is None:
            raise CaptureError(NO_SEARCH)
        return found
