"""TileSpMSpV compiled by Numba against NumPy's rows, for each size of tiles, each mask, sparse and full vectors."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import grb_tile as gb
from grb_tile.backends.cpu.compiled import tiled
from grb_tile.backends.cpu.jit import threads
from support import seeds

pytest.importorskip("numba")
SEMIRINGS = {
    "plus_times": gb.semiring.plus_times, "min_plus": gb.semiring.min_plus, "any_pair": gb.semiring.any_pair,
    "lor_land": gb.semiring.lor_land, "min_firsti": gb.semiring.ss.min_firsti,
}  # fmt: skip


@pytest.mark.parametrize("nt", [16, 32, 64])
@pytest.mark.parametrize("name", SEMIRINGS)
@given(
    salt=st.integers(0, 2**20), shape=st.tuples(st.integers(1, 200), st.integers(1, 200)),
    share=st.sampled_from([0.01, 0.1, 0.7]), x_share=st.sampled_from([0.0, 0.05, 1.0]),
    mask=st.sampled_from([None, "structure", "complement"]),
)  # fmt: skip
@settings(max_examples=12)
def test_compiled_rows_of_tiles(name, nt, salt, shape, share, x_share, mask):
    """The same entries as over CSR; the plan says that the kernel ran where there was work."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, salt])
    rows, cols = (rng.random(shape) < share).nonzero()
    A = gb.Matrix.from_coo(rows, cols, rng.integers(1, 9, rows.size).astype(float), nrows=shape[0], ncols=shape[1])
    at = np.flatnonzero(rng.random(shape[1]) < x_share)
    x = gb.Vector.from_coo(at, rng.integers(1, 9, at.size).astype(float), size=shape[1])
    M = gb.Vector.from_coo(np.flatnonzero(rng.random(shape[0]) < 0.5), True, size=shape[0])
    allow = {None: None, "structure": M.S, "complement": ~M.S}[mask]
    with gb.plan(force=("rows", "csr", "numpy")):
        want = A.mxv(x, SEMIRINGS[name]).new(mask=allow)
    with gb.plan(force=("tiled", "numba", f"nt{nt}")):
        got = A.mxv(x, SEMIRINGS[name]).new(mask=allow)
    assert got.isequal(want), f"seed {seeds.SEED}"
    if A.nvals and x.nvals:
        (plan,) = gb.explain().plans
        assert plan.format == "tiled" and plan.engine == "numba"


def test_threads_share_the_tile_rows(monkeypatch):
    monkeypatch.setattr(tiled, "PARALLEL_WORK", 1)
    monkeypatch.setattr(threads, "thread_count", lambda: 3)
    monkeypatch.setattr(tiled.jit, "thread_count", lambda: 3)
    rng = np.random.default_rng(seeds.SEED & 0xFFFFFFFF)
    rows, cols = (rng.random((1000, 300)) < 0.1).nonzero()
    A = gb.Matrix.from_coo(rows, cols, 1.0, nrows=1000, ncols=300)
    x = gb.Vector.from_coo(np.arange(0, 300, 3), 2.0, size=300)
    with gb.plan(force=("tiled", "numba", "nt64")):
        got = A.mxv(x, "plus_times").new()
    with gb.plan(force=("rows", "csr", "numpy")):
        assert got.isequal(A.mxv(x, "plus_times").new())
