"""Traversals whose rows, queues and chunks are exactly full, or one entry from it (test_full_sizes.py has the table).

What the device finds is compared with what the CPU backend finds.
"""

from functools import lru_cache

import numpy as np
import pytest
from backends.full_operands import LENGTHS, around, quick, rng_of

from cuda_emulation.backend import EMULATED, shim, using_shim
from cuda_emulation.launcher import EmulatedLauncher
from grb_tile import Matrix, Vector, algorithms, graph
from grb_tile.backends.cuda.graph import bfs, cores, topological
from grb_tile.backends.cuda.runtime.device import Device
from grb_tile.planner import force, tuning
from grb_tile.storage import place
from support.graphs import graph_of, transposed


def hubs(rng, lengths, leaves, symmetric=True, chained=True):
    """A hub for each length with so many leaves; the leaves in turn lead to the next hub, where `chained`."""
    first = len(lengths)
    rows, cols = [], []
    for h, length in enumerate(lengths):
        found = np.sort(rng.choice(leaves, length, replace=False)) + first
        rows.append(np.full(length, h))
        cols.append(found)
        if chained and length:
            rows.append(found[-1:])
            cols.append(np.array([(h + 1) % first]))
    n = first + leaves
    rows, cols = np.concatenate(rows), np.concatenate(cols)
    number = rng.permutation(n)
    return graph_of(n, number[rows], number[cols], symmetric), number


def everyone(rng, symmetric=True):
    """Rows of every length, of as many hubs twice."""
    lengths = rng.permutation([length for length in LENGTHS if length] * 2)
    return hubs(rng, lengths, 1100, symmetric)


def matrix(A, values=None):
    made = Matrix._from_store(A, A.dtype)
    if values is None:
        return made
    rows, cols, _ = made.to_coo()
    return Matrix.from_coo(rows, cols, values[: rows.size], nrows=A.nrows, ncols=A.ncols)


def same_on_both(function):
    """function() gives lists; on the device and on the host they are the same."""
    wanted = function()
    with using_shim() as backend:
        backend.detours.clear()
        found = function()
        assert not backend.detours
    assert found == wanted


def pairs(vector):
    return tuple(part.tolist() for part in vector.to_coo())


@pytest.mark.parametrize("kernel", ["grid_wide", "grid_low_skew", "blocks_high_diameter", "bittiled"])
def test_levels(kernel, monkeypatch):
    monkeypatch.setattr(tuning, "LOCAL_SHARE", 2)
    A, number = everyone(rng_of(1))
    for source in (number[0], number[40], number[-1]):
        for most in (0, 1, None):
            same_on_both(lambda: pairs(_bfs(A, int(source), kernel, most).levels))


def _bfs(A, source, kernel, most):
    with force(kernel):
        return algorithms.bfs(matrix(A), source, max_level=most)


@pytest.mark.parametrize("parents", quick(True, False))
def test_levels_of_many_sources(parents):
    """64 sources to a batch: one fewer, one more; rows around what a lane, eight lanes and a block take."""
    rng = rng_of(2, parents)
    A, number = everyone(rng)
    for count in (1, *around(64)):
        sources = number[rng.choice(number.size, count, replace=False)].tolist()
        with using_shim():
            got = algorithms.bfs_multi(matrix(A), sources, parents=parents)
            levels = [part.tolist() for part in got.levels.to_coo()]
        wanted = algorithms.bfs_multi(matrix(A), sources).levels
        assert levels == [part.tolist() for part in wanted.to_coo()]
        if parents:
            i, v, parent = (part.tolist() for part in got.parents.to_coo())
            depth = dict(zip(zip(*levels[:2], strict=True), levels[2], strict=True))
            assert all(
                u == x == sources[s] or depth[s, u] == depth[s, x] - 1 for s, x, u in zip(i, v, parent, strict=True)
            )


@pytest.mark.parametrize("kernel", ["grid_wide", "blocks_high_diameter"])
@pytest.mark.parametrize("type_", [np.int32, np.float32, np.float64])
def test_shortest_paths(type_, kernel):
    rng = rng_of(3)
    A, number = everyone(rng)
    rows, cols = np.arange(A.nrows).repeat(np.diff(A.indptr)), A.indices
    low, high = np.minimum(rows, cols).astype(np.int64), np.maximum(rows, cols)
    weights = (1 + (low * 7919 + high * 104729) % 61).astype(type_)

    def distances():
        with force(kernel):
            return pairs(algorithms.sssp(matrix(A, weights), int(number[0])).distances)

    same_on_both(distances)


@lru_cache(maxsize=1)
def one_block():
    """A device of which one block is resident: its queues and lists get everything."""
    return Device(EmulatedLauncher(blocks=2)) if EMULATED else shim().device


@pytest.mark.parametrize("count", quick(64, 63, 65))
def test_wide_rows_of_a_queue(count):
    """As many wide rows on one level as the block's list has places (TOPOLOGICAL_WIDE_ROWS)."""
    rng = rng_of(4, count)
    A, number = hubs(rng, [*rng.choice([257, 258, 300], count), *around(256)], 400, symmetric=False, chained=False)
    found = place.host(topological.topological_levels(one_block(), A)).values
    assert found[number[: count + 3]].tolist() == [0] * (count + 3)
    held = np.bincount(A.indices, minlength=A.nrows) > 0
    assert found.tolist() == np.where(held, 1, 0).tolist()


def core_numbers(A, device=None):
    if device is not None:
        return place.host(cores.core_numbers(device, A, None)).values.tolist()
    return algorithms.core_number(matrix(A)).values.to_dense().tolist()


@pytest.mark.parametrize("count", quick(96, *around(64), 95, 97))
def test_wide_rows_of_cores(count):
    """Vertices of more than 1024 entries, removed at the same time: 32 go to the queue, the others are listed.

    64 of those are a block's next turn, as many as its list of wide rows has places (WIDE_ROWS).
    """
    wide, leaves = np.arange(count), np.arange(count, count + 1026)
    A = graph_of(leaves[-1] + 1, wide.repeat(leaves.size), np.tile(leaves, count))
    assert core_numbers(A, one_block()) == [count] * A.nrows


@pytest.mark.parametrize("size", [*around(96), *around(32), *around(160)])
def test_a_queue_of_cores_that_is_full(size):
    """All vertices of one degree leave at once: rings and pairs of as many as a block's queue has places (96)."""
    for copies in (1, 3):
        ring = np.arange(size * copies)
        following = ring // size * size + (ring + 1) % size
        A = graph_of(ring.size + 3, ring, following)
        assert core_numbers(A, one_block()) == core_numbers(A, shim().device) == [2] * ring.size + [0] * 3


@pytest.mark.parametrize("symmetric", [True, False])
def test_components_and_cores(symmetric):
    """Rows that a lane, a warp or a block reads; forests, colours and independent sets of the same graph."""
    rng = rng_of(6, symmetric)
    A, _ = everyone(rng, symmetric)
    order = rng.permutation(A.nrows)
    same_on_both(lambda: pairs(algorithms.connected_components(matrix(A)).labels))
    same_on_both(lambda: pairs(algorithms.strongly_connected_components(matrix(A)).labels))
    if symmetric:
        same_on_both(lambda: core_numbers(without_loops(A)))
        with using_shim():
            colours = graph.greedy_colours(matrix(A), Vector.from_dense(order))[0].to_dense().tolist()
            members = (
                graph.independent_set(matrix(A), Vector.from_dense(order), Vector(bool, A.nrows)).to_coo()[0].tolist()
            )
        assert (colours, members) == in_order(A, order)


def in_order(A, order):
    """The greedy colours and the members of the independent set of that order, by the plain loop."""
    colour, left_out = [-1] * A.nrows, np.zeros(A.nrows, bool)
    for v in order.tolist():
        near = [u for u in A.indices[A.indptr[v] : A.indptr[v + 1]].tolist() if u != v]
        used = {colour[u] for u in near}
        colour[v] = next(c for c in range(A.nrows) if c not in used)
        if not left_out[v]:
            left_out[near] = True
    return colour, np.flatnonzero(~left_out).tolist()


def without_loops(A):
    rows, cols = np.arange(A.nrows).repeat(np.diff(A.indptr)), A.indices
    return graph_of(A.nrows, rows[rows != cols], cols[rows != cols], symmetric=False)


def test_spanning_forests_and_orders():
    rng = rng_of(7)
    A, _ = everyone(rng)
    rows, cols = np.arange(A.nrows).repeat(np.diff(A.indptr)).astype(np.int64), A.indices.astype(np.int64)
    low, high = np.minimum(rows, cols), np.maximum(rows, cols)
    weights = ((low * 7919 + high * 104729) % 1009 + 1).astype(np.float64)
    same_on_both(lambda: float(algorithms.minimum_spanning_forest(matrix(A, weights)).weight))
    same_on_both(lambda: algorithms.rcm(matrix(A)).order.tolist())


def test_betweenness():
    rng = rng_of(8)
    A, number = everyone(rng)
    sources = number[:6].tolist()
    with using_shim():
        found = algorithms.betweenness(matrix(A), sources=sources).values.to_dense(fill_value=0.0)
    wanted = algorithms.betweenness(matrix(A), sources=sources).values.to_dense(fill_value=0.0)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("width", quick(4097, 4095, 4096, 8192))
def test_a_level_that_fills_the_queue(width):
    """A frontier of as many vertices as a block stages (BFS_QUEUE), one fewer, one more, all found by one hub."""
    far = np.arange(1, width + 1)
    rows = np.concatenate((np.zeros(width, int), far[: width // 2]))
    cols = np.concatenate((far, far[: width // 2] + width))
    A = graph_of(2 * width + 1, rows, cols, symmetric=False)
    AT = transposed(A)
    for direction in ("push", None):
        level, _, outcome = bfs.traverse(one_block(), A, AT, 0, True, False, None, None, direction)
        found = place.host(level).values
        assert outcome.reached == 1 + width + width // 2 and found[: width + 1].tolist() == [0] + [1] * width
        assert found[width + 1 : width + 1 + width // 2].tolist() == [2] * (width // 2)
