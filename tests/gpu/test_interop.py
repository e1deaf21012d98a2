"""Arrays of other libraries in and out on the device, and work on streams of the caller's."""

import threading

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.algorithms import Graph, bfs, sssp
from grb_tile.backends import select
from grb_tile.storage import place

cp = pytest.importorskip("cupy")


@pytest.fixture(autouse=True)
def on_the_device():
    with select.using("cuda") as backend:
        yield backend
        backend.device.synchronize()


def address(array):
    return array.__cuda_array_interface__["data"][0]


# ---------------------------------------------------------------------- in


def test_constructors_take_arrays_where_they_lie(on_the_device, monkeypatch):
    rng = cp.random.default_rng(1)
    rows, cols = (rng.integers(0, 1000, 20_000) for _ in range(2))
    values = rng.integers(0, 100, 20_000).astype(cp.float32)
    host = [part.get() for part in (rows, cols, values)]
    with select.using("cpu"):
        want = gb.Matrix.from_coo(*host, nrows=1000, ncols=1000, dup_op=gb.binary.plus)
        column = gb.Vector.from_coo(host[0], host[2], size=1000, dup_op=gb.binary.max)

    def refused(*args, **kwargs):
        raise AssertionError("an array went through the host")

    with monkeypatch.context() as patch:
        patch.setattr(on_the_device.device, "host", refused)
        A = gb.Matrix.from_coo(rows, cols, values, nrows=1000, ncols=1000, dup_op=gb.binary.plus)
        v = gb.Vector.from_coo(rows, values, size=1000, dup_op=gb.binary.max)
        d = gb.Vector.from_dense(values, dtype="INT16")
        D = gb.Matrix.from_dense(values.reshape(100, 200), missing_value=0)
    assert all(not place.is_host(x._store) for x in (A, v, d, D))
    assert A.isequal(want, check_dtype=True) and v.isequal(column, check_dtype=True)
    assert np.array_equal(d.to_dense(), host[2].astype(np.int16)) and D.nvals == np.count_nonzero(host[2])
    for kind in ("csr", "csc", "dcsr", "dcsc"):
        parts = [cp.asarray(part) for part in getattr(want, f"to_{kind}")()]
        assert getattr(gb.Matrix, f"from_{kind}")(*parts, nrows=1000, ncols=1000).isequal(want), kind
    with select.using("cpu"):
        copied = gb.Matrix.from_coo(rows, cols, values, nrows=1000, ncols=1000, dup_op=gb.binary.plus)
        assert place.is_host(copied._store) and copied.isequal(want)


@pytest.mark.parametrize("groups", [1, 3, 1000])
def test_many_entries_of_few_places_are_combined(groups):
    count = 1 << 20
    rows = cp.random.default_rng(2).integers(0, groups, count)
    values = cp.arange(count, dtype=cp.int64)
    A = gb.io.from_cupy_coo(rows, rows, values, shape=(groups, groups), dup_op=gb.binary.plus)
    assert A.diag().to_dense().tolist() == np.bincount(rows.get(), weights=np.arange(count)).astype(np.int64).tolist()


def test_cupyx_matrices_go_both_ways():
    sparse = pytest.importorskip("cupyx.scipy.sparse")
    x = sparse.random(200, 300, 0.05, format="csr", dtype=np.float32, random_state=3)
    x.sum_duplicates()
    A = gb.io.from_cupy(x)
    assert address(A._store.values) == address(x.data) and address(A._store.indices) == address(x.indices)
    back = gb.io.to_cupyx_sparse(A)
    assert address(back.data) == address(x.data) and (back != x).nnz == 0
    assert gb.io.from_cupy(x.tocsc()).isequal(A) and gb.io.from_cupy(x.tocoo()).isequal(A)


# ---------------------------------------------------------------------- out


def test_full_objects_are_shared_without_a_copy():
    x = cp.arange(6.0)
    v = gb.io.from_cupy(x)
    for array in (cp.from_dlpack(v), cp.asarray(v), gb.io.to_cupy(v)):
        assert address(array) == address(x)
    A = gb.Matrix.from_dense(x.reshape(2, 3))
    assert address(cp.from_dlpack(A)) == address(A._store.values) and cp.from_dlpack(A).shape == (2, 3)
    assert cp.asarray(gb.Vector.from_scalar(5, 3).apply(gb.unary.identity).new()).tolist() == [5, 5, 5]
    v[0] = 9.0
    assert x.tolist() == [0, 1, 2, 3, 4, 5] and v.get(0) == 9.0, "what was let out is not written to"
    assert v.__dlpack_device__()[0] == 2 and np.asarray(v).tolist() == [9, 1, 2, 3, 4, 5]


def test_absent_places_are_refused():
    v = gb.Vector.from_coo(cp.asarray([0, 2]), cp.asarray([1.0, 2.0]), size=4)
    with pytest.raises(TypeError, match="has 2 entries"):
        cp.from_dlpack(v)
    assert not hasattr(v, "__cuda_array_interface__")
    assert gb.io.to_cupy(v, -1).tolist() == [1, -1, 2, -1]


def test_pytorch_and_numba():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    t = torch.arange(5, dtype=torch.float32, device="cuda")
    v = gb.io.from_cupy(t)
    back = torch.from_dlpack(v)
    assert back.is_cuda and back.data_ptr() == t.data_ptr()
    w = gb.Vector.from_coo(torch.tensor([0, 3], device="cuda"), t[:2], size=5)
    assert w.to_dict() == {0: 0.0, 3: 1.0} and not place.is_host(w._store)
    assert torch.as_tensor(gb.io.to_cupy(w, 0.5), device="cuda").tolist() == [0.0, 0.5, 0.5, 1.0, 0.5]
    with select.using("cpu"):
        assert gb.Vector.from_dense(t).to_dense().tolist() == [0, 1, 2, 3, 4]


# ---------------------------------------------------------------------- streams


def spin(milliseconds):
    """Keep the current stream busy."""
    code = 'extern "C" __global__ void spin(long long n) { long long t = clock64(); while (clock64() - t < n); }'
    cp.RawKernel(code, "spin")((1,), (1,), (np.int64(milliseconds * 1.7e6),))


# Products until a matrix is as it stays: after a few of them its columns are stored in another way, which compiles
# kernels and reads a count back, and so waits for the device (products/segments.py).
WARM = 8


def grown(A, x, times):
    """x after `times` products with A, computed step by step."""
    for _ in range(times):
        x = A.mxv(x, gb.semiring.plus_times).new()
    return x


@pytest.mark.parametrize("non_blocking", [False, True])
def test_work_goes_on_the_current_stream(non_blocking):
    n = 10_000
    indices = cp.arange(n)
    A = gb.Matrix.from_coo(indices, (indices + 1) % n, cp.ones(n), nrows=n, ncols=n)
    x = gb.Vector.from_dense(cp.arange(n, dtype=cp.float64))
    grown(A, x, WARM)
    cp.cuda.Device().synchronize()
    stream = cp.cuda.Stream(non_blocking=non_blocking)
    with stream:
        spin(1)  # compiled, and the stream's own memory pool made
        grown(A, x, 3)
        stream.synchronize()
        spin(200)
        y = grown(A, x, 3)
        done = stream.done
    assert not done, "the work was waited for, or was queued elsewhere"
    stream.synchronize()
    assert y.to_dense().tolist() == ((np.arange(n) + 3) % n).tolist()


def test_objects_of_one_stream_are_used_on_another():
    """Results, caches and freed memory of a stream that is behind are waited for by the next."""
    n = 50_000
    indices = cp.arange(n)
    first, second = (cp.cuda.Stream(non_blocking=True) for _ in range(2))
    expected = np.arange(n)
    for turn in range(6):
        with first:
            spin(20)
            A = gb.Matrix.from_coo(indices, (indices + 1) % n, cp.ones(n), nrows=n, ncols=n)
            x = gb.Vector.from_dense(cp.arange(n, dtype=cp.float64) + turn)
            x = grown(A, x, 2)
        with second:
            y = x.apply(gb.binary.plus, right=turn + 0.5).new()
            y = A.T.mxv(y, gb.semiring.plus_times).new()
            del x
        with first:
            z = y.ewise_add(y, gb.binary.plus).new()
        assert z.to_dense().tolist() == (2 * (np.roll(expected, -1) + 2 * turn + 0.5)).tolist(), turn


def test_new_threads_compute():
    """Each with its own kind of launch first: the driver knows nothing of a thread before the run-time was called
    there."""
    A = gb.Matrix.from_coo(np.arange(300), (np.arange(300) * 7 + 1) % 300, np.ones(300), nrows=300, ncols=300)
    v = gb.Vector.from_coo(np.arange(0, 300, 2), np.arange(150.0), size=300)
    G = Graph(A)
    calls = [
        lambda: v.apply(gb.unary.ainv).new(),
        lambda: v.vxm(A).new(),
        lambda: bfs(G, 0).levels,
        lambda: sssp(G, 0).distances,
        lambda: v.ewise_add(v, gb.binary.plus).new(),
        lambda: v.select("!=", 4).new(),
        lambda: A.mxv(v).new(),
    ]
    want, got = [call() for call in calls], {}
    threads = [threading.Thread(target=lambda k=k: got.update({k: calls[k]()})) for k in range(len(calls))]
    for thread in threads:
        thread.start()
        thread.join()
    assert all(got[k].isequal(want[k]) for k in range(len(calls)))


def test_a_search_on_a_stream():

    n = 1000
    indices = cp.arange(n - 1)
    A = gb.Matrix.from_coo(
        cp.concatenate([indices, indices + 1]), cp.concatenate([indices + 1, indices]), True, nrows=n, ncols=n
    )
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        levels = bfs(A, 0).levels  # compiled, and the stream's workspace made
        stream.synchronize()
        spin(100)
        again = bfs(A, 0).levels
        assert not stream.done
    assert again.isequal(levels) and levels.get(n - 1) == n - 1
