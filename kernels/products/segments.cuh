// w[i] = (+)_k A[i,k] (x) x[k] for full x and all rows: the entries, not the rows, are shared out evenly.
//
// Who calls: backends/cuda/products/matvec.py (matvec_rows).  Form: backends/cuda/products/segments.py, made once for each matrix.
// Threads: a warp owns consecutive slices of SLICE entries.  Lane l takes entries l, 32 + l, ... of a slice (neighbours
//   load and gather together), puts the products into the warp's buffer, and adds up the LANE_ENTRIES consecutive ones
//   8 l .. 8 l + 7; a bit for each entry says where rows begin.  The next slice is on its way meanwhile.
// BOOL with lor, land, lxor or eq (in_bits): x goes through the buffer instead, a lane's eight products are one byte of bits.
// Rows that cross lanes, then warps, then blocks are closed by the same step (close_rows) at each level; the block that
//   arrives last closes those that cross blocks.
// Columns, by COLUMNS: PLAIN the matrix's own; SHORT 16-bit distances from a base for each slice (bases[slice] < 0: its own);
//   RANKED places in x by falling frequency: x is given in that order and its first `hot` values lie in shared memory.
// Invariants: form as in row_segments.py; `arrived` is zero before and after; w of rows without entries is not touched.
// Papers: CSR5 (Liu, Vinter, ICS 2015), section 3: tiles of entries, bits where rows begin, segmented sums; merge-based
//   CSR (Merrill, Garland, SC 2016), section 3: equal shares of the entries, carries fixed up at the end.
#pragma once
#include "products/segment_rows.cuh"

namespace grb {

enum { PLAIN_COLUMNS, SHORT_COLUMNS, RANKED_COLUMNS };

template <class S> constexpr bool gathers = S::reads_x && !S::x_iso;
// BOOL by a monoid of bits: each lane loads the values of its own eight entries as one word, and x is what is exchanged.
template <class S> constexpr bool in_bits = S::fold != NO_FOLD && S::reads_a && !S::a_iso && gathers<S> &&
    is_same<typename S::A, bool> && is_same<typename S::X, bool>;

template <class I, class R, class S, int COLUMNS, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
matvec_segments(const uint8_t* __restrict__ begins, const R* __restrict__ before, const R* __restrict__ names, int64_t held,
                int64_t entries, int64_t slices, const I* __restrict__ cols, const uint16_t* __restrict__ offsets,
                const int32_t* __restrict__ bases, const typename S::A* __restrict__ a_values,
                const typename S::X* __restrict__ x_given, int64_t hot, typename S::Z* __restrict__ w,
                typename S::Z* parts, uint8_t* part_flags, unsigned* arrived) {
  using Z = typename S::Z;
  using A = typename S::A;
  using X = choose<in_bits<S>, uint8_t, typename S::X>;          // bool as the byte that it is, 0 or 1
  constexpr bool needs_columns = gathers<S> || S::reads_k;
  constexpr bool is_short = COLUMNS == SHORT_COLUMNS && gathers<S>;
  constexpr bool is_ranked = COLUMNS == RANKED_COLUMNS && gathers<S>;
  constexpr bool needs_values = S::reads_a && !S::a_iso;
  extern __shared__ ulonglong2 segment_memory[];
  const int lane = lane_number(), warp = threadIdx.x >> 5, together = blockDim.x >> 5;
  const unsigned lower_lanes = (1u << lane) - 1;
  const X* x_values = reinterpret_cast<const X*>(x_given);
  X* table = reinterpret_cast<X*>(segment_memory);
  int64_t table_bytes = 0;
  if constexpr (is_ranked) {
    table_bytes = (hot * int64_t(sizeof(X)) + 15) / 16 * 16;
    for (int k = threadIdx.x; k < int(hot); k += blockDim.x) table[k] = read_only(x_values + k);
    __syncthreads();
  }
  Z* buffers = reinterpret_cast<Z*>(reinterpret_cast<unsigned char*>(segment_memory) + table_bytes);
  Z* buffer = buffers + warp * SLICE;
  const int stop = int(slices * (warp_number() + 1) / warp_count()), whole = int(entries / SLICE);
  const int whole_words = reinterpret_cast<uintptr_t>(a_values) % sizeof(uint2) == 0 ? whole : 0;      // a view begins anywhere
  int slice = int(slices * warp_number() / warp_count());
  auto name = [&](R row) { return names == nullptr ? row : names[row]; };

  Total<S> open;         // of the row that is open: spread over the lanes, or in lane 0 alone
  Total<S> front;        // what belongs to the row that was open where this warp's entries begin
  bool spread = false, started = false;
  I c[LANE_ENTRIES];
  A a[LANE_ENTRIES];
  uint2 word;            // in the place of `a` where in_bits
  uint4 packed;
  int32_t base = 0;
  unsigned bits = 0;
  R row_before = 0;

  auto load_columns = [&](int slice) {
    const I* from = cols + (int64_t(slice) * SLICE + lane);
    if (slice < whole) {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) c[u] = stream(from + u * 32);
    } else {
      int left = int(entries - int64_t(slice) * SLICE) - 1 - lane;         // behind the last entry: the last one again
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) c[u] = stream(from + (u * 32 < left ? u * 32 : left));
    }
  };
  auto load_values = [&](int slice) {
    if constexpr (in_bits<S>) {
      const A* from = a_values + (int64_t(slice) * SLICE + lane * LANE_ENTRIES);
      if (slice < whole_words) {
        word = __ldcs(reinterpret_cast<const uint2*>(from));
      } else {
        int left = int(entries - int64_t(slice) * SLICE) - 1 - lane * LANE_ENTRIES;
        A each[LANE_ENTRIES];
#pragma unroll
        for (int u = 0; u < LANE_ENTRIES; u++) each[u] = from[u < left ? u : left];
        memcpy(&word, each, sizeof word);
      }
    } else if constexpr (needs_values) {
      const A* from = a_values + (int64_t(slice) * SLICE + lane);
      if (slice < whole) {
#pragma unroll
        for (int u = 0; u < LANE_ENTRIES; u++) a[u] = stream(from + u * 32);
      } else {
        int left = int(entries - int64_t(slice) * SLICE) - 1 - lane;
#pragma unroll
        for (int u = 0; u < LANE_ENTRIES; u++) a[u] = stream(from + (u * 32 < left ? u * 32 : left));
      }
    }
  };
  auto load_places = [&](int slice) {
    if constexpr (is_short) {
      packed = __ldcs(reinterpret_cast<const uint4*>(offsets) + (int64_t(slice) * 32 + lane));
      base = bases[slice];
    } else if constexpr (needs_columns) {
      load_columns(slice);
    }
  };
  auto load_rows = [&](int slice) {
    bits = __ldcs(begins + (int64_t(slice) * 32 + lane));
    row_before = before[slice];
  };

  if (slice < stop) {
    load_places(slice);
    load_rows(slice);
    load_values(slice);
  }
  for (; slice < stop; slice++) {
    const bool more = slice + 1 < stop;
    // the gathers
    X x[LANE_ENTRIES];
    if constexpr (is_short) {
      const X* near = x_values + (base < 0 ? 0 : base);
      if (base < 0) {
        load_columns(slice);
      } else {
        c[0] = packed.x & 0xffff, c[1] = packed.x >> 16, c[2] = packed.y & 0xffff, c[3] = packed.y >> 16;
        c[4] = packed.z & 0xffff, c[5] = packed.z >> 16, c[6] = packed.w & 0xffff, c[7] = packed.w >> 16;
      }
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) x[u] = read_only(near + unsigned(c[u]));
    } else if constexpr (is_ranked) {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if (c[u] >= I(hot)) x[u] = read_only(x_values + c[u]);
      }
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if (c[u] < I(hot)) x[u] = table[c[u]];
      }
    } else {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if constexpr (gathers<S>) x[u] = read_only(x_values + c[u]);
        else x[u] = value_of_x<S>(x_given, I(0));
      }
    }
    // the rows of this slice; `opened` is the one that is open where this lane's entries begin
    const unsigned here = bits, begun = __ballot_sync(ALL_LANES, here != 0);
    const bool single = !__any_sync(ALL_LANES, (here & (here - 1)) != 0);        // at most one begins in a lane
    R opened = row_before - 1, out = 0;
    if (single) {
      opened += R(__popc(begun & lower_lanes));
      if (here) out = name(opened < 0 ? R(0) : opened);
    }
    const R row = row_before;
    if (more) load_rows(slice + 1);
    if constexpr (!S::reads_k) {
      if (more) load_places(slice + 1);
    }
    Z p[LANE_ENTRIES];
    unsigned products = 0;          // where in_bits: those of this lane's own entries
    if constexpr (in_bits<S>) {
      uint2 other;
      exchange(reinterpret_cast<X*>(buffer), x, &other);
      products = product_bits<S>(word, other);
    } else if constexpr (!S::reads_i) {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        A value = A();
        if constexpr (needs_values) value = a[u];
        else if constexpr (S::reads_a) value = a_values[0];
        p[u] = S::times(value, x[u], 0, S::reads_k ? int64_t(c[u]) : int64_t(0), 0);
      }
    }
    if constexpr (S::reads_k) {
      if (more) load_places(slice + 1);
    }
    if (more) load_values(slice + 1);
    if (begun == 0) {
      Total<S> run;
      if constexpr (in_bits<S>) {
        run.set(folded<S>(products, 0xff));
      } else {
#pragma unroll
        for (int u = 0; u < LANE_ENTRIES; u++) {
          if constexpr (S::reads_i) p[u] = S::times(A(), X(), name(opened), 0, 0);
          if (u == 0) run.set(p[u]);
          else run.take(p[u]);
        }
      }
      open.take(run.value);
      spread = true;
      continue;
    }
    if constexpr (!S::reads_i && !in_bits<S>) exchange(buffer, p, p);
    if (spread) {
      join_lanes<S>(open, 32);
      if (lane != 0) open = Total<S>();
      spread = false;
    }
    if constexpr (in_bits<S>) {
      if (!single) {
#pragma unroll
        for (int u = 0; u < LANE_ENTRIES; u++) p[u] = products >> u & 1;
      }
    }
    Total<S> head, run;
    int earlier = 0, rows_here = 0;             // rows that begin in lower lanes, in all: of the general case
    if (single && in_bits<S>) {
      const unsigned below = here ? here - 1 : 0;
      head.value = folded<S>(products, below);
      run.value = folded<S>(products, 0xff & ~below);
    } else if (single) {
      const int at = __ffs(int(here)) - 1;      // -1: all belongs to `run`
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if constexpr (S::reads_i) {
          R number = u < at || at < 0 ? opened : opened + 1;
          p[u] = S::times(A(), X(), name(number < 0 || number >= held ? R(0) : number), 0, 0);
        }
        if (u > 0 && u == at) head = run;
        if (u == 0 || u == at) run.set(p[u]);
        else run.take(p[u]);
      }
    } else {
      rows_here = __popc(here);
      for (int by = 1; by < 32; by <<= 1) {
        int other = __shfl_up_sync(ALL_LANES, rows_here, by);
        if (lane >= by) rows_here += other;
      }
      earlier = rows_here - __popc(here);
      rows_here = __shfl_sync(ALL_LANES, rows_here, 31);
      int number = earlier;
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if (here >> u & 1) {
          if (number == earlier) head = run;
          else buffer[number] = run.value;
          number++;
        }
        if constexpr (S::reads_i) {
          R at = row - 1 + number;
          p[u] = S::times(A(), X(), name(at < 0 || at >= held ? R(0) : at), 0, 0);
        }
        if (u == 0 || here >> u & 1) run.set(p[u]);
        else run.take(p[u]);
      }
    }
    Total<S> closed = close_rows<S, true>(begun, head, run, open);
    const int first = __ffs(int(begun)) - 1;
    if (single) {
      if (here && (started || lane != first)) w[out] = closed.value;
    } else {
      if (here) buffer[earlier] = closed.value;
      __syncwarp();
      for (int k = lane; k < rows_here; k += 32)
        if (k > 0 || started) w[name(row - 1 + k)] = buffer[k];
      __syncwarp();
    }
    if (!started) {
      front.value = shuffle(closed.value, first);
      front.have = __shfl_sync(ALL_LANES, int(closed.have), first) != 0;
      started = true;
    }
  }
  if (spread) join_lanes<S>(open, 32);

  // Rows that cross warps: each leaves its ends in its buffer.
  Ends<S> ends;
  auto put = [&](Z* to) {
    if (lane == 0) {
      to[0] = ends.head.value;
      to[1] = ends.tail.value;
      reinterpret_cast<unsigned char*>(to + 2)[0] = ends.flags();
    }
  };
  auto take = [&](const Z* from) { ends.set(from[0], from[1], reinterpret_cast<const unsigned char*>(from + 2)[0]); };
  auto opened_before = [&](int64_t number) { return before[slices * number / warp_count()] - 1; };
  ends.head = front, ends.tail = open, ends.begins = started;
  put(buffer);
  __syncthreads();
  // A word behind the ends of warp 0.  Static shared memory would count towards the 48 KiB that need no announcement.
  int* last = reinterpret_cast<int*>(buffers) + 16;
  if (warp == 0) {
    ends = Ends<S>();
    R opened = 0;
    if (lane < together) {
      take(buffers + lane * SLICE);
      opened = opened_before(warp_number() + lane);
    }
    ends = close_ends<S, R>(ends, opened, names, w);
    if (lane == 0 && gridDim.x > 1) {          // rows that cross blocks: the last block closes them
      parts[2 * blockIdx.x] = ends.head.value;
      parts[2 * blockIdx.x + 1] = ends.tail.value;
      part_flags[blockIdx.x] = ends.flags();
      __threadfence();
      *last = atomicAdd(arrived, 1u) == gridDim.x - 1;
      if (*last) *arrived = 0;
      __threadfence();
    }
  }
  if (gridDim.x > 1) {                         // at most as many blocks as threads
    __syncthreads();
    bool mine = *last != 0;
    __syncthreads();
    if (!mine) return;
    ends = Ends<S>();
    if (warp * 32 < int(gridDim.x)) {
      R opened = 0;
      int block = threadIdx.x;
      if (block < int(gridDim.x)) {
        ends.set(fresh_value(parts + 2 * block), fresh_value(parts + 2 * block + 1), fresh_value(part_flags + block));
        opened = opened_before(int64_t(block) * together);
      }
      ends = close_ends<S, R>(ends, opened, names, w);
    }
    put(buffer);
    __syncthreads();
    if (warp == 0) {
      ends = Ends<S>();
      R opened = 0;
      if (lane < together) {
        take(buffers + lane * SLICE);
        if (lane * 32 < int(gridDim.x)) opened = opened_before(int64_t(lane) * 32 * together);
      }
      ends = close_ends<S, R>(ends, opened, names, w);
    }
  }
  // The last row: where a slice is not full, the bit behind the last entry has closed it.
  if (threadIdx.x == 0 && entries % SLICE == 0) w[name(R(held - 1))] = ends.tail.value;
}

// ---------------------------------------------------------------------- the form

// A bit where each row begins, and one behind the last entry.
template <class P> __global__ void mark_begins(const P* starts, int64_t rows, int64_t entries, unsigned* begins) {
  GRB_EACH(r, rows + 1) {
    int64_t at = r < rows ? int64_t(starts[r]) : entries;
    atomicOr(begins + (at >> 5), 1u << (at & 31));
  }
}

// Distances from the least column of each slice, in the order in which lanes take them; bases[slice] = -1 where they do not
// fit.  *count grows by the slices where they do.  Null outputs are left out.
template <class I>
__global__ void short_columns(const I* cols, int64_t entries, int64_t slices, uint16_t* offsets, int32_t* bases,
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
    low = __reduce_min_sync(ALL_LANES, low);
    high = __reduce_max_sync(ALL_LANES, high);
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
