"""One entry of a store on the device, read back by itself: one small kernel (kernels/elementwise/element.cuh)."""

import numpy as np

from ..runtime.errors import on_device
from ..structure.entries import index_type, moved_type


@on_device
def element(device, store, key):
    """The NumPy scalar at `key` (int, or (row, column)), or None; the kernel writes it to the host's memory."""
    values, kernel, header = store.values, device.launcher.kernel, "elementwise/element.cuh"
    if store.format == "bitmap":
        found = kernel(header, "element_of_bitmap", "", (moved_type(values),))
        arguments = store.words, values, store.iso, key
    else:
        i, j = key if type(key) is tuple else (0, key)
        if store.format == "sparse":
            indptr, rows, count = None, None, store.indices.shape[0]
        else:
            indptr, rows, count = store.indptr, store.rows, store.indptr.shape[0] - 1
        found = kernel(header, "element_of_list", "", (index_type(store.indices), moved_type(values)))
        arguments = indptr, rows, count, store.indices, values, store.iso, i, j
    return scalar_of(device, lambda out: found.over(1, (*arguments, out), 1), values.dtype)


def scalar_of(device, launch, np_type):
    """The NumPy scalar that launch(out) writes (write_scalar in kernels/elementwise/reduce.cuh), None for none."""
    *value, there = device.words_of(3, launch)
    return np.array(value, np.uint64).view(np_type)[0] if there else None
