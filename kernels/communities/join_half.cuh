// A round of Leiden's refinement: a random half of the nodes that are alone in their part join a part of their
// community.
//
// Result, for each node i (backends/graph.py, join_half); a part c has the number of its first node:
//   own'(i)    kept(i) + u(i) (K(y(i)) - k(i)) for active nodes, else own(i): the sum of the entries to its part
//   cut(c)     [+_i within(i) - own'(i) over y(i) = c]: the sum of the entries from c to the rest of its community
//   open(c)    cut(c) >= scale K(c) (whole(c) - K(c)): c is well connected to its community
//   wants      active, of positive gain, joined(i), alone in its part, and open(best(i));  as bits
//   moves      those of them whose hash begins with a 0 and whose part best(i) does not move itself;  as bits
//   next(i)    best(i) where i moves, else y(i)
//   numbers    how many want to move, how many move
// Source: Traag, Waltman, van Eck, "From Louvain to Leiden" (Scientific Reports 9, 2019), algorithm A.2,
//   MergeNodesSubset.
// Launch: join_own, join_wants, join_moves, one after the other, grid-stride loops of warps;
//   backends/cuda/communities/row_labels.py.
// Preconditions: cut, numbers and the words of bits are all zero.
#pragma once
#include "base/bits.cuh"
#include "base/hashing.cuh"
#include "base/warp.cuh"
#include "communities/row_labels.cuh"

namespace grb {

struct JoinHalf {
  const int64_t* y;
  const double *K, *size;
  const int64_t* best;
  const double *gain, *kept;
  const word* active;                          // null: all
  const double *own_before, *u, *k, *within, *whole;
  const bool* joined;
  double scale;
  int64_t n;
  word key;
  int64_t* next;
  double *own, *cut;
  word *wants, *asks, *moves;                  // asks: wants to move, and its hash begins with a 0
  double* numbers;
};

template <int = 0> __global__ void __launch_bounds__(256) join_own(JoinHalf o) {
  GRB_EACH_WARP(group, (o.n + 31) >> 5) {
    const int64_t i = group * 32 + lane_number();
    int64_t part = -1;
    double rest = 0;
    if (i < o.n) {
      part = o.y[i];
      double own = o.own_before[i];
      if (has_or_all(o.active, i)) own = o.kept[i] + times_rounded(o.u[i], o.K[part] - o.k[i]);
      o.own[i] = own;
      rest = o.within[i] - own;
    }
    if (part >= 0 && rest != 0) atomicAdd(o.cut + part, rest);
  }
}

template <int = 0> __global__ void __launch_bounds__(256) join_wants(JoinHalf o) {
  unsigned found = 0;
  GRB_EACH_WARP(group, (o.n + 31) >> 5) {
    const int64_t i = group * 32 + lane_number();
    bool wants = false;
    if (i < o.n && has_or_all(o.active, i) && o.gain[i] > 0 && o.joined[i] && o.size[o.y[i]] == 1) {
      const int64_t c = o.best[i];
      wants = o.cut[c] >= times_rounded(times_rounded(o.scale, o.K[c]), o.whole[c] - o.K[c]);
    }
    write_flags(o.wants, i, wants);
    write_flags(o.asks, i, wants && !(mixed_by(word(i), o.key) >> 63));
    found += wants;
  }
  found = warp_sum_everywhere(found);
  if (lane_number() == 0 && found) atomicAdd(o.numbers, double(found));
}

template <int = 0> __global__ void __launch_bounds__(256) join_moves(JoinHalf o) {
  unsigned found = 0;
  GRB_EACH_WARP(group, (o.n + 31) >> 5) {
    const int64_t i = group * 32 + lane_number();
    bool moves = false;
    if (i < o.n) {
      moves = has_or_all(o.asks, i) && !has_or_all(o.asks, o.best[i]);
      o.next[i] = moves ? o.best[i] : o.y[i];
    }
    write_flags(o.moves, i, moves);
    found += moves;
  }
  found = warp_sum_everywhere(found);
  if (lane_number() == 0 && found) atomicAdd(o.numbers + 1, double(found));
}

}  // namespace grb
