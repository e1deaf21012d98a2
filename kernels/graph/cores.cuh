// Core numbers in one launch: peeling, all vertices of least degree at a time.
//
// Result: core[v] = the greatest k for which v is in a subgraph where every vertex has k edges.
// Algorithm: Ahmad, Yuan, Yan, Guo, Chen, Zhang, "Accelerating k-core decomposition by a GPU" (ICDE 2023), section IV
//   (scan and loop phases), with a barrier for both together.
// Phases of a level k, a grid-wide barrier after both:
//   scan    each block looks at its share of the vertices left: those of degree <= k are removed (core[v] = k by
//           compareAndSwap) and enter its block queue, the others are listed for the next level
//   peel    the rows of the queue: neighbours lose an edge; the block that takes a degree from k + 1 to k removes that
//           vertex and appends it to its own queue, so a cascade needs no barrier
// Vertices beyond the queue's capacity are listed in `spill`; they are the work of another phase of the same k.
// After a level that removes nothing, k becomes the least degree left.
// Launch: cooperative, up to 1024 threads a block (backends/cuda/graph/cores.py).
// Preconditions: *control is all zero; n < 2^31 - 128; no loops; degrees below 2^31.
// Invariant: degrees only fall, so a stale degree is too high: it costs an atomic, and the atomic's result decides.
#pragma once
#include "base/warp.cuh"
#include "graph/block_queue.cuh"
#include "graph/level_loop.cuh"

namespace grb {

struct CoresSlot { unsigned kept, spilled, removed, most; };  // most: 2^31 - 1 - least degree left
struct CoresControl {
  using Slot = CoresSlot;
  unsigned arrivals, departures;
  CoresSlot slot[3];
};
constexpr unsigned HIGHEST_DEGREE = 0x7fffffffu;
constexpr int WIDE_ROW = 1024;                 // entries of a row that the block reads together
constexpr int WIDE_ROWS = 64;

struct Cores {
  const int64_t* start;
  const int32_t* indices;
  const int64_t* more_start;                   // the rows of in-edges; null where symmetric
  const int32_t* more;
  int64_t n;
  int32_t *degree, *core;
  int32_t *left, *next_left;                   // n each
  int32_t *spill, *next_spill;                 // n each
  int64_t* result;
  void* control;
};

template <int CAPACITY>
__global__ void __launch_bounds__(1024, 1) core_numbers(Cores o) {
  CoresControl* control = static_cast<CoresControl*>(o.control);
  __shared__ BlockQueue<CAPACITY> queue;
  __shared__ unsigned scan[33];
  __shared__ int wide[WIDE_ROWS];
  __shared__ int wides;
  LevelLoop<CoresControl> loop{control};
  const int warp = threadIdx.x >> 5, warps = blockDim.x >> 5, lane = lane_number();

  auto lose_edge = [&](int u, int k, CoresSlot* counters) {
    if (o.degree[u] > k && atomicSub(o.degree + u, 1) == k + 1 && atomicCAS(o.core + u, -1, k) == -1) {
      int at = atomicAdd(&queue.count, 1);
      if (at < CAPACITY) queue.vertex[at] = u; else o.next_spill[atomicAdd(&counters->spilled, 1u)] = u;
    }
  };
  // Entries first + thread, + threads ... of row v, in both directions.
  auto peel_row = [&](int v, int thread, int threads, int k, CoresSlot* counters) {
    for (int way = 0; way < 2; way++) {
      const int64_t* start = way ? o.more_start : o.start;
      const int32_t* near = way ? o.more : o.indices;
      if (start == nullptr) break;
      const int64_t end = start[v + 1];
      int64_t e = start[v] + thread;
      for (; e + 3 * threads < end; e += 4 * threads) {
        int u[4] = {near[e], near[e + threads], near[e + 2 * threads], near[e + 3 * threads]};
#pragma unroll
        for (int j = 0; j < 4; j++) lose_edge(u[j], k, counters);
      }
      for (; e < end; e += threads) lose_edge(near[e], k, counters);
    }
  };
  auto is_wide = [&](int v) {
    return o.start[v + 1] - o.start[v] > WIDE_ROW ||
           (o.more_start != nullptr && o.more_start[v + 1] - o.more_start[v] > WIDE_ROW);
  };
  // Empties the queue and returns how many vertices it had.  The block calls together.
  auto peel = [&](int k, CoresSlot* counters) {
    int begin = 0;
    for (;;) {
      __syncthreads();
      const int end = queue.size();
      if (threadIdx.x == 0) wides = 0;
      __syncthreads();
      if (begin == end) break;
      for (int q = begin + warp; q < end; q += warps) {
        const int v = queue.vertex[q];
        int at = WIDE_ROWS;
        if (is_wide(v)) {
          if (lane == 0) at = atomicAdd(&wides, 1);
          at = __shfl_sync(ALL_LANES, at, 0);
          if (at < WIDE_ROWS && lane == 0) wide[at] = v;
        }
        if (at >= WIDE_ROWS) peel_row(v, lane, 32, k, counters);
      }
      __syncthreads();
      const int together = wides < WIDE_ROWS ? wides : WIDE_ROWS;
      for (int w = 0; w < together; w++) peel_row(wide[w], threadIdx.x, blockDim.x, k, counters);
      begin = end;
    }
    if (threadIdx.x == 0) queue.reset();
    __syncthreads();
    return begin;
  };

  if (threadIdx.x == 0) queue.reset();
  __syncthreads();
  // degrees; vertices with edges are left
  CoresSlot* counters = loop.begin();
  unsigned most = 0;
  for (int64_t base = int64_t(blockIdx.x) * blockDim.x; base < o.n; base += thread_count()) {
    const int64_t v = base + threadIdx.x;
    int64_t d = 0;
    if (v < o.n) {
      d = o.start[v + 1] - o.start[v];
      if (o.more_start != nullptr) d += o.more_start[v + 1] - o.more_start[v];
      o.degree[v] = int32_t(d);
      o.core[v] = d ? -1 : 0;
      if (d && HIGHEST_DEGREE - unsigned(d) > most) most = HIGHEST_DEGREE - unsigned(d);
    }
    unsigned at = block_append(unsigned(d != 0), &counters->kept, scan);
    if (d) o.left[at] = int32_t(v);
    __syncthreads();
  }
  most = warp_max(most);
  if (lane == 0 && most) atomicMax(&counters->most, most);
  const CoresSlot* counted = loop.end();
  unsigned kept = load_l2(&counted->kept), spilled = 0;
  int k = int(HIGHEST_DEGREE - load_l2(&counted->most));
  while (kept || spilled) {
    counters = loop.begin();
    const bool scans = spilled == 0;
    const unsigned size = scans ? kept : spilled;
    unsigned removed = 0;
    most = 0;
    for (int64_t base = int64_t(blockIdx.x) * blockDim.x; base < size; base += thread_count()) {
      const int64_t place = base + threadIdx.x;
      int v = -1;
      bool keeps = false, takes = false;
      if (place < size) {
        v = load_l2((scans ? o.left : o.spill) + place);
        if (scans) {
          const int d = load_l2(o.degree + v);
          keeps = d > k;
          takes = !keeps && load_l2(o.core + v) == -1 && atomicCAS(o.core + v, -1, k) == -1;
          if (keeps && HIGHEST_DEGREE - unsigned(d) > most) most = HIGHEST_DEGREE - unsigned(d);
        } else {
          takes = true;
        }
      }
      queue.append(takes, v);                  // it has space for a whole block
      if (scans) {
        unsigned at = block_append(unsigned(keeps), &counters->kept, scan);
        if (keeps) o.next_left[at] = v;
      }
      __syncthreads();
      const bool full = queue.count > CAPACITY - int(blockDim.x);
      __syncthreads();
      if (full) removed += unsigned(peel(k, counters));
    }
    removed += unsigned(peel(k, counters));
    if (threadIdx.x == 0 && removed) atomicAdd(&counters->removed, removed);
    most = warp_max(most);
    if (lane == 0 && most) atomicMax(&counters->most, most);
    counted = loop.end();
    spilled = load_l2(&counted->spilled);
    int32_t* swapped = o.spill;
    o.spill = o.next_spill, o.next_spill = swapped;
    if (scans) {
      kept = load_l2(&counted->kept);
      swapped = o.left;
      o.left = o.next_left, o.next_left = swapped;
    }
    if (!spilled) k = scans && load_l2(&counted->removed) == 0 ? int(HIGHEST_DEGREE - load_l2(&counted->most)) : k + 1;
  }
  GRB_EACH(v, o.n) o.result[v] = load_l2(o.core + v);
  loop.leave();
}

}  // namespace grb
