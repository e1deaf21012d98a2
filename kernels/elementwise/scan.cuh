// out[k] = values[first] (+) ... (+) values[k] within each segment of an array (rows of a matrix, a whole vector).
//
// Algorithm: reduce-then-scan by chunks (Blelloch, "Prefix sums and their applications", 1990, section 1.4):
//   scan_chunks scans each chunk alone; the host scans the chunks' last values in the same way; add_carries puts them
//   before.
// Chunks: chunk c has the entries begins[c] .. begins[c + 1] - 1 (the last one ends at `total`), all of one segment.
// The operator is associative; it need not commute, and no identity is needed.
// Launch: one warp for each chunk, Kernel.over(32 * chunks, ...).
// Callers: backends/cuda/elementwise/scan.py.
#pragma once
#include "base/scalar.cuh"
#include "base/warp.cuh"

namespace grb {

GRB_DEVICE int64_t chunk_end(const int64_t* begins, int64_t c, int64_t chunks, int64_t total) {
  return c + 1 < chunks ? begins[c + 1] : total;
}

template <class T, class Op>
__global__ void scan_chunks(const T* values, const int64_t* begins, int64_t chunks, int64_t total, T* out) {
  Op op;
  GRB_EACH_WARP(c, chunks) {
    const int64_t begin = begins[c], end = chunk_end(begins, c, chunks, total);
    T before = T();
    for (int64_t base = begin; base < end; base += 32) {
      const int64_t k = base + lane_number();
      T value = warp_scan(values[min(k, end - 1)], op);
      if (base > begin) value = op(before, value);
      if (k < end) out[k] = value;
      before = shuffle(value, 31);
    }
  }
}

// out[k] = carries[c - 1] (+) out[k] for the entries of each chunk c but the first of its segment.
// number: of the chunk in its segment.  carries: the scan, within segments, of the chunks' last values.
template <class T, class Op>
__global__ void add_carries(const int64_t* begins, const int64_t* number, int64_t chunks, int64_t total,
                            const T* carries, T* out) {
  Op op;
  GRB_EACH_WARP(c, chunks) {
    if (number[c] == 0) continue;
    const T carry = carries[c - 1];
    const int64_t end = chunk_end(begins, c, chunks, total);
    for (int64_t k = begins[c] + lane_number(); k < end; k += 32) out[k] = op(carry, out[k]);
  }
}

}  // namespace grb
