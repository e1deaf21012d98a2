// Copies of several arrays in one launch: what a turn leaves into slots, slots into results.
//
// Caller: backends/cuda/programs/slots.py.  Launch: Kernel.over(words of 8 bytes of the longest array).
//
// One array may be the source of one copy and the destination of another, as when vectors swap: the same thread reads
// a word's place in all arrays before it writes there.
#pragma once
#include "base/launch.cuh"

namespace grb {

constexpr int COPIES = 8;

// to[0 .. bytes) = from[0 .. bytes), or the 8 bytes of `number` again and again where `from` is null; `bytes` 0 for no
// copy.
struct Copy {
  uint8_t* to;
  const uint8_t* from;
  int64_t bytes, number;

  GRB_DEVICE Copy(void* to, const void* from, int64_t bytes, int64_t number)
      : to(static_cast<uint8_t*>(to)), from(static_cast<const uint8_t*>(from)), bytes(bytes), number(number) {}
  GRB_DEVICE bool whole(int64_t i) const {
    return i * 8 + 8 <= bytes && (reinterpret_cast<uintptr_t>(from) | reinterpret_cast<uintptr_t>(to)) % 8 == 0;
  }
  GRB_DEVICE word read(int64_t i) const {
    word found = 0;
    if (from == nullptr) return word(number);
    if (whole(i)) return reinterpret_cast<const word*>(from)[i];
    for (int64_t b = i * 8; b < i * 8 + 8 && b < bytes; b++) found |= word(from[b]) << (b % 8 * 8);
    return found;
  }
  GRB_DEVICE void write(int64_t i, word value) const {
    if (whole(i)) {
      reinterpret_cast<word*>(to)[i] = value;
    } else {
      for (int64_t b = i * 8; b < i * 8 + 8 && b < bytes; b++) to[b] = uint8_t(value >> (b % 8 * 8));
    }
  }
};

template <class T> GRB_DEVICE void copy_at(int64_t k, void* to, const void* from) {
  static_cast<T*>(to)[k] = static_cast<const T*>(from)[k];
}

// flag: where it is not null and *flag is false nothing is copied.  COUNT: how many copies there are, the first ones.
// EACH_WORD: in a step that divides positions in chunks, how many 8 bytes of each array belong to 64 positions.
template <int COUNT = COPIES, int EACH_WORD = 0>
__global__ void copy_arrays(int64_t words, const bool* flag,
                            void* to0, const void* from0, int64_t bytes0, int64_t number0,
                            void* to1, const void* from1, int64_t bytes1, int64_t number1,
                            void* to2, const void* from2, int64_t bytes2, int64_t number2,
                            void* to3, const void* from3, int64_t bytes3, int64_t number3,
                            void* to4, const void* from4, int64_t bytes4, int64_t number4,
                            void* to5, const void* from5, int64_t bytes5, int64_t number5,
                            void* to6, const void* from6, int64_t bytes6, int64_t number6,
                            void* to7, const void* from7, int64_t bytes7, int64_t number7) {
  const Copy copies[COPIES] = {
      Copy(to0, from0, bytes0, number0), Copy(to1, from1, bytes1, number1),
      Copy(to2, from2, bytes2, number2), Copy(to3, from3, bytes3, number3),
      Copy(to4, from4, bytes4, number4), Copy(to5, from5, bytes5, number5),
      Copy(to6, from6, bytes6, number6), Copy(to7, from7, bytes7, number7)};
  if (flag != nullptr && !*flag) return;
  int64_t first = thread_number(), step = thread_count(), end = words;
#ifdef GRB_STEPS
  if constexpr (EACH_WORD > 0) {
    first = chunk_first * EACH_WORD + threadIdx.x, step = blockDim.x;
    end = chunk_end * EACH_WORD < words ? chunk_end * EACH_WORD : words;
  }
#endif
  for (int64_t i = first; i < end; i += step) {
    word held[COUNT];
#pragma unroll
    for (int k = 0; k < COUNT; k++) held[k] = i * 8 < copies[k].bytes ? copies[k].read(i) : 0;
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
      if (i * 8 < copies[k].bytes) copies[k].write(i, held[k]);
    }
  }
}

}  // namespace grb
