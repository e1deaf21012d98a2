"""The figures of choices are those that were measured, and costs follow from them by their formulas.

A figure changes with its measurement alone: here it stands a second time, as an account has two sides.
"""

from dataclasses import astuple
from types import SimpleNamespace

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import dtypes
from grb_tile.planner import choose_kernel, choose_matmul, device_limits, explain, history, tuning
from grb_tile.planner.choose_direction import cheaper
from grb_tile.planner.choose_matvec_gpu import DirectionCosts, costs_of
from grb_tile.planner.device_profile import CPU, H200, H200_LOOPS, MEASURED_SHARE, profile_of
from grb_tile.planner.matvec_work import is_dense_sum
from grb_tile.planner.record import Plan, record_plan, report_of
from grb_tile.planner.statistics import edges_of, mean_degree
from grb_tile.semiring import max_times, plus_times
from grb_tile.storage.convert import compressed, to_dcsr, transpose_of
from grb_tile.storage.store import StoredMask
from support import stores
from support.seeds import generator

MEASURED = {
    "ALLOCATED_PER_ENTRY": 64, "ALWAYS_ALLOCATED": 1 << 24, "BFS_ALPHA": 16, "BFS_SHORT_ROWS": 4.2,
    "BLOCK_BYTES": 10.6, "BOUND_SIZE": 1 << 16, "BROADCAST_MASK": 4, "BUILD_AFTER": 3, "CHECKED_PRODUCT": 1.5,
    "COMPILED_ENTRIES": 1 << 11, "COMPILED_KRONECKER_ENTRIES": 64, "COMPILED_PUT_ENTRIES": 64, "COMPILED_SAVES": 0.8,
    "COMPILED_TUPLES": 1 << 14, "COMPILE_SECONDS": 0.5, "COMPOSED_ENTRY_SECONDS": 1e-07,
    "COMPOSED_VERTEX_SECONDS": 1e-06,
    "CPU_BINS_ADMITTED": 0.75, "CPU_BINS_ENTRIES": 1 << 22,
    "CPU_BIN_BYTE_NS": 0.2, "CPU_BIN_CELL_NS": 40.0, "CPU_BIN_ENTRY_NS": 1.0, "CPU_CACHED_SHARE": 0.25,
    "CPU_FAR_GATHER_NS": 6.5, "CPU_NEAR_GATHER_NS": 1.2, "CPU_BRANCH_NS": 11.0, "CPU_COLUMN_NS": 45.0,
    "CPU_COUNTED": 1 << 11,
    "CPU_ENTRY_NS": 1.5, "CPU_LIST_NS": 2.0, "CPU_LOOKED_ROW_NS": 14.0, "CPU_LOOK_UP_NS": 1.7,
    "CPU_MULTI_BFS_PULL": 3.0, "CPU_PAGE_NS": 200.0, "CPU_PROBE_NS": 0.5, "CPU_PRODUCT_NS": 6.0, "CPU_ROW_NS": 4.0,
    "CPU_SAMPLED": 1 << 12, "CPU_SAMPLE_NS": 70000.0, "CPU_SCATTER_NS": 3.0, "CPU_SET_BIT_NS": 2.0,
    "CPU_SMALL_MATRICES": 1 << 10, "CPU_SMALL_MATRIX": 1 << 12, "CPU_SPREAD_ENTRY_NS": 5.0, "CPU_SPREAD_NS": 0.02,
    "CPU_SUM_NS": 2.2, "CPU_SURE": 16, "CPU_TRANSPOSE_NS": 14.0, "CPU_UNASKED_NS": 15000.0, "DELTA16_SHARE": 0.5,
    "DENSE_DOTS": 1 << 12, "DENSE_EMPTY_ROWS": 4, "DENSE_MASK": 8, "DENSE_MASK_ROWS": 4, "DEVICE_EXCHANGE_NS": 18000,
    "DOT_ENTRY": 1.0, "DOT_VALUE": 1.75, "EARLY_STEP": 128, "EDGES_OF_POSITION": 8, "FELT_SECONDS": 0.01,
    "FOLDED_CHAINS": 4, "GATHER_TABLE_COLUMNS": 16, "GPU_BINNED_NS": 14000.0, "GPU_BINNED_ROW_NS": 0.04,
    "GPU_BINS_BANDWIDTH": 0.68, "GPU_BINS_FIXED_NS": 10000.0, "GPU_BIN_BYTE_NS": 0.0004, "GPU_BIN_ENTRY_NS": 0.0002,
    "GPU_BIN_STEP_NS": 1200.0, "GPU_BLOCKS_NS": 2600.0, "GPU_BLOCK_BANDWIDTH": 0.83, "GPU_BLOCK_BUILD_NS": 0.04,
    "GPU_BLOCK_MAP_NS": 0.018, "GPU_BLOCK_NS": 0.032, "GPU_BUILT_ON_HOST": 1 << 10, "GPU_CACHED_GATHER_NS": 0.0046,
    "GPU_CACHED_SHARE": 0.6, "GPU_CLAIM_NS": 0.033, "GPU_CLAIM_PUSH_NS": 8660.0, "GPU_COMBINED_BY_THREAD": 16,
    "GPU_COUNT_EDGES_NS": 34700.0, "GPU_DOT_NS": 0.005, "GPU_DOT_POSITION_NS": 0.2, "GPU_ENTRY_NS": 0.00413,
    "GPU_FAR_GATHER_NS": 0.025, "GPU_FIRST_LOOK": 8.0, "GPU_GATHER_NS": 0.0012, "GPU_HUBS": 1.04,
    "GPU_INDEX": 1 << 11, "GPU_INNER_ENTRY_NS": 0.0032, "GPU_INNER_LINES": 64, "GPU_INNER_SPAN": 16,
    "GPU_INNER_STEP_NS": 0.0011, "GPU_LOOK_UP": 1.3, "GPU_MASKED_PUSH_NS": 0.008, "GPU_MASK_ROWS": 8,
    "GPU_MERGED_DCSR": 1 << 21, "GPU_MERGE_NS": 0.0124, "GPU_PUSH_NS": 271.0, "GPU_RESTRICT_LOOK_UP": 8,
    "GPU_ROW_PRODUCT_NS": 0.006, "GPU_RUN_BYTES": 28.0, "GPU_JOINED_RUN_BYTES": 5.0,
    "GPU_SEARCHED_RATIO": 8, "GPU_SEGMENT_NS": 0.0025,
    "GPU_SHORT_RUN": 500.0, "GPU_SLABS_HAVE": 0.8, "GPU_SLAB_ENTRY_NS": 0.004, "GPU_SLAB_NS": 5000.0,
    "GPU_SLAB_ROW_NS": 0.018, "GPU_SLAB_SHARE": 0.3, "GPU_SMALL_MATRIX": 1 << 14, "GPU_SORTED_KEYS": 1 << 16,
    "GPU_SORT_EDGE_NS": 0.12, "GPU_SORT_NS": 450000.0, "GPU_SPLIT_PRODUCTS": 1 << 21, "GPU_SPLIT_PRODUCT_NS": 0.018,
    "GPU_SPMM_ROW_NS": 0.23, "GPU_STRUCTURE_PRODUCT_NS": 0.002, "GPU_TABLE_LOOKUPS": 64,
    "GPU_TILED_NS": 10000.0, "GPU_TILE_BISECTION_NS": 0.18, "GPU_TILE_BITS_NS": 0.055, "GPU_TILE_CALL_NS": 300000.0,
    "GPU_TILE_COLUMNS_NS": 0.018, "GPU_TILE_ENTRY_NS": 0.05, "GPU_TILE_LIVE_NS": 0.006, "GPU_TILE_MATRIX_NS": 0.14,
    "GPU_TILE_PAIR_NS": 0.025, "GPU_TILE_PRODUCT_NS": 0.0003, "GPU_TILE_ROW_NS": 0.9, "GPU_TILE_STEP_NS": 300.0,
    "GPU_TILE_VALUES_NS": 0.21, "GPU_TILE_WIDTH": 32, "GPU_TRANSPOSE_NS": 0.0413, "GPU_UNCOUNTED": 1 << 20,
    "GPU_WORD_CALL_NS": 100000.0, "GPU_WORD_FORM_NS": 0.025, "GPU_WORD_NS": 0.004, "HIGH_DIAMETER_DEGREE": 32,
    "HIGH_DIAMETER_HEAVY": 0.0625, "HIGH_DIAMETER_HEAVY_ENTRIES": 1 << 19, "HIGH_DIAMETER_MEAN": 8.5,
    "HIGH_DIAMETER_VERTICES": 1 << 11, "HOST_BYTE_NS": 0.7, "HOST_EXCHANGE_NS": 60000, "HUB_EDGES": 1 << 22,
    "HYSTERESIS": 1.25, "INDEX_TABLE": 64, "KERNEL_COST": 2, "LISTED_CHUNKS": 1 << 16, "LISTED_INDEX": 512,
    "LISTED_NS": 100000.0, "LISTED_SHARE": 8, "LIST_NS": 17000.0, "LOCAL_SHARE": 0.25, "LONG_COLUMN": 1 << 13,
    "LOW_SKEW": 256, "MANY_EDGES": 1 << 16, "MASK_POSITION": 2.0, "MATMUL_TRANSPOSE": 8.0, "MERGED_SIZE": 1 << 12,
    "MULTI_BFS_ALPHA": 32, "NEAR_NUMBERS": 64, "NETWORK_BYTE_NS": 0.022222222222222223, "NETWORK_EXCHANGE_NS": 30000,
    "NUMBERED_AFTER": 2.0, "LOOKED_UP": 4, "SMALL_BUILD_SECONDS": 15e-6,
    "NUMPY_BFS_EDGE_NS": 30.0, "NUMPY_BFS_LEVEL_NS": 100000.0, "NUMPY_BITMAP_NS": 5.0, "NUMPY_CALL_NS": 60000.0,
    "NUMPY_ENTRY_NS": 5.2, "NUMPY_FLAGGED": 1 << 14, "NUMPY_GATHER_NS": 30.0, "NUMPY_HIT_NS": 10.0,
    "NUMPY_KRONECKER_NS": 14.0, "NUMPY_LOOK_UP_NS": 25.0, "NUMPY_MASK_NS": 4.0, "NUMPY_MASK_ROWS": 2,
    "NUMPY_MEET_NS": 18.0, "NUMPY_PRODUCT_NS": 40.0, "NUMPY_PUT_NS": 20.0, "NUMPY_ROW_ID_NS": 0.75,
    "NUMPY_SCATTER_NS": 18.0, "NUMPY_SEARCHES": 512, "NUMPY_SELECT_NS": 7.0, "NUMPY_SORT_INDEX_NS": 25.0,
    "NUMPY_SORT_PAIR_NS": 40.0, "NUMPY_TABLE_LOOK_UPS": 1 << 12, "NUMPY_TRANSPOSE_NS": 62.0, "NUMPY_UNION_NS": 50.0,
    "NVLINK_BYTE_NS": 0.002777777777777778, "OVERWRITTEN_SHARE": 8, "PARALLEL_BFS_WORDS": 1 << 10,
    "PARALLEL_MATMUL": 100000, "PARALLEL_MATVEC": 300000, "PARALLEL_MULTI_BFS": 1 << 17,
    "PARALLEL_POSITIONS": 1 << 18, "PARALLEL_ROWS": 1 << 17, "PCIE_BYTE_NS": 0.022222222222222223,
    "POWER_FACTORS": 32, "PULL_ALL_ROWS": 1 << 24, "RANKS_BFS_NS": 0.013, "RANKS_CALLS_NS": 150000,
    "RANKS_COMPONENTS_NS": 0.075, "RANKS_ENTRY_NS": 0.005, "RANKS_FAR_NS": 0.0016, "RANKS_LEVEL_NS": 2500,
    "RANKS_LOOP_NS": 60000, "RANKS_MEETING_NS": 5000, "RANKS_NEAR_BYTES": 1 << 26,
    "RANKS_SEARCH_NS": 0.023, "RANKS_SEARCH_CALLS_NS": 200000, "RANKS_PRODUCT_NS": 250000,
    "RANKS_SSSP_NS": 0.2, "READS_MOST": 0.5,
    "RELABELLED_ENTRIES": 1 << 23, "RELABELLED_SHARE": 0.25, "RENUMBERED_COLUMNS": 16, "REPLICATED_SHARE": 0.25,
    "ROUNDED_SAVING": 2, "ROWS_ALIKE": 0.8, "ROW_BINS_ALL": (2, 6, 12, 32, 160, 512),
    "ROW_BINS_EARLY": (48, 96, 192, 384, 768, 2048), "ROW_BINS_STEP": (8, 16, 32, 64, 256, 1024), "GPU_NODE_NS": 2500,
    "GPU_BARRIER_NS": 1500, "GPU_STEP_PRODUCT_NS": 10000, "GPU_BOUNDED_LOOKUPS": 1 << 24,
    "SCAN_ALL": (1024, 4096), "SHORT_INDEX": 16, "SMALL_CALLS_SECONDS": 0.0003, "SMALL_FORM_SECONDS": 5e-06,
    "SMALL_LAUNCH": 1 << 10,
    "SMALL_MERGE_SECONDS": 1.5e-05, "SMALL_OVERWRITE_SECONDS": 4e-05, "SMALL_PRODUCT_SECONDS": 2e-05,
    "SMALL_RANGE_SECONDS": 1.2e-05, "SORTED_BOUND": 1 << 16, "SSSP_HIGH_DIAMETER_DEGREE": 64,
    "SSSP_HIGH_DIAMETER_STEP": 24.0, "SSSP_MOST_STEP": 2.0, "SSSP_PULL_AT": 2, "SSSP_STEP": 1.0, "START_SECONDS": 1.0,
    "STREAMED_MASK": 0.4, "TILES_DIAMETER_MEAN": 5.0, "TILES_ENTRIES": 1 << 20, "TILES_FULL": 7.0,
    "TILES_PULL_CSC": 16, "TILES_PUSH_CSC": 2, "TILES_SPARSE_X": 0.01, "UNION_MASK": 4, "WAIT_RATIO": 2.0,
}  # fmt: skip


def test_figures_are_those_that_were_measured():
    assert {name: threshold.value for name, threshold in tuning.THRESHOLDS.items()} == MEASURED


def test_a_threshold_says_what_it_is():
    found = tuning.THRESHOLDS["GPU_BLOCK_BANDWIDTH"]
    assert found == (0.83, "share of the bandwidth", "that 8 x 8 bitmap blocks reach, FP64", "H200: fem 70")
    assert (found.value, found.unit, found.source, found.measured_on) == found


def test_profiles_of_the_machines_that_were_measured():
    """tests/gpu/RECORD.md"""
    assert (H200.processors, H200.launch_ns, H200.barrier_ns, H200.read_back_ns) == (132, 3800.0, 1000.0, 11_000.0)
    assert (H200.dram_bytes_ns, H200.atomic_ns, H200.gather_ns) == (4300.0, 12.4e-3, 4.13e-3)
    assert (H200.shared_bytes, H200.latency, H200.atomics, H200.bandwidth) == (232448, 1.0, 1.0, 1.0)
    assert astuple(H200_LOOPS) == (4400.0, 4900.0, 960.0, 4620.0, 9.47e-3, 6.1e-3)
    assert (CPU.processors, CPU.dram_bytes_ns, CPU.atomic_ns, CPU.gather_ns) == (1, 10.0, 6.0, 2.4)
    assert (CPU.launch_ns, CPU.barrier_ns, CPU.read_back_ns, CPU.shared_bytes) == (0.0, 2000.0, 0.0, 1 << 20)
    assert (MEASURED_SHARE, CPU.source, H200.scaled) == (0.9, "table", False)


def test_limits_of_devices_in_bytes():
    """CUDA programming guide 13, table "Memory information per compute capability"."""
    hopper, turing = device_limits.limits_of(90), device_limits.limits_of(75)
    assert (hopper.shared_per_block, hopper.shared_per_processor, hopper.block_reserve) == (232448, 233472, 1024)
    assert (turing.shared_per_block, turing.shared_per_processor, turing.block_reserve) == (65536, 65536, 0)
    assert (hopper.cache, hopper.registers_per_processor, hopper.processors) == (52428800, 65536, 0)
    assert (device_limits.STATIC_SHARED, device_limits.STATIC_SHARE, device_limits.MOST_STATIC) == (49152, 8192, 16384)
    assert (device_limits.REGISTERS_OF_THREAD, device_limits.REGISTERS_OF_BLOCK) == (255, 65536)
    assert hopper.resident_blocks(1024) == 2 and hopper.resident_blocks(1025) == 0
    assert hopper.resident_blocks(32, 232448) == 1 and hopper.resident_blocks(32, 232449) == 0
    assert hopper.resident_blocks(32, 115712) == 2 and hopper.resident_blocks(32, 115713) == 1
    assert hopper.resident_blocks(256, 0, 64) == 4 and hopper.resident_blocks(256, 0, 65) == 3
    assert device_limits.restricted(hopper, "shared=48").shared_per_block == 49152
    assert device_limits.restricted(hopper, "processors=7").processors == 7
    assert hopper.dynamic_shared == 224256
    assert hopper.threads_with(1024, 219) == 1024 and hopper.threads_with(1024, 220) == 512
    assert hopper.power_of_two_with(1 << 12, 54) == 1 << 12 and hopper.power_of_two_with(1 << 12, 55) == 1 << 11


@pytest.mark.parametrize("structure, mode, pair_ns", [
    (True, "", 0.025 + 0.018), (False, "BIT_MATRIX", 0.025 + 0.055), (False, "FP64_MATRIX", 0.025 + 0.14),
    (False, "ENTRIES", 0.025 + 0.21 + 8 * 0.3e-3),
])  # fmt: skip
def test_costs_of_tiles(structure, mode, pair_ns):
    """8 products a pair; up to 32 tiles a block row, which bisections find beyond."""
    row_ns = 2e-3 if structure else 6e-3
    for nrows, bisection in ((10**6, 0.0), (10**6 - 8, 0.18)):  # 4 * 10^6 tiles in 125,000 block rows
        facts = choose_kernel.TileFacts(32 * 10**6, nrows, 100.0, 5000, structure, mode, lambda: (8.0, 8.0))
        each, tiles, rows = facts.costs()
        products = 32e8
        assert (each, rows) == pytest.approx((8.0, products * row_ns))
        assert tiles == pytest.approx(300_000 + 5000 * 0.05 + products / 8 * (pair_ns + bisection))
    least = 300_000 / row_ns
    few = facts._replace(entries=1, row=least)
    assert few.costs() is None and few._replace(row=least * 1.001).costs() is not None


def test_costs_of_blocks():
    """Blocks read their bytes or take their time, segments theirs; made once."""
    scaled = profile_of("half", 66, 2150.0)
    for profile, latency, bandwidth in ((H200, 1, 4300.0), (scaled, 2, 2150.0)):
        for item, segments_item, column in ((0, 0, 4), (4, 4, 4), (8, 8, 4)):
            entries, blocks = 10**8, 4 * 10**6
            ours, theirs, build, fill = choose_kernel.blocks_pay(entries, blocks, item, segments_item, column, profile)
            each = (32e-3 if item else 18e-3) * latency
            read = (blocks * 10.6 + entries * item) / (bandwidth * 0.83)
            assert ours == pytest.approx(2600 * latency + max(blocks * each, read))
            moved = entries * (column + segments_item + 0.125) / bandwidth
            assert theirs == pytest.approx(max(entries * 1.2e-3 * latency, moved))
            assert (build, fill) == pytest.approx((entries * 40e-3 * latency, 25.0))
    assert choose_kernel.blocks_pay(1000, 1000, 4, 4, 4, H200) is None


def test_costs_of_bins_on_the_host():
    def pays(item=4, cells=1000, share=0.5, fits=True):
        return choose_kernel.host_bins_pay(10**8, item, cells, lambda: share, lambda: fits)

    assert pays() == pytest.approx((10**8 * 1.8 + 40_000, 10**8 * (1.2 + 3.25), 0.5))
    assert pays(item=8)[0] == pytest.approx(10**8 * 2.6 + 40_000)
    assert pays(share=0.9) == pytest.approx((10**8 * 1.8 + 40_000, 10**8 * 1.85, 0.9)) and pays(share=0.91) is None
    assert pays(fits=False) is None and pays(cells=7 * 10**6) is None
    # more cells than gathers from memory cost: the share is not asked for
    assert choose_kernel.host_bins_pay(10**8, 4, 15 * 10**6, None, None) is None


def test_costs_of_bins():
    scaled = profile_of("half", 66, 2150.0)
    for profile, latency, bandwidth in ((H200, 1, 4300.0), (scaled, 2, 2150.0)):
        for item, values, hubs in ((4, 0.5, False), (8, 1.0, True), (1, 0.0, False), (16, 1.0, False)):
            factor = 1.04 if hubs else 1.0
            fill = values * (2.5 + item) / (bandwidth * 0.68) * (1 + 5 / 100) * factor
            read = (0.2e-3 + 0.4e-3 * max(item, 4)) * latency * factor
            wanted = (10_000 + 7 * 1200) * latency
            wanted += 10**8 * (fill + max(read, (2 + values * item) / (bandwidth * 0.68)))
            assert choose_kernel.bins_cost(10**8, item, values, 100.0, 7, hubs, profile) == pytest.approx(wanted)
        for hub, cached in ((0.0, 0.5), (0.3, 0.5), (0.6, 0.5)):
            near, far = max(cached - hub, 0) * 4.6e-3, (1 - max(cached, hub)) * 25e-3
            wanted = 10**8 * (2.5e-3 + near + far) * latency
            found = choose_kernel.bins_pay(10**8, hub, cached, wanted * 0.999, profile, True)
            assert found == pytest.approx((wanted * 0.999, wanted, cached))
            assert choose_kernel.bins_pay(10**8, hub, cached, wanted * 1.001, profile, True) is None


@pytest.mark.parametrize("choice, size, last", [
    (lambda x: choose_kernel.has_capacity(x, 10), 1 << 24, True),
    (lambda x: choose_kernel.has_capacity(x, 1 << 20), 1 << 26, True),
    (lambda x: choose_kernel.presence_is_found_later(x, 1), (1 << 16) - 1, False),
    (lambda x: choose_kernel.presence_is_found_later(1 << 17, x), 1 << 20, True),
    (lambda x: choose_kernel.stays_bitmap(x, 0, H200), 8 * 17_000 * 4300, True),
    (lambda x: choose_kernel.stays_bitmap(x, 8, H200), 8_996_923, True),
    (lambda x: choose_kernel.tiles_move_less(x, 1, 64, 2), 19, False),
    (lambda x: choose_kernel._is_cut(x, 511), 1 << 16, True),
    (lambda x: choose_kernel._is_cut(x, 512), 1 << 15, True),
])  # fmt: skip
def test_where_a_choice_turns(choice, size, last):
    """`size` is the last that is chosen as `last` says."""
    assert (choice(size), choice(size + 1)) == (last, not last)


def test_costs_of_directions():
    """Entries read and edges merged, of an H200 and of a GPU of half its processors."""
    A = SimpleNamespace(indices=np.empty(10_000, np.int32), indptr=np.empty(1001, np.int64))
    listed = SimpleNamespace(complement=False, pattern=SimpleNamespace(format="sparse"))
    held = SimpleNamespace(complement=True, pattern=SimpleNamespace(format="bitmap"))
    live = SimpleNamespace(forms={"pull": SimpleNamespace(live_count=400)})
    half = profile_of("half", 66, 2150.0)
    row = min(1000 * 40e-3, 100_000.0)
    for early, sorts, profile, mask, gaps, by_rows, wanted in (
        (False, False, H200, None, False, None, (1000, 0, 1.0, 4.13e-3, 12.4e-3, 271.0, 0.0)),
        (False, False, H200, None, True, live, (400, 0, 1.3, 4.13e-3, 12.4e-3, 271.0, 14_000 + row)),
        (False, False, H200, held, False, live, (400, 2, 1.0, 4.13e-3, 12.4e-3, 271.0, 14_000 + row)),
        (True, False, H200, listed, True, None, (1000, 1, 1.3, 4.13e-3, 33e-3, 8660.0, 0.0)),
        (False, True, H200, listed, False, None, (1000, 1, 1.0, 4.13e-3, 0.12, 450e3, 14_000 + row)),
        (True, False, half, None, False, None, (1000, 0, 1.0, 8.26e-3, 66e-3, 8660.0, 0.0)),
        (False, True, half, None, False, None, (1000, 0, 1.0, 8.26e-3, 0.12, 450e3, 0.0)),
    ):
        costs = costs_of(A, by_rows, mask, early, sorts, profile, gaps)
        found = costs.live, costs.masked, costs.look_up, costs.entry_ns, costs.edge_ns, costs.launch_ns, costs.fixed_ns
        assert found == pytest.approx(wanted)
        assert (costs.entries, costs.stored, costs.early, costs.first_look) == (10_000, 1000, early, 8.0)
    big = SimpleNamespace(indices=np.empty(10, np.int32), indptr=np.empty(3 * 10**6 + 1, np.int64))
    for mask, fixed in ((listed, 100_000.0), (held, 120_000.0)):
        assert costs_of(big, None, mask, False, False, H200, True).fixed_ns == pytest.approx(14_000 + fixed)


def test_rows_and_columns_of_directions():
    plain = DirectionCosts(10_000.0, 1000.0, 400.0, 0, False, 1.3, 8.0, 0.5, 0.25, 30.0, 70.0)
    assert [plain._replace(masked=masked).open_rows(150.0) for masked in (0, 1, 2)] == [400.0, 150.0, 250.0]
    assert plain._replace(masked=1).open_rows(500.0) == 400.0 and plain._replace(masked=2).open_rows(500.0) == 0.0
    assert plain.rows(5.0, 100.0) == pytest.approx((1000 * 1.3 + 1000) * 0.5 + 70)
    early = plain._replace(early=True)
    assert early.rows(2000.0, 100.0) == pytest.approx(((500 + 800) * 1.3 + 1000) * 0.5 + 70)
    assert early.rows(0.5, 100.0) == pytest.approx(((1000 + 800) * 1.3 + 1000) * 0.5 + 70)
    assert plain.columns(60.0, 20.0) == pytest.approx(60 * 0.25 + 20 * 0.5 + 30)


def test_entries_of_lists():
    """A list's edges are counted in a CSR matrix; a list of all rows, a bitmap and a DCSR matrix take the mean."""
    rng = generator("entries of lists")
    A = stores.matrix(rng, 40, 30, 300, dtypes.FP64)
    one = compressed(1, 30, dtypes.FP64, np.zeros(7, np.int64), np.arange(7, dtype=np.int32), np.ones(1), True)
    assert (mean_degree(one), mean_degree(A)) == (7.0, A.nvals / 40)
    u = stores.vector(rng, 40, 9, dtypes.FP64, "sparse")
    degrees = np.diff(A.indptr)
    assert edges_of(A, u) == degrees[u.indices].sum()
    few = to_dcsr(compressed(10**6, 30, dtypes.FP64, np.array([5, 5, 9]), np.array([1, 2, 3], np.int32), np.ones(3)))
    assert mean_degree(few) == 1.5
    long = stores.vector(rng, 10**6, 9, dtypes.FP64, "sparse")
    assert edges_of(few, long) == 3.0  # nine of two rows
    assert edges_of(A, stores.vector(rng, 40, 9, dtypes.FP64, "bitmap")) == pytest.approx(9 * A.nvals / 40)


def test_dense_sums():
    """Column-wise sums over plus, of numbers, of a bitmap of at least half its positions and a matrix not too empty."""

    def dense(count=50, form="bitmap", entries=20, semiring=plus_times["FP64"], rows=None):
        u = SimpleNamespace(format=form, nvals=count, size=100)
        A = SimpleNamespace(rows=rows, indices=np.empty(entries), ncols=20)
        return is_dense_sum(A, u, semiring)

    assert dense() and not dense(count=49) and not dense(form="sparse") and not dense(entries=19)
    assert not dense(rows=np.arange(3)) and not dense(semiring=max_times["FP64"])
    assert dense(semiring=plus_times["INT8"]) and dense(semiring=plus_times["UINT64"])
    assert not dense(semiring=plus_times["FC64"])


def rows_plan(**changes):
    facts = {
        "entries": 10**7, "stored_rows": 10**6, "size": 10**6, "full": False, "streams": False, "stops_early": False,
        "has_terminal": False, "reads_most": lambda: False, "one_match": False, "listed": None, "longest": lambda: 100,
    }  # fmt: skip
    plan = Plan("matvec", "rows", "csr", "forced")
    return choose_kernel.rows_kernel(plan, **{**facts, **changes}), plan.kernel_rule, plan.kernel_figures


@pytest.mark.parametrize("changes, wanted", [
    ({"full": True, "streams": True}, ("segments", "all_entries", (10**7,))),
    ({"streams": True, "stops_early": True, "one_match": True}, ("pull_early_exit", "one_match_enough", ())),
    ({"full": True, "streams": True, "stops_early": True, "one_match": True}, ("binned_rows", "rows_by_length", ())),
    ({"full": True, "one_match": True}, ("pull_early_exit", "one_match_enough", ())),
    ({"stored_rows": 2_500_001, "listed": 312_500}, ("binned_rows", "rows_by_length", ())),  # not all cut
    ({"stored_rows": 2_500_001, "listed": 1 << 16}, ("listed_rows", "mask_lists_rows", (1 << 16, 10**6))),
    ({"stored_rows": 2_500_000, "listed": 1}, ("binned_rows", "rows_by_length", ())),  # 100 us to pass over them
    ({"stored_rows": 2_500_001, "listed": 1}, ("listed_rows", "mask_lists_rows", (1, 10**6))),
    ({"stored_rows": 80, "listed": 9, "size": 1 << 25, "one_match": True}, ("listed_rows", "mask_lists_rows",
                                                                         (9, 1 << 25))),
    ({"stored_rows": 80, "listed": 10, "size": 1 << 25, "one_match": True}, ("pull_early_exit", "one_match_enough",
                                                                          ())),
    ({"stored_rows": 80, "listed": 9, "size": 1 << 24, "one_match": True}, ("pull_early_exit", "one_match_enough", ())),
])  # fmt: skip
def test_kernels_of_rows_and_their_reasons(changes, wanted):
    assert rows_plan(**changes) == wanted


@pytest.mark.parametrize("facts, wanted", [
    ((1024, 1024, 10**6, 1e9, True, True), ("merge_columns", "few_entries", (1024,))),
    ((1025, 1024, 8192, 1e9, True, True), ("merge_columns", "columns_short", (8192,))),
    ((1025, 1024, 8193, 1 << 22, True, True), ("merge_hubs_shared", "many_edges", (1 << 22,))),
    ((1025, 1024, 8193, (1 << 22) - 1, True, True), ("merge_edge_balanced", "columns_long", (8193,))),
    ((1025, 1024, 8193, 1 << 22, True, False), ("merge_edge_balanced", "columns_long", (8193,))),
    ((1025, 1024, 8193, 1 << 22, False, True), ("merge_edge_balanced", "columns_long", (8193,))),
])  # fmt: skip
def test_kernels_of_columns_and_their_reasons(facts, wanted):
    plan = Plan("matvec", "cols", "csr", "forced")
    assert (choose_kernel.merge_kernel(plan, *facts), plan.kernel_rule, plan.kernel_figures) == wanted


def test_directions_of_equal_costs():
    """Columns where both cost the same; the last method within a factor of 1.25, not at it."""
    A = stores.matrix(generator("directions"), 10, 10, 30, dtypes.FP64)
    transpose = transpose_of(A)
    for last, rows, columns, method, rule in (
        (None, 8.0, 8.0, "cols", "columns_cheaper"), (None, 7.0, 8.0, "rows", "rows_cheaper"),
        ("cols", 8.0, 10.0, "rows", "rows_cheaper"), ("cols", 8.0, 9.9, "cols", "same_as_last"),
        ("rows", 10.0, 8.0, "cols", "columns_cheaper"), ("rows", 9.9, 8.0, "rows", "same_as_last"),
        ("rows", 8.0, 9.0, "rows", "rows_cheaper"), ("cols", 9.0, 8.0, "cols", "columns_cheaper"),
    ):  # fmt: skip
        A.forms["last_method"] = last
        plan = cheaper(A, False, transpose, rows, columns, 3, 41.0)
        assert (plan.method, plan.rule, plan.figures, plan.format) == (method, rule, (rows, columns, 3), "csr")
        assert A.forms["last_method"] == method and plan.operation == "matvec"


@pytest.mark.parametrize("transposed", [False, True])
def test_one_orientation_saves_up_for_the_other(transposed):
    A = stores.matrix(generator("directions"), 10, 10, 30, dtypes.FP64)
    here, there = ("cols", "rows") if transposed else ("rows", "cols")
    costs = lambda mine, other: (other, mine) if transposed else (mine, other)  # noqa: E731
    price = 2.0 * A.nvals
    for mine, other, saved in (
        (5.0, 5.0, 0.0), (4.0, 5.0, 0.0), (7.0, 5.0, 2.0), (5.0, 9.0, 2.0), (price + 2.5, 5.0, price - 0.5),
    ):  # fmt: skip
        plan = cheaper(A, transposed, None, *costs(mine, other), 3, 2.0)
        assert (plan.method, plan.rule, plan.figures) == (here, "only_orientation", (mine, other, price, saved))
    plan = cheaper(A, transposed, None, *costs(1.5, 1.0), 3, 2.0)
    assert (plan.method, plan.rule) == (there, "rows_cheaper" if transposed else "columns_cheaper")
    assert plan.figures == (*costs(1.5, 1.0), 3)


@pytest.mark.parametrize("name", ["pair", "times"])
def test_costs_of_masked_products_on_the_cpu(name, monkeypatch):
    """Each form of B, with its transpose and without, of a semiring that reads values and of one that does not."""
    rng = generator("masked products on the CPU")
    A = stores.matrix(rng, 70, 80, 900, dtypes.FP64)
    M = stores.matrix(rng, 70, 90, 1200, dtypes.FP64)
    a, m = np.zeros((70, 80)), np.zeros((70, 90))
    for store, dense in ((A, a), (M, m)):
        dense[np.repeat(np.arange(70), np.diff(store.indptr)), store.indices] = 1
    op = getattr(gb.semiring, f"plus_{name}")["FP64"]
    monkeypatch.setattr(tuning, "CPU_SMALL_MATRICES", M.nvals - 1)
    for bt in (False, True):
        B = stores.matrix(rng, 90, 80, 1000, dtypes.FP64) if bt else stores.matrix(rng, 80, 90, 1000, dtypes.FP64)
        b = np.zeros((B.nrows, B.ncols))
        b[np.repeat(np.arange(B.nrows), np.diff(B.indptr)), B.indices] = 1
        b = b.T if bt else b
        for cached in (False, True):
            if cached:
                transpose_of(B)
            dots = (m * b.sum(axis=0)).sum() * tuning.DOT_ENTRY + A.nvals
            dots *= tuning.DOT_VALUE if name == "times" else 1
            rows = (a @ b)[m.any(axis=1)].sum() * tuning.CHECKED_PRODUCT + M.nvals * tuning.MASK_POSITION
            price = 0 if cached else B.nvals * tuning.MATMUL_TRANSPOSE
            wanted = (dots, rows + price) if bt else (dots + price, rows)
            plan = choose_matmul(A, False, B, bt, StoredMask(M), op)
            assert plan.figures == pytest.approx((*wanted, M.nvals), rel=0.02)
            wins = wanted[0] < wanted[1]
            assert (plan.method, plan.rule) == (("dot", "mask_small") if wins else ("gustavson", "rows_of_product"))
    monkeypatch.setattr(tuning, "CPU_SMALL_MATRICES", M.nvals)
    plan = choose_matmul(A, False, stores.matrix(rng, 90, 80, 1000, dtypes.FP64), True, StoredMask(M), op)
    assert (plan.method, plan.rule, plan.figures) == ("dot", "matrices_small", (M.nvals,))
    assert choose_matmul(A, False, B, True, StoredMask(M), op).method == "gustavson"  # whose transpose is there


def test_texts_of_plans():
    plan = Plan("matvec", "rows", "csr", "rows_cheaper", (3.0, 9.0, 7))
    before = history()
    assert before[-1] is plan and repr(plan).startswith("matvec: rows over csr; rows_cheaper: permitted rows cost")
    plan.use_kernel("segments", "all_entries", (12,))
    plan.note, plan.engine, plan.seconds = "a note", "cpu", 0.0025
    assert repr(plan) == (
        "matvec: rows over csr cpu by segments 2.500 ms; rows_cheaper: permitted rows cost about 3 ns, columns of the "
        "vector's 7 entries 9 ns; all_entries: the vector is full, nothing is masked, all 12 entries are read; a note"
    )
    plan.use_precision("rounded")
    assert repr(plan).endswith("are read; rounded; a note")
    assert plan.as_dict() == {
        "operation": "matvec", "method": "rows", "format": "csr", "rule": "rows_cheaper", "reason": plan.reason,
        "engine": "cpu", "kernel": "segments", "kernel_reason": plan.kernel_reason, "precision": "rounded",
        "note": "a note", "ms": 2.5,
    }  # fmt: skip
    plan.format = "tiled"
    plan.use_plain_rows()
    assert (plan.rule, plan.figures, plan.format) == ("form_unsuited", ("tiled",), "csr")
    other = record_plan("bfs", "by level", "csr", "by_level", (4, 2))
    assert [line.partition(":")[0] for line in str(explain(2)).splitlines()] == ["matvec", "bfs"]
    assert explain().plans == [other] and explain(0).plans == history() and len(explain(0)) == len(history()) > 2
    made = [record_plan("bfs", "by level", "csr", "by_level", (k, 2)) for k in range(70)]
    assert history() == made[-64:]  # the latest are kept
    assert str(report_of([])) == "nothing was planned yet" and list(report_of([plan])) == [plan]
    assert other.as_dict()["ms"] is None and other.as_dict()["kernel_reason"] is None
