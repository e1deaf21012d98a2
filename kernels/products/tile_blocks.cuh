// Making 8 x 8 bit blocks with values: the rows of a block row are merged, nothing is sorted.
//
// Who calls: backends/cuda/products/tile_blocks.py.  Schema: storage/bit_tiles.py, BitBlockMatrix.
// Threads: a group of 8 lanes (products/tile_rows.cuh) for each task, a lane for each row.  The least block column that
//   any of them stands at is the next block; the bytes of the rows are its map, and each lane copies its row's values.
// Paper: spaden_bitmap_spmv_icpp24, 4.2.
#pragma once
#include "products/tile_rows.cuh"

namespace grb {

// The bitwise or of a value over each group of 8 lanes.
GRB_DEVICE word or_of_eight(word value) {
  for (int by = 4; by; by >>= 1) value |= word(__shfl_xor_sync(ALL_LANES, value, by));
  return value;
}

// FILL false: block_count[j] = blocks of task j.  FILL true: block_count[j] is where task j's blocks begin, and they
// are written.  indptr, cols: CSR of nrows rows, columns ascending; values null: iso.  Tasks: products/tile_rows.cuh.
template <class I, class T, bool FILL>
__global__ void __launch_bounds__(256)
merge_block_row(const int64_t* indptr, const I* cols, const T* values, int64_t nrows, int64_t tasks,
                const int64_t* task_ptr, const int32_t* owner, int64_t* block_count, int32_t* block_col,
                word* block_map, int64_t* value_ptr, T* packed) {
  using G = TileGroup<uint8_t>;
  constexpr int NONE = 0x7fffffff;
  GRB_EACH_WARP(k, (tasks + G::IN_WARP - 1) / G::IN_WARP) {
    const int64_t task = k * G::IN_WARP + G::number();
    int64_t at[G::EACH], stop[G::EACH];
    const int64_t block_row = begin_task<uint8_t>(indptr, cols, nrows, tasks, task_ptr, owner, task, at, stop);
    int64_t begin = at[0], blocks = 0, base = 0;
    const int64_t end = stop[0];
    if (FILL && task < tasks) {
      const int64_t row = block_row * G::NT + G::lane();
      blocks = block_count[task];
      base = row < nrows ? begin - indptr[row] : 0;  // entries of the row that are in blocks of earlier tasks
    }
    if (FILL) {
      for (int by = 4; by; by >>= 1) base += __shfl_xor_sync(ALL_LANES, base, by);
      if (task < tasks) base += indptr[block_row * G::NT];
    }
    int stands = begin < end ? int(cols[begin] >> G::SHIFT) : NONE;
    while (true) {
      int next = stands;
      for (int by = 4; by; by >>= 1) next = min(next, __shfl_xor_sync(ALL_LANES, next, by));
      if (!__any_sync(ALL_LANES, next != NONE)) break;
      int64_t p = begin;
      word bits = 0;
      while (next != NONE && stands == next) {
        bits |= word(1) << (int64_t(cols[p]) & (G::NT - 1));
        p++;
        stands = p < end ? int(cols[p] >> G::SHIFT) : NONE;
      }
      if (FILL) {
        const int row = G::lane() * G::NT;
        const word map = or_of_eight(bits << row);
        if (next != NONE) {
          if (G::lane() == 0) {
            block_col[blocks] = next;
            block_map[blocks] = map;
            value_ptr[blocks] = base;
          }
          if (values != nullptr) {
            const int64_t to = base + __popcll(map & ((word(1) << row) - 1));
            for (int64_t q = begin; q < p; q++) packed[to + q - begin] = values[q];
          }
          base += __popcll(map);
        }
      }
      begin = p;
      blocks += next != NONE;
    }
    if (!FILL && task < tasks && G::lane() == 0) block_count[task] = blocks;
  }
}

}  // namespace grb
