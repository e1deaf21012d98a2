// The pull of a BFS level: each unvisited vertex searches its row for a visited neighbour and stops at the first.
//
// Algorithm: row-wise masked product with early exit (push_pull_graphblas_icpp18, 5.3, 6.1; "bottom-up" of Beamer).
// Phases, for 128 vertices a warp:
//   search_by_lane  the likeliest neighbours, then the first entries of the row (pull_four.cuh)
//   search_by_warp  the next ROW_OF_WARP entries of long rows, one row at a time
//   pull_hub_rows   (LOW_SKEW, a phase of its own) the rest of the rows of hubs, cut into segments for all warps
// Who includes it: graph/bfs.cuh, which lists the phases of a level.
#pragma once
#include "graph/bfs_push.cuh"
#include "graph/pull_four.cuh"

namespace grb {

constexpr int ROW_OF_WARP = 512;               // further entries that a warp searches; rows of hubs have more

template <class P, bool LEVELS, bool PARENTS, bool LOW_SKEW>
struct BfsPull : BfsPush<P, LEVELS, PARENTS, LOW_SKEW> {
  using Push = BfsPush<P, LEVELS, PARENTS, LOW_SKEW>;
  using Push::g, Push::block, Push::counters, Push::warp, Push::warps;

  // Do the rows of a pull end early?  True when at least half of a sample of unvisited vertices have a highest-degree
  // neighbour that is visited, as where hubs dominate; on meshes and web graphs a pull reads nearly all entries.  Each
  // block computes the same.
  GRB_DEVICE bool is_pull_promising(const unsigned* visited) {
    int v = int(int64_t(threadIdx.x) * g.n / blockDim.x);
    bool open = (g.live[v >> 5] & ~load_l2(visited + (v >> 5))) >> (v & 31) & 1;
    int near = open ? g.top_neighbour[v] : 0;
    bool hit = open && is_in_l2(visited, near);
    int sampled = __syncthreads_count(open);
    return __syncthreads_count(hit) * 2 >= sampled;
  }

  // One level: unvisited vertices with a neighbour in `old`; `now` becomes `old` and what was found.
  GRB_DEVICE void pull(const unsigned* old, unsigned* now) {
    int lane = lane_number();
    word found = 0;
    const int64_t groups = (g.n + 127) >> 7;
    const int span = groups >= 3 * warps ? 4 : groups >= warps ? 2 : 1;      // groups whose words are loaded together
    for (int64_t first = warp * span; first < groups; first += warps * span) {
      uint4 l = make_uint4(0, 0, 0, 0);
      if (lane < span && first + lane < groups) {
        const uint4 s = reinterpret_cast<const uint4*>(old)[first + lane];
        l = reinterpret_cast<const uint4*>(g.live)[first + lane];
        l = make_uint4(l.x & ~s.x, l.y & ~s.y, l.z & ~s.z, l.w & ~s.w);
        if (!(l.x | l.y | l.z | l.w)) reinterpret_cast<uint4*>(now)[first + lane] = s;
      }
      for_each_lane(l.x | l.y | l.z | l.w, [&](int turn) {
        const int64_t group = first + turn;
        const unsigned todo[4] = {
          __shfl_sync(ALL_LANES, l.x, turn), __shfl_sync(ALL_LANES, l.y, turn), __shfl_sync(ALL_LANES, l.z, turn),
          __shfl_sync(ALL_LANES, l.w, turn)};
        Four four{int(group << 7) + lane, 0, 0};
        auto reach = [&](int v, int who) { this->reach(v, who); };
        search_by_lane(g, old, todo, four, reach);
        __syncwarp();
        auto leaves = [&](int v, int64_t rest) {               // LOW_SKEW: no queue is in use while pulling
          const bool is_hub = LOW_SKEW && rest > ROW_OF_WARP;
          if (is_hub && lane == 0) g.vertex0[atomicAdd(&counters->hub_rows, word(1))] = v;
          return is_hub;
        };
        search_by_warp(g, old, group, four, leaves, reach);
        unsigned fresh_bits[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
          fresh_bits[k] = __ballot_sync(ALL_LANES, four.hits >> k & 1);
          found += __popc(fresh_bits[k]);
        }
        if (lane == 0) {
          const uint4 s = reinterpret_cast<const uint4*>(old)[group];
          reinterpret_cast<uint4*>(now)[group] =
            make_uint4(s.x | fresh_bits[0], s.y | fresh_bits[1], s.z | fresh_bits[2], s.w | fresh_bits[3]);
        }
      });
    }
    if (lane == 0 && found) block.pulled.add(found);
    __syncthreads();
    if (threadIdx.x == 0) block.pulled.flush(&counters->pulled);
  }

  // The `count` rows of hubs that a pull listed, each cut into as many segments as there are warps for it.
  GRB_DEVICE void pull_hub_rows(const unsigned* old, unsigned* now, int64_t count) {
    const int64_t segments = count < warps ? warps / count : 1;
    for (int64_t t = warp; t < count * segments; t += warps) {
      int v = load_l2(g.vertex0 + t / segments), who = 0;
      int64_t first = g.in_start[v] + ROW_OF_LANE, length = g.in_start[v + 1] - first, k = t % segments;
      P from = P(first + length * k / segments), end = P(first + length * (k + 1) / segments);
      bool hit = first_match_by_warp(g.in, from, end, who, [&](int u) { return is_in(old, u); });
      if (hit && lane_number() == 0 && visit(now, v)) {
        this->reach(v, who);
        atomicAdd(&counters->pulled, word(1));
      }
    }
  }
};

}  // namespace grb
