// repeat v (+)= A (+.x) v until v stays: a loop of products in one launch.
//
// Algorithm: Jacobi's order: a turn reads the v with which it began and writes the next one to a second array, so the
//   turns, and what a bound on them leaves, are those of the loop of two calls (product and accumulation, comparison).
//   Over a semiring: Kleene's iteration, Bellman-Ford for min_plus.  Where (+) is idempotent, a row is computed again
//   only after an entry that it reads has changed (semi-naive evaluation).
// A task is what a warp computes at once: 1 to 32 rows of about one length, 32 to 1 lanes each (products/rows.cuh).
// Phases of a turn:
//   select       the tasks: all; or those that are marked, when few entries changed in the turn before the last
//   product      v is accumulated and compared at once
//   mark         of an entry that changed, the tasks of the rows that read it, and its own, which has to write the
//                second array, and in which NaN changes again; not in a turn after one in which many changed
//   vote         how many entries changed?
//   barrier      one; the vote is read after it
// Launch: backends/cuda/graph/fixpoint.py, cooperative.
// Preconditions: control and marks are zero; rows without entries have their values and presence bits in both arrays.
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

constexpr int FEW = 8;             // few entries changed: fewer than 1/FEW of all

// task_of[r] = the task of row r, of those with entries.
template <class R>
__global__ void tasks_of_rows(const R* rows, int64_t count, const int64_t* bins, int32_t* task_of) {
  GRB_EACH(place, count) {
    int c = 1;
    while (place >= bins[16 + c]) c++;
    task_of[rows[place]] = int32_t(bins[c - 1] + ((place - bins[8 + c]) >> (c - 1)));
  }
}

// Bin 0 of `bins` is empty.  begun: what v begins with, copied to both arrays; null: they have it.  The rows that read
// entry j of v: reader_rows[reader_starts[j] ..], by rows of A'; null: A = A'.  task_of: of each row; null: all rows
// are in one bin, in their order.  marks: a byte for each task, in turns of either parity; null: a turn computes all.
// most: turns at most.  until: end with the first turn that changes nothing.
// record: turns; entries that the last one changed; entries, added to it where v has gaps.
// After an even number of turns v is in `first`, of `size` positions.
template <class I, class P, class R, class S, bool FULL>
__global__ void __launch_bounds__(1024, 1)
fixpoint(const R* rows, const P* starts, const P* stops, const int64_t* all_bins, int64_t warps, const I* cols,
         const typename S::A* a_values, typename S::Z* first, typename S::Z* second, word* first_words,
         word* second_words, const typename S::Z* begun, const word* begun_words, int64_t size,
         const P* reader_starts, const I* reader_rows, const int32_t* task_of, uint8_t* marks, int64_t most, bool until,
         void* control, unsigned long long* record) {
  using Z = typename S::Z;
  LevelLoop<FixpointControl> loop{static_cast<FixpointControl*>(control)};
  __shared__ int64_t bins[24];
  if (threadIdx.x < 24) bins[threadIdx.x] = all_bins[threadIdx.x];
  if (begun != nullptr) {
    GRB_EACH(k, size) first[k] = second[k] = begun[k];
    if constexpr (!FULL) {
      GRB_EACH(k, (size + 63) >> 6) first_words[k] = second_words[k] = begun_words[k];
    }
    loop.barrier();
  } else {
    __syncthreads();
  }
  int64_t turns = 0;
  word changes = 1;
  bool marked = false;             // are the tasks marked that this turn has to compute?
  while (turns < most && (changes || !until)) {
    FixpointControl::Slot* counters = loop.begin();
    const bool odd = turns & 1;
    const Z* v = odd ? second : first;
    Z* next = odd ? first : second;
    const word* v_words = odd ? second_words : first_words;
    word* next_words = odd ? first_words : second_words;
    uint8_t* now_marks = marks + (odd ? warps : 0);
    uint8_t* next_marks = marks + (odd ? 0 : warps);
    const bool marking = marks != nullptr && changes * FEW < word(size);
    unsigned long long changed = 0;
    for (int64_t base = warp_number(); base < warps; base += 32 * warp_count()) {
      const int64_t mine = base + lane_number() * warp_count();
      bool wanted = mine < warps;
      if (wanted && marked) {
        wanted = now_marks[mine] != 0;
        if (wanted) now_marks[mine] = 0;
      }
      for_each_lane(wanted, [&](int k) {
        const int64_t task = base + k * warp_count();
        int c = 1;
#pragma unroll
        for (int b = 1; b < CLASSES - 1; b++) c += task >= bins[b];
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
        bool moved = false;                      // 0 to -0 is no change that counts, but rows may read it
        if (writes && (had || total.have)) {
          const Z now = !had ? total.value : total.have ? S::add(before, total.value) : before;
          const bool differs = !had || !(now == before);
          changed += differs;
          moved = differs;
          if constexpr (sizeof(Z) <= 8) moved |= !same_bits(now, before);
          next[row] = now;
          if constexpr (!FULL) {
            if (!has(next_words, row)) atomicOr(&next_words[row >> 6], bit_of(row));
          }
        }
        if (marking) {
          if (__ballot_sync(ALL_LANES, moved) == 0) return;
          if (moved) next_marks[task] = 1;
          if (!__shfl_sync(ALL_LANES, int(moved), lane_number() - sub)) return;
          const bool symmetric = reader_starts == nullptr;
          const I* readers = symmetric ? cols : reader_rows;
          const int64_t end = symmetric ? stop : int64_t(reader_starts[row + 1]);
          for (int64_t p = (symmetric ? from : int64_t(reader_starts[row])) + sub; p < end; p += lanes) {
            const I reader = read_only(readers + p);
            next_marks[task_of == nullptr ? int64_t(reader) >> (c - 1) : int64_t(read_only(task_of + reader))] = 1;
          }
        }
      });
    }
    add_to_count(changed, &counters->changed);
    changes = load_l2(&loop.end()->changed);
    marked = marking;
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
