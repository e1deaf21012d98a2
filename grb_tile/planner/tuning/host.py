"""Choices on the CPU: methods of products, compilation of kernels, what is left to NumPy, when threads share work."""

from __future__ import annotations

from .threshold import CPU, CPU_BINS, CPU_GRAPHS, NUMPY, PROGRAMS, PUSH_PULL, define

# ---------------------------------------------------------------------- push or pull, both kinds of machine

HYSTERESIS = define(1.25, "ratio of costs", f"{PUSH_PULL}, section 6.3; the value: BFS levels near the switch", CPU)

# ---------------------------------------------------------------------- push or pull on the CPU (nanoseconds)

CPU_SMALL_MATRIX = define(4096, "entries", "below it a call costs more than either direction saves", CPU)
CPU_ENTRY_NS = define(1.5, "ns an entry", "row-wise product, dense x: FP32 1.4, FP64 2.0 to 3.1", CPU)
CPU_LOOK_UP_NS = define(1.7, "ns an entry", "row-wise product against a bitmap of density 0.001: 1.4 to 1.9", CPU)
CPU_BRANCH_NS = define(
    11.0,
    "ns a mispredicted branch",
    "bitmap of density 0.5: 7 ns an entry, half of them mispredicted; a half-full mask adds 5.8 to a scattered edge",
    CPU,
)
CPU_PROBE_NS = define(0.5, "ns an entry", "any_pair against a bitmap of density 0.001, over its rows", CPU)
CPU_ROW_NS = define(4.0, "ns a row", "row-wise product, dense x: start, end and result of a row", CPU)
CPU_LOOKED_ROW_NS = define(
    14.0, "ns a row", "the same against a bitmap: its loop ends in a mispredicted branch", CPU_GRAPHS
)
CPU_SCATTER_NS = define(3.0, "ns an entry", "column-wise product, a third of the columns: 2.5 to 4", CPU_GRAPHS)
CPU_SET_BIT_NS = define(2.0, "ns an entry", "column-wise product with iso result, masked or not: 1.3 to 2.3", CPU)
CPU_SUM_NS = define(2.2, "ns an entry", "column-wise sum over most columns: kron 17, uniform", CPU)
CPU_COLUMN_NS = define(
    45.0, "ns an entry of x", "a column starts with cache misses: 20 (gowalla) to 90 (grid)", CPU_GRAPHS
)
CPU_LIST_NS = define(2.0, "ns a position", "a bitmap made a list: unpackbits and nonzero", CPU)
CPU_SPREAD_NS = define(0.02, "ns a position", "clearing the bits that a list is spread into", CPU)
CPU_SPREAD_ENTRY_NS = define(5.0, "ns an entry of x", "writing a list's entry into it", CPU)
CPU_PAGE_NS = define(200.0, "ns a page", "first write to a page of 4096 bytes of the values", CPU_GRAPHS)
CPU_TRANSPOSE_NS = define(14.0, "ns an entry", "counting sort by column: 8 (iso) to 16", CPU)
CPU_COUNTED = define(2048, "entries of x", "a gather of 2048 degrees takes 5 us; longer lists are sampled", CPU)
CPU_SAMPLED = define(4096, "entries", "standard deviation at a share of 0.1: 4.7 %, at 0.5: 1.6 %", "by construction")
CPU_SAMPLE_NS = define(70_000.0, "ns", "a sample tested against x and a mask", CPU)
CPU_UNASKED_NS = define(
    15_000.0, "ns", "asking what is compiled takes 5 us; both methods cost NumPy its calls, 60 us", CPU
)
CPU_SURE = define(16, "ratio of costs", "no degree distribution met turns a ratio of 16 round", CPU)

# ---------------------------------------------------------------------- x in bins (backends/cpu/compiled/binned.py)

CPU_BINS_ENTRIES = define(1 << 22, "entries", "fewer take 10 ms: no form's worth", CPU_BINS)
CPU_BINS_ADMITTED = define(
    0.75,
    "share of the rows",
    "a mask that admits fewer saves gathers, but seldom bins",
    CPU_BINS,
)
CPU_BIN_ENTRY_NS = define(1.0, "ns an entry", "over bins, both passes: uniform 2^22, FP32 1.8, FP64 2.6", CPU_BINS)
CPU_BIN_BYTE_NS = define(0.2, "ns a byte of a value of x", "the same", CPU_BINS)
CPU_BIN_CELL_NS = define(40.0, "ns a cell", "of a bin and a slab: two loops that start and end", CPU_BINS)
CPU_NEAR_GATHER_NS = define(1.2, "ns an entry", "row-wise product, x of 4 MB: uniform 2^20", CPU_BINS)
CPU_FAR_GATHER_NS = define(6.5, "ns an entry", "more, where no cache has x: uniform 2^22, 2^23", CPU_BINS)
CPU_CACHED_SHARE = define(
    0.25,
    "share of the last level of cache",
    "that x has beside the matrix and other cores",
    CPU_BINS,
)

# ---------------------------------------------------------------------- dot or Gustavson

CPU_PRODUCT_NS = define(6.0, "ns a product", "Gustavson over CSR, compiled: what SpMM over a dense matrix saves", CPU)
CPU_SMALL_MATRICES = define(
    1024, "entries", "estimating both methods takes 20 us; a row of the mask has at most as many products, 6 us", CPU
)
CHECKED_PRODUCT = define(1.5, "ratio to DOT_ENTRY", f"{PUSH_PULL}, section 5.2, for matrices", CPU)
DOT_ENTRY = define(1.0, "entry", "an entry of B's column tried against the bits of A's row", CPU)
DOT_VALUE = define(
    1.75,
    "ratio to DOT_ENTRY",
    "a value is read where the bits meet: mispredicted branches; C<A> = A A: 8.0 ns against 6.8 ns a checked product",
    "CPU: kron 14",
)
MASK_POSITION = define(2.0, "ratio to DOT_ENTRY", "clearing and collecting a position of the mask", CPU)
MATMUL_TRANSPOSE = define(8.0, "ratio to DOT_ENTRY", "counting sort of an entry over a dot's entry", CPU)

# ---------------------------------------------------------------------- what NumPy takes (nanoseconds of one core)

# The planner compares directions by it. Where a kernel is not compiled, it decides whether the call to come asks for
# it, or waits for it; what NumPy did take is counted afterwards (backends/cpu/jit/cache.py).

NUMPY_CALL_NS = define(60_000.0, "ns a call", "some twenty calls of NumPy", CPU)
NUMPY_ENTRY_NS = define(5.2, "ns an entry", "row-wise in NumPy: 4.3 to 7.1; no row stops early", CPU)
NUMPY_HIT_NS = define(10.0, "ns an entry that meets x", "bitmap of density 0.5: 10 to 12 an entry", CPU)
NUMPY_SCATTER_NS = define(18.0, "ns an entry", "column-wise in NumPy: any_pair 5 to 12, min_plus 14 to 29", CPU)
NUMPY_MASK_NS = define(4.0, "ns an entry", "column-wise in NumPy: a mask adds 1 to 5", CPU)
NUMPY_TRANSPOSE_NS = define(62.0, "ns an entry", "sort by column in NumPy: 35 to 66", CPU)
NUMPY_PRODUCT_NS = define(40.0, "ns a product", "expanded, sorted, compressed: 10 (documents) to 56 (uniform)", NUMPY)
NUMPY_LOOK_UP_NS = define(25.0, "ns a lookup", "dots by binary search: 5 (kron 12) to 30 (uniform)", NUMPY)
NUMPY_KRONECKER_NS = define(14.0, "ns an entry", "64 x 64 and 256 x 256: 14", NUMPY)

NUMPY_UNION_NS = define(50.0, "ns an entry of both operands", "matrices: 47 to 51, lists of vectors 21", NUMPY)
NUMPY_MEET_NS = define(18.0, "ns an entry of both operands", "matrices: 17 to 19", NUMPY)
NUMPY_BITMAP_NS = define(5.0, "ns a position", "union of bitmaps: 3.5 to 5.4", NUMPY)
NUMPY_PUT_NS = define(20.0, "ns an entry", "a list put into a bitmap: 17, made one: 25, its bits cleared: 10", NUMPY)
NUMPY_ROW_ID_NS = define(0.75, "ns an entry", "numpy.repeat: 0.73", NUMPY)
NUMPY_SELECT_NS = define(7.0, "ns an entry", "by value 4.8, by position 8.3", NUMPY)
NUMPY_GATHER_NS = define(
    30.0, "ns an entry of the rows", "rows or a range of columns 10, columns in any order 140", NUMPY
)
NUMPY_SORT_PAIR_NS = define(40.0, "ns a pair", "of NumPy's 100 for a pair built that the sort by rows saves", NUMPY)
NUMPY_SORT_INDEX_NS = define(25.0, "ns an index", "of numpy.argsort's 69 to 104 that the counting sort saves", NUMPY)

NUMPY_BFS_EDGE_NS = define(30.0, "ns an edge", "all levels: 18 (kron 14) to 32 (uniform)", NUMPY)
NUMPY_BFS_LEVEL_NS = define(100_000.0, "ns a level", "its calls of NumPy", CPU)

# ---------------------------------------------------------------------- when a kernel is compiled (backends/cpu/jit)

FELT_SECONDS = define(
    0.01, "s lost by one kernel", "from there on it is asked for, where another core is there to compile it", PROGRAMS
)
SMALL_CALLS_SECONDS = define(
    0.0003, "s lost by one kernel in small calls", "to look for it on disk: its key, and a file of 20 kB", PROGRAMS
)
COMPILE_SECONDS = define(
    0.5, "s of processor time", "a compilation, until the compiler process has measured some", PROGRAMS
)
START_SECONDS = define(1.0, "s of processor time", "start of the compiler process: Python, NumPy, Numba", PROGRAMS)
WAIT_RATIO = define(
    2.0, "compilations", "a call waits so long where NumPy takes longer: both are estimates", "by construction"
)
COMPILED_SAVES = define(
    0.8,
    "share of NumPy's time",
    "a compiled kernel takes a fifth or less",
    "two cores: tests/benchmarks/bench_cells.py",
)
COMPOSED_VERTEX_SECONDS = define(
    1e-6,
    "s a vertex",
    "a loop of GraphBLAS calls in place of a compiled one",
    "two cores: tests/benchmarks/bench_algorithms.py",
)
COMPOSED_ENTRY_SECONDS = define(
    100e-9,
    "s an entry",
    "the same: sort, sum and search of the greatest",
    "two cores: tests/benchmarks/bench_algorithms.py",
)

# ---------------------------------------------------------------------- what is left to NumPy

COMPILED_ENTRIES = define(
    2048,
    "entries",
    "merges, selections, gathers and products of hypersparse matrices of fewer are left to NumPy: 10 to 50 us",
    CPU,
)
COMPILED_KRONECKER_ENTRIES = define(
    64, "entries of the result", "of fewer each call of NumPy takes longer than all", CPU
)
COMPILED_TUPLES = define(1 << 14, "tuples", "fewer are sorted by NumPy: its radix passes stay in the second cache", CPU)
COMPILED_PUT_ENTRIES = define(64, "entries", "NumPy puts fewer into a bitmap in the time of the call", CPU)
SORTED_BOUND = define(1 << 16, "bound of the keys", "below it NumPy's radix sort takes one pass", "by construction")
GATHER_TABLE_COLUMNS = define(16, "columns an entry", "that are listed in the time of one binary search in NumPy", CPU)
NUMBERED_AFTER = define(
    2.0, "products", "of all entries of a hypersparse matrix in NumPy: 1.3 (rows), 4 (columns) take as long", CPU
)
RENUMBERED_COLUMNS = define(
    16, "columns of B an entry", "with more they are renumbered: a dense accumulator costs more", CPU
)

# ---------------------------------------------------------------------- calls whose own time is that of Python

BOUND_SIZE = define(
    1 << 16, "entries, or positions", "a kernel takes 100 us for them: what is decided before it no longer counts", CPU
)
SMALL_FORM_SECONDS = define(5e-6, "s a call of NumPy", "the form of a small vector changed, or masked", CPU)
SMALL_BUILD_SECONDS = define(15e-6, "s of NumPy", "a small matrix built", CPU)
SMALL_RANGE_SECONDS = define(12e-6, "s of NumPy", "a range of a small matrix", CPU)
SMALL_MERGE_SECONDS = define(15e-6, "s of NumPy", "a union or an intersection of small vectors", CPU)
SMALL_PRODUCT_SECONDS = define(20e-6, "s of NumPy", "a small product of matrices, at least", CPU)
SMALL_OVERWRITE_SECONDS = define(40e-6, "s of NumPy", "a small matrix written inside a mask: two merges", CPU)
MERGED_SIZE = define(
    4096, "positions", "merged as a whole in 2 to 8 us; five calls of NumPy for the positions that change take 20", CPU
)

# ---------------------------------------------------------------------- when threads share the work

HALF_MILLISECOND = "one thread takes about half a millisecond for it"
PARALLEL_MATVEC = define(300_000, "entries", HALF_MILLISECOND, CPU)
PARALLEL_MATMUL = define(100_000, "products or lookups", HALF_MILLISECOND, CPU)
PARALLEL_ROWS = define(1 << 17, "entries", f"merged, selected or gathered by rows: {HALF_MILLISECOND}", CPU)
LOOKED_UP = define(
    4, "entries merged", "in the time of one of a mask, looked up in rows of both operands (15 to 25 ns)", CPU
)
PARALLEL_POSITIONS = define(
    1 << 18, "entries or positions", f"of a transpose, of row numbers, of a bitmap: {HALF_MILLISECOND}", CPU
)
PARALLEL_BFS_WORDS = define(1024, "words of 64 vertices", "a pull over fewer runs on one thread", CPU_GRAPHS)
PARALLEL_MULTI_BFS = define(1 << 17, "entries", HALF_MILLISECOND, CPU_GRAPHS)
