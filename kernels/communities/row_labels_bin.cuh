// Rows binned by length for row_labels.cuh, labels of columns and weights as 32-bit numbers, sums by label,
// presence bits.
//
// Algorithm: binning by an atomic counter for each bin, one atomic a block and bin.
// Launch: backends/cuda/communities/row_labels.py; a thread for each column, row or value.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int LABEL_BINS = 5;                  // at most 8, 32, `warp_row`, `block_row` entries; more

// of_column[k] = label[k], -1 where k is not present or its label is not one of 0 .. labels - 1.
// *wrong (null: not asked): 1 where a label is not one of them.
template <int = 0>
__global__ void labels_of_columns(const int64_t* label, const word* present, int64_t n, bool one, int64_t labels,
                                  int32_t* of_column, word* wrong) {
  GRB_EACH(k, n) {
    const bool there = has_or_all(present, k);
    const int64_t c = there ? label[one ? 0 : k] : -1;
    const bool right = c >= 0 && c < labels;
    of_column[k] = right ? int32_t(c) : -1;
    if (there && !right && wrong != nullptr) *wrong = 1;
  }
}

// The rows in `listed` (null: those of `present`, or all, of n) into list[bin * n ..]; counts[bin] of them, with one
// atomic a block and bin.  Rows of more than `block_row` entries become parts of about `capacity` entries at most,
// items in the last bin, of `part` (part << 32 | parts).  empty: rows without entries are listed in the first bin.
template <int = 0>
__global__ void __launch_bounds__(256)
bin_label_rows(const int64_t* start, const int64_t* listed, const word* present, int64_t n, int64_t warp_row,
               int64_t block_row, int64_t capacity, bool empty, int32_t* list, word* counts, word* part,
               unsigned* arrived) {
  __shared__ unsigned found[LABEL_BINS];
  __shared__ word first[LABEL_BINS];
  for (int64_t base = int64_t(blockIdx.x) * blockDim.x; base < n; base += thread_count()) {
    if (threadIdx.x < LABEL_BINS) found[threadIdx.x] = 0;
    __syncthreads();
    const int64_t r = base + threadIdx.x;
    const int64_t i = r >= n ? 0 : listed == nullptr ? r : listed[r];
    const int64_t length = r < n && has_or_all(present, r) ? start[i + 1] - start[i] : -1;
    const int bin = length < (empty ? 0 : 1) ? -1 : length <= 8 ? 0 : length <= 32 ? 1 : length <= warp_row ? 2
                    : length <= block_row ? 3 : 4;
    unsigned mine = 0;
    for (int b = 0; b < LABEL_BINS - 1; b++) {
      unsigned at = warp_append(bin == b, found + b);
      if (bin == b) mine = at;
    }
    __syncthreads();
    if (threadIdx.x < LABEL_BINS - 1 && found[threadIdx.x])
      first[threadIdx.x] = atomicAdd(counts + threadIdx.x, word(found[threadIdx.x]));
    __syncthreads();
    if (bin >= 0 && bin < LABEL_BINS - 1) list[bin * n + int64_t(first[bin] + mine)] = int32_t(i);
    if (bin == LABEL_BINS - 1) {
      const word parts = word((length + capacity - 1) / capacity);
      const word at = atomicAdd(counts + bin, parts);
      for (word p = 0; p < parts; p++) {
        list[bin * n + int64_t(at + p)] = int32_t(i);
        part[at + p] = p << 32 | parts;
        arrived[at + p] = 0;
      }
    }
  }
}

// sums[label[k]] += values[k].  A warp has 256 values: while some have one label, they are summed first, because
// atomics of one address take turns.
template <int = 0>
__global__ void __launch_bounds__(256)
sum_by_label(const int64_t* label, const double* values, int64_t n, double* sums) {
  constexpr int EACH = 8, FEW = 4;
  GRB_EACH_WARP(group, (n + 32 * EACH - 1) / (32 * EACH)) {
    int64_t c[EACH];
    double x[EACH];
#pragma unroll
    for (int a = 0; a < EACH; a++) {
      const int64_t k = (group * EACH + a) * 32 + lane_number();
      c[a] = k < n ? label[k] : -1;
      x[a] = k < n ? values[k] : 0;
    }
    for (;;) {
      int64_t mine = -1;
#pragma unroll
      for (int a = EACH - 1; a >= 0; a--) mine = c[a] >= 0 ? c[a] : mine;
      const unsigned lanes = __ballot_sync(ALL_LANES, mine >= 0);
      if (!lanes) break;
      const int64_t chosen = shuffle(mine, __ffs(int(lanes)) - 1);
      unsigned found = 0;
      double sum = 0;
#pragma unroll
      for (int a = 0; a < EACH; a++)
        if (c[a] == chosen) sum += x[a], c[a] = -1, found++;
      sum = warp_sum(sum);
      if (lane_number() == 0 && sum != 0) atomicAdd(sums + chosen, sum);
      if (warp_sum_everywhere(found) < FEW) break;
    }
#pragma unroll
    for (int a = 0; a < EACH; a++)
      if (c[a] >= 0 && x[a] != 0) atomicAdd(sums + c[a], x[a]);
  }
}

// first[label[k]] = the least k.  The word is read first: most vertices of a large class need no atomic.
template <int = 0> __global__ void first_by_label(const int64_t* label, int64_t n, int32_t* first) {
  GRB_EACH(k, n) {
    int32_t* place = first + label[k];
    if (*(volatile int32_t*)place > int32_t(k)) atomicMin(place, int32_t(k));
  }
}

// words: the positions i with best[i] >= 0; *count of them.
template <int = 0>
__global__ void present_labels(const int64_t* best, int64_t n, word* words, word* count) {
  GRB_EACH_WARP(group, (n + 31) >> 5) {
    const int64_t i = group * 32 + lane_number();
    const unsigned flags = __ballot_sync(ALL_LANES, i < n && best[i] >= 0);
    if (lane_number() == 0) {
      reinterpret_cast<unsigned*>(words)[group] = flags;
      if (flags) atomicAdd(count, word(__popc(flags)));
    }
  }
}

// whole[k] = values[k] as an integer; *wrong = 1 where it is none below 2^31.
template <int = 0> __global__ void whole_numbers(const double* values, int64_t n, int32_t* whole, word* wrong) {
  GRB_EACH(k, n) {
    const double x = values[k];
    const bool right = x >= 0 && x < 2147483648.0 && double(int32_t(x)) == x;
    whole[k] = right ? int32_t(x) : 0;
    if (!right) *wrong = 1;
  }
}

}  // namespace grb
