"""Calls whose result has another type than their operands, on ranks and alone: the types and the values."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.backend import EMULATED
from grb_tile import dist
from support.emulated_devices import emulated_devices
from support.ranks import on_ranks


def operands():
    rows, cols = np.arange(200) % 45, np.arange(200) * 7 % 41
    A = gb.Matrix.from_coo(rows, cols, np.arange(200) % 7 + 1.75, nrows=45, ncols=45, dup_op=gb.binary.plus)
    return (
        A,
        gb.Vector.from_coo([0, 9, 20, 44], [1.75, -2.25, 3.5, 300.0], size=45),
        gb.Vector.from_dense(np.arange(45) + 0.5),
    )


def written(x, key, value, **options):
    """A copy of x after x[key](options) << value."""
    x = x.dup()
    x[key](**options) << value
    return x


def results(dtype):
    A, u, full = operands()
    integers, B = gb.Vector.from_coo([0, 5, 20], [7, 8, 9], dtype, size=45), A.dup(dtype)
    found = {
        "dup": A.dup(dtype), "dup of a vector": u.dup(dtype), "dup with a mask": u.dup(dtype, mask=integers.S),
        "diag of a vector": gb.ss.diag(u, dtype=dtype), "diag k of a vector": gb.ss.diag(full, 2, dtype),
        "diag": gb.ss.diag(A, dtype=dtype), "diag k": gb.ss.diag(A, -3, dtype),
        "mxv": A.mxv(u).new(dtype), "mxm": A.mxm(A).new(dtype, mask=A.S), "transpose": A.T.new(dtype),
        "apply": A.apply(gb.unary.ainv).new(dtype), "reduce": A.reduce_rowwise().new(dtype),
        "reduce by columns": A.reduce_columnwise().new(dtype), "scalar": u.reduce().new(dtype).value,
        "extract": A[3:30, ::2].new(dtype), "extract of a vector": full[5:30].new(dtype), "row": A[3, :].new(dtype),
        "select": A.select(">", 3).new(dtype), "kronecker": A[:4, :4].new().kronecker(A[:4, :9].new()).new(dtype),
        "union": u.ewise_add(full).new(dtype), "intersection": u.ewise_mult(full).new(dtype),
        "assign": written(integers, slice(3, 30), full[:27].new()),
        "assign with a mask": written(integers, slice(None), full, mask=u.S),
        "assign to few": written(integers, [4, 20], u[[9, 20]].new()),
        "assign to none": written(integers, [4, 20], u[[1, 2]].new()),
        "accumulated": written(integers, slice(None), full, accum=gb.binary.plus),
        "assign of a matrix": written(B, (slice(2, 20), slice(None)), A[:18, :].new()),
        "assign of a row": written(B, (7, slice(None)), full),
        "assign to a submatrix": written(B, ([1, 9], [3, 4]), A[[5, 6], [7, 8]].new()),
    }  # fmt: skip
    return {name: comparable(x) for name, x in found.items()}


def comparable(x):
    return (str(x.dtype), [array.tolist() for array in x.to_coo()]) if hasattr(x, "to_coo") else x


@pytest.mark.parametrize("dtype", ["INT16", "FP32", "BOOL"])
@pytest.mark.parametrize("ranks", (2, 3))
def test_the_type_that_is_asked_for(dtype, ranks):
    want = results(dtype)
    for found in on_ranks(f"ranks{ranks}", lambda: results(dtype)):
        for name, value in want.items():
            assert found[name] == value, name


@pytest.mark.skipif(not EMULATED, reason="the devices are emulated")
@pytest.mark.parametrize("kind", ["user-defined", "FP64"])
def test_parts_of_one_value_each(kind):
    """A vector whose ranks have one value each, another one on each: devices have no form of values of structures."""

    def program(world):
        dtype = gb.dtypes.register_anonymous(np.dtype([("a", "i4"), ("b", "f8")])) if kind != "FP64" else kind
        value = (world.rank, 2.5) if kind != "FP64" else world.rank + 0.5
        with dist.local():
            mine = gb.Vector.from_scalar(np.array(value, gb.dtypes.lookup_dtype(dtype).np_type)[()], 40, dtype)
        v = dist.from_local(mine)
        return v.size, v[:60].new().nvals, v.to_coo()[1].tolist(), v[35:45].new().to_coo()[1].tolist()

    one = [(0, 2.5), (1, 2.5)] if kind != "FP64" else [0.5, 1.5]
    want = 80, 60, [one[0]] * 40 + [one[1]] * 40, [one[0]] * 5 + [one[1]] * 5
    assert [tuple(found) for found in dist.run(2, program)] == [want] * 2
    with emulated_devices(2):
        assert [tuple(found) for found in dist.run(2, program, devices=2)] == [want] * 2


def structures():
    """{name: result} of calls with values of a structure."""
    pair = gb.dtypes.register_anonymous(np.dtype([("a", "i4"), ("b", "f8")]))
    values = np.array([(1, 2.5), (3, 4.5), (7, 8.0)], pair.np_type)
    v = gb.Vector.from_coo([1, 70], values[:2], pair, size=128)
    A = gb.Matrix.from_coo([0, 100, 100], [1, 3, 70], values, pair, nrows=128, ncols=128)
    B = gb.Matrix.from_coo(np.arange(128), np.arange(128) * 5 % 128, 1.0, nrows=128, ncols=128)
    u, first, second = gb.Vector.from_dense(np.arange(128.0)), gb.semiring.any_first, gb.semiring.any_second
    found = {
        "mxv of structures": A.mxv(u, first).new(), "mxv by structures": B.mxv(v, second).new(),
        "vxm": v.vxm(B, first).new(), "mxm of structures": A.mxm(B, first).new(),
        "mxm by structures": B.mxm(A, second).new(),
        "masked mxm": B.mxm(A, second).new(mask=A.S), "select": A.select("tril").new(), "transpose": A.T.new(),
        "kronecker": B[:4, :4].new().kronecker(A[98:101, :4].new(), gb.binary.second).new(), "diag": v.diag(),
        "first of rows": A.ss.selectk("first", 1), "first": v.ss.selectk("first", 1), "extract": A[50:, :].new(),
        "union": v.ewise_add(v.dup(), gb.binary.first).new(), "assign": written(v, [3, 5], v[[1, 70]].new()),
        "outer": v.outer(u, gb.binary.first).new(), "element": A[100, 3].new().value,
    }  # fmt: skip
    return {name: comparable(x) for name, x in found.items()}


@pytest.mark.skipif(not EMULATED, reason="the devices are emulated")
def test_structures_on_ranks_with_a_device_each():
    """Their values have no form on devices: each call gets them from the host."""
    want = structures()
    with emulated_devices(2):
        for found in dist.run(2, lambda world: structures(), devices=2):
            for name, value in want.items():
                assert found[name] == value, name
