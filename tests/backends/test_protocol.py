"""Backends and the protocol: every primitive has one signature, and every backend has every primitive."""

import inspect

import numpy as np
import pytest

from grb_tile import dtypes
from grb_tile.backends import guard, select
from grb_tile.backends.protocol import Backend
from grb_tile.storage.store import Allow, BitmapVector, Compressed, SparseVector

BACKENDS = {name: select._class_of(name) for name in select.AVAILABLE}
PRIMITIVES = [name for name, value in vars(Backend).items() if inspect.isfunction(value) and not name.startswith("_")]
INHERITED = {  # what a host backend need not say again: identity, or a plain form in NumPy
    "put_entries", "clear_bits", "to_device", "operands_to_device", "synchronize", "run_reported", "describe_device",
    "array", "is_array", "shortest_paths", "edges_of",
}  # fmt: skip


def parameters(cls, name):
    """[(name, kind, default)] without self; annotations do not count."""
    found = list(inspect.signature(getattr(cls, name)).parameters.values())
    if not isinstance(inspect.getattr_static(cls, name), staticmethod):
        found = found[1:]
    return [(p.name, p.kind, p.default) for p in found]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_one_signature_everywhere(backend, primitive):
    assert parameters(BACKENDS[backend], primitive) == parameters(Backend, primitive)


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_has_every_primitive(backend):
    cls = BACKENDS[backend]
    lacking = [name for name in PRIMITIVES if getattr(cls, name) is getattr(Backend, name)]
    assert set(lacking) <= INHERITED, f"backend {backend!r} lacks these primitives"


@pytest.mark.parametrize("backend", BACKENDS)
def test_public_methods_are_in_the_protocol(backend):
    """Whoever works with a backend through the protocol misses nothing; `own` and others are the backend's own affair."""
    inside = {"own", "through_host"}
    public = {
        name
        for cls in BACKENDS[backend].__mro__[:-1]
        for name, value in vars(cls).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, (staticmethod, property)))
    }
    assert public - set(PRIMITIVES) - {"xp"} <= inside


def test_a_guarded_backend_keeps_the_signatures():
    cls = type(guard.guarded(select._class_of("numpy")()))
    for primitive in PRIMITIVES:
        assert parameters(cls, primitive) == parameters(Backend, primitive)


# ---------------------------------------------------------------------- a host backend's plain forms


@pytest.fixture(params=["numpy", "cpu"])
def backend(request):
    return select.named(request.param)


REFERENCE = select.named("reference")
A = Compressed(3, 4, dtypes.INT64, np.array([0, 2, 2, 3]), np.array([1, 3, 0], np.int32), np.array([5, 6, 7]))


def entries(x):
    return dict(zip(*(part.tolist() for part in select.named("numpy").tuples_vector(x)), strict=True))


def test_edges_of_a_short_frontier_are_counted(backend):
    some = SparseVector(3, dtypes.BOOL, np.array([0, 1], np.int32), np.ones(1, bool), True)
    every = BitmapVector(3, dtypes.BOOL, None, np.ones(1, bool), 3, True)
    for u, count in ((some, 2), (every, 3)):
        assert backend.edges_of(A, u) == REFERENCE.edges_of(A, u) == count


@pytest.mark.parametrize("complement", [False, True])
def test_overwrite_and_fill(backend, complement):
    c = SparseVector(6, dtypes.INT64, np.array([0, 2, 4], np.int32), np.array([1, 2, 3]))
    pattern = SparseVector(6, dtypes.BOOL, np.array([2, 3, 4], np.int32), np.ones(1, bool), True)
    inside = np.array([1, 5] if complement else [3, 4], np.int32)
    t = SparseVector(6, dtypes.INT64, inside, np.array([8, 9]))
    want = {1: 8, 2: 2, 4: 3, 5: 9} if complement else {0: 1, 3: 8, 4: 9}
    for other in (backend, REFERENCE):
        assert entries(other.overwrite(c, t, Allow(pattern, complement))) == want
        assert entries(other.fill(c, np.int64(7), pattern)) == {0: 1, 2: 7, 3: 7, 4: 7}


def test_arrays(backend):
    for other in (backend, REFERENCE):
        assert other.line_numbers(A.indptr).tolist() == [0, 0, 2]
        assert other.line_numbers(A.indptr, np.array([4, 5, 9])).tolist() == [4, 4, 9]
        assert other.has_ascending_columns(A)
        bad = Compressed(3, 4, A.dtype, A.indptr, np.array([3, 1, 0], np.int32), A.values)
        assert not other.has_ascending_columns(bad)
        assert other.cast_array(np.array([1.7, -2.0]), dtypes.FP64, dtypes.INT8).tolist() == [1, -2]
        assert [part.tolist() for part in other.tuples(A)] == [[0, 0, 2], [1, 3, 0], [5, 6, 7]]
        assert other.array([1, 2], np.int8).dtype == np.int8 and other.is_array(other.array([1]))
        assert other.xp is np and other.describe_device() is None


def test_auto_takes_the_first_that_is_available(monkeypatch):
    class Abacus(select._class_of("numpy")):
        name = "abacus"

    import sys
    from types import SimpleNamespace

    monkeypatch.setitem(sys.modules, "abacus", SimpleNamespace(Abacus=Abacus))
    monkeypatch.setattr(select, "AVAILABLE", {"abacus": ("abacus", "Abacus"), **select.AVAILABLE})
    monkeypatch.setattr(select, "_made", {})
    assert select.named("auto").name == "abacus"
