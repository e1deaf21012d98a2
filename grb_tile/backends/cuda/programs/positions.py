"""u(p) and t(p) = x in a turn, at positions p that are a vector's values (kernels/programs/positions.cuh).

A position outside its dimension, and one that comes twice where it must not, is told in DeviceLoop.doubt: the loop
ends, and runs from Python, where the call raises its error.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....dtypes import INT64
from ....exceptions import CaptureError
from ....operators import get_typed_op, registered, typed_semiring
from ....storage.store import BitmapVector, StoredMask
from ....storage.turn_array import TurnArray
from ..elementwise.elementwise import restrict
from ..lowering.semirings import lowered_plain
from ..runtime.late_vector import LateVector
from ..structure.arrays import moved_type, repeated, to_bitmap

HEADER = "programs/positions.cuh"
_FIRST, _LAST = {"first", "any"}, {"second"}  # operators that depend on the order


def gather(device: Any, u: Any, I: TurnArray) -> Any:
    """u(I): element k is u[I[k]], where u has it.  Raises: CaptureError where the length is not known."""
    n, u = len(I), to_bitmap(device, device.to_device(u))
    if I.is_index:
        if n != u.size:
            raise CaptureError("programs: the positions of a full vector of another size: write u[:n]")
        return u
    at, full = _positions(device, I), u.words is None
    values = device.empty(n, u.dtype.np_type)
    words, count = (None, None) if full else (device.empty((n + 63) >> 6, np.uint64), device.counters())
    kernel = device.launcher.kernel(HEADER, "gather_at", "", (I.store.dtype.cuda_type, moved_type(values)))
    kernel.over((n + 63) & ~63, (
        at, n, u.words, u.values, bool(u.iso), u.size, words, values, count, *_told(device),
    ), block=64)  # fmt: skip
    if full:
        return BitmapVector(n, u.dtype, None, values, n)
    return LateVector(device, n, u.dtype, words, values, count)


def expand(device: Any, x: Any, I: TurnArray, size: int) -> Any:
    """t(I) = x: of positions that come twice the last counts.  x: full, of the size of the vector that I is of."""
    if I.is_index:
        if I.store.size != size:
            raise CaptureError("programs: positions of a vector of another size")
        return restrict(device, x, StoredMask(I.store)) if I.has_gaps else x
    return _scattered(device, x, I, size, None, from_end=True)


def build(device: Any, size: int, I: TurnArray, values: Any, dup: Any, dtype: Any) -> Any:
    """t(I[k]) = values[k], a full vector of dtype, with what `dup` makes of equal positions; None: there are none."""
    if I.is_index:
        return expand(device, values, I, size)
    name = None if dup is None else dup.name
    if name is not None and name not in _FIRST | _LAST:
        if not (dup.type is dup.type2 is dup.return_type is dtype):
            raise CaptureError(f"programs: from_coo with dup_op={dup} of another type than the values")
        return _scattered(device, values, I, size, name)
    return _scattered(device, values, I, size, None, once=dup is None, first=name in _FIRST)


def _scattered(device, x, I, size, name, from_end=False, once=False, first=False):
    """The bitmap t; name: of the monoid that combines values; None: the last place counts, or the first."""
    x, store = to_bitmap(device, device.to_device(x)), to_bitmap(device, I.store)
    at, n, pick = _positions(device, I), store.size, name is None and not x.iso
    own = INT64 if pick else x.dtype
    by = ("min" if first else "max") if pick else name or "any"
    monoid = getattr(get_typed_op(registered("binary", by), own, kind="binary"), "monoid", None)
    semiring = None if monoid is None else typed_semiring(monoid, "second")
    s = None if semiring is None else lowered_plain(device, semiring, own, True, own, bool(x.iso) and not pick)
    if s is None or s.dtype is not own or not s.merges_by_atomics or not (s.has_start or s.structure_only):
        raise CaptureError(f"programs: entries at positions of the loop cannot be combined by {name} of {own.name}")
    words, count = device.zeros((size + 63) >> 6, np.uint64), device.counters()
    values = None if s.structure_only else device.empty(size, own.np_type)
    if values is not None:
        s.kernel(device.launcher, "products/columns.cuh", "fill_start", ("S",)).over(size, (values, size))
    kernel = s.kernel(device.launcher, HEADER, "scatter_at", (I.store.dtype.cuda_type, "S"))
    kernel.over(n, (
        at, store.words, n, None if pick or s.structure_only else x.values, size, from_end, once, words, values, count,
        *_told(device),
    ))  # fmt: skip
    if s.structure_only:
        return LateVector(device, size, x.dtype, words, x.values, count, True)
    if pick:
        picked = device.empty(size, x.dtype.np_type)
        kernel = device.launcher.kernel(HEADER, "pick_at", "", (moved_type(picked),))
        kernel.over(size, (values, words, size, x.values, picked))
        values = picked
    return LateVector(device, size, x.dtype, words, values, count)


def _positions(device, I):
    """The array of I's elements, by position of its vector."""
    store = to_bitmap(device, device.to_device(I.store))
    return repeated(device, store.values, store.size) if store.iso else store.values


def _told(device):
    """Where a kernel tells of positions that are none."""
    return device.turns.doubt, device.turns.stop_address
