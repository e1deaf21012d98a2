"""SSSP on the device: one launch (two on graphs of high diameter), nothing read back.

Kernels: kernels/graph/sssp.cuh (delta-stepping on the whole grid), kernels/graph/sssp_high_diameter.cuh
(near-far pile in a few blocks), kernels/graph/sssp_tree.cuh (predecessors).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import FP32, FP64, INT64, UINT64
from ....planner import tuning
from ....planner.choose_traversal import NO_BOUND, has_short_rows
from ..runtime.late_vector import LateVector
from .bfs import EDGES_PER_BLOCK
from .block_group import GroupLaunch, group_launch
from .outcome import NOT_RECORDED, RECORD_HEAD, Outcome
from .sssp_graph import FAR_ITEMS, MAX_ENTRIES, SsspGraph, graph_of

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

RECORD_ROUNDS = 8192  # rounds that the record has space for
ROUND_NUMBERS = 5  # of each round, as in kernels/graph/sssp_state.cuh
ARGUMENTS = 9  # fields of SsspArguments (sssp.cuh), and of HighDiameterSsspArguments (sssp_high_diameter.cuh)
# Measured on an H200; tests/benchmarks/gpu/bench_sssp.py tries others.
# step: the first step of the bound, in mean weights over the mean degree.  high_diameter_step: the same when rows are
# short, in mean weights.  most: steps double up to so many mean weights.  pull_at: pull when the vertices left have
# fewer than 1/pull_at of the edges.  block, high_diameter_block: threads of a block of each kernel.  per_processor:
# resident blocks of a multiprocessor.  high_diameter: use that kernel, on `blocks` blocks.
LAUNCH = {"block": 1024, "per_processor": 1, "pull_at": tuning.SSSP_PULL_AT, "most": tuning.SSSP_MOST_STEP,
          "step": tuning.SSSP_STEP, "high_diameter_step": tuning.SSSP_HIGH_DIAMETER_STEP,
          "high_diameter": True, "blocks": 16, "high_diameter_block": 1024}  # fmt: skip
_KINDS = ("relax", "raise", "pull", "pull again")


class SsspOutcome(Outcome):
    """The record of one launch, as Outcome; its lines are rounds."""

    numbers = ROUND_NUMBERS

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary per round: frontier, edges, direction, threshold (None: none), ms; None beyond the record."""
        count, log, ms = self.log()
        graph = self._graph
        none = np.iinfo(graph.key).max
        bounds = log[:, 4].astype(np.uint64).astype(graph.key)
        shown = bounds.view(np.dtype(f"f{graph.key.itemsize}")) if graph.real else bounds
        more = {"frontier": None, "edges": None, "direction": NOT_RECORDED, "threshold": None, "ms": None}
        return [
            {"frontier": int(log[k, 0]), "edges": None if log[k, 2] < 0 else int(log[k, 2]),
             "direction": _KINDS[log[k, 1]], "threshold": None if bounds[k] == none else shown[k].item(), "ms": ms[k]}
            for k in range(len(ms))
        ] + [dict(more) for _ in range(count - len(ms))]  # fmt: skip


def shortest_paths(
    device: Device, A: Compressed, in_edges: Callable[[], Compressed | None], source: int, heaviest: Any,
    delta: float | None, tree: bool,
) -> Any:  # fmt: skip
    """(store of distances, store of predecessors | None, SsspOutcome), or NotImplemented: GraphOperations.sssp."""
    n, kind = A.nrows, A.dtype.np_type
    if A.rows is not None or not 0 < n < 2**31 - 128 or A.nvals >= MAX_ENTRIES:
        return NotImplemented
    if kind.kind not in "biuf" or (kind.kind == "f" and kind.itemsize not in (4, 8)):
        return NotImplemented
    pulls = not has_short_rows(A.nrows, A.nvals)  # thousands of rounds: nothing is pulled
    AT = in_edges() if pulls or tree else None
    if AT is not None and AT.rows is not None:
        AT = None
    same = AT is A
    A = device.to_device(A)
    graph = graph_of(device, A, heaviest)
    if not graph.usable:
        return NotImplemented
    if graph.real:
        dtype = FP32 if graph.bytes == 8 else FP64
    else:
        dtype = UINT64 if A.dtype is UINT64 else INT64
    values = device.empty(n, dtype.np_type)
    words = device.empty((n + 63) >> 6, np.uint64)
    record = device.empty(RECORD_HEAD + ROUND_NUMBERS * RECORD_ROUNDS, np.int64)
    step, most = _steps(graph, delta)
    grid, group = graph.launches or _launches(graph)
    stream = device.current_stream().ptr
    outcome = SsspOutcome(device, record, graph)
    if AT is not None:
        graph.set_in_edges(A if same else device.to_device(AT), same)
    table, _ = graph.table()
    by_group = group is not None and step >= 0
    if by_group:
        group.launch(
            stream, table, source, device.address(record), RECORD_ROUNDS, step,
            device.address(graph.first_entries()), device.address(graph.items(group)),
            graph.near_capacity, FAR_ITEMS,
        )  # fmt: skip
    grid(stream, table, source, device.address(values), device.address(words), device.address(record),
         RECORD_ROUNDS, step, most, LAUNCH["pull_at"] if pulls and AT is not None else 0)  # fmt: skip
    parents = _tree(graph, table, source, words, outcome) if tree and AT is not None else None
    if by_group:
        outcome.choice = graph.choice
    else:
        outcome.choice = NO_BOUND if graph.is_high_diameter else graph.choice
    distances = LateVector(device, n, dtype, words, values, outcome.count_reached)
    distances.shared = parents is not None
    return distances, parents, outcome


def _tree(graph: SsspGraph, table: int, source: int, words: Any, outcome: SsspOutcome) -> LateVector | None:
    """The store of predecessors; None when some vertex has no predecessor at a smaller distance (weights of 0)."""
    device, n = graph.device, graph.n
    key = graph.key_type, str(graph.bytes), "true" if graph.real else "false"
    kernel = device.launcher.kernel("graph/sssp_tree.cuh", "sssp_tree", "", key)
    parent, missing = device.empty(n, np.int64), device.zeros(1, np.uint64)
    kernel.over((n + 31) // 32 * 32, (table, source, parent, missing))
    if device.read(missing)[0]:
        return None
    parents = LateVector(device, n, INT64, words, parent, outcome.count_reached)
    parents.shared = True
    return parents


def _steps(graph: SsspGraph, delta: float | None) -> tuple[int, int]:
    """(first step of the bound, the step up to which it doubles), as keys in an int64."""
    if delta == np.inf:
        return -1, 0
    mean = graph.mean_weight
    if delta is not None:
        return _key_of(graph, max(float(delta), mean / 4096)), 0
    if has_short_rows(graph.n, graph.nvals):
        return _key_of(graph, mean * LAUNCH["high_diameter_step"]), 0
    return _key_of(graph, mean * LAUNCH["step"] * graph.n / graph.nvals), _key_of(graph, mean * LAUNCH["most"])


def _key_of(graph: SsspGraph, step: float) -> int:
    if graph.real:
        kind = np.dtype(f"f{graph.key.itemsize}")
        return max(int(np.array(min(step, float(np.finfo(kind).max)), kind).view(graph.key)), 1)
    return int(min(max(round(step), 1), int(np.iinfo(graph.key).max) // 2))


def _launches(graph: SsspGraph) -> tuple[Any, GroupLaunch | None]:
    """(launch of the grid kernel, GroupLaunch of the high-diameter one or None), kept with the graph."""
    launcher = graph.device.launcher
    threads = launcher.threads(LAUNCH["block"])
    key = graph.key_type, str(graph.bytes), "true" if graph.real else "false"
    shape = str(LAUNCH["block"]), str(LAUNCH["per_processor"])
    alone = "true" if has_short_rows(graph.n, graph.nvals) else "false"  # thousands of rounds, most of them small
    kernel = launcher.kernel("graph/sssp.cuh", "sssp", "", (*key, *shape, alone))
    most = min(kernel.resident_blocks(threads), launcher.processors * LAUNCH["per_processor"])
    blocks = launcher.blocks(most, graph.nvals, EDGES_PER_BLOCK)
    grid = kernel.launch(ARGUMENTS, blocks, threads, cooperative=True)
    group = None
    if graph.is_high_diameter and LAUNCH["high_diameter"]:
        group = group_launch(
            launcher, "graph/sssp_high_diameter.cuh", "sssp_high_diameter", key, ARGUMENTS, LAUNCH["blocks"],
            LAUNCH["high_diameter_block"],
        )  # fmt: skip
    graph.launches = grid, group
    return graph.launches
