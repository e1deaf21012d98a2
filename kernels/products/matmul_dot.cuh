// C[i,j] = (+)_k A[i,k] (x) B[k,j] for the positions (i,j) of a mask: masked SpGEMM by dot products, row i of A with
// row j of B'.
//
// Algorithm: masked dot product (masking: push_pull_graphblas_icpp18, 5.2), the shorter row looked up in the longer one
//   by bisection.
// Phases: the two rows of a position; each lane looks up its entries of the shorter row; early exit at the terminal
//   value; combine.  Long rows are looked up by the whole warp.
// Launch: backends/cuda/products/masked.py; `lanes` neighbours (1 to 32, a power of two) for each position.
#pragma once
#include "products/semiring.cuh"

namespace grb {

constexpr int64_t MOST_LOOKUPS = 32;  // of a lane at a position; positions with more are the whole warp's

// A position of the mask and its two rows: entries a .. a_stop-1 of A, b .. b_stop-1 of B'.
struct Place {
  int64_t i, j, a, a_stop, b, b_stop;
};

// Their dot product by groups of `lanes` lanes, in their first lanes.  All lanes of a warp call together.
template <class I, class J, class S>
GRB_DEVICE Total<S> dot_of_rows(const Place& o, int lanes, const I* a_cols, const typename S::A* a_values,
                                const J* b_cols, const typename S::X* b_values) {
  const int sub = lane_number() & (lanes - 1);
  const unsigned group = lanes == 32 ? ALL_LANES : ((1u << lanes) - 1) << (lane_number() - sub);
  const bool by_a = o.a_stop - o.a <= o.b_stop - o.b;
  int64_t at = (by_a ? o.a : o.b) + sub, stop = by_a ? o.a_stop : o.b_stop;
  int64_t low = by_a ? o.b : o.a, high = by_a ? o.b_stop : o.a_stop;
  if (low == high) at = stop;
  Total<S> total;
  for (;;) {
    if (at < stop) {
      int64_t k = by_a ? int64_t(a_cols[at]) : int64_t(b_cols[at]);
      low = by_a ? lower_bound(b_cols, low, high, k) : lower_bound(a_cols, low, high, k);  // keys ascend
      if (low < high && (by_a ? int64_t(b_cols[low]) : int64_t(a_cols[low])) == k) {
        int64_t p = by_a ? at : low, q = by_a ? low : at;
        total.take(S::times(value_of_a<S>(a_values, p), value_of_x<S>(b_values, q), o.i, k, o.j));
      }
      if (low >= high) at = stop;
      at += lanes;
    }
    bool more = at < stop;
    if constexpr (stops_early<S>) {
      if (__ballot_sync(ALL_LANES, total.finished()) & group) more = false, at = stop;
    }
    if (!__any_sync(ALL_LANES, more)) break;
  }
  join_lanes<S>(total, lanes);
  return total;
}

template <class I, class J, class M, class S>
__global__ void __launch_bounds__(256)
dot_places(const int64_t* m_places, const M* m_cols, int64_t n, int64_t lanes, const int64_t* a_ptr,
           const int64_t* a_rows, int64_t a_held, const I* a_cols, const typename S::A* a_values,
           const int64_t* b_ptr, const int64_t* b_rows, int64_t b_held, const J* b_cols,
           const typename S::X* b_values, typename S::Z* out, bool* hit) {
  const int sub = lane_number() & int(lanes - 1);
  const int64_t in_warp = 32 / lanes;
  GRB_EACH_WARP(task, (n + in_warp - 1) / in_warp) {
    const int64_t e = task * in_warp + lane_number() / lanes;
    Place o = {};
    if (e < n) {
      o.i = m_places[e];
      o.j = m_cols[e];
      row_range(a_ptr, a_rows, a_held, o.i, o.a, o.a_stop);
      row_range(b_ptr, b_rows, b_held, o.j, o.b, o.b_stop);
    }
    auto write = [&](int64_t at, const Total<S>& total) {
      hit[at] = total.have;
      if constexpr (!S::structure_only)
        if (total.have) out[at] = total.value;
    };
    const bool of_warp = min(o.a_stop - o.a, o.b_stop - o.b) > MOST_LOOKUPS * lanes && lanes < 32;
    for_each_lane(of_warp && sub == 0, [&](int from) {
      const Total<S> total = dot_of_rows<I, J, S>(shuffle(o, from), 32, a_cols, a_values, b_cols, b_values);
      if (lane_number() == 0) write(e + from / lanes, total);
    });
    Place mine = o;
    if (of_warp) mine.a = mine.a_stop, mine.b = mine.b_stop;
    const Total<S> total = dot_of_rows<I, J, S>(mine, int(lanes), a_cols, a_values, b_cols, b_values);
    if (sub == 0 && e < n && !of_warp) write(e, total);
  }
}

}  // namespace grb
