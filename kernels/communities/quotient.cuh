// Entries of a matrix by the classes of their ends, which are labels.
//
// Phases: between_classes   flags[e] = label(i) != label(j) of entry e at (i, j); `within`: label(i) = label(j)
//         class_entries     a list of pairs label(i) << shift | label(j) with sums of weights, which are whole numbers
//                           or counted; a pair may be listed more than once; `inner`, or label(i) != label(j)
// Algorithm: between_classes: a warp for each row, because labels of columns are gathered anyhow.  class_entries: each
//   block has consecutive entries and sums them in a hash table in shared memory, which it empties into the list when a
//   quarter of it is used.  Where that spares less than half of them, its other entries are listed as they are.
// Launch: backends/cuda/communities/quotient.py; between_classes a grid-stride loop of warps, class_entries resident
//   blocks of at most 512 threads with tables of at least 4 EACH slots a thread.
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
  constexpr int EACH = 4;                      // consecutive entries of a thread
  constexpr word NO_PAIR = ~word(0);
  extern __shared__ __align__(16) unsigned char pool[];
  __shared__ unsigned used, seen;              // pairs in the table; entries that it has taken since it was empty
  __shared__ word places[33];
  LabelTable<unsigned, word> table(pool, int(o.slots), int(o.slots));
  table.clear(threadIdx.x, blockDim.x);
  if (threadIdx.x == 0) used = 0, seen = 0;
  __syncthreads();
  bool direct = false;
  const auto empty_table = [&] {
    __syncthreads();
    word mine = 0;
    for (int s = threadIdx.x; s < table.slots; s += blockDim.x) mine += table.labels[s] != NO_PAIR;
    word at = block_append(mine, o.count, places);
    table.take_each(threadIdx.x, blockDim.x, [&](word pair, unsigned sum) {
      o.pairs[at] = pair, o.sums[at] = sum;
      at++;
    });
    direct = seen < 2 * used;
    __syncthreads();
    if (threadIdx.x == 0) used = 0, seen = 0;
    __syncthreads();
  };
  const int64_t tile = int64_t(blockDim.x) * EACH, tiles = (o.entries + tile - 1) / tile;
  const int64_t first = tiles * blockIdx.x / gridDim.x, last = tiles * (blockIdx.x + 1) / gridDim.x;
  for (int64_t t = first; t < last; t++) {
    const int64_t begin = t * tile + threadIdx.x * EACH, end = min(begin + EACH, o.entries);
    word pair[EACH];
    unsigned weight[EACH];
    unsigned mine = 0;
    if (begin < end) {
      int32_t c[EACH];
#pragma unroll
      for (int a = 0; a < EACH; a++) {
        c[a] = begin + a < end ? o.label[o.columns[begin + a]] : NO_LABEL;
        weight[a] = 1;
        if constexpr (WEIGHTS == WHOLE) weight[a] = begin + a < end ? o.weights[begin + a] : 0;
      }
      int64_t row = row_of(o.start, o.n, begin), stop = o.start[row + 1];
      int32_t of_row = o.label[row];
#pragma unroll
      for (int a = 0; a < EACH; a++) {
        if (begin + a >= stop && begin + a < end) {
          row = o.start[row + 2] > begin + a ? row + 1 : upper_bound(o.start, row + 2, o.n + 1, begin + a) - 1;
          stop = o.start[row + 1], of_row = o.label[row];
        }
        const bool kept = begin + a < end && (o.inner || c[a] != of_row);
        pair[a] = kept ? word(of_row) << o.shift | word(c[a]) : NO_PAIR;
        mine += kept;
      }
    } else {
#pragma unroll
      for (int a = 0; a < EACH; a++) pair[a] = NO_PAIR;
    }
    // thread 0 may have missed what is added now: a quarter of the slots, and a quarter for each of two tiles
    if (!direct && __syncthreads_or(threadIdx.x == 0 && *(volatile unsigned*)&used > o.slots / 4)) empty_table();
    if (direct) {
      word at = block_append(word(mine), o.count, places);
#pragma unroll
      for (int a = 0; a < EACH; a++)
        if (pair[a] != NO_PAIR) o.pairs[at] = pair[a], o.sums[at] = weight[a], at++;
      __syncthreads();
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
  }
  empty_table();
}

template <int = 0>
__global__ void __launch_bounds__(256)
between_classes(const int64_t* start, const int32_t* columns, const int32_t* label, int64_t n, bool within,
                bool* flags) {
  GRB_EACH_WARP(i, n) {
    const int mine = label[i];
    const int64_t end = start[i + 1];
#pragma unroll 4
    for (int64_t e = start[i] + lane_number(); e < end; e += 32) flags[e] = (label[columns[e]] == mine) == within;
  }
}

}  // namespace grb
