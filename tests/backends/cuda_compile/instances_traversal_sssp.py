"""Instances of the shortest-path kernels: integers in entries of 4, 8 and 16 bytes, FP32, FP64."""


def instances():
    """(header, name, functors, template) of each."""
    for key, size, real in (("unsigned", "4", "false"), ("unsigned", "8", "false"), ("word", "8", "false"),
                            ("word", "16", "false"), ("unsigned", "8", "true"), ("word", "16", "true")):  # fmt: skip
        yield "graph/sssp.cuh", "sssp", "", (key, size, real, "1024", "1", "true")
        yield "graph/sssp.cuh", "sssp", "", (key, size, real, "1024", "1", "false")
        yield "graph/sssp_prepare.cuh", "weight_classes", "", (key, size)
        yield "graph/sssp_high_diameter.cuh", "sssp_high_diameter", "", (key, size, real)
        yield "graph/sssp_high_diameter.cuh", "first_entries", "", (key, size)
        yield "graph/sssp_tree.cuh", "sssp_tree", "", (key, size, real)
