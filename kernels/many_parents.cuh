// Parents for many traversals, from their levels: some in-neighbour one level up, found for all sources of a word at once.
//
// Result: parents[p * 64 + s] where bit s of seen[p] is set: a vertex, the source itself for a source.
// Who calls: backends/cuda/traverse_many.py, after many_levels (traverse_many.cuh).  Levels are compared in binary, a word of
// 64 sources a digit.  Threads: several lanes a piece of a long row, a lane a short row; both stop when nothing is missing.
// done: zeros, a word a vertex: what the pieces of a long row have found.
#pragma once
#include "traverse_many.cuh"

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

template <class P>
__global__ void many_parents(const P* start, const int32_t* near, const word* tasks, int64_t count, const int32_t* order,
                             int64_t n, int64_t live, const word* seen, const word* cells, const int64_t* record,
                             word* done, int32_t* parents) {
  extern __shared__ int32_t lines[];
  const int lane = lane_number();
  int32_t* mine_of_warp = lines + (threadIdx.x >> 5) * 32 * 65;
  int groups = 1;
  while (record[1] + 1 >> 4 * groups) groups++;
  // The sources among `missing` that reached u one level before v.
  auto reached_before = [&](int64_t v, const Digits& mine, int u, word missing) {
    word borrow = ~word(0);
    compare(missing, borrow, mine, digits_of(cells, u));
    for (int64_t g = 1; g < groups && missing; g++)
      compare(missing, borrow, digits_of(cells, g * n + v), digits_of(cells, g * n + u));
    return missing;
  };
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
      word hits = missing ? missing & seen[u[k]] : 0;
      if (hits) hits = reached_before(v, mine, u[k], hits);
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
               missing &= ~sources_at(v, mine, missing);
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
      missing &= ~own;
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

}  // namespace grb
