// C = A X with operands rounded to FP16, BF16 or TF32 and sums in FP32, on tensor cores: A as tiles of 16 rows and 16
// condensed columns, X and C dense and row-major.
//
// Algorithm: the rows of a window of 16 are multiplied together over their condensed columns, each column of the window
//   once, side by side (Wang, Feng, Wang, Ding, "TC-GNN: bridging sparse GNN computation and dense tensor cores on
//   GPUs", USENIX ATC 2023, section 4.1), so a row of X is loaded once for 16 rows of A.  The fragments of A are stored
//   in the order of the lanes.  X needs no shared memory: a lane loads NT neighbouring columns of 4 rows of X, because
//   the column of C that a lane of the instruction has is free to choose.
// Phases of a warp (spmm_tiles), for a chunk of the tiles of a window and 8 * NT columns of X:
//   load      A's fragment (8 values a lane), 4 columns a lane, NT values of each of these 4 rows of X
//   multiply  NT matrix instructions of 16 x 8 x 16 (TF32: 2 NT of 16 x 8 x 8)
//   write     rows of C; of a chunk that is not a whole window, parts to `carry`, which spmm_join adds (spmm.cuh)
// Positions without an entry are zeros: 0 * x is 0 unless x is not finite. round_values sets *bad where a value is not
// finite or not representable, and then spmm_tiles does nothing and the product over CSR, launched after it, runs.
// Launch: backends/cuda/products/spmm_rounded.py.  From sm_80 on; on the CPU the instruction is made by shuffles.
#pragma once
#include "products/round_values.cuh"
#include "products/spmm.cuh"

namespace grb {

constexpr int TILE = 16;

// keys[e] = window of entry e << bits | its column.  A warp for a row.
template <class I>
__global__ void window_keys(const int64_t* indptr, int64_t rows, const I* indices, int64_t bits, int64_t* keys) {
  GRB_EACH_WARP(row, rows) {
    for (int64_t e = indptr[row] + lane_number(); e < indptr[row + 1]; e += 32)
      keys[e] = row / TILE << bits | int64_t(indices[e]);
  }
}

// The columns of each tile, `count` of them in all: those of window w are keys[first[w]] .. keys[first[w+1] - 1], each
// once and ascending, then its first one again, up to a multiple of 16.
template <class I>
__global__ void tile_columns(const int64_t* keys, const int64_t* first, const int64_t* tile_ptr, int64_t windows,
                             int64_t count, int64_t bits, I* cols) {
  GRB_EACH(k, count) {
    const int64_t w = row_of(tile_ptr, windows, k / TILE);
    int64_t q = first[w] + k - tile_ptr[w] * TILE;
    if (q >= first[w + 1]) q = first[w];
    cols[k] = I(keys[q] & ((int64_t(1) << bits) - 1));
  }
}

// Where a lane's fragment has row r, column c of a tile: position 8 * lane + ....
template <int FORM> GRB_DEVICE int place_in_tile(int r, int c) {
  const int pair = c & 1, row = r >> 3;
  return 8 * ((r & 7) * 4 + c / 4) + (c % 4 / 2) * 4 + (FORM == TENSOR_FLOAT ? pair * 2 + row : row * 2 + pair);
}

// The values of A in the tiles, which are zeros before.  A warp for a row.
template <class I, int FORM>
__global__ void fill_tiles(const int64_t* indptr, int64_t rows, const I* indices, const float* a_values, bool iso,
                           const int64_t* keys, const int64_t* first, const int64_t* tile_ptr, int64_t bits,
                           rounded_t<FORM>* tiles, word* bad) {
  bool any = false;
  GRB_EACH_WARP(row, rows) {
    const int64_t w = row / TILE;
    for (int64_t e = indptr[row] + lane_number(); e < indptr[row + 1]; e += 32) {
      const int64_t key = w << bits | int64_t(indices[e]);
      const int64_t at = lower_bound(keys, first[w], first[w + 1], key) - first[w];
      bool is_bad = false;
      const rounded_t<FORM> value = round_to<FORM>(a_values[iso ? 0 : e], is_bad);
      any = any || is_bad;
      tiles[(tile_ptr[w] + at / TILE) * (TILE * TILE) + place_in_tile<FORM>(int(row % TILE), int(at % TILE))] = value;
    }
  }
  if (any) *bad = 1;
}

// C += A B for A 16 x 16, B 16 x 8 of a warp: lane l has rows l / 4 and l / 4 + 8 of the columns 4 (l % 4) .. of A, the
// same four rows of column l / 4 of B, and C(l / 4, 2 (l % 4)) and its right neighbour, then those of row l / 4 + 8.
// a: as place_in_tile has it.  b: four values, two of 16 bits in a register.
template <int FORM>
GRB_DEVICE void multiply_tile(float (&c)[4], const unsigned (&a)[FORM == TENSOR_FLOAT ? 8 : 4],
                              const unsigned (&b)[FORM == TENSOR_FLOAT ? 4 : 2]) {
#if __CUDA_ARCH__ >= 800 && !defined(SIMT_CPU)
  if constexpr (FORM == TENSOR_FLOAT) {
#pragma unroll
    for (int s = 0; s < 2; s++) {
      asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                   "{%0,%1,%2,%3};"
                   : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                   : "r"(a[4 * s]), "r"(a[4 * s + 1]), "r"(a[4 * s + 2]), "r"(a[4 * s + 3]), "r"(b[2 * s]),
                     "r"(b[2 * s + 1]));
    }
  } else if constexpr (FORM == BFLOAT) {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  } else {
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
                 "{%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
#else
  const int lane = lane_number();
  for (int k = 0; k < TILE; k++) {
    for (int half = 0; half < 2; half++) {
      const int place = place_in_tile<FORM>(half * 8, k) % 8;  // in the fragment of lane 4 * row + k / 4
      float left, right[2];
      if constexpr (FORM == TENSOR_FLOAT) {
        left = value_of<FORM>(__shfl_sync(ALL_LANES, a[place], (lane & ~3) + k / 4));
        for (int e = 0; e < 2; e++)
          right[e] = value_of<FORM>(__shfl_sync(ALL_LANES, b[k % 4], (2 * (lane & 3) + e) * 4 + k / 4));
      } else {
        const unsigned word_a = __shfl_sync(ALL_LANES, a[place / 2], (lane & ~3) + k / 4);
        left = value_of<FORM>(uint16_t(word_a >> 16 * (place & 1)));
        for (int e = 0; e < 2; e++) {
          const unsigned word_b = __shfl_sync(ALL_LANES, b[k % 4 / 2], (2 * (lane & 3) + e) * 4 + k / 4);
          right[e] = value_of<FORM>(uint16_t(word_b >> 16 * (k & 1)));
        }
      }
      for (int e = 0; e < 2; e++) c[2 * half + e] = fmaf(left, right[e], c[2 * half + e]);
    }
  }
#endif
}

// chunk_windows[k], chunk_first[k], chunk_first[k + 1]: the window and the tiles of chunk k; chunk_carry[k]: where the
// parts of its first row go (those of the others are `carry_step[k]` rows apart), negative where it is a whole window.
template <class I, int FORM, int NT>
__global__ void __launch_bounds__(256)
spmm_tiles(const I* cols, const rounded_t<FORM>* tiles, const int32_t* chunk_windows, const int64_t* chunk_first,
           const int64_t* chunk_carry, const int64_t* carry_step, int64_t chunks, int64_t rows,
           const rounded_t<FORM>* x, int64_t n, float* values, float* carry, const word* bad) {
  using R = rounded_t<FORM>;
  constexpr int WORDS = NT * sizeof(R) / 4, B = FORM == TENSOR_FLOAT ? 4 : 2, A = FORM == TENSOR_FLOAT ? 8 : 4;
  constexpr int AT_ONCE = WORDS < 4 ? WORDS : 4;  // of a load of 16 bytes at most
  if (*bad) return;
  const int lane = lane_number(), g = lane >> 2, t = lane & 3;
  const int64_t column_tiles = n / (8 * NT);
  GRB_EACH_WARP(job, chunks * column_tiles) {
    const int64_t number = job % chunks, base = job / chunks * (8 * NT);
    const R* x_at = x + base + g * NT;
    const int64_t width = sizeof(I) == 4 ? int64_t(int32_t(n)) : n;
    float c[NT][4];
#pragma unroll
    for (int j = 0; j < NT; j++) c[j][0] = c[j][1] = c[j][2] = c[j][3] = 0;
    const int64_t stop = chunk_first[number + 1];
#pragma unroll 2
    for (int64_t tile = chunk_first[number]; tile < stop; tile++) {
      I k[4];
      unsigned a[A], rows_of_x[4][WORDS];
      stream_four(cols + tile * TILE + 4 * t, k);
#pragma unroll
      for (int p = 0; p < A / 4; p++) {
        const uint4 piece = __ldcs(reinterpret_cast<const uint4*>(tiles + tile * (TILE * TILE)) + lane * (A / 4) + p);
        a[4 * p] = piece.x, a[4 * p + 1] = piece.y, a[4 * p + 2] = piece.z, a[4 * p + 3] = piece.w;
      }
#pragma unroll
      for (int u = 0; u < 4; u++) {
#pragma unroll
        for (int p = 0; p < WORDS / AT_ONCE; p++) {
          const Pack<unsigned, AT_ONCE> piece =
              reinterpret_cast<const Pack<unsigned, AT_ONCE>*>(x_at + int64_t(k[u]) * width)[p];
#pragma unroll
          for (int v = 0; v < AT_ONCE; v++) rows_of_x[u][p * AT_ONCE + v] = piece.v[v];
        }
      }
#pragma unroll
      for (int j = 0; j < NT; j++) {
        unsigned b[B];
        if constexpr (FORM == TENSOR_FLOAT) {
#pragma unroll
          for (int u = 0; u < 4; u++) b[u] = rows_of_x[u][j];
        } else {
          const unsigned which = j & 1 ? 0x7632 : 0x5410;
          b[0] = __byte_perm(rows_of_x[0][j / 2], rows_of_x[1][j / 2], which);
          b[1] = __byte_perm(rows_of_x[2][j / 2], rows_of_x[3][j / 2], which);
        }
        multiply_tile<FORM>(c[j], a, b);
      }
    }
    const int64_t first_row = int64_t(chunk_windows[number]) * TILE, place = chunk_carry[number];
    const int64_t apart = place < 0 ? 1 : carry_step[number];
    float* out = place < 0 ? values + first_row * n : carry + place * n;
#pragma unroll
    for (int half = 0; half < 2; half++) {
      const int r = g + 8 * half;
      if (first_row + r >= rows) continue;
#pragma unroll
      for (int e = 0; e < 2; e++) {
        Pack<float, NT> pack;
#pragma unroll
        for (int j = 0; j < NT; j++) pack.v[j] = c[j][2 * half + e];
        constexpr int FOUR = NT < 4 ? NT : 4;
#pragma unroll
        for (int p = 0; p < NT / FOUR; p++) {
          Pack<float, FOUR> part;
#pragma unroll
          for (int j = 0; j < FOUR; j++) part.v[j] = pack.v[p * FOUR + j];
          stream_out(out + r * apart * n + base + NT * (2 * t + e) + p * FOUR, part);
        }
      }
    }
  }
}

}  // namespace grb
