"""Compiled kernels on the CPU: when one is asked for, what is left to NumPy, from which work on threads share it."""

from __future__ import annotations

from .threshold import CPU, CPU_GRAPHS, PROGRAMS, define

# ---------------------------------------------------------------------- when a kernel is compiled (backends/cpu/jit)

FELT_SECONDS = define(
    0.01, "s lost by one kernel", "from there on it is asked for, where another core is there to compile it", PROGRAMS
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
RENUMBERED_COLUMNS = define(
    16, "columns of B an entry", "with more they are renumbered: a dense accumulator costs more", CPU
)

# ---------------------------------------------------------------------- when threads share the work

HALF_MILLISECOND = "one thread takes about half a millisecond for it"
PARALLEL_MATVEC = define(300_000, "entries", HALF_MILLISECOND, CPU)
PARALLEL_MATMUL = define(100_000, "products or lookups", HALF_MILLISECOND, CPU)
PARALLEL_ROWS = define(1 << 17, "entries", f"merged, selected or gathered by rows: {HALF_MILLISECOND}", CPU)
PARALLEL_POSITIONS = define(
    1 << 18, "entries or positions", f"of a transpose, of row numbers, of a bitmap: {HALF_MILLISECOND}", CPU
)
PARALLEL_BFS_WORDS = define(1024, "words of 64 vertices", "a pull over fewer runs on one thread", CPU_GRAPHS)
PARALLEL_MULTI_BFS = define(1 << 17, "entries", HALF_MILLISECOND, CPU_GRAPHS)
