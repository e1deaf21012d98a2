// Connected components in one kernel: trees of vertices hook onto trees with smaller roots until each component is one tree.
//
// Result: label[v] = the smallest vertex of v's component; control->count = the number of components.
// Who calls: backends/cuda/traversal/components.py.  Launch `components` cooperatively, *control all zero.
// Stages, a grid-wide barrier between: each vertex hooks onto its first neighbour where that is smaller (a store, no atomic),
//   trees become flat, one vertex in 256 links with another neighbour (large trees are one then: thousands of threads do not
//   hook or read the same root), flat again, all others do so, flat (one block meanwhile finds the component of most of 256
//   vertices), vertices outside that component link with their neighbours until they belong to it too (an edge between two
//   vertices that stopped lies within it): long rows of hubs are never walked.
// Invariant: tree[v] <= v, so trees have no cycles and a root is the smallest vertex of its tree.
// Reference: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph sampling" (IPDPS 2018).
#pragma once
#include "traversal/state.cuh"
#include "base/warp.cuh"

namespace grb {

struct ComponentsControl { unsigned arrivals, skip; word count; };
constexpr int COMPONENT_SAMPLES = 256;

// One tree of two; what is returned lies above both vertices (and was a root, if nobody hooked it meanwhile).
GRB_DEVICE int link(int32_t* tree, int u, int v) {
  int a = fresh(tree + u), b = fresh(tree + v);
  while (a != b) {
    int high = a > b ? a : b, low = a > b ? b : a, above = fresh(tree + high);
    if (above == low || (above == high && atomicCAS(&tree[high], high, low) == high)) return low;
    a = fresh(tree + fresh(tree + high));
    b = fresh(tree + low);
  }
  return a;
}

// Have u and v a common ancestor a few steps up, as far as L1 knows?  What a parent was once stays an ancestor.  Most vertices
// climb to the same few roots: L1 serves those, while L2 would serve one at a time.
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

// The root of v, while no tree is hooked.  Each step is written down, so that vertices of a long chain, all walking at once,
// double their strides; the first `shared` steps go through L1, which may not know yet how far others have come.
GRB_DEVICE int flatten(int32_t* tree, int64_t v, int shared) {
  int root = tree[v], above = tree[root];
  for (; above != root; shared--) {
    tree[v] = root = above;
    above = shared > 0 ? tree[root] : fresh(tree + root);
  }
  return root;
}

// The label that most of 256 vertices, evenly spread, have.  The block calls together.
GRB_DEVICE int commonest_root(const int32_t* tree, int64_t n) {
  __shared__ int32_t sample[COMPONENT_SAMPLES];
  __shared__ word best[32];
  for (int k = threadIdx.x; k < COMPONENT_SAMPLES; k += blockDim.x) {
    int root = fresh(tree + k * n / COMPONENT_SAMPLES);
    for (int above = fresh(tree + root); above != root; above = fresh(tree + root)) root = above;
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
  return int(unsigned(block_reduce(most, [](word a, word b) { return a > b ? a : b; }, best)));   // of thread 0
}

// start, indices: neighbours by rows; more_start, more: the other direction's (null where symmetric).
// `labels` holds each vertex's second sampled neighbour until the end.
template <class P>
__global__ void __launch_bounds__(512, 3)
components(const P* start, const int32_t* indices, const P* more_start, const int32_t* more, int64_t n, int32_t* tree,
           word* labels, void* counters) {
  ComponentsControl* control = static_cast<ComponentsControl*>(counters);
  __shared__ word sums[32];
  int32_t* second = reinterpret_cast<int32_t*>(labels);
  const int shared = start[n] > 8 * n ? 4 : 0;  // trees of graphs with hubs are low
  unsigned goal = 0;
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
  level_barrier(&control->arrivals, goal);
  GRB_EACH(v, n) flatten(tree, v, shared);
  level_barrier(&control->arrivals, goal);
  GRB_EACH(v, n)
    if (unsigned(v) * 2654435761u >> 24 == 0) link(tree, int(v), second[v]);
  level_barrier(&control->arrivals, goal);
  GRB_EACH(v, n) flatten(tree, v, shared);
  level_barrier(&control->arrivals, goal);
  GRB_EACH(v, n) {
    int other = second[v];
    if (!surely_linked(tree, int(v), other)) link(tree, int(v), other);
  }
  level_barrier(&control->arrivals, goal);
  if (blockIdx.x == gridDim.x - 1) {
    int skip = commonest_root(tree, n);
    if (threadIdx.x == 0) control->skip = unsigned(skip);
  }
  GRB_EACH(v, n) flatten(tree, v, shared);
  level_barrier(&control->arrivals, goal);
  const int skip = int(fresh(&control->skip));
  for (int way = 0; way < 2; way++) {
    if (way == 1) start = more_start, indices = more;
    if (indices == nullptr) break;
    GRB_EACH_WARP(group, (n + 31) >> 5) {
      int64_t v = group * 32 + lane_number();
      P i = 0, end = 0;
      if (v < n && fresh(tree + v) != skip) i = start[v], end = start[v + 1];
      bool wide = end - i > 64;
      if (!wide)
        while (i < end && link(tree, int(v), indices[i]) != skip) i++;
      __syncwarp();
      for (unsigned lanes = __ballot_sync(ALL_LANES, wide); lanes; lanes &= lanes - 1) {
        int64_t u = group * 32 + __ffs(int(lanes)) - 1;
        bool joined = false;
        for (P k = start[u] + lane_number(), stop = start[u + 1]; __any_sync(ALL_LANES, k < stop); k += 32) {
          if (k < stop) joined = link(tree, int(u), indices[k]) == skip;
          if (__any_sync(ALL_LANES, joined)) break;
        }
      }
    }
  }
  level_barrier(&control->arrivals, goal);
  int top = fresh(tree + skip);                // the largest component's root: its vertices need not look at it
  for (int above = fresh(tree + top); above != top; above = fresh(tree + top)) top = above;
  word mine = 0;
  GRB_EACH(v, n) {
    int root = tree[v] == skip ? top : flatten(tree, v, shared);
    labels[v] = word(root);
    mine += root == v;
  }
  mine = block_reduce(mine, [](word a, word b) { return a + b; }, sums);
  if (threadIdx.x == 0 && mine) atomicAdd(&control->count, mine);
}

}  // namespace grb
