// Where products by columns are merged: an accumulator of values and presence bits, and how it is known which rows are new.
//
// Who includes it: products/columns.cuh.
// Asked: every atomic tells whether it met start(); who did puts the row's bit.  LATER, for sums of floats: no answer is waited
//   for, and when all have merged the sums that are not start() get their bits (words_of_sums).  Sums of the fullest rows are
//   then first made in shared memory (HotRows): on the card an atomic of its own costs more than four bytes from memory.
// Invariants: as in products/columns.cuh.
#pragma once
#include "products/semiring.cuh"

namespace grb {

constexpr int EDGES_AHEAD = 3;       // groups of 32 edges whose rows and values are read before the first is merged

// Sums over floats start at -0, and no sum of terms of which one is another number is -0: what has come shows by itself.
// FP32 atomics make zeros of subnormal numbers; a term of SHOWING or more comes to none with any other number: of two such
// near each other the lower one's last place is that of a normal number.
constexpr unsigned SHOWING = (127 - 101) << 23;
template <class S> GRB_DEVICE bool shows(typename S::Z v) {
  if constexpr (sizeof(v) == 4) {
    unsigned bits;
    memcpy(&bits, &v, sizeof bits);
    return (bits & 0x7fffffffu) >= SHOWING;
  } else {
    return !same_bits(v, S::start());
  }
}

// *p += value; an instruction without an answer, which the compiler would not choose beside merge_and_tell.
GRB_DEVICE void add_unasked(float* p, float value) {
#ifdef SIMT_CPU
  atomicAdd(p, value);
#else
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "f"(value) : "memory");
#endif
}
GRB_DEVICE void add_unasked(double* p, double value) {
#ifdef SIMT_CPU
  atomicAdd(p, value);
#else
  asm volatile("red.global.add.f64 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "d"(value) : "memory");
#endif
}

// w[row] += value without waiting for an answer where the value shows; else with care, and -0 puts the row's bit.
template <class S> GRB_DEVICE void merge_showing(typename S::Z* w, word* words, int64_t row, typename S::Z value) {
  if (shows<S>(value)) {
    add_unasked(w + row, value);
  } else {
    met_start<S>(w + row, merge_and_tell<S>(w + row, value), value);
    if (same_bits(value, S::start())) atomicOr(words + (row >> 6), word(1) << (row & 63));
  }
}

// Sums of the rows that most entries lie in, in shared memory: place s holds row names[s].  No places: none.
template <class Z> struct HotRows {
  const int32_t* names;
  Z* sums;
  unsigned places;
};
GRB_DEVICE unsigned hot_place(int64_t row, unsigned places) {
  return unsigned(uint64_t(unsigned(row) * 0x9E3779B1u) * places >> 32);
}

// best[s] = (entries, row) of the fullest of the rows whose place is s.
__global__ void fullest_rows(const int64_t* counts, int64_t size, int64_t places, word* best) {
  GRB_EACH(i, size) {
    if (counts[i]) atomicMax(best + hot_place(i, unsigned(places)), word(counts[i]) << 32 | word(i));
  }
}

// Where products go.  LATER: which rows are new is not asked here (words_of_sums).
template <class I, class S, bool MASKED, bool LATER> struct Merger {
  const I* cols;
  const typename S::A* a_values;
  const word* mask;
  bool complement;
  typename S::Z* w;
  word* words;
  int found;                         // rows that were new to this lane
  HotRows<typename S::Z> hot;        // LATER

  // Rows and values of the entries p[u] of A where in[u].
  template <class P>
  GRB_DEVICE void read(const P (&p)[EDGES_AHEAD], const bool (&in)[EDGES_AHEAD], I (&row)[EDGES_AHEAD],
                       typename S::A (&a)[EDGES_AHEAD]) {
#pragma unroll
    for (int u = 0; u < EDGES_AHEAD; u++) {
      if (in[u]) {
        row[u] = stream(cols + p[u]);
        a[u] = value_of_a<S>(a_values, p[u]);
      }
    }
  }

  // Their products with x[u] at column k[u].  In rounds, so that the answers of all atomics are waited for together.
  template <class K>
  GRB_DEVICE void take(const I (&row)[EDGES_AHEAD], const typename S::A (&a)[EDGES_AHEAD],
                       const typename S::X (&x)[EDGES_AHEAD], const K (&k)[EDGES_AHEAD], bool (&in)[EDGES_AHEAD]) {
    if constexpr (MASKED) {
#pragma unroll
      for (int u = 0; u < EDGES_AHEAD; u++) in[u] = in[u] && has(mask, row[u]) != complement;
    }
    if constexpr (LATER) {           // no answer is waited for
#pragma unroll
      for (int u = 0; u < EDGES_AHEAD; u++) {
        if (!in[u]) continue;
        typename S::Z value = product(a[u], x[u], row[u], k[u]);
        unsigned place = hot_place(row[u], hot.places);
        if (hot.places && hot.names[place] == row[u] && shows<S>(value)) atomicAdd(hot.sums + place, value);
        else merge_showing<S>(w, words, row[u], value);
      }
    } else {
      constexpr bool sums = !S::structure_only && !S::any;
      unsigned* halves = reinterpret_cast<unsigned*>(words);          // a bit's place in halves of words is the same
      unsigned seen[EDGES_AHEAD];
      if constexpr (sums) {          // the first to come meets start() and puts the bit; others who meet it do no harm
        typename S::Z value[EDGES_AHEAD], old[EDGES_AHEAD];
#pragma unroll
        for (int u = 0; u < EDGES_AHEAD; u++) {
          if (in[u]) {
            value[u] = product(a[u], x[u], row[u], k[u]);
            old[u] = merge_and_tell<S>(&w[row[u]], value[u]);
          }
        }
#pragma unroll
        for (int u = 0; u < EDGES_AHEAD; u++) {
          if (in[u]) in[u] = met_start<S>(&w[row[u]], old[u], value[u]);
        }
      }
      if constexpr (!sums || !is_float<typename S::Z>) {
#pragma unroll
        for (int u = 0; u < EDGES_AHEAD; u++) {
          if (in[u]) seen[u] = ((volatile unsigned*)halves)[row[u] >> 5];
        }
#pragma unroll
        for (int u = 0; u < EDGES_AHEAD; u++) {
          if (in[u]) in[u] = !(seen[u] >> (row[u] & 31) & 1);
        }
      }
#pragma unroll
      for (int u = 0; u < EDGES_AHEAD; u++) {
        if (in[u]) seen[u] = atomicOr(&halves[row[u] >> 5], 1u << (row[u] & 31));
      }
#pragma unroll
      for (int u = 0; u < EDGES_AHEAD; u++) {
        if (in[u] && !(seen[u] >> (row[u] & 31) & 1)) {
          found++;
          if constexpr (S::any && !S::structure_only) w[row[u]] = product(a[u], x[u], row[u], k[u]);
        }
      }
    }
  }

  template <class K> static GRB_DEVICE typename S::Z product(typename S::A a, typename S::X x, I row, K k) {
    return S::times(a, x, row, S::reads_k ? int64_t(k) : 0, 0);
  }
};

// The accumulator of the next product made clean.
template <class S>
GRB_DEVICE void clean(typename S::Z* w, word* words, unsigned long long* counts, int64_t size) {
  if (words == nullptr) return;
  GRB_EACH(i, (size + 63) >> 6) words[i] = 0;
  if constexpr (S::has_start) {
    constexpr int EACH_TIME = 16 / sizeof(typename S::Z);
    struct alignas(16) Many { typename S::Z part[EACH_TIME]; } many;
    for (int k = 0; k < EACH_TIME; k++) many.part[k] = S::start();
    GRB_EACH(i, size / EACH_TIME) reinterpret_cast<Many*>(w)[i] = many;
    GRB_EACH(i, size % EACH_TIME) w[size - 1 - i] = S::start();
  }
  GRB_EACH(i, 4) counts[i] = 0;
}

// The bits of all sums that show, once all blocks have merged theirs; how many there are with those put before, for this lane.
template <class S> GRB_DEVICE int words_of_sums(const typename S::Z* w, word* words, int64_t size, unsigned long long* counts) {
  constexpr int AHEAD = 4;
  grid_barrier(reinterpret_cast<unsigned*>(counts + 1));
  volatile unsigned* halves = reinterpret_cast<unsigned*>(words);
  int found = 0, lane = lane_number();
  int64_t count = (size + 31) >> 5;
  for (int64_t base = warp_number() * AHEAD; base < count; base += warp_count() * AHEAD) {
    typename S::Z sum[AHEAD];
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      int64_t i = (base + u) * 32 + lane;
      sum[u] = i < size ? __ldcg(w + i) : S::start();          // past L1
    }
    unsigned bits = lane < AHEAD && base + lane < count ? halves[base + lane] : 0;
#pragma unroll
    for (int u = 0; u < AHEAD; u++) {
      unsigned shown = __ballot_sync(ALL_LANES, !same_bits(sum[u], S::start()));
      if (lane == u) bits |= shown;
    }
    if (lane < AHEAD && base + lane < count) {
      halves[base + lane] = bits;
      found += __popc(bits);
    }
  }
  return found;
}

GRB_DEVICE void add_found(int found, unsigned long long* count) {
  __shared__ int sums[32];
  found = block_reduce(found, [](int p, int q) { return p + q; }, sums);
  if (threadIdx.x == 0 && found) atomicAdd(count, (unsigned long long)found);
}

}  // namespace grb
