// C = A (+.x) B over 8 x 8 bit blocks, step 3: values and columns of C (products/tile_pairs.cuh has the algorithm).
//
// A block of C has two positions a lane.  Its pairs of blocks are added up in registers.  FP64_MATRIX writes them at
// once, which overlaps with the loads of the next block (fem 70: 10.9 ms against 12.3); the others put them into shared
// memory, and a window is written row by row, so that neighbouring lanes write neighbouring entries.
// A minimum or maximum of FP64 (S::picks) begins with S::worst() and picks the better value by one comparison, which
// leaves NaN out; a separate test for NaN costs a second one.
// Launch: backends/cuda/products/tile_pairs.py, a warp for each task.
#pragma once
#include "products/tile_pairs.cuh"

namespace grb {

constexpr int PAIR_THREADS = 128;  // of a block of tile_products, as in its launch bounds

// How the values of a block of C are computed: by ordinary cores from blocks in shared memory, products only where the
// bits of both meet; FP64 plus_times by matrix instructions; sums of ones, or of one value, by matrix instructions on
// bits.
enum { ENTRIES, FP64_MATRIX, BIT_MATRIX };

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

// The value of bit `bit` of four rows of a block, `values`: the first one of these rows; 0 where there is none.
template <bool ISO> GRB_DEVICE double value_or_zero(const double* values, unsigned rows, int bit) {
  if (!(rows >> bit & 1)) return 0;
  return ISO ? *values : read_only(values + __popc(rows & ((1u << bit) - 1)));
}

// A block of A or B in shared memory.
struct alignas(16) Tile {
  word map;
  int64_t start;
};

// What a window needs of one block of C, for each lane's block of A: the block of B that meets it.  The sums of the
// block of C replace that when they are complete.
template <class Z, int MODE> struct Slot {
  static constexpr int MAPS = MODE == BIT_MATRIX ? 32 : 0;
  static constexpr int TILES = MODE == BIT_MATRIX ? 0 : 32;
  static constexpr int NEEDED = TILES * sizeof(Tile) + MAPS * sizeof(word), SUMS = 64 * sizeof(Z);
  static constexpr int PAD = MODE == FP64_MATRIX ? 0 : 64;  // so that slots begin in different banks
  static constexpr int SIZE = (NEEDED > SUMS ? NEEDED : SUMS) + PAD;
  ulonglong2 memory[SIZE / 16];

  GRB_DEVICE Tile* b() { return reinterpret_cast<Tile*>(memory); }
  // BIT_MATRIX: the transposed map of the block of B, so that columns are bytes; 0 where no block meets it.
  GRB_DEVICE word* columns() { return reinterpret_cast<word*>(memory); }
  GRB_DEVICE Z* sums() { return reinterpret_cast<Z*>(memory); }
};

// The shared memory of a warp.
template <class S, int MODE> struct Window {
  static constexpr bool read_a = MODE == ENTRIES && S::reads_a && !S::a_iso;
  static constexpr bool read_b = MODE == ENTRIES && S::reads_x && !S::x_iso;
  static constexpr int ROW = 10;  // values from one row of A's block to the next, in different banks
  static constexpr int A_BYTES = read_a ? 8 * ROW * sizeof(typename S::A) : 0;
  static constexpr int B_BYTES = read_b ? 64 * sizeof(typename S::X) : 0;
  Tile a[32];
  Slot<typename S::Z, MODE> slots[WINDOW];
  ulonglong2 pair[(A_BYTES + B_BYTES) / 16 + 1];

  // Values of the pair of blocks that is multiplied (ENTRIES), row by row.
  GRB_DEVICE typename S::A* a_values() { return reinterpret_cast<typename S::A*>(pair); }
  GRB_DEVICE typename S::X* b_values() { return reinterpret_cast<typename S::X*>(pair + A_BYTES / 16); }
};

// Columns of a block that have an entry, rows that have one, as bits.
GRB_DEVICE unsigned columns_of(word map) {
  unsigned found = unsigned(map) | unsigned(map >> 32);
  found |= found >> 16;
  return (found | found >> 8) & 0xff;
}
GRB_DEVICE unsigned rows_of(word map) {
  const word low = 0x7f7f7f7f7f7f7f7full, found = (((map & low) + low) | map) >> 7 & 0x0101010101010101ull;
  return unsigned(found * 0x0102040810204080ull >> 56);
}

// ENTRIES: `start` of a block is the address of its first value and, in the highest byte, the inner indices at which it
// has entries (columns of A's block, rows of B's): addresses of user space have at most 56 bits.
template <class T> GRB_DEVICE int64_t marked_start(const T* values, int64_t start, unsigned lines) {
  return int64_t(reinterpret_cast<uintptr_t>(values + start) | word(lines) << 56);
}
template <class T> GRB_DEVICE const T* first_value(const Tile& tile) {
  return reinterpret_cast<const T*>(word(tile.start) & ~(word(0xff) << 56));
}

// Puts what the lanes' blocks of A meet into shared memory.
template <int MODE, class O, class S>
GRB_DEVICE void fill(const TilePairs<O, S>& o, const Merge& merge, Window<S, MODE>& window, int first, int stop) {
  constexpr bool bits_only = MODE == BIT_MATRIX;
  const int lane = lane_number();
  int64_t b = merge.first;
  __syncwarp();
  if (bits_only || merge.tiles) {
    const word map = merge.tiles ? o.a_map[merge.a] : 0;
    int64_t start = bits_only ? 0 : o.a_start[merge.a];
    if constexpr (MODE == ENTRIES) start = marked_start(o.a_values, start, columns_of(map));
    window.a[lane] = Tile{map, start};
    if constexpr (bits_only)
      for (int p = first; p < stop; p++) window.slots[p].columns()[lane] = 0;
  }
  for (unsigned tiles = merge.tiles; tiles; tiles &= tiles - 1, b++) {
    auto& slot = window.slots[__ffs(int(tiles)) - 1];
    const word map = o.b_map[b];
    if constexpr (MODE == FP64_MATRIX) slot.b()[lane] = Tile{map, o.b_start[b]};
    if constexpr (MODE == ENTRIES) slot.b()[lane] = Tile{map, marked_start(o.b_values, o.b_start[b], rows_of(map))};
    if constexpr (bits_only) slot.columns()[lane] = transposed(map);
  }
  __syncwarp();
}

// The values of a lane's two positions of a block, (l / 4, 2 (l % 4)) and its right neighbour: read, and then put into
// shared memory at their places.  What is absent is NaN where that is asked for, else anything.
template <bool READ, bool NAN_IF_ABSENT, class T> struct TileValues {
  T left, right;

  GRB_DEVICE void load(const Tile& tile) {
    if constexpr (NAN_IF_ABSENT) left = right = T(__int_as_float(0x7fc00000));
    if constexpr (READ) {
      const int bit = 2 * lane_number();  // 8 (l / 4) + 2 (l % 4)
      const T* values = first_value<T>(tile);
      const unsigned rank = __popcll(tile.map & ((word(1) << bit) - 1)), mine = unsigned(tile.map >> bit) & 3;
      if (mine & 1) left = read_only(values + rank);
      if (mine & 2) right = read_only(values + (rank + (mine & 1)));
    }
  }
  // `row`: values from one row of the block to the next.
  GRB_DEVICE void store(T* near, int row) const {
    near += row * (lane_number() >> 2) + 2 * (lane_number() & 3);
    if constexpr (READ) near[0] = left, near[1] = right;
  }
};

// sum = other where that is less, or greater, and `there`: 4 instructions; the compiler needs 8 for the first form.
template <bool LEAST> GRB_DEVICE void pick(double& sum, double other, unsigned there) {
#ifdef SIMT_CPU
  if (there && (LEAST ? other < sum : other > sum)) sum = other;
#else
  if constexpr (LEAST)
    asm("{.reg .pred p, q; setp.ne.u32 p, %2, 0; setp.lt.and.f64 q, %1, %0, p; @q mov.f64 %0, %1;}"
        : "+d"(sum) : "d"(other), "r"(there));
  else
    asm("{.reg .pred p, q; setp.ne.u32 p, %2, 0; setp.gt.and.f64 q, %1, %0, p; @q mov.f64 %0, %1;}"
        : "+d"(sum) : "d"(other), "r"(there));
#endif
}

// Bit k of four bits becomes bit 8 k.
GRB_DEVICE unsigned bytes_of(unsigned bits) { return bits * 0x00204081u & 0x01010101u; }

// C(8 line + row, j) from its entries alone.
template <class O, class S>
GRB_DEVICE typename S::Z entry_of(const TilePairs<O, S>& o, int64_t line, int64_t j, int row) {
  const int col = int(j & 7);
  Total<S> total;
  for (int64_t a = o.a_ptr[line]; a < o.a_ptr[line + 1]; a++) {
    const int64_t k = o.a_col[a], b = find(o.b_col, o.b_ptr[k], o.b_ptr[k + 1], int32_t(j >> 3));
    if (b < 0) continue;
    const word map = o.a_map[a], other = o.b_map[b];
    const unsigned bits = unsigned(map >> (8 * row)) & 0xff;
    const int64_t start = o.a_start[a] + __popcll(map & ((word(1) << (8 * row)) - 1));
    for (unsigned steps = bits & unsigned(transposed(other) >> (8 * col)); steps; steps &= steps - 1) {
      const int step = __ffs(int(steps)) - 1;
      const int64_t at = o.b_start[b] + __popcll(other & ((word(1) << (8 * step + col)) - 1));
      total.take(S::times(value_of_a<S>(o.a_values, start + __popc(bits & ((1u << step) - 1))),
                          value_of_x<S>(o.b_values, at), 8 * line + row, 8 * k + step, j));
    }
  }
  return total.value;
}

// The sums of one block of C: a lane has columns 2 (l % 4) and the next of row l / 4.  add: (+)= the products of the
// lanes `with` and their blocks of B in the slot, of which the next is read while one is computed.
template <class S, int MODE> struct TileSums {
  using Z = typename S::Z;
  static constexpr bool read_a = S::reads_a && !S::a_iso, read_b = S::reads_x && !S::x_iso;
  static constexpr bool nan_absent = S::leaves_nan_out && read_a && read_b;  // no product is left out then
  Total<S> left, right;

  GRB_DEVICE TileSums() {
    if constexpr (S::picks) left.value = right.value = S::worst();
  }
  template <class O>
  GRB_DEVICE void add(const TilePairs<O, S>& o, const Merge& merge, Window<S, MODE>& window, int p, unsigned with,
                      int64_t i, int64_t j) {
    const Tile* tiles = window.slots[p].b();
    TileValues<read_a, nan_absent, typename S::A> a_values;
    TileValues<read_b, nan_absent, typename S::X> b_values;
    int of = with ? __ffs(int(with)) - 1 : 0;
    Tile a = window.a[of], b = tiles[of];
    if (with) a_values.load(a), b_values.load(b);
    while (with) {
      with &= with - 1;
      a_values.store(window.a_values(), window.ROW);
      b_values.store(window.b_values(), 8);
      __syncwarp();
      const word a_map = a.map, b_map = b.map;
      // Inner indices with products.  By a vote, so that the compiler knows that the warp branches as one.
      const unsigned steps =
          __ballot_sync(ALL_LANES, unsigned(word(a.start & b.start) >> 56) >> lane_number() & 1);
      int64_t k = 0;
      if constexpr (S::reads_k) k = int64_t(o.a_col[shuffle(merge.a, of)]) * 8;
      if (with) {
        of = __ffs(int(with)) - 1;
        a = window.a[of], b = tiles[of];
        a_values.load(a);
        b_values.load(b);
      }
      multiply(o, window, steps, a_map, b_map, i, j, k);
      __syncwarp();
    }
  }
  // The products of a pair of blocks in shared memory at the inner indices `steps`; k: the first of all 8.
  template <class O>
  GRB_DEVICE void multiply(const TilePairs<O, S>& o, Window<S, MODE>& window, unsigned steps, word a_map, word b_map,
                           int64_t i, int64_t j, int64_t k) {
    const int row = lane_number() >> 2, col = 2 * (lane_number() & 3);
    const typename S::A* a = window.a_values() + window.ROW * row;
    const typename S::X* b = window.b_values() + col;
    const unsigned bits = unsigned(a_map >> (8 * row));
    b_map >>= col;
    // Bits 0 and 1 of each byte: has this inner index a product for the left, for the right position?
    const unsigned low = unsigned(b_map) & bytes_of(bits & 15) * 3;
    const unsigned high = unsigned(b_map >> 32) & bytes_of(bits >> 4 & 15) * 3;
#pragma unroll
    for (int step = 0; step < 8; step++) {
      if (!(steps >> step & 1)) continue;  // for the whole warp
      const unsigned there = step < 4 ? low : high, bit = nan_absent ? 0 : 1u << 8 * (step & 3);
      const auto x = read_a ? a[step] : value_of_a<S>(o.a_values, 0);
      const auto y = read_b ? b[8 * step] : value_of_x<S>(o.b_values, 0);
      const auto z = read_b ? b[8 * step + 1] : value_of_x<S>(o.b_values, 0);
      take_if(left, there & bit, S::times(x, y, i, k + step, j));
      take_if(right, there & 2 * bit, S::times(x, z, i, k + step, j + 1));
    }
  }
  // Without a branch where a sum has a start value: the product of what is absent is computed and left out.
  static GRB_DEVICE void take_if(Total<S>& total, unsigned there, Z product) {
    if constexpr (nan_absent && S::picks) {
      if (S::picks_least ? product < total.value : product > total.value) total.value = product;
    } else if constexpr (nan_absent) {
      total.value = S::add(total.value, product);
    } else if constexpr (S::picks) {
      pick<S::picks_least>(total.value, product, there);
    } else if constexpr (S::has_start && !S::any) {
      const Z sum = S::add(total.value, product);
      total.value = there ? sum : total.value;
    } else {
      if (there) total.take(product);
    }
  }
  // What is S::worst() is computed again, as it may be that of NaN alone.
  template <class O> GRB_DEVICE Z value(const TilePairs<O, S>& o, int64_t line, int64_t j, int side, word map) const {
    const Z sum = side ? right.value : left.value;
    if constexpr (S::picks)
      if (sum == S::worst() && (map >> (2 * lane_number() + side) & 1)) return entry_of(o, line, j, lane_number() >> 2);
    return sum;
  }
};

template <class S> struct TileSums<S, FP64_MATRIX> {
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
  GRB_DEVICE void add(const TilePairs<O, S>& o, const Merge&, Window<S, FP64_MATRIX>& window, int p, unsigned with,
                      int64_t, int64_t) {
    const Tile* tiles = window.slots[p].b();
    while (with) {  // the loads of two pairs before the first use
      const int of = __ffs(int(with)) - 1;
      with &= with - 1;
      const Fragments f = load(o, window.a[of], tiles[of]);
      if (with) {
        const int next = __ffs(int(with)) - 1;
        with &= with - 1;
        const Fragments g = load(o, window.a[next], tiles[next]);
        multiply(f);
        multiply(g);
      } else {
        multiply(f);
      }
    }
  }
  // Of an entry.  What is 0 or NaN is computed again, see products/tile_pairs.cuh.
  template <class O> GRB_DEVICE double value(const TilePairs<O, S>& o, int64_t line, int64_t j, int side) const {
    const double sum = side ? right : left;
    if (sum < 0 || sum > 0) return sum;
    return entry_of(o, line, j, lane_number() >> 2);
  }
};

// The value of `count` products, all of one value: sums of integers wrap as additions do.
template <class O, class S> GRB_DEVICE typename S::Z counted(const TilePairs<O, S>& o, int count) {
  using Z = typename S::Z;
  return Z(Z(count) * S::times(value_of_a<S>(o.a_values, 0), value_of_x<S>(o.b_values, 0), 0, 0, 0));
}

template <class S> struct TileSums<S, BIT_MATRIX> {
  int left = 0, right = 0;

  // Byte l / 4 of blocks 4 (l % 4) .. of 16 neighbouring ones, `step` bytes from one to the next.
  static GRB_DEVICE unsigned four_bytes(const void* maps, int step) {
    const int at = 4 * (lane_number() & 3) * step + (lane_number() >> 2);
    const uint8_t* bytes = reinterpret_cast<const uint8_t*>(maps) + at;
    return unsigned(bytes[0]) | unsigned(bytes[step]) << 8 | unsigned(bytes[2 * step]) << 16 |
           unsigned(bytes[3 * step]) << 24;
  }
  template <class O>
  GRB_DEVICE void add(const TilePairs<O, S>&, const Merge&, Window<S, BIT_MATRIX>& window, int p, unsigned with,
                      int64_t, int64_t) {
    const word* columns = window.slots[p].columns();
    if (with & 0xffff)
      count_add(left, right, four_bytes(window.a, sizeof(Tile)), four_bytes(columns, sizeof(word)));
    if (with >> 16)
      count_add(left, right, four_bytes(window.a + 16, sizeof(Tile)), four_bytes(columns + 16, sizeof(word)));
  }
  template <class O> GRB_DEVICE typename S::Z value(const TilePairs<O, S>& o, int64_t, int64_t, int side, word) const {
    return counted(o, side ? right : left);
  }
};

// Writes the entries of a window, whose sums are in shared memory.  map, column: lane p's are those of block p.  to:
// lane r's is where the entries of row r begin, and will be where they end.
template <int MODE, class O, class S>
GRB_DEVICE void write_window(const TilePairs<O, S>& o, Window<S, MODE>& window, word map, int32_t column, int64_t& to) {
  const int lane = lane_number(), col = lane & 7;
  word maps[WINDOW / 4];
  int64_t columns[WINDOW / 4];
#pragma unroll
  for (int h = 0; h < WINDOW / 4; h++) {
    maps[h] = shuffle(map, 4 * h + (lane >> 3)) >> col;
    columns[h] = int64_t(__shfl_sync(ALL_LANES, column, 4 * h + (lane >> 3))) * 8 + col;
  }
#pragma unroll
  for (int r = 0; r < 8; r++) {
    int64_t begin = shuffle(to, r);
#pragma unroll
    for (int h = 0; h < WINDOW / 4; h++) {
      const bool present = maps[h] >> (8 * r) & 1;
      const unsigned votes = __ballot_sync(ALL_LANES, present);
      if (present) {
        const int64_t place = begin + rank_in(votes);
        o.c_cols[place] = O(columns[h]);
        if constexpr (!S::structure_only)
          o.c_values[place] = window.slots[4 * h + (lane >> 3)].sums()[8 * r + col];
      }
      begin += __popc(votes);
    }
    if (lane == r) to = begin;
  }
}

// Writes the entries of a block of C from registers.  map: the block's; to: where the entries of the lane's row begin,
// and then where they end.
template <class O, class S, class Sums>
GRB_DEVICE void write_tile(const TilePairs<O, S>& o, const Sums& sums, word map, int64_t line, int64_t j, int64_t& to) {
  const int row = lane_number() >> 2, col = 2 * (lane_number() & 3);
  const unsigned bits = unsigned(map >> (8 * row)) & 0xff;
  int64_t place = to + __popc(bits & ((1u << col) - 1));
#pragma unroll
  for (int side = 0; side < 2; side++)
    if (bits >> (col + side) & 1) {
      o.c_cols[place] = O(j + side);
      o.c_values[place] = sums.value(o, line, j + side, side);
      place++;
    }
  to += __popc(bits);
}

template <class O, class S, int MODE>
__global__ void __launch_bounds__(128, MODE == BIT_MATRIX || sizeof(typename S::Z) > 8 ? 1 : 6)
tile_products(TilePairs<O, S> o) {
  constexpr bool at_end = MODE != FP64_MATRIX;  // is a window written as a whole?
  __shared__ ulonglong2 memory[PAIR_THREADS / 32][sizeof(Window<S, MODE>) / 16];
  auto& window = *reinterpret_cast<Window<S, MODE>*>(memory[threadIdx.x >> 5]);
  const int lane = lane_number(), row = lane >> 2, col = 2 * (lane & 3);
  GRB_EACH_WARP(task, o.lines + *o.more) {
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
    if (at_end) to = shuffle(to, 4 * (lane & 7));
    Merge merge;
    if (!S::structure_only && at_once && first < stop) merge.begin(o, a_first + lane, a_stop, o.c_col[first]);
    for (int64_t at = first; at < stop; at += WINDOW) {
      const bool mine = lane < WINDOW && at + lane < stop;
      const int32_t column = mine ? o.c_col[at + lane] : NO_TILE;
      const word map = mine ? o.c_map[at + lane] : 0;
      if constexpr (!S::structure_only) {
        if (at_once) {
          merge.meet(o, column);
          fill(o, merge, window, 0, WINDOW);
        }
        for (int p = 0; p < WINDOW; p++) {
          const word all = shuffle(map, p);
          if (all == 0) continue;
          const int64_t j = int64_t(__shfl_sync(ALL_LANES, column, p)) * 8 + col;
          TileSums<S, MODE> sums;
          for (int64_t from = a_first; from < a_stop; from += 32) {
            if (!at_once) {  // the slots before p have sums already
              merge.begin(o, from + lane, a_stop, int32_t(j >> 3));
              merge.meet(o, lane == p ? column : NO_TILE);
              fill(o, merge, window, p, p + 1);
            }
            sums.add(o, merge, window, p, __ballot_sync(ALL_LANES, merge.tiles >> p & 1), i, j);
          }
          if constexpr (at_end) {
            __syncwarp();
            typename S::Z* to_sums = window.slots[p].sums() + 8 * row + col;
            to_sums[0] = sums.value(o, line, j, 0, all);
            to_sums[1] = sums.value(o, line, j + 1, 1, all);
          } else {
            write_tile(o, sums, all, line, j, to);
          }
        }
      }
      if constexpr (at_end) {
        __syncwarp();
        write_window(o, window, map, column, to);
      }
    }
  }
}

}  // namespace grb
