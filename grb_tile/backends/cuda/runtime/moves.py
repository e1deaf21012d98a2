"""Whole stores moved to a device, from the host or from another device."""

from __future__ import annotations

from typing import Any

import numpy as np

from .array_block import layout
from .errors import on_device
from .host_copies import MOST_FEW

_BY_ADDRESS = 4  # cudaMemcpyKind
_MUCH = 1 << 30  # bytes
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


def is_much(device: Any, count: int) -> bool:
    """Are so many bytes more than an array of a result has where its length is not known yet?"""
    return count > device.launcher.size(_MUCH, 40_000)


def cut(device: Any, block: Any, k: int, count: int, room: int) -> Any:
    """The first `count` of `room` elements of a block's k-th array, or a copy where most of the array is not needed."""
    array, waste = block.array(k, count), room - count
    return copied(device, array) if waste > count and waste > device.launcher.size(_MOST_WASTE, 100) else array


def uploaded(device: Any, *arrays: Any) -> list:
    """Copies of NumPy arrays on the device, None for None; of small ones of one dimension by one call of the driver."""
    fields = layout(*(None if x is None else (x.shape[0], x.dtype) for x in arrays))
    few = len(arrays) > 1 and fields.total <= MOST_FEW and device.launcher.recorder is None
    if not few or any(x is not None and (x.ndim > 1 or x.dtype.kind not in "biufc") for x in arrays):
        return [None if x is None else device.upload(np.ascontiguousarray(x)) for x in arrays]
    block = device.launcher.array_block(device.xp, fields)
    address, content = block.staged(arrays)
    if content:
        device.needs_host("an array of the host is copied to the device: make it before the loop")
        device.copies.few(address, content)
    return block.arrays()


@on_device
def move_store(device: Any, store: Any) -> Any:
    """The store with device arrays."""
    values = store.values
    known = store.iso and store.nvals and type(values) is np.ndarray
    given: list = []
    store.moved(lambda x: given.append(x) or x)
    given = [x for x in given if not isinstance(x, device.array_class) and not (known and x is values)]
    copies = {id(x): copy for x, copy in zip(given, uploaded(device, *given), strict=True)}
    moved = store.moved(lambda x: device.constant(x[0]) if known and x is values else copies.get(id(x), x))
    moved.shared = True
    return moved


@on_device
def copy_from_device(device: Any, store: Any) -> Any:
    """A copy of a store of another device, all of whose work is complete; complete when this returns."""
    found = store.moved(lambda array: copied(device, array))
    device.current_stream().synchronize()  # the other device may reuse the memory from now on
    return found
