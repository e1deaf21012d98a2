// A whole breadth-first traversal in one kernel: f<!v> = A' f, v = v + f until f is empty, direction chosen by level.
//
// Result: level[v] and parent[v] of vertices reached, `words` their presence; places of other vertices are not written.
// Who calls: backends/cuda/traversal/bfs.py.  Launch cooperatively: one grid-wide barrier a level.
// Threads: push: a warp takes CHUNK edges of the frontier, whosever they are (long rows are shared out, short ones packed);
//   new vertices gather in the block's bag and leave it with one atomic a block.  pull: a lane per unvisited vertex, 128
//   vertices a warp: the strongest neighbour first, four more, a few entries in turn, the rest of long rows by the warp, of hubs
//   by all warps.
// Push: edges E0 .. E-1 of a level are numbered through; vertex q of the queue has edges up to stop[q], and edge e of it is
//   entry base[q] + e of the matrix.  One atomic on (vertices, edges) gives place and edge number at once, so stop ascends.
// Pull: a neighbour seen before this level is a parent, since its own neighbours were all seen one level later: no frontier
//   is needed, only `seen` (operand reuse), written to a second array because a level must not see its own finds.
// Paper: push_pull_graphblas_icpp18, sections 4 to 6; direction: Beamer, Asanovic, Patterson (SC 2012).
#pragma once
#include "traversal/state.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int BAG = 4096;
constexpr int ALONE = 32;                      // entries of a row that a lane pulls by itself
constexpr int64_t SURE = 2, OF = 3;            // a frontier of more than SURE/OF of the edges left is pulled without a sample
constexpr int OF_WARP = 512;                   // and a warp; what is left of longer rows is pulled by all warps
struct Bag {
  int vertex[BAG];
  int count;
  word base, pulled;
  word sums[33];
};

GRB_DEVICE word warp_sums(word value) {        // lane k: the sum of lanes 0 .. k
  for (int by = 1; by < 32; by <<= 1) {
    word other = __shfl_up_sync(ALL_LANES, value, by);
    if (lane_number() >= by) value += other;
  }
  return value;
}

template <class P, bool LEVELS, bool PARENTS, bool CAREFUL> struct Search {
  const SearchTable<P>& g;
  Bag& bag;
  int32_t* level;
  int64_t* parent;
  int target;
  int64_t warp, warps;
  LevelSlot* next;                             // counters of the level that is being made
  int depth;
  int64_t queue_edges;                         // a frontier of more edges will be pulled: its queue is not written

  GRB_DEVICE int32_t* vertex(int q) { return q ? g.vertex1 : g.vertex0; }
  GRB_DEVICE P* stop(int q) { return q ? g.stop1 : g.stop0; }
  GRB_DEVICE P* base(int q) { return q ? g.base1 : g.base0; }
  GRB_DEVICE int32_t* chunk(int q) { return q ? g.chunk1 : g.chunk0; }

  GRB_DEVICE void reach(int v, int from) {
    if (LEVELS) level[v] = depth;
    if (PARENTS) parent[v] = from;
    if (v == target) g.control->target_depth = depth;
  }

  // Write a vertex of `degree` edges (0: none) at the place and edge number `at` of queue q.  The warp calls together.
  GRB_DEVICE void enter(int q, int v, P first, P degree, word at) {
    int64_t place = at >> COUNT_SHIFT, begin = at & EDGES;
    if (begin > queue_edges) degree = 0;
    if (!__any_sync(ALL_LANES, degree != 0)) return;
    int64_t c = (begin + CHUNK - 1) / CHUNK, last = degree ? (begin + degree - 1) / CHUNK : -1;
    if (degree) {
      stop(q)[place] = P(begin + degree);
      base(q)[place] = P(first - begin);
      if (PARENTS) vertex(q)[place] = v;
      if (last - c < 32)
        for (; c <= last; c++) chunk(q)[c] = int32_t(place);
    }
    for (unsigned wide = __ballot_sync(ALL_LANES, last - c >= 32); wide; wide &= wide - 1) {
      int lane = __ffs(int(wide)) - 1;
      int64_t from = shuffle(c, lane), to = shuffle(last, lane);
      int32_t who = __shfl_sync(ALL_LANES, int32_t(place), lane);
      for (int64_t k = from + lane_number(); k <= to; k += 32) chunk(q)[k] = who;
    }
  }
  GRB_DEVICE void row(int v, bool have, P& first, P& degree) {
    first = have ? g.out_start[v] : P(0);
    degree = have ? P(g.out_start[v + 1] - first) : P(0);
  }
  GRB_DEVICE void count_idle(bool idle) {
    unsigned lanes = __ballot_sync(ALL_LANES, idle);
    if (lanes && lane_number() == 0) atomicAdd(&next->idle, word(__popc(lanes)));
  }
  static GRB_DEVICE word size_of(P degree) { return degree ? (word(1) << COUNT_SHIFT) + word(degree) : word(0); }

  // The lanes with `take` put v into the block's bag; when it is full, straight into queue q.  The warp calls together.
  GRB_DEVICE void gather(bool take, int v, int q) {
    unsigned takers = __ballot_sync(ALL_LANES, take);
    if (!takers) return;
    int at = 0;
    if (lane_number() == 0) at = atomicAdd(&bag.count, __popc(takers));
    at = __shfl_sync(ALL_LANES, at, 0) + __popc(takers & lanes_below());
    bool kept = at < BAG;
    if (take && kept) bag.vertex[at] = v;
    bool over = take && !kept;
    if (!__any_sync(ALL_LANES, over)) return;
    P first, degree;
    row(v, over, first, degree);
    word sums = warp_sums(size_of(degree)), total = shuffle(sums, 31), begin = 0;
    if (lane_number() == 0 && total) begin = atomicAdd(&next->tail, total);
    enter(q, v, first, degree, shuffle(begin, 0) + sums - size_of(degree));
    count_idle(over && !degree);
  }

  // The block's bag goes into queue q.  The block calls together.
  GRB_DEVICE void empty_bag(int q) {
    __syncthreads();
    int held = bag.count < BAG ? bag.count : BAG;
    for (int i = threadIdx.x; i - int(threadIdx.x) < held; i += blockDim.x) {
      bool have = i < held;
      int v = have ? bag.vertex[i] : 0;
      P first, degree;
      row(v, have, first, degree);
      word sums = warp_sums(size_of(degree));
      int w = threadIdx.x >> 5, count = blockDim.x >> 5;
      if (lane_number() == 31) bag.sums[w] = sums;
      __syncthreads();
      if (w == 0) {
        word here = lane_number() < count ? bag.sums[lane_number()] : 0, upto = warp_sums(here);
        if (lane_number() < count) bag.sums[lane_number()] = upto - here;
        if (lane_number() == 31) bag.base = upto ? atomicAdd(&next->tail, upto) : 0;
      }
      __syncthreads();
      enter(q, v, first, degree, bag.base + bag.sums[w] + sums - size_of(degree));
      count_idle(have && !degree);
      __syncthreads();
    }
    if (held && threadIdx.x == 0) bag.count = 0;
  }

  // One level pushed: `count` vertices of queue q with `edges` edges.  `only` >= 0: no queue, just this vertex.
  GRB_DEVICE void push(unsigned* seen, int q, int64_t count, int64_t edges, int only) {
    constexpr int STEPS = CHUNK / 32;
    const int32_t* out = g.out;
    int64_t chunks = (edges + CHUNK - 1) / CHUNK;
    int lane = lane_number();
    for (int64_t c = warp; c < chunks; c += warps) {
      int64_t at[STEPS];
      int from[STEPS], near[STEPS];
      bool take[STEPS];
      int64_t p = only >= 0 ? 0 : fresh(chunk(q) + c), e0 = c * CHUNK;
      int64_t my_stop = 0, my_base = 0;
      int my_vertex = 0;
      bool stale = true;
#pragma unroll
      for (int k = 0; k < STEPS; k++, e0 += 32) {
        if (stale) {                           // the queue from the owner of edge e0 on: a lane each
          if (only >= 0) {
            my_stop = edges, my_base = g.out_start[only], my_vertex = only;
          } else {
            bool there = p + lane < count;
            my_stop = there ? int64_t(fresh(stop(q) + p + lane)) : edges + 64;
            my_base = there ? int64_t(fresh(base(q) + p + lane)) : 0;
            if (PARENTS) my_vertex = there ? fresh(vertex(q) + p + lane) : 0;
          }
        }
        bool ends = only < 0 && my_stop < e0 + 32;
        unsigned ended = __reduce_or_sync(ALL_LANES, ends ? 1u << (my_stop - e0) : 0u);
        int owner = __popc(ended & ((2u << lane) - 1));
        int64_t e = e0 + lane;
        int64_t begin = shuffle(my_base, owner);
        if (PARENTS) from[k] = __shfl_sync(ALL_LANES, my_vertex, owner); else from[k] = 0;
        at[k] = e < edges ? begin + e : -1;
        int passed = __popc(__ballot_sync(ALL_LANES, only < 0 && my_stop <= e0 + 32));
        stale = passed > 0;
        p += passed;
      }
#pragma unroll
      for (int k = 0; k < STEPS; k++) near[k] = at[k] >= 0 ? out[at[k]] : -1;
#pragma unroll
      for (int k = 0; k < STEPS; k++)
        take[k] = near[k] >= 0 && near[k] != only && !(fresh(seen + (near[k] >> 5)) >> (near[k] & 31) & 1);
#pragma unroll
      for (int k = 0; k < STEPS; k++) {
        if constexpr (CAREFUL) take[k] = claim_together(seen, near[k], take[k]);
        else take[k] = take[k] && claim(seen, near[k]);
      }
#pragma unroll
      for (int k = 0; k < STEPS; k++) {
        if (take[k]) reach(near[k], from[k]);
        gather(take[k], near[k], q ^ 1);
      }
    }
  }

  // Is one of entries i .. end-1 of `in` seen?  One thread.
  GRB_DEVICE bool any_seen(const unsigned* seen, P i, P end, int& who) {
    for (; i < end; i += 4) {
      int near[4];
#pragma unroll
      for (int k = 0; k < 4; k++) near[k] = g.in[i + k < end ? i + k : i];
      unsigned hits = 0;
#pragma unroll
      for (int k = 0; k < 4; k++) hits |= unsigned(is_in(seen, near[k])) << k;
      if (hits) {
        who = hits & 1 ? near[0] : hits & 2 ? near[1] : hits & 4 ? near[2] : near[3];
        return true;
      }
    }
    return false;
  }
  // The same by a warp; `who` is the same in all lanes.
  GRB_DEVICE bool any_seen_by_warp(const unsigned* seen, P i, P end, int& who) {
    for (; i < end; i += 64) {
      P a = i + lane_number(), b = a + 32;
      int x = a < end ? g.in[a] : -1, y = b < end ? g.in[b] : -1;
      bool hit_x = x >= 0 && is_in(seen, x), hit_y = y >= 0 && is_in(seen, y);
      unsigned hits = __ballot_sync(ALL_LANES, hit_x || hit_y);
      if (hits) {
        who = __shfl_sync(ALL_LANES, hit_x ? x : y, __ffs(int(hits)) - 1);
        return true;
      }
    }
    return false;
  }

  // Would a pull end its rows early?  Of a sample of the vertices not seen, have most a strongest neighbour that was?  They
  // have where hubs rule; on meshes and web graphs a pull reads nearly all of the rows.  Each block finds the same.
  GRB_DEVICE bool promising(const unsigned* seen) {
    int v = int(int64_t(threadIdx.x) * g.n / blockDim.x);
    bool open = (g.live[v >> 5] & ~fresh(seen + (v >> 5))) >> (v & 31) & 1;
    int near = open ? g.strongest[v] : 0;
    bool hit = open && (fresh(seen + (near >> 5)) >> (near & 31) & 1);
    int among = __syncthreads_count(open);
    return __syncthreads_count(hit) * 2 >= among;
  }

  // One level pulled: unvisited vertices look for a neighbour in `old`; `fresh_seen` becomes old and what was found.
  // Rows too long for a warp are listed in vertex0 (no queue is in use while pulling), for pull_late.
  GRB_DEVICE void pull(const unsigned* old, unsigned* fresh_seen) {
    const int32_t* strongest = g.strongest;
    const int4* next = reinterpret_cast<const int4*>(g.next_strongest);
    const P* in_start = g.in_start;
    int lane = lane_number();
    word found = 0;
    const int64_t groups = (g.n + 127) >> 7;
    const int span = groups >= 3 * warps ? 4 : groups >= warps ? 2 : 1;      // groups whose words are loaded together
    for (int64_t first = warp * span; first < groups; first += warps * span) {
      uint4 l = make_uint4(0, 0, 0, 0);
      if (lane < span && first + lane < groups) {
        const uint4 s = reinterpret_cast<const uint4*>(old)[first + lane];
        l = reinterpret_cast<const uint4*>(g.live)[first + lane];
        l = make_uint4(l.x & ~s.x, l.y & ~s.y, l.z & ~s.z, l.w & ~s.w);
        if (!(l.x | l.y | l.z | l.w)) reinterpret_cast<uint4*>(fresh_seen)[first + lane] = s;
      }
      bool some = l.x | l.y | l.z | l.w;
      for (unsigned which = __ballot_sync(ALL_LANES, some); which; which &= which - 1) {
        int turn = __ffs(int(which)) - 1;
        const int64_t group = first + turn;
        const unsigned todo[4] = {
          __shfl_sync(ALL_LANES, l.x, turn), __shfl_sync(ALL_LANES, l.y, turn), __shfl_sync(ALL_LANES, l.z, turn),
          __shfl_sync(ALL_LANES, l.w, turn)};
        int v0 = int(group << 7) + lane, strong[4];
#pragma unroll
        for (int k = 0; k < 4; k++) strong[k] = todo[k] >> lane & 1 ? strongest[v0 + 32 * k] : -1;
        unsigned hits = 0, open = 0, late = 0;   // a bit for each of the lane's four vertices
#pragma unroll
        for (int k = 0; k < 4; k++)
          if (strong[k] >= 0) hits |= unsigned(is_in(old, strong[k])) << k, open |= 1u << k;
        open &= ~hits;
#pragma unroll
        for (int k = 0; k < 4; k++)
          if (hits >> k & 1) reach(v0 + 32 * k, strong[k]);
        for (; open; open &= open - 1) {
          int v = v0 + 32 * (__ffs(int(open)) - 1), who = 0;
          const int4 few = next[v];
          auto there = [&](int u, int k) { return unsigned(u >= 0 && is_in(old, u)) << k; };
          unsigned among = there(few.x, 0) | there(few.y, 1) | there(few.z, 2) | there(few.w, 3);
          if (among) {
            hits |= open & -open;
            reach(v, among & 1 ? few.x : among & 2 ? few.y : among & 4 ? few.z : few.w);
            continue;
          }
          if (few.w < 0) continue;               // that was the whole row
          P i = in_start[v], end = in_start[v + 1], alone = end - i > ALONE ? P(i + ALONE) : end;
          if (any_seen(old, i, alone, who)) {
            hits |= open & -open;
            reach(v, who);
          } else if (alone < end) {
            late |= open & -open;
          }
        }
        __syncwarp();
        for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, late != 0)) != 0;) {
          int whose = __ffs(int(lanes)) - 1, who = 0;
          unsigned bit = __shfl_sync(ALL_LANES, late & -late, whose);
          int v = int(group << 7) + whose + 32 * (__ffs(int(bit)) - 1);
          P from = in_start[v] + ALONE, end = in_start[v + 1];
          bool far = CAREFUL && end - from > OF_WARP, hit = !far && any_seen_by_warp(old, from, end, who);
          if (far && lane == 0) g.vertex0[atomicAdd(&this->next->late, word(1))] = v;
          if (lane == whose) {
            late &= late - 1;
            if (hit) {
              hits |= bit;
              reach(v, who);
            }
          }
        }
        unsigned fresh_bits[4];
#pragma unroll
        for (int k = 0; k < 4; k++) {
          fresh_bits[k] = __ballot_sync(ALL_LANES, hits >> k & 1);
          found += __popc(fresh_bits[k]);
        }
        if (lane == 0) {
          const uint4 s = reinterpret_cast<const uint4*>(old)[group];
          reinterpret_cast<uint4*>(fresh_seen)[group] =
            make_uint4(s.x | fresh_bits[0], s.y | fresh_bits[1], s.z | fresh_bits[2], s.w | fresh_bits[3]);
        }
      }
    }
    if (lane == 0 && found) atomicAdd(&bag.pulled, found);
    __syncthreads();
    if (threadIdx.x == 0) {
      word pulled = atomicExch(&bag.pulled, word(0));      // a plain read would be hoisted into all threads, past the write
      if (pulled) atomicAdd(&this->next->found, pulled);
    }
  }

  // The `count` rows that a pull left, each cut into as many pieces as there are warps for it.
  GRB_DEVICE void pull_late(const unsigned* old, unsigned* fresh_seen, int64_t count) {
    const int64_t pieces = count < warps ? warps / count : 1;
    for (int64_t t = warp; t < count * pieces; t += warps) {
      int v = fresh(g.vertex0 + t / pieces), who = 0;
      int64_t first = g.in_start[v] + ALONE, length = g.in_start[v + 1] - first, k = t % pieces;
      P from = P(first + length * k / pieces), end = P(first + length * (k + 1) / pieces);
      if (any_seen_by_warp(old, from, end, who) && lane_number() == 0 && claim(fresh_seen, v)) {
        reach(v, who);
        atomicAdd(&next->found, word(1));
      }
    }
  }

  // After a pull: what it found, as queue q.
  GRB_DEVICE void gather_new(const unsigned* old, const unsigned* now, int q) {
    int64_t count = (g.n + 31) >> 5;
    for (int64_t w0 = warp * 32; w0 < count; w0 += warps * 32) {
      int64_t w = w0 + lane_number();
      unsigned left = w < count ? now[w] & ~old[w] : 0;
      while (__any_sync(ALL_LANES, left != 0)) {
        gather(left != 0, int(w * 32) + __ffs(int(left)) - 1, q);
        left &= left - 1;
      }
    }
    empty_bag(q);
  }
};

// direction: -1 chosen by level, 0 push, 1 pull.  alpha: pull when the frontier has more than 1/alpha of the edges left.
// list: vertices to start from (null: `source`); a frontier left by the narrow walk is taken up first.
// CAREFUL: for graphs where hubs do not rule, or neighbours have near numbers (meshes, web graphs): pulls are tried on a
// sample first, hubs not reached yet are pulled by all warps, claims within a word share an atomic.  Elsewhere that only costs.
template <class P, bool LEVELS, bool PARENTS, int THREADS, int BLOCKS, bool CAREFUL>
__global__ void __launch_bounds__(THREADS, BLOCKS)
traverse(const word* table, int64_t source, const int32_t* list, int64_t list_count, int32_t* level, int64_t* parent,
         word* words, int64_t* record, int64_t log_rows, int64_t max_level, int64_t target, int64_t direction,
         int64_t alpha) {
  __shared__ Bag bag;
  __shared__ SearchTable<P> g;
  load_table(g, table);
  SearchControl* control = g.control;
  int status = fresh(&control->status);
  if (status == DONE) {
    leave(control, false);
    return;
  }
  bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  if (threadIdx.x == 0) bag.count = 0, bag.pulled = 0;
  Search<P, LEVELS, PARENTS, CAREFUL> search{
    g, bag, level, parent, int(target), int64_t(threadIdx.x >> 5) * gridDim.x + blockIdx.x,
    int64_t(blockDim.x >> 5) * gridDim.x, &control->slot[0], 0, int64_t(EDGES)};
  unsigned goal = 0;
  int phase = 0, q = 0, only = -1;
  int64_t depth = 1, frontier, reached, count = 0, edges = 0, explored = 0;
  unsigned *seen = g.seen0, *other = g.seen1;
  bool queued = true;
  if (first_thread && status == FRESH) record[2] = nanoseconds();
  auto finish_phase = [&] {                    // wait for all, read what the phase counted
    level_barrier(&control->arrivals, goal);
    LevelSlot* slot = &control->slot[phase % 3];
    word tail = fresh(&slot->tail);
    count = tail >> COUNT_SHIFT;
    edges = tail & EDGES;
    int64_t found = count + fresh(&slot->idle) + fresh(&slot->found);
    phase++;
    return found;
  };
  auto begin_phase = [&] {
    search.next = &control->slot[phase % 3];
    if (first_thread) control->slot[(phase + 1) % 3] = LevelSlot{0, 0, 0, 0};
  };
  __syncthreads();
  if (status == FRESH && list == nullptr && direction != 1) {   // one source: its first level needs no queue
    only = int(source);
    if (first_thread) {
      atomicOr(&seen[only >> 5], 1u << (only & 31));
      search.reach(only, only);
    }
    frontier = count = 1;
    edges = g.out_start[only + 1] - g.out_start[only];
    reached = 1;
  } else {
    bool handed = status == HANDED_OVER;
    int64_t items = handed ? fresh(&control->handed_count) : list == nullptr ? 1 : list_count;
    begin_phase();
    for (int64_t i0 = search.warp * 32; i0 < items; i0 += search.warps * 32) {
      int64_t i = i0 + lane_number();
      bool take = i < items;
      int v = !take ? 0 : handed ? fresh(g.handed + i) : list == nullptr ? int(source) : list[i];
      if (take && !handed) {
        claim(seen, v);
        search.reach(v, v);
      }
      search.gather(take, v, q);
    }
    search.empty_bag(q);
    depth = handed ? fresh(&control->handed_depth) : 1;
    reached = handed ? fresh(&control->handed_reached) : items;
    frontier = finish_phase();
  }
  while (frontier > 0 && depth <= max_level) {
    if (target >= 0) {
      int at = fresh(&control->target_depth);
      if (at && at < depth) break;
    }
    bool pull = direction == 1;
    if (direction < 0 && g.in_start != nullptr) {
      int64_t left = g.live_count - reached;
      if (queued) {
        int64_t unexplored = g.entries - explored;
        pull = edges * alpha > unexplored && edges * 16 > g.n && only < 0;
        if (CAREFUL && pull && edges * OF <= unexplored * SURE) {
          pull = search.promising(seen);
          level_barrier(&control->arrivals, goal);      // a push that begins must not change what others sample
        }
      } else {
        pull = !(frontier * 4 < left && left > 8192);
        if (!pull) explored = g.entries - (g.entries / (g.live_count + 1) + 1) * left;
      }
    }
    if (!pull && !queued) {                    // back to pushing: the last pull's finds become a queue
      begin_phase();
      search.queue_edges = int64_t(EDGES);
      search.gather_new(other, seen, q);
      int64_t same = finish_phase();
      if (same != frontier) break;             // cannot happen
      queued = true;
    }
    if (first_thread) log_level(record, log_rows, depth - 1, frontier, pull, queued ? edges : -1);
    begin_phase();
    search.depth = int(depth);
    if (!pull) explored += edges;
    if (direction < 0 && g.in_start != nullptr) {
      int64_t rest = g.entries - explored, bound = CAREFUL ? rest * SURE / OF : rest / alpha, least = g.n >> 4;
      search.queue_edges = (bound > least ? bound : least) + 1;
    }
    if (pull) {
      search.pull(seen, other);
      unsigned* t = seen;
      seen = other;
      other = t;
      queued = false;
    } else {
      search.push(seen, q, count, edges, only);
      search.empty_bag(q ^ 1);
      q ^= 1;
    }
    only = -1;
    frontier = finish_phase();
    if (CAREFUL && pull) {
      int64_t late = fresh(&control->slot[(phase + 2) % 3].late);
      if (late > 0) {
        begin_phase();
        search.pull_late(other, seen, late);
        frontier += finish_phase();
      }
    }
    reached += frontier;
    depth++;
  }
  hand_out(seen, g.seen0, words, g.n);
  if (first_thread) {
    record[0] = reached;
    record[1] = depth - 1;
    record[3] = nanoseconds();
    record[4] = clock64();
  }
  leave(control, false);
}

}  // namespace grb
