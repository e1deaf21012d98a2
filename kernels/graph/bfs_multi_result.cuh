// The result matrices of multi-source BFS: a row for each source, made of the bit-sliced level counters.
//
// Result: indptr, and rows of (vertex, level) and (vertex, parent) with vertices ascending.
// Who calls: backends/cuda/graph/bfs_multi.py, after bfs_multi (and bfs_multi_parents).
// Algorithm: transposition of bit-sliced counters into CSR: count, exclusive scan, write.
// Chunks of `size` vertices are dealt to the blocks in turn.  Phases, a grid-wide barrier after the first two:
//   count_chunk    how many vertices of each chunk each source reached
//   scan_counts    a warp for each source: exclusive sums over its chunks are the starts of the chunks' segments of its
//                  row
//   scan_rows      where each source's row begins
//   write_chunk    stage: the digits of a chunk's vertices go to shared memory; then a group of ROW_WARPS warps writes
//                  the segment of one source at a time
// Segments are long, few at a time, and all blocks write close to each other: memory takes 4-byte stores at 2.5 TB/s
//   from segments of 320, at 3.2 TB/s from segments of 5000 (H200).
// Launch: cooperative, a multiple of 64 threads; shared memory in ints: 10 size, with parents 75 size.
// Preconditions: the first two numbers of the control block (arrivals, departures) are zero, and are so afterwards.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

constexpr int ROW_WARPS = 8;               // warps that write for one source
constexpr int SCAN_LOADS = 8;              // counts that a lane loads together

// Packed by backends/cuda/graph/bfs_multi.py in this order.
struct MultiResultArguments {              // every field has 8 bytes
  const word *visited, *levels;            // of bfs_multi
  const int32_t* position;
  int64_t n, size, count;                  // vertices; vertices of a chunk; sources
  const int64_t* record;                   // of bfs_multi; record[1]: the last level
  const int32_t* parents_of;               // 64 for each vertex (bfs_multi_parents.cuh)
  int32_t *counts, *totals;                // `count` for each chunk; 64
  unsigned* control;
  int64_t* indptr;
  int32_t *indices, *level;                // level: null where not wanted
  int64_t* parents;
};

// The lowest eight bits of x, four places apart.
GRB_DEVICE unsigned spread(unsigned x) {
  x = (x | x << 12) & 0x000f000fu;
  x = (x | x << 6) & 0x03030303u;
  return (x | x << 3) & 0x11111111u;
}

// The word of the lanes `there`, 0 for none; same: all of them have this one.
GRB_DEVICE word common_of(word mine, unsigned there, bool& same) {
  const word common = there ? shuffle(mine, __ffs(int(there)) - 1) : 0;
  same = __all_sync(ALL_LANES, mine == 0 || mine == common);
  return common;
}

template <bool PARENTS> struct MultiResult {
  static constexpr int PER_THREAD = PARENTS ? 1 : 4;       // vertices of a chunk
  struct Block {                               // in shared memory
    word row_at[64];                           // where each source's row begins
    word words[PER_THREAD][32];                // of each warp's vertices: the common word,
    int reached[PER_THREAD][32];               // how many have one; -1 - that where they differ
    int tally[64];
  };
  const MultiResultArguments& a;
  Block& block;
  int32_t *vertex, *where, *digits, *parent_lines;         // shared memory: of the chunk's vertices that were reached
  int64_t chunks;
  int last;                                    // level + 1 of the last level
  int p[PER_THREAD];                           // this thread's vertices: position, sources that reached it
  word have[PER_THREAD];

  GRB_DEVICE void load(int64_t c) {
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      const int k = j * blockDim.x + threadIdx.x;
      p[j] = k < a.size && c * a.size + k < a.n ? a.position[c * a.size + k] : -1;
    }
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) have[j] = p[j] >= 0 ? a.visited[p[j]] : 0;
  }

  GRB_DEVICE void count_chunk(int64_t c) {
    const int lane = lane_number(), me = threadIdx.x;
    if (me < 64) block.tally[me] = 0;
    __syncthreads();
    load(c);
    int mine[2] = {0, 0};
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      const unsigned there = __ballot_sync(ALL_LANES, have[j] != 0);
      bool same;
      const word common = common_of(have[j], there, same);
      if (same) {                              // the usual case: the same sources reached all
        mine[0] += common >> lane & 1 ? __popc(there) : 0;
        mine[1] += common >> (lane + 32) & 1 ? __popc(there) : 0;
      } else {
        for (int s = 0; s < 64; s++) {
          int here = __popc(__ballot_sync(ALL_LANES, have[j] >> s & 1));
          if (lane == (s & 31)) mine[s >> 5] += here;
        }
      }
    }
    if (mine[0]) atomicAdd(&block.tally[lane], mine[0]);
    if (mine[1]) atomicAdd(&block.tally[lane + 32], mine[1]);
    __syncthreads();
    if (me < a.count) a.counts[me * chunks + c] = block.tally[me];
    __syncthreads();
  }

  GRB_DEVICE void scan_counts() {
    const int lane = lane_number();
    for (int64_t s = spread_warp(); s < a.count; s += warp_count()) {
      int before = 0;
      int32_t* row = a.counts + s * chunks;
      for (int64_t c0 = 0; c0 < chunks; c0 += SCAN_LOADS * 32) {
        int count[SCAN_LOADS];
#pragma unroll
        for (int k = 0; k < SCAN_LOADS; k++)
          count[k] = c0 + k * 32 + lane < chunks ? load_l2(row + c0 + k * 32 + lane) : 0;
#pragma unroll
        for (int k = 0; k < SCAN_LOADS; k++) {
          const int sum = warp_inclusive_sum(count[k]);
          if (c0 + k * 32 + lane < chunks) row[c0 + k * 32 + lane] = before + sum - count[k];
          before += __shfl_sync(ALL_LANES, sum, 31);
        }
      }
      if (lane == 0) a.totals[s] = before;
    }
  }

  GRB_DEVICE void scan_rows() {                // warp 0, two sources a lane
    const int lane = lane_number();
    const word one = 2 * lane < a.count ? word(load_l2(a.totals + 2 * lane)) : 0;
    const word two = one + (2 * lane + 1 < a.count ? word(load_l2(a.totals + 2 * lane + 1)) : 0);
    const word sum = warp_inclusive_sum(two), at = sum - two;
    block.row_at[2 * lane] = at;
    block.row_at[2 * lane + 1] = at + one;
    if (blockIdx.x == 0) {
      if (2 * lane < a.count) a.indptr[2 * lane + 1] = int64_t(at + one);
      if (2 * lane + 1 < a.count) a.indptr[2 * lane + 2] = int64_t(sum);
      if (lane == 0) a.indptr[0] = 0;
    }
  }

  // The chunk's vertices that were reached, compacted into shared memory.  Returns their number; mixed: not the same
  // sources (`common`) reached all.
  GRB_DEVICE int stage(int64_t c, bool& mixed, word& common) {
    const int lane = lane_number(), warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    load(c);
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      const unsigned there = __ballot_sync(ALL_LANES, have[j] != 0);
      bool same;
      const word here = common_of(have[j], there, same);
      if (lane == 0) block.words[j][warp] = here, block.reached[j][warp] = same ? __popc(there) : -1 - __popc(there);
    }
    __syncthreads();
    int held = 0, first[PER_THREAD];           // where each warp's vertices go
    mixed = false;
    common = 0;
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      int of_warp = lane < warps ? block.reached[j][lane] : 0;
      mixed = mixed || of_warp < 0;
      of_warp = of_warp < 0 ? -1 - of_warp : of_warp;
      bool same;
      const word here = common_of(of_warp ? block.words[j][lane] : 0, __ballot_sync(ALL_LANES, of_warp != 0), same);
      mixed = mixed || !same || (here && common && here != common);
      common = here ? here : common;
      const int sum = warp_inclusive_sum(of_warp);
      first[j] = held + __shfl_sync(ALL_LANES, sum - of_warp, warp);
      held += __shfl_sync(ALL_LANES, sum, 31);
    }
    mixed = __any_sync(ALL_LANES, mixed);
#pragma unroll
    for (int j = 0; j < PER_THREAD; j++) {
      const unsigned there = __ballot_sync(ALL_LANES, have[j] != 0);
      if (!have[j]) continue;
      const ulonglong2* counter = reinterpret_cast<const ulonglong2*>(a.levels) + 2 * int64_t(p[j]);
      const ulonglong2 low = counter[0], high = counter[1];
      const int at = first[j] + rank_in(there);
      vertex[at] = int32_t(c * a.size + j * blockDim.x + threadIdx.x);
      where[at] = p[j];
      const word w[4] = {low.x, low.y, high.x, high.y};
#pragma unroll
      for (int e = 0; e < 8; e++) {            // four digits of eight sources in an int
        unsigned some = 0;
#pragma unroll
        for (int d = 0; d < 4; d++) some |= spread(unsigned(w[d] >> 8 * e) & 255) << d;
        digits[e * a.size + at] = int(some);
      }
    }
    __syncthreads();
    if (PARENTS) {                             // transposed through lines of 65 ints
      for (int k = warp; k < held; k += warps) {
        const int32_t* line = a.parents_of + int64_t(where[k]) * 64;
        parent_lines[k * 65 + lane] = line[lane];
        parent_lines[k * 65 + lane + 32] = line[lane + 32];
      }
      __syncthreads();
    }
    return held;
  }

  GRB_DEVICE bool is_deep() const { return last >= 16; }   // levels of more than four digits
  // Level + 1 of vertex k of the chunk for source s; 0 where s did not reach it.
  GRB_DEVICE int level_of(int k, int s) {
    int level = digits[(s >> 3) * a.size + k] >> 4 * (s & 7) & 15;
    if (is_deep()) {
      const int64_t u = where[k];
      for (int g = 1; last >> 4 * g; g++)
        for (int d = 0; d < 4; d++) level |= int(a.levels[(g * a.n + u) * 4 + d] >> s & 1) << (4 * g + d);
      if (!(a.visited[u] >> s & 1)) level = 0;
    }
    return level;
  }
  GRB_DEVICE void write(int64_t to, int k, int s, int level) {
    a.indices[to] = vertex[k];
    if (a.level) a.level[to] = level - 1;
    if (PARENTS) a.parents[to] = parent_lines[k * 65 + s];
  }

  GRB_DEVICE void write_chunk(int64_t c) {
    const int lane = lane_number(), warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    bool mixed;
    word common;
    const int held = stage(c, mixed, common);
    const int group = !PARENTS && warps % ROW_WARPS == 0 ? ROW_WARPS : 1, member = warp % group;
    for (int s = warp / group; s < a.count; s += warps / group) {
      int64_t at = int64_t(block.row_at[s]) + a.counts[s * chunks + c];
      if (!mixed) {                            // the usual case; whole cache lines
        if (!(common >> s & 1)) continue;
        const int32_t* digit = digits + (s >> 3) * a.size;
        const int shift = 4 * (s & 7);
        int32_t *to = a.indices + at, *level_to = a.level + at;
        const int start = lane - int(at & 31) + 32 * member;
        if (PARENTS || is_deep() || a.level == nullptr) {
          for (int k = start; k < held; k += 32 * group)
            if (k >= 0) write(at + k, k, s, level_of(k, s));
        } else {
#pragma unroll 4
          for (int k = start; k < held; k += 32 * group)
            if (k >= 0) {
              to[k] = vertex[k];
              level_to[k] = (digit[k] >> shift & 15) - 1;
            }
        }
      } else if (member == 0) {
        for (int k0 = 0; k0 < held; k0 += 32) {
          const int k = k0 + lane, level = k < held ? level_of(k, s) : 0;
          const unsigned row = __ballot_sync(ALL_LANES, level != 0);
          if (level) write(at + rank_in(row), k, s, level);
          at += __popc(row);
        }
      }
    }
    __syncthreads();
  }
};

template <bool PARENTS> __global__ void __launch_bounds__(1024) bfs_multi_result(MultiResultArguments a) {
  extern __shared__ int32_t result_lists[];
  __shared__ typename MultiResult<PARENTS>::Block block;
  int32_t *vertex = result_lists, *where = vertex + a.size, *digits = where + a.size;
  MultiResult<PARENTS> result{a, block, vertex, where, digits, digits + 8 * a.size, (a.n + a.size - 1) / a.size,
                              int(a.record[1]) + 1};
  unsigned goal = 0;
  for (int64_t c = blockIdx.x; c < result.chunks; c += gridDim.x) result.count_chunk(c);
  level_barrier(a.control, goal);
  result.scan_counts();
  level_barrier(a.control, goal);
  if (threadIdx.x < 32) result.scan_rows();
  for (int64_t c = blockIdx.x; c < result.chunks; c += gridDim.x) result.write_chunk(c);
  if (is_last_to_leave(a.control + 1)) a.control[0] = a.control[1] = 0;
}

}  // namespace grb
