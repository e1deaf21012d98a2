// Values rounded to FP16, BF16 or TF32 (base/rounded.cuh); *bad is set where the relative error exceeds the unit
// roundoff.
//
// Who calls: backends/cuda/products/{bitblocks,spmm_rounded}.py.  Launch: a thread for four values.
// Precondition: both arrays are aligned to four of their elements.
#pragma once
#include "base/rounded.cuh"

namespace grb {

template <class T> struct alignas(4 * sizeof(T)) Four { T v[4]; };

// out = x in the form; *bad = 1 where a value is not finite or not represented (base/rounded.cuh).
template <int FORM> __global__ void round_values(const float* x, int64_t count, rounded_t<FORM>* out, word* bad) {
  bool any = false;
  GRB_EACH(k, (count + 3) >> 2) {
    const int some = count - 4 * k < 4 ? int(count - 4 * k) : 4;
    Four<float> in{};
    if (some == 4) in = reinterpret_cast<const Four<float>*>(x)[k];
    else for (int u = 0; u < some; u++) in.v[u] = x[4 * k + u];
    Four<rounded_t<FORM>> four;
#pragma unroll
    for (int u = 0; u < 4; u++) {
      bool is_bad = false;
      four.v[u] = round_to<FORM>(in.v[u], is_bad);
      any = any || is_bad;
    }
    if (some == 4) reinterpret_cast<Four<rounded_t<FORM>>*>(out)[k] = four;
    else for (int u = 0; u < some; u++) out[4 * k + u] = four.v[u];
  }
  if (any) *bad = 1;
}

}  // namespace grb
