"""Where a store's arrays reside: on the host (NumPy) or on a device, whose arrays are of another class.

A device store is an ordinary store with a device's arrays.  A device's backend registers its class of arrays here, with
functions that convert and move; the method `get()` of such an array returns a copy on the host.

`store.forms["host"]` caches the host copy of a device store, `store.forms["device"]` the device copy of a host store.
"""

import numpy as np

from .store import BitmapVector, Compressed, SparseVector, forms_of

_converters = {}
_movers = {}
_readers = {}
_followers = {}


def register(array_class, convert, move, iso_value, follow):
    """Register the functions of a device for stores whose values are of `array_class`.

    convert(store, format)   the store in another format
    move(value)              a cached array on the device with the NumPy scalar `value`
    iso_value(store)         the value of an iso store
    follow()                 orders the caller's next work after all work submitted to the device
    """
    _converters[array_class] = convert
    _movers[array_class] = move
    _readers[array_class] = iso_value
    _followers[array_class] = follow


def is_of_device(array):
    """Is `array` of a registered device class?"""
    return type(array) in _converters


def is_host(store):
    """Are the arrays of `store` NumPy arrays?"""
    return type(store.values) is np.ndarray


def follow(array):
    """Order the caller's next work after the work that computes the device array `array`, on any stream."""
    known = _followers.get(type(array))
    if known is not None:
        known()


def convert_there(store, format):
    """The same entries in `format`, converted on the device where they reside."""
    return _converters[type(store.values)](store, format)


def moved_like(store, value):
    """A cached array of the one value `value` (a NumPy scalar) on the device of `store`."""
    return _movers[type(store.values)](value)


def host_array(array):
    """`array` as a NumPy array: itself, or a copy on the host."""
    if array is None or type(array) is np.ndarray:
        return array
    follow(array)
    return array.get()


def host(store):
    """`store` with NumPy arrays: itself, or a host copy that is cached with it."""
    if type(store.values) is np.ndarray and type(store.indices if store.format != "bitmap" else store.words) in (
        np.ndarray,
        type(None),
    ):
        return store
    forms = forms_of(store)
    found = forms.get("host")
    if found is None:
        found = forms["host"] = with_arrays(store, host_array)
        found.shared = True
    return found


def with_arrays(store, move):
    """The store with move(array) in place of each array of `store` (None stays None)."""
    values = move(store.values)
    if store.format == "sparse":
        return SparseVector(store.size, store.dtype, move(store.indices), values, store.iso)
    if store.format == "bitmap":
        words = None if store.words is None else move(store.words)
        return BitmapVector(store.size, store.dtype, words, values, store.nvals, store.iso)
    rows = None if store.rows is None else move(store.rows)
    return Compressed(
        store.nrows, store.ncols, store.dtype, move(store.indptr), move(store.indices), values, store.iso, rows
    )


def first_value(store):
    """store.values[0] as a NumPy scalar, from the host or the device."""
    values = store.values
    if type(values) is np.ndarray:
        return values[0]
    return _readers[type(values)](store) if store.iso else host_array(values[:1])[0]
