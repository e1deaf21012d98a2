// What the vectors and numbers of a captured loop begin with, in one launch.
//
// Caller: backends/cuda/programs/bound_loop.py, by kept launches of up to LOADED arrays.  Arguments: (to, bytes, item,
// size) of each array, which stay, then (from, number, at, count) of each, which a call brings:
//   count < 0   nothing: the array has it
//   count == 0  to[..] = from[..]; where `from` is null, the 8 bytes of `number` again and again
//   count > 0   the entries of a list of `count` indices `at`, ascending; of int32 where `size`, the vector's, fits
//   item 0      `to` holds presence bits: of the list, or (from null, number -1) of all positions
//   item b > 0  `to` holds values of b bytes: that of entry k lies in from[k], of all in from[0] where number is not 0;
//               other values stay as they are
#pragma once
#include "base/launch.cuh"

namespace grb {

constexpr int LOADED = 8;

struct LoadedArray {
  int64_t to, bytes, item, size, from, number, at, count;

  GRB_DEVICE int64_t index(int64_t k) const {
    return size <= 2147483647 ? int64_t(reinterpret_cast<const int32_t*>(at)[k])
                              : reinterpret_cast<const int64_t*>(at)[k];
  }
  // the bits of the list in 64 positions
  GRB_DEVICE word bits(int64_t first) const {
    int64_t low = 0, high = count;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (index(middle) < first) low = middle + 1;
      else high = middle;
    }
    word found = 0;
    for (; low < count; low++) {
      const int64_t i = index(low) - first;
      if (i >= 64) break;
      found |= word(1) << i;
    }
    return found;
  }
  // the 8 bytes that begin at byte 8 * i
  GRB_DEVICE word read(int64_t i) const {
    if (item == 0 && count > 0) return bits(i * 64);
    if (from == 0) {
      const bool last = item == 0 && number == -1 && size - i * 64 < 64;
      return last ? (word(1) << (size - i * 64)) - 1 : word(number);
    }
    const uint8_t* source = reinterpret_cast<const uint8_t*>(from);
    if (i * 8 + 8 <= bytes && from % 8 == 0) return reinterpret_cast<const word*>(source)[i];
    word found = 0;
    for (int64_t b = i * 8; b < i * 8 + 8 && b < bytes; b++) found |= word(source[b]) << (b % 8 * 8);
    return found;
  }
  GRB_DEVICE void write(int64_t i, word value) const {
    uint8_t* target = reinterpret_cast<uint8_t*>(to);
    if (i * 8 + 8 <= bytes && to % 8 == 0) {
      reinterpret_cast<word*>(target)[i] = value;
      return;
    }
    for (int64_t b = i * 8; b < i * 8 + 8 && b < bytes; b++) target[b] = uint8_t(value >> (b % 8 * 8));
  }
  GRB_DEVICE void put(int64_t k) const {
    uint8_t* target = reinterpret_cast<uint8_t*>(to) + index(k) * item;
    const uint8_t* source = reinterpret_cast<const uint8_t*>(from) + (number != 0 ? 0 : k * item);
    for (int64_t b = 0; b < item; b++) target[b] = source[b];
  }
};

// fields: those of LoadedArray, the first four of all arrays before the other four of all; bytes 0 for no array.
struct LoadedArrays {
  int64_t stay[LOADED][4], brought[LOADED][4];
};

#ifdef SIMT_CPU
#define GRB_STAYS_CONSTANT
#else
#define GRB_STAYS_CONSTANT __grid_constant__
#endif

template <int = 0>
__global__ void load_arrays(GRB_STAYS_CONSTANT const LoadedArrays arrays) {
  for (int a = 0; a < LOADED; a++) {
    const int64_t* s = arrays.stay[a];
    const int64_t* b = arrays.brought[a];
    const LoadedArray array{s[0], s[1], s[2], s[3], b[0], b[1], b[2], b[3]};
    if (array.bytes == 0 || array.count < 0) continue;
    if (array.item > 0 && array.count > 0) {
      GRB_EACH(k, array.count) array.put(k);
    } else {
      GRB_EACH(i, (array.bytes + 7) / 8) array.write(i, array.read(i));
    }
  }
}

}  // namespace grb
