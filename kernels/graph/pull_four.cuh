// The pull of 128 vertices by a warp, four a lane: each unvisited one looks for a visited neighbour.
//
// Who includes it: graph/bfs_pull.cuh, graph/bfs_ranks.cuh, which read bits of open vertices and write what is found.
//   search_by_lane  the neighbour of highest degree, the next four, then the first ROW_OF_LANE entries of the row
//   search_by_warp  the rest of long rows, one row at a time
// A graph has in_start, in (rows of the vertices that search), top_neighbour and next_neighbours (bfs_prepare.cuh);
// `old` has a bit for each vertex that may be a neighbour.  reach(v, who) is called by the lane that has v.
#pragma once
#include "graph/pull.cuh"
#include "graph/visited.cuh"

namespace grb {

constexpr int ROW_OF_LANE = 32;                // entries of a row that a lane searches alone

// The lane's vertices are v0 + 32 k.  These sets have bit k for vertex k.
struct Four {
  int v0;
  unsigned hits, late;                         // a visited neighbour found; a long row, left to the warp
};

// The highest-degree neighbour ends most rows; then the four of next highest degree, then the row's first entries.
template <class Graph, class Reach>
GRB_DEVICE void search_by_lane(const Graph& g, const unsigned* old, const unsigned (&todo)[4], Four& four,
                               Reach reach) {
  const int4* next_four = reinterpret_cast<const int4*>(g.next_neighbours);
  const int lane = lane_number(), v0 = four.v0;
  int top[4];
#pragma unroll
  for (int k = 0; k < 4; k++) top[k] = todo[k] >> lane & 1 ? g.top_neighbour[v0 + 32 * k] : -1;
  unsigned hits = 0, open = 0;
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (top[k] >= 0) hits |= unsigned(is_in(old, top[k])) << k, open |= 1u << k;
  open &= ~hits;
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (hits >> k & 1) reach(v0 + 32 * k, top[k]);
  for (; open; open &= open - 1) {
    int v = v0 + 32 * (__ffs(int(open)) - 1), who = 0;
    const int4 few = next_four[v];
    auto there = [&](int u, int k) { return unsigned(u >= 0 && is_in(old, u)) << k; };
    unsigned among = there(few.x, 0) | there(few.y, 1) | there(few.z, 2) | there(few.w, 3);
    if (among) {
      hits |= open & -open;
      reach(v, among & 1 ? few.x : among & 2 ? few.y : among & 4 ? few.z : few.w);
      continue;
    }
    if (few.w < 0) continue;                   // that was the whole row
    auto i = g.in_start[v], end = g.in_start[v + 1], alone = end;
    if (end - i > ROW_OF_LANE) alone = i + ROW_OF_LANE;
    if (first_match(g.in, i, alone, who, [&](int u) { return is_in(old, u); })) {
      hits |= open & -open;
      reach(v, who);
    } else if (alone < end) {
      four.late |= open & -open;
    }
  }
  four.hits = hits;
}

// Long rows, one at a time.  leaves(v, rest), called by all lanes: is the rest of v's row left to another phase?
template <class Graph, class Leaves, class Reach>
GRB_DEVICE void search_by_warp(const Graph& g, const unsigned* old, int64_t group, Four& four, Leaves leaves,
                               Reach reach) {
  const int lane = lane_number();
  for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, four.late != 0)) != 0;) {
    int whose = __ffs(int(lanes)) - 1, who = 0;
    unsigned bit = __shfl_sync(ALL_LANES, four.late & -four.late, whose);
    int v = int(group << 7) + whose + 32 * (__ffs(int(bit)) - 1);
    auto from = g.in_start[v], end = g.in_start[v + 1];
    from += ROW_OF_LANE;
    bool hit = !leaves(v, int64_t(end - from)) &&
               first_match_by_warp(g.in, from, end, who, [&](int u) { return is_in(old, u); });
    if (lane == whose) {
      four.late &= four.late - 1;
      if (hit) {
        four.hits |= bit;
        reach(v, who);
      }
    }
  }
}

}  // namespace grb
