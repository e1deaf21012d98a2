// Supports of edges as edges go: those of support below `least` are removed in rounds, each of their triangles once.
//
// Algorithm: Kabir and Madduri, "Parallel k-truss decomposition on multicore systems" (HPEC 2017), PKT: a removed edge
//   intersects the rows of its ends; of several edges of a triangle that go in one round the first one counts it.
// Phases: truss_link   link[p] = the edge of entry p of C, in both directions (-1: none); a thread for each edge
//         truss_peel   one launch: the edges below `least` are queued; then a round for what the last one queued, with
//                      a grid-wide barrier after it: a warp for each edge looks up the entries of the shorter row in
//                      the longer one by bisection; long rows are shared by the block
// An edge is queued once, by whoever takes its support from `least` to least - 1, and its gone[] is the next round, so
// that it is still there for all edges of this one.
// Launch: truss_peel cooperative (backends/cuda/graph/triangles.py).
// Preconditions: C symmetric without loops, rows ascend; *control and gone are all zero; n and edges below 2^31 - 2^20.
#pragma once
#include "base/views.cuh"
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

struct TrussSlot { unsigned queued, unused; };
struct TrussControl {
  using Slot = TrussSlot;
  unsigned arrivals, departures;
  TrussSlot slot[3];
};
constexpr int LONG_ROW = 1024;  // entries of the shorter row that the block looks up together
constexpr int LONG_EDGES = 64;  // of a block and a round; more are left to their warps

struct Truss {
  const int64_t* start;  // C
  const int32_t* near;
  const int32_t* link;   // of each entry of C
  const int32_t* rows;   // of each edge: row, column
  const int32_t* cols;
  int64_t edges;
  int64_t least;
  int32_t* support;
  int32_t* gone;         // the round in which it is removed; 0: not
  int32_t* queue;        // of all rounds
  void* control;
};

template <int = 0>
__global__ void truss_link(const int64_t* start, const int32_t* near, const int32_t* rows, const int32_t* cols,
                           int64_t edges, int32_t* link) {
  GRB_EACH(e, edges) {
    const int32_t i = rows[e], j = cols[e];
    const int64_t p = find(near, start[i], start[i + 1], j), q = find(near, start[j], start[j + 1], i);
    if (p >= 0 && q >= 0) link[p] = link[q] = int32_t(e);
  }
}

template <int = 0> __global__ void __launch_bounds__(256) truss_peel(Truss o) {
  __shared__ unsigned scan[33];
  __shared__ int together[LONG_EDGES];
  __shared__ int longs;
  LevelLoop<TrussControl> loop{static_cast<TrussControl*>(o.control)};
  const int lane = lane_number(), warp = threadIdx.x >> 5, warps = blockDim.x >> 5;

  TrussSlot* counters = loop.begin();
  for (int64_t base = int64_t(blockIdx.x) * blockDim.x; base < o.edges; base += thread_count()) {
    const int64_t e = base + threadIdx.x;
    const bool goes = e < o.edges && o.support[e] < o.least;
    const unsigned at = block_append(unsigned(goes), &counters->queued, scan);
    if (goes) o.gone[e] = 1, o.queue[at] = int32_t(e);
    __syncthreads();
  }
  int64_t first = 0, last = load_l2(&loop.end()->queued);

  // The triangles of edge e with entries thread, + threads, ... of the shorter row.
  auto visit = [&](int32_t e, int thread, int threads, int round) {
    auto lose = [&](int32_t f) {
      if (atomicSub(o.support + f, 1) != int32_t(o.least)) return;
      o.gone[f] = round + 1;
      o.queue[last + atomicAdd(&counters->queued, 1u)] = f;
    };
    int32_t u = o.rows[e], v = o.cols[e];
    if (o.start[u + 1] - o.start[u] > o.start[v + 1] - o.start[v]) u = o.cols[e], v = o.rows[e];
    const int64_t end = o.start[u + 1], low = o.start[v], high = o.start[v + 1];
    for (int64_t p = o.start[u] + thread; p < end; p += threads) {
      const int32_t f = o.link[p];
      if (f < 0) continue;
      const int32_t of_f = load_l2(o.gone + f);
      if (of_f != 0 && of_f < round) continue;
      const int64_t q = find(o.near, low, high, o.near[p]);
      const int32_t g = q < 0 ? -1 : o.link[q];
      if (g < 0) continue;
      const int32_t of_g = load_l2(o.gone + g);
      if (of_g != 0 && of_g < round) continue;
      const bool f_goes = of_f == round, g_goes = of_g == round;
      if (!f_goes && (!g_goes || e < g)) lose(f);
      if (!g_goes && (!f_goes || e < f)) lose(g);
    }
  };

  for (int round = 1; first < last; round++) {
    counters = loop.begin();
    if (threadIdx.x == 0) longs = 0;
    __syncthreads();
    for (int64_t k = first + int64_t(warp) * gridDim.x + blockIdx.x; k < last; k += int64_t(warps) * gridDim.x) {
      const int32_t e = load_l2(o.queue + k), u = o.rows[e], v = o.cols[e];
      int at = LONG_EDGES;
      if (min(o.start[u + 1] - o.start[u], o.start[v + 1] - o.start[v]) > LONG_ROW) {
        if (lane == 0) at = atomicAdd(&longs, 1);
        at = __shfl_sync(ALL_LANES, at, 0);
        if (at < LONG_EDGES && lane == 0) together[at] = e;
      }
      if (at >= LONG_EDGES) visit(e, lane, 32, round);
    }
    __syncthreads();
    const int shared = min(longs, LONG_EDGES);
    for (int k = 0; k < shared; k++) visit(together[k], threadIdx.x, blockDim.x, round);
    first = last;
    last += load_l2(&loop.end()->queued);
  }
  loop.leave();
}

}  // namespace grb
