"""What a column-wise product keeps between calls, so that a call is one launch: arguments, accumulators, workspace.

Kernels: merge_columns and merge_evenly (edge-balanced) in products/columns.cuh; the planner chooses (merge_kernel).
A launch clears the accumulator of the next one; Device.in_order orders launches when the stream changes. Before a
launch the host does as little as possible: it allocates memory for the next call while the device works, and makes the
arrays over the result when they are first used.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner import tuning
from ....planner.choose_kernel import forced_kernel, merge_kernel, presence_is_found_later, stays_bitmap
from ....planner.record import UNRECORDED
from ....storage.store import forms_of
from ..runtime.array_block import layout
from ..structure.arrays import index_type
from ..structure.rows import longest_row
from .row_schedule import pointers

if TYPE_CHECKING:
    from ....planner import Plan
    from ....planner.device_limits import DeviceLimits
    from ....storage.store import Compressed
    from ..lowering.semirings import Lowered
    from ..runtime.array_block import Layout
    from ..runtime.device import Device

LAUNCH = {"block": 512, "blocks": 2}  # threads of a block, blocks per processor
SMALL = {"block": 256, "blocks": 1}  # the same up to tuning.SMALL_LAUNCH entries of x and MANY_EDGES edges
SHARED_SUMS = {"block": 1024, "blocks": 1}  # the same with sums of high-degree rows in shared memory
EDGES_OF_BLOCK = 1024  # a matrix with fewer entries per block gets fewer blocks
HIGH_DEGREE_BYTES = 192 << 10  # of shared memory for the sums of high-degree rows, at most
REST_BYTES = 16 << 10  # of shared memory that these sums leave free
_EACH, _CHUNK, _MOST_CHUNKS = 8, {4: 4096, 8: 2048}, 1024  # as in products/columns.cuh
_KEPT_WORKSPACE = 1 << 24  # entries of x up to which the workspace for its chunks is kept
_FEW, _NOT_FEW = (1, 0, 0), (0, 0, 0)  # and no edges are counted
_NO_ACCUMULATOR = 0, 0, 0  # the addresses of one to clear meanwhile: none
_NO_SLOTS = 0, 0  # of high-degree rows: address of their numbers, how many
_WORD = np.dtype(np.uint64)


def high_degree_bytes(limits: DeviceLimits) -> int:
    """Bytes of shared memory for the sums of high-degree rows."""
    return min(HIGH_DEGREE_BYTES, limits.shared_per_block - REST_BYTES)


def merge_of(device: Device, AT: Compressed, s: Lowered, masked: bool, kind: str) -> Merge:
    """The Merge for these operands, kept with AT.  kind: of x, "b" a bitmap, "f" full, else its indices' type."""
    forms = AT.forms or forms_of(AT)
    key = "merge", s, masked, kind
    found = forms.get(key)
    if found is None:
        found = forms[key] = Merge(device, AT, s, masked, kind)
    return found


class Merge:
    """Launches merge_columns or merge_evenly for one matrix, semiring, kind of mask and kind of x."""

    def __init__(self, device: Device, AT: Compressed, s: Lowered, masked: bool, kind: str) -> None:
        self._device = device
        self._s = s
        ptr = pointers(device, AT)
        self._bitmap = kind == "b"
        wide = kind in "lq" or kind in "bf" and AT.nrows >= 2**31
        self._p_type, self._x_type = ptr.dtype, np.dtype(np.int64 if wide else np.int32)
        self._template = (index_type(AT.indices), index_type(ptr), "int64_t" if wide else "int32_t", "S",
                          "true" if masked else "false", "true" if self._bitmap else "false")  # fmt: skip
        self._size = size = AT.ncols
        self._type = None if s.structure_only else s.dtype.np_type
        self.stays_bitmap = stays_bitmap(size, 0 if s.structure_only else self._type.itemsize, device.profile)
        self._clean = size, self._type, np.asarray(s.start).tobytes() if s.has_start else None
        self._raw = size, self._type
        # shared with other matrices of such products, and dropped with the last of them
        self._kept_clean, self._kept_raw = device.kept(self._clean), device.kept(self._raw)
        self._kept_workspace = device.kept((self._p_type, self._x_type, self._bitmap))
        self._layout = layout(((size + 63) >> 6, _WORD), (4, _WORD), None if self._type is None else (size, self._type))
        stored, entries = AT.indptr.shape[0] - 1, AT.indices.shape[0]
        self.mean = entries / max(stored, 1)  # entries of a column
        self._longest = longest_row(device, AT)
        block = device.launcher.threads(LAUNCH["block"])
        most = tuning.SCAN_ALL[self._longest > tuning.LONG_COLUMN]
        self._few = 0 if self._bitmap else min(most, _CHUNK[ptr.dtype.itemsize], _EACH * block)
        self._arrays = ptr, AT.rows, stored, AT.indices, AT.values if s.reads_a else None, size
        self._fixed = tuple(a if type(a) is int else device.address(a) for a in self._arrays)
        self._red = s.start_marks_absent  # may sums be merged without return values, and in shared memory?
        self._can_share = s.start_marks_absent and AT.indices.dtype == np.int32
        self._launches = {}
        self._entries, self._AT = entries, weakref.ref(AT)
        self.value: Any = None  # the one value of structure-only products, where it is the same for all operands

    def _launch(self, which):
        """The Launch for (merge_evenly?, without return values?, small?, slots of high-degree rows)."""
        evenly, red, small, slots = which
        device, s = self._device, self._s
        launcher = device.launcher
        shape = SHARED_SUMS if slots else SMALL if small else LAUNCH
        kernel = s.kernel(
            launcher,
            "products/columns.cuh",
            "merge_evenly" if evenly else "merge_columns",
            (*self._template, "true" if red else "false"),
        )
        block = launcher.threads(shape["block"])
        blocks = launcher.blocks(shape["blocks"] * launcher.processors, self._entries, EDGES_OF_BLOCK)
        shared = slots * (4 + self._type.itemsize) if slots else 0
        if evenly or red:
            blocks = min(blocks, kernel.resident_blocks(block, shared), _MOST_CHUNKS)
        found = self._launches[which] = kernel.launch(
            19 if evenly else 15, blocks, block, shared, cooperative=evenly or red, fixed=self._fixed
        )
        return found

    def __call__(
        self, x_indices: Any, x_words: Any, x_values: Any, count: int, edges: int, mask: Any, complement: bool,
        renew: bool, plan: Plan = UNRECORDED,
    ) -> Accumulator:  # fmt: skip
        """The Accumulator of the product, an estimated `edges` products.

        renew: the caller keeps the Accumulator, and the launch clears the next one.
        """
        device, kept = self._device, self._kept_clean
        result, kept.item = kept.item or self._cleaned(), None
        if renew:
            kept = self._kept_raw
            fresh, kept.item = kept.item or self._fresh(), None
            clean = fresh.addresses
        else:
            result.count_in(device.counters())
            clean = _NO_ACCUMULATOR
        red = self._red and presence_is_found_later(edges, self._size)
        chosen = merge_kernel(plan, count, self._few, self._longest, edges, self._can_share, red)
        if chosen == "merge_columns":
            few = count <= self._few
            small = few and count <= tuning.SMALL_LAUNCH and edges < tuning.MANY_EDGES
            which, rest = (False, red, small, 0), _FEW if few else _NOT_FEW
        else:
            high = _NO_SLOTS
            if chosen == "merge_hubs_shared":
                high = self._high_degree_rows(plan, edges)
                red = red or high[-1] > 0
            arrays, rest = self._workspace(count)  # alive until the launch
            which, rest = (True, red, False, high[-1]), (*rest, *high)
        launch = self._launches.get(which) or self._launch(which)
        launch(
            device.stream.ptr,  # within a primitive the caller's
            0 if x_indices is None else x_indices.data.ptr,
            0 if x_words is None else x_words.data.ptr,
            0 if x_values is None else x_values.data.ptr,
            count,
            0 if mask is None else mask.data.ptr,
            1 if complement else 0,
            *result.addresses,
            *clean,
            *rest,
        )
        if renew:
            self._kept_clean.item = fresh
            try:
                kept.item = self._fresh()  # the first allocation of the next call, while the device is busy
            except MemoryError:
                pass
        return result

    def _high_degree_rows(self, plan, edges):
        """(address of the high-degree rows' numbers by slot, slots); none for the first tuning.BUILD_AFTER calls."""
        device, AT, size = self._device, self._AT(), self._size
        slots = high_degree_bytes(device.launcher.limits) // (4 + self._type.itemsize)
        key = "high_degree_rows", slots
        found = AT.forms.get(key, 0)
        if type(found) is int:
            if found < tuning.BUILD_AFTER and forced_kernel("cols") is None:
                AT.forms[key] = found + 1
                plan.use_kernel("merge_edge_balanced", "hubs_later", (edges, tuning.BUILD_AFTER))
                return _NO_SLOTS
            counts, best = device.xp.bincount(AT.indices, minlength=size), device.zeros(slots, np.uint64)
            device.launcher.kernel("products/columns.cuh", "high_degree_rows").over(size, (counts, size, slots, best))
            numbers = device.xp.where(best == 0, -1, (best & 0xFFFFFFFF).astype(np.int64)).astype(np.int32)
            found = AT.forms[key] = numbers, (device.address(numbers), slots)
        return found[1]

    def keep(self, result: Accumulator) -> None:
        """A clean Accumulator for another product."""
        self._kept_clean.item = result

    def _cleaned(self):
        """An Accumulator cleared here."""
        found = self._fresh()
        w, words = found.arrays()
        self._device.clear(words)
        self._device.clear(found.counted())
        s = self._s
        if s.has_start:
            s.kernel(self._device.launcher, "products/columns.cuh", "fill_start", ("S",)).over(
                self._size, (w, self._size)
            )
        return found

    def _fresh(self):
        return Accumulator(self._device, self._layout)

    def _workspace(self, count):
        """(arrays, their addresses) of ends, at, names, totals, members_of: merge_evenly's workspace."""
        device = self._device
        found = self._kept_workspace.item
        if found is None or found[0][0].shape[0] < count:
            capacity, empty, p_type = (count + 63) >> 6 << 6, device.empty, self._p_type
            names = members = None
            if self._bitmap:
                names, members = empty(capacity, self._x_type), empty(_MOST_CHUNKS, np.int32)
            arrays = empty(capacity, p_type), empty(capacity, p_type), names, empty(_MOST_CHUNKS, p_type), members
            found = arrays, tuple(map(device.address, arrays))
            if count <= _KEPT_WORKSPACE:
                self._kept_workspace.item = found
        return found


class Accumulator:
    """An accumulator: values (none for a structure-only semiring), words of presence, four counts."""

    __slots__ = ("_block", "_counts", "addresses")

    def __init__(self, device: Device, layout: Layout) -> None:
        self._block = block = device.launcher.array_block(device.xp, layout)
        words, counts, values = block.addresses
        self.addresses = values, words, counts  # as the kernels take them
        self._counts = None

    def count_in(self, array: Any) -> None:
        """Another array gets the counts."""
        self._counts, self.addresses = array, (*self.addresses[:2], array.data.ptr)

    def words(self) -> Any:
        """The words of presence."""
        return self._block.array(0)

    def arrays(self) -> tuple:
        """(values or None, words)"""
        return self._block.array(2), self._block.array(0)

    def counted(self) -> Any:
        """The array of counts, made when it is first used."""
        return self._block.array(1) if self._counts is None else self._counts
