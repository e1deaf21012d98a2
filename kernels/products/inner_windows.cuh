// C = A (+.x) B where C has few rows and columns and the inner dimension is long: split-K over sparse operands.
//
//   C(i, j) = (+)_k A(i, k) (x) B(k, j)
//
// Algorithm: the inner indices are cut into windows, which the blocks share (split-K, as in CUTLASS's GEMM).  Both
//   operands' entries of a window are scattered to dense arrays in shared memory, with a presence bit for each, and a
//   thread computes EDGE x EDGE entries of C over its inner indices.
// Forms: each operand by lines (A's rows, B's columns) or by inner indices (A' or B in CSR), as it is stored.  Where B'
//   is A, a window is loaded once, and of a symmetric C only the entries on and above the diagonal are computed.
// Panels: panel_rows x panel_cols entries of C, the work of a block; `shares` blocks for each, which take equal ranges
//   of the windows.
// Phases: inner_bounds   where the windows begin in each line
//         inner_windows  totals of each block; early exit at the monoid's terminal value
//         inner_join     totals of C, in the order of the blocks
// Launch: backends/cuda/products/inner_windows.py; dynamic shared memory: values of the panel's lines for each inner
//   index of a window, then a word of bits of A's and of B's lines.
// Preconditions: panel_rows and panel_cols are multiples of EDGE, at most 32, and a panel has no more tiles of EDGE x
//   EDGE than a block has warps; `window` is a multiple of 32; `there` holds zeros.
#pragma once
#include "products/semiring.cuh"

namespace grb {

constexpr int EDGE = 4;
constexpr int TILE = EDGE * EDGE;
constexpr int LOADS = 8;      // entries of a lane that are read before the first is stored
constexpr int MOST_TILES = 32;  // of a panel: a block has at most so many warps

// An operand.
template <class I, class T> struct Side {
  const int64_t* ptr;
  const I* indices;  // inner indices; with `bounds` null: lines
  const T* values;
  const int64_t* names;   // of the lines; null: they are their numbers
  const int64_t* bounds;  // window w of line l begins at bounds[l * (windows + 1) + w]; null: by inner indices
  int64_t lines;

  GRB_DEVICE int64_t name(int64_t l) const { return names == nullptr ? l : names[l]; }
};

// Fields of 8 bytes in the order of products/inner_windows.py.
template <class I, class J, class S> struct InnerWindows {
  Side<I, typename S::A> a;
  Side<J, typename S::X> b;
  int64_t inner, window, windows;
  int64_t panel_rows, panel_cols, shares;
  int64_t once;       // is B' A, whose values serve for both?
  int64_t symmetric;  // is C(i, j) C(j, i)?
  typename S::Z* sums;  // [panel, share, tile, TILE]
  unsigned* there;      // [panel, share, tile]: a bit for each sum that has a product
  typename S::Z* values;  // of C, row by row
  bool* hit;              // has the entry a product?

  GRB_DEVICE int64_t panels_across() const { return (b.lines + panel_cols - 1) / panel_cols; }
  GRB_DEVICE int tiles_across() const { return int(panel_cols / EDGE); }
  GRB_DEVICE int tiles() const { return int(panel_rows / EDGE) * tiles_across(); }
  // Is no entry of tile t wanted, whose panel begins at (row, col)?
  GRB_DEVICE bool left_out(int64_t row, int64_t col, int t) const {
    row += t / tiles_across() * EDGE, col += t % tiles_across() * EDGE;
    return row >= a.lines || col >= b.lines || (symmetric && row >= col + EDGE);
  }
};

// bounds[l * (windows + 1) + w] = lower bound of inner index w * window in line l.
template <class I>
__global__ void inner_bounds(const int64_t* ptr, const I* indices, int64_t lines, int64_t window, int64_t windows,
                             int64_t* bounds) {
  GRB_EACH(n, lines * (windows + 1)) {
    const int64_t l = n / (windows + 1), w = n % (windows + 1);
    bounds[n] = w == windows ? ptr[l + 1] : lower_bound(indices, ptr[l], ptr[l + 1], w * window);
  }
}

// Lines first .. first + lines - 1 of window w to shared memory: values[line * window + inner index], bit `line`.
template <bool READ, class I, class T>
GRB_DEVICE void load_window(const Side<I, T>& side, int64_t first, int lines, int64_t inner, int64_t windows,
                            int window, int64_t w, T* values, unsigned* bits) {
  const int64_t begin = w * window;
  if (side.bounds == nullptr) {
    const int here = int(min(int64_t(window), inner - begin));
    for (int at = threadIdx.x; at < here; at += blockDim.x) {
      unsigned present = 0;
      for (int64_t p = side.ptr[begin + at], stop = side.ptr[begin + at + 1]; p < stop; p++) {
        const int64_t line = int64_t(side.indices[p]) - first;
        if (line < 0 || line >= lines) continue;
        present |= 1u << line;
        if constexpr (READ) values[int(line) * window + at] = side.values[p];
      }
      bits[at] = present;
    }
    return;
  }
  const int lane = lane_number(), warps = int(blockDim.x >> 5), chunks = (window + 32 * LOADS - 1) / (32 * LOADS);
  for (int n = int(threadIdx.x >> 5); n < lines * chunks; n += warps) {
    const int line = n / chunks;
    const int64_t* bounds = side.bounds + (first + line) * (windows + 1) + w;
    const int64_t from = bounds[0] + n % chunks * 32 * LOADS + lane, stop = bounds[1];
    I k[LOADS];
    T value[LOADS];
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      if (from + 32 * u >= stop) continue;
      k[u] = stream(side.indices + from + 32 * u);
      if constexpr (READ) value[u] = stream(side.values + from + 32 * u);
    }
#pragma unroll
    for (int u = 0; u < LOADS; u++) {
      if (from + 32 * u >= stop) continue;
      const int at = int(int64_t(k[u]) - begin);
      atomicOr(bits + at, 1u << line);
      if constexpr (READ) values[line * window + at] = value[u];
    }
  }
}

// The totals of a tile of C.
template <class S> struct TileTotals {
  using Z = typename S::Z;
  Z sum[TILE];
  unsigned have = 0;

  GRB_DEVICE TileTotals() {
    if constexpr (S::has_start) {
#pragma unroll
      for (int n = 0; n < TILE; n++) sum[n] = S::start();
    }
  }
  // Products of the rows `rows` and the columns `cols` (bits) at inner index k; i, j: the names of the tile's lines.
  template <class A, class B, class Name, class Other>
  GRB_DEVICE void add(unsigned rows, unsigned cols, A a_at, B b_at, int64_t k, Name i, Other j) {
    const unsigned both = cols * ((rows & 1) | (rows & 2) << 3 | (rows & 4) << 6 | (rows & 8) << 9);
    if constexpr (!S::structure_only) {
      typename S::A a[EDGE];
      typename S::X b[EDGE];
#pragma unroll
      for (int n = 0; n < EDGE; n++) {
        if (rows >> n & 1) a[n] = a_at(n);
        if (cols >> n & 1) b[n] = b_at(n);
      }
#pragma unroll
      for (int n = 0; n < TILE; n++) {
        if (!(both >> n & 1)) continue;
        const Z product = S::times(a[n / EDGE], b[n % EDGE], i(n / EDGE), k, j(n % EDGE));
        if constexpr (S::any) sum[n] = product;
        else if constexpr (S::has_start) sum[n] = S::add(sum[n], product);
        else sum[n] = have >> n & 1 ? S::add(sum[n], product) : product;
      }
    }
    have |= both;
  }
  // The entries that no further product changes.
  GRB_DEVICE unsigned finished() const {
    if constexpr (S::structure_only || S::any) return have;
    unsigned found = 0;
    if constexpr (!S::structure_only && S::has_terminal) {
#pragma unroll
      for (int n = 0; n < TILE; n++)
        if ((have >> n & 1) && S::terminal(sum[n])) found |= 1u << n;
    }
    return found;
  }
};

template <class I, class J, class S>
__global__ void __launch_bounds__(256, sizeof(typename S::Z) <= 8 ? 3 : 1) inner_windows(InnerWindows<I, J, S> o) {
  using Z = typename S::Z;
  using A = typename S::A;
  using X = typename S::X;
  constexpr bool read_a = S::reads_a && !S::a_iso, read_b = S::reads_x && !S::x_iso;
  extern __shared__ __align__(16) unsigned char pool[];
  __shared__ unsigned complete[MOST_TILES];
  const int window = int(o.window), lane = lane_number(), warp = int(threadIdx.x >> 5);
  const int64_t panel = blockIdx.x / o.shares, share = blockIdx.x % o.shares;
  const int64_t first_row = panel / o.panels_across() * o.panel_rows;
  const int64_t first_col = panel % o.panels_across() * o.panel_cols;
  const int rows = int(min(o.panel_rows, o.a.lines - first_row)), cols = int(min(o.panel_cols, o.b.lines - first_col));
  // Are the columns' lines among the rows', which are loaded already?
  const bool once = o.once && first_col >= first_row && first_col + cols <= first_row + rows;
  const int shift = once ? int(first_col - first_row) : 0;
  A* const a_values = reinterpret_cast<A*>(pool);
  unsigned char* next = pool + (read_a ? (o.panel_rows * window * sizeof(A) + 15) / 16 * 16 : 0);
  X* const b_values = reinterpret_cast<X*>(once ? pool + (read_a ? shift * window * sizeof(A) : 0) : next);
  if (read_b && !once) next += (o.panel_cols * window * sizeof(X) + 15) / 16 * 16;
  unsigned* const a_bits = reinterpret_cast<unsigned*>(next);
  unsigned* const b_bits = once ? a_bits : a_bits + window;
  const int tiles = o.tiles(), splits = int(blockDim.x >> 5) / tiles, tile = warp / splits;
  const int row = tile / o.tiles_across() * EDGE, col = tile % o.tiles_across() * EDGE;
  const bool idle = tile >= tiles || o.left_out(first_row, first_col, tile);
  auto row_name = [&](int n) { return o.a.name(min(first_row + row + n, o.a.lines - 1)); };
  auto col_name = [&](int n) { return o.b.name(min(first_col + col + n, o.b.lines - 1)); };
  if (threadIdx.x < MOST_TILES) complete[threadIdx.x] = 0;
  TileTotals<S> totals;
  const int64_t stop = (share + 1) * o.windows / o.shares;
  for (int64_t w = share * o.windows / o.shares; w < stop; w++) {
    for (int at = threadIdx.x; at < (once ? window : 2 * window); at += blockDim.x) a_bits[at] = 0;
    __syncthreads();
    load_window<read_a>(o.a, first_row, rows, o.inner, o.windows, window, w, a_values, a_bits);
    if (!once) load_window<read_b>(o.b, first_col, cols, o.inner, o.windows, window, w, b_values, b_bits);
    __syncthreads();
    for (int at = (warp - tile * splits) * 32 + lane; at < window && !idle; at += splits * 32) {
      const unsigned r = a_bits[at] >> row & (1u << EDGE) - 1, c = b_bits[at] >> (shift + col) & (1u << EDGE) - 1;
      if (r == 0 || c == 0) continue;
      totals.add(
          r, c,
          [&](int n) {
            if constexpr (read_a) return a_values[(row + n) * window + at];
            else return value_of_a<S>(o.a.values, 0);
          },
          [&](int n) {
            if constexpr (read_b) return b_values[(col + n) * window + at];
            else return value_of_x<S>(o.b.values, 0);
          },
          w * window + at, row_name, col_name);
    }
    if constexpr (stops_early<S>) {
      const unsigned found = warp_or(totals.finished());
      if (!idle && lane == 0 && found) atomicOr(complete + tile, found);
    }
    __syncthreads();
    if constexpr (stops_early<S>) {
      bool all = true;
      for (int t = 0; t < tiles; t++) {
        const int64_t r = first_row + t / o.tiles_across() * EDGE, c = first_col + t % o.tiles_across() * EDGE;
        unsigned wanted = 0;
        for (int n = 0; n < TILE; n++)
          if (r + n / EDGE < o.a.lines && c + n % EDGE < o.b.lines) wanted |= 1u << n;
        all = all && (o.left_out(first_row, first_col, t) || (wanted & ~complete[t]) == 0);
      }
      if (all) break;
    }
  }
  __syncthreads();
  // The lanes' totals, and then those of the warps of a tile.
  Z* const warp_sums = reinterpret_cast<Z*>(pool);  // [warp, TILE]
  unsigned* const warp_have = reinterpret_cast<unsigned*>(pool + (blockDim.x >> 5) * TILE * sizeof(Z));
#pragma unroll
  for (int n = 0; n < TILE; n++) {
    Total<S> total;
    total.have = totals.have >> n & 1;
    if constexpr (!S::structure_only) total.value = totals.sum[n];
    join_lanes(total, 32);
    if (lane == 0) {
      if constexpr (!S::structure_only) warp_sums[warp * TILE + n] = total.value;
      totals.have = (totals.have & ~(1u << n)) | unsigned(total.have) << n;
    }
  }
  if (lane == 0) warp_have[warp] = totals.have;
  __syncthreads();
  for (int at = threadIdx.x; at < tiles * TILE; at += blockDim.x) {
    const int t = at / TILE, n = at % TILE;
    Total<S> total;
    for (int part = t * splits; part < (t + 1) * splits; part++) {
      if constexpr (S::structure_only) total.have = total.have || (warp_have[part] >> n & 1);
      else total.join(warp_sums[part * TILE + n], warp_have[part] >> n & 1);
    }
    const int64_t to = int64_t(blockIdx.x) * tiles + t;
    if constexpr (!S::structure_only) o.sums[to * TILE + n] = total.value;
    if (total.have) atomicOr(o.there + to, 1u << n);
  }
}

// The totals of all blocks; a warp for each entry of C.
template <class I, class J, class S>
__global__ void inner_join(InnerWindows<I, J, S> o) {
  const int tiles = o.tiles();
  GRB_EACH_WARP(place, o.a.lines * o.b.lines) {
    int64_t i = place / o.b.lines, j = place % o.b.lines;
    if (o.symmetric && i > j) {
      const int64_t swapped = i;
      i = j, j = swapped;
    }
    const int64_t panel = i / o.panel_rows * o.panels_across() + j / o.panel_cols;
    const int row = int(i % o.panel_rows), col = int(j % o.panel_cols);
    const int t = row / EDGE * o.tiles_across() + col / EDGE, n = row % EDGE * EDGE + col % EDGE;
    Total<S> total;
    for (int64_t share = lane_number(); share < o.shares; share += 32) {
      const int64_t at = (panel * o.shares + share) * tiles + t;
      const bool there = o.there[at] >> n & 1;
      if constexpr (S::structure_only) total.have = total.have || there;
      else total.join(o.sums[at * TILE + n], there);
    }
    join_lanes(total, 32);
    if (lane_number() == 0) {
      o.hit[place] = total.have;
      if constexpr (!S::structure_only) o.values[place] = total.value;
    }
  }
}

}  // namespace grb
