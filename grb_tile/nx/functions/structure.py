"""Strong components, cores, orders of acyclic graphs, spanning forests, matchings, independent sets.

(networkx.algorithms.components, core, dag, tree.mst, bipartite.matching, mis)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

import networkx as nx
import numpy as np

import grb_tile as gb
from grb_tile import algorithms
from grb_tile.graph import topological_order

from ..adjacency import dense, graph, nodes_of
from ..registry import implements
from ..searches import lists, positions
from .components import sets_of
from .degrees import degrees
from .graphs import adopting


def _strong(G: nx.Graph) -> algorithms.ComponentsResult:
    return algorithms.strongly_connected_components(graph(G))


def _strong_sets(G: nx.Graph) -> Iterator[set]:
    """The strongly connected components in reverse topological order of the condensation, as in NetworkX."""
    if not len(G):
        return
    labels = _strong(G).labels
    classes = algorithms.condensation(graph(G), labels)
    late = algorithms.topological_generations(classes.graph.T.new()).values.to_dense()
    yield from sets_of(G, labels.to_dense(), late[classes.labels.to_dense()])


@implements(not_for=("undirected",))
def strongly_connected_components(G):
    yield from _strong_sets(G)


def _no_source(source: Any = None, **others: Any) -> bool | str:
    return source is None or "components from a source are left to NetworkX"


@implements(not_for=("undirected",), can_run=_no_source)
def kosaraju_strongly_connected_components(G, source=None):
    yield from _strong_sets(G)


@implements(not_for=("undirected",))
def number_strongly_connected_components(G):
    return _strong(G).count if len(G) else 0


@implements(not_for=("undirected",))
def is_strongly_connected(G):
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return _strong(G).count == 1


@implements(not_for=("multigraph",))
def core_number(G):
    if len(G) == 0:
        return {}
    found = graph(G)
    if found.nself:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return dense(G, algorithms.core_number(found).values)


def _generations(G: nx.Graph) -> tuple[np.ndarray, list[int]]:
    """(the numbers of the nodes in the order in which NetworkX removes them, where each generation ends).

    t<next> = f max.plus P: nodes are ordered by the last edge that enters them; see searches.py.  On the CPU a
    compiled loop with a queue computes it.
    """
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    near = lists(G, False)
    done = topological_order(near)
    if done is not None:
        level, order = done
        if order.size < len(G):
            raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")
        return order, np.cumsum(np.bincount(level)).tolist()
    try:
        level = algorithms.topological_generations(graph(G)).values.to_dense()
    except algorithms.CycleError as error:
        raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration") from error
    P, lengths = positions(G, False)
    n = len(level)
    order = np.argsort(level, kind="stable")
    found = np.split(order, np.cumsum(np.bincount(level))[:-1])
    for number in range(1, len(found)):
        before, now = found[number - 1], found[number]
        first = np.zeros(before.size, np.int64)
        np.cumsum(lengths[before][:-1], out=first[1:])
        f = gb.Vector.from_coo(before, first, size=n)
        t = gb.semiring.max_plus[gb.dtypes.INT64](f @ P).new(mask=gb.Vector.from_coo(now, True, size=n).S)
        node, edge = t.to_coo()
        found[number] = node[np.argsort(edge)].astype(np.int64)
    return np.concatenate(found), np.cumsum(np.bincount(level)).tolist()


@implements()
def topological_generations(G):
    order, ends = _generations(G)
    adj, labels, lengths = G._adj, nodes_of(G).of(order), np.diff(lists(G, False).indptr)[order].tolist()
    for first, last in pairwise([0, *ends]):
        generation, fewer = labels[first:last], False
        for node, length in zip(generation, lengths[first:last]):
            neighbours = adj.get(node)
            if neighbours is None or len(neighbours) > length:
                raise RuntimeError("Graph changed during iteration")
            fewer = fewer or len(neighbours) < length
        yield generation
        if fewer:
            raise nx.NetworkXUnfeasible("Graph contains a cycle or graph changed during iteration")


@implements()
def topological_sort(G):
    yield from chain.from_iterable(topological_generations(G))


@implements()
def is_directed_acyclic_graph(G):
    return G.is_directed() and (not len(G) or algorithms.is_dag(graph(G)))


@implements()
def has_cycle(G):
    if not G.is_directed():
        raise nx.NetworkXError("Topological sort not defined on undirected graphs.")
    return bool(len(G)) and not algorithms.is_dag(graph(G))


def _simple(G: nx.Graph, **others: Any) -> bool | str:
    return not G.is_multigraph() or "the choice among parallel edges is left to NetworkX"


def _forest(G: nx.Graph, weight: Any, data: bool, maximum: bool) -> Iterator[tuple]:
    """The edges of a spanning forest, the lightest (heaviest) first."""
    found = graph(G, weight)
    if found.A.nvals and found.A.dtype.np_type.kind == "f" and np.isnan(found.A.to_coo()[2]).any():
        raise NotImplementedError(f"{weight}: a weight is NaN")
    i, j, weights = algorithms.minimum_spanning_forest(found, maximum=maximum).edges.to_coo()
    order = np.argsort(-weights.astype(float) if maximum else weights, kind="stable")
    nodes = nodes_of(G)
    edges = zip(nodes.of(i[order]), nodes.of(j[order]))
    return ((u, v, G._adj[u][v]) for u, v in edges) if data else edges


def _known(algorithm: str) -> None:
    if algorithm not in ("boruvka", "borůvka", "kruskal", "prim"):
        raise ValueError(f"{algorithm} is not a valid choice for an algorithm.")


@implements(not_for=("directed",), can_run=_simple)
def minimum_spanning_edges(G, algorithm="kruskal", weight="weight", keys=True, data=True, ignore_nan=False):
    _known(algorithm)
    return _forest(G, weight, data, False)


@implements(not_for=("directed",), can_run=_simple)
def maximum_spanning_edges(G, algorithm="kruskal", weight="weight", keys=True, data=True, ignore_nan=False):
    _known(algorithm)
    return _forest(G, weight, data, True)


def _has_sides(G: nx.Graph, top_nodes: Any = None, **others: Any) -> bool | str:
    return not G.is_directed() or "matchings of directed graphs are left to NetworkX"


@implements(can_run=_has_sides)
def hopcroft_karp_matching(G, top_nodes=None):
    top, bottom = nx.bipartite.sets(G, top_nodes)
    nodes = nodes_of(G)
    rows, columns = (
        np.sort(np.fromiter(map(nodes.numbers.__getitem__, side), np.int64, len(side))) for side in (top, bottom)
    )
    if not rows.size or not columns.size:
        return {}
    B = graph(G).A[rows, columns].new()
    i, j = algorithms.bipartite_matching(B).mate_row.to_coo()
    left, right = nodes.of(rows[i]), nodes.of(columns[j])
    return dict([*zip(left, right), *zip(right, left)])


def _any_set(G: nx.Graph, nodes: Any = None, seed: Any = None) -> bool | str:
    return not nodes or "a set that holds given nodes is left to NetworkX"


@implements(not_for=("directed",), can_run=_any_set)
def maximal_independent_set(G, nodes=None, seed=None):
    if not len(G):
        raise IndexError("Cannot choose from an empty sequence")  # as NetworkX
    number = nx.utils.create_py_random_state(seed).getrandbits(31)
    found = algorithms.maximal_independent_set(graph(G), seed=number)
    numbers, members = found.members.to_coo()
    return nodes_of(G).of(numbers[members])


def _largest_first(G: nx.Graph, strategy: Any = "largest_first", interchange: bool = False) -> bool | str:
    if G.is_directed() or interchange or strategy != "largest_first":
        return "of directed graphs, with interchange, and in another order than largest_first it is left to NetworkX"
    return True


@implements(can_run=_largest_first)
def greedy_color(G, strategy="largest_first", interchange=False):
    if not len(G):
        return {}
    # by descending degree; nodes of equal degree in the order of the graph
    order = np.argsort(-degrees(G), kind="stable")
    colours = algorithms.coloring(graph(G), order=order.tolist()).to_numpy()
    return dict(zip(nodes_of(G).of(order), colours[order].tolist()))


@implements(kind="graph", not_for=("directed", "multigraph"))
def k_truss(G, k):
    found = graph(G)
    if found.nself:
        raise nx.NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    i, j, _ = algorithms.k_truss(found, max(int(np.ceil(k)), 2)).values.to_coo(values=False)
    H = G.copy()
    nodes = nodes_of(G)
    kept = set(zip(nodes.of(i), nodes.of(j)))
    H.remove_edges_from([edge for edge in G.edges if edge not in kept])
    H.remove_nodes_from([node for node, neighbours in H._adj.items() if not neighbours])
    return H


for _name in ("k_core", "k_corona", "k_crust", "k_shell", "condensation", "minimum_spanning_tree",
              "maximum_spanning_tree"):  # fmt: skip
    implements(_name, kind="graph")(adopting(_name))
