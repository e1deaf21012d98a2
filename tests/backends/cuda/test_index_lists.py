"""Index arrays on the device: bounds, order and repeats as NumPy finds them, what lies outside, and what calls cost."""

import numpy as np
import pytest

import grb_tile as gb
from cuda_emulation.arrays import DeviceArray, Traffic
from cuda_emulation.backend import EMULATED, shim, using_shim
from cuda_emulation.launcher import EmulatedKernel
from grb_tile.backends import indices, plain
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.backends.cuda.structure import index_lists
from grb_tile.planner import tuning
from support.seeds import generator

pytestmark = pytest.mark.sampled(1)  # 5 ms a case
SIZE = 40
KINDS = {
    "ascending": lambda rng: np.flatnonzero(rng.random(SIZE) < 0.5),
    "shuffled": lambda rng: rng.permutation(SIZE),
    "repeats": lambda rng: rng.integers(0, SIZE, 60),
    "repeats in order": lambda rng: np.sort(rng.integers(0, SIZE, 60)),
    "one repeated": lambda rng: np.full(30, 7),
    "negative": lambda rng: -1 - rng.permutation(SIZE),
    "negative in order": lambda rng: np.arange(-SIZE, 0),
    "of both signs": lambda rng: rng.integers(-SIZE, SIZE, 50),
    "of both signs in order": lambda rng: np.arange(-20, 20),
    "ends": lambda rng: np.array([SIZE - 1, 0, -SIZE, -1, 3]),
    "one": lambda rng: np.array([5]),
    "none": lambda rng: np.empty(0, np.int64),
}
FORMS = {
    "int64": lambda I: I, "int32": lambda I: I.astype(np.int32), "int8": lambda I: I.astype(np.int8),
    "uint64": lambda I: (I % SIZE).astype(np.uint64), "strided": lambda I: np.repeat(I, 3)[::3],
    "backwards": lambda I: I[::-1].copy()[::-1], "other byte order": lambda I: I.astype(">i8"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_positions_and_their_order(kind, form):
    backend, device = shim(), shim().device
    given = FORMS[form](KINDS[kind](generator("index lists", kind)))
    wanted = indices.positions_in(given, SIZE)
    last = indices.last_of_each(wanted, SIZE)
    on_device = [] if form == "other byte order" else [device.xp.asarray(np.repeat(given, 2))[::2]]
    for array in (given, *on_device):
        found = backend.positions_in(array, SIZE)
        assert found.dtype == np.int64 and device.host(found).tolist() == wanted.tolist()
        assert index_lists.ascends(device, found) == bool((wanted[1:] > wanted[:-1]).all())
        own, places = backend.last_of_each(found, SIZE)
        kept = device.host(own)
        assert index_lists.ascends(device, own) or places is None and len(own) <= tuning.LISTED_INDEX
        if places is None:
            assert kept.tolist() == wanted.tolist() and len(set(kept.tolist())) == len(kept)
        else:
            assert kept.tolist() == np.unique(wanted).tolist()
            assert device.host(found)[device.host(places)].tolist() == kept.tolist()
            if last[1] is not None:
                assert device.host(places).tolist() == last[1].tolist()


@pytest.mark.parametrize("bad", [SIZE, -SIZE - 1, 2**62, -(2**62)])
@pytest.mark.parametrize("on_device", [False, True])
def test_a_position_beyond_the_dimension_is_named(bad, on_device):
    array = np.append(np.arange(20), bad)
    given = shim().device.xp.asarray(array) if on_device else array
    with pytest.raises(gb.exceptions.IndexOutOfBound, match=f"index={bad}, size={SIZE}"):
        shim().positions_in(given, SIZE)
    if bad > 0:
        with pytest.raises(gb.exceptions.IndexOutOfBound, match=f"index={2**64 - 1}, size={SIZE}"):
            shim().positions_in(np.array([*range(20), 2**64 - 1], np.uint64), SIZE)


def test_an_array_is_copied_and_the_copy_is_forgotten_with_it():
    device = shim().device
    given = device.xp.arange(20)
    found = shim().positions_in(given, SIZE)
    given[:] = 0
    assert device.host(found).tolist() == list(range(20)) and device.known_order(found) is True
    known = len(device._ascending)
    del found
    assert len(device._ascending) == known - 1


REGIONS = {
    "range": range(3, 30), "step": range(1, 40, 3), "backwards": range(38, 2, -5), "none": range(4, 4), "all": None,
    "list": np.array([1, 2, 17, 30, 39]), "shuffled": np.array([30, 0, 12, 39, 5]), "one": range(5, 6),
}  # fmt: skip


@pytest.mark.parametrize("region", REGIONS)
@pytest.mark.parametrize("form", ["list", "iso list", "bitmap", "csr", "iso csr", "dcsr", "empty"])
def test_outside(region, form):
    """As the composition of gather, expand and restrict."""
    rng, backend = generator("outside", region, form), shim()
    count = 0 if form == "empty" else 150
    rows, cols = (rng.integers(0, SIZE, count) for _ in range(2))
    values = np.ones(count) if form.startswith("iso") else rng.random(count)
    dup = gb.binary.second
    with using_shim():
        if form.endswith("list") or form == "bitmap":
            some = rows[:8] if form != "bitmap" else rows
            x = gb.Vector.from_coo(some, values[: len(some)], size=SIZE, dup_op=dup)
            store = backend.convert(x._store, "bitmap" if form == "bitmap" else "sparse")
        else:
            A = gb.Matrix.from_coo(rows, cols, values, nrows=SIZE, ncols=SIZE, dup_op=dup)
            store = backend.convert(A._store, "dcsr" if form == "dcsr" else "csr")
        I = REGIONS[region]
        if I is None and store.format in ("sparse", "bitmap"):
            I = range(SIZE)
        found, wanted = backend.outside(store, I, None), plain.outside(backend, store, I, None)
        tuples = backend.tuples_vector if store.format in ("sparse", "bitmap") else backend.tuples_matrix
        for got, want in zip(tuples(found), tuples(wanted), strict=True):
            assert got.tolist() == want.tolist()
        again = backend.outside(backend.to_device(found), I, None)
        assert again.nvals == found.nvals


# ---------------------------------------------------------------------- what calls cost

N = 4000
VECTORS = {"full": 1.0, "bitmap": 0.5, "list": 0.05}
WRITES = {  # call: (launches, read-backs) at most, of a list, a NumPy array or a device's; of a range or a step
    "v[I] << u": (lambda v, I, u: v[I] << u, (21, 5), (15, 2)),
    "v[I] << 1": (lambda v, I, u: v[I] << 1, (12, 2), (5, 0)),
    "v(plus)[I] << u": (lambda v, I, u: v(gb.binary.plus)[I] << u, (16, 4), (7, 1)),
    "del v[I]": (lambda v, I, u: v.__delitem__(I), (12, 3), (11, 1)),
}


class Costs:
    """Counts of launches, CuPy's functions of whole arrays included, and of read-backs, while it is in use."""

    def __init__(self, monkeypatch):
        self.launches = self.reads = 0
        for cls, names, what in (
            (EmulatedKernel, ("__call__",), "launches"),
            (DeviceArray, ("__array_ufunc__", "__array_function__", "__setitem__", "astype", "copy"), "launches"),
            (Device, ("read", "read_count", "sent"), "reads"),
            (DeviceArray, ("get", "nonzero"), "reads"),
        ):
            for name in names:
                monkeypatch.setattr(cls, name, self._counted(getattr(cls, name), what))

    def _counted(self, function, what):
        def call(*args, **kwargs):
            setattr(self, what, getattr(self, what) + 1)
            return function(*args, **kwargs)

        return call


@pytest.mark.skipif(not EMULATED, reason="the CPU emulation counts launches and bytes")
@pytest.mark.parametrize("call", WRITES)
@pytest.mark.parametrize("form", VECTORS)
def test_indexed_writes_launch_and_read_back_little(monkeypatch, form, call):
    """And an index array crosses once, as int64; an assignment's value, which lies on the device, not at all."""
    rng = generator("costs", form)
    function, of_lists, of_ranges = WRITES[call]
    shuffled = rng.permutation(N)[: N // 3]
    with using_shim() as backend:
        kinds = {
            "range": slice(N // 4, N // 2), "step": slice(None, None, 3), "list": shuffled.tolist(),
            "NumPy": shuffled, "device": backend.xp.asarray(shuffled),
        }  # fmt: skip
        at = np.flatnonzero(rng.random(N) < VECTORS[form])
        u = gb.Vector.from_coo(at, rng.integers(0, 9, at.size), size=N)
        u._store = backend.to_device(u._store)
        for kind, I in kinds.items():
            part, v = u[I].new(), u.dup()
            function(u.dup(), I, part)  # kernels and constants are there
            with monkeypatch.context() as patch:
                costs, before = Costs(patch), Traffic.to_device
                function(v, I, part)
                v._store  # noqa: B018
            crossed = Traffic.to_device - before
            launches, reads = of_ranges if kind in ("range", "step") else of_lists
            where = f"{kind}: {costs.launches} launches, {costs.reads} read-backs, {crossed} bytes to the device"
            assert costs.launches <= launches and costs.reads <= reads, where
            assert crossed <= 256 + (8 * len(shuffled) if kind in ("list", "NumPy") else 0), where
