"""Compiled selections, and apply and reduce on all cores, against the reference backend and NumPy in one piece."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.backend import CpuBackend
from grb_tile.backends.cpu.compiled import dispatch as accelerate
from grb_tile.backends.cpu.jit import cache as jit, threads as jit_threads
from grb_tile.backends.cpu.vectorised import in_chunks, mapping as numpy_mapping
from grb_tile.backends.reference import ReferenceBackend
from grb_tile.operators import get_typed_op
from grb_tile.planner import tuning
from grb_tile.storage import bits
from grb_tile.storage.convert import to_csr, to_dcsr
from grb_tile.storage.store import BitmapVector, StoredMask
from support.stores import masks, matrix, same_matrix, same_vector, vector

REFERENCE, CPU = ReferenceBackend(), CpuBackend()


@pytest.fixture(autouse=True, params=[1, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr(jit_threads, "_threads", request.param)
    monkeypatch.setattr(tuning, "PARALLEL_ROWS", 1)
    monkeypatch.setattr(tuning, "COMPILED_ENTRIES", 0)
    monkeypatch.setattr(in_chunks, "CHUNK", 64)
    monkeypatch.setattr(in_chunks, "LEAST", 128)
    monkeypatch.setattr(in_chunks, "REDUCED", 64)
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


def typed(name, dtype):
    return get_typed_op(name, gb.dtypes.lookup_dtype(dtype), kind="select")


@pytest.mark.parametrize("name", ["tril", "triu", "diag", "offdiag", "rowle", "rowgt", "colle", "colgt"])
def test_positions(name):
    rng = np.random.default_rng(1)
    op = typed(name, "FP32")
    for iso in (False, True):
        A = matrix(rng, 50, 40, 500, gb.dtypes.FP32, iso=iso)
        for x in (A, to_dcsr(A), to_dcsr(matrix(rng, 50, 40, 12, gb.dtypes.FP32, iso=iso))):
            for k in (-(2**63), -60, -3, 0, 7, 39, 60, 2**63 - 1):
                select = CPU if name.startswith("row") else accelerate  # a range of rows needs no kernel
                found = select.select(x, op, np.int64(k))
                same_matrix(
                    to_csr(found), to_csr(REFERENCE.select(x, typed(name, "FP32"), np.int64(max(-90, min(k, 90)))))
                )


@pytest.mark.parametrize(
    "name, dtype", [("valuene", "FC64"), ("valuegt", "FP64"), ("valuele", "INT8"), ("valueeq", "BOOL")]
)
def test_values(name, dtype):
    rng = np.random.default_rng(2)
    op = typed(name, dtype)
    A = matrix(rng, 50, 40, 500, gb.dtypes.lookup_dtype(dtype))
    if A.values.dtype.kind == "f":
        A.values[::7] = np.nan
    for x in (A, to_dcsr(A), to_dcsr(matrix(rng, 50, 40, 12, A.dtype))):
        for thunk in (0, 1, 100):
            same_matrix(to_csr(accelerate.select(x, op, thunk)), to_csr(REFERENCE.select(x, op, thunk)))


def test_values_are_cast_to_the_operators_type():
    rng = np.random.default_rng(3)
    A = matrix(rng, 50, 40, 500, gb.dtypes.FP64)
    A.values[::5] = 1e30
    op = typed("valuegt", "INT8")
    same_matrix(to_csr(accelerate.select(A, op, 2)), to_csr(REFERENCE.select(A, op, 2)))


def test_a_users_operator():
    rng = np.random.default_rng(4)
    A = matrix(rng, 50, 40, 500, gb.dtypes.INT64)
    for function, dtype in (
        (lambda x, i, j, thunk: x + i > j + thunk, "INT64"),
        (lambda x, i, j, thunk: float(format(x)) > 0, "INT64"),
    ):
        op = gb.core.operator.SelectOp.register_anonymous(function)[dtype]
        found = accelerate.select(A, op, 3)
        if found is NotImplemented:
            assert not op.lowerable
        else:
            same_matrix(to_csr(found), to_csr(REFERENCE.select(A, op, 3)))


@pytest.mark.parametrize("form", ["sparse", "bitmap", "full"])
@pytest.mark.parametrize(
    "name, thunk", [("valuegt", 1.0), ("valueeq", 2.0), ("rowle", 100), ("offdiag", 3), ("colle", 0)]
)
def test_vectors(form, name, thunk):
    rng = np.random.default_rng(5)
    for iso in (False, True):
        x = vector(rng, 300, 150, gb.dtypes.FP64, form, iso=iso)
        for allow in masks(rng, 300, gb.dtypes.BOOL):
            same_vector(
                CPU.select(x, typed(name, "FP64"), thunk, allow), REFERENCE.select(x, typed(name, "FP64"), thunk, allow)
            )


@pytest.mark.parametrize("complement", [False, True])
def test_masks(complement):
    rng = np.random.default_rng(6)
    A, mask = matrix(rng, 50, 40, 500, gb.dtypes.INT64), matrix(rng, 50, 40, 500, gb.dtypes.BOOL)
    allow = StoredMask(mask, complement)
    op = typed("valuegt", "INT64")
    same_matrix(to_csr(CPU.select(A, op, 0, allow)), to_csr(REFERENCE.select(A, op, 0, allow)))
    minus = gb.binary.minus["FP32"]
    same_matrix(to_csr(CPU.apply(A, minus, allow, left=2)), to_csr(REFERENCE.apply(A, minus, allow, left=2)))


@pytest.mark.parametrize("count", [127, 128, 129, 640, 641])
def test_apply_and_reduce_in_chunks(monkeypatch, count):
    rng = np.random.default_rng(7)
    values = rng.integers(-9, 9, count).astype(np.float64)
    values[[3, count - 1]] = np.nan, np.inf
    x = BitmapVector(count, gb.dtypes.FP64, None, values, count, False)
    applied = [
        lambda: numpy_mapping.apply(x, gb.unary.log["FP64"]),
        lambda: numpy_mapping.apply(x, gb.binary.minus["INT8"], left=5),
        lambda: numpy_mapping.apply(x, gb.binary.gt["FP64"], right=0.5),
    ]
    reductions = [gb.monoid.max["FP64"], gb.monoid.plus["INT64"], gb.monoid.lor["BOOL"], gb.monoid.times["FP64"]]
    found = [f() for f in applied], [numpy_mapping.reduce(x, monoid) for monoid in reductions]
    monkeypatch.setattr(in_chunks, "LEAST", 1 << 60)
    for a, b in zip(found[0], [f() for f in applied], strict=True):
        same_vector(a, b)
    np.testing.assert_array_equal(found[1], [numpy_mapping.reduce(x, monoid) for monoid in reductions])


@pytest.mark.parametrize("count", [127, 128, 129, 640, 641])
@pytest.mark.parametrize("present", ["some", "the last", "from the second chunk"])
def test_reduce_a_bitmap_in_chunks(count, present):
    """Chunks without an entry take no part, and what stands at absent positions none either."""
    rng = np.random.default_rng(8)
    at = {
        "some": np.arange(0, count, 3),
        "the last": np.array([count - 1]),
        "from the second chunk": np.arange(70, count),
    }
    at = at[present]
    values = np.full(count, np.nan)
    values[at] = rng.integers(1, 3, at.size)
    x = BitmapVector(count, gb.dtypes.FP64, bits.from_indices(at, count), values, at.size, False)
    for monoid in ("plus", "max", "min", "times", "any"):
        wanted = REFERENCE.reduce(x, getattr(gb.monoid, monoid)["FP64"])
        found = numpy_mapping.reduce(x, getattr(gb.monoid, monoid)["FP64"])
        assert found.dtype == wanted.dtype and (found == wanted or monoid == "any" and found in values[at])
    assert numpy_mapping.reduce(x, gb.monoid.plus["INT64"]) == values[at].sum()
    assert numpy_mapping.reduce(x, gb.monoid.land["BOOL"])


def test_a_reduction_stops_at_the_terminal_value():
    read = []

    def function(values):
        read.append(values.shape[0])
        return values.any()

    assert in_chunks.reduced(function, np.ones(1000, np.bool_), True)
    assert read == [64]
