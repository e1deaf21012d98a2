// FP16, BF16 and TF32 as stored types: from FP32 by rounding to nearest even, and to FP32 exactly.
//
// Who includes it: products/round_values.cuh, products/bitblock_rows.cuh.  All conversions but FP16 to FP32 are integer
// instructions, so that every device has all three types.  Numbers that are subnormal in the type are not represented.
#pragma once
#include "base/launch.cuh"

namespace grb {

enum { HALF, BFLOAT, TENSOR_FLOAT, AS_STORED };        // AS_STORED: a type of its own, not rounded
template <int FORM> using rounded_t = choose<(FORM == TENSOR_FLOAT), unsigned, uint16_t>;

GRB_DEVICE unsigned bits_of_float(float x) { return unsigned(__float_as_int(x)); }

// x in the form, to nearest; `bad` where the relative error would be more than the unit roundoff.
template <int FORM> GRB_DEVICE rounded_t<FORM> round_to(float x, bool& bad) {
  constexpr int DROPPED = FORM == BFLOAT ? 16 : 13;      // bits of the significand
  constexpr unsigned LEAST = FORM == HALF ? 0x38800000u : 0x00800000u;
  constexpr unsigned ABOVE = FORM == HALF ? 0x47800000u : 0x7f800000u;
  const unsigned bits = bits_of_float(x), size = bits & 0x7fffffffu, sign = bits & 0x80000000u;
  unsigned near = size + ((1u << (DROPPED - 1)) - 1) + (size >> DROPPED & 1);
  bad = size != 0 && (near < LEAST || near >= ABOVE || size >= 0x7f800000u);
  near >>= DROPPED;
  if constexpr (FORM == HALF) return uint16_t(sign >> 16 | (size == 0 || bad ? 0u : near - (0x38000000u >> DROPPED)));
  else if constexpr (FORM == BFLOAT) return uint16_t(sign >> 16 | (bad ? 0u : near));
  else return sign | (bad ? 0u : near << DROPPED);
}
template <int FORM> GRB_DEVICE float value_of(rounded_t<FORM> x) {
  if constexpr (FORM == TENSOR_FLOAT) return __int_as_float(int(x));
  else if constexpr (FORM == BFLOAT) return __int_as_float(int(unsigned(x) << 16));
#ifndef SIMT_CPU
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(uint16_t(x)));
  return value;
#else
  const unsigned size = x & 0x7fffu;
  return __int_as_float(int((x & 0x8000u) << 16 | (size ? (size << 13) + 0x38000000u : 0u)));
#endif
}

}  // namespace grb
