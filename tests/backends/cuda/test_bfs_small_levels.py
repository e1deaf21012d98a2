"""Levels that stay small are one block's, a phase of the grid's BFS (kernels/graph/bfs_small.cuh)."""

import re

import numpy as np
import pytest
from backends.cuda.test_bfs import check

from cuda_emulation.backend import shim
from grb_tile import kernels
from grb_tile.backends.cuda.graph import outcome as outcomes
from grb_tile.planner import force, tuning
from support.graphs import graph_of, transposed
from support.seeds import generator

TEXT = kernels.source("graph/bfs_small.cuh")
EDGES, VERTICES, CALM = (
    int(re.search(rf"{name} = (\d+)", TEXT)[1]) for name in ("SMALL_EDGES", "SMALL_VERTICES", "CALM_LEVELS")
)


def path(first, count):
    """(rows, cols) of a path of `count` edges from `first`, whose further vertices are first + 1, ..."""
    at = np.arange(first, first + count)
    return at, at + 1


def joined(n, *parts, both=True):
    """The graph of pairs (rows, cols)."""
    rows, cols = (np.concatenate([np.atleast_1d(part[k]) for part in parts]) for k in (0, 1))
    A = graph_of(n, rows, cols, both)
    return A, A if both else transposed(A)


@pytest.fixture(autouse=True)
def on_the_grid():
    with force("grid_wide"):
        yield


@pytest.mark.parametrize("leaves", [5, EDGES - 2, EDGES - 1, EDGES, 2 * EDGES])
@pytest.mark.parametrize("direction", [None, "push"])
def test_a_path_behind_a_hub(leaves, direction):
    """From the hub, and from the ends of two paths: small levels, the hub's row, small or not, small levels again."""
    length = 10 * CALM
    hub, far = length, length + 1 + leaves
    star = np.full(leaves, hub), np.arange(hub + 1, far)
    A, AT = joined(far + length, path(0, length), star, (hub, far), path(far, length - 1))
    for source in (0, hub, hub + 1, far + length - 1):
        rows = check(A, AT, source, direction).rows()
        assert len(rows) > length


@pytest.mark.parametrize("width", [VERTICES - 1, VERTICES, VERTICES + 1, VERTICES + 200])
@pytest.mark.parametrize("levels", [1, 2])
def test_many_vertices_of_one_edge_each(width, levels):
    """Few edges, and more vertices than the block's queue has: some are staged for the grid, and all go on."""
    start = 3 * CALM
    names = start + 1 + np.arange(width)
    parts = [path(0, start), (np.full(width, start), names)]
    for k in range(levels):
        parts.append((names + k * width, names + (k + 1) * width))
    end = start + 1 + (levels + 1) * width
    parts += [(names + levels * width, np.full(width, end)), path(end, 3 * CALM)]
    A, AT = joined(end + 3 * CALM + 1, *parts, both=False)
    check(A, AT, 0, "push")
    check(A, None, 0)
    check(A, AT, 0)


def test_vertices_without_edges_count(monkeypatch):
    """Each vertex of a path has leaves; the last level has leaves alone, or a vertex that leads nowhere new."""
    length = 4 * CALM
    spine, leaves = np.arange(length), length + np.arange(3 * length)
    for both in (False, True):
        A, AT = joined(4 * length, path(0, length - 1), (spine.repeat(3), leaves), both=both)
        check(A, AT, 0)
    B, BT = joined(4 * length, path(0, length - 1), (spine[:-1].repeat(3), leaves[:-3]), (length - 1, 0), both=False)
    check(B, BT, 0)


def test_targets_and_bounds_among_small_levels():
    n = 30 * CALM  # more than two edges times SMALL_FRONTIER: nothing is pulled
    A, AT = joined(n, path(0, n - 1))
    for where in (CALM - 1, CALM, CALM + 1, CALM + 2, 2 * CALM, 4 * CALM):
        check(A, AT, 0, max_level=where)
        assert check(A, AT, 0, target=where).reached == where + 1
        for source in ([0, n - 1], [0, 1, 2]):
            check(A, AT, source, max_level=where)


def test_the_direction_is_chosen_as_on_the_grid():
    """A hub's leaves are pulled because the path before it has been explored; they are few, so its level is small."""
    leaves, length = 40, 400
    A, AT = joined(length + 1 + leaves, path(0, length), (np.full(leaves, length), length + 1 + np.arange(leaves)))
    rows, explored, expected = check(A, AT, 0).rows(), 0, []
    for k, row in enumerate(rows):
        wide = row["edges"] * 16 > A.nrows  # SMALL_FRONTIER
        expected.append("pull" if k and wide and row["edges"] * tuning.BFS_ALPHA > A.nvals - explored else "push")
        if expected[-1] == "pull":
            break
        explored += row["edges"]
    assert [row["direction"] for row in rows[: len(expected)]] == expected
    assert expected[-1] == "pull" and rows[len(expected) - 1]["edges"] == leaves + 1


def test_random_graphs_of_small_levels():
    """Ladders whose steps have random widths, rows of random lengths and repeats, long and short."""
    for turn in range(6):
        rng = generator("small levels", turn)
        widths = rng.integers(1, [4, 40, 300][turn % 3], 30)
        starts = np.concatenate(([0], np.cumsum(widths)))
        parts = [path(0, 0)]
        for a, b, c in zip(starts, starts[1:], starts[2:], strict=False):
            rows = np.concatenate((rng.integers(a, b, 2 * (c - b)), np.full(c - b, a)))
            parts.append((rows, np.concatenate((rng.integers(b, c, 2 * (c - b)), np.arange(b, c)))))
        A, AT = joined(int(starts[-1]), *parts, both=turn % 2 == 0)
        for levels, parents in ((True, True), (True, False), (False, True)):
            check(A, AT, 0, levels=levels, parents=parents)


def test_levels_beyond_the_record(monkeypatch):
    monkeypatch.setattr(outcomes, "RECORD_LEVELS", 6)
    monkeypatch.setattr("grb_tile.backends.cuda.graph.bfs.RECORD_LEVELS", 6)
    n = 30 * CALM
    A, AT = joined(n, path(0, n - 1))
    from grb_tile.backends.cuda.graph import bfs

    found = bfs.traverse(shim().device, A, AT, 0, True, False, None, None, None)[2]
    rows = found.rows()
    assert found.reached == n and len(rows) == n
    assert [row["frontier"] for row in rows[:6]] == [1] * 6
