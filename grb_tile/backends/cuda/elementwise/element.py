"""One entry of a store on the device, read back by itself: one small kernel (kernels/elementwise/element.cuh)."""

from ..runtime.errors import on_device
from ..structure.arrays import index_type, moved_type


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
    return device.read_scalar(found, 1, arguments, 1, None, values.dtype)
