// Arrivals of ranks at an exchange, in memory of each device that the others can write to.
//
// Caller: backends/distributed/peers.py.  Launch: one block of a warp.
//
// flags[r] is the address of rank r's arrivals, a word for each rank, ARRIVAL_WORDS apart: the number of the last
// exchange for which that rank's data is here.  Data is copied before, in the order of the stream; numbers wrap around.
#pragma once
#include "base/launch.cuh"

namespace grb {

constexpr int ARRIVAL_WORDS = 32;  // 128 bytes: what two devices write lies in different sectors

GRB_DEVICE void arrive(unsigned* flag, unsigned number) {
#ifdef SIMT_CPU
  __threadfence();
  atomicExch(flag, number);
#else
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(number) : "memory");
#endif
}

GRB_DEVICE unsigned arrived(unsigned* flag) {
#ifdef SIMT_CPU
  unsigned found = atomicAdd(flag, 0u);
  __threadfence();
#else
  unsigned found;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(found) : "l"(flag) : "memory");
#endif
  return found;
}

// TELL: tell the other ranks that this one's data of exchange `number` is there.  WAIT: wait until theirs is here.
// stop: a word of the host that ends the wait when it is not 0.
template <bool TELL, bool WAIT>
__global__ void arrive_and_wait(const uint64_t* flags, int size, int rank, unsigned number, const uint64_t* stop) {
  for (int other = threadIdx.x; TELL && other < size; other += blockDim.x)
    if (other != rank) arrive(reinterpret_cast<unsigned*>(flags[other]) + rank * ARRIVAL_WORDS, number);
  __syncthreads();  // no thread waits before all have told
  for (int other = threadIdx.x; WAIT && other < size; other += blockDim.x) {
    if (other == rank) continue;
    unsigned* flag = reinterpret_cast<unsigned*>(flags[rank]) + other * ARRIVAL_WORDS;
    while (int(arrived(flag) - number) < 0) {
      if (*reinterpret_cast<const volatile uint64_t*>(stop) != 0) return;
      __nanosleep(100);
    }
  }
}

}  // namespace grb
