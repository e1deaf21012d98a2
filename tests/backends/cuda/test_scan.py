"""Prefix results on the device and on the host, against loops: every form, lines of many chunks, operators that do not
commute in their types."""

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.backend import shim
from grb_tile import dtypes, monoid
from grb_tile.backends import select
from grb_tile.storage import convert
from grb_tile.storage.store import BitmapVector, SparseVector
from support import seeds

REFERENCE, HOSTS = select.named("reference"), [select.named("numpy"), select.named("cpu")]
TYPES = [dtypes.BOOL, dtypes.INT8, dtypes.UINT64, dtypes.FP64]
NAMES = ("plus", "min", "max", "times", "lor", "bxor")


def monoids(dtype):
    return [op[dtype] for op in (getattr(monoid, name) for name in NAMES) if dtype in op.types]


def check(x, op):
    before = agree.snapshot(x)
    want = REFERENCE.scan(x, op)
    for backend in (*HOSTS, shim()):
        agree.assert_same(backend.scan(x, op), want)
    assert agree.snapshot(x) == before


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("turn", range(4))
def test_scan(turn, dtype):
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, turn, dtype.rank])
    shim().detours.clear()
    huge = turn == 3
    u = samples.random_vector(rng, samples.dimension(rng, huge), dtype)
    A = samples.random_matrix(rng, samples.dimension(rng, huge), samples.dimension(rng, huge), dtype)
    for op in monoids(dtype):
        check(u, op)
        check(A, op)
    assert not shim().detours


@pytest.mark.parametrize("count", [1, 31, 32, 33, 63, 64, 65, 200, 64 * 64, 64 * 64 + 1])
def test_lines_of_many_chunks(count):
    """The emulation's chunks have 64 entries: chunks of chunks from 64 * 64 + 1 on."""
    values = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, count]).integers(-9, 9, count)
    shim().detours.clear()
    op = monoid.plus[dtypes.INT64]
    for x in (
        BitmapVector(count, dtypes.INT64, None, values, count),
        SparseVector(3 * count, dtypes.INT64, np.arange(count, dtype=np.uint32) * 3, values, False),
        SparseVector(3 * count, dtypes.INT64, np.arange(count, dtype=np.uint32) * 3, values[:1], True),
    ):
        expected = np.cumsum(values if not x.iso else np.repeat(values[:1], count))
        for backend in (*HOSTS, shim()):
            assert backend.tuples_vector(backend.scan(x, op))[1].tolist() == expected.tolist()
    rows = np.sort(np.concatenate((np.zeros(count, np.int64), [1, 1, 4])))
    cols = np.concatenate((np.arange(count), [0, 5, 2]))
    A = convert.compressed(6, count + 6, dtypes.INT64, rows, cols, np.concatenate((values, [3, 4, 5])))
    found = shim().tuples_matrix(shim().scan(A, op))[2]
    assert found.tolist() == [*np.cumsum(values), 3, 7, 5] and not shim().detours
