"""Matrices of a graph (networkx.convert_matrix, networkx.linalg), and functions that NetworkX forms with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np

from ..adjacency import graph, nodes_of
from ..registry import implements, original


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


@implements(kind="matrix")
def to_scipy_sparse_array(G, nodelist=None, dtype=None, weight="weight", format="csr"):
    """The adjacency matrix, with the sum of the weights of parallel edges."""
    import scipy.sparse

    if len(G) == 0:
        raise nx.NetworkXError("Graph has no nodes or edges")
    if nodelist is not None:
        nodelist = list(nodelist)
        if not nodelist:
            raise nx.NetworkXError("nodelist has no nodes")
        if len(set(G.nbunch_iter(nodelist))) != len(nodelist):
            for node in nodelist:
                if node not in G:
                    raise nx.NetworkXError(f"Node {node} in nodelist is not in G")
            raise nx.NetworkXError("nodelist contains duplicates.")
    found = graph(G, weight, parallel=sum)
    indptr, columns, values = found.A.to_csr()
    if found.A.dtype.name == "BOOL" and weight is None:
        values = np.ones(columns.size, np.int64)
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


def _plain_dtype(dtype: Any = None, multigraph_weight: Any = sum, **others: Any) -> bool | str:
    if getattr(dtype, "names", None) or (isinstance(dtype, (list, tuple, str)) and np.dtype(dtype).names):
        return "dtype has fields"
    return multigraph_weight in (sum, min, max) or "multigraph_weight is a function of the caller"


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


# Short functions of NetworkX over its matrices, which come from the two functions above when the graph is ours.
OVER_MATRICES = (
    "adjacency_matrix", "adjacency_spectrum", "algebraic_connectivity", "bethe_hessian_matrix",
    "bethe_hessian_spectrum", "communicability", "communicability_exp", "directed_combinatorial_laplacian_matrix",
    "directed_laplacian_matrix", "directed_modularity_matrix", "effective_graph_resistance",
    "eigenvector_centrality_numpy", "estrada_index", "fiedler_vector", "google_matrix", "katz_centrality_numpy",
    "kemeny_constant", "laplacian_matrix", "laplacian_spectrum", "modularity_matrix", "modularity_spectrum",
    "normalized_laplacian_matrix", "normalized_laplacian_spectrum", "number_of_walks", "second_order_centrality",
    "spectral_bisection", "spectral_ordering", "subgraph_centrality", "subgraph_centrality_exp", "to_pandas_adjacency",
    "tournament_matrix",
)  # fmt: skip


def _over_our_matrices(name: str) -> Callable:
    def function(*args: Any, **kwargs: Any) -> Any:
        return original(name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"networkx.{name}, with the matrix made by grb_tile."
    return function


for _name in OVER_MATRICES:
    implements(_name, kind="matrix")(_over_our_matrices(_name))
