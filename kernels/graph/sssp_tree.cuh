// A tree of shortest paths from distances: parent[v] = some u with d(u) + w(u, v) = d(v) and d(u) < d(v).
//
// Who calls: backends/cuda/graph/sssp.py, after graph/sssp.cuh and before another launch on the same workspace.
// Algorithm: each vertex searches its in-edges for a tight one, d(u) + w = d(v); d(u) < d(v) excludes cycles.
// A vertex without such an edge (weights of 0, or so small that the sum is rounded to d(u)) is counted in *missing, and
//   the caller computes the tree in another way.
// Phases: a lane for each vertex searches its first ROW_OF_LANE entries, light ones first, none heavier than d(v); a
//   warp searches the rest of long rows.
// Launch: a thread for each vertex, whole warps.
#pragma once
#include "graph/sssp_state.cuh"

namespace grb {

template <class K, int BYTES, bool REAL>
__global__ void sssp_tree(const word* table, int64_t source, int64_t* parent, word* missing) {
  using Entry = PathEntry<K, BYTES>;
  constexpr K NONE = ~K(0);
  constexpr int ROW_OF_LANE = 16;
  __shared__ SsspTable<K> g;
  load_table(g, table);
  const Entry* in = static_cast<const Entry*>(g.in);
  const unsigned shift = unsigned(g.shift);
  const int lane = lane_number();
  auto tight = [&](const Entry& entry, K d) {
    K before = g.dist[entry.column(shift)];
    return before < d && path_sum<K, REAL>(before, entry.weight(shift)) == d;
  };
  GRB_EACH_WARP(group, (g.n + 31) >> 5) {
    int64_t v = group * 32 + lane, found = -1, i = 0, end = 0;
    K d = v < g.n ? g.dist[v] : NONE;
    bool open = d != NONE && v != source;
    if (v == source) parent[v] = v;
    if (open) {
      i = g.in_start[v], end = g.in_start[v + 1];
      for (int64_t alone = end - i > ROW_OF_LANE ? i + ROW_OF_LANE : end; found < 0 && i < alone; i++) {
        Entry entry = in[i];
        if (entry.weight(shift) > d) i = end;             // no later one is lighter
        else if (tight(entry, d)) found = entry.column(shift);
      }
    }
    for_each_lane(open && found < 0 && i < end, [&](int who) {
      int64_t to = shuffle(end, who);
      K theirs = shuffle(d, who);
      for (int64_t k0 = shuffle(i, who); k0 < to; k0 += 32) {
        Entry entry = in[k0 + lane < to ? k0 + lane : to - 1];
        bool lighter = entry.weight(shift) <= theirs;
        unsigned hits = __ballot_sync(ALL_LANES, lighter && tight(entry, theirs));
        int64_t column = __shfl_sync(ALL_LANES, entry.column(shift), hits ? __ffs(int(hits)) - 1 : 0);
        if (hits && lane == who) found = column;
        if (hits || !__all_sync(ALL_LANES, lighter)) break;
      }
    });
    if (open && found >= 0) parent[v] = found;
    unsigned without = __ballot_sync(ALL_LANES, open && found < 0);
    if (without && lane == 0) atomicAdd(missing, word(__popc(without)));
  }
}

}  // namespace grb
