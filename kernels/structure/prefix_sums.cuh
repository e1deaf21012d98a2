// Inclusive sums of integers, and stream compaction by them: of flagged entries, and of the bits of words.
//
// Algorithm: tiles of blockDim.x * OF_THREAD items, each read once; what the tiles before hold, by decoupled look-back
//   (base/look_back.cuh).  The host may need the number of all: the last tile writes it to page-locked memory, where
//   the host polls; arrays of a compaction have room for all items.
// Result: write_sums: out[k] = in[0] + ... + in[k];
//   compact: the flagged entries' numbers, indices and values, in order; flagged_starts: row pointers of a matrix of
//     which only flagged entries stay;
//   words_to_positions: the positions of the set bits, and what a dense array has there.
// Launch: backends/cuda/structure/prefix_sums.py; blocks of at most 256 threads, whole warps.
#pragma once
#include "base/bits.cuh"
#include "base/look_back.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int OF_THREAD = 16;  // items of a thread
constexpr int MOST_THREADS = 256;  // of a block, as in the launch bounds

GRB_DEVICE int64_t tile_size() { return int64_t(blockDim.x) * OF_THREAD; }
GRB_DEVICE int64_t tiles_of(int64_t n, int64_t of_tile) { return (n + of_tile - 1) / of_tile; }

// ---- sums

// out[k] = item(0) + ... + item(k); sent (may be null): the sum of all.  item(k) is called once for each k below n, by
// any thread; a kernel of one block for each tile, or fewer, calls this once.  LONG: item is so much code that it is
// there once, not OF_THREAD times; `out` has the items in between.
template <bool LONG, class To, class Item>
GRB_DEVICE void write_sums_of(const Item& item, int64_t n, To* out, word* states, word* finished, word* sent) {
  __shared__ To scratch[33];
  const int64_t tiles = tiles_of(n, tile_size());
  for (int64_t turn = 0;; turn++) {
    const int64_t t = next_part(states, tiles, turn);
    if (t >= tiles) break;
    // lane l of warp w has the items at w * 32 * OF_THREAD + 32 k + l of the tile; 0 past the end
    const int64_t first = t * tile_size() + int64_t(threadIdx.x >> 5) * (32 * OF_THREAD) + lane_number();
    To items[OF_THREAD], mine = 0, all;
    if constexpr (LONG) {
#pragma unroll 1
      for (int64_t k = first; k < min(n, first + 32 * OF_THREAD); k += 32) out[k] = To(item(k));
    }
#pragma unroll
    for (int k = 0; k < OF_THREAD; k++) {
      const int64_t at = first + 32 * k;
      if constexpr (LONG) items[k] = at < n ? out[at] : To(0);
      else items[k] = at < n ? To(item(at)) : To(0);
      mine += items[k];
    }
    // the sum of the block's threads before the warp's first
    const To before = __shfl_sync(ALL_LANES, block_exclusive_sum(mine, all, scratch), 0);
    const int64_t base = sum_before_part(states, tiles, t, int64_t(all));
    To sum = before + To(base);
#pragma unroll
    for (int k = 0; k < OF_THREAD; k++) {
      const To upto = sum + warp_inclusive_sum(items[k]);
      if (first + 32 * k < n) out[first + 32 * k] = upto;
      sum = __shfl_sync(ALL_LANES, upto, 31);
    }
    if (t + 1 == tiles && threadIdx.x == 0 && sent != nullptr) *sent = word(base + int64_t(all));
  }
  clear_states(states, tiles, finished);
}

template <class From, class To>
__global__ void __launch_bounds__(256)
write_sums(const From* in, int64_t n, To* out, word* states, word* finished, word* sent) {
  write_sums_of<false>([=](int64_t k) { return in[k]; }, n, out, states, finished, sent);
}

// ---- flags

// Bit k: is flag first + k set?  OF_THREAD of them from a multiple of OF_THREAD on, none past the end.
GRB_DEVICE unsigned flags_from(const bool* flags, int64_t first, int64_t n) {
  unsigned found = 0;
  if (first + OF_THREAD <= n && (reinterpret_cast<size_t>(flags) & 15) == 0) {
    const uint4 bytes = *reinterpret_cast<const uint4*>(flags + first);
    const unsigned parts[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
    for (int q = 0; q < 4; q++) found |= ((parts[q] & 0x01010101u) * 0x10204080u >> 28) << 4 * q;
  } else {
    for (int k = 0; k < OF_THREAD && first + k < n; k++) found |= unsigned(flags[first + k]) << k;
  }
  return found;
}

// Fields of 8 bytes in the order of structure/prefix_sums.py; outputs that nobody wants are null.  Values are moved as
// unsigned integers of their size.
template <class P, class I, class T> struct Compact {
  const bool* flags;
  int64_t n;
  uint16_t* before;  // before[j] = flags of the tile before the OF_THREAD from j * OF_THREAD on
  int64_t* totals;   // totals[t] = flags up to the end of tile t
  word* states;
  word* finished;
  word* sent;  // how many flags there are; may be null
  P* numbers;
  const I* indices;
  I* indices_out;
  const T* values;
  T* values_out;
};

template <class P, class I, class T>
__global__ void __launch_bounds__(256) compact(Compact<P, I, T> o) {
  __shared__ uint16_t places[MOST_THREADS * OF_THREAD];  // of the flagged entries in the tile
  __shared__ unsigned scratch[33];
  const int64_t tiles = tiles_of(o.n, tile_size());
  for (int64_t turn = 0;; turn++) {
    const int64_t t = next_part(o.states, tiles, turn);
    if (t >= tiles) break;
    const int64_t start = t * tile_size(), first = start + int64_t(threadIdx.x) * OF_THREAD;
    unsigned rest = flags_from(o.flags, first, o.n), count;
    unsigned at = block_exclusive_sum(unsigned(__popc(rest)), count, scratch);
    if (first < o.n) o.before[first / OF_THREAD] = uint16_t(at);
    for (; rest; rest &= rest - 1) places[at++] = uint16_t(threadIdx.x * OF_THREAD + __ffs(int(rest)) - 1);
    const int64_t base = sum_before_part(o.states, tiles, t, count);
    if (threadIdx.x == 0) {
      o.totals[t] = base + count;
      if (t + 1 == tiles && o.sent != nullptr) *o.sent = word(base + count);
    }
    for (unsigned k = threadIdx.x; k < count; k += blockDim.x) {
      const int64_t from = start + places[k], to = base + k;
      if (o.numbers != nullptr) o.numbers[to] = P(from);
      if (o.indices != nullptr) o.indices_out[to] = o.indices[from];
      if (o.values != nullptr) o.values_out[to] = o.values[from];
    }
  }
  clear_states(o.states, tiles, o.finished);
}

// out[r] = how many of the first indptr[r] entries are flagged; r in 0 .. lines - 1.
template <class = void>
__global__ void flagged_starts(const int64_t* indptr, int64_t lines, const bool* flags, int64_t n,
                               const uint16_t* before, const int64_t* totals, int64_t of_tile, int64_t* out) {
  GRB_EACH(r, lines) {
    const int64_t k = indptr[r], t = k / of_tile;
    int64_t count = t ? totals[t - 1] : 0;
    if (k < n) {
      const int64_t first = k - k % OF_THREAD;
      count += before[first / OF_THREAD] + __popc(flags_from(flags, first, n) & (1u << (k - first)) - 1);
    } else if (t * of_tile < n) {
      count = totals[t];
    }
    out[r] = count;
  }
}

// ---- words

// The positions of the set bits, ascending, with what `dense` has there (values null: without).  Tiles of blockDim.x
// words.
template <class I, class T>
__global__ void __launch_bounds__(256)
words_to_positions(const word* words, int64_t n, word* states, word* finished, const T* dense, I* indices, T* values) {
  __shared__ unsigned scratch[33];
  const int64_t tiles = tiles_of(n, blockDim.x);
  for (int64_t turn = 0;; turn++) {
    const int64_t t = next_part(states, tiles, turn);
    if (t >= tiles) break;
    const int64_t w = t * blockDim.x + threadIdx.x;
    word rest = w < n ? words[w] : 0;
    unsigned all;
    const unsigned before = block_exclusive_sum(unsigned(members(rest)), all, scratch);
    int64_t at = sum_before_part(states, tiles, t, all) + before;
    for (; rest; rest &= rest - 1, at++) {
      const int64_t i = w * 64 + lowest(rest);
      indices[at] = I(i);
      if (values != nullptr) values[at] = dense[i];
    }
  }
  clear_states(states, tiles, finished);
}

}  // namespace grb
