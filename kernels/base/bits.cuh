// Sets of positions as 64-bit words: bit i is bit i % 64 of words[i / 64] (storage/bits.py).  A null pointer stands for
// the set of all positions where a function says so.
//
// Who includes it: everything that reads bitmaps, masks and frontiers.
#pragma once
#include "base/launch.cuh"

namespace grb {

GRB_DEVICE bool has(const word* words, int64_t i) { return words[i >> 6] >> (i & 63) & 1; }
GRB_DEVICE bool has_or_all(const word* words, int64_t i) { return words == nullptr || has(words, i); }
GRB_DEVICE word bit_of(int64_t i) { return word(1) << (i & 63); }

// Put i into the set; was it new?  Many threads may do so at once.
GRB_DEVICE bool put(word* words, int64_t i) {
  word bit = bit_of(i);
  return !(atomicOr(&words[i >> 6], bit) & bit);
}

GRB_DEVICE int members(word w) { return __popcll(w); }
GRB_DEVICE int lowest(word w) { return __ffsll((long long)w) - 1; }  // -1 for the empty word
GRB_DEVICE word word_below(int count) { return count >= 64 ? ~word(0) : (word(1) << count) - 1; }

// The word whose bit k is `flag` of thread k of a group of 64 neighbouring threads (two warps), written by their first lane
// of each warp as 32-bit halves: words must be read after the kernel, or after a barrier.
GRB_DEVICE void write_flags(word* words, int64_t i, bool flag) {
  unsigned half = __ballot_sync(ALL_LANES, flag);
  if (lane_number() == 0) reinterpret_cast<unsigned*>(words)[i >> 5] = half;
}

}  // namespace grb
