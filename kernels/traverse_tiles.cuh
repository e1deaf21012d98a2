// A whole breadth-first traversal over bit tiles in one kernel: TileBFS with its three walks, chosen by level on the device.
//
// Result: as traverse.cuh: level[v] and parent[v] of vertices reached, `words` their presence.
// Who calls: backends/cuda/traverse_tiles.py.  Launch cooperatively: one grid-wide barrier a level.
// Sets of vertices are parts, a word of a tile's width for each line of tiles: seen, and three frontiers in turn (read,
//   written, cleared).  A level also has a queue of the pieces (bit_tiles.cuh) of lines whose part holds something: the paper's
//   dense and sparse vectors, both kept.
// push_csc (Algorithm 5)  eight lanes for each piece in the queue, a tile each: the frontier's bits unite their words.
// push_csr (Algorithm 6)  eight lanes for each piece of in-tiles: tiles that the frontier meets try their unvisited columns.
// pull_csc (Algorithm 7)  a lane for each line finds those with unvisited vertices, eight lanes search each, and stop when all
//                         are found.  A neighbour seen earlier cannot be (v would have been found): the frontier alone is met.
// Invariant: one atomic claims (the next frontier's part); seen is written by the owner of a line one level later, so "visited"
//   is seen | frontier wherever it is asked.  Between traversals all parts and the control block are zero.
// Paper: tilespmspv_tilebfs_icpp22, 3.4.
#pragma once
#include "bit_tiles.cuh"
#include "traverse_state.cuh"

namespace grb {

enum TileWalk { PUSH_CSC = 0, PUSH_CSR = 1, PULL_CSC = 2 };
constexpr int TEAM = 8;                      // lanes that work on a piece

template <class W, class P> struct TileSearchTable {  // every field has 8 bytes; written by traverse_tiles.py in this order
  int64_t n;
  TileLines<W, P> out;                       // tiles by the frontier's side
  const int32_t *out_extra, *out_owner;
  int64_t out_lines, out_pieces;
  TileLines<W, P> in;                        // tiles by the side of those who are found
  const int32_t *in_extra, *in_owner;
  int64_t in_lines, in_pieces;
  const W* live;                             // vertices with in-edges
  int64_t live_count;
  W *seen, *parts0, *parts1, *parts2;
  int32_t *queue0, *queue1, *queue2;         // places for all out-pieces
  SearchControl* control;
};

template <class W> GRB_DEVICE W fresh_part(const W* parts, int64_t i) { return __ldcg(parts + i); }
// The union over the lanes of each team.
template <class W> GRB_DEVICE W team_union(W bits) {
  using V = choose<sizeof(W) == 8, word, unsigned>;
  V all = V(bits);
  for (int by = TEAM / 2; by; by >>= 1) all |= __shfl_xor_sync(ALL_LANES, all, by);
  return W(all);
}

template <class W, class P, bool LEVELS, bool PARENTS> struct TileSearch {
  static constexpr int NT = 8 * sizeof(W);
  const TileSearchTable<W, P>& g;
  int32_t* level;
  int64_t* parent;
  int64_t target, warp, warps;
  int depth;
  const W* front;                            // this level's frontier
  W* next;                                   // the one that is made
  int32_t* queue;                            // its queue
  LevelSlot* slot;                           // its counters
  word found;

  GRB_DEVICE static int team() { return lane_number() / TEAM; }
  GRB_DEVICE static int member() { return lane_number() % TEAM; }

  GRB_DEVICE void reach(int64_t v) {
    if (LEVELS) level[v] = depth;
    if (v == target) g.control->target_depth = depth;
  }
  // The lanes with `take` put the pieces of out-line c into the next queue.  The warp calls together.
  GRB_DEVICE void append(bool take, int64_t c) {
    unsigned takers = __ballot_sync(ALL_LANES, take);
    if (!takers) return;
    int more = take && g.out_extra != nullptr ? g.out_extra[c + 1] - g.out_extra[c] : 0;
    int before = __popc(takers & lanes_below()), total = __popc(takers);
    if (g.out_extra != nullptr) {
      int sum = more;
      for (int by = 1; by < 32; by <<= 1) {
        int other = __shfl_up_sync(ALL_LANES, sum, by);
        if (lane_number() >= by) sum += other;
      }
      before += sum - more;
      total += __shfl_sync(ALL_LANES, sum, 31);
    }
    word base = 0;
    if (lane_number() == 0) base = atomicAdd(&slot->tail, word(total));
    base = __shfl_sync(ALL_LANES, base, 0);
    if (!take) return;
    int32_t* place = queue + base + before;
    *place = int32_t(c);
    for (int k = 0; k < more; k++) *++place = int32_t(g.out_lines + g.out_extra[c] + k);
  }

  GRB_DEVICE void push_csc(const int32_t* current, int64_t count) {
    const TilePieces pieces{g.out_lines, g.out_pieces, g.out_extra, g.out_owner};
    constexpr int TEAMS = 32 / TEAM;
    for (int64_t i0 = warp * TEAMS; i0 < count; i0 += warps * TEAMS) {
      int64_t i = i0 + team(), line = 0, t = 0, stop = 0;
      W x = 0;
      if (i < count) {
        int64_t k = fresh(current + i);
        piece_range(g.out, pieces, k, line, t, stop);
        x = fresh_part(front, line);
        if (k == line && member() == 0) g.seen[line] = W(fresh_part(g.seen, line) | x);
        t += member();
      }
      while (__any_sync(ALL_LANES, t < stop)) {
        bool first = false;
        int64_t to = 0;
        if (t < stop) {
          const W map = g.out.map[t];
          W rest = W(map & x);
          to = g.out.line[t];
          if (rest) {
            const W* words = g.out.words + g.out.start[t];
            W known = W(fresh_part(g.seen, to) | fresh_part(front, to)), all = 0;
            for (W r = rest; r; r &= W(r - 1)) all |= words[bits_in(W(map & low_bits<W>(lowest_in(r))))];
            W mine = W(all & ~known);
            if (mine) {
              W before = unite(next, to, mine);
              mine &= W(~before);
              first = before == 0;
              found += bits_in(mine);
              if (LEVELS || target >= 0)
                for (W m = mine; m; m &= W(m - 1)) reach(to * NT + lowest_in(m));
              if (PARENTS)
                for (W r = rest; mine && r; r &= W(r - 1)) {
                  int u = lowest_in(r);
                  W hit = W(words[bits_in(W(map & low_bits<W>(u)))] & mine);
                  mine &= W(~hit);
                  for (; hit; hit &= W(hit - 1)) parent[to * NT + lowest_in(hit)] = line * NT + u;
                }
            }
          }
        }
        append(first, to);
        t += TEAM;
      }
    }
  }

  // Which of `open` (the same in all lanes of a team) tiles first .. stop-1 of in-line c reach from the frontier.
  template <bool STOPS> GRB_DEVICE W search(int64_t c, int64_t first, int64_t stop, W open) {
    W got = 0;
    int64_t t = first + member();
    while (__any_sync(ALL_LANES, t < stop && W(open & ~got))) {
      if (t < stop) {
        int64_t from = g.in.line[t];
        W x = fresh_part(front, from);
        if (x) {
          const W map = g.in.map[t];
          const W* words = g.in.words + g.in.start[t];
          for (W rest = W(map & open & ~got); rest; rest &= W(rest - 1)) {
            int v = lowest_in(rest);
            W hit = W(words[bits_in(W(map & low_bits<W>(v)))] & x);
            if (hit) {
              got |= W(W(1) << v);
              if (PARENTS) parent[c * NT + v] = from * NT + lowest_in(hit);
            }
          }
        }
      }
      if (STOPS) got = team_union(got);
      t += TEAM;
    }
    return STOPS ? got : team_union(got);
  }
  // The team's finds of in-line c go into the next frontier.  The warp calls together; nothing is open where nobody works.
  GRB_DEVICE void settle(int64_t c, W got, bool shared) {
    W before = 0;
    bool first = false;
    if (got && member() == 0) {
      if (shared) before = unite(next, c, got); else next[c] = got;
      first = before == 0;
      found += bits_in(W(got & ~before));
    }
    if (LEVELS || target >= 0)
      for (int b = member(); b < NT; b += TEAM)
        if (got >> b & 1) reach(c * NT + b);
    append(first && c < g.out_lines, c);
  }
  GRB_DEVICE W unvisited(int64_t c, bool owner) {
    W x = fresh_part(front, c), s = W(fresh_part(g.seen, c) | x);
    if (owner && x) g.seen[c] = s;
    return W(g.live[c] & ~s);
  }

  GRB_DEVICE void push_csr(int64_t begin) {
    const TilePieces pieces{g.in_lines, g.in_pieces, g.in_extra, g.in_owner};
    constexpr int TEAMS = 32 / TEAM;
    for (int64_t k0 = begin + warp * TEAMS; k0 < g.in_pieces; k0 += warps * TEAMS) {
      int64_t k = k0 + team(), line = 0, first = 0, stop = 0;
      W open = 0;
      if (k < g.in_pieces) {
        piece_range(g.in, pieces, k, line, first, stop);
        open = unvisited(line, k == line && member() == 0);
      }
      settle(line, search<false>(line, first, stop, open), is_split(pieces, line));
    }
  }

  GRB_DEVICE void pull_csc() {
    const TilePieces pieces{g.in_lines, g.in_pieces, g.in_extra, g.in_owner};
    for (int64_t c0 = warp * 32; c0 < g.in_lines; c0 += warps * 32) {
      int64_t c = c0 + lane_number();
      W open = c < g.in_lines ? unvisited(c, true) : W(0);
      for (unsigned left = __ballot_sync(ALL_LANES, open != 0); left;) {
        unsigned mine = left;
        for (int k = 0; k < 32 / TEAM; k++) {
          if (k < team()) mine &= mine - 1;
          left &= left - 1;
        }
        int who = mine ? __ffs(int(mine)) - 1 : 0;
        W here = shuffle(open, who);
        int64_t line = c0 + who, first = 0, stop = 0;
        if (mine) piece_range(g.in, pieces, line, line, first, stop); else here = 0;
        settle(line, search<true>(line, first, stop, here), is_split(pieces, line));
      }
    }
    if (g.in_pieces > g.in_lines) push_csr(g.in_lines);      // the rest of long lines
  }
};

// direction: -1 chosen by level, else a TileWalk.  sparse: push_csc below 1/sparse of the tiles; few: pull_csc when less than
// 1/few of the vertices are left.  list: vertices to start from (null: `source`).
template <class W, class P, bool LEVELS, bool PARENTS, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
traverse_tiles(const word* table, int64_t source, const int32_t* list, int64_t list_count, int32_t* level, int64_t* parent,
               word* words, int64_t* record, int64_t log_rows, int64_t max_level, int64_t target, int64_t direction,
               int64_t sparse, int64_t few) {
  constexpr int NT = 8 * sizeof(W);
  __shared__ TileSearchTable<W, P> g;
  __shared__ word sum;
  if (threadIdx.x == 0) sum = 0;
  for (int k = threadIdx.x; k < int(sizeof(g) / 8); k += blockDim.x) reinterpret_cast<word*>(&g)[k] = table[k];
  __syncthreads();
  SearchControl* control = g.control;
  bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  auto parts = [&](int k) { return k == 0 ? g.parts0 : k == 1 ? g.parts1 : g.parts2; };
  auto queue = [&](int k) { return k == 0 ? g.queue0 : k == 1 ? g.queue1 : g.queue2; };
  TileSearch<W, P, LEVELS, PARENTS> search{
    g, level, parent, target, int64_t(threadIdx.x >> 5) * gridDim.x + blockIdx.x, int64_t(blockDim.x >> 5) * gridDim.x,
    0, nullptr, g.parts0, g.queue0, &control->slot[0], 0};
  unsigned goal = 0;
  int turn = 0;                              // the frontier that was made last
  int64_t count = 0, before = 0, depth = 1, reached = 0;
  if (first_thread) record[2] = nanoseconds();
  auto finish = [&] {                        // wait for all, read what the level counted
    word mine = search.found;
    for (int by = 16; by; by >>= 1) mine += __shfl_xor_sync(ALL_LANES, mine, by);
    if (lane_number() == 0 && mine) atomicAdd(&sum, mine);
    search.found = 0;
    __syncthreads();
    if (threadIdx.x == 0 && sum) {
      atomicAdd(&search.slot->found, sum);
      sum = 0;
    }
    level_barrier(&control->arrivals, goal);
    before = count;
    count = int64_t(fresh(&search.slot->tail));
    return int64_t(fresh(&search.slot->found));
  };
  int64_t items = list == nullptr ? 1 : list_count;
  for (int64_t i0 = search.warp * 32; i0 < items; i0 += search.warps * 32) {
    int64_t i = i0 + lane_number(), v = i >= items ? 0 : list == nullptr ? source : int64_t(list[i]);
    bool first = false;
    if (i < items) {
      W bit = W(W(1) << (v % NT));
      first = unite(g.parts0, v / NT, bit) == 0;
      search.reach(v);
      if (PARENTS) parent[v] = v;
      search.found++;
    }
    search.append(first, v / NT);
  }
  int64_t frontier = finish();
  reached = frontier;
  while (frontier > 0 && depth <= max_level) {
    if (target >= 0) {
      int at = fresh(&control->target_depth);
      if (at && at < depth) break;
    }
    int64_t walk = direction;
    if (walk < 0) {
      int64_t left = g.live_count - reached;
      walk = count * sparse < g.out_pieces ? PUSH_CSC : left * few < g.n ? PULL_CSC : PUSH_CSR;
    }
    if (first_thread) log_level(record, log_rows, depth - 1, frontier, walk, -1);
    int now = turn, made = turn == 2 ? 0 : turn + 1, old = made == 2 ? 0 : made + 1;
    search.front = parts(now);
    search.next = parts(made);
    search.queue = queue(made);
    search.slot = &control->slot[depth % 3];
    search.depth = int(depth);
    if (first_thread) control->slot[(depth + 1) % 3] = LevelSlot{0, 0, 0, 0};
    W* stale = parts(old);                   // the frontier before this one: empty again for the next level
    const int32_t* stale_queue = queue(old);
    GRB_EACH(i, before) {
      int32_t k = fresh(stale_queue + i);
      if (k < g.out_lines) stale[k] = 0;
    }
    if (walk == PUSH_CSC) search.push_csc(queue(now), count);
    else if (walk == PUSH_CSR) search.push_csr(0);
    else search.pull_csc();
    turn = made;
    frontier = finish();
    reached += frontier;
    depth++;
  }
  word *seen = reinterpret_cast<word*>(g.seen), *last = reinterpret_cast<word*>(parts(turn));
  word* second = reinterpret_cast<word*>(parts(turn == 2 ? 0 : turn + 1));
  word* third = reinterpret_cast<word*>(parts(turn == 0 ? 2 : turn - 1));
  GRB_EACH(i, (g.n + 63) >> 6) {
    words[i] = fresh(seen + i) | fresh(last + i);
    seen[i] = last[i] = second[i] = third[i] = 0;
  }
  if (first_thread) {
    record[0] = reached;
    record[1] = depth - 1;
    record[3] = nanoseconds();
    record[4] = clock64();
  }
  leave(control, false);
}

}  // namespace grb
