// Kernels as functions of one persistent kernel: included before all else by the source that
// backends/cuda/programs/persistent.py makes.
//
// A __global__ function becomes a __device__ one.  Its grid is that of the step, of step_blocks blocks, which may be
// fewer than the launch has.  What changes from turn to turn must not be read through the path that is read-only for
// the whole launch, so __ldg is a plain load.
#pragma once
#ifdef SIMT_CPU
#define GRB_ENTRY
#define GRB_CONSTANT
#else
#define GRB_ENTRY __attribute__((global)) __attribute__((launch_bounds(1024)))
#define GRB_CONSTANT __grid_constant__
#undef __global__
#define __global__ static __device__ __forceinline__
#undef __launch_bounds__
#define __launch_bounds__(...)
#endif
namespace grb {
static __device__ __forceinline__ unsigned launched_blocks() { return gridDim.x; }
}  // namespace grb
#ifndef SIMT_CPU
namespace grb {
struct StepGrid { unsigned x, y, z; };
__shared__ unsigned step_blocks;
}  // namespace grb
#define gridDim (grb::StepGrid{grb::step_blocks, 1u, 1u})
#define __ldg(address) (*(address))
#endif
