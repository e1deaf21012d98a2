"""The device arrays of SSSP for one graph: rows sorted by weight, their division into weight classes, a workspace.

Made at the first SSSP of a matrix and kept in its forms ("sssp").  Weight and column share a word: 4 bytes an entry
where their bits fit (integers), else 8 (32-bit weights) or 16.
Further memory: 32 bytes a vertex for the classes, 36 to 44 for the workspace; on graphs of high diameter 4 entries a
vertex and 10 to 19 MB.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner.choose_traversal import forced_traversal, sssp_kernel
from ....storage.store import forms_of
from ..structure.arrays import ranges, repeated
from .block_group import QUEUE_BYTES
from .kept_graph import KeptGraph

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device
    from .block_group import GroupLaunch

CHUNK = 128  # edges, as in kernels/graph/frontier.cuh
WEIGHT_CLASSES = 8  # as in kernels/graph/sssp_state.cuh
CONTROL_WORDS = 104  # at least SsspControl (kernels/graph/sssp_state.cuh)
SHARES = (1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)  # of the entries that are lighter than each class
SAMPLE = 1 << 16  # weights that classes and mean are taken from
SORT_BYTES = 60  # memory for an entry while rows are sorted by weight
ENTRIES_AT_ONCE = 4  # of a vertex, as in kernels/graph/sssp_high_diameter.cuh
FAR_ITEMS = 1 << 17  # of a block's far pile
MAX_ENTRIES = 1 << 33  # edges of a round are counted in 33 bits


class SsspGraph(KeptGraph):
    """Out-edges of one graph, rows sorted by weight; its in-edges (the same where symmetric) after `set_in_edges`."""

    def __init__(self, device: Device, out_edges: Compressed, heaviest: Any) -> None:
        super().__init__(device, out_edges, None)
        self.in_start = self.into = None
        kind = out_edges.dtype.np_type.kind
        self.real = kind == "f"
        self.column_bits = max(int(self.n - 1).bit_length(), 1)
        if self.real:
            self.bytes = 2 * out_edges.dtype.np_type.itemsize
            self.key = np.dtype(np.uint32 if self.bytes == 8 else np.uint64)
        else:
            bits = int(heaviest).bit_length()
            # a path has at most n - 1 edges, and the greatest class may be one more than the heaviest weight
            self.key = np.dtype(np.uint32 if self.n * (int(heaviest) + 1) < 2**32 - 1 else np.uint64)
            small = self.column_bits + bits <= 32 and self.key == np.uint32
            self.bytes = 4 if small else 8 if bits <= 32 else 16
        self.usable = True
        self.start, self.out, weights = self._sorted(out_edges)
        if not self.usable:
            return
        self.classes = self._classes(weights)
        self.mean_weight = self._mean(weights)
        classes = device.array(self.classes)
        self.class_end = device.empty(self.n * WEIGHT_CLASSES, np.uint32)
        kernel = device.launcher.kernel(
            "graph/sssp_prepare.cuh", "weight_classes", "", (self.key_type, str(self.bytes))
        )
        kernel.over(self.n * WEIGHT_CLASSES, (self.start, self.out, self.n, self.column_bits, classes, self.class_end))
        self.launches = None
        self._table = None
        longest = (
            device.read(self.class_end[WEIGHT_CLASSES - 1 :: WEIGHT_CLASSES].max().reshape(1))[0] if self.nvals else 0
        )
        self.choice, self.is_high_diameter = sssp_kernel(self.n, self.nvals, longest, self._entries_of_long_rows)
        self._first_entries = None
        self._items = None

    def _entries_of_long_rows(self, longest: int) -> int:
        """Entries in the rows of out-edges that have more than `longest`."""
        degrees = self.start[1:] - self.start[:-1]
        return self.device.read(degrees[degrees > longest].sum(dtype=np.int64).reshape(1))[0]

    @property
    def key_type(self) -> str:
        """The C++ type of distances."""
        return "unsigned" if self.key == np.uint32 else "word"

    def set_in_edges(self, in_edges: Compressed, symmetric: bool) -> None:
        """Sort `in_edges` by weight, for pulls and predecessors; does nothing the second time.

        symmetric: they are the out-edges, which are sorted already.
        """
        if not self.is_of(self.device, in_edges):
            self.in_start, self.into = (self.start, self.out) if symmetric else self._sorted(in_edges)[:2]
            self._table = None
            self._in_edges = weakref.ref(in_edges)  # last: sorting may fail

    def _sorted(self, store: Compressed) -> tuple[Any, Any, Any]:
        """(row starts, entries with rows ascending by weight, a sample of the weights as keys)."""
        device, xp = self.device, self.device.xp
        count = store.nvals
        values = store.values if not store.iso else repeated(device, store.values, count)
        if self.real:
            if count and bool(xp.isnan(values).any()):
                self.usable = False  # NaN cannot be sorted
                return None, None, None
            weights = values.view(self.key).copy()
            weights[weights == self.key.type(1 << 8 * self.key.itemsize - 1)] = (
                0  # -0.0 becomes 0.0, whose bits are the least
            )
        else:
            weights = values.astype(np.uint64 if self.bytes == 16 else np.uint32)
        starts = device.array(store.indptr, np.int64)
        rows, _ = ranges(device, None, starts[1:], count, segment_dtype=np.int32, want_at=False)
        step = max(1, count // SAMPLE)
        sample = device.host(weights[::step])
        if self.bytes == 4:
            keys = rows.astype(np.uint64)
            keys <<= np.uint64(32)
            keys |= (weights << np.uint32(self.column_bits)) | store.indices.astype(np.uint32)
            keys.sort()
            return starts, keys.astype(np.uint32), sample
        # sorted by weight, then stably by row
        order = xp.argsort(weights, kind="stable")
        order = order[xp.argsort(rows[order], kind="stable")]
        weights, columns = weights[order], store.indices[order]
        if self.bytes == 8:
            entries = weights.astype(np.uint64)
            entries <<= np.uint64(32)
            entries |= columns.astype(np.uint64)
            return starts, entries, sample
        entries = device.empty(2 * count, np.uint64)
        entries[0::2] = weights
        entries[1::2] = columns.astype(np.uint64)
        return starts, entries, sample

    def _classes(self, sample: np.ndarray) -> np.ndarray:
        """Seven keys: the weights below which the SHARES of the entries lie, ascending."""
        if not sample.size:
            return np.zeros(WEIGHT_CLASSES - 1, np.uint64)
        sample = np.sort(sample)
        at = np.minimum((np.array(SHARES) * sample.size).astype(np.int64), sample.size - 1)
        return sample[at].astype(np.uint64) + np.uint64(1)

    def _mean(self, sample: np.ndarray) -> float:
        """The mean weight of a sample; 1 when it is not a number above 0."""
        if self.real:
            sample = sample.view(np.float32 if self.bytes == 8 else np.float64)
        sample = sample[sample <= np.finfo(np.float64).max].astype(np.float64)
        mean = float(sample.mean()) if sample.size else 0.0
        return mean if 0 < mean < np.inf else 1.0

    def first_entries(self) -> Any:
        """The first ENTRIES_AT_ONCE entries of each vertex, for the high-diameter kernel."""
        if self._first_entries is None:
            first = self.device.empty(self.n * ENTRIES_AT_ONCE * self.bytes // 4, np.uint32)
            key = self.key_type, str(self.bytes)
            kernel = self.device.launcher.kernel("graph/sssp_high_diameter.cuh", "first_entries", "", key)
            kernel.over(self.n * ENTRIES_AT_ONCE, (self.start, self.out, self.n, first))
            self._first_entries = first
        return self._first_entries

    @property
    def near_capacity(self) -> int:
        """Items in a block's queue: a key and a vertex each."""
        return QUEUE_BYTES // (2 * self.key.itemsize)

    def items(self, group: GroupLaunch) -> Any:
        """Queues and far piles of the blocks of the high-diameter kernel."""
        if self._items is None:
            words = group.blocks * (2 * self.near_capacity + FAR_ITEMS) * (self.key.itemsize // 4)
            self._items = self.device.empty(words, np.uint64)
        return self._items

    def table(self) -> tuple[int, dict[str, Any]]:
        """(address, arrays) of the table (sssp_state.cuh, SsspTable) with the workspace."""
        if self._table is None:
            self._table = self._make_table()
        return self._table

    def _make_table(self) -> tuple[int, dict[str, Any]]:
        device, n = self.device, self.n
        words = (n + 31) // 32
        arrays = {
            "start": self.start, "out": self.out, "in_start": self.in_start, "in": self.into,
            "class_end": self.class_end,
            "dist": device.empty(n, self.key), "key": device.empty(n, self.key),
            "in_list": device.zeros(words, np.uint32), "was_active": device.empty(words, np.uint32),
            "list": device.empty(n, np.int32), "active0": device.empty(n, np.int32),
            "active1": device.empty(n, np.int32),
            "stop": device.empty(n, np.int64), "base": device.empty(n, np.int64),
            "chunk": device.empty(self.nvals // CHUNK + 2, np.int32), "control": device.zeros(CONTROL_WORDS, np.int64),
        }  # fmt: skip
        fields = [n, self.nvals, *map(device.address, arrays.values()), self.column_bits, *map(int, self.classes)]
        arrays["table"] = table = device.array(np.array(fields, np.uint64))
        return device.address(table), arrays


def graph_of(device: Device, out_edges: Compressed, heaviest: Any) -> SsspGraph:
    """The SsspGraph of a device store, kept with the matrix.  Raises: OutOfMemory."""
    forms = forms_of(out_edges)
    kernel = forced_traversal()
    key = "sssp" if kernel is None else f"sssp {kernel}"
    found = forms.get(key)
    if found is None or found.device is not device:
        device.check_room(SORT_BYTES * out_edges.nvals, "shortest_paths")
        found = forms[key] = SsspGraph(device, out_edges, heaviest)
    return found
