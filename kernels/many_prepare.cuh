// The edges for traversals from many sources: vertices in order of their edges, most first, rows padded to four entries.
//
// Result: row p holds the places of the neighbours of vertex order[p], those of most edges first (by powers of two), and up
// to three of them again at its end, so that rows are read 16 bytes at a time; tasks: pieces of long rows.
// Why: words of the strongest vertices share cache lines, neighbouring rows are of one length, searches meet hubs first.
// Who calls: backends/cuda/many_graph.py, once for each matrix.
#pragma once
#include "launch.cuh"

namespace grb {

constexpr int SHORT_ROW = 64;              // padded entries that one thread reads alone
constexpr int TASK_EDGES = 512;            // entries of a long row that eight lanes read in turn
constexpr int WIDE_ROW = 1024;             // entries that a block moves together

GRB_DEVICE int class_of(int place) { return 32 - __clz(place); }

// sizes[p] = entries of row p with padding; pieces[p] = how many tasks it makes.
template <class S> __global__ void padded_sizes(const S* start, const int32_t* order, int64_t live, int64_t* sizes, int32_t* pieces) {
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

}  // namespace grb
