"""Stored: the base of Matrix and Vector, the objects with a store."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from .. import operations as ops
from ..backends.select import current, moved
from ..dtypes import lookup_dtype
from ..storage.place import device_of
from . import elements, recorder
from .arguments import check_options, expect_type, output_type, scalar_of
from .base import BaseType
from .build import pickled_store, restore
from .collection import Collection
from .index import Resolved
from .mask import StructuralMask, ValueMask
from .scalar import Scalar, check_wait
from .updater import Updater, update

if TYPE_CHECKING:
    from typing import Any, Self

    from .annotations import DTypeLike, MaskLike


_NUMBERS = frozenset((bool, int, float))
_CHARACTERS = "?bhilqBHILQfdFD"  # of the NumPy types that are GraphBLAS types
_LEAST, _MOST = -(2**63), 2**63 - 1  # of INT64, as which a Python int is read


class Stored(Collection, BaseType):
    """An object of a type, a name, a shape and a store, to which elements may be pending (see elements.py).

    Each class makes its objects itself (`_from_store`), because every result is made that way and it must be fast.
    """

    __slots__ = ()
    dtype = property(attrgetter("_dtype"), doc="The type; dup(dtype) makes an object of another one.")
    shape = property(attrgetter("_shape"), doc="The dimensions, as a tuple; resize() changes them.")
    _is_transposed = False
    __lshift__ = update

    if TYPE_CHECKING:  # a __getattr__ would hide misspelt names from type checkers
        _store: Any
    else:

        def __getattr__(self, name):
            if name == "_store":  # deleted while elements are pending: see elements.py
                return elements.merge(self)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __reduce__(self):
        return restore, (type(self), pickled_store(self._store), self.dtype, self.name)

    # ---------------------------------------------------------------- what it is

    @property
    def nvals(self) -> int:
        """The number of entries.

        Examples:
        >>> gb.Vector.from_coo([0, 4], 1.0, size=9).nvals
        2
        """
        return elements.count(self)

    _nvals = nvals

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays of the store."""
        return self._store.nbytes

    @property
    def device(self) -> str:
        """Where the entries reside: "cpu", or "cuda:1" in the memory of device 1 (array API standard)."""
        return device_of(self._store)

    def to_device(self, device: str) -> Self:
        """The object with its entries on `device`: itself where they reside there, else a new object.

        device: "cpu"; "cuda", the GPU in use (`gb.device`, `gb.config`); "cuda:1".
        Raises: InvalidValue for another name, or for values of a user-defined type, which have no form on a GPU;
        GraphblasException for a device that cannot be used.
        """
        store = moved(self._store, device)
        return self if store is self._store else type(self)._from_store(store)

    def gather(self, root: int | None = None) -> Self | None:
        """An ordinary object with all entries of a distributed one, on every rank; itself where it is ordinary.

        root: on that rank alone; the others get None.
        Cost: every entry moves to every rank, or to that one.
        """
        store = self._store
        if not store.is_part:
            return self
        found = store.world.gathered(store, root)
        return None if found is None else type(self)._from_store(found)

    @property
    def local(self) -> tuple[int, Self]:
        """(first, part): this rank's rows (positions), which begin at `first` of the whole, as an ordinary object.

        Of an ordinary object all.  The part is for `gb.dist.local()`; its arrays are the whole's and are not copied.

        Examples:
        >>> gb.Vector.from_dict({0: 1, 1: 2}).local[0]
        0
        """
        store = self._store
        if not store.is_part:
            return 0, self
        store.shared = True
        return store.layout.first, type(self)._from_store(store.local)

    @property
    def placement(self) -> Any:
        """How a distributed object is cut: `Rows`, whose `starts` are the ranks' first rows; else None."""
        store = self._store
        return store.layout if store.is_part else None

    @property
    def gb_obj(self) -> Any:
        """The store of the entries."""
        return self._store

    @property
    def S(self) -> StructuralMask:
        """Mask: where there is an entry.

        Examples:
        >>> v, w = gb.Vector.from_dict({0: 0, 1: 2}), gb.Vector(int, 2)
        >>> w(v.S) << 5
        >>> w.to_dict()
        {0: 5, 1: 5}
        """
        return StructuralMask(self)

    @property
    def V(self) -> ValueMask:
        """Mask: where the entry is true.

        Examples:
        >>> v, w = gb.Vector.from_dict({0: 0, 1: 2}), gb.Vector(int, 2)
        >>> w(v.V) << 5
        >>> w.to_dict()
        {1: 5}
        """
        return ValueMask(self)

    def __sizeof__(self):
        return object.__sizeof__(self) + self._store.nbytes

    def storage(self) -> Any:
        """A report on how the entries are stored."""
        from ..storage.report import report  # loads the tile forms

        return report(self._store)

    def wait(self, how: str = "materialize") -> Self:
        """Merge the pending elements.  Raises: ValueError unless `how` is "materialize" or "complete"."""
        check_wait(how)
        self._store  # noqa: B018  (merges)
        return self

    # ---------------------------------------------------------------- elements

    def __delitem__(self, keys, **opts):
        """Remove an element, or the elements at the indices given.

        Examples:
        >>> v = gb.Vector.from_dict({0: 1, 1: 2})
        >>> del v[0]
        >>> v.to_dict()
        {1: 2}
        """
        if opts:
            check_options(opts)
        resolved = Resolved(self, keys)
        if resolved.shape:
            Updater(self)._delete(resolved)
        else:
            self._delete_element(resolved)

    def _assign_element(self, resolved, value):
        value = self._element_value(value)
        if value is None:
            self._delete_element(resolved)
            return
        elements.put(self, resolved.key, value)
        if recorder.active is not None:
            self._log(f"setElement_{self.dtype}", f"{value}, {_positions(resolved.key)}")

    def _accumulate_element(self, resolved, value, accum):
        """self[i, j] (accum)= value without reading the store; False, and nothing done, where `assign` has to."""
        if recorder.active is not None or self.dtype._is_udt or accum.numpy is None or not accum.lowerable:
            return False
        kind = type(value)
        if kind is int:
            if not _LEAST <= value <= _MOST:
                return False
        elif kind not in _NUMBERS and not (isinstance(value, np.generic) and value.dtype.char in _CHARACTERS):
            return False
        elements.accumulate(self, resolved.key, scalar_of(value, self.dtype), accum)
        return True

    def _delete_element(self, resolved):
        elements.put(self, resolved.key, elements.ABSENT)
        if recorder.active is not None:
            self._log("removeElement", _positions(resolved.key))

    def _element_value(self, value):
        """`value` as a NumPy scalar of self's type, None for an empty Scalar."""
        if output_type(value) is Scalar:
            if type(value) is not Scalar:
                value = Scalar.from_value(value)
            return None if value._value is None else scalar_of(value._value, self.dtype)
        try:
            return scalar_of(value, self.dtype)
        except (TypeError, ValueError):
            expect_type(
                self,
                value,
                Scalar,
                within="__setitem__",
                argname="value",
                extra_message="Literal scalars also accepted.",
            )

    # ---------------------------------------------------------------- whole-object changes

    def dup(
        self,
        dtype: DTypeLike | None = None,
        *,
        clear: bool = False,
        mask: MaskLike | None = None,
        name: str | None = None,
        **opts: Any,
    ) -> Self:
        """A copy, of type `dtype`, of what `mask` lets through; empty with clear=True.

        Examples:
        >>> v = gb.Vector.from_dict({0: 1, 1: 2})
        >>> v.dup(float).to_dict(), v.dup(clear=True).nvals
        ({0: 1.0, 1: 2.0}, 0)
        """
        if opts:
            check_options(opts)
        cls = type(self)
        if clear:
            return cls(self.dtype if dtype is None else dtype, *self._shape, name=name)
        if mask is not None:
            return self._expression_type(ops.copy(self)).new(dtype, mask=mask, name=name)
        dtype = self.dtype if dtype is None else lookup_dtype(dtype)
        store = current().cast(self._store, dtype)
        store.shared = self._store.shared = True  # the first write copies the arrays
        out = cls._from_store(store, dtype, name)
        if recorder.active is not None:
            recorder.record(f"GrB_{cls.__name__}_dup(&{out.name}, {self.name});")
        return out

    def _log(self, what, rest=None):
        """Record this call as one of the C API."""
        if recorder.active is not None:
            recorder.record(f"GrB_{type(self).__name__}_{what}({self.name}{'' if rest is None else f', {rest}'});")


def _positions(key):
    return ", ".join(map(str, key)) if type(key) is tuple else str(key)
