// What the traversal kernels share: the graph's and the workspace's arrays, counters, the level barrier, claiming a vertex.
//
// Who includes it: traversal/bfs.cuh, traversal/bfs_high_diameter.cuh.  The arrays' addresses lie in one table on the device (written once
// by backends/cuda/traversal/bfs_graph.py in this order), so that a launch passes few arguments.
// Invariant between kernels: seen[0] and the control block are all zero; the last block to leave sees to it, so that no
// traversal starts by clearing anything.
#pragma once
#include "base/bits.cuh"

namespace grb {

constexpr int CHUNK = 128;                 // edges that a warp pushes at a time
constexpr int COUNT_SHIFT = 33;            // queue sizes: (vertices << 33) + edges in one word, so that one atomic adds both
constexpr word EDGES = (word(1) << COUNT_SHIFT) - 1;
constexpr int HEAD_ROWS = 8;               // record: 8 numbers, then 4 for each level
enum Status { FRESH = 0, DONE = 1, HANDED_OVER = 2 };

struct LevelSlot { word tail, idle, found, late; };   // queue size; found without out-edges; found by a pull; rows it left
struct SearchControl {
  unsigned arrivals, departures;
  int status, target_depth;
  int64_t handed_count, handed_depth, handed_reached, spare;
  LevelSlot slot[3];
  word inbox[2][32];
};

template <class P> struct SearchTable {    // every field has 8 bytes
  int64_t n, entries, live_count;
  const P* out_start; const int32_t* out; const P* in_start; const int32_t* in;
  const int32_t* strongest;                // each vertex's in-neighbour of most out-edges, -1 without in-edges
  const int32_t* next_strongest;           // the four after it
  const unsigned* live;                    // vertices with in-edges
  unsigned *seen0, *seen1;
  int32_t *vertex0, *vertex1;              // the queue of a pushed level: vertices,
  P *stop0, *stop1, *base0, *base1;        // where their edges end in the level's numbering of edges; row start - begin
  int32_t *chunk0, *chunk1;                // which vertex the edge CHUNK * c belongs to
  SearchControl* control;
  const int32_t* heads;                    // the first neighbours of each vertex in `width` places (narrow walk)
  word* segments;                          // narrow walk without clusters: two queues for each block
  word* spill;                             // narrow walk: what a block's queue could not hold, spill_places for each block
  int32_t* handed;                         // narrow walk: the frontier that became too wide
  int64_t spill_places;
};

// The block's copy of the table in shared memory.  The block calls together.
template <class P> GRB_DEVICE void load_table(SearchTable<P>& g, const word* table) {
  word* to = reinterpret_cast<word*>(&g);
  for (int k = threadIdx.x; k < int(sizeof(g) / 8); k += blockDim.x) to[k] = table[k];
  __syncthreads();
}

template <class T> GRB_DEVICE T fresh(const T* p) { return __ldcg(p); }   // past L1: another block may have written it
GRB_DEVICE unsigned lanes_below() { return (1u << lane_number()) - 1; }
GRB_DEVICE long long nanoseconds() {
#ifdef SIMT_CPU
  return 0;
#else
  long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
#endif
}
GRB_DEVICE void prefetch(const void* p) {
#ifndef SIMT_CPU
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}
GRB_DEVICE bool is_in(const unsigned* bits, int v) { return bits[v >> 5] >> (v & 31) & 1; }
GRB_DEVICE bool claim(unsigned* bits, int v) {
  unsigned bit = 1u << (v & 31);
  return !(atomicOr(&bits[v >> 5], bit) & bit);
}
// The same by a warp, lanes with `take`: neighbouring lanes that claim within one word share an atomic.  The vertices of a
// row ascend, so on meshes and web graphs one word serves many lanes, and many warps want the same few lines of `bits`.
GRB_DEVICE bool claim_together(unsigned* bits, int v, bool take) {
  const int lane = lane_number();
  int at = take ? v >> 5 : -1 - lane;
  bool first = __shfl_up_sync(ALL_LANES, at, 1) != at || lane == 0;
  unsigned heads = __ballot_sync(ALL_LANES, first);
  if (heads == ALL_LANES) return take && claim(bits, v);
  unsigned bit = take ? 1u << (v & 31) : 0u, united = bit;
  int run = lane - (31 - __clz(int(heads & (lanes_below() | 1u << lane))));        // lanes of the same word before this one
#pragma unroll
  for (int by = 1; by < 32; by <<= 1) {
    unsigned other = __shfl_up_sync(ALL_LANES, united, by);
    if (run >= by) united |= other;
  }
  unsigned before = __shfl_up_sync(ALL_LANES, united, 1), old = 0;
  if (run == 0) before = 0;
  bool last = lane == 31 || (heads >> (lane + 1) & 1);
  if (take && last) old = atomicOr(&bits[at], united);
  unsigned later = lane == 31 ? 0u : heads & ~(lanes_below() | 1u << lane);
  old = __shfl_sync(ALL_LANES, old, later ? __ffs(int(later)) - 2 : 31);
  return take && !((old | before) & bit);
}

// All threads of the grid wait for each other, once a level.  `goal` is the caller's own count of arrivals: no ticket is
// drawn, so a barrier is one write and a read that is repeated.  Every block must be resident.
GRB_DEVICE void level_barrier(unsigned* arrivals, unsigned& goal) {
  goal += gridDim.x;
  __syncthreads();
  if (gridDim.x > 1) {
    if (threadIdx.x == 0) {
#ifdef SIMT_CPU
      __threadfence();
      atomicAdd(arrivals, 1u);
      while (int(atomicAdd(arrivals, 0u) - goal) < 0) __nanosleep(20);
      __threadfence();
#else
      asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals) : "memory");
      unsigned arrived, turns = 0;
      do {
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(arrived) : "l"(arrivals) : "memory");
        if (++turns >> 27) __trap();         // a block is missing for a minute: fail, do not hang
      } while (int(arrived - goal) < 0);
#endif
    }
    __syncthreads();
  }
}

// The last block to leave makes the control block zero for the next kernel; `next_status` stays for a kernel that follows.
GRB_DEVICE void leave(SearchControl* control, bool keep_status) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&control->departures, 1u) == gridDim.x - 1) {
      control->arrivals = control->departures = 0;
      control->target_depth = 0;
      if (!keep_status) control->status = FRESH, control->handed_count = 0;
      for (int k = 0; k < 3; k++) control->slot[k] = LevelSlot{0, 0, 0, 0};
    }
  }
}

// Presence words of the result are the seen bits; what was seen is forgotten for the next traversal.
GRB_DEVICE void hand_out(const unsigned* seen, unsigned* seen0, word* words, int64_t n) {
  const word* from = reinterpret_cast<const word*>(seen);
  word* clean = reinterpret_cast<word*>(seen0);
  GRB_EACH(i, (n + 63) >> 6) {
    words[i] = fresh(from + i);
    clean[i] = 0;
  }
}

GRB_DEVICE void log_level(int64_t* record, int64_t rows, int64_t row, int64_t frontier, int64_t kind, int64_t edges) {
  if (row < rows) {
    int64_t* line = record + HEAD_ROWS + 4 * row;
    line[0] = frontier;
    line[1] = kind;
    line[2] = edges;
    line[3] = clock64();
  }
}

}  // namespace grb
