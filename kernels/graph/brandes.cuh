// Brandes' dependencies of many sources in one launch: shortest paths counted forwards, dependencies summed backwards.
//
// Result: score[v] += delta_s(v) = sum over t of (shortest paths from s to t through v) / (those from s to t), for each
//   source s; BY_EDGE: score[k] += the share of entry k, paths(u) * (1 / paths(v) + sum(v)).
// Algorithm: Brandes, "A faster algorithm for betweenness centrality" (J. Math. Sociology 25, 2001), by levels:
//     paths(v) = sum of paths(u)                    over the edges u -> v from the level before
//     sum(u)   = sum of 1 / paths(v) + sum(v)       over the edges u -> v to the next level;  delta = paths * sum
// The grid is divided into groups of blocks.  A group searches from one source after the other in a workspace of its
//   own, so small graphs are searched from many sources at once, without a barrier where a group is one block.
// Phases for a source, a barrier of the group after each:
//   forward     a level's queue is expanded (frontier.cuh); ends without depth join the next level's queue; paths are
//               added by atomics.  All queues are kept, one after the other
//   shares      1 / paths for the vertices reached
//   backward    the queues from the last to the first; the lanes of one vertex add their shares before the atomic
//   collect     add to the score, and leave depth and paths clean for the next source
// Launch: cooperative, group_blocks * groups blocks (backends/cuda/graph/brandes.py).
// Preconditions: depth -1, paths 0, control 0; n < 2^31 - 128; fewer than 2^33 edges.
#pragma once
#include "graph/bfs_push.cuh"

namespace grb {

struct BrandesControl {
  using Slot = LevelCounters;
  unsigned arrivals, departures;
  LevelCounters slot[3];
};
struct PathShares { double inverse, sum; };  // 1 / paths(v), sum(v): side by side, because they are read together

// Packed by backends/cuda/graph/brandes.py in this order; arrays from `depth` on have a part for each group.
struct BrandesArguments {                    // every field has 8 bytes
  const void* start;
  const int32_t* out;
  int64_t n;
  const int32_t* sources;
  int64_t count, group_blocks, endpoints;
  double* score;
  int32_t* depth;
  double* paths;
  PathShares* shares;
  int32_t* vertex;                           // of frontier.cuh: n places,
  void *stop, *base;
  int32_t* chunk;                            // and `chunks`
  int64_t chunks;
  word* sizes;                               // of each level's queue: n + 1
  BrandesControl* control;
};

// Add `share` to the sum of `owner` (-1: none), lanes of the same owner, which are neighbours, together.
GRB_DEVICE void add_by_owner(PathShares* shares, int owner, double share) {
  if (!__any_sync(ALL_LANES, share != 0)) return;
  const int lane = lane_number();
  const int before = __shfl_up_sync(ALL_LANES, owner, 1);
  const unsigned heads = __ballot_sync(ALL_LANES, lane == 0 || before != owner);
  const int run = lane - (31 - __clz(int(heads & (lanes_below() | 1u << lane))));   // lanes of the same owner before
#pragma unroll
  for (int by = 1; by < 32; by <<= 1) {
    double other = shuffle_up(share, by);
    if (run >= by) share += other;
  }
  const bool last = lane == 31 || (heads >> (lane + 1) & 1);
  if (last && share != 0) atomicAdd(&shares[owner].sum, share);
}

template <class P, bool BY_EDGE>
__global__ void __launch_bounds__(512, 2) brandes(BrandesArguments a) {
  __shared__ BfsBlock block;
  __shared__ BfsTable<P> g;
  const int group = blockIdx.x / int(a.group_blocks), groups = gridDim.x / int(a.group_blocks);
  const int64_t n = a.n;
  const P* start = static_cast<const P*>(a.start);
  const int32_t* out = a.out;
  int32_t *depth = a.depth + group * a.n, *vertex = a.vertex + group * a.n, *chunk = a.chunk + group * a.chunks;
  double* paths = a.paths + group * a.n;
  PathShares* shares = a.shares + group * a.n;
  P *stop = static_cast<P*>(a.stop) + group * a.n, *base = static_cast<P*>(a.base) + group * a.n;
  word* sizes = a.sizes + group * (a.n + 1);
  LevelLoop<BrandesControl> loop{a.control + group};
  loop.block = blockIdx.x % int(a.group_blocks), loop.blocks = unsigned(a.group_blocks);
  const bool leader = loop.block == 0 && threadIdx.x == 0;
  const int64_t warp = int64_t(threadIdx.x >> 5) * loop.blocks + loop.block, warps = (blockDim.x >> 5) * loop.blocks;
  const int64_t from = int64_t(loop.block) * blockDim.x + threadIdx.x;
  const int64_t by = int64_t(loop.blocks) * blockDim.x;
  if (threadIdx.x == 0) block.staged.reset(), g.out_start = start;
  __syncthreads();
  BfsPush<P, false, true, false> search{g, block, nullptr, nullptr, -1, warp, warps, nullptr, 0, int64_t(EDGE_MASK)};
  if (leader && group < a.count) depth[a.sources[group]] = 0, paths[a.sources[group]] = 1;
  loop.barrier();
  for (int64_t j = group; j < a.count; j += groups) {
    const int s = a.sources[j];
    int64_t position = 0, chunk_at = 0, reached = 1, found = 1;
    word size = size_of_row(start[s + 1] - start[s]);
    int level = 0;                           // the level that `size` is of; its queue ends at position, chunk_at
    auto frontier_of = [&](int level, word size, int64_t position, int64_t chunk_at) {
      return BfsFrontier<P, true>{stop + position, base + position, start, vertex + position, chunk + chunk_at,
                                  vertices_of(size), level == 0 ? s : -1};
    };
    auto chunks_of = [](word size) { return (edges_of(size) + CHUNK - 1) / CHUNK; };
    int64_t first = 0, first_chunk = 0;      // of the level's queue
    while (edges_of(size) > 0) {
      const auto frontier = frontier_of(level, size, first, first_chunk);
      if (threadIdx.x == 0)
        g.vertex1 = vertex + position, g.chunk1 = chunk + chunk_at, g.stop1 = stop + position,
        g.base1 = base + position;
      __syncthreads();
      search.counters = loop.begin();
      level++;
      expand_edges<int>(frontier, edges_of(size), warp, warps,
                        [&](const int64_t (&at)[CHUNK_STEPS], const int (&owner)[CHUNK_STEPS]) {
        int near[CHUNK_STEPS], there[CHUNK_STEPS];
        bool take[CHUNK_STEPS];
#pragma unroll
        for (int k = 0; k < CHUNK_STEPS; k++) near[k] = at[k] >= 0 ? out[at[k]] : -1;
#pragma unroll
        for (int k = 0; k < CHUNK_STEPS; k++) there[k] = near[k] >= 0 ? load_l2(depth + near[k]) : -2;
#pragma unroll
        for (int k = 0; k < CHUNK_STEPS; k++) {
          take[k] = false;
          if (there[k] == -1) {
            int old = atomicCAS(&depth[near[k]], -1, level);
            take[k] = old == -1;
            there[k] = take[k] ? level : old;
          }
          if (there[k] == level) atomicAdd(&paths[near[k]], load_l2(paths + owner[k]));
        }
#pragma unroll
        for (int k = 0; k < CHUNK_STEPS; k++) search.stage(take[k], near[k], 1);
      });
      search.flush(1);
      const LevelCounters* counted = loop.end();
      size = load_l2(&counted->queued);
      found = vertices_of(size) + int64_t(load_l2(&counted->without_edges));
      reached += found;
      if (leader) sizes[level] = size;
      first = position, first_chunk = chunk_at;
      position += vertices_of(size), chunk_at += chunks_of(size);
    }
    for (int64_t v = from; v < n; v += by)
      if (load_l2(depth + v) >= 0) shares[v] = PathShares{1 / load_l2(paths + v), 0};
    loop.barrier();
    for (int k = level - 1; k >= (BY_EDGE ? 0 : 1); k--) {
      size = k ? load_l2(sizes + k) : size_of_row(start[s + 1] - start[s]);
      first -= k ? vertices_of(size) : 0, first_chunk -= k ? chunks_of(size) : 0;
      if (k == level - 1 && found == 0) continue;          // the last level has no next one
      expand_edges<int>(frontier_of(k, size, first, first_chunk), edges_of(size), warp, warps,
                        [&](const int64_t (&at)[CHUNK_STEPS], const int (&owner)[CHUNK_STEPS]) {
        int near[CHUNK_STEPS];
        double share[CHUNK_STEPS];
#pragma unroll
        for (int i = 0; i < CHUNK_STEPS; i++) near[i] = at[i] >= 0 ? out[at[i]] : -1;
#pragma unroll
        for (int i = 0; i < CHUNK_STEPS; i++)
          if (near[i] >= 0 && load_l2(depth + near[i]) != k + 1) near[i] = -1;
#pragma unroll
        for (int i = 0; i < CHUNK_STEPS; i++) {
          share[i] = near[i] >= 0 ? load_l2(&shares[near[i]].inverse) + load_l2(&shares[near[i]].sum) : 0.0;
          if (BY_EDGE && near[i] >= 0) atomicAdd(&a.score[at[i]], load_l2(paths + owner[i]) * share[i]);
        }
#pragma unroll
        for (int i = 0; i < CHUNK_STEPS; i++) add_by_owner(shares, at[i] >= 0 ? owner[i] : -1, share[i]);
      });
      loop.barrier();
    }
    const int next = j + groups < a.count ? a.sources[j + groups] : -1;
    for (int64_t v = from; v < n; v += by) {
      if (load_l2(depth + v) >= 0) {
        if (!BY_EDGE) {
          double more = v != s ? load_l2(paths + v) * load_l2(&shares[v].sum) + (a.endpoints ? 1 : 0)
                               : a.endpoints ? double(reached - 1) : 0.0;
          if (more != 0) atomicAdd(&a.score[v], more);
        }
        depth[v] = -1, paths[v] = 0;
      }
      if (v == next) depth[v] = 0, paths[v] = 1;
    }
    loop.barrier();
  }
  loop.leave();
}

}  // namespace grb
