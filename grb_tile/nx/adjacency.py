"""From NetworkX's dictionaries to matrices, and from vectors back to dictionaries keyed by nodes.

The pattern is read once: A(i, j) is the edge from the i-th to the j-th node in the order of G.  Values are read and
cached for each attribute separately.
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
    """The numbers of the nodes where a path begins and ends.  Raises: NodeNotFound for one that is not in `G`."""
    for role, node in (("Source", source), ("Target", target)):
        if node not in G:
            raise nx.NodeNotFound(f"{role} {node} is not in G")
    nodes = nodes_of(G)
    return nodes.numbers[source], nodes.numbers[target]


def pattern_of(G: nx.Graph) -> Pattern:
    """The Pattern of `G`, cached with it."""
    cache = kept(G)
    if "pattern" not in cache:
        cache["pattern"] = Pattern(G._adj, view=is_view(G))
    return cache["pattern"]


def graph(
    G: nx.Graph, weight: Any = None, *, default: Any = 1, parallel: Callable[[Iterable], Any] | None = None
) -> algorithms.Graph:
    """A(i, j) = the weight of the edge from the i-th to the j-th node, as a graph of grb_tile.

    weight     the attribute with the weights; None: BOOL, all true (with parallel=sum of a multigraph, their number)
    default    the weight of an edge without the attribute
    parallel   a function of the weights of parallel edges, such as sum, min or max; None: they are one edge

    Raises: NotImplementedError, which sends the call to NetworkX, for weights that are no real numbers of at most 64
    bits.
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
    """A(i, j) = the weight of the edge; of an undirected graph read once for both of its entries."""
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
    """edge_values.  Raises: NotImplementedError where `parallel` fails, for example for text."""
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
    """A(i, j) = weight(u, v, attributes) for each edge from node u, of number i, to v, of number j; None: no edge.

    sources   the function is called for the edges that leave nodes reached from these; None: for all edges
    hides     whether a weight None hides the edge; if not, it raises NotImplementedError

    `attributes` of parallel edges is one dictionary {key: attributes}, as in NetworkX.  Nothing is cached.
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
    """`values` as an array of real numbers of at most 64 bits.

    copies   the number of entries with each value
    Raises: NotImplementedError, which sends the call to NetworkX, for other values, and where sums exceed INT64.
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
    """Whether integers are exact in the array, and no sum of them exceeds INT64."""
    if array.dtype.kind in "iu":
        return copies * float(np.abs(array, dtype=np.float64).sum()) < 2.0**63
    if array.dtype.kind == "f" and (np.isfinite(array) & (np.abs(array) >= 2.0**53)).any():
        return not any(isinstance(value, (int, np.integer)) for value in values)
    return True


def finite(
    found: algorithms.Graph, weight: Any, *, nonnegative: bool = False, squared: bool = False
) -> algorithms.Graph:
    """`found`, checked.

    Raises: NotImplementedError, which sends the call to NetworkX, for a weight that is infinite or NaN;
    nonnegative   for a negative weight, too
    squared       where squares of sums of the weights exceed FP64, too
    """
    if found.A.dtype.np_type.kind == "f" and found.A.nvals:
        # the sum, because min and max ignore NaN
        total = found.keep("total", lambda: found.A.reduce_scalar(gb.monoid.plus).new().value)
        if not np.isfinite(total):
            raise NotImplementedError(f"{weight}: a weight is infinite or NaN")
        if squared and max(abs(found.emin), abs(found.emax)) * found.A.nvals >= 2.0**511:
            raise NotImplementedError(f"{weight}: the squares of sums of these weights exceed FP64")
    if nonnegative and found.A.nvals and found.emin < 0:
        raise NotImplementedError(f"{weight}: the weight {found.emin} is negative")
    return found


def dense(G: nx.Graph, vector: Any, missing: Any = None) -> dict[Any, Any]:
    """{node: value} of a vector over the nodes; `missing` where it has no entry (None: the vector is full)."""
    values = vector.to_dense() if missing is None else vector.to_dense(missing)
    return dict(zip(nodes_of(G).labels, values.tolist()))


def sparse(G: nx.Graph, vector: Any, *, ascending: bool = False) -> dict[Any, Any]:
    """{node: value} of the entries of a vector over the nodes; ascending: in ascending order of values."""
    numbers, values = vector.to_coo()
    if ascending:
        order = np.argsort(values, kind="stable")
        numbers, values = numbers[order], values[order]
    return dict(zip(nodes_of(G).of(numbers), values.tolist()))
