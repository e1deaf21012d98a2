// Vectors at positions that are values of another vector: w = u(p), and t(p) = x with what combines equal positions.
//
// Caller: backends/cuda/programs/positions.py.  Launch: a grid-stride loop over positions; gather_at: rounded up to 64.
// A position outside its dimension ends the loop: `wrong` becomes 1, and so does the page-locked `stop`, which the
// loop's end reads (turns.cuh); the host then runs the loop from Python, where the call tells what is wrong.
#pragma once
#include "products/semiring.cuh"

namespace grb {

// The position p in a dimension of `size`, negative ones from its end where from_end; -1, and it is told, elsewhere.
template <class P>
GRB_DEVICE int64_t position_of(P p, int64_t size, bool from_end, word* wrong, volatile word* stop) {
  const bool negative = p < P(0);
  const int64_t i = int64_t(p) + (negative && from_end ? size : 0);
  if (i >= 0 && i < size && (negative || int64_t(p) >= 0)) return i;
  *wrong = 1;
  *stop = 1;
  return -1;
}

// w(k) = u(at[k]), where u has an entry there; words_out null: u is full.
template <class P, class T>
__global__ void gather_at(const P* at, int64_t n, const word* words, const T* u, bool iso, int64_t size,
                          word* words_out, T* w, unsigned long long* count, word* wrong, volatile word* stop) {
  unsigned long long found = 0;
  GRB_EACH(k, (n + 63) & ~int64_t(63)) {
    const int64_t i = k < n ? position_of(at[k], size, true, wrong, stop) : -1;
    const bool there = i >= 0 && has_or_all(words, i);
    if (words_out != nullptr) write_flags(words_out, k, there);
    if (there) w[k] = u[iso ? 0 : i];
    found += there;
  }
  if (words_out != nullptr) add_to_count(found, count);
}

// t(at[k]) (+)= x(k) for the k in `members` (null: all); x null: k itself.  once: a position that comes twice is wrong.
// Preconditions: `words` and the count are zero, every element of t is start().
template <class P, class S>
__global__ void scatter_at(const P* at, const word* members, int64_t n, const typename S::X* x, int64_t size,
                           bool from_end, bool once, word* words, typename S::Z* t, unsigned long long* count,
                           word* wrong, volatile word* stop) {
  unsigned long long found = 0;
  GRB_EACH(k, n) {
    const int64_t i = has_or_all(members, k) ? position_of(at[k], size, from_end, wrong, stop) : -1;
    if (i < 0) continue;
    const bool there = *(const volatile word*)&words[i >> 6] & bit_of(i);  // most atomics on one word are spared
    const bool fresh = !there && put(words, i);
    found += fresh;
    if (once && !fresh) *wrong = 1, *stop = 1;
    if constexpr (!S::structure_only) {
      typename S::X value = x == nullptr ? typename S::X(k) : value_of_x<S>(x, k);
      merge<S>(t + i, S::times(typename S::A(), value, i, k, k));
    }
  }
  add_to_count(found, count);
}

// w(i) = x(from[i]) for the i of `words`
template <class T> __global__ void pick_at(const int64_t* from, const word* words, int64_t n, const T* x, T* w) {
  GRB_EACH(i, n)
    if (has(words, i)) w[i] = x[from[i]];
}

}  // namespace grb
