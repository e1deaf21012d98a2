// w<m> = A (+.x) x over nt x nt tiles with values, nt = 16, 32 or 64: TileSpMSpV; and the building of the tiles.
//
// Algorithm: TileSpMSpV (tilespmspv_tilebfs_icpp22), 3.2 and 3.3.
// Launch: backends/cuda/products/tiles.py.  Schema: storage/tiled.py.  W: the word of a tile's width (uint16_t,
//   uint32_t or word).
// tiled_rows     Algorithm 4: a warp for each chunk of a tile row: 32 of its tiles and, in the same launch,
//                REST_OF_CHUNK entries of its remainder.  The tiles are looked up together, a lane each; tiles with an
//                empty tile of x are skipped.  Lanes of a tile: two a row (nt = 16), one a row (32), one for two rows
//                (64).  Remainder: a lane for each entry; the products of a row are combined by a segmented reduction.
// join_chunks    the totals of a long tile row, which several warps computed a chunk each
//                (chunks as in products/bit_tiles.cuh).
// tile_vector    x_ptr, x_tile and the presence words of a sparse vector.
// merge_values   the tiles of a tile row by merging its rows; tiles of few entries go to the remainder.
// Preconditions: presence words of masks are as in base/bits.cuh, read in parts of a tile's width; x is tiled, or full
//   or a bitmap (x_ptr null: tile k of x is stored as tile k); every part of w's words is written by one warp.
#pragma once
#include "products/semiring.cuh"
#include "products/tile_rows.cuh"

namespace grb {

constexpr int REST_OF_CHUNK = 1024;  // entries, as in backends/cuda/products/tiles.py

template <class W> struct TiledX {
  const int32_t* ptr;
  const W* parts;
  GRB_DEVICE int slot(int64_t tile) const { return ptr == nullptr ? int(tile) : ptr[tile]; }
  GRB_DEVICE W part(int slot) const { return slot < 0 ? W(0) : parts == nullptr ? W(~W(0)) : parts[slot]; }
};

// The rows of a tile row that this lane computes, and their totals.
template <class S, class W> struct LaneRows {
  using G = TileGroup<W>;
  using Z = typename S::Z;
  Total<S> total[G::EACH];
  bool open[G::EACH];                        // wanted and not finished
  static GRB_DEVICE int row(int u) { return u * G::LANES + G::lane(); }

  GRB_DEVICE explicit LaneRows(W wanted) {
    for (int u = 0; u < G::EACH; u++) open[u] = wanted >> row(u) & 1;
  }
  GRB_DEVICE bool any_open() const {
    bool any = false;
    for (int u = 0; u < G::EACH; u++) any = any || open[u];
    return __any_sync(ALL_LANES, any);
  }
  // The second group's totals go to the first (nt = 16).
  GRB_DEVICE void join_groups() {
    for (int by = G::LANES; by < 32; by <<= 1)
      for (int u = 0; u < G::EACH; u++) {
        const bool there = __shfl_down_sync(ALL_LANES, int(total[u].have), by) != 0;
        if constexpr (S::structure_only) {
          total[u].have = total[u].have || there;
        } else {
          const Z other = shuffle_down(total[u].value, by);
          if (G::number() == 0) total[u].join(other, there);
        }
      }
  }
  // The totals become w's rows of tile row `line`; returns how many there are.
  GRB_DEVICE int write(int64_t line, W wanted, Z* w, W* w_parts) {
    join_groups();
    bool writes[G::EACH];
    for (int u = 0; u < G::EACH; u++) {
      writes[u] = G::number() == 0 && (wanted >> row(u) & 1) && total[u].have;
      if constexpr (!S::structure_only)
        if (writes[u]) w[line * G::NT + row(u)] = total[u].value;
    }
    const W bits = G::gathered(writes);
    if (lane_number() == 0) w_parts[line] = bits;
    return lane_number() == 0 ? bits_in(bits) : 0;
  }
};

// Where a lane's rows are in one tile, and that tile's columns.
template <class W> struct RowsOfTile {
  using G = TileGroup<W>;
  W present;                                 // x at the tile's columns
  int slot;
  int64_t col, first;
  int from[G::EACH], stop[G::EACH];
};

template <class S, class W, class P, class I, bool MASKED>
__global__ void __launch_bounds__(256)
tiled_rows(int64_t nrows, const int64_t* tile_ptr, const int32_t* tile_col, const int64_t* tile_nnz,
           const P* row_start, const uint8_t* local_col, const typename S::A* a_values, const int64_t* rest_ptr,
           const uint8_t* rest_row, const I* rest_col, const typename S::A* rest_values, int64_t lines,
           int64_t chunk_count, const int32_t* extra, const int32_t* owner, const int32_t* x_ptr, const W* x_parts,
           const typename S::X* x_values, const W* mask, bool complement, typename S::Z* w, W* w_parts, int64_t parts,
           typename S::Z* partial, bool* have, unsigned long long* count) {
  using G = TileGroup<W>;
  using Z = typename S::Z;
  constexpr int NT = G::NT;
  alignas(16) __shared__ unsigned char shared_values[8 * NT * (S::structure_only ? 1 : sizeof(Z))];
  __shared__ bool shared_have[8 * NT];
  Z* const sums = reinterpret_cast<Z*>(shared_values) + (threadIdx.x >> 5) * NT;    // of the remainder, by rows
  bool* const summed = shared_have + (threadIdx.x >> 5) * NT;
  const TileLines<W, int64_t> a{tile_ptr, tile_col, nullptr, tile_nnz, nullptr};
  const TileChunks chunks{lines, chunk_count, extra, owner};
  const TiledX<W> x{x_ptr, x_parts};
  const int lane = lane_number();
  unsigned long long found = 0;
  if (blockIdx.x == 0)                       // parts of w's last word that no tile row has
    for (int64_t p = lines + threadIdx.x; p < parts; p += blockDim.x) w_parts[p] = 0;
  GRB_EACH_WARP(k, chunk_count) {
    int64_t line, begin, stop_tile;
    chunk_range(a, chunks, k, line, begin, stop_tile);
    const W wanted = wanted_rows(mask, MASKED, complement, line, nrows);
    LaneRows<S, W> rows(wanted);
    if (!wanted) stop_tile = begin;
    for (int64_t t0 = begin; t0 < stop_tile; t0 += 32) {
      const int64_t mine = t0 + lane;
      const int tile = mine < stop_tile ? tile_col[mine] : 0;
      const int slot = mine < stop_tile ? x.slot(tile) : -1;
      const W part = x.part(slot);
      const int64_t base = part ? tile_nnz[mine] : 0;
      const int length = part ? int(tile_nnz[mine + 1] - base) : 0;
      auto rows_of = [&](int who) {
        RowsOfTile<W> r;
        r.present = W(shuffle(part, who));
        r.slot = __shfl_sync(ALL_LANES, slot, who);
        r.col = int64_t(__shfl_sync(ALL_LANES, tile, who)) * NT;
        r.first = shuffle(base, who);
        const int all = __shfl_sync(ALL_LANES, length, who);
        const P* starts = row_start + (t0 + who) * NT;
        for (int u = 0; u < G::EACH; u++) {
          const int row = rows.row(u);
          r.from[u] = starts[row] + G::number();
          r.stop[u] = row == NT - 1 ? all : int(starts[row + 1]);
        }
        return r;
      };
      unsigned live = __ballot_sync(ALL_LANES, part != 0);
      RowsOfTile<W> next;
      if (live) next = rows_of(__ffs(int(live)) - 1);
      while (live) {                         // the next tile's row starts are loaded while this one is multiplied
        const RowsOfTile<W> here = next;
        live &= live - 1;
        if (live) next = rows_of(__ffs(int(live)) - 1);
        const int64_t x_at = int64_t(here.slot) * NT;
        for (int u = 0; u < G::EACH; u++) {
          if (!rows.open[u]) continue;
          const int64_t row = line * NT + rows.row(u);
#pragma unroll 4
          for (int e = here.from[u]; e < here.stop[u]; e += G::IN_WARP) {
            const int local = local_col[here.first + e];
            if (!(here.present >> local & 1)) continue;
            rows.total[u].take(S::times(kept_value<S>(a_values, here.first + e), value_of_x<S>(x_values, x_at + local),
                                        row, here.col + local, 0));
          }
          if (stops_early<S>) rows.open[u] = !rows.total[u].finished();
        }
        if (stops_early<S> && !rows.any_open()) break;
      }
      if (stops_early<S> && !rows.any_open()) break;
    }
    const int64_t piece = k < lines ? 0 : k - lines - extra[line] + 1;
    const int64_t rest_begin = rest_ptr[line] + piece * REST_OF_CHUNK, rest_end = rest_ptr[line + 1];
    const int64_t rest_stop = rest_end - rest_begin > REST_OF_CHUNK ? rest_begin + REST_OF_CHUNK : rest_end;
    if (wanted && rest_begin < rest_stop && (!stops_early<S> || rows.any_open())) {
      for (int row = lane; row < NT; row += 32) summed[row] = false;
      __syncwarp();
      for (int64_t e0 = rest_begin; e0 < rest_stop; e0 += 32) {
        const int64_t e = e0 + lane;
        const int row = e < rest_stop ? int(rest_row[e]) : NT;
        Total<S> one;
        if (row < NT && wanted >> row & 1) {
          const int64_t col = int64_t(rest_col[e]);
          const int slot = x.slot(col >> G::SHIFT), local = int(col & (NT - 1));
          if (x.part(slot) >> local & 1)
            one.take(S::times(kept_value<S>(rest_values, e), value_of_x<S>(x_values, int64_t(slot) * NT + local),
                              line * NT + row, col, 0));
        }
        if (!__any_sync(ALL_LANES, one.have)) continue;
        for (int by = 1; by < 32; by <<= 1) {      // the first lane of a row gets the sum of the row's lanes
          const bool same = __shfl_down_sync(ALL_LANES, row, by) == row && lane + by < 32;
          const bool there = __shfl_down_sync(ALL_LANES, int(one.have), by) != 0 && same;
          if constexpr (S::structure_only) {
            one.have = one.have || there;
          } else {
            const Z other = shuffle_down(one.value, by);
            one.join(other, there);
          }
        }
        const int before = __shfl_up_sync(ALL_LANES, row, 1);
        if (one.have && (lane == 0 || before != row)) {
          if constexpr (!S::structure_only) {
            Total<S> sum;
            if (summed[row]) sum.take(sums[row]);
            sum.take(one.value);
            sums[row] = sum.value;
          }
          summed[row] = true;
        }
        __syncwarp();
      }
      for (int u = 0; u < G::EACH; u++) {
        const int row = rows.row(u);
        if (G::number() != 0 || !summed[row]) continue;
        if constexpr (S::structure_only) rows.total[u].have = true;
        else rows.total[u].take(sums[row]);
      }
      __syncwarp();
    }
    if (is_split(chunks, line)) {            // joined by join_chunks
      rows.join_groups();
      for (int u = 0; u < G::EACH; u++) {
        if (G::number() != 0) continue;
        if constexpr (!S::structure_only) partial[k * NT + rows.row(u)] = rows.total[u].value;
        have[k * NT + rows.row(u)] = rows.total[u].have;
      }
      continue;
    }
    found += rows.write(line, wanted, w, w_parts);
  }
  add_to_count(found, count);
}

template <class S, class W, bool MASKED>
__global__ void __launch_bounds__(256)
join_chunks(int64_t nrows, int64_t lines, int64_t chunk_count, const int32_t* extra, const int32_t* owner,
            const W* mask, bool complement, typename S::Z* w, W* w_parts, const typename S::Z* partial,
            const bool* have, unsigned long long* count) {
  using G = TileGroup<W>;
  unsigned long long found = 0;
  GRB_EACH_WARP(j, chunk_count - lines) {
    const int64_t line = owner[j], pieces = extra[line + 1] - extra[line];
    if (j != extra[line]) continue;          // one warp for each split tile row
    const W wanted = wanted_rows(mask, MASKED, complement, line, nrows);
    LaneRows<S, W> rows(wanted);
    for (int64_t p = G::number(); p <= pieces; p += G::IN_WARP)
      for (int u = 0; u < G::EACH; u++) {
        const int64_t at = (p == 0 ? line : lines + j + p - 1) * G::NT + rows.row(u);
        if (!have[at]) continue;
        if constexpr (S::structure_only) rows.total[u].have = true;
        else rows.total[u].take(partial[at]);
      }
    found += rows.write(line, wanted, w, w_parts);
  }
  if (lane_number() == 0 && found) atomicAdd(count, found);
}

// ---- building tiles

// x_ptr, x_tile (null: the values are not read) and presence words of `count` ascending indices; *stored, which was 0,
// numbers the tiles, in any order.  A lane bisects for each tile, then the warp writes those that are not empty.
template <class I, class V, class W>
__global__ void __launch_bounds__(256)
tile_vector(const I* indices, const V* values, int64_t count, int64_t tiles, int32_t* x_ptr, V* x_tile, W* x_parts,
            unsigned long long* stored) {
  using G = TileGroup<W>;
  GRB_EACH_WARP(k, (tiles + 31) / 32) {
    const int64_t tile = k * 32 + lane_number();
    const int64_t first = lower_bound(indices, 0, count, tile * G::NT);
    int64_t stop = shuffle_down(first, 1);
    if (lane_number() == 31) stop = lower_bound(indices, first, count, (tile + 1) * G::NT);
    const bool live = stop > first;
    const int64_t slot = int64_t(warp_append(live, stored));
    if (tile < tiles) x_ptr[tile] = live ? int32_t(slot) : -1;
    for_each_lane(live, [&](int who) {
      const int64_t from = shuffle(first, who), upto = shuffle(stop, who), at = shuffle(slot, who);
      W bits = 0;
      for (int64_t p = from + lane_number(); p < upto; p += 32)
        bits |= W(W(1) << (int64_t(indices[p]) & (G::NT - 1)));
      bits = united_lanes(bits);
      if (lane_number() == 0) x_parts[at] = bits;
      if (x_tile == nullptr) return;
      for (int local = lane_number(); local < G::NT; local += 32)
        x_tile[at * G::NT + local] = bits >> local & 1 ? values[from + bits_in(W(bits & low_bits<W>(local)))] : V();
    });
  }
}

// FILL false: how many tiles of `least` entries or more a task (products/tile_rows.cuh) has, how many entries are in
// them, and how many entries of each of its rows are not: rest_count[slot], slots ordered by row, then part, so that
// their sums are the remainder's places in order.
// FILL true: those are where they begin, and all is written.  V: values by their size (null pointers: none).
template <class I, class V, class W, class P, bool FILL>
__global__ void __launch_bounds__(256)
merge_values(const int64_t* indptr, const I* cols, const V* values, int64_t nrows, int64_t least, int64_t tasks,
             const int64_t* task_ptr, const int32_t* owner, int64_t* tile_count, int64_t* entry_count,
             int64_t* rest_count, int32_t* tile_col, int64_t* tile_nnz, P* row_start, uint8_t* local_col,
             V* tile_values, uint8_t* rest_row, I* rest_col, V* rest_values) {
  using G = TileGroup<W>;
  constexpr int NONE = 0x7fffffff, EACH = G::EACH;
  GRB_EACH_WARP(k, (tasks + G::IN_WARP - 1) / G::IN_WARP) {
    const int64_t task = k * G::IN_WARP + G::number();
    const bool here = task < tasks;
    int64_t at[EACH], stop[EACH], slot[EACH], rest[EACH];
    const int64_t line = begin_task<W>(indptr, cols, nrows, tasks, task_ptr, owner, task, at, stop);
    int64_t tiles = 0, held = 0, begin = task, parts = 1;
    if (owner != nullptr && here) begin = task_ptr[line], parts = task_ptr[line + 1] - begin;
    if (FILL && here) tiles = tile_count[task], held = entry_count[task];
    int stands[EACH];
    for (int u = 0; u < EACH; u++) {
      slot[u] = begin * G::NT + (u * G::LANES + G::lane()) * parts + (task - begin);
      rest[u] = FILL && here ? rest_count[slot[u]] : 0;
      stands[u] = at[u] < stop[u] ? int(cols[at[u]] >> G::SHIFT) : NONE;
    }
    while (true) {
      int next = stands[0];
      for (int u = 1; u < EACH; u++) next = stands[u] < next ? stands[u] : next;
      for (int by = G::LANES / 2; by; by >>= 1) {
        const int other = __shfl_xor_sync(ALL_LANES, next, by);
        next = other < next ? other : next;
      }
      if (!__any_sync(ALL_LANES, next != NONE)) break;
      int64_t from[EACH];
      int before[EACH], total = 0;           // entries of the tile in rows above each of this lane's
      for (int u = 0; u < EACH; u++) {
        from[u] = at[u];
        while (stands[u] == next && next != NONE) {
          at[u]++;
          stands[u] = at[u] < stop[u] ? int(cols[at[u]] >> G::SHIFT) : NONE;
        }
        const int mine = int(at[u] - from[u]);
        int upto = mine;
        for (int by = 1; by < G::LANES; by <<= 1) {
          const int other = __shfl_up_sync(ALL_LANES, upto, by, G::LANES);
          if (G::lane() >= by) upto += other;
        }
        before[u] = total + upto - mine;
        total += __shfl_sync(ALL_LANES, upto, G::LANES - 1, G::LANES);
      }
      const bool stays = total >= least;
      if (FILL && stays && G::lane() == 0) {
        tile_col[tiles] = next;
        tile_nnz[tiles] = held;
      }
      for (int u = 0; u < EACH; u++) {
        const int row = u * G::LANES + G::lane();
        if (FILL && stays) {
          row_start[tiles * G::NT + row] = P(before[u]);
          int64_t place = held + before[u];
          for (int64_t e = from[u]; e < at[u]; e++, place++) {
            local_col[place] = uint8_t(int64_t(cols[e]) & (G::NT - 1));
            if (tile_values != nullptr) tile_values[place] = values[e];
          }
        }
        if (stays) continue;
        if (FILL)
          for (int64_t e = from[u], place = rest[u]; e < at[u]; e++, place++) {
            rest_row[place] = uint8_t(row);
            rest_col[place] = cols[e];
            if (rest_values != nullptr) rest_values[place] = values[e];
          }
        rest[u] += at[u] - from[u];
      }
      if (stays && next != NONE) tiles++, held += total;
    }
    if (FILL || !here) continue;
    for (int u = 0; u < EACH; u++) rest_count[slot[u]] = rest[u];
    if (G::lane() == 0) tile_count[task] = tiles, entry_count[task] = held;
  }
}

}  // namespace grb
