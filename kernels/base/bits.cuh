// Sets of indices as 64-bit words: index i is bit i % 64 of words[i / 64] (storage/bits.py).  Where a function says so,
// a null pointer means the set of all indices.
//
// Who includes it: kernels that read bitmaps, masks or frontiers.
#pragma once
#include "base/launch.cuh"

namespace grb {

GRB_DEVICE bool has(const word* words, int64_t i) { return words[i >> 6] >> (i & 63) & 1; }
GRB_DEVICE bool has_or_all(const word* words, int64_t i) { return words == nullptr || has(words, i); }
GRB_DEVICE word bit_of(int64_t i) { return word(1) << (i & 63); }

// Add i to the set by atomicOr and return whether it was new.
GRB_DEVICE bool put(word* words, int64_t i) {
  word bit = bit_of(i);
  return !(atomicOr(&words[i >> 6], bit) & bit);
}

GRB_DEVICE int members(word w) { return __popcll(w); }
GRB_DEVICE int lowest(word w) { return __ffsll((long long)w) - 1; }  // -1 for the empty word
GRB_DEVICE word word_below(int count) { return count >= 64 ? ~word(0) : (word(1) << count) - 1; }

// Thread k of each 64 neighbouring threads (two warps) sets bit k of one word to `flag`.  The first lane of each warp
// writes one 32-bit half, so read the words after a barrier or after the kernel.
GRB_DEVICE void write_flags(word* words, int64_t i, bool flag) {
  unsigned half = __ballot_sync(ALL_LANES, flag);
  if (lane_number() == 0) reinterpret_cast<unsigned*>(words)[i >> 5] = half;
}

}  // namespace grb
