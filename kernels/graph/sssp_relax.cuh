// The push of SSSP: the list of improved vertices, the queue of their edges below the bound, relaxation.
//
// Algorithm: delta-stepping's relaxation over an edge-balanced queue (graph/frontier.cuh); d(u) by atomicMin.
// Phases: queue_improved, queue_active, find_nearest, relax, as graph/sssp.cuh lists them.
// Who includes it: graph/sssp_pull.cuh, for graph/sssp.cuh.
#pragma once
#include "graph/block_queue.cuh"
#include "graph/frontier.cuh"
#include "graph/sssp_state.cuh"
#include "graph/visited.cuh"

namespace grb {

constexpr int SSSP_QUEUE = 8192;               // vertices that a block stages
struct SsspBlock {                             // in shared memory
  BlockQueue<SSSP_QUEUE> staged;
  BlockTally explored;
};

// The queue, for expand_edges.
template <class K> struct SsspFrontier {
  static constexpr bool HAS_OWNER = true;
  const SsspTable<K>& g;
  int64_t count;
  GRB_DEVICE int64_t first_of(int64_t c) const { return load_l2(g.chunk + c); }
  GRB_DEVICE void load(int64_t p, int64_t edges, int64_t& my_stop, int64_t& my_base, K& my_key) const {
    bool there = p < count;
    my_stop = there ? load_l2(g.stop + p) : edges + 64;
    my_base = there ? load_l2(g.base + p) : 0;
    my_key = there ? load_l2(g.key + p) : 0;
  }
};

// A list of at most 32 improved vertices, in shared memory, and what one round of its warp came to.
template <class K> struct WarpList { int vertex[32]; K distance[32]; };
struct WarpRound { unsigned count, edges, listed, active; word explored; };

// How many entries of a row are lighter than each of seven weights, then its length.
struct RowClasses {
  unsigned end[WEIGHT_CLASSES];
  GRB_DEVICE int64_t length() const { return end[WEIGHT_CLASSES - 1]; }
};

template <class K, int BYTES, bool REAL> struct SsspRelax {
  static constexpr K NONE = ~K(0);
  using Entry = PathEntry<K, BYTES>;
  const SsspTable<K>& g;
  SsspBlock& block;
  int64_t warp, warps;
  RoundCounters* counters;                     // of the phase that is running
  K bound;                                     // distances below it are relaxed; NONE: all
  unsigned shift;

  static GRB_DEVICE K sum(K d, K w) { return path_sum<K, REAL>(d, w); }
  static GRB_DEVICE K raised(K bound, K step) { return path_raised<K, REAL>(bound, step); }
  static GRB_DEVICE K doubled(K step) {
    if (REAL) return sum(step, step);
    return step > NONE / 2 ? NONE / 2 : K(2 * step);
  }

  GRB_DEVICE RowClasses classes_of(int v) const {
    const uint4* from = reinterpret_cast<const uint4*>(g.class_end) + int64_t(v) * 2;
    uint4 a = from[0], b = from[1];
    return RowClasses{{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
  }
  // An upper limit of the entries with d + w < limit (limit NONE: all entries).
  GRB_DEVICE int64_t most_below(const RowClasses& row, K d, K limit) const {
    int64_t to = row.length();
    if (limit != NONE)
#pragma unroll
      for (int k = WEIGHT_CLASSES - 2; k >= 0; k--)
        if (sum(d, K(g.classes[k])) >= limit) to = row.end[k];
    return to;
  }
  // A lower limit of the entries with d + w < limit.
  GRB_DEVICE int64_t least_below(const RowClasses& row, K d, K limit) const {
    int64_t from = 0;
#pragma unroll
    for (int k = 0; k < WEIGHT_CLASSES - 1; k++) {
      K s = sum(d, K(g.classes[k]));
      if (REAL ? s < limit : s <= limit) from = row.end[k];
    }
    return from;
  }

  // ---- lists of vertices

  // The lanes with `take` put v into the block's queue, or into the list when that is full.  The warp calls together.
  GRB_DEVICE void stage(bool take, int v, int32_t* list, word* count) {
    bool over = block.staged.append(take, v);
    if (!__any_sync(ALL_LANES, over)) return;
    word at = warp_append(over, count);
    if (over) list[at] = v;
  }
  // The block's queue goes into the list.  The block calls together.
  GRB_DEVICE void flush(int32_t* list, word* count) {
    __syncthreads();
    int held = block.staged.size();
    if (!held) return;
    word* base = &block.staged.scan[32];
    if (threadIdx.x == 0) *base = atomicAdd(count, word(held));
    __syncthreads();
    for (int i = threadIdx.x; i < held; i += blockDim.x) list[*base + i] = block.staged.vertex[i];
    if (threadIdx.x == 0) block.staged.reset();  // all threads have read it; a barrier precedes the next use
  }

  // ---- the queue: vertices with a segment of their rows

  // Each thread appends a vertex at distance d with entries from .. to - 1 (none: from >= to) of its row, which begins
  // at `first`.  The block calls together.
  GRB_DEVICE void enqueue(int64_t first, K d, int64_t from, int64_t to) {
    const int64_t degree = to > from ? to - from : 0;
    word at = block_append(size_of_row(degree), &counters->queued, block.staged.scan);
    const EdgeQueue<int64_t> queue{g.stop, g.base, g.chunk};
    number_edges(queue, at, first + from, degree, [&](int64_t p) { g.key[p] = d; });
    __syncthreads();
  }

  // The improved vertices, each with its row up to the bound; those that never were become active.
  GRB_DEVICE void queue_improved(int64_t listed, int32_t* active, int64_t held) {
    word explored = 0;
    for (int64_t i0 = int64_t(blockIdx.x) * blockDim.x; i0 < listed; i0 += thread_count()) {
      int64_t i = i0 + threadIdx.x, to = 0, first = 0;
      bool have = i < listed, is_new = false;
      int v = 0;
      K d = 0;
      if (have) {
        v = load_l2(g.list + i);
        d = load_l2(g.dist + v);
        first = g.start[v];
        RowClasses row = classes_of(v);
        to = most_below(row, d, bound);
        unsigned bit = 1u << (v & 31);
        atomicAnd(&g.in_list[v >> 5], ~bit);
        is_new = bound != NONE && !(load_l2(g.was_active + (v >> 5)) & bit);   // no other thread has v
        if (is_new) {
          atomicOr(&g.was_active[v >> 5], bit);
          explored += row.length();
        }
      }
      if (bound != NONE) stage(is_new, v, active + held, &counters->active);
      enqueue(first, d, 0, to);
    }
    if (bound == NONE) return;
    explored = warp_sum(explored);
    if (lane_number() == 0 && explored) block.explored.add(explored);
    flush(active + held, &counters->active);
    if (threadIdx.x == 0) block.explored.flush(&counters->explored);
  }

  // The active vertices, each with the segment of its row between `before` and the bound; those with more stay active.
  GRB_DEVICE void queue_active(const int32_t* active, int64_t count, int32_t* kept, K before) {
    for (int64_t i0 = int64_t(blockIdx.x) * blockDim.x; i0 < count; i0 += thread_count()) {
      int64_t i = i0 + threadIdx.x, first = 0, from = 0, to = 0;
      bool have = i < count, stays = false;
      int v = 0;
      K d = 0;
      if (have) {
        v = load_l2(active + i);
        d = load_l2(g.dist + v);
        first = g.start[v];
        RowClasses row = classes_of(v);
        from = least_below(row, d, before);
        to = most_below(row, d, bound);
        // when the last class is included, its heaviest entry says whether all of it lies below the bound
        const Entry* out = static_cast<const Entry*>(g.out);
        stays = bound != NONE && row.length() > 0 &&
                (to < row.length() || sum(d, out[first + row.length() - 1].weight(shift)) >= bound);
      }
      stage(stays, v, kept, &counters->active);
      enqueue(first, d, from, to);
    }
    flush(kept, &counters->active);
  }

  // counters->nearest = ~min(d + w >= before) over the entries of active vertices: the complement, because slots start
  // at 0.
  GRB_DEVICE void find_nearest(const int32_t* active, int64_t count, K before) {
    const Entry* out = static_cast<const Entry*>(g.out);
    K nearest = NONE;
    GRB_EACH(i, count) {
      int v = load_l2(active + i);
      K d = load_l2(g.dist + v);
      RowClasses row = classes_of(v);
      const Entry* entries = out + g.start[v];
      int64_t low = least_below(row, d, before), high = most_below(row, d, before);
      while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (sum(d, entries[middle].weight(shift)) < before) low = middle + 1; else high = middle;
      }
      K there = low < row.length() ? sum(d, entries[low].weight(shift)) : NONE;
      nearest = there < nearest ? there : nearest;
    }
    nearest = warp_min(nearest);
    if (lane_number() == 0 && nearest != NONE) atomicMax(&counters->nearest, ~word(nearest));
  }

  // d(u) min= d(v) + w(v, u) for the queue's edges; vertices improved to less than the bound are listed.
  GRB_DEVICE void relax(int64_t count, int64_t edges) {
    const Entry* out = static_cast<const Entry*>(g.out);
    auto relax_chunk = [&](const int64_t (&at)[CHUNK_STEPS], K (&d)[CHUNK_STEPS]) {
      int near[CHUNK_STEPS];
      bool take[CHUNK_STEPS];
#pragma unroll
      for (int k = 0; k < CHUNK_STEPS; k++) {
        near[k] = -1;
        if (at[k] >= 0) {
          Entry entry = out[at[k]];
          near[k] = entry.column(shift);
          d[k] = sum(d[k], entry.weight(shift));
        }
      }
#pragma unroll
      for (int k = 0; k < CHUNK_STEPS; k++)
        take[k] = near[k] >= 0 && d[k] < bound && d[k] < load_l2(g.dist + near[k]);
#pragma unroll
      for (int k = 0; k < CHUNK_STEPS; k++)    // also where another thread was faster: the vertex was improved
        if (take[k]) {
          atomicMin(&g.dist[near[k]], d[k]);
          take[k] = visit(g.in_list, near[k]);
        }
#pragma unroll
      for (int k = 0; k < CHUNK_STEPS; k++) stage(take[k], near[k], g.list, &counters->listed);
    };
    expand_edges<K>(SsspFrontier<K>{g, count}, edges, warp, warps, relax_chunk);
    flush(g.list, &counters->listed);
  }

  // ---- rounds by one warp while all others wait, so that distances are read and written without atomics

  GRB_DEVICE void load_list(WarpList<K>& list, unsigned listed) const {
    const unsigned lane = unsigned(lane_number());
    if (lane < listed) {
      const int v = load_l2(g.list + lane);
      list.vertex[lane] = v, list.distance[lane] = load_l2(g.dist + v);
      atomicAnd(&g.in_list[v >> 5], ~(1u << (v & 31)));
    }
    __syncwarp();
  }
  GRB_DEVICE void store_list(const WarpList<K>& list, unsigned listed) const {
    if (unsigned(lane_number()) < listed) g.list[lane_number()] = list.vertex[lane_number()];
  }
  // queue_improved and relax of `listed` vertices, at least one, with at most 32 edges below the bound; false where
  // they have more, and nothing is done.  `active`: where vertices that become active are appended.
  GRB_DEVICE bool relax_by_warp(WarpList<K>& list, unsigned listed, int32_t* active, WarpRound& made) const {
    const unsigned lane = unsigned(lane_number());
    const Entry* out = static_cast<const Entry*>(g.out);
    const bool have = lane < listed;
    const int v = have ? list.vertex[lane] : 0;
    const K d = have ? list.distance[lane] : K(0);
    int64_t first = 0, length = 0, most = 0;
    bool is_new = false;
    if (have) {
      first = g.start[v];
      const RowClasses row = classes_of(v);
      is_new = bound != NONE && !is_in_l2(g.was_active, v);
      length = row.length();
      most = most_below(row, d, bound);
    }
    const unsigned degree = most > 32 ? 33u : unsigned(most), edges = warp_sum_everywhere(degree);
    if (edges > 32) return false;
    const unsigned upto = listed == 1 ? degree : warp_inclusive_sum(degree);
    unsigned starts = __ballot_sync(ALL_LANES, is_new);
    made.count = unsigned(__popc(__ballot_sync(ALL_LANES, degree != 0)));
    made.edges = edges, made.active = unsigned(__popc(starts)), made.explored = 0;
    if (starts) {
      if (is_new) {
        atomicOr(&g.was_active[v >> 5], 1u << (v & 31));
        active[rank_in(starts)] = v;
      }
      made.explored = shuffle(warp_sum(is_new ? word(length) : word(0)), 0);
    }
    int owner = 0;                             // of edge `lane`: how many vertices end before it
    if (listed > 1)
#pragma unroll
      for (int step = 16; step; step >>= 1)
        if (__shfl_sync(ALL_LANES, upto, owner + step - 1) <= lane) owner += step;
    const int64_t at = shuffle(first, owner) - __shfl_sync(ALL_LANES, upto - degree, owner) + lane;
    const K from = shuffle(d, owner);
    int near = -1;
    K there = 0;
    bool take = false;
    if (lane < edges) {
      const Entry entry = out[at];
      near = entry.column(shift), there = sum(from, entry.weight(shift));
      take = there < bound && there < load_l2(g.dist + near);
    }
    unsigned takers = __ballot_sync(ALL_LANES, take);
    if (takers & (takers - 1)) {               // of equal ends the nearest, the first of equally near ones
      const unsigned peers = __match_any_sync(ALL_LANES, take ? near : -1 - int(lane));
      for (int other = 0; other < 32; other++) {
        const K theirs = shuffle(there, other);
        if (peers >> other & 1 && (theirs < there || (theirs == there && other < int(lane)))) take = false;
      }
      takers = __ballot_sync(ALL_LANES, take);
    }
    if (take) {
      const int position = rank_in(takers);
      g.dist[near] = there;
      list.vertex[position] = near, list.distance[position] = there;
    }
    made.listed = unsigned(__popc(takers));
    __syncwarp();
    return true;
  }
};

}  // namespace grb
