// Warp and block primitives written by hand: shuffle of any type, reduce, scan.  No cub: it costs a second of compile time.
//
// Who includes it: walks.  All 32 lanes of a warp (all threads of a block, a multiple of 32 of at most 1024) call together.
// Operators are functors `T op(T, T)`, associative; combined from low lanes to high ones, so they need not commute.
#pragma once
#include "base/launch.cuh"

namespace grb {

template <class T> struct pieces {  // a value as 32-bit parts, for shuffles
  unsigned part[(sizeof(T) + 3) / 4];
};
template <class T> GRB_DEVICE pieces<T> to_pieces(const T& value) {
  pieces<T> p;
  p.part[(sizeof(T) + 3) / 4 - 1] = 0;
  memcpy(p.part, &value, sizeof(T));
  return p;
}
template <class T> GRB_DEVICE T from_pieces(const pieces<T>& p) {
  T value;
  memcpy(&value, p.part, sizeof(T));
  return value;
}
template <class T> GRB_DEVICE T shuffle(const T& value, int source) {
  pieces<T> p = to_pieces(value);
  for (unsigned& part : p.part) part = __shfl_sync(ALL_LANES, part, source);
  return from_pieces<T>(p);
}
template <class T> GRB_DEVICE T shuffle_down(const T& value, int by) {
  pieces<T> p = to_pieces(value);
  for (unsigned& part : p.part) part = __shfl_down_sync(ALL_LANES, part, by);
  return from_pieces<T>(p);
}
template <class T> GRB_DEVICE T shuffle_up(const T& value, int by) {
  pieces<T> p = to_pieces(value);
  for (unsigned& part : p.part) part = __shfl_up_sync(ALL_LANES, part, by);
  return from_pieces<T>(p);
}

// The combination of all lanes' values, in lane 0 (other lanes hold parts).
template <class T, class Op> GRB_DEVICE T warp_reduce(T value, Op op) {
  for (int by = 16; by; by >>= 1) {
    T other = shuffle_down(value, by);
    if (lane_number() + by < 32) value = op(value, other);
  }
  return value;
}
// The same of the lanes where `present`; `present` becomes whether lane 0 holds anything.  For monoids without identity.
template <class T, class Op> GRB_DEVICE T warp_reduce_present(T value, bool& present, Op op) {
  for (int by = 16; by; by >>= 1) {
    T other = shuffle_down(value, by);
    bool there = __shfl_down_sync(ALL_LANES, int(present), by) != 0 && lane_number() + by < 32;
    if (there) value = present ? op(value, other) : other;
    present = present || there;
  }
  return value;
}
// Lane k gets value 0 (op) ... (op) value k.
template <class T, class Op> GRB_DEVICE T warp_scan(T value, Op op) {
  for (int by = 1; by < 32; by <<= 1) {
    T other = shuffle_up(value, by);
    if (lane_number() >= by) value = op(other, value);
  }
  return value;
}

// The combination of the whole block's values, in thread 0.  `shared` holds 32 values; usable again after __syncthreads.
template <class T, class Op> GRB_DEVICE T block_reduce(T value, Op op, T* shared) {
  int warps = blockDim.x >> 5, w = threadIdx.x >> 5;
  value = warp_reduce(value, op);
  if (lane_number() == 0) shared[w] = value;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int k = 1; k < warps; k++) value = op(value, shared[k]);
  return value;
}
// Thread k gets the sum of the counts of threads 0 .. k-1; `total` the whole block's.  `shared` holds 33 values.
template <class T> GRB_DEVICE T block_exclusive_sum(T count, T& total, T* shared) {
  int warps = blockDim.x >> 5, w = threadIdx.x >> 5;
  T sum = count;
  for (int by = 1; by < 32; by <<= 1) {
    T other = shuffle_up(sum, by);
    if (lane_number() >= by) sum += other;
  }
  if (lane_number() == 31) shared[w] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    T before = 0;
    for (int k = 0; k < warps; k++) { T here = shared[k]; shared[k] = before; before += here; }
    shared[32] = before;
  }
  __syncthreads();
  total = shared[32];
  T result = sum - count + shared[w];
  __syncthreads();
  return result;
}

// One atomic per warp: lanes with `take` get consecutive places of the list that *count counts.
template <class C> GRB_DEVICE C warp_append(bool take, C* count) {
  unsigned takers = __ballot_sync(ALL_LANES, take);
  if (takers == 0) return 0;
  int leader = __ffs(int(takers)) - 1;
  C base = 0;
  if (lane_number() == leader) base = atomicAdd(count, C(__popc(takers)));
  base = shuffle(base, leader);
  return base + C(__popc(takers & ((1u << lane_number()) - 1)));
}

}  // namespace grb
