// w = A (+.x) x over tiles: 16 x 16 tiles with values, and bit tiles that hold structure only; and the making of both.
//
// Who calls: backends/cuda/tiles.py.  Schemas: storage/tiled.py, storage/bit_tiles.py.
// tiled_rows       TileSpMSpV, Algorithm 4: a warp for each tile row, two lanes for each of its 16 rows; a tile whose 16 bits
//                  of x are empty is passed over after one look.
// bit_tile_rows    TileBFS, Algorithms 6 (Push-CSR) and 7 (Pull-CSC): a warp for each tile row, its rows shared out among
//                  the lanes; a tile meets x by one AND for each row.  Rows that are not wanted, or found already, ask nothing.
// bit_tile_columns TileBFS, Algorithm 5 (Push-CSC): a warp for each column of tiles that x meets, a lane for each tile: the
//                  column words that x's bits name are united, one atomic for each tile.
// Invariants: presence words of x and of masks are as in bits.cuh, read in parts of a tile's width; every part of w's words is
//   written by the warp of its tile row (bit_tile_columns: united into zeroed words).
// Paper: tilespmspv_tilebfs_icpp22, 3.2 to 3.4.
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

// W: uint32_t or word, as wide as a tile.  counts (null: presence only) gets how many of x's positions each row meets.
template <class W>
__global__ void __launch_bounds__(256)
bit_tile_rows(int64_t nrows, int64_t tile_rows, const int64_t* tile_ptr, const int32_t* tile_col, const W* row_words,
              const W* x_parts, const W* mask, bool masked, bool complement, W* w_parts, int64_t* counts,
              unsigned long long* total) {
  constexpr int NT = 8 * sizeof(W), EACH = NT / 32;
  unsigned long long found = 0;
  GRB_EACH_WARP(tile_row, tile_rows) {
    int64_t left = nrows - tile_row * NT;
    W wanted = left >= NT ? ~W(0) : (W(1) << left) - 1;
    if (masked) {
      W m = mask == nullptr ? ~W(0) : mask[tile_row];
      wanted &= complement ? ~m : m;
    }
    int64_t met[EACH];
    for (int u = 0; u < EACH; u++) met[u] = 0;
    if (wanted) {
      for (int64_t t = tile_ptr[tile_row]; t < tile_ptr[tile_row + 1]; t++) {
        W x = x_parts[tile_col[t]];
        if (x == 0) continue;
        bool open = false;
        for (int u = 0; u < EACH; u++) {
          int r = u * 32 + lane_number();
          if (wanted >> r & 1) {
            if (counts != nullptr || met[u] == 0) met[u] += __popcll((word)(row_words[t * NT + r] & x));
            open = open || met[u] == 0;
          }
        }
        if (counts == nullptr && !__any_sync(ALL_LANES, open)) break;
      }
    }
    W packed = 0;
    for (int u = 0; u < EACH; u++) {
      packed |= W(__ballot_sync(ALL_LANES, met[u] != 0)) << (u * 32);
      if (counts != nullptr && met[u] != 0) counts[tile_row * NT + u * 32 + lane_number()] = met[u];
    }
    if (lane_number() == 0) {
      w_parts[tile_row] = packed;
      found += __popcll((word)packed);
    }
  }
  __shared__ unsigned long long sums[32];
  found = block_reduce(found, [](unsigned long long p, unsigned long long q) { return p + q; }, sums);
  if (threadIdx.x == 0 && found) atomicAdd(total, found);
}

template <class W>
__global__ void __launch_bounds__(256)
bit_tile_columns(int64_t tile_cols, const int64_t* tile_ptr, const int32_t* tile_row, const W* col_words, const W* x_parts,
                 const W* mask, bool masked, bool complement, W* w_parts) {
  constexpr int NT = 8 * sizeof(W);
  GRB_EACH_WARP(tile_col, tile_cols) {
    W x = x_parts[tile_col];
    if (x == 0) continue;
    for (int64_t t = tile_ptr[tile_col] + lane_number(); t < tile_ptr[tile_col + 1]; t += 32) {
      W wanted = ~W(0);
      if (masked) {
        W m = mask == nullptr ? ~W(0) : mask[tile_row[t]];
        wanted = complement ? ~m : m;
      }
      W united = 0;
      for (W rest = wanted ? x : W(0); rest; rest &= rest - 1)
        united |= col_words[t * NT + (__ffsll((long long)(word)rest) - 1)];
      united &= wanted;
      if (united) atomicOr(&w_parts[tile_row[t]], united);
    }
  }
}

// *total = members of words (after bit_tile_columns).
__global__ void count_words(const word* words, int64_t n, unsigned long long* total) {
  unsigned long long found = 0;
  GRB_EACH(i, n) found += members(words[i]);
  __shared__ unsigned long long sums[32];
  found = block_reduce(found, [](unsigned long long p, unsigned long long q) { return p + q; }, sums);
  if (threadIdx.x == 0 && found) atomicAdd(total, found);
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

// row_words[tile of e][row in tile] |= column in tile.  starts: first place in `order` of each tile.
template <class I, class W>
__global__ void fill_bit_tiles(const int64_t* order, const int64_t* rows, const I* cols, const int64_t* starts, int64_t tiles,
                               int64_t n, W* row_words) {
  constexpr int NT = 8 * sizeof(W);
  GRB_EACH(e, n) {
    int64_t t = upper_bound(starts, int64_t(0), tiles, e) - 1, p = order[e];
    atomicOr(&row_words[t * NT + (rows[p] & (NT - 1))], W(1) << (cols[p] & (NT - 1)));
  }
}

}  // namespace grb
