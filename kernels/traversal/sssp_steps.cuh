// The steps that shortest paths are made of: lists, the queue, numbering, relaxing, raising the bound, pulling.
//
// Who includes it: traversal/sssp.cuh, which says how they go together.
// Push: edges E0 .. E-1 of a round are numbered through; vertex q of the queue has edges up to stop[q], and edge e of it is
//   entry base[q] + e of the form; a warp takes CHUNK of them, whosever they are.  Pull: a lane a vertex, several at once, the
//   rest of long rows by the warp.
#pragma once
#include "traversal/sssp_state.cuh"

namespace grb {

constexpr int BASKET = 8192;                   // vertices that a block gathers before they go to the list

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
  static GRB_DEVICE K raised(K bound, K step) { return path_raised<K, REAL>(bound, step); }
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
    if (!held) return;
    if (threadIdx.x == 0) bag.base = atomicAdd(count, word(held));
    __syncthreads();
    for (int i = threadIdx.x; i < held; i += blockDim.x) list[bag.base + i] = bag.vertex[i];
    if (threadIdx.x == 0) bag.count = 0;         // all have read it; a barrier comes before it is used again
  }

  // ---- the queue: vertices with a stretch of their rows, edges numbered through

  // Each thread brings v with entries from .. to - 1 of its row (none: from = to), which begins at `first`.  The block calls
  // together.
  GRB_DEVICE void enqueue(int64_t first, K d, int64_t from, int64_t to) {
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
      g.base[place] = first + from - begin;
      g.key[place] = d;
      if (last - c < 32)
        for (; c <= last; c++) g.chunk[c] = int32_t(place);
    }
    for (unsigned wide = __ballot_sync(ALL_LANES, last - c >= 32); wide; wide &= wide - 1) {
      int lane = __ffs(int(wide)) - 1;
      int64_t low = shuffle(c, lane), high = shuffle(last, lane);
      int32_t who = __shfl_sync(ALL_LANES, int32_t(place), lane);
      for (int64_t k = low + lane_number(); k <= high; k += 32) g.chunk[k] = who;
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
      int64_t i = i0 + threadIdx.x, to = 0, first = 0;
      bool have = i < listed, fresh_one = false;
      int v = 0;
      K d = 0;
      if (have) {
        v = fresh(g.list + i);
        d = fresh(g.dist + v);
        first = g.start[v];
        Cuts cuts = cuts_of(v);
        to = reach_below(cuts, d, bound);
        unsigned bit = 1u << (v & 31);
        atomicAnd(&g.waiting[v >> 5], ~bit);
        fresh_one = bound != NONE && !(fresh(g.entered + (v >> 5)) & bit);   // v is listed once: nobody else sets its bit
        if (fresh_one) {
          atomicOr(&g.entered[v >> 5], bit);
          explored += cuts.all();
        }
      }
      if (bound != NONE) gather(fresh_one, v, active + held, &next->active);
      enqueue(first, d, 0, to);
    }
    if (bound == NONE) return;
    for (int by = 16; by; by >>= 1) explored += __shfl_down_sync(ALL_LANES, explored, by);
    if (lane_number() == 0 && explored) atomicAdd(&bag.explored, explored);
    empty_basket(active + held, &next->active);
    if (threadIdx.x == 0) {
      word all = atomicExch(&bag.explored, word(0));       // a plain read would be hoisted into all threads, past the write
      if (all) atomicAdd(&next->explored, all);
    }
  }

  // The active vertices, each with the stretch of its row between `before` and the bound; those with more stay active.
  GRB_DEVICE void advance(const int32_t* active, int64_t count, int32_t* kept, K before) {
    for (int64_t i0 = int64_t(blockIdx.x) * blockDim.x; i0 < count; i0 += thread_count()) {
      int64_t i = i0 + threadIdx.x, first = 0, from = 0, to = 0;
      bool have = i < count, stays = false;
      int v = 0;
      K d = 0;
      if (have) {
        v = fresh(active + i);
        d = fresh(g.dist + v);
        first = g.start[v];
        Cuts cuts = cuts_of(v);
        from = done_below(cuts, d, before);
        to = reach_below(cuts, d, bound);
        // where the last class was entered, its heaviest entry says whether all of it lies below the bound
        stays = bound != NONE && cuts.all() > 0 &&
                (to < cuts.all() || sum(d, static_cast<const Entry*>(g.out)[first + cuts.all() - 1].weight(shift)) >= bound);
      }
      gather(stays, v, kept, &next->active);
      enqueue(first, d, from, to);
    }
    empty_basket(kept, &next->active);
  }

  // The least d + w >= before of an active vertex, as the greatest complement.
  GRB_DEVICE void look(const int32_t* active, int64_t count, K before) {
    const Entry* out = static_cast<const Entry*>(g.out);
    K nearest = NONE;
    GRB_EACH(i, count) {
      int v = fresh(active + i);
      K d = fresh(g.dist + v);
      Cuts cuts = cuts_of(v);
      const Entry* row = out + g.start[v];
      int64_t low = done_below(cuts, d, before), high = reach_below(cuts, d, before);
      while (low < high) {
        int64_t middle = (low + high) >> 1;
        if (sum(d, row[middle].weight(shift)) < before) low = middle + 1; else high = middle;
      }
      K there = low < cuts.all() ? sum(d, row[low].weight(shift)) : NONE;
      nearest = there < nearest ? there : nearest;
    }
    nearest = warp_least(nearest);
    if (lane_number() == 0 && nearest != NONE) atomicMax(&next->nearest, ~word(nearest));
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
      for (int k = 0; k < STEPS; k++)            // listed too where another thread is faster: it has been improved then
        if (take[k]) {
          atomicMin(&g.dist[near[k]], cand[k]);
          take[k] = claim(g.waiting, near[k]);
        }
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
  // First sweep: all vertices that are not settled; who may be improved by another of them is marked in `entered`.  Second
  // sweep: those that are marked; whoever is improved is listed.
  GRB_DEVICE void pull(K settled, K low, bool second) {
    constexpr int SIDE = BYTES == 4 ? 4 : 2, HEAD = 4, ALONE = 16;   // vertices of a lane; entries read at once; by a lane
    const Entry* in = static_cast<const Entry*>(g.in);
    int lane = lane_number();
    for (int64_t group = warp; group * (32 * SIDE) < g.n; group += warps) {
      int64_t v0 = group * (32 * SIDE) + lane, first[SIDE], end[SIDE];
      K had[SIDE], best[SIDE];
      Entry head[SIDE][HEAD];
      unsigned further = 0;
#pragma unroll
      for (int s = 0; s < SIDE; s++) {
        bool looks = v0 + 32 * s < g.n && (!second || fresh(g.entered + group * SIDE + s) >> lane & 1);
        had[s] = best[s] = looks ? fresh(g.dist + v0 + 32 * s) : K(0);
      }
#pragma unroll
      for (int s = 0; s < SIDE; s++) {
        bool open = had[s] >= settled;           // settled > 0
        first[s] = open ? g.in_start[v0 + 32 * s] : 0;
        end[s] = open ? g.in_start[v0 + 32 * s + 1] : 0;
      }
#pragma unroll
      for (int s = 0; s < SIDE; s++)
#pragma unroll
        for (int k = 0; k < HEAD; k++)
          if (first[s] < end[s]) head[s][k] = in[first[s] + k < end[s] ? first[s] + k : end[s] - 1];
#pragma unroll
      for (int s = 0; s < SIDE; s++)             // the lightest entry first: mostly no other can be better
        if (first[s] < end[s]) better(best[s], had[s], low, head[s][0]);
#pragma unroll
      for (int s = 0; s < SIDE; s++)
        if (first[s] < end[s]) {
          K known = best[s];
#pragma unroll
          for (int k = 1; k < HEAD; k++) better(best[s], known, low, head[s][k]);
          bool more = best[s] == NONE || sum(low, head[s][HEAD - 1].weight(shift)) < best[s];
          further |= unsigned(more && first[s] + HEAD < end[s]) << s;
        }
#pragma unroll
      for (int s = 0; s < SIDE; s++) {
        int64_t v = v0 + 32 * s;
        bool late = further >> s & 1;
        if (late) {
          int64_t i = first[s] + HEAD, alone = end[s] - i > ALONE ? i + ALONE : end[s];
          for (; late && i < alone; i += HEAD) {
            Entry entry[HEAD];
#pragma unroll
            for (int k = 0; k < HEAD; k++) entry[k] = in[i + k < end[s] ? i + k : end[s] - 1];
            K known = best[s];
#pragma unroll
            for (int k = 0; k < HEAD; k++) better(best[s], known, low, entry[k]);
            late = best[s] == NONE || sum(low, entry[HEAD - 1].weight(shift)) < best[s];
          }
          late = late && i < end[s];
        }
        for (unsigned lanes = __ballot_sync(ALL_LANES, late); lanes; lanes &= lanes - 1) {
          int who = __ffs(int(lanes)) - 1;
          int64_t from = shuffle(first[s], who) + HEAD + ALONE, to = shuffle(end[s], who);
          K least = shuffle(best[s], who);
          for (int64_t i = from; i < to; i += 32) {
            Entry entry = in[i + lane < to ? i + lane : to - 1];
            K mine = least;
            better(mine, least, low, entry);
            least = warp_least(mine);
            if (least != NONE && sum(low, shuffle(entry.weight(shift), 31)) >= least) break;
          }
          if (lane == who) best[s] = least;
        }
        bool improved = best[s] < had[s];
        if (improved) atomicMin(&g.dist[v], best[s]);
        if (second) {
          gather(improved && claim(g.waiting, int(v)), int(v), g.list, &next->listed);
        } else {
          bool again = first[s] < end[s] && (best[s] == NONE || sum(settled, head[s][0].weight(shift)) < best[s]);
          unsigned marks = __ballot_sync(ALL_LANES, again);
          if (lane == 0 && v < g.n) g.entered[group * SIDE + s] = marks;
        }
      }
    }
    if (second) empty_basket(g.list, &next->listed);
  }
  // The source's whole row, so that a first sweep need not think of it: all others are at least as far as its lightest entry,
  // which is returned.
  GRB_DEVICE K relax_source(int64_t source) {
    const Entry* out = static_cast<const Entry*>(g.out);
    int64_t first = g.start[source], end = g.start[source + 1];
    if (first == end) return K(0);
    for (int64_t k = first + thread_number(); k < end; k += thread_count()) {
      Entry entry = out[k];
      if (entry.column(shift) != source) atomicMin(&g.dist[entry.column(shift)], entry.weight(shift));
    }
    return out[first].weight(shift);
  }
  // best = min(best, d(u) + w), asked for only where it can be less than `known`.
  GRB_DEVICE void better(K& best, K known, K low, const Entry& entry) {
    K w = entry.weight(shift);
    if (known != NONE && sum(low, w) >= known) return;
    K d = fresh(g.dist + entry.column(shift));
    if (d == NONE) return;
    d = sum(d, w);
    best = d < best ? d : best;
  }
};

}  // namespace grb
