// Rows as sparse bitmaps: row i of W(A) has, at column w, the word of A(i, 64 w .. 64 w + 63), where any bit is set.
// Products that count matches, or test for one, become C(i,j) = popcount of W(A)(i,:) AND W(B')(j,:), with up to 64
// lookups in one.  (The bitmap rows of Bisson and Fatica, "High performance exact triangle counting on GPUs", IEEE TPDS
// 2017, stored sparse.)
//
// Phases: word_begins   begins[e]: is entry e the first of its word?  (fresh, then the first of each row)
//         an inclusive scan `ends` of begins
//         word_fill     column and bits of each word, read from its first entry on; row pointers; where wanted that
//                       entry
// Launch: backends/cuda/products/rows_as_words.py; one thread for each entry, for each stored row.
#pragma once
#include "products/masked_table.cuh"

namespace grb {

// The semiring of products of rows of words: (+, popcount of AND) counts matches; ANY: (OR, AND) looks for one.
template <bool ANY> struct Words {
  using Z = word;
  using A = word;
  using X = word;
  static constexpr bool reads_a = true, reads_x = true, a_iso = false, x_iso = false, structure_only = false,
                        any = false, has_start = true, has_terminal = ANY, reads_i = false, reads_k = false,
                        plain_sum = true;
  static GRB_DEVICE Z start() { return 0; }
  static GRB_DEVICE bool terminal(Z v) { return ANY && v != 0; }
  static GRB_DEVICE Z add(Z p, Z q) { return ANY ? p | q : p + q; }
  static GRB_DEVICE Z times(A a, X x, int64_t, int64_t, int64_t) { return ANY ? a & x : Z(__popcll(a & x)); }
};
template <class S> constexpr bool of_words = false;
template <bool ANY> constexpr bool of_words<Words<ANY>> = true;

// begins[e] = A's entry e - 1 is not of the same word; word_rows marks the first entries of rows.
template <class I> __global__ void word_begins(const I* cols, int64_t n, bool* begins) {
  GRB_EACH(e, n) begins[e] = e == 0 || cols[e] >> 6 != cols[e - 1] >> 6;
}
template <class P> __global__ void word_rows(const P* ptr, int64_t stored, bool* begins) {
  GRB_EACH(r, stored)
    if (ptr[r] < ptr[r + 1]) begins[ptr[r]] = true;
}

// w_ptr[r] = words before stored row r (r <= stored).
template <class E> __global__ void word_starts(const int64_t* ptr, int64_t stored, const E* ends, int64_t* w_ptr) {
  GRB_EACH(r, stored + 1) w_ptr[r] = ptr[r] == 0 ? 0 : int64_t(ends[ptr[r] - 1]);
}

template <class I, class E>
__global__ void word_fill(const I* cols, int64_t n, const bool* begins, const E* ends, int32_t* w_cols, word* words,
                          int64_t* first) {
  GRB_EACH(e, n) {
    if (!begins[e]) continue;
    word bits = 0;
    for (int64_t q = e; q < n && (q == e || !begins[q]); q++) bits |= word(1) << (int64_t(cols[q]) & 63);
    const int64_t at = int64_t(ends[e]) - 1;
    w_cols[at] = int32_t(cols[e] >> 6);
    words[at] = bits;
    if (first != nullptr) first[at] = e;
  }
}

// sums[column of e] += matches[e] of each entry e.
template <class I>
__global__ void add_matches(const I* cols, int64_t n, const uint32_t* matches, unsigned long long* sums) {
  GRB_EACH(e, n) if (matches[e]) atomicAdd(sums + cols[e], (unsigned long long)(matches[e]));
}

}  // namespace grb
