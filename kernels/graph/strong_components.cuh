// Strongly connected components outside the one of a pivot, in one launch: trim and colour.
//
// Result: label[v] = the least vertex of v's component; control->count = the number of components.
// Algorithm: Slota, Rajamanickam, Madduri, "BFS and coloring-based parallel algorithms for strongly connected
//   components and related problems" (IPDPS 2014): sections III.A (trim), III.B (forward and backward search from a
//   pivot, made before by bfs.cuh) and III.C (colouring, with least vertices in the place of greatest ones).
// Phases, a grid-wide barrier after each; alive vertices have a colour >= 0, edges count between equal colours only:
//   divide   vertices of both searches are the pivot's component; colours are the sets that one search, the other, or
//            neither reached; vertices without out-edges or in-edges are components by themselves
//   trim     so are those without an alive neighbour of their colour in one of the directions; until there are none
//   colour   least[v] min= least[u] over in-edges u -> v until nothing changes: the least vertex that reaches v
//   reach    vertices that reach the root least[v] = v within its colour, backwards from it
//   assign   they are its component; the others' colour is their root, and the loop goes on with trim
// Values change within a phase.  A stale one is still correct: a vertex that reaches v, or a neighbour that was alive.
// Launch: cooperative (backends/cuda/graph/strong_components.py).
// Preconditions: *control is all zero; n < 2^31 - 128.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

struct StrongSlot { unsigned kept, changed, least, unused; };  // least: 2^31 - 1 - the least vertex
struct StrongControl {
  using Slot = StrongSlot;
  unsigned arrivals, departures;
  word count;
  StrongSlot slot[3];
};
constexpr unsigned HIGHEST_VERTEX = 0x7fffffffu;
constexpr unsigned NO_VERTEX = 0xffffffffu;
constexpr int LANE_ROW = 64;                   // longer rows are read by a warp

struct StrongComponents {
  const int64_t* out_start;
  const int32_t* out;
  const int64_t* in_start;
  const int32_t* in;
  int64_t n;
  const word *forward, *backward;              // vertices that the pivot reaches, that reach it; null: none
  int32_t *colour, *least, *reach, *list, *next;
  int64_t* label;
  void* control;
};

// The least of value(u) over the columns u of row v, in each lane with v >= 0; `enough` ends the search.  The warp
// calls together.
template <class Value>
GRB_DEVICE unsigned least_of_row(const int64_t* start, const int32_t* near, int v, unsigned enough, Value value) {
  unsigned found = NO_VERTEX;
  int64_t e = v < 0 ? 0 : start[v], end = v < 0 ? 0 : start[v + 1];
  const bool wide = end - e > LANE_ROW;
  if (!wide)
    for (; e < end && found > enough; e++) {
      unsigned x = value(v, near[e]);
      found = x < found ? x : found;
    }
  __syncwarp();
  for_each_lane(wide, [&](int who) {
    const int w = __shfl_sync(ALL_LANES, v, who);
    const unsigned least = __shfl_sync(ALL_LANES, enough, who);
    unsigned mine = NO_VERTEX;
    const int64_t stop = start[w + 1];
    for (int64_t k = start[w] + lane_number(); __any_sync(ALL_LANES, k < stop); k += 32) {
      if (k < stop) {
        unsigned x = value(w, near[k]);
        mine = x < mine ? x : mine;
      }
      if (__any_sync(ALL_LANES, mine <= least)) break;
    }
    mine = warp_min(mine);
    if (lane_number() == who) found = mine;
  });
  return found;
}

template <int = 0>
__global__ void __launch_bounds__(512, 2) strong_components(StrongComponents o) {
  StrongControl* control = static_cast<StrongControl*>(o.control);
  LevelLoop<StrongControl> loop{control};
  unsigned kept = 0;
  auto colour_of = [&](int v) { return load_l2(o.colour + v); };
  auto keep = [&](bool keeps, int v, StrongSlot* counters) {
    unsigned at = warp_append(keeps, &counters->kept);
    if (keeps) o.next[at] = v;
  };
  auto swap_lists = [&](const StrongSlot* counted) {
    kept = load_l2(&counted->kept);
    int32_t* swapped = o.list;
    o.list = o.next, o.next = swapped;
  };
  // body(v) for the vertices of the list, -1 for lanes beyond it; warps call it together.
  auto each = [&](auto body) {
    GRB_EACH_WARP(group, (int64_t(kept) + 31) >> 5) {
      const int64_t place = group * 32 + lane_number();
      body(place < kept ? load_l2(o.list + place) : -1);
    }
  };
  auto alone = [&](int v) { o.label[v] = v, o.colour[v] = -1; };
  auto divide = [&](StrongSlot* counters) {
    GRB_EACH_WARP(group, (o.n + 31) >> 5) {
      const int64_t place = group * 32 + lane_number();
      const int v = place < o.n ? int(place) : -1;
      bool keeps = false;
      unsigned first = 0;
      if (v >= 0) {
        const bool f = o.forward != nullptr && has(o.forward, v), b = o.backward != nullptr && has(o.backward, v);
        if (f && b) {
          first = HIGHEST_VERTEX - unsigned(v);
          o.label[v] = -1, o.colour[v] = -1;
        } else if (o.out_start[v] == o.out_start[v + 1] || o.in_start[v] == o.in_start[v + 1]) {
          alone(v);
        } else {
          keeps = true;
          o.colour[v] = 2 * f + b;
        }
      }
      first = warp_max(first);
      if (lane_number() == 0 && first) atomicMax(&counters->least, first);
      keep(keeps, v, counters);
    }
  };
  auto trim = [&](StrongSlot* counters) {
    auto alive = [&](int v, int u) { return u != v && colour_of(u) == colour_of(v) ? 0u : NO_VERTEX; };
    each([&](int v) {
      bool in_cycle = least_of_row(o.out_start, o.out, v, 0, alive) == 0;
      in_cycle = least_of_row(o.in_start, o.in, in_cycle ? v : -1, 0, alive) == 0;
      keep(in_cycle, v, counters);
      __syncwarp();
      if (v >= 0 && !in_cycle) alone(v);
    });
  };
  auto colour = [&](StrongSlot* counters) {
    each([&](int v) {
      const unsigned mine = v < 0 ? 0 : unsigned(load_l2(o.least + v));
      unsigned found = least_of_row(o.in_start, o.in, v, 0, [&](int w, int u) {
        return colour_of(u) == colour_of(w) ? unsigned(load_l2(o.least + u)) : NO_VERTEX;
      });
      if (v >= 0 && found < mine) o.least[v] = int(found), counters->changed = 1;
    });
  };
  auto reach = [&](StrongSlot* counters) {
    each([&](int v) {
      const bool open = v >= 0 && !load_l2(o.reach + v);
      const bool root = open && load_l2(o.least + v) == v;
      unsigned found = least_of_row(o.out_start, o.out, open && !root ? v : -1, 0, [&](int w, int u) {
        const bool same = colour_of(u) == colour_of(w) && load_l2(o.least + u) == load_l2(o.least + w);
        return same && load_l2(o.reach + u) ? 0u : NO_VERTEX;
      });
      if (open && (root || found == 0)) o.reach[v] = 1, counters->changed = 1;
    });
  };
  auto assign = [&](StrongSlot* counters) {
    each([&](int v) {
      const bool found = v >= 0 && load_l2(o.reach + v);
      const int root = v >= 0 ? load_l2(o.least + v) : 0;
      if (found) o.label[v] = root, o.colour[v] = -1;
      else if (v >= 0) o.colour[v] = 3 + root;
      keep(v >= 0 && !found, v, counters);
    });
  };
  auto until_stable = [&](auto phase) {
    bool changed = true;
    while (changed) {
      phase(loop.begin());
      changed = load_l2(&loop.end()->changed) != 0;
    }
  };

  divide(loop.begin());
  const StrongSlot* counted = loop.end();
  const int64_t pivots = HIGHEST_VERTEX - load_l2(&counted->least);  // the label of the pivot's component
  swap_lists(counted);
  while (kept) {
    unsigned before;
    do {
      before = kept;
      trim(loop.begin());
      swap_lists(loop.end());
    } while (kept && kept < before);
    if (!kept) break;
    loop.begin();
    each([&](int v) {
      if (v >= 0) o.least[v] = v, o.reach[v] = 0;
    });
    loop.end();
    until_stable(colour);
    until_stable(reach);
    assign(loop.begin());
    swap_lists(loop.end());
  }
  unsigned roots = 0;
  GRB_EACH(v, o.n) {
    int64_t label = __ldcg(o.label + v);
    if (label < 0) o.label[v] = label = pivots;
    roots += label == v;
  }
  roots = warp_sum_everywhere(roots);
  if (lane_number() == 0 && roots) atomicAdd(&control->count, word(roots));
}

// *best: the greatest of min(in-degree, out-degree) << 32 | 2^32 - 1 - v.
template <int = 0>
__global__ void __launch_bounds__(256) strong_pivot(const int64_t* out_start, const int64_t* in_start, int64_t n,
                                                    word* best) {
  __shared__ word shared[32];
  word most = 0;
  GRB_EACH(v, n) {
    int64_t out = out_start[v + 1] - out_start[v], in = in_start[v + 1] - in_start[v];
    word key = word(out < in ? out : in) << 32 | (0xffffffffu - unsigned(v));
    most = key > most ? key : most;
  }
  most = block_reduce(most, [](word a, word b) { return a > b ? a : b; }, shared);
  if (threadIdx.x == 0) atomicMax(best, most);
}

}  // namespace grb
