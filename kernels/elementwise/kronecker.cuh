// Kronecker product: the entries of A and of B from which each entry of C is computed, and its position.
//
// Result: entry e of C, by rows, combines A's entry at_a[e] and B's entry at_b[e], and is in column columns[e]; row
//   pointers of C, and the numbers of its rows where these are stored.
// Callers: backends/cuda/elementwise/broadcast.py.  Both operands are CSR, or both DCSR: row r of C that is stored is
//   A's row r / stored_b times B's row r % stored_b, as they store them.
// Within a row the entries are ordered by A's, then by B's, so columns ascend.
// Launch: one thread for each row (starts: tiles of rows, as write_sums), then one for each entry, which finds its row
//   by binary search.
#pragma once
#include "base/views.cuh"
#include "structure/prefix_sums.cuh"

namespace grb {

// rows: null where rows_a and rows_b are.  states, finished, sent: as of write_sums.
template <class = void>
__global__ void __launch_bounds__(256)
kronecker_starts(const int64_t* indptr_a, const int64_t* rows_a, int64_t stored_a, const int64_t* indptr_b,
                 const int64_t* rows_b, int64_t stored_b, int64_t nrows_b, int64_t* rows, int64_t* pointers,
                 word* states, word* finished, word* sent) {
  if (thread_number() == 0) pointers[0] = 0;
  const auto length = [=](int64_t r) {
    const int64_t a = r / stored_b, b = r % stored_b;
    if (rows != nullptr) rows[r] = rows_a[a] * nrows_b + rows_b[b];
    return (indptr_a[a + 1] - indptr_a[a]) * (indptr_b[b + 1] - indptr_b[b]);
  };
  write_sums_of<true>(length, stored_a * stored_b, pointers + 1, states, finished, sent);
}

template <class I, class J, class C, class P>
__global__ void kronecker_entries(const int64_t* indptr_a, const I* indices_a, int64_t stored_a,
                                  const int64_t* indptr_b, const J* indices_b, int64_t stored_b, int64_t ncols_b,
                                  const int64_t* pointers, int64_t n, C* columns, P* at_a, P* at_b) {
  GRB_EACH(e, n) {
    const int64_t r = row_of(pointers, stored_a * stored_b, e);
    const int64_t a = r / stored_b, b = r % stored_b, within = e - pointers[r];
    const int64_t length = indptr_b[b + 1] - indptr_b[b];
    const int64_t first = indptr_a[a] + within / length, second = indptr_b[b] + within % length;
    columns[e] = C(int64_t(indices_a[first]) * ncols_b + int64_t(indices_b[second]));
    at_a[e] = P(first);
    at_b[e] = P(second);
  }
}

// For each position (i, j) of a mask: the entries A(i / p, j / q) and B(i % p, j % q), B being p x q; hit: both exist.
template <class M, class I, class J, class P>
__global__ void kronecker_masked(const int64_t* indptr_m, const int64_t* rows_m, int64_t stored_m, const M* indices_m,
                                 int64_t n, const int64_t* indptr_a, const int64_t* rows_a, int64_t stored_a,
                                 const I* indices_a, const int64_t* indptr_b, const int64_t* rows_b, int64_t stored_b,
                                 const J* indices_b, int64_t nrows_b, int64_t ncols_b, P* at_a, P* at_b, bool* hit) {
  GRB_EACH(e, n) {
    int64_t r = row_of(indptr_m, stored_m, e), i = rows_m == nullptr ? r : rows_m[r],
            j = int64_t(indices_m[e]), start, stop;
    row_range(indptr_a, rows_a, stored_a, i / nrows_b, start, stop);
    int64_t a = find(indices_a, start, stop, j / ncols_b), b = -1;
    if (a >= 0) {
      row_range(indptr_b, rows_b, stored_b, i % nrows_b, start, stop);
      b = find(indices_b, start, stop, j % ncols_b);
    }
    at_a[e] = P(a);
    at_b[e] = P(b);
    hit[e] = b >= 0;
  }
}

}  // namespace grb
