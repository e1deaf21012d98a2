// Which entries of A and B meet at each entry of their Kronecker product, and where it stands.
//
// Result: entry e of C, by rows, is A's entry at_a[e] with B's entry at_b[e], at (rows[e], columns[e]).
// Who calls: backends/cuda/elementwise/broadcast.py; both operands are DCSR, so that every row named holds something, and row r of the
//   product's held rows is A's held row r / held_b with B's held row r % held_b; ends[r] = entries of the rows up to r.
// Within a row the entries go by A's, then by B's: columns ascend.  Threads: one for each row, then one for each entry.
#pragma once
#include "base/views.cuh"

namespace grb {

template <class = void>
__global__ void kronecker_lengths(const int64_t* indptr_a, int64_t held_a, const int64_t* indptr_b, int64_t held_b,
                                  int64_t* lengths) {
  GRB_EACH(r, held_a * held_b) {
    int64_t a = r / held_b, b = r % held_b;
    lengths[r] = (indptr_a[a + 1] - indptr_a[a]) * (indptr_b[b + 1] - indptr_b[b]);
  }
}

template <class I, class J, class P>
__global__ void kronecker_entries(const int64_t* indptr_a, const int64_t* rows_a, const I* indices_a, int64_t held_a,
                                  const int64_t* indptr_b, const int64_t* rows_b, const J* indices_b, int64_t held_b,
                                  int64_t nrows_b, int64_t ncols_b, const int64_t* ends, int64_t n, int64_t* rows,
                                  int64_t* columns, P* at_a, P* at_b) {
  GRB_EACH(e, n) {
    int64_t r = upper_bound(ends, int64_t(0), held_a * held_b, e);
    int64_t a = r / held_b, b = r % held_b, within = e - (r == 0 ? 0 : ends[r - 1]);
    int64_t length = indptr_b[b + 1] - indptr_b[b];
    int64_t first = indptr_a[a] + within / length, second = indptr_b[b] + within % length;
    rows[e] = rows_a[a] * nrows_b + rows_b[b];
    columns[e] = int64_t(indices_a[first]) * ncols_b + int64_t(indices_b[second]);
    at_a[e] = P(first);
    at_b[e] = P(second);
  }
}

// For each position (i, j) of a mask: where A(i / p, j / q) and B(i % p, j % q) are stored, B being p x q; hit: both exist.
template <class M, class I, class J, class P>
__global__ void kronecker_places(const int64_t* indptr_m, const int64_t* rows_m, int64_t held_m, const M* indices_m, int64_t n,
                                 const int64_t* indptr_a, const int64_t* rows_a, int64_t held_a, const I* indices_a,
                                 const int64_t* indptr_b, const int64_t* rows_b, int64_t held_b, const J* indices_b,
                                 int64_t nrows_b, int64_t ncols_b, P* at_a, P* at_b, bool* hit) {
  GRB_EACH(e, n) {
    int64_t r = row_of(indptr_m, held_m, e), i = rows_m == nullptr ? r : rows_m[r], j = int64_t(indices_m[e]), start, stop;
    row_range(indptr_a, rows_a, held_a, i / nrows_b, start, stop);
    int64_t a = find(indices_a, start, stop, j / ncols_b), b = -1;
    if (a >= 0) {
      row_range(indptr_b, rows_b, held_b, i % nrows_b, start, stop);
      b = find(indices_b, start, stop, j % ncols_b);
    }
    at_a[e] = P(a);
    at_b[e] = P(b);
    hit[e] = b >= 0;
  }
}

}  // namespace grb
