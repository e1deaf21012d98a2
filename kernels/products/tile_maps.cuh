// Maps of 8 x 8 bit blocks: bit 8 r + c is that of row r, column c (storage/bit_tiles.py, BitBlockMatrix).
//
// OR and product_of_maps are a semiring of maps.  Over it the product of two block layouts gives the maps of C's
// blocks: steps 1 and 2 of TileSpGEMM (tilespgemm_ppopp22, 3.3).  Caller: backends/cuda/products/tile_pairs.py.
#pragma once
#include "base/launch.cuh"

namespace grb {

// Bit 8 r + c becomes bit 8 c + r (Warren, Hacker's Delight, 7-3).
GRB_DEVICE word transposed(word x) {
  word t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaull;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000ccccull;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ull;
  return x ^ t ^ (t << 28);
}

// The map of the product of two blocks: the bits of A's column k select the rows that get row k of B.
GRB_DEVICE word product_of_maps(word a, word b) {
  constexpr unsigned COLUMN = 0x01010101u;
  const unsigned a_low = unsigned(a), a_high = unsigned(a >> 32);
  unsigned low = 0, high = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const unsigned row = (unsigned(b >> (8 * k)) & 0xff) * COLUMN;  // in each of four rows
    low |= (a_low >> k & COLUMN) * 0xff & row;
    high |= (a_high >> k & COLUMN) * 0xff & row;
  }
  return word(high) << 32 | low;
}

}  // namespace grb
