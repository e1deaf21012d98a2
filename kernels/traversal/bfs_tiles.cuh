// A whole breadth-first traversal over bit tiles in one kernel: TileBFS with its three walks, chosen by level on the device.
//
// Result: as traversal/bfs.cuh: level[v] and parent[v] of vertices reached, `words` their presence.
// Who calls: backends/cuda/traversal/bfs_tiles.py.  Launch cooperatively: one grid-wide barrier a level.
// Sets of vertices are parts, a word of a tile's width for each line of tiles: seen, and three frontiers in turn (read,
//   written, cleared).  A level also has a queue of the pieces (products/bit_tiles.cuh) of lines whose part holds something: the paper's
//   dense and sparse vectors, both kept.
// push_csc (Algorithm 5)  8 to 32 lanes for each piece in the queue, a tile each: the frontier's bits unite their words.
// push_csr (Algorithm 6)  eight lanes for each piece of in-tiles: tiles that the frontier meets try their unvisited columns.
// pull_csc (Algorithm 7)  a lane for each line finds those with unvisited vertices, eight lanes search each, and stop when all
//                         are found.  A neighbour seen earlier cannot be (v would have been found): the frontier alone is met.
// Invariant: one atomic claims (the next frontier's part); seen is written by the owner of a line one level later, so "visited"
//   is seen | frontier wherever it is asked.  What push_csc finds gets its level one level later too, from the queue, where a
//   line's vertices are written side by side.  Between traversals all parts and the control block are zero.
// Paper: tilespmspv_tilebfs_icpp22, 3.4.
#pragma once
#include "products/bit_tiles.cuh"
#include "traversal/state.cuh"

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
  int32_t* bag;                              // the warp's lines that are not in the queue yet: 64 places, fewer than 32 held
  int held;
  int depth;
  const W* front;                            // this level's frontier
  W* next;                                   // the one that is made
  int32_t* queue;                            // its queue
  word* tail;                                // (pieces << 32) + vertices of it
  unsigned found;                            // vertices not counted there yet

  GRB_DEVICE static int team() { return lane_number() / TEAM; }
  GRB_DEVICE static int member() { return lane_number() % TEAM; }

  GRB_DEVICE void flush(int count, unsigned vertices) {
    word base = 0;
    if (lane_number() == 0) base = atomicAdd(tail, (word(count) << 32) + vertices);
    base = __shfl_sync(ALL_LANES, base, 0) >> 32;
    if (lane_number() < count) queue[base + lane_number()] = bag[lane_number()];
    __syncwarp();
  }
  // The lanes with `take` put the pieces of out-line c into the next queue.  The warp calls together.
  GRB_DEVICE void append(bool take, int64_t c) {
    unsigned takers = __ballot_sync(ALL_LANES, take);
    if (!takers) return;
    if (take) bag[held + __popc(takers & lanes_below())] = int32_t(c);
    held += __popc(takers);
    __syncwarp();
    if (held >= 32) {
      flush(32, 0);
      held -= 32;
      int32_t kept = lane_number() < held ? bag[32 + lane_number()] : 0;
      if (lane_number() < held) bag[lane_number()] = kept;
      __syncwarp();
    }
    if (g.out_extra == nullptr) return;
    int more = take ? g.out_extra[c + 1] - g.out_extra[c] : 0;
    for (unsigned split = __ballot_sync(ALL_LANES, more > 0); split; split &= split - 1) {
      int who = __ffs(int(split)) - 1, count = __shfl_sync(ALL_LANES, more, who);
      int64_t line = shuffle(c, who), first = g.out_lines + g.out_extra[line];
      word base = 0;
      if (lane_number() == 0) base = atomicAdd(tail, word(count) << 32);
      base = __shfl_sync(ALL_LANES, base, 0) >> 32;
      for (int k = lane_number(); k < count; k += 32) queue[base + k] = int32_t(first + k);
    }
  }
  GRB_DEVICE void finish() {                 // the level's last finds
    unsigned vertices = __reduce_add_sync(ALL_LANES, found);
    if (held || vertices) flush(held, vertices);
    held = 0;
    found = 0;
  }

  // Vertices `bits` of line c are `deep` levels from the source; lane `first` of `step` lanes that do so together.
  GRB_DEVICE void write_levels(int64_t c, W bits, int deep, int first, int step) {
    if (LEVELS)
      for (int b = first; b < NT; b += step)
        if (bits >> b & 1) level[c * NT + b] = deep;
  }
  GRB_DEVICE void write_queue_levels(const W* parts, const int32_t* items, int64_t count, int deep) {
    if (!LEVELS) return;
    for (int64_t i0 = warp * 2; i0 < count; i0 += warps * 2) {
      int64_t i = i0 + (lane_number() >> 4), k = i < count ? int64_t(fresh(items + i)) : g.out_lines;
      if (k < g.out_lines) write_levels(k, fresh_part(parts, k), deep, lane_number() & 15, 16);
    }
  }
  GRB_DEVICE void look_for_target(int64_t c, W bits) {
    if (target >= 0 && c == target / NT && (bits >> (target % NT) & 1)) g.control->target_depth = depth;
  }

  // The union of the words that the bits of `rest`, lines of a tile, name: four loads at a time.
  static GRB_DEVICE W united(const W* words, W map, W rest) {
    W all = 0;
    while (rest) {
      W bit[4];
#pragma unroll
      for (int k = 0; k < 4; k++) {
        bit[k] = W(rest & (~rest + 1));
        rest ^= bit[k];
      }
      W got[4];
#pragma unroll
      for (int k = 0; k < 4; k++) got[k] = bit[k] ? words[bits_in(W(map & W(bit[k] - 1)))] : W(0);
#pragma unroll
      for (int k = 0; k < 4; k++) all |= got[k];
    }
    return all;
  }

  // `pending`: the frontier's levels are not written yet.
  GRB_DEVICE void push_csc(const int32_t* current, int64_t count, bool pending) {
    const TilePieces pieces{g.out_lines, g.out_pieces, g.out_extra, g.out_owner};
    int width = 32;                          // lanes for a piece: many where pieces are few
    while (width > TEAM && count * width > warps * 32) width >>= 1;
    int teams = 32 / width, mine_of = lane_number() & (width - 1);
    for (int64_t i0 = warp * teams; i0 < count; i0 += warps * teams) {
      int64_t i = i0 + lane_number() / width, line = 0, t = 0, stop = 0;
      W x = 0;
      if (i < count) {
        int64_t k = fresh(current + i);
        piece_range(g.out, pieces, k, line, t, stop);
        x = fresh_part(front, line);
        if (k == line) {
          if (mine_of == 0) g.seen[line] = W(fresh_part(g.seen, line) | x);
          if (pending) write_levels(line, x, depth - 1, mine_of, width);
        }
        t += mine_of;
      }
      while (__any_sync(ALL_LANES, t < stop)) {
        bool first = false;
        int64_t to = 0;
        if (t < stop) {
          const W map = g.out.map[t];
          const W rest = W(map & x);
          to = g.out.line[t];
          const W* words = g.out.words + g.out.start[t];
          if (rest) {
            W known = W(fresh_part(g.seen, to) | fresh_part(front, to));
            W mine = W(united(words, map, rest) & ~known);
            if (mine) {
              W before = unite(next, to, mine);
              mine &= W(~before);
              first = before == 0;
              found += bits_in(mine);
              look_for_target(to, mine);
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
        t += width;
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
        const W map = g.in.map[t];
        W x = fresh_part(front, from), rest = W(map & open & ~got);
        if (x && rest) {
          const W* words = g.in.words + g.in.start[t];
          for (; rest; rest &= W(rest - 1)) {
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
      look_for_target(c, got);
    }
    write_levels(c, got, depth, member(), TEAM);
    append(first, c);
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
  __shared__ int32_t bags[THREADS * 2];
  __shared__ word shared_tail;
  for (int k = threadIdx.x; k < int(sizeof(g) / 8); k += blockDim.x) reinterpret_cast<word*>(&g)[k] = table[k];
  __syncthreads();
  SearchControl* control = g.control;
  bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  auto parts = [&](int k) { return k == 0 ? g.parts0 : k == 1 ? g.parts1 : g.parts2; };
  auto queue = [&](int k) { return k == 0 ? g.queue0 : k == 1 ? g.queue1 : g.queue2; };
  TileSearch<W, P, LEVELS, PARENTS> search{
    g, level, parent, target, int64_t(threadIdx.x >> 5) * gridDim.x + blockIdx.x, int64_t(blockDim.x >> 5) * gridDim.x,
    bags + (threadIdx.x >> 5) * 64, 0, 0, nullptr, g.parts0, g.queue0, &control->slot[0].tail, 0};
  unsigned goal = 0;
  int turn = 0;                              // the frontier that was made last
  bool pending = true;                       // its levels are not written yet
  int64_t count = 0, before = 0, depth = 1, reached = 0;
  if (first_thread) record[2] = nanoseconds();
  auto finish = [&] {                        // wait for all, read what the level counted
    search.finish();
    level_barrier(&control->arrivals, goal);
    if (threadIdx.x == 0) shared_tail = fresh(search.tail);      // (once a block: thousands of warps at one word would queue)
    __syncthreads();
    word tail = shared_tail;
    before = count;
    count = int64_t(tail >> 32);
    return int64_t(tail & 0xffffffffu);
  };
  int64_t items = list == nullptr ? 1 : list_count;
  for (int64_t i0 = search.warp * 32; i0 < items; i0 += search.warps * 32) {
    int64_t i = i0 + lane_number(), v = i >= items ? 0 : list == nullptr ? source : int64_t(list[i]);
    bool first = false;
    if (i < items) {
      W bit = W(W(1) << (v % NT));
      first = unite(g.parts0, v / NT, bit) == 0;
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
    search.tail = &control->slot[depth % 3].tail;
    search.depth = int(depth);
    if (first_thread) control->slot[(depth + 1) % 3] = LevelSlot{0, 0, 0, 0};
    W* stale = parts(old);                   // the frontier before this one: empty again for the next level
    const int32_t* stale_queue = queue(old);
    GRB_EACH(i, before) {
      int32_t k = fresh(stale_queue + i);
      if (k < g.out_lines) stale[k] = 0;
    }
    if (walk == PUSH_CSC) search.push_csc(queue(now), count, pending);
    else if (pending) search.write_queue_levels(search.front, queue(now), count, search.depth - 1);
    if (walk == PUSH_CSR) search.push_csr(0);
    if (walk == PULL_CSC) search.pull_csc();
    pending = walk == PUSH_CSC;
    turn = made;
    frontier = finish();
    reached += frontier;
    depth++;
  }
  if (pending && frontier > 0) {             // stopped before they were gone on from
    search.write_queue_levels(parts(turn), queue(turn), count, int(depth) - 1);
    level_barrier(&control->arrivals, goal);
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
