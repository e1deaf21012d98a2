// Up to 64 breadth-first traversals at once: bit s of a vertex's word belongs to source s.
//
// Result: seen[v] (a word a vertex), levels[v * 64 + s] where bit s of seen[v] is set; then rows of a matrix made of them.
// Who calls: backends/cuda/traverse_many.py.  Launch `many_levels` cooperatively.
// Threads: pull: a lane per vertex for the first entries of its row, the warp for what is left of long rows, with early exit
//   once every source that misses the vertex has reached it.  push: a warp per frontier vertex, long rows by all warps.
// Invariant: `now` holds the frontier's words, `next` is zero before a pushed level.
// Reference: Then et al., "The more the merrier: efficient multi-source graph traversal" (VLDB 2014).
#pragma once
#include "traverse_state.cuh"
#include "warp.cuh"

namespace grb {

struct ManyControl { unsigned arrivals, departures; word found[3], edges[3], rows[3]; };
constexpr int ROW_ALONE = 64, ROW_OF_WARP = 2048;

template <class P>
__global__ void __launch_bounds__(1024)
many_levels(const P* out_start, const int32_t* out, const P* in_start, const int32_t* in, int64_t n, int64_t entries,
            const int32_t* sources, int64_t count, word* seen, word* now, word* next, int32_t* long_rows, int32_t* levels,
            void* counters, int64_t* record, int64_t log_rows, int64_t max_level, int64_t direction) {
  ManyControl* control = static_cast<ManyControl*>(counters);
  const int lane = lane_number();
  const int64_t warp = int64_t(threadIdx.x >> 5) * gridDim.x + blockIdx.x, warps = int64_t(blockDim.x >> 5) * gridDim.x;
  const word everyone = word_below(int(count));
  const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  unsigned goal = 0;
  int phase = 0;
  auto barrier = [&] { level_barrier(&control->arrivals, goal); };
  if (first_thread) record[2] = nanoseconds();
  GRB_EACH(v, n) seen[v] = now[v] = next[v] = 0;
  barrier();
  for (int64_t s = thread_number(); s < count; s += thread_count()) {
    int v = sources[s];
    atomicOr(&seen[v], word(1) << s);
    atomicOr(&now[v], word(1) << s);
    levels[int64_t(v) * 64 + s] = 0;
    atomicAdd(&control->edges[0], word(out_start[v + 1] - out_start[v]));
  }
  barrier();
  word edges = fresh(&control->edges[0]), frontier = word(count);
  int64_t reached = count, depth = 1;
  bool clean = true;                           // is `next` zero?
  // The levels of the new bits of 32 vertices, one each lane: 64 places a vertex, written by all lanes.
  auto write_levels = [&](int64_t v, word bits) {
    for (unsigned some = __ballot_sync(ALL_LANES, bits != 0); some; some &= some - 1) {
      int who = __ffs(int(some)) - 1;
      word theirs = shuffle(bits, who);
      int32_t* line = levels + shuffle(v, who) * 64;
      if (theirs >> lane & 1) line[lane] = int32_t(depth);
      if (theirs >> (lane + 32) & 1) line[lane + 32] = int32_t(depth);
    }
  };
  while (frontier > 0 && depth <= max_level) {
    bool pull = direction == 1 || (direction < 0 && in_start != nullptr && int64_t(edges) * 3 > entries);
    if (first_thread) {
      log_level(record, log_rows, depth - 1, frontier, pull, edges);
      int k = (phase + 2) % 3;                 // counted in by the next level
      control->found[k] = control->edges[k] = control->rows[k] = 0;
    }
    word found = 0, more = 0;
    if (pull) {
      for (int64_t v0 = warp * 32; v0 < n; v0 += warps * 32) {
        int64_t v = v0 + lane;
        word have = v < n ? seen[v] : everyone, todo = everyone & ~have, got = 0;
        P i = 0, end = 0;
        if (todo) i = in_start[v], end = in_start[v + 1];
        P alone = end - i > ROW_ALONE ? P(i + ROW_ALONE) : end;
        for (; i < alone && (got & todo) != todo; i += 8) {
          int near[8];
#pragma unroll
          for (int k = 0; k < 8; k++) near[k] = in[i + k < alone ? i + k : i];
#pragma unroll
          for (int k = 0; k < 8; k++) got |= now[near[k]];
        }
        i = alone;
        __syncwarp();
        for (unsigned late = __ballot_sync(ALL_LANES, i < end && (got & todo) != todo); late; late &= late - 1) {
          int who = __ffs(int(late)) - 1;
          P at = shuffle(i, who), stop = shuffle(end, who);
          word theirs = shuffle(got, who), wanted = shuffle(todo, who);
          for (; at < stop && (theirs & wanted) != wanted; at += 128) {
            int near[4];
#pragma unroll
            for (int k = 0; k < 4; k++) near[k] = at + lane + 32 * k < stop ? in[at + lane + 32 * k] : -1;
            word a = 0;
#pragma unroll
            for (int k = 0; k < 4; k++) a |= near[k] >= 0 ? now[near[k]] : 0;
            theirs |= word(__reduce_or_sync(ALL_LANES, unsigned(a))) |
                      word(__reduce_or_sync(ALL_LANES, unsigned(a >> 32))) << 32;
          }
          if (lane == who) got = theirs;
        }
        got &= todo;
        if (v < n) {
          next[v] = got;
          if (got) {
            seen[v] = have | got;
            found += members(got);
            more += word(out_start[v + 1] - out_start[v]);
          }
        }
        write_levels(v, got);
      }
    } else {
      if (!clean) {
        GRB_EACH(v, n) next[v] = 0;
        barrier();
      }
      auto spread = [&](word bits, P i, P end, P step) {
        for (; i < end; i += step) {
          int d = out[i];
          word news = bits & ~fresh(seen + d);
          if (news & ~fresh(next + d)) atomicOr(&next[d], news);
        }
      };
      for (int64_t v0 = warp * 32; v0 < n; v0 += warps * 32) {
        word bits = v0 + lane < n ? fresh(now + v0 + lane) : 0;
        for (unsigned some = __ballot_sync(ALL_LANES, bits != 0); some; some &= some - 1) {
          int who = __ffs(int(some)) - 1;
          word theirs = shuffle(bits, who);
          P i = out_start[v0 + who], end = out_start[v0 + who + 1];
          if (end - i > ROW_OF_WARP) {
            if (lane == 0) long_rows[atomicAdd(&control->rows[phase % 3], word(1))] = int32_t(v0 + who);
          } else {
            spread(theirs, P(i + lane), end, P(32));
          }
        }
      }
      barrier();
      int64_t rows = fresh(&control->rows[phase % 3]);
      for (int64_t k = 0; k < rows; k++) {
        int v = fresh(long_rows + k);
        P i = out_start[v], end = out_start[v + 1];
        spread(fresh(now + v), P(i + warp * 32 + lane), end, P(warps * 32));
      }
      if (rows) barrier();
      for (int64_t v0 = warp * 32; v0 < n; v0 += warps * 32) {
        int64_t v = v0 + lane;
        word got = v < n ? fresh(next + v) : 0;
        if (got) {
          seen[v] = fresh(seen + v) | got;
          found += members(got);
          more += word(out_start[v + 1] - out_start[v]);
        }
        if (v < n && fresh(now + v)) now[v] = 0;
        write_levels(v, got);
      }
    }
    found = warp_reduce(found, [](word a, word b) { return a + b; });
    more = warp_reduce(more, [](word a, word b) { return a + b; });
    if (lane == 0 && found) {
      atomicAdd(&control->found[(phase + 1) % 3], found);
      atomicAdd(&control->edges[(phase + 1) % 3], more);
    }
    barrier();
    phase++;
    frontier = fresh(&control->found[phase % 3]);
    edges = fresh(&control->edges[phase % 3]);
    reached += frontier;
    depth++;
    clean = !pull;
    word* t = now;
    now = next;
    next = t;
  }
  if (first_thread) {
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

// counts[s * tiles + t]: vertices of tile t (32 of them) that source s reached.  A warp for each tile.
template <class C>
__global__ void many_counts(const word* seen, int64_t n, int64_t tiles, int64_t count, C* counts) {
  GRB_EACH_WARP(t, tiles) {
    int64_t v = t * 32 + lane_number();
    word bits = v < n ? seen[v] : 0;
    int mine[2] = {0, 0};
    for (int s = 0; s < 64; s++) {
      int there = __popc(__ballot_sync(ALL_LANES, bits >> s & 1));
      if (lane_number() == (s & 31)) mine[s >> 5] = there;
    }
    if (lane_number() < count) counts[lane_number() * tiles + t] = mine[0];
    if (lane_number() + 32 < count) counts[(lane_number() + 32) * tiles + t] = mine[1];
  }
}

// Entries of the matrix: row s has the vertices that source s reached, with their levels.  ends = running sums of counts.
// A warp for each tile of 32 vertices; levels turn round in shared memory (a multiple of 33 words a row: no conflicts).
template <class C>
__global__ void many_rows(const word* seen, const int32_t* levels, int64_t n, int64_t tiles, int64_t count, const C* ends,
                          int32_t* indices, int32_t* values) {
  extern __shared__ int32_t turned[];
  int32_t* mine = turned + (threadIdx.x >> 5) * 64 * 33;
  const int lane = lane_number();
  GRB_EACH_WARP(t, tiles) {
    int64_t v = t * 32 + lane;
    word bits = v < n ? seen[v] : 0;
    for (int k = 0; k < 32 && t * 32 + k < n; k++) {
      const int32_t* line = levels + (t * 32 + k) * 64;
      mine[lane * 33 + k] = line[lane];
      mine[(lane + 32) * 33 + k] = line[lane + 32];
    }
    __syncwarp();
    for (int s = 0; s < count; s++) {
      unsigned there = __ballot_sync(ALL_LANES, bits >> s & 1);
      if (!there) continue;
      int64_t at = s * tiles + t;
      C begin = ends[at] - __popc(there);
      if (bits >> s & 1) {
        C place = begin + __popc(there & lanes_below());
        indices[place] = int32_t(v);
        values[place] = mine[s * 33 + lane];
      }
    }
    __syncwarp();
  }
}

}  // namespace grb
