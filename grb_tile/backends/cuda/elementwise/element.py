"""One entry of a store on the device, read back by itself: one small kernel (kernels/elementwise/element.cuh)."""

import numpy as np

from ..runtime.errors import on_device
from ..structure.entries import index_type, moved_type


@on_device
def element(device, store, key):
    """The NumPy scalar at `key` (int, or (row, column)), or None; reads 32 bytes back."""
    values, out, kernel = store.values, device.counters(), device.launcher.kernel
    if store.format == "bitmap":
        kernel("elementwise/element.cuh", "element_of_bitmap", "", (moved_type(values),)).over(
            1, (store.words, values, store.iso, key, out)
        )
    else:
        i, j = key if type(key) is tuple else (0, key)
        if store.format == "sparse":
            indptr, rows, count = None, None, store.indices.shape[0]
        else:
            indptr, rows, count = store.indptr, store.rows, store.indptr.shape[0] - 1
        kernel("elementwise/element.cuh", "element_of_list", "", (index_type(store.indices), moved_type(values))).over(
            1, (indptr, rows, count, store.indices, values, store.iso, i, j, out)
        )
    return scalar_of(device, out, values.dtype)


def scalar_of(device, out, np_type):
    """The NumPy scalar in the first words of `out`, or None where out[3] is 0; one read-back."""
    *value, _, there = device.read_words(out, 4)
    return np.array(value, np.uint64).view(np_type)[0] if there else None
