// Breadth-first search over ranks, each with the rows of its own vertices, in one launch on each rank's device.
//
// Algorithm: 1D partition; a level is pushed or pulled (Beamer, Asanovic, Patterson, SC 2012) by all ranks alike.
//   push   each rank expands its own frontier and sets bits of the targets in `next` of the ranks that own them
//   pull   each rank searches the rows of its own unvisited vertices for a neighbour in `frontier`, which it has whole
//   settle each rank takes the new ones of its `next`, writes their level, and its words of `frontier` to all ranks
// The ranks meet after each: the grid's barrier, then arrivals in each other's windows, then the grid's again.
// Of the counts that a settle gives, every rank sends its own to all, so that all decide alike.
//
// Caller: backends/cuda/graph/bfs_ranks.py.  Launch: cooperative, on all ranks at about the same time.
// Window, a rank's memory that the others' devices can write to: a line of ARRIVAL_WORDS for each rank, whose first
// word is the number of the last meeting that rank came to (the rank's own: at which it is), then halves (distributed/
// peers.py), of which one is lent to the launch: the frontier of all vertices, `next` of the rank's own, counts.
// Paper: Buluc and Madduri, "Parallel breadth-first search on distributed memory systems" (SC 2011), section 3.1.
#pragma once
#include "graph/level_loop.cuh"
#include "graph/pull.cuh"

namespace grb {

#ifdef SIMT_CPU
constexpr int RANK_HUB = 64, RANK_HUBS = 4;
#else
constexpr int RANK_HUB = 1 << 12;       // edges from which on a vertex is expanded by the whole grid
constexpr int RANK_HUBS = 1 << 10;      // of a level that are listed; the others are expanded by a warp each
#endif
constexpr int RANK_ROW_OF_LANE = 32;    // entries of a row that a lane searches alone
constexpr int ARRIVAL_WORDS = 32;       // 128 bytes: what two devices write lies in different sectors

GRB_DEVICE void arrive(unsigned* flag, unsigned number) {
#ifdef SIMT_CPU
  __threadfence();
  atomicExch(flag, number);
#else
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(number) : "memory");
#endif
}
GRB_DEVICE unsigned arrived(unsigned* flag) {
#ifdef SIMT_CPU
  unsigned found = atomicAdd(flag, 0u);
  __threadfence();
#else
  unsigned found;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(found) : "l"(flag) : "memory");
#endif
  return found;
}

struct RankSlot { word found, edges, hubs; };
struct RankControl {
  using Slot = RankSlot;
  unsigned arrivals, departures;
  word stopped;
  RankSlot slot[3];
};

template <class P> struct RankGraph {   // every field has 8 bytes
  const P* out_start; const int32_t* out; const P* in_start; const int32_t* in;   // own rows
  const int32_t* near;                  // the first in-neighbour of own vertices, -1 where there is none
  const word* live;                     // own vertices with in-edges
  word *visited, *front, *sent;         // own words, own words, words of all vertices
  int32_t* hubs;
  RankControl* control;
  const int64_t* starts;                // of the ranks' vertices; multiples of 64
  int64_t next_words, size, rank, pulls;   // pulls: are in-edges there?
};

template <class P> struct RankSearch {
  const RankGraph<P>& g;
  LevelLoop<RankControl> loop;
  const uint64_t* windows;              // addresses
  int64_t offset;                       // of the half that is lent
  const uint64_t* stop;                 // a word of the host that ends waits when it is not 0
  int64_t first, words, all_words;
  unsigned meetings;

  GRB_DEVICE word* window(int rank) const { return reinterpret_cast<word*>(windows[rank] + offset); }
  GRB_DEVICE word* frontier(int rank) const { return window(rank); }
  GRB_DEVICE word* next(int rank) const { return window(rank) + all_words; }
  GRB_DEVICE word* counts(int rank) const { return window(rank) + all_words + g.next_words; }
  GRB_DEVICE unsigned* arrivals(int64_t at, int64_t of) const {
    return reinterpret_cast<unsigned*>(windows[at]) + of * ARRIVAL_WORDS;
  }

  // All ranks' writes before it are seen by all ranks after it.  False where a rank does not come.
  // counted: this rank's counts, sent to the others, who had read those before when they came to the last meeting.
  GRB_DEVICE bool meet(const RankSlot* counted = nullptr) {
    __threadfence_system();
    loop.barrier();
    meetings++;
    if (blockIdx.x == 0) {
      for (int64_t r = threadIdx.x; r < g.size; r += blockDim.x) {
        if (counted != nullptr) {
          word* to = counts(int(r)) + 2 * g.rank;
          to[0] = counted->found, to[1] = counted->edges;
        }
        if (r != g.rank) arrive(arrivals(r, g.rank), meetings);
      }
      __syncthreads();
      for (int64_t r = threadIdx.x; r < g.size; r += blockDim.x) {
        if (r == g.rank) continue;
        while (int(arrived(arrivals(g.rank, r)) - meetings) < 0) {
          if (*reinterpret_cast<const volatile uint64_t*>(stop) != 0) {
            atomicExch(&g.control->stopped, word(1));
            break;
          }
          __nanosleep(40);
        }
      }
    }
    level_barrier<false>(&g.control->arrivals, loop.goal);
    return load_l2(&g.control->stopped) == 0;
  }

  GRB_DEVICE int owner(int64_t v) const {
    int r = 0;
    while (v >= g.starts[r + 1]) r++;
    return r;
  }

  // Tell v's owner, unless this rank has told it before.
  GRB_DEVICE void tell(int v) {
    const word bit = word(1) << (v & 63);
    word* mine = g.sent + (v >> 6);
    if (load_l2(mine) & bit) return;
    if (atomicOr(mine, bit) & bit) return;
    const int r = owner(v);
    word* to = next(r) + ((int64_t(v) - g.starts[r]) >> 6);
    atomicOr_system(to, bit);
  }

  GRB_DEVICE void push(int64_t hubs) {
    const int lane = lane_number();
    if (hubs > RANK_HUBS) hubs = RANK_HUBS;
    for (int64_t h = 0; h < hubs; h++) {
      const int v = load_l2(g.hubs + h);
      const P begin = g.out_start[v], end = g.out_start[v + 1];
      GRB_EACH(k, int64_t(end - begin)) tell(g.out[begin + k]);
    }
    const int64_t groups = (words + 31) >> 5;
    for (int64_t group = spread_warp(); group < groups; group += spread_warps()) {
      const int64_t at = group * 32 + lane;
      const word mine = at < words ? load_l2(g.front + at) : 0;
      for_each_lane(mine != 0, [&](int turn) {
        const int64_t base = (group * 32 + turn) * 64;
        for (word bits = shuffle(mine, turn); bits; bits &= bits - 1) {
          const int64_t v = base + __ffsll((long long)(bits)) - 1;
          const P begin = g.out_start[v], end = g.out_start[v + 1];
          if (end - begin >= RANK_HUB && hubs < RANK_HUBS) continue;
          for (P k = begin + lane; k < end; k += 32) tell(g.out[k]);
        }
      });
    }
  }

  // A warp searches 128 vertices at once, four a lane.  Their first neighbours lie together; most rows end with these.
  GRB_DEVICE void pull() {
    const int lane = lane_number();
    const word* old = frontier(int(g.rank));
    word* mine = next(int(g.rank));
    auto is_old = [&](int u) { return old[u >> 6] >> (u & 63) & 1; };
    const int64_t groups = (words + 63) >> 6;
    for (int64_t group = spread_warp(); group < groups; group += spread_warps()) {
      const int64_t at = group * 64 + 2 * lane;
      const word open0 = at < words ? ~load_l2(g.visited + at) : 0;
      const word open1 = at + 1 < words ? ~load_l2(g.visited + at + 1) : 0;
      for_each_lane((open0 | open1) != 0, [&](int turn) {
        const word todo[2] = {shuffle(open0, turn), shuffle(open1, turn)};
        const int64_t w = group * 64 + 2 * turn;
        int near[4];
        unsigned hits = 0, rest = 0, late = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
          const bool is_open = todo[k >> 1] >> ((k & 1) * 32 + lane) & 1;
          near[k] = is_open ? g.near[w * 64 + k * 32 + lane] : -1;
        }
#pragma unroll
        for (int k = 0; k < 4; k++)
          if (near[k] >= 0) (is_old(near[k]) ? hits : rest) |= 1u << k;
        for (; rest; rest &= rest - 1) {
          const int64_t v = w * 64 + (__ffs(int(rest)) - 1) * 32 + lane;
          const P begin = g.in_start[v] + 1, end = g.in_start[v + 1];
          const P alone = end - begin > RANK_ROW_OF_LANE ? P(begin + RANK_ROW_OF_LANE) : end;
          int who = 0;
          if (first_match(g.in, begin, alone, who, is_old)) hits |= rest & -rest;
          else if (alone < end) late |= rest & -rest;
        }
        __syncwarp();
        for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, late != 0)) != 0;) {
          const int whose = __ffs(int(lanes)) - 1;
          const unsigned bit = __shfl_sync(ALL_LANES, late & -late, whose);
          const int64_t v = w * 64 + (__ffs(int(bit)) - 1) * 32 + whose;
          int who = 0;
          const P begin = g.in_start[v] + 1 + RANK_ROW_OF_LANE, end = g.in_start[v + 1];
          const bool hit = first_match_by_warp(g.in, begin, end, who, is_old);
          if (lane == whose) {
            late &= late - 1;
            if (hit) hits |= bit;
          }
        }
        unsigned found[4];
#pragma unroll
        for (int k = 0; k < 4; k++) found[k] = __ballot_sync(ALL_LANES, hits >> k & 1);
        if (lane == 0 && (found[0] | found[1])) mine[w] = word(found[0]) | word(found[1]) << 32;
        if (lane == 0 && (found[2] | found[3])) mine[w + 1] = word(found[2]) | word(found[3]) << 32;
      });
    }
  }

  GRB_DEVICE void settle(RankSlot* counters, int32_t* level, int depth) {
    const int lane = lane_number();
    word* mine = next(int(g.rank));
    word count = 0, edges = 0;
    const int64_t groups = (words + 31) >> 5;
    for (int64_t group = spread_warp(); group < groups; group += spread_warps()) {
      const int64_t at = group * 32 + lane;
      word fresh = 0;
      if (at < words) {
        const word came = load_l2(mine + at), seen = load_l2(g.visited + at), before = load_l2(g.front + at);
        fresh = came & ~seen;
        if (fresh) g.visited[at] = seen | fresh;
        if (fresh != before) {
          g.front[at] = fresh;
          for (int64_t r = 0; r < g.size; r++) frontier(int(r))[(first >> 6) + at] = fresh;
        }
        count += __popcll(fresh);
      }
      for_each_lane(fresh != 0, [&](int turn) {
        const word bits = shuffle(fresh, turn);
        for (int half = 0; half < 2; half++) {
          if (!(bits >> (half * 32 + lane) & 1)) continue;
          const int64_t v = (group * 32 + turn) * 64 + half * 32 + lane;
          level[v] = depth;
          const word degree = word(g.out_start[v + 1] - g.out_start[v]);
          edges += degree;
          if (degree >= RANK_HUB) {
            const word k = atomicAdd(&counters->hubs, word(1));
            if (k < RANK_HUBS) g.hubs[k] = int(v);
          }
        }
      });
    }
    count = warp_sum(count), edges = warp_sum(edges);
    if (lane == 0 && count) atomicAdd(&counters->found, count);
    if (lane == 0 && edges) atomicAdd(&counters->edges, edges);
  }
};

template <class P>
__global__ void __launch_bounds__(1024, 1)
bfs_of_ranks(const word* graph, const uint64_t* windows, int64_t offset, int64_t entries, int64_t source,
             int64_t max_level, int64_t alpha, int32_t* level, word* present, int64_t* record, int64_t record_levels,
             const uint64_t* stop) {
  const RankGraph<P>& g = *reinterpret_cast<const RankGraph<P>*>(graph);
  const int64_t first = g.starts[g.rank], own = g.starts[g.rank + 1] - first;
  RankSearch<P> search{g, {g.control}, windows, offset, stop, first, (own + 63) >> 6, (g.starts[g.size] + 63) >> 6, 0};
  search.meetings = load_l2(search.arrivals(g.rank, g.rank));
  const RunRecord<> run{record, record_levels};
  const int rank = int(g.rank);
  if (is_first_thread()) run.start(), record[7] = 0;
  GRB_EACH(i, search.all_words) search.frontier(rank)[i] = 0, g.sent[i] = 0;
  GRB_EACH(i, g.next_words) search.next(rank)[i] = 0;
  GRB_EACH(i, search.words) {
    g.visited[i] = ~g.live[i];
    g.front[i] = 0;
  }
  const bool is_mine = source >= first && source < first + own;
  const int64_t at = source - first;
  bool going = search.meet();            // all windows are empty
  if (is_mine && is_first_thread()) {
    const word bit = word(1) << (at & 63);
    search.next(rank)[at >> 6] = bit;
    g.visited[at >> 6] &= ~bit;
  }
  search.loop.barrier();
  int64_t depth = 0, reached = 0, explored = 0;
  bool pulled = false;
  while (going) {
    RankSlot* counters = search.loop.begin();
    search.settle(counters, level, int(depth));
    const RankSlot* counted = search.loop.end();
    const int64_t hubs = int64_t(load_l2(&counted->hubs));
    going = search.meet(counted);
    word found = 0, edges = 0;
    for (int64_t r = 0; r < g.size; r++) {
      found += load_l2(search.counts(rank) + 2 * r);
      edges += load_l2(search.counts(rank) + 2 * r + 1);
    }
    if (!going || found == 0) break;
    reached += int64_t(found), explored += int64_t(edges);
    if (is_first_thread()) run.level(depth, int64_t(found), pulled, int64_t(edges));
    depth++;
    if (depth > max_level) break;
    pulled = g.pulls && int64_t(edges) * alpha > entries - explored;  // of all ranks
    if (pulled) search.pull(); else search.push(hubs);
    going = search.meet();
  }
  word mine = 0;
  GRB_EACH(i, search.words) {
    word bits = load_l2(g.visited + i) & g.live[i];
    if (is_mine && i == at >> 6) bits |= word(1) << (at & 63);
    present[i] = bits;
    mine += __popcll(bits);
  }
  mine = warp_sum(mine);
  if (lane_number() == 0 && mine) atomicAdd(reinterpret_cast<word*>(record) + 7, mine);
  if (is_first_thread()) run.finish(reached, depth);
  if (search.loop.leave()) {
    g.control->stopped = 0;
    *search.arrivals(g.rank, g.rank) = search.meetings;
  }
}

}  // namespace grb
