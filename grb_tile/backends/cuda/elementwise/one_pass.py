"""The pass of operations/one_pass.py as one kernel.  Kernel: kernels/elementwise/one_pass.cuh."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from ....storage.store import BitmapVector
from ..runtime.launch import bits_of
from ..runtime.mailbox import OnDevice, SentWords
from ..structure.arrays import to_bitmap

if TYPE_CHECKING:
    from ..runtime.device import Device

BLOCK, BLOCKS_OF_PROCESSOR = 256, 8
VECTORS, SCALARS, OUTPUTS = 6, 3, 3  # of the kernel


class DeviceSums:
    """The sums of a pass, which later kernels may read without the host."""

    def __init__(self, device: Device, count: int) -> None:
        self.device, self._values, self._sent = device, None, None
        self.array = device.empty(count, np.float64)
        start = device.address(self.array)
        self.addresses = range(start, start + 8 * count, 8)

    def value(self, k: int) -> Any:
        if self.device.turns is not None:
            return OnDevice(self.array[k : k + 1])
        if self._values is None:
            self.send()
            words, self._sent = self._sent.read(), None
            self._values = struct.unpack(f"{len(words)}d", struct.pack(f"{len(words)}Q", *words))
        return self._values[k]

    def send(self) -> None:
        """Queue the copy to page-locked memory."""
        if self._sent is None and self._values is None:
            with self.device.lock, self.device.bound():
                self._sent = SentWords(self.device, self.array)

    def is_ready(self) -> bool:
        return self._values is not None if self._sent is None else self._sent.is_ready()


def _operand_of(device, total):
    """(address, 0) of a Total on the device, (0, its bits) of another one."""
    sums = total.sums
    store = getattr(sums, "store", None)
    if store is not None:  # a number of a program's loop
        return device.address(store.values), 0
    if isinstance(sums, DeviceSums) and sums.device is device:
        return sums.addresses[total.k], 0
    return 0, bits_of(total.value)


def one_pass(device: Device, program: Any, dtype: Any, size: int, scalars: list[Any], *stores: Any) -> Any:
    """(stores, sums)"""
    operands, iso = [], 0
    for k, store in enumerate(stores):
        x = store if store.format == "bitmap" else to_bitmap(device, store)
        operands += x.values, x.words
        iso |= int(x.iso) << k
    operands += [None] * (2 * (VECTORS - len(stores)))
    operands.append(iso)
    for k in range(SCALARS):
        x = scalars[k] if k < len(scalars) else 0.0
        operands += (0, bits_of(x)) if isinstance(x, float) else _operand_of(device, x)
    values = [device.empty(size, dtype.np_type) for _ in program.outputs]
    launcher, count = device.launcher, len(program.sums)
    text = "float" if dtype.np_type.itemsize == 4 else "double"
    kernel = launcher.kernel("elementwise/one_pass.cuh", "one_pass", program.cuda_text, (text, "Pass"))
    threads = launcher.threads(BLOCK)
    blocks = launcher.blocks(launcher.processors * BLOCKS_OF_PROCESSOR, size + threads - 1, threads)
    sums = DeviceSums(device, count)
    parts, finished = device.partial_results(max(count * blocks, 1))
    outputs = values + [None] * (OUTPUTS - len(values))
    kernel(blocks, threads, (*operands, *outputs, size, parts, finished, sums.array))
    return [BitmapVector(size, dtype, None, x, size) for x in values], sums
