// A tree of shortest paths from the distances of a search: for each vertex reached an edge that its distance comes by.
//
// Who calls: backends/cuda/traversal/sssp.py, after traversal/sssp.cuh and before another search of the same workspace.
// Only edges that d grows along are taken, so that they form no cycle; where a vertex has none (edges of weight 0, or so
// light that a sum is rounded to what it was) it is counted, and the caller finds the tree in another way.
// Threads: a lane for each vertex, light entries first, none heavier than its distance; the rest of long rows by the warp.
#pragma once
#include "traversal/sssp_state.cuh"

namespace grb {

template <class K, int BYTES, bool REAL>
__global__ void tree_of_paths(const word* table, int64_t source, int64_t* parent, unsigned long long* missing) {
  using Entry = PathEntry<K, BYTES>;
  constexpr K NONE = ~K(0);
  constexpr int ALONE = 16;
  __shared__ PathsTable<K> g;
  for (int k = threadIdx.x; k < int(sizeof(g) / 8); k += blockDim.x) reinterpret_cast<word*>(&g)[k] = table[k];
  __syncthreads();
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
      for (int64_t alone = end - i > ALONE ? i + ALONE : end; found < 0 && i < alone; i++) {
        Entry entry = in[i];
        if (entry.weight(shift) > d) i = end;             // no later one is lighter
        else if (tight(entry, d)) found = entry.column(shift);
      }
    }
    for (unsigned lanes = __ballot_sync(ALL_LANES, open && found < 0 && i < end); lanes; lanes &= lanes - 1) {
      int who = __ffs(int(lanes)) - 1;
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
    }
    if (open && found >= 0) parent[v] = found;
    unsigned without = __ballot_sync(ALL_LANES, open && found < 0);
    if (without && lane == 0) atomicAdd(missing, (unsigned long long)__popc(without));
  }
}

}  // namespace grb
