"""BFS over bit tiles on the device: TileBFS in one launch.  Kernel: kernels/graph/bfs_tiles.cuh.

Made at the first such BFS of a matrix and kept in its forms: the tiles by rows and by columns (one array when
symmetric), the vertices with in-edges, and a workspace, which each launch leaves clean.
Memory besides the tiles: four bits and 12 / nt bytes a vertex.
Paper: tilespmspv_tilebfs_icpp22, 3.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....planner import forced_tile_size, tuning
from ....planner.choose_traversal import rows_beat_tiles
from ....storage.store import forms_of
from ....storage.tiled import can_tile
from ..products.tiles import DIRECTIONS, NAMES, WIDTH, bit_tiles_of, chunks_of, entries_per_tile
from ..runtime.errors import on_device
from ..structure.arrays import index_type
from ..structure.rows import longest_row
from .bfs import ARGUMENTS
from .bfs_graph import CONTROL_WORDS
from .kept_graph import KeptGraph
from .outcome import RECORD_LEVELS, Outcome, results_of, stores_of

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

# Measured on an H200; tests/benchmarks/gpu/bench_tiles.py tries others.
# sparse: push_csc is used while the frontier has less than 1/sparse of the tiles.  The paper leaves it at 1 % of the
# vertices; with a queue of the frontier's own tiles it is the fastest up to half of them.
# few: pull_csc is used when less than 1/few of the vertices are left.
LAUNCH = {"block": 512, "per_processor": 1, "width": WIDTH, "sparse": tuning.TILES_PUSH_CSC,
          "few": tuning.TILES_PULL_CSC}  # fmt: skip
FORMATS = ("bittiled", *DIRECTIONS)


class TileOutcome(Outcome):
    """As Outcome; directions have the names of TileBFS, edges are counted from the levels."""

    directions = DIRECTIONS
    format = "bittiled"


class TileGraph(KeptGraph):
    """The bit tiles of one graph, nt x nt vertices each, with what the kernel needs of it."""

    def __init__(self, device: Device, out_edges: Compressed, in_edges: Compressed | None, nt: int) -> None:
        super().__init__(device, out_edges, in_edges)
        self.start = device.array(out_edges.indptr)
        self.nt = nt
        self.tiles = T = bit_tiles_of(device, out_edges, nt, symmetric=in_edges is out_edges)
        self.launches = {}
        self._table = None
        lines = T.by_cols.ptr.shape[0] - 1
        parts = (self.n + 63) // 64 * (64 // nt)
        self.live, facts = device.empty(parts, T.row_words.dtype), device.zeros(1, np.uint64)
        kernel = device.launcher.kernel("products/bit_tiles_build.cuh", "live_lines", "", (NAMES[nt],))
        kernel.over(parts * 32, (T.by_cols.ptr, T.by_cols.map, lines, parts, self.live, facts))
        self.live_count = device.read(facts)[0]

    def table(self) -> int:
        """The address of the table (TileTable in kernels/graph/bfs_tiles.cuh) with the workspace."""
        if self._table is None:
            self._table = self._make_table()
        return self._table[0]

    def _make_table(self) -> tuple[int, dict[str, Any]]:
        device, T = self.device, self.tiles
        fields, kept = [self.n], {}
        for by_columns, lines in ((False, T.by_rows), (True, T.by_cols)):
            count, pieces, extra, owner = chunks_of(device, T, by_columns)
            fields += [*lines, extra, owner, count, pieces]
        fields += [self.live, self.live_count]
        for name in ("visited", "parts0", "parts1", "parts2"):
            kept[name] = device.zeros((self.n + 63) // 64, np.uint64)
        for name in ("queue0", "queue1", "queue2"):
            kept[name] = device.empty(chunks_of(device, T, False)[1], np.int32)
        kept["control"] = device.zeros(CONTROL_WORDS, np.int64)
        fields += kept.values()
        numbers = [field if type(field) is int else device.address(field) for field in fields]
        kept["table"] = table = device.array(np.array(numbers, np.uint64))
        return device.address(table), kept

    def launch(self, levels: bool, parents: bool) -> Any:
        """The kernel for one kind of result, with its configuration."""
        found = self.launches.get((levels, parents))
        if found is None:
            device = self.device
            template = (NAMES[self.nt], index_type(self.tiles.row_start), "true" if levels else "false",
                        "true" if parents else "false", str(LAUNCH["block"]), str(LAUNCH["per_processor"]))  # fmt: skip
            kernel = device.launcher.kernel("graph/bfs_tiles.cuh", "bfs_tiles", "", template)
            launcher = device.launcher
            threads = launcher.threads(LAUNCH["block"])
            most = min(kernel.resident_blocks(threads), launcher.processors * LAUNCH["per_processor"])
            blocks = launcher.blocks(most, self.tiles.ntiles, threads)
            found = self.launches[levels, parents] = kernel.launch(ARGUMENTS, blocks, threads, cooperative=True)
        return found


@on_device
def clustering(device: Device, A: Compressed) -> tuple[bool, Callable[[], float] | None]:
    """(has the graph high diameter?, a function for the mean entries of a 16 x 16 tile), for planner.search_over."""
    if A.rows is not None or A.nvals == 0 or not can_tile(A):
        return True, None
    A = device.to_device(A)
    if A.nvals < tuning.TILES_ENTRIES:
        return False, None
    degrees = A.indptr[1:] - A.indptr[:-1]

    def heavy(longest):
        return device.read(degrees[degrees > longest].sum(dtype=np.int64).reshape(1))[0]

    high_diameter = rows_beat_tiles(A.nrows, A.nvals, lambda: longest_row(device, A), heavy)
    return high_diameter, lambda: entries_per_tile(device, A, 16)


def graph_of(device: Device, out_edges: Compressed, in_edges: Compressed | None, nt: int) -> TileGraph:
    """The TileGraph of device stores, kept with the matrix."""
    forms, key = forms_of(out_edges), f"traverse_tiles{nt}"
    found = forms.get(key)
    if found is None or found.device is not device:
        found = forms[key] = TileGraph(device, out_edges, in_edges, nt)
    return found


@on_device
def traverse(
    device: Device, A: Compressed, AT: Compressed | None, sources: Any, levels: bool, parents: bool,
    max_level: int | None, target: int | None, direction: str | None, width: int | None = None,
) -> Any:  # fmt: skip
    """As bfs.traverse, over A's bit tiles; direction: None, or one of products.tiles.DIRECTIONS for every level.

    In-edges are the tiles by columns, so that AT only says whether A is symmetric (AT is A).
    """
    n = A.nrows
    if A.rows is not None or n == 0 or n >= 2**31 - 128 or A.nvals == 0 or not can_tile(A):
        return NotImplemented
    same = AT is A
    A = device.to_device(A)
    single = type(sources) is int
    if target is not None and target in ((sources,) if single else sources):
        max_level, target = 0, None
    max_level = n if max_level is None else min(max_level, n)
    graph = graph_of(device, A, A if same else None, width or forced_tile_size(LAUNCH["width"]))
    stream = device.current_stream().ptr
    table, launch = graph.table(), graph.launch(levels, parents)
    results = results_of(device, n, levels, parents)
    listed = None if single else device.array(sources, np.int32)
    first, count = (sources, 0) if single else (-1, sources.shape[0])
    launch(stream, table, first, device.address(listed), count, *results.addresses, RECORD_LEVELS, max_level,
           -1 if target is None else int(target), -1 if direction is None else DIRECTIONS.index(direction),
           LAUNCH["sparse"], LAUNCH["few"])  # fmt: skip
    return stores_of(n, results, TileOutcome(device, results.array(3), graph, listed))
