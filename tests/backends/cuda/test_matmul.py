"""Matrix products on the CUDA backend, their kernels run as fibers, against the NumPy backend."""

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.backend import shim
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.products import matmul
from grb_tile.operators import get_typed_op
from grb_tile.planner import force, unrecorded
from grb_tile.storage import convert
from grb_tile.storage.place import host
from grb_tile.storage.store import StoredMask
from support import seeds

NUMPY = select.named("numpy")
SEMIRINGS = [
    ("plus_times", "FP64"),
    ("plus_pair", "INT64"),
    ("any_pair", "BOOL"),
    ("min_plus", "FP32"),
    ("plus_times", "FC64"),
    ("max_secondj1", "INT64"),
    ("any_second", "INT16"),
    ("lor_land", "BOOL"),
]


@pytest.fixture(autouse=True)
def detours():
    """No product of plain types may go through the host."""
    shim().detours.clear()
    yield
    assert not shim().detours


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def compare(got, want, semiring):
    if semiring.name.startswith("any_second"):  # any of the products: the places agree
        one = get_typed_op("one", want.dtype, kind="unary")
        got, want = NUMPY.apply(host(got), one), NUMPY.apply(want, one)
    agree.assert_same(got, want)


@pytest.mark.parametrize("turn", range(3))
@pytest.mark.parametrize(("name", "type_"), SEMIRINGS)
def test_every_method(name, type_, turn, monkeypatch):
    semiring = get_typed_op(name, getattr(dtypes, type_), kind="semiring")
    rng = rng_of(turn, len(name), semiring.type.rank)
    huge = turn == 2 and bool(rng.integers(2))
    rows, inner, cols = (samples.dimension(rng, huge) for _ in range(3))
    if turn:
        monkeypatch.setattr(matmul, "EXPAND", 200)
    A = samples.random_matrix(rng, rows, inner, semiring.type, samples.choice(rng, [0.03, 0.2]))
    B = samples.random_matrix(rng, inner, cols, semiring.type2, samples.choice(rng, [0.03, 0.2]))
    BT = convert.transpose_of(B)
    before = agree.snapshot(A, B)
    pattern = samples.random_matrix(rng, rows, cols, dtypes.BOOL, 0.2)
    for allow in (None, StoredMask(pattern), StoredMask(pattern, True)):
        want = NUMPY.matmul(A, B, semiring, allow)
        compare(shim().matmul(A, B, semiring, allow), want, semiring)
        if allow is not None and not allow.complement:
            compare(shim().matmul(A, None, semiring, allow, unrecorded("dot"), BT=BT), want, semiring)
    assert agree.snapshot(A, B) == before


def test_products_expanded_and_sorted_at_a_mask(monkeypatch):
    """Fewer products are combined than were expanded; blocks of a few rows, and all at once."""
    rng, semiring = rng_of(31), get_typed_op("plus_times", dtypes.INT64, kind="semiring")
    A, B = (samples.random_matrix(rng, *((40, np.arange(40)),) * 2, dtypes.INT64, 0.2) for _ in range(2))
    pattern = samples.random_matrix(rng, *((40, np.arange(40)),) * 2, dtypes.BOOL, 0.3)
    for expand in (1 << 26, 100):
        monkeypatch.setattr(matmul, "EXPAND", expand)
        for complement in (False, True):
            allow = StoredMask(pattern, complement)
            with force("esc"):
                found = shim().matmul(A, B, semiring, allow)
            agree.assert_same(found, NUMPY.matmul(A, B, semiring, allow))


@pytest.mark.parametrize("method", ["gustavson", "dot"])
def test_subnormal_sums_are_kept(method):
    """Float atomics of a device flush subnormals; the sums here are whole multiples of 2^-149, so exact in every
    order."""
    rng = rng_of(3)
    signs = np.where(np.arange(40)[:, None] % 3, rng.choice([-1, 1], (40, 60)), 1)  # of one sign: past 2^-126
    A = full_matrix(signs * rng.integers(400, 500, (40, 60)) * 2.0**-75)
    B = full_matrix(rng.integers(400, 500, (60, 50)) * 2.0**-74)
    semiring = get_typed_op("plus_times", dtypes.FP32, kind="semiring")
    allow = StoredMask(samples.random_matrix(rng, (40, np.arange(40)), (50, np.arange(50)), dtypes.BOOL, 0.7))
    want = NUMPY.matmul(A, B, semiring, allow)
    sizes = np.abs(want.values)
    assert (sizes < 2.0**-126).any() and (sizes > 2.0**-126).any()
    got = host(shim().matmul(A, B, semiring, allow, unrecorded(method)))
    np.testing.assert_array_equal(got.indices, want.indices)
    np.testing.assert_array_equal(got.values, want.values)


def full_matrix(values):
    rows, cols = np.indices(values.shape).reshape(2, -1)
    return convert.compressed(*values.shape, dtypes.FP32, rows, cols, values.astype(np.float32).ravel())
