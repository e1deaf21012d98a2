// w<m> = A (+.x) x over 8 x 8 bitmap blocks: SpMV for any semiring, type and mask.
//
// Algorithm: bitBSR of Spaden (spaden_bitmap_spmv_icpp24), 4.2 and 4.3, on ordinary cores: a map of 64 bits says which
//   entries a block has, the position of a value is a prefix popcount of the map, and a lane has two positions of each
//   block (4.3.1): rows 2 (l & 3) and the next of column l / 4, so that it loads one value of x and keeps two sums.
// Phases of a warp, which has an equal share of the chunks of CHUNK blocks, in stages of STAGE blocks:
//   start       the values and block rows before its share, and the shares of the block rows that cross its two ends
//   stage       before a stage is computed, asynchronous copies to shared memory (bitblock_stage.cuh) begin: values and
//               x of the next stage, maps and codes of the one after it; the maps of the next are written with the
//               addresses of their values.  Loads to registers do not overlap with the computation, because a warp has
//               six scoreboards and waits for them at the first branch
//   decode      bits and values of the lane's two positions, in four blocks at once
//   accumulate  S::times into the sums of the two rows, predicated
//   close       at the end of a block row its entries in the remainder are added, the sums are reduced over the lanes,
//               and w is written
//   fix up      a block row that crosses shares: each share writes its part, and the one that arrives last adds all
//               parts in the order of the shares, so that sums are reproducible bit for bit
// Bound: the latencies of shared memory and of popcounts, with 4 to 5 warps a scheduler: 22 instructions a block, 13 of
//   them to decode and to accumulate, 60 % of the issue slots and 75 % of L1's wavefronts (Nsight Compute, fem 70).
// Launch: backends/cuda/products/bitblocks.py, THREADS threads, any number of blocks; warps beyond the number of chunks
//   are idle.  Dynamic shared memory: a window for each warp.
// Preconditions: the form of bitblocks.py, whose values may be read up to a multiple of 16 bytes; `arrived` is zero
//   before and after; FULL: x is full, nothing is masked, the pattern of w is known. Else w's presence words begin as
//   zeros. w of rows without entries is not defined.
#pragma once
#include "base/bits.cuh"
#include "base/rounded.cuh"
#include "products/bitblock_build.cuh"
#include "products/bitblock_stage.cuh"
#include "products/bitblock_sums.cuh"

namespace grb {

template <class A, int FORM> using stored_t = choose<(FORM == AS_STORED), A, rounded_t<FORM>>;

// The matrix as backends/cuda/products/bitblocks.py stores it; C: how the columns of blocks are encoded; V: the values.
template <class C, class S, class V> struct BitBlocks {
  const word* maps;                // bit 8 c + r: is there an entry in row r, column c of the block?
  const C* cols;                   // and whether a block row begins
  const int32_t* bases;            // of each CHUNK of blocks, where codes have 16 bits
  const V* values;                 // in the order of the bits
  const int64_t* value_ptr;        // values before each chunk
  const int32_t* begun;            // block rows begun before each chunk
  const int32_t* block_ptr;        // first block of each block row with entries, and the end
  const int32_t* names;            // numbers of these block rows; null: all
  const uint32_t* rest;            // remainder: 8 * column + row of each entry
  const typename S::A* rest_values;
  const int32_t* rest_ptr;         // of each block row with entries
  int blocks, rest_rows, nrows, ncols;  // rest_rows: block rows, 0 without a remainder
  GRB_DEVICE int name(int k) const { return names == nullptr ? k : names[k]; }
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
GRB_DEVICE unsigned kept_in_register(unsigned value) {  // else the compiler computes it again in each step
#ifndef SIMT_CPU
  asm volatile("" : "+r"(value));
#endif
  return value;
}
template <class A, int FORM> GRB_DEVICE A widened(const stored_t<A, FORM>& value) {
  if constexpr (FORM == AS_STORED) return value;
  else return value_of<FORM>(value);
}

template <class C, class S, int FORM, bool FULL, bool REST, int STAGE> struct BlockRows {
  using Z = typename S::Z;
  using A = typename S::A;
  using X = typename S::X;
  using V = stored_t<A, FORM>;
  static constexpr bool loads_a = S::reads_a && !S::a_iso && !S::structure_only;
  static constexpr bool loads_x = S::reads_x && !S::x_iso && !S::structure_only;
  static constexpr int QUADS = STAGE / 4, ITEM = int(sizeof(V)), HALF = int(sizeof(HalfBlock));
  using Staging = BlockStaging<V, X, STAGE>;

  const BitBlocks<C, S, V>& m;
  const BlockVectors<S>& v;
  const CrossingRows<S>& crossing;
  const Staging staging;
  const int lane = lane_number(), first_row = 2 * (lane & 3), total_row = first_row + (lane >> 2 & 1);
  unsigned low_bit, high_bit, below;  // this lane's two bits of half a map, and those before them
  A one_a = A();                   // iso values
  X one_x = X();
  int share, shares, each, longer;  // a share has `each` chunks of blocks, the first `longer` shares one more
  int begin, stop, rows_begun = 0;
  const V* next_values = nullptr;  // of the next stage
  bool crosses_front = false, crosses_end = false;  // is a block row open where the share begins, where it ends?
  bool in_front = true;            // has none begun in this share?
  int crossing_row = 0;            // lane 0: the one that is open where the share begins, lane 1: where it ends
  int crossing_from = 0, crossing_to = 0;  // shares that it begins and ends in
  int open_name = 0;               // of the open block row; loaded, so nothing is computed from it before it is used
  unsigned allowed = 0xff;         // its rows that the mask admits
  unsigned found = 0;
  BlockSums<S, FULL> sums;
  // Remainder of a block row: entries from .. to - 1, and of the first eight that of four lanes.
  struct Rest {
    int from = 0, to = 0;
    unsigned code = 0;
    A value = A();
  };
  Rest rest, upcoming;             // of the open block row; of the next one, loaded while this one is open
  X rest_x = X();
  int rest_ahead = 0;              // where that of the one after ends

  GRB_DEVICE BlockRows(const BitBlocks<C, S, V>& m, const BlockVectors<S>& v, const CrossingRows<S>& crossing,
                       const Staging& staging)
      : m(m), v(v), crossing(crossing), staging(staging) {
    low_bit = kept_in_register(1u << 2 * (lane & 15));
    high_bit = kept_in_register(2u << 2 * (lane & 15));
    below = kept_in_register((1u << 2 * (lane & 15)) - 1);
    const int chunks = (m.blocks + CHUNK - 1) / CHUNK;
    share = int(warp_number()), shares = int(warp_count());
    if (shares > chunks) shares = chunks;
    each = chunks / shares, longer = chunks % shares;
    begin = share < shares ? first_of(share) : 0, stop = share < shares ? first_of(share + 1) : 0;
  }
  GRB_DEVICE int first_of(int k) const {
    const int chunk = each * k + (k < longer ? k : longer);
    return chunk <= (m.blocks - 1) / CHUNK ? chunk * CHUNK : m.blocks;
  }
  GRB_DEVICE int share_of(int block) const {
    const int chunk = block / CHUNK, in_longer = longer * (each + 1);
    return chunk < in_longer ? chunk / (each + 1) : longer + (chunk - in_longer) / each;
  }

  // ---- start

  GRB_DEVICE void start() {
    sums.clear();
    if constexpr (S::reads_a && S::a_iso) one_a = widened<A, FORM>(m.values[0]);
    if constexpr (S::reads_x && S::x_iso) one_x = v.x[0];
    const bool is_last = stop == m.blocks;
    const C first = m.cols[begin], behind = m.cols[is_last ? begin : stop];
    const int rows_at_end = m.begun[is_last ? 0 : stop / CHUNK];
    rows_begun = m.begun[begin / CHUNK];
    next_values = m.values + m.value_ptr[begin / CHUNK];
    crosses_front = !BlockCode<C>::begins(first);
    crosses_end = !is_last && !BlockCode<C>::begins(behind);
    if (lane == 0 ? crosses_front : lane == 1 && crosses_end) {
      crossing_row = (lane == 0 ? rows_begun : rows_at_end) - 1;
      crossing_from = share_of(m.block_ptr[crossing_row]), crossing_to = share_of(m.block_ptr[crossing_row + 1] - 1);
    }
    if constexpr (REST) {
      upcoming.from = rest_ptr(rows_begun), upcoming.to = rest_ptr(rows_begun + 1);
      rest_ahead = rest_ptr(rows_begun + 2);
      load_rest(upcoming, upcoming.from + (lane >> 2));
    }
    if (crosses_front) open_row();
  }
  GRB_DEVICE int rest_ptr(int k) const { return m.rest_ptr[k < m.rest_rows ? k : m.rest_rows]; }
  GRB_DEVICE void open_row() {
    open_name = m.name(rows_begun - 1);
    if constexpr (!FULL) {
      if (v.mask != nullptr) allowed = v.complement ? ~unsigned(v.mask[open_name]) & 0xff : v.mask[open_name];
    }
  }

  // ---- stage

  // Begins to copy the maps and codes of a stage.
  GRB_DEVICE void fetch(int first) const {
    constexpr int TOGETHER = 4 / int(sizeof(C));  // codes of 4 bytes; there is one after the last
    const int b = first + lane, code = first + lane * TOGETHER;
    if (lane < STAGE && b < stop) copy_to(staging, staging.map_at(lane), m.maps + b);
    if (lane < STAGE / TOGETHER && code < stop)
      copy_to(staging, staging.code_at(lane * 4), reinterpret_cast<const uint32_t*>(m.cols + code));
    if (sizeof(C) == 2 && lane == 0 && first < stop) copy_to(staging, staging.base_at(), m.bases + first / CHUNK);
  }
  struct Fetched {                 // of block k, in lane k
    word map = 0;
    int column = 0;                // the first
    bool begins = false;           // does a block row begin?
  };
  GRB_DEVICE Fetched fetched(int first) const {
    Fetched block;
    if (lane < STAGE && first + lane < stop) {
      const C code = staging.template load<C>(staging.code_at(lane * int(sizeof(C))));
      block.map = staging.template load<word>(staging.map_at(lane));
      block.begins = BlockCode<C>::begins(code);
      block.column = BlockCode<C>::column(code);
      if constexpr (sizeof(C) == 2) block.column += staging.template load<int>(staging.base_at());
      block.column *= 8;
    }
    return block;
  }
  // Writes the records of a stage and begins to copy its values.
  GRB_DEVICE void record(const Fetched& block, int buffer) {
    const unsigned low = unsigned(block.map), high = unsigned(block.map >> 32);
    unsigned place = 0, count_low = 0;
    if constexpr (loads_a) {
      count_low = __popc(low);
      const int count = int(count_low) + __popc(high), upto = warp_inclusive_sum<STAGE>(count);
      const int total = __shfl_sync(ALL_LANES, upto, STAGE - 1);
      place = staging.copy(buffer, next_values, total) + (upto - count) * ITEM;
      next_values += total;
    }
    if (lane < STAGE) {
      staging.store(staging.record_at(buffer, 0, lane), HalfBlock{low, place});
      staging.store(staging.record_at(buffer, 1, lane), HalfBlock{high, place + count_low * ITEM});
    }
  }
  // Begins to copy x at the columns of a stage; says where x is present.
  GRB_DEVICE void copy_columns(const Fetched& block, int buffer) const {
    const int last = m.ncols - 1;
    if constexpr (loads_x || !FULL) {
#pragma unroll
      for (int q = 0; q < QUADS; q++) {
        const int first = __shfl_sync(ALL_LANES, block.column, 4 * q + (lane >> 3)), k = first + (lane & 7);
        if constexpr (loads_x)
          copy_to(staging, staging.x_at(buffer, q, lane & 7) + (lane >> 3) * int(sizeof(X)),
                  v.x + (k > last ? last : k));
        if constexpr (!FULL) {
          const unsigned present =
              __ballot_sync(ALL_LANES, v.x_present == nullptr || v.x_present[first >> 3] >> (lane & 7) & 1);
          if (lane == q) staging.store(staging.presence_at(buffer, q), present);
        }
      }
    }
    if constexpr (S::reads_k) {
      if (lane < STAGE) staging.store(staging.column_at(buffer, lane), block.column);
    }
  }
  // Records, values and x of a stage; returns bit k: does a block row begin with block k?
  GRB_DEVICE unsigned prepare(int first, int buffer) {
    const Fetched block = fetched(first);
    record(block, buffer);
    copy_columns(block, buffer);
    __syncwarp();                  // the next stage is fetched to the same places
    return __ballot_sync(ALL_LANES, block.begins);
  }

  // ---- decode and accumulate

  // The positions of this lane in four blocks.
  struct Quad {
    unsigned map[4];               // half of it
    V low[4], high[4];             // values, of another position where it has no entry
    X x[4];
    int column[4];
    unsigned present;
  };
  // records, xs: places of this lane's half of the first block, of x at this lane's columns.
  GRB_DEVICE void decode(int buffer, int quad, unsigned records, unsigned xs, Quad& d) const {
    const HalfPair first = staging.template load<HalfPair>(records);
    const HalfPair last = staging.template load<HalfPair>(records + 2 * HALF);
    if constexpr (loads_x) staging.load_four(xs, d.x);
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const HalfBlock half = j < 2 ? first.of[j & 1] : last.of[j & 1];
      d.map[j] = half.map;
      if constexpr (!loads_x) d.x[j] = X();
      if constexpr (loads_a) {
        const unsigned place = half.place + __popc(half.map & below) * ITEM;
        d.low[j] = staging.template load<V>(place);
        d.high[j] = staging.template load<V>(half.map & low_bit ? place + ITEM : place);
      } else {
        d.low[j] = d.high[j] = V();
      }
      d.column[j] = 0;
      if constexpr (S::reads_k)
        d.column[j] = staging.template load<int>(staging.column_at(buffer, 4 * quad + j)) + (lane >> 2);
    }
    d.present = ~0u;
    if constexpr (!FULL) d.present = staging.template load<unsigned>(staging.presence_at(buffer, quad)) >> (lane >> 2);
  }
  GRB_DEVICE Z product(A a, X x, int r, int column) const {
    if constexpr (S::reads_a && S::a_iso) a = one_a;
    if constexpr (S::reads_x && S::x_iso) x = one_x;
    return S::times(a, x, S::reads_i ? open_name * 8 + r : 0, column, 0);
  }
  // Block j of a quad.
  GRB_DEVICE void accumulate(const Quad& d, int j) {
    bool low = (d.map[j] & low_bit) != 0, high = (d.map[j] & high_bit) != 0;
    if constexpr (!FULL) {
      const bool present = d.present >> 8 * j & 1;
      low = low && present && allowed >> first_row & 1, high = high && present && allowed >> first_row & 2;
    }
    if constexpr (S::structure_only) {
      sums.have |= unsigned(low) | unsigned(high) << 1;
    } else {
      A a_low = A(), a_high = A();
      if constexpr (loads_a) a_low = widened<A, FORM>(d.low[j]), a_high = widened<A, FORM>(d.high[j]);
      sums.take(0, product(a_low, d.x[j], first_row, d.column[j]), low);
      sums.take(1, product(a_high, d.x[j], first_row + 1, d.column[j]), high);
    }
  }
  GRB_DEVICE void run() {
    copies_arrived();
    __syncwarp();
    unsigned starts = prepare(begin, 0);
    fetch(begin + STAGE);
    const unsigned first_record = staging.record_at(0, lane >> 4, 0), first_x = staging.x_at(0, 0, lane >> 2);
    for (int b = begin, stage = 0; b < stop; b += STAGE, stage++) {
      const int buffer = stage & 1;
      copies_arrived();
      __syncwarp();
      unsigned next_starts = 0;
      if (b + STAGE < stop) {
        next_starts = prepare(b + STAGE, buffer ^ 1);
        fetch(b + 2 * STAGE);
      }
      if constexpr (loads_a) staging.wait(buffer, stage >> 1 & 1);
      unsigned records = first_record + buffer * Staging::RECORDS, xs = first_x + buffer * Staging::COLUMNS;
#pragma unroll 1
      for (int q = 0; q < QUADS; q++, starts >>= 4, records += 4 * HALF, xs += 32 * int(sizeof(X))) {
        if constexpr (!FULL) {
          if ((starts & 15) == 0 && allowed == 0) continue;
        }
        Quad d;
        decode(buffer, q, records, xs, d);
        if ((starts & 15) == 0) {
#pragma unroll
          for (int j = 0; j < 4; j++) accumulate(d, j);
        } else {
#pragma unroll
          for (int j = 0; j < 4; j++) {
            if (starts >> j & 1) begin_row();
            accumulate(d, j);
          }
        }
      }
      starts = next_starts;
    }
  }

  // ---- close

  // Writes the rows of a block row.  The warp calls together.
  GRB_DEVICE void write(int name, const Total<S>& total) {
    const int i = name * 8 + total_row;
    bool writes = lane < 8 && i < m.nrows;
    if constexpr (FULL) {
      if (writes) v.w[i] = total.value;
    } else {
      writes = writes && total.have;
      if constexpr (!S::structure_only) {
        if (writes) v.w[i] = total.value;
      }
      const unsigned present = warp_or(writes ? 1u << total_row : 0u);
      if (present && lane == 0) v.w_present[name] = uint8_t(present), found += __popc(present);
    }
  }
  GRB_DEVICE void put(int64_t slot, const Total<S>& total) const {
    if (lane < 8) crossing.put(slot + total_row, total);
  }
  // Four lanes read an entry of the remainder; the one that has its row takes it.
  GRB_DEVICE void load_rest(Rest& to, int e) const {
    if (e >= to.to) return;
    to.code = m.rest[e];
    if constexpr (loads_a) to.value = stream(m.rest_values + e);
  }
  GRB_DEVICE void load_rest_x(int e) {
    if constexpr (loads_x) {
      if (e < rest.to && (rest.code >> 1 & 3) == unsigned(lane & 3)) rest_x = read_only(v.x + (rest.code >> 3));
    }
  }
  GRB_DEVICE void add_rest() {
#pragma unroll 1
    for (int e = rest.from + (lane >> 2); e < rest.to; e += 8) {
      if (e >= rest.from + 8) {
        load_rest(rest, e);
        load_rest_x(e);
      }
      const int r = int(rest.code & 7), column = int(rest.code >> 3);
      bool wanted = (r >> 1) == (lane & 3);
      if constexpr (!FULL) {
        wanted = wanted && allowed >> r & 1;
        if (v.x_present != nullptr) wanted = wanted && v.x_present[column >> 3] >> (column & 7) & 1;
      }
      if constexpr (S::structure_only) {
        sums.have |= unsigned(wanted) << (r & 1);
      } else {
        const Z p = product(rest.value, rest_x, r, column);
        sums.take(0, p, wanted && (r & 1) == 0);
        sums.take(1, p, wanted && (r & 1) != 0);
      }
    }
    __syncwarp();
  }
  // The open block row, if there is one, ends before a block of this share.
  GRB_DEVICE void close() {
    if constexpr (REST) {
      if (rest.from < rest.to) add_rest();
    }
    const Total<S> total = sums.reduced();
    if (in_front) put(share * 16, total);
    else write(open_name, total);
  }
  GRB_DEVICE void begin_row() {
    close();
    if constexpr (REST) {
      rest = upcoming;
      load_rest_x(rest.from + (lane >> 2));
      upcoming.from = rest.to, upcoming.to = rest_ahead;
      load_rest(upcoming, upcoming.from + (lane >> 2));
      rest_ahead = rest_ptr(rows_begun + 3);
    }
    rows_begun++;
    in_front = false;
    open_row();
    sums.clear();
  }

  // ---- fix up

  // The last share of a crossing block row that arrives adds all parts.
  GRB_DEVICE void finish() {
    if constexpr (REST) {
      if (rest.from < rest.to) add_rest();
    }
    const Total<S> total = sums.reduced();
    if (in_front) put(int64_t(share) * 16, total);
    else if (crosses_end) put(int64_t(share) * 16 + 8, total);
    else write(open_name, total);
    __threadfence();
    __syncwarp();
    bool joins = false;
    if (lane == 0 ? crosses_front : lane == 1 && crosses_end && !in_front) {
      joins = int(atomicAdd(crossing.arrived + crossing_from, 1u)) == crossing_to - crossing_from;
      if (joins) crossing.arrived[crossing_from] = 0;
      __threadfence();
    }
    const unsigned joining = __ballot_sync(ALL_LANES, joins);
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
      if (joining >> k & 1)
        join(__shfl_sync(ALL_LANES, crossing_row, k), __shfl_sync(ALL_LANES, crossing_from, k),
             __shfl_sync(ALL_LANES, crossing_to, k));
    }
  }
  GRB_DEVICE void join(int row, int from, int to) {
    Total<S> total;
    crossing.add_to(total, int64_t(from) * 16 + 8 + total_row);
#pragma unroll 1
    for (int g = from + 1; g <= to; g++) crossing.add_to(total, int64_t(g) * 16 + total_row);
    write(m.name(row), total);
  }
};

template <class S, class C, int FORM, bool FULL, bool REST, int STAGE, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
bit_block_rows(const word* __restrict__ maps, const C* __restrict__ cols, const int32_t* __restrict__ bases,
               const stored_t<typename S::A, FORM>* __restrict__ values, const int64_t* __restrict__ value_ptr,
               const int32_t* __restrict__ begun, const int32_t* __restrict__ block_ptr,
               const int32_t* __restrict__ names, const uint32_t* __restrict__ rest,
               const typename S::A* __restrict__ rest_values, const int32_t* __restrict__ rest_ptr, int64_t blocks,
               int64_t rest_rows, int64_t nrows, int64_t ncols, const uint8_t* __restrict__ x_present,
               const typename S::X* __restrict__ x, const uint8_t* __restrict__ mask, bool complement,
               typename S::Z* __restrict__ w, uint8_t* w_present, unsigned long long* count, typename S::Z* parts,
               uint8_t* have, unsigned* arrived, int64_t buffer_bytes) {
  using Rows = BlockRows<C, S, FORM, FULL, REST, STAGE>;
  extern __shared__ ulonglong2 block_memory[];
  const BitBlocks<C, S, typename Rows::V> m{maps, cols, bases, values, value_ptr, begun, block_ptr, names, rest,
                                            rest_values, rest_ptr, int(blocks), int(rest_rows), int(nrows),
                                            int(ncols)};
  const BlockVectors<S> v{x_present, x, mask, complement, w, w_present};
  const CrossingRows<S> crossing{parts, have, arrived};
  Rows rows(m, v, crossing, typename Rows::Staging(reinterpret_cast<unsigned char*>(block_memory), threadIdx.x >> 5,
                                                   unsigned(buffer_bytes)));
  if (rows.begin == rows.stop) return;             // the whole warp
  rows.staging.open();
  rows.fetch(rows.begin);
  rows.start();
  rows.run();
  rows.finish();
  if constexpr (!FULL) {
    if (lane_number() == 0 && rows.found) atomicAdd(count, (unsigned long long)rows.found);
  }
}

}  // namespace grb
