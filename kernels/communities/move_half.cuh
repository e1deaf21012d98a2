// A round of local moves between communities: a random half of the nodes that gain by moving move.
//
// Result, for each node i (backends/graph.py, move_half):
//   own'(i)    kept(i) + u(i) (K(x(i)) - k(i)) for active nodes, else own(i): the sum of the entries to its community
//   wants      active nodes of positive gain, as bits;  moves: those of them whose hash begins with a 0
//   next(i)    best(i) where i moves, else x(i)
//   numbers    [+_i own'(i)], [+_i K(i)^2], how many want to move, how many move
// Algorithm: parallel local moves of the Louvain method; communities/row_labels.cuh (MOVE) computes best and gain.
// Launch: a grid-stride loop of warps, backends/cuda/communities/row_labels.py.
// Preconditions: numbers and the words of bits are all zero.
#pragma once
#include "base/bits.cuh"
#include "base/hashing.cuh"
#include "base/warp.cuh"
#include "communities/row_labels.cuh"

namespace grb {

struct MoveHalf {
  const int64_t* x;
  const double* K;
  const int64_t* best;
  const double *gain, *kept;
  const word* active;                          // null: all
  const double *own_before, *u, *k;
  int64_t n;
  word key;
  int64_t* next;
  double* own;
  word *wants, *moves;
  double* numbers;
};

template <int = 0>
__global__ void __launch_bounds__(256) move_half(MoveHalf o) {
  __shared__ double shared[32];
  double sums[4] = {0, 0, 0, 0};
  GRB_EACH_WARP(group, (o.n + 31) >> 5) {
    const int64_t i = group * 32 + lane_number();
    bool wants = false, moves = false;
    if (i < o.n) {
      int64_t to = o.x[i];
      double own;
      if (has_or_all(o.active, i)) {
        own = o.kept[i] + times_rounded(o.u[i], o.K[to] - o.k[i]);
        wants = o.gain[i] > 0;
        moves = wants && !(mixed_by(word(i), o.key) >> 63);
        if (moves) to = o.best[i];
      } else {
        own = o.own_before[i];
      }
      o.own[i] = own, o.next[i] = to;
      sums[0] += own, sums[1] += o.K[i] * o.K[i], sums[2] += wants, sums[3] += moves;
    }
    write_flags(o.wants, i, wants);
    write_flags(o.moves, i, moves);
  }
  for (int s = 0; s < 4; s++) {
    const double sum = block_reduce(sums[s], [](double a, double b) { return a + b; }, shared);
    if (threadIdx.x == 0) atomicAdd(o.numbers + s, sum);
    __syncthreads();
  }
}

}  // namespace grb
