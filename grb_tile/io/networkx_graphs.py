"""NetworkX graphs to and from Matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grb_tile.io.errors import missing_library
from grb_tile.io.scipy_sparse import from_scipy_sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grb_tile.core.matrix import Matrix

    from .annotations import DTypeLike


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
) -> Matrix:
    """Adjacency matrix of `G`: A(i, j) is the weight of the edge from the i-th to the j-th node, 1 where it has none.

    Parameters
    ----------
    G : networkx graph (Graph, DiGraph, and the multigraphs, whose parallel edges add up)
    nodelist : the nodes in order; default: the order of G
    dtype : of the matrix; default: by the weights
    weight : name of the edge attribute; None: every edge is 1
    name : of the matrix

    >>> import networkx as nx
    >>> from grb_tile.io import from_networkx
    >>> from_networkx(nx.path_graph(3)).nvals
    4
    """
    nx = _networkx()
    if dtype is not None:
        from grb_tile.dtypes import lookup_dtype

        dtype = lookup_dtype(dtype).np_type
    A = nx.to_scipy_sparse_array(G, nodelist=nodelist, dtype=dtype, weight=weight)
    return from_scipy_sparse(A, name=name)


def to_networkx(m: Matrix, edge_attribute: str | None = "weight") -> Any:
    """DiGraph with an edge for each entry of the square matrix `m`, nodes being row numbers.

    Parameters
    ----------
    m : Matrix
    edge_attribute : attribute for the values; None: without values

    As in python-graphblas, nodes without any edge do not appear.
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
