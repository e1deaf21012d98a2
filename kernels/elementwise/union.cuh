// Union of two stores by merging: the position of each entry of either in the union.
//
// Result: for each position of the union its column, its row (if rows is given), and the entry of each operand there
//   (-1: none); row pointers when both operands are CSR.
// Algorithm: merge by rank.  Entry k of `a` goes to k + (entries that only b has, before k); entry l that only b has
//   goes to its lower bound in a + (such entries up to l) - 1.  The positions are distinct, so nothing is sorted.
// Callers: backends/cuda/structure/positions.py, after entries of each store were located in the other: of `b` those
//   that only b has (lone), with their lower bounds in `a` (lower), of `a` their lower bounds in `b` (other), and if b
//   has them (there); ends: inclusive scan of lone.  Stores as in elementwise/intersect.cuh; b has fewer entries.
// Launch: one thread for each entry.
#pragma once
#include "elementwise/intersect.cuh"

namespace grb {

template <class P> GRB_DEVICE int64_t lone_before(const P* ends, int64_t l) {
  return l == 0 ? 0 : int64_t(ends[l - 1]);
}

template <class I, class P>
__global__ void scatter_first(const int64_t* indptr_a, const int64_t* rows_a, int64_t stored_a, const I* indices_a,
                              int64_t n, const P* other, const bool* there, const P* ends, I* columns, int64_t* rows,
                              P* at_a, P* at_b) {
  GRB_EACH(k, n) {
    int64_t position = k + lone_before(ends, int64_t(other[k]));
    columns[position] = indices_a[k];
    if (rows != nullptr) rows[position] = row_number(indptr_a, rows_a, stored_a, k);
    at_a[position] = P(k);
    at_b[position] = there[k] ? other[k] : P(-1);
  }
}

template <class I, class P>
__global__ void scatter_lone(const int64_t* indptr_b, const int64_t* rows_b, int64_t stored_b, const I* indices_b,
                             int64_t m, const bool* lone, const P* lower, const P* ends, I* columns, int64_t* rows,
                             P* at_a, P* at_b) {
  GRB_EACH(l, m) {
    if (!lone[l]) continue;
    int64_t position = int64_t(lower[l]) + ends[l] - 1;
    columns[position] = indices_b[l];
    if (rows != nullptr) rows[position] = row_number(indptr_b, rows_b, stored_b, l);
    at_a[position] = P(-1);
    at_b[position] = P(l);
  }
}

// Row pointers of the union of two CSR matrices: n = number of rows + 1.
template <class P>
__global__ void union_starts(const int64_t* indptr_a, const int64_t* indptr_b, const P* ends, int64_t n, int64_t* out) {
  GRB_EACH(r, n) out[r] = indptr_a[r] + lone_before(ends, indptr_b[r]);
}

}  // namespace grb
