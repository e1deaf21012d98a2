// Stable radix sort of unsigned keys by a range of bits, with up to two payloads of 4 or 8 bytes, or the input order.
//
// Algorithm: Onesweep (Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs", 2022,
//   arXiv 2206.01784): one pass over the keys for the histograms of all digits, then one for each digit, from the least
//   significant one, which reads and writes each key and payload once.
// Phases: radix_histograms   histograms[p][d] = keys whose digit p is d
//         radix_pass         a tile of TILE = threads * ITEMS keys at a time: ranks of its keys among those of the same
//                            digit (a ballot for each bit), the count of earlier tiles' keys of each digit by decoupled
//                            look-back, keys and payloads ordered in shared memory, then written in runs
//         split_keys         the keys as rows and columns again (of sorted pairs, structure/build.cuh)
// Launch: backends/cuda/structure/sorting.py.  Tickets assign the tiles in order, so that a tile waits only for tiles
//   that have begun.
// Preconditions: `states` (tiles * RADIX words) and `ticket` are zero; blocks of at most 256 threads, whole warps.
#pragma once
#include "base/look_back.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int RADIX = 256, ITEMS = 16;

struct NoPayload {};

template <class K> GRB_DEVICE int digit_of(K key, int64_t shift, int64_t bits) {
  return int(key >> shift) & ((1 << bits) - 1);
}

// histograms[p * RADIX + d] += keys whose digit p (of `bits` bits, from bit first + p * bits on) is d.
template <class K>
__global__ void __launch_bounds__(256)
radix_histograms(const K* keys, int64_t n, int64_t first, int64_t bits, int64_t passes, word* histograms) {
  __shared__ unsigned counts[8 * RADIX];
  for (int d = threadIdx.x; d < passes * RADIX; d += blockDim.x) counts[d] = 0;
  __syncthreads();
  constexpr int AT_ONCE = 4;
  GRB_EACH_WARP(w, (n + 32 * AT_ONCE - 1) / (32 * AT_ONCE)) {
    const int64_t here = w * (32 * AT_ONCE) + lane_number();
    K keys_here[AT_ONCE];
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) keys_here[k] = here + 32 * k < n ? keys[here + 32 * k] : K(0);
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
      const bool valid = here + 32 * k < n;
      const int of_warp = __popc(__ballot_sync(ALL_LANES, valid));
      for (int p = 0; p < passes; p++) {
        const int d = digit_of(keys_here[k], first + p * bits, bits), common = __shfl_sync(ALL_LANES, d, 0);
        // one digit in the whole warp, as in keys that are nearly sorted: one atomic
        if (__all_sync(ALL_LANES, d == common || !valid)) {
          if (lane_number() == 0) atomicAdd(counts + p * RADIX + common, unsigned(of_warp));
        } else if (valid) {
          atomicAdd(counts + p * RADIX + d, 1u);
        }
      }
    }
  }
  __syncthreads();
  for (int d = threadIdx.x; d < passes * RADIX; d += blockDim.x)
    if (counts[d]) atomicAdd(histograms + d, word(counts[d]));
}

// Fields of 8 bytes in the order of structure/sorting.py.
template <class K, class P, class Q> struct RadixPass {
  const K* keys;
  const P* payload;  // null: the position of the key
  const Q* second;
  int64_t n;
  int64_t shift;
  K* keys_out;
  P* payload_out;
  Q* second_out;
  const word* histogram;  // of this digit
  word* states;           // of each tile and digit
  word* ticket;
};

// Exclusive sums of `RADIX` values of shared memory, by the whole block.  `scratch` holds 33 values.
template <class T> GRB_DEVICE void exclusive_sums(const T* values, T* sums, T* scratch) {
  T before = 0;
  for (int from = 0; from < RADIX; from += blockDim.x) {
    const int d = from + threadIdx.x;
    T total;
    const T sum = block_exclusive_sum(d < RADIX ? values[d] : T(0), total, scratch);
    if (d < RADIX) sums[d] = before + sum;
    before += total;
  }
}

// Shared memory of a pass; `pool` has the keys of a tile, then its payloads.
struct RadixShared {
  word first[RADIX];      // where the keys of each digit begin in the output
  word at[RADIX];         // where those of this tile do, less `before`
  word scratch64[33];
  unsigned before[RADIX]; // keys of smaller digits in the tile
  unsigned total[RADIX];
  unsigned scratch[33];
  unsigned counts[8][RADIX];  // of each warp
  int64_t tile;
};

// The rank of each key of the warp among the warp's keys of its digit, in input order; counts[d] of each digit.
template <class K, int BITS>
GRB_DEVICE void rank_keys(const K (&keys)[ITEMS], int64_t shift, unsigned* counts, int (&rank)[ITEMS]) {
#pragma unroll
  for (int k = 0; k < ITEMS; k++) {
    const int d = digit_of(keys[k], shift, BITS);
    unsigned same = ALL_LANES;
#pragma unroll
    for (int b = 0; b < BITS; b++) {
      const unsigned ones = __ballot_sync(ALL_LANES, d >> b & 1);
      same &= d >> b & 1 ? ones : ~ones;
    }
    const unsigned before = counts[d];
    rank[k] = int(before) + __popc(same & lanes_below());
    __syncwarp();
    if ((same & lanes_below()) == 0) counts[d] = before + __popc(same);
    __syncwarp();
  }
}

// total[d] = keys of digit d in the tile, which later tiles see from now on; counts[v][d] = those of earlier warps.
// The last tile, after which none looks back, counts what it lacks too.
GRB_DEVICE void publish(RadixShared& s, word* states) {
  for (int d = threadIdx.x; d < RADIX; d += blockDim.x) {
    unsigned sum = 0;
    for (int v = 0; v < int(blockDim.x >> 5); v++) {
      const unsigned count = s.counts[v][d];
      s.counts[v][d] = sum;
      sum += count;
    }
    s.total[d] = sum;
    *(volatile word*)(states + s.tile * RADIX + d) = (s.tile == 0 ? SUMMED : COUNTED) | sum;
  }
}

// at[d] = where the tile's keys of digit d go, by the states of earlier tiles.
GRB_DEVICE void look_back(RadixShared& s, word* states) {
  for (int d = threadIdx.x; d < RADIX; d += blockDim.x) {
    word before = 0;
    for (int64_t t = s.tile - 1; t >= 0; t--) {
      const word found = published(states + t * RADIX + d);
      before += found & (COUNTED - 1);
      if (found >= SUMMED) break;
    }
    if (s.tile) *(volatile word*)(states + s.tile * RADIX + d) = SUMMED | (before + s.total[d]);
    s.at[d] = s.first[d] + before - s.before[d];
  }
}

// Where the keys of a tile go: a key of this thread at place[k] of the tile's order; the key at k * blockDim.x +
// threadIdx.x in it has digit digits[k] (four to a register).
struct RadixMove {
  int64_t here, n;  // the thread's first key, 32 before its next
  int valid;        // keys of the tile
  int place[ITEMS];
  unsigned digits[ITEMS / 4];
};

// A payload of the tile's keys.  EARLY: read into registers, while the block looks back, where they suffice.
template <class P, bool EARLY> struct RadixPayload {
  P values[EARLY ? ITEMS : 1];
  GRB_DEVICE static P at(const P* payload, int64_t k) { return payload ? payload[k] : P(k); }
  GRB_DEVICE void load(const RadixMove& m, const P* payload) {
    if constexpr (EARLY) {
#pragma unroll
      for (int k = 0; k < ITEMS; k++)
        if (m.here + k * 32 < m.n) values[k] = at(payload, m.here + k * 32);
    }
  }
  GRB_DEVICE void move(const RadixShared& s, const RadixMove& m, const P* payload, P* out, unsigned char* pool) {
    P* moved = reinterpret_cast<P*>(pool);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; k++)
      if (m.here + k * 32 < m.n) moved[m.place[k]] = EARLY ? values[EARLY ? k : 0] : at(payload, m.here + k * 32);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
      const int i = k * int(blockDim.x) + int(threadIdx.x);
      if (i < m.valid) out[s.at[m.digits[k / 4] >> 8 * (k % 4) & 255] + word(i)] = moved[i];
    }
  }
};
template <bool EARLY> struct RadixPayload<NoPayload, EARLY> {
  GRB_DEVICE void load(const RadixMove&, const NoPayload*) {}
  GRB_DEVICE void move(const RadixShared&, const RadixMove&, const NoPayload*, NoPayload*, unsigned char*) {}
};

template <class K, class P, class Q, int BITS>
__global__ void __launch_bounds__(256, 4) radix_pass(RadixPass<K, P, Q> o) {
  extern __shared__ __align__(16) unsigned char pool[];
  __shared__ RadixShared s;
  const int lane = lane_number(), w = threadIdx.x >> 5;
  const int64_t in_tile = int64_t(blockDim.x) * ITEMS, tiles = (o.n + in_tile - 1) / in_tile;
  for (int d = threadIdx.x; d < RADIX; d += blockDim.x) s.at[d] = o.histogram[d];
  __syncthreads();
  exclusive_sums(s.at, s.first, s.scratch64);
  while (true) {
    __syncthreads();
    if (threadIdx.x == 0) s.tile = int64_t(atomicAdd(o.ticket, word(1)));
    for (int d = lane; d < RADIX; d += 32) s.counts[w][d] = 0;
    __syncthreads();
    if (s.tile >= tiles) return;
    RadixMove m;
    m.n = o.n;
    m.here = s.tile * in_tile + w * (32 * ITEMS) + lane;
    m.valid = int(min(in_tile, o.n - s.tile * in_tile));
    K keys[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) keys[k] = m.here + k * 32 < o.n ? o.keys[m.here + k * 32] : ~K(0);  // last in order
    rank_keys<K, BITS>(keys, o.shift, s.counts[w], m.place);
    __syncthreads();
    publish(s, o.states);
    __syncthreads();
    exclusive_sums(s.total, s.before, s.scratch);
    __syncthreads();
    K* sorted = reinterpret_cast<K*>(pool);
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
      const int d = digit_of(keys[k], o.shift, BITS);
      m.place[k] += int(s.before[d] + s.counts[w][d]);
      sorted[m.place[k]] = keys[k];
    }
    RadixPayload<P, sizeof(P) <= 4 && sizeof(K) <= 4> payload;
    payload.load(m, o.payload);
    look_back(s, o.states);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
      const int i = k * int(blockDim.x) + int(threadIdx.x);
      if (k % 4 == 0) m.digits[k / 4] = 0;
      if (i < m.valid) {
        const K key = sorted[i];
        const int d = digit_of(key, o.shift, BITS);
        m.digits[k / 4] |= unsigned(d) << 8 * (k % 4);
        o.keys_out[s.at[d] + word(i)] = key;
      }
    }
    payload.move(s, m, o.payload, o.payload_out, pool);
    RadixPayload<Q, false>().move(s, m, o.second, o.second_out, pool);
  }
}

// out[k] = (rows[k], cols[k]) of the key rows << shift | cols.
template <class K, class R, class C>
__global__ void split_keys(const K* keys, int64_t n, int64_t shift, R* rows, C* cols) {
  const K below = (K(1) << shift) - 1;
  GRB_EACH(k, n) {
    rows[k] = R(shift < 8 * int64_t(sizeof(K)) ? keys[k] >> shift : K(0));
    cols[k] = C(keys[k] & below);
  }
}

}  // namespace grb
