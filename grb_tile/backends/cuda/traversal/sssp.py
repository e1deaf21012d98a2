"""All shortest paths from a source on the device: one launch, nothing read back.  Kernel: kernels/traversal/sssp.cuh."""

import numpy as np

from ....dtypes import FP32, FP64, INT64, UINT64
from ....planner.choose_traversal import NO_BOUND
from ..runtime.late_vector import LateVector
from .bfs import HEAD_ROWS, Outcome
from .sssp_graph import FAR, MAX_ENTRIES, QUEUE_BYTES, graph_of, is_short

LOG_ROUNDS = 8192
NUMBERS = 5  # of a round in the record
# Measured on an H200; tests/benchmarks/gpu/bench_sssp.py tries others.
# step, narrow_step: the first step of the bound, so many mean weights (over the mean degree, unless rows are short).
# most: steps double up to so many mean weights.  pull_at: see the kernel.
LAUNCH = {"block": 1024, "per_processor": 1, "pull_at": 2, "most": 2.0, "step": 1.0, "narrow_step": 24.0,
          "narrow": True, "cluster": 8, "narrow_block": 1024}  # fmt: skip
_KINDS = ("relax", "raise", "pull", "pull again")


class PathsOutcome(Outcome):
    """What the search's record says; read from the device when asked for, once."""

    def __init__(self, device, record, graph):
        super().__init__(device, record, graph)

    def rows(self):
        """A dictionary per round: frontier, edges, direction, threshold (None: none), ms."""
        count = min(self.head[1], LOG_ROUNDS)
        log = self.device.host(self._record[HEAD_ROWS : HEAD_ROWS + NUMBERS * count]).reshape(count, NUMBERS)
        cycles = np.diff(np.append(log[:, 3], self.head[4]))
        share = self.seconds * 1e3 / max(int(cycles.sum()), 1)
        graph = self._graph
        none = np.iinfo(graph.key).max
        bounds = log[:, 4].astype(np.uint64).astype(graph.key)
        shown = bounds.view(np.dtype(f"f{graph.key.itemsize}")) if graph.real else bounds
        return [
            {"frontier": int(log[k, 0]), "edges": None if log[k, 2] < 0 else int(log[k, 2]), "direction": _KINDS[log[k, 1]],
             "threshold": None if bounds[k] == none else shown[k].item(), "ms": float(cycles[k]) * share}
            for k in range(count)
        ]  # fmt: skip


def shortest_paths(device, A, in_edges, source, heaviest, delta, tree):
    """(store of distances, store of predecessors | None, PathsOutcome), or NotImplemented: protocol.Backend.shortest_paths."""
    n, kind = A.nrows, A.dtype.np_type
    if A.rows is not None or not 0 < n < 2**31 - 128 or A.nvals >= MAX_ENTRIES:
        return NotImplemented
    if kind.kind not in "biuf" or (kind.kind == "f" and kind.itemsize not in (4, 8)):
        return NotImplemented
    pulls = not is_short(A)
    AT = in_edges() if pulls or tree else None
    if AT is not None and AT.rows is not None:
        AT = None
    same = AT is A
    A = device.own(A)
    graph = graph_of(device, A, heaviest)
    if not graph.usable:
        return NotImplemented
    if graph.real:
        dtype = FP32 if graph.bytes == 8 else FP64
    else:
        dtype = UINT64 if A.dtype is UINT64 else INT64
    values = device.places(n, dtype.np_type)
    words = device.empty((n + 63) >> 6, np.uint64)
    record = device.empty(HEAD_ROWS + NUMBERS * LOG_ROUNDS, np.int64)
    step, most = _steps(graph, delta)
    wide, narrow = graph.kernels.get("launch") or _launches(graph)
    stream = device.current_stream().ptr
    outcome = PathsOutcome(device, record, graph)
    with graph.lock:
        if AT is not None:
            graph.set_in_edges(A if same else device.own(AT))
        table, _ = graph.table(stream)
        first_narrow = narrow is not None and step >= 0
        if first_narrow:
            narrow(stream, table, source, device.address(record), LOG_ROUNDS, step, device.address(graph.first_entries()),
                   device.address(graph.items(stream, LAUNCH["cluster"])), graph.near_places, FAR)  # fmt: skip
        wide(stream, table, source, device.address(values), device.address(words), device.address(record), LOG_ROUNDS,
             step, most, LAUNCH["pull_at"] if pulls and AT is not None else 0)  # fmt: skip
        parents = _tree(graph, table, source, words, outcome) if tree and AT is not None else None
    outcome.choice = graph.choice if first_narrow or not graph.is_narrow else NO_BOUND
    distances = LateVector(device, n, dtype, words, values, outcome.count_reached)
    distances.shared = parents is not None
    return distances, parents, outcome


def _tree(graph, table, source, words, outcome):
    """The store of predecessors, or None where some edges that distances come by have no length."""
    device, n = graph.device, graph.n
    key = graph.key_type, str(graph.bytes), "true" if graph.real else "false"
    kernel = device.launcher.kernel("traversal/sssp_tree.cuh", "sssp_tree", "", key)
    parent, missing = device.places(n, np.int64), device.zeros(1, np.uint64)
    kernel.over((n + 31) // 32 * 32, (table, source, parent, missing))
    if device.read(missing)[0]:
        return None
    parents = LateVector(device, n, INT64, words, parent, outcome.count_reached)
    parents.shared = True
    return parents


def _steps(graph, delta):
    """(first step of the bound, the step up to which it doubles), as keys in an int64."""
    if delta == np.inf:
        return -1, 0
    mean = graph.mean_weight
    if delta is not None:
        return _key_of(graph, max(float(delta), mean / 4096)), 0
    if is_short(graph.out_edges):
        return _key_of(graph, mean * LAUNCH["narrow_step"]), 0
    return _key_of(graph, mean * LAUNCH["step"] * graph.n / graph.nvals), _key_of(graph, mean * LAUNCH["most"])


def _key_of(graph, step):
    if graph.real:
        kind = np.dtype(f"f{graph.key.itemsize}")
        return max(int(np.array(min(step, float(np.finfo(kind).max)), kind).view(graph.key)), 1)
    return int(min(max(round(step), 1), int(np.iinfo(graph.key).max) // 2))


def _launches(graph):
    """(launch of the wide kernel, of the narrow one or None), kept with the graph."""
    launcher = graph.device.launcher
    threads = launcher.threads(LAUNCH["block"])
    key = graph.key_type, str(graph.bytes), "true" if graph.real else "false"
    kernel = launcher.kernel(
        "traversal/sssp.cuh", "sssp", "", (*key, str(LAUNCH["block"]), str(LAUNCH["per_processor"]))
    )
    most = min(kernel.resident_blocks(threads), launcher.processors * LAUNCH["per_processor"])
    wide = kernel.launch(9, launcher.blocks(most, graph.nvals, 4096), threads, cooperative=True)
    narrow = None
    if graph.is_narrow and LAUNCH["narrow"]:
        cluster, threads = launcher.cluster(LAUNCH["cluster"]), launcher.threads(LAUNCH["narrow_block"])
        if launcher.has_clusters:
            kernel = launcher.kernel(
                "traversal/sssp_high_diameter.cuh", "sssp_high_diameter_cluster", "", (*key, str(cluster))
            )
            narrow = kernel.launch(9, cluster, threads, 2 * QUEUE_BYTES, cluster=cluster)
        else:
            kernel = launcher.kernel("traversal/sssp_high_diameter.cuh", "sssp_high_diameter_grid", "", key)
            narrow = kernel.launch(9, cluster, threads, cooperative=True)
    graph.kernels["launch"] = wide, narrow
    return wide, narrow
