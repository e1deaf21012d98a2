"""What NumPy takes for a primitive: the planner compares directions by it, and without a compiled kernel it is lost.

Nanoseconds of one core. Where a kernel is not compiled, the estimate decides only whether the call to come asks for it
or waits for it: what NumPy did take is counted afterwards (backends/cpu/jit/cache.py).
"""

from __future__ import annotations

from .threshold import CPU, NUMPY, define

# ---------------------------------------------------------------------- matrix times vector

NUMPY_CALL_NS = define(60_000.0, "ns a call", "some twenty calls of NumPy", CPU)
NUMPY_ENTRY_NS = define(5.2, "ns an entry", "row-wise in NumPy: 4.9 to 7; no row stops early", CPU)
NUMPY_HIT_NS = define(10.0, "ns an entry that meets x", "bitmap of density 0.5: 10 to 12 an entry", CPU)
NUMPY_SCATTER_NS = define(18.0, "ns an entry", "column-wise in NumPy: any_pair 9, min_plus 22", CPU)
NUMPY_MASK_NS = define(4.0, "ns an entry", "column-wise in NumPy: a mask adds 1 to 5", CPU)
NUMPY_TRANSPOSE_NS = define(62.0, "ns an entry", "sort by column in NumPy: 55 to 66", CPU)
# ---------------------------------------------------------------------- matrix times matrix

NUMPY_PRODUCT_NS = define(40.0, "ns a product", "expanded, sorted, compressed: 25 (kron 10) to 56 (uniform)", NUMPY)
NUMPY_LOOK_UP_NS = define(25.0, "ns a lookup", "dots by binary search: 5 (kron 12) to 30 (uniform)", NUMPY)
NUMPY_KRONECKER_NS = define(14.0, "ns an entry", "64 x 64 and 256 x 256: 14", NUMPY)

# ---------------------------------------------------------------------- structure and element-wise operations

NUMPY_UNION_NS = define(50.0, "ns an entry of both operands", "matrices: 47 to 51, lists of vectors 21", NUMPY)
NUMPY_MEET_NS = define(18.0, "ns an entry of both operands", "matrices: 17 to 19", NUMPY)
NUMPY_BITMAP_NS = define(5.0, "ns a position", "union of bitmaps: 3.5 to 5.4", NUMPY)
NUMPY_PUT_NS = define(20.0, "ns an entry", "a list put into a bitmap: 17, made one: 25, its bits cleared: 10", NUMPY)
NUMPY_ROW_ID_NS = define(0.75, "ns an entry", "numpy.repeat: 0.73", NUMPY)
NUMPY_SELECT_NS = define(7.0, "ns an entry", "by value 4.8, by position 8.3", NUMPY)
NUMPY_GATHER_NS = define(
    30.0, "ns an entry of the rows", "rows or a range of columns 10, columns in any order 140", NUMPY
)
NUMPY_SORT_PAIR_NS = define(180.0, "ns a pair", "of numpy.lexsort's 178 to 246 that the counting sort saves", NUMPY)
NUMPY_SORT_INDEX_NS = define(25.0, "ns an index", "of numpy.argsort's 69 to 104 that the counting sort saves", NUMPY)

# ---------------------------------------------------------------------- loops

NUMPY_BFS_EDGE_NS = define(30.0, "ns an edge", "all levels: 18 (kron 14) to 32 (uniform)", NUMPY)
NUMPY_BFS_LEVEL_NS = define(100_000.0, "ns a level", "its calls of NumPy", CPU)
