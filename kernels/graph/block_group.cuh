// Message exchange between the few resident blocks of a cooperative launch, with one barrier a round.
//
// Who includes it: graph/bfs_high_diameter.cuh, graph/sssp_high_diameter.cuh.
// On graphs of high diameter a round has few vertices, so the barrier is its cost.  In a round each block appends to
// its own queue in global memory and sends the others one word (size of the queue, further counts).  After the barrier
// the blocks divide all queues evenly and read them past L1.
//   BlockGroup     barrier, send, receive
//   QueueShares    the division of all queues among the warps: locate(i) is entry i of the concatenation
// Memory order: the barrier releases what a block wrote and acquires what the others did (level_loop.cuh).  Two rounds
//   use two inboxes and two queues, so that a block may write those of the next round while others still read.
#pragma once
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

constexpr int MAX_GROUP_BLOCKS = 16;

using Inbox = word[2][2][MAX_GROUP_BLOCKS];                // [round & 1][message, further word][block]

// Control has `arrivals` and `Inbox inbox`.
template <class Control> struct BlockGroup {
  Control* control;
  unsigned goal = 0;

  GRB_DEVICE int blocks() const { return gridDim.x; }
  GRB_DEVICE int block() const { return blockIdx.x; }
  GRB_DEVICE unsigned warp() const { return (threadIdx.x >> 5) * gridDim.x + blockIdx.x; }
  GRB_DEVICE unsigned warps() const { return (blockDim.x >> 5) * gridDim.x; }

  GRB_DEVICE void barrier() { level_barrier(&control->arrivals, goal); }
  // One thread sends word `which` of this round to every block; they read it after barrier().
  GRB_DEVICE void send(int round, int which, word text) { control->inbox[round & 1][which][block()] = text; }
  // Lane b: the message of block b in this round (0 where there is no such block).
  GRB_DEVICE word receive(int round) const {
    return lane_number() < blocks() ? load_l2(&control->inbox[round & 1][0][lane_number()]) : word(0);
  }
  // The further word of block b.
  GRB_DEVICE word further(int round, int b) const { return load_l2(&control->inbox[round & 1][1][b]); }
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
