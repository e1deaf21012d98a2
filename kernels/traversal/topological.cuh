// Topological generations in one launch: Kahn's algorithm, all vertices without waiting in-edges at a time.
//
// Result: level[v] = the most edges on a path that ends at v; -1 for vertices on a cycle or behind one.
// Algorithm: Kahn, "Topological sorting of large networks" (Comm. ACM 5, 1962), by levels.
// Phases, a grid-wide barrier after each:
//   count    waits[v] = in-degree, by an atomic for each entry; vertices of in-degree 0 enter the queue
//   release  the rows of the level's range of the queue, by warps: the atomic that brings waits[u] to 0 appends u
//   wide     where the level has rows of more than TOPOLOGICAL_WIDE entries: their chunks, dealt to all warps
// Launch: cooperative (backends/cuda/traversal/topological.py).
// Preconditions: a square matrix, n < 2^31 - 128; *control is all zero.
#pragma once
#include "base/warp.cuh"
#include "traversal/level_loop.cuh"

namespace grb {

constexpr int TOPOLOGICAL_WIDE = 1024;         // entries of a row; longer ones are shared by all warps

struct TopologicalSlot { unsigned found, wide; };  // vertices that enter the queue; rows that are shared
struct TopologicalControl {
  using Slot = TopologicalSlot;
  unsigned arrivals, departures;
  TopologicalSlot slot[3];
};
struct TopologicalLevels {
  const int64_t* start;
  const int32_t* indices;
  int64_t n;
  int32_t *waits, *queue, *wide;               // n each
  int64_t* level;
  TopologicalControl* control;
};

template <int = 0> __global__ void __launch_bounds__(1024, 1) topological_levels(TopologicalLevels o) {
  LevelLoop<TopologicalControl> loop{o.control};
  unsigned low = 0, high = 0;                  // the level's range of the queue
  // v enters the queue, whose first `size` vertices are known to all blocks, in level k.
  auto append = [&](bool takes, int v, int64_t k, unsigned size, TopologicalSlot* counters) {
    const unsigned at = size + warp_append(takes, &counters->found);
    if (takes) o.queue[at] = v, o.level[v] = k;
  };
  // Entries [from, to) of a row whose vertex is in level k - 1.  The warp calls together.
  auto release = [&](int64_t from, int64_t to, int64_t k, unsigned size, TopologicalSlot* counters) {
    for (int64_t base = from; base < to; base += 32) {
      const int64_t e = base + lane_number();
      const int u = e < to ? o.indices[e] : 0;
      append(e < to && atomicSub(o.waits + u, 1) == 1, u, k, size, counters);
    }
  };

  GRB_EACH(v, o.n) o.waits[v] = 0, o.level[v] = -1;
  loop.barrier();
  GRB_EACH(e, o.start[o.n]) atomicAdd(o.waits + o.indices[e], 1);
  loop.barrier();
  TopologicalSlot* counters = loop.begin();
  for (int64_t base = warp_number() * 32; base < o.n; base += warp_count() * 32) {
    const int64_t v = base + lane_number();
    append(v < o.n && load_l2(o.waits + v) == 0, int(v), 0, 0, counters);
  }
  high = load_l2(&loop.end()->found);
  for (int64_t k = 1; low < high; k++) {
    counters = loop.begin();
    for (int64_t p = low + spread_warp(); p < high; p += spread_warps()) {
      const int v = load_l2(o.queue + p);
      const int64_t from = o.start[v], to = o.start[v + 1];
      if (to - from <= TOPOLOGICAL_WIDE) release(from, to, k, high, counters);
      else if (lane_number() == 0) o.wide[atomicAdd(&counters->wide, 1u)] = v;
    }
    const TopologicalSlot* counted = loop.end();
    unsigned size = high + load_l2(&counted->found);
    const unsigned wide = load_l2(&counted->wide);
    if (wide) {
      counters = loop.begin();
      for (unsigned w = 0; w < wide; w++) {
        const int v = load_l2(o.wide + w);
        const int64_t from = o.start[v], to = o.start[v + 1];
        for (int64_t chunk = from + 256 * spread_warp(); chunk < to; chunk += 256 * spread_warps())
          release(chunk, chunk + 256 < to ? chunk + 256 : to, k, size, counters);
      }
      size += load_l2(&loop.end()->found);
    }
    low = high, high = size;
  }
  loop.leave();
}

}  // namespace grb
