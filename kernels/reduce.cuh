// All values combined to one.
//
// Result: parts[b] = the combination of what block b met, there[b] = did it meet anything.  A second launch with one block
//   over the parts gives the scalar.  No identity is needed: a monoid over all values that are present.
// Who calls: backends/cuda/mapping.py (reduce).
// Present: where `words` holds k (null: everywhere), and where present[k] is set (null: everywhere).
// Threads: grid-stride over the values, then warps, then the first warp of each block.  The operator is associative and
//   commutative (a monoid); floating sums are combined as a tree.
#pragma once
#include "scalar.cuh"
#include "views.cuh"
#include "warp.cuh"

namespace grb {

template <class T, class Op>
__global__ void reduce_values(const T* values, const word* words, const bool* present, int64_t n, T* parts, bool* there) {
  __shared__ ulonglong2 raw[32 * ((sizeof(T) + 15) / 16)];  // as aligned as any T
  __shared__ int met[32];
  T* shared = reinterpret_cast<T*>(raw);
  Op op;
  T folded = T();
  bool any = false;
  GRB_EACH(k, n) {
    if (has_or_all(words, k) && (present == nullptr || present[k])) {
      folded = any ? op(folded, values[k]) : values[k];
      any = true;
    }
  }
  folded = warp_reduce_present(folded, any, op);
  if (lane_number() == 0) {
    shared[threadIdx.x >> 5] = folded;
    met[threadIdx.x >> 5] = any;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    int warps = blockDim.x >> 5;
    any = lane_number() < warps && met[lane_number()];
    folded = any ? shared[lane_number()] : T();
    folded = warp_reduce_present(folded, any, op);
    if (lane_number() == 0) {
      parts[blockIdx.x] = folded;
      there[blockIdx.x] = any;
    }
  }
}

}  // namespace grb
