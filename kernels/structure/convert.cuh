// Lists of positions to words and back, values scattered and gathered on the way, and casts.
//
// Who calls: backends/cuda/structure/structure.py and the primitives that settle their results.
// Values are moved as unsigned integers of their size (16 bytes: ulonglong2): one instance serves all types.
// Threads: one for each entry, or one for each word.
#pragma once
#include "base/bits.cuh"
#include "base/scalar.cuh"

namespace grb {

// words |= positions; spread[i] = values[k] at each position i (spread null: positions only).
template <class I, class T>
__global__ void positions_to_words(const I* indices, const T* values, int64_t n, word* words, T* spread) {
  GRB_EACH(k, n) {
    int64_t i = indices[k];
    atomicOr(&words[i >> 6], bit_of(i));
    if (spread != nullptr) spread[i] = values[k];
  }
}

// counts[w] = members of word w.
template <class C> __global__ void count_members(const word* words, int64_t n, C* counts) {
  GRB_EACH(w, n) counts[w] = C(members(words[w]));
}

// The members of word w go to places ends[w] - members(w) .. ends[w] - 1 of the list, with their values (null: without).
template <class I, class C, class T>
__global__ void words_to_positions(const word* words, const C* ends, int64_t n, const T* spread, I* indices, T* values) {
  GRB_EACH(w, n) {
    word rest = words[w];
    int64_t place = int64_t(ends[w]) - members(rest);
    for (; rest; rest &= rest - 1, place++) {
      int64_t i = w * 64 + lowest(rest);
      indices[place] = I(i);
      if (values != nullptr) values[place] = spread[i];
    }
  }
}

// out[k] = (To) in[k] with SuiteSparse's typecast.
template <class From, class To> __global__ void cast_values(const From* in, int64_t n, To* out) {
  GRB_EACH(k, n) out[k] = cast<To>(in[k]);
}

}  // namespace grb
