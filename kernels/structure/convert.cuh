// Conversions: the list of a vector to a bitmap (back: structure/prefix_sums.cuh), row pointers, ranges, typecasts.
//
// Callers: backends/cuda/structure/arrays.py.
// Values are moved as unsigned integers of their size (16 bytes: ulonglong2), so one instance serves all types of a
// size.
// Launch: one thread for each entry or row.
#pragma once
#include "base/bits.cuh"
#include "base/scalar.cuh"
#include "base/views.cuh"

namespace grb {

// Sets the bit of each position i (atomicOr); dense[i] = values[k] (dense null: bits only).
template <class I, class T>
__global__ void positions_to_words(const I* indices, const T* values, int64_t n, word* words, T* dense) {
  GRB_EACH(k, n) {
    int64_t i = indices[k];
    atomicOr(&words[i >> 6], bit_of(i));
    if (dense != nullptr) dense[i] = values[k];
  }
}

// out[k] = (To) in[k] with SuiteSparse's typecast.
template <class From, class To> GRB_DEVICE void cast_values_at(int64_t k, const From* in, int64_t, To* out) {
  out[k] = cast<To>(in[k]);
}
template <class From, class To> __global__ void cast_values(const From* in, int64_t n, To* out) {
  GRB_EACH(k, n) cast_values_at<From, To>(k, in, n, out);
}

// out[k] = start + step * places[k] (places null: k): a range, places in one, or indices in another type.
template <class P, class I>
__global__ void progression(const P* places, int64_t n, int64_t start, int64_t step, I* out) {
  GRB_EACH(k, n) out[k] = I(start + step * (places == nullptr ? k : int64_t(places[k])));
}

// out[k] = starts[at[k]] (at null: starts[k]) for k below n, and out[n] = end: row pointers of n rows.
template <class = void>
__global__ void closed_starts(const int64_t* starts, const int64_t* at, int64_t n, int64_t end, int64_t* out) {
  GRB_EACH(k, n + 1) out[k] = k == n ? end : starts[at == nullptr ? k : at[k]];
}

// out[i] = entries before row i for i up to n, where row r of the `lines` rows with pointers indptr comes to row
// first + step * r, step > 0.
template <class = void>
__global__ void placed_starts(const int64_t* indptr, int64_t lines, int64_t first, int64_t step, int64_t n,
                              int64_t* out) {
  GRB_EACH(i, n + 1) out[i] = indptr[i <= first ? 0 : min(lines, (i - first + step - 1) / step)];
}

// used[r]: has row r an entry?
template <class P> __global__ void used_lines(const P* indptr, int64_t n, bool* used) {
  GRB_EACH(r, n) used[r] = indptr[r + 1] > indptr[r];
}

// out[k] = entries before row rows[k] (null: row k) of the DCSR matrix (indptr, stored_rows); out[n] = all of them.
template <class = void>
__global__ void align_starts(const int64_t* indptr, const int64_t* stored_rows, int64_t stored, const int64_t* rows,
                             int64_t n, int64_t* out) {
  GRB_EACH(k, n + 1)
    out[k] = indptr[k == n ? stored : lower_bound(stored_rows, int64_t(0), stored, rows == nullptr ? k : rows[k])];
}

}  // namespace grb
