// The 8 x 8 bitmap blocks of a matrix, made from its CSR.
//
// Algorithm: conversion to bitBSR (spaden_bitmap_spmv_icpp24), 4.2; the columns of blocks are delta-encoded in 15 bits
//   where each CHUNK of blocks spans less than 2^15.
// Launch: backends/cuda/products/bitblocks.py (the schema); tile_blocks.py for BitBlockMatrix (storage/bit_tiles.py),
//   whose bits are in row order and which has no remainder.
// merge_blocks   a group of 8 lanes merges the 8 rows of a block row (tasks as in products/tile_rows.cuh), a lane each;
//                blocks of few entries go to the remainder. Once to count, once to write.
// encode_blocks  the codes of the columns, and the values of each chunk.
#pragma once
#include "base/bits.cuh"
#include "products/tile_rows.cuh"

namespace grb {

constexpr int CHUNK = 32;          // blocks, as in backends/cuda/products/bitblocks.py

// The code of a block's column: whether a block row begins with it, and its column or its distance from a base.
template <class C> struct BlockCode;
template <> struct BlockCode<uint16_t> {
  static GRB_DEVICE bool begins(uint16_t code) { return code >> 15; }
  static GRB_DEVICE int column(uint16_t code) { return code & 0x7fff; }
  static GRB_DEVICE uint16_t encode(int column, bool begins) { return uint16_t(column | (begins ? 0x8000 : 0)); }
};
template <> struct BlockCode<int32_t> {
  static GRB_DEVICE bool begins(int32_t code) { return code < 0; }
  static GRB_DEVICE int column(int32_t code) { return code < 0 ? ~code : code; }
  static GRB_DEVICE int32_t encode(int column, bool begins) { return begins ? ~column : column; }
};

// FILL false: how many blocks a task has, how many entries are in them, and how many are in the remainder.
// FILL true: these arrays have the task's first positions, and the blocks are written.  V: values by their size (null
// pointers: none).  A block of fewer than `least` entries goes to the remainder, except the first block of each task
// and the blocks of a block row that is cut into tasks, because one group reads a block row's remainder.
// BY_ROWS: bit 8 r + c of a block is its entry in row r, column c; else bit 8 c + r.
// starts: where the values of each block begin (null: not wanted).
template <class I, class V, bool FILL, bool BY_ROWS>
__global__ void __launch_bounds__(256)
merge_blocks(const int64_t* indptr, const I* cols, const V* values, int64_t nrows, int64_t least, int64_t tasks,
             const int64_t* task_ptr, const int32_t* owner, int64_t* block_count, int64_t* entry_count,
             int64_t* rest_count, word* maps, int32_t* block_cols, V* block_values, uint32_t* rest, V* rest_values,
             int64_t* starts) {
  constexpr int NONE = 0x7fffffff;
  const int r = lane_number() & 7, group_shift = lane_number() & 24;
  auto bit_of = [&](int64_t column) { return BY_ROWS ? r * 8 + int(column & 7) : int(column & 7) * 8 + r; };
  GRB_EACH_WARP(k, (tasks + 3) / 4) {
    const int64_t task = k * 4 + (lane_number() >> 3);
    const bool here = task < tasks;
    int64_t first_at[1], first_stop[1];
    const int64_t block_row =
        begin_task<uint8_t>(indptr, cols, nrows, tasks, task_ptr, owner, task, first_at, first_stop);
    const bool is_cut = owner != nullptr && here && task_ptr[block_row + 1] - task_ptr[block_row] > 1;
    int64_t at = first_at[0], blocks = 0, held = 0, left = 0;
    const int64_t stop = first_stop[0];
    if (FILL && here) blocks = block_count[task], held = entry_count[task], left = rest_count[task];
    bool is_first = true;
    int stands = at < stop ? int(cols[at] >> 3) : NONE;
    while (true) {
      int next = stands;
      for (int by = 4; by; by >>= 1) {
        const int other = __shfl_xor_sync(ALL_LANES, next, by);
        next = other < next ? other : next;
      }
      if (!__any_sync(ALL_LANES, next != NONE)) break;
      const int64_t from = at;
      unsigned bits = 0;                             // of this lane's row
      while (stands == next && next != NONE) {
        bits |= 1u << (int64_t(cols[at]) & 7);
        at++;
        stands = at < stop ? int(cols[at] >> 3) : NONE;
      }
      word map = BY_ROWS ? word(bits) << (8 * r) : 0;
      if constexpr (BY_ROWS) {
        for (int by = 4; by; by >>= 1) map |= word(__shfl_xor_sync(ALL_LANES, map, by));
      } else {
        for (int c = 0; c < 8; c++)
          map |= word(__ballot_sync(ALL_LANES, bits >> c & 1) >> group_shift & 0xff) << (8 * c);
      }
      const int total = __popcll(map);
      if (total == 0) continue;                      // this group has finished
      if (total >= least || is_first || is_cut) {
        if constexpr (FILL) {
          if (r == 0) maps[blocks] = map, block_cols[blocks] = next;
          if (r == 0 && starts != nullptr) starts[blocks] = held;
          if (block_values != nullptr)
            for (int64_t e = from; e < at; e++)
              block_values[held + __popcll(map & ((word(1) << bit_of(cols[e])) - 1))] = values[e];
        }
        blocks++;
        held += total;
        is_first = false;
      } else {
        if constexpr (FILL) {
          for (int64_t e = from; e < at; e++) {
            const int64_t place = left + __popcll(map & ((word(1) << bit_of(cols[e])) - 1));
            rest[place] = uint32_t(cols[e]) * 8 + r;
            if (rest_values != nullptr) rest_values[place] = values[e];
          }
        }
        left += total;
      }
    }
    if (!FILL && r == 0 && here) block_count[task] = blocks, entry_count[task] = held, rest_count[task] = left;
  }
}

// A warp for each chunk of blocks: the codes of its columns and how many values it has.  begins: bit b: does a block
// row begin with block b?  facts[0]: C = uint16_t: how many chunks span 2^15 columns of blocks or more; facts[1],
// facts[2]: the most values in 16 blocks, in 32, of those that the kernels copy at once.
template <class C>
__global__ void __launch_bounds__(256)
encode_blocks(const word* maps, const int32_t* block_cols, const uint32_t* begins, int64_t blocks, C* codes,
              int32_t* bases, int64_t* value_count, unsigned long long* facts) {
  unsigned long long most[2] = {0, 0};
  int wide = 0;
  GRB_EACH_WARP(k, (blocks + CHUNK - 1) / CHUNK) {
    const int64_t b = k * CHUNK + lane_number();
    const bool there = b < blocks;
    const int column = block_cols[there ? b : k * CHUNK];
    const int base = sizeof(C) == 2 ? warp_min(column) : 0;
    const bool fits = sizeof(C) != 2 || warp_max(column) - base < 1 << 15;
    if (there) codes[b] = BlockCode<C>::encode(fits ? column - base : 0, begins[k] >> lane_number() & 1);
    int values = there ? __popcll(maps[b]) : 0;
    for (int by = 1; by < 16; by <<= 1) values += __shfl_xor_sync(ALL_LANES, values, by);
    const int other = __shfl_xor_sync(ALL_LANES, values, 16), larger = values > other ? values : other;
    if (most[0] < (unsigned long long)larger) most[0] = larger;
    if (most[1] < (unsigned long long)(values + other)) most[1] = values + other;
    wide += !fits;
    if (lane_number() == 0) {
      value_count[k] = values + other;
      if (sizeof(C) == 2) bases[k] = base;
    }
  }
  if (lane_number() == 0 && most[0]) {
    if (wide) atomicAdd(facts, (unsigned long long)wide);
    for (int k = 0; k < 2; k++) atomicMax(facts + 1 + k, most[k]);
  }
}

}  // namespace grb
