// Connected components: trees of vertices hook onto trees with smaller roots until each component is one tree.
//
// Result: label[v] = the smallest vertex of v's component.  Who calls: backends/cuda/components.py, in this order: roots,
// link_first (a few neighbours of each vertex find most of the largest component), flatten, largest, link_rest (vertices
// outside the largest component only, all of their neighbours: long rows of hubs are never walked), flatten, finish.
// Invariant: tree[v] <= v, so trees have no cycles and a root is the smallest vertex of its tree.
// Reference: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph sampling" (IPDPS 2018).
#pragma once
#include "traverse_state.cuh"

namespace grb {

GRB_DEVICE void link(int32_t* tree, int u, int v) {
  int a = fresh(tree + u), b = fresh(tree + v);
  while (a != b) {
    int high = a > b ? a : b, low = a > b ? b : a, above = fresh(tree + high);
    if (above == low || (above == high && atomicCAS(&tree[high], high, low) == high)) return;
    a = fresh(tree + fresh(tree + high));
    b = fresh(tree + low);
  }
}

template <class P> __global__ void roots(int32_t* tree, int64_t n, unsigned long long* count) {
  GRB_EACH(v, n) tree[v] = int32_t(v);
  if (thread_number() == 0) *count = 0;
}

// Each vertex with its neighbour number `turn`.  A thread for each.
template <class P>
__global__ void link_first(const P* start, const int32_t* indices, int64_t n, int64_t turn, int32_t* tree) {
  GRB_EACH(v, n)
    if (start[v] + turn < start[v + 1]) link(tree, int(v), indices[start[v] + turn]);
}

template <class P> __global__ void flatten(int32_t* tree, int64_t n) {
  GRB_EACH(v, n) {
    int root = fresh(tree + v);
    for (int above = fresh(tree + root); above != root; above = fresh(tree + root)) root = above;
    tree[v] = root;
  }
}

// The label that most of 1024 vertices, evenly spread, have.  One block of 256 threads.
template <class P> __global__ void largest(const int32_t* tree, int64_t n, int32_t* label) {
  __shared__ int32_t sample[1024];
  __shared__ unsigned long long best;
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) sample[k] = tree[k * n >> 10];
  if (threadIdx.x == 0) best = 0;
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) {
    unsigned long long same = 0;
    for (int i = 0; i < 1024; i++) same += sample[i] == sample[k];
    atomicMax(&best, same << 32 | unsigned(sample[k]));
  }
  __syncthreads();
  if (threadIdx.x == 0) *label = int32_t(unsigned(best));
}

// A vertex outside the component `skip` with all of its neighbours.  A lane for a short row, the warp for a long one.
template <class P>
__global__ void link_rest(const P* start, const int32_t* indices, int64_t n, const int32_t* skip, int32_t* tree) {
  int leave_out = *skip;
  GRB_EACH_WARP(group, (n + 31) >> 5) {
    int64_t v = group * 32 + lane_number();
    P i = 0, end = 0;
    if (v < n && fresh(tree + v) != leave_out) i = start[v], end = start[v + 1];
    bool wide = end - i > 64;
    if (!wide)
      for (; i < end; i++) link(tree, int(v), indices[i]);
    __syncwarp();
    for (unsigned lanes = __ballot_sync(ALL_LANES, wide); lanes; lanes &= lanes - 1) {
      int who = __ffs(int(lanes)) - 1;
      int64_t u = group * 32 + who;
      for (P k = start[u] + lane_number(); k < start[u + 1]; k += 32) link(tree, int(u), indices[k]);
      __syncwarp();
    }
  }
}

template <class P> __global__ void finish(const int32_t* tree, int64_t n, word* labels, unsigned long long* count) {
  unsigned long long mine = 0;
  GRB_EACH(v, n) {
    labels[v] = word(tree[v]);
    mine += tree[v] == v;
  }
  if (mine) atomicAdd(count, mine);
}

}  // namespace grb
