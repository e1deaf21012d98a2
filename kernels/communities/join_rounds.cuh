// Rounds of Leiden's refinement: vertices that are alone in their part join a part of their community.
//
// Result (backends/graph.py, join_half), part, K, size and cut in place; a part c has the number of its first vertex:
//   join_first   within(i) = [+_j A(i, j) over community(j) = community(i)], and the vote of a first round, in which an
//                entry is a part:  best(i), gain(i) of A(i, j) - u(i) k(j) over these j
//   wants        looked at, of positive gain, joined(i), alone in its part, and cut(c) >= scale K(c) (whole(c) - K(c))
//                of c = best(i);  as bits
//   moves        those of them whose hash begins with a 0 and whose part best(i) does not move itself, where more than
//                `few` want to;  part(i) = best(i)
//   next         those that want to, and vertices that are alone beside one that moves
//   numbers      how many want to move, how many move
// Source: Traag, Waltman, van Eck, "From Louvain to Leiden" (Scientific Reports 9, 2019), algorithm A.2,
//   MergeNodesSubset.
// Launch: join_wants, join_moves, join_follow, one after the other, after votes;
//   backends/cuda/communities/local_moves.py.
// Preconditions: numbers, counts and the words of bits are all zero.
#pragma once
#include "base/bits.cuh"
#include "base/hashing.cuh"
#include "base/warp.cuh"
#include "communities/row_labels.cuh"

namespace grb {

struct JoinRound {
  const int64_t* start;
  const int32_t* columns;
  const double* values;
  bool equal;                                  // values[0] of every entry
  const int32_t* community;
  int32_t* part;
  int64_t* best;
  double* gain;
  const word* active;                          // null: all
  const double *u, *k, *of_community;          // of_community(c): the sum of k over community c
  double *within, *K, *size, *cut;
  double scale;
  double few;
  int64_t n;
  word key;
  word *wants, *asks, *moves, *next;
  int32_t* movers;                             // those of short rows from the front, of long ones from the back
  word* counts;                                // how many of each
  int64_t long_row;
  double* numbers;
};

template <int = 0> __global__ void __launch_bounds__(256) join_first(JoinRound o) {
  each_row_by_length(o.start, o.n, o.long_row, [&](int64_t i, int64_t begin, int64_t end, auto team) {
    const int mine = o.community[i];
    const double u = o.u[i];
    double inside = 0;
    Candidate best = {0, NO_LABEL};
#pragma unroll 4
    for (int64_t e = begin + team.thread; e < end; e += team.threads) {
      const int j = o.columns[e];
      if (o.community[j] != mine) continue;
      const double weight = o.values[o.equal ? 0 : e];
      inside += weight;
      best.take(weight - times_rounded(u, o.k[j]), j);
    }
    inside = team.sum(inside);
    best = team.best(best);
    if (team.thread == 0) {
      o.within[i] = inside, o.cut[i] = inside;
      o.best[i] = best.label;
      o.gain[i] = best.label == NO_LABEL ? -1 : best.score;  // the score of staying alone is 0
    }
  });
}

template <int = 0> __global__ void __launch_bounds__(256) join_wants(JoinRound o) {
  unsigned found = 0;
  GRB_EACH_WARP(group, (o.n + 31) >> 5) {
    const int64_t i = group * 32 + lane_number();
    bool wants = false;
    if (i < o.n && has_or_all(o.active, i) && o.part[i] == i && o.size[i] == 1 && o.gain[i] > 0) {
      const int64_t c = o.best[i];
      const double whole = o.of_community[o.community[i]], k = o.k[i];
      wants = o.within[i] >= times_rounded(times_rounded(o.scale, k), whole - k) &&
              o.cut[c] >= times_rounded(times_rounded(o.scale, o.K[c]), whole - o.K[c]);
    }
    write_flags(o.wants, i, wants);
    write_flags(o.asks, i, wants && !(mixed_by(word(i), o.key) >> 63));
    found += wants;
  }
  found = warp_sum_everywhere(found);
  if (lane_number() == 0 && found) atomicAdd(o.numbers, double(found));
}

template <int = 0> __global__ void __launch_bounds__(256) join_moves(JoinRound o) {
  if (o.numbers[0] <= o.few) return;
  unsigned found = 0;
  GRB_EACH_WARP(group, (o.n + 31) >> 5) {
    const int64_t i = group * 32 + lane_number();
    bool moves = false, is_long = false;
    if (i < o.n) {
      moves = has(o.asks, i) && !has(o.asks, o.best[i]);
      if (moves) {
        const int64_t c = o.best[i];
        o.part[i] = int32_t(c);
        atomicAdd(o.K + c, o.k[i]);
        atomicAdd(o.size + c, 1.0);
        o.K[i] = o.size[i] = 0;
        is_long = o.start[i + 1] - o.start[i] > o.long_row;
      }
    }
    write_flags(o.moves, i, moves);
    const word front = warp_append(moves && !is_long, o.counts), back = warp_append(moves && is_long, o.counts + 1);
    if (moves) o.movers[is_long ? o.n - 1 - int64_t(back) : int64_t(front)] = int32_t(i);
    write_flags(o.next, i, i < o.n && has(o.wants, i));
    found += moves;
  }
  found = warp_sum_everywhere(found);
  if (lane_number() == 0 && found) atomicAdd(o.numbers + 1, double(found));
}

// The entries of vertex i, which has joined a part: those within it, once where the other end joined it now, too.
GRB_DEVICE double follow_joined(const JoinRound& o, int64_t i, int64_t thread, int64_t threads) {
  const int mine = o.community[i], now = o.part[i];
  double inside = 0;
  for (int64_t e = o.start[i] + thread; e < o.start[i + 1]; e += threads) {
    const int64_t j = o.columns[e];
    if (o.community[j] != mine) continue;
    if (o.part[j] == now) inside += (has(o.moves, j) ? 1 : 2) * o.values[o.equal ? 0 : e];
    if (o.size[j] == 1 && o.part[j] == j && !has(o.next, j)) put(o.next, j);
  }
  return inside;
}

template <int = 0> __global__ void __launch_bounds__(256) join_follow(JoinRound o) {
  __shared__ double shared[32];
  const int64_t few = int64_t(o.counts[0]), many = int64_t(o.counts[1]);
  for (int64_t r = blockIdx.x; r < many; r += gridDim.x) {
    const int64_t i = o.movers[o.n - 1 - r];
    const double inside = block_reduce(follow_joined(o, i, threadIdx.x, blockDim.x), [](double a, double b) {
      return a + b;
    }, shared);
    if (threadIdx.x == 0) atomicAdd(o.cut + o.part[i], o.within[i] - inside), o.cut[i] = 0;
    __syncthreads();
  }
  for (int64_t r = warp_number(); r < few; r += warp_count()) {
    const int64_t i = o.movers[r];
    const double inside = warp_sum(follow_joined(o, i, lane_number(), 32));
    if (lane_number() == 0) atomicAdd(o.cut + o.part[i], o.within[i] - inside), o.cut[i] = 0;
  }
}

}  // namespace grb
