// C = A (+.x) B over 8 x 8 bit blocks: one product of blocks for each pair A(I,K), B(K,J) (TileSpGEMM).
//
// Algorithm: Niu et al., PPoPP 2022 (tilespgemm_ppopp22), section 3.3, with B by rows of blocks and C written as CSR.
// Steps 1, 2               C's blocks and their maps: the product of the block layouts, in two phases
//                          (products/spgemm.cuh), over the semiring of products/tile_maps.cuh
//         tile_rows        entries of each row of C; the tasks of step 3
// Step 3  tile_products    values and columns (products/tile_products.cuh): FP64 plus_times by matrix instructions,
//                          sums of ones by bits, other semirings by ordinary cores
// Window: WINDOW neighbouring blocks of a block row of C, which a warp computes together.  The block row's blocks of A
//   are dealt to the lanes; each lane finds what its row of blocks of B has in the window (`meet`).
// Exactness: an absent position is 0 in a matrix instruction.  0 x Inf is NaN, and adding +0 loses the sign of -0, so
//   results that are NaN or 0 are computed again from their entries alone (`entry_of`).
// Launch: backends/cuda/products/tile_pairs.py, a warp for each chunk of at most TILES_OF_TASK blocks of a block row.
// Schema of A and B: storage/bit_tiles.py, BitBlockMatrix.  Precondition: blocks ascend in a block row.
#pragma once
#include "products/semiring.cuh"
#include "products/tile_maps.cuh"

namespace grb {

constexpr int WINDOW = 8;            // blocks of C
constexpr int TILES_OF_TASK = 256;   // blocks of C, as in backends/cuda/products/tile_pairs.py
constexpr int32_t NO_TILE = 0x7fffffff;

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
  const word* c_map;
  int64_t nrows;
  int64_t lines;                 // block rows of C
  const int64_t* more;           // number of tasks beside the first of each line: see task_range
  const int64_t* chunks;         // of each of these, its block row and its first block
  const int64_t* indptr;         // of C
  O* c_cols;
  typename S::Z* c_values;
};

// Blocks first .. stop-1 of C are those of task k, in block row `line`: tasks k < lines are the first TILES_OF_TASK
// blocks of line k, the others are listed.
template <class O, class S>
GRB_DEVICE void task_range(const TilePairs<O, S>& o, int64_t k, int64_t& line, int64_t& first, int64_t& stop) {
  line = k < o.lines ? k : o.chunks[2 * (k - o.lines)];
  first = k < o.lines ? o.c_ptr[k] : o.chunks[2 * (k - o.lines) + 1];
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

// counts[i] = entries of row i of C.  chunks: what a block row has beyond its first TILES_OF_TASK blocks, so many each;
// *more: their number, 0 before.  A warp for each block row.
template <int = 0>
__global__ void __launch_bounds__(256)
tile_rows(const int64_t* c_ptr, const word* c_map, int64_t lines, int64_t nrows, int64_t* counts, word* more,
          int64_t* chunks) {
  const int lane = lane_number();
  GRB_EACH_WARP(line, lines) {
    const int64_t first = c_ptr[line], stop = c_ptr[line + 1];
    unsigned entries[8] = {};
    for (int64_t t = first + lane; t < stop; t += 32) {
      const word map = c_map[t];
#pragma unroll
      for (int row = 0; row < 8; row++) entries[row] += __popc(unsigned(map >> (8 * row)) & 0xff);
    }
    unsigned mine = 0;
#pragma unroll
    for (int row = 0; row < 8; row++) {
      const unsigned sum = warp_sum_everywhere(entries[row]);
      if (lane == row) mine = sum;
    }
    if (lane < 8 && line * 8 + lane < nrows) counts[line * 8 + lane] = mine;
    if (lane == 0 && stop - first > TILES_OF_TASK) {
      int64_t* to = chunks + 2 * atomicAdd(more, word((stop - first - 1) / TILES_OF_TASK));
      for (int64_t t = first + TILES_OF_TASK; t < stop; t += TILES_OF_TASK) *to++ = line, *to++ = t;
    }
  }
}

}  // namespace grb
