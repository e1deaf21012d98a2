"""Faults at exactly full queues and chunks, outside arrays, of gaps, of the order of threads, in the CUDA backend."""

from . import Fault

CUDA = "tests/backends/cuda/"
TESTS = (CUDA + "test_full_products.py",)
PRODUCTS = (CUDA + "test_full_products.py",)
STRUCTURE = (CUDA + "test_full_structure.py",)
FORMS = (CUDA + "test_full_forms.py",)
TRAVERSALS = (CUDA + "test_full_traversals.py",)
ALIGNMENT = (CUDA + "test_alignment.py",)
SPGEMM = (CUDA + "test_spgemm.py",)
BFS = (CUDA + "test_bfs.py",)
DENSE = (CUDA + "test_dense_products.py",)
SEGMENTS = (CUDA + "test_segments.py",)

FAULTS = [
    # ---- exactly full
    Fault(
        "kernels/products/spgemm_split.cuh",
        "the queue has one entry too few",
        "__shared__ int64_t queue[QUEUE];",
        "__shared__ int64_t queue[QUEUE - 1];",
        PRODUCTS,
    ),
    Fault(
        "kernels/products/columns.cuh",
        "a chunk of x has one entry too few",
        "ends[CHUNK<P, BITMAP>], at[CHUNK<P, BITMAP>];",
        "ends[CHUNK<P, BITMAP> - 1], at[CHUNK<P, BITMAP>];",
        PRODUCTS,
    ),
    Fault(
        "kernels/products/columns.cuh",
        "a chunk of a bitmap takes one member too many",
        "bool fits = before + members(rest) <= capacity;",
        "bool fits = before + members(rest) <= capacity + 64;",
        PRODUCTS,
    ),
    Fault(
        "kernels/products/columns.cuh",
        "the totals of 32 blocks are all that is scanned",
        "  for (int base = 0; base < chunks; base += blockDim.x) {\n    int c = base + threadIdx.x;",
        "  for (int base = 0; base < chunks && base < 32; base += 32) {\n    int c = base + threadIdx.x % 32;",
        PRODUCTS,
    ),
    Fault(
        "kernels/products/inner_windows.cuh",
        "the join stops at 32 shares",
        "share < o.shares; share += 32)",
        "share < min(o.shares, int64_t(32)); share += 32)",
        PRODUCTS,
    ),
    Fault(
        "kernels/elementwise/reduce.cuh",
        "the last block combines 32 blocks",
        "b < gridDim.x; b += blockDim.x)",
        "b < min(gridDim.x, 32u); b += blockDim.x)",
        PRODUCTS,
    ),
    Fault(
        "kernels/elementwise/intersect.cuh",
        "the entry behind a row serves for one of the row",
        "there = at < stop && indices[at] == column;",
        "there = at < n && indices[at] == column;",
        PRODUCTS,
    ),
    Fault(
        "kernels/products/masked_rows.cuh",
        "a lookup in a long row takes its neighbour's first entry",
        "q = find(row, int64_t(0), int64_t(length), k);",
        "q = find(row, int64_t(0), int64_t(length) + 1, k);",
        PRODUCTS,
    ),
    Fault(
        "kernels/products/pull.cuh",
        "one row too many is deferred",
        "if (place >= DEFERRED) return false;",
        "if (place > DEFERRED) return false;",
        PRODUCTS,
    ),
    Fault(
        "kernels/graph/cores.cuh",
        "the list of wide rows has one entry too few",
        "__shared__ int wide[WIDE_ROWS];",
        "__shared__ int wide[WIDE_ROWS - 1];",
        TRAVERSALS,
    ),
    Fault(
        "kernels/graph/topological.cuh",
        "one wide row too many is listed",
        "if (lane == 0 && at < TOPOLOGICAL_WIDE_ROWS) wide[at] = v;",
        "if (lane == 0 && at <= TOPOLOGICAL_WIDE_ROWS) wide[at] = v;",
        TRAVERSALS,
    ),
    Fault(
        "kernels/graph/block_queue.cuh",
        "a block's queue takes one vertex too many",
        "bool fits = at < CAPACITY;",
        "bool fits = at <= CAPACITY;",
        TRAVERSALS,
    ),
    Fault(
        "kernels/structure/radix_sort.cuh",
        "the last keys are not counted where they do not fill a step",
        "(n + 32 * AT_ONCE - 1) / (32 * AT_ONCE)) {",
        "n / (32 * AT_ONCE)) {",
        STRUCTURE,
    ),
    Fault(
        "kernels/products/segments.cuh",
        "the last row ends with a full slice and is not written",
        "if (threadIdx.x == 0 && m.entries % SLICE == 0)",
        "if (threadIdx.x == 0 && m.entries % SLICE == 0 && m.entries > SLICE)",
        FORMS,
    ),
    Fault(
        "kernels/products/spmm.cuh",
        "a row of two chunks is not joined",
        "const bool wants = to > from + 1 && column < n",
        "const bool wants = to > from + 2 && column < n",
        STRUCTURE,
    ),
    # ---- outside the array
    Fault(
        "grb_tile/backends/cuda/structure/merging.py",
        "the shared memory of a merge lacks its tail",
        "return (threads * EACH + 2) * max(itemsize, 4)",
        "return threads * EACH * max(itemsize, 4)",
        STRUCTURE,
    ),
    Fault(
        "grb_tile/backends/cuda/products/spgemm_split.py",
        "half a workspace",
        "device.empty(total, np.uint32)",
        "device.empty((total + 1) // 2, np.uint32)",
        PRODUCTS,
    ),
    Fault(
        "grb_tile/backends/cuda/structure/sorting.py",
        "no word for the ticket",
        "states = device.empty(tiles * RADIX + 1, np.uint64)",
        "states = device.empty(tiles * RADIX, np.uint64)",
        STRUCTURE,
    ),
    Fault(
        "grb_tile/backends/cuda/structure/sorting.py",
        "shared memory for the keys, not for longer payloads",
        "shared = threads * ITEMS * max(dtype.itemsize for dtype in types)",
        "shared = threads * ITEMS * types[0].itemsize",
        STRUCTURE,
    ),
    Fault(
        "grb_tile/backends/cuda/communities/row_labels.py",
        "tables of labels without space for the labels of the last warp",
        "launcher.threads(256) // 32 * table * width)",
        "launcher.threads(256) // 32 * table * width - 4 * table)",
        STRUCTURE,
    ),
    Fault(
        "grb_tile/backends/cuda/products/inner_windows.py",
        "one share of the sums is missing",
        "device.empty(panels * shares * tiles * TILE, s.dtype.np_type)",
        "device.empty(panels * (shares - 1) * tiles * TILE, s.dtype.np_type)",
        PRODUCTS,
    ),
    Fault(
        "grb_tile/backends/cuda/elementwise/mapping.py",
        "two words for the result of a block, which writes three",
        "device.partial_results(3 * most)",
        "device.partial_results(2 * most)",
        PRODUCTS,
    ),
    Fault(
        "grb_tile/backends/cuda/products/spmm.py",
        "the alignment of the values is not looked at",
        "return array.copy() if array.data.ptr % LOAD_BYTES else array",
        "return array",
        ALIGNMENT,
    ),
    Fault(
        "grb_tile/backends/cuda/products/spmm_rounded.py",
        "the alignment of the dense operand is not looked at",
        "if x.iso or n % 16 or x.values.data.ptr % 16:",
        "if x.iso or n % 16:",
        ALIGNMENT,
    ),
    Fault(
        "kernels/products/segment_sum.cuh",
        "whole words are loaded from any address",
        "whole_words(reinterpret_cast<uintptr_t>(m.values) % sizeof(uint2) == 0 ? whole : 0) {}",
        "whole_words(whole) {}",
        ALIGNMENT,
    ),
    Fault(
        "kernels/products/tiles.cuh",
        "shared values are aligned as bytes are",
        "alignas(16) __shared__ unsigned char shared_values",
        "__shared__ unsigned char shared_values",
        FORMS,
    ),
    Fault(
        "kernels/products/spgemm_windows.cuh",
        "values are merged in shared memory that they exceed",
        "acc.is_near = FORM == BY_WARP || reinterpret_cast<unsigned char*>(near + total) <=",
        "acc.is_near = FORM == BY_WARP || reinterpret_cast<unsigned char*>(near + total / 2) <=",
        PRODUCTS + SPGEMM,
    ),
    Fault(
        "kernels/structure/radix_sort.cuh",
        "the payload behind the last key is read and written",
        "if (i < m.valid) out[s.at[m.digits[k / 4] >> 8 * (k % 4) & 255] + word(i)] = moved[i];",
        "if (i <= m.valid) out[s.at[m.digits[k / 4] >> 8 * (k % 4) & 255] + word(i)] = moved[i];",
        STRUCTURE,
    ),
    Fault(
        "kernels/base/warp.cuh",
        "the sums of an exclusive scan have no space for the total",
        "    shared[32] = before;\n  }\n  __syncthreads();\n  total = shared[32];",
        "    shared[33] = before;\n  }\n  __syncthreads();\n  total = shared[33];",
        PRODUCTS,
    ),
    # ---- the order of threads
    Fault(
        "kernels/products/spmm.cuh",
        "no barrier before the parts of the next columns",
        "      __syncthreads();  // the row before was written\n",
        "",
        STRUCTURE + DENSE,
    ),
    Fault(
        "kernels/products/spmm.cuh",
        "no barrier behind the parts of the warps",
        "have[warp][lane] = total.have;\n      __syncthreads();\n",
        "have[warp][lane] = total.have;\n",
        STRUCTURE + DENSE,
    ),
    Fault(
        "kernels/products/columns.cuh",
        "no barrier behind the scan of a chunk",
        "      ends[t + u] = before;\n    }\n  }\n  __syncthreads();\n  return sum;",
        "      ends[t + u] = before;\n    }\n  }\n  return sum;",
        PRODUCTS,
    ),
    Fault(
        "kernels/structure/radix_sort.cuh",
        "no barrier between the ranks of the warps and their sums",
        "    __syncthreads();\n    publish(s, o.states);\n",
        "    publish(s, o.states);\n",
        STRUCTURE,
    ),
    Fault(
        "kernels/elementwise/merge.cuh",
        "no barrier behind the sources of a chunk",
        "    __syncthreads();\n    const int count = int(kept_of(total, o.mode));",
        "    const int count = int(kept_of(total, o.mode));",
        STRUCTURE,
    ),
    Fault(
        "kernels/products/spgemm_split.cuh",
        "no barrier behind the queue",
        "  __syncthreads();\n  for (int at = 0; at < min(queued, QUEUE)",
        "  for (int at = 0; at < min(queued, QUEUE)",
        PRODUCTS,
    ),
    Fault(
        "kernels/graph/topological.cuh",
        "no barrier behind the list of wide rows",
        "    __syncthreads();\n    for (int w = 0; w < wides",
        "    for (int w = 0; w < wides",
        TRAVERSALS,
    ),
    Fault(
        "kernels/graph/cores.cuh",
        "no barrier behind the list of wide rows",
        "      __syncthreads();\n      const int together",
        "      const int together",
        TRAVERSALS,
    ),
    Fault(
        "kernels/graph/bfs.cuh",
        "no barrier between the source's bit and the result of no level",
        "    if (a.max_level < 1) loop.barrier();       // no level, and so no barrier, comes before write_presence\n",
        "",
        BFS + TRAVERSALS,
    ),
    Fault(
        "kernels/communities/row_labels.cuh",
        "no barrier behind the empty table of a block's labels",
        "        table.clear(threadIdx.x, blockDim.x);\n        __syncthreads();\n",
        "        table.clear(threadIdx.x, blockDim.x);\n",
        STRUCTURE,
    ),
    # ---- x with gaps, copies in parts
    Fault(
        "kernels/products/segments_build.cuh",
        "x with gaps: a value that means absent is not reported",
        "if (here && is_absent(value)) found[1] = 1;",
        "",
        SEGMENTS,
    ),
    Fault(
        "kernels/products/segment_sum.cuh",
        "x with gaps: an empty row inside a lane keeps its bit",
        "if (!have && (number > 0 || started)) out.clear(m.name(opened + number));",
        "if (!have && number == 0 && started) out.clear(m.name(opened + number));",
        SEGMENTS,
    ),
    Fault(
        "kernels/products/segment_gaps.cuh",
        "x with gaps: a row that the mask leaves out is counted as lost",
        "missing += before >> (row & 31) & 1;",
        "missing++;",
        SEGMENTS,
    ),
    Fault(
        "grb_tile/backends/cuda/runtime/host_copies.py",
        "the last bytes are copied by no thread",
        "cuts = [*(size * k // count // LINE * LINE for k in range(count)), size]",
        "cuts = [size * k // count // LINE * LINE for k in range(count + 1)]",
        (CUDA + "test_host_copies.py",),
    ),
    Fault(
        "grb_tile/storage/place.py",
        "an export of what the host has is a view of it",
        "return np.array(values) if np.may_share_memory(values, held) else values",
        "return values",
        (CUDA + "test_large_arrays.py",),
    ),
]
