"""What a launch of a kernel asks of a device at most: threads of a block, dynamic shared memory.

Sizes come from the functions by which the library chooses them, for the limits of each architecture.
"""

import re

from grb_tile import kernels
from grb_tile.backends.cuda.communities import quotient
from grb_tile.backends.cuda.graph import bfs_multi, bfs_multi_graph
from grb_tile.backends.cuda.products import bitblocks, column_launch, inner_windows, segments, spgemm_split
from grb_tile.backends.cuda.structure import merging, sorting

COMMENT = re.compile(r"//[^\n]*")
KERNEL = re.compile(
    r"template\s*<([^>]*)>\s*__global__\s+void\s+((?:__\w+__\s*\((?:[^()]|\([^()]*\))*\)\s*)*)(\w+)\s*\("
)
BOUNDS = re.compile(r"__launch_bounds__\s*\(([^,)]*)")
USUAL_THREADS = 256  # of a block, for a kernel without launch bounds (Kernel.over)
WIDE = {"relabel_rows": 1024}  # the others
BY_FORM = ("spgemm_windows", "masked_rows", "masked_push")  # a row for a warp or for a block
BY_WARP_THREADS, BY_BLOCK_THREADS = 128, 1024


def _bounds():
    """{kernel: (text of its launch bound, names of its template parameters)}"""
    found = {}
    for file in kernels.names():
        for parameters, attributes, name in KERNEL.findall(COMMENT.sub("", kernels.source(file))):
            bound = BOUNDS.search(attributes)
            names = [parameter.split()[-1] for parameter in parameters.split(",")]
            found[name] = (None if bound is None else bound.group(1).strip()), names
    return found


BOUNDS_OF = _bounds()


def threads_of(instance):
    """Threads of the greatest block that the kernel is launched with."""
    _, name, _, template = instance
    bound, parameters = BOUNDS_OF.get(name, (None, []))
    if name in BY_FORM:
        return BY_WARP_THREADS if "BY_WARP" in template else BY_BLOCK_THREADS
    if bound is None:
        return WIDE.get(name, USUAL_THREADS)
    return int(bound) if bound.isdigit() else int(template[parameters.index(bound)])


def _result(parents):
    ints = bfs_multi.PARENT_INTS if parents else bfs_multi.LIST_INTS

    def of(limits, template):
        threads, each = bfs_multi.rows_of_block(limits, parents)
        return 4 * ints * threads * each

    return of


def _segments(limits, template):
    """Buffers of each thread and, with relabelled columns, x; a bin takes what a block may have."""
    widest = 4 if int(template[4]) > 768 else 8 if int(template[4]) > 512 else 16
    buffers = int(template[4]) * segments.LANE_ENTRIES * widest
    if "BINNED_COLUMNS" in template:
        return limits.dynamic_shared
    return max(buffers, int(limits.shared_per_block * segments.TABLE_SHARE)) if "RELABELLED_COLUMNS" in template else (
        buffers
    )  # fmt: skip


def _bit_blocks(limits, template):
    """Windows of stages of full blocks with the widest values."""
    stage = int(template[5])
    item = max(item for item, blocks in bitblocks.STAGE.items() if blocks == stage)
    return bitblocks.block_shape(64 * stage, stage, item, item, limits.shared_per_block)[2]


# kernel with dynamic shared memory -> (limits, template arguments) -> bytes at most
DYNAMIC = {
    "bit_block_rows": _bit_blocks,
    "bfs_multi": lambda limits, template: bfs_multi_graph.HUB_BYTES * bfs_multi_graph.hubs_of(limits),
    "bfs_multi_parents_pull": lambda limits, template: (
        bfs_multi.LINE_BYTES * limits.threads_with(256, bfs_multi.LINE_BYTES)
    ),
    "bfs_multi_result": lambda limits, template: _result(template[0] == "true")(limits, template),
    "matvec_segments": _segments,
    "count_cells": lambda limits, template: limits.dynamic_shared,
    "place_entries": lambda limits, template: limits.dynamic_shared,
    "put_in_bins": lambda limits, template: limits.dynamic_shared,
    "merge_write": lambda limits, template: merging.shared_bytes(256, 8 if template[1] == "int64_t" else 4),
    "merge_evenly": lambda limits, template: column_launch.high_degree_bytes(limits) if template[-1] == "true" else 0,
    "inner_windows": lambda limits, template: limits.dynamic_shared // inner_windows.RESIDENT,
    "spmm_slabs": lambda limits, template: limits.dynamic_shared,
    "spgemm_hash": lambda limits, template: limits.dynamic_shared,
    "spgemm_windows": lambda limits, template: limits.dynamic_shared,
    "split_mark": lambda limits, template: limits.dynamic_shared // spgemm_split.RESIDENT,
    "split_merge": lambda limits, template: limits.dynamic_shared // spgemm_split.RESIDENT,
    "masked_rows": lambda limits, template: limits.dynamic_shared,
    "masked_push": lambda limits, template: limits.dynamic_shared,
    "row_labels_whole": lambda limits, template: 48 << 10 if template[1] == "STORED" else 32 << 10,
    "row_labels_parts": lambda limits, template: limits.dynamic_shared,
    "class_entries": lambda limits, template: 12 * limits.power_of_two_with(quotient.SLOTS, 12),
    "radix_pass": lambda limits, template: 256 * sorting.ITEMS * (8 if "word" in template else 4),
}


def dynamic_shared(instance, limits):
    """Bytes of dynamic shared memory of a launch on a device of these limits, at most."""
    size = DYNAMIC.get(instance[1])
    return 0 if size is None else size(limits, instance[3])
