"""TileSpMSpV and the directions of TileBFS compiled by Numba against NumPy's rows.

For each size of tiles, each mask, sparse and full vectors.
"""

import itertools

import numpy as np
import pytest

import grb_tile as gb
from grb_tile.backends.cpu.compiled import tiled
from grb_tile.backends.cpu.jit import threads
from grb_tile.planner import tuning
from support import seeds

pytest.importorskip("numba")
SEMIRINGS = {
    "plus_times": gb.semiring.plus_times, "min_plus": gb.semiring.min_plus, "any_pair": gb.semiring.any_pair,
    "lor_land": gb.semiring.lor_land, "min_firsti": gb.semiring.ss.min_firsti,
}  # fmt: skip


def operands(salt, one=None):
    """(A, x, mask or None) of random shapes: thin and full tiles, no entries of x, few, all; each kind of mask."""
    rng = np.random.default_rng([seeds.SEED & 0xFFFFFFFF, salt])
    for share, x_share, kind in itertools.product((0.01, 0.1, 0.7), (0.0, 0.05, 1.0), range(3)):
        shape = rng.integers(1, 40, 2) if share == 0.01 else rng.integers(40, 200, 2)
        rows, cols = (rng.random(shape) < share).nonzero()
        at, allowed = (np.flatnonzero(rng.random(n) < part) for n, part in ((shape[1], x_share), (shape[0], 0.5)))
        a, b = (rng.integers(1, 9, k.size).astype(float) if one is None else one for k in (rows, at))
        A = gb.Matrix.from_coo(rows, cols, a, nrows=shape[0], ncols=shape[1], dtype=float)
        M = gb.Vector.from_coo(allowed, True, size=shape[0])
        yield A, gb.Vector.from_coo(at, b, size=shape[1], dtype=float), (None, M.S, ~M.S)[kind]


def agrees(A, x, mask, semiring, plan):
    """Is the product under the plan that of NumPy's rows, and was it compiled where there was work?"""
    with gb.plan(force=("rows", "csr", "numpy")):
        want = A.mxv(x, semiring).new(mask=mask)
    with gb.plan(force=(*plan, "numba")):
        got = A.mxv(x, semiring).new(mask=mask)
    assert got.isequal(want), f"seed {seeds.SEED}: {A.shape} {A.nvals} entries, {x.nvals} of x, mask {mask}"
    if A.nvals > 1 and x.nvals > 1:  # one entry is not stored as one value for all
        (found,) = gb.explain().plans
        assert found.format == plan[0] and found.engine == "numba"


@pytest.mark.parametrize("nt", [16, 32, 64])
@pytest.mark.parametrize("name", SEMIRINGS)
def test_compiled_rows_of_tiles(name, nt):
    for A, x, mask in operands(nt):
        agrees(A, x, mask, SEMIRINGS[name], ("tiled", f"nt{nt}"))


@pytest.mark.parametrize("nt", [16, 32, 64])
@pytest.mark.parametrize("direction", ["bittiled", "push_csc", "push_csr", "pull_csc"])
def test_compiled_directions_of_bit_tiles(direction, nt):
    """A level of TileBFS as a product: any_pair, and min_plus of operands of one value each."""
    for semiring in (gb.semiring.any_pair, gb.semiring.min_plus):
        for A, x, mask in operands(nt, one=3.0):
            agrees(A, x, mask, semiring, (direction, f"nt{nt}"))


def test_threads_share_the_tile_rows(monkeypatch):
    monkeypatch.setattr(tuning, "PARALLEL_MATVEC", 1)
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
