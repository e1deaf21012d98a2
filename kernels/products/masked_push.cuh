// C<M> = A (+.x) B for a mask M that is no complement, rows that are pushed: row i of C from the rows k of B with an
// entry A(i, k), in a table of M(i,:).
//
// Algorithm: Gustavson's, with an accumulator preloaded with the mask's row (masked SpGEMM, MSA and hash: Milakovic,
//   Selvitopi, Nisa, Budimlic, Buluc, ICPP 2022).
// Phases of a row: the table of M(i,:) from a column to its position in the row; the products, each looked up and
//   merged at its position; then each entry goes where E says (products/masked_emit.cuh).  Rows without a table
//   (SEARCHED) are merged in global memory: in the result itself where that has the mask's entries.
// Forms: BY_WARP a warp for each row, one row of B at a time; BY_ATOMICS a block for each row, its warps share the
//   products evenly; IN_ORDER a block takes one row of B at a time, for monoids without an atomic.
// Launch: backends/cuda/products/masked.py; the operand B of Masked is B in CSR here (not B').
// Preconditions: columns of B are below 2^31; `hit` is false.
#pragma once
#include "products/masked_rows.cuh"
#include "products/spgemm_windows.cuh"

namespace grb {

template <class I, class M, class S, int FORM, class E>
__global__ void __launch_bounds__(FORM == BY_WARP ? 128 : 1024, FORM == BY_WARP ? 8 : 1)
masked_push(Masked<I, int32_t, M, S, E> o) {
  extern __shared__ __align__(16) unsigned char pool[];
  using Z = typename S::Z;
  constexpr bool valued = !S::structure_only;
  const Owner<FORM> owner;
  const int in_block = FORM == BY_WARP ? int(blockDim.x >> 5) : 1;
  const int number = FORM == BY_WARP ? int(threadIdx.x >> 5) : 0;
  unsigned char* mine = pool + size_t(number) * size_t(o.capacity);
  Spgemm<I, M, S> product = {};
  product.a_cols = o.a_cols, product.a_values = o.a_values;
  product.b_ptr = o.b_ptr, product.b_rows = o.b_rows, product.b_stored = o.b_stored;
  product.b_cols = o.b_cols, product.b_values = o.b_values;
  for (int64_t n = int64_t(blockIdx.x) * in_block + number; n < o.listed; n += int64_t(gridDim.x) * in_block) {
    const int64_t r = o.list[n], i = o.m_rows == nullptr ? r : o.m_rows[r];
    const int64_t m_start = o.m_ptr[r], length = o.m_ptr[r + 1] - m_start;
    int64_t a_start, a_stop;
    row_range(o.a_ptr, o.a_rows, o.a_stored, i, a_start, a_stop);
    const M* cols = o.m_cols + m_start;
    const int64_t span = int64_t(cols[length - 1]) - int64_t(cols[0]) + 1;
    const PushTable found = push_table<M>(length, span, valued ? int64_t(sizeof(Z)) : 0, o.capacity);
    const bool is_near = FORM == BY_WARP || found.kind != SEARCHED;
    Z* values = is_near ? reinterpret_cast<Z*>(mine) : o.sums + m_start;
    word* present = reinterpret_cast<word*>(mine + found.base - (length + 127) / 128 * 16);
    if (is_near)
      for (int64_t w = owner.rank; w < (length + 63) / 64; w += owner.size) present[w] = 0;
    if constexpr (valued && S::has_start)
      for (int64_t p = owner.rank; p < length; p += owner.size) values[p] = S::start();
    owner.sync();
    auto run = [&](auto table) {
      table.build(owner);
      products_of_row<FORM, valued>(product, owner, a_start, a_stop, 0, int64_t(1) << 31, true,
                                    [&](int c, auto x, auto a, int64_t k) {
        typename decltype(table)::Place at;
        if (!table.find(typename decltype(table)::Key(c), at)) return;
        const int64_t p = at;
        const bool had = is_near ? (*(volatile word*)(present + (p >> 6)) & bit_of(p)) != 0 : o.met[m_start + p];
        if constexpr (valued) {
          const Z value = S::times(a, x, i, k, int64_t(c));
          if constexpr (S::any) values[p] = value;
          else if constexpr (FORM == BY_ATOMICS) {
            if (is_near) merge_returning_old<S>(values + p, value);  // keeps subnormals (PTX ISA, atom)
            else merge<S>(values + p, value);
          } else if constexpr (S::has_start) values[p] = S::add(values[p], value);
          else values[p] = had ? S::add(values[p], value) : value;
        }
        if (had) return;
        if (is_near) put(present, p); else o.met[m_start + p] = true;
      });
    };
    const int64_t left = o.capacity - found.base;
    if (found.kind == BITMAP) run(RowTable<M, BITMAP, POSITIONS>(cols, nullptr, length, mine + found.base, left));
    else if (found.kind == HASH) run(RowTable<M, HASH, POSITIONS>(cols, nullptr, length, mine + found.base, left));
    else if constexpr (FORM != BY_WARP) run(RowTable<M, SEARCHED, POSITIONS>(cols, nullptr, length, mine, left));
    Total<typename E::R> sum;
    if (is_near || E::keeps || E::into != AT_MASK) {
      for (int64_t p = owner.rank; p < length; p += owner.size) {
        if (!(is_near ? (present[p >> 6] & bit_of(p)) != 0 : fresh_value(o.met + m_start + p))) continue;
        Z value = Z();
        if constexpr (valued) value = is_near ? values[p] : fresh_value(values + p);
        emit<E>(o, sum, m_start + p, i, int64_t(cols[p]), value);
      }
    }
    merge_row<E>(o, sum, r);
    owner.sync();
  }
}

}  // namespace grb
