// One warp's part of SpMV by segments: its slices, phase by phase.
//
// Who includes it: products/segments.cuh, whose head has the algorithm and the phases.
// Precondition: a whole warp calls together.
#pragma once
#include "base/async_copy.cuh"
#include "products/segment_rows.cuh"

namespace grb {

enum { PLAIN_COLUMNS, DELTA_COLUMNS, RELABELLED_COLUMNS, BINNED_COLUMNS };

template <class S> constexpr bool gathers = S::reads_x && !S::x_iso;
// BOOL by a monoid of bits: each lane loads the values of its own eight entries as one word, and x
// is what is transposed.
template <class S> constexpr bool in_bits = S::fold != NO_FOLD && S::reads_a && !S::a_iso && gathers<S> &&
    is_same<typename S::A, bool> && is_same<typename S::X, bool>;

// The matrix as backends/cuda/products/segments.py stores it; R: type of row numbers.
template <class I, class R, class A> struct SegmentedMatrix {
  const uint8_t* begins;           // bit k: a row begins with entry k
  const R* before;                 // rows begun before each slice
  const R* names;                  // the rows with entries; null: all
  int64_t rows, entries, slices;   // rows with entries
  const I* cols;
  const uint16_t* offsets;         // DELTA; BINNED: places in the bin
  const int32_t* bases;            // DELTA; BINNED: chunks before each bin
  const A* values;
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
//
// x with gaps: a product without its x is start() where the monoid has one, and which rows meet an entry is a segmented
// OR of bits; else (and for positional operators that read the row) each total says whether it has a value.
template <class I, class R, class S, int COLUMNS, int GAPS> struct WarpSum {
  using Z = typename S::Z;
  using A = typename S::A;
  static constexpr bool gaps = GAPS != NO_GAPS;
  static constexpr bool padded = gaps && S::has_start && !S::reads_i;
  using T = Total<choose<gaps && !padded, WithGaps<S>, S>>;
  using Out = choose<gaps, WithGaps<S>, S>;                      // of the warp's ends and rows
  static constexpr bool bitwise = in_bits<S> && !gaps;
  static constexpr bool in_bytes = bitwise || (gaps && is_same<typename S::X, bool>);
  using X = choose<in_bytes, uint8_t, typename S::X>;            // bool as the byte that it is: 0, 1, ABSENT
  static constexpr bool needs_columns = gathers<S> || S::reads_k || gaps;
  static constexpr bool is_delta = COLUMNS == DELTA_COLUMNS && gathers<S>;
  static constexpr bool is_relabelled = COLUMNS == RELABELLED_COLUMNS && gathers<S>;
  static constexpr bool is_binned = COLUMNS == BINNED_COLUMNS && gathers<S>;
  static constexpr int BIN_CHUNK = sizeof(X) > 4 ? 4 : 8;        // as binned_columns.py has it
  static constexpr bool needs_values = S::reads_a && !S::a_iso;
  // A lane has entries 8 l .. 8 l + 7 from the start, since gathers from shared memory are as fast in any order; else
  // l, 32 + l, ..., whose columns are near each other.
  static constexpr bool in_order = is_binned;

  const SegmentedMatrix<I, R, A>& m;
  const typename S::X* x_given;
  X* table;                        // the first `cached` values of x; BINNED: those of hubs, then a bin
  int64_t cached;                  // BINNED: steps
  const XGaps x_gaps;
  Z* buffer;
  RowOutput<Z, gaps>& out;
  const int whole, whole_words;    // slices that are full; those whose values load as words

  // the slice that is loaded
  I c[LANE_ENTRIES];
  A a[LANE_ENTRIES];
  uint2 word;                      // bitwise: replaces `a`
  uint4 packed;
  int32_t base = 0;
  unsigned bits = 0;
  unsigned present = 0;            // gaps: bit u: the lane's entry u has its x
  R row_before = 0;
  // the carry
  T open;                          // of the row that is open: spread over the lanes, or in lane 0 alone
  T front;                         // what belongs to the row that was open where this warp's entries begin
  bool open_there = false, front_there = false;          // padded: have these rows met an entry?
  bool spread = false, started = false;

  GRB_DEVICE WarpSum(const SegmentedMatrix<I, R, A>& m, const typename S::X* x, X* table, int64_t cached,
                     const XGaps& x_gaps, Z* buffer, RowOutput<Z, gaps>& out)
      : m(m), x_given(x), table(table), cached(cached), x_gaps(x_gaps), buffer(buffer), out(out),
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

  template <class T> GRB_DEVICE void load_consecutive(const T* array, int slice, T (&to)[LANE_ENTRIES]) const {
    using Unit = choose<sizeof(T) == 1, uint2, uint4>;
    constexpr int UNITS = LANE_ENTRIES * int(sizeof(T)) / int(sizeof(Unit));
    const T* from = array + (int64_t(slice) * SLICE + lane_number() * LANE_ENTRIES);
    if (slice < whole && reinterpret_cast<uintptr_t>(array) % sizeof(Unit) == 0) {  // a view may begin at any address
      Unit units[UNITS];
#pragma unroll
      for (int j = 0; j < UNITS; j++) units[j] = __ldcs(reinterpret_cast<const Unit*>(from) + j);
      memcpy(to, units, sizeof units);
    } else {
      const int left = left_in(slice, lane_number() * LANE_ENTRIES);
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) to[u] = from[u < left ? u : left];
    }
  }
  template <class T> GRB_DEVICE void load_entries(const T* array, int slice, T (&to)[LANE_ENTRIES]) const {
    if constexpr (in_order) load_consecutive(array, slice, to);
    else load_strided(array, slice, to);
  }

  GRB_DEVICE void load_values(int slice) {
    if constexpr (bitwise) {
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
      load_entries(m.values, slice, a);
    }
  }

  GRB_DEVICE void load_columns(int slice) {
    if constexpr (is_delta || is_binned) {
      packed = __ldcs(reinterpret_cast<const uint4*>(m.offsets) + (int64_t(slice) * 32 + lane_number()));
      if constexpr (is_delta) base = m.bases[slice];
    } else if constexpr (needs_columns) {
      load_strided(m.cols, slice, c);
    }
  }

  GRB_DEVICE void load_rows(int slice) {
    bits = __ldcs(m.begins + (int64_t(slice) * 32 + lane_number()));
    row_before = m.before[slice];
  }

  // ---- gather

  GRB_DEVICE void unpack() {
    c[0] = packed.x & 0xffff, c[1] = packed.x >> 16, c[2] = packed.y & 0xffff, c[3] = packed.y >> 16;
    c[4] = packed.z & 0xffff, c[5] = packed.z >> 16, c[6] = packed.w & 0xffff, c[7] = packed.w >> 16;
  }
  // Begins to copy `chunks` chunks of the hubs' values or of a bin, from chunk `first` of all on, into the table's
  // chunks from `to` on; the whole block calls.
  GRB_DEVICE void take_chunks(int first, int chunks, int to) const {
    using Unit = choose<sizeof(X) == 1, uint2, uint4>;
    constexpr int units = BIN_CHUNK * int(sizeof(X)) / int(sizeof(Unit));
    const Unit* from = reinterpret_cast<const Unit*>(x_given) + int64_t(first) * units;
    const SharedWindow window(table);
    const unsigned start = window.start() + unsigned(to * units) * unsigned(sizeof(Unit));
    for (int i = threadIdx.x; i < chunks * units; i += blockDim.x)
      copy_to(window, start + unsigned(i) * unsigned(sizeof(Unit)), from + i);
  }

  GRB_DEVICE void gather(int slice, X (&x)[LANE_ENTRIES]) {
    const X* x_values = reinterpret_cast<const X*>(x_given);
    if constexpr (is_delta) {
      const X* near = x_values + (base < 0 ? 0 : base);
      if (base < 0) {
        load_strided(m.cols, slice, c);
      } else {
        unpack();
      }
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) x[u] = read_only(near + unsigned(c[u]));
    } else if constexpr (is_binned) {
      unpack();
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) x[u] = table[c[u]];
      if constexpr (gaps) {
        if (x_gaps.by_bits) load_entries(m.cols, slice, c);
      }
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
    if constexpr (gaps) {
      present = 0;
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) present |= unsigned(is_there(c[u], x[u])) << u;
    }
  }
  GRB_DEVICE bool is_there(I code, const X& x) const {
    if constexpr (GAPS == MARKED_GAPS) {
      if (!x_gaps.by_bits) return !is_absent(x);
    }
    if constexpr (is_relabelled) return x_gaps.has(x_gaps.order[code]);
    else return x_gaps.has(is_delta && base > 0 ? int64_t(base) + code : int64_t(code));
  }
  // The bits of this lane's consecutive entries 8 l .. 8 l + 7.
  GRB_DEVICE unsigned present_in_order() const {
    if constexpr (in_order) return present;
    unsigned found = 0;
#pragma unroll
    for (int u = 0; u < LANE_ENTRIES; u++) {
      const unsigned all = __ballot_sync(ALL_LANES, present >> u & 1);
      if (lane_number() >> 2 == u) found = all;
    }
    return found >> (lane_number() % 4 * 8) & 0xff;
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

  // p[u] of the lane's entry u; bitwise: returns those of this lane's own eight entries.  Positional operators that
  // read the row multiply while they reduce, where the row is known.
  GRB_DEVICE unsigned multiply(X (&x)[LANE_ENTRIES], Z (&p)[LANE_ENTRIES]) {
    if constexpr (bitwise) {
      uint2 other;
      if constexpr (in_order) memcpy(&other, x, sizeof other);
      else exchange(reinterpret_cast<X*>(buffer), x, &other);
      return product_bits<S>(word, other);
    } else if constexpr (!S::reads_i) {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        A value = A();
        if constexpr (needs_values) value = a[u];
        else if constexpr (S::reads_a) value = m.values[0];
        p[u] = S::times(value, x[u], 0, S::reads_k ? int64_t(c[u]) : int64_t(0), 0);
        if constexpr (padded) p[u] = present >> u & 1 ? p[u] : S::start();
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
    T run;
    if constexpr (bitwise) {
      run.set(folded<S>(products, 0xff));
    } else {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if constexpr (S::reads_i) p[u] = S::times(A(), X(), m.name(opened), 0, 0);
        if (u == 0) begin(run, p[u], present >> u & 1);
        else go_on(run, p[u], present >> u & 1);
      }
    }
    if constexpr (gaps && !padded) open.join(run.value, run.have);
    else open.take(run.value);
    open_there = open_there || present != 0;
    spread = true;
  }
  GRB_DEVICE void gather_open() {
    join_lanes(open, 32);
    if (lane_number() != 0) open = T();
    if constexpr (padded) open_there = __any_sync(ALL_LANES, open_there) && lane_number() == 0;
    spread = false;
  }

  // The total of a row, or of what a lane has of it, from product p on; there: is p, where totals say what they have?
  GRB_DEVICE static void begin(T& run, Z p, unsigned there) {
    if constexpr (gaps && !padded) {
      run = T();
      run.join(p, there);
    } else {
      run.set(p);
    }
  }
  GRB_DEVICE static void go_on(T& run, Z p, unsigned there) {
    if constexpr (gaps && !padded) run.join(p, there);
    else run.take(p);
  }

  // At most one row begins in this lane: `head` is the sum before it, `run` that from it (all, if none begins).
  // there: bit u: the lane's product u is there (gaps).
  GRB_DEVICE void reduce_single(const SliceRows<R>& rows, Z (&p)[LANE_ENTRIES], unsigned products, unsigned there,
                                T& head, T& run) {
    if constexpr (bitwise) {
      const unsigned below = rows.here ? rows.here - 1 : 0;
      head.value = folded<S>(products, below);
      run.value = folded<S>(products, 0xff & ~below);
    } else {
      const int at = __ffs(int(rows.here)) - 1;          // -1: none begins
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if constexpr (S::reads_i) p[u] = product_in_row(u < at || at < 0 ? rows.opened : R(rows.opened + 1));
        if (u > 0 && u == at) head = run;
        if (u == 0 || u == at) begin(run, p[u], there >> u & 1);
        else go_on(run, p[u], there >> u & 1);
      }
    }
  }

  // Several rows begin in this lane: sums of rows that are inside it go to buffer[number of the row in the slice].
  // earlier: rows that begin in lower lanes; returns those of the slice.
  GRB_DEVICE int reduce_many(const SliceRows<R>& rows, Z (&p)[LANE_ENTRIES], unsigned there, T& head,
                             T& run, int& earlier) {
    const int mine = __popc(rows.here), upto = warp_scan(mine, [](int i, int j) { return i + j; });
    earlier = upto - mine;
    int number = earlier;
    bool met = false;              // padded: has the row met an entry in this lane?
#pragma unroll
    for (int u = 0; u < LANE_ENTRIES; u++) {
      if (rows.here >> u & 1) {
        if (number == earlier) head = run;
        else put_in_buffer(rows.before - 1, number, run.value, padded ? met : run.have);
        number++;
      }
      if constexpr (S::reads_i) p[u] = product_in_row(rows.before - 1 + number);
      if (u == 0 || rows.here >> u & 1) begin(run, p[u], there >> u & 1), met = false;
      else go_on(run, p[u], there >> u & 1);
      met = met || (there >> u & 1);
    }
    return __shfl_sync(ALL_LANES, upto, 31);
  }

  // The sum of row opened + number, which write_rows writes.
  GRB_DEVICE void put_in_buffer(R opened, int number, const Z& value, bool have) {
    buffer[number] = value;
    if constexpr (gaps) {
      if (!have && (number > 0 || started)) out.clear(m.name(opened + number));
    }
  }

  // padded: has the row met an entry that was open where the first one of this lane begins (valid where one does)?
  // there: of the lane's products.  open_there becomes that of the row that is open after lane 31.
  GRB_DEVICE bool close_presence(const SliceRows<R>& rows, unsigned there) {
    const unsigned here = rows.here, lower = lanes_below(), earlier = rows.begun & lower;
    const bool head = (there & ((here & (0u - here)) - 1)) != 0;         // before the first row; here 0: not looked at
    const bool tail = here ? there >> (31 - __clz(int(here))) : there;   // from the last row on
    const unsigned tails = __ballot_sync(ALL_LANES, tail);
    const bool carry = __ballot_sync(ALL_LANES, open_there) & 1;
    const unsigned from = earlier ? ~0u << (31 - __clz(int(earlier))) : ~0u;
    open_there = lane_number() == 0 && (tails & ~0u << (31 - __clz(int(rows.begun)))) != 0;
    return head || (tails & from & lower) != 0 || (!earlier && carry);
  }

  // The buffer's sums to rows opened .. opened + count - 1; the first belongs to the warp before, if none began here
  // yet.  Two loops, which the compiler unrolls, so that m.names is not tested in each step.
  GRB_DEVICE void write_rows(R opened, int count) const {
    if (m.names == nullptr) {
      for (int k = lane_number(); k < count; k += 32)
        if (k > 0 || started) out.w[opened + k] = buffer[k];
    } else {
      for (int k = lane_number(); k < count; k += 32)
        if (k > 0 || started) out.w[m.names[opened + k]] = buffer[k];
    }
  }

  // Reduces the slice's products by rows and writes the rows that end in it.
  GRB_DEVICE void segmented_sum(const SliceRows<R>& rows, Z (&p)[LANE_ENTRIES], unsigned products) {
    if constexpr (!S::reads_i && !bitwise && !in_order) exchange(buffer, p, p);
    if (spread) gather_open();
    if constexpr (bitwise) {
      if (!rows.single) {
#pragma unroll
        for (int u = 0; u < LANE_ENTRIES; u++) p[u] = products >> u & 1;
      }
    }
    T head, run;
    int earlier = 0, count = 0;
    unsigned there = 0xff;
    if constexpr (gaps) there = present_in_order();
    if (rows.single) reduce_single(rows, p, products, there, head, run);
    else count = reduce_many(rows, p, there, head, run, earlier);
    T closed = close_rows<!gaps || padded>(rows.begun, head, run, open);
    bool have = closed.have;
    if constexpr (padded) have = close_presence(rows, there);
    const int first = __ffs(int(rows.begun)) - 1;
    if (rows.single) {
      if (rows.here && (started || lane_number() != first)) out.put(rows.out, closed.value, have);
    } else {
      if (rows.here) put_in_buffer(rows.before - 1, earlier, closed.value, have);
      __syncwarp();
      write_rows(rows.before - 1, count);
      __syncwarp();
    }
    if (!started) {                // entries before the first row belong to the previous warp
      front.value = shuffle(closed.value, first);
      front.have = front_there = __shfl_sync(ALL_LANES, int(have), first) != 0;
      started = true;
    }
  }

  // Slices slice .. to - 1 of those before `stop`; `slice` is loaded.
  GRB_DEVICE void run_to(int& slice, int to, int stop) {
    for (; slice < to; slice++) {
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
  }

  // Slices from .. stop - 1; what is open at both ends.
  GRB_DEVICE Ends<Out> run(int slice, int stop) {
    if (slice < stop) {
      load_columns(slice);
      load_rows(slice);
      load_values(slice);
    }
    if constexpr (is_binned) {
      const StepsOfWarps order{m.slices, warp_count(), cached};
      const int32_t* bases = m.bases + blockIdx.x * cached;
      const int hubs = m.bases[0];             // chunks of hubs' values, before the bins
      take_chunks(0, hubs, 0);
      for (int64_t step = 0; step < cached; step++) {
        __syncthreads();
        take_chunks(bases[step], bases[step + 1] - bases[step], hubs);
        copies_arrived();
        __syncthreads();
        run_to(slice, int(order.first(warp_number(), step + 1)), stop);
      }
    } else {
      run_to(slice, stop, stop);
    }
    if (spread) gather_open();
    Ends<Out> ends;
    ends.head.value = front.value, ends.head.have = front.have;
    ends.tail.value = open.value, ends.tail.have = padded ? open_there : open.have;
    ends.begins = started;
    return ends;
  }
};

}  // namespace grb
