"""Products on the CPU: push or pull, dot or Gustavson.  Nanoseconds of one core."""

from __future__ import annotations

from .threshold import CPU, CPU_GRAPHS, PUSH_PULL, define

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
CPU_SURE = define(16, "ratio of costs", "no degree distribution met turns a ratio of 16 round, as GPU_SURE", CPU)

# ---------------------------------------------------------------------- dot or Gustavson

CPU_PRODUCT_NS = define(6.0, "ns a product", "Gustavson over CSR, compiled: what SpMM over a dense matrix saves", CPU)
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
