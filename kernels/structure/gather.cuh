// Gathers, lookups in sorted lists by binary search, and the load-balanced expansion of ranges (rows into entries).
//
// Callers: backends/cuda/structure/gather.py, arrays.py, index_lists.py, rows.py.
// Values are moved as unsigned integers of their size.
// Launch: one thread for each result; ranges_of, copy_rows, sort_rows: a grid-stride loop over warps.
#pragma once
#include "base/bits.cuh"
#include "base/views.cuh"
#include "base/warp.cuh"

namespace grb {

// out[k] = in[at[k]]
template <class P, class T> __global__ void gather(const P* at, const T* in, int64_t n, T* out) {
  GRB_EACH(k, n) out[k] = in[at[k]];
}

// at[k] = position of wanted[k] in the ascending list, or -1; hit[k]: is it there?  (binary search)
template <class I>
__global__ void look_up(const int64_t* wanted, int64_t n, const I* list, int64_t length, int64_t* at, bool* hit) {
  GRB_EACH(k, n) {
    int64_t found = find(list, int64_t(0), length, wanted[k]);
    at[k] = found;
    hit[k] = found >= 0;
  }
}

// out: how many of the ascending positions are before `low`, and up to `high`.  Launch: two threads.
template <class I>
__global__ void range_bounds(const I* positions, int64_t n, int64_t low, int64_t high, word* out) {
  GRB_EACH(k, 2) out[k] = word(k == 0 ? lower_bound(positions, int64_t(0), n, low)
                                      : upper_bound(positions, int64_t(0), n, high));
}

// at[k] = the place of positions[k] in the range of `count` numbers from `start` by `step` (at null: not wanted);
// hit[k]: is it there?  outside: is it not?
template <class I, class A>
__global__ void places_in_range(const I* positions, int64_t n, int64_t start, int64_t step, int64_t count, bool outside,
                                A* at, bool* hit) {
  GRB_EACH(k, n) {
    const int64_t offset = int64_t(positions[k]) - start, place = step == 1 ? offset : offset / step;
    if (at != nullptr) at[k] = A(place);
    hit[k] = (place >= 0 && place < count && place * step == offset) != outside;
  }
}

// The region I x J of a vector of lines of `width` positions, line by line, `across` places each: bit k and value k of
// the result are those of place k.  words null: the vector is full, and words_out is null, too.  out null: values are
// not wanted.  The set bits are added to *count.
// Launch: whole warps over n rounded up to 64, so that every half word is written.
template <class T>
__global__ void gather_region(const word* words, const T* in, int64_t width, const int64_t* I, int64_t first_i,
                              int64_t step_i, const int64_t* J, int64_t first_j, int64_t step_j, int64_t across,
                              int64_t n, word* words_out, T* out, unsigned long long* count) {
  const Axis lines{I, first_i, step_i, nullptr}, columns{J, first_j, step_j, nullptr};
  unsigned long long found = 0;
  GRB_EACH(k, (n + 63) & ~int64_t(63)) {
    const int64_t line = k < n ? across == 1 ? k : k / across : 0;
    const int64_t i = k < n ? lines.at(line) * width + columns.at(k - line * across) : 0;
    const bool there = k < n && has_or_all(words, i);
    if (words_out != nullptr) write_flags(words_out, k, there);
    if (there && out != nullptr) out[k] = in[i];
    found += there;
  }
  if (words_out != nullptr) add_to_count(found, count);
}

// Load-balanced expansion of segments (as moderngpu's load-balancing search): k belongs to the segment s with
// ends[s-1] <= k < ends[s], found by binary search; each(k, s, k - ends[s-1]) is called for every k below `total`.  A
// warp takes at most 1024 neighbouring k.  It searches all segments for the first and the last k only; the others are
// searched between these two results, SEARCHES at once in each thread.
constexpr int SEARCHES = 4;
template <class E, class Each>
GRB_DEVICE void for_each_in_segments(const E* ends, int64_t segments, int64_t total, Each each) {
  const int64_t share = (total / warp_count() + 31) / 32 * 32;
  const int64_t chunk = max(int64_t(32), min(share, int64_t(1024)));
  GRB_EACH_WARP(w, (total + chunk - 1) / chunk) {
    const int64_t from = w * chunk, to = min(from + chunk, total);
    int64_t s = 0;
    if (lane_number() < 2) s = upper_bound(ends, int64_t(0), segments, lane_number() ? to - 1 : from);
    int64_t low = __shfl_sync(ALL_LANES, s, 0);
    const int64_t high = __shfl_sync(ALL_LANES, s, 1);
    for (int64_t base = from; base < to; base += 32 * SEARCHES) {
      int64_t place[SEARCHES], found[SEARCHES];
#pragma unroll
      for (int u = 0; u < SEARCHES; u++) place[u] = min(base + 32 * u + lane_number(), to - 1), found[u] = low;
      for (int64_t left = high - low; left > 0;) {  // the same steps for all, so that their loads overlap
        const int64_t half = (left + 1) >> 1;
#pragma unroll
        for (int u = 0; u < SEARCHES; u++)
          if (ends[found[u] + half - 1] <= place[u]) found[u] += half;
        left -= half;
      }
#pragma unroll
      for (int u = 0; u < SEARCHES; u++) {
        const int64_t k = place[u], t = found[u];
        if (base + 32 * u + lane_number() < to) each(k, t, k - (t == 0 ? int64_t(0) : int64_t(ends[t - 1])));
      }
      low = __shfl_sync(ALL_LANES, found[SEARCHES - 1], 31);
    }
  }
}

// segment[k] = names[s] (s when names is null), at[k] = starts[s] + (k - ends[s-1]).  Null outputs are not written;
// starts is null when at is.
template <class E, class N, class S>
__global__ void ranges_of(const E* ends, const N* names, const int64_t* starts, int64_t segments, int64_t total,
                          S* segment, int64_t* at) {
  for_each_in_segments(ends, segments, total, [&](int64_t k, int64_t s, int64_t offset) {
    if (segment != nullptr) segment[k] = S(names == nullptr ? s : int64_t(names[s]));
    if (at != nullptr) at[k] = starts[s] + offset;
  });
}

// The entries of given rows, one row after the other: row s are those of A from starts[s] on, or of B from ~starts[s]
// on where starts[s] is negative.  Values null: not wanted; iso: one value for all.
template <class I, class T>
__global__ void copy_rows(const int64_t* ends, const int64_t* starts, int64_t rows, int64_t total, const I* a_columns,
                          const T* a_values, bool a_iso, const I* b_columns, const T* b_values, bool b_iso, I* columns,
                          T* values) {
  for_each_in_segments(ends, rows, total, [&](int64_t k, int64_t s, int64_t offset) {
    const int64_t start = starts[s];
    const bool of_a = start >= 0;
    const int64_t at = (of_a ? start : ~start) + offset;
    columns[k] = of_a ? a_columns[at] : b_columns[at];
    if (values != nullptr) values[k] = of_a ? a_values[a_iso ? 0 : at] : b_values[b_iso ? 0 : at];
  });
}

// at[k] = table[columns[k]], the new column of an entry; hit[k]: has it one?  (-1: it has none)
template <class I, class A>
__global__ void new_columns(const I* columns, int64_t n, const int* table, A* at, bool* hit) {
  GRB_EACH(k, n) {
    const int found = table[columns[k]];
    at[k] = A(found);
    hit[k] = found >= 0;
  }
}

// A stable sort of the columns of each row, by counting for each entry those of its row that come before it.  Rows of
// more than `most` entries are left out; *sent = the greatest length.  ends: the row pointers from the second on.
// longest, finished: zeros.
template <class I, class T>
__global__ void sort_rows(const int64_t* ends, int64_t rows, int64_t total, const I* columns, const T* values,
                          int64_t most, I* columns_out, T* values_out, word* longest, word* finished, word* sent) {
  word length_seen = 0;
  for_each_in_segments(ends, rows, total, [&](int64_t k, int64_t s, int64_t offset) {
    const int64_t start = k - offset, stop = ends[s];
    length_seen = max(length_seen, word(stop - start));
    if (stop - start > most) return;
    const I column = columns[k];
    int64_t to = start;
    for (int64_t other = start; other < stop; other++)
      to += columns[other] < column || (columns[other] == column && other < k);
    columns_out[to] = column;
    if (values != nullptr) values_out[to] = values[k];
  });
  length_seen = warp_max(length_seen);
  if (lane_number() == 0) atomicMax(longest, length_seen);
  if (is_last_block(finished) && threadIdx.x == 0) *sent = *(volatile word*)longest;
}

}  // namespace grb
