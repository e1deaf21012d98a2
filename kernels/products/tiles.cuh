// w<m> = A (+.x) x over 16 x 16 tiles with values: TileSpMSpV; and the building of the tiles.
//
// Algorithm: TileSpMSpV (tilespmspv_tilebfs_icpp22), 3.2 and 3.3.  Who calls: backends/cuda/products/tiles.py.  Schema:
//   storage/tiled.py.
// tiled_rows     TileSpMSpV, Algorithm 4: a warp for each chunk of a tile row, two lanes for each of its 16
//                rows.  32 tiles are looked up together, a lane each; a tile whose 16 bits of x are empty is
//                passed over after that look.
// join_chunks    the totals of a long tile row, which several warps computed a chunk each
//                (chunks as in products/bit_tiles.cuh).
// merge_values   the tiles of a tile row by merging its 16 rows; tiles of few entries go to the remainder.
// Preconditions: presence words of x and of masks are as in base/bits.cuh, read in parts of 16 bits; every part of w's
//   words is written by one warp; w begins with what the remainder's rows gave (base_*).
#pragma once
#include "products/semiring.cuh"
#include "products/tile_rows.cuh"

namespace grb {

// Row `row` gets the total of its two lanes, joined to the remainder's; the warp's 16 bits go to w_parts[tile_row].
template <class S>
GRB_DEVICE int finish_rows(Total<S> total, int64_t tile_row, bool wanted, const word* base_words,
                           const typename S::Z* base, bool has_base, typename S::Z* w, uint16_t* w_parts) {
  int64_t row = tile_row * 16 + (lane_number() >> 1);
  join_lanes<S>(total, 2);
  bool first = (lane_number() & 1) == 0;
  if (has_base && first && wanted && has_or_all(base_words, row)) {
    if constexpr (S::structure_only) total.have = true;
    else total.take(base[row]);
  }
  bool writes = first && wanted && total.have;
  if constexpr (!S::structure_only) {
    if (writes) w[row] = total.value;
  }
  unsigned both = __ballot_sync(ALL_LANES, writes);
  unsigned packed = 0;
  if (lane_number() == 0) {
    for (int k = 0; k < 16; k++) packed |= (both >> (2 * k) & 1) << k;
    w_parts[tile_row] = uint16_t(packed);
  }
  return __popc(packed);
}

template <class S, bool MASKED>
__global__ void __launch_bounds__(256)
tiled_rows(int64_t nrows, const int64_t* tile_ptr, const int32_t* tile_col, const int64_t* tile_nnz, int64_t lines,
           int64_t chunk_count, const int32_t* extra, const int32_t* owner, const uint8_t* row_start,
           const uint8_t* nibbles, const typename S::A* a_values, const uint16_t* x_parts,
           const typename S::X* x_values, const word* mask, bool complement, const word* base_words,
           const typename S::Z* base, bool has_base, typename S::Z* w, uint16_t* w_parts, typename S::Z* partial,
           bool* have, unsigned long long* count) {
  const TileLines<uint16_t, int64_t> a{tile_ptr, tile_col, nullptr, tile_nnz, nullptr};
  const TileChunks chunks{lines, chunk_count, extra, owner};
  unsigned long long found = 0;
  int lane = lane_number(), r = lane >> 1, half = lane & 1;
  GRB_EACH_WARP(k, chunk_count) {
    int64_t tile_row, begin, stop_tile;
    chunk_range(a, chunks, k, tile_row, begin, stop_tile);
    int64_t row = tile_row * 16 + r;
    bool wanted = row < nrows;
    if constexpr (MASKED) wanted = wanted && has_or_all(mask, row) != complement;
    Total<S> total;
    if (!__any_sync(ALL_LANES, wanted)) stop_tile = begin;
    for (int64_t t0 = begin; t0 < stop_tile; t0 += 32) {
      int64_t mine = t0 + lane;
      bool there = mine < stop_tile;
      int tile = there ? tile_col[mine] : 0;
      unsigned part = !there ? 0u : x_parts == nullptr ? 0xffffu : unsigned(x_parts[tile]);
      int64_t base_entry = part ? tile_nnz[mine] : 0;
      int length = part ? int(tile_nnz[mine + 1] - base_entry) : 0;
      for (unsigned live = __ballot_sync(ALL_LANES, part != 0); live; live &= live - 1) {
        int who = __ffs(int(live)) - 1;
        unsigned present = __shfl_sync(ALL_LANES, part, who);
        int64_t col = int64_t(__shfl_sync(ALL_LANES, tile, who)) * 16, first = shuffle(base_entry, who), t = t0 + who;
        int all = __shfl_sync(ALL_LANES, length, who);
        int from = row_start[t * 16 + r], stop = r == 15 ? all : int(row_start[t * 16 + r + 1]);
        if (!wanted) continue;
        for (int e = from + half; e < stop; e += 2) {
          int local = nibbles[first + e] & 15;
          if (present >> local & 1)
            total.take(S::times(value_of_a<S>(a_values, first + e), value_of_x<S>(x_values, col + local), row,
                                col + local, 0));
        }
      }
    }
    if (extra != nullptr && is_split(chunks, tile_row)) {    // joined by join_chunks
      join_lanes<S>(total, 2);
      if (half == 0) {
        if constexpr (!S::structure_only) partial[k * 16 + r] = total.value;
        have[k * 16 + r] = total.have;
      }
      continue;
    }
    found += finish_rows<S>(total, tile_row, wanted, base_words, base, has_base, w, w_parts);
  }
  __shared__ unsigned long long sums[32];
  found = block_reduce(found, [](unsigned long long p, unsigned long long q) { return p + q; }, sums);
  if (threadIdx.x == 0 && found) atomicAdd(count, found);
}

template <class S, bool MASKED>
__global__ void __launch_bounds__(256)
join_chunks(int64_t nrows, int64_t lines, int64_t chunk_count, const int32_t* extra, const int32_t* owner,
            const word* mask, bool complement, const word* base_words, const typename S::Z* base, bool has_base,
            typename S::Z* w, uint16_t* w_parts, const typename S::Z* partial, const bool* have,
            unsigned long long* count) {
  unsigned long long found = 0;
  int r = lane_number() >> 1, half = lane_number() & 1;
  GRB_EACH_WARP(j, chunk_count - lines) {
    int64_t tile_row = owner[j], chunks = extra[tile_row + 1] - extra[tile_row];
    if (j != extra[tile_row]) continue;                      // one warp for each split tile row
    int64_t row = tile_row * 16 + r;
    bool wanted = row < nrows;
    if constexpr (MASKED) wanted = wanted && has_or_all(mask, row) != complement;
    Total<S> total;
    for (int64_t p = half; p <= chunks; p += 2) {
      int64_t at = (p == 0 ? tile_row : lines + j + p - 1) * 16 + r;
      if (!have[at]) continue;
      if constexpr (S::structure_only) total.have = true;
      else total.take(partial[at]);
    }
    found += finish_rows<S>(total, tile_row, wanted, base_words, base, has_base, w, w_parts);
  }
  if (lane_number() == 0 && found) atomicAdd(count, found);
}

// ---- building tiles

// FILL false: how many tiles of `least` entries or more a task (products/tile_rows.cuh) has, how many entries are in
// them, and how many entries of each of its rows are not: rest_count[slot], slots ordered by row, then part, so that
// the rest's sums are its CSR.
// FILL true: those are where they begin, and all is written.  V: values by their size (null pointers: none).
template <class I, class V, bool FILL>
__global__ void __launch_bounds__(256)
merge_values(const int64_t* indptr, const I* cols, const V* values, int64_t nrows, int64_t least, int64_t tasks,
             const int64_t* task_ptr, const int32_t* owner, int64_t* tile_count, int64_t* entry_count,
             int64_t* rest_count, int32_t* tile_col, int64_t* tile_nnz, uint8_t* row_start, uint16_t* row_mask,
             uint8_t* nibbles, V* tile_values, I* rest_cols, V* rest_values) {
  constexpr int NONE = 0x7fffffff;
  int r = lane_number() & 15;
  GRB_EACH_WARP(k, (tasks + 1) / 2) {
    int64_t task = k * 2 + (lane_number() >> 4), first_at[1], first_stop[1];
    bool here = task < tasks;
    int64_t tile_row = begin_task<uint16_t>(indptr, cols, nrows, tasks, task_ptr, owner, task, first_at, first_stop);
    int64_t at = first_at[0], stop = first_stop[0], tiles = 0, held = 0, rest = 0, slot = task * 16 + r;
    if (owner != nullptr && here) {
      int64_t begin = task_ptr[tile_row], parts = task_ptr[tile_row + 1] - begin;
      slot = begin * 16 + r * parts + (task - begin);
    }
    if (FILL && here) tiles = tile_count[task], held = entry_count[task], rest = rest_count[slot];
    int stands = at < stop ? int(cols[at] >> 4) : NONE;
    while (true) {
      int next = stands;
      for (int by = 8; by; by >>= 1) {
        int other = __shfl_xor_sync(ALL_LANES, next, by);
        next = other < next ? other : next;
      }
      if (!__any_sync(ALL_LANES, next != NONE)) break;
      int64_t from = at;
      unsigned bits = 0;
      while (stands == next && next != NONE) {
        bits |= 1u << (int64_t(cols[at]) & 15);
        at++;
        stands = at < stop ? int(cols[at] >> 4) : NONE;
      }
      int mine = int(at - from), upto = mine;
      for (int by = 1; by < 16; by <<= 1) {
        int other = __shfl_up_sync(ALL_LANES, upto, by, 16);
        if (r >= by) upto += other;
      }
      int total = __shfl_sync(ALL_LANES, upto, 15, 16);
      if (total >= least) {
        if (FILL) {
          int64_t place = held + upto - mine;
          row_start[tiles * 16 + r] = uint8_t(upto - mine);
          row_mask[tiles * 16 + r] = uint16_t(bits);
          if (r == 0) {
            tile_col[tiles] = next;
            tile_nnz[tiles] = held;
          }
          for (int64_t e = from; e < at; e++, place++) {
            nibbles[place] = uint8_t(r << 4 | int(cols[e] & 15));
            if (tile_values != nullptr) tile_values[place] = values[e];
          }
        }
        tiles++;
        held += total;
      } else {
        if (FILL)
          for (int64_t e = from; e < at; e++) {
            rest_cols[rest + e - from] = cols[e];
            if (rest_values != nullptr) rest_values[rest + e - from] = values[e];
          }
        rest += mine;
      }
    }
    if (!FILL) {
      if (here) rest_count[slot] = rest;
      if (r == 0 && here) tile_count[task] = tiles, entry_count[task] = held;
    }
  }
}

}  // namespace grb
