// C = A (+.x) X: A in CSR, X and C dense and row-major with n columns; any semiring (SpMM).
//
//   C[i, :] = (+)_k A[i,k] (x) X[k, :]
//
// Algorithm: row splitting with lanes over columns (Yang, Buluc, Owens, "Design principles for sparse matrix
//   multiplication on the GPU", Euro-Par 2018, section 4.1); rows longer than `longest` are cut into chunks.
//   LANES lanes have V columns each, so a warp has GROUPS = 32 / LANES groups; `parts` of them share a row.  The warps
//   of a block take neighbouring rows at the same time, so L1 serves the rows of X that these rows have in common.
// Phases of a warp, for a chunk or for its rows:
//   load      4 column indices and values a group, in one load each, all lanes of a group the same
//   gather    V elements of each of the 4 rows of X in one load.  More warps hide latency better than more loads of a
//             warp: with 8 rows in flight and 104 registers in place of 48, fem70 took 1.3 times as long
//   join      the totals of the groups of a row, by shuffles
//   write     the row of C; of a chunk that is not a whole row, its part to `carry`
// spmm_join adds the parts of each long row in order.
// Launch: backends/cuda/products/spmm.py: for each of `tiles` tiles of LANES * V columns, a warp for each chunk, then
//   warps that take `steps` times GROUPS / parts rows.  Any grid; a block for each 8 warps keeps neighbours together.
// Preconditions: n < 2^31 is a multiple of V, X is aligned to V elements, indices and values of A to 16 bytes.  Where a
//   row of A is empty, C's row stays as it is.  FULL: X has every position.  Otherwise x_words has the positions that X
//   has, and `present` gets those of C.
#pragma once
#include "products/semiring.cuh"

namespace grb {

template <class T, int V> struct alignas(sizeof(T) * V) Pack { T v[V]; };

// Four elements from an address that is a multiple of four of them: loads of 16 bytes at most, evicted first.
template <class T> GRB_DEVICE void stream_four(const T* from, T (&to)[4]) {
  using Piece = choose<(sizeof(T) >= 4), uint4, choose<(sizeof(T) == 2), uint2, unsigned>>;
#pragma unroll
  for (int p = 0; p < int(4 * sizeof(T) / sizeof(Piece)); p++) {
    const Piece piece = __ldcs(reinterpret_cast<const Piece*>(from) + p);
    memcpy(reinterpret_cast<char*>(to) + p * sizeof(Piece), &piece, sizeof(Piece));
  }
}
// A pack that is not read again soon.
template <class T, int V> GRB_DEVICE void stream_out(T* to, const Pack<T, V>& values) {
  constexpr int BYTES = sizeof(T) * V;
  if constexpr (BYTES == 16 || BYTES == 8 || BYTES == 4) {
    using Piece = choose<(BYTES == 16), uint4, choose<(BYTES == 8), uint2, unsigned>>;
    Piece piece;
    memcpy(&piece, &values, BYTES);
    __stcs(reinterpret_cast<Piece*>(to), piece);
  } else {
    *reinterpret_cast<Pack<T, V>*>(to) = values;
  }
}

template <class I, class S> struct SpmmOperands {
  const I* indices;
  const typename S::A* a_values;
  int64_t entries;
  const word* x_words;
  const typename S::X* x_values;
  int64_t n;
};

// The totals of V columns of one row.
template <class I, class S, int V, int LANES, bool FULL> struct RowTotals {
  using Z = typename S::Z;
  static constexpr bool loads_a = S::reads_a && !S::a_iso, gathers = S::reads_x && !S::x_iso;
  static constexpr bool COUNTED = !(FULL && S::has_start);  // else no total needs `have`
  const SpmmOperands<I, S>& m;
  const int64_t column;
  Total<S> total[V];

  GRB_DEVICE RowTotals(const SpmmOperands<I, S>& m, int64_t column) : m(m), column(column) {}
  GRB_DEVICE void take(int u, Z value) {
    if constexpr (COUNTED) total[u].take(value);
    else total[u].value = S::add(total[u].value, value);
  }
  // Entries start .. stop-1 of `row`, those quads (four aligned positions) that are part `part` of `parts`.
  GRB_DEVICE void add(int64_t row, int64_t start, int64_t stop, int part, int parts) {
    const int64_t aligned = start & ~int64_t(3);
    const int low = int(start - aligned), high = int(stop - aligned), step = parts * 4;
    const int64_t left = m.entries - aligned;
    const int readable = left < high + 3 ? int(left) : high + 3;
    const I* cols = m.indices + aligned;
    const typename S::A* values = m.a_values + (loads_a ? aligned : 0);
    const typename S::X* x_at = m.x_values + (gathers ? column : 0);
    const int64_t n = sizeof(I) == 4 ? int64_t(int32_t(m.n)) : m.n;  // a product of 32-bit factors is one instruction
#pragma unroll 1
    for (int q = part * 4; q < high; q += step) {
      I k[4];
      typename S::A a[4];
      Pack<typename S::X, V> x[4];
      if (q + 4 <= readable) {
        stream_four(cols + q, k);
        if constexpr (loads_a) stream_four(values + q, a);
      } else {
#pragma unroll
        for (int t = 0; t < 4; t++) {
          if (q + t >= readable) continue;
          k[t] = cols[q + t];
          if constexpr (loads_a) a[t] = values[q + t];
        }
      }
      if constexpr (gathers) {
#pragma unroll
        for (int t = 0; t < 4; t++) {  // all four in flight at once
          if (q + t >= low && q + t < high)
            x[t] = *reinterpret_cast<const Pack<typename S::X, V>*>(x_at + int64_t(k[t]) * n);
        }
      }
#pragma unroll
      for (int t = 0; t < 4; t++) {
        if (q + t < low || q + t >= high) continue;
        const int64_t key = int64_t(k[t]);
        typename S::A factor = typename S::A();
        if constexpr (loads_a) factor = a[t];
        else if constexpr (S::reads_a) factor = m.a_values[0];
#pragma unroll
        for (int u = 0; u < V; u++) {
          if (!FULL && !has(m.x_words, key * n + column + u)) continue;
          typename S::X b = typename S::X();
          if constexpr (gathers) b = x[t].v[u];
          else if constexpr (S::reads_x) b = m.x_values[0];
          take(u, S::times(factor, b, row, key, column + u));
        }
      }
    }
  }
  // The totals of `parts` neighbouring groups, in the first of them.  The warp calls together.
  GRB_DEVICE void join(int parts) {
    for (int by = LANES * parts >> 1; by >= LANES; by >>= 1) {
#pragma unroll
      for (int u = 0; u < V; u++) {
        if constexpr (!COUNTED) {
          total[u].value = S::add(total[u].value, shuffle_down(total[u].value, by));
        } else {
          const bool there = __shfl_down_sync(ALL_LANES, int(total[u].have), by) != 0;
          const Z other = shuffle_down(total[u].value, by);
          total[u].join(other, there);
        }
      }
    }
  }
  GRB_DEVICE void write(Z* values, bool* present, int64_t place) const {
    if constexpr (!S::structure_only) {
      Pack<Z, V> pack;
#pragma unroll
      for (int u = 0; u < V; u++) pack.v[u] = total[u].value;
      stream_out(values + place, pack);
    }
    if constexpr (!FULL) {
#pragma unroll
      for (int u = 0; u < V; u++) present[place + u] = total[u].have;
    }
  }
};

// Blocks of a multiprocessor.
template <class S> constexpr int RESIDENT = sizeof(typename S::A) + sizeof(typename S::X) > 16 ? 3 : 5;

// wanted: null, or a word that is 0 where C is made already (spmm_rounded.cuh).
template <class I, class S, int V, int LANES, bool FULL>
__global__ void __launch_bounds__(256, RESIDENT<S>)
spmm(const int64_t* indptr, int64_t rows, const I* indices, const typename S::A* a_values, int64_t entries,
     int64_t parts, int64_t steps, int64_t longest, const int64_t* chunk_rows, const int64_t* chunk_starts,
     int64_t chunk, int64_t chunks, int64_t chunk_warps, int64_t row_warps, int64_t tiles, const word* x_words,
     const typename S::X* x_values, int64_t n, typename S::Z* values, bool* present, typename S::Z* carry_values,
     bool* carry_present, const word* wanted) {
  if (wanted != nullptr && *wanted == 0) return;
  constexpr int GROUPS = 32 / LANES;
  const SpmmOperands<I, S> m{indices, a_values, entries, x_words, x_values, n};
  const int lane = lane_number(), group = lane / LANES, within = lane % LANES;
  const int warps = blockDim.x >> 5, at_once = GROUPS / int(parts);  // rows of a warp
  const int64_t of_tile = chunk_warps + row_warps;
  GRB_EACH_WARP(job, tiles * of_tile) {
    const int64_t tile = job / of_tile, number = job - tile * of_tile;
    const int64_t column = tile * (LANES * V) + within * V;
    const bool active = column < n;
    if (number < chunk_warps) {
      if (number >= chunks) continue;
      const int64_t row = chunk_rows[number], start = chunk_starts[number], end = indptr[row + 1];
      const int64_t stop = start + chunk < end ? start + chunk : end;
      RowTotals<I, S, V, LANES, FULL> sums(m, column);
      if (active) sums.add(row, start, stop, group, GROUPS);
      __syncwarp();
      sums.join(GROUPS);
      if (group == 0 && active) {
        const bool whole = stop == end && start == indptr[row];
        sums.write(whole ? values : carry_values, whole ? present : carry_present, (whole ? row : number) * n + column);
      }
      continue;
    }
    const int64_t block = (number - chunk_warps) / warps, warp = (number - chunk_warps) % warps;
    for (int step = 0; step < int(steps); step++) {
      const int64_t row = ((block * steps + step) * warps + warp) * at_once + group / int(parts);
      int64_t start = 0, stop = 0;
      if (row < rows) start = indptr[row], stop = indptr[row + 1];
      const bool mine = active && stop > start && stop - start <= longest;
      RowTotals<I, S, V, LANES, FULL> sums(m, column);
      if (mine) sums.add(row, start, stop, group % int(parts), int(parts));
      __syncwarp();
      sums.join(int(parts));
      if (mine && group % int(parts) == 0) sums.write(values, present, row * n + column);
    }
  }
}

// Parts of rows that are cut into chunks.
template <class S, bool FULL> struct Parts {
  const typename S::Z* values;
  const bool* present;
  int64_t n;
  // Adds the parts from, from + by ... below `to`, of one column.
  GRB_DEVICE void add_to(Total<S>& total, int64_t from, int64_t to, int64_t by, int64_t column) const {
#pragma unroll 8
    for (int64_t c = from; c < to; c += by) {
      bool there = true;
      if constexpr (!FULL) there = present[c * n + column];
      typename S::Z value = typename S::Z();
      if constexpr (!S::structure_only) value = values[c * n + column];
      total.join(value, there);
    }
  }
};

// C[long_rows[r], :] = (+) of the parts chunk_ptr[r] .. chunk_ptr[r+1]-1 of `carry`, for rows below `rows`.  A warp, or
// where rows have many parts a block (BY_BLOCK), adds those of 32 columns of a row; warp w of the 8 of a block adds
// parts w, w + 8, w + 16 and so on.
template <class S, bool FULL, bool BY_BLOCK>
__global__ void __launch_bounds__(256)
spmm_join(const int64_t* long_rows, const int64_t* chunk_ptr, int64_t count, int64_t rows, int64_t n,
          typename S::Z* values, bool* present, const typename S::Z* carry_values, const bool* carry_present,
          const word* wanted) {
  if (wanted != nullptr && *wanted == 0) return;
  const Parts<S, FULL> parts{carry_values, carry_present, n};
  const int64_t of_row = (n + 31) / 32;
  const int lane = lane_number(), warp = BY_BLOCK ? threadIdx.x >> 5 : 0;
  const int warps = BY_BLOCK ? blockDim.x >> 5 : 1;
  const int64_t first = BY_BLOCK ? int64_t(blockIdx.x) : warp_number();
  const int64_t step = BY_BLOCK ? int64_t(gridDim.x) : warp_count();
  for (int64_t job = first; job < count * of_row; job += step) {
    const int64_t r = job / of_row, column = job % of_row * 32 + lane;
    const int64_t from = chunk_ptr[r], to = chunk_ptr[r + 1];
    const bool wants = to > from + 1 && column < n && long_rows[r] < rows;  // one chunk has written the row
    Total<S> total;
    if (wants) parts.add_to(total, from + warp, to, warps, column);
    if constexpr (BY_BLOCK) {
      __shared__ registers_of<typename S::Z> kept[8][32];
      __shared__ bool have[8][32];
      __syncthreads();  // the row before was written
      kept[warp][lane] = to_registers(total.value), have[warp][lane] = total.have;
      __syncthreads();
      if (warp > 0) continue;
      for (int w = 1; w < warps; w++) total.join(from_registers<typename S::Z>(kept[w][lane]), have[w][lane]);
    }
    if (!wants) continue;
    const int64_t place = long_rows[r] * n + column;
    if constexpr (!S::structure_only) values[place] = total.value;
    if constexpr (!FULL) present[place] = total.have;
  }
}

}  // namespace grb
