"""Instances of the shortest-path kernels: integers in entries of 4, 8 and 16 bytes, FP32, FP64."""


def instances():
    """(header, name, functors, template) of each."""
    for key, size, real in (("unsigned", "4", "false"), ("unsigned", "8", "false"), ("word", "8", "false"),
                            ("word", "16", "false"), ("unsigned", "8", "true"), ("word", "16", "true")):  # fmt: skip
        yield "traverse_paths.cuh", "shortest_paths", "", (key, size, real, "1024", "1")
        yield "paths_prepare.cuh", "row_cuts", "", (key, size)
