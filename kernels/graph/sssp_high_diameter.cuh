// SSSP on graphs of high diameter (roads, meshes): thousands of rounds with a small frontier, by a few blocks.
//
// Result: the table's `dist`; graph/sssp.cuh, launched in any case, writes it out.  When a block's queue or far pile
//   overflows, this kernel stops with status SSSP_FRESH and graph/sssp.cuh starts from the beginning.
// Algorithm: near-far pile, Davidson, Baxter, Garland, Owens (IPDPS 2014), section 4, by persistent blocks that
//   exchange messages (graph/block_group.cuh).
// An item is a vertex with the distance to which it was improved.  It is valid only while the vertex still has this
//   distance, so no vertex is relaxed twice at one distance and no marks are needed.
// Phases of a round:
//   divide       receive the sizes of all near queues, divide their items among all warps
//   relax        a thread for each near item: atomicMin on the ends of its first ENTRIES_AT_ONCE entries (copied side
//                by side in `first_entries`); improved vertices below the bound go to the near queue, others to the far
//                pile
//   relax_rest   longer rows go on in the matrix
//   publish      send the size of the near queue to all blocks
//   split_far    (no near item is left) raise the bound by delta; each block moves its far items below it to the near
//                queue
// Distances change only by atomics and are read past L1.  A far pile belongs to one block.
// Launch: backends/cuda/graph/sssp.py, at most 16 resident blocks, cooperative.
// Preconditions: weights >= 0, no NaN; control is zero.
#pragma once
#include "graph/block_group.cuh"
#include "graph/sssp_state.cuh"

namespace grb {

constexpr int ENTRIES_AT_ONCE = 4;

// first[4 v + k] = entry k of row v (zeros where there is none).
template <class K, int BYTES>
__global__ void first_entries(const int64_t* start, const void* entries, int64_t n, void* first) {
  const PathEntry<K, BYTES>* from = static_cast<const PathEntry<K, BYTES>*>(entries);
  PathEntry<K, BYTES>* to = static_cast<PathEntry<K, BYTES>*>(first);
  GRB_EACH(k, n * ENTRIES_AT_ONCE) {
    int64_t v = k / ENTRIES_AT_ONCE, at = start[v] + k % ENTRIES_AT_ONCE;
    if (at < start[v + 1]) to[k] = from[at]; else to[k] = PathEntry<K, BYTES>{};
  }
}

// Items of one word (32-bit keys) or two.
GRB_DEVICE void write_item(word* items, int64_t at, unsigned key, int v) { items[at] = word(key) << 32 | unsigned(v); }
GRB_DEVICE void write_item(word* items, int64_t at, word key, int v) {
  items[2 * at] = key;
  items[2 * at + 1] = word(v);
}
template <class Read> GRB_DEVICE void read_item(Read read, int64_t at, unsigned& key, int& v) {
  word item = read(at);
  key = unsigned(item >> 32);
  v = int(unsigned(item));
}
template <class Read> GRB_DEVICE void read_item(Read read, int64_t at, word& key, int& v) {
  key = read(2 * at);
  v = int(read(2 * at + 1));
}
constexpr word OVERFLOW = word(1) << 32;                  // in a message, above the number of near items

// Packed by backends/cuda/graph/sssp.py in this order.
struct HighDiameterSsspArguments {                        // every field has 8 bytes
  const word* table;
  int64_t source;
  int64_t* record;
  int64_t record_rounds;
  int64_t delta;                                          // a key
  const void* first_entries;
  word* items;                    // for each block: two near queues, then a far pile
  int64_t near_capacity, far_capacity;                    // items
};

template <class K> struct HighDiameterSsspBlock {         // in shared memory
  SsspTable<K> g;
  unsigned near_count[2], far_count, overflow, scan[33];
  word least_far;
};

template <class K, int BYTES, bool REAL> struct HighDiameterSssp {
  using Entry = PathEntry<K, BYTES>;
  static constexpr K NONE = ~K(0);
  static constexpr int WORDS = sizeof(K) / 4;             // of an item
  HighDiameterSsspBlock<K>& block;
  const HighDiameterSsspArguments& a;
  BlockGroup<SsspControl> group;
  int64_t block_words;                                    // of `items` for each block
  word *queue, *far;                                      // this block's near queues and far pile
  K bound;
  int round;                                              // how many messages each block has sent
  int q;                                                  // the near queue that is read
  word* made;                                             // the near queue that is written

  GRB_DEVICE SsspTable<K>& g() { return block.g; }

  GRB_DEVICE void start() {
    if (is_first_thread()) {
      a.record[0] = 0;
      SsspRecord{a.record, a.record_rounds}.start();
      block.near_count[0] = 1;
      write_item(queue, 0, K(0), int(a.source));
    }
    GRB_EACH(i, g().n) g().dist[i] = i == a.source ? K(0) : NONE;
    bound = path_raised<K, REAL>(K(0), K(a.delta));
    group.barrier();
    publish(0, ~word(0));
  }

  // Send all blocks how many near items queue `k` of this one has, and `least` of its far pile.  The block calls
  // together.
  GRB_DEVICE void publish(int k, word least) {
    __syncthreads();
    round++;
    if (threadIdx.x == 0) {
      group.send(round, 1, least);
      group.send(round, 0, word(block.near_count[k]) | (block.overflow ? OVERFLOW : 0));
      block.near_count[k] = 0;
    }
    group.barrier();
  }

  GRB_DEVICE void read_near(int of_block, unsigned at, K& key, int& v) {
    const word* there = a.items + of_block * block_words + q * a.near_capacity * WORDS;
    read_item([&](int64_t k) { return load_l2(there + k); }, at, key, v);
  }
  GRB_DEVICE void append(bool is_near, unsigned at, int u, K d) {
    if (is_near) {                                        // read by the next round
      prefetch_l2(static_cast<const Entry*>(a.first_entries) + int64_t(u) * ENTRIES_AT_ONCE);
      prefetch_l2(g().start + u);
    }
    if (at >= (is_near ? a.near_capacity : a.far_capacity)) block.overflow = 1;
    else write_item(is_near ? made : far, at, d, u);
  }
  // Lane 0: index of the first near item; lane 1: of the first far item.
  GRB_DEVICE unsigned reserve(unsigned near, unsigned beyond) {
    if (lane_number() == 0 && near) return atomicAdd(&block.near_count[q ^ 1], near);
    if (lane_number() == 1 && beyond) return atomicAdd(&block.far_count, beyond);
    return 0;
  }

  GRB_DEVICE void relax(const QueueShares& shares) {
    const int lane = lane_number();
    const unsigned warp = group.warp(), warps = group.warps(), shift = unsigned(g().shift);
    for (unsigned i0 = warp * 32; i0 < shares.total; i0 += warps * 32) {
      unsigned i = i0 + lane, offset;
      int of_block;
      bool have = i < shares.total;
      shares.locate(i, of_block, offset);
      K key = NONE;
      int v = 0;
      int64_t from = 0, end = 0;
      Entry row[ENTRIES_AT_ONCE];
      if (have) {
        constexpr int LOADS = ENTRIES_AT_ONCE * BYTES / 16;
        read_near(of_block, offset, key, v);
        from = g().start[v];
        end = g().start[v + 1];
        uint4 raw[LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) raw[k] = static_cast<const uint4*>(a.first_entries)[int64_t(v) * LOADS + k];
        memcpy(row, raw, sizeof(row));
        if (load_l2(g().dist + v) != key) end = from;     // improved since: another item has the new distance
      }
      K d[ENTRIES_AT_ONCE];
      unsigned near[ENTRIES_AT_ONCE], beyond[ENTRIES_AT_ONCE], nears = 0, beyonds = 0;
      bool won[ENTRIES_AT_ONCE];
#pragma unroll
      for (int k = 0; k < ENTRIES_AT_ONCE; k++) {
        d[k] = from + k < end ? path_sum<K, REAL>(key, row[k].weight(shift)) : NONE;
        won[k] = from + k < end && atomicMin(&g().dist[row[k].column(shift)], d[k]) > d[k];
      }
#pragma unroll
      for (int k = 0; k < ENTRIES_AT_ONCE; k++) {
        near[k] = __ballot_sync(ALL_LANES, won[k] && d[k] < bound);
        beyond[k] = __ballot_sync(ALL_LANES, won[k] && d[k] >= bound);
        nears += __popc(near[k]);
        beyonds += __popc(beyond[k]);
      }
      if (nears | beyonds) {
        unsigned at = reserve(nears, beyonds);
        unsigned near_at = __shfl_sync(ALL_LANES, at, 0), far_at = __shfl_sync(ALL_LANES, at, 1);
#pragma unroll
        for (int k = 0; k < ENTRIES_AT_ONCE; k++) {
          bool is_near = d[k] < bound;
          unsigned to = (is_near ? near_at : far_at) + rank_in(is_near ? near[k] : beyond[k]);
          if (won[k]) append(is_near, to, row[k].column(shift), d[k]);
          near_at += __popc(near[k]);
          far_at += __popc(beyond[k]);
        }
      }
      relax_rest(key, from + ENTRIES_AT_ONCE, end, shift);
    }
  }
  GRB_DEVICE void relax_rest(K key, int64_t k, int64_t end, unsigned shift) {
    for (; __any_sync(ALL_LANES, k < end); k++) {
      Entry entry{};
      if (k < end) entry = static_cast<const Entry*>(g().out)[k];
      K d = k < end ? path_sum<K, REAL>(key, entry.weight(shift)) : NONE;
      bool wins = k < end && atomicMin(&g().dist[entry.column(shift)], d) > d, is_near = wins && d < bound;
      unsigned near = __ballot_sync(ALL_LANES, is_near), beyond = __ballot_sync(ALL_LANES, wins && !is_near);
      unsigned at = reserve(__popc(near), __popc(beyond));
      at = __shfl_sync(ALL_LANES, at, is_near ? 0 : 1) + rank_in(is_near ? near : beyond);
      if (wins) append(is_near, at, entry.column(shift), d);
    }
  }

  // One pass over the far pile: items that count and lie below the bound become near, other items that count stay.
  GRB_DEVICE void split_far() {
    unsigned held = block.far_count, kept = 0;
    __syncthreads();
    for (unsigned i0 = 0; i0 < held; i0 += blockDim.x) {
      unsigned i = i0 + threadIdx.x;
      K key = NONE;
      int v = 0;
      if (i < held) read_item([&](int64_t k) { return load_l2(far + k); }, i, key, v);
      bool counts = i < held && load_l2(g().dist + v) == key, now = counts && key < bound, later = counts && !now;
      unsigned kept_here, at = block_exclusive_sum(unsigned(later), kept_here, block.scan);
      if (later) {
        write_item(far, kept + at, key, v);
        if (word(key) < *(volatile word*)&block.least_far) atomicMin(&block.least_far, word(key));
      }
      kept += kept_here;
      unsigned to = now ? atomicAdd(&block.near_count[q ^ 1], 1u) : 0;
      if (now && to < a.near_capacity) write_item(made, to, key, v);
      if (now && to >= a.near_capacity) block.overflow = 1;
    }
    __syncthreads();
    if (threadIdx.x == 0) block.far_count = kept;
  }
  // No near item is left: raise the bound until some are.  False when no item is left at all.
  GRB_DEVICE bool raise_bound() {
    bool some = false, any = true;
    bound = path_raised<K, REAL>(bound, K(a.delta));
    while (!some && any) {
      split_far();
      publish(q ^ 1, block.least_far);
      word nearest = ~word(0);
      for (int b = 0; b < group.blocks(); b++) {
        word there = group.further(round, b);
        nearest = there < nearest ? there : nearest;
      }
      some = __any_sync(ALL_LANES, group.receive(round) != 0);                 // items, or an overflow
      any = nearest != ~word(0);
      if (threadIdx.x == 0) block.least_far = ~word(0);
      __syncthreads();
      if (!some && any) {
        bound = path_raised<K, REAL>(K(nearest), K(a.delta));
        if (bound <= K(nearest)) bound = K(nearest) + 1;
      }
    }
    return some;
  }
};

template <class K, int BYTES, bool REAL>
__global__ void __launch_bounds__(1024) sssp_high_diameter(HighDiameterSsspArguments a) {
  using Search = HighDiameterSssp<K, BYTES, REAL>;
  __shared__ HighDiameterSsspBlock<K> block;
  if (threadIdx.x == 0) {
    block.near_count[0] = block.near_count[1] = block.far_count = block.overflow = 0;
    block.least_far = ~word(0);
  }
  load_table(block.g, a.table);
  SsspControl* control = block.g.control;
  const SsspRecord record{a.record, a.record_rounds};
  const int64_t queue_words = 2 * a.near_capacity * Search::WORDS;
  const int64_t block_words = queue_words + a.far_capacity * Search::WORDS;
  word* mine = a.items + blockIdx.x * block_words;
  Search search{block, a, {control}, block_words, mine, mine + queue_words};
  search.start();
  int64_t rounds = 0;
  bool overflow = false;
  for (;; search.q ^= 1) {
    const word text = search.group.receive(search.round);
    overflow = __any_sync(ALL_LANES, (text & OVERFLOW) != 0);
    if (overflow) break;
    const QueueShares shares{unsigned(text)};
    search.made = search.queue + (search.q ^ 1) * a.near_capacity * Search::WORDS;
    if (shares.total == 0) {
      if (!search.raise_bound()) break;
      continue;
    }
    if (is_first_thread()) record.level(rounds, shares.total, 0, -1, int64_t(search.bound));
    rounds++;
    search.relax(shares);
    search.publish(search.q ^ 1, ~word(0));
  }
  if (is_first_thread()) {
    a.record[1] = overflow ? 0 : rounds;
    control->status = overflow ? SSSP_FRESH : SSSP_DONE;
  }
  if (is_last_to_leave(&control->departures)) control->arrivals = control->departures = 0;
}

}  // namespace grb
