// Where the entries of one store stand among those of another: membership, and the lists of those that are kept.
//
// Result: for each entry of `a` its place in `b` (the first entry of b that is not before it) and whether b holds it; the
//   ascending list of flagged entries; row pointers of a matrix of which only listed entries stay.
// Who calls: backends/cuda/elementwise/elementwise.py (intersect, restrict, union) and mapping.py (select).
// Stores: a matrix is (indptr, rows, held, indices), rows null for CSR (held = nrows) and the ascending names of the `held`
//   rows for DCSR; a list of positions is (null, null, 0, indices).  Rows ascend, and columns within each.
// Threads: one for each entry of `a`; rows differ in length, so the work is one binary search for each entry.
#pragma once
#include "base/views.cuh"

namespace grb {

// The name of the row that entry k belongs to (0 in a list).
GRB_DEVICE int64_t row_name(const int64_t* indptr, const int64_t* rows, int64_t held, int64_t k) {
  if (indptr == nullptr) return 0;
  int64_t r = row_of(indptr, held, k);
  return rows == nullptr ? r : rows[r];
}

// The place in the store (indptr, rows, held, indices, n) of the first entry that is not before (row, column); is it there?
template <class I>
GRB_DEVICE int64_t place_of(const int64_t* indptr, const int64_t* rows, int64_t held, const I* indices, int64_t n,
                            int64_t row, I column, bool& there) {
  int64_t start = 0, stop = n;
  if (indptr != nullptr) {
    int64_t r = row;
    bool known = true;
    if (rows != nullptr) {
      r = lower_bound(rows, int64_t(0), held, row);
      known = r < held && rows[r] == row;
    }
    start = indptr[r];
    stop = known ? indptr[r + 1] : start;
  }
  int64_t at = lower_bound(indices, start, stop, column);
  there = at < stop && indices[at] == column;
  return at;
}

// at[k] = the place in b of entry k of a; hit[k] = (b holds it) != complement, and with `join` only where it was set.
template <class I, class P>
__global__ void locate_entries(const int64_t* indptr_a, const int64_t* rows_a, int64_t held_a, const I* indices_a, int64_t n,
                               const int64_t* indptr_b, const int64_t* rows_b, int64_t held_b, const I* indices_b,
                               int64_t m, bool complement, bool join, P* at, bool* hit) {
  GRB_EACH(k, n) {
    if (join && !hit[k]) continue;
    bool there;
    int64_t place = place_of(indptr_b, rows_b, held_b, indices_b, m, row_name(indptr_a, rows_a, held_a, k), indices_a[k], there);
    if (at != nullptr) at[k] = P(place);
    hit[k] = there != complement;
  }
}

// hit[k] = (position indices[k] is among `words`) != complement, and with `join` only where it was set.
template <class I>
__global__ void member_flags(const I* indices, int64_t n, const word* words, bool complement, bool join, bool* hit) {
  GRB_EACH(k, n) hit[k] = (!join || hit[k]) && has_or_all(words, indices[k]) != complement;
}

// The numbers of the flagged entries; ends[k] = how many of the first k + 1 are flagged.
template <class P> __global__ void list_flagged(const bool* flags, const P* ends, int64_t n, P* kept) {
  GRB_EACH(k, n) if (flags[k]) kept[ends[k] - 1] = P(k);
}

// out[r] = how many of the ascending `kept` entries come before row r: row pointers of what is left.
template <class P> __global__ void kept_starts(const int64_t* indptr, int64_t n, const P* kept, int64_t count, int64_t* out) {
  GRB_EACH(r, n) out[r] = lower_bound(kept, int64_t(0), count, indptr[r]);
}

}  // namespace grb
