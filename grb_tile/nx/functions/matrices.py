"""Matrices of a graph (networkx.convert_matrix, networkx.linalg)."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from grb_tile.io.networkx_graphs import chosen_nodes

from ..adjacency import graph, nodes_of
from ..registry import implements


def _numbers(G: nx.Graph, nodelist: Any) -> list[int] | None:
    """The numbers of the nodes in `nodelist`, None for the order of G."""
    if nodelist is None:
        return None
    nodes = nodes_of(G)
    numbers = list(map(nodes.number, nodelist))
    return None if numbers == list(range(len(nodes))) else numbers


def _indices(array: np.ndarray, count: int) -> np.ndarray:
    """As SciPy makes them: 32 bits where they are enough."""
    return array.astype(np.int32) if count < 2**31 else array


def _are_bool(G: nx.Graph, weight: Any) -> bool:
    """Whether every edge of a multigraph has True or False as its weight."""
    return all(
        isinstance(attributes.get(weight), bool)
        for neighbours in G._adj.values()
        for keys in neighbours.values()
        for attributes in keys.values()
    )


@implements(kind="matrix")
def to_scipy_sparse_array(G, nodelist=None, dtype=None, weight="weight", format="csr"):
    """The adjacency matrix, with the sum of the weights of parallel edges."""
    import scipy.sparse

    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    if nodelist is not None:
        nodelist = chosen_nodes(G, nodelist)
    found = graph(G, weight, parallel=sum)
    indptr, columns, values = found.A.to_csr()
    if found.A.dtype.name == "BOOL" and weight is None:
        values = np.ones(columns.size, np.int64)
    elif G.is_multigraph() and dtype is None and _are_bool(G, weight):
        dtype = np.bool_  # a sum of which is True for SciPy, too
    if dtype is None and not columns.size:
        dtype = np.float64
    values = np.array(values, dtype=dtype)
    n = found.n
    A = scipy.sparse.csr_array((values, _indices(columns, columns.size), _indices(indptr, columns.size)), shape=(n, n))
    numbers = _numbers(G, nodelist)
    if numbers is not None:
        A = A[numbers][:, numbers]
    try:
        return A.asformat(format)
    except ValueError as error:
        raise nx.NetworkXError(f"Unknown sparse matrix format: {format}") from error


def _plain_dtype(dtype: Any = None, **others: Any) -> bool | str:
    return not (dtype is not None and np.dtype(dtype).names) or "dtype has fields"


@implements(kind="matrix", can_run=_plain_dtype)
def to_numpy_array(G, nodelist=None, dtype=None, order=None, multigraph_weight=sum, weight="weight", nonedge=0.0):
    """The adjacency matrix as a dense array."""
    nodelist = list(G) if nodelist is None else list(nodelist)
    wanted = set(nodelist)
    if unknown := wanted - set(G):
        raise nx.NetworkXError(f"Nodes {unknown} in nodelist is not in G")
    if len(wanted) < len(nodelist):
        raise nx.NetworkXError("nodelist contains duplicates.")
    A = np.full((len(nodelist), len(nodelist)), fill_value=nonedge, dtype=dtype, order=order)
    found = graph(G, weight, parallel=multigraph_weight)
    i, j, values = found.A.to_coo()
    numbers = _numbers(G, nodelist)
    if numbers is not None:
        position = np.full(found.n, -1, np.int64)
        position[numbers] = np.arange(len(numbers))
        i, j = position[i], position[j]
        inside = (i >= 0) & (j >= 0)
        i, j, values = i[inside], j[inside], values[inside]
    A[i, j] = values
    return A
