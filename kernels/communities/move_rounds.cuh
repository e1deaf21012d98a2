// A round of local moves between communities after its votes (row_labels.cuh, MOVE): who moves, and what follows of it.
//
// Result (backends/graph.py, move_half), label, K, slack and used in place:
//   moves      vertices looked at of positive gain, but for one in eight by their hashes; label(i) = best(i),
//              before(i) the label that i leaves
//   next       those that wait, and those j with used(j) > slack(j), used(j) the weight of neighbours that went to
//              other communities than j's own, twice where they left j's
//   numbers    the change of the weight within communities, [+_c K(c)^2], how many want to move, how many move
// Algorithm: parallel local moves of the Louvain method.  move_follow: a block for each long row of a mover, a warp for
//   each of the others.
// Launch: move_decide, move_follow, one after the other (in a first round after vote_alone);
//   backends/cuda/communities/local_moves.py.
// Preconditions: moves, next, counts and numbers are zero.
#pragma once
#include "base/bits.cuh"
#include "base/hashing.cuh"
#include "base/warp.cuh"
#include "communities/row_labels.cuh"

namespace grb {

struct MoveRound {
  const int64_t* start;
  const int32_t* columns;
  const double* values;
  bool equal;                                  // values[0] of every entry
  int32_t *label, *before;
  const int64_t* best;
  const double* gain;
  const word* active;                          // null: all
  const double* k;
  double *K, *slack, *used;
  int64_t n;
  word key;
  word *moves, *next;
  int32_t* movers;                             // those of short rows from the front, of long ones from the back
  word* counts;                                // how many of each
  int64_t long_row;
  double* numbers;
};

GRB_DEVICE double add_doubles(double a, double b) { return a + b; }

// numbers[0] += [+_i own(i) + u(i) (K(label(i)) - k(i))], the weight within communities (own null: none);
// numbers[1] += [+_c K(c)^2].
template <int = 0>
__global__ void __launch_bounds__(256)
move_begin(const int32_t* label, const double* own, const double* u, const double* k, const double* K, int64_t n,
           double* numbers) {
  __shared__ double shared[32];
  double within = 0, squares = 0;
  GRB_EACH(i, n) {
    if (own != nullptr) within += own[i] + times_rounded(u[i], K[label[i]] - k[i]);
    squares += K[i] * K[i];
  }
  within = block_reduce(within, add_doubles, shared);
  __syncthreads();
  squares = block_reduce(squares, add_doubles, shared);
  if (threadIdx.x == 0) atomicAdd(numbers, within), atomicAdd(numbers + 1, squares);
}

template <int = 0> __global__ void __launch_bounds__(256) move_decide(MoveRound o) {
  __shared__ double shared[32];
  unsigned wanting = 0, moving = 0;
  GRB_EACH_WARP(group, (o.n + 31) >> 5) {
    const int64_t i = group * 32 + lane_number();
    bool wants = false, moves = false, is_long = false;
    if (i < o.n && has_or_all(o.active, i)) {
      const double gain = o.gain[i];
      wants = gain > 0;
      moves = wants && mixed_by(word(i), o.key) >> 61 != 7;
      o.slack[i] = moves ? 0 : -gain;
      o.used[i] = 0;
      if (moves) {
        const int old = o.label[i], now = int(o.best[i]);
        o.before[i] = old, o.label[i] = now;
        atomicAdd(o.K + old, -o.k[i]);
        atomicAdd(o.K + now, o.k[i]);
        is_long = o.start[i + 1] - o.start[i] > o.long_row;
      }
    }
    write_flags(o.moves, i, moves);
    write_flags(o.next, i, wants && !moves);
    const word front = warp_append(moves && !is_long, o.counts), back = warp_append(moves && is_long, o.counts + 1);
    if (moves) o.movers[is_long ? o.n - 1 - int64_t(back) : int64_t(front)] = int32_t(i);
    wanting += wants, moving += moves;
  }
  const double want = block_reduce(double(wanting), add_doubles, shared);
  __syncthreads();
  const double move = block_reduce(double(moving), add_doubles, shared);
  if (threadIdx.x == 0 && want != 0) atomicAdd(o.numbers + 2, want), atomicAdd(o.numbers + 3, move);
}

// The entries of vertex i, which has moved: their part of the change; neighbours are looked at.
GRB_DEVICE double follow_mover(const MoveRound& o, int64_t i, int64_t thread, int64_t threads) {
  const int now = o.label[i], old = o.before[i];
  double change = 0;
  for (int64_t e = o.start[i] + thread; e < o.start[i + 1]; e += threads) {
    const int64_t j = o.columns[e];
    const double weight = o.values[o.equal ? 0 : e];
    const int c = o.label[j];
    if (has(o.moves, j)) {                     // sees this entry from its side, too
      change += weight * (int(c == now) - int(o.before[j] == old));
    } else if (c == now) {
      change += 2 * weight;
    } else {
      const double away = c == old ? 2 * weight : weight;
      if (c == old) change -= away;
      if (!has(o.next, j) && atomicAdd(o.used + j, away) + away > o.slack[j]) put(o.next, j);
    }
  }
  return change;
}

template <int = 0> __global__ void __launch_bounds__(256) move_follow(MoveRound o) {
  __shared__ double shared[32];
  double change = 0, squares = 0;
  const int64_t few = int64_t(o.counts[0]), many = int64_t(o.counts[1]);
  for (int64_t r = blockIdx.x; r < many; r += gridDim.x)
    change += follow_mover(o, o.movers[o.n - 1 - r], threadIdx.x, blockDim.x);
  for (int64_t r = warp_number(); r < few; r += warp_count()) change += follow_mover(o, o.movers[r], lane_number(), 32);
  GRB_EACH(c, o.n) squares += o.K[c] * o.K[c];
  change = block_reduce(change, add_doubles, shared);
  __syncthreads();
  squares = block_reduce(squares, add_doubles, shared);
  if (threadIdx.x == 0) {
    if (change != 0) atomicAdd(o.numbers, change);
    if (squares != 0) atomicAdd(o.numbers + 1, squares);
  }
}

// The votes where each vertex has the label of its number: an entry is a label.
template <int = 0>
__global__ void __launch_bounds__(256)
vote_alone(const int64_t* start, const int32_t* columns, const double* values, bool equal, const double* u,
           const double* K, int64_t n, int64_t long_row, int64_t* best, double* gain) {
  each_row_by_length(start, n, long_row, [&](int64_t i, int64_t begin, int64_t end, auto team) {
    const double mine = u[i];
    Candidate found = {0, NO_LABEL};
#pragma unroll 4
    for (int64_t e = begin + team.thread; e < end; e += team.threads) {
      const int j = columns[e];
      found.take(values[equal ? 0 : e] - times_rounded(mine, K[j]), j);
    }
    found = team.best(found);
    if (team.thread == 0) {
      best[i] = found.label == NO_LABEL ? int(i) : found.label;
      gain[i] = found.label == NO_LABEL ? -1.0 / 0.0 : found.score;  // the score of staying alone is 0
    }
  });
}

// *negative = 1 where a number of u or k is negative.
template <int = 0> __global__ void negative_numbers(const double* u, const double* k, int64_t n, word* negative) {
  GRB_EACH(i, n)
    if (!(u[i] >= 0 && k[i] >= 0)) *negative = 1;
}

}  // namespace grb
