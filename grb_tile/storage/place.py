"""Where a store's arrays lie: on the host (NumPy) or on a device, whose arrays are of another class.

A device store is an ordinary store with a device's arrays.  This module knows no device: a device's backend registers
its class of arrays with what converts its stores, and an array that is not NumPy's offers `get()`, its copy on the
host.

`store.forms["host"]` keeps the host's copy of a device store, `store.forms["device"]` the device's copy of a host
store.
"""

import numpy as np

from .store import BitmapVector, Compressed, SparseVector, forms_of

_converters = {}
_movers = {}
_readers = {}
_followers = {}


def register(array_class, convert, move, iso_value, follow):
    """What a device does for stores whose values are of `array_class`.

    convert(store, format) converts one, move(value) is an array there of one NumPy scalar, which is kept,
    iso_value(store) reads its value, follow() puts what the caller does next after all work that the device was given.
    """
    _converters[array_class] = convert
    _movers[array_class] = move
    _readers[array_class] = iso_value
    _followers[array_class] = follow


def is_of_device(array):
    """Is `array` one of a device whose backend was in use?"""
    return type(array) in _converters


def is_host(store):
    """Does `store` hold NumPy arrays?"""
    return type(store.values) is np.ndarray


def follow(array):
    """What the caller does with the device array `array` comes after the work that makes it, on whichever stream that is."""
    known = _followers.get(type(array))
    if known is not None:
        known()


def convert_there(store, format):
    """The same entries in `format`, converted by the device that holds them."""
    return _converters[type(store.values)](store, format)


def moved_like(store, value):
    """An array of the NumPy scalar `value` alone (kept) where the arrays of the device store `store` lie."""
    return _movers[type(store.values)](value)


def host_array(array):
    """`array` as a NumPy array: itself, or a copy from the device."""
    if array is None or type(array) is np.ndarray:
        return array
    follow(array)
    return array.get()


def host(store):
    """`store` with NumPy arrays: itself, or a copy from the device that is kept with it."""
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
    """The store whose arrays are move(array) of those of `store` (None stays None)."""
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
    """store.values[0] as a NumPy scalar, wherever it lies."""
    values = store.values
    if type(values) is np.ndarray:
        return values[0]
    return _readers[type(values)](store) if store.iso else host_array(values[:1])[0]
