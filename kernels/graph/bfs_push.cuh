// The push of a BFS level: expand the queue's edges, visit their ends, make the next queue.
//
// Algorithm: edge-balanced expansion (graph/frontier.cuh), filtered by a read of the visited bits before the atomicOr
//   that visits (graph/visited.cuh); new vertices leave through a block queue (graph/block_queue.cuh).
// Phases: push             expand, filter, visit, stage
//         flush            a block's staged vertices become numbered edges of the next queue, one atomic a block
//         bitmap_to_queue  after a pull: the new bits become a queue
// Who includes it: graph/bfs_pull.cuh; graph/bfs.cuh lists the phases of a level.  graph/brandes.cuh uses its queue.
#pragma once
#include "graph/bfs_state.cuh"
#include "graph/block_queue.cuh"
#include "graph/frontier.cuh"
#include "graph/visited.cuh"

namespace grb {

constexpr int BFS_QUEUE = 4096;                // vertices that a block stages
struct BfsBlock {                              // in shared memory
  BlockQueue<BFS_QUEUE> staged;
  BlockTally pulled;
};

// The queue of a pushed level, for expand_edges.  `single` >= 0: no queue, only this vertex.
template <class P, bool PARENTS> struct BfsFrontier {
  static constexpr bool HAS_OWNER = PARENTS;
  const P *stop, *base, *out_start;
  const int32_t *vertex, *chunk;
  int64_t count;
  int single;
  GRB_DEVICE int64_t first_of(int64_t c) const { return single >= 0 ? 0 : load_l2(chunk + c); }
  GRB_DEVICE void load(int64_t p, int64_t edges, int64_t& my_stop, int64_t& my_base, int& my_vertex) const {
    if (single >= 0) {                         // a stop beyond all edges: this vertex owns every edge
      my_stop = int64_t(1) << 62, my_base = out_start[single], my_vertex = single;
      return;
    }
    bool there = p < count;
    my_stop = there ? int64_t(load_l2(stop + p)) : edges + 64;
    my_base = there ? int64_t(load_l2(base + p)) : 0;
    if (PARENTS) my_vertex = there ? load_l2(vertex + p) : 0;
  }
};

template <class P, bool LEVELS, bool PARENTS, bool LOW_SKEW> struct BfsPush {
  static constexpr bool HAS_OWNER = PARENTS;
  const BfsTable<P>& g;
  BfsBlock& block;
  int32_t* level;
  int64_t* parent;
  int target;
  int64_t warp, warps;
  LevelCounters* counters;                     // of the level that is being made
  int depth;
  int64_t queue_edges;                         // a frontier of more edges will be pulled: its queue is not written

  GRB_DEVICE int32_t* vertex(int q) { return q ? g.vertex1 : g.vertex0; }
  GRB_DEVICE EdgeQueue<P> queue(int q) {
    return EdgeQueue<P>{q ? g.stop1 : g.stop0, q ? g.base1 : g.base0, q ? g.chunk1 : g.chunk0};
  }

  GRB_DEVICE void reach(int v, int from) {
    if (LEVELS) level[v] = depth;
    if (PARENTS) parent[v] = from;
    if (v == target) g.control->target_depth = depth;
  }

  // Number the edges of v (where `have`) in queue q.  reserve(size) returns position and edge number.
  template <class Reserve> GRB_DEVICE void enqueue(int q, bool have, int v, Reserve reserve) {
    P first = have ? g.out_start[v] : P(0), degree = have ? P(g.out_start[v + 1] - first) : P(0);
    word at = reserve(size_of_row(degree));
    unsigned without = __ballot_sync(ALL_LANES, have && !degree);
    if (without && lane_number() == 0) atomicAdd(&counters->without_edges, word(__popc(without)));
    if (edges_of(at) > queue_edges) degree = 0;
    if (!__any_sync(ALL_LANES, degree != 0)) return;
    number_edges(queue(q), at, first, degree, [&](int64_t p) { if (PARENTS) vertex(q)[p] = v; });
  }

  // The lanes with `take` put v into the block's queue, or into queue q when that is full.  The warp calls together.
  GRB_DEVICE void stage(bool take, int v, int q) {
    bool over = block.staged.append(take, v);
    if (!__any_sync(ALL_LANES, over)) return;
    enqueue(q, over, v, [&](word size) {
      word sum = warp_inclusive_sum(size), total = shuffle(sum, 31), begin = 0;
      if (lane_number() == 0 && total) begin = atomicAdd(&counters->queued, total);
      return shuffle(begin, 0) + sum - size;
    });
  }

  // The block's queue goes into queue q.  The block calls together.
  GRB_DEVICE void flush(int q) {
    __syncthreads();
    int held = block.staged.size();
    for (int i = threadIdx.x; i - int(threadIdx.x) < held; i += blockDim.x) {
      bool have = i < held;
      enqueue(q, have, have ? block.staged.vertex[i] : 0,
              [&](word size) { return block_append(size, &counters->queued, block.staged.scan); });
      __syncthreads();
    }
    if (held && threadIdx.x == 0) block.staged.reset();
  }

  // Expand the frontier: `count` vertices of queue q with `edges` edges, or the vertex `single` (>= 0).
  GRB_DEVICE void push(unsigned* visited, int q, int64_t count, int64_t edges, int single) {
    const EdgeQueue<P> from = queue(q);
    const BfsFrontier<P, PARENTS> frontier{from.stop, from.base, g.out_start, vertex(q), from.chunk, count, single};
    const int32_t* out = g.out;
    auto visit_chunk = [&](const int64_t (&at)[CHUNK_STEPS], const int (&owner)[CHUNK_STEPS]) {
      int near[CHUNK_STEPS];
      bool take[CHUNK_STEPS];
#pragma unroll
      for (int k = 0; k < CHUNK_STEPS; k++) near[k] = at[k] >= 0 ? out[at[k]] : -1;
#pragma unroll
      for (int k = 0; k < CHUNK_STEPS; k++)    // filter before the atomic
        take[k] = near[k] >= 0 && near[k] != single && !is_in_l2(visited, near[k]);
#pragma unroll
      for (int k = 0; k < CHUNK_STEPS; k++) {
        if constexpr (LOW_SKEW) take[k] = visit_by_warp(visited, near[k], take[k]);
        else take[k] = take[k] && visit(visited, near[k]);
      }
#pragma unroll
      for (int k = 0; k < CHUNK_STEPS; k++) {
        if (take[k]) reach(near[k], owner[k]);
        stage(take[k], near[k], q ^ 1);
      }
    };
    expand_edges<int>(frontier, edges, warp, warps, visit_chunk);
  }

  // The vertices in `now` but not in `old`, as queue q: from a pulled level back to pushing.
  GRB_DEVICE void bitmap_to_queue(const unsigned* old, const unsigned* now, int q) {
    int64_t count = (g.n + 31) >> 5;
    for (int64_t w0 = warp * 32; w0 < count; w0 += warps * 32) {
      int64_t w = w0 + lane_number();
      unsigned left = w < count ? now[w] & ~old[w] : 0;
      while (__any_sync(ALL_LANES, left != 0)) {
        stage(left != 0, int(w * 32) + __ffs(int(left)) - 1, q);
        left &= left - 1;
      }
    }
    flush(q);
  }
};

}  // namespace grb
