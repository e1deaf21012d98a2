"""Blocks of rows of a product, selected from and reduced as they are computed, against the product formed by NumPy.

Chunks of a few products and two threads, so that blocks, rows without entries and terminal values meet.
"""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends import plain, select
from grb_tile.backends.cpu.compiled import matmul as compiled
from grb_tile.backends.cpu.jit import cache as jit
from grb_tile.operators import get_typed_op
from grb_tile.planner import tuning, unrecorded
from grb_tile.storage.convert import transpose_of
from grb_tile.storage.store import StoredMask
from support.seeds import SEED
from support.stores import matrix, same_matrix

NUMPY, CPU = select.named("numpy"), select.named("cpu")
KEEPS = (None, ("valuegt", 4), ("tril", 3), ("offdiag", 0))
MONOIDS = ("plus", "max", "min", "times", "any")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(compiled, "CHUNK_CONSUMED", 40)
    monkeypatch.setattr(tuning, "PARALLEL_MATMUL", 0)
    with gb.plan(force="numba"):
        yield
    assert jit.failures() == []


def keep_of(name, thunk, dtype):
    op = get_typed_op(name, dtype, gb.dtypes.INT64, kind="select")
    return op, op.thunk_type.np_type.type(thunk)


def cases():
    rng = np.random.default_rng(SEED & 0xFFFFFFFF)
    A = matrix(rng, 30, 40, 150, gb.dtypes.INT64)
    B = matrix(rng, 40, 35, 160, gb.dtypes.INT64)
    pattern = matrix(rng, 30, 35, 250, gb.dtypes.BOOL)
    inside, outside = StoredMask(pattern), StoredMask(pattern, True)
    for allow, method in ((None, "gustavson"), (inside, "gustavson"), (outside, "gustavson"),
                          (StoredMask(pattern), "dot")):  # fmt: skip
        yield A, B, allow, method


@pytest.mark.parametrize("name", ["plus_times", "plus_pair"])
def test_chains_equal_what_is_formed(name):
    op = getattr(gb.semiring, name)[gb.dtypes.INT64]
    for (A, B, allow, method), keep in itertools.product(cases(), KEEPS):
        keep = None if keep is None else keep_of(*keep, op.return_type)
        formed = NUMPY.matmul(A, B, op, allow, None, None, keep)
        operands = (A, None, op) if method == "dot" else (A, B, op)
        BT = transpose_of(B) if method == "dot" else None
        where = f"{name} {method} {allow} {keep} seed {SEED}"
        if keep is not None:
            same_matrix(CPU.matmul(*operands, allow, unrecorded(method), BT, keep), formed)
        for monoid, axis in itertools.product(MONOIDS, (None, 0, 1)):
            found = CPU.reduce_matmul(
                *operands, getattr(gb.monoid, monoid)["INT64"], axis, allow, unrecorded(method), BT, keep
            )
            wanted = plain.reduce_matrix(NUMPY, formed, getattr(gb.monoid, monoid)["INT64"], axis)
            if axis is None:
                if monoid == "any":
                    assert (found is None) == (wanted is None) and (found is None or found in formed.values), where
                else:
                    assert found == wanted, where
            else:
                (i, x), (j, y) = NUMPY.tuples_vector(found), NUMPY.tuples_vector(wanted)
                assert i.tolist() == j.tolist(), where
                assert monoid == "any" or x.tolist() == y.tolist(), where


def test_a_chain_needs_no_memory_for_the_product():
    """One entry of a diagonal and a full row: blocks are dropped, so that the largest is what is allocated."""
    import tracemalloc

    n = 3000
    rng = np.random.default_rng(5)
    A = matrix(rng, n, n, 20 * n, gb.dtypes.INT64)
    op, monoid = gb.semiring.plus_times[gb.dtypes.INT64], gb.monoid.max[gb.dtypes.INT64]
    CPU.reduce_matmul(A, A, op, monoid)
    tracemalloc.start()
    CPU.reduce_matmul(A, A, op, monoid)
    fused = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    C = CPU.matmul(A, A, op)
    formed = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert fused < C.nbytes / 4 < formed


def test_terminal_values_end_a_reduction():
    """With lor no block is reduced after one that is true."""
    rng = np.random.default_rng(6)
    A = matrix(rng, 50, 50, 600, gb.dtypes.BOOL)
    op, monoid = gb.semiring.lor_land[gb.dtypes.BOOL], gb.monoid.lor[gb.dtypes.BOOL]
    assert CPU.reduce_matmul(A, A, op, monoid) == NUMPY.reduce(NUMPY.matmul(A, A, op), monoid)
