// Conversions of vectors, sparse to bitmap (scatter) and bitmap to sparse (popcounts, scan, gather), and typecasts.
//
// Algorithm: bitmap to sparse is a stream compaction: popcounts, an inclusive scan, then the positions of each word.
// Callers: backends/cuda/structure/arrays.py.
// Values are moved as unsigned integers of their size (16 bytes: ulonglong2), so one instance serves all types of a
// size.
// Launch: one thread for each entry, or for each word.
#pragma once
#include "base/bits.cuh"
#include "base/scalar.cuh"

namespace grb {

// Sets the bit of each position i (atomicOr); dense[i] = values[k] (dense null: bits only).
template <class I, class T>
__global__ void positions_to_words(const I* indices, const T* values, int64_t n, word* words, T* dense) {
  GRB_EACH(k, n) {
    int64_t i = indices[k];
    atomicOr(&words[i >> 6], bit_of(i));
    if (dense != nullptr) dense[i] = values[k];
  }
}

// counts[w] = popcount of word w.
template <class C> __global__ void count_members(const word* words, int64_t n, C* counts) {
  GRB_EACH(w, n) counts[w] = C(members(words[w]));
}

// The set bits of word w go to ends[w] - popcount(w) .. ends[w] - 1 of the list, with their values (values null:
// without); ends: inclusive scan of the popcounts.
template <class I, class C, class T>
__global__ void words_to_positions(const word* words, const C* ends, int64_t n, const T* dense, I* indices, T* values) {
  GRB_EACH(w, n) {
    word rest = words[w];
    int64_t at = int64_t(ends[w]) - members(rest);
    for (; rest; rest &= rest - 1, at++) {
      int64_t i = w * 64 + lowest(rest);
      indices[at] = I(i);
      if (values != nullptr) values[at] = dense[i];
    }
  }
}

// out[k] = (To) in[k] with SuiteSparse's typecast.
template <class From, class To> __global__ void cast_values(const From* in, int64_t n, To* out) {
  GRB_EACH(k, n) out[k] = cast<To>(in[k]);
}

}  // namespace grb
