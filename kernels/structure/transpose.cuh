// Row pointers (CSR) from the sorted row numbers of entries (COO), and the start and length of given rows.
//
// Callers: backends/cuda/structure/arrays.py (line_starts), structure/rows.py (rows picked, capped or assigned).
// Launch: one thread for each row, with one binary search; those that sum lengths: tiles of rows, as write_sums.
#pragma once
#include "base/views.cuh"
#include "structure/prefix_sums.cuh"

namespace grb {

// indptr[i] = how many of the ascending `lines` are below i, for i in 0 .. count.
template <class L> __global__ void line_starts(const L* lines, int64_t n, int64_t count, int64_t* indptr) {
  GRB_EACH(i, count + 1) indptr[i] = lower_bound(lines, int64_t(0), n, i);
}

// A row among `wanted` (null: first + k * step) of a matrix, CSR (rows null) or DCSR: its start, and its length.
template <class P>
GRB_DEVICE int64_t picked_row(const int64_t* wanted, int64_t first, int64_t step, int64_t k, const P* indptr,
                              const int64_t* rows, int64_t stored, int64_t* starts) {
  int64_t start, stop;
  row_range(indptr, rows, stored, wanted == nullptr ? first + k * step : wanted[k], start, stop);
  starts[k] = start;
  return stop - start;
}

template <class P>
__global__ void pick_rows(const int64_t* wanted, int64_t first, int64_t step, int64_t n, const P* indptr,
                          const int64_t* rows, int64_t stored, int64_t* starts, int64_t* lengths) {
  GRB_EACH(k, n) lengths[k] = picked_row(wanted, first, step, k, indptr, rows, stored, starts);
}

// The same with row pointers in the place of the lengths.  Launch, states, finished, sent: as of write_sums.
template <class P>
__global__ void __launch_bounds__(256)
sum_rows(const int64_t* wanted, int64_t first, int64_t step, int64_t n, const P* indptr, const int64_t* rows,
         int64_t stored, int64_t* starts, int64_t* pointers, word* states, word* finished, word* sent) {
  if (thread_number() == 0) pointers[0] = 0;
  write_sums_of<true>([=](int64_t k) { return picked_row(wanted, first, step, k, indptr, rows, stored, starts); }, n,
                      pointers + 1, states, finished, sent);
}

// The row pointers where each row keeps its first (from_end: last) k entries, and where those of a row begin.  Launch,
// states, finished, sent: as of write_sums.
template <class P>
__global__ void __launch_bounds__(256)
capped_rows(const P* indptr, int64_t n, int64_t k, bool from_end, int64_t* starts, int64_t* pointers, word* states,
            word* finished, word* sent) {
  if (thread_number() == 0) pointers[0] = 0;
  const auto taken = [=](int64_t r) {
    const int64_t start = indptr[r], stop = indptr[r + 1], count = min(stop - start, k);
    starts[r] = from_end ? stop - count : start;
    return count;
  };
  write_sums_of<true>(taken, n, pointers + 1, states, finished, sent);
}

// The row pointers of C after C(I, :) = T, and for copy_rows ~start of a row of T, start of one of C.
// I: places[i] is row i's place in it, -1 for none; places null: of `count` rows first, first + step, ...
// t_indptr null: T is empty.  C and T: CSR (rows null) or DCSR.  Launch, states, finished, sent: as of write_sums.
template <class = void>
__global__ void __launch_bounds__(256)
assigned_rows(const int64_t* indptr, const int64_t* rows, int64_t stored, int64_t n, const int* places, int64_t first,
              int64_t step, int64_t count, const int64_t* t_indptr, const int64_t* t_rows, int64_t t_stored,
              int64_t* starts, int64_t* pointers, word* states, word* finished, word* sent) {
  if (thread_number() == 0) pointers[0] = 0;
  const auto length = [=](int64_t i) {
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
    return stop - start;
  };
  write_sums_of<true>(length, n, pointers + 1, states, finished, sent);
}

}  // namespace grb
