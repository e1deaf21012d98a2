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
  const int lane = lane_number();
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
  auto write = [&](int64_t v, int u, word bits) {
    for (; bits; bits &= bits - 1) parents[v * 64 + lowest(bits)] = order[u];
  };
  // Four neighbours; what is still missing.
  auto look = [&](int64_t v, const Digits& mine, P i, word missing) {
    const int4 d = *reinterpret_cast<const int4*>(near + i);
    const int u[4] = {d.x, d.y, d.z, d.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
      word hits = missing && seen[u[k]] & missing ? reached_before(v, mine, u[k], missing & seen[u[k]]) : 0;
      write(v, u[k], hits);
      missing &= ~hits;
    }
    return missing;
  };
  each_piece(tasks, count, start, unsigned(warp_number()), unsigned(warp_count()), [&](int v) { return seen[v] & ~fresh(done + v); },
             [&](int v, bool later, word missing, P i, P end, int lanes) {
               if (later && missing) missing &= ~fresh(done + v);
               Digits mine = digits_of(cells, v);
               missing &= ~sources_at(v, mine, missing);
               word before = missing;
               while (__any_sync(ALL_LANES, i < end && missing)) {
                 if (i < end && missing) missing = look(v, mine, i, missing);
                 i += 4 * lanes;
                 for (int by = 1; by < lanes; by <<= 1) missing &= __shfl_xor_sync(ALL_LANES, missing, by);
               }
               if (before != missing && (lane & (lanes - 1)) == 0) atomicOr(&done[v], before & ~missing);
             });
  GRB_EACH(v, n) {
    word missing = seen[v];
    if (!missing) continue;
    Digits mine = digits_of(cells, v);
    word own = sources_at(v, mine, missing);
    write(v, int(v), own);
    missing &= ~own;
    if (v >= live) continue;
    P i = start[v], end = start[v + 1];
    if (end - i <= SHORT_ROW)
      for (; i < end && missing; i += 4) missing = look(v, mine, i, missing);
  }
}

}  // namespace grb
