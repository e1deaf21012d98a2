"""The CPU emulation notices what a kernel does outside its memory, and says which kernel, argument and byte."""

import numpy as np
import pytest

from cuda_emulation import memory, schedule
from cuda_emulation.arrays import xp
from cuda_emulation.backend import EMULATED
from cuda_emulation.launcher import EmulatedLauncher, EmulationError
from support import seeds

pytestmark = pytest.mark.skipif(not EMULATED, reason="compute-sanitizer has these on a device")
SOURCE = """
namespace grb {
template <int = 0> __global__ void put(int* a, int64_t at) { if (threadIdx.x == 0) a[at] = 7; }
template <int = 0> __global__ void get(const int* a, int64_t at, int* out) { out[0] = a[at]; }
template <int = 0> __global__ void load4(const int* a, int64_t at, int* out) {
  out[0] = reinterpret_cast<const int4*>(a + at)->w;
}
template <int = 0> __global__ void load2(const int* a, int64_t at, int* out) {
  out[0] = reinterpret_cast<const int2*>(a + at)->y;
}
GRB_DEVICE void put_behind(int* list, int64_t at) { list[at] = 7; }
template <int = 0> __global__ void shared(int64_t at) {
  __shared__ int before[5], list[32];
  if (threadIdx.x == 0) put_behind(list, at), put_behind(before, 4);
}
template <int = 0> __global__ void dynamic(int64_t at, int* out) {
  extern __shared__ int list[];
  if (threadIdx.x == 0) list[at] = 7, out[0] = list[0];
}
template <int = 0> __global__ void fixed(int64_t at, int* out) {
  __shared__ int list[32];
  out[0] = list[at];
}
template <int = 0> __global__ void unset(int* out) {
  __shared__ int list[4];
  extern __shared__ int more[];
  out[threadIdx.x] = threadIdx.x < 4 ? list[threadIdx.x] : more[threadIdx.x];
}
template <int = 0> __global__ void waits(int64_t address, unsigned* barrier) {
  if (blockIdx.x == 1) *reinterpret_cast<volatile int*>(address) = 1;
  grid_barrier(barrier);
}
template <int = 0> __global__ void order(int* out, int* count) { out[atomicAdd(count, 1)] = threadIdx.x; }
}
"""
UNSET = 0x7FF5A5A5


def kernel(name):
    return EmulatedLauncher().kernel("base/warp.cuh", name, SOURCE)


@pytest.fixture(autouse=True, scope="module")
def installed():
    EmulatedLauncher()  # arrays of tests are guarded from now on (conftest.py)


@pytest.mark.parametrize("at", [-1, 5, 8, 12])
@pytest.mark.sampled(1)
def test_a_write_outside_an_array(at):
    """In a guard zone, or on an unmapped page: some of 40 arrays end there."""
    for _ in range(40):
        a = xp.zeros(5, np.int32)
        with pytest.raises(
            EmulationError, match=rf"put<>: .*byte {4 * at} of an array of 20 bytes \(argument 0, int32\[5\]\)"
        ):
            kernel("put")(1, 32, (a, at))


def test_a_read_behind_an_array_that_ends_a_page():
    """One array in eight: a wrong value in the others, which is great."""
    noticed = 0
    for _ in range(100):
        a, out = xp.zeros(4, np.int32), xp.zeros(1, np.int32)
        try:
            kernel("get")(1, 1, (a, 4, out))
            assert out[0] == UNSET
        except EmulationError as error:
            assert "an access to byte 16 of an array of 16 bytes (argument 0, int32[4])" in str(error)
            noticed += 1
    assert noticed


@pytest.mark.parametrize(("name", "good", "bad"), [("load4", 4, (1, 2, 3)), ("load2", 2, (1, 3))])
@pytest.mark.sampled(1)
def test_a_load_from_an_address_that_is_not_aligned(name, good, bad):
    a, out = xp.arange(64, dtype=np.int32), xp.zeros(1, np.int32)
    kernel(name)(1, 1, (a, good, out))
    for at in bad:
        with pytest.raises(EmulationError, match="misaligned"):
            kernel(name)(1, 1, (a, at, out))


def test_shared_memory():
    out = xp.zeros(32, np.int32)
    kernel("shared")(1, 32, (31,))
    with pytest.raises(EmulationError, match="byte 128 of 128 bytes of __shared__ list"):
        kernel("shared")(1, 32, (32,))
    with pytest.raises(EmulationError, match="byte -4 of 128 bytes of __shared__ list"):
        kernel("shared")(1, 32, (-1,))
    with pytest.raises(EmulationError, match="index outside an array of fixed size"):
        kernel("fixed")(1, 32, (32, out))
    kernel("dynamic")(1, 32, (9, out), shared=40)
    for at, said in ((10, "wrote byte 40 of 40 bytes"), (12, "access to byte 48"), (-2, "wrote byte -8 of 40")):
        with pytest.raises(EmulationError, match=f"{said}.*dynamic shared memory"):
            kernel("dynamic")(1, 32, (at, out), shared=40)


def test_memory_that_is_not_set():
    out = xp.zeros(32, np.int32)
    kernel("unset")(1, 32, (out,), shared=128)
    assert set(out.tolist()) == set(xp.empty(50, np.int32).tolist()) == {UNSET}
    assert np.isnan(xp.empty(50, np.float32).get()).all() and np.isnan(xp.empty(50, np.float64).get()).all()


def test_a_write_to_an_array_that_was_freed():
    a = xp.zeros(20, np.int32)
    address = int(a.data.ptr)
    del a
    kernel("put").launch(2, 1, 32)(0, address, 3)
    for _ in range(400):  # until the memory is looked at
        xp.zeros(5, np.int8)
    with pytest.raises(memory.OutsideAnArray, match="byte 12 of an array of 80 bytes"):
        memory.check()
    memory.check()


def test_a_copy_that_leaves_an_array():
    a, b = xp.zeros(4, np.int64), xp.zeros(5, np.int64)
    xp.cuda.runtime.memcpyAsync(a.data.ptr, b.data.ptr, 32, 2, 0)
    with pytest.raises(IndexError, match="40 bytes"):
        xp.cuda.runtime.memcpyAsync(a.data.ptr, b.data.ptr, 40, 2, 0)


def test_blocks_that_wait_for_one_that_failed_end_too():
    with pytest.raises(EmulationError, match="waits<>: block .1,0. thread .*: an access to address 10, which is no"):
        kernel("waits")(3, 32, (16, xp.zeros(1, np.uint32)), cooperative=True)


def test_each_launch_draws_its_schedule():
    """The same for a test of that name with that seed, another for another test and for the next launch."""

    def orders(name):
        schedule.begin(name)
        found = []
        for _ in range(12):
            out = xp.zeros(32, np.int32)
            kernel("order")(1, 32, (out, xp.zeros(1, np.int32)))
            found.append(tuple(out.tolist()))
        return found

    one = orders("one")
    assert one == orders("one") != orders("two") and len(set(one)) > 6, seeds.SEED
    out = xp.zeros(32, np.int32)
    EmulatedLauncher(seed=0).kernel("base/warp.cuh", "order", SOURCE)(1, 32, (out, xp.zeros(1, np.int32)))
    assert out.tolist() == list(range(32))
