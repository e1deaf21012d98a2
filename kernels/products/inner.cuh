// Inner product of two vectors over a semiring: s = (+)_k u(k) (x) v(k) over the k where both have an entry.
//
// Algorithm: single-pass reduction with a ticket counter (elementwise/reduce.cuh), each thread's products combined
//   first.  Floating-point sums are combined in a fixed tree, so every run gives the same result.
// Phases: a thread multiplies the entries of u that have a partner in v (a bit of the bitmap, or binary search in the
//   list) and combines them; the block; the last block combines the blocks.
// Result and launch: as reduce_values.
// u: `n` positions of a bitmap (I is void; u_words null: all present) or a list of n entries; v likewise (J), of
//   `count` entries where it is a list.  S: products/semiring.cuh.
// Launched by backends/cuda/products/inner.py.
#pragma once
#include "elementwise/reduce.cuh"
#include "products/semiring.cuh"

namespace grb {

// The position in v's values of the entry at k, or -1.
template <class J>
GRB_DEVICE int64_t partner(const J* indices, const word* words, int64_t count, int64_t k) {
  if constexpr (is_same<J, void>) return has_or_all(words, k) ? k : -1;
  else return find(indices, int64_t(0), count, k);
}

template <class S> struct addition_of {
  GRB_DEVICE typename S::Z operator()(typename S::Z p, typename S::Z q) const { return S::add(p, q); }
};

template <class I, class J, class S>
__global__ void __launch_bounds__(1024)
inner_product(const I* u_indices, const word* u_words, const typename S::A* u, int64_t n,
              const J* v_indices, const word* v_words, const typename S::X* v, int64_t count,
              word* parts, word* finished, word* out) {
  Total<S> total;
  const int64_t step = item_step(), end = item_end(n);
  for (int64_t first = first_item(n); first < end && !total.finished(); first += AHEAD * step) {
    typename S::A a[AHEAD] = {};
    typename S::X x[AHEAD] = {};
    int64_t k[AHEAD];
    bool there[AHEAD];
#pragma unroll
    for (int b = 0; b < AHEAD; b++) {
      int64_t p = first + b * step, q = -1;
      there[b] = p < end && has_or_all(u_words, p);
      if (there[b]) {
        if constexpr (is_same<I, void>) k[b] = p;
        else k[b] = u_indices[p];
        q = partner(v_indices, v_words, count, k[b]);
        there[b] = q >= 0;
      }
      if constexpr (S::reads_a) if (there[b]) a[b] = u[S::a_iso ? 0 : p];
      if constexpr (S::reads_x) if (there[b]) x[b] = v[S::x_iso ? 0 : q];
    }
#pragma unroll
    for (int b = 0; b < AHEAD; b++) {
      if (there[b]) total.take(S::times(a[b], x[b], 0, k[b], 0));
    }
  }
  reduce_grid(total.value, total.have, parts, finished, out, addition_of<S>());
}

}  // namespace grb
