"""Faults of paths that quick tests did not run with a second kind of operand, or whose results they did not compare."""

from . import Fault

CPU_LOOPS = ("tests/backends/cpu/test_graph_loops.py",)
ON_DEVICE = ("tests/backends/cuda/test_second_operands.py",)

BOUND = ("tests/backends/cuda/test_bound_elementwise.py",)

BOUND_ROWS = ("tests/backends/cuda/test_bound_rows.py",)

FAULTS = [
    Fault(
        "grb_tile/backends/cuda/products/bound_rows.py",
        "a bound product runs where a kernel is forced",
        "return found if found is not None and forced() is FREE and",
        "return found if found is not None and",
        BOUND_ROWS,
    ),
    Fault(
        "grb_tile/backends/cuda/products/bound_rows.py",
        "a bound product's rows without entries are forgotten",
        "result = BitmapVector(nrows, dtype, words, w, known)",
        "result = BitmapVector(nrows, dtype, None, w, nrows)",
        BOUND_ROWS,
    ),
    Fault(
        "grb_tile/backends/cuda/elementwise/bound.py",
        "a bound pair is kept without the type of its result",
        'key = "pair", op, dtype, x.dtype, y.dtype, x.iso, y.iso',
        'key = "pair", op, x.dtype, y.dtype, x.iso, y.iso',
        BOUND,
    ),
    Fault(
        "grb_tile/backends/cuda/elementwise/bound.py",
        "a bound pair is kept without which of the two is iso",
        'key = "pair", op, dtype, x.dtype, y.dtype, x.iso, y.iso',
        'key = "pair", op, dtype, x.dtype, y.dtype, x.iso or y.iso',
        BOUND,
    ),
    Fault(
        "grb_tile/backends/cuda/elementwise/bound.py",
        "a bound scalar keeps its own type",
        "        if type(value) is not bound_type.np_type.type:\n",
        "        if False:\n",
        BOUND,
    ),
    Fault(
        "kernels/products/edges.cuh",
        "the last word of a warp's is left out",
        "lane_number() < WORDS_OF_WARP && w < end",
        "lane_number() < WORDS_OF_WARP - 1 && w < end",
        ("tests/backends/cuda/test_edges.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/templates/bipartite_matching.py",
        "every other row of an augmenting path keeps its column",
        "mate_col[j] = i\n                        depth -= 1",
        "mate_col[j] = i\n                        depth -= 2",
        CPU_LOOPS,
    ),
    Fault(
        "grb_tile/backends/cpu/templates/core_numbers.py",
        "a vertex changes places with the first of the bin below",
        "first = bins[degree]",
        "first = bins[degree - 1]",
        CPU_LOOPS,
    ),
    Fault(
        "grb_tile/backends/cuda/elementwise/broadcast.py",
        "the kernel of a Kronecker product reads B's columns with the type of A's",
        "(A.indices, B.indices, columns, at_a)",
        "(A.indices, A.indices, columns, at_a)",
        ("tests/backends/cuda/test_elementwise.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/graph/brandes.py",
        "a search of as many levels as vertices writes beyond the sizes of its queues",
        "device.empty(groups * (n + 1), np.uint64)",
        "device.empty(groups * n, np.uint64)",
        ("tests/backends/cuda/test_brandes.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/runtime/late_vector.py",
        "a number of entries that was read is a counter on the device",
        "self.nvals_if_read, counter = counter, None",
        "self.nvals_if_read = counter",
        ON_DEVICE,
    ),
    Fault(
        "grb_tile/backends/cuda/structure/gather.py",
        "a vector whose values another one has is not marked",
        "    u.shared = s.shared = True\n    values = s.values\n",
        "    values = s.values\n",
        ON_DEVICE,
    ),
    Fault(
        "kernels/elementwise/one_pass.cuh",
        "all operands of a pass have one value where the first one has",
        "o.iso >> k & 1",
        "o.iso & 1",
        ("tests/backends/cuda/test_one_pass.py",),
    ),
    Fault(
        "kernels/products/pull.cuh",
        "lanes return the turn of their own hit, not that of the first one",
        "return P(i + 32 * __shfl_sync(ALL_LANES, hit, lane) + lane);\n    }\n  }\n  return end;\n}\n\n// A and x",
        "return P(i + 32 * hit + lane);\n    }\n  }\n  return end;\n}\n\n// A and x",
        ("tests/backends/cuda/test_matvec.py",),
    ),
    Fault(
        "kernels/products/segments_build.cuh",
        "a slice whose columns are 65,536 apart is delta-encoded",
        "high - low < 65536",
        "high - low <= 65536",
        ("tests/backends/cuda/test_segments.py",),
    ),
]
