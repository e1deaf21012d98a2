// BFS on graphs of high diameter (roads, meshes): thousands of levels with a small frontier, by a few blocks.
//
// Result: as graph/bfs.cuh.  When a level has more than `most` edges or a queue overflows, its vertices are written
//   to `handed`, and graph/bfs.cuh, launched in any case, continues from there; otherwise it finds the status DONE.
// Algorithm: level-synchronous push; duplicates are filtered by the visited bit only.  The blocks are persistent and
//   exchange messages (graph/block_group.cuh).
// Phases of a level:
//   divide       receive the sizes of all queues, stop, hand over, or divide their entries among all warps
//   expand       a thread for each edge of the frontier visits its end by atomicOr and loads that end's first WIDTH
//                neighbours at the same time (`first_neighbours`: no row start is read); the thread that finds the bit
//                clear appends them, except the vertex it came from, as edges of the next level
//   expand_rest  rows of more than WIDTH entries, by the warp
//   publish      send counts and queue size to all blocks
// A level costs one access to L2, one append and one barrier.  Visited bits are accessed only by atomics, which L2
//   performs.
// Launch: backends/cuda/graph/bfs.py, at most 16 resident blocks, cooperative.
// Preconditions: rows of at most spill_capacity / QUEUE entries; visited0 and control are zero.
#pragma once
#include "graph/bfs_state.cuh"
#include "graph/block_group.cuh"
#include "graph/visited.cuh"

namespace grb {

constexpr int QUEUE = 8192;               // entries of one of a block's two queues, in global memory
constexpr unsigned COUNT_MASK = (1u << 19) - 1, LEVEL_EDGE_MASK = (1u << 20) - 1;

// A level's message: entries 19 bits, vertices 19, edges 20, target found 1.  Entries and edges saturate.
GRB_DEVICE word level_message(unsigned entries, unsigned vertices, unsigned edges, bool hit) {
  return word(entries < COUNT_MASK ? entries : COUNT_MASK) | word(vertices) << 19 |
         word(edges < LEVEL_EDGE_MASK ? edges : LEVEL_EDGE_MASK) << 38 |
         word(hit) << 58;
}

// Packed by backends/cuda/graph/bfs.py in this order.
struct HighDiameterBfsArguments {          // every field has 8 bytes
  const word* table;
  int64_t source;
  int32_t* level;
  int64_t* parent;
  word* words;
  int64_t* record;
  int64_t record_levels, max_level, target, most;
};

template <class P> struct HighDiameterBfsBlock {           // in shared memory
  BfsTable<P> g;
  unsigned entries[2], vertices, edges, hit;               // of both queues; counted in this level
};

template <class P, int WIDTH, bool LEVELS, bool PARENTS> struct HighDiameterBfs {
  HighDiameterBfsBlock<P>& block;
  const HighDiameterBfsArguments& a;
  BlockGroup<BfsControl> group;
  word* queue;                             // this block's two queues; an entry is predecessor << 32 | vertex
  word* spill;
  const int4* first_neighbours;            // of the table, kept in registers
  unsigned* visited;
  int depth;                               // the level that is being made
  word* made;                              // this block's queue of it
  unsigned my_vertices, my_edges;

  GRB_DEVICE BfsTable<P>& g() { return block.g; }
  GRB_DEVICE word entry_of(int of_block, unsigned k) {
    return load_l2(g().queues + (int64_t(of_block) * 2 + (depth & 1)) * QUEUE + k);
  }
  GRB_DEVICE void reach(int v, int from) {
    if (LEVELS) a.level[v] = depth;
    if (PARENTS) a.parent[v] = from;
    if (v == int(a.target)) block.hit = 1;
  }
  GRB_DEVICE unsigned reserve(unsigned count) {
    unsigned at = 0;
    if (lane_number() == 0) at = atomicAdd(&block.entries[(depth + 1) & 1], count);
    return __shfl_sync(ALL_LANES, at, 0);
  }
  GRB_DEVICE void append(unsigned at, int near, int from) {
    word entry = word(unsigned(from)) << 32 | unsigned(near);
    prefetch_l2(first_neighbours + int64_t(near) * WIDTH / 4);            // read by the next level
    if (at < QUEUE) made[at] = entry;
    else spill[at - QUEUE] = entry;
  }

  GRB_DEVICE void start() {
    if (threadIdx.x == 0) {
      block.entries[0] = block.entries[1] = block.vertices = block.edges = block.hit = 0;
      if (group.block() == 0) queue[0] = word(unsigned(a.source)) << 32 | unsigned(a.source);
      group.send(0, 0, level_message(group.block() == 0, 0, 0, false));
    }
    group.barrier();
  }

  GRB_DEVICE void expand(const QueueShares& shares) {
    const int lane = lane_number();
    const unsigned warp = group.warp(), warps = group.warps();
    made = queue + ((depth + 1) & 1) * QUEUE;
    my_vertices = my_edges = 0;
    for (unsigned i0 = warp * 32; i0 < shares.total; i0 += warps * 32) {
      int of_block;
      unsigned i = i0 + lane, offset;
      bool have = i < shares.total;
      shares.locate(i, of_block, offset);
      word entry = have ? entry_of(of_block, offset) : 0;
      int v = int(unsigned(entry)), from = int(unsigned(entry >> 32)), row[WIDTH];
      bool won = false;
      if (have) {
#pragma unroll
        for (int k = 0; k < WIDTH; k += 4) {
          int4 four = first_neighbours[(int64_t(v) * WIDTH + k) / 4];
          row[k] = four.x, row[k + 1] = four.y, row[k + 2] = four.z, row[k + 3] = four.w;
        }
        won = visit(visited, v);
      }
      if (!__any_sync(ALL_LANES, won)) continue;
      if (won) reach(v, from);
      my_vertices += won;
      unsigned takers[WIDTH], count = 0;
#pragma unroll
      for (int k = 0; k < WIDTH; k++) {
        bool there = won && row[k] >= 0;
        my_edges += there;
        takers[k] = __ballot_sync(ALL_LANES, there && row[k] != from);
        count += __popc(takers[k]);
      }
      if (count) {
        unsigned at = reserve(count);
#pragma unroll
        for (int k = 0; k < WIDTH; k++) {
          if (takers[k] >> lane & 1) append(at + rank_in(takers[k]), row[k], v);
          at += __popc(takers[k]);
        }
      }
      expand_rest(won && row[WIDTH - 1] == -2, v, from);
    }
  }

  // Entries WIDTH - 1 and on of the rows of the lanes with `more`.
  GRB_DEVICE void expand_rest(bool more, int v, int from) {
    const int lane = lane_number();
    for_each_lane(more, [&](int who) {
      int u = __shfl_sync(ALL_LANES, v, who), back = __shfl_sync(ALL_LANES, from, who);
      int64_t k = int64_t(g().out_start[u]) + WIDTH - 1, end = g().out_start[u + 1];
      if (lane == who) my_edges += unsigned(end - k);
      for (k += lane; k - lane < end; k += 32) {
        int near = k < end ? g().out[k] : back;
        unsigned lanes = __ballot_sync(ALL_LANES, near != back);
        if (!lanes) continue;
        unsigned at = reserve(__popc(lanes));
        if (near != back) append(at + rank_in(lanes), near, u);
      }
    });
  }

  GRB_DEVICE void publish() {
    const int lane = lane_number();
    my_vertices = warp_sum_everywhere(my_vertices);
    if (my_vertices) {
      my_edges = warp_sum_everywhere(my_edges);
      if (lane == 0) {
        atomicAdd(&block.vertices, my_vertices);
        atomicAdd(&block.edges, my_edges);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      group.send(depth + 1, 0, level_message(block.entries[(depth + 1) & 1], block.vertices, block.edges, block.hit));
      block.entries[depth & 1] = block.vertices = block.edges = 0;
    }
    group.barrier();
  }

  // This level's edges become its vertices, in `handed`.  `size`: lane b has the size of block b's queue.
  GRB_DEVICE void hand_over(unsigned size) {
    unsigned count = __shfl_sync(ALL_LANES, size, group.block());
    const word* own = queue + (depth & 1) * QUEUE;
    for (unsigned k = threadIdx.x; k - threadIdx.x < count; k += blockDim.x) {
      word entry = k < count ? (k < QUEUE ? own[k] : spill[k - QUEUE]) : 0;
      int v = int(unsigned(entry));
      bool won = k < count && visit(visited, v);
      if (won) reach(v, int(unsigned(entry >> 32)));
      if (won && v == int(a.target)) group.control->target_depth = depth;
      word at = warp_append(won, reinterpret_cast<word*>(&group.control->handed_count));
      if (won) g().handed[at] = v;
    }
    group.barrier();
  }
};

template <class P, int WIDTH, bool LEVELS, bool PARENTS>
__global__ void __launch_bounds__(1024) bfs_high_diameter(HighDiameterBfsArguments a) {
  __shared__ HighDiameterBfsBlock<P> block;
  load_table(block.g, a.table);
  BfsTable<P>& g = block.g;
  BfsControl* control = g.control;
  const bool first_thread = is_first_thread();
  const RunRecord<> record{a.record, a.record_levels};
  HighDiameterBfs<P, WIDTH, LEVELS, PARENTS> search{
    block, a, {control}, g.queues + int64_t(blockIdx.x) * 2 * QUEUE,
    g.spill + blockIdx.x * g.spill_capacity, reinterpret_cast<const int4*>(g.first_neighbours), g.visited0};
  if (first_thread) record.start();
  search.start();
  int64_t reached = 0, levels = 0;
  int status = DONE;
  unsigned size;                           // lane b: entries in the queue of block b
  for (;; search.depth++) {
    const int depth = search.depth;
    const word text = search.group.receive(depth);
    size = unsigned(text) & COUNT_MASK;
    const QueueShares shares(size);
    if (depth > 0) {                       // the level that was made: count it, stop when it is the last
      unsigned frontier = warp_sum_everywhere(unsigned(text >> 19) & COUNT_MASK);
      unsigned edges = warp_sum_everywhere(unsigned(text >> 38) & LEVEL_EDGE_MASK);
      reached += frontier;
      if (frontier == 0 || depth > a.max_level) break;
      if (__any_sync(ALL_LANES, text >> 58 & 1)) break;
      if (first_thread) record.level(depth - 1, frontier, 0, edges);
      levels = depth;
      if (shares.total == 0) break;
    }
    if (shares.total > unsigned(a.most) || __any_sync(ALL_LANES, size > QUEUE)) {
      status = HANDED_OVER;
      break;
    }
    search.expand(shares);
    search.publish();
  }
  if (status == HANDED_OVER) search.hand_over(size);
  else write_presence(g.visited0, g.visited0, a.words, g.n);
  if (first_thread) {
    record.finish(reached, levels);
    if (status == HANDED_OVER) {
      control->handed_depth = search.depth + 1;
      control->handed_reached = reached + load_l2(&control->handed_count);
    }
    control->status = status;
  }
  LevelLoop<BfsControl> loop{control};
  leave_bfs(loop, true);
}

}  // namespace grb
