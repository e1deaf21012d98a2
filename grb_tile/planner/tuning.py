"""Every threshold of the planner: its value, its unit, where it comes from and what it was measured on.

A threshold is a constant of this module and an entry of THRESHOLDS under the same name. Costs are in nanoseconds of an
NVIDIA H200 or of a CPU core; device_profile.py scales those of a GPU to another GPU. Decision functions read the
constants when they are called, so that a test or a measurement may set one.

>>> from grb_tile.planner import tuning
>>> tuning.THRESHOLDS["HIGH_DIAMETER_MEAN"].unit
'entries a row'
"""

from __future__ import annotations

from .thresholds import CPU, CPU_GRAPHS, H200, H200_BFS, PLANS, PUSH_PULL, RECORD, THRESHOLDS, TILES, define

__all__ = ["THRESHOLDS"]

# ---------------------------------------------------------------------- push or pull, both kinds of machine

HYSTERESIS = define(
    "HYSTERESIS", 1.25, "ratio of costs", f"{PUSH_PULL}, section 6.3; the value: BFS levels near the switch", CPU
)

# ---------------------------------------------------------------------- push or pull on the CPU (nanoseconds)

CPU_SMALL_MATRIX = define(
    "CPU_SMALL_MATRIX", 4096, "entries", "below it a call costs more than either direction saves", CPU
)
CPU_ENTRY_NS = define("CPU_ENTRY_NS", 1.5, "ns an entry", "row-wise product, dense x: FP32 1.4, FP64 2.0 to 3.1", CPU)
CPU_LOOK_UP_NS = define(
    "CPU_LOOK_UP_NS", 1.7, "ns an entry", "row-wise product against a bitmap of density 0.001: 1.4 to 1.9", CPU
)
CPU_BRANCH_NS = define(
    "CPU_BRANCH_NS",
    11.0,
    "ns a mispredicted branch",
    "bitmap of density 0.5: 7 ns an entry, half of them mispredicted; a half-full mask adds 5.8 to a scattered edge",
    CPU,
)
CPU_PROBE_NS = define(
    "CPU_PROBE_NS", 0.5, "ns an entry", "any_pair against a bitmap of density 0.001, over its rows", CPU
)
CPU_ROW_NS = define("CPU_ROW_NS", 4.0, "ns a row", "row-wise product, dense x: start, end and result of a row", CPU)
CPU_LOOKED_ROW_NS = define(
    "CPU_LOOKED_ROW_NS",
    14.0,
    "ns a row",
    "the same against a bitmap: its loop ends in a mispredicted branch",
    CPU_GRAPHS,
)
CPU_SCATTER_NS = define(
    "CPU_SCATTER_NS", 3.0, "ns an entry", "column-wise product, a third of the columns: 2.5 to 4", CPU_GRAPHS
)
CPU_SET_BIT_NS = define(
    "CPU_SET_BIT_NS", 2.0, "ns an entry", "column-wise product with iso result, masked or not: 1.3 to 2.3", CPU
)
CPU_SUM_NS = define("CPU_SUM_NS", 2.2, "ns an entry", "column-wise sum over most columns: kron 17, uniform", CPU)
CPU_COLUMN_NS = define(
    "CPU_COLUMN_NS",
    45.0,
    "ns an entry of x",
    "a column starts with cache misses: 20 (gowalla) to 90 (grid)",
    CPU_GRAPHS,
)
CPU_LIST_NS = define("CPU_LIST_NS", 2.0, "ns a position", "a bitmap made a list: unpackbits and nonzero", CPU)
CPU_SPREAD_NS = define("CPU_SPREAD_NS", 0.02, "ns a position", "clearing the bits that a list is spread into", CPU)
CPU_SPREAD_ENTRY_NS = define("CPU_SPREAD_ENTRY_NS", 5.0, "ns an entry of x", "writing a list's entry into it", CPU)
CPU_PAGE_NS = define("CPU_PAGE_NS", 200.0, "ns a page", "first write to a page of 4096 bytes of the values", CPU_GRAPHS)
CPU_TRANSPOSE_NS = define("CPU_TRANSPOSE_NS", 14.0, "ns an entry", "counting sort by column: 8 (iso) to 16", CPU)
NUMPY_CALL_NS = define("NUMPY_CALL_NS", 60_000.0, "ns a call", "some twenty calls of NumPy", CPU)
NUMPY_ENTRY_NS = define("NUMPY_ENTRY_NS", 5.2, "ns an entry", "row-wise in NumPy: 4.9 to 7; no row stops early", CPU)
NUMPY_HIT_NS = define("NUMPY_HIT_NS", 10.0, "ns an entry that meets x", "bitmap of density 0.5: 10 to 12 an entry", CPU)
NUMPY_SCATTER_NS = define("NUMPY_SCATTER_NS", 18.0, "ns an entry", "column-wise in NumPy: any_pair 9, min_plus 22", CPU)
NUMPY_MASK_NS = define("NUMPY_MASK_NS", 4.0, "ns an entry", "column-wise in NumPy: a mask adds 1 to 5", CPU)
NUMPY_TRANSPOSE_NS = define("NUMPY_TRANSPOSE_NS", 62.0, "ns an entry", "sort by column in NumPy: 55 to 66", CPU)
CPU_COUNTED = define(
    "CPU_COUNTED", 2048, "entries of x", "a gather of 2048 degrees takes 5 us; longer lists are sampled", CPU
)
CPU_SAMPLED = define(
    "CPU_SAMPLED", 4096, "entries", "standard deviation at a share of 0.1: 4.7 %, at 0.5: 1.6 %", "by construction"
)
CPU_SAMPLE_NS = define("CPU_SAMPLE_NS", 70_000.0, "ns", "a sample tested against x and a mask", CPU)
CPU_UNASKED_NS = define(
    "CPU_UNASKED_NS",
    15_000.0,
    "ns",
    "asking what is compiled takes 5 us; both methods cost NumPy its calls, 60 us",
    CPU,
)
CPU_SURE = define(
    "CPU_SURE", 16, "ratio of costs", "no degree distribution met turns a ratio of 16 round, as GPU_SURE", CPU
)

# ---------------------------------------------------------------------- push or pull on a GPU (nanoseconds of an H200)

GPU_SMALL_MATRIX = define(
    "GPU_SMALL_MATRIX", 1 << 14, "entries", "below it both directions cost their launch, 4 us", H200
)
GPU_UNCOUNTED = define(
    "GPU_UNCOUNTED",
    1 << 20,
    "entries",
    "a read-back of x's count (11 us) costs more than a product of the matrix",
    H200,
)
GPU_ENTRY_NS = define(
    "GPU_ENTRY_NS",
    4.13e-3,
    "ns an entry",
    f"row-wise product, gathers from L2: kron 21, 700 us ({RECORD})",
    "H200: kron 21",
)
GPU_MERGE_NS = define(
    "GPU_MERGE_NS", 12.4e-3, "ns an edge", f"18 million separate atomics take 223 us ({RECORD})", "H200: kron 21"
)
GPU_CLAIM_NS = define(
    "GPU_CLAIM_NS",
    33.0e-3,
    "ns an edge",
    "visited bit set by atomicOr, contended on hubs; fitted to BFS levels",
    H200_BFS,
)
GPU_LOOK_UP = define(
    "GPU_LOOK_UP", 1.3, "ratio to GPU_ENTRY_NS", "an entry against a bitmap: a second, dependent load", H200
)
GPU_PUSH_NS = define(
    "GPU_PUSH_NS", 271.0, "ns a call", "what a column-wise launch costs more than a row-wise one", H200
)
GPU_CLAIM_PUSH_NS = define(
    "GPU_CLAIM_PUSH_NS", 8660.0, "ns a call", "the same against a pull that stops early; fitted to BFS levels", H200_BFS
)
GPU_COUNT_EDGES_NS = define(
    "GPU_COUNT_EDGES_NS", 34_700.0, "ns", "counting edges takes a launch, a read-back of 11 us and a gather", H200
)
GPU_SURE = define("GPU_SURE", 16, "ratio of costs", "no degree distribution met turns a ratio of 16 round", H200)
GPU_FULLER = define(
    "GPU_FULLER", 32, "ratio to the mean degree", "how much fuller than the mean the columns of a short list were", H200
)
GPU_FIRST_LOOK = define(
    "GPU_FIRST_LOOK", 8.0, "entries a row", "the first look of a row that stops early reads a sector of 32 bytes", H200
)
GPU_BINNED_NS = define(
    "GPU_BINNED_NS",
    14_000.0,
    "ns a call",
    "host time of binned_rows over that of the other kernels: 30 and 16 us",
    PLANS,
)
GPU_BINNED_ROW_NS = define(
    "GPU_BINNED_ROW_NS",
    40e-3,
    "ns a stored row",
    "binned_rows with a mask: 27e-3 (grid) to 100e-3 (uniform, degree 16)",
    PLANS,
)
GPU_SEARCHED_RATIO = define(
    "GPU_SEARCHED_RATIO", 8, "ratio of entries", "a binary search takes 50 ps, a merged entry 12 bytes of traffic", H200
)
GPU_TRANSPOSE_NS = define("GPU_TRANSPOSE_NS", 41.3e-3, "ns an entry", "radix sort of the columns and two gathers", H200)

# ---------------------------------------------------------------------- sparse vectors, values without an atomic

TILED = "H200: bench_tiles.py products, FC64: fem 40 and 70, cnr-2000, road-NE, kron 18"
GPU_SORT_NS = define("GPU_SORT_NS", 450e3, "ns a call", "sorted products of few edges: 372 us (road-NE) to 564", TILED)
GPU_SORT_EDGE_NS = define("GPU_SORT_EDGE_NS", 0.12, "ns an edge", "1409 us with 8.2 million edges, 524 with 0.8", TILED)
GPU_TILE_WIDTH = define(
    "GPU_TILE_WIDTH", 32, "rows of a tile", f"{TILES}, 3.2.1, has 16, 32, 64: fem 70 92 us of 92-130", TILED
)
GPU_TILED_NS = define("GPU_TILED_NS", 10e3, "ns a call", "two launches: where the times of fem 40 and 70 meet", TILED)
GPU_TILE_ROW_NS = define(
    "GPU_TILE_ROW_NS", 0.9, "ns a tile row", "density 0.001: 39.3 us (fem 70), 15.7 (fem 40)", TILED
)
GPU_TILE_STEP_NS = define(
    "GPU_TILE_STEP_NS", 300.0, "ns an entry of the longest row", "a lane multiplies it: 26 us for 81 (fem 40)", TILED
)
GPU_TILE_LIVE_NS = define("GPU_TILE_LIVE_NS", 6e-3, "ns an entry", "of tiles that x meets: 476 us, 80 million", TILED)

# ---------------------------------------------------------------------- the kernel of a row-wise product

LISTED_NS = define(
    "LISTED_NS", 100_000.0, "ns a call", "listed_rows takes 78 us of host time, binned_rows 30 us and its rows", PLANS
)
LISTED_CHUNKS = define(
    "LISTED_CHUNKS",
    1 << 16,
    "chunks",
    "of 512 entries at most: more listed rows are not cut, and a hub takes ms",
    PLANS,
)
LISTED_SHARE = define(
    "LISTED_SHARE", 8, "stored rows over listed rows", "a list of rows pays a gather of row starts", H200
)
PULL_ALL_ROWS = define(
    "PULL_ALL_ROWS", 1 << 24, "rows", "up to it a pull skips unlisted rows sooner than they are gathered", H200
)
EARLY_STEP = define(
    "EARLY_STEP", 128, "entries", "what a row that stops at the terminal value has in flight at once", H200
)
READS_MOST = define(
    "READS_MOST",
    0.5,
    "share of the entries",
    "a product that must read it all the same gains nothing by stopping early",
    H200,
)
BUILD_AFTER = define(
    "BUILD_AFTER", 3, "products", "break-even counter (ski rental): making other columns costs 2 to 10 products", H200
)
ROUNDED_SAVING = define(
    "ROUNDED_SAVING", 2, "times fewer bytes loaded", "rounded SpMM over tiles: CSR's rows of X come from caches", H200
)
DELTA16_SHARE = define(
    "DELTA16_SHARE", 0.5, "share of the segments", "of 256 entries each, whose columns span less than 2^16", H200
)
RELABELLED_ENTRIES = define(
    "RELABELLED_ENTRIES", 1 << 23, "entries", "fewer do not pay for filling shared memory with x", H200
)
RELABELLED_SHARE = define(
    "RELABELLED_SHARE", 0.25, "share of the entries", "in the columns whose x fits in shared memory", H200
)
BLOCK_BYTES = define(
    "BLOCK_BYTES",
    10.6,
    "bytes a block",
    "8 of the map, 2 of the column, 0.4 for each 32 blocks, 0.2 for each block row",
    "by construction",
)
GPU_BLOCK_NS = define(
    "GPU_BLOCK_NS", 32e-3, "ns a block", f"8 x 8 bitmap blocks, FP32 and FP16 values ({RECORD})", "H200: fem 40 and 70"
)
GPU_BLOCK_MAP_NS = define(
    "GPU_BLOCK_MAP_NS", 18e-3, "ns a block", "8 x 8 bitmap blocks whose values are not read", "H200: fem 40 and 70"
)
GPU_BLOCK_BANDWIDTH = define(
    "GPU_BLOCK_BANDWIDTH", 0.83, "share of the bandwidth", "that 8 x 8 bitmap blocks reach, FP64", "H200: fem 70"
)
GPU_BLOCKS_NS = define(
    "GPU_BLOCKS_NS",
    2600.0,
    "ns a product",
    "bitmap blocks beside segments, FP32: the constant terms of straight lines through both matrices",
    "H200: fem 40 and 70",
)
GPU_GATHER_NS = define(
    "GPU_GATHER_NS",
    1.2e-3,
    "ns an entry",
    "segments that read x but no values, of matrices whose columns are near each other",
    "H200: fem 40 and 70",
)
GPU_BLOCK_BUILD_NS = define(
    "GPU_BLOCK_BUILD_NS",
    40e-3,
    "ns an entry",
    "8 x 8 bitmap blocks made from CSR: 33e-3 (FP32), 41e-3 (FP64)",
    "H200: fem 70",
)

ALWAYS_ALLOCATED = define(
    "ALWAYS_ALLOCATED", 1 << 24, "elements", "128 MiB of 8-byte values fit on every supported GPU", "by construction"
)
ALLOCATED_PER_ENTRY = define(
    "ALLOCATED_PER_ENTRY",
    64,
    "elements an entry",
    "as storage/convert.py: CSR up to 64 rows an entry",
    "by construction",
)

# ---------------------------------------------------------------------- the kernel of a column-wise product

SCAN_ALL = define(
    "SCAN_ALL",
    (1024, 4096),
    "entries of x",
    "every block scans all of them: where columns are short, and where some are long",
    H200,
)
LONG_COLUMN = define(
    "LONG_COLUMN", 8192, "entries", "a column that one block merges in the time of the grid's start and end", H200
)
SMALL_LAUNCH = define("SMALL_LAUNCH", 1024, "entries of x", "fewer threads start sooner", H200)
MANY_EDGES = define(
    "MANY_EDGES", 1 << 16, "edges", "reading all sums once more beats the answer of every atomic (floats)", H200
)
EDGES_OF_POSITION = define(
    "EDGES_OF_POSITION", 8, "positions an edge", "up to which a pass over all sums costs less than the atomics", H200
)
HUB_EDGES = define(
    "HUB_EDGES",
    1 << 22,
    "edges",
    "below it atomics on high-degree rows do not queue up in L2",
    "H200: kron 21, density 0.1",
)
LIST_NS = define(
    "LIST_NS",
    17_000.0,
    "ns",
    "a result made a list: read-back 11 us and two launches; a bitmap: its bytes over DRAM",
    H200,
)

# ---------------------------------------------------------------------- BFS and SSSP

HIGH_DIAMETER_MEAN = define(
    "HIGH_DIAMETER_MEAN",
    8.5,
    "entries a row",
    "roads have 2 to 3, grids 4 to 8; random graphs of 10 have few levels",
    H200_BFS,
)
HIGH_DIAMETER_VERTICES = define(
    "HIGH_DIAMETER_VERTICES", 2048, "vertices", "fewer cannot have the levels that pay for a second launch", H200_BFS
)
HIGH_DIAMETER_DEGREE = define(
    "HIGH_DIAMETER_DEGREE", 32, "entries a row", "a row that one warp appends in a step", H200_BFS
)
HIGH_DIAMETER_HEAVY = define(
    "HIGH_DIAMETER_HEAVY",
    1 / 16,
    "share of the entries",
    "in longer rows; the frontier decides at run time above it",
    "not measured",
)
HIGH_DIAMETER_HEAVY_ENTRIES = define(
    "HIGH_DIAMETER_HEAVY_ENTRIES",
    1 << 19,
    "entries",
    "of longer rows: a block counts its edges of a level in 20 bits",
    "by construction",
)
SSSP_HIGH_DIAMETER_DEGREE = define(
    "SSSP_HIGH_DIAMETER_DEGREE",
    64,
    "entries a row",
    "a row that one thread relaxes alone",
    "H200: grid 2000, USA-road-NE",
)
LOW_SKEW = define("LOW_SKEW", 256, "longest row over the mean", "below it no hub is worth looking up first", H200_BFS)
NEAR_NUMBERS = define("NEAR_NUMBERS", 64, "n over a distance of numbers", "nearer than n / 64 counts as near", H200_BFS)
LOCAL_SHARE = define(
    "LOCAL_SHARE",
    0.25,
    "share of the vertices",
    "whose highest-degree neighbour has a near number",
    "H200: cnr-2000, fem 70",
)
TILES_ENTRIES = define(
    "TILES_ENTRIES", 1 << 20, "entries", "fewer do not pay for making tiles", "H200: the ten graphs of the record"
)
TILES_DIAMETER_MEAN = define(
    "TILES_DIAMETER_MEAN", 5.0, "entries a row", "up to it (roads) the high-diameter kernel beats tiles", PLANS
)
TILES_FULL = define(
    "TILES_FULL", 7.0, "entries of a 16 x 16 tile", f"{TILES}, 3.4, leaves it open; BFS", f"H200: {RECORD}"
)

BEAMER = "Beamer's alpha (SC 2012); the value: a sweep of powers of two"
BFS_ALPHA = define("BFS_ALPHA", 16, "unexplored edges an edge of the frontier", BEAMER, H200_BFS)
MULTI_BFS_ALPHA = define(
    "MULTI_BFS_ALPHA", 32, "unexplored edges an edge of the frontier", BEAMER, "H200: kron 20, 64 sources"
)
TILES_PUSH_CSC = define(
    "TILES_PUSH_CSC",
    2,
    "vertices a vertex of the frontier",
    f"{TILES}, section 3.4, has 100; with a queue of the frontier's tiles push_csc wins up to a half",
    "H200: fem 40 and 70",
)
TILES_PULL_CSC = define(
    "TILES_PULL_CSC", 16, "vertices an unvisited vertex", f"{TILES}, section 3.4: few unvisited", "H200: fem 40 and 70"
)
TILES_SPARSE_X = define(
    "TILES_SPARSE_X", 0.01, "share of x's positions", f"{TILES}, 3.4: push_csc below, push_csr above", "the paper"
)
SSSP_PULL_AT = define(
    "SSSP_PULL_AT", 2, "edges of unsettled vertices an edge of the frontier", "a sweep", "H200: kron 20 and 21"
)
SSSP_STEP = define(
    "SSSP_STEP",
    1.0,
    "mean weights over the mean degree",
    "delta-stepping (Meyer and Sanders 2003): first step",
    "H200: kron 20 and 21",
)
SSSP_MOST_STEP = define("SSSP_MOST_STEP", 2.0, "mean weights", "steps double up to it", "H200: kron 20 and 21")
SSSP_HIGH_DIAMETER_STEP = define(
    "SSSP_HIGH_DIAMETER_STEP",
    24.0,
    "mean weights",
    "near and far piles (Davidson et al. 2014), section 4",
    "H200: grid 2000, USA-road-NE",
)

# ---------------------------------------------------------------------- bins of rows by length

ROW_BINS_ALL = define(
    "ROW_BINS_ALL",
    (2, 6, 12, 32, 160, 512),
    "entries a row",
    "longest rows of 1, 2, 4, 8, 16, 32 lanes; chunks of longer ones",
    H200,
)
ROW_BINS_EARLY = define(
    "ROW_BINS_EARLY",
    (48, 96, 192, 384, 768, 2048),
    "entries a row",
    "the same where rows stop early: most need one look",
    H200,
)
ROWS_ALIKE = define("ROWS_ALIKE", 0.8, "share of the rows", "in one bin: all rows go there, in their own order", H200)

# ---------------------------------------------------------------------- matrix times matrix

CHECKED_PRODUCT = define("CHECKED_PRODUCT", 1.5, "ratio to DOT_ENTRY", f"{PUSH_PULL}, section 5.2, for matrices", CPU)
DOT_ENTRY = define("DOT_ENTRY", 1.0, "entry", "an entry of B's column tried against the bits of A's row", CPU)
DOT_VALUE = define(
    "DOT_VALUE",
    1.75,
    "ratio to DOT_ENTRY",
    "a value is read where the bits meet: mispredicted branches; C<A> = A A: 8.0 ns against 6.8 ns a checked product",
    "CPU: kron 14",
)
MASK_POSITION = define(
    "MASK_POSITION", 2.0, "ratio to DOT_ENTRY", "clearing and collecting a position of the mask", CPU
)
MATMUL_TRANSPOSE = define(
    "MATMUL_TRANSPOSE", 8.0, "ratio to DOT_ENTRY", "counting sort of an entry over a dot's entry", CPU
)

SPGEMM = "H200: masks A of fem 40, wave, cnr-2000, soc-Slashdot0902, ego-Twitter, fb-Cornell5; triangles of kron 20"
GPU_DOT_NS = define("GPU_DOT_NS", 5e-3, "ns a lookup", "in a table of A's row: 1.5e-3 (fem 40) to 17e-3", SPGEMM)
GPU_DOT_POSITION_NS = define("GPU_DOT_POSITION_NS", 0.2, "ns a position", "both rows of a position of the mask", SPGEMM)
GPU_TABLE_LOOKUPS = define(
    "GPU_TABLE_LOOKUPS", 64, "lookups a row", "a row of the mask takes a warp: two steps of it pay for a table", SPGEMM
)
GPU_MASKED_PUSH_NS = define(
    "GPU_MASKED_PUSH_NS", 8e-3, "ns a product", "looked up in a table of the mask's row and merged there", SPGEMM
)
WORDS = "H200: triangles of kron 20 and kron 21"
GPU_WORD_NS = define(
    "GPU_WORD_NS", 4e-3, "ns a word", "looked up in a table of A's row of words: 2.9e-3 to 4.3e-3", WORDS
)
GPU_WORD_FORM_NS = define("GPU_WORD_FORM_NS", 25e-3, "ns an entry", "words made of CSR: 21e-3 to 25e-3", WORDS)
GPU_WORD_CALL_NS = define("GPU_WORD_CALL_NS", 1e5, "ns a call", "six launches and two read-backs more", WORDS)
LONG_ROWS = "H200: 8 rows of 10^7 entries in 1 and 2 x 10^7 columns"
GPU_INNER_LINES = define(
    "GPU_INNER_LINES", 64, "rows or columns of C", "each 16 rows or 8 columns more read the other operand again", H200
)
GPU_INNER_SPAN = define(
    "GPU_INNER_SPAN", 16, "inner indices an entry", "emptier windows have fewer loads than zeros", H200
)
GPU_INNER_ENTRY_NS = define("GPU_INNER_ENTRY_NS", 3.2e-3, "ns an entry", "of 12 bytes", LONG_ROWS)
GPU_INNER_STEP_NS = define(
    "GPU_INNER_STEP_NS", 1.1e-3, "ns an entry of C and inner index", "two bits, a product where both are set", LONG_ROWS
)
GPU_SPLIT_PRODUCT_NS = define("GPU_SPLIT_PRODUCT_NS", 18e-3, "ns a product", "two phases, rows split", LONG_ROWS)
PAIRS = "H200: fem 40, fem 70, bands of full tiles"
PAIR = "ns a pair of 8 x 8 tiles"
GPU_ROW_PRODUCT_NS = define(
    "GPU_ROW_PRODUCT_NS", 6e-3, "ns a product", f"two phases, no mask: 6e-3 (fem 40) to 60e-3 ({RECORD})", SPGEMM
)
GPU_TILE_PAIR_NS = define("GPU_TILE_PAIR_NS", 0.025, PAIR, "blocks of C and their maps: 0.36 ms, 15.3 million", PAIRS)
GPU_TILE_MATRIX_NS = define(
    "GPU_TILE_MATRIX_NS", 0.14, PAIR, "and FP64 values by matrix instructions: 0.13 to 0.16", PAIRS
)
GPU_TILE_BITS_NS = define("GPU_TILE_BITS_NS", 0.055, PAIR, "and sums of ones", PAIRS)
GPU_TILE_COLUMNS_NS = define("GPU_TILE_COLUMNS_NS", 0.018, PAIR, "and columns alone", PAIRS)
GPU_TILE_VALUES_NS = define(
    "GPU_TILE_VALUES_NS", 0.21, PAIR, "and values of other semirings, at 76 products a pair: fem 40", PAIRS
)
GPU_TILE_ENTRY_NS = define(
    "GPU_TILE_ENTRY_NS", 0.05, "ns an entry", "tiles made of CSR: 0.043 (fem 70) to 0.066", PAIRS
)
GPU_TILE_PRODUCT_NS = define(
    "GPU_TILE_PRODUCT_NS", 0.3e-3, "ns a product", "the same: 8 inner indices with products, not 5", PAIRS
)
GPU_TILE_BISECTION_NS = define(
    "GPU_TILE_BISECTION_NS", 0.18, PAIR, "in addition, where block rows of A have more than 32 tiles", "H200: band 96"
)
GPU_TILE_CALL_NS = define(
    "GPU_TILE_CALL_NS",
    300_000.0,
    "ns a call",
    "three steps have more launches and read-backs than two phases: host time 0.5 ms against 0.2",
    PAIRS,
)
GPU_STRUCTURE_PRODUCT_NS = define(
    "GPU_STRUCTURE_PRODUCT_NS",
    2e-3,
    "ns a product",
    f"any_pair in two phases: 2e-3 (fem 40) to 32e-3 ({RECORD})",
    SPGEMM,
)
