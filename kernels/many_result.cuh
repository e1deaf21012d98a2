// The matrices of many traversals: a row for each source, made of the cells that many_levels left (traverse_many.cuh).
//
// Result: rows of (vertex, level) and (vertex, parent), vertices ascending.  Who calls: backends/cuda/traverse_many.py:
// many_counts, running sums of the counts, many_rows.  Threads: many_rows takes `size` vertices a block, each warp a source in
// turn: what a warp writes is one stretch of a row, so that no part of a cache line waits for its neighbours.
#pragma once
#include "bits.cuh"
#include "traverse_state.cuh"
#include "warp.cuh"

namespace grb {

// counts[s * chunks + c]: vertices of chunk c (`size` of them, a multiple of 256) that source s reached.  A warp for each chunk.
template <class C>
__global__ void many_counts(const word* seen, const int32_t* place, int64_t n, int64_t size, int64_t chunks, int64_t count,
                            C* counts) {
  constexpr int TURN = 8;
  const int lane = lane_number();
  GRB_EACH_WARP(c, chunks) {
    int mine[2] = {0, 0};
    for (int64_t v0 = c * size; v0 < c * size + size && v0 < n; v0 += TURN * 32) {
      word words[TURN];
#pragma unroll
      for (int k = 0; k < TURN; k++) words[k] = v0 + k * 32 + lane < n ? seen[place[v0 + k * 32 + lane]] : 0;
#pragma unroll
      for (int k = 0; k < TURN; k++) {
        unsigned there = __ballot_sync(ALL_LANES, words[k] != 0);
        word common = there ? shuffle(words[k], __ffs(int(there)) - 1) : 0;
        if (__all_sync(ALL_LANES, words[k] == 0 || words[k] == common)) {       // most often all sources reached the same
          mine[0] += common >> lane & 1 ? __popc(there) : 0;
          mine[1] += common >> (lane + 32) & 1 ? __popc(there) : 0;
        } else {
          for (int s = 0; s < 64; s++) {
            int here = __popc(__ballot_sync(ALL_LANES, words[k] >> s & 1));
            if (lane == (s & 31)) mine[s >> 5] += here;
          }
        }
      }
    }
    if (lane < count) counts[lane * chunks + c] = mine[0];
    if (lane + 32 < count) counts[(lane + 32) * chunks + c] = mine[1];
  }
}

// The lowest eight bits of x, four places apart.
GRB_DEVICE unsigned spread(unsigned x) {
  x = (x | x << 12) & 0x000f000fu;
  x = (x | x << 6) & 0x03030303u;
  return (x | x << 3) & 0x11111111u;
}

// ends: running sums of the counts.  record[1]: the last level.  levels: null where not wanted; parents_of: 64 a vertex
// (many_parents.cuh).  size: at most 1024, a multiple of the block.  Shared memory, in ints: 10 size, with parents 75 size.
template <class C, bool PARENTS>
__global__ void __launch_bounds__(256)
many_rows(const word* seen, const word* cells, const int32_t* place, int64_t n, int64_t size, int64_t chunks, int64_t count,
          const C* ends, const int64_t* record, const int32_t* parents_of, int64_t* indptr, int32_t* indices,
          int32_t* levels, int64_t* parents) {
  extern __shared__ int32_t lists[];
  __shared__ int first[33], mixed;             // where the vertices of each 32 begin; did not the same sources reach all?
  __shared__ word common;
  const int step = int(size);
  int32_t *vertex = lists, *where = vertex + step, *digits = where + step, *turned = digits + 8 * step;
  const int lane = lane_number(), warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  const bool deep = record[1] + 1 >= 16;
  GRB_EACH(s, count + 1) indptr[s] = s > 0 ? int64_t(ends[s * chunks - 1]) : 0;
  for (int64_t c = blockIdx.x; c < chunks; c += gridDim.x) {
    for (int k = threadIdx.x; k < size; k += blockDim.x) {
      int64_t v = c * size + k;
      unsigned there = __ballot_sync(ALL_LANES, v < n && seen[place[v]] != 0);
      if (lane == 0) first[k >> 5] = __popc(there);
    }
    __syncthreads();
    if (warp == 0) {
      int mine = lane < size >> 5 ? first[lane] : 0, sum = warp_scan(mine, [](int a, int b) { return a + b; });
      first[lane] = sum - mine;
      if (lane == 31) first[32] = sum;
    }
    __syncthreads();
    const int held = first[32];
    for (int k = threadIdx.x; k < size; k += blockDim.x) {
      int64_t v = c * size + k;
      int p = v < n ? place[v] : 0;
      bool take = v < n && seen[p] != 0;
      unsigned there = __ballot_sync(ALL_LANES, take);
      if (!take) continue;
      int at = first[k >> 5] + __popc(there & lanes_below());
      const ulonglong2* cell = reinterpret_cast<const ulonglong2*>(cells) + 2 * int64_t(p);
      const ulonglong2 low = cell[0], high = cell[1];
      vertex[at] = int32_t(v);
      where[at] = p;
      if (at == 0) common = seen[p], mixed = 0;
      const word w[4] = {low.x, low.y, high.x, high.y};
#pragma unroll
      for (int e = 0; e < 8; e++) {            // four digits of eight sources in an int
        unsigned mine = 0;
#pragma unroll
        for (int d = 0; d < 4; d++) mine |= spread(unsigned(w[d] >> 8 * e) & 255) << d;
        digits[e * step + at] = int(mine);
      }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < held; k += blockDim.x)
      if (seen[where[k]] != common) mixed = 1;
    if (PARENTS)
      for (int k = warp; k < held; k += warps) {
        const int32_t* line = parents_of + int64_t(where[k]) * 64;
        turned[k * 65 + lane] = line[lane];
        turned[k * 65 + lane + 32] = line[lane + 32];
      }
    __syncthreads();
    for (int s = warp; s < count; s += warps) {
      int64_t at = s * chunks + c;
      at = at > 0 ? int64_t(ends[at - 1]) : 0;
      const int32_t* digit = digits + (s >> 3) * step;
      const int shift = 4 * (s & 7);
      auto level_of = [&](int k) {             // level + 1; 0 where s did not come
        int level = digit[k] >> shift & 15;
        if (deep) {
          int64_t p = where[k];
          for (int g = 1; record[1] + 1 >> 4 * g; g++)
            for (int d = 0; d < 4; d++) level |= int(cells[(g * n + p) * 4 + d] >> s & 1) << (4 * g + d);
          if (!(seen[p] >> s & 1)) level = 0;
        }
        return level;
      };
      auto write = [&](int64_t to, int k, int level) {
        indices[to] = vertex[k];
        if (levels) levels[to] = level - 1;
        if (PARENTS) parents[to] = turned[k * 65 + s];
      };
      if (held && !mixed) {                    // most often; whole cache lines then
        if (!(common >> s & 1)) continue;
        int32_t *to = indices + at, *level_to = levels + at;
        const int begin = lane - int(at & 31);
        if (PARENTS || deep || levels == nullptr) {
          for (int k = begin; k < held; k += 32)
            if (k >= 0) write(at + k, k, level_of(k));
        } else {
#pragma unroll 4
          for (int k = begin; k < held; k += 32)
            if (k >= 0) {
              to[k] = vertex[k];
              level_to[k] = (digit[k] >> shift & 15) - 1;
            }
        }
        continue;
      }
      for (int k0 = 0; k0 < held; k0 += 32) {
        const int k = k0 + lane, level = k < held ? level_of(k) : 0;
        unsigned row = __ballot_sync(ALL_LANES, level != 0);
        if (level) write(at + __popc(row & lanes_below()), k, level);
        at += __popc(row);
      }
    }
    __syncthreads();
  }
}

}  // namespace grb
