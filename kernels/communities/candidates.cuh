// Labels with scores, of which the best is sought, and rows that a warp or a block goes through.
//
// Who includes it: communities/row_labels.cuh, and with it all of communities/ that vote.
// Precondition: additions are not contracted to fma, so that equal sums give the scores that a host computes.
#pragma once
#include "base/warp.cuh"

namespace grb {

constexpr int NO_LABEL = -1;

// Products and sums that the compiler does not contract.
GRB_DEVICE double times_rounded(double x, double y) {
#ifdef SIMT_CPU
  volatile double product = x * y;
  return product;
#else
  return __dmul_rn(x, y);
#endif
}

struct Candidate {
  double score;
  int label;
  GRB_DEVICE void take(double other, int c) {
    bool better = label == NO_LABEL || other > score || (other == score && c < label);
    if (c != NO_LABEL && better) score = other, label = c;
  }
};
template <int LANES> GRB_DEVICE Candidate best_of_lanes(Candidate mine) {
  for (int by = LANES / 2; by; by >>= 1) {
    double score = from_registers<double>([&] {
      registers_of<double> p = to_registers(mine.score);
      for (unsigned& part : p.part) part = __shfl_xor_sync(ALL_LANES, part, by);
      return p;
    }());
    int label = __shfl_xor_sync(ALL_LANES, mine.label, by);
    mine.take(score, label);
  }
  return mine;
}

// The threads that share a row: a warp or a block.  Results are thread 0's.
struct WarpTeam {
  int thread = lane_number();
  static constexpr int threads = 32;
  GRB_DEVICE Candidate best(Candidate mine) const { return best_of_lanes<32>(mine); }
  GRB_DEVICE double sum(double mine) const { return warp_sum(mine); }
};
struct BlockShared {
  double numbers[32];
  int labels[32];
};
struct BlockTeam {
  BlockShared& shared;
  int thread = threadIdx.x, threads = blockDim.x;
  GRB_DEVICE Candidate best(Candidate mine) const {
    const int warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    mine = best_of_lanes<32>(mine);
    __syncthreads();                           // what was read before
    if (lane_number() == 0) shared.numbers[warp] = mine.score, shared.labels[warp] = mine.label;
    __syncthreads();
    if (warp == 0) {
      mine = {0, NO_LABEL};
      if (lane_number() < warps) mine = {shared.numbers[lane_number()], shared.labels[lane_number()]};
      mine = best_of_lanes<32>(mine);
    }
    return mine;
  }
  GRB_DEVICE double sum(double mine) const {
    __syncthreads();
    return block_reduce(mine, [](double a, double b) { return a + b; }, shared.numbers);
  }
};
// body(i, begin, end, team) for each row i: a warp shares a row, a block one of more than `most` entries, which one
// warp would work on when all others have ended.  The whole grid calls, with blocks of at most 256 threads.
template <class Body> GRB_DEVICE void each_row_by_length(const int64_t* start, int64_t n, int64_t most, Body body) {
  GRB_EACH_WARP(i, n) {
    const int64_t begin = start[i], end = start[i + 1];
    if (end - begin <= most) body(i, begin, end, WarpTeam());
  }
  __shared__ BlockShared shared;
  __shared__ int listed;
  __shared__ int64_t list[256];
  for (int64_t base = int64_t(blockIdx.x) * blockDim.x; base < n; base += thread_count()) {
    const int64_t i = base + threadIdx.x;
    const bool is_long = i < n && start[i + 1] - start[i] > most;
    if (threadIdx.x == 0) listed = 0;
    if (!__syncthreads_or(is_long)) continue;
    if (is_long) list[atomicAdd(&listed, 1)] = i;
    __syncthreads();
    const int count = listed;
    for (int r = 0; r < count; r++) body(list[r], start[list[r]], start[list[r] + 1], BlockTeam{shared});
    __syncthreads();
  }
}

}  // namespace grb
