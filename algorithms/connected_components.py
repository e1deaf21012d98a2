"""Connected components (weak ones where edges have a direction), labelled by their smallest node.

    u min= A min.second g,   f(f(i)) min= u(i),   f min= u,   f min= g,   g(i) = f(f(i))     until g stays

f is a forest: f(i) is the parent of i, g the grandparent, u the least grandparent among a node's neighbours.  Trees
hook onto trees with smaller roots and grow flat, until each is a star over its component.  On the CPU a compiled loop
joins the trees of each edge instead (union-find; gb.graph), with the same labels.

Contract: G is not changed.  labels is a full UINT64 vector; labels(i) is the smallest node of i's component.
Agrees with GAP's CCVerifier (sbeamer/gapbs, src/cc.cc) and LDBC Graphalytics 1.0, WCC, both up to renaming.
References: Zhang, Azad, Hu, "FastSV: a distributed-memory connected component algorithm with fast convergence" (SIAM PP
2020), algorithm 2; Zhang, Azad, Buluc, "Parallel algorithms for finding connected components using linear algebra"
(2020).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from grb_tile import Vector, binary, dtypes, exceptions, graph, monoid, semiring

from . import arguments
from .given import GraphLike
from .graph import room_for
from .report import Report
from .result import Result


@dataclass(frozen=True)
class ComponentsResult(Result):
    """labels (the smallest node of each node's component), count (number of components), report.

    labels is a Vector of UINT64 from `connected_components`, of INT64 from `strongly_connected_components`.
    """

    _ranked: ClassVar[bool] = False
    labels: Vector
    count: int
    report: Report

    @property
    def values(self) -> Vector:
        """labels"""
        return self.labels


def connected_components(
    G: GraphLike, *, method: str = "auto", callback: Callable[[dict], Any] | None = None
) -> ComponentsResult:
    """f = least node that can be reached, edges followed both ways.

    method     "fastsv": the loop above, on every backend; "afforest": trees linked by samples of the edges, then by the
               rest (Sutton, Ben-Nun, Barak, IPDPS 2018), one launch on a GPU; "auto": a compiled loop of union-find on
               the CPU, afforest where the backend in use has it, else, and with a callback, fastsv.  The report names
               the one that ran
    callback   called with the record of each round of fastsv; something true stops there (labels are then not least)

    Shapes: A n x n, labels size n.  Types: any A, whose values do not matter; labels UINT64.
    Raises: TypeError, DimensionMismatch from Graph; ValueError for method, and for method="afforest" with a callback;
    NotImplementedException for method="afforest" where the backend in use does not have it.
    Cost: each edge once; fastsv: a few products with A (and A' where edges have a direction), in rounds whose number
    grows with the logarithm of the longest chain.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import connected_components
    >>> A = gb.Matrix.from_coo([1, 3], [0, 4], nrows=5, ncols=5)
    >>> connected_components(A).labels.to_dense().tolist()
    [0, 0, 2, 3, 3]
    """
    G = room_for(G, "connected_components", 120)
    arguments.choice(method, ("auto", "fastsv", "afforest"), "method")
    if method == "afforest" and callback is not None:
        raise ValueError('callback: method="afforest" runs as one operation without rounds; use method="fastsv"')
    if method != "fastsv":
        with Report("connected_components", callback) as report:
            found = report.whole(
                graph.components, G.A, symmetric=G.known_symmetric or not G.directed,
                AT=lambda: G.A if G.is_symmetric_structure else G.AT,
            )  # fmt: skip
        if found is not None and method in ("auto", found.report.method):
            report.algorithm = f"connected_components ({found.report.method})"
            return ComponentsResult(found.labels, found.count, report, vertices=G.labels)
        if method == "afforest":
            raise exceptions.NotImplementedException(
                'method="afforest": the backend in use has no kernel for it on this graph; use method="auto" or '
                '"fastsv"'
            )
    n = G.n
    least = semiring.min_second[dtypes.UINT64]
    ways = [G.A] if G.is_symmetric_structure else [G.A, G.AT]
    # f(i) = g(i) = u(i) = i
    f = Vector.from_dense(np.arange(n, dtype=np.uint64), name="labels")
    g, u = f.dup(name="grandparents"), f.dup(name="least")
    with Report("connected_components (fastsv)", callback) as report:
        changed = n
        while changed:
            for A in ways:
                # u min= A min.second g
                u(binary.min) << least(A @ g)
            # f(f(i)) min= u(i) : the parent of i hooks onto what i saw
            parents, seen = _values(f), _values(u)
            f(binary.min) << Vector.from_coo(parents, seen, size=n, dup_op=binary.min)
            # f min= u,  f min= g
            f(binary.min) << u
            f(binary.min) << g
            # g(i) = f(f(i))
            before = g.dup()
            g << f[_values(f)]
            changed = int(binary.ne(before & g).new().reduce(monoid.plus[dtypes.INT64]).new().value or 0)
            if report.note(changed=changed):
                break
        else:
            report.finish("converged", True)
    # the roots are the nodes that are their own label
    count = int(np.count_nonzero(_values(f) == np.arange(n, dtype=np.uint64)))
    return ComponentsResult(f, count, report, vertices=G.labels)


def _values(v: Vector) -> np.ndarray:
    """The entries of a full vector, in order."""
    return v.to_coo(indices=False)[1]
