// Tables in shared memory of a row of a matrix, for masked products of two matrices.
//
// A table has the row's columns.  A lookup is one load (BITMAP), linear probing in a table that is a quarter full, half
// full where memory is short (HASH), or bisection in the row itself (SEARCHED).  GIVES: what a lookup returns besides
// presence:
//   NOTHING    -
//   POSITIONS  the position of the column's entry in the row
//   WORDS      the value, 64 bits: the row is one of words (products/masked_words.cuh), its columns are their numbers
// Callers: products/masked_rows.cuh, products/masked_push.cuh.  The pool is aligned to 16 bytes.
#pragma once
#include "products/spgemm.cuh"

namespace grb {

enum { SEARCHED, HASH, BITMAP };
enum { NOTHING, POSITIONS, WORDS };

// Bytes of a slot of a hash table, of a bitmap of `span` columns.
GRB_DEVICE int64_t slot_bytes(int64_t key_bytes, int64_t gives) {
  return key_bytes + (gives == WORDS ? 8 : gives == POSITIONS ? 4 : 0);
}
GRB_DEVICE int64_t bitmap_bytes(int64_t span, int64_t gives) {
  return gives == WORDS ? (span + 1) * 8 : (span / 32 + 1) * (gives == POSITIONS ? 8 : 4);
}

// Slots of the hash table of a row of `length` entries in `capacity` bytes.
GRB_DEVICE int64_t hash_slots(int64_t length, int64_t slot_bytes, int64_t capacity) {
  int64_t slots = 32;
  while (slots < 4 * length && 2 * slots * slot_bytes <= capacity) slots *= 2;
  return slots;
}

template <class I, int TABLE, int GIVES> struct RowTable {
  static constexpr bool words = GIVES == WORDS;
  using Key = choose<sizeof(I) == 4, uint32_t, word>;
  using Place = choose<TABLE == SEARCHED, int64_t, int>;
  using Found = choose<words, word, Place>;
  const I* cols;
  const word* values;  // WORDS: those of the row
  int64_t length;
  Key first, span;
  Key* keys;       // HASH
  uint32_t* bits;  // BITMAP
  uint32_t* at;    // POSITIONS: of each slot; of the first entry of each word
  word* stored;    // WORDS: of each slot, of each column
  int slots, shift;

  GRB_DEVICE RowTable(const I* cols, const word* values, int64_t length, unsigned char* pool, int64_t capacity)
      : cols(cols), values(values), length(length), first(Key(cols[0])), span(Key(cols[length - 1]) - first + 1),
        shift(0) {
    keys = reinterpret_cast<Key*>(pool);
    bits = reinterpret_cast<uint32_t*>(pool);
    stored = reinterpret_cast<word*>(pool);
    if constexpr (TABLE == HASH) {
      slots = int(hash_slots(length, slot_bytes(sizeof(Key), GIVES), capacity));
      shift = __clz(slots) + 1;
      at = reinterpret_cast<uint32_t*>(keys + slots);
      stored = reinterpret_cast<word*>(keys + slots);
    } else {
      slots = TABLE == SEARCHED ? 0 : words ? int(span) + 1 : int(span / 32) + 1;  // bit, word `span` is zero
      at = bits + slots;
    }
  }
  GRB_DEVICE int slot_of(Key key) const {
    uint32_t folded = uint32_t(key);
    if constexpr (sizeof(Key) == 8) folded ^= uint32_t(key >> 32);
    return int(folded * 0x9E3779B1u >> shift);
  }
  template <class Own> GRB_DEVICE void build(const Own& owner) const {
    if constexpr (TABLE == SEARCHED) return;
    for (int n = owner.rank; n < slots; n += owner.size)
      if constexpr (TABLE == HASH) keys[n] = ~Key(0); else if constexpr (words) stored[n] = 0; else bits[n] = 0;
    owner.sync();
    for (int64_t p = owner.rank; p < length; p += owner.size) {
      if constexpr (TABLE == BITMAP && words) {
        stored[Key(cols[p]) - first] = values[p];
      } else if constexpr (TABLE == BITMAP) {
        const uint32_t column = uint32_t(Key(cols[p]) - first), w = column >> 5;
        atomicOr(bits + w, 1u << (column & 31));
        if constexpr (GIVES == POSITIONS)
          if (p == 0 || uint32_t(Key(cols[p - 1]) - first) >> 5 != w) at[w] = uint32_t(p);
      } else {
        const Key key = Key(cols[p]);
        int slot = slot_of(key);
        while (atomicCAS(keys + slot, ~Key(0), key) != ~Key(0)) slot = (slot + 1) & (slots - 1);
        if constexpr (GIVES == POSITIONS) at[slot] = uint32_t(p);
        if constexpr (words) stored[slot] = values[p];
      }
    }
    owner.sync();
  }
  GRB_DEVICE Key nothing() const { return first + span; }  // a column that is not in the row
  // Has the row an entry in this column?  `p` is its position in the row, its value where WORDS (0 for none).
  GRB_DEVICE bool find(Key column, Found& p) const {
    const Key away = column - first;
    p = 0;
    if constexpr (TABLE == BITMAP && words) {
      p = stored[away < span ? away : span];
      return true;
    } else if constexpr (TABLE == BITMAP) {  // without a branch, so that lookups overlap
      const Key bit = away < span ? away : span;
      const uint32_t found = bits[bit >> 5], of_bit = uint32_t(bit) & 31;
      if constexpr (GIVES == POSITIONS) p = int(at[bit >> 5]) + __popc(found & ((1u << of_bit) - 1));
      return found >> of_bit & 1;
    } else if constexpr (TABLE == HASH) {
      int slot = slot_of(column);
      Key found = keys[slot];
      while (found != column && found != ~Key(0)) found = keys[slot = (slot + 1) & (slots - 1)];
      if constexpr (GIVES == POSITIONS) p = int(at[slot]);
      if constexpr (words) p = found == column ? stored[slot] : 0;
      return found == column;
    } else {
      if (away >= span) return false;
      const int64_t q = lower_bound(cols, int64_t(0), length, I(column));
      if (cols[q] != I(column)) return false;
      if constexpr (words) p = values[q]; else p = q;
      return true;
    }
  }
};

}  // namespace grb
