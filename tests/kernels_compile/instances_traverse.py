"""Instances of the traversal kernels."""

SINCE_90 = ("narrow_cluster",)          # a thread block cluster


def instances():
    """(header, name, functors, template) of each."""
    for index in ("int32_t", "int64_t"):
        for name in ("row_facts", "strongest_neighbours", "first_neighbours"):
            yield "traverse_prepare.cuh", name, "", (index,)
        for flags in (("true", "false"), ("false", "true"), ("true", "true")):
            yield "traverse.cuh", "traverse", "", (index, *flags, "1024", "1", "false")
            yield "traverse.cuh", "traverse", "", (index, *flags, "768", "1", "true")
    for flags in (("true", "false"), ("true", "true")):
        for width in ("4", "8"):
            yield "traverse_narrow.cuh", "narrow_cluster", "", ("int32_t", width, *flags, "16")
            yield "traverse_narrow.cuh", "narrow_grid", "", ("int32_t", width, *flags)
    for word in ("uint16_t", "uint32_t", "word"):
        for flags in (("true", "false"), ("false", "true"), ("true", "true")):
            yield "traverse_tiles.cuh", "traverse_tiles", "", (word, "int32_t", *flags, "512", "1")
    yield "traverse_tiles.cuh", "traverse_tiles", "", ("word", "int64_t", "true", "true", "512", "1")
    for index in ("int32_t", "int64_t"):
        yield "traverse_many.cuh", "many_levels", "", (index,)
        yield "many_parents.cuh", "many_parents", "", (index,)
        yield "many_parents.cuh", "pushed_parents", "", (index,)
        for block in ("true", "false"):
            yield "many_prepare.cuh", "relabel_rows", "", ("int64_t", index, block)
        yield "many_prepare.cuh", "hub_counts", "", ("int64_t", index)
        yield "many_prepare.cuh", "hub_rows", "", (index,)
    for name in ("padded_sizes", "piece_keys"):
        yield "many_prepare.cuh", name, "", ("int64_t",)
    for parents in ("true", "false"):
        yield "many_result.cuh", "many_rows", "", (parents,)
    yield "components.cuh", "components", "", ("int64_t",)
