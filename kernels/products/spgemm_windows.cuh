// Long rows of C = A (+.x) B: a bitmap of a window of columns in shared memory, values by their rank in the bitmap.
//
// Algorithm: the dense accumulator over windows of columns (spECK: Parger et al., PPoPP 2020), made compact: the bitmap
//   has the structure of the row of C, ascending, and a value's position is the number of bits before its column.
// Phases of a window:
//   mark    set the bits of a complement mask, then those of the products' columns (no atomic where a bit is set)
//   mask    clear the bits that the mask does not admit
//   scan    bits before each word; symbolic phase: count
//   merge   numeric phase: write the columns, merge the products' values by rank, write the values; those that do not
//           fit in shared memory are merged in C itself
// Forms: BY_WARP     a warp for each row; one row of B at a time, whose columns are distinct: no atomic
//        BY_ATOMICS  a block for each row, its warps share the products evenly; values are merged by atomics
//        IN_ORDER    a block for each row, all of it takes one row of B at a time: for monoids without an atomic
// Launch: backends/cuda/products/spgemm.py; `capacity` bytes of shared memory for each row (a multiple of 16).
#pragma once
#include "products/spgemm.cuh"

namespace grb {

// Entries of A, one a lane, and what of their rows of B is in the window.
template <class S> struct Entries {
  int64_t k, start;
  int length, count;
  typename S::A a;

  // The `entries` (at most 32) from `base`; the columns low .. high-1 of their rows of B.
  template <bool VALUES, class I, class O>
  GRB_DEVICE void read(const Spgemm<I, O, S>& o, int64_t base, int entries, int32_t low, int64_t high, bool whole) {
    int64_t stop = 0;
    k = start = 0;
    a = typename S::A();
    if (lane_number() < entries) {
      k = o.a_cols[base + lane_number()];
      o.row_of_b(k, start, stop);
      if (!whole) {
        start = lower_bound(o.b_cols, start, stop, low);
        stop = lower_bound(o.b_cols, start, stop, high);
      }
      if constexpr (VALUES) a = value_of_a<S>(o.a_values, base + lane_number());
    }
    if constexpr (VALUES && S::a_iso) a = value_of_a<S>(o.a_values, int64_t(0));
    length = int(stop - start);
    count = entries;
  }
  // body(c, x, a, k) for the products of warp `part` of `parts`, which have the same entries: the rows of B are cut
  // into units of 32 products, and a warp takes AHEAD units at a time.
  template <bool VALUES, class I, class O, class Body>
  GRB_DEVICE void share(const Spgemm<I, O, S>& o, int part, int parts, Body body) const {
    const int units = (length + 31) >> 5, upto = warp_inclusive_sum(units), total = shuffle(upto, 31);
    for (int first = part * AHEAD; first < total; first += parts * AHEAD) {
      int c[AHEAD], entry[AHEAD];
      typename S::X x[AHEAD];
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int e = min(__popc(__ballot_sync(ALL_LANES, upto <= first + u)), 31);
        const int at = (first + u - shuffle(upto - units, e)) * 32 + lane_number();
        const int64_t q = shuffle(start, e) + at;
        c[u] = -1;
        entry[u] = e;
        const int end = shuffle(length, e);
        if (at < end) {
          c[u] = o.b_cols[q];
          if constexpr (VALUES) x[u] = value_of_x<S>(o.b_values, q);
        }
      }
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        typename S::A own = a;
        int64_t middle = k;
        if constexpr (VALUES && S::reads_a && !S::a_iso) own = shuffle(a, entry[u]);
        if constexpr (VALUES && S::reads_k) middle = shuffle(k, entry[u]);
        if (c[u] >= 0) body(c[u], x[u], own, middle);
      }
    }
  }
  // body(c, x, a, k) for each product.  The warp calls together and reads columns of AHEAD rows of B before the body
  // of the first.  APART: columns of different rows of B are not in two bodies at once.
  template <bool VALUES, bool APART, class I, class O, class Body>
  GRB_DEVICE void products(const Spgemm<I, O, S>& o, Body body) const {
    const int lane = lane_number();
    for (int e = 0; e < count; e += AHEAD) {
      const int32_t* columns[AHEAD];
      const typename S::X* factors[AHEAD];
      int left[AHEAD], longest = 0;
      typename S::A own[AHEAD];
#pragma unroll
      for (int u = 0; u < AHEAD; u++) {
        const int64_t q = shuffle(start, e + u) + lane;  // lanes from `count` on have no products
        left[u] = shuffle(length, e + u);
        columns[u] = o.b_cols + q;
        factors[u] = VALUES && S::reads_x && !S::x_iso ? o.b_values + q : o.b_values;
        longest = max(longest, left[u]);
        own[u] = a;
        if constexpr (VALUES && S::reads_a && !S::a_iso) own[u] = shuffle(a, e + u);
      }
      for (int done = 0; done < longest; done += 32) {
        int c[AHEAD];
        typename S::X x[AHEAD];
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
          c[u] = -1;
          if (done + lane < left[u]) {
            c[u] = columns[u][done];
            if constexpr (VALUES) x[u] = value_of_x<S>(factors[u], done);
          }
        }
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
          if (done >= left[u]) continue;  // the same for all lanes
          int64_t middle = k;
          if constexpr (VALUES && S::reads_k) middle = shuffle(k, e + u);
          if (c[u] >= 0) body(c[u], x[u], own[u], middle);
          if constexpr (APART) __syncwarp();
        }
      }
    }
  }
};

// body for all products of the entries from .. to-1 of A, a row, in a window.
template <int FORM, bool VALUES, class I, class O, class S, class Body>
GRB_DEVICE void products_of_row(const Spgemm<I, O, S>& o, const Owner<FORM>& owner, int64_t from, int64_t to,
                                int32_t low, int64_t high, bool whole, Body body) {
  if constexpr (FORM == BY_WARP) {
    Entries<S> entries;
    for (int64_t base = from; base < to; base += 32) {
      entries.template read<VALUES>(o, base, int(min(to - base, int64_t(32))), low, high, whole);
      entries.template products<VALUES, VALUES>(o, body);
    }
  } else if constexpr (FORM == BY_ATOMICS || !VALUES) {
    Entries<S> now, following;
    auto read = [&](Entries<S>& entries, int64_t base) {
      entries.template read<VALUES>(o, base, int(min(to - base, int64_t(32))), low, high, whole);
    };
    read(now, from);
    for (int64_t base = from; base < to; base += 32) {
      if (base + 32 < to) read(following, base + 32);  // its loads return during the products of these
      now.template share<VALUES>(o, threadIdx.x >> 5, owner.size >> 5, body);
      now = following;
    }
  } else {
    for (int64_t p = from; p < to; p++) {
      int64_t k = o.a_cols[p], start, stop;
      o.row_of_b(k, start, stop);
      if (!whole) {
        start = lower_bound(o.b_cols, start, stop, low);
        stop = lower_bound(o.b_cols, start, stop, high);
      }
      if (start == stop) continue;
      auto a = value_of_a<S>(o.a_values, p);
      for (int64_t q = start + owner.rank; q < stop; q += owner.size)
        body(o.b_cols[q], value_of_x<S>(o.b_values, q), a, k);
      __syncthreads();
    }
  }
  owner.sync();
}

GRB_DEVICE int bits_in(uint32_t w) { return __popc(w); }
GRB_DEVICE int bits_in(word w) { return __popcll(w); }
GRB_DEVICE int lowest(uint32_t w) { return __ffs(int(w)) - 1; }

// The values of one window: in shared memory, or in C.
template <int FORM, class S> struct Accumulator {
  using Z = typename S::Z;
  Z* near;
  Z* far;
  word* touched;  // for monoids without start(): positions that have a value
  bool is_near;

  GRB_DEVICE void set(Z* p, int rank, Z value) const {
    if constexpr (S::any) p[rank] = value;
    else if constexpr (S::has_start) p[rank] = S::add(p[rank], value);
    else p[rank] = put(touched, rank) ? value : S::add(p[rank], value);
  }
  GRB_DEVICE void take(int rank, Z value) const {
    if constexpr (FORM == BY_WARP) {
      set(near, rank, value);
    } else if constexpr (FORM == IN_ORDER || S::any) {
      if (is_near) set(near, rank, value); else set(far, rank, value);
    } else {  // atomics on shared memory keep subnormals (PTX ISA, atom)
      if (is_near) merge_returning_old<S>(near + rank, value); else merge<S>(far + rank, value);
    }
  }
};

template <class I, class O, class S, int FORM, bool NUMERIC>
__global__ void __launch_bounds__(FORM == BY_WARP ? 128 : 1024, FORM == BY_WARP ? 8 : 1)
spgemm_windows(Spgemm<I, O, S> o) {
  extern __shared__ __align__(16) unsigned char pool[];
  __shared__ int sums[33];
  using Z = typename S::Z;
  constexpr bool values = NUMERIC && !S::structure_only, touches = values && !S::has_start && !S::any;
  using Word = choose<FORM == BY_WARP, uint32_t, word>;  // a warp's rows have less than 2^16 entries
  using Count = choose<FORM == BY_WARP, uint16_t, uint32_t>;
  constexpr int WIDTH = 8 * sizeof(Word);
  const Owner<FORM> owner;
  const int in_block = FORM == BY_WARP ? int(blockDim.x >> 5) : 1;
  const int number = FORM == BY_WARP ? int(threadIdx.x >> 5) : 0;
  Word* bits = reinterpret_cast<Word*>(pool + size_t(number) * size_t(o.capacity));
  for (int64_t n = int64_t(blockIdx.x) * in_block + number; n < o.listed; n += int64_t(gridDim.x) * in_block) {
    const int64_t r = o.list[n], i = o.row(r), beyond = int64_t(o.spans[r] & 0xffffffffu) + 1;
    int64_t m_start = 0, m_stop = 0, written = 0, to = 0;
    if (o.m_ptr != nullptr) row_range(o.m_ptr, o.m_rows, o.m_stored, i, m_start, m_stop);
    if constexpr (NUMERIC) to = o.c_ptr[r];
    const bool whole = span_of(o.spans[r]) <= o.window;
    for (int64_t low = int64_t(o.spans[r] >> 32); low < beyond; low += o.window) {
      const int64_t high = min(low + o.window, beyond);
      const int words = int(window_words(high - low)) * (64 / WIDTH);
      Count* before = reinterpret_cast<Count*>(bits + words);  // bits in the words before each
      word* touched = reinterpret_cast<word*>(before + words);
      Z* near = reinterpret_cast<Z*>(touches ? touched + words / (64 / WIDTH) : touched);
      for (int w = owner.rank; w < words; w += owner.size) bits[w] = 0;
      if constexpr (touches)
        for (int w = owner.rank; w < words / (64 / WIDTH); w += owner.size) touched[w] = 0;
      owner.sync();
      // The columns of a complement mask are set in the bitmap while the products' columns are collected, and cleared
      // afterwards.
      const bool preloaded = o.m_ptr != nullptr && o.complement && o.names == nullptr;
      auto forbidden = [&](auto change) {  // the mask's entries in the window
        const int64_t end = lower_bound(o.m_cols, m_start, m_stop, O(high));
        for (int64_t e = lower_bound(o.m_cols, m_start, end, O(low)) + owner.rank; e < end; e += owner.size) {
          const unsigned at = unsigned(int64_t(o.m_cols[e]) - low);
          change(reinterpret_cast<unsigned*>(bits) + (at >> 5), 1u << (at & 31));
        }
      };
      if (preloaded) {
        forbidden([](unsigned* half, unsigned bit) { atomicOr(half, bit); });
        owner.sync();
      }
      products_of_row<FORM, false>(o, owner, o.a_ptr[r], o.a_ptr[r + 1], int32_t(low), high, whole,
                                   [&](int c, auto, auto, int64_t) {
        unsigned at = unsigned(c) - unsigned(low), bit = 1u << (at & 31);
        unsigned* half = reinterpret_cast<unsigned*>(bits) + (at >> 5);
        if (!(*(volatile unsigned*)half & bit)) atomicOr(half, bit);
      });
      if (preloaded) {
        forbidden([](unsigned* half, unsigned bit) { atomicAnd(half, ~bit); });
        owner.sync();
      } else if (o.m_ptr != nullptr) {
        for (int w = owner.rank; w < words; w += owner.size) {
          Word kept = bits[w];
          for (Word left = kept; left; left &= left - 1)
            if (!o.admits(m_start, m_stop, int32_t(low + w * WIDTH + lowest(left)))) kept &= ~(left & (0 - left));
          bits[w] = kept;
        }
        owner.sync();
      }
      const int share = ((words + owner.size - 1) / owner.size) | 1;  // odd: neighbours' words are in other banks
      const int first = min(owner.rank * share, words), last = min(first + share, words);
      int count = 0, total = 0;
      for (int w = first; w < last; w++) count += bits_in(bits[w]);
      int rank = owner.exclusive_sum(count, total, sums);
      if constexpr (!NUMERIC) {
        if (o.kept != nullptr) {
          Word* kept = reinterpret_cast<Word*>(o.kept + o.kept_at[r] + (low - int64_t(o.spans[r] >> 32)) / 64);
          const int used = int((high - low + 63) / 64) * (64 / WIDTH);
          for (int w = owner.rank; w < used; w += owner.size) kept[w] = bits[w];
        }
      } else {
        for (int w = first; w < first + share; w++) {
          Word mine = w < last ? bits[w] : 0;
          if constexpr (values)
            if (w < last) before[w] = Count(rank);
          for_each_lane(mine != 0, [&](int from) {  // the warp writes the columns of one word
            Word whole_word = shuffle(mine, from);
            int column = shuffle(w, from) * WIDTH + lane_number();
            int64_t at = to + written + shuffle(rank, from);
#pragma unroll
            for (int half = 0; half < WIDTH; half += 32, column += 32) {
              unsigned part = unsigned(whole_word >> half);
              if (part >> lane_number() & 1) o.c_cols[at + rank_in(part)] = o.column(int32_t(low + column));
              at += __popc(part);
            }
          });
          rank += bits_in(mine);
        }
      }
      if constexpr (values) {
        Accumulator<FORM, S> acc;
        acc.near = near;
        acc.far = o.c_values + to + written;
        acc.touched = touched;
        acc.is_near = FORM == BY_WARP || reinterpret_cast<unsigned char*>(near + total) <=
                                             reinterpret_cast<unsigned char*>(bits) + o.capacity;
        if constexpr (S::has_start) {
          for (int at = owner.rank; at < total; at += owner.size)
            if (acc.is_near) acc.near[at] = S::start(); else acc.far[at] = S::start();
        }
        owner.sync();
        products_of_row<FORM, true>(o, owner, o.a_ptr[r], o.a_ptr[r + 1], int32_t(low), high, whole,
                                    [&](int c, auto x, auto a, int64_t k) {
          unsigned at = unsigned(c) - unsigned(low), w = at / WIDTH;
          Word there = bits[w] << (WIDTH - 1 - at % WIDTH);  // the column's bit is the highest
          if (o.m_ptr != nullptr && !(there >> (WIDTH - 1))) return;
          acc.take(int(before[w]) + bits_in(there) - 1, S::times(a, x, i, k, o.column(c)));
        });
        if (acc.is_near)
          for (int at = owner.rank; at < total; at += owner.size) acc.far[at] = acc.near[at];
      }
      written += total;
      owner.sync();
    }
    if constexpr (!NUMERIC) {
      if (owner.rank == 0) o.c_ptr[r + 1] = written;
    }
  }
}

}  // namespace grb
