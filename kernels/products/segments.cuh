// w[i] = (+)_k A[i,k] (x) x[k] for all rows, x full or with gaps: SpMV by a segmented sum over equal shares of the
// entries.
//
// Algorithm: CSR5 (Liu, Vinter, ICS 2015), section 3: tiles of entries, bits where rows begin, segmented sums; with
//   equal shares of the entries and the carry-out fix-up of merge-based CSR (Merrill, Garland, SC 2016), section 3.
// Phases of a warp, slice by slice (SLICE entries; the loads of the next slice are issued while this one is computed):
//   load       lane l takes entries l, 32 + l, ... (coalesced), and 8 bits: which of entries 8 l .. 8 l + 7 begin a row
//   gather     x at the entries' columns, by COLUMNS:
//                PLAIN       the matrix's own columns
//                DELTA       16-bit distances from a base for each slice (bases[slice] < 0: PLAIN in this slice)
//                RELABELLED  columns relabelled by falling frequency: x is given in that order, its first `cached`
//                            values are in shared memory
//                BINNED      in steps: x is given in bins (binned_columns.cuh), each of which is copied into shared
//                            memory for the slices that the block's warps have in that step
//              x with gaps: which entries are there, by the value ABSENT or by presence bits (segment_gaps.cuh)
//   multiply   S::times; BOOL by a monoid of bits (in_bits) for eight entries of a lane at once
//   transpose  through shared memory: lane l gets the products of the consecutive entries 8 l .. 8 l + 7, which
//              it has from the start where x is BINNED
//   reduce     inside each lane, then across lanes (close_rows: segmented scan); rows that end in the slice are written
// Then the carry-out fix-up closes rows that cross warps (block_fix_up) and blocks (grid_fix_up, in the
// block that arrives last).
// Launch: backends/cuda/products/segments.py, THREADS threads, at most THREADS blocks, all resident; shared memory:
//   LANE_ENTRIES values of Z for each thread, after the cached part of x in multiples of 16 bytes, before the bin.
// Preconditions: the form of products/segments.py; `arrived` is zero before and after.  w of rows without entries
//   stays as it is.
#pragma once
#include "products/segment_sum.cuh"

namespace grb {

// The ends of each warp's entries in the warp's own part of shared memory.
template <class S> struct WarpEnds {
  using Z = typename S::Z;
  Z* buffers;
  GRB_DEVICE void put(int warp, const Ends<S>& ends) const {
    if (lane_number() == 0) {
      Z* to = buffers + warp * SLICE;
      to[0] = ends.head.value;
      to[1] = ends.tail.value;
      reinterpret_cast<unsigned char*>(to + 2)[0] = ends.flags();
    }
  }
  GRB_DEVICE void take(int warp, Ends<S>& ends) const {
    const Z* from = buffers + warp * SLICE;
    ends.set(from[0], from[1], reinterpret_cast<const unsigned char*>(from + 2)[0]);
  }
  // A word after the ends of warp 0.  Static shared memory counts towards the 48 KiB that need no attribute.
  GRB_DEVICE int* flag() const { return reinterpret_cast<int*>(buffers) + 16; }
};

// Carry-out fix-up inside a block, by warp 0: lane l has the ends of warp l where `warps` warps have entries.
// scale: warps of the grid that one of them stands for.
template <class I, class R, class A, class S, class Output>
GRB_DEVICE Ends<S> block_fix_up(const SegmentedMatrix<I, R, A>& m, const WarpEnds<S>& shared, int64_t first,
                                int64_t scale, bool has_entries, Output& out) {
  Ends<S> ends;
  R opened = 0;
  const int lane = lane_number();
  if (lane < int(blockDim.x >> 5)) {
    shared.take(lane, ends);
    if (has_entries) opened = m.open_row(first + lane * scale);
  }
  return close_ends<S, R>(ends, opened, m.names, out);
}

// Carry-out fix-up across blocks, by the block that arrives last: thread t has the ends of block t.
template <class I, class R, class A, class S, class Output>
GRB_DEVICE Ends<S> grid_fix_up(const SegmentedMatrix<I, R, A>& m, const WarpEnds<S>& shared, const typename S::Z* parts,
                               const uint8_t* part_flags, Output& out) {
  const int warp = threadIdx.x >> 5, together = blockDim.x >> 5, blocks = int(gridDim.x);
  Ends<S> ends;
  if (warp * 32 < blocks) {
    R opened = 0;
    const int block = threadIdx.x;
    if (block < blocks) {
      ends.set(fresh_value(parts + 2 * block), fresh_value(parts + 2 * block + 1), fresh_value(part_flags + block));
      opened = m.open_row(int64_t(block) * together);
    }
    ends = close_ends<S, R>(ends, opened, m.names, out);
  }
  shared.put(warp, ends);
  __syncthreads();
  if (warp == 0) ends = block_fix_up(m, shared, 0, int64_t(32) * together, lane_number() * 32 < blocks, out);
  return ends;
}

// The product; count: gaps only, the entries of w, shrinks by those whose rows are empty.
template <class I, class R, class S, int COLUMNS, int GAPS>
GRB_DEVICE void segments_product(const SegmentedMatrix<I, R, typename S::A>& m, const typename S::X* x_given,
                                 int64_t cached, const XGaps& x_gaps, RowOutput<typename S::Z, GAPS != NO_GAPS>& out,
                                 typename S::Z* parts, uint8_t* part_flags, unsigned* arrived,
                                 unsigned long long* count) {
  using Z = typename S::Z;
  using Sum = WarpSum<I, R, S, COLUMNS, GAPS>;
  using X = typename Sum::X;
  extern __shared__ ulonglong2 segment_memory[];
  const int warp = threadIdx.x >> 5;
  X* table = reinterpret_cast<X*>(segment_memory);
  int64_t table_bytes = 0;
  if constexpr (Sum::is_relabelled) {
    table_bytes = (cached * int64_t(sizeof(X)) + 15) / 16 * 16;
    for (int k = threadIdx.x; k < int(cached); k += blockDim.x)
      table[k] = read_only(reinterpret_cast<const X*>(x_given) + k);
    __syncthreads();
  }
  unsigned char* buffers = reinterpret_cast<unsigned char*>(segment_memory) + table_bytes;
  if constexpr (Sum::is_binned) table = reinterpret_cast<X*>(buffers + blockDim.x * LANE_ENTRIES * sizeof(Z));
  const WarpEnds<typename Sum::Out> shared{reinterpret_cast<Z*>(buffers)};

  Sum sum(m, x_given, table, cached, x_gaps, shared.buffers + warp * SLICE, out);
  Ends<typename Sum::Out> ends = sum.run(int(m.first_slice(warp_number())), int(m.first_slice(warp_number() + 1)));

  shared.put(warp, ends);
  __syncthreads();
  int* last = shared.flag();
  if (warp == 0) ends = block_fix_up(m, shared, warp_number(), 1, true, out);
  if constexpr (GAPS != NO_GAPS) out.subtract_missing(count);
  if (warp == 0 && lane_number() == 0 && gridDim.x > 1) {
    parts[2 * blockIdx.x] = ends.head.value;
    parts[2 * blockIdx.x + 1] = ends.tail.value;
    part_flags[blockIdx.x] = ends.flags();
    __threadfence();
    *last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    if (*last) *arrived = 0;
    __threadfence();
  }
  if (gridDim.x > 1) {
    __syncthreads();
    const bool mine = *last != 0;
    __syncthreads();
    if (!mine) return;
    ends = grid_fix_up(m, shared, parts, part_flags, out);
  }
  // The last row: where a slice is not full, the bit after the last entry has closed it.
  if (threadIdx.x == 0 && m.entries % SLICE == 0) out.put(m.name(R(m.rows - 1)), ends.tail.value, ends.tail.have);
  if constexpr (GAPS != NO_GAPS) out.subtract_missing(count);
}

template <class I, class R, class S, int COLUMNS, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
matvec_segments(const uint8_t* __restrict__ begins, const R* __restrict__ before, const R* __restrict__ names,
                int64_t rows, int64_t entries, int64_t slices, const I* __restrict__ cols,
                const uint16_t* __restrict__ offsets, const int32_t* __restrict__ bases,
                const typename S::A* __restrict__ a_values, const typename S::X* __restrict__ x_given,
                int64_t cached, typename S::Z* __restrict__ w, typename S::Z* parts, uint8_t* part_flags,
                unsigned* arrived) {
  const SegmentedMatrix<I, R, typename S::A> m{begins,  before, names,   rows,  entries,
                                               slices,  cols,   offsets, bases, a_values};
  RowOutput<typename S::Z, false> out(w, nullptr);
  segments_product<I, R, S, COLUMNS, NO_GAPS>(m, x_given, cached, XGaps{}, out, parts, part_flags, arrived, nullptr);
}

// The same for an x with gaps: x_words are its presence bits.  GAPS == MARKED_GAPS: x_given is mark_gaps's, found[1]
// says whether bits decide.  w_words has a bit for each row that may have a result before, for each that has one after;
// found[0] is their number before and after.  Rows without a bit are computed, too.
template <class I, class R, class S, int COLUMNS, int GAPS, int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS, BLOCKS)
matvec_segments_gaps(const uint8_t* __restrict__ begins, const R* __restrict__ before, const R* __restrict__ names,
                     int64_t rows, int64_t entries, int64_t slices, const I* __restrict__ cols,
                     const uint16_t* __restrict__ offsets, const int32_t* __restrict__ bases,
                     const typename S::A* __restrict__ a_values, const typename S::X* __restrict__ x_given,
                     int64_t cached, typename S::Z* __restrict__ w, typename S::Z* parts, uint8_t* part_flags,
                     unsigned* arrived, const unsigned* __restrict__ x_words, const int32_t* __restrict__ order,
                     unsigned* w_words, unsigned long long* found) {
  const SegmentedMatrix<I, R, typename S::A> m{begins,  before, names,   rows,  entries,
                                               slices,  cols,   offsets, bases, a_values};
  const XGaps x_gaps{x_words, order, GAPS == GAPS_BY_BITS || found[1] != 0};
  RowOutput<typename S::Z, true> out(w, w_words);
  segments_product<I, R, S, COLUMNS, GAPS>(m, x_given, cached, x_gaps, out, parts, part_flags, arrived, found);
}

}  // namespace grb
