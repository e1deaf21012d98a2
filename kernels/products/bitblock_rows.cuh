// w<m> = A (+.x) x over 8 x 8 bitmap blocks: SpMV for any semiring, type and mask.
//
// Algorithm: bitBSR of Spaden (spaden_bitmap_spmv_icpp24), 4.2 and 4.3, on ordinary cores: a map of 64 bits says which
//   entries a block has, the position of a value is a prefix popcount of the map (4.3.1). Where Spaden gives two
//   positions of a block to a lane, a lane takes a column here, because it then loads one value of x for a block and
//   keeps eight sums, one for each row, in registers.
// Phases of a warp, which has an equal share of the blocks; four groups of 8 lanes take four blocks at once:
//   start       values and block rows that begin before its share, from `value_ptr`, `begun` and up to 31 maps
//   stage       values of STAGE blocks to shared memory, as one asynchronous copy where the device has them (sm_90 on),
//               while the stage before is computed. Lanes that read scattered values of four blocks from global memory
//               touch up to 8 cache lines an instruction, which took three times as long
//   decode      bits of the lane's columns, where their values are, x at the columns
//   accumulate  S::times into the sums of the column's rows
//   close       where a block row begins, the entries of the remainder in the one before are added to its sums, which
//               are reduced over the lanes (lane c gets row c), and w is written
//   fix up      a block row that crosses shares: each share writes its part, and the one that arrives last adds all
//               parts in the order of the shares, so that sums are reproducible bit for bit
// Launch: backends/cuda/products/bitblocks.py, THREADS threads, any number of blocks; warps beyond the number of blocks
//   of the matrix are idle.
// Preconditions: the form of bitblocks.py, whose values may be read up to a multiple of 16 bytes; `arrived` is zero
//   before and after; FULL: x is full, nothing is masked, the pattern of w is known. Else w's presence words begin as
//   zeros. w of rows without entries is not defined.
#pragma once
#include "base/bits.cuh"
#include "products/bitblock_build.cuh"
#include "products/bitblock_stage.cuh"
#include "products/semiring.cuh"

namespace grb {

// The matrix as backends/cuda/products/bitblocks.py stores it; C: how the columns of blocks are encoded.
template <class C, class S> struct BitBlocks {
  const word* maps;                // bit 8 c + r: is there an entry in row r, column c of the block?
  const C* cols;                   // and whether a block row begins
  const int32_t* bases;            // of each CHUNK of blocks; null: 0
  const typename S::A* values;     // in the order of the bits
  const int64_t* value_ptr;        // values before each chunk
  const int32_t* begun;            // block rows begun before each chunk
  const int32_t* block_ptr;        // first block of each block row that holds something, and the end
  const int32_t* names;            // numbers of these block rows; null: all
  const uint32_t* rest;            // remainder: 8 * column + row of each entry; null: none
  const typename S::A* rest_values;
  const int32_t* rest_ptr;         // of each block row that holds something
  int blocks;
  int64_t nrows;
  GRB_DEVICE int name(int k) const { return names == nullptr ? k : names[k]; }
  GRB_DEVICE int column(C code, int block) const {
    return BlockCode<C>::column(code) + (bases == nullptr ? 0 : bases[block / CHUNK]);
  }
};
// The other operands; null words: all positions.
template <class S> struct BlockVectors {
  const uint8_t* x_present;        // a byte for 8 positions
  const typename S::X* x;
  const uint8_t* mask;
  bool complement;
  typename S::Z* w;
  uint8_t* w_present;
};
// Parts of block rows that cross shares: part[(2 g + k) 8 + r], k = 0: of the block row open where share g begins.
template <class S> struct CrossingRows {
  typename S::Z* parts;
  uint8_t* have;
  unsigned* arrived;
  GRB_DEVICE void put(int64_t slot, const Total<S>& total) const {
    if constexpr (!S::structure_only) parts[slot] = total.value;
    have[slot] = total.have;
  }
  GRB_DEVICE void add_to(Total<S>& total, int64_t slot) const {
    const bool there = fresh_value(have + slot) != 0;
    if constexpr (S::structure_only) total.have = total.have || there;
    else total.join(fresh_value(parts + slot), there);
  }
};

template <class T> GRB_DEVICE T shuffle_xor(const T& value, int with) {
  registers_of<T> p = to_registers(value);
  for (unsigned& part : p.part) part = __shfl_xor_sync(ALL_LANES, part, with);
  return from_registers<T>(p);
}

GRB_DEVICE unsigned kept_in_register(unsigned value) {  // else the compiler computes it anew in each step
#ifndef SIMT_CPU
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// The sums of a block row: acc[r] of row r, over the columns of this lane.
// FULL: where sums have a start, nobody asks whether there is a product.
template <class S, bool FULL> struct BlockSums {
  using Z = typename S::Z;
  static constexpr bool COUNTED = !(FULL && S::has_start);
  Z acc[8];
  unsigned have;                   // bit r: has row r a product?

  GRB_DEVICE void clear() {
    have = 0;
#pragma unroll
    for (int r = 0; r < 8; r++) {
      if constexpr (S::has_start) acc[r] = S::start();
      else acc[r] = Z();
    }
  }
  // Adds a product to row r where `wanted`: a selection, no branch, so that loads of all rows are in flight at once.
  GRB_DEVICE void take(int r, Z product, bool wanted) {
    Z sum = product;
    if constexpr (!S::any) {
      if (S::has_start || have >> r & 1) sum = S::add(acc[r], product);
    }
    acc[r] = wanted ? sum : acc[r];
  }
  // Halves the rows of each lane: lanes that differ in bit LOG of their number exchange 2^LOG rows.
  template <int COUNT> GRB_DEVICE void halve() {
    const bool upper = (lane_number() & COUNT) != 0;
    const unsigned mine = upper ? have >> COUNT : have & ((1u << COUNT) - 1);
    const unsigned sent = upper ? have & ((1u << COUNT) - 1) : have >> COUNT;
    unsigned there = 1;
    if constexpr (COUNTED) there = __shfl_xor_sync(ALL_LANES, sent, COUNT);
    if constexpr (!S::structure_only) {
#pragma unroll
      for (int r = 0; r < COUNT; r++) {
        const Z low = acc[r], high = acc[r + COUNT];  // values: a choice of references would be a choice of addresses
        Z given = low, kept = high;
        if (!upper) given = high, kept = low;
        const Z other = shuffle_xor(given, COUNT);
        if constexpr (S::has_start) acc[r] = S::add(kept, other);
        else if constexpr (S::any) acc[r] = mine >> r & 1 ? kept : other;
        else acc[r] = !(there >> r & 1) ? kept : mine >> r & 1 ? S::add(kept, other) : other;
      }
    }
    have = mine | there;
  }
  // The total of row c over the warp, in lane c of each group.  The warp calls together.
  GRB_DEVICE Total<S> reduced() const {
    BlockSums<S, FULL> rows = *this;
    rows.template halve<4>();
    rows.template halve<2>();
    rows.template halve<1>();
    Total<S> total;
    if constexpr (!S::structure_only) total.value = rows.acc[0];
    total.have = rows.have & 1;
#pragma unroll
    for (int by = 8; by < 32; by *= 2) {
      if constexpr (!COUNTED) {
        total.value = S::add(total.value, shuffle_xor(total.value, by));
        continue;
      }
      const bool there = __shfl_xor_sync(ALL_LANES, int(total.have), by) != 0;
      if constexpr (S::structure_only) {
        total.have = total.have || there;
      } else {
        const Z other = shuffle_xor(total.value, by);
        total.join(other, there);
      }
    }
    return total;
  }
};

template <class C, class S, bool FULL> struct BlockRows {
  using Z = typename S::Z;
  using A = typename S::A;
  using X = typename S::X;
  static constexpr bool loads_a = S::reads_a && !S::a_iso && !S::structure_only;
  static constexpr bool loads_x = S::reads_x && !S::x_iso && !S::structure_only;
  using Staging = BlockStaging<A, loads_a>;
  static constexpr int STAGE = Staging::STAGE, STEPS = STAGE / 4;

  const BitBlocks<C, S>& m;
  const BlockVectors<S>& v;
  const CrossingRows<S>& crossing;
  Staging& staging;
  const int lane = lane_number(), column_lane = lane & 7, group = lane >> 3;
  unsigned below_low, below_high;  // bits of a map before this lane's column
  const typename Staging::Address window;
  int64_t share, shares;
  int begin, stop, rows_begun = 0, front_row = 0;  // front_row: the block row that is open where the share begins
  int64_t next_value = 0;
  bool crosses_front = false;      // is a block row open where the share begins?
  bool in_front = false;           // is it the one that is open now?
  bool is_open = false;            // is any?
  int64_t row = 0;                 // first row of the open block row
  unsigned allowed = 0xff;         // its rows that the mask allows
  unsigned found = 0;
  BlockSums<S, FULL> sums;

  GRB_DEVICE BlockRows(const BitBlocks<C, S>& m, const BlockVectors<S>& v, const CrossingRows<S>& crossing,
                       Staging& staging)
      : m(m), v(v), crossing(crossing), staging(staging), window(staging.window()) {
    below_low = kept_in_register(column_lane < 4 ? (1u << column_lane * 8) - 1 : ~0u);
    below_high = kept_in_register(column_lane < 4 ? 0u : (1u << (column_lane - 4) * 8) - 1);
    share = warp_number(), shares = warp_count();
    if (shares > m.blocks) shares = m.blocks;
    begin = share < shares ? first_of(share) : 0, stop = share < shares ? first_of(share + 1) : 0;
  }
  GRB_DEVICE int first_of(int64_t k) const { return int(m.blocks * k / shares); }
  GRB_DEVICE int64_t share_of(int block) const { return ((int64_t(block) + 1) * shares - 1) / m.blocks; }

  // ---- start

  GRB_DEVICE void start() {
    sums.clear();
    const int b = begin / CHUNK * CHUNK + lane;
    int values = 0, rows = 0;
    if (b < begin) values = __popcll(m.maps[b]), rows = BlockCode<C>::begins(m.cols[b]);
    next_value = m.value_ptr[begin / CHUNK] + warp_sum_everywhere(values);
    rows_begun = m.begun[begin / CHUNK] + int(warp_sum_everywhere(rows));
    crosses_front = in_front = is_open = !BlockCode<C>::begins(m.cols[begin]);
    front_row = rows_begun - 1;
    if (in_front) open_row();
  }
  GRB_DEVICE void open_row() {
    const int name = m.name(rows_begun - 1);
    row = int64_t(name) * 8;
    if constexpr (!FULL) {
      if (v.mask != nullptr) allowed = v.complement ? ~unsigned(v.mask[name]) & 0xff : v.mask[name];
    }
  }

  // ---- stage

  // Lane k has block k of a stage.
  struct Loaded {
    word map = 0;
    int column = 0;
    bool begins = false;
  };
  GRB_DEVICE Loaded load(int first) const {
    Loaded block;
    const int b = first + lane;
    if (lane < STAGE && b < stop) {
      const C code = m.cols[b];
      block.map = m.maps[b], block.column = m.column(code, b), block.begins = BlockCode<C>::begins(code);
    }
    return block;
  }
  // Begins to copy the values of a stage; returns where those of this lane's block will be in the buffer.
  GRB_DEVICE int copy(const Loaded& block, int buffer) {
    if constexpr (!loads_a) return 0;
    const int count = __popcll(block.map), upto = warp_inclusive_sum(count);
    const int total = __shfl_sync(ALL_LANES, upto, 31);
    const int skew = staging.copy(buffer, m.values, next_value, total);
    next_value += total;
    return skew + upto - count;
  }

  // ---- decode and accumulate

  // This lane's column of a block.
  struct Decoded {
    unsigned entries;              // rows that have an entry
    unsigned wanted;               // and whose column x has
    int at;                        // where the column's first value is in the buffer
    int column;
    X x;
  };
  GRB_DEVICE void decode(int step, Decoded& d) const {
    const StagedBlock block = Staging::block_at(window, 4 * step + group);
    d.column = block.column * 8 + column_lane;
    d.entries = d.wanted = byte_of(block.map, column_lane);
    d.at = block.first + __popc(unsigned(block.map) & below_low) + __popc(unsigned(block.map >> 32) & below_high);
    if constexpr (!FULL) {
      if (d.entries && v.x_present != nullptr && !(v.x_present[block.column] >> column_lane & 1)) d.wanted = 0;
    }
    d.x = X();
    if constexpr (loads_x) {
      if (d.wanted) d.x = read_only(v.x + d.column);
    }
  }
  GRB_DEVICE Z product(A a, X x, int r, int column) const {
    if constexpr (S::reads_a && S::a_iso) a = m.values[0];
    if constexpr (S::reads_x && S::x_iso) x = v.x[0];
    return S::times(a, x, row + r, column, 0);
  }
  GRB_DEVICE void accumulate(const Decoded& d, unsigned wanted, int buffer) {
    if constexpr (!FULL) {
      wanted &= allowed;
      if (!__any_sync(ALL_LANES, wanted != 0)) return;
    }
    if constexpr (!S::structure_only) {
      A a[8];
      if constexpr (loads_a) {     // of the next entry, where the row has none
        auto from = Staging::value_at(window, buffer, d.at);
#pragma unroll
        for (int r = 0; r < 8; r++) {
          a[r] = Staging::template load<A>(from);
          if (d.entries >> r & 1) from += Staging::ITEM;
        }
      }
#pragma unroll
      for (int r = 0; r < 8; r++) {
        if constexpr (!loads_a) a[r] = A();
        sums.take(r, product(a[r], d.x, r, d.column), wanted >> r & 1);
      }
    }
    sums.have |= wanted;
  }
  // Entries of the remainder in the open block row.
  GRB_DEVICE void add_rest() {
    const int k = rows_begun - 1;
#pragma unroll 1
    for (int e = m.rest_ptr[k] + lane; e < m.rest_ptr[k + 1]; e += 32) {
      const unsigned code = m.rest[e], r = code & 7;
      const int column = int(code >> 3);
      if constexpr (!FULL) {
        if (!(allowed >> r & 1)) continue;
        if (v.x_present != nullptr && !(v.x_present[column >> 3] >> (column & 7) & 1)) continue;
      }
      if constexpr (!S::structure_only) {
        A a = A();
        X x = X();
        if constexpr (loads_a) a = stream(m.rest_values + e);
        if constexpr (loads_x) x = read_only(v.x + column);
        const Z p = product(a, x, int(r), column);
#pragma unroll
        for (int u = 0; u < 8; u++) sums.take(u, p, u == int(r));
      }
      sums.have |= 1u << r;
    }
  }

  // ---- close

  // Writes the rows of a block row.  The warp calls together.
  GRB_DEVICE void write(int64_t first, const Total<S>& total) {
    const int64_t i = first + column_lane;
    bool writes = group == 0 && i < m.nrows;
    if constexpr (FULL) {
      if (writes) v.w[i] = total.value;
    } else {
      writes = writes && total.have;
      if constexpr (!S::structure_only) {
        if (writes) v.w[i] = total.value;
      }
      const unsigned present = __ballot_sync(ALL_LANES, writes);
      if (present && lane == 0) v.w_present[first >> 3] = uint8_t(present), found += __popc(present);
    }
  }
  GRB_DEVICE void put(int64_t slot, const Total<S>& total) const {
    if (group == 0) crossing.put(slot + column_lane, total);
  }
  // The open block row ends before a block of this share.
  GRB_DEVICE void close() {
    if (!in_front && m.rest != nullptr) add_rest();
    const Total<S> total = sums.reduced();
    if (in_front) put(share * 16, total);
    else write(row, total);
  }
  GRB_DEVICE void begin_row() {
    if (is_open) close();
    rows_begun++;
    is_open = true, in_front = false;
    open_row();
    sums.clear();
  }

  GRB_DEVICE void run() {
    Loaded here = load(begin), next = load(begin + STAGE);
    int first = copy(here, 0);
    for (int b = begin, stage = 0; b < stop; b += STAGE, stage++) {
      const int buffer = stage & 1;
      if (lane < STAGE) staging.blocks[lane] = StagedBlock{here.map, here.column, first};
      const unsigned begins = __ballot_sync(ALL_LANES, here.begins);
      if (b + STAGE < stop) first = copy(next, buffer ^ 1);
      here = next;
      next = load(b + 2 * STAGE);
      __syncwarp();
      Decoded d;
      decode(0, d);
      if constexpr (loads_a) staging.wait(buffer, stage >> 1 & 1);
#pragma unroll 1
      for (int step = 0; step < STEPS; step++) {
        Decoded ahead;
        decode(step + 1, ahead);
        unsigned starts = begins >> (4 * step) & 15;
        if (starts == 0) accumulate(d, d.wanted, buffer);
        else accumulate_rows(d, starts, buffer);
        d = ahead;
      }
      __syncwarp();
    }
  }
  // Four blocks of several block rows, which begin with the blocks of `starts`: one row after the other.
  GRB_DEVICE void accumulate_rows(const Decoded& d, unsigned starts, int buffer) {
#pragma unroll 1
    for (int from = 0;;) {
      const int upto = starts ? __ffs(int(starts)) - 1 : 4;
      if (upto > from) accumulate(d, group >= from && group < upto ? d.wanted : 0, buffer);
      if (starts == 0) return;
      begin_row();
      starts &= starts - 1;
      from = upto;
    }
  }

  // ---- fix up

  GRB_DEVICE void finish() {
    const bool crosses_end = stop < m.blocks && !BlockCode<C>::begins(m.cols[stop]);
    if (!in_front && m.rest != nullptr) add_rest();
    const Total<S> total = sums.reduced();
    if (in_front) put(share * 16, total);
    else if (crosses_end) put(share * 16 + 8, total);
    else write(row, total);
    __threadfence();
    __syncwarp();
    if (crosses_front) arrive(front_row);
    if (crosses_end && !in_front) arrive(rows_begun - 1);
  }
  // This share's part of block row k is written: the last share that arrives adds them all.
  GRB_DEVICE void arrive(int k) {
    const int64_t first = share_of(m.block_ptr[k]), last = share_of(m.block_ptr[k + 1] - 1);
    bool joins = false;
    if (lane == 0) {
      joins = int64_t(atomicAdd(crossing.arrived + first, 1u)) == last - first;
      if (joins) crossing.arrived[first] = 0;
      __threadfence();
    }
    if (__shfl_sync(ALL_LANES, int(joins), 0) == 0) return;
    Total<S> total;
    crossing.add_to(total, first * 16 + 8 + column_lane);
#pragma unroll 1
    for (int64_t g = first + 1; g <= last; g++) crossing.add_to(total, g * 16 + column_lane);
    write(int64_t(m.name(k)) * 8, total);
  }
};

template <class S, class C, bool FULL, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
bit_block_rows(const word* __restrict__ maps, const C* __restrict__ cols, const int32_t* __restrict__ bases,
               const typename S::A* __restrict__ values, const int64_t* __restrict__ value_ptr,
               const int32_t* __restrict__ begun, const int32_t* __restrict__ block_ptr,
               const int32_t* __restrict__ names, const uint32_t* __restrict__ rest,
               const typename S::A* __restrict__ rest_values, const int32_t* __restrict__ rest_ptr, int64_t blocks,
               int64_t nrows, const uint8_t* __restrict__ x_present, const typename S::X* __restrict__ x,
               const uint8_t* __restrict__ mask, bool complement, typename S::Z* __restrict__ w, uint8_t* w_present,
               unsigned long long* count, typename S::Z* parts, uint8_t* have, unsigned* arrived) {
  using Rows = BlockRows<C, S, FULL>;
  __shared__ typename Rows::Staging staging[THREADS / 32];
  const BitBlocks<C, S> m{maps, cols, bases, values, value_ptr, begun, block_ptr, names, rest, rest_values, rest_ptr,
                          int(blocks), nrows};
  const BlockVectors<S> v{x_present, x, mask, complement, w, w_present};
  const CrossingRows<S> crossing{parts, have, arrived};
  Rows rows(m, v, crossing, staging[threadIdx.x >> 5]);
  if (rows.begin == rows.stop) return;             // the whole warp
  rows.staging.open();
  rows.start();
  rows.run();
  rows.finish();
  if constexpr (!FULL) {
    if (lane_number() == 0 && rows.found) atomicAdd(count, (unsigned long long)rows.found);
  }
}

}  // namespace grb
