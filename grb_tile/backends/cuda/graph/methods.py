"""CudaBackend: whole loops over a graph as one operation, and labels of rows.  Meanings: backends/graph.py."""

import functools
from contextlib import contextmanager

import numpy as np

from ....dtypes import INT64
from ....exceptions import OutOfMemory
from ....storage.store import BitmapVector, Compressed, SparseVector, StoredMask
from ...graph import GraphOperations
from ...outcome import LoopOutcome
from ..runtime.errors import HostOnly, reporting
from ..runtime.mailbox import OnDevice

STORES = (SparseVector, BitmapVector, Compressed)
_BFS = "graph.dispatch", "bfs"
MODULES = {
    "cuthill_mckee": "cuthill_mckee", "topological_levels": "topological", "core_numbers": "cores",
    "strong_components": "strong_components", "dependencies": "brandes", "greedy_colours": "ordered",
    "independent_set": "ordered", "spanning_forest": "spanning_forest", "random_walks": "random_walks",
    "peel_truss": "triangles", "triangle_corners": "triangles",
}  # fmt: skip


def without_host(loop):
    """`loop`, a method; NotImplemented for stores that have no device form."""

    @functools.wraps(loop)
    def call(backend, *args, **kwargs):
        try:
            return loop(backend, *args, **kwargs)
        except HostOnly:
            return NotImplemented

    return call


class WholeLoops:
    """Methods of CudaBackend, which has `device`, `_functions` and `_find`."""

    @without_host
    def bfs(self, A, AT, sources, levels=True, parents=False, max_level=None, target=None):
        run = self._functions.get(_BFS) or self._find(*_BFS)
        result = run(self.device, A, AT, sources, levels, parents, max_level, target)
        if result is not NotImplemented:
            result[2].engine = self.name
        return result

    def search_bytes(self, starts):
        """Bytes of memory that all devices can write to, which bfs_of_ranks uses."""
        return self._find("graph.bfs_ranks", "window_bytes")(starts)

    def bfs_of_ranks(self, *args):
        found, outcome = self._find("graph.bfs_ranks", "bfs_of_ranks")(self.device, *args)
        outcome.engine, outcome.method, outcome.tiles = self.name, "by level", None
        return found, outcome

    def view_of_range(self, u, start, stop):
        """u(start:stop) of a bitmap of this device, in its arrays (structure/gather.py)."""
        return self._find("structure.gather", "view_of_range")(self.device, u, start, stop)

    @without_host
    def bfs_multi(self, A, AT, sources, levels=True, parents=False, max_level=None):
        result = self._find("graph.dispatch", "bfs_multi")(self.device, A, AT, sources, levels, parents, max_level)
        if result is NotImplemented:
            return NotImplemented
        level, parent, batches = result

        def rows():
            return [row for batch in batches for row in batch.rows()]

        outcome = LoopOutcome(self.name, "by level", rows, A.format)
        outcome.late, outcome.expanded = True, lambda: sum(batch.expanded() for batch in batches)
        return level, parent, outcome

    @without_host
    def sssp(self, A, in_edges, source, greatest, delta=None, tree=False):
        run = self._find("graph.dispatch", "shortest_paths")
        try:
            result = run(self.device, A, in_edges, source, greatest, delta, tree)
        except OutOfMemory:  # sorted rows take as much memory as the matrix; a loop of products needs none
            return NotImplemented
        if result is not NotImplemented:
            outcome = result[2]
            outcome.engine, outcome.tiles = self.name, None
            outcome.method = "bellman_ford" if delta == np.inf else "delta"
        return result

    @without_host
    def fixpoint(self, A, readers, v, semiring, most, until):
        try:
            return self._find("graph.fixpoint", "fixpoint")(self.device, A, readers, v, semiring, most, until)
        except OutOfMemory:  # the transpose, and another vector; the loop's own products may need less
            return NotImplemented

    @without_host
    def components(self, A, in_edges, symmetric):
        result = self._find("graph.components", "connected_components")(self.device, A, in_edges)
        if result is NotImplemented:
            return NotImplemented
        return *result, LoopOutcome(self.name, "afforest", list, A.format, A.nrows)

    @reporting
    def best_labels(self, A, labels, weighted, mask, *penalty):
        return self._labels_of_rows("best_labels", A, labels, weighted, mask, *penalty)

    @reporting
    def least_absent(self, A, labels, mask):
        return self._labels_of_rows("least_absent", A, labels, mask)

    @without_host
    def _labels_of_rows(self, name, *operands):
        return self._find("communities.row_labels", name)(self.device, *map(self._operand, operands))

    def _operand(self, x):
        """A store, or the pattern of a StoredMask, on the device; anything else itself."""
        return (
            self.store_to_device(x)
            if isinstance(x, STORES)
            else self.device.mask_to_device(x)
            if isinstance(x, StoredMask)
            else x
        )

    has_loops = True

    @contextmanager
    def device_loop(self):
        device = self.device
        with device.lock, device.bound():
            device.in_order()
            make = self._find("programs.turns", "DeviceLoop")
            yield lambda: make(device)

    def inner_loop(self, around):
        return self._find("programs.inner", "InnerLoop")(around)

    def bounded_product(self, places, admitted, left, right, semiring):
        return self._find("programs.bounded", "dot")(self.device, places, admitted, left, right, semiring)

    def count_as_vector(self, store):
        counter = store.counter
        return BitmapVector(1, INT64, None, counter[:1].view(np.int64), 1)

    def number_as_vector(self, found, dtype):
        return BitmapVector(1, dtype, None, found.array, 1) if type(found) is OnDevice else None

    @property
    def turns(self):
        """The loop of a program whose turn runs, or None."""
        return self.device.turns

    @reporting
    def one_pass(self, program, dtype, size, scalars, *stores):
        run = self._find("elementwise.one_pass", "one_pass")
        return run(self.device, program, dtype, size, scalars, *map(self.store_to_device, stores))


def _method(module, name):
    """The function of that name in a module of this package."""

    @without_host
    @functools.wraps(getattr(GraphOperations, name))
    def call(self, *operands):
        return self._find(f"graph.{module}", name)(self.device, *operands)

    return call


for _name, _module in MODULES.items():
    setattr(WholeLoops, _name, _method(_module, _name))
