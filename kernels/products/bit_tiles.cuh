// w<m> = A (+.x) x over bit tiles (TileBFS's three directions), and how kernels read bit tiles.
//
// Who includes it: traversal/bfs_tiles.cuh.  Who calls: backends/cuda/products/tiles.py.  Schema: storage/bit_tiles.py;
// W is a tile's word (uint16_t, uint32_t or word), P the type of `start`.
// bit_tile_rows    TileBFS, Algorithms 6 (Push-CSR) and 7 (Pull-CSC): a warp for each chunk of a tile row; 32 tiles
//                  are looked up together, a lane each, then every tile that x meets is tried by a lane for each of
//                  its rows.  Rows that are not wanted, or found already, are skipped, and a chunk ends when none is
//                  left (Algorithm 7's stop).
// bit_tile_columns TileBFS, Algorithm 5 (Push-CSC): a warp for each chunk of a column of tiles that x meets, a lane for
//                  each tile: the words that x's bits name are united, one atomic for each tile.
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

// counts (null: presence only; else zeros) gets how many of x's positions each row meets; total += rows that meet any.
template <class W, class P>
__global__ void __launch_bounds__(256)
bit_tile_rows(int64_t nrows, const int64_t* ptr, const int32_t* line_of, const W* maps, const P* start, const W* words,
              int64_t lines, int64_t chunk_count, const int32_t* extra, const int32_t* owner, const W* x_parts,
              const W* mask, bool masked, bool complement, W* w_parts, unsigned long long* counts,
              unsigned long long* total) {
  const TileLines<W, P> a{ptr, line_of, maps, start, words};
  const TileChunks chunks{lines, chunk_count, extra, owner};
  constexpr int NT = 8 * sizeof(W), LANES = NT < 32 ? NT : 32, EACH = NT / LANES, AT_ONCE = 32 / LANES;
  unsigned long long found = 0;
  int lane = lane_number(), mine = lane % LANES;
  GRB_EACH_WARP(k, chunks.count) {
    int64_t line, first, stop;
    chunk_range(a, chunks, k, line, first, stop);
    int64_t left = nrows - line * NT;
    W wanted = W(wanted_part(mask, masked, complement, line) & (left >= NT ? W(~W(0)) : low_bits<W>(int(left))));
    int met[EACH];
    for (int u = 0; u < EACH; u++) met[u] = 0;
    for (int64_t t0 = first; wanted && t0 < stop; t0 += 32) {
      int64_t t = t0 + lane;
      W x = t < stop ? x_parts[a.line[t]] : W(0), whole = x ? a.map[t] : W(0);
      P start = whole & wanted ? a.start[t] : P(0);
      for (unsigned live = __ballot_sync(ALL_LANES, W(whole & wanted) != 0); live;) {
        unsigned chosen = live;                              // AT_ONCE tiles: lanes 0 .. LANES-1 take the first
        for (int k = 0; k < AT_ONCE; k++) {
          if (k < lane / LANES) chosen &= chosen - 1;
          live &= live - 1;
        }
        int who = chosen ? __ffs(int(chosen)) - 1 : 0;
        W x_here = shuffle(x, who), map_here = shuffle(whole, who);
        P start_here = shuffle(start, who);
        for (int u = 0; u < EACH; u++) {
          int r = u * 32 + mine;
          if (chosen && (W(map_here & wanted) >> r & 1) && (counts != nullptr || met[u] == 0))
            met[u] += bits_in(W(a.words[start_here + bits_in(W(map_here & low_bits<W>(r)))] & x_here));
        }
      }
      if (counts == nullptr) {
        bool open = false;
        for (int u = 0; u < EACH; u++) open = open || ((wanted >> (u * 32 + mine) & 1) && met[u] == 0);
        if (!__any_sync(ALL_LANES, open)) break;
      }
    }
    if (AT_ONCE > 1)
      for (int u = 0; u < EACH; u++) met[u] += __shfl_xor_sync(ALL_LANES, met[u], LANES % 32);
    W packed = 0;
    for (int u = 0; u < EACH; u++) packed |= W(W(__ballot_sync(ALL_LANES, met[u] != 0)) << (u * LANES % NT));
    bool split = is_split(chunks, line);
    if (counts != nullptr)
      for (int u = 0; u < EACH; u++)
        if (met[u] && lane < LANES) {
          unsigned long long* place = &counts[line * NT + u * 32 + lane];
          if (split) atomicAdd(place, (unsigned long long)met[u]); else *place = met[u];
        }
    if (lane == 0 && packed) {
      W before = 0;
      if (split) before = unite(w_parts, line, packed); else w_parts[line] = packed;
      found += bits_in(W(packed & ~before));
    }
  }
  __shared__ unsigned long long sums[32];
  found = block_reduce(found, [](unsigned long long p, unsigned long long q) { return p + q; }, sums);
  if (threadIdx.x == 0 && found) atomicAdd(total, found);
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
  __shared__ unsigned long long sums[32];
  found = block_reduce(found, [](unsigned long long p, unsigned long long q) { return p + q; }, sums);
  if (threadIdx.x == 0 && found) atomicAdd(total, found);
}

}  // namespace grb
