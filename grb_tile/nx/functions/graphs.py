"""Functions that make a graph of a graph, or read and write its attributes.

Backend graphs have NetworkX's dictionaries, so NetworkX's own functions run.  The graphs that they return become
backend graphs, so that later calls run on grb_tile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import networkx as nx

from ..graphs import adopt
from ..registry import implements, original

PLAIN = (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)
GRAPHS = (
    "complement", "compose", "compose_all", "convert_node_labels_to_integers", "difference", "disjoint_union",
    "disjoint_union_all", "ego_graph", "intersection", "intersection_all", "reverse", "symmetric_difference", "union",
    "union_all",
)  # fmt: skip
ATTRIBUTES = (
    "edge_boundary", "get_edge_attributes", "get_node_attributes", "is_empty", "is_negatively_weighted", "is_weighted",
    "node_boundary", "remove_edge_attributes", "remove_node_attributes", "set_edge_attributes", "set_node_attributes",
    "to_dict_of_lists", "to_edgelist", "to_pandas_edgelist",
)  # fmt: skip


def adopting(name: str) -> Callable:
    """NetworkX's function `name`; a result of NetworkX's four graph classes becomes a backend graph."""

    def function(*args: Any, **kwargs: Any) -> Any:
        result = original(name)(*args, **kwargs)
        return adopt(result) if type(result) in PLAIN else result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"networkx.{name}, whose graph is one of the backend."
    return function


def _copies(copy: bool = True, **others: Any) -> bool | str:
    return bool(copy) or "copy=False changes the graph in place"


@implements(kind="graph", can_run=_copies)
def relabel_nodes(G, mapping, copy=True):
    return adopting("relabel_nodes")(G, mapping, copy)


@implements(kind="graph", can_run=_copies)
def stochastic_graph(G, copy=True, weight="weight"):
    return adopting("stochastic_graph")(G, copy, weight)


for _name in (*GRAPHS, *ATTRIBUTES):
    implements(_name, kind="graph", light=True)(adopting(_name))
