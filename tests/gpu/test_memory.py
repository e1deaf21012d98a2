"""The device's memory ends: derived forms make room, OutOfMemory names the call, objects stay as they were."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends import select
from grb_tile.backends.cuda.runtime.memory import drop_forms
from grb_tile.exceptions import OutOfMemory

cp = pytest.importorskip("cupy")
N = 1 << 20


@pytest.fixture(autouse=True)
def on_the_device():
    with select.using("cuda") as backend:
        drop_forms()
        yield backend


@pytest.fixture
def limit(on_the_device):
    """limit(bytes): what may be allocated from now on, besides what is in use."""
    pool = cp.get_default_memory_pool()

    def set_limit(more):
        cp.cuda.Device().synchronize()
        pool.free_all_blocks()
        pool.set_limit(size=pool.used_bytes() + more)

    yield set_limit
    pool.set_limit(size=0)


def matrix():
    """A cycle of N nodes; 20 MB."""
    at = cp.arange(N)
    return gb.Matrix.from_coo(at, (at + 1) % N, cp.ones(N), nrows=N, ncols=N)


def test_asking_for_too_much_names_the_call_and_leaves_objects(limit):
    A = matrix()
    limit(4 << 20)
    with pytest.raises(
        OutOfMemory, match=r"transpose: Out of memory allocating [\d,]+ bytes .* free on the device; the operands are"
    ):
        A.T.new()
    x = gb.Vector.from_scalar(1.0, N)
    with pytest.raises(OutOfMemory, match="bytes"):
        A.mxm(A).new()
    limit(1 << 30)
    assert A.nvals == N and A.mxv(x).new().reduce().new().value == N, "objects and backend work on"
    assert A.T.new().nvals == N


def test_more_than_the_device_has():
    big = gb.Vector.from_coo([0, 2**37 - 1], [1.0, 2.0], size=2**37)
    with pytest.raises(OutOfMemory, match=rf"{2**37 * 8 + 2**37 // 8} bytes asked for .* free"):
        select.current().convert(big._store, "bitmap")
    assert big.to_dict() == {0: 1.0, 2**37 - 1: 2.0}


def test_derived_forms_make_room(limit):
    A = matrix()
    A.T.new()
    x = gb.Vector.from_scalar(1.0, N)
    A.mxv(x).new()
    assert "transpose" in A._store.forms
    limit(7 << 20)
    with select.using("cpu"):
        y = gb.Vector.from_dense(np.ones(N))
    z = y.apply(gb.unary.ainv).new()  # 8 MB moved and 8 MB made: they only fit where the transpose was
    assert z.reduce().new().value == -N
    assert "transpose" not in A._store.forms
    limit(1 << 30)
    assert A.T.new().isequal(matrix().T.new())


def test_a_search_makes_room_too(limit):
    from grb_tile.algorithms import Graph, bfs

    A = matrix()
    A.T.new()
    limit(1 << 20)
    with pytest.raises(OutOfMemory, match="traverse|row_facts|bytes"):
        bfs(Graph(A, True), 0)
    limit(1 << 30)
    assert bfs(Graph(A, True), 0, max_level=3).levels.to_dict() == {0: 0, 1: 1, 2: 2, 3: 3}


def test_imports_from_other_libraries_name_themselves(limit):
    at = cp.arange(N, dtype=cp.int32)
    limit(4 << 20)
    with pytest.raises(OutOfMemory, match="from_cupy_coo|build_matrix"):
        gb.io.from_cupy_coo(at, at, at, shape=(N, N))
