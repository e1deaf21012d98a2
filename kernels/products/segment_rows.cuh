// Segmented reduction across lanes and the transposition in shared memory: the parts of products/segments.cuh.
//
// Who includes it: products/segment_sum.cuh; the head of products/segments.cuh defines a slice.
// Precondition: a whole warp calls together.
// Algorithm: segmented scan by shuffles, as in CSR5 (Liu, Vinter, ICS 2015), section 3.3; a ballot instead
//   for monoids of bits.
#pragma once
#include "products/segment_gaps.cuh"

namespace grb {

constexpr int LANE_ENTRIES = 8;
constexpr int SLICE = 32 * LANE_ENTRIES;

// Which slices a warp of the product has in a step.
struct StepsOfWarps {
  int64_t slices, warps, steps;    // warps: of the whole grid
  GRB_DEVICE int64_t first(int64_t number, int64_t step) const {
    const int64_t begin = slices * number / warps, end = slices * (number + 1) / warps;
    return begin + (end - begin) * step / steps;
  }
};

template <class S> GRB_DEVICE void add_to(Total<S>& total, const Total<S>& other) {
  if constexpr (S::has_start) total.value = S::add(total.value, other.value);
  else total.join(other.value, other.have);
}
// The monoid of bits S::fold over those of `bits` at places `among`; of none, its identity.
template <class S> GRB_DEVICE bool folded(unsigned bits, unsigned among) {
  if constexpr (S::fold == FOLD_OR) return (bits & among) != 0;
  else if constexpr (S::fold == FOLD_AND) return (~bits & among) == 0;
  else if constexpr (S::fold == FOLD_XOR) return (__popc(bits & among) & 1) != 0;
  else return (__popc(~bits & among) & 1) == 0;
}
// The products of eight stored bools and eight others, as bits.  What S::times gives for each pair is
// known to the compiler.
template <class S> GRB_DEVICE unsigned product_bits(uint2 a, uint2 x) {
  auto half = [](unsigned a, unsigned x) {
    unsigned bytes = (S::times(true, true, 0, 0, 0) ? a & x : 0) | (S::times(true, false, 0, 0, 0) ? a & ~x : 0) |
                     (S::times(false, true, 0, 0, 0) ? ~a & x : 0) | (S::times(false, false, 0, 0, 0) ? ~a & ~x : 0);
    return bytes & 0x01010101u;
  };
  return (half(a.x, x.x) | half(a.y, x.y) << 4) * 0x01020408u >> 24;  // bits 0 and 4 of the four bytes, side by side
}
template <class S, bool ALL> GRB_DEVICE Total<S> lifted(const Total<S>& total, int by) {
  Total<S> other;
  other.value = shuffle_up(total.value, by);
  if constexpr (ALL) other.have = true;
  else if constexpr (!S::has_start) other.have = __shfl_up_sync(ALL_LANES, int(total.have), by) != 0;
  return other;
}

// Segmented scan: lanes hold consecutive chunks of entries.  Where rows begin (bit of `begun`), `head` is the sum
// before the first and `tail` that from the last; elsewhere `tail` is the whole.  `open`, in lane 0, is what came
// before; after, what is open after lane 31.  Returns, where rows begin, the whole of the row that was open there.
// ALL: no lane's `tail` is empty.
template <bool ALL, class S> GRB_DEVICE Total<S> close_rows(unsigned begun, Total<S> head, Total<S> tail,
                                                            Total<S>& open) {
  int lane = lane_number();
  if constexpr (S::fold != NO_FOLD) {          // a ballot instead of a scan
    unsigned tails = __ballot_sync(ALL_LANES, tail.value), lower = (1u << lane) - 1, earlier = begun & lower;
    bool carry = (__ballot_sync(ALL_LANES, open.value) & 1) != 0;
    unsigned from = earlier ? ~0u << (31 - __clz(int(earlier))) : ~0u,
             last = begun ? ~0u << (31 - __clz(int(begun))) : ~0u;
    Total<S> closed;
    closed.value = S::add(head.value, folded<S>(tails, from & lower));
    if (!earlier) closed.value = S::add(closed.value, carry);
    bool end = folded<S>(tails, last);
    open.value = lane != 0 ? S::start() : begun ? end : S::add(carry, end);
    return closed;
  }
  bool here = begun >> lane & 1;
  if (lane == 0) {
    add_to(open, here ? head : tail);
    if (here) head = open;
    else tail = open;
  }
  if constexpr (ALL) tail.have = true;         // which the compiler does not see
  unsigned upto = begun & ((2u << lane) - 1);
  int from = upto ? 31 - __clz(int(upto)) : 0;
#pragma unroll
  for (int by = 1; by < 32; by <<= 1) {
    Total<S> other = lifted<S, ALL>(tail, by);
    if (lane - by >= from) {
      add_to(other, tail);
      tail = other;
    }
  }
  Total<S> before = lifted<S, ALL>(tail, 1), end;
  end.value = shuffle(tail.value, 31);
  if constexpr (ALL) end.have = true;
  else if constexpr (!S::has_start) end.have = __shfl_sync(ALL_LANES, int(tail.have), 31) != 0;
  open = lane == 0 ? end : Total<S>();
  add_to(before, head);
  return lane == 0 ? head : before;
}

// The carry-out of a chunk of entries: the sum before its first row, that from its last row (all, if none begins).
template <class S> struct Ends {
  Total<S> head, tail;
  bool begins;
  GRB_DEVICE Ends() : head(), tail(), begins(false) {}
  GRB_DEVICE unsigned char flags() const { return (head.have ? 1 : 0) | (tail.have ? 2 : 0) | (begins ? 4 : 0); }
  GRB_DEVICE void set(typename S::Z front, typename S::Z back, unsigned flags) {
    head.value = front, head.have = flags & 1;
    tail.value = back, tail.have = (flags & 2) != 0, begins = (flags & 4) != 0;
  }
};

// Carry-out fix-up: lanes have the ends of consecutive chunks and the row that is open before each.  Rows that cross
// chunks are written, and lane 0 gets the ends of all chunks together.
template <class S, class R, class Output>
GRB_DEVICE Ends<S> close_ends(const Ends<S>& ends, R opened, const R* names, Output& out) {
  unsigned begun = __ballot_sync(ALL_LANES, ends.begins);
  Ends<S> all;
  Total<S> closed = close_rows<false>(begun, ends.head, ends.tail, all.tail);
  int first = begun ? __ffs(int(begun)) - 1 : 0;
  if (ends.begins && lane_number() != first)
    out.put(names == nullptr ? opened : names[opened], closed.value, closed.have);
  all.head.value = shuffle(closed.value, first);
  all.head.have = __shfl_sync(ALL_LANES, int(closed.have), first) != 0;
  all.begins = begun != 0;
  return all;
}

// The position of product e of a slice in the warp's buffer: 16-byte chunks, swizzled so that neither
// side has bank conflicts.
template <class Z> struct Buffer {
  static constexpr int chunk = sizeof(Z) >= 2 ? 16 / int(sizeof(Z)) : LANE_ENTRIES;
  static constexpr int chunks = LANE_ENTRIES / chunk;
  struct alignas(chunk * sizeof(Z)) Chunk { Z part[chunk]; };
  static GRB_DEVICE int swizzled(int c) { return c ^ (c >> 3 & (chunks - 1)); }
  static GRB_DEVICE int place(int e) { return swizzled(e / chunk) * chunk + e % chunk; }
  static GRB_DEVICE void read(const Z* buffer, Z* out) {
#pragma unroll
    for (int j = 0; j < chunks; j++) {
      Chunk c = reinterpret_cast<const Chunk*>(buffer)[swizzled(lane_number() * chunks + j)];
#pragma unroll
      for (int n = 0; n < chunk; n++) out[j * chunk + n] = c.part[n];
    }
  }
};

// From entries l, 32 + l, ... to the consecutive ones 8 l .. 8 l + 7 of lane l.
template <class Z, class Out> GRB_DEVICE void exchange(Z* buffer, const Z* values, Out* out) {
#pragma unroll
  for (int u = 0; u < LANE_ENTRIES; u++) buffer[Buffer<Z>::place(u % 2 * 32 | lane_number()) + u / 2 * 64] = values[u];
  __syncwarp();
  if constexpr (is_same<Z, Out>) Buffer<Z>::read(buffer, out);
  else *out = reinterpret_cast<const Out*>(buffer)[lane_number()];          // all eight bytes
  __syncwarp();
}

}  // namespace grb
