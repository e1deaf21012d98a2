"""The classes of objects by name: `kinds.Vector` in a module that vector.py imports, directly or not.

Vectors make matrices (`outer`, `diag`), matrices make vectors (`reduce_rowwise`) and scalars make both, so no order of
imports serves all.  This module imports nothing of core.  Each class enters itself with `register` where it is defined,
and the package grb_tile.core imports all four before anything of it is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from .matrix import Matrix
    from .scalar import Scalar
    from .transposed import TransposedMatrix
    from .vector import Vector
else:
    Matrix = Scalar = TransposedMatrix = Vector = None

COLLECTIONS: set[type] = set()  # Vector, Matrix and TransposedMatrix: what has a shape and entries

_Class = TypeVar("_Class", bound=type)


def register(cls: _Class) -> _Class:
    """Class decorator: `kinds.<name of cls>` is `cls` from now on."""
    globals()[cls.__name__] = cls
    if not cls._is_scalar:  # type: ignore[attr-defined]
        COLLECTIONS.add(cls)
    return cls
