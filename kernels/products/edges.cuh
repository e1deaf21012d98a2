// The number of entries of the rows in a list or a bitmap: the cost of a push, for the planner.
//
// Caller: backends/cuda/products/columns.py.  Launch: one thread for each position; one atomic a block.
#pragma once
#include "base/views.cuh"
#include "base/warp.cuh"

namespace grb {

// *sum += lengths of the rows indices[0 .. n-1], or of the members of `words` (indices null, n = size), or, where these
// are null, too, of all.
template <class P, class I>
__global__ void edges_of(const I* indices, const word* words, int64_t n, const P* indptr, unsigned long long* sum) {
  unsigned long long mine = 0;
  GRB_EACH(t, n) {
    if (indices != nullptr) {
      int64_t i = indices[t];
      mine += indptr[i + 1] - indptr[i];
    } else if (has_or_all(words, t)) {
      mine += indptr[t + 1] - indptr[t];
    }
  }
  add_to_count(mine, sum);
}

}  // namespace grb
