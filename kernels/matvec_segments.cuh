// w[i] = (+)_k A[i,k] (x) x[k] for full x and all rows: the entries, not the rows, are shared out evenly.
//
// Who calls: backends/cuda/matvec.py (matvec_rows).  Form: backends/cuda/row_segments.py, made once for each matrix.
// Threads: a warp owns consecutive slices of SLICE entries.  Lane l takes entries l, 32 + l, ... of a slice (neighbours
//   load and gather together), puts the products into the warp's buffer, and adds up the LANE_ENTRIES consecutive ones
//   8 l .. 8 l + 7; a bit for each entry says where rows begin.  The next slice is on its way meanwhile.
// Rows that cross lanes, then warps, then blocks are closed by the same step (close_rows) at each level; the block that
//   arrives last closes those that cross blocks.
// Columns, by COLUMNS: PLAIN the matrix's own; SHORT 16-bit distances from a base for each slice (bases[slice] < 0: its own);
//   RANKED places in x by falling frequency: x is given in that order and its first `hot` values lie in shared memory.
// Invariants: form as in row_segments.py; `arrived` is zero before and after; w of rows without entries is not touched.
// Papers: CSR5 (Liu, Vinter, ICS 2015), section 3: tiles of entries, bits where rows begin, segmented sums; merge-based
//   CSR (Merrill, Garland, SC 2016), section 3: equal shares of the entries, carries fixed up at the end.
#pragma once
#include "products.cuh"

namespace grb {

constexpr int LANE_ENTRIES = 8;
constexpr int SLICE = 32 * LANE_ENTRIES;
enum { PLAIN_COLUMNS, SHORT_COLUMNS, RANKED_COLUMNS };

template <class S> constexpr bool gathers = S::reads_x && !S::x_iso;
template <class S> constexpr int segment_threads = sizeof(typename S::Z) > 8 || sizeof(typename S::A) > 8 ? 512 : 1024;

template <class S> GRB_DEVICE void add_to(Total<S>& total, const Total<S>& other) {
  if constexpr (S::has_start) total.value = S::add(total.value, other.value);
  else total.join(other.value, other.have);
}
template <class S> GRB_DEVICE Total<S> lifted(const Total<S>& total, int by) {
  Total<S> other;
  other.value = shuffle_up(total.value, by);
  if constexpr (!S::has_start) other.have = __shfl_up_sync(ALL_LANES, int(total.have), by) != 0;
  return other;
}

// Lanes hold consecutive stretches of entries.  Where rows begin (bit of `begun`), `head` is the sum before the first and
// `tail` that from the last; elsewhere `tail` is the whole.  `open`, in lane 0, is what came before; after, what is open
// behind lane 31.  Returns, where rows begin, the whole of the row that was open there.
template <class S> GRB_DEVICE Total<S> close_rows(unsigned begun, const Total<S>& head, Total<S> tail, Total<S>& open) {
  int lane = lane_number();
  bool here = begun >> lane & 1;
  Total<S> before = open;
  if (lane == 0 && !here) {
    add_to(before, tail);
    tail = before;
    before = open;
  }
  unsigned upto = begun & ((2u << lane) - 1);
  int from = upto ? 31 - __clz(int(upto)) : 0;
#pragma unroll
  for (int by = 1; by < 32; by <<= 1) {
    Total<S> other = lifted(tail, by);
    if (lane - by >= from) {
      add_to(other, tail);
      tail = other;
    }
  }
  Total<S> last = lifted(tail, 1);
  if (lane != 0) before = last;
  open = Total<S>();
  Total<S> end;
  end.value = shuffle(tail.value, 31);
  if constexpr (!S::has_start) end.have = __shfl_sync(ALL_LANES, int(tail.have), 31) != 0;
  if (lane == 0) open = end;
  add_to(before, head);
  return before;
}

// Where product e of a slice lies in the warp's buffer: 16-byte pieces, shuffled so that neither side meets bank conflicts.
template <class Z> struct Buffer {
  static constexpr int chunk = sizeof(Z) >= 2 ? 16 / int(sizeof(Z)) : LANE_ENTRIES;
  static constexpr int chunks = LANE_ENTRIES / chunk;
  struct alignas(chunk * sizeof(Z)) Chunk { Z part[chunk]; };
  static GRB_DEVICE int swizzled(int c) { return c ^ (c >> 3 & (chunks - 1)); }
  static GRB_DEVICE int place(int e) { return swizzled(e / chunk) * chunk + e % chunk; }
  static GRB_DEVICE void read(const Z* buffer, Z* out) {
#pragma unroll
    for (int j = 0; j < chunks; j++) {
      Chunk c = reinterpret_cast<const Chunk*>(buffer)[swizzled(lane_number() * chunks + j)];
#pragma unroll
      for (int n = 0; n < chunk; n++) out[j * chunk + n] = c.part[n];
    }
  }
};

// A value that another block wrote during this kernel: not from the first cache.
template <class T> GRB_DEVICE T latest(const T* p) {
  T value;
  if constexpr (sizeof(T) % 4 == 0) {
    unsigned part[sizeof(T) / 4];
    for (unsigned n = 0; n < sizeof(T) / 4; n++) part[n] = reinterpret_cast<const volatile unsigned*>(p)[n];
    memcpy(&value, part, sizeof(T));
  } else {
    unsigned char part[sizeof(T)];
    for (unsigned n = 0; n < sizeof(T); n++) part[n] = reinterpret_cast<const volatile unsigned char*>(p)[n];
    memcpy(&value, part, sizeof(T));
  }
  return value;
}

template <class I, class R, class S, int COLUMNS>
__global__ void __launch_bounds__(segment_threads<S>)
matvec_segments(const uint8_t* __restrict__ begins, const R* __restrict__ before, const R* __restrict__ names, int64_t held,
                int64_t entries, int64_t slices, const I* __restrict__ cols, const uint16_t* __restrict__ offsets,
                const int32_t* __restrict__ bases, const typename S::A* __restrict__ a_values,
                const typename S::X* __restrict__ x_values, int64_t hot, typename S::Z* __restrict__ w,
                typename S::Z* parts, uint8_t* part_flags, unsigned* arrived) {
  using Z = typename S::Z;
  using A = typename S::A;
  using X = typename S::X;
  constexpr bool needs_columns = gathers<S> || S::reads_k;
  constexpr bool is_short = COLUMNS == SHORT_COLUMNS && needs_columns;
  constexpr bool is_ranked = COLUMNS == RANKED_COLUMNS && gathers<S>;
  constexpr bool needs_values = S::reads_a && !S::a_iso;
  extern __shared__ ulonglong2 segment_memory[];
  int lane = lane_number(), here = threadIdx.x >> 5, together = blockDim.x >> 5;
  X* table = reinterpret_cast<X*>(segment_memory);
  int64_t table_bytes = 0;
  if constexpr (is_ranked) {
    table_bytes = (hot * int64_t(sizeof(X)) + 15) / 16 * 16;
    for (int64_t k = threadIdx.x; k < hot; k += blockDim.x) table[k] = read_only(x_values + k);
    __syncthreads();
  }
  Z* buffer = reinterpret_cast<Z*>(reinterpret_cast<unsigned char*>(segment_memory) + table_bytes) + here * SLICE;
  int64_t first = slices * warp_number() / warp_count(), stop = slices * (warp_number() + 1) / warp_count();
  auto name = [&](R row) { return names == nullptr ? row : names[row]; };

  Total<S> open;         // of the row that is open: spread over the lanes, or in lane 0 alone
  Total<S> front;        // what belongs to the row that was open where this warp's entries begin
  bool spread = false, started = false;
  I c[LANE_ENTRIES];
  A a[LANE_ENTRIES];
  uint4 packed;
  int32_t base = -1;
  unsigned flags = 0;
  R row_before = 0;

  auto load_columns = [&](int64_t slice) {
    int64_t k = slice * SLICE + lane;
    if ((slice + 1) * SLICE <= entries) {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) c[u] = stream(cols + k + u * 32);
    } else {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) c[u] = stream(cols + (k + u * 32 < entries ? k + u * 32 : entries - 1));
    }
  };
  auto load_values = [&](int64_t slice) {
    if constexpr (needs_values) {
      int64_t k = slice * SLICE + lane;
      if ((slice + 1) * SLICE <= entries) {
#pragma unroll
        for (int u = 0; u < LANE_ENTRIES; u++) a[u] = stream(a_values + k + u * 32);
      } else {
#pragma unroll
        for (int u = 0; u < LANE_ENTRIES; u++) a[u] = stream(a_values + (k + u * 32 < entries ? k + u * 32 : entries - 1));
      }
    }
  };
  auto load_places = [&](int64_t slice) {
    if constexpr (is_short) {
      packed = __ldcs(reinterpret_cast<const uint4*>(offsets) + slice * 32 + lane);
      base = __ldcs(bases + slice);
    } else if constexpr (needs_columns) {
      load_columns(slice);
    }
  };

  if (first < stop) {
    load_places(first);
    load_values(first);
    flags = __ldcs(begins + first * 32 + lane);
    row_before = before[first];
  }
  for (int64_t slice = first; slice < stop; slice++) {
    bool more = slice + 1 < stop;
    if constexpr (is_short) {
      if (base >= 0) {
        c[0] = base + (packed.x & 0xffff), c[1] = base + (packed.x >> 16);
        c[2] = base + (packed.y & 0xffff), c[3] = base + (packed.y >> 16);
        c[4] = base + (packed.z & 0xffff), c[5] = base + (packed.z >> 16);
        c[6] = base + (packed.w & 0xffff), c[7] = base + (packed.w >> 16);
      } else {
        load_columns(slice);
      }
    }
    X x[LANE_ENTRIES];
    if constexpr (is_ranked) {
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
      for (int u = 0; u < LANE_ENTRIES; u++) x[u] = value_of_x<S>(x_values, gathers<S> ? c[u] : I(0));
    }
    R row = row_before;
    unsigned bits = flags;
    if constexpr (!S::reads_k) {
      if (more) load_places(slice + 1);
    }
    if (more) {
      flags = __ldcs(begins + (slice + 1) * 32 + lane);
      row_before = before[slice + 1];
    }
    Z p[LANE_ENTRIES];
    if constexpr (!S::reads_i) {
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
    unsigned begun = __ballot_sync(ALL_LANES, bits != 0);
    if (begun == 0) {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) {
        if constexpr (S::reads_i) open.take(S::times(A(), X(), name(row - 1), 0, 0));
        else open.take(p[u]);
      }
      spread = true;
      continue;
    }
    if constexpr (!S::reads_i) {
#pragma unroll
      for (int u = 0; u < LANE_ENTRIES; u++) buffer[Buffer<Z>::place(u * 32 | lane)] = p[u];
      __syncwarp();
      Buffer<Z>::read(buffer, p);
      __syncwarp();
    }
    int count = __popc(bits), sum = count;
#pragma unroll
    for (int by = 1; by < 32; by <<= 1) {
      int other = __shfl_up_sync(ALL_LANES, sum, by);
      if (lane >= by) sum += other;
    }
    row += R(sum - count) - 1;             // the row that is open where this lane's entries begin
    R opened = row;
    Total<S> head, run;
    bool begins_here = false;
#pragma unroll
    for (int u = 0; u < LANE_ENTRIES; u++) {
      if (bits >> u & 1) {
        if (begins_here) w[name(row)] = run.value;
        else head = run;
        begins_here = true;
        run = Total<S>();
        row++;
      }
      if constexpr (S::reads_i) run.take(S::times(A(), X(), row < held ? name(row) : R(0), 0, 0));
      else run.take(p[u]);
    }
    if (spread) join_lanes<S>(open, 32);
    if (spread && lane != 0) open = Total<S>();
    spread = false;
    Total<S> closed = close_rows<S>(begun, head, run, open);
    if (begins_here) {
      if (started || lane != __ffs(int(begun)) - 1) w[name(opened)] = closed.value;
      else front = closed;
    }
    if (!started) {
      int from = __ffs(int(begun)) - 1;
      front.value = shuffle(front.value, from);
      front.have = __shfl_sync(ALL_LANES, int(front.have), from) != 0;
      started = true;
    }
  }
  if (spread) join_lanes<S>(open, 32);

  // Rows that cross the warps of a block: each warp leaves its two ends in its buffer.
  if (lane == 0) {
    buffer[0] = front.value;
    buffer[1] = open.value;
    reinterpret_cast<unsigned char*>(buffer + 2)[0] = (front.have ? 1 : 0) | (open.have ? 2 : 0) | (started ? 4 : 0);
  }
  __syncthreads();
  if (here != 0) return;
  Total<S> head, tail, rest;
  bool begins_here = false;
  R opened = -1;
  if (lane < together) {
    const Z* ends = buffer + lane * SLICE;
    unsigned known = reinterpret_cast<const unsigned char*>(ends + 2)[0];
    head.value = ends[0], head.have = known & 1;
    tail.value = ends[1], tail.have = (known & 2) != 0;
    begins_here = (known & 4) != 0;
    opened = before[slices * (warp_number() + lane) / warp_count()] - 1;
  }
  unsigned begun = __ballot_sync(ALL_LANES, begins_here);
  Total<S> closed = close_rows<S>(begun, head, tail, rest);
  int from = begun ? __ffs(int(begun)) - 1 : 0;
  if (begins_here && lane != from) w[name(opened)] = closed.value;
  front.value = shuffle(closed.value, from);
  front.have = __shfl_sync(ALL_LANES, int(closed.have), from) != 0;

  // Rows that cross blocks.
  int last = 0;
  if (lane == 0) {
    parts[2 * blockIdx.x] = front.value;
    parts[2 * blockIdx.x + 1] = rest.value;
    part_flags[blockIdx.x] = (front.have ? 1 : 0) | (rest.have ? 2 : 0) | (begun ? 4 : 0);
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    if (last) *arrived = 0;
    __threadfence();
  }
  if (!__shfl_sync(ALL_LANES, last, 0)) return;
  started = false;
  open = Total<S>();
  for (int b = 0; b < int(gridDim.x); b += 32) {
    int block = b + lane;
    head = tail = Total<S>();
    begins_here = false;
    if (block < int(gridDim.x)) {
      unsigned known = latest(part_flags + block);
      head.value = latest(parts + 2 * block), head.have = known & 1;
      tail.value = latest(parts + 2 * block + 1), tail.have = (known & 2) != 0;
      begins_here = (known & 4) != 0;
      opened = before[slices * (int64_t(block) * together) / warp_count()] - 1;
    }
    begun = __ballot_sync(ALL_LANES, begins_here);
    closed = close_rows<S>(begun, head, tail, open);
    if (begins_here && (started || lane != __ffs(int(begun)) - 1)) w[name(opened)] = closed.value;
    started = started || begun;
  }
  if (lane == 0 && entries % SLICE == 0) w[name(R(held - 1))] = open.value;    // else a bit behind the last entry closed it
}

// ---------------------------------------------------------------------- the form

// A bit where each row begins, and one behind the last entry.
template <class P> __global__ void mark_begins(const P* starts, int64_t rows, int64_t entries, unsigned* begins) {
  GRB_EACH(r, rows + 1) {
    int64_t at = r < rows ? int64_t(starts[r]) : entries;
    atomicOr(begins + (at >> 5), 1u << (at & 31));
  }
}

// Distances from the least column of each slice, in the order in which lanes take them; bases[slice] = -1 where they do not fit.
template <class I>
__global__ void short_columns(const I* cols, int64_t entries, int64_t slices, uint16_t* offsets, int32_t* bases) {
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
    if (lane_number() == 0) bases[slice] = fits ? low : -1;
    for (int u = 0; u < LANE_ENTRIES; u++)
      offsets[slice * SLICE + lane_number() * LANE_ENTRIES + u] = uint16_t(fits ? c[u] - low : 0);
  }
}

}  // namespace grb
