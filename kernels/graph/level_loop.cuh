// The level loop of every whole-loop kernel: barrier, counters in three rotating slots, the record, the final clearing.
//
// Who includes it: all kernels of graph/ that run a whole loop in one launch.
// A kernel is a sequence of phases with a grid-wide barrier between them:
//
//     LevelLoop<Control> loop{control};
//     Slot* counters = loop.begin();        // phase k adds to slot k % 3 and zeroes slot (k + 1) % 3
//     ... atomicAdd(&counters->...) ...
//     const Slot* counted = loop.end();     // the barrier; the slot is complete until phase k + 2 begins
//
// Control is a struct in device memory that starts with `unsigned arrivals, departures` and has `slot[3]`.
// Launch: cooperative, since every block must be resident.
// Invariant between kernels: the control block is all zero.  The last block to leave restores this, so that no launch
//   starts with a memset.
#pragma once
#include "base/launch.cuh"

namespace grb {

// Past L1, because another block may have written it.
template <class T> GRB_DEVICE T load_l2(const T* p) { return __ldcg(p); }
GRB_DEVICE void prefetch_l2(const void* p) {
#ifndef SIMT_CPU
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}
GRB_DEVICE long long nanoseconds() {
#ifdef SIMT_CPU
  return 0;
#else
  long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
#endif
}
GRB_DEVICE bool is_first_thread() { return blockIdx.x == 0 && threadIdx.x == 0; }

// The warps of the grid numbered so that neighbouring numbers lie in different blocks: few chunks of work still occupy
// all SMs.
GRB_DEVICE int64_t spread_warp() { return int64_t(threadIdx.x >> 5) * gridDim.x + blockIdx.x; }
GRB_DEVICE int64_t spread_warps() { return int64_t(blockDim.x >> 5) * gridDim.x; }

// True in thread 0 of the block that leaves last.  The block calls together, after its last access to the workspace.
GRB_DEVICE bool is_last_to_leave(unsigned* departures, unsigned blocks = gridDim.x) {
  __syncthreads();
  if (threadIdx.x != 0) return false;
  __threadfence();
  return atomicAdd(departures, 1u) == blocks - 1;
}

template <class Control> struct LevelLoop {
  using Slot = typename Control::Slot;
  Control* control;
  unsigned goal = 0;
  int phase = 0;
  unsigned block = blockIdx.x, blocks = gridDim.x;         // of the group of blocks that runs this loop

  GRB_DEVICE Slot* begin() {
    if constexpr (sizeof(Slot) <= 64) {
      if (block == 0 && threadIdx.x == 0) control->slot[(phase + 1) % 3] = Slot{};
    } else if (block == 0) {
      word* next = reinterpret_cast<word*>(&control->slot[(phase + 1) % 3]);
      for (int k = threadIdx.x; k < int(sizeof(Slot) / 8); k += blockDim.x) next[k] = 0;
    }
    return &control->slot[phase % 3];
  }
  GRB_DEVICE void barrier() { level_barrier(&control->arrivals, goal, blocks); }
  GRB_DEVICE const Slot* end() {
    barrier();
    return &control->slot[phase++ % 3];
  }
  // The last block zeroes what every kernel uses and returns true in its thread 0, for what is the kernel's own.
  GRB_DEVICE bool leave() {
    if (!is_last_to_leave(&control->departures, blocks)) return false;
    control->arrivals = control->departures = 0;
    for (int k = 0; k < 3; k++) control->slot[k] = Slot{};
    return true;
  }
};

// What a launch reports, read by backends/cuda/graph/outcome.py.
//   lines[0 .. 7]   vertices reached, levels, start and end in nanoseconds, cycle counter at the end, the sum of the
//                   frontiers of levels beyond `capacity`, two unused
//   lines[8 ..]     NUMBERS for each of the first `capacity` levels: frontier, kind, edges, cycle counter, (bound)
constexpr int RECORD_HEAD = 8;
template <int NUMBERS = 4> struct RunRecord {
  int64_t* lines;
  int64_t capacity;
  GRB_DEVICE void start() const { lines[2] = nanoseconds(), lines[5] = 0; }
  GRB_DEVICE void level(int64_t k, int64_t frontier, int64_t kind, int64_t edges, int64_t bound = 0) const {
    if (k < capacity) {
      int64_t* line = lines + RECORD_HEAD + NUMBERS * k;
      line[0] = frontier;
      line[1] = kind;
      line[2] = edges;
      line[3] = clock64();
      if (NUMBERS > 4) line[4] = bound;
    } else {
      lines[5] += frontier;
    }
  }
  GRB_DEVICE bool has_room(int64_t k) const { return k < capacity; }
  GRB_DEVICE void add_beyond(int64_t frontiers) const { lines[5] += frontiers; }         // of levels that have none
  GRB_DEVICE void finish() const {
    lines[3] = nanoseconds();
    lines[4] = clock64();
  }
  GRB_DEVICE void finish(int64_t reached, int64_t levels) const {
    lines[0] = reached;
    lines[1] = levels;
    finish();
  }
};

// A table of 8-byte fields, written by the Python side in the struct's order, copied to shared memory.  The block calls
// together.
template <class Table> GRB_DEVICE void load_table(Table& table, const word* from) {
  static_assert(sizeof(Table) % 8 == 0, "every field has 8 bytes");
  word* to = reinterpret_cast<word*>(&table);
  for (int k = threadIdx.x; k < int(sizeof(Table) / 8); k += blockDim.x) to[k] = from[k];
  __syncthreads();
}

}  // namespace grb
