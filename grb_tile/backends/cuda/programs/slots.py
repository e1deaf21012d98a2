"""What a captured loop carries from turn to turn: vectors in arrays whose addresses stay as they are.

A slot's form is a bitmap with its number of entries on the device, or full; an iso vector keeps its one value.  A turn
reads `store()`, and what it leaves is copied back by `copy_arrays` where it lies elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from ....exceptions import CaptureError
from ....planner.choose_matvec_gpu import DirectionCosts
from ....storage.convert import cached_transpose
from ....storage.store import BitmapVector
from ..runtime.array_block import layout
from ..runtime.late_vector import LateVector
from ..runtime.moves import copied
from ..structure.arrays import repeated, to_bitmap

_COUNT = 4  # words of a count, as Device.counters makes them
_EMPTY = (0,) * 8  # of words and count
_EMPTY_WITH_VALUES = (*_EMPTY, 0, 0, 0, -1)  # values of no entry may be any
_TOGETHER = 8  # copies in a launch, COPIES of kernels/programs/copy.cuh


class Wider(Exception):  # noqa: N818  # no error: the turn is run again
    """A turn left a vector that its slot does not hold, but a wider one does."""


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


def arrays_of(store: Any) -> tuple | None:
    """The addresses of values and words of a bitmap with a value for each position; None for other stores."""
    if store.format != "bitmap" or store.iso:
        return None
    return store.values.data.ptr, None if store.words is None else store.words.data.ptr


class Slot:
    """Arrays of one Form."""

    def __init__(self, device: Any, form: Form, constant: Any = None) -> None:
        """constant: the array with an iso vector's value."""
        self._device, self.form, self._constant = device, form, constant
        size, item = form.size, form.dtype.np_type
        words = None if form.full else ((size + 63) >> 6, np.dtype(np.uint64))
        count = None if form.full else (_COUNT, np.dtype(np.uint64))
        device.check_room(size * item.itemsize, "programs: a vector of the loop")
        self._plan = layout(words, count, None if form.value else (size, item))
        self._block = device.launcher.array_block(device.xp, self._plan)
        self.arrays = len(self.places())  # how many

    @property
    def count(self) -> Any:
        """The array whose first element is the number of entries, None where it is full."""
        return self._block.array(1)

    @property
    def values(self) -> Any:
        """The array of values; of an iso vector the constant."""
        return self._constant if self.form.value else self._block.array(2)

    def places(self) -> list[tuple[int, int, int, int]]:
        """Of each of its arrays what stays: address, bytes, item and size of kernels/programs/load.cuh."""
        form, (words, count, values) = self.form, self._block.addresses
        size, item = form.size, form.dtype.np_type.itemsize
        found = [] if form.full else [(words, (size + 63) // 64 * 8, 0, size), (count, 8, 8, 1)]
        return found if form.value else [*found, (values, size * item, item, size)]

    def brought(self, store: Any, kept: list) -> tuple | None:
        """Of each of its arrays what a vector brings: from, number, at, count of load.cuh; None where it does not fit.

        The vector is of the size and the type of the slot.  kept: gets what has the arrays, on the device.
        """
        device, form = self._device, self.form
        listed = store.format == "sparse"
        known = store.indices.shape[0] if listed else store.nvals_if_read
        if known == 0 and not form.full:
            return _EMPTY if form.value else _EMPTY_WITH_VALUES
        values, iso = store.values, store.iso
        if iso and known == form.size and type(values) is np.ndarray and values.itemsize <= 8 and not form.value:
            value = self._number_for_all(values[0])
            return value if form.full else (0, -1, 0, 0, 0, known, 0, 0, *value)
        if type(values) is not device.array_class or listed or device.several:
            store = device.to_device(store)
            values = store.values
        kept += store, values
        address = values.data.ptr
        if form.full and known != form.size or form.value and not (iso and address == form.value):
            return None
        if listed and not form.full:
            at = store.indices.data.ptr
            found = (0, 0, at, known, 0, known, 0, 0)
            return found if form.value else (*found, address, int(iso), at, known)
        if form.value:
            all_values: tuple = ()
        else:
            all_values = self._repeated(values) if iso else (address, 0, 0, 0)
        if form.full:
            return all_values
        words, late = store.words, None if known is not None else store.counter
        number = (0, store.nvals, 0, 0) if late is None else (late.data.ptr, 0, 0, 0)
        return (*((0, -1, 0, 0) if words is None else (words.data.ptr, 0, 0, 0)), *number, *all_values)

    def _repeated(self, values):
        """What an iso vector brings for all values."""
        known = self._device.known_constant(values)
        if known is None or known.itemsize > 8:
            self._spread = repeated(self._device, values, self.form.size)  # kept as long as the launch may read it
            return self._spread.data.ptr, 0, 0, 0
        return self._number_for_all(known)

    @staticmethod
    def _number_for_all(value):
        return 0, int.from_bytes(value.tobytes() * (8 // value.itemsize), "little", signed=True), 0, 0

    def store(self) -> Any:
        """The vector that it holds; the only holder of its arrays, which may therefore be written in place."""
        return self._store_of(self._block.arrays())

    def _store_of(self, arrays):
        form, (words, count, values) = self.form, arrays
        if form.full:
            return BitmapVector(form.size, form.dtype, None, values, form.size)
        estimate = max(form.size >> 6, 1)  # of a frontier: what depends on it is right with any
        if form.value:
            values = self._constant
        result = LateVector(
            self._device, form.size, form.dtype, words, values, count, bool(form.value), estimate
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
        """The copies, as copy_arrays takes them, after which it holds a vector, which `fits`."""
        device, form, pairs = self._device, self.form, []
        words, count, values = self._block.arrays()
        if not form.full and store.nvals_if_read == 0:
            return [(words, None), (count[:1], None)]
        store = to_bitmap(device, store)
        if not form.full:
            late = store.counter if type(store) is LateVector else None
            if store.words is None:
                pairs += [(words[:-1], -1), (words[-1:], (1 << (form.size & 63)) - 1 if form.size & 63 else -1)]
            else:
                pairs.append((words, store.words))
            pairs.append((count[:1], store.nvals if late is None else late[:1]))
        if not form.value:
            if store.iso:
                pairs.append((values, repeated(device, store.values, form.size)))
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
        if not form.full and store.nvals_if_read == 0:
            return [(words, None), (count[:1], None)]
        found = []
        if not form.value:
            held = repeated(device, store.values, form.size) if store.iso else to_bitmap(device, store).values
            found.append((values, held))
        if not form.full:
            store = to_bitmap(device, store)
            if store.words is None or type(store) is not LateVector or store.counter is None:
                fresh = Slot(device, form, self._constant)
                copy_arrays(device, fresh.load(store))
                words_of, count_of, _ = fresh._block.arrays()
            else:
                words_of, count_of = store.words, store.counter
            found += [(words, words_of), (count[:1], count_of[:1])]
        return [pair for pair in found if pair[1] is None or pair[0].data.ptr != pair[1].data.ptr]

    def result(self, nvals: int | None = None) -> tuple[Any, list[tuple[Any, Any]]]:
        """(a vector of its own for the same entries, the copies that give it these); nvals: how many, where known."""
        device, form = self._device, self.form
        device.check_room(form.size * form.dtype.np_type.itemsize, "programs: a vector of the loop")
        arrays = device.launcher.array_block(device.xp, self._plan).arrays()
        pairs = [pair for pair in zip(arrays, self._block.arrays(), strict=True) if pair[0] is not None]
        store = self._store_of(arrays)
        if nvals is not None and not form.full:
            store.nvals = nvals
            del pairs[1]  # the count
        return store, pairs


@contextmanager
def as_before(device: Any, slots: list[Slot]) -> Iterator[None]:
    """After it the slots hold what they held before."""
    kept = [slot.result() for slot in slots]
    copy_arrays(device, [pair for _, pairs in kept for pair in pairs])
    yield
    copy_arrays(device, [pair for slot, (store, _) in zip(slots, kept, strict=True) for pair in slot.load(store)])


def store_apart(device: Any, store: Any) -> Any:
    """The vector, over the same arrays, without what was found of it so far, and not to be written in place."""
    if store.nvals_if_read == 0:
        return store
    store = to_bitmap(device, store)
    counter = None if store.nvals_if_read is not None else store.counter  # which may find the number
    words, values, known = store.words, store.values, store.nvals_if_read
    if words is None or known is not None:
        made = BitmapVector(store.size, store.dtype, words, values, store.size if words is None else known, store.iso)
    else:
        made = LateVector(device, store.size, store.dtype, words, values, counter, store.iso, store.estimated_nvals)
    made.shared = True
    return made


def bits_of(value: Any, dtype: Any) -> int:
    """A number of 1 or 8 bytes of a NumPy type, as copy_arrays takes it."""
    return int.from_bytes(np.asarray(value, dtype).tobytes(), "little", signed=True)


def number_of(bits: int, dtype: Any) -> np.generic:
    """The NumPy scalar whose bits_of these are, as a signed or an unsigned number."""
    return np.frombuffer((bits & (1 << 64) - 1).to_bytes(8, "little")[: dtype.itemsize], dtype)[0]


def chosen(device: Any, flag: Any, first: Any, second: Any) -> Any:
    """The vector `first` where flag[0], on the device, is true, else `second`; of one size and type.

    Raises: CaptureError where these differ.
    """
    forms = form_of(device, first), form_of(device, second)
    form = forms[0].wider(forms[1])
    if form is None:
        raise CaptureError(f"programs: the branches of an `if` leave {forms[0].text()} and {forms[1].text()}")
    slot = Slot(device, form, first.values if form.value else None)
    copy_arrays(device, slot.copies(second))
    copy_arrays(device, slot.copies(first), flag)
    return slot.store()


def copy_arrays(device: Any, pairs: list[tuple[Any, Any]], flag: Any = None) -> None:
    """to[:] = source for all (to, source), as if at once: a source may be the `to` of another pair.

    source: an array; a number, whose 8 bytes are repeated; or None for zeros.  flag: an array of BOOL on the device;
    nothing is copied where its first is false.
    """
    written = {to.data.ptr for to, _ in pairs} if len(pairs) > _TOGETHER else ()
    if written:
        pairs = [
            (to, copied(device, source) if _is_array(source) and source.data.ptr in written else source)
            for to, source in pairs
        ]
    for k in range(0, len(pairs), _TOGETHER):
        some = pairs[k : k + _TOGETHER]
        flat, most = [], 0
        for to, source in some:
            flat += (to, source, to.nbytes, 0) if _is_array(source) else (to, None, to.nbytes, source or 0)
            most = max(most, to.nbytes)
        _launch(device, most + 7 >> 3, flag, flat)


def clear_memory(device: Any, parts: list[tuple[int, int]]) -> None:
    """Zeros in each (address, bytes)."""
    for k in range(0, len(parts), _TOGETHER):
        some = parts[k : k + _TOGETHER]
        flat = [x for address, count in some for x in (address, None, count, 0)]
        _launch(device, max(count for _, count in some) + 7 >> 3, None, flat)


def _launch(device, words, flag, flat):
    """flat: destination, source, bytes and number of each copy; words: of 8 bytes, of the longest."""
    launcher, count = device.launcher, len(flat) // 4
    arguments = (words, flag, *flat, *(None, None, 0, 0) * (_TOGETHER - count))
    kernel = launcher.kernel("programs/copy.cuh", "copy_arrays")
    if launcher.recorder is None:
        kernel.over(words, arguments)
    else:  # for so many copies, which takes fewer registers
        launcher.recorder.note(kernel, 1 + (words > 256), arguments, 0, words, template=(str(count),))


def _is_array(source):
    return source is not None and type(source) is not int


def parts_of(store):
    """A matrix with its forms on the device, their forms and its transpose's: nothing of them may be dropped."""
    found, todo = [], [store, cached_transpose(store)]
    while todo:
        item = todo.pop()
        forms = dict(getattr(item, "forms", None) or {})
        if item is not None and all(item is not x for x in found):
            found += [item, forms]
            todo += [x for x in forms.values() if hasattr(x, "forms")]
    return found


class Choice:
    """What decides on the direction of a turn: its first product that may run either way.

    u, admitted: the slots of the vector that it multiplies and of its mask's pattern (None: no mask).
    """

    def __init__(self, costs: Callable[[], DirectionCosts], by_columns: Any, u: Slot, admitted: Slot | None) -> None:
        self._make, self.by_columns, self.u, self.admitted = costs, by_columns, u, admitted
        self.costs: Any = None

    def weigh(self, device: Any) -> None:
        """The costs as they are now: a form of the matrix may tell more of it than there was to know before."""
        self.costs = device.upload(np.array(self._make(), np.float64))
