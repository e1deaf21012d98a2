// w = A (+.x) x over 16 x 16 tiles with values, and their making.
//
// Who calls: backends/cuda/tiles.py.  Schema: storage/tiled.py.
// tiled_rows       TileSpMSpV, Algorithm 4: a warp for each tile row, two lanes for each of its 16 rows; a tile whose 16 bits
//                  of x are empty is passed over after one look.
// Invariants: presence words of x and of masks are as in bits.cuh, read in parts of a tile's width; every part of w's words is
//   written by the warp of its tile row.
// Paper: tilespmspv_tilebfs_icpp22, 3.2 and 3.3.
#pragma once
#include "products.cuh"

namespace grb {

// The tiles of one tile row against x; each pair of lanes ends with the total of a row (in the first of the two).
template <class I, class S, bool MASKED>
__global__ void __launch_bounds__(256)
tiled_rows(int64_t nrows, int64_t tile_rows, const int64_t* tile_ptr, const int32_t* tile_col, const int64_t* tile_nnz,
           const uint8_t* row_start, const uint8_t* nibbles, const typename S::A* a_values, const uint16_t* x_parts,
           int64_t x_size, const typename S::X* x_values, const word* mask, bool complement, typename S::Z* w,
           uint16_t* w_parts, unsigned long long* count) {
  unsigned long long found = 0;
  int r = lane_number() >> 1, half = lane_number() & 1;
  GRB_EACH_WARP(tile_row, tile_rows) {
    int64_t row = tile_row * 16 + r;
    bool wanted = row < nrows;
    if constexpr (MASKED) wanted = wanted && has(mask, row) != complement;
    Total<S> total;
    if (__any_sync(ALL_LANES, wanted)) {
      for (int64_t t = tile_ptr[tile_row]; t < tile_ptr[tile_row + 1]; t++) {
        int64_t col = int64_t(tile_col[t]) * 16;
        unsigned present = x_parts == nullptr ? 0xffffu : x_parts[tile_col[t]];
        if (present == 0) continue;
        if (wanted) {
          int64_t first = tile_nnz[t];
          int stop = r == 15 ? int(tile_nnz[t + 1] - first) : int(row_start[t * 16 + r + 1]);
          for (int e = row_start[t * 16 + r] + half; e < stop; e += 2) {
            int local = nibbles[first + e] & 15;
            if (present >> local & 1) {
              int64_t k = col + local;
              total.take(S::times(value_of_a<S>(a_values, first + e), value_of_x<S>(x_values, k), row, k, 0));
            }
          }
        }
      }
    }
    join_lanes<S>(total, 2);
    bool writes = half == 0 && total.have;
    if constexpr (!S::structure_only) {
      if (writes) w[row] = total.value;
    }
    unsigned both = __ballot_sync(ALL_LANES, writes);
    if (lane_number() == 0) {
      unsigned packed = 0;
      for (int k = 0; k < 16; k++) packed |= (both >> (2 * k) & 1) << k;
      w_parts[tile_row] = uint16_t(packed);
      found += __popc(packed);
    }
  }
  __shared__ unsigned long long sums[32];
  found = block_reduce(found, [](unsigned long long p, unsigned long long q) { return p + q; }, sums);
  if (threadIdx.x == 0 && found) atomicAdd(count, found);
}

// ---- making tiles

// keys[e] = tile row * tile_cols + tile column of entry e, whose row is rows[e].
template <class I>
__global__ void tile_keys(const int64_t* rows, const I* cols, int64_t n, int64_t shift, int64_t tile_cols, int64_t* keys) {
  GRB_EACH(e, n) keys[e] = (rows[e] >> shift) * tile_cols + (int64_t(cols[e]) >> shift);
}

// One thread for each tile: its entries (order[tile_nnz[t]] ..., by rows) packed.
template <class I>
__global__ void pack_tiles(const int64_t* order, const int64_t* rows, const I* cols, const int64_t* tile_nnz, int64_t tiles,
                           uint8_t* nibbles, uint8_t* row_start, uint16_t* row_mask) {
  GRB_EACH(t, tiles) {
    int64_t first = tile_nnz[t];
    int next = 0;
    for (int r = 0; r < 16; r++) row_mask[t * 16 + r] = 0;
    for (int64_t e = first; e < tile_nnz[t + 1]; e++) {
      int r = int(rows[order[e]] & 15), c = int(cols[order[e]] & 15);
      while (next <= r) row_start[t * 16 + next++] = uint8_t(e - first);
      row_mask[t * 16 + r] |= uint16_t(1u << c);
      nibbles[e] = uint8_t(r << 4 | c);
    }
    int length = int(tile_nnz[t + 1] - first);  // a full tile has no row left to start at 256
    while (next < 16) row_start[t * 16 + next++] = uint8_t(length);
  }
}

}  // namespace grb
