"""Calls of a captured loop with operands of the kinds of a call before: one launch that loads, the loop, no copies.

    bound = BoundLoop(loop, unchanged)             # loop: a DeviceLoop that has been captured
    found = bound.run(test, values, stores, numbers, left)

What a call leaves reads the slots where it is first used, or as the loop is loaded again, whichever is first (Lent):
what nobody reads is never copied.

Kernel: kernels/programs/load.cuh.
"""

from __future__ import annotations

import struct
import weakref
from typing import Any

from ....dtypes import BOOL, FP64, INT64
from ....exceptions import CaptureError
from ..runtime.errors import run_reported
from ..runtime.late_vector import LateVector
from .doubt import DOUBT
from .slots import Slot, bits_of, copy_arrays, number_of

LOADED = 8  # arrays of a launch, as in load.cuh
_THREADS, _WORDS_EACH = 256, 2
_SKIPPED = (0, 0, 0, -1)
_DOUBLE, _WORD = struct.Struct("<d"), struct.Struct("<q")


class Lent:
    """The (values, words) of a vector that a loop left in a slot: copied when it is called first, at the latest before
    the slot gets other entries.
    """

    __slots__ = ("__weakref__", "_device", "_slot", "found")

    def __init__(self, device: Any, slot: Slot) -> None:
        self._device, self._slot = device, slot
        self.found: tuple | None = None

    def __call__(self) -> tuple:
        return run_reported(self._device, "program", self._copied)

    def _copied(self):
        if self.found is None:
            self._device.needs_host("a vector is read that another program has left: read it before the loop")
            store, pairs = self._slot.result(0)  # it is told the number of entries
            copy_arrays(self._device, pairs)
            self.found, self._slot = (store.values, store.words), None
        return self.found


def take_back(lent: list) -> None:
    """What earlier calls left in the slots (weak references to Lent) is copied where it is still wanted."""
    for reference in lent:
        wanted = reference()
        if wanted is not None and wanted.found is None:
            wanted()
    lent.clear()


class BoundLoop:
    """One captured loop."""

    def __init__(self, loop: Any, unchanged: set[int]) -> None:
        """unchanged: the vectors that no turn writes."""
        self._loop, self._device = loop, loop.device
        self._unchanged = unchanged
        slots, count = loop._slots, loop._vectors
        self._vectors, self._numbers = slots[:count], slots[count:]
        fixed = [place for slot in self._vectors for place in slot.places()]
        fixed += [place for slot in self._numbers for place in slot.places()]
        fixed.append((int(loop.doubt.data.ptr), 8, 8, 1))
        self._padding = _SKIPPED * (-len(fixed) % LOADED)
        self._launches = [self._launch(fixed[k : k + LOADED]) for k in range(0, len(fixed), LOADED)]
        counts = 0
        self._results: list[tuple | None] = []  # of each vector: slot, size, type, its count among the words told
        for k, slot in enumerate(self._vectors):
            form, place = slot.form, counts
            counts += not form.full
            self._results.append(None if k in unchanged else (slot, form, place))
        self._first_number = counts

    def _launch(self, places):
        launcher = self._device.launcher
        kernel = launcher.kernel("programs/load.cuh", "load_arrays")
        words = max(count for _, count, _, _ in places) + 7 >> 3
        threads = launcher.threads(_THREADS)
        blocks = launcher.blocks(16 * launcher.processors, words, threads * _WORDS_EACH)
        flat = [x for place in places for x in place] + [0] * (4 * (LOADED - len(places)))
        return kernel.launch(4 * LOADED, blocks, threads, 0, False, tuple(flat))

    def run(self, test: Any, values: list, stores: list, numbers: list, left: int) -> Any:
        """(the vectors' stores, None for those that no turn writes; the numbers; turns), or False where test(*values)
        does not hold as the loop begins, or None where a slot does not hold a vector.

        stores: of the vectors, None for a name that is not bound yet.  numbers: of Python, or NumPy scalars.
        Raises: as DeviceLoop.launch.
        """
        device = self._device
        with device.lock:
            if device.several:
                with device.bound():
                    device.in_order()
                    return self._run(test, values, stores, numbers, left)
            if device.current_stream() is not device.stream:
                device.wait_stream()
            return self._run(test, values, stores, numbers, left)

    def _run(self, test, values, stores, numbers, left):
        if left <= 0 or not test(*values):
            return False
        if self._loop.lent:
            take_back(self._loop.lent)  # before addresses are taken: it may need room, and give up copies for it
        held, words = self._loop.held, []
        kept: list = []  # what lies at the addresses, until the launch
        for k, (slot, store) in enumerate(zip(self._vectors, stores, strict=True)):
            if store is None or held.get(k, held) is store:
                words += _SKIPPED * slot.arrays
                continue
            brought = slot.brought(store, kept)
            if brought is None:
                held.clear()  # nothing is loaded
                return None
            words += brought
            if k in self._unchanged:
                held[k] = store  # so nobody writes it in place
        for slot, value in zip(self._numbers, numbers, strict=True):
            if type(value) is float:
                (value,) = _WORD.unpack(_DOUBLE.pack(value))
            elif type(value) is not int:
                value = bits_of(value, slot.form.dtype.np_type)
            words += (0, value, 0, 0)
        words += (0, 0, 0, 0)
        words += self._padding
        loop, stream = self._loop, self._device.stream.ptr
        for k, launch in enumerate(self._launches):
            launch(stream, *words[32 * k : 32 * k + 32])
        loop.launch(None, left)
        return self._left()

    def _left(self):
        told, device, lent = self._loop._found[:], self._device, self._loop.lent
        if told[-1]:
            raise CaptureError(DOUBT)
        stores: list = []
        for result in self._results:
            if result is None:
                stores.append(None)
                continue
            slot, form, place = result
            arrays = Lent(device, slot)
            lent.append(weakref.ref(arrays))
            count = form.size if form.full else told[place]
            store = LateVector.of_arrays(device, form.size, form.dtype, arrays, None, count)
            store.nvals_if_read = count
            if form.value:
                store.iso = store.shared = True
            stores.append(store)
        numbers = []
        for slot, bits in zip(self._numbers, told[self._first_number :], strict=False):
            dtype = slot.form.dtype
            if dtype is INT64:
                numbers.append(bits)
            elif dtype is FP64:
                numbers += _DOUBLE.unpack(_WORD.pack(bits))
            else:
                numbers.append(bool(bits) if dtype is BOOL else number_of(bits, dtype.np_type))
        return stores, numbers, self._loop.turns
