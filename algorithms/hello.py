"""Template for the next algorithm: copy this file, its test (tests/algorithms/test_hello.py) and its line in
__init__.py.

    w = A plus.second w, `steps` times, from w = 1

A file opens with the formula; then come the results, the contract and the references.

Contract: G is not changed.  values(i) is the number of walks of `steps` edges that start at i: INT64, full.
A number beyond INT64 is refused.
References: Kepner and Gilbert (eds.), "Graph Algorithms in the Language of Linear Algebra" (2011), section 1.2.
"""

from __future__ import annotations

from grb_tile import Vector, dtypes, monoid, semiring

from . import arguments
from .given import GraphLike
from .graph import Graph, as_graph
from .report import Callback, Report
from .result import VertexResult

HALF = 2**62  # half of what INT64 holds: sums of FP64 find what exceeds it, whatever they round


def hello(G: GraphLike, steps: int = 2, *, callback: Callback | None = None) -> VertexResult:
    """w = A^steps 1: how many walks of `steps` edges start at each node.

    Shapes: A n x n, values size n.  Types: any A, whose values do not matter; values INT64.
    Raises: TypeError, ValueError for steps; OverflowError where walks number more than half of what INT64 holds.
    Cost: `steps` products with A; twice as many where the numbers come near that limit.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import hello
    >>> A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 2, 0], nrows=3, ncols=3)
    >>> hello(A, steps=2).to_dict()
    {0: 2, 1: 1, 2: 2}
    """
    # 1. A Matrix will do for a Graph; arguments are checked before anything is computed.
    G = as_graph(G)
    steps = arguments.limit(steps, "steps")
    if steps is None:
        raise TypeError("steps: expected an int, got None; 2 counts walks of two edges")

    # 2. What the loop needs is made once.  Cached properties (G.AT, G.out_degree ...) are asked for, never recomputed.
    walks = semiring.plus_second[dtypes.INT64]
    longest = int(G.out_degree.reduce(monoid.max).new().value or 0)
    w = Vector.from_scalar(1, G.n, dtypes.INT64, name="walks")

    # 3. The loop: the formula above each call, a note per iteration, and the callback may stop it.
    with Report("hello", callback) as report:
        report.finish("steps", True)
        for step in range(steps):
            if longest * int(w.reduce(monoid.max).new().value or 0) >= HALF:
                _check(G, w, step)
            t = Vector.from_scalar(0, G.n, dtypes.INT64, name="walks")
            # t += A plus.second w : a walk from i is an edge to j and a shorter walk from there
            t(semiring.plus_second.monoid) << walks(G.A @ w)
            w = t
            if report.note():
                break

    # 4. Values by vertex, with the labels that the graph has.
    return VertexResult(w, report, vertices=G.labels)


def _check(G: Graph, w: Vector, step: int) -> None:
    """Refuse steps whose sums exceed INT64, because integer sums wrap silently."""
    # [max_i about(i)],  about = A plus.second w in FP64
    about = semiring.plus_second[dtypes.FP64](G.A @ w).new().reduce(monoid.max).new().value or 0.0
    if about >= HALF:
        raise OverflowError(
            f"steps: {about:.3g} walks of {step + 1} edges start at a node, too many for INT64; take fewer"
        )
