// Values of bitmap blocks in shared memory, two buffers for each warp: one is filled while the other is read.
//
// Who includes it: products/bitblock_rows.cuh.  From sm_90 on a stage is one asynchronous bulk copy, which takes no
//   instructions of the lanes and completes a barrier in shared memory (PTX ISA, cp.async.bulk and mbarrier); before,
//   the lanes copy 16 bytes each.
// Preconditions: a warp calls each function together; the source is aligned to 16 bytes and may be read up to a
//   multiple of 16 bytes.
#pragma once
#include "base/warp.cuh"

#if __CUDA_ARCH__ >= 900 && !defined(SIMT_CPU)
#define GRB_BULK_COPY 1
#endif

namespace grb {

// Byte k of a map.
GRB_DEVICE unsigned byte_of(word map, int k) {
#ifdef SIMT_CPU
  return unsigned(map >> (8 * k)) & 0xff;
#else
  return __byte_perm(unsigned(map), unsigned(map >> 32), k) & 0xff;
#endif
}
struct alignas(16) StagedBlock {
  word map;
  int column;                      // of blocks
  int first;                       // where its values begin in the buffer
};

template <class A, bool HAS_VALUES> struct BlockStaging {
  static constexpr int ITEM = int(sizeof(A)), STAGE = ITEM <= 4 ? 16 : ITEM == 8 ? 8 : 4;  // blocks: 4 KiB of values
  static constexpr int BYTES = HAS_VALUES ? STAGE * 64 * ITEM + 32 : 16;
  alignas(16) unsigned char buffers[2][BYTES];
  StagedBlock blocks[STAGE + 4];   // four more, which are decoded in advance and not used
  word barriers[2];

  // Loads by addresses of 32 bits, which the compiler keeps in registers: it computes those of shared arrays anew for
  // each access.
#ifdef SIMT_CPU
  using Address = const unsigned char*;
  GRB_DEVICE Address window() const { return reinterpret_cast<const unsigned char*>(this); }
  template <class T> static GRB_DEVICE T load(Address at) { T value; memcpy(&value, at, sizeof(T)); return value; }
#else
  using Address = unsigned;
  GRB_DEVICE Address window() const {
    unsigned at = address(this);
    asm volatile("" : "+r"(at));
    return at;
  }
  template <class T> static GRB_DEVICE T load(Address at) {
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
#endif
  static GRB_DEVICE StagedBlock block_at(Address window, int k) {
    return load<StagedBlock>(window + (2 * BYTES + k * int(sizeof(StagedBlock))));
  }
  static GRB_DEVICE Address value_at(Address window, int buffer, int k) { return window + (buffer * BYTES + k * ITEM); }

  GRB_DEVICE void open() {
#ifdef GRB_BULK_COPY
    if (lane_number() == 0) {
      for (int b = 0; b < 2; b++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&barriers[b])));
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
#endif
    if (lane_number() < 4) blocks[STAGE + lane_number()] = StagedBlock{0, 0, 0};
    __syncwarp();
  }
  // Begins to copy values[first .. first + count - 1] to a buffer; returns where the first of them will be.
  GRB_DEVICE int copy(int buffer, const A* values, int64_t first, int count) {
    constexpr int EACH = ITEM < 16 ? 16 / ITEM : 1;  // values in 16 bytes
    const int skew = int(first % EACH), bytes = (skew + count + EACH - 1) / EACH * EACH * ITEM;
    const A* from = values + (first - skew);
#ifdef GRB_BULK_COPY
    if (lane_number() == 0) {
      const unsigned barrier = address(&barriers[buffer]);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       address(buffers[buffer])),
                   "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
                   : "memory");
    }
#else
    for (int k = lane_number(); k < bytes / 16; k += 32)
      reinterpret_cast<ulonglong2*>(buffers[buffer])[k] = reinterpret_cast<const ulonglong2*>(from)[k];
#endif
    return skew;
  }
  // Until a copy to a buffer has arrived; parity: of the number of copies to it before.
  GRB_DEVICE void wait(int buffer, unsigned parity) {
#ifdef GRB_BULK_COPY
    const unsigned barrier = address(&barriers[buffer]);
    unsigned done = 0;
    while (!done) {
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(barrier), "r"(parity)
          : "memory");
    }
#endif
    __syncwarp();
  }
#ifndef SIMT_CPU
  static GRB_DEVICE unsigned address(const void* shared) { return unsigned(__cvta_generic_to_shared(shared)); }
#endif
};

}  // namespace grb
