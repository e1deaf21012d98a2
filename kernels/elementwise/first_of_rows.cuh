// The k entries of each row that come first by value: kept[out[r] ...] = their numbers, ascending.
//
// Order: by key, then by number; `largest` reverses both.  Keys are unsigned integers in the order of the values, or
//   hashes of the entries' numbers (a random subset of each row).
// Algorithm: radix select (Alabi, Blanchard, Gordon, Steinbach, "Fast k-selection algorithms for graphics processing
//   units", ACM JEA 17, 2012, section 3): the k-th key, 8 bits at a time from the top, from histograms of the row's
//   keys that share the bits found so far; it ends early where all keys of a bucket are taken.
// Phases: select_bits   the k-th key's leading bits, and how many of the keys that share them are taken
//         write_taken   the smaller keys, and the first of those that share the bits, by a scan in the row's order
//         keys_of_row   instead, where a single long row gives many: the keys, which structure/radix_sort.cuh sorts
// Launch: backends/cuda/elementwise/first_of_rows.py.  A warp for each row of at most `longest` entries, a block for
//   each of the rows `listed`.
// Preconditions: k > 0; rows have fewer than 2^32 entries; out[r] are the sums of min(k, entries of the row) before r.
#pragma once
#include "base/hashing.cuh"
#include "base/scalar.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int AT_ONCE = 4;  // keys that a thread loads before it counts them

template <class T> using OrderedKey = choose<(sizeof(T) <= 4), uint32_t, word>;

// Unsigned, in the order of the values: NaN last, equal values (0 and -0, all NaN) alike.
template <class T> GRB_DEVICE OrderedKey<T> ordered_key(T x) {
  using K = OrderedKey<T>;
  constexpr K TOP = K(1) << (bits_of<K> - 1);
  if constexpr (is_float<T>) {
    if (!(x == x)) return ~K(0);
    K bits = 0;
    if (x != T(0)) memcpy(&bits, &x, sizeof(T));
    return bits & TOP ? ~bits : bits | TOP;
  } else if constexpr (is_signed<T>) {
    return K(x) ^ TOP;
  } else {
    return K(x);
  }
}

// The threads of a row: a warp, or the block.
template <bool BLOCK> struct RowThreads {
  static constexpr int ROWS = BLOCK ? 1 : 8;  // of a block
  unsigned* counts;                           // of the keys of each digit; 256
  word* scratch;
  GRB_DEVICE static int number() { return BLOCK ? int(threadIdx.x) : lane_number(); }
  GRB_DEVICE static int size() { return BLOCK ? int(blockDim.x) : 32; }
  GRB_DEVICE static void sync() {
    if constexpr (BLOCK) __syncthreads(); else __syncwarp();
  }
  // Flags of the threads before this one, and of all.
  GRB_DEVICE void count_before(bool a, bool b, unsigned (&before)[2], unsigned (&all)[2]) const {
    if constexpr (BLOCK) {
      word total;
      const word sum = block_exclusive_sum(word(a) | word(b) << 32, total, scratch);
      before[0] = unsigned(sum), before[1] = unsigned(sum >> 32);
      all[0] = unsigned(total), all[1] = unsigned(total >> 32);
    } else {
      const unsigned of_a = __ballot_sync(ALL_LANES, a), of_b = __ballot_sync(ALL_LANES, b);
      before[0] = rank_in(of_a), before[1] = rank_in(of_b);
      all[0] = __popc(of_a), all[1] = __popc(of_b);
    }
  }
};

// The entries of a row in the order in which equal keys are taken.
template <class T> struct RowKeys {
  const int64_t* entries;  // numbers of the entries; null: `begin` and on
  const T* values;         // null: hashes of the numbers
  word seed;
  int64_t begin, length;
  bool largest;  // equal keys are taken from the end
  bool descending;
  GRB_DEVICE int64_t entry(int64_t p) const {
    const int64_t at = begin + (largest ? length - 1 - p : p);
    return entries ? entries[at] : at;
  }
  GRB_DEVICE OrderedKey<T> key(int64_t p) const {
    const int64_t at = entry(p);
    OrderedKey<T> found;
    if constexpr (is_same<T, uint64_t>) found = values ? word(values[at]) : mixed_by(word(at), seed);
    else found = ordered_key(values[at]);
    return descending ? ~found : found;
  }
};

// counts[digit]++ where `valid`.  Keys of one sign and size share leading digits: two atomics serve most of a warp.
GRB_DEVICE void count_digit(unsigned* counts, int digit, bool valid) {
  for (int turn = 0; turn < 2; turn++) {
    const unsigned left = __ballot_sync(ALL_LANES, valid);
    if (!left) return;
    const int first = __ffs(int(left)) - 1, common = __shfl_sync(ALL_LANES, digit, first);
    const unsigned same = __ballot_sync(ALL_LANES, valid && digit == common);
    if (lane_number() == first) atomicAdd(counts + common, unsigned(__popc(same)));
    valid = valid && digit != common;
  }
  if (valid) atomicAdd(counts + digit, 1u);
}

template <class K> struct KthKey {
  K bits, mask;   // a key is before the k-th where (key & mask) < bits
  unsigned need;  // keys with (key & mask) == bits that are taken
};

template <class T, bool BLOCK>
GRB_DEVICE KthKey<OrderedKey<T>> select_bits(const RowThreads<BLOCK>& threads, const RowKeys<T>& row, int64_t k) {
  using K = OrderedKey<T>;
  KthKey<K> kth{0, 0, unsigned(k)};
  for (int shift = bits_of<K> - 8; shift >= 0; shift -= 8) {
    for (int d = threads.number(); d < 256; d += threads.size()) threads.counts[d] = 0;
    threads.sync();
    for (int64_t base = threads.number(); base - threads.number() < row.length; base += AT_ONCE * threads.size()) {
      K keys[AT_ONCE];
#pragma unroll
      for (int a = 0; a < AT_ONCE; a++) {
        const int64_t p = base + a * threads.size();
        keys[a] = p < row.length ? row.key(p) : K(0);
      }
#pragma unroll
      for (int a = 0; a < AT_ONCE; a++) {
        const bool valid = base + a * threads.size() < row.length && (keys[a] & kth.mask) == kth.bits;
        count_digit(threads.counts, int(keys[a] >> shift & 255), valid);
      }
    }
    threads.sync();
    // each warp finds the digit: lane l has the digits 8 l .. 8 l + 7
    const unsigned* mine = threads.counts + 8 * lane_number();
    unsigned sum = 0;
    for (int d = 0; d < 8; d++) sum += mine[d];
    const unsigned upto = warp_inclusive_sum(sum);
    unsigned before = upto - sum, inside = 0;
    int digit = 8 * lane_number();
    const bool here = before < kth.need && kth.need <= upto;
    if (here) {
      for (int d = 0; d < 8; d++, digit++) {
        inside = mine[d];
        if (kth.need <= before + inside) break;
        before += inside;
      }
    }
    const int source = __ffs(int(__ballot_sync(ALL_LANES, here))) - 1;
    kth.need -= __shfl_sync(ALL_LANES, before, source);
    kth.bits |= K(__shfl_sync(ALL_LANES, digit, source)) << shift;
    kth.mask |= K(255) << shift;
    inside = __shfl_sync(ALL_LANES, inside, source);
    threads.sync();  // before the counts are cleared
    if (inside == kth.need) break;
  }
  return kth;
}

template <class T, bool BLOCK>
GRB_DEVICE void write_taken(const RowThreads<BLOCK>& threads, const RowKeys<T>& row, KthKey<OrderedKey<T>> kth,
                            int64_t k, int64_t* kept) {
  int64_t smaller = 0, equal = 0;  // of the entries so far
  for (int64_t base = 0; base < row.length && smaller + min(equal, int64_t(kth.need)) < k; base += threads.size()) {
    const int64_t p = base + threads.number();
    const OrderedKey<T> key = p < row.length ? row.key(p) & kth.mask : OrderedKey<T>(0);
    const bool is_smaller = p < row.length && key < kth.bits, is_equal = p < row.length && key == kth.bits;
    unsigned before[2], all[2];
    threads.count_before(is_smaller, is_equal, before, all);
    const int64_t rank = equal + before[1];  // among the equal ones
    if (is_smaller || (is_equal && rank < kth.need)) {
      const int64_t place = smaller + before[0] + min(rank, int64_t(kth.need));
      kept[row.largest ? k - 1 - place : place] = row.entry(p);
    }
    smaller += all[0], equal += all[1];
  }
}

template <class T, bool BLOCK>
__global__ void first_of_rows(const int64_t* indptr, const int64_t* listed, int64_t n, int64_t longest,
                              const int64_t* entries, const T* values, word seed, bool largest, int64_t k,
                              const int64_t* out, int64_t* kept) {
  __shared__ unsigned counts[RowThreads<BLOCK>::ROWS][256];
  __shared__ word scratch[33];
  const int w = BLOCK ? 0 : threadIdx.x >> 5;
  const RowThreads<BLOCK> threads{counts[w], scratch};
  const int64_t step = BLOCK ? int64_t(gridDim.x) : warp_count();
  for (int64_t q = BLOCK ? int64_t(blockIdx.x) : warp_number(); q < n; q += step) {
    const int64_t r = listed ? listed[q] : q;
    const RowKeys<T> row{entries, values, seed, indptr[r], indptr[r + 1] - indptr[r], largest, largest};
    if (!BLOCK && row.length > longest) continue;
    if (row.length <= k) {
      for (int64_t p = threads.number(); p < row.length; p += threads.size())
        kept[out[r] + p] = entries ? entries[row.begin + p] : row.begin + p;
    } else {
      write_taken(threads, row, select_bits(threads, row, k), k, kept + out[r]);
    }
  }
}

// keys[p] = the key of the entry that is p-th in the order of equal keys, of a row, or of all entries: they are sorted.
template <class T>
__global__ void keys_of_row(const T* values, word seed, bool largest, bool descending, int64_t n,
                            OrderedKey<T>* keys) {
  const RowKeys<T> row{nullptr, values, seed, 0, n, largest, descending};
  GRB_EACH(p, n) keys[p] = row.key(p);
}

}  // namespace grb
