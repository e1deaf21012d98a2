// C[i,j] = (+)_k A[i,k] (x) B[k,j] for the positions (i,j) of a mask: masked SpGEMM by dot products, row i of A with
// row j of B'.
//
// Algorithm: masked dot product (push_pull_graphblas_icpp18, 5.2), the shorter row looked up in the
//   longer one by bisection.
// Phases: the two rows of a position; each lane looks its entries of the shorter row up; early exit at
//   the terminal value; combine.
// Launch: backends/cuda/products/matmul.py; `lanes` neighbours (1 to 32, a power of two) for each position.
#pragma once
#include "products/semiring.cuh"

namespace grb {

template <class I, class J, class M, class S>
__global__ void __launch_bounds__(256)
dot_places(const int64_t* m_places, const M* m_cols, int64_t n, int64_t lanes, const int64_t* a_ptr,
           const int64_t* a_rows, int64_t a_held, const I* a_cols, const typename S::A* a_values,
           const int64_t* b_ptr, const int64_t* b_rows, int64_t b_held, const J* b_cols,
           const typename S::X* b_values, typename S::Z* out, bool* hit) {
  int sub = lane_number() & int(lanes - 1);
  unsigned group = lanes == 32 ? ALL_LANES : ((1u << lanes) - 1) << (lane_number() - sub);
  int64_t in_warp = 32 / lanes;
  GRB_EACH_WARP(task, (n + in_warp - 1) / in_warp) {
    int64_t e = task * in_warp + lane_number() / lanes;
    int64_t a = 0, a_stop = 0, b = 0, b_stop = 0, i = 0, j = 0;
    if (e < n) {
      i = m_places[e];
      j = m_cols[e];
      row_range(a_ptr, a_rows, a_held, i, a, a_stop);
      row_range(b_ptr, b_rows, b_held, j, b, b_stop);
    }
    bool by_a = a_stop - a <= b_stop - b;
    int64_t at = (by_a ? a : b) + sub, stop = by_a ? a_stop : b_stop;
    int64_t low = by_a ? b : a, high = by_a ? b_stop : a_stop;
    if (low == high) at = stop;
    Total<S> total;
    for (;;) {
      if (at < stop) {
        int64_t k = by_a ? int64_t(a_cols[at]) : int64_t(b_cols[at]);
        low = by_a ? lower_bound(b_cols, low, high, k) : lower_bound(a_cols, low, high, k);  // keys ascend
        if (low < high && (by_a ? int64_t(b_cols[low]) : int64_t(a_cols[low])) == k) {
          int64_t p = by_a ? at : low, q = by_a ? low : at;
          total.take(S::times(value_of_a<S>(a_values, p), value_of_x<S>(b_values, q), i, k, j));
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
    join_lanes<S>(total, int(lanes));
    if (sub == 0 && e < n) {
      hit[e] = total.have;
      if constexpr (!S::structure_only) {
        if (total.have) out[e] = total.value;
      }
    }
  }
}

}  // namespace grb
