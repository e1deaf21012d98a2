"""From NetworkX's dictionaries to matrices, and from vectors back to dictionaries keyed by nodes.

The pattern is read once: A(i, j) is the edge from the i-th to the j-th node in the order of G.  Values are read for the
attribute that a call names, so two calls with different weights never share values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import networkx as nx
import numpy as np

import grb_tile as gb
from grb_tile import algorithms
from grb_tile.io.adjacency_dictionaries import Nodes, Pattern, edge_values, first_of_both, has_attributes, is_view

from .graphs import kept


def nodes_of(G: nx.Graph) -> Nodes:
    """The nodes of `G`."""
    return pattern_of(G).nodes


def ends(G: nx.Graph, source: Any, target: Any) -> tuple[int, int]:
    """The numbers of the nodes where a path begins and ends; NetworkX's exception for one that is not in `G`."""
    for role, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{role} {node} is not in G")
    nodes = nodes_of(G)
    return nodes.numbers[source], nodes.numbers[target]


def pattern_of(G: nx.Graph) -> Pattern:
    """The pattern of `G`, read at the first use."""
    cache = kept(G)
    if "pattern" not in cache:
        cache["pattern"] = Pattern(G._adj, view=is_view(G))
    return cache["pattern"]


def graph(
    G: nx.Graph, weight: Any = None, *, default: Any = 1, parallel: Callable[[Iterable], Any] | None = None
) -> algorithms.Graph:
    """A(i, j) = the weight of the edge from the i-th to the j-th node, as a graph of grb_tile.

    weight     the attribute with the weights; None: only the pattern counts
    default    the weight of an edge without the attribute
    parallel   what parallel edges make: a function of their weights (sum, min or max, say); None: one edge

    Raises: NotImplementedError for weights that are no real numbers of at most 64 bits; NetworkX then decides.
    """
    cache = kept(G)
    if not G.is_multigraph():
        parallel = None
    key = (None,) if weight is None and parallel in (None, min, max) else (weight, default, parallel)
    found = cache.get(key)
    if found is None:
        if key == (None,):
            A = pattern_of(G).matrix(True)
        else:
            if G.is_multigraph() and parallel is None:
                raise ValueError("parallel: give sum, min or max for the weights of parallel edges")
            A = _weights(G, weight, default, parallel)
        if is_view(G) and not G.is_directed():
            A = first_of_both(A)
        found = algorithms.Graph(A, directed=True) if G.is_directed() else algorithms.Graph.of_symmetric(A)
        if parallel in (None, sum, min, max):
            cache[key] = found
    return found


def _weights(G: nx.Graph, weight: Any, default: Any, parallel: Callable[[Iterable], Any] | None) -> gb.Matrix:
    """A(i, j) = the weight of the edge; of an undirected graph, both of whose entries share attributes, read once."""
    pattern, what = pattern_of(G), f"the edge attribute {weight!r}"
    if not is_view(G) and sum(map(len, G._adj.values())) != pattern.columns.size:  # written into without NetworkX
        kept(G)["pattern"] = pattern = Pattern(G._adj)
    if pattern.columns.size and not (is_view(G) or G.is_multigraph() or has_attributes(G._adj)):
        return pattern.matrix(as_numbers([default], what, pattern.columns.size)[0])
    if G.is_directed() or is_view(G):
        return pattern.matrix(as_numbers(_read(G, weight, default, parallel, what), what))
    upper = pattern.on_or_above_diagonal()
    values = as_numbers(_read(G, weight, default, parallel, what, upper), what, 2)
    return pattern.symmetric_matrix(values, upper)


def _read(
    G: nx.Graph, weight: Any, default: Any, parallel: Any, what: str, only: np.ndarray | None = None
) -> list[Any]:
    """edge_values; NotImplementedError where those of parallel edges have no sum or minimum, as text has none."""
    try:
        found = edge_values(G._adj, weight, default, parallel, only)
    except TypeError as error:
        raise NotImplementedError(f"{what}: {error}; grb_tile computes with real numbers") from error
    if parallel is sum and any(isinstance(value, (np.integer, np.float16, np.float32)) for value in found):
        raise NotImplementedError(f"{what}: numbers of NumPy, whose sums leave their type")
    return found


def graph_by_function(
    G: nx.Graph, weight: Callable[[Any, Any, dict], Any], sources: Iterable[Any] | None = None, *, hides: bool = True
) -> algorithms.Graph:
    """A(i, j) = weight(u, v, attributes) for each edge from node i, u, to node j, v; None: no edge.  Nothing is kept.

    sources   the function is called for the edges that leave what they reach; None: for all edges
    hides     whether None is no edge; NotImplementedError if not

    The attributes of parallel edges are in one dictionary by key, as NetworkX gives them.
    """
    reached = list(dict.fromkeys(G._adj if sources is None else sources))
    seen, numbers = set(reached), nodes_of(G).numbers
    rows: list[int] = []
    columns: list[int] = []
    values: list[Any] = []
    for u in reached:  # which grows
        for v, data in G._adj[u].items():
            value = weight(u, v, data)
            if value is None and not hides:
                raise NotImplementedError("weight: a function that gives None")
            if value is not None:
                rows.append(numbers[u])
                columns.append(numbers[v])
                values.append(value)
                if v not in seen:
                    seen.add(v)
                    reached.append(v)
    n = len(numbers)
    return algorithms.Graph(
        gb.Matrix.from_coo(rows, columns, as_numbers(values, "weight"), nrows=n, ncols=n), directed=True
    )


def as_numbers(values: list[Any], what: str, copies: int = 1) -> np.ndarray:
    """`values` as an array of numbers; NotImplementedError, which sends the call to NetworkX, if one is no number.

    copies   how many entries each value is for
    """
    try:
        array = np.array(values)
    except (ValueError, OverflowError):
        array = np.empty(0, object)
    if array.ndim != 1 or array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise NotImplementedError(f"{what}: grb_tile computes with real numbers of at most 64 bits")
    if not _exact(array, values, copies):
        raise NotImplementedError(f"{what}: sums of these integers exceed 64 bits, which only Python's integers hold")
    return array


def _exact(array: np.ndarray, values: list[Any], copies: int) -> bool:
    """Whether integers are in the array as they were, and no sum of them leaves INT64."""
    if array.dtype.kind in "iu":
        return copies * float(np.abs(array, dtype=np.float64).sum()) < 2.0**63
    if array.dtype.kind == "f" and (np.isfinite(array) & (np.abs(array) >= 2.0**53)).any():
        return not any(isinstance(value, (int, np.integer)) for value in values)
    return True


def finite(
    found: algorithms.Graph, weight: Any, *, nonnegative: bool = False, squared: bool = False
) -> algorithms.Graph:
    """`found`; NotImplementedError, which sends the call to NetworkX, for a weight that is infinite or NaN.

    nonnegative   for one that is negative, too
    squared       where the squares of sums of the weights leave FP64, too
    """
    if found.A.dtype.np_type.kind == "f" and found.A.nvals:
        # the sum, because min and max leave NaN out
        total = found.keep("total", lambda: found.A.reduce_scalar(gb.monoid.plus).new().value)
        if not np.isfinite(total):
            raise NotImplementedError(f"{weight}: a weight is infinite or NaN")
        if squared and max(abs(found.emin), abs(found.emax)) * found.A.nvals >= 2.0**511:
            raise NotImplementedError(f"{weight}: the squares of sums of these weights exceed FP64")
    if nonnegative and found.A.nvals and found.emin < 0:
        raise NotImplementedError(f"{weight}: the weight {found.emin} is negative")
    return found


def dense(G: nx.Graph, vector: Any, missing: Any = None) -> dict[Any, Any]:
    """{node: value} of a vector of the nodes; `missing` where it has no entry (None: it is full)."""
    values = vector.to_dense() if missing is None else vector.to_dense(missing)
    return dict(zip(nodes_of(G).labels, values.tolist()))


def sparse(G: nx.Graph, vector: Any, *, ascending: bool = False) -> dict[Any, Any]:
    """{node: value} of the entries of a vector of the nodes, in ascending order of values when asked for."""
    numbers, values = vector.to_coo()
    if ascending:
        order = np.argsort(values, kind="stable")
        numbers, values = numbers[order], values[order]
    return dict(zip(nodes_of(G).of(numbers), values.tolist()))
