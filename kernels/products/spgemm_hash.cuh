// Short rows of C = A (+.x) B: a hash table in shared memory for each row, a group of G lanes for each table.
//
// Algorithm: hash SpGEMM with linear probing (Nagasaka, Nukada, Matsuoka, ICPP 2017).  The lanes of a group take one
//   row of B at a time, whose columns are distinct, so no two lanes update the same value: values need no atomic, and
//   the order of each sum is fixed.
// All groups of a warp take the same branches around its collectives, because a warp whose groups diverge runs them one
//   after the other.
// Phases of a row: clear the table; insert the products; symbolic phase: count the entries;
//   numeric phase: compact the table, rank the columns (each counts the smaller ones), write.
// Launch: backends/cuda/products/spgemm.py; blocks of a multiple of 32 threads, a HashTable for each group.
// Precondition: a row has at most capacity / 2 distinct columns; capacity is a power of two, at least 32.
#pragma once
#include "products/spgemm.cuh"

namespace grb {

constexpr uint32_t EMPTY_SLOT = 0xffffffffu;

template <int G, class T> GRB_DEVICE T group_shuffle(const T& value, int source) {
  registers_of<T> p = to_registers(value);
  for (unsigned& part : p.part) part = __shfl_sync(ALL_LANES, part, source, G);
  return from_registers<T>(p);
}

// The tables of one group: values, columns, the compacted columns and their slots.
template <class Z, bool NUMERIC, bool VALUES> struct HashTable {
  Z* values;
  uint32_t* columns;
  uint32_t* compact;
  uint16_t* order;
  int slots, shift;

  GRB_DEVICE HashTable(unsigned char* pool, int group, int count) : slots(count) {
    int bytes = count * 4 + (VALUES ? count * int(sizeof(Z)) : 0) + (NUMERIC ? count * 2 : 0) + (VALUES ? count : 0);
    pool += size_t(group) * size_t((bytes + 15) / 16 * 16);
    values = reinterpret_cast<Z*>(pool);
    if (VALUES) pool += count * sizeof(Z);
    columns = reinterpret_cast<uint32_t*>(pool);
    compact = columns + count;
    order = reinterpret_cast<uint16_t*>(compact + count / 2);
    shift = __clz(count) + 1;
  }
  // The slot of a column; fresh: it was not in the table.
  GRB_DEVICE int insert(uint32_t column, bool& fresh) {
    int slot = int(column * 0x9E3779B1u >> shift);
    for (;;) {
      uint32_t found = *(volatile uint32_t*)(columns + slot);
      if (found == EMPTY_SLOT) {
        found = atomicCAS(columns + slot, EMPTY_SLOT, column);
        if (found == EMPTY_SLOT) {
          fresh = true;
          return slot;
        }
      }
      if (found == column) return slot;
      slot = (slot + 1) & (slots - 1);
    }
  }
};

template <class I, class O, class S, int G, bool NUMERIC>
__global__ void __launch_bounds__(256) spgemm_hash(Spgemm<I, O, S> o) {
  extern __shared__ __align__(16) unsigned char pool[];
  using Z = typename S::Z;
  constexpr bool values = NUMERIC && !S::structure_only;
  const int sub = threadIdx.x & (G - 1), group = threadIdx.x / G, groups = blockDim.x / G;
  const int first_lane = lane_number() - sub;
  HashTable<Z, NUMERIC, values> table(pool, group, int(o.capacity));
  for (int64_t base_row = int64_t(blockIdx.x) * groups; base_row < o.listed; base_row += int64_t(gridDim.x) * groups) {
    const bool present = base_row + group < o.listed;
    const int64_t r = present ? o.list[base_row + group] : 0, i = o.row(r);
    const int64_t end = present ? o.a_ptr[r + 1] : 0;
    for (int slot = sub; slot < table.slots; slot += G) table.columns[slot] = EMPTY_SLOT;
    __syncwarp();
    int count = 0;
    for (int64_t base = present ? o.a_ptr[r] : 0; __any_sync(ALL_LANES, base < end); base += G) {
      int64_t k = 0, start = 0, stop = 0;
      typename S::A a = typename S::A();
      if (base + sub < end) {
        k = o.a_cols[base + sub];
        o.row_of_b(k, start, stop);
        if constexpr (values) a = value_of_a<S>(o.a_values, base + sub);
      }
      if constexpr (values && S::a_iso) a = value_of_a<S>(o.a_values, int64_t(0));
      for (int e = 0; e < G && __any_sync(ALL_LANES, base + e < end); e += AHEAD) {
        int64_t q[AHEAD];
        int left[AHEAD];
        int32_t c[AHEAD];
        typename S::X x[AHEAD];
        auto read = [&](int u) {
          c[u] = -1;
          if (left[u] > 0) {
            c[u] = o.b_cols[q[u]];
            if constexpr (values) x[u] = value_of_x<S>(o.b_values, q[u]);
          }
        };
#pragma unroll
        for (int u = 0; u < AHEAD; u++) {
          q[u] = group_shuffle<G>(start, e + u) + sub;
          left[u] = group_shuffle<G>(int(stop - start), e + u) - sub;
          read(u);
        }
        for (bool more = true; more;) {
          bool again = false;
#pragma unroll
          for (int u = 0; u < AHEAD; u++) {
            typename S::A factor = a;
            int64_t middle = k;
            if constexpr (values && S::reads_a && !S::a_iso) factor = group_shuffle<G>(a, e + u);
            if constexpr (values && S::reads_k) middle = group_shuffle<G>(k, e + u);
            if (c[u] >= 0) {
              bool fresh = false;
              int slot = table.insert(uint32_t(c[u]), fresh);
              count += fresh;
              if constexpr (values) {
                Z product = S::times(factor, x[u], i, middle, o.column(c[u]));
                if (fresh) table.values[slot] = product;
                else if constexpr (!S::any) table.values[slot] = S::add(table.values[slot], product);
              }
            }
            if constexpr (values) __syncwarp();
            again |= left[u] > G;
          }
          more = __any_sync(ALL_LANES, again);
          if (more) {
#pragma unroll
            for (int u = 0; u < AHEAD; u++) q[u] += G, left[u] -= G, read(u);
          }
        }
      }
    }
    __syncwarp();
    int64_t m_start = 0, m_stop = 0;
    if (o.m_ptr != nullptr) row_range(o.m_ptr, o.m_rows, o.m_stored, i, m_start, m_stop);
    if constexpr (!NUMERIC) {
      if (o.m_ptr != nullptr) {
        count = 0;
        for (int slot = sub; slot < table.slots; slot += G) {
          uint32_t c = table.columns[slot];
          if (c != EMPTY_SLOT) count += o.admits(m_start, m_stop, int32_t(c));
        }
      }
      for (int by = G / 2; by; by >>= 1) count += __shfl_down_sync(ALL_LANES, count, by, G);
      if (sub == 0 && present) o.c_ptr[r + 1] = count;
    } else {
      int found = 0;
      for (int slot = sub; slot < table.slots; slot += G) {
        uint32_t c = table.columns[slot];
        bool there = c != EMPTY_SLOT && (o.m_ptr == nullptr || o.admits(m_start, m_stop, int32_t(c)));
        unsigned votes = __ballot_sync(ALL_LANES, there) >> first_lane & (G == 32 ? ALL_LANES : (1u << (G & 31)) - 1);
        if (there) {
          int at = found + __popc(votes & ((1u << sub) - 1));
          table.compact[at] = c;
          if constexpr (values) table.order[at] = uint16_t(slot);
        }
        found += __popc(votes);
      }
      if (found + sub < (found + 3) / 4 * 4) table.compact[found + sub] = EMPTY_SLOT;
      __syncwarp();
      const bool keeps = o.kept != nullptr;  // the columns, for spgemm_expand, and their number
      if (keeps && sub == 0 && present) o.c_ptr[r + 1] = found;
      uint32_t* kept = keeps ? reinterpret_cast<uint32_t*>(o.kept + o.kept_at[r]) : nullptr;
      const int64_t to = o.c_ptr[r];
      const uint4* four = reinterpret_cast<const uint4*>(table.compact);
      for (int at = sub; at < found; at += G) {
        uint32_t c = table.compact[at];
        int rank = 0;
        for (int m = 0; m < (found + 3) / 4; m++) {
          uint4 v = four[m];
          rank += int(v.x < c) + int(v.y < c) + int(v.z < c) + int(v.w < c);
        }
        if (keeps) kept[rank] = c; else o.c_cols[to + rank] = o.column(int32_t(c));
        if constexpr (values) o.c_values[to + rank] = table.values[table.order[at]];
      }
    }
    __syncwarp();
  }
}

}  // namespace grb
