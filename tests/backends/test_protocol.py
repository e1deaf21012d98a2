"""Backends and the protocol: every primitive has one signature, and every backend has every primitive."""

import inspect

import numpy as np
import pytest

from grb_tile import dtypes
from grb_tile.backends import guard, select
from grb_tile.backends.graph import GraphOperations
from grb_tile.backends.planned import PlannedProducts
from grb_tile.backends.protocol import PRIMITIVES, Backend
from grb_tile.exceptions import NotImplementedException
from grb_tile.storage.place import DeviceBackend
from grb_tile.storage.store import BitmapVector, Compressed, SparseVector, StoredMask

BACKENDS = {name: select._class_of(name) for name in select.AVAILABLE}
INHERITED = {  # what a backend need not say again: identity, a plain form in NumPy, or a composition of others
    "put_entries", "clear_bits", "to_device", "operands_to_device", "synchronize", "run_reported", "describe_device",
    "array", "received",
    "positions", "is_array", "is_equal", "edges_of", "is_ready", "count_saving", "broadcast_over", "copy_here",
    "bind", "bound", "concat_matrices", "inner", "dense_product", "reduce_lines", "spmm", "sddmm", "dense_matvec",
    "dense_matmul", "split_matrix", "reshape_matrix", "ranked_rows",
    "broadcast_combine",
    "matmul_inner", "outside", "device_report", "reduce_matmul", "sorts_products", "tile_facts", "check_memory",
    "compile_ahead", "positions_in", "bounds_of", "last_of_each",
    "region_positions", "put_region", "gather_region", "agreed",
} | {name for name in vars(GraphOperations) if not name.startswith("_")}  # fmt: skip  # the algorithm's own loop runs


def parameters(cls, name):
    """[(name, kind, default)] without self; annotations do not count."""
    found = list(inspect.signature(getattr(cls, name)).parameters.values())
    if not isinstance(inspect.getattr_static(cls, name), staticmethod):
        found = found[1:]
    return [(p.name, p.kind, p.default) for p in found]


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_signature_everywhere(backend):
    for primitive in PRIMITIVES:
        assert parameters(BACKENDS[backend], primitive) == parameters(Backend, primitive), primitive


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_has_every_primitive(backend):
    cls = BACKENDS[backend]
    lacking = [name for name in PRIMITIVES if getattr(cls, name) is getattr(Backend, name)]
    assert set(lacking) <= INHERITED, f"backend {backend!r} lacks these primitives"


def test_a_primitive_that_a_backend_lacks_is_named():
    """Those without a form of their own say which they are."""
    empty, named = Backend(), 0
    for primitive in PRIMITIVES:
        if "self._missing(" in inspect.getsource(function := getattr(Backend, primitive)):
            with pytest.raises(NotImplementedException, match=f"does not have the primitive '{primitive}'$"):
                function(
                    empty, *[None for _, _, default in parameters(Backend, primitive) if default is inspect._empty]
                )
            named += 1
    assert named > 30


@pytest.mark.parametrize("backend", BACKENDS)
def test_public_methods_are_in_the_protocol(backend):
    """Whoever works with a backend through the protocol misses nothing; `store_to_device` and others are the
    backend's own affair, and searches over ranks and views that of the distributed one."""
    inside = {"store_to_device", "through_host", "search_bytes", "bfs_of_ranks", "view_of_range"}
    inside |= vars(DeviceBackend).keys()
    public = {
        name
        for cls in BACKENDS[backend].__mro__[:-1]
        for name, value in vars(cls).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, (staticmethod, property)))
    }
    assert public - set(PRIMITIVES) - vars(PlannedProducts).keys() - {"xp", "turns"} <= inside


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
        assert entries(other.overwrite(c, t, StoredMask(pattern, complement))) == want
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


# ---------------------------------------------------------------------- whole level loops


def random_graph(n, m, seed, dtype, symmetric=False, hyper=False):
    """A store of random weights 0 .. 4; hypersparse: its vertices are spread over 2^40."""
    rng = np.random.default_rng(seed)
    keys = np.unique(rng.integers(0, n * n, m))
    rows, cols, values = keys // n, keys % n, rng.integers(0, 5, keys.size).astype(dtype.np_type)
    if symmetric:
        rows, cols, values = (np.concatenate(pair) for pair in ((rows, cols), (cols, rows), (values, values)))
        keys, first = np.unique(rows * n + cols, return_index=True)
        rows, cols, values = rows[first], cols[first], values[first]
    spread = 2**33 if hyper else 1
    build = select.named("numpy").build_matrix
    return build(n * spread, n * spread, rows * spread, cols * spread, values, None, dtype)


def matrix_entries(A):
    rows, cols, values = select.named("numpy").tuples_matrix(A)
    return dict(zip(zip(rows.tolist(), cols.tolist(), strict=True), values.tolist(), strict=True))


def assert_parents(A, level, parent):
    """A parent for each vertex, one level up along an edge; a source's is itself."""
    edges = matrix_entries(A)
    assert parent.keys() == level.keys()
    for v, u in parent.items():
        assert u == v if level[v] == 0 else (u, v) in edges and level[u] == level[v] - 1


def levels_of(A, sources, limit):
    """([vertices of each level], level by vertex) of a plain search."""
    near, level, rows = {}, dict.fromkeys(sources, 0), [list(sources)]
    for i, j in matrix_entries(A):
        near.setdefault(i, []).append(j)
    while rows[-1] and len(rows) - 1 != limit:
        found = dict.fromkeys(v for u in rows[-1] for v in near.get(u, ()) if v not in level)
        level.update(dict.fromkeys(found, len(rows)))
        rows.append(list(found))
    return rows, level


@pytest.mark.parametrize("hyper", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("n, m", [(1, 0), (7, 9), (40, 60), (40, 300)])
def test_bfs_agrees_with_a_plain_search(backend, n, m, symmetric, hyper):
    A = random_graph(n, m, n + m, dtypes.INT32, symmetric, hyper)
    AT = A if symmetric else backend.transpose(A)
    last = (n - 1) * (2**33 if hyper else 1)
    for sources, limit, target in ((0, None, None), (np.array(sorted({0, last})), 2, None), (0, None, last)):
        rows, want = levels_of(A, np.atleast_1d(sources).tolist(), limit)
        level, parent, outcome = backend.bfs(A, AT, sources, True, True, limit, target)
        if target is None:
            assert entries(level) == want and outcome.reached == len(want)
            assert [row["frontier"] for row in outcome.rows()] == [len(row) for row in rows if row][:limit]
        assert_parents(A, entries(level), entries(parent))


def test_a_registered_backend_is_found_again_by_its_name(monkeypatch):
    monkeypatch.setattr(select, "_made", dict(select._made))
    monkeypatch.setattr(select, "_active", select._active)
    mine = select.register("mine", select._class_of("numpy")())
    assert mine.name == "mine" and select._class_of("numpy").name == "numpy"
    with select.using("mine") as backend:
        with select.using("reference"):
            pass
        assert select.current().name == backend.name == "mine"
