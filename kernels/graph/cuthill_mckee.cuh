// Cuthill-McKee order in one launch: breadth-first, the children of a vertex after those of the vertices before it.
//
// Result: order[position[v]] = v; children of one vertex by ascending number.
// Algorithm: Cuthill and McKee, "Reducing the bandwidth of sparse symmetric matrices" (ACM 1969), by levels:
//   Karantasis, Lenharth, Nguyen, Garzaran, Pingali, "Parallelization of reordering algorithms for bandwidth and
//   wavefront reduction" (SC 2014), section III.  A level is a range of positions, and a vertex is the child of its
//   neighbour of least position.  Rows ascend, so the children of a vertex come in their order, and no level is sorted.
// Phases of a level, a grid-wide barrier after each:
//   parents    parent[u] min= p for the neighbours u, without a position yet, of the vertex at p
//   count      the children of each vertex, and of each block's share of the level
//   positions  of the children, by an exclusive sum over the level
// Launch: cooperative (backends/cuda/graph/cuthill_mckee.py).
// Preconditions: rows of a symmetric matrix, columns ascending; n < 2^31 - 128; order[0 .. starts - 1] and their
//   positions are given, position is -1 elsewhere; parent is 2^31 - 1; *control is all zero.
#pragma once
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

struct CuthillMckee {
  const int64_t* start;
  const int32_t* indices;
  int64_t starts;
  int32_t *order, *position, *parent, *children;
  unsigned* totals;                            // of each block
  unsigned* arrivals;
};

template <int = 0>
__global__ void __launch_bounds__(1024, 1) cuthill_mckee(CuthillMckee o) {
  __shared__ unsigned scan[33];
  __shared__ unsigned total;
  const int warp = threadIdx.x >> 5, warps = blockDim.x >> 5, lane = lane_number();
  unsigned goal = 0;
  auto is_open = [&](int u) { return load_l2(o.position + u) < 0; };
  int64_t low = 0, high = o.starts;
  while (low < high) {
    const int64_t share = (high - low + gridDim.x - 1) / gridDim.x;
    const int64_t first = low + share * blockIdx.x < high ? low + share * blockIdx.x : high;
    const int64_t last = first + share < high ? first + share : high;
    for (int64_t p = first + warp; p < last; p += warps) {
      const int v = load_l2(o.order + p);
      for (int64_t e = o.start[v] + lane; e < o.start[v + 1]; e += 32) {
        const int u = o.indices[e];
        if (is_open(u)) atomicMin(o.parent + u, int(p));
      }
    }
    level_barrier(o.arrivals, goal);
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int64_t p = first + warp; p < last; p += warps) {
      const int v = load_l2(o.order + p);
      unsigned mine = 0;
      for (int64_t e = o.start[v] + lane; e < o.start[v + 1]; e += 32) {
        const int u = o.indices[e];
        mine += is_open(u) && load_l2(o.parent + u) == p;
      }
      mine = warp_sum_everywhere(mine);
      if (lane == 0) {
        o.children[p] = int32_t(mine);
        if (mine) atomicAdd(&total, mine);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) o.totals[blockIdx.x] = total;
    level_barrier(o.arrivals, goal);
    unsigned before = 0, all = 0;
    for (int b = threadIdx.x; b < int(gridDim.x); b += blockDim.x) {
      const unsigned there = load_l2(o.totals + b);
      all += there;
      before += b < int(blockIdx.x) ? there : 0;
    }
    unsigned sum, next, found;
    block_exclusive_sum(all, sum, scan);
    block_exclusive_sum(before, next, scan);
    for (int64_t base = first; base < last; base += blockDim.x) {
      const int64_t p = base + threadIdx.x;
      const unsigned at = block_exclusive_sum(p < last ? unsigned(o.children[p]) : 0u, found, scan);
      if (p < last) o.children[p] = int32_t(high + next + at);
      next += found;
    }
    __syncthreads();
    for (int64_t p = first + warp; p < last; p += warps) {
      const int v = load_l2(o.order + p);
      int at = o.children[p];
      const int64_t end = o.start[v + 1];
      for (int64_t e = o.start[v] + lane; __any_sync(ALL_LANES, e < end); e += 32) {
        const int u = e < end ? o.indices[e] : 0;
        const bool child = e < end && is_open(u) && load_l2(o.parent + u) == p;
        const unsigned lanes = __ballot_sync(ALL_LANES, child);
        if (child) {
          o.order[at + rank_in(lanes)] = u;
          o.position[u] = at + rank_in(lanes);
        }
        at += __popc(lanes);
      }
    }
    level_barrier(o.arrivals, goal);
    low = high;
    high += sum;
  }
}

}  // namespace grb
