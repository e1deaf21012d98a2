"""Every constant of kernels/, and the tests that meet it exactly: one entry fewer, as many, one more.

A constant that is added to a kernel fails test_every_constant_is_listed until a test of it is named here.
"""

import re
from pathlib import Path

import pytest

from grb_tile import kernels

HERE = Path(__file__).resolve().parent
ROOT = Path(kernels.__file__).resolve().parent
DECLARED = re.compile(r"constexpr (?:int|unsigned|int64_t|int32_t|size_t|word|uint32_t|uint64_t)\b([^;]*);")
NAME = re.compile(r"(?:^|,)\s*([A-Z][A-Z0-9_]+)\s*=")

# "file::test": constants that hold a number of things: of a queue, a chunk, a table, a row that lanes share.
TESTS = {
    "test_full_products.py::test_rows_of_a_product_with_a_vector": """
        products/rows.cuh CLASSES IN_FLIGHT; products/pull.cuh ALONE; products/columns.cuh MOST_SPAN;
        products/column_merge.cuh EDGES_AHEAD EACH_TIME AHEAD""",
    "test_full_products.py::test_chunks_of_the_vector": "products/columns.cuh CHUNK EACH",
    "test_edges.py::test_edges": "products/edges.cuh WORDS_OF_WARP",
    "test_full_products.py::test_more_chunks_than_lanes": "products/columns.cuh MOST_CHUNKS",
    "test_full_products.py::test_rows_deferred_by_a_pull": "products/pull.cuh DEFERRED",
    "test_full_products.py::test_inner_products_and_reductions": "elementwise/reduce.cuh AHEAD",
    "test_full_products.py::test_rows_of_a_product_of_matrices": """
        products/spgemm.cuh HASH_LEAST HASH_MOST HASH_WORK WARP_WORK RESERVED MOST_RESERVED AHEAD;
        products/spgemm_windows.cuh WIDTH""",
    "test_full_products.py::test_the_queue_of_rows_that_a_block_takes": "products/spgemm_split.cuh QUEUE",
    "test_full_products.py::test_rows_of_b_for_lanes_a_warp_and_a_block": "products/spgemm_split.cuh LONG_ROW",
    "test_full_products.py::test_inner_windows_of_every_size":
        "products/inner_windows.cuh EDGE TILE LOADS MOST_TILES",
    "test_full_products.py::test_rows_at_a_mask": """
        products/masked_rows.cuh RATIO LOOKUPS SAMPLED MOST_STEPS PULL_WARP_WORK;
        products/matmul_dot.cuh MOST_LOOKUPS""",
    "test_binned_columns.py::test_cells_that_are_exactly_full":
        "products/segment_sum.cuh BIN_CHUNK; products/binned_columns.cuh BYTES PARTS EACH",
    "test_binned_columns.py::test_values_of_consecutive_entries": "products/segment_sum.cuh UNITS",
    "test_binned_columns.py::test_slabs_of_many_loads": "products/binned_columns.cuh LOADS",
    "test_full_structure.py::test_tiles_of_keys": "structure/radix_sort.cuh RADIX ITEMS AT_ONCE",
    "test_full_structure.py::test_chunks_of_a_merge": "elementwise/merge.cuh EACH AT_ONCE",
    "test_spmm_slabs.py::test_units_that_fill_their_place": "products/spmm_slabs.cuh GROUPS COLUMNS VALUES",
    "test_full_structure.py::test_dense_products": "products/spmm.cuh BYTES RESIDENT GROUPS",
    "test_full_structure.py::test_sampled_dense_products": "products/sddmm.cuh GROUPS",
    "test_full_structure.py::test_pairs_of_tiles": """
        products/tile_pairs.cuh WINDOW TILES_OF_TASK; products/tile_products.cuh PAIR_THREADS MAPS TILES NEEDED SUMS PAD
        SIZE ROW A_BYTES B_BYTES""",
    "test_full_structure.py::test_labels_of_rows":
        "communities/row_labels.cuh AHEAD_LABELS; communities/row_labels_bin.cuh LABEL_BINS",
    "test_full_forms.py::test_slices_of_segments": "products/segment_rows.cuh LANE_ENTRIES SLICE",
    "test_full_forms.py::test_chunks_of_bitmap_blocks": """
        products/bitblock_build.cuh CHUNK; products/bitblock_rows.cuh QUADS ITEM HALF TOGETHER;
        base/async_copy.cuh SOME; products/bitblock_stage.cuh ITEM HALVES RECORDS XS COLUMNS AHEAD FIXED""",
    "test_full_forms.py::test_chunks_of_tiles": """
        products/bit_tiles.cuh TILES_OF_CHUNK NT; products/tiles.cuh NT EACH;
        products/tile_rows.cuh NT LANES EACH IN_WARP SHIFT""",
    "test_full_forms.py::test_the_remainder_of_tiles": "products/tiles.cuh REST_OF_CHUNK",
    "test_full_traversals.py::test_levels": """
        graph/pull_four.cuh ROW_OF_LANE; graph/bfs_pull.cuh ROW_OF_WARP; graph/frontier.cuh CHUNK CHUNK_STEPS;
        graph/bfs_tiles.cuh GROUP NT GROUPS""",
    "test_full_traversals.py::test_a_level_that_fills_the_queue":
        "graph/bfs_push.cuh BFS_QUEUE; graph/bfs_high_diameter.cuh QUEUE",
    "test_bfs_small_levels.py::test_a_path_behind_a_hub": "graph/bfs_small.cuh SMALL_EDGES ROW_CLAMP CALM_LEVELS",
    "test_bfs_small_levels.py::test_many_vertices_of_one_edge_each": "graph/bfs_small.cuh SMALL_VERTICES",
    "test_sssp_small_rounds.py::test_rounds_of_equal_weights_are_levels": "graph/sssp.cuh CALM_ROUNDS",
    "test_full_traversals.py::test_levels_of_many_sources": """
        graph/bfs_multi.cuh PUSH_ROW_OF_LANE; graph/bfs_multi_prepare.cuh SHORT_ROW SEGMENT_ENTRIES WIDE_ROW;
        graph/bfs_multi_result.cuh ROW_WARPS SCAN_LOADS PER_THREAD""",
    "test_full_traversals.py::test_shortest_paths": """
        graph/sssp_relax.cuh SSSP_QUEUE; graph/sssp_pull.cuh SIDE HEAD ROW_OF_LANE;
        graph/sssp_tree.cuh ROW_OF_LANE; graph/sssp_high_diameter.cuh ENTRIES_AT_ONCE WORDS LOADS;
        graph/sssp_state.cuh WEIGHT_CLASSES""",
    "test_full_traversals.py::test_wide_rows_of_a_queue":
        "graph/topological.cuh TOPOLOGICAL_WIDE TOPOLOGICAL_WIDE_ROWS",
    "test_triangles.py::test_one_edge_a_round_and_long_rows": "graph/truss.cuh LONG_ROW LONG_EDGES",
    "test_full_traversals.py::test_wide_rows_of_cores": "graph/cores.cuh WIDE_ROW WIDE_ROWS",
    "test_full_traversals.py::test_components_and_cores": """
        graph/components.cuh ROW_OF_LANE COMPONENT_SAMPLES; graph/strong_components.cuh LANE_ROW;
        graph/ordered.cuh ENTRIES_OF_WARP WARPS_OF_BLOCK""",
    "test_quotient.py::test_rows_about_what_a_warp_reads_at_once": "communities/quotient.cuh EACH CHUNK",
    "test_row_labels.py::test_sums_of_what_a_warp_has": "communities/row_labels_bin.cuh EACH FEW",
    "test_first_of_rows.py::test_rows_of_all_lengths": "elementwise/first_of_rows.cuh ROWS AT_ONCE",
    "test_prefix_sums.py::test_flagged_entries": "structure/prefix_sums.cuh OF_THREAD MOST_THREADS",
    "test_grid.py::test_grids_are_cut_and_joined": "structure/grid.cuh MOST_TILES",
    "test_prefix_sums.py::test_ranges": "structure/gather.cuh SEARCHES",
    "test_program_lowerings.py::test_parts_of_as_many_blocks_as_a_warp_loads_at_once":
        "elementwise/reduce.cuh TOGETHER; programs/numbers.cuh TOGETHER NEXT",
    "test_program_objects.py::test_as_many_arrays_as_a_launch_loads_and_more": "programs/load.cuh LOADED",
    "test_program_steps.py::test_as_many_numbers_as_a_block_has_room_for": "programs/persistent_names.cuh NUMBERS",
    "test_program_copies.py::test_copies_in_one_launch_and_more": "programs/copy.cuh COPIES",
    "../../distributed/test_searches.py::test_levels": "graph/bfs_ranks.cuh RANK_HUB RANK_HUBS RANK_BITS_OF_LANE",
    "test_spmm_rounded.py::test_rows_of_tiles": "products/spmm_rounded.cuh TILE WORDS AT_ONCE FOUR",
}  # fmt: skip

# Those that bound nothing: what a number means, bits of a word, shares at which a method is chosen.
NO_SIZES = """
    programs/turns.cuh STOP_TURNS; programs/persistent.cuh EVERY OWN_NUMBER;
    graph/bfs_ranks.cuh ARRIVAL_WORDS RANK_PUSH_SHARE RANK_FEW_LEFT RANK_SMALL_FRONTIER;
    base/launch.cuh ALL_LANES POLLS; base/rounded.cuh DROPPED LEAST ABOVE;
    elementwise/merge.cuh ITEM_BITS BEGINS_LATE IN_A IN_B NUMBER; elementwise/one_pass.cuh SUMS;
    products/bit_tiles_build.cuh NONE; products/bitblock_build.cuh NONE; products/column_merge.cuh LEAST_DETECTABLE;
    communities/candidates.cuh NO_LABEL; communities/quotient.cuh NO_PAIR;
    products/spgemm_hash.cuh EMPTY_SLOT; products/tile_maps.cuh COLUMN;
    products/tile_pairs.cuh NO_TILE; products/tiles.cuh NONE; base/look_back.cuh COUNTED SUMMED;
    graph/bfs.cuh SURE OF PUSH_SHARE FEW_LEFT SMALL_FRONTIER; graph/bfs_small.cuh MOST_SMALL_LEVELS;
    graph/bfs_high_diameter.cuh COUNT_MASK LEVEL_EDGE_MASK;
    graph/bfs_multi.cuh LIST_SHARE HUB_SHARE GATHER_SHARE; graph/bfs_multi_parents.cuh LIGHT_SHARE;
    graph/cores.cuh HIGHEST_DEGREE; graph/fixpoint.cuh FEW; graph/frontier.cuh COUNT_SHIFT EDGE_MASK;
    graph/level_loop.cuh RECORD_HEAD; graph/spanning_forest.cuh NO_EDGE; graph/sssp.cuh FEW_ROUNDS MOST_ALONE;
    graph/sssp_high_diameter.cuh OVERFLOW; graph/sssp_state.cuh ROUND_NUMBERS;
    graph/strong_components.cuh HIGHEST_VERTEX NO_VERTEX; graph/block_group.cuh MAX_GROUP_BLOCKS"""


def constants(text):
    """{(file, name)} of "file NAME NAME; file NAME"."""
    return {(words[0], name) for words in map(str.split, text.split(";")) for name in words[1:]}


def declared():
    found = set()
    for path in ROOT.rglob("*.cuh"):
        text = re.sub(r"//[^\n]*", "", path.read_text())
        file = path.relative_to(ROOT).as_posix()
        found |= {(file, name) for body in DECLARED.findall(text) for name in NAME.findall(body)}
    return found


def test_every_constant_is_listed():
    listed = [*map(constants, TESTS.values()), constants(NO_SIZES)]
    assert sum(map(len, listed)) == len(set().union(*listed)), "a constant is listed twice"
    assert declared() == set().union(*listed)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.sampled(1)
def test_the_tests_exist(name):
    file, _, test = name.partition("::")
    assert f"def {test}(" in (HERE / file).read_text()
