// The common parts of products over a semiring: a running total, its combination over a group of lanes, atomics.
//
// Who includes it: all kernels of products/.  S is the struct written by backends/cuda/lowering/semirings.py:
//   Z, A, X                      types of the result, of the stored values of the matrix, of those of the other operand
//   reads_a, reads_x             is the operand's value read?  a_iso, x_iso: is the operand iso (one value in all)?
//   structure_only               every product is the same and x (+) x = x: only presence counts, no value is computed
//   any                          the first product will do;  has_terminal: a value ends the sum (terminal(v))
//   reads_i, reads_k             is the row, the column of the entry read (positional operators)?
//   has_start                    start() (+) v = v for every v, NaN and -0 included: sums may begin with it
//   fold                         FOLD_OR, ... where add is that of bits (BOOL), else NO_FOLD
//   picks                        add is fmin (picks_least) or fmax of FP64, which leave NaN out; worst() is infinity
//   leaves_nan_out               add is fmin or fmax of floats, and times is NaN where one of its two values is
//   times(a, x, i, k, j), add(p, q)
// Invariant: totals of several lanes are combined in any order; monoids are commutative and associative.
#pragma once
#include "base/atomics.cuh"
#include "base/views.cuh"
#include "base/warp.cuh"

namespace grb {

// Loads that evict first (what is read once), and through the read-only path (what many threads read).
// bool and complex have no overload of their own.
template <class T> constexpr bool is_number = is_float<T> || is_same<T, int8_t> || is_same<T, uint8_t> ||
                                              is_same<T, int16_t> || is_same<T, uint16_t> || is_same<T, int32_t> ||
                                              is_same<T, uint32_t> || is_same<T, int64_t> || is_same<T, uint64_t>;
template <class T> GRB_DEVICE T stream(const T* p) {
  if constexpr (is_number<T>) return __ldcs(p);
  else if constexpr (is_same<T, bool>) return __ldcs(reinterpret_cast<const unsigned char*>(p)) != 0;
  else return *p;
}
template <class T> GRB_DEVICE T read_only(const T* p) {
  if constexpr (is_number<T>) return __ldg(p);
  else if constexpr (is_same<T, bool>) return __ldg(reinterpret_cast<const unsigned char*>(p)) != 0;
  else return *p;
}

GRB_DEVICE float least(float p, float q) { return ::fminf(p, q); }
GRB_DEVICE float greatest(float p, float q) { return ::fmaxf(p, q); }

enum { NO_FOLD, FOLD_OR, FOLD_AND, FOLD_XOR, FOLD_XNOR };

template <class S> struct Total {
  using Z = typename S::Z;
  Z value;
  bool have;
  GRB_DEVICE Total() : value(), have(false) {
    if constexpr (S::has_start) value = S::start();
  }
  GRB_DEVICE void set(Z v) { value = v, have = true; }
  GRB_DEVICE void take(Z v) {
    if constexpr (S::structure_only) {
    } else if constexpr (S::any) {
      value = v;
    } else if constexpr (S::has_start) {
      value = S::add(value, v);
    } else {
      value = have ? S::add(value, v) : v;
    }
    have = true;
  }
  GRB_DEVICE void join(Z v, bool there) {
    if (there) take(v);
  }
  GRB_DEVICE bool finished() const {
    if constexpr (S::structure_only || S::any) return have;
    else if constexpr (S::has_terminal) return have && S::terminal(value);
    else return false;
  }
};

template <class S> constexpr bool stops_early = S::structure_only || S::any || S::has_terminal;

// The first lane of each group of `lanes` neighbours gets the group's total.
template <class S> GRB_DEVICE void join_lanes(Total<S>& total, int lanes) {
#pragma unroll
  for (int by = lanes >> 1; by; by >>= 1) {
    if constexpr (S::structure_only) {
      total.have = __shfl_down_sync(ALL_LANES, int(total.have), by) != 0 || total.have;
    } else {
      auto other = shuffle_down(total.value, by);
      bool there = __shfl_down_sync(ALL_LANES, int(total.have), by) != 0;
      total.join(other, there);
    }
  }
}

// The value of entry p of the matrix, of position k of the other operand; anything when they are not read.
template <class S, class P> GRB_DEVICE typename S::A value_of_a(const typename S::A* values, P p) {
  if constexpr (!S::reads_a) return typename S::A();
  else if constexpr (S::a_iso) return values[0];
  else return stream(values + p);
}
// The same where lanes next to this one read the rest of the sector later.
template <class S, class P> GRB_DEVICE typename S::A kept_value(const typename S::A* values, P p) {
  if constexpr (!S::reads_a) return typename S::A();
  else return read_only(values + (S::a_iso ? P(0) : p));
}
template <class S, class P> GRB_DEVICE typename S::X value_of_x(const typename S::X* values, P k) {
  if constexpr (!S::reads_x) return typename S::X();
  else if constexpr (S::x_iso) return values[0];
  else return read_only(values + k);
}

// A value that another block wrote during this kernel: past L1, which may hold what was there before.
template <class T> GRB_DEVICE T fresh_value(const T* p) {
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

// *p (+)= value by an atomic; *p was start() or a value before.  Returns the old value.
//
// In two steps, so that several atomics can be in flight: merge_returning_old, then repair_sum
// (FP32 atomics flush subnormals).
template <class S> GRB_DEVICE typename S::Z merge_returning_old(typename S::Z* p, typename S::Z value) {
  using Z = typename S::Z;
  if constexpr (S::plain_sum &&
                (is_same<Z, float> || is_same<Z, double> || is_same<Z, int32_t> || is_same<Z, uint32_t>)) {
    return atomicAdd(p, value);
  } else if constexpr (S::plain_sum && (is_same<Z, int64_t> || is_same<Z, uint64_t>)) {
    return Z(atomicAdd(reinterpret_cast<unsigned long long*>(p), (unsigned long long)value));
  } else {
    return atomic_exchange_by(p, value, [](Z x, Z y) { return S::add(x, y); });
  }
}
template <class S> GRB_DEVICE void repair_sum(typename S::Z* p, typename S::Z old, typename S::Z value) {
  if constexpr (S::plain_sum && is_same<typename S::Z, float>) add_what_was_lost(p, old, value);
}
template <class S> GRB_DEVICE void merge(typename S::Z* p, typename S::Z value) {
  repair_sum<S>(p, merge_returning_old<S>(p, value), value);
}

// The second step: was the old value start(), bit for bit?  It was for the first atomic on *p.
template <class S> GRB_DEVICE bool met_start(typename S::Z* p, typename S::Z old, typename S::Z value) {
  repair_sum<S>(p, old, value);
  typename S::Z start = S::start();
  return same_bits(old, start);
}

}  // namespace grb
