"""Products on a GPU: which method, which kernel, which column indices.  Nanoseconds of an H200."""

from __future__ import annotations

from .threshold import H200, H200_BFS, PLANS, RECORD, TILES, define

# ---------------------------------------------------------------------- push or pull on a GPU (nanoseconds of an H200)

GPU_SMALL_MATRIX = define(1 << 14, "entries", "below it both directions cost their launch, 4 us", H200)
GPU_UNCOUNTED = define(
    1 << 20, "entries", "a read-back of x's count (11 us) costs more than a product of the matrix", H200
)
GPU_ENTRY_NS = define(
    4.13e-3, "ns an entry", f"row-wise product, gathers from L2: kron 21, 700 us ({RECORD})", "H200: kron 21"
)
GPU_MERGE_NS = define(12.4e-3, "ns an edge", f"18 million separate atomics take 223 us ({RECORD})", "H200: kron 21")
GPU_CLAIM_NS = define(
    33.0e-3, "ns an edge", "visited bit set by atomicOr, contended on hubs; fitted to BFS levels", H200_BFS
)
GPU_LOOK_UP = define(1.3, "ratio to GPU_ENTRY_NS", "an entry against a bitmap: a second, dependent load", H200)
GPU_PUSH_NS = define(271.0, "ns a call", "what a column-wise launch costs more than a row-wise one", H200)
GPU_CLAIM_PUSH_NS = define(
    8660.0, "ns a call", "the same against a pull that stops early; fitted to BFS levels", H200_BFS
)
GPU_COUNT_EDGES_NS = define(34_700.0, "ns", "counting edges takes a launch, a read-back of 11 us and a gather", H200)
GPU_FIRST_LOOK = define(
    8.0, "entries a row", "the first look of a row that stops early reads a sector of 32 bytes", H200
)
GPU_BINNED_NS = define(
    14_000.0, "ns a call", "host time of binned_rows over that of the other kernels: 30 and 16 us", PLANS
)
GPU_BINNED_ROW_NS = define(
    40e-3, "ns a stored row", "binned_rows with a mask: 27e-3 (grid) to 100e-3 (uniform, degree 16)", PLANS
)
GPU_SEARCHED_RATIO = define(
    8, "ratio of entries", "a binary search takes 50 ps, a merged entry 12 bytes of traffic", H200
)
GPU_MERGED_DCSR = define(
    1 << 21, "entries", "merging the rows first takes 60 us, a search 45 ps an entry more than a merge", H200
)
GPU_TRANSPOSE_NS = define(41.3e-3, "ns an entry", "radix sort of the columns and two gathers", H200)

# ---------------------------------------------------------------------- sparse vectors, values without an atomic

TILED = "H200: bench_tiles.py products, FC64: fem 40 and 70, cnr-2000, road-NE, kron 18"
GPU_SORT_NS = define(450e3, "ns a call", "sorted products of few edges: 372 us (road-NE) to 564", TILED)
GPU_SORT_EDGE_NS = define(0.12, "ns an edge", "1409 us with 8.2 million edges, 524 with 0.8", TILED)
GPU_TILE_WIDTH = define(32, "rows of a tile", f"{TILES}, 3.2.1, has 16, 32, 64: fem 70 92 us of 92-130", TILED)
GPU_TILED_NS = define(10e3, "ns a call", "two launches: where the times of fem 40 and 70 meet", TILED)
GPU_TILE_ROW_NS = define(0.9, "ns a tile row", "density 0.001: 39.3 us (fem 70), 15.7 (fem 40)", TILED)
GPU_TILE_STEP_NS = define(300.0, "ns an entry of the longest row", "a lane multiplies it: 26 us for 81 (fem 40)", TILED)
GPU_TILE_LIVE_NS = define(6e-3, "ns an entry", "of tiles that x meets: 476 us, 80 million", TILED)

# ---------------------------------------------------------------------- the kernel of a row-wise product

LISTED_NS = define(
    100_000.0, "ns a call", "listed_rows takes 78 us of host time, binned_rows 30 us and its rows", PLANS
)
LISTED_CHUNKS = define(
    1 << 16, "chunks", "of 512 entries at most: more listed rows are not cut, and a hub takes ms", PLANS
)
LISTED_SHARE = define(8, "stored rows over listed rows", "a list of rows pays a gather of row starts", H200)
PULL_ALL_ROWS = define(1 << 24, "rows", "up to it a pull skips unlisted rows sooner than they are gathered", H200)
EARLY_STEP = define(128, "entries", "what a row that stops at the terminal value has in flight at once", H200)
READS_MOST = define(
    0.5, "share of the entries", "a product that must read it all the same gains nothing by stopping early", H200
)
STREAMED_MASK = define(
    0.4, "share of the rows", "a mask that admits more selects among all results: rows read one by one take twice", H200
)
BUILD_AFTER = define(
    3, "products", "break-even counter (ski rental): making other columns costs 2 to 10 products", H200
)
ROUNDED_SAVING = define(
    2, "times fewer bytes loaded", "rounded SpMM over tiles: CSR's rows of X come from caches", H200
)
DELTA16_SHARE = define(0.5, "share of the segments", "of 256 entries each, whose columns span less than 2^16", H200)
RELABELLED_ENTRIES = define(1 << 23, "entries", "fewer do not pay for filling shared memory with x", H200)
RELABELLED_SHARE = define(0.25, "share of the entries", "in the columns whose x fits in shared memory", H200)
GPU_SEGMENT_NS = define(2.5e-3, "ns an entry", "SpMV by segments without the gather of x", H200)
GPU_CACHED_GATHER_NS = define(4.6e-3, "ns an entry", "gather of x from the L2 cache: uniform 2^22", H200)
GPU_FAR_GATHER_NS = define(25e-3, "ns an entry", "gather of x from DRAM, another page each time: uniform 2^25", H200)
GPU_CACHED_SHARE = define(0.6, "share of the L2 cache", "that x has while the matrix streams through it", H200)
GPU_BINS_FIXED_NS = define(
    10_000.0, "ns a product", "bins: a second launch, and x into the shared memory of all blocks", H200
)
GPU_BINS_BANDWIDTH = define(0.68, "share of the bandwidth", "SpMV over bins, both passes: uniform 2^22, 2^25", H200)
GPU_RUN_BYTES = define(28.0, "bytes", "that a run of a bin's values costs beside its own: rmat 2^23 to 2^26", H200)
GPU_JOINED_RUN_BYTES = define(5.0, "bytes", "the same of short runs, where blocks keep together: rmat 2^26", H200)
GPU_SHORT_RUN = define(
    500.0, "bytes", "shorter runs go to DRAM line by line, unless blocks keep together: 73 to 414 bytes", H200
)
GPU_BIN_STEP_NS = define(
    1_200.0, "ns a bin", "that a block reads: barriers, the first loads; uniform 2^25, kron 21", H200
)
GPU_BIN_ENTRY_NS = define(0.2e-3, "ns an entry", "SpMV over bins, at least: kron 21 and rmat 23 with hubs", H200)
GPU_BIN_BYTE_NS = define(0.4e-3, "ns a byte of a value of x", "the same", H200)
GPU_HUBS = define(1.04, "factor", "bins with hubs, whose memory the L1 cache lacks: uniform 2^22", H200)
GPU_SLAB_SHARE = define(0.3, "share of the L2 cache", "that a slab of X's rows has in SpMM: 16 MB", H200)
GPU_SLAB_NS = define(
    5_000.0, "ns a slab and sweep", "SpMM by slabs of columns: blocks and warps wait; 8 to 24 slabs", "H200: uniform 22"
)
GPU_SLAB_ENTRY_NS = define(
    4e-3, "ns an entry", "SpMM by slabs, beside the gather of a row of X: 2 and 4 columns", "H200: uniform 22"
)
GPU_SPMM_ROW_NS = define(
    0.23, "ns a row", "SpMM by rows beside gathers: 2 columns of uniform 22 and kron 21", "H200: uniform 22, kron 21"
)
GPU_SLAB_ROW_NS = define(
    18e-3, "ns a row of X and sweep", "its first gather in a slab, from DRAM: 8 and 16 columns", "H200: uniform 22"
)
GPU_SLABS_HAVE = define(
    0.8,
    "share of the entries",
    "in rows that slabs take; rmat 21 and kron 21, whose hubs have more, gain nothing",
    H200,
)
BLOCK_BYTES = define(
    10.6,
    "bytes a block",
    "8 of the map, 2 of the column, 0.4 for each 32 blocks, 0.2 for each block row",
    "by construction",
)
GPU_BLOCK_NS = define(
    32e-3, "ns a block", f"8 x 8 bitmap blocks, FP32 and FP16 values ({RECORD})", "H200: fem 40 and 70"
)
GPU_BLOCK_MAP_NS = define(18e-3, "ns a block", "8 x 8 bitmap blocks whose values are not read", "H200: fem 40 and 70")
GPU_BLOCK_BANDWIDTH = define(0.83, "share of the bandwidth", "that 8 x 8 bitmap blocks reach, FP64", "H200: fem 70")
GPU_BLOCKS_NS = define(
    2600.0,
    "ns a product",
    "bitmap blocks beside segments, FP32: the constant terms of straight lines through both matrices",
    "H200: fem 40 and 70",
)
GPU_GATHER_NS = define(
    1.2e-3,
    "ns an entry",
    "segments that read x but no values, of matrices whose columns are near each other",
    "H200: fem 40 and 70",
)
GPU_BLOCK_BUILD_NS = define(
    40e-3, "ns an entry", "8 x 8 bitmap blocks made from CSR: 33e-3 (FP32), 41e-3 (FP64)", "H200: fem 70"
)

ALWAYS_ALLOCATED = define(1 << 24, "elements", "128 MiB of 8-byte values fit on every supported GPU", "by construction")
ALLOCATED_PER_ENTRY = define(
    64, "elements an entry", "as storage/convert.py: CSR up to 64 rows an entry", "by construction"
)

# ---------------------------------------------------------------------- the kernel of a column-wise product

SCAN_ALL = define(
    (1024, 4096),
    "entries of x",
    "every block scans all of them: where columns are short, and where some are long",
    H200,
)
LONG_COLUMN = define(8192, "entries", "a column that one block merges in the time of the grid's start and end", H200)
SMALL_LAUNCH = define(1024, "entries of x", "fewer threads start sooner", H200)
MANY_EDGES = define(1 << 16, "edges", "reading all sums once more beats the answer of every atomic (floats)", H200)
EDGES_OF_POSITION = define(8, "positions an edge", "up to which a pass over all sums costs less than the atomics", H200)
HUB_EDGES = define(
    1 << 22, "edges", "below it atomics on high-degree rows do not queue up in L2", "H200: kron 21, density 0.1"
)
LIST_NS = define(
    17_000.0, "ns", "a result made a list: read-back 11 us and two launches; a bitmap: its bytes over DRAM", H200
)

# ---------------------------------------------------------------------- bins of rows by length

ROW_BINS_ALL = define(
    (2, 6, 12, 32, 160, 512), "entries a row", "longest rows of 1, 2, 4, 8, 16, 32 lanes; chunks of longer ones", H200
)
ROW_BINS_EARLY = define(
    (48, 96, 192, 384, 768, 2048), "entries a row", "the same where rows stop early: most need one look", H200
)
ROW_BINS_STEP = define(
    (8, 16, 32, 64, 256, 1024), "entries a row", "the same as a step of one kernel, which has fewer threads", H200
)
ROWS_ALIKE = define(0.8, "share of the rows", "in one bin: all rows go there, in their own order", H200)

# ---------------------------------------------------------------------- matrix times matrix

SPGEMM = "H200: masks A of fem 40, wave, cnr-2000, soc-Slashdot0902, ego-Twitter, fb-Cornell5; triangles of kron 20"
GPU_DOT_NS = define(5e-3, "ns a lookup", "in a table of A's row: 1.5e-3 (fem 40) to 17e-3", SPGEMM)
GPU_DOT_POSITION_NS = define(0.2, "ns a position", "both rows of a position of the mask", SPGEMM)
GPU_TABLE_LOOKUPS = define(
    64, "lookups a row", "a row of the mask takes a warp: two steps of it pay for a table", SPGEMM
)
GPU_MASKED_PUSH_NS = define(8e-3, "ns a product", "looked up in a table of the mask's row and merged there", SPGEMM)
WORDS = "H200: triangles of kron 20 and kron 21"
GPU_WORD_NS = define(4e-3, "ns a word", "looked up in a table of A's row of words: 2.9e-3 to 4.3e-3", WORDS)
GPU_WORD_FORM_NS = define(25e-3, "ns an entry", "words made of CSR: 21e-3 to 25e-3", WORDS)
GPU_WORD_CALL_NS = define(1e5, "ns a call", "six launches and two read-backs more", WORDS)
LONG_ROWS = "H200: 8 rows of 10^7 entries in 1 and 2 x 10^7 columns"
GPU_INNER_LINES = define(
    64, "rows or columns of C", "each 16 rows or 8 columns more read the other operand again", H200
)
GPU_INNER_SPAN = define(16, "inner indices an entry", "emptier windows have fewer loads than zeros", H200)
GPU_INNER_ENTRY_NS = define(3.2e-3, "ns an entry", "of 12 bytes", LONG_ROWS)
GPU_INNER_STEP_NS = define(
    1.1e-3, "ns an entry of C and inner index", "two bits, a product where both are set", LONG_ROWS
)
GPU_SPLIT_PRODUCT_NS = define(18e-3, "ns a product", "two phases, rows split", LONG_ROWS)
GPU_SPLIT_PRODUCTS = define(
    1 << 21, "products of a row", "more are several blocks' work: one takes milliseconds", LONG_ROWS
)
GPU_COMBINED_BY_THREAD = define(
    16, "mean products an entry of C", "up to it one thread combines them, else a warp", H200
)
PAIRS = "H200: fem 40, fem 70, bands of full tiles"
PAIR = "ns a pair of 8 x 8 tiles"
GPU_ROW_PRODUCT_NS = define(6e-3, "ns a product", f"two phases, no mask: 6e-3 (fem 40) to 60e-3 ({RECORD})", SPGEMM)
GPU_TILE_PAIR_NS = define(0.025, PAIR, "blocks of C and their maps: 0.36 ms, 15.3 million", PAIRS)
GPU_TILE_MATRIX_NS = define(0.14, PAIR, "and FP64 values by matrix instructions: 0.13 to 0.16", PAIRS)
GPU_TILE_BITS_NS = define(0.055, PAIR, "and sums of ones", PAIRS)
GPU_TILE_COLUMNS_NS = define(0.018, PAIR, "and columns alone", PAIRS)
GPU_TILE_VALUES_NS = define(0.21, PAIR, "and values of other semirings, at 76 products a pair: fem 40", PAIRS)
GPU_TILE_ENTRY_NS = define(0.05, "ns an entry", "tiles made of CSR: 0.043 (fem 70) to 0.066", PAIRS)
GPU_TILE_PRODUCT_NS = define(0.3e-3, "ns a product", "the same: 8 inner indices with products, not 5", PAIRS)
GPU_TILE_BISECTION_NS = define(
    0.18, PAIR, "in addition, where block rows of A have more than 32 tiles", "H200: band 96"
)
GPU_TILE_CALL_NS = define(
    300_000.0,
    "ns a call",
    "three steps have more launches and read-backs than two phases: host time 0.5 ms against 0.2",
    PAIRS,
)
GPU_STRUCTURE_PRODUCT_NS = define(
    2e-3, "ns a product", f"any_pair in two phases: 2e-3 (fem 40) to 32e-3 ({RECORD})", SPGEMM
)
GPU_NODE_NS = define(2500, "ns", "a node beside its step: label propagation, PageRank, BFS", "H200: grid 64^3, rmat 16")
GPU_BARRIER_NS = define(1500, "ns", "a barrier of the grid and the part of the blocks that come last", H200)
GPU_STEP_PRODUCT_NS = define(10000, "ns", "a product of more bytes is faster by segments, in a kernel of its own", H200)
GPU_BOUNDED_LOOKUPS = define(
    1 << 24, "look-ups",
    "a captured product of matrices that change has at most: rmat 16 (3.3e8) takes 6 ms a turn, 2 from Python", H200,
)  # fmt: skip
