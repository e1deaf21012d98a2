"""Casts between all types, on values that show how: fractions, overflow, NaN, infinities, negative numbers,
imaginary parts."""

import numpy as np
import pytest

from support import coverage
from support.agree import agree
from support.library import TYPES, WITHOUT_NUMBA, dtype_of, gb
from support.plain import NUMPY_TYPES, Plain

EDGE_FLOATS = [
    0.0,
    -0.0,
    1.0,
    0.5,
    -0.5,
    0.9999,
    2.75,
    -2.75,
    127.5,
    128.0,
    255.9,
    256.0,
    -128.9,
    -129.0,
    -1.0,
    65535.5,
    65536.0,
    2.0**31,
    2.0**32,
    -(2.0**31) - 1,
    2.0**63,
    2.0**64,
    -(2.0**63),
    1e30,
    -1e30,
    np.inf,
    -np.inf,
    np.nan,
    1e-300,
    9007199254740993.0,
]


def edges(dtype):
    """Values of a type that lie at the ends of the others."""
    kind = np.dtype(NUMPY_TYPES[dtype])
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        info = np.iinfo(kind)
        wanted = [
            0,
            1,
            2,
            127,
            128,
            255,
            256,
            32767,
            32768,
            65535,
            65536,
            2**31 - 1,
            2**31,
            2**32 - 1,
            2**32,
            2**53 + 1,
            2**63 - 1,
            2**63,
            2**64 - 1,
        ]
        wanted += [-value for value in wanted]
        return np.array([value for value in wanted if info.min <= value <= info.max], kind)
    with np.errstate(over="ignore"):
        if kind.kind == "f":
            return np.array(EDGE_FLOATS).astype(kind)
        real = np.array(EDGE_FLOATS).astype(kind)
        return np.concatenate(
            [real, real + kind.type(2j), np.array([0.5j, -3.5j, complex(0, np.nan), complex(np.nan, 1)], kind)]
        )


def vector_of(dtype):
    found = edges(dtype)
    return Plain((len(found),), dtype, (np.arange(len(found)),), found)


PAIRS = [f"{source} to {target}" for source in TYPES for target in TYPES]
coverage.owe("cast", "by dup", PAIRS, WITHOUT_NUMBA)
coverage.owe("cast", "on writing", PAIRS, WITHOUT_NUMBA)
coverage.owe("cast", "of an operator's arguments", PAIRS, WITHOUT_NUMBA)
coverage.owe("cast", "of masks", TYPES, WITHOUT_NUMBA)
coverage.owe("cast", "accumulator's union", TYPES, WITHOUT_NUMBA)


@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_pairs(source, target):
    x = vector_of(source)
    name = f"{source} to {target}"
    diagonal = Plain((x.nvals, x.nvals), source, (x.indices[0], x.indices[0]), x.values)

    def dup(lib, o):
        return [o.x.dup(dtype_of(lib, target)), o.D.dup(dtype_of(lib, target)), o.D.T.dup(dtype_of(lib, target))]

    def write(lib, o):
        o.y = lib.Vector(dtype_of(lib, target), o.x.size)
        o.y << o.x
        o.z = lib.Vector(dtype_of(lib, target), o.x.size)
        o.z(o.x.S)[:] << o.x
        return o.x.apply(lib.unary.identity).new(dtype_of(lib, target))

    def arguments(lib, o):
        one = lib.Vector.from_scalar(1, o.x.size, dtype_of(lib, target))
        return [
            o.x.ewise_mult(one, lib.binary.first[dtype_of(lib, target)]).new(),
            o.x.ewise_add(one, lib.binary.second[dtype_of(lib, target)]).new(),
            o.x.apply(lib.unary.identity[dtype_of(lib, target)]).new(),
            o.D.mxv(one, lib.semiring.any_first[dtype_of(lib, target)]).new(),
        ]

    operands = {"x": x, "D": diagonal}
    agree(dup, operands, f"dup {name}", cells=[("cast", "by dup", name)], engines=WITHOUT_NUMBA)
    agree(write, operands, f"write {name}", cells=[("cast", "on writing", name)], engines=WITHOUT_NUMBA)
    agree(
        arguments,
        operands,
        f"arguments {name}",
        cells=[("cast", "of an operator's arguments", name)],
        engines=WITHOUT_NUMBA,
    )


@pytest.mark.quick
@pytest.mark.parametrize("dtype", TYPES)
def test_masks(dtype):
    """A value mask of any type: what is not zero is true, NaN and 0.5 too."""

    def call(lib, o):
        o.w = lib.Vector(lib.dtypes.INT64, o.m.size)
        o.w(o.m.V)[:] << 1
        o.w(~o.m.V)[:] << 2
        return [lib.Vector.from_scalar(3, o.m.size).apply("abs").new(mask=o.m.V), o.w.apply("abs").new(mask=~o.m.V)]

    found = edges(dtype)
    agree(
        call,
        {"m": Plain((len(found),), dtype, (np.arange(len(found)),), found)},
        dtype,
        cells=[("cast", "of masks", dtype)],
    )


@pytest.mark.parametrize("dtype", TYPES[-4:])
def test_negative_zero(dtype):
    """-0.0 in a mask is true, as in SuiteSparse 9.4.5, which looks at the bits; the specification casts it to false."""
    m = Plain((3,), dtype, (np.arange(3),), np.array([-0.0, 0.0, 1.0]).astype(NUMPY_TYPES[dtype])).build(gb)
    w = gb.Vector(gb.dtypes.INT64, 3)
    w(m.V)[:] << 1
    assert w.to_coo()[0].tolist() == [0, 2]


@pytest.mark.parametrize("dtype", TYPES)
def test_accumulators_union(dtype):
    """A lone entry of C is kept, cast to C's type and not through the accumulator's; a lone entry of T is cast to
    C's type."""

    def call(lib, o):
        o.C(accum=lib.binary.plus[dtype_of(lib, dtype)]) << o.T
        o.D(accum=lib.binary.plus[dtype_of(lib, dtype)]) << o.C.apply(lib.unary.identity)
        o.E(accum=lib.binary.first[dtype_of(lib, dtype)])[[0, 2]] << 2.75

    C = Plain((5,), "FP64", (np.array([0, 1, 3]),), np.array([1.5, -2.75, 300.5]))
    T = Plain((5,), "FP32", (np.array([1, 2, 4]),), np.array([0.5, 300.5, -7.25], np.float32))
    D = Plain((5,), "INT8", (np.array([0, 2]),), np.array([5, -7], np.int8))
    agree(
        call,
        {"C": C, "T": T, "D": D, "E": D},
        dtype,
        cells=[("cast", "accumulator's union", dtype)],
        engines=WITHOUT_NUMBA,
    )
