// Atomic read-modify-write by any operator, for values of 1, 2, 4 or 8 bytes, and presence beside the value.
//
// Who includes it: column-based walks, reductions, whatever merges results of several threads.
// Order: values are combined in any order, so the operator must be associative and commutative (a monoid).
#pragma once
#include "bits.cuh"

namespace grb {

template <int SIZE> struct atom;
template <> struct atom<4> { using type = unsigned; };
template <> struct atom<8> { using type = unsigned long long; };

// *p = op(*p, value); true when this call changed it.  Stops early when op leaves the value as it is.
template <class T, class Op> GRB_DEVICE bool atomic_update(T* p, T value, Op op) {
  if constexpr (sizeof(T) == 4 || sizeof(T) == 8) {
    using U = typename atom<sizeof(T)>::type;
    U* address = reinterpret_cast<U*>(p);
    U old = *(volatile U*)address;
    for (;;) {
      T before;
      memcpy(&before, &old, sizeof(T));
      T after = op(before, value);
      U fresh;
      memcpy(&fresh, &after, sizeof(T));
      if (fresh == old) return false;
      U seen = atomicCAS(address, old, fresh);
      if (seen == old) return true;
      old = seen;
    }
  } else {  // 1 or 2 bytes: the aligned word around them
    static_assert(sizeof(T) < 4, "values of 16 bytes have no atomic: sort and combine instead");
    size_t place = reinterpret_cast<size_t>(p);
    unsigned* address = reinterpret_cast<unsigned*>(place & ~size_t(3));
    int shift = int(place & 3) * 8;
    unsigned mask = (sizeof(T) == 1 ? 0xffu : 0xffffu) << shift;
    unsigned old = *(volatile unsigned*)address;
    for (;;) {
      unsigned part = (old & mask) >> shift;
      T before;
      memcpy(&before, &part, sizeof(T));
      T after = op(before, value);
      unsigned fresh_part = 0;
      memcpy(&fresh_part, &after, sizeof(T));
      unsigned fresh = (old & ~mask) | (fresh_part << shift);
      if (fresh == old) return false;
      unsigned seen = atomicCAS(address, old, fresh);
      if (seen == old) return true;
      old = seen;
    }
  }
}

}  // namespace grb
