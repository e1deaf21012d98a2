// w[i] = (+)_k A[i,k] (x) x[k] row-wise (SpMV, masked; x full or a bitmap), rows binned by length.
//
// Algorithm: CSR-vector with 1 to 32 lanes a row by its length (adaptive CSR: Greathouse, Daga, SC 2014), with masking,
//   early exit at the terminal value and structure-only products (push_pull_graphblas_icpp18, 5.2, 5.3, 5.5).
// Phases of a warp (matvec_rows):
//   bin        its task's class: 1, 2, 4 ... 32 lanes for a row; rows longer than the longest class are cut into chunks
//   mask       is the row wanted?
//   row_total  each lane has IN_FLIGHT entries in flight; the group of lanes stops when one has the terminal value
//   combine    over the group (join_lanes); of a long row the warp that arrives last combines the chunks
//   write      w and the presence bit
// Launch: backends/cuda/products/matvec.py, a grid-stride loop over warps.  Schedule:
//   backends/cuda/products/row_schedule.py, made once for each matrix, without the empty rows.
// Preconditions: x is full (FULL) or has presence words; w_words, when given, are zero; `arrived` is zero before and
//   after.  w is written only where a value was found.
#pragma once
#include "products/semiring.cuh"

namespace grb {

constexpr int CLASSES = 7;  // of rows: chunks of long ones, then 32, 16, 8, 4, 2 and 1 lanes
constexpr int IN_FLIGHT = 4;

// The total of entries first + lane, first + lane + lanes ... below stop, in each lane; early exit of the whole group.
// CHANGES: other blocks have written x in this launch, before a barrier of the grid; A is read again in other turns,
// and values of x are loaded with their presence bits, for which a turn of few entries would wait twice.
template <class I, class S, bool FULL, bool CHANGES = false>
GRB_DEVICE Total<S> row_total(const I* cols, const typename S::A* a_values, const word* x_words,
                              const typename S::X* x_values, int64_t row, int64_t first, int64_t stop, int sub,
                              int lanes) {
  Total<S> total;
  int64_t k = first + sub;
  unsigned group = lanes == 32 ? ALL_LANES : ((1u << lanes) - 1) << (lane_number() - sub);
  for (;;) {
    I c[IN_FLIGHT];
    bool in[IN_FLIGHT];
    const I* here = cols + k;
    const int left = stop - k < IN_FLIGHT * 32 ? int(stop - k) : IN_FLIGHT * 32;  // 32 bits: half the instructions
#pragma unroll
    for (int u = 0; u < IN_FLIGHT; u++) {
      in[u] = u * lanes < left;
      c[u] = !in[u] ? I(0) : CHANGES ? read_only(here + u * lanes) : stream(here + u * lanes);
    }
    typename S::X x[IN_FLIGHT];
    if constexpr (CHANGES && S::reads_x && !S::x_iso) {
#pragma unroll
      for (int u = 0; u < IN_FLIGHT; u++) {
        if (in[u]) x[u] = x_values[c[u]];
      }
    }
    if constexpr (!FULL) {
#pragma unroll
      for (int u = 0; u < IN_FLIGHT; u++) in[u] = in[u] && has(x_words, c[u]);
    }
    typename S::A a[IN_FLIGHT];
#pragma unroll
    for (int u = 0; u < IN_FLIGHT; u++) {
      if (in[u]) {
        a[u] = CHANGES ? kept_value<S>(a_values, k + u * lanes) : value_of_a<S>(a_values, k + u * lanes);
        if constexpr (!(CHANGES && S::reads_x && !S::x_iso)) x[u] = value_of_x<S>(x_values, c[u]);
      }
    }
#pragma unroll
    for (int u = 0; u < IN_FLIGHT; u++) {
      if (in[u]) total.take(S::times(a[u], x[u], row, c[u], 0));
    }
    k += IN_FLIGHT * lanes;
    if constexpr (stops_early<S>) {
      bool more = k < stop;
      if (!__any_sync(ALL_LANES, more)) break;
      if (__ballot_sync(ALL_LANES, total.finished()) & group) k = stop;
    } else {
      if (k >= stop) break;
    }
  }
  __syncwarp();
  return total;
}

template <class R, class S>
GRB_DEVICE void write_total(const Total<S>& total, bool leader, int64_t row, typename S::Z* w, word* w_words,
                            unsigned long long& found) {
  if (leader && total.have) {
    if constexpr (!S::structure_only) w[row] = total.value;
    if (w_words != nullptr) {
      atomicOr(&w_words[row >> 6], bit_of(row));
      found++;
    }
  }
}

// The same for a warp whose rows are neighbours, all in one half of a word: one atomic for them.
template <class S>
GRB_DEVICE void write_neighbours(const Total<S>& total, bool leader, int64_t row, typename S::Z* w, word* w_words,
                                 unsigned long long& found) {
  const bool here = leader && total.have;
  if constexpr (!S::structure_only) {
    if (here) w[row] = total.value;
  }
  if (w_words != nullptr) {
    const unsigned bits = warp_or(here ? 1u << (row & 31) : 0u);
    if (lane_number() == 0 && bits) {
      atomicOr(reinterpret_cast<unsigned*>(w_words) + (row >> 5), bits);
      found += __popc(bits);
    }
  }
}

// bins[c] warps up to the end of class c; bins[8 + c], bins[16 + c] the positions of its rows in the schedule.
// Long rows come first: row r has chunks chunk_ptr[r] .. chunk_ptr[r+1]-1, and owner[p] = r.
template <class I, class P, class R, class S, bool FULL, bool MASKED>
__global__ void __launch_bounds__(256)
matvec_rows(const R* __restrict__ rows, const P* __restrict__ starts, const P* __restrict__ stops,
            const int64_t* __restrict__ bins, int64_t warps, const I* __restrict__ cols,
            const typename S::A* __restrict__ a_values, const word* __restrict__ x_words,
            const typename S::X* __restrict__ x_values, const word* __restrict__ mask, bool complement,
            typename S::Z* __restrict__ w, word* w_words, unsigned long long* count, int64_t chunk,
            const int64_t* __restrict__ chunk_ptr, const int32_t* __restrict__ owner, unsigned* arrived,
            typename S::Z* partial, uint8_t* partial_have) {
  unsigned long long found = 0;
  GRB_EACH_WARP(task, warps) {
    int c = 0;
#pragma unroll
    for (int k = 0; k < CLASSES - 1; k++) c += task >= bins[k];  // independent loads
    int64_t inside = task - (c == 0 ? int64_t(0) : bins[c - 1]);
    if (c > 0) {
      int lanes = 64 >> c, sub = lane_number() & (lanes - 1);
      int64_t place = bins[8 + c] + (inside << (c - 1)) + (lane_number() >> (6 - c));
      int64_t row = 0, first = 0, stop = 0;
      if (rows == nullptr) row = place;
      if (place < bins[16 + c]) {
        if (rows != nullptr) row = int64_t(rows[place]);
        bool wanted = true;
        if constexpr (MASKED) wanted = has(mask, row) != complement;
        if (wanted) {
          first = starts[place];
          stop = stops[place];
        }
      }
      Total<S> total = row_total<I, S, FULL>(cols, a_values, x_words, x_values, row, first, stop, sub, lanes);
      join_lanes<S>(total, lanes);
      if (rows == nullptr) write_neighbours<S>(total, sub == 0, row, w, w_words, found);
      else write_total<R, S>(total, sub == 0, row, w, w_words, found);
    } else {
      int64_t place = owner[inside], row = rows == nullptr ? place : int64_t(rows[place]);
      if constexpr (MASKED) {
        if (has(mask, row) == complement) continue;
      }
      int64_t from = chunk_ptr[place], number = chunk_ptr[place + 1] - from;
      int64_t first = starts[place], stop = stops[place], length = chunk;
      if (length == 0) length = (stop - first + number - 1) / number;
      first += (inside - from) * length;
      if (first + length < stop) stop = first + length;
      Total<S> total = row_total<I, S, FULL>(cols, a_values, x_words, x_values, row, first, stop, lane_number(), 32);
      join_lanes<S>(total, 32);
      int last = 0;
      if (lane_number() == 0) {
        if constexpr (!S::structure_only) partial[inside] = total.value;
        partial_have[inside] = total.have;
        __threadfence();
        last = atomicAdd(&arrived[place], 1u) == unsigned(number - 1);
        if (last) arrived[place] = 0;
        __threadfence();
      }
      last = __shfl_sync(ALL_LANES, last, 0);
      if (last) {
        Total<S> whole;
        for (int64_t p = from + lane_number(); p < from + number; p += 32) {
          bool there = *(volatile uint8_t*)&partial_have[p] != 0;
          typename S::Z part = typename S::Z();
          if constexpr (!S::structure_only) {
            if (there) part = fresh_value(partial + p);
          }
          whole.join(part, there);
        }
        join_lanes<S>(whole, 32);
        write_total<R, S>(whole, lane_number() == 0, row, w, w_words, found);
      }
    }
  }
  if (count != nullptr) add_to_count(found, count);
}

// The same where nothing of the size of a dimension may be allocated: a warp for each row stored in A; x and the mask
// are words or ascending lists (everything when both are null); out[r], hit[r] belong to the r-th stored row.
template <class I, class XI, class M, class S>
__global__ void matvec_held_rows(const int64_t* rows, const int64_t* indptr, int64_t stored, const I* cols,
                                 const typename S::A* a_values, const word* x_words, const XI* x_indices,
                                 int64_t x_count, const typename S::X* x_values, const word* mask,
                                 const M* mask_indices, int64_t mask_count, bool masked, bool complement,
                                 typename S::Z* out, bool* hit) {
  GRB_EACH_WARP(r, stored) {
    int64_t row = rows == nullptr ? r : rows[r];
    bool wanted = !masked || in_pattern(mask, mask_indices, mask_count, row) != complement;
    Total<S> total;
    if (wanted) {
      for (int64_t p = indptr[r] + lane_number(); p < indptr[r + 1]; p += 32) {
        int64_t k = cols[p], at = k;
        bool there = true;
        if (x_indices != nullptr) {
          at = find(x_indices, int64_t(0), x_count, k);
          there = at >= 0;
        } else if (x_words != nullptr) {
          there = has(x_words, k);
        }
        if (there) total.take(S::times(value_of_a<S>(a_values, p), value_of_x<S>(x_values, at), row, k, 0));
      }
    }
    join_lanes<S>(total, 32);
    if (lane_number() == 0) {
      hit[r] = total.have;
      if constexpr (!S::structure_only) {
        if (total.have) out[r] = total.value;
      }
    }
  }
}

}  // namespace grb
