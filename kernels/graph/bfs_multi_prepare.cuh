// The edges in the form that multi-source BFS reads: vertices in order of their degree, rows padded to four entries.
//
// Result: row p holds the positions of the neighbours of vertex order[p], those of highest degree first (by powers of
//   two), and up to three of them again at its end, so that rows are read 16 bytes at a time.  tasks: segments of long
//   rows.
//   hub_near: the neighbours of row p among the first `hubs` vertices once more, in 16 bits, padded to eight.
// Algorithm: relabelling by degree; the entries of each row by a counting sort over classes of degree.
// Why: the words of hubs share cache lines, neighbouring rows have similar lengths, and a pull meets hubs first.
// Phases, one kernel each: padded_sizes, segment_tasks, relabel_rows (counting sort by class_of), hub_counts, hub_rows.
// Who calls: backends/cuda/graph/bfs_multi_graph.py, once for each matrix.  Launch: a thread for each row; hub_rows and
//   short rows of relabel_rows a warp, long rows of relabel_rows a block.
#pragma once
#include "base/warp.cuh"

namespace grb {

constexpr int SHORT_ROW = 64;              // padded entries that one thread reads alone
constexpr int SEGMENT_ENTRIES = 512;       // of a long row, read by one group of lanes
constexpr int WIDE_ROW = 1024;             // entries that a block relabels together

GRB_DEVICE int class_of(int position) { return 32 - __clz(position); }
GRB_DEVICE int32_t segments_of(int64_t size) { return int32_t((size + SEGMENT_ENTRIES - 1) / SEGMENT_ENTRIES); }

// sizes[p] = entries of row p with padding; segments[p] = the tasks it makes.
template <class S>
__global__ void padded_sizes(const S* start, const int32_t* order, int64_t live, int64_t* sizes, int32_t* segments) {
  GRB_EACH(p, live) {
    int64_t v = order[p], size = (start[v + 1] - start[v] + 3) & ~int64_t(3);
    sizes[p] = size;
    segments[p] = size <= SHORT_ROW ? 0 : segments_of(size);
  }
}

// tasks = segment << 32 | row; first[p] = the sum of `segments` before p.
template <class P> __global__ void segment_tasks(const P* first, const int32_t* segments, int64_t live, word* tasks) {
  GRB_EACH(p, live)
    for (int k = 0; k < segments[p]; k++) tasks[first[p] + k] = word(k) << 32 | word(p);
}

// Rows in their new order.  BLOCK: a block for each row of more than WIDE_ROW entries; else a warp for each other row.
template <class S, class P, bool BLOCK>
__global__ void relabel_rows(const S* start, const int32_t* indices, const int32_t* order, const int32_t* position,
                             int64_t live, const P* to, int32_t* near) {
  __shared__ int counts[32 * 32];
  const int warp = threadIdx.x >> 5, width = BLOCK ? blockDim.x : 32, me = BLOCK ? threadIdx.x : lane_number();
  int* count = counts + (BLOCK ? 0 : warp * 32);
  auto wait = [] { if (BLOCK) __syncthreads(); else __syncwarp(); };
  const int64_t step = BLOCK ? gridDim.x : warp_count();
  for (int64_t p = BLOCK ? blockIdx.x : warp_number(); p < live; p += step) {
    const int64_t v = order[p];
    const S begin = start[v], end = start[v + 1];
    if ((end - begin > WIDE_ROW) != BLOCK) continue;
    if (me < 32) count[me] = 0;
    wait();
    for (S i = begin + me; i < end; i += width) atomicAdd(&count[class_of(position[indices[i]])], 1);
    wait();
    if (me < 32) {
      int mine = count[me];
      count[me] = warp_inclusive_sum(mine) - mine;
    }
    wait();
    for (S i = begin + me; i < end; i += width) {
      int u = position[indices[i]];
      near[to[p] + atomicAdd(&count[class_of(u)], 1)] = u;
    }
    if (me < to[p + 1] - to[p] - (end - begin)) near[to[p] + (end - begin) + me] = position[indices[begin]];
    wait();
  }
}

// Hubs come first in a row: counts[p] of them, sizes[p] with padding.  segments, rest_segments: the tasks of a long
// row's hubs and of its rest.
template <class S, class P>
__global__ void hub_counts(const S* start, const int32_t* order, const P* to, const int32_t* near, int64_t live,
                           int64_t hubs, int32_t* counts, int64_t* sizes, int32_t* segments, int32_t* rest_segments) {
  GRB_EACH(p, live) {
    P begin = to[p], low = begin, high = begin + P(start[order[p] + 1] - start[order[p]]);
    while (low < high) {
      P middle = low + (high - low) / 2;
      if (near[middle] < hubs) low = middle + 1;
      else high = middle;
    }
    const int64_t count = low - begin, size = to[p + 1] - begin, rest = size - (count & ~int64_t(3));
    const bool is_long = size > SHORT_ROW;
    counts[p] = int32_t(count);
    sizes[p] = (count + 7) & ~int64_t(7);
    segments[p] = !is_long ? 0 : count ? segments_of(count) : 1;
    rest_segments[p] = !is_long ? 0 : rest ? segments_of(rest) : 1;
  }
}

// A warp for each row.  hub_start[p]: where its hubs begin (a multiple of eight), plus how many of the last eight are
// padding.
template <class P>
__global__ void hub_rows(const P* to, const int32_t* near, const int32_t* counts, const int64_t* at, int64_t live,
                         P* hub_start, uint16_t* hub_near) {
  GRB_EACH_WARP(p, live + 1) {
    const int64_t begin = at[p], count = p < live ? counts[p] : 0, size = (count + 7) & ~int64_t(7);
    if (lane_number() == 0) hub_start[p] = P(begin + size - count);
    for (int64_t k = lane_number(); k < size; k += 32)
      hub_near[begin + k] = uint16_t(near[to[p] + (k < count ? k : 0)]);
  }
}

}  // namespace grb
