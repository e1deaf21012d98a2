// Atomic read-modify-write by any operator (compare-and-swap loop), for values of 1, 2, 4 or 8 bytes.
//
// Included by products/semiring.cuh, for products that combine values of several threads at one address.
// Precondition: the operator is associative and commutative (a monoid's), because values are combined in any order.
#pragma once
#include "base/bits.cuh"

namespace grb {

template <int SIZE> struct atom;
template <> struct atom<4> { using type = unsigned; };
template <> struct atom<8> { using type = unsigned long long; };

template <class T> GRB_DEVICE bool same_bits(const T& x, const T& y) {
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    typename atom<sizeof(T)>::type p, q;
    memcpy(&p, &x, sizeof(T));
    memcpy(&q, &y, sizeof(T));
    return p == q;
  } else {
    static_assert(sizeof(T) <= 2, "atomics take values of 1, 2, 4 or 8 bytes");
    uint16_t p = 0, q = 0;
    memcpy(&p, &x, sizeof(T));
    memcpy(&q, &y, sizeof(T));
    return p == q;
  }
}

// *p = op(*p, value); returns the old value.  Writes nothing when the value does not change.
template <class T, class Op> GRB_DEVICE T atomic_exchange_by(T* p, T value, Op op) {
  T before;
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    using U = typename atom<sizeof(T)>::type;
    U* address = reinterpret_cast<U*>(p);
    U old = *(volatile U*)address;
    for (;;) {
      memcpy(&before, &old, sizeof(T));
      T after = op(before, value);
      U fresh;
      memcpy(&fresh, &after, sizeof(T));
      if (fresh == old) return before;
      U seen = atomicCAS(address, old, fresh);
      if (seen == old) return before;
      old = seen;
    }
  } else {  // 1 or 2 bytes: compare-and-swap on the aligned 32-bit word around them
    static_assert(sizeof(T) < 4, "values of 16 bytes have no atomic: sort and reduce by key instead");
    size_t place = reinterpret_cast<size_t>(p);
    unsigned* address = reinterpret_cast<unsigned*>(place & ~size_t(3));
    int shift = int(place & 3) * 8;
    unsigned mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
    unsigned old = *(volatile unsigned*)address;
    for (;;) {
      unsigned part = (old & mask) >> shift;
      memcpy(&before, &part, sizeof(T));
      T after = op(before, value);
      unsigned fresh_part = 0;
      memcpy(&fresh_part, &after, sizeof(T));
      unsigned fresh = (old & ~mask) | (fresh_part << shift);
      if (fresh == old) return before;
      unsigned seen = atomicCAS(address, old, fresh);
      if (seen == old) return before;
      old = seen;
    }
  }
}

// atom.add.f32 in global memory flushes subnormal inputs and results to zero (PTX ISA, atom).  This adds what
// atomicAdd(p, value), which returned `old`, lost that way.
GRB_DEVICE bool is_subnormal(float v) {
  unsigned bits;
  memcpy(&bits, &v, sizeof bits);
  return (bits & 0x7fffffffu) - 1 < 0x007fffffu;
}
GRB_DEVICE void add_what_was_lost(float* p, float old, float value) {
#ifndef SIMT_CPU
  float total = old + value;
  if (is_subnormal(total) || is_subnormal(value) || is_subnormal(old)) {
    float stored = (is_subnormal(old) ? 0.0f : old) + (is_subnormal(value) ? 0.0f : value);
    float lost = total - (is_subnormal(stored) ? 0.0f : stored);
    if (lost != 0) atomic_exchange_by(p, lost, [](float x, float y) { return x + y; });
  }
#endif
}

}  // namespace grb
