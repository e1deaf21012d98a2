// Parents for multi-source BFS, from the levels: an in-neighbour one level up, for all sources of a word at once.
//
// Result: parents[p * 64 + s] where bit s of visited[p] is set: a vertex; for a source itself.
// Who calls: backends/cuda/graph/bfs_multi.py, after bfs_multi: bfs_multi_parents_pull, then
// bfs_multi_parents_push.
// Method: bit-sliced level counters are compared in binary, a word of 64 sources for each digit.
// Phases:
//   pull   the middle levels have many edges, so a parent is found soon: rows of in-edges, several lanes for a segment
//          of a long row, a lane for a short one; both stop when nothing is missing
//   push   the levels before and after have few edges: rows of out-edges of their vertices
// Preconditions: level counters of vertices that no source reached are zero (bfs_multi's `fill`); done: zeros, a word
//   for each vertex, in which the segments of a long row collect what they have found.
#pragma once
#include "graph/bfs_multi_rows.cuh"
#include "graph/level_loop.cuh"
#include "base/bits.cuh"

namespace grb {

constexpr int LIGHT_SHARE = 8;             // a level is pushed where it has fewer than 1/8 of the edges

// Packed by backends/cuda/graph/bfs_multi.py in this order.
template <class P> struct MultiParentsArguments {          // every field has 8 bytes
  const P* start; const int32_t* near; const word* tasks; int64_t task_count;   // in-edges (pull), out-edges (push)
  const int32_t* order;                                    // the vertex at each position
  int64_t n, live, entries;
  const word *visited, *levels;                            // of bfs_multi
  const int64_t* record;
  int64_t record_levels;
  word* done;                                              // pull only
  int32_t* parents;
};

struct Digits { ulonglong2 low, high; };                   // four binary digits of 64 sources
GRB_DEVICE Digits digits_of(const word* levels, int64_t at) {
  const ulonglong2* counter = reinterpret_cast<const ulonglong2*>(levels) + 2 * at;
  return Digits{counter[0], counter[1]};
}
// Remove sources from `same` where the digit of u differs from the one of v minus the borrow.
GRB_DEVICE void compare(word& same, word& borrow, word v, word u) {
  same &= ~(v ^ borrow ^ u);
  borrow &= ~v;
}
GRB_DEVICE void compare(word& same, word& borrow, const Digits& v, const Digits& u) {
  compare(same, borrow, v.low.x, u.low.x);
  compare(same, borrow, v.low.y, u.low.y);
  compare(same, borrow, v.high.x, u.high.x);
  compare(same, borrow, v.high.y, u.high.y);
}

struct MiddleLevels { int64_t first, end; };               // from the first level that is not light to the last
// The block calls together.
GRB_DEVICE MiddleLevels middle_levels(const int64_t* record, int64_t record_levels, int64_t entries) {
  __shared__ int first, end;
  if (threadIdx.x == 0) first = 1 << 30, end = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < record[1] && k < record_levels; k += blockDim.x)
    if (record[RECORD_HEAD + 4 * k + 2] * LIGHT_SHARE >= entries) atomicMin(&first, k), atomicMax(&end, k + 1);
  __syncthreads();
  return MiddleLevels{first, end};
}

// The bit-sliced level counters: four digits of level + 1 for each vertex, further groups of four n vertices on.
struct LevelCounts {
  const word* levels;
  int64_t n;
  int groups;
  GRB_DEVICE LevelCounts(const word* levels, int64_t n, const int64_t* record) : levels(levels), n(n), groups(1) {
    while (record[1] + 1 >> 4 * groups) groups++;
  }
  GRB_DEVICE Digits digits(int64_t v) const { return digits_of(levels, v); }
  // Sources for which level + 1 of v is less than x.
  GRB_DEVICE word below(int64_t v, const Digits& mine, int64_t x) const {
    if (x >> 4 * groups) return ~word(0);
    word less = 0;
    auto digit = [&](word own, int64_t bit) { less = x >> bit & 1 ? ~own | less : ~own & less; };
    for (int g = 0; g < groups; g++) {
      const Digits d = g ? digits(g * n + v) : mine;
      digit(d.low.x, 4 * g), digit(d.low.y, 4 * g + 1), digit(d.high.x, 4 * g + 2), digit(d.high.y, 4 * g + 3);
    }
    return less;
  }
  // Sources for which the level of v lies `above` levels above a middle one.
  GRB_DEVICE word within(int64_t v, const Digits& mine, const MiddleLevels& middle, int64_t above) const {
    if (middle.first >= middle.end) return 0;
    return below(v, mine, middle.end + 1 + above) & ~below(v, mine, middle.first + 1 + above);
  }
  // The sources of `some` that reached u one level before v.
  GRB_DEVICE word follow(int64_t v, const Digits& of_v, int64_t u, const Digits& of_u, word some) const {
    word borrow = ~word(0);
    compare(some, borrow, of_v, of_u);
    for (int64_t g = 1; g < groups && some; g++) compare(some, borrow, digits(g * n + v), digits(g * n + u));
    return some & ~borrow;
  }
  // The sources of `bits` that start at v (level + 1 = 1).
  GRB_DEVICE word origins(int64_t v, const Digits& mine, word bits) const {
    bits &= mine.low.x & ~(mine.low.y | mine.high.x | mine.high.y);
    for (int64_t g = 1; g < groups && bits; g++) {
      Digits more = digits(g * n + v);
      bits &= ~(more.low.x | more.low.y | more.high.x | more.high.y);
    }
    return bits;
  }
};

// Shared memory: 65 ints a thread, a line of 64 parents for each vertex that a lane works on.
template <class P> __global__ void bfs_multi_parents_pull(MultiParentsArguments<P> a) {
  extern __shared__ int32_t lines[];
  const int lane = lane_number();
  int32_t* mine_of_warp = lines + (threadIdx.x >> 5) * 32 * 65;
  const LevelCounts counts(a.levels, a.n, a.record);
  const MiddleLevels middle = middle_levels(a.record, a.record_levels, a.entries);
  auto write = [&](int32_t* line, int u, word bits) {
    if (bits) u = a.order[u];
    for (; bits; bits &= bits - 1) line[lowest(bits)] = u;
  };
  // Reads four neighbours; returns the sources still without a parent.
  auto look = [&](int32_t* line, int64_t v, const Digits& mine, P i, word missing) {
    const int4 d = *reinterpret_cast<const int4*>(a.near + i);
    const int u[4] = {d.x, d.y, d.z, d.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const word hits = missing ? counts.follow(v, mine, u[k], counts.digits(u[k]), missing) : 0;
      write(line, u[k], hits);
      missing &= ~hits;
    }
    return missing;
  };
  auto pull_long_rows = [&] {
    for_each_segment<P, 4>(
      a.tasks, a.task_count, unsigned(warp_number()), unsigned(warp_count()),
      [&](int v, P& i, P& end) { i = a.start[v], end = a.start[v + 1]; },
      [&](int v) { return a.visited[v] & ~load_l2(a.done + v); },
      [&](int v, bool is_later, word missing, P i, P end, int lanes) {
        if (is_later && missing) missing &= ~load_l2(a.done + v);
        missing = shuffle(missing, lane & ~(lanes - 1));   // lanes may have read at different times
        Digits mine = counts.digits(v);
        missing &= counts.within(v, mine, middle, 1);
        int32_t* line = mine_of_warp + (lane & ~(lanes - 1)) * 65;
        const word before = missing;
        while (__any_sync(ALL_LANES, i < end && missing)) {
          if (i < end && missing) missing = look(line, v, mine, i, missing);
          i += 4 * lanes;
          for (int by = 1; by < lanes; by <<= 1) missing &= __shfl_xor_sync(ALL_LANES, missing, by);
        }
        __syncwarp();
        const word found = before & ~missing;
        for (int s = lane & (lanes - 1); s < 64; s += lanes)
          if (found >> s & 1) a.parents[int64_t(v) * 64 + s] = line[s];
        if (found && (lane & (lanes - 1)) == 0) atomicOr(&a.done[v], found);
      });
  };
  // A lane for each vertex: sources at it, and all of a short row; whole lines are written by the warp.
  auto pull_short_rows = [&] {
    GRB_EACH_WARP(group, (a.n + 31) >> 5) {
      const int64_t v = group * 32 + lane;
      word missing = v < a.n ? a.visited[v] : 0;
      int32_t* line = mine_of_warp + lane * 65;
      P i = v < a.live ? a.start[v] : P(0), end = v < a.live ? a.start[v + 1] : P(0);
      const bool whole = end - i <= SHORT_ROW;
      word own = 0;
      if (missing) {
        Digits mine = counts.digits(v);
        own = counts.origins(v, mine, missing);
        write(line, int(v), own);
        missing &= counts.within(v, mine, middle, 1);
        if (whole)
          for (; i < end && missing; i += 4) missing = look(line, v, mine, i, missing);
        if (!whole)
          for (word bits = own; bits; bits &= bits - 1) a.parents[v * 64 + lowest(bits)] = line[lowest(bits)];
      }
      __syncwarp();
      for_each_lane(whole && v < a.n && a.visited[v] != 0, [&](int k) {
        a.parents[(group * 32 + k) * 64 + lane] = mine_of_warp[k * 65 + lane];
        a.parents[(group * 32 + k) * 64 + lane + 32] = mine_of_warp[k * 65 + lane + 32];
      });
      __syncwarp();
    }
  };
  pull_long_rows();
  pull_short_rows();
}

// After the pull, which writes whole lines.
template <class P> __global__ void bfs_multi_parents_push(MultiParentsArguments<P> a) {
  const LevelCounts counts(a.levels, a.n, a.record);
  const MiddleLevels middle = middle_levels(a.record, a.record_levels, a.entries);
  auto bits_of = [&](int64_t u) {              // sources for which u is in a light level
    const word some = a.visited[u];
    return some ? some & ~counts.within(u, counts.digits(u), middle, 0) : 0;
  };
  auto visit = [&](int u, const Digits& mine, word bits, int v) {
    for (word hits = counts.follow(v, counts.digits(v), u, mine, bits); hits; hits &= hits - 1)
      a.parents[int64_t(v) * 64 + lowest(hits)] = a.order[u];
  };
  auto visit_four = [&](int u, const Digits& mine, word bits, P i) {
    const int4 d = load_four(a.near + i);
    visit(u, mine, bits, d.x), visit(u, mine, bits, d.y), visit(u, mine, bits, d.z), visit(u, mine, bits, d.w);
  };
  for_each_segment<P, 4>(a.tasks, a.task_count, unsigned(warp_number()), unsigned(warp_count()),
                         [&](int u, P& i, P& end) { i = a.start[u], end = a.start[u + 1]; }, bits_of,
                         [&](int u, bool, word bits, P i, P end, int lanes) {
                           const Digits mine = counts.digits(u);
                           for (; i < end; i += 4 * lanes) visit_four(u, mine, bits, i);
                         });
  GRB_EACH(u, a.live) {
    P i = a.start[u], end = a.start[u + 1];
    const word bits = i < end && end - i <= SHORT_ROW ? bits_of(u) : 0;
    if (!bits) continue;
    const Digits mine = counts.digits(u);
    for (; i < end; i += 4) visit_four(int(u), mine, bits, i);
  }
}

}  // namespace grb
