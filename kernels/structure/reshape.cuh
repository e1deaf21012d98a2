// A matrix of another shape whose entries keep their places in row-major order: row pointers and columns alone change.
//
// Caller: backends/cuda/structure/reshape.py.
// Launch: reshaped_starts: one thread for each new row, with two binary searches; reshaped_entries: a grid-stride loop
//   over warps.
#pragma once
#include "base/views.cuh"
#include "structure/gather.cuh"

namespace grb {

// out[i] = entries before place i * width, where row r, CSR (rows null) or DCSR, has the places from r * ncols on.
template <class I>
__global__ void reshaped_starts(const int64_t* indptr, const int64_t* rows, int64_t stored, const I* columns,
                                int64_t ncols, int64_t width, int64_t nrows, int64_t* out) {
  GRB_EACH(i, nrows + 1) {
    const int64_t place = i * width, row = place / ncols, column = place - row * ncols;
    const int64_t r = rows == nullptr ? min(row, stored) : lower_bound(rows, int64_t(0), stored, row);
    const bool inside = r < stored && (rows == nullptr || rows[r] == row);
    out[i] = inside ? lower_bound(columns, indptr[r], indptr[r + 1], column) : indptr[r];
  }
}

// The row (lines null: not wanted) and the column of each entry.
template <class I, class J>
__global__ void reshaped_entries(const int64_t* ends, const int64_t* rows, int64_t stored, int64_t total,
                                 const I* columns, int64_t ncols, int64_t width, int64_t* lines, J* columns_out) {
  for_each_in_segments(ends, stored, total, [&](int64_t k, int64_t s, int64_t) {
    const int64_t place = (rows == nullptr ? s : rows[s]) * ncols + int64_t(columns[k]), line = place / width;
    if (lines != nullptr) lines[k] = line;
    columns_out[k] = J(place - line * width);
  });
}

}  // namespace grb
