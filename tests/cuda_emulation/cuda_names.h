// cuda_names.h: the part of CUDA C++ that the kernels use, over engine.h.  Force-included before a kernel's source.
// Missing on purpose: cub, cooperative groups, inline PTX, __activemask, textures.  A kernel may ask `#ifdef SIMT_CPU`.
#pragma once
#include "engine.h"

#define SIMT_CPU 1
#define __CUDA_ARCH__ 900
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __constant__ static const
// __shared__ is rewritten in shared_memory.py: thread-local, because an OS thread runs one block at a time.
#define __align__(n) alignas(n)
#define threadIdx (simt::current->thread)
#define blockIdx (simt::block->index)
#define blockDim (simt::block->block_size)
#define gridDim (simt::block->grid_size)
static constexpr int warpSize = 32;

struct alignas(8) int2 { int x, y; };
struct alignas(8) uint2 { unsigned x, y; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(16) uint4 { unsigned x, y, z, w; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
struct alignas(16) longlong2 { long long x, y; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

namespace simt {
template <class T> inline uint64_t pack(T v) {
  static_assert(sizeof(T) <= 8, "collectives take values of at most 8 bytes");
  uint64_t r = 0;
  memcpy(&r, &v, sizeof v);
  return r;
}
template <class T> inline T unpack(uint64_t v) { T r; memcpy(&r, &v, sizeof r); return r; }
inline unsigned lane() { return current->number & 31; }
template <class T> inline T shuffle(unsigned mask, T v, unsigned source) {
  return unpack<T>(collective(SHUFFLE, mask, pack(v), source));
}
template <class T, class F> inline T update(T *p, F f) {  // atomic read-modify-write; returns the old value
  T old, fresh;
  __atomic_load(p, &old, __ATOMIC_RELAXED);
  do fresh = f(old); while (!__atomic_compare_exchange(p, &old, &fresh, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}
template <class T> using same = std::type_identity_t<T>;
}  // namespace simt

// ---------------------------------------------------------------- barriers and warp collectives
inline void __syncthreads() { simt::barrier(0); }
inline int __syncthreads_count(int p) { return int(simt::barrier(p) >> 2); }
inline int __syncthreads_and(int p) { return simt::barrier(p) >> 1 & 1; }
inline int __syncthreads_or(int p) { return simt::barrier(p) & 1; }
inline void __syncwarp(unsigned m = ~0u) { simt::collective(simt::SYNCWARP, m, 0); }
inline unsigned __ballot_sync(unsigned m, int p) { return (unsigned)simt::collective(simt::BALLOT, m, p != 0); }
inline int __any_sync(unsigned m, int p) { return __ballot_sync(m, p) != 0; }
inline int __all_sync(unsigned m, int p) { return __ballot_sync(m, p) == m; }
template <class T> inline T __shfl_sync(unsigned m, T v, int source, int width = 32) {
  return simt::shuffle(m, v, (simt::lane() & ~(width - 1)) | (source & (width - 1)));
}
template <class T> inline T __shfl_down_sync(unsigned m, T v, unsigned by, int width = 32) {
  unsigned l = simt::lane();
  return simt::shuffle(m, v, (l & (width - 1)) + by < (unsigned)width ? l + by : l);
}
template <class T> inline T __shfl_up_sync(unsigned m, T v, unsigned by, int width = 32) {
  unsigned l = simt::lane();
  return simt::shuffle(m, v, (l & (width - 1)) >= by ? l - by : l);
}
template <class T> inline T __shfl_xor_sync(unsigned m, T v, int with, int width = 32) {
  unsigned l = simt::lane(), s = l ^ with;
  return simt::shuffle(m, v, s < (l & ~(width - 1)) + width ? s : l);
}
template <class T> inline unsigned __match_any_sync(unsigned m, T v) {
  return (unsigned)simt::collective(simt::MATCH_ANY, m, simt::pack(v));
}
inline unsigned __reduce_add_sync(unsigned m, unsigned v) { return (unsigned)simt::collective(simt::ADD, m, v); }
inline int __reduce_add_sync(unsigned m, int v) { return (int)simt::collective(simt::ADD, m, (int64_t)v); }
inline unsigned __reduce_or_sync(unsigned m, unsigned v) { return (unsigned)simt::collective(simt::OR, m, v); }
inline unsigned __reduce_and_sync(unsigned m, unsigned v) { return (unsigned)simt::collective(simt::AND, m, v); }
inline unsigned __reduce_xor_sync(unsigned m, unsigned v) { return (unsigned)simt::collective(simt::XOR, m, v); }
inline unsigned __reduce_min_sync(unsigned m, unsigned v) { return (unsigned)simt::collective(simt::MIN, m, v); }
inline unsigned __reduce_max_sync(unsigned m, unsigned v) { return (unsigned)simt::collective(simt::MAX, m, v); }
inline int __reduce_min_sync(unsigned m, int v) { return (int)simt::collective(simt::MIN_SIGNED, m, (int64_t)v); }
inline int __reduce_max_sync(unsigned m, int v) { return (int)simt::collective(simt::MAX_SIGNED, m, (int64_t)v); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline void __threadfence_block() {}
inline void __threadfence_system() { __threadfence(); }
inline void __nanosleep(unsigned) { simt::pause(); }

// ---------------------------------------------------------------- bits and loads
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(x) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
  unsigned r = 0;
  for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i);
  return r;
}
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned which) {
  const unsigned long long both = x | (unsigned long long)y << 32;
  unsigned r = 0;
  for (int i = 0; i < 4; i++) r |= unsigned(both >> 8 * (which >> 4 * i & 7) & 255) << 8 * i;
  return r;
}
template <class T> inline T __ldg(const T *p) { return *p; }
template <class T> inline T __ldcg(const T *p) { return *(const volatile T *)p; }
template <class T> inline T __ldcs(const T *p) { return *p; }
template <class T> inline void __stcs(T *p, T v) { *p = v; }
inline int __float_as_int(float f) { return simt::unpack<int>(simt::pack(f)); }
inline unsigned __float_as_uint(float f) { return simt::unpack<unsigned>(simt::pack(f)); }
inline float __int_as_float(int i) { return simt::unpack<float>(simt::pack(i)); }
inline float __uint_as_float(unsigned i) { return simt::unpack<float>(simt::pack(i)); }
inline long long __double_as_longlong(double f) { return simt::unpack<long long>(simt::pack(f)); }
inline double __longlong_as_double(long long i) { return simt::unpack<double>(simt::pack(i)); }
inline long long clock64() { return 0; }
template <class A, class C> inline auto min(A a, C b) { return a < b ? a : b; }
template <class A, class C> inline auto max(A a, C b) { return a > b ? a : b; }

// ---------------------------------------------------------------- atomics
template <class T> inline T atomicAdd(T *p, simt::same<T> v) {
  if constexpr (std::is_integral_v<T>) return __atomic_fetch_add(p, v, __ATOMIC_RELAXED);
  else return simt::update(p, [=](T o) { return T(o + v); });
}
template <class T> inline T atomicSub(T *p, simt::same<T> v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }
template <class T> inline T atomicOr(T *p, simt::same<T> v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }
template <class T> inline T atomicOr_system(T *p, simt::same<T> v) { return atomicOr(p, v); }
template <class T> inline T atomicAnd(T *p, simt::same<T> v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }
template <class T> inline T atomicXor(T *p, simt::same<T> v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }
template <class T> inline T atomicExch(T *p, simt::same<T> v) {
  T r;
  __atomic_exchange(p, &v, &r, __ATOMIC_RELAXED);
  return r;
}
template <class T> inline T atomicCAS(T *p, simt::same<T> expected, simt::same<T> v) {
  __atomic_compare_exchange(p, &expected, &v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
template <class T> inline T atomicMin(T *p, simt::same<T> v) {
  return simt::update(p, [=](T o) { return v < o ? v : o; });
}
template <class T> inline T atomicMax(T *p, simt::same<T> v) {
  return simt::update(p, [=](T o) { return v > o ? v : o; });
}
