// w[i] = (+)_k A[i,k] (x) x[k] by the columns k that x holds: AT holds A's columns as rows.
//
// Who calls: backends/cuda/columns.py.
// merge_columns: a warp takes `group` entries of x (1 to 32), its lanes share out their edges by a scan of the degrees; a
//   column longer than `longest` is cut into pieces for merge_pieces.  A row is claimed by its presence bit; values are
//   merged by atomics, or written by the claimer alone (any).  The mask is asked before anything is merged.
// Invariants: `words` is zero and `w` holds start() everywhere before; compact_words leaves them so again.
// Papers: push_pull_graphblas_icpp18, section 5 (column-based, masked); tilespmspv_tilebfs_icpp22, 3.3.
#pragma once
#include "products.cuh"

namespace grb {

template <class I, class S, bool MASKED>
GRB_DEVICE int merge_entry(int64_t p, typename S::X x, int64_t k, const I* cols, const typename S::A* a_values,
                           const word* mask, bool complement, typename S::Z* w, word* words) {
  int64_t i = cols[p];
  if constexpr (MASKED) {
    if (has(mask, i) == complement) return 0;
  }
  if constexpr (S::structure_only) {
    return put_if_absent(words, i);
  } else if constexpr (S::any) {
    if (!put_if_absent(words, i)) return 0;
    w[i] = S::times(value_of_a<S>(a_values, p), x, i, k, 0);
    return 1;
  } else {
    merge<S>(&w[i], S::times(value_of_a<S>(a_values, p), x, i, k, 0));
    return put_if_absent(words, i);
  }
}

// counts[0] += rows that are new; counts[1] += pieces of long columns, listed in piece_first/piece_stop/piece_entry.
template <class I, class P, class XI, class S, bool MASKED>
__global__ void __launch_bounds__(256)
merge_columns(const XI* x_indices, const typename S::X* x_values, int64_t x_count, int64_t group, const P* indptr,
              const int64_t* rows, int64_t held, const I* cols, const typename S::A* a_values, const word* mask,
              bool complement, typename S::Z* w, word* words, unsigned long long* counts, int64_t longest,
              int64_t* piece_first, int32_t* piece_length, int64_t* piece_entry) {
  unsigned long long found = 0;
  int lane = lane_number();
  GRB_EACH_WARP(task, (x_count + group - 1) / group) {
    int64_t t = task * group + lane;
    int64_t start = 0, k = 0;
    int length = 0;
    if (lane < group && t < x_count) {
      k = x_indices == nullptr ? t : int64_t(x_indices[t]);
      int64_t stop;
      row_range(indptr, rows, held, k, start, stop);
      if (stop - start > longest) {
        int64_t number = (stop - start + longest - 1) / longest;
        int64_t at = atomicAdd(&counts[1], (unsigned long long)number);
        for (int64_t p = 0; p < number; p++) {
          int64_t first = start + p * longest;
          piece_first[at + p] = first;
          piece_length[at + p] = int32_t(stop - first < longest ? stop - first : longest);
          piece_entry[at + p] = t;
        }
      } else {
        length = int(stop - start);
      }
    }
    typename S::X x = typename S::X();
    if (length) x = value_of_x<S>(x_values, t);
    int end = warp_scan(length, [](int p, int q) { return p + q; }), before = end - length;
    int total = __shfl_sync(ALL_LANES, end, 31);
    for (int base = 0; base < total; base += 32) {
      int e = base + lane, owner = 0;
      for (int step = 16; step; step >>= 1) {  // the last lane whose edges begin at or before e
        int begins = __shfl_sync(ALL_LANES, before, (owner + step) & 31);
        if (owner + step < 32 && begins <= e) owner += step;
      }
      // lanes without edges begin where the next one begins: the last of them that begins at e is the one that holds it,
      // unless all behind it are empty too (then e is not below total)
      int64_t at = shuffle(start, owner) + (e - __shfl_sync(ALL_LANES, before, owner));
      int64_t of = shuffle(k, owner);
      typename S::X value = shuffle(x, owner);
      if (e < total)
        found += merge_entry<I, S, MASKED>(at, value, of, cols, a_values, mask, complement, w, words);
    }
  }
  __shared__ unsigned long long sums[32];
  found = block_reduce(found, [](unsigned long long p, unsigned long long q) { return p + q; }, sums);
  if (threadIdx.x == 0 && found) atomicAdd(&counts[0], found);
}

// The pieces that merge_columns listed: a warp for each.
template <class I, class XI, class S, bool MASKED>
__global__ void __launch_bounds__(256)
merge_pieces(const XI* x_indices, const typename S::X* x_values, const I* cols, const typename S::A* a_values,
             const word* mask, bool complement, typename S::Z* w, word* words, unsigned long long* counts,
             const int64_t* piece_first, const int32_t* piece_length, const int64_t* piece_entry) {
  unsigned long long found = 0;
  GRB_EACH_WARP(piece, int64_t(counts[1])) {
    int64_t first = piece_first[piece], t = piece_entry[piece];
    int64_t k = x_indices == nullptr ? t : int64_t(x_indices[t]);
    typename S::X x = value_of_x<S>(x_values, t);
    for (int e = lane_number(); e < piece_length[piece]; e += 32)
      found += merge_entry<I, S, MASKED>(first + e, x, k, cols, a_values, mask, complement, w, words);
  }
  __shared__ unsigned long long sums[32];
  found = block_reduce(found, [](unsigned long long p, unsigned long long q) { return p + q; }, sums);
  if (threadIdx.x == 0 && found) atomicAdd(&counts[0], found);
}

// counts[b] = members of the words of part b (`part` words each).
__global__ void part_members(const word* words, int64_t n, int64_t part, int64_t parts, int64_t* counts) {
  GRB_EACH_WARP(b, parts) {
    int64_t sum = 0;
    for (int64_t i = b * part + lane_number(); i < (b + 1) * part && i < n; i += 32) sum += members(words[i]);
    sum = warp_reduce(sum, [](int64_t p, int64_t q) { return p + q; });
    if (lane_number() == 0) counts[b] = sum;
  }
}

// The members in order to `indices`, their values to `values` (null: none), with words and w made clean again.
// before[b]: members of the parts before b are ends[b] - counts[b]; ends is the running sum.
template <class I, class S>
__global__ void compact_words(word* words, int64_t n, int64_t part, int64_t parts, const int64_t* ends, typename S::Z* w,
                              I* indices, typename S::Z* values) {
  GRB_EACH_WARP(b, parts) {
    int64_t place = b == 0 ? 0 : ends[b - 1];
    for (int64_t base = b * part; base < (b + 1) * part && base < n; base += 32) {
      int64_t at = base + lane_number();
      word rest = at < n && at < (b + 1) * part ? words[at] : 0;
      int mine = members(rest), end = warp_scan(mine, [](int p, int q) { return p + q; });
      int64_t to = place + end - mine;
      if (rest) words[at] = 0;
      for (; rest; rest &= rest - 1, to++) {
        int64_t i = at * 64 + lowest(rest);
        indices[to] = I(i);
        if (values != nullptr) {
          values[to] = w[i];
          if constexpr (S::has_start) w[i] = S::start();
        }
      }
      place += __shfl_sync(ALL_LANES, end, 31);
    }
  }
}

// w[0 .. n-1] = start()
template <class S> __global__ void fill_start(typename S::Z* w, int64_t n) { GRB_EACH(i, n) w[i] = S::start(); }

// ---- by sorting: the product of each entry, then equal rows combined

// keep[e]: is entry e allowed?  products[e] = A[i,k] (x) x[k] for entry at[e] of AT, which belongs to entry segment[e] of x.
template <class I, class XI, class M, class S>
__global__ void column_products(const int64_t* segment, const int64_t* at, int64_t n, const XI* x_indices,
                                const typename S::X* x_values, const I* cols, const typename S::A* a_values,
                                const word* mask, const M* mask_indices, int64_t mask_count, bool masked, bool complement,
                                typename S::Z* products, bool* keep) {
  GRB_EACH(e, n) {
    int64_t t = segment[e], p = at[e], i = cols[p];
    bool wanted = !masked || in_pattern(mask, mask_indices, mask_count, i) != complement;
    keep[e] = wanted;
    if (wanted && products != nullptr) {
      int64_t k = x_indices == nullptr ? t : int64_t(x_indices[t]);
      products[e] = S::times(value_of_a<S>(a_values, p), value_of_x<S>(x_values, t), i, k, 0);
    }
  }
}

// out[g] = products[order[starts[g]]] (+) ... of each group of neighbours; a warp for each.
template <class O, class S>
__global__ void combine_groups(const typename S::Z* products, const O* order, const int64_t* starts, int64_t groups,
                               int64_t total, typename S::Z* out) {
  GRB_EACH_WARP(g, groups) {
    int64_t stop = g + 1 < groups ? starts[g + 1] : total;
    Total<S> sum;
    for (int64_t e = starts[g] + lane_number(); e < stop; e += 32) sum.take(products[order[e]]);
    join_lanes<S>(sum, 32);
    if (lane_number() == 0) out[g] = sum.value;
  }
}

}  // namespace grb
