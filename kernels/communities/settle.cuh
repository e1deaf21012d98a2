// A round in which vertices of different communities go to different ones, until none gains more than `least`.
//
// Result (settle of grb_tile/graph/local_moves.py), label, K and size in place:
//   next       vertices looked at that gain more, to best(i) or, where -kept(i) is more, to a community of their own
//              (target(i) = -1);  with settle_follow also those beside one that moves
//   movers     those of them that are the first of all that leave or join the community that they leave or join; alone:
//              a flag for each of them that goes to one of its own
//   numbers    how many want to move, how many move, how many of them alone, their gain; where all are looked at
//              [+_i the entries of i to its community], [+_c K(c)^2]
// Launch: settle_wants, settle_moves, settle_follow, one after the other, after votes;
//   backends/cuda/communities/local_moves.py.
// Preconditions: numbers, count and next are zero, alone is false; first(c) = n.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"
#include "communities/row_labels.cuh"

namespace grb {

struct SettleRound {
  const int64_t* start;
  const int32_t* columns;
  int32_t* label;
  const int64_t* best;
  double* gain;
  const double* kept;
  const word* active;                          // null: all
  const double *u, *k;
  double *K, *size;
  double least;
  int64_t n;
  int32_t *target, *first;
  word* next;
  int32_t* movers;
  word* count;                                 // of movers
  bool* alone;
  double* numbers;
};

GRB_DEVICE double sum_of_two(double a, double b) { return a + b; }

template <int = 0> __global__ void __launch_bounds__(256) settle_wants(SettleRound o) {
  __shared__ double shared[32];
  double sums[3] = {0, 0, 0};
  GRB_EACH_WARP(group, (o.n + 31) >> 5) {
    const int64_t i = group * 32 + lane_number();
    bool wants = false;
    if (i < o.n && has_or_all(o.active, i)) {
      const int mine = o.label[i];
      const double own = o.kept[i];
      double gain = o.gain[i];
      int target = int(o.best[i]);
      if (gain < -own) gain = -own, target = -1;
      wants = gain > o.least;
      if (wants) {
        o.target[i] = target, o.gain[i] = gain;
        atomicMin(o.first + mine, int(i));
        if (target >= 0) atomicMin(o.first + target, int(i));
      }
      if (o.active == nullptr)
        sums[1] += own + times_rounded(o.u[i], o.K[mine] - o.k[i]), sums[2] += o.K[i] * o.K[i];
    }
    write_flags(o.next, i, wants);
    sums[0] += wants;
  }
  for (int s = 0; s < 3; s++) {
    const double sum = block_reduce(sums[s], sum_of_two, shared);
    if (threadIdx.x == 0 && sum != 0) atomicAdd(o.numbers + (s ? s + 3 : 0), sum);
    __syncthreads();
  }
}

template <int = 0> __global__ void __launch_bounds__(256) settle_moves(SettleRound o) {
  GRB_EACH_WARP(group, (o.n + 31) >> 5) {
    const int64_t i = group * 32 + lane_number();
    bool moves = false;
    if (i < o.n && has(o.next, i)) {
      const int target = o.target[i];
      moves = o.first[o.label[i]] == i && (target < 0 || o.first[target] == i);
      if (moves) {
        atomicAdd(o.numbers + 1, 1.0);
        atomicAdd(o.numbers + 3, o.gain[i]);
        if (target < 0) o.alone[i] = true, atomicAdd(o.numbers + 2, 1.0);
      }
    }
    const word at = warp_append(moves, o.count);
    if (moves) o.movers[at] = int32_t(i);
  }
}

// A warp for each mover.  No community is left or joined by two.
template <int = 0> __global__ void __launch_bounds__(256) settle_follow(SettleRound o) {
  const int64_t count = int64_t(*o.count);
  for (int64_t r = warp_number(); r < count; r += warp_count()) {
    const int i = o.movers[r];
    if (o.target[i] < 0) continue;             // no label is free: not with a symmetric matrix
    if (lane_number() == 0) {
      const int old = o.label[i], now = o.target[i];
      o.label[i] = now;
      o.K[old] -= o.k[i], o.K[now] += o.k[i];
      o.size[old] -= 1, o.size[now] += 1;
    }
    for (int64_t e = o.start[i] + lane_number(); e < o.start[i + 1]; e += 32) {
      const int64_t j = o.columns[e];
      if (!has(o.next, j)) put(o.next, j);
    }
  }
}

// target(i) = the k-th label without vertices, for the k-th of the vertices listed.
template <int = 0>
__global__ void settle_alone(const int32_t* vertices, const int32_t* labels, int64_t n, int32_t* target) {
  GRB_EACH(k, n) target[vertices[k]] = labels[k];
}

}  // namespace grb
