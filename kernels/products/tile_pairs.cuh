// C = A (+.x) B over 8 x 8 bit blocks: one product of blocks for each pair A(I,K), B(K,J) (TileSpGEMM).
//
// Algorithm: Niu et al., PPoPP 2022 (tilespgemm_ppopp22), section 3.3, with B by rows of blocks and C written as CSR.
// Step 1  layout of C's blocks: a product of the block layouts, in two phases (products/spgemm.cuh)
// Step 2  tile_masks     map of each block of C, by OR of rows of bits; entries of each row of C
// Step 3  tile_products  values and columns.  A block of C has two positions a lane; FP64 plus_times takes two
//                        m8n8k4 matrix instructions a pair, other semirings the pairs of entries whose bits meet
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
constexpr int PAIR_THREADS = 128;    // of a block of tile_products, as in its launch bounds
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

// ---------------------------------------------------------------- step 3

// C += A B for A 8 x 4, B 4 x 8, C 8 x 8 of a warp: lane l has A(l / 4, l % 4), B(l % 4, l / 4) and, in c0 and c1,
// C(l / 4, 2 (l % 4)) and its right neighbour.  Before sm_80, and on the CPU, by shuffles.
GRB_DEVICE void multiply_add(double& c0, double& c1, double a, double b) {
#if __CUDA_ARCH__ >= 800 && !defined(SIMT_CPU)
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+d"(c0), "+d"(c1) : "d"(a), "d"(b));
#else
  const int lane = lane_number();
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const double left = __shfl_sync(ALL_LANES, a, (lane & ~3) + k);
    const double right0 = __shfl_sync(ALL_LANES, b, 8 * (lane & 3) + k);
    const double right1 = __shfl_sync(ALL_LANES, b, 8 * (lane & 3) + 4 + k);
    c0 = fma(left, right0, c0);
    c1 = fma(left, right1, c1);
  }
#endif
}

// The value of bit `bit` of four rows of a block, `values`: the first one of these rows; 0 where there is none.
template <bool ISO> GRB_DEVICE double value_or_zero(const double* values, unsigned rows, int bit) {
  if (!(rows >> bit & 1)) return 0;
  return ISO ? *values : read_only(values + __popc(rows & ((1u << bit) - 1)));
}

// total (+)= the products of row `row` of a block of A and column `col` of a block of B.
template <class S>
GRB_DEVICE void take_products(Total<S>& total, const typename S::A* a_values, word a, int64_t a_start,
                              const typename S::X* b_values, word b, int64_t b_start, int row, int col, int64_t i,
                              int64_t k, int64_t j) {
  unsigned bits = unsigned(a >> (8 * row)) & 0xff;
  if (bits == 0) return;
  int64_t at = a_start + __popcll(a & ((word(1) << (8 * row)) - 1));
  for (; bits; bits &= bits - 1, at++) {
    const int step = __ffs(int(bits)) - 1, bit = 8 * step + col;
    if (!(b >> bit & 1)) continue;
    const int64_t where = b_start + __popcll(b & ((word(1) << bit) - 1));
    total.take(S::times(value_of_a<S>(a_values, at), value_of_x<S>(b_values, where), i, k + step, j));
  }
}

// C(i, j) from its entries alone; block row `line`, block column `column`.
template <class O, class S>
GRB_DEVICE typename S::Z entry_of(const TilePairs<O, S>& o, int64_t line, int32_t column, int row, int col) {
  Total<S> total;
  for (int64_t a = o.a_ptr[line]; a < o.a_ptr[line + 1]; a++) {
    const int64_t k = o.a_col[a], b = find(o.b_col, o.b_ptr[k], o.b_ptr[k + 1], column);
    if (b >= 0)
      take_products(total, o.a_values, o.a_map[a], o.a_start[a], o.b_values, o.b_map[b], o.b_start[b], row, col,
                    line * 8 + row, k * 8, int64_t(column) * 8 + col);
  }
  return total.value;
}

// C += popcount(A and B) for A 8 x 128 bits, B 128 x 8 bits, C 8 x 8 of a warp: lane l has bits 32 (l % 4) .. of row
// l / 4 of A and of column l / 4 of B, and C as multiply_add has it.  Before sm_80, and on the CPU, by shuffles.
GRB_DEVICE void count_add(int& c0, int& c1, unsigned a, unsigned b) {
#if __CUDA_ARCH__ >= 800 && !defined(SIMT_CPU)
  asm volatile("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%0,%1}, {%2}, {%3}, {%0,%1};"
               : "+r"(c0), "+r"(c1) : "r"(a), "r"(b));
#else
  const int lane = lane_number();
#pragma unroll
  for (int k = 0; k < 4; k++) {
    const unsigned left = __shfl_sync(ALL_LANES, a, (lane & ~3) + k);
    c0 += __popc(left & __shfl_sync(ALL_LANES, b, 8 * (lane & 3) + k));
    c1 += __popc(left & __shfl_sync(ALL_LANES, b, 8 * (lane & 3) + 4 + k));
  }
#endif
}

// Bit 8 r + c becomes bit 8 c + r (Warren, Hacker's Delight, 7-3).
GRB_DEVICE word transposed(word x) {
  word t = (x ^ (x >> 7)) & 0x00aa00aa00aa00aaull;
  x ^= t ^ (t << 7);
  t = (x ^ (x >> 14)) & 0x0000cccc0000ccccull;
  x ^= t ^ (t << 14);
  t = (x ^ (x >> 28)) & 0x00000000f0f0f0f0ull;
  return x ^ t ^ (t << 28);
}

// How the values of a block of C are computed: by the pairs of entries whose bits meet; FP64 plus_times by matrix
// instructions; sums of ones by popcounts of rows and columns of bits, or by matrix instructions on bits.
enum { ENTRIES, FP64_MATRIX, BITS, BIT_MATRIX };

// A block of A or B in shared memory.
struct alignas(16) Tile {
  word map;
  int64_t start;
};

// What a warp has of 32 blocks of A and a window: a[lane], and b[p][lane] where the lane's block of A meets one.
struct Window {
  Tile a[32], b[WINDOW][32];
};

// Puts what the lanes' blocks of A meet into shared memory.
template <class O, class S> GRB_DEVICE void fill_window(const TilePairs<O, S>& o, const Merge& merge, Window& window) {
  int64_t b = merge.first;
  __syncwarp();
  if (merge.tiles) window.a[lane_number()] = Tile{o.a_map[merge.a], o.a_start[merge.a]};
  for (unsigned tiles = merge.tiles; tiles; tiles &= tiles - 1, b++)
    window.b[__ffs(int(tiles)) - 1][lane_number()] = Tile{o.b_map[b], o.b_start[b]};
  __syncwarp();
}

// The same for sums of ones: maps only, of B transposed, 0 where there is none; [WINDOW] is A's.
using BitWindow = word[WINDOW + 1][32];
template <class O, class S>
GRB_DEVICE void fill_window(const TilePairs<O, S>& o, const Merge& merge, BitWindow& window) {
  int64_t b = merge.first;
  __syncwarp();
  window[WINDOW][lane_number()] = merge.tiles ? o.a_map[merge.a] : 0;
#pragma unroll
  for (int p = 0; p < WINDOW; p++) window[p][lane_number()] = 0;
  for (unsigned tiles = merge.tiles; tiles; tiles &= tiles - 1, b++)
    window[__ffs(int(tiles)) - 1][lane_number()] = transposed(o.b_map[b]);
  __syncwarp();
}

// The sums of one block of C: a lane has columns 2 (l % 4) and the next of row l / 4.  add: (+)= the pairs of the lanes
// `with` and their blocks of B at [p].
template <class S, int MODE> struct TileSums {
  using Shared = Window;
  using Z = typename S::Z;
  Total<S> left, right;

  template <class O>
  GRB_DEVICE void add(const TilePairs<O, S>& o, const Merge& merge, const Window& window, int p, unsigned with,
                      int64_t i, int64_t j) {
    const int row = lane_number() >> 2, col = 2 * (lane_number() & 3);
    for (; with; with &= with - 1) {
      const int of = __ffs(int(with)) - 1;
      const Tile a = window.a[of], b = window.b[p][of];
      int64_t k = 0;
      if constexpr (S::reads_k) k = int64_t(o.a_col[shuffle(merge.a, of)]) * 8;
      take_products(left, o.a_values, a.map, a.start, o.b_values, b.map, b.start, row, col, i, k, j);
      take_products(right, o.a_values, a.map, a.start, o.b_values, b.map, b.start, row, col + 1, i, k, j + 1);
    }
  }
  GRB_DEVICE Z value(int side) const { return side ? right.value : left.value; }
};

template <class S> struct TileSums<S, FP64_MATRIX> {
  using Shared = Window;
  using Z = double;
  double left = 0, right = 0;

  struct Fragments {
    double a0, a1, b0, b1;  // columns 0 .. 3 and 4 .. 7 of A, rows 0 .. 3 and 4 .. 7 of B
  };
  template <class O>
  static GRB_DEVICE Fragments load(const TilePairs<O, S>& o, const Tile& a, const Tile& b) {
    const int row = lane_number() >> 2, at_a = 8 * (row & 3) + (lane_number() & 3);
    const int at_b = 8 * (lane_number() & 3) + (lane_number() >> 2);
    const unsigned a_low = unsigned(a.map), rows = row < 4 ? a_low : unsigned(a.map >> 32), b_low = unsigned(b.map);
    const double* a_values = o.a_values + (S::a_iso ? 0 : a.start + (row < 4 ? 0 : __popc(a_low)));
    const double* b_values = o.b_values + (S::x_iso ? 0 : b.start);
    Fragments f;
    f.a0 = value_or_zero<S::a_iso>(a_values, rows, at_a);
    f.a1 = value_or_zero<S::a_iso>(a_values, rows, at_a + 4);
    f.b0 = value_or_zero<S::x_iso>(b_values, b_low, at_b);
    f.b1 = value_or_zero<S::x_iso>(b_values + (S::x_iso ? 0 : __popc(b_low)), unsigned(b.map >> 32), at_b);
    return f;
  }
  GRB_DEVICE void multiply(const Fragments& f) {
    multiply_add(left, right, f.a0, f.b0);
    multiply_add(left, right, f.a1, f.b1);
  }
  template <class O>
  GRB_DEVICE void add(const TilePairs<O, S>& o, const Merge&, const Window& window, int p, unsigned with, int64_t,
                      int64_t) {
    while (with) {  // the loads of two pairs before the first use
      const int of = __ffs(int(with)) - 1;
      with &= with - 1;
      const Fragments f = load(o, window.a[of], window.b[p][of]);
      if (with) {
        const int next = __ffs(int(with)) - 1;
        with &= with - 1;
        const Fragments g = load(o, window.a[next], window.b[p][next]);
        multiply(f);
        multiply(g);
      } else {
        multiply(f);
      }
    }
  }
  GRB_DEVICE double value(int side) const { return side ? right : left; }
};

template <class S> struct TileSums<S, BITS> {
  using Shared = BitWindow;
  using Z = typename S::Z;
  int left = 0, right = 0;

  template <class O>
  GRB_DEVICE void add(const TilePairs<O, S>&, const Merge&, const BitWindow& window, int p, unsigned with, int64_t,
                      int64_t) {
    const int row = lane_number() >> 2, col = 2 * (lane_number() & 3);
    for (; with; with &= with - 1) {
      const int of = __ffs(int(with)) - 1;
      const unsigned a = unsigned(window[WINDOW][of] >> (8 * row)) & 0xff, b = unsigned(window[p][of] >> (8 * col));
      left += __popc(a & b);
      right += __popc(a & b >> 8);
    }
  }
  GRB_DEVICE Z value(int side) const { return Z(side ? right : left); }
};

template <class S> struct TileSums<S, BIT_MATRIX> {
  using Shared = BitWindow;
  using Z = typename S::Z;
  int left = 0, right = 0;

  // Byte l / 4 of blocks 4 (l % 4) .. of 16 neighbouring ones.
  static GRB_DEVICE unsigned four_bytes(const word* maps) {
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(maps + 4 * (lane_number() & 3)) + (lane_number() >> 2);
    return unsigned(bytes[0]) | unsigned(bytes[8]) << 8 | unsigned(bytes[16]) << 16 | unsigned(bytes[24]) << 24;
  }
  template <class O>
  GRB_DEVICE void add(const TilePairs<O, S>&, const Merge&, const BitWindow& window, int p, unsigned with, int64_t,
                      int64_t) {
    if (with & 0xffff) count_add(left, right, four_bytes(window[WINDOW]), four_bytes(window[p]));
    if (with >> 16) count_add(left, right, four_bytes(window[WINDOW] + 16), four_bytes(window[p] + 16));
  }
  GRB_DEVICE Z value(int side) const { return Z(side ? right : left); }
};

// Step 3: columns and values of C.
template <class O, class S, int MODE>
__global__ void __launch_bounds__(128, MODE == FP64_MATRIX ? 6 : 1) tile_products(TilePairs<O, S> o) {
  using Sums = TileSums<S, MODE>;
  __shared__ ulonglong2 memory[PAIR_THREADS / 32][sizeof(typename Sums::Shared) / 16];
  typename Sums::Shared& window = *reinterpret_cast<typename Sums::Shared*>(memory[threadIdx.x >> 5]);
  const int lane = lane_number(), row = lane >> 2, col = 2 * (lane & 3);
  GRB_EACH_WARP(task, o.tasks) {
    int64_t line, first, stop;
    task_range(o, task, line, first, stop);
    const int64_t a_first = o.a_ptr[line], a_stop = o.a_ptr[line + 1], i = line * 8 + row;
    const bool at_once = a_stop - a_first <= 32;  // the lanes keep their blocks of A
    int64_t to = i < o.nrows ? o.indptr[i] : 0;
    if (first > o.c_ptr[line]) {  // entries of the row in earlier tasks
      int64_t before = 0;
      for (int64_t t = o.c_ptr[line] + (lane & 3); t < first; t += 4)
        before += __popc(unsigned(o.c_map[t] >> (8 * row)) & 0xff);
      for (int by = 2; by; by >>= 1) before += __shfl_xor_sync(ALL_LANES, before, by);
      to += before;
    }
    Merge merge;
    if (!S::structure_only && at_once && first < stop) merge.begin(o, a_first + lane, a_stop, o.c_col[first]);
    for (int64_t at = first; at < stop; at += WINDOW) {
      const bool mine = lane < WINDOW && at + lane < stop;
      const int32_t column = mine ? o.c_col[at + lane] : NO_TILE;
      const word map = mine ? o.c_map[at + lane] : 0;
      if (!S::structure_only && at_once) {
        merge.meet(o, column);
        fill_window(o, merge, window);
      }
      for (int p = 0; p < WINDOW; p++) {
        const word all = shuffle(map, p);
        if (all == 0) continue;
        const unsigned bits = unsigned(all >> (8 * row)) & 0xff;
        const int64_t j = int64_t(__shfl_sync(ALL_LANES, column, p)) * 8 + col;
        Sums sums;
        if constexpr (!S::structure_only) {
          for (int64_t from = a_first; from < a_stop; from += 32) {
            if (!at_once) {
              merge.begin(o, from + lane, a_stop, __shfl_sync(ALL_LANES, column, 0));
              merge.meet(o, column);
              fill_window(o, merge, window);
            }
            sums.add(o, merge, window, p, __ballot_sync(ALL_LANES, merge.tiles >> p & 1), i, j);
          }
        }
        const int64_t where = to + __popc(bits & ((1u << col) - 1));
#pragma unroll
        for (int side = 0; side < 2; side++)
          if (bits >> (col + side) & 1) {
            const int64_t place = where + (side ? bits >> col & 1 : 0);
            o.c_cols[place] = O(j + side);
            if constexpr (!S::structure_only) {
              typename S::Z value = sums.value(side);
              if constexpr (MODE == FP64_MATRIX)
                if (!(value < 0 || value > 0)) value = entry_of(o, line, int32_t(j >> 3), row, col + side);
              o.c_values[place] = value;
            }
          }
        to += __popc(bits);
      }
    }
  }
}

}  // namespace grb
