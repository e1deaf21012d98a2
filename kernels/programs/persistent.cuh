// A loop of a program as one persistent kernel: the launches of a turn one after the other, with barriers between.
//
// Who includes it: the source that backends/cuda/programs/persistent.py makes, after the headers of all steps; it
//   defines run_turns.
// Step<kernel>::run(words)   the kernel, called as a function; an argument has 8 bytes, as a launch packs them
// Turns                      the blocks of the launch, those of a step, their chunks and numbers, barriers
// Launch: cooperative, as many blocks as LAUNCH of persistent.py says.
#pragma once
#include "graph/level_loop.cuh"
#include "programs/turns.cuh"

namespace grb {

template <int N> struct Words { word of[N]; };  // the only parameter: in constant memory

template <int... K> struct Numbers {};
template <int N, int... K> struct Upto : Upto<N - 1, N - 1, K...> {};
template <int... K> struct Upto<0, K...> { using type = Numbers<K...>; };

// Addresses of this block's numbers are offsets with this tag, which no address of the device has.
constexpr unsigned OWN_NUMBER = 0x70;
GRB_DEVICE void* address_of(word w) {
  if (unsigned(w >> 56) == OWN_NUMBER) return number_at(unsigned(w));
  return reinterpret_cast<void*>(uintptr_t(w));
}

// An argument of type P from its words: a struct has as many as it needs, all else one.  OWN: is what a pointer points
// to this block's number?  Where that is known no instruction asks for it, and the compiler knows the memory.
template <class P> struct Argument {
  template <bool OWN> static GRB_DEVICE P from(const word* w) {
    P value;
    memcpy(&value, w, sizeof(P));
    return value;
  }
};
template <class P> struct Argument<P*> {
  template <bool OWN> static GRB_DEVICE P* from(const word* w) {
    if constexpr (OWN) {
      return reinterpret_cast<P*>(number_at(unsigned(*w)));
    } else {
      P* found = reinterpret_cast<P*>(uintptr_t(*w));
#ifndef SIMT_CPU
      __builtin_assume(__isGlobal(const_cast<const void*>(reinterpret_cast<const volatile void*>(found))));
#endif
      return found;
    }
  }
};
template <> struct Argument<bool> {
  template <bool OWN> static GRB_DEVICE bool from(const word* w) { return (*w & 0xff) != 0; }
};

// OWN: bit k for argument k.
template <auto KERNEL> struct Step;
template <class... P, void (*KERNEL)(P...)> struct Step<KERNEL> {
  template <word OWN, int... K> static GRB_DEVICE void call(const word* w, Numbers<K...>) {
    KERNEL(Argument<P>::template from<(OWN >> K & 1) != 0>(w + K)...);
  }
  template <word OWN> static GRB_DEVICE void run(const word* w) { call<OWN>(w, typename Upto<sizeof...(P)>::type()); }
};

// One position of a step among those of a fused pass: AT(k, arguments), each argument from the word of its number.
template <auto AT> struct Item;
template <class R, class... P, R (*AT)(int64_t, P...)> struct Item<AT> {
  template <word OWN, int... WORD, int... K>
  static GRB_DEVICE R call(const word* w, int64_t k, Numbers<WORD...>, Numbers<K...>) {
    return AT(k, Argument<P>::template from<(OWN >> K & 1) != 0>(w + WORD)...);
  }
  template <word OWN, int... WORD> static GRB_DEVICE R at(const word* w, int64_t k) {
    return call<OWN>(w, k, Numbers<WORD...>(), typename Upto<sizeof...(P)>::type());
  }
};

struct TurnsControl { unsigned arrivals, departures; };  // zero between launches

constexpr unsigned EVERY = 0;  // in place of a number of blocks: each block runs the step for itself

// The first 8 of some bytes, in a register.
GRB_DEVICE word read_bytes(const uint8_t* from, int bytes) {
  if (bytes >= 8) return *reinterpret_cast<const word*>(from);
  word found = 0;
  GRB_LOOP for (int b = 0; b < bytes; b++) found |= word(from[b]) << 8 * b;
  return found;
}
GRB_DEVICE void write_bytes(uint8_t* to, word value, int bytes) {
  if (bytes >= 8) *reinterpret_cast<word*>(to) = value;
  else
    GRB_LOOP for (int b = 0; b < bytes; b++) to[b] = uint8_t(value >> 8 * b);
}

// What a step's blocks are.  grid: how many; words: of 64 positions, of which this block has first .. end - 1 (0: no
// chunks); apart: has each block a count of its own?
struct Shape {
  unsigned grid, block, words, first, end;
  bool apart;
};
GRB_OF_BLOCK Shape shapes[16];

// shapes[k] for at most `most` blocks.  Every thread calls.
GRB_DEVICE void make_shape(int k, unsigned most, unsigned words, bool apart) {
  if (threadIdx.x != 0) return;
  const unsigned each = (words + launched - 1) / launched, first = blockIdx.x * each;
  shapes[k] = {most == EVERY ? 1 : most < launched ? most : launched, most == EVERY ? 0 : blockIdx.x, words,
               first < words ? first : words, first + each < words ? first + each : words, apart};
}
// The next step's.  Every thread calls, and sees what the step before did in its block.
GRB_DEVICE void set_shape(int k) {
  __syncthreads();
  if (threadIdx.x == 0) {
#ifdef SIMT_CPU
    gridDim.x = shapes[k].grid;
#else
    step_grid = shapes[k].grid;
#endif
    step_block = shapes[k].block;
    counts_apart = shapes[k].apart;
    chunk_words = shapes[k].words, chunk_first = shapes[k].first, chunk_end = shapes[k].end;
  }
  __syncthreads();
}

// copy_arrays (programs/copy.cuh) of numbers, of at most 64 bytes each, from its arguments: by one warp, 8 bytes of a
// lane in each half of the copies.
static __device__ __noinline__ void copy_numbers(const word* w) {
  if ((w[1] != 0 && !*static_cast<const bool*>(address_of(w[1])))) return;
  const unsigned first = (lane_number() & 7) * 8;
  word held[2];
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const word* copy = w + 2 + (half * 4 + (lane_number() >> 3)) * 4;
    held[half] = copy[3];
    if (copy[1] != 0 && copy[2] > first)
      held[half] = read_bytes(static_cast<const uint8_t*>(address_of(copy[1])) + first, int(copy[2] - first));
  }
  __syncwarp();
#pragma unroll
  for (int half = 0; half < 2; half++) {
    const word* copy = w + 2 + (half * 4 + (lane_number() >> 3)) * 4;
    if (copy[2] > first)
      write_bytes(static_cast<uint8_t*>(address_of(copy[0])) + first, held[half], int(copy[2] - first));
  }
}
static __device__ __noinline__ void turn_barrier() { step_barrier(); }

struct Turns {
  TurnsControl* control;
  const volatile TurnState* state;
  int64_t marked = 0;

  GRB_DEVICE Turns(word control, word state)
      : control(static_cast<TurnsControl*>(address_of(control))),
        state(static_cast<const volatile TurnState*>(address_of(state))) {
    if (threadIdx.x == 0) step_arrivals = &this->control->arrivals, step_goal = 0, launched = launched_grid();
    __syncthreads();
  }
  // Is there another turn, and is it a push?
  GRB_DEVICE bool next(bool& pushes) {
    __syncthreads();
    pushes = state->direction == PUSH;
    return state->goes != 0;
  }
  // Adds the cycles since the call before to cycles[k].
  GRB_DEVICE void mark(word cycles, int k) {
    if (!is_first_thread()) return;
    const int64_t now = clock64();
    if (k >= 0) reinterpret_cast<int64_t*>(uintptr_t(cycles))[k] += now - marked;
    marked = now;
  }
  // The block's own numbers: list[3 k] the address, list[3 k + 1] the tagged offset, list[3 k + 2] bytes of each.
  GRB_DEVICE void load_numbers(const word* list, int count) {
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += blockDim.x) memcpy_bytes(list[3 * k + 1], list[3 * k], list[3 * k + 2]);
    __syncthreads();
  }
  GRB_DEVICE void store_numbers(const word* list, int count) {
    __syncthreads();
    for (int k = threadIdx.x; blockIdx.x == 0 && k < count; k += blockDim.x)
      memcpy_bytes(list[3 * k], list[3 * k + 1], list[3 * k + 2]);
    __syncthreads();
  }
  static GRB_DEVICE void memcpy_bytes(word to, word from, word bytes) {
    auto source = static_cast<const volatile uint8_t*>(address_of(from));
    auto target = static_cast<uint8_t*>(address_of(to));
    for (word b = 0; b < bytes; b++) target[b] = source[b];
  }
  GRB_DEVICE void leave() {
    if (is_last_to_leave(&control->departures, launched)) control->arrivals = control->departures = 0;
  }
};

}  // namespace grb
