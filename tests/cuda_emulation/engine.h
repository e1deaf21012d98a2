// engine.h: runs a CUDA kernel's threads as fibers on the CPU.
//
// Every thread of a block is a fiber with its own small stack.  Fibers switch only at barriers and warp collectives, so
// a kernel that synchronises correctly computes what a GPU computes, and one that does not is found out:
//   - a barrier or a collective that some thread never reaches is reported as a deadlock, with who waits where;
//   - a mask that leaves out the caller or names exited lanes is reported;
//   - a shuffle from a lane outside the mask returns a poison value; dynamic shared memory starts as 0xA5;
//   - with a seed the fibers run in another order, which brings out a missing __syncthreads.
// Blocks are spread over OS threads; a block stays on one.  A cooperative launch gives each block an OS thread of its
// own, so that a grid-wide barrier may spin.  Not modelled: memory order between blocks, races inside one statement.
//
// What a kernel's source needs is here; the rest, engine.cpp, is compiled once and shared by all kernels.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <utility>

struct uint3 { unsigned x, y, z; };
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};

#pragma GCC visibility push(default)
namespace simt {

enum State : uint8_t { READY, IN_WARP, IN_BLOCK, DONE };
enum Operation : uint8_t {
  SYNCWARP, SHUFFLE, BALLOT, MATCH_ANY, ADD, MIN, MAX, AND, OR, XOR, MIN_SIGNED, MAX_SIGNED, SYNCTHREADS
};
struct Fiber {
  void *stack_pointer;
  uint3 thread;
  uint32_t number, mask;
  State state;
  Operation operation;
  int source;
  uint64_t value, result;
};
struct Block {  // the block that an OS thread is running, as kernels see it
  dim3 block_size, grid_size;
  uint3 index;
  char *shared = nullptr;
};
extern thread_local constinit Block *block;
extern thread_local constinit Fiber *current;

uint64_t barrier(int predicate);
uint64_t collective(Operation operation, uint32_t mask, uint64_t value, int source = 0);

// Called where a kernel waits for another block: ends the fiber if that block has failed.
void pause();

// Called at the declaration of a __shared__ variable: guards and fills it, once in a block.
struct SharedArray { char *start; size_t size; const char *name; };
void declare_shared(char *start, size_t size, const char *name);

struct Launch {  // what Python hands over
  unsigned grid[3], block[3];
  uint64_t shared, seed, switches;
  int os_threads, cooperative;
  const uint64_t *addresses;       // what among the arguments may be an address
  int address_count;
  char error[512];
};
int run(Launch *l, void (*body)(void *), void *argument);

struct Kind { char letter; unsigned bytes; };  // p4: pointer to 4-byte elements; i8, f4, b1; s16: something else
const char *describe(const Kind *kinds, size_t count);

}  // namespace simt
#pragma GCC visibility pop

namespace simt {

template <class... A, size_t... I> inline void call(void (*kernel)(A...), void **a, std::index_sequence<I...>) {
  kernel(*(std::decay_t<A> *)a[I]...);
}

// The C library makes a thread's copy of this kernel's thread-local (__shared__) variables at the first access to one,
// and releases before glibc 2.40 do not keep vector registers meanwhile: here, before the kernel has anything in them.
static thread_local char first_access;
[[gnu::noinline]] static void touch_thread_locals() { *(volatile char *)&first_access = 1; }

template <class... A> inline int launch(void (*kernel)(A...), Launch *l, void **arguments) {
  struct Context { void (*kernel)(A...); void **arguments; } context{kernel, arguments};
  auto body = [](void *p) {
    touch_thread_locals();
    auto *c = (Context *)p;
    call(c->kernel, c->arguments, std::index_sequence_for<A...>{});
  };
  return run(l, body, &context);
}

// A __shared__ variable between guard zones.  Its
// address is a multiple of ALIGNMENT, but of no greater power of 2 below 16.
template <class T, size_t ALIGNMENT = alignof(T)> struct alignas(ALIGNMENT < 16 ? 16 : ALIGNMENT) Guarded {
  unsigned char before[64 + (ALIGNMENT < 16 ? ALIGNMENT : 0)];
  alignas(ALIGNMENT) T value;
  unsigned char after[64];
};
template <class T, size_t ALIGNMENT> inline T &guard(Guarded<T, ALIGNMENT> &g, const char *name) {
  declare_shared((char *)&g.value, sizeof(T), name);
  return g.value;
}

// ---------------------------------------------------------------- what a kernel wants, for checks in Python

template <class T> constexpr Kind kind_of() {
  using U = std::remove_cv_t<std::remove_reference_t<T>>;
  if constexpr (std::is_pointer_v<U>) {
    using E = std::remove_cv_t<std::remove_pointer_t<U>>;
    if constexpr (std::is_void_v<E>) return {'p', 0}; else return {'p', sizeof(E)};
  } else {
    return {std::is_same_v<U, bool> ? 'b' : std::is_floating_point_v<U> ? 'f' : std::is_integral_v<U> ? 'i' : 's',
            sizeof(U)};
  }
}
template <class... A> const char *signature(void (*)(A...)) {
  static constexpr Kind kinds[] = {kind_of<A>()..., Kind{}};
  return describe(kinds, sizeof...(A));
}

}  // namespace simt
