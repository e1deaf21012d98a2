// guards.h: memory that notices accesses outside it.
//
// Every array that NumPy makes once memory.py has installed `simt_allocate` and its like lies between guard zones; the
// pattern is checked after each launch that gets the array's address, when the array is freed, and by simt_check_all.
// One array in FLUSH, drawn by a seed, ends where an unmapped page begins, so that a read beyond it faults as well.
// Memory that is not initialised, and guard zones, hold PATTERN: a NaN in both sizes of floats, a great integer.  Freed
// memory holds FREED and is kept back for a while, so that a late write is noticed.
#pragma once
#include <cstddef>
#include <cstdint>

namespace simt {

constexpr uint32_t PATTERN = 0x7FF5A5A5u, FREED = 0x7FF4DEADu;
constexpr size_t ZONE = 64;  // bytes of a guard zone

void fill(void *start, size_t bytes, uint32_t pattern);
// The first byte of start .. start+bytes-1 that no longer holds the pattern, bytes if there is none.
size_t first_change(const void *start, size_t bytes, uint32_t pattern);

struct Found {  // an array, and the place of a byte from its start (negative, or beyond its size: outside)
  uintptr_t start = 0;
  size_t size = 0;
  ptrdiff_t at = 0;
};
// The array around the address; with `near`, also one whose guard zones or guard pages hold it.
bool find(uintptr_t address, Found &found, bool near);
// Has a guard zone of the array at `start` changed?  Then found.at is the first changed byte, and the zone is restored.
bool is_damaged(uintptr_t start, Found &found);

}  // namespace simt
