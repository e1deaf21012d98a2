"""Loops over lists of neighbours in an order of their own, as NetworkX's graphs have them.  Arrays are NumPy's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..backends.select import current
from ..exceptions import IndexOutOfBound, InvalidValue
from .operands import by_vertex, each_once, vertices


@dataclass(frozen=True)
class Lists:
    """The neighbours of vertex i, indices[indptr[i]:indptr[i + 1]], in an order that a matrix does not keep; INT64."""

    indptr: np.ndarray
    indices: np.ndarray
    rows: None = None

    def __post_init__(self) -> None:
        starts, n, columns = self.indptr, self.nrows, self.indices
        if starts[0] != 0 or starts[-1] != columns.size or (np.diff(starts) < 0).any():
            raise InvalidValue(f"indptr: expected numbers that ascend from 0 to the {columns.size} indices")
        if columns.size and not 0 <= columns.min() <= columns.max() < n:
            raise IndexOutOfBound(f"indices: expected vertices 0 .. {n - 1}, got {columns.min()} .. {columns.max()}")

    @property
    def nrows(self) -> int:
        return self.indptr.size - 1

    @property
    def nvals(self) -> int:
        return self.indices.size


def breadth_first(lists: Lists, sources: np.ndarray, limit: float) -> tuple[np.ndarray, ...] | None:
    """(order, level, parent): the vertices as a queue finds them, the sources first; of each vertex its level, -1 where
    no path leads, and the vertex that found it.

    sources   vertices without repeats
    limit     the number of levels beyond the sources
    Raises: IndexOutOfBound, ValueError for sources.
    Cost: O(n + nvals).  Source: Moore, "The shortest path through a maze" (1959).
    """
    sources = vertices("sources", sources, lists.nrows)
    if np.unique(sources).size < sources.size:
        raise ValueError(f"sources: expected each vertex once, got {sources.tolist()}; give np.unique(sources)")
    found = current().breadth_first(lists, sources, int(min(limit, lists.nrows)))
    return None if found is NotImplemented else found


def label_turns(lists: Lists, order: np.ndarray, label: np.ndarray, state: np.ndarray) -> int | None:
    """How many vertices took another label: in the given order each takes the most frequent one of its neighbours.

    label   INT64, 0 .. n - 1, changed in place; a vertex keeps a label that is among the most frequent ones
    state   INT64, of one element: what chooses among equally frequent labels, changed in place; 0: the greatest label
    Raises: ValueError where `order` does not have each vertex once; DimensionMismatch, IndexOutOfBound for label.
    Cost: O(n + nvals).  Source: Raghavan, Albert, Kumara (Phys. Rev. E 76, 2007).
    """
    n = lists.nrows
    order = each_once(order, n, "order")
    by_vertex(label, n, "label", 0, n - 1)
    found = current().label_turns(lists, order, label, state)
    return None if found is NotImplemented else found


def topological_order(lists: Lists) -> tuple[np.ndarray, np.ndarray] | None:
    """(level, order): the most edges on a path that ends at each vertex, -1 for vertices on a cycle or behind one; the
    others by level, those of a level in the order in which the last of their in-edges is met.

    Cost: O(n + nvals).  Source: Kahn, "Topological sorting of large networks" (Comm. ACM 5, 1962).
    """
    found = current().topological_order(lists)
    return None if found is NotImplemented else found
