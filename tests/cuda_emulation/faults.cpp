// faults.cpp: what a kernel does outside its memory becomes an error of its launch; a part of engine.so.
#include "running.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdio>
#include <mutex>

namespace simt {

// ---------------------------------------------------------------- shared memory

namespace {
constexpr size_t MOST_SHARED = 256 << 10, PAGE = 4096;
}  // namespace

// Dynamic shared memory ends at an unmapped page, but for what is missing to a multiple of 16 bytes.
void place_shared(Running &b, size_t bytes) {
  if (!b.shared_end) {
    char *region = (char *)mmap(nullptr, MOST_SHARED + PAGE, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    b.shared_end = region + MOST_SHARED;
    mprotect(b.shared_end, PAGE, PROT_NONE);
  }
  b.shared = b.shared_end - (bytes + 15) / 16 * 16;
}

void check_shared(Running &b, size_t bytes) {
  auto check = [&](const char *start, size_t size, size_t after, const char *what) {
    const size_t low = first_change(start - ZONE, ZONE, PATTERN), high = first_change(start + size, after, PATTERN);
    if (b.error || (low == ZONE && high == after)) return;
    snprintf(b.message, sizeof b.message, "block (%u,%u,%u) wrote byte %td of %zu bytes of %s", b.index.x, b.index.y,
             b.index.z, high < after ? ptrdiff_t(size + high) : ptrdiff_t(low) - ptrdiff_t(ZONE), size, what);
    b.error = b.message;
  };
  for (const SharedArray &s : b.shared_arrays) check(s.start, s.size, ZONE, s.name);
  check(b.shared, bytes, size_t(b.shared_end - b.shared) - bytes, "dynamic shared memory");
}

void declare_shared(char *start, size_t size, const char *name) {
  for (SharedArray &known : running().shared_arrays)
    if (known.start == start) return;
  running().shared_arrays.push_back({start, size, name});
  fill(start - ZONE, size + 2 * ZONE, PATTERN);
}

// ---------------------------------------------------------------- faults of a kernel

namespace {

struct sigaction before_ours[NSIG];

// A fiber that faults ends as one that fails: the launch reports it.  Runs on the fiber's stack, which is not used
// again.
void on_signal(int number, siginfo_t *info, void *context) {
  if (!current) {  // not a kernel's: to whoever was there before
    struct sigaction &old = before_ours[number];
    if (old.sa_flags & SA_SIGINFO) return old.sa_sigaction(number, info, context);
    if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) return old.sa_handler(number);
    sigaction(number, &old, nullptr);
    return;
  }
  const uintptr_t code = ((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  Dl_info library{};
  dladdr((void *)code, &library);
  char where[64];
  snprintf(where, sizeof where, " [code %zx]", size_t(code - (uintptr_t)library.dli_fbase));
  Running &b = running();
  const uint32_t thread = current->number;
  if (number == SIGILL)
    fail("block (%u,%u) thread %u: a misaligned access, or an index outside an array of fixed size%s", b.index.x,
         b.index.y, thread, where);
  const uintptr_t address = (uintptr_t)info->si_addr;
  Found f;
  if (address >= (uintptr_t)b.shared_end && address < (uintptr_t)b.shared_end + PAGE)
    fail("block (%u,%u) thread %u: an access to byte %zu of dynamic shared memory, which ends before%s", b.index.x,
         b.index.y, thread, size_t(address - (uintptr_t)b.shared), where);
  if (find(address, f, true))
    fail("block (%u,%u) thread %u: an access to byte %td of an array of %zu bytes <%zx>%s", b.index.x, b.index.y,
         thread, f.at, f.size, size_t(f.start), where);
  fail("block (%u,%u) thread %u: an access to address %zx, which is no array's%s", b.index.x, b.index.y, thread,
       size_t(address), where);
}

}  // namespace

void catch_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction ours{};
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER;
    for (int number : {SIGSEGV, SIGBUS, SIGILL}) sigaction(number, &ours, &before_ours[number]);
  });
}

}  // namespace simt
