"""mxv(..., reuse=v) and vxm: the caller's hint that v may take the vector's place row-wise."""

import numpy as np
import pytest

import grb_tile as gb
from grb_tile import semiring
from grb_tile.exceptions import DimensionMismatch
from support.seeds import generator

N = 300


def graph(rng, edges):
    i, j = rng.integers(0, N, (2, edges))
    return gb.Matrix.from_coo(np.append(i, j), np.append(j, i), True, nrows=N, ncols=N)


def levels(A, source, step):
    """Levels of BFS; step(frontier, visited) -> the expression whose unvisited part is the next frontier."""
    found = gb.Vector(int, N)
    visited, frontier = gb.Vector(bool, N), gb.Vector(bool, N)
    visited[source] = frontier[source] = True
    depth = 0
    while frontier.nvals:
        found(frontier.S) << depth
        frontier(~visited.S, replace=True) << step(frontier, visited)
        visited(frontier.S) << True
        depth += 1
    return found


@pytest.mark.parametrize("method", ["rows", "cols", None])
@pytest.mark.parametrize("edges", [200, 900])
def test_bfs_with_the_visited_vertices(method, edges):
    A = graph(generator("reuse", edges), edges)
    want = levels(A, 3, lambda frontier, visited: A.mxv(frontier, semiring.any_pair))
    with gb.plan(force=method or ()):
        for step in (
            lambda frontier, visited: A.mxv(frontier, semiring.any_pair, reuse=visited),
            lambda frontier, visited: A.T.mxv(frontier, semiring.any_pair, reuse=visited),
            lambda frontier, visited: frontier.vxm(A, semiring.any_pair, reuse=visited),
            lambda frontier, visited: A.mxv(frontier, semiring.any_pair, reuse=visited.apply("one").new(int)),
        ):
            assert levels(A, 3, step).isequal(want)


def test_it_is_read_row_wise_only():
    """With a promise that does not hold, the two methods differ: so it is known which vector each read."""
    A = graph(generator("reuse"), 900)
    u, v = gb.Vector.from_coo([1, 2], True, size=N), gb.Vector.from_coo(np.arange(N), True)
    of_u, of_v = A.mxv(u, semiring.any_pair).new(), A.mxv(v, semiring.any_pair).new()
    assert not of_u.isequal(of_v)
    with gb.plan(force="cols"):
        assert A.mxv(u, semiring.any_pair, reuse=v).new().isequal(of_u)
    with gb.plan(force="rows"):
        assert A.mxv(u, semiring.any_pair, reuse=v).new().isequal(of_v)
        assert u.vxm(A.T, semiring.any_pair, reuse=v).new().isequal(of_v)


def test_errors_name_the_argument():
    A, u = gb.Matrix(bool, 4, 4), gb.Vector(bool, 4)
    for product in (
        lambda reuse: A.mxv(u, semiring.any_pair, reuse=reuse),
        lambda reuse: u.vxm(A, semiring.any_pair, reuse=reuse),
    ):
        with pytest.raises(DimensionMismatch, match="reuse has size 5"):
            product(gb.Vector(bool, 5))
        with pytest.raises(TypeError, match="reuse"):
            product(A)
