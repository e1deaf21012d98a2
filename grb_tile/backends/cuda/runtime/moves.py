"""Whole stores moved to a device, from the host or from another device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import on_device

_BY_ADDRESS = 4  # cudaMemcpyKind
_MOST_WASTE = 1 << 17  # elements without which an array is not copied into one of its size


def copied(device: Any, array: Any) -> Any:
    """A copy on the device of a contiguous array of this or another one."""
    made = device.empty(array.shape, array.dtype)
    if device.turns is not None:
        device.turns.copy(made, array)
    elif array.nbytes:
        copy, stream = device.xp.cuda.runtime.memcpyAsync, device.current_stream().ptr
        copy(made.data.ptr, array.data.ptr, array.nbytes, _BY_ADDRESS, stream)
    return made


def cut(device: Any, block: Any, k: int, count: int, room: int) -> Any:
    """The first `count` of `room` elements of a block's k-th array, or a copy where most of the array is not needed."""
    array, waste = block.array(k, count), room - count
    return copied(device, array) if waste > count and waste > device.launcher.size(_MOST_WASTE, 100) else array


@on_device
def move_store(device: Any, store: Any) -> Any:
    """The store with device arrays."""
    values = store.values
    known = store.iso and store.nvals and type(values) is np.ndarray
    moved = store.moved(lambda x: device.constant(x[0]) if known and x is values else device._move(x))
    moved.shared = True
    return moved


@on_device
def copy_from_device(device: Any, store: Any) -> Any:
    """A copy of a store of another device, all of whose work is complete; complete when this returns."""
    found = store.moved(lambda array: copied(device, array))
    device.current_stream().synchronize()  # the other device may reuse the memory from now on
    return found
