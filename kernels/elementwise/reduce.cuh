// All values combined to one, in one launch: the last block to end combines what the blocks found.
//
// Result: out[0] and out[1] hold the value's bytes, out[3] whether there is one; out[2] counts the blocks that are done (all
//   four are 0 before).  parts: three words for each block: its value, and did it meet anything; null for one block.
//   No identity is needed: a monoid over all values that are present.
// Who calls: backends/cuda/elementwise/mapping.py (reduce).
// Present: where `words` holds k (null: everywhere).
// Threads: grid-stride over the values, then warps, then the first warp of each block.  The operator is associative and
//   commutative (a monoid); floating sums are combined as a tree, the same for every run.
#pragma once
#include "base/scalar.cuh"
#include "base/views.cuh"
#include "base/warp.cuh"

namespace grb {

// The combination of what the block's threads hold, in thread 0; `any` becomes whether there is one.
template <class T, class Op>
GRB_DEVICE T block_reduce_present(T folded, bool& any, T* shared, int* met, Op op) {
  folded = warp_reduce_present(folded, any, op);
  __syncthreads();
  if (lane_number() == 0) {
    shared[threadIdx.x >> 5] = folded;
    met[threadIdx.x >> 5] = any;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    any = lane_number() < int(blockDim.x >> 5) && met[lane_number()];
    folded = any ? shared[lane_number()] : T();
    folded = warp_reduce_present(folded, any, op);
  }
  return folded;
}

template <class T, class Op>
__global__ void reduce_values(const T* values, const word* words, int64_t n, word* parts, word* out) {
  __shared__ ulonglong2 raw[32 * ((sizeof(T) + 15) / 16)];  // as aligned as any T
  __shared__ int met[32];
  __shared__ int is_last;
  T* shared = reinterpret_cast<T*>(raw);
  Op op;
  T folded = T();
  bool any = false;
  GRB_EACH(k, n) {
    if (has_or_all(words, k)) {
      folded = any ? op(folded, values[k]) : values[k];
      any = true;
    }
  }
  folded = block_reduce_present(folded, any, shared, met, op);
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) {
      memcpy(parts + 3 * blockIdx.x, &folded, sizeof(T));
      parts[3 * blockIdx.x + 2] = any;
      __threadfence();
      is_last = atomicAdd(out + 2, word(1)) == gridDim.x - 1;
      __threadfence();
    }
    __syncthreads();
    if (!is_last) return;
    folded = T();
    any = false;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
      if (parts[3 * b + 2]) {
        T part;
        memcpy(&part, parts + 3 * b, sizeof(T));
        folded = any ? op(folded, part) : part;
        any = true;
      }
    }
    folded = block_reduce_present(folded, any, shared, met, op);
  }
  if (threadIdx.x == 0) {
    memcpy(out, &folded, sizeof(T));
    out[3] = any;
  }
}

}  // namespace grb
