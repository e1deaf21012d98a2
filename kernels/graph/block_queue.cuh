// Block queues: vertices staged in shared memory by a block (or a warp), which one global atomic appends together.
//
// Who includes it: graph/bfs_push.cuh, graph/sssp_relax.cuh, graph/cores.cuh (BlockQueue, BlockTally),
//   graph/bfs_tiles.cuh (WarpQueue).
// Precondition: `reset` by thread 0 and a __syncthreads before the first use.
#pragma once
#include "base/warp.cuh"

namespace grb {

template <int CAPACITY> struct BlockQueue {
  int vertex[CAPACITY];
  int count;
  word scan[33];                             // for block_append

  GRB_DEVICE void reset() { count = 0; }
  // The lanes with `take` append v.  True for a lane whose vertex did not fit.  The warp calls together.
  GRB_DEVICE bool append(bool take, int v) {
    unsigned takers = __ballot_sync(ALL_LANES, take);
    if (!takers) return false;
    int at = 0;
    if (lane_number() == 0) at = atomicAdd(&count, __popc(takers));
    at = __shfl_sync(ALL_LANES, at, 0) + rank_in(takers);
    bool fits = at < CAPACITY;
    if (take && fits) vertex[at] = v;
    return take && !fits;
  }
  // After __syncthreads: how many vertices it holds.
  GRB_DEVICE int size() const { return count < CAPACITY ? count : CAPACITY; }
};

// A sum over the block that is added to a counter in device memory with one atomic.
struct BlockTally {
  word sum;
  GRB_DEVICE void reset() { sum = 0; }
  GRB_DEVICE void add(word value) { atomicAdd(&sum, value); }
  // Thread 0, after __syncthreads.  atomicExch, because the compiler would hoist a plain read into all threads, past
  // the write.
  GRB_DEVICE void flush(word* to) {
    word all = atomicExch(&sum, word(0));
    if (all) atomicAdd(to, all);
  }
};

// A queue of one warp: 64 places, of which fewer than 32 are in use between calls; no block-wide barrier is needed.
struct WarpQueue {
  int32_t* item;                             // 64 places in shared memory
  int count;

  // The lanes with `take` append k; flush(32) copies the first 32 items out when the queue has them.
  template <class Flush> GRB_DEVICE void append(unsigned takers, bool take, int32_t k, Flush flush) {
    if (take) item[count + rank_in(takers)] = k;
    count += __popc(takers);
    __syncwarp();
    if (count >= 32) {
      flush(32);
      count -= 32;
      int32_t kept = lane_number() < count ? item[32 + lane_number()] : 0;
      if (lane_number() < count) item[lane_number()] = kept;
      __syncwarp();
    }
  }
};

}  // namespace grb
