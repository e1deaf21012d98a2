// Shortest paths on roads and meshes: thousands of rounds with a small frontier, by one cluster of blocks.
//
// Result: the table's `dist`; traverse_paths.cuh, launched in any case, hands it out.  When a block's queue overflows this
// kernel gives up and leaves the status 0, so that the other starts anew.
// Who calls: backends/cuda/traverse_paths.py.  Launch one cluster (narrow_paths_cluster) or a few resident blocks
// (narrow_paths_grid): one barrier a round.
// Near and far piles: an item is a vertex with the distance that it was improved to; it counts only while the vertex still
// has it, so that no vertex is relaxed twice for one distance and nothing needs to be marked.  What lies at or above the bound
// waits in the block's far pile until the near ones are used up and the bound is raised by delta.
// Threads: one for each item; `heads` holds the first four entries of each vertex, rows that are longer go on in the matrix.
// Memory order: items are written before a barrier of the cluster and read past L1 after it.
// Paper: Davidson, Baxter, Garland, Owens (IPDPS 2014), section 4.
#pragma once
#include "paths_state.cuh"
#include "traverse_narrow.cuh"

namespace grb {

constexpr int HEADS = 4;

// heads[4 v + k] = entry k of row v (anything where there is none).
template <class K, int BYTES>
__global__ void first_entries(const int64_t* start, const void* entries, int64_t n, void* heads) {
  const PathEntry<K, BYTES>* from = static_cast<const PathEntry<K, BYTES>*>(entries);
  PathEntry<K, BYTES>* to = static_cast<PathEntry<K, BYTES>*>(heads);
  GRB_EACH(k, n * HEADS) {
    int64_t v = k / HEADS, at = start[v] + k % HEADS;
    if (at < start[v + 1]) to[k] = from[at]; else to[k] = PathEntry<K, BYTES>{};
  }
}

template <class K> struct PathItem { K key; int vertex; };
GRB_DEVICE void write_item(word* items, int64_t at, unsigned key, int v) { items[at] = word(key) << 32 | unsigned(v); }
GRB_DEVICE void write_item(word* items, int64_t at, word key, int v) { items[2 * at] = key, items[2 * at + 1] = word(v); }
GRB_DEVICE void read_item(const word* items, int64_t at, unsigned& key, int& v) {
  word item = fresh(items + at);
  key = unsigned(item >> 32);
  v = int(unsigned(item));
}
GRB_DEVICE void read_item(const word* items, int64_t at, word& key, int& v) {
  key = fresh(items + 2 * at);
  v = int(fresh(items + 2 * at + 1));
}

// items: for each block two near queues of near_places and a far pile of far_places.
template <class K, int BYTES, bool REAL, bool CLUSTER>
GRB_DEVICE void narrow_rounds(const word* table, int64_t source, int64_t* record, int64_t log_rows, K delta,
                              const void* all_heads, word* items, int64_t near_places, int64_t far_places) {
  using Entry = PathEntry<K, BYTES>;
  constexpr K NONE = ~K(0);
  constexpr int WORDS = sizeof(K) / 4;                    // of an item
  __shared__ PathsTable<K> g;
  __shared__ word inbox[2][2][MOST_BLOCKS];
  __shared__ unsigned near_count[2], far_count, lost, scan[33];
  __shared__ word least_far;
  for (int k = threadIdx.x; k < int(sizeof(g) / 8); k += blockDim.x) reinterpret_cast<word*>(&g)[k] = table[k];
  if (threadIdx.x == 0) near_count[0] = near_count[1] = far_count = lost = 0, least_far = ~word(0);
  __syncthreads();
  PathsControl* control = g.control;
  const int lane = lane_number(), blocks = gridDim.x, me = blockIdx.x;
  const unsigned warp = (threadIdx.x >> 5) * blocks + me, warps = (blockDim.x >> 5) * blocks, shift = unsigned(g.shift);
  const bool first_thread = me == 0 && threadIdx.x == 0;
  const int64_t places = (2 * near_places + far_places) * WORDS;
  auto near_of = [&](int block, int q) { return items + block * places + q * near_places * WORDS; };
  word* far = items + me * places + 2 * near_places * WORDS;
  unsigned goal = 0;
  int turn = 0;
  auto everybody = [&] {
#ifdef GRB_CLUSTERS
    if constexpr (CLUSTER) {
      cluster_barrier();
      return;
    }
#endif
    level_barrier(&control->arrivals, goal);
  };
  // Every block says two numbers and hears those of all: in said(which, block) until the next exchange but one.
  auto exchange = [&](auto first, auto second) {
    __syncthreads();
    turn ^= 1;
    if (threadIdx.x < 32) {
      word a = first(), b = second();
#ifdef GRB_CLUSTERS
      if constexpr (CLUSTER) {
        if (lane < blocks) {
          write_there(address_in_block(&inbox[turn][0][me], lane), a);
          write_there(address_in_block(&inbox[turn][1][me], lane), b);
        }
      }
#endif
      if (!CLUSTER && lane == 0) control->inbox[turn][0][me] = a, control->inbox[turn][1][me] = b;
    }
    everybody();
  };
  auto said = [&](int which, int block) -> word {
    return CLUSTER ? inbox[turn][which][block] : fresh(&control->inbox[turn][which][block]);
  };

  if (first_thread) {
    record[0] = 0, record[2] = nanoseconds();
    near_count[0] = 1;
    write_item(near_of(0, 0), 0, K(0), int(source));
  }
  for (int64_t i = int64_t(me) * blockDim.x + threadIdx.x; i < g.n; i += int64_t(blocks) * blockDim.x)
    g.dist[i] = i == source ? K(0) : NONE;
  K bound = path_raised<K, REAL>(K(0), delta);
  int64_t rows = 0;
  int q = 0;                                              // the queue that is read
  bool overflow = false;
  exchange([&] { return word(near_count[0]); }, [] { return word(0); });
  for (;;) {
    int64_t total = 0;
    for (int b = 0; b < blocks; b++) {
      word count = said(0, b);
      overflow |= (count >> 32) != 0;
      total += unsigned(count);
    }
    if (overflow) break;
    if (threadIdx.x == 0) near_count[q] = 0;              // read by all: the messages are out
    if (total == 0) {
      // ---- raise the bound: far items that count and lie below it become near
      bool any = true;
      do {
        unsigned held = far_count, kept = 0;
        __syncthreads();
        for (unsigned i0 = 0; i0 < held; i0 += blockDim.x) {
          unsigned i = i0 + threadIdx.x;
          K key = NONE;
          int v = 0;
          if (i < held) read_item(far, i, key, v);
          bool counts = i < held && fresh(g.dist + v) == key, now = counts && key < bound, later = counts && !now;
          unsigned many, at = block_exclusive_sum(unsigned(later), many, scan);
          if (later) {
            write_item(far, kept + at, key, v);
            if (word(key) < *(volatile word*)&least_far) atomicMin(&least_far, word(key));
          }
          kept += many;
          unsigned place = now ? atomicAdd(&near_count[q ^ 1], 1u) : 0;
          if (now && place < near_places) write_item(near_of(me, q ^ 1), place, key, v);
          if (now && place >= near_places) lost = 1;
        }
        __syncthreads();
        if (threadIdx.x == 0) far_count = kept;
        exchange([&] { return word(lost) << 32 | near_count[q ^ 1]; }, [&] { return least_far; });
        word nearest = ~word(0);
        total = 0;
        for (int b = 0; b < blocks; b++) {
          total += int64_t(said(0, b));
          nearest = said(1, b) < nearest ? said(1, b) : nearest;
        }
        any = nearest != ~word(0);
        if (threadIdx.x == 0) least_far = ~word(0);
        __syncthreads();
        if (total == 0 && any) {
          bound = path_raised<K, REAL>(K(nearest), delta);
          if (bound <= K(nearest)) bound = K(nearest) + 1;
        }
      } while (total == 0 && any);
      if (total == 0) break;
      q ^= 1;
      continue;
    }
    if (first_thread && rows < log_rows) {
      int64_t* line = record + HEAD_ROWS + STAGE_NUMBERS * rows;
      line[0] = total, line[1] = 0, line[2] = -1, line[3] = clock64(), line[4] = int64_t(bound);
    }
    rows++;
    // ---- relax the near items
    auto append = [&](bool won, int u, K cand) {          // the warp calls together
      bool close = won && cand < bound, beyond = won && !close;
      unsigned takers = __ballot_sync(ALL_LANES, close), others = __ballot_sync(ALL_LANES, beyond);
      if (!(takers | others)) return;
      unsigned at = 0;
      if (lane == 0 && takers) at = atomicAdd(&near_count[q ^ 1], __popc(takers));
      if (lane == 1 && others) at = atomicAdd(&far_count, __popc(others));
      unsigned place = __shfl_sync(ALL_LANES, at, close ? 0 : 1) + __popc((close ? takers : others) & lanes_below());
      if (close) {
        prefetch(static_cast<const Entry*>(all_heads) + int64_t(u) * HEADS);   // asked for by the next round
        prefetch(g.start + u);
      }
      if (!won) return;
      if (place >= (close ? near_places : far_places)) lost = 1;
      else write_item(close ? near_of(me, q ^ 1) : far, place, cand, u);
    };
    for (int64_t i0 = int64_t(warp) * 32; i0 < total; i0 += int64_t(warps) * 32) {
      int64_t i = i0 + lane;
      bool have = i < total;
      K key = NONE;
      int v = 0;
      int64_t from = 0, end = 0;
      Entry row[HEADS];
      if (have) {
        int b = 0;
        for (unsigned there; i >= (there = unsigned(said(0, b))); b++) i -= there;
        read_item(near_of(b, q), i, key, v);
        from = g.start[v];
        end = g.start[v + 1];
        uint4 raw[HEADS * BYTES / 16];
#pragma unroll
        for (int k = 0; k < HEADS * BYTES / 16; k++)
          raw[k] = static_cast<const uint4*>(all_heads)[int64_t(v) * (HEADS * BYTES / 16) + k];
        memcpy(row, raw, sizeof(row));
        if (fresh(g.dist + v) != key) end = from;         // improved since: another item says so
      }
      K cand[HEADS];
      bool won[HEADS];
#pragma unroll
      for (int k = 0; k < HEADS; k++) {
        cand[k] = from + k < end ? path_sum<K, REAL>(key, row[k].weight(shift)) : NONE;
        won[k] = from + k < end && atomicMin(&g.dist[row[k].column(shift)], cand[k]) > cand[k];
      }
#pragma unroll
      for (int k = 0; k < HEADS; k++) append(won[k], row[k].column(shift), cand[k]);
      for (int64_t k = from + HEADS; __any_sync(ALL_LANES, k < end); k++) {
        Entry entry{};
        if (k < end) entry = static_cast<const Entry*>(g.out)[k];
        K more = k < end ? path_sum<K, REAL>(key, entry.weight(shift)) : NONE;
        append(k < end && atomicMin(&g.dist[entry.column(shift)], more) > more, entry.column(shift), more);
      }
    }
    exchange([&] { return word(lost) << 32 | near_count[q ^ 1]; }, [] { return word(0); });
    q ^= 1;
  }
  if (first_thread) {
    record[1] = overflow ? 0 : rows;
    control->status = overflow ? 0 : DONE;
  }
  if (CLUSTER) everybody();                               // nobody leaves while its shared memory may be written to
  if (!CLUSTER) {
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      if (atomicAdd(&control->departures, 1u) == gridDim.x - 1) control->arrivals = control->departures = 0;
    }
  }
}

template <class K, int BYTES, bool REAL>
__global__ void __launch_bounds__(1024)
narrow_paths_grid(const word* table, int64_t source, int64_t* record, int64_t log_rows, int64_t delta, const void* heads,
                  word* items, int64_t near_places, int64_t far_places) {
  narrow_rounds<K, BYTES, REAL, false>(table, source, record, log_rows, K(delta), heads, items, near_places, far_places);
}

#ifdef GRB_CLUSTERS
template <class K, int BYTES, bool REAL, int BLOCKS>
__global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(1024)
narrow_paths_cluster(const word* table, int64_t source, int64_t* record, int64_t log_rows, int64_t delta, const void* heads,
                     word* items, int64_t near_places, int64_t far_places) {
  narrow_rounds<K, BYTES, REAL, true>(table, source, record, log_rows, K(delta), heads, items, near_places, far_places);
}
#endif

}  // namespace grb
