"""Single numbers from the device: elements and inner products, each by one small kernel and one read-back."""

from operator import attrgetter

import numpy as np
import pytest
from backends import samples

import grb_tile as gb
from cuda_emulation.arrays import DeviceArray
from cuda_emulation.backend import EMULATED, shim, using_shim
from cuda_emulation.launcher import EmulatedKernel
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cuda.runtime import device
from grb_tile.operators import get_typed_op
from grb_tile.storage import constructors, convert, place
from grb_tile.storage.store import BitmapVector
from support import seeds

NUMPY = select.named("numpy")


@pytest.fixture
def copies(monkeypatch):
    """Nothing is copied to the host as a whole; the list of what was."""
    copied, whole = [], place.host_array
    monkeypatch.setattr(place, "ELEMENT_NS", 0)  # a read by itself is always cheaper
    monkeypatch.setattr(place, "host_array", lambda array: copied.append(array) or whole(array))
    return copied


@pytest.mark.parametrize("type_", ["BOOL", "INT16", "FP32", "INT64", "FC64"])
@pytest.mark.parametrize("format", ["sparse", "bitmap", "full", "iso"])
def test_elements_of_vectors(type_, format, copies):
    dtype, n = getattr(dtypes, type_), 200
    at = np.arange(n) if format == "full" else np.arange(1, n, 3)
    values = (np.arange(at.size) % 120 + 1).astype(dtype.np_type)
    with select.using("cpu"):
        u = gb.Vector.from_coo(at, values[3] if format == "iso" else values, dtype, size=n)
        want = u.to_dict()
        u._store = convert.convert(u._store, "sparse" if format in ("sparse", "iso") else "bitmap")
    with using_shim():
        u = u.to_device("cuda")
        assert not place.is_host(u._store) and u._store.format == (
            "bitmap" if format in ("bitmap", "full") else "sparse"
        )
        for i in (0, 1, 2, 63, 64, n - 2, n - 1, -1):
            assert u.get(i) == want.get(i % n) and u[i].new().value == want.get(i % n) and (i in u) == (i % n in want)
    assert not copies


@pytest.mark.parametrize("hyper", [False, True])
@pytest.mark.sampled(1)
def test_elements_of_matrices(hyper, copies):
    spread = 2**35 if hyper else 1
    with select.using("cpu"):
        A = gb.Matrix.from_coo([0, 0, 2, 5], [1, 3, 0, 5], [1.5, 2.5, 3.5, 4.5], nrows=6, ncols=6)
        rows, cols, values = A.to_coo()
        A = gb.Matrix.from_coo(rows * spread, cols * spread, values, nrows=6 * spread, ncols=6 * spread)
    with using_shim():
        A = A.to_device("cuda")
        assert A._store.format == ("dcsr" if hyper else "csr")
        for i in range(6):
            for j in range(6):
                at = (rows == i) & (cols == j)
                want = float(values[at][0]) if at.any() else None
                assert A.get(i * spread, j * spread) == want == A.T.get(j * spread, i * spread)
                assert A[i * spread, j * spread].new().value == want
    assert not copies


def test_elements_are_read_from_a_copy_once_that_costs_less(monkeypatch):
    with using_shim():
        v = gb.Vector.from_dense(np.arange(1000.0)).apply(gb.unary.ainv).new()
        monkeypatch.setattr(place, "ELEMENT_NS", 1)
        monkeypatch.setattr(place, "COPY_NS", 3.5 / v._store.nbytes)
        for k in range(3):
            assert v.get(k) == -k and "host" not in v._store.forms
        assert v.get(9) == -9.0 and "host" in v._store.forms
        v[4] = 7.0  # beside the store
        assert v.get(4) == 7.0 and v.get(5) == -5.0


FORMS = ["sparse", "bitmap", "full", "iso", "full iso", "empty", "empty bitmap"]


def vector(rng, n, dtype, form):
    u = samples.random_vector(rng, (n, np.arange(n)), dtype, 1.0 if "full" in form else 0.4)
    if "empty" in form:
        u = samples.random_vector(rng, (n, np.arange(n)), dtype, 0.0)
    if form == "full iso":
        return constructors.full_vector(n, dtype, dtype.np_type.type(3))
    if form == "iso":
        u = constructors.iso_like(u, dtype, 2)
    return convert.convert(u, "bitmap" if "bitmap" in form or form == "full" else "sparse")


SEMIRINGS = [
    ("plus_times", "INT64", "INT64"), ("any_pair", "FP64", "INT8"), ("min_plus", "FP32", "FP32"),
    ("any_first", "FP64", "INT8"), ("lor_land", "BOOL", "BOOL"), ("max_second", "FP64", "INT8"),
    ("plus_pair", "INT64", "INT64"), ("ss.min_firstj", "FP32", "FP32"), ("times_minus", "BOOL", "UINT16"),
    ("ss.any_secondi", "INT64", "INT64"), ("plus_times", "FC64", "FP32"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "left", "right"),
    [pytest.param(*x, marks=[pytest.mark.slow] if k > 1 else []) for k, x in enumerate(SEMIRINGS)],
)
def test_inner_products(name, left, right, copies):
    left, right = getattr(dtypes, left), getattr(dtypes, right)
    semiring = get_typed_op(attrgetter(name)(gb.semiring), left, right, kind="semiring")
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, len(name)])
    n = 1500
    for a in FORMS:
        b = FORMS[rng.integers(len(FORMS))]
        u, v = vector(rng, n, left, a), vector(rng, n, right, b)
        want = NUMPY.inner(u, v, semiring)
        got = shim().inner(shim().store_to_device(u), shim().store_to_device(v), semiring)
        where = f"{a}, {b}, seed {seeds.SEED}"
        assert (got is None) == (want is None), where
        if want is not None and "any" not in name:
            assert got == want or np.isclose(got, want, rtol=1e-4) or got != got and want != want, where
        if want is not None:
            assert got.dtype == want.dtype == semiring.return_type.np_type, where


def test_an_inner_product_of_one_value_that_is_not_kept(monkeypatch):
    """The device keeps the values that it has met up to a bound; of others only the array is known."""
    monkeypatch.setattr(device, "_MOST_CONSTANTS", 0)
    with using_shim():
        u = gb.Vector.from_coo([1, 2, 3], 7.2578125, size=10)
        v = gb.Vector.from_coo([2, 3, 5], 1.5, size=10)
        assert u.inner(v, gb.semiring.min_first).new().value == 7.2578125


def test_an_inner_product_reads_one_number(monkeypatch):
    """A count that has not been read stays on the device."""
    with using_shim() as backend:
        with gb.plan(force="cols"):
            A = gb.Matrix.from_coo(np.arange(90), (np.arange(90) * 7) % 90, np.ones(90), nrows=90, ncols=90)
            u = gb.Vector.from_dense(np.arange(90.0)).vxm(A).new()
        assert u._store.nvals_if_read is None
        read, here = [], backend.device
        for name in ("read", "read_count", "read_scalar", "host"):
            whole = getattr(here, name)
            monkeypatch.setattr(here, name, lambda *args, name=name, whole=whole: read.append(name) or whole(*args))
        assert u.inner(u).new().value == sum(k * k for k in range(90))
        assert read == ["read_scalar"]
        assert u._store.nvals_if_read is None


def test_inner_products_of_positions_beyond_what_is_allocated():
    n = 2**50
    with select.using("cpu"):
        u = gb.Vector.from_coo([3, 2**40, 2**49], [1.0, 2.0, 3.0], size=n)
        v = gb.Vector.from_coo([2**40, 2**49, 2**49 + 1], [5.0, 7.0, 9.0], size=n)
        full = gb.Vector._from_store(constructors.full_vector(n, dtypes.FP64, 2.0))
    assert isinstance(full._store, BitmapVector)
    with using_shim():
        assert u.inner(v).new().value == 31.0 == v.inner(u).new().value
        assert u.inner(full).new().value == 12.0 == full.inner(u).new().value
        assert full.inner(full).new().value == 4.0 * n
        assert u.inner(v, gb.semiring.ss.min_firstj).new().value == 2**40


LAUNCHES = {  # kernels of an aggregate of a vector: none where the count says it all, one for each sum
    "count": 0, "exists": 0, "sum": 1, "prod": 1, "min": 1, "max": 1, "any_value": 1, "L1norm": 1, "hypot": 1,
    "sum_of_squares": 1, "count_nonzero": 1, "mean": 1, "geometric_mean": 1, "peak_to_peak": 2, "stdp": 2, "vars": 2,
}  # fmt: skip


@pytest.mark.skipif(not EMULATED, reason="launches are counted by the CPU emulation")
@pytest.mark.parametrize("format", ["sparse", "bitmap", "full"])
@pytest.mark.sampled(1)
def test_aggregates(format, monkeypatch):
    """Formulas of sums and counts are computed on the host: an aggregate reads a number for each sum."""
    # constants are made by the backend of the array's device: not by one that another test made for the emulated one
    monkeypatch.setitem(place._devices, DeviceArray, {shim().device.number: shim()})
    names, launch = [], EmulatedKernel.__call__
    monkeypatch.setattr(
        EmulatedKernel, "__call__", lambda *args, **more: names.append(args[0].name) or launch(*args, **more)
    )
    n = 300
    at = np.arange(n) if format == "full" else np.arange(2, n, 3)
    with select.using("cpu"):
        u = gb.Vector.from_coo(at, (np.arange(at.size) % 3 + 1) / 2, size=n)
        want = {name: u.reduce(getattr(gb.agg, name)).new() for name in LAUNCHES}
        whole = gb.Matrix.from_coo(at % 7, at, (np.arange(at.size) % 3 + 1) / 2, nrows=7, ncols=n)
        wanted = {name: whole.reduce_scalar(getattr(gb.agg, name)).new() for name in ("sum", "mean", "max", "count")}
        u._store = convert.convert(u._store, "sparse" if format == "sparse" else "bitmap")
    with using_shim():
        u, whole = u.to_device("cuda"), whole.to_device("cuda")
        for name, most in LAUNCHES.items():
            names.clear()
            found = u.reduce(getattr(gb.agg, name)).new()
            assert found.dtype == want[name].dtype and len(names) == most, (name, names)
            assert name == "any_value" or np.isclose(found.value, want[name].value, rtol=1e-12), name
        for name in ("sum", "max"):
            names.clear()
            assert np.isclose(whole.reduce_scalar(getattr(gb.agg, name)).new().value, wanted[name].value)
            assert len(names) == 1, names
        for name in ("mean", "count"):
            assert np.isclose(whole.reduce_scalar(getattr(gb.agg, name)).new().value, wanted[name].value)
        empty = gb.Vector(float, n).to_device("cuda")
        assert all(empty.reduce(getattr(gb.agg, name)).new().is_empty for name in LAUNCHES)
