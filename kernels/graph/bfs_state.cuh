// The arrays that the BFS kernels share for one graph and one stream, and the control block by which bfs_high_diameter
// hands over to bfs.
//
// Who includes it: graph/bfs.cuh, graph/bfs_high_diameter.cuh, graph/bfs_tiles.cuh (control block only).
// backends/cuda/graph/bfs_graph.py writes the table once, in this order, so that a launch passes one address.
// Invariant between kernels: visited[0] and the control block are all zero.
#pragma once
#include "graph/level_loop.cuh"

namespace grb {

enum Status { FRESH = 0, DONE = 1, HANDED_OVER = 2 };     // what bfs_high_diameter.cuh leaves to bfs.cuh

// Of one level: size of the next queue (frontier.cuh); vertices found that have no out-edges; vertices found by a pull;
// rows of hubs that the pull left.
struct LevelCounters { word queued, without_edges, pulled, hub_rows; };
struct BfsControl {
  using Slot = LevelCounters;
  unsigned arrivals, departures;
  int status, target_depth;                // target_depth: the level of the target vertex, 0 until it is found
  int64_t handed_count, handed_depth, handed_reached, spare;
  LevelCounters slot[3];
  word inbox[2][2][16];                    // messages of block_group.cuh
  int64_t small_depth, small_reached, small_explored;      // what the block of bfs_small.cuh leaves to the grid
};

template <class P> struct BfsTable {       // every field has 8 bytes
  int64_t n, entries, live_count;
  const P* out_start; const int32_t* out; const P* in_start; const int32_t* in;
  const int32_t* top_neighbour;            // the in-neighbour of highest degree (out-edges), -1 without in-edges
  const int32_t* next_neighbours;          // the four of next highest degree
  const unsigned* live;                    // vertices with in-edges, as bits
  unsigned *visited0, *visited1;
  int32_t *vertex0, *vertex1;              // two queues (frontier.cuh): vertices,
  P *stop0, *stop1, *base0, *base1;        // numbering of their edges,
  int32_t *chunk0, *chunk1;                // owners of every CHUNK-th edge
  BfsControl* control;
  // Of bfs_high_diameter.cuh:
  const int32_t* first_neighbours;         // the first neighbours of each vertex, WIDTH of them
  word* queues;                            // two queues of each block of the high-diameter kernel
  word* spill;                             // what a block's queue cannot hold, spill_capacity entries a block
  int32_t* handed;                         // the frontier that became too wide
  int64_t spill_capacity;
};

// What a BFS launch is given, packed by backends/cuda/graph/bfs.py in this order.
struct BfsArguments {                      // every field has 8 bytes
  const word* table;                       // BfsTable, or TileTable
  int64_t source;
  const int32_t* sources;                  // null: `source` alone
  int64_t source_count;
  int32_t* level;
  int64_t* parent;
  word* words;                             // presence of the results
  int64_t* record;                         // RunRecord
  int64_t record_levels, max_level, target;           // target: stop at its level; -1: none
  int64_t direction;                       // -1: chosen by level; else the kernel's own numbers
  int64_t alpha, beta;                     // of the direction switch

  GRB_DEVICE int64_t count() const { return sources == nullptr ? 1 : source_count; }
  GRB_DEVICE int vertex(int64_t i) const { return sources == nullptr ? int(source) : sources[i]; }
};

// Has an earlier level found the target?
GRB_DEVICE bool is_target_reached(const BfsArguments& a, const BfsControl* control, int64_t depth) {
  if (a.target < 0) return false;
  int at = load_l2(&control->target_depth);
  return at && at < depth;
}

// The control block becomes zero for the next launch.  keep_status: another kernel of this traversal follows.
GRB_DEVICE void leave_bfs(LevelLoop<BfsControl>& loop, bool keep_status) {
  if (!loop.leave()) return;
  loop.control->target_depth = 0;
  loop.control->small_depth = loop.control->small_reached = loop.control->small_explored = 0;
  if (!keep_status) loop.control->status = FRESH, loop.control->handed_count = 0;
}

}  // namespace grb
