"""Components, cores and spanning forests, each as one operation of the backend in use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..backends.select import current
from ..core.arguments import flags
from ..core.matrix import Matrix
from ..core.vector import Vector
from .operands import check_square, in_edges, square_store, store_of
from .report import LoopReport, record


class Components(NamedTuple):
    """labels (UINT64, full), count (number of components), and the LoopReport."""

    labels: Vector
    count: int  # type: ignore[assignment]  # hides the method of tuple
    report: LoopReport


def components(A: Matrix, *, symmetric: bool = False, AT: Callable[[], Matrix] | None = None) -> Components | None:
    """f(i) = least vertex that can be reached from i, edges followed both ways.

    symmetric   A and A' have the same structure
    AT          gives A', or A where they have the same structure; called where the backend needs it.  None: transposed

    Shapes: A n x n, labels of size n.  Types: any A, whose values do not matter; labels UINT64.
    Raises: TypeError, DimensionMismatch.  report.method names what ran: "afforest" on a GPU, "union-find" on the CPU.
    None where the backend in use has no loop for A.
    Source: Sutton, Ben-Nun, Barak, "Optimizing parallel graph connectivity computation via subgraph sampling" (IPDPS
    2018); Patwary, Blair, Manne, "Experiments on union-find algorithms" (SEA 2010), Rem's algorithm.

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([1, 3], [0, 4], nrows=5, ncols=5)
    >>> found = gb.graph.components(A)
    >>> found is None or found.labels.to_dense().tolist() == [0, 0, 2, 3, 3]
    True
    """
    flags(symmetric=symmetric)
    store = square_store("components", A)

    def transposed() -> Any:
        return in_edges(store, symmetric) if AT is None else AT()._store

    found = current().components(store, transposed, symmetric)
    if found is NotImplemented:
        return None
    labels, count, outcome = found
    report = LoopReport(outcome)
    record("components", outcome.method, outcome, report)
    return Components(Vector._from_store(labels, name="labels"), count, report)


def strong_components(A: Matrix, *, symmetric: bool = False) -> tuple[Vector, int] | None:
    """(label, count): the least vertex of each vertex's strongly connected component; how many components.

    Shapes: A n x n, label of size n.  Types: any A, whose values do not matter; label INT64, full.
    Raises: TypeError, DimensionMismatch.
    None where the backend in use has no loop for A.
    Source: on a GPU Slota, Rajamanickam, Madduri, "BFS and coloring-based parallel algorithms for strongly connected
    components and related problems" (IPDPS 2014); on the CPU Pearce, "A space-efficient algorithm for finding strongly
    connected components" (Inf. Proc. Letters 116, 2016), O(n + nvals).
    """
    flags(symmetric=symmetric)
    store = square_store("strong_components", A)
    found = current().strong_components(store, lambda: in_edges(store, symmetric))
    return None if found is NotImplemented else (Vector._from_store(found[0], name="labels"), found[1])


def core_numbers(A: Matrix, AT: Matrix | None = None) -> Vector | None:
    """core(v) = the greatest k for which v is in a subgraph where every vertex has k edges.

    A without loops; AT: in-edges count too, None where A is symmetric.
    Shapes: A, AT n x n, result of size n.  Types: any A, whose values do not matter; result INT64, full.
    Raises: TypeError, DimensionMismatch.
    None where the backend in use has no loop for A.
    Source: on a GPU Ahmad, Yuan, Yan, Guo, Chen, Zhang, "Accelerating k-core decomposition by a GPU" (ICDE 2023); on
    the CPU Batagelj and Zaversnik, "An O(m) algorithm for cores decomposition of networks" (2003).
    """
    store, back = store_of(A), None if AT is None else store_of(AT)
    check_square("core_numbers", store, back)
    found = current().core_numbers(store, back)
    return None if found is NotImplemented else Vector._from_store(found, name="core")


def spanning_forest(U: Matrix, maximum: bool = False) -> tuple[Matrix, Vector] | None:
    """(F, label): of the edges U(i, j), i < j, those of least sum that join all that U joins, of equal ones the first;
    the least vertex of each vertex's tree.

    maximum   of greatest sum

    Types: U real or BOOL without NaN, F of U's type, label INT64, full.  Cost: O(m log n) at most, because each round
    halves the number of trees.
    Source: Boruvka (1926), after Nesetril, Milkova, Nesetrilova, "Otakar Boruvka on minimum spanning tree problem"
    (Discrete Mathematics 233, 2001).

    >>> import grb_tile as gb
    >>> U = gb.Matrix.from_coo([0, 0, 1], [1, 2, 2], [5, 1, 2], nrows=3, ncols=3)
    >>> found = gb.graph.spanning_forest(U)
    >>> found is None or found[0].to_dicts() == {0: {2: 1}, 1: {2: 2}}
    True
    """
    flags(maximum=maximum)
    store, backend = square_store("spanning_forest", U), current()
    i, j, w = backend.tuples(store)
    heads, tails, keys = i.astype(np.int64), j.astype(np.int64), order_keys(w)
    found = backend.spanning_forest(U.nrows, heads, tails, ~keys if maximum else keys)
    if found is NotImplemented:
        return None
    kept, tree = found
    F = Matrix.from_coo(heads[kept], tails[kept], w[kept], U.dtype, nrows=U.nrows, ncols=U.nrows, name="edges")
    return F, Vector.from_dense(tree, name="labels")


def order_keys(w: Any) -> Any:
    """int64 numbers in the order of an array of real numbers or booleans; -0.0 and 0.0 have one."""
    if w.dtype.kind == "f":
        # the bits of a float >= 0 ascend with it; of a negative one they descend, so all but the sign are flipped
        bits = (w + w.dtype.type(0)).view(np.int64 if w.dtype.itemsize == 8 else np.int32).astype(np.int64)
        return bits ^ ((bits >> 63) & np.int64(2 ** (8 * w.dtype.itemsize - 1) - 1))
    if w.dtype == np.uint64:
        return (w ^ np.uint64(1 << 63)).view(np.int64)
    return w.astype(np.int64)
