"""Matrices of a graph (networkx.convert_matrix, networkx.linalg)."""

from __future__ import annotations

from collections.abc import Callable
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


def _cast(values: np.ndarray, dtype: Any) -> np.ndarray:
    """`values` cast to `dtype` as NumPy casts Python's numbers.

    Raises: OverflowError for values outside an integer type; NotImplementedError for types whose values depend on the
    classes of the weights (text, objects, records).
    """
    dtype = np.dtype(dtype)
    if dtype.kind not in "biufc":
        raise NotImplementedError(f"dtype: values of {dtype} are made by NetworkX")
    if dtype.kind in "iu" and dtype != values.dtype:
        return np.array(values.tolist(), dtype)
    return values.astype(dtype, copy=False)


def _sum_of(dtype: np.dtype) -> Callable[[list], Any]:
    """A function of the weights of parallel edges: their sum in this type, to which SciPy casts each of them."""
    return lambda weights: np.array(weights, dtype).sum(dtype=dtype).item()


def _indices(array: np.ndarray, count: int) -> np.ndarray:
    """`array` as indices of a SciPy matrix: int32 where `count` is below 2^31."""
    return array.astype(np.int32) if count < 2**31 else array


def _are_bool(G: nx.Graph, weight: Any) -> bool:
    """Whether a multigraph has edges, each with True or False as its weight."""
    return any(G._adj.values()) and all(
        isinstance(attributes.get(weight), bool)
        for neighbours in G._adj.values()
        for keys in neighbours.values()
        for attributes in keys.values()
    )


def _depends_on_the_rest(values: np.ndarray, chosen: np.ndarray) -> bool:
    """Whether the chosen values alone might have a smaller type than all: 1 of [1, 0.5], True of [True, 2]."""
    if values.dtype.kind == "f":
        return bool((chosen == np.trunc(chosen)).all())
    return values.dtype.kind == "i" and bool(((chosen == 0) | (chosen == 1)).all())


def _refuse_loops(A: Any, dtype: np.dtype | None) -> None:
    """Raises: NotImplementedError where NetworkX, which adds the weight of a loop twice and subtracts it, rounds it."""
    if (dtype or A.dtype).kind in "bu" or A.dtype.kind == "b" or not np.isfinite(A.data).all():
        raise NotImplementedError("a loop whose weight NetworkX does not find again when it subtracts it")


@implements(kind="matrix")
def to_scipy_sparse_array(G, nodelist=None, dtype=None, weight="weight", format="csr"):
    """The adjacency matrix, with the sum of the weights of parallel edges."""
    import scipy.sparse

    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    if nodelist is not None:
        nodelist = chosen_nodes(G, nodelist)
    if dtype is not None:
        dtype = np.dtype(dtype)
    parallel = sum
    if G.is_multigraph():
        if dtype is None and _are_bool(G, weight):
            dtype = np.dtype(bool)  # whose sum is True in SciPy, too
        elif dtype is not None and dtype.kind in "biu":
            parallel = _sum_of(dtype)
    found = graph(G, weight, parallel=parallel)
    indptr, columns, values = found.A.to_csr()
    if values.dtype.kind == "b" and weight is None:
        values = np.ones(columns.size, np.int64)
    n = found.n
    A = scipy.sparse.csr_array((values, _indices(columns, columns.size), _indices(indptr, columns.size)), shape=(n, n))
    numbers = _numbers(G, nodelist)
    if numbers is not None:
        A = A[numbers][:, numbers]
        if dtype is None and len(numbers) < n and _depends_on_the_rest(values, A.data):
            return to_scipy_sparse_array(G.subgraph(nodelist), nodelist, weight=weight, format=format)
    if not G.is_directed() and A.diagonal().any():
        _refuse_loops(A, dtype)
    A.data = _cast(A.data, np.float64 if dtype is None and not A.nnz else dtype or A.dtype)
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
    A[i, j] = _cast(values, A.dtype)
    return A
