// Reduction of all present values to one in a single launch; the last block combines the blocks' partial results.
//
// Algorithm: the threadFenceReduction sample of CUDA (single-pass reduction with a ticket counter).
// Result: out[0] and out[1] have the value's bytes, out[2] whether there is one; each is written once, because the
//   host may poll for it (backends/cuda/runtime/mailbox.py).
// parts: three words for each block: its value, and whether it has one.  finished: counts blocks, 0 before and after.
//   Both are null for a grid of one block.
// The operator is a monoid's: associative and commutative; its identity is not needed.  Floating-point sums are
//   combined in a fixed tree, so every run gives the same result.
// Callers: backends/cuda/elementwise/mapping.py (reduce); reduce_grid: elementwise/compare.cuh, products/inner.cuh.
// Present: positions k whose bit of `words` is set (null: all).
// Launch: grid-stride loop over the values, then a reduction over warps and over the first warp of each block.
#pragma once
#include "base/scalar.cuh"
#include "base/views.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int AHEAD = 4;  // values that a thread reads before it combines the first: loads overlap

// The reduction of the block's threads' values, in thread 0; `any`: has this thread a value?  Then: is there a result?
template <class T, class Op>
GRB_DEVICE T block_reduce_present(T folded, bool& any, T* shared, int* present, Op op) {
  folded = warp_reduce_present(folded, any, op);
  __syncthreads();
  if (lane_number() == 0) {
    shared[threadIdx.x >> 5] = folded;
    present[threadIdx.x >> 5] = any;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    any = lane_number() < int(blockDim.x >> 5) && present[lane_number()];
    folded = any ? shared[lane_number()] : T();
    folded = warp_reduce_present(folded, any, op);
  }
  return folded;
}

// A value in words of 8 bytes.  NVRTC copies by memcpy byte by byte where it does not know the alignment.
template <class T> GRB_DEVICE T value_in(const word* p) {
  if constexpr (sizeof(T) <= 8) {
    return *reinterpret_cast<const T*>(p);
  } else {
    T value;
    memcpy(&value, p, sizeof(T));
    return value;
  }
}
template <class T> GRB_DEVICE void put_value(word* p, const T& value) {
  if constexpr (sizeof(T) <= 8) *reinterpret_cast<T*>(p) = value;
  else memcpy(p, &value, sizeof(T));
}

template <class T> GRB_DEVICE void write_scalar(word* out, const T& value, bool any) {
  if constexpr (sizeof(T) == 8) {
    put_value(out, value);
    out[1] = 0, out[2] = any;
  } else {
    word bytes[2] = {0, 0};
    memcpy(bytes, &value, sizeof(T));
    out[0] = bytes[0], out[1] = bytes[1], out[2] = any;
  }
}

// The reduction of the blocks' results.
template <class T, class Op>
GRB_DEVICE T total_of_parts(const word* parts, unsigned blocks, bool& any, T* shared, int* present, Op op) {
  T folded = T();
  any = false;
  for (unsigned b = threadIdx.x; b < blocks; b += blockDim.x) {
    const T part = value_in<T>(parts + 3 * b);  // read whether there is one or not: the loads overlap
    if (parts[3 * b + 2]) {
      folded = any ? op(folded, part) : part;
      any = true;
    }
  }
  return block_reduce_present(folded, any, shared, present, op);
}

// The reduction of all threads' values, in out as above.
template <class T, class Op>
GRB_DEVICE void reduce_grid(T folded, bool any, word* parts, word* finished, word* out, Op op) {
  __shared__ ulonglong2 raw[32 * ((sizeof(T) + 15) / 16)];  // as aligned as any T
  __shared__ int present[32];
  T* shared = reinterpret_cast<T*>(raw);
  folded = block_reduce_present(folded, any, shared, present, op);
#ifdef GRB_STEPS
  const bool is_part = parts != nullptr;
#else
  const bool is_part = gridDim.x > 1;
#endif
  if (is_part) {
    if (threadIdx.x == 0) {
      put_value(parts + 3 * blockIdx.x, folded);
      parts[3 * blockIdx.x + 2] = any;
    }
#ifdef GRB_STEPS
    return;                        // reduce_parts comes later
#endif
    if (!is_last_block(finished)) return;
    folded = total_of_parts(parts, gridDim.x, any, shared, present, op);
  }
  if (threadIdx.x == 0) write_scalar(out, folded, any);
}

#ifdef GRB_STEPS
// As a step of a persistent kernel a reduction is two: the blocks' results; after a barrier, by one warp, theirs.
template <class T, class Op> __global__ void reduce_parts(const word* parts, word* out) {
  constexpr int TOGETHER = 9;  // loads that overlap: of two blocks a multiprocessor on most devices
  Op op;
  T folded = T();
  bool any = false;
  const word* mine = parts + 3 * lane_number();
  for (int left = int(launched_blocks()) - lane_number(); left > 0; left -= 32 * TOGETHER, mine += 96 * TOGETHER) {
    T part[TOGETHER];
    bool there[TOGETHER];
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
      there[k] = left > 32 * k;
      if (there[k]) {
        part[k] = value_in<T>(mine + 96 * k);
        there[k] = mine[96 * k + 2] != 0;
      }
    }
#pragma unroll
    for (int k = 0; k < TOGETHER; k++) {
      if (there[k]) folded = any ? op(folded, part[k]) : part[k];
      any = any || there[k];
    }
  }
  folded = warp_reduce_present(folded, any, op);
  if (lane_number() == 0) write_scalar(out, folded, any);
}
#endif

// Some of what is reduced, and whether that is any.
template <class T> struct Part {
  T value;
  bool any;
};
template <class T, class Op> GRB_DEVICE void fold(Part<T>& total, const Part<T>& more) {
  if (more.any) total.value = total.any ? Op()(total.value, more.value) : more.value;
  total.any = total.any || more.any;
}
template <class T, class Op>
GRB_DEVICE Part<T> reduce_values_at(int64_t k, const T* values, const word* words, int64_t, word*, word*, word*) {
  const bool there = has_or_all(words, k);
  return {there ? values[k] : T(), there};
}

template <class T, class Op>
__global__ void __launch_bounds__(1024)
reduce_values(const T* values, const word* words, int64_t n, word* parts, word* finished, word* out) {
  Op op;
  T folded = T();
  bool any = false;
  const int64_t step = item_step(), end = item_end(n);
  for (int64_t first = first_item(n); first < end; first += AHEAD * step) {
    T value[AHEAD];
    bool there[AHEAD];
#pragma unroll
    for (int b = 0; b < AHEAD; b++) {
      int64_t k = first + b * step;
      there[b] = k < end && has_or_all(words, k);
      if (there[b]) value[b] = values[k];
    }
#pragma unroll
    for (int b = 0; b < AHEAD; b++) {
      if (there[b]) folded = any ? op(folded, value[b]) : value[b];
      any = any || there[b];
    }
  }
  reduce_grid(folded, any, parts, finished, out, op);
}

}  // namespace grb
