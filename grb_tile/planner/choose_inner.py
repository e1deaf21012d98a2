"""Is a product of matrices with few rows and columns and a long inner dimension computed by windows of inner indices?

Costs are in nanoseconds of an H200; another GPU scales them all, so the choice is the same there.
"""

from __future__ import annotations

from . import tuning
from .record import Plan, forced


def choose_inner(A, at: bool, B, bt: bool) -> Plan | None:
    """The Plan for (A or A') (+.x) (B or B') by inner_windows; None: `choose_matmul` chooses.

    inner_windows   all entries of both operands, for each panel of C, and a step for each entry of C and inner index
    two phases      a step for each product, as many as entries at random would have, and the transposes that it needs
    """
    inner = A.nrows if at else A.ncols
    rows = A.ncols if at else A.indptr.shape[0] - 1
    cols = B.indptr.shape[0] - 1 if bt else B.ncols
    a_entries, b_entries = A.indices.shape[0], B.indices.shape[0]
    entries = a_entries + b_entries
    serves = (
        0 < rows <= tuning.GPU_INNER_LINES
        and 0 < cols <= tuning.GPU_INNER_LINES
        and inner <= entries * tuning.GPU_INNER_SPAN
        and not (at and A.rows is not None)
        and not (not bt and B.rows is not None)
    )
    if forced().kernel == "inner_windows":
        return _plan("forced") if serves and entries else None
    if not serves or entries <= tuning.GPU_SMALL_MATRIX or forced().kernel is not None or forced().product is not None:
        return None
    panels = -(-rows // 16) * -(-cols // 8)
    read = a_entries if A is B and at != bt else entries
    windows = read * panels * tuning.GPU_INNER_ENTRY_NS + inner * rows * cols * tuning.GPU_INNER_STEP_NS
    products = a_entries * b_entries / inner
    rest = products * tuning.GPU_SPLIT_PRODUCT_NS
    rest += (at * a_entries + bt * b_entries) * tuning.GPU_TRANSPOSE_NS
    if windows >= rest:
        return None
    return _plan("few_outputs", (rows, cols, inner, windows, rest))


def _plan(rule, figures=()):
    plan = Plan("matmul", "dot", "csr", "no_mask")
    plan.use_kernel("inner_windows", rule, figures)
    return plan
