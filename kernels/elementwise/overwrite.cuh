// C<M> = T and C(I, J) = T in place: the words and values of bitmap C change only at positions of M, T or the region.
//
// Callers: backends/cuda/elementwise/overwrite.py, structure/index_lists.py (last_places).  Values are moved as
//   unsigned integers of their size (16 bytes: ulonglong2).
// words: null of a full C, which stays full.
// *count is the number of C's entries after the kernel: its value before, plus `known` (added once), plus the change.
// Precondition: T has entries only at positions of M.
// Launch: one warp for 1024 positions, or one thread for each entry of a list or of a region.
#pragma once
#include "base/views.cuh"
#include "base/warp.cuh"

namespace grb {

// `changed` may be negative, because counts are taken modulo 2^64.
GRB_DEVICE void add_to_count(unsigned long long changed, int64_t known, unsigned long long* count) {
  add_to_count(changed + (thread_number() == 0 ? known : 0), count);
}

// T and M as words: mask null stands for T's own structure, t_words null for a full T.  Each lane of a warp reads one
// of 32 half words; then the warp writes the values of one half word after the other (coalesced).
template <class T>
__global__ void overwrite_words(word* words, T* values, const word* t_words, const T* t_values, bool t_iso,
                                const word* mask, bool complement, int64_t size, int64_t known,
                                unsigned long long* count) {
  unsigned* here = reinterpret_cast<unsigned*>(words);
  const unsigned* there = reinterpret_cast<const unsigned*>(t_words);
  const unsigned* allowed = reinterpret_cast<const unsigned*>(mask);
  unsigned long long changed = 0;
  const T one = t_values[0];
  GRB_EACH_RUN(first, end, 16, (size + 63) >> 6) {
    const int64_t half = first * 2 + lane_number();
    const int64_t left = half < end * 2 ? size - half * 32 : 0;
    const unsigned inside = left >= 32 ? ~0u : left > 0 ? (1u << left) - 1 : 0;
    const unsigned fresh = inside == 0 ? 0 : (there == nullptr ? ~0u : there[half]) & inside;
    const unsigned open =
        inside == 0 ? 0 : allowed == nullptr ? fresh : (complement ? ~allowed[half] : allowed[half]) & inside;
    if (open && here != nullptr) {
      const unsigned old = here[half], now = (old & ~open) | fresh;
      if (now != old) {
        here[half] = now;
        changed += (unsigned long long)(int64_t(__popc(now)) - __popc(old));
      }
    }
    for (unsigned which = __ballot_sync(ALL_LANES, fresh != 0); which; which &= which - 1) {
      const int turn = __ffs(int(which)) - 1;
      const int64_t i = (first * 2 + turn) * 32 + lane_number();
      if (__shfl_sync(ALL_LANES, fresh, turn) >> lane_number() & 1) values[i] = t_iso ? one : t_values[i];
    }
  }
  add_to_count(changed, known, count);
}

// T as a list of positions.
template <class I, class T>
__global__ void overwrite_listed(word* words, T* values, const I* indices, const T* t_values, bool t_iso, int64_t n,
                                 int64_t known, unsigned long long* count) {
  unsigned long long changed = 0;
  GRB_EACH(k, n) {
    const int64_t i = indices[k];
    values[i] = t_values[t_iso ? 0 : k];
    if (words != nullptr) changed += put(words, i);
  }
  add_to_count(changed, known, count);
}

// The last place of each position in a list: last[I[k]] = the greatest such k.  Precondition: last is -1 everywhere.
// sent (null: not wanted): how many places are of a position that is in the list once more.  repeats, finished: zeros.
template <class P>
__global__ void last_places(const P* I, int64_t n, int* last, unsigned long long* repeats, word* finished, word* sent) {
  unsigned long long repeated = 0;
  GRB_EACH(k, n) repeated += atomicMax(&last[I[k]], int(k)) >= 0;
  if (sent == nullptr) return;
  add_to_count(repeated, repeats);
  if (is_last_block(finished) && threadIdx.x == 0) *sent = *(volatile unsigned long long*)repeats;
}

struct Fresh {  // no accumulator
  template <class T> GRB_DEVICE T operator()(T, T fresh) const { return fresh; }
};

// C(I, J) (op)= T.  C: lines of `width` positions; T: `n` places, `across` a line.  t_values null: T is empty.
// keeps: C's entries stay where T has none (with an accumulator), else they are deleted.
template <class T, class Op>
__global__ void overwrite_region(word* words, T* values, int64_t width, const int64_t* I, int64_t first_i,
                                 int64_t step_i, const int* last_i, const int64_t* J, int64_t first_j, int64_t step_j,
                                 const int* last_j, int64_t across, const word* t_words, const T* t_values, bool t_iso,
                                 bool keeps, int64_t n, int64_t known, unsigned long long* count) {
  const Axis lines{I, first_i, step_i, last_i}, columns{J, first_j, step_j, last_j};
  unsigned long long changed = 0;
  Op op;
  GRB_EACH(k, n) {
    const int64_t line = across == 1 ? k : k / across, i = lines.at(line), j = columns.at(k - line * across);
    if (i < 0 || j < 0) continue;
    const int64_t p = i * width + j;
    const bool there = t_values != nullptr && has_or_all(t_words, k), was = has_or_all(words, p);
    if (there) {
      const T fresh = t_values[t_iso ? 0 : k];
      values[p] = was ? op(values[p], fresh) : fresh;
    }
    if (words == nullptr || there == was) continue;
    if (there)
      changed += put(words, p);
    else if (!keeps && (atomicAnd(&words[p >> 6], ~bit_of(p)) & bit_of(p)))
      changed--;
  }
  add_to_count(changed, known, count);
}

}  // namespace grb
