// Single-source shortest paths in one launch: d = min(d, d min.+ A) until nothing improves, weights >= 0.
//
// Result: distance[v] of the vertices reached, `words` their presence bits; other elements are not written.
// Algorithm: delta-stepping, Meyer, Sanders (J. Algorithms 49, 2003), on a GPU: Davidson, Baxter, Garland, Owens (IPDPS
//   2014), section 4; pull, pruning by weight and no bound at the end: Chakaravarthy, Checconi, Petrini, Sabharwal,
//   "Scalable single source shortest path algorithms for massively parallel systems" (IPDPS 2014).
// All distances below `bound` become final before the bound is raised by delta.  A path that ends at or above the bound
//   is not written.  In place of a far pile, the vertices with entries left (`active`) relax the next segment of their
//   rows when the bound is raised.  Rows ascend by weight and `class_end` divides them by seven weights, so that
//   entries beyond the bound are not read.
// Phases, a grid-wide barrier after each:
//   queue_improved   improved vertices become a queue with their edges up to the bound
//   relax            expand the queue's edges (frontier.cuh); ends improved to less than the bound are listed
//   find_nearest     (when nothing improved) the least distance that an active vertex can still give
//   queue_active     the bound is raised: active vertices, with the segment of their rows between the two bounds
//   alone            instead, while queues stay small: block 0 does queue_improved and relax with counters in shared
//                    memory and no barrier of the grid, round after round; the others wait.  Rounds of at most 32
//                    vertices and edges are its first warp's, without a barrier
//   pull, twice      when the vertices left have few of the edges: each searches its own row (sssp_pull.cuh); no bound
//                    remains, and pushes finish
// Launch: cooperative, THREADS x BLOCKS per SM resident (backends/cuda/graph/sssp.py), two barriers a round.
// Preconditions: the table of sssp_state.cuh; weights >= 0, no NaN; fewer than 2^33 edges; in_list and control are
// zero.
#pragma once
#include "graph/sssp_pull.cuh"

namespace grb {

constexpr int FEW_ROUNDS = 256;                // no pull after so many rounds
constexpr int CALM_ROUNDS = 4;                 // small ones in succession, before block 0 goes on alone: beginning and
                                               // ending that cost the grid a round
constexpr int MOST_ALONE = 1 << 18;            // rounds, a second: a barrier ends a program after a minute
enum RoundKind { RELAXED = 0, RAISED = 1, PULLED = 2, PULLED_AGAIN = 3 };

// Packed by backends/cuda/graph/sssp.py in this order.
struct SsspArguments {                         // every field has 8 bytes
  const word* table;
  int64_t source;
  void* distance;                              // K, or 64-bit integers
  word* words;
  int64_t* record;
  int64_t record_rounds;
  int64_t delta;                               // the first step of the bound, as a key; NONE: no bound
  int64_t most;                                // the step doubles in every stage up to this; 0: it stays
  int64_t pull_at;                             // pull when the vertices left have fewer than 1/pull_at edges; 0: never
};

struct WarpRounds { int64_t round, listed, active, explored; int improved, done; };

// ALONE: block 0 goes on alone while rounds are small, for graphs that may have thousands of them; elsewhere it would
// only take registers.
template <class K, int BYTES, bool REAL, int THREADS, int BLOCKS, bool ALONE>
__global__ void __launch_bounds__(THREADS, BLOCKS) sssp(SsspArguments a) {
  using Search = SsspPull<K, BYTES, REAL>;
  constexpr K NONE = Search::NONE;
  __shared__ SsspBlock block;
  __shared__ SsspTable<K> g;
  __shared__ RoundCounters own_counters;       // of block 0 alone
  __shared__ WarpList<K> own_list;             // of its first warp alone,
  __shared__ WarpRounds own_rounds;            // and where that has left its rounds
  if (threadIdx.x == 0) block.staged.reset(), block.explored.reset();
  load_table(g, a.table);
  const bool first_thread = is_first_thread();
  const SsspRecord record{a.record, a.record_rounds};
  LevelLoop<SsspControl> loop{g.control};
  Search paths{{g, block, spread_warp(), spread_warps(), &g.control->slot[0], NONE, unsigned(g.shift)}};
  int64_t round = 0, listed = 1, active = 0, explored = 0, count = 0, edges = 0;
  int which = 0;                               // of the two active lists
  K step = K(a.delta), settled = 0;
  const int64_t small = blockDim.x;            // entries of a list and edges of a queue that one block does at once
  bool alone = false;
  int calm = 0;                                // rounds in succession whose queues were small

  auto begin_phase = [&] {
    if (alone) {
      if (threadIdx.x == 0) own_counters = RoundCounters{};
      __syncthreads();
      paths.counters = &own_counters;
    } else {
      paths.counters = loop.begin();
    }
  };
  auto end_phase = [&] {
    if (alone) {
      __syncthreads();
      const RoundCounters counted = own_counters;
      __syncthreads();
      return counted;
    }
    const RoundCounters* counted = loop.end();
    return RoundCounters{load_l2(&counted->queued), load_l2(&counted->listed), load_l2(&counted->active),
                         load_l2(&counted->explored), load_l2(&counted->nearest), {}};
  };
  auto log_round = [&](int64_t kind, int64_t frontier, int64_t its_edges) {
    if (first_thread) record.level(round, frontier, kind, its_edges, int64_t(paths.bound));
    round++;
  };
  auto active_list = [&](int k) { return k ? g.active1 : g.active0; };

  auto start = [&] {
    begin_phase();
    GRB_EACH(i, g.n) g.dist[i] = i == a.source ? K(0) : NONE;
    GRB_EACH(i, (g.n + 31) >> 5) g.was_active[i] = 0;
    if (first_thread) g.list[0] = int32_t(a.source);
    end_phase();
    paths.bound = step == NONE ? NONE : Search::raised(K(0), step);
  };
  auto begin_alone = [&] {                     // a phase that ends when block 0 ends its rounds
    begin_phase();
    alone = true;
    if (blockIdx.x == 0) paths.warp = threadIdx.x >> 5, paths.warps = blockDim.x >> 5;
  };
  auto end_alone = [&](bool improved) {        // the grid goes on from where block 0 is; has any distance improved?
    SmallRounds& left = g.control->small;
    alone = false;
    if (first_thread) left = SmallRounds{round, listed, active, explored, count, edges, improved};
    paths.warp = spread_warp(), paths.warps = spread_warps();
    end_phase();
    round = load_l2(&left.round), listed = load_l2(&left.listed), active = load_l2(&left.active);
    explored = load_l2(&left.explored), count = load_l2(&left.count), edges = load_l2(&left.edges);
    if (listed || count) calm = 0;             // it ended for size
    return load_l2(&left.improved) != 0;
  };
  auto rounds_by_warp = [&](bool& improved, int& done) {   // of block 0 alone, while lists and queues fit a warp
    if (threadIdx.x < 32) {
      unsigned held = unsigned(listed);
      paths.load_list(own_list, held);
      for (WarpRound made; held && done < MOST_ALONE && paths.relax_by_warp(own_list, held, active_list(which) + active,
                                                                            made); done++) {
        if (made.count) log_round(RELAXED, made.count, made.edges);
        active += made.active, explored += int64_t(made.explored), held = made.listed;
        improved = improved || held;
      }
      paths.store_list(own_list, held);
      if (threadIdx.x == 0) own_rounds = WarpRounds{round, held, active, explored, improved, done};
    }
    __syncthreads();
    const WarpRounds left = own_rounds;
    round = left.round, listed = left.listed, active = left.active, explored = left.explored;
    improved = left.improved != 0, done = left.done;
    __syncthreads();
  };
  auto relax_to_fixpoint = [&] {               // until no distance below the bound improves; did any?
    int done = 0;
    for (bool improved = false;;) {
      const bool fits = listed <= small && (!count || edges <= small);
      if (ALONE && !alone && fits && calm > CALM_ROUNDS) begin_alone(), done = 0;
      bool leaves = true;
      if (!alone || blockIdx.x == 0) {
        if constexpr (ALONE)
          if (alone && listed && listed <= 32) rounds_by_warp(improved, done);
        if (listed) {
          begin_phase();
          paths.queue_improved(listed, active_list(which), active);
          RoundCounters counted = end_phase();
          count = vertices_of(counted.queued), edges = edges_of(counted.queued), listed = 0;
          active += counted.active, explored += counted.explored;
        }
        const bool wide = edges > small;
        if (count && !(alone && wide)) {       // else the grid relaxes this queue
          log_round(RELAXED, count, edges);
          if (!alone) calm = wide ? 0 : calm + 1;
          begin_phase();
          paths.relax(count, edges);
          listed = end_phase().listed;
          count = 0;
          improved = improved || listed;
        }
        leaves = count || !listed || ++done >= MOST_ALONE;   // as many are listed as there were edges, at most
      }
      if (alone && leaves) improved = end_alone(improved);
      if (!listed && !count) return improved;
    }
  };
  auto pull = [&](int64_t left) {
    paths.bound = NONE;
    log_round(PULLED, active, left);
    begin_phase();
    paths.pull(settled, paths.relax_source(a.source), false);
    end_phase();
    log_round(PULLED_AGAIN, active, left);
    begin_phase();
    paths.pull(settled, settled, true);
    listed = end_phase().listed;
  };
  auto raise_bound = [&](bool improved) {      // false: no vertex is left
    if (improved) {
      paths.bound = Search::raised(settled, step);
      return true;
    }
    begin_phase();
    paths.find_nearest(active_list(which), active, settled);
    const word found = end_phase().nearest;
    if (!found) return false;
    const K nearest = K(~found);
    paths.bound = Search::raised(nearest, step);
    if (paths.bound <= nearest) paths.bound = nearest + 1;
    return true;
  };
  auto queue_active = [&] {
    log_round(RAISED, active, 0);
    begin_phase();
    paths.queue_active(active_list(which), active, active_list(which ^ 1), settled);
    RoundCounters counted = end_phase();
    which ^= 1;
    count = vertices_of(counted.queued), edges = edges_of(counted.queued);
    active = counted.active, listed = 0;
  };
  auto delta_stepping = [&] {
    start();
    for (int idle = 0;;) {
      const bool improved = relax_to_fixpoint();
      if (paths.bound == NONE || !active) break;
      settled = paths.bound;
      const int64_t left = g.entries - explored;
      if (improved && left * a.pull_at < g.entries && a.pull_at && round < FEW_ROUNDS) {
        pull(left);
        continue;
      }
      idle = improved ? 0 : idle + 1;
      if (improved && !a.most) step = K(a.delta);
      else if (improved ? step < K(a.most) : idle > 1) step = Search::doubled(step);
      if (!raise_bound(improved)) break;
      queue_active();
    }
  };
  auto write_result = [&] {
    auto* distance = static_cast<choose<REAL, K, word>*>(a.distance);
    int64_t reached = 0;
    for (int64_t i0 = thread_number() - lane_number(); i0 < ((g.n + 63) & ~int64_t(63)); i0 += thread_count()) {
      int64_t i = i0 + lane_number();
      K d = i < g.n ? load_l2(g.dist + i) : NONE;
      if (d != NONE) distance[i] = d;
      unsigned half = __ballot_sync(ALL_LANES, d != NONE);
      if (lane_number() == 0) reinterpret_cast<unsigned*>(a.words)[i0 >> 5] = half;
      reached += __popc(half);
    }
    if (lane_number() == 0 && reached) atomicAdd(reinterpret_cast<word*>(a.record), word(reached));
  };

  const bool done = load_l2(&g.control->status) == SSSP_DONE;
  if (first_thread && !done) {
    a.record[0] = 0;
    record.start();
  }
  if (!done) delta_stepping();
  write_result();
  if (first_thread) {
    if (!done) a.record[1] = round;
    record.finish();
  }
  if (loop.leave()) g.control->status = SSSP_FRESH, g.control->small = SmallRounds{};
}

}  // namespace grb
