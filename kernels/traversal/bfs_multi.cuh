// Up to 64 breadth-first traversals at once: bit s of a vertex's word belongs to source s.
//
// Result, vertices in the order of traversal/bfs_multi_prepare.cuh: seen[p] (a word), cells: the level + 1 of each source in binary, four bits
// (words) a vertex side by side, further groups of four n x 4 words on; written where seen[p] is not 0, with `fill` zero
// where it is.
// told, where the host looks meanwhile: how many pairs of source and vertex there are in all.
// Who calls: backends/cuda/traversal/bfs_multi.py.  Launch `many_levels` cooperatively.
// Each source chooses its own direction (sources far from the hubs would keep all others from leaving rows early).  A level:
//   1. pushed: frontier words are spread over out-edges, by atomics on `next`; pulled: long rows gather words of in-neighbours,
//      several lanes a piece of a row, until every source that pulls and misses the vertex is there: of hubs, which 16 bits
//      name, then of the rest.  Barrier.
//   2. all vertices, a lane each: what 1. left in `next`, short rows pulled, seen, cells, counts.  Barrier.
// Once few vertices are left, all of short rows, these are listed and no level looks at others.
// The words of the first vertices, the hubs, lie in shared memory while rows are pulled: half of all gathers end there.  Where
// sources that push have many edges of hubs, those are pulled (nothing but the hubs of rows is read) and the rest pushed: for all
// sources where the rest has few edges.
// Invariant: `now` holds the frontier's words; `next` is zero before a level, `spare` is made zero for the next one.
// Reference: Then et al., "The more the merrier: efficient multi-source graph traversal" (VLDB 2014).
#pragma once
#include "traversal/bfs_multi_prepare.cuh"
#include "traversal/state.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int LIST_SHARE = 4;              // listed when fewer than 1/4 of the vertices are left
constexpr int ROW_OF_LANE = 8;             // longer rows are pushed by eight lanes
constexpr int HUB_SHARE = 64;              // edges of hubs are pulled where they are more than 1/64 of all edges
// What a level counts: (vertex, source) found, edges of the vertices, of the hubs among them, vertices that some source may still
// reach (those of long rows as many times as there are vertices), all by sums; and which sources found any.
enum Count { FOUND, EDGES_FOUND, OF_HUBS, LEFT, ALIVE, COUNTS };
struct ManyControl {
  unsigned arrivals, departures;
  word number[3][COUNTS], strong[3][64];
  int origins[64];
};

// Pieces of long rows whose word is not 0, up to four at a time, 8 to 32 lanes each: walk(row, later piece?, word, first entry
// of this lane, end, lanes), a lane WIDTH entries at a time.  ends(row, begin, end): where the row lies; word_of(row).
// The warp calls together, and all of its lanes walk.
template <class P, int WIDTH, class Ends, class Word, class Walk>
GRB_DEVICE void each_piece(const word* tasks, int64_t count, unsigned warp, unsigned warps, Ends ends, Word word_of, Walk walk) {
  const int lane = lane_number();
  for (unsigned t0 = warp; t0 < count; t0 += warps * 32) {
    unsigned t = t0 + lane * warps;
    word task = t < count ? tasks[t] : 0, bits = t < count ? word_of(int(unsigned(task))) : 0;
    P begin = 0, end = 0;
    if (bits) {
      ends(int(unsigned(task)), begin, end);
      begin += P(task >> 32) * TASK_EDGES;
      if (end - begin > TASK_EDGES) end = begin + TASK_EDGES;
    }
    for (unsigned left = __ballot_sync(ALL_LANES, bits != 0); left;) {
      const int digits = __popc(left) > 2 ? 3 : __popc(left) == 2 ? 4 : 5, lanes = 1 << digits;
      unsigned mine = left;
#pragma unroll
      for (int k = 0; k < 3; k++) mine = lane >> digits > k ? mine & (mine - 1) : mine;
#pragma unroll
      for (int k = 0; k < 4; k++) left &= left - 1;
      int who = mine ? __ffs(int(mine)) - 1 : 0;
      word theirs = shuffle(bits, who), what = shuffle(task, who);
      P i = shuffle(begin, who), stop = shuffle(end, who);
      walk(int(unsigned(what)), what >> 32 != 0, mine ? theirs : 0, i + (lane & (lanes - 1)) * WIDTH, mine ? stop : i, lanes);
      __syncwarp();
    }
  }
}

// Entries that are read once a level do not push words out of L1.
GRB_DEVICE int4 four(const int32_t* near) { return __ldcs(reinterpret_cast<const int4*>(near)); }
GRB_DEVICE uint4 eight(const uint16_t* near) { return __ldcs(reinterpret_cast<const uint4*>(near)); }
// A sector of 32 bytes; eight entries twice at the end of a row.
struct Sixteen {
  uint4 low, high;
  Sixteen() = default;
  template <class P> GRB_DEVICE Sixteen(const uint16_t* near, P k, P end) : low(eight(near + k)), high(low) {
    if (k + 8 < end) high = eight(near + k + 8);
  }
};

// The new bits of vertex v at level + 1 = value: its cell.  First: the vertex had none before.
GRB_DEVICE void write_cell(word* cells, int64_t n, int64_t v, word bits, unsigned value, bool first) {
  if (first) {
    ulonglong2* cell = reinterpret_cast<ulonglong2*>(cells) + 2 * v;
    cell[0] = make_ulonglong2(value & 1 ? bits : 0, value & 2 ? bits : 0);
    cell[1] = make_ulonglong2(value & 4 ? bits : 0, value & 8 ? bits : 0);
    value &= ~15u;
  }
  for (int g = 0; value; g++, value >>= 4) {
    word *cell = cells + (g * n + v) * 4, had[4];
#pragma unroll
    for (int d = 0; d < 4; d++) had[d] = value >> d & 1 ? cell[d] : 0;        // all are under way before one is needed
#pragma unroll
    for (int d = 0; d < 4; d++)
      if (value >> d & 1) cell[d] = had[d] | bits;
  }
}

template <class P>
__global__ void __launch_bounds__(1024)
many_levels(const P* out_start, const int32_t* out, const word* out_tasks, int64_t out_count, const P* in_start,
            const int32_t* in, const P* hub_start, const uint16_t* hub_near, const word* hub_tasks, int64_t hub_count,
            const word* rest_tasks, int64_t rest_count, const int32_t* place, const int32_t* degrees, int64_t n, int64_t live,
            int64_t entries, int64_t strong, int64_t strong_edges, int64_t hubs, const int32_t* sources, int64_t count,
            word* seen, word* now, word* next, word* spare, word* cells, void* counters, int64_t* record, int64_t* told,
            int64_t log_rows, int64_t max_level, int64_t direction, int64_t alpha, int64_t fill) {
  extern __shared__ word hub_words[];
  __shared__ word visited[64];                 // strong vertices' edges that each source has reached
  __shared__ unsigned tally[64], choice[2];
  __shared__ word pushed[2], parts[COUNTS][32];
  ManyControl* control = static_cast<ManyControl*>(counters);
  const int lane = lane_number();
  const unsigned warp = (threadIdx.x >> 5) * gridDim.x + blockIdx.x, warps = (blockDim.x >> 5) * gridDim.x;
  const word everyone = word_below(int(count));
  const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  unsigned goal = 0;
  int phase = 0;
  auto barrier = [&] { level_barrier(&control->arrivals, goal); };
  if (first_thread) record[2] = nanoseconds();
  const int source = thread_number() < count ? sources[thread_number()] : 0;         // in the host's memory: early, once
  GRB_EACH(v, n) {
    seen[v] = 0;
    if (v < live) now[v] = next[v] = spare[v] = 0;
  }
  barrier();
  if (thread_number() < count) {               // (a grid has 64 threads)
    const int s = int(thread_number()), v = place[source];
    control->origins[s] = v;
    atomicOr(&seen[v], word(1) << s);
    if (v < live) {
      atomicOr(&now[v], word(1) << s);
      atomicAdd(&control->number[0][EDGES_FOUND], word(degrees[v]));
    }
  }
  barrier();
  if (thread_number() < count) {
    const int v = place[source];
    write_cell(cells, n, v, fresh(seen + v), 1, true);
  }
  word edges = fresh(&control->number[0][EDGES_FOUND]), hub_edges = 0, frontier = word(count);
  word alive = everyone, left_over = word(live), fringes = 0;        // sources that go on; vertices that some of them miss
  int64_t reached = count, depth = 1;
  if (threadIdx.x < 64) visited[threadIdx.x] = 0;
  // What the threads counted, into the next level's numbers: an atomic for each block, as those of 4096 warps on one address take
  // several microseconds.  The block calls together.
  auto add_up = [&](const word (&mine)[COUNTS]) {
    const int number = threadIdx.x >> 5, all = blockDim.x >> 5;
    auto sum = [](word a, word b) { return a + b; };
    auto join = [](word a, word b) { return a | b; };
#pragma unroll
    for (int k = 0; k < COUNTS; k++) {
      const word part = k == ALIVE ? warp_reduce(mine[k], join) : warp_reduce(mine[k], sum);
      if (lane == 0) parts[k][number] = part;
    }
    __syncthreads();
    for (int k = number; k < COUNTS; k += all) {
      word part = lane < all ? parts[k][lane] : 0, *to = &control->number[(phase + 1) % 3][k];
      part = k == ALIVE ? warp_reduce(part, join) : warp_reduce(part, sum);
      if (lane == 0 && part) k == ALIVE ? atomicOr(to, part) : atomicAdd(to, part);
    }
  };
  auto number = [&](Count k) { return fresh(&control->number[phase % 3][k]); };
  auto clear_group = [&](unsigned value) {     // the first level that needs four more digits
    if (value >= 16 && !(value & (value - 1)) && !(__ffs(int(value)) - 1 & 3)) {
      word* group = cells + ((__ffs(int(value)) - 1) >> 2) * n * 4;
      GRB_EACH(k, n * 4) group[k] = 0;
    }
  };
  while (frontier > 0 && depth <= max_level && left_over * LIST_SHARE > word(live)) {
    // Who pulls: whose frontier has more than 1/alpha of the edges of strong vertices not reached yet.
    if (threadIdx.x < 64) {
      const int s = threadIdx.x;
      bool pull = direction == 1;
      word fringe = 0;
      if (direction < 0 && s < count) {
        int v = depth == 1 ? fresh(&control->origins[s]) : -1;
        fringe = depth > 1 ? fringes : v < strong ? word(degrees[v]) : 0;
        word known = visited[s] + fringe;
        visited[s] = known;
        pull = fringe * word(alpha) + known >= word(strong_edges) && edges * 4 > word(live);
      }
      unsigned half = __ballot_sync(ALL_LANES, pull);
      if (lane == 0) choice[s >> 5] = half;
      tally[s] = 0;
      fringe = warp_reduce(pull ? word(0) : fringe, [](word a, word b) { return a + b; });
      if (lane == 0) pushed[s >> 5] = fringe;
    }
    __syncthreads();
    const bool many_of_hubs = hub_edges * HUB_SHARE > word(entries);
    const bool hubs_only = many_of_hubs && (edges - hub_edges) * HUB_SHARE <= word(entries);
    const word pullers = hubs_only ? 0 : (word(choice[0]) | word(choice[1]) << 32) & everyone, pushers = everyone & ~pullers;
    const bool by_hubs = many_of_hubs && (hubs_only || (pushed[0] + pushed[1]) * HUB_SHARE > word(entries));
    const word gatherers = by_hubs ? everyone : pullers;
    const unsigned value = unsigned(depth + 1);
    if (first_thread) {
      log_level(record, log_rows, depth - 1, frontier, gatherers != 0, edges);
      int k = (phase + 2) % 3;                 // counted in by the level after this
      for (word& each : control->number[k]) each = 0;
    }
    if (blockIdx.x == 0 && threadIdx.x < 64) control->strong[(phase + 2) % 3][threadIdx.x] = 0;
    clear_group(value);
    const int held = by_hubs || edges * 16 > word(entries) ? int(hubs) : 0;    // words in shared memory
    if (gatherers && held) {
      const int some = held < live ? held : int(live);
#pragma unroll 8
      for (int k = threadIdx.x; k < some; k += blockDim.x) hub_words[k] = now[k];
      __syncthreads();
    }
    if (pushers) {
      auto spread = [&](word bits, P i) {
        const int4 d = four(out + i);
        word a = bits & ~fresh(next + d.x), b = bits & ~fresh(next + d.y), c = bits & ~fresh(next + d.z),
             e = bits & ~fresh(next + d.w);
        if (a) atomicOr(&next[d.x], a);
        if (b) atomicOr(&next[d.y], b);
        if (c) atomicOr(&next[d.z], c);
        if (e) atomicOr(&next[d.w], e);
      };
      const int64_t first = by_hubs ? hubs : 0;
      each_piece<P, 4>(out_tasks, out_count, warp, warps, [&](int v, P& i, P& end) { i = out_start[v], end = out_start[v + 1]; },
                       [&](int v) { return v < first ? 0 : now[v] & pushers; },
                       [&](int, bool, word bits, P i, P end, int lanes) {
                         for (; i < end; i += 4 * lanes) spread(bits, i);
                       });
      for (unsigned v0 = warp << 5; v0 < live; v0 += warps << 5) {
        const unsigned v = v0 + lane;
        const word bits = v < live && v >= first ? now[v] & pushers : 0;
        P i = 0, end = 0;
        if (bits) i = out_start[v], end = out_start[v + 1];
        const P size = end - i;
        const bool shared_out = size > ROW_OF_LANE && size <= SHORT_ROW;
        for (unsigned left = __ballot_sync(ALL_LANES, shared_out); left;) {   // four rows at a time
          unsigned mine = left;
#pragma unroll
          for (int k = 0; k < 3; k++) mine = lane >> 3 > k ? mine & (mine - 1) : mine;
#pragma unroll
          for (int k = 0; k < 4; k++) left &= left - 1;
          const int who = mine ? __ffs(int(mine)) - 1 : 0;
          const word theirs = shuffle(bits, who);
          const P begin = shuffle(i, who), stop = shuffle(end, who);
          for (P k = begin + 4 * (lane & 7); mine && k < stop; k += 32) spread(theirs, k);
        }
        if (size <= ROW_OF_LANE)
          for (; i < end; i += 4) spread(bits, i);
      }
    }
    auto of_hub = [&](unsigned v) { return held ? hub_words[v] : now[v]; };
    auto of_hubs = [&](const uint4& d) {
      const unsigned pair[4] = {d.x, d.y, d.z, d.w};
      word got = 0;
#pragma unroll
      for (int k = 0; k < 4; k++) got |= of_hub(pair[k] & 0xffff) | of_hub(pair[k] >> 16);
      return got;
    };
    auto of_rest = [&](const int4& d) { return now[d.x] | now[d.y] | now[d.z] | now[d.w]; };
    // A piece of a row by `lanes` lanes: load(i) gives WIDTH entries, words(them) what their vertices have.
    auto gather = [&](int v, bool later, word missing, P i, P end, int lanes, auto width, auto load, auto words) {
      decltype(load(i, end)) d{}, after{};
      if (i < end) d = load(i, end);
      if (later && missing) missing &= ~fresh(next + v);                      // an earlier piece may have found it
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
        for (int by = 1; by < lanes; by <<= 1) got |= __shfl_xor_sync(ALL_LANES, got, by);
      }
      got &= wanted;
      if (got && (lane & (lanes - 1)) == 0) atomicOr(&next[v], got);
    };
    if (gatherers) {                           // hubs first; one warp has a row's first piece of both
      each_piece<P, 16>(hub_tasks, hub_count, warp, warps,
                       [&](int v, P& i, P& end) { i = hub_start[v] & ~P(7), end = hub_start[v + 1] & ~P(7); },
                       [&](int v) { return gatherers & ~seen[v] & ~fresh(next + v); },
                       [&](int v, bool later, word missing, P i, P end, int lanes) {
                         gather(v, later, missing, i, end, lanes, 16, [&](P k, P end) { return Sixteen(hub_near, k, end); },
                                [&](const Sixteen& d) { return of_hubs(d.low) | of_hubs(d.high); });
                       });
      each_piece<P, 4>(rest_tasks, rest_count, warp, warps,
                       [&](int v, P& i, P& end) {
                         const P from = hub_start[v], hubs_there = (hub_start[v + 1] & ~P(7)) - (from & ~P(7)) - (from & 7);
                         i = in_start[v] + (hubs_there & ~P(3)), end = in_start[v + 1];
                       },
                       [&](int v) { return pullers & ~seen[v] & ~fresh(next + v); },
                       [&](int v, bool later, word missing, P i, P end, int lanes) {
                         gather(v, later, missing, i, end, lanes, 4, [&](P k, P) { return four(in + k); }, of_rest);
                       });
    }
    barrier();
    word found = 0, more = 0, more_of_hubs = 0, fresh_ones = 0, unfinished = 0;
    unsigned mine[2] = {0, 0};                 // strong vertices' edges that sources lane and lane + 32 have reached
    word have_then = everyone, left_then = 0;  // of the next turn: loaded while this one works
    P i_then = 0, end_then = 0, hub_then = 0, hubs_end_then = 0;
    auto load = [&](unsigned v) {
      have_then = v < live ? seen[v] : everyone;
      left_then = v < live ? fresh(next + v) : 0;
      if (gatherers && v < live) {
        i_then = in_start[v], end_then = in_start[v + 1];
        hub_then = hub_start[v], hubs_end_then = hub_start[v + 1];
      }
    };
    load((warp << 5) + lane);
    for (unsigned v0 = warp << 5; v0 < live; v0 += warps << 5) {
      const unsigned v = v0 + lane;
      const word have = have_then, left = left_then;
      const unsigned degree = v < live ? unsigned(degrees[v]) : 0;
      word got = left & ~have, missing = gatherers & ~(have | got);
      const bool is_long = end_then - i_then > SHORT_ROW;
      P i = i_then, end = end_then, h = hub_then & ~P(7), hubs_end = hubs_end_then & ~P(7);
      const P padding = hub_then & 7;
      if (is_long) missing = 0;
      uint4 d = make_uint4(0, 0, 0, 0), after = d;
      if (missing && h < hubs_end) d = eight(hub_near + h);
      load(v + (warps << 5));
      if (v < live) spare[v] = 0;
      const word wanted = missing;
      word near = 0;
      i += (hubs_end - h - padding) & ~P(3);
      while (h < hubs_end && missing & ~near) {
        h += 8;
        if (h < hubs_end) after = eight(hub_near + h);
        near |= of_hubs(d);
        d = after;
      }
      missing &= pullers;
      if (missing & ~near && i < end) {
        int4 e = four(in + i), later = e;
        while (i < end && missing & ~near) {
          i += 4;
          if (i < end) later = four(in + i);
          near |= of_rest(e);
          e = later;
        }
      }
      got |= near & wanted;
      if (got != left) next[v] = got;
      if (got) {
        seen[v] = have | got;
        write_cell(cells, n, v, got, value, have == 0);
        found += members(got);
        more += degree;
        more_of_hubs += v < hubs ? degree : 0;
        fresh_ones |= got;
      }
      if (alive & ~(have | got)) unfinished += is_long ? word(live) : 1;
      if (v0 < strong)
        for (unsigned some = __ballot_sync(ALL_LANES, got != 0); some; some &= some - 1) {
          int who = __ffs(int(some)) - 1;
          word theirs = shuffle(got, who);
          unsigned size = __shfl_sync(ALL_LANES, degree, who);
          if (theirs >> lane & 1) mine[0] += size;
          if (theirs >> (lane + 32) & 1) mine[1] += size;
        }
    }
    if (mine[0]) atomicAdd(&tally[lane], mine[0]);
    if (mine[1]) atomicAdd(&tally[lane + 32], mine[1]);
    add_up({found, more, more_of_hubs, unfinished, fresh_ones});
    if (threadIdx.x < 64 && tally[threadIdx.x])
      atomicAdd(&control->strong[(phase + 1) % 3][threadIdx.x], word(tally[threadIdx.x]));
    barrier();
    phase++;
    frontier = number(FOUND);
    edges = number(EDGES_FOUND);
    hub_edges = in_start == nullptr || direction >= 0 ? 0 : number(OF_HUBS);
    alive = number(ALIVE);
    left_over = gatherers ? number(LEFT) : word(live);
    fringes = threadIdx.x < 64 ? fresh(&control->strong[phase % 3][threadIdx.x]) : 0;
    reached += frontier;
    depth++;
    word* t = now;
    now = next;
    next = spare;
    spare = t;
  }
  // Few vertices are left, all of short rows: each warp keeps a list of its own (in `spare`), and they pull from what is seen.
  // `next` is zero; a level's new words wait there until nobody looks at `seen`.
  int listed = 0;
  int32_t* list = reinterpret_cast<int32_t*>(spare);
  auto place_of = [&](int j) { return ((warp + (unsigned(j) >> 5) * warps) << 5) + (j & 31); };
  auto keep = [&](int& kept, unsigned v, bool take) {
    const unsigned takers = __ballot_sync(ALL_LANES, take);
    if (take) list[place_of(kept + __popc(takers & lanes_below()))] = int32_t(v);
    kept += __popc(takers);
  };
  if (frontier > 0 && depth <= max_level)
    for (unsigned v0 = warp << 5; v0 < live; v0 += warps << 5)
      keep(listed, v0 + lane, v0 + lane < live && alive & ~seen[v0 + lane]);
  __syncwarp();
  for (; frontier > 0 && depth <= max_level; depth++) {
    if (first_thread) {
      log_level(record, log_rows, depth - 1, frontier, 1, edges);
      int k = (phase + 2) % 3;
      for (word& each : control->number[k]) each = 0;
    }
    const unsigned value = unsigned(depth + 1);
    for (int j = lane; j < listed; j += 32) {
      const int v = list[place_of(j)];
      const word missing = alive & ~seen[v];
      word got = 0;
      for (P i = in_start[v], end = in_start[v + 1]; i < end && missing & ~got; i += 4) {
        const int4 d = four(in + i);
        got |= seen[d.x] | seen[d.y] | seen[d.z] | seen[d.w];
      }
      next[v] = got & missing;
    }
    clear_group(value);
    barrier();
    word found = 0, more = 0, fresh_ones = 0;
    int kept = 0;
    for (int j0 = 0; j0 < listed; j0 += 32) {
      const int j = j0 + lane, v = j < listed ? list[place_of(j)] : 0;
      const word got = j < listed ? next[v] : 0, have = j < listed ? seen[v] : everyone;
      if (got) {
        next[v] = 0;
        seen[v] = have | got;
        write_cell(cells, n, v, got, value, have == 0);
        found += members(got);
        more += word(degrees[v]);
        fresh_ones |= got;
      }
      keep(kept, v, alive & ~(have | got));
    }
    listed = kept;
    __syncwarp();
    add_up({found, more, 0, 0, fresh_ones});
    barrier();
    phase++;
    frontier = number(FOUND);
    edges = number(EDGES_FOUND);
    alive = number(ALIVE);
    reached += frontier;
  }
  if (fill)
    GRB_EACH(v, live)
      if (!seen[v]) write_cell(cells, n, v, 0, 0, true);
  if (first_thread) {
    *static_cast<volatile int64_t*>(told) = reached;
    record[0] = reached;
    record[1] = depth - 1;
    record[3] = nanoseconds();
    record[4] = clock64();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&control->departures, 1u) == gridDim.x - 1) *control = ManyControl{};
  }
}

}  // namespace grb
