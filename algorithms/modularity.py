"""How good a partition into communities is: modularity, coverage, performance.

    Q = sum over c of  L(c) / m - gamma (K(c) / 2m)^2

L(c) is the weight of the edges inside community c, K(c) the sum of its nodes' degrees, m the weight of all edges.

Contract: G and labels are not changed.  Labels are any integers; nodes with the same one are a community.  In a
directed graph Q = sum of L(c) / m - gamma Kout(c) Kin(c) / m^2.  A loop counts once as an edge and twice in the
degree, as in NetworkX.
References: Newman and Girvan, "Finding and evaluating community structure in networks" (Phys. Rev. E 69, 2004),
equation 5; Leicht and Newman, "Community structure in directed networks" (Phys. Rev. Lett. 100, 2008); Fortunato,
"Community detection in graphs" (Physics Reports 486, 2010), section III.C.2 (coverage, performance).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from grb_tile import Matrix, Vector, binary, dtypes, graph, monoid, select
from grb_tile.graph import communities

from . import arguments
from .given import GraphLike
from .graph import Graph, room_for
from .pattern import numbered


def modularity(G: GraphLike, labels: Any, *, resolution: float = 1.0, weighted: bool = True) -> float:
    """Q = sum over c of L(c) / m - resolution (K(c) / 2m)^2, 0.0 for a graph without edges.

    labels       a Vector, an array, a dict {node: community}, a pandas Series by node or a result of an algorithm: the
                 community of each node, an integer or a text; or the communities as sets or lists of nodes, or an
                 iterator of them
    resolution   gamma: above 1 small communities are better, below 1 large ones
    weighted     False: every edge weighs 1

    Types: A real or BOOL.
    Raises: TypeError, ValueError for labels that are not one for each node, for resolution < 0, for weights
    that are negative, infinite or NaN.
    Cost: two passes over the edges.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import modularity
    >>> A = gb.Matrix.from_coo([0, 1, 2, 3], [1, 0, 3, 2], nrows=4, ncols=4)
    >>> modularity(A, [0, 0, 1, 1])
    0.5
    """
    arguments.flags(weighted=weighted)
    G = room_for(G, "modularity", 140)
    label = community_labels(labels, G)
    gamma = resolution_of(resolution)
    A = weights(G, weighted)
    # m = [+_ij A(i, j)], of an undirected graph both ways, and its loops twice
    diagonal = A.diag() if G.nself and not G.directed else None
    loops = 0.0 if diagonal is None else float(diagonal.reduce(monoid.plus).new().value or 0.0)
    total = float(A.reduce_scalar(monoid.plus).new().value or 0.0) + loops
    if total == 0:
        return 0.0
    x, count = communities.array_of(label), int(label.max(initial=-1)) + 1
    inside = _inside(A, communities.vector_of(x)) + loops
    out = _by_community(A.reduce_rowwise(monoid.plus).new(), x, count)
    if G.directed:
        into = _by_community(A.reduce_columnwise(monoid.plus).new(), x, count)
    else:
        if diagonal is not None:
            out += _by_community(diagonal, x, count)
        into = out
    return inside / total - gamma * float(((out / total) * (into / total)).sum())


@dataclass(frozen=True)
class PartitionQuality:
    """coverage (share of the edges inside communities), performance (share of the pairs of nodes that are joined
    inside a community or not joined between two).
    """

    coverage: float
    performance: float


def partition_quality(G: GraphLike, labels: Any) -> PartitionQuality:
    """coverage = edges inside / edges,  performance = (edges inside + absent edges between communities) / pairs.

    Edges are counted, loops left out; pairs are ordered where the graph is directed.  Both are 1.0 where there is
    nothing to count.  Labels, errors: as `modularity`.
    Cost: two passes over the edges.

    >>> import grb_tile as gb
    >>> from grb_tile.algorithms import partition_quality
    >>> A = gb.Matrix.from_coo([0, 1, 2, 3, 1, 2], [1, 0, 3, 2, 2, 1], nrows=4, ncols=4)
    >>> partition_quality(A, [0, 0, 1, 1])
    PartitionQuality(coverage=0.6666666666666666, performance=0.8333333333333334)
    """
    G = room_for(G, "partition_quality", 140)
    label = community_labels(labels, G)
    A = select.offdiag(G.A).new()
    ones = binary.pair[dtypes.FP64](A & A).new()
    inside = round(_inside(ones, Vector.from_dense(label)))
    sizes = np.bincount(label).astype(np.float64)
    pairs = float(G.n) * (G.n - 1)
    between = pairs - float((sizes * (sizes - 1)).sum())
    absent = between - (A.nvals - inside)
    return PartitionQuality(inside / A.nvals if A.nvals else 1.0, (inside + absent) / pairs if pairs else 1.0)


def community_labels(labels: Any, G: Graph) -> np.ndarray:
    """The labels as numbers 0 .. n - 1, equal where they are (int64 array): themselves where they are such numbers."""
    n = G.n
    if isinstance(labels, str) or labels is None:
        raise TypeError(f"labels: expected a community for each of {n} nodes, or sets of nodes, got {labels!r}")
    if isinstance(labels, (set, frozenset)):
        raise TypeError("labels: a set has no order; give a list of sets of nodes, or a dict {node: community}")
    if isinstance(labels, Iterable) and not (hasattr(labels, "__getitem__") and hasattr(labels, "__contains__")):
        labels = list(labels)  # an iterator, a view, a clustering of igraph
    if (
        isinstance(labels, (list, tuple))
        and labels
        and all(isinstance(each, (set, frozenset, list)) for each in labels)
    ):
        pairs = [(vertex, c) for c, community in enumerate(labels) for vertex in community]
        labels = dict(pairs)
        if len(labels) < len(pairs):
            raise ValueError("labels: expected each node in one of the sets, and some are in two")
    if hasattr(labels, "index") and hasattr(labels, "to_dict") and getattr(labels, "ndim", 0) == 1:  # a Series
        labels = labels.to_dict()
    if isinstance(labels, Mapping):
        at = arguments.nodes(list(labels), G, "labels")
        if len(set(at)) < n or len(at) > n:
            raise ValueError(f"labels: expected a community for each of {n} nodes, once, got {len(at)}")
        given = np.asarray(list(labels.values()))
        labels = given[np.argsort(at)]
    else:
        labels = getattr(labels, "values", labels)
    if isinstance(labels, Vector):
        if labels.nvals != labels.size:
            raise ValueError(f"labels: {labels.size - labels.nvals} of {labels.size} nodes have none; give each one")
        labels = labels.to_coo(indices=False)[1]
    found = np.asarray(labels)
    if found.shape != (n,):
        raise ValueError(f"labels: expected {n}, one for each node, got an array of shape {found.shape}")
    if found.dtype.kind == "O" and all(isinstance(each, str) for each in found):
        found = found.astype(np.str_)
    if found.dtype.kind not in "iubUT" and n:
        raise TypeError(f"labels: expected an integer or a text for each node, got {found.dtype}, such as {found[0]!r}")
    if n and found.dtype.kind in "iu" and found.min() >= 0 and found.max() < n:
        return found.astype(np.int64)
    return numbered(found)


def resolution_of(value: Any) -> float:
    """`value` as a finite float >= 0."""
    gamma = arguments.real(value, "resolution")
    if gamma < 0:
        raise ValueError(f"resolution: expected 0 or more, got {value!r}; 1.0 is usual")
    return gamma


def weights(G: Graph, weighted: bool) -> Matrix:
    """A as FP64, or ones.  Raises: TypeError, ValueError for weights that are not finite numbers >= 0."""
    if not isinstance(weighted, (bool, np.bool_)):
        raise TypeError(f"weighted: expected True or False, got {weighted!r}")
    if not weighted:
        return G.keep("ones", lambda: binary.pair[dtypes.FP64](G.A & G.A).new(name="ones"))
    exponent = G.keep("exponent of weights", lambda: _exponent(G))
    A = G.weights_as(dtypes.FP64)
    return G.keep("scaled weights", lambda: _scaled(A, exponent)) if exponent else A


def _exponent(G: Graph) -> int:
    """e where weights have to be divided by 2^e, because squares of their sums leave FP64; 0 elsewhere."""
    if G.A.dtype.np_type.kind not in "biuf":
        raise TypeError(f"G: weights must be real numbers, got {G.A.dtype.name}; pass weighted=False to leave them out")
    A = G.weights_as(dtypes.FP64)
    least, total = (float(A.reduce_scalar(by).new().value or 0.0) for by in (monoid.min, monoid.plus))
    if not (least >= 0 and np.isfinite(total)):  # NaN makes the sum NaN; a sum of finite weights may be infinite too
        values = A.to_coo(rows=False, columns=False)[2]
        wrong = np.flatnonzero(~(values >= 0) | np.isinf(values))
        if wrong.size:
            raise ValueError(
                f"G: a weight is {values[wrong[0]]}, and weights must be finite and 0 or more; correct it, or pass "
                "weighted=False to leave weights out"
            )
    if total == 0 or 2.0**-400 < total < 2.0**400:
        return 0
    return int(np.frexp(float(A.reduce_scalar(monoid.max).new().value))[1])


def _scaled(A: Matrix, exponent: int) -> Matrix:
    """A / 2^exponent: a modularity does not depend on the unit of weights."""
    for part in (exponent // 2, exponent - exponent // 2):  # 2^1074 is no number
        A = binary.times(A, float(np.ldexp(1.0, -part))).new()
    return A


def _inside(A: Matrix, label: Vector) -> float:
    """[+_ij A(i, j) over label(i) = label(j)]."""
    own = graph.sum_of_own(A, label)
    return float(own.reduce(monoid.plus).new().value or 0.0)


def _by_community(degree: Vector, label: Any, count: int) -> Any:
    """K(c) = [+_i degree(i) over label(i) = c]: an array of the backend's."""
    return communities.sums_by_label(label, communities.dense(degree), count)
