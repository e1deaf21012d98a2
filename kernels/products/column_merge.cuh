// The dense accumulator (SPA) of column-wise products: values and presence bits, merged into by atomics.
//
// Who includes it: products/columns.cuh.
// New rows are found in one of two ways:
//   by returns   every atomic returns the old value; a thread that got start() sets the row's bit
//   RED          for sums of floats: reductions without return value (red, fire and forget); when all blocks have
//                merged, the sums that differ from start() get their bits (words_of_sums).  Sums of high-degree rows
//                are first accumulated in shared memory (HighDegreeRows), because an atomic costs more than reading
//                four bytes of memory.
// Preconditions: as in products/columns.cuh.
#pragma once
#include "products/semiring.cuh"

namespace grb {

constexpr int EDGES_AHEAD = 3;       // groups of 32 edges whose rows and values are read before the first is merged

// Sums over floats start at -0, and no sum of terms of which one is another number is -0, so a sum itself says that a
// term came.  FP32 atomics flush subnormal numbers; a term of LEAST_DETECTABLE or more never sums to a subnormal with
// another such term, because the last bit of the lower one is that of a normal number.
constexpr unsigned LEAST_DETECTABLE = (127 - 101) << 23;
template <class S> GRB_DEVICE bool is_detectable(typename S::Z v) {
  if constexpr (sizeof(v) == 4) {
    unsigned bits;
    memcpy(&bits, &v, sizeof bits);
    return (bits & 0x7fffffffu) >= LEAST_DETECTABLE;
  } else {
    return !same_bits(v, S::start());
  }
}

// *p += value by red, which returns nothing; the compiler itself emits atom where the other branch uses atom.
GRB_DEVICE void reduce_add(float* p, float value) {
#ifdef SIMT_CPU
  atomicAdd(p, value);
#else
  asm volatile("red.global.add.f32 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "f"(value) : "memory");
#endif
}
GRB_DEVICE void reduce_add(double* p, double value) {
#ifdef SIMT_CPU
  atomicAdd(p, value);
#else
  asm volatile("red.global.add.f64 [%0], %1;" ::"l"(__cvta_generic_to_global(p)), "d"(value) : "memory");
#endif
}

// w[row] += value without return where the value is detectable; else by a returning atomic, and -0 sets the row's bit.
template <class S> GRB_DEVICE void merge_without_return(typename S::Z* w, word* words, int64_t row,
                                                        typename S::Z value) {
  if (is_detectable<S>(value)) {
    reduce_add(w + row, value);
  } else {
    met_start<S>(w + row, merge_returning_old<S>(w + row, value), value);
    if (same_bits(value, S::start())) atomicOr(words + (row >> 6), word(1) << (row & 63));
  }
}

// Sums of high-degree rows in shared memory, a hash table without chains: slot s has row names[s].  No slots: none.
template <class Z> struct HighDegreeRows {
  const int32_t* names;
  Z* sums;
  unsigned slots;
};
GRB_DEVICE unsigned slot_of_row(int64_t row, unsigned slots) {
  return unsigned(uint64_t(unsigned(row) * 0x9E3779B1u) * slots >> 32);
}

// best[s] = (entries, row) of the row with most entries among those whose slot is s.
template <int = 0>
__global__ void high_degree_rows(const int64_t* counts, int64_t size, int64_t slots, word* best) {
  GRB_EACH(i, size) {
    if (counts[i]) atomicMax(best + slot_of_row(i, unsigned(slots)), word(counts[i]) << 32 | word(i));
  }
}

// Merges products into the accumulator.  RED: the new rows are found later (words_of_sums).  degrees: null, or row
// pointers by which the entries of the new rows are counted.
template <class I, class D, class S, bool MASKED, bool RED> struct Merger {
  const I* cols;
  const typename S::A* a_values;
  const word* mask;
  bool complement;
  typename S::Z* w;
  word* words;
  int found;                         // rows that were new to this lane
  const D* degrees;
  word edges;
  HighDegreeRows<typename S::Z> high;          // RED

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

  // Merges their products with x[u] at column k[u].  In rounds, so that all atomics are in flight together.
  template <class K>
  GRB_DEVICE void take(const I (&row)[EDGES_AHEAD], const typename S::A (&a)[EDGES_AHEAD],
                       const typename S::X (&x)[EDGES_AHEAD], const K (&k)[EDGES_AHEAD], bool (&in)[EDGES_AHEAD]) {
    if constexpr (MASKED) {
#pragma unroll
      for (int u = 0; u < EDGES_AHEAD; u++) in[u] = in[u] && has(mask, row[u]) != complement;
    }
    if constexpr (RED) {
#pragma unroll
      for (int u = 0; u < EDGES_AHEAD; u++) {
        if (!in[u]) continue;
        typename S::Z value = product(a[u], x[u], row[u], k[u]);
        unsigned slot = slot_of_row(row[u], high.slots);
        if (high.slots && high.names[slot] == row[u] && is_detectable<S>(value)) atomicAdd(high.sums + slot, value);
        else merge_without_return<S>(w, words, row[u], value);
      }
    } else {
      constexpr bool sums = !S::structure_only && !S::any;
      unsigned* halves = reinterpret_cast<unsigned*>(words);          // the same bits as halves of words
      unsigned seen[EDGES_AHEAD];
      // The first atomic returns start(), and its thread sets the bit; others that get start() do no harm.
      if constexpr (sums) {
        typename S::Z value[EDGES_AHEAD], old[EDGES_AHEAD];
#pragma unroll
        for (int u = 0; u < EDGES_AHEAD; u++) {
          if (in[u]) {
            value[u] = product(a[u], x[u], row[u], k[u]);
            old[u] = merge_returning_old<S>(&w[row[u]], value[u]);
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
          if (degrees != nullptr) edges += degrees[row[u] + 1] - degrees[row[u]];
          if constexpr (S::any && !S::structure_only) w[row[u]] = product(a[u], x[u], row[u], k[u]);
        }
      }
    }
  }

  template <class K> static GRB_DEVICE typename S::Z product(typename S::A a, typename S::X x, I row, K k) {
    return S::times(a, x, row, S::reads_k ? int64_t(k) : 0, 0);
  }
};

// Clears the accumulator of the next product.
template <class S>
GRB_DEVICE void clear(typename S::Z* w, word* words, unsigned long long* counts, int64_t size) {
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

// Sets the bits of all sums that differ from start(), once all blocks have merged; returns this lane's share
// of all set bits.
template <class S> GRB_DEVICE int words_of_sums(const typename S::Z* w, word* words, int64_t size,
                                                unsigned long long* counts) {
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
      unsigned present = __ballot_sync(ALL_LANES, !same_bits(sum[u], S::start()));
      if (lane == u) bits |= present;
    }
    if (lane < AHEAD && base + lane < count) {
      halves[base + lane] = bits;
      found += __popc(bits);
    }
  }
  return found;
}

}  // namespace grb
