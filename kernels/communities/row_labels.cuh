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
#include "communities/candidates.cuh"

namespace grb {

enum Aggregate { MODE, MOVE, MEX };
enum Weights { COUNTED, EQUAL, WHOLE, STORED };  // entries count 1; have values[0]; an int32_t each; a double each

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
  int64_t slots;                               // of a table: a power of two; of a warp's
  // rows in parts (null: whole rows): part << 32 | parts of each item; what it found; how many of the row are ready
  const word* part;
  double *part_score, *part_own;
  int32_t* part_label;
  unsigned* arrived;
  const int32_t* inside;                       // null, or entries count whose column has the row's number here
  int64_t bins, stride, block_slots;           // how many bins may have rows, where the lists of rows begin
  const word* negative;                        // 0: no entry, u and v is, so that sums bound scores; null: unknown
};

GRB_DEVICE bool counts(const RowLabels& o, int64_t i, int64_t column) {
  return o.inside == nullptr || o.inside[column] == o.inside[i];
}

// What scores of row i need, read before its entries.
struct Row {
  int mine = NO_LABEL;                         // its own label
  double u = 0, w = 0, v = 0;                  // v of its own label
};
template <Aggregate KIND> GRB_DEVICE Row row_of(const RowLabels& o, int64_t i) {
  Row row;
  if constexpr (KIND == MOVE) {
    row.mine = o.label[i], row.u = o.u[i], row.w = o.w[i];
    if (row.mine != NO_LABEL) row.v = o.v[row.mine];
  }
  return row;
}

// The result of row i, by one thread; best: of the labels other than the row's own where MOVE.
template <Aggregate KIND>
GRB_DEVICE void write_label(const RowLabels& o, int64_t i, const Row& row, Candidate best, double own) {
  if constexpr (KIND == MOVE) {
    double kept = own + times_rounded(row.u, row.w);
    if (row.mine != NO_LABEL) kept = kept - times_rounded(row.u, row.v);
    bool moves = best.label != NO_LABEL && best.score > kept;
    o.best[i] = moves ? best.label : row.mine;
    o.gain[i] = best.label == NO_LABEL ? -1.0 / 0.0 : best.score - kept;
    o.kept[i] = kept;
  } else if (best.label != NO_LABEL) {
    o.best[i] = best.label;
  }
}
// A sum as a candidate of a row, where it may be the best; the own label's sum goes to `own`.
template <Aggregate KIND>
GRB_DEVICE void consider(const RowLabels& o, const Row& row, int c, double sum, double reached, Candidate& best,
                         double& own) {
  if constexpr (KIND == MOVE) {
    if (c == row.mine) own = sum;
    else if (c != NO_LABEL && sum >= reached) best.take(sum - times_rounded(row.u, o.v[c]), c);
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
template <Aggregate KIND, Weights WEIGHTS, int G> GRB_DEVICE void label_by_lanes(const RowLabels& o) {
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
      const Row row = there ? row_of<KIND>(o, i) : Row();
      Candidate best = {0, NO_LABEL};
      double own = 0;
      consider<KIND>(o, row, c, sum, -1.0 / 0.0, best, own);
      for (int by = G / 2; by; by >>= 1) {
        registers_of<double> p = to_registers(own);
        for (unsigned& part : p.part) part = __shfl_xor_sync(ALL_LANES, part, by);
        double other = from_registers<double>(p);
        own = own != 0 ? own : other;          // all lanes with the own label have the whole sum
      }
      best = best_of_lanes<G>(best);
      if (there && sub == 0) write_label<KIND>(o, i, row, best, own);
    }
  }
}

// A hash table of labels, or of words that are no ~0, and their sums.
template <class T, class K = int32_t> struct LabelTable {
  static constexpr K NONE = K(-1);
  T* sums;
  K* labels;
  int slots, shift;

  // A pool for `most` labels, of which a table takes `count`, a power of two.
  GRB_DEVICE LabelTable(unsigned char* pool, int count, int most)
      : slots(count), shift(__clz(count) + 1) {
    if constexpr (sizeof(K) > sizeof(T)) {
      labels = reinterpret_cast<K*>(pool), sums = reinterpret_cast<T*>(pool + most * sizeof(K));
    } else {
      sums = reinterpret_cast<T*>(pool), labels = reinterpret_cast<K*>(pool + most * sizeof(T));
    }
  }
  GRB_DEVICE void clear(int thread, int threads) {
    for (int s = thread; s < slots; s += threads) labels[s] = NONE, sums[s] = 0;
  }
  // Each label and its sum, which are taken out.
  template <class Body> GRB_DEVICE void take_each(int thread, int threads, Body body) {
    for (int s = thread; s < slots; s += threads) {
      const K c = labels[s];
      if (c == NONE) continue;
      const T sum = sums[s];
      labels[s] = NONE, sums[s] = 0;
      body(c, sum);
    }
  }
  // False where the table is full.  sum: of the label, so far; fresh: it was not there.
  GRB_DEVICE bool add(K c, T x, T& sum, bool& fresh) {
    int slot;
    if constexpr (sizeof(K) == 8) slot = int(unsigned(word(c) * 0x9E3779B97F4A7C15ull >> 32) >> shift);
    else slot = int(unsigned(c) * 0x9E3779B1u >> shift);
    fresh = false;
    for (int probes = 0; probes < slots; probes++) {
      K found = *(volatile K*)(labels + slot);
      if (found == NONE) {
        found = atomicCAS(labels + slot, NONE, c);
        fresh = found == NONE;
        if (fresh) found = c;
      }
      if (found == c) {
        sum = atomicAdd(sums + slot, x) + x;
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

// The greatest sum that a thread has seen of another label than the row's own.
template <class T> struct Greatest {
  int mine;
  T sum = 0;
  int label = NO_LABEL;
  GRB_DEVICE void see(T other, int c) {
    if (c != mine && other > sum) sum = other, label = c;
  }
};
// A score that the best candidate of a row reaches, from what a warp has seen, for all of its lanes: v of one label is
// read, and then only that of labels whose sums reach this score.  Partial sums are no greater than sums.
template <Weights WEIGHTS>
GRB_DEVICE double reached_score(const RowLabels& o, double u, const Greatest<sum_type<WEIGHTS>>& seen) {
  const sum_type<WEIGHTS> most = warp_max(seen.sum);
  const unsigned lanes = __ballot_sync(ALL_LANES, seen.label != NO_LABEL && seen.sum == most);
  if (o.negative == nullptr || *o.negative || !lanes) return -1.0 / 0.0;
  const int leader = __ffs(int(lanes)) - 1;
  double score = 0;
  if (lane_number() == leader) score = sum_of<WEIGHTS>(o, most) - times_rounded(u, o.v[seen.label]);
  return shuffle(score, leader);
}

// Add the entries begin + thread, + threads ... < end whose labels are of the part.  The lanes with the label of the
// first lane are summed first, because a label that most columns have would be one address for all atomics.  Warps call
// together.  False where the table is full.
template <Weights WEIGHTS, class Chosen>
GRB_DEVICE bool add_entries(const RowLabels& o, int64_t i, LabelTable<sum_type<WEIGHTS>>& table,
                            Greatest<sum_type<WEIGHTS>>& seen, int64_t begin, int64_t end, int thread, int threads,
                            Chosen chosen) {
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
      if (there) {
        T sum = 0;
        bool fresh;
        fits = table.add(c, x, sum, fresh) && fits;
        seen.see(sum, c);
      }
    }
  }
  return fits;
}

// Rows of more than 32 entries, a warp for each, with a table of o.slots for each warp.
template <Aggregate KIND, Weights WEIGHTS> GRB_DEVICE void label_by_warps(const RowLabels& o, unsigned char* pool) {
  using T = sum_type<WEIGHTS>;
  const int slots = int(o.slots), lane = lane_number();
  unsigned char* mine_of_pool = pool + size_t(threadIdx.x >> 5) * slots * (KIND == MEX ? 4 : sizeof(T) + 4);
  const int64_t count = int64_t(*o.count);
  if (warp_number() >= count) return;
  if constexpr (KIND != MEX) LabelTable<T>(mine_of_pool, slots, slots).clear(lane, 32);
  __syncwarp();
  int next = o.rows[warp_number()];
  for (int64_t r = warp_number(); r < count; r += warp_count()) {
    const int64_t i = next, begin = o.start[i], end = o.start[i + 1];
    next = r + warp_count() < count ? o.rows[r + warp_count()] : 0;
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
      const Row row = row_of<KIND>(o, i);
      Greatest<T> seen = {row.mine};
      add_entries<WEIGHTS>(o, i, table, seen, begin, end, lane, 32, [](int) { return true; });
      const double reached = KIND == MOVE ? reached_score<WEIGHTS>(o, row.u, seen) : 0;
      __syncwarp();
      Candidate best = {0, NO_LABEL};
      double own = 0;
      table.take_each(lane, 32, [&](int c, T sum) {
        consider<KIND>(o, row, c, sum_of<WEIGHTS>(o, sum), reached, best, own);
      });
      own = warp_sum(own);                     // one lane has it
      best = best_of_lanes<32>(best);
      if (lane == 0) write_label<KIND>(o, i, row, best, own);
    }
    __syncwarp();
  }
}

// Longer rows, a block for each; PARTS: for each part of one, of more labels than a table takes.
template <Aggregate KIND, Weights WEIGHTS, bool PARTS>
GRB_DEVICE void label_by_blocks(const RowLabels& o, unsigned char* pool) {
  using T = sum_type<WEIGHTS>;
  __shared__ double scores[32], owns[32], reached[32];
  __shared__ int labels[32];
  __shared__ int least;
  const int slots = int(o.slots), warps = blockDim.x >> 5, warp = threadIdx.x >> 5;
  const int64_t count = int64_t(*o.count);
  if (blockIdx.x >= count) return;
  if constexpr (KIND != MEX) LabelTable<T>(pool, slots, slots).clear(threadIdx.x, blockDim.x);
  __syncthreads();
  int next = o.rows[blockIdx.x];
  for (int64_t item = blockIdx.x; item < count; item += gridDim.x) {
    const int64_t i = next, begin = o.start[i], end = o.start[i + 1];
    next = item + gridDim.x < count ? o.rows[item + gridDim.x] : 0;
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
      const word dealt = PARTS ? o.part[item] : 1;
      const unsigned part = unsigned(dealt >> 32), parts = unsigned(dealt);
      int own_slots = 64;
      while (own_slots < 2 * (length / parts) && own_slots < slots) own_slots *= 2;
      LabelTable<T> table(pool, own_slots, slots);
      const Row row = row_of<KIND>(o, i);
      Candidate best = {0, NO_LABEL};
      double own = 0;
      // A part whose labels the table does not take is cut into 2, 4, 8 ... by other bits of the hash.
      for (unsigned pieces = 1, piece = 0; piece < pieces;) {
        Greatest<T> seen = {row.mine};
        bool fits = add_entries<WEIGHTS>(o, i, table, seen, begin, end, threadIdx.x, blockDim.x, [&](int c) {
          if (!PARTS || (parts == 1 && pieces == 1)) return true;
          unsigned h = mixed_label(c);
          return unsigned(word(h) * parts >> 32) == part && (h * 0x9E3779B1u & (pieces - 1)) == piece;
        });
        if constexpr (KIND == MOVE) {
          const double score = reached_score<WEIGHTS>(o, row.u, seen);
          if (lane_number() == 0) reached[warp] = score;
        }
        if constexpr (!PARTS) {
          __syncthreads();
        } else if (__syncthreads_or(!fits)) {
          table.clear(threadIdx.x, blockDim.x);
          __syncthreads();
          pieces *= 2, piece = 0;
          best = {0, NO_LABEL};
          own = 0;
          continue;
        }
        double most = -1.0 / 0.0;
        if constexpr (KIND == MOVE) most = warp_max(lane_number() < warps ? reached[lane_number()] : most);
        table.take_each(threadIdx.x, blockDim.x, [&](int c, T sum) {
          consider<KIND>(o, row, c, sum_of<WEIGHTS>(o, sum), most, best, own);
        });
        if (++piece < pieces) __syncthreads();  // the next piece's labels come into the same table
      }
      own = warp_sum(own);
      best = best_of_lanes<32>(best);
      if (lane_number() == 0) scores[warp] = best.score, labels[warp] = best.label, owns[warp] = own;
      __syncthreads();
      if (warp == 0) {
        best = {0, NO_LABEL}, own = 0;
        if (lane_number() < warps) best = {scores[lane_number()], labels[lane_number()]}, own = owns[lane_number()];
        best = best_of_lanes<32>(best);
        own = warp_sum(own);                   // one thread has it
      }
      if (threadIdx.x == 0) {
        if (!PARTS || parts == 1) {
          write_label<KIND>(o, i, row, best, own);
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
            write_label<KIND>(o, i, row, best, own);
          }
        }
      }
    }
    __syncthreads();
  }
}

// Rows of all bins but the last, the longest first, so that no warp waits between bins.
template <Aggregate KIND, Weights WEIGHTS> __global__ void __launch_bounds__(256) row_labels_whole(RowLabels o) {
  extern __shared__ __align__(16) unsigned char pool[];
  const auto of_bin = [&](int64_t bin, int64_t slots) {
    RowLabels p = o;
    p.rows = o.rows + bin * o.stride, p.count = o.count + bin, p.slots = slots;
    return p;
  };
  if (o.bins > 3) {
    label_by_blocks<KIND, WEIGHTS, false>(of_bin(3, o.block_slots), pool);
    __syncthreads();
  }
  if (o.bins > 2) label_by_warps<KIND, WEIGHTS>(of_bin(2, o.slots), pool);
  if (o.bins > 1) label_by_lanes<KIND, WEIGHTS, 32>(of_bin(1, 0));
  label_by_lanes<KIND, WEIGHTS, 8>(of_bin(0, 0));
}

// Parts of the rows of the last bin.
template <Aggregate KIND, Weights WEIGHTS> __global__ void __launch_bounds__(1024) row_labels_parts(RowLabels o) {
  extern __shared__ __align__(16) unsigned char pool[];
  label_by_blocks<KIND, WEIGHTS, true>(o, pool);
}

}  // namespace grb
