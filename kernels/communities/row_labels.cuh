// Labels of the columns of each row, aggregated: the label with the greatest sum, or the least number that is no label.
//
// Result for the listed rows i, s(i, c) = [+_k A(i, k) over the k with label(k) = c]:
//   MODE   best(i) = argmax_c s(i, c), the least of equal c; untouched where no column has a label
//   MOVE   s(i, c) - u(i) v(c) + [c = label(i)] u(i) w(i) is maximised, label(i) always a candidate and the first among
//          equals: best(i), kept(i) the score of label(i), gain(i) by how much best(i)'s exceeds it
//   MEX    best(i) = the least c >= 0 that no column has as label
// Algorithm: rows binned by length (row_labels_bin.cuh).  Up to 32 entries: a group of G lanes, each compares its label
//   with all others.  Longer rows: a hash table of labels in shared memory with linear probing, for a warp or, above
//   WARP_ROW entries, a block.  Labels of a row that may have more than the table takes are dealt to `parts` by a hash,
//   a block for each; the block that finishes last combines them.  MEX: a bitmap of labels in place of the table.
// Sums of MODE and MOVE by tables are added in any order (exact for integers); additions are not contracted to fma, so
//   that equal sums give the scores that a host computes.
// Launch: backends/cuda/communities/row_labels.py; blocks of a multiple of 32 threads.
// Preconditions: fewer than 2^31 - 1 columns; label(k) >= 0, or -1 for none.
#pragma once
#include "base/warp.cuh"

namespace grb {

enum Aggregate { MODE, MOVE, MEX };
enum Weights { COUNTED, EQUAL, WHOLE, STORED };  // entries count 1; have values[0]; an int32_t each; a double each

constexpr int NO_LABEL = -1;

struct RowLabels {
  const int64_t* start;
  const int32_t* columns;
  const double* values;
  const int32_t* label;
  const double *u, *v, *w;
  int64_t* best;
  double *gain, *kept;
  const int32_t* rows;                         // the rows of a bin
  const word* count;                           // how many
  int64_t slots;                               // of a table: a power of two
  // rows in parts (null: whole rows): part << 32 | parts of each item; what it found; how many of the row are ready
  const word* part;
  double *part_score, *part_own;
  int32_t* part_label;
  unsigned* arrived;
  const int32_t* inside;                       // null, or entries count whose column has the row's number here
};

GRB_DEVICE bool counts(const RowLabels& o, int64_t i, int64_t column) {
  return o.inside == nullptr || o.inside[column] == o.inside[i];
}

// Products and sums that the compiler does not contract.
GRB_DEVICE double times_rounded(double x, double y) {
#ifdef SIMT_CPU
  volatile double product = x * y;
  return product;
#else
  return __dmul_rn(x, y);
#endif
}

struct Candidate {
  double score;
  int label;
  GRB_DEVICE void take(double other, int c) {
    bool better = label == NO_LABEL || other > score || (other == score && c < label);
    if (c != NO_LABEL && better) score = other, label = c;
  }
};
template <int LANES> GRB_DEVICE Candidate best_of_lanes(Candidate mine) {
  for (int by = LANES / 2; by; by >>= 1) {
    double score = from_registers<double>([&] {
      registers_of<double> p = to_registers(mine.score);
      for (unsigned& part : p.part) part = __shfl_xor_sync(ALL_LANES, part, by);
      return p;
    }());
    int label = __shfl_xor_sync(ALL_LANES, mine.label, by);
    mine.take(score, label);
  }
  return mine;
}

// The result of row i, by one thread; best: of the labels other than the row's own where MOVE.
template <Aggregate KIND> GRB_DEVICE void write_label(const RowLabels& o, int64_t i, Candidate best, double own) {
  if constexpr (KIND == MOVE) {
    int mine = o.label[i];
    double u = o.u[i], kept = own + times_rounded(u, o.w[i]);
    if (mine != NO_LABEL) kept = kept - times_rounded(u, o.v[mine]);
    bool moves = best.label != NO_LABEL && best.score > kept;
    o.best[i] = moves ? best.label : mine;
    o.gain[i] = best.label == NO_LABEL ? -1.0 / 0.0 : best.score - kept;
    o.kept[i] = kept;
  } else if (best.label != NO_LABEL) {
    o.best[i] = best.label;
  }
}
// A sum as a candidate of row i, whose label is `mine`; the own label's sum goes to `own`.
template <Aggregate KIND>
GRB_DEVICE void consider(const RowLabels& o, double u, int mine, int c, double sum, Candidate& best, double& own) {
  if constexpr (KIND == MOVE) {
    if (c == mine) own = sum;
    else if (c != NO_LABEL) best.take(sum - times_rounded(u, o.v[c]), c);
  } else {
    best.take(sum, c);
  }
}

template <Weights WEIGHTS> GRB_DEVICE double weight_of(const RowLabels& o, int64_t k) {
  if constexpr (WEIGHTS == COUNTED) return 1;
  else if constexpr (WEIGHTS == WHOLE) return reinterpret_cast<const int32_t*>(o.values)[k];
  else return o.values[WEIGHTS == EQUAL ? 0 : k];
}
constexpr bool has_own(Weights weights) { return weights == STORED || weights == WHOLE; }

// Rows of at most G entries, a group of G lanes for each.
template <Aggregate KIND, Weights WEIGHTS, int G>
__global__ void __launch_bounds__(256) row_labels_lanes(RowLabels o) {
  const int sub = lane_number() & (G - 1), group = lane_number() / G;
  const int64_t count = int64_t(*o.count);
  for (int64_t first = warp_number() * (32 / G); first < count; first += warp_count() * (32 / G)) {
    const bool there = first + group < count;
    const int64_t i = there ? o.rows[first + group] : 0;
    const int64_t k = o.start[i] + sub;
    const bool entry = there && k < o.start[i + 1];
    const int c = entry && counts(o, i, o.columns[k]) ? o.label[o.columns[k]] : NO_LABEL;
    if constexpr (KIND == MEX) {
      // at most G labels: the least free number is at most G
      unsigned low = 0;
      for (int e = 0; e < G; e++) {
        int other = __shfl_sync(ALL_LANES, c, e, G);
        if (other >= 0 && other < 32) low |= 1u << other;
      }
      if (there && sub == 0) o.best[i] = __popc(low & ~(low + 1));
    } else {
      const double x = entry ? weight_of<WEIGHTS>(o, k) : 0;
      double sum = 0;
      for (int e = 0; e < G; e++) {
        int other = __shfl_sync(ALL_LANES, c, e, G);
        if constexpr (has_own(WEIGHTS)) {
          registers_of<double> p = to_registers(x);
          for (unsigned& part : p.part) part = __shfl_sync(ALL_LANES, part, e, G);
          if (other == c) sum += from_registers<double>(p);
        } else if (other == c) {
          sum += x;
        }
      }
      const int mine = KIND == MOVE && there ? o.label[i] : NO_LABEL;
      const double u = KIND == MOVE && there ? o.u[i] : 0;
      Candidate best = {0, NO_LABEL};
      double own = 0;
      consider<KIND>(o, u, mine, c, sum, best, own);
      for (int by = G / 2; by; by >>= 1) {
        registers_of<double> p = to_registers(own);
        for (unsigned& part : p.part) part = __shfl_xor_sync(ALL_LANES, part, by);
        double other = from_registers<double>(p);
        own = own != 0 ? own : other;          // all lanes with the own label have the whole sum
      }
      best = best_of_lanes<G>(best);
      if (there && sub == 0) write_label<KIND>(o, i, best, own);
    }
  }
}

// A hash table of labels and their sums.
template <class T> struct LabelTable {
  T* sums;
  int32_t* labels;
  int slots, shift;

  GRB_DEVICE LabelTable(unsigned char* pool, int count, int most)
      : sums(reinterpret_cast<T*>(pool)), labels(reinterpret_cast<int32_t*>(pool + most * sizeof(T))), slots(count),
        shift(__clz(count) + 1) {}
  GRB_DEVICE void clear(int thread, int threads) {
    for (int s = thread; s < slots; s += threads) labels[s] = NO_LABEL, sums[s] = 0;
  }
  // False where the table is full.
  GRB_DEVICE bool add(int c, T x) {
    int slot = int(unsigned(c) * 0x9E3779B1u >> shift);
    for (int probes = 0; probes < slots; probes++) {
      int found = *(volatile int32_t*)(labels + slot);
      if (found == NO_LABEL) {
        found = atomicCAS(labels + slot, NO_LABEL, c);
        if (found == NO_LABEL) found = c;
      }
      if (found == c) {
        atomicAdd(sums + slot, x);
        return true;
      }
      slot = (slot + 1) & (slots - 1);
    }
    return false;
  }
};
template <Weights WEIGHTS> using sum_type = choose<WEIGHTS == STORED, double, unsigned>;
template <Weights WEIGHTS> GRB_DEVICE double sum_of(const RowLabels& o, sum_type<WEIGHTS> sum) {
  if constexpr (WEIGHTS == EQUAL) return sum * o.values[0]; else return double(sum);
}

// Bits of a label that deal it to a part, and to a half of a part, independent of its slot (finaliser of MurmurHash3).
GRB_DEVICE unsigned mixed_label(int c) {
  unsigned h = unsigned(c);
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return h ^ h >> 16;
}

// Add the entries begin + thread, + threads ... < end whose labels are of the part.  The lanes with the label of the
// first lane are summed first, because a label that most columns have would be one address for all atomics.  Warps call
// together.  False where the table is full.
template <Weights WEIGHTS, class Chosen>
GRB_DEVICE bool add_entries(const RowLabels& o, int64_t i, LabelTable<sum_type<WEIGHTS>>& table, int64_t begin,
                            int64_t end, int thread, int threads, Chosen chosen) {
  using T = sum_type<WEIGHTS>;
  constexpr int AHEAD_LABELS = 4;
  bool fits = true;
  for (int64_t base = begin + thread - lane_number(); base < end; base += int64_t(threads) * AHEAD_LABELS) {
    int label[AHEAD_LABELS];
    T weight[AHEAD_LABELS];
#pragma unroll
    for (int a = 0; a < AHEAD_LABELS; a++) {
      int64_t k = base + int64_t(a) * threads + lane_number();
      label[a] = k < end && counts(o, i, o.columns[k]) ? o.label[o.columns[k]] : NO_LABEL;
      weight[a] = 1;
      if constexpr (has_own(WEIGHTS)) weight[a] = k < end ? T(weight_of<WEIGHTS>(o, k)) : 0;
    }
#pragma unroll
    for (int a = 0; a < AHEAD_LABELS; a++) {
      const int c = label[a];
      bool there = c != NO_LABEL && chosen(c);
      unsigned lanes = __ballot_sync(ALL_LANES, there);
      if (!lanes) continue;
      T x = weight[a];
      int leader = __ffs(int(lanes)) - 1;
      const int most = __shfl_sync(ALL_LANES, c, leader);
      bool same = there && c == most;
      unsigned peers = __ballot_sync(ALL_LANES, same);
      if (__popc(peers) > (has_own(WEIGHTS) ? 4 : 1)) {
        if constexpr (has_own(WEIGHTS)) {
          const T sum = shuffle(warp_sum(same ? x : T(0)), 0);
          if (same) x = sum;
        } else if (same) {
          x = T(__popc(peers));
        }
        if (same && lane_number() != leader) there = false;
      }
      if (there && !table.add(c, x)) fits = false;
    }
  }
  return fits;
}

// Rows of more than 32 entries, a warp for each, with a table of o.slots for each warp.
template <Aggregate KIND, Weights WEIGHTS>
__global__ void __launch_bounds__(256) row_labels_warp(RowLabels o) {
  extern __shared__ __align__(16) unsigned char pool[];
  using T = sum_type<WEIGHTS>;
  const int slots = int(o.slots), lane = lane_number();
  unsigned char* mine_of_pool = pool + size_t(threadIdx.x >> 5) * slots * (KIND == MEX ? 4 : sizeof(T) + 4);
  const int64_t count = int64_t(*o.count);
  for (int64_t r = warp_number(); r < count; r += warp_count()) {
    const int64_t i = o.rows[r], begin = o.start[i], end = o.start[i + 1];
    const int length = int(end - begin);
    if constexpr (KIND == MEX) {
      unsigned* bits = reinterpret_cast<unsigned*>(mine_of_pool);
      const int words = length / 32 + 1;
      for (int s = lane; s < words; s += 32) bits[s] = 0;
      __syncwarp();
      for (int64_t k = begin + lane; k < end; k += 32) {
        int c = o.label[o.columns[k]];
        if (c >= 0 && c <= length) atomicOr(bits + (c >> 5), 1u << (c & 31));
      }
      __syncwarp();
      int least = length;
      for (int s = lane; s < words; s += 32)
        if (~bits[s]) least = min(least, 32 * s + __ffs(int(~bits[s])) - 1);
      least = warp_min(least);
      if (lane == 0) o.best[i] = least;
    } else {
      int own_slots = 64;
      while (own_slots < 2 * length && own_slots < slots) own_slots *= 2;
      LabelTable<T> table(mine_of_pool, own_slots, slots);
      table.clear(lane, 32);
      __syncwarp();
      add_entries<WEIGHTS>(o, i, table, begin, end, lane, 32, [](int) { return true; });
      __syncwarp();
      const int mine = KIND == MOVE ? o.label[i] : NO_LABEL;
      const double u = KIND == MOVE ? o.u[i] : 0;
      Candidate best = {0, NO_LABEL};
      double own = 0;
      for (int s = lane; s < own_slots; s += 32)
        consider<KIND>(o, u, mine, table.labels[s], sum_of<WEIGHTS>(o, table.sums[s]), best, own);
      own = warp_sum(own);                     // one lane has it
      best = best_of_lanes<32>(best);
      if (lane == 0) write_label<KIND>(o, i, best, own);
    }
    __syncwarp();
  }
}

// Longer rows, a block for each part of one.
template <Aggregate KIND, Weights WEIGHTS>
__global__ void __launch_bounds__(1024) row_labels_block(RowLabels o) {
  extern __shared__ __align__(16) unsigned char pool[];
  using T = sum_type<WEIGHTS>;
  __shared__ double scores[32], owns[32];
  __shared__ int labels[32];
  __shared__ int least;
  const int slots = int(o.slots), warps = blockDim.x >> 5, warp = threadIdx.x >> 5;
  const int64_t count = int64_t(*o.count);
  for (int64_t item = blockIdx.x; item < count; item += gridDim.x) {
    const int64_t i = o.rows[item], begin = o.start[i], end = o.start[i + 1];
    const int64_t length = end - begin;
    if constexpr (KIND == MEX) {
      unsigned* bits = reinterpret_cast<unsigned*>(pool);
      const int64_t window = int64_t(slots) * 32;
      for (int64_t low = 0;; low += window) {  // numbers low .. low + window - 1; the answer is at most `length`
        if (threadIdx.x == 0) least = int(window);
        for (int s = threadIdx.x; s < slots; s += blockDim.x) bits[s] = 0;
        __syncthreads();
        for (int64_t k = begin + threadIdx.x; k < end; k += blockDim.x) {
          int64_t c = o.label[o.columns[k]] - low;
          if (c >= 0 && c < window) atomicOr(bits + (c >> 5), 1u << (c & 31));
        }
        __syncthreads();
        for (int s = threadIdx.x; s < slots; s += blockDim.x)
          if (~bits[s]) {
            atomicMin(&least, 32 * s + __ffs(int(~bits[s])) - 1);
            break;
          }
        __syncthreads();
        const int found = least;
        __syncthreads();
        if (found < window) {
          if (threadIdx.x == 0) o.best[i] = low + found;
          break;
        }
      }
    } else {
      const word dealt = o.part == nullptr ? 1 : o.part[item];
      const unsigned part = unsigned(dealt >> 32), parts = unsigned(dealt);
      int own_slots = 64;
      while (own_slots < 2 * (length / parts) && own_slots < slots) own_slots *= 2;
      LabelTable<T> table(pool, own_slots, slots);
      const int mine = KIND == MOVE ? o.label[i] : NO_LABEL;
      const double u = KIND == MOVE ? o.u[i] : 0;
      Candidate best = {0, NO_LABEL};
      double own = 0;
      // A part whose labels the table does not take is cut into 2, 4, 8 ... by other bits of the hash.
      for (unsigned pieces = 1, piece = 0; piece < pieces;) {
        table.clear(threadIdx.x, blockDim.x);
        __syncthreads();
        bool fits = add_entries<WEIGHTS>(o, i, table, begin, end, threadIdx.x, blockDim.x, [&](int c) {
          if (parts == 1 && pieces == 1) return true;
          unsigned h = mixed_label(c);
          return unsigned(word(h) * parts >> 32) == part && (h * 0x9E3779B1u & (pieces - 1)) == piece;
        });
        if (__syncthreads_or(!fits)) {
          pieces *= 2, piece = 0;
          best = {0, NO_LABEL};
          own = 0;
          continue;
        }
        for (int s = threadIdx.x; s < own_slots; s += blockDim.x)
          consider<KIND>(o, u, mine, table.labels[s], sum_of<WEIGHTS>(o, table.sums[s]), best, own);
        piece++;
        __syncthreads();
      }
      own = warp_sum(own);
      best = best_of_lanes<32>(best);
      if (lane_number() == 0) scores[warp] = best.score, labels[warp] = best.label, owns[warp] = own;
      __syncthreads();
      if (threadIdx.x == 0) {
        for (int k = 1; k < warps; k++) best.take(scores[k], labels[k]), own += owns[k];
        if (parts == 1) {
          write_label<KIND>(o, i, best, own);
        } else {
          const int64_t first = item - part;
          o.part_score[item] = best.score, o.part_label[item] = best.label, o.part_own[item] = own;
          __threadfence();
          if (atomicAdd(o.arrived + first, 1u) == parts - 1) {
            __threadfence();
            best = {0, NO_LABEL};
            own = 0;
            for (int64_t k = first; k < first + parts; k++)
              best.take(__ldcg(o.part_score + k), __ldcg(o.part_label + k)), own += __ldcg(o.part_own + k);
            write_label<KIND>(o, i, best, own);
          }
        }
      }
    }
    __syncthreads();
  }
}

}  // namespace grb
