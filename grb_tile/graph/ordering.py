"""Orders of the vertices, and greedy choices along one, each as one operation of the backend in use."""

from __future__ import annotations

import numpy as np

from ..backends.select import current
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..dtypes import INT64
from ..exceptions import DimensionMismatch
from ..hashing import hashes
from ..operations import checks
from .operands import mark_each_once, order_of, square_store

ORDER = 1 << 23  # the stream of random_order's hash


def random_order(n: int, seed: int, first: Vector | None = None) -> Vector:
    """The vertices 0 .. n - 1 in a random order of that seed: INT64, full.  The same on every backend.

    first   integers >= 0 by vertex (0 where absent); vertices of greater ones go first

    >>> import grb_tile as gb
    >>> gb.graph.random_order(4, 7, gb.Vector.from_dense([1, 5, 3, 4])).to_dense().tolist()
    [1, 3, 2, 0]
    """
    xp = current().xp
    order = xp.argsort(hashes(xp, 0, n, seed, ORDER)).astype(np.int64)
    if first is not None:
        at, x = current().tuples(first._store)
        last = xp.zeros(n, np.int64)
        last[at] = -x.astype(np.int64)
        order = order[xp.argsort(last[order], kind="stable")]
    return mark_each_once(Vector.from_dense(order, dtype=INT64, name="order"))


def greedy_colours(A: Matrix, order: Vector) -> tuple[Vector, int] | None:
    """(colour, count): in the given order, each vertex takes the least colour that no coloured neighbour has.

    A symmetric.  Types: order, colour INT64, full.  Raises: DimensionMismatch; ValueError where a vertex is not in the
    order once.
    Cost: O(n + nvals).  Source: Welsh and Powell, "An upper bound for the chromatic number of a graph" (Computer J. 10,
    1967).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> found = gb.graph.greedy_colours(A, gb.Vector.from_dense([0, 1, 2]))
    >>> found is None or found[0].to_dense().tolist() == [0, 1, 0]
    True
    """
    store = square_store("greedy_colours", A)
    found = current().greedy_colours(store, order_of(order, A.nrows)) if store.format != "dcsr" else NotImplemented
    return None if found is NotImplemented else (Vector.from_dense(found[0], name="colours"), int(found[1]))


def independent_set(A: Matrix, order: Vector, left_out: Vector) -> Vector | None:
    """The maximal independent set that comes first in the given order: BOOL, an entry for each vertex of it.

    A symmetric.  left_out: an entry for each vertex that may not be in it.  Cost: O(n + nvals).
    Raises: DimensionMismatch; ValueError where a vertex is not in the order once.
    Source: Blelloch, Fineman, Shun, "Greedy sequential maximal independent set and matching are parallel on average"
    (SPAA 2012).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], nrows=3, ncols=3)
    >>> found = gb.graph.independent_set(A, gb.Vector.from_dense([0, 1, 2]), gb.Vector(bool, 3))
    >>> found is None or found.to_dict() == {0: True, 2: True}
    True
    """
    store = square_store("independent_set", A)
    if store.format == "dcsr":
        return None
    if left_out.size != A.nrows:
        raise DimensionMismatch(f"left_out: expected a Vector of size {A.nrows}, got {left_out.size}")
    absent = current().tuples(left_out._store)[0] if left_out.nvals else None
    members = current().independent_set(store, order_of(order, A.nrows), absent)
    return None if members is NotImplemented else Vector.from_coo(members, True, size=A.nrows, name="members")


def topological_levels(A: Matrix) -> Vector | None:
    """level(v) = the most edges on a path that ends at v, -1 for vertices on a cycle or behind one.

    Shapes: A n x n, result of size n.  Types: any A, whose values do not matter; result INT64, full.
    Raises: TypeError, DimensionMismatch.
    None where the backend in use has no loop for A.
    Source: Kahn, "Topological sorting of large networks" (Comm. ACM 5, 1962), by levels.
    """
    found = current().topological_levels(square_store("topological_levels", A))
    return None if found is NotImplemented else Vector._from_store(found, name="level")


def cuthill_mckee(A: Matrix) -> tuple[Vector, Vector] | None:
    """(order, positions): the vertices in reverse Cuthill-McKee order, and the position of each vertex in it.

    Breadth-first from a vertex at the end of each component, the neighbours of one vertex by ascending degree and
    number, reversed.

    Shapes: A n x n, symmetric, without loops; results of size n.  Types: any A, whose values do not matter; INT64.
    Raises: TypeError, DimensionMismatch; InvalidValue where A is found not to be symmetric.
    None where the backend in use has no loop for A.
    Source: Cuthill and McKee, "Reducing the bandwidth of sparse symmetric matrices" (ACM 1969); George and Liu, "An
    implementation of a pseudoperipheral node finder" (ACM TOMS 5, 1979); on a GPU Karantasis, Lenharth, Nguyen,
    Garzaran, Pingali, "Parallelization of reordering algorithms for bandwidth and wavefront reduction" (SC 2014).
    """
    found = current().cuthill_mckee(square_store("cuthill_mckee", A))
    if found is NotImplemented:
        return None
    checks.symmetric("cuthill_mckee", found is not None)
    order, positions = found
    return Vector._from_store(order, name="order"), Vector._from_store(positions, name="positions")
