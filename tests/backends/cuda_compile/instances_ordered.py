"""Instances of greedy loops in an order, of spanning forests, and of the turns of programs."""


def instances():
    """(header, name, functors, template) of each."""
    for index in ("int32_t", "int64_t"):
        yield "graph/ordered.cuh", "earlier_neighbours", "", (index,)
        yield "graph/ordered.cuh", "greedy_colours", "", (index, "2048")
    yield "graph/ordered.cuh", "independent_set", "", ()
    for first in ("true", "false"):
        yield "graph/spanning_forest.cuh", "least_edges", "", (first,)
        yield "graph/spanning_forest.cuh", "hook_trees", "", (first,)
    for name in ("compress_trees", "least_vertices", "label_vertices"):
        yield "graph/spanning_forest.cuh", name, "", ()
    for name in ("end_turn", "tell_host"):
        yield "programs/turns.cuh", name, "", ()
    yield "programs/copy.cuh", "copy_arrays", "", ()
    yield "programs/load.cuh", "load_arrays", "", ()
    for text in ("int32_t", "int64_t"):
        yield "programs/positions.cuh", "gather_at", "", (text, "uint64_t")
    yield "programs/positions.cuh", "pick_at", "", ("uint64_t",)
    yield "programs/numbers.cuh", "equals_number", "", ()
    for text in ("bool", "int64_t", "double"):
        yield "programs/numbers.cuh", "number_or", "", (text,)
    for text in ("uint8_t", "uint64_t"):
        yield "programs/numbers.cuh", "repeat_number", "", (text,)
