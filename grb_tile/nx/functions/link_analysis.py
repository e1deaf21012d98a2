"""PageRank and other eigenvectors (networkx.algorithms.link_analysis, centrality.eigenvector and katz)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from grb_tile import algorithms

from ..adjacency import as_numbers, dense, finite, graph, nodes_of
from ..registry import implements


def _can_rank(alpha: float = 0.85, **others: Any) -> bool | str:
    return 0 <= alpha < 1 or "alpha is not in [0, 1)"


def _over_nodes(G: nx.Graph, given: dict | None, name: str) -> np.ndarray | None:
    """The values of a dictionary as an array over the nodes, 0 where it has none.

    Raises: NotImplementedError, which sends the call to NetworkX, for negative, infinite and NaN values, and where all
    are 0; ZeroDivisionError, as NetworkX, where all of `personalization` are 0.
    """
    if given is None:
        return None
    values = as_numbers([given.get(node, 0) for node in nodes_of(G).labels], name).astype(np.float64)
    if (values < 0).any() or not np.isfinite(values).all():
        raise NotImplementedError(f"{name}: a value is negative, infinite or NaN")
    if not values.sum():
        if name == "personalization":
            raise ZeroDivisionError(f"{name}: no node of the graph has a value above 0")
        raise NotImplementedError(f"{name}: no node of the graph has a value above 0")
    return values


@implements(can_run=_can_rank)
def pagerank(G, alpha=0.85, personalization=None, max_iter=100, tol=1e-6, nstart=None, weight="weight", dangling=None):
    """r = (1 - a) p + a (A' (r / d) + s q); see algorithms.pagerank."""
    if len(G) == 0:
        return {}
    found = finite(graph(G, weight, parallel=sum), weight, nonnegative=True)
    weighted = False
    if found.A.nvals and (weight is not None or G.is_multigraph()):
        weighted = bool(found.emin != found.emax or found.emin == 0)
    result = algorithms.pagerank(
        found,
        alpha=alpha,
        personalization=_over_nodes(G, personalization, "personalization"),
        nstart=_over_nodes(G, nstart, "nstart"),
        dangling=_over_nodes(G, dangling, "dangling"),
        weighted=weighted,
        tol=max(tol, np.finfo(float).tiny),  # with 0 grb_tile makes max_iter iterations and does not fail
        max_iter=max_iter,
    )
    return dense(G, result.ranks)


def _weights(G: nx.Graph, weight: Any) -> algorithms.Graph:
    """The graph with finite weights; those of parallel edges are added."""
    return finite(graph(G, weight, parallel=sum), weight, squared=True)


def _numbers(G: nx.Graph, given: dict | None, name: str) -> np.ndarray | None:
    if given is None:
        return None
    if set(given) != set(G):
        raise NotImplementedError(f"{name}: not a value for each node")
    return as_numbers([given[node] for node in nodes_of(G).labels], name).astype(np.float64)


@implements(not_for=("multigraph",))
def eigenvector_centrality(G, max_iter=100, tol=1e-6, nstart=None, weight=None):
    """x = (A' + I) x / |(A' + I) x|_2."""
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("cannot compute centrality for the null graph")
    start = _numbers(G, nstart, "nstart")
    if start is not None:
        if not start.any():
            raise nx.NetworkXError("initial vector cannot have all zero values")
        start = start / start.sum()
    found = algorithms.eigenvector(
        _weights(G, weight), max_iter=max_iter, tol=tol, nstart=start, weighted=weight is not None
    )
    return dense(G, found.values)


@implements(not_for=("multigraph",))
def katz_centrality(G, alpha=0.1, beta=1.0, max_iter=1000, tol=1e-6, nstart=None, normalized=True, weight=None):
    """x = alpha A' x + beta."""
    if len(G) == 0:
        return {}
    try:
        scores: Any = float(beta)
    except (TypeError, ValueError, AttributeError):
        if set(beta) != set(G):
            raise nx.NetworkXError("beta dictionary must have a value for every node") from None
        scores = _numbers(G, beta, "beta")
    found = algorithms.katz(
        _weights(G, weight),
        alpha=alpha,
        beta=scores,
        max_iter=max_iter,
        tol=tol,
        nstart=_numbers(G, nstart, "nstart"),
        normalized=bool(normalized),
        weighted=weight is not None,
    )
    return dense(G, found.values)


@implements()
def hits(G, max_iter=100, tol=1e-8, nstart=None, normalized=True):
    """a = A' h, h = A a."""
    if len(G) == 0:
        return {}, {}
    if not normalized:
        raise NotImplementedError("normalized=False scales by the singular vectors of SciPy")
    found = _weights(G, "weight")
    if not found.A.nvals or not (found.emin or found.emax):
        raise NotImplementedError("a graph without weights other than 0 has no singular vectors")
    start = None if nstart is None else as_numbers(list(nstart.values()), "nstart").astype(np.float64)
    try:
        # an iteration of ARPACK, which NetworkX calls, multiplies 20 times
        result = algorithms.hits(found, max_iter=20 * max_iter, tol=tol, nstart=start, weighted=True)
    except algorithms.ConvergenceFailure as error:
        raise NotImplementedError(f"the power iteration did not converge in {20 * max_iter} iterations") from error
    return dense(G, result.hubs), dense(G, result.authorities)
