// The pull of a BFS level: each unvisited vertex searches its row for a visited neighbour and stops at the first.
//
// Algorithm: row-wise masked product with early exit (push_pull_graphblas_icpp18, 5.3, 6.1; "bottom-up" of Beamer).
// Phases, for 128 vertices a warp:
//   search_by_lane  the neighbour of highest degree, the next four, then the first ROW_OF_LANE entries of the row
//   search_by_warp  the next ROW_OF_WARP entries of long rows, one row at a time
//   pull_hub_rows   (LOW_SKEW, a phase of its own) the rest of the rows of hubs, cut into segments for all warps
// Who includes it: graph/bfs.cuh, which lists the phases of a level.
#pragma once
#include "graph/bfs_push.cuh"
#include "graph/pull.cuh"

namespace grb {

constexpr int ROW_OF_LANE = 32;                // entries of a row that a lane searches alone
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

  // A warp searches 128 vertices at once, four a lane, v0 + 32 k.  These sets have bit k for the lane's vertex k.
  struct Four {
    int v0;
    unsigned hits, late;                       // a visited neighbour found; a long row, left to the warp
  };

  // The highest-degree neighbour ends most rows; then the four of next highest degree, then the row's first entries.
  GRB_DEVICE void search_by_lane(const unsigned* old, const unsigned (&todo)[4], Four& four) {
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
      if (hits >> k & 1) this->reach(v0 + 32 * k, top[k]);
    for (; open; open &= open - 1) {
      int v = v0 + 32 * (__ffs(int(open)) - 1), who = 0;
      const int4 few = next_four[v];
      auto there = [&](int u, int k) { return unsigned(u >= 0 && is_in(old, u)) << k; };
      unsigned among = there(few.x, 0) | there(few.y, 1) | there(few.z, 2) | there(few.w, 3);
      if (among) {
        hits |= open & -open;
        this->reach(v, among & 1 ? few.x : among & 2 ? few.y : among & 4 ? few.z : few.w);
        continue;
      }
      if (few.w < 0) continue;                 // that was the whole row
      P i = g.in_start[v], end = g.in_start[v + 1], alone = end - i > ROW_OF_LANE ? P(i + ROW_OF_LANE) : end;
      if (first_match(g.in, i, alone, who, [&](int u) { return is_in(old, u); })) {
        hits |= open & -open;
        this->reach(v, who);
      } else if (alone < end) {
        four.late |= open & -open;
      }
    }
    four.hits = hits;
  }

  // Long rows, one at a time; LOW_SKEW: those of hubs are listed in vertex0 (no queue is in use while pulling).
  GRB_DEVICE void search_by_warp(const unsigned* old, int64_t group, Four& four) {
    const int lane = lane_number();
    for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, four.late != 0)) != 0;) {
      int whose = __ffs(int(lanes)) - 1, who = 0;
      unsigned bit = __shfl_sync(ALL_LANES, four.late & -four.late, whose);
      int v = int(group << 7) + whose + 32 * (__ffs(int(bit)) - 1);
      P from = g.in_start[v] + ROW_OF_LANE, end = g.in_start[v + 1];
      bool is_hub = LOW_SKEW && end - from > ROW_OF_WARP;
      bool hit = !is_hub && first_match_by_warp(g.in, from, end, who, [&](int u) { return is_in(old, u); });
      if (is_hub && lane == 0) g.vertex0[atomicAdd(&counters->hub_rows, word(1))] = v;
      if (lane == whose) {
        four.late &= four.late - 1;
        if (hit) {
          four.hits |= bit;
          this->reach(v, who);
        }
      }
    }
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
        search_by_lane(old, todo, four);
        __syncwarp();
        search_by_warp(old, group, four);
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
