// Breadth-first search over ranks, each with the rows of its own vertices, in one launch on each rank's device.
//
// Algorithm: 1D partition; a level is pushed or pulled by all ranks alike, as in graph/bfs.cuh, whose rule and whose
// search of a row (pull_four.cuh) these are.  Every rank has two sets of all vertices that are seen: `old`, with the
// last level, and the one that the next level makes of it; what is in one of them alone is the frontier.
//   push    each rank expands its own frontier and sets bits of the targets in `sent`,
//   send    writes the words with such bits into its box in the windows of the ranks that own them,
//   settle  and, when all have, takes the new ones of its boxes and writes their level
//   pull    each rank searches the rows of its own vertices that are not seen for one that is
// The last two write the words of own vertices that another set has on all ranks.  The ranks meet after each of the
// last three: the grid's barrier, then arrivals in each other's windows, then the grid's again.  Counts of found
// vertices and, unless they were pulled, of their edges go from each rank to all before a meeting, so that all decide
// alike.
//
// Caller: backends/cuda/graph/bfs_ranks.py.  Launch: cooperative, on all ranks at about the same time.
// Window, a rank's memory that the others' devices can write to: a line of ARRIVAL_WORDS for each rank, whose first
// word is the number of the last meeting that rank came to (the rank's own: at which it is), then halves (distributed/
// peers.py), of which one is lent to the launch: the two sets of all vertices, a box of each rank for the rank's own,
// two sets of counts, since one rank may send the next ones while another reads.
// Boxes and `sent` are zero between levels.  Bits of single vertices do not go from device to device: on two H200s a
// million of them in another's memory by atomics took 0.2 ms.
// Papers: Buluc and Madduri, "Parallel breadth-first search on distributed memory systems" (SC 2011), section 3.1;
//   Beamer, Asanovic, Patterson (SC 2012); push_pull_graphblas_icpp18, section 5.4 (seen vertices, not the frontier).
#pragma once
#include "graph/block_queue.cuh"
#include "graph/level_loop.cuh"
#include "graph/pull_four.cuh"

namespace grb {

#ifdef SIMT_CPU
constexpr int RANK_HUB = 64, RANK_HUBS = 4;
#else
constexpr int RANK_HUB = 1 << 12;       // edges from which on a vertex is expanded by the whole grid
constexpr int RANK_HUBS = 1 << 10;      // of a level that are listed; the others are expanded by a warp each
#endif
constexpr int64_t RANK_PUSH_SHARE = 4, RANK_FEW_LEFT = 8192, RANK_SMALL_FRONTIER = 16;  // as in graph/bfs.cuh
constexpr int RANK_BITS_OF_LANE = 16;   // new vertices of a word that a lane takes alone
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
  const int32_t *top_neighbour, *next_neighbours;   // of own vertices (bfs_prepare.cuh); null: no level is pulled
  const word* live;                     // own vertices with in-edges
  word* sent;                           // words of all vertices: what this rank's push has found
  int32_t* hubs;
  RankControl* control;
  const int64_t* starts;                // of the ranks' vertices; multiples of 64
  int64_t box_words, size, rank;
};

template <class P> struct RankSearch {
  const RankGraph<P>& g;
  LevelLoop<RankControl> loop;
  BlockTally& found;
  int32_t* level;
  const uint64_t* windows;              // addresses
  int64_t offset;                       // of the half that is lent
  const uint64_t* stop;                 // a word of the host that ends waits when it is not 0
  int64_t first, words, all_words;
  unsigned meetings, counted;           // counted: meetings with counts in this launch
  int side;                             // the set of seen vertices that is `old`

  GRB_DEVICE word* window(int64_t rank) const { return reinterpret_cast<word*>(windows[rank] + offset); }
  GRB_DEVICE word* seen(int64_t rank, int set) const { return window(rank) + set * all_words; }
  GRB_DEVICE word* box(int64_t rank, int64_t of) const { return window(rank) + 2 * all_words + of * g.box_words; }
  GRB_DEVICE word* counts(int64_t rank) const { return box(rank, g.size) + (counted & 1) * 2 * g.size; }
  GRB_DEVICE unsigned* arrivals(int64_t at, int64_t of) const {
    return reinterpret_cast<unsigned*>(windows[at]) + of * ARRIVAL_WORDS;
  }

  // All ranks' writes before it are seen by all ranks after it.  False where a rank does not come.
  // made: this rank's counts, sent to the others.
  GRB_DEVICE bool meet(const RankSlot* made = nullptr) {
    __syncthreads();
    if (threadIdx.x == 0) __threadfence_system();      // of what the block has written, too
    loop.barrier();
    meetings++;
    if (blockIdx.x == 0) {
      for (int64_t r = threadIdx.x; r < g.size; r += blockDim.x) {
        if (made != nullptr) {
          word* to = counts(r) + 2 * g.rank;
          to[0] = made->found, to[1] = made->edges;
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

  // The counts of all ranks, added: (found, edges).
  GRB_DEVICE void add_counts(int64_t& all_found, int64_t& all_edges) {
    all_found = all_edges = 0;
    for (int64_t r = 0; r < g.size; r++) {
      all_found += int64_t(load_l2(counts(g.rank) + 2 * r));
      all_edges += int64_t(load_l2(counts(g.rank) + 2 * r + 1));
    }
    counted++;
  }

  // Own word w of the set that this level makes: to all ranks, unless it is there from the last but one.
  GRB_DEVICE void give(int64_t w, word bits) {
    const int64_t at = (first >> 6) + w;
    if (load_l2(seen(g.rank, side ^ 1) + at) == bits) return;
    for (int64_t r = 0; r < g.size; r++) seen(r, side ^ 1)[at] = bits;
  }

  GRB_DEVICE void tell(const word* old, int v) {
    const word bit = word(1) << (v & 63);
    word* mine = g.sent + (v >> 6);
    if ((load_l2(old + (v >> 6)) | load_l2(mine)) & bit) return;
    atomicOr(mine, bit);
  }

  // Own words of `sent` stay for settle.
  GRB_DEVICE void send() {
    for (int64_t r = 0; r < g.size; r++) {
      if (r == g.rank) continue;
      word *from = g.sent + (g.starts[r] >> 6), *to = box(r, g.rank);
      GRB_EACH(i, (g.starts[r + 1] - g.starts[r] + 63) >> 6) {
        const word bits = load_l2(from + i);
        if (bits) to[i] = bits, from[i] = 0;
      }
    }
  }

  // hubs: how many there are, of which RANK_HUBS are listed; -1: not known, none is.
  GRB_DEVICE void push(int64_t hubs) {
    const int lane = lane_number();
    const word *old = seen(g.rank, side), *before = seen(g.rank, side ^ 1);
    const bool listed = hubs >= 0 && hubs < RANK_HUBS;
    for (int64_t h = 0; h < hubs && h < RANK_HUBS; h++) {
      const int v = load_l2(g.hubs + h);
      const P begin = g.out_start[v], end = g.out_start[v + 1];
      GRB_EACH(k, int64_t(end - begin)) tell(old, g.out[begin + k]);
    }
    const int64_t groups = (words + 31) >> 5, at0 = first >> 6;
    for (int64_t group = spread_warp(); group < groups; group += spread_warps()) {
      const int64_t at = group * 32 + lane;
      const word mine = at < words ? load_l2(old + at0 + at) & ~load_l2(before + at0 + at) : 0;
      for_each_lane(mine != 0, [&](int turn) {
        const int64_t base = (group * 32 + turn) * 64;
        for (word bits = shuffle(mine, turn); bits; bits &= bits - 1) {
          const int64_t v = base + __ffsll((long long)(bits)) - 1;
          const P begin = g.out_start[v], end = g.out_start[v + 1];
          if (end - begin >= RANK_HUB && listed) continue;
          for (P k = begin + lane; k < end; k += 32) tell(old, g.out[k]);
        }
      });
    }
  }

  GRB_DEVICE void pull(RankSlot* counters, int depth) {
    const int lane = lane_number();
    const word* own = seen(g.rank, side) + (first >> 6);
    const unsigned* old = reinterpret_cast<const unsigned*>(seen(g.rank, side));
    word count = 0;
    const int64_t groups = (words + 1) >> 1, warps = spread_warps();
    const int span = groups >= 3 * warps ? 4 : groups >= warps ? 2 : 1;      // groups whose words are read together
    auto reach = [&](int v, int) { level[v] = depth; };
    auto leaves = [](int, int64_t) { return false; };
    for (int64_t begin = spread_warp() * span; begin < groups; begin += warps * span) {
      const int64_t w = 2 * (begin + lane);
      word had[2] = {0, 0}, open[2] = {0, 0};
#pragma unroll
      for (int k = 0; k < 2; k++)
        if (lane < span && w + k < words) had[k] = load_l2(own + w + k), open[k] = g.live[w + k] & ~had[k];
      for_each_lane((open[0] | open[1]) != 0, [&](int turn) {
        const word low = shuffle(open[0], turn), high = shuffle(open[1], turn);
        const unsigned todo[4] = {unsigned(low), unsigned(low >> 32), unsigned(high), unsigned(high >> 32)};
        Four four{int((begin + turn) << 7) + lane, 0, 0};
        search_by_lane(g, old, todo, four, reach);
        __syncwarp();
        search_by_warp(g, old, begin + turn, four, leaves, reach);
        unsigned fresh[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
          fresh[k] = __ballot_sync(ALL_LANES, four.hits >> k & 1);
          count += __popc(fresh[k]);
        }
        if (lane == turn) {
          had[0] |= word(fresh[0]) | word(fresh[1]) << 32;
          had[1] |= word(fresh[2]) | word(fresh[3]) << 32;
        }
      });
#pragma unroll
      for (int k = 0; k < 2; k++)
        if (lane < span && w + k < words) give(w + k, had[k]);
    }
    add_found(counters, count, lane == 0);
  }

  GRB_DEVICE void settle(RankSlot* counters, int depth) {
    const int lane = lane_number();
    word* mine = g.sent + (first >> 6);
    const word* old = seen(g.rank, side) + (first >> 6);
    word count = 0, edges = 0;
    auto take = [&](int64_t v) {
      level[v] = depth;
      edges += enter(counters, v);
    };
    const int64_t groups = (words + 31) >> 5;
    for (int64_t group = spread_warp(); group < groups; group += spread_warps()) {
      const int64_t at = group * 32 + lane;
      word fresh = 0;
      if (at < words) {
        word came = load_l2(mine + at);
        if (came) mine[at] = 0;
        for (int64_t r = 0; r < g.size; r++) {
          if (r == g.rank) continue;
          word* from = box(g.rank, r) + at;
          const word bits = load_l2(from);
          if (bits) *from = 0;
          came |= bits;
        }
        const word had = load_l2(old + at);
        fresh = came & ~had;
        give(at, had | fresh);
        count += __popcll(fresh);
      }
      const bool is_dense = __popcll(fresh) > RANK_BITS_OF_LANE;
      for (word bits = is_dense ? 0 : fresh; bits; bits &= bits - 1) take(at * 64 + __ffsll((long long)(bits)) - 1);
      __syncwarp();
      for_each_lane(is_dense, [&](int turn) {
        const word bits = shuffle(fresh, turn);
        for (int half = 0; half < 2; half++)
          if (bits >> (half * 32 + lane) & 1) take((group * 32 + turn) * 64 + half * 32 + lane);
      });
    }
    edges = warp_sum(edges);
    if (lane == 0 && edges) atomicAdd(&counters->edges, edges);
    add_found(counters, count, true);
  }

  // The edges of an own vertex that is to be expanded; a hub is listed.
  GRB_DEVICE word enter(RankSlot* counters, int64_t v) {
    const word degree = word(g.out_start[v + 1] - g.out_start[v]);
    if (degree >= RANK_HUB && load_l2(&counters->hubs) < RANK_HUBS) {      // of very many most need no atomic
      const word k = atomicAdd(&counters->hubs, word(1));
      if (k < RANK_HUBS) g.hubs[k] = int(v);
    }
    return degree;
  }

  // The block calls together.
  GRB_DEVICE void add_found(RankSlot* counters, word count, bool adds) {
    if (adds && count) found.add(count);
    __syncthreads();
    if (threadIdx.x == 0) found.flush(&counters->found);
  }
};

template <class P>
__global__ void __launch_bounds__(1024, 1)
bfs_of_ranks(const word* graph, const uint64_t* windows, int64_t offset, int64_t entries, int64_t source,
             int64_t max_level, int64_t alpha, int32_t* level, word* present, int64_t* record, int64_t record_levels,
             const uint64_t* stop) {
  __shared__ BlockTally found;
  __shared__ RankGraph<P> g;
  load_table(g, graph);
  const int64_t n = g.starts[g.size], first = g.starts[g.rank], own = g.starts[g.rank + 1] - first, rank = g.rank;
  RankSearch<P> search{g, {g.control}, found, level, windows, offset, stop, first, (own + 63) >> 6, (n + 63) >> 6, 0, 0,
                       0};
  search.meetings = load_l2(search.arrivals(rank, rank));
  const RunRecord<> run{record, record_levels};
  if (threadIdx.x == 0) found.reset();
  if (is_first_thread()) run.start(), record[7] = 0;
  __syncthreads();

  RankSlot* counters = search.loop.begin();
  GRB_EACH(i, 2 * search.all_words + g.size * g.box_words) search.window(rank)[i] = 0;
  word count = 0;
  GRB_EACH(i, search.all_words) g.sent[i] = 0;
  GRB_EACH(i, search.words) count += __popcll(g.live[i]);
  search.add_found(counters, count, true);
  if (source >= first && source < first + own && is_first_thread()) {
    level[source - first] = 0;
    atomicAdd(&counters->edges, search.enter(counters, source - first));
  }
  const RankSlot* counted = search.loop.end();
  if (is_first_thread()) search.seen(rank, 0)[source >> 6] = word(1) << (source & 63);
  int64_t hubs = int64_t(load_l2(&counted->hubs));
  bool going = search.meet(counted);       // all windows are ready
  int64_t live, edges, frontier = 1, depth = 0, reached = 1, explored = 0;
  search.add_counts(live, edges);
  bool pulled = false;                     // the last level: its edges are not known then
  while (going && frontier > 0 && depth < max_level) {
    const int64_t left = live - reached;
    bool pull = false;
    if (g.top_neighbour != nullptr) {
      if (!pulled) pull = depth > 0 && edges * alpha > entries - explored && edges * RANK_SMALL_FRONTIER > n;
      else pull = !(frontier * RANK_PUSH_SHARE < left && left > RANK_FEW_LEFT);
      if (pulled && !pull) explored = entries - (entries / (live + 1) + 1) * left;     // estimated
    }
    if (is_first_thread()) run.level(depth, frontier, pull, pulled ? -1 : edges);
    depth++;
    if (!pull) {
      explored += edges;
      search.push(hubs);
      search.loop.barrier();
      search.send();
      going = search.meet();
      if (!going) break;
    }
    counters = search.loop.begin();
    if (pull) search.pull(counters, int(depth)); else search.settle(counters, int(depth));
    counted = search.loop.end();
    hubs = pull ? -1 : int64_t(load_l2(&counted->hubs));
    going = search.meet(counted);
    search.add_counts(frontier, edges);
    reached += frontier;
    search.side ^= 1;
    pulled = pull;
  }
  const word* seen = search.seen(rank, search.side) + (first >> 6);
  word mine = 0;
  GRB_EACH(i, search.words) {
    present[i] = load_l2(seen + i);
    mine += __popcll(present[i]);
  }
  mine = warp_sum(mine);
  if (lane_number() == 0 && mine) atomicAdd(reinterpret_cast<word*>(record) + 7, mine);
  if (is_first_thread()) run.finish(reached, depth);
  if (search.loop.leave()) {
    g.control->stopped = 0;
    *search.arrivals(rank, rank) = search.meetings;
  }
}

}  // namespace grb
