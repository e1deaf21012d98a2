// Breadth-first traversal of roads and meshes: thousands of levels with a small frontier, pushed by one cluster of blocks.
//
// Result: as traversal/bfs.cuh.  When a level has more than `most` edges or a queue overflows, its vertices are written to
// `handed`, and the kernel that follows (traverse, launched in any case) goes on from there; otherwise that one finds the
// status DONE and leaves.
// Who calls: backends/cuda/traversal/bfs.py.  Launch one cluster (narrow_cluster) or a few resident blocks (narrow_grid).
// Threads: a thread for each edge of the frontier.  It asks for its end to be claimed and for that end's own neighbours (the
// first WIDTH of them lie in `heads`, no row start is looked up) at the same time; a thread that wins appends them, less the
// one it came from, as the next level's edges.  So a level is one trip to L2, an append in shared memory and a message.
// Queues lie in shared memory; each block appends to its own, all blocks share the next level out evenly and read each
// other's queues.  A message (edges, vertices, entries of a block in one word) to every block is counter and barrier in one.
// Memory order: entries are written to the block's shared memory before __syncthreads, the message after it; other blocks
// read the entries after they saw the message.  Seen bits are only ever asked for by atomics, which L2 performs.
#pragma once
#include "traversal/state.cuh"

namespace grb {

constexpr int QUEUE = 8192;                // places of one block's queue
constexpr int MOST_BLOCKS = 16;
constexpr unsigned NARROW_COUNT = (1u << 19) - 1, NARROW_EDGES = (1u << 20) - 1;

// entries 19 bits, vertices 19, edges 20, target found 1, level 5
GRB_DEVICE word message(unsigned entries, unsigned vertices, unsigned edges, bool hit, int depth) {
  return word(entries < NARROW_COUNT ? entries : NARROW_COUNT) | word(vertices) << 19 | word(edges) << 38 |
         word(hit) << 58 | word(depth & 31) << 59;
}

#if !defined(SIMT_CPU) && __CUDA_ARCH__ >= 900
GRB_DEVICE unsigned address_in_block(const void* mine, int block) {   // of the same variable of another block of the cluster
  unsigned address = unsigned(__cvta_generic_to_shared(mine)), there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  return there;
}
GRB_DEVICE word read_there(unsigned address) {
  word value;
  asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(value) : "r"(address) : "memory");
  return value;
}
GRB_DEVICE void write_there(unsigned address, word value) {
  asm volatile("st.relaxed.cluster.shared::cluster.u64 [%0], %1;" ::"r"(address), "l"(value) : "memory");
}
GRB_DEVICE void cluster_barrier() {
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#define GRB_CLUSTERS 1
#endif

// CLUSTER: queues and messages lie in the cluster's shared memory; else in global memory, with a grid barrier a level.
template <class P, int WIDTH, bool LEVELS, bool PARENTS, bool CLUSTER>
GRB_DEVICE void narrow_levels(const word* table, int source, int32_t* level, int64_t* parent, word* words,
                              int64_t* record, int64_t log_rows, int64_t max_level, int target, unsigned most,
                              word* queue) {
  __shared__ SearchTable<P> g;
  __shared__ word inbox[2][MOST_BLOCKS];
  __shared__ unsigned entries[2], vertices, edges, hit;
  load_table(g, table);
  SearchControl* control = g.control;
  const int lane = lane_number(), blocks = gridDim.x, me = blockIdx.x;
  const unsigned warp = (threadIdx.x >> 5) * blocks + me, warps = (blockDim.x >> 5) * blocks;
  const bool first_thread = me == 0 && threadIdx.x == 0;
  const int4* heads = reinterpret_cast<const int4*>(g.heads);
  unsigned* seen = g.seen0;
  word* spill = g.spill + me * g.spill_places;
  unsigned goal = 0;
  if (!CLUSTER) queue = g.segments + int64_t(me) * 2 * QUEUE;
  auto everybody = [&] {                   // a full barrier: global memory too
#ifdef GRB_CLUSTERS
    if constexpr (CLUSTER) {
      cluster_barrier();
      return;
    }
#endif
    level_barrier(&control->arrivals, goal);
  };
  auto send = [&](word text, int depth) {  // warp 0
#ifdef GRB_CLUSTERS
    if constexpr (CLUSTER) {
      if (lane < blocks) write_there(address_in_block(&inbox[depth & 1][me], lane), text);
      return;
    }
#endif
    if (lane == 0) control->inbox[depth & 1][me] = text;
  };
  auto receive = [&](int depth) -> word {  // lane b: what block b sent
    word text = 0;
#ifdef GRB_CLUSTERS
    if constexpr (CLUSTER) {
      if (lane < blocks) {
        unsigned turns = 0;
        do {
          text = *(volatile word*)&inbox[depth & 1][lane];
          if (++turns >> 29) __trap();       // a block is missing for seconds: fail, do not hang
        } while (int(text >> 59) != (depth & 31));
      }
      __syncwarp();
      return text;
    }
#endif
    return lane < blocks ? fresh(&control->inbox[depth & 1][lane]) : word(0);
  };
  auto entry_of = [&](int depth, int block, unsigned k) -> word {
#ifdef GRB_CLUSTERS
    if constexpr (CLUSTER) return read_there(address_in_block(queue + (depth & 1) * QUEUE, block) + 8 * k);
#endif
    return fresh(g.segments + (int64_t(block) * 2 + (depth & 1)) * QUEUE + k);
  };
  auto claimed = [&](int v, int from, int depth) {
    if (LEVELS) level[v] = depth;
    if (PARENTS) parent[v] = from;
    if (v == target) hit = 1;
  };
  if (threadIdx.x == 0) {
    entries[0] = entries[1] = vertices = edges = hit = 0;
    if (me == 0) {
      record[2] = nanoseconds();
      queue[0] = word(unsigned(source)) << 32 | unsigned(source);
    }
    for (int b = 0; b < MOST_BLOCKS; b++) inbox[0][b] = message(b == 0, 0, 0, false, 0), inbox[1][b] = message(0, 0, 0, false, 31);
    if (!CLUSTER) control->inbox[0][me] = message(me == 0, 0, 0, false, 0);
  }
  everybody();
  int depth = 0;                           // the level that is being made
  int64_t reached = 0, rows = 0;
  int state = DONE;
  unsigned mine;                           // lane b: edges in the queue of block b
  for (;; depth++) {
    word text = receive(depth);
    mine = unsigned(text) & NARROW_COUNT;
    unsigned upto = mine;
    for (int by = 1; by < MOST_BLOCKS; by <<= 1) {
      unsigned other = __shfl_up_sync(ALL_LANES, upto, by);
      if (lane >= by) upto += other;
    }
    unsigned total = __shfl_sync(ALL_LANES, upto, MOST_BLOCKS - 1);
    if (depth > 0) {
      unsigned frontier = __reduce_add_sync(ALL_LANES, unsigned(text >> 19) & NARROW_COUNT);
      unsigned left = __reduce_add_sync(ALL_LANES, unsigned(text >> 38) & NARROW_EDGES);
      reached += frontier;
      if (frontier == 0 || depth > max_level) break;
      if (__any_sync(ALL_LANES, text >> 58 & 1)) break;
      if (first_thread) log_level(record, log_rows, depth - 1, frontier, 0, left);
      rows = depth;
      if (total == 0) break;
    }
    if (total > most || __any_sync(ALL_LANES, mine > QUEUE)) {
      state = HANDED_OVER;
      break;
    }
    word* own = queue + ((depth + 1) & 1) * QUEUE;
    unsigned* own_count = &entries[(depth + 1) & 1];
    unsigned my_vertices = 0, my_edges = 0;
    auto append = [&](unsigned at, int near, int from) {
      word entry = word(unsigned(from)) << 32 | unsigned(near);
      prefetch(heads + int64_t(near) * WIDTH / 4);       // asked for by the next level
      if (at < QUEUE) own[at] = entry;
      else spill[at - QUEUE] = entry;
    };
    auto reserve = [&](unsigned count) -> unsigned {
      unsigned at = 0;
      if (lane == 0) at = atomicAdd(own_count, count);
      return __shfl_sync(ALL_LANES, at, 0);
    };
    for (unsigned i0 = warp * 32; i0 < total; i0 += warps * 32) {
      unsigned i = i0 + lane;
      bool have = i < total;
      int s = 0;                           // whose queue holds edge i: the number of blocks with upto <= i
#pragma unroll
      for (int step = MOST_BLOCKS / 2; step; step >>= 1) {
        unsigned there = __shfl_sync(ALL_LANES, upto, s + step - 1);
        if (there <= i) s += step;
      }
      unsigned before = __shfl_sync(ALL_LANES, upto, s ? s - 1 : 0);
      word entry = have ? entry_of(depth, s, i - (s ? before : 0)) : 0;
      int v = int(unsigned(entry)), from = int(unsigned(entry >> 32)), row[WIDTH];
      bool won = false;
      if (have) {
#pragma unroll
        for (int k = 0; k < WIDTH; k += 4) {
          int4 four = heads[(int64_t(v) * WIDTH + k) / 4];
          row[k] = four.x, row[k + 1] = four.y, row[k + 2] = four.z, row[k + 3] = four.w;
        }
        won = claim(seen, v);
      }
      if (!__any_sync(ALL_LANES, won)) continue;
      if (won) claimed(v, from, depth);
      my_vertices += won;
      unsigned takers[WIDTH], count = 0;
#pragma unroll
      for (int k = 0; k < WIDTH; k++) {
        bool there = won && row[k] >= 0;
        my_edges += there;
        takers[k] = __ballot_sync(ALL_LANES, there && row[k] != from);
        count += __popc(takers[k]);
      }
      if (count) {
        unsigned at = reserve(count);
#pragma unroll
        for (int k = 0; k < WIDTH; k++) {
          if (takers[k] >> lane & 1) append(at + __popc(takers[k] & lanes_below()), row[k], v);
          at += __popc(takers[k]);
        }
      }
      for (unsigned more = __ballot_sync(ALL_LANES, won && row[WIDTH - 1] == -2); more; more &= more - 1) {
        int who = __ffs(int(more)) - 1, u = __shfl_sync(ALL_LANES, v, who), back = __shfl_sync(ALL_LANES, from, who);
        int64_t k = int64_t(g.out_start[u]) + WIDTH - 1, end = g.out_start[u + 1];
        if (lane == who) my_edges += unsigned(end - k);
        for (k += lane; k - lane < end; k += 32) {
          int near = k < end ? g.out[k] : back;
          unsigned lanes = __ballot_sync(ALL_LANES, near != back);
          if (!lanes) continue;
          unsigned at = reserve(__popc(lanes));
          if (near != back) append(at + __popc(lanes & lanes_below()), near, u);
        }
      }
    }
    my_vertices = __reduce_add_sync(ALL_LANES, my_vertices);
    if (my_vertices) {
      my_edges = __reduce_add_sync(ALL_LANES, my_edges);
      if (lane == 0) {
        atomicAdd(&vertices, my_vertices);
        atomicAdd(&edges, my_edges);
      }
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      word news = message(*own_count, vertices, edges, hit != 0, depth + 1);
      __syncwarp();
      if (lane == 0) entries[depth & 1] = vertices = edges = 0;      // nobody appends before this message is out
      __syncwarp();
      send(news, depth + 1);
    }
    if (!CLUSTER) level_barrier(&control->arrivals, goal);
  }
  if (state == HANDED_OVER) {              // this level's edges become its vertices
    unsigned held = __shfl_sync(ALL_LANES, mine, me);
    const word* own = queue + (depth & 1) * QUEUE;
    for (unsigned k = threadIdx.x; k - threadIdx.x < held; k += blockDim.x) {
      word entry = k < held ? (k < QUEUE ? own[k] : spill[k - QUEUE]) : 0;
      int v = int(unsigned(entry));
      bool won = k < held && claim(seen, v);
      if (won) claimed(v, int(unsigned(entry >> 32)), depth);
      if (won && v == target) control->target_depth = depth;
      unsigned takers = __ballot_sync(ALL_LANES, won);
      unsigned long long at = 0;
      if (lane == 0 && takers) at = atomicAdd(reinterpret_cast<word*>(&control->handed_count), word(__popc(takers)));
      at = __shfl_sync(ALL_LANES, at, 0);
      if (won) g.handed[at + __popc(takers & lanes_below())] = v;
    }
    everybody();
  } else {
    hand_out(seen, seen, words, g.n);
  }
  if (first_thread) {
    record[0] = reached;
    record[1] = rows;
    record[3] = nanoseconds();
    record[4] = clock64();
    if (state == HANDED_OVER) {
      control->handed_depth = depth + 1;
      control->handed_reached = reached + fresh(&control->handed_count);
    }
    control->status = state;
  }
  if (CLUSTER) everybody();                // nobody leaves while its shared memory may be read
  leave(control, true);
}

template <class P, int WIDTH, bool LEVELS, bool PARENTS>
__global__ void __launch_bounds__(1024)
narrow_grid(const word* table, int64_t source, int32_t* level, int64_t* parent, word* words, int64_t* record,
            int64_t log_rows, int64_t max_level, int64_t target, int64_t most) {
  narrow_levels<P, WIDTH, LEVELS, PARENTS, false>(table, int(source), level, parent, words, record, log_rows, max_level,
                                                  int(target), unsigned(most), nullptr);
}

#ifdef GRB_CLUSTERS
template <class P, int WIDTH, bool LEVELS, bool PARENTS, int BLOCKS>
__global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(1024)
narrow_cluster(const word* table, int64_t source, int32_t* level, int64_t* parent, word* words, int64_t* record,
               int64_t log_rows, int64_t max_level, int64_t target, int64_t most) {
  extern __shared__ word narrow_queue[];   // 2 * QUEUE
  narrow_levels<P, WIDTH, LEVELS, PARENTS, true>(table, int(source), level, parent, words, record, log_rows, max_level,
                                                 int(target), unsigned(most), narrow_queue);
}
#endif

}  // namespace grb
