"""Cached properties of a store: what was computed of its entries, kept in its forms until an entry changes.

`store.forms["property", key]` is the result of `make()` at the first use of the key.  A store that changes in place
drops its forms, and every other change makes another store, so that a property is exact or absent.  On a device that is
out of memory all but plain numbers are dropped with the other forms (backends/cuda/runtime/memory.py).

A value must not refer to the store itself: the store would keep itself alive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .store import forms_of

PROPERTY = "property"  # the first part of the key of a cached property


def cached(store: Any, key: Any, make: Callable[[], Any]) -> Any:
    """The result of `make()` at the first use of `key` with these entries."""
    at = PROPERTY, key
    forms = store.forms
    if forms is not None and at in forms:
        return forms[at]
    found = make()
    forms_of(store)[at] = found  # asked for again: `make` may have released memory, which replaces the dictionary
    return found


def known(store: Any) -> dict[Any, Any]:
    """{key: property} of what is known already; computes nothing."""
    forms = (store.forms or {}).copy()  # in one step, because another thread may add to it
    return {key[1]: value for key, value in forms.items() if is_property(key)}


def forget(store: Any, keys: Iterable[Any] = ()) -> None:
    """Drop the cached properties of these keys, all without one."""
    forms = store.forms or {}
    for key in tuple(keys) or known(store):
        forms.pop((PROPERTY, key), None)


def is_property(key: Any) -> bool:
    """Is this key of `store.forms` that of a property?"""
    return type(key) is tuple and key[0] == PROPERTY
