// Shortest paths on roads and meshes: thousands of rounds with a small frontier, by one cluster of blocks.
//
// Result: the table's `dist`; traversal/sssp.cuh, launched in any case, hands it out.  When a block's queue overflows this
// kernel gives up and leaves the status 0, so that the other starts anew.
// Who calls: backends/cuda/traversal/sssp.py.  Launch one cluster (narrow_paths_cluster) or a few resident blocks
// (narrow_paths_grid): one barrier a round.  In a cluster the near queues lie in shared memory, each block reads all of them,
// and a message (how many items a block has) is counter and barrier in one, as in traversal/bfs_high_diameter.cuh.
// Near and far piles: an item is a vertex with the distance that it was improved to; it counts only while the vertex still
// has it, so that no vertex is relaxed twice for one distance and nothing needs to be marked.  What lies at or above the bound
// waits in the block's far pile until the near ones are used up and the bound is raised by delta.
// Threads: one for each item; `heads` holds the first four entries of each vertex, rows that are longer go on in the matrix.
// Memory order: items are written to the block's shared memory before __syncthreads, the message after it; distances are
// only changed by atomics and read past L1.  A far pile is only its own block's.
// Paper: Davidson, Baxter, Garland, Owens (IPDPS 2014), section 4.
#pragma once
#include "traversal/sssp_state.cuh"
#include "traversal/bfs_high_diameter.cuh"

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

GRB_DEVICE void write_item(word* items, int64_t at, unsigned key, int v) { items[at] = word(key) << 32 | unsigned(v); }
GRB_DEVICE void write_item(word* items, int64_t at, word key, int v) { items[2 * at] = key, items[2 * at + 1] = word(v); }
template <class Read> GRB_DEVICE void read_item(Read read, int64_t at, unsigned& key, int& v) {
  word item = read(at);
  key = unsigned(item >> 32);
  v = int(unsigned(item));
}
template <class Read> GRB_DEVICE void read_item(Read read, int64_t at, word& key, int& v) {
  key = read(2 * at);
  v = int(read(2 * at + 1));
}
constexpr word LOST = word(1) << 32;                      // in a message, above the number of near items
constexpr int TURN_SHIFT = 56;                            // of the number of the message

// items: for each block a far pile of far_places, before it two near queues of near_places unless they lie in `queue`.
template <class K, int BYTES, bool REAL, bool CLUSTER>
GRB_DEVICE void narrow_rounds(const word* table, int64_t source, int64_t* record, int64_t log_rows, K delta,
                              const void* all_heads, word* items, int64_t near_places, int64_t far_places, word* queue) {
  using Entry = PathEntry<K, BYTES>;
  constexpr K NONE = ~K(0);
  constexpr int WORDS = sizeof(K) / 4;                    // of an item
  __shared__ PathsTable<K> g;
  __shared__ word inbox[2][2][MOST_BLOCKS];               // messages; the least of far piles
  __shared__ unsigned near_count[2], far_count, lost, scan[33];
  __shared__ word least_far;
  for (int k = threadIdx.x; k < int(sizeof(g) / 8); k += blockDim.x) reinterpret_cast<word*>(&g)[k] = table[k];
  if (threadIdx.x == 0) near_count[0] = near_count[1] = far_count = lost = 0, least_far = ~word(0);
  if (threadIdx.x < 4 * MOST_BLOCKS) (&inbox[0][0][0])[threadIdx.x] = word(255) << TURN_SHIFT;
  __syncthreads();
  PathsControl* control = g.control;
  const int lane = lane_number(), blocks = gridDim.x, me = blockIdx.x;
  const unsigned warp = (threadIdx.x >> 5) * blocks + me, warps = (blockDim.x >> 5) * blocks, shift = unsigned(g.shift);
  const bool first_thread = me == 0 && threadIdx.x == 0;
  const int64_t queues = CLUSTER ? 0 : 2 * near_places * WORDS, places = queues + far_places * WORDS;
  word* far = items + me * places + queues;
  if (!CLUSTER) queue = items + me * places;
  unsigned goal = 0;
  int turn = 0;                                           // how many messages each block has sent
  auto everybody = [&] {
#ifdef GRB_CLUSTERS
    if constexpr (CLUSTER) {
      cluster_barrier();
      return;
    }
#endif
    level_barrier(&control->arrivals, goal);
  };
  // Tell all blocks how many near items lie in queue q of this one, and `least` of its far pile.  The block calls together.
  auto send = [&](int q, word least) {
    __syncthreads();
    turn++;
    if (threadIdx.x < 32) {
      word news = word(near_count[q]) | (lost ? LOST : 0) | word(turn & 127) << TURN_SHIFT;
      __syncwarp();
      if (lane == 0) near_count[q] = 0;                   // nobody appends to it before this message is out
      __syncwarp();
#ifdef GRB_CLUSTERS
      if constexpr (CLUSTER) {
        if (lane < blocks) {
          write_there(address_in_block(&inbox[turn & 1][1][me], lane), least);
          write_there(address_in_block(&inbox[turn & 1][0][me], lane), news);
        }
      }
#endif
      if (!CLUSTER && lane == 0) control->inbox[turn & 1][0][me] = news, control->inbox[turn & 1][1][me] = least;
    }
    if (!CLUSTER) level_barrier(&control->arrivals, goal);
  };
  auto receive = [&]() -> word {                          // lane b: what block b said last.  The warp calls together.
#ifdef GRB_CLUSTERS
    if constexpr (CLUSTER) {
      word text = 0;
      if (lane < blocks) {
        unsigned turns = 0;
        do {
          text = *(volatile word*)&inbox[turn & 1][0][lane];
          if (++turns >> 29) __trap();                    // a block is missing for seconds: fail, do not hang
        } while (int(text >> TURN_SHIFT) != (turn & 127));
      }
      __syncwarp();
      return text;
    }
#endif
    return lane < blocks ? fresh(&control->inbox[turn & 1][0][lane]) : word(0);
  };
  auto least_of = [&]() -> word {                         // after everybody(): the least of all far piles
    word least = ~word(0);
    for (int b = 0; b < blocks; b++) {
      word there = CLUSTER ? inbox[turn & 1][1][b] : fresh(&control->inbox[turn & 1][1][b]);
      least = there < least ? there : least;
    }
    return least;
  };

  if (first_thread) {
    record[0] = 0, record[2] = nanoseconds();
    near_count[0] = 1;
    write_item(queue, 0, K(0), int(source));
  }
  for (int64_t i = int64_t(me) * blockDim.x + threadIdx.x; i < g.n; i += int64_t(blocks) * blockDim.x)
    g.dist[i] = i == source ? K(0) : NONE;
  K bound = path_raised<K, REAL>(K(0), delta);
  int64_t rows = 0;
  int q = 0;                                              // the queue that is read
  bool overflow = false;
  everybody();
  send(q, ~word(0));
  for (;; q ^= 1) {
    word text = receive();
    overflow = __any_sync(ALL_LANES, (text & LOST) != 0);
    if (overflow) break;
    unsigned upto = unsigned(text);                       // lane b: near items of blocks 0 .. b
    for (int by = 1; by < MOST_BLOCKS; by <<= 1) {
      unsigned other = __shfl_up_sync(ALL_LANES, upto, by);
      if (lane >= by) upto += other;
    }
    unsigned total = __shfl_sync(ALL_LANES, upto, MOST_BLOCKS - 1);
    word* own = queue + (q ^ 1) * near_places * WORDS;
    unsigned* own_count = &near_count[q ^ 1];
    if (total == 0) {
      // ---- raise the bound: far items that count and lie below it become near
      bool some = false, any = true;
      bound = path_raised<K, REAL>(bound, delta);
      while (!some && any) {
        unsigned held = far_count, kept = 0;
        __syncthreads();
        for (unsigned i0 = 0; i0 < held; i0 += blockDim.x) {
          unsigned i = i0 + threadIdx.x;
          K key = NONE;
          int v = 0;
          if (i < held) read_item([&](int64_t k) { return fresh(far + k); }, i, key, v);
          bool counts = i < held && fresh(g.dist + v) == key, now = counts && key < bound, later = counts && !now;
          unsigned many, at = block_exclusive_sum(unsigned(later), many, scan);
          if (later) {
            write_item(far, kept + at, key, v);
            if (word(key) < *(volatile word*)&least_far) atomicMin(&least_far, word(key));
          }
          kept += many;
          unsigned place = now ? atomicAdd(own_count, 1u) : 0;
          if (now && place < near_places) write_item(own, place, key, v);
          if (now && place >= near_places) lost = 1;
        }
        __syncthreads();
        if (threadIdx.x == 0) far_count = kept;
        send(q ^ 1, least_far);
        everybody();
        word nearest = least_of();
        some = __any_sync(ALL_LANES, (receive() << 8) != 0);       // items, or something lost
        any = nearest != ~word(0);
        if (threadIdx.x == 0) least_far = ~word(0);
        __syncthreads();
        if (!some && any) {
          bound = path_raised<K, REAL>(K(nearest), delta);
          if (bound <= K(nearest)) bound = K(nearest) + 1;
        }
      }
      if (!some) break;
      continue;
    }
    if (first_thread && rows < log_rows) {
      int64_t* line = record + HEAD_ROWS + STAGE_NUMBERS * rows;
      line[0] = total, line[1] = 0, line[2] = -1, line[3] = clock64(), line[4] = int64_t(bound);
    }
    rows++;
    // ---- relax the near items
    auto write = [&](bool close, unsigned place, int u, K cand) {
      if (close) {
        prefetch(static_cast<const Entry*>(all_heads) + int64_t(u) * HEADS);   // asked for by the next round
        prefetch(g.start + u);
      }
      if (place >= (close ? near_places : far_places)) lost = 1;
      else write_item(close ? own : far, place, cand, u);
    };
    auto reserve = [&](unsigned close, unsigned beyond) -> unsigned {   // lane 0: first place of near items, lane 1: of far ones
      if (lane == 0 && close) return atomicAdd(own_count, close);
      if (lane == 1 && beyond) return atomicAdd(&far_count, beyond);
      return 0;
    };
    for (unsigned i0 = warp * 32; i0 < total; i0 += warps * 32) {
      unsigned i = i0 + lane;
      bool have = i < total;
      int b = 0;                                          // whose item i is: the number of blocks with upto <= i
#pragma unroll
      for (int step = MOST_BLOCKS / 2; step; step >>= 1) {
        unsigned there = __shfl_sync(ALL_LANES, upto, b + step - 1);
        if (there <= i) b += step;
      }
      unsigned before = __shfl_sync(ALL_LANES, upto, b ? b - 1 : 0);
      K key = NONE;
      int v = 0;
      int64_t from = 0, end = 0;
      Entry row[HEADS];
      if (have) {
        int64_t at = i - (b ? before : 0);
#ifdef GRB_CLUSTERS
        if constexpr (CLUSTER) {
          unsigned there = address_in_block(queue + q * near_places * WORDS, b);
          read_item([&](int64_t k) { return read_there(there + 8 * unsigned(k)); }, at, key, v);
        }
#endif
        if constexpr (!CLUSTER)
          read_item([&](int64_t k) { return fresh(items + b * places + q * near_places * WORDS + k); }, at, key, v);
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
      unsigned close[HEADS], beyond[HEADS], closer = 0, farther = 0;
      bool won[HEADS];
#pragma unroll
      for (int k = 0; k < HEADS; k++) {
        cand[k] = from + k < end ? path_sum<K, REAL>(key, row[k].weight(shift)) : NONE;
        won[k] = from + k < end && atomicMin(&g.dist[row[k].column(shift)], cand[k]) > cand[k];
      }
#pragma unroll
      for (int k = 0; k < HEADS; k++) {
        close[k] = __ballot_sync(ALL_LANES, won[k] && cand[k] < bound);
        beyond[k] = __ballot_sync(ALL_LANES, won[k] && cand[k] >= bound);
        closer += __popc(close[k]);
        farther += __popc(beyond[k]);
      }
      if (closer | farther) {
        unsigned at = reserve(closer, farther), near_at = __shfl_sync(ALL_LANES, at, 0), far_at = __shfl_sync(ALL_LANES, at, 1);
#pragma unroll
        for (int k = 0; k < HEADS; k++) {
          bool is_close = cand[k] < bound;
          if (won[k])
            write(is_close, (is_close ? near_at : far_at) + __popc((is_close ? close[k] : beyond[k]) & lanes_below()),
                  row[k].column(shift), cand[k]);
          near_at += __popc(close[k]);
          far_at += __popc(beyond[k]);
        }
      }
      for (int64_t k = from + HEADS; __any_sync(ALL_LANES, k < end); k++) {
        Entry entry{};
        if (k < end) entry = static_cast<const Entry*>(g.out)[k];
        K more = k < end ? path_sum<K, REAL>(key, entry.weight(shift)) : NONE;
        bool wins = k < end && atomicMin(&g.dist[entry.column(shift)], more) > more, is_close = wins && more < bound;
        unsigned takers = __ballot_sync(ALL_LANES, is_close), others = __ballot_sync(ALL_LANES, wins && !is_close);
        unsigned at = reserve(__popc(takers), __popc(others));
        at = __shfl_sync(ALL_LANES, at, is_close ? 0 : 1) + __popc((is_close ? takers : others) & lanes_below());
        if (wins) write(is_close, at, entry.column(shift), more);
      }
    }
    send(q ^ 1, ~word(0));
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
  narrow_rounds<K, BYTES, REAL, false>(table, source, record, log_rows, K(delta), heads, items, near_places, far_places,
                                       nullptr);
}

#ifdef GRB_CLUSTERS
template <class K, int BYTES, bool REAL, int BLOCKS>
__global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(1024)
narrow_paths_cluster(const word* table, int64_t source, int64_t* record, int64_t log_rows, int64_t delta, const void* heads,
                     word* items, int64_t near_places, int64_t far_places) {
  extern __shared__ word paths_queue[];                   // 2 * near_places items
  narrow_rounds<K, BYTES, REAL, true>(table, source, record, log_rows, K(delta), heads, items, near_places, far_places,
                                      paths_queue);
}
#endif

}  // namespace grb
