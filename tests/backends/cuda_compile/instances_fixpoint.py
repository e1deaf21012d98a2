"""Instances of v (+)= A (+.x) v in one launch: full and with gaps, rows named and not, both types of row pointers."""

from grb_tile import dtypes
from grb_tile.backends.cuda.lowering.semirings import lowered
from grb_tile.operators import get_typed_op

SEMIRINGS = (
    ("min_plus", dtypes.FP64), ("min_plus", dtypes.INT32), ("min_second", dtypes.INT64), ("max_min", dtypes.FP32),
    ("lor_land", dtypes.BOOL), ("plus_times", dtypes.FC64), ("max_times", dtypes.UINT8),
)  # fmt: skip


def instances():
    """(header, name, functors, template) of each."""
    for name, dtype in SEMIRINGS:
        s = lowered(None, get_typed_op(name, dtype, kind="semiring"), dtype, False, dtype, False)
        for full in ("true", "false"):
            for pointers, rows in (("int32_t", "int64_t"), ("int32_t", "int32_t"), ("int64_t", "int64_t")):
                yield "graph/fixpoint.cuh", "fixpoint", s.text, ("int32_t", pointers, rows, "S", full)
    for rows in ("int32_t", "int64_t"):
        yield "graph/fixpoint.cuh", "tasks_of_rows", "", (rows,)
