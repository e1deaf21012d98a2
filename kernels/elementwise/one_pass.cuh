// Several element-wise operations over vectors, and sums or maxima of their results, in one pass over the data.
//
//   y_k(i) = f_k(x(i), s),  sums[k] = the sum over i of g_k(x(i), s), or the maximum where bit k of F::MAXIMA is set
// F: a functor made from the traced operations (operations/one_pass.py): F::run(x, s, y, t) for one position.
// Operands: values x, and words of presence bits w (null: all present; 0 is read where absent); bit k of `iso`: all
//   entries of vector k have its first value.  A scalar is *p where p is not null, else v.
// Algorithm: fusion of the element-wise operations; single-pass reduction with a ticket counter
//   (elementwise/reduce.cuh) in a fixed tree: the blocks' sums in `parts`, their totals, by the last block, in `sums`.
// Result: outputs y (null: none), sums.
// Launch: backends/cuda/elementwise/one_pass.py; grid-stride loop, 256 threads a block.  finished: 0 before and after.
#pragma once
#include "base/bits.cuh"
#include "base/scalar.cuh"
#include "base/warp.cuh"

namespace grb {

// The monoid of sum k, and its identity.
template <class F> struct PassMonoid {
  int k;
  GRB_DEVICE double identity() const { return F::MAXIMA >> k & 1 ? -1.0 / 0.0 : 0.0; }
  GRB_DEVICE double operator()(double a, double b) const { return F::MAXIMA >> k & 1 ? ::fmax(a, b) : a + b; }
};

template <class T> struct OnePass {
  struct { const T* x; const word* w; } vector[6];
  int64_t iso;
  struct { const double* p; double v; } scalar[3];
  T* y[3];
  int64_t n;
  double* parts;
  word* finished;
  double* sums;
};

template <class T, class F> __global__ void __launch_bounds__(256) one_pass(OnePass<T> o) {
  T s[3];
#pragma unroll
  for (int k = 0; k < 3; k++) s[k] = T(o.scalar[k].p ? *o.scalar[k].p : o.scalar[k].v);
  constexpr int SUMS = F::SUMS;
  double total[SUMS + 1];
#pragma unroll
  for (int k = 0; k < SUMS; k++) total[k] = PassMonoid<F>{k}.identity();
  GRB_EACH(i, o.n) {
    T x[F::VECTORS + 1], y[F::OUTPUTS + 1];
    double t[SUMS + 1];
#pragma unroll
    for (int k = 0; k < F::VECTORS; k++) {
      const auto& v = o.vector[k];
      x[k] = has_or_all(v.w, i) ? v.x[o.iso >> k & 1 ? 0 : i] : T(0);
    }
    F::run(x, s, y, t);
#pragma unroll
    for (int k = 0; k < F::OUTPUTS; k++) o.y[k][i] = y[k];
#pragma unroll
    for (int k = 0; k < SUMS; k++) total[k] = PassMonoid<F>{k}(total[k], t[k]);
  }
  if constexpr (SUMS > 0) {
    __shared__ double shared[32];
    for (int k = 0; k < SUMS; k++) {
      double sum = block_reduce(total[k], PassMonoid<F>{k}, shared);
      if (threadIdx.x == 0) o.parts[int64_t(blockIdx.x) * SUMS + k] = sum;
      __syncthreads();
    }
    if (!is_last_block(o.finished)) return;
    for (int k = 0; k < SUMS; k++) {
      const PassMonoid<F> monoid{k};
      double sum = monoid.identity();
      for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
        sum = monoid(sum, __ldcg(o.parts + int64_t(b) * SUMS + k));
      sum = block_reduce(sum, monoid, shared);
      if (threadIdx.x == 0) o.sums[k] = sum;
      __syncthreads();
    }
  }
}

}  // namespace grb
