// One CSR matrix of a grid of tiles, and the tiles of a matrix cut into a grid.
//
// A row's entries are those of the tiles in it, from left to right, so that an entry's place in its row gives its tile
// and its place there, by the lengths of the row in each tile; nothing is sorted.
// Caller: backends/cuda/structure/grid.py.  Values are moved as unsigned integers of their size.
// Phases: joined_starts    row pointers of the whole: entries before row i, summed over all tiles
//         joined_entries   columns and values from the tiles
//         tile_starts      entries before each row of each tile, one tile after the other
//         tile_entries     row pointers of the tiles, columns and values to them
// Tiles are in the order of rows of tiles, in each from left to right.  Arguments are structs of fields of 8 bytes.
// Launch: one thread for each row; entries: a grid-stride loop over warps; tile_starts: as write_sums.
#pragma once
#include "base/views.cuh"
#include "structure/gather.cuh"
#include "structure/prefix_sums.cuh"

namespace grb {

constexpr int MOST_TILES = 16;  // of a launch

// The tile that has the entry at `offset` of the whole's row; at: the entry's number in it.
template <class Tile>
GRB_DEVICE int tile_of(const Tile* tiles, int count, int64_t row, int64_t offset, int64_t& at) {
  int t = 0;
  for (; t < count; t++) {
    const int64_t i = row - tiles[t].top;
    if (i < 0 || i >= tiles[t].height) continue;
    const int64_t* starts = tiles[t].starts;
    const int64_t start = starts[i], length = starts[i + 1] - start;
    at = start - starts[0] + offset;
    if (offset < length) break;
    offset -= length;
  }
  return t;
}

GRB_DEVICE int64_t column_at(const void* columns, bool wide, int64_t k) {
  return wide ? static_cast<const int64_t*>(columns)[k] : static_cast<const int32_t*>(columns)[k];
}

// ---- a whole of tiles

struct JoinedStarts {
  struct Tile {
    int64_t top, height, stored;  // stored: rows with pointers
    const int64_t *indptr, *rows;  // rows null: CSR
    int64_t* starts;               // null for CSR: its height + 1 pointers of all rows are written
  };
  int64_t count, nrows;
  int64_t* out;
  Tile tiles[MOST_TILES];
};

template <class = void> __global__ void joined_starts(JoinedStarts o) {
  GRB_EACH(row, o.nrows + 1) {
    int64_t before = 0;
    for (int t = 0; t < int(o.count); t++) {
      const JoinedStarts::Tile& tile = o.tiles[t];
      const int64_t i = row - tile.top, inside = min(max(i, int64_t(0)), tile.height);
      const int64_t r = tile.rows == nullptr ? inside : lower_bound(tile.rows, int64_t(0), tile.stored, inside);
      const int64_t found = tile.indptr[r];
      if (tile.starts != nullptr && i == inside) tile.starts[i] = found;
      before += found;
    }
    o.out[row] = before;
  }
}

template <class T> struct JoinedEntries {
  struct Tile {
    int64_t top, height, left;
    const int64_t* starts;
    const void* columns;
    int64_t wide;  // INT64 columns, not INT32
    const T* values;
    int64_t iso;
  };
  int64_t count, nrows, total;
  const int64_t* ends;  // row pointers of the whole, from the second on
  void* columns;
  int64_t wide;
  T* values;  // null: one for all
  Tile tiles[MOST_TILES];
};

template <class T> __global__ void joined_entries(JoinedEntries<T> o) {
  for_each_in_segments(o.ends, o.nrows, o.total, [&](int64_t k, int64_t row, int64_t offset) {
    int64_t at = 0;
    const int t = tile_of(o.tiles, int(o.count), row, offset, at);
    const int64_t column = column_at(o.tiles[t].columns, o.tiles[t].wide, at) + o.tiles[t].left;
    if (o.wide) static_cast<int64_t*>(o.columns)[k] = column;
    else static_cast<int32_t*>(o.columns)[k] = int32_t(column);
    if (o.values != nullptr) o.values[k] = o.tiles[t].values[o.tiles[t].iso ? 0 : at];
  });
}

// ---- tiles of a whole

struct TileStarts {
  struct Tile {
    int64_t top, height, left, width;
  };
  int64_t count, n;  // n: the heights of all tiles
  const int64_t *indptr, *rows;
  int64_t stored;
  const void* columns;
  int64_t wide;
  int64_t* out;  // n + 1: out[k] = entries of the tiles before item k, a row of a tile
  word *states, *finished, *sent;
  Tile tiles[MOST_TILES];
};

GRB_DEVICE int64_t columns_before(const void* columns, bool wide, int64_t start, int64_t stop, int64_t column) {
  return wide ? lower_bound(static_cast<const int64_t*>(columns), start, stop, column)
              : lower_bound(static_cast<const int32_t*>(columns), start, stop, column);
}

template <class = void> __global__ void __launch_bounds__(256) tile_starts(TileStarts o) {
  if (thread_number() == 0) o.out[0] = 0;
  const auto length = [&](int64_t k) {
    int t = 0;
    for (; k >= o.tiles[t].height; t++) k -= o.tiles[t].height;
    int64_t start, stop;
    row_range(o.indptr, o.rows, o.stored, o.tiles[t].top + k, start, stop);
    const int64_t first = columns_before(o.columns, o.wide, start, stop, o.tiles[t].left);
    return columns_before(o.columns, o.wide, first, stop, o.tiles[t].left + o.tiles[t].width) - first;
  };
  write_sums_of<true>(length, o.n, o.out + 1, o.states, o.finished, o.sent);
}

template <class T> struct TileEntries {
  struct Tile {
    int64_t top, height, left;
    const int64_t* starts;  // where the tile's begin in what tile_starts wrote
    int64_t* indptr;
    void* columns;
    int64_t wide;
    T* values;  // null: one for all
  };
  int64_t count, stored, total;
  const int64_t *ends, *rows;  // of the whole
  const void* columns;
  int64_t wide;
  const T* values;
  Tile tiles[MOST_TILES];
};

template <class T> __global__ void tile_entries(TileEntries<T> o) {
  for (int t = 0; t < int(o.count); t++)
    GRB_EACH(i, o.tiles[t].height + 1) o.tiles[t].indptr[i] = o.tiles[t].starts[i] - o.tiles[t].starts[0];
  for_each_in_segments(o.ends, o.stored, o.total, [&](int64_t k, int64_t s, int64_t offset) {
    int64_t at = 0;
    const int t = tile_of(o.tiles, int(o.count), o.rows == nullptr ? s : o.rows[s], offset, at);
    const int64_t column = column_at(o.columns, o.wide, k) - o.tiles[t].left;
    if (o.tiles[t].wide) static_cast<int64_t*>(o.tiles[t].columns)[at] = column;
    else static_cast<int32_t*>(o.tiles[t].columns)[at] = int32_t(column);
    if (o.tiles[t].values != nullptr) o.tiles[t].values[at] = o.values[k];
  });
}

}  // namespace grb
