// repeat v (+)= A (+.x) v until v stays: a loop of products in one launch.
//
// Algorithm: Jacobi's order: a turn reads the v with which it began and writes the next one to a second array, so the
//   turns, and what a bound on them leaves, are those of the loop of two calls (product and accumulation, comparison).
//   Over a semiring: Kleene's iteration, Bellman-Ford for min_plus.
// Phases of a turn:
//   product      rows binned by length, 1 to 32 lanes a row (products/rows.cuh); v is accumulated and compared at once
//   vote         did any entry change?
//   barrier      one; the vote is read after it
// Launch: backends/cuda/graph/fixpoint.py, cooperative.
// Preconditions: control is zero; rows without entries have their values and presence bits in both arrays.
// Invariant: presence only grows.  The words of the next v are those of two turns before, so that bits are added only.
#pragma once
#include "graph/level_loop.cuh"
#include "products/rows.cuh"

namespace grb {

struct FixpointControl {
  struct Slot {
    word changed;
  };
  unsigned arrivals, departures;
  Slot slot[3];
};

// Bin 0 of `bins` is empty.  most: turns at most.  until: end with the first turn that changes nothing.
// record: turns; did the last one change anything?; entries, added to it where v has gaps.
// After an even number of turns v is in `first`, of `size` positions.
template <class I, class P, class R, class S, bool FULL>
__global__ void __launch_bounds__(1024, 1)
fixpoint(const R* rows, const P* starts, const P* stops, const int64_t* all_bins, int64_t warps, const I* cols,
         const typename S::A* a_values, typename S::Z* first, typename S::Z* second, word* first_words,
         word* second_words, int64_t size, int64_t most, bool until, void* control,
         unsigned long long* record) {
  using Z = typename S::Z;
  LevelLoop<FixpointControl> loop{static_cast<FixpointControl*>(control)};
  __shared__ int64_t bins[24];
  if (threadIdx.x < 24) bins[threadIdx.x] = all_bins[threadIdx.x];
  __syncthreads();
  int64_t turns = 0;
  bool changes = true;
  while (turns < most && (changes || !until)) {
    FixpointControl::Slot* counters = loop.begin();
    const bool odd = turns & 1;
    const Z* v = odd ? second : first;
    Z* next = odd ? first : second;
    const word* v_words = odd ? second_words : first_words;
    word* next_words = odd ? first_words : second_words;
    bool changed = false;
    GRB_EACH_WARP(task, warps) {
      int c = 1;
#pragma unroll
      for (int k = 1; k < CLASSES - 1; k++) c += task >= bins[k];
      const int lanes = 64 >> c, sub = lane_number() & (lanes - 1);
      const int64_t place = bins[8 + c] + ((task - bins[c - 1]) << (c - 1)) + (lane_number() >> (6 - c));
      int64_t row = place, from = 0, stop = 0;
      const bool here = place < bins[16 + c];
      if (here) {
        if (rows != nullptr) row = int64_t(rows[place]);
        from = read_only(starts + place);
        stop = read_only(stops + place);
      }
      const bool writes = here && sub == 0, had = writes && (FULL || has(v_words, row));
      const Z before = writes ? v[row] : Z();  // any value where it has none: loaded now, and not after its bit
      Total<S> total = row_total<I, S, FULL, true>(cols, a_values, v_words, v, row, from, stop, sub, lanes);
      join_lanes<S>(total, lanes);
      if (writes && (had || total.have)) {
        const Z now = !had ? total.value : total.have ? S::add(before, total.value) : before;
        changed |= !had || !(now == before);
        next[row] = now;
        if constexpr (!FULL) {
          if (!has(next_words, row)) atomicOr(&next_words[row >> 6], bit_of(row));
        }
      }
    }
    if (__syncthreads_or(changed) && threadIdx.x == 0) *(volatile word*)&counters->changed = 1;
    changes = load_l2(&loop.end()->changed) != 0;
    turns++;
  }
  if constexpr (!FULL) {
    const word* v_words = turns & 1 ? second_words : first_words;
    unsigned long long held = 0;
    GRB_EACH(k, (size + 63) >> 6) held += __popcll(v_words[k]);
    add_to_count(held, record + 2);
  }
  if (is_first_thread()) record[0] = turns, record[1] = changes;
  loop.leave();
}

}  // namespace grb
