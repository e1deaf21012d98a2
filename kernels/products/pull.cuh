// w<m> = A (+.x) x row-wise where one product is enough (any monoid, structure-only semirings): SpMV by pull with early
// exit.
//
// Algorithm: row-wise masked product with early exit at the first match: push_pull_graphblas_icpp18, 5.2, 5.3 and 6.1
//   (Algorithm 2); "bottom-up" in direction-optimising BFS (Beamer, Asanovic, Patterson, SC 2012).
// Phases of a warp for 32 R neighbouring rows, R of them a lane:
//   select        rows with entries that the mask admits; groups without any are skipped, 32 at a time
//   top           the row's neighbour (column) of highest degree, then the next four, which are stored apart
//                 (probe_rows)
//   alone         each lane reads the first ALONE entries of its row
//   together      the warp reads up to `limit` entries of each row that is still open; longer rows are deferred
//   write         32 presence bits a word
// and of a block for the rows it deferred: a warp for each, the whole block for those of more than `huge` entries.
// Launch: backends/cuda/products/pull.py, any grid of at most 1024 threads a block.  Neighbouring groups of rows go to
//   different blocks, because the longest rows are often neighbours.
// Preconditions: `live` has a bit for each row with entries; top_neighbour and next_neighbours (graph/bfs_prepare.cuh)
//   may be null, and are null when the value of the entry matters.  All of w_words is written.
#pragma once
#include "products/semiring.cuh"

namespace grb {

constexpr int ALONE = 32;        // entries that a lane looks at by itself
#ifdef SIMT_CPU
constexpr int DEFERRED = 8;
#else
constexpr int DEFERRED = 1024;    // rows that a block may defer
#endif

GRB_DEVICE bool has_32(const unsigned* bits, int v) { return bits == nullptr || (bits[v >> 5] >> (v & 31) & 1); }

// The first of entries i .. end-1 whose column is in x, or end.  One thread, four entries at a time.
template <class P> GRB_DEVICE P first_in(const unsigned* x, const int32_t* cols, P i, P end) {
  for (; i < end; i += 4) {
    int near[4];
#pragma unroll
    for (int k = 0; k < 4; k++) near[k] = cols[i + k < end ? i + k : i];
    unsigned hits = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) hits |= unsigned(has_32(x, near[k])) << k;
    if (hits) return P(i + __ffs(int(hits)) - 1);      // positions past the end repeat entry i, which comes first
  }
  return end;
}
// One of entries i .. end-1 whose column is in x, or end; by a warp, the same in all lanes.
template <int LOADS, class P> GRB_DEVICE P any_in_by_warp(const unsigned* x, const int32_t* cols, P i, P end) {
  for (; i < end; i += 32 * LOADS) {
    int near[LOADS], hit = -1;
#pragma unroll
    for (int k = 0; k < LOADS; k++) near[k] = i + 32 * k + lane_number() < end ? cols[i + 32 * k + lane_number()] : -1;
#pragma unroll
    for (int k = 0; k < LOADS; k++)
      if (near[k] >= 0 && has_32(x, near[k])) hit = k;
    unsigned hits = __ballot_sync(ALL_LANES, hit >= 0);
    if (hits) {
      int lane = __ffs(int(hits)) - 1;
      return P(i + 32 * __shfl_sync(ALL_LANES, hit, lane) + lane);
    }
  }
  return end;
}

// A and x of the product, and where it goes.  Bits of rows are read as 32-bit words.
template <class P, class S> struct PullProduct {
  const P* start;
  const int32_t* cols;
  const typename S::A* a_values;
  const int32_t* top_neighbour;    // the row's column of highest degree, -1 for an empty row; null: not known
  const int4* next_neighbours;     // the next four, -1 where there are fewer
  const unsigned* x;               // null: full
  const typename S::X* x_values;
  typename S::Z* w;
  unsigned* w_words;

  // w[row] from entry `at`, whose column is `column`.
  GRB_DEVICE void write(int64_t row, P at, int column) const {
    if constexpr (!S::structure_only)
      w[row] = S::times(value_of_a<S>(a_values, at), value_of_x<S>(x_values, column), row, column, 0);
  }
  GRB_DEVICE void write_entry(int64_t row, P at) const { write(row, at, cols[at]); }
  // A deferred row: its presence bit by an atomic, because its word was written before.
  GRB_DEVICE void write_deferred(int row, P at) const {
    atomicOr(&w_words[row >> 5], 1u << (row & 31));
    write_entry(row, at);
  }
};

// top and alone, for the open rows of a lane (bits of `open`; row k is row0 + 32 k).  near: their top neighbours, -1
// for none.  Sets the bits of rows that were found in `hits`, of those with more than ALONE entries in `late`.
template <int R, class P, class S>
GRB_DEVICE void probe_rows(const PullProduct<P, S>& product, int row0, const int (&near)[R], unsigned open,
                           unsigned& hits, unsigned& late) {
#pragma unroll
  for (int k = 0; k < R; k++)
    if (near[k] >= 0 && has_32(product.x, near[k])) hits |= 1u << k;
  open &= ~hits;
#pragma unroll
  for (int k = 0; k < R; k++)
    if (hits >> k & 1) product.write(row0 + 32 * k, P(0), near[k]);
  for (; open; open &= open - 1) {
    const unsigned bit = open & -open;
    const int row = row0 + 32 * (__ffs(int(open)) - 1);
    if (product.top_neighbour != nullptr) {
      const int4 next = product.next_neighbours[row];
      auto there = [&](int u, int k) { return unsigned(u >= 0 && has_32(product.x, u)) << k; };
      const unsigned among = there(next.x, 0) | there(next.y, 1) | there(next.z, 2) | there(next.w, 3);
      if (among) {
        hits |= bit;
        product.write(row, P(0), among & 1 ? next.x : among & 2 ? next.y : among & 4 ? next.z : next.w);
        continue;
      }
      if (next.w < 0) continue;    // that was the whole row
    }
    const P i = product.start[row], end = product.start[row + 1], alone = end - i > ALONE ? P(i + ALONE) : end;
    const P at = first_in(product.x, product.cols, i, alone);
    if (at < alone) {
      hits |= bit;
      product.write_entry(row, at);
    } else if (alone < end) {
      late |= bit;
    }
  }
}

// The rows that a block deferred, in shared memory.
struct DeferredRows {
  int* rows;
  int* count;
  // By a whole warp.  Is there capacity for the row?
  GRB_DEVICE bool add(int row) const {
    int place = 0;
    if (lane_number() == 0) place = atomicAdd(count, 1);
    place = __shfl_sync(ALL_LANES, place, 0);
    if (place >= DEFERRED) return false;
    if (lane_number() == 0) rows[place] = row;
    return true;
  }
};

// together, for the rows of all lanes whose bits are in `late`; sets bits in `hits`.
template <class P, class S>
GRB_DEVICE void probe_together(const PullProduct<P, S>& product, int row0, int64_t limit, const DeferredRows& deferred,
                               unsigned late, unsigned& hits) {
  for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, late != 0)) != 0;) {
    const int whose = __ffs(int(lanes)) - 1;
    const unsigned bit = __shfl_sync(ALL_LANES, late & -late, whose);
    const int row = row0 - lane_number() + whose + 32 * (__ffs(int(bit)) - 1);
    const P i = product.start[row] + ALONE, end = product.start[row + 1];
    P stop = end - i > limit ? P(i + limit) : end;
    P at = any_in_by_warp<2>(product.x, product.cols, i, stop);
    if (at == stop && stop < end && !deferred.add(row)) {
      at = any_in_by_warp<4>(product.x, product.cols, stop, end);
      stop = end;
    }
    if (lane_number() == whose) {
      late &= late - 1;
      if (at < stop) {
        hits |= bit;
        product.write_entry(row, at);
      }
    }
  }
}

// A warp for each deferred row of at most `huge` more entries.  Returns how many this lane found.
template <class P, class S>
GRB_DEVICE int probe_deferred(const PullProduct<P, S>& product, const int* deferred, int rows, int64_t limit,
                              int64_t huge, const P* degrees, unsigned long long& lengths) {
  int found = 0;
  for (int k = threadIdx.x >> 5; k < rows; k += blockDim.x >> 5) {
    const int row = deferred[k];
    const P i = product.start[row] + ALONE + P(limit), end = product.start[row + 1];
    if (end - i > huge) continue;
    const P at = any_in_by_warp<4>(product.x, product.cols, i, end);
    if (lane_number() == 0 && at < end) {
      product.write_deferred(row, at);
      found++;
      if (degrees != nullptr) lengths += degrees[row + 1] - degrees[row];
    }
  }
  return found;
}

// The block together for each longer one.  met: in shared memory, by atomics only, because warps read
// it while others write.
template <class P, class S>
GRB_DEVICE int probe_huge(const PullProduct<P, S>& product, const int* deferred, int rows, int64_t limit, int64_t huge,
                          unsigned long long& met, const P* degrees, unsigned long long& lengths) {
  int found = 0;
  const int warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  for (int k = 0; k < rows; k++) {
    const int row = deferred[k];
    const P i = product.start[row] + ALONE + P(limit), end = product.start[row + 1];
    if (end - i <= huge) continue;           // the same for the whole block
    const unsigned long long none = (unsigned long long)end;
    if (threadIdx.x == 0) met = none;
    __syncthreads();
    for (P p = i + warp * 128; p < end; p += warps * 128) {
      const bool over = lane_number() == 0 && atomicAdd(&met, 0ull) != none;
      if (__any_sync(ALL_LANES, over)) break;
      const P stop = end - p > 128 ? P(p + 128) : end, at = any_in_by_warp<4>(product.x, product.cols, p, stop);
      if (at < stop) {
        if (lane_number() == 0) atomicExch(&met, (unsigned long long)at);          // any of those that were met will do
        break;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0 && met != none) {
      product.write_deferred(row, P(met));
      found++;
      if (degrees != nullptr) lengths += degrees[row + 1] - degrees[row];
    }
    __syncthreads();
  }
  return found;
}

// The sum of the lengths of a lane's rows whose bits are set.
template <int R, class P> GRB_DEVICE unsigned long long lengths_of(const P* degrees, int row0, unsigned rows) {
  unsigned long long sum = 0;
#pragma unroll
  for (int k = 0; k < R; k++)
    if (rows >> k & 1) sum += degrees[row0 + 32 * k + 1] - degrees[row0 + 32 * k];
  return sum;
}

// halves: 32-bit words of the result, x and the mask (null: everything); groups of R of them.  degrees, edges: null; or
// row pointers, and for each block the sum of their rows' lengths over the rows that it found.
template <class P, class S, int R>
__global__ void __launch_bounds__(1024)
matvec_pull(const P* __restrict__ start, const int32_t* __restrict__ cols, const typename S::A* __restrict__ a_values,
            const unsigned* __restrict__ live, const int32_t* __restrict__ top_neighbour,
            const int32_t* __restrict__ next_neighbours, const word* __restrict__ x_words,
            const typename S::X* __restrict__ x_values, const word* __restrict__ mask, bool complement, int64_t halves,
            int64_t limit, int64_t huge, typename S::Z* __restrict__ w, word* w_words, unsigned long long* count,
            const P* degrees, word* edges) {
  __shared__ int deferred_rows[DEFERRED], deferred_count;
  __shared__ unsigned long long met;
  const unsigned* allowed = reinterpret_cast<const unsigned*>(mask);
  unsigned* out = reinterpret_cast<unsigned*>(w_words);
  const PullProduct<P, S> product{start, cols, a_values, top_neighbour, reinterpret_cast<const int4*>(next_neighbours),
                                  reinterpret_cast<const unsigned*>(x_words), x_values, w, out};
  const DeferredRows deferred{deferred_rows, &deferred_count};
  const unsigned flip = complement ? ~0u : 0u;
  const int lane = lane_number();
  const int64_t groups = (halves + R - 1) / R, warps = warp_count();
  unsigned long long found = 0, lengths = 0;
  if (threadIdx.x == 0) deferred_count = 0;
  __syncthreads();
  for (int64_t first = int64_t(threadIdx.x >> 5) * gridDim.x + blockIdx.x; first < groups; first += warps * 32) {
    unsigned todo[R], some = 0;              // select: a group for each lane
    const int64_t mine = first + lane * warps;
#pragma unroll
    for (int k = 0; k < R; k++) {
      int64_t half = mine * R + k;
      todo[k] = half < halves ? live[half] : 0;
      if (todo[k] && allowed != nullptr) todo[k] &= allowed[half] ^ flip;
      some |= todo[k];
      if (!todo[k] && half < halves) out[half] = 0;
    }
    for (unsigned which = __ballot_sync(ALL_LANES, some != 0); which; which &= which - 1) {
      const int turn = __ffs(int(which)) - 1;
      const int64_t group = first + turn * warps;
      const int row0 = int(group * R * 32) + lane;
      unsigned hits = 0, open = 0, late = 0, here[R];    // a bit for each of the lane's rows
      int near[R];
#pragma unroll
      for (int k = 0; k < R; k++) {
        here[k] = __shfl_sync(ALL_LANES, todo[k], turn);
        open |= (here[k] >> lane & 1) << k;
        near[k] = top_neighbour != nullptr && (open >> k & 1) ? top_neighbour[row0 + 32 * k] : -1;
      }
      probe_rows<R>(product, row0, near, open, hits, late);
      __syncwarp();
      probe_together(product, row0, limit, deferred, late, hits);
      if (degrees != nullptr) lengths += lengths_of<R>(degrees, row0, hits);
#pragma unroll
      for (int k = 0; k < R; k++) {
        unsigned fresh = __ballot_sync(ALL_LANES, hits >> k & 1);
        if (here[k] && lane == k) {          // halves with nothing to do are zero already
          out[group * R + k] = fresh;
          found += __popc(fresh);
        }
      }
    }
  }
  __syncthreads();
  const int rows = deferred_count < DEFERRED ? deferred_count : DEFERRED;
  found += probe_deferred(product, deferred_rows, rows, limit, huge, degrees, lengths);
  found += probe_huge(product, deferred_rows, rows, limit, huge, met, degrees, lengths);
  add_to_count(found, count);
  store_part(lengths, edges);
}

}  // namespace grb
