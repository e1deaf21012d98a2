"""TurnArray: the array of a vector's entries in a loop that runs on the device (grb_tile/programs).

`v.to_coo()` and `v.to_dense()` give it there in place of NumPy's.  The entries stay on the device, where they may be
positions (`u[p]`, `u[p] << x`, `Vector.from_coo(p, x, size=n)`) and values of such calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exceptions import CaptureError


class TurnArray:
    """The values of the entries of a vector on the device, or their positions (is_index), in order.

    store: the vector, whose arrays nobody writes any more.  repeated: its one value stands for any number of elements.
    """

    __slots__ = ("store", "is_index", "repeated")
    __hash__ = None  # type: ignore[assignment]
    ndim = 1

    def __init__(self, store: Any, is_index: bool = False, repeated: bool = False) -> None:
        store.shared = True
        self.store, self.is_index, self.repeated = store, is_index, repeated

    @property
    def dtype(self) -> Any:
        """NumPy's, of the elements."""
        return np.dtype(np.uint64) if self.is_index else self.store.dtype.np_type

    @property
    def has_gaps(self) -> bool:
        """Is the number of elements known on the device only?"""
        return self.store.nvals_if_read != self.store.size

    def __len__(self) -> int:
        if self.has_gaps:
            _refuse("an array with an element for each entry of a vector has a length that only the device knows")
        return self.store.size

    @property
    def size(self) -> int:
        """How many elements it has."""
        return len(self)

    @property
    def shape(self) -> tuple[int]:
        """The same as a shape."""
        return (len(self),)

    def fits(self, other: TurnArray) -> bool:
        """Has the other array an element for each of this one's?"""
        if not other.repeated and (self.has_gaps or other.has_gaps):
            return self.store is other.store
        return self.store.size == other.store.size

    def _needs_host(self, *_: Any, **__: Any) -> Any:
        _refuse(
            "an array of a vector's entries is on the device: it may be positions (`u[p]`, `u[p] << x`) and an "
            "argument of Vector.from_coo; compute with the Vector"
        )

    __array__ = __getitem__ = __setitem__ = __iter__ = __bool__ = __int__ = __index__ = __float__ = _needs_host
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __mod__ = _needs_host
    __floordiv__ = __neg__ = __invert__ = __abs__ = __and__ = __or__ = __pow__ = _needs_host
    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _needs_host

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._needs_host()


def _refuse(text):
    raise CaptureError(f"programs: {text}")
