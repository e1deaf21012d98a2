// running.h: the block that an OS thread runs, as engine.cpp and faults.cpp see it.
#pragma once
#include "engine.h"
#include "guards.h"

#include <atomic>
#include <vector>

namespace simt {

struct Warp { uint32_t ready, exited, waiting; };  // a bit per lane

struct Running : Block {
  std::vector<Fiber> fibers;
  std::vector<Warp> warps;
  uint32_t threads = 0, alive = 0, arrived = 0, true_count = 0;
  void *scheduler = nullptr;
  void (*body)(void *) = nullptr;
  void *argument = nullptr;
  char *stacks = nullptr;
  uint32_t stack_count = 0;
  uint64_t switches = 0, random = 0;
  bool descending = false, restless = false;  // of the order: see prepare()
  const std::atomic<int> *stopped = nullptr;  // has another block failed?
  const char *error = nullptr;
  char message[512];
  std::vector<SharedArray> shared_arrays;  // the static ones that the block has declared
  char *shared_end = nullptr;              // an unmapped page, at which dynamic shared memory ends
};
inline Running &running() { return *static_cast<Running *>(block); }

// Ends the fiber, and with it the block and the launch.
[[gnu::cold, gnu::format(printf, 1, 2)]] void fail(const char *format, ...);

void place_shared(Running &b, size_t bytes);
// Sets b.error where the block has written outside its shared memory.
void check_shared(Running &b, size_t bytes);
void catch_signals();

}  // namespace simt
