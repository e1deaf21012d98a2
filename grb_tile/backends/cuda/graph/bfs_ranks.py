"""A search over ranks whose devices write to each other's memory: one launch on each.  Kernel: graph/bfs_ranks.cuh."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ....dtypes import INT32
from ....planner import tuning
from ....storage.bits import word_count
from ....storage.store import forms_of
from ..runtime.errors import on_device
from ..runtime.late_vector import LateVector
from .outcome import LEVEL_NUMBERS, RECORD_HEAD, RECORD_LEVELS, Outcome

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

BLOCK = 1024
HUBS = 1 << 10  # as kernels/graph/bfs_ranks.cuh has it
CONTROL_WORDS = 12


def window_bytes(starts: np.ndarray) -> int:
    """Bytes of a rank's window that a search uses: two sets of all vertices, a box of each rank, counts."""
    return 8 * (2 * word_count(int(starts[-1])) + (starts.size - 1) * (_widest(starts) + 4))


def _widest(starts: np.ndarray) -> int:
    """The words of the bits of the rank with most vertices."""
    return word_count(int(np.diff(starts).max()))


@on_device
def bfs_of_ranks(
    device: Device, A: Compressed, AT: Compressed | None, degrees: Any, starts: np.ndarray, rank: int, entries: int,
    source: int, max_level: int | None, lent: Any, meet: Callable[[], None],
) -> Any:  # fmt: skip
    """(store of this rank's levels, Outcome of all ranks).

    A, AT: this rank's rows of the matrix and of its transpose as CSR, AT None where no level is to be pulled.
    degrees: the lengths of all ranks' rows of A, read once for A; None without AT.
    starts: of the ranks' vertices; entries: of all ranks' rows.  lent: the half of the windows (distributed/peers.py).
    meet(): returns when all ranks are ready to launch.
    """
    graph = _Graph.of(device, A, AT, degrees, starts, rank)
    own = len(graph.own)
    level, present = device.empty(own, np.int32), device.empty(word_count(own), np.uint64)
    record = device.empty(RECORD_HEAD + LEVEL_NUMBERS * RECORD_LEVELS, np.int64)
    kernel = device.launcher.kernel("graph/bfs_ranks.cuh", "bfs_of_ranks", "", (graph.index,))
    threads = device.launcher.threads(BLOCK)
    blocks = device.launcher.blocks(kernel.resident_blocks(threads), max(own, 1), threads)
    blocks = min(blocks, device.launcher.processors)
    most = int(starts[-1]) if max_level is None else max_level
    meet()
    kernel(blocks, threads, (
        graph.table, lent.windows, np.int64(lent.offset), np.int64(entries), np.int64(source), np.int64(most),
        np.int64(tuning.BFS_ALPHA), level, present, record, np.int64(RECORD_LEVELS), lent.stop,
    ), 0, True)  # fmt: skip
    outcome = Outcome(device, record, graph, lent)
    found = LateVector(device, own, INT32, present, level, lambda: outcome.head[7])
    return found, outcome


class _Graph:
    """The rows of a rank, the workspace of its searches, and their addresses; kept with the rows."""

    @classmethod
    def of(
        cls, device: Device, A: Compressed, AT: Compressed | None, degrees: Any, starts: np.ndarray, rank: int
    ) -> _Graph:
        forms, key = forms_of(A), ("bfs_of_ranks", AT is None)
        found = forms.get(key)
        same = found is not None and found.AT is AT and found.rank == rank
        if not same or found.starts is not starts and not np.array_equal(found.starts, starts):
            found = forms[key] = cls(device, A, AT, degrees, starts, rank)
        return found

    def __init__(
        self, device: Device, A: Compressed, AT: Compressed | None, degrees: Any, starts: np.ndarray, rank: int
    ) -> None:
        xp = device.xp
        self.AT, self.starts, self.rank = AT, starts, rank
        self.own = range(int(starts[rank]), int(starts[rank + 1]))
        of_rank = A if AT is None else AT
        index = np.dtype(np.int32 if max(A.nvals, of_rank.nvals) < 2**31 else np.int64)
        self.start, into = A.indptr.astype(index, copy=False), of_rank.indptr.astype(index, copy=False)
        self.index = "int32_t" if index.itemsize == 4 else "int64_t"
        own, words = len(self.own), word_count(len(self.own))
        live = xp.zeros(words * 64, np.bool_)
        live[:own] = True if AT is None else into[1:] > into[:-1]
        near = [None, None] if AT is None else _likeliest(device, of_rank, degrees)
        self.arrays = [
            self.start, A.indices, into, of_rank.indices, *near, xp.packbits(live, bitorder="little").view(np.uint64),
            device.empty(word_count(int(starts[-1])), np.uint64), device.empty(HUBS, np.int32),
            device.zeros(CONTROL_WORDS, np.uint64), device.array(starts, np.int64),
        ]  # fmt: skip
        fields = [*map(device.address, self.arrays), _widest(starts), starts.size - 1, rank]
        self.table = device.array(np.array(fields, np.uint64))


def _likeliest(device: Device, into: Compressed, degrees: Any) -> list[Any]:
    """The in-neighbour of most edges of each row, and the next four: where a pull looks first."""
    n, start = into.nrows, into.indptr.astype(np.int64, copy=False)
    ends = device.zeros(degrees.shape[0] + 1, np.int64)
    device.xp.cumsum(degrees, dtype=np.int64, out=ends[1:])
    found = [device.empty(n, np.int32), device.empty(4 * n, np.int32)]
    kernel = device.launcher.kernel("graph/bfs_prepare.cuh", "highest_degree_neighbours", "", ("int64_t",))
    kernel.over(n * 32, (start, into.indices, ends, n, *found))
    return found
