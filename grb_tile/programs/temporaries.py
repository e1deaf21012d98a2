"""Matrices that a program makes anew in each call, before a loop reads them: `light = W.select("<=", delta).new()`.

A captured loop reads the arrays of the matrices with which it was captured, so their identity is part of a kind.  Those
that the calls before had are gone; where the new ones have the same shapes and numbers of entries the loop is captured
the second time all the same, and from then on the matrices of a call are compared with those of the capture, bit by
bit: where they are the same, the captured loop serves.
"""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np

from ..backends.select import current
from ..dtypes import lookup_dtype
from ..operators import get_typed_op
from ..storage.store import Compressed
from .captured import Captured

TRIES = 3  # captures of a likeness that failed, and calls whose matrices differed from those of the capture
_BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


class Temporaries:
    """Of one loop: which kinds differ in matrices alone that are gone."""

    def __init__(self) -> None:
        self._latest: dict[Any, _Likeness] = {}

    def key_for(self, key: tuple, matrices: list, captured: dict[Any, Any]) -> tuple | None:
        """The captured kind that serves for the kind `key`; `key`: it is to be captured now; None: neither.

        matrices: those that the loop reads, in the order in which a capture has them.
        """
        if not matrices:
            return None
        like = likeness_of(key, matrices)
        known = self._latest.get(like)
        if known is None:
            if len(self._latest) > TRIES * 8:
                del self._latest[next(iter(self._latest))]
            self._latest[like] = _Likeness(key, matrices)
            return None
        found = captured.get(known.key)
        if type(found) is Captured:
            if known.tries < TRIES:
                if all(same(A._store, store) for A, (_, store) in zip(matrices, found.stores, strict=True)):
                    return known.key
                known.tries += 1
            return None
        gone = any(store() is None for store in known.stores)
        known.note(key, matrices)
        if not gone or known.tries == TRIES:
            return None
        known.tries += 1
        return key


class _Likeness:
    """The latest kind of a likeness, and the stores of its matrices, weakly."""

    def __init__(self, key: tuple, matrices: list) -> None:
        self.tries = 0
        self.note(key, matrices)

    def note(self, key: tuple, matrices: list) -> None:
        self.key, self.stores = key, [weakref.ref(A._store) for A in matrices]


def likeness_of(key: tuple, matrices: list) -> tuple:
    """The kind without the identities of matrices, but with their shapes, types and numbers of entries."""
    *rest, signature = key
    parts = tuple((*part[:3], "") if part[1] == "matrix" else part for part in signature)
    return *rest, parts, tuple((A.shape, A.dtype.name, A._store.iso, A._store.nvals_if_read) for A in matrices)


def same(a: Any, b: Any) -> bool:
    """Have two stores of matrices the same entries, bit by bit?"""
    if a is b:
        return True
    backend = current()
    bits = _BITS.get(a.dtype.np_type.itemsize)
    if bits is None or any(type(x) is not Compressed for x in (a, b)) or (a.rows is None) != (b.rows is None):
        return False
    if a.shape != b.shape or a.dtype is not b.dtype or a.iso is not b.iso or a.nvals != b.nvals:
        return False
    dtype = lookup_dtype(bits)
    a, b = (x.with_values(dtype, x.values.view(bits), x.iso) for x in map(backend.to_device, (a, b)))
    return bool(backend.is_equal(a, b, get_typed_op("eq", dtype, kind="binary")))
