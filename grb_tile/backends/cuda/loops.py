"""CudaBackend: whole loops as one operation, and labels of rows.  Meanings: backends/loops.py."""

import numpy as np

from ...exceptions import OutOfMemory
from ...storage import place
from ...storage.store import Allow, BitmapVector, Compressed, SparseVector
from ..fallback import warn_of_host
from ..outcome import LoopOutcome
from .runtime.errors import HostOnly, reporting

STORES = (SparseVector, BitmapVector, Compressed)
_BFS = "traversal.dispatch", "bfs"
_IN_ORDER = {"greedy_colouring": "traversal.ordered", "independent_set": "traversal.ordered",
             "spanning_forest": "traversal.spanning_forest"}  # fmt: skip


class WholeLoops:
    """Methods of CudaBackend, which has `device`, `own`, `_find` and `through_host`."""

    def bfs(self, A, AT, sources, levels=True, parents=False, max_level=None, target=None, fallback=True):
        run = self._functions.get(_BFS) or self._find(*_BFS)
        try:
            result = run(self.device, A, AT, sources, levels, parents, max_level, target)
        except HostOnly:
            result = NotImplemented
        if result is not NotImplemented:
            result[2].engine = self.name
            return result
        asked = A, AT, sources, levels, parents, max_level, target
        return self._loop_on_host("bfs", A, AT, asked) if fallback else NotImplemented

    def bfs_multi(self, A, AT, sources, levels=True, parents=False, max_level=None, fallback=True):
        run = self._find("traversal.dispatch", "bfs_multi")
        try:
            result = run(self.device, A, AT, sources, levels, parents, max_level)
        except HostOnly:
            result = NotImplemented
        if result is not NotImplemented:
            level, parent, batches = result

            def rows():
                return [row for batch in batches for row in batch.rows()]

            outcome = LoopOutcome(self.name, "by level", rows, A.format)
            outcome.late, outcome.expanded = True, lambda: sum(batch.expanded() for batch in batches)
            return level, parent, outcome
        asked = A, AT, sources, levels, parents, max_level
        return self._loop_on_host("bfs_multi", A, AT, asked) if fallback else NotImplemented

    def sssp(self, A, in_edges, source, heaviest, delta=None, tree=False, fallback=True):
        run, reason = self._find("traversal.dispatch", "shortest_paths"), None
        try:
            result = run(self.device, A, in_edges, source, heaviest, delta, tree)
        except HostOnly:
            result = NotImplemented
        except OutOfMemory:  # sorted rows take as much memory as the matrix
            result, reason = NotImplemented, "a matrix of which the device's memory has no room for sorted rows"
        if result is not NotImplemented:
            outcome = result[2]
            outcome.engine, outcome.tiles = self.name, None
            outcome.method = "bellman_ford" if delta == np.inf else "delta"
            return result
        asked = A, lambda: place.host(in_edges()), source, heaviest, delta, tree
        return self._loop_on_host("sssp", A, None, asked, reason) if fallback else NotImplemented

    def components(self, A, AT, fallback=True):
        run = self._find("traversal.components", "connected_components")
        try:
            result = run(self.device, A, AT)
        except HostOnly:
            result = NotImplemented
        if result is not NotImplemented:
            return *result, LoopOutcome(self.name, "afforest", list, A.format, A.nrows)
        return self._loop_on_host("components", A, AT, (A, AT)) if fallback else NotImplemented

    def cuthill_mckee(self, A):
        return self._loop_without_host("traversal.cuthill_mckee", "cuthill_mckee", A)

    def topological_levels(self, A):
        return self._loop_without_host("traversal.topological", "topological_levels", A)

    def core_numbers(self, A, AT):
        return self._loop_without_host("traversal.cores", "core_numbers", A, AT)

    def strong_components(self, A, in_edges):
        return self._loop_without_host("traversal.strong_components", "strong_components", A, in_edges)

    def dependencies(self, A, sources, endpoints, by_edge):
        return self._loop_without_host("traversal.brandes", "dependencies", A, sources, endpoints, by_edge)

    def _loop_without_host(self, module, name, *operands):
        """A whole loop that the caller replaces by products where it has no kernel here."""
        try:
            return self._find(module, name)(self.device, *operands)
        except HostOnly:
            return NotImplemented

    def _loop_on_host(self, name, A, AT, asked, reason=None):
        """A whole loop that has no kernel here, computed by the CPU backend: counted, warned of, noted in the plan."""
        reason = reason or self._find("traversal.dispatch", "unsuited")(A, AT)
        if A.nrows:  # without vertices nothing is computed
            warn_of_host(name, f'backend "cuda" has no kernel for {reason}')
        *found, outcome = self.through_host(name, asked)
        outcome.note = f"on the host, because the device has no kernel for {reason}"
        return *(self.own(x) if isinstance(x, STORES) else x for x in found), outcome

    @reporting
    def best_labels(self, A, labels, weighted, allow, *penalty):
        return self._labels_of_rows("best_labels", A, labels, weighted, allow, *penalty)

    @reporting
    def least_absent(self, A, labels, allow):
        return self._labels_of_rows("least_absent", A, labels, allow)

    def _labels_of_rows(self, name, *operands):
        try:
            return self._find("products.row_labels", name)(self.device, *map(self._operand, operands))
        except HostOnly:
            return NotImplemented

    def _operand(self, x):
        """A store, or the pattern of an Allow, on the device; anything else itself."""
        return self.own(x) if isinstance(x, STORES) else self.device.own_allow(x) if isinstance(x, Allow) else x

    @reporting
    def move_half(self, x, K, found, active, own, u, k, key):
        found, active = list(map(self.own, found)), None if active is None else self.own(active)
        return self._find("products.row_labels", "move_half")(self.device, x, K, found, active, own, u, k, key)

    @reporting
    def join_half(self, y, K, size, found, active, own, level, key):
        found, active = list(map(self.own, found)), None if active is None else self.own(active)
        return self._find("products.row_labels", "join_half")(self.device, y, K, size, found, active, own, level, key)

    @reporting
    def sum_by_label(self, labels, values, size):
        return self._find("products.row_labels", "sum_by_label")(self.device, labels, values, size)

    def sequential(self, name, matrices, arguments, seconds, each=None, flags=None):
        if name not in _IN_ORDER:
            return NotImplemented
        return self._loop_without_host(_IN_ORDER[name], name, *matrices, *arguments)

    @reporting
    def one_pass(self, program, dtype, size, scalars, *stores):
        run = self._find("elementwise.one_pass", "one_pass")
        return run(self.device, program, dtype, size, scalars, *map(self.own, stores))
