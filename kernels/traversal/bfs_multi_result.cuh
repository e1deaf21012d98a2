// The matrices of many traversals: a row for each source, made of the cells that many_levels left (traversal/bfs_multi.cuh).
//
// Result: rows of (vertex, level) and (vertex, parent), vertices ascending.  Who calls: backends/cuda/traversal/bfs_multi.py.
// Launch cooperatively.  Chunks of `size` vertices go round among the blocks.  These count what each source reached in theirs and
// wait; sums of the counts, a warp a source, say where a chunk's stretches of the rows begin; all wait again.  Then a chunk's
// digits go to shared memory, and a team of warps writes for a source at a time.  Long stretches, few at a time, and all blocks
// near each other: the memory takes 4-byte stores at 2.5 TB/s from stretches of 320, at 3.2 from 5000.
#pragma once
#include "base/bits.cuh"
#include "traversal/state.cuh"
#include "base/warp.cuh"

namespace grb {

// The lowest eight bits of x, four places apart.
GRB_DEVICE unsigned spread(unsigned x) {
  x = (x | x << 12) & 0x000f000fu;
  x = (x | x << 6) & 0x03030303u;
  return (x | x << 3) & 0x11111111u;
}

constexpr int TEAM = 8;                    // warps that write for one source

// The word that all lanes hold which hold any, 0 for none; `same`: is there but one?
GRB_DEVICE word common_of(word mine, unsigned there, bool& same) {
  const word common = there ? shuffle(mine, __ffs(int(there)) - 1) : 0;
  same = __all_sync(ALL_LANES, mine == 0 || mine == common);
  return common;
}

// record[1]: the last level.  levels: null where not wanted; parents_of: 64 a vertex (traversal/bfs_multi_parents.cuh).  counts: `count` for each
// chunk, totals: 64.  counters: many_levels' ManyControl, of which arrivals and departures are zero before and after.
// size: at most PER_THREAD a thread.  Shared memory, in ints: 10 size, with parents 75.  The block is a multiple of 64.
template <bool PARENTS>
__global__ void __launch_bounds__(1024)
many_rows(const word* seen, const word* cells, const int32_t* place, int64_t n, int64_t size, int64_t count, const int64_t* record,
          const int32_t* parents_of, int32_t* counts, int32_t* totals, void* counters, int64_t* indptr, int32_t* indices,
          int32_t* levels, int64_t* parents) {
  constexpr int PER_THREAD = PARENTS ? 1 : 4, TURN = 8;
  extern __shared__ int32_t lists[];
  __shared__ word row_at[64];                  // where each source's row begins
  __shared__ word words[PER_THREAD][32];       // of each warp's vertices: the common word,
  __shared__ int reached[PER_THREAD][32];      // how many have one; -1 - that where they differ
  __shared__ int tally[64];
  const int lane = lane_number(), warp = threadIdx.x >> 5, warps = blockDim.x >> 5, me = threadIdx.x, block = blockDim.x;
  int32_t *vertex = lists, *where = vertex + size, *digits = where + size, *turned = digits + 8 * size;
  const int64_t chunks = (n + size - 1) / size;
  const int last = int(record[1]) + 1;
  const bool deep = last >= 16;
  unsigned *arrivals = static_cast<unsigned*>(counters), goal = 0;
  int p[PER_THREAD];
  word have[PER_THREAD];
  auto load = [&](int64_t c) {
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      const int k = j * block + me;
      p[j] = k < size && c * size + k < n ? place[c * size + k] : -1;
    }
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) have[j] = p[j] >= 0 ? seen[p[j]] : 0;
  };

  // How many vertices of each chunk each source reached.
  for (int64_t c = blockIdx.x; c < chunks; c += gridDim.x) {
    if (me < 64) tally[me] = 0;
    __syncthreads();
    load(c);
    int mine[2] = {0, 0};
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      const unsigned there = __ballot_sync(ALL_LANES, have[j] != 0);
      bool same;
      const word common = common_of(have[j], there, same);
      if (same) {                              // most often all sources reached the same
        mine[0] += common >> lane & 1 ? __popc(there) : 0;
        mine[1] += common >> (lane + 32) & 1 ? __popc(there) : 0;
      } else {
        for (int s = 0; s < 64; s++) {
          int here = __popc(__ballot_sync(ALL_LANES, have[j] >> s & 1));
          if (lane == (s & 31)) mine[s >> 5] += here;
        }
      }
    }
    if (mine[0]) atomicAdd(&tally[lane], mine[0]);
    if (mine[1]) atomicAdd(&tally[lane + 32], mine[1]);
    __syncthreads();
    if (me < count) counts[me * chunks + c] = tally[me];
    __syncthreads();
  }
  level_barrier(arrivals, goal);

  // Where each chunk's stretches begin within the row.
  auto add = [](int a, int b) { return a + b; };
  for (int64_t s = int64_t(warp) * gridDim.x + blockIdx.x; s < count; s += warp_count()) {
    int before = 0;
    int32_t* row = counts + s * chunks;
    for (int64_t c0 = 0; c0 < chunks; c0 += TURN * 32) {
      int held[TURN];
#pragma unroll
      for (int k = 0; k < TURN; k++) held[k] = c0 + k * 32 + lane < chunks ? fresh(row + c0 + k * 32 + lane) : 0;
#pragma unroll
      for (int k = 0; k < TURN; k++) {
        const int sum = warp_scan(held[k], add);
        if (c0 + k * 32 + lane < chunks) row[c0 + k * 32 + lane] = before + sum - held[k];
        before += __shfl_sync(ALL_LANES, sum, 31);
      }
    }
    if (lane == 0) totals[s] = before;
  }
  level_barrier(arrivals, goal);
  if (warp == 0) {
    const word one = 2 * lane < count ? word(fresh(totals + 2 * lane)) : 0;
    const word two = one + (2 * lane + 1 < count ? word(fresh(totals + 2 * lane + 1)) : 0);
    const word sum = warp_scan(two, [](word a, word b) { return a + b; }), at = sum - two;
    row_at[2 * lane] = at;
    row_at[2 * lane + 1] = at + one;
    if (blockIdx.x == 0) {
      if (2 * lane < count) indptr[2 * lane + 1] = int64_t(at + one);
      if (2 * lane + 1 < count) indptr[2 * lane + 2] = int64_t(sum);
      if (lane == 0) indptr[0] = 0;
    }
  }

  for (int64_t c = blockIdx.x; c < chunks; c += gridDim.x) {
    load(c);
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      const unsigned there = __ballot_sync(ALL_LANES, have[j] != 0);
      bool same;
      const word common = common_of(have[j], there, same);
      if (lane == 0) words[j][warp] = common, reached[j][warp] = same ? __popc(there) : -1 - __popc(there);
    }
    __syncthreads();
    // Where each warp's vertices go in the chunk's lists, and whether the same sources reached all.
    int held = 0, first[PER_THREAD];
    bool mixed = false;
    word common = 0;
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      int of_warp = lane < warps ? reached[j][lane] : 0;
      mixed = mixed || of_warp < 0;
      of_warp = of_warp < 0 ? -1 - of_warp : of_warp;
      bool same;
      const word here = common_of(of_warp ? words[j][lane] : 0, __ballot_sync(ALL_LANES, of_warp != 0), same);
      mixed = mixed || !same || (here && common && here != common);
      common = here ? here : common;
      const int sum = warp_scan(of_warp, add);
      first[j] = held + __shfl_sync(ALL_LANES, sum - of_warp, warp);
      held += __shfl_sync(ALL_LANES, sum, 31);
    }
    mixed = __any_sync(ALL_LANES, mixed);
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      const unsigned there = __ballot_sync(ALL_LANES, have[j] != 0);
      if (!have[j]) continue;
      const ulonglong2* cell = reinterpret_cast<const ulonglong2*>(cells) + 2 * int64_t(p[j]);
      const ulonglong2 low = cell[0], high = cell[1];
      const int at = first[j] + __popc(there & lanes_below());
      vertex[at] = int32_t(c * size + j * block + me);
      where[at] = p[j];
      const word w[4] = {low.x, low.y, high.x, high.y};
#pragma unroll
      for (int e = 0; e < 8; e++) {            // four digits of eight sources in an int
        unsigned some = 0;
#pragma unroll
        for (int d = 0; d < 4; d++) some |= spread(unsigned(w[d] >> 8 * e) & 255) << d;
        digits[e * size + at] = int(some);
      }
    }
    __syncthreads();
    if (PARENTS) {
      for (int k = warp; k < held; k += warps) {
        const int32_t* line = parents_of + int64_t(where[k]) * 64;
        turned[k * 65 + lane] = line[lane];
        turned[k * 65 + lane + 32] = line[lane + 32];
      }
      __syncthreads();
    }
    const int team = !PARENTS && warps % TEAM == 0 ? TEAM : 1, member = warp % team;
    for (int s = warp / team; s < count; s += warps / team) {
      int64_t at = int64_t(row_at[s]) + counts[s * chunks + c];
      const int32_t* digit = digits + (s >> 3) * size;
      const int shift = 4 * (s & 7);
      auto level_of = [&](int k) {             // level + 1; 0 where s did not come
        int level = digit[k] >> shift & 15;
        if (deep) {
          const int64_t u = where[k];
          for (int g = 1; last >> 4 * g; g++)
            for (int d = 0; d < 4; d++) level |= int(cells[(g * n + u) * 4 + d] >> s & 1) << (4 * g + d);
          if (!(seen[u] >> s & 1)) level = 0;
        }
        return level;
      };
      auto write = [&](int64_t to, int k, int level) {
        indices[to] = vertex[k];
        if (levels) levels[to] = level - 1;
        if (PARENTS) parents[to] = turned[k * 65 + s];
      };
      if (!mixed) {                            // most often; whole cache lines then
        if (!(common >> s & 1)) continue;
        int32_t *to = indices + at, *level_to = levels + at;
        const int start = lane - int(at & 31) + 32 * member;
        if (PARENTS || deep || levels == nullptr) {
          for (int k = start; k < held; k += 32 * team)
            if (k >= 0) write(at + k, k, level_of(k));
        } else {
#pragma unroll 4
          for (int k = start; k < held; k += 32 * team)
            if (k >= 0) {
              to[k] = vertex[k];
              level_to[k] = (digit[k] >> shift & 15) - 1;
            }
        }
      } else if (member == 0) {
        for (int k0 = 0; k0 < held; k0 += 32) {
          const int k = k0 + lane, level = k < held ? level_of(k) : 0;
          const unsigned row = __ballot_sync(ALL_LANES, level != 0);
          if (level) write(at + __popc(row & lanes_below()), k, level);
          at += __popc(row);
        }
      }
    }
    __syncthreads();
  }
  if (me == 0) {
    __threadfence();
    if (atomicAdd(arrivals + 1, 1u) == gridDim.x - 1) arrivals[0] = arrivals[1] = 0;
  }
}

}  // namespace grb
