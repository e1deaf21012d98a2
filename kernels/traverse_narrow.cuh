// Breadth-first traversal of roads and meshes: thousands of levels with a small frontier, pushed by one cluster of blocks.
//
// Result: as traverse.cuh.  A frontier of more than `most` vertices is written to `handed`, and the kernel that follows
// (traverse, launched in any case) goes on from there; otherwise that one finds the status DONE and leaves.
// Who calls: backends/cuda/traverse.py.  Launch one cluster (narrow_cluster) or a few resident blocks (narrow_grid).
// Threads: `width` lanes a frontier vertex, a lane for each of its first neighbours, which lie in `heads` (no row start is
// looked up); what a long row has beyond them is walked by the same lanes.  Each block appends to a segment of its own, so
// places are drawn in shared memory; all blocks share the next level out evenly.
// A level is: counts, queue entry, neighbour, claim, append, barrier; neighbours are fetched into L2 when a vertex is found.
#pragma once
#include "traverse_state.cuh"

namespace grb {

constexpr int SEGMENT = 16384;             // places of one block's queue: most * width must not exceed blocks * SEGMENT
constexpr int MOST_BLOCKS = 32;

struct Counts { unsigned vertices[3], edges[3]; };

#if !defined(SIMT_CPU) && __CUDA_ARCH__ >= 900
GRB_DEVICE unsigned count_of_block(unsigned* mine, int block) {     // the same variable of another block of the cluster
  unsigned address = unsigned(__cvta_generic_to_shared(mine)), there, value;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(there) : "memory");
  return value;
}
GRB_DEVICE void cluster_barrier() {
  __syncwarp();
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
#endif

// CLUSTER: counts are read from the other blocks' shared memory and the barrier is the cluster's; else both go through
// global memory.
template <class P, int WIDTH, bool LEVELS, bool PARENTS, bool CLUSTER>
GRB_DEVICE void narrow_levels(const word* table, int source, int32_t* level, int64_t* parent, word* words,
                              int64_t* record, int64_t log_rows, int64_t max_level, int target, unsigned most) {
  __shared__ SearchTable<P> g;
  __shared__ Counts counts;
  load_table(g, table);
  SearchControl* control = g.control;
  const int lane = lane_number(), blocks = gridDim.x, slot = lane & (WIDTH - 1);
  const unsigned groups = 32 / WIDTH;
  const unsigned warp = (threadIdx.x >> 5) * blocks + blockIdx.x, warps = (blockDim.x >> 5) * blocks;
  const bool first_thread = blockIdx.x == 0 && threadIdx.x == 0;
  const int32_t* heads = g.heads;
  unsigned* seen = g.seen0;
  unsigned goal = 0;
  auto barrier = [&](int turn) {
#if !defined(SIMT_CPU) && __CUDA_ARCH__ >= 900
    if constexpr (CLUSTER) {
      cluster_barrier();
      return;
    }
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
      control->narrow_count[turn & 1][blockIdx.x] = counts.vertices[turn % 3];
      control->narrow_edges[turn & 1][blockIdx.x] = counts.edges[turn % 3];
    }
    level_barrier(&control->arrivals, goal);
  };
  auto count_of = [&](int turn, int block, bool edges) -> unsigned {
#if !defined(SIMT_CPU) && __CUDA_ARCH__ >= 900
    if constexpr (CLUSTER) return count_of_block(edges ? &counts.edges[turn % 3] : &counts.vertices[turn % 3], block);
#endif
    return fresh(edges ? &control->narrow_edges[turn & 1][block] : &control->narrow_count[turn & 1][block]);
  };
  if (threadIdx.x < 3) counts.vertices[threadIdx.x] = counts.edges[threadIdx.x] = 0;
  __syncthreads();
  if (first_thread) {
    record[2] = nanoseconds();
    atomicOr(&seen[source >> 5], 1u << (source & 31));
    if (LEVELS) level[source] = 0;
    if (PARENTS) parent[source] = source;
    g.segments[0] = source;
    counts.vertices[0] = 1;
  }
  barrier(0);
  int turn = 0;                            // levels made; the frontier lies in half turn & 1 of the segments
  int64_t reached = 1;
  unsigned total;
  int state = DONE;
  for (;;) {
    unsigned mine = lane < blocks ? count_of(turn, lane, false) : 0, upto = mine;
    for (int by = 1; by < MOST_BLOCKS; by <<= 1) {
      unsigned other = __shfl_up_sync(ALL_LANES, upto, by);
      if (lane >= by) upto += other;
    }
    total = __shfl_sync(ALL_LANES, upto, 31);
    if (turn > 0) {
      reached += total;
      if (blockIdx.x == 0 && threadIdx.x < 32) {     // what the level before cost
        unsigned edges = __reduce_add_sync(ALL_LANES, lane < blocks ? count_of(turn, lane, true) : 0u);
        if (lane == 0 && turn <= log_rows) record[HEAD_ROWS + 4 * (turn - 1) + 2] = edges;
      }
    }
    if (total == 0 || turn >= max_level) break;
    if (target >= 0) {
      int at = fresh(&control->target_depth);
      if (at && at <= turn) break;
    }
    if (total > most) {
      state = HANDED_OVER;
      break;
    }
    if (first_thread) log_level(record, log_rows, turn, total, 0, 0);
    const int depth = turn + 1;
    unsigned* my_count = &counts.vertices[depth % 3];
    if (threadIdx.x == 0) counts.vertices[(depth + 1) % 3] = counts.edges[(depth + 1) % 3] = 0;
    const int32_t* queue = g.segments + int64_t(turn & 1) * blocks * SEGMENT;
    int32_t* own = g.segments + (int64_t(depth & 1) * blocks + blockIdx.x) * SEGMENT;
    unsigned edges = 0;
    auto visit = [&](int near, int from) {
      bool take = near >= 0 && claim(seen, near);
      edges += near >= 0;
      unsigned takers = __ballot_sync(ALL_LANES, take);
      if (!takers) return;
      unsigned at = 0;
      if (lane == 0) at = atomicAdd(my_count, unsigned(__popc(takers)));
      at = __shfl_sync(ALL_LANES, at, 0) + __popc(takers & lanes_below());
      if (take) {
        own[at] = near;
        if (LEVELS) level[near] = depth;
        if (PARENTS) parent[near] = from;
        if (near == target) control->target_depth = depth;
        prefetch(heads + int64_t(near) * WIDTH);
      }
    };
    for (unsigned i0 = warp * groups; i0 < total; i0 += warps * groups) {
      unsigned i = i0 + lane / WIDTH;
      int s = 0;                           // whose segment holds entry i: the number of blocks with upto <= i
      for (int step = MOST_BLOCKS / 2; step; step >>= 1) {
        unsigned there = __shfl_sync(ALL_LANES, upto, s + step - 1);
        if (there <= i) s += step;
      }
      unsigned before = __shfl_sync(ALL_LANES, upto, s ? s - 1 : 0);
      bool have = i < total;
      int v = have ? fresh(queue + int64_t(s) * SEGMENT + (i - (s ? before : 0))) : 0;
      int near = have ? heads[int64_t(v) * WIDTH + slot] : -1;
      bool longer = __shfl_sync(ALL_LANES, near, lane | (WIDTH - 1)) < -1;      // the last place says: there is more
      visit(near, v);
      if (__any_sync(ALL_LANES, longer)) {
        P k = longer ? P(g.out_start[v] + (WIDTH - 1) + slot) : P(0), end = longer ? g.out_start[v + 1] : P(0);
        while (__any_sync(ALL_LANES, k < end)) {
          visit(k < end ? g.out[k] : -1, v);
          k += WIDTH;
        }
      }
    }
    edges = __reduce_add_sync(ALL_LANES, edges);
    if (lane == 0 && edges) atomicAdd(&counts.edges[depth % 3], edges);
    turn = depth;
    barrier(turn);
  }
  if (state == HANDED_OVER) {
    unsigned mine = count_of(turn, blockIdx.x, false), before = 0;
    for (int b = 0; b < int(blockIdx.x); b++) before += count_of(turn, b, false);
    const int32_t* from = g.segments + (int64_t(turn & 1) * blocks + blockIdx.x) * SEGMENT;
    for (unsigned k = threadIdx.x; k < mine; k += blockDim.x) g.handed[before + k] = fresh(from + k);
  } else {
    hand_out(seen, seen, words, g.n);
  }
  if (first_thread) {
    record[0] = reached;
    record[1] = turn;
    record[3] = nanoseconds();
    record[4] = clock64();
    control->handed_count = total;
    control->handed_depth = turn + 1;
    control->handed_reached = reached;
    control->status = state;
  }
#if !defined(SIMT_CPU) && __CUDA_ARCH__ >= 900
  if constexpr (CLUSTER) cluster_barrier();          // nobody leaves while its shared memory is read
#endif
  leave(control, true);
}

template <class P, int WIDTH, bool LEVELS, bool PARENTS>
__global__ void __launch_bounds__(1024)
narrow_grid(const word* table, int64_t source, int32_t* level, int64_t* parent, word* words, int64_t* record,
            int64_t log_rows, int64_t max_level, int64_t target, int64_t most) {
  narrow_levels<P, WIDTH, LEVELS, PARENTS, false>(table, int(source), level, parent, words, record, log_rows, max_level,
                                                  int(target), unsigned(most));
}

#if !defined(SIMT_CPU) && __CUDA_ARCH__ >= 900
template <class P, int WIDTH, bool LEVELS, bool PARENTS, int BLOCKS>
__global__ void __cluster_dims__(BLOCKS, 1, 1) __launch_bounds__(1024)
narrow_cluster(const word* table, int64_t source, int32_t* level, int64_t* parent, word* words, int64_t* record,
               int64_t log_rows, int64_t max_level, int64_t target, int64_t most) {
  narrow_levels<P, WIDTH, LEVELS, PARENTS, true>(table, int(source), level, parent, words, record, log_rows, max_level,
                                                 int(target), unsigned(most));
}
#endif

}  // namespace grb
