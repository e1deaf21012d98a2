// x in bins for SpMV by segments: propagation blocking, so that no value of x is gathered from DRAM.
//
// Algorithm: Beamer, Asanovic, Patterson, "Reducing Pagerank communication via propagation blocking" (IPDPS 2017), in
//   its deterministic form: where a value goes is known before.  A slab is as many columns as have their x in a block's
//   shared memory, a bin the entries that a block of products/segments.cuh reads in one step.  What goes into the bins
//   is x as it is, so that neither the semiring nor the values of the matrix matter here, and rows are summed in the
//   order of their entries, as without bins.
// Hubs: columns with so many entries that every block keeps their x in shared memory, before the bin; their entries
//   have places there and are in no bin.  Columns without entries are in no slab.
// A cell is what a slab sends to a bin: whole chunks of CHUNK values (a sector of 32 bytes), the last of them padded.
// Phases: count_cells     the chunks of each cell
//         place_entries   the place of each entry in its bin; column codes and destinations of the chunks, slab by slab
//         put_in_bins     in each product: x slab by slab into shared memory, its values into the bins
// Launch: backends/cuda/products/binned_columns.py.
#pragma once
#include "products/segment_rows.cuh"

namespace grb {

// The order of the columns: ranks[column], null: the column itself.  The first `hubs` are hubs, slabs have the others.
struct ColumnOrder {
  const int32_t* ranks;
  unsigned hubs, width;                        // columns of a slab
  // (slab, column in the slab); slab -1: a hub
  GRB_DEVICE int slab_of(int32_t column, unsigned& within) const {
    const unsigned rank = unsigned(ranks == nullptr ? column : ranks[column]);
    within = rank < hubs ? rank : (rank - hubs) % width;
    return rank < hubs ? -1 : int((rank - hubs) / width);
  }
};

// f(entry) for the entries of a bin; the whole block calls.
template <class F>
GRB_DEVICE void each_entry(const StepsOfWarps& order, int64_t bin, int64_t warps_of_block, int64_t entries, F f) {
  const int64_t block = bin / order.steps, step = bin % order.steps;
  for (int64_t v = threadIdx.x >> 5; v < warps_of_block; v += blockDim.x >> 5) {
    const int64_t number = block * warps_of_block + v, stop = order.first(number, step + 1);
    for (int64_t slice = order.first(number, step); slice < stop; slice++) {
      for (int u = 0; u < LANE_ENTRIES; u++) {
        const int64_t entry = slice * SLICE + u * 32 + lane_number();
        if (entry < entries) f(entry);
      }
    }
  }
}

// cells[slab * bins + bin] = chunks of the cell.  Dynamic shared memory: a number for each slab.
template <int = 0>
__global__ void count_cells(const int32_t* cols, int64_t entries, int64_t slices, int64_t warps, int64_t warps_of_block,
                            int64_t steps, int64_t bins, int64_t slab_columns, int64_t slabs, int64_t chunk,
                            const int32_t* ranks, int64_t hubs, unsigned* cells) {
  extern __shared__ unsigned counts_of_slabs[];
  unsigned* counts = counts_of_slabs;
  const ColumnOrder columns{ranks, unsigned(hubs), unsigned(slab_columns)};
  for (int64_t bin = blockIdx.x; bin < bins; bin += gridDim.x) {
    for (int k = threadIdx.x; k < slabs; k += blockDim.x) counts[k] = 0;
    __syncthreads();
    each_entry(StepsOfWarps{slices, warps, steps}, bin, warps_of_block, entries, [&](int64_t entry) {
      unsigned within;
      const int k = columns.slab_of(cols[entry], within);
      if (k >= 0) atomicAdd(counts + k, 1u);
    });
    __syncthreads();
    for (int k = threadIdx.x; k < slabs; k += blockDim.x)
      cells[k * bins + bin] = unsigned((counts[k] + chunk - 1) / chunk);
    __syncthreads();
  }
}

// starts: the chunks before each cell, slab by slab; bases: those before each bin.  Dynamic shared memory: two numbers
// for each slab.  Codes of padding stay as they are.
//   places[entry]    a hub's rank, or its place in the bin behind the hubs, in values
//   codes[chunk * CHUNK ..]  columns within the slab
//   to[chunk]        where the chunk goes, in chunks
template <int = 0>
__global__ void place_entries(const int32_t* cols, int64_t entries, int64_t slices, int64_t warps,
                              int64_t warps_of_block, int64_t steps, int64_t bins, int64_t slab_columns, int64_t slabs,
                              int64_t chunk, const int32_t* ranks, int64_t hubs, const unsigned* cells,
                              const unsigned* starts, const int32_t* bases, uint16_t* places, uint16_t* codes,
                              unsigned* to) {
  extern __shared__ unsigned numbers_of_slabs[];
  unsigned *first = numbers_of_slabs, *next = first + slabs;
  const ColumnOrder columns{ranks, unsigned(hubs), unsigned(slab_columns)};
  for (int64_t bin = blockIdx.x; bin < bins; bin += gridDim.x) {
    if (threadIdx.x < 32) {
      unsigned before = 0;
      for (int64_t from = 0; from < slabs; from += 32) {
        const int64_t k = from + lane_number();
        const unsigned mine = k < slabs ? cells[k * bins + bin] : 0;
        const unsigned upto = warp_scan(mine, [](unsigned i, unsigned j) { return i + j; });
        if (k < slabs) first[k] = before + upto - mine, next[k] = 0;
        before += __shfl_sync(ALL_LANES, upto, 31);
      }
    }
    __syncthreads();
    for (int64_t k = threadIdx.x; k < slabs; k += blockDim.x) {
      const unsigned start = starts[k * bins + bin], count = cells[k * bins + bin];
      for (unsigned j = 0; j < count; j++) to[start + j] = unsigned(bases[bin]) + first[k] + j;
    }
    each_entry(StepsOfWarps{slices, warps, steps}, bin, warps_of_block, entries, [&](int64_t entry) {
      unsigned within;
      const int k = columns.slab_of(cols[entry], within);
      const unsigned at = k < 0 ? 0 : atomicAdd(next + k, 1u);
      places[entry] = uint16_t(k < 0 ? within : hubs + first[k] * chunk + at);
      if (k >= 0) codes[int64_t(starts[k * bins + bin]) * chunk + at] = uint16_t(within);
    });
    __syncthreads();
  }
}

// out[to[i] * CHUNK + u] = x[order[hubs + slab's first column + codes[i * CHUNK + u]]], and before the bins
// out[j] = x[order[j]] for the hubs; order: null where all columns are in slabs, in their own order.  Each block takes
// slabs, or the same one of `parts` of their chunks, with the slab's slab_columns values of T in dynamic shared memory.
// Blocks that run at once have neighbouring slabs and go through the bins in the same order, so that what they write is
// together in the cache; where runs are short, they do so in `stages` turns of an item, and wait for each other.
template <class T, int CHUNK, int AT_ONCE>
__global__ void __launch_bounds__(1024, 1)
put_in_bins(const T* __restrict__ x, const int32_t* __restrict__ order, int64_t hubs, int64_t columns,
            int64_t slab_columns, const unsigned* __restrict__ slab_starts, int64_t slabs, int64_t parts,
            const uint16_t* __restrict__ codes, const unsigned* __restrict__ to,
            T* __restrict__ out, int64_t stages, unsigned* turns) {
  constexpr int BYTES = CHUNK * int(sizeof(T)), PARTS = BYTES > 16 ? BYTES / 16 : 1, EACH = CHUNK / PARTS, LOADS = 8;
  struct alignas(BYTES / PARTS) Values { T of[EACH]; };          // what a thread writes: neighbours fill a sector
  struct alignas(2 * EACH) Codes { uint16_t of[EACH]; };
  extern __shared__ ulonglong2 slab_memory[];
  T* slab = reinterpret_cast<T*>(slab_memory);
  GRB_EACH(j, hubs) out[j] = x[order[j]];
  Together together(turns);
  for (int64_t item = blockIdx.x; item < slabs * parts; item += gridDim.x) {
    const int64_t k = item % slabs, part_of_slab = item / slabs;
    const int64_t first = slab_starts[k], count = slab_starts[k + 1] - first;
    const int64_t at = first + count * part_of_slab / parts, end = first + count * (part_of_slab + 1) / parts;
    if (at == end && stages == 1) continue;
    const int64_t left = columns - k * slab_columns, here = left < slab_columns ? left : slab_columns;
    __syncthreads();
    const int32_t* names = order == nullptr ? nullptr : order + hubs;
    for (int64_t c = threadIdx.x; c < here; c += LOADS * int64_t(blockDim.x)) {
      int64_t from[LOADS];
      T value[LOADS];
#pragma unroll
      for (int j = 0; j < LOADS; j++) {
        const int64_t other = c + j * int64_t(blockDim.x);
        from[j] = k * slab_columns + (other < here ? other : c);
        if (names != nullptr) from[j] = __ldcs(names + from[j]);
      }
#pragma unroll
      for (int j = 0; j < LOADS; j++) value[j] = x[from[j]];
#pragma unroll
      for (int j = 0; j < LOADS; j++)
        if (c + j * int64_t(blockDim.x) < here) slab[c + j * int64_t(blockDim.x)] = value[j];
    }
    __syncthreads();
    for (int64_t stage = 0; stage < stages; stage++) {
      const int64_t stop = (at + (end - at) * (stage + 1) / stages) * PARTS;
      if (stages > 1) together.next();
      for (int64_t i = (at + (end - at) * stage / stages) * PARTS + threadIdx.x; i < stop;
           i += AT_ONCE * int64_t(blockDim.x)) {
        Codes code[AT_ONCE];
        unsigned where[AT_ONCE];
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
          const int64_t part = i + j * int64_t(blockDim.x);
          if (part < stop) {
            using Packed = choose<EACH == 8, uint4, choose<EACH == 4, uint2, unsigned>>;
            const Packed packed = __ldcs(reinterpret_cast<const Packed*>(codes) + part);
            memcpy(&code[j], &packed, sizeof packed);
            where[j] = __ldcs(to + part / PARTS);
          }
        }
#pragma unroll
        for (int j = 0; j < AT_ONCE; j++) {
          const int64_t part = i + j * int64_t(blockDim.x);
          if (part < stop) {
            Values found;
#pragma unroll
            for (int u = 0; u < EACH; u++) found.of[u] = slab[code[j].of[u]];
            reinterpret_cast<Values*>(out)[int64_t(where[j]) * PARTS + part % PARTS] = found;
          }
        }
      }
    }
  }
  if (stages > 1) together.end(unsigned((slabs * parts + gridDim.x - 1) / gridDim.x * stages));
}

}  // namespace grb
