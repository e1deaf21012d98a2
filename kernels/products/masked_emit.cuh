// Epilogues of C<M> = A (+.x) B: an entry whose value is known is stored, or selected and reduced without being stored.
//
// E, Stored<S> or written by backends/cuda/products/epilogue.py:
//   Value, R, Out, Thunk  types of C's values, the monoid of the reduction (a semiring struct whose times casts a
//                         value), what is written, the scalar of the select operator
//   into                  AT_MASK: C's entries, at the mask's; BY_ROW, BY_COLUMN: sums of C's rows or columns, merged
//                         by atomics in out, which has R::start() (R::any: anything)
//                         CORNERS, of rows as words: the sums of rows and columns together, both in out, and for each
//                         entry of B' in how many products it is (`matches`)
//   iso                   are all values *one?
//   keeps, keep(v, i, j, thunk)  is the entry wanted?
// Callers: products/masked_rows.cuh, products/masked_push.cuh.
#pragma once
#include "products/masked_words.cuh"

namespace grb {

enum { AT_MASK, BY_ROW, BY_COLUMN, CORNERS };

template <class S> struct Stored {
  using Value = typename S::Z;
  using Out = Value;
  using R = S;
  using Thunk = uint8_t;
  static constexpr int into = AT_MASK;
  static constexpr bool iso = S::structure_only, keeps = false;
  static GRB_DEVICE bool keep(const Value&, int64_t, int64_t, const Thunk*) { return true; }
};

// The operands of a product; fields of 8 bytes in the order of products/masked.py.
template <class I, class J, class M, class S, class E> struct Masked {
  const int64_t* m_ptr;
  const int64_t* m_rows;  // null: CSR
  const M* m_cols;
  const int64_t* a_ptr;
  const int64_t* a_rows;
  int64_t a_stored;
  const I* a_cols;
  const typename S::A* a_values;
  const int64_t* b_ptr;  // of B'
  const int64_t* b_rows;
  int64_t b_stored;
  const J* b_cols;
  const typename S::X* b_values;
  typename E::Out* out;  // of each entry of the mask, stored row of the mask, column of the result: E::into
  bool* hit;
  typename E::Value* sums;  // of each entry of the mask, for rows that are pushed and have no table; with `met`
  bool* met;
  const typename E::Value* one;     // E::iso: the value of every entry
  const typename E::Thunk* thunk;
  const int64_t* list;  // the bin's stored rows of M
  int64_t listed;
  int64_t table;     // SEARCHED, HASH or BITMAP
  int64_t capacity;  // bytes of shared memory of a row
  int64_t parts;     // blocks of a row
  const int64_t* b_first;  // CORNERS: the entry of B' that is the first one of each word
  uint32_t* matches;       // CORNERS: of each entry of B'
};

// CORNERS: the entries of word q of B' whose bits are among `bits` have one product more.
template <class O> GRB_DEVICE void count_matches(const O& o, int64_t q, word of_word, word bits) {
  uint32_t* first = o.matches + o.b_first[q];
  for (; bits; bits &= bits - 1) atomicAdd(first + __popcll(of_word & ((bits & (0 - bits)) - 1)), 1u);
}

// The entry (i, j) at entry e of the mask, whose products have this total (unless E::iso); `sum` is the thread's part
// of the row's sum.
template <class E, class O, class T>
GRB_DEVICE void emit(const O& o, Total<typename E::R>& sum, int64_t e, int64_t i, int64_t j, const T& total) {
  using R = typename E::R;
  typename E::Value value;
  if constexpr (E::iso) {
    if constexpr (E::keeps || E::into != AT_MASK) value = *o.one;
  } else if constexpr (is_same<T, typename E::Value>) {
    value = total;
  } else {
    value = typename E::Value(total);  // a number of matches
  }
  bool kept = true;
  if constexpr (E::keeps) kept = E::keep(value, i, j, o.thunk);
  if constexpr (E::into == AT_MASK) {
    o.hit[e] = kept;
    if constexpr (!E::iso)
      if (kept) o.out[e] = value;
  } else if (kept) {
    const typename R::Z term = R::times(value, typename R::X(), 0, 0, 0);
    if constexpr (E::into == BY_ROW || E::into == CORNERS) sum.take(term);
    if constexpr (E::into == CORNERS) {
      merge<R>(o.out + j, term);
    } else if constexpr (E::into == BY_COLUMN) {
      if constexpr (R::any) o.out[j] = term; else merge<R>(o.out + j, term);
      o.hit[j] = true;
    }
  }
}

// The sums of a warp's lanes, merged into that of stored row r of the mask.
template <class E, class O> GRB_DEVICE void merge_row(const O& o, Total<typename E::R>& sum, int64_t r) {
  if constexpr (E::into == BY_ROW || E::into == CORNERS) {
    using R = typename E::R;
    __syncwarp();
    join_lanes<R>(sum, 32);
    if (lane_number() != 0 || !sum.have) return;
    if constexpr (E::into == CORNERS) {
      merge<R>(o.out + (o.m_rows == nullptr ? r : o.m_rows[r]), sum.value);
      return;
    }
    if constexpr (R::any) o.out[r] = sum.value; else merge<R>(o.out + r, sum.value);
    o.hit[r] = true;
  }
}

}  // namespace grb
