"""Results whose number of entries stays on the device until its first use.

Reading a number back waits for all work that was queued, which takes longer than a small product.  A loop of products,
masks and in-place writes (BFS level by level) then never waits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ....storage.store import BitmapVector

if TYPE_CHECKING:
    from ....dtypes.types import DataType
    from .device import Device


class LateVector(BitmapVector):
    """A bitmap vector whose number of entries is read from the device at its first use.

    counter: the device array whose first element is the number; a function that makes this array; or a function that
    reads the number from the device and returns it.
    nvals_if_read: the number if it is on the host, else None.
    estimate: an estimate of the number, None for half of all positions.
    """

    __slots__ = ("__weakref__", "_arrays", "_counter", "_device", "_estimate", "nvals_if_read")

    def __init__(
        self, device: Device, size: int, dtype: DataType, words: Any, values: Any, counter: Any, iso: bool = False,
        estimate: int | None = None,
    ) -> None:  # fmt: skip
        self.size = size  # what BitmapVector.__init__ does, without a call, because every product makes one
        self.dtype = dtype
        self.words = words
        self.values = values
        self.iso = iso
        self.shared = False
        self.forms = None
        self.nvals_if_read = None
        self._device = device
        self._counter = counter
        self._estimate = estimate

    @classmethod
    def of_arrays(
        cls, device: Device, size: int, dtype: DataType, arrays: Callable[[], tuple], counter: Any, estimate: int
    ) -> LateVector:
        """The vector whose (values, words) are arrays(), called when one of them is first used."""
        result = cls.__new__(cls)
        result.size, result.dtype, result.iso, result.shared, result.forms = size, dtype, False, False, None
        result._device, result._arrays, result.nvals_if_read = device, arrays, None
        result._counter, result._estimate = counter, estimate
        return result

    def __getattr__(self, name: str) -> Any:
        if name != "words" and name != "values":
            raise AttributeError(name)
        self.values, self.words = self._arrays()
        return getattr(self, name)

    @property
    def counter(self) -> Any:
        """The device array whose first element is the number of entries; None once the number was read.

        A function that reads the number is called here.
        """
        counter = self._counter
        if callable(counter):
            counter = counter()
            if type(counter) is int:
                self.nvals_if_read, counter = counter, None
            self._counter = counter
        return counter

    @property
    def nvals(self) -> int:
        """How many entries; waits for the device the first time."""
        if self.nvals_if_read is None:
            # taken before looking again, because another thread may read the number and drop the counter
            counter = self.counter
            if self.nvals_if_read is None:
                self.nvals_if_read = self._device.read_count(counter)
                self._counter = None
        return self.nvals_if_read

    @nvals.setter
    def nvals(self, number: int) -> None:
        self.nvals_if_read, self._counter = number, None

    @property
    def estimated_nvals(self) -> int:
        """The number of entries where it was read, else the estimate."""
        if self.nvals_if_read is not None:
            return self.nvals_if_read
        return self.size // 2 if self._estimate is None else self._estimate

    def with_values(self, dtype: DataType, values: Any, iso: bool) -> BitmapVector:
        """The same structure with other values, its number of entries read or not as here."""
        counter = self._counter  # a function is called at the number's first use
        if self.nvals_if_read is None:
            return LateVector(self._device, self.size, dtype, self.words, values, counter, iso, self._estimate)
        return super().with_values(dtype, values, iso)

    def recount(self, counter: Any, estimate: int) -> None:
        """The arrays have changed: counter[0] is the number of entries from now on, `estimate` an estimate."""
        self.nvals_if_read, self._counter, self._estimate = None, counter, estimate
