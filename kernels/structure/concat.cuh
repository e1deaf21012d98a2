// One CSR matrix of a grid of CSR tiles: row pointers are sums of the tiles', and each tile's entries go behind those
// of the tiles on their left.
//
// Caller: backends/cuda/structure/concat.py.  Values are moved as unsigned integers of their size.
// Phases: add_starts      row pointers of a row of tiles: the sum of theirs, from its first entry on
//         ranges_of       (structure/gather.cuh) the place of each entry of a tile, from the cursors of its rows
//         put_entries     columns and values to their places
//         move_cursors    behind the tile's entries
#pragma once
#include "base/launch.cuh"

namespace grb {

// out[k] = first + starts[k] (starts null: first); more: added to what is there.
template <class = void>
__global__ void add_starts(const int64_t* starts, int64_t n, int64_t first, bool more, int64_t* out) {
  GRB_EACH(k, n) {
    const int64_t found = first + (starts == nullptr ? 0 : starts[k]);
    out[k] = more ? out[k] + found : found;
  }
}

template <class = void> __global__ void move_cursors(const int64_t* indptr, int64_t rows, int64_t* cursors) {
  GRB_EACH(r, rows) cursors[r] += indptr[r + 1] - indptr[r];
}

// Entry k goes to at[k] (at null: first + k), `left` columns to the right; values_out null: columns alone.
template <class I, class J, class T>
__global__ void put_entries(const int64_t* at, int64_t n, int64_t first, const I* columns, int64_t left,
                            const T* values, bool iso, J* columns_out, T* values_out) {
  GRB_EACH(k, n) {
    const int64_t to = at == nullptr ? first + k : at[k];
    columns_out[to] = J(int64_t(columns[k]) + left);
    if (values_out != nullptr) values_out[to] = values[iso ? 0 : k];
  }
}

}  // namespace grb
