"""Matrix times matrix on a GPU: dot or Gustavson, which kernel.  Nanoseconds of an H200."""

from __future__ import annotations

from .threshold import H200, RECORD, define

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
