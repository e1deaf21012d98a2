"""The CPU emulation itself: it computes what CUDA computes, and finds what CUDA would hang or misbehave on."""

import numpy as np
import pytest

from cuda_emulation.arrays import xp
from cuda_emulation.launcher import EmulatedLauncher, EmulationError

SCAN = """
namespace grb {
template <int = 0>
__global__ void scan(const float* in, float* out, int64_t n) {
  extern __shared__ float part[];
  int t = threadIdx.x;
  part[t] = t < n ? in[t] : 0;
  __syncthreads();
  for (int by = 1; by < blockDim.x; by <<= 1) {
    float v = t >= by ? part[t - by] : 0;
    __syncthreads();
    part[t] += v;
    __syncthreads();
  }
  if (t < n) out[t] = part[t];
}
struct Add { __device__ int64_t operator()(int64_t a, int64_t b) const { return a + b; } };
template <int = 0>
__global__ void total(const int64_t* in, int64_t n, unsigned long long* out, unsigned* barrier, int64_t* seen) {
  __shared__ int64_t part[33];
  int64_t sum = 0;
  GRB_EACH(i, n) sum += in[i];
  sum = block_reduce(sum, Add(), part);
  if (threadIdx.x == 0) atomicAdd(out, (unsigned long long)sum);
  grid_barrier(barrier);
  if (threadIdx.x == 0) seen[blockIdx.x] = *out;
}
template <int = 0>
__global__ void append(const bool* take, int64_t n, int64_t* list, unsigned* count) {
  GRB_EACH(i, (n + 31) / 32 * 32) {
    bool mine = i < n && take[i];
    unsigned place = warp_append(mine, count);
    if (mine) list[place] = i;
  }
}
template <int = 0>
__global__ void places(const int* count, int* place, int* all) {
  __shared__ int scratch[33];
  int total = 0, at = block_exclusive_sum(count[threadIdx.x], total, scratch);
  if (threadIdx.x < 33) scratch[threadIdx.x] = -1000;      // what another use of the memory may write at once
  place[threadIdx.x] = at, all[threadIdx.x] = total;
}
template <int = 0>
__global__ void divided(int* a) {
  if (threadIdx.x < 7) __syncthreads(); else __syncwarp(0xffffffffu);
  a[threadIdx.x] = 1;
}
template <int = 0>
__global__ void exited(int* a) { if (threadIdx.x < 16) a[threadIdx.x] = __shfl_down_sync(0xffffffffu, 1, 1); }
template <int = 0>
__global__ void stranger(int* a) { a[threadIdx.x] = __ballot_sync(0x0000ffffu, 1); }
template <int = 0>
__global__ void race(int* a) {
  __shared__ int s;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  if (threadIdx.x == 3) s = 5;
  a[threadIdx.x] = s;
}
}
"""


def kernel(name, seed=0):
    return EmulatedLauncher(seed=seed).kernel("base/warp.cuh", name, SCAN)


def test_dynamic_shared_memory():
    x = xp.asarray(np.random.default_rng(1).random(200, np.float32))
    y = xp.zeros(200, np.float32)
    kernel("scan")(1, 256, (x, y, 200), shared=1024)
    np.testing.assert_allclose(y.get(), np.cumsum(x.get()), rtol=1e-5)


def test_a_grid_wide_barrier():
    x, total, seen = xp.arange(5000), xp.zeros(1, np.uint64), xp.zeros(3, np.int64)
    kernel("total")(3, 64, (x, 5000, total, xp.zeros(1, np.uint32), seen), cooperative=True)
    assert total[0] == x.sum() and seen.tolist() == [x.sum()] * 3


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_append_by_warps(seed):
    take = np.random.default_rng(seed).random(500) < 0.3
    found, count = xp.zeros(500, np.int64), xp.zeros(1, np.uint32)
    kernel("append", seed).over(512, (xp.asarray(take), 500, found, count))
    assert sorted(found.tolist()[: int(count[0])]) == take.nonzero()[0].tolist()


def test_exclusive_sum_of_a_block():
    """The sums, in 20 orders of the threads; the shared memory may be written again as soon as a thread has its sum."""
    count = np.random.default_rng(2).integers(0, 9, 64).astype(np.int32)
    for seed in range(20):
        place, total = xp.zeros(64, np.int32), xp.zeros(64, np.int32)
        kernel("places", seed)(1, 64, (xp.asarray(count), place, total))
        assert place.tolist() == (np.cumsum(count) - count).tolist() and set(total.tolist()) == {count.sum()}


@pytest.mark.parametrize(
    ("name", "message"),
    [("divided", "deadlock"), ("exited", "exited|deadlock"), ("stranger", "does not name the caller")],
)
def test_broken_synchronisation_is_reported(name, message):
    with pytest.raises(EmulationError, match=message):
        kernel(name)(1, 32, (xp.zeros(64, np.int32),))


def test_seeds_bring_out_a_missing_barrier():
    outcomes = set()
    for seed in range(20):
        a = xp.zeros(64, np.int32)
        kernel("race", seed)(1, 32, (a,))
        outcomes.add(a.tobytes())
    assert len(outcomes) > 3


def test_arguments_are_checked():
    good = xp.zeros(4, np.float32)
    for wrong in [
        (xp.zeros(4), good, 4),
        (np.zeros(4, np.float32), good, 4),
        (good, good, 4.0),
        (good, good),
        (good[::2], good, 4),
        (good, good, np.int32(4)),
    ]:
        with pytest.raises(TypeError):
            kernel("scan")(1, 32, wrong, shared=128)


def test_a_kernel_that_does_not_compile():
    with pytest.raises(EmulationError, match="does not compile"):
        text = "template <int = 0> __global__ void broken(int* a) { a[0] = missing; }"
        EmulatedLauncher().kernel("base/launch.cuh", "broken", text)
