// C<M> = A (+.x) B in two phases (SpGEMM, Gustavson): the operands, the analysis of rows, the bins, copied rows.
//
// Algorithm: symbolic phase (distinct columns of each row of C), exact allocation, numeric phase; rows in bins by size,
//   each bin with an accumulator in shared memory (Nagasaka, Nukada, Matsuoka, ICPP 2017; spECK: Parger et al., PPoPP
//   2020).
// Phases: spgemm_analyse   products and span of columns of each row of C, its bin, the rows of each bin
//         spgemm_list      the rows of each bin as a list
//         symbolic phase   spgemm_hash, spgemm_windows (products/spgemm_*.cuh): entries of each row of C
//         spgemm_rebin     the bins of the numeric phase, by the entries of each row
//         spgemm_expand    structure only: the columns that the symbolic phase kept (bitmap or list)
//         numeric phase    spgemm_copy, spgemm_hash, spgemm_windows: columns, ascending in each row, and values
// Bins: COPIED    one row of B, no mask: no accumulator
//       HASHED    five bins of 16 to 256 entries at most: hash table, a group of lanes for each row
//       WINDOWED  six bins by bytes of shared memory: bitmap of a window of columns, values by rank in the bitmap
//       SPLIT     rows of millions of products, whose values have an atomic: several blocks a row
// Launch: backends/cuda/products/spgemm.py.
// Precondition: columns of B are below 2^31 (they are relabelled where B has more), ascending in each row.
#pragma once
#include "products/semiring.cuh"

namespace grb {

enum { COPIED, HASHED, WINDOWED = HASHED + 5, SPLIT = WINDOWED + 6, BINS = 20, NO_BIN = 255 };  // BINS: at most
// Of `totals`: rows of each bin, products, words of `kept`, products and entries of the rows of A that are not sampled.
enum { PRODUCTS = BINS, KEPT_WORDS, PUSHED = KEPT_WORDS, SURE_PRODUCTS, SURE_ENTRIES, TOTALS = 32 };
constexpr int64_t HASH_LEAST = 16, HASH_MOST = 256;  // entries of a row in the first and in the last hashed bin
constexpr int64_t HASH_WORK = 1024;  // products of a row that a group of lanes takes
constexpr int64_t WARP_WORK = 1 << 14;  // products of a row that a warp takes; a block of the next bin: 8 times as many
// A warp reserves space for so many times its present rows, because an atomic for each, all on one address, takes most
// of the time of an analysis.
constexpr int64_t RESERVED = 8, MOST_RESERVED = 1024;  // words of these rows up to which it does: 0.5 GB for all warps
constexpr int AHEAD = 4;  // products of a lane that are read before the first is merged

// What a symbolic phase computes: no values.
struct Structure {
  using Z = uint8_t;
  using A = uint8_t;
  using X = uint8_t;
  static constexpr bool reads_a = false, reads_x = false, a_iso = false, x_iso = false, structure_only = true,
                        any = false, has_start = false, reads_k = false, plain_sum = false;
};

enum { BY_WARP, BY_ATOMICS, IN_ORDER };

// The threads of a row.
template <int FORM> struct Owner {
  int rank, size;
  GRB_DEVICE Owner() : rank(FORM == BY_WARP ? lane_number() : int(threadIdx.x)),
                       size(FORM == BY_WARP ? 32 : int(blockDim.x)) {}
  GRB_DEVICE void sync() const {
    if constexpr (FORM == BY_WARP) __syncwarp(); else __syncthreads();
  }
  GRB_DEVICE int exclusive_sum(int count, int& total, int* shared) const {
    if constexpr (FORM == BY_WARP) {
      int sum = warp_inclusive_sum(count);
      total = __shfl_sync(ALL_LANES, sum, 31);
      return sum - count;
    } else {
      return block_exclusive_sum(count, total, shared);
    }
  }
};

// The operands of a product and the rows of one bin; fields of 8 bytes in the order of products/spgemm.py.
template <class I, class O, class S> struct Spgemm {
  const int64_t* a_ptr;
  const int64_t* a_rows;  // null: CSR
  const I* a_cols;
  const typename S::A* a_values;
  const int64_t* b_ptr;
  const int64_t* b_rows;
  int64_t b_stored;
  const int32_t* b_cols;
  const typename S::X* b_values;
  const O* names;  // the columns of C that the columns of B stand for; null: themselves
  const int64_t* m_ptr;  // null: no mask
  const int64_t* m_rows;
  int64_t m_stored;
  const O* m_cols;
  int64_t complement;
  const word* spans;  // first << 32 | last column of each stored row of A's row of C
  int64_t* c_ptr;     // symbolic phase: c_ptr[r + 1] = entries of row r; numeric phase: row pointers
  O* c_cols;
  typename S::Z* c_values;
  const int64_t* list;  // the bin's rows
  int64_t listed;
  int64_t capacity;  // hash: slots of a table; windows: bytes of shared memory of a row
  int64_t window;    // columns of a window, a multiple of 64
  word* kept;              // null: the structure of rows is computed in both phases
  const int64_t* kept_at;  // of each stored row: the first word in `kept` of its bitmap or list of 32-bit columns

  GRB_DEVICE int64_t row(int64_t r) const { return a_rows == nullptr ? r : a_rows[r]; }
  GRB_DEVICE O column(int32_t c) const { return names == nullptr ? O(c) : names[c]; }
  GRB_DEVICE void row_of_b(int64_t k, int64_t& start, int64_t& stop) const {
    row_range(b_ptr, b_rows, b_stored, k, start, stop);
  }
  // May (i, column) be written?
  GRB_DEVICE bool admits(int64_t m_start, int64_t m_stop, int32_t c) const {
    return (find(m_cols, m_start, m_stop, column(c)) >= 0) != (complement != 0);
  }
};

// The bin of a row.  work: products; size: bound on the entries of its hash table; bytes: of its bitmap and values.
GRB_DEVICE int bin_of(int64_t work, int64_t size, int64_t bytes, int64_t least_bytes) {
  if (size <= HASH_MOST && work <= HASH_WORK) {
    int bin = HASHED;
    for (int64_t most = HASH_LEAST; size > most; most *= 2) bin++;
    return bin;
  }
  int level = 0;
  for (int64_t most = WARP_WORK; work > most && level < 4; most *= 8) level++;
  while (level < 5 && bytes > (least_bytes << level)) level++;
  return WINDOWED + level;
}
GRB_DEVICE int64_t window_words(int64_t columns) { return ((columns + 63) / 64 + 3) / 4 * 4; }
GRB_DEVICE int64_t span_of(word span) { return int64_t(span & 0xffffffffu) - int64_t(span >> 32) + 1; }

// Adds the block's counts of bins to the totals.
GRB_DEVICE void add_counts(const unsigned* counts, word* totals) {
  __syncthreads();
  if (threadIdx.x < BINS && counts[threadIdx.x]) atomicAdd(totals + threadIdx.x, word(counts[threadIdx.x]));
}

// spans[r], work[r] (products, at most 2^32 - 1), bins[r] of each stored row of A; totals += rows of each bin,
// products.  Rows of more than `sampled` entries are estimated from so many of them, because one warp reads the row.
// kept_at[r] (null: not wanted): see Spgemm.  `lanes` neighbours for each row.
template <class I>
__global__ void __launch_bounds__(256)
spgemm_analyse(const int64_t* a_ptr, const I* a_cols, int64_t stored, const int64_t* b_ptr, const int64_t* b_rows,
               int64_t b_stored, const int32_t* b_cols, int64_t lanes, bool masked, int64_t least_bytes,
               int64_t split_work, int64_t sampled, int64_t ncols, word* spans, uint32_t* work, uint8_t* bins,
               int64_t* c_ptr, int64_t* kept_at, word* totals) {
  __shared__ unsigned counts[BINS];
  __shared__ word sums[3];
  if (threadIdx.x < BINS) counts[threadIdx.x] = 0;
  if (threadIdx.x < 3) sums[threadIdx.x] = 0;
  __syncthreads();
  int sub = lane_number() & int(lanes - 1);
  int64_t in_warp = 32 / lanes, products = 0, sure = 0, entries = 0;
  int64_t reserved = 0, left = 0;  // words of `kept` that the warp has reserved: the first one, and how many
  GRB_EACH_WARP(task, (stored + in_warp - 1) / in_warp) {
    int64_t r = task * in_warp + lane_number() / lanes, count = 0, rows = 0, length = 0, step = 1;
    unsigned first = 0xffffffffu, last = 0;
    if (r < stored) {
      length = a_ptr[r + 1] - a_ptr[r];
      step = (length + sampled - 1) / sampled;
      for (int64_t p = a_ptr[r] + sub * step, end = a_ptr[r + 1]; p < end; p += lanes * step) {
        int64_t start, stop;
        row_range(b_ptr, b_rows, b_stored, int64_t(a_cols[p]), start, stop);
        if (start == stop) continue;
        count += stop - start;
        rows++;
        first = min(first, unsigned(b_cols[start]));
        last = max(last, unsigned(b_cols[stop - 1]));
      }
    }
    for (int by = int(lanes) >> 1; by; by >>= 1) {
      count += __shfl_down_sync(ALL_LANES, count, by);
      rows += __shfl_down_sync(ALL_LANES, rows, by);
      first = min(first, __shfl_down_sync(ALL_LANES, first, by));
      last = max(last, __shfl_down_sync(ALL_LANES, last, by));
    }
    const bool leads = r < stored && sub == 0;
    int bin = NO_BIN;
    if (step > 1) {  // an estimate: the row counts as long, and may have any column
      count = max(count * step, max(length, HASH_WORK + 1));
      rows = 2, first = 0, last = unsigned(ncols - 1);
    }
    word span = word(first) << 32 | last;
    if (rows == 1 && !masked) bin = COPIED;
    else if (count > split_work) bin = SPLIT;
    else if (rows > 0) bin = bin_of(count, count, window_words(span_of(span)) * 8, least_bytes);
    if (kept_at != nullptr) {
      int64_t words = !leads || rows == 0 || bin == COPIED || bin == SPLIT ? 0
                      : bin < WINDOWED ? (count + 1) / 2 : window_words(span_of(span));
      const int64_t upto = warp_inclusive_sum(words), all = shuffle(upto, 31);
      if (all > left) {
        left = all > MOST_RESERVED ? all : all * min(RESERVED, (grb_end - 1 - task) / grb_step + 1);
        if (lane_number() == 0) reserved = int64_t(atomicAdd(totals + KEPT_WORDS, word(left)));
        reserved = shuffle(reserved, 0);
      }
      if (leads) kept_at[r] = reserved + upto - words;
      reserved += all, left -= all;
    }
    if (!leads) continue;
    spans[r] = span;
    work[r] = uint32_t(min(count, int64_t(0xffffffff)));
    bins[r] = uint8_t(bin);
    c_ptr[r + 1] = bin == COPIED ? count : 0;
    if (r == 0) c_ptr[0] = 0;
    if (bin != NO_BIN) atomicAdd(counts + bin, 1u);
    products += count;
    if (step == 1) sure += count, entries += length;
  }
  products = warp_sum(products), sure = warp_sum(sure), entries = warp_sum(entries);
  if (lane_number() == 0) {
    atomicAdd(sums, word(products));
    atomicAdd(sums + 1, word(sure));
    atomicAdd(sums + 2, word(entries));
  }
  add_counts(counts, totals);
  constexpr int into[3] = {PRODUCTS, SURE_PRODUCTS, SURE_ENTRIES};
  if (threadIdx.x < 3 && sums[threadIdx.x]) atomicAdd(totals + into[threadIdx.x], sums[threadIdx.x]);
}

// The rows of this block: an equal share of all.
GRB_DEVICE void share_of_rows(int64_t stored, int64_t& from, int64_t& to) {
  const int64_t share = (stored + gridDim.x - 1) / gridDim.x;
  from = min(int64_t(blockIdx.x) * share, stored);
  to = min(from + share, stored);
}

// bins[r] of the numeric phase, from the entries c_ptr[r + 1] that the symbolic phase counted; sums[b] = entries of the
// rows of block b.  as_they_are: rows with entries stay in their bins.
template <int = 0>
__global__ void __launch_bounds__(256)
spgemm_rebin(const int64_t* c_ptr, int64_t stored, const word* spans, const uint32_t* work, bool masked,
             bool as_they_are, int64_t least_bytes, int64_t word_bytes, int64_t value_bytes, uint8_t* bins,
             word* totals, int64_t* sums) {
  __shared__ unsigned counts[BINS];
  __shared__ int64_t shared[32];
  if (threadIdx.x < BINS) counts[threadIdx.x] = 0;
  __syncthreads();
  int64_t from, to, sum = 0;
  share_of_rows(stored, from, to);
  for (int64_t r = from + threadIdx.x; r < to; r += blockDim.x) {
    int64_t entries = c_ptr[r + 1];
    sum += entries;
    int bin = bins[r];
    if (entries == 0) {
      bin = NO_BIN;
    } else if (bin != COPIED && bin != SPLIT && !as_they_are) {
      int64_t bytes = window_words(span_of(spans[r])) * word_bytes + entries * value_bytes;
      bin = bin_of(work[r], masked ? int64_t(work[r]) : entries, bytes, least_bytes);
    }
    bins[r] = uint8_t(bin);
    if (bin != NO_BIN) atomicAdd(counts + bin, 1u);
  }
  add_counts(counts, totals);
  sum = block_reduce(sum, [](int64_t x, int64_t y) { return x + y; }, shared);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// list: the rows of bin 0, then those of bin 1, ...; cursors hold zeros.  With `sums` (of spgemm_rebin, from as many
// blocks) c_ptr, entries of each row, becomes row pointers.
template <int = 0>
__global__ void __launch_bounds__(256)
spgemm_list(const uint8_t* bins, int64_t stored, const word* totals, word* cursors, int64_t* list, const int64_t* sums,
            int64_t* c_ptr) {
  __shared__ unsigned counts[BINS];
  __shared__ word base[BINS];
  __shared__ int64_t shared[33];
  int64_t from, to, before = 0, total = 0;
  share_of_rows(stored, from, to);
  if (sums != nullptr) {
    for (int64_t b = threadIdx.x; b < blockIdx.x; b += blockDim.x) before += sums[b];
    block_exclusive_sum(before, total, shared);
    before = total;
  }
  for (; from < to; from += blockDim.x) {
    if (threadIdx.x < BINS) counts[threadIdx.x] = 0;
    __syncthreads();
    int64_t r = from + threadIdx.x;
    int bin = r < to ? bins[r] : NO_BIN;
    if (sums != nullptr) {
      int64_t entries = r < to ? c_ptr[r + 1] : 0, rank = block_exclusive_sum(entries, total, shared);
      if (r < to) c_ptr[r + 1] = before + rank + entries;
      before += total;
    }
    unsigned at = 0;
    if (bin != NO_BIN) at = atomicAdd(counts + bin, 1u);
    __syncthreads();
    if (threadIdx.x < BINS && counts[threadIdx.x]) {
      word first = atomicAdd(cursors + threadIdx.x, word(counts[threadIdx.x]));
      for (int b = 0; b < int(threadIdx.x); b++) first += totals[b];
      base[threadIdx.x] = first;
    }
    __syncthreads();
    if (bin != NO_BIN) list[base[bin] + at] = r;
    __syncthreads();
  }
}

// The rows of C that are one row of B times one entry of A; `capacity` lanes for each.
template <class I, class O, class S>
__global__ void __launch_bounds__(256) spgemm_copy(Spgemm<I, O, S> o) {
  int64_t lanes = o.capacity;
  int sub = int(threadIdx.x & unsigned(lanes - 1));
  for (int64_t n = thread_number() / lanes; n < o.listed; n += thread_count() / lanes) {
    int64_t r = o.list[n], i = o.row(r), at = o.c_ptr[r];
    for (int64_t p = o.a_ptr[r]; p < o.a_ptr[r + 1]; p++) {  // the only entry of A that meets a row of B
      int64_t k = o.a_cols[p], start, stop;
      o.row_of_b(k, start, stop);
      if (start == stop) continue;
      auto a = value_of_a<S>(o.a_values, p);
      for (int64_t q = start + sub; q < stop; q += lanes) {
        O j = o.column(o.b_cols[q]);
        o.c_cols[at + q - start] = j;
        if constexpr (!S::structure_only)
          o.c_values[at + q - start] = S::times(a, value_of_x<S>(o.b_values, q), i, k, j);
      }
      break;
    }
  }
}

// The columns of C that the symbolic phase kept; `capacity`: 0 for lists, else bitmaps.
template <class I, class O, class S, int FORM>
__global__ void __launch_bounds__(256) spgemm_expand(Spgemm<I, O, S> o) {
  __shared__ int sums[33];
  const Owner<FORM> owner;
  const int in_block = FORM == BY_WARP ? int(blockDim.x >> 5) : 1;
  const int number = FORM == BY_WARP ? int(threadIdx.x >> 5) : 0;
  for (int64_t n = int64_t(blockIdx.x) * in_block + number; n < o.listed; n += int64_t(gridDim.x) * in_block) {
    const int64_t r = o.list[n], low = int64_t(o.spans[r] >> 32);
    const word* bits = o.kept + o.kept_at[r];
    int64_t to = o.c_ptr[r];
    if (o.capacity == 0) {
      const int32_t* columns = reinterpret_cast<const int32_t*>(bits);
      for (int64_t at = owner.rank, entries = o.c_ptr[r + 1] - to; at < entries; at += owner.size)
        o.c_cols[to + at] = o.column(columns[at]);
      continue;
    }
    const int64_t words = (span_of(o.spans[r]) + 63) / 64;
    for (int64_t first = 0; first < words; first += owner.size) {
      const int64_t w = first + owner.rank;
      const word mine = w < words ? bits[w] : 0;
      int total = 0;
      const int rank = owner.exclusive_sum(__popcll(mine), total, sums);
      for_each_lane(mine != 0, [&](int from) {  // the warp writes the columns of one word
        const word whole = shuffle(mine, from);
        int64_t column = low + shuffle(w, from) * 64 + lane_number(), at = to + shuffle(rank, from);
#pragma unroll
        for (int half = 0; half < 64; half += 32, column += 32) {
          const unsigned part = unsigned(whole >> half);
          if (part >> lane_number() & 1) o.c_cols[at + rank_in(part)] = o.column(int32_t(column));
          at += __popc(part);
        }
      });
      to += total;
    }
  }
}

}  // namespace grb
