// w[i] = (+)_k A[i,k] (x) x[k] by the columns k that x holds: AT holds A's columns as rows.
//
// Who calls: backends/cuda/columns.py.
// merge_columns: edges are shared out evenly, whatever column they belong to.  With few entries in x every block scans all
//   their lengths and takes its part of the edges.  Else a block scans a chunk of x and its warps share the chunk's edges,
//   except those of long columns: these are cut into pieces, listed for all.  A block takes its own pieces from behind, then
//   those of others from the front; whoever swaps a piece's length for zero has it.  Blocks wait for others' lists a bounded
//   time, and every block sees to its own pieces, so that nothing depends on which blocks run at once.  A row is claimed by its presence bit; values are merged by atomics, or written by the claimer alone (any).  The
//   mask is asked before anything is merged.
// Invariants: `words` and piece_length are zero, `w` holds start() everywhere before; compact_words leaves words and w so
//   again.  next_w, next_words, next_counts (when given) are made so by the same launch, for the next product.
// Papers: push_pull_graphblas_icpp18, section 5 (column-based, masked); tilespmspv_tilebfs_icpp22, 3.3.
#pragma once
#include "products.cuh"

namespace grb {

constexpr int CHUNK = 1024;          // entries of x that a block scans at once
constexpr int EDGES_AHEAD = 4;       // groups of 32 edges whose rows and values are read before the first is merged
constexpr int PATIENCE = 32;         // looks at a short list of pieces while other blocks still scan

// Where products go.
template <class I, class S, bool MASKED> struct Merger {
  const I* cols;
  const typename S::A* a_values;
  const word* mask;
  bool complement;
  typename S::Z* w;
  word* words;
  int found;                         // rows that were new to this lane

  GRB_DEVICE bool merge(typename S::A a, typename S::X x, int64_t i, int64_t k) {
    if constexpr (S::structure_only) {
      return put_if_absent(words, i);
    } else if constexpr (S::any) {
      if (!put_if_absent(words, i)) return false;
      w[i] = S::times(a, x, i, k, 0);
      return true;
    } else {  // the first to come meets start() and puts the bit; others who meet it do no harm
      if (!merge_from_start<S>(&w[i], S::times(a, x, i, k, 0))) return false;
      return is_float<typename S::Z> ? put(words, i) : put_if_absent(words, i);
    }
  }
  // Entries p[u] of A where in[u], for x[u] at column k[u].
  template <class P, class K>
  GRB_DEVICE void take(const P (&p)[EDGES_AHEAD], const typename S::X (&x)[EDGES_AHEAD], const K (&k)[EDGES_AHEAD],
                       bool (&in)[EDGES_AHEAD]) {
    I row[EDGES_AHEAD];
    typename S::A a[EDGES_AHEAD];
#pragma unroll
    for (int u = 0; u < EDGES_AHEAD; u++) {
      if (in[u]) {
        row[u] = stream(cols + p[u]);
        a[u] = value_of_a<S>(a_values, p[u]);
      }
    }
    if constexpr (MASKED) {
#pragma unroll
      for (int u = 0; u < EDGES_AHEAD; u++) in[u] = in[u] && has(mask, row[u]) != complement;
    }
#pragma unroll
    for (int u = 0; u < EDGES_AHEAD; u++) {
      if (in[u]) found += merge(a[u], x[u], row[u], S::reads_k ? int64_t(k[u]) : 0);
    }
  }
};

// The first entry whose edges end behind e; all lanes together, 32 ends at a time.
template <class P> GRB_DEVICE int entry_of_edge(const P* ends, int count, P e) {
  int low = 0, high = count;         // the answer lies in low .. high - 1
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

// Merge edges from .. stop-1 of a chunk.  Its entry t has the edges ends[t-1] .. ends[t]-1 (0 .. for the first), edge e of it
// is entry at[t] + e of A; its column is names[t] (names null: first + t), its value x_values[first + t], or that of the
// column when x is a bitmap.
template <class I, class P, class XI, class S, bool MASKED, bool BITMAP>
GRB_DEVICE void merge_edges(Merger<I, S, MASKED>& merger, const P* ends, const P* at, const XI* names, int64_t first, int count,
                            P from, P stop, const typename S::X* x_values) {
  int lane = lane_number();
  for (int t = entry_of_edge(ends, count, from); from < stop; t += 32) {
    P end = stop, base_of = 0;
    XI k = 0;
    typename S::X x = typename S::X();
    if constexpr (S::reads_x && S::x_iso) x = x_values[0];
    if (t + lane < count) {
      end = ends[t + lane];
      base_of = at[t + lane];
      if constexpr (S::reads_k || BITMAP) k = names == nullptr ? XI(first + t + lane) : names[t + lane];
      if constexpr (S::reads_x && !S::x_iso) x = value_of_x<S>(x_values, BITMAP ? int64_t(k) : first + t + lane);
    }
    P upto = __shfl_sync(ALL_LANES, end, 31);
    if (stop < upto) upto = stop;
    for (; from < upto; from += 32 * EDGES_AHEAD) {
      P p[EDGES_AHEAD];
      typename S::X value[EDGES_AHEAD];
      XI column[EDGES_AHEAD];
      bool in[EDGES_AHEAD];
#pragma unroll
      for (int u = 0; u < EDGES_AHEAD; u++) {
        in[u] = false;
        P base = from + u * 32, e = base + lane;
        if (base < upto) {           // the same in all lanes
          int owner = __popc(__ballot_sync(ALL_LANES, end <= base));
          if (owner != __popc(__ballot_sync(ALL_LANES, end <= base + 31))) {
            owner = 0;
#pragma unroll
            for (int step = 16; step; step >>= 1)
              if (__shfl_sync(ALL_LANES, end, owner + step - 1) <= e) owner += step;
          }
          owner &= 31;
          p[u] = __shfl_sync(ALL_LANES, base_of, owner) + e;
          if constexpr (S::reads_x && !S::x_iso) value[u] = shuffle(x, owner);
          else value[u] = x;
          if constexpr (S::reads_k) column[u] = shuffle(k, owner);
          in[u] = e < upto;
        }
      }
      merger.take(p, value, column, in);
    }
    from = upto;
  }
}

// Merge entries p .. stop-1 of A, all of column k, whose value is x.
template <class I, class S, bool MASKED>
GRB_DEVICE void merge_piece(Merger<I, S, MASKED>& merger, int64_t p, int64_t stop, int64_t k, typename S::X x) {
  for (; p < stop; p += 32 * EDGES_AHEAD) {
    int64_t entry[EDGES_AHEAD], column[EDGES_AHEAD];
    typename S::X value[EDGES_AHEAD];
    bool in[EDGES_AHEAD];
#pragma unroll
    for (int u = 0; u < EDGES_AHEAD; u++) {
      entry[u] = p + u * 32 + lane_number();
      in[u] = entry[u] < stop;
      value[u] = x;
      column[u] = k;
    }
    merger.take(entry, value, column, in);
  }
}

// Pieces of long columns: where each begins in A, the place of its entry in x, and its length, which is written last and is
// zero again when the piece was taken.  counts[1]: listed, counts[2]: looked at, counts[3]: blocks that will list no more.
struct Pieces {
  int64_t* first;
  int64_t* entry;
  int32_t* length;
  unsigned long long* counts;

  GRB_DEVICE void list(int64_t place, int64_t start, int64_t stop, int64_t size, int64_t of) const {
    for (int64_t p = place, at = start; at < stop; p++, at += size) {
      first[p] = at;
      entry[p] = of;
    }
    __threadfence();
    for (int64_t p = place; start < stop; p++, start += size)
      *(volatile int32_t*)&length[p] = int32_t(stop - start < size ? stop - start : size);
  }
  // The number of the next piece to look at, or -1 when there will be none in time.
  GRB_DEVICE int64_t next() const {
    volatile unsigned long long* count = counts;
    unsigned long long mine = atomicAdd(&counts[2], 1ull);
    for (int look = 0; look < PATIENCE; look++) {
      bool last = count[3] == gridDim.x;
      if (mine < count[1]) return mine;
      if (last) break;
      __nanosleep(200);
    }
    return -1;
  }
  // Is piece p there, and this lane's now?
  GRB_DEVICE bool take(int64_t p, int64_t& begin, int64_t& end, int64_t& of) const {
    int32_t size = atomicExch(&length[p], 0);
    if (size == 0) return false;
    __threadfence();
    begin = *(volatile int64_t*)&first[p];
    of = *(volatile int64_t*)&entry[p];
    end = begin + size;
    return true;
  }
};

// The sum of the values of threads 0 .. k-1 for thread k; `total` that of all.  `shared` holds 32 values, and may be used
// again after a barrier.
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

// counts[0] += rows that are new.  x is a list (x_indices, x_values), a bitmap (x_words; BITMAP), or full (both null).
// x_count: entries, or places of a bitmap.  few: every block scans all of x, a list of at most CHUNK entries and two for each
// thread.  piece: longer columns are cut; piece_first null: none is (so with few).
template <class I, class P, class XI, class S, bool MASKED, bool BITMAP>
__global__ void __launch_bounds__(512, 2)
merge_columns(const P* indptr, const int64_t* rows, int64_t held, const I* cols, const typename S::A* a_values, int64_t size,
              const XI* x_indices, const word* x_words, const typename S::X* x_values, int64_t x_count, int64_t few,
              const word* mask, int64_t complement, typename S::Z* w, word* words, unsigned long long* counts,
              typename S::Z* next_w, word* next_words, unsigned long long* next_counts, int64_t piece, int64_t* piece_first,
              int64_t* piece_entry, int32_t* piece_length) {
  __shared__ P sums[32], ends[CHUNK], at[CHUNK];
  __shared__ XI found_names[BITMAP ? CHUNK : 1];
  __shared__ int bits_before[32], number, own_taken;
  __shared__ int64_t pieces_before[32], own_first;
  __shared__ unsigned long long found_sums[32];
  if (next_words != nullptr) {
    GRB_EACH(i, (size + 63) >> 6) next_words[i] = 0;
    if constexpr (S::has_start) {
      GRB_EACH(i, size) next_w[i] = S::start();
    }
    GRB_EACH(i, 4) next_counts[i] = 0;
  }
  Merger<I, S, MASKED> merger{cols, a_values, mask, complement != 0, w, words, 0};
  Pieces pieces{piece_first, piece_entry, piece_length, counts};
  bool cut = piece_first != nullptr;
  auto merge_taken = [&](int64_t p) {     // all lanes of a warp, with the same p
    int64_t begin = 0, end = 0, t = 0;
    int mine = 0;
    if (lane_number() == 0) mine = pieces.take(p, begin, end, t);
    if (!__shfl_sync(ALL_LANES, mine, 0)) return;
    begin = shuffle(begin, 0);
    end = shuffle(end, 0);
    t = shuffle(t, 0);
    int64_t k = BITMAP || x_indices == nullptr ? t : int64_t(x_indices[t]);
    merge_piece(merger, begin, end, k, value_of_x<S>(x_values, t));
  };
  int64_t units = BITMAP ? (x_count + 63) >> 6 : x_count, each = few ? units : (units + gridDim.x - 1) / gridDim.x;
  int64_t unit = few ? 0 : blockIdx.x * each, last = unit + each < units ? unit + each : units;
  int warp = threadIdx.x >> 5, warps = blockDim.x >> 5, room = 2 * blockDim.x < CHUNK ? 2 * blockDim.x : CHUNK;
  if (cut && unit >= last && threadIdx.x == 0) atomicAdd(&counts[3], 1ull);
  while (unit < last) {
    int64_t first = unit;            // place in x of the entries scanned now
    int count;
    const XI* names = x_indices == nullptr ? nullptr : x_indices + first;
    if constexpr (BITMAP) {          // as many words as have room
      word rest = unit + threadIdx.x < last ? x_words[unit + threadIdx.x] : 0;
      int total, before = sum_before(members(rest), total, bits_before);
      bool fits = before + members(rest) <= room;
      if (threadIdx.x == 0 && total <= room) number = total;
      if (!fits && before <= room) number = before;
      if (fits)
        for (XI* to = found_names + before; rest; rest &= rest - 1) *to++ = XI((unit + threadIdx.x) * 64 + lowest(rest));
      unit += __syncthreads_count(fits);
      count = number;
      names = found_names;
    } else {
      count = last - unit < room ? int(last - unit) : room;
      unit += count;
    }
    int t = 2 * threadIdx.x;
    int64_t start[2] = {0, 0}, stop[2] = {0, 0}, parts[2] = {0, 0};
#pragma unroll
    for (int u = 0; u < 2; u++) {
      if (t + u >= count) continue;
      row_range(indptr, rows, held, names == nullptr ? first + t + u : int64_t(names[t + u]), start[u], stop[u]);
      if (cut && stop[u] - start[u] > piece) parts[u] = (stop[u] - start[u] + piece - 1) / piece;
    }
    int64_t own = 0;                 // pieces of this chunk
    if (cut && __syncthreads_or(parts[0] + parts[1] != 0)) {
      int64_t place = sum_before(parts[0] + parts[1], own, pieces_before);
      if (threadIdx.x == 0) {
        own_first = atomicAdd(&counts[1], (unsigned long long)own);
        own_taken = 0;
      }
      __syncthreads();
      place += own_first;
#pragma unroll
      for (int u = 0; u < 2; u++) {
        if (parts[u] == 0) continue;
        pieces.list(place, start[u], stop[u], piece, BITMAP ? int64_t(names[t + u]) : first + t + u);
        place += parts[u];
        stop[u] = start[u];
      }
    }
    P one = P(stop[0] - start[0]), two = P(stop[1] - start[1]), sum;
    P before = sum_before(P(one + two), sum, sums);
    if (t < count) {
      ends[t] = before + one;
      at[t] = P(start[0]) - before;
    }
    if (t + 1 < count) {
      ends[t + 1] = before + one + two;
      at[t + 1] = P(start[1]) - (before + one);
    }
    __syncthreads();
    if (cut && unit >= last && threadIdx.x == 0) {
      __threadfence();
      atomicAdd(&counts[3], 1ull);
    }
    int64_t share = few ? int64_t(warps) * gridDim.x : warps, mine = few ? int64_t(blockIdx.x) * warps + warp : warp;
    share = ((sum + share - 1) / share + 31) & ~int64_t(31);
    int64_t from = mine * share;
    if (from < sum)
      merge_edges<I, P, XI, S, MASKED, BITMAP>(merger, ends, at, names, first, count, P(from),
                                               from + share < sum ? P(from + share) : sum, x_values);
    while (own > 0) {
      int taken = 0;
      if (lane_number() == 0) taken = atomicAdd(&own_taken, 1);
      taken = __shfl_sync(ALL_LANES, taken, 0);
      if (taken >= own) break;
      merge_taken(own_first + own - 1 - taken);
    }
    __syncthreads();
  }
  while (cut) {
    int64_t p = 0;
    if (lane_number() == 0) p = pieces.next();
    p = shuffle(p, 0);
    if (p < 0) break;
    merge_taken(p);
  }
  unsigned long long news = merger.found;
  news = block_reduce(news, [](unsigned long long p, unsigned long long q) { return p + q; }, found_sums);
  if (threadIdx.x == 0 && news) atomicAdd(&counts[0], news);
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
// counts: what part_members found; each warp sums up those of the parts before its own.
template <class I, class S>
__global__ void compact_words(word* words, int64_t n, int64_t part, int64_t parts, const int64_t* counts, typename S::Z* w,
                              I* indices, typename S::Z* values) {
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
