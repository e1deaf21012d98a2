// An x with gaps for products by segments: which value means absent, and where a result is kept.
//
// Who includes it: products/segment_rows.cuh.
// A gathered x has ABSENT at its gaps, so that one load gives value and presence.  ABSENT is a NaN of floats, a number
// of integers like any other, no BOOL: where x has it among its values, mark_gaps says so and presence bits are read.
#pragma once
#include "products/semiring.cuh"

namespace grb {

enum { NO_GAPS, MARKED_GAPS, GAPS_BY_BITS };  // x full; ABSENT at its gaps; not gathered, presence bits alone

template <int BYTES> struct Absent {          // of the first eight bytes
  using Bits = choose<BYTES == 1, uint8_t, choose<BYTES == 2, uint16_t, choose<BYTES == 4, uint32_t, uint64_t>>>;
  static constexpr Bits bits = Bits(BYTES == 1 ? 0xCAull : BYTES == 2 ? 0xCA53ull : BYTES == 4 ? 0xFFCA5317ull
                                                                                        : 0xFFFACA5317E9ABCDull);
};
template <class X> GRB_DEVICE bool is_absent(const X& x) {
  typename Absent<int(sizeof(X))>::Bits bits;
  memcpy(&bits, &x, sizeof bits);
  return bits == Absent<int(sizeof(X))>::bits;
}
template <class X> GRB_DEVICE void make_absent(X& x) {
  const typename Absent<int(sizeof(X))>::Bits bits = Absent<int(sizeof(X))>::bits;
  memcpy(&x, &bits, sizeof bits);
}

// A semiring whose sums may be empty: every total says whether it has a value.
template <class S> struct WithGaps : S {
  static constexpr bool has_start = false;
  static constexpr int fold = NO_FOLD;
};

// Which entries of x are there.
struct XGaps {
  const unsigned* words;           // presence bits of x
  const int32_t* order;            // RELABELLED: the column of each rank
  bool by_bits;                    // has x ABSENT among its values?
  GRB_DEVICE bool has(int64_t column) const { return __ldg(words + (column >> 5)) >> (column & 31) & 1; }
};

// Where rows are written.  GAPS: `words`, the presence of w, has a bit for each row with entries that the mask admits,
// and loses those of rows whose sum is empty.
template <class Z, bool GAPS> struct RowOutput {
  Z* w;
  unsigned* words;
  unsigned missing;                // bits that this thread has cleared
  GRB_DEVICE RowOutput(Z* w, unsigned* words) : w(w), words(words), missing(0) {}
  GRB_DEVICE void clear(int64_t row) {
    const unsigned before = atomicAnd(words + (row >> 5), ~(1u << (row & 31)));
    missing += before >> (row & 31) & 1;
  }
  template <class R> GRB_DEVICE void put(R row, const Z& value, bool have) {
    if constexpr (GAPS) {
      if (!have) {
        clear(row);
        return;
      }
    }
    w[row] = value;
  }
  // *count -= the bits that this warp has cleared.  The warp calls together.
  GRB_DEVICE void subtract_missing(unsigned long long* count) {
    const unsigned all = warp_reduce(missing, [](unsigned p, unsigned q) { return p + q; });
    if (lane_number() == 0 && all) atomicAdd(count, 0ull - all);
    missing = 0;
  }
};

}  // namespace grb
