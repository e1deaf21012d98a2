"""Where a store's arrays reside: on the host (NumPy) or on a device, whose arrays are of another class.

A device store is an ordinary store with a device's arrays.  A device's backend registers itself here for its class of
arrays; the method `get()` of such an array returns a copy on the host.

`store.forms["host"]` caches the host copy of a device store, `store.forms["device", number]` the copy of a host store
on the device of that number.
"""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from ..dtypes import cast
from .store import Dense, forms_of, full_values


class DeviceBackend(Protocol):
    """What storage calls of the backend of a device, for stores that reside there."""

    device_name: str  # "cuda:1"

    def convert(self, store: Any, format: str) -> Any:
        """The same entries in `format`."""

    def constant(self, value: np.generic) -> Any:
        """A cached array on the device with the one value."""

    def iso_value(self, store: Any) -> np.generic:
        """The value of an iso store."""

    def element(self, store: Any, key: int | tuple[int, int]) -> np.generic | None:
        """The entry at `key`, an int or (row, column); None where there is none."""

    def host_array(self, array: Any) -> np.ndarray:
        """A copy on the host."""

    def wait_stream(self) -> None:
        """Order the caller's next work after all work submitted to the device."""

    def synchronize(self) -> None:
        """Return when that work is complete."""

    def cast_array(self, values: Any, have: Any, want: Any) -> Any:
        """The array `values` of DataType `have` as `want`."""

    def tuples(self, store: Any) -> Any:
        """(positions of each dimension, values) of the entries as fresh arrays of the device."""

    @property
    def xp(self) -> Any:
        """The array module of the device."""

    def run_reported(self, function: Callable[[], Any], name: str) -> Any:
        """function(); errors of the device leave it as the library's exceptions, which name `name`."""


ELEMENT_NS = 15_000  # of reading one entry from a device: a launch and a read-back
COPY_NS = 0.04  # a byte copied to pageable memory of the host: 25 GB/s
COPIED_ALONE_FROM = 1 << 18  # bytes: 40 us from a device, and as much in memory of the host that is new
_devices: dict[type, dict[int, DeviceBackend]] = {}  # class of arrays -> {number of the device: its backend}


def register(array_class, number, backend):
    """Register the DeviceBackend of the device `number` for arrays of `array_class`."""
    _devices[array_class] = {**_devices.get(array_class, {}), number: backend}


def unregister(array_class, number):
    """No array of that device is left."""
    _devices[array_class] = {key: backend for key, backend in _devices[array_class].items() if key != number}


def number_of(array):
    """The number of the device where a device's array resides."""
    return array.data.device_id


def _backend(array):
    """The backend of the array's device; None for a device whose backend was never in use."""
    devices = _devices.get(type(array))
    return None if devices is None else devices.get(number_of(array))


def is_of_device(array):
    """Is `array` of a registered device class?"""
    return type(array) in _devices


def arrays_of(store):
    """The store whose arrays hold the entries: `store`, or the flat vector of a dense matrix."""
    return store.flat if type(store) is Dense else store


def device_of(store):
    """Where the arrays of `store` reside: "cpu", or "cuda:1" and the like."""
    return "cpu" if is_host(store) else backend_of(store).device_name


def backend_of(store):
    """The backend of the device where `store` resides; None for a host store."""
    return None if is_host(store) else _backend(arrays_of(store).values)


def at(store, function):
    """function(xp) with the array module of the store's arrays; in the order of the device's work where they reside."""
    backend = backend_of(store)
    return function(np) if backend is None else backend.run_reported(lambda: function(backend.xp), "convert")


def wait_for(store):
    """Return when all work of the device where `store` resides is complete."""
    backend_of(store).synchronize()


def is_host(store):
    """Are the arrays of `store` NumPy arrays?"""
    return type(store.values if type(store) is not Dense else store.flat.values) is np.ndarray


def wait_stream(array):
    """Order the caller's next work after the work that computes the device array `array`, on any stream."""
    backend = _backend(array)
    if backend is not None:
        backend.wait_stream()


def convert_there(store, format):
    """The same entries in `format`, converted on the device where they reside."""
    return _backend(store.values).convert(store, format)


def moved_like(store, value):
    """A cached array of the one value `value` (a NumPy scalar) on the device of `store`."""
    return _backend(arrays_of(store).values).constant(value)


def host_array(array):
    """`array` as a NumPy array: itself, or a copy on the host."""
    if array is None or type(array) is np.ndarray:
        return array
    backend = _backend(array)
    return array.get() if backend is None else backend.host_array(array)


def host(store):
    """`store` with NumPy arrays: itself, or a host copy that is cached with it."""
    if type(store) is Dense:
        return store.with_flat(host(store.flat))
    if type(store.values) is np.ndarray and type(store.indices if store.format != "bitmap" else store.words) in (
        np.ndarray,
        type(None),
    ):
        return store
    forms = forms_of(store)
    found = forms.get("host")
    if found is None:
        found = forms["host"] = store.moved(host_array)
        found.shared = True
    return found


def is_copied_alone(store):
    """Are the values of `store` on a device, and so many that each export copies them to the host anew?

    Of fewer the host keeps a copy (`host`), which takes less time to copy again than a device takes to answer.
    """
    return not is_host(store) and store.nbytes >= COPIED_ALONE_FROM


def own_values(store, dtype=None):
    """A value for each entry of `store` (of a bitmap: for each position), of type `dtype`, in memory of its own."""
    values, have = store.values, store.dtype
    want = have if dtype is None else dtype
    if type(values) is not np.ndarray:
        backend = _backend(values)
        if want is not have:
            values = backend.run_reported(lambda: backend.cast_array(values, have, want), "cast")
        if not store.iso:
            return backend.host_array(values)
        values = backend.host_array(values)
    held = full_values(store.with_values(want, values, store.iso))
    values = cast(held, want)
    return np.array(values) if np.may_share_memory(values, held) else values


def is_read_alone(store):
    """Is one entry of `store` to be read from the device by itself (`element`)?

    Not from a host store.  From a device's until such reads have taken as long as a copy of the store, which the host
    keeps from then on (ski rental).
    """
    if is_host(store):
        return False
    forms = forms_of(store)
    if "host" in forms:
        return False
    forms["elements_read"] = count = forms.get("elements_read", 0) + 1
    return count * ELEMENT_NS < store.nbytes * COPY_NS


def element(store, key):
    """The entry of a device's store at `key` (int, or (row, column)), a NumPy scalar, or None: nothing else is read."""
    return _backend(store.values).element(store, key)


def first_value(store):
    """store.values[0] as a NumPy scalar, from the host or the device."""
    values = store.values
    if type(values) is np.ndarray:
        return values[0]
    return _backend(values).iso_value(store) if store.iso else host_array(values[:1])[0]
