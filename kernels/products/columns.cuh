// w<m> = A (+.x) x for a sparse x from the columns of A at x's entries: SpMSpV; AT has A's columns as rows.
//
// Algorithm: column-wise (push) masked SpMSpV: push_pull_graphblas_icpp18, 6.2 (Algorithm 3), with a dense accumulator
//   (SPA) and atomics in place of its radix sort; column_products and combine_groups keep the sort (ESC).
// Launch: backends/cuda/products/column_launch.py (merge_columns, merge_evenly), columns.py; epilogue.py (fill_start),
//   matmul.py (combine_groups).
// Phases (of both kernels; one launch):
//   clear       the accumulator of the next product (next_w, next_words, next_counts), when given
//   compact     BITMAP: the members of x's words as a list
//   scan        the lengths of the columns of a chunk of x, so that every edge has a number
//   merge       edge-balanced: each warp takes an even share of the edges, finds the column of each by bisection
//               and ballots (merge_edges), tests the mask, and merges A[i,k] (x) x[k] into the accumulator
//   complete    RED: presence bits of the sums (words_of_sums); the number of new rows is added to counts[0]
// merge_columns  a block scans a chunk of x, its warps share the chunk's edges; with few entries in x every
//                block scans them all and takes its part of the edges.  512 threads, two blocks a
//                multiprocessor; cooperative where RED.
// merge_evenly   where one column may hold more than a block's share: blocks scan a chunk of x each, meet at a grid
//                barrier, and take even parts of all edges.  1024 threads, at most MOST_CHUNKS blocks, cooperative.
// Preconditions: `words` and counts are zero and every element of `w` is start(); compact_words restores words and w.
#pragma once
#include "products/column_merge.cuh"

namespace grb {

template <class P, bool BITMAP>       // entries of x that a block scans at once
constexpr int CHUNK = BITMAP ? 1024 : sizeof(P) == 4 ? 4096 : 2048;
constexpr int EACH = 8;              // of them for a thread at most
constexpr int MOST_CHUNKS = 1024;
constexpr int MOST_SPAN = 512;       // edges that a warp takes at once where they are shared out over all blocks

// A's columns as the rows of its transpose, CSR or DCSR (rows not null).
template <class P> struct ColumnRanges {
  const P* indptr;
  const int64_t* rows;
  int64_t stored;
  GRB_DEVICE P length(int64_t k, P& begin) const {
    int64_t start = 0, stop = 0;
    row_range(indptr, rows, stored, k, start, stop);
    begin = P(start);
    return P(stop - start);
  }
};

// Consecutive entries of x.  Entry t has the edges ends[t-1] .. ends[t]-1 (0 .. for the first); edge e of it is entry
// at[t] + e of A; its column is names[t] (names null: first + t), its value x_values[first + t], or that of the column
// when x is a bitmap.
template <class P, class XI, class X> struct ChunkOfX {
  const P* ends;
  const P* at;
  const XI* names;
  int64_t first;
  int count;
  const X* x_values;

  // The first entry whose edges end after e; all lanes together, 32 ends at a time.
  GRB_DEVICE int entry_of_edge(P e) const {
    int low = 0, high = count;       // the answer is in low .. high - 1
    while (high - low > 32) {
      int step = (high - low + 31) >> 5, mine = low + (lane_number() + 1) * step - 1;
      bool behind = mine >= high - 1 || ends[mine] > e;
      int lane = __ffs(int(__ballot_sync(ALL_LANES, behind))) - 1;
      int from = low + lane * step;
      high = from + step < high ? from + step : high;
      low = from;
    }
    int mine = low + lane_number();
    bool behind = mine >= high - 1 || ends[mine] > e;
    return low + __ffs(int(__ballot_sync(ALL_LANES, behind))) - 1;
  }
};

// Merges edges from .. stop-1 of a chunk; one warp.
template <class I, class P, class XI, class S, bool MASKED, bool BITMAP, bool RED>
GRB_DEVICE void merge_edges(Merger<I, P, S, MASKED, RED>& merger, const ChunkOfX<P, XI, typename S::X>& chunk, P from,
                            P stop) {
  int lane = lane_number();
  for (int t = chunk.entry_of_edge(from); from < stop; t += 32) {
    P end = stop, base_of = 0;
    XI k = 0;
    typename S::X x = typename S::X();
    if constexpr (S::reads_x && S::x_iso) x = chunk.x_values[0];
    if (t + lane < chunk.count) {
      end = chunk.ends[t + lane];
      base_of = chunk.at[t + lane];
      if constexpr (S::reads_k || BITMAP)
        k = chunk.names == nullptr ? XI(chunk.first + t + lane) : chunk.names[t + lane];
      if constexpr (S::reads_x && !S::x_iso)
        x = value_of_x<S>(chunk.x_values, BITMAP ? int64_t(k) : chunk.first + t + lane);
    }
    P upto = __shfl_sync(ALL_LANES, end, 31);
    if (stop < upto) upto = stop;
    for (; from < upto; from += 32 * EDGES_AHEAD) {
      P p[EDGES_AHEAD];
      I row[EDGES_AHEAD];
      typename S::A a[EDGES_AHEAD];
      typename S::X value[EDGES_AHEAD];
      XI column[EDGES_AHEAD];
      int owner[EDGES_AHEAD];
      bool in[EDGES_AHEAD];
#pragma unroll
      for (int u = 0; u < EDGES_AHEAD; u++) {
        in[u] = false;
        P base = from + u * 32, e = base + lane;
        if (base < upto) {           // the same in all lanes
          int at = __popc(__ballot_sync(ALL_LANES, end <= base));
          if (at != __popc(__ballot_sync(ALL_LANES, end <= base + 31))) {
            at = 0;
#pragma unroll
            for (int step = 16; step; step >>= 1)
              if (__shfl_sync(ALL_LANES, end, at + step - 1) <= e) at += step;
          }
          owner[u] = at & 31;
          p[u] = __shfl_sync(ALL_LANES, base_of, owner[u]) + e;
          in[u] = e < upto;
        }
      }
      merger.read(p, in, row, a);
#pragma unroll
      // The loads of x are waited for here, after those of A were issued.
      for (int u = 0; u < EDGES_AHEAD; u++) {
        value[u] = x;
        if (from + u * 32 < upto) {
          if constexpr (S::reads_x && !S::x_iso) value[u] = shuffle(x, owner[u]);
          if constexpr (S::reads_k) column[u] = shuffle(k, owner[u]);
        }
      }
      merger.take(row, a, value, column, in);
    }
    from = upto;
  }
}

// Block-wide exclusive scan: the sum of the values of threads 0 .. k-1 for thread k; `total` that of all.  `shared`
// holds 32 values, and may be used again after a barrier.
template <class T> GRB_DEVICE T sum_before(T value, T& total, T* shared) {
  T upto = warp_scan(value, [](T p, T q) { return p + q; });
  int lane = lane_number(), warps = blockDim.x >> 5, w = threadIdx.x >> 5;
  if (lane == 31) shared[w] = upto;
  __syncthreads();
  T all = warp_scan(lane < warps ? shared[lane] : T(0), [](T p, T q) { return p + q; });
  total = shuffle(all, warps - 1);
  T before = shuffle(all, w == 0 ? 0 : w - 1);
  return upto - value + (w == 0 ? T(0) : before);
}

// compact: the members of words from `unit` on go to names, those of as many words as there is capacity for; returns
// how many.  members_fit: shared, for one block.
template <class XI>
GRB_DEVICE int compact_chunk(const word* x_words, int64_t& unit, int64_t last, int capacity, XI* names, int* sums,
                             int& members_fit) {
  word rest = unit + threadIdx.x < last ? x_words[unit + threadIdx.x] : 0;
  int total, before = sum_before(members(rest), total, sums);
  bool fits = before + members(rest) <= capacity;
  if (threadIdx.x == 0 && total <= capacity) members_fit = total;
  if (!fits && before <= capacity) members_fit = before;
  if (fits)
    for (XI* to = names + before; rest; rest &= rest - 1) *to++ = XI((unit + threadIdx.x) * 64 + lowest(rest));
  unit += __syncthreads_count(fits);
  return members_fit;
}

// compact: the members of words first .. last-1 in order to names; returns how many.
template <class XI>
GRB_DEVICE int compact_words_of_x(const word* x_words, int64_t first, int64_t last, XI* names, int* sums) {
  int count = 0;
  for (int64_t base = first; base < last; base += blockDim.x) {
    word rest = base + threadIdx.x < last ? x_words[base + threadIdx.x] : 0;
    int total, before = sum_before(members(rest), total, sums);
    for (XI* to = names + count + before; rest; rest &= rest - 1) *to++ = XI((base + threadIdx.x) * 64 + lowest(rest));
    count += total;
    __syncthreads();
  }
  return count;
}

// scan: ends and at of `count` entries of x, at most EACH a thread, in shared memory; returns all their edges.
template <class P, class XI>
GRB_DEVICE P scan_chunk(const ColumnRanges<P>& columns, const XI* names, int64_t first, int count, P* ends, P* at,
                        P* sums) {
  int mine = (count + blockDim.x - 1) / blockDim.x, t = mine * threadIdx.x;
  P begin[EACH], length[EACH], own = 0, sum;
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    begin[u] = length[u] = 0;
    if (u < mine && t + u < count)
      length[u] = columns.length(names == nullptr ? first + t + u : int64_t(names[t + u]), begin[u]);
    own += length[u];
  }
  P before = sum_before(own, sum, sums);
#pragma unroll
  for (int u = 0; u < EACH; u++) {
    if (u < mine && t + u < count) {
      at[t + u] = begin[u] - before;
      before += length[u];
      ends[t + u] = before;
    }
  }
  __syncthreads();
  return sum;
}

// counts[0] += rows that are new.  x is a list (x_indices, x_values), a bitmap (x_words; BITMAP), or full (both null).
// x_count: entries, or positions of a bitmap.  few: every block scans all of x, a list of at most CHUNK entries and
// EACH for each thread.  degrees, edges: null; or row pointers, and for each block the sum of their rows' lengths over
// the new rows that it found (not RED).
template <class I, class P, class XI, class S, bool MASKED, bool BITMAP, bool RED>
__global__ void __launch_bounds__(512, 2)
merge_columns(const P* indptr, const int64_t* rows, int64_t stored, const I* cols, const typename S::A* a_values,
              int64_t size, const XI* x_indices, const word* x_words, const typename S::X* x_values,
              int64_t x_count, const word* mask, int64_t complement, typename S::Z* w, word* words,
              unsigned long long* counts, typename S::Z* next_w, word* next_words, unsigned long long* next_counts,
              int64_t few, const P* degrees, word* edges) {
  __shared__ P sums[32], ends[CHUNK<P, BITMAP>], at[CHUNK<P, BITMAP>];
  __shared__ XI found_names[BITMAP ? CHUNK<P, BITMAP> : 1];
  __shared__ int bits_before[32], members_fit;
  clear<S>(next_w, next_words, next_counts, size);
  const ColumnRanges<P> columns{indptr, rows, stored};
  Merger<I, P, S, MASKED, RED> merger{cols, a_values, mask, complement != 0, w, words, 0, degrees, 0, {}};
  int64_t units = BITMAP ? (x_count + 63) >> 6 : x_count, each = few ? units : (units + gridDim.x - 1) / gridDim.x;
  int64_t unit = few ? 0 : blockIdx.x * each, last = unit + each < units ? unit + each : units;
  int warp = threadIdx.x >> 5, warps = blockDim.x >> 5, capacity = EACH * blockDim.x;
  if (capacity > CHUNK<P, BITMAP>) capacity = CHUNK<P, BITMAP>;
  while (unit < last) {
    int64_t first = unit;            // position in x of the entries scanned now
    int count;
    const XI* names = x_indices == nullptr ? nullptr : x_indices + first;
    if constexpr (BITMAP) {
      count = compact_chunk(x_words, unit, last, capacity, found_names, bits_before, members_fit);
      names = found_names;
    } else {
      count = last - unit < capacity ? int(last - unit) : capacity;
      unit += count;
    }
    P sum = count > 0 ? scan_chunk(columns, names, first, count, ends, at, sums) : P(0);
    int64_t share = few ? int64_t(warps) * gridDim.x : warps, which = few ? int64_t(blockIdx.x) * warps + warp : warp;
    share = ((sum + share - 1) / share + 31) & ~int64_t(31);
    int64_t from = which * share;
    if (from < sum)
      merge_edges<I, P, XI, S, MASKED, BITMAP, RED>(merger, {ends, at, names, first, count, x_values}, P(from),
                                                    from + share < sum ? P(from + share) : sum);
    __syncthreads();
  }
  if constexpr (RED) merger.found = words_of_sums<S>(w, words, size, counts);
  if (few && !RED) {                 // most warps have found nothing
    int found = warp_reduce(merger.found, [](int p, int q) { return p + q; });
    if (lane_number() == 0 && found) atomicAdd(counts, (unsigned long long)found);
  } else {
    add_to_count(merger.found, counts);
  }
  store_part(merger.edges, edges);
}

// Exclusive scan of the chunks' edges: chunk_end[c] = edges of chunks 0 .. c; returns all edges.  After a grid barrier.
template <class P> GRB_DEVICE P scan_totals(const P* totals, int chunks, P* chunk_end, P* sums) {
  P all = 0;
  for (int base = 0; base < chunks; base += blockDim.x) {
    int c = base + threadIdx.x;
    P mine = c < chunks ? *(const volatile P*)&totals[c] : P(0), total, before = sum_before(mine, total, sums);
    if (c < chunks) chunk_end[c] = all + before + mine;
    all += total;
    __syncthreads();
  }
  return all;
}

// As merge_columns, all edges divided evenly.  ends, at, names, totals, members_of: workspace for the blocks' chunks of
// x (names and members_of for a bitmap).  high_names: the row of each of high_slots slots in shared memory, or -1
// (RED; may be none).
template <class I, class P, class XI, class S, bool MASKED, bool BITMAP, bool RED>
__global__ void __launch_bounds__(1024, 1)
merge_evenly(const P* indptr, const int64_t* rows, int64_t stored, const I* cols, const typename S::A* a_values,
             int64_t size, const XI* x_indices, const word* x_words, const typename S::X* x_values, int64_t x_count,
             const word* mask, int64_t complement, typename S::Z* w, word* words, unsigned long long* counts,
             typename S::Z* next_w, word* next_words, unsigned long long* next_counts, P* ends, P* at, XI* names,
             P* totals, int32_t* members_of, const int32_t* high_names, int64_t high_slots) {
  __shared__ P sums[32], chunk_end[MOST_CHUNKS];
  __shared__ int bits_before[32];
  clear<S>(next_w, next_words, next_counts, size);
  const ColumnRanges<P> columns{indptr, rows, stored};
  Merger<I, P, S, MASKED, RED> merger{cols, a_values, mask, complement != 0, w, words, 0, nullptr, 0, {}};
  if constexpr (RED) {
    extern __shared__ word high_memory[];
    typename S::Z* high_sums = reinterpret_cast<typename S::Z*>(high_memory);
    int32_t* high_rows = reinterpret_cast<int32_t*>(high_sums + high_slots);
    for (int s = threadIdx.x; s < high_slots; s += blockDim.x) {
      high_sums[s] = S::start();
      high_rows[s] = high_names[s];
    }
    merger.high = {high_rows, high_sums, unsigned(high_slots)};
  }
  int chunks = gridDim.x;
  int64_t units = BITMAP ? (x_count + 63) >> 6 : x_count, each = (units + chunks - 1) / chunks;
  int64_t first = blockIdx.x * each, last = first + each < units ? first + each : units;
  const XI* listed = x_indices;
  if constexpr (BITMAP) {            // the chunk's members in order, from position 64 * first on
    int count = compact_words_of_x(x_words, first, last, names + first * 64, bits_before);
    listed = names;
    first *= 64;
    last = first + count;
    if (threadIdx.x == 0) members_of[blockIdx.x] = count;
  }
  P sum = 0;
  for (int64_t base = first; base < last; base += blockDim.x) {
    int64_t t = base + threadIdx.x;
    P begin = 0, length = 0, total;
    if (t < last) length = columns.length(listed == nullptr ? t : int64_t(listed[t]), begin);
    P before = sum + sum_before(length, total, sums);
    if (t < last) {
      ends[t] = before + length;
      at[t] = begin - before;
    }
    sum += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = sum;
  grid_barrier(reinterpret_cast<unsigned*>(counts + 1));
  P all = scan_totals(totals, chunks, chunk_end, sums);
  int64_t warps = warp_count(), span = ((all + warps * 2 - 1) / (warps * 2) + 31) & ~int64_t(31);
  if (span < 32 * EDGES_AHEAD) span = 32 * EDGES_AHEAD;          // all in flight at once
  if (span > MOST_SPAN) span = MOST_SPAN;
  for (int64_t edge = warp_number() * span; edge < all; edge += warps * span) {
    P from = P(edge), stop = edge + span < all ? P(edge + span) : all;
    for (int c = 0; from < stop;) {
      c = int(upper_bound(chunk_end, int64_t(c), int64_t(chunks), from));          // passes over chunks without edges
      P begin = c == 0 ? P(0) : chunk_end[c - 1], upto = stop < chunk_end[c] ? stop : chunk_end[c];
      int64_t place = c * each * (BITMAP ? 64 : 1);
      int count = BITMAP ? members_of[c] : int(units - place < each ? units - place : each);
      const XI* in_chunk = listed == nullptr ? nullptr : listed + place;
      merge_edges<I, P, XI, S, MASKED, BITMAP, RED>(
          merger, {ends + place, at + place, in_chunk, place, count, x_values}, from - begin, upto - begin);
      from = upto;
    }
  }
  if constexpr (RED) {
    __syncthreads();
    for (int s = threadIdx.x; s < high_slots; s += blockDim.x)
      if (!same_bits(merger.high.sums[s], S::start()))
        merge_without_return<S>(w, words, merger.high.names[s], merger.high.sums[s]);
    merger.found = words_of_sums<S>(w, words, size, counts);
  }
  add_to_count(merger.found, counts);
}

// counts[b] = members of the words of part b (`part` words each).
template <int = 0>
__global__ void part_members(const word* words, int64_t n, int64_t part, int64_t parts, int64_t* counts) {
  GRB_EACH_WARP(b, parts) {
    int64_t sum = 0;
    for (int64_t i = b * part + lane_number(); i < (b + 1) * part && i < n; i += 32) sum += members(words[i]);
    sum = warp_reduce(sum, [](int64_t p, int64_t q) { return p + q; });
    if (lane_number() == 0) counts[b] = sum;
  }
}

// The members in order to `indices`, their values to `values` (null: none), with words and w cleared.
// counts: what part_members found; each warp sums up those of the parts before its own.
template <class I, class S>
__global__ void compact_words(word* words, int64_t n, int64_t part, int64_t parts, const int64_t* counts,
                              typename S::Z* w, I* indices, typename S::Z* values) {
  GRB_EACH_WARP(b, parts) {
    int64_t place = 0;
    for (int64_t p = lane_number(); p < b; p += 32) place += counts[p];
    place = shuffle(warp_reduce(place, [](int64_t p, int64_t q) { return p + q; }), 0);
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

// ---- SpMSpV by sorting (ESC: expand, sort, compress): the product of each entry, then equal rows combined

// keep[e]: does the mask admit entry e?  products[e] = A[i,k] (x) x[k] for entry at[e] of AT, which belongs to
// entry segment[e] of x.
template <class I, class XI, class M, class S>
__global__ void column_products(const int64_t* segment, const int64_t* at, int64_t n, const XI* x_indices,
                                const typename S::X* x_values, const I* cols, const typename S::A* a_values,
                                const word* mask, const M* mask_indices, int64_t mask_count, bool masked,
                                bool complement, typename S::Z* products, bool* keep) {
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
