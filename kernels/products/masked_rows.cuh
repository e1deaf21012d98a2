// C<M> = A (+.x) B for a mask M that is no complement, row by row of M, pulled or pushed by estimated cost:
//
// pull   dot products of row i of A, in a table, with the rows j of B' for the columns j of M(i,:) (masking:
//        push_pull_graphblas_icpp18, 5.2); the set intersections of a row share one table in shared memory (TRUST:
//        Pandey et al., IEEE TPDS 2021, for triangles)
// push   the rows k of B for the columns k of A(i,:), merged into a table of M(i,:) (masked SpGEMM, MSA and hash:
//        Milakovic et al., ICPP 2022); products/masked_push.cuh
// Table of a row (products/masked_table.cuh): SEARCHED where the row is too long for shared memory or has few lookups,
//   BITMAP where its bytes are at most those of the hash table or the number of lookups, else HASH
// Entries go where E says (products/masked_emit.cuh).  S may be Words (products/masked_words.cuh).
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
#include "products/masked_emit.cuh"

namespace grb {

enum { SEARCHED_BINS, HASH_BINS = 2, BITMAP_BINS = 8, PUSH_BINS = 14 };
constexpr int64_t RATIO = 16;  // of the lengths of two rows, from which the shorter one is looked up in the longer
constexpr int64_t LOOKUPS = 8;  // in a table take the time of a bisection in a row
constexpr int64_t SAMPLED = 256;  // positions of a row from which its work is estimated
constexpr int MOST_STEPS = 32;  // lookups of a lane at a position, twice the mean; more are shared by the whole warp
constexpr int64_t PULL_WARP_WORK = 1 << 13;  // lookups of a row that a warp takes; a block of the next bin: 8 times

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
  int64_t gives;        // what a lookup in a table of A's row gives
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
  const int64_t bitmap = bitmap_bytes(span, o.gives), slot = slot_bytes(sizeof(I), o.gives);
  const int64_t slots = hash_slots(length, slot, o.most_bytes), hash = slots * slot;
  int table = slots >= 2 * length ? HASH : SEARCHED;
  // clearing a byte of a bitmap takes less time than a lookup in it saves
  if (bitmap <= o.most_bytes && (table == SEARCHED || bitmap <= hash || bitmap <= work)) table = BITMAP;
  if (work * LOOKUPS < length) table = SEARCHED;
  int level = 0;
  for (int64_t most = PULL_WARP_WORK; work > most && level < 5; most *= 8) level++;
  if (table == SEARCHED) level = min(level, 1);
  else while (level < 5 && (table == HASH ? hash : bitmap) > (o.least_bytes << level)) level++;
  return level + (table == SEARCHED ? SEARCHED_BINS : table == HASH ? HASH_BINS : BITMAP_BINS);
}

// A stored row of M, the range of A's row, and the steps at which both are sampled.
struct RowWork {
  int64_t start, stop, a_start, a_stop, step, a_step;
  GRB_DEVICE int64_t samples() const { return (stop - start) / step + (a_stop - a_start) / a_step; }
};

// The lookups of a pull and the products of a push at the sampled positions, by `lanes` lanes of which this is `sub`.
template <class I, class M>
GRB_DEVICE void sample(const MaskRows<I, M>& o, const RowWork& row, int sub, int64_t lanes, int64_t& work,
                       int64_t& products) {
  const int64_t length = row.a_stop - row.a_start;
  int64_t b_start, b_stop;
  if (o.pull_ptr != nullptr) {
    for (int64_t e = row.start + sub * row.step; length && e < row.stop; e += lanes * row.step) {
      row_range(o.pull_ptr, o.pull_rows, o.pull_stored, int64_t(o.m_cols[e]), b_start, b_stop);
      work += min(b_stop - b_start, LOOKUPS * length);
    }
  }
  if (o.push_ptr != nullptr) {
    for (int64_t p = row.a_start + sub * row.a_step; p < row.a_stop; p += lanes * row.a_step) {
      row_range(o.push_ptr, o.push_rows, o.push_stored, int64_t(o.a_cols[p]), b_start, b_stop);
      products += b_stop - b_start;
    }
  }
}

// bins[r] of each stored row of M, totals += rows of each bin, lookups of the pulled and products of the pushed rows
// (estimated).  `lanes` neighbours for each row; the whole warp samples a row of many positions.
template <class I, class M> __global__ void __launch_bounds__(256) masked_analyse(MaskRows<I, M> o) {
  __shared__ unsigned counts[BINS];
  if (threadIdx.x < BINS) counts[threadIdx.x] = 0;
  __syncthreads();
  const int sub = lane_number() & int(o.lanes - 1);
  const int64_t in_warp = 32 / o.lanes;
  int64_t lookups = 0, pushed = 0;
  GRB_EACH_WARP(task, (o.stored + in_warp - 1) / in_warp) {
    const int64_t r = task * in_warp + lane_number() / o.lanes;
    RowWork row = {0, 0, 0, 0, 1, 1};
    if (r < o.stored) {
      row.start = o.m_ptr[r], row.stop = o.m_ptr[r + 1];
      if (row.start < row.stop)
        row_range(o.a_ptr, o.a_rows, o.a_stored, o.m_rows == nullptr ? r : o.m_rows[r], row.a_start, row.a_stop);
      row.step = (row.stop - row.start + SAMPLED - 1) / SAMPLED;
      row.a_step = (row.a_stop - row.a_start + SAMPLED - 1) / SAMPLED;
      row.step = max(row.step, int64_t(1)), row.a_step = max(row.a_step, int64_t(1));
    }
    const int64_t in_mask = row.stop - row.start, length = row.a_stop - row.a_start, step = row.step;
    const int64_t a_start = row.a_start, a_stop = row.a_stop, a_step = row.a_step;
    const bool of_warp = o.lanes < 32 && row.samples() > MOST_STEPS * o.lanes;
    int64_t work = 0, products = 0, share_of_work = 0, share_of_products = 0;
    for_each_lane(of_warp && sub == 0, [&](int from) {
      int64_t part = 0, part_products = 0;
      sample(o, shuffle(row, from), lane_number(), int64_t(32), part, part_products);
      part = warp_sum(part), part_products = warp_sum(part_products);
      part = shuffle(part, 0), part_products = shuffle(part_products, 0);
      if (lane_number() == from) share_of_work = part, share_of_products = part_products;
    });
    if (!of_warp) sample(o, row, sub, o.lanes, work, products);
    for (int by = int(o.lanes) >> 1; by; by >>= 1) {
      work += __shfl_down_sync(ALL_LANES, work, by);
      products += __shfl_down_sync(ALL_LANES, products, by);
    }
    if (of_warp) work = share_of_work, products = share_of_products;
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

// The dot product of row i of A, in the table, with row j of B', which starts at `start`, by groups of LANES lanes (in
// their first lanes).  All lanes of a warp call together.
template <int LANES, class I, class J, class M, class S, class E, class Table, class Count>
GRB_DEVICE Total<S> dot_product(const Masked<I, J, M, S, E>& o, const Table& table, int64_t i, int64_t j,
                                int64_t start, Count length, int64_t a_start) {
  using Key = typename Table::Key;
  const int lane = lane_number(), sub = lane & (LANES - 1);
  const unsigned group = (0xffffffffu >> (32 - LANES)) << (lane - sub);
  const J* row = o.b_cols + start;
  Total<S> total;
  auto meet = [&](int64_t p, int64_t q, int64_t k) {
    if constexpr (E::into == CORNERS)
      if (const word both = o.a_values[a_start + p] & o.b_values[start + q])
        count_matches(o, start + q, o.b_values[start + q], both);
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
    [[maybe_unused]] typename S::X x[AHEAD];
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const bool inside = Count(u * LANES) < left;
      k[u] = inside ? Key(next[u * LANES]) : table.nothing();
      if constexpr (of_words<S>) x[u] = inside ? o.b_values[start + at + u * LANES] : 0;
    }
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      typename Table::Found p;
      if (!table.find(k[u], p)) continue;
      if constexpr (E::into == CORNERS)
        if (p & x[u]) count_matches(o, start + at + u * LANES, x[u], p & x[u]);
      if constexpr (of_words<S>) total.take(S::times(p, x[u], i, 0, j));
      else meet(int64_t(p), int64_t(at) + u * LANES, int64_t(k[u]));
    }
    at += Count(AHEAD * LANES);
    next += AHEAD * LANES;
  }
  __syncwarp();
  join_lanes<S>(total, LANES);
  if (of_words<S> && total.value == typename S::Z()) total.have = false;
  return total;
}

// The positions m_start .. m_stop-1 of the mask's row in part `part` of o.parts.  A warp reads up to 32 of them; the
// whole warp computes those with long rows of B' in turn, groups of lanes the others.
template <int LANES, class I, class J, class M, class S, class E, class Own, class Table>
GRB_DEVICE void positions_of_row(const Masked<I, J, M, S, E>& o, const Own& owner, const Table& table, int64_t i,
                                 int64_t part, int64_t m_start, int64_t m_stop, int64_t a_start,
                                 Total<typename E::R>& sum) {
  using Count = choose<sizeof(J) == 4, uint32_t, word>;  // entries of a row, with four steps of a warp
  constexpr int at_once = 32 / LANES;
  const int lane = lane_number(), sub = lane & (LANES - 1);
  const int warps = owner.size >> 5, number = owner.rank >> 5;
  const int64_t shares = warps * o.parts, share = (m_stop - m_start + shares - 1) / shares;
  const int chunk = int(min((share / 4 / at_once + 1) * at_once, int64_t(32)));  // four turns of a warp balance them
  for (int64_t base = m_start + (part * warps + number) * chunk; base < m_stop; base += shares * chunk) {
    const int here = int(min(m_stop - base, int64_t(chunk)));
    int64_t column = 0, first = 0, beyond = 0;
    if (lane < here) {
      column = o.m_cols[base + lane];
      row_range(o.b_ptr, o.b_rows, o.b_stored, column, first, beyond);
    }
    Count length = Count(beyond - first);
    if constexpr (LANES < 32) {
      const bool of_warp = length > Count(MOST_STEPS * LANES);
      for_each_lane(of_warp, [&](int from) {
        const int64_t j = shuffle(column, from), start = shuffle(first, from);
        const Total<S> total = dot_product<32>(o, table, i, j, start, shuffle(length, from), a_start);
        if (lane == 0 && total.have) emit<E>(o, sum, base + from, i, j, total.value);
      });
      if (of_warp) length = 0;
    }
    for (int turn = 0; turn < here; turn += at_once) {
      const int from = turn + lane / LANES;
      const int64_t j = shuffle(column, from), start = shuffle(first, from);
      const Total<S> total = dot_product<LANES>(o, table, i, j, start, shuffle(length, from), a_start);
      if (sub == 0 && from < here && total.have) emit<E>(o, sum, base + from, i, j, total.value);
    }
  }
}

template <class I, class J, class M, class S, int FORM, int LANES, class E>
__global__ void __launch_bounds__(FORM == BY_WARP ? 128 : 1024, FORM == BY_WARP ? 8 : 1)
masked_rows(Masked<I, J, M, S, E> o) {
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
    constexpr int gives = of_words<S> ? WORDS : S::reads_a && !S::a_iso ? POSITIONS : NOTHING;
    const I* cols = o.a_cols + a_start;
    const word* words = nullptr;
    if constexpr (of_words<S>) words = o.a_values + a_start;
    const int64_t length = a_stop - a_start;
    Total<typename E::R> sum;
    auto run = [&](auto table) {
      table.build(owner);
      positions_of_row<LANES>(o, owner, table, i, n % o.parts, o.m_ptr[r], o.m_ptr[r + 1], a_start, sum);
    };
    if (o.table == BITMAP) run(RowTable<I, BITMAP, gives>(cols, words, length, mine, o.capacity));
    else if (o.table == HASH) run(RowTable<I, HASH, gives>(cols, words, length, mine, o.capacity));
    else run(RowTable<I, SEARCHED, gives>(cols, words, length, mine, o.capacity));
    merge_row<E>(o, sum, r);
    owner.sync();
  }
}

}  // namespace grb
