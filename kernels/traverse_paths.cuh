// All shortest paths from one source in one kernel: d min= d min.+ A until nothing improves, weights >= 0.
//
// Result: distance[v] of vertices reached, `words` their presence; places of other vertices are not written.
// Who calls: backends/cuda/traverse_paths.py.  Launch cooperatively: two grid-wide barriers a round.
// Form: each row's entries ascend by weight (weight and column in one word), `cuts` says how many of them are lighter than
//   each of seven weights, so that a vertex is relaxed up to a bound and what lies beyond is not even read.
// Stages: all distances below `bound` become final before the bound is raised by delta (delta-stepping).  A path that ends
//   at or above the bound is not written at all: there is no far pile, the vertices with entries left over (`active`) are
//   its place, and each relaxes the next stretch of its row when the bound is raised.
// Pull: when what is left to reach has fewer edges than the next stretches, every vertex not reached looks along its own row,
//   light entries first, until no later one can be better; a second sweep meets paths among these vertices, and pushes finish.
// Threads: push: a warp takes CHUNK edges, whosever they are; pull: a lane a vertex, long rows by the warp.
// Papers: Meyer, Sanders (J. Algorithms 49, 2003); Davidson, Baxter, Garland, Owens (IPDPS 2014), section 4; pull and the
//   order by weight: Chakaravarthy et al., "Scalable single source shortest path algorithms for massively parallel systems"
//   (IPDPS 2014), sections 3 and 4.
#pragma once
#include "paths_state.cuh"

namespace grb {

constexpr int BASKET = 8192;                   // vertices that a block gathers before they go to the list
constexpr int STAGE_NUMBERS = 5;               // record: 8 numbers, then 5 for each round

struct Basket {
  int vertex[BASKET];
  int count;
  word base, explored;
  word sums[33];
};

template <class K, int BYTES, bool REAL> struct Paths {
  static constexpr K NONE = ~K(0);
  using Entry = PathEntry<K, BYTES>;
  const PathsTable<K>& g;
  Basket& bag;
  int64_t warp, warps;
  PathsSlot* next;                             // counters of the phase that is running
  K bound;
  unsigned shift;

  static GRB_DEVICE K sum(K d, K w) { return path_sum<K, REAL>(d, w); }
  // bound + step where bound < NONE; NONE where that is beyond the type.
  static GRB_DEVICE K raised(K bound, K step) {
    K s = sum(bound, step);
    if (REAL) {
      constexpr K infinity = sizeof(K) == 4 ? K(0x7f800000u) : K(0x7ff0000000000000ull);
      return s >= infinity ? NONE : s;
    }
    return s < bound ? NONE : s;
  }
  static GRB_DEVICE K doubled(K step) {
    if (REAL) return sum(step, step);
    return step > NONE / 2 ? NONE / 2 : K(2 * step);
  }

  // A vertex's `cuts`: how many entries are lighter than each class; all of them.
  struct Cuts {
    unsigned at[CLASSES];
    GRB_DEVICE int64_t all() const { return at[CLASSES - 1]; }
  };
  GRB_DEVICE Cuts cuts_of(int v) const {
    const uint4* from = reinterpret_cast<const uint4*>(g.cuts) + int64_t(v) * 2;
    uint4 a = from[0], b = from[1];
    return Cuts{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
  }
  // How many entries must be read so that none with d + w < limit is missed (limit NONE: all of them).
  GRB_DEVICE int64_t reach_below(const Cuts& cuts, K d, K limit) const {
    int64_t to = cuts.all();
    if (limit != NONE)
#pragma unroll
      for (int k = CLASSES - 2; k >= 0; k--)
        if (sum(d, K(g.classes[k])) >= limit) to = cuts.at[k];
    return to;
  }
  // How many entries surely have d + w < limit.
  GRB_DEVICE int64_t done_below(const Cuts& cuts, K d, K limit) const {
    int64_t from = 0;
#pragma unroll
    for (int k = 0; k < CLASSES - 1; k++) {
      K s = sum(d, K(g.classes[k]));
      if (REAL ? s < limit : s <= limit) from = cuts.at[k];
    }
    return from;
  }

  // ---- the lists: vertices gather in the block's basket and leave it with one atomic a block

  GRB_DEVICE void gather(bool take, int v, int32_t* list, word* count) {   // the warp calls together
    unsigned takers = __ballot_sync(ALL_LANES, take);
    if (!takers) return;
    int at = 0;
    if (lane_number() == 0) at = atomicAdd(&bag.count, __popc(takers));
    at = __shfl_sync(ALL_LANES, at, 0) + __popc(takers & lanes_below());
    bool over = take && at >= BASKET;
    if (take && !over) bag.vertex[at] = v;
    if (!__any_sync(ALL_LANES, over)) return;
    word place = warp_append(over, count);
    if (over) list[place] = v;
  }
  GRB_DEVICE void empty_basket(int32_t* list, word* count) {               // the block calls together
    __syncthreads();
    int held = bag.count < BASKET ? bag.count : BASKET;
    if (threadIdx.x == 0 && held) bag.base = atomicAdd(count, word(held));
    __syncthreads();
    for (int i = threadIdx.x; i < held; i += blockDim.x) list[bag.base + i] = bag.vertex[i];
    __syncthreads();
    if (threadIdx.x == 0) bag.count = 0;
    __syncthreads();
  }

  // ---- the queue: vertices with a stretch of their rows, edges numbered through

  // Each thread brings v with entries from .. to - 1 of its row (none: from = to).  The block calls together.
  GRB_DEVICE void enqueue(int v, K d, int64_t from, int64_t to) {
    int64_t degree = to - from;
    word mine = degree > 0 ? (word(1) << COUNT_SHIFT) + word(degree) : 0, sums = warp_sum_below(mine);
    int w = threadIdx.x >> 5, count = blockDim.x >> 5;
    if (lane_number() == 31) bag.sums[w] = sums;
    __syncthreads();
    if (w == 0) {
      word here = lane_number() < count ? bag.sums[lane_number()] : 0, upto = warp_sum_below(here);
      if (lane_number() < count) bag.sums[lane_number()] = upto - here;
      if (lane_number() == 31) bag.base = upto ? atomicAdd(&next->tail, upto) : 0;
    }
    __syncthreads();
    word at = bag.base + bag.sums[w] + sums - mine;
    int64_t place = at >> COUNT_SHIFT, begin = at & EDGES;
    int64_t c = (begin + CHUNK - 1) / CHUNK, last = mine ? (begin + degree - 1) / CHUNK : -1;
    if (mine) {
      g.stop[place] = begin + degree;
      g.base[place] = g.start[v] + from - begin;
      g.key[place] = d;
      if (last - c < 32)
        for (; c <= last; c++) g.chunk[c] = int32_t(place);
    }
    for (unsigned wide = __ballot_sync(ALL_LANES, last - c >= 32); wide; wide &= wide - 1) {
      int lane = __ffs(int(wide)) - 1;
      int64_t first = shuffle(c, lane), end = shuffle(last, lane);
      int32_t who = __shfl_sync(ALL_LANES, int32_t(place), lane);
      for (int64_t k = first + lane_number(); k <= end; k += 32) g.chunk[k] = who;
    }
    __syncthreads();
  }
  static GRB_DEVICE word warp_sum_below(word value) {   // lane k: the sum of lanes 0 .. k
    for (int by = 1; by < 32; by <<= 1) {
      word other = __shfl_up_sync(ALL_LANES, value, by);
      if (lane_number() >= by) value += other;
    }
    return value;
  }

  // The listed vertices, each with its row up to the bound; those that are new become active.
  GRB_DEVICE void number(int64_t listed, int32_t* active, int64_t held) {
    word explored = 0;
    for (int64_t i0 = int64_t(blockIdx.x) * blockDim.x; i0 < listed; i0 += thread_count()) {
      int64_t i = i0 + threadIdx.x, to = 0;
      bool have = i < listed, fresh_one = false;
      int v = 0;
      K d = 0;
      if (have) {
        v = fresh(g.list + i);
        d = fresh(g.dist + v);
        Cuts cuts = cuts_of(v);
        to = reach_below(cuts, d, bound);
        unsigned bit = 1u << (v & 31);
        atomicAnd(&g.waiting[v >> 5], ~bit);
        if (bound != NONE) fresh_one = !(atomicOr(&g.entered[v >> 5], bit) & bit);
        if (fresh_one) explored += cuts.all();
      }
      if (bound != NONE) gather(fresh_one, v, active + held, &next->active);
      enqueue(v, d, 0, to);
    }
    if (bound == NONE) return;
    for (int by = 16; by; by >>= 1) explored += __shfl_down_sync(ALL_LANES, explored, by);
    if (lane_number() == 0 && explored) atomicAdd(&bag.explored, explored);
    empty_basket(active + held, &next->active);
    if (threadIdx.x == 0 && bag.explored) {
      atomicAdd(&next->explored, bag.explored);
      bag.explored = 0;
    }
  }

  // The active vertices, each with the stretch of its row between `before` and the bound; those with more stay active.
  GRB_DEVICE void advance(const int32_t* active, int64_t count, int32_t* kept, K before) {
    for (int64_t i0 = int64_t(blockIdx.x) * blockDim.x; i0 < count; i0 += thread_count()) {
      int64_t i = i0 + threadIdx.x, from = 0, to = 0;
      bool have = i < count, stays = false;
      int v = 0;
      K d = 0;
      if (have) {
        v = fresh(active + i);
        d = fresh(g.dist + v);
        Cuts cuts = cuts_of(v);
        from = done_below(cuts, d, before);
        to = reach_below(cuts, d, bound);
        // where the last class was entered, its heaviest entry says whether all of it lies below the bound
        stays = bound != NONE && cuts.all() > 0 &&
                (to < cuts.all() || sum(d, static_cast<const Entry*>(g.out)[g.start[v + 1] - 1].weight(shift)) >= bound);
      }
      gather(stays, v, kept, &next->active);
      enqueue(v, d, from, to);
    }
    empty_basket(kept, &next->active);
  }

  // Relax the queue's edges; whoever is improved to less than the bound is listed.
  GRB_DEVICE void relax(int64_t count, int64_t edges) {
    constexpr int STEPS = CHUNK / 32;
    const Entry* out = static_cast<const Entry*>(g.out);
    int64_t chunks = (edges + CHUNK - 1) / CHUNK;
    int lane = lane_number();
    for (int64_t c = warp; c < chunks; c += warps) {
      int64_t at[STEPS];
      K cand[STEPS];
      int near[STEPS];
      bool take[STEPS];
      int64_t p = fresh(g.chunk + c), e0 = c * CHUNK, my_stop = 0, my_base = 0;
      K my_key = 0;
      bool stale = true;
#pragma unroll
      for (int k = 0; k < STEPS; k++, e0 += 32) {
        if (stale) {                             // the queue from the owner of edge e0 on: a lane each
          bool there = p + lane < count;
          my_stop = there ? fresh(g.stop + p + lane) : edges + 64;
          my_base = there ? fresh(g.base + p + lane) : 0;
          my_key = there ? fresh(g.key + p + lane) : 0;
        }
        unsigned ended = __reduce_or_sync(ALL_LANES, my_stop < e0 + 32 ? 1u << (my_stop - e0) : 0u);
        int owner = __popc(ended & ((2u << lane) - 1));
        int64_t e = e0 + lane, begin = shuffle(my_base, owner);
        cand[k] = shuffle(my_key, owner);
        at[k] = e < edges ? begin + e : -1;
        int passed = __popc(__ballot_sync(ALL_LANES, my_stop <= e0 + 32));
        stale = passed > 0;
        p += passed;
      }
#pragma unroll
      for (int k = 0; k < STEPS; k++) {
        near[k] = -1;
        if (at[k] >= 0) {
          Entry entry = out[at[k]];
          near[k] = entry.column(shift);
          cand[k] = sum(cand[k], entry.weight(shift));
        }
      }
#pragma unroll
      for (int k = 0; k < STEPS; k++)
        take[k] = near[k] >= 0 && cand[k] < bound && cand[k] < fresh(g.dist + near[k]);
#pragma unroll
      for (int k = 0; k < STEPS; k++)
        take[k] = take[k] && atomicMin(&g.dist[near[k]], cand[k]) > cand[k];
#pragma unroll
      for (int k = 0; k < STEPS; k++)
        take[k] = take[k] && claim(g.waiting, near[k]);
#pragma unroll
      for (int k = 0; k < STEPS; k++) gather(take[k], near[k], g.list, &next->listed);
    }
    empty_basket(g.list, &next->listed);
  }

  // ---- pull: vertices at or above `settled` look along their rows for d(u) + w < d(v), where only u with d(u) >= low matter

  GRB_DEVICE K warp_least(K value) {
    for (int by = 16; by; by >>= 1) {
      K other = __shfl_xor_sync(ALL_LANES, value, by);
      value = other < value ? other : value;
    }
    return value;
  }
  GRB_DEVICE void pull(K settled, K low, bool listing) {
    constexpr int ALONE = 16;
    const Entry* in = static_cast<const Entry*>(g.in);
    int lane = lane_number();
    for (int64_t group = warp; group < (g.n + 31) >> 5; group += warps) {
      int64_t v = group * 32 + lane;
      K had = v < g.n ? fresh(g.dist + v) : K(0), best = had;
      bool open = v < g.n && had >= settled, late = false;
      if (!__any_sync(ALL_LANES, open)) continue;
      if (open) {
        int64_t i = g.in_start[v], end = g.in_start[v + 1], alone = end - i > ALONE ? i + ALONE : end;
        bool further = true;
        for (; further && i < alone; i += 4) {
          K w[4], d[4];
#pragma unroll
          for (int k = 0; k < 4; k++) {
            Entry entry = in[i + k < end ? i + k : end - 1];
            w[k] = entry.weight(shift);
            d[k] = fresh(g.dist + entry.column(shift));
          }
#pragma unroll
          for (int k = 0; k < 4; k++)
            if (d[k] != NONE) {
              K cand = sum(d[k], w[k]);
              best = cand < best ? cand : best;
            }
          further = best == NONE || sum(low, w[3]) < best;
        }
        late = further && i < end;
      }
      for (unsigned lanes = __ballot_sync(ALL_LANES, late); lanes; lanes &= lanes - 1) {
        int who = __ffs(int(lanes)) - 1;
        int64_t u = group * 32 + who, end = g.in_start[u + 1];
        K least = shuffle(best, who);
        for (int64_t i = g.in_start[u] + ALONE; i < end; i += 32) {
          int64_t at = i + lane < end ? i + lane : end - 1;
          Entry entry = in[at];
          K w = entry.weight(shift), d = fresh(g.dist + entry.column(shift)), cand = d == NONE ? NONE : sum(d, w);
          cand = warp_least(cand);
          least = cand < least ? cand : least;
          w = shuffle(w, 31);
          if (least != NONE && sum(low, w) >= least) break;
        }
        if (lane == who) best = least;
      }
      bool better = open && best < had;
      if (better) g.dist[v] = best;
      if (listing) gather(better && claim(g.waiting, int(v)), int(v), g.list, &next->listed);
    }
    if (listing) empty_basket(g.list, &next->listed);
  }
};

enum RoundKind { RELAXED = 0, RAISED = 1, PULLED = 2, PULLED_AGAIN = 3 };

// delta: how far the bound is raised (a key; NONE: no bound at all); growth: is the step doubled at every stage?
// alpha: pull when the stretches of the next stage times alpha are more than the edges of what is not reached; 0: never.
template <class K, int BYTES, bool REAL, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
shortest_paths(const word* table, int64_t source, choose<REAL, K, word>* distance, word* words, int64_t* record,
               int64_t log_rows, int64_t delta, int64_t growth, int64_t alpha) {
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
    return PathsSlot{fresh(&slot->tail), fresh(&slot->listed), fresh(&slot->active), fresh(&slot->explored), {}};
  };
  auto note = [&](int64_t kind, int64_t frontier, int64_t edges) {
    if (first_thread && row < log_rows) {
      int64_t* line = record + HEAD_ROWS + STAGE_NUMBERS * row;
      line[0] = frontier, line[1] = kind, line[2] = edges, line[3] = clock64(), line[4] = int64_t(paths.bound);
    }
    row++;
  };

  if (first_thread) record[0] = 0, record[2] = nanoseconds();
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
  for (;;) {
    bool improved = fixpoint();
    if (paths.bound == NONE || !active) break;
    settled = paths.bound;
    step = growth || !improved ? Search::doubled(step) : K(delta);
    for (;;) {                                   // raise the bound until a stretch of some row lies below it
      paths.bound = Search::raised(paths.bound, step);
      begin_phase();
      paths.advance(which ? g.active1 : g.active0, active, which ? g.active0 : g.active1, settled);
      PathsSlot seen = end_phase();
      which ^= 1;
      count = seen.tail >> COUNT_SHIFT, edges = seen.tail & EDGES;
      active = seen.active;
      if (count || !active) break;
      step = Search::doubled(step);
    }
    if (!count) break;
    listed = 0;
    note(RAISED, active, edges);
    if (alpha && edges * alpha > g.entries - explored) {
      paths.bound = NONE;
      note(PULLED, active, g.entries - explored);
      begin_phase();
      paths.pull(settled, K(0), false);
      end_phase();
      note(PULLED_AGAIN, active, g.entries - explored);
      begin_phase();
      paths.pull(settled, settled, true);
      listed = end_phase().listed;
      count = 0;
      if (!listed) break;
    }
  }

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
    record[1] = row;
    record[3] = nanoseconds();
    record[4] = clock64();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&control->departures, 1u) == gridDim.x - 1) {
      control->arrivals = control->departures = 0;
      for (int k = 0; k < 3; k++) control->slot[k] = PathsSlot{};
    }
  }
}

}  // namespace grb
