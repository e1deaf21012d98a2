// Intersection by binary search.
//
// Result: locate_entries, member_flags: for each entry of `a` its lower bound in list `b`, and whether `b` (a list or
//   a bitmap) has its position; kept_starts: row pointers of a matrix of which only listed entries stay;
//   diagonal_places: the entries of a diagonal.
// Caller: backends/cuda/structure/positions.py.
// Stores: a matrix is (indptr, rows, stored, indices), rows null for CSR (stored = nrows) and the ascending numbers of
//   the `stored` rows for DCSR; a sparse vector is (null, null, 0, indices).  Rows ascend, and columns within each.
// Launch: one thread for each entry of `a`, each with one binary search, so rows of any length balance.
#pragma once
#include "base/views.cuh"

namespace grb {

// The row of entry k (0 in a vector).
GRB_DEVICE int64_t row_number(const int64_t* indptr, const int64_t* rows, int64_t stored, int64_t k) {
  if (indptr == nullptr) return 0;
  int64_t r = row_of(indptr, stored, k);
  return rows == nullptr ? r : rows[r];
}

// Lower bound of (row, column) in the store (indptr, rows, stored, indices, n); there: is that entry at (row, column)?
template <class I>
GRB_DEVICE int64_t entry_position(const int64_t* indptr, const int64_t* rows, int64_t stored, const I* indices,
                                  int64_t n, int64_t row, I column, bool& there) {
  int64_t start = 0, stop = n;
  if (indptr != nullptr) {
    int64_t r = row;
    bool known = true;
    if (rows != nullptr) {
      r = lower_bound(rows, int64_t(0), stored, row);
      known = r < stored && rows[r] == row;
    }
    start = indptr[r];
    stop = known ? indptr[r + 1] : start;
  }
  int64_t at = lower_bound(indices, start, stop, column);
  there = at < stop && indices[at] == column;
  return at;
}

// at[k] = lower bound in b of entry k of a; hit[k] = (b has it) != complement, and with `join` only
// where hit[k] was set.
template <class I, class P>
__global__ void locate_entries(const int64_t* indptr_a, const int64_t* rows_a, int64_t stored_a, const I* indices_a,
                               int64_t n, const int64_t* indptr_b, const int64_t* rows_b, int64_t stored_b,
                               const I* indices_b, int64_t m, bool complement, bool join, P* at, bool* hit) {
  GRB_EACH(k, n) {
    if (join && !hit[k]) continue;
    bool there;
    int64_t position = entry_position(indptr_b, rows_b, stored_b, indices_b, m,
                                      row_number(indptr_a, rows_a, stored_a, k), indices_a[k], there);
    if (at != nullptr) at[k] = P(position);
    hit[k] = there != complement;
  }
}

// hit[k] = (position indices[k] is among `words`) != complement, and with `join` only where it was set.
template <class I>
__global__ void member_flags(const I* indices, int64_t n, const word* words, bool complement, bool join, bool* hit) {
  GRB_EACH(k, n) hit[k] = (!join || hit[k]) && has_or_all(words, indices[k]) != complement;
}

// out[r] = how many of the ascending `kept` entries come before row r: the row pointers of the kept entries.
template <class P> __global__ void kept_starts(const int64_t* indptr, int64_t n, const P* kept, int64_t count,
                                               int64_t* out) {
  GRB_EACH(r, n) out[r] = lower_bound(kept, int64_t(0), count, indptr[r]);
}

// at[r] = the entry (i, i + k) of the stored row r, whose number is i; hit[r]: is there one?  (rows null: CSR)
template <class I>
__global__ void diagonal_places(const int64_t* indptr, const int64_t* rows, int64_t stored, const I* indices, int64_t k,
                                int64_t* at, bool* hit) {
  GRB_EACH(r, stored) {
    const int64_t column = (rows == nullptr ? r : rows[r]) + k;
    const int64_t found = column < 0 ? -1 : find(indices, indptr[r], indptr[r + 1], column);
    at[r] = found;
    hit[r] = found >= 0;
  }
}

}  // namespace grb
