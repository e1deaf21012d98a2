// A loop of a program as one persistent kernel: the launches of a turn one after the other, with barriers between.
//
// Who includes it: the source that backends/cuda/programs/persistent.py makes, after the headers of all steps; it
//   defines run_turns.
// Step<kernel>::run(words)   the kernel, called as a function; an argument has 8 bytes, as a launch packs them
// Turns                      the blocks of the launch, those of a step, barriers
// Launch: cooperative, as many blocks as LAUNCH of persistent.py says.
#pragma once
#include "graph/level_loop.cuh"
#include "programs/turns.cuh"

namespace grb {

template <int N> struct Words { word of[N]; };  // the only parameter: in constant memory

template <int... K> struct Numbers {};
template <int N, int... K> struct Upto : Upto<N - 1, N - 1, K...> {};
template <int... K> struct Upto<0, K...> { using type = Numbers<K...>; };

// An argument of type P from its words: a struct has as many as it needs, all else one.
template <class P> struct Argument {
  static GRB_DEVICE P from(const word* w) {
    P value;
    memcpy(&value, w, sizeof(P));
    return value;
  }
};
template <class P> struct Argument<P*> {
  static GRB_DEVICE P* from(const word* w) { return reinterpret_cast<P*>(uintptr_t(*w)); }
};
template <> struct Argument<bool> {
  static GRB_DEVICE bool from(const word* w) { return (*w & 0xff) != 0; }
};

template <auto KERNEL> struct Step;
template <class... P, void (*KERNEL)(P...)> struct Step<KERNEL> {
  template <int... K> static GRB_DEVICE void call(const word* w, Numbers<K...>) {
    KERNEL(Argument<P>::from(w + K)...);
  }
  static GRB_DEVICE void run(const word* w) { call(w, typename Upto<sizeof...(P)>::type()); }
};

struct TurnsControl { unsigned arrivals, departures; };  // zero between launches

struct Turns {
  TurnsControl* control;
  const volatile TurnState* state;
  unsigned blocks, of_step = 0;
  int64_t marked = 0;

  GRB_DEVICE Turns(word control, word state)
      : control(reinterpret_cast<TurnsControl*>(uintptr_t(control))),
        state(reinterpret_cast<const volatile TurnState*>(uintptr_t(state))), blocks(launched_grid()) {
    if (threadIdx.x == 0) step_arrivals = &this->control->arrivals, step_goal = 0, launched = blocks;
  }
  // The steps from here on have at most `most` blocks.  Every thread of the launch calls.
  GRB_DEVICE void set_blocks(unsigned most) {
    const unsigned wanted = most < blocks ? most : blocks;
    __syncthreads();
    if (wanted != of_step && threadIdx.x == 0) {
#ifdef SIMT_CPU
      gridDim.x = wanted;
#else
      step_grid = wanted;
#endif
    }
    of_step = wanted;
    __syncthreads();
  }
  GRB_DEVICE bool has_part() const { return blockIdx.x < of_step; }
  GRB_DEVICE void barrier() { step_barrier(); }
  // Is there another turn, and is it a push?  After a barrier; one thread of a block reads, because the reads of one
  // address take turns.
  GRB_DEVICE bool next(bool& pushes) {
    __shared__ int64_t found[2];
    if (threadIdx.x == 0) found[0] = state->goes, found[1] = state->direction;
    __syncthreads();
    pushes = found[1] == PUSH;
    return found[0] != 0;
  }
  // Adds the cycles since the call before to cycles[k].
  GRB_DEVICE void mark(word cycles, int k) {
    if (!is_first_thread()) return;
    const int64_t now = clock64();
    if (k >= 0) reinterpret_cast<int64_t*>(uintptr_t(cycles))[k] += now - marked;
    marked = now;
  }
  GRB_DEVICE void leave() {
    if (is_last_to_leave(&control->departures, blocks)) control->arrivals = control->departures = 0;
  }
};

}  // namespace grb
