"""Functions whose NetworkX code runs unchanged, because the functions that it calls are the backend's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..registry import implements, original

OVER_MATRICES = (
    "adjacency_matrix", "adjacency_spectrum", "algebraic_connectivity", "bethe_hessian_matrix",
    "bethe_hessian_spectrum", "communicability", "communicability_exp", "constraint",
    "directed_combinatorial_laplacian_matrix", "directed_laplacian_matrix", "directed_modularity_matrix",
    "effective_graph_resistance", "effective_size", "eigenvector_centrality_numpy", "estrada_index", "fiedler_vector",
    "google_matrix", "katz_centrality_numpy", "kemeny_constant", "laplacian_centrality", "laplacian_matrix",
    "laplacian_spectrum", "modularity_matrix", "modularity_spectrum", "normalized_laplacian_matrix",
    "normalized_laplacian_spectrum", "number_of_walks", "resistance_distance", "second_order_centrality",
    "spectral_bisection", "spectral_ordering", "subgraph_centrality", "subgraph_centrality_exp", "to_pandas_adjacency",
    "tournament_matrix", "trophic_differences", "trophic_incoherence_parameter", "trophic_levels",
)  # fmt: skip
OVER_COMPONENTS = (
    "attracting_components", "flow_hierarchy", "is_arborescence", "is_attracting_component", "is_branching",
    "is_semiconnected", "number_attracting_components",
)  # fmt: skip
OVER_SEARCHES = (
    "efficiency", "global_reaching_centrality", "group_closeness_centrality",
    "gutman_index", "harmonic_diameter", "hyper_wiener_index", "intersection_array", "is_bipartite_node_set",
    "is_distance_regular", "is_strongly_regular", "local_efficiency", "local_reaching_centrality",
    "schultz_index", "sets", "voronoi_cells",
)  # fmt: skip


def over_ours(name: str) -> Callable:
    """NetworkX's function `name`, which calls functions of the backend."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return original(name)(*args, **kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"networkx.{name}, over functions of the backend."
    return function


for _name in (*OVER_MATRICES, *OVER_COMPONENTS, *OVER_SEARCHES):
    implements(_name, kind="composed")(over_ours(_name))


def _writes_nothing(attr: Any = None, **others: Any) -> bool | str:
    return attr is None or "attr is written into the graph"


@implements(kind="composed", can_run=_writes_nothing)
def barycenter(G, weight=None, attr=None, sp=None):
    return original("barycenter")(G, weight=weight, attr=attr, sp=sp)
