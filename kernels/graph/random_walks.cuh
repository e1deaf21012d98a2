// Random walks, a thread for each: all steps of a walk in one launch.
//
// Result: walks[k, 0] = first[k], walks[k, s + 1] = an out-neighbour of walks[k, s], -1 behind a vertex without edges;
//   the same numbers as algorithms/random_walks.py draws, whose text says what is drawn and why.
// Random numbers: counter-based (base/hashing.cuh): of the seed, the walk, the step and the draw.
// Algorithm: Grover and Leskovec, "node2vec: scalable feature learning for networks" (KDD 2016), by rejection as Yang
//   et al., "KnightKing: a fast distributed graph random walk engine" (SOSP 2019) have it.
// Preconditions: columns ascend within a row; weights are finite and >= 0 (`sums_of_rows` counts others).
#pragma once
#include "base/hashing.cuh"
#include "base/scalar.cuh"
#include "base/views.cuh"

namespace grb {

template <class I> struct RandomWalks {
  const int64_t* start;                        // indptr
  const I* indices;
  const double *weights, *sums;                // of each entry, and those of a row up to it, scaled; null: all count 1
  const int64_t* first;
  int64_t count, length;
  word seed;
  double restart;
  int64_t proposals;                           // the most of a step before all edges are weighed; 0: p = q = 1
  double p, least;                             // least = min(1, q)
  // by kind of edge, 0 back, 1 to a neighbour of the vertex before, 2 away from it: the bias over the largest one, and
  // the bias as 1 / (part 2^power)
  double kept[3], part[3];
  int64_t power[3];
  int64_t* walks;                              // count x (length + 1)

  GRB_DEVICE bool has_edge(int64_t i, int64_t j) const { return find(indices, start[i], start[i + 1], j) >= 0; }
  GRB_DEVICE int kind(int64_t before, int64_t x) const { return x == before ? 0 : has_edge(before, x) ? 1 : 2; }
  // The target of the edge of v that u in [0, 1) chooses.
  GRB_DEVICE int64_t draw(int64_t v, double u) const {
    const int64_t low = start[v], high = start[v + 1];
    return indices[sums == nullptr ? low + int64_t(u * double(high - low))
                                   : upper_bound(sums, low, high, u * sums[high - 1])];
  }
  // The probability with which `draw` chooses v -> x.
  GRB_DEVICE double share(int64_t v, int64_t x) const {
    const int64_t low = start[v], high = start[v + 1], at = find(indices, low, high, x);
    if (at < 0) return 0;
    return sums == nullptr ? 1 / double(high - low) : (sums[at] - (at > low ? sums[at - 1] : 0)) / sums[high - 1];
  }
  // What u chooses among all edges of v by weight and bias, whose sums are scaled by the greatest one's power of two.
  GRB_DEVICE int64_t weighed(int64_t v, int64_t before, double u) const {
    const int64_t low = start[v], high = start[v + 1];
    int64_t most = -(int64_t(1) << 62);
    auto biased = [&](int64_t e, int64_t& exponent) {  // weight x bias = the result x 2^exponent
      const int k = kind(before, indices[e]);
      int of_weight;
      const double m = ::frexp(weights == nullptr ? 1.0 : weights[e], &of_weight);
      exponent = of_weight - power[k];
      return m / part[k];
    };
    for (int64_t e = low; e < high; e++) {
      int64_t exponent;
      if (biased(e, exponent) > 0 && exponent > most) most = exponent;
    }
    double wanted = 0;
    for (int turn = 0; turn < 2; turn++) {     // the sum of all; then the first that exceeds the wanted share of it
      double sum = 0;
      for (int64_t e = low; e < high; e++) {
        int64_t exponent;
        const double m = biased(e, exponent);
        if (m > 0) sum += ::ldexp(m, int(exponent - most));
        if (turn == 1 && sum > wanted) return indices[e];
      }
      wanted = u * sum;
    }
    return indices[high - 1];                  // not reached: u < 1
  }
};

// A number in [0, 1) for a walk's key, the step and the draw.
GRB_DEVICE double uniform_number(word key, int64_t step, int64_t draw) {
  return double(mixed_by(word(draw) << 40 | word(step + 1), key) >> 11) * 0x1p-53;
}

template <class I> GRB_DEVICE int64_t second_order(const RandomWalks<I>& o, word key, int64_t step, int64_t before,
                                                   int64_t v) {
  const bool apart = o.p < o.least;            // what the edge back exceeds the others by is drawn by itself
  const double excess = apart ? exact_product(o.share(v, before), o.least - o.p) : 0;
  const double back = apart ? excess / (o.p + excess) : 0;
  const int64_t degree = o.start[v + 1] - o.start[v];
  for (int64_t attempt = 1; attempt <= o.proposals; attempt++) {
    if (apart && uniform_number(key, step, 2 * o.proposals + 1 + attempt) < back) return before;
    const int64_t x = o.draw(v, uniform_number(key, step, 2 * attempt));
    if (uniform_number(key, step, 2 * attempt + 1) < o.kept[o.kind(before, x)]) return x;
    if (degree <= attempt) break;
  }
  return o.weighed(v, before, uniform_number(key, step, 0));
}

template <class I> __global__ void __launch_bounds__(256) random_walks(RandomWalks<I> o) {
  GRB_EACH(k, o.count) {
    const word key = mixed_by(word(k), o.seed);
    int64_t* walk = o.walks + k * (o.length + 1);
    int64_t before = -1, v = o.first[k];
    walk[0] = v;
    for (int64_t step = 0; step < o.length; step++) {
      int64_t to = -1;
      if (v >= 0) {
        const int64_t end = o.start[v + 1];
        if (o.start[v] < end && (o.sums == nullptr || o.sums[end - 1] > 0))
          to = step > 0 && o.proposals > 0 ? second_order(o, key, step, before, v)
                                           : o.draw(v, uniform_number(key, step, 0));
        if (to >= 0 && o.restart > 0 && uniform_number(key, step, 1) < o.restart) to = o.first[k];
      }
      before = v, v = to;
      walk[step + 1] = v;
    }
  }
}

// sums[e] = the weights of e's row up to e, added one by one, scaled by the power of two that brings the greatest of
// the row to 1/2 at least.  *refused = how many weights are negative, NaN or infinite.  A warp for each row.
template <int = 0> __global__ void __launch_bounds__(256) sums_of_rows(const int64_t* start, int64_t n,
                                                                      const double* weights, double* sums,
                                                                      word* refused) {
  const int lane = lane_number();
  GRB_EACH_WARP(v, n) {
    const int64_t low = start[v], high = start[v + 1];
    double most = 0;
    int bad = 0;
    for (int64_t e = low + lane; e < high; e += 32) {
      const double x = weights[e];
      if (x >= 0 && is_finite_real(x)) most = x > most ? x : most; else bad++;
    }
    if (bad > 0) atomicAdd(refused, word(bad));
    for (int by = 16; by > 0; by >>= 1) {
      const double other = __shfl_xor_sync(ALL_LANES, most, by);
      most = other > most ? other : most;
    }
    int power;
    ::frexp(most, &power);
    double sum = 0;
    for (int64_t base = low; base < high; base += 32) {
      const bool mine = base + lane < high;
      const double x = mine ? ::ldexp(weights[base + lane], -power) : 0;
      double own = 0;
      for (int j = 0; j < 32; j++) {
        sum += __shfl_sync(ALL_LANES, x, j);
        if (lane == j) own = sum;
      }
      if (mine) sums[base + lane] = own;
    }
  }
}

}  // namespace grb
