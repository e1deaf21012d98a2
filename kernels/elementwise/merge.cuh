// Union, intersection and difference of two matrices or sparse vectors by merge path: columns, row pointers, values.
//
//   mode 0: A and B,  mode 1: A or B,  mode 2: A and not B  (sets of positions); values by `Values`
// Algorithm: merge path (Green, McColl, Bader, ICS 2012) over entries and ends of rows, as Merrill and Garland (SC
//   2016) cut a CSR matrix for SpMV.  The path has n + m + nrows items: in each row its entries by column, of two of
//   the same column A's first, then the row's end.  Chunks have THREADS * EACH items, whatever the lengths of rows.
//   A cut between two entries of the same column is moved after the second, so that one thread has both.
// Phases: merge_partition  where each chunk begins
//         merge_write      the merge, in shared memory: 22 bits a thread for the operand of its entries (A, B, both)
//                          and the ends of rows; how many entries of the result the chunks before have, by look-back
//                          (base/look_back.cuh); the result, from the bits, with coalesced stores
// Stores: the same rows in both, pointers starts_a and starts_b (null in vectors, nrows = 1).  DCSR matrices are given
//   the pointers of the rows of either by align_starts.
// Launch: backends/cuda/structure/merging.py; merge_write with blocks of THREADS threads, whole warps and at most 256.
#pragma once
#include "base/look_back.cuh"
#include "base/views.cuh"
#include "base/warp.cuh"

namespace grb {

constexpr int EACH = 7;  // items of a thread: an odd number, so that threads side by side read other banks
constexpr unsigned ITEM_BITS = (1u << EACH) - 1;
constexpr unsigned BEGINS_LATE = 1u << 3 * EACH;     // the thread begins one item after its cut
constexpr unsigned IN_A = 1u << 15, IN_B = 1u << 31;  // of a source: has A, has B the entry?
constexpr unsigned NUMBER = IN_A - 1;

template <class I> constexpr I BEHIND_COLUMNS = I((1ull << (8 * sizeof(I) - 1)) - 1);  // greater than any column

// Arguments are structs whose fields have 8 bytes, in the order of structure/merging.py.
template <class I> struct MergePath {
  const int64_t* starts_a;
  const I* indices_a;
  int64_t n;
  const int64_t* starts_b;
  const I* indices_b;
  int64_t m;
  int64_t nrows;
  int64_t chunks;
  int64_t* splits;  // three for each chunk; null: one chunk
};

// Entries of A, of B and ends of rows before a point of the path.
struct MergePoint {
  int64_t a, b, row;
};

GRB_DEVICE int64_t start_of(const int64_t* starts, int64_t row, int64_t n) {
  return starts != nullptr ? starts[row] : row == 0 ? 0 : n;
}

// How many of the first `here` entries of a merged row are of `a`, which has la entries and `b` lb.
template <class I, class N> GRB_DEVICE N merge_split(const I* a, N la, const I* b, N lb, N here) {
  N low = max(N(0), here - lb), high = min(here, la);
  while (low < high) {
    const N middle = (low + high) >> 1;
    if (a[middle] <= b[here - 1 - middle]) low = middle + 1; else high = middle;
  }
  return low;
}

template <int THREADS, class I> __global__ void merge_partition(MergePath<I> o) {
  GRB_EACH(before, o.chunks - 1) {
    const int64_t c = before + 1, at = c * (THREADS * EACH);
    int64_t row = 0, high = o.nrows - 1;
    while (row < high) {  // the first row whose end is the item at `at` or one after it
      const int64_t middle = (row + high) >> 1;
      if (start_of(o.starts_a, middle + 1, o.n) + start_of(o.starts_b, middle + 1, o.m) + middle < at) row = middle + 1;
      else high = middle;
    }
    const int64_t a = start_of(o.starts_a, row, o.n), b = start_of(o.starts_b, row, o.m);
    const int64_t la = start_of(o.starts_a, row + 1, o.n) - a, lb = start_of(o.starts_b, row + 1, o.m) - b;
    const int64_t here = at - a - b - row;
    const int64_t i = merge_split(o.indices_a + a, la, o.indices_b + b, lb, here), j = here - i;
    const bool cuts = i > 0 && j < lb && o.indices_a[a + i - 1] == o.indices_b[b + j];
    o.splits[3 * c] = a + i, o.splits[3 * c + 1] = b + j + cuts, o.splits[3 * c + 2] = row;
  }
}

template <class I> GRB_DEVICE MergePoint chunk_start(const MergePath<I>& o, int64_t c) {
  if (c == 0) return {0, 0, 0};
  if (c == o.chunks) return {o.n, o.m, o.nrows};
  return {o.splits[3 * c], o.splits[3 * c + 1], o.splits[3 * c + 2]};
}

// 1 if the chunk begins one item after its cut.
template <int THREADS> GRB_DEVICE int begins_late(const MergePoint& from, int64_t c) {
  return int(from.a + from.b + from.row - c * (THREADS * EACH));
}

// A chunk in shared memory: the columns of A's entries, of B's, and where each row ends in both (16 bits each).
template <int THREADS, class I> struct MergeChunk {
  I* columns;
  unsigned* ends;
  int na, nb, rows, late;

  GRB_DEVICE void load(const MergePath<I>& o, int64_t c, unsigned char* pool) {
    const MergePoint from = chunk_start(o, c), to = chunk_start(o, c + 1);
    na = int(to.a - from.a), nb = int(to.b - from.b), rows = int(to.row - from.row);
    late = begins_late<THREADS>(from, c);
    columns = reinterpret_cast<I*>(pool);
    ends = reinterpret_cast<unsigned*>(columns + na + nb);
    const I *of_a = o.indices_a + from.a, *of_b = o.indices_b + from.b;
    I column[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
      const int t = int(threadIdx.x) + k * THREADS;
      if (t < na + nb) column[k] = (t < na ? of_a : of_b)[t < na ? t : t - na];
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
      const int t = int(threadIdx.x) + k * THREADS;
      if (t < na + nb) columns[t] = column[k];
    }
    if (threadIdx.x == 0 && na + nb > THREADS * EACH) columns[na + nb - 1] = nb ? of_b[nb - 1] : of_a[na - 1];
    if (threadIdx.x == 0) ends[rows] = unsigned(na | nb << 16);
#pragma unroll 1
    for (int t = threadIdx.x; t < rows; t += THREADS) {
      const int64_t r = from.row + t + 1;
      ends[t] = unsigned(start_of(o.starts_a, r, o.n) - from.a) | unsigned(start_of(o.starts_b, r, o.m) - from.b) << 16;
    }
  }

  // The items of this thread: bit s is set if item s is of A, EACH + s if it is of B, 2 * EACH + s if it ends a row.
  GRB_DEVICE unsigned merge() const {
    const int total = na + nb + rows, from = max(0, int(threadIdx.x) * EACH - late);
    const int to = min(total, (int(threadIdx.x) + 1) * EACH - late);
    if (from >= to) return 0;
    int k = 0, high = rows;
    while (k < high) {
      const int middle = (k + high) >> 1;
      const unsigned end = ends[middle];
      if (int(end & 0xffff) + int(end >> 16) + middle < from) k = middle + 1; else high = middle;
    }
    const unsigned start = k ? ends[k - 1] : 0, end = ends[k];
    const int first_a = start & 0xffff, first_b = na + int(start >> 16);
    const int la = int(end & 0xffff) - first_a, lb = na + int(end >> 16) - first_b;
    const int here = from - first_a - int(start >> 16) - k;
    const int i = merge_split(columns + first_a, la, columns + first_b, lb, here), j = here - i;
    const I *a = columns + first_a + i, *b = columns + first_b + j, *a_end = a + (la - i), *b_end = b + (lb - j);
    const unsigned* row_end = ends + k;
    int left = to - from;
    unsigned bits = 0;
    if (i > 0 && j < lb && a[-1] == *b) b++, left--, bits = BEGINS_LATE;  // the thread before has both
    I column_a = a < a_end ? *a : BEHIND_COLUMNS<I>, column_b = b < b_end ? *b : BEHIND_COLUMNS<I>;
#pragma unroll
    for (int s = 0; s < EACH; s++) {
      if (left <= s) break;
      const bool row_ends = min(column_a, column_b) == BEHIND_COLUMNS<I>;  // neither has more in this row
      const bool of_a = column_a <= column_b && !row_ends, of_b = column_b <= column_a && !row_ends;
      if (of_a) bits |= 1u << s;
      if (of_b) bits |= 1u << (EACH + s);
      if (row_ends) bits |= 1u << (2 * EACH + s);
      a += of_a, b += of_b, left -= of_a && of_b;
      if (row_ends) {
        const unsigned next = *++row_end;
        a_end = columns + (next & 0xffff), b_end = columns + na + (next >> 16);
      }
      column_a = a < a_end ? *a : BEHIND_COLUMNS<I>;
      column_b = b < b_end ? *b : BEHIND_COLUMNS<I>;
    }
    return bits;
  }
};

// Which of the entries of A (of_a) and of B the result has.
GRB_DEVICE unsigned items_kept(unsigned of_a, unsigned of_b, int64_t mode) {
  return mode == 0 ? of_a & of_b : mode == 1 ? of_a | of_b : of_a & ~of_b;
}

// ---- values.  of_chunk(a, b).load(source): what an entry of the result takes from the operands in the chunk whose
// first entries are a and b; value(source, loaded, k): the value of entry k of the result.  A source has the number of
// A's entry in the chunk in bits 0 to 14, if IN_A is set, and of B's in bits 16 to 30, if IN_B is.

// The structure alone.
struct NoValues {
  using type = uint8_t;
  using Loaded = uint8_t;
  static constexpr bool PRESENT = false;
  int64_t unused;
};

// No operator: common where both have the entry (null: B's value), else the value of the one that has it; y null: A's
// value, x null: B's value.  Values are moved as unsigned integers of their size.
template <class D> struct MovedValues {
  const D* x;
  int64_t iso_x;
  const D* y;
  int64_t iso_y;
  const D* common;  // of each entry of the result
  int64_t iso_common;
  D* out;
  using type = D;
  using Loaded = D;
  static constexpr bool PRESENT = true;
  struct Chunk {
    const D *x, *y;
    unsigned mask_x, mask_y, of_y, not_of_x;  // masks: 0 if the operand is iso
    GRB_DEVICE D load(unsigned source) const {
      const bool in_y = (source & of_y) | not_of_x;
      return (in_y ? y : x)[in_y ? source >> 16 & mask_y : source & mask_x];
    }
  };
  GRB_DEVICE Chunk of_chunk(int64_t a, int64_t b) const {
    return {iso_x || x == nullptr ? x : x + a, iso_y || y == nullptr ? y : y + b, iso_x ? 0 : NUMBER,
            iso_y ? 0 : NUMBER,                y == nullptr ? 0 : IN_B,           x == nullptr};
  }
  GRB_DEVICE D value(unsigned source, D loaded, int64_t k) const {
    if (common != nullptr && source & IN_A && source & IN_B) return common[iso_common ? 0 : k];
    return loaded;
  }
};

// op(x, y) where both have the entry, else the value of the one that has it.  OF_BOTH: each entry is of both.
template <class X, class Y, class D, class Op, bool OF_BOTH> struct JoinedValues {
  static_assert(OF_BOTH || (is_same<X, D> && is_same<Y, D>), "values of one operand are the result's");
  const X* x;
  int64_t iso_x;
  const Y* y;
  int64_t iso_y;
  D* out;
  using type = D;
  struct Loaded {
    X left;
    Y right;
  };
  static constexpr bool PRESENT = true;
  struct Chunk {
    const X* x;
    const Y* y;
    unsigned mask_x, mask_y;
    GRB_DEVICE Loaded load(unsigned source) const {
      Loaded v = Loaded();
      if (OF_BOTH || source & IN_A) v.left = x[source & mask_x];
      if (OF_BOTH || source & IN_B) v.right = y[source >> 16 & mask_y];
      return v;
    }
  };
  GRB_DEVICE Chunk of_chunk(int64_t a, int64_t b) const {
    return {iso_x ? x : x + a, iso_y ? y : y + b, iso_x ? 0 : NUMBER, iso_y ? 0 : NUMBER};
  }
  GRB_DEVICE D value(unsigned source, const Loaded& v, int64_t) const {
    if constexpr (!OF_BOTH) {
      if (!(source & IN_B)) return v.left;
      if (!(source & IN_A)) return v.right;
    }
    return Op()(v.left, v.right);
  }
};

// The same where the value of one operand is cast to the result's type ahead (lone_x, lone_y), or combined with the
// default of the other.  As elementwise/union_values.cuh.
template <class X, class Y, class D, class Op> struct CombinedValues {
  const X* x;
  int64_t iso_x;
  const Y* y;
  int64_t iso_y;
  const D* lone_x;  // null with right_default
  const D* lone_y;  // null with left_default
  const X* left_default;
  const Y* right_default;
  D* out;
  using type = D;
  struct Loaded {
    X left;
    Y right;
    D lone;
  };
  static constexpr bool PRESENT = true;
  struct Chunk {
    const CombinedValues& v;
    int64_t a, b;
    GRB_DEVICE Loaded load(unsigned source) const {
      const int64_t i = v.iso_x ? 0 : a + (source & NUMBER), j = v.iso_y ? 0 : b + (source >> 16 & NUMBER);
      const bool in_a = source & IN_A, in_b = source & IN_B;
      Loaded found = Loaded();
      if (in_a && (in_b || v.right_default != nullptr)) found.left = v.x[i];
      else if (in_a) found.lone = v.lone_x[i];
      if (in_b && (in_a || v.left_default != nullptr)) found.right = v.y[j];
      else if (in_b) found.lone = v.lone_y[j];
      return found;
    }
  };
  GRB_DEVICE Chunk of_chunk(int64_t a, int64_t b) const { return {*this, a, b}; }
  GRB_DEVICE D value(unsigned source, const Loaded& found, int64_t) const {
    const bool in_a = source & IN_A, in_b = source & IN_B;
    if (!in_a && left_default == nullptr || !in_b && right_default == nullptr) return found.lone;
    return Op()(in_a ? found.left : *left_default, in_b ? found.right : *right_default);
  }
};

template <class I, class Values> struct MergeWrite {
  MergePath<I> path;
  int64_t mode;
  word* states;
  word* finished;
  word* sent;  // page-locked: the number of all entries
  I* columns;       // null: the entries are counted
  int64_t* starts;  // null in vectors
  Values values;
};

// The entries of the chunk before this thread's: of A (bits 0 to 10), of B (11 to 21), of both (22 to 31); total: all.
template <int THREADS>
GRB_DEVICE unsigned entries_before(unsigned of_a, unsigned of_b, unsigned& total, unsigned* sums) {
  static_assert(THREADS * EACH < 2047, "11 bits");
  const unsigned mine = __popc(of_a) | __popc(of_b) << 11 | __popc(of_a & of_b) << 22;
  const unsigned upto = warp_inclusive_sum(mine);
  const int w = threadIdx.x >> 5;
  if (lane_number() == 31) sums[w] = upto;
  __syncthreads();
  unsigned before = upto - mine;
  total = 0;
#pragma unroll
  for (int v = 0; v < THREADS / 32; v++) {
    const unsigned sum = sums[v];
    if (v < w) before += sum;
    total += sum;
  }
  return before;
}

// How many of them the result has.
GRB_DEVICE unsigned kept_of(unsigned entries, int64_t mode) {
  const unsigned a = entries & 2047, b = entries >> 11 & 2047, both = entries >> 22;
  return mode == 0 ? both : mode == 1 ? a + b - both : a - both;
}

// The column of an entry of a chunk whose columns are A's `na`, then B's.
template <class I> GRB_DEVICE I column_of(unsigned source, const I* columns, int na) {
  return columns[source & IN_A ? int(source & NUMBER) : na + int(source >> 16 & NUMBER)];
}

template <int THREADS, class I, class Values>
__global__ void __launch_bounds__(THREADS, 5) merge_write(MergeWrite<I, Values> o) {
  using D = typename Values::type;
  constexpr int AT_ONCE = sizeof(D) > 8 ? 2 : 4;  // entries whose loads are in flight
  extern __shared__ __align__(16) unsigned char pool[];
  __shared__ unsigned sources[THREADS * EACH];    // of each entry of the result in the chunk
  __shared__ unsigned sums[THREADS / 32];
  const MergePath<I>& p = o.path;
  for (int64_t turn = 0;; turn++) {
    const int64_t c = next_part(o.states, p.chunks, turn);
    if (c >= p.chunks) break;
    MergeChunk<THREADS, I> chunk;
    chunk.load(p, c, pool);
    __syncthreads();
    const unsigned bits = chunk.merge();
    const MergePoint from = chunk_start(p, c);
    const unsigned of_a = bits & ITEM_BITS, of_b = bits >> EACH & ITEM_BITS, kept = items_kept(of_a, of_b, o.mode);
    unsigned total;
    const unsigned before = entries_before<THREADS>(of_a, of_b, total, sums);
    const unsigned first_kept = kept_of(before, o.mode);
    const int count = int(kept_of(total, o.mode));
    unsigned at = first_kept, ab = (before & 2047) | (before >> 11 & 2047) << 16;
#pragma unroll
    for (int s = 0; s < EACH; s++) {
      const unsigned in = (of_a >> s & 1) * IN_A | (of_b >> s & 1) * IN_B;
      if (kept >> s & 1) sources[at++] = ab | in;
      ab += in >> 15;
    }
    const int64_t base = sum_before_part(o.states, p.chunks, c, count);
    if (threadIdx.x == 0 && c + 1 == p.chunks) *o.sent = word(base + count);
    if (o.starts != nullptr) {
      const int first = max(0, int(threadIdx.x) * EACH - chunk.late) + ((bits & BEGINS_LATE) != 0);
      int64_t row = from.row + first - int(before & 2047) - int(before >> 11 & 2047);
      for (unsigned ends = bits >> 2 * EACH & ITEM_BITS; ends; ends &= ends - 1)
        o.starts[++row] = base + first_kept + __popc(kept & (ends & -ends) - 1);
      if (c == 0 && threadIdx.x == 0) o.starts[0] = 0;
    }
    if (o.columns == nullptr) continue;
    I* columns = o.columns + base;
    if constexpr (Values::PRESENT) {
      const auto values = o.values.of_chunk(from.a, from.b);
      D* out = o.values.out + base;
      for (int first = threadIdx.x; first < count; first += AT_ONCE * THREADS) {
        unsigned source[AT_ONCE];
        I column[AT_ONCE];
        typename Values::Loaded loaded[AT_ONCE];
#pragma unroll
        for (int q = 0; q < AT_ONCE; q++) source[q] = sources[min(first + q * THREADS, count - 1)];
#pragma unroll
        for (int q = 0; q < AT_ONCE; q++) {
          column[q] = column_of(source[q], chunk.columns, chunk.na);
          loaded[q] = values.load(source[q]);
        }
#pragma unroll
        for (int q = 0; q < AT_ONCE; q++) {
          const int t = first + q * THREADS;
          if (t < count) columns[t] = column[q], out[t] = o.values.value(source[q], loaded[q], base + t);
        }
      }
    } else {
#pragma unroll EACH
      for (int t = threadIdx.x; t < count; t += THREADS)
        columns[t] = column_of(sources[t], chunk.columns, chunk.na);
    }
  }
  clear_states(o.states, p.chunks, o.finished);
}

}  // namespace grb
