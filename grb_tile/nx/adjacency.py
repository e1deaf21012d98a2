"""From NetworkX's dictionaries to matrices, and from vectors back to dictionaries keyed by nodes.

The pattern is read once: A(i, j) is the edge from the i-th to the j-th node in the order of G.  Values are read for the
attribute that a call names, so two calls with different weights never share values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from operator import itemgetter
from typing import Any

import networkx as nx
import numpy as np

import grb_tile as gb
from grb_tile import algorithms, dtypes

from .graphs import is_view, kept


class Nodes:
    """The nodes of a graph in order, and the number of each."""

    def __init__(self, G: nx.Graph) -> None:
        self.labels = list(G._adj)
        self._numbers: dict[Any, int] | None = None
        kinds = set(map(type, self.labels))
        self.integer = kinds == {int} and -(2**62) < min(self.labels) and max(self.labels) < 2**62
        # nodes 0, 1, 2 ... are their own numbers
        self.plain = self.integer and self.labels == list(range(len(self.labels)))

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def numbers(self) -> dict[Any, int]:
        """{node: its number}."""
        if self._numbers is None:
            self._numbers = dict(zip(self.labels, range(len(self.labels))))
        return self._numbers

    def number(self, node: Any) -> int | None:
        """The number of `node`, None when it is no node; TypeError when it cannot be hashed."""
        return self.numbers.get(node)

    def of(self, numbers: Any) -> list[Any]:
        """The nodes with these numbers (an array of ints)."""
        if self.plain:
            return numbers.tolist()
        return list(map(self.labels.__getitem__, numbers.tolist()))


class Pattern:
    """CSR of the adjacency dictionaries: row i is columns[indptr[i]:indptr[i + 1]], in the order of the dictionary.

    adj   other dictionaries of the same nodes, G._pred say
    """

    def __init__(self, G: nx.Graph, adj: Any = None) -> None:
        adj = G._adj if adj is None else adj
        self.nodes = nodes = Nodes(G)
        n = len(nodes)
        # a view counts neighbours whose edges it hides, but does not show them
        rows = list(map(list, adj.values())) if is_view(G) else adj.values()
        lengths = np.fromiter(map(len, rows), np.int64, n)
        self.indptr = np.zeros(n + 1, np.int64)
        np.cumsum(lengths, out=self.indptr[1:])
        heads = chain.from_iterable(rows)
        if not nodes.integer:
            heads = map(nodes.numbers.__getitem__, heads)
        columns = np.fromiter(heads, np.int64, int(self.indptr[-1]))
        self.columns = columns if nodes.plain or not nodes.integer else _numbered(columns, nodes)


def _numbered(columns: np.ndarray, nodes: Nodes) -> np.ndarray:
    """Numbers of integer nodes, through a table where their range is at most four times their count."""
    labels = np.array(nodes.labels, np.int64)
    low, high = int(labels.min()), int(labels.max())
    if high - low < 4 * len(labels):
        table = np.empty(high - low + 1, np.int64)
        table[labels - low] = np.arange(len(labels))
        return table[columns - low]
    order = np.argsort(labels)
    return order[np.searchsorted(labels, columns, sorter=order)]


def nodes_of(G: nx.Graph) -> Nodes:
    """The nodes of `G`."""
    return pattern_of(G).nodes


def pattern_of(G: nx.Graph) -> Pattern:
    """The pattern of `G`, read at the first use."""
    cache = kept(G)
    if "pattern" not in cache:
        cache["pattern"] = Pattern(G)
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
        pattern = pattern_of(G)
        if key == (None,):
            values: Any = True
        else:
            values = _values(G, weight, default, parallel)
            if values.size != pattern.columns.size:  # written into behind the back of NetworkX
                cache["pattern"] = pattern = Pattern(G)
        n = len(pattern.nodes)
        A = gb.Matrix.from_csr(
            pattern.indptr, pattern.columns, values, dtypes.BOOL if values is True else None, nrows=n, ncols=n
        )
        found = algorithms.Graph(A, directed=True) if G.is_directed() else algorithms.Graph.of_symmetric(A)
        if parallel in (None, sum, min, max):
            cache[key] = found
    return found


def graph_by_function(G: nx.Graph, weight: Callable[[Any, Any, dict], Any]) -> algorithms.Graph:
    """A(i, j) = weight(u, v, attributes) for each edge from node i, u, to node j, v; None: no edge.  Nothing is kept.

    The attributes of parallel edges are in one dictionary by key, as NetworkX gives them.
    """
    pattern = pattern_of(G)
    found = [weight(u, v, data) for u, neighbours in G._adj.items() for v, data in neighbours.items()]
    rows = np.repeat(np.arange(len(pattern.nodes)), np.diff(pattern.indptr))
    there = np.fromiter((value is not None for value in found), bool, len(found))
    values = as_numbers([value for value in found if value is not None], "weight")
    n = len(pattern.nodes)
    return algorithms.Graph(
        gb.Matrix.from_coo(rows[there], pattern.columns[there], values, nrows=n, ncols=n), directed=True
    )


def _values(G: nx.Graph, weight: Any, default: Any, parallel: Callable | None) -> np.ndarray:
    """The weights in the order of the pattern."""
    if G.is_multigraph():
        edges = chain.from_iterable(neighbours.values() for neighbours in G._adj.values())
        if parallel is None:
            raise ValueError("parallel: give sum, min or max for the weights of parallel edges")
        if weight is None and parallel is sum:
            found: list[Any] = list(map(len, edges))
        else:
            found = [parallel([data.get(weight, default) for data in keys.values()]) for keys in edges]
    else:
        data = list(chain.from_iterable(neighbours.values() for neighbours in G._adj.values()))
        try:
            found = list(map(itemgetter(weight), data))
        except KeyError:
            found = [attributes.get(weight, default) for attributes in data]
    return as_numbers(found, f"the edge attribute {weight!r}")


def as_numbers(values: list[Any], what: str) -> np.ndarray:
    """`values` as an array of numbers; NotImplementedError, which sends the call to NetworkX, if one is no number."""
    try:
        array = np.array(values)
    except (ValueError, OverflowError):
        array = np.empty(0, object)
    if array.ndim != 1 or array.dtype.kind not in "biuf" or array.dtype.itemsize > 8:
        raise NotImplementedError(f"{what}: grb_tile computes with real numbers of at most 64 bits")
    if not _exact(array, values):
        raise NotImplementedError(f"{what}: sums of these integers exceed 64 bits, which only Python's integers hold")
    return array


def _exact(array: np.ndarray, values: list[Any]) -> bool:
    """Whether integers are in the array as they were, and no sum of them leaves INT64."""
    if array.dtype.kind in "iu":
        return float(np.abs(array, dtype=np.float64).sum()) < 2.0**63
    if array.dtype.kind == "f" and (np.isfinite(array) & (np.abs(array) >= 2.0**53)).any():
        return not any(isinstance(value, (int, np.integer)) for value in values)
    return True


def finite(found: algorithms.Graph, weight: Any, *, nonnegative: bool = False) -> algorithms.Graph:
    """`found`; NotImplementedError, which sends the call to NetworkX, for a weight that is infinite or NaN.

    nonnegative   for one that is negative, too
    """
    if found.A.dtype.np_type.kind == "f" and found.A.nvals:
        # the sum, because min and max leave NaN out
        total = found.keep("total", lambda: found.A.reduce_scalar(gb.monoid.plus).new().value)
        if not np.isfinite(total):
            raise NotImplementedError(f"{weight}: a weight is infinite or NaN")
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
