// C = A (+.x) X by slabs of A's columns, whose rows of X the L2 cache holds: A in slabs, X and C full, row-major, n
// columns; any semiring (SpMM where X is larger than the cache).
//
// Algorithm: cache blocking (Nishtala, Vuduc, Demmel, Yelick, "When cache blocking of sparse matrix vector multiply
//   works and why", AAECC 18, 2007): all blocks take the slabs in the same order at about the same time (Together in
//   base/launch.cuh), so that each row of X comes from DRAM once in a sweep over the slabs, and gathers find it in L2.
//   The sums of the rows that a warp has in a sweep stay in shared memory until their entries of all slabs are added.
// A unit: 32 neighbouring rows.  Entries are ordered by (slab, row, column), so those of a unit in a slab are together:
//   starts[slab * units + unit] is the first one, counts[slab * units * 32 + row] how many a row has, 255 at most; rows
//   with more entries have none here, spmm.cuh adds them.
// Phases of a warp, for each of its units in a slab: a lane counts a row; columns and values come into shared memory
//   while the unit before is computed (cp.async); then each group of LANES lanes takes rows, AT_ONCE entries at a time:
//   gathers V elements of each row of X, multiplies, adds, and joins the row's sum in shared memory.
// Launch: backends/cuda/products/spmm_slabs.py; dynamic shared memory for each warp: held * 32 * n sums, then STAGED
//   columns and values twice, then held words of started rows; each part begins at a multiple of 16 bytes.
// Preconditions: n <= LANES * V, a multiple of V; X and C aligned to V elements; fewer than 2^31 rows of X and units.
#pragma once
#include "base/async_copy.cuh"
#include "products/semiring.cuh"

namespace grb {

template <class T, int V> struct alignas(sizeof(T) * V) SlabPack { T v[V]; };

template <class I, class A> struct SlabMatrix {
  const I* cols;
  const A* values;
  const uint8_t* counts;
  const int64_t* starts;
  int64_t units, slabs, rows;
};

// Bytes as a multiple of 16.
GRB_DEVICE unsigned in_sixteens(unsigned bytes) { return (bytes + 15) / 16 * 16; }

template <class I, class S, int V, int LANES, int STAGED, int AT_ONCE> struct SlabWarp {
  using Z = typename S::Z;
  using A = typename S::A;
  using X = typename S::X;
  static constexpr bool loads_a = S::reads_a && !S::a_iso;
  static constexpr int GROUPS = 32 / LANES;
  static constexpr unsigned COLUMNS = (STAGED * sizeof(I) + 15) / 16 * 16;
  static constexpr unsigned VALUES = loads_a ? (STAGED * sizeof(A) + 15) / 16 * 16 : 0;

  const SlabMatrix<I, A>& m;
  const X* x;
  const int64_t n;
  Z* sums;                         // [held][32][n]
  unsigned char* stage;            // twice columns and values
  unsigned* started;               // [held]: bit r: row r of the unit has a sum

  // The entries of a unit in a slab.
  struct Piece {
    int64_t from;
    int total;                     // entries
    int count;                     // of row `lane`
  };
  GRB_DEVICE Piece piece_of(int64_t slab, int64_t unit) const {
    Piece piece{0, 0, 0};
    if (slab < m.slabs && unit < m.units) {
      const int64_t at = slab * m.units + unit;
      piece.from = m.starts[at];
      piece.total = int(m.starts[at + 1] - piece.from);
      piece.count = __ldcs(m.counts + (at * 32 + lane_number()));
    }
    return piece;
  }
  GRB_DEVICE void begin_copy(const Piece& piece, int which) const {
    if (piece.total > STAGED) return;
    const SharedWindow window(stage);
    const unsigned to = window.start() + unsigned(which) * (COLUMNS + VALUES);
    for (int e = lane_number(); e < piece.total; e += 32) {
      copy_to(window, to + unsigned(e) * unsigned(sizeof(I)), m.cols + piece.from + e);
      if constexpr (loads_a)
        copy_to(window, to + COLUMNS + unsigned(e) * unsigned(sizeof(A)), m.values + piece.from + e);
    }
  }
  // Adds the piece, which lies in stage `which`, to the sums of unit number `k` of this warp.
  GRB_DEVICE void add(const Piece& piece, int which, int k, int64_t unit) const {
    const I* cols = reinterpret_cast<const I*>(stage + which * int(COLUMNS + VALUES));
    const A* values = reinterpret_cast<const A*>(reinterpret_cast<const unsigned char*>(cols) + COLUMNS);
    if (piece.total > STAGED) cols = m.cols + piece.from, values = m.values + (loads_a ? piece.from : 0);
    if (piece.total == 0) return;
    const int before = warp_inclusive_sum(piece.count) - piece.count;
    const unsigned now = __ballot_sync(ALL_LANES, piece.count > 0), earlier = started[k];
    __syncwarp();
    if (lane_number() == 0) started[k] = earlier | now;
    const int group = lane_number() / LANES, column = lane_number() % LANES * V;
    const X* x_at = x + column;
    const int64_t width = sizeof(I) == 4 ? int64_t(int32_t(n)) : n;
#pragma unroll 1
    for (int r = group; r < 32; r += GROUPS) {
      const int first = __shfl_sync(ALL_LANES, before, r), count = __shfl_sync(ALL_LANES, piece.count, r);
      if (count == 0 || column >= n) continue;
      Total<S> total[V];
      Z* sum = sums + ((k * 32 + r) * n + column);
      if (earlier >> r & 1) {
        const auto pack = *reinterpret_cast<const SlabPack<Z, V>*>(sum);
#pragma unroll
        for (int u = 0; u < V; u++) total[u].set(pack.v[u]);
      }
#pragma unroll 1
      for (int q = 0; q < count; q += AT_ONCE) {
        I key[AT_ONCE];
        A factor[AT_ONCE];
        SlabPack<X, V> b[AT_ONCE];
#pragma unroll
        for (int t = 0; t < AT_ONCE; t++) {
          if (q + t >= count) continue;
          key[t] = cols[first + q + t];
          if constexpr (loads_a) factor[t] = values[first + q + t];
          else if constexpr (S::reads_a) factor[t] = m.values[0];
        }
#pragma unroll
        for (int t = 0; t < AT_ONCE; t++)  // all in flight at once
          if (q + t < count) b[t] = *reinterpret_cast<const SlabPack<X, V>*>(x_at + int64_t(key[t]) * width);
#pragma unroll
        for (int t = 0; t < AT_ONCE; t++) {
          if (q + t >= count) continue;
#pragma unroll
          for (int u = 0; u < V; u++)
            total[u].take(S::times(factor[t], b[t].v[u], unit * 32 + r, int64_t(key[t]), column + u));
        }
      }
      SlabPack<Z, V> pack;
#pragma unroll
      for (int u = 0; u < V; u++) pack.v[u] = total[u].value;
      *reinterpret_cast<SlabPack<Z, V>*>(sum) = pack;
    }
  }
  // The sums of unit number `k` to C.
  GRB_DEVICE void write(int k, int64_t unit, Z* to) const {
    const unsigned there = started[k];
    for (int i = lane_number(); i < 32 * int(n); i += 32)
      if (there >> (i / int(n)) & 1) to[unit * 32 * n + i] = sums[k * 32 * n + i];
  }
};

// Rows of C with no entry in the slabs stay as they are.  held: units of a warp in a sweep; turns: as Together has it.
template <class I, class S, int V, int LANES, int STAGED, int AT_ONCE, int THREADS>
__global__ void __launch_bounds__(THREADS, 1)
spmm_slabs(const I* __restrict__ cols, const typename S::A* __restrict__ a_values, const uint8_t* __restrict__ counts,
           const int64_t* __restrict__ starts, int64_t units, int64_t slabs, int64_t rows,
           const typename S::X* __restrict__ x, int64_t n, typename S::Z* __restrict__ values, int64_t held,
           unsigned* turns) {
  using Warp = SlabWarp<I, S, V, LANES, STAGED, AT_ONCE>;
  extern __shared__ ulonglong2 spmm_slab_memory[];
  const SlabMatrix<I, typename S::A> m{cols, a_values, counts, starts, units, slabs, rows};
  const int warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
  const unsigned sum_bytes = in_sixteens(unsigned(held * 32 * n * int64_t(sizeof(typename S::Z))));
  const unsigned stage_bytes = 2 * (Warp::COLUMNS + Warp::VALUES);
  unsigned char* mine = reinterpret_cast<unsigned char*>(spmm_slab_memory) +
      int64_t(warp) * (sum_bytes + stage_bytes + in_sixteens(unsigned(held) * 4));
  const Warp own{m, x, n, reinterpret_cast<typename S::Z*>(mine), mine + sum_bytes,
                 reinterpret_cast<unsigned*>(mine + sum_bytes + stage_bytes)};
  const int64_t of_block = held * warps, of_sweep = of_block * gridDim.x, sweeps = (units + of_sweep - 1) / of_sweep;
  const int steps = int(slabs * held);
  Together together(turns);
  for (int64_t sweep = 0; sweep < sweeps; sweep++) {
    const int64_t first = sweep * of_sweep + blockIdx.x * of_block + warp;  // and every `warps`-th one
    for (int k = lane_number(); k < int(held); k += 32) own.started[k] = 0;
    typename Warp::Piece now = own.piece_of(0, first), next = now;
    own.begin_copy(now, 0);
    int64_t slab_next = held > 1 ? 0 : 1;
    int k = 0, k_next = held > 1 ? 1 : 0;
    next = own.piece_of(slab_next, first + k_next * warps);
    for (int step = 0; step < steps; step++) {
      if (k == 0) together.next();
      copies_arrived();
      __syncwarp();
      own.begin_copy(next, (step + 1) & 1);
      int64_t slab_after = slab_next;
      int k_after = k_next + 1;
      if (k_after == int(held)) slab_after++, k_after = 0;
      const typename Warp::Piece after = own.piece_of(slab_after, first + k_after * warps);
      own.add(now, step & 1, k, first + k * warps);
      now = next, next = after;
      k = k_next;
      slab_next = slab_after, k_next = k_after;
    }
    copies_arrived();
    __syncwarp();
    for (int j = 0; j < int(held); j++)
      if (first + j * warps < units) own.write(j, first + j * warps, values);
    __syncwarp();
  }
  together.end(unsigned(sweeps * slabs));
}

// counts[(s * units * 32) + r] of rows that are not longer than `longest`; width: columns of a slab.
template <class I>
__global__ void count_slabs(const int64_t* indptr, int64_t rows, const I* cols, int64_t width, int64_t slabs,
                            int64_t units, int64_t longest, uint8_t* counts) {
  GRB_EACH(r, rows) {
    int64_t at = indptr[r];
    const int64_t stop = indptr[r + 1];
    if (stop - at > longest) continue;
    for (int64_t s = 0; s < slabs; s++) {
      const int64_t end = s + 1 == slabs ? stop : lower_bound(cols, at, stop, I((s + 1) * width));
      counts[s * units * 32 + r] = uint8_t(end - at);
      at = end;
    }
  }
}

// The columns and values in the order of slabs; T: a type as large as the values, which may be null.
template <class I, class T>
__global__ void place_slabs(const int64_t* indptr, int64_t rows, const I* cols, const T* values, int64_t slabs,
                            int64_t units, int64_t longest, const uint8_t* counts, const int64_t* starts, I* to_cols,
                            T* to_values) {
  GRB_EACH_WARP(unit, units) {
    const int64_t r = unit * 32 + lane_number();
    int64_t at = 0;
    if (r < rows) at = indptr[r];
    for (int64_t s = 0; s < slabs; s++) {
      const int count = counts[(s * units + unit) * 32 + lane_number()];
      const int64_t to = starts[s * units + unit] + warp_inclusive_sum(count) - count;
      for (int e = 0; e < count; e++) {
        to_cols[to + e] = cols[at + e];
        if (values != nullptr) to_values[to + e] = values[at + e];
      }
      at += count;
    }
  }
}

}  // namespace grb
