// Multi-source BFS (MS-BFS): up to 64 traversals in one launch; bit s of a vertex's word belongs to source s.
//
// Result, in the vertex order of graph/bfs_multi_prepare.cuh: visited[p], and bit-sliced level counters: level + 1
//   of each source in binary, four bits (words) of a vertex side by side, further groups of four n x 4 words on.  They
//   are written where visited[p] is not 0; with `fill` they are zero elsewhere.  *found (pinned host memory): pairs of
//   source and vertex.
// Algorithm: Then et al., "The more the merrier: efficient multi-source graph traversal" (VLDB 2014), sections 3 and 4
//   (aggregated neighbour processing, direction-optimising), with a direction for each source, because one source far
//   from the hubs that pulls keeps all others from leaving rows early.
// Phases of a level; a grid-wide barrier after the third and after the fourth:
//   choose_directions  a source pulls when its frontier has more than 1/alpha of the high-degree vertices' edges not
//                      explored
//   push               frontier words along out-edges, by atomicOr on `next`
//   pull_long_rows     words of in-neighbours, several lanes for each segment of a row, until every source that pulls
//                      and has not visited the vertex is found: first the hubs (named by 16 bits), then the rest of the
//                      row
//   update_vertices    a lane for each vertex: what is in `next`, short rows pulled, visited, level counters, counts
// When few vertices are left, all of them with short rows, the list of them is pulled instead (pull_listed,
// update_listed).
// Words of the first vertices, the hubs, are kept in shared memory while rows are pulled, because half of all reads end
//   there.  When the sources that push have many edges of hubs, the hubs are pulled (only the hub part of rows is read)
//   and the rest is pushed; for all sources when the rest has few edges.
// Launch: cooperative, 1024 threads a block, 8 * hubs bytes of shared memory (backends/cuda/graph/bfs_multi.py).
// Preconditions: the control block is all zero.  Invariant: `now` is the frontier; `next` is zero before a level, and
//   `spare` becomes zero for the next one.
#pragma once
#include "base/bits.cuh"
#include "graph/bfs_multi_rows.cuh"
#include "graph/level_loop.cuh"

namespace grb {

constexpr int LIST_SHARE = 4;              // listed when fewer than 1/4 of the vertices are left
constexpr int PUSH_ROW_OF_LANE = 8;        // longer rows are pushed by eight lanes
constexpr int HUB_SHARE = 64;              // edges of hubs are pulled when they are more than 1/64 of all edges
constexpr int GATHER_SHARE = 16;           // hubs are copied to shared memory from 1/16 of all edges on

// What a level counts: pairs of vertex and source; edges of the vertices; edges of the hubs among them; vertices that
// some source may still reach (a vertex of a long row counts n times); the union of the sources that found any.
enum MultiCount { PAIRS, EDGES_FOUND, HUB_EDGES, LEFT, ACTIVE, COUNTS };
struct MultiCounters {
  word number[COUNTS];
  word high_degree[64];                        // edges of high-degree vertices that each source reached
};
struct MultiControl {
  using Slot = MultiCounters;
  unsigned arrivals, departures;
  MultiCounters slot[3];
  int origins[64];
};

// Packed by backends/cuda/graph/bfs_multi.py in this order.
template <class P> struct MultiBfsArguments {              // every field has 8 bytes
  const P* out_start; const int32_t* out; const word* out_tasks; int64_t out_count;
  const P* in_start; const int32_t* in;                    // null: push only
  const P* hub_start; const uint16_t* hub_near; const word* hub_tasks; int64_t hub_count;
  const word* rest_tasks; int64_t rest_count;
  const int32_t *position, *degrees;                       // of each vertex in the new order; out-edges in that order
  int64_t n, live, entries;
  int64_t high_degree, high_degree_edges;                  // so many first vertices hold three quarters of the edges
  int64_t hubs;
  const int32_t* sources;                                  // in pinned host memory
  int64_t count;
  word *visited, *now, *next, *spare, *levels;
  MultiControl* control;
  int64_t *record, *found;
  int64_t record_levels, max_level, direction, alpha, fill;
};

struct MultiBlock {                                        // in shared memory
  word explored[64];                                       // high-degree vertices' edges that each source has reached
  unsigned tally[64], pulls[2];
  word pushed[2], parts[COUNTS][32];
};

// Vertex v gets `bits` at level + 1 = value.  first: v had no source before.
GRB_DEVICE void set_level(word* levels, int64_t n, int64_t v, word bits, unsigned value, bool first) {
  if (first) {
    ulonglong2* counter = reinterpret_cast<ulonglong2*>(levels) + 2 * v;
    counter[0] = make_ulonglong2(value & 1 ? bits : 0, value & 2 ? bits : 0);
    counter[1] = make_ulonglong2(value & 4 ? bits : 0, value & 8 ? bits : 0);
    value &= ~15u;
  }
  for (int g = 0; value; g++, value >>= 4) {
    word *counter = levels + (g * n + v) * 4, had[4];
#pragma unroll
    for (int d = 0; d < 4; d++) had[d] = value >> d & 1 ? counter[d] : 0;   // all loads before the first use
#pragma unroll
    for (int d = 0; d < 4; d++)
      if (value >> d & 1) counter[d] = had[d] | bits;
  }
}

template <class P> struct MultiBfs {
  const MultiBfsArguments<P>& a;
  MultiBlock& block;
  word* hub_words;                             // shared memory
  LevelLoop<MultiControl> loop;
  unsigned warp, warps;
  word *now, *next, *spare;
  MultiCounters* counters;                     // of the level that is made
  int64_t depth;
  word frontier, edges, hub_edges;             // pairs in the frontier; edges of its vertices; of the hubs among them
  word active, left;                           // sources that go on; vertices that some of them miss
  word source_edges;                           // thread s < 64: edges of high-degree vertices in source s's frontier
  // Of this level: sources that pull, that push, that are gathered from rows; are hubs pulled for those that push?;
  // words in shared memory.
  word pullers, pushers, gatherers;
  bool hubs_pulled;
  int cached;

  GRB_DEVICE word everyone() const { return word_below(int(a.count)); }
  GRB_DEVICE unsigned value() const { return unsigned(depth + 1); }            // what the level counters get

  // ---- counting

  // What the threads counted, into the level's counters: one atomic a block, because those of 4096 warps on one address
  // take several microseconds.  The block calls together.
  GRB_DEVICE void add_up(const word (&mine)[COUNTS]) {
    const int lane = lane_number(), number = threadIdx.x >> 5, all = blockDim.x >> 5;
    auto sum = [](word p, word q) { return p + q; };
    auto join = [](word p, word q) { return p | q; };
#pragma unroll
    for (int k = 0; k < COUNTS; k++) {
      const word part = k == ACTIVE ? warp_reduce(mine[k], join) : warp_reduce(mine[k], sum);
      if (lane == 0) block.parts[k][number] = part;
    }
    __syncthreads();
    for (int k = number; k < COUNTS; k += all) {
      word part = lane < all ? block.parts[k][lane] : 0, *to = &counters->number[k];
      part = k == ACTIVE ? warp_reduce(part, join) : warp_reduce(part, sum);
      if (lane == 0 && part) k == ACTIVE ? atomicOr(to, part) : atomicAdd(to, part);
    }
  }
  // The first level that needs four more digits clears their group of counters.
  GRB_DEVICE void clear_digits() {
    const unsigned v = value();
    if (v >= 16 && !(v & (v - 1)) && !(__ffs(int(v)) - 1 & 3)) {
      word* group = a.levels + ((__ffs(int(v)) - 1) >> 2) * a.n * 4;
      GRB_EACH(k, a.n * 4) group[k] = 0;
    }
  }

  // ---- phases

  GRB_DEVICE void start() {
    const int source = thread_number() < a.count ? a.sources[thread_number()] : 0;   // host memory: read early, once
    GRB_EACH(v, a.n) {
      a.visited[v] = 0;
      if (v < a.live) now[v] = next[v] = spare[v] = 0;
    }
    loop.barrier();
    if (thread_number() < a.count) {           // a grid has at least 64 threads
      const int s = int(thread_number()), v = a.position[source];
      a.control->origins[s] = v;
      atomicOr(&a.visited[v], word(1) << s);
      if (v < a.live) {
        atomicOr(&now[v], word(1) << s);
        atomicAdd(&a.control->slot[0].number[EDGES_FOUND], word(a.degrees[v]));
      }
    }
    const MultiCounters* counted = loop.end();
    if (thread_number() < a.count) {
      const int v = a.position[source];
      set_level(a.levels, a.n, v, load_l2(a.visited + v), 1, true);
    }
    edges = load_l2(&counted->number[EDGES_FOUND]), hub_edges = 0, frontier = word(a.count);
    active = everyone(), left = word(a.live), source_edges = 0;
    if (threadIdx.x < 64) block.explored[threadIdx.x] = 0;
  }

  GRB_DEVICE void choose_directions() {
    if (threadIdx.x < 64) {
      const int s = threadIdx.x;
      bool pull = a.direction == 1;
      word mine = 0;
      if (a.direction < 0 && s < a.count) {
        int v = depth == 1 ? load_l2(&a.control->origins[s]) : -1;
        mine = depth > 1 ? source_edges : v < a.high_degree ? word(a.degrees[v]) : 0;
        word explored = block.explored[s] + mine;
        block.explored[s] = explored;
        pull = mine * word(a.alpha) + explored >= word(a.high_degree_edges) && edges * 4 > word(a.live);
      }
      unsigned half = __ballot_sync(ALL_LANES, pull);
      if (lane_number() == 0) block.pulls[s >> 5] = half;
      block.tally[s] = 0;
      mine = warp_reduce(pull ? word(0) : mine, [](word p, word q) { return p + q; });
      if (lane_number() == 0) block.pushed[s >> 5] = mine;
    }
    __syncthreads();
    const bool many_of_hubs = hub_edges * HUB_SHARE > word(a.entries);
    const bool hubs_only = many_of_hubs && (edges - hub_edges) * HUB_SHARE <= word(a.entries);
    pullers = hubs_only ? 0 : (word(block.pulls[0]) | word(block.pulls[1]) << 32) & everyone();
    pushers = everyone() & ~pullers;
    hubs_pulled = many_of_hubs && (hubs_only || (block.pushed[0] + block.pushed[1]) * HUB_SHARE > word(a.entries));
    gatherers = hubs_pulled ? everyone() : pullers;
  }

  GRB_DEVICE void cache_hubs() {
    cached = hubs_pulled || edges * GATHER_SHARE > word(a.entries) ? int(a.hubs) : 0;
    if (gatherers && cached) {
      const int some = cached < a.live ? cached : int(a.live);
#pragma unroll 8
      for (int k = threadIdx.x; k < some; k += blockDim.x) hub_words[k] = now[k];
      __syncthreads();
    }
  }

  GRB_DEVICE void push_four(word bits, P i) {
    const int4 d = load_four(a.out + i);
    word p = bits & ~load_l2(next + d.x), q = bits & ~load_l2(next + d.y), r = bits & ~load_l2(next + d.z),
         s = bits & ~load_l2(next + d.w);
    if (p) atomicOr(&next[d.x], p);
    if (q) atomicOr(&next[d.y], q);
    if (r) atomicOr(&next[d.z], r);
    if (s) atomicOr(&next[d.w], s);
  }
  GRB_DEVICE void push() {
    const int lane = lane_number();
    const int64_t first = hubs_pulled ? a.hubs : 0, live = a.live;
    for_each_segment<P, 4>(a.out_tasks, a.out_count, warp, warps,
                           [&](int v, P& i, P& end) { i = a.out_start[v], end = a.out_start[v + 1]; },
                           [&](int v) { return v < first ? 0 : now[v] & pushers; },
                           [&](int, bool, word bits, P i, P end, int lanes) {
                             for (; i < end; i += 4 * lanes) push_four(bits, i);
                           });
    for (unsigned v0 = warp << 5; v0 < live; v0 += warps << 5) {
      const unsigned v = v0 + lane;
      const word bits = v < live && v >= first ? now[v] & pushers : 0;
      P i = 0, end = 0;
      if (bits) i = a.out_start[v], end = a.out_start[v + 1];
      const P size = end - i;
      const bool by_eight = size > PUSH_ROW_OF_LANE && size <= SHORT_ROW;
      for (unsigned rows = __ballot_sync(ALL_LANES, by_eight); rows;) {        // four rows at a time, eight lanes each
        unsigned mine = rows;
#pragma unroll
        for (int k = 0; k < 3; k++) mine = lane >> 3 > k ? mine & (mine - 1) : mine;
#pragma unroll
        for (int k = 0; k < 4; k++) rows &= rows - 1;
        const int who = mine ? __ffs(int(mine)) - 1 : 0;
        const word theirs = shuffle(bits, who);
        const P begin = shuffle(i, who), stop = shuffle(end, who);
        for (P k = begin + 4 * (lane & 7); mine && k < stop; k += 32) push_four(theirs, k);
      }
      if (size <= PUSH_ROW_OF_LANE)
        for (; i < end; i += 4) push_four(bits, i);
    }
  }

  GRB_DEVICE word word_of_hub(unsigned v) { return cached ? hub_words[v] : now[v]; }
  GRB_DEVICE word words_of_hubs(const uint4& d) {
    const unsigned pair[4] = {d.x, d.y, d.z, d.w};
    word got = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) got |= word_of_hub(pair[k] & 0xffff) | word_of_hub(pair[k] >> 16);
    return got;
  }
  GRB_DEVICE word words_of_rest(const int4& d) { return now[d.x] | now[d.y] | now[d.z] | now[d.w]; }

  // A segment by `lanes` lanes, until no bit is missing: load(i, end) gives `width` entries, words(them) their union.
  template <class Load, class Words>
  GRB_DEVICE void pull_segment(int v, bool is_later, word missing, P i, P end, int lanes, int width, Load load,
                               Words words) {
    decltype(load(i, end)) d{}, after{};
    if (i < end) d = load(i, end);
    if (is_later && missing) missing &= ~load_l2(next + v);                    // an earlier segment may have found it
    const word wanted = missing;
    word got = 0;
    while (__any_sync(ALL_LANES, i < end && missing & ~got)) {
      const bool look = i < end && missing & ~got;
      i += width * lanes;
      if (look) {
        if (i < end) after = load(i, end);
        got |= words(d);
        d = after;
      }
      got = union_of_group(got, lanes);
    }
    got &= wanted;
    if (got && (lane_number() & (lanes - 1)) == 0) atomicOr(&next[v], got);
  }
  GRB_DEVICE void pull_long_rows() {           // the same warp has the first segment of a row's hubs and of its rest
    for_each_segment<P, 16>(
      a.hub_tasks, a.hub_count, warp, warps,
      [&](int v, P& i, P& end) { i = a.hub_start[v] & ~P(7), end = a.hub_start[v + 1] & ~P(7); },
      [&](int v) { return gatherers & ~a.visited[v] & ~load_l2(next + v); },
      [&](int v, bool is_later, word missing, P i, P end, int lanes) {
        pull_segment(v, is_later, missing, i, end, lanes, 16, [&](P k, P stop) { return Sector(a.hub_near, k, stop); },
                     [&](const Sector& d) { return words_of_hubs(d.low) | words_of_hubs(d.high); });
      });
    for_each_segment<P, 4>(
      a.rest_tasks, a.rest_count, warp, warps,
      [&](int v, P& i, P& end) {
        const P from = a.hub_start[v], hubs_there = (a.hub_start[v + 1] & ~P(7)) - (from & ~P(7)) - (from & 7);
        i = a.in_start[v] + (hubs_there & ~P(3)), end = a.in_start[v + 1];
      },
      [&](int v) { return pullers & ~a.visited[v] & ~load_l2(next + v); },
      [&](int v, bool is_later, word missing, P i, P end, int lanes) {
        pull_segment(v, is_later, missing, i, end, lanes, 4, [&](P k, P) { return load_four(a.in + k); },
                     [&](const int4& d) { return words_of_rest(d); });
      });
  }

  // What a lane reads of its next vertex while it works on this one.
  struct Ahead {
    word have, got;
    P i, end, hub, hub_end;
  };
  GRB_DEVICE void load_ahead(Ahead& ahead, unsigned v) {
    ahead.have = v < a.live ? a.visited[v] : everyone();
    ahead.got = v < a.live ? load_l2(next + v) : 0;
    if (gatherers && v < a.live) {
      ahead.i = a.in_start[v], ahead.end = a.in_start[v + 1];
      ahead.hub = a.hub_start[v], ahead.hub_end = a.hub_start[v + 1];
    }
  }
  GRB_DEVICE void update_vertices() {
    const int lane = lane_number();
    const int64_t live = a.live;
    word found = 0, more = 0, more_of_hubs = 0, fresh_ones = 0, unfinished = 0;
    unsigned mine[2] = {0, 0};                 // high-degree vertices' edges that sources lane, lane + 32 have reached
    Ahead ahead{everyone(), 0, 0, 0, 0, 0};
    load_ahead(ahead, (warp << 5) + lane);
    for (unsigned v0 = warp << 5; v0 < live; v0 += warps << 5) {
      const unsigned v = v0 + lane;
      const word have = ahead.have, found_before = ahead.got;
      const unsigned degree = v < live ? unsigned(a.degrees[v]) : 0;
      word got = found_before & ~have, missing = gatherers & ~(have | got);
      const bool is_long = ahead.end - ahead.i > SHORT_ROW;
      P i = ahead.i, end = ahead.end, h = ahead.hub & ~P(7), hubs_end = ahead.hub_end & ~P(7);
      const P padding = ahead.hub & 7;
      if (is_long) missing = 0;
      uint4 d = make_uint4(0, 0, 0, 0), after = d;
      if (missing && h < hubs_end) d = load_eight(a.hub_near + h);
      load_ahead(ahead, v + (warps << 5));
      if (v < live) spare[v] = 0;
      const word wanted = missing;
      word near = 0;
      i += (hubs_end - h - padding) & ~P(3);
      while (h < hubs_end && missing & ~near) {
        h += 8;
        if (h < hubs_end) after = load_eight(a.hub_near + h);
        near |= words_of_hubs(d);
        d = after;
      }
      missing &= pullers;
      if (missing & ~near && i < end) {
        int4 e = load_four(a.in + i), later = e;
        while (i < end && missing & ~near) {
          i += 4;
          if (i < end) later = load_four(a.in + i);
          near |= words_of_rest(e);
          e = later;
        }
      }
      got |= near & wanted;
      if (got != found_before) next[v] = got;
      if (got) {
        a.visited[v] = have | got;
        set_level(a.levels, a.n, v, got, value(), have == 0);
        found += members(got);
        more += degree;
        more_of_hubs += v < a.hubs ? degree : 0;
        fresh_ones |= got;
      }
      if (active & ~(have | got)) unfinished += is_long ? word(live) : 1;
      if (v0 < a.high_degree)
        for_each_lane(got != 0, [&](int who) {
          word theirs = shuffle(got, who);
          unsigned size = __shfl_sync(ALL_LANES, degree, who);
          if (theirs >> lane & 1) mine[0] += size;
          if (theirs >> (lane + 32) & 1) mine[1] += size;
        });
    }
    if (mine[0]) atomicAdd(&block.tally[lane], mine[0]);
    if (mine[1]) atomicAdd(&block.tally[lane + 32], mine[1]);
    add_up({found, more, more_of_hubs, unfinished, fresh_ones});
    if (threadIdx.x < 64 && block.tally[threadIdx.x])
      atomicAdd(&counters->high_degree[threadIdx.x], word(block.tally[threadIdx.x]));
  }
  GRB_DEVICE void end_level() {
    const MultiCounters* counted = loop.end();
    frontier = load_l2(&counted->number[PAIRS]);
    edges = load_l2(&counted->number[EDGES_FOUND]);
    hub_edges = a.in_start == nullptr || a.direction >= 0 ? 0 : load_l2(&counted->number[HUB_EDGES]);
    active = load_l2(&counted->number[ACTIVE]);
    left = gatherers ? load_l2(&counted->number[LEFT]) : word(a.live);
    source_edges = threadIdx.x < 64 ? load_l2(&counted->high_degree[threadIdx.x]) : 0;
    word* before = now;
    now = next;
    next = spare;
    spare = before;
  }

  // ---- few vertices are left, all of short rows: each warp keeps a list of its own, in `spare`

  GRB_DEVICE unsigned index_of(int j) const { return ((warp + (unsigned(j) >> 5) * warps) << 5) + (j & 31); }
  GRB_DEVICE void keep(int32_t* list, int& kept, unsigned v, bool take) {
    const unsigned takers = __ballot_sync(ALL_LANES, take);
    if (take) list[index_of(kept + rank_in(takers))] = int32_t(v);
    kept += __popc(takers);
  }
  GRB_DEVICE int list_vertices(int32_t* list) {
    int listed = 0;
    for (unsigned v0 = warp << 5; v0 < a.live; v0 += warps << 5)
      keep(list, listed, v0 + lane_number(), v0 + lane_number() < a.live && active & ~a.visited[v0 + lane_number()]);
    __syncwarp();
    return listed;
  }
  // They pull from what is visited.  New words wait in `next`, which is zero, until no thread reads `visited`.
  GRB_DEVICE void pull_listed(const int32_t* list, int listed) {
    for (int j = lane_number(); j < listed; j += 32) {
      const int v = list[index_of(j)];
      const word missing = active & ~a.visited[v];
      word got = 0;
      for (P i = a.in_start[v], end = a.in_start[v + 1]; i < end && missing & ~got; i += 4) {
        const int4 d = load_four(a.in + i);
        got |= a.visited[d.x] | a.visited[d.y] | a.visited[d.z] | a.visited[d.w];
      }
      next[v] = got & missing;
    }
  }
  GRB_DEVICE int update_listed(int32_t* list, int listed) {
    word found = 0, more = 0, fresh_ones = 0;
    int kept = 0;
    for (int j0 = 0; j0 < listed; j0 += 32) {
      const int j = j0 + lane_number(), v = j < listed ? list[index_of(j)] : 0;
      const word got = j < listed ? next[v] : 0, have = j < listed ? a.visited[v] : everyone();
      if (got) {
        next[v] = 0;
        a.visited[v] = have | got;
        set_level(a.levels, a.n, v, got, value(), have == 0);
        found += members(got);
        more += word(a.degrees[v]);
        fresh_ones |= got;
      }
      keep(list, kept, v, active & ~(have | got));
    }
    __syncwarp();
    add_up({found, more, 0, 0, fresh_ones});
    return kept;
  }
};

template <class P> __global__ void __launch_bounds__(1024) bfs_multi(MultiBfsArguments<P> a) {
  extern __shared__ word multi_hub_words[];
  __shared__ MultiBlock block;
  const RunRecord<> record{a.record, a.record_levels};
  if (is_first_thread()) record.start();
  MultiBfs<P> search{a, block, multi_hub_words, {a.control}, unsigned(spread_warp()), unsigned(spread_warps()),
                     a.now, a.next, a.spare, nullptr, 1};
  search.start();
  int64_t reached = a.count;
  auto goes_on = [&] { return search.frontier > 0 && search.depth <= a.max_level; };
  while (goes_on() && search.left * LIST_SHARE > word(a.live)) {
    search.choose_directions();
    if (is_first_thread()) record.level(search.depth - 1, search.frontier, search.gatherers != 0, search.edges);
    search.counters = search.loop.begin();
    search.clear_digits();
    search.cache_hubs();
    if (search.pushers) search.push();
    if (search.gatherers) search.pull_long_rows();
    search.loop.barrier();
    search.update_vertices();
    search.end_level();
    reached += search.frontier;
    search.depth++;
  }
  int32_t* list = reinterpret_cast<int32_t*>(search.spare);
  int listed = goes_on() ? search.list_vertices(list) : 0;
  for (; goes_on(); search.depth++) {
    if (is_first_thread()) record.level(search.depth - 1, search.frontier, 1, search.edges);
    search.counters = search.loop.begin();
    search.pull_listed(list, listed);
    search.clear_digits();
    search.loop.barrier();
    listed = search.update_listed(list, listed);
    const MultiCounters* counted = search.loop.end();
    search.frontier = load_l2(&counted->number[PAIRS]);
    search.edges = load_l2(&counted->number[EDGES_FOUND]);
    search.active = load_l2(&counted->number[ACTIVE]);
    reached += search.frontier;
  }
  if (a.fill)
    GRB_EACH(v, a.live)
      if (!a.visited[v]) set_level(a.levels, a.n, v, 0, 0, true);
  if (is_first_thread()) {
    *static_cast<volatile int64_t*>(a.found) = reached;
    record.finish(reached, search.depth - 1);
  }
  if (is_last_to_leave(&a.control->departures)) *a.control = MultiControl{};
}

}  // namespace grb
