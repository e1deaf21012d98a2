// Sums of rows of bitmap blocks: in a lane, over a warp (reduction by shuffles), over the warps that share a block row.
//
// Who includes it: products/bitblock_rows.cuh, whose head defines the rows and columns of a lane.
// Precondition: a whole warp calls together the functions that exchange values.
#pragma once
#include "products/semiring.cuh"

namespace grb {

// Parts of block rows that cross shares: part[(2 g + k) 8 + r], k = 0: of the block row open where share g begins.
template <class S> struct CrossingRows {
  typename S::Z* parts;
  uint8_t* have;
  unsigned* arrived;
  GRB_DEVICE void put(int64_t slot, const Total<S>& total) const {
    if constexpr (!S::structure_only) parts[slot] = total.value;
    have[slot] = total.have;
  }
  GRB_DEVICE void add_to(Total<S>& total, int64_t slot) const {
    const bool there = fresh_value(have + slot) != 0;
    if constexpr (S::structure_only) total.have = total.have || there;
    else total.join(fresh_value(parts + slot), there);
  }
};

template <class T> GRB_DEVICE T shuffle_xor(const T& value, int with) {
  registers_of<T> p = to_registers(value);
  for (unsigned& part : p.part) part = __shfl_xor_sync(ALL_LANES, part, with);
  return from_registers<T>(p);
}

// The sums of a lane's two rows of a block row.
// FULL: where sums have a start, no flag for the presence of a product is kept.
template <class S, bool FULL> struct BlockSums {
  using Z = typename S::Z;
  static constexpr bool COUNTED = !(FULL && S::has_start);
  Z acc[2];
  unsigned have;                   // bit r: has row r a product?

  GRB_DEVICE void clear() {
    have = 0;
#pragma unroll
    for (int r = 0; r < 2; r++) {
      if constexpr (S::has_start) acc[r] = S::start();
      else acc[r] = Z();
    }
  }
  // Adds a product to row r where `wanted`: a selection, no branch, so that all loads are in flight at once.
  GRB_DEVICE void take(int r, Z product, bool wanted) {
    Z sum = product;
    if constexpr (!S::any) {
      if (S::has_start || have >> r & 1) sum = S::add(acc[r], product);
    }
    acc[r] = wanted ? sum : acc[r];
    if constexpr (COUNTED) have |= unsigned(wanted) << r;
  }
  static GRB_DEVICE void join(Total<S>& total, int by) {
    if constexpr (S::structure_only) {
      total.have = __shfl_xor_sync(ALL_LANES, int(total.have), by) != 0 || total.have;
    } else if constexpr (COUNTED) {
      const bool there = __shfl_xor_sync(ALL_LANES, int(total.have), by) != 0;
      const Z other = shuffle_xor(total.value, by);
      total.join(other, there);
    } else {
      total.value = S::add(total.value, shuffle_xor(total.value, by));
    }
  }
  // The total of row 2 (l & 3) + (l >> 2 & 1) over the warp: lanes 4 apart exchange a row.  The warp calls together.
  GRB_DEVICE Total<S> reduced() const {
    const bool upper = (lane_number() & 4) != 0;
    Total<S> total;
    total.have = !COUNTED || have >> int(upper) & 1;
    bool there = true;
    if constexpr (COUNTED) there = __shfl_xor_sync(ALL_LANES, int(have >> int(!upper) & 1), 4) != 0;
    if constexpr (S::structure_only) {
      total.have = total.have || there;
    } else {
      Z given = acc[0], kept = acc[1];  // values: a choice of references is a choice of addresses
      if (!upper) given = acc[1], kept = acc[0];
      total.value = kept;
      const Z other = shuffle_xor(given, 4);
      if constexpr (COUNTED) total.join(other, there);
      else total.value = S::add(total.value, other);
    }
    join(total, 8);
    join(total, 16);
    return total;
  }
};

}  // namespace grb
