"""The CPU backend's whole loops over a graph, by modules of this package.  Meanings: backends/graph.py."""

import functools
from importlib import import_module

from ...graph import GraphOperations

MODULES = {
    "components": ("components", "strong_components", "core_numbers", "spanning_forest"),
    "ordering": (
        "topological_levels", "topological_order", "cuthill_mckee", "greedy_colours", "independent_set",
        "bipartite_matching", "breadth_first", "label_turns",
    ),
    "paths": ("distances", "floyd_warshall", "dependencies"),
    "labels": ("best_labels",),
    "communities": ("move_rounds", "join_rounds", "settle", "quotient"),
    "traversal": ("bfs_multi",),
    "triangles": ("peel_truss", "triangle_corners"),
}  # fmt: skip


class CompiledLoops(GraphOperations):
    """One compiled loop each; NotImplemented for hypersparse matrices, and where a kernel is not compiled yet."""


def _method(module, name):
    """The function of that name, whose module is imported at the first call."""

    @functools.wraps(getattr(GraphOperations, name))
    def call(self, A, *rest, **options):
        if getattr(A, "rows", None) is not None:  # nothing of the size of a dimension is made
            return NotImplemented
        return getattr(import_module(f"{__package__}.{module}"), name)(A, *rest, **options)

    return call


for _module, _names in MODULES.items():
    for _name in _names:
        setattr(CompiledLoops, _name, _method(_module, _name))
