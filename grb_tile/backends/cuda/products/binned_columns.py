"""x in bins for SpMV by segments, where no cache holds x: propagation blocking (kernels/products/binned_columns.cuh).

Beamer, Asanovic, Patterson, "Reducing Pagerank communication via propagation blocking" (IPDPS 2017).

Schema of Bins (N slices of SLICE entries; a bin: the entries that a block of the product's kernel reads in one step)

    order        int32 [columns]       the hubs, then all other columns that have entries, ascending; None: all columns
    places       uint16 [N * SLICE]    of each entry's value of x in shared memory, where those of hubs lie first, then
                                       those of a bin, in the order of the entries
    bases        int32 [bins + 1]      chunks before each bin, those of the hubs among them
    codes        uint16 [chunks * C]   slab by slab: columns in the slab; a chunk is C values, 32 bytes or less
    to           uint32 [chunks]       where each of these chunks goes, in chunks
    slab_starts  uint32 [slabs + 1]    chunks before each slab

Hubs are columns with many entries: their x is in every block's shared memory, and no bin has it.

A product moves 12 bytes an entry for an x of 4 bytes, all of them in streams: codes 2, values written 4 and read 4,
places 2.  The form has 4.5, more by the padding of cells (`padding`), beside the columns, which stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ....planner import tuning
from ..structure.arrays import moved_type

if TYPE_CHECKING:
    from ....storage.store import Compressed
    from ..runtime.device import Device

HEADER = "products/binned_columns.cuh"
PLACES = 1 << 16  # of a bin, and columns of a slab: what 16 bits name
THREADS = 1024
SLAB_SHARE = 27 / 32  # of a block's shared memory for a slab: the L1 cache needs the rest
FULL = 0.97  # share of a bin's table that its values are expected to fill: bins differ
AT_ONCE, TOGETHER = 4, 8  # chunks, or halves of them, that a thread has in flight; where blocks keep together
TRIES = 6  # numbers of steps, each greater than the last by what the greatest bin has too much


class Bins:
    """See the schema at the head of this file.  hubs: how many.  padding: values in bins over entries.

    chunks: of the bins and the hubs; most: of the greatest bin.  longest: chunks of the greatest slab; run: mean bytes
    of a cell, which are written together.  turns: two zeros (uint32) for blocks that wait for each other.
    """

    __slots__ = (
        "bases", "blocks", "chunk", "chunks", "codes", "columns", "hubs", "longest", "most", "order", "padding",
        "places", "run", "slab_columns", "slab_starts", "slabs", "steps", "threads", "to", "turns",
    )  # fmt: skip


def chunk_of(item: int) -> int:
    """Values of `item` bytes in a chunk, as WarpSum::BIN_CHUNK has it."""
    return 8 if item <= 4 else 4


def slab_columns(device: Device, item: int) -> int:
    """Columns whose values of `item` bytes fit in a block's shared memory."""
    launcher = device.launcher
    return launcher.size(min(PLACES, int(launcher.limits.dynamic_shared * SLAB_SHARE) // item), 64)


def order_of(device: Device, ranked: Any, counts: Any, hubs: int) -> tuple[Any, int]:
    """(the Bins' order, the entries of hubs); ranked: columns by falling number of entries, counts: of each column."""
    xp = device.xp
    cold = counts > 0
    cold[ranked[:hubs]] = False
    entries = device.read(counts[ranked[:hubs]].sum().reshape(1))[0] if hubs else 0
    return xp.concatenate((ranked[:hubs], xp.nonzero(cold)[0].astype(np.int32))), entries


def expected_padding(entries_of_bin: float, slabs: int, chunk: int) -> float:
    """Values in bins over entries where each cell is expected to have the same number of entries."""
    return 1 + min(slabs, entries_of_bin) * (chunk - 1) / 2 / max(entries_of_bin, 1)


class Expected(NamedTuple):
    """What a product over bins is expected to have."""

    steps: int
    padding: float  # values in bins over entries in bins
    run: float  # bytes of a cell


def expected(device: Device, entries: int, columns: int, item: int, blocks: int, places: int) -> Expected:
    """Of `entries` in bins, each of at most `places` values, and `columns` in slabs."""
    slabs, chunk = max(1, -(-columns // slab_columns(device, item))), chunk_of(item)
    # entries of a bin: e + slabs (chunk - 1) / 2 = places, or one entry in each of e cells
    most = max(FULL * places - slabs * (chunk - 1) / 2, FULL * places / chunk, 1.0)
    steps = max(1, int(np.ceil(entries / (blocks * most))))
    of_bin = entries / (blocks * steps)
    padding = expected_padding(of_bin, slabs, chunk)
    return Expected(steps, padding, max(padding * of_bin / slabs, chunk) * item)


def places_of(room: int, item: int, hubs: int) -> int:
    """Values that a bin has room for beside the hubs in `room` bytes; whole chunks."""
    return (min(PLACES, room // item) - hubs) // chunk_of(item) * chunk_of(item)


def make(
    device: Device, A: Compressed, slices: int, threads: int, blocks: int, item: int, room: int, slice_entries: int,
    order: Any = None, hubs: int = 0, hub_entries: int = 0,
) -> Bins | None:  # fmt: skip
    """The Bins of A for `blocks` blocks of `threads` threads with `room` bytes for values of `item` bytes.

    None where no number of steps fits.  A has column indices of int32.  order: as in the schema, its first `hubs`, in
    whole chunks, the hubs, which have hub_entries entries.
    """
    xp, launcher, result = device.xp, device.launcher, Bins()
    entries, warps = A.indices.shape[0], threads // 32
    result.threads, result.blocks, result.chunk = threads, blocks, chunk_of(item)
    result.slab_columns = width = slab_columns(device, item)
    result.order, result.hubs = order, hubs
    result.columns = columns = (A.ncols if order is None else order.shape[0]) - hubs
    result.slabs = slabs = max(1, -(-columns // width))
    places, ranks = places_of(room, item, hubs), None
    if order is not None:
        ranks = device.zeros(A.ncols, np.int32)
        ranks[order] = device.arange(order.shape[0], np.int32)
    if places < result.chunk:
        return None
    steps = expected(device, entries - hub_entries, columns, item, blocks, places).steps
    build_threads, build_shared = launcher.threads(512), 2 * 4 * slabs
    if build_shared > launcher.limits.dynamic_shared:
        return None
    for _ in range(TRIES):
        bins = blocks * steps
        cells = device.empty(slabs * bins, np.uint32)
        shape = entries, slices, blocks * warps, warps, steps, bins, width, slabs, result.chunk, ranks, hubs
        grid = launcher.blocks(min(bins, 4 * launcher.processors))
        count = launcher.kernel(HEADER, "count_cells", "", ("0",))
        count(grid, build_threads, (A.indices, *shape, cells), shared=build_shared)
        result.bases = device.full(bins + 1, hubs // result.chunk, np.int32)
        totals = cells.reshape(slabs, bins).sum(axis=0)
        result.bases[1:] += xp.cumsum(totals, dtype=np.int32)
        result.most, result.chunks = device.read(totals.max().reshape(1), result.bases[-1:])
        if result.most * result.chunk <= places:
            break
        if steps >= slices:
            return None
        steps = min(slices, steps * result.most * result.chunk // places + 1)
    else:
        return None
    chunks = result.chunks - hubs // result.chunk
    result.steps, result.padding = steps, chunks * result.chunk / max(entries, 1)
    starts = xp.cumsum(cells, dtype=np.uint32) - cells
    result.slab_starts = device.empty(slabs + 1, np.uint32)
    result.slab_starts[:-1] = starts[::bins]
    result.slab_starts[-1:] = chunks
    result.run, result.turns = chunks * result.chunk * item / (slabs * bins), device.zeros(2, np.uint32)
    result.longest = device.read((result.slab_starts[1:] - result.slab_starts[:-1]).max().reshape(1))[0]
    result.places = device.zeros(slices * slice_entries, np.uint16)
    result.codes = device.zeros(chunks * result.chunk, np.uint16)
    result.to = device.empty(chunks, np.uint32)
    place = launcher.kernel(HEADER, "place_entries", "", ("0",))
    place(
        grid, build_threads,
        (A.indices, *shape, cells, starts, result.bases, result.places, result.codes, result.to),
        shared=build_shared,
    )  # fmt: skip
    return result


def parts_of(bins: Bins, blocks: int) -> int:
    """Parts of a slab's chunks that blocks take: few, since each loads the slab, but all blocks end together."""
    load = bins.slabs * bins.slab_columns / max(bins.codes.shape[0], 1)  # a part's columns over its values
    return min(range(1, 17), key=lambda parts: -(-bins.slabs * parts // blocks) * (1 / parts + load))


def stages_of(bins: Bins, parts: int, threads: int, item: int) -> int:
    """Turns of a part of a slab's chunks in which blocks wait for each other; 1: they do not.

    Where runs are short, neighbouring ones should be written about at the same time, so that whole lines go to DRAM.
    """
    if bins.run >= tuning.GPU_SHORT_RUN:
        return 1
    halves = max(1, bins.chunk * item // 16)
    return max(1, -(-bins.longest * halves // (parts * TOGETHER * threads)))


def fill(device: Device, bins: Bins, x: Any) -> Any:
    """x of the hubs and in the bins: `x` is an array of all columns' values."""
    launcher, item = device.launcher, x.dtype.itemsize
    out = device.empty(bins.chunks * bins.chunk, x.dtype)
    blocks, threads = launcher.blocks(launcher.processors), launcher.threads(THREADS)
    parts = parts_of(bins, blocks)
    shape = bins.hubs, bins.columns, bins.slab_columns, bins.slab_starts, bins.slabs, parts
    stages = stages_of(bins, parts, threads, item)
    at_once = AT_ONCE if stages == 1 else TOGETHER
    kernel = launcher.kernel(HEADER, "put_in_bins", "", (moved_type(x), str(bins.chunk), str(at_once)))
    kernel(
        blocks, threads, (x, bins.order, *shape, bins.codes, bins.to, out, stages, bins.turns),
        shared=bins.slab_columns * item,
    )  # fmt: skip
    return out
