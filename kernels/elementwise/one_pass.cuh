// Several element-wise operations over vectors, and sums of their results, in one pass over the data.
//
//   y_k(i) = f_k(x(i), s),  sums[k] = the sum over i of g_k(x(i), s)
// F: a functor made from the traced operations (operations/one_pass.py): F::run(x, s, y, t) for one position.
// Operands: values x, and words of presence bits w (null: all present; 0 is read where absent); bit k of `iso`: all
//   entries of vector k have its first value.  Scalar k is *p where p is not null, else v.
// Result: outputs y (null: none); sums, combined in a fixed tree: blocks in parts, the last block in sums.
// Launch: grid-stride loop, 256 threads a block.  finished: 0 before and after.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"

namespace grb {

template <class T, class F>
__global__ void __launch_bounds__(256)
one_pass(const T* x0, const word* w0, const T* x1, const word* w1, const T* x2, const word* w2, const T* x3,
         const word* w3, const T* x4, const word* w4, const T* x5, const word* w5, int64_t iso, const double* p0,
         double v0, const double* p1, double v1, const double* p2, double v2, T* y0, T* y1, T* y2, int64_t n,
         double* parts, word* finished, double* sums) {
  const T* const xs[6] = {x0, x1, x2, x3, x4, x5};
  const word* const ws[6] = {w0, w1, w2, w3, w4, w5};
  T* const ys[3] = {y0, y1, y2};
  const T s[3] = {T(p0 ? *p0 : v0), T(p1 ? *p1 : v1), T(p2 ? *p2 : v2)};
  constexpr int SUMS = F::SUMS;
  double total[SUMS + 1] = {};
  GRB_EACH(i, n) {
    T x[F::VECTORS + 1], y[F::OUTPUTS + 1];
    double t[SUMS + 1];
#pragma unroll
    for (int k = 0; k < F::VECTORS; k++) x[k] = has_or_all(ws[k], i) ? xs[k][iso >> k & 1 ? 0 : i] : T(0);
    F::run(x, s, y, t);
#pragma unroll
    for (int k = 0; k < F::OUTPUTS; k++) ys[k][i] = y[k];
#pragma unroll
    for (int k = 0; k < SUMS; k++) total[k] += t[k];
  }
  if constexpr (SUMS > 0) {
    __shared__ double shared[32];
    auto plus = [](double a, double b) { return a + b; };
    for (int k = 0; k < SUMS; k++) {
      double sum = block_reduce(total[k], plus, shared);
      if (threadIdx.x == 0) parts[int64_t(blockIdx.x) * SUMS + k] = sum;
      __syncthreads();
    }
    if (!is_last_block(finished)) return;
    for (int k = 0; k < SUMS; k++) {
      double sum = 0;
      for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += __ldcg(parts + int64_t(b) * SUMS + k);
      sum = block_reduce(sum, plus, shared);
      if (threadIdx.x == 0) sums[k] = sum;
      __syncthreads();
    }
  }
}

}  // namespace grb
