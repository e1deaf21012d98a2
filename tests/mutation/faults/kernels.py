"""Faults of the CUDA kernels; tests/backends/cuda runs their source by the CPU emulation."""

from . import Fault

CUDA = "tests/backends/cuda/"
TESTS = (CUDA + "test_matvec.py",)
MATVEC = (CUDA + "test_matvec.py",)
ELEMENTWISE = (CUDA + "test_elementwise.py", CUDA + "test_mapping.py")
STRUCTURE = (CUDA + "test_structure.py", CUDA + "test_constructors.py")
BFS = (CUDA + "test_bfs.py",)
SSSP = (CUDA + "test_sssp.py",)
SEGMENTS = (CUDA + "test_segments.py",)
TILES = (CUDA + "test_tiles.py", CUDA + "test_bfs_tiles.py")
BITBLOCKS = (CUDA + "test_bitblocks.py",)
TILE_PAIRS = (CUDA + "test_tile_pairs.py",)
INNER_WINDOWS = (CUDA + "test_inner_windows.py",)
EMULATION = (CUDA + "test_emulation.py",)
SCALARS = (CUDA + "test_scalar_functions.py",)

FAULTS = [
    Fault(
        "kernels/products/inner_windows.cuh",
        "a row of B that is cut by the panel's edge is taken as another's",
        "if (line < 0 || line >= lines) continue;",
        "if (line < 0) continue;",
        INNER_WINDOWS,
    ),
    Fault(
        "kernels/products/inner_windows.cuh",
        "bits of the window before are left",
        "at += blockDim.x) a_bits[at] = 0;",
        "at += blockDim.x) a_bits[at] = w == 0 ? 0 : a_bits[at];",
        INNER_WINDOWS,
    ),
    # ---- base
    Fault(
        "kernels/base/warp.cuh",
        "block_exclusive_sum without its last barrier",
        "  T result = sum - count + shared[w];\n  __syncthreads();\n",
        "  T result = sum - count + shared[w];\n",
        EMULATION,
    ),
    Fault(
        "kernels/base/warp.cuh",
        "warp_reduce combines the lanes beyond the warp",
        "    T other = shuffle_down(value, by);\n    if (lane_number() + by < 32) value = op(value, other);",
        "    T other = shuffle_down(value, by);\n    value = op(value, other);",
        survives="lane 0 alone is read, and none of what it combines comes from beyond the warp",
    ),
    Fault(
        "kernels/base/warp.cuh",
        "warp_scan combines in the wrong order",
        "if (lane_number() >= by) value = op(other, value);",
        "if (lane_number() >= by) value = op(value, other);",
        survives="every scan of the library is a sum, which commutes",
    ),
    Fault(
        "kernels/base/warp.cuh",
        "block_append forgets the threads before this one",
        "return shared[32] + shared[w] + sum - count;",
        "return shared[32] + shared[w];",
        BFS,
    ),
    Fault(
        "kernels/base/warp.cuh",
        "warp_append gives neighbours the same index",
        "return base + C(__popc(takers & ((1u << lane_number()) - 1)));",
        "return base + C(__popc(takers & ((1u << (lane_number() / 2)) - 1)));",
        SSSP + EMULATION,
    ),
    Fault(
        "kernels/base/scalar.cuh",
        "a cast of NaN to an integer is the least integer",
        "    if (!(x == x)) return To(0);\n",
        "    if (!(x == x)) return lowest_int<To>();\n",
        STRUCTURE + ELEMENTWISE,
    ),
    Fault(
        "kernels/base/scalar.cuh",
        "integer mod takes C's sign",
        "    return r != T(0) && is_signed<T> && (r < T(0)) != (y < T(0)) ? T(r + y) : r;\n",
        "    return r;\n",
        SCALARS,
    ),
    Fault(
        "kernels/base/scalar.cuh",
        "division by zero of a negative number is the greatest integer",
        "is_signed<T> && x < T(0) ? lowest_int<T>() : highest_int<T>();",
        "highest_int<T>();",
        SCALARS,
    ),
    Fault(
        "kernels/base/scalar.cuh",
        "fmin keeps a NaN on the right",
        "template <class T> GRB_FN T fmin(T x, T y) { return x <= y || y != y ? x : y; }",
        "template <class T> GRB_FN T fmin(T x, T y) { return x <= y ? x : y; }",
        SCALARS,
    ),
    Fault(
        "kernels/base/scalar.cuh",
        "bshift by the width shifts as C does",
        "  if (k >= bits_of<T>) return T(0);\n",
        "  if (k > bits_of<T>) return T(0);\n",
        SCALARS,
    ),
    Fault(
        "kernels/base/views.cuh",
        "lower bound skips equal elements",
        "if (list[middle] < key) low = middle + 1; else high = middle;",
        "if (list[middle] <= key) low = middle + 1; else high = middle;",
        STRUCTURE,
    ),
    Fault(
        "kernels/base/bits.cuh",
        "put says that a member is new",
        "return !(atomicOr(&words[i >> 6], bit) & bit);",
        "return atomicOr(&words[i >> 6], bit) == 0;",
        (CUDA + "test_overwrite.py",),
    ),
    # ---- elementwise
    Fault(
        "kernels/base/warp.cuh",
        "two blocks take themselves for the last",
        "is_last = atomicAdd(finished, word(1)) == gridDim.x - 1;",
        "is_last = atomicAdd(finished, word(1)) >= gridDim.x - 2;",
        ELEMENTWISE,
    ),
    Fault(
        "kernels/elementwise/reduce.cuh",
        "a block without values counts as zero",
        "      if (parts[3 * b + 2]) {",
        "      if (true) {",
        ELEMENTWISE,
    ),
    Fault(
        "kernels/elementwise/reduce.cuh",
        "absent positions are added",
        "there[b] = k < n && has_or_all(words, k);",
        "there[b] = k < n;",
        ELEMENTWISE,
    ),
    Fault(
        "kernels/elementwise/restrict.cuh",
        "bits past the end of a full operand",
        "word all = size - w * 64 >= 64 ? ~word(0) : word_below(int(size - w * 64));",
        "word all = ~word(0);",
        ELEMENTWISE,
    ),
    Fault(
        "kernels/elementwise/overwrite.cuh",
        "the complement of the mask is forgotten",
        "(complement ? ~allowed[half] : allowed[half]) & inside",
        "allowed[half] & inside",
        (CUDA + "test_overwrite.py",),
    ),
    Fault(
        "kernels/elementwise/overwrite.cuh",
        "bits past the end of a full vector",
        "const unsigned inside = left >= 32 ? ~0u : left > 0 ? (1u << left) - 1 : 0;",
        "const unsigned inside = left > 0 ? ~0u : 0;",
        (CUDA + "test_overwrite.py",),
    ),
    Fault(
        "kernels/elementwise/overwrite.cuh",
        "common entries are counted twice",
        "    changed += put(words, i);",
        "    put(words, i);\n    changed += 1;",
        (CUDA + "test_overwrite.py",),
    ),
    Fault(
        "kernels/elementwise/intersect.cuh",
        "an absent DCSR row is taken for the next one",
        "    stop = known ? indptr[r + 1] : start;",
        "    stop = r < stored ? indptr[r + 1] : start;",
        ELEMENTWISE,
    ),
    Fault(
        "kernels/elementwise/union.cuh",
        "lone entries of b one place too far",
        "int64_t position = int64_t(lower[l]) + ends[l] - 1;",
        "int64_t position = int64_t(lower[l]) + ends[l];",
        ELEMENTWISE,
    ),
    Fault(
        "kernels/elementwise/union_values.cuh",
        "union: defaults of the two sides exchanged",
        "if (right_default != nullptr) value = op(x[iso_x ? 0 : a], *right_default);",
        "if (right_default != nullptr) value = op(*right_default, x[iso_x ? 0 : a]);",
        ELEMENTWISE,
    ),
    Fault(
        "kernels/elementwise/kronecker.cuh",
        "the mask's row is divided by B's columns",
        "row_range(indptr_a, rows_a, stored_a, i / nrows_b, start, stop);",
        "row_range(indptr_a, rows_a, stored_a, i / ncols_b, start, stop);",
        (*ELEMENTWISE, "tests/operations/test_broadcasting.py"),
    ),
    Fault(
        "kernels/elementwise/select.cuh",
        "the mask of a select is forgotten",
        "has_or_all(words, k) && !(join && !flags[k]);",
        "has_or_all(words, k);",
        ELEMENTWISE,
    ),
    # ---- structure
    Fault(
        "kernels/structure/gather.cuh",
        "bitmap gather: the upper half of the last word is not written",
        "GRB_EACH(k, (n + 63) & ~int64_t(63)) {\n    int64_t i = k < n ? wanted[k] : 0;",
        "GRB_EACH(k, (n + 31) & ~int64_t(31)) {\n    int64_t i = k < n ? wanted[k] : 0;",
        STRUCTURE,
    ),
    Fault(
        "kernels/structure/build.cuh",
        "a duplicate at the last position is overlooked",
        "  GRB_EACH(i, n - 1) {\n    int64_t k = i + 1;",
        "  GRB_EACH(i, n - 2) {\n    int64_t k = i + 1;",
        STRUCTURE,
    ),
    Fault(
        "kernels/structure/build.cuh",
        "duplicates are folded from the right",
        "folded = cast<T>(op(cast<X>(folded), cast<Y>(values[iso ? 0 : k])));",
        "folded = cast<T>(op(cast<X>(values[iso ? 0 : k]), cast<Y>(folded)));",
        STRUCTURE,
    ),
    Fault(
        "kernels/structure/transpose.cuh",
        "the last row pointer is missing",
        "GRB_EACH(i, count + 1) indptr[i]",
        "GRB_EACH(i, count) indptr[i]",
        STRUCTURE,
    ),
    Fault(
        "kernels/structure/convert.cuh",
        "values of a bitmap are taken in list order",
        "if (values != nullptr) values[at] = dense[i];",
        "if (values != nullptr) values[at] = dense[at];",
        STRUCTURE,
    ),
    # ---- products
    Fault(
        "kernels/products/rows.cuh",
        "presence bit by a plain |=",
        "      atomicOr(&w_words[row >> 6], bit_of(row));\n      found++;",
        "      w_words[row >> 6] |= bit_of(row);\n      found++;",
        MATVEC,
    ),
    Fault(
        "kernels/products/rows.cuh",
        "rows of more than 32 chunks are not combined",
        "for (int64_t p = from + lane_number(); p < from + number; p += 32) {",
        "for (int64_t p = from + lane_number(); p < from + number; p += number) {",
        MATVEC,
    ),
    Fault(
        "kernels/products/rows.cuh",
        "a long row ignores the mask",
        "        if (has(mask, row) == complement) continue;\n",
        "",
        MATVEC,
    ),
    Fault(
        "kernels/products/rows.cuh",
        "counters of arrived chunks are left for the next call",
        "        if (last) arrived[place] = 0;\n",
        "",
        MATVEC,
    ),
    Fault(
        "kernels/products/rows.cuh",
        "early exit: the lanes of another row end this one",
        "if (__ballot_sync(ALL_LANES, total.finished()) & group) k = stop;",
        "if (__ballot_sync(ALL_LANES, total.finished())) k = stop;",
        MATVEC,
    ),
    Fault(
        "kernels/products/columns.cuh",
        "merge_columns without the barrier before ends and at are reused",
        "  from + share < sum ? P(from + share) : sum);\n    __syncthreads();\n  }",
        "  from + share < sum ? P(from + share) : sum);\n  }",
        MATVEC,
    ),
    Fault(
        "kernels/products/columns.cuh",
        "the edges of a warp are cut off at 32 columns",
        "for (int t = chunk.entry_of_edge(from); from < stop; t += 32) {",
        "for (int t = chunk.entry_of_edge(from); from < stop; t += 33) {",
        MATVEC,
    ),
    Fault(
        "kernels/products/column_merge.cuh",
        "the mask's complement is forgotten",
        "in[u] = in[u] && has(mask, row[u]) != complement;",
        "in[u] = in[u] && has(mask, row[u]);",
        MATVEC,
    ),
    Fault(
        "kernels/products/column_merge.cuh",
        "the accumulator of the next product is not cleared",
        "  GRB_EACH(i, (size + 63) >> 6) words[i] = 0;\n",
        "",
        MATVEC,
    ),
    Fault(
        "kernels/products/column_merge.cuh",
        "the last values of the next accumulator keep what they were",
        "    GRB_EACH(i, size % EACH_TIME) w[size - 1 - i] = S::start();\n",
        "",
        MATVEC,
    ),
    Fault(
        "kernels/products/pull.cuh",
        "a row whose capacity to defer is exhausted is dropped",
        "if (at == stop && stop < end && !deferred.add(row)) {",
        "if (at == stop && stop < end && !deferred.add(row) && false) {",
        MATVEC,
    ),
    Fault(
        "kernels/products/pull.cuh",
        "rows of the length of the block's limit are searched by nobody",
        "    if (end - i <= huge) continue;           // the same for the whole block",
        "    if (end - i <= huge + 1) continue;       // the same for the whole block",
        MATVEC,
    ),
    Fault(
        "kernels/products/segment_rows.cuh",
        "a row that crosses the slices of a warp is not written",
        "if (ends.begins && lane_number() != first) w[names == nullptr ? opened : names[opened]] = closed.value;",
        "if (ends.begins && lane_number() > first + 1) w[names == nullptr ? opened : names[opened]] = closed.value;",
        SEGMENTS,
    ),
    Fault(
        "kernels/products/segment_rows.cuh",
        "product bits: the pair false, false is forgotten",
        " | (S::times(false, false, 0, 0, 0) ? ~a & ~x : 0);",
        ";",
        SEGMENTS,
    ),
    Fault(
        "kernels/products/bit_tiles.cuh",
        "bit tiles by columns: the mask is forgotten",
        "      united &= wanted;\n      if (united) found",
        "      if (united) found",
        TILES,
    ),
    Fault(
        "kernels/products/tile_products.cuh",
        "pairs of tiles: -0 among absent positions",
        "if (sum < 0 || sum > 0) return sum;",
        "if (!(sum == 0) || true) return sum;",
        TILE_PAIRS,
    ),
    Fault(
        "kernels/products/tile_products.cuh",
        "pairs of tiles: a task forgets the entries of earlier tasks",
        "      to += before;\n",
        "",
        TILE_PAIRS,
    ),
    Fault(
        "kernels/products/bit_tiles.cuh",
        "Pull-CSC reads the word of an empty row",
        "tile.rows >> r & 1 ? tile.met(r) : W(0)",
        "tile.rows ? tile.met(r) : W(0)",
        TILES,
    ),
    Fault(
        "kernels/products/bitblock_rows.cuh",
        "a block row that crosses shares is added up by the first that arrives",
        "crossing.arrived + first, 1u)) == last - first;",
        "crossing.arrived + first, 1u)) == 0;",
        BITBLOCKS,
    ),
    Fault(
        "kernels/products/bitblock_rows.cuh",
        "blocks before the begin of a block row are added to it",
        "group >= from && group < upto ? d.wanted : 0",
        "group < upto ? d.wanted : 0",
        BITBLOCKS,
    ),
    Fault(
        "kernels/products/bitblock_build.cuh",
        "the remainder takes the first block of a block row",
        "if (total >= least || is_first || is_cut) {",
        "if (total >= least || is_cut) {",
        BITBLOCKS,
    ),
]
