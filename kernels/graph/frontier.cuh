// The frontier as a queue of numbered edges, and its edge-balanced expansion (load balancing by edges, not by rows).
//
// Who includes it: graph/bfs_push.cuh (and so graph/bfs.cuh, graph/brandes.cuh), graph/sssp_relax.cuh.
// The edges of a frontier are numbered 0 .. E-1.  The vertex at position q of the queue owns the edges up to stop[q],
// and edge e of it is entry base[q] + e of the matrix.  One atomicAdd on (vertices << 33) + edges returns position and
// first edge number together, so stop[] ascends.  chunk[c] is the position of the vertex that owns edge CHUNK * c.
//   number_edges   a thread enters one vertex with its row
//   expand_edges   a warp takes CHUNK edges; each lane finds the owners of its edges among the 32 positions that
//                  follow, so long rows are divided over warps and short rows are packed
// Paper: Davidson, Baxter, Garland, Owens (IPDPS 2014), section 4 (load-balanced partitioning); Merrill, Garland,
//   Grimshaw, "Scalable GPU graph traversal" (PPoPP 2012), section 5 (scan-based gathering).
#pragma once
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

constexpr int CHUNK = 128;                 // edges that a warp expands at a time
constexpr int CHUNK_STEPS = CHUNK / 32;    // edges of a lane
constexpr int COUNT_SHIFT = 33;            // queue sizes: (vertices << 33) + edges, so that one atomic adds both
constexpr word EDGE_MASK = (word(1) << COUNT_SHIFT) - 1;

GRB_DEVICE int64_t vertices_of(word size) { return int64_t(size >> COUNT_SHIFT); }
GRB_DEVICE int64_t edges_of(word size) { return int64_t(size & EDGE_MASK); }
GRB_DEVICE word size_of_row(int64_t degree) { return degree > 0 ? (word(1) << COUNT_SHIFT) + word(degree) : word(0); }

template <class P> struct EdgeQueue { P *stop, *base; int32_t* chunk; };

// Enter a vertex of `degree` edges (0: none) that begin at entry `first`, at position and edge number `at`.
// write_vertex(position) stores the vertex or its key.  The warp calls together.
template <class P, class Write>
GRB_DEVICE void number_edges(const EdgeQueue<P>& queue, word at, P first, P degree, Write write_vertex) {
  int64_t position = vertices_of(at), begin = edges_of(at);
  int64_t c = (begin + CHUNK - 1) / CHUNK, last = degree ? (begin + degree - 1) / CHUNK : -1;
  if (degree) {
    queue.stop[position] = P(begin + degree);
    queue.base[position] = P(first - begin);
    write_vertex(position);
    if (last - c < 32)
      for (; c <= last; c++) queue.chunk[c] = int32_t(position);
  }
  for_each_lane(last - c >= 32, [&](int lane) {            // a long row: its chunks by the whole warp
    int64_t from = shuffle(c, lane), to = shuffle(last, lane);
    int32_t owner = __shfl_sync(ALL_LANES, int32_t(position), lane);
    for (int64_t k = from + lane_number(); k <= to; k += 32) queue.chunk[k] = owner;
  });
}

// visit(at, owner) for each chunk of `edges`: at[k] is the matrix entry of this lane's k-th edge (-1: none), owner[k]
// the value that `frontier` loads for the vertex from which the edge starts.
//   frontier.HAS_OWNER                         is `owner` used?
//   frontier.first_of(c)                       position of the vertex that owns edge CHUNK * c
//   frontier.load(p, edges, stop, base, owner) the vertex at position p
template <class Owner, class Frontier, class Visit>
GRB_DEVICE void expand_edges(const Frontier& frontier, int64_t edges, int64_t warp, int64_t warps, Visit visit) {
  const int64_t chunks = (edges + CHUNK - 1) / CHUNK;
  const int lane = lane_number();
  for (int64_t c = warp; c < chunks; c += warps) {
    int64_t at[CHUNK_STEPS];
    Owner owner[CHUNK_STEPS];
    int64_t p = frontier.first_of(c), e0 = c * CHUNK, my_stop = 0, my_base = 0;
    Owner mine = 0;
    bool stale = true;
#pragma unroll
    for (int k = 0; k < CHUNK_STEPS; k++, e0 += 32) {
      if (stale) frontier.load(p + lane, edges, my_stop, my_base, mine);   // a lane for each vertex from e0's owner on
      unsigned ended = warp_or(my_stop < e0 + 32 ? 1u << (my_stop - e0) : 0u);
      int whose = __popc(ended & ((2u << lane) - 1));
      int64_t e = e0 + lane, begin = shuffle(my_base, whose);
      if constexpr (Frontier::HAS_OWNER) owner[k] = shuffle(mine, whose); else owner[k] = 0;
      at[k] = e < edges ? begin + e : -1;
      int passed = __popc(__ballot_sync(ALL_LANES, my_stop <= e0 + 32));
      stale = passed > 0;
      p += passed;
    }
    visit(at, owner);
  }
}

}  // namespace grb
