"""What shortest paths keep of a graph on the device: rows that ascend by weight, cuts through them, a workspace.

Made at the first search of a matrix and kept in its forms ("paths").  Weight and column share a word: 4 bytes an entry
where their bits fit (integers), else 8 (32-bit weights) or 16.
Memory besides: 32 bytes a vertex for the cuts, 36 to 44 for the workspace, on meshes 4 entries a vertex and 10 to 19
MB.
"""

import threading

import numpy as np

from ....planner.choose_traversal import forced_traversal, has_short_rows, sssp_kernel
from ....storage.store import forms_of
from ..structure.entries import ranges, repeated

CHUNK = 128  # edges, as in traversal/state.cuh
CLASSES = 8  # as in traversal/sssp.cuh
CONTROL_WORDS = 96
SHARES = (1 / 128, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2)  # of the entries that are lighter than each class
SAMPLE = 1 << 16
SORT_BYTES = 60  # an entry, while rows are sorted by weight
HEADS = 4  # entries of a vertex that the narrow walk reads at once, as in traversal/sssp_high_diameter.cuh
QUEUE_BYTES, FAR = 1 << 16, 1 << 17  # of a block's queue of near items; places of its far pile
MAX_ENTRIES = 1 << 33  # edges of a round are counted in 33 bits


class PathsGraph:
    """Out-edges of one graph, sorted by weight; in-edges too (the same where symmetric) once `set_in_edges` was called."""

    def __init__(self, device, out_edges, heaviest):
        self.device = device
        self.out_edges = out_edges
        self.in_edges = self.in_start = self.into = None
        self.n, self.nvals = out_edges.nrows, out_edges.nvals
        kind = out_edges.dtype.np_type.kind
        self.real = kind == "f"
        self.column_bits = max(int(self.n - 1).bit_length(), 1)
        if self.real:
            self.bytes = 2 * out_edges.dtype.np_type.itemsize
            self.key = np.dtype(np.uint32 if self.bytes == 8 else np.uint64)
        else:
            bits = int(heaviest).bit_length()
            # no path has more than n - 1 edges, and a class may be one more than the heaviest
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
        self.cuts = device.empty(self.n * CLASSES, np.uint32)
        kernel = device.launcher.kernel(
            "traversal/sssp_prepare.cuh", "weight_classes", "", (self.key_type, str(self.bytes))
        )
        kernel.over(self.n * CLASSES, (self.start, self.out, self.n, self.column_bits, classes, self.cuts))
        self.kernels = {}
        self.lock = threading.Lock()  # of the workspaces: launches that belong together, when threads share the graph
        self._tables = {}
        longest = device.read(self.cuts[CLASSES - 1 :: CLASSES].max().reshape(1))[0] if self.nvals else 0
        self.choice, self.is_narrow = sssp_kernel(self.n, self.nvals, longest, self._entries_of_long_rows)
        self.heads = None
        self._items = {}

    def _entries_of_long_rows(self, longest):
        """Entries in the rows of out-edges that have more than `longest`."""
        degrees = self.start[1:] - self.start[:-1]
        return self.device.read(degrees[degrees > longest].sum(dtype=np.int64).reshape(1))[0]

    @property
    def key_type(self):
        return "unsigned" if self.key == np.uint32 else "word"

    def set_in_edges(self, in_edges):
        """Let searches pull along `in_edges`, and trees be found; does nothing the second time."""
        if self.in_edges is not in_edges:
            same = in_edges is self.out_edges
            self.in_start, self.into = (self.start, self.out) if same else self._sorted(in_edges)[:2]
            self._tables.clear()
            self.in_edges = in_edges  # last: sorting may fail

    def _sorted(self, store):
        """(row starts, entries with rows ascending by weight, a sample of the weights as keys)."""
        device, xp = self.device, self.device.xp
        count = store.nvals
        values = store.values if not store.iso else repeated(device, store.values, count)
        if self.real:
            if count and bool(xp.isnan(values).any()):
                self.usable = False  # NaN has no place in an order
                return None, None, None
            weights = values.view(self.key).copy()
            weights[weights == self.key.type(1 << 8 * self.key.itemsize - 1)] = 0  # -0.0 becomes 0.0: the least bits
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

    def _classes(self, sample):
        """Seven keys: the weights below which the SHARES of the entries lie, ascending."""
        if not sample.size:
            return np.zeros(CLASSES - 1, np.uint64)
        sample = np.sort(sample)
        at = np.minimum((np.array(SHARES) * sample.size).astype(np.int64), sample.size - 1)
        return sample[at].astype(np.uint64) + np.uint64(1)

    def _mean(self, sample):
        """The mean weight, from a sample; 1 where there is none above 0."""
        if self.real:
            sample = sample.view(np.float32 if self.bytes == 8 else np.float64)
        sample = sample[sample <= np.finfo(np.float64).max].astype(np.float64)
        mean = float(sample.mean()) if sample.size else 0.0
        return mean if 0 < mean < np.inf else 1.0

    def first_entries(self):
        """The form of the narrow walk: the first HEADS entries of each vertex."""
        if self.heads is None:
            self.heads = self.device.empty(self.n * HEADS * self.bytes // 4, np.uint32)
            key = self.key_type, str(self.bytes)
            kernel = self.device.launcher.kernel("traversal/sssp_high_diameter.cuh", "first_entries", "", key)
            kernel.over(self.n * HEADS, (self.start, self.out, self.n, self.heads))
        return self.heads

    @property
    def near_places(self):
        """Items in a block's queue: a key and a vertex each."""
        return QUEUE_BYTES // (2 * self.key.itemsize)

    def items(self, stream, blocks):
        """Queues and far piles of the narrow walk's blocks, for `stream`."""
        found = self._items.get(stream)
        if found is None:
            words = blocks * (2 * self.near_places + FAR) * (self.key.itemsize // 4)
            found = self._items[stream] = self.device.empty(words, np.uint64)
        return found

    def table(self, stream):
        """The kernels' table, with a workspace for `stream`: (its address, all arrays)."""
        found = self._tables.get(stream)
        if found is None:
            found = self._tables.setdefault(stream, self._make_table())
        return found

    def _make_table(self):
        device, n = self.device, self.n
        words = (n + 31) // 32
        arrays = {
            "start": self.start, "out": self.out, "in_start": self.in_start, "in": self.into, "cuts": self.cuts,
            "dist": device.empty(n, self.key), "key": device.empty(n, self.key),
            "waiting": device.zeros(words, np.uint32), "entered": device.empty(words, np.uint32),
            "list": device.empty(n, np.int32), "active0": device.empty(n, np.int32), "active1": device.empty(n, np.int32),
            "stop": device.empty(n, np.int64), "base": device.empty(n, np.int64),
            "chunk": device.empty(self.nvals // CHUNK + 2, np.int32), "control": device.zeros(CONTROL_WORDS, np.int64),
        }  # fmt: skip
        fields = [n, self.nvals, *map(device.address, arrays.values()), self.column_bits, *map(int, self.classes)]
        arrays["table"] = table = device.array(np.array(fields, np.uint64))
        return device.address(table), arrays


def is_short(A):
    """Are rows so short that a search may need thousands of rounds?  Then nothing is ever pulled."""
    return has_short_rows(A.nrows, A.nvals)


def graph_of(device, out_edges, heaviest):
    """The PathsGraph of a device store, kept with the matrix.  Raises: OutOfMemory."""
    forms = forms_of(out_edges)
    kernel = forced_traversal()
    key = "paths" if kernel is None else f"paths {kernel}"
    found = forms.get(key)
    if found is None or found.device is not device:
        device.check_room(SORT_BYTES * out_edges.nvals, "shortest_paths")
        found = forms[key] = PathsGraph(device, out_edges, heaviest)
    return found
