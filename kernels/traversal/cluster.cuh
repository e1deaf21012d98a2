// A few blocks that exchange queues every round: one thread block cluster, or the blocks of a cooperative launch.
//
// Who includes it: traversal/bfs_high_diameter.cuh, traversal/sssp_high_diameter.cuh.
// On graphs of high diameter a round has few vertices, so its cost is the barrier.  Here a round has none of its own:
// each block appends to its own queue, then sends every block one word (size of the queue, further counts, a tag).  The
// message is counter and barrier in one.  All blocks divide the queues evenly and read each other's.
//   BlockGroup     barrier, send, receive: distributed shared memory in a cluster (sm_90 and later), else global memory
//                  and a grid barrier a round
//   QueueShares    the division of all queues among the warps: locate(i) is entry i of the concatenation
// Memory order: entries are written before __syncthreads, the message after it with release; other blocks acquire the
//   message before they read entries (PTX ISA, memory consistency model, causality order: the barrier makes the block's
//   writes part of what its sender releases).  Reads of a queue come before the same block's next message, which its
//   owner acquires before it writes the queue again.  A further word is relaxed: it is read after a barrier.
#pragma once
#include "base/warp.cuh"
#include "traversal/level_loop.cuh"

namespace grb {

constexpr int MAX_GROUP_BLOCKS = 16;

#if !defined(SIMT_CPU) && __CUDA_ARCH__ >= 900
// The address of the same variable in another block of the cluster.
GRB_DEVICE unsigned address_in_block(const void* mine, int block) {
  unsigned address = unsigned(__cvta_generic_to_shared(mine)), there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
GRB_DEVICE word read_in_block(unsigned address) {
  word value;
  asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(value) : "r"(address) : "memory");
  return value;
}
GRB_DEVICE void write_in_block(unsigned address, word value) {
  asm volatile("st.relaxed.cluster.shared::cluster.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}
// A message: a block that reads it with acquire_word sees all that this one wrote before.
GRB_DEVICE void release_in_block(unsigned address, word value) {
  asm volatile("st.release.cluster.shared::cluster.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}
GRB_DEVICE word acquire_word(const word* mine) {
  word value;
  const unsigned address = unsigned(__cvta_generic_to_shared(mine));
  asm volatile("ld.acquire.cluster.shared::cta.u64 %0, [%1];" : "=l"(value) : "r"(address) : "memory");
  return value;
}
GRB_DEVICE void cluster_barrier() {
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#define GRB_CLUSTERS 1
#endif

using Inbox = word[2][2][MAX_GROUP_BLOCKS];                // [round & 1][message, further word][block]

// Control has `arrivals` and `Inbox inbox`.  A message carries round & TAG_MASK in its bits from TAG_SHIFT on.
template <class Control, bool CLUSTER, int TAG_SHIFT, int TAG_MASK> struct BlockGroup {
  Control* control;
  Inbox& inbox;                                            // this block's, in shared memory
  unsigned goal = 0;

  GRB_DEVICE int blocks() const { return gridDim.x; }
  GRB_DEVICE int block() const { return blockIdx.x; }
  GRB_DEVICE unsigned warp() const { return (threadIdx.x >> 5) * gridDim.x + blockIdx.x; }
  GRB_DEVICE unsigned warps() const { return (blockDim.x >> 5) * gridDim.x; }

  GRB_DEVICE void barrier() {                              // of global memory too
#ifdef GRB_CLUSTERS
    if constexpr (CLUSTER) {
      cluster_barrier();
      return;
    }
#endif
    level_barrier(&control->arrivals, goal);
  }
  // Warp 0 sends word `which` of this round to every block.  A further word is sent before the message.
  GRB_DEVICE void send(int round, int which, word text) {
#ifdef GRB_CLUSTERS
    if constexpr (CLUSTER) {
      if (lane_number() < blocks()) {
        const unsigned there = address_in_block(&inbox[round & 1][which][block()], lane_number());
        if (which == 0) release_in_block(there, text);
        else write_in_block(there, text);
      }
      return;
    }
#endif
    if (lane_number() == 0) control->inbox[round & 1][which][block()] = text;
  }
  // After send, by the block: without a cluster the round ends with a barrier, in a cluster `receive` waits.
  GRB_DEVICE void end_round() {
    if (!CLUSTER) level_barrier(&control->arrivals, goal);
  }
  // Lane b: the message of block b in this round (0 where there is no such block).  The warp calls together.
  GRB_DEVICE word receive(int round) {
#ifdef GRB_CLUSTERS
    if constexpr (CLUSTER) {
      word text = 0;
      if (lane_number() < blocks()) {
        unsigned polls = 0;
        do {
          text = acquire_word(&inbox[round & 1][0][lane_number()]);
          if (++polls >> 29) __trap();                     // a block is missing for seconds: fail instead of hanging
        } while (int(text >> TAG_SHIFT) != (round & TAG_MASK));
      }
      __syncwarp();
      return text;
    }
#endif
    return lane_number() < blocks() ? load_l2(&control->inbox[round & 1][0][lane_number()]) : word(0);
  }
  // After barrier(): the further word of block b.
  GRB_DEVICE word further(int round, int b) const {
    return CLUSTER ? inbox[round & 1][1][b] : load_l2(&control->inbox[round & 1][1][b]);
  }
};

// Lane b brings the size of block b's queue.  The warp calls together.
struct QueueShares {
  unsigned upto, total;                                    // lane b: entries of blocks 0 .. b; of all
  GRB_DEVICE explicit QueueShares(unsigned size) : upto(warp_inclusive_sum<MAX_GROUP_BLOCKS>(size)) {
    total = __shfl_sync(ALL_LANES, upto, MAX_GROUP_BLOCKS - 1);
  }
  // Entry i of the concatenated queues is entry `offset` of `block`'s: the number of blocks with upto <= i.
  GRB_DEVICE void locate(unsigned i, int& block, unsigned& offset) const {
    block = 0;
#pragma unroll
    for (int step = MAX_GROUP_BLOCKS / 2; step; step >>= 1) {
      unsigned there = __shfl_sync(ALL_LANES, upto, block + step - 1);
      if (there <= i) block += step;
    }
    unsigned before = __shfl_sync(ALL_LANES, upto, block ? block - 1 : 0);
    offset = i - (block ? before : 0);
  }
};

}  // namespace grb
