// Grid-stride loops and a grid-wide barrier.
//
// Who includes it: all files of kernels/ that hold __global__ functions.
// GRB_EACH(i, n) statement;      every i (int64_t) in 0 .. n-1, distributed over all threads of the grid; neighbouring
//                                threads get neighbouring i, so that loads coalesce.  Launch with Kernel.over(n, ...).
// GRB_EACH_WARP(i, n) { ... }    the same for warps: all 32 lanes get the same i.  The block is a multiple of 32
//                                threads.
// Precondition: no thread leaves these loops early when the body contains a barrier or a warp collective.
#pragma once
#include "base/types.cuh"

#define GRB_DEVICE __device__ __forceinline__

namespace grb {

using word = unsigned long long;  // 64 presence bits; the type that CUDA's atomics take
constexpr unsigned ALL_LANES = 0xffffffffu;

#ifdef GRB_STEPS
GRB_DEVICE int64_t thread_number() { return int64_t(step_block) * blockDim.x + threadIdx.x; }
#else
GRB_DEVICE int64_t thread_number() { return int64_t(blockIdx.x) * blockDim.x + threadIdx.x; }
#endif
GRB_DEVICE int64_t thread_count() { return int64_t(gridDim.x) * blockDim.x; }
GRB_DEVICE int lane_number() { return threadIdx.x & 31; }
GRB_DEVICE int64_t warp_number() { return thread_number() >> 5; }
GRB_DEVICE int64_t warp_count() { return thread_count() >> 5; }

// The items of a thread, of n in all: first_item(n), and others item_step() apart, below item_end(n).  A step of a
// persistent kernel may divide positions among the blocks in chunks of words of 64 (Turns::set of
// programs/persistent.cuh), the same ones in each array; then n is the number of positions or of words.
#ifdef GRB_STEPS
GRB_DEVICE int64_t first_item(int64_t n) {
  if (chunk_words == 0) return thread_number();
  return (n == chunk_words ? chunk_first : chunk_first * 64) + threadIdx.x;
}
GRB_DEVICE int64_t item_step() { return chunk_words == 0 ? thread_count() : blockDim.x; }
GRB_DEVICE int64_t item_end(int64_t n) {
  if (chunk_words == 0) return n;
  const int64_t end = n == chunk_words ? chunk_end : chunk_end * 64;
  return end < n ? end : n;
}
GRB_DEVICE int64_t first_run(int64_t length) {
  if (chunk_words == 0) return warp_number() * length;
  return chunk_first + (threadIdx.x >> 5) * length;
}
GRB_DEVICE int64_t run_step(int64_t length) {
  return (chunk_words == 0 ? warp_count() : int64_t(blockDim.x >> 5)) * length;
}
GRB_DEVICE int64_t run_end(int64_t words) { return chunk_words == 0 ? words : chunk_end; }
#else
GRB_DEVICE int64_t first_item(int64_t) { return thread_number(); }
GRB_DEVICE int64_t item_step() { return thread_count(); }
GRB_DEVICE int64_t item_end(int64_t n) { return n; }
GRB_DEVICE int64_t first_run(int64_t length) { return warp_number() * length; }
GRB_DEVICE int64_t run_step(int64_t length) { return warp_count() * length; }
GRB_DEVICE int64_t run_end(int64_t words) { return words; }
#endif

#ifdef GRB_STEPS
#define GRB_LOOP _Pragma("unroll 1")  // a turn's code should stay in the instruction cache
#else
#define GRB_LOOP
#endif
#define GRB_EACH(i, n) \
  GRB_LOOP for (int64_t i = grb::first_item(n), grb_step = grb::item_step(), grb_end = grb::item_end(n); i < grb_end; \
       i += grb_step)
// Runs of `length` neighbouring words of a bitmap for each warp: `first` is the run's first word, and `end` what its
// words are below.
#define GRB_EACH_RUN(first, end, length, words) \
  GRB_LOOP for (int64_t first = grb::first_run(length), grb_step = grb::run_step(length), end = grb::run_end(words); \
       first < end; first += grb_step)
#define GRB_EACH_WARP(i, n) \
  for (int64_t i = grb::warp_number(), grb_step = grb::warp_count(), grb_end = (n); i < grb_end; i += grb_step)

// A barrier of all threads of the grid.  `counter` starts at 0 and only grows: barrier k opens at k * gridDim.x
// arrivals.  Set it to 0 between kernels, because it overflows after 2^32 arrivals (16 million barriers of 256 blocks).
// Precondition: all blocks are resident (Kernel.resident_blocks, cooperative=True).  Level loops use level_barrier
// (graph/level_loop.cuh), which needs no ticket because each block counts its own barriers.
GRB_DEVICE void grid_barrier(unsigned* counter) {
  __syncthreads();
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) {
      __threadfence();
      unsigned ticket = atomicAdd(counter, 1u);
      unsigned goal = (ticket / gridDim.x + 1) * gridDim.x;
      while (*(volatile unsigned*)counter < goal) {
#ifdef SIMT_CPU
        __nanosleep(20);
#endif
      }
      __threadfence();
    }
    __syncthreads();
  }
}

// A barrier of all threads of `blocks` blocks: of the grid, unless it is divided into groups with their own arrivals.
// `goal` is the caller's own count of arrivals.  The arrivals are not read back by the atomic (red), so a barrier costs
// a block one write and one repeated read.  Every block must be resident.
// TRAPS: a block that is missing for a minute ends the kernel in an error; false where one waits for what is elsewhere.
template <bool TRAPS = true>
GRB_DEVICE void level_barrier(unsigned* arrivals, unsigned& goal, unsigned blocks = gridDim.x) {
  goal += blocks;
  __syncthreads();
  if (blocks > 1) {
    if (threadIdx.x == 0) {
#ifdef SIMT_CPU
      __threadfence();
      atomicAdd(arrivals, 1u);
      while (int(atomicAdd(arrivals, 0u) - goal) < 0) __nanosleep(20);
      __threadfence();
#else
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals) : "memory");
      unsigned arrived, polls = 0;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(arrived) : "l"(arrivals) : "memory");
        if (TRAPS && ++polls >> 27) __trap();         // a block is missing for a minute: fail instead of hanging
      } while (int(arrived - goal) < 0);
#endif
    }
    __syncthreads();
  }
}

#ifdef GRB_STEPS
// The barrier of the whole launch in a persistent kernel (programs/persistent.cuh), of which this is a step.
GRB_DEVICE void step_barrier() {
  unsigned goal = step_goal;
  level_barrier(step_arrivals, goal, launched_blocks());
  if (threadIdx.x == 0) step_goal = goal;
  __syncthreads();
}
#endif

// Blocks that go through the same memory in the same order, and stay about together, so that what one has written or
// read is in the cache for the others.  No result depends on it: a block that has waited in vain waits no more, so that
// blocks need not be resident.  turns: two zeros, before and after the kernel.
struct Together {
  unsigned* turns;
  unsigned turn = 0;
  bool waits = true;               // valid in thread 0
#ifdef SIMT_CPU
  static constexpr int POLLS = 2;
#else
  static constexpr int POLLS = 64;
#endif
  GRB_DEVICE explicit Together(unsigned* turns) : turns(turns) {}
  // Begins a turn, when all blocks have on average ended the one before the last.  The whole block calls.
  GRB_DEVICE void next() {
    __syncthreads();
    if (threadIdx.x == 0) {
      if (turn > 0) atomicAdd(turns, 1u);
      const int64_t goal = (int64_t(turn) - 1) * gridDim.x;
      int polls = 0;
      while (waits && int64_t(*(volatile unsigned*)turns) < goal) waits = ++polls < POLLS;
    }
    turn++;
    __syncthreads();
  }
  // After the last turn, one of `most`: blocks with fewer turns hold nobody up.
  GRB_DEVICE void end(unsigned most) {
    if (threadIdx.x != 0) return;
    atomicAdd(turns, most - (turn > 0 ? turn - 1 : 0));
    if (atomicAdd(turns + 1, 1u) == gridDim.x - 1) turns[0] = 0, turns[1] = 0;
  }
};

}  // namespace grb
