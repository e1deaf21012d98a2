// Row pointers (CSR) from the sorted row numbers of entries (COO), and the start and length of given rows.
//
// Callers: backends/cuda/structure/arrays.py (line_starts); structure/gather.py, products/columns.py (pick_rows).
// Launch: one thread for each row, with one binary search.
#pragma once
#include "base/views.cuh"

namespace grb {

// indptr[i] = how many of the ascending `lines` are below i, for i in 0 .. count.
template <class L> __global__ void line_starts(const L* lines, int64_t n, int64_t count, int64_t* indptr) {
  GRB_EACH(i, count + 1) indptr[i] = lower_bound(lines, int64_t(0), n, i);
}

// (starts, lengths) of the rows `wanted` of a matrix, CSR (rows null) or DCSR.
template <class P>
__global__ void pick_rows(const int64_t* wanted, int64_t n, const P* indptr, const int64_t* rows, int64_t stored,
                          int64_t* starts, int64_t* lengths) {
  GRB_EACH(k, n) {
    int64_t start, stop;
    row_range(indptr, rows, stored, wanted[k], start, stop);
    starts[k] = start;
    lengths[k] = stop - start;
  }
}

}  // namespace grb
