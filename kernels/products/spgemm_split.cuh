// Rows of C = A (+.x) B with millions of products: several blocks for each row.
//
// Algorithm: the compact dense accumulator of products/spgemm_windows.cuh with its bitmap in global memory.  The
//   entries of A's row are divided among blocks, which merge in shared memory first where the row of C fits there.
// Phases: split_mark     symbolic phase: the bitmap of the row's columns
//         split_count    drops what the mask does not admit; bits before each word; entries of the row
//         spgemm_expand  numeric phase: the columns (products/spgemm.cuh)
//         split_start    the values' start
//         split_merge    the values by their rank in the bitmap, by atomics
// Launch: backends/cuda/products/spgemm_split.py; LANES neighbours take an entry of A.  Tasks are ordered by part, so
//   that blocks of different rows of A read the same rows of B at the same time.
// Preconditions: `kept` is zero before split_mark; S has a start value, or S::any.
#pragma once
#include "base/bits.cuh"
#include "products/spgemm.cuh"

namespace grb {

constexpr int64_t LONG_ROW = 16;        // steps of a group of lanes, from which a row of B is taken by the whole warp
constexpr int QUEUE = 64;               // such rows of a task; further ones are left to their warps

// `o.capacity`: bytes of shared memory of a block; `o.kept`, `o.kept_at`: the bitmaps.
template <class I, class O, class S> struct Split {
  Spgemm<I, O, S> o;
  uint32_t* before;  // bits in the row's words before each word of `kept`
  int64_t parts;     // of each row
  int64_t block_row; // entries from which a row of B is taken by the whole block

  GRB_DEVICE int64_t words(int64_t r) const { return (span_of(o.spans[r]) + 63) / 64; }
  // The entries from .. to-1 of A, row r, of one task.
  GRB_DEVICE void task(int64_t n, int64_t& r, int64_t& from, int64_t& to) const {
    r = o.list[n % o.listed];
    const int64_t start = o.a_ptr[r], stop = o.a_ptr[r + 1], share = (stop - start + parts - 1) / parts;
    from = min(start + n / o.listed * share, stop);
    to = min(from + share, stop);
  }
};

// body(column, entry) for every `by`-th entry of B from q to end-1.
template <class Body>
GRB_DEVICE void entries_of_b(const int32_t* columns, int64_t q, int64_t end, int by, Body body) {
  for (; q < end; q += int64_t(by) * AHEAD) {
    int32_t c[AHEAD];
#pragma unroll
    for (int u = 0; u < AHEAD; u++) c[u] = q + u * by < end ? columns[q + u * by] : -1;
#pragma unroll
    for (int u = 0; u < AHEAD; u++)
      if (c[u] >= 0) body(c[u], q + u * by);
  }
}

// body(c, q, a, k) for each product of the entries from .. to-1 of A with entry q of B, until done() for a warp.  The
// block calls together.
template <int LANES, bool VALUES, class I, class O, class S, class Done, class Body>
GRB_DEVICE void products_of_part(const Split<I, O, S>& s, int64_t from, int64_t to, Done done, Body body) {
  const Spgemm<I, O, S>& o = s.o;
  __shared__ int64_t queue[QUEUE];  // entries of A whose rows of B the whole block takes
  __shared__ int queued;
  if (threadIdx.x == 0) queued = 0;
  __syncthreads();
  const int sub = threadIdx.x & (LANES - 1), group = threadIdx.x / LANES, groups = blockDim.x / LANES;
  int64_t base = from + (group & ~(32 / LANES - 1));  // of the warp
  for (; base < to && !__any_sync(ALL_LANES, done()); base += int64_t(groups) * AHEAD) {
    int64_t k[AHEAD], start[AHEAD], stop[AHEAD];
    int32_t c[AHEAD];
    typename S::A a[AHEAD];
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const int64_t p = base + (group & (32 / LANES - 1)) + int64_t(u) * groups;
      start[u] = stop[u] = k[u] = 0;
      a[u] = typename S::A();
      if (p >= to) continue;
      k[u] = o.a_cols[p];
      o.row_of_b(k[u], start[u], stop[u]);
      if constexpr (VALUES) a[u] = value_of_a<S>(o.a_values, p);
    }
#pragma unroll
    for (int u = 0; u < AHEAD; u++) c[u] = start[u] + sub < stop[u] ? o.b_cols[start[u] + sub] : -1;
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      const bool by_warp = stop[u] - start[u] > LONG_ROW * LANES;
      if (!by_warp) {
        for (int64_t q = start[u] + sub; q < stop[u]; q += LANES) {
          body(c[u], q, a[u], k[u]);
          if (q + LANES < stop[u]) c[u] = o.b_cols[q + LANES];
        }
      }
      for_each_lane(by_warp && sub == 0, [&](int lane) {
        const int64_t first = shuffle(start[u], lane), end = shuffle(stop[u], lane), middle = shuffle(k[u], lane);
        if (end - first > s.block_row) {
          const int at = shuffle(lane_number() == 0 ? atomicAdd(&queued, 1) : 0, 0);
          if (at < QUEUE) {
            if (lane_number() == 0) queue[at] = base + lane / LANES + int64_t(u) * groups;
            return;
          }
        }
        const typename S::A own = shuffle(a[u], lane);
        entries_of_b(o.b_cols, first + lane_number(), end, 32, [&](int32_t column, int64_t q) {
          body(column, q, own, middle);
        });
      });
    }
  }
  __syncthreads();
  for (int at = 0; at < min(queued, QUEUE) && !done(); at++) {
    const int64_t p = queue[at], middle = o.a_cols[p];
    int64_t first, end;
    o.row_of_b(middle, first, end);
    typename S::A own = typename S::A();
    if constexpr (VALUES) own = value_of_a<S>(o.a_values, p);
    entries_of_b(o.b_cols, first + threadIdx.x, end, int(blockDim.x), [&](int32_t column, int64_t q) {
      body(column, q, own, middle);
    });
  }
  __syncthreads();
}

template <class I, class O, class S, int LANES>
__global__ void __launch_bounds__(512) split_mark(Split<I, O, S> s) {
  extern __shared__ __align__(16) unsigned char pool[];
  unsigned* near = reinterpret_cast<unsigned*>(pool);
  for (int64_t n = blockIdx.x; n < s.o.listed * s.parts; n += gridDim.x) {
    int64_t r, from, to;
    s.task(n, r, from, to);
    unsigned* far = reinterpret_cast<unsigned*>(s.o.kept + s.o.kept_at[r]);
    const unsigned low = unsigned(s.o.spans[r] >> 32);
    const int64_t halves = s.words(r) * 2;
    const bool is_near = halves * 4 <= s.o.capacity;
    if (is_near)
      for (int64_t h = threadIdx.x; h < halves; h += blockDim.x) near[h] = 0;
    __syncthreads();
    const int64_t span = span_of(s.o.spans[r]);
    auto full = [&]() {  // every column of a short row is there
      return span <= 64 && is_near && *(volatile word*)near == word_below(int(span));
    };
    products_of_part<LANES, false>(s, from, to, full, [&](int32_t c, int64_t, auto, int64_t) {
      const unsigned at = unsigned(c) - low, bit = 1u << (at & 31);
      unsigned* half = (is_near ? near : far) + (at >> 5);
      if (!(*(volatile unsigned*)half & bit)) atomicOr(half, bit);
    });
    __syncthreads();
    if (is_near)
      for (int64_t h = threadIdx.x; h < halves; h += blockDim.x)
        if (near[h]) atomicOr(far + h, near[h]);
    __syncthreads();
  }
}

template <class I, class O, class S> __global__ void __launch_bounds__(1024) split_count(Split<I, O, S> s) {
  __shared__ int sums[33];
  for (int64_t n = blockIdx.x; n < s.o.listed; n += gridDim.x) {
    const int64_t r = s.o.list[n], words = s.words(r), low = int64_t(s.o.spans[r] >> 32);
    word* bits = s.o.kept + s.o.kept_at[r];
    int64_t m_start = 0, m_stop = 0;
    if (s.o.m_ptr != nullptr) row_range(s.o.m_ptr, s.o.m_rows, s.o.m_stored, s.o.row(r), m_start, m_stop);
    int done = 0, total = 0;
    for (int64_t first = 0; first < words; first += blockDim.x, done += total) {
      const int64_t w = first + threadIdx.x;
      word mine = w < words ? bits[w] : 0;
      if (s.o.m_ptr != nullptr) {
        for (word left = mine; left; left &= left - 1)
          if (!s.o.admits(m_start, m_stop, int32_t(low + w * 64 + __ffsll((long long)left) - 1)))
            mine &= ~(left & (0 - left));
        if (w < words) bits[w] = mine;
      }
      const int rank = block_exclusive_sum(__popcll(mine), total, sums);
      if (w < words) s.before[s.o.kept_at[r] + w] = uint32_t(done + rank);
    }
    if (threadIdx.x == 0) s.o.c_ptr[r + 1] = done;
    __syncthreads();
  }
}

template <class I, class O, class S> __global__ void __launch_bounds__(512) split_start(Split<I, O, S> s) {
  for (int64_t n = blockIdx.x; n < s.o.listed * s.parts; n += gridDim.x) {
    const int64_t r = s.o.list[n % s.o.listed], stop = s.o.c_ptr[r + 1];
    for (int64_t at = s.o.c_ptr[r] + n / s.o.listed * blockDim.x + threadIdx.x; at < stop; at += s.parts * blockDim.x)
      s.o.c_values[at] = S::start();
  }
}

template <class I, class O, class S, int LANES>
__global__ void __launch_bounds__(512) split_merge(Split<I, O, S> s) {
  extern __shared__ __align__(16) unsigned char pool[];
  using Z = typename S::Z;
  Z* near = reinterpret_cast<Z*>(pool);
  for (int64_t n = blockIdx.x; n < s.o.listed * s.parts; n += gridDim.x) {
    int64_t r, from, to;
    s.task(n, r, from, to);
    const word* bits = s.o.kept + s.o.kept_at[r];
    const uint32_t* before = s.before + s.o.kept_at[r];
    Z* far = s.o.c_values + s.o.c_ptr[r];
    const unsigned low = unsigned(s.o.spans[r] >> 32);
    const int64_t i = s.o.row(r), entries = s.o.c_ptr[r + 1] - s.o.c_ptr[r];
    const bool is_near = !S::any && entries * int64_t(sizeof(Z)) <= s.o.capacity;
    int copies = 1;  // of the row's values: lanes that meet in a column merge into different ones
    while (copies < 32 && entries * copies * 2 * int64_t(sizeof(Z)) <= s.o.capacity) copies *= 2;
    const int mine = lane_number() & (copies - 1);
    if constexpr (S::has_start) {
      if (is_near)
        for (int64_t at = threadIdx.x; at < entries * copies; at += blockDim.x) near[at] = S::start();
    }
    __syncthreads();
    int32_t column = -1;  // of the last products of this thread, whose sum is not merged yet
    Z sum = Z();
    auto merge_sum = [&]() {
      if (column < 0) return;
      const unsigned at = unsigned(column) - low;
      const word there = bits[at >> 6] << (63 - (at & 63));  // the column's bit is the highest
      if (!(there >> 63)) return;
      const int64_t rank = int64_t(before[at >> 6]) + __popcll(there) - 1;
      if constexpr (S::any) far[rank] = sum;
      else if (is_near) merge_returning_old<S>(near + rank * copies + mine, sum);  // keeps subnormals (PTX ISA, atom)
      else merge<S>(far + rank, sum);
    };
    auto never = []() { return false; };
    products_of_part<LANES, true>(s, from, to, never, [&](int32_t c, int64_t q, auto a, int64_t k) {
      const Z value = S::times(a, value_of_x<S>(s.o.b_values, q), i, k, s.o.column(c));
      if (c != column) {
        merge_sum();
        column = c, sum = value;
      } else if constexpr (!S::any) {
        sum = S::add(sum, value);
      }
    });
    merge_sum();
    __syncthreads();
    if (is_near) {
      for (int64_t at = threadIdx.x; at < entries; at += blockDim.x) {
        Z total = near[at * copies];
        for (int copy = 1; copy < copies; copy++) total = S::add(total, near[at * copies + copy]);
        if constexpr (!S::any) merge<S>(far + at, total);
      }
    }
    __syncthreads();
  }
}

}  // namespace grb
