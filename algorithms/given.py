"""The types of what algorithms are given, for type checkers and readers: graphs, vertices and values by vertex."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from grb_tile import Matrix, Vector

    from .graph import Graph


class HasShape(Protocol):
    """Data frames, pyarrow tables, arrays of SciPy and NumPy, tensors, expressions of a Matrix."""

    @property
    def shape(self) -> Any: ...


class HasDirection(Protocol):
    """Graphs of NetworkX and igraph."""

    def is_directed(self) -> bool: ...


class HasLabels(Protocol):
    """What readers of grb_tile.io gave: EdgeList, LabelledMatrix, Read."""

    @property
    def labels(self) -> Any: ...


# What `Graph` takes, and each algorithm in the place of a Graph
GraphLike: TypeAlias = "Graph | Matrix | str | os.PathLike[str] | HasShape | HasDirection | HasLabels"
Vertex: TypeAlias = Hashable  # a label of the graph, or the number of a vertex
Vertices: TypeAlias = Iterable[Vertex]  # labels or numbers; an array of numbers, too
Values: TypeAlias = "Vector | Mapping[Any, float] | Iterable[float]"  # by vertex; a mapping has labels or numbers
Pairs: TypeAlias = "Iterable[tuple[Vertex, Vertex]] | Matrix"  # of vertices; an array of two columns, too
