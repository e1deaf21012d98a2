"""Instances of the traversal kernels."""

SINCE_90 = ("narrow_cluster",)  # a thread block cluster


def instances():
    """(header, name, functors, template) of each."""
    for index in ("int32_t", "int64_t"):
        for name in ("row_facts", "strongest_neighbours", "first_neighbours"):
            yield "traversal/bfs_prepare.cuh", name, "", (index,)
        for flags in (("true", "false"), ("false", "true"), ("true", "true")):
            yield "traversal/bfs.cuh", "traverse", "", (index, *flags, "1024", "1", "false")
            yield "traversal/bfs.cuh", "traverse", "", (index, *flags, "768", "1", "true")
    for flags in (("true", "false"), ("true", "true")):
        for width in ("4", "8"):
            yield "traversal/bfs_high_diameter.cuh", "narrow_cluster", "", ("int32_t", width, *flags, "16")
            yield "traversal/bfs_high_diameter.cuh", "narrow_grid", "", ("int32_t", width, *flags)
    for word in ("uint16_t", "uint32_t", "word"):
        for flags in (("true", "false"), ("false", "true"), ("true", "true")):
            yield "traversal/bfs_tiles.cuh", "traverse_tiles", "", (word, "int32_t", *flags, "512", "1")
    yield "traversal/bfs_tiles.cuh", "traverse_tiles", "", ("word", "int64_t", "true", "true", "512", "1")
    for index in ("int32_t", "int64_t"):
        yield "traversal/bfs_multi.cuh", "many_levels", "", (index,)
        yield "traversal/bfs_multi_parents.cuh", "many_parents", "", (index,)
        yield "traversal/bfs_multi_parents.cuh", "pushed_parents", "", (index,)
        for block in ("true", "false"):
            yield "traversal/bfs_multi_prepare.cuh", "relabel_rows", "", ("int64_t", index, block)
        yield "traversal/bfs_multi_prepare.cuh", "hub_counts", "", ("int64_t", index)
        yield "traversal/bfs_multi_prepare.cuh", "hub_rows", "", (index,)
    for name in ("padded_sizes", "piece_keys"):
        yield "traversal/bfs_multi_prepare.cuh", name, "", ("int64_t",)
    for parents in ("true", "false"):
        yield "traversal/bfs_multi_result.cuh", "many_rows", "", (parents,)
    yield "traversal/components.cuh", "components", "", ("int64_t",)
