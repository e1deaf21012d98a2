// w[i] = (+)_k A[i,k] (x) x[k] for a full x and all rows: SpMV by a segmented sum over equal shares of the entries.
//
// Algorithm: CSR5 (Liu, Vinter, ICS 2015), section 3: tiles of entries, bits where rows begin, segmented sums; with
//   equal shares of the entries and the carry-out fix-up of merge-based CSR (Merrill, Garland, SC 2016), section 3.
// Phases of a warp, slice by slice (SLICE entries; the loads of the next slice are issued while this one is computed):
//   load       lane l takes entries l, 32 + l, ... (coalesced), and 8 bits: which of entries 8 l .. 8 l + 7 begin a row
//   gather     x at the entries' columns, by COLUMNS:
//                PLAIN       the matrix's own columns
//                DELTA       16-bit distances from a base for each slice (bases[slice] < 0: PLAIN in this slice)
//                RELABELLED  columns relabelled by falling frequency: x is given in that order, its first `cached`
//                            values are in shared memory
//   multiply   S::times; BOOL by a monoid of bits (in_bits) for eight entries of a lane at once
//   transpose  through shared memory: lane l gets the products of the consecutive entries 8 l .. 8 l + 7
//   reduce     inside each lane, then across lanes (close_rows: segmented scan); rows that end in the slice are written
// Then the carry-out fix-up closes rows that cross warps (block_fix_up) and blocks (grid_fix_up, in the
// block that arrives last).
// Launch: backends/cuda/products/segments.py, THREADS threads, at most THREADS blocks, all resident; shared memory:
//   LANE_ENTRIES values of Z for each thread, after the cached part of x in multiples of 16 bytes.
// Preconditions: the form of products/segments.py; `arrived` is zero before and after.  w of rows without entries
//   stays as it is.
#pragma once
#include "products/segment_rows.cuh"

namespace grb {

enum { PLAIN_COLUMNS, DELTA_COLUMNS, RELABELLED_COLUMNS };

template <class S> constexpr bool gathers = S::reads_x && !S::x_iso;
// BOOL by a monoid of bits: each lane loads the values of its own eight entries as one word, and x
// is what is transposed.
template <class S> constexpr bool in_bits = S::fold != NO_FOLD && S::reads_a && !S::a_iso && gathers<S> &&
    is_same<typename S::A, bool> && is_same<typename S::X, bool>;

// The matrix as backends/cuda/products/segments.py stores it; R: type of row numbers.
template <class I, class R, class S> struct SegmentedMatrix {
  const uint8_t* begins;           // bit k: a row begins with entry k
  const R* before;                 // rows begun before each slice
  const R* names;                  // the rows with entries; null: all
  int64_t rows, entries, slices;   // rows with entries
  const I* cols;
  const uint16_t* offsets;         // DELTA
  const int32_t* bases;            // DELTA
  const typename S::A* values;
  GRB_DEVICE R name(R row) const { return names == nullptr ? row : names[row]; }
  // The number of the first slice of warp `number` of the grid.
  GRB_DEVICE int64_t first_slice(int64_t number) const { return slices * number / warp_count(); }
  // The row that is open where that warp begins.
  GRB_DEVICE R open_row(int64_t number) const { return before[first_slice(number)] - 1; }
};

// Which rows begin in a slice.
template <class R> struct SliceRows {
  unsigned here, begun;            // entries of this lane that begin a row; lanes in which one begins
  bool single;                     // at most one begins in each lane
  R before, opened, out;           // rows before the slice; open where this lane begins; single: the name of that one
};

// One warp's slices, its sums in registers.
template <class I, class R, class S, int COLUMNS> struct WarpSum {
  using Z = typename S::Z;
  using A = typename S::A;
  using X = choose<in_bits<S>, uint8_t, typename S::X>;          // bool as the byte that it is, 0 or 1
  static constexpr bool needs_columns = gathers<S> || S::reads_k;
  static constexpr bool is_delta = COLUMNS == DELTA_COLUMNS && gathers<S>;
  static constexpr bool is_relabelled = COLUMNS == RELABELLED_COLUMNS && gathers<S>;
  static constexpr bool needs_values = S::reads_a && !S::a_iso;

  const SegmentedMatrix<I, R, S>& m;
  const typename S::X* x_given;
  const X* table;                  // the first `cached` values of x
  int64_t cached;
  Z* buffer;
  Z* w;
  const int whole, whole_words;    // slices that are full; those whose values load as words

  // the slice that is loaded
  I c[LANE_ENTRIES];
  A a[LANE_ENTRIES];
  uint2 word;                      // in_bits: replaces `a`
  uint4 packed;
  int32_t base = 0;
  unsigned bits = 0;
  R row_before = 0;
  // the carry
  Total<S> open;                   // of the row that is open: spread over the lanes, or in lane 0 alone
  Total<S> front;                  // what belongs to the row that was open where this warp's entries begin
  bool spread = false, started = false;

  GRB_DEVICE WarpSum(const SegmentedMatrix<I, R, S>& m, const typename S::X* x, const X* table, int64_t cached,
                     Z* buffer, Z* w)
      : m(m), x_given(x), table(table), cached(cached), buffer(buffer), w(w),
        whole(int(m.entries / SLICE)),
        // A view may begin at any address.
        whole_words(reinterpret_cast<uintptr_t>(m.values) % sizeof(uint2) == 0 ? whole : 0) {}

  // ---- load

  // Entries of the slice behind lane l's first one, without it; after the last entry the last one is loaded again.
  GRB_DEVICE int left_in(int slice, int first) const { return int(m.entries - int64_t(slice) * SLICE) - 1 - first; }

  template <class T> GRB_DEVICE void load_strided(const T* array, int slice, T (&to)[LANE_ENTRIES]) const {
    const T* from = array + (int64_t(slice) * SLICE + lane_number());
    if (slice < whole) {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) to[u] = stream(from + u * 32);
    } else {
      const int left = left_in(slice, lane_number());
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) to[u] = stream(from + (u * 32 < left ? u * 32 : left));
    }
  }

  GRB_DEVICE void load_values(int slice) {
    if constexpr (in_bits<S>) {
      const A* from = m.values + (int64_t(slice) * SLICE + lane_number() * LANE_ENTRIES);
      if (slice < whole_words) {
        word = __ldcs(reinterpret_cast<const uint2*>(from));
      } else {
        const int left = left_in(slice, lane_number() * LANE_ENTRIES);
        A each[LANE_ENTRIES];
#pragma unroll
        for (int u = 0; u < LANE_ENTRIES; u++) each[u] = from[u < left ? u : left];
        memcpy(&word, each, sizeof word);
      }
    } else if constexpr (needs_values) {
      load_strided(m.values, slice, a);
    }
  }

  GRB_DEVICE void load_columns(int slice) {
    if constexpr (is_delta) {
      packed = __ldcs(reinterpret_cast<const uint4*>(m.offsets) + (int64_t(slice) * 32 + lane_number()));
      base = m.bases[slice];
    } else if constexpr (needs_columns) {
      load_strided(m.cols, slice, c);
    }
  }

  GRB_DEVICE void load_rows(int slice) {
    bits = __ldcs(m.begins + (int64_t(slice) * 32 + lane_number()));
    row_before = m.before[slice];
  }

  // ---- gather

  GRB_DEVICE void gather(int slice, X (&x)[LANE_ENTRIES]) {
    const X* x_values = reinterpret_cast<const X*>(x_given);
    if constexpr (is_delta) {
      const X* near = x_values + (base < 0 ? 0 : base);
      if (base < 0) {
        load_strided(m.cols, slice, c);
      } else {
        c[0] = packed.x & 0xffff, c[1] = packed.x >> 16, c[2] = packed.y & 0xffff, c[3] = packed.y >> 16;
        c[4] = packed.z & 0xffff, c[5] = packed.z >> 16, c[6] = packed.w & 0xffff, c[7] = packed.w >> 16;
      }
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) x[u] = read_only(near + unsigned(c[u]));
    } else if constexpr (is_relabelled) {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if (c[u] >= I(cached)) x[u] = read_only(x_values + c[u]);
      }
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if (c[u] < I(cached)) x[u] = table[c[u]];
      }
    } else {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if constexpr (gathers<S>) x[u] = read_only(x_values + c[u]);
        else x[u] = value_of_x<S>(x_given, I(0));
      }
    }
  }

  GRB_DEVICE SliceRows<R> rows_here() const {
    SliceRows<R> rows;
    rows.here = bits, rows.begun = __ballot_sync(ALL_LANES, bits != 0);
    rows.single = !__any_sync(ALL_LANES, (bits & (bits - 1)) != 0);
    rows.before = row_before, rows.opened = row_before - 1, rows.out = 0;
    if (rows.single) {
      rows.opened += R(__popc(rows.begun & ((1u << lane_number()) - 1)));
      if (rows.here) rows.out = m.name(rows.opened < 0 ? R(0) : rows.opened);
    }
    return rows;
  }

  // ---- multiply

  // p[u] of entry u * 32 + l; in_bits: returns those of this lane's own eight entries.  Positional operators that read
  // the row multiply while they reduce, where the row is known.
  GRB_DEVICE unsigned multiply(X (&x)[LANE_ENTRIES], Z (&p)[LANE_ENTRIES]) {
    if constexpr (in_bits<S>) {
      uint2 other;
      exchange(reinterpret_cast<X*>(buffer), x, &other);
      return product_bits<S>(word, other);
    } else if constexpr (!S::reads_i) {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        A value = A();
        if constexpr (needs_values) value = a[u];
        else if constexpr (S::reads_a) value = m.values[0];
        p[u] = S::times(value, x[u], 0, S::reads_k ? int64_t(c[u]) : int64_t(0), 0);
      }
    }
    return 0;
  }
  GRB_DEVICE Z product_in_row(R row) const {
    return S::times(A(), X(), m.name(row < 0 || row >= m.rows ? R(0) : row), 0, 0);
  }

  // ---- reduce

  // No row begins in the slice: all products belong to the open row.
  GRB_DEVICE void add_to_open(Z (&p)[LANE_ENTRIES], unsigned products, R opened) {
    Total<S> run;
    if constexpr (in_bits<S>) {
      run.set(folded<S>(products, 0xff));
    } else {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if constexpr (S::reads_i) p[u] = S::times(A(), X(), m.name(opened), 0, 0);
        if (u == 0) run.set(p[u]);
        else run.take(p[u]);
      }
    }
    open.take(run.value);
    spread = true;
  }
  GRB_DEVICE void gather_open() {
    join_lanes<S>(open, 32);
    if (lane_number() != 0) open = Total<S>();
    spread = false;
  }

  // At most one row begins in this lane: `head` is the sum before it, `run` that from it (all, if none begins).
  GRB_DEVICE void reduce_single(const SliceRows<R>& rows, Z (&p)[LANE_ENTRIES], unsigned products, Total<S>& head,
                                Total<S>& run) {
    if constexpr (in_bits<S>) {
      const unsigned below = rows.here ? rows.here - 1 : 0;
      head.value = folded<S>(products, below);
      run.value = folded<S>(products, 0xff & ~below);
    } else {
      const int at = __ffs(int(rows.here)) - 1;          // -1: none begins
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if constexpr (S::reads_i) p[u] = product_in_row(u < at || at < 0 ? rows.opened : R(rows.opened + 1));
        if (u > 0 && u == at) head = run;
        if (u == 0 || u == at) run.set(p[u]);
        else run.take(p[u]);
      }
    }
  }

  // Several rows begin in this lane: sums of rows that are inside it go to buffer[number of the row in the slice].
  // earlier: rows that begin in lower lanes; returns those of the slice.
  GRB_DEVICE int reduce_many(const SliceRows<R>& rows, Z (&p)[LANE_ENTRIES], Total<S>& head, Total<S>& run,
                             int& earlier) {
    const int mine = __popc(rows.here), upto = warp_scan(mine, [](int i, int j) { return i + j; });
    earlier = upto - mine;
    int number = earlier;
#pragma unroll
    for (int u = 0; u < LANE_ENTRIES; u++) {
      if (rows.here >> u & 1) {
        if (number == earlier) head = run;
        else buffer[number] = run.value;
        number++;
      }
      if constexpr (S::reads_i) p[u] = product_in_row(rows.before - 1 + number);
      if (u == 0 || rows.here >> u & 1) run.set(p[u]);
      else run.take(p[u]);
    }
    return __shfl_sync(ALL_LANES, upto, 31);
  }

  // The buffer's sums to rows opened .. opened + count - 1; the first belongs to the warp before, if none began here
  // yet.  Two loops, which the compiler unrolls, so that m.names is not tested in each step.
  GRB_DEVICE void write_rows(R opened, int count) const {
    if (m.names == nullptr) {
      for (int k = lane_number(); k < count; k += 32)
        if (k > 0 || started) w[opened + k] = buffer[k];
    } else {
      for (int k = lane_number(); k < count; k += 32)
        if (k > 0 || started) w[m.names[opened + k]] = buffer[k];
    }
  }

  // Reduces the slice's products by rows and writes the rows that end in it.
  GRB_DEVICE void segmented_sum(const SliceRows<R>& rows, Z (&p)[LANE_ENTRIES], unsigned products) {
    if constexpr (!S::reads_i && !in_bits<S>) exchange(buffer, p, p);
    if (spread) gather_open();
    if constexpr (in_bits<S>) {
      if (!rows.single) {
#pragma unroll
        for (int u = 0; u < LANE_ENTRIES; u++) p[u] = products >> u & 1;
      }
    }
    Total<S> head, run;
    int earlier = 0, count = 0;
    if (rows.single) reduce_single(rows, p, products, head, run);
    else count = reduce_many(rows, p, head, run, earlier);
    Total<S> closed = close_rows<S, true>(rows.begun, head, run, open);
    const int first = __ffs(int(rows.begun)) - 1;
    if (rows.single) {
      if (rows.here && (started || lane_number() != first)) w[rows.out] = closed.value;
    } else {
      if (rows.here) buffer[earlier] = closed.value;
      __syncwarp();
      write_rows(rows.before - 1, count);
      __syncwarp();
    }
    if (!started) {                // entries before the first row belong to the previous warp
      front.value = shuffle(closed.value, first);
      front.have = __shfl_sync(ALL_LANES, int(closed.have), first) != 0;
      started = true;
    }
  }

  // Slices from .. stop - 1; what is open at both ends.
  GRB_DEVICE Ends<S> run(int slice, int stop) {
    if (slice < stop) {
      load_columns(slice);
      load_rows(slice);
      load_values(slice);
    }
    for (; slice < stop; slice++) {
      const bool more = slice + 1 < stop;
      X x[LANE_ENTRIES];
      gather(slice, x);
      const SliceRows<R> rows = rows_here();
      if (more) load_rows(slice + 1);
      if constexpr (!S::reads_k) {
        if (more) load_columns(slice + 1);
      }
      Z p[LANE_ENTRIES];
      const unsigned products = multiply(x, p);
      if constexpr (S::reads_k) {
        if (more) load_columns(slice + 1);
      }
      if (more) load_values(slice + 1);
      if (rows.begun == 0) add_to_open(p, products, rows.opened);
      else segmented_sum(rows, p, products);
    }
    if (spread) join_lanes<S>(open, 32);
    Ends<S> ends;
    ends.head = front, ends.tail = open, ends.begins = started;
    return ends;
  }
};

// The ends of each warp's entries in the warp's own part of shared memory.
template <class S> struct WarpEnds {
  using Z = typename S::Z;
  Z* buffers;
  GRB_DEVICE void put(int warp, const Ends<S>& ends) const {
    if (lane_number() == 0) {
      Z* to = buffers + warp * SLICE;
      to[0] = ends.head.value;
      to[1] = ends.tail.value;
      reinterpret_cast<unsigned char*>(to + 2)[0] = ends.flags();
    }
  }
  GRB_DEVICE void take(int warp, Ends<S>& ends) const {
    const Z* from = buffers + warp * SLICE;
    ends.set(from[0], from[1], reinterpret_cast<const unsigned char*>(from + 2)[0]);
  }
  // A word after the ends of warp 0.  Static shared memory counts towards the 48 KiB that need no attribute.
  GRB_DEVICE int* flag() const { return reinterpret_cast<int*>(buffers) + 16; }
};

// Carry-out fix-up inside a block, by warp 0: lane l has the ends of warp l where `warps` warps have entries.
// scale: warps of the grid that one of them stands for.
template <class I, class R, class S>
GRB_DEVICE Ends<S> block_fix_up(const SegmentedMatrix<I, R, S>& m, const WarpEnds<S>& shared, int64_t first,
                                int64_t scale, bool has_entries, typename S::Z* w) {
  Ends<S> ends;
  R opened = 0;
  const int lane = lane_number();
  if (lane < int(blockDim.x >> 5)) {
    shared.take(lane, ends);
    if (has_entries) opened = m.open_row(first + lane * scale);
  }
  return close_ends<S, R>(ends, opened, m.names, w);
}

// Carry-out fix-up across blocks, by the block that arrives last: thread t has the ends of block t.
template <class I, class R, class S>
GRB_DEVICE Ends<S> grid_fix_up(const SegmentedMatrix<I, R, S>& m, const WarpEnds<S>& shared, const typename S::Z* parts,
                               const uint8_t* part_flags, typename S::Z* w) {
  const int warp = threadIdx.x >> 5, together = blockDim.x >> 5, blocks = int(gridDim.x);
  Ends<S> ends;
  if (warp * 32 < blocks) {
    R opened = 0;
    const int block = threadIdx.x;
    if (block < blocks) {
      ends.set(fresh_value(parts + 2 * block), fresh_value(parts + 2 * block + 1), fresh_value(part_flags + block));
      opened = m.open_row(int64_t(block) * together);
    }
    ends = close_ends<S, R>(ends, opened, m.names, w);
  }
  shared.put(warp, ends);
  __syncthreads();
  if (warp == 0) ends = block_fix_up(m, shared, 0, int64_t(32) * together, lane_number() * 32 < blocks, w);
  return ends;
}

template <class I, class R, class S, int COLUMNS, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
matvec_segments(const uint8_t* __restrict__ begins, const R* __restrict__ before, const R* __restrict__ names,
                int64_t rows, int64_t entries, int64_t slices, const I* __restrict__ cols,
                const uint16_t* __restrict__ offsets, const int32_t* __restrict__ bases,
                const typename S::A* __restrict__ a_values, const typename S::X* __restrict__ x_given,
                int64_t cached, typename S::Z* __restrict__ w, typename S::Z* parts, uint8_t* part_flags,
                unsigned* arrived) {
  using Z = typename S::Z;
  using Sum = WarpSum<I, R, S, COLUMNS>;
  using X = typename Sum::X;
  extern __shared__ ulonglong2 segment_memory[];
  const SegmentedMatrix<I, R, S> m{begins, before, names, rows, entries, slices, cols, offsets, bases, a_values};
  const int warp = threadIdx.x >> 5;
  X* table = reinterpret_cast<X*>(segment_memory);
  int64_t table_bytes = 0;
  if constexpr (Sum::is_relabelled) {
    table_bytes = (cached * int64_t(sizeof(X)) + 15) / 16 * 16;
    for (int k = threadIdx.x; k < int(cached); k += blockDim.x)
      table[k] = read_only(reinterpret_cast<const X*>(x_given) + k);
    __syncthreads();
  }
  const WarpEnds<S> shared{reinterpret_cast<Z*>(reinterpret_cast<unsigned char*>(segment_memory) + table_bytes)};

  Sum sum(m, x_given, table, cached, shared.buffers + warp * SLICE, w);
  Ends<S> ends = sum.run(int(m.first_slice(warp_number())), int(m.first_slice(warp_number() + 1)));

  shared.put(warp, ends);
  __syncthreads();
  int* last = shared.flag();
  if (warp == 0) {
    ends = block_fix_up(m, shared, warp_number(), 1, true, w);
    if (lane_number() == 0 && gridDim.x > 1) {
      parts[2 * blockIdx.x] = ends.head.value;
      parts[2 * blockIdx.x + 1] = ends.tail.value;
      part_flags[blockIdx.x] = ends.flags();
      __threadfence();
      *last = atomicAdd(arrived, 1u) == gridDim.x - 1;
      if (*last) *arrived = 0;
      __threadfence();
    }
  }
  if (gridDim.x > 1) {
    __syncthreads();
    const bool mine = *last != 0;
    __syncthreads();
    if (!mine) return;
    ends = grid_fix_up(m, shared, parts, part_flags, w);
  }
  // The last row: where a slice is not full, the bit after the last entry has closed it.
  if (threadIdx.x == 0 && entries % SLICE == 0) w[m.name(R(rows - 1))] = ends.tail.value;
}

// ---------------------------------------------------------------------- the form

// A bit where each row begins, and one after the last entry.
template <class P> __global__ void mark_begins(const P* starts, int64_t rows, int64_t entries, unsigned* begins) {
  GRB_EACH(r, rows + 1) {
    int64_t at = r < rows ? int64_t(starts[r]) : entries;
    atomicOr(begins + (at >> 5), 1u << (at & 31));
  }
}

// 16-bit delta encoding: distances from the least column of each slice, in the order in which lanes take them;
// bases[slice] = -1 where they do not fit.  *count grows by the slices where they do.  Null outputs are left out.
template <class I>
__global__ void encode_columns(const I* cols, int64_t entries, int64_t slices, uint16_t* offsets, int32_t* bases,
                               unsigned long long* count) {
  unsigned long long found = 0;
  GRB_EACH_WARP(slice, slices) {
    int32_t c[LANE_ENTRIES], low = 0x7fffffff, high = 0;
    for (int u = 0; u < LANE_ENTRIES; u++) {
      int64_t k = slice * SLICE + u * 32 + lane_number();
      c[u] = int32_t(cols[k < entries ? k : entries - 1]);
      low = c[u] < low ? c[u] : low;
      high = c[u] > high ? c[u] : high;
    }
    low = warp_min(low);
    high = warp_max(high);
    bool fits = high - low < 65536;
    found += fits;
    if (lane_number() == 0) bases[slice] = fits ? low : -1;
    if (offsets != nullptr) {
      for (int u = 0; u < LANE_ENTRIES; u++)
        offsets[slice * SLICE + lane_number() * LANE_ENTRIES + u] = uint16_t(fits ? c[u] - low : 0);
    }
  }
  if (lane_number() == 0 && count != nullptr && found) atomicAdd(count, found);
}

}  // namespace grb
