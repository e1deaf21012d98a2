"""igraph's graphs to Matrix, by their methods: igraph itself is not imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from grb_tile.io.build import matrix_of_edges
from grb_tile.io.edge_list import EdgeList

if TYPE_CHECKING:
    from .annotations import DTypeLike, DupOp


def from_igraph(
    G: Any,
    weight: str | bool | None = None,
    *,
    dup_op: DupOp | None = None,
    dtype: DTypeLike | None = None,
    name: str | None = None,
) -> EdgeList:
    """A(i, j) = the weight of the edge between the vertices i and j of `G`, in both directions where G is undirected.

    Parameters
    ----------
    G : igraph.Graph
    weight : name of the edge attribute; None: "weight" where the edges have it, else no weights, BOOL, all true; False:
        no weights
    dup_op, dtype, name : as in from_dataframe

    Returns
    -------
    EdgeList(matrix, labels)
        labels are the vertex attribute "name", None where there is none.

    Raises
    ------
    KeyError : the edges have no such attribute
    ValueError : an edge has no weight, or one that is no number
    """
    count, attributes = G.vcount(), G.es.attributes()
    if weight is True or (isinstance(weight, str) and weight not in attributes):
        raise KeyError(f"weight: the edges have no attribute {weight!r}; they have {attributes}")
    attribute = ("weight" if "weight" in attributes else None) if weight is None else weight or None
    ends = np.array(G.get_edgelist(), np.int64).reshape(-1, 2)
    values = None
    if attribute is not None:
        values = np.array(G.es[attribute])
        if values.size and values.dtype.kind not in "biufc":
            raise ValueError(f"weight: the edge attribute {attribute!r} has values that are no numbers; weight=False?")
        values = values if values.size else None
    A = matrix_of_edges(
        (count, count), ends[:, 0], ends[:, 1], values, directed=G.is_directed(), dtype=dtype, dup_op=dup_op, name=name
    )
    return EdgeList(A, list(G.vs["name"]) if "name" in G.vs.attributes() else None)
