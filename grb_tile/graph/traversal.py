"""Breadth-first searches, each as one operation of the backend in use.

    repeat  f<!v> = A' f,  v = v + f  until f is empty

Paper: Yang, Buluc, Owens, "Implementing push-pull efficiently in GraphBLAS" (ICPP 2018), algorithm 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..backends.outcome import LoopOutcome
from ..backends.select import current
from ..core.arguments import flags
from ..core.matrix import Matrix
from ..core.vector import Vector
from ..dtypes import INT32, INT64
from ..exceptions import InvalidValue
from .operands import check_square, in_edges, limit, store_of, vertices
from .report import LoopReport, record


class Bfs(NamedTuple):
    """levels (INT32), parents (INT64), each None unless requested, and the LoopReport."""

    levels: Any
    parents: Any
    report: LoopReport


def bfs(
    A: Matrix,
    source: int | Sequence[int],
    *,
    symmetric: bool = False,
    pull: bool = True,
    levels: bool = True,
    parents: bool = False,
    max_level: int | None = None,
    target: int | None = None,
) -> Bfs | None:
    """repeat f<!v> = f A, v = v + f until f is empty: a direction-optimising breadth-first search.

    source      a vertex, or several that are merged into one search
    symmetric   A and A' have the same structure
    pull        False: every level is pushed, and no transpose is made
    levels      ask for the least number of edges from a source (INT32)
    parents     ask for an in-neighbour one level up (INT64); a source is its own parent
    max_level   the last level wanted
    target      stop once this vertex is reached (its own level may be incomplete)

    Shapes: A n x n, results of size n; vertices that are not reached have no entry.  Types: any A.
    Raises: TypeError, DimensionMismatch, IndexOutOfBound, InvalidValue.
    None where the backend in use has no loop for A.
    Source: Yang, Buluc, Owens, "Implementing push-pull efficiently in GraphBLAS" (ICPP 2018), algorithm 1; over bit
    tiles Ji et al., "TileSpMSpV and TileBFS" (ICPP 2022).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], nrows=5, ncols=5)
    >>> gb.graph.bfs(A, 0).levels.to_dict()
    {0: 0, 1: 1, 2: 1, 3: 2}
    """

    flags(symmetric=symmetric, pull=pull, levels=levels, parents=parents)
    store = store_of(A)
    n, sources = store.nrows, source
    AT = in_edges(store, symmetric) if pull else None
    check_square("bfs", store, AT)
    if type(sources) is not int or not 0 <= sources < n or target is not None:
        sources = np.unique(np.atleast_1d(vertices("bfs: sources", sources, n)))
        if target is not None:
            vertices("bfs: target", target, n)
        if sources.size == 1:
            sources = int(sources[0])
    limit("bfs", max_level)
    if not (levels or parents):
        raise InvalidValue("bfs: neither levels nor parents are asked for; set one of them")
    backend = current()
    if type(sources) is not int and sources.size == 0:
        nothing = LoopReport(LoopOutcome(backend.name, "by level", list, store.format, 0, 0.0))
        return Bfs(Vector(INT32, n) if levels else None, Vector(INT64, n) if parents else None, nothing)
    found = backend.bfs(store, AT, sources, levels, parents, max_level, target)
    if found is NotImplemented:
        return None
    v, p, outcome = found
    report = LoopReport(outcome)
    record("bfs", "cols" if AT is None else "by level", outcome, report)  # cols: every level is pushed
    return Bfs(
        None if v is None else Vector._from_store(v, name="levels"),
        None if p is None else Vector._from_store(p, name="parents"),
        report,
    )


def bfs_multi(
    A: Matrix,
    sources: Sequence[int],
    *,
    symmetric: bool = False,
    levels: bool = True,
    parents: bool = False,
    max_level: int | None = None,
) -> Bfs | None:
    """F<!V> = F A with a row for each source: the searches of `bfs` side by side, 64 to a word for each vertex.

    Shapes: A n x n, results len(sources) x n; row k belongs to sources[k], and sources may repeat.
    Parameters, types, errors: as `bfs`.
    Source: Then et al., "The more the merrier: efficient multi-source graph traversal" (VLDB 2014).

    >>> import grb_tile as gb
    >>> A = gb.Matrix.from_coo([0, 1, 2], [1, 2, 3], nrows=4, ncols=4)
    >>> found = gb.graph.bfs_multi(A, [0, 2])
    >>> found is None or found.levels.to_dicts() == {0: {0: 0, 1: 1, 2: 2, 3: 3}, 1: {2: 0, 3: 1}}
    True
    """

    flags(symmetric=symmetric, levels=levels, parents=parents)
    store = store_of(A)
    AT = in_edges(store, symmetric)
    check_square("bfs_multi", store, AT)
    if vertices("bfs_multi: sources", sources, store.nrows).ndim == 0:
        raise TypeError(f"bfs_multi: sources: expected a sequence of vertices, got {sources!r}; write [{sources!r}]")
    limit("bfs_multi", max_level)
    if not (levels or parents):
        raise InvalidValue("bfs_multi: neither levels nor parents are asked for; set one of them")
    found = NotImplemented
    if len(sources):
        found = current().bfs_multi(store, AT, sources, levels, parents, max_level)
    if found is NotImplemented:
        return None
    V, P, outcome = found
    report = LoopReport(outcome)
    record("bfs_multi", "by level", outcome, report)
    return Bfs(
        None if V is None else Matrix._from_store(V, name="levels"),
        None if P is None else Matrix._from_store(P, name="parents"),
        report,
    )
