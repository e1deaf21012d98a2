// C<M> = A (+.x) B row by row (SpGEMM, Gustavson): every product A[i,k] (x) B[k,j] by a thread of its own.
//
// Algorithm: ESC (expand, sort, compress: Bell, Dalton, Olson, SISC 2012).  Products are numbered: those of entry p of
//   A are ends[p-1] .. ends[p]-1, in the order of row k of B; a thread finds its entry by bisection, so the work is
//   balanced whatever the rows' lengths.
// row_lengths       entries of row k of B for each entry of A; an inclusive scan gives `ends`
// expand_products   writes a range of products for sorting;  keep (null: all are wanted): which the mask admits
// combine_few       the compression of small groups of equal positions, a thread each (large ones: combine_groups of
//                   products/columns.cuh)
// Launch: backends/cuda/products/matmul.py, one thread for each product.
#pragma once
#include "products/semiring.cuh"

namespace grb {

// A product's operands: entry p of A at (i,k), entry q of B at (k,j).
template <class I, class J> struct Meeting {
  int64_t p, q, i, k, j;
  GRB_DEVICE Meeting(int64_t number, const int64_t* ends, int64_t from, int64_t to, const int64_t* a_rows,
                     const I* a_cols, const int64_t* b_ptr, const int64_t* b_rows, int64_t b_held, const J* b_cols) {
    p = upper_bound(ends, from, to, number);
    i = a_rows[p];
    k = a_cols[p];
    int64_t start, stop;
    row_range(b_ptr, b_rows, b_held, k, start, stop);
    q = start + number - (p == 0 ? int64_t(0) : ends[p - 1]);
    j = b_cols[q];
  }
};

// lengths[p] = entries of row k of B for entry p of A.
template <class I>
__global__ void row_lengths(const I* a_cols, int64_t n, const int64_t* b_ptr, const int64_t* b_rows, int64_t b_held,
                            int64_t* lengths) {
  GRB_EACH(p, n) {
    int64_t start, stop;
    row_range(b_ptr, b_rows, b_held, int64_t(a_cols[p]), start, stop);
    lengths[p] = stop - start;
  }
}

// The position of (i,j) among the mask's entries, or -1.
template <class M>
GRB_DEVICE int64_t place_in(const int64_t* m_ptr, const int64_t* m_rows, int64_t m_held, const M* m_cols, int64_t i,
                            int64_t j) {
  int64_t start, stop;
  row_range(m_ptr, m_rows, m_held, i, start, stop);
  return find(m_cols, start, stop, j);
}

template <class I, class J, class M, class R, class S>
__global__ void expand_products(const int64_t* ends, int64_t from, int64_t to, int64_t base, int64_t n,
                                const int64_t* a_rows, const I* a_cols, const typename S::A* a_values,
                                const int64_t* b_ptr, const int64_t* b_rows, int64_t b_held, const J* b_cols,
                                const typename S::X* b_values, const int64_t* m_ptr, const int64_t* m_rows,
                                int64_t m_held, const M* m_cols, bool complement, R* rows, J* cols,
                                typename S::Z* products, bool* keep) {
  GRB_EACH(e, n) {
    Meeting<I, J> at(base + e, ends, from, to, a_rows, a_cols, b_ptr, b_rows, b_held, b_cols);
    if (keep != nullptr) {
      bool wanted = (place_in(m_ptr, m_rows, m_held, m_cols, at.i, at.j) >= 0) != complement;
      keep[e] = wanted;
      if (!wanted) continue;
    }
    rows[e] = R(at.i);
    cols[e] = J(at.j);
    if (products != nullptr)
      products[e] = S::times(value_of_a<S>(a_values, at.p), value_of_x<S>(b_values, at.q), at.i, at.k, at.j);
  }
}

// out[g] = products[order[starts[g]]] (+) ...; a thread for each group, for small groups.
template <class O, class S>
__global__ void combine_few(const typename S::Z* products, const O* order, const int64_t* starts, int64_t groups,
                            int64_t total, typename S::Z* out) {
  GRB_EACH(g, groups) {
    int64_t stop = g + 1 < groups ? starts[g + 1] : total;
    Total<S> sum;
    for (int64_t e = starts[g]; e < stop; e++) sum.take(products[order[e]]);
    out[g] = sum.value;
  }
}

}  // namespace grb
