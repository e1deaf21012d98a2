// The end of a turn of a captured program's loop: does it go on, and in which direction do its products run?
//
// Caller: backends/cuda/programs/turns.py.  Launch: one thread.
//
// A loop is a WHILE node of a CUDA graph for each direction, PUSH (column-wise) and PULL (row-wise), around turns that
// were captured once; with two directions an outer WHILE node holds both.  The value of a node's handle is read before
// each of its turns, so the kernel that ends a turn writes the handles of all.
#pragma once
#include "base/launch.cuh"

#ifndef SIMT_CPU
// of the device run-time, which NVRTC links without its header
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);
#endif

namespace grb {

enum Direction { PUSH = 0, PULL = 1 };
constexpr int STOP_TURNS = 16;   // a read from the host takes over 1 us

// What the host writes once: the figures of planner/choose_matvec_gpu.DirectionCosts, in their order.
struct DirectionCosts {
  double entries, stored, live, masked, early, look_up, first_look, entry_ns, edge_ns, launch_ns, fixed_ns;

  GRB_DEVICE double open_rows(double admitted) const {
    if (masked == 0) return live;
    admitted = admitted < live ? admitted : live;
    return masked == 1 ? admitted : live - admitted;
  }
  GRB_DEVICE double rows(double edges, double open) const {
    double cost = entries * open / stored;
    if (early != 0) {
      double first = open * entries / (edges > 1 ? edges : 1);
      cost = (first < cost ? first : cost) + first_look * open;
    }
    return (cost * look_up + stored) * entry_ns + fixed_ns;
  }
  GRB_DEVICE double columns(double edges, double count) const {
    return edges * edge_ns + count * entry_ns + launch_ns;
  }
};

// What the device writes: turns run, how many of them PULL, does the loop go on, the next turn's direction, and the
// turns still allowed.
struct TurnState {
  int64_t turns, pulled, goes, direction, left;
};

GRB_DEVICE void set_handle(word handle, bool value) {
#ifndef SIMT_CPU
  if (handle != 0) cudaGraphSetConditional(handle, value);
#endif
}

// Counts the turn that ended (begun: one did), and decides on the next.
//   test, width     the condition, `width` bytes that are not all 0 where it holds; null: it holds
//   stop            page-locked: the host asks for the end; read in every STOP_TURNS-th turn
//   heard           null; or a word of the device, by which the first block passes on what it read of `stop`, where
//                   every block of a persistent kernel runs this for itself, and all must come to the same end
//   count, edges    entries of the vector that the products of a turn multiply, edges at these
//   cleared         null, or `edges`, which becomes 0
//   admitted        entries of the mask's pattern, or null
//   figures         DirectionCosts; null: one direction, that of the state
//   numbers         TurnState; begun false: that of the page-locked `initial`
//   both, push, pull  handles of the nodes, 0 for none
template <int = 0>
__global__ void end_turn(const uint8_t* test, int64_t width, const volatile word* stop, volatile word* heard,
                         const word* count, const word* edges, word* cleared, const word* admitted,
                         const double* figures, int64_t* numbers,
                         const volatile int64_t* initial, bool begun, word both, word push, word pull) {
  if (thread_number() != 0) return;
  auto costs = reinterpret_cast<const DirectionCosts*>(figures);
  auto state = reinterpret_cast<TurnState*>(numbers);
  if (begun) {
    state->turns++;
    state->left--;
    state->pulled += state->direction == PULL;
  } else {
    for (int k = 0; k < int(sizeof(TurnState) / sizeof(int64_t)); k++) numbers[k] = initial[k];
  }
  bool goes = test == nullptr;  // width 0 otherwise: it does not hold
  for (int64_t b = 0; b < width; b++) goes = goes || test[b] != 0;
  const int64_t since = state->turns % STOP_TURNS;
  if (heard == nullptr) goes = goes && (since != 0 || *stop == 0);
  else if (since == 0 && blockIdx.x == 0) *heard = begun ? *stop : 0;
  else if (since == STOP_TURNS / 2) goes = goes && *heard == 0;  // there is a barrier in each of the turns between
  goes = goes && state->left > 0;
  if (costs != nullptr) {
    double met = double(*edges), open = costs->open_rows(admitted ? double(*admitted) : 0);
    state->direction = costs->columns(met, double(*count)) < costs->rows(met, open) ? PUSH : PULL;
    if (cleared != nullptr) *cleared = 0;
  }
  state->goes = goes;
  set_handle(both, goes);
  set_handle(push, goes && state->direction == PUSH);
  set_handle(pull, goes && state->direction == PULL);
}

// What became of the loop, for the host: page-locked words 1 (done), 2 (turns), 3 (turns pulled); and found[k], the
// word or the byte at address told[2 k], of told[2 k + 1] bytes, for k < count.
template <int = 0>
__global__ void tell_host(const int64_t* numbers, volatile word* host, const int64_t* told, int64_t count,
                          volatile word* found) {
  if (thread_number() != 0) return;
  auto state = reinterpret_cast<const TurnState*>(numbers);
  host[2] = word(state->turns);
  host[3] = word(state->pulled);
  for (int64_t k = 0; k < count; k++) {
    const uintptr_t at = uintptr_t(told[2 * k]);
    found[k] = told[2 * k + 1] == 8 ? *reinterpret_cast<const word*>(at) : *reinterpret_cast<const uint8_t*>(at);
  }
#ifdef SIMT_CPU
  __threadfence();
#else
  __threadfence_system();
#endif
  host[1] = 1;
}

}  // namespace grb
