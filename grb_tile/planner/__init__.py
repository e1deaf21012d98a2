"""Decisions between methods (row-wise or column-wise, dot or Gustavson), kernels and storage formats.

Each decision is recorded in a Plan, can be forced, and is explained by explain().

>>> import grb_tile as gb
>>> with gb.plan(force="cols"):
...     pass
"""

from .choose_matmul import choose_matmul
from .choose_matvec import choose_matvec
from .choose_traversal import forced_traversal, search_over
from .record import (
    FORCIBLE,
    UNRECORDED,
    Plan,
    Report,
    explain,
    force,
    forced,
    forced_direction,
    forced_tile_size,
    history,
    record_plan,
    report_of,
    unrecorded,
)
from .statistics import edges_of, mean_degree

plan = force  # gb.plan(force="cols")

__all__ = [
    "FORCIBLE", "UNRECORDED", "Plan", "Report", "choose_matmul", "choose_matvec", "edges_of", "explain", "force",
    "forced", "forced_direction",
    "forced_tile_size", "forced_traversal", "history", "mean_degree", "plan", "record_plan", "report_of",
    "search_over", "unrecorded",
]  # fmt: skip
