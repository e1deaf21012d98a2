// What the shortest-path kernels share: keys, matrix entries of weight and column, the table of arrays, the control
// block.
//
// Who includes it: the other sssp_*.cuh.  backends/cuda/graph/sssp_graph.py writes the table, in this order.
// Keys: distances are unsigned integers, or the bits of non-negative floats, whose order is the same; NONE (all ones)
//   means not reached.
// Invariant between kernels: `in_list` and the control block are all zero.
#pragma once
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

constexpr int WEIGHT_CLASSES = 8;              // numbers of a vertex in `class_end`; the last is the row's length
constexpr int ROUND_NUMBERS = 5;               // of the record
using SsspRecord = RunRecord<ROUND_NUMBERS>;
enum SsspStatus { SSSP_FRESH = 0, SSSP_DONE = 1 };         // DONE: sssp_high_diameter.cuh has found all distances

// Of one phase: size of the queue (frontier.cuh); improved vertices; new active vertices, their edges; ~(least
// distance).
struct RoundCounters { word queued, listed, active, explored, nearest, spare[3]; };
struct SmallRounds { int64_t round, listed, active, explored, count, edges, improved; };
struct SsspControl {
  using Slot = RoundCounters;
  unsigned arrivals, departures;
  word status;
  RoundCounters slot[3];
  word inbox[2][2][16];                        // block_group.cuh
  SmallRounds small;                           // what one block leaves to the grid (sssp.cuh)
};

template <class K> struct SsspTable {          // every field has 8 bytes
  int64_t n, entries;
  const int64_t* start; const void* out; const int64_t* in_start; const void* in;   // rows ascend by weight
  const unsigned* class_end;                   // [8 v + k]: how many entries of row v are lighter than class k
  K *dist, *key;                               // distances; of the queue's vertices
  unsigned *in_list, *was_active;              // bits: listed as improved; active now or earlier
  int32_t *list, *active0, *active1;
  int64_t *stop, *base;                        // EdgeQueue (frontier.cuh)
  int32_t* chunk;
  SsspControl* control;
  word shift;                                  // of the weight in a 4-byte entry
  word classes[WEIGHT_CLASSES - 1];            // the seven weights that separate the classes, as keys
};

struct alignas(16) WideEntry { word weight, column; };
template <class K, int BYTES> struct PathEntry;
template <class K> struct PathEntry<K, 4> {
  unsigned e;
  GRB_DEVICE int column(unsigned shift) const { return int(e & ((1u << shift) - 1)); }
  GRB_DEVICE K weight(unsigned shift) const { return K(e >> shift); }
};
template <class K> struct PathEntry<K, 8> {
  word e;
  GRB_DEVICE int column(unsigned) const { return int(unsigned(e)); }
  GRB_DEVICE K weight(unsigned) const { return K(e >> 32); }
};
template <class K> struct PathEntry<K, 16> {
  WideEntry e;
  GRB_DEVICE int column(unsigned) const { return int(e.column); }
  GRB_DEVICE K weight(unsigned) const { return K(e.weight); }
};

// d + w, the multiplication of min.plus.
template <class K, bool REAL> GRB_DEVICE K path_sum(K d, K w) {
  if constexpr (REAL) {
    using F = choose<sizeof(K) == 4, float, double>;
    F a, b;
    memcpy(&a, &d, sizeof(K));
    memcpy(&b, &w, sizeof(K));
    a += b;
    memcpy(&d, &a, sizeof(K));
    return d;
  } else {
    return d + w;
  }
}

// bound + step; NONE (no bound) where that exceeds the type.
template <class K, bool REAL> GRB_DEVICE K path_raised(K bound, K step) {
  K s = path_sum<K, REAL>(bound, step);
  if constexpr (REAL) {
    constexpr K infinity = sizeof(K) == 4 ? K(0x7f800000u) : K(0x7ff0000000000000ull);
    return s >= infinity ? ~K(0) : s;
  } else {
    return s < bound ? ~K(0) : s;
  }
}

}  // namespace grb
