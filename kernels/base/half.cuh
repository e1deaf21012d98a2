// FP16 and BF16 as stored types: to FP32 exactly, from FP32 by rounding to nearest even.
//
// Who includes it: kernels that read or make values of half precision.  Integer instructions alone, but for FP16 to
// FP32 on a device, so that every device has both types.
#pragma once
#include "base/launch.cuh"

namespace grb {

GRB_DEVICE unsigned word_of_float(float value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  return bits;
}
GRB_DEVICE float float_of_word(unsigned bits) {
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

struct Bf16 {
  uint16_t bits;
  static GRB_DEVICE Bf16 rounded(float value) {
    const unsigned b = word_of_float(value);
    if ((b & 0x7fffffff) > 0x7f800000) return Bf16{uint16_t(b >> 16 | 0x40)};  // NaN
    return Bf16{uint16_t((b + 0x7fff + (b >> 16 & 1)) >> 16)};
  }
  GRB_DEVICE float widened() const { return float_of_word(unsigned(bits) << 16); }
};

struct Fp16 {
  uint16_t bits;
  static GRB_DEVICE Fp16 rounded(float value) {
    const unsigned b = word_of_float(value), sign = b >> 16 & 0x8000, size = b & 0x7fffffff;
    if (size > 0x7f800000) return Fp16{uint16_t(sign | 0x7e00)};               // NaN
    if (size >= 0x477ff000) return Fp16{uint16_t(sign | 0x7c00)};              // from 65520 on: Inf
    if (size < 0x38800000) {                                                   // below 2^-14: multiples of 2^-24
      const unsigned shift = 126 - (size >> 23);
      if (shift > 24) return Fp16{uint16_t(sign)};
      const unsigned whole = (size & 0x7fffff) | 0x800000, kept = whole >> shift, lost = whole << (32 - shift);
      return Fp16{uint16_t(sign | (kept + (lost > 0x80000000u || (lost == 0x80000000u && (kept & 1)))))};
    }
    return Fp16{uint16_t(sign | ((size + 0xfff + (size >> 13 & 1) - 0x38000000) >> 13))};
  }
  GRB_DEVICE float widened() const {
#ifndef SIMT_CPU
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
#else
    const unsigned sign = unsigned(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent == 31) return float_of_word(sign | 0x7f800000 | fraction << 13);
    if (exponent) return float_of_word(sign | (exponent + 112) << 23 | fraction << 13);
    const float value = float(fraction) * float_of_word(0x33800000);                // 2^-24
    return sign ? -value : value;
#endif
  }
};

}  // namespace grb
