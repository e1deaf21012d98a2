"""Searches and products on emulated devices of each architecture: launches ask for no more than it has, fallbacks run.

The CPU emulation refuses a launch with more shared memory than a block may have, compiles the reductions by shuffles
where the architecture has no others. Tables have the sizes that they have on the device.

With GRB_TILE_TEST_DEVICE=cuda the GPU is restricted to what each of these devices has, so that the same
fallbacks run on it.
"""

from dataclasses import replace

import numpy as np
import pytest
from backends import agree, samples

from cuda_emulation.backend import EMULATED, shim
from cuda_emulation.launcher import EmulatedLauncher, EmulationError
from grb_tile import dtypes
from grb_tile.backends import select
from grb_tile.backends.cpu.graph import bfs_numpy as plain
from grb_tile.backends.cuda.backend import CudaBackend
from grb_tile.backends.cuda.graph import bfs, bfs_multi, bfs_multi_graph, bfs_tiles, sssp
from grb_tile.backends.cuda.products.masked import BITMAP, _Rows
from grb_tile.operators import get_typed_op
from grb_tile.planner import force, tuning, unrecorded
from grb_tile.planner.device_limits import ENVIRONMENT, KIB, LIMITS, restricted
from grb_tile.storage import convert, place
from grb_tile.storage.place import host
from grb_tile.storage.store import Compressed, StoredMask
from support import seeds
from support.graphs import dense, grid, power_law

NUMPY = select.named("numpy")
PROCESSORS = {75: 40, 80: 108, 86: 46, 89: 24, 90: 132, 100: 148, 120: 36}  # T4, A100, RTX 3070, 4060, H200, B200, 5060
PROFILES = {f"sm_{arch}": replace(limits, processors=PROCESSORS[arch]) for arch, limits in LIMITS.items()}
PROFILES["48 KiB"] = restricted(PROFILES["sm_90"], "shared=48 reduce_sync=0")
# What the GPU is restricted to, one after the other.
FORCED = {
    "shuffles": "reduce_sync=0", "48 KiB": "shared=48 reduce_sync=0",
    "64 KiB": "shared=64", "99 KiB": "shared=99", "24 multiprocessors": "processors=24",
    "46 multiprocessors": "processors=46",
    **{f"sm_{arch}": f"arch={arch} processors={PROCESSORS[arch]}" for arch in LIMITS},
}  # fmt: skip


@pytest.fixture(params=PROFILES if EMULATED else FORCED)
def backend(request, monkeypatch):
    shim()  # has its place among the devices before this backend takes it for a test
    monkeypatch.setattr(place, "_devices", dict(place._devices))
    if EMULATED:
        return CudaBackend(launcher=EmulatedLauncher(limits=PROFILES[request.param], small=False))
    from grb_tile.backends.cuda.runtime.launch import Launcher

    monkeypatch.setenv(ENVIRONMENT, FORCED[request.param])
    return CudaBackend(launcher=Launcher(shim().device.number))


def rng_of(*salt):
    return np.random.default_rng([seeds.SEED & 0xFFFFFFFF, *salt])


def levels_of(A, source):
    return dense(plain.bfs(A, None, np.array([source]), True, False, None, None)[0], A.nrows)[0]


def test_searches_from_one_source(backend, monkeypatch):
    """BFS by the grid, over bit tiles, and by a few blocks; shortest paths likewise."""
    device, launcher = backend.device, backend.device.launcher
    A = power_law(700, 5000, 3)
    assert (
        dense(host(bfs.traverse(device, A, A, 5, True, False, None, None, None)[0]), 700)[0] == levels_of(A, 5)
    ).all()
    found = bfs_tiles.traverse(device, A, A, 5, True, False, None, None, None)[0]
    assert (dense(host(found), 700)[0] == levels_of(A, 5)).all()
    monkeypatch.setattr(tuning, "HIGH_DIAMETER_VERTICES", 0)
    A = grid(13, 17)
    found = bfs.traverse(device, A, A, 5, True, False, None, None, None)[0]
    assert (dense(host(found), A.nrows)[0] == levels_of(A, 5)).all()
    weighted = Compressed(A.nrows, A.ncols, dtypes.INT32, A.indptr, A.indices, np.ones(A.nvals, np.int32))
    distances = host(sssp.shortest_paths(device, weighted, lambda: weighted, 5, 1, None, False)[0])
    assert (dense(distances, A.nrows)[0] == levels_of(A, 5)).all()
    assert not EMULATED or {"bfs", "bfs_tiles", "sssp", "bfs_high_diameter", "sssp_high_diameter"} <= set(
        launcher.launches
    )


def test_searches_from_many_sources(backend):
    device, launcher = backend.device, backend.device.launcher
    A = power_law(500, 4000, 4)
    sources = rng_of(4).integers(0, 500, 9).tolist()
    levels, parents, _ = bfs_multi.traverse_many(device, A, A, sources, None, None, True, True)
    for C in (levels, parents):
        C = host(C)
        for s, source in enumerate(sources):
            reached = np.flatnonzero(levels_of(A, source) >= 0)
            assert C.indices[C.indptr[s] : C.indptr[s + 1]].tolist() == reached.tolist()
    hubs = 8 * bfs_multi_graph.hubs_of(launcher.limits)
    assert not EMULATED or hubs == launcher.launches["bfs_multi"]
    assert hubs == {227: 128, 163: 128, 99: 64, 64: 32, 48: 32}[launcher.shared // KIB] * KIB
    bfs_multi.traverse_many(device, A, A, sources, None, None, True, False)


@pytest.mark.parametrize("dtype", [dtypes.FP32, dtypes.FC64], ids=str)
def test_products(backend, dtype, monkeypatch):
    """SpMV with relabelled columns, a column-wise product with sums of high-degree rows, SpGEMM in two phases."""
    monkeypatch.setattr(tuning, "DELTA16_SHARE", 2.0)
    monkeypatch.setattr(tuning, "RELABELLED_SHARE", -1.0)
    monkeypatch.setattr(tuning, "RELABELLED_ENTRIES", 0)
    if dtype is dtypes.FC64 and backend.device.launcher.shared > 64 * KIB:
        return  # values of 16 bytes: where shared memory is short
    semiring, rng = get_typed_op("plus_times", dtype, kind="semiring"), rng_of(5)
    keys = np.unique((rng.random(3000) ** 3 * 200).astype(np.int64) * 300 + rng.integers(0, 300, 3000))
    A = convert.compressed(200, 300, dtype, keys // 300, keys % 300, samples.values(rng, dtype, keys.size))
    x = samples.random_vector(rng, (300, np.arange(300)), dtype, 1.0)
    want = NUMPY.matvec_rows(A, x, semiring, None)
    for _ in range(tuning.BUILD_AFTER + 2):
        agree.assert_same(backend.matvec_rows(A, x, semiring, None), want)
    B = NUMPY.transpose(A)
    want = NUMPY.matmul(A, B, semiring, None)
    with force("gustavson"), force("two_phases"):
        agree.assert_same(host(backend.matmul(A, B, semiring, None)), want)
    if dtype is dtypes.FP32:
        u = samples.random_vector(rng, (200, np.arange(0, 200, 2)), dtype, 1.0)
        with force("merge_hubs_shared"):
            agree.assert_same(backend.matvec_cols(A, u, semiring, None), NUMPY.matvec_cols(A, u, semiring, None))
        assert not EMULATED or backend.device.launcher.launches["merge_evenly"] > 0


def test_the_longest_bitmap_of_a_masked_product(backend, monkeypatch):
    """A row of A, too long for a hash table, whose bitmap takes all the dynamic shared memory that a block may have."""
    semiring, rng = get_typed_op("plus_pair", dtypes.INT64, kind="semiring"), rng_of(6)
    capacities, launch = [], _Rows._launch

    def watched(self, targets, arguments, table, by_blocks, threads, resident):
        capacities.append((table, arguments[-1]))
        launch(self, targets, arguments, table, by_blocks, threads, resident)

    monkeypatch.setattr(_Rows, "_launch", watched)
    span = 8 * backend.device.launcher.limits.dynamic_shared - 32
    cols = np.unique(np.append(rng.integers(0, span, 20_000), (0, span - 1)))
    A = convert.compressed(1, span, dtypes.INT64, np.zeros(cols.size, np.int64), cols, np.ones(cols.size, np.int64))
    rows, cols = np.arange(8).repeat(3000), rng.choice(span, (8, 3000), replace=False)
    cols[:, :1000] = rng.choice(A.indices, 1000, replace=False)
    keys = np.unique(rows * span + cols.ravel())
    BT = convert.compressed(8, span, dtypes.INT64, keys // span, keys % span, np.ones(keys.size, np.int64))
    pattern = convert.compressed(1, 8, dtypes.BOOL, np.zeros(8, np.int64), np.arange(8), np.ones(8, np.bool_))
    got = host(backend.matmul(A, None, semiring, StoredMask(pattern), unrecorded("dot"), BT=BT))
    agree.assert_same(got, NUMPY.matmul(A, None, semiring, StoredMask(pattern), unrecorded("dot"), BT=BT))
    assert capacities and all(table != BITMAP or capacity >= (span // 32 + 1) * 4 for table, capacity in capacities)


@pytest.mark.skipif(not EMULATED, reason="what the CPU emulation refuses")
def test_a_launch_that_asks_for_too_much_is_refused():
    launcher = EmulatedLauncher(limits=LIMITS[75])
    kernel = launcher.kernel("graph/bfs_multi.cuh", "bfs_multi", "", ("int32_t",))
    with pytest.raises(EmulationError, match="131072 bytes of shared memory, sm_75 has 65536"):
        kernel.launch(35, 1, 64, 16384 * 8)
