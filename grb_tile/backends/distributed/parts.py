"""PartVector and PartMatrix: what one rank holds of a distributed vector or matrix.

    local     the store of this rank's positions (rows), 0 .. len(layout) - 1, of the backend that computes on the rank
    layout    the ranges of all ranks (layout.py)
    world     the distributed backend (backend.py), which joins the ranks

A part is a store of the whole object: shape, type and number of entries are those of the whole and equal on every rank;
`nvals` is counted by all ranks together at its first use.  No rank has the whole's arrays: `values`, `indices` and
`indptr` are a PartArray, which marks the store as one of a device (storage/place.py): code above asks the backend.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...exceptions import NotImplementedException
from ...storage.place import host
from ...storage.store import Compressed, SparseVector
from .known import Known

if TYPE_CHECKING:
    from collections.abc import Callable


class PartArray:
    """The place of an array of which every rank has a part: `name` of the whole in the form that `part` says it has."""

    __slots__ = ("name", "part")

    def __init__(self, part: Any, name: str) -> None:
        self.part, self.name = part, name

    @property
    def data(self) -> PartArray:
        """With `device_id`, as device arrays have it."""
        return self

    @property
    def device_id(self) -> int:
        """The number of the distributed backend."""
        return self.part.world.number

    @property
    def nbytes(self) -> int:
        """Bytes of such an array of the whole, values and 4-byte indices; the same on every rank."""
        return self.part.nvals * self.part.dtype.np_type.itemsize

    def __getitem__(self, key: slice) -> np.ndarray:
        if isinstance(key, slice) and key == slice(None, 1):
            return self.part.world.first_values(self.part)
        raise self._missing("an index")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._missing(name)

    def _missing(self, what):
        return NotImplementedException(
            f"{what}: this operation reads arrays of the whole, which is distributed over {self.part.world.size} "
            "ranks; gather() gives an ordinary object, on every rank or on one"
        )


class Part:
    """Methods of PartVector and PartMatrix."""

    __slots__ = ()
    is_part = True
    iso = False

    if TYPE_CHECKING:
        local: Any
        layout: Any
        world: Any
        dtype: Any
        shape: tuple[int, ...]
        _nvals: int | None

        def like(self, local: Any) -> Any:
            """Another part of the same layout."""

    @property
    def shared(self) -> bool:
        """Are arrays of this rank those of another store too?"""
        return self.local.shared

    @shared.setter
    def shared(self, value: bool) -> None:
        self.local.shared = value

    @property
    def values(self) -> PartArray:
        return PartArray(self, "values")

    @property
    def indices(self) -> PartArray:
        return PartArray(self, "indices")

    @property
    def indptr(self) -> PartArray:
        return PartArray(self, "indptr")

    @property
    def nvals(self) -> int:
        if self._nvals is None:
            self._count()
        found = self._nvals
        assert found is not None
        return found

    def _count(self) -> None:
        self._nvals = self.world.total(self.local.nvals, "nvals")

    @property
    def nvals_if_read(self) -> int | None:
        return self._nvals

    @property
    def estimated_nvals(self) -> int:
        return self.nvals

    @property
    def nbytes(self) -> int:
        """Bytes of the whole as entries of values and 4-byte indices: the same on every rank."""
        return self.nvals * (self.dtype.np_type.itemsize + 4)

    def with_values(self, dtype: Any, values: Any, iso: bool) -> Any:
        """The same structure, one value for all entries: the array of it that `constant` of the backend gives."""
        local = self.local.with_values(dtype, values, iso)
        self.local.shared = local.shared = True
        return self.alike(local, False)

    def mapped(self, function: Callable[[Any], Any]) -> Any:
        """The part of function(local), whose entries are at the same positions."""
        return self.alike(function(self.local), True)

    def alike(self, local: Any, varies: bool) -> Any:
        """The part of a store with entries at the same positions.  varies: do its values differ where these do?"""
        result = self.like(local)
        result._nvals = self._nvals
        return result

    def moved(self, move: Any) -> Any:
        """The whole, on every rank: what storage asks for to read entries on the host."""
        return host(self.world.whole(self))


class PartVector(Part, SparseVector):
    """A rank's part of a vector: `local` is a vector of its positions.  known: what all ranks know of the entries."""

    __slots__ = ("known", "layout", "local", "world")

    def __init__(self, size: int, local: Any, layout: Any, world: Any, known: Known | None = None) -> None:
        self.size, self.dtype = size, local.dtype
        self.local, self.layout, self.world = local, layout, world
        self.forms = None
        self.known = known or Known()

    @property
    def _nvals(self) -> int | None:  # type: ignore[override]
        return self.known.positions.total

    @_nvals.setter
    def _nvals(self, count: int | None) -> None:
        self.known.positions.total = count

    def _count(self) -> None:
        if self.forms and "whole" in self.forms:  # every rank has it
            self._nvals = self.forms["whole"].nvals
        else:
            self.known.positions.learn(self.world.comm.allgather(self.local.nvals, "nvals"))

    def like(self, local: Any) -> PartVector:
        return PartVector(self.size, local, self.layout, self.world)

    def alike(self, local: Any, varies: bool) -> PartVector:
        known = self.known if varies else Known(self.known.positions)
        return PartVector(self.size, local, self.layout, self.world, known)


class PartMatrix(Part, Compressed):
    """A rank's part of a matrix: `local` is a matrix of its rows with all columns."""

    __slots__ = ("_nvals", "layout", "local", "world")
    rows, format = None, "csr"  # to those who ask

    def __init__(self, nrows: int, ncols: int, local: Any, layout: Any, world: Any) -> None:
        self.nrows, self.ncols, self.dtype = nrows, ncols, local.dtype
        self.local, self.layout, self.world = local, layout, world
        self.forms = None
        self._nvals = None

    def like(self, local: Any) -> PartMatrix:
        return PartMatrix(self.nrows, self.ncols, local, self.layout, self.world)
