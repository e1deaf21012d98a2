"""Compiled Kronecker products against the reference backend."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.backend import CpuBackend
from grb_tile.backends.cpu.compiled import kronecker as accelerate
from grb_tile.backends.cpu.jit import cache as jit, threads as jit_threads
from grb_tile.backends.reference import ReferenceBackend
from grb_tile.planner import tuning
from grb_tile.storage.convert import to_csr, to_dcsr
from grb_tile.storage.store import Compressed, StoredMask
from support.stores import matrix, same_matrix


@pytest.fixture(autouse=True, params=[1, 3])
def compiled(request, monkeypatch):
    monkeypatch.setattr(tuning, "COMPILED_KRONECKER_ENTRIES", 1)
    monkeypatch.setattr(tuning, "PARALLEL_ROWS", 1)
    monkeypatch.setattr(jit_threads, "_threads", request.param)
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


def check(A, B, op):
    found = accelerate.kronecker(A, B, op)
    assert found is not NotImplemented
    same_matrix(to_csr(found), to_csr(ReferenceBackend().kronecker(A, B, op)))
    return found


@pytest.mark.parametrize("name, dtype", [
    ("times", "FP64"), ("minus", "INT8"), ("second", "FP32"), ("first", "UINT64"), ("pair", "INT16"), ("eq", "INT64"),
    ("max", "FP64"), ("lor", "BOOL"), ("times", "FC64"), ("truediv", "INT32"),
])  # fmt: skip
@pytest.mark.parametrize("a_iso, b_iso", [(False, False), (True, False), (False, True), (True, True)])
def test_operators_and_iso_operands(name, dtype, a_iso, b_iso):
    rng = np.random.default_rng(1)
    kind = gb.dtypes.lookup_dtype(dtype)
    A = matrix(rng, 9, 7, 25, kind, iso=a_iso)
    B = matrix(rng, 6, 11, 30, kind, iso=b_iso)
    found = check(A, B, getattr(gb.binary, name)[dtype])
    assert found.iso or not (a_iso and b_iso)


def test_operands_are_cast():
    rng = np.random.default_rng(2)
    A, B = matrix(rng, 9, 7, 25, gb.dtypes.INT8), matrix(rng, 6, 11, 30, gb.dtypes.FP32)
    check(A, B, gb.binary.minus["FP64"])
    check(A, B, gb.binary.first["INT64"])


def test_wide_results_and_wide_operands():
    rng = np.random.default_rng(3)
    A, B = matrix(rng, 9, 7, 25, gb.dtypes.FP64), matrix(rng, 6, 11, 30, gb.dtypes.FP64, wide=True)
    B.ncols = 1 << 40
    assert check(A, B, gb.binary.times["FP64"]).indices.dtype == np.int64
    A.ncols = 1 << 16  # the product of two int32 widths needs int64
    C = matrix(rng, 6, 11, 30, gb.dtypes.FP64)
    C.ncols = 1 << 16
    A.indices[-1] = (1 << 16) - 1
    check(A, C, gb.binary.times["FP64"])


def test_hypersparse_operands():
    rng = np.random.default_rng(4)
    small = to_dcsr(matrix(rng, 9, 7, 20, gb.dtypes.FP64))
    rows = np.sort(rng.choice(1 << 30, small.rows.shape[0], replace=False))
    A = Compressed(1 << 30, 7, small.dtype, small.indptr, small.indices, small.values, rows=rows)
    B = matrix(rng, 6, 11, 30, gb.dtypes.FP64)
    for one, two in ((A, B), (B, A), (A, to_dcsr(B))):
        found = accelerate.kronecker(one, two, gb.binary.times["FP64"])
        wanted = ReferenceBackend().kronecker(one, two, gb.binary.times["FP64"])
        assert found.rows is not None
        for mine, theirs in zip(*map(ReferenceBackend().tuples_matrix, (found, wanted)), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_masks():
    rng = np.random.default_rng(5)
    A, B = matrix(rng, 9, 7, 25, gb.dtypes.FP64), matrix(rng, 6, 11, 30, gb.dtypes.FP64)
    op = gb.binary.times["FP64"]
    for count in (10, 2000):
        pattern = matrix(rng, 54, 77, count, gb.dtypes.BOOL)
        for complement in (False, True):
            allow = StoredMask(pattern, complement)
            found = CpuBackend().kronecker(A, B, op, allow)
            same_matrix(to_csr(found), to_csr(ReferenceBackend().kronecker(A, B, op, allow)))


def test_what_cannot_be_compiled_is_left_to_numpy():
    rng = np.random.default_rng(6)
    A = matrix(rng, 9, 7, 25, gb.dtypes.INT64)
    assert accelerate.kronecker(A, A, gb.binary.ss.firsti["INT64"]) is NotImplemented
    same_matrix(
        to_csr(CpuBackend().kronecker(A, A, gb.binary.ss.firsti["INT64"])),
        to_csr(ReferenceBackend().kronecker(A, A, gb.binary.ss.firsti["INT64"])),
    )
