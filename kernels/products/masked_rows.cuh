// C<M> = A (+.x) B for a mask M that is no complement, row by row of M, pulled or pushed, whichever takes less time:
//
// pull   dot products of row i of A, in a table, with the rows j of B' that M(i,:) names (push_pull_graphblas_icpp18,
//        5.2); the set intersections of a row share one table in shared memory (TRUST: Pandey et al., IEEE TPDS 2021,
//        for triangles)
// push   the rows k of B that A(i,:) names, merged into a table of M(i,:) (masked SpGEMM, MSA and hash: Milakovic et
//        al., ICPP 2022); products/masked_push.cuh
// Table of a row: SEARCHED  none: bisection in the row, for rows too long for shared memory or hardly looked up
//                 HASH      linear probing, a quarter full, half full where memory is short
//                 BITMAP    a bit for each column between its first and its last entry: a lookup is one load
// Phases: masked_analyse    work, method and table of each row of M, its bin (rows without work have none: no hit)
//         spgemm_list       the rows of each bin as a list (products/spgemm.cuh)
//         masked_rows       pull: the table; then a group of LANES lanes for each position: row j of B' is read once,
//                           each entry looked up; where row j is more than RATIO times as long as A's row, A's entries
//                           are looked up in row j by bisection
//         masked_push       push
// Bins: two of rows without a table (a warp, blocks for each row), six of HASH and six of BITMAP by shared memory, six
//   that are pushed.
// Forms: BY_WARP a warp for each row; BY_ATOMICS blocks for each row, which share its positions.
// Launch: backends/cuda/products/masked.py; `capacity` bytes of shared memory for each row (a multiple of 16).
// Preconditions: rows ascend; `hit` is false.
#pragma once
#include "products/spgemm.cuh"

namespace grb {

enum { SEARCHED, HASH, BITMAP };
enum { SEARCHED_BINS, HASH_BINS = 2, BITMAP_BINS = 8, PUSH_BINS = 14 };
constexpr int64_t RATIO = 16;  // of the lengths of two rows, from which the shorter one is looked up in the longer
constexpr int64_t LOOKUPS = 8;  // in a table take the time of a bisection in a row
constexpr int64_t SAMPLED = 2048;  // positions of a row from which its work is estimated
constexpr int64_t PULL_WARP_WORK = 1 << 13;  // lookups of a row that a warp takes; a block of the next bin: 8 times

// The operands of a product; fields of 8 bytes in the order of products/masked.py.
template <class I, class J, class M, class S> struct Masked {
  const int64_t* m_ptr;
  const int64_t* m_rows;  // null: CSR
  const M* m_cols;
  const int64_t* a_ptr;
  const int64_t* a_rows;
  int64_t a_stored;
  const I* a_cols;
  const typename S::A* a_values;
  const int64_t* b_ptr;  // of B'
  const int64_t* b_rows;
  int64_t b_stored;
  const J* b_cols;
  const typename S::X* b_values;
  typename S::Z* out;
  bool* hit;
  const int64_t* list;  // the bin's stored rows of M
  int64_t listed;
  int64_t table;     // SEARCHED, HASH or BITMAP
  int64_t capacity;  // bytes of shared memory of a row
  int64_t parts;     // blocks of a row
};

// Slots of the hash table of a row of `length` entries in `capacity` bytes.
GRB_DEVICE int64_t hash_slots(int64_t length, int64_t slot_bytes, int64_t capacity) {
  int64_t slots = 32;
  while (slots < 4 * length && 2 * slots * slot_bytes <= capacity) slots *= 2;
  return slots;
}

// What a push of a row of M has in shared memory: values and bits of presence (`base` bytes), then a table.
struct PushTable {
  int64_t base, bytes;
  int kind;  // SEARCHED: it does not fit; values are merged in the result itself
};
template <class M>
GRB_DEVICE PushTable push_table(int64_t length, int64_t span, int64_t value_bytes, int64_t most) {
  PushTable found = {(length * value_bytes + 15) / 16 * 16 + (length + 127) / 128 * 16, 0, SEARCHED};
  const int64_t slot = sizeof(M) + 4, left = most - found.base, bitmap = (span / 32 + 1) * 8;
  const int64_t slots = hash_slots(length, slot, left);
  if (slots >= 2 * length && slots * slot <= left) found.kind = HASH, found.bytes = slots * slot;
  if (bitmap <= left && (found.kind == SEARCHED || bitmap <= found.bytes)) found.kind = BITMAP, found.bytes = bitmap;
  return found;
}

// What masked_analyse reads and writes; fields of 8 bytes in the order of products/masked.py.
template <class I, class M> struct MaskRows {
  const int64_t* m_ptr;
  const int64_t* m_rows;
  const M* m_cols;
  int64_t stored;
  const int64_t* a_ptr;
  const int64_t* a_rows;
  int64_t a_stored;
  const I* a_cols;
  const int64_t* pull_ptr;  // of B'; null: no row can be pulled
  const int64_t* pull_rows;
  int64_t pull_stored;
  const int64_t* push_ptr;  // of B; null: no row can be pushed
  const int64_t* push_rows;
  int64_t push_stored;
  int64_t lanes;
  int64_t positions;    // of A's entries, are they needed?
  int64_t value_bytes;  // of the result
  int64_t push_cost;    // of a product, in 256ths of a lookup
  int64_t least_bytes;
  int64_t most_bytes;
  uint8_t* bins;
  word* totals;
};

// The bin of a row that is pulled.  work: lookups; length, span: entries and columns of A's row.
template <class I, class M>
GRB_DEVICE int pull_bin(const MaskRows<I, M>& o, int64_t work, int64_t length, int64_t span) {
  const int64_t bitmap = (span / 32 + 1) * (o.positions ? 8 : 4), slot_bytes = sizeof(I) + (o.positions ? 4 : 0);
  const int64_t slots = hash_slots(length, slot_bytes, o.most_bytes), hash = slots * slot_bytes;
  int table = slots >= 2 * length ? HASH : SEARCHED;
  // clearing a byte of a bitmap takes less time than what a lookup in it saves
  if (bitmap <= o.most_bytes && (table == SEARCHED || bitmap <= hash || bitmap <= work)) table = BITMAP;
  if (work * LOOKUPS < length) table = SEARCHED;
  int level = 0;
  for (int64_t most = PULL_WARP_WORK; work > most && level < 5; most *= 8) level++;
  if (table == SEARCHED) level = min(level, 1);
  else while (level < 5 && (table == HASH ? hash : bitmap) > (o.least_bytes << level)) level++;
  return level + (table == SEARCHED ? SEARCHED_BINS : table == HASH ? HASH_BINS : BITMAP_BINS);
}

// bins[r] of each stored row of M, totals += rows of each bin, lookups of the pulled and products of the pushed rows
// (estimated).  `lanes` neighbours for each row.
template <class I, class M> __global__ void __launch_bounds__(256) masked_analyse(MaskRows<I, M> o) {
  __shared__ unsigned counts[BINS];
  if (threadIdx.x < BINS) counts[threadIdx.x] = 0;
  __syncthreads();
  const int sub = lane_number() & int(o.lanes - 1);
  const int64_t in_warp = 32 / o.lanes;
  int64_t lookups = 0, pushed = 0;
  GRB_EACH_WARP(task, (o.stored + in_warp - 1) / in_warp) {
    const int64_t r = task * in_warp + lane_number() / o.lanes;
    int64_t work = 0, products = 0, a_start = 0, a_stop = 0, length = 0, in_mask = 0, step = 1, a_step = 1;
    if (r < o.stored) {
      const int64_t start = o.m_ptr[r], stop = o.m_ptr[r + 1];
      in_mask = stop - start;
      if (in_mask) row_range(o.a_ptr, o.a_rows, o.a_stored, o.m_rows == nullptr ? r : o.m_rows[r], a_start, a_stop);
      length = a_stop - a_start;
      step = (in_mask + SAMPLED - 1) / SAMPLED;
      a_step = (length + SAMPLED - 1) / SAMPLED;
      int64_t b_start, b_stop;
      if (o.pull_ptr != nullptr) {
        for (int64_t e = start + sub * step; length && e < stop; e += o.lanes * step) {
          row_range(o.pull_ptr, o.pull_rows, o.pull_stored, int64_t(o.m_cols[e]), b_start, b_stop);
          work += min(b_stop - b_start, LOOKUPS * length);
        }
      }
      if (o.push_ptr != nullptr) {
        for (int64_t p = a_start + sub * a_step; p < a_stop; p += o.lanes * a_step) {
          row_range(o.push_ptr, o.push_rows, o.push_stored, int64_t(o.a_cols[p]), b_start, b_stop);
          products += b_stop - b_start;
        }
      }
    }
    for (int by = int(o.lanes) >> 1; by; by >>= 1) {
      work += __shfl_down_sync(ALL_LANES, work, by);
      products += __shfl_down_sync(ALL_LANES, products, by);
    }
    if (r >= o.stored || sub != 0) continue;
    int bin = NO_BIN;
    // positions that are not sampled may have work where the sampled have none
    if (length && (work > 0 || products > 0 || step > 1 || a_step > 1)) {
      work = work * step + in_mask;
      products = products * a_step + length;
      const M* mask = o.m_cols + o.m_ptr[r];
      const PushTable push = push_table<M>(in_mask, int64_t(mask[in_mask - 1]) - int64_t(mask[0]) + 1, o.value_bytes,
                                           o.most_bytes);
      if (o.pull_ptr == nullptr ||
          (o.push_ptr != nullptr && push.kind != SEARCHED && products * o.push_cost < work * 256)) {
        int level = 0;
        for (int64_t most = PULL_WARP_WORK; products > most && level < 5; most *= 8) level++;
        while (level < 5 && (push.kind == SEARCHED || push.base + push.bytes > (o.least_bytes << level))) level++;
        bin = PUSH_BINS + level;
        pushed += products;
      } else {
        bin = pull_bin(o, work, length, int64_t(o.a_cols[a_stop - 1]) - int64_t(o.a_cols[a_start]) + 1);
        lookups += work;
      }
      atomicAdd(counts + bin, 1u);
    }
    o.bins[r] = uint8_t(bin);
  }
  add_counts(counts, o.totals);
  lookups = warp_sum(lookups), pushed = warp_sum(pushed);
  if (lane_number() == 0 && lookups) atomicAdd(o.totals + PRODUCTS, word(lookups));
  if (lane_number() == 0 && pushed) atomicAdd(o.totals + PUSHED, word(pushed));
}

// The table of row i of A: from a column to the entry's position in the row (to 0 where POSITIONS is false).
template <class I, int TABLE, bool POSITIONS> struct RowTable {
  using Key = choose<sizeof(I) == 4, uint32_t, word>;
  using Place = choose<TABLE == SEARCHED, int64_t, int>;
  const I* cols;
  int64_t length;
  Key first, span;
  Key* keys;       // HASH
  uint32_t* bits;  // BITMAP
  uint32_t* at;    // positions: of each slot; of the first entry of each word
  int slots, shift;

  GRB_DEVICE RowTable(const I* cols, int64_t length, unsigned char* pool, int64_t capacity)
      : cols(cols), length(length), first(Key(cols[0])), span(Key(cols[length - 1]) - first + 1), shift(0) {
    keys = reinterpret_cast<Key*>(pool);
    bits = reinterpret_cast<uint32_t*>(pool);
    if constexpr (TABLE == HASH) {
      slots = int(hash_slots(length, sizeof(Key) + (POSITIONS ? 4 : 0), capacity));
      shift = __clz(slots) + 1;
      at = reinterpret_cast<uint32_t*>(keys + slots);
    } else {
      slots = TABLE == BITMAP ? int(span / 32) + 1 : 0;  // bit `span` is zero
      at = bits + slots;
    }
  }
  GRB_DEVICE int slot_of(Key key) const {
    uint32_t folded = uint32_t(key);
    if constexpr (sizeof(Key) == 8) folded ^= uint32_t(key >> 32);
    return int(folded * 0x9E3779B1u >> shift);
  }
  template <class Own> GRB_DEVICE void build(const Own& owner) const {
    if constexpr (TABLE == SEARCHED) return;
    for (int n = owner.rank; n < slots; n += owner.size)
      if constexpr (TABLE == HASH) keys[n] = ~Key(0); else bits[n] = 0;
    owner.sync();
    for (int64_t p = owner.rank; p < length; p += owner.size) {
      if constexpr (TABLE == BITMAP) {
        const uint32_t column = uint32_t(Key(cols[p]) - first), w = column >> 5;
        atomicOr(bits + w, 1u << (column & 31));
        if constexpr (POSITIONS)
          if (p == 0 || uint32_t(Key(cols[p - 1]) - first) >> 5 != w) at[w] = uint32_t(p);
      } else {
        const Key key = Key(cols[p]);
        int slot = slot_of(key);
        while (atomicCAS(keys + slot, ~Key(0), key) != ~Key(0)) slot = (slot + 1) & (slots - 1);
        if constexpr (POSITIONS) at[slot] = uint32_t(p);
      }
    }
    owner.sync();
  }
  GRB_DEVICE Key nothing() const { return first + span; }  // a column that is not in the row
  // Has the row an entry in this column?  `p` is its position in the row.
  GRB_DEVICE bool find(Key column, Place& p) const {
    const Key away = column - first;
    p = 0;
    if constexpr (TABLE == BITMAP) {  // without a branch, so that lookups overlap
      const Key bit = away < span ? away : span;
      const uint32_t found = bits[bit >> 5], of_bit = uint32_t(bit) & 31;
      if constexpr (POSITIONS) p = int(at[bit >> 5]) + __popc(found & ((1u << of_bit) - 1));
      return found >> of_bit & 1;
    } else if constexpr (TABLE == HASH) {
      int slot = slot_of(column);
      Key found = keys[slot];
      while (found != column && found != ~Key(0)) found = keys[slot = (slot + 1) & (slots - 1)];
      if constexpr (POSITIONS) p = int(at[slot]);
      return found == column;
    } else {
      if (away >= span) return false;
      p = lower_bound(cols, int64_t(0), length, I(column));
      return cols[p] == I(column);
    }
  }
};

// The positions m_start .. m_stop-1 of the mask's row, as far as they are those of part `part` of o.parts: a warp reads
// up to 32 of them, then groups of lanes take one after the other.
template <int LANES, class I, class J, class M, class S, class Own, class Table>
GRB_DEVICE void positions_of_row(const Masked<I, J, M, S>& o, const Own& owner, const Table& table, int64_t i,
                                 int64_t part, int64_t m_start, int64_t m_stop, int64_t a_start) {
  using Count = choose<sizeof(J) == 4, uint32_t, word>;  // entries of a row, with four steps of a warp
  using Key = typename Table::Key;
  constexpr int at_once = 32 / LANES;
  const int lane = lane_number(), sub = lane & (LANES - 1);
  const int warps = owner.size >> 5, number = owner.rank >> 5;
  const unsigned group = (0xffffffffu >> (32 - LANES)) << (lane - sub);
  const int64_t shares = warps * o.parts, share = (m_stop - m_start + shares - 1) / shares;
  const int chunk = int(min((share / 4 / at_once + 1) * at_once, int64_t(32)));  // four turns of a warp balance them
  for (int64_t base = m_start + (part * warps + number) * chunk; base < m_stop; base += shares * chunk) {
    const int here = int(min(m_stop - base, int64_t(chunk)));
    int64_t column = 0, first = 0, beyond = 0;
    if (lane < here) {
      column = o.m_cols[base + lane];
      row_range(o.b_ptr, o.b_rows, o.b_stored, column, first, beyond);
    }
    for (int turn = 0; turn < here; turn += at_once) {
      const int from = turn + lane / LANES;
      const int64_t j = shuffle(column, from), start = shuffle(first, from);
      const Count length = shuffle(Count(beyond - first), from);
      const J* row = o.b_cols + start;
      Total<S> total;
      auto meet = [&](int64_t p, int64_t q, int64_t k) {
        total.take(S::times(value_of_a<S>(o.a_values, a_start + p), value_of_x<S>(o.b_values, start + q), i, k, j));
      };
      auto goes_on = [&](bool more) {  // for all lanes of the warp where a group may stop early
        if constexpr (!stops_early<S>) return more;
        if (__ballot_sync(ALL_LANES, total.finished()) & group) more = false;
        return more;
      };
      auto any_goes_on = [&](bool more) {
        if constexpr (stops_early<S>) return __any_sync(ALL_LANES, more) != 0; else return more;
      };
      const bool by_a = int64_t(length) > RATIO * table.length;  // A's entries are looked up in row j of B'
      bool more = by_a && sub < table.length;
      for (int64_t at = sub; any_goes_on(more); more = goes_on(more && at < table.length)) {
        if (more) {
          const int64_t k = int64_t(table.cols[at]), q = find(row, int64_t(0), int64_t(length), k);
          if (q >= 0) meet(at, q, k);
        }
        at += LANES;
      }
      more = !by_a && Count(sub) < length;
      Count at = Count(sub);
      for (const J* next = row + sub; any_goes_on(more); more = goes_on(more && at < length)) {
        const Count left = more ? length - at : Count(0);
        Key k[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) k[u] = Count(u * LANES) < left ? Key(next[u * LANES]) : table.nothing();
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
          typename Table::Place p;
          if (table.find(k[u], p)) meet(int64_t(p), int64_t(at) + u * LANES, int64_t(k[u]));
        }
        at += Count(AHEAD * LANES);
        next += AHEAD * LANES;
      }
      __syncwarp();
      join_lanes<S>(total, LANES);
      if (sub == 0 && from < here && total.have) {
        o.hit[base + from] = true;
        if constexpr (!S::structure_only) o.out[base + from] = total.value;
      }
    }
  }
}

template <class I, class J, class M, class S, int FORM, int LANES>
__global__ void __launch_bounds__(FORM == BY_WARP ? 128 : 1024, FORM == BY_WARP ? 8 : 1)
masked_rows(Masked<I, J, M, S> o) {
  extern __shared__ __align__(16) unsigned char pool[];
  const Owner<FORM> owner;
  const int in_block = FORM == BY_WARP ? int(blockDim.x >> 5) : 1;
  const int number = FORM == BY_WARP ? int(threadIdx.x >> 5) : 0;
  unsigned char* mine = pool + size_t(number) * size_t(o.capacity);
  const int64_t tasks = o.listed * o.parts, step = int64_t(gridDim.x) * in_block;
  for (int64_t n = int64_t(blockIdx.x) * in_block + number; n < tasks; n += step) {
    const int64_t r = o.list[n / o.parts], i = o.m_rows == nullptr ? r : o.m_rows[r];
    int64_t a_start, a_stop;
    row_range(o.a_ptr, o.a_rows, o.a_stored, i, a_start, a_stop);
    const I* cols = o.a_cols + a_start;
    auto run = [&](auto table) {
      table.build(owner);
      positions_of_row<LANES>(o, owner, table, i, n % o.parts, o.m_ptr[r], o.m_ptr[r + 1], a_start);
    };
    constexpr bool positions = S::reads_a && !S::a_iso;
    const int64_t length = a_stop - a_start;
    if (o.table == BITMAP) run(RowTable<I, BITMAP, positions>(cols, length, mine, o.capacity));
    else if (o.table == HASH) run(RowTable<I, HASH, positions>(cols, length, mine, o.capacity));
    else run(RowTable<I, SEARCHED, positions>(cols, length, mine, o.capacity));
    owner.sync();
  }
}

}  // namespace grb
