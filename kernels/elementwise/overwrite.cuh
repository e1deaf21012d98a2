// C<M> = T in C's own arrays: a bitmap's words and values change where M or T hold something, nowhere else.
//
// Who calls: backends/cuda/elementwise/overwrite.py.  Values are moved as unsigned integers of their size (16 bytes: ulonglong2).
// `count` holds C's entries when the kernel ends: what it held before (plus `known`, added once) and what changed.
// Invariant: T lies inside M.  Threads: a warp for 1024 positions, or one for each entry of a list.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"

namespace grb {

GRB_DEVICE void add_to_count(unsigned long long changed, int64_t known, unsigned long long* count) {
  __shared__ unsigned long long sums[32];
  changed = block_reduce(changed, [](unsigned long long p, unsigned long long q) { return p + q; }, sums);
  if (thread_number() == 0) changed += known;
  if (threadIdx.x == 0 && changed) atomicAdd(count, changed);        // modulo 2^64, so it may shrink
}

// T and M as words: M null is T's own pattern, t_words null a T that is everywhere.  A warp looks at 32 halves of words, a lane
// each, and writes the values half by half.
template <class T>
__global__ void overwrite_words(word* words, T* values, const word* t_words, const T* t_values, bool t_iso, const word* mask,
                                bool complement, int64_t size, int64_t known, unsigned long long* count) {
  unsigned* here = reinterpret_cast<unsigned*>(words);
  const unsigned* there = reinterpret_cast<const unsigned*>(t_words);
  const unsigned* allowed = reinterpret_cast<const unsigned*>(mask);
  unsigned long long changed = 0;
  const T one = t_values[0];
  const int64_t halves = (size + 31) >> 5;
  GRB_EACH_WARP(batch, (halves + 31) >> 5) {
    const int64_t half = batch * 32 + lane_number();
    const int64_t left = size - half * 32;
    const unsigned inside = left >= 32 ? ~0u : left > 0 ? (1u << left) - 1 : 0;
    const unsigned fresh = inside == 0 ? 0 : (there == nullptr ? ~0u : there[half]) & inside;
    const unsigned open = inside == 0 ? 0 : allowed == nullptr ? fresh : (complement ? ~allowed[half] : allowed[half]) & inside;
    if (open) {
      const unsigned old = here[half], now = (old & ~open) | fresh;
      if (now != old) {
        here[half] = now;
        changed += (unsigned long long)(int64_t(__popc(now)) - __popc(old));
      }
    }
    for (unsigned which = __ballot_sync(ALL_LANES, fresh != 0); which; which &= which - 1) {
      const int turn = __ffs(int(which)) - 1;
      const int64_t i = (batch * 32 + turn) * 32 + lane_number();
      if (__shfl_sync(ALL_LANES, fresh, turn) >> lane_number() & 1) values[i] = t_iso ? one : t_values[i];
    }
  }
  add_to_count(changed, known, count);
}

// The entries of a list.
template <class I, class T>
__global__ void overwrite_listed(word* words, T* values, const I* indices, const T* t_values, bool t_iso, int64_t n, int64_t known,
                                 unsigned long long* count) {
  unsigned long long changed = 0;
  GRB_EACH(k, n) {
    const int64_t i = indices[k];
    values[i] = t_values[t_iso ? 0 : k];
    changed += put(words, i);
  }
  add_to_count(changed, known, count);
}

}  // namespace grb
