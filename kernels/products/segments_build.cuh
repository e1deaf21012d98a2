// The form of a matrix for SpMV by segments: bits where rows begin, 16-bit delta-encoded columns; and an x with gaps.
//
// Algorithm: the tile flags of CSR5 (Liu, Vinter, ICS 2015), section 3; delta encoding of the columns of a slice.
// Launch: backends/cuda/products/segments.py.
#pragma once
#include "products/segment_rows.cuh"

namespace grb {

// A bit where each row begins, and one after the last entry.
template <class P> __global__ void mark_begins(const P* starts, int64_t rows, int64_t entries, unsigned* begins) {
  GRB_EACH(r, rows + 1) {
    int64_t at = r < rows ? int64_t(starts[r]) : entries;
    atomicOr(begins + (at >> 5), 1u << (at & 31));
  }
}

// 16-bit delta encoding: distances from the least column of each slice, in the order in which lanes take them;
// bases[slice] = -1 where they do not fit.  *count grows by the slices where they do.  Null outputs are left out.
template <class I>
__global__ void encode_columns(const I* cols, int64_t entries, int64_t slices, uint16_t* offsets, int32_t* bases,
                               unsigned long long* count) {
  unsigned long long found = 0;
  GRB_EACH_WARP(slice, slices) {
    int32_t c[LANE_ENTRIES], low = 0x7fffffff, high = 0;
    for (int u = 0; u < LANE_ENTRIES; u++) {
      int64_t k = slice * SLICE + u * 32 + lane_number();
      c[u] = int32_t(cols[k < entries ? k : entries - 1]);
      low = c[u] < low ? c[u] : low;
      high = c[u] > high ? c[u] : high;
    }
    low = warp_min(low);
    high = warp_max(high);
    bool fits = high - low < 65536;
    found += fits;
    if (lane_number() == 0) bases[slice] = fits ? low : -1;
    if (offsets != nullptr) {
      for (int u = 0; u < LANE_ENTRIES; u++)
        offsets[slice * SLICE + lane_number() * LANE_ENTRIES + u] = uint16_t(fits ? c[u] - low : 0);
    }
  }
  if (lane_number() == 0 && count != nullptr && found) atomicAdd(count, found);
}

// x with ABSENT at its gaps, in the given order (null: its own); n 0: there are none.  w_words: the rows that may have
// a result, those with entries (occupied; null: all of `rows`) that the mask (null: none) admits; found[0] grows by
// their number.  found[1] becomes 1 where a value of x is ABSENT itself.
template <class X>
__global__ void mark_gaps(const unsigned* x_words, const X* x, const int32_t* order, int64_t n, X* out,
                          const unsigned* occupied, const unsigned* mask, bool complement, int64_t rows,
                          unsigned* w_words, unsigned long long* found) {
  const int64_t words = (rows + 63) / 64 * 2;
  unsigned long long count = 0;
  GRB_EACH(r, n > words ? n : words) {
    if (r < n) {
      const int64_t k = order == nullptr ? r : order[r];
      const bool here = x_words[k >> 5] >> (k & 31) & 1;
      X value = here ? x[k] : X();
      if (here && is_absent(value)) found[1] = 1;
      if (!here) make_absent(value);
      out[r] = value;
    }
    if (r < words) {
      const int64_t left = rows - r * 32;
      unsigned bits = occupied != nullptr ? occupied[r] : left >= 32 ? ~0u : left > 0 ? (1u << left) - 1 : 0;
      if (mask != nullptr) bits &= complement ? ~mask[r] : mask[r];
      w_words[r] = bits;
      count += __popc(bits);
    }
  }
  count = warp_reduce(count, [](unsigned long long p, unsigned long long q) { return p + q; });
  if (lane_number() == 0 && count) atomicAdd(found, count);
}

}  // namespace grb
