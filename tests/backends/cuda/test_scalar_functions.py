"""Scalar functions of kernels/base/scalar.cuh on the pairs where C, Python and SuiteSparse differ, run as fibers."""

import numpy as np
import pytest

from cuda_emulation.arrays import xp
from cuda_emulation.launcher import EmulatedLauncher

SOURCE = """
namespace grb {
template <class T>
__global__ void integers(const T* x, const T* y, T* mods, T* quotients, T* shifted, T* rests, int64_t n) {
  GRB_EACH(i, n) {
    mods[i] = mod(x[i], y[i]), quotients[i] = cdiv(x[i], y[i]), shifted[i] = bshift(x[i], y[i]);
    rests[i] = fmod(x[i], y[i]);
  }
}
template <class T>
__global__ void whole(const T* x, int8_t* a, int32_t* b, int64_t* c, uint8_t* d, uint64_t* e, int64_t n) {
  GRB_EACH(i, n) {
    a[i] = cast<int8_t>(x[i]), b[i] = cast<int32_t>(x[i]), c[i] = cast<int64_t>(x[i]);
    d[i] = cast<uint8_t>(x[i]), e[i] = cast<uint64_t>(x[i]);
  }
}
template <int = 0>
__global__ void least(const double* x, const double* y, double* out, int64_t n) {
  GRB_EACH(i, n) out[i] = fmin(x[i], y[i]);
}
}
"""


@pytest.mark.parametrize(("name", "bits"), [("int8_t", 8), ("int32_t", 32)])
@pytest.mark.sampled(1)
def test_integers_of_either_sign(name, bits):
    """mod takes the sign of the divisor, fmod that of the dividend; cdiv truncates, a division by zero saturates."""
    type_ = np.dtype(f"int{bits}")
    numbers = [-(2 ** (bits - 1)), -7, -3, -2, -1, 0, 1, 2, 3, 7, bits - 1, bits, 2 ** (bits - 1) - 1]
    pairs = [(x, y) for x in numbers for y in numbers]
    x, y = (xp.asarray(np.array(side, type_)) for side in zip(*pairs, strict=True))
    out = [xp.zeros(len(pairs), type_) for _ in range(4)]
    kernel = EmulatedLauncher().kernel("base/scalar.cuh base/launch.cuh", "integers", SOURCE, (name,))
    kernel.over(len(pairs), (x, y, *out, len(pairs)))

    def wrapped(number):
        return (number + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)

    def quotient(x, y):
        if y == 0:
            return 0 if x == 0 else 2 ** (bits - 1) - 1 if x > 0 else -(2 ** (bits - 1))
        return wrapped(abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1))

    assert out[0].tolist() == [x % y if y else 0 for x, y in pairs]
    assert out[1].tolist() == [quotient(x, y) for x, y in pairs]
    assert out[3].tolist() == [int(np.fmod(x, y)) if y else 0 for x, y in pairs]
    shifts = [(k, x, y) for k, (x, y) in enumerate(pairs) if 0 <= y <= bits]
    assert [out[2].tolist()[k] for k, _, _ in shifts] == [wrapped(x << y) if y < bits else 0 for _, x, y in shifts]


@pytest.mark.parametrize(("name", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_casts_of_floats_to_integers_at_their_bounds(name, dtype):
    """Numbers just inside, at and beyond the range of each integer type saturate; a NaN is 0."""
    wanted = (np.int8, np.int32, np.int64, np.uint8, np.uint64)
    bounds = [float(end) for type_ in wanted for end in (np.iinfo(type_).min, np.iinfo(type_).max)]
    x = np.array([0.5, -0.5, -1, np.nan, np.inf, -np.inf, 1e30, *bounds], dtype)
    x = np.concatenate((x, np.nextafter(x, dtype(np.inf)), np.nextafter(x, dtype(-np.inf)), x + 1, x - 1))
    out = [xp.zeros(x.size, type_) for type_ in wanted]
    kernel = EmulatedLauncher().kernel("base/scalar.cuh base/launch.cuh", "whole", SOURCE, (name,))
    kernel.over(x.size, (xp.asarray(x), *out, x.size))
    for type_, found in zip(wanted, out, strict=True):
        ends = np.iinfo(type_)
        expected = [0 if v != v else ends.max if v >= ends.max else ends.min if v <= ends.min else int(v) for v in x]
        assert found.get().tolist() == expected, type_


def test_fmin_ignores_nan_on_either_side():
    x, y = np.array([np.nan, 1, np.nan, 2, 3]), np.array([5, np.nan, np.nan, 1, 4])
    out = xp.zeros(5, np.float64)
    kernel = EmulatedLauncher().kernel("base/scalar.cuh base/launch.cuh", "least", SOURCE)
    kernel.over(5, (xp.asarray(x), xp.asarray(y), out, 5))
    np.testing.assert_array_equal(out.get(), np.fmin(x, y))
