// Topological generations in one launch: Kahn's algorithm, all vertices without waiting in-edges at a time.
//
// Result: level[v] = the most edges on a path that ends at v; -1 for vertices on a cycle or reachable from one.
// Algorithm: Kahn, "Topological sorting of large networks" (Comm. ACM 5, 1962), by levels.
// Phases, a grid-wide barrier after each:
//   count    waits[v] = in-degree, by an atomic for each entry; vertices of in-degree 0 enter the queue
//   release  the rows of the level's range of the queue, by warps: the atomic that brings waits[u] to 0 appends u.
//            Rows of more than TOPOLOGICAL_WIDE entries are listed in shared memory; all warps of the block share each
// Launch: cooperative (backends/cuda/graph/topological.py).
// Preconditions: a square matrix, n < 2^31 - 128; *control is all zero.
#pragma once
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

constexpr int TOPOLOGICAL_WIDE = 256;          // entries of a row that a warp takes alone: two turns of `release`
constexpr int TOPOLOGICAL_WIDE_ROWS = 64;

struct TopologicalSlot { unsigned found; };    // vertices that enter the queue
struct TopologicalControl {
  using Slot = TopologicalSlot;
  unsigned arrivals, departures;
  TopologicalSlot slot[3];
};
struct TopologicalLevels {
  const int64_t* start;
  const int32_t* indices;
  int64_t n;
  int32_t *waits, *queue;                      // n each
  int64_t* level;
  TopologicalControl* control;
};

template <int = 0> __global__ void __launch_bounds__(1024, 1) topological_levels(TopologicalLevels o) {
  __shared__ int wide[TOPOLOGICAL_WIDE_ROWS], wides;
  LevelLoop<TopologicalControl> loop{o.control};
  const int warp = threadIdx.x >> 5, warps = blockDim.x >> 5, lane = lane_number();
  unsigned low = 0, high = 0;                  // the level's range of the queue
  auto append = [&](bool takes, int v, int64_t k, TopologicalSlot* counters) {
    const unsigned at = high + warp_append(takes, &counters->found);
    if (takes) o.queue[at] = v, o.level[v] = k;
  };
  // The entries of row v, of level k - 1, from 128 `first` on, in steps of 128 `step`.  The warp calls together.
  auto release = [&](int v, int first, int step, int64_t k, TopologicalSlot* counters) {
    const int64_t end = o.start[v + 1];
    for (int64_t base = o.start[v] + 128 * first; base < end; base += 128 * step) {
      int u[4];
      bool last[4];
#pragma unroll
      for (int j = 0; j < 4; j++) u[j] = base + 32 * j + lane < end ? o.indices[base + 32 * j + lane] : -1;
#pragma unroll
      for (int j = 0; j < 4; j++) last[j] = u[j] >= 0 && atomicSub(o.waits + u[j], 1) == 1;
#pragma unroll
      for (int j = 0; j < 4; j++) append(last[j], u[j], k, counters);
    }
  };

  GRB_EACH(v, o.n) o.waits[v] = 0, o.level[v] = -1;
  loop.barrier();
  GRB_EACH(e, o.start[o.n]) atomicAdd(o.waits + o.indices[e], 1);
  loop.barrier();
  TopologicalSlot* counters = loop.begin();
  for (int64_t base = warp_number() * 32; base < o.n; base += warp_count() * 32) {
    const int64_t v = base + lane_number();
    append(v < o.n && load_l2(o.waits + v) == 0, int(v), 0, counters);
  }
  high = load_l2(&loop.end()->found);
  for (int64_t k = 1; low < high; k++) {
    if (threadIdx.x == 0) wides = 0;
    __syncthreads();
    counters = loop.begin();
    for (int64_t p = low + spread_warp(); p < high; p += spread_warps()) {
      const int v = load_l2(o.queue + p);
      int at = TOPOLOGICAL_WIDE_ROWS;
      if (o.start[v + 1] - o.start[v] > TOPOLOGICAL_WIDE) {
        if (lane == 0) at = atomicAdd(&wides, 1);
        at = __shfl_sync(ALL_LANES, at, 0);
        if (lane == 0 && at < TOPOLOGICAL_WIDE_ROWS) wide[at] = v;
      }
      if (at >= TOPOLOGICAL_WIDE_ROWS) release(v, 0, 1, k, counters);
    }
    __syncthreads();
    for (int w = 0; w < wides && w < TOPOLOGICAL_WIDE_ROWS; w++) release(wide[w], warp, warps, k, counters);
    const unsigned found = load_l2(&loop.end()->found);
    low = high, high += found;
  }
  loop.leave();
}

}  // namespace grb
