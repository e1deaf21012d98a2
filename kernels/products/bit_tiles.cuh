// w<m> = A (+.x) x over bit tiles by TileBFS's three methods, for products that read no values; access to bit tiles.
//
// Who includes it: graph/bfs_tiles.cuh.  Launch: backends/cuda/products/tiles.py.  Schema: storage/bit_tiles.py;
// W is a tile's word (uint16_t, uint32_t or word), P the type of `start`.
// bit_tile_columns TileBFS, Algorithm 5 (Push-CSC): a warp for each chunk of a column of tiles that x meets, a lane for
//                  each tile: the OR of the tile's words at x's bits, one atomic for each tile.
// bit_tile_rows    Algorithm 6 (Push-CSR): a warp for each chunk of a tile row, a lane for each tile: where x meets the
//                  tile's columns, the lane tries the words of its wanted rows, one after the other.
// bit_tile_pull    Algorithm 7 (Pull-CSC): a warp for each chunk of a tile row, one wanted row after the other: a lane
//                  for each tile tries the row's word, and a hit ends the row for the warp.  The rows of A are the
//                  columns of A', which the paper's CSC stores.
// Long lines of tiles are split: chunk k < lines is the first TILES_OF_CHUNK tiles of line k, the others follow in
//   order of lines, those of line r from lines + extra[r] on (section 3.4: "splitting long row tiles"; extra is null
//   when no line is that long).
// Invariant: presence words of x and of masks are as in base/bits.cuh, read in parts of a tile's width; w's
//   parts start as zeros.
// Paper: tilespmspv_tilebfs_icpp22, 3.2.3 and 3.4.
#pragma once
#include "base/bits.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int TILES_OF_CHUNK = 32;   // tiles, as in backends/cuda/products/tiles.py

GRB_DEVICE int bits_in(uint8_t w) { return __popc(unsigned(w)); }
GRB_DEVICE int bits_in(uint16_t w) { return __popc(unsigned(w)); }
GRB_DEVICE int bits_in(uint32_t w) { return __popc(w); }
GRB_DEVICE int bits_in(word w) { return __popcll(w); }
GRB_DEVICE int lowest_in(uint16_t w) { return __ffs(int(w)) - 1; }
GRB_DEVICE int lowest_in(uint32_t w) { return __ffs(int(w)) - 1; }
GRB_DEVICE int lowest_in(word w) { return __ffsll((long long)w) - 1; }
template <class W> GRB_DEVICE W low_bits(int count) {  // count < the word's width
  return W((W(1) << count) - 1);
}
// parts[i] |= bits, atomically; returns what was there.
GRB_DEVICE uint16_t unite(uint16_t* parts, int64_t i, uint16_t bits) {
  int shift = int(i & 1) * 16;
  return uint16_t(atomicOr(reinterpret_cast<unsigned*>(parts) + (i >> 1), unsigned(bits) << shift) >> shift);
}
GRB_DEVICE uint32_t unite(uint32_t* parts, int64_t i, uint32_t bits) { return atomicOr(&parts[i], bits); }
GRB_DEVICE word unite(word* parts, int64_t i, word bits) { return atomicOr(&parts[i], bits); }

template <class W, class P> struct TileLines {
  const int64_t* ptr;
  const int32_t* line;
  const W* map;
  const P* start;
  const W* words;
};
// The lines of tiles in chunks (see above).
struct TileChunks {
  int64_t lines, count;
  const int32_t *extra, *owner;
};
template <class W, class P>
GRB_DEVICE void chunk_range(const TileLines<W, P>& a, const TileChunks& p, int64_t k, int64_t& line, int64_t& first,
                            int64_t& stop) {
  line = k < p.lines ? k : int64_t(p.owner[k - p.lines]);
  first = a.ptr[line] + (k < p.lines ? 0 : (k - p.lines - p.extra[line] + 1) * TILES_OF_CHUNK);
  stop = a.ptr[line + 1];
  if (stop - first > TILES_OF_CHUNK) stop = first + TILES_OF_CHUNK;
}
GRB_DEVICE bool is_split(const TileChunks& p, int64_t line) {
  return p.extra != nullptr && p.extra[line + 1] > p.extra[line];
}

template <class W> GRB_DEVICE W wanted_part(const W* mask, bool masked, bool complement, int64_t i) {
  if (!masked) return W(~W(0));
  W m = mask == nullptr ? W(~W(0)) : mask[i];
  return complement ? W(~m) : m;
}

// A chunk of at most TILES_OF_CHUNK tiles in both row-wise kernels, a lane each.
template <class W, class P> struct TileOfLane {
  W x = 0, rows = 0, map = 0;        // x at the tile's columns; rows that are wanted and non-empty; all non-empty ones
  const W* words = nullptr;
  GRB_DEVICE TileOfLane(const TileLines<W, P>& a, int64_t t, bool there, const W* x_parts, W wanted) {
    if (there) x = x_parts[a.line[t]];
    if (x) map = a.map[t], rows = W(map & wanted);
    if (rows) words = a.words + a.start[t];
  }
  // x's positions that row r meets; r is a non-empty row.
  GRB_DEVICE W met(int r) const { return W(words[bits_in(W(map & low_bits<W>(r)))] & x); }
};
template <class W>
GRB_DEVICE W wanted_rows(const W* mask, bool masked, bool complement, int64_t line, int64_t nrows) {
  constexpr int NT = 8 * sizeof(W);
  const int64_t left = nrows - line * NT;
  return W(wanted_part(mask, masked, complement, line) & (left >= NT ? W(~W(0)) : low_bits<W>(int(left))));
}
// Rows `hit` of a line, by lane 0; returns how many were not there.
template <class W> GRB_DEVICE int put_rows(const TileChunks& chunks, int64_t line, W hit, W* w_parts) {
  W before = 0;
  if (is_split(chunks, line)) before = unite(w_parts, line, hit);
  else w_parts[line] = hit;
  return bits_in(W(hit & ~before));
}
template <class W> GRB_DEVICE W united_lanes(W bits) {
  if constexpr (sizeof(W) == 8)
    return W(warp_or(unsigned(bits))) | W(warp_or(unsigned(bits >> 32))) << 32;
  else
    return W(warp_or(unsigned(bits)));
}

// counts (null: presence only; else zeros) gets how many of x's positions each row meets; total += rows that meet any.
template <class W, class P>
__global__ void __launch_bounds__(256)
bit_tile_rows(int64_t nrows, const int64_t* ptr, const int32_t* line_of, const W* maps, const P* start, const W* words,
              int64_t lines, int64_t chunk_count, const int32_t* extra, const int32_t* owner, const W* x_parts,
              const W* mask, bool masked, bool complement, W* w_parts, unsigned long long* counts,
              unsigned long long* total) {
  const TileLines<W, P> a{ptr, line_of, maps, start, words};
  const TileChunks chunks{lines, chunk_count, extra, owner};
  unsigned long long found = 0;
  GRB_EACH_WARP(k, chunks.count) {
    int64_t line, first, stop;
    chunk_range(a, chunks, k, line, first, stop);
    const int64_t t = first + lane_number();
    const TileOfLane<W, P> tile(a, t, t < stop, x_parts, wanted_rows(mask, masked, complement, line, nrows));
    W hit = 0;
    for (W rest = tile.rows; rest; rest &= W(rest - 1)) {
      const int r = lowest_in(rest);
      const W met = tile.met(r);
      if (!met) continue;
      hit |= W(W(1) << r);
      if (counts != nullptr) atomicAdd(&counts[line * (8 * int(sizeof(W))) + r], (unsigned long long)bits_in(met));
    }
    hit = united_lanes(hit);
    if (lane_number() == 0 && hit) found += put_rows(chunks, line, hit, w_parts);
  }
  add_to_count(found, total);
}
template <class W, class P>
__global__ void __launch_bounds__(256)
bit_tile_pull(int64_t nrows, const int64_t* ptr, const int32_t* line_of, const W* maps, const P* start, const W* words,
              int64_t lines, int64_t chunk_count, const int32_t* extra, const int32_t* owner, const W* x_parts,
              const W* mask, bool masked, bool complement, W* w_parts, unsigned long long* counts,
              unsigned long long* total) {
  const TileLines<W, P> a{ptr, line_of, maps, start, words};
  const TileChunks chunks{lines, chunk_count, extra, owner};
  unsigned long long found = 0;
  GRB_EACH_WARP(k, chunks.count) {
    int64_t line, first, stop;
    chunk_range(a, chunks, k, line, first, stop);
    const int64_t t = first + lane_number();
    const W wanted = wanted_rows(mask, masked, complement, line, nrows);
    const TileOfLane<W, P> tile(a, t, t < stop, x_parts, wanted);
    W hit = 0;
    for (W rest = wanted; rest; rest &= W(rest - 1)) {
      const int r = lowest_in(rest);
      const W met = tile.rows >> r & 1 ? tile.met(r) : W(0);
      if (!__any_sync(ALL_LANES, met != 0)) continue;
      hit |= W(W(1) << r);
      if (counts != nullptr) {
        const unsigned sum = warp_sum_everywhere(unsigned(bits_in(met)));
        if (lane_number() == 0)
          atomicAdd(&counts[line * (8 * int(sizeof(W))) + r], (unsigned long long)sum);
      }
    }
    if (lane_number() == 0 && hit) found += put_rows(chunks, line, hit, w_parts);
  }
  add_to_count(found, total);
}

// a: the tiles by columns.
template <class W, class P>
__global__ void __launch_bounds__(256)
bit_tile_columns(const int64_t* ptr, const int32_t* line_of, const W* maps, const P* start, const W* words,
                 int64_t lines, int64_t chunk_count, const int32_t* extra, const int32_t* owner, const W* x_parts,
                 const W* mask, bool masked, bool complement, W* w_parts, unsigned long long* total) {
  const TileLines<W, P> a{ptr, line_of, maps, start, words};
  const TileChunks chunks{lines, chunk_count, extra, owner};
  unsigned long long found = 0;
  GRB_EACH_WARP(k, chunks.count) {
    W x = x_parts[k < chunks.lines ? k : int64_t(chunks.owner[k - chunks.lines])];
    if (x == 0) continue;
    int64_t line, first, stop;
    chunk_range(a, chunks, k, line, first, stop);
    for (int64_t t = first + lane_number(); t < stop; t += 32) {
      W map = a.map[t], rest = W(map & x), united = 0;
      if (!rest) continue;
      int64_t to = a.line[t];
      W wanted = wanted_part(mask, masked, complement, to);
      for (const W* own = words + start[t]; wanted && rest; rest &= W(rest - 1))
        united |= own[bits_in(W(map & low_bits<W>(lowest_in(rest))))];
      united &= wanted;
      if (united) found += bits_in(W(united & ~unite(w_parts, to, united)));
    }
  }
  add_to_count(found, total);
}

}  // namespace grb
