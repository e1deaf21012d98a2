// Entries of a matrix by the classes of their ends, which are labels.
//
// Phases: between_classes   flags[e] = label(i) != label(j) of entry e at (i, j); `within`: label(i) = label(j)
//         class_entries     a list of pairs label(i) << shift | label(j) with sums of weights, which are whole numbers
//                           or counted; a pair may be listed more than once; `inner`, or label(i) != label(j)
// Algorithm: between_classes: a warp or a block for each row, because labels of columns are gathered anyhow.
//   class_entries: each warp has consecutive entries; the warps of a block sum them in one hash table in shared memory,
//   and empty it into the list together when half of it is used.  Where that spares less than half of its entries, a
//   block lists the others as they are.
// Launch: backends/cuda/communities/quotient.py; class_entries: resident blocks of at most 512 threads, with tables of
//   at least 8 slots a thread.
// Preconditions: *count is 0; sums of all weights fit into 32 bits.
#pragma once
#include "base/views.cuh"
#include "base/warp.cuh"
#include "communities/row_labels.cuh"

namespace grb {

struct ClassEntries {
  const int64_t* start;
  const int32_t* columns;
  const int32_t* weights;                      // of WHOLE
  const int32_t* label;
  int64_t n, entries, slots, shift;
  bool inner;
  word* pairs;
  unsigned* sums;
  word* count;
};

template <Weights WEIGHTS> __global__ void __launch_bounds__(512) class_entries(ClassEntries o) {
  constexpr int EACH = 4, CHUNK = 32 * EACH;   // entries of a lane, and of a warp, at once
  constexpr word NO_PAIR = ~word(0);
  extern __shared__ __align__(16) unsigned char pool[];
  __shared__ unsigned used, seen;              // pairs in the table; entries that it has taken since it was empty
  __shared__ word places[33];
  LabelTable<unsigned, word> table(pool, int(o.slots), int(o.slots));
  table.clear(threadIdx.x, blockDim.x);
  if (threadIdx.x == 0) used = 0, seen = 0;
  __syncthreads();
  const int64_t chunks = (o.entries + CHUNK - 1) / CHUNK;
  const int64_t last = chunks * (warp_number() + 1) / warp_count();
  int64_t t = chunks * warp_number() / warp_count();
  int64_t row = t < last ? row_of(o.start, o.n, t * CHUNK) : 0;  // of the first entry of chunk t
  for (bool direct = false;;) {
    while (t < last && (direct || __shfl_sync(ALL_LANES, unsigned(*(volatile unsigned*)&used), 0) <= o.slots / 2)) {
      const int64_t begin = t * CHUNK, end = min(begin + CHUNK, o.entries);
      int32_t c[EACH];
      unsigned weight[EACH];
#pragma unroll
      for (int a = 0; a < EACH; a++) {
        const int64_t e = begin + a * 32 + lane_number();
        c[a] = e < end ? o.label[o.columns[e]] : NO_LABEL;
        weight[a] = 1;
        if constexpr (WEIGHTS == WHOLE) weight[a] = e < end ? o.weights[e] : 0;
      }
      const unsigned beyond = __ballot_sync(ALL_LANES, o.start[min(row + 1 + lane_number(), o.n)] >= end);
      const int64_t last_row = beyond ? row + __ffs(int(beyond)) - 1 : upper_bound(o.start, row, o.n + 1, end - 1) - 1;
      word pair[EACH];
      unsigned mine = 0;
#pragma unroll
      for (int a = 0; a < EACH; a++) {
        const int64_t e = begin + a * 32 + lane_number();
        const int64_t i = last_row == row || e >= end ? row : upper_bound(o.start, row + 1, last_row + 1, e) - 1;
        const int32_t of_row = o.label[i];
        const bool kept = e < end && (o.inner || c[a] != of_row);
        pair[a] = kept ? word(of_row) << o.shift | word(c[a]) : NO_PAIR;
        mine += kept;
      }
      if (direct) {
        const unsigned upto = warp_inclusive_sum(mine), total = __shfl_sync(ALL_LANES, upto, 31);
        word at = 0;
        if (lane_number() == 0 && total) at = atomicAdd(o.count, word(total));
        at = shuffle(at, 0) + upto - mine;
#pragma unroll
        for (int a = 0; a < EACH; a++)
          if (pair[a] != NO_PAIR) o.pairs[at] = pair[a], o.sums[at] = weight[a], at++;
      } else {
        unsigned added = 0;
#pragma unroll
        for (int a = 0; a < EACH; a++) {
          if (pair[a] == NO_PAIR) continue;
          unsigned sum;
          bool fresh;
          table.add(pair[a], weight[a], sum, fresh);
          added += fresh;
        }
        added = warp_sum_everywhere(added), mine = warp_sum_everywhere(mine);
        if (lane_number() == 0 && mine) atomicAdd(&used, added), atomicAdd(&seen, mine);
      }
      t++;
      if (t < last) {
        row = last_row;
        if (o.start[row + 1] <= end) row = upper_bound(o.start, row + 2, min(row + 3, o.n + 1), end) - 1;
        if (o.start[row + 1] <= end) row = upper_bound(o.start, row + 2, o.n + 1, end) - 1;
      }
      __syncwarp();
    }
    __syncthreads();
    word mine = 0;
    for (int s = threadIdx.x; s < table.slots; s += blockDim.x) mine += table.labels[s] != NO_PAIR;
    word at = block_append(mine, o.count, places);
    table.take_each(threadIdx.x, blockDim.x, [&](word pair, unsigned sum) {
      o.pairs[at] = pair, o.sums[at] = sum;
      at++;
    });
    direct = direct || seen < 2 * used;
    if (!__syncthreads_or(t < last)) break;
    if (threadIdx.x == 0) used = 0, seen = 0;
    __syncthreads();
  }
}

template <int = 0>
__global__ void __launch_bounds__(256)
between_classes(const int64_t* start, const int32_t* columns, const int32_t* label, int64_t n, bool within,
                int64_t long_row, bool* flags) {
  each_row_by_length(start, n, long_row, [&](int64_t i, int64_t begin, int64_t end, auto team) {
    const int mine = label[i];
#pragma unroll 4
    for (int64_t e = begin + team.thread; e < end; e += team.threads) flags[e] = (label[columns[e]] == mine) == within;
  });
}

}  // namespace grb
