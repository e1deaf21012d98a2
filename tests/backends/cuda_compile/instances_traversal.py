"""Instances of the traversal kernels."""


def instances():
    """(header, name, functors, template) of each."""
    for index in ("int32_t", "int64_t"):
        for name in ("row_facts", "highest_degree_neighbours", "first_neighbours"):
            yield "graph/bfs_prepare.cuh", name, "", (index,)
        for flags in (("true", "false"), ("false", "true"), ("true", "true")):
            yield "graph/bfs.cuh", "bfs", "", (index, *flags, "1024", "1", "false")
            yield "graph/bfs.cuh", "bfs", "", (index, *flags, "768", "1", "true")
    for flags in (("true", "false"), ("true", "true")):
        for width in ("4", "8"):
            key = "int32_t", width, *flags
            yield "graph/bfs_high_diameter.cuh", "bfs_high_diameter", "", key
    for word in ("uint16_t", "uint32_t", "word"):
        for flags in (("true", "false"), ("false", "true"), ("true", "true")):
            yield "graph/bfs_tiles.cuh", "bfs_tiles", "", (word, "int32_t", *flags, "512", "1")
    yield "graph/bfs_tiles.cuh", "bfs_tiles", "", ("word", "int64_t", "true", "true", "512", "1")
    for index in ("int32_t", "int64_t"):
        yield "graph/bfs_ranks.cuh", "bfs_of_ranks", "", (index,)
        yield "graph/bfs_multi.cuh", "bfs_multi", "", (index,)
        yield "graph/bfs_multi_parents.cuh", "bfs_multi_parents_pull", "", (index,)
        yield "graph/bfs_multi_parents.cuh", "bfs_multi_parents_push", "", (index,)
        for block in ("true", "false"):
            yield "graph/bfs_multi_prepare.cuh", "relabel_rows", "", ("int64_t", index, block)
        yield "graph/bfs_multi_prepare.cuh", "hub_counts", "", ("int64_t", index)
        yield "graph/bfs_multi_prepare.cuh", "hub_rows", "", (index,)
    for name in ("padded_sizes", "segment_tasks"):
        yield "graph/bfs_multi_prepare.cuh", name, "", ("int64_t",)
    for parents in ("true", "false"):
        yield "graph/bfs_multi_result.cuh", "bfs_multi_result", "", (parents,)
    yield "graph/components.cuh", "components", "", ("int64_t",)
    yield "graph/cores.cuh", "core_numbers", "", ("6144",)
    for name in ("truss_link", "truss_peel"):
        yield "graph/truss.cuh", name, "", ()
    for index in ("int32_t", "int64_t"):
        for by_edge in ("true", "false"):
            yield "graph/brandes.cuh", "brandes", "", (index, by_edge)
    for name in ("strong_components", "strong_pivot"):
        yield "graph/strong_components.cuh", name, "", ()
    yield "graph/cuthill_mckee.cuh", "cuthill_mckee", "", ()
    yield "graph/topological.cuh", "topological_levels", "", ()
    yield "graph/random_walks.cuh", "random_walks", "", ("int32_t",)
    yield "graph/random_walks.cuh", "sums_of_rows", "", ()
