// Error reports of kernels: (code, three details) into the error word by compare-and-swap; the first writer wins.
// Codes: 1 duplicate or bad value, 2 index out of bound, 3 not enough space,
//   4 broken invariant (backends/cuda/runtime/errors.py).
#pragma once
#include "base/launch.cuh"

namespace grb {

GRB_DEVICE void report(unsigned long long* error, unsigned code, int64_t a = 0, int64_t b = 0, int64_t c = 0) {
  if (error != nullptr && atomicCAS(error, 0ull, (unsigned long long)code) == 0) {
    error[1] = a;
    error[2] = b;
    error[3] = c;
  }
}

}  // namespace grb
