"""Release of memory when the device has none left: the forms that stores keep besides their entries are dropped.

A transpose, tiles, the schedule of rows, the workspace of a traversal, the device's copy of a host store, cached
properties (storage/properties.py): all are in `store.forms` and can be derived again.  Those that are numbers stay.
Stores with forms are found through Python's garbage collector, so that nothing has to be registered while there is
memory.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numpy as np

from ....storage.place import arrays_of
from ....storage.properties import is_property
from ....storage.store import BitmapVector, Compressed, SparseVector

NUMBERS = (bool, int, float, np.generic)
STORES = (SparseVector, BitmapVector, Compressed)
HOST_FORM = "device"  # the first part of the key of a host store's copy on a device: ("device", number)
# forms that hold no memory of the device
KEPT = {
    "host",
    "strong_pivot",
    "elements_read",
    "iso_value",
    "last_direction",
    "transpose_of",
    "cost_without_transpose",
}


def _is_large(name: Any, form: Any) -> bool:
    """May the form hold memory of the device?"""
    return name not in KEPT and not (is_property(name) and (form is None or isinstance(form, NUMBERS)))


def drop_forms(is_there: Callable[[Any], bool] = lambda array: True) -> int:
    """Drop the derived forms of all live stores on a device.  is_there: is an array on it?  Returns how many."""
    dropped = 0
    gc.collect()
    for found in gc.get_objects():
        if not issubclass(type(found), STORES):
            continue
        forms = getattr(found, "forms", None)  # a store in the making has none
        if not forms:
            continue
        forms = forms.copy()  # in one step, because another thread may add to it or be reading it
        values = arrays_of(found).values
        if type(values) is np.ndarray:
            names = [
                name
                for name, form in forms.items()
                if (is_property(name) and _is_large(name, form)) or (name[0] == HOST_FORM and is_there(form.values))
            ]
        else:
            names = [name for name, form in forms.items() if _is_large(name, form)] if is_there(values) else ()
        if names:
            found.forms = {name: form for name, form in forms.items() if name not in names}
            dropped += len(names)
    if dropped:
        gc.collect()  # forms that refer to each other are freed by it alone
    return dropped
