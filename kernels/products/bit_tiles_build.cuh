// Bit tiles from CSR by merging the rows of each tile row, without a sort; the transposed tiles from the tiles.
//
// Phases: merge_tile_row    a lane reads along each row; the least tile column among the lanes is the next tile.  Once
//                           to count, once to write
//         transposed_maps, transpose_tiles  the tiles of A', from those of A
//         live_lines        which lines of tiles have an entry
// Callers: backends/cuda/products/tiles.py, tile_blocks.py, backends/cuda/graph/bfs_tiles.py.  Schema:
//   storage/bit_tiles.py.
// Launch: a group of lanes (products/tile_rows.cuh) for each tile row, or tile.
// Paper: tilespmspv_tilebfs_icpp22, 3.2.3.
#pragma once
#include "products/tile_rows.cuh"

namespace grb {

// FILL false: tile_count[j] and word_count[j] of task j.  FILL true: those are where task j's begin, and
// the tiles are written.
// indptr, cols: CSR of nrows rows, columns ascending.  Tasks: see products/tile_rows.cuh.
template <class I, class W, class P, bool FILL>
__global__ void __launch_bounds__(256)
merge_tile_row(const int64_t* indptr, const I* cols, int64_t nrows, int64_t tasks, const int64_t* task_ptr,
               const int32_t* owner, int64_t* tile_count, int64_t* word_count, int32_t* tile_col, W* map, P* start,
               W* words) {
  using G = TileGroup<W>;
  constexpr int NONE = 0x7fffffff;
  GRB_EACH_WARP(k, (tasks + G::IN_WARP - 1) / G::IN_WARP) {
    int64_t task = k * G::IN_WARP + G::number(), at[G::EACH], stop[G::EACH];
    int stands[G::EACH];
    begin_task<W>(indptr, cols, nrows, tasks, task_ptr, owner, task, at, stop);
    for (int u = 0; u < G::EACH; u++) stands[u] = at[u] < stop[u] ? int(cols[at[u]] >> G::SHIFT) : NONE;
    int64_t tiles = 0, held = 0;
    if (FILL && task < tasks) tiles = tile_count[task], held = word_count[task];
    while (true) {
      int next = stands[0];
      for (int u = 1; u < G::EACH; u++) next = stands[u] < next ? stands[u] : next;
      for (int by = G::LANES / 2; by; by >>= 1) {
        int other = __shfl_xor_sync(ALL_LANES, next, by);
        next = other < next ? other : next;
      }
      if (!__any_sync(ALL_LANES, next != NONE)) break;
      W bits[G::EACH];
      bool there[G::EACH];
      for (int u = 0; u < G::EACH; u++) {
        bits[u] = 0;
        there[u] = next != NONE && stands[u] == next;
        while (there[u] && stands[u] == next) {
          bits[u] |= W(W(1) << (int64_t(cols[at[u]]) & (G::NT - 1)));
          at[u]++;
          stands[u] = at[u] < stop[u] ? int(cols[at[u]] >> G::SHIFT) : NONE;
        }
      }
      W all = G::gathered(there);
      if (FILL && next != NONE) {
        if (G::lane() == 0) {
          tile_col[tiles] = next;
          map[tiles] = all;
          start[tiles] = P(held);
        }
        for (int u = 0; u < G::EACH; u++)
          if (there[u]) words[held + bits_in(W(all & low_bits<W>(u * G::LANES + G::lane())))] = bits[u];
      }
      tiles += next != NONE;
      held += bits_in(all);
    }
    if (!FILL && task < tasks && G::lane() == 0) {
      tile_count[task] = tiles;
      word_count[task] = held;
    }
  }
}

// The word of line u * LANES + lane of tile t, 0 where the tile's map has none.
template <class W, class P> GRB_DEVICE W line_of_tile(const W* map, const P* start, const W* words, int64_t t,
                                                      int line) {
  W all = map[t];
  return all >> line & 1 ? words[start[t] + bits_in(W(all & low_bits<W>(line)))] : W(0);
}

// Tile k of the other orientation is tile order[k] transposed: transposed_map[k], and how many words it has.
template <class W, class P>
__global__ void transposed_maps(const int64_t* order, int64_t tiles, const W* map, const P* start, const W* words,
                                W* transposed_map, P* count) {
  GRB_EACH(k, tiles) {
    int64_t t = order[k];
    W all = 0;
    for (P w = start[t], stop = w + bits_in(map[t]); w < stop; w++) all |= words[w];
    transposed_map[k] = all;
    count[k] = bits_in(all);
  }
}

// transposed_words of those tiles, which begin at transposed_start[k]; transposed_line[k] = tile_row[order[k]].
template <class W, class P>
__global__ void __launch_bounds__(256)
transpose_tiles(const int64_t* order, int64_t tiles, const int64_t* ptr, int64_t tile_rows, const W* map,
                const P* start, const W* words, const W* transposed_map, const P* transposed_start,
                W* transposed_words, int32_t* transposed_line) {
  using G = TileGroup<W>;
  GRB_EACH_WARP(j, (tiles + G::IN_WARP - 1) / G::IN_WARP) {
    int64_t k = j * G::IN_WARP + G::number();
    bool here = k < tiles;
    int64_t t = here ? order[k] : 0;
    W mine[G::EACH], transposed[G::EACH];
    for (int u = 0; u < G::EACH; u++) {
      mine[u] = here ? line_of_tile(map, start, words, t, u * G::LANES + G::lane()) : W(0);
      transposed[u] = 0;
    }
    for (int c = 0; c < G::NT; c++) {
      bool bit[G::EACH];
      for (int u = 0; u < G::EACH; u++) bit[u] = mine[u] >> c & 1;
      W column = G::gathered(bit);
      for (int u = 0; u < G::EACH; u++)
        if (c == u * G::LANES + G::lane()) transposed[u] = column;
    }
    if (!here) continue;
    W all = transposed_map[k];
    for (int u = 0; u < G::EACH; u++)
      if (transposed[u])
        transposed_words[transposed_start[k] + bits_in(W(all & low_bits<W>(u * G::LANES + G::lane())))] = transposed[u];
    if (G::lane() == 0) {
      int64_t low = 0, high = tile_rows;      // the tile row with ptr[row] <= t < ptr[row + 1]
      while (low < high) {
        int64_t middle = low + ((high - low) >> 1);
        if (ptr[middle + 1] <= t) low = middle + 1; else high = middle;
      }
      transposed_line[k] = int32_t(low);
    }
  }
}

// live[r]: which lines of tile line r have an entry.  places: parts that are written (zeros past the lines).
template <class W>
__global__ void live_lines(const int64_t* ptr, const W* map, int64_t lines, int64_t places, W* live,
                           unsigned long long* count) {
  unsigned long long found = 0;
  GRB_EACH_WARP(r, places) {
    W all = 0;
    if (r < lines)
      for (int64_t t = ptr[r] + lane_number(); t < ptr[r + 1]; t += 32) all |= map[t];
    for (int by = 16; by; by >>= 1) all |= W(__shfl_xor_sync(ALL_LANES, word(all), by));
    if (lane_number() == 0) {
      live[r] = all;
      found += bits_in(all);
    }
  }
  if (found) atomicAdd(count, found);
}

}  // namespace grb
