// All shortest paths from one source in one kernel: d min= d min.+ A until nothing improves, weights >= 0.
//
// Result: distance[v] of vertices reached, `words` their presence; places of other vertices are not written.
// Who calls: backends/cuda/traversal/sssp.py.  Launch cooperatively: two grid-wide barriers a round.
// Form: each row's entries ascend by weight (weight and column in one word), `cuts` says how many of them are lighter than
//   each of seven weights, so that a vertex is relaxed up to a bound and what lies beyond is not even read.
// Stages: all distances below `bound` become final before the bound is raised by delta (delta-stepping).  A path that ends
//   at or above the bound is not written at all: there is no far pile, the vertices with entries left over (`active`) are
//   its place, and each relaxes the next stretch of its row when the bound is raised.
// Pull: when what is left to reach has less than a share of the edges, every vertex not reached looks along its own row, light
//   entries first, until no later one can be better; a second sweep meets paths among these vertices, and pushes finish.
// Papers: Meyer, Sanders (J. Algorithms 49, 2003); Davidson, Baxter, Garland, Owens (IPDPS 2014), section 4; pulling,
//   pruning by weight and no bound at the end: Chakaravarthy, Checconi, Petrini, Sabharwal, "Scalable single source shortest
//   path algorithms for massively parallel systems" (IPDPS 2014).
#pragma once
#include "traversal/sssp_steps.cuh"

namespace grb {

constexpr int FEW_ROUNDS = 256;
enum RoundKind { RELAXED = 0, RAISED = 1, PULLED = 2, PULLED_AGAIN = 3 };

// delta: how far the bound is raised (a key; NONE: no bound at all); most: doubled at every stage up to this.
// pull_at: pull when what is not reached has less than 1/pull_at of the edges and few rounds were needed so far; 0: never.
template <class K, int BYTES, bool REAL, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
shortest_paths(const word* table, int64_t source, choose<REAL, K, word>* distance, word* words, int64_t* record,
               int64_t log_rows, int64_t delta, int64_t most, int64_t pull_at) {
  using Search = Paths<K, BYTES, REAL>;
  constexpr K NONE = Search::NONE;
  __shared__ Basket bag;
  __shared__ PathsTable<K> g;
  {
    word* to = reinterpret_cast<word*>(&g);
    for (int k = threadIdx.x; k < int(sizeof(g) / 8); k += blockDim.x) to[k] = table[k];
    if (threadIdx.x == 0) bag.count = 0, bag.explored = 0;
    __syncthreads();
  }
  PathsControl* control = g.control;
  bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  Search paths{g, bag, int64_t(threadIdx.x >> 5) * gridDim.x + blockIdx.x, int64_t(blockDim.x >> 5) * gridDim.x,
               &control->slot[0], NONE, unsigned(g.shift)};
  unsigned goal = 0;
  int phase = 0;
  int64_t row = 0;
  auto begin_phase = [&] {
    paths.next = &control->slot[phase % 3];
    if (first_thread) control->slot[(phase + 1) % 3] = PathsSlot{};
  };
  auto end_phase = [&] {                         // wait for all; what the phase counted
    level_barrier(&control->arrivals, goal);
    const PathsSlot* slot = &control->slot[phase++ % 3];
    return PathsSlot{fresh(&slot->tail), fresh(&slot->listed), fresh(&slot->active), fresh(&slot->explored),
                     fresh(&slot->nearest), {}};
  };
  auto note = [&](int64_t kind, int64_t frontier, int64_t edges) {
    if (first_thread && row < log_rows) {
      int64_t* line = record + HEAD_ROWS + STAGE_NUMBERS * row;
      line[0] = frontier, line[1] = kind, line[2] = edges, line[3] = clock64(), line[4] = int64_t(paths.bound);
    }
    row++;
  };

  bool done = fresh(&control->status) == DONE;   // traversal/sssp_high_diameter.cuh has come before
  if (first_thread && !done) record[0] = 0, record[2] = nanoseconds();
  auto find_all = [&] {
    begin_phase();
    GRB_EACH(i, g.n) g.dist[i] = i == source ? K(0) : NONE;
    GRB_EACH(i, (g.n + 31) >> 5) g.entered[i] = 0;
    if (first_thread) g.list[0] = int32_t(source);
    end_phase();

    K step = K(delta), settled = 0;
    paths.bound = step == NONE ? NONE : Search::raised(K(0), step);
    int64_t listed = 1, active = 0, explored = 0, count = 0, edges = 0;
    int which = 0;
    auto fixpoint = [&] {                          // relax what is queued or listed until nothing below the bound improves
      for (bool improved = false;;) {
        if (listed) {
          begin_phase();
          paths.number(listed, which ? g.active1 : g.active0, active);
          PathsSlot seen = end_phase();
          count = seen.tail >> COUNT_SHIFT, edges = seen.tail & EDGES;
          active += seen.active, explored += seen.explored;
        }
        if (!count) return improved;
        note(RELAXED, count, edges);
        begin_phase();
        paths.relax(count, edges);
        listed = end_phase().listed;
        count = 0;
        if (!listed) return improved;
        improved = true;
      }
    };
    for (int idle = 0;;) {
      bool improved = fixpoint();
      if (paths.bound == NONE || !active) break;
      settled = paths.bound;
      int64_t left = g.entries - explored;
      if (improved && left * pull_at < g.entries && pull_at && row < FEW_ROUNDS) {
        paths.bound = NONE;
        note(PULLED, active, left);
        begin_phase();
        paths.pull(settled, paths.relax_source(source), false);
        end_phase();
        note(PULLED_AGAIN, active, left);
        begin_phase();
        paths.pull(settled, settled, true);
        listed = end_phase().listed;
        continue;
      }
      idle = improved ? 0 : idle + 1;
      if (improved && !most) step = K(delta);
      else if (improved ? step < K(most) : idle > 1) step = Search::doubled(step);
      if (improved) {
        paths.bound = Search::raised(settled, step);
      } else {                                     // nothing was near: go on from what is nearest
        begin_phase();
        paths.look(which ? g.active1 : g.active0, active, settled);
        word found = end_phase().nearest;
        if (!found) break;
        K nearest = K(~found);
        paths.bound = Search::raised(nearest, step);
        if (paths.bound <= nearest) paths.bound = nearest + 1;
      }
      note(RAISED, active, 0);
      begin_phase();
      paths.advance(which ? g.active1 : g.active0, active, which ? g.active0 : g.active1, settled);
      PathsSlot seen = end_phase();
      which ^= 1;
      count = seen.tail >> COUNT_SHIFT, edges = seen.tail & EDGES;
      active = seen.active, listed = 0;
    }
  };
  if (!done) find_all();

  int64_t reached = 0;
  for (int64_t i0 = thread_number() - lane_number(); i0 < ((g.n + 63) & ~int64_t(63)); i0 += thread_count()) {
    int64_t i = i0 + lane_number();
    K d = i < g.n ? fresh(g.dist + i) : NONE;
    if (d != NONE) distance[i] = d;
    unsigned half = __ballot_sync(ALL_LANES, d != NONE);
    if (lane_number() == 0) reinterpret_cast<unsigned*>(words)[i0 >> 5] = half;
    reached += __popc(half);
  }
  if (lane_number() == 0 && reached) atomicAdd(reinterpret_cast<word*>(record), word(reached));
  if (first_thread) {
    if (!done) record[1] = row;
    record[3] = nanoseconds();
    record[4] = clock64();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&control->departures, 1u) == gridDim.x - 1) {
      control->arrivals = control->departures = 0;
      control->status = FRESH;
      for (int k = 0; k < 3; k++) control->slot[k] = PathsSlot{};
    }
  }
}

}  // namespace grb
