"""The adjacency dictionaries of NetworkX, {node: {neighbour: attributes}}, as CSR arrays.

A(i, j) is the edge from the i-th to the j-th node in the order of the dictionary.  Pattern and values are read
separately, because one pattern serves every attribute.  This module does not import NetworkX.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain, compress
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np

from grb_tile import binary, select
from grb_tile.core.matrix import Matrix
from grb_tile.dtypes import BOOL


class Nodes:
    """Nodes in order, and the number of each."""

    def __init__(self, labels: Iterable[Any]) -> None:
        self.labels = list(labels)
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
    """CSR of adjacency dictionaries: row i is columns[indptr[i]:indptr[i + 1]], in the order of the dictionary.

    view   the dictionaries are those of a view, whose len() counts hidden neighbours that iteration leaves out
    """

    def __init__(self, adjacency: Mapping[Any, Mapping], *, view: bool = False) -> None:
        self.nodes = nodes = Nodes(adjacency)
        n = len(nodes)
        rows = list(map(list, adjacency.values())) if view else adjacency.values()
        lengths = np.fromiter(map(len, rows), np.int64, n)
        self.indptr = np.zeros(n + 1, np.int64)
        np.cumsum(lengths, out=self.indptr[1:])
        heads: Iterable[Any] = chain.from_iterable(rows)
        if not nodes.integer:
            heads = map(nodes.numbers.__getitem__, heads)
        columns = np.fromiter(heads, np.int64, int(self.indptr[-1]))
        self.columns = columns if nodes.plain or not nodes.integer else _numbered(columns, nodes)

    @property
    def rows(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(len(self.nodes)), np.diff(self.indptr))

    def on_or_above_diagonal(self) -> np.ndarray:
        """Whether each entry is in the upper triangle, bool."""
        return self.rows <= self.columns

    def matrix(self, values: Any, name: str | None = None) -> Matrix:
        """A with these values in the order of the pattern; values=True: a BOOL matrix of True."""
        n = len(self.nodes)
        dtype = BOOL if values is True else None
        return Matrix.from_csr(self.indptr, self.columns, values, dtype, nrows=n, ncols=n, name=name)

    def symmetric_matrix(self, values: np.ndarray, upper: np.ndarray) -> Matrix:
        """A(i, j) = A(j, i) = the values of the entries where `upper`, which is on_or_above_diagonal(), is true."""
        n = len(self.nodes)
        i, j = self.rows[upper], self.columns[upper]
        off = i < j
        rows, columns = np.concatenate((i, j[off])), np.concatenate((j, i[off]))
        return Matrix.from_coo(rows, columns, np.concatenate((values, values[off])), nrows=n, ncols=n)


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


def edge_values(
    adjacency: Mapping[Any, Mapping],
    weight: Any,
    default: Any,
    parallel: Callable[[Iterable], Any] | None = None,
    only: np.ndarray | None = None,
) -> list[Any]:
    """The attribute `weight` of each edge in the order of the pattern, `default` where an edge has none.

    parallel   for dictionaries of a multigraph, {node: {neighbour: {key: attributes}}}: a function of the weights of
               parallel edges, such as sum, min or max
    only       bool for each edge: is its value read?  None: all edges
    """

    data: Any = chain.from_iterable(neighbours.values() for neighbours in adjacency.values())
    if only is not None:
        data = compress(data, only.tobytes())
    if parallel is not None:
        if weight is None and parallel is sum:
            return list(map(len, data))
        return [parallel([attributes.get(weight, default) for attributes in keys.values()]) for keys in data]
    data = list(data)
    try:
        return list(map(itemgetter(weight), data))
    except KeyError:
        return list(map(methodcaller("get", weight, default), data))


def has_attributes(adjacency: Mapping[Any, Mapping]) -> bool:
    """Whether any edge has an attribute, in a graph without parallel edges."""
    return any(chain.from_iterable(neighbours.values() for neighbours in adjacency.values()))


def is_view(G: Any) -> bool:
    """Whether `G` shows another graph (subgraph_view, reverse_view), whose changes do not empty the cache of `G`."""
    return hasattr(G, "_graph")


def first_of_both(A: Matrix) -> Matrix:
    """B(i, j) = B(j, i) = A(i, j) for i <= j.  An undirected view of a directed graph may show two values."""
    U = select.triu(A).new()
    return binary.first(U | U.T).new(name=A.name)
