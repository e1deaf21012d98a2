// Connected components in one launch: union-find by sampled hooking and compressing.
//
// Result: label[v] = the smallest vertex of v's component; control->count = the number of components.
// Algorithm: Afforest, Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph
//   sampling" (IPDPS 2018), section IV; hooking by compareAndSwap: `link` is the paper's Link, `compress` its Compress.
// Phases, a grid-wide barrier after each:
//   hook_first      each vertex hooks onto its first neighbour where that is smaller (a store, no atomic); compress
//   link_sampled    one vertex in 256 links with its second neighbour, so that large trees become one before thousands
//                   of threads read the same root; compress; then one in 16, because without hubs the first sample
//                   leaves many trees; compress; then all vertices do so; compress
//   commonest_root  the component of most of 256 sampled vertices, found by one block during the last compress
//   link_the_rest   vertices outside that component link with their neighbours and stop once they belong to it (an edge
//                   of two vertices that stopped is inside it), so that long rows of hubs are not read
//   write_labels    the root of each vertex
// Launch: cooperative, 512 threads a block (backends/cuda/graph/components.py).
// Preconditions: *control is all zero; n < 2^31 - 128.
// Invariant: tree[v] <= v, so trees have no cycles and a root is the smallest vertex of its tree.
#pragma once
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

struct ComponentsControl { unsigned arrivals, skip; word count; };
constexpr int COMPONENT_SAMPLES = 256;
constexpr int ROW_OF_LANE = 64;                // longer rows are linked by a warp

// Unite the trees of u and v.  Returns a common ancestor, which was a root unless another thread has hooked it since.
GRB_DEVICE int link(int32_t* tree, int u, int v) {
  int a = load_l2(tree + u), b = load_l2(tree + v);
  while (a != b) {
    int high = a > b ? a : b, low = a > b ? b : a, above = load_l2(tree + high);
    if (above == low || (above == high && atomicCAS(&tree[high], high, low) == high)) return low;
    a = load_l2(tree + load_l2(tree + high));
    b = load_l2(tree + low);
  }
  return a;
}

// Do u and v have a common ancestor within four steps, by what L1 holds?  A stale parent is still an ancestor.  Most
// vertices climb to the same few roots: L1 serves those at once, L2 one request at a time.
GRB_DEVICE bool surely_linked(const int32_t* tree, int u, int v) {
  int a = tree[u], b = tree[v];
  for (int k = 0; k < 4 && a != b; k++) {
    int high = a > b ? a : b, above = tree[high];
    if (above == high) break;
    b = a > b ? b : a;
    a = above;
  }
  return a == b;
}

// The root of v; no thread may hook meanwhile.  Each step is stored (pointer jumping), so that the vertices of a long
// chain, all climbing at once, double their strides.  The first `cached` steps read through L1, which may be stale.
GRB_DEVICE int compress(int32_t* tree, int64_t v, int cached) {
  int root = tree[v], above = tree[root];
  for (; above != root; cached--) {
    tree[v] = root = above;
    above = cached > 0 ? tree[root] : load_l2(tree + root);
  }
  return root;
}

// The root that most of 256 evenly spread vertices have, in thread 0.  The block calls together.
GRB_DEVICE int commonest_root(const int32_t* tree, int64_t n) {
  __shared__ int32_t sample[COMPONENT_SAMPLES];
  __shared__ word best[32];
  for (int k = threadIdx.x; k < COMPONENT_SAMPLES; k += blockDim.x) {
    int root = load_l2(tree + k * n / COMPONENT_SAMPLES);
    for (int above = load_l2(tree + root); above != root; above = load_l2(tree + root)) root = above;
    sample[k] = root;
  }
  __syncthreads();
  word most = 0;
  for (int k = threadIdx.x; k < COMPONENT_SAMPLES; k += blockDim.x) {
    word same = 0;
    for (int i = 0; i < COMPONENT_SAMPLES; i++) same += sample[i] == sample[k];
    word key = same << 32 | unsigned(sample[k]);
    most = key > most ? key : most;
  }
  return int(unsigned(block_reduce(most, [](word a, word b) { return a > b ? a : b; }, best)));
}

// start, indices: rows of neighbours; more_start, more: those of the other direction (null where symmetric).
// `labels` holds each vertex's second neighbour until write_labels.
template <class P>
__global__ void __launch_bounds__(512, 3)
components(const P* start, const int32_t* indices, const P* more_start, const int32_t* more, int64_t n, int32_t* tree,
           word* labels, void* counters) {
  ComponentsControl* control = static_cast<ComponentsControl*>(counters);
  __shared__ word sums[32];
  int32_t* second = reinterpret_cast<int32_t*>(labels);
  const int cached = start[n] > 8 * n ? 4 : 0;  // trees of graphs with hubs are low
  unsigned goal = 0;
  auto barrier = [&] { level_barrier(&control->arrivals, goal); };
  auto hook_first = [&] {
    GRB_EACH(v, n) {
      P i = start[v], end = start[v + 1];
      int first = i < end ? indices[i] : int(v), other = i + 1 < end ? indices[i + 1] : first;
      if (more != nullptr && (i = more_start[v]) < more_start[v + 1]) {
        int back = more[i];
        other = back < first ? first : back;
        first = back < first ? back : first;
      }
      tree[v] = first < int(v) ? first : int(v);
      second[v] = other;
    }
  };
  auto compress_all = [&] { GRB_EACH(v, n) compress(tree, v, cached); };
  auto link_sampled = [&](int shift) {         // one vertex in 2^(32 - shift)
    GRB_EACH(v, n)
      if (unsigned(v) * 2654435761u >> shift == 0) link(tree, int(v), second[v]);
  };
  auto link_all = [&] {
    GRB_EACH(v, n) {
      int other = second[v];
      if (!surely_linked(tree, int(v), other)) link(tree, int(v), other);
    }
  };
  // The rows of vertices outside the component of `skip`: short ones by a lane, long ones by the warp.
  auto link_rows = [&](const P* row_start, const int32_t* near, int skip) {
    GRB_EACH_WARP(group, (n + 31) >> 5) {
      int64_t v = group * 32 + lane_number();
      P i = 0, end = 0;
      if (v < n && load_l2(tree + v) != skip) i = row_start[v], end = row_start[v + 1];
      bool wide = end - i > ROW_OF_LANE;
      if (!wide)
        while (i < end && link(tree, int(v), near[i]) != skip) i++;
      __syncwarp();
      for_each_lane(wide, [&](int who) {
        int64_t u = group * 32 + who;
        bool joined = false;
        for (P k = row_start[u] + lane_number(), stop = row_start[u + 1]; __any_sync(ALL_LANES, k < stop); k += 32) {
          if (k < stop) joined = link(tree, int(u), near[k]) == skip;
          if (__any_sync(ALL_LANES, joined)) break;
        }
      });
    }
  };
  auto link_the_rest = [&](int skip) {
    if (indices != nullptr) link_rows(start, indices, skip);
    if (more != nullptr) link_rows(more_start, more, skip);
  };
  auto write_labels = [&](int skip) {
    int top = load_l2(tree + skip);            // the largest component's root, which its vertices need not look up
    for (int above = load_l2(tree + top); above != top; above = load_l2(tree + top)) top = above;
    word mine = 0;
    GRB_EACH(v, n) {
      int root = tree[v] == skip ? top : compress(tree, v, cached);
      labels[v] = word(root);
      mine += root == v;
    }
    mine = block_reduce(mine, [](word a, word b) { return a + b; }, sums);
    if (threadIdx.x == 0 && mine) atomicAdd(&control->count, mine);
  };

  hook_first();
  barrier();
  compress_all();
  barrier();
  for (int shift = 24; shift <= 28; shift += 4) {
    link_sampled(shift);
    barrier();
    compress_all();
    barrier();
  }
  link_all();
  barrier();
  if (blockIdx.x == gridDim.x - 1) {
    int skip = commonest_root(tree, n);
    if (threadIdx.x == 0) control->skip = unsigned(skip);
  }
  compress_all();
  barrier();
  const int skip = int(load_l2(&control->skip));
  link_the_rest(skip);
  barrier();
  write_labels(skip);
}

}  // namespace grb
