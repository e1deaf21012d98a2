// Inclusive sums of integers, and stream compaction by them: of flagged entries, and of the bits of words.
//
// Algorithm: reduce-then-scan by tiles of blockDim.x * OF_THREAD items (Blelloch, "Prefix sums and their applications",
//   1990, section 1.4): a launch sums each tile, and its last block the tiles' totals; the next one reads the items
//   again and writes what they ask for.  The host needs the number of all in between, because the result is allocated
//   by it: the last block writes it to page-locked memory, where the host polls.
// Result: sum_tiles, write_sums: out[k] = in[0] + ... + in[k];
//   count_flagged, compact: the flagged entries' numbers, indices and values, in order; flagged_starts: row pointers of
//     a matrix of which only flagged entries stay;
//   count_words, words_to_positions: the positions of the set bits, and what a dense array has there.
// totals: one of each tile, its inclusive sums when a kernel has ended.  finished: counts blocks, 0 before and after.
//   sent: page-locked, or null.
// Launch: backends/cuda/structure/prefix_sums.py; blocks of at most 256 threads, whole warps, as many in both launches.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int OF_THREAD = 16;  // items of a thread
constexpr int MOST_THREADS = 256;  // of a block, as in the launch bounds

// totals[t] = totals[0] + ... + totals[t], by the last block to call; each block's thread 0 has written its own.
GRB_DEVICE void sum_totals(int64_t* totals, int64_t tiles, word* finished, word* sent) {
  __shared__ int64_t scratch[33];
  if (!is_last_block(finished)) return;
  int64_t before = 0;
  for (int64_t from = 0; from < tiles; from += int64_t(blockDim.x) * OF_THREAD) {
    const int64_t first = from + int64_t(threadIdx.x) * OF_THREAD;
    int64_t here[OF_THREAD], mine = 0, all;
#pragma unroll
    for (int k = 0; k < OF_THREAD; k++) mine += here[k] = first + k < tiles ? totals[first + k] : 0;
    int64_t sum = before + block_exclusive_sum(mine, all, scratch);
#pragma unroll
    for (int k = 0; k < OF_THREAD; k++)
      if (first + k < tiles) totals[first + k] = sum += here[k];
    before += all;
  }
  if (threadIdx.x == 0 && sent != nullptr) *sent = word(before);
}

GRB_DEVICE int64_t tile_size() { return int64_t(blockDim.x) * OF_THREAD; }
GRB_DEVICE int64_t tiles_of(int64_t n, int64_t of_tile) { return (n + of_tile - 1) / of_tile; }

// ---- sums

// The items of this thread in tile t: lane l of warp w has those at w * 32 * OF_THREAD + 32 k + l; 0 past the end.
template <class From, class To>
GRB_DEVICE int64_t load_items(const From* in, int64_t n, int64_t t, To (&items)[OF_THREAD]) {
  const int64_t first = t * tile_size() + int64_t(threadIdx.x >> 5) * (32 * OF_THREAD) + lane_number();
#pragma unroll
  for (int k = 0; k < OF_THREAD; k++) items[k] = first + 32 * k < n ? To(in[first + 32 * k]) : To(0);
  return first;
}

template <class From>
__global__ void __launch_bounds__(256)
sum_tiles(const From* in, int64_t n, int64_t* totals, word* finished, word* sent) {
  __shared__ int64_t scratch[33];
  const int64_t tiles = tiles_of(n, tile_size());
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    int64_t items[OF_THREAD], mine = 0, all;
    load_items(in, n, t, items);
#pragma unroll
    for (int k = 0; k < OF_THREAD; k++) mine += items[k];
    block_exclusive_sum(mine, all, scratch);
    if (threadIdx.x == 0) totals[t] = all;
  }
  sum_totals(totals, tiles, finished, sent);
}

// totals null: n items are one tile, and the sum of all goes to *sent.
template <class From, class To>
__global__ void __launch_bounds__(256)
write_sums(const From* in, int64_t n, const int64_t* totals, To* out, word* sent) {
  __shared__ To scratch[33];
  const int64_t tiles = tiles_of(n, tile_size());
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    To items[OF_THREAD], mine = 0, all;
    const int64_t first = load_items(in, n, t, items);
#pragma unroll
    for (int k = 0; k < OF_THREAD; k++) mine += items[k];
    // the sum of the block's threads before the warp's first
    const To before = __shfl_sync(ALL_LANES, block_exclusive_sum(mine, all, scratch), 0);
    To sum = before + (totals != nullptr && t ? To(totals[t - 1]) : To(0));
#pragma unroll
    for (int k = 0; k < OF_THREAD; k++) {
      const To upto = sum + warp_inclusive_sum(items[k]);
      if (first + 32 * k < n) out[first + 32 * k] = upto;
      sum = __shfl_sync(ALL_LANES, upto, 31);
    }
    if (totals == nullptr && threadIdx.x == 0 && sent != nullptr) *sent = word(all);
  }
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

// before[j] = flags of the tile before the OF_THREAD from j * OF_THREAD on.
template <class = void>
__global__ void __launch_bounds__(256)
count_flagged(const bool* flags, int64_t n, uint16_t* before, int64_t* totals, word* finished, word* sent) {
  __shared__ unsigned scratch[33];
  const int64_t tiles = tiles_of(n, tile_size());
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64_t first = t * tile_size() + int64_t(threadIdx.x) * OF_THREAD;
    unsigned all;
    const unsigned sum = block_exclusive_sum(unsigned(__popc(flags_from(flags, first, n))), all, scratch);
    if (first < n) before[first / OF_THREAD] = uint16_t(sum);
    if (threadIdx.x == 0) totals[t] = all;
  }
  sum_totals(totals, tiles, finished, sent);
}

// Fields of 8 bytes in the order of structure/prefix_sums.py; outputs that nobody wants are null.  Values are moved as
// unsigned integers of their size.
template <class P, class I, class T> struct Compact {
  const bool* flags;
  int64_t n;
  const uint16_t* before;
  const int64_t* totals;
  P* numbers;
  const I* indices;
  I* indices_out;
  const T* values;
  T* values_out;
};

template <class P, class I, class T>
__global__ void __launch_bounds__(256) compact(Compact<P, I, T> o) {
  __shared__ uint16_t places[MOST_THREADS * OF_THREAD];  // of the flagged entries in the tile
  const int64_t tiles = tiles_of(o.n, tile_size());
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64_t start = t * tile_size(), first = start + int64_t(threadIdx.x) * OF_THREAD;
    const int64_t base = t ? o.totals[t - 1] : 0;
    const int count = int(o.totals[t] - base);
    unsigned at = first < o.n ? o.before[first / OF_THREAD] : 0;
    for (unsigned rest = flags_from(o.flags, first, o.n); rest; rest &= rest - 1)
      places[at++] = uint16_t(threadIdx.x * OF_THREAD + __ffs(int(rest)) - 1);
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += blockDim.x) {
      const int64_t from = start + places[k], to = base + k;
      if (o.numbers != nullptr) o.numbers[to] = P(from);
      if (o.indices != nullptr) o.indices_out[to] = o.indices[from];
      if (o.values != nullptr) o.values_out[to] = o.values[from];
    }
    __syncthreads();
  }
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

// Tiles of blockDim.x words.
template <class = void>
__global__ void __launch_bounds__(256)
count_words(const word* words, int64_t n, int64_t* totals, word* finished, word* sent) {
  __shared__ unsigned scratch[33];
  const int64_t tiles = tiles_of(n, blockDim.x);
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64_t w = t * blockDim.x + threadIdx.x;
    unsigned all;
    block_exclusive_sum(w < n ? unsigned(members(words[w])) : 0u, all, scratch);
    if (threadIdx.x == 0) totals[t] = all;
  }
  sum_totals(totals, tiles, finished, sent);
}

// The positions of the set bits, ascending, with what `dense` has there (values null: without).
template <class I, class T>
__global__ void __launch_bounds__(256)
words_to_positions(const word* words, int64_t n, const int64_t* totals, const T* dense, I* indices, T* values) {
  __shared__ unsigned scratch[33];
  const int64_t tiles = tiles_of(n, blockDim.x);
  for (int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const int64_t w = t * blockDim.x + threadIdx.x;
    word rest = w < n ? words[w] : 0;
    unsigned all;
    int64_t at = (t ? totals[t - 1] : 0) + block_exclusive_sum(unsigned(members(rest)), all, scratch);
    for (; rest; rest &= rest - 1, at++) {
      const int64_t i = w * 64 + lowest(rest);
      indices[at] = I(i);
      if (values != nullptr) values[at] = dense[i];
    }
  }
}

}  // namespace grb
