// C<M> = A (+.x) B at the entries of M only: A full and row-major, B full and column-major (SDDMM); any semiring.
//
//   C(i, j) = (+)_l A[i, l] (x) B[l, j]      for each entry (i, j) of M: both are `depth` consecutive elements
//
// Algorithm: an entry by LANES lanes with V elements each (Yu, Dai, Huang, Wang, Yang, "Exploiting online locality and
//   reduction parallelism for sampled dense matrix multiplication on GPUs", ICCD 2021, section 4): LANES * V * STEPS
//   elements of A's row stay in registers while the entries of the row are computed, and the lanes' totals are
//   joined by shuffles.  STEPS 0: any depth, A is loaded again for each entry.
// Launch: backends/cuda/products/sddmm.py, a warp for `chunk` consecutive entries of M, 32 / LANES of them at once.
// Preconditions: depth is a positive multiple of V, A and B are aligned to V elements.
#pragma once
#include "products/spmm.cuh"

namespace grb {

template <class T, int V, bool READ, bool ISO> GRB_DEVICE Pack<T, V> elements(const T* values, int64_t at) {
  Pack<T, V> found;
  if constexpr (READ && !ISO) {
    found = *reinterpret_cast<const Pack<T, V>*>(values + at);
  } else {
    const T one = READ ? values[0] : T();
#pragma unroll
    for (int u = 0; u < V; u++) found.v[u] = one;
  }
  return found;
}

template <class I, class S, int V, int LANES, int STEPS>
__global__ void sddmm(const int64_t* indptr, int64_t rows, const I* indices, int64_t entries, int64_t chunk,
                      int64_t chunks, const typename S::A* a_values, const typename S::X* b_values, int64_t depth,
                      typename S::Z* out) {
  constexpr int GROUPS = 32 / LANES;
  using A = Pack<typename S::A, V>;
  using B = Pack<typename S::X, V>;
  const int lane = lane_number(), group = lane / LANES, within = lane % LANES;
  GRB_EACH_WARP(number, chunks) {
    const int64_t from = number * chunk, to = from + chunk < entries ? from + chunk : entries;
    int64_t row = row_of(indptr, rows, from + group < to ? from + group : to - 1), held = -1;
    A kept[STEPS > 0 ? STEPS : 1];
    for (int64_t base = from; base < to; base += GROUPS) {
      const int64_t e = base + group;
      Total<S> total;
      if (e < to) {
        while (indptr[row + 1] <= e) row++;
        const int64_t j = int64_t(stream(indices + e));
        const int64_t a_at = row * depth + within * V, b_at = j * depth + within * V;
        if constexpr (STEPS > 0) {
          B b[STEPS];
#pragma unroll
          for (int step = 0; step < STEPS; step++) {
            if (step * LANES * V + within * V < depth)
              b[step] = elements<typename S::X, V, S::reads_x, S::x_iso>(b_values, b_at + step * LANES * V);
          }
          if (row != held) {
#pragma unroll
            for (int step = 0; step < STEPS; step++) {
              if (step * LANES * V + within * V < depth)
                kept[step] = elements<typename S::A, V, S::reads_a, S::a_iso>(a_values, a_at + step * LANES * V);
            }
            held = row;
          }
#pragma unroll
          for (int step = 0; step < STEPS; step++) {
            const int64_t l = step * LANES * V + within * V;
            if (l < depth) {
#pragma unroll
              for (int u = 0; u < V; u++) total.take(S::times(kept[step].v[u], b[step].v[u], row, l + u, j));
            }
          }
        } else {
          for (int64_t l = within * V; l < depth; l += LANES * V) {
            const A a = elements<typename S::A, V, S::reads_a, S::a_iso>(a_values, a_at + l - within * V);
            const B b = elements<typename S::X, V, S::reads_x, S::x_iso>(b_values, b_at + l - within * V);
#pragma unroll
            for (int u = 0; u < V; u++) total.take(S::times(a.v[u], b.v[u], row, l + u, j));
          }
        }
      }
      join_lanes(total, LANES);
      if (e < to && within == 0) {
        if constexpr (!S::structure_only) out[e] = total.value;
      }
    }
  }
}

}  // namespace grb
