// GraphBLAS select: the entries for which an operator of value, position and scalar (thunk) is true.
//
// Result: flags[k] for the entries of a matrix or a sparse vector, or, where `kept` is given, the presence bits of a
//   bitmap; their number is added to *count.
// Caller: backends/cuda/elementwise/mapping.py (select).  Positions: as in elementwise/apply.cuh.
// stored -1: the operator does not use rows, which are searched for otherwise.
// join: an entry is kept only where flags[k] was set before (the mask).
// Launch: one thread for each entry, n rounded up to 64 so that every half word is written.
#pragma once
#include "base/warp.cuh"
#include "elementwise/apply.cuh"

namespace grb {

template <class I, class X, class T, class Op>
__global__ void select_flags(const int64_t* indptr, const int64_t* rows, int64_t stored, const I* indices,
                             const word* words, int64_t n, const X* x, bool iso, const T* thunk, bool join, bool* flags,
                             word* kept, unsigned long long* count) {
  Op op;
  unsigned long long found = 0;
  GRB_EACH(k, (n + 63) & ~int64_t(63)) {
    bool keep = k < n && has_or_all(words, k) && !(join && !flags[k]);
    if (keep) {
      position<I> p = position_of(indptr, rows, stored, indices, k);
      keep = cast<bool>(op(x == nullptr ? X() : x[iso ? 0 : k], p.i, p.j, *thunk));
    }
    if (kept != nullptr) {
      write_flags(kept, k, keep);
      found += keep;
    } else if (k < n) {
      flags[k] = keep;
    }
  }
  if (kept != nullptr) add_to_count(found, count);
}

}  // namespace grb
