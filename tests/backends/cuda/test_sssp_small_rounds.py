"""Rounds that stay small are relaxed by one block, a phase of the grid's SSSP (kernels/graph/sssp.cuh)."""

import re

import numpy as np
import pytest
from backends.cuda.test_sssp import check, generator, store_of

from cuda_emulation.backend import shim
from grb_tile import kernels
from grb_tile.backends.cuda.graph import sssp as paths
from grb_tile.planner import force

CALM = int(re.search(r"CALM_ROUNDS = (\d+)", kernels.source("graph/sssp.cuh"))[1])
LENGTH = 6 * CALM


@pytest.fixture(autouse=True)
def on_the_grid():
    with force("grid_wide"):
        yield


def behind_a_hub(leaves, weights=None, dtype="INT64"):
    """Two paths of LENGTH edges, joined by a hub with leaves; the hub and the first vertex of the second path."""
    hub, far = LENGTH, LENGTH + 1 + leaves
    rows = np.concatenate((np.arange(LENGTH), np.full(leaves + 1, hub), np.arange(far, far + LENGTH - 1)))
    cols = np.concatenate((np.arange(1, LENGTH + 1), np.arange(hub + 1, far + 1), np.arange(far + 1, far + LENGTH)))
    weights = np.ones(rows.size) if weights is None else weights(rows.size)
    return store_of(far + LENGTH, rows, cols, weights, dtype, True), hub, far


@pytest.mark.parametrize("leaves", [3, 31, 64, 127, 128, 129, 600, 2100])
def test_rounds_of_equal_weights_are_levels(leaves):
    """Without a bound each round relaxes the vertices of a level, whoever does it."""
    A, hub, far = behind_a_hub(leaves)
    degrees = np.diff(A.indptr)
    for source in (0, hub, far + LENGTH - 1):
        rows = check(A, None, source, np.inf).rows()
        store = paths.shortest_paths(shim().device, A, lambda: None, source, A.values.max(), np.inf, False)[0]
        level = shim().device.host(store.values)
        assert [row["frontier"] for row in rows] == np.bincount(level).tolist()
        assert [row["edges"] for row in rows] == np.bincount(level, degrees).astype(int).tolist()


@pytest.mark.parametrize("delta", [1, 40, 400, None])
@pytest.mark.parametrize("dtype", ["INT32", "FP64"])
def test_bounds_are_raised_between_small_rounds(delta, dtype):
    rng = generator(24)
    A, hub, far = behind_a_hub(300, lambda count: rng.integers(1, 60, count), dtype)
    for source in (0, hub, far + 3):
        check(A, A, source, delta)


def test_random_steps():
    """Ladders whose steps have random widths: lists and queues grow beyond one block and shrink again."""
    for turn in range(6):
        rng = generator(25, turn)
        widths = rng.integers(1, [5, 60, 400][turn % 3], 25)
        starts = np.concatenate(([0], np.cumsum(widths)))
        rows, cols = [], []
        for a, b, c in zip(starts, starts[1:], starts[2:], strict=False):
            rows.append(np.concatenate((rng.integers(a, b, 2 * (c - b)), np.full(c - b, a))))
            cols.append(np.concatenate((rng.integers(b, c, 2 * (c - b)), np.arange(b, c))))
        rows, cols = np.concatenate(rows), np.concatenate(cols)
        A = store_of(int(starts[-1]), rows, cols, rng.integers(1, 100, rows.size), "INT32", True)
        for delta in (None, 30, np.inf):
            check(A, A, 0, delta)
