"""The method of C<mask> = A B over stores on a GPU, where the forms of B decide: rows of the mask choose among what is there.

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
                    B is there by rows too (each row of the mask is then pulled or pushed), and where B' is given and the
                    mask has at most as many entries as A, or has few lookups: counting takes 0.2 to 0.5 ms
    merge_at_mask   all products of the mask's rows, each looked up in the mask's row
    """
    entries = A.indices.shape[0]
    if entries + B.indices.shape[0] + pattern.nvals <= tuning.GPU_SMALL_MATRIX:
        return Plan("matmul", "gustavson", "csr", "matrix_small", (entries,))
    if cached_transpose(B) is not None:
        return Plan("matmul", "dot", "csr", "rows_choose", (pattern.nvals,))
    if bt and pattern.nvals <= entries:
        return Plan("matmul", "dot", "csr", "mask_of_operands", (pattern.nvals, entries))
    transpose = B.indices.shape[0] * tuning.GPU_TRANSPOSE_NS
    lookups = row_lookups(A, at, pattern)
    if not bt or lookups * tuning.GPU_DOT_NS > transpose:
        lookups = min(lookups, dot_work(B, bt, pattern))
    dots = lookups * tuning.GPU_DOT_NS + pattern.nvals * tuning.GPU_DOT_POSITION_NS
    if bt and lookups * tuning.GPU_DOT_NS <= transpose:  # the other method transposes B first
        return Plan("matmul", "dot", "csr", "mask_small", (dots, transpose, pattern.nvals))
    at_mask = masked_products(A, B, pattern, at, bt) * tuning.GPU_MASKED_PUSH_NS
    if bt:
        at_mask += transpose
    else:
        dots += transpose
    figures = (dots, at_mask, pattern.nvals)
    if dots < at_mask:
        return Plan("matmul", "dot", "csr", "mask_small", figures)
    plan = Plan("matmul", "gustavson", "csr", "rows_of_product", figures)
    plan.use_kernel("merge_at_mask", "mask_bounds")
    return plan
