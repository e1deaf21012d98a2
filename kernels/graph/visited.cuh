// The set of visited vertices as 32-bit words: test, visit by atomicOr (one lane, or a warp with shared atomics),
// output.
//
// Who includes it: graph/bfs_push.cuh, graph/bfs_high_diameter.cuh, graph/sssp_relax.cuh (bits of its lists' members).
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"
#include "graph/level_loop.cuh"

namespace grb {

GRB_DEVICE bool is_in(const unsigned* bits, int v) { return bits[v >> 5] >> (v & 31) & 1; }
GRB_DEVICE bool is_in_l2(const unsigned* bits, int v) { return load_l2(bits + (v >> 5)) >> (v & 31) & 1; }

// Set v's bit by atomicOr.  True for the one thread that found it clear.
GRB_DEVICE bool visit(unsigned* bits, int v) {
  unsigned bit = 1u << (v & 31);
  return !(atomicOr(&bits[v >> 5], bit) & bit);
}

// visit by a warp, for the lanes with `take`: neighbouring lanes whose vertices share a word share one atomicOr.
// Column indices of a row ascend, so on meshes and web graphs one word serves many lanes, and many warps update the
// same few words.
GRB_DEVICE bool visit_by_warp(unsigned* bits, int v, bool take) {
  const int lane = lane_number();
  int at = take ? v >> 5 : -1 - lane;
  bool first = __shfl_up_sync(ALL_LANES, at, 1) != at || lane == 0;
  unsigned heads = __ballot_sync(ALL_LANES, first);
  if (heads == ALL_LANES) return take && visit(bits, v);
  unsigned bit = take ? 1u << (v & 31) : 0u, united = bit;
  int run = lane - (31 - __clz(int(heads & (lanes_below() | 1u << lane))));   // lanes of the same word before this one
#pragma unroll
  for (int by = 1; by < 32; by <<= 1) {
    unsigned other = __shfl_up_sync(ALL_LANES, united, by);
    if (run >= by) united |= other;
  }
  unsigned before = __shfl_up_sync(ALL_LANES, united, 1), old = 0;
  if (run == 0) before = 0;
  bool last = lane == 31 || (heads >> (lane + 1) & 1);
  if (take && last) old = atomicOr(&bits[at], united);
  unsigned later = lane == 31 ? 0u : heads & ~(lanes_below() | 1u << lane);
  old = __shfl_sync(ALL_LANES, old, later ? __ffs(int(later)) - 2 : 31);
  return take && !((old | before) & bit);
}

// The result's presence words are the visited bits; `clean` becomes zero for the next traversal.
GRB_DEVICE void write_presence(const unsigned* visited, unsigned* clean, word* words, int64_t n) {
  const word* from = reinterpret_cast<const word*>(visited);
  word* zeros = reinterpret_cast<word*>(clean);
  GRB_EACH(i, (n + 63) >> 6) {
    words[i] = load_l2(from + i);
    zeros[i] = 0;
  }
}

}  // namespace grb
