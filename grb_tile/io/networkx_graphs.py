"""NetworkX graphs to and from Matrix."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.dtypes import lookup_dtype
from grb_tile.io.adjacency_dictionaries import Pattern, edge_values, first_of_both, is_view
from grb_tile.io.build import matrix_of_edges
from grb_tile.io.errors import missing_library
from grb_tile.io.symmetry import equal_bits

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grb_tile.core.matrix import Matrix

    from .annotations import DTypeLike, DupOp


def _networkx():
    try:
        import networkx
    except ImportError:  # pragma: no cover
        raise missing_library("networkx", "convert graphs") from None
    return networkx


def from_networkx(
    G: Any,
    nodelist: Sequence[Any] | None = None,
    dtype: DTypeLike | None = None,
    weight: str | None = "weight",
    name: str | None = None,
    *,
    dup_op: DupOp | None = None,
) -> Matrix:
    """Adjacency matrix of `G`: A(i, j) is the weight of the edge from the i-th to the j-th node, 1 where it has none.

    Parameters
    ----------
    G : networkx graph (Graph, DiGraph, MultiGraph, MultiDiGraph)
    nodelist : the nodes in the order of the rows; default: the order of G
    dtype : of the matrix; default: by the weights
    weight : name of the edge attribute; None: every edge is 1
    name : of the matrix
    dup_op : combines the weights of parallel edges; None: they are added, as NetworkX and python-graphblas do

    Raises: TypeError for weights that are no numbers; NetworkXError for a graph without nodes, and for a nodelist that
    is empty, has a node twice or one that is not in G.

    >>> import networkx as nx
    >>> from grb_tile.io import from_networkx
    >>> from_networkx(nx.path_graph(3)).nvals
    4
    """
    nx = _networkx()
    if dtype is not None:
        dtype = lookup_dtype(dtype).np_type
    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    if nodelist is not None:
        nodelist = chosen_nodes(G, nodelist)
        if len(nodelist) < len(G):
            G = G.subgraph(nodelist)
    if dup_op is not None and G.is_multigraph():
        return from_parallel_edges(G, weight, dup_op, nodelist, dtype, name, every=True)
    adjacency, view = dict(G.adjacency()), is_view(G)
    pattern = Pattern(adjacency, view=view)
    if weight is None and not G.is_multigraph():
        values = np.ones(min(1, pattern.columns.size), dtype or (np.int64 if pattern.columns.size else np.float64))
    elif G.is_multigraph():
        parallel = edge_values(adjacency, weight, 1, list)
        starts = np.cumsum([0, *map(len, parallel)])[:-1]
        values = _numbers(list(chain.from_iterable(parallel)), dtype, weight)
        values = np.add.reduceat(values, starts, dtype=values.dtype) if values.size else values
    else:
        values = _numbers(edge_values(adjacency, weight, 1), dtype, weight)
    if values.size and equal_bits(values, values[:1]).all():
        values = values[0]
    A: Any = pattern.matrix(values, name)
    if view and not G.is_directed():
        A = first_of_both(A)
    numbers = None if nodelist is None else list(map(pattern.nodes.number, nodelist))
    if numbers is None or numbers == list(range(len(numbers))):
        return A
    return A[numbers, numbers].new(name=name)


def from_parallel_edges(
    G: Any,
    weight: str | None,
    dup_op: DupOp | None = None,
    nodelist: Sequence[Any] | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
    *,
    every: bool = False,
) -> Matrix:
    """from_networkx of a multigraph by the rule of edge lists: `matrix_of_edges` says what None as dup_op does.

    every: is each edge without a weight 1, where none has one, too?  Else parallel ones are one entry then.
    """
    nodes = list(G) if nodelist is None else nodelist
    numbers = dict(zip(nodes, range(len(nodes)), strict=True))
    edges = list(G.edges(data=weight) if weight is not None else G.edges(data=False))
    rows, cols = (np.fromiter((numbers[edge[end]] for edge in edges), np.int64, len(edges)) for end in (0, 1))
    given = [None] * len(edges) if weight is None else [edge[2] for edge in edges]
    values = None
    if every or any(each is not None for each in given):
        values = _numbers([1 if each is None else each for each in given], dtype, weight)
    shape = len(nodes), len(nodes)
    dtype = np.int64 if values is None and dtype is None else dtype
    return matrix_of_edges(shape, rows, cols, values, directed=G.is_directed(), dtype=dtype, dup_op=dup_op, name=name)


def _numbers(values: list[Any], dtype: Any, weight: str | None) -> np.ndarray:
    try:
        array = np.array(values, dtype)
    except ValueError:  # sequences, or text that is no number of `dtype`
        array = np.empty(0, object)
    if array.dtype.kind not in "biufc" or array.ndim != 1:
        raise TypeError(
            f"weight: values of the edge attribute {weight!r} are no numbers of at most 64 bits a part; "
            "name an attribute that has numbers, or None, which makes every edge 1"
        )
    return array


def chosen_nodes(G: Any, nodelist: Iterable[Any]) -> list[Any]:
    """`nodelist` as a list.  Raises: NetworkXError where it is empty, has a node twice, or one that G lacks."""
    nx = _networkx()
    nodelist = list(nodelist)
    if not nodelist:
        raise nx.NetworkXError("nodelist has no nodes")
    if len(set(G.nbunch_iter(nodelist))) != len(nodelist):
        for node in nodelist:
            if node not in G:
                raise nx.NetworkXError(f"Node {node} in nodelist is not in G")
        raise nx.NetworkXError("nodelist contains duplicates.")
    return nodelist


def to_networkx(m: Matrix, edge_attribute: str | None = "weight") -> Any:
    """DiGraph with an edge i -> j for each entry (i, j) of the square matrix `m`.

    Parameters
    ----------
    m : Matrix
    edge_attribute : edge attribute that gets the values; None: the values are left out

    Nodes without edges do not appear, as in python-graphblas.
    """
    nx = _networkx()
    rows, cols, values = m.to_coo()
    G = nx.DiGraph()
    ends = (rows.tolist(), cols.tolist())
    if edge_attribute is None:
        G.add_edges_from(zip(*ends, strict=True))
    else:
        G.add_weighted_edges_from(zip(*ends, values.tolist(), strict=True), weight=edge_attribute)
    return G
