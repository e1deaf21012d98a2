// guards.cpp: see guards.h; a part of engine.so.
#include "guards.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

namespace simt {

namespace {

constexpr size_t PAGE = 4096, GRAIN = 16;       // vectors of 16 bytes may read up to a multiple of their size
constexpr size_t FLUSH = 8, LARGEST_FLUSH = 1 << 20;
constexpr size_t LEAST_FLUSH = 1 << 14;         // from here on all do
constexpr size_t POISONED = 1 << 12;            // bytes at most that are filled and looked at in large arrays
constexpr size_t LONGEST_ZONE = 1 << 9;         // behind an array
constexpr size_t KEPT_BACK = 256, BYTES_KEPT_BACK = 8 << 20;

struct Array {
  size_t size = 0, pages = 0;  // pages: of an array that ends at an unmapped page, else 0
  size_t after = 0;            // bytes of the zone behind it
};
struct Freed { uintptr_t start; Array array; };

struct State {
  std::mutex lock;
  std::map<uintptr_t, Array> arrays;
  std::deque<Freed> kept_back;
  size_t bytes_kept_back = 0;
  std::map<size_t, std::vector<char *>> spare;  // regions of that many pages
  uint64_t random = 1;
  char message[256] = "";                       // the first fault that was noticed outside a launch
};
State &state() {
  static State *s = new State;  // never destroyed: NumPy frees arrays until the very end
  return *s;
}

size_t up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// zeros: of a large array, whose pages then are zeros that nobody has written.
uintptr_t place(size_t size, Array &array, bool zeros) {
  State &s = state();
  array.size = size;
  s.random = s.random * 6364136223846793005ull + 1442695040888963407ull;
  if (size && size <= LARGEST_FLUSH && (size >= LEAST_FLUSH || (s.random >> 33) % FLUSH == 0)) {
    array.pages = up(size + ZONE, PAGE) / PAGE;
    array.after = up(size, GRAIN) - size;
    char *region;
    auto &spare = s.spare[array.pages];
    if (!spare.empty()) {
      region = spare.back();
      spare.pop_back();
    } else {
      region = (char *)mmap(nullptr, (array.pages + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                            0);
      if (region == MAP_FAILED) return 0;
      mprotect(region + array.pages * PAGE, PAGE, PROT_NONE);
    }
    return (uintptr_t)region + array.pages * PAGE - up(size, GRAIN);
  }
  array.pages = 0;
  array.after = ZONE + up(std::min(size, LONGEST_ZONE), ZONE) + up(size, ZONE) - size;
  void *block = zeros ? std::calloc(1, ZONE + size + array.after) : std::malloc(ZONE + size + array.after);
  return block ? (uintptr_t)block + ZONE : 0;
}

void release(const Freed &freed) {
  if (freed.array.pages) {
    char *region = (char *)(freed.start + up(freed.array.size, GRAIN) - freed.array.pages * PAGE);
    auto &spare = state().spare[freed.array.pages];
    if (spare.size() < 64) spare.push_back(region);
    else munmap(region, (freed.array.pages + 1) * PAGE);
  } else {
    std::free((void *)(freed.start - ZONE));
  }
}

bool changed(uintptr_t start, const Array &array, Found &found) {
  size_t before = first_change((void *)(start - ZONE), ZONE, PATTERN);
  size_t after = first_change((void *)(start + array.size), array.after, PATTERN);
  if (before == ZONE && after == array.after) return false;
  found = {start, array.size, ptrdiff_t(after < array.after ? array.size + after : before - ZONE)};
  fill((void *)(start - ZONE), ZONE, PATTERN);
  fill((void *)(start + array.size), array.after, PATTERN);
  return true;
}

void note(const char *what, const Found &f) {
  State &s = state();
  if (!s.message[0])
    snprintf(s.message, sizeof s.message, "%s: byte %td of an array of %zu bytes", what, f.at, f.size);
}

}  // namespace

// Words at addresses that are multiples of 4 hold the pattern, whatever the start: zones of odd sizes agree.
void fill(void *start, size_t bytes, uint32_t pattern) {
  unsigned char *p = (unsigned char *)start, *end = p + bytes;
  for (; p < end && (uintptr_t)p % 4; p++) *p = (unsigned char)(pattern >> (uintptr_t)p % 4 * 8);
  const uint64_t twice = (uint64_t)pattern << 32 | pattern;
  for (; p + 8 <= end; p += 8) memcpy(p, &twice, 8);
  for (; p + 4 <= end; p += 4) memcpy(p, &pattern, 4);
  for (; p < end; p++) *p = (unsigned char)(pattern >> (uintptr_t)p % 4 * 8);
}

size_t first_change(const void *start, size_t bytes, uint32_t pattern) {
  const unsigned char *p = (const unsigned char *)start;
  const uint64_t twice = (uint64_t)pattern << 32 | pattern;
  for (size_t k = 0; k < bytes;) {
    uint32_t here;
    uint64_t both;
    if ((uintptr_t)(p + k) % 4 == 0 && k + 8 <= bytes && (memcpy(&both, p + k, 8), both == twice)) {
      k += 8;
      continue;
    }
    if ((uintptr_t)(p + k) % 4 == 0 && k + 4 <= bytes && (memcpy(&here, p + k, 4), here == pattern)) k += 4;
    else if (p[k] == (unsigned char)(pattern >> (uintptr_t)(p + k) % 4 * 8)) k++;
    else return k;
  }
  return bytes;
}

bool find(uintptr_t address, Found &found, bool near) {
  State &s = state();
  std::lock_guard guard(s.lock);
  auto next = s.arrays.upper_bound(address);
  if (next != s.arrays.begin()) {
    auto &[start, array] = *std::prev(next);
    size_t beyond = near ? array.after + (array.pages ? PAGE : 0) : array.size == 0;
    if (address < start + array.size + beyond) {
      found = {start, array.size, ptrdiff_t(address - start)};
      return true;
    }
  }
  if (near && next != s.arrays.end() && address >= next->first - ZONE) {
    found = {next->first, next->second.size, ptrdiff_t(address) - ptrdiff_t(next->first)};
    return true;
  }
  return false;
}

bool is_damaged(uintptr_t start, Found &found) {
  State &s = state();
  std::lock_guard guard(s.lock);
  auto at = s.arrays.find(start);
  return at != s.arrays.end() && changed(start, at->second, found);
}

static void *allocate(size_t size, bool zeros) {
  State &s = state();
  Array array;
  uintptr_t start;
  {
    std::lock_guard guard(s.lock);
    start = place(size, array, zeros);
    if (!start) return nullptr;
    s.arrays[start] = array;
  }
  fill((void *)(start - ZONE), ZONE, PATTERN);
  if (!zeros) fill((void *)start, std::min(size, POISONED), PATTERN);
  fill((void *)(start + size), array.after, PATTERN);
  if (zeros && array.pages) memset((void *)start, 0, size);
  return (void *)start;
}

extern "C" {

__attribute__((visibility("default"))) void *simt_allocate(void *, size_t size) { return allocate(size, false); }

__attribute__((visibility("default"))) void simt_free(void *, void *pointer, size_t) {
  if (!pointer) return;
  State &s = state();
  std::lock_guard guard(s.lock);
  auto at = s.arrays.find((uintptr_t)pointer);
  if (at == s.arrays.end()) std::abort();
  Found found;
  if (changed(at->first, at->second, found)) note("found when it was freed: something wrote outside it", found);
  fill(pointer, std::min(at->second.size, POISONED), FREED);
  s.kept_back.push_back({at->first, at->second});
  s.bytes_kept_back += at->second.size;
  s.arrays.erase(at);
  while (s.kept_back.size() > KEPT_BACK || s.bytes_kept_back > BYTES_KEPT_BACK) {
    Freed oldest = s.kept_back.front();
    s.kept_back.pop_front();
    s.bytes_kept_back -= oldest.array.size;
    size_t looked_at = std::min(oldest.array.size, POISONED), k = first_change((void *)oldest.start, looked_at, FREED);
    if (k < looked_at) note("something wrote after it was freed", {oldest.start, oldest.array.size, ptrdiff_t(k)});
    release(oldest);
  }
}

__attribute__((visibility("default"))) void *simt_zeros(void *, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
  return allocate(bytes, true);
}

__attribute__((visibility("default"))) void *simt_resize(void *, void *pointer, size_t size) {
  void *fresh = simt_allocate(nullptr, size);
  if (fresh && pointer) {
    size_t before = 0;
    {
      std::lock_guard guard(state().lock);
      auto at = state().arrays.find((uintptr_t)pointer);
      if (at == state().arrays.end()) std::abort();
      before = at->second.size;
    }
    memcpy(fresh, pointer, std::min(before, size));
    simt_free(nullptr, pointer, before);
  }
  return fresh;
}

// The seed of the arrays that end at an unmapped page.
__attribute__((visibility("default"))) void simt_seed(uint64_t seed) {
  std::lock_guard guard(state().lock);
  state().random = seed;
}

// Looks at the zones of all arrays.  What was noticed outside a launch, "" for nothing; forgets it.
__attribute__((visibility("default"))) int simt_check_all(char *message, size_t size) {
  State &s = state();
  std::lock_guard guard(s.lock);
  Found found;
  for (auto &[start, array] : s.arrays)
    if (changed(start, array, found)) note("something wrote outside it", found);
  snprintf(message, size, "%s", s.message);
  s.message[0] = 0;
  return message[0] != 0;
}

// Where the array around the address begins, 0 if it lies in none.
__attribute__((visibility("default"))) uintptr_t simt_start_of(uintptr_t address) {
  Found found;
  return find(address, found, false) ? found.start : 0;
}

// May `bytes` be copied to or from the address?  No, if they leave the array around it.
__attribute__((visibility("default"))) int simt_is_inside(uintptr_t address, size_t bytes) {
  Found found;
  return !find(address, found, false) || found.at + bytes <= found.size;
}
}

}  // namespace simt
