// Direction-optimising BFS in one launch: f<!v, replace> = A' f, v = v + f until f is empty.
//
// Result: level[v] and parent[v] of the vertices reached, `words` their presence bits; other elements are not written.
// Algorithm: level-synchronous BFS with push and pull, Yang, Buluc, Owens, "Implementing push-pull efficiently in
//   GraphBLAS" (ICPP 2018), sections 4 to 6; direction switch: Beamer, Asanovic, Patterson (SC 2012), section 4, alpha.
// Phases of a level, a grid-wide barrier after each:
//   choose_direction   pull when the frontier has more than 1/alpha of the edges not explored; back when it is small
//   bitmap_to_queue    (after a pull) the new bits become a queue
//   push               expand the queue's edges (frontier.cuh), visit their ends by atomicOr, stage them, flush a queue
//   pull               each unvisited vertex looks for a visited neighbour and stops at the first one
//   pull_hub_rows      (LOW_SKEW) the rows of hubs that the pull left, by all warps
//   small_levels       instead of all these, when levels stay small: many levels by one block (bfs_small.cuh)
// A pull tests `visited` instead of the frontier (operand reuse, section 5.4): an unvisited vertex has no neighbour
//   visited before the last level, because that neighbour's level was followed by one that visited all of its
//   neighbours.  A pull writes a second bitmap, because a level must not see its own discoveries.
// Launch: cooperative, THREADS x BLOCKS per SM resident (backends/cuda/graph/bfs.py); most levels have one barrier.
// Preconditions: the table of bfs_state.cuh; n < 2^31 - 128; fewer than 2^33 edges; visited0 and control are zero
//   unless graph/bfs_high_diameter.cuh came before and left its frontier in `handed`.
#pragma once
#include "graph/bfs_pull.cuh"
#include "graph/bfs_small.cuh"

namespace grb {

enum BfsDirection { CHOSEN = -1, PUSH = 0, PULL = 1 };
constexpr int64_t SURE = 2, OF = 3;            // LOW_SKEW: a frontier of more than SURE/OF of the edges left is pulled
                                               // without sampling
constexpr int PUSH_SHARE = 4;                  // back to pushing: frontier below 1/4 of the vertices left,
constexpr int64_t FEW_LEFT = 8192;             // unless so few are left that a pull costs less than a switch
constexpr int64_t SMALL_FRONTIER = 16;         // no pull below n / 16 edges

// The state of the level loop, the same in all threads.
struct BfsLoop {
  int64_t depth, frontier, reached;            // the level that is made; vertices of the one before; vertices so far
  int64_t count, edges;                        // size of the frontier's queue
  int64_t explored;                            // edges of all vertices that were pushed
  int q;                                       // the frontier's queue
  int single;                                  // >= 0: the frontier is this vertex, without a queue
  bool queued;                                 // is the frontier a queue?  (else only the new bits of a pull)
  int calm;                                    // levels in succession that were small and pushed
};

// The state of the levels of bfs_small.cuh: `k` is the queue of the frontier, `last`: the grid goes on.
struct SmallState {
  BfsLoop s;
  int64_t beyond;
  int k, done;
  bool last;
};

// direction: BfsDirection.  LOW_SKEW: for graphs without dominating hubs, or whose neighbours have near numbers
// (meshes, web graphs): pulls are sampled first, hubs not yet visited are pulled by all warps, and a warp shares
// atomics on one word.  On other graphs these steps only cost time.
template <class P, bool LEVELS, bool PARENTS, int THREADS, int BLOCKS, bool LOW_SKEW>
__global__ void __launch_bounds__(THREADS, BLOCKS) bfs(BfsArguments a) {
  __shared__ BfsBlock block;
  __shared__ SmallLevels<P> small;
  __shared__ SmallState left;                  // where the first warp has left its levels
  __shared__ BfsTable<P> g;
  load_table(g, a.table);
  LevelLoop<BfsControl> loop{g.control};
  const int status = load_l2(&g.control->status);
  if (status == DONE) {
    leave_bfs(loop, false);
    return;
  }
  const bool first_thread = is_first_thread();
  const RunRecord<> record{a.record, a.record_levels};
  if (threadIdx.x == 0) block.staged.reset(), block.pulled.reset();
  BfsPull<P, LEVELS, PARENTS, LOW_SKEW> search{
    {g, block, a.level, a.parent, int(a.target), spread_warp(), spread_warps(), &g.control->slot[0], 0,
     int64_t(EDGE_MASK)}};
  unsigned *visited = g.visited0, *other = g.visited1;
  BfsLoop s{1, 0, 0, 0, 0, 0, 0, -1, true, 0};
  if (first_thread && status == FRESH) record.start();

  auto begin_phase = [&] { search.counters = loop.begin(); };
  auto end_phase = [&] {                       // vertices found in this phase
    const LevelCounters* counted = loop.end();
    const word queued = load_l2(&counted->queued);
    s.count = vertices_of(queued);
    s.edges = edges_of(queued);
    return s.count + int64_t(load_l2(&counted->without_edges) + load_l2(&counted->pulled));
  };
  auto start_frontier = [&] {                  // the sources, or the frontier that was handed over, become a queue
    const bool handed = status == HANDED_OVER;
    const int64_t items = handed ? load_l2(&g.control->handed_count) : a.count();
    begin_phase();
    for (int64_t i0 = search.warp * 32; i0 < items; i0 += search.warps * 32) {
      int64_t i = i0 + lane_number();
      bool take = i < items;
      int v = !take ? 0 : handed ? load_l2(g.handed + i) : a.vertex(i);
      if (take && !handed) {
        visit(visited, v);
        search.reach(v, v);
      }
      search.stage(take, v, s.q);
    }
    search.flush(s.q);
    s.depth = handed ? load_l2(&g.control->handed_depth) : 1;
    s.reached = handed ? load_l2(&g.control->handed_reached) : items;
    s.frontier = end_phase();
  };
  auto may_pull = [&] {                        // of a queue: has it a large share of the edges?
    if (a.direction != CHOSEN || g.in_start == nullptr) return a.direction == PULL;
    return s.edges * a.alpha > g.entries - s.explored && s.edges * SMALL_FRONTIER > g.n && s.single < 0;
  };
  auto choose_direction = [&] {
    bool pull = a.direction == PULL;
    if (a.direction != CHOSEN || g.in_start == nullptr) return pull;
    const int64_t left = g.live_count - s.reached;
    if (s.queued) {
      const int64_t unexplored = g.entries - s.explored;
      pull = may_pull();
      if (LOW_SKEW && pull && s.edges * OF <= unexplored * SURE) {
        pull = search.is_pull_promising(visited);
        loop.barrier();                        // a push that begins must not change what other blocks sample
      }
    } else {
      pull = !(s.frontier * PUSH_SHARE < left && left > FEW_LEFT);
      if (!pull) s.explored = g.entries - (g.entries / (g.live_count + 1) + 1) * left;      // estimated
    }
    return pull;
  };
  auto limit_queue = [&] {                     // a next frontier of more edges than this is always pulled
    if (a.direction != CHOSEN || g.in_start == nullptr) return;
    const int64_t rest = g.entries - s.explored, bound = LOW_SKEW ? rest * SURE / OF : rest / a.alpha, least = g.n >> 4;
    search.queue_edges = (bound > least ? bound : least) + 1;
  };
  auto is_small = [&] {
    return s.queued && s.single < 0 && s.edges <= int64_t(SMALL_EDGES) && s.count <= int64_t(SMALL_VERTICES);
  };
  auto small_levels = [&] {                    // by block 0, from queue s.q to queue s.q; the others wait in end_phase
    begin_phase();
    if (blockIdx.x == 0) {
      search.queue_edges = int64_t(EDGE_MASK);
      small.load(search, s.q, unsigned(s.count));
      int64_t beyond = 0;                      // frontiers for which the record has no room: a sum kept in a register
      int k = 0, done = 0;
      bool last = false;
      auto begin_level = [&](bool writes) {
        if (!record.has_room(s.depth - 1)) beyond += s.frontier;
        else if (writes) record.level(s.depth - 1, s.frontier, PUSH, s.edges);
        s.explored += s.edges;
        search.depth = int(s.depth);
      };
      auto end_level = [&](const SmallCounters& made) {    // is the next one left to the grid?
        s.frontier = made.found, s.count = int64_t(made.queued >> 32), s.edges = int64_t(unsigned(made.queued));
        s.reached += s.frontier;
        s.depth++, done++, k ^= 1;
        last = s.frontier == 0 || s.depth > a.max_level || made.hit || !is_small() || may_pull() ||
               done == MOST_SMALL_LEVELS;
      };
      while (!last) {
        if (s.edges > 32) {
          begin_level(threadIdx.x == 0);
          if (threadIdx.x == 0) small.counters[(done + 1) % 3] = SmallCounters{};
          small.expand(search, visited, k, unsigned(s.count), unsigned(s.edges), small.counters[done % 3], s.q);
          __syncthreads();
          end_level(small.counters[done % 3]);
          continue;
        }
        if (threadIdx.x < 32) {
          do {
            begin_level(threadIdx.x == 0);
            end_level(small.expand_by_warp(search, visited, k, unsigned(s.count), unsigned(s.edges)));
          } while (!last && s.edges <= 32);
          if (threadIdx.x == 0) left = {s, beyond, k, done, last};
        }
        __syncthreads();
        s = left.s, beyond = left.beyond, k = left.k, done = left.done, last = left.last;
        if (threadIdx.x < 3) small.counters[threadIdx.x] = SmallCounters{};
        __syncthreads();
      }
      if (threadIdx.x == 0 && beyond) record.add_beyond(beyond);
      small.leave(search, k, unsigned(s.count), s.q);
      if (threadIdx.x == 0) {
        atomicAdd(&search.counters->without_edges, word(s.frontier - s.count));
        g.control->small_depth = s.depth, g.control->small_reached = s.reached, g.control->small_explored = s.explored;
      }
    }
    s.frontier = end_phase();
    s.depth = load_l2(&g.control->small_depth), s.reached = load_l2(&g.control->small_reached);
    s.explored = load_l2(&g.control->small_explored);
    s.calm = 0;
  };

  __syncthreads();
  if (status == FRESH && a.sources == nullptr && a.direction != PULL) {      // one source: its level needs no queue
    s.single = int(a.source);
    if (first_thread) {
      visit(visited, s.single);
      search.reach(s.single, s.single);
    }
    s.frontier = s.count = s.reached = 1;
    s.edges = g.out_start[s.single + 1] - g.out_start[s.single];
    if (a.max_level < 1) loop.barrier();       // no level, and so no barrier, comes before write_presence
  } else {
    start_frontier();
  }
  while (s.frontier > 0 && s.depth <= a.max_level && !is_target_reached(a, g.control, s.depth)) {
    const bool pull = choose_direction();
    s.calm = !pull && is_small() ? s.calm + 1 : 0;
    if (s.calm > CALM_LEVELS) {
      small_levels();
      continue;
    }
    if (!pull && !s.queued) {
      begin_phase();
      search.queue_edges = int64_t(EDGE_MASK);
      search.bitmap_to_queue(other, visited, s.q);
      if (end_phase() != s.frontier) break;    // cannot happen
      s.queued = true;
    }
    if (first_thread) record.level(s.depth - 1, s.frontier, pull, s.queued ? s.edges : -1);
    begin_phase();
    search.depth = int(s.depth);
    if (!pull) s.explored += s.edges;
    limit_queue();
    if (pull) {
      search.pull(visited, other);
      unsigned* before = visited;
      visited = other;
      other = before;
      s.queued = false;
    } else {
      search.push(visited, s.q, s.count, s.edges, s.single);
      search.flush(s.q ^ 1);
      s.q ^= 1;
    }
    s.single = -1;
    s.frontier = end_phase();
    if (LOW_SKEW && pull) {
      const int64_t hub_rows = load_l2(&g.control->slot[(loop.phase + 2) % 3].hub_rows);
      if (hub_rows > 0) {
        begin_phase();
        search.pull_hub_rows(other, visited, hub_rows);
        s.frontier += end_phase();
      }
    }
    s.reached += s.frontier;
    s.depth++;
  }
  write_presence(visited, g.visited0, a.words, g.n);
  if (first_thread) record.finish(s.reached, s.depth - 1);
  leave_bfs(loop, false);
}

}  // namespace grb
