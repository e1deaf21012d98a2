// C[i,j] = (+)_k A[i,k] (x) B[k,j] at the positions (i,j) of a bound: masked SpGEMM by dot products, where each operand
// is a pattern by rows that stays and a bitmap of which of its positions have an entry.
//
// Algorithm: masked dot product (masking: push_pull_graphblas_icpp18, 5.2), the shorter row looked up in the longer one
//   by bisection; positions without an entry are passed over.
// Launch: backends/cuda/programs/bounded.py; `lanes` neighbours (1 to 32, a power of two) for each position.
#pragma once
#include "products/semiring.cuh"

namespace grb {

// The entries of an operand by rows; of B those of its transpose.  order: the position of each in the bitmap and among
// the values, null: its own.
template <class I> struct Lines {
  const int64_t* ptr;
  const I* cols;
  const int64_t* order;
  const word* words;

  GRB_DEVICE int64_t position(int64_t p) const { return order == nullptr ? p : order[p]; }
};

template <class M, class I, class J, class S>
__global__ void __launch_bounds__(256)
dot_bounded(const int64_t* m_rows, const M* m_cols, const word* m_words, int64_t n, int64_t lanes,
            const int64_t* a_ptr, const I* a_cols, const int64_t* a_order, const word* a_words,
            const typename S::A* a_values, const int64_t* b_ptr, const J* b_cols, const int64_t* b_order,
            const word* b_words, const typename S::X* b_values, typename S::Z* out, bool* hit) {
  const int sub = lane_number() & int(lanes - 1);
  const int64_t in_warp = 32 / lanes;
  const Lines<I> A{a_ptr, a_cols, a_order, a_words};
  const Lines<J> B{b_ptr, b_cols, b_order, b_words};
  GRB_EACH_WARP(task, (n + in_warp - 1) / in_warp) {
    const int64_t e = task * in_warp + lane_number() / lanes;
    Total<S> total;
    if (e < n && has_or_all(m_words, e)) {
      const int64_t i = m_rows[e], j = m_cols[e];
      const int64_t a = A.ptr[i], a_stop = A.ptr[i + 1], b = B.ptr[j], b_stop = B.ptr[j + 1];
      const bool by_a = a_stop - a <= b_stop - b;
      int64_t low = by_a ? b : a;
      const int64_t high = by_a ? b_stop : a_stop, stop = by_a ? a_stop : b_stop;
      for (int64_t at = (by_a ? a : b) + sub; at < stop && low < high && !total.finished(); at += lanes) {
        const int64_t own = by_a ? A.position(at) : B.position(at);
        if (!has_or_all(by_a ? A.words : B.words, own)) continue;
        const int64_t k = by_a ? int64_t(A.cols[at]) : int64_t(B.cols[at]);
        low = by_a ? lower_bound(B.cols, low, high, k) : lower_bound(A.cols, low, high, k);  // keys ascend
        if (low == high || (by_a ? int64_t(B.cols[low]) : int64_t(A.cols[low])) != k) continue;
        const int64_t other = by_a ? B.position(low) : A.position(low);
        if (!has_or_all(by_a ? B.words : A.words, other)) continue;
        const int64_t p = by_a ? own : other, q = by_a ? other : own;
        total.take(S::times(value_of_a<S>(a_values, p), value_of_x<S>(b_values, q), i, k, j));
      }
    }
    join_lanes<S>(total, int(lanes));
    if (sub == 0 && e < n) {
      hit[e] = total.have;
      if constexpr (!S::structure_only)
        if (total.have) out[e] = total.value;
    }
  }
}

}  // namespace grb
