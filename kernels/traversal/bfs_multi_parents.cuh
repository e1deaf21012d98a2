// Parents for many traversals, from their levels: some in-neighbour one level up, found for all sources of a word at once.
//
// Result: parents[p * 64 + s] where bit s of seen[p] is set: a vertex, the source itself for a source.
// Who calls: backends/cuda/traversal/bfs_multi.py, after many_levels (traversal/bfs_multi.cuh): many_parents, then pushed_parents.  Levels
// are compared in binary, a word of 64 sources a digit; cells of vertices that nobody reached are zero.
// many_parents looks along in-edges for parents of the middle levels, which have many edges, so that one is met soon; several
// lanes a piece of a long row, a lane a short row; both stop when nothing is missing.  Levels before and after have few edges:
// pushed_parents goes along the out-edges of their vertices and lets whoever they lead to know.
// done: zeros, a word a vertex: what the pieces of a long row have found.
#pragma once
#include "traversal/bfs_multi.cuh"

namespace grb {

struct Digits { ulonglong2 low, high; };
GRB_DEVICE Digits digits_of(const word* cells, int64_t place) {
  const ulonglong2* cell = reinterpret_cast<const ulonglong2*>(cells) + 2 * place;
  return Digits{cell[0], cell[1]};
}
// Take sources out of `same` where the digit of u is not the one of v minus the borrow.
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

constexpr int LIGHT_SHARE = 8;             // a level is pushed where it has fewer than 1/8 of the edges
struct Middle { int64_t first, end; };     // levels from the first on that has more, to the last

// The block calls together.
GRB_DEVICE Middle middle_levels(const int64_t* record, int64_t log_rows, int64_t entries) {
  __shared__ int first, end;
  if (threadIdx.x == 0) first = 1 << 30, end = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < record[1] && k < log_rows; k += blockDim.x)
    if (record[HEAD_ROWS + 4 * k + 2] * LIGHT_SHARE >= entries) atomicMin(&first, k), atomicMax(&end, k + 1);
  __syncthreads();
  return Middle{first, end};
}

// What a vertex has: its digits of level + 1, more groups of them in memory.
struct Levels {
  const word* cells;
  int64_t n;
  int groups;
  GRB_DEVICE Levels(const word* cells, int64_t n, const int64_t* record) : cells(cells), n(n), groups(1) {
    while (record[1] + 1 >> 4 * groups) groups++;
  }
  // Sources for which level + 1 of v is less than x.
  GRB_DEVICE word below(int64_t v, const Digits& mine, int64_t x) const {
    if (x >> 4 * groups) return ~word(0);
    word less = 0;
    auto digit = [&](word own, int64_t bit) { less = x >> bit & 1 ? ~own | less : ~own & less; };
    for (int g = 0; g < groups; g++) {
      const Digits d = g ? digits_of(cells, g * n + v) : mine;
      digit(d.low.x, 4 * g), digit(d.low.y, 4 * g + 1), digit(d.high.x, 4 * g + 2), digit(d.high.y, 4 * g + 3);
    }
    return less;
  }
  // Sources for which the level of v lies in the middle.
  GRB_DEVICE word within(int64_t v, const Digits& mine, const Middle& middle, int64_t above) const {
    if (middle.first >= middle.end) return 0;
    return below(v, mine, middle.end + 1 + above) & ~below(v, mine, middle.first + 1 + above);
  }
  // The sources among `some` that reached u one level before v.
  GRB_DEVICE word follow(int64_t v, const Digits& of_v, int64_t u, const Digits& of_u, word some) const {
    word borrow = ~word(0);
    compare(some, borrow, of_v, of_u);
    for (int64_t g = 1; g < groups && some; g++) compare(some, borrow, digits_of(cells, g * n + v), digits_of(cells, g * n + u));
    return some & ~borrow;
  }
};

template <class P>
__global__ void many_parents(const P* start, const int32_t* near, const word* tasks, int64_t count, const int32_t* order,
                             int64_t n, int64_t live, int64_t entries, const word* seen, const word* cells, const int64_t* record,
                             int64_t log_rows, word* done, int32_t* parents) {
  extern __shared__ int32_t lines[];
  const int lane = lane_number();
  int32_t* mine_of_warp = lines + (threadIdx.x >> 5) * 32 * 65;
  const Levels levels(cells, n, record);
  const Middle middle = middle_levels(record, log_rows, entries);
  const int groups = levels.groups;
  auto sources_at = [&](int64_t v, const Digits& mine, word bits) {
    bits &= mine.low.x & ~(mine.low.y | mine.high.x | mine.high.y);
    for (int64_t g = 1; g < groups && bits; g++) {
      Digits more = digits_of(cells, g * n + v);
      bits &= ~(more.low.x | more.low.y | more.high.x | more.high.y);
    }
    return bits;
  };
  auto write = [&](int32_t* line, int u, word bits) {
    if (bits) u = order[u];
    for (; bits; bits &= bits - 1) line[lowest(bits)] = u;
  };
  // Four neighbours; what is still missing.
  auto look = [&](int32_t* line, int64_t v, const Digits& mine, P i, word missing) {
    const int4 d = *reinterpret_cast<const int4*>(near + i);
    const int u[4] = {d.x, d.y, d.z, d.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      const word hits = missing ? levels.follow(v, mine, u[k], digits_of(cells, u[k]), missing) : 0;
      write(line, u[k], hits);
      missing &= ~hits;
    }
    return missing;
  };
  each_piece<P, 4>(tasks, count, unsigned(warp_number()), unsigned(warp_count()),
             [&](int v, P& i, P& end) { i = start[v], end = start[v + 1]; }, [&](int v) { return seen[v] & ~fresh(done + v); },
             [&](int v, bool later, word missing, P i, P end, int lanes) {
               if (later && missing) missing &= ~fresh(done + v);
               missing = shuffle(missing, lane & ~(lanes - 1));               // lanes may have read at different times
               Digits mine = digits_of(cells, v);
               missing &= levels.within(v, mine, middle, 1);
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
                 if (found >> s & 1) parents[int64_t(v) * 64 + s] = line[s];
               if (found && (lane & (lanes - 1)) == 0) atomicOr(&done[v], found);
             });
  GRB_EACH_WARP(group, (n + 31) >> 5) {
    const int64_t v = group * 32 + lane;
    word missing = v < n ? seen[v] : 0;
    int32_t* line = mine_of_warp + lane * 65;
    P i = v < live ? start[v] : P(0), end = v < live ? start[v + 1] : P(0);
    const bool whole = end - i <= SHORT_ROW;
    word own = 0;
    if (missing) {
      Digits mine = digits_of(cells, v);
      own = sources_at(v, mine, missing);
      write(line, int(v), own);
      missing &= levels.within(v, mine, middle, 1);
      if (whole)
        for (; i < end && missing; i += 4) missing = look(line, v, mine, i, missing);
      if (!whole)
        for (word bits = own; bits; bits &= bits - 1) parents[v * 64 + lowest(bits)] = line[lowest(bits)];
    }
    __syncwarp();
    unsigned rows = __ballot_sync(ALL_LANES, whole && v < n && seen[v] != 0);
    for (; rows; rows &= rows - 1) {
      int k = __ffs(int(rows)) - 1;
      parents[(group * 32 + k) * 64 + lane] = mine_of_warp[k * 65 + lane];
      parents[(group * 32 + k) * 64 + lane + 32] = mine_of_warp[k * 65 + lane + 32];
    }
    __syncwarp();
  }
}

// After many_parents, which writes whole lines.  Out-edges.
template <class P>
__global__ void pushed_parents(const P* start, const int32_t* near, const word* tasks, int64_t count, const int32_t* order,
                               int64_t n, int64_t live, int64_t entries, const word* seen, const word* cells,
                               const int64_t* record, int64_t log_rows, int32_t* parents) {
  const Levels levels(cells, n, record);
  const Middle middle = middle_levels(record, log_rows, entries);
  auto bits_of = [&](int64_t u) {
    const word some = seen[u];
    return some ? some & ~levels.within(u, digits_of(cells, u), middle, 0) : 0;
  };
  auto tell = [&](int u, const Digits& mine, word bits, int v) {
    for (word hits = levels.follow(v, digits_of(cells, v), u, mine, bits); hits; hits &= hits - 1)
      parents[int64_t(v) * 64 + lowest(hits)] = order[u];
  };
  auto tell_four = [&](int u, const Digits& mine, word bits, P i) {
    const int4 d = four(near + i);
    tell(u, mine, bits, d.x), tell(u, mine, bits, d.y), tell(u, mine, bits, d.z), tell(u, mine, bits, d.w);
  };
  each_piece<P, 4>(tasks, count, unsigned(warp_number()), unsigned(warp_count()),
                   [&](int u, P& i, P& end) { i = start[u], end = start[u + 1]; }, bits_of,
                   [&](int u, bool, word bits, P i, P end, int lanes) {
                     const Digits mine = digits_of(cells, u);
                     for (; i < end; i += 4 * lanes) tell_four(u, mine, bits, i);
                   });
  GRB_EACH(u, live) {
    P i = start[u], end = start[u + 1];
    const word bits = i < end && end - i <= SHORT_ROW ? bits_of(u) : 0;
    if (!bits) continue;
    const Digits mine = digits_of(cells, u);
    for (; i < end; i += 4) tell_four(int(u), mine, bits, i);
  }
}

}  // namespace grb
