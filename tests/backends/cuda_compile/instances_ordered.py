"""Instances of greedy loops in an order and of spanning forests."""


def instances():
    """(header, name, functors, template) of each."""
    for index in ("int32_t", "int64_t"):
        yield "traversal/ordered.cuh", "earlier_neighbours", "", (index,)
        yield "traversal/ordered.cuh", "greedy_colours", "", (index, "2048")
    yield "traversal/ordered.cuh", "independent_set", "", ()
    for first in ("true", "false"):
        yield "traversal/spanning_forest.cuh", "least_edges", "", (first,)
        yield "traversal/spanning_forest.cuh", "hook_trees", "", (first,)
    for name in ("compress_trees", "least_vertices", "label_vertices"):
        yield "traversal/spanning_forest.cuh", name, "", ()
