"""Element-wise operations, structure, assignment and dense operands: which of two methods, on the CPU and on a GPU."""

from __future__ import annotations

from .threshold import CPU, H200, define

# ---------------------------------------------------------------------- masks that are read first

UNION_MASK = define(
    4, "entries of both operands over the mask's", "from there on the operands are restricted, not the union", CPU
)
BROADCAST_MASK = define(
    4, "entries over the mask's", "an entry looked up through the mask takes four made in order", CPU
)
NUMPY_MASK_ROWS = define(2, "rows with entries over those of the mask", "fewer allowed rows are gathered", CPU)
DENSE_MASK_ROWS = define(4, "rows over those of the mask", "from there on only those of a dense matrix are read", CPU)
GPU_RESTRICT_LOOK_UP = define(8, "entries over the mask's", "with more the mask's are looked up in the operand", H200)
GPU_MASK_ROWS = define(
    8, "rows of the mask over those of A", "from there on the others are dropped first: a pass over their entries", H200
)

# ---------------------------------------------------------------------- NumPy's searches

NUMPY_FLAGGED = define(1 << 14, "entries", "that are flagged (5 ns each) in the time of three primitives (90 us)", CPU)
NUMPY_SEARCHES = define(512, "binary searches", "60 ns each: no more than the presence bits of a vector (30 us)", CPU)
NUMPY_TABLE_LOOK_UPS = define(
    1 << 12, "lookups of a block of a table", "on average; fewer do not pay for the block's calls of NumPy (60 us)", CPU
)

# ---------------------------------------------------------------------- assignment, and sums of products (operations)

SHORT_INDEX = define(16, "indices", "that Python looks at sooner than NumPy", CPU)
LISTED_INDEX = define(512, "indices", "a Python set tells their repeats (40 ns each) before NumPy sorts them", CPU)
INDEX_TABLE = define(64, "positions an index", "initialised and read (1 ns each) in the time of sorting the index", CPU)
OVERWRITTEN_SHARE = define(8, "positions of a bitmap an entry of T", "from there on T is written in place", CPU)
FOLDED_CHAINS = define(4, "chains of accumulated scalars", "fewer are folded each alone: 4 us a step", CPU)
POWER_FACTORS = define(
    32,
    "factors of a power",
    "2 log2(32) = 10 products of matrices by squaring cost more than 32 with a vector",
    "by construction",
)

# ---------------------------------------------------------------------- few items on a GPU

GPU_SORTED_KEYS = define(
    1 << 16, "keys", "up to which CuPy's sort takes less than the launches of 5 passes (30 us)", H200
)
GPU_BUILT_ON_HOST = define(
    1024, "entries", "up to which sorted host arrays are built on the host and copied once", H200
)
GPU_INDEX = define(
    1 << 11, "positions of an index", "checked and sorted by NumPy in the time of the device's launches (40 us)", H200
)

KERNEL_COST = define(
    2,
    "tenths of a second",
    "a compilation by NVRTC that is not recorded: the median of those that are",
    "tests/benchmarks/gpu/record_kernels.py",
)

# ---------------------------------------------------------------------- dense operands

DENSE_DOTS = define(4096, "rows", "fewer warps, one a dot product, leave most of a GPU idle (132 x 64 warps)", H200)
DENSE_MASK = define(8, "positions of C a position of the mask", "from there on a masked sparse product is made", CPU)
DENSE_EMPTY_ROWS = define(4, "rows of A an entry", "with more most rows of C are empty: C is not made dense", CPU)
