// A warp's window of shared memory over bitmap blocks: values, double-buffered; maps with the addresses of their
// values; x at the columns.
//
// Who includes it: products/bitblock_rows.cuh.  A stage is STAGE consecutive blocks.  From sm_90 on its values are one
//   asynchronous bulk copy, which takes no instructions of the lanes and completes a barrier in shared memory (PTX ISA,
//   cp.async.bulk and mbarrier); before, the lanes copy 16 bytes each.
// Layout of a warp's window, whose size backends/cuda/products/bitblocks.py computes (`bytes`: of a buffer, for the
//   stage with the most values):  2 x 2 x (STAGE halves of blocks, 16 bytes) | 2 x (x, 8 STAGE values | columns, STAGE
//   int | presence of x, STAGE / 4 words of 32 bits) | maps and codes of the next stage, base | 2 barriers | 2 buffers
// Preconditions: a warp calls each function together; the source is aligned to 16 bytes and may be read up to a
//   multiple of 16 bytes.
#pragma once
#include "base/async_copy.cuh"

#if __CUDA_ARCH__ >= 900 && !defined(SIMT_CPU)
#define GRB_BULK_COPY 1
#endif

namespace grb {

// Half of a map, four columns, and where its first value is.
struct alignas(8) HalfBlock {
  unsigned map, place;
};
struct alignas(16) HalfPair {
  HalfBlock of[2];
};

// V: values as they are stored; X: of the vector.
template <class V, class X, int STAGE> struct BlockStaging : SharedWindow {
  static constexpr int ITEM = int(sizeof(V)), HALVES = STAGE * int(sizeof(HalfBlock)) + 16, RECORDS = 2 * HALVES;
  static constexpr int XS = STAGE * 8 * int(sizeof(X)), COLUMNS = XS + STAGE * 4 + STAGE, AHEAD = STAGE * 12 + 16;
  static constexpr int FIXED = 2 * RECORDS + 2 * COLUMNS + AHEAD + 16;
  const unsigned bytes;            // of a buffer
  GRB_DEVICE BlockStaging(unsigned char* memory, int warp, unsigned bytes)
      : SharedWindow(memory + warp * (2 * bytes + FIXED)), bytes(bytes) {}
  // The lower halves of all blocks, then the upper ones, 16 bytes further than they need, so that a load of two of each
  // meets no bank twice.
  GRB_DEVICE unsigned record_at(int buffer, int half, int block) const {
    return start() + buffer * RECORDS + half * HALVES + block * int(sizeof(HalfBlock));
  }
  // x at column c of a quad's four blocks, side by side.
  GRB_DEVICE unsigned x_at(int buffer, int quad, int c) const {
    return start() + 2 * RECORDS + buffer * COLUMNS + (32 * quad + 4 * c) * int(sizeof(X));
  }
  GRB_DEVICE unsigned column_at(int buffer, int block) const { return x_at(buffer, 0, 0) + XS + block * 4; }
  GRB_DEVICE unsigned presence_at(int buffer, int quad) const { return column_at(buffer, STAGE) + quad * 4; }
  GRB_DEVICE unsigned map_at(int block) const { return start() + 2 * RECORDS + 2 * COLUMNS + block * 8; }
  GRB_DEVICE unsigned code_at(int byte) const { return map_at(STAGE) + byte; }
  GRB_DEVICE unsigned base_at() const { return code_at(STAGE * 4); }
  GRB_DEVICE unsigned barrier_at(int buffer) const { return base_at() + 16 + buffer * 8; }
  GRB_DEVICE unsigned buffer_at(int buffer) const { return start() + FIXED + buffer * bytes; }

  GRB_DEVICE void open() const {
#ifdef GRB_BULK_COPY
    if (lane_number() == 0) {
      for (int b = 0; b < 2; b++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier_at(b)));
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
#endif
    __syncwarp();
  }
  // Begins to copy `count` values to a buffer; returns the place of the first.
  GRB_DEVICE unsigned copy(int buffer, const V* values, int count) const {
    const uintptr_t first = reinterpret_cast<uintptr_t>(values);
    const unsigned skew = unsigned(first) & 15, size = (skew + count * ITEM + 15) & ~15u;
    const uintptr_t from = first - skew;
#ifdef GRB_BULK_COPY
    if (lane_number() == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier_at(buffer)), "r"(size)
                   : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                       buffer_at(buffer)),
                   "l"(__cvta_generic_to_global(reinterpret_cast<const void*>(from))), "r"(size),
                   "r"(barrier_at(buffer))
                   : "memory");
    }
#else
    for (unsigned k = lane_number(); k < size / 16; k += 32)
      store(buffer_at(buffer) + k * 16, reinterpret_cast<const ulonglong2*>(from)[k]);
#endif
    return buffer_at(buffer) + skew;
  }
  // Until a copy to a buffer has arrived; parity: of the number of copies to it before.
  GRB_DEVICE void wait(int buffer, unsigned parity) const {
#ifdef GRB_BULK_COPY
    const unsigned barrier = barrier_at(buffer);
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
};

}  // namespace grb
