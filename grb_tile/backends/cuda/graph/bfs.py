"""BFS on the device over the rows of a matrix: one launch (two on graphs of high diameter), nothing read back.

Kernels: kernels/graph/bfs.cuh (any graph, direction by level), kernels/graph/bfs_high_diameter.cuh (roads and
meshes: a few blocks).  The number of vertices reached and the record of the levels stay on the device until
they are needed (outcome.py).
Paper: push_pull_graphblas_icpp18, sections 4 to 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner import tuning
from ..runtime.errors import on_device
from .bfs_graph import MAX_ENTRIES, BfsGraph, graph_of
from .block_group import group_launch
from .outcome import RECORD_LEVELS, Outcome, results_of, stores_of

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

# Measured on an H200; tests/benchmarks/gpu/bench_bfs.py tries others.
# block, low_skew_block, high_diameter_block: threads of a block of each kernel.  per_processor: resident blocks of a
# multiprocessor.  alpha: pull when the frontier has more than 1/alpha of the edges not explored.  high_diameter: use
# that kernel, on `blocks` blocks.
LAUNCH = {"block": 1024, "low_skew_block": 768, "per_processor": 1, "cooperative": True, "alpha": tuning.BFS_ALPHA,
          "high_diameter": True, "blocks": 16, "high_diameter_block": 1024}  # fmt: skip
EDGES_PER_BLOCK = 4096  # a grid has one block for so many edges, up to the resident ones
ARGUMENTS = 14  # fields of BfsArguments (kernels/graph/bfs_state.cuh)
HIGH_DIAMETER_ARGUMENTS = 10  # fields of HighDiameterBfsArguments (kernels/graph/bfs_high_diameter.cuh)
_DIRECTIONS = {None: -1, "push": 0, "pull": 1}


@on_device
def traverse(
    device: Device, A: Compressed, AT: Compressed | None, sources: Any, levels: bool, parents: bool,
    max_level: int | None, target: int | None, direction: str | None,
) -> Any:  # fmt: skip
    """(level store | None, parent store | None, Outcome), or NotImplemented for what needs 64-bit vertices.

    sources: an int, or a sorted NumPy array of several.  direction: None, "push" or "pull" for every level.
    """
    n = A.nrows
    if A.rows is not None or (AT is not None and AT.rows is not None) or n >= 2**31 - 128 or n == 0:
        return NotImplemented
    if A.nvals >= MAX_ENTRIES:
        return NotImplemented
    same = AT is A
    A = device.to_device(A)
    AT = A if same else None if AT is None else device.to_device(AT)
    graph = graph_of(device, A, AT)
    single = type(sources) is int
    if target is not None and target in ((sources,) if single else sources):
        max_level, target = 0, None
    max_level = n if max_level is None else min(max_level, n)
    mode = _DIRECTIONS[direction] if AT is not None else 0
    launches = graph.launches.get((levels, parents)) or _Launches(graph, levels, parents)
    stream = device.current_stream().ptr
    results = results_of(device, n, levels, parents)
    addresses = results.addresses
    target = -1 if target is None else int(target)
    if single:
        listed, first, count = None, sources, 0
    else:
        listed, first, count = device.array(sources, np.int32), -1, sources.shape[0]
    table = graph.table(launches.group_blocks)
    by_group = launches.high_diameter is not None and single and mode != 1
    if by_group:
        launches.high_diameter(stream, table, sources, *addresses, RECORD_LEVELS, max_level, target, launches.limit)
    launches.grid(stream, table, first, device.address(listed), count, *addresses, RECORD_LEVELS, max_level, target,
                  mode, LAUNCH["alpha"], 0)  # fmt: skip
    outcome = Outcome(device, results.array(3), graph, listed)
    outcome.choice = graph.choice if by_group or not graph.is_high_diameter else graph.grid_choice
    return stores_of(n, results, outcome)


class _Launches:
    """The kernels for one graph and one kind of result, with their configuration; kept with the graph.

    grid: bfs.cuh.  high_diameter: bfs_high_diameter.cuh on `group_blocks` blocks, for levels of at most `limit` edges.
    """

    def __init__(self, graph: BfsGraph, levels: bool, parents: bool) -> None:
        launcher = graph.device.launcher
        flags = ("true" if levels else "false", "true" if parents else "false")
        low_skew = graph.is_low_skew
        block = LAUNCH["low_skew_block"] if low_skew else LAUNCH["block"]
        template = graph.index, *flags, str(block), str(LAUNCH["per_processor"]), "true" if low_skew else "false"
        kernel = launcher.kernel("graph/bfs.cuh", "bfs", "", template)
        threads = launcher.threads(block)
        most = min(kernel.resident_blocks(threads), launcher.processors * LAUNCH["per_processor"])
        blocks = launcher.blocks(most, graph.nvals, EDGES_PER_BLOCK)
        self.grid = kernel.launch(ARGUMENTS, blocks, threads, cooperative=LAUNCH["cooperative"])
        self.high_diameter, self.group_blocks, self.limit = None, LAUNCH["blocks"], 0
        if graph.is_high_diameter and LAUNCH["high_diameter"]:
            group = group_launch(
                launcher, "graph/bfs_high_diameter.cuh", "bfs_high_diameter",
                (graph.index, str(graph.width), *flags), HIGH_DIAMETER_ARGUMENTS, LAUNCH["blocks"],
                LAUNCH["high_diameter_block"],
            )  # fmt: skip
            self.limit = graph.high_diameter_limit(group.blocks)
            self.group_blocks = group.blocks
            self.high_diameter = group.launch if self.limit > 0 else None
        graph.launches[levels, parents] = self
