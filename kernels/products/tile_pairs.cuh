// C = A (+.x) B over 8 x 8 bit blocks: one product of blocks for each pair A(I,K), B(K,J) (TileSpGEMM).
//
// Algorithm: Niu et al., PPoPP 2022 (tilespgemm_ppopp22), section 3.3, with B by rows of blocks and C written as CSR.
// Step 1  layout of C's blocks: a product of the block layouts, in two phases (products/spgemm.cuh)
// Step 2  tile_masks     map of each block of C, by OR of rows of bits; entries of each row of C
// Step 3  tile_products  values and columns (products/tile_products.cuh): FP64 plus_times by matrix instructions, sums
//                        of ones by bits, other semirings by ordinary cores
// Window: WINDOW neighbouring blocks of a block row of C, which a warp computes together.  The block row's blocks of A
//   are dealt to the lanes; each lane finds what its row of blocks of B has in the window (`meet`).
// Exactness: an absent position is 0 in a matrix instruction.  0 x Inf is NaN, and a sum of absent positions hides the
//   sign of -0, so that results that are NaN or 0 are computed once more from their entries alone (`entry_of`).
// Launch: backends/cuda/products/tile_pairs.py, a warp for each chunk of at most TILES_OF_TASK blocks of a block row.
// Schema of A and B: storage/bit_tiles.py, BitBlockMatrix.  Precondition: blocks ascend in a block row.
#pragma once
#include "products/semiring.cuh"

namespace grb {

constexpr int WINDOW = 8;            // blocks of C
constexpr int TILES_OF_TASK = 256;   // blocks of C, as in backends/cuda/products/tile_pairs.py
constexpr int32_t NO_TILE = 0x7fffffff;

// What step 2 computes: no values.
struct Presence {
  using Z = uint8_t;
  using A = uint8_t;
  using X = uint8_t;
};

// Fields of 8 bytes in the order of products/tile_pairs.py.
template <class O, class S> struct TilePairs {
  const int64_t* a_ptr;
  const int32_t* a_col;
  const word* a_map;
  const int64_t* a_start;
  const typename S::A* a_values;
  const int64_t* b_ptr;
  const int32_t* b_col;
  const word* b_map;
  const int64_t* b_start;
  const typename S::X* b_values;
  const int64_t* c_ptr;
  const int32_t* c_col;
  word* c_map;
  int64_t nrows;
  int64_t lines, tasks;          // block rows of C; their chunks: see task_range
  const int32_t *extra, *owner;
  word* counts;                  // step 2: entries of each row of C, then pairs
  const int64_t* indptr;         // step 3: of C
  O* c_cols;
  typename S::Z* c_values;
};

// Blocks first .. stop-1 of C are those of task k, in block row `line`: tasks k < lines are the first TILES_OF_TASK
// blocks of line k; the others of line r follow from lines + extra[r] on.
template <class O, class S>
GRB_DEVICE void task_range(const TilePairs<O, S>& o, int64_t k, int64_t& line, int64_t& first, int64_t& stop) {
  line = k < o.lines ? k : int64_t(o.owner[k - o.lines]);
  first = o.c_ptr[line] + (k < o.lines ? 0 : (k - o.lines - o.extra[line] + 1) * TILES_OF_TASK);
  stop = min(o.c_ptr[line + 1], first + TILES_OF_TASK);
}

// What one block of A, of each lane, meets in the windows of C: a merge along its row of blocks of B.
struct Merge {
  int64_t a;             // the block of A
  int64_t at, stop;      // blocks of B that are not passed yet
  int64_t first;         // of the window: block p of C has a product where bit p of `tiles` is set; their blocks of B
  unsigned tiles;        // are neighbours from `first` on
  int32_t stands;        // column of block `at`

  template <class O, class S>
  GRB_DEVICE void stand(const TilePairs<O, S>& o) {
    stands = at < stop ? o.b_col[at] : NO_TILE;
  }
  // Begin at block column `least`; a_stop or more: no block of A.
  template <class O, class S>
  GRB_DEVICE void begin(const TilePairs<O, S>& o, int64_t block, int64_t a_stop, int32_t least) {
    a = block, at = stop = 0;
    if (a < a_stop) {
      const int64_t k = o.a_col[a];
      stop = o.b_ptr[k + 1];
      at = lower_bound(o.b_col, o.b_ptr[k], stop, least);
    }
    stand(o);
  }
  // The next window.  column: lane p's is that of block p, else NO_TILE.  The warp calls together.
  template <class O, class S> GRB_DEVICE void meet(const TilePairs<O, S>& o, int32_t column) {
    first = at, tiles = 0;
#pragma unroll
    for (int p = 0; p < WINDOW; p++) {
      const int32_t here = __shfl_sync(ALL_LANES, column, p);
      if (here != NO_TILE && here == stands) {
        tiles |= 1u << p;
        at++;
        stand(o);
      }
    }
  }
};

// The map of the product of two blocks: the bits of A's column k select the rows that get row k of B.
GRB_DEVICE word product_of_maps(word a, word b) {
  constexpr unsigned COLUMN = 0x01010101u;
  const unsigned a_low = unsigned(a), a_high = unsigned(a >> 32);
  unsigned low = 0, high = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) {
    const unsigned row = (unsigned(b >> (8 * k)) & 0xff) * COLUMN;  // in each of four rows
    low |= (a_low >> k & COLUMN) * 0xff & row;
    high |= (a_high >> k & COLUMN) * 0xff & row;
  }
  return word(high) << 32 | low;
}

// Step 2: c_map of each block of C; counts[i] += entries of row i; counts[nrows] += pairs.
template <class O>
__global__ void __launch_bounds__(256) tile_masks(TilePairs<O, Presence> o) {
  __shared__ word memory[8][WINDOW];
  word* maps = memory[threadIdx.x >> 5];
  const int lane = lane_number(), row = lane & 7;
  word pairs = 0;
  GRB_EACH_WARP(task, o.tasks) {
    int64_t line, first, stop;
    task_range(o, task, line, first, stop);
    const int64_t a_first = o.a_ptr[line], a_stop = o.a_ptr[line + 1];
    const bool at_once = a_stop - a_first <= 32;  // the lanes keep their blocks of A
    Merge merge;
    word a = 0;
    if (first < stop && at_once) {
      merge.begin(o, a_first + lane, a_stop, o.c_col[first]);
      if (merge.at < merge.stop) a = o.a_map[merge.a];
    }
    unsigned entries = 0;  // of `row`, in a quarter of the blocks
    for (int64_t at = first; at < stop; at += WINDOW) {
      const bool mine = lane < WINDOW && at + lane < stop;
      const int32_t column = mine ? o.c_col[at + lane] : NO_TILE;
      if (lane < WINDOW) maps[lane] = 0;
      __syncwarp();
      for (int64_t from = a_first; from < a_stop; from += 32) {
        if (!at_once) {
          merge.begin(o, from + lane, a_stop, o.c_col[at]);
          if (merge.at < merge.stop) a = o.a_map[merge.a];
        }
        merge.meet(o, column);
        pairs += __popc(merge.tiles);
        int64_t b = merge.first;
        for (unsigned tiles = merge.tiles; tiles; tiles &= tiles - 1, b++) {
          const word map = product_of_maps(a, o.b_map[b]);
          unsigned* halves = reinterpret_cast<unsigned*>(maps + __ffs(int(tiles)) - 1);
          if (unsigned(map)) atomicOr(halves, unsigned(map));
          if (map >> 32) atomicOr(halves + 1, unsigned(map >> 32));
        }
      }
      __syncwarp();
      if (mine) o.c_map[at + lane] = maps[lane];
      for (int p = lane >> 3; p < WINDOW; p += 4) entries += __popc(unsigned(maps[p] >> (8 * row)) & 0xff);
      __syncwarp();
    }
    for (int by = 8; by < 32; by <<= 1) entries += __shfl_xor_sync(ALL_LANES, entries, by);
    if (lane < 8 && line * 8 + row < o.nrows && entries) atomicAdd(o.counts + line * 8 + row, word(entries));
  }
  pairs = warp_sum(pairs);
  if (lane == 0 && pairs) atomicAdd(o.counts + o.nrows, pairs);
}

}  // namespace grb
