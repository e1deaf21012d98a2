// Small BFS levels by one block, one after the other, while the rest of the grid waits: a phase of many levels.
//
// A grid-wide barrier, queues in global memory and their numbering cost the grid 5 us a level, whatever the level has.
// One block keeps the frontier in shared memory; a level costs it a read of neighbours, an atomicOr with reads of row
// starts beside it, and one barrier of its own.  So a path behind a hub takes no longer than a path alone.
// A level is small up to SMALL_EDGES edges, which the block's threads expand at once.  The grid leaves its levels to
// the block when CALM_LEVELS in succession were small: entering and leaving cost the grid two phases, so that frontiers
// that grow and shrink from level to level stay with the grid.
// A level of at most 32 edges, as those of a path, is the first warp's alone: nothing else of the grid works meanwhile,
// so that it reads bits and sets them without waiting for an atomic, and the block waits for the first level of more.
// Steps of a level: a thread for each edge finds its row (owner) and visits its end by atomicOr; who finds the bit
//   clear appends it, with its row, to the other queue, or, where that is full, to the queue of the grid.
// Leaves: the first frontier that is not small, or that may be pulled, as a queue of the grid; counts in the control
//   block.
// Who includes it: graph/bfs.cuh.
#pragma once
#include "graph/bfs_push.cuh"

namespace grb {

constexpr unsigned SMALL_EDGES = 1024;         // of a level: one for each thread of a block
constexpr unsigned SMALL_VERTICES = 512;       // of a level's queue in shared memory
constexpr int CALM_LEVELS = 4;
constexpr int MOST_SMALL_LEVELS = 1 << 20;     // of a phase, a second: a barrier ends a program after a minute
constexpr unsigned ROW_CLAMP = SMALL_EDGES + 1;            // longer rows count as this: a sum of many has 32 bits

// Vertex k owns the edges up to stop[k]; its edge e is entry base[k] + e of the matrix.
template <class P> struct SmallQueue {
  unsigned stop[SMALL_VERTICES];
  int vertex[SMALL_VERTICES];
  P base[SMALL_VERTICES];

  // Whose edge is e?  The number of stops up to e.
  GRB_DEVICE unsigned owner(unsigned count, unsigned e) const {
    unsigned low = 0, high = count - 1;
    while (low < high) {
      unsigned middle = (low + high) / 2;
      if (stop[middle] <= e) low = middle + 1; else high = middle;
    }
    return low;
  }
};

struct SmallCounters {
  word queued;                                 // vertices << 32 | their edges, of the queue that is made
  unsigned found, hit;                         // vertices, without edges or not; is the target among them?
};

template <class P> struct SmallLevels {        // in shared memory
  SmallQueue<P> queue[2];
  SmallCounters counters[3];                   // of three levels in turn: one is read, one is added to, one is zeroed

  // The frontier of the grid's queue q.  The block calls together.
  template <class Push> GRB_DEVICE void load(Push& push, int q, unsigned count) {
    const EdgeQueue<P> from = push.queue(q);
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
      queue[0].stop[k] = unsigned(load_l2(from.stop + k));
      queue[0].base[k] = load_l2(from.base + k);
      queue[0].vertex[k] = Push::HAS_OWNER ? load_l2(push.vertex(q) + k) : 0;
    }
    if (threadIdx.x < 3) counters[threadIdx.x] = SmallCounters{};
    __syncthreads();
  }

  // Expand `edges` edges of `count` vertices in queue `from`; vertices that do not fit are staged for queue q of the
  // grid.
  template <class Push>
  GRB_DEVICE void expand(Push& push, unsigned* visited, int from, unsigned count, unsigned edges, SmallCounters& made,
                         int q) {
    const SmallQueue<P>& own = queue[from];
    SmallQueue<P>& next = queue[from ^ 1];
    const BfsTable<P>& g = push.g;
    for (unsigned e0 = threadIdx.x & ~31u; e0 < edges; e0 += blockDim.x) {
      unsigned e = e0 + lane_number(), k = e < edges ? own.owner(count, e) : 0;
      int near = -1;
      P first = 0, end = 0;
      bool won = false;
      if (e < edges) {
        near = g.out[own.base[k] + P(e)];
        first = g.out_start[near], end = g.out_start[near + 1];
        won = visit(visited, near);
      }
      unsigned takers = __ballot_sync(ALL_LANES, won);
      if (!takers) continue;
      if (lane_number() == 0) atomicAdd(&made.found, unsigned(__popc(takers)));
      if (won) {
        push.reach(near, own.vertex[k]);
        if (near == push.target) made.hit = 1;
      }
      const bool takes = won && end > first;
      const unsigned degree = end - first < P(ROW_CLAMP) ? unsigned(end - first) : ROW_CLAMP;
      const word at = takes ? atomicAdd(&made.queued, (word(1) << 32) + degree) : word(0);
      const unsigned position = unsigned(at >> 32), begin = unsigned(at);
      const bool fits = takes && position < SMALL_VERTICES;
      if (fits) {
        next.stop[position] = begin + degree;
        next.vertex[position] = near;
        next.base[position] = first - P(begin);
      }
      push.stage(takes && !fits, near, q);
    }
  }

  // The same for at most 32 edges, by one warp while all others wait.
  template <class Push>
  GRB_DEVICE SmallCounters expand_by_warp(Push& push, unsigned* visited, int from, unsigned count, unsigned edges) {
    const SmallQueue<P>& own = queue[from];
    SmallQueue<P>& next = queue[from ^ 1];
    const BfsTable<P>& g = push.g;
    const unsigned e = unsigned(lane_number()), stop = e < count ? own.stop[e] : 32u;
    const unsigned ended = warp_or(stop < 32 ? 1u << stop : 0u);           // each row has an edge: stops differ
    const unsigned k = e < edges ? unsigned(__popc(ended & ((2u << e) - 1))) : 0;
    int near = -1;
    P first = 0, end = 0;
    bool won = false;
    if (e < edges) {
      near = g.out[own.base[k] + P(e)];
      first = g.out_start[near], end = g.out_start[near + 1];
      won = !is_in_l2(visited, near);
    }
    unsigned takers = __ballot_sync(ALL_LANES, won);
    if (takers & (takers - 1)) {                                           // of equal ends the first lane takes it
      const unsigned peers = __match_any_sync(ALL_LANES, won ? near : -1 - int(e));
      won = won && __ffs(int(peers)) - 1 == int(e);
      takers = __ballot_sync(ALL_LANES, won);
    }
    SmallCounters made = {0, unsigned(__popc(takers)), 0};
    if (!takers) return made;
    if (won) {
      visit(visited, near);
      push.reach(near, own.vertex[k]);
    }
    made.hit = __any_sync(ALL_LANES, won && near == push.target);
    const bool takes = won && end > first;
    const unsigned degree = !takes ? 0 : end - first < P(ROW_CLAMP) ? unsigned(end - first) : ROW_CLAMP;
    const unsigned listed = __ballot_sync(ALL_LANES, takes);
    const unsigned upto = listed & (listed - 1) ? warp_inclusive_sum(degree) : degree;
    if (takes) {
      const int position = rank_in(listed);
      next.stop[position] = upto;
      next.vertex[position] = near;
      next.base[position] = first - P(upto - degree);
    }
    made.queued = word(__popc(listed)) << 32 | warp_sum_everywhere(degree);
    __syncwarp();
    return made;
  }

  // The vertices of a queue become queue q of the grid, with what was staged.  The block calls together.
  template <class Push> GRB_DEVICE void leave(Push& push, int from, unsigned count, int q) {
    const unsigned held = count < SMALL_VERTICES ? count : SMALL_VERTICES;
    for (unsigned k0 = threadIdx.x & ~31u; k0 < held; k0 += blockDim.x) {
      unsigned k = k0 + lane_number();
      push.stage(k < held, k < held ? queue[from].vertex[k] : 0, q);
    }
    push.flush(q);
  }
};

}  // namespace grb
