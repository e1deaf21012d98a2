"""What one call costs when there is little to compute: a 7 x 7 matrix times a vector, whole loops over 256 vertices."""

from functools import partial

import numpy as np
import objects
from measure import Prepared, gauge, race

from grb_tile.cli.timing import repeated

ROWS = [0, 0, 1, 1, 2, 3, 3, 4, 5, 6, 6, 6]
COLUMNS = [1, 3, 4, 6, 5, 0, 2, 5, 2, 2, 3, 4]
VALUES = [2.0, 3, 8, 4, 1, 3, 3, 7, 1, 5, 7, 3]


def operands(library):
    """A, v and an empty w of either library."""
    A = library.Matrix.from_coo(ROWS, COLUMNS, VALUES, nrows=7, ncols=7)
    v = library.Vector.from_coo([1, 3, 4, 6], [1.0, 1, 2, 0], size=7)
    return A, v, library.Vector(float, 7)


def plain(library):
    """w << A.mxv(v) as a call without arguments."""
    A, v, w = operands(library)

    def call():
        w << A.mxv(v)
        return w

    return call


def masked(library):
    """w(m.S, replace=True) << A.mxv(v, min_plus)."""
    A, v, w = operands(library)
    m = library.Vector.from_coo([0, 2, 5], [True, False, True], size=7)
    semiring = library.semiring.min_plus

    def call():
        w(m.S, replace=True) << A.mxv(v, semiring)
        return w

    return call


def added(library):
    """w << v.ewise_add(v)."""
    _, v, w = operands(library)

    def call():
        w << v.ewise_add(v)
        return w

    return call


def sum_of(library):
    """A Vector with the sum of v: v.reduce(), written to its only position."""
    _, v, _ = operands(library)
    s, found = library.Scalar(float), library.Vector(float, 1)

    def call():
        s << v.reduce()
        found[0] = s
        return found

    return call


def both(make):
    """Prepared race of one tiny call in both libraries."""
    import graphblas

    import grb_tile as gb

    return Prepared(make(gb), make(graphblas), objects.same_vector, inner=2000)


@race("tiny-ewise-add", "one call w << v.ewise_add(v), 7 positions", 10, unit="us", absolute=True, seconds=3.0)
def tiny_ewise_add():
    return both(added)


@race("tiny-reduce", "s << v.reduce() and v[0] = s, 7 positions", 10, unit="us", absolute=True, seconds=3.0)
def tiny_reduce():
    return both(sum_of)


@race("tiny-mxv", "one call w << A.mxv(v), 7 x 7", 6, unit="us", absolute=True, seconds=3.0)
def tiny():
    return both(plain)


@race(
    "tiny-mxv-masked-replace",
    "one call w(m.S, replace=True) << A.mxv(v), 7 x 7",
    20,
    unit="us",
    absolute=True,
    seconds=3.0,
)
def tiny_masked():
    return both(masked)


def chain(library):
    """A small iteration as an algorithm writes it: frontier, visited, replace."""
    A = library.Matrix.from_coo(np.arange(63), np.arange(1, 64), True, nrows=64, ncols=64)
    any_pair = library.semiring.any_pair

    def call():
        f = library.Vector.from_coo([0], True, size=64)
        v = f.dup()
        while f.nvals:
            f(~v.S, replace=True) << f.vxm(A, any_pair)
            v(f.S) << True
        return v

    return call


@race("tiny-bfs-path64", "BFS as a user writes it, a path of 64 vertices", 3.0, suite="extra", seconds=3.0)
def tiny_chain():
    import graphblas

    import grb_tile as gb

    return Prepared(chain(gb), chain(graphblas), objects.same_vector, inner=20)


def small_loop(name):
    """Microseconds of one call of gb.graph's loop `name` over a connected graph of 256 vertices and 2048 edges."""
    import grb_tile as gb

    n = 256
    i = np.concatenate([np.arange(n), np.random.default_rng(7).integers(0, n, 1792)])
    j = np.concatenate([(np.arange(n) + 1) % n, np.random.default_rng(8).integers(0, n, 1792)])
    i, j = i[i != j], j[i != j]
    A = gb.Matrix.from_coo(np.concatenate([i, j]), np.concatenate([j, i]), True, nrows=n, ncols=n)
    call = {
        "components": partial(gb.graph.components, A, symmetric=True),
        "core_numbers": partial(gb.graph.core_numbers, A),
        "cuthill_mckee": partial(gb.graph.cuthill_mckee, A),
    }[name]
    if call() is None:
        raise RuntimeError(f"gb.graph.{name} has no compiled loop: run with GRB_TILE_JIT=always")
    return {"samples": [1e6 * min(repeated(call, 200)[1]) for _ in range(25)]}


for _name, _target in (("components", 20), ("core_numbers", 45), ("cuthill_mckee", 40)):
    gauge(f"small-{_name.replace('_', '-')}", f"one call gb.graph.{_name}, 256 vertices", _target, "us", suite="extra")(
        partial(small_loop, _name)
    )
