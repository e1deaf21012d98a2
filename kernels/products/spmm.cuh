// C = A (+.x) X: A in CSR, X and C dense and row-major with n columns; any semiring (SpMM).
//
//   C[i, :] = (+)_k A[i,k] (x) X[k, :]
//
// Algorithm: row splitting with lanes over columns (Yang, Buluc, Owens, "Design principles for sparse matrix
//   multiplication on the GPU", Euro-Par 2018, section 4.1), edge-balanced as merge-based CSR (Merrill, Garland,
//   SC 2016): a warp takes `chunk` consecutive entries, whatever rows they are in.
// Phases of a warp, for each row that has entries in its chunk:
//   load      32 column indices and values, coalesced; all columns of X are covered by LANES lanes with V elements
//             each, so that GROUPS = 32 / LANES entries are multiplied at once
//   gather    V elements of row k of X in one load, per lane
//   reduce    the groups' totals by shuffles
//   write     the row's total, or, where the row goes on in other chunks, the chunk's part of it to `carry`
// spmm_fix_up then adds the parts of each row that crosses chunks, in order: a warp for the chunk where it begins.
// Launch: backends/cuda/products/spmm.py, a warp for each chunk and each of `tiles` tiles of LANES * V columns.
// Preconditions: n is a multiple of V, X is aligned to V elements.  Where a row of A is empty, C's row stays as it is.
//   FULL: X has every position.  Otherwise x_words has the positions that X has, and `present` gets those of C.
#pragma once
#include "products/semiring.cuh"

namespace grb {

template <class T, int V> struct alignas(sizeof(T) * V) Pack { T v[V]; };

// Parts of rows that cross chunks: of the row that is open where the chunk begins (0), where it ends (1).
template <class S> struct Carry {
  typename S::Z* values;  // [chunks][2][n]
  bool* present;          // the same; null where X is full
  GRB_DEVICE int64_t at(int64_t chunk, int end, int64_t n) const { return (chunk * 2 + end) * n; }
};

template <class I, class S, int V, int LANES, bool FULL>
__global__ void spmm(const int64_t* indptr, int64_t rows, const I* indices, const typename S::A* a_values,
                     int64_t entries, int64_t chunk, int64_t chunks, int64_t tiles, const word* x_words,
                     const typename S::X* x_values, int64_t n, typename S::Z* values, bool* present,
                     typename S::Z* carry_values, bool* carry_present) {
  using Z = typename S::Z;
  constexpr int GROUPS = 32 / LANES, STAGE = LANES < 8 ? LANES : 8;
  constexpr bool gathers = S::reads_x && !S::x_iso;
  const Carry<S> carry{carry_values, carry_present};
  const int lane = lane_number(), group = lane / LANES, within = lane % LANES;
  GRB_EACH_WARP(job, chunks * tiles) {
    const int64_t number = job / tiles, column = (job % tiles) * (LANES * V) + within * V;
    const bool active = column < n;
    const int64_t from = number * chunk, to = from + chunk < entries ? from + chunk : entries;
    int64_t start = from;
    for (int64_t row = row_of(indptr, rows, from); start < to; row++) {
      const int64_t stop = indptr[row + 1];
      const int64_t end = stop < to ? stop : to;
      if (start == end) continue;
      Total<S> total[V];
      for (int64_t base = start; base < end; base += 32) {
        const int64_t mine = base + lane < end ? base + lane : end - 1;
        const I k_mine = stream(indices + mine);
        const typename S::A a_mine = value_of_a<S>(a_values, mine);
        const int here = int(end - base < 32 ? end - base : 32);
        for (int first = 0; first < here; first += GROUPS * STAGE) {
          I k[STAGE];
          typename S::A a[STAGE];
          Pack<typename S::X, V> x[STAGE];
#pragma unroll
          for (int t = 0; t < STAGE; t++) {  // all loads of the stage are in flight at once
            const int e = first + t * GROUPS + group;
            k[t] = shuffle(k_mine, e & 31);
            a[t] = a_mine;
            if constexpr (S::reads_a && !S::a_iso) a[t] = shuffle(a_mine, e & 31);
            if constexpr (gathers) {
              if (e < here && active)
                x[t] = *reinterpret_cast<const Pack<typename S::X, V>*>(x_values + (int64_t(k[t]) * n + column));
            }
          }
#pragma unroll
          for (int t = 0; t < STAGE; t++) {
            if (first + t * GROUPS + group >= here || !active) continue;
#pragma unroll
            for (int u = 0; u < V; u++) {
              if (!FULL && !has(x_words, int64_t(k[t]) * n + column + u)) continue;
              typename S::X b = typename S::X();
              if constexpr (gathers) b = x[t].v[u];
              else if constexpr (S::reads_x) b = x_values[0];
              total[u].take(S::times(a[t], b, row, int64_t(k[t]), column + u));
            }
          }
        }
      }
#pragma unroll
      for (int u = 0; u < V; u++) {
#pragma unroll
        for (int by = 16; by >= LANES; by >>= 1) {
          const bool there = __shfl_down_sync(ALL_LANES, int(total[u].have), by) != 0;
          const Z other = shuffle_down(total[u].value, by);
          total[u].join(other, there);
        }
      }
      if (group == 0 && active) {
        const bool whole = indptr[row] >= from && stop <= to;
        const int64_t place = whole ? row * n + column : carry.at(number, indptr[row] >= from, n) + column;
        Z* out = whole ? values : carry.values;
        bool* there = whole ? present : carry.present;
        if constexpr (!S::structure_only) {
          Pack<Z, V> row_values;
#pragma unroll
          for (int u = 0; u < V; u++) row_values.v[u] = total[u].value;
          *reinterpret_cast<Pack<Z, V>*>(out + place) = row_values;
        }
#pragma unroll
        for (int u = 0; u < V; u++) {
          if constexpr (!FULL) there[place + u] = total[u].have;
        }
      }
      start = end;
    }
  }
}

template <class S, bool FULL>
__global__ void spmm_fix_up(const int64_t* indptr, int64_t rows, int64_t entries, int64_t chunk, int64_t chunks,
                            int64_t n, typename S::Z* values, bool* present, const typename S::Z* carry_values,
                            const bool* carry_present) {
  GRB_EACH_WARP(number, chunks - 1) {
    const int64_t to = (number + 1) * chunk, row = row_of(indptr, rows, to - 1), stop = indptr[row + 1];
    if (stop <= to || indptr[row] < number * chunk) continue;  // it ends here, or another chunk has its beginning
    for (int64_t column = lane_number(); column < n; column += 32) {
      Total<S> total;
      for (int64_t other = number; other * chunk < stop; other++) {
        const int64_t at = (other * 2 + (other == number)) * n + column;
        bool there = true;
        if constexpr (!FULL) there = carry_present[at];
        typename S::Z value = typename S::Z();
        if constexpr (!S::structure_only) value = carry_values[at];
        total.join(value, there);
      }
      if constexpr (!S::structure_only) values[row * n + column] = total.value;
      if constexpr (!FULL) present[row * n + column] = total.have;
    }
  }
}

}  // namespace grb
