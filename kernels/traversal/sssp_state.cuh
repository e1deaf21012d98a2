// What the shortest-path kernels share: entries of weight and column in one word, sums of keys, the table of arrays, cuts.
//
// Who includes it: traversal/sssp.cuh, traversal/sssp_prepare.cuh.  The arrays' addresses lie in one table on the device, written
// by backends/cuda/traversal/sssp_graph.py in this order.  Invariant between kernels: `waiting` and the control block are all zero.
// Keys: distances are unsigned integers, or the bits of floats >= 0, which ascend alike; NONE (all ones): not reached.
#pragma once
#include "traversal/state.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int CLASSES = 8;                     // numbers for each vertex in `cuts`; the last is the row's length

constexpr int STAGE_NUMBERS = 5;               // record: 8 numbers, then 5 for each round

struct PathsSlot { word tail, listed, active, explored, nearest, spare[3]; };
struct PathsControl {
  unsigned arrivals, departures;
  word status;                                 // DONE: traversal/sssp_high_diameter.cuh has found all distances
  PathsSlot slot[3];
  word inbox[2][2][16];
};
struct alignas(16) WideEntry { word weight, column; };

template <class K> struct PathsTable {         // every field has 8 bytes
  int64_t n, entries;
  const int64_t* start; const void* out; const int64_t* in_start; const void* in;
  const unsigned* cuts;
  K *dist, *key;                               // distances; of the queue's vertices
  unsigned *waiting, *entered;                 // bits: in the list; ever in the active list
  int32_t *list, *active0, *active1;
  int64_t *stop, *base;                        // as in traversal/bfs.cuh
  int32_t* chunk;
  PathsControl* control;
  word shift;                                  // of the weight in a 4-byte entry
  word classes[CLASSES - 1];                   // the seven weights, as keys
};

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

// bound + step; NONE (no bound) where that is beyond the type.
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
