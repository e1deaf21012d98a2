// Shared memory by address, and copies to it that go on while a kernel computes.
//
// Who includes it: products/bitblock_stage.cuh, products/segment_sum.cuh.
#pragma once
#include "base/warp.cuh"

#if __CUDA_ARCH__ >= 800 && !defined(SIMT_CPU)
#define GRB_ASYNC_COPY 1
#endif

namespace grb {

// Shared memory by 32-bit addresses, which the compiler keeps in registers; it computes the addresses of shared arrays
// for each access.  In the CPU emulation an address is an offset in bytes from the window.
struct SharedWindow {
#ifdef SIMT_CPU
  unsigned char* memory;
  GRB_DEVICE explicit SharedWindow(void* start) : memory(static_cast<unsigned char*>(start)) {}
  GRB_DEVICE unsigned start() const { return 0; }
  template <class T> GRB_DEVICE T load(unsigned place) const {
    T value;
    memcpy(&value, memory + place, sizeof(T));
    return value;
  }
  template <class T> GRB_DEVICE void store(unsigned place, const T& value) const {
    memcpy(memory + place, &value, sizeof(T));
  }
  template <class T> GRB_DEVICE void load_four(unsigned place, T* to) const {
    memcpy(to, memory + place, 4 * sizeof(T));
  }
#else
  unsigned from;
  GRB_DEVICE explicit SharedWindow(void* start) : from(unsigned(__cvta_generic_to_shared(start))) {
    asm volatile("" : "+r"(from));
  }
  GRB_DEVICE unsigned start() const { return from; }
  template <class T> GRB_DEVICE T load(unsigned at) const {
    registers_of<T> to;
    if constexpr (sizeof(T) == 1) {
      asm volatile("ld.shared.u8 %0, [%1];" : "=r"(to.part[0]) : "r"(at) : "memory");
    } else if constexpr (sizeof(T) == 2) {
      asm volatile("ld.shared.u16 %0, [%1];" : "=r"(to.part[0]) : "r"(at) : "memory");
    } else if constexpr (sizeof(T) == 4) {
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(to.part[0]) : "r"(at) : "memory");
    } else if constexpr (sizeof(T) == 8) {
      asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(to.part[0]), "=r"(to.part[1]) : "r"(at) : "memory");
    } else {
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(to.part[0]), "=r"(to.part[1]), "=r"(to.part[2]), "=r"(to.part[3])
                   : "r"(at)
                   : "memory");
    }
    return from_registers<T>(to);
  }
  // Four neighbours, by as few loads as there are 16 bytes.
  template <class T> GRB_DEVICE void load_four(unsigned at, T* to) const {
    constexpr int SOME = sizeof(T) <= 4 ? 4 : 16 / int(sizeof(T));
    struct Some { T v[SOME]; };
#pragma unroll
    for (int j = 0; j < 4; j += SOME) {
      const Some some = load<Some>(at + j * int(sizeof(T)));
#pragma unroll
      for (int u = 0; u < SOME; u++) to[j + u] = some.v[u];
    }
  }
  template <class T> GRB_DEVICE void store(unsigned at, const T& value) const {
    const registers_of<T> p = to_registers(value);
    if constexpr (sizeof(T) == 1) {
      asm volatile("st.shared.u8 [%0], %1;" ::"r"(at), "r"(p.part[0]) : "memory");
    } else if constexpr (sizeof(T) == 2) {
      asm volatile("st.shared.u16 [%0], %1;" ::"r"(at), "r"(p.part[0]) : "memory");
    } else if constexpr (sizeof(T) == 4) {
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(p.part[0]) : "memory");
    } else if constexpr (sizeof(T) == 8) {
      asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(at), "r"(p.part[0]), "r"(p.part[1]) : "memory");
    } else {
      asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(p.part[0]), "r"(p.part[1]),
                   "r"(p.part[2]), "r"(p.part[3])
                   : "memory");
    }
  }
#endif
};

// Begins to copy a value to shared memory; copies_arrived: all that this lane began have arrived.  Without the
// instruction, before sm_80 and for less than 4 bytes, it is a load and a store.
template <class T> GRB_DEVICE void copy_to(const SharedWindow& window, unsigned place, const T* from) {
#ifdef GRB_ASYNC_COPY
  if constexpr (sizeof(T) >= 4) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place),
                 "l"(__cvta_generic_to_global(reinterpret_cast<const void*>(from))), "n"(sizeof(T))
                 : "memory");
    return;
  }
#endif
  window.store(place, *from);
}
GRB_DEVICE void copies_arrived() {
#ifdef GRB_ASYNC_COPY
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace grb
