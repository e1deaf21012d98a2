// w[i] = (+)_k A[i,k] (x) x[k] by rows of A, the rows shared out by their lengths.
//
// Who calls: backends/cuda/matvec.py (matvec_rows).  Schedule: backends/cuda/row_schedule.py, made once for each matrix.
// Threads: 1, 2, 4 ... 32 lanes of a warp for a row, by its length; a row longer than the longest class is cut into
//   pieces of `piece` entries, a warp each, and the warp that comes last combines them.  The grid is what is resident at
//   once; a warp asks for the bounds of its next rows before it reads the entries of the present ones.
// Invariants: x is full (FULL) or has presence words; w_words, when given, are zero before; `arrived` is zero before and
//   after.  w is written only where a value was found.
// Papers: push_pull_graphblas_icpp18 (masking, early exit, structure-only), sections 4 and 5.
#pragma once
#include "products.cuh"

namespace grb {

// The total of entries first + sub, first + sub + LANES ... below stop, in each lane, FLIGHT of them in flight; the whole group
// of lanes stops early together.
template <int LANES, int FLIGHT, class I, class P, class S, bool FULL>
GRB_DEVICE Total<S> row_total(const I* __restrict__ cols, const typename S::A* __restrict__ a_values,
                              const word* __restrict__ x_words, const typename S::X* __restrict__ x_values, int64_t row, P first, P stop, int sub) {
  Total<S> total;
  P left = stop - first - sub;  // entries from this lane's next one to the end of the row
  const I* __restrict__ next_col = cols + (first + sub);
  const typename S::A* __restrict__ next_a = a_values + (S::reads_a && !S::a_iso ? first + sub : P(0));
  constexpr bool PAST = LANES >= 16;  // fewer lanes come back to the same sectors
  for (;;) {
    I c[FLIGHT];
    bool in[FLIGHT];
    typename S::A a[FLIGHT];
    typename S::X x[FLIGHT];
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
      in[u] = u * LANES < left;
      c[u] = 0;
      if (in[u]) {
        if constexpr (PAST) c[u] = stream_past(next_col + u * LANES); else c[u] = stream(next_col + u * LANES);
        if constexpr (FULL) a[u] = value_of_a<S, PAST>(next_a, u * LANES);
      }
    }
    if constexpr (!FULL) {
#pragma unroll
      for (int u = 0; u < FLIGHT; u++) in[u] = in[u] && has(x_words, c[u]);
#pragma unroll
      for (int u = 0; u < FLIGHT; u++) {
        if (in[u]) a[u] = value_of_a<S>(next_a, u * LANES);
      }
    }
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
      if (in[u]) x[u] = value_of_x<S>(x_values, c[u]);
    }
#pragma unroll
    for (int u = 0; u < FLIGHT; u++) {
      if (in[u]) total.take(S::times(a[u], x[u], row, c[u], 0));
    }
    left -= FLIGHT * LANES;
    next_col += FLIGHT * LANES;
    if constexpr (S::reads_a && !S::a_iso) next_a += FLIGHT * LANES;
    if constexpr (stops_early<S>) {
      if (!__any_sync(ALL_LANES, left > 0)) break;
      constexpr unsigned WHOLE = LANES == 32 ? ALL_LANES : (1u << (LANES & 31)) - 1;
      if (__ballot_sync(ALL_LANES, total.finished()) & (WHOLE << (lane_number() - sub))) left = 0;
    } else {
      if (left <= 0) break;
    }
  }
  if constexpr (LANES > 1) {
    __syncwarp();
    join_lanes<S>(total, LANES);
  }
  return total;
}

template <class S, bool COUNTED>
GRB_DEVICE void write_total(const Total<S>& total, bool leader, int64_t row, typename S::Z* w, word* w_words,
                            unsigned& found) {
  if (leader && total.have) {
    if constexpr (!S::structure_only) w[row] = total.value;
    if constexpr (COUNTED) {
      atomicOr(&w_words[row >> 6], bit_of(row));
      found++;
    }
  }
}

// A value that another block wrote during this kernel: not from the first cache, which may hold what was there before.
template <class T> GRB_DEVICE T fresh_value(const T* p) {
  T value;
  if constexpr (sizeof(T) % 4 == 0) {
    unsigned part[sizeof(T) / 4];
    for (unsigned n = 0; n < sizeof(T) / 4; n++) part[n] = reinterpret_cast<const volatile unsigned*>(p)[n];
    memcpy(&value, part, sizeof(T));
  } else {
    unsigned char part[sizeof(T)];
    for (unsigned n = 0; n < sizeof(T); n++) part[n] = reinterpret_cast<const volatile unsigned char*>(p)[n];
    memcpy(&value, part, sizeof(T));
  }
  return value;
}

// What a warp does next: a class of rows, and this lane's row and its entries (none: first == stop).
template <class P, class R> struct Task {
  int kind;
  R row;
  P first, stop;
};

// bins[c] warps up to the end of class c (pieces of long rows, then 32, 16, 8, 4, 2 and 1 lanes for a row); bins[8 + c] and
// bins[16 + c] the places of its rows in the schedule.
template <class P, class R, bool MASKED>
GRB_DEVICE Task<P, R> task_of(int64_t number, int64_t warps, const R* rows, const P* starts, const P* stops, const int64_t* bins,
                           const word* mask, bool complement) {
  Task<P, R> task = {7, 0, 0, 0};
  if (number >= warps) return task;
  int c = 0;
  while (number >= bins[c]) c++;
  task.kind = c;
  if (c > 0) {
    int shift = 6 - c;
    int64_t place = bins[8 + c] + ((number - bins[c - 1]) << (5 - shift)) + (lane_number() >> shift);
    if (place < bins[16 + c]) {
      task.row = rows == nullptr ? R(place) : rows[place];
      bool wanted = true;
      if constexpr (MASKED) wanted = has(mask, task.row) != complement;
      if (wanted) {
        task.first = starts[place];
        task.stop = stops[place];
      }
    }
  }
  return task;
}

// Long rows are the first places: row r has pieces piece_ptr[r] .. piece_ptr[r+1]-1, and owner[p] = r.
// COUNTED: which rows have a value is found out, into w_words and *count; else x is full, nothing is masked, and the
// schedule's rows are those.  RESIDENT: blocks wanted on a processor at once, which bounds the registers.
template <class I, class P, class R, class S, bool FULL, bool MASKED, bool COUNTED, int RESIDENT>
__global__ void __launch_bounds__(256, RESIDENT)
matvec_rows(const R* __restrict__ rows, const P* __restrict__ starts, const P* __restrict__ stops,
            const int64_t* __restrict__ bins, int64_t warps, const I* __restrict__ cols,
            const typename S::A* __restrict__ a_values, const word* __restrict__ x_words,
            const typename S::X* __restrict__ x_values, const word* __restrict__ mask, bool complement,
            typename S::Z* __restrict__ w, word* w_words, unsigned long long* count, int64_t piece,
            const int64_t* __restrict__ piece_ptr, const int32_t* __restrict__ owner, unsigned* arrived,
            typename S::Z* partial, uint8_t* partial_have) {
  unsigned found = 0;
  int lane = lane_number();
  Task<P, R> next = task_of<P, R, MASKED>(warp_number(), warps, rows, starts, stops, bins, mask, complement);
  GRB_EACH_WARP(number, warps) {
    Task<P, R> now = next;  // the next task's bounds are on their way while this one's entries come in
    next = task_of<P, R, MASKED>(number + grb_step, warps, rows, starts, stops, bins, mask, complement);
#define GRB_ROWS(LANES, FLIGHT)                                                                                         \
  {                                                                                                                    \
    int sub = lane & (LANES - 1);                                                                                      \
    Total<S> total = row_total<LANES, FLIGHT, I, P, S, FULL>(cols, a_values, x_words, x_values, now.row, now.first,     \
                                                             now.stop, sub);                                           \
    write_total<S, COUNTED>(total, sub == 0, now.row, w, w_words, found);                                                       \
    break;                                                                                                             \
  }
    switch (now.kind) {
      case 1: GRB_ROWS(32, 4)
      case 2: GRB_ROWS(16, 6)
      case 3: GRB_ROWS(8, 4)
      case 4: GRB_ROWS(4, 4)
      case 5: GRB_ROWS(2, 4)
      case 6: GRB_ROWS(1, 4)
      default: {
        int64_t inside = number, place = owner[inside], row = rows == nullptr ? place : int64_t(rows[place]);
        if constexpr (MASKED) {
          if (has(mask, row) == complement) break;
        }
        int64_t from = piece_ptr[place], pieces = piece_ptr[place + 1] - from;
        P first = starts[place] + P((inside - from) * piece), stop = stops[place];
        if (stop - first > piece) stop = first + P(piece);
        Total<S> total = row_total<32, 4, I, P, S, FULL>(cols, a_values, x_words, x_values, row, first, stop, lane);
        int last = 0;
        if (lane == 0) {
          if constexpr (!S::structure_only) partial[inside] = total.value;
          partial_have[inside] = total.have;
          __threadfence();
          last = atomicAdd(&arrived[place], 1u) == unsigned(pieces - 1);
          if (last) arrived[place] = 0;
          __threadfence();
        }
        last = __shfl_sync(ALL_LANES, last, 0);
        if (last) {
          Total<S> whole;
          for (int64_t p = from + lane; p < from + pieces; p += 32) {
            bool there = *(volatile uint8_t*)&partial_have[p] != 0;
            typename S::Z part = typename S::Z();
            if constexpr (!S::structure_only) {
              if (there) part = fresh_value(partial + p);
            }
            whole.join(part, there);
          }
          __syncwarp();
          join_lanes<S>(whole, 32);
          write_total<S, COUNTED>(whole, lane == 0, row, w, w_words, found);
        }
      }
    }
#undef GRB_ROWS
  }
  if constexpr (COUNTED) {
    __shared__ unsigned sums[32];
    found = block_reduce(found, [](unsigned p, unsigned q) { return p + q; }, sums);
    if (threadIdx.x == 0 && found) atomicAdd(count, (unsigned long long)found);
  }
}

// The same where nothing of the size of a dimension may be allocated: a warp for each row that A holds; x and the mask
// are words or ascending lists (everything when both are null); out[r], hit[r] belong to the r-th row held.
template <class I, class XI, class M, class S>
__global__ void matvec_held_rows(const int64_t* rows, const int64_t* indptr, int64_t held, const I* cols,
                                 const typename S::A* a_values, const word* x_words, const XI* x_indices, int64_t x_count,
                                 const typename S::X* x_values, const word* mask, const M* mask_indices,
                                 int64_t mask_count, bool masked, bool complement, typename S::Z* out, bool* hit) {
  GRB_EACH_WARP(r, held) {
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
