"""Dot products, or which of the row-wise kernels, for C<mask> = A B over stores on a GPU.

Costs are in nanoseconds of an H200; another GPU scales them all, so the choice is the same there.
"""

from __future__ import annotations

from grb_tile.storage.convert import cached_transpose
from grb_tile.storage.work import dot_work, masked_products, row_lookups

from . import tuning
from .record import Plan


def choose_matmul_on_gpu(A, at: bool, B, bt: bool, pattern) -> Plan:
    """The Plan for C<pattern> = (A or A') (+.x) (B or B'), with the kernel of a row-wise product in it.

    dot             a lookup for each entry of a row of B', for each position of the mask; chosen without counting where
                    B' is given or cached and the mask has at most as many entries as A: counting, with its read-backs,
                    takes 0.2 to 0.5 ms, and the others were slower for every such mask measured
    merge_at_mask   all products of the mask's rows, each looked up in the mask and merged by an atomic
    two_phases      all products and a bitmap for each row, whatever the mask
    """
    entries = A.indices.shape[0]
    if entries + B.indices.shape[0] + pattern.nvals <= tuning.GPU_SMALL_MATRIX:
        return Plan("matmul", "gustavson", "csr", "matrix_small", (entries,))
    if pattern.nvals <= entries and (bt or cached_transpose(B) is not None):
        return Plan("matmul", "dot", "csr", "mask_of_operands", (pattern.nvals, entries))
    lookups = min(dot_work(B, bt, pattern), row_lookups(A, at, pattern))
    dots = lookups * tuning.GPU_DOT_NS + pattern.nvals * tuning.GPU_DOT_POSITION_NS
    products = masked_products(A, B, pattern, at, bt)
    at_mask = products * tuning.GPU_AT_MASK_NS
    rows = A.ncols if at else A.indptr.shape[0] - 1
    two_phases = products * tuning.GPU_PRODUCT_NS + rows * tuning.GPU_PRODUCT_ROW_NS
    if cached_transpose(B) is None:
        transpose = B.indices.shape[0] * tuning.GPU_TRANSPOSE_NS
        if bt:
            at_mask += transpose
            two_phases += transpose
        else:
            dots += transpose
    by_rows = min(at_mask, two_phases)
    figures = (dots, by_rows, pattern.nvals)
    if dots < by_rows:
        return Plan("matmul", "dot", "csr", "mask_small", figures)
    plan = Plan("matmul", "gustavson", "csr", "rows_of_product", figures)
    if two_phases < at_mask:
        plan.use_kernel("two_phases", "long_rows", (two_phases, at_mask))
    else:
        plan.use_kernel("merge_at_mask", "short_rows", (two_phases, at_mask))
    return plan
