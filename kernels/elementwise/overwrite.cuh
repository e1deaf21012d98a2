// C<M> = T in place: the words and values of bitmap C change only at positions of M or T.
//
// Caller: backends/cuda/elementwise/overwrite.py.  Values are moved as unsigned integers of their size (16 bytes:
//   ulonglong2).
// *count is the number of C's entries after the kernel: its value before, plus `known` (added once), plus the change.
// Precondition: T has entries only at positions of M.
// Launch: one warp for 1024 positions, or one thread for each entry of a list.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"

namespace grb {

// `changed` may be negative, because counts are taken modulo 2^64.
GRB_DEVICE void add_to_count(unsigned long long changed, int64_t known, unsigned long long* count) {
  add_to_count(changed + (thread_number() == 0 ? known : 0), count);
}

// T and M as words: mask null stands for T's own structure, t_words null for a full T.  Each lane of a warp reads one
// of 32 half words; then the warp writes the values of one half word after the other (coalesced).
template <class T>
__global__ void overwrite_words(word* words, T* values, const word* t_words, const T* t_values, bool t_iso,
                                const word* mask, bool complement, int64_t size, int64_t known,
                                unsigned long long* count) {
  unsigned* here = reinterpret_cast<unsigned*>(words);
  const unsigned* there = reinterpret_cast<const unsigned*>(t_words);
  const unsigned* allowed = reinterpret_cast<const unsigned*>(mask);
  unsigned long long changed = 0;
  const T one = t_values[0];
  GRB_EACH_RUN(first, end, 16, (size + 63) >> 6) {
    const int64_t half = first * 2 + lane_number();
    const int64_t left = half < end * 2 ? size - half * 32 : 0;
    const unsigned inside = left >= 32 ? ~0u : left > 0 ? (1u << left) - 1 : 0;
    const unsigned fresh = inside == 0 ? 0 : (there == nullptr ? ~0u : there[half]) & inside;
    const unsigned open =
        inside == 0 ? 0 : allowed == nullptr ? fresh : (complement ? ~allowed[half] : allowed[half]) & inside;
    if (open) {
      const unsigned old = here[half], now = (old & ~open) | fresh;
      if (now != old) {
        here[half] = now;
        changed += (unsigned long long)(int64_t(__popc(now)) - __popc(old));
      }
    }
    for (unsigned which = __ballot_sync(ALL_LANES, fresh != 0); which; which &= which - 1) {
      const int turn = __ffs(int(which)) - 1;
      const int64_t i = (first * 2 + turn) * 32 + lane_number();
      if (__shfl_sync(ALL_LANES, fresh, turn) >> lane_number() & 1) values[i] = t_iso ? one : t_values[i];
    }
  }
  add_to_count(changed, known, count);
}

// T as a list of positions.
template <class I, class T>
__global__ void overwrite_listed(word* words, T* values, const I* indices, const T* t_values, bool t_iso, int64_t n,
                                 int64_t known, unsigned long long* count) {
  unsigned long long changed = 0;
  GRB_EACH(k, n) {
    const int64_t i = indices[k];
    values[i] = t_values[t_iso ? 0 : k];
    changed += put(words, i);
  }
  add_to_count(changed, known, count);
}

}  // namespace grb
