"""Compiled kernels of int32 and int64 indices: each primitive asked with one, then with the other, and back.

The stores differ in the type of their indices alone, so that a kernel kept without it would meet the other's arrays.
"""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends import select
from grb_tile.backends.cpu.compiled import dispatch as compiled
from grb_tile.backends.cpu.jit import cache as jit
from grb_tile.planner import tuning
from support import stores
from support.seeds import generator

FP64 = gb.dtypes.FP64
PLUS_TIMES = gb.semiring.plus_times["FP64"]


def pair(seed):
    """The same matrix with int32 and with int64 indices."""
    found = [stores.matrix(generator("index types", seed), 60, 60, 900, FP64, wide=wide) for wide in (False, True)]
    assert [A.indices.dtype for A in found] == [np.int32, np.int64]
    return found


def full():
    return stores.vector(generator("index types", "x"), 60, 60, FP64, "full")


def listed():
    return stores.vector(generator("index types", "x"), 60, 9, FP64, "sparse")


PRIMITIVES = {
    "matvec_rows": lambda b, A, B: b.matvec_rows(A, full(), PLUS_TIMES),
    "matvec_rows of a list": lambda b, A, B: b.matvec_rows(A, listed(), gb.semiring.min_plus["FP64"]),
    "matvec_cols": lambda b, A, B: b.matvec_cols(A, listed(), PLUS_TIMES),
    "matmul": lambda b, A, B: b.matmul(A, B, PLUS_TIMES),
    "select": lambda b, A, B: b.select(A, gb.select.valuegt["FP64"], 0.0),
    "union": lambda b, A, B: b.union(A, B, gb.binary.minus["FP64"]),
    "intersect": lambda b, A, B: b.intersect(A, B, gb.binary.minus["FP64"]),
}


def entries(store):
    cls = gb.Vector if len(store.shape) == 1 else gb.Matrix
    return [part.tolist() for part in cls._from_store(store).to_coo()]


@pytest.mark.parametrize("name", PRIMITIVES)
def test_both_index_types_have_their_kernels(name, monkeypatch):
    monkeypatch.setattr(tuning, "COMPILED_ENTRIES", 0)
    call, failures = PRIMITIVES[name], jit.failures()
    A, B = pair("A"), pair("B")
    wanted = entries(call(select.named("reference"), A[0], B[0]))
    with gb.plan(force="numba"):
        for which in (0, 1, 0):
            found = call(compiled, A[which], B[which])
            assert found is not NotImplemented, f"{name} of {A[which].indices.dtype} indices: no compiled kernel"
            assert entries(found) == wanted, f"{name} of {A[which].indices.dtype} indices"
    assert jit.failures() == failures
