// BFS over bit tiles in one launch: TileBFS, with its three kernels chosen by level on the device.
//
// Result: as graph/bfs.cuh: level[v] and parent[v] of the vertices reached, `words` their presence bits.
// Algorithm: TileBFS (tilespmspv_tilebfs_icpp22), section 3.4.
// A set of vertices is an array of parts, one word of a tile's width for each line of tiles: visited, and three
//   frontiers in rotation (read, written, cleared).  A level also has a queue of the segments (products/bit_tiles.cuh)
//   of lines whose part is not empty.  These are the paper's dense and sparse vectors, which it keeps both (3.2.3).
// Phases of a level, a grid-wide barrier after it; the kernels of the paper:
//   push_csc (Algorithm 5)  8 to 32 lanes for each segment in the queue, a tile each: the union of the words that the
//                           frontier's bits name
//   push_csr (Algorithm 6)  eight lanes for each segment of in-tiles: tiles that the frontier meets test their
//                           unvisited columns
//   pull_csc (Algorithm 7)  a lane for each line finds those with unvisited vertices, eight lanes search each and stop
//                           when all are found; only the frontier is tested, because an unvisited vertex has no
//                           neighbour visited earlier
// Launch: cooperative, THREADS x BLOCKS per SM resident (backends/cuda/graph/bfs_tiles.py).
// Invariant: one atomic makes a vertex visited (on the next frontier's part); `visited` is written by the owner of a
//   line one level later, so a test reads visited | frontier.  Vertices found by push_csc get their level one level
//   later too, from the queue, where a line's vertices are written side by side.  Between launches all parts and the
//   control block are zero.
// Frontiers are bit parts here, so the edge numbering of frontier.cuh does not apply; the queue is a warp's
//   (WarpQueue), because a flush by the whole block would need a barrier within the level.
#pragma once
#include "products/bit_tiles.cuh"
#include "graph/bfs_state.cuh"
#include "graph/block_queue.cuh"

namespace grb {

enum TileDirection { PUSH_CSC = 0, PUSH_CSR = 1, PULL_CSC = 2 };
constexpr int GROUP = 8;                     // lanes that work on a segment

// Written by backends/cuda/graph/bfs_tiles.py in this order.
template <class W, class P> struct TileTable { // every field has 8 bytes
  int64_t n;
  TileLines<W, P> out;                       // tiles by the frontier's side
  const int32_t *out_extra, *out_owner;
  int64_t out_lines, out_pieces;
  TileLines<W, P> in;                        // tiles by the side of the vertices found
  const int32_t *in_extra, *in_owner;
  int64_t in_lines, in_pieces;
  const W* live;                             // vertices with in-edges
  int64_t live_count;
  W *visited, *parts0, *parts1, *parts2;
  int32_t *queue0, *queue1, *queue2;         // capacity: all segments of out-tiles
  BfsControl* control;
};

template <class W> GRB_DEVICE W load_part(const W* parts, int64_t i) { return __ldcg(parts + i); }
// The union over the lanes of each group.
template <class W> GRB_DEVICE W group_union(W bits) {
  using V = choose<sizeof(W) == 8, word, unsigned>;
  V all = V(bits);
  for (int by = GROUP / 2; by; by >>= 1) all |= __shfl_xor_sync(ALL_LANES, all, by);
  return W(all);
}

template <class W, class P, bool LEVELS, bool PARENTS> struct TileBfs {
  static constexpr int NT = 8 * sizeof(W);
  const TileTable<W, P>& g;
  int32_t* level;
  int64_t* parent;
  int64_t target, warp, warps;
  WarpQueue staged;                          // lines that are not in the queue yet
  int depth;
  const W* front;                            // this level's frontier
  W* next;                                   // the one that is made
  int32_t* queue;                            // its queue
  word* tail;                                // (segments << 32) + vertices of it
  unsigned found;                            // vertices not counted there yet

  GRB_DEVICE static int group() { return lane_number() / GROUP; }
  GRB_DEVICE static int member() { return lane_number() % GROUP; }

  GRB_DEVICE word reserve(word size) {
    word base = 0;
    if (lane_number() == 0) base = atomicAdd(tail, size);
    return __shfl_sync(ALL_LANES, base, 0) >> 32;
  }
  GRB_DEVICE void flush(int count, unsigned vertices) {
    const word base = reserve((word(count) << 32) + vertices);
    if (lane_number() < count) queue[base + lane_number()] = staged.item[lane_number()];
    __syncwarp();
  }
  // The lanes with `take` put the segments of out-line c into the next queue.  The warp calls together.
  GRB_DEVICE void append(bool take, int64_t c) {
    unsigned takers = __ballot_sync(ALL_LANES, take);
    if (!takers) return;
    staged.append(takers, take, int32_t(c), [&](int count) { flush(count, 0); });
    if (g.out_extra == nullptr) return;
    int more = take ? g.out_extra[c + 1] - g.out_extra[c] : 0;
    for_each_lane(more > 0, [&](int who) {
      int count = __shfl_sync(ALL_LANES, more, who);
      int64_t line = shuffle(c, who), first = g.out_lines + g.out_extra[line];
      const word base = reserve(word(count) << 32);
      for (int k = lane_number(); k < count; k += 32) queue[base + k] = int32_t(first + k);
    });
  }
  GRB_DEVICE void flush_rest() {             // at the end of a level
    unsigned vertices = warp_sum_everywhere(found);
    if (staged.count || vertices) flush(staged.count, vertices);
    staged.count = 0;
    found = 0;
  }

  // Vertices `bits` of line c have level `deep`; this is lane `first` of the `step` lanes that write them.
  GRB_DEVICE void write_levels(int64_t c, W bits, int deep, int first, int step) {
    if (LEVELS)
      for (int b = first; b < NT; b += step)
        if (bits >> b & 1) level[c * NT + b] = deep;
  }
  GRB_DEVICE void write_queue_levels(const W* parts, const int32_t* items, int64_t count, int deep) {
    if (!LEVELS) return;
    for (int64_t i0 = warp * 2; i0 < count; i0 += warps * 2) {
      int64_t i = i0 + (lane_number() >> 4), k = i < count ? int64_t(load_l2(items + i)) : g.out_lines;
      if (k < g.out_lines) write_levels(k, load_part(parts, k), deep, lane_number() & 15, 16);
    }
  }
  GRB_DEVICE void note_target(int64_t c, W bits) {
    if (target >= 0 && c == target / NT && (bits >> (target % NT) & 1)) g.control->target_depth = depth;
  }

  // The union of the words of a tile's lines `rest`, four loads at a time.
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
    const TileChunks pieces{g.out_lines, g.out_pieces, g.out_extra, g.out_owner};
    int width = 32;                          // lanes for a segment: many where segments are few
    while (width > GROUP && count * width > warps * 32) width >>= 1;
    int groups = 32 / width, mine_of = lane_number() & (width - 1);
    for (int64_t i0 = warp * groups; i0 < count; i0 += warps * groups) {
      int64_t i = i0 + lane_number() / width, line = 0, t = 0, stop = 0;
      W x = 0;
      if (i < count) {
        int64_t k = load_l2(current + i);
        chunk_range(g.out, pieces, k, line, t, stop);
        x = load_part(front, line);
        if (k == line) {
          if (mine_of == 0) g.visited[line] = W(load_part(g.visited, line) | x);
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
            W known = W(load_part(g.visited, to) | load_part(front, to));
            W mine = W(united(words, map, rest) & ~known);
            if (mine) {
              W before = unite(next, to, mine);
              mine &= W(~before);
              first = before == 0;
              found += bits_in(mine);
              note_target(to, mine);
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

  // The vertices of `open` (the same in all lanes of a group) that tiles first .. stop-1 of in-line c reach from the
  // frontier.
  template <bool STOPS> GRB_DEVICE W search(int64_t c, int64_t first, int64_t stop, W open) {
    W got = 0;
    int64_t t = first + member();
    while (__any_sync(ALL_LANES, t < stop && W(open & ~got))) {
      if (t < stop) {
        int64_t from = g.in.line[t];
        const W map = g.in.map[t];
        W x = load_part(front, from), rest = W(map & open & ~got);
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
      if (STOPS) got = group_union(got);
      t += GROUP;
    }
    return STOPS ? got : group_union(got);
  }
  // The vertices `got` of in-line c go into the next frontier.  shared: other groups have segments of this line.  The
  // warp calls together.
  GRB_DEVICE void visit(int64_t c, W got, bool shared) {
    W before = 0;
    bool first = false;
    if (got && member() == 0) {
      if (shared) before = unite(next, c, got); else next[c] = got;
      first = before == 0;
      found += bits_in(W(got & ~before));
      note_target(c, got);
    }
    write_levels(c, got, depth, member(), GROUP);
    append(first, c);
  }
  GRB_DEVICE W unvisited(int64_t c, bool owner) {
    W x = load_part(front, c), s = W(load_part(g.visited, c) | x);
    if (owner && x) g.visited[c] = s;
    return W(g.live[c] & ~s);
  }

  GRB_DEVICE void push_csr(int64_t begin) {
    const TileChunks pieces{g.in_lines, g.in_pieces, g.in_extra, g.in_owner};
    constexpr int GROUPS = 32 / GROUP;
    for (int64_t k0 = begin + warp * GROUPS; k0 < g.in_pieces; k0 += warps * GROUPS) {
      int64_t k = k0 + group(), line = 0, first = 0, stop = 0;
      W open = 0;
      if (k < g.in_pieces) {
        chunk_range(g.in, pieces, k, line, first, stop);
        open = unvisited(line, k == line && member() == 0);
      }
      visit(line, search<false>(line, first, stop, open), is_split(pieces, line));
    }
  }

  GRB_DEVICE void pull_csc() {
    const TileChunks pieces{g.in_lines, g.in_pieces, g.in_extra, g.in_owner};
    for (int64_t c0 = warp * 32; c0 < g.in_lines; c0 += warps * 32) {
      int64_t c = c0 + lane_number();
      W open = c < g.in_lines ? unvisited(c, true) : W(0);
      for (unsigned left = __ballot_sync(ALL_LANES, open != 0); left;) {
        unsigned mine = left;
        for (int k = 0; k < 32 / GROUP; k++) {
          if (k < group()) mine &= mine - 1;
          left &= left - 1;
        }
        int who = mine ? __ffs(int(mine)) - 1 : 0;
        W here = shuffle(open, who);
        int64_t line = c0 + who, first = 0, stop = 0;
        if (mine) chunk_range(g.in, pieces, line, line, first, stop); else here = 0;
        visit(line, search<true>(line, first, stop, here), is_split(pieces, line));
      }
    }
    if (g.in_pieces > g.in_lines) push_csr(g.in_lines);      // the other segments of long lines
  }
};

// a.direction: -1 chosen by level, else a TileDirection.  a.alpha: push_csc below 1/alpha of the tiles; a.beta:
// pull_csc when less than 1/beta of the vertices are left.
template <class W, class P, bool LEVELS, bool PARENTS, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS) bfs_tiles(BfsArguments a) {
  constexpr int NT = 8 * sizeof(W);
  __shared__ TileTable<W, P> g;
  __shared__ int32_t staged[THREADS * 2];
  __shared__ word shared_tail;
  load_table(g, a.table);
  LevelLoop<BfsControl> loop{g.control};
  const bool first_thread = is_first_thread();
  const RunRecord<> record{a.record, a.record_levels};
  auto parts = [&](int k) { return k == 0 ? g.parts0 : k == 1 ? g.parts1 : g.parts2; };
  auto queue = [&](int k) { return k == 0 ? g.queue0 : k == 1 ? g.queue1 : g.queue2; };
  TileBfs<W, P, LEVELS, PARENTS> search{
    g, a.level, a.parent, a.target, spread_warp(), spread_warps(), {staged + (threadIdx.x >> 5) * 64, 0}, 0, nullptr,
    g.parts0, g.queue0, &g.control->slot[0].queued, 0};
  int turn = 0;                              // the frontier that was made last
  bool pending = true;                       // its levels are not written yet
  int64_t count = 0, before = 0, depth = 1, reached = 0;
  if (first_thread) record.start();

  auto end_level = [&] {                     // vertices found; count: segments in the queue
    search.flush_rest();
    loop.end();
    if (threadIdx.x == 0) shared_tail = load_l2(search.tail);  // once a block: thousands of warps would queue for it
    __syncthreads();
    word tail = shared_tail;
    before = count;
    count = int64_t(tail >> 32);
    return int64_t(tail & 0xffffffffu);
  };
  auto start_frontier = [&] {
    const int64_t items = a.count();
    for (int64_t i0 = search.warp * 32; i0 < items; i0 += search.warps * 32) {
      int64_t i = i0 + lane_number(), v = i >= items ? 0 : int64_t(a.vertex(i));
      bool first = false;
      if (i < items) {
        W bit = W(W(1) << (v % NT));
        first = unite(g.parts0, v / NT, bit) == 0;
        if (PARENTS) a.parent[v] = v;
        search.found++;
      }
      search.append(first, v / NT);
    }
    return end_level();
  };
  auto choose_direction = [&]() -> int64_t {
    if (a.direction >= 0) return a.direction;
    const int64_t left = g.live_count - reached;
    return count * a.alpha < g.out_pieces ? PUSH_CSC : left * a.beta < g.n ? PULL_CSC : PUSH_CSR;
  };
  auto clear = [&](W* stale, const int32_t* stale_queue) {   // the frontier before this one, for the next level
    GRB_EACH(i, before) {
      int32_t k = load_l2(stale_queue + i);
      if (k < g.out_lines) stale[k] = 0;
    }
  };
  auto write_result = [&] {
    word *visited = reinterpret_cast<word*>(g.visited), *last = reinterpret_cast<word*>(parts(turn));
    word* second = reinterpret_cast<word*>(parts(turn == 2 ? 0 : turn + 1));
    word* third = reinterpret_cast<word*>(parts(turn == 0 ? 2 : turn - 1));
    GRB_EACH(i, (g.n + 63) >> 6) {
      a.words[i] = load_l2(visited + i) | load_l2(last + i);
      visited[i] = last[i] = second[i] = third[i] = 0;
    }
  };

  int64_t frontier = start_frontier();
  reached = frontier;
  while (frontier > 0 && depth <= a.max_level && !is_target_reached(a, g.control, depth)) {
    const int64_t direction = choose_direction();
    if (first_thread) record.level(depth - 1, frontier, direction, -1);
    int now = turn, made = turn == 2 ? 0 : turn + 1, old = made == 2 ? 0 : made + 1;
    search.front = parts(now);
    search.next = parts(made);
    search.queue = queue(made);
    search.tail = &loop.begin()->queued;
    search.depth = int(depth);
    clear(parts(old), queue(old));
    if (direction == PUSH_CSC) search.push_csc(queue(now), count, pending);
    else if (pending) search.write_queue_levels(search.front, queue(now), count, search.depth - 1);
    if (direction == PUSH_CSR) search.push_csr(0);
    if (direction == PULL_CSC) search.pull_csc();
    pending = direction == PUSH_CSC;
    turn = made;
    frontier = end_level();
    reached += frontier;
    depth++;
  }
  if (pending && frontier > 0) {             // stopped before the next level wrote them
    search.write_queue_levels(parts(turn), queue(turn), count, int(depth) - 1);
    loop.barrier();
  }
  write_result();
  if (first_thread) record.finish(reached, depth - 1);
  leave_bfs(loop, false);
}

}  // namespace grb
