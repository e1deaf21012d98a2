"""What a captured loop carries from turn to turn: vectors in arrays whose addresses stay as they are.

A slot's form is a bitmap with its number of entries on the device, or full; an iso vector keeps its one value.  A turn
reads `store()`, and what it leaves is copied back by `copy_arrays` where it lies elsewhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ....exceptions import CaptureError
from ....storage.store import BitmapVector
from ..runtime.array_block import layout
from ..runtime.late_vector import LateVector
from ..structure.arrays import repeated, to_bitmap

_COUNT = 4  # words of a count, as Device.counters makes them
_TOGETHER = 8  # copies in a launch, COPIES of kernels/programs/copy.cuh


class Form(NamedTuple):
    """The form of a slot.  value: the address of an iso vector's one value, which is a constant; 0 for none."""

    size: int
    dtype: Any
    full: bool
    value: int

    def text(self) -> str:
        """For messages."""
        kind = "full" if self.full else "of one value" if self.value else "with gaps"
        return f"{self.dtype.name} of size {self.size}, {kind}"

    def wider(self, other: Form) -> Form | None:
        """A form that holds vectors of both, None where there is none."""
        if self.size != other.size or self.dtype is not other.dtype:
            return None
        return Form(self.size, self.dtype, self.full and other.full, self.value if self.value == other.value else 0)


def form_of(device: Any, store: Any) -> Form:
    """The form in which a slot keeps a device vector.

    Raises: CaptureError for one whose arrays would be as long as a dimension that has few entries.
    """
    if store.format not in ("bitmap", "sparse"):
        raise CaptureError("programs: a matrix changes in the loop; keep matrices out of it, or run it plain")
    size, full = store.size, store.nvals_if_read == store.size
    constant = store.iso and store.nvals_if_read != 0 and device.known_constant(store.values) is not None
    return Form(size, store.dtype, full, device.address(store.values) if constant and not full else 0)


class Slot:
    """Arrays of one Form."""

    def __init__(self, device: Any, form: Form, constant: Any = None) -> None:
        """constant: the array with an iso vector's value."""
        self._device, self.form, self._constant = device, form, constant
        size, item = form.size, form.dtype.np_type
        words = None if form.full else ((size + 63) >> 6, np.dtype(np.uint64))
        count = None if form.full else (_COUNT, np.dtype(np.uint64))
        device.check_room(size * item.itemsize, "programs: a vector of the loop")
        plan = layout(words, count, None if form.value else (size, item))
        self._block = device.launcher.array_block(device.xp, plan)

    @property
    def count(self) -> Any:
        """The array whose first element is the number of entries, None where it is full."""
        return self._block.array(1)

    @property
    def values(self) -> Any:
        """The array of values; of an iso vector the constant."""
        return self._constant if self.form.value else self._block.array(2)

    def store(self) -> Any:
        """The vector that it holds; the only holder of its arrays, which may therefore be written in place."""
        form = self.form
        if form.full:
            return BitmapVector(form.size, form.dtype, None, self.values, form.size)
        estimate = max(form.size >> 6, 1)  # of a frontier: what depends on it is right with any
        result = LateVector(
            self._device, form.size, form.dtype, self._block.array(0), self.values, self.count, bool(form.value),
            estimate,
        )  # fmt: skip
        result.shared = bool(form.value)
        return result

    def fits(self, store: Any) -> bool:
        """Can it hold the vector?"""
        form, known = self.form, store.nvals_if_read
        if store.format not in ("bitmap", "sparse") or store.size != form.size or store.dtype is not form.dtype:
            return False
        if form.full:
            return known == form.size
        return known == 0 or not form.value or store.iso and self._device.address(store.values) == form.value

    def load(self, store: Any) -> list[tuple[Any, Any]]:
        """(array of the slot, array or None for zeros) to copy, so that it holds a vector, which `fits`; not in a turn.

        What it takes more is queued at once.
        """
        device, form, pairs = self._device, self.form, []
        words, count, values = self._block.arrays()
        if not form.full and store.nvals_if_read == 0:
            return [(words, None), (count[:1], None)]
        store = to_bitmap(device, store)
        if not form.full:
            late = store.counter if type(store) is LateVector else None
            if store.words is None:
                words.fill(2**64 - 1)
                if form.size & 63:
                    words[-1:] = (1 << (form.size & 63)) - 1
            else:
                pairs.append((words, store.words))
            if late is None:
                set_number(device, count, store.nvals)
            else:
                pairs.append((count[:1], late[:1]))
        if not form.value:
            if store.iso:
                values[:] = store.values
            else:
                pairs.append((values, store.values))
        return pairs

    def copies(self, store: Any) -> list[tuple[Any, Any]]:
        """(array of the slot, array of the vector) of what lies elsewhere; a turn left the vector.

        Raises: CaptureError where the slot cannot hold it.
        """
        if not self.fits(store):
            raise CaptureError(
                f"programs: a vector of the loop is {self.form.text()} in one turn, "
                f"{form_of(self._device, store).text()} in another"
            )
        device, form = self._device, self.form
        words, count, values = self._block.arrays()
        found = []
        if not form.value:
            held = repeated(device, store.values, form.size) if store.iso else to_bitmap(device, store).values
            found.append((values, held))
        if not form.full:
            if store.nvals_if_read == 0:
                found += [(words, None), (count[:1], None)]
            else:
                store = to_bitmap(device, store)
                if store.words is None or type(store) is not LateVector or store.counter is None:
                    fresh = Slot(device, form, self._constant)
                    copy_arrays(device, fresh.load(store))
                    words_of, count_of, _ = fresh._block.arrays()
                else:
                    words_of, count_of = store.words, store.counter
                found += [(words, words_of), (count[:1], count_of[:1])]
        return [pair for pair in found if pair[1] is None or pair[0].data.ptr != pair[1].data.ptr]

    def result(self) -> tuple[Any, list[tuple[Any, Any]]]:
        """(a vector of its own for the same entries, the copies that give it these)."""
        other = Slot(self._device, self.form, self._constant)
        pairs = zip(other._block.arrays(), self._block.arrays(), strict=True)
        return other.store(), [pair for pair in pairs if pair[0] is not None]


def set_number(device: Any, array: Any, value: Any) -> None:
    """array[0] = value, of 1 or 8 bytes."""
    bits = int.from_bytes(np.asarray(value, array.dtype).tobytes(), "little")
    kind = "uint8_t" if array.dtype.itemsize == 1 else "uint64_t"
    kernel = device.launcher.kernel("programs/turns.cuh", "set_number", "", (kind,))
    kernel(1, 32, (array.view(np.uint8 if kind == "uint8_t" else np.uint64), np.uint64(bits).astype(np.int64).item()))


def copy_arrays(device: Any, pairs: list[tuple[Any, Any]]) -> None:
    """to[:] = source for all (to, source), zeros for None, as if at once: a source may be the `to` of another pair."""
    written = {to.data.ptr for to, _ in pairs} if len(pairs) > _TOGETHER else ()
    pairs = [
        (to, source.copy() if source is not None and source.data.ptr in written else source) for to, source in pairs
    ]
    kernel = device.launcher.kernel("programs/copy.cuh", "copy_arrays") if pairs else None
    for k in range(0, len(pairs), _TOGETHER):
        some = pairs[k : k + _TOGETHER]
        flat = [x for to, source in some for x in (to, source, to.nbytes)] + [None, None, 0] * (_TOGETHER - len(some))
        words = max(to.nbytes for to, _ in some) + 7 >> 3
        kernel.over(words, (words, *flat))
