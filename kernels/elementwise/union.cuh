// Where each entry of two stores stands in their union.
//
// Result: for each place of the union its column, its row where asked for, and which entry of either operand stands there
//   (-1: none); row pointers when both operands have a place for every row.
// Who calls: backends/cuda/elementwise/elementwise.py, after locate_entries has flagged the entries of `b` that `a` lacks (lone) and
//   said where they would stand in `a` (lower); ends[l] = how many of the first l + 1 entries of b are lone.
// An entry k of `a` moves up by the lone entries of b before it, a lone entry l of `b` by the entries of a before it: no two
//   places meet, so no order needs to be made.  Stores are given as in elementwise/intersect.cuh; b is the one with fewer entries.
// Threads: one for each entry.
#pragma once
#include "elementwise/intersect.cuh"

namespace grb {

template <class P> GRB_DEVICE int64_t lone_before(const P* ends, int64_t l) { return l == 0 ? 0 : int64_t(ends[l - 1]); }

template <class I, class P>
__global__ void place_first(const int64_t* indptr_a, const int64_t* rows_a, int64_t held_a, const I* indices_a, int64_t n,
                            const int64_t* indptr_b, const int64_t* rows_b, int64_t held_b, const I* indices_b, int64_t m,
                            const P* ends, I* columns, int64_t* rows, P* at_a, P* at_b) {
  GRB_EACH(k, n) {
    int64_t row = row_name(indptr_a, rows_a, held_a, k);
    I column = indices_a[k];
    bool there;
    int64_t other = place_of(indptr_b, rows_b, held_b, indices_b, m, row, column, there);
    int64_t place = k + lone_before(ends, other);
    columns[place] = column;
    if (rows != nullptr) rows[place] = row;
    at_a[place] = P(k);
    at_b[place] = there ? P(other) : P(-1);
  }
}

template <class I, class P>
__global__ void place_lone(const int64_t* indptr_b, const int64_t* rows_b, int64_t held_b, const I* indices_b, int64_t m,
                           const bool* lone, const P* lower, const P* ends, I* columns, int64_t* rows, P* at_a, P* at_b) {
  GRB_EACH(l, m) {
    if (!lone[l]) continue;
    int64_t place = int64_t(lower[l]) + ends[l] - 1;
    columns[place] = indices_b[l];
    if (rows != nullptr) rows[place] = row_name(indptr_b, rows_b, held_b, l);
    at_a[place] = P(-1);
    at_b[place] = P(l);
  }
}

// Row pointers of the union of two CSR matrices: n = number of rows + 1.
template <class P>
__global__ void union_starts(const int64_t* indptr_a, const int64_t* indptr_b, const P* ends, int64_t n, int64_t* out) {
  GRB_EACH(r, n) out[r] = indptr_a[r] + lone_before(ends, indptr_b[r]);
}

}  // namespace grb
