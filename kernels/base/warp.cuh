// Warp and block primitives: shuffle of any type, reduction, scan, compaction, append to a list.  They replace CUB,
// which adds 1 s to the compilation of each kernel.
//
// Who includes it: products/, graph/, communities/, elementwise/.
// Precondition: all 32 lanes of a warp (all threads of a block, a multiple of 32 of at most 1024) call together.
// Operators are functors `T op(T, T)`, associative.  They need not commute, because low lanes are combined with high
// ones in order.
#pragma once
#include "base/launch.cuh"

// Reductions of 32-bit integers over a warp are one instruction from sm_80 on, and five shuffles before.
// GRB_NO_REDUCE_SYNC, a compiler option, takes the shuffles everywhere, so that they are tested on any device.
#if __CUDA_ARCH__ >= 800 && !defined(GRB_NO_REDUCE_SYNC)
#define GRB_REDUCE_SYNC 1
#endif

namespace grb {

template <class T> constexpr bool is_word32 = is_same<T, int> || is_same<T, unsigned>;

template <class T> struct registers_of {  // a value as 32-bit registers, which shuffles take
  unsigned part[(sizeof(T) + 3) / 4];
};
template <class T> GRB_DEVICE registers_of<T> to_registers(const T& value) {
  registers_of<T> p;
  p.part[(sizeof(T) + 3) / 4 - 1] = 0;
  memcpy(p.part, &value, sizeof(T));
  return p;
}
template <class T> GRB_DEVICE T from_registers(const registers_of<T>& p) {
  T value;
  memcpy(&value, p.part, sizeof(T));
  return value;
}
template <class T> GRB_DEVICE T shuffle(const T& value, int source) {
  registers_of<T> p = to_registers(value);
  for (unsigned& part : p.part) part = __shfl_sync(ALL_LANES, part, source);
  return from_registers<T>(p);
}
template <class T> GRB_DEVICE T shuffle_down(const T& value, int by) {
  registers_of<T> p = to_registers(value);
  for (unsigned& part : p.part) part = __shfl_down_sync(ALL_LANES, part, by);
  return from_registers<T>(p);
}
template <class T> GRB_DEVICE T shuffle_up(const T& value, int by) {
  registers_of<T> p = to_registers(value);
  for (unsigned& part : p.part) part = __shfl_up_sync(ALL_LANES, part, by);
  return from_registers<T>(p);
}

GRB_DEVICE unsigned lanes_below() { return (1u << lane_number()) - 1; }
// The number of lanes in `lanes` below this one: its position when those lanes are compacted.
GRB_DEVICE int rank_in(unsigned lanes) { return __popc(lanes & lanes_below()); }
// body(k) for each lane k where `flag`, in turn.  The warp calls together and executes every body together.
template <class Body> GRB_DEVICE void for_each_lane(bool flag, Body body) {
  for (unsigned lanes = __ballot_sync(ALL_LANES, flag); lanes; lanes &= lanes - 1) body(__ffs(int(lanes)) - 1);
}

// The reduction of all lanes' values, in lane 0 (other lanes get partial results).
template <class T, class Op> GRB_DEVICE T warp_reduce(T value, Op op) {
  for (int by = 16; by; by >>= 1) {
    T other = shuffle_down(value, by);
    if (lane_number() + by < 32) value = op(value, other);
  }
  return value;
}
// The reduction over the lanes where `present`; on return lane 0's `present` says whether any lane was.  For monoids
// without identity.
template <class T, class Op> GRB_DEVICE T warp_reduce_present(T value, bool& present, Op op) {
  for (int by = 16; by; by >>= 1) {
    T other = shuffle_down(value, by);
    bool there = __shfl_down_sync(ALL_LANES, int(present), by) != 0 && lane_number() + by < 32;
    if (there) value = present ? op(value, other) : other;
    present = present || there;
  }
  return value;
}
// The sum of all lanes' values, in lane 0.
template <class T> GRB_DEVICE T warp_sum(T value) {
  for (int by = 16; by; by >>= 1) value += __shfl_down_sync(ALL_LANES, value, by);
  return value;
}
// The minimum, the maximum of all lanes' values, in all lanes.
template <class T> GRB_DEVICE T warp_min(T value) {
#ifdef GRB_REDUCE_SYNC
  if constexpr (is_word32<T>) return __reduce_min_sync(ALL_LANES, value);
#endif
  for (int by = 16; by; by >>= 1) {
    T other = __shfl_xor_sync(ALL_LANES, value, by);
    value = other < value ? other : value;
  }
  return value;
}
template <class T> GRB_DEVICE T warp_max(T value) {
#ifdef GRB_REDUCE_SYNC
  if constexpr (is_word32<T>) return __reduce_max_sync(ALL_LANES, value);
#endif
  for (int by = 16; by; by >>= 1) {
    T other = __shfl_xor_sync(ALL_LANES, value, by);
    value = other > value ? other : value;
  }
  return value;
}
// The sum, the bitwise or of all lanes' values, in all lanes.
GRB_DEVICE unsigned warp_sum_everywhere(unsigned value) {
#ifdef GRB_REDUCE_SYNC
  return __reduce_add_sync(ALL_LANES, value);
#else
  for (int by = 16; by; by >>= 1) value += __shfl_xor_sync(ALL_LANES, value, by);
  return value;
#endif
}
GRB_DEVICE unsigned warp_or(unsigned value) {
#ifdef GRB_REDUCE_SYNC
  return __reduce_or_sync(ALL_LANES, value);
#else
  for (int by = 16; by; by >>= 1) value |= __shfl_xor_sync(ALL_LANES, value, by);
  return value;
#endif
}
// Inclusive scan: lane k gets value 0 (op) ... (op) value k.
template <class T, class Op> GRB_DEVICE T warp_scan(T value, Op op) {
  for (int by = 1; by < 32; by <<= 1) {
    T other = shuffle_up(value, by);
    if (lane_number() >= by) value = op(other, value);
  }
  return value;
}

// Inclusive sum of the first LANES lanes: lane k gets value 0 + ... + value k.
template <int LANES = 32, class T> GRB_DEVICE T warp_inclusive_sum(T value) {
  for (int by = 1; by < LANES; by <<= 1) {
    T other = __shfl_up_sync(ALL_LANES, value, by);
    if (lane_number() >= by) value += other;
  }
  return value;
}

// The reduction of the whole block's values, in thread 0.  `shared` holds 32 values and may be reused after
// __syncthreads.
template <class T, class Op> GRB_DEVICE T block_reduce(T value, Op op, T* shared) {
  int warps = blockDim.x >> 5, w = threadIdx.x >> 5;
  value = warp_reduce(value, op);
  if (lane_number() == 0) shared[w] = value;
  __syncthreads();
  if (threadIdx.x == 0)
    for (int k = 1; k < warps; k++) value = op(value, shared[k]);
  return value;
}
// *count += the sum of the block's values, modulo 2^64; one atomic a block, because those of one address take turns.
GRB_DEVICE void add_to_count(unsigned long long found, unsigned long long* count) {
  __shared__ unsigned long long sums[32];
  const auto plus = [](unsigned long long p, unsigned long long q) { return p + q; };
  const int warps = blockDim.x >> 5;
  found = warp_reduce(found, plus);
  if (lane_number() == 0) sums[threadIdx.x >> 5] = found;
  const bool some = __syncthreads_or(lane_number() == 0 && found != 0);
  if (threadIdx.x < 32 && some) found = warp_reduce(lane_number() < warps ? sums[lane_number()] : 0ull, plus);
#ifdef GRB_STEPS
  if (counts_apart) {
    if (threadIdx.x == 0) count[blockIdx.x] = found;
    return;
  }
#endif
  if (threadIdx.x == 0 && found) atomicAdd(count, found);
}
// parts[block] = the sum of the block's values; parts null: nothing.  The block calls together.
GRB_DEVICE void store_part(unsigned long long value, word* parts) {
  __shared__ unsigned long long of_warps[32];
  if (parts == nullptr) return;
  const auto plus = [](unsigned long long p, unsigned long long q) { return p + q; };
  value = warp_reduce(value, plus);
  if (lane_number() == 0) of_warps[threadIdx.x >> 5] = value;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  value = warp_reduce(lane_number() < int(blockDim.x >> 5) ? of_warps[lane_number()] : 0ull, plus);
  if (threadIdx.x == 0) parts[blockIdx.x] = value;
}
// Exclusive sum: thread k gets the sum of the counts of threads 0 .. k-1, `total` the whole block's.  `shared` holds 33
// values and may be reused at once.
template <class T> GRB_DEVICE T block_exclusive_sum(T count, T& total, T* shared) {
  int warps = blockDim.x >> 5, w = threadIdx.x >> 5;
  T sum = warp_inclusive_sum(count);
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

// Reserves `count` units a thread in the list whose size is *size, with one atomic a block: the index of this thread's
// first unit.  `shared` holds 33 values and may be reused after __syncthreads.
template <class T> GRB_DEVICE T block_append(T count, T* size, T* shared) {
  T sum = warp_inclusive_sum(count);
  int w = threadIdx.x >> 5, warps = blockDim.x >> 5;
  if (lane_number() == 31) shared[w] = sum;
  __syncthreads();
  if (w == 0) {
    T here = lane_number() < warps ? shared[lane_number()] : 0, upto = warp_inclusive_sum(here);
    if (lane_number() < warps) shared[lane_number()] = upto - here;
    if (lane_number() == 31) shared[32] = upto ? atomicAdd(size, upto) : 0;
  }
  __syncthreads();
  return shared[32] + shared[w] + sum - count;
}

// One atomic a warp: lanes with `take` get consecutive indices of the list whose size is *count.
template <class C> GRB_DEVICE C warp_append(bool take, C* count) {
  unsigned takers = __ballot_sync(ALL_LANES, take);
  if (takers == 0) return 0;
  int leader = __ffs(int(takers)) - 1;
  C base = 0;
  if (lane_number() == leader) base = atomicAdd(count, C(__popc(takers)));
  base = shuffle(base, leader);
  return base + C(__popc(takers & ((1u << lane_number()) - 1)));
}

// Is this block the last of the grid to call?  It sees what thread 0 of every block wrote before; *finished, which was
// 0, is 0 again.  The block calls together, once in a kernel.
GRB_DEVICE bool is_last_block(word* finished) {
  __shared__ int is_last;
  if (threadIdx.x == 0) {
    __threadfence();
    is_last = atomicAdd(finished, word(1)) == gridDim.x - 1;
    if (is_last) *finished = 0;
    __threadfence();
  }
  __syncthreads();
  return is_last;
}

}  // namespace grb
