"""Devices and threads on a GPU: eight threads of one device, streams of their own, two devices where they are there."""

import threading

import numpy as np
import pytest

cp = pytest.importorskip("cupy")

import grb_tile as gb  # noqa: E402
from grb_tile.algorithms import Graph, bfs, sssp  # noqa: E402
from grb_tile.backends import select  # noqa: E402
from grb_tile.exceptions import GraphblasException, InvalidValue  # noqa: E402
from support import seeds  # noqa: E402

N = 20_000


def several():
    try:
        return cp.cuda.runtime.getDeviceCount() > 1
    except cp.cuda.runtime.CUDARuntimeError:
        return False


two = pytest.mark.skipif(not several(), reason="this machine has one device; tests/backends/cuda emulates two")


@pytest.fixture(autouse=True)
def on_cuda():
    with gb.config.set(backend="cuda"):
        yield


def graph():
    rng = np.random.default_rng(seeds.SEED & 0xFFFFFFFF)
    rows, cols = rng.integers(0, N, (2, 8 * N))
    with select.using("cpu"):
        return gb.Matrix.from_coo(
            np.r_[rows, cols], np.r_[cols, rows], np.ones(16 * N), nrows=N, ncols=N, dup_op=gb.binary.max
        )


def work(A, k):
    """Products of both methods with masks, elements, reductions, an inner product, searches: numbers that are exact."""
    found = []
    v = gb.Vector.from_coo(np.arange(k, N, 97), 1.0, size=N)
    visited = v.dup()
    for _ in range(4):
        w = gb.Vector(float, N)
        w(~visited.S, replace=True) << v.vxm(A, gb.semiring.plus_times)
        visited(w.S) << w
        x = A.mxv(visited, gb.semiring.max_first).new()
        found += [w.nvals, w.reduce().new().value, visited.inner(visited).new().value, x.get(k), visited.nvals]
        v = w
    G = Graph(A, False)
    found.append(bfs(G, k).levels.reduce(gb.monoid.plus).new().value)
    found.append(sssp(G, k).distances.reduce(gb.monoid.max).new().value)
    return found


def threads_of(call, count):
    """call(k) in `count` threads at once; the errors that they raised."""
    raised, start = [], threading.Barrier(count)

    def run(k):
        start.wait()
        try:
            call(k)
        except BaseException as error:  # noqa: BLE001  a thread's error must reach the test
            raised.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


@pytest.mark.parametrize("streams", ["one", "their own", "changing"])
def test_eight_threads_of_one_device(streams):
    A = graph().to_device("cuda")
    want = {k: work(A, k) for k in range(8)}
    for _ in range(3):
        got = {}
        A = A.dup()  # without cached forms, so that threads make them at the same time

        def call(k, A=A, got=got):
            if streams == "one":
                got[k] = work(A, k)
                return
            with cp.cuda.Stream(non_blocking=True):
                got[k] = work(A, k)
            if streams == "changing":
                with cp.cuda.Stream(non_blocking=True):
                    assert work(A, k) == got[k]

        assert not threads_of(call, 8)
        assert got == want, f"seed {seeds.SEED}"


def test_a_device_that_is_not_there():
    count = cp.cuda.runtime.getDeviceCount()
    with pytest.raises(GraphblasException, match=f"no device {count}; this machine has {count}"):
        gb.config.set(device=count)
    assert gb.config.get("device") == 0
    with gb.device(0):
        assert gb.Vector.from_dense(np.arange(3.0)).apply(gb.unary.ainv).new().device == "cuda:0"


@two
def test_moves_between_two_devices():
    with select.using("cpu"):
        v = gb.Vector.from_dense(np.arange(1000.0))
    first, second = v.to_device("cuda:0"), v.to_device("cuda:1")
    assert (first.device, second.device, first.to_device("cuda:1").device) == ("cuda:0", "cuda:1", "cuda:1")
    with gb.device(1):
        assert cp.cuda.Device().id == 1
        w = second.apply(gb.unary.ainv).new()
        assert w.device == "cuda:1" and gb.io.to_cupy(w, 0.0).device.id == 1
        with pytest.raises(InvalidValue, match="resides on cuda:0, and cuda:1 computes"):
            first.apply(gb.unary.ainv).new()
    assert cp.cuda.Device().id == 0
    back = w.to_device("cuda:0")
    assert back.to_dense().tolist() == w.to_dense().tolist() == (-np.arange(1000.0)).tolist()
    assert w.get(5) == -5.0 and w.nvals == 1000, "the host reads from every device"


@two
def test_all_of_it_on_the_second_device():
    A = graph()
    want = work(A, 3)
    with gb.config.set(device=1):
        assert work(A, 3) == want
        got = {}
        assert not threads_of(lambda k: got.update({k: work(A, 3)}), 4)
        assert got == dict.fromkeys(range(4), want)
    with gb.device(1):
        assert work(A.to_device("cuda"), 3) == want


@two
def test_two_devices_from_two_threads():
    A, got = graph(), {}
    want = work(A, 5)

    def call(k):
        with gb.device(k % 2):
            got[k] = [work(A, 5) for _ in range(3)]

    assert not threads_of(call, 4)
    assert got == {k: [want] * 3 for k in range(4)}


def test_the_measured_costs_of_a_device_agree_with_the_table():
    """Loops that other programs do not disturb take what the table says, within half as much again."""
    from grb_tile.backends.cuda.runtime.costs import measure
    from grb_tile.planner.device_profile import H200_LOOPS, PROFILES

    device = select.named("cuda").device
    if device.launcher.device_name() not in PROFILES:
        pytest.skip(f"no figures of {device.launcher.device_name()} are in the table")
    found = measure(device)
    for name in ("dram_bytes_ns", "atomic_ns", "gather_ns"):
        assert getattr(found, name) == pytest.approx(getattr(H200_LOOPS, name), rel=0.5), name
