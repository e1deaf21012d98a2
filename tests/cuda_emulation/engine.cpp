// engine.cpp: the fibers of engine.h and the blocks that run them; compiled once, every kernel is linked with it.
#include "running.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#if defined(__x86_64__)
extern "C" void simt_switch(void **save, void *to);
asm(R"(
.text
.globl simt_switch
.hidden simt_switch
.type simt_switch,@function
simt_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size simt_switch,.-simt_switch
)");
#else
#error "the CPU emulation knows x86-64 only: write simt_switch and prime for this machine"
#endif

namespace simt {

thread_local constinit Block *block = nullptr;
thread_local constinit Fiber *current = nullptr;

namespace {

const char *name_of(Operation operation) {
  static const char *names[] = {
    "__syncwarp", "__shfl*_sync", "__ballot/any/all_sync", "__match_any_sync", "__reduce_add_sync", "__reduce_min_sync",
    "__reduce_max_sync", "__reduce_and_sync", "__reduce_or_sync", "__reduce_xor_sync", "__reduce_min_sync",
    "__reduce_max_sync", "__syncthreads"};
  return names[operation];
}

constexpr size_t STACK = 64 << 10;

// ---------------------------------------------------------------- switching

void entry();
void *prime(char *top) {  // a stack from which simt_switch returns into entry()
  uint64_t *s = (uint64_t *)((uintptr_t)top & ~uintptr_t(15));
  *--s = 0;
  *--s = (uint64_t)(void *)&entry;
  for (int i = 0; i < 6; i++) *--s = 0;
  return s;
}

uint32_t next_random(Running &b) {
  b.random = b.random * 6364136223846793005ull + 1442695040888963407ull;
  return b.random >> 33;
}

uint32_t next_lane(Running &b, Warp &warp) {  // one that is ready, which it is no longer
  uint32_t ready = warp.ready, lane;
  if (!b.random) {
    lane = __builtin_ctz(ready);
  } else if (b.descending) {
    lane = 31 - __builtin_clz(ready);
  } else {
    uint32_t turn = next_random(b) & 31;
    ready = ready >> turn | ready << ((32 - turn) & 31);
    lane = (__builtin_ctz(ready) + turn) & 31;
  }
  warp.ready &= ~(1u << lane);
  return lane;
}

void yield() {  // to the next ready lane of this warp, else to the scheduler
  Fiber *me = current;
  Running &b = running();
  b.switches++;
  uint32_t w = me->number >> 5;
  Warp &warp = b.warps[w];
  if (warp.ready && !(b.restless && next_random(b) % 4 == 0)) {
    current = &b.fibers[w * 32 + next_lane(b, warp)];
    simt_switch(&me->stack_pointer, current->stack_pointer);
  } else {
    simt_switch(&me->stack_pointer, b.scheduler);
  }
}

}  // namespace

void fail(const char *format, ...) {
  Running &b = running();
  if (!b.error) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(b.message, sizeof b.message, format, arguments);
    va_end(arguments);
    b.error = b.message;
  }
  current->state = DONE;
  simt_switch(&current->stack_pointer, b.scheduler);
}

namespace {

void wake(Fiber &fiber) {
  fiber.state = READY;
  running().warps[fiber.number >> 5].ready |= 1u << (fiber.number & 31);
}

void release_block() {
  Running &b = running();
  b.arrived = 0;
  uint64_t result = (uint64_t)b.true_count << 2 | (uint64_t)(b.true_count == b.alive) << 1 | (b.true_count > 0);
  for (Fiber &fiber : b.fibers)
    if (fiber.state == IN_BLOCK) {
      fiber.result = result;
      if (&fiber == current) fiber.state = READY; else wake(fiber);
    }
  b.true_count = 0;
}

void entry() {  // where every fiber starts
  Running &b = running();
  b.body(b.argument);
  Fiber *me = current;
  me->state = DONE;
  b.alive--;
  b.warps[me->number >> 5].exited |= 1u << (me->number & 31);
  if (b.alive && b.arrived == b.alive) release_block();  // exited threads no longer count at a barrier
  if (b.alive) yield(); else simt_switch(&me->stack_pointer, b.scheduler);
  __builtin_trap();
}

// ---------------------------------------------------------------- barriers and collectives

}  // namespace

uint64_t barrier(int predicate) {
  current->state = IN_BLOCK;
  current->operation = SYNCTHREADS;
  running().true_count += predicate != 0;
  if (++running().arrived == running().alive) { release_block(); return current->result; }
  yield();
  return current->result;
}

namespace {

// Merges the values of all lanes in `mask`; what SHUFFLE and MATCH_ANY give differs by lane and is set by `deliver`.
uint64_t merge(Operation operation, uint32_t mask, Fiber *lanes) {
  uint64_t result = 0;
  bool first = true;
  for (uint32_t m = mask; m; m &= m - 1, first = false) {
    uint32_t lane = __builtin_ctz(m);
    uint64_t v = lanes[lane].value;
    switch (operation) {
      case BALLOT: result |= (uint64_t)(v != 0) << lane; break;
      case ADD: result += v; break;
      case AND: result = first ? v : result & v; break;
      case OR: result |= v; break;
      case XOR: result ^= v; break;
      case MIN: result = first || v < result ? v : result; break;
      case MAX: result = first || v > result ? v : result; break;
      case MIN_SIGNED: result = first || (int64_t)v < (int64_t)result ? v : result; break;
      case MAX_SIGNED: result = first || (int64_t)v > (int64_t)result ? v : result; break;
      default: break;
    }
  }
  return result;
}

uint64_t deliver(Operation operation, uint32_t mask, Fiber *lanes, const Fiber &to, uint64_t merged) {
  if (operation == SHUFFLE)  // reading a lane outside the mask is undefined in CUDA, and poison here
    return mask >> to.source & 1 ? lanes[to.source].value : 0xDEADBEEFDEADBEEFull;
  if (operation != MATCH_ANY) return merged;
  uint64_t same = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    uint32_t lane = __builtin_ctz(m);
    same |= (uint64_t)(lanes[lane].value == to.value) << lane;
  }
  return same;
}

}  // namespace

uint64_t collective(Operation operation, uint32_t mask, uint64_t value, int source) {
  Fiber *me = current;
  Running &b = running();
  uint32_t w = me->number >> 5, lane = me->number & 31;
  Warp &warp = b.warps[w];
  Fiber *lanes = &b.fibers[w * 32];
  if (!(mask >> lane & 1))
    fail("block (%u,%u) thread %u: %s with mask %08x that does not name the caller", b.index.x, b.index.y, me->number,
         name_of(operation), mask);
  if (mask & warp.exited)
    fail("block (%u,%u) thread %u: %s mask %08x names exited lanes %08x", b.index.x, b.index.y, me->number,
         name_of(operation), mask, mask & warp.exited);
  me->operation = operation;
  me->mask = mask;
  me->value = value;
  me->source = source;
  me->state = IN_WARP;
  warp.waiting |= 1u << lane;
  if ((warp.waiting & mask) == mask) {
    bool agree = true;
    for (uint32_t m = mask; m; m &= m - 1) {
      Fiber &f = lanes[__builtin_ctz(m)];
      agree &= f.mask == mask && f.operation == operation;
    }
    if (agree) {
      uint64_t merged = merge(operation, mask, lanes);
      for (uint32_t m = mask; m; m &= m - 1) {
        Fiber &f = lanes[__builtin_ctz(m)];
        f.result = deliver(operation, mask, lanes, f, merged);
      }
      for (uint32_t m = mask & ~(1u << lane); m; m &= m - 1) wake(lanes[__builtin_ctz(m)]);
      warp.waiting &= ~mask;
      me->state = READY;
      return me->result;
    }
  }
  yield();
  return me->result;
}

// ---------------------------------------------------------------- running blocks

namespace {

// The schedule of a block, where it has a seed: lanes that are ready are drawn, or taken from high to low; warps take
// turns from one that is drawn, each until all of its lanes wait, or, restless, changed at every fourth switch.
void prepare(Running &b) {
  if (b.random) {
    uint32_t kind = next_random(b) % 4;
    b.descending = kind == 0;
    b.restless = kind == 1;
  }
  b.shared_arrays.clear();
  b.alive = b.threads;
  b.arrived = b.true_count = 0;
  for (uint32_t i = 0; i < b.threads; i++) {
    Fiber &f = b.fibers[i];
    f.number = i;
    f.thread = {i % b.block_size.x, i / b.block_size.x % b.block_size.y, i / (b.block_size.x * b.block_size.y)};
    f.state = READY;
    f.stack_pointer = prime(b.stacks + (size_t)(i + 1) * STACK);
  }
  for (uint32_t i = 0; i < b.warps.size(); i++) {
    uint32_t lanes = std::min<uint32_t>(32, b.threads - i * 32);
    uint32_t all = lanes == 32 ? ~0u : (1u << lanes) - 1;
    b.warps[i] = {all, ~all, 0};
  }
}

void report_deadlock(Running &b) {
  int n = snprintf(b.message, sizeof b.message, "deadlock in block (%u,%u,%u):", b.index.x, b.index.y, b.index.z);
  int shown = 0;
  for (Fiber &f : b.fibers)
    if ((f.state == IN_WARP || f.state == IN_BLOCK) && shown++ < 4 && n < 420)
      n += snprintf(b.message + n, sizeof b.message - n, " thread %u in %s mask %08x;", f.number, name_of(f.operation),
                    f.state == IN_WARP ? f.mask : ~0u);
  b.error = b.message;
}

void run_block() {
  Running &b = running();
  prepare(b);
  uint32_t count = b.warps.size();
  for (bool any = true; any && b.alive && !b.error;) {
    any = false;
    uint32_t offset = !b.random ? 0 : b.descending ? count - 1 : next_random(b) % count;
    for (uint32_t i = 0; i < count && !b.error; i++) {
      uint32_t w = (b.descending ? offset - i : i + offset) % count;
      Warp &warp = b.warps[w];
      while (warp.ready && !b.error) {
        any = true;
        current = &b.fibers[w * 32 + next_lane(b, warp)];
        simt_switch(&b.scheduler, current->stack_pointer);
        if (b.restless) break;
      }
    }
  }
  if (b.alive && !b.error) report_deadlock(b);
}

// A block's arrays and stacks are kept for the next launch of any kernel: fresh stacks cost a page
// fault for each thread.
std::mutex spare_lock;
std::vector<std::unique_ptr<Running>> spare;

std::unique_ptr<Running> taken() {
  std::lock_guard guard(spare_lock);
  if (spare.empty()) return std::make_unique<Running>();
  std::unique_ptr<Running> found = std::move(spare.back());
  spare.pop_back();
  return found;
}

void give_back(std::unique_ptr<Running> b) {
  std::lock_guard guard(spare_lock);
  spare.push_back(std::move(b));
}

}  // namespace

void pause() {
  sched_yield();
  if (current && *running().stopped) fail("another block failed");
}

int run(Launch *l, void (*body)(void *), void *argument) {
  uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  uint32_t threads = l->block[0] * l->block[1] * l->block[2];
  std::atomic<uint64_t> next{0}, switches{0};
  std::atomic<int> bad{0};
  std::mutex lock;
  catch_signals();
  std::vector<Found> given;  // the arrays among the arguments
  for (int k = 0; k < l->address_count; k++)
    if (Found found; find(l->addresses[k], found, false)) given.push_back(found);
  const uint64_t first_block = l->seed ? l->seed * 0x9E3779B97F4A7C15ull >> 33 : 0;
  auto work = [&] {
    std::unique_ptr<Running> own = taken();
    Running &b = *own;
    block = &b;
    b.threads = threads;
    b.block_size = dim3(l->block[0], l->block[1], l->block[2]);
    b.grid_size = dim3(l->grid[0], l->grid[1], l->grid[2]);
    b.fibers.resize(threads);
    b.warps.resize((threads + 31) / 32);
    b.switches = 0;
    b.error = nullptr;
    b.argument = argument;
    b.body = body;
    if (b.stack_count < threads) {
      if (b.stacks) munmap(b.stacks, b.stack_count * STACK);
      b.stacks = (char *)mmap(nullptr, threads * STACK, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      b.stack_count = threads;
    }
    b.stopped = &bad;
    b.descending = b.restless = false;
    place_shared(b, l->shared);
    for (uint64_t i; !bad && (i = next++) < blocks;) {
      i = (i + first_block) % blocks;
      b.random = l->seed ? (l->seed * 0x9E3779B97F4A7C15ull + i) | 1 : 0;
      b.index = {(unsigned)(i % l->grid[0]), (unsigned)(i / l->grid[0] % l->grid[1]),
                 (unsigned)(i / ((uint64_t)l->grid[0] * l->grid[1]))};
      fill(b.shared - ZONE, size_t(b.shared_end - b.shared) + ZONE, PATTERN);
      run_block();
      check_shared(b, l->shared);
      if (b.error) {
        std::lock_guard guard(lock);
        if (!bad.exchange(1)) snprintf(l->error, sizeof l->error, "%s", b.error);
      }
    }
    switches += b.switches;
    current = nullptr;
    block = nullptr;
    give_back(std::move(own));
  };
  uint64_t os_threads = l->cooperative ? blocks : std::min<uint64_t>(l->os_threads, blocks);
  std::vector<std::thread> others;
  for (uint64_t t = 1; t < os_threads; t++) others.emplace_back(work);
  work();
  for (std::thread &t : others) t.join();
  l->switches = switches;
  Found damaged;
  for (const Found &array : given)
    if (is_damaged(array.start, damaged) && !bad.exchange(1))
      snprintf(l->error, sizeof l->error, "wrote byte %td of an array of %zu bytes <%zx>", damaged.at, damaged.size,
               size_t(damaged.start));
  return bad;
}

const char *describe(const Kind *kinds, size_t count) {
  std::string *text = new std::string;  // asked for once by each kernel's library
  for (size_t k = 0; k < count; k++) *text += kinds[k].letter + std::to_string(kinds[k].bytes) + " ";
  return text->c_str();
}

}  // namespace simt
