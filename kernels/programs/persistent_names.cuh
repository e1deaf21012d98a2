// Kernels as functions of one persistent kernel: included before all else by the source that
// backends/cuda/programs/persistent.py makes.
//
// A __global__ function becomes a __device__ one.  Its grid is that of the step, of step_grid blocks, which may be
// fewer than the launch has; a step that every block runs for itself has one, and this block is its number 0
// (step_block).  chunk_*: the words of 64 positions of this block, where the step divides positions so.
// What changes from turn to turn must not be read through the path that is read-only for the whole launch, so __ldg is
// a plain load.
#pragma once
#define GRB_STEPS 1
#ifdef SIMT_CPU
#define GRB_ENTRY(threads, blocks)
#define GRB_CONSTANT
#define GRB_OF_BLOCK static thread_local
#else
#define GRB_ENTRY(threads, blocks) __attribute__((global)) __attribute__((launch_bounds(threads, blocks)))
#define GRB_CONSTANT __grid_constant__
#define GRB_OF_BLOCK __shared__
#undef __global__
#define __global__ static __device__ __forceinline__
#undef __launch_bounds__
#define __launch_bounds__(...)
#define __ldg(address) (*(address))
#define __ldcs(address) (*(address))  // the next turn reads it again
#endif
namespace grb {
GRB_OF_BLOCK unsigned* step_arrivals;
GRB_OF_BLOCK unsigned step_goal, step_grid, step_block, launched;
GRB_OF_BLOCK long long chunk_words, chunk_first, chunk_end;  // chunk_words: of the whole; 0: no chunks
GRB_OF_BLOCK bool counts_apart;                              // is a count an array with one for each block?
constexpr int NUMBERS = 256;
GRB_OF_BLOCK unsigned long long numbers[NUMBERS];            // of the loop, which each block has for itself
static __device__ __forceinline__ unsigned launched_blocks() { return launched; }
static __device__ __forceinline__ unsigned launched_grid() { return gridDim.x; }
static __device__ __forceinline__ unsigned char* number_at(unsigned offset) {
  return reinterpret_cast<unsigned char*>(numbers) + offset;
}
}  // namespace grb
#ifndef SIMT_CPU
namespace grb {
struct StepGrid { unsigned x, y, z; };
}  // namespace grb
#define gridDim (grb::StepGrid{grb::step_grid, 1u, 1u})
#endif
