// The edges for traversals from many sources: vertices in order of their edges, most first, rows padded to four entries.
//
// Result: row p holds the places of the neighbours of vertex order[p], those of most edges first (by powers of two), and up
// to three of them again at its end, so that rows are read 16 bytes at a time; tasks: pieces of long rows.
// hub_near: the neighbours of row p that are among the first `hubs` vertices once more, in 16 bits, padded to eight.
// Why: words of the strongest vertices share cache lines, neighbouring rows are of one length, searches meet hubs first.
// Who calls: backends/cuda/traversal/bfs_multi_graph.py, once for each matrix.
#pragma once
#include "base/launch.cuh"

namespace grb {

constexpr int SHORT_ROW = 64;              // padded entries that one thread reads alone
constexpr int TASK_EDGES = 512;            // entries of a long row that eight lanes read in turn
constexpr int WIDE_ROW = 1024;             // entries that a block moves together

GRB_DEVICE int class_of(int place) { return 32 - __clz(place); }

// sizes[p] = entries of row p with padding; pieces[p] = how many tasks it makes.
template <class S>
__global__ void padded_sizes(const S* start, const int32_t* order, int64_t live, int64_t* sizes, int32_t* pieces) {
  GRB_EACH(p, live) {
    int64_t v = order[p], size = (start[v + 1] - start[v] + 3) & ~int64_t(3);
    sizes[p] = size;
    pieces[p] = size <= SHORT_ROW ? 0 : int32_t((size + TASK_EDGES - 1) / TASK_EDGES);
  }
}

// Keys piece << 32 | row, in any order.  first[p] = sum of pieces before p.
template <class P> __global__ void piece_keys(const P* first, const int32_t* pieces, int64_t live, word* keys) {
  GRB_EACH(p, live)
    for (int k = 0; k < pieces[p]; k++) keys[first[p] + k] = word(k) << 32 | word(p);
}

// Rows in their new order.  BLOCK: a block for each row that is wide; else a warp for each that is not.
template <class S, class P, bool BLOCK>
__global__ void relabel_rows(const S* start, const int32_t* indices, const int32_t* order, const int32_t* place, int64_t live,
                             const P* to, int32_t* near) {
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
    for (S i = begin + me; i < end; i += width) atomicAdd(&count[class_of(place[indices[i]])], 1);
    wait();
    if (me < 32) {
      int mine = count[me], sum = mine;
      for (int by = 1; by < 32; by <<= 1) {
        int other = __shfl_up_sync(ALL_LANES, sum, by);
        if (me >= by) sum += other;
      }
      count[me] = sum - mine;
    }
    wait();
    for (S i = begin + me; i < end; i += width) {
      int u = place[indices[i]];
      near[to[p] + atomicAdd(&count[class_of(u)], 1)] = u;
    }
    if (me < to[p + 1] - to[p] - (end - begin)) near[to[p] + (end - begin) + me] = place[indices[begin]];
    wait();
  }
}

// Hubs come first in a row.  counts[p] of them, sizes[p] with padding; tasks that the long rows make: of hubs, of the rest.
template <class S, class P>
__global__ void hub_counts(const S* start, const int32_t* order, const P* to, const int32_t* near, int64_t live, int64_t hubs,
                           int32_t* counts, int64_t* sizes, int32_t* pieces, int32_t* rest_pieces) {
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
    pieces[p] = !is_long ? 0 : count ? int32_t((count + TASK_EDGES - 1) / TASK_EDGES) : 1;
    rest_pieces[p] = !is_long ? 0 : rest ? int32_t((rest + TASK_EDGES - 1) / TASK_EDGES) : 1;
  }
}

// A warp a row.  hub_start[p]: where its hubs begin, a multiple of eight, plus how many of the last eight are padding.
template <class P>
__global__ void hub_rows(const P* to, const int32_t* near, const int32_t* counts, const int64_t* at, int64_t live, P* hub_start,
                         uint16_t* hub_near) {
  GRB_EACH_WARP(p, live + 1) {
    const int64_t begin = at[p], count = p < live ? counts[p] : 0, size = (count + 7) & ~int64_t(7);
    if (lane_number() == 0) hub_start[p] = P(begin + size - count);
    for (int64_t k = lane_number(); k < size; k += 32) hub_near[begin + k] = uint16_t(near[to[p] + (k < count ? k : 0)]);
  }
}

}  // namespace grb
