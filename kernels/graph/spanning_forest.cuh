// Minimum spanning forest: rounds in which each tree adds the least edge that leaves it, until no edge leaves a tree.
//
// Algorithm: Boruvka (1926), after Nesetril, Milkova, Nesetrilova (Discrete Mathematics 233, 2001); the least edge of a
//   tree by atomicMin of (key, number of the edge) in one word, as Vineet, Harish, Patidar, Narayanan, "Fast minimum
//   spanning tree for large graphs on the GPU" (HPG 2009) pack them.
// A round:
//   least_edges     edges within one tree are dropped; the others are candidates for the trees at both ends (atomicMin)
//   hook_trees      each tree hooks onto the other end of its least edge; where two trees chose one edge, the lesser is
//                   the root
//   compress_trees  the root of every vertex
//   least_vertices, label_vertices   after the last round: the least vertex of each tree
// Launch: backends/cuda/graph/spanning_forest.py, any grid; least_edges 256 threads a block.
// Preconditions: fewer than 2^31 vertices, 2^32 edges; keys differ from NO_EDGE.
#pragma once
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

constexpr word NO_EDGE = ~word(0);
struct LeftEdge { word key; int32_t head, tail; };  // key: weight << 32 | number of the edge; ends: roots of trees

GRB_DEVICE void offer(word* best, int tree, word key) {
  if (key < best[tree]) atomicMin(&best[tree], key);  // L1 may hold an older, greater value: then the atomic decides
}

// edges: LeftEdge [count] of the round before, the roots at their ends as they were then; *left of them go on.
// FIRST: they are heads, tails, keys - least, and all go on.
template <bool FIRST>
__global__ void __launch_bounds__(256)
least_edges(const int64_t* heads, const int64_t* tails, const int64_t* keys, int64_t least, const void* edges_before,
            int64_t count, const int32_t* root, void* edges_next, word* left, word* best) {
  __shared__ word shared[33];
  const LeftEdge* edges = static_cast<const LeftEdge*>(edges_before);
  LeftEdge* next = static_cast<LeftEdge*>(edges_next);
  for (int64_t base = int64_t(blockIdx.x) * blockDim.x; base < count; base += int64_t(gridDim.x) * blockDim.x) {
    int64_t e = base + threadIdx.x;
    LeftEdge edge{NO_EDGE, 0, 0};
    if (e < count) {
      if constexpr (FIRST) {
        edge = {word(keys[e] - least) << 32 | word(e), int32_t(heads[e]), int32_t(tails[e])};
      } else {
        edge = edges[e];
        edge.head = root[edge.head];
        edge.tail = root[edge.tail];
      }
    }
    bool goes_on = edge.head != edge.tail;
    word at = FIRST ? word(e) : block_append(word(goes_on), left, shared);
    if (goes_on) {
      next[at] = edge;
      offer(best, edge.head, edge.key);
      offer(best, edge.tail, edge.key);
    }
    if constexpr (!FIRST) __syncthreads();
  }
}

// best[c], the least edge of tree c, becomes NO_EDGE again.  parent[c]: c's new parent; kept: edges of the forest,
// *held of them so far.  root: as before the round.
template <bool FIRST>
__global__ void hook_trees(const int64_t* heads, const int64_t* tails, const int32_t* root, int64_t n, const word* best,
                           int32_t* parent, int64_t* kept, word* held) {
  GRB_EACH_WARP(group, (n + 31) >> 5) {
    int64_t c = group * 32 + lane_number();
    word key = c < n ? best[c] : NO_EDGE;
    bool hooks = key != NO_EDGE;
    int64_t e = int64_t(unsigned(key));
    if (hooks) {
      int head = int(heads[e]), tail = int(tails[e]);
      if constexpr (!FIRST) head = root[head], tail = root[tail];
      int other = head == int(c) ? tail : head;
      hooks = best[other] != key || int(c) > other;
      if (hooks) parent[c] = other;
    }
    word at = warp_append(hooks, held);
    if (hooks) kept[at] = e;
  }
}

// parent[v]: the root of v.  Each step is stored (pointer jumping), so that long chains halve.
template <int = 0>
__global__ void compress_trees(int32_t* parent, int64_t n) {
  GRB_EACH(v, n) {
    int above = load_l2(parent + v), top = load_l2(parent + above);
    while (above != top) {
      parent[v] = above = top;
      top = load_l2(parent + above);
    }
  }
}

// least[c]: the least vertex of the tree with root c; n or more before.
template <int = 0>
__global__ void least_vertices(const int32_t* root, int64_t n, int32_t* least) {
  GRB_EACH(v, n) {
    int c = root[v];
    if (int(v) < least[c]) atomicMin(&least[c], int(v));
  }
}

template <int = 0>
__global__ void label_vertices(const int32_t* root, const int32_t* least, int64_t n, int64_t* label) {
  GRB_EACH(v, n) label[v] = least[root[v]];
}

}  // namespace grb
