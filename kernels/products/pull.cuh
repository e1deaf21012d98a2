// w<m> = A (+.x) x by rows where one product is enough (any monoid, structure-only semirings): rows in their own order.
//
// Who calls: backends/cuda/products/pull.py.
// Threads: a warp for 32 R rows, R of them a lane: the row's strongest neighbour first, four more, ALONE entries in turn;
//   then the warp together up to `limit` entries.  Rows that are longer wait until the block has been through its own: then
//   a warp takes each, and the whole block together those of more than `huge` entries.  Neighbouring groups of rows go to
//   different blocks, since the longest rows often lie together.
// Invariants: `live` are the rows that hold something, as bits; strongest and next_strongest (traversal/bfs_prepare.cuh) may be
//   null, and are when the value of the entry matters.  All of w_words is written.
// Papers: push_pull_graphblas_icpp18 (masking, early exit, structure-only), sections 4 and 5.
#pragma once
#include "products/semiring.cuh"

namespace grb {

constexpr int ALONE = 32;        // entries that a lane looks at by itself
#ifdef SIMT_CPU
constexpr int WAITING = 8;
#else
constexpr int WAITING = 1024;    // rows of a block that may wait
#endif

GRB_DEVICE bool has_32(const unsigned* bits, int v) { return bits == nullptr || (bits[v >> 5] >> (v & 31) & 1); }

// The first of entries i .. end-1 whose column is in x, or end.  One thread.
template <class P> GRB_DEVICE P first_met(const unsigned* x, const int32_t* cols, P i, P end) {
  for (; i < end; i += 4) {
    int near[4];
#pragma unroll
    for (int k = 0; k < 4; k++) near[k] = cols[i + k < end ? i + k : i];
    unsigned hits = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) hits |= unsigned(has_32(x, near[k])) << k;
    if (hits) return P(i + __ffs(int(hits)) - 1);      // places past the end stand for i, which comes first
  }
  return end;
}
// One of entries i .. end-1 whose column is in x, or end; by a warp, the same in all lanes.
template <int LOADS, class P> GRB_DEVICE P met_by_warp(const unsigned* x, const int32_t* cols, P i, P end) {
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

template <class S, class P>
GRB_DEVICE void write_product(typename S::Z* w, const typename S::A* a_values, const typename S::X* x_values, int64_t row,
                              P at, int column) {
  if constexpr (!S::structure_only)
    w[row] = S::times(value_of_a<S>(a_values, at), value_of_x<S>(x_values, column), row, column, 0);
}

// halves: 32-bit words of the result, x and the mask (null: everything); groups of R of them.
template <class P, class S, int R>
__global__ void __launch_bounds__(1024)
matvec_pull(const P* __restrict__ start, const int32_t* __restrict__ cols, const typename S::A* __restrict__ a_values,
            const unsigned* __restrict__ live, const int32_t* __restrict__ strongest, const int32_t* __restrict__ next_strongest,
            const word* __restrict__ x_words, const typename S::X* __restrict__ x_values, const word* __restrict__ mask,
            bool complement, int64_t halves, int64_t limit, int64_t huge, typename S::Z* __restrict__ w, word* w_words,
            unsigned long long* count) {
  __shared__ int waiting[WAITING];
  __shared__ int waits;
  __shared__ unsigned long long met;           // by atomics only: warps look at it while others write
  __shared__ unsigned long long sums[32];
  const unsigned* x = reinterpret_cast<const unsigned*>(x_words);
  const unsigned* allowed = reinterpret_cast<const unsigned*>(mask);
  unsigned* out = reinterpret_cast<unsigned*>(w_words);
  const int4* next = reinterpret_cast<const int4*>(next_strongest);
  const unsigned flip = complement ? ~0u : 0u;
  const int lane = lane_number(), own_warp = threadIdx.x >> 5, own_warps = blockDim.x >> 5;
  const int64_t groups = (halves + R - 1) / R, warps = warp_count();
  unsigned long long found = 0;
  if (threadIdx.x == 0) waits = 0;
  __syncthreads();
  for (int64_t first = int64_t(own_warp) * gridDim.x + blockIdx.x; first < groups; first += warps * 32) {
    unsigned todo[R], some = 0;                // each lane looks at one group: those with nothing to do are passed over
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
      unsigned hits = 0, open = 0, late = 0, here[R];   // a bit for each of the lane's rows
      int near[R];
#pragma unroll
      for (int k = 0; k < R; k++) {
        here[k] = __shfl_sync(ALL_LANES, todo[k], turn);
        open |= (here[k] >> lane & 1) << k;
        near[k] = strongest != nullptr && (open >> k & 1) ? strongest[row0 + 32 * k] : -1;
      }
#pragma unroll
      for (int k = 0; k < R; k++)
        if (near[k] >= 0 && has_32(x, near[k])) hits |= 1u << k;
      open &= ~hits;
#pragma unroll
      for (int k = 0; k < R; k++)
        if (hits >> k & 1) write_product<S>(w, a_values, x_values, row0 + 32 * k, P(0), near[k]);
      for (; open; open &= open - 1) {
        const unsigned bit = open & -open;
        const int row = row0 + 32 * (__ffs(int(open)) - 1);
        if (strongest != nullptr) {
          const int4 few = next[row];
          auto there = [&](int u, int k) { return unsigned(u >= 0 && has_32(x, u)) << k; };
          unsigned among = there(few.x, 0) | there(few.y, 1) | there(few.z, 2) | there(few.w, 3);
          if (among) {
            hits |= bit;
            write_product<S>(w, a_values, x_values, row, P(0), among & 1 ? few.x : among & 2 ? few.y : among & 4 ? few.z : few.w);
            continue;
          }
          if (few.w < 0) continue;             // that was the whole row
        }
        P i = start[row], end = start[row + 1], alone = end - i > ALONE ? P(i + ALONE) : end;
        P at = first_met(x, cols, i, alone);
        if (at < alone) {
          hits |= bit;
          write_product<S>(w, a_values, x_values, row, at, cols[at]);
        } else if (alone < end) {
          late |= bit;
        }
      }
      __syncwarp();
      for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, late != 0)) != 0;) {
        int whose = __ffs(int(lanes)) - 1;
        unsigned bit = __shfl_sync(ALL_LANES, late & -late, whose);
        int row = int(group * R * 32) + whose + 32 * (__ffs(int(bit)) - 1);
        P i = start[row] + ALONE, end = start[row + 1], stop = end - i > limit ? P(i + limit) : end;
        P at = met_by_warp<2>(x, cols, i, stop);
        if (at == stop && stop < end) {
          int place = 0;
          if (lane == 0) place = atomicAdd(&waits, 1);
          place = __shfl_sync(ALL_LANES, place, 0);
          if (place < WAITING) {
            if (lane == 0) waiting[place] = row;
          } else {
            at = met_by_warp<4>(x, cols, stop, end);
            stop = end;
          }
        }
        if (lane == whose) {
          late &= late - 1;
          if (at < stop) {
            hits |= bit;
            write_product<S>(w, a_values, x_values, row, at, cols[at]);
          }
        }
      }
#pragma unroll
      for (int k = 0; k < R; k++) {
        unsigned fresh = __ballot_sync(ALL_LANES, hits >> k & 1);
        if (here[k] && lane == k) {            // halves with nothing to do are zero already
          out[group * R + k] = fresh;
          found += __popc(fresh);
        }
      }
    }
  }
  __syncthreads();
  const int rows = waits < WAITING ? waits : WAITING;
  for (int k = own_warp; k < rows; k += own_warps) {
    const int row = waiting[k];
    const P i = start[row] + ALONE + P(limit), end = start[row + 1];
    if (end - i > huge) continue;
    const P at = met_by_warp<4>(x, cols, i, end);
    if (lane == 0 && at < end) {
      atomicOr(&out[row >> 5], 1u << (row & 31));
      write_product<S>(w, a_values, x_values, row, at, cols[at]);
      found++;
    }
  }
  for (int k = 0; k < rows; k++) {
    const int row = waiting[k];
    const P i = start[row] + ALONE + P(limit), end = start[row + 1];
    if (end - i <= huge) continue;             // the same for the whole block
    const unsigned long long none = (unsigned long long)end;
    if (threadIdx.x == 0) met = none;
    __syncthreads();
    for (P p = i + own_warp * 128; p < end; p += own_warps * 128) {
      const bool over = lane == 0 && atomicAdd(&met, 0ull) != none;
      if (__any_sync(ALL_LANES, over)) break;
      const P stop = end - p > 128 ? P(p + 128) : end, at = met_by_warp<4>(x, cols, p, stop);
      if (at < stop) {
        if (lane == 0) atomicExch(&met, (unsigned long long)at);          // any of those that were met will do
        break;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0 && met != none) {
      const P at = P(met);
      atomicOr(&out[row >> 5], 1u << (row & 31));
      write_product<S>(w, a_values, x_values, row, at, cols[at]);
      found++;
    }
    __syncthreads();
  }
  found = block_reduce(found, [](unsigned long long p, unsigned long long q) { return p + q; }, sums);
  if (threadIdx.x == 0 && found) atomicAdd(count, found);
}

}  // namespace grb
