// Row pointers (CSR) from the sorted row numbers of entries (COO), and the start and length of given rows.
//
// Callers: backends/cuda/structure/arrays.py (line_starts), structure/rows.py (pick_rows, assigned_rows).
// Launch: one thread for each row, with one binary search.
#pragma once
#include "base/views.cuh"

namespace grb {

// indptr[i] = how many of the ascending `lines` are below i, for i in 0 .. count.
template <class L> __global__ void line_starts(const L* lines, int64_t n, int64_t count, int64_t* indptr) {
  GRB_EACH(i, count + 1) indptr[i] = lower_bound(lines, int64_t(0), n, i);
}

// (starts, lengths) of the rows `wanted` (null: first + k * step) of a matrix, CSR (rows null) or DCSR.
// zero: the element before the sums of the lengths, or null.
template <class P>
__global__ void pick_rows(const int64_t* wanted, int64_t first, int64_t step, int64_t n, const P* indptr,
                          const int64_t* rows, int64_t stored, int64_t* starts, int64_t* lengths, int64_t* zero) {
  if (zero != nullptr && thread_number() == 0) *zero = 0;
  GRB_EACH(k, n) {
    int64_t start, stop;
    row_range(indptr, rows, stored, wanted == nullptr ? first + k * step : wanted[k], start, stop);
    starts[k] = start;
    lengths[k] = stop - start;
  }
}

// (starts, lengths) of the rows of C after C(I, :) = T, for copy_rows: ~start of a row of T, start of one of C.
// I: places[i] is row i's place in it, -1 for none; places null: of `count` rows first, first + step, ...
// t_indptr null: T is empty.  C and T: CSR (rows null) or DCSR.  zero: as above.
template <class = void>
__global__ void assigned_rows(const int64_t* indptr, const int64_t* rows, int64_t stored, int64_t n, const int* places,
                              int64_t first, int64_t step, int64_t count, const int64_t* t_indptr,
                              const int64_t* t_rows, int64_t t_stored, int64_t* starts, int64_t* lengths,
                              int64_t* zero) {
  if (thread_number() == 0) *zero = 0;
  GRB_EACH(i, n) {
    int64_t place, start = 0, stop = 0;
    if (places != nullptr) {
      place = places[i];
    } else {
      const int64_t offset = i - first;
      place = offset / step;
      if (place < 0 || place >= count || place * step != offset) place = -1;
    }
    if (place < 0) {
      row_range(indptr, rows, stored, i, start, stop);
      starts[i] = start;
    } else {
      if (t_indptr != nullptr) row_range(t_indptr, t_rows, t_stored, place, start, stop);
      starts[i] = ~start;
    }
    lengths[i] = stop - start;
  }
}

}  // namespace grb
