"""The GPU kernel of a product of a matrix and a vector whose method (rows, cols) is chosen.

The backend calls these functions with facts; each records its choice in the plan and returns it. A forced kernel
(record.FORCIBLE) runs where it can serve; elsewhere the plan says kernel_unsuited, and the planner's choice runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from . import tuning
from .record import KERNEL_METHODS, forced

if TYPE_CHECKING:
    from .device_profile import DeviceProfile

SPMM = ("spmm_rows", "spmm_slabs")
BINNED = "segments_binned"  # on every backend
SEGMENTS = ("segments", "segments_delta16", "segments_relabelled", BINNED, "bit_blocks")


def _record(plan, kernel, rule, figures=()):
    plan.kernel, plan.kernel_rule, plan.kernel_figures = kernel, rule, figures  # as use_kernel, in each product
    return kernel


def _unsuited(plan, wanted):
    plan.rule, plan.figures = "kernel_unsuited", (wanted,)


def forced_kernel(method: str) -> str | None:
    """The kernel of `method` ("rows" or "cols") that is forced, or None."""
    kernel = forced().kernel
    return kernel if kernel is not None and KERNEL_METHODS.get(kernel) == method else None


def has_capacity(size: int, entries: int) -> bool:
    """May an array of `size` elements be allocated with operands of `entries` entries?"""
    return size <= tuning.ALWAYS_ALLOCATED or size <= tuning.ALLOCATED_PER_ENTRY * entries


def rows_kernel(
    plan,
    entries: int,
    stored_rows: int,
    size: int,
    full: bool,
    streams: bool,
    stops_early: bool,
    has_terminal: bool,
    reads_most: Callable[[], bool],
    one_match: bool,
    listed: int | None,
    longest: Callable[[], int],
) -> str:
    """The kernel of a row-wise product: segments, pull_early_exit, listed_rows or binned_rows.

    full: x is.  streams: nothing is masked, or by a mask of many rows, and x is full or no single match decides a row.
    stops_early: may a row end before its last entry?  has_terminal: has the monoid a terminal value?  reads_most(): is
    most of the matrix read all the same?  one_match: one match decides a row and the pull's kernel takes the matrix.
    listed: entries of a mask that is a list, else None.  longest(): entries of the longest row.
    """
    serves_segments = streams and (not stops_early or has_terminal)
    wanted = forced_kernel("rows")
    if wanted is not None:
        if wanted in SEGMENTS:
            serves = serves_segments and (full or wanted != "bit_blocks")
        elif wanted == "pull_early_exit":
            serves = one_match
        else:
            serves = wanted == "binned_rows" or listed is not None
        if serves:
            return _record(plan, "segments" if wanted in SEGMENTS else wanted, "forced")
        _unsuited(plan, wanted)
    if serves_segments and (not stops_early or reads_most()):
        return _record(plan, "segments", "all_entries", (entries,))
    one_match = one_match and not (full and streams)
    if listed is not None and listed * tuning.LISTED_SHARE < stored_rows:
        all_rows = stored_rows * tuning.GPU_BINNED_ROW_NS
        if size > tuning.PULL_ALL_ROWS if one_match else all_rows > tuning.LISTED_NS and _is_cut(listed, longest()):
            return _record(plan, "listed_rows", "mask_lists_rows", (listed, size))
    if one_match:
        return _record(plan, "pull_early_exit", "one_match_enough")
    return _record(plan, "binned_rows", "rows_by_length")


def _is_cut(listed, longest):
    """May each listed row be cut into chunks of 512 entries?  Else one warp reads a hub's row alone."""
    return listed * (1 + longest // 512) <= tuning.LISTED_CHUNKS


def hypersparse_kernel(plan, size: int, entries: int) -> str:
    """The kernel of a row-wise product whose vectors are too large to be allocated: hypersparse_rows."""
    wanted = forced_kernel("rows")
    if wanted is not None:
        _unsuited(plan, wanted)
    return _record(plan, "hypersparse_rows", "too_large", (size, entries))


def column_indices(
    entries: int,
    near_share: Callable[[], float],
    hub_share: Callable[[], float],
    fits: Callable[[int], bool],
    ncols: int,
) -> tuple[str, str, tuple]:
    """(kernel, rule, figures) of the segments after BUILD_AFTER products: how the column indices are stored.

    near_share(): of the segments whose columns span less than 2^16.  hub_share(): of the entries in the columns whose x
    fits in shared memory.  fits(bytes): is that much memory free?
    """
    near = near_share()
    if near >= tuning.DELTA16_SHARE:
        if fits(2 * entries):
            return "segments_delta16", "columns_near", (near,)
        return "segments", "columns_no_memory", (2 * entries,)
    if entries < tuning.RELABELLED_ENTRIES:
        return "segments", "columns_spread", (near,)
    need = 4 * entries + 32 * ncols
    if not fits(need):
        return "segments", "columns_no_memory", (need,)
    share = hub_share()
    if share < tuning.RELABELLED_SHARE:
        return "segments", "columns_spread", (near,)
    return "segments_relabelled", "columns_skewed", (share,)


def bins_cost(
    entries: int, item: int, values: float, run: float, steps: int, hubs: bool, profile: DeviceProfile
) -> float:  # fmt: skip
    """ns of a product that puts x into bins first.

    item: bytes of a value of x.  values: in bins over entries.  run: bytes that are written together.  steps: bins
    that a block reads.  hubs: are there columns in shared memory beside the bins?
    """
    bandwidth = profile.dram_bytes_ns * tuning.GPU_BINS_BANDWIDTH
    beside = tuning.GPU_RUN_BYTES if run >= tuning.GPU_SHORT_RUN else tuning.GPU_JOINED_RUN_BYTES
    fill = values * (2.5 + item) / bandwidth * (1 + beside / run)
    reads = (tuning.GPU_BIN_ENTRY_NS + tuning.GPU_BIN_BYTE_NS * max(item, 4)) * profile.latency
    if hubs:
        fill, reads = fill * tuning.GPU_HUBS, reads * tuning.GPU_HUBS
    product = max(reads, (2 + values * item) / bandwidth)
    fixed = (tuning.GPU_BINS_FIXED_NS + steps * tuning.GPU_BIN_STEP_NS) * profile.latency
    return fixed + entries * (fill + product)


def bins_pay(
    entries: int, hub_share: float, cached_share: float, bins_ns: float, profile: DeviceProfile, fits: bool
) -> tuple | None:
    """Figures of products that put x into bins first where these cost less than gathers, else None.

    hub_share: of the entries in the columns whose x is in shared memory, 0 where the product does not use that.
    cached_share: of those in the columns whose x the L2 cache holds.  fits: is there memory for the form?  The figures:
    ns of a product over bins, of one with gathers, and cached_share.
    """
    if entries < tuning.RELABELLED_ENTRIES or not fits:
        return None
    near_ns, far_ns = tuning.GPU_CACHED_GATHER_NS, tuning.GPU_FAR_GATHER_NS
    gathers = max(cached_share - hub_share, 0.0) * near_ns + (1 - max(cached_share, hub_share)) * far_ns
    gathers_ns = entries * (tuning.GPU_SEGMENT_NS + gathers) * profile.latency
    return (bins_ns, gathers_ns, cached_share) if bins_ns < gathers_ns else None


def host_bins_pay(
    entries: int, item: int, cells: int, cached_share: Callable[[], float], fits: Callable[[], bool]
) -> tuple | None:
    """The figures of `bins_pay` for a product on the CPU, or None.

    cells: of bins and slabs.  cached_share(): of the entries in the lines of x that the last level of cache holds.
    """
    bins_ns = entries * (tuning.CPU_BIN_ENTRY_NS + item * tuning.CPU_BIN_BYTE_NS) + cells * tuning.CPU_BIN_CELL_NS
    if bins_ns >= entries * (tuning.CPU_NEAR_GATHER_NS + tuning.CPU_FAR_GATHER_NS):  # even if no cache had x
        return None
    share = cached_share()
    gathers_ns = entries * (tuning.CPU_NEAR_GATHER_NS + (1 - share) * tuning.CPU_FAR_GATHER_NS)
    return (bins_ns, gathers_ns, share) if bins_ns < gathers_ns and fits() else None


def slabs_pay(
    entries: int, shape: tuple[int, int], slabs: int, row_bytes: int, sweeps: int, cached_share: float,
    profile: DeviceProfile,
) -> tuple[bool, float, float, int, float]:  # fmt: skip
    """(do `slabs` slabs of columns cost less than all columns at once, ns of both, slabs, cached_share), for SpMM.

    shape: rows and columns.  row_bytes: of a row of X, which is read from DRAM `sweeps` times.  cached_share: of the
    entries in the columns whose rows of X the L2 cache holds.
    """
    nrows, ncols = shape
    sectors = max(row_bytes / 32, 1.0)
    near = sectors * tuning.GPU_CACHED_GATHER_NS * profile.latency
    far = tuning.GPU_FAR_GATHER_NS * profile.latency + (sectors - 1) * 32 / profile.dram_bytes_ns
    rows_ns = entries * (cached_share * near + (1 - cached_share) * far)
    rows_ns += nrows * tuning.GPU_SPMM_ROW_NS * profile.latency
    read_ns = min(row_bytes / 32, 1.0) * ncols * tuning.GPU_SLAB_ROW_NS + slabs * tuning.GPU_SLAB_NS
    read_ns *= profile.latency
    slabs_ns = entries * (tuning.GPU_SLAB_ENTRY_NS * profile.latency + near) + sweeps * read_ns
    return slabs_ns < rows_ns, slabs_ns, rows_ns, slabs, cached_share


def blocks_pay(
    entries: int, blocks: float, item: int, segments_item: int, column_bytes: int, profile: DeviceProfile
) -> tuple | None:
    """Figures of products with full vectors where 8 x 8 bitmap blocks cost less than segments of entries, else None.

    blocks: of 8 x 8 with an entry, estimated.  item: bytes of a value that is read in the blocks.  segments_item,
    column_bytes: of a value and a column index in the segments.  The figures: ns of a product over blocks, of one over
    segments, of making the blocks, and entries a block.
    """
    bandwidth = profile.dram_bytes_ns
    block_ns = (tuning.GPU_BLOCK_NS if item else tuning.GPU_BLOCK_MAP_NS) * profile.latency
    bytes_ns = (blocks * tuning.BLOCK_BYTES + entries * item) / (bandwidth * tuning.GPU_BLOCK_BANDWIDTH)
    blocks_ns = tuning.GPU_BLOCKS_NS * profile.latency + max(blocks * block_ns, bytes_ns)
    segments_ns = entries * (column_bytes + segments_item + 1 / 8) / bandwidth
    segments_ns = max(entries * tuning.GPU_GATHER_NS * profile.latency, segments_ns)
    if blocks_ns >= segments_ns:
        return None
    build_ns = entries * tuning.GPU_BLOCK_BUILD_NS * profile.latency
    return blocks_ns, segments_ns, build_ns, entries / max(blocks, 1.0)


def tiles_move_less(entries: int, tiles: int, columns: int, item: int) -> bool:
    """Does A X over tiles of 16 x 16 values of `item` bytes load enough fewer bytes than CSR of FP32 to pay?

    Each entry loads its index, its value and a row of X of `columns` values; each tile its values, 16 column indices
    and 16 rows of X.

    >>> tiles_move_less(105, 1, 64, 2), tiles_move_less(2, 1, 64, 2)
    (True, False)
    """
    return tiles * 16 * (16 * item + 4 + columns * item) * tuning.ROUNDED_SAVING < entries * (8 + 4 * columns)


def presence_is_found_later(edges: float, size: int) -> bool:
    """Is reading all sums again cheaper than returning atomics?  For sums whose value shows that they are present."""
    return edges >= tuning.MANY_EDGES and edges * tuning.EDGES_OF_POSITION >= size


def merge_kernel(plan, count: int, few: int, longest: int, edges: float, can_share: bool, later: bool) -> str:
    """The kernel of a column-wise product merged by atomics.

    count: entries of x; few: up to how many every block can scan them all.  longest: entries of the longest column.
    edges: of the columns at x's entries, an estimate.  can_share: have the values sums in shared memory?  later: is
    presence found by a pass over all sums?
    """
    wanted = forced().kernel  # as forced_kernel, which is one more call
    if wanted is not None and KERNEL_METHODS.get(wanted) == "cols" and wanted != "sort_products":
        if wanted != "merge_hubs_shared" or can_share:
            return _record(plan, wanted, "forced")
        _unsuited(plan, wanted)
    if count <= few:
        return _record(plan, "merge_columns", "few_entries", (count,))
    if longest <= tuning.LONG_COLUMN:
        return _record(plan, "merge_columns", "columns_short", (longest,))
    if can_share and later and edges >= tuning.HUB_EDGES:
        return _record(plan, "merge_hubs_shared", "many_edges", (edges,))
    return _record(plan, "merge_edge_balanced", "columns_long", (longest,))


def sorts_products(plan, has_atomic: bool, size: int, entries: int) -> bool:
    """Are the products of a column-wise product sorted by row (ESC) rather than merged by atomics?"""
    if has_atomic and has_capacity(size, entries):
        if forced_kernel("cols") != "sort_products":
            return False
        _record(plan, "sort_products", "forced")
        return True
    wanted = forced_kernel("cols")
    if wanted is not None and wanted != "sort_products":
        _unsuited(plan, wanted)
    _record(plan, "sort_products", "no_atomic")
    return True


def stays_bitmap(size: int, item_bytes: int, profile) -> bool:
    """Does a result cost less as a bitmap than as a list after a read-back, however few its entries are?

    Clearing or reading a bitmap costs its bytes over the bandwidth of DRAM, a list a read-back and two launches.
    """
    return size * (item_bytes + 0.125) <= tuning.LIST_NS * profile.dram_bytes_ns


SPGEMM = ("two_phases", "tile_pairs", "inner_windows", "merge_at_mask", "esc")


class TileFacts(NamedTuple):
    """The facts of a product of matrices in 8 x 8 tiles.

    entries, nrows: of A.  row: mean entries of a row of B.  made: entries whose tiles have to be made first.
    structure: does the product read no values?  mode: how values are computed (the enumeration of tile_products.cuh).
    fill(): mean entries of a tile of A, of B; zeros where memory is short of space for tiles.
    """

    entries: int
    nrows: int
    row: float
    made: int
    structure: bool
    mode: str
    fill: Callable[[], tuple[float, float]]

    def costs(self) -> tuple[float, float, float] | None:
        """(products of a pair of tiles, ns by pairs of tiles, ns in two phases); None: too few products for tiles.

        A pair has, for each of 8 inner indices, the entries of a column of A's tile times those of a row of B's.
        """
        products = self.entries * self.row
        rows = products * (tuning.GPU_STRUCTURE_PRODUCT_NS if self.structure else tuning.GPU_ROW_PRODUCT_NS)
        if rows <= tuning.GPU_TILE_CALL_NS:
            return None
        a_fill, b_fill = self.fill()
        each = a_fill * b_fill / 8
        pair = tuning.GPU_TILE_PAIR_NS
        if self.structure:
            pair += tuning.GPU_TILE_COLUMNS_NS
        elif self.mode == "BIT_MATRIX":
            pair += tuning.GPU_TILE_BITS_NS
        elif self.mode == "FP64_MATRIX":
            pair += tuning.GPU_TILE_MATRIX_NS
        else:
            pair += tuning.GPU_TILE_VALUES_NS + each * tuning.GPU_TILE_PRODUCT_NS
        if self.entries / max(a_fill, 1.0) > self.nrows / 8 * 32:  # a warp does not hold the tiles of a block row of A
            pair += tuning.GPU_TILE_BISECTION_NS
        made = tuning.GPU_TILE_CALL_NS + self.made * tuning.GPU_TILE_ENTRY_NS
        return each, made + products / max(each, 1e-9) * pair, rows


def spgemm_kernel(plan, by_mask: bool, tiles: Callable[[], TileFacts | None] | None = None) -> str:
    """The kernel of a row-wise product of two matrices: two_phases, tile_pairs, merge_at_mask or esc; inner_windows,
    which choose_inner.py chooses before, cannot serve here.

    by_mask: may products be merged into the positions of the mask (no complement, columns below 2^31)?  tiles(): what
    is known of the tiles, None where they do not pay; itself None where tiles cannot serve.  The plan may name the
    kernel already (choose_matmul_gpu.py).
    """
    wanted = forced().kernel
    if wanted in SPGEMM:
        serves = {"merge_at_mask": by_mask, "tile_pairs": tiles is not None, "inner_windows": False}
        if serves.get(wanted, True):
            return _record(plan, wanted, "forced")
        _unsuited(plan, wanted)
    planned = plan.kernel
    if planned == "two_phases" or (planned == "merge_at_mask" and by_mask):
        return planned
    if planned is not None:
        return _record(plan, "two_phases", "wide_columns")
    if by_mask:
        return _record(plan, "merge_at_mask", "mask_bounds")
    facts = None if tiles is None else tiles()
    figures = None if facts is None else facts.costs()
    if figures is not None and figures[1] < figures[2]:
        return _record(plan, "tile_pairs", "pairs_full", figures)
    return _record(plan, "two_phases", "row_accumulators")
