// The entries of each row in an order of their own: values and columns, moved to their ranks in the row.
//
// Result: value_out[s + r] = the r-th value of the row that begins at s, column_out its column; rank[k] = k - s, the
//   column of entry k in the result, whose row pointers are those of the matrix.
// Algorithm: an entry's rank is the number of the entries of its row that come before it, which are counted: rows of a
//   graph are short.  Rows of more than `most` entries are left out, and the host sorts all entries by key, then row.
// Caller: backends/cuda/elementwise/ranked_rows.py.  Launch: a grid-stride loop over warps.
#pragma once
#include "elementwise/first_of_rows.cuh"
#include "structure/gather.cuh"

namespace grb {

enum RankedBy { PLACE, VALUE, HASH };

// Arguments have 8 bytes.  BY PLACE and HASH: T is the unsigned integer of the values' size.
template <class I, class T> struct RankedRows {
  const int64_t* ends;  // row pointers, from the second on
  int64_t rows, total;
  const I* columns;  // null: an entry's number
  const T* values;
  int64_t iso;
  word seed;
  int64_t descending, backwards;  // by falling keys; equal keys, or places, by falling column
  int64_t most;
  I* rank;               // null: not wanted, of a vector
  T* value_out;          // null: not wanted
  uint64_t* column_out;  // null: not wanted
  word *longest, *finished;  // zeros
  word* sent;  // the greatest length of a row; may be null
};

template <int BY, class I, class T> __global__ void ranked_rows(RankedRows<I, T> o) {
  using Key = choose<BY == VALUE, T, uint64_t>;
  word length_seen = 0;
  for_each_in_segments(o.ends, o.rows, o.total, [&](int64_t k, int64_t s, int64_t offset) {
    const int64_t start = k - offset, length = o.ends[s] - start;
    length_seen = max(length_seen, word(length));
    if (o.rank != nullptr) o.rank[k] = I(offset);
    int64_t to = o.backwards ? length - 1 - offset : offset;
    if constexpr (BY != PLACE) {
      if (length > o.most) return;
      const Key* values = nullptr;
      if constexpr (BY == VALUE) values = o.values;
      const RowKeys<Key> row{nullptr, values, o.seed, start, length, false, o.descending != 0};
      const auto key = row.key(offset);
      to = 0;
      for (int64_t p = 0; p < length; p++) {
        const auto other = row.key(p);
        to += other < key || (other == key && (o.backwards ? p > offset : p < offset));
      }
    }
    if (o.value_out != nullptr) o.value_out[start + to] = o.values[o.iso ? 0 : k];
    if (o.column_out != nullptr) o.column_out[start + to] = uint64_t(o.columns == nullptr ? k : int64_t(o.columns[k]));
  });
  if (o.sent == nullptr) return;
  length_seen = warp_max(length_seen);
  if (lane_number() == 0) atomicMax(o.longest, length_seen);
  if (is_last_block(o.finished) && threadIdx.x == 0) *o.sent = *(volatile word*)o.longest;
}

}  // namespace grb
