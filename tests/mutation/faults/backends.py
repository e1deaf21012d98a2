"""Faults of primitives that few operands meet: sizes at a limit, groups of several rows, operators of other types."""

from . import Fault

FAULTS = [
    Fault(
        "kernels/products/bitblock_build.cuh",
        "a chunk that spans one column of blocks too many has codes of 16 bits",
        "- base < 1 << 15",
        "- base <= 1 << 15",
        ("tests/backends/cuda/test_bitblocks.py",),
    ),
    Fault(
        "kernels/communities/row_labels.cuh",
        "what a row summed before it was cut again is counted",
        "          best = {0, NO_LABEL};\n          own = 0;\n          continue;",
        "          best = {0, NO_LABEL};\n          continue;",
        ("tests/backends/cuda/test_row_labels.py",),
    ),
    Fault(
        "kernels/products/rows.cuh",
        "the first group of a warp stops all others",
        "<< (lane_number() - sub);\n  for (;;)",
        ";\n  for (;;)",
        ("tests/backends/cuda/test_matvec.py",),
    ),
    Fault(
        "kernels/products/spgemm_hash.cuh",
        "columns of the row before are behind those of a table",
        "(found + 3) / 4 * 4) table",
        "found / 4 * 4) table",
        ("tests/backends/cuda/test_spgemm.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/graph/methods.py",
        "a search does not get the target",
        "result = run(self.device, A, AT, sources, levels, parents, max_level, target)",
        "result = run(self.device, A, AT, sources, levels, parents, max_level, None)",
        ("tests/backends/cuda/test_no_kernel.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/lowering/semirings.py",
        "a product of complex numbers begins with 1",
        "            return np_type.type(complex(-0.0, -0.0))\n        return None",
        "            return np_type.type(complex(-0.0, -0.0))",
        ("tests/backends/cuda/test_matvec.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/products/pull.py",
        "the value of an entry that is not known is read",
        "if s.a_iso or not s.reads_a:",
        "if form.top_neighbour is not None:",
        ("tests/backends/cuda/test_matvec.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/runtime/launch.py",
        "resident blocks do not depend on shared memory",
        "        key = threads, shared\n",
        "        key = threads\n",
        ("tests/backends/cuda/test_device.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/structure/structure.py",
        "rows backwards stay so where columns ascend",
        "unsorted = unsorted or not ordered",
        "unsorted = not ordered",
        ("tests/backends/cuda/test_structure.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/jit/merges.py",
        "an entry of y alone meets the default without the operator's cast",
        'calls["LONE_Y"] = combined("{y}", right)',
        'calls["LONE_Y"] = combined("{y}", "{x}")',
        ("tests/backends/cpu/test_merges.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/templates/bfs.py",
        "a full log after an odd number of pulls",
        "            swapped = not swapped\n",
        "",
        ("tests/backends/cpu/test_bfs.py",),
    ),
    Fault(
        "grb_tile/backends/cpu/vectorised/entries.py",
        "renumbered columns keep the width of the matrix",
        "        width = max(names.shape[0], 1)\n",
        "",
        ("tests/backends/cpu/test_entries.py",),
    ),
    Fault(
        "grb_tile/backends/kernel_cache.py",
        "entries of a folder that the group may write are kept",
        "status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)",
        "status.st_mode & stat.S_IWOTH",
        ("tests/backends/test_kernel_cache.py",),
    ),
    Fault(
        "grb_tile/backends/cuda/primitives.py",
        "the mask of restrict is not brought to the device",
        '"restrict": "x allow"',
        '"restrict": "x"',
        ("tests/backends/cuda/test_elementwise.py",),
    ),
]
