"""What is done when the device is out of memory: forms that stores keep besides their entries are dropped.

A transpose, tiles, the schedule of rows, the workspace of a traversal, the device's copy of a host store: all are in
`store.forms` and can be derived again.  Stores with forms are found through Python's garbage collector, so that nothing
has to be registered while there is memory.
"""

import gc

import numpy as np

from ....storage.store import BitmapVector, Compressed, SparseVector

STORES = (SparseVector, BitmapVector, Compressed)
KEPT = {"host", "iso_value", "last_direction", "transpose_of", "cost_without_transpose"}  # hold no memory of the device


def drop_forms() -> int:
    """Drop the derived forms on the device of all live stores.  Returns how many."""
    dropped = 0
    gc.collect()
    for found in gc.get_objects():
        if not issubclass(type(found), STORES):
            continue
        forms = getattr(found, "forms", None)  # a store in the making has none
        if not forms:
            continue
        names = forms.keys() & {"device"} if type(found.values) is np.ndarray else forms.keys() - KEPT
        if names:  # a new dictionary: another thread may be reading the old one
            found.forms = {name: form for name, form in forms.items() if name not in names}
            dropped += len(names)
    return dropped
